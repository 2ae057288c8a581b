//! Variational integrators: generalized variational integrators with inequality and equality
//! constraints on $\mathbb R^n$, and Lie group variational collision integrators on $SE(3)$.
//!
//! # On $\mathbb R^n$
//!
//! | method | contacts | energy at contact | momenta | symplectic |
//! |---|---|---|---|---|
//! | [`Svci`] | any number: impacts at their instants, losses, friction, rest | exact per event | exact | order 4 at impacts |
//! | [`Gvi`] | any number, impacts and smooth | exact per event | exact | free and smooth steps |
//! | [`DiscreteSmooth`] | smooth only: slid along and left | – | exact | yes |
//! | [`Variational`] | none; equalities | – | exact | yes |
//! | [`NullSpace`] | none; equalities, without multipliers | – | exact | yes |
//! | [`Conserving`] | none; equalities | exact in every step | second order, exact for beams | no |
//! | [`Hybrid`] | impacts only, at their instants | exact per event, wanders between | exact | free steps |
//! | [`Direct`], [`Newmark`] | any number, as forces | lost or gained | lost in contact | free steps |
//!
//! [`Svci`] is the one to use with contacts, [`Gvi`] the published method; [`Direct`], [`Newmark`] and [`Hybrid`] are there to compare with. All are
//! of order 2 in smooth motion, take the same [`System`](nsm_model::System), keep its equality constraints
//! to round-off, and fill the same ledger. Mechanisms with joints and beams
//! ([`System::of`](nsm_model::System::of)) take the three methods for equalities; [`NullSpace::stepper_with`] moves them in the
//! freedoms of their joints. A method is plain data; `stepper` binds it to a system and
//! allocates, steps do not.
//!
//! ```
//! use nsm_constraints::Affine;
//! use nsm_model::{Mass, State, System, SystemProbe, run_steps};
//! use nsm_vi::{Quadrature, Svci};
//!
//! let ball = System::new(Mass::diagonal(&[1.0])?)
//!     .with_potential("weight", Affine::weight(&[(&[0], 1.0)], &[-9.81])?)?
//!     .with_inequality("floor", Affine::above(0, 0.0)?)?;
//! let mut state = State::new(&ball, &[1.0], &[0.0])?;
//! let mut stepper = Svci::new(0.01, Quadrature::Verlet).stepper(&ball)?;
//! let run = run_steps(&mut stepper, &mut SystemProbe::new(&ball), &mut state, 1000, &mut ())?;
//! assert!(run.ledger.events == 11 && run.ledger.energy.deviation() < 1e-10);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Equations are cited as in \[KP\] (5.3); the papers stand in `REFERENCES.md`, and `docs/equations.md` says where each equation lies in the code.

mod diagnostics;
mod methods;
pub mod rigid;
mod shared;

pub use diagnostics::condition_estimate::{ConditionEstimate, ConditionEstimator};
pub use diagnostics::conditioning::{Conditioning, Scheme};
pub use methods::conserving::{
    Conserving, ConservingStepper, ConservingTangent, ConservingTangentStepper, ConstraintSolver,
    ForceAverage,
};
pub use methods::direct::{
    ConstraintAt, ContactForce, Direct, DirectStepper, Newmark, NewmarkStepper,
};
pub use methods::gvi::{Gvi, GviStepper};
pub use methods::hybrid::{EventHandling, Hybrid, HybridStepper};
pub use methods::null_space::{NullSpace, NullSpaceStepper, ReparametrisedStepper, Unknowns};
pub use methods::projection::{
    EnergyBalance, Projected, Projection, ProjectionMatrix, Safety, Strength, VelocityProjection,
};
pub use methods::smooth::{DiscreteSmooth, DiscreteSmoothStepper};
pub use methods::svci::{Svci, SvciStepper};
pub use methods::variational::{Variational, VariationalStepper};
pub use nsm_constraints::Reparametrisation;
pub use nsm_reflect::{ImpactLaw, Quadrature, Restitution};
pub use shared::impact::Energy;
pub use shared::lagrangian::DiscreteLagrangian;
pub use shared::legendre::{ConstrainedLegendre, Segment};
pub use shared::tolerances::Tolerances;
