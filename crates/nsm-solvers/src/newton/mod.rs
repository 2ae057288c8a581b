//! Newton's method for smooth systems $F(x) = 0$ with a known Jacobian pattern.
//!
//! Each iteration solves $F^\prime(x) d = -F(x)$ with a [`LinearSystem`] and takes the longest of the steps
//! $d, d/2, d/4, \dots$ that satisfies Armijo's condition on $\tfrac12 |F|^2$
//! $$ |F(x + \alpha d)|^2 \le (1 - 2 \sigma \alpha) |F(x)|^2, \qquad \sigma = 10^{-4}. $$
//! A residual that is NaN or infinite counts as too large, so a function may refuse points outside its
//! domain by returning NaN.

mod convergence;
mod options;

pub use convergence::{CONTRACTS, ends, is_converged};
pub use options::{Jacobian, NewtonError, NewtonOptions, NewtonReport, Stop};

use crate::linear_system::{LinearSystem, Structure};
use crate::small::{dot, norm_inf};

/// A square system of equations. Closures will do: `(residual, jacobian)` implements it.
pub trait Equations {
    /// Writes $F(x)$ into `residual`.
    fn residual(&mut self, x: &[f64], residual: &mut [f64]);

    /// Writes the entries of $F^\prime(x)$ into `values`, in the order in which their positions were declared.
    fn jacobian(&mut self, x: &[f64], values: &mut [f64]);
}

impl<R: FnMut(&[f64], &mut [f64]), J: FnMut(&[f64], &mut [f64])> Equations for (R, J) {
    fn residual(&mut self, x: &[f64], residual: &mut [f64]) {
        (self.0)(x, residual);
    }

    fn jacobian(&mut self, x: &[f64], values: &mut [f64]) {
        (self.1)(x, values);
    }
}

/// Newton's method with its workspace.
///
/// ```
/// use nsm_solvers::newton::{Newton, NewtonOptions};
///
/// // x² + y² = 4, x y = 1.
/// let mut newton = Newton::dense(2, NewtonOptions::default());
/// let mut equations = (
///     |x: &[f64], r: &mut [f64]| {
///         r[0] = x[0] * x[0] + x[1] * x[1] - 4.0;
///         r[1] = x[0] * x[1] - 1.0;
///     },
///     |x: &[f64], j: &mut [f64]| j.copy_from_slice(&[2.0 * x[0], 2.0 * x[1], x[1], x[0]]),
/// );
/// let mut x = [2.0, 0.3];
/// let report = newton.solve(&mut equations, &mut x)?;
/// assert!(report.residual < 1e-12 && report.iterations < 6);
/// # Ok::<(), nsm_solvers::newton::NewtonError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Newton {
    options: NewtonOptions,
    system: LinearSystem,
    values: Vec<f64>,
    residual: Vec<f64>,
    step: Vec<f64>,
    trial: Vec<f64>,
    trial_residual: Vec<f64>,
    /// A factorisation of an earlier Jacobian may be reused.
    frozen: bool,
}

impl Newton {
    /// Workspace for `n` unknowns whose Jacobian is given in full, row by row.
    pub fn dense(n: usize, options: NewtonOptions) -> Self {
        Self::with_system(LinearSystem::dense(n), options)
    }

    /// Workspace for `n` unknowns whose Jacobian has nonzeros at `entries`.
    pub fn new(
        n: usize,
        entries: &[(usize, usize)],
        options: NewtonOptions,
    ) -> Result<Self, NewtonError> {
        Ok(Self::with_system(LinearSystem::new(n, entries, Structure::General)?, options))
    }

    /// Workspace around a linear system of the caller's choice.
    pub fn with_system(system: LinearSystem, options: NewtonOptions) -> Self {
        let (n, count) = (system.size(), system.value_count());
        let zeros = || vec![0.0; n];
        Self {
            options,
            system,
            values: vec![0.0; count],
            residual: zeros(),
            step: zeros(),
            trial: zeros(),
            trial_residual: zeros(),
            frozen: false,
        }
    }

    /// Options in use.
    pub fn options(&self) -> &NewtonOptions {
        &self.options
    }

    /// Options, to be changed between solves.
    pub fn options_mut(&mut self) -> &mut NewtonOptions {
        &mut self.options
    }

    /// Forgets the Jacobian kept by [`Jacobian::Frozen`], as after a jump of the state.
    pub fn thaw(&mut self) {
        self.frozen = false;
    }

    /// $F$ at the last point returned.
    pub fn residual(&self) -> &[f64] {
        &self.residual
    }

