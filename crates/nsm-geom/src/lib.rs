//! Geometry of rigid bodies: rotations and rigid motions with their tangent maps, convex shapes by
//! support function, signed distance functions and their algebra, distances between bodies with
//! derivatives, contacts and near pairs, and mass properties. Knows nothing of time.
//!
//! Conventions, valid for the whole crate:
//! - A configuration is $(x, R) \in SE(3)$; a body point $\rho$ lies at $x + R\rho$ (\[TL\] (2.8b)).
//! - $\dot R = R\\,S(\Omega)$ with $\Omega$ in the body frame; twists are ordered $(y, \omega)$,
//!   translation first, as in \[TL\] (2.9).
//! - A plane is $\lbrace z : n\cdot z + D = 0\rbrace$ with unit normal $n$ pointing to the free side.
//! - Gaps and signed distances are positive outside, negative in penetration.
//! - Lengths, masses and densities are in whatever consistent units the caller uses.
//!
//! ```
//! use nsm_geom::{Pose, Shape, Vec3, body_gap};
//!
//! let (ball, cube) = (Shape::sphere(1.0)?, Shape::cuboid([1.0, 1.0, 1.0])?);
//! let beside = Pose { x: Vec3::new(3.0, 0.2, 0.0), ..Pose::identity() };
//! let found = body_gap(&ball, &Pose::identity(), &cube, &beside)?;
//! assert!((found.gap - 1.0).abs() < 1e-12 && (found.normal.x - 1.0).abs() < 1e-12);
//! # Ok::<(), nsm_geom::GeomError>(())
//! ```
//!
//! \[TL\]: K. Tran and M. Leok, Lie group variational collision integrators for a class of hybrid
//! systems.

pub mod collide;
pub mod distance;
pub mod error;
mod hull;
pub mod mass;
pub mod plane;
pub mod plane_gap;
mod polarity;
pub mod polyhedron;
mod predicates;
mod ray;
pub mod sdf;
pub mod se3;
pub mod shape;
pub mod so3;
pub mod stumpff;

pub use distance::{BodyGap, body_gap};
pub use error::GeomError;
pub use mass::MassProperties;
pub use plane::Plane;
pub use plane_gap::PlaneGap;
pub use polyhedron::{Edge, Face, Polyhedron};
pub use sdf::{Csg, SignedDistance};
pub use se3::Pose;
pub use shape::Shape;

/// A vector of $\mathbb R^3$.
pub type Vec3 = nalgebra::Vector3<f64>;
/// A 3×3 matrix.
pub type Mat3 = nalgebra::Matrix3<f64>;
/// A twist or wrench, translation first.
pub type Vec6 = nalgebra::Vector6<f64>;
/// A 6×6 matrix acting on twists.
pub type Mat6 = nalgebra::Matrix6<f64>;
