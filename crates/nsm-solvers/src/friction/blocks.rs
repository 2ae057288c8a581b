//! Matrices with the block pattern of a friction problem, factorised: densely where they are small or full, sparsely otherwise.
//!
//! All methods solve with $W$ plus blocks of each contact, perhaps multiplied by such blocks: the pattern is that of $W$.

use super::FrictionProblem;
use crate::dense::DenseLu;
use crate::small;
use crate::sparse::SparseLu;

/// Unknowns up to which a factorisation on plain slices is as quick as any.
const SMALL: usize = 48;
/// Unknowns from which sparsity pays, if no more than this share of the blocks is there.
const SPARSE: usize = 150;
const DENSITY: f64 = 0.2;

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

impl BlockLu {
    /// Factorises the matrix whose block $(i, j)$ is `block(i, j, W_ij)`, in the pattern of the problem; whether that went well.
    pub(super) fn factor(
        &mut self,
        problem: &FrictionProblem,
        mut block: impl FnMut(usize, usize, &[f64; 9]) -> [f64; 9],
    ) -> bool {
        let n = problem.len();
        self.m = 3 * n;
        let m = self.m;
        let share = problem.blocks.len() as f64 / (n * n).max(1) as f64;
        self.is_sparse = m >= SPARSE && share <= DENSITY && self.prepare(problem);
        self.values.clear();
        if self.is_sparse {
            for i in 0..n {
                for k in problem.starts[i]..problem.starts[i + 1] {
                    let values = block(i, problem.columns[k], &problem.blocks[k]);
                    self.values.extend_from_slice(&values);
                }
            }
            let Some(lu) = &mut self.sparse else { return false };
            return lu.factor(&self.values, 0.0).is_ok();
        }
        self.values.resize(m * m, 0.0);
        for i in 0..n {
            for k in problem.starts[i]..problem.starts[i + 1] {
                let j = problem.columns[k];
                let values = block(i, j, &problem.blocks[k]);
                for a in 0..3 {
                    let row = (3 * i + a) * m + 3 * j;
                    self.values[row..row + 3].copy_from_slice(&values[3 * a..3 * a + 3]);
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
    fn prepare(&mut self, problem: &FrictionProblem) -> bool {
        if self.sparse.is_some() && self.starts == problem.starts && self.columns == problem.columns
        {
            return true;
        }
        let mut entries = Vec::with_capacity(9 * problem.blocks.len());
        for i in 0..problem.len() {
            for &j in &problem.columns[problem.starts[i]..problem.starts[i + 1]] {
                entries.extend((0..9).map(|k| (3 * i + k / 3, 3 * j + k % 3)));
            }
        }
        self.starts.clone_from(&problem.starts);
        self.columns.clone_from(&problem.columns);
        self.sparse = SparseLu::new(self.m, &entries).ok();
        self.sparse.is_some()
    }
}

/// The product of two blocks.
pub(super) fn product(a: &[[f64; 3]; 3], b: &[f64; 9]) -> [f64; 9] {
    std::array::from_fn(|k| (0..3).map(|l| a[k / 3][l] * b[3 * l + k % 3]).sum())
}
