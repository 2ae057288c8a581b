//! What is remembered of a sparse pattern: the order of its rows, its envelope, its bands.

use super::columns::{Columns, Storage};
use super::envelope::{EnvelopeFactor, SymmetricSparse};
use super::interior::{InteriorPoint, Outcome, SparseFactor, SparsePsd};

use super::supernodal::SupernodalFactor;

/// Dense Cholesky runs about this many times faster per multiplication than the envelope one.
const DENSE_ADVANTAGE: f64 = 8.0;

/// Dense arrays with fewer non-zeros than one in this many are treated as sparse.
const SPARSE: usize = 8;

/// The non-zeros of a dense array.
#[derive(Debug, Default)]
pub(crate) struct Extracted {
    col_ptr: Vec<usize>,
    row_idx: Vec<usize>,
    values: Vec<f64>,
}

impl Extracted {
    /// The matrix in compressed columns, if that pays.
    pub(crate) fn fill<'a>(&'a mut self, matrix: &Columns<'_>) -> Option<Columns<'a>> {
        let Storage::Dense(m) = matrix.storage else {
            return None;
        };
        let n = matrix.n;
        let limit = n * n / SPARSE;
        self.col_ptr.clear();
        self.row_idx.clear();
        self.values.clear();
        self.col_ptr.push(0);
        for j in 0..n {
            for (i, &v) in m[j * n..(j + 1) * n].iter().enumerate() {
                if v != 0.0 {
                    self.row_idx.push(i);
                    self.values.push(v);
                }
            }
            // Give up early where the first columns are full.
            if self.values.len() > limit || self.values.len() > (j + 1) * n / 2 + 4 * n {
                return None;
            }
            self.col_ptr.push(self.values.len());
        }
        Some(Columns::sparse(n, &self.col_ptr, &self.row_idx, &self.values))
    }
}

/// Envelopes up to this many multiplications are never worth another analysis.
const NARROW: f64 = 5e5;

/// The supernodal factor runs about this many times faster per multiplication than the envelope one.
const SUPERNODAL_ADVANTAGE: f64 = 3.0;

/// Orders beyond this are not written out densely.
const LARGEST_DENSE: usize = 4000;

/// The factor that suits the pattern, and its work in multiplications of the envelope kind.
fn choose(matrix: SymmetricSparse) -> (f64, Option<SparsePsd>) {
    if matrix.work > NARROW
        && let Some(factor) = SupernodalFactor::new(&matrix)
    {
        let work = factor.work() / SUPERNODAL_ADVANTAGE;
        if work < matrix.work {
            return (
                work,
                Some(SparsePsd { matrix, factor: SparseFactor::Supernodal(Box::new(factor)) }),
            );
        }
    }
    let factor = SparseFactor::Envelope(EnvelopeFactor::new(&matrix));
    (matrix.work, Some(SparsePsd { matrix, factor }))
}

/// Rebuilt whenever a matrix with another pattern arrives.
#[derive(Debug, Default)]
pub(crate) struct SparseMemory {
    col_ptr: Vec<usize>,
    row_idx: Vec<usize>,
    system: Option<SparsePsd>,
    work: f64,
    q: Vec<f64>,
    diagonal: Vec<f64>,
    off: Vec<f64>,
}

impl SparseMemory {
    /// Whether a sparse factorisation is better than a dense one for this matrix; remembers its pattern.
    pub(crate) fn prefers_sparse(&mut self, matrix: &Columns<'_>) -> bool {
        let Storage::Sparse { col_ptr, row_idx, .. } = matrix.storage else {
            return false;
        };
        let n = matrix.n;
        if self.system.is_none() || self.col_ptr != col_ptr || self.row_idx != row_idx {
            (self.work, self.system) = choose(SymmetricSparse::new(n, col_ptr, row_idx));
            self.col_ptr = col_ptr.to_vec();
            self.row_idx = row_idx.to_vec();
            self.q = vec![0.0; n];
        }
        let size = n as f64;
        let dense = size * size * size / 6.0 / DENSE_ADVANTAGE;
        self.work < dense || n > LARGEST_DENSE
    }

    /// The interior-point method in the order of the envelope; the point is left in `z`,
    /// that on the path in `direction`.
    pub(crate) fn interior_point(
        &mut self,
        matrix: &Columns<'_>,
        q: &[f64],
        interior: &mut InteriorPoint,
        tolerance: f64,
        z: &mut [f64],
        direction: &mut [f64],
    ) -> Outcome {
        let (Some(system), Storage::Sparse { values, .. }) = (&mut self.system, matrix.storage)
        else {
            return Outcome::Breakdown { iterations: 0 };
        };
        system.matrix.load(values);
        for (k, &i) in system.matrix.order.iter().enumerate() {
            self.q[k] = q[i];
        }
        let outcome = interior.run(system, &self.q, tolerance);
        for (k, &i) in system.matrix.order.iter().enumerate() {
            z[i] = interior.best[k];
            direction[i] = interior.direction()[k];
        }
        match outcome {
            Outcome::Infeasible { index } => {
                Outcome::Infeasible { index: system.matrix.order[index] }
            }
            other => other,
        }
    }

    /// Diagonal and first sub-diagonal.
    pub(crate) fn bands(&mut self, matrix: &Columns<'_>) -> (&[f64], &[f64]) {
        let n = matrix.n;
        self.diagonal.resize(n, 0.0);
        self.off.resize(n.saturating_sub(1), 0.0);
        match matrix.storage {
            Storage::Dense(m) => {
                for j in 0..n {
                    self.diagonal[j] = m[j * (n + 1)];
                    if j + 1 < n {
                        self.off[j] = m[j * n + j + 1];
                    }
                }
            }
            Storage::Sparse { col_ptr, row_idx, values } => {
                self.diagonal.fill(0.0);
                self.off.fill(0.0);
                for j in 0..n {
                    for k in col_ptr[j]..col_ptr[j + 1] {
                        if row_idx[k] == j {
                            self.diagonal[j] += values[k];
                        } else if row_idx[k] == j + 1 {
                            self.off[j] += values[k];
                        }
                    }
                }
            }
        }
        (&self.diagonal, &self.off)
    }
}
