//! Shapes of rigid bodies, convex ones by their support function.
//!
//! A compact convex set is known by $h(u) = \max_{\rho\in\mathcal B}u\cdot\rho$, and $\rho(u)$ attaining it
//! is all that the distance to a plane (\[TL\] (6.9)), the gap between two bodies and GJK need. Minkowski
//! rounding by $\epsilon$ (\[TL\] (6.11)–(6.13)) adds $\epsilon|u|$. A union's support is that of its convex hull, which
//! is what a plane sees. An intersection's support is a maximisation over the intersection, not a minimum
//! of supports; see [`Intersection`].
//!
//! Everything is in the body frame. Queries do not allocate.

mod active;
mod barrier;
mod extreme;
mod flats;
mod half_spaces;
mod intersection;
pub(crate) mod primitive;

pub(crate) use flats::Flat;
pub use intersection::Intersection;
pub use primitive::{Capsule, Cuboid, Cylinder, Ellipsoid, Sphere};

use crate::{GeomError, Pose, Vec3, error::positive, polyhedron::Polyhedron};
use primitive::unit_or_zero;

/// A shape in its body frame.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// A ball.
    Sphere(Sphere),
    /// An ellipsoid with axes along the frame's.
    Ellipsoid(Ellipsoid),
    /// A box with axes along the frame's.
    Cuboid(Cuboid),
    /// A capsule along the third axis.
    Capsule(Capsule),
    /// A cylinder along the third axis.
    Cylinder(Cylinder),
    /// A convex polyhedron.
    Polyhedron(Polyhedron),
    /// A shape moved within the body frame.
    Placed(Box<Placed>),
    /// A convex shape with a ball added to it.
    Rounded(Box<Rounded>),
    /// A union of convex shapes.
    Union(Union),
    /// An intersection of convex shapes.
    Intersection(Box<Intersection>),
}

/// A shape at a pose within the body frame.
#[derive(Debug, Clone, PartialEq)]
pub struct Placed {
    pub(crate) pose: Pose,
    pub(crate) shape: Shape,
}

/// The Minkowski sum of a convex shape and a ball.
#[derive(Debug, Clone, PartialEq)]
pub struct Rounded {
    pub(crate) shape: Shape,
    pub(crate) radius: f64,
}

/// A union of convex shapes.
#[derive(Debug, Clone, PartialEq)]
pub struct Union {
    pub(crate) parts: Vec<Shape>,
}

impl Shape {
    /// A ball; see [`Sphere::new`].
    ///
    /// # Errors
    /// [`GeomError::NotPositive`].
    pub fn sphere(radius: f64) -> Result<Self, GeomError> {
        Sphere::new(radius).map(Self::Sphere)
    }

    /// An ellipsoid; see [`Ellipsoid::new`].
    ///
    /// # Errors
    /// [`GeomError::NotPositive`].
    pub fn ellipsoid(semi_axes: [f64; 3]) -> Result<Self, GeomError> {
        Ellipsoid::new(semi_axes).map(Self::Ellipsoid)
    }

    /// A box; see [`Cuboid::new`].
    ///
    /// # Errors
    /// [`GeomError::NotPositive`].
    pub fn cuboid(half_extents: [f64; 3]) -> Result<Self, GeomError> {
        Cuboid::new(half_extents).map(Self::Cuboid)
    }

    /// A capsule along the third axis; see [`Capsule::new`].
    ///
    /// # Errors
    /// [`GeomError::NotPositive`].
    pub fn capsule(half_length: f64, radius: f64) -> Result<Self, GeomError> {
        Capsule::new(half_length, radius).map(Self::Capsule)
    }

    /// A cylinder along the third axis; see [`Cylinder::new`].
    ///
    /// # Errors
    /// [`GeomError::NotPositive`].
    pub fn cylinder(half_length: f64, radius: f64) -> Result<Self, GeomError> {
        Cylinder::new(half_length, radius).map(Self::Cylinder)
    }

    /// The convex hull of points; see [`Polyhedron::hull`].
    ///
    /// # Errors
    /// [`GeomError::DegeneratePolyhedron`], [`GeomError::NotFinite`].
    pub fn polyhedron(points: &[Vec3]) -> Result<Self, GeomError> {
        Polyhedron::hull(points).map(Self::Polyhedron)
    }

    /// A union of shapes; nested unions are flattened.
    ///
    /// # Errors
    /// [`GeomError::NoParts`].
    pub fn union(parts: Vec<Self>) -> Result<Self, GeomError> {
        let mut flat = Vec::with_capacity(parts.len());
        for part in parts {
            match part {
                Self::Union(inner) => flat.extend(inner.parts),
                Self::Placed(placed) if matches!(placed.shape, Self::Union(_)) => {
                    let Placed { pose, shape } = *placed;
                    if let Self::Union(inner) = shape {
                        flat.extend(inner.parts.into_iter().map(|p| p.placed(pose)));
                    }
                }
                other => flat.push(other),
            }
        }
        if flat.is_empty() {
            return Err(GeomError::NoParts { what: "union" });
        }
        Ok(Self::Union(Union { parts: flat }))
    }

    /// The shape moved by `pose` within the body frame.
    #[must_use]
    pub fn placed(self, pose: Pose) -> Self {
        match self {
            Self::Placed(inner) => {
                Self::Placed(Box::new(Placed { pose: pose * inner.pose, shape: inner.shape }))
            }
            shape => Self::Placed(Box::new(Placed { pose, shape })),
        }
    }

    /// The shape with its centre moved to `centre`.
    #[must_use]
    pub fn at(self, centre: Vec3) -> Self {
        self.placed(Pose::translation(centre))
    }

