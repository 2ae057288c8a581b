//! Non-negative least squares from a Gram matrix: the contact kernel.
//!
//! For a positive semidefinite $M = G^\top W G$ and $q = G^\top W p$ the impulse of a set of contacts is
//! $$ \lambda^\ast = \arg\min_{\lambda \ge 0}\ \tfrac12 \lambda^\top M \lambda + q^\top \lambda
//! = \arg\min_{\lambda \ge 0}\ \tfrac12 | p + G\lambda |^2_W , $$
//! whose optimality conditions are $0 \le \lambda \perp w = M\lambda + q \ge 0$. $M$ may be rank
//! deficient (four corners of a box, a chain between walls); $w$ is unique even then, $\lambda$ is not.
//!
//! Two stages. Block principal pivoting [Kostreva 1978, Júdice & Pires 1994] exchanges all violated indices at
//! once and settles almost every contact problem in one to three small Cholesky factorisations. When
//! the number of violations stops falling, the active-set method of [Lawson & Hanson 1974] takes
//! over: it adds one violated index at a time, keeps $\lambda \ge 0$ throughout, decreases the
//! objective strictly and is therefore finite. A column that depends on those already in the factor
//! opens a ray $d$ with $Md = 0$; it is followed to the first multiplier that vanishes, and if none does,
//! $d \ge 0,\ Md = 0,\ q^\top d < 0$ proves that no solution exists.

use super::growing_factor::{GrowingFactor, flat_pivot};
use super::scaling::Scaling;
use super::{ACCEPTED, LeastSquaresError};

/// A pivot below this fraction of its diagonal entry marks a dependent column in the block stage.
const RANK_TOLERANCE: f64 = 1e-12;

/// A slack on a ray without end that is smaller than this fraction of $\max|q|$ is rounding, not a
/// proof that no solution exists.
const CERTIFICATE: f64 = 1e-10;

/// How often block pivoting may fail to reduce the number of violations before the active-set
/// method takes over [Júdice & Pires 1994].
const PATIENCE: u32 = 3;

/// What a solve by [`GramNnls`] did.
#[derive(Debug, Clone, Copy, PartialEq)]
#[must_use]
pub struct GramReport {
    /// Factorisations in the block stage plus exchanges in the active-set stage.
    pub iterations: u32,
    /// Number of positive multipliers.
    pub active: usize,
    /// Natural residual $\max_i |\min(m\lambda_i, w_i)|$ over $\max_i |q_i|$, where $m$ is the largest diagonal entry.
    pub residual: f64,
}

/// Solver for $\min_{\lambda\ge0} \tfrac12\lambda^\top M\lambda + q^\top\lambda$ with a small dense $M$, all memory allocated once.
///
/// ```
/// use nsm_solvers::least_squares::GramNnls;
///
/// // Two contacts of unit masses, the second one separating by itself.
/// let gram = [2.0, -1.0, -1.0, 2.0];
/// let q = [-1.0, 3.0];
/// let mut kernel = GramNnls::new(2);
/// let mut impulse = [0.0; 2];
/// let report = kernel.solve(&gram, &q, &mut impulse)?;
/// assert_eq!(impulse, [0.5, 0.0]);
/// assert_eq!(report.active, 1);
/// assert_eq!(kernel.slack(), [0.0, 2.5]);
/// # Ok::<(), nsm_solvers::least_squares::LeastSquaresError>(())
/// ```
#[derive(Debug, Clone)]
pub struct GramNnls {
    capacity: usize,
    n: usize,
    factor: GrowingFactor,
    is_passive: Vec<bool>,
    /// Dependent columns whose slack is negative by rounding only.
    barred: Vec<bool>,
    step: Vec<f64>,
    slack: Vec<f64>,
    ray: Vec<f64>,
    scaling: Scaling,
}

impl GramNnls {
    /// Room for up to `capacity` multipliers.
    pub fn new(capacity: usize) -> Self {
        Self {
            capacity,
            n: 0,
            factor: GrowingFactor::new(capacity),
            is_passive: vec![false; capacity],
            barred: vec![false; capacity],
            step: vec![0.0; capacity],
            slack: vec![0.0; capacity],
            ray: vec![0.0; capacity],
            scaling: Scaling::new(capacity, capacity * capacity),
        }
    }

    /// The slack $w = M\lambda + q$ of the last solve.
    pub fn slack(&self) -> &[f64] {
        &self.slack[..self.n]
    }

    /// The indices that carried a multiplier at the end of the last solve.
    pub fn active(&self) -> &[usize] {
        &self.factor.indices
    }

