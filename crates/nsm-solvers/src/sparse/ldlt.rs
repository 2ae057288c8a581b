//! Sparse $LDL^\top$ of symmetric quasi-definite matrices with static regularisation; where all pivots
//! are to be positive, $LL^\top$.
//!
//! A saddle-point matrix with a zero block has no $LDL^\top$ without pivoting in general, but
//! $K_\delta = K + \delta \mathrm{diag}(s)$ has, where $s_i = \pm 1$ is the sign of the $i$th pivot
//! and $\delta$ is small against the matrix, which is first scaled symmetrically so that the largest
//! entry of every row is about one. The regularised factor is a preconditioner: refinement
//! $x \leftarrow x + K_\delta^{-1} (b - Kx)$ removes the error, one step for a regular $K$.
//!
//! For a singular, consistent system this is the proximal point iteration: started from zero with a
//! symmetric $K$ it converges to a solution, and redundant multipliers share the load.

use std::sync::Arc;

use faer::dyn_stack::StackReq;
use faer::linalg::cholesky::ldlt::factor::LdltError;
use faer::linalg::cholesky::llt::factor::LltError;
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, LdltRef, LltRef, SymbolicCholesky, SymmetricOrdering,
    factorize_symbolic_cholesky,
};
use faer::{Conj, MatMut, Par, Side};

use super::{SparseMatrix, SparsePattern};
use crate::error::{LinearError, expect_finite, expect_len};
use crate::memory::Memory;
use crate::refine::probe_vector;
use crate::small::norm_inf;

/// Accuracy of a refined solve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LdltReport {
    /// $\lVert b - Kx\rVert_\infty / (\lVert x\rVert_\infty + \lVert b\rVert_\infty)$ of the scaled system.
    pub residual: f64,
    /// Refinement steps taken.
    pub refinements: usize,
}

/// Sparse symmetric factorisation with its workspace.
#[derive(Debug, Clone)]
pub struct SparseLdlt {
    /// Lower triangle, diagonal always present, without regularisation.
    matrix: SparseMatrix,
    regularised: SparseMatrix,
    diagonal: Vec<usize>,
    signs: Vec<f64>,
    /// All signs are positive: the factor is Cholesky's, and definiteness is checked.
    positive: bool,
    symbolic: Arc<SymbolicCholesky<usize>>,
    factor: Vec<f64>,
    rhs: Vec<f64>,
    residual: Vec<f64>,
    best: Vec<f64>,
    memory: Memory,
    /// Symmetric scaling by powers of two.
    scale: Vec<f64>,
    row_max: Vec<f64>,
    delta: f64,
    factorised: bool,
}

impl SparseLdlt {
    /// Analyses the pattern of a symmetric matrix.
    ///
    /// `entries` name each position once, in either triangle (a pair given in both triangles would
    /// count twice). `signs[i]` is the sign of pivot `i`: `1` for definite rows, `-1` for constraint rows.
    pub fn new(entries: &[(usize, usize)], signs: &[i8]) -> Result<Self, LinearError> {
        let n = signs.len();
        // The diagonal comes last so that declared entries keep their places.
        let lower: Vec<(usize, usize)> = entries
            .iter()
            .map(|&(i, j)| (i.max(j), i.min(j)))
            .chain((0..n).map(|i| (i, i)))
            .collect();
        let pattern = SparsePattern::new(n, n, &lower)?;
        let diagonal = pattern.slots()[entries.len()..].to_vec();
        let matrix = SparseMatrix::zeros(pattern);
        let symbolic = factorize_symbolic_cholesky(
            matrix.view().symbolic(),
            Side::Lower,
            SymmetricOrdering::Amd,
            CholeskySymbolicParams::default(),
        )
        .map_err(|_| LinearError::Memory)?;
        let request = StackReq::any_of(&[
            symbolic.factorize_numeric_ldlt_scratch::<f64>(Par::Seq, faer::prelude::default()),
            symbolic.factorize_numeric_llt_scratch::<f64>(Par::Seq, faer::prelude::default()),
            symbolic.solve_in_place_scratch::<f64>(1, Par::Seq),
        ]);
        Ok(Self {
            regularised: matrix.clone(),
            matrix,
            diagonal,
            positive: signs.iter().all(|&s| s > 0),
            signs: signs.iter().map(|&s| f64::from(s)).collect(),
            factor: vec![0.0; symbolic.len_val()],
            symbolic: Arc::new(symbolic),
            rhs: vec![0.0; n],
            residual: vec![0.0; n],
            best: vec![0.0; n],
            memory: Memory::new(request),
            scale: vec![1.0; n],
            row_max: vec![0.0; n],
            delta: 0.0,
            factorised: false,
        })
    }

