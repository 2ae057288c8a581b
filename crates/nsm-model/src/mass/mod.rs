//! The mass matrix of a system: diagonal, or coupled in blocks and bands.
//!
//! $M$ is constant, symmetric and positive semidefinite. It is split into the connected components of
//! its graph: single coordinates, small dense blocks (the bodies), and long components such as the
//! consistent mass of a beam, which are banded after reverse Cuthill–McKee. Products and solves
//! therefore cost as much as there are entries near the diagonal, however the matrix was given.
//!
//! A direction without inertia is allowed. [`Mass::massless`] lists one coordinate for each, for
//! integrators that need $M^{-1}$, and [`Mass::solve`] is the pseudo-inverse: zero on a coordinate with
//! a zero row and column. Inverses and factors are formed once: steps and impact laws then share one
//! $M^{-1}$, so that energies measured in it agree to the last bit.

mod band;
mod block;
mod placed;

use nsm_constraints::{ConstraintError, Metric};
use nsm_solvers::banded::ordering::components;

use crate::SystemError;
use band::Band;
use block::Block;

pub use placed::PlacedMass;

/// Largest component of which an inverse metric is formed: it is a full matrix.
const LARGEST_INVERSE: usize = 1024;

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
    Coupled(Box<Coupled>),
}

/// Single coordinates on diagonals that are zero elsewhere, then the components of more than one.
#[derive(Clone, Debug)]
struct Coupled {
    mass: Vec<f64>,
    inverse: Vec<f64>,
    blocks: Vec<Block>,
    bands: Vec<Band>,
    /// Component of every coordinate, and its place there.
    place: Vec<Place>,
}

