//! nsm, nonsmooth mechanics: mechanical systems with hard contacts, impacts, joints and constraints that
//! switch. This crate is the front door to all others: one dependency, and the binary `nsm`.
//!
//! A ball bounces, and keeps its energy over sixteen thousand steps:
//!
//! ```
//! use nsm::prelude::*;
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let ball = System::new(Mass::diagonal(&[1.0])?)
//!         .with_names(&["height"])?
//!         .with_potential("gravity", Affine::weight(&[(&[0], 1.0)], &[-9.81])?)?
//!         .with_inequality("floor", Affine::above(0, 0.0)?)?;
//!     let mut state = State::new(&ball, &[1.0], &[0.0])?;
//!
//!     let method = Svci::new(0.01, Quadrature::Verlet);
//!     let mut stepper = method.stepper(&ball)?;
//!     let mut probe = SystemProbe::new(&ball);
//!     let run = run_steps(&mut stepper, &mut probe, &mut state, 16_000, &mut ())?;
//!
//!     let ledger = run.ledger;
//!     println!("{} impacts, energy within {:e} J", ledger.events, ledger.energy.deviation());
//!     assert!(ledger.events > 100 && ledger.energy.deviation() < 1e-9);
//!     assert!(ledger.penetration < 1e-12);
//!     Ok(())
//! }
//! ```
//!
//! The same problem as a file is read by [`prelude::Problem`] and run by `nsm run`. The crates behind this one, from
//! the top: [`report`] draws, [`problem`] reads problem files and makes their runs, [`formula`] understands
//! formulas, [`vi`] and [`alpha`] integrate, [`reflect`] knows the impact laws, [`model`] says what a system
//! is, [`constraints`] what holds it, [`geom`] and [`solvers`] know nothing of mechanics.
//!
//! Without default features (`default-features = false`) the binary and what only it needs are left out; the feature `urdf` alone brings
//! robots.

#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "urdf")]
pub mod urdf;

pub use nsm_alpha as alpha;
pub use nsm_constraints as constraints;
pub use nsm_formula as formula;
pub use nsm_geom as geom;
pub use nsm_model as model;
pub use nsm_problem as problem;
pub use nsm_reflect as reflect;
pub use nsm_report as report;
pub use nsm_solvers as solvers;
pub use nsm_vi as vi;

/// What a program that simulates needs: `use nsm::prelude::*`.
pub mod prelude {
    pub use nsm_alpha::{ClassicalAlpha, EventDriven, Index, MoreauJean, Nsga};
    pub use nsm_constraints::{Affine, AutoDiff, Expr, Rod, Scalar, SphereGap, Spring, Switching};
    pub use nsm_geom::{Plane, Pose, Shape, Vec3};
    pub use nsm_model::{
        Ledger, Mass, Observer, State, Stepper, System, SystemProbe, project_start, run_steps,
    };
    pub use nsm_problem::{
        BodyState, Integrator, Method, Problem, Run, RunResult, StateRecord, Verdict, Watch,
    };
    pub use nsm_vi::rigid::{Lgvci, RigidBody, RigidState, RigidWorld};
    pub use nsm_vi::{
        Conserving, Gvi, Hybrid, ImpactLaw, NullSpace, Quadrature, Restitution, Svci, Variational,
    };
}

/// Seconds since the first call: the clock to pass to [`prelude::Watch`] on a machine that has one.
pub fn wall_clock() -> f64 {
    use std::sync::LazyLock;
    use std::time::Instant;
    static BEGINNING: LazyLock<Instant> = LazyLock::new(Instant::now);
    BEGINNING.elapsed().as_secs_f64()
}

/// The examples of the README, compiled and run with the doctests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
