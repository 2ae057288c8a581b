//! A component of the mass matrix that is kept as a full block, with its inverse.
//!
//! A positive semidefinite block has the pseudo-inverse $M^+$ for its inverse.

use nsm_solvers::LinearError;
use nsm_solvers::small::{cholesky, dot, gram::PivotedCholesky};

use crate::SystemError;

/// Share of a diagonal entry below which a direction counts as without inertia.
const RANK: f64 = 1e-12;

/// A full block on coordinates that need not be neighbours.
#[derive(Clone, Debug)]
pub(super) struct Block {
    pub(super) members: Vec<usize>,
    /// Row by row.
    pub(super) mass: Vec<f64>,
    pub(super) inverse: Vec<f64>,
}

impl Block {
    /// The block of the entries on `members`; appends a coordinate for each direction without inertia.
    pub(super) fn new(
        members: &[usize],
        entries: &[(usize, usize, f64)],
        massless: &mut Vec<usize>,
    ) -> Result<Self, SystemError> {
        let size = members.len();
        let mut mass = vec![0.0; size * size];
        let place = |i: usize| members.binary_search(&i).unwrap_or(0);
        for &(i, j, value) in entries {
            mass[place(i) * size + place(j)] = value;
        }
        let inverse = invert(members, &mass, massless)?;
        Ok(Self { members: members.to_vec(), mass, inverse })
    }

    pub(super) fn multiply(&self, x: &[f64], y: &mut [f64]) {
        self.apply(&self.mass, x, y);
    }

    pub(super) fn solve(&self, x: &[f64], y: &mut [f64]) {
        self.apply(&self.inverse, x, y);
    }

    fn apply(&self, matrix: &[f64], x: &[f64], y: &mut [f64]) {
        for (row, &i) in matrix.chunks_exact(self.members.len()).zip(&self.members) {
            y[i] = row.iter().zip(&self.members).map(|(a, &j)| a * x[j]).sum();
        }
    }

    /// $x^\top M x$.
    pub(super) fn quadratic(&self, x: &[f64]) -> f64 {
        self.mass
            .chunks_exact(self.members.len())
            .zip(&self.members)
            .map(|(row, &i)| {
                x[i] * row.iter().zip(&self.members).map(|(a, &j)| a * x[j]).sum::<f64>()
            })
            .sum()
    }

    pub(super) fn inverse_entry(&self, row: usize, column: usize) -> f64 {
        self.inverse[row * self.members.len() + column]
    }

    pub(super) fn entries(&self, out: &mut Vec<(usize, usize, f64)>) {
        self.list(&self.mass, out);
    }

    pub(super) fn inverse_entries(&self, out: &mut Vec<(usize, usize, f64)>) {
        self.list(&self.inverse, out);
    }

    fn list(&self, matrix: &[f64], out: &mut Vec<(usize, usize, f64)>) {
        for (row, &i) in matrix.chunks_exact(self.members.len()).zip(&self.members) {
            out.extend(row.iter().zip(&self.members).map(|(&value, &j)| (i, j, value)));
        }
    }
}

/// The inverse, or the pseudo-inverse if the block is singular.
fn invert(
    members: &[usize],
    mass: &[f64],
    massless: &mut Vec<usize>,
) -> Result<Vec<f64>, SystemError> {
    let size = members.len();
    let mut inverse = vec![0.0; size * size];
    let mut factor = mass.to_vec();
    let (mut unit, mut column) = (vec![0.0; size], vec![0.0; size]);
    match cholesky::factor(size, &mut factor, nsm_solvers::small::tolerance(size)) {
        Ok(()) => {
            for j in 0..size {
                column.fill(0.0);
                column[j] = 1.0;
                cholesky::solve(size, &factor, &mut column)
                    .map_err(|error| indefinite(members, error))?;
                write_column(&mut inverse, j, &column);
            }
        }
        Err(error) => {
            let mut semidefinite = PivotedCholesky::new(size);
            let singular = |_| indefinite(members, error);
            semidefinite.factor(size, mass, RANK).map_err(singular)?;
            for j in 0..size {
                unit.fill(0.0);
                unit[j] = 1.0;
                semidefinite.solve_minimum_norm(&unit, &mut column).map_err(singular)?;
                write_column(&mut inverse, j, &column);
            }
            check_reproduction(members, mass, &inverse)?;
            massless.extend(semidefinite.redundant().iter().map(|&k| members[k]));
        }
    }
    for i in 0..size {
        for j in 0..i {
            let mean = 0.5 * (inverse[i * size + j] + inverse[j * size + i]);
            inverse[i * size + j] = mean;
            inverse[j * size + i] = mean;
        }
    }
    Ok(inverse)
}

/// An indefinite matrix may hide behind vanishing pivots; $M M^+ M = M$ finds it out.
fn check_reproduction(members: &[usize], mass: &[f64], inverse: &[f64]) -> Result<(), SystemError> {
    let size = members.len();
    let largest = mass.iter().fold(0.0_f64, |a, x| a.max(x.abs()));
    for (j, row) in mass.chunks_exact(size).enumerate() {
        let image: Vec<f64> = inverse.chunks_exact(size).map(|r| dot(r, row)).collect();
        for (r, original) in mass.chunks_exact(size).zip(row) {
            let difference = (dot(r, &image) - original).abs();
            if difference.is_nan() || difference > 1e-10 * largest {
                return Err(SystemError::IndefiniteMass { coordinate: members[j] });
            }
        }
    }
    Ok(())
}

fn write_column(matrix: &mut [f64], j: usize, column: &[f64]) {
    for (row, x) in matrix.chunks_exact_mut(column.len()).zip(column) {
        row[j] = *x;
    }
}

fn indefinite(members: &[usize], error: LinearError) -> SystemError {
    let pivot = match error {
        LinearError::NotPositiveDefinite { pivot, .. } => pivot,
        _ => 0,
    };
    SystemError::IndefiniteMass { coordinate: members.get(pivot).copied().unwrap_or(0) }
}
