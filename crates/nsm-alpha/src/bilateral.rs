//! The bilateral constraints that hold now: those of every mode, those of the present mode, and contacts
//! that are held closed.
//!
//! Rows $g(q, t)$ in the order smooth, switching, closed, as in (25)–(26), with the gradient $G$ row by row, each on its own
//! coordinates. Rows that depend on the others are set aside when the set is chosen (rank-revealing QR of $G$, or a factor of
//! $G G^\top$ where the rows are many), so that every matrix built from the rest is regular; the multipliers of the rows set aside
//! are zero, and their residuals are watched.

use std::ops::Range;

use nsm_constraints::{Field, Rows, Switching};
use nsm_model::{System, SystemError};
use nsm_solvers::kkt::RowRank;
use nsm_solvers::small::qr::PivotedQr;

use crate::leading::{Leading, Term};
use crate::saddle::is_sparse;

/// A row whose part outside the span of the others is below this share of its norm is redundant.
const DEPENDENT: f64 = 1e-9;

#[derive(Clone, Copy)]
struct Row<'a> {
    field: &'a dyn Field,
    columns: &'a [usize],
    name: &'a str,
    /// Whether the row belongs to the mode, and so is evaluated at the mode's local coordinates.
    local: bool,
    /// The inequality, if the row is a closed contact.
    contact: Option<usize>,
    /// Place among equalities, then inequalities; that of a row of a mode means nothing.
    number: usize,
}

/// A row set aside that is violated by more than this has come back to life, or contradicts the others.
const REVIVED: f64 = 1e-8;

/// Largest full matrix of gradients of a sparse system.
const MATRIX: usize = 1 << 14;

/// The chosen rows and the scratch to evaluate them.
pub(crate) struct Bilateral<'a> {
    system: &'a System,
    n: usize,
    mode: i64,
    rows: Vec<Row<'a>>,
    aside: Vec<Row<'a>>,
    /// Where the gradient of each row starts, and the end of the last.
    starts: Vec<usize>,
    /// Whether the rows are the equalities, all of them and nothing else.
    whole: bool,
    local: Vec<f64>,
    block: Vec<f64>,
    gradient: Vec<f64>,
    finder: Finder,
}

/// Finds rows that depend on others.
enum Finder {
    /// A full matrix of the rows chosen.
    Full { qr: PivotedQr, matrix: Vec<f64> },
    /// All rows of the system, of which the chosen ones take part.
    Sparse { rank: RowRank, values: Vec<f64>, starts: Vec<usize>, takes_part: Vec<bool> },
}

impl std::fmt::Debug for Bilateral<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bilateral")
            .field("mode", &self.mode)
            .field("rows", &self.rows.len())
            .field("aside", &self.aside.len())
            .finish_non_exhaustive()
    }
}

impl<'a> Bilateral<'a> {
    /// No rows chosen yet; `contacts` says whether closed contacts may be among them.
    pub(crate) fn new(system: &'a System, contacts: bool) -> Result<Self, SystemError> {
        let n = system.dimension();
        let m = Self::capacity_of(system, contacts);
        let modes = system.switching().map_or(&[][..], Switching::all_rows);
        let all = || modes.iter().chain([system.equalities(), system.inequalities()]);
        let block = all().map(Rows::largest_block).max().unwrap_or(0);
        Ok(Self {
            system,
            n,
            mode: 0,
            rows: Vec::with_capacity(m),
            aside: Vec::with_capacity(m),
            starts: Vec::with_capacity(m + 1),
            whole: false,
            local: vec![0.0; n],
            block: vec![0.0; block * block.max(1)],
            gradient: vec![0.0; Self::entries_of(system, contacts)],
            finder: Finder::new(system, contacts, m)?,
        })
    }

    /// Most rows that can be chosen.
    pub(crate) fn capacity_of(system: &System, contacts: bool) -> usize {
        let modes = system.switching().map_or(&[][..], Switching::all_rows);
        system.equalities().len()
            + modes.iter().map(Rows::len).max().unwrap_or(0)
            + if contacts { system.inequalities().len() } else { 0 }
    }

    /// Most entries that their gradients can have.
    pub(crate) fn entries_of(system: &System, contacts: bool) -> usize {
        let modes = system.switching().map_or(&[][..], Switching::all_rows);
        system.equalities().entries()
            + modes.iter().map(Rows::entries).max().unwrap_or(0)
            + if contacts { system.inequalities().entries() } else { 0 }
    }

