//! Sparse LU with the symbolic part reused.
//!
//! faer reports neither zero nor tiny pivots, so the matrix is equilibrated, $B = D_r A D_c$ with powers
//! of two such that the largest entry of every row and column lies in $[1, 2)$ or nearly so, and after
//! the factorisation $B y = s$ is solved for a fixed vector: $\lVert y\rVert_\infty$ beyond
//! $1/\tau$ means that $B$ is within $\tau$ of a singular matrix.

use std::sync::Arc;

use faer::dyn_stack::StackReq;
use faer::sparse::linalg::LuError;
use faer::sparse::linalg::lu::{
    LuRef, LuSymbolicParams, NumericLu, SymbolicLu, factorize_symbolic_lu,
};
use faer::{Conj, MatMut, Par};

use super::{SparseMatrix, SparsePattern};
use crate::error::{LinearError, expect_finite, expect_len};
use crate::memory::Memory;
use crate::refine::probe_vector;
use crate::small::norm_inf;

/// Sparse LU factorisation with its workspace.
///
/// The first factorisation sizes the numeric factor; later ones allocate only where other pivots than
/// before produce more fill than before.
#[derive(Debug, Clone)]
pub struct SparseLu {
    matrix: SparseMatrix,
    symbolic: Arc<SymbolicLu<usize>>,
    numeric: NumericLu<usize, f64>,
    row_scale: Vec<f64>,
    column_scale: Vec<f64>,
    scratch: Vec<f64>,
    memory: Memory,
    factorised: bool,
}

impl SparseLu {
    /// Analyses the pattern of an `n` × `n` matrix given by positions, duplicates allowed.
    pub fn new(n: usize, entries: &[(usize, usize)]) -> Result<Self, LinearError> {
        let matrix = SparseMatrix::zeros(SparsePattern::new(n, n, entries)?);
        let symbolic = factorize_symbolic_lu(matrix.view().symbolic(), LuSymbolicParams::default())
            .map_err(|_| LinearError::Memory)?;
        let request = StackReq::any_of(&[
            symbolic.factorize_numeric_lu_scratch::<f64>(Par::Seq, faer::prelude::default()),
            symbolic.solve_in_place_scratch::<f64>(1, Par::Seq),
            symbolic.solve_transpose_in_place_scratch::<f64>(1, Par::Seq),
        ]);
        Ok(Self {
            matrix,
            symbolic: Arc::new(symbolic),
            numeric: NumericLu::new(),
            row_scale: vec![1.0; n],
            column_scale: vec![1.0; n],
            scratch: vec![0.0; n],
            memory: Memory::new(request),
            factorised: false,
        })
    }

    /// Number of unknowns.
    pub fn size(&self) -> usize {
        self.row_scale.len()
    }

    /// Factorises the matrix with the given values, in the order in which positions were declared.
    ///
    /// `tolerance` is the reciprocal condition, after equilibration, that counts as singular.
    pub fn factor(&mut self, entries: &[f64], tolerance: f64) -> Result<(), LinearError> {
        self.factorised = false;
        self.matrix.set(entries)?;
        expect_finite("matrix value", self.matrix.values())?;
        self.equilibrate();
        let result = self.symbolic.factorize_numeric_lu(
            &mut self.numeric,
            self.matrix.view(),
            Par::Seq,
            self.memory.stack(),
            faer::prelude::default(),
        );
        match result.map(|_| ()) {
            Ok(()) => {}
            Err(LuError::SymbolicSingular { index }) => {
                return Err(LinearError::Singular {
                    pivot: index,
                    value: 0.0,
                    threshold: tolerance,
                });
            }
            Err(LuError::Generic(_)) => return Err(LinearError::Memory),
        }
        self.probe(tolerance)?;
        self.factorised = true;
        Ok(())
    }

    /// Scales rows, then columns, by powers of two, which rounds nothing.
    fn equilibrate(&mut self) {
        let (pattern, values) = self.matrix.parts_mut();
        let (starts, rows) = (pattern.column_starts(), pattern.row_indices());
        self.row_scale.fill(0.0);
        for (&i, v) in rows.iter().zip(&*values) {
            self.row_scale[i] = self.row_scale[i].max(v.abs());
        }
        self.row_scale.iter_mut().for_each(|s| *s = reciprocal_power(*s));
        for (j, scale) in self.column_scale.iter_mut().enumerate() {
            let range = starts[j]..starts[j + 1];
            let mut largest = 0.0_f64;
            for (v, &i) in values[range.clone()].iter_mut().zip(&rows[range.clone()]) {
                *v *= self.row_scale[i];
                largest = largest.max(v.abs());
            }
            *scale = reciprocal_power(largest);
            values[range].iter_mut().for_each(|v| *v *= *scale);
        }
    }

    /// Rejects a factor that magnifies a fixed right-hand side beyond `1 / tolerance`.
    fn probe(&mut self, tolerance: f64) -> Result<(), LinearError> {
        self.scratch.iter_mut().zip(probe_vector()).for_each(|(v, s)| *v = s);
        let n = self.scratch.len();
        LuRef::new_unchecked(&self.symbolic, &self.numeric).solve_in_place_with_conj(
            Conj::No,
            MatMut::from_column_major_slice_mut(&mut self.scratch, n, 1),
            Par::Seq,
            self.memory.stack(),
        );
        let growth = norm_inf(&self.scratch);
        if growth.is_finite() && growth * tolerance < 1.0 {
            return Ok(());
        }
        let size = |v: &f64| if v.is_nan() { f64::INFINITY } else { v.abs() };
        let culprit =
            (0..n).max_by(|&i, &j| size(&self.scratch[i]).total_cmp(&size(&self.scratch[j])));
        let value = if growth.is_finite() { 1.0 / growth } else { 0.0 };
        Err(LinearError::Singular { pivot: culprit.unwrap_or(0), value, threshold: tolerance })
    }

    /// Solves $Ax = b$ in place.
    pub fn solve_in_place(&mut self, b: &mut [f64]) -> Result<(), LinearError> {
        let n = self.expect(b)?;
        b.iter_mut().zip(&self.row_scale).for_each(|(b, s)| *b *= s);
        LuRef::new_unchecked(&self.symbolic, &self.numeric).solve_in_place_with_conj(
            Conj::No,
            MatMut::from_column_major_slice_mut(b, n, 1),
            Par::Seq,
            self.memory.stack(),
        );
        b.iter_mut().zip(&self.column_scale).for_each(|(b, s)| *b *= s);
        Ok(())
    }

    /// Solves $A^\top x = b$ in place.
    pub fn solve_transposed_in_place(&mut self, b: &mut [f64]) -> Result<(), LinearError> {
        let n = self.expect(b)?;
        b.iter_mut().zip(&self.column_scale).for_each(|(b, s)| *b *= s);
        LuRef::new_unchecked(&self.symbolic, &self.numeric).solve_transpose_in_place_with_conj(
            Conj::No,
            MatMut::from_column_major_slice_mut(b, n, 1),
            Par::Seq,
            self.memory.stack(),
        );
        b.iter_mut().zip(&self.row_scale).for_each(|(b, s)| *b *= s);
        Ok(())
    }

    fn expect(&self, b: &[f64]) -> Result<usize, LinearError> {
        expect_len("right-hand side", b.len(), self.size())?;
        if self.factorised { Ok(b.len()) } else { Err(LinearError::NotFactorised) }
    }
}

/// The power of two nearest below $1 / x$, or one for a zero row.
fn reciprocal_power(x: f64) -> f64 {
    if x > 0.0 { (-x.log2().floor()).exp2() } else { 1.0 }
}
