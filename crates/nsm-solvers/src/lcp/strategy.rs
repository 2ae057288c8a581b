//! The default strategy: methods in the order that structure and size suggest, until one answer stands.
//!
//! | matrix | order of methods |
//! |---|---|
//! | symmetric, $n \le 32$ | active set, interior point |
//! | symmetric, tridiagonal with couplings $\le 0$ | chain sweep, interior point |
//! | symmetric, sparse | interior point |
//! | symmetric, dense | block pivoting, interior point, active set |
//! | not symmetric, $n \le 16$ | Lemke, Newton on Fischer–Burmeister, block pivoting, Newton on min, enumeration |
//! | not symmetric, $n \le 200$ | a few exchanges of blocks, Lemke, Newton on Fischer–Burmeister, block pivoting, Newton on min |
//! | not symmetric, larger | a few exchanges of blocks, Newton on Fischer–Burmeister, block pivoting, Newton on min, Lemke |
//!
//! P-matrices take a few exchanges of blocks at a handful of factorisations, less than any other method. Where those fail, Lemke's path costs
//! $O(n^2)$ a pivot and ends for every copositive-plus matrix, while a Newton iteration costs a factorisation and may go on in vain
//! for hundreds; at 200 unknowns and more a path is the longer one.
//!
//! Every answer is judged by its natural residual in the equilibrated problem. One that misses the
//! tolerance by little is polished on its active set first. Symmetric matrices that turn out to be
//! indefinite fall through to the methods for general ones. Where all fail, small problems are
//! proven infeasible or exhausted by enumeration; otherwise the best point seen is returned with the error.

use super::certificate::Verdict;
use super::columns::Columns;
use super::enumeration;
use super::workspace::with_residual;
use super::{LcpError, LcpFailure, LcpWorkspace, Matrix, Method, Report, Solution};

/// Up to this order the active-set method on plain slices beats everything else.
const TINY: usize = 32;

/// Tableau methods are not tried beyond this order.
const LARGEST_TABLEAU: usize = 600;

/// Dense general methods are not tried beyond this order.
const LARGEST_DENSE: usize = 4000;

/// Up to this order Lemke's path is shorter than Newton's iteration.
const SHORT_PATH: usize = 200;

/// Residuals below this suggest that the active set is right and only rounding is left.
const POLISHABLE: f64 = 1e-4;

impl LcpWorkspace {
    /// Solves $0 \le z \perp w = Mz + q \ge 0$ by the default strategy.
    ///
    /// On failure `z` and `w` hold the best point seen, its residual is in the error.
    ///
    /// # Errors
    /// Invalid input; [`LcpError::Infeasible`] or [`LcpError::NoSolution`] when there is provably no
    /// solution; otherwise the last method's error.
    pub fn solve(
        &mut self,
        matrix: Matrix<'_>,
        q: &[f64],
        z: &mut [f64],
        w: &mut [f64],
    ) -> Result<Report, LcpError> {
        self.check(&matrix, q, z, w)?;
        self.in_scaled_units(matrix, q, z, w, |this, matrix, q, symmetry, z, w| {
            let symmetric = symmetry.holds();
            if matrix.is_sparse() || this.n <= TINY {
                return this.solve_checked(matrix, q, symmetric, z, w);
            }
            // A dense array that is mostly zeros is worth its pattern.
            let mut extracted = core::mem::take(&mut this.extracted);
            let outcome = match extracted.fill(&matrix) {
                Some(sparse) => this.solve_checked(sparse, q, symmetric, z, w),
                None => this.solve_checked(matrix, q, symmetric, z, w),
            };
            this.extracted = extracted;
            outcome
        })
    }

