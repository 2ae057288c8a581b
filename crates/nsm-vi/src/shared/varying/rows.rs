//! Equality constraints at one configuration under a mass that depends on it.
//!
//! $$ y = p + F\mu, \qquad F^\top M(q)^{-1} y + f_t = 0 $$
//! by the Cholesky factor of $M(q)$ and a pivoted one of $F^\top M^{-1} F$, which finds an independent set of rows.

use nsm_constraints::Field;
use nsm_model::{StepError, System, VariableMass};
use nsm_solvers::small::gram::PivotedCholesky;
use nsm_solvers::small::{cholesky, norm_inf};

/// Rows whose part across the others is below this are taken for dependent.
const DEPENDENT: f64 = 1e-12;
/// Times that a tangent velocity is corrected for the rounding of the projection.
const CORRECTIONS: usize = 2;

/// Mass and equality constraints where they were placed last, with all workspace.
pub(crate) struct Held<'a> {
    system: &'a System,
    mass: &'a dyn VariableMass,
    /// Factor of $M$.
    factor: Vec<f64>,
    /// Row after row.
    pub(crate) gradients: Vec<f64>,
    /// $M^{-1} F$, row after row in all coordinates.
    solved: Vec<f64>,
    gram: Vec<f64>,
    pivoted: PivotedCholesky,
    rates: Vec<f64>,
    defect: Vec<f64>,
    /// The last $\mu$, and the velocity of the momentum that was made tangent with it.
    pub(crate) multipliers: Vec<f64>,
    correction: Vec<f64>,
    pub(crate) velocity: Vec<f64>,
    at: Vec<f64>,
    at_time: f64,
}

impl<'a> Held<'a> {
    pub(super) fn new(system: &'a System, mass: &'a dyn VariableMass) -> Self {
        let (n, rows) = (system.dimension(), system.equalities());
        let m = rows.len();
        Self {
            system,
            mass,
            factor: vec![0.0; n * n],
            gradients: vec![0.0; rows.entries()],
            solved: vec![0.0; n * m],
            gram: vec![0.0; m * m],
            pivoted: PivotedCholesky::new(m),
            rates: vec![0.0; m],
            defect: vec![0.0; m],
            multipliers: vec![0.0; m],
            correction: vec![0.0; m],
            velocity: vec![0.0; n],
            at: vec![f64::NAN; n],
            at_time: f64::NAN,
        }
    }

    /// Evaluates and factorises at a configuration, unless it is there already.
    pub(super) fn place(&mut self, q: &[f64], t: f64) -> Result<(), StepError> {
        if self.at_time == t && self.at == q {
            return Ok(());
        }
        self.at_time = f64::NAN;
        super::factorise(self.system, self.mass, (q, t), &mut self.factor)?;
        let (n, rows) = (self.system.dimension(), self.system.equalities());
        let m = rows.len();
        if m > 0 {
            rows.gradients(q, t, &mut self.gradients);
            rows.rates(q, t, &mut self.rates);
            self.solved.fill(0.0);
            for (i, row) in self.solved.chunks_exact_mut(n).enumerate() {
                rows.add_row(i, &self.gradients, 1.0, row);
                // Solves fail on lengths alone, which are right here.
                let _ = cholesky::solve(n, &self.factor, row);
            }
            for (i, row) in self.solved.chunks_exact(n).enumerate() {
                for j in 0..m {
                    self.gram[j * m + i] = rows.row_dot(j, &self.gradients, row);
                }
            }
            if self.pivoted.factor(m, &self.gram, DEPENDENT).is_err() {
                let worst = (0..m).find(|i| !self.gram[i * m + i].is_finite()).unwrap_or(0);
                let culprit = rows.name(worst).to_owned();
                return Err(StepError::NotFinite { t, what: "the gradient", culprit });
            }
        }
        self.at.copy_from_slice(q);
        self.at_time = t;
        Ok(())
    }

    /// An independent set of rows.
    pub(super) fn independent(&self) -> &[usize] {
        if self.gram.is_empty() { &[] } else { self.pivoted.independent() }
    }

    /// The rows that depend on these.
    pub(crate) fn redundant(&self) -> &[usize] {
        if self.gram.is_empty() { &[] } else { self.pivoted.redundant() }
    }

    /// Writes $M^{-1} p$.
    pub(super) fn velocity_of(&self, p: &[f64], v: &mut [f64]) {
        v.copy_from_slice(p);
        // Solves fail on lengths alone, which are right here.
        let _ = cholesky::solve(p.len(), &self.factor, v);
    }

    /// Makes `p` tangent and writes its velocity.
    pub(super) fn project(&mut self, t: f64, p: &mut [f64]) -> Result<(), StepError> {
        let rows = self.system.equalities();
        let mut velocity = std::mem::take(&mut self.velocity);
        self.velocity_of(p, &mut velocity);
        self.multipliers.fill(0.0);
        if !rows.is_empty() {
            // Multipliers solve normal equations, whose rounding a second pass takes out.
            for _ in 0..=CORRECTIONS {
                rows.multiply(&self.gradients, &velocity, &mut self.defect);
                for (d, rate) in self.defect.iter_mut().zip(&self.rates) {
                    *d = -(*d + rate);
                }
                if norm_inf(&self.defect) <= 4.0 * f64::EPSILON * norm_inf(&velocity) {
                    break;
                }
                let solved = self.pivoted.solve_basic(&self.defect, &mut self.correction);
                solved.map_err(|error| StepError::Method { t, source: Box::new(error) })?;
                for (i, mu) in self.correction.iter().enumerate() {
                    self.multipliers[i] += mu;
                    rows.add_row(i, &self.gradients, *mu, p);
                }
                self.velocity_of(p, &mut velocity);
            }
        }
        self.velocity = velocity;
        Ok(())
    }
}

/// Writes the derivative of a row over a step by its end: $A + \tfrac12 (q - q_0)^\top \partial A/\partial q$ at the midpoint.
pub(super) fn slope_over(
    row: &dyn Field,
    (start, end): (&[f64], &[f64]),
    t: f64,
    out: &mut [f64],
    block: &mut [f64],
) {
    let (columns, k) = (row.coordinates(), row.coordinates().len());
    row.mean_gradient(start, end, t, out);
    block.fill(0.0);
    row.mean_hessian(start, end, t, 1.0, block);
    for (j, out) in out.iter_mut().enumerate() {
        *out += columns
            .iter()
            .enumerate()
            .map(|(i, &c)| block[i * k + j] * (end[c] - start[c]))
            .sum::<f64>();
    }
}
