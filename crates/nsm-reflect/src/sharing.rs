//! Redundant contacts share their load.
//!
//! Where contacts outnumber the directions they block (four legs of a table), $G\lambda$ is unique but
//! $\lambda$ is not, and an active-set method loads an arbitrary choice of legs. Among the contacts $Z$ that are
//! closed after the impulse, $(A\lambda + q)\_Z = 0$, the multipliers of minimum norm
//! $$ \lambda_Z = -A_{ZZ}^{+}\\, q_Z $$
//! respect every symmetry of the impact. They replace the others if none of them pulls.

use nsm_solvers::small::gram::PivotedCholesky;

/// Share of a pivot below which a contact counts as redundant.
const RANK_TOLERANCE: f64 = 1e-12;

/// Slack, over the largest rate, of a contact that counts as closed.
const CLOSED: f64 = 1e-12;

/// Spread of the diagonal above which every row has its own units.
const SPREAD: f64 = 1024.0;

/// Workspace for the multipliers of minimum norm.
#[derive(Debug, Default)]
pub(crate) struct Sharing {
    closed: Vec<usize>,
    gram: Vec<f64>,
    rhs: Vec<f64>,
    shared: Vec<f64>,
    units: Vec<f64>,
    factor: PivotedCholesky,
}

impl Sharing {
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            closed: Vec::with_capacity(capacity),
            gram: Vec::with_capacity(capacity * capacity),
            rhs: Vec::with_capacity(capacity),
            shared: Vec::with_capacity(capacity),
            units: Vec::with_capacity(capacity),
            factor: PivotedCholesky::new(capacity),
        }
    }

    /// In which units a rate is small: those of its own row, where rows differ by decades.
    fn find_units(&mut self, k: usize, gram: &[f64]) {
        let diagonal = (0..k).map(|i| gram[i * (k + 1)]).filter(|d| *d > 0.0);
        let (least, most) =
            diagonal.fold((f64::INFINITY, 0.0_f64), |(a, b), d| (a.min(d), b.max(d)));
        self.units.clear();
        let spread = most > SPREAD * least;
        self.units.extend((0..k).map(|i| {
            let d = gram[i * (k + 1)];
            if spread && d > 0.0 { d.sqrt() } else { 1.0 }
        }));
    }

    /// Replaces `lambda` by multipliers of minimum norm where contacts are redundant.
    pub(crate) fn share(&mut self, gram: &[f64], q: &[f64], slack: &[f64], lambda: &mut [f64]) {
        let k = q.len();
        self.find_units(k, gram);
        let units = &self.units;
        let largest = q.iter().zip(units).fold(0.0_f64, |a, (x, unit)| a.max(x.abs() / unit));
        let tolerance = |i: usize| CLOSED * largest * units[i];
        let closed = |i: &usize| slack[*i] <= tolerance(*i);
        if (0..k).all(|i| lambda[i] > 0.0 || !closed(&i)) {
            return;
        }
        self.closed.clear();
        self.closed.extend((0..k).filter(|i| lambda[*i] > 0.0 || closed(i)));
        let z = self.closed.len();
        self.gram.clear();
        for &i in &self.closed {
            self.gram.extend(self.closed.iter().map(|&j| gram[i * k + j]));
        }
        self.rhs.clear();
        self.rhs.extend(self.closed.iter().map(|&i| -q[i]));
        self.shared.clear();
        self.shared.resize(z, 0.0);
        let solved = self.factor.factor(z, &self.gram, RANK_TOLERANCE).and_then(|rank| {
            self.factor.solve_minimum_norm(&self.rhs, &mut self.shared).map(|()| rank)
        });
        let largest = self.shared.iter().fold(0.0_f64, |a, x| a.max(x.abs()));
        let pushes = self.shared.iter().all(|&l| l >= -1e-14 * largest);
        if !matches!(solved, Ok(rank) if rank < z) || !pushes {
            return;
        }
        // The sum must be the same impulse: no rate may differ from what the first answer gave.
        for i in 0..k {
            let row = &gram[i * k..(i + 1) * k];
            let products = self.closed.iter().zip(&self.shared).map(|(&j, l)| row[j] * l);
            let rate = q[i] + products.sum::<f64>();
            if (rate - slack[i]).abs() > 10.0 * tolerance(i) {
                return;
            }
        }
        for (&i, l) in self.closed.iter().zip(&self.shared) {
            lambda[i] = l.max(0.0);
        }
    }
}
