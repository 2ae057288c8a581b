//! Nonlinear complementarity: semismooth Newton with a primal-dual active set.
//!
//! Finds $x \in \mathbb{R}^n$ and $\lambda \in \mathbb{R}^m$ with
//! $$ F(x, \lambda) = 0, \qquad g_i(x) = 0 \quad (i < p), \qquad
//! 0 \le \lambda_i \perp g_i(x) \ge 0 \quad (i \ge p). \tag{1} $$
//! The Jacobian need not be symmetric: $A = \partial F/\partial x$, force directions
//! $G = -(\partial F/\partial \lambda)^\top$ and gap gradients $G^\prime = \partial g/\partial x$ are
//! independent of each other, as in schemes with constraint forces at $q_k$ and gaps at $q_{k+1}$.
//!
//! **Iteration.** (1) is $\Phi = 0$ with $\Phi_i = \min(c_i\lambda_i, g_i)$. Rows with
//! $c_i\lambda_i > g_i$ are active: they are held at $g_i + G^\prime_i d = 0$, and the others get
//! $\lambda_i = 0$ (Newton's method on $\Phi$, the primal-dual active set method of
//! [Hintermüller et al. 2002]). The step is a saddle-point solve ([`crate::kkt`]) for $d$ and the new
//! $\lambda$; redundant active rows share their load, minimum norm. The scaling
//! $c_i = \sum_k |g^\prime_{ik} g_{ik} / a_{kk}|$ makes the choice of the active set independent of units.
//!
//! **Globalisation.** A line search on $|\Phi|^2$, in which the last four values count, accepts almost
//! every step of the active set method as it is. Where it fails, a step on the Fischer–Burmeister
//! function $\varphi(a, b) = a + b - \sqrt{a^2 + b^2}$ is taken, whose square is smooth; in the
//! saddle-point system it appears as a compliance.

mod options;
mod step;

pub use options::{NcpError, NcpOptions, NcpReport};

use crate::error::expect_len;
use crate::kkt::{Kkt, KktPattern};
use crate::newton::Stop;
use crate::small::norm_inf;

/// A complementarity problem (1) with a fixed sparsity pattern.
pub trait Complementarity {
    /// Writes $F(x, \lambda)$ and $g(x)$.
    fn residual(&mut self, x: &[f64], lambda: &[f64], force: &mut [f64], gap: &mut [f64]);

    /// Writes the declared entries of $A$, $G$ and $G^\prime$ into `derivatives`.
    fn derivatives(&mut self, x: &[f64], lambda: &[f64], derivatives: &mut Derivatives);
}

/// Values of the derivatives of (1), in the order in which the [`KktPattern`] lists their positions.
#[derive(Debug, Clone)]
pub struct Derivatives {
    /// $A = \partial F/\partial x$.
    pub block: Vec<f64>,
    /// $G = -(\partial F/\partial\lambda)^\top$: row $i$ is the direction of force $i$.
    pub forces: Vec<f64>,
    /// $G^\prime = \partial g/\partial x$.
    pub gaps: Vec<f64>,
}

/// Semismooth Newton method with its workspace.
///
/// ```
/// use nsm_solvers::kkt::KktPattern;
/// use nsm_solvers::ncp::{Complementarity, Derivatives, NcpOptions, SemismoothNewton};
///
/// /// A unit mass pushed down with force 2 onto the floor x >= 0: x - 1 + 2 = λ.
/// struct Floor;
/// impl Complementarity for Floor {
///     fn residual(&mut self, x: &[f64], lambda: &[f64], force: &mut [f64], gap: &mut [f64]) {
///         force[0] = x[0] + 1.0 - lambda[0];
///         gap[0] = x[0];
///     }
///     fn derivatives(&mut self, _: &[f64], _: &[f64], d: &mut Derivatives) {
///         (d.block[0], d.forces[0], d.gaps[0]) = (1.0, 1.0, 1.0);
///     }
/// }
/// let pattern = KktPattern { unknowns: 1, rows: 1, block: &[], gradients: &[(0, 0)], symmetric: false };
/// let mut solver = SemismoothNewton::new(&pattern, 0, NcpOptions::default())?;
/// let (mut x, mut lambda) = ([3.0], [0.0]);
/// let report = solver.solve(&mut Floor, &mut x, &mut lambda)?;
/// assert_eq!((x, lambda), ([0.0], [1.0]));
/// assert_eq!((report.active, solver.active()), (1, &[true][..]));
/// # Ok::<(), nsm_solvers::ncp::NcpError>(())
/// ```
#[derive(Debug, Clone)]
pub struct SemismoothNewton {
    options: NcpOptions,
    equalities: usize,
    kkt: Kkt,
    derivatives: Derivatives,
    gradients: Vec<(usize, usize)>,
    /// Unknown and place of every diagonal entry of $A$.
    diagonal: Vec<(usize, usize)>,
    scales: Scales,
    current: Point,
    trial: Point,
    best: Point,
    step_x: Vec<f64>,
    step_lambda: Vec<f64>,
    rhs_force: Vec<f64>,
    rhs_gap: Vec<f64>,
    compliance: Vec<f64>,
    active: Vec<bool>,
}

