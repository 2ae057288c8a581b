//! Exact intersection of polyhedral shapes.
//!
//! Seen from an inner point $p$, the half-space $n\cdot(z-p) \le \delta$ is dual to the point $n/\delta$, and the
//! intersection of half-spaces to the convex hull of these points: its faces $m\cdot q = 1$ are the vertices
//! $p + m$ of the intersection.

use super::Shape;
use crate::{GeomError, Polyhedron, Vec3};

/// The intersection of polyhedral shapes with common inner point `p`.
pub(super) fn intersect(parts: &[Shape], p: &Vec3) -> Result<Polyhedron, GeomError> {
    let mut dual = Vec::new();
    for part in parts {
        part.each_half_space(&mut |n, d| dual.push(n / (d - n.dot(p))));
    }
    let hull = Polyhedron::hull(&dual)?;
    let vertices: Vec<Vec3> = hull.faces().iter().map(|f| p + f.normal / f.offset).collect();
    Polyhedron::hull(&vertices)
}

impl Shape {
    /// Is the shape bounded by planes alone?
    pub(super) fn is_polyhedral(&self) -> bool {
        match self {
            Self::Cuboid(_) | Self::Polyhedron(_) => true,
            Self::Placed(p) => p.shape.is_polyhedral(),
            _ => false,
        }
    }

    /// Calls `emit` with $n$, $d$ for each half-space $n\cdot z \le d$ of a polyhedral shape.
    pub(super) fn each_half_space(&self, emit: &mut dyn FnMut(Vec3, f64)) {
        match self {
            Self::Cuboid(s) => {
                for i in 0..3 {
                    emit(Vec3::ith(i, 1.0), s.half_extents()[i]);
                    emit(Vec3::ith(i, -1.0), s.half_extents()[i]);
                }
            }
            Self::Polyhedron(s) => s.faces().iter().for_each(|f| emit(f.normal, f.offset)),
            Self::Placed(s) => s.shape.each_half_space(&mut |n, d| {
                let n = s.pose.rot * n;
                emit(n, d + n.dot(&s.pose.x));
            }),
            _ => {}
        }
    }
}