    /// The Minkowski sum with a ball of radius $\epsilon$ (\[TL\] (6.11)): the offset body $\mathcal B^\epsilon$.
    ///
    /// Spheres and capsules stay what they are, roundings add up, and a union is rounded part by part.
    ///
    /// # Errors
    /// [`GeomError::NotPositive`].
    pub fn rounded(self, epsilon: f64) -> Result<Self, GeomError> {
        positive("rounding radius", epsilon)?;
        Ok(match self {
            Self::Sphere(s) => Self::sphere(s.radius() + epsilon)?,
            Self::Capsule(c) => Self::capsule(c.half_length(), c.radius() + epsilon)?,
            Self::Rounded(r) => {
                Self::Rounded(Box::new(Rounded { radius: r.radius + epsilon, ..*r }))
            }
            Self::Placed(p) => {
                Self::Placed(Box::new(Placed { pose: p.pose, shape: p.shape.rounded(epsilon)? }))
            }
            Self::Union(u) => Self::Union(Union {
                parts: u.parts.into_iter().map(|p| p.rounded(epsilon)).collect::<Result<_, _>>()?,
            }),
            shape => Self::Rounded(Box::new(Rounded { shape, radius: epsilon })),
        })
    }

    /// A point $\rho(u)$ of the shape with $u\cdot\rho$ largest; where several attain the maximum, one of
    /// them (see [`Shape::plane_contacts`] for all).
    #[inline]
    pub fn support(&self, u: &Vec3) -> Vec3 {
        match self {
            Self::Sphere(s) => s.support(u),
            Self::Ellipsoid(s) => s.support(u),
            Self::Cuboid(s) => s.support(u),
            Self::Capsule(s) => s.support(u),
            Self::Cylinder(s) => s.support(u),
            Self::Polyhedron(s) => s.support(u),
            Self::Placed(s) => s.pose.act(&s.shape.support(&s.pose.rot.tr_mul(u))),
            Self::Rounded(s) => s.shape.support(u) + unit_or_zero(u) * s.radius,
            Self::Union(s) => s.support(u),
            Self::Intersection(s) => s.support(u),
        }
    }

    /// The support function $h(u)$.
    #[inline]
    pub fn support_value(&self, u: &Vec3) -> f64 {
        u.dot(&self.support(u))
    }

    /// Is the shape known to be convex? Everything but a union of several parts is.
    pub fn is_convex(&self) -> bool {
        match self {
            Self::Union(u) => u.parts.len() == 1 && u.parts[0].is_convex(),
            Self::Placed(p) => p.shape.is_convex(),
            Self::Rounded(r) => r.shape.is_convex(),
            _ => true,
        }
    }

    /// Width in the direction in which it is thinnest, among those of its faces and axes; of parts the thinnest: a body that moves less far cannot be on the
    /// other side.
    pub fn thickness(&self) -> f64 {
        match self {
            Self::Sphere(s) => 2.0 * s.radius(),
            Self::Ellipsoid(e) => 2.0 * e.semi_axes().min(),
            Self::Cuboid(c) => 2.0 * c.half_extents().min(),
            Self::Capsule(c) => 2.0 * c.radius(),
            Self::Cylinder(c) => 2.0 * c.radius().min(c.half_length()),
            Self::Polyhedron(p) => {
                let width = |n: &Vec3| self.support_value(n) + self.support_value(&-n);
                p.faces().iter().map(|face| width(&face.normal)).fold(f64::INFINITY, f64::min)
            }
            Self::Placed(p) => p.shape.thickness(),
            Self::Rounded(r) => r.shape.thickness() + 2.0 * r.radius(),
            Self::Union(u) => u.parts().iter().map(Self::thickness).fold(f64::INFINITY, f64::min),
            Self::Intersection(i) => {
                i.parts().iter().map(Self::thickness).fold(f64::INFINITY, f64::min)
            }
        }
    }

    /// Radius of a ball about the origin of the frame that holds the shape (not always the smallest).
    pub fn bounding_radius(&self) -> f64 {
        match self {
            Self::Sphere(s) => s.radius(),
            Self::Ellipsoid(s) => s.semi_axes().max(),
            Self::Cuboid(s) => s.half_extents().norm(),
            Self::Capsule(s) => s.half_length() + s.radius(),
            Self::Cylinder(s) => s.half_length().hypot(s.radius()),
            Self::Polyhedron(s) => s.vertices().iter().map(Vec3::norm).fold(0.0, f64::max),
            Self::Placed(s) => s.pose.x.norm() + s.shape.bounding_radius(),
            Self::Rounded(s) => s.shape.bounding_radius() + s.radius,
            Self::Union(s) => s.parts.iter().map(Self::bounding_radius).fold(0.0, f64::max),
            Self::Intersection(s) => {
                s.parts().iter().map(Self::bounding_radius).fold(f64::INFINITY, f64::min)
            }
        }
    }
}

impl Union {
    /// The parts.
    pub fn parts(&self) -> &[Shape] {
        &self.parts
    }

    /// The best of the parts' supports.
    fn support(&self, u: &Vec3) -> Vec3 {
        let mut best = Vec3::zeros();
        let mut height = f64::NEG_INFINITY;
        for part in &self.parts {
            let p = part.support(u);
            let h = u.dot(&p);
            if h > height {
                (best, height) = (p, h);
            }
        }
        best
    }
}

impl Rounded {
    /// The shape before rounding.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The rounding radius $\epsilon$.
    pub fn radius(&self) -> f64 {
        self.radius
    }
}

impl Placed {
    /// Where the shape sits in the body frame.
    pub fn pose(&self) -> &Pose {
        &self.pose
    }

    /// The shape in its own frame.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }
}
