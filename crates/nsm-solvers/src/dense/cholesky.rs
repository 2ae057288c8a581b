//! Cholesky factorisation of a symmetric positive definite matrix of any size.

use faer::linalg::cholesky::llt::factor as faer_llt;
use faer::{MatMut, Par};

use crate::error::{LinearError, expect_finite, expect_len};
use crate::memory::Memory;
use crate::small;

/// Largest matrix that is eliminated without blocks: half the work of other matrices, so that blocks pay off later than for these.
const UNBLOCKED: usize = 96;

/// Cholesky factorisation $A = LL^\top$ with its workspace.
///
/// Reads the lower triangle of a row-major matrix.
#[derive(Debug, Clone)]
pub struct DenseCholesky {
    n: usize,
    a: Vec<f64>,
    diagonal: Vec<f64>,
    memory: Memory,
    factorised: bool,
}

impl DenseCholesky {
    /// Workspace for `n` × `n` matrices.
    pub fn new(n: usize) -> Self {
        let large = if n > UNBLOCKED { n } else { 0 };
        let request =
            faer_llt::cholesky_in_place_scratch::<f64>(large, Par::Seq, faer::prelude::default());
        Self {
            n,
            a: vec![0.0; n * n],
            diagonal: vec![0.0; n],
            memory: Memory::new(request),
            factorised: false,
        }
    }

    /// Number of unknowns.
    pub fn size(&self) -> usize {
        self.n
    }

    /// Factorises a row-major matrix, of which the lower triangle is read.
    pub fn factor(&mut self, a: &[f64]) -> Result<(), LinearError> {
        expect_len("matrix", a.len(), self.n * self.n)?;
        self.a.copy_from_slice(a);
        self.factor_storage(small::tolerance(self.n))
    }

    /// The row-major matrix to be factorised, to be filled in place.
    pub(crate) fn storage(&mut self) -> &mut [f64] {
        &mut self.a
    }

    /// Factorises what was written into [`storage`](Self::storage).
    pub(crate) fn factor_storage(&mut self, tolerance: f64) -> Result<(), LinearError> {
        let n = self.n;
        self.factorised = false;
        if n <= UNBLOCKED {
            small::cholesky::factor(n, &mut self.a, tolerance)?;
        } else {
            for i in 0..n {
                expect_finite("matrix row", &self.a[i * n..=i * n + i])?;
                self.diagonal[i] = self.a[i * n + i];
            }
            // faer reads the lower triangle of a column-major matrix: ours, transposed, has its data
            // in the upper one.
            for i in 0..n {
                for j in 0..i {
                    self.a[j * n + i] = self.a[i * n + j];
                }
            }
            let result = faer_llt::cholesky_in_place(
                MatMut::from_column_major_slice_mut(&mut self.a, n, n),
                faer::prelude::default(),
                Par::Seq,
                self.memory.stack(),
                faer::prelude::default(),
            );
            let broken = result.err().map(|faer_llt::LltError::NonPositivePivot { index }| index);
            for k in 0..broken.unwrap_or(n) {
                let pivot = self.a[k * n + k] * self.a[k * n + k];
                let threshold = tolerance * self.diagonal[k];
                if pivot.is_nan() || pivot <= threshold {
                    return Err(LinearError::NotPositiveDefinite {
                        pivot: k,
                        value: pivot,
                        threshold,
                    });
                }
            }
            if let Some(pivot) = broken {
                let threshold = tolerance * self.diagonal[pivot].max(0.0);
                return Err(LinearError::NotPositiveDefinite {
                    pivot,
                    value: self.a[pivot * n + pivot],
                    threshold,
                });
            }
        }
        self.factorised = true;
        Ok(())
    }

    /// Solves $Ax = b$ in place.
    pub fn solve_in_place(&self, b: &mut [f64]) -> Result<(), LinearError> {
        let n = self.n;
        expect_len("right-hand side", b.len(), n)?;
        if !self.factorised {
            return Err(LinearError::NotFactorised);
        }
        if n <= UNBLOCKED {
            return small::cholesky::solve(n, &self.a, b);
        }
        // Column k of L lies along memory from its diagonal on.
        for k in 0..n {
            let column = &self.a[k * n + k..(k + 1) * n];
            let (x, below) = b[k..].split_at_mut(1);
            x[0] /= column[0];
            small::axpy(-x[0], &column[1..], below);
        }
        for k in (0..n).rev() {
            let column = &self.a[k * n + k..(k + 1) * n];
            b[k] = (b[k] - small::dot(&column[1..], &b[k + 1..])) / column[0];
        }
        Ok(())
    }
}
