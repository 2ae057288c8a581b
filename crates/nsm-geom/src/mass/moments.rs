//! Volume moments $\int 1$, $\int\rho$, $\int\rho\rho^\top$ of shapes about the origin of their frame.
//!
//! These add up over disjoint parts and subtract over overlaps, which inertia tensors do not until they
//! are referred to one point.

use std::f64::consts::PI;

use super::{MassProperties, quadrature, standard};
use crate::{GeomError, Mat3, Polyhedron, Pose, Shape, Vec3};

/// Moments up to the second of a region at unit density, about the origin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Moments {
    pub(crate) volume: f64,
    pub(crate) first: Vec3,
    pub(crate) second: Mat3,
}

impl Moments {
    pub(crate) const ZERO: Self = Self {
        volume: 0.0,
        first: Vec3::new(0.0, 0.0, 0.0),
        second: Mat3::new(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    };

    /// Moments of a shape, those without a closed form to `tolerance` of the volume.
    pub(crate) fn of(shape: &Shape, tolerance: f64) -> Result<Self, GeomError> {
        Ok(match shape {
            Shape::Sphere(s) => ellipsoid(&Vec3::repeat(s.radius())),
            Shape::Ellipsoid(s) => ellipsoid(s.semi_axes()),
            Shape::Cuboid(s) => {
                let b = s.half_extents();
                Self::centred(8.0 * b.product(), b.component_mul(b) / 3.0)
            }
            Shape::Cylinder(s) => cylinder(s.half_length(), s.radius()),
            Shape::Capsule(s) => capsule(s.half_length(), s.radius()),
            Shape::Polyhedron(s) => polyhedron(s),
            Shape::Placed(s) => Self::of(&s.shape, tolerance)?.placed(&s.pose),
            Shape::Rounded(s) if let Shape::Cuboid(core) = &s.shape => {
                rounded_cuboid(core.half_extents(), s.radius)
            }
            Shape::Rounded(s) => {
                // The centroid of the core lies inside the offset body, far from its boundary.
                let core = Self::of(&s.shape, tolerance)?;
                let volume = core.volume;
                quadrature::convex(shape, &(core.first / volume), tolerance * volume)
            }
            Shape::Intersection(s) => {
                let volume = s.reach().powi(3);
                let rough = quadrature::convex(shape, s.inner_point(), 1e-3 * volume).volume;
                quadrature::convex(shape, s.inner_point(), tolerance * rough)
            }
            Shape::Union(s) => quadrature::union(s.parts(), tolerance)?,
        })
    }

    /// Volume and mean squares of a region symmetric about the coordinate planes.
    fn centred(volume: f64, mean_squares: Vec3) -> Self {
        Self { volume, first: Vec3::zeros(), second: Mat3::from_diagonal(&(mean_squares * volume)) }
    }

    /// Moments after moving the region by `pose`.
    pub(crate) fn placed(&self, pose: &Pose) -> Self {
        let first = pose.rot * self.first;
        let second = pose.rot * self.second * pose.rot.transpose();
        let cross = first * pose.x.transpose();
        Self {
            volume: self.volume,
            first: first + self.volume * pose.x,
            second: second + cross + cross.transpose() + self.volume * pose.x * pose.x.transpose(),
        }
    }

    /// `self += weight * other`.
    pub(crate) fn add(&mut self, weight: f64, other: &Self) {
        self.volume += weight * other.volume;
        self.first += weight * other.first;
        self.second += weight * other.second;
    }

    /// Centre of mass and standard inertia about it (\[TL\] (4.1)).
    pub(crate) fn properties(&self, density: f64) -> MassProperties {
        let centre = self.first / self.volume;
        let about_centre = self.second - self.volume * centre * centre.transpose();
        MassProperties {
            mass: density * self.volume,
            centre,
            inertia: density * standard(&about_centre),
        }
    }
}

fn ellipsoid(e: &Vec3) -> Moments {
    Moments::centred(4.0 / 3.0 * PI * e.product(), e.component_mul(e) / 5.0)
}

fn cylinder(half_length: f64, radius: f64) -> Moments {
    let across = 0.25 * radius * radius;
    let along = half_length * half_length / 3.0;
    Moments::centred(2.0 * PI * radius * radius * half_length, Vec3::new(across, across, along))
}

/// A cylinder and two half balls; a half ball has its centroid $\tfrac38r$ from its flat side.
fn capsule(half_length: f64, radius: f64) -> Moments {
    let mut sum = cylinder(half_length, radius);
    let (l, r) = (half_length, radius);
    let across = r * r / 5.0;
    let along = r * r / 5.0 + l * l + 0.75 * l * r;
    sum.add(1.0, &Moments::centred(4.0 / 3.0 * PI * r.powi(3), Vec3::new(across, across, along)));
    sum
}

/// A box with a ball of radius $r$ added to it: the box, a slab on each face, and what makes four cylinders and a ball when it is pushed together.
/// The mean of $(b + |x|)^2$ over a piece that was moved away from the middle by $b$ is $b^2 + 2b\\,\overline{|x|} + \overline{x^2}$.
fn rounded_cuboid(half: &Vec3, r: f64) -> Moments {
    let flat = |b: f64| b * b / 3.0;
    let moved = |b: f64, mean: f64, square: f64| b * b + 2.0 * b * mean + square;
    let mut sum = Moments::centred(8.0 * half.product(), half.map(flat));
    for k in 0..3 {
        let (i, j) = ((k + 1) % 3, (k + 2) % 3);
        let mut squares = half.map(flat);
        squares[k] = moved(half[k], r / 2.0, r * r / 3.0);
        sum.add(1.0, &Moments::centred(8.0 * half[i] * half[j] * r, squares));
        // Quarters of a cylinder along axis k.
        let (mean, square) = (4.0 * r / (3.0 * PI), r * r / 4.0);
        let mut squares = Vec3::repeat(flat(half[k]));
        squares[i] = moved(half[i], mean, square);
        squares[j] = moved(half[j], mean, square);
        sum.add(1.0, &Moments::centred(2.0 * PI * r * r * half[k], squares));
    }
    let squares = half.map(|b| moved(b, 3.0 * r / 8.0, r * r / 5.0));
    sum.add(1.0, &Moments::centred(4.0 / 3.0 * PI * r.powi(3), squares));
    sum
}

/// Sum over tetrahedra from an inner point to the triangles of the faces: with edge vectors $u, v, w$ and
/// $s = u+v+w$, $V = \tfrac16\det(u,v,w)$, $\int\rho = \tfrac V4s$,
/// $\int\rho\rho^\top = \tfrac V{20}(uu^\top+vv^\top+ww^\top+ss^\top)$.
fn polyhedron(shape: &Polyhedron) -> Moments {
    let vertices = shape.vertices();
    let inner = vertices.iter().sum::<Vec3>() / vertices.len() as f64;
    let mut sum = Moments::ZERO;
    for face in shape.faces() {
        let corner = |k: usize| vertices[face.vertices[k]] - inner;
        for k in 1..face.vertices.len() - 1 {
            let (u, v, w) = (corner(0), corner(k), corner(k + 1));
            let volume = u.dot(&v.cross(&w)) / 6.0;
            let s = u + v + w;
            let squares =
                u * u.transpose() + v * v.transpose() + w * w.transpose() + s * s.transpose();
            sum.add(
                1.0,
                &Moments { volume, first: s * (volume / 4.0), second: squares * (volume / 20.0) },
            );
        }
    }
    sum.placed(&Pose::translation(inner))
}
