//! What all methods have in common: they are bound to a system and become a stepper.
//!
//! Capabilities are asked of the [`Facts`](super::Facts) of a method; what only binding shows (a constraint
//! that moves, a mass that is singular) is an error of binding, in words.

use std::fmt::Debug;
use std::sync::Arc;

use nsm_alpha::{AlphaError, ClassicalAlpha, EventDriven, MoreauJean, Nsga};
use nsm_constraints::multibody::{Mechanism, MechanismError};
use nsm_model::{Splitting, State, Stepper, System, SystemError};
use nsm_vi::rigid::{Lgvci, RigidError, RigidState, RigidWorld};
use nsm_vi::{
    Conserving, ConservingTangent, Direct, DiscreteSmooth, Gvi, Hybrid, ImpactLaw, Newmark,
    NullSpace, Restitution, Svci, Unknowns, Variational,
};

/// Why a method does not fit.
#[derive(Debug, thiserror::Error)]
pub enum Misfit {
    /// The system, or a parameter of the method.
    #[error(transparent)]
    System(#[from] SystemError),
    /// The same, of a generalized-α method.
    #[error(transparent)]
    Alpha(#[from] AlphaError),
    /// Rigid bodies, or their start.
    #[error(transparent)]
    Rigid(#[from] RigidError),
    /// The joints of a mechanism.
    #[error(transparent)]
    Joints(#[from] MechanismError),
    /// The method moves another kind of thing.
    #[error("{0}")]
    Kind(String),
}

/// A stepper of either kind of state.
pub type Bound<'a, S> = Result<Box<dyn Stepper<State = S> + 'a>, Misfit>;

/// A method with its parameters, ready to be bound.
pub trait Integrator: Debug + Send + Sync {
    /// Binds it to a system in coordinates that starts so.
    ///
    /// # Errors
    /// If it does not fit.
    fn bind<'a>(&self, system: &'a System, start: &State) -> Bound<'a, State>;

    /// Binds it to the system of a mechanism, whose joints it may make use of.
    ///
    /// # Errors
    /// If it does not fit.
    fn bind_mechanism<'a>(
        &self,
        _mechanism: &Mechanism,
        system: &'a System,
        start: &State,
    ) -> Bound<'a, State> {
        self.bind(system, start)
    }

    /// The same method with these restitutions, one for every contact; none if it knows no losses.
    fn with_restitution(&self, _restitution: &[f64]) -> Option<Arc<dyn Integrator>> {
        None
    }

    /// Binds it to rigid bodies over planes, with this step.
    ///
    /// # Errors
    /// If it does not fit: most methods move coordinates only.
    fn bind_bodies<'a>(
        &self,
        _world: &'a RigidWorld,
        _start: &RigidState,
        _step: f64,
    ) -> Bound<'a, RigidState> {
        Err(Misfit::Kind(format!(
            "this method knows no rigid bodies over planes; for them there is {}",
            super::names(|facts| facts.bodies)
        )))
    }
}

/// Methods that ask nothing of the start.
macro_rules! for_any_start {
    ($($method:ty $(, $lossy:expr)?);*) => {$(
        impl Integrator for $method {
            $(
                fn with_restitution(&self, restitution: &[f64]) -> Option<Arc<dyn Integrator>> {
                    let mut method = self.clone();
                    $lossy(&mut method, Restitution::PerContact(restitution.to_vec()));
                    Some(Arc::new(method))
                }
            )?

            fn bind<'a>(&self, system: &'a System, _start: &State) -> Bound<'a, State> {
                Ok(Box::new(self.stepper(system)?))
            }
        }
    )*};
}

/// Methods that carry accelerations, and compute them at the start.
macro_rules! from_the_start {
    ($($method:ty $(, $lossy:expr)?);*) => {$(
        impl Integrator for $method {
            $(
                fn with_restitution(&self, restitution: &[f64]) -> Option<Arc<dyn Integrator>> {
                    let mut method = self.clone();
                    $lossy(&mut method, Restitution::PerContact(restitution.to_vec()));
                    Some(Arc::new(method))
                }
            )?

            fn bind<'a>(&self, system: &'a System, start: &State) -> Bound<'a, State> {
                Ok(Box::new(self.stepper(system, start)?))
            }
        }
    )*};
}

impl Integrator for Variational {
    fn bind<'a>(&self, system: &'a System, _start: &State) -> Bound<'a, State> {
        Ok(Box::new(self.splitting(system)?))
    }
}

