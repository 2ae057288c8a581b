//! All extreme points of a shape that are highest in a direction, up to a tolerance.
//!
//! A cube lying flat touches the plane with four vertices at once, a cylinder on its side with two ends of
//! a line. Curved shapes have one such point. A cylinder's cap, a disc, is represented by four points of
//! its rim, and an intersection by its support point alone.

use super::{Capsule, Cylinder, Shape, primitive::unit_or_zero};
use crate::Vec3;

impl Shape {
    /// Calls `emit` with each extreme point $\rho$ that has $u\cdot\rho \ge$ `level`.
    pub(crate) fn extreme_points(&self, u: &Vec3, level: f64, emit: &mut dyn FnMut(Vec3)) {
        let mut above = |p: Vec3| {
            if u.dot(&p) >= level {
                emit(p);
            }
        };
        match self {
            Self::Sphere(_) | Self::Ellipsoid(_) | Self::Intersection(_) => above(self.support(u)),
            Self::Cuboid(s) => (0..8).for_each(|k| above(s.vertex(k))),
            Self::Polyhedron(s) => s.vertices().iter().for_each(|v| above(*v)),
            Self::Capsule(s) => s.ends(u).into_iter().for_each(above),
            Self::Cylinder(s) => s.rim_points(u).into_iter().for_each(above),
            Self::Placed(s) => {
                let inner = s.pose.rot.tr_mul(u);
                let level = level - u.dot(&s.pose.x);
                s.shape.extreme_points(&inner, level, &mut |p| emit(s.pose.act(&p)));
            }
            Self::Rounded(s) => {
                let offset = unit_or_zero(u) * s.radius;
                s.shape.extreme_points(u, level - s.radius * u.norm(), &mut |p| emit(p + offset));
            }
            Self::Union(s) => s.parts().iter().for_each(|p| p.extreme_points(u, level, emit)),
        }
    }

    /// How many points [`Shape::extreme_points`] can emit at most.
    pub(crate) fn extreme_point_bound(&self) -> usize {
        match self {
            Self::Sphere(_) | Self::Ellipsoid(_) | Self::Intersection(_) => 1,
            Self::Cuboid(_) | Self::Cylinder(_) => 8,
            Self::Capsule(_) => 2,
            Self::Polyhedron(s) => s.vertices().len(),
            Self::Placed(s) => s.shape.extreme_point_bound(),
            Self::Rounded(s) => s.shape.extreme_point_bound(),
            Self::Union(s) => s.parts().iter().map(Self::extreme_point_bound).sum(),
        }
    }
}

impl Capsule {
    fn ends(&self, u: &Vec3) -> [Vec3; 2] {
        let cap = unit_or_zero(u) * self.radius();
        let end = Vec3::z() * self.half_length();
        [cap - end, cap + end]
    }
}

impl Cylinder {
    /// On both rims: the point towards $u$, its opposite, and the two a quarter turn away.
    fn rim_points(&self, u: &Vec3) -> [Vec3; 8] {
        let across = Vec3::new(u.x, u.y, 0.0);
        let radial = if across.norm() > 0.0 { across.normalize() } else { Vec3::x() };
        let (r, q) = (radial * self.radius(), Vec3::z().cross(&radial) * self.radius());
        let end = Vec3::z() * self.half_length();
        [r - end, q - end, -r - end, -q - end, r + end, q + end, -r + end, -q + end]
    }
}
