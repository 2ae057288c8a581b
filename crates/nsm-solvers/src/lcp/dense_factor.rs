//! Dense factorisations of principal submatrices, in memory allocated once.

use faer::dyn_stack::StackReq;
use faer::linalg::{cholesky, lu};
use faer::perm::PermRef;
use faer::prelude::default;
use faer::{Conj, Mat, MatMut, Par};

use crate::memory::Memory;

/// $LL^\top$ of $M_{AA} + \mathrm{diag}(s_A)$.
#[derive(Debug)]
pub(crate) struct DenseCholesky {
    factor: Mat<f64>,
    rhs: Vec<f64>,
    rows: Vec<usize>,
    memory: Memory,
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
            memory: Memory::new(request),
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
        let stack = self.memory.stack();
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
        let stack = self.memory.stack();
        cholesky::llt::solve::solve_in_place_with_conj(block, Conj::No, rhs, Par::Seq, stack);
        for (p, &i) in self.rows.iter().enumerate() {
            x[i] = self.rhs[p];
        }
    }
}

/// $PA = LU$ of a principal submatrix or of a matrix written column by column.
#[derive(Debug)]
pub(crate) struct DenseLu {
    factor: Mat<f64>,
    perm: Vec<usize>,
    perm_inverse: Vec<usize>,
    rhs: Vec<f64>,
    rows: Vec<usize>,
    memory: Memory,
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
            memory: Memory::new(request),
        }
    }

    /// Factors the principal submatrix on the rows for which `member` holds; returns the ratio of its
    /// smallest pivot to its largest, zero when it is singular.
    pub(crate) fn factor(
        &mut self,
        n: usize,
        member: impl Fn(usize) -> bool,
        entry: impl Fn(usize, usize) -> f64,
    ) -> f64 {
        self.rows.clear();
        self.rows.extend((0..n).filter(|&i| member(i)));
        let k = self.rows.len();
        if k == 0 {
            return 1.0;
        }
        for (c, &j) in self.rows.iter().enumerate() {
            let target = self.factor.col_as_slice_mut(c);
            for r in 0..k {
                target[r] = entry(self.rows[r], j);
            }
        }
        let stack = self.memory.stack();
        let block = self.factor.as_mut().submatrix_mut(0, 0, k, k);
        lu::partial_pivoting::factor::lu_in_place(
            block,
            &mut self.perm[..k],
            &mut self.perm_inverse[..k],
            Par::Seq,
            stack,
            default(),
        );
        // faer factors singular matrices without complaint.
        let (mut least, mut largest) = (f64::INFINITY, 0.0_f64);
        for c in 0..k {
            let pivot = self.factor[(c, c)].abs();
            if pivot.is_nan() {
                return 0.0;
            }
            least = least.min(pivot);
            largest = largest.max(pivot);
        }
        if largest > 0.0 { least / largest } else { 0.0 }
    }

    /// Solves in place for one packed right-hand side (an entry per row of the submatrix).
    pub(crate) fn solve_packed(&mut self, rhs: &mut [f64]) {
        let k = self.rows.len();
        if k == 0 {
            return;
        }
        let block = self.factor.as_ref().submatrix(0, 0, k, k);
        let permutation = PermRef::new_checked(&self.perm[..k], &self.perm_inverse[..k], k);
        let stack = self.memory.stack();
        lu::partial_pivoting::solve::solve_in_place_with_conj(
            block,
            block,
            permutation,
            Conj::No,
            MatMut::from_column_major_slice_mut(&mut rhs[..k], k, 1),
            Par::Seq,
            stack,
        );
    }

    /// Factors and solves $A_{SS} x_S = b_S$; the other entries of `x` stay. False when the
    /// submatrix is singular or the answer not finite.
    pub(crate) fn solve(
        &mut self,
        n: usize,
        member: impl Fn(usize) -> bool,
        entry: impl Fn(usize, usize) -> f64,
        x: &mut [f64],
    ) -> bool {
        if self.factor(n, member, entry) <= 1e-2 * f64::EPSILON {
            return false;
        }
        let mut rhs = core::mem::take(&mut self.rhs);
        for (p, &i) in self.rows.iter().enumerate() {
            rhs[p] = x[i];
        }
        self.solve_packed(&mut rhs);
        let finite = rhs[..self.rows.len()].iter().all(|v| v.is_finite());
        if finite {
            for (p, &i) in self.rows.iter().enumerate() {
                x[i] = rhs[p];
            }
        }
        self.rhs = rhs;
        finite
    }
}
