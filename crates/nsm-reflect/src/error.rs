//! Why an impact could not be resolved; the momentum is then as it was before.

use nsm_constraints::ConstraintError;
use nsm_model::SystemError;
use nsm_solvers::LinearError;
use nsm_solvers::lcp::LcpError;

/// An impact without answer. `contact` is the row of the contact gradients.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ReflectError {
    /// The rounds did not come to an end.
    #[error(
        "contact {contact} still approaches at {residual:.3e} after {rounds} rounds: opposed or wedged contacts never separate"
    )]
    Rounds {
        /// The contact that approaches fastest.
        contact: usize,
        /// Its rate of approach.
        residual: f64,
        /// Rounds made.
        rounds: usize,
    },
    /// The impulses found would change the energy against the law.
    #[error(
        "the impact would change the energy {energy:.3e} by {change:.3e}, against its law: contact {contact} and others push along almost the same line, or against each other"
    )]
    Energy {
        /// The contact with the largest impulse.
        contact: usize,
        /// The change.
        change: f64,
        /// Energy of the momenta that take part.
        energy: f64,
    },
    /// The metric is not positive along a contact.
    #[error(
        "the impulse metric is {value:.3e} along contact {contact}, not positive: no mass, or a step too large for the shadow Hamiltonian"
    )]
    NotPositive {
        /// The contact.
        contact: usize,
        /// $\nabla g^\top W \nabla g$.
        value: f64,
    },
    /// A NaN or infinity in the gradient of a contact or in the momentum of its coordinates.
    #[error("{what} of contact {contact} is not finite")]
    NotFinite {
        /// What is not finite.
        what: &'static str,
        /// The contact.
        contact: usize,
    },
    /// A candidate that is no row of the contact gradients.
    #[error("there is no contact {contact}: the gradients have {contacts} rows")]
    UnknownContact {
        /// The candidate.
        contact: usize,
        /// Number of rows.
        contacts: usize,
    },
    /// A slice of the wrong length.
    #[error("{what} has length {length}, expected {expected}")]
    Length {
        /// Which slice.
        what: &'static str,
        /// Its length.
        length: usize,
        /// The right length.
        expected: usize,
    },
    /// A coefficient of restitution outside 0 to 1.
    #[error("the restitution of contact {contact} is {value}, it must lie between 0 and 1")]
    Restitution {
        /// The contact.
        contact: usize,
        /// The coefficient.
        value: f64,
    },
    /// The multipliers of one island were not found.
    #[error("the impulses of the island of contact {contact} were not found: {source}")]
    Island {
        /// First contact of the island.
        contact: usize,
        /// What the solver says.
        source: LcpError,
    },
    /// A friction problem without solution.
    #[error(
        "the friction of contact {contact} was not found (residual {residual:.3e}): contacts jam, or press against each other"
    )]
    Friction {
        /// The contact that is worst.
        contact: usize,
        /// The scale-free residual.
        residual: f64,
    },
    /// The equality constraints could not be factorised.
    #[error("the gradients of contact {contact} cannot be projected onto the equalities: {source}")]
    Projection {
        /// The contact.
        contact: usize,
        /// What the factorisation says.
        source: LinearError,
    },
    /// A system that has no impact law.
    #[error(transparent)]
    System(#[from] SystemError),
    /// A metric that cannot be used.
    #[error(transparent)]
    Metric(#[from] ConstraintError),
}

impl ReflectError {
    /// The same error, where `contacts` lists which contact each index stands for.
    #[must_use]
    pub fn of(mut self, contacts: &[usize]) -> Self {
        if let Self::Rounds { contact, .. }
        | Self::Energy { contact, .. }
        | Self::NotPositive { contact, .. }
        | Self::NotFinite { contact, .. }
        | Self::Friction { contact, .. } = &mut self
        {
            *contact = contacts.get(*contact).copied().unwrap_or(*contact);
        }
        self
    }
}
