//! Massless rods, normalised so that the residual reads as a length.
//!
//! $$ f = \frac{|x|^2 - l^2}{2 l}, \qquad \nabla f = \frac{x}{l}, \qquad \nabla^2 f = \frac{1}{l} I $$
//! near $|x| = l$ this is $|x| - l$ to first order, polynomial and without a kink at zero. For $l = 1$ it is
//! $\tfrac12(|x|^2 - 1)$.

use crate::distance::{Separation, positive};
use crate::{ConstraintError, Field};

/// A rod of fixed length from a point to a pivot or to another point, in one to three dimensions.
#[derive(Clone, Debug, PartialEq)]
pub struct Rod {
    separation: Separation,
    length: f64,
    reciprocal: f64,
}

impl Rod {
    /// A rod from a point to a fixed pivot.
    ///
    /// # Errors
    /// A point without 1 to 3 distinct coordinates, a pivot of another dimension, a length that is not positive.
    pub fn to_pivot(point: &[usize], pivot: &[f64], length: f64) -> Result<Self, ConstraintError> {
        positive("the length of a rod", length)?;
        Ok(Self::of(Separation::from_point(point, pivot)?, length))
    }

    /// A rod between two points.
    ///
    /// # Errors
    /// Points of different dimension or with common coordinates, a length that is not positive.
    pub fn between(a: &[usize], b: &[usize], length: f64) -> Result<Self, ConstraintError> {
        positive("the length of a rod", length)?;
        Ok(Self::of(Separation::between(a, b)?, length))
    }

    /// Coordinates and centre, if the rod lies in the plane.
    pub(crate) fn in_plane(&self) -> Option<(&[usize], [f64; 3])> {
        self.separation.in_plane()
    }

    /// $l$ and $1/l$.
    pub(crate) fn length(&self) -> (f64, f64) {
        (self.length, self.reciprocal)
    }

    fn of(separation: Separation, length: f64) -> Self {
        Self { separation, length, reciprocal: 1.0 / length }
    }
}

impl Field for Rod {
    fn coordinates(&self) -> &[usize] {
        &self.separation.coordinates
    }

    fn value(&self, q: &[f64], _t: f64) -> f64 {
        let [x, y, z] = self.separation.vector(q);
        (x * x + y * y + z * z - self.length * self.length) * (0.5 * self.reciprocal)
    }

    fn gradient(&self, q: &[f64], _t: f64, out: &mut [f64]) {
        self.separation.gradient(&self.separation.vector(q), self.reciprocal, out);
    }

    fn hessian(&self, _q: &[f64], _t: f64, w: f64, out: &mut [f64]) {
        self.separation.hessian(&[0.0; 3], w * self.reciprocal, 0.0, out);
    }
    fn is_quadratic(&self) -> bool {
        true
    }
}
