//! The complement of a few constraints, $S = R^\top A^{-1} C$, dense.
//!
//! Dependent contacts make it singular: the multipliers of minimum norm are taken.

use nsm_solvers::LinearError;
use nsm_solvers::dense::{DenseLu, SMALL};
use nsm_solvers::small::{lu, qr::PivotedQr};

/// Pivots below this share of what cancelled in them mark redundant rows.
const RANK: f64 = 1e-11;

/// Workspace of the complement; it grows only for more constraints than it was made for.
#[derive(Debug)]
pub(crate) struct Complement {
    dimension: usize,
    /// $A^{-1} C$, one column of $C$ a row.
    columns: Vec<f64>,
    pub(crate) matrix: Vec<f64>,
    factor: Vec<f64>,
    pivots: Vec<usize>,
    pub(crate) rhs: Vec<f64>,
    /// The multipliers.
    pub(crate) z: Vec<f64>,
    qr: PivotedQr,
    /// For more than a few.
    large: DenseLu,
}

impl Complement {
    pub(crate) fn new(dimension: usize, m: usize) -> Self {
        Self {
            dimension,
            columns: vec![0.0; m * dimension],
            matrix: vec![0.0; m * m],
            factor: vec![0.0; m * m],
            pivots: vec![0; m],
            rhs: vec![0.0; m],
            z: vec![0.0; m],
            qr: PivotedQr::new(m, m),
            large: DenseLu::new(0),
        }
    }

    pub(crate) fn reserve(&mut self, m: usize) {
        if m > self.rhs.len() {
            self.columns.resize(m * self.dimension, 0.0);
            self.matrix.resize(m * m, 0.0);
            self.factor.resize(m * m, 0.0);
            self.pivots.resize(m, 0);
            self.rhs.resize(m, 0.0);
            self.z.resize(m, 0.0);
        }
    }

    /// Column `k` of $A^{-1} C$.
    pub(crate) fn column(&self, k: usize) -> &[f64] {
        &self.columns[k * self.dimension..(k + 1) * self.dimension]
    }

    /// The same, to be written.
    pub(crate) fn column_mut(&mut self, k: usize) -> &mut [f64] {
        &mut self.columns[k * self.dimension..(k + 1) * self.dimension]
    }

    /// Solves for `m` multipliers; of minimum norm if rows are redundant.
    pub(crate) fn solve(&mut self, m: usize) -> Result<(), LinearError> {
        let (matrix, z) = (&self.matrix[..m * m], &mut self.z[..m]);
        if m == 1 && matrix[0] != 0.0 {
            z[0] = self.rhs[0] / matrix[0];
            return Ok(());
        }
        if m > SMALL {
            return self.solve_large(m);
        }
        let factor = &mut self.factor[..m * m];
        factor.copy_from_slice(matrix);
        z.copy_from_slice(&self.rhs[..m]);
        match lu::factor(m, factor, &mut self.pivots[..m], RANK) {
            Ok(_) => lu::solve(m, factor, &self.pivots[..m], z),
            Err(LinearError::Singular { .. }) => {
                self.qr.factor(m, m, matrix, RANK)?;
                self.qr.solve_minimum_norm(&self.rhs[..m], z).map(|_| ())
            }
            Err(error) => Err(error),
        }
    }

    fn solve_large(&mut self, m: usize) -> Result<(), LinearError> {
        let (matrix, z) = (&self.matrix[..m * m], &mut self.z[..m]);
        z.copy_from_slice(&self.rhs[..m]);
        self.large.set_size(m);
        match self.large.factor_with(matrix, RANK) {
            Ok(()) => self.large.solve_in_place(z),
            Err(LinearError::Singular { .. }) => {
                self.large.set_size(0);
                self.qr.factor(m, m, matrix, RANK)?;
                self.qr.solve_minimum_norm(&self.rhs[..m], z).map(|_| ())
            }
            Err(error) => Err(error),
        }
    }
}
