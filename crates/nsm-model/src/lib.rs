//! What a mechanical system *is*: mass, potential, forces and constraints; its state; the stepper that
//! every integrator implements; the run loop, its observers and the ledger they all share.

mod clock;
mod constrained_mass;
mod contact;
mod error;
mod finite;
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
pub use contact::{ContactImpulse, ContactLaw};
pub use error::{StepError, SystemError};
pub use ledger::{Band, Ledger};
pub use mass::Mass;
pub use measure::{Measurement, Probe, SystemProbe};
pub use nsm_constraints::{AutoForce, Force, ForceExpr};
pub use reactions::Reactions;
pub use run::{Observer, Outcome, RunError, run_steps, steps_between};
pub use splitting::Splitting;
pub use start::{Tolerance, check_start, project_start};
pub use state::State;
pub use stepper::{Event, Events, StepReport, Stepper};
pub use system::{Invariant, System};
pub use variable_mass::{AutoKinetic, KineticExpr, VariableMass};
pub use warning::Warning;
pub use wound::Wound;
