//! Rigid bodies on $SE(3)$: the Lie group variational integrator (LGVI) and, with impacts on planes, the
//! Lie group variational collision integrator (LGVCI) of Tran and Leok.
//!
//! Conventions are those of [`nsm_geom`]: a body point $\rho$ lies at $x + R\rho$, $\dot R = R S(\Omega)$,
//! planes are $n\cdot z + D = 0$ with $n$ towards the free side, gaps $\Phi$ are positive when apart. Momenta are
//! $\gamma = m\dot x$ in the inertial frame and $\Pi = J\Omega$ in the body frame; gravity is a vector.
//!
//! ```
//! use nsm_geom::{Plane, Pose, Shape, Vec3};
//! use nsm_model::Stepper;
//! use nsm_vi::rigid::{BodyState, Lgvci, RigidBody, RigidState, RigidWorld};
//!
//! let dice = RigidBody::uniform("dice", 0.1, Shape::cuboid([0.5; 3])?)?;
//! let world = RigidWorld::new(Vec3::new(0.0, 0.0, -9.81))?
//!     .with_body(dice)
//!     .with_plane("table", Plane::horizontal());
//! let pose = Pose::translation(Vec3::new(0.0, 0.0, 2.0));
//! let momenta = (Vec3::new(0.1, 0.0, 0.0), Vec3::new(0.02, 0.05, 0.01));
//! let mut state = RigidState::new([BodyState::new(pose, momenta.0, momenta.1)]);
//!
//! let energy = world.energy(&state);
//! let mut stepper = Lgvci::default().stepper(&world, &state, 0.01)?;
//! let mut bounces = 0;
//! while state.t < 10.0 {
//!     stepper.step(&mut state)?;
//!     bounces += stepper.events().len();
//! }
//! assert!(bounces > 5);
//! assert!((world.energy(&state) - energy).abs() < 1e-13);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - \[TL\]: K. Tran and M. Leok, Lie group variational collision integrators for a class of hybrid systems.
//! - \[LLM\]: T. Lee, M. Leok and N. H. McClamroch, Lie group variational integrators for the full body
//!   problem, Computer Methods in Applied Mechanics and Engineering 196 (2007).

mod approach;
mod attitude;
mod body;
mod error;
mod flow;
mod impact;
mod lagrangian;
mod lgvci;
mod load;
mod many;
mod probe;
mod published;
mod root;
mod separate;
mod state;
mod stepper;
mod world;

pub use attitude::{Newton, RelativeAttitude, Retraction, Unsolved};
pub use body::RigidBody;
pub use error::RigidError;
pub use flow::{Flight, Lgvi, Updates};
pub use lagrangian::{discrete_energy, state_after, state_before};
pub use lgvci::{EventTime, Jump, Lgvci};
pub use load::{BodyTorque, Load, Spring, Wrench};
pub use probe::RigidProbe;
pub use root::RootFinder;
pub use state::{BodyState, RigidState};
pub use stepper::LgvciStepper;
pub use world::RigidWorld;
