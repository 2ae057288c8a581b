//! Projection of contact gradients onto the cotangent space of the equality constraints.
//!
//! With equalities $f(q) = 0$, $F = \nabla f$, the normal cone is spanned by the projected gradients
//! $$ N_i = \bigl(I - F (F^\top W F)^{+} F^\top W\bigr)\\,\nabla g_i, \qquad F^\top W N_i = 0, \qquad (6.7) $$
//! \[KP\] for $W = M^{-1}$; the paper writes it for $W$-orthonormal columns of $F$. The pseudo-inverse lets
//! redundant equalities pass. Equalities that share no coordinate, directly or through $W$, are
//! factorised apart: the cost is that of the largest group of linked constraints.
//!
//! Where equalities move by themselves, $F^\top v = -f_t$, the rate of a gap is not that of its projected row alone:
//! $\nabla g_i \cdot v = N_i \cdot v - \nu_i \cdot f_t$, with $\nabla g_i = N_i + F\nu_i$.

use nsm_solvers::LinearError;
use nsm_solvers::small::gram::PivotedCholesky;

use crate::{Metric, RowPattern, Rows};

/// Share of its length below which a projected gradient counts as zero: the equalities already hold
/// the contact, and what is left is rounding.
const VANISHING: f64 = 1e-12;

/// Share of a pivot below which an equality counts as redundant.
const RANK_TOLERANCE: f64 = 1e-13;

const NONE: usize = usize::MAX;

/// The projection (6.7) for the rows of one system, with all its workspace.
#[derive(Clone, Debug)]
pub struct CotangentProjection {
    groups: Vec<Group>,
    /// Groups that contact $i$ meets: `met[met_starts[i]..met_starts[i + 1]]`.
    met_starts: Vec<usize>,
    met: Vec<usize>,
    /// Pattern of the projected gradients.
    starts: Vec<usize>,
    columns: Vec<usize>,
    /// Dense scratch, zero between calls.
    weighted: Vec<f64>,
    row: Vec<f64>,
    rhs: Vec<f64>,
    multipliers: Vec<f64>,
}

/// Equalities linked through coordinates.
#[derive(Clone, Debug)]
struct Group {
    rows: Vec<usize>,
    columns: Vec<usize>,
    gram: Vec<f64>,
    factor: PivotedCholesky,
    current: bool,
}

impl CotangentProjection {
    /// Prepares the projection of rows with the pattern `contacts` by `equalities`; `metric` gives the pattern of $W$.
    pub fn new(metric: &Metric, equalities: &Rows, contacts: RowPattern<'_>) -> Self {
        let n = equalities.dimension();
        let groups = groups(metric, equalities);
        let mut group_of = vec![NONE; n];
        for (index, group) in groups.iter().enumerate() {
            for &c in &group.columns {
                group_of[c] = index;
            }
        }
        let (mut met, mut met_starts) = (Vec::new(), vec![0]);
        let (mut columns, mut starts) = (Vec::new(), vec![0]);
        for i in 0..contacts.len() {
            let mut touched = Vec::new();
            for &c in contacts.row(i) {
                metric.for_coupled(c, |j| {
                    if group_of[j] != NONE && !touched.contains(&group_of[j]) {
                        touched.push(group_of[j]);
                    }
                });
            }
            touched.sort_unstable();
            let mut pattern = contacts.row(i).to_vec();
            for &g in &touched {
                pattern.extend_from_slice(&groups[g].columns);
            }
            pattern.sort_unstable();
            pattern.dedup();
            columns.extend(pattern);
            starts.push(columns.len());
            met.extend(touched);
            met_starts.push(met.len());
        }
        let largest = groups.iter().map(|g| g.rows.len()).max().unwrap_or(0);
        Self {
            groups,
            met_starts,
            met,
            starts,
            columns,
            weighted: vec![0.0; n],
            row: vec![0.0; n],
            rhs: vec![0.0; largest],
            multipliers: vec![0.0; largest],
        }
    }

    /// Row $i$ of the projected gradients lies in `starts()[i]..starts()[i + 1]`.
    pub fn starts(&self) -> &[usize] {
        &self.starts
    }

    /// Columns of all projected gradients, row after row.
    pub fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// Forgets the factorisations: the configuration or the metric has changed.
    pub fn renew(&mut self) {
        for group in &mut self.groups {
            group.current = false;
        }
    }

