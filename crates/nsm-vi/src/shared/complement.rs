//! The complement of a few constraints, $S = R^\top A^{-1} C$, dense.
//!
//! Dependent contacts make it singular: the multipliers of minimum norm are taken.

use nsm_constraints::Rows;
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
    /// Which constraints have an entry in a coordinate: constraint and entry, coordinate after coordinate.
    starts: Vec<usize>,
    entries: Vec<(usize, usize)>,
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
            starts: vec![0; dimension + 2],
            entries: Vec::new(),
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

    /// Writes $S = h R^\top W C$ for a diagonal $W$ and the rows `closed`, with $C$ and $R$ their gradients at start and end: what lies in no
    /// common coordinate is not visited.
    pub(crate) fn assemble(
        &mut self,
        rows: &Rows,
        closed: &[usize],
        (start, end): (&[f64], &[f64]),
        (inverse, h): (&[f64], f64),
    ) {
        let m = closed.len();
        self.starts.fill(0);
        for &i in closed {
            rows.columns(i).iter().for_each(|&c| self.starts[c + 2] += 1);
        }
        for c in 2..self.starts.len() {
            self.starts[c] += self.starts[c - 1];
        }
        self.entries.resize(self.starts[self.dimension + 1], (0, 0));
        for (k, &i) in closed.iter().enumerate() {
            for (&c, at) in rows.columns(i).iter().zip(rows.span(i)) {
                self.entries[self.starts[c + 1]] = (k, at);
                self.starts[c + 1] += 1;
            }
        }
        self.matrix[..m * m].fill(0.0);
        for (k, &i) in closed.iter().enumerate() {
            let row = &mut self.matrix[k * m..(k + 1) * m];
            for (&c, at) in rows.columns(i).iter().zip(rows.span(i)) {
                let r = h * inverse[c] * end[at];
                for &(j, entry) in &self.entries[self.starts[c]..self.starts[c + 1]] {
                    row[j] += r * start[entry];
                }
            }
        }
    }

    /// Solves for `m` multipliers with the last matrix of that size, for another right-hand side; false if it was not factorised.
    pub(crate) fn solve_again(&mut self, m: usize) -> bool {
        self.z[..m].copy_from_slice(&self.rhs[..m]);
        self.large.size() == m && self.large.solve_in_place(&mut self.z[..m]).is_ok()
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
