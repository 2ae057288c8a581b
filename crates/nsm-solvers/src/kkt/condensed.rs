//! Elimination of the saddle-point system after local constraints have been eliminated in their [clusters](super::clusters).
//!
//! In a cluster with rows $G^\prime = (G^\prime_B\ G^\prime_N)$, $G^\prime_B$ square and regular, and likewise $G$,
//! $$ x = \begin{pmatrix} G_B^{\prime -1} b \cr 0 \end{pmatrix} + P^\prime y, \qquad
//!    P^\prime = \begin{pmatrix} -G_B^{\prime -1}G^\prime_N \cr I \end{pmatrix}, \qquad P^\top G^\top = 0 , $$
//! so that $P^\top A P^\prime y = P^\top(f - A x_b)$ is left, a narrow band for beams, together with the global rows;
//! then $\lambda = G_B^{-\top}(f - Ax)_B$. A rigid body or a node of a beam with its twelve coordinates
//! and six rows leaves six unknowns instead of eighteen.
//!
//! Columns $B$ are chosen by pivoting in $G^\prime$. Where rows are left out, or a cluster or what is left is singular, the
//! system is eliminated as a whole.

use super::KktPattern;
use super::clusters::Clusters;
use super::full::Full;
use super::layout::{Block, Layout, Piece};
use crate::error::LinearError;
use crate::linear_system::{LinearSystem, Structure};
use crate::small::{axpy, dot};

/// Sizes of clusters that are tried.
const LIMITS: [usize; 2] = [12, 24];
/// A pivot of a cluster below this share of its row sends the system to the whole elimination.
const WEAK: f64 = 1e-5;
/// A pivot may be smaller than the largest by this factor.
const NEARLY: f64 = 0.9;
#[derive(Debug, Clone)]
pub(super) struct Condensed {
    symmetric: bool,
    clusters: Clusters,
    /// Whether the last factorisation was condensed, or of the whole.
    local: bool,
    full: Full,
    /// $(G_B^{-1}\ \ G_B^{-1}G_N)$ of every cluster, from `spans[c]` on, for $G$ and $G^\prime$; local entries come to `slots`.
    upper: Vec<f64>,
    lower: Vec<f64>,
    spans: Vec<usize>,
    slots: Vec<(usize, usize)>,
    scratch: Vec<f64>,
    /// Place of every unknown in the pivot order of its cluster, and the unknowns in that order.
    pivoted: Vec<usize>,
    order: Vec<usize>,
    blocks: Vec<Block>,
    /// Blocks $(A_B\ \ A_N - A_B G_B^{\prime -1}G^\prime_N)$ in pivot order.
    a: Vec<f64>,
    /// Start and width of the block of every entry of $A$, row and column; mirror images follow.
    places: Vec<(usize, usize, usize, usize)>,
    mirrored: Vec<usize>,
    /// Where these entries come in the pivot order `placed`.
    targets: Vec<usize>,
    placed: Vec<usize>,
    /// Global rows, cluster by cluster, $(G_B\ \ G_N - G_B\ldots)$ in pivot order.
    pieces: Vec<Piece>,
    global_upper: Vec<f64>,
    global_lower: Vec<f64>,
    global_slots: Vec<(usize, usize, usize)>,
    /// First reduced unknown of every cluster; then global rows.
    first: Vec<usize>,
    reduced: LinearSystem,
    values: Vec<f64>,
    rhs: Vec<f64>,
    /// $x_b$ and $f - A x_b$, in pivot order.
    offset: Vec<f64>,
    force: Vec<f64>,
}

impl Condensed {
    /// The condensed elimination, if it is worth it.
    pub(super) fn new(pattern: &KktPattern<'_>) -> Result<Option<Self>, LinearError> {
        if pattern.rows == 0 {
            return Ok(None);
        }
        let whole = Full::cost(pattern)?;
        let mut best: Option<(f64, Layout)> = None;
        for limit in LIMITS {
            let layout = Layout::new(pattern, Clusters::new(pattern, limit));
            let estimate = layout.cost()?;
            if estimate < best.as_ref().map_or(whole, |b| b.0) {
                best = Some((estimate, layout));
            }
        }
        match best {
            Some((_, layout)) => Self::with_layout(pattern, layout).map(Some),
            None => Ok(None),
        }
    }