    /// Writes $N_i$ into its place in `out`, a slice of values for the pattern of all rows, and returns $-\nu_i \cdot f_t$: the rate that moving equalities
    /// give to the row.
    ///
    /// `f` and `g` are the gradient values of the equalities and of the contacts, `rates` the $f_t$; empty where none moves.
    ///
    /// # Errors
    /// Gradients that are not finite.
    pub fn project(
        &mut self,
        metric: &Metric,
        (equalities, f, rates): (&Rows, &[f64], &[f64]),
        (contacts, g): (RowPattern<'_>, &[f64]),
        i: usize,
        out: &mut [f64],
    ) -> Result<f64, LinearError> {
        let span = self.starts[i]..self.starts[i + 1];
        let columns = &self.columns[span.clone()];
        let out = &mut out[span];
        let (own, gradient) = (contacts.row(i), &g[contacts.span(i)]);
        for (&c, x) in own.iter().zip(gradient) {
            self.row[c] = *x;
        }
        metric.add_applied(own, gradient, &mut self.weighted);
        let before: f64 = own.iter().zip(gradient).map(|(&c, x)| x * self.weighted[c]).sum();
        let (mut outcome, mut drift) = (Ok(()), 0.0);
        for &index in &self.met[self.met_starts[i]..self.met_starts[i + 1]] {
            let group = &mut self.groups[index];
            let m = group.rows.len();
            let (rhs, multipliers) = (&mut self.rhs[..m], &mut self.multipliers[..m]);
            for (b, &r) in rhs.iter_mut().zip(&group.rows) {
                *b = equalities.row_dot(r, f, &self.weighted);
            }
            outcome =
                group.factor(metric, equalities, f).and_then(|()| group.solve(rhs, multipliers));
            if outcome.is_err() {
                break;
            }
            for (nu, &r) in multipliers.iter().zip(&group.rows) {
                equalities.add_row(r, f, -nu, &mut self.row);
                drift -= nu * rates.get(r).unwrap_or(&0.0);
            }
        }
        for (x, &c) in out.iter_mut().zip(columns) {
            *x = self.row[c];
            self.row[c] = 0.0;
        }
        for &c in own {
            metric.for_coupled(c, |j| self.weighted[j] = 0.0);
        }
        outcome?;
        if self.met_starts[i] < self.met_starts[i + 1] {
            metric.add_applied(columns, out, &mut self.weighted);
            let after: f64 = columns.iter().zip(&*out).map(|(&c, x)| x * self.weighted[c]).sum();
            for &c in columns {
                metric.for_coupled(c, |j| self.weighted[j] = 0.0);
            }
            if after <= VANISHING * VANISHING * before {
                out.fill(0.0);
            }
        }
        Ok(drift)
    }
}

impl Group {
    fn factor(&mut self, metric: &Metric, equalities: &Rows, f: &[f64]) -> Result<(), LinearError> {
        if self.current {
            return Ok(());
        }
        let m = self.rows.len();
        for (a, &r) in self.rows.iter().enumerate() {
            for (b, &s) in self.rows[..=a].iter().enumerate() {
                let product = weighted_product(metric, equalities, f, r, s);
                self.gram[a * m + b] = product;
                self.gram[b * m + a] = product;
            }
        }
        if m > 1 {
            self.factor.factor(m, &self.gram, RANK_TOLERANCE)?;
        }
        self.current = true;
        Ok(())
    }

    /// $(F^\top W F)^{+}$ applied to `rhs`.
    fn solve(&mut self, rhs: &[f64], multipliers: &mut [f64]) -> Result<(), LinearError> {
        if let &[square] = &self.gram[..] {
            if !square.is_finite() {
                return Err(LinearError::NotFinite {
                    what: "equality gradient",
                    index: self.rows[0],
                });
            }
            multipliers[0] = if square > 0.0 { rhs[0] / square } else { 0.0 };
            return Ok(());
        }
        self.factor.solve_minimum_norm(rhs, multipliers)
    }
}

/// $\nabla f_r^\top W \nabla f_s$.
fn weighted_product(metric: &Metric, rows: &Rows, f: &[f64], r: usize, s: usize) -> f64 {
    let (rc, rv) = (rows.columns(r), &f[rows.span(r)]);
    let (sc, sv) = (rows.columns(s), &f[rows.span(s)]);
    let mut sum = 0.0;
    for (&i, x) in rc.iter().zip(rv) {
        for (&j, y) in sc.iter().zip(sv) {
            if let Some(w) = metric.entry(i, j) {
                sum += x * w * y;
            }
        }
    }
    sum
}

/// Connected components of the equalities.
fn groups(metric: &Metric, equalities: &Rows) -> Vec<Group> {
    let mut root: Vec<usize> = (0..equalities.len()).collect();
    let mut owner = vec![NONE; equalities.dimension()];
    for r in 0..equalities.len() {
        for &c in equalities.columns(r) {
            metric.for_coupled(c, |j| {
                if owner[j] != NONE {
                    let (a, b) = (find(&mut root, r), find(&mut root, owner[j]));
                    root[a.max(b)] = a.min(b);
                }
            });
        }
        for &c in equalities.columns(r) {
            owner[c] = r;
        }
    }
    let mut groups: Vec<Group> = Vec::new();
    let mut index = vec![NONE; equalities.len()];
    for r in 0..equalities.len() {
        let leader = find(&mut root, r);
        if index[leader] == NONE {
            index[leader] = groups.len();
            groups.push(Group {
                rows: Vec::new(),
                columns: Vec::new(),
                gram: Vec::new(),
                factor: PivotedCholesky::new(0),
                current: false,
            });
        }
        let group = &mut groups[index[leader]];
        group.rows.push(r);
        group.columns.extend_from_slice(equalities.columns(r));
    }
    for group in &mut groups {
        let m = group.rows.len();
        group.columns.sort_unstable();
        group.columns.dedup();
        group.gram = vec![0.0; m * m];
        group.factor = PivotedCholesky::new(m);
    }
    groups
}

fn find(root: &mut [usize], mut i: usize) -> usize {
    while root[i] != i {
        root[i] = root[root[i]];
        i = root[i];
    }
    i
}