    /// Number of unknowns.
    pub fn size(&self) -> usize {
        self.signs.len()
    }

    /// Whether all pivots are to be positive.
    pub fn is_positive(&self) -> bool {
        self.positive
    }

    /// Factorises the matrix with the given values, in the order in which positions were declared.
    ///
    /// `regularisation` is $\delta$ for the scaled matrix; `1e-9` is a good choice.
    pub fn factor(&mut self, entries: &[f64], regularisation: f64) -> Result<(), LinearError> {
        self.factorised = false;
        self.matrix.set_leading(entries, self.diagonal.len())?;
        expect_finite("matrix value", self.matrix.values())?;
        self.equilibrate();
        self.delta = regularisation;
        self.regularised.values_mut().copy_from_slice(self.matrix.values());
        for (&slot, sign) in self.diagonal.iter().zip(&self.signs) {
            self.regularised.values_mut()[slot] += self.delta * sign;
        }
        if self.positive {
            let result = self.symbolic.factorize_numeric_llt(
                &mut self.factor,
                self.regularised.view(),
                Side::Lower,
                faer::prelude::default(),
                Par::Seq,
                self.memory.stack(),
                faer::prelude::default(),
            );
            if let Err(LltError::NonPositivePivot { index }) = result.map(|_| ()) {
                let pivot = self.original(index);
                return Err(LinearError::NotPositiveDefinite { pivot, value: 0.0, threshold: 0.0 });
            }
        } else {
            let result = self.symbolic.factorize_numeric_ldlt(
                &mut self.factor,
                self.regularised.view(),
                Side::Lower,
                faer::prelude::default(),
                Par::Seq,
                self.memory.stack(),
                faer::prelude::default(),
            );
            if let Err(LdltError::ZeroPivot { index }) = result.map(|_| ()) {
                return Err(LinearError::Singular {
                    pivot: self.original(index),
                    value: 0.0,
                    threshold: self.delta,
                });
            }
        }
        self.factorised = true;
        Ok(())
    }

    /// Two sweeps of $d_i \leftarrow d_i / \sqrt{\max_j |d_i k_{ij} d_j|}$ [Ruiz 2001], in powers of two.
    fn equilibrate(&mut self) {
        self.scale.fill(1.0);
        for _ in 0..2 {
            self.row_max.fill(0.0);
            for j in 0..self.scale.len() {
                let (rows, values) = self.matrix.column(j);
                for (&i, v) in rows.iter().zip(values) {
                    let size = v.abs() * self.scale[i] * self.scale[j];
                    self.row_max[i] = self.row_max[i].max(size);
                    self.row_max[j] = self.row_max[j].max(size);
                }
            }
            for (d, largest) in self.scale.iter_mut().zip(&self.row_max) {
                if *largest > 0.0 {
                    *d *= (-0.5 * largest.log2()).round().exp2();
                }
            }
        }
        let (pattern, values) = self.matrix.parts_mut();
        let (starts, rows) = (pattern.column_starts(), pattern.row_indices());
        for (j, d) in self.scale.iter().enumerate() {
            let range = starts[j]..starts[j + 1];
            for (v, &i) in values[range.clone()].iter_mut().zip(&rows[range]) {
                *v *= d * self.scale[i];
            }
        }
    }

