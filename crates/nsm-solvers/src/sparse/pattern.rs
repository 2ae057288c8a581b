//! A fixed sparsity pattern and a matrix on it.

use faer::sparse::{SparseColMatRef, SymbolicSparseColMat};

use crate::error::{LinearError, expect_len};

/// Compressed columns, and for every declared entry the slot its value is added to.
#[derive(Debug, Clone)]
pub struct SparsePattern {
    symbolic: SymbolicSparseColMat<usize>,
    slots: Vec<usize>,
}

impl SparsePattern {
    /// Pattern of an `m` × `n` matrix from positions `(row, column)`, duplicates allowed.
    pub fn new(m: usize, n: usize, entries: &[(usize, usize)]) -> Result<Self, LinearError> {
        for &(i, j) in entries {
            if i >= m {
                return Err(LinearError::Index { what: "row", index: i, bound: m });
            }
            if j >= n {
                return Err(LinearError::Index { what: "column", index: j, bound: n });
            }
        }
        let mut sorted: Vec<usize> = (0..entries.len()).collect();
        sorted.sort_unstable_by_key(|&e| (entries[e].1, entries[e].0, e));
        let mut slots = vec![0; entries.len()];
        let mut rows = Vec::with_capacity(entries.len());
        let mut starts = vec![0; n + 1];
        let mut last = None;
        for e in sorted {
            let (i, j) = entries[e];
            if last != Some((i, j)) {
                rows.push(i);
                starts[j + 1] = rows.len();
                last = Some((i, j));
            }
            slots[e] = rows.len() - 1;
        }
        for j in 0..n {
            starts[j + 1] = starts[j + 1].max(starts[j]);
        }
        Ok(Self { symbolic: SymbolicSparseColMat::new_checked(m, n, starts, None, rows), slots })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.symbolic.nrows()
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.symbolic.ncols()
    }

    /// Number of declared entries.
    pub fn entries(&self) -> usize {
        self.slots.len()
    }

    /// Number of distinct positions.
    pub fn nonzeros(&self) -> usize {
        self.row_indices().len()
    }

    /// Start of every column in [`row_indices`](Self::row_indices), and the end.
    pub fn column_starts(&self) -> &[usize] {
        self.symbolic.col_ptr()
    }

    /// Row of every stored value, ascending within a column.
    pub fn row_indices(&self) -> &[usize] {
        self.symbolic.row_idx()
    }

    /// Slot of every declared entry among the stored values.
    pub fn slots(&self) -> &[usize] {
        &self.slots
    }

    /// Adds up the declared entries' values into the stored ones.
    pub fn gather(&self, entries: &[f64], values: &mut [f64]) -> Result<(), LinearError> {
        expect_len("entries", entries.len(), self.slots.len())?;
        expect_len("values", values.len(), self.nonzeros())?;
        values.fill(0.0);
        for (&slot, v) in self.slots.iter().zip(entries) {
            values[slot] += v;
        }
        Ok(())
    }

    pub(super) fn symbolic(&self) -> &SymbolicSparseColMat<usize> {
        &self.symbolic
    }
}

/// Values on a [`SparsePattern`].
///
/// ```
/// use nsm_solvers::sparse::{SparseMatrix, SparsePattern};
///
/// let pattern = SparsePattern::new(2, 2, &[(0, 0), (1, 1), (0, 1), (0, 0)])?;
/// let mut a = SparseMatrix::zeros(pattern);
/// a.set(&[1.0, 5.0, 3.0, 1.0])?;
/// let mut y = [0.0; 2];
/// a.multiply(&[1.0, 1.0], &mut y)?;
/// assert_eq!(y, [5.0, 5.0]);
/// # Ok::<(), nsm_solvers::LinearError>(())
/// ```
#[derive(Debug, Clone)]
pub struct SparseMatrix {
    pattern: SparsePattern,
    values: Vec<f64>,
}

impl SparseMatrix {
    /// Zero matrix on a pattern.
    pub fn zeros(pattern: SparsePattern) -> Self {
        let values = vec![0.0; pattern.nonzeros()];
        Self { pattern, values }
    }

