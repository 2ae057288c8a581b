//! Tangential velocities at gaps: what friction acts on.
//!
//! $$ u_T = T(q, t)\\,v - b(q, t) $$
//! is the velocity of one material point relative to the other in the tangent plane of a contact: one row where the motion is planar, two
//! in space. $b$ is that of a surface that moves by itself, such as a belt or a turntable. A row is linear in $v$ and in general no gradient of anything. It is a length over a time, in the same unit as the
//! rate of the gap, so that a ratio of impulses is one of forces.

use std::ops::Range;
use std::sync::Arc;

use crate::{ConstraintError, Field, check_coordinates};

/// Tangential velocities of one contact, on a block of coordinates.
pub trait Tangent: Send + Sync {
    /// The coordinates whose velocities it depends on.
    fn coordinates(&self) -> &[usize];

    /// Number of directions: one or two.
    fn directions(&self) -> usize;

    /// Writes the coefficients, direction after direction.
    fn coefficients(&self, q: &[f64], t: f64, out: &mut [f64]);

    /// Whether a surface moves by itself, so that [`drift`](Self::drift) is not zero everywhere.
    fn drifts(&self) -> bool {
        false
    }

    /// Writes $-b$, direction after direction: the velocities where no coordinate moves.
    fn drift(&self, _q: &[f64], _t: f64, out: &mut [f64]) {
        out.fill(0.0);
    }

    /// The normal and the tangents as vectors in the world, for contacts in space whose directions turn: impulses are carried from one
    /// configuration to another as such vectors. None where the directions are the same at every configuration.
    fn frame(&self, _q: &[f64], _t: f64) -> Option<[[f64; 3]; 3]> {
        None
    }

    /// The point of contact and, as vectors in the world, the normal on the first party and the tangents; `None` where they are no places.
    fn touch(&self, _q: &[f64], _t: f64) -> Option<([f64; 3], [[f64; 3]; 3])> {
        None
    }
}

/// Rows that are the same at every configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct FixedTangent {
    coordinates: Vec<usize>,
    coefficients: Vec<f64>,
}

impl FixedTangent {
    /// One or two directions by their coefficients on a block of coordinates.
    ///
    /// # Errors
    /// Coefficients that do not fill one or two rows.
    pub fn new(coordinates: &[usize], coefficients: &[f64]) -> Result<Self, ConstraintError> {
        let (expected, length) = (coordinates.len(), coefficients.len());
        if length != expected && length != 2 * expected {
            let what = "the list of tangential coefficients";
            return Err(ConstraintError::Length { what, length, expected });
        }
        Ok(Self { coordinates: coordinates.to_vec(), coefficients: coefficients.to_vec() })
    }
}

impl Tangent for FixedTangent {
    fn coordinates(&self) -> &[usize] {
        &self.coordinates
    }

    fn directions(&self) -> usize {
        self.coefficients.len() / self.coordinates.len().max(1)
    }

    fn coefficients(&self, _q: &[f64], _t: f64, out: &mut [f64]) {
        out.copy_from_slice(&self.coefficients);
    }
}

/// The rate $\nabla\varphi\cdot v$ of a scalar, as one direction.
#[derive(Clone)]
pub struct RateTangent(pub Arc<dyn Field>);

impl Tangent for RateTangent {
    fn coordinates(&self) -> &[usize] {
        self.0.coordinates()
    }

    fn directions(&self) -> usize {
        1
    }

    fn coefficients(&self, q: &[f64], t: f64, out: &mut [f64]) {
        self.0.gradient(q, t, out);
    }
}

/// The tangential velocities of all gaps of a system: rows $2i$ and $2i + 1$ belong to gap $i$, and are empty where it has none. Copies share
/// them.
#[derive(Clone, Default)]
pub struct TangentRows {
    dimension: usize,
    tangents: Vec<Option<Arc<dyn Tangent>>>,
    starts: Vec<usize>,
    columns: Vec<usize>,
}

impl std::fmt::Debug for TangentRows {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TangentRows").field("gaps", &self.tangents.len()).finish_non_exhaustive()
    }
}

impl TangentRows {
    /// None yet, on `dimension` coordinates.
    pub fn new(dimension: usize) -> Self {
        Self { dimension, starts: vec![0], ..Self::default() }
    }

    /// Gives a gap its tangential velocities.
    ///
    /// # Errors
    /// If the block is no set of coordinates of this system, or there are no one or two directions.
    pub fn set(
        &mut self,
        gap: usize,
        name: &str,
        tangent: Box<dyn Tangent>,
    ) -> Result<(), ConstraintError> {
        check_coordinates(name, tangent.coordinates(), self.dimension)?;
        let length = tangent.directions();
        if !(1..=2).contains(&length) {
            let what = "the list of tangential directions";
            return Err(ConstraintError::Length { what, length, expected: 2 });
        }
        // Gaps mostly come in order: what is known of those before this one stays.
        let known = gap.min(self.tangents.len());
        if gap >= self.tangents.len() {
            self.tangents.resize_with(gap + 1, || None);
        }
        self.tangents[gap] = Some(Arc::from(tangent));
        self.starts.truncate(2 * known + 1);
        self.columns.truncate(self.starts[2 * known]);
        for tangent in &self.tangents[known..] {
            for direction in 0..2 {
                if let Some(tangent) = tangent.as_ref().filter(|t| direction < t.directions()) {
                    self.columns.extend_from_slice(tangent.coordinates());
                }
                self.starts.push(self.columns.len());
            }
        }
        Ok(())
    }

    /// The tangential velocities of a gap, if it has any.
    pub fn of(&self, gap: usize) -> Option<&dyn Tangent> {
        self.tangents.get(gap).and_then(Option::as_deref)
    }

    /// Whether any surface moves by itself.
    pub fn drift(&self) -> bool {
        self.tangents.iter().flatten().any(|tangent| tangent.drifts())
    }

    /// The tangential velocities of a gap where no coordinate moves.
    pub fn drift_of(&self, gap: usize, q: &[f64], t: f64) -> [f64; 2] {
        let mut drift = [0.0; 2];
        if let Some(tangent) = self.of(gap).filter(|tangent| tangent.drifts()) {
            tangent.drift(q, t, &mut drift[..tangent.directions()]);
        }
        drift
    }

    /// Number of coefficients over all rows.
    pub fn entries(&self) -> usize {
        self.columns.len()
    }

    /// Where the coefficients of a direction of a gap lie; empty where it has none.
    pub fn span(&self, gap: usize, direction: usize) -> Range<usize> {
        let row = 2 * gap + direction;
        if row + 1 < self.starts.len() { self.starts[row]..self.starts[row + 1] } else { 0..0 }
    }

    /// Columns of a direction of a gap.
    pub fn columns(&self, gap: usize, direction: usize) -> &[usize] {
        &self.columns[self.span(gap, direction)]
    }

    /// Writes the coefficients of a gap into their place among those of all.
    pub fn coefficients(&self, gap: usize, q: &[f64], t: f64, out: &mut [f64]) {
        if let Some(tangent) = self.of(gap) {
            let (from, to) = (self.span(gap, 0).start, self.span(gap, 1).end);
            tangent.coefficients(q, t, &mut out[from..to]);
        }
    }
}