    /// Chooses the smooth rows, those of `mode` if given, and the `closed` contacts; sets redundant ones
    /// aside at $(q, t)$.
    pub(crate) fn choose(&mut self, mode: Option<i64>, closed: &[usize], q: &[f64], t: f64) {
        let system = self.system;
        self.rows.clear();
        self.aside.clear();
        let smooth = system.equalities();
        self.rows.extend((0..smooth.len()).map(|i| Row {
            field: smooth.field(i),
            columns: smooth.columns(i),
            name: smooth.name(i),
            local: false,
            contact: None,
            number: i,
        }));
        if let (Some(mode), Some(switching)) = (mode, system.switching()) {
            self.mode = mode;
            if let Some(rows) = switching.rows(mode) {
                self.rows.extend((0..rows.len()).map(|i| Row {
                    field: rows.field(i),
                    columns: rows.columns(i),
                    name: rows.name(i),
                    local: true,
                    contact: None,
                    number: usize::MAX,
                }));
            }
        }
        let gaps = system.inequalities();
        self.rows.extend(closed.iter().map(|&i| Row {
            field: gaps.field(i),
            columns: gaps.columns(i),
            name: gaps.name(i),
            local: false,
            contact: Some(i),
            number: smooth.len() + i,
        }));
        self.set_aside(q, t);
    }

