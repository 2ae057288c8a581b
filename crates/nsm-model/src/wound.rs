//! Counting turns: angles of joints that go on where $\operatorname{atan2}$ would jump.
//!
//! An angle is what the configuration says plus whole turns, and which turns is nothing that a configuration knows. They are counted in
//! a coordinate of their own, in halves: within a step it rests, and the angle is the one within half a turn of it, so that forces
//! and potentials are smooth over the step; after a step it is set anew.

use std::f64::consts::FRAC_PI_2;

use nsm_constraints::Field;
use nsm_constraints::multibody::Gauge;

use crate::{Events, State, StepError, StepReport, Stepper, System};

impl System {
    /// Counts the turns of a state anew.
    pub fn wind(&self, state: &mut State) {
        for (angle, at) in self.turns() {
            let value = angle.value(&state.q, state.t);
            state.q[*at] = Gauge::half_turns(value);
            (state.v[*at], state.p[*at]) = (0.0, 0.0);
        }
    }
}

/// A stepper that counts turns after every step.
#[derive(Debug)]
pub struct Wound<'a, S> {
    system: &'a System,
    inner: S,
    before: State,
}

impl<'a, S: Stepper<State = State>> Wound<'a, S> {
    /// Counts the turns of a system for a stepper that is bound to it and begins here.
    pub fn new(system: &'a System, inner: S, start: &State) -> Self {
        Self { system, inner, before: start.clone() }
    }
}

impl<S: Stepper<State = State>> Stepper for Wound<'_, S> {
    type State = State;

    /// A step over which an angle moves by a quarter turn or more cannot be counted, and fails.
    fn step(&mut self, state: &mut State) -> Result<StepReport, StepError> {
        self.before.clone_from(state);
        let report = self.inner.step(state)?;
        for (angle, _) in self.system.turns() {
            let moved = [&self.before, &*state].map(|s| angle.value(&s.q, s.t));
            let rate = angle.rate_of(&state.q, &state.v) * self.inner.step_size();
            if (moved[1] - moved[0]).abs() > FRAC_PI_2 || rate.abs() > 2.0 * FRAC_PI_2 {
                let t = self.before.t;
                state.clone_from(&self.before);
                return Err(StepError::Method { t, source: Box::new(TooFast(rate.abs())) });
            }
        }
        self.system.wind(state);
        Ok(report)
    }

    fn step_size(&self) -> f64 {
        self.inner.step_size()
    }

    fn events(&self) -> &Events {
        self.inner.events()
    }

    fn equality_impulses(&self) -> Option<&[f64]> {
        self.inner.equality_impulses()
    }
}

/// A joint that turns too fast for its turns to be counted.
#[derive(Debug, thiserror::Error)]
#[error(
    "a joint turns by {0:.2} rad in one step, too far for its turns to be counted: take a smaller step"
)]
struct TooFast(f64);
