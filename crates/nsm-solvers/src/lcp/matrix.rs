//! The matrix of a complementarity problem, borrowed: dense by columns, or compressed sparse columns.

use faer::sparse::SparseColMatRef;

use super::LcpError;

/// A square matrix, borrowed from the caller.
///
/// ```
/// use nsm_solvers::lcp::Matrix;
///
/// let dense = Matrix::dense(2, &[2.0, -1.0, -1.0, 2.0])?;
/// let sparse = Matrix::sparse(2, &[0, 1, 2], &[0, 1], &[1.0, 3.0])?;
/// assert_eq!((dense.order(), sparse.diagonal(1)), (2, 3.0));
/// # Ok::<(), nsm_solvers::lcp::LcpError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Matrix<'a> {
    pub(crate) n: usize,
    pub(crate) storage: Storage<'a>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Storage<'a> {
    Dense(&'a [f64]),
    Sparse { col_ptr: &'a [usize], row_idx: &'a [usize], values: &'a [f64] },
}

impl<'a> Matrix<'a> {
    /// `n` × `n` entries, column by column.
    ///
    /// # Errors
    /// [`LcpError::Size`] when there are not `n * n` of them.
    pub fn dense(n: usize, columns: &'a [f64]) -> Result<Self, LcpError> {
        if columns.len() != n * n {
            return Err(LcpError::Size { what: "matrix", expected: n * n, found: columns.len() });
        }
        Ok(Self { n, storage: Storage::Dense(columns) })
    }

    /// Compressed columns: entries `col_ptr[j]..col_ptr[j + 1]` belong to column `j`.
    ///
    /// # Errors
    /// Lengths that disagree, pointers that fall, rows out of range.
    pub fn sparse(
        n: usize,
        col_ptr: &'a [usize],
        row_idx: &'a [usize],
        values: &'a [f64],
    ) -> Result<Self, LcpError> {
        if col_ptr.len() != n + 1 {
            return Err(LcpError::Size { what: "col_ptr", expected: n + 1, found: col_ptr.len() });
        }
        if values.len() != row_idx.len() {
            return Err(LcpError::Size {
                what: "values",
                expected: row_idx.len(),
                found: values.len(),
            });
        }
        for j in 0..n {
            let (begin, end) = (col_ptr[j], col_ptr[j + 1]);
            if begin > end || end > row_idx.len() || row_idx[begin..end].iter().any(|&i| i >= n) {
                return Err(LcpError::Pattern { column: j });
            }
        }
        if col_ptr[0] != 0 || col_ptr[n] != row_idx.len() {
            return Err(LcpError::Pattern { column: 0 });
        }
        Ok(Self { n, storage: Storage::Sparse { col_ptr, row_idx, values } })
    }

    /// A faer sparse matrix.
    ///
    /// # Errors
    /// [`LcpError::Size`] when the matrix is not square, [`LcpError::Pattern`] when it is not compressed.
    pub fn from_faer_sparse(matrix: SparseColMatRef<'a, usize, f64>) -> Result<Self, LcpError> {
        let n = matrix.nrows();
        if matrix.ncols() != n {
            return Err(LcpError::Size { what: "matrix", expected: n, found: matrix.ncols() });
        }
        Self::sparse(n, matrix.col_ptr(), matrix.row_idx(), matrix.val())
    }

    /// The number of rows and columns.
    pub fn order(&self) -> usize {
        self.n
    }

    pub(crate) fn is_sparse(&self) -> bool {
        matches!(self.storage, Storage::Sparse { .. })
    }

    /// The `i`-th diagonal entry (zero out of range).
    pub fn diagonal(&self, i: usize) -> f64 {
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
        let (Storage::Dense(values) | Storage::Sparse { values, .. }) = self.storage;
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

    /// The first pair of entries that differ from their mirror images by more than rounding.
    pub(crate) fn find_asymmetry(&self) -> Option<(usize, usize)> {
        let n = self.n;
        let differ = |a: f64, b: f64| (a - b).abs() > 1e-13 * (a.abs() + b.abs());
        match self.storage {
            Storage::Dense(m) => {
                // Tiles keep both sides of the diagonal in cache.
                const TILE: usize = 32;
                for j0 in (0..n).step_by(TILE) {
                    for i0 in (j0..n).step_by(TILE) {
                        for j in j0..(j0 + TILE).min(n) {
                            for i in i0.max(j + 1)..(i0 + TILE).min(n) {
                                if differ(m[j * n + i], m[i * n + j]) && differ_from(m, n, i, j) {
                                    return Some((i, j));
                                }
                            }
                        }
                    }
                }
                None
            }
            Storage::Sparse { col_ptr, row_idx, values } => {
                for j in 0..n {
                    for k in col_ptr[j]..col_ptr[j + 1] {
                        let i = row_idx[k];
                        let mirror: f64 = (col_ptr[i]..col_ptr[i + 1])
                            .filter(|&l| row_idx[l] == j)
                            .map(|l| values[l])
                            .sum();
                        if i != j
                            && differ(values[k], mirror)
                            && mirror_gap(self, i, j, values[k] - mirror)
                        {
                            return Some((i, j));
                        }
                    }
                }
                None
            }
        }
    }
}

/// Whether the gap between mirror entries also exceeds rounding relative to the diagonal, as it
/// must for entries that cancel to almost zero.
fn differ_from(m: &[f64], n: usize, i: usize, j: usize) -> bool {
    let scale = (m[i * (n + 1)] * m[j * (n + 1)]).abs().sqrt();
    (m[j * n + i] - m[i * n + j]).abs() > 1e-14 * scale
}

fn mirror_gap(matrix: &Matrix<'_>, i: usize, j: usize, gap: f64) -> bool {
    let scale = (matrix.diagonal(i) * matrix.diagonal(j)).abs().sqrt();
    gap.abs() > 1e-14 * scale
}
