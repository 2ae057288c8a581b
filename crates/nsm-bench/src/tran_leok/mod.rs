//! Tran and Leok, Lie group variational collision integrators for a class of hybrid systems: the four
//! hybrid systems of section 7, and every number stated about them that no run of a file gives.

mod cases;
mod energy;
mod impacts;
mod mass;

pub use cases::{Case, G, H, start};

use crate::Scenario;

/// All scenarios of the paper.
pub fn scenarios() -> Vec<Scenario> {
    let mut all = impacts::scenarios();
    all.extend(energy::scenarios());
    all.extend(mass::scenarios());
    all
}
