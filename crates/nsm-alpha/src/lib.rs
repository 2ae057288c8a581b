//! The generalized-α family for constrained systems whose constraints switch: index 3, 2 and 1,
//! event-driven and nonsmooth (NSGA), with contacts, and the Moreau–Jean scheme beside them.
//!
//! $$ M(q)\\,\dot v + G^\top(q, t)\\,\lambda = f(q, v, t), \qquad g(q, t) = 0 $$
//! after Patil & Brüls, where part of $g$ depends on the mode in which the system is
//! ([`Switching`](nsm_constraints::Switching)). Multipliers have the sign of this equation, so that
//! $-G^\top \lambda$ is the force of the constraints.
//!
//! | method | constraints | at a switch | order |
//! |---|---|---|---|
//! | [`ClassicalAlpha`] | position, velocity or acceleration | nothing special | 2 where smooth |
//! | [`EventDriven`] | position | located, impact law | 2 across switches |
//! | [`Nsga`] | position and velocity | captured, impact law | 2 where smooth, 1 across |
//! | [`MoreauJean`] | velocity | – | 1 |
//!
//! ```
//! use nsm_alpha::{Nsga, Restitution};
//! use nsm_constraints::Affine;
//! use nsm_model::{Mass, State, System, SystemProbe, run_steps};
//!
//! // A ball with restitution 1/2 comes to rest on its floor.
//! let ball = System::new(Mass::diagonal(&[1.0])?)
//!     .with_potential("weight", Affine::weight(&[(&[0], 1.0)], &[-9.81])?)?
//!     .with_inequality("floor", Affine::above(0, 0.0)?)?;
//! let mut state = State::new(&ball, &[1.0], &[0.0])?;
//! let method = Nsga { restitution: Restitution::Uniform(0.5), ..Nsga::new(0.001, 0.8)? };
//! let mut stepper = method.stepper(&ball, &state)?;
//! run_steps(&mut stepper, &mut SystemProbe::new(&ball), &mut state, 2000, &mut ())?;
//! assert!(state.q[0].abs() < 1e-12 && state.v[0].abs() < 1e-12);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bilateral;
mod classical;
mod coefficients;
mod contact;
mod equations;
mod error;
mod event_driven;
mod implicit;
mod interpolation;
mod leading;
mod moreau_jean;
mod nsga;
mod principal;
pub mod problems;
mod saddle;
mod switch;

pub use classical::{ClassicalAlpha, ClassicalAlphaStepper};
pub use coefficients::{Coefficients, NewtonOptions};
pub use error::AlphaError;
pub use event_driven::{EventDriven, EventDrivenStepper};
pub use implicit::Index;
pub use interpolation::{Interpolation, Switch};
pub use moreau_jean::{MoreauJean, MoreauJeanStepper};
pub use nsga::{Nsga, NsgaStepper, Variant};
pub use nsm_reflect::Restitution;
