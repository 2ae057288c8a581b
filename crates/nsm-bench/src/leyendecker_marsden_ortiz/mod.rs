//! Leyendecker, Marsden & Ortiz, "Variational integrators for constrained dynamical systems" \[LMO\]: its flexible multibody
//! system.

pub mod swing;

use crate::Scenario;

/// The scenarios of the paper, in the order of its sections.
pub fn scenarios() -> Vec<Scenario> {
    swing::scenarios()
}
