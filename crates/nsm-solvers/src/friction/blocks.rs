//! Matrices with the block pattern of a friction problem, factorised: densely where they are small or full, sparsely otherwise.
//!
//! All methods solve with $W$ plus blocks of each contact, perhaps multiplied by such blocks: the pattern is that of $W$.

use super::FrictionProblem;
use crate::dense::DenseLu;
use crate::small;
use crate::sparse::SparseLu;

/// Unknowns up to which a factorisation on plain slices is as quick as any.
const SMALL: usize = 48;
/// Unknowns from which sparsity pays, if no more than this share of the blocks is there: of contacts, and of bodies, whose blocks are larger.
const SPARSE: [(usize, f64); 2] = [(150, 0.2), (60, 0.35)];

/// A factorisation, with its storage and the pattern that it was made for.
#[derive(Clone, Debug, Default)]
pub(super) struct BlockLu {
    m: usize,
    values: Vec<f64>,
    pivots: Vec<usize>,
    dense: Option<DenseLu>,
    sparse: Option<SparseLu>,
    /// Pattern of the sparse factorisation.
    starts: Vec<usize>,
    columns: Vec<usize>,
    is_sparse: bool,
}

/// Which square blocks a matrix has, row by row.
pub(super) struct Pattern<'p> {
    pub(super) size: usize,
    pub(super) starts: &'p [usize],
    pub(super) columns: &'p [usize],
}

impl BlockLu {
    /// Factorises the matrix whose block $(i, j)$ is `block(i, j, W_ij)`, in the pattern of the problem; whether that went well.
    pub(super) fn factor(
        &mut self,
        problem: &FrictionProblem,
        mut block: impl FnMut(usize, usize, &[f64; 9]) -> [f64; 9],
    ) -> bool {
        let pattern = Pattern { size: 3, starts: &problem.starts, columns: &problem.columns };
        self.factor_pattern(&pattern, |i, k, out| {
            out.copy_from_slice(&block(i, problem.columns[k], &problem.blocks[k]));
        })
    }

    /// Factorises a matrix of blocks; `fill(i, k, out)` writes block `k`, in row `i`.
    pub(super) fn factor_pattern(
        &mut self,
        pattern: &Pattern<'_>,
        mut fill: impl FnMut(usize, usize, &mut [f64]),
    ) -> bool {
        let (n, size) = (pattern.starts.len() - 1, pattern.size);
        self.m = size * n;
        let (m, area) = (self.m, size * size);
        let share = pattern.columns.len() as f64 / (n * n).max(1) as f64;
        let (from, density) = SPARSE[usize::from(size > 3)];
        self.is_sparse = m >= from && share <= density && self.prepare(pattern);
        self.values.clear();
        if self.is_sparse {
            self.values.resize(area * pattern.columns.len(), 0.0);
            for i in 0..n {
                for k in pattern.starts[i]..pattern.starts[i + 1] {
                    fill(i, k, &mut self.values[area * k..area * (k + 1)]);
                }
            }
            let Some(lu) = &mut self.sparse else { return false };
            return lu.factor(&self.values, 0.0).is_ok();
        }
        self.values.resize(m * m, 0.0);
        let mut block = [0.0; 36];
        for i in 0..n {
            for k in pattern.starts[i]..pattern.starts[i + 1] {
                let j = pattern.columns[k];
                fill(i, k, &mut block[..area]);
                for a in 0..size {
                    let row = (size * i + a) * m + size * j;
                    self.values[row..row + size].copy_from_slice(&block[size * a..size * (a + 1)]);
                }
            }
        }
        if m > SMALL {
            if self.dense.as_ref().is_none_or(|lu| lu.size() != m) {
                self.dense = Some(DenseLu::new(m));
            }
            return self.dense.as_mut().is_some_and(|lu| lu.factor_with(&self.values, 0.0).is_ok());
        }
        self.pivots.clear();
        self.pivots.resize(m, 0);
        small::lu::factor(m, &mut self.values, &mut self.pivots, 0.0).is_ok()
    }

    /// Solves in place; whether that went well.
    pub(super) fn solve(&mut self, x: &mut [f64]) -> bool {
        if self.is_sparse {
            return self.sparse.as_mut().is_some_and(|lu| lu.solve_in_place(x).is_ok());
        }
        if self.m > SMALL {
            return self.dense.as_mut().is_some_and(|lu| lu.solve_in_place(x).is_ok());
        }
        small::lu::solve(self.m, &self.values, &self.pivots, x).is_ok()
    }

    /// Analyses the pattern, unless it is the one known.
    fn prepare(&mut self, pattern: &Pattern<'_>) -> bool {
        if self.sparse.as_ref().is_some_and(|lu| lu.size() == self.m)
            && self.starts == pattern.starts
            && self.columns == pattern.columns
        {
            return true;
        }
        let (size, area) = (pattern.size, pattern.size * pattern.size);
        let mut entries = Vec::with_capacity(area * pattern.columns.len());
        for i in 0..pattern.starts.len() - 1 {
            for &j in &pattern.columns[pattern.starts[i]..pattern.starts[i + 1]] {
                entries.extend((0..area).map(|k| (size * i + k / size, size * j + k % size)));
            }
        }
        self.starts.clear();
        self.starts.extend_from_slice(pattern.starts);
        self.columns.clear();
        self.columns.extend_from_slice(pattern.columns);
        self.sparse = SparseLu::new(self.m, &entries).ok();
        self.sparse.is_some()
    }
}

/// The product of two blocks.
pub(super) fn product(a: &[[f64; 3]; 3], b: &[f64; 9]) -> [f64; 9] {
    std::array::from_fn(|k| (0..3).map(|l| a[k / 3][l] * b[3 * l + k % 3]).sum())
}
