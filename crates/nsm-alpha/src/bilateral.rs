//! The bilateral constraints that hold now: those of every mode, those of the present mode, and contacts
//! that are held closed.
//!
//! Rows $g(q, t)$ in the order smooth, switching, closed, as in (25)–(26), with the dense gradient
//! $G$ ($m \times n$, row by row). Rows that depend on the others are set aside when the set is chosen
//! (rank-revealing QR of $G$), so that every matrix built from the rest is regular; the multipliers of
//! the rows set aside are zero, and their residuals are watched.

use nsm_constraints::{Field, Switching};
use nsm_model::System;
use nsm_solvers::small::qr::PivotedQr;

/// A row whose part outside the span of the others is below this share of its norm is redundant.
const DEPENDENT: f64 = 1e-9;

#[derive(Clone, Copy)]
struct Row<'a> {
    field: &'a dyn Field,
    name: &'a str,
    /// Whether the row belongs to the mode, and so is evaluated at the mode's local coordinates.
    local: bool,
    /// The inequality, if the row is a closed contact.
    contact: Option<usize>,
}

/// A row set aside that is violated by more than this has come back to life, or contradicts the others.
const REVIVED: f64 = 1e-8;

/// The chosen rows and the scratch to evaluate them.
pub(crate) struct Bilateral<'a> {
    system: &'a System,
    n: usize,
    mode: i64,
    rows: Vec<Row<'a>>,
    aside: Vec<Row<'a>>,
    local: Vec<f64>,
    block: Vec<f64>,
    dense: Vec<f64>,
    qr: PivotedQr,
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
    pub(crate) fn new(system: &'a System, contacts: bool) -> Self {
        let n = system.dimension();
        let m = Self::capacity_of(system, contacts);
        let modes = system.switching().map_or(&[][..], Switching::all_rows);
        let block = modes
            .iter()
            .chain([system.equalities(), system.inequalities()])
            .map(nsm_constraints::Rows::largest_block)
            .max()
            .unwrap_or(0);
        Self {
            system,
            n,
            mode: 0,
            rows: Vec::with_capacity(m),
            aside: Vec::with_capacity(m),
            local: vec![0.0; n],
            block: vec![0.0; block * block.max(1)],
            dense: vec![0.0; m * n],
            qr: PivotedQr::new(m, n),
        }
    }

    /// Most rows that can be chosen.
    pub(crate) fn capacity_of(system: &System, contacts: bool) -> usize {
        let modes = system.switching().map_or(&[][..], Switching::all_rows);
        system.equalities().len()
            + modes.iter().map(nsm_constraints::Rows::len).max().unwrap_or(0)
            + if contacts { system.inequalities().len() } else { 0 }
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
            name: smooth.name(i),
            local: false,
            contact: None,
        }));
        if let (Some(mode), Some(switching)) = (mode, system.switching()) {
            self.mode = mode;
            if let Some(rows) = switching.rows(mode) {
                self.rows.extend((0..rows.len()).map(|i| Row {
                    field: rows.field(i),
                    name: rows.name(i),
                    local: true,
                    contact: None,
                }));
            }
        }
        let gaps = system.inequalities();
        self.rows.extend(closed.iter().map(|&i| Row {
            field: gaps.field(i),
            name: gaps.name(i),
            local: false,
            contact: Some(i),
        }));
        self.set_aside(q, t);
    }

    /// Moves rows that depend on the others at $(q, t)$ out of the set.
    fn set_aside(&mut self, q: &[f64], t: f64) {
        let m = self.rows.len();
        if m < 2 {
            return;
        }
        let mut dense = std::mem::take(&mut self.dense);
        self.gradient(q, t, &mut dense[..m * self.n]);
        let rank = self.qr.factor(m, self.n, &dense[..m * self.n], DEPENDENT);
        self.dense = dense;
        if rank.is_ok_and(|rank| rank < m) {
            for i in (0..m).rev() {
                if self.qr.redundant().contains(&i) {
                    self.aside.push(self.rows.remove(i));
                }
            }
        }
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

    /// Calls `visit(i, field, q)` for every row, with the coordinates at which it is evaluated.
    fn each(&mut self, q: &[f64], mut visit: impl FnMut(usize, &'a dyn Field, &[f64], &mut [f64])) {
        let local = match self.system.switching() {
            Some(s) if self.rows.iter().any(|r| r.local) => s.local(self.mode, q, &mut self.local),
            _ => q,
        };
        for (i, row) in self.rows.iter().enumerate() {
            visit(i, row.field, if row.local { local } else { q }, &mut self.block);
        }
    }

    /// Writes $g(q, t)$.
    pub(crate) fn values(&mut self, q: &[f64], t: f64, out: &mut [f64]) {
        self.each(q, |i, field, q, _| out[i] = field.value(q, t));
    }

    /// Writes $G$.
    pub(crate) fn gradient(&mut self, q: &[f64], t: f64, out: &mut [f64]) {
        let n = self.n;
        self.each(q, |i, field, q, block| {
            let columns = field.coordinates();
            let row = &mut out[i * n..(i + 1) * n];
            row.fill(0.0);
            let block = &mut block[..columns.len()];
            field.gradient(q, t, block);
            for (&c, g) in columns.iter().zip(block) {
                row[c] = *g;
            }
        });
    }

    /// Writes $g_t$.
    pub(crate) fn rates(&mut self, q: &[f64], t: f64, out: &mut [f64]) {
        self.each(q, |i, field, q, _| {
            out[i] = if field.is_rheonomic() { field.rate(q, t) } else { 0.0 };
        });
    }

    /// Writes $v^\top \nabla^2 g_i v + 2\\,\nabla g_{i,t} \cdot v + g_{i,tt}$, the part of $\ddot g$ without $\dot v$.
    pub(crate) fn curvatures(&mut self, q: &[f64], t: f64, v: &[f64], out: &mut [f64]) {
        self.each(q, |i, field, q, block| {
            let columns = field.coordinates();
            let k = columns.len();
            let mut sum = 0.0;
            if !field.is_affine() {
                let block = &mut block[..k * k];
                block.fill(0.0);
                field.hessian(q, t, 1.0, block);
                for (row, &a) in block.chunks_exact(k.max(1)).zip(columns) {
                    sum += v[a] * row.iter().zip(columns).map(|(h, &b)| h * v[b]).sum::<f64>();
                }
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

    /// Adds $w \sum_i \lambda_i \nabla^2 g_i$ to the leading block of a matrix with rows of length `stride`.
    pub(crate) fn add_hessian(
        &mut self,
        (q, t): (&[f64], f64),
        lambda: &[f64],
        w: f64,
        out: &mut [f64],
        stride: usize,
    ) {
        if w == 0.0 {
            return;
        }
        self.each(q, |i, field, q, block| {
            if field.is_affine() || lambda[i] == 0.0 {
                return;
            }
            let columns = field.coordinates();
            let k = columns.len();
            let block = &mut block[..k * k];
            block.fill(0.0);
            field.hessian(q, t, w * lambda[i], block);
            for (row, &a) in block.chunks_exact(k.max(1)).zip(columns) {
                for (h, &b) in row.iter().zip(columns) {
                    out[a * stride + b] += h;
                }
            }
        });
    }

    /// Adds $w\\,(\nabla^2 g_i\\,v + w_t\\,\nabla g_{i,t})$ to row $i$ of a matrix with rows of length `stride`:
    /// the derivative by $q$ of $G v + g_t$ for $w_t = 1$, of $G v$ at frozen $t$ for $w_t = 0$.
    pub(crate) fn add_turning(
        &mut self,
        (q, t): (&[f64], f64),
        v: &[f64],
        (w, w_t): (f64, f64),
        out: &mut [f64],
        stride: usize,
    ) {
        self.each(q, |i, field, q, block| {
            let columns = field.coordinates();
            let k = columns.len();
            let row = &mut out[i * stride..(i + 1) * stride];
            if !field.is_affine() {
                let block = &mut block[..k * k];
                block.fill(0.0);
                field.hessian(q, t, w, block);
                // Of a row on velocities the square is not symmetric: its rows belong to velocities, its columns to positions.
                for (h, &a) in block.chunks_exact(k.max(1)).zip(columns) {
                    for (h, &b) in h.iter().zip(columns) {
                        row[b] += h * v[a];
                    }
                }
            }
            if field.is_rheonomic() && w_t != 0.0 {
                let block = &mut block[..k];
                field.rate_gradient(q, t, block);
                for (g, &c) in block.iter().zip(columns) {
                    row[c] += w * w_t * g;
                }
            }
        });
    }
}
