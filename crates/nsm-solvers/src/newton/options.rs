//! What a Newton solve is asked for and what it reports.

use thiserror::Error;

use crate::error::LinearError;

/// When the Jacobian is evaluated and factorised.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum Jacobian {
    /// In every iteration: quadratic convergence.
    #[default]
    Fresh,
    /// Only when a step did not bring the residual below `contraction` times its last value. The
    /// factorisation survives from one solve to the next.
    Frozen {
        /// Reduction of the residual per step that is worth more than a factorisation; 0.1 to 0.5.
        contraction: f64,
    },
}

/// Options of [`Newton`](super::Newton).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NewtonOptions {
    /// Stop when $\lVert F\rVert_\infty$ is at most this.
    pub tolerance: f64,
    /// Stop when the last step is at most this times $\lVert x\rVert_\infty$.
    pub step_tolerance: f64,
    /// Iterations allowed.
    pub max_iterations: usize,
    /// Whether steps are shortened until the residual decreases.
    pub line_search: bool,
    /// Halvings of the step allowed in one line search.
    pub max_halvings: usize,
    /// When to renew the Jacobian.
    pub jacobian: Jacobian,
    /// One more step with the last factorisation after convergence: squares the error for the price of
    /// a residual and a solve.
    pub polish: bool,
}

impl Default for NewtonOptions {
    fn default() -> Self {
        Self {
            tolerance: 1e-12,
            step_tolerance: 4.0 * f64::EPSILON,
            max_iterations: 50,
            line_search: true,
            max_halvings: 30,
            jacobian: Jacobian::Fresh,
            polish: false,
        }
    }
}

/// Which criterion ended a solve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The residual is below its tolerance.
    Residual,
    /// The steps are below theirs: the residual is at its round-off floor.
    Step,
}

/// Account of a Newton solve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NewtonReport {
    /// Steps taken.
    pub iterations: usize,
    /// Evaluations of the residual.
    pub evaluations: usize,
    /// Evaluations and factorisations of the Jacobian.
    pub factorisations: usize,
    /// $\lVert F\rVert_\infty$ at the point returned.
    pub residual: f64,
    /// Length of the last step, $\lVert \alpha d\rVert_\infty$.
    pub step: f64,
    /// Criterion that ended the solve.
    pub stop: Stop,
}

impl NewtonReport {
    pub(crate) fn start(residual: f64) -> Self {
        Self {
            iterations: 0,
            evaluations: 1,
            factorisations: 0,
            residual,
            step: f64::INFINITY,
            stop: Stop::Residual,
        }
    }
}

/// Why Newton's method stopped without a solution. The best point is left in the caller's vector.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum NewtonError {
    /// The guess has the wrong length.
    #[error("guess has length {found}, expected {expected}")]
    Size {
        /// Number of unknowns.
        expected: usize,
        /// Length given.
        found: usize,
    },
    /// The residual is NaN or infinite at the guess itself.
    #[error("residual is not finite at the initial guess")]
    NotFinite,
    /// The Jacobian could not be factorised.
    #[error("linear solve failed after {} iterations (residual {:.3e}): {source}", report.iterations, report.residual)]
    Linear {
        /// State of the solve.
        report: NewtonReport,
        /// What went wrong.
        source: LinearError,
    },
    /// No step along the Newton direction decreases the residual.
    #[error("no descent after {} iterations (residual {:.3e}); try another guess or a smaller step",
        report.iterations, report.residual)]
    Stalled {
        /// State of the solve.
        report: NewtonReport,
    },
    /// The allowance of iterations ran out.
    #[error("no convergence in {} iterations (residual {:.3e})", report.iterations, report.residual)]
    MaxIterations {
        /// State of the solve.
        report: NewtonReport,
    },
    /// The pattern of the Jacobian is invalid.
    #[error(transparent)]
    Pattern(#[from] LinearError),
}
