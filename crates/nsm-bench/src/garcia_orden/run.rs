//! Runs of the two particles, with what the figures show.

use nsm_model::{State, StepError, Stepper, System};
use nsm_vi::ConservingStepper;

use crate::Findings;

/// What a run left behind, one point a step.
#[derive(Default)]
pub(super) struct Trace {
    pub(super) energy: Vec<[f64; 2]>,
    pub(super) multiplier: Vec<[f64; 2]>,
    pub(super) position: Vec<[f64; 2]>,
    pub(super) rate: Vec<[f64; 2]>,
}

impl Trace {
    /// A run.
    pub(super) fn of(
        system: &System,
        state: &State,
        mut stepper: ConservingStepper<'_>,
        steps: usize,
    ) -> Result<Self, StepError> {
        let (mut trace, mut state) = (Self::default(), state.clone());
        for _ in 0..steps {
            stepper.step(&mut state)?;
            trace.record(system, &state, stepper.multipliers()[0]);
        }
        Ok(trace)
    }

    fn record(&mut self, system: &System, state: &State, multiplier: f64) {
        let t = state.t;
        self.energy.push([t, system.mass().kinetic_energy(&state.v)]);
        self.multiplier.push([t, multiplier]);
        self.position.push([t, system.equalities().value(0, &state.q, t)]);
        let rate = 2.0 * (state.q[0] * state.v[0] + state.q[1] * state.v[1]);
        self.rate.push([t, rate]);
    }

    /// Adds the curves of the figures.
    pub(super) fn draw(&self, findings: &mut Findings, name: &str) {
        for (label, points) in [
            ("energy (dimensionless)", &self.energy),
            ("multiplier (dimensionless)", &self.multiplier),
            ("position constraint (dimensionless)", &self.position),
            ("velocity constraint (dimensionless)", &self.rate),
        ] {
            findings.curve(name, ("t (dimensionless)", label), points.iter().copied());
        }
    }
}

/// Largest size of the values.
pub(super) fn size(points: &[[f64; 2]]) -> f64 {
    points.iter().fold(0.0, |largest, p| largest.max(p[1].abs()))
}

/// Largest distance of the values from a number.
pub(super) fn drift(points: &[[f64; 2]], from: f64) -> f64 {
    points.iter().fold(0.0, |largest, p| largest.max((p[1] - from).abs()))
}