    /// After [`LeastSquaresError::Infeasible`]: the direction $d \ge 0$ with $Md = 0$ and $q^\top d < 0$ that proves it.
    pub fn ray(&self) -> &[f64] {
        &self.ray[..self.n]
    }

    /// Solves $0 \le \lambda \perp M\lambda + q \ge 0$ for a symmetric positive semidefinite `gram`, given whole (both triangles).
    ///
    /// Positive entries of `lambda` on entry are taken as the first guess of the active set; pass
    /// zeros for a cold start. On failure `lambda` holds the best feasible point reached.
    ///
    /// # Errors
    /// Sizes that disagree or exceed the capacity, entries that are not finite, and problems without
    /// solution ($q$ has a component along a direction $d \ge 0$ with $Md = 0$, $q^\top d < 0$).
    pub fn solve(
        &mut self,
        gram: &[f64],
        q: &[f64],
        lambda: &mut [f64],
    ) -> Result<GramReport, LeastSquaresError> {
        let n = q.len();
        if n > self.capacity {
            return Err(LeastSquaresError::Capacity { n, capacity: self.capacity });
        }
        if gram.len() != n * n || lambda.len() != n {
            return Err(LeastSquaresError::Size {
                what: if lambda.len() == n { "gram" } else { "lambda" },
                expected: if lambda.len() == n { n * n } else { n },
                found: if lambda.len() == n { gram.len() } else { lambda.len() },
            });
        }
        self.n = n;
        self.factor.clear();
        if n == 1 {
            return self.solve_one(gram[0], q[0], lambda);
        }
        let mut q_max = 0.0_f64;
        let mut trace = 0.0_f64;
        let mut least = f64::INFINITY;
        let mut checksum = sum(gram);
        let mut any = false;
        let mut warm = false;
        for i in 0..n {
            q_max = q_max.max(q[i].abs());
            let diagonal = gram[i * (n + 1)];
            trace = trace.max(diagonal);
            least = if diagonal > 0.0 { least.min(diagonal) } else { least };
            checksum += q[i];
            any |= q[i] < 0.0;
            warm |= lambda[i] > 0.0;
        }
        if !checksum.is_finite() {
            check_finite("gram", gram)?;
            check_finite("q", q)?;
        }
        if !any {
            lambda.fill(0.0);
            self.slack[..n].copy_from_slice(q);
            return Ok(GramReport { iterations: 0, active: 0, residual: 0.0 });
        }
        if Scaling::is_needed(least, trace) {
            return self.solve_scaled(gram, q, lambda);
        }
        for i in 0..n {
            self.is_passive[i] = if warm { lambda[i] > 0.0 } else { q[i] < 0.0 };
        }
        let mut iterations = 0;
        if self.block_stage(gram, q, lambda, q_max, trace, &mut iterations) {
            return self.accept(lambda, q_max, trace, iterations);
        }
        self.active_set_stage(gram, q, lambda, q_max, trace, &mut iterations)?;
        self.accept(lambda, q_max, trace, iterations)
    }

    /// Solves in units in which the diagonal is of order one.
    #[cold]
    fn solve_scaled(
        &mut self,
        gram: &[f64],
        q: &[f64],
        lambda: &mut [f64],
    ) -> Result<GramReport, LeastSquaresError> {
        let mut scaling = core::mem::take(&mut self.scaling);
        scaling.scale_dense(gram, q);
        let outcome = self.solve(&scaling.matrix, &scaling.q, lambda);
        let outcome = scaling.restore(outcome, lambda, &mut self.ray, &mut self.slack);
        self.scaling = scaling;
        outcome
    }

    fn solve_one(
        &mut self,
        m: f64,
        q: f64,
        lambda: &mut [f64],
    ) -> Result<GramReport, LeastSquaresError> {
        if !m.is_finite() {
            return Err(LeastSquaresError::NotFinite { what: "gram", index: 0 });
        }
        if !q.is_finite() {
            return Err(LeastSquaresError::NotFinite { what: "q", index: 0 });
        }
        if q >= 0.0 {
            lambda[0] = 0.0;
            self.slack[0] = q;
            return Ok(GramReport { iterations: 0, active: 0, residual: 0.0 });
        }
        if m <= 0.0 {
            lambda[0] = 0.0;
            self.slack[0] = q;
            self.ray[0] = 1.0;
            return Err(LeastSquaresError::Infeasible { index: 0, residual: 1.0 });
        }
        lambda[0] = -q / m;
        self.slack[0] = 0.0;
        self.factor.indices.push(0);
        Ok(GramReport { iterations: 1, active: 1, residual: 0.0 })
    }

