//! Smooth scalar functions of a few coordinates with exact first and second derivatives: potentials,
//! equality and inequality constraints, joints; cones, active sets and null spaces built from them.
//!
//! A constraint is a [`Field`]: value, gradient and Hessian on its own block of coordinates. Write
//! one by hand, or write its value once as an [`Expr`] and let [`AutoDiff`] derive the rest; a
//! bundle of named fields is [`Rows`]. Equalities mean $f = 0$, inequalities $g \ge 0$. [`multibody`] builds mechanisms
//! of rigid bodies, joints and beams, with constraints, null space matrices and [reparametrisations](Reparametrisation).
//!
//! ```
//! use nsm_constraints::{AutoDiff, Expr, Field, Scalar};
//!
//! // Outside a circle of radius 2: the value is written once, the derivatives follow.
//! struct Outside;
//! impl Expr for Outside {
//!     fn value<T: Scalar>(&self, q: &[T], _t: T) -> T {
//!         (q[0] * q[0] + q[1] * q[1]).sqrt() - T::from(2.0)
//!     }
//! }
//! let gap = AutoDiff::new(Outside, &[0, 1])?;
//! let (mut gradient, q) = ([0.0; 2], [3.0, 4.0]);
//! gap.gradient(&q, 0.0, &mut gradient);
//! assert_eq!(gap.value(&q, 0.0), 3.0);
//! assert!((gradient[0] - 0.6).abs() < 1e-15 && (gradient[1] - 0.8).abs() < 1e-15);
//! # Ok::<(), nsm_constraints::ConstraintError>(())
//! ```

mod affine;
mod autodiff;
mod blocks;
mod central;
mod cones;
mod cotangent;
mod distance;
mod error;
mod field;
mod force;
mod linearised;
mod metric;
pub mod multibody;
mod pattern;
mod quadratic;
mod quadrature;
mod reparametrisation;
mod rod;
mod rods;
mod rows;
mod runs;
mod sets;
mod spheres;
mod spring;
mod switching;
mod tangent;

pub use affine::Affine;
pub use autodiff::{AutoDiff, Expr, MAX_BLOCK, Scalar};
pub use blocks::{check_block, check_coordinates};
pub use central::{Central, Profile};
pub use cones::{ConeSplitter, leaves_tangent_cone};
pub use cotangent::CotangentProjection;
pub use error::ConstraintError;
pub use field::Field;
pub use force::{AutoForce, Force, ForceExpr};
pub use linearised::LinearisedRows;
pub use metric::Metric;
pub use num_dual::DualNum;
pub use pattern::RowPattern;
pub use quadratic::Quadratic;
pub use quadrature::integrate;
pub use reparametrisation::Reparametrisation;
pub use rod::Rod;
pub use rows::Rows;
pub use sets::{ContactTolerance, active_set, extended_active_set, smooth_set};
pub use spheres::SphereGap;
pub use spring::{LineSpring, Spring};
pub use switching::Switching;
pub use tangent::{FixedTangent, RateTangent, Tangent, TangentRows};
