//! Where bodies are and how they move.

use nsm_geom::{Pose, Vec3};

/// Pose and momenta of one body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyState {
    /// Position $x$ and attitude $R$.
    pub pose: Pose,
    /// Linear momentum $\gamma = m\dot x$.
    pub gamma: Vec3,
    /// Angular momentum $\Pi = J\Omega$ in the body frame.
    pub pi: Vec3,
}

impl BodyState {
    /// A body at a pose with its momenta.
    pub fn new(pose: Pose, gamma: Vec3, pi: Vec3) -> Self {
        Self { pose, gamma, pi }
    }

    /// A body at rest.
    pub fn at_rest(pose: Pose) -> Self {
        Self::new(pose, Vec3::zeros(), Vec3::zeros())
    }

    /// Angular momentum about the origin of the inertial frame, $x\times\gamma + R\Pi$.
    pub fn angular_momentum(&self) -> Vec3 {
        self.pose.x.cross(&self.gamma) + self.pose.rot * self.pi
    }

    pub(super) fn is_finite(&self) -> bool {
        let sum = self.pose.x.sum() + self.pose.rot.sum() + self.gamma.sum() + self.pi.sum();
        sum.is_finite()
    }
}

/// Time and the states of all bodies of a world, in its order.
#[derive(Debug, PartialEq)]
pub struct RigidState {
    /// Time.
    pub t: f64,
    /// The bodies.
    pub bodies: Vec<BodyState>,
}

impl RigidState {
    /// A state at $t = 0$; whether it fits a world is for [`RigidWorld::check`](super::RigidWorld::check)
    /// to say, which every stepper asks.
    pub fn new(bodies: impl IntoIterator<Item = BodyState>) -> Self {
        Self { t: 0.0, bodies: bodies.into_iter().collect() }
    }
}

impl Clone for RigidState {
    fn clone(&self) -> Self {
        Self { t: self.t, bodies: self.bodies.clone() }
    }

    /// Allocates only if `source` has more bodies.
    fn clone_from(&mut self, source: &Self) {
        self.t = source.t;
        self.bodies.clone_from(&source.bodies);
    }
}