    /// Exchanges all violated indices at once while their number falls; true when solved.
    fn block_stage(
        &mut self,
        gram: &[f64],
        q: &[f64],
        lambda: &mut [f64],
        q_max: f64,
        trace: f64,
        iterations: &mut u32,
    ) -> bool {
        let n = self.n;
        let mut fewest = usize::MAX;
        let mut patience = PATIENCE;
        loop {
            *iterations += 1;
            self.factor.clear();
            for j in 0..n {
                if self.is_passive[j] && !self.factor.append(n, gram, j, RANK_TOLERANCE) {
                    self.is_passive[j] = false;
                }
            }
            self.solve_passive(q);
            lambda.fill(0.0);
            let mut sum = 0.0;
            for (k, &i) in self.factor.indices.iter().enumerate() {
                lambda[i] = self.step[k];
                sum += self.step[k].abs();
            }
            let tolerance = Self::tolerance(q_max, trace, sum);
            self.update_slack(gram, q, lambda);
            self.refine(gram, q, lambda, tolerance);
            let mut violations = 0;
            for i in 0..n {
                let violated =
                    if self.is_passive[i] { lambda[i] < 0.0 } else { self.slack[i] < -tolerance };
                if violated {
                    violations += 1;
                    self.is_passive[i] = !self.is_passive[i];
                }
            }
            if violations == 0 {
                return true;
            }
            if violations < fewest {
                fewest = violations;
                patience = PATIENCE;
            } else if patience > 0 {
                patience -= 1;
            } else {
                return false;
            }
        }
    }

    /// The method of Lawson and Hanson from $\lambda = 0$, with rays for dependent columns.
    fn active_set_stage(
        &mut self,
        gram: &[f64],
        q: &[f64],
        lambda: &mut [f64],
        q_max: f64,
        trace: f64,
        iterations: &mut u32,
    ) -> Result<(), LeastSquaresError> {
        let n = self.n;
        lambda.fill(0.0);
        self.factor.clear();
        self.is_passive[..n].fill(false);
        self.barred[..n].fill(false);
        self.slack[..n].copy_from_slice(q);
        let limit = *iterations + 30 * u32::try_from(n).unwrap_or(u32::MAX / 64) + 30;
        loop {
            let tolerance = Self::tolerance(q_max, trace, lambda.iter().sum());
            self.refine(gram, q, lambda, tolerance);
            let mut entering = n;
            let mut worst = -tolerance;
            for i in 0..n {
                if !self.is_passive[i] && !self.barred[i] && self.slack[i] < worst {
                    worst = self.slack[i];
                    entering = i;
                }
            }
            if entering == n {
                return Ok(());
            }
            *iterations += 1;
            if *iterations > limit {
                let residual = natural_residual(lambda, &self.slack[..n], q_max, trace);
                return Err(LeastSquaresError::Stalled { iterations: limit, residual });
            }
            let flat = flat_pivot(worst, gram[entering * (n + 1)], q_max, trace);
            let mut independent = self.factor.append(n, gram, entering, flat);
            while !independent && self.follow_ray(entering, lambda) {
                independent = self.factor.append(n, gram, entering, flat);
            }
            if !independent {
                if worst < -CERTIFICATE * q_max - 100.0 * tolerance {
                    self.ray[..n].fill(0.0);
                    self.ray[entering] = 1.0;
                    for (c, &i) in self.factor.indices.iter().enumerate() {
                        self.ray[i] = self.step[c];
                    }
                    let residual = natural_residual(lambda, &self.slack[..n], q_max, trace);
                    return Err(LeastSquaresError::Infeasible { index: entering, residual });
                }
                self.barred[entering] = true;
                continue;
            }
            self.barred[..n].fill(false);
            self.is_passive[entering] = true;
            self.restore_feasibility(q, lambda);
            self.update_slack(gram, q, lambda);
        }
    }

    /// Moves along $d$ with $d_j = 1$, $M_{PP} d_P = -M_{Pj}$, to the first multiplier that vanishes;
    /// false when none does.
    fn follow_ray(&mut self, entering: usize, lambda: &mut [f64]) -> bool {
        let k = self.factor.indices.len();
        self.factor.dependence(&mut self.step);
        let mut length = f64::INFINITY;
        let mut blocking = k;
        for (c, &i) in self.factor.indices.iter().enumerate() {
            if self.step[c] < 0.0 && lambda[i] < -length * self.step[c] {
                length = lambda[i] / -self.step[c];
                blocking = c;
            }
        }
        if blocking == k {
            return false;
        }
        for (c, &i) in self.factor.indices.iter().enumerate() {
            lambda[i] = (lambda[i] + length * self.step[c]).max(0.0);
        }
        lambda[entering] += length;
        lambda[self.factor.indices[blocking]] = 0.0;
        let dropped = self.factor.remove(blocking);
        self.is_passive[dropped] = false;
        true
    }

