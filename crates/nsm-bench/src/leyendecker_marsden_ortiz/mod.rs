//! Leyendecker, Marsden & Ortiz, "Variational integrators for constrained dynamical systems" \[LMO\]: its flexible multibody
//! system.

pub mod swing;
