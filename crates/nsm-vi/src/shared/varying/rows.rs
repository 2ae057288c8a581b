//! Equality constraints, and contacts held on both sides, at one configuration under a mass that depends on it.
//!
//! $$ y = p + C\mu, \qquad C^\top M(q)^{-1} y + c_t = 0, \qquad C = \big(F \\;\\; N_{\mathbb S}\big) $$
//! by the inverse of $M(q)$ and a pivoted Cholesky factor of $C^\top M^{-1} C$, which finds an independent set of rows.

use nsm_constraints::{Field, Rows};
use nsm_model::{Mass, PlacedMass, StepError, System, SystemError};
use nsm_solvers::small::gram::PivotedCholesky;
use nsm_solvers::small::norm_inf;

/// Rows whose part across the others is below this are taken for dependent.
const DEPENDENT: f64 = 1e-12;
/// Times that a tangent velocity is corrected for the rounding of the projection.
const CORRECTIONS: usize = 2;

/// Mass, equality constraints and contacts held on both sides where they were placed last, with all workspace.
pub(crate) struct Held<'a> {
    system: &'a System,
    mass: PlacedMass<'a>,
    /// Row after row: equalities, and all gaps, current for `contacts`.
    pub(crate) gradients: Vec<f64>,
    pub(crate) gap_gradients: Vec<f64>,
    contacts: Vec<usize>,
    /// $M^{-1} C$, row after row in all coordinates.
    solved: Vec<f64>,
    column: Vec<f64>,
    gram: Vec<f64>,
    pivoted: PivotedCholesky,
    rates: Vec<f64>,
    defect: Vec<f64>,
    /// The last $\mu$, equalities before contacts, and the velocity of the momentum that was made tangent with it.
    pub(crate) multipliers: Vec<f64>,
    correction: Vec<f64>,
    pub(crate) velocity: Vec<f64>,
    at: Vec<f64>,
    at_time: f64,
}

impl<'a> Held<'a> {
    pub(super) fn new(system: &'a System) -> Result<Self, SystemError> {
        let (n, rows) = (system.dimension(), system.equalities());
        let (m, gaps) = (rows.len() + system.inequalities().len(), system.inequalities());
        Ok(Self {
            system,
            mass: PlacedMass::new(system)?,
            gradients: vec![0.0; rows.entries()],
            gap_gradients: vec![0.0; gaps.entries()],
            contacts: Vec::with_capacity(gaps.len()),
            solved: vec![0.0; n * m],
            column: vec![0.0; n],
            gram: vec![0.0; m * m],
            pivoted: PivotedCholesky::new(m),
            rates: vec![0.0; m],
            defect: vec![0.0; m],
            multipliers: vec![0.0; m],
            correction: vec![0.0; m],
            velocity: vec![0.0; n],
            at: vec![f64::NAN; n],
            at_time: f64::NAN,
        })
    }

    /// Equalities and contacts that are placed.
    pub(super) fn len(&self) -> usize {
        self.system.equalities().len() + self.contacts.len()
    }

    /// Row `k` of those placed: where it stands, its number there, and the gradients of its kind.
    pub(super) fn row(&self, k: usize) -> (&'a Rows, usize, &[f64]) {
        let equal = self.system.equalities().len();
        if k < equal {
            (self.system.equalities(), k, &self.gradients)
        } else {
            (self.system.inequalities(), self.contacts[k - equal], &self.gap_gradients)
        }
    }

    /// Evaluates and factorises at a configuration, unless it is there already with the same contacts.
    pub(super) fn place(&mut self, q: &[f64], t: f64, contacts: &[usize]) -> Result<(), StepError> {
        if self.at_time == t && self.at == q && self.contacts == contacts {
            return Ok(());
        }
        self.at_time = f64::NAN;
        self.contacts.clear();
        self.contacts.extend_from_slice(contacts);
        self.mass.at(q, t)?;
        let (n, m) = (self.system.dimension(), self.len());
        let (rows, gaps) = (self.system.equalities(), self.system.inequalities());
        if m > 0 {
            rows.gradients(q, t, &mut self.gradients);
            rows.rates(q, t, &mut self.rates[..rows.len()]);
            for (k, &i) in contacts.iter().enumerate() {
                gaps.field(i).gradient(q, t, &mut self.gap_gradients[gaps.span(i)]);
                self.rates[rows.len() + k] = gaps.field(i).rate(q, t);
            }
            for k in 0..m {
                let mut column = std::mem::take(&mut self.column);
                column.fill(0.0);
                let (rows, i, gradients) = self.row(k);
                rows.add_row(i, gradients, 1.0, &mut column);
                self.mass.last().solve(&column, &mut self.solved[k * n..(k + 1) * n]);
                self.column = column;
            }
            for (i, row) in self.solved.chunks_exact(n).take(m).enumerate() {
                for j in 0..m {
                    let (rows, of, gradients) = self.row(j);
                    let product = rows.row_dot(of, gradients, row);
                    self.gram[j * m + i] = product;
                }
            }
            if self.pivoted.factor(m, &self.gram[..m * m], DEPENDENT).is_err() {
                let worst = (0..m).find(|i| !self.gram[i * m + i].is_finite()).unwrap_or(0);
                let (rows, i, _) = self.row(worst);
                let culprit = rows.name(i).to_owned();
                return Err(StepError::NotFinite { t, what: "the gradient", culprit });
            }
        }
        self.at.copy_from_slice(q);
        self.at_time = t;
        Ok(())
    }

    /// An independent set of rows.
    pub(super) fn independent(&self) -> &[usize] {
        if self.len() == 0 { &[] } else { self.pivoted.independent() }
    }

    /// The rows that depend on these.
    pub(crate) fn redundant(&self) -> &[usize] {
        if self.len() == 0 { &[] } else { self.pivoted.redundant() }
    }

    /// The mass where the rows were placed.
    pub(super) fn mass(&self) -> &Mass {
        self.mass.last()
    }

    /// Makes `p` tangent to what is placed and writes its velocity.
    pub(super) fn project(&mut self, t: f64, p: &mut [f64]) -> Result<(), StepError> {
        let m = self.len();
        let mut velocity = std::mem::take(&mut self.velocity);
        self.mass.last().solve(p, &mut velocity);
        self.multipliers.fill(0.0);
        let mut outcome = Ok(());
        // Multipliers solve normal equations, whose rounding a second pass takes out.
        for _ in 0..=CORRECTIONS {
            if m == 0 {
                break;
            }
            for k in 0..m {
                let (rows, i, gradients) = self.row(k);
                let rate = rows.row_dot(i, gradients, &velocity) + self.rates[k];
                self.defect[k] = -rate;
            }
            if norm_inf(&self.defect[..m]) <= 4.0 * f64::EPSILON * norm_inf(&velocity) {
                break;
            }
            let (defect, correction) = (&self.defect[..m], &mut self.correction[..m]);
            if let Err(error) = self.pivoted.solve_basic(defect, correction) {
                outcome = Err(StepError::Method { t, source: Box::new(error) });
                break;
            }
            for k in 0..m {
                self.multipliers[k] += self.correction[k];
                let (rows, i, gradients) = self.row(k);
                rows.add_row(i, gradients, self.correction[k], p);
            }
            self.mass.last().solve(p, &mut velocity);
        }
        self.velocity = velocity;
        outcome
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
