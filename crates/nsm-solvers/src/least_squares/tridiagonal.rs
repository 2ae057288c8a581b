//! Non-negative least squares for a chain: tridiagonal Gram matrix, cost linear in the contacts.
//!
//! Beads in a row touch only their neighbours, so that
//! $M = G^\top W G$ is tridiagonal with $M_{i,i+1} \le 0$: a Stieltjes matrix, possibly singular (a
//! chain between two walls). For such a matrix the complementarity problem
//! $0 \le \lambda \perp w = M\lambda + q \ge 0$ has a least element, and the indices found violated on the way to it are
//! never released again [Chandrasekaran 1970]: starting from $\lambda = 0$, any index with
//! $w_i < 0$ joins the active set for good.
//!
//! A sweep eliminates from one end,
//! $$ d_i = M_{ii} - \frac{e_{i-1}^2}{d_{i-1}}, \qquad y_i = -q_i - \frac{e_{i-1}}{d_{i-1}} y_{i-1}, $$
//! and admits index $i$ as soon as $y_i > 0$, because $-y_i$ is its slack under the impulses found so far.
//! A wave of impacts that runs along the chain is therefore caught in a single sweep; sweeps
//! alternate their direction and usually two or three suffice.

use super::scaling::Scaling;
use super::{ACCEPTED, GramReport, LeastSquaresError};

/// A pivot below this fraction of its diagonal entry closes a singular chain.
const RANK_TOLERANCE: f64 = 1e-12;

/// Relative size at which a slack on a singular chain proves that no solution exists.
const CERTIFICATE: f64 = 1e-10;

/// Solver for chains of contacts, all memory allocated once.
///
/// ```
/// use nsm_solvers::least_squares::TridiagonalNnls;
///
/// // Three equal beads in a row, the first one hitting the others: with e = 0 they move on together.
/// let (diagonal, off_diagonal) = ([2.0, 2.0], [-1.0]);
/// let q = [-1.0, 0.0];
/// let mut kernel = TridiagonalNnls::new(2);
/// let mut impulse = [0.0; 2];
/// let report = kernel.solve(&diagonal, &off_diagonal, &q, &mut impulse)?;
/// assert!((impulse[0] - 2.0 / 3.0).abs() < 1e-15 && (impulse[1] - 1.0 / 3.0).abs() < 1e-15);
/// assert_eq!(report.active, 2);
/// # Ok::<(), nsm_solvers::least_squares::LeastSquaresError>(())
/// ```
#[derive(Debug, Clone)]
pub struct TridiagonalNnls {
    capacity: usize,
    n: usize,
    active: Vec<bool>,
    inverse_pivot: Vec<f64>,
    rhs: Vec<f64>,
    slack: Vec<f64>,
    ray: Vec<f64>,
    scaling: Scaling,
}

/// The data of one chain, borrowed.
#[derive(Clone, Copy)]
struct Chain<'a> {
    diagonal: &'a [f64],
    off: &'a [f64],
    q: &'a [f64],
    q_max: f64,
    diagonal_max: f64,
    diagonal_min: f64,
}

impl TridiagonalNnls {
    /// Room for chains of up to `capacity` contacts.
    pub fn new(capacity: usize) -> Self {
        Self {
            capacity,
            n: 0,
            active: vec![false; capacity],
            inverse_pivot: vec![0.0; capacity],
            rhs: vec![0.0; capacity],
            slack: vec![0.0; capacity],
            ray: vec![0.0; capacity],
            scaling: Scaling::new(capacity, capacity),
        }
    }

    /// The longest chain there is room for.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// The slack $w = M\lambda + q$ of the last solve.
    pub fn slack(&self) -> &[f64] {
        &self.slack[..self.n]
    }

    /// Which contacts are active after the last solve.
    pub fn active(&self) -> &[bool] {
        &self.active[..self.n]
    }

    /// After [`LeastSquaresError::Infeasible`]: the direction $d \ge 0$ with $Md = 0$ and $q^\top d < 0$ that proves it.
    pub fn ray(&self) -> &[f64] {
        &self.ray[..self.n]
    }

