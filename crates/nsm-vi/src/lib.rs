//! Variational integrators: generalized variational integrators with inequality and equality
//! constraints on $\mathbb R^n$, and Lie group variational collision integrators on $SE(3)$.

mod conserving;
mod direct;
mod gaps;
mod gvi;
mod hybrid;
mod impact;
mod inertia;
mod kernel;
mod lagrangian;
mod loads;
mod position;
mod projection;
pub mod rigid;
mod saddle;
mod smooth;
mod tangent;
mod tolerances;
mod variational;

pub use conserving::{Conserving, ConservingStepper, ConstraintSolver, ForceAverage};
pub use direct::{ConstraintAt, ContactForce, Direct, DirectStepper, Newmark, NewmarkStepper};
pub use gvi::{Gvi, GviStepper};
pub use hybrid::{EventHandling, Hybrid, HybridStepper};
pub use impact::Energy;
pub use lagrangian::DiscreteLagrangian;
pub use nsm_reflect::{ImpactLaw, Quadrature, Restitution};
pub use projection::{
    EnergyBalance, Projected, Projection, ProjectionMatrix, Safety, Strength, VelocityProjection,
};
pub use smooth::{DiscreteSmooth, DiscreteSmoothStepper};
pub use tolerances::Tolerances;
pub use variational::{Variational, VariationalStepper};
