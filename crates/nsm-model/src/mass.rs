//! The mass matrix of a system: diagonal, or diagonal in blocks (one block makes it full).
//!
//! $M$ is constant, symmetric and positive semidefinite. A coordinate without mass has a zero row
//! and column; on those coordinates [`Mass::solve`] answers zero (the pseudo-inverse), and
//! [`Mass::massless`] lists them for integrators that need $M^{-1}$. Everything else must be positive
//! definite. Block inverses are formed once: steps and impact laws then share one $M^{-1}$, so that
//! energies measured in it agree to the last bit.

use nsm_constraints::Metric;
use nsm_solvers::LinearError;
use nsm_solvers::small::cholesky;

use crate::SystemError;

/// A constant mass matrix with its (pseudo-)inverse.
#[derive(Clone, Debug)]
pub struct Mass {
    dimension: usize,
    shape: Shape,
    massless: Vec<usize>,
}

#[derive(Clone, Debug)]
enum Shape {
    Diagonal { mass: Vec<f64>, inverse: Vec<f64> },
    Blocks(Vec<Block>),
}

#[derive(Clone, Debug)]
struct Block {
    start: usize,
    size: usize,
    /// Row by row, `size * size`.
    mass: Vec<f64>,
    inverse: Vec<f64>,
}

impl Mass {
    /// One mass per coordinate; zero means a coordinate without inertia.
    ///
    /// # Errors
    /// Negative or non-finite masses, or none at all.
    pub fn diagonal(mass: &[f64]) -> Result<Self, SystemError> {
        if mass.is_empty() {
            return Err(SystemError::Empty);
        }
        if let Some(coordinate) = mass.iter().position(|m| !m.is_finite() || *m < 0.0) {
            return Err(SystemError::Mass { coordinate, value: mass[coordinate] });
        }
        let inverse = mass.iter().map(|&m| if m == 0.0 { 0.0 } else { 1.0 / m }).collect();
        Ok(Self {
            dimension: mass.len(),
            massless: (0..mass.len()).filter(|&i| mass[i] == 0.0).collect(),
            shape: Shape::Diagonal { mass: mass.to_vec(), inverse },
        })
    }

    /// A full symmetric matrix, given row by row.
    ///
    /// # Errors
    /// If it is not square, finite, symmetric and positive definite on the coordinates that have mass.
    pub fn full(rows: &[Vec<f64>]) -> Result<Self, SystemError> {
        Self::blocks(&[rows.to_vec()])
    }

    /// Symmetric blocks along the diagonal, each given row by row.
    ///
    /// # Errors
    /// As for [`Mass::full`]; the culprit is named by its coordinate in the whole system.
    pub fn blocks(blocks: &[Vec<Vec<f64>>]) -> Result<Self, SystemError> {
        let mut start = 0;
        let mut checked = Vec::with_capacity(blocks.len());
        let mut massless = Vec::new();
        for rows in blocks {
            let block = Block::new(start, rows)?;
            massless.extend(
                (0..block.size)
                    .filter(|&i| block.mass[i * block.size + i] == 0.0)
                    .map(|i| start + i),
            );
            start += block.size;
            checked.push(block);
        }
        if start == 0 {
            return Err(SystemError::Empty);
        }
        if checked.iter().all(Block::is_diagonal) {
            let diagonal: Vec<f64> =
                checked.iter().flat_map(|b| (0..b.size).map(|i| b.mass[i * b.size + i])).collect();
            return Self::diagonal(&diagonal);
        }
        Ok(Self { dimension: start, shape: Shape::Blocks(checked), massless })
    }

    /// Number of coordinates.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Coordinates without inertia.
    pub fn massless(&self) -> &[usize] {
        &self.massless
    }

    /// The masses, if the matrix is diagonal.
    pub fn as_diagonal(&self) -> Option<&[f64]> {
        match &self.shape {
            Shape::Diagonal { mass, .. } => Some(mass),
            Shape::Blocks(_) => None,
        }
    }

    /// The inverse masses (zero where there is none), if the matrix is diagonal.
    pub fn as_inverse_diagonal(&self) -> Option<&[f64]> {
        match &self.shape {
            Shape::Diagonal { inverse, .. } => Some(inverse),
            Shape::Blocks(_) => None,
        }
    }

    /// Writes $p = M v$.
    pub fn multiply(&self, v: &[f64], p: &mut [f64]) {
        match &self.shape {
            Shape::Diagonal { mass, .. } => scale(mass, v, p),
            Shape::Blocks(blocks) => blocks.iter().for_each(|b| b.apply(&b.mass, v, p)),
        }
    }

    /// Writes $v = M^{-1} p$, zero on coordinates without mass.
    pub fn solve(&self, p: &[f64], v: &mut [f64]) {
        match &self.shape {
            Shape::Diagonal { inverse, .. } => scale(inverse, p, v),
            Shape::Blocks(blocks) => blocks.iter().for_each(|b| b.apply(&b.inverse, p, v)),
        }
    }

