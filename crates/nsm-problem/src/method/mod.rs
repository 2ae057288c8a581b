//! `method = "…"`: the integrators by name, with their options.
//!
//! A method is one [row](Facts) of a [table](METHODS) and one implementation of [`Integrator`]: the reader,
//! `nsm methods`, the page on methods and the message "does not fit, because" are made from the row.

mod integrator;
mod options;
mod recommend;
mod table;

pub use integrator::{Bound, Integrator, Misfit};
pub(crate) use options::read_projection;
pub use recommend::{Recommendation, recommend};
pub use table::{Facts, METHODS, markdown};

use std::sync::Arc;

use nsm_constraints::multibody::Mechanism;
use nsm_model::{ContactLaw, State, System, SystemError};
use nsm_vi::rigid::{RigidState, RigidWorld};

use crate::reader::Reader;
use crate::{ProblemError, Subject};

/// What reading the options of a method gives.
type Made = Arc<dyn Integrator>;

/// A method with its options, ready to be bound to a system.
#[derive(Clone, Debug)]
pub struct Method {
    /// What is known of it.
    pub facts: &'static Facts,
    /// Why it was taken, where the file leaves the choice to nsm.
    pub recommended: Option<&'static str>,
    /// Whether the run says by itself what contacts give back.
    own_restitution: bool,
    /// The friction that the run gives all contacts, if it does.
    pub(crate) own_friction: Option<f64>,
    integrator: Made,
}

impl Method {
    /// Reads `method` and the options that belong to it; all else is an unknown key. Without `method` it is the
    /// one that is recommended for what moves.
    pub(crate) fn read(
        reader: &Reader<'_>,
        step: f64,
        subject: &Subject,
    ) -> Result<Self, ProblemError> {
        let words: Vec<(&str, &'static Facts)> = METHODS.iter().map(|m| (m.name, m)).collect();
        let (facts, recommended) = if let Some(facts) = reader.choice("method", &words)? {
            (facts, None)
        } else {
            // A key that is nearly `method` was meant to be it.
            reader.absent("method")?;
            let Recommendation { method, why } = recommend(subject);
            (method, Some(why))
        };
        let own_restitution = reader.has("restitution");
        let own_friction = if facts.friction { reader.number("friction")? } else { None };
        let integrator = (facts.read)(reader, step)?;
        Ok(Self { facts, recommended, own_restitution, own_friction, integrator })
    }

    /// What is known of the method of this name.
    pub fn facts(name: &str) -> Option<&'static Facts> {
        METHODS.iter().find(|facts| facts.name == name)
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        self.facts.name
    }

    /// Binds the method to a system, and to the kinematics of its mechanism if it is one.
    ///
    /// # Errors
    /// If it does not fit; the message says which methods do.
    pub fn bind<'a>(
        &self,
        system: &'a System,
        start: &State,
        mechanism: Option<&Mechanism>,
    ) -> Bound<'a, State> {
        let blind = self.facts.inequalities.is_none() && !self.facts.bodies;
        if let Some(gap) = system.inequalities().names().first().filter(|_| blind) {
            let holding = if system.nonholonomic().is_some() {
                "the method that holds inequalities beside rows on velocities is svci".to_owned()
            } else {
                let list = names(|facts| facts.inequalities.is_some() && !facts.bodies);
                format!("methods that hold inequalities are {list}")
            };
            let why = format!("it would pass through the inequality `{gap}`; {holding}");
            return Err(SystemError::DoesNotFit { method: self.facts.name, why }.into());
        }
        self.require_friction(system.contact_laws())?;
        let restitution: Vec<f64> = system.contact_laws().map(|law| law.restitution).collect();
        let integrator = self.with_losses(&restitution)?;
        match mechanism {
            Some(mechanism) => integrator.bind_mechanism(mechanism, system, start),
            None => integrator.bind(system, start),
        }
    }

    /// Refuses friction where the method does not hold it.
    fn require_friction(
        &self,
        laws: impl IntoIterator<Item = ContactLaw>,
    ) -> Result<(), SystemError> {
        let Some(law) = laws.into_iter().find(|law| law.friction > 0.0) else { return Ok(()) };
        if self.facts.friction {
            return Ok(());
        }
        let others = names(|facts| facts.friction && !facts.bodies);
        Err(SystemError::DoesNotFit {
            method: self.facts.name,
            why: format!(
                "it holds no friction, and a contact has {}; methods that do: {others}",
                law.friction
            ),
        })
    }

    /// The integrator with the restitutions of the contacts, unless the run has its own.
    fn with_losses(&self, restitution: &[f64]) -> Result<Made, SystemError> {
        if self.own_restitution || restitution.iter().all(|e| *e == 1.0) {
            return Ok(self.integrator.clone());
        }
        self.integrator.with_restitution(restitution).ok_or_else(|| SystemError::DoesNotFit {
            method: self.facts.name,
            why: "it does not know these losses of contacts; methods that do are svci, gvi, hybrid, nsga, alpha-event, moreau-jean, and `restitution = 1` in the run takes the contacts as elastic".into(),
        })
    }

    /// Binds the method to rigid bodies.
    ///
    /// # Errors
    /// In words: a method for systems in coordinates, or a start that does not fit the world.
    pub fn bind_bodies<'a>(
        &self,
        world: &'a RigidWorld,
        start: &RigidState,
        step: f64,
    ) -> Bound<'a, RigidState> {
        self.integrator.bind_bodies(world, start, step)
    }
}

impl Facts {
    /// Names of the methods of which something is true.
    pub(crate) fn list(which: impl Fn(&Self) -> bool) -> String {
        names(which)
    }
}

/// Names of the methods of which something is true.
fn names(which: impl Fn(&Facts) -> bool) -> String {
    METHODS.iter().filter(|m| which(m)).map(|m| m.name).collect::<Vec<_>>().join(", ")
}