    /// Moves rows that depend on the others at $(q, t)$ out of the set.
    fn set_aside(&mut self, q: &[f64], t: f64) {
        self.place();
        let m = self.rows.len();
        if m < 2 {
            return;
        }
        let mut gradient = std::mem::take(&mut self.gradient);
        self.gradient(q, t, &mut gradient);
        self.gradient = gradient;
        let Self { n, rows, aside, starts, gradient, finder, .. } = self;
        if finder.find(*n, rows, starts, gradient) {
            let is_dependent = |i: usize, row: &Row<'_>| match &*finder {
                Finder::Full { qr, .. } => qr.redundant().contains(&i),
                Finder::Sparse { rank, .. } => rank.redundant().binary_search(&row.number).is_ok(),
            };
            for i in (0..m).rev() {
                if is_dependent(i, &rows[i]) {
                    aside.push(rows.remove(i));
                }
            }
            self.place();
        }
    }

    /// Gives every row its place in the gradient.
    fn place(&mut self) {
        self.starts.clear();
        self.starts.push(0);
        let mut end = 0;
        for row in &self.rows {
            end += row.columns.len();
            self.starts.push(end);
        }
        self.whole = self.rows.len() == self.system.equalities().len()
            && self.rows.iter().enumerate().all(|(i, row)| row.number == i);
    }

    /// Whether the rows are all equalities and nothing else, so that gradients are in their order.
    pub(crate) fn is_whole(&self) -> bool {
        self.whole
    }

    /// The coordinates of row `i`.
    pub(crate) fn columns(&self, i: usize) -> &'a [usize] {
        self.rows[i].columns
    }

    /// The entries of row `i` in the gradient.
    pub(crate) fn span(&self, i: usize) -> Range<usize> {
        self.starts[i]..self.starts[i + 1]
    }

    /// Place of row `i` among the equalities, then inequalities, of the system.
    pub(crate) fn number(&self, i: usize) -> usize {
        self.rows[i].number
    }

    /// $\nabla g_i \cdot x$.
    pub(crate) fn along(&self, i: usize, gradient: &[f64], x: &[f64]) -> f64 {
        self.columns(i).iter().zip(&gradient[self.span(i)]).map(|(&c, g)| g * x[c]).sum()
    }

    /// Adds $G x$.
    pub(crate) fn add_product(&self, gradient: &[f64], x: &[f64], out: &mut [f64]) {
        if self.whole {
            self.system.equalities().add_product(gradient, x, out);
            return;
        }
        for (i, out) in out.iter_mut().enumerate() {
            *out += self.along(i, gradient, x);
        }
    }

    /// Adds $w G^\top \lambda$.
    pub(crate) fn add_transposed(&self, w: f64, gradient: &[f64], lambda: &[f64], out: &mut [f64]) {
        if self.whole {
            self.system.equalities().add_transposed(gradient, lambda, w, out);
            return;
        }
        for (i, lambda) in lambda.iter().enumerate() {
            for (&c, g) in self.columns(i).iter().zip(&gradient[self.span(i)]) {
                out[c] += w * lambda * g;
            }
        }
    }

    /// Writes $G$ as a full matrix at $(q, t)$.
    pub(crate) fn full_gradient(&mut self, q: &[f64], t: f64, out: &mut [f64]) {
        let mut gradient = std::mem::take(&mut self.gradient);
        self.gradient(q, t, &mut gradient);
        spread(self.n, &self.rows, &self.starts, &gradient, out);
        self.gradient = gradient;
    }

    /// Number of rows $m$ in the set.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The mode whose rows were chosen last.
    pub(crate) fn mode(&self) -> i64 {
        self.mode
    }

    pub(crate) fn name(&self, i: usize) -> &'a str {
        self.rows.get(i).map_or("constraint", |r| r.name)
    }

    /// The inequality that row `i` holds closed, if it is one.
    pub(crate) fn contact(&self, i: usize) -> Option<usize> {
        self.rows.get(i).and_then(|r| r.contact)
    }

    /// The row set aside that is violated most, if any is by more than [`REVIVED`].
    pub(crate) fn violated_aside(&mut self, q: &[f64], t: f64) -> Option<(&'a str, f64)> {
        if self.aside.is_empty() {
            return None;
        }
        let local = self.system.switching().map(|s| s.local(self.mode, q, &mut self.local));
        let mut worst = None;
        let mut largest = REVIVED;
        for row in &self.aside {
            let value = row.field.value(if row.local { local.unwrap_or(q) } else { q }, t);
            if value.abs() > largest || value.is_nan() {
                largest = value.abs();
                worst = Some((row.name, value));
            }
        }
        worst
    }

    /// Calls `visit(i, row, q)` for every row, with the coordinates at which it is evaluated.
    fn each(&mut self, q: &[f64], mut visit: impl FnMut(usize, &Row<'a>, &[f64], &mut [f64])) {
        let local = match self.system.switching() {
            Some(s) if self.rows.iter().any(|r| r.local) => s.local(self.mode, q, &mut self.local),
            _ => q,
        };
        for (i, row) in self.rows.iter().enumerate() {
            visit(i, row, if row.local { local } else { q }, &mut self.block);
        }
    }

    /// Writes $g(q, t)$.
    pub(crate) fn values(&mut self, q: &[f64], t: f64, out: &mut [f64]) {
        if self.whole {
            self.system.equalities().values(q, t, out);
            return;
        }
        self.each(q, |i, row, q, _| out[i] = row.field.value(q, t));
    }

    /// Writes $G$, row by row, each on its own coordinates.
    pub(crate) fn gradient(&mut self, q: &[f64], t: f64, out: &mut [f64]) {
        if self.whole {
            self.system.equalities().gradients(q, t, out);
            return;
        }
        let mut start = 0;
        self.each(q, |_, row, q, _| {
            let end = start + row.columns.len();
            row.field.gradient(q, t, &mut out[start..end]);
            start = end;
        });
    }

    /// Writes $g_t$.
    pub(crate) fn rates(&mut self, q: &[f64], t: f64, out: &mut [f64]) {
        self.each(q, |i, row, q, _| {
            out[i] = if row.field.is_rheonomic() { row.field.rate(q, t) } else { 0.0 };
        });
    }

    /// Writes $v^\top \nabla^2 g_i v + 2\\,\nabla g_{i,t} \cdot v + g_{i,tt}$, the part of $\ddot g$ without $\dot v$.
    pub(crate) fn curvatures(&mut self, q: &[f64], t: f64, v: &[f64], out: &mut [f64]) {
        self.each(q, |i, row, q, block| {
            let Row { field, columns, .. } = *row;
            let k = columns.len();
            let mut sum = 0.0;
            if !field.is_affine() {
                sum += field.bend(q, t, v, &mut block[..k * k]);
            }
            if field.is_rheonomic() {
                let block = &mut block[..k];
                field.rate_gradient(q, t, block);
                sum += 2.0 * block.iter().zip(columns).map(|(g, &c)| g * v[c]).sum::<f64>();
                sum += field.second_rate(q, t);
            }
            out[i] = sum;
        });
    }

    /// Adds $w \sum_i \lambda_i \nabla^2 g_i$.
    pub(crate) fn add_hessian(
        &mut self,
        (q, t): (&[f64], f64),
        lambda: &[f64],
        w: f64,
        out: &mut Leading,
    ) {
        if w == 0.0 {
            return;
        }
        let local = match self.system.switching() {
            Some(s) if self.rows.iter().any(|r| r.local) => s.local(self.mode, q, &mut self.local),
            _ => q,
        };
        for (row, lambda) in self.rows.iter().zip(lambda) {
            if row.field.is_affine() || *lambda == 0.0 {
                continue;
            }
            let columns = row.columns;
            let block = &mut self.block[..columns.len() * columns.len()];
            block.fill(0.0);
            row.field.hessian(if row.local { local } else { q }, t, w * lambda, block);
            out.add_block(Term::Row(row.number), columns, 1.0, block);
        }
    }

    /// Adds $w\\,(\nabla^2 g_i\\,v + w_t\\,\nabla g_{i,t})$ to row $i$ of a gradient: the derivative by $q$ of $G v + g_t$ for
    /// $w_t = 1$, of $G v$ at frozen $t$ for $w_t = 0$.
    pub(crate) fn add_turning(
        &mut self,
        (q, t): (&[f64], f64),
        v: &[f64],
        (w, w_t): (f64, f64),
        out: &mut [f64],
    ) {
        let mut start = 0;
        self.each(q, |_, row, q, block| {
            let Row { field, columns, .. } = *row;
            let k = columns.len();
            let row = &mut out[start..start + k];
            start += k;
            if !field.is_affine() {
                let block = &mut block[..k * k];
                block.fill(0.0);
                field.hessian(q, t, w, block);
                // Of a row on velocities the square is not symmetric: its rows belong to velocities, its columns to positions.
                for (h, &a) in block.chunks_exact(k.max(1)).zip(columns) {
                    for (h, x) in h.iter().zip(&mut *row) {
                        *x += h * v[a];
                    }
                }
            }
            if field.is_rheonomic() && w_t != 0.0 {
                let block = &mut block[..k];
                field.rate_gradient(q, t, block);
                for (g, x) in block.iter().zip(row) {
                    *x += w * w_t * g;
                }
            }
        });
    }
}

