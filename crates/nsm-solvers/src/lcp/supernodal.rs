//! Sparse Cholesky with a fill-reducing order, for patterns whose envelope is wide.
//!
//! Contacts in a three-dimensional pile are no chain: their envelope grows with the cross-section.
//! Here rows are ordered by approximate minimum degree and the factor is supernodal. The symbolic
//! part is done once for the whole pattern; a principal submatrix $M_{AA}$ is factored in place of the whole
//! by replacing the other rows and columns with those of the identity.

use faer::dyn_stack::StackReq;
use faer::prelude::default;
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, LltRef, SymbolicCholesky, SymmetricOrdering,
    factorize_symbolic_cholesky,
};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Conj, MatMut, Par, Side};

use super::envelope::SymmetricSparse;
use crate::memory::Memory;

/// The factor of one pattern, with all its memory.
#[derive(Debug)]
pub(crate) struct SupernodalFactor {
    symbolic: SymbolicCholesky<usize>,
    /// Upper triangle by columns, the diagonal entry last in each.
    col_ptr: Vec<usize>,
    row_idx: Vec<usize>,
    values: Vec<f64>,
    member: Vec<bool>,
    factor: Vec<f64>,
    rhs: Vec<f64>,
    memory: Memory,
}

impl SupernodalFactor {
    /// None when the pattern is too large to analyse.
    pub(crate) fn new(m: &SymmetricSparse) -> Option<Self> {
        let n = m.n;
        let mut col_ptr = Vec::with_capacity(n + 1);
        let mut row_idx = Vec::with_capacity(m.columns.len() + n);
        col_ptr.push(0);
        for r in 0..n {
            row_idx.extend_from_slice(&m.columns[m.row_start[r]..m.row_start[r + 1]]);
            row_idx.push(r);
            col_ptr.push(row_idx.len());
        }
        let pattern = SymbolicSparseColMatRef::new_checked(n, n, &col_ptr, None, &row_idx);
        let symbolic = factorize_symbolic_cholesky(
            pattern,
            Side::Upper,
            SymmetricOrdering::Amd,
            CholeskySymbolicParams::default(),
        )
        .ok()?;
        let request = StackReq::any_of(&[
            symbolic.factorize_numeric_llt_scratch::<f64>(Par::Seq, default()),
            symbolic.solve_in_place_scratch::<f64>(1, Par::Seq),
        ]);
        Some(Self {
            values: vec![0.0; row_idx.len()],
            factor: vec![0.0; symbolic.len_val()],
            symbolic,
            col_ptr,
            row_idx,
            member: vec![false; n],
            rhs: vec![0.0; n],
            memory: Memory::new(request),
        })
    }

    /// Multiplications that factoring the whole matrix takes, roughly.
    pub(crate) fn work(&self) -> f64 {
        let entries = self.symbolic.len_val() as f64;
        0.5 * entries * entries / (self.rhs.len().max(1) as f64)
    }

    /// Factors $M_{AA} + \mathrm{diag}(s_A)$; false when it is not positive definite.
    pub(crate) fn factor(&mut self, m: &SymmetricSparse, member: &[bool], shift: &[f64]) -> bool {
        let n = m.n;
        self.member.copy_from_slice(member);
        for r in 0..n {
            let (from, to) = (m.row_start[r], m.row_start[r + 1]);
            let begin = self.col_ptr[r];
            for k in from..to {
                let inside = member[r] && member[m.columns[k]];
                self.values[begin + k - from] = if inside { m.values[k] } else { 0.0 };
            }
            self.values[self.col_ptr[r + 1] - 1] =
                if member[r] { m.diagonal[r] + shift[r] } else { 1.0 };
        }
        let pattern =
            SymbolicSparseColMatRef::new_checked(n, n, &self.col_ptr, None, &self.row_idx);
        let outcome = self.symbolic.factorize_numeric_llt(
            &mut self.factor,
            SparseColMatRef::new(pattern, &self.values),
            Side::Upper,
            default(),
            Par::Seq,
            self.memory.stack(),
            default(),
        );
        outcome.is_ok()
    }

    /// Solves for the rows in the set, the others stay as they are.
    pub(crate) fn solve(&mut self, x: &mut [f64]) {
        let n = x.len();
        for i in 0..n {
            self.rhs[i] = if self.member[i] { x[i] } else { 0.0 };
        }
        LltRef::new(&self.symbolic, &self.factor).solve_in_place_with_conj(
            Conj::No,
            MatMut::from_column_major_slice_mut(&mut self.rhs, n, 1),
            Par::Seq,
            self.memory.stack(),
        );
        for i in 0..n {
            if self.member[i] {
                x[i] = self.rhs[i];
            }
        }
    }
}
