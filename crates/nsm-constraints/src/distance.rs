//! Functions of the vector between a point and a fixed centre, or between two points.
//!
//! With $x = x_a - c$ or $x = x_a - x_b$ in one to three dimensions, $r = |x|$ and $n = x / r$:
//! $$ \nabla \varphi(r) = \varphi\' n, \qquad
//!    \nabla^2 \varphi(r) = \varphi\'\' n n^\top + \frac{\varphi\'}{r} (I - n n^\top), $$
//! with alternating signs over the two points. Every such function here supplies $a$ and $b$ in
//! $\nabla \varphi = a x$, $\nabla^2 \varphi = a I + b\\, x x^\top$; where $r = 0$ leaves the direction undefined, the
//! gradient is zero.

use crate::{ConstraintError, affine::finite};

/// The vector $x$, as a block of coordinates.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Separation {
    /// Coordinates of the first point, then of the second, if there is one.
    pub(crate) coordinates: Vec<usize>,
    dimension: usize,
    centre: [f64; 3],
}

impl Separation {
    pub(crate) fn from_point(point: &[usize], centre: &[f64]) -> Result<Self, ConstraintError> {
        dimension(point)?;
        if centre.len() != point.len() {
            let (length, expected) = (centre.len(), point.len());
            return Err(ConstraintError::Length { what: "the centre", length, expected });
        }
        crate::blocks::check_distinct(point)?;
        let mut c = [0.0; 3];
        for (c, &x) in c.iter_mut().zip(centre) {
            finite("a coordinate of the centre", x)?;
            *c = x;
        }
        Ok(Self { coordinates: point.to_vec(), dimension: point.len(), centre: c })
    }

    pub(crate) fn between(a: &[usize], b: &[usize]) -> Result<Self, ConstraintError> {
        dimension(a)?;
        if b.len() != a.len() {
            let (length, expected) = (b.len(), a.len());
            return Err(ConstraintError::Length { what: "the second point", length, expected });
        }
        let coordinates = [a, b].concat();
        crate::blocks::check_distinct(&coordinates)?;
        Ok(Self { coordinates, dimension: a.len(), centre: [0.0; 3] })
    }

    /// Coordinates and centre, in two dimensions.
    pub(crate) fn in_plane(&self) -> Option<(&[usize], [f64; 3])> {
        (self.dimension == 2).then_some((&self.coordinates, self.centre))
    }

    /// $x$, with zeros beyond the dimension.
    #[inline]
    pub(crate) fn vector(&self, q: &[f64]) -> [f64; 3] {
        let c = &self.centre;
        // Planes and space without a loop: every rod of a chain comes here several times a step.
        match (self.dimension, &self.coordinates[..]) {
            (2, &[x, y]) => [q[x] - c[0], q[y] - c[1], 0.0],
            (2, &[x, y, u, v]) => [q[x] - q[u], q[y] - q[v], 0.0],
            (3, &[x, y, z]) => [q[x] - c[0], q[y] - c[1], q[z] - c[2]],
            (3, &[x, y, z, u, v, w]) => [q[x] - q[u], q[y] - q[v], q[z] - q[w]],
            (_, &[x, u]) => [q[x] - q[u], 0.0, 0.0],
            (_, block) => [block.first().map_or(0.0, |&x| q[x]) - c[0], 0.0, 0.0],
        }
    }

    /// Writes $a\\,x$, with the opposite sign for the second point.
    #[inline]
    pub(crate) fn gradient(&self, x: &[f64; 3], a: f64, out: &mut [f64]) {
        let d = self.dimension;
        for k in 0..d {
            out[k] = a * x[k];
        }
        if self.coordinates.len() > d {
            for k in 0..d {
                out[d + k] = -a * x[k];
            }
        }
    }

    /// Adds $a I + b\\, x x^\top$, with the opposite sign between the two points.
    #[inline]
    pub(crate) fn hessian(&self, x: &[f64; 3], a: f64, b: f64, out: &mut [f64]) {
        let (d, size) = (self.dimension, self.coordinates.len());
        let points = size / d;
        for i in 0..d {
            for j in 0..d {
                let entry = b * x[i] * x[j] + if i == j { a } else { 0.0 };
                for s in 0..points {
                    for t in 0..points {
                        let at = (s * d + i) * size + t * d + j;
                        out[at] += if s == t { entry } else { -entry };
                    }
                }
            }
        }
    }
}

fn dimension(point: &[usize]) -> Result<(), ConstraintError> {
    if (1..=3).contains(&point.len()) {
        return Ok(());
    }
    Err(ConstraintError::Length { what: "a point", length: point.len(), expected: 3 })
}

/// $|x|$ without overflow for the sizes that occur in mechanics, exact for one coordinate.
#[inline]
pub(crate) fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

pub(crate) fn positive(what: &'static str, value: f64) -> Result<(), ConstraintError> {
    if value > 0.0 && value.is_finite() {
        Ok(())
    } else {
        Err(ConstraintError::Parameter { what, must: "positive and finite", value })
    }
}

pub(crate) fn not_negative(what: &'static str, value: f64) -> Result<(), ConstraintError> {
    if value >= 0.0 && value.is_finite() {
        Ok(())
    } else {
        Err(ConstraintError::Parameter { what, must: "finite and not negative", value })
    }
}
