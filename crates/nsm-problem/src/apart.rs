//! A guard for methods that do not hold bodies apart: it stops a run in which two of them overlap.

use nsm_geom::body_gap;
use nsm_model::{Events, StepError, StepReport, Stepper};
use nsm_vi::rigid::{RigidState, RigidWorld};

use super::Contacts;

/// A stepper whose steps fail when bodies overlap at their end.
pub(crate) struct KeptApart<'a> {
    world: &'a RigidWorld,
    stepper: Box<dyn Stepper<State = RigidState> + 'a>,
    /// Pairs of bodies with shapes, and the distance of their centres below which they may touch.
    pairs: Vec<(usize, usize, f64)>,
    before: RigidState,
}

/// Two bodies overlap.
#[derive(Debug, thiserror::Error)]
#[error(
    "the bodies `{first}` and `{second}` overlap by {depth:.3e}, and this method holds bodies against planes only: take `svci`, or let them pass by a `[[contact]]` with `ignore = true`"
)]
struct Overlap {
    first: String,
    second: String,
    depth: f64,
}

impl<'a> KeptApart<'a> {
    pub(crate) fn new(
        world: &'a RigidWorld,
        contacts: &Contacts,
        stepper: Box<dyn Stepper<State = RigidState> + 'a>,
    ) -> Self {
        let bodies = world.bodies();
        let mut pairs = Vec::new();
        for (j, b) in bodies.iter().enumerate() {
            for (i, a) in bodies[..j].iter().enumerate() {
                let shaped = a.shape().is_some() && b.shape().is_some();
                if shaped && !contacts.ignores(a.name(), b.name()) {
                    pairs.push((i, j, a.radius() + b.radius()));
                }
            }
        }
        Self { world, stepper, pairs, before: RigidState { t: 0.0, bodies: Vec::new() } }
    }

    fn check(&self, state: &RigidState) -> Result<(), StepError> {
        let bodies = self.world.bodies();
        for &(i, j, reach) in &self.pairs {
            let (p, q) = (&state.bodies[i].pose, &state.bodies[j].pose);
            if (p.x - q.x).norm() >= reach {
                continue;
            }
            let (Some(a), Some(b)) = (bodies[i].shape(), bodies[j].shape()) else { continue };
            let depth = body_gap(a, p, b, q).map_or(0.0, |gap| -gap.gap);
            if depth > 1e-9 * reach {
                let [first, second] = [i, j].map(|k| bodies[k].name().to_owned());
                let source = Box::new(Overlap { first, second, depth });
                return Err(StepError::Method { t: state.t, source });
            }
        }
        Ok(())
    }
}

impl Stepper for KeptApart<'_> {
    type State = RigidState;

    fn step(&mut self, state: &mut RigidState) -> Result<StepReport, StepError> {
        if self.pairs.is_empty() {
            return self.stepper.step(state);
        }
        self.before.clone_from(state);
        let report = self.stepper.step(state)?;
        self.check(state).inspect_err(|_| state.clone_from(&self.before))?;
        Ok(report)
    }

    fn step_size(&self) -> f64 {
        self.stepper.step_size()
    }

    fn events(&self) -> &Events {
        self.stepper.events()
    }
}
