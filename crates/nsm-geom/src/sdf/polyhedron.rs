//! Signed distance to a convex polyhedron, exact: the nearest face plane from inside, the nearest point of
//! a face, edge or vertex from outside.

use super::SignedDistance;
use crate::{Polyhedron, Vec3, polyhedron::Face};

/// Distances that differ by less than this fraction of the size of the numbers involved are equal.
const TIE: f64 = 8.0 * f64::EPSILON;

impl Polyhedron {
    /// $\psi(z)$ and $\nabla\psi(z)$; no gradient where several faces are nearest from inside, nor on edges
    /// and vertices of the surface.
    pub fn signed_distance(&self, z: &Vec3) -> SignedDistance {
        let mut highest = f64::NEG_INFINITY;
        let mut nearest = 0;
        for (i, face) in self.faces().iter().enumerate() {
            let d = face.height(z);
            if d > highest {
                (highest, nearest) = (d, i);
            }
        }
        let tie = TIE * self.faces().iter().map(|f| f.offset.abs()).fold(z.amax(), f64::max);
        if highest <= tie {
            let tied = self.faces().iter().filter(|f| highest - f.height(z) <= tie).count();
            return if tied > 1 {
                SignedDistance::without_gradient(highest)
            } else {
                SignedDistance::new(highest, self.faces()[nearest].normal)
            };
        }
        let closest = self.closest_outside(z);
        let r = z - closest;
        let d = r.norm();
        if d > tie { SignedDistance::new(d, r / d) } else { SignedDistance::without_gradient(d) }
    }

    /// Nearest point of the surface to a point outside.
    fn closest_outside(&self, z: &Vec3) -> Vec3 {
        let mut best = self.vertices()[0];
        let mut distance = f64::INFINITY;
        for face in self.faces() {
            let height = face.height(z);
            if height > 0.0 && height < distance {
                let p = face.closest(self.vertices(), z);
                let d = (z - p).norm();
                if d < distance {
                    (best, distance) = (p, d);
                }
            }
        }
        best
    }
}

impl Face {
    /// Signed distance to the face's plane.
    #[inline]
    pub(crate) fn height(&self, z: &Vec3) -> f64 {
        self.normal.dot(z) - self.offset
    }

    /// Nearest point of the polygon.
    fn closest(&self, vertices: &[Vec3], z: &Vec3) -> Vec3 {
        let corner = |k: usize| vertices[self.vertices[k % self.vertices.len()]];
        let mut best = z - self.height(z) * self.normal;
        let mut distance = f64::INFINITY;
        for k in 0..self.vertices.len() {
            let (a, b) = (corner(k), corner(k + 1));
            let along = b - a;
            if along.cross(&self.normal).dot(&(z - a)) > 0.0 {
                let t = ((z - a).dot(&along) / along.norm_squared()).clamp(0.0, 1.0);
                let p = a + t * along;
                let d = (z - p).norm_squared();
                if d < distance {
                    (best, distance) = (p, d);
                }
            }
        }
        best
    }
}
