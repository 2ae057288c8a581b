//! Directions, merit functions and line searches of the semismooth Newton method.

use super::{Complementarity, NcpReport, Point, SemismoothNewton, evaluate};
use crate::error::LinearError;
use crate::small::norm_inf;

/// Relative size of $\partial\varphi/\partial g$ below which a row counts as inactive.
const NEARLY_INACTIVE: f64 = 1e-8;
/// Armijo's constant.
const SIGMA: f64 = 1e-4;
/// Halvings of a Fischer–Burmeister step.
const SMOOTH_HALVINGS: usize = 40;

impl SemismoothNewton {
    /// Weights from the derivatives at the guess; they stay fixed during a solve.
    pub(super) fn set_scales(&mut self) {
        let scales = &mut self.scales;
        scales.force.fill(0.0);
        for &(k, e) in &self.diagonal {
            scales.force[k] += self.derivatives.block[e];
        }
        for w in &mut scales.force {
            let size = w.abs();
            *w = if size > 0.0 && size.is_finite() { 1.0 / size } else { 1.0 };
        }
        scales.gap.fill(0.0);
        scales.multiplier.fill(0.0);
        for ((&(i, k), g), g_lower) in
            self.gradients.iter().zip(&self.derivatives.forces).zip(&self.derivatives.gaps)
        {
            scales.gap[i] += g_lower * g_lower;
            scales.multiplier[i] += (g * g_lower).abs() * scales.force[k];
        }
        for (w, c) in scales.gap.iter_mut().zip(&mut scales.multiplier) {
            *w = if *w > 0.0 && w.is_finite() { 1.0 / w.sqrt() } else { 1.0 };
            if !(*c > 0.0 && c.is_finite()) {
                *c = 1.0;
            }
        }
    }

    /// $\Phi_i$: $g_i$ for equations, else $\min(c_i\lambda_i, g_i)$.
    fn natural(&self, point: &Point, i: usize) -> f64 {
        let (gap, force) = (point.gap[i], self.scales.multiplier[i] * point.lambda[i]);
        // Written so that NaN in either is not lost.
        if i < self.equalities || gap < force || gap.is_nan() { gap } else { force }
    }

    /// $\varphi(g_i, c_i\lambda_i)$, or $g_i$ for equations.
    fn smooth(&self, point: &Point, i: usize) -> f64 {
        let (gap, force) = (point.gap[i], self.scales.multiplier[i] * point.lambda[i]);
        if i < self.equalities {
            return gap;
        }
        let r = gap.hypot(force);
        // a + b - r without cancellation where both are positive.
        if gap > 0.0 && force > 0.0 {
            2.0 * gap * force / (gap + force + r)
        } else {
            gap + force - r
        }
    }

    /// Scaled residual in the maximum norm; NaN if anything is.
    pub(super) fn residual(&self, point: &Point) -> f64 {
        let mut largest = 0.0;
        let mut take = |v: f64| {
            if v > largest || v.is_nan() {
                largest = if f64::is_nan(largest) { largest } else { v };
            }
        };
        for (f, w) in point.force.iter().zip(&self.scales.force) {
            take((f * w).abs());
        }
        for i in 0..point.gap.len() {
            take((self.natural(point, i) * self.scales.gap[i]).abs());
        }
        largest
    }

    /// Scaled $|\Phi|^2$.
    pub(super) fn merit(&self, point: &Point) -> f64 {
        self.sum_of_squares(point, Self::natural)
    }

    fn sum_of_squares(&self, point: &Point, row: impl Fn(&Self, &Point, usize) -> f64) -> f64 {
        let force: f64 =
            point.force.iter().zip(&self.scales.force).map(|(f, w)| (f * w) * (f * w)).sum();
        let gap: f64 =
            (0..point.gap.len()).map(|i| (row(self, point, i) * self.scales.gap[i]).powi(2)).sum();
        force + gap
    }

    /// One step of the primal-dual active set method; false if the line search rejects it.
    pub(super) fn active_set_step(
        &mut self,
        problem: &mut impl Complementarity,
        reference: f64,
        report: &mut NcpReport,
    ) -> Result<bool, LinearError> {
        for i in 0..self.active.len() {
            let force = self.scales.multiplier[i] * self.current.lambda[i];
            self.active[i] = i < self.equalities || force > self.current.gap[i];
            self.rhs_gap[i] = if self.active[i] { -self.current.gap[i] } else { 0.0 };
            self.step_lambda[i] = -self.current.lambda[i];
        }
        self.compliance.fill(0.0);
        self.solve_for_step()?;
        let merit = |this: &Self| this.merit(&this.trial);
        let moved = self.search(problem, reference, self.options.max_halvings, merit, report);
        Ok(moved)
    }