#[derive(Clone, Copy, Debug)]
enum Place {
    Single,
    Block { block: usize, at: usize },
    Band { band: usize },
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
        Ok(Self {
            dimension: mass.len(),
            massless: (0..mass.len()).filter(|&i| mass[i] == 0.0).collect(),
            shape: Shape::Diagonal { mass: mass.to_vec(), inverse: reciprocals(mass) },
        })
    }

    /// A full symmetric matrix, given row by row.
    ///
    /// # Errors
    /// If it is not square, finite, symmetric and positive semidefinite.
    pub fn full(rows: &[Vec<f64>]) -> Result<Self, SystemError> {
        Self::blocks(&[rows.to_vec()])
    }

    /// Symmetric blocks along the diagonal, each given row by row.
    ///
    /// # Errors
    /// As for [`Mass::full`]; the culprit is named by its coordinate in the whole system.
    pub fn blocks(blocks: &[Vec<Vec<f64>>]) -> Result<Self, SystemError> {
        let mut start = 0;
        let mut entries = Vec::new();
        for rows in blocks {
            if rows.is_empty() {
                return Err(SystemError::Empty);
            }
            for (i, row) in rows.iter().enumerate() {
                if row.len() != rows.len() {
                    return Err(SystemError::Length {
                        what: "a row of the mass matrix",
                        length: row.len(),
                        expected: rows.len(),
                    });
                }
                let nonzero = row.iter().enumerate().filter(|(_, x)| **x != 0.0);
                entries.extend(nonzero.map(|(j, &x)| (start + i, start + j, x)));
            }
            start += rows.len();
        }
        Self::sparse(start, &entries)
    }

    /// A symmetric matrix on `dimension` coordinates from its entries $(i, j, m_{ij})$: both triangles, in
    /// any order, duplicates adding up. Coordinates without entries have no mass.
    ///
    /// ```
    /// use nsm_model::Mass;
    ///
    /// // Two linear elements of mass six each, and a coordinate without inertia.
    /// let element = [[2.0, 1.0], [1.0, 2.0]];
    /// let mut entries = Vec::new();
    /// for first in [0, 1] {
    ///     for (i, row) in element.iter().enumerate() {
    ///         entries.extend(row.iter().enumerate().map(|(j, m)| (first + i, first + j, *m)));
    ///     }
    /// }
    /// let mass = Mass::sparse(4, &entries)?;
    /// assert_eq!(mass.massless(), [3]);
    /// let mut p = [0.0; 4];
    /// mass.multiply(&[1.0, 1.0, 1.0, 1.0], &mut p);
    /// assert_eq!(p, [3.0, 6.0, 3.0, 0.0]);
    /// # Ok::<(), nsm_model::SystemError>(())
    /// ```
    ///
    /// # Errors
    /// Entries out of range or not finite, a pair that differs from its mirror image, a direction of
    /// negative inertia (named by a coordinate), or more than some hundred coordinates coupled by a matrix
    /// that is singular other than by zero rows.
    pub fn sparse(dimension: usize, entries: &[(usize, usize, f64)]) -> Result<Self, SystemError> {
        if dimension == 0 {
            return Err(SystemError::Empty);
        }
        let entries = gather(dimension, entries)?;
        let pattern: Vec<_> = entries.iter().map(|&(i, j, _)| (i, j)).collect();
        let (component, count) = components(dimension, &pattern);
        let mut members = vec![Vec::new(); count];
        for (i, &c) in component.iter().enumerate() {
            members[c].push(i);
        }
        let mut diagonal = vec![0.0; dimension];
        let mut of_component = vec![Vec::new(); count];
        for &(i, j, value) in &entries {
            if members[component[i]].len() == 1 {
                diagonal[i] = value;
            } else {
                of_component[component[i]].push((i, j, value));
            }
        }
        let singles = Self::diagonal(&diagonal)?;
        if count == dimension {
            return Ok(singles);
        }
        let mut massless: Vec<usize> = singles
            .massless
            .iter()
            .copied()
            .filter(|&i| members[component[i]].len() == 1)
            .collect();
        let mut coupled = Coupled {
            inverse: reciprocals(&diagonal),
            mass: diagonal,
            blocks: Vec::new(),
            bands: Vec::new(),
            place: vec![Place::Single; dimension],
        };
        for (members, entries) in members.iter().zip(&of_component).filter(|(m, _)| m.len() > 1) {
            if let Some(band) = Band::new(members, entries)? {
                for &i in members {
                    coupled.place[i] = Place::Band { band: coupled.bands.len() };
                }
                coupled.bands.push(band);
                continue;
            }
            let block = Block::new(members, entries, &mut massless)?;
            for (at, &i) in members.iter().enumerate() {
                coupled.place[i] = Place::Block { block: coupled.blocks.len(), at };
            }
            coupled.blocks.push(block);
        }
        massless.sort_unstable();
        Ok(Self { dimension, shape: Shape::Coupled(Box::new(coupled)), massless })
    }

    /// Number of coordinates.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Coordinates without inertia, ascending: those with a zero row and column, and in a block that is
    /// singular otherwise one for each direction that it lacks.
    pub fn massless(&self) -> &[usize] {
        &self.massless
    }

    /// The masses, if the matrix is diagonal.
    pub fn as_diagonal(&self) -> Option<&[f64]> {
        match &self.shape {
            Shape::Diagonal { mass, .. } => Some(mass),
            Shape::Coupled(_) => None,
        }
    }

    /// The inverse masses (zero where there is none), if the matrix is diagonal.
    pub fn as_inverse_diagonal(&self) -> Option<&[f64]> {
        match &self.shape {
            Shape::Diagonal { inverse, .. } => Some(inverse),
            Shape::Coupled(_) => None,
        }
    }

    /// Whether the inverse has blocks too large to be kept: [`inverse_entry`](Mass::inverse_entry) and
    /// [`inverse_product`](Mass::inverse_product) then solve for each column that they need, and allocate.
    pub fn is_banded(&self) -> bool {
        matches!(&self.shape, Shape::Coupled(coupled) if !coupled.bands.is_empty())
    }

    /// Writes $p = M v$.
    pub fn multiply(&self, v: &[f64], p: &mut [f64]) {
        match &self.shape {
            Shape::Diagonal { mass, .. } => scale(mass, v, p),
            Shape::Coupled(coupled) => {
                scale(&coupled.mass, v, p);
                coupled.blocks.iter().for_each(|b| b.multiply(v, p));
                coupled.bands.iter().for_each(|b| b.multiply(v, p));
            }
        }
    }

    /// Writes $v = M^{-1} p$, the pseudo-inverse where mass is missing.
    #[inline]
    pub fn solve(&self, p: &[f64], v: &mut [f64]) {
        match &self.shape {
            Shape::Diagonal { inverse, .. } => scale(inverse, p, v),
            Shape::Coupled(coupled) => {
                scale(&coupled.inverse, p, v);
                coupled.blocks.iter().for_each(|b| b.solve(p, v));
                coupled.bands.iter().for_each(|b| b.solve(p, v));
            }
        }
    }

    /// $\tfrac12 v^\top M v$.
    pub fn kinetic_energy(&self, v: &[f64]) -> f64 {
        let squares = |mass: &[f64]| mass.iter().zip(v).map(|(m, x)| m * x * x).sum::<f64>();
        let twice = match &self.shape {
            Shape::Diagonal { mass, .. } => squares(mass),
            Shape::Coupled(coupled) => {
                squares(&coupled.mass)
                    + coupled.blocks.iter().map(|b| b.quadratic(v)).sum::<f64>()
                    + coupled.bands.iter().map(|b| b.quadratic(v)).sum::<f64>()
            }
        };
        0.5 * twice
    }

    /// $a^\top M^{-1} b$ for sparse vectors given by their columns and values.
    pub fn inverse_product(&self, a: (&[usize], &[f64]), b: (&[usize], &[f64])) -> f64 {
        let mut sum = 0.0;
        if self.is_banded() {
            let (mut dense, mut solved) = (vec![0.0; self.dimension], vec![0.0; self.dimension]);
            b.0.iter().zip(b.1).for_each(|(&j, y)| dense[j] += y);
            self.solve(&dense, &mut solved);
            return a.0.iter().zip(a.1).map(|(&i, x)| x * solved[i]).sum();
        }
        if let Shape::Diagonal { inverse, .. } = &self.shape
            && a.0 == b.0
        {
            let terms = a.0.iter().zip(a.1.iter().zip(b.1));
            return terms.map(|(&i, (x, y))| x * inverse.get(i).map_or(0.0, |w| *w) * y).sum();
        }
        for (&i, x) in a.0.iter().zip(a.1) {
            for (&j, y) in b.0.iter().zip(b.1) {
                sum += x * self.inverse_entry(i, j) * y;
            }
        }
        sum
    }

    /// Entry $(i, j)$ of $M^{-1}$; zero outside the matrix.
    pub fn inverse_entry(&self, i: usize, j: usize) -> f64 {
        match &self.shape {
            Shape::Diagonal { inverse, .. } => {
                if i == j {
                    inverse.get(i).copied().unwrap_or(0.0)
                } else {
                    0.0
                }
            }
            Shape::Coupled(coupled) => {
                let (Some(&a), Some(&b)) = (coupled.place.get(i), coupled.place.get(j)) else {
                    return 0.0;
                };
                match (a, b) {
                    (Place::Single, Place::Single) if i == j => coupled.inverse[i],
                    (Place::Block { block, at }, Place::Block { block: other, at: column })
                        if block == other =>
                    {
                        coupled.blocks[block].inverse_entry(at, column)
                    }
                    (Place::Band { band }, Place::Band { band: other }) if band == other => {
                        coupled.bands[band].inverse_entry(i, j)
                    }
                    _ => 0.0,
                }
            }
        }
    }

    /// All stored entries $(i, j, M_{ij})$ by rows, both triangles, every diagonal entry among them.
    pub fn entries(&self) -> Vec<(usize, usize, f64)> {
        match &self.shape {
            Shape::Diagonal { mass, .. } => diagonal_entries(mass),
            Shape::Coupled(coupled) => coupled.list(&coupled.mass, Block::entries, Band::entries),
        }
    }

    /// All entries of the (pseudo-)inverse by rows; a component that is banded has a full inverse.
    pub fn inverse_entries(&self) -> Vec<(usize, usize, f64)> {
        match &self.shape {
            Shape::Diagonal { inverse, .. } => diagonal_entries(inverse),
            Shape::Coupled(coupled) => {
                coupled.list(&coupled.inverse, Block::inverse_entries, Band::inverse_entries)
            }
        }
    }

    /// $M^{-1}$ as the inner product on momenta in which impulses are measured.
    ///
    /// # Errors
    /// A mass so small that its inverse overflows, or more than a thousand coordinates that the mass
    /// couples to one another: the inverse is then a full matrix.
    pub fn inverse_metric(&self) -> Result<Metric, SystemError> {
        Ok(match &self.shape {
            Shape::Diagonal { inverse, .. } => Metric::diagonal(inverse)?,
            Shape::Coupled(coupled) => {
                let largest = coupled.bands.iter().map(Band::size).max().unwrap_or(0);
                if largest > LARGEST_INVERSE {
                    return Err(SystemError::DoesNotFit {
                        method: "the inner product of momenta",
                        why: format!(
                            "its mass couples {largest} coordinates, and the inverse of that is full; lump the mass"
                        ),
                    });
                }
                Metric::from_entries(self.dimension, &self.inverse_entries())?
            }
        })
    }
}

