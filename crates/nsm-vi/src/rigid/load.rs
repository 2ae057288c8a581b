//! What acts on a body besides uniform gravity and contact: potentials and torques.
//!
//! A load depends on time and pose. In the discrete action it is sampled at both ends of the step
//! (trapezoidal rule, \[LLM\] for potentials, the discrete d'Alembert principle for the rest), which
//! makes it a pair of half kicks around the free flow.

use nsm_geom::{Pose, Vec3};

/// A force and a torque on a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wrench {
    /// Force in the inertial frame.
    pub force: Vec3,
    /// Torque about the origin of the body frame, in the body frame.
    pub torque: Vec3,
}

impl Wrench {
    /// Nothing.
    pub fn zero() -> Self {
        Self { force: Vec3::zeros(), torque: Vec3::zeros() }
    }

    /// A force in the inertial frame that acts at the body point $\rho$: its torque is
    /// $\rho\times R^\top f$.
    pub fn at(force: Vec3, point: &Vec3, pose: &Pose) -> Self {
        Self { force, torque: point.cross(&pose.rot.tr_mul(&force)) }
    }
}

impl std::ops::AddAssign for Wrench {
    fn add_assign(&mut self, other: Self) {
        self.force += other.force;
        self.torque += other.torque;
    }
}

/// A potential or an external torque on one body.
pub trait Load: Send + Sync {
    /// The force and torque at a time and pose.
    fn wrench(&self, t: f64, pose: &Pose) -> Wrench;

    /// The potential energy; zero for what has none.
    fn potential(&self, _t: f64, _pose: &Pose) -> f64 {
        0.0
    }
}

/// A spring of zero rest length from a point of the body to a point in space,
/// $U = \tfrac k2|x + R\rho - a|^2$.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spring {
    /// Stiffness $k$.
    pub stiffness: f64,
    /// The point $\rho$ in the body frame.
    pub point: Vec3,
    /// The point $a$ in space.
    pub anchor: Vec3,
}

impl Load for Spring {
    fn wrench(&self, _t: f64, pose: &Pose) -> Wrench {
        Wrench::at((self.anchor - pose.act(&self.point)) * self.stiffness, &self.point, pose)
    }

    fn potential(&self, _t: f64, pose: &Pose) -> f64 {
        0.5 * self.stiffness * (self.anchor - pose.act(&self.point)).norm_squared()
    }
}

/// A constant torque in the body frame, such as that of a reaction wheel or a thruster pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyTorque(
    /// The torque.
    pub Vec3,
);

impl Load for BodyTorque {
    fn wrench(&self, _t: f64, _pose: &Pose) -> Wrench {
        Wrench { force: Vec3::zeros(), torque: self.0 }
    }
}