    fn with_layout(pattern: &KktPattern<'_>, layout: Layout) -> Result<Self, LinearError> {
        let Layout { clusters, blocks, pieces, first, size, entries, positive, a, global } = layout;
        let n = pattern.unknowns;
        let mut spans = vec![0];
        for c in 0..clusters.count() {
            let (n, m) = clusters.size(c);
            spans.push(spans[c] + n * m);
        }
        let mut local_place = vec![None; pattern.rows];
        for c in 0..clusters.count() {
            let rows = &clusters.rows[clusters.row_starts[c]..clusters.row_starts[c + 1]];
            for (at, &row) in rows.iter().enumerate() {
                local_place[row] = Some(spans[c] + at * clusters.size(c).0);
            }
        }
        let (mut slots, mut global_slots) = (Vec::new(), Vec::new());
        for (e, &(row, k)) in pattern.gradients.iter().enumerate() {
            if let Some(start) = local_place[row] {
                slots.push((e, start + clusters.place[k]));
            } else {
                let key = (clusters.global.partition_point(|&r| r < row), clusters.of[k]);
                let at = pieces.partition_point(|p| (p.global, p.cluster) < key);
                global_slots.push((e, pieces[at].start, k));
            }
        }
        let block_of = |i: usize, j: usize| {
            let key = (clusters.of[i], clusters.of[j]);
            let at = blocks.partition_point(|b| (b.row, b.column) < key);
            (blocks[at].start, clusters.size(key.1).0, i, j)
        };
        let mut places: Vec<_> = pattern.block.iter().map(|&(i, j)| block_of(i, j)).collect();
        let mut mirrored = Vec::new();
        if pattern.symmetric {
            for (e, &(i, j)) in pattern.block.iter().enumerate().filter(|(_, (i, j))| i != j) {
                places.push(block_of(j, i));
                mirrored.push(e);
            }
        }
        let structure = if positive { Structure::PositiveDefinite } else { Structure::General };
        Ok(Self {
            symmetric: pattern.symmetric,
            local: false,
            full: Full::new(pattern)?,
            upper: vec![0.0; spans[clusters.count()]],
            lower: vec![0.0; spans[clusters.count()]],
            scratch: vec![0.0; n],
            spans,
            slots,
            pivoted: vec![0; n],
            order: vec![0; n],
            blocks,
            a: vec![0.0; a],
            targets: vec![0; places.len()],
            placed: vec![usize::MAX; n],
            places,
            mirrored,
            pieces,
            global_upper: vec![0.0; global],
            global_lower: vec![0.0; global],
            global_slots,
            first,
            reduced: LinearSystem::new(size, &entries, structure)?,
            values: vec![0.0; entries.len()],
            rhs: vec![0.0; size],
            offset: vec![0.0; n],
            force: vec![0.0; n],
            clusters,
        })
    }

    /// The system that is left, or the whole if the last factorisation needed it.
    pub(super) fn system(&self) -> &LinearSystem {
        if self.local { &self.reduced } else { self.full.system() }
    }

    pub(super) fn factorise(
        &mut self,
        a: &[f64],
        g: &[f64],
        g_lower: &[f64],
        c: &[f64],
        dropped: &[bool],
    ) -> Result<(), LinearError> {
        let local_compliance = self.clusters.rows.iter().any(|&row| c[row] != 0.0);
        self.local = dropped.is_empty()
            && !local_compliance
            && self.eliminate_local(g, g_lower)
            && self.condense(a, g, g_lower, c).is_ok();
        if self.local { Ok(()) } else { self.full.factorise(a, g, g_lower, c, dropped) }
    }