    /// $\tfrac12 v^\top M v$.
    pub fn kinetic_energy(&self, v: &[f64]) -> f64 {
        let twice: f64 = match &self.shape {
            Shape::Diagonal { mass, .. } => mass.iter().zip(v).map(|(m, x)| m * x * x).sum(),
            Shape::Blocks(blocks) => blocks.iter().map(|b| b.quadratic(&b.mass, v)).sum(),
        };
        0.5 * twice
    }

    /// $a^\top M^{-1} b$ for sparse vectors given by their columns and values.
    pub fn inverse_product(&self, a: (&[usize], &[f64]), b: (&[usize], &[f64])) -> f64 {
        let mut sum = 0.0;
        for (&i, x) in a.0.iter().zip(a.1) {
            for (&j, y) in b.0.iter().zip(b.1) {
                sum += x * self.inverse_entry(i, j) * y;
            }
        }
        sum
    }

    /// Entry $(i, j)$ of $M^{-1}$.
    pub fn inverse_entry(&self, i: usize, j: usize) -> f64 {
        match &self.shape {
            Shape::Diagonal { inverse, .. } => {
                if i == j {
                    inverse[i]
                } else {
                    0.0
                }
            }
            Shape::Blocks(blocks) => {
                let at = blocks.partition_point(|b| b.start + b.size <= i);
                let Some(b) = blocks.get(at) else { return 0.0 };
                if (b.start..b.start + b.size).contains(&j) {
                    b.inverse[(i - b.start) * b.size + (j - b.start)]
                } else {
                    0.0
                }
            }
        }
    }

    /// All stored entries $(i, j, M_{ij})$, in a fixed order.
    pub fn entries(&self) -> Vec<(usize, usize, f64)> {
        self.list(|b| &b.mass, |m, _| m)
    }

    /// All stored entries of the (pseudo-)inverse, in the order of [`entries`](Mass::entries).
    pub fn inverse_entries(&self) -> Vec<(usize, usize, f64)> {
        self.list(|b| &b.inverse, |_, inverse| inverse)
    }

    /// $M^{-1}$ as the inner product on momenta in which impulses are measured.
    ///
    /// # Errors
    /// A mass so small that its inverse overflows.
    pub fn inverse_metric(&self) -> Result<Metric, SystemError> {
        Ok(match &self.shape {
            Shape::Diagonal { inverse, .. } => Metric::diagonal(inverse)?,
            Shape::Blocks(_) => Metric::from_entries(self.dimension, &self.inverse_entries())?,
        })
    }

    fn list(
        &self,
        of_block: impl Fn(&Block) -> &[f64],
        of_diagonal: impl Fn(f64, f64) -> f64,
    ) -> Vec<(usize, usize, f64)> {
        match &self.shape {
            Shape::Diagonal { mass, inverse } => {
                (0..mass.len()).map(|i| (i, i, of_diagonal(mass[i], inverse[i]))).collect()
            }
            Shape::Blocks(blocks) => blocks
                .iter()
                .flat_map(|b| {
                    let n = b.size;
                    of_block(b)
                        .iter()
                        .enumerate()
                        .map(move |(k, &value)| (b.start + k / n, b.start + k % n, value))
                        .collect::<Vec<_>>()
                })
                .collect(),
        }
    }
}

impl Block {
    fn new(start: usize, rows: &[Vec<f64>]) -> Result<Self, SystemError> {
        let size = rows.len();
        if size == 0 {
            return Err(SystemError::Empty);
        }
        let mut mass = Vec::with_capacity(size * size);
        for (i, row) in rows.iter().enumerate() {
            if row.len() != size {
                return Err(SystemError::Length {
                    what: "a row of the mass matrix",
                    length: row.len(),
                    expected: size,
                });
            }
            if let Some(bad) = row.iter().find(|x| !x.is_finite()) {
                return Err(SystemError::Mass { coordinate: start + i, value: *bad });
            }
            mass.extend_from_slice(row);
        }
        let largest = mass.iter().fold(0.0_f64, |a, x| a.max(x.abs()));
        for i in 0..size {
            for j in 0..i {
                let (a, b) = (mass[i * size + j], mass[j * size + i]);
                if (a - b).abs() > 1e-12 * largest {
                    return Err(SystemError::AsymmetricMass {
                        row: start + i,
                        column: start + j,
                        difference: a - b,
                    });
                }
                let mean = 0.5 * (a + b);
                mass[i * size + j] = mean;
                mass[j * size + i] = mean;
            }
        }
        let inverse = invert(start, size, &mass)?;
        Ok(Self { start, size, mass, inverse })
    }

    fn is_diagonal(&self) -> bool {
        (0..self.size)
            .all(|i| (0..self.size).all(|j| i == j || self.mass[i * self.size + j] == 0.0))
    }

