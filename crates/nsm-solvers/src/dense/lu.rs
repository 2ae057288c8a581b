//! LU factorisation with partial pivoting of a square matrix of any size.

use std::sync::Once;

use faer::linalg::lu::partial_pivoting::factor as faer_lu;
use faer::linalg::triangular_solve as triangular;
use faer::{MatMut, MatRef, Par};

use super::SMALL;
use crate::error::{LinearError, expect_len};
use crate::memory::Memory;
use crate::refine::{inverse_norm_1, reciprocal_condition};
use crate::small;

/// LU factorisation with its workspace.
///
/// ```
/// use nsm_solvers::dense::DenseLu;
///
/// let mut lu = DenseLu::new(2);
/// lu.factor(&[0.0, 2.0, 1.0, 1.0])?;
/// let mut x = [4.0, 3.0];
/// lu.solve_in_place(&mut x)?;
/// assert_eq!(x, [1.0, 2.0]);
/// # Ok::<(), nsm_solvers::LinearError>(())
/// ```
#[derive(Debug, Clone)]
pub struct DenseLu {
    n: usize,
    /// The largest size that the memory was made for.
    largest: usize,
    /// Row-major with [`small::lu`], column-major with faer.
    a: Vec<f64>,
    /// Exchanges with [`small::lu`], the permutation with faer.
    pivots: Vec<usize>,
    inverse: Vec<usize>,
    scratch: Vec<f64>,
    memory: Memory,
    /// Whether the factor is that of $A^\top$: row-major data read by columns.
    transposed: bool,
    factorised: bool,
    weakest: f64,
}

impl DenseLu {
    /// Workspace for `n` × `n` matrices.
    pub fn new(n: usize) -> Self {
        // faer asks the system for the sizes of its caches, once: here and not in the first factorisation.
        static CACHES: Once = Once::new();
        if n > SMALL {
            CACHES.call_once(|| {
                let mut identity = Self::workspace(2 * SMALL);
                identity.a.iter_mut().step_by(2 * SMALL + 1).for_each(|a| *a = 1.0);
                identity.factor_stored(0.0).ok();
            });
        }
        Self::workspace(n)
    }

    fn workspace(n: usize) -> Self {
        let large = if n > SMALL { n } else { 0 };
        let request = faer_lu::lu_in_place_scratch::<usize, f64>(
            large,
            large,
            Par::Seq,
            faer::prelude::default(),
        );
        Self {
            n,
            largest: n,
            a: vec![0.0; n * n],
            pivots: vec![0; n],
            inverse: vec![0; large],
            scratch: vec![0.0; 3 * n],
            memory: Memory::new(request),
            transposed: false,
            factorised: false,
            weakest: f64::INFINITY,
        }
    }

    /// Takes another number of unknowns; memory grows only beyond the largest so far.
    pub fn set_size(&mut self, n: usize) {
        if n > self.largest {
            *self = Self::new(n);
        }
        self.n = n;
        self.a.resize(n * n, 0.0);
        self.pivots.resize(n, 0);
        self.inverse.resize(if n > SMALL { n } else { 0 }, 0);
        self.scratch.resize(3 * n, 0.0);
        self.factorised = false;
    }

    /// Number of unknowns.
    pub fn size(&self) -> usize {
        self.n
    }

    /// Factorises a row-major matrix with the default tolerance.
    pub fn factor(&mut self, a: &[f64]) -> Result<(), LinearError> {
        self.factor_with(a, small::tolerance(self.n))
    }

    /// Factorises a row-major matrix with a relative pivot tolerance as in [`crate::small`].
    pub fn factor_with(&mut self, a: &[f64], tolerance: f64) -> Result<(), LinearError> {
        expect_len("matrix", a.len(), self.n * self.n)?;
        self.a.copy_from_slice(a);
        self.transposed = self.n > SMALL;
        self.factor_stored(tolerance)
    }

    /// Where entry $(i, j)$ belongs in [`storage`](Self::storage).
    pub(crate) fn position(&self, i: usize, j: usize) -> usize {
        if self.n > SMALL { j * self.n + i } else { i * self.n + j }
    }

    /// The matrix to be factorised by [`factor_storage`](Self::factor_storage), to be filled in place.
    pub(crate) fn storage(&mut self) -> &mut [f64] {
        &mut self.a
    }

    /// Factorises what was written into [`storage`](Self::storage).
    pub(crate) fn factor_storage(&mut self, tolerance: f64) -> Result<(), LinearError> {
        self.transposed = false;
        self.factor_stored(tolerance)
    }

