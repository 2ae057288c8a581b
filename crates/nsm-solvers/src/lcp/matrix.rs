//! The matrix of a complementarity problem as the caller gives it: dense by rows, or compressed sparse columns.

use faer::sparse::SparseColMatRef;

use super::LcpError;
use super::columns::{Columns, Storage};

/// A square matrix, borrowed from the caller.
///
/// ```
/// use nsm_solvers::lcp::Matrix;
///
/// let rows = [
///     2.0, -1.0, //
///     -1.0, 2.0,
/// ];
/// let dense = Matrix::dense(2, &rows)?;
/// let sparse = Matrix::sparse(2, &[0, 1, 2], &[0, 1], &[1.0, 3.0])?;
/// assert_eq!((dense.order(), sparse.diagonal(1)), (2, 3.0));
/// # Ok::<(), nsm_solvers::lcp::LcpError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Matrix<'a> {
    /// Sparse: the matrix. Dense: its transpose, since rows read as columns are those of the transpose.
    view: Columns<'a>,
}

impl<'a> Matrix<'a> {
    /// `n` × `n` entries, row by row: entry $(i, j)$ is `rows[i * n + j]`.
    ///
    /// # Errors
    /// [`LcpError::Size`] when there are not `n * n` of them.
    pub fn dense(n: usize, rows: &'a [f64]) -> Result<Self, LcpError> {
        if rows.len() != n * n {
            return Err(LcpError::Size { what: "matrix", expected: n * n, found: rows.len() });
        }
        Ok(Self { view: Columns::dense(n, rows) })
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
        Ok(Self { view: Columns::sparse(n, col_ptr, row_idx, values) })
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
        self.view.n
    }

    /// The `i`-th diagonal entry (zero out of range).
    pub fn diagonal(&self, i: usize) -> f64 {
        self.view.diagonal(i)
    }

    /// Position of the first stored entry that is not finite.
    pub(crate) fn find_not_finite(&self) -> Option<usize> {
        self.view.find_not_finite()
    }

    /// Whether it is tridiagonal with couplings that are not positive.
    pub(crate) fn is_chain(&self) -> bool {
        self.view.is_chain()
    }

    /// What is stored, read as columns; and whether that is the transpose.
    pub(crate) fn stored(&self) -> (Columns<'a>, bool) {
        (self.view, matches!(self.view.storage, Storage::Dense(_)))
    }
}
