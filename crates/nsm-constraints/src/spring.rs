//! Linear springs: between points in space, and between coordinates along a line.
//!
//! $$ V = \tfrac{k}{2} (|x| - l)^2, \qquad V = \tfrac{k}{2} (q_i - q_j - l)^2 $$
//! The second one keeps its sign through zero length, as the pogo stick of \[KP\] section 5.1.1 does.

use crate::distance::{Separation, norm, not_negative};
use crate::{ConstraintError, Field};

/// $\tfrac{k}{2}(|x| - l)^2$ in one to three dimensions.
#[derive(Clone, Debug, PartialEq)]
pub struct Spring {
    separation: Separation,
    stiffness: f64,
    length: f64,
}

impl Spring {
    /// A spring between two points.
    ///
    /// # Errors
    /// Points of different dimension or with common coordinates, a negative stiffness or length.
    pub fn between(
        a: &[usize],
        b: &[usize],
        stiffness: f64,
        length: f64,
    ) -> Result<Self, ConstraintError> {
        Self::new(Separation::between(a, b)?, stiffness, length)
    }

    /// A spring from a point to a fixed anchor.
    ///
    /// # Errors
    /// As for [`Spring::between`].
    pub fn to_anchor(
        point: &[usize],
        anchor: &[f64],
        stiffness: f64,
        length: f64,
    ) -> Result<Self, ConstraintError> {
        Self::new(Separation::from_point(point, anchor)?, stiffness, length)
    }

    fn new(separation: Separation, stiffness: f64, length: f64) -> Result<Self, ConstraintError> {
        not_negative("the stiffness of a spring", stiffness)?;
        not_negative("the length of a spring", length)?;
        Ok(Self { separation, stiffness, length })
    }

    /// $l/r$; at zero length the direction is undefined and only a spring with $l = 0$ pulls.
    fn ratio(&self, r: f64) -> f64 {
        if self.length == 0.0 {
            0.0
        } else if r > 0.0 {
            self.length / r
        } else {
            1.0
        }
    }
}

impl Field for Spring {
    fn coordinates(&self) -> &[usize] {
        &self.separation.coordinates
    }

    fn value(&self, q: &[f64], _t: f64) -> f64 {
        let stretch = norm(&self.separation.vector(q)) - self.length;
        0.5 * self.stiffness * stretch * stretch
    }

    fn gradient(&self, q: &[f64], _t: f64, out: &mut [f64]) {
        let x = self.separation.vector(q);
        self.separation.gradient(&x, self.stiffness * (1.0 - self.ratio(norm(&x))), out);
    }

    fn hessian(&self, q: &[f64], _t: f64, w: f64, out: &mut [f64]) {
        let x = self.separation.vector(q);
        let r = norm(&x);
        let ratio = self.ratio(r);
        let k = w * self.stiffness;
        let b = if r > 0.0 { k * ratio / (r * r) } else { 0.0 };
        self.separation.hessian(&x, k * (1.0 - ratio), b, out);
    }
}

/// $\tfrac{k}{2}(q_i - q_j - l)^2$: a spring along a line whose ends may pass each other.
#[derive(Clone, Debug, PartialEq)]
pub struct LineSpring {
    coordinates: [usize; 2],
    stiffness: f64,
    length: f64,
}

impl LineSpring {
    /// A spring that rests when $q_i = q_j + l$.
    ///
    /// # Errors
    /// Twice the same coordinate, a negative stiffness, a length that is not finite.
    pub fn new(i: usize, j: usize, stiffness: f64, length: f64) -> Result<Self, ConstraintError> {
        crate::blocks::check_distinct(&[i, j])?;
        not_negative("the stiffness of a spring", stiffness)?;
        crate::affine::finite("the length of a spring", length)?;
        Ok(Self { coordinates: [i, j], stiffness, length })
    }

    fn stretch(&self, q: &[f64]) -> f64 {
        q[self.coordinates[0]] - q[self.coordinates[1]] - self.length
    }
}

impl Field for LineSpring {
    fn coordinates(&self) -> &[usize] {
        &self.coordinates
    }

    fn value(&self, q: &[f64], _t: f64) -> f64 {
        let stretch = self.stretch(q);
        0.5 * self.stiffness * stretch * stretch
    }

    fn gradient(&self, q: &[f64], _t: f64, out: &mut [f64]) {
        let tension = self.stiffness * self.stretch(q);
        out[0] = tension;
        out[1] = -tension;
    }

    fn hessian(&self, _q: &[f64], _t: f64, w: f64, out: &mut [f64]) {
        let k = w * self.stiffness;
        out[0] += k;
        out[1] -= k;
        out[2] -= k;
        out[3] += k;
    }
}