    /// Solves $F(x) = 0$ from the guess in `x`, which takes the solution, or on error the best point met.
    pub fn solve(
        &mut self,
        equations: &mut impl Equations,
        x: &mut [f64],
    ) -> Result<NewtonReport, NewtonError> {
        if x.len() != self.step.len() {
            return Err(NewtonError::Size { expected: self.step.len(), found: x.len() });
        }
        equations.residual(x, &mut self.residual);
        let mut report = NewtonReport::start(norm_inf(&self.residual));
        if !report.residual.is_finite() {
            return Err(NewtonError::NotFinite);
        }
        loop {
            if report.residual <= self.options.tolerance {
                report.stop = Stop::Residual;
                break;
            }
            if report.iterations == self.options.max_iterations {
                return Err(NewtonError::MaxIterations { report });
            }
            let before = report.residual;
            let fresh = self.direction(equations, x, &mut report)?;
            if self.advance(equations, x, fresh, &mut report) {
                let limit = self.options.step_tolerance * norm_inf(x);
                if report.step <= limit {
                    report.stop = Stop::Step;
                    break;
                }
                if let Jacobian::Frozen { contraction } = self.options.jacobian {
                    self.frozen = report.residual <= contraction * before;
                }
                continue;
            }
            if !fresh {
                // The old Jacobian misled: repeat with a new one before giving up.
                self.frozen = false;
                continue;
            }
            // No descent along the Newton direction: either round-off, or a point where F' is useless.
            self.frozen = false;
            if norm_inf(&self.step) <= 64.0 * f64::EPSILON * norm_inf(x).max(f64::MIN_POSITIVE) {
                report.stop = Stop::Step;
                break;
            }
            return Err(NewtonError::Stalled { report });
        }
        if self.options.polish && report.residual > 0.0 {
            self.polish(equations, x, &mut report)?;
        }
        Ok(report)
    }

    /// Leaves the Newton direction in `self.step`; tells whether its Jacobian is that of `x`.
    fn direction(
        &mut self,
        equations: &mut impl Equations,
        x: &[f64],
        report: &mut NewtonReport,
    ) -> Result<bool, NewtonError> {
        let fresh = !(self.frozen && matches!(self.options.jacobian, Jacobian::Frozen { .. }));
        if fresh {
            equations.jacobian(x, &mut self.values);
            report.factorisations += 1;
            self.system
                .factorise(&self.values)
                .map_err(|source| NewtonError::Linear { report: *report, source })?;
        }
        self.step.iter_mut().zip(&self.residual).for_each(|(d, r)| *d = -r);
        self.system
            .solve_in_place(&mut self.step)
            .map_err(|source| NewtonError::Linear { report: *report, source })?;
        Ok(fresh)
    }

    /// Moves `x` along the direction by the line search; false if no step length gives descent.
    fn advance(
        &mut self,
        equations: &mut impl Equations,
        x: &mut [f64],
        fresh: bool,
        report: &mut NewtonReport,
    ) -> bool {
        const SIGMA: f64 = 1e-4;
        let merit = dot(&self.residual, &self.residual);
        let mut alpha = 1.0;
        let halvings =
            if self.options.line_search && fresh { self.options.max_halvings } else { 0 };
        for _ in 0..=halvings {
            for ((t, x), d) in self.trial.iter_mut().zip(&*x).zip(&self.step) {
                *t = x + alpha * d;
            }
            equations.residual(&self.trial, &mut self.trial_residual);
            report.evaluations += 1;
            let trial = dot(&self.trial_residual, &self.trial_residual);
            let accepted = if self.options.line_search || !fresh {
                trial <= (1.0 - 2.0 * SIGMA * alpha) * merit
            } else {
                trial.is_finite()
            };
            if accepted {
                x.copy_from_slice(&self.trial);
                self.residual.copy_from_slice(&self.trial_residual);
                report.iterations += 1;
                report.residual = norm_inf(&self.residual);
                report.step = alpha * norm_inf(&self.step);
                return true;
            }
            alpha *= 0.5;
        }
        false
    }

    /// One more step with the factorisation at hand, kept if it does not increase the residual.
    fn polish(
        &mut self,
        equations: &mut impl Equations,
        x: &mut [f64],
        report: &mut NewtonReport,
    ) -> Result<(), NewtonError> {
        if report.factorisations == 0 && !self.frozen {
            self.direction(equations, x, report)?;
        } else {
            self.step.iter_mut().zip(&self.residual).for_each(|(d, r)| *d = -r);
            self.system
                .solve_in_place(&mut self.step)
                .map_err(|source| NewtonError::Linear { report: *report, source })?;
        }
        for ((t, x), d) in self.trial.iter_mut().zip(&*x).zip(&self.step) {
            *t = x + d;
        }
        equations.residual(&self.trial, &mut self.trial_residual);
        report.evaluations += 1;
        let residual = norm_inf(&self.trial_residual);
        if residual <= report.residual {
            x.copy_from_slice(&self.trial);
            self.residual.copy_from_slice(&self.trial_residual);
            report.residual = residual;
            report.step = norm_inf(&self.step);
        }
        Ok(())
    }
}
