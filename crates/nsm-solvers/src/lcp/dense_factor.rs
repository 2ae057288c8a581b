//! Dense factorisations of principal submatrices, in memory allocated once.

use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::linalg::{cholesky, lu};
use faer::prelude::default;
use faer::{Conj, Mat, MatMut, Par};

/// $LL^\top$ of $M_{AA} + \mathrm{diag}(s_A)$.
pub(crate) struct DenseCholesky {
    factor: Mat<f64>,
    rhs: Vec<f64>,
    rows: Vec<usize>,
    memory: MemBuffer,
}

impl core::fmt::Debug for DenseCholesky {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("DenseCholesky").field("order", &self.factor.nrows()).finish_non_exhaustive()
    }
}

impl DenseCholesky {
    pub(crate) fn new(n: usize) -> Self {
        let request = StackReq::any_of(&[
            cholesky::llt::factor::cholesky_in_place_scratch::<f64>(n, Par::Seq, default()),
            cholesky::llt::solve::solve_in_place_scratch::<f64>(n, 1, Par::Seq),
        ]);
        Self {
            factor: Mat::zeros(n, n),
            rhs: vec![0.0; n],
            rows: Vec::with_capacity(n),
            memory: MemBuffer::new(request),
        }
    }

    /// Factors the rows for which `member` holds; false when the submatrix is not positive definite.
    pub(crate) fn factor(
        &mut self,
        n: usize,
        m: &[f64],
        member: impl Fn(usize) -> bool,
        shift: impl Fn(usize) -> f64,
    ) -> bool {
        self.rows.clear();
        self.rows.extend((0..n).filter(|&i| member(i)));
        let k = self.rows.len();
        for (c, &j) in self.rows.iter().enumerate() {
            let source = &m[j * n..(j + 1) * n];
            let target = self.factor.col_as_slice_mut(c);
            for r in c..k {
                target[r] = source[self.rows[r]];
            }
            target[c] += shift(j);
        }
        let block = self.factor.as_mut().submatrix_mut(0, 0, k, k);
        let stack = MemStack::new(&mut self.memory);
        let outcome =
            cholesky::llt::factor::cholesky_in_place(block, default(), Par::Seq, stack, default());
        // faer may accept NaN pivots.
        outcome.is_ok() && (0..k).all(|c| self.factor[(c, c)].is_finite())
    }

    /// Solves for the rows in the set, the others stay as they are.
    pub(crate) fn solve(&mut self, x: &mut [f64]) {
        let k = self.rows.len();
        for (p, &i) in self.rows.iter().enumerate() {
            self.rhs[p] = x[i];
        }
        let block = self.factor.as_ref().submatrix(0, 0, k, k);
        let rhs = MatMut::from_column_major_slice_mut(&mut self.rhs[..k], k, 1);
        let stack = MemStack::new(&mut self.memory);
        cholesky::llt::solve::solve_in_place_with_conj(block, Conj::No, rhs, Par::Seq, stack);
        for (p, &i) in self.rows.iter().enumerate() {
            x[i] = self.rhs[p];
        }
    }
}

/// $PA = LU$ of a principal submatrix or of a matrix written column by column.
pub(crate) struct DenseLu {
    factor: Mat<f64>,
    perm: Vec<usize>,
    perm_inverse: Vec<usize>,
    rhs: Vec<f64>,
    rows: Vec<usize>,
    memory: MemBuffer,
}

impl core::fmt::Debug for DenseLu {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("DenseLu").field("order", &self.factor.nrows()).finish_non_exhaustive()
    }
}

impl DenseLu {
    pub(crate) fn new(n: usize) -> Self {
        let request = StackReq::any_of(&[
            lu::partial_pivoting::factor::lu_in_place_scratch::<usize, f64>(
                n,
                n,
                Par::Seq,
                default(),
            ),
            lu::partial_pivoting::solve::solve_in_place_scratch::<usize, f64>(n, 1, Par::Seq),
        ]);
        Self {
            factor: Mat::zeros(n, n),
            perm: vec![0; n],
            perm_inverse: vec![0; n],
            rhs: vec![0.0; n],
            rows: Vec::with_capacity(n),
            memory: MemBuffer::new(request),
        }
    }

    /// Factors and solves $A_{SS} x_S = b_S$ in one go, where `column(j, out)` writes column `j` of
    /// the whole matrix at the rows given; false when the answer is not finite.
    pub(crate) fn solve(
        &mut self,
        n: usize,
        member: impl Fn(usize) -> bool,
        entry: impl Fn(usize, usize) -> f64,
        x: &mut [f64],
    ) -> bool {
        self.rows.clear();
        self.rows.extend((0..n).filter(|&i| member(i)));
        let k = self.rows.len();
        if k == 0 {
            return true;
        }
        for (c, &j) in self.rows.iter().enumerate() {
            let target = self.factor.col_as_slice_mut(c);
            for r in 0..k {
                target[r] = entry(self.rows[r], j);
            }
        }
        for (p, &i) in self.rows.iter().enumerate() {
            self.rhs[p] = x[i];
        }
        let stack = MemStack::new(&mut self.memory);
        let mut block = self.factor.as_mut().submatrix_mut(0, 0, k, k);
        let (_, permutation) = lu::partial_pivoting::factor::lu_in_place(
            block.as_mut(),
            &mut self.perm[..k],
            &mut self.perm_inverse[..k],
            Par::Seq,
            stack,
            default(),
        );
        let (mut least, mut largest) = (f64::INFINITY, 0.0_f64);
        for c in 0..k {
            let pivot = block[(c, c)].abs();
            least = least.min(pivot);
            largest = largest.max(pivot);
        }
        if least.is_nan() || least <= f64::EPSILON * 1e-2 * largest {
            return false;
        }
        let rhs = MatMut::from_column_major_slice_mut(&mut self.rhs[..k], k, 1);
        lu::partial_pivoting::solve::solve_in_place_with_conj(
            block.as_ref(),
            block.as_ref(),
            permutation,
            Conj::No,
            rhs,
            Par::Seq,
            stack,
        );
        if self.rhs[..k].iter().any(|v| !v.is_finite()) {
            return false;
        }
        for (p, &i) in self.rows.iter().enumerate() {
            x[i] = self.rhs[p];
        }
        true
    }
}
