//! Any stepper followed by a velocity projection.

use nsm_model::{Events, State, StepError, StepReport, Stepper, System, SystemError};

use super::{Projection, VelocityProjection};

/// A stepper whose velocities are projected onto the constraints after every step.
///
/// The energy that the projections add or take is booked in the [ledger](nsm_model::Ledger::projected_energy) of a run.
///
/// ```
/// use nsm_constraints::Rod;
/// use nsm_model::{Mass, State, Stepper, System};
/// use nsm_vi::{Conserving, Projected, Projection};
///
/// let system = System::new(Mass::diagonal(&[1.0, 0.1])?)
///     .with_equality("circle", Rod::to_pivot(&[0, 1], &[0.0, 0.0], 1.0)?)?;
/// let mut state = State::new(&system, &[0.0, 1.0], &[1.0, 0.0])?;
/// let inner = Conserving::new(0.1).stepper(&system)?;
/// let mut stepper = Projected::new(&system, inner, &Projection::mass())?;
/// for _ in 0..100 {
///     stepper.step(&mut state)?;
///     assert!(stepper.energy_change() <= 0.0);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Projected<'a, S> {
    inner: S,
    projection: VelocityProjection<'a>,
    before: State,
    change: f64,
    total: f64,
}

impl<'a, S: Stepper<State = State>> Projected<'a, S> {
    /// Lets a projection follow every step of `inner`, a stepper of the same system.
    ///
    /// # Errors
    /// As for [`Projection::bind`].
    pub fn new(system: &'a System, inner: S, projection: &Projection) -> Result<Self, SystemError> {
        let zero = vec![0.0; system.dimension()];
        let before = State { t: 0.0, q: zero.clone(), v: zero.clone(), p: zero, mode: 0 };
        let projection = projection.bind(system)?;
        Ok(Self { inner, projection, before, change: 0.0, total: 0.0 })
    }

    /// The stepper inside.
    pub fn inner(&self) -> &S {
        &self.inner
    }

    /// $\Delta E_p$ of the last step: energy after minus before the projection (\[GO\] (16)).
    pub fn energy_change(&self) -> f64 {
        self.change
    }

    /// Sum of $\Delta E_p$ over all steps taken.
    pub fn total_energy_change(&self) -> f64 {
        self.total
    }
}

impl<S: Stepper<State = State>> Stepper for Projected<'_, S> {
    type State = State;

    fn step(&mut self, state: &mut State) -> Result<StepReport, StepError> {
        self.projection.system.check_lengths(state)?;
        self.before.clone_from(state);
        let report = self.inner.step(state)?;
        let system = self.projection.system;
        let projected = self.projection.apply(state).and_then(|change| {
            system.check_motion(self.before.t, state.t, &state.q, &state.v).map(|()| change)
        });
        match projected {
            Ok(change) => {
                self.change = change;
                self.total += change;
                Ok(StepReport { projected_energy: Some(change), ..report })
            }
            Err(error) => {
                state.clone_from(&self.before);
                Err(error)
            }
        }
    }

    fn step_size(&self) -> f64 {
        self.inner.step_size()
    }

    fn events(&self) -> &Events {
        self.inner.events()
    }
}
