//! The rows "CPU-time" of Tables 1 and 2: how long the schemes take for the same steps, measured now, as ratios.
//!
//! Only ratios within one run mean anything, and the machine may be busy: each is the best of several runs, and none is judged.

use std::time::Instant;

use nsm_model::{State, Stepper};

use crate::{Findings, ScenarioError};

/// Runs of which the fastest counts.
const RUNS: usize = 5;

/// Seconds that a number of steps takes from a start.
pub(super) fn seconds<S: Stepper<State = State>>(
    mut stepper: S,
    start: &State,
    steps: usize,
) -> Result<f64, ScenarioError> {
    let mut best = f64::INFINITY;
    for _ in 0..RUNS {
        let mut state = start.clone();
        let begun = Instant::now();
        for _ in 0..steps {
            stepper.step(&mut state)?;
        }
        best = best.min(begun.elapsed().as_secs_f64());
    }
    Ok(best)
}

/// The row of a table: energy-momentum with multipliers, symplectic-momentum with multipliers and in its freedoms, the last being the unit, beside the
/// paper's.
pub(super) fn row(findings: &mut Findings, steps: usize, measured: [f64; 3], paper: [&str; 3]) {
    let names = [
        "energy-momentum, multipliers",
        "symplectic-momentum, multipliers",
        "symplectic-momentum, nodal reparametrisation",
    ];
    let lines = names.into_iter().zip(measured).zip(paper).map(|((name, time), paper)| {
        [name.to_owned(), format!("{:.1}", time / measured[2]), paper.to_owned()]
    });
    findings.table(
        format!("Time of {steps} steps, as a ratio; best of {RUNS} runs, measured now"),
        &["scheme", "here", "paper"],
        lines,
    );
}