    /// Eliminates the local rows of every cluster; whether all are regular.
    fn eliminate_local(&mut self, g: &[f64], g_lower: &[f64]) -> bool {
        self.lower.fill(0.0);
        for &(e, slot) in &self.slots {
            self.lower[slot] += g_lower[e];
        }
        if !self.symmetric {
            self.upper.fill(0.0);
            for &(e, slot) in &self.slots {
                self.upper[slot] += g[e];
            }
        }
        for c in 0..self.clusters.count() {
            let (n, m) = self.clusters.size(c);
            let members = self.clusters.starts[c]..self.clusters.starts[c + 1];
            let order = &mut self.order[members.clone()];
            order.iter_mut().enumerate().for_each(|(at, o)| *o = at);
            let lower = &mut self.lower[self.spans[c]..self.spans[c + 1]];
            if !exchange(n, m, lower, |k, row| {
                // Symmetry makes entries equal up to rounding: of such, always the same is taken.
                let largest = row[k..].iter().fold(0.0_f64, |l, v| l.max(v.abs()));
                let p = (k..n).find(|&j| row[j].abs() >= NEARLY * largest).unwrap_or(k);
                order.swap(k, p);
                p
            }) {
                return false;
            }
            if m > 0 && !self.symmetric {
                let upper = &mut self.upper[self.spans[c]..self.spans[c + 1]];
                for row in upper.chunks_exact_mut(n) {
                    self.scratch[..n].copy_from_slice(row);
                    row.iter_mut().zip(&*order).for_each(|(v, &at)| *v = self.scratch[at]);
                }
                if !exchange(n, m, upper, |k, _| k) {
                    return false;
                }
            }
            for (at, o) in order.iter_mut().enumerate() {
                *o = self.clusters.members[members.start + *o];
                self.pivoted[*o] = at;
            }
        }
        if self.symmetric {
            self.upper.copy_from_slice(&self.lower);
        }
        true
    }

    /// Forms and factorises what is left.
    fn condense(
        &mut self,
        a: &[f64],
        g: &[f64],
        g_lower: &[f64],
        c: &[f64],
    ) -> Result<(), LinearError> {
        if self.placed != self.order {
            for (target, &(start, width, i, j)) in self.targets.iter_mut().zip(&self.places) {
                *target = start + self.pivoted[i] * width + self.pivoted[j];
            }
            self.placed.copy_from_slice(&self.order);
        }
        self.a.fill(0.0);
        let (direct, mirror) = self.targets.split_at(a.len());
        for (&target, v) in direct.iter().zip(a) {
            self.a[target] += v;
        }
        for (&target, &e) in mirror.iter().zip(&self.mirrored) {
            self.a[target] += a[e];
        }
        let positive = self.symmetric && self.clusters.global.is_empty();
        for block in &self.blocks {
            let ((rows, m), (width, k)) =
                (self.clusters.size(block.row), self.clusters.size(block.column));
            let right = &self.lower[self.spans[block.column]..];
            let entries = &mut self.a[block.start..][..rows * width];
            for row in entries.chunks_exact_mut(width) {
                eliminate(row, k, right);
            }
            let Some(value) = block.value else { continue };
            let left = &self.upper[self.spans[block.row]..];
            let (dependent, free) = entries.split_at(m * width);
            let rest = width - k;
            // Of a diagonal block of a symmetric system the lower triangle is wanted.
            let triangle = positive && block.row == block.column;
            let mut at = value;
            for (i, row) in free.chunks_exact(width).enumerate() {
                let wanted = if triangle { i + 1 } else { rest };
                let out = &mut self.values[at..at + wanted];
                out.copy_from_slice(&row[k..k + wanted]);
                for (r, row) in dependent.chunks_exact(width).enumerate() {
                    let factor = left[r * rows + m + i];
                    if factor != 0.0 {
                        axpy(-factor, &row[k..k + wanted], out);
                    }
                }
                at += wanted;
            }
        }
        self.condense_global(g, g_lower, c);
        self.reduced.factorise(&self.values)
    }