    fn factor_stored(&mut self, tolerance: f64) -> Result<(), LinearError> {
        let n = self.n;
        self.factorised = false;
        if n <= SMALL {
            self.weakest = small::lu::factor(n, &mut self.a, &mut self.pivots, tolerance)?;
        } else {
            let (rows, columns) = self.scratch[..2 * n].split_at_mut(n);
            // Vectors of the storage are columns of the matrix that faer sees.
            small::lu::scales(n, &self.a, columns, rows);
            faer_lu::lu_in_place(
                MatMut::from_column_major_slice_mut(&mut self.a, n, n),
                &mut self.pivots,
                &mut self.inverse,
                Par::Seq,
                self.memory.stack(),
                faer::prelude::default(),
            );
            self.weakest =
                check_pivots(n, &self.a, &self.pivots, &self.scratch[..2 * n], tolerance)?;
        }
        self.factorised = true;
        Ok(())
    }

    /// Smallest pivot of the last factorisation relative to the scale of its row and column.
    pub fn weakest_pivot(&self) -> f64 {
        self.weakest
    }

    /// Solves $Ax = b$ in place.
    pub fn solve_in_place(&mut self, b: &mut [f64]) -> Result<(), LinearError> {
        self.solve(self.transposed, b)
    }

    /// Solves $A^\top x = b$ in place.
    pub fn solve_transposed_in_place(&mut self, b: &mut [f64]) -> Result<(), LinearError> {
        self.solve(!self.transposed, b)
    }

    fn solve(&mut self, transposed: bool, b: &mut [f64]) -> Result<(), LinearError> {
        let n = self.n;
        expect_len("right-hand side", b.len(), n)?;
        if !self.factorised {
            return Err(LinearError::NotFactorised);
        }
        if n > SMALL {
            solve_large(n, &self.a, &self.pivots, &mut self.scratch[..n], transposed, b);
            return Ok(());
        }
        if transposed {
            small::lu::solve_transposed(n, &self.a, &self.pivots, b)
        } else {
            small::lu::solve(n, &self.a, &self.pivots, b)
        }
    }

    /// Estimate of the reciprocal condition number, given $\lVert A \rVert_1$ of the factorised matrix.
    pub fn rcond(&mut self, norm_1: f64) -> Result<f64, LinearError> {
        let n = self.n;
        if !self.factorised {
            return Err(LinearError::NotFactorised);
        }
        if n <= SMALL {
            return small::lu::rcond(n, &self.a, &self.pivots, norm_1, &mut self.scratch[..2 * n]);
        }
        let (work, scratch) = self.scratch.split_at_mut(2 * n);
        let (a, pivots, flip) = (&self.a, &self.pivots, self.transposed);
        let scratch = std::cell::RefCell::new(scratch);
        let inverse = inverse_norm_1(
            n,
            work,
            |x| {
                solve_large(n, a, pivots, &mut scratch.borrow_mut(), flip, x);
                Ok(())
            },
            |x| {
                solve_large(n, a, pivots, &mut scratch.borrow_mut(), !flip, x);
                Ok(())
            },
        )?;
        Ok(reciprocal_condition(n, norm_1, inverse))
    }
}

/// The pivot rule of [`crate::small`] on a column-major factor $L \backslash U$.
fn check_pivots(
    n: usize,
    a: &[f64],
    order: &[usize],
    scales: &[f64],
    tolerance: f64,
) -> Result<f64, LinearError> {
    let (rows, columns) = scales.split_at(n);
    let mut weakest = f64::INFINITY;
    for k in 0..n {
        let pivot = a[k * n + k];
        let scale = rows[order[k]] * columns[k];
        let threshold = tolerance * scale;
        if !pivot.is_finite() {
            return Err(LinearError::NotFinite { what: "pivot", index: k });
        }
        if pivot.abs() <= threshold {
            return Err(LinearError::Singular { pivot: k, value: pivot.abs(), threshold });
        }
        weakest = weakest.min(pivot.abs() / scale);
    }
    Ok(weakest)
}

/// Solves with the factor of a column-major matrix $B$, $PB = LU$, or with its transpose.
fn solve_large(
    n: usize,
    lu: &[f64],
    permutation: &[usize],
    scratch: &mut [f64],
    transposed: bool,
    b: &mut [f64],
) {
    let lu = MatRef::from_column_major_slice(lu, n, n);
    if transposed {
        scratch.copy_from_slice(b);
        let mut vector = MatMut::from_column_major_slice_mut(scratch, n, 1);
        triangular::solve_lower_triangular_in_place(lu.transpose(), vector.as_mut(), Par::Seq);
        triangular::solve_unit_upper_triangular_in_place(lu.transpose(), vector.as_mut(), Par::Seq);
        for (&x, &p) in scratch.iter().zip(permutation) {
            b[p] = x;
        }
    } else {
        for (x, &p) in scratch.iter_mut().zip(permutation) {
            *x = b[p];
        }
        let mut vector = MatMut::from_column_major_slice_mut(scratch, n, 1);
        triangular::solve_unit_lower_triangular_in_place(lu, vector.as_mut(), Par::Seq);
        triangular::solve_upper_triangular_in_place(lu, vector.as_mut(), Par::Seq);
        b.copy_from_slice(scratch);
    }
}
