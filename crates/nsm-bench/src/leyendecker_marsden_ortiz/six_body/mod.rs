//! The six-body linkage of section 5.5: six tetrahedra in a ring of hinges, which turns itself inside out.
//!
//! At the start the hinges lie on a hexagon of edges of a cube, their axes along the other edges, inwards. Body 0 is given by
//! (97)–(102) and fixed; every other body is the mirror image of the one before it in the diagonal plane of their hinge,
//! directors included, so that odd bodies are left-handed. There are as many constraints as coordinates, and one is redundant.
//!
//! Gravity acts along $-e_3$, which the paper leaves open; the edges of the cube are $[0, l]^2 \times [-l, 0]$.

mod conditions;
mod energy;
mod kinematics;
mod partition;
mod run;
mod variants;

use std::f64::consts::{FRAC_PI_6, TAU};

use nsm_constraints::multibody::{
    Closure, End, Inertia, JointId, JointKind, Mechanism, MechanismError, Point, Pose,
};
use nsm_model::{State, System, SystemError};

pub use partition::Partition;

use crate::Scenario;

/// Edge of the cube.
pub const LENGTH: f64 = 0.1;
/// The angle $\gamma$, in units of $\pi$; below a sixth, neighbours do not collide.
const GAMMA: f64 = 0.16;
const DENSITY: f64 = 1000.0;
/// Rate of all hinges at the start.
const RATE: f64 = 30.0;
const GRAVITY: f64 = 9.81;

/// The linkage as a mechanism, as a system, and at its start.
#[derive(Debug)]
pub struct SixBody {
    /// Bodies and hinges.
    pub mechanism: Mechanism,
    /// The system for the integrators.
    pub system: System,
    /// The cube, with all hinges turning at 30 rad/s.
    pub start: State,
    hinges: Vec<JointId>,
    corners: Vec<Point>,
}

impl SixBody {
    /// The linkage at its start.
    ///
    /// # Errors
    /// Never, for the constants are in order.
    pub fn new() -> Result<Self, SystemError> {
        let (mechanism, hinges, corners) = mechanism()?;
        let (system, start) = System::of(&mechanism)?;
        Ok(Self { mechanism, system, start, hinges, corners })
    }

    /// The generic chart of the closed loop.
    ///
    /// # Errors
    /// Never, for it has one freedom.
    pub fn closure(&self) -> Result<Closure, MechanismError> {
        self.mechanism.closure()
    }

    /// The paper's partition of the angles, (106)–(111).
    pub fn partition(&self) -> Partition {
        Partition::new(&self.mechanism, &self.hinges)
    }

    /// The angles $\theta^1, \dots, \theta^6$, those of odd number in $[-7\pi/6, \pi/6]$, the others in $[-\pi/6, 7\pi/6]$.
    ///
    /// # Errors
    /// Never, for the hinges are those of the mechanism.
    pub fn angles(&self, q: &[f64]) -> Result<Vec<f64>, MechanismError> {
        let angle = |(k, &hinge): (usize, &JointId)| {
            let angle = self.mechanism.joint_coordinates(hinge, q)?[0];
            // Half of the gap of 2π/3 that no angle enters.
            let margin = FRAC_PI_6 * 3.0;
            Ok(if k % 2 == 0 && angle > margin {
                angle - TAU
            } else if k % 2 == 1 && angle < -margin {
                angle + TAU
            } else {
                angle
            })
        };
        self.hinges.iter().enumerate().map(angle).collect()
    }

    /// Distances of opposite corners, the diagonals of the cube at the start.
    pub fn diagonals(&self, q: &[f64]) -> [f64; 3] {
        std::array::from_fn(|k| {
            let (a, b) = (self.corners[k].at(q), self.corners[k + 3].at(q));
            a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
        })
    }
}

/// The scenarios of section 5.5.
pub(super) fn scenarios() -> Vec<Scenario> {
    [kinematics::scenarios(), energy::scenarios(), conditions::scenarios(), variants::scenarios()]
        .into_iter()
        .flatten()
        .collect()
}

type Parts = (Mechanism, Vec<JointId>, Vec<Point>);