    /// Solves $0 \le \lambda \perp M\lambda + q \ge 0$ for the symmetric tridiagonal $M$ with the given diagonal and non-positive off-diagonal.
    ///
    /// Positive entries of `lambda` on entry are tried as the active set first.
    ///
    /// # Errors
    /// Sizes that disagree or exceed the capacity, entries that are not finite, a positive
    /// off-diagonal entry, and problems without solution.
    pub fn solve(
        &mut self,
        diagonal: &[f64],
        off_diagonal: &[f64],
        q: &[f64],
        lambda: &mut [f64],
    ) -> Result<GramReport, LeastSquaresError> {
        let chain = self.check(diagonal, off_diagonal, q, lambda)?;
        let n = self.n;
        let mut any = false;
        let mut warm = false;
        for i in 0..n {
            any |= q[i] < 0.0;
            warm |= lambda[i] > 0.0;
        }
        if !any {
            lambda.fill(0.0);
            self.active[..n].fill(false);
            self.slack[..n].copy_from_slice(q);
            return Ok(GramReport { iterations: 0, active: 0, residual: 0.0 });
        }
        if Scaling::is_needed(chain.diagonal_min, chain.diagonal_max) {
            return self.solve_scaled(chain, lambda);
        }
        let mut iterations = 0;
        if warm {
            iterations += 1;
            for i in 0..n {
                self.active[i] = lambda[i] > 0.0;
            }
            self.sweep::<true, false>(chain, lambda)?;
            let tolerance = self.update_slack(chain, lambda);
            if (0..n).all(|i| lambda[i] >= 0.0 && self.slack[i] >= -tolerance) {
                return self.accept(chain, lambda, iterations);
            }
        }
        self.active[..n].fill(false);
        // Each sweep admits an index for good, unless the matrix is not semidefinite.
        let limit = 10 + 2 * u32::try_from(n).unwrap_or(u32::MAX / 4);
        while iterations < limit {
            iterations += 1;
            if iterations % 2 == 1 {
                self.sweep::<true, true>(chain, lambda)?;
            } else {
                self.sweep::<false, true>(chain, lambda)?;
            }
            let tolerance = self.update_slack(chain, lambda);
            let mut violated = false;
            for i in 0..n {
                if !self.active[i] && self.slack[i] < -tolerance {
                    if self.closes_singular_chain(chain, i) {
                        if self.slack[i] < -CERTIFICATE * chain.q_max - 100.0 * tolerance {
                            self.fill_ray(chain, i);
                            let residual = -self.slack[i] / chain.q_max;
                            return Err(LeastSquaresError::Infeasible { index: i, residual });
                        }
                        continue;
                    }
                    self.active[i] = true;
                    violated = true;
                }
            }
            if !violated {
                return self.accept(chain, lambda, iterations);
            }
        }
        let residual = self.residual(chain, lambda);
        Err(LeastSquaresError::Stalled { iterations, residual })
    }

    /// Solves in units in which the diagonal is of order one.
    #[cold]
    fn solve_scaled(
        &mut self,
        chain: Chain<'_>,
        lambda: &mut [f64],
    ) -> Result<GramReport, LeastSquaresError> {
        let mut scaling = core::mem::take(&mut self.scaling);
        scaling.scale_bands(chain.diagonal, chain.off, chain.q);
        let outcome = self.solve(&scaling.matrix, &scaling.beside, &scaling.q, lambda);
        let outcome = scaling.restore(outcome, lambda, &mut self.ray, &mut self.slack);
        self.scaling = scaling;
        outcome
    }