    fn condense_global(&mut self, g: &[f64], g_lower: &[f64], c: &[f64]) {
        self.global_upper.fill(0.0);
        self.global_lower.fill(0.0);
        for &(e, start, k) in &self.global_slots {
            let at = start + self.pivoted[k];
            self.global_upper[at] += g[e];
            self.global_lower[at] += g_lower[e];
        }
        for piece in &self.pieces {
            let (n, m) = self.clusters.size(piece.cluster);
            let span = self.spans[piece.cluster];
            let lower = &mut self.global_lower[piece.start..][..n];
            eliminate(lower, m, &self.lower[span..]);
            let upper = &mut self.global_upper[piece.start..][..n];
            eliminate(upper, m, &self.upper[span..]);
            let (columns, rows) = self.values[piece.value..][..2 * (n - m)].split_at_mut(n - m);
            columns.copy_from_slice(&upper[m..]);
            rows.copy_from_slice(&lower[m..]);
        }
        let diagonal = self.values.len() - self.clusters.global.len();
        for (v, &row) in self.values[diagonal..].iter_mut().zip(&self.clusters.global) {
            *v = -c[row];
        }
    }

    pub(super) fn solve(
        &mut self,
        f: &[f64],
        b: &[f64],
        dropped: &[bool],
        x: &mut [f64],
        lambda: &mut [f64],
    ) -> Result<(), LinearError> {
        if !self.local {
            return self.full.solve(f, b, dropped, x, lambda);
        }
        self.offset_of(b);
        for (t, &k) in self.force.iter_mut().zip(&self.order) {
            *t = f[k];
        }
        for block in &self.blocks {
            let ((rows, _), (width, k)) =
                (self.clusters.size(block.row), self.clusters.size(block.column));
            let offset = &self.offset[self.clusters.starts[block.column]..][..k];
            let force = &mut self.force[self.clusters.starts[block.row]..][..rows];
            let entries = self.a[block.start..][..rows * width].chunks_exact(width);
            for (t, row) in force.iter_mut().zip(entries) {
                *t -= dot(&row[..k], offset);
            }
        }
        let global = self.first[self.clusters.count()];
        for c in 0..self.clusters.count() {
            let (n, m) = self.clusters.size(c);
            let (dependent, free) = self.force[self.clusters.starts[c]..][..n].split_at(m);
            let rhs = &mut self.rhs[self.first[c]..self.first[c + 1]];
            rhs.copy_from_slice(free);
            for (r, t) in dependent.iter().enumerate() {
                axpy(-t, &self.upper[self.spans[c] + r * n + m..][..n - m], rhs);
            }
        }
        for (r, &row) in self.rhs[global..].iter_mut().zip(&self.clusters.global) {
            *r = b[row];
        }
        for piece in &self.pieces {
            let m = self.clusters.size(piece.cluster).1;
            let offset = &self.offset[self.clusters.starts[piece.cluster]..][..m];
            self.rhs[global + piece.global] -= dot(&self.global_lower[piece.start..][..m], offset);
        }
        self.reduced.solve_in_place(&mut self.rhs)?;
        self.recover(x, lambda);
        Ok(())
    }

    /// $x_b$, dependent part first.
    fn offset_of(&mut self, b: &[f64]) {
        self.offset.fill(0.0);
        for c in 0..self.clusters.count() {
            let (n, m) = self.clusters.size(c);
            let rows = &self.clusters.rows[self.clusters.row_starts[c]..][..m];
            let offset = &mut self.offset[self.clusters.starts[c]..][..m];
            for (i, o) in offset.iter_mut().enumerate() {
                let inverse = &self.lower[self.spans[c] + i * n..][..m];
                *o = inverse.iter().zip(rows).map(|(v, &row)| v * b[row]).sum();
            }
        }
    }