/// Unknowns and what the problem says there.
#[derive(Debug, Clone)]
struct Point {
    x: Vec<f64>,
    lambda: Vec<f64>,
    force: Vec<f64>,
    gap: Vec<f64>,
}

impl Point {
    fn copy_from(&mut self, other: &Self) {
        self.x.copy_from_slice(&other.x);
        self.lambda.copy_from_slice(&other.lambda);
        self.force.copy_from_slice(&other.force);
        self.gap.copy_from_slice(&other.gap);
    }
}

/// Weights that bring all residuals to the units of $x$.
#[derive(Debug, Clone)]
struct Scales {
    /// $1 / |a_{kk}|$.
    force: Vec<f64>,
    /// $1 / |G^\prime_i|$.
    gap: Vec<f64>,
    /// $c_i$.
    multiplier: Vec<f64>,
}

impl SemismoothNewton {
    /// Workspace for a pattern whose first `equalities` rows are equations.
    pub fn new(
        pattern: &KktPattern<'_>,
        equalities: usize,
        options: NcpOptions,
    ) -> Result<Self, NcpError> {
        let (n, m) = (pattern.unknowns, pattern.rows);
        let kkt = Kkt::new(pattern)?;
        let identity: Vec<(usize, usize)> = (0..n).map(|i| (i, i)).collect();
        let block = if pattern.block.is_empty() { &identity[..] } else { pattern.block };
        let entries = pattern.gradients.len();
        let point = || Point {
            x: vec![0.0; n],
            lambda: vec![0.0; m],
            force: vec![0.0; n],
            gap: vec![0.0; m],
        };
        Ok(Self {
            options,
            equalities: equalities.min(m),
            kkt,
            derivatives: Derivatives {
                block: vec![0.0; block.len()],
                forces: vec![0.0; entries],
                gaps: vec![0.0; entries],
            },
            gradients: pattern.gradients.to_vec(),
            diagonal: (0..block.len())
                .filter(|&e| block[e].0 == block[e].1)
                .map(|e| (block[e].0, e))
                .collect(),
            scales: Scales { force: vec![1.0; n], gap: vec![1.0; m], multiplier: vec![1.0; m] },
            current: point(),
            trial: point(),
            best: point(),
            step_x: vec![0.0; n],
            step_lambda: vec![0.0; m],
            rhs_force: vec![0.0; n],
            rhs_gap: vec![0.0; m],
            compliance: vec![0.0; m],
            active: vec![false; m],
        })
    }

    /// Options, to be changed between solves.
    pub fn options_mut(&mut self) -> &mut NcpOptions {
        &mut self.options
    }

    /// Which rows hold with a force at the last solution; equations always do.
    pub fn active(&self) -> &[bool] {
        &self.active
    }

    /// Active rows that depended on others in the last step.
    pub fn redundant(&self) -> &[usize] {
        self.kkt.redundant()
    }

    /// $g(x)$ at the last solution.
    pub fn gaps(&self) -> &[f64] {
        &self.current.gap
    }

    /// Solves (1) from the guess in `x` and `lambda`, which take the solution, or on error the best
    /// point met.
    pub fn solve(
        &mut self,
        problem: &mut impl Complementarity,
        x: &mut [f64],
        lambda: &mut [f64],
    ) -> Result<NcpReport, NcpError> {
        expect_len("unknowns", x.len(), self.current.x.len())?;
        expect_len("multipliers", lambda.len(), self.current.lambda.len())?;
        self.current.x.copy_from_slice(x);
        self.current.lambda.copy_from_slice(lambda);
        let outcome = self.iterate(problem);
        let last = if outcome.is_ok() { &self.current } else { &self.best };
        x.copy_from_slice(&last.x);
        lambda.copy_from_slice(&last.lambda);
        outcome
    }