impl Coupled {
    fn list(
        &self,
        singles: &[f64],
        of_block: impl Fn(&Block, &mut Vec<(usize, usize, f64)>),
        of_band: impl Fn(&Band, &mut Vec<(usize, usize, f64)>),
    ) -> Vec<(usize, usize, f64)> {
        let mut entries: Vec<_> = diagonal_entries(singles)
            .into_iter()
            .filter(|&(i, ..)| matches!(self.place[i], Place::Single))
            .collect();
        self.blocks.iter().for_each(|b| of_block(b, &mut entries));
        self.bands.iter().for_each(|b| of_band(b, &mut entries));
        entries.sort_by_key(|&(i, j, _)| (i, j));
        entries
    }
}

/// Checks entries, adds duplicates up, makes pairs equal; sorted by rows, without zeros.
fn gather(
    dimension: usize,
    entries: &[(usize, usize, f64)],
) -> Result<Vec<(usize, usize, f64)>, SystemError> {
    for &(i, j, value) in entries {
        if let Some(&coordinate) = [i, j].iter().find(|&&k| k >= dimension) {
            let name = "the mass matrix".to_owned();
            return Err(ConstraintError::UnknownCoordinate { name, coordinate, dimension }.into());
        }
        if !value.is_finite() {
            return Err(SystemError::Mass { coordinate: i, value });
        }
    }
    // Mirror images beside one another, the lower triangle's first.
    let mut sorted = entries.to_vec();
    sorted.sort_by_key(|&(i, j, _)| (i.max(j), i.min(j), i < j));
    let largest = entries.iter().fold(0.0_f64, |a, e| a.max(e.2.abs()));
    let mut gathered = Vec::with_capacity(entries.len());
    for pair in sorted.chunk_by(|a, b| (a.0.max(a.1), a.0.min(a.1)) == (b.0.max(b.1), b.0.min(b.1)))
    {
        let (i, j) = (pair[0].0.max(pair[0].1), pair[0].0.min(pair[0].1));
        let sum = |row| pair.iter().filter(|e| e.0 == row).fold(0.0, |sum, e| sum + e.2);
        let (lower, upper): (f64, f64) = (sum(i), sum(j));
        if (lower - upper).abs() > 1e-12 * largest {
            return Err(SystemError::AsymmetricMass {
                row: i,
                column: j,
                difference: lower - upper,
            });
        }
        let mean = 0.5 * (lower + upper);
        if mean == 0.0 {
            continue;
        }
        gathered.push((i, j, mean));
        if i != j {
            gathered.push((j, i, mean));
        }
    }
    gathered.sort_by_key(|&(i, j, _)| (i, j));
    Ok(gathered)
}

fn diagonal_entries(diagonal: &[f64]) -> Vec<(usize, usize, f64)> {
    diagonal.iter().enumerate().map(|(i, &m)| (i, i, m)).collect()
}

fn reciprocals(mass: &[f64]) -> Vec<f64> {
    mass.iter().map(|&m| if m == 0.0 { 0.0 } else { 1.0 / m }).collect()
}

fn scale(factors: &[f64], x: &[f64], y: &mut [f64]) {
    for ((y, x), f) in y.iter_mut().zip(x).zip(factors) {
        *y = f * x;
    }
}