    /// Unknowns and multipliers from the solution of what is left.
    fn recover(&mut self, x: &mut [f64], lambda: &mut [f64]) {
        let global = self.first[self.clusters.count()];
        for block in &self.blocks {
            let (m, (width, k)) =
                (self.clusters.size(block.row).1, self.clusters.size(block.column));
            let y = &self.rhs[self.first[block.column]..self.first[block.column + 1]];
            let force = &mut self.force[self.clusters.starts[block.row]..][..m];
            let entries = self.a[block.start..][..m * width].chunks_exact(width);
            for (t, row) in force.iter_mut().zip(entries) {
                *t -= dot(&row[k..], y);
            }
        }
        for (at, &row) in self.clusters.global.iter().enumerate() {
            lambda[row] = self.rhs[global + at];
        }
        for piece in &self.pieces {
            let m = self.clusters.size(piece.cluster).1;
            let force = &mut self.force[self.clusters.starts[piece.cluster]..][..m];
            axpy(-self.rhs[global + piece.global], &self.global_upper[piece.start..][..m], force);
        }
        for c in 0..self.clusters.count() {
            let (n, m) = self.clusters.size(c);
            let start = self.clusters.starts[c];
            let y = &self.rhs[self.first[c]..self.first[c + 1]];
            let order = &self.order[start..start + n];
            for (i, &k) in order[..m].iter().enumerate() {
                let row = &self.lower[self.spans[c] + i * n + m..][..n - m];
                x[k] = self.offset[start + i] - dot(row, y);
            }
            for (&k, y) in order[m..].iter().zip(y) {
                x[k] = *y;
            }
            let rows = &self.clusters.rows[self.clusters.row_starts[c]..][..m];
            for (at, &row) in rows.iter().enumerate() {
                let column = self.upper[self.spans[c]..].iter().skip(at).step_by(n.max(1));
                let force = &self.force[start..start + m];
                lambda[row] = column.zip(force).map(|(v, t)| v * t).sum();
            }
        }
    }
}

/// Exchanges the rows of an $m \times n$ matrix against the columns that `choose` (step, row) names, by Gauss–Jordan steps in
/// place: $(G_B\ G_N) \to (G_B^{-1}\ \ G_B^{-1}G_N)$. Whether all pivots are strong.
fn exchange(
    n: usize,
    m: usize,
    matrix: &mut [f64],
    mut choose: impl FnMut(usize, &[f64]) -> usize,
) -> bool {
    for k in 0..m {
        let (head, tail) = matrix.split_at_mut(k * n);
        let (row, tail) = tail.split_at_mut(n);
        let p = choose(k, row);
        row.swap(k, p);
        // Elimination leaves the slack columns 0..k of a row unbounded only if an earlier pivot was weak.
        let size = row.iter().fold(0.0_f64, |s, v| s.max(v.abs()));
        let pivot = row[k];
        if !(pivot.abs() > WEAK * size && size.is_finite()) {
            return false;
        }
        let reciprocal = 1.0 / pivot;
        row[k] = 1.0;
        for v in row.iter_mut() {
            *v *= reciprocal;
        }
        for other in head.chunks_exact_mut(n).chain(tail.chunks_exact_mut(n)) {
            other.swap(k, p);
            let factor = other[k];
            if factor != 0.0 {
                other[k] = 0.0;
                axpy(-factor, row, other);
            }
        }
    }
    true
}

/// $(v_B\ v_N) \to (v_B\ \ v_N - v_B S)$ with $S$ in the last columns of `matrix`, which has `m` rows as long as `row`.
fn eliminate(row: &mut [f64], m: usize, matrix: &[f64]) {
    let n = row.len();
    let (dependent, free) = row.split_at_mut(m);
    for (v, line) in dependent.iter().zip(matrix.chunks_exact(n.max(1))) {
        // Blocks of a mass are mostly empty.
        if *v != 0.0 {
            axpy(-v, &line[m..], free);
        }
    }
}
