//! Patil & Brüls, "Numerical simulation of nonsmooth multibody systems with switching bilateral
//! constraints" \[PB\]: its systems, and its figures as scenarios.

mod machines;
mod run;
mod track;

pub use nsm_alpha::problems;

use crate::Scenario;

/// The scenarios of the paper, in the order of its sections.
pub fn scenarios() -> Vec<Scenario> {
    [track::scenarios(), machines::scenarios()].into_iter().flatten().collect()
}