    /// One Newton step on $\varphi$ with a monotonic line search on its square.
    pub(super) fn fischer_burmeister_step(
        &mut self,
        problem: &mut impl Complementarity,
        report: &mut NcpReport,
    ) -> Result<bool, LinearError> {
        for i in 0..self.active.len() {
            let (gap, lambda) = (self.current.gap[i], self.current.lambda[i]);
            if i < self.equalities {
                (self.active[i], self.compliance[i], self.rhs_gap[i]) = (true, 0.0, -gap);
                continue;
            }
            let c = self.scales.multiplier[i];
            let r = gap.hypot(c * lambda);
            // At the kink any element of the generalised gradient will do.
            let (by_gap, by_force) =
                if r > 0.0 { (1.0 - gap / r, 1.0 - c * lambda / r) } else { (1.0, 1.0) };
            let value = self.smooth(&self.current, i);
            self.active[i] = by_gap > NEARLY_INACTIVE * by_force;
            if self.active[i] {
                // φ_g G' d + φ_λ (λ⁺ - λ) = -φ, divided by φ_g.
                self.compliance[i] = c * by_force / by_gap;
                self.rhs_gap[i] = self.compliance[i] * lambda - value / by_gap;
            } else {
                self.compliance[i] = 0.0;
                self.rhs_gap[i] = 0.0;
                self.step_lambda[i] = -value / (c * by_force);
            }
        }
        self.solve_for_step()?;
        let reference = self.sum_of_squares(&self.current, Self::smooth);
        let merit = |this: &Self| this.sum_of_squares(&this.trial, Self::smooth);
        let moved = self.search(problem, reference, SMOOTH_HALVINGS, merit, report);
        report.smooth_steps += usize::from(moved);
        Ok(moved)
    }

    /// Solves the saddle-point system of the step; `step_lambda` holds the changes of inactive
    /// multipliers already, $\delta_{\mathcal I}$:
    /// $$ A d - G_{\mathcal A}^\top \lambda^+ = -F - G_{\mathcal A}^\top \lambda + G_{\mathcal I}^\top \delta_{\mathcal I},
    /// \qquad G^\prime_{\mathcal A} d + C \lambda^+ = b . $$
    /// Unknown is the new multiplier, not its change, so that redundant rows get the least
    /// $\lambda^+$ and not the least correction of whatever came before.
    fn solve_for_step(&mut self) -> Result<(), LinearError> {
        self.rhs_force.iter_mut().zip(&self.current.force).for_each(|(r, f)| *r = -f);
        for (&(i, k), g) in self.gradients.iter().zip(&self.derivatives.forces) {
            let known = if self.active[i] { -self.current.lambda[i] } else { self.step_lambda[i] };
            self.rhs_force[k] += g * known;
        }
        self.kkt.set_block(&self.derivatives.block)?;
        self.kkt.factorise_active(
            &self.derivatives.forces,
            &self.derivatives.gaps,
            &self.compliance,
            &self.active,
        )?;
        // The saddle-point system's multiplier is -λ⁺; it lands in rhs_gap's place.
        self.trial.gap.copy_from_slice(&self.rhs_gap);
        self.kkt.solve(&self.rhs_force, &self.trial.gap, &mut self.step_x, &mut self.rhs_gap)?;
        for i in 0..self.active.len() {
            if self.active[i] {
                self.step_lambda[i] = -self.rhs_gap[i] - self.current.lambda[i];
            }
        }
        Ok(())
    }

    /// Backtracks from the full step until the merit is below the reference; moves there.
    fn search(
        &mut self,
        problem: &mut impl Complementarity,
        reference: f64,
        halvings: usize,
        merit: impl Fn(&Self) -> f64,
        report: &mut NcpReport,
    ) -> bool {
        if !(norm_inf(&self.step_x).is_finite() && norm_inf(&self.step_lambda).is_finite()) {
            return false;
        }
        let mut alpha = 1.0;
        for _ in 0..=halvings {
            for k in 0..self.step_x.len() {
                self.trial.x[k] = self.current.x[k] + alpha * self.step_x[k];
            }
            for i in 0..self.step_lambda.len() {
                self.trial.lambda[i] = self.current.lambda[i] + alpha * self.step_lambda[i];
            }
            evaluate(problem, &mut self.trial);
            report.evaluations += 1;
            if merit(self) <= (1.0 - 2.0 * SIGMA * alpha) * reference {
                std::mem::swap(&mut self.current, &mut self.trial);
                report.iterations += 1;
                return true;
            }
            alpha *= 0.5;
        }
        false
    }
}