fn mechanism() -> Result<Parts, MechanismError> {
    let l = LENGTH;
    let corners: [[f64; 3]; 6] =
        [[0.0, 0.0, 0.0], [0.0, l, 0.0], [l, l, 0.0], [l, l, -l], [l, 0.0, -l], [0.0, 0.0, -l]];
    // Along the edge of the cube that is not part of the hexagon.
    let axes: [[f64; 3]; 6] = [
        [1.0, 0.0, 0.0],
        [0.0, 0.0, -1.0],
        [0.0, -1.0, 0.0],
        [-1.0, 0.0, 0.0],
        [0.0, 0.0, 1.0],
        [0.0, 1.0, 0.0],
    ];
    let mut mechanism = Mechanism::new().with_gravity([0.0, 0.0, -GRAVITY])?;
    let (inertia, mut pose) = body();
    let mut nodes = Vec::new();
    for k in 0..6 {
        if k > 0 {
            pose = mirrored(&pose, corners[k], corners[k - 1], corners[(k + 1) % 6]);
        }
        nodes.push(mechanism.add_body(&format!("body {k}"), inertia, pose)?);
    }
    let ends = [End::Ground, nodes[0].into()];
    let centre = body().1.position;
    mechanism.add_joint("base", JointKind::Fixed, ends, centre, [0.0; 3])?;
    let mut hinges = Vec::new();
    for k in 1..=6 {
        let ends = [nodes[k - 1].into(), nodes[k % 6].into()];
        let (at, axis) = (corners[k % 6], axes[k % 6]);
        let hinge =
            mechanism.add_joint(&format!("hinge {k}"), JointKind::Revolute, ends, at, axis)?;
        if k < 6 {
            mechanism.set_rate(hinge, &[RATE])?;
        }
        hinges.push(hinge);
    }
    let corners: Result<_, _> =
        corners.iter().zip(&nodes).map(|(&at, &node)| mechanism.point(node, at)).collect();
    Ok((mechanism, hinges, corners?))
}

/// Body 0: (97), (100), (102); (101) lacks the density.
fn body() -> (Inertia, Pose) {
    let (l, a) = (LENGTH, (GAMMA * std::f64::consts::PI).tan());
    let mass = DENSITY * a * a * l.powi(3) / 6.0;
    let (b, c, e) = (1.0 / 3.0 + a * a / 4.0, a / 6.0, -a * a / 12.0);
    let tensor = [[b, c, e], [c, a * a / 2.0, c], [e, c, b]];
    let scale = DENSITY * l.powi(5) * a * a / 40.0;
    let root = (a.powi(4) + 1.0).sqrt();
    let directors = [
        [-1.0, 0.0, 1.0],
        [1.0, (a * a - 1.0 + root) / a, 1.0],
        [1.0, (a * a - 1.0 - root) / a, 1.0],
    ]
    .map(|d: [f64; 3]| {
        let norm = d.iter().map(|x| x * x).sum::<f64>().sqrt();
        d.map(|x| x / norm)
    });
    // The directors are the principal axes.
    let moments = directors.map(|d| {
        (0..3).map(|i| (0..3).map(|j| d[i] * tensor[i][j] * d[j]).sum::<f64>()).sum::<f64>() * scale
    });
    let half = 0.5 * moments.iter().sum::<f64>();
    let position = [a * l / 4.0, l / 2.0, -a * l / 4.0];
    (Inertia::principal(mass, moments.map(|j| half - j)), Pose { position, directors })
}

/// The mirror image in the diagonal plane of a hinge: it exchanges the edges of the hexagon that meet there.
fn mirrored(pose: &Pose, hinge: [f64; 3], before: [f64; 3], after: [f64; 3]) -> Pose {
    let normal: [f64; 3] = std::array::from_fn(|k| after[k] - before[k]);
    let square: f64 = normal.iter().map(|x| x * x).sum();
    let reflect = |x: [f64; 3]| {
        let share = 2.0 * (0..3).map(|k| normal[k] * x[k]).sum::<f64>() / square;
        std::array::from_fn(|k| x[k] - share * normal[k])
    };
    let arm = reflect(std::array::from_fn(|k| pose.position[k] - hinge[k]));
    let position = std::array::from_fn(|k| hinge[k] + arm[k]);
    Pose { position, directors: pose.directors.map(reflect) }
}