    /// The pattern.
    pub fn pattern(&self) -> &SparsePattern {
        &self.pattern
    }

    /// Stored values, in the order of [`SparsePattern::row_indices`].
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Stored values, to be changed in place.
    pub fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    /// Sets all values from the declared entries; duplicates add.
    pub fn set(&mut self, entries: &[f64]) -> Result<(), LinearError> {
        self.pattern.gather(entries, &mut self.values)
    }

    /// Row indices and values of column `j`.
    ///
    /// # Panics
    /// If `j` is not a column.
    pub fn column(&self, j: usize) -> (&[usize], &[f64]) {
        let range = self.pattern.column_starts()[j]..self.pattern.column_starts()[j + 1];
        (&self.pattern.row_indices()[range.clone()], &self.values[range])
    }

    /// $y \leftarrow Ax$.
    pub fn multiply(&self, x: &[f64], y: &mut [f64]) -> Result<(), LinearError> {
        y.fill(0.0);
        self.multiply_add(1.0, x, y)
    }

    /// $y \leftarrow y + \alpha Ax$.
    pub fn multiply_add(&self, alpha: f64, x: &[f64], y: &mut [f64]) -> Result<(), LinearError> {
        expect_len("vector", x.len(), self.pattern.columns())?;
        expect_len("product", y.len(), self.pattern.rows())?;
        for (j, &x) in x.iter().enumerate() {
            let (rows, values) = self.column(j);
            for (&i, v) in rows.iter().zip(values) {
                y[i] += alpha * v * x;
            }
        }
        Ok(())
    }

    /// $y \leftarrow y + \alpha A^\top x$.
    pub fn multiply_transposed_add(
        &self,
        alpha: f64,
        x: &[f64],
        y: &mut [f64],
    ) -> Result<(), LinearError> {
        expect_len("vector", x.len(), self.pattern.rows())?;
        expect_len("product", y.len(), self.pattern.columns())?;
        for (j, y) in y.iter_mut().enumerate() {
            let (rows, values) = self.column(j);
            let sum: f64 = rows.iter().zip(values).map(|(&i, v)| v * x[i]).sum();
            *y += alpha * sum;
        }
        Ok(())
    }

    /// $\lVert A\rVert_1$, the largest absolute column sum.
    pub fn norm_1(&self) -> f64 {
        let column = |j| self.column(j).1.iter().map(|v| v.abs()).sum::<f64>();
        (0..self.pattern.columns()).map(column).fold(0.0, f64::max)
    }

    /// Like [`set`](Self::set), with zero for the last `trailing` declared entries.
    pub(super) fn set_leading(
        &mut self,
        entries: &[f64],
        trailing: usize,
    ) -> Result<(), LinearError> {
        expect_len("entries", entries.len(), self.pattern.slots.len().saturating_sub(trailing))?;
        self.values.fill(0.0);
        for (&slot, v) in self.pattern.slots.iter().zip(entries) {
            self.values[slot] += v;
        }
        Ok(())
    }

    /// $y \leftarrow y + \alpha (L + L^\top - \mathrm{diag} L) x$ where only the lower triangle is stored.
    pub(super) fn multiply_symmetric_add(&self, alpha: f64, x: &[f64], y: &mut [f64]) {
        for j in 0..self.pattern.columns() {
            let (rows, values) = self.column(j);
            let mut sum = 0.0;
            for (&i, v) in rows.iter().zip(values) {
                y[i] += alpha * v * x[j];
                if i != j {
                    sum += v * x[i];
                }
            }
            y[j] += alpha * sum;
        }
    }

    pub(super) fn parts_mut(&mut self) -> (&SparsePattern, &mut [f64]) {
        (&self.pattern, &mut self.values)
    }

    pub(super) fn view(&self) -> SparseColMatRef<'_, usize, f64> {
        SparseColMatRef::new(self.pattern.symbolic().as_ref(), &self.values)
    }
}
