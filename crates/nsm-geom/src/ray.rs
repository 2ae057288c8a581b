//! How far a ray travels inside a convex body, and through which piece of its surface it leaves.
//!
//! From a point $p$ of the body along a unit vector $d$, the largest $s$ with $p + sd$ still in the body: the
//! radial function of a body seen from within, exact for the primitives, by Newton's method on the convex
//! function $\psi(p + sd)$ for rounded ones. Pieces are numbered so that the radial function is smooth on
//! each: the sides of a box, the faces of a polyhedron, side and caps of a cylinder, the parts of an
//! intersection.

use crate::{Shape, Vec3};

/// Where a ray leaves a body.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Exit {
    pub(crate) length: f64,
    pub(crate) piece: usize,
}

impl Exit {
    const NEVER: Self = Self { length: f64::INFINITY, piece: 0 };

    fn first(self, other: Self) -> Self {
        if other.length < self.length { other } else { self }
    }
}

impl Shape {
    /// Exit of the ray from inner point `p` along unit vector `d`.
    pub(crate) fn exit(&self, p: &Vec3, d: &Vec3) -> Exit {
        match self {
            Self::Sphere(s) => whole(quadric(p, d, &Vec3::repeat(s.radius()))),
            Self::Ellipsoid(s) => whole(quadric(p, d, s.semi_axes())),
            Self::Cuboid(s) => {
                let b = s.half_extents();
                (0..3).map(|i| slab(p[i], d[i], b[i], 2 * i)).fold(Exit::NEVER, Exit::first)
            }
            Self::Cylinder(s) => {
                let (across, along) = (Vec3::new(p.x, p.y, 0.0), Vec3::new(d.x, d.y, 0.0));
                let side = quadric(&across, &along, &Vec3::repeat(s.radius()));
                whole(side).first(slab(p.z, d.z, s.half_length(), 1))
            }
            Self::Polyhedron(s) => s
                .faces()
                .iter()
                .enumerate()
                .filter(|(_, f)| f.normal.dot(d) > 0.0)
                .map(|(piece, f)| Exit { length: -f.height(p) / f.normal.dot(d), piece })
                .fold(Exit::NEVER, Exit::first),
            Self::Placed(s) => s.shape.exit(&s.pose.act_inverse(p), &s.pose.rot.tr_mul(d)),
            Self::Capsule(_) | Self::Rounded(_) | Self::Union(_) => {
                whole(self.exit_by_newton(p, d))
            }
            Self::Intersection(s) => {
                let mut first = Exit::NEVER;
                let mut offset = 0;
                for part in s.parts() {
                    let Exit { length, piece } = part.exit(p, d);
                    first = first.first(Exit { length, piece: offset + piece });
                    offset += part.pieces();
                }
                first
            }
        }
    }

    fn pieces(&self) -> usize {
        match self {
            Self::Cuboid(_) => 6,
            Self::Cylinder(_) => 3,
            Self::Polyhedron(s) => s.faces().len(),
            Self::Placed(s) => s.shape.pieces(),
            Self::Intersection(s) => s.parts().iter().map(Self::pieces).sum(),
            _ => 1,
        }
    }

    /// From outside Newton's iterates on a convex function decrease to the root.
    fn exit_by_newton(&self, p: &Vec3, d: &Vec3) -> f64 {
        let mut s = 2.0 * self.bounding_radius() + p.norm();
        for _ in 0..100 {
            let psi = self.signed_distance(&(p + s * d));
            let Some(n) = psi.gradient else { break };
            let slope = n.dot(d);
            if slope <= 0.0 {
                break;
            }
            let next = s - psi.value / slope;
            if (s - next).abs() <= 2.0 * f64::EPSILON * s {
                return next;
            }
            s = next;
        }
        s
    }
}

fn whole(length: f64) -> Exit {
    Exit { length, piece: 0 }
}

/// $|z/e| = 1$ along the ray; infinite for a ray along the axis of a degenerate quadric.
fn quadric(p: &Vec3, d: &Vec3, e: &Vec3) -> f64 {
    let (p, d) = (p.component_div(e), d.component_div(e));
    let (a, b, c) = (d.norm_squared(), p.dot(&d), 1.0 - p.norm_squared());
    if a == 0.0 {
        return f64::INFINITY;
    }
    let root = (b * b + a * c.max(0.0)).sqrt();
    // Of the two forms of the root the one without cancellation.
    if b > 0.0 { c / (b + root) } else { (root - b) / a }
}

fn slab(p: f64, d: f64, b: f64, piece: usize) -> Exit {
    if d > 0.0 {
        Exit { length: (b - p) / d, piece }
    } else if d < 0.0 {
        Exit { length: (-b - p) / d, piece: piece + 1 }
    } else {
        Exit::NEVER
    }
}