    fn apply(&self, matrix: &[f64], x: &[f64], y: &mut [f64]) {
        let x = &x[self.start..self.start + self.size];
        for (row, y) in matrix.chunks_exact(self.size).zip(&mut y[self.start..]) {
            *y = row.iter().zip(x).map(|(a, b)| a * b).sum();
        }
    }

    fn quadratic(&self, matrix: &[f64], x: &[f64]) -> f64 {
        let x = &x[self.start..self.start + self.size];
        matrix
            .chunks_exact(self.size)
            .zip(x)
            .map(|(row, xi)| xi * row.iter().zip(x).map(|(a, b)| a * b).sum::<f64>())
            .sum()
    }
}

/// Inverse of a block on the coordinates that have mass, zero elsewhere.
fn invert(start: usize, size: usize, mass: &[f64]) -> Result<Vec<f64>, SystemError> {
    let massive: Vec<usize> =
        (0..size).filter(|&i| (0..size).any(|j| mass[i * size + j] != 0.0)).collect();
    let k = massive.len();
    let mut factor: Vec<f64> =
        massive.iter().flat_map(|&i| massive.iter().map(move |&j| mass[i * size + j])).collect();
    let indefinite = |error| {
        let pivot = match error {
            LinearError::NotPositiveDefinite { pivot, .. } => pivot,
            _ => 0,
        };
        SystemError::IndefiniteMass { coordinate: start + massive.get(pivot).copied().unwrap_or(0) }
    };
    cholesky::factor(k, &mut factor, nsm_solvers::small::tolerance(k)).map_err(indefinite)?;
    let mut inverse = vec![0.0; size * size];
    let mut column = vec![0.0; k];
    for (c, &j) in massive.iter().enumerate() {
        column.fill(0.0);
        column[c] = 1.0;
        cholesky::solve(k, &factor, &mut column).map_err(indefinite)?;
        for (x, &i) in column.iter().zip(&massive) {
            inverse[i * size + j] = *x;
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

fn scale(factors: &[f64], x: &[f64], y: &mut [f64]) {
    for ((y, x), f) in y.iter_mut().zip(x).zip(factors) {
        *y = f * x;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solving_undoes_multiplying() {
        let m = Mass::blocks(&[
            vec![vec![2.0]],
            vec![vec![4.0, 1.0, 0.5], vec![1.0, 3.0, -0.25], vec![0.5, -0.25, 1.0]],
        ])
        .unwrap();
        let v = [1.0, -2.0, 0.5, 3.0];
        let (mut p, mut back) = ([0.0; 4], [0.0; 4]);
        m.multiply(&v, &mut p);
        m.solve(&p, &mut back);
        for (a, b) in v.iter().zip(back) {
            assert!((a - b).abs() < 1e-15);
        }
        let energy = 0.5 * v.iter().zip(p).map(|(a, b)| a * b).sum::<f64>();
        assert!((m.kinetic_energy(&v) - energy).abs() < 1e-14);
        assert!((m.inverse_entry(1, 3) - m.inverse_entry(3, 1)).abs() == 0.0);
        assert_eq!(m.inverse_entry(0, 1), 0.0);
    }

    #[test]
    fn a_coordinate_without_mass_is_listed_and_answers_zero() {
        let m =
            Mass::full(&[vec![2.0, 0.0, 1.0], vec![0.0, 0.0, 0.0], vec![1.0, 0.0, 2.0]]).unwrap();
        assert_eq!(m.massless(), [1]);
        let mut v = [f64::NAN; 3];
        m.solve(&[3.0, 5.0, 3.0], &mut v);
        assert!((v[0] - 1.0).abs() < 1e-15 && v[1] == 0.0 && (v[2] - 1.0).abs() < 1e-15);
    }

    #[test]
    fn bad_masses_name_their_coordinate() {
        assert!(matches!(
            Mass::diagonal(&[1.0, -2.0]),
            Err(SystemError::Mass { coordinate: 1, .. })
        ));
        assert!(matches!(
            Mass::diagonal(&[f64::NAN]),
            Err(SystemError::Mass { coordinate: 0, .. })
        ));
        assert!(matches!(Mass::diagonal(&[]), Err(SystemError::Empty)));
        assert!(matches!(Mass::blocks(&[vec![], vec![vec![1.0]]]), Err(SystemError::Empty)));
        let indefinite = Mass::blocks(&[vec![vec![1.0]], vec![vec![1.0, 2.0], vec![2.0, 1.0]]]);
        assert!(matches!(indefinite, Err(SystemError::IndefiniteMass { coordinate: 2 })));
        let skew = Mass::full(&[vec![1.0, 0.5], vec![0.0, 1.0]]);
        assert!(matches!(skew, Err(SystemError::AsymmetricMass { row: 1, column: 0, .. })));
        assert!(matches!(Mass::full(&[vec![1.0, 0.0]]), Err(SystemError::Length { .. })));
    }
}
