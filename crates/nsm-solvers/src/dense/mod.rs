//! Dense factorisations of any size behind one struct each.
//!
//! Up to [`SMALL`] unknowns the kernels of [`crate::small`] run; above, faer does, through its
//! low-level calls with the workspace built once. Matrices are row-major. Pivots are judged by the
//! rule of [`crate::small`] in both regimes: faer itself never reports a singular matrix.

mod cholesky;
mod lu;
mod singular_values;

pub use cholesky::DenseCholesky;
pub use lu::DenseLu;
pub use singular_values::{condition, singular_values};

/// Largest size for which the hand-written kernels are used.
pub const SMALL: usize = 32;