    fn check<'a>(
        &mut self,
        diagonal: &'a [f64],
        off: &'a [f64],
        q: &'a [f64],
        lambda: &[f64],
    ) -> Result<Chain<'a>, LeastSquaresError> {
        let n = q.len();
        if n > self.capacity {
            return Err(LeastSquaresError::Capacity { n, capacity: self.capacity });
        }
        for (what, found, expected) in [
            ("diagonal", diagonal.len(), n),
            ("off_diagonal", off.len(), n.saturating_sub(1)),
            ("lambda", lambda.len(), n),
        ] {
            if found != expected {
                return Err(LeastSquaresError::Size { what, expected, found });
            }
        }
        self.n = n;
        let mut q_max = 0.0_f64;
        let (mut diagonal_max, mut diagonal_min) = (0.0_f64, f64::INFINITY);
        let mut sum = 0.0;
        for i in 0..n {
            q_max = q_max.max(q[i].abs());
            diagonal_max = diagonal_max.max(diagonal[i]);
            if diagonal[i] > 0.0 {
                diagonal_min = diagonal_min.min(diagonal[i]);
            }
            sum += q[i].abs() + diagonal[i].abs();
        }
        let mut coupling_max = f64::NEG_INFINITY;
        for &e in off {
            coupling_max = coupling_max.max(e);
            sum += e.abs();
        }
        if !sum.is_finite() {
            for (what, values) in [("diagonal", diagonal), ("off_diagonal", off), ("q", q)] {
                if let Some(index) = values.iter().position(|v| !v.is_finite()) {
                    return Err(LeastSquaresError::NotFinite { what, index });
                }
            }
        }
        if coupling_max > 0.0 {
            let index = off.iter().position(|&e| e > 0.0).unwrap_or(0);
            return Err(LeastSquaresError::PositiveCoupling { index });
        }
        Ok(Chain { diagonal, off, q, q_max, diagonal_max, diagonal_min })
    }

    /// Eliminates from one end over the runs of active indices, admitting new ones on the way when
    /// `GROW`, and substitutes back.
    fn sweep<const FORWARD: bool, const GROW: bool>(
        &mut self,
        chain: Chain<'_>,
        lambda: &mut [f64],
    ) -> Result<(), LeastSquaresError> {
        let n = self.n;
        let at = |k: usize| if FORWARD { k } else { n - 1 - k };
        // Coupling between the k-th and the (k+1)-th index in the order of the sweep.
        let coupling = |k: usize| if FORWARD { chain.off[k] } else { chain.off[n - 2 - k] };
        let threshold = 4.0 * f64::EPSILON * chain.q_max;
        let mut carried = false;
        let (mut inverse, mut y, mut e) = (0.0, 0.0, 0.0);
        for k in 0..n {
            let i = at(k);
            let (mut pivot, mut rhs) = (chain.diagonal[i], -chain.q[i]);
            if carried {
                let ratio = e * inverse;
                pivot -= ratio * e;
                rhs -= ratio * y;
            }
            let wanted = self.active[i] || (GROW && rhs > threshold);
            carried = wanted && pivot > RANK_TOLERANCE * chain.diagonal[i];
            if wanted && !carried && rhs > CERTIFICATE * chain.q_max.max(y.abs()) {
                self.fill_ray(chain, i);
                let residual = rhs / chain.q_max;
                return Err(LeastSquaresError::Infeasible { index: i, residual });
            }
            self.active[i] = carried;
            if carried {
                inverse = 1.0 / pivot;
                y = rhs;
                self.inverse_pivot[i] = inverse;
                self.rhs[i] = rhs;
            }
            if k + 1 < n {
                e = coupling(k);
            }
        }
        let mut next = 0.0;
        for k in (0..n).rev() {
            let i = at(k);
            if self.active[i] {
                let e = if k + 1 < n { coupling(k) } else { 0.0 };
                next = (self.rhs[i] - e * next) * self.inverse_pivot[i];
                if GROW {
                    next = next.max(0.0);
                }
            } else {
                next = 0.0;
            }
            lambda[i] = next;
        }
        Ok(())
    }

    /// $w = M\lambda + q$; returns the size of its rounding error.
    fn update_slack(&mut self, chain: Chain<'_>, lambda: &[f64]) -> f64 {
        let n = self.n;
        let mut largest = 0.0_f64;
        for i in 0..n {
            let mut w = chain.diagonal[i].mul_add(lambda[i], chain.q[i]);
            if i > 0 {
                w += chain.off[i - 1] * lambda[i - 1];
            }
            if i + 1 < n {
                w += chain.off[i] * lambda[i + 1];
            }
            self.slack[i] = w;
            largest = largest.max(lambda[i].abs());
        }
        8.0 * f64::EPSILON * (chain.q_max + 3.0 * chain.diagonal_max * largest)
    }

    /// Whether all other indices coupled to `i` are active already, so that admitting it too would
    /// make the chain singular: its slack is then zero up to rounding.
    fn closes_singular_chain(&self, chain: Chain<'_>, i: usize) -> bool {
        let mut first = i;
        while first > 0 && chain.off[first - 1] != 0.0 && self.active[first - 1] {
            first -= 1;
        }
        let mut last = i;
        while last + 1 < self.n && chain.off[last] != 0.0 && self.active[last + 1] {
            last += 1;
        }
        let ends = (first == 0 || chain.off[first - 1] == 0.0)
            && (last + 1 == self.n || chain.off[last] == 0.0);
        if !ends {
            return false;
        }
        let mut pivot = chain.diagonal[first];
        for k in first..last {
            pivot = chain.diagonal[k + 1] - chain.off[k] * chain.off[k] / pivot;
        }
        pivot <= RANK_TOLERANCE * chain.diagonal[last]
    }

    /// The null vector of the singular chain around `i`, by its three-term recurrence.
    fn fill_ray(&mut self, chain: Chain<'_>, i: usize) {
        let n = self.n;
        let mut first = i;
        while first > 0 && chain.off[first - 1] != 0.0 {
            first -= 1;
        }
        let ray = &mut self.ray[..n];
        ray.fill(0.0);
        ray[first] = 1.0;
        for k in first..n - 1 {
            if chain.off[k] == 0.0 {
                break;
            }
            let left = if k > first { chain.off[k - 1] * ray[k - 1] } else { 0.0 };
            ray[k + 1] = -(chain.diagonal[k] * ray[k] + left) / chain.off[k];
        }
    }

    /// Natural residual, in units of the largest diagonal entry; infinite where a number is not finite.
    fn residual(&self, chain: Chain<'_>, lambda: &[f64]) -> f64 {
        let (mut worst, mut probe) = (0.0_f64, 0.0);
        for i in 0..self.n {
            worst = worst.max((chain.diagonal_max * lambda[i]).min(self.slack[i]).abs());
            probe += (lambda[i] + self.slack[i]) * 0.0;
        }
        if probe == 0.0 { worst / chain.q_max } else { f64::INFINITY }
    }

    /// The report, if the point is a solution by its residual.
    fn accept(
        &self,
        chain: Chain<'_>,
        lambda: &[f64],
        iterations: u32,
    ) -> Result<GramReport, LeastSquaresError> {
        let residual = self.residual(chain, lambda);
        if residual > ACCEPTED {
            return Err(LeastSquaresError::Stalled { iterations, residual });
        }
        let active = self.active[..self.n].iter().filter(|a| **a).count();
        Ok(GramReport { iterations, active, residual })
    }
}
