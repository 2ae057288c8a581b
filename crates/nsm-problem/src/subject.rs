//! What moves in a problem.

use nsm_constraints::multibody::{Mechanism, NodeId};
use nsm_geom::{Plane, Shape};
use nsm_model::{State, System};
use nsm_vi::rigid::{RigidState, RigidWorld};

use super::{Contacts, Crowd};

/// What moves.
#[derive(Debug)]
pub enum Subject {
    /// A system in coordinates.
    Coordinates {
        /// The mechanics.
        system: Box<System>,
        /// The state at the start.
        start: State,
    },
    /// Rigid bodies, particles and beams on joints.
    Mechanism {
        /// The parts and how they are joined.
        mechanism: Box<Mechanism>,
        /// Shapes of bodies that have one, to be drawn.
        shapes: Vec<(NodeId, Shape)>,
        /// Planes that they may touch.
        planes: Vec<Plane>,
        /// The mechanics, in the coordinates of the parts.
        system: Box<System>,
        /// Bodies of which there are too many for all their pairs to stand among the gaps of the system.
        crowd: Option<Box<Crowd>>,
        /// The state at the start.
        start: State,
    },
    /// Rigid bodies over planes.
    Rigid {
        /// Bodies, planes and gravity.
        world: RigidWorld,
        /// The state at the start.
        start: RigidState,
        /// What happens where they touch.
        contacts: Contacts,
    },
}

impl Subject {
    pub(crate) fn start_time(&self) -> f64 {
        match self {
            Self::Coordinates { start, .. } | Self::Mechanism { start, .. } => start.t,
            Self::Rigid { start, .. } => start.t,
        }
    }
}
