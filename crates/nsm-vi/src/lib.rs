//! Variational integrators: generalized variational integrators with inequality and equality
//! constraints on $\mathbb R^n$, and Lie group variational collision integrators on $SE(3)$.

mod direct;
mod inertia;
mod kernel;
mod lagrangian;
mod loads;
mod position;
mod tangent;
mod tolerances;
mod variational;

pub use direct::{ConstraintAt, ContactForce, Direct, DirectStepper, Newmark, NewmarkStepper};
pub use lagrangian::{DiscreteLagrangian, Quadrature};
pub use tolerances::Tolerances;
pub use variational::{Variational, VariationalStepper};