impl Finder {
    /// Rows up to which a full matrix is compared: `RowRank` does the same beyond, with a tolerance of its own.
    fn new(system: &System, contacts: bool, m: usize) -> Result<Self, SystemError> {
        let n = system.dimension();
        if m * n <= MATRIX || !is_sparse(system, contacts) {
            return Ok(Self::Full { qr: PivotedQr::new(m, n), matrix: vec![0.0; m * n] });
        }
        let (mut entries, mut starts) = (Vec::new(), vec![0]);
        let unequal = contacts.then(|| system.inequalities());
        for rows in [system.equalities()].into_iter().chain(unequal) {
            for i in 0..rows.len() {
                entries.extend(rows.columns(i).iter().map(|&c| (starts.len() - 1, c)));
                starts.push(entries.len());
            }
        }
        let rank = RowRank::new(m, n, &entries).map_err(|error| SystemError::DoesNotFit {
            method: "generalized-α",
            why: error.to_string(),
        })?;
        let values = vec![0.0; entries.len()];
        Ok(Self::Sparse { rank, values, starts, takes_part: vec![false; m] })
    }

    /// Looks for dependent rows; whether there are any. What is not finite is found and named where the rows are used.
    fn find(&mut self, n: usize, rows: &[Row<'_>], starts: &[usize], gradient: &[f64]) -> bool {
        let m = rows.len();
        match self {
            Self::Full { qr, matrix } => {
                let matrix = &mut matrix[..m * n];
                spread(n, rows, starts, gradient, matrix);
                qr.factor(m, n, matrix, DEPENDENT).is_ok_and(|rank| rank < m)
            }
            Self::Sparse { rank, values, starts: all, takes_part } => {
                takes_part.fill(false);
                for (row, from) in rows.iter().zip(starts.windows(2)) {
                    takes_part[row.number] = true;
                    let to = all[row.number]..all[row.number + 1];
                    values[to].copy_from_slice(&gradient[from[0]..from[1]]);
                }
                rank.find(values, takes_part).is_ok_and(|rows| !rows.is_empty())
            }
        }
    }
}

/// Writes $G$ as a full matrix.
fn spread(n: usize, rows: &[Row<'_>], starts: &[usize], gradient: &[f64], out: &mut [f64]) {
    out.fill(0.0);
    let spans = starts.windows(2).map(|s| &gradient[s[0]..s[1]]);
    for ((row, values), out) in rows.iter().zip(spans).zip(out.chunks_exact_mut(n)) {
        for (&c, g) in row.columns.iter().zip(values) {
            out[c] = *g;
        }
    }
}
