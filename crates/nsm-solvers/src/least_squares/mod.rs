//! Least squares under sign and bound constraints, the form in which contact problems arrive.
//!
//! | problem | solver | cost |
//! |---|---|---|
//! | $\min_{\lambda\ge0} \tfrac12\lambda^\top M\lambda + q^\top\lambda$, small dense PSD $M$ | [`GramNnls`] | one Cholesky of the active set per exchange |
//! | the same with $M = G^\top W G + rI$ given by its factors | [`FactoredNnls`] | by the pattern of $G$ |
//! | the same with sparse $M$, from a guess | [`SparseNnls`] | one envelope of the active set per exchange |
//! | $\min_{l\le x\le u} \tfrac12 x^\top M x + q^\top x$ | [`BoundedGram`] | one exchange at a time |
//! | the same for a chain of contacts (tridiagonal, $M_{i,i+1} \le 0$) | [`TridiagonalNnls`] | linear |

mod bounded;
mod factored;
mod gram;
mod growing_factor;
mod scaling;
mod sparse;
mod tridiagonal;

pub use bounded::BoundedGram;
pub use factored::{FactoredNnls, Factors, Weight};
pub use gram::{GramNnls, GramReport};
pub use sparse::SparseNnls;
pub use tridiagonal::TridiagonalNnls;

/// Largest natural residual with which a kernel returns an answer: what is worse is no answer.
const ACCEPTED: f64 = 1e-6;

/// Why a least-squares problem could not be solved.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum LeastSquaresError {
    /// The workspace was built for smaller problems.
    #[error("problem with {n} unknowns in a workspace for {capacity}")]
    Capacity {
        /// Unknowns of the problem.
        n: usize,
        /// Unknowns the workspace has room for.
        capacity: usize,
    },
    /// An input has the wrong length.
    #[error("{what} has {found} entries, expected {expected}")]
    Size {
        /// Name of the argument.
        what: &'static str,
        /// Length it should have.
        expected: usize,
        /// Length it has.
        found: usize,
    },
    /// An input contains a NaN or an infinity.
    #[error("entry {index} of {what} is not finite")]
    NotFinite {
        /// Name of the argument.
        what: &'static str,
        /// Position of the first offending entry.
        index: usize,
    },
    /// The couplings of a chain must not be positive.
    #[error("off-diagonal entry {index} is positive, not that of a chain")]
    PositiveCoupling {
        /// Position of the first positive entry.
        index: usize,
    },
    /// A lower bound exceeds its upper one.
    #[error("the lower bound of unknown {index} exceeds its upper bound")]
    Bounds {
        /// The unknown.
        index: usize,
    },
    /// The objective is unbounded below along a ray that starts with unknown `index`: the
    /// complementarity problem has no solution.
    #[error("no solution: the objective falls without bound along a ray of unknown {index}")]
    Infeasible {
        /// The unknown whose increase opens the ray.
        index: usize,
        /// Natural residual of the feasible point reached.
        residual: f64,
    },
    /// The iteration limit was reached.
    #[error("no convergence in {iterations} iterations (residual {residual:.3e})")]
    Stalled {
        /// Iterations made.
        iterations: u32,
        /// Natural residual of the point reached.
        residual: f64,
    },
}