    fn solve_checked(
        &mut self,
        matrix: Columns<'_>,
        q: &[f64],
        symmetric: bool,
        z: &mut [f64],
        w: &mut [f64],
    ) -> Result<Report, LcpError> {
        let n = self.n;
        if !self.options.warm_start {
            z.fill(0.0);
        }
        if q.iter().all(|&q| q >= 0.0) && !self.options.warm_start {
            w.copy_from_slice(q);
            return Ok(self.report(Method::ActiveSet, 0, 0.0, z, w));
        }
        let mut attempt = Attempt { best: f64::INFINITY, iterations: 0, error: None, nearly: None };
        if symmetric {
            let chain = n > 4 && matrix.is_chain();
            let order: &[Method] = if chain {
                &[Method::ChainSweep, Method::InteriorPoint, Method::ActiveSet]
            } else if n <= TINY {
                &[Method::ActiveSet, Method::InteriorPoint]
            } else if matrix.is_sparse() {
                &[Method::InteriorPoint, Method::ActiveSet]
            } else {
                &[Method::BlockPivoting, Method::InteriorPoint, Method::ActiveSet]
            };
            for &method in order {
                if method == Method::ActiveSet && n > LARGEST_DENSE {
                    continue;
                }
                if let Some(report) = self.attempt(method, &matrix, q, true, z, w, &mut attempt) {
                    return Ok(report);
                }
                if let Some(error @ LcpError::Infeasible { .. }) = attempt.error {
                    return Err(with_residual(error, attempt.best));
                }
            }
        }
        let general: &[Method] = if n <= 16 {
            &[
                Method::Lemke,
                Method::NewtonFischerBurmeister,
                Method::BlockPivoting,
                Method::NewtonMin,
                Method::Enumeration,
            ]
        } else if n <= SHORT_PATH {
            &[
                Method::Lemke,
                Method::NewtonFischerBurmeister,
                Method::BlockPivoting,
                Method::NewtonMin,
            ]
        } else if n <= LARGEST_DENSE {
            &[
                Method::NewtonFischerBurmeister,
                Method::BlockPivoting,
                Method::NewtonMin,
                Method::Lemke,
            ]
        } else {
            // All others would write the matrix out densely.
            &[Method::ProjectedGaussSeidel]
        };
        if !symmetric && n > 16 && n <= LARGEST_DENSE {
            self.brief = true;
            let report = self.attempt(Method::BlockPivoting, &matrix, q, false, z, w, &mut attempt);
            self.brief = false;
            if let Some(report) = report {
                return Ok(report);
            }
        }
        for &method in general {
            let largest = match method {
                Method::Lemke => LARGEST_TABLEAU,
                Method::Enumeration => enumeration::LARGEST,
                _ => usize::MAX,
            };
            if n > largest {
                continue;
            }
            if let Some(report) = self.attempt(method, &matrix, q, false, z, w, &mut attempt) {
                return Ok(report);
            }
            if let Some(error) = attempt.error
                && error.proves_no_solution()
            {
                return Err(self.strongest(error, &matrix, q, attempt.best));
            }
        }
        let (method, residual) = (Method::Enumeration, attempt.best);
        match self.prove_infeasible(&matrix, q) {
            Verdict::Proven(index) => return Err(LcpError::Infeasible { method, index, residual }),
            Verdict::Nearly(index) => {
                let nearly = LcpError::NearlyInfeasible { method, index, residual };
                attempt.nearly = attempt.nearly.or(Some(nearly));
            }
            Verdict::Nothing => {}
        }
        let stalled = LcpError::Stalled {
            method: Method::InteriorPoint,
            iterations: attempt.iterations,
            residual: attempt.best,
        };
        Err(with_residual(attempt.nearly.or(attempt.error).unwrap_or(stalled), attempt.best))
    }

