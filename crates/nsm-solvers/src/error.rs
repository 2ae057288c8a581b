//! What can go wrong, with the culprit's index and the numbers that gave it away.

use thiserror::Error;

use crate::lcp::LcpError;
use crate::least_squares::LeastSquaresError;
use crate::roots::RootError;

/// Any failure of this crate, for callers that use several solvers.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum SolverError {
    /// A factorisation or a linear solve failed.
    #[error(transparent)]
    Linear(#[from] LinearError),
    /// A linear complementarity problem was not solved.
    #[error(transparent)]
    Lcp(#[from] LcpError),
    /// A least-squares problem was not solved.
    #[error(transparent)]
    LeastSquares(#[from] LeastSquaresError),
    /// A scalar root was not found.
    #[error(transparent)]
    Root(#[from] RootError),
}

/// Failure of a factorisation or of a linear solve.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum LinearError {
    /// A slice does not have the length that the dimensions require.
    #[error("{what} has length {found}, expected {expected}")]
    Size {
        /// Which argument.
        what: &'static str,
        /// Length required.
        expected: usize,
        /// Length given.
        found: usize,
    },
    /// A triplet, row or column index lies outside the matrix.
    #[error("{what} {index} lies outside 0..{bound}")]
    Index {
        /// What the index counts.
        what: &'static str,
        /// The index given.
        index: usize,
        /// The first index that is too large.
        bound: usize,
    },
    /// NaN or infinity in the data, or overflow on the way.
    #[error("{what} is not finite (NaN, infinity or overflow), first noticed at index {index}")]
    NotFinite {
        /// Which argument or intermediate quantity.
        what: &'static str,
        /// Entry, or pivot, at which it was noticed.
        index: usize,
    },
    /// A pivot cannot be told from zero.
    #[error("matrix is singular: pivot {pivot} is {value:.3e}, not above {threshold:.3e}")]
    Singular {
        /// Elimination step, that is the column, at which it broke down.
        pivot: usize,
        /// Size of the pivot.
        value: f64,
        /// Size it had to exceed.
        threshold: f64,
    },
    /// A symmetric matrix has a pivot that is not positive.
    #[error(
        "matrix is not positive definite: pivot {pivot} is {value:.3e}, not above {threshold:.3e}"
    )]
    NotPositiveDefinite {
        /// Row at which it was noticed.
        pivot: usize,
        /// The pivot.
        value: f64,
        /// Value it had to exceed.
        threshold: f64,
    },
    /// Iterative refinement could not bring the residual down.
    #[error(
        "solution is inaccurate: relative residual {residual:.3e} after {refinements} refinements"
    )]
    Inaccurate {
        /// Scaled residual of the best solution found.
        residual: f64,
        /// Refinement steps taken.
        refinements: usize,
    },
    /// Not enough memory for a factor, or more entries than an index can count.
    #[error("the sparse factor does not fit into memory")]
    Memory,
    /// `solve` was called before a successful `factorise`.
    #[error("no factorisation is available: call factorise first, and check that it succeeded")]
    NotFactorised,
}

/// Rejects a slice of the wrong length.
#[inline]
pub(crate) fn expect_len(
    what: &'static str,
    found: usize,
    expected: usize,
) -> Result<(), LinearError> {
    if found == expected { Ok(()) } else { Err(LinearError::Size { what, expected, found }) }
}

/// Rejects NaN and infinity, naming the first bad entry.
#[inline]
pub(crate) fn expect_finite(what: &'static str, x: &[f64]) -> Result<(), LinearError> {
    match x.iter().position(|v| !v.is_finite()) {
        None => Ok(()),
        Some(index) => Err(LinearError::NotFinite { what, index }),
    }
}
