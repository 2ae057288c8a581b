//! What a complementarity solve is asked for and what it reports.

use thiserror::Error;

use crate::error::LinearError;
use crate::newton::Stop;

/// Options of [`SemismoothNewton`](super::SemismoothNewton).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NcpOptions {
    /// Stop when the scaled residual is at most this, in the units of $x$:
    /// $\max(|F_k / a_{kk}|, |\Phi_i| / |G^\prime_i|)$. Never less than a few ulp of the largest term in it.
    pub tolerance: f64,
    /// Stop when the last step is at most this, relative to $x$ and to $\lambda$.
    pub step_tolerance: f64,
    /// Iterations allowed.
    pub max_iterations: usize,
    /// Halvings of an active set step before Fischer and Burmeister's is tried.
    pub max_halvings: usize,
}

impl Default for NcpOptions {
    fn default() -> Self {
        Self {
            tolerance: 1e-12,
            step_tolerance: 4.0 * f64::EPSILON,
            max_iterations: 100,
            max_halvings: 6,
        }
    }
}

/// Account of a complementarity solve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NcpReport {
    /// Steps taken.
    pub iterations: usize,
    /// Evaluations of the residual.
    pub evaluations: usize,
    /// Steps taken on Fischer and Burmeister's function.
    pub smooth_steps: usize,
    /// Scaled residual, in the units of $x$.
    pub residual: f64,
    /// Number of rows that hold with a force; equations count.
    pub active: usize,
    /// Active rows that depended on others in the last step.
    pub redundant: usize,
    /// Criterion that ended the solve.
    pub stop: Stop,
}

impl NcpReport {
    pub(super) fn start(residual: f64) -> Self {
        Self {
            iterations: 0,
            evaluations: 1,
            smooth_steps: 0,
            residual,
            active: 0,
            redundant: 0,
            stop: Stop::Residual,
        }
    }
}

/// Why no solution was found. The best point is left in the caller's vectors.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum NcpError {
    /// The residual is NaN or infinite at the guess itself.
    #[error("residual is not finite at the initial guess")]
    NotFinite,
    /// A step could not be computed.
    #[error("linear solve failed after {} iterations (residual {:.3e}): {source}", report.iterations, report.residual)]
    Linear {
        /// State of the solve.
        report: NcpReport,
        /// What went wrong.
        source: LinearError,
    },
    /// No step decreases the residual: the constraints may contradict each other.
    #[error("no descent after {} iterations (residual {:.3e}); the constraints may be infeasible",
        report.iterations, report.residual)]
    Stalled {
        /// State of the solve.
        report: NcpReport,
    },
    /// The allowance of iterations ran out.
    #[error("no convergence in {} iterations (residual {:.3e})", report.iterations, report.residual)]
    MaxIterations {
        /// State of the solve.
        report: NcpReport,
    },
    /// Sizes or pattern are invalid.
    #[error(transparent)]
    Pattern(#[from] LinearError),
}
