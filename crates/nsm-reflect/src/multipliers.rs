//! Multipliers of one island: line 9 of Algorithm 2 [KP], and its relatives.
//!
//! With $A = G^\top W G$ over the island,
//! $$ \lambda = \arg\min_{\lambda \ge 0} \tfrac12 \lambda^\top A \lambda + q^\top \lambda
//!    \iff 0 \le \lambda \perp A\lambda + q \ge 0 . $$
//! $q = w$ gives the projection behind a reflection; $q_i = w_i + e_i \min(w_i, 0)$ gives Newton's law.

use nsm_constraints::Metric;
use nsm_solvers::least_squares::GramNnls;
use nsm_solvers::small::gram::PivotedCholesky;

use crate::{ContactRows, ReflectError};

/// Room for islands of this size is made at once; larger ones grow the workspace when first met.
const INITIAL: usize = 16;

/// Share of a pivot below which a contact counts as redundant in (A.1).
const RANK_TOLERANCE: f64 = 1e-12;

/// Solver for one island at a time.
#[derive(Clone, Debug)]
pub(crate) struct Multipliers {
    capacity: usize,
    gram: Vec<f64>,
    /// Right-hand side, set by the caller.
    pub(crate) q: Vec<f64>,
    /// The answer.
    pub(crate) lambda: Vec<f64>,
    nonnegative: GramNnls,
    normal_equation: PivotedCholesky,
    /// $W \nabla g$, dense, zero between calls.
    weighted: Vec<f64>,
}

impl Multipliers {
    pub(crate) fn new(dimension: usize, contacts: usize) -> Self {
        let capacity = contacts.min(INITIAL);
        Self {
            capacity,
            gram: Vec::with_capacity(capacity * capacity),
            q: Vec::with_capacity(contacts),
            lambda: Vec::with_capacity(contacts),
            nonnegative: GramNnls::new(capacity),
            normal_equation: PivotedCholesky::new(capacity),
            weighted: vec![0.0; dimension],
        }
    }

    /// $\nabla g^\top W \nabla g$ of one row.
    pub(crate) fn square(&mut self, metric: &Metric, columns: &[usize], values: &[f64]) -> f64 {
        if let Some(w) = metric.as_diagonal() {
            return columns.iter().zip(values).map(|(&c, g)| w[c] * g * g).sum();
        }
        metric.add_applied(columns, values, &mut self.weighted);
        let sum = columns.iter().zip(values).map(|(&c, g)| self.weighted[c] * g).sum();
        clear(metric, columns, &mut self.weighted);
        sum
    }

    /// Non-negative multipliers of the island for the right-hand side in `q`.
    ///
    /// With `exact`, they are scaled so that $\lambda^\top A \lambda = -q^\top \lambda$ to rounding: reflecting
    /// twice that far then conserves energy however well the problem was solved.
    pub(crate) fn project(
        &mut self,
        metric: &Metric,
        rows: ContactRows<'_>,
        candidates: &[usize],
        island: &[usize],
        exact: bool,
    ) -> Result<(), ReflectError> {
        self.lambda.clear();
        self.lambda.resize(island.len(), 0.0);
        if let &[slot] = island {
            let (columns, values) = rows.row(candidates[slot]);
            let a = self.square(metric, columns, values);
            self.lambda[0] = (-self.q[0] / positive(a, candidates[slot])?).max(0.0);
            return Ok(());
        }
        self.assemble(metric, rows, candidates, island)?;
        let _ = self
            .nonnegative
            .solve(&self.gram, &self.q, &mut self.lambda)
            .map_err(|source| ReflectError::Island { contact: candidates[island[0]], source })?;
        if exact {
            let (mut work, mut square) = (0.0, 0.0);
            for ((l, q), slack) in self.lambda.iter().zip(&self.q).zip(self.nonnegative.slack()) {
                work += l * q;
                square += l * (slack - q);
            }
            scale_to_conserve(&mut self.lambda, work, square);
        }
        Ok(())
    }

    /// Half the multipliers of (A.1): $A \lambda = -q$, of minimum norm.
    pub(crate) fn normal_equation(
        &mut self,
        metric: &Metric,
        rows: ContactRows<'_>,
        candidates: &[usize],
        island: &[usize],
    ) -> Result<(), ReflectError> {
        if island.len() == 1 {
            return self.project(metric, rows, candidates, island, true);
        }
        let k = island.len();
        self.lambda.clear();
        self.lambda.resize(k, 0.0);
        self.assemble(metric, rows, candidates, island)?;
        for q in &mut self.q {
            *q = -*q;
        }
        self.normal_equation
            .factor(k, &self.gram, RANK_TOLERANCE)
            .and_then(|_| self.normal_equation.solve_minimum_norm(&self.q, &mut self.lambda))
            .map_err(|source| ReflectError::Projection { contact: candidates[island[0]], source })
    }

    fn assemble(
        &mut self,
        metric: &Metric,
        rows: ContactRows<'_>,
        candidates: &[usize],
        island: &[usize],
    ) -> Result<(), ReflectError> {
        let k = island.len();
        if k > self.capacity {
            self.capacity = k.next_power_of_two();
            self.nonnegative = GramNnls::new(self.capacity);
            self.gram.reserve(self.capacity * self.capacity - self.gram.len());
        }
        self.gram.clear();
        self.gram.resize(k * k, 0.0);
        for (b, &slot) in island.iter().enumerate() {
            let (columns, values) = rows.row(candidates[slot]);
            metric.add_applied(columns, values, &mut self.weighted);
            for (a, &other) in island[..=b].iter().enumerate() {
                let (columns, values) = rows.row(candidates[other]);
                let product = columns.iter().zip(values).map(|(&c, g)| self.weighted[c] * g).sum();
                self.gram[a * k + b] = product;
                self.gram[b * k + a] = product;
            }
            clear(metric, columns, &mut self.weighted);
            positive(self.gram[b * k + b], candidates[slot])?;
        }
        Ok(())
    }
}

/// Scales $\lambda$ by $s = -q^\top\lambda / \lambda^\top A\lambda$, which is one up to the error of the solver.
fn scale_to_conserve(lambda: &mut [f64], work: f64, square: f64) {
    let s = -work / square;
    if s.is_finite() && s > 0.0 && (s - 1.0).abs() > 4.0 * f64::EPSILON {
        for l in lambda {
            *l *= s;
        }
    }
}

fn clear(metric: &Metric, columns: &[usize], weighted: &mut [f64]) {
    for &c in columns {
        metric.for_coupled(c, |j| weighted[j] = 0.0);
    }
}

fn positive(value: f64, contact: usize) -> Result<f64, ReflectError> {
    if value > 0.0 && value.is_finite() {
        Ok(value)
    } else if value.is_nan() {
        Err(ReflectError::NotFinite { what: "the gradient", contact })
    } else {
        Err(ReflectError::NotPositive { contact, value })
    }
}
