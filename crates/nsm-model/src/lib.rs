//! What a mechanical system *is*: mass, potential, forces and constraints; its state; the stepper that
//! every integrator implements; the run loop, its observers and the ledger they all share.
//!
//! ```
//! use nsm_constraints::{Affine, Rod};
//! use nsm_model::{Mass, Measurement, Probe, State, System, SystemProbe};
//!
//! // A pendulum in Cartesian coordinates, and what the ledger of every method sees of a state.
//! let pendulum = System::new(Mass::diagonal(&[2.0, 2.0])?)
//!     .with_names(&["x", "y"])?
//!     .with_potential("weight", Affine::weight(&[(&[0, 1], 2.0)], &[0.0, -9.81])?)?
//!     .with_equality("rod", Rod::to_pivot(&[0, 1], &[0.0, 0.0], 1.0)?)?;
//! let state = State::new(&pendulum, &[1.0, 0.0], &[0.0, 3.0])?;
//! let mut seen = Measurement::default();
//! SystemProbe::new(&pendulum).measure(&state, &mut seen);
//! assert_eq!(seen.energy(), 9.0);
//! assert!(seen.position_residual < 1e-15 && seen.velocity_residual < 1e-15);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod clock;
mod constrained_mass;
mod contact;
mod dry;
mod error;
mod finite;
mod invariant;
mod ledger;
mod mass;
mod measure;
mod mechanism;
mod reactions;
mod run;
mod splitting;
mod start;
mod state;
mod stepper;
mod system;
mod variable_mass;
mod warning;
mod work;
mod wound;

pub use clock::Clock;
pub use constrained_mass::{ConstrainedMass, motion_without_inertia};
pub use contact::{ContactImpulse, ContactLaw, Touch};
pub use dry::{DryFriction, DryRows};
pub use error::{StepError, SystemError};
pub use invariant::Invariant;
pub use ledger::{Band, Ledger};
pub use mass::{Mass, PlacedMass};
pub use measure::{Accounts, Measurement, Probe, ProbeMemory, SystemProbe};
pub use nsm_constraints::{AutoForce, Force, ForceExpr};
pub use reactions::Reactions;
pub use run::{Course, Observer, Outcome, RunError, run_steps, steps_between};
pub use splitting::Splitting;
pub use start::{Tolerance, check_start, project_start};
pub use state::State;
pub use stepper::{Event, Events, StepReport, Stepper};
pub use system::System;
pub use variable_mass::{AutoKinetic, KineticExpr, VariableMass};
pub use warning::Warning;
pub use wound::Wound;