    /// Replaces `self.residual` by its solution with the regularised factor.
    fn solve_regularised(&mut self) {
        let n = self.size();
        let rhs = MatMut::from_column_major_slice_mut(&mut self.residual, n, 1);
        let stack = self.memory.stack();
        if self.positive {
            let factor = LltRef::new(&self.symbolic, &self.factor);
            factor.solve_in_place_with_conj(Conj::No, rhs, Par::Seq, stack);
        } else {
            let factor = LdltRef::new(&self.symbolic, &self.factor);
            factor.solve_in_place_with_conj(Conj::No, rhs, Par::Seq, stack);
        }
    }

    /// Rejects a singular matrix, which the regularised factor hides.
    ///
    /// A fixed vector is almost never in the range of a singular $K$: the solution then has size
    /// $1/\delta$, and each refinement adds as much again instead of correcting it.
    pub fn reject_singular(&mut self, tolerance: f64) -> Result<(), LinearError> {
        self.residual.iter_mut().zip(probe_vector()).for_each(|(r, s)| *r = s);
        self.rhs.copy_from_slice(&self.residual);
        self.solve_regularised();
        let growth = norm_inf(&self.residual);
        if growth * self.delta.max(tolerance) < 1e-3 {
            return Ok(());
        }
        self.best.copy_from_slice(&self.residual);
        self.residual.copy_from_slice(&self.rhs);
        self.matrix.multiply_symmetric_add(-1.0, &self.best, &mut self.residual);
        self.solve_regularised();
        let correction = norm_inf(&self.residual);
        if correction <= 0.1 * growth && growth * tolerance < 1.0 {
            return Ok(());
        }
        self.factorised = false;
        let size =
            |i: usize| if self.best[i].is_nan() { f64::INFINITY } else { self.best[i].abs() };
        let pivot = (0..self.size()).max_by(|&i, &j| size(i).total_cmp(&size(j))).unwrap_or(0);
        let (value, threshold) = (1.0 / growth, self.delta.max(tolerance));
        Err(if self.positive {
            LinearError::NotPositiveDefinite { pivot, value, threshold }
        } else {
            LinearError::Singular { pivot, value, threshold }
        })
    }

    /// Solves $Kx = b$ in place with at most `max_refinements` refinement steps.
    ///
    /// Stops as soon as the scaled residual is below `tolerance`, and fails with
    /// [`LinearError::Inaccurate`] if it never is; `b` then holds the best solution found.
    pub fn solve_in_place(
        &mut self,
        b: &mut [f64],
        tolerance: f64,
        max_refinements: usize,
    ) -> Result<LdltReport, LinearError> {
        expect_len("right-hand side", b.len(), self.size())?;
        if !self.factorised {
            return Err(LinearError::NotFactorised);
        }
        b.iter_mut().zip(&self.scale).for_each(|(b, d)| *b *= d);
        self.rhs.copy_from_slice(b);
        self.residual.copy_from_slice(b);
        b.fill(0.0);
        let scale = norm_inf(&self.rhs);
        let mut best = f64::INFINITY;
        let mut refinements = 0;
        loop {
            self.solve_regularised();
            b.iter_mut().zip(&self.residual).for_each(|(x, d)| *x += d);
            self.residual.copy_from_slice(&self.rhs);
            self.matrix.multiply_symmetric_add(-1.0, b, &mut self.residual);
            // Entries of the scaled matrix are at most about one.
            let denominator = (norm_inf(b) + scale).max(f64::MIN_POSITIVE);
            let residual = norm_inf(&self.residual) / denominator;
            if residual < best {
                best = residual;
                self.best.copy_from_slice(b);
            }
            if best <= tolerance || refinements == max_refinements {
                break;
            }
            refinements += 1;
        }
        for ((b, x), d) in b.iter_mut().zip(&self.best).zip(&self.scale) {
            *b = x * d;
        }
        if best <= tolerance {
            Ok(LdltReport { residual: best, refinements })
        } else if best.is_finite() {
            Err(LinearError::Inaccurate { residual: best, refinements })
        } else {
            Err(LinearError::NotFinite { what: "solution", index: 0 })
        }
    }

    /// The unknown eliminated in step `k`.
    fn original(&self, k: usize) -> usize {
        self.symbolic.perm().map_or(k, |p| p.arrays().0.get(k).copied().unwrap_or(k))
    }
}
