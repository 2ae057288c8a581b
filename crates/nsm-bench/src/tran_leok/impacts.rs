//! Impacts that a look at the end of a step would miss.

use nsm_model::Stepper;
use nsm_vi::rigid::{BodyState, Lgvci, Lgvi, RigidWorld};

use super::{Case, start};
use crate::{Effort, Expected, Findings, Scenario, ScenarioError, Status};

pub(super) fn scenarios() -> Vec<Scenario> {
    vec![Scenario::new(
        "tran-leok/missed-impacts",
        "Algorithm 5.2",
        "An impact shows as a negative gap at the end of a step.",
        Status::Differs,
        missed,
    ).noting(
        "At large steps a corner can dip into the plane and be out again: the search looks for minima inside the step. The counts are of impacts that the test at the end would have missed.",
    )]
}

fn missed(_: Effort) -> Result<Findings, ScenarioError> {
    let mut found = Findings::default();
    for (h, expected) in [
        (0.01, [Expected::AtMost(0.0); 3]),
        (0.05, [Expected::AtMost(6.0), Expected::AtMost(6.0), Expected::Within(1.0, 25.0)]),
        (0.1, [Expected::AtMost(10.0), Expected::AtMost(10.0), Expected::Within(8.0, 60.0)]),
    ] {
        for (case, expected) in Case::HORIZONTAL.into_iter().zip(expected) {
            let world = case.world()?;
            let mut state = start();
            let energy = world.energy(&state);
            let mut stepper = Lgvci::default().stepper(&world, &state, h)?;
            let (mut missed, mut drift, mut depth) = (0, 0.0_f64, 0.0_f64);
            for _ in 0..steps(300.0, h) {
                let end = free_end(&world, state.bodies[0], h);
                let free = world.gap(0, 0, &end);
                stepper.step(&mut state)?;
                missed += usize::from(!stepper.events().is_empty() && free >= 0.0);
                drift = drift.max((world.energy(&state) - energy).abs());
                depth = depth.max(-world.gap(0, 0, &state.bodies[0]));
            }
            let name = format!("case {}, h = {h}", case.name());
            found.check(
                format!("{name}: impacts between two positive gaps"),
                missed as f64,
                expected,
            );
            found.check(format!("{name}: energy error"), drift, Expected::AtMost(1e-11));
            found.check(format!("{name}: penetration"), depth, Expected::AtMost(0.0));
        }
    }
    Ok(found)
}

/// Where the body would be after the step if there were no plane; split like the step itself.
fn free_end(world: &RigidWorld, from: BodyState, tau: f64) -> BodyState {
    match Lgvi::default().fly(&world.bodies()[0], world.gravity(), 0.0, &from, tau) {
        Ok(flight) => flight.end,
        Err(_) if tau > 1e-3 => free_end(world, free_end(world, from, 0.5 * tau), 0.5 * tau),
        Err(_) => from,
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // small and positive
fn steps(t: f64, h: f64) -> usize {
    (t / h).round() as usize
}
