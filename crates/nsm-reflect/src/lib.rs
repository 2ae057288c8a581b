//! Impact laws: from the momentum at an instant and the contacts that may close to the momentum after,
//! with a certificate that says whether the answer is feasible and what it did to the energy.
//!
//! [`Reflector`] is bound to a system; [`Kernel`] does the work on plain slices. Contacts in separate
//! islands do not see each other, cost is linear in the contacts that take part, nothing is allocated
//! in an impact (but for islands of more than 64 contacts that are no chain), and the order of
//! arithmetic is fixed.
//!
//! ```
//! use nsm_constraints::Affine;
//! use nsm_model::{Mass, System};
//! use nsm_reflect::{ContactTolerance, ImpactLaw, Reflector};
//!
//! // Newton's cradle: three equal balls touch, one strikes; the last one leaves.
//! let cradle = System::new(Mass::diagonal(&[1.0; 3])?)
//!     .with_inequality("first", Affine::ahead(0, 1, 1.0)?)?
//!     .with_inequality("second", Affine::ahead(1, 2, 1.0)?)?;
//! let mut reflector = Reflector::new(&cradle, ImpactLaw::Reflection, ContactTolerance::default())?;
//! let mut p = [1.0, 0.0, 0.0];
//! let certificate = reflector.reflect(&cradle, &[-1.0, 1.0, -1.0, 1.0], &[], &[0, 1], &mut p)?;
//! assert!(p[0].abs() < 1e-14 && p[1].abs() < 1e-14 && (p[2] - 1.0).abs() < 1e-14);
//! assert!(certificate.energy_change.abs() < 1e-14);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod certificate;
mod chain;
mod contacts;
mod crowd;
mod error;
mod friction;
mod island_gram;
mod islands;
mod kernel;
mod law;
mod least;
mod multipliers;
mod reflector;
mod shadow;
mod sharing;

pub use certificate::{Certificate, Symmetry};
pub use contacts::ContactRows;
pub use crowd::CrowdImpulses;
pub use error::ReflectError;
pub use friction::{FrictionCertificate, FrictionImpact, FrictionRows};
pub use kernel::Kernel;
pub use law::{ImpactLaw, Restitution};
pub use least::LeastImpulses;
pub use nsm_constraints::{ContactTolerance, Metric};
pub use reflector::Reflector;
pub use shadow::{Quadrature, ShadowMetric};
