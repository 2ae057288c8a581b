//! The matrix of a complementarity problem as the methods read it: column by column, dense or compressed.

/// A square matrix by its columns, borrowed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Columns<'a> {
    pub(crate) n: usize,
    pub(crate) storage: Storage<'a>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Storage<'a> {
    Dense(&'a [f64]),
    Sparse { col_ptr: &'a [usize], row_idx: &'a [usize], values: &'a [f64] },
}

/// How far a matrix is from its transpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Symmetry {
    /// Equal to the last bit.
    Exact,
    /// Equal up to rounding.
    Rounded,
    /// The entry in this row and column differs from its mirror image.
    None(usize, usize),
}

impl Symmetry {
    /// Whether the matrix is symmetric up to rounding.
    pub(crate) fn holds(self) -> bool {
        !matches!(self, Self::None(..))
    }
}

impl<'a> Columns<'a> {
    /// `n` × `n` entries, column by column.
    pub(crate) fn dense(n: usize, columns: &'a [f64]) -> Self {
        debug_assert_eq!(columns.len(), n * n);
        Self { n, storage: Storage::Dense(columns) }
    }

    /// Compressed columns that were checked before.
    pub(crate) fn sparse(
        n: usize,
        col_ptr: &'a [usize],
        row_idx: &'a [usize],
        values: &'a [f64],
    ) -> Self {
        Self { n, storage: Storage::Sparse { col_ptr, row_idx, values } }
    }

    /// The stored entries.
    pub(crate) fn values(&self) -> &'a [f64] {
        let (Storage::Dense(values) | Storage::Sparse { values, .. }) = self.storage;
        values
    }

    pub(crate) fn is_sparse(&self) -> bool {
        matches!(self.storage, Storage::Sparse { .. })
    }

    /// The `i`-th diagonal entry (zero out of range).
    pub(crate) fn diagonal(&self, i: usize) -> f64 {
        if i >= self.n {
            return 0.0;
        }
        match self.storage {
            Storage::Dense(m) => m[i * (self.n + 1)],
            Storage::Sparse { col_ptr, row_idx, values } => {
                (col_ptr[i]..col_ptr[i + 1]).filter(|&k| row_idx[k] == i).map(|k| values[k]).sum()
            }
        }
    }

    /// $y \leftarrow y + \alpha M_{:,j}$.
    #[inline]
    pub(crate) fn add_column(&self, j: usize, alpha: f64, y: &mut [f64]) {
        match self.storage {
            Storage::Dense(m) => {
                let column = &m[j * self.n..(j + 1) * self.n];
                for (y, m) in y.iter_mut().zip(column) {
                    *y += alpha * m;
                }
            }
            Storage::Sparse { col_ptr, row_idx, values } => {
                for k in col_ptr[j]..col_ptr[j + 1] {
                    y[row_idx[k]] += alpha * values[k];
                }
            }
        }
    }

    /// $w = Mz + q$, skipping the zeros of $z$.
    pub(crate) fn slack(&self, z: &[f64], q: &[f64], w: &mut [f64]) {
        w.copy_from_slice(q);
        let n = self.n;
        let Storage::Dense(m) = self.storage else {
            for (j, &zj) in z.iter().enumerate() {
                if zj != 0.0 {
                    self.add_column(j, zj, w);
                }
            }
            return;
        };
        // Four columns at a time: a quarter of the traffic through w.
        let mut pending = [(0, 0.0); 4];
        let mut count = 0;
        for (j, &zj) in z.iter().enumerate() {
            if zj != 0.0 {
                pending[count] = (j, zj);
                count += 1;
                if count == 4 {
                    let [a, b, c, d] = pending.map(|(j, _)| &m[j * n..(j + 1) * n]);
                    let [za, zb, zc, zd] = pending.map(|(_, z)| z);
                    for i in 0..n {
                        w[i] += (za * a[i] + zb * b[i]) + (zc * c[i] + zd * d[i]);
                    }
                    count = 0;
                }
            }
        }
        for &(j, zj) in &pending[..count] {
            self.add_column(j, zj, w);
        }
    }

    /// $w = Mz + q$ as if in twice the working precision, rounded once at the end.
    pub(crate) fn slack_compensated(&self, z: &[f64], q: &[f64], w: &mut [f64], low: &mut [f64]) {
        w.copy_from_slice(q);
        low.fill(0.0);
        let mut add = |i: usize, m: f64, z: f64| {
            let product = m * z;
            let sum = w[i] + product;
            let virtual_part = sum - w[i];
            let error = (w[i] - (sum - virtual_part)) + (product - virtual_part);
            low[i] += m.mul_add(z, -product) + error;
            w[i] = sum;
        };
        for (j, &zj) in z.iter().enumerate() {
            if zj == 0.0 {
                continue;
            }
            match self.storage {
                Storage::Dense(m) => {
                    for (i, &m) in m[j * self.n..(j + 1) * self.n].iter().enumerate() {
                        add(i, m, zj);
                    }
                }
                Storage::Sparse { col_ptr, row_idx, values } => {
                    for k in col_ptr[j]..col_ptr[j + 1] {
                        add(row_idx[k], values[k], zj);
                    }
                }
            }
        }
        for (w, low) in w.iter_mut().zip(low) {
            *w += *low;
        }
    }

    /// $\max_i \sum_j |M_{ij}| z_j$: the size of the terms that rounding in $Mz$ scales with.
    pub(crate) fn largest_term(&self, z: &[f64], sums: &mut [f64]) -> f64 {
        sums.fill(0.0);
        for j in 0..self.n {
            if z[j] != 0.0 {
                match self.storage {
                    Storage::Dense(m) => {
                        for (s, m) in sums.iter_mut().zip(&m[j * self.n..(j + 1) * self.n]) {
                            *s += (m * z[j]).abs();
                        }
                    }
                    Storage::Sparse { col_ptr, row_idx, values } => {
                        for k in col_ptr[j]..col_ptr[j + 1] {
                            sums[row_idx[k]] += (values[k] * z[j]).abs();
                        }
                    }
                }
            }
        }
        sums.iter().fold(0.0_f64, |m, s| m.max(*s))
    }

    /// Whether all entries lie on the diagonal and beside it, those beside it not positive.
    pub(crate) fn is_chain(&self) -> bool {
        self.find_not_chain().is_none()
    }

    /// The first column with an entry that no chain has.
    pub(crate) fn find_not_chain(&self) -> Option<usize> {
        let n = self.n;
        let fits =
            |i: usize, j: usize, v: f64| i == j || v == 0.0 || (v < 0.0 && i.abs_diff(j) == 1);
        (0..n).find(|&j| match self.storage {
            Storage::Dense(m) => {
                !m[j * n..(j + 1) * n].iter().enumerate().all(|(i, &v)| fits(i, j, v))
            }
            Storage::Sparse { col_ptr, row_idx, values } => {
                !(col_ptr[j]..col_ptr[j + 1]).all(|k| fits(row_idx[k], j, values[k]))
            }
        })
    }

    /// Calls `visit` with row, column and value of every stored entry.
    pub(crate) fn for_entries(&self, mut visit: impl FnMut(usize, usize, f64)) {
        for j in 0..self.n {
            match self.storage {
                Storage::Dense(m) => {
                    let column = m[j * self.n..(j + 1) * self.n].iter();
                    column.enumerate().for_each(|(i, &v)| visit(i, j, v));
                }
                Storage::Sparse { col_ptr, row_idx, values } => {
                    (col_ptr[j]..col_ptr[j + 1]).for_each(|k| visit(row_idx[k], j, values[k]));
                }
            }
        }
    }

    /// $y = M^\top x$.
    pub(crate) fn transpose_multiply(&self, x: &[f64], y: &mut [f64]) {
        for j in 0..self.n {
            y[j] = match self.storage {
                Storage::Dense(m) => {
                    m[j * self.n..(j + 1) * self.n].iter().zip(x).map(|(m, x)| m * x).sum()
                }
                Storage::Sparse { col_ptr, row_idx, values } => {
                    (col_ptr[j]..col_ptr[j + 1]).map(|k| values[k] * x[row_idx[k]]).sum()
                }
            };
        }
    }

    /// Writes the whole matrix out, column by column.
    pub(crate) fn write_dense(&self, out: &mut [f64]) {
        match self.storage {
            Storage::Dense(m) => out.copy_from_slice(m),
            Storage::Sparse { col_ptr, row_idx, values } => {
                out.fill(0.0);
                for j in 0..self.n {
                    for k in col_ptr[j]..col_ptr[j + 1] {
                        out[j * self.n + row_idx[k]] += values[k];
                    }
                }
            }
        }
    }

    /// Position of the first entry that is not finite.
    pub(crate) fn find_not_finite(&self) -> Option<usize> {
        let values = self.values();
        // A product with zero is NaN for every offender; the sum of them stays zero otherwise.
        let mut probe = [0.0; 4];
        let chunks = values.chunks_exact(4);
        let tail: f64 = chunks.remainder().iter().map(|v| v * 0.0).sum();
        for chunk in chunks {
            for k in 0..4 {
                probe[k] += chunk[k] * 0.0;
            }
        }
        let sum = probe.iter().sum::<f64>() + tail;
        if sum == 0.0 { None } else { values.iter().position(|v| !v.is_finite()) }
    }

    /// The first entry that is not exactly its mirror image.
    pub(crate) fn first_difference(&self) -> (usize, usize) {
        let mut found = (0, 0);
        self.for_entries(|i, j, v| {
            if found == (0, 0) && i != j && v != self.entry(j, i) {
                found = (i, j);
            }
        });
        found
    }

    fn entry(&self, i: usize, j: usize) -> f64 {
        match self.storage {
            Storage::Dense(m) => m[j * self.n + i],
            Storage::Sparse { col_ptr, row_idx, values } => {
                let column = col_ptr[j]..col_ptr[j + 1];
                column.filter(|&k| row_idx[k] == i).map(|k| values[k]).sum()
            }
        }
    }

    /// Compares the matrix with its transpose; small differences are rounding.
    pub(crate) fn symmetry(&self) -> Symmetry {
        let n = self.n;
        let differ = |a: f64, b: f64| (a - b).abs() > 1e-13 * (a.abs() + b.abs());
        let mut exact = true;
        match self.storage {
            Storage::Dense(m) => {
                // Tiles keep both sides of the diagonal in cache.
                const TILE: usize = 32;
                for j0 in (0..n).step_by(TILE) {
                    for i0 in (j0..n).step_by(TILE) {
                        for j in j0..(j0 + TILE).min(n) {
                            for i in i0.max(j + 1)..(i0 + TILE).min(n) {
                                let (a, b) = (m[j * n + i], m[i * n + j]);
                                exact &= a == b;
                                if differ(a, b) && differ_from(m, n, i, j) {
                                    return Symmetry::None(i, j);
                                }
                            }
                        }
                    }
                }
            }
            Storage::Sparse { col_ptr, row_idx, values } => {
                for j in 0..n {
                    for k in col_ptr[j]..col_ptr[j + 1] {
                        let i = row_idx[k];
                        let mirror: f64 = (col_ptr[i]..col_ptr[i + 1])
                            .filter(|&l| row_idx[l] == j)
                            .map(|l| values[l])
                            .sum();
                        if i != j {
                            exact &= values[k] == mirror;
                        }
                        if i != j
                            && differ(values[k], mirror)
                            && mirror_gap(self, i, j, values[k] - mirror)
                        {
                            return Symmetry::None(i, j);
                        }
                    }
                }
            }
        }
        if exact { Symmetry::Exact } else { Symmetry::Rounded }
    }
}

/// Whether the gap between mirror entries also exceeds rounding relative to the diagonal, as it
/// must for entries that cancel to almost zero.
fn differ_from(m: &[f64], n: usize, i: usize, j: usize) -> bool {
    let scale = (m[i * (n + 1)] * m[j * (n + 1)]).abs().sqrt();
    (m[j * n + i] - m[i * n + j]).abs() > 1e-14 * scale
}

fn mirror_gap(matrix: &Columns<'_>, i: usize, j: usize, gap: f64) -> bool {
    let scale = (matrix.diagonal(i) * matrix.diagonal(j)).abs().sqrt();
    gap.abs() > 1e-14 * scale
}
