//! Impulses of many contacts at once, warm: what piles ask for, step after step, in a constant metric without equalities.
//!
//! $$ 0 \le \lambda \perp A\lambda + b \ge 0, \qquad A = G^\top W G, $$
//! or $A\lambda + b = 0$ for contacts that are held on both sides. The same problem as that of [`LeastImpulses`](crate::LeastImpulses), but all
//! contacts are solved for together and from a guess by [`SparseNnls`], and rates below a threshold of their own count as zero: those of contacts at rest are
//! rounding, which has no side. Rows that are placed where they were placed before keep their factors.

use nsm_constraints::Metric;
use nsm_model::System;
use nsm_solvers::least_squares::SparseNnls;

use crate::island_gram::IslandGram;
use crate::least::PlacedRows;
use crate::multipliers::Island;
use crate::{ContactRows, ReflectError};

/// Gradients that differ by no more than this share are the same.
const ROUNDING: f64 = 8.0 * f64::EPSILON;

/// The contacts of a crowd at one configuration.
#[derive(Debug)]
pub struct CrowdImpulses {
    starts: Vec<usize>,
    columns: Vec<usize>,
    rows: PlacedRows,
    /// What was placed last, and its gradients.
    contacts: Vec<usize>,
    gradients: Vec<f64>,
    gram: IslandGram,
    weighted: Vec<f64>,
    solver: SparseNnls,
    b: Vec<f64>,
    zero: Vec<f64>,
}

impl CrowdImpulses {
    /// For the contacts of a system whose metric does not change.
    pub fn new(system: &System) -> Self {
        let rows = system.inequalities();
        let mut starts = vec![0];
        starts.extend((0..rows.len()).map(|i| rows.span(i).end));
        Self {
            starts,
            columns: (0..rows.len()).flat_map(|i| rows.columns(i).iter().copied()).collect(),
            rows: PlacedRows::default(),
            contacts: Vec::new(),
            gradients: Vec::new(),
            gram: IslandGram::new(system.dimension(), 0),
            weighted: vec![0.0; system.dimension()],
            solver: SparseNnls::default(),
            b: Vec::new(),
            zero: Vec::new(),
        }
    }

    /// Takes the gradients of `contacts` at a configuration, whether they [are placed](Self::is_placed) or not: `g` holds those of all
    /// contacts, current for these.
    ///
    /// # Errors
    /// Gradients that are not finite.
    pub fn place(
        &mut self,
        metric: &Metric,
        g: &[f64],
        contacts: &[usize],
    ) -> Result<(), ReflectError> {
        let given = ContactRows::of_pattern(&self.starts, &self.columns, g);
        self.contacts.clear();
        self.gradients.clear();
        let weighted = &mut self.weighted;
        self.rows.place(given, contacts, |columns, values| {
            let mut square = 0.0;
            metric.add_applied(columns, values, weighted);
            for (&c, x) in columns.iter().zip(values) {
                square += weighted[c] * x;
            }
            for &c in columns {
                metric.for_coupled(c, |j| weighted[j] = 0.0);
            }
            square
        })?;
        let view = self.rows.view();
        let candidates = self.rows.all();
        let island = Island { metric, rows: view, candidates, slots: candidates };
        self.gram.link(island);
        self.gram.assemble(island, &mut self.weighted);
        let (starts, indices, values) = self.gram.columns();
        self.solver.set(starts, indices, values);
        for &contact in contacts {
            self.gradients.extend_from_slice(given.row(contact).1);
        }
        self.contacts.extend_from_slice(contacts);
        Ok(())
    }

    /// Whether these contacts were placed last, with these gradients up to rounding.
    pub fn is_placed(&self, g: &[f64], contacts: &[usize]) -> bool {
        let given = ContactRows::of_pattern(&self.starts, &self.columns, g);
        let mut at = 0;
        self.contacts == contacts
            && contacts.iter().all(|&contact| {
                let values = given.row(contact).1;
                let placed = &self.gradients[at..at + values.len()];
                at += values.len();
                let size = values.iter().fold(0.0_f64, |a, x| a.max(x.abs()));
                values.iter().zip(placed).all(|(x, y)| (x - y).abs() <= ROUNDING * size)
            })
    }

    /// Adds $s N_i$ to a momentum.
    pub fn push(&self, row: usize, s: f64, p: &mut [f64]) {
        self.rows.push(row, s, p);
    }

    /// $N_i \cdot v$.
    pub fn rate(&self, row: usize, v: &[f64]) -> f64 {
        self.rows.rate(row, v)
    }

    /// Writes the impulses for the right-hand sides `b` from the guess in `lambda`; rates below `zero` count as zero. With `both_sides` contacts
    /// may pull. What carries keeps its rate to rounding, or where redundant contacts ask for what cannot be had together within `enough`.
    ///
    /// # Errors
    /// Right-hand sides that are not finite, problems that are not solved, such as contacts pressed between walls that cannot move apart.
    pub fn solve(
        &mut self,
        b: &[f64],
        (zero, enough): (&[f64], &[f64]),
        both_sides: bool,
        lambda: &mut [f64],
    ) -> Result<(), ReflectError> {
        self.b.clear();
        self.zero.clear();
        let mut loose = 0.0_f64;
        for (k, (b, (zero, enough))) in b.iter().zip(zero.iter().zip(enough)).enumerate() {
            let length = self.rows.length(k);
            let unit = if length > 0.0 { 1.0 / length } else { 0.0 };
            self.b.push(b * unit);
            self.zero.push(zero * unit);
            loose = loose.max(enough * unit);
            lambda[k] *= length;
        }
        let outcome = self.solver.solve(&self.b, (&self.zero, loose), both_sides, lambda);
        for (k, lambda) in lambda.iter_mut().enumerate() {
            let length = self.rows.length(k);
            *lambda = if length > 0.0 { *lambda / length } else { 0.0 };
        }
        let contact = self.contacts.first().copied().unwrap_or(0);
        outcome.map_err(|source| ReflectError::Island { contact, source: source.into() })
    }
}
