//! Judgement: which point is an answer, and which claim that there is none is a proof.
//!
//! A point is accepted by its natural residual in the equilibrated problem. The slack is evaluated in twice the
//! working precision wherever rounding in $Mz + q$ could hide that the residual is large, as it does where $z$ runs off
//! along a null vector. Even the best $z$ is rounded to doubles, which leaves a residual of about $\varepsilon |M| z$; as much is
//! permitted, but never more than $10^{-6}$: a point far out proves nothing.

use super::certificate::{self, Verdict};
use super::columns::{Columns, Storage};
use super::enumeration::{self, Enumeration};
use super::newton::Newton;
use super::{LcpError, LcpWorkspace, Method, Report, natural_residual};

/// Largest natural residual that is ever accepted.
const CEILING: f64 = 1e-6;

impl LcpWorkspace {
    /// Slack and residual of the point in `trial`, and the residual up to which it is an answer.
    pub(crate) fn judge(&mut self, matrix: &Columns<'_>, q: &[f64]) -> (f64, f64) {
        let mut sum = 0.0;
        for z in &mut self.trial {
            *z = if *z > 0.0 { *z } else { 0.0 };
            sum += *z;
        }
        matrix.slack(&self.trial, q, &mut self.slack);
        let residual = natural_residual(&self.trial, &self.slack, q);
        let q_max = q.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        let tolerance = self.options.tolerance;
        let visible = |terms: f64| 2.0 * f64::EPSILON * terms <= tolerance * q_max;
        if visible(self.largest * sum) || !residual.is_finite() {
            return (residual, tolerance);
        }
        let terms = matrix.largest_term(&self.trial, &mut self.scratch);
        if visible(terms) {
            return (residual, tolerance);
        }
        matrix.slack_compensated(&self.trial, q, &mut self.slack, &mut self.scratch);
        let residual = natural_residual(&self.trial, &self.slack, q);
        let rounding = if q_max > 0.0 { 16.0 * f64::EPSILON * terms / q_max } else { 0.0 };
        (residual, tolerance.max(rounding.min(CEILING)))
    }

    pub(crate) fn report(
        &mut self,
        method: Method,
        iterations: u32,
        residual: f64,
        z: &[f64],
        w: &[f64],
    ) -> Report {
        let mut active = 0;
        for i in 0..self.n {
            self.active[i] = z[i] > w[i];
            active += usize::from(self.active[i]);
        }
        Report { method, iterations, residual, active }
    }

    /// [`Self::run`], believing a claim that there is no solution only after checking its certificate.
    pub(crate) fn run_verified(
        &mut self,
        method: Method,
        matrix: &Columns<'_>,
        q: &[f64],
        symmetric: bool,
    ) -> Result<u32, LcpError> {
        match self.run(method, matrix, q, symmetric) {
            Err(LcpError::Infeasible { method, residual, .. }) => match self.verify(matrix, q) {
                Verdict::Proven(index) => Err(LcpError::Infeasible { method, index, residual }),
                Verdict::Nearly(index) => {
                    Err(LcpError::NearlyInfeasible { method, index, residual })
                }
                Verdict::Nothing => Err(LcpError::Stalled { method, iterations: 0, residual }),
            },
            outcome => outcome,
        }
    }

    /// What the direction of the last method shows.
    pub(super) fn verify(&mut self, matrix: &Columns<'_>, q: &[f64]) -> Verdict {
        let Self { direction, scratch, integers, exact, .. } = self;
        certificate::verify(matrix, q, direction, *exact, scratch, integers)
    }

    /// Solves $M_{AA} z_A = -q_A$ on the set $A$ where $z_i > w_i$ and keeps the result where it is better;
    /// `trial` and `slack` hold the point and its slack before and after. Returns as [`Self::judge`].
    pub(crate) fn polish(
        &mut self,
        matrix: &Columns<'_>,
        q: &[f64],
        (residual, bar): (f64, f64),
    ) -> (f64, f64) {
        let n = self.n;
        let Storage::Dense(m) = matrix.storage else { return (residual, bar) };
        let memory = self.newton.get_or_insert_with(|| Newton::new(n));
        for i in 0..n {
            self.active[i] = self.trial[i] > self.slack[i];
        }
        if !memory.basic_solution(m, q, &self.active, &mut self.integers) {
            return (residual, bar);
        }
        core::mem::swap(&mut self.trial, &mut self.integers);
        let polished = self.judge(matrix, q);
        if polished.0 < residual {
            return polished;
        }
        core::mem::swap(&mut self.trial, &mut self.integers);
        self.judge(matrix, q)
    }

    /// A proof that $Mz + q \ge 0$ is impossible, for small problems.
    pub(crate) fn prove_infeasible(&mut self, matrix: &Columns<'_>, q: &[f64]) -> Verdict {
        let n = self.n;
        if n > enumeration::LARGEST_FEASIBILITY {
            return Verdict::Nothing;
        }
        self.written_out.resize(n * n, 0.0);
        matrix.write_dense(&mut self.written_out);
        let memory = self.enumeration.get_or_insert_with(|| Enumeration::new(n));
        let (d, proven) = memory.infeasibility(&self.written_out, q);
        self.direction.copy_from_slice(d);
        if proven && self.exact {
            let heaviest = (0..n).max_by(|&a, &b| d[a].total_cmp(&d[b]));
            return Verdict::Proven(heaviest.unwrap_or(0));
        }
        self.verify(matrix, q)
    }
}
