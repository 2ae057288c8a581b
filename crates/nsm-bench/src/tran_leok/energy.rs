//! What happens to the parts of the energy, and to the discrete energy, inside and outside of steps with impacts.

use nsm_vi::rigid::{Lgvci, Lgvi, discrete_energy};

use super::{Case, H, cases::thin, start};
use crate::{Effort, Expected, Findings, Scenario, ScenarioError, Status};

pub(super) fn scenarios() -> Vec<Scenario> {
    vec![
        Scenario::new(
            "tran-leok/energy-transfer",
            "Figure 7",
            "Energy passes between T.P.E. and R.E. at impacts; both are constant in between.",
            Status::Reproduced,
            transfer,
        ),
        Scenario::new(
            "tran-leok/discrete-energy",
            "Equation (5.13a)",
            "One can verify that the discrete energy is conserved across the impact.",
            Status::Erratum,
            discrete,
        )
        .noting("With the λ of Corollary 4.4 the discrete energies before and after differ; the energy itself does not."),
    ]
}

fn transfer(_: Effort) -> Result<Findings, ScenarioError> {
    let mut found = Findings::default();
    for case in Case::ALL {
        let world = case.world()?;
        let body = &world.bodies()[0];
        let mut state = start();
        let mut stepper = Lgvci::default().stepper(&world, &state, H)?;
        let energies = |s: &nsm_vi::rigid::RigidState| {
            let rotational = body.rotational_energy(&s.bodies[0]);
            (world.energy(s) - rotational, rotational)
        };
        let mut last = energies(&state);
        let (mut quiet, mut least, mut largest) = (0.0_f64, f64::INFINITY, 0.0_f64);
        let (mut tpe, mut re) = (vec![last.0], vec![last.1]);
        for _ in 0..1600 {
            nsm_model::Stepper::step(&mut stepper, &mut state)?;
            let now = energies(&state);
            let change = (now.0 - last.0).abs().max((now.1 - last.1).abs());
            if nsm_model::Stepper::events(&stepper).is_empty() {
                quiet = quiet.max(change);
            } else {
                least = least.min(change);
                largest = largest.max(change);
            }
            tpe.push(now.0);
            re.push(now.1);
            last = now;
        }
        let name = case.name();
        found.check(
            format!("case {name}: change of T.P.E. and R.E. between impacts, per step"),
            quiet,
            Expected::AtMost(1e-12),
        );
        found.check(
            format!("case {name}: least change at an impact"),
            least,
            Expected::AtLeast(1e-3),
        );
        found.check(
            format!("case {name}: largest change at an impact"),
            largest,
            Expected::AtLeast(20.0),
        );
        found.curve(
            format!("T.P.E. {name}"),
            ("t (dimensionless)", "energy (dimensionless)"),
            thin(&tpe, H),
        );
        found.curve(
            format!("R.E. {name}"),
            ("t (dimensionless)", "energy (dimensionless)"),
            thin(&re, H),
        );
    }
    Ok(found)
}

/// $E_d$ before and after each single impact, with the λ of Corollary 4.4.
fn discrete(_: Effort) -> Result<Findings, ScenarioError> {
    let mut found = Findings::default();
    for case in Case::ALL {
        let world = case.world()?;
        let (body, gravity) = (&world.bodies()[0], world.gravity());
        let mut state = start();
        let mut stepper = Lgvci::default().stepper(&world, &state, H)?;
        let (mut squares, mut impacts, mut change) = (0.0, 0, 0.0_f64);
        for _ in 0..100_000 {
            let before = state.clone();
            nsm_model::Stepper::step(&mut stepper, &mut state)?;
            let events = nsm_model::Stepper::events(&stepper);
            let Some(event) = events.iter().next().filter(|_| events.len() == 1) else { continue };
            let first = event.t - before.t;
            let rest = H - first;
            if first.min(rest) < 1e-4 {
                continue; // E_d divides by the square of the part of the step
            }
            let Ok(flight) = Lgvi::default().fly(body, gravity, before.t, &before.bodies[0], first)
            else {
                continue;
            };
            let struck = flight.end.pose;
            let e0 = discrete_energy(body, gravity, &before.bodies[0].pose, &struck, first);
            let e1 = discrete_energy(body, gravity, &struck, &state.bodies[0].pose, rest);
            squares += (e1 - e0).powi(2);
            impacts += 1;
            change = change.max(event.energy_change.abs());
        }
        let name = case.name();
        found.check(
            format!("case {name}: rms mismatch of the discrete energy"),
            (squares / f64::from(impacts)).sqrt(),
            Expected::Within(0.005, 0.3),
        );
        // On the tilted plane kinetic and potential energy grow to 6e4.
        let bound = if case == Case::II { 1e-10 } else { 1e-12 };
        found.check(
            format!("case {name}: largest change of the energy"),
            change,
            Expected::AtMost(bound),
        );
    }
    Ok(found)
}
