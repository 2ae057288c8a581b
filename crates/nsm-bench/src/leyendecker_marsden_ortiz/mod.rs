//! Leyendecker, Marsden & Ortiz, "Variational integrators for constrained dynamical systems" \[LMO\]: its multibody systems.

pub mod six_body;
pub mod swing;
mod time;

use crate::Scenario;

/// The scenarios of the paper, in the order of its sections.
pub fn scenarios() -> Vec<Scenario> {
    [six_body::scenarios(), swing::scenarios()].into_iter().flatten().collect()
}
