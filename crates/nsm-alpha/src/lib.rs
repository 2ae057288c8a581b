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