impl Integrator for Conserving {
    fn bind<'a>(&self, system: &'a System, _start: &State) -> Bound<'a, State> {
        let method = *self;
        let make = move |step, _| Conserving { step, ..method }.stepper(system);
        Ok(Box::new(Splitting::new(self.step, make)?))
    }
}

impl Integrator for ConservingTangent {
    fn bind<'a>(&self, system: &'a System, _start: &State) -> Bound<'a, State> {
        let method = *self;
        let make = move |step, _| ConservingTangent { step, ..method }.stepper(system);
        Ok(Box::new(Splitting::new(self.step, make)?))
    }
}

for_any_start!(
    DiscreteSmooth;
    Direct;
    Newmark;
    Gvi, |m: &mut Gvi, e| m.law = lossy(&m.law, e);
    Hybrid, |m: &mut Hybrid, e| m.law = lossy(&m.law, e);
    Svci, |m: &mut Svci, e| m.restitution = e
);
from_the_start!(
    ClassicalAlpha;
    EventDriven, |m: &mut EventDriven, e| m.restitution = e;
    Nsga, |m: &mut Nsga, e| m.restitution = e
);

/// The same law with losses; reflections, which know none, become Newton's law.
fn lossy(law: &ImpactLaw, restitution: Restitution) -> ImpactLaw {
    match law {
        ImpactLaw::Sequential(_) => ImpactLaw::Sequential(restitution),
        ImpactLaw::Lcp(_) => ImpactLaw::Lcp(restitution),
        _ => ImpactLaw::Newton(restitution),
    }
}

impl Integrator for MoreauJean {
    fn bind<'a>(&self, system: &'a System, start: &State) -> Bound<'a, State> {
        Ok(Box::new(self.stepper(system, start)?))
    }

    /// Directors that are held on velocity level only drift apart, and a body with them.
    fn bind_mechanism<'a>(
        &self,
        _mechanism: &Mechanism,
        _system: &'a System,
        _start: &State,
    ) -> Bound<'a, State> {
        Err(Misfit::Kind(
            "`moreau-jean` does not fit bodies by directors: it holds them on velocity level only, and they lose their shape; take `svci`, `gvi` or `nsga`".into(),
        ))
    }

    fn with_restitution(&self, restitution: &[f64]) -> Option<Arc<dyn Integrator>> {
        let mut method = self.clone();
        method.restitution = Restitution::PerContact(restitution.to_vec());
        Some(Arc::new(method))
    }
}

impl Integrator for NullSpace {
    fn bind<'a>(&self, system: &'a System, _start: &State) -> Bound<'a, State> {
        Ok(Box::new(self.stepper(system)?))
    }

    /// Steps in the freedoms of the joints: those of the tree, or with loops closed. Couplings are no joints of a tree.
    fn bind_mechanism<'a>(
        &self,
        mechanism: &Mechanism,
        system: &'a System,
        start: &State,
    ) -> Bound<'a, State> {
        if self.unknowns != Unknowns::Increment || mechanism.has_couplings() {
            return self.bind(system, start);
        }
        let tree = mechanism.tree();
        Ok(if tree.closing().is_empty() {
            Box::new(self.stepper_with(system, tree)?)
        } else {
            Box::new(self.stepper_with(system, mechanism.closure()?)?)
        })
    }
}

impl Integrator for Lgvci {
    fn bind<'a>(&self, _system: &'a System, _start: &State) -> Bound<'a, State> {
        let others = super::names(|facts| !facts.bodies);
        Err(Misfit::Kind(format!(
            "`lgvci` does not fit this system: it moves rigid bodies (`[[body]]`); methods for `[system]` are {others}"
        )))
    }

    fn bind_mechanism<'a>(
        &self,
        _mechanism: &Mechanism,
        _system: &'a System,
        _start: &State,
    ) -> Bound<'a, State> {
        let others = super::names(|facts| !facts.bodies);
        Err(Misfit::Kind(format!(
            "`lgvci` does not fit this system: it moves bodies without joints; methods for joints are {others}"
        )))
    }

    fn bind_bodies<'a>(
        &self,
        world: &'a RigidWorld,
        start: &RigidState,
        step: f64,
    ) -> Bound<'a, RigidState> {
        Ok(Box::new(self.stepper(world, start, step)?))
    }
}
