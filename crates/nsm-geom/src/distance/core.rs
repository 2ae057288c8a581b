//! A convex body as a core plus a radius, at a pose in the inertial frame.

use crate::{
    Mat3, Polyhedron, Pose, Shape, SignedDistance, Vec3,
    shape::{Cuboid, Cylinder, Ellipsoid, Intersection, primitive::unit_or_zero},
};

/// What remains of a shape when its rounding is taken off.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind<'a> {
    Point,
    /// Along the third axis, with this half length.
    Segment(f64),
    Cuboid(&'a Cuboid),
    Polyhedron(&'a Polyhedron),
    Ellipsoid(&'a Ellipsoid),
    Cylinder(&'a Cylinder),
    Intersection(&'a Intersection),
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Core<'a> {
    pub(crate) kind: Kind<'a>,
    pub(crate) pose: Pose,
    pub(crate) radius: f64,
}

/// Calls `visit` with each convex part of a shape at a pose.
pub(super) fn each_convex_part(shape: &Shape, pose: &Pose, visit: &mut dyn FnMut(Core)) {
    visit_parts(shape, pose, 0.0, visit);
}

fn visit_parts(shape: &Shape, pose: &Pose, radius: f64, visit: &mut dyn FnMut(Core)) {
    let (kind, own) = match shape {
        Shape::Union(u) => {
            u.parts().iter().for_each(|p| visit_parts(p, pose, radius, visit));
            return;
        }
        Shape::Placed(p) => return visit_parts(p.shape(), &(*pose * *p.pose()), radius, visit),
        Shape::Rounded(r) => return visit_parts(r.shape(), pose, radius + r.radius(), visit),
        Shape::Sphere(s) => (Kind::Point, s.radius()),
        Shape::Capsule(s) => (Kind::Segment(s.half_length()), s.radius()),
        Shape::Cuboid(s) => (Kind::Cuboid(s), 0.0),
        Shape::Polyhedron(s) => (Kind::Polyhedron(s), 0.0),
        Shape::Ellipsoid(s) => (Kind::Ellipsoid(s), 0.0),
        Shape::Cylinder(s) => (Kind::Cylinder(s), 0.0),
        Shape::Intersection(s) => (Kind::Intersection(s), 0.0),
    };
    visit(Core { kind, pose: *pose, radius: radius + own });
}

impl Core<'_> {
    /// Support point of the core in the inertial frame.
    #[inline]
    pub(super) fn support(&self, u: &Vec3) -> Vec3 {
        let local = self.pose.rot.tr_mul(u);
        let p = match self.kind {
            Kind::Point => return self.pose.x,
            Kind::Segment(l) => Vec3::new(0.0, 0.0, l.copysign(local.z)),
            Kind::Cuboid(s) => s.support(&local),
            Kind::Polyhedron(s) => s.support(&local),
            Kind::Ellipsoid(s) => s.support(&local),
            Kind::Cylinder(s) => s.support(&local),
            Kind::Intersection(s) => s.support(&local),
        };
        self.pose.act(&p)
    }

    pub(super) fn is_point(&self) -> bool {
        matches!(self.kind, Kind::Point)
    }

    pub(super) fn is_ellipsoid(&self) -> bool {
        matches!(self.kind, Kind::Ellipsoid(_))
    }

    pub(super) fn is_curved(&self) -> bool {
        matches!(self.kind, Kind::Ellipsoid(_) | Kind::Cylinder(_) | Kind::Intersection(_))
    }

    /// A point within the core.
    pub(super) fn centre(&self) -> Vec3 {
        match self.kind {
            Kind::Polyhedron(s) => {
                self.pose.act(&(s.vertices().iter().sum::<Vec3>() / s.vertices().len() as f64))
            }
            Kind::Intersection(s) => self.pose.act(s.inner_point()),
            _ => self.pose.x,
        }
    }

    /// Exact signed distance of a point to the core, or `None` for an intersection, whose is not exact.
    pub(super) fn signed_distance(&self, z: &Vec3) -> Option<SignedDistance> {
        let local = self.pose.act_inverse(z);
        let psi = match self.kind {
            Kind::Point => from_nearest(&local, &Vec3::zeros()),
            Kind::Segment(l) => from_nearest(&local, &Vec3::new(0.0, 0.0, local.z.clamp(-l, l))),
            Kind::Cuboid(s) => s.signed_distance(&local),
            Kind::Polyhedron(s) => s.signed_distance(&local),
            Kind::Ellipsoid(s) => {
                let psi = s.signed_distance(&local);
                // On the ridge any of the nearest points will do.
                let towards = || (s.closest_point(&local) - local).try_normalize(0.0);
                SignedDistance { gradient: psi.gradient.or_else(towards), ..psi }
            }
            Kind::Cylinder(s) => s.signed_distance(&local),
            Kind::Intersection(_) => return None,
        };
        Some(SignedDistance { value: psi.value, gradient: psi.gradient.map(|g| self.pose.rot * g) })
    }

    /// How far a point is outside the core; zero where that is not known.
    pub(super) fn outside(&self, z: &Vec3) -> f64 {
        self.signed_distance(z).map_or(0.0, |psi| psi.value.max(0.0))
    }

    /// The point of the core nearest to `z`.
    pub(super) fn nearest(&self, z: &Vec3) -> Vec3 {
        match self.signed_distance(z) {
            Some(SignedDistance { value, gradient: Some(g) }) if value > 0.0 => z - value * g,
            _ => *z,
        }
    }

    /// $\nabla^2h(u)$ in the inertial frame, or `None` where it is not known.
    pub(super) fn curvature(&self, u: &Vec3) -> Option<Mat3> {
        let local = self.pose.rot.tr_mul(u);
        let h = match self.kind {
            Kind::Ellipsoid(s) => {
                let e = s.semi_axes();
                let w = e.component_mul(&local);
                let q = unit_or_zero(&w);
                let scaled = Mat3::identity() - q * q.transpose();
                Mat3::from_fn(|i, j| e[i] * scaled[(i, j)] * e[j]) / w.norm()
            }
            Kind::Cylinder(s) => {
                let across = local.x.hypot(local.y);
                if across == 0.0 {
                    return None;
                }
                let tangent = Vec3::new(-local.y, local.x, 0.0) / across;
                tangent * tangent.transpose() * (s.radius() / across)
            }
            Kind::Intersection(s) => {
                // Differences of the support point, which is exact to round-off.
                let h = 1e-5 * local.norm();
                let column = |i: usize| {
                    let e = Vec3::ith(i, h);
                    (s.support(&(local + e)) - s.support(&(local - e))) / (2.0 * h)
                };
                let m = Mat3::from_columns(&[column(0), column(1), column(2)]);
                0.5 * (m + m.transpose())
            }
            _ => return Some(Mat3::zeros()),
        };
        Some(self.pose.rot * h * self.pose.rot.transpose())
    }

    /// Support point of the feature that holds `known`: that point itself for a polyhedral core, a point of the
    /// same rim for a cylinder.
    pub(super) fn support_near(&self, u: &Vec3, known: &Vec3) -> Vec3 {
        match self.kind {
            Kind::Point | Kind::Segment(_) | Kind::Cuboid(_) | Kind::Polyhedron(_) => *known,
            Kind::Cylinder(s) => {
                let mut local = s.support(&self.pose.rot.tr_mul(u));
                local.z = s.half_length().copysign(self.pose.act_inverse(known).z);
                self.pose.act(&local)
            }
            Kind::Ellipsoid(_) | Kind::Intersection(_) => self.support(u),
        }
    }

    /// Directions along which the core is flat where normal `u` touches it, `offset` being that between two
    /// support points of the contact.
    pub(super) fn flat_directions(
        &self,
        u: &Vec3,
        offset: &Vec3,
        flatness: Flatness,
        push: &mut dyn FnMut(Vec3),
    ) {
        match (self.kind, flatness) {
            (Kind::Segment(_) | Kind::Cuboid(_) | Kind::Polyhedron(_), _) => push(*offset),
            (Kind::Cylinder(_), Flatness::Nearly) => {
                let local = self.pose.rot.tr_mul(u);
                if local.x.hypot(local.y) < NEARLY_FLAT {
                    push(self.pose.rot.column(0).into_owned());
                    push(self.pose.rot.column(1).into_owned());
                } else if local.z.abs() < NEARLY_FLAT {
                    push(self.pose.rot.column(2).into_owned());
                }
            }
            _ => {}
        }
    }

    /// Does it make a difference how [`Flatness`] is read?
    pub(super) fn may_be_flat(&self) -> bool {
        matches!(self.kind, Kind::Cylinder(_))
    }
}

/// How to read a cylinder that a normal touches almost flat, on a cap or along its side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flatness {
    /// As lying flat.
    Nearly,
    /// As touching with its rim.
    Not,
}

/// Sine of the angle to a cap or side within which a cylinder is tried as lying flat.
const NEARLY_FLAT: f64 = 1e-3;

fn from_nearest(z: &Vec3, nearest: &Vec3) -> SignedDistance {
    let r = z - nearest;
    let d = r.norm();
    SignedDistance { value: d, gradient: (d > 0.0).then(|| r / d) }
}