    /// Inner loop of Lawson and Hanson: steps to the minimiser on the passive set, dropping the
    /// multipliers that would turn negative on the way.
    fn restore_feasibility(&mut self, q: &[f64], lambda: &mut [f64]) {
        loop {
            self.solve_passive(q);
            let mut length = 1.0;
            let mut blocking = self.factor.indices.len();
            for (c, &i) in self.factor.indices.iter().enumerate() {
                if self.step[c] <= 0.0 {
                    let fraction = lambda[i] / (lambda[i] - self.step[c]);
                    let fraction = if fraction.is_finite() { fraction.max(0.0) } else { 0.0 };
                    if fraction < length || blocking == self.factor.indices.len() {
                        length = fraction.min(length);
                        blocking = c;
                    }
                }
            }
            for (c, &i) in self.factor.indices.iter().enumerate() {
                lambda[i] += length * (self.step[c] - lambda[i]);
            }
            if blocking == self.factor.indices.len() {
                return;
            }
            lambda[self.factor.indices[blocking]] = 0.0;
            let dropped = self.factor.remove(blocking);
            self.is_passive[dropped] = false;
        }
    }

    /// $M_{PP} s = -q_P$ into the leading part of `step`.
    fn solve_passive(&mut self, q: &[f64]) {
        self.factor.solve(&mut self.step, |i| -q[i]);
    }

    /// One step of iterative refinement where rounding left $w_P \ne 0$, as it does when the columns
    /// in the factor are nearly dependent.
    fn refine(&mut self, gram: &[f64], q: &[f64], lambda: &mut [f64], tolerance: f64) {
        let worst = self.factor.indices.iter().fold(0.0_f64, |m, &i| m.max(self.slack[i].abs()));
        if worst <= 0.25 * tolerance {
            return;
        }
        self.factor.solve(&mut self.step, |i| -self.slack[i]);
        for (c, &i) in self.factor.indices.iter().enumerate() {
            lambda[i] += self.step[c];
        }
        self.update_slack(gram, q, lambda);
    }

    fn update_slack(&mut self, gram: &[f64], q: &[f64], lambda: &[f64]) {
        let n = self.n;
        let slack = &mut self.slack[..n];
        slack.copy_from_slice(q);
        // Over all multipliers, not the passive ones alone: one that moved along a ray and was then barred
        // must not hide from the residual.
        for (&l, column) in lambda.iter().zip(gram.chunks_exact(n)) {
            if l != 0.0 {
                for (w, m) in slack.iter_mut().zip(column) {
                    *w += l * m;
                }
            }
        }
    }

    /// Rounding in $w$: a slack above minus this counts as non-negative.
    fn tolerance(q_max: f64, trace: f64, sum: f64) -> f64 {
        8.0 * f64::EPSILON * (q_max + trace * sum)
    }

    /// The report, if the point is a solution by its residual.
    fn accept(
        &self,
        lambda: &[f64],
        q_max: f64,
        trace: f64,
        iterations: u32,
    ) -> Result<GramReport, LeastSquaresError> {
        let residual = natural_residual(lambda, &self.slack[..self.n], q_max, trace);
        if residual > ACCEPTED {
            return Err(LeastSquaresError::Stalled { iterations, residual });
        }
        Ok(GramReport { iterations, active: self.factor.indices.len(), residual })
    }
}

/// Sum in four independent parts; not finite when an entry is not.
fn sum(values: &[f64]) -> f64 {
    let mut parts = [0.0; 4];
    let mut chunks = values.chunks_exact(4);
    for chunk in chunks.by_ref() {
        for k in 0..4 {
            parts[k] += chunk[k];
        }
    }
    parts.iter().sum::<f64>() + chunks.remainder().iter().sum::<f64>()
}

/// Infinite where a number is not finite.
fn natural_residual(lambda: &[f64], slack: &[f64], q_max: f64, trace: f64) -> f64 {
    let (mut worst, mut probe) = (0.0_f64, 0.0);
    for (&l, &w) in lambda.iter().zip(slack) {
        worst = worst.max((trace * l).min(w).abs());
        probe += (l + w) * 0.0;
    }
    if probe != 0.0 {
        return f64::INFINITY;
    }
    if q_max > 0.0 { worst / q_max } else { worst }
}

fn check_finite(what: &'static str, values: &[f64]) -> Result<(), LeastSquaresError> {
    match values.iter().position(|v| !v.is_finite()) {
        Some(index) => Err(LeastSquaresError::NotFinite { what, index }),
        None => Ok(()),
    }
}