    /// Runs one method, polishes its point if need be and keeps it when it is the best so far.
    #[allow(clippy::too_many_arguments)]
    fn attempt(
        &mut self,
        method: Method,
        matrix: &Columns<'_>,
        q: &[f64],
        symmetric: bool,
        z: &mut [f64],
        w: &mut [f64],
        attempt: &mut Attempt,
    ) -> Option<Report> {
        // Methods after the first start from the best point so far only when asked to.
        if self.options.warm_start {
            self.trial.copy_from_slice(z);
        } else {
            self.trial.fill(0.0);
        }
        let outcome = self.run_verified(method, matrix, q, symmetric);
        let (mut residual, mut bar) = self.judge(matrix, q);
        if !symmetric && residual > 0.01 * self.options.tolerance && residual < POLISHABLE {
            (residual, bar) = self.polish(matrix, q, (residual, bar));
        }
        if residual < attempt.best || attempt.best == f64::INFINITY {
            attempt.best = residual;
            z.copy_from_slice(&self.trial);
            w.copy_from_slice(&self.slack);
        }
        match outcome {
            Ok(iterations) => {
                attempt.iterations = iterations;
                if residual <= bar {
                    return Some(self.report(method, iterations, residual, z, w));
                }
                attempt.error = Some(LcpError::Stalled { method, iterations, residual });
                None
            }
            Err(error) => {
                // A method may give up at a point that is good enough all the same.
                if residual <= bar {
                    return Some(self.report(method, attempt.iterations, residual, z, w));
                }
                if let LcpError::NearlyInfeasible { .. } = error {
                    attempt.nearly = attempt.nearly.or(Some(error));
                }
                attempt.error = Some(error);
                None
            }
        }
    }

    /// Prefers a proof of infeasibility, which anyone can check, to exhaustion.
    fn strongest(
        &mut self,
        error: LcpError,
        matrix: &Columns<'_>,
        q: &[f64],
        residual: f64,
    ) -> LcpError {
        match error {
            LcpError::NoSolution { .. } => match self.prove_infeasible(matrix, q) {
                Verdict::Proven(index) => {
                    LcpError::Infeasible { method: Method::Enumeration, index, residual }
                }
                _ => with_residual(error, residual),
            },
            other => with_residual(other, residual),
        }
    }
}

struct Attempt {
    best: f64,
    iterations: u32,
    error: Option<LcpError>,
    /// The first claim that there is no solution up to rounding.
    nearly: Option<LcpError>,
}

/// Solves $0 \le z \perp w = Mz + q \ge 0$, allocating all it needs.
///
/// ```
/// use nsm_solvers::lcp::{Matrix, solve};
///
/// let m = Matrix::dense(2, &[2.0, 1.0, 1.0, 2.0])?;
/// let solution = solve(m, &[-5.0, 6.0])?;
/// assert_eq!((solution.z, solution.w), (vec![2.5, 0.0], vec![0.0, 8.5]));
/// assert_eq!(solution.active, [0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`LcpWorkspace::solve`], with the best point seen.
pub fn solve(matrix: Matrix<'_>, q: &[f64]) -> Result<Solution, LcpFailure> {
    let n = matrix.order();
    let mut workspace = LcpWorkspace::new(n);
    let (mut z, mut w) = (vec![0.0; n], vec![0.0; n]);
    let outcome = workspace.solve(matrix, q, &mut z, &mut w);
    finish(outcome, z, w)
}

/// Solves by one method, allocating all it needs.
///
/// # Errors
/// As [`LcpWorkspace::solve_with`], with the best point of that method.
pub fn solve_with(method: Method, matrix: Matrix<'_>, q: &[f64]) -> Result<Solution, LcpFailure> {
    let n = matrix.order();
    let mut workspace = LcpWorkspace::new(n);
    let (mut z, mut w) = (vec![0.0; n], vec![0.0; n]);
    let outcome = workspace.solve_with(method, matrix, q, &mut z, &mut w);
    finish(outcome, z, w)
}

fn finish(
    outcome: Result<Report, LcpError>,
    z: Vec<f64>,
    w: Vec<f64>,
) -> Result<Solution, LcpFailure> {
    let active: Vec<usize> = (0..z.len()).filter(|&i| z[i] > w[i]).collect();
    match outcome {
        Ok(report) => Ok(Solution { z, w, active, report }),
        Err(error) if error.is_invalid_input() => Err(LcpFailure { error, best: None }),
        Err(error) => {
            let residual = error.residual().unwrap_or(f64::NAN);
            let report = Report {
                method: error.method().unwrap_or(Method::InteriorPoint),
                iterations: 0,
                residual,
                active: active.len(),
            };
            Err(LcpFailure { error, best: Some(Box::new(Solution { z, w, active, report })) })
        }
    }
}
