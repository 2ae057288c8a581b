//! What the integration tests share: a run to an end time.
#![allow(dead_code, missing_docs, unreachable_pub)] // each test binary uses its own part

use nsm_model::{Ledger, State, Stepper, System, SystemProbe, run_steps, steps_between};

/// Runs a stepper to `end`; returns the last state and the ledger.
pub fn run<S: Stepper<State = State>>(
    system: &System,
    stepper: &mut S,
    start: &State,
    end: f64,
) -> (State, Ledger) {
    let mut state = start.clone();
    let steps = steps_between(start.t, end, stepper.step_size()).unwrap();
    let outcome =
        run_steps(stepper, &mut SystemProbe::new(system), &mut state, steps, &mut ()).unwrap();
    (state, outcome.ledger)
}

/// Observed orders between successive errors at halved steps.
pub fn orders(errors: &[f64]) -> Vec<f64> {
    errors.windows(2).map(|e| (e[0] / e[1]).log2()).collect()
}

pub fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}
