//! The LGVCI at work: [`Lgvci`] bound to a world.

use nsm_model::{Events, StepError, StepReport, Stepper};

use super::many::ManyStepper;
use super::published::PublishedStepper;
use super::{Lgvci, RigidError, RigidState, RigidWorld};

/// [`Lgvci`] bound to a world.
#[derive(Debug)]
pub struct LgvciStepper<'a> {
    h: f64,
    /// As published, where that is all there is to do.
    published: Option<Box<PublishedStepper<'a>>>,
    /// All bodies together; made when it is first needed.
    many: Option<Box<ManyStepper<'a>>>,
    method: Lgvci,
    world: &'a RigidWorld,
    /// Whether the last step was taken by all bodies together.
    together: bool,
}

impl<'a> LgvciStepper<'a> {
    pub(super) fn new(
        method: Lgvci,
        world: &'a RigidWorld,
        start: &RigidState,
        h: f64,
    ) -> Result<Self, RigidError> {
        let mut stepper = Self { h, published: None, many: None, method, world, together: false };
        if world.is_published(&method) {
            let published = PublishedStepper::new(method, world, start, h)?;
            stepper.published = Some(Box::new(published));
        } else {
            stepper.many = Some(Box::new(ManyStepper::new(method, world, start, h)?));
        }
        Ok(stepper)
    }
}

impl Stepper for LgvciStepper<'_> {
    type State = RigidState;

    fn step(&mut self, state: &mut RigidState) -> Result<StepReport, StepError> {
        if let Some(published) = &mut self.published {
            match published.step(state) {
                // Impacts without end: the body comes to rest, and is held.
                Err(StepError::Accumulation { .. }) => {}
                outcome => {
                    self.together = false;
                    return outcome;
                }
            }
        }
        self.together = true;
        let many = match &mut self.many {
            Some(many) => many,
            none => {
                let made = ManyStepper::new(self.method, self.world, state, self.h)
                    .map_err(|source| StepError::Method { t: state.t, source: Box::new(source) })?;
                none.insert(Box::new(made))
            }
        };
        many.step(state)
    }

    fn step_size(&self) -> f64 {
        self.h
    }

    fn events(&self) -> &Events {
        match (&self.published, &self.many) {
            (_, Some(many)) if self.together => many.events(),
            (Some(published), _) => published.events(),
            (None, Some(many)) => many.events(),
            (None, None) => unreachable!("one of the two is always there"),
        }
    }
}