    fn iterate(&mut self, problem: &mut impl Complementarity) -> Result<NcpReport, NcpError> {
        const MEMORY: usize = 4;
        // Steps without progress before the smooth function is tried.
        const PATIENCE: usize = 8;
        evaluate(problem, &mut self.current);
        self.best.copy_from(&self.current);
        problem.derivatives(&self.current.x, &self.current.lambda, &mut self.derivatives);
        self.set_scales();
        let mut report = NcpReport::start(self.residual(&self.current));
        if !report.residual.is_finite() {
            return Err(NcpError::NotFinite);
        }
        let mut best = report.residual;
        let mut merits = [self.merit(&self.current); MEMORY];
        let mut idle = 0;
        loop {
            let scale = self.scale();
            if report.residual <= self.options.tolerance.max(8.0 * f64::EPSILON * scale) {
                report.stop = Stop::Residual;
                break;
            }
            if report.iterations == self.options.max_iterations {
                return Err(NcpError::MaxIterations { report });
            }
            if report.iterations > 0 {
                problem.derivatives(&self.current.x, &self.current.lambda, &mut self.derivatives);
            }
            let reference = merits.iter().copied().fold(0.0, f64::max);
            let moved = if idle < PATIENCE {
                self.active_set_step(problem, reference, &mut report).unwrap_or(false)
            } else {
                false
            };
            let moved = moved
                || match self.fischer_burmeister_step(problem, &mut report) {
                    Ok(moved) => moved,
                    Err(source) => return Err(NcpError::Linear { report, source }),
                };
            report.residual = self.residual(&self.current);
            if self.at_round_off(report.residual, scale, moved) {
                report.stop = Stop::Step;
                break;
            }
            if !moved {
                return Err(NcpError::Stalled { report });
            }
            merits[report.iterations % MEMORY] = self.merit(&self.current);
            idle += 1;
            if report.residual < best {
                idle = if report.residual < 0.9 * best || idle > PATIENCE { 0 } else { idle };
                best = report.residual;
                self.best.copy_from(&self.current);
            }
        }
        self.finish(&mut report);
        Ok(report)
    }

    /// Whether the last step changed nothing, or there was none, at a residual that rounding explains.
    fn at_round_off(&self, residual: f64, scale: f64, moved: bool) -> bool {
        const ROUND_OFF: f64 = 1e-10;
        let small = |step: &[f64], size: f64| norm_inf(step) <= self.options.step_tolerance * size;
        let standing = !moved
            || (small(&self.step_x, norm_inf(&self.current.x))
                && small(&self.step_lambda, norm_inf(&self.current.lambda)));
        residual <= ROUND_OFF * scale && standing
    }

    /// Size of the terms that balance each other in the residual, in the units of $x$.
    fn scale(&self) -> f64 {
        let mut largest = norm_inf(&self.current.x);
        let scales = self.scales.multiplier.iter().zip(&self.scales.gap);
        for (lambda, (c, w)) in self.current.lambda.iter().zip(scales) {
            largest = (lambda * c * w).abs().max(largest);
        }
        largest
    }

    /// Clears round-off from the multipliers and takes down the active set.
    fn finish(&mut self, report: &mut NcpReport) {
        for i in self.equalities..self.active.len() {
            let (c, lambda) = (self.scales.multiplier[i], &mut self.current.lambda[i]);
            // Below the residual that was just accepted, in the same units.
            if *lambda < 0.0
                || c * *lambda * self.scales.gap[i] <= self.options.tolerance
                    && self.current.gap[i] > c * *lambda
            {
                *lambda = 0.0;
            }
            self.active[i] = *lambda > 0.0;
        }
        self.active[..self.equalities].fill(true);
        report.active = self.active.iter().filter(|a| **a).count();
        report.redundant = self.kkt.redundant().len();
    }
}

fn evaluate(problem: &mut impl Complementarity, point: &mut Point) {
    problem.residual(&point.x, &point.lambda, &mut point.force, &mut point.gap);
}
