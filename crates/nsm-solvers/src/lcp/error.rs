//! Why a linear complementarity problem was not solved, with the best point reached.

use super::{Method, Solution};
use crate::least_squares::LeastSquaresError;

/// Why a solve ended without an answer.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LcpError {
    /// An argument has the wrong length.
    #[error("{what} has {found} entries, expected {expected}")]
    Size {
        /// Name of the argument.
        what: &'static str,
        /// Length it should have.
        expected: usize,
        /// Length it has.
        found: usize,
    },
    /// The pattern of a sparse matrix is inconsistent.
    #[error("invalid sparse pattern at column {column}")]
    Pattern {
        /// First column whose entries are out of order or out of range.
        column: usize,
    },
    /// An input contains a NaN or an infinity.
    #[error("entry {index} of {what} is not finite")]
    NotFinite {
        /// Name of the argument.
        what: &'static str,
        /// Position of the first offending entry.
        index: usize,
    },
    /// The method needs a symmetric matrix.
    #[error(
        "{method} needs a symmetric matrix, but entries ({row}, {column}) and ({column}, {row}) differ"
    )]
    NotSymmetric {
        /// The method asked for.
        method: Method,
        /// Row of the entry that differs from its mirror image.
        row: usize,
        /// Column of that entry.
        column: usize,
    },
    /// The method divides by the diagonal, which has an entry that is not positive.
    #[error("{method} needs a positive diagonal, but entry {index} is not")]
    Diagonal {
        /// The method asked for.
        method: Method,
        /// Position of the entry.
        index: usize,
    },
    /// The chain sweep needs a tridiagonal matrix with couplings that are not positive.
    #[error("not a chain: the coupling in column {index} is positive or too far from the diagonal")]
    NotAChain {
        /// The first column that breaks the pattern.
        index: usize,
    },
    /// The method's cost grows so fast that it refuses this order.
    #[error("{method} takes problems up to order {largest}, not {n}")]
    TooLarge {
        /// The method asked for.
        method: Method,
        /// Order of the problem.
        n: usize,
        /// Largest order it takes.
        largest: usize,
    },
    /// A linear system inside the method was singular or not positive definite.
    #[error("{method} met a singular system in iteration {iterations} (residual {residual:.3e})")]
    Singular {
        /// The method that failed.
        method: Method,
        /// Iterations made.
        iterations: u32,
        /// Natural residual of the best point.
        residual: f64,
    },
    /// There is no solution, and this is proven: some $d \ge 0$ has $M^\top d \le 0$ and $q^\top d < 0$,
    /// so that $Mz + q \ge 0$ is impossible for any $z \ge 0$.
    #[error("no solution: Mz + q >= 0 is impossible for z >= 0 (shown by {method}, row {index})")]
    Infeasible {
        /// The method that found the proof.
        method: Method,
        /// A row that takes part in it.
        index: usize,
        /// Natural residual of the best point.
        residual: f64,
    },
    /// There is no solution up to rounding: some $d \ge 0$ has $q^\top d < 0$ and $M^\top d \le 0$ as far as the entries of
    /// $M$ can tell. Other last bits of $M$ may admit a solution, far out along $d$.
    #[error(
        "no solution of sensible size: the matrix is singular up to rounding where q pushes (seen by {method}, row {index}; residual {residual:.3e})"
    )]
    NearlyInfeasible {
        /// The method that found the direction.
        method: Method,
        /// A row that takes part in it.
        index: usize,
        /// Natural residual of the best point.
        residual: f64,
    },
    /// There is a solution, but not in double precision.
    #[error(
        "unknown {index} of the solution is beyond the range of double precision: scale the problem"
    )]
    Range {
        /// The first unknown, or its slack, that overflows or underflows.
        index: usize,
    },
    /// There is no solution: $q$ lies in none of the $2^n$ complementary cones. $Mz + q \ge 0$ may be
    /// feasible all the same.
    #[error("no solution: q lies in none of the {cones} complementary cones")]
    NoSolution {
        /// Number of cones, all of which were tried.
        cones: u64,
        /// Natural residual of the best point.
        residual: f64,
    },
    /// Lemke's path ended on a secondary ray. For copositive-plus matrices (all positive
    /// semidefinite ones among them) this means that there is no solution; for other classes it is
    /// inconclusive.
    #[error("Lemke's path ended on a ray after {iterations} pivots (residual {residual:.3e})")]
    Ray {
        /// Pivots made.
        iterations: u32,
        /// Natural residual of the best point.
        residual: f64,
    },
    /// The method made no further progress or reached its iteration limit.
    #[error("{method} did not converge in {iterations} iterations (residual {residual:.3e})")]
    Stalled {
        /// The method that failed (the last one, when a strategy tried several).
        method: Method,
        /// Iterations made.
        iterations: u32,
        /// Natural residual of the best point.
        residual: f64,
    },
}

impl LcpError {
    pub(crate) fn from_least_squares(method: Method, error: LeastSquaresError) -> Self {
        match error {
            LeastSquaresError::Infeasible { index, residual } => {
                Self::Infeasible { method, index, residual }
            }
            LeastSquaresError::Stalled { iterations, residual } => {
                Self::Stalled { method, iterations, residual }
            }
            LeastSquaresError::PositiveCoupling { index } | LeastSquaresError::Bounds { index } => {
                Self::NotAChain { index }
            }
            LeastSquaresError::NotFinite { what, index } => Self::NotFinite { what, index },
            LeastSquaresError::Size { what, expected, found } => {
                Self::Size { what, expected, found }
            }
            LeastSquaresError::Capacity { n, capacity } => {
                Self::Size { what: "workspace", expected: n, found: capacity }
            }
        }
    }

    /// Natural residual of the best point, where there is one.
    pub fn residual(&self) -> Option<f64> {
        match *self {
            Self::Singular { residual, .. }
            | Self::Infeasible { residual, .. }
            | Self::NearlyInfeasible { residual, .. }
            | Self::NoSolution { residual, .. }
            | Self::Ray { residual, .. }
            | Self::Stalled { residual, .. } => Some(residual),
            _ => None,
        }
    }

    /// The method that failed, where one did.
    pub fn method(&self) -> Option<Method> {
        match *self {
            Self::Singular { method, .. }
            | Self::Infeasible { method, .. }
            | Self::NearlyInfeasible { method, .. }
            | Self::NotSymmetric { method, .. }
            | Self::Diagonal { method, .. }
            | Self::TooLarge { method, .. }
            | Self::Stalled { method, .. } => Some(method),
            Self::Ray { .. } => Some(Method::Lemke),
            Self::NoSolution { .. } => Some(Method::Enumeration),
            _ => None,
        }
    }

    /// Whether the error proves that the problem has no solution.
    pub fn proves_no_solution(&self) -> bool {
        matches!(self, Self::Infeasible { .. } | Self::NoSolution { .. })
    }

    /// Whether the input itself was refused, so that no other method can help.
    pub fn is_invalid_input(&self) -> bool {
        matches!(self, Self::Size { .. } | Self::Pattern { .. } | Self::NotFinite { .. })
    }
}

impl From<LeastSquaresError> for LcpError {
    fn from(error: LeastSquaresError) -> Self {
        Self::from_least_squares(Method::ActiveSet, error)
    }
}

/// An [`LcpError`] together with the best point reached, as returned by the allocating [`super::solve`].
#[derive(Debug, Clone, thiserror::Error)]
#[error("{error}")]
pub struct LcpFailure {
    /// What went wrong.
    #[source]
    pub error: LcpError,
    /// The point with the smallest residual seen; absent when the input was refused.
    pub best: Option<Box<Solution>>,
}
