//! Gaps to spheres: inside one, outside one, between two balls.
//!
//! | gap | $g$ |
//! |---|---|
//! | inside a sphere | $R - \lvert x - c \rvert$ |
//! | outside a sphere | $\lvert x - c \rvert - R$ |
//! | between two balls, \[KP\] (7.5) | $\lvert x_a - x_b \rvert - r_a - r_b$ |
//!
//! All are distances with unit gradient per point. In one dimension they are intervals.

use crate::distance::{Separation, norm, not_negative, positive};
use crate::{ConstraintError, Field};

/// $\pm(|x| - R)$ in one to three dimensions.
#[derive(Clone, Debug, PartialEq)]
pub struct SphereGap {
    separation: Separation,
    radius: f64,
    /// $+1$ outside, $-1$ inside.
    side: f64,
}

impl SphereGap {
    /// $R - |x - c|$: a point kept inside a sphere.
    ///
    /// # Errors
    /// A point without 1 to 3 distinct coordinates, a centre of another dimension, a radius that is not positive.
    pub fn inside(point: &[usize], centre: &[f64], radius: f64) -> Result<Self, ConstraintError> {
        positive("the radius of a sphere", radius)?;
        Ok(Self { separation: Separation::from_point(point, centre)?, radius, side: -1.0 })
    }

    /// $|x - c| - R$: a point kept outside a sphere.
    ///
    /// # Errors
    /// As for [`SphereGap::inside`].
    pub fn outside(point: &[usize], centre: &[f64], radius: f64) -> Result<Self, ConstraintError> {
        positive("the radius of a sphere", radius)?;
        Ok(Self { separation: Separation::from_point(point, centre)?, radius, side: 1.0 })
    }

    /// $|x_a - x_b| - r_a - r_b$: two balls that do not overlap.
    ///
    /// # Errors
    /// Points of different dimension or with common coordinates, negative radii.
    pub fn between_balls(
        a: &[usize],
        b: &[usize],
        radius_a: f64,
        radius_b: f64,
    ) -> Result<Self, ConstraintError> {
        not_negative("the radius of a ball", radius_a)?;
        not_negative("the radius of a ball", radius_b)?;
        let radius = radius_a + radius_b;
        Ok(Self { separation: Separation::between(a, b)?, radius, side: 1.0 })
    }

    /// $\pm 1/r$, zero at the centre where the normal is undefined.
    fn reciprocal(&self, x: &[f64; 3]) -> f64 {
        let r = norm(x);
        if r > 0.0 { self.side / r } else { 0.0 }
    }
}

impl Field for SphereGap {
    fn coordinates(&self) -> &[usize] {
        &self.separation.coordinates
    }

    fn value(&self, q: &[f64], _t: f64) -> f64 {
        self.side * (norm(&self.separation.vector(q)) - self.radius)
    }

    fn gradient(&self, q: &[f64], _t: f64, out: &mut [f64]) {
        let x = self.separation.vector(q);
        self.separation.gradient(&x, self.reciprocal(&x), out);
    }

    fn hessian(&self, q: &[f64], _t: f64, w: f64, out: &mut [f64]) {
        let x = self.separation.vector(q);
        let a = self.reciprocal(&x);
        self.separation.hessian(&x, w * a, -w * a * a * a, out);
    }
}
