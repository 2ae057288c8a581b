//! When the bodies strike: instants, counts, several impacts in one step, impacts that a step would miss.

use nsm_geom::Vec3;
use nsm_model::Stepper;
use nsm_vi::rigid::{BodyState, Lgvci, Lgvi, RigidWorld};
use rayon::prelude::*;

use super::{Case, H, cases::run, start};
use crate::{Effort, Expected, Findings, Scenario, ScenarioError, Status};

pub(super) fn scenarios() -> Vec<Scenario> {
    let mut all: Vec<_> = Case::ALL.into_iter().map(times).collect();
    all.extend(Case::ALL.into_iter().map(ensemble));
    all.push(Scenario::new(
        "tran-leok/missed-impacts",
        "Algorithm 5.2",
        "An impact shows as a negative gap at the end of a step.",
        Status::Differs,
        missed,
    ).noting(
        "At large steps a corner can dip into the plane and be out again: the search looks for minima inside the step. The counts are of impacts that the test at the end would have missed.",
    ));
    all
}

/// First eight impact times of the discrete map at $h = 0.01$, computed in quadruple precision.
fn reference(case: Case) -> [f64; 8] {
    match case {
        Case::I => [
            2.649_128_901_5,
            4.893_938_255_3,
            5.350_135_680_9,
            6.520_005_137_8,
            9.445_693_565_8,
            11.309_326_095_5,
            14.288_356_180_9,
            15.918_361_455_1,
        ],
        Case::II => [
            2.639_194_210_3,
            5.181_335_613_0,
            5.411_419_248_2,
            6.381_179_311_5,
            9.490_571_840_8,
            10.689_967_643_9,
            10.763_986_309_9,
            10.818_896_600_9,
        ],
        Case::III => [
            2.009_288_622_5,
            2.928_858_417_5,
            5.891_282_561_5,
            6.207_491_309_4,
            8.840_394_998_1,
            11.445_149_922_7,
            13.075_266_123_3,
            15.747_073_413_8,
        ],
        Case::IV => [
            2.608_788_264_9,
            3.657_973_349_0,
            6.618_368_317_6,
            6.619_415_679_6,
            8.941_018_241_3,
            10.811_919_200_9,
            14.045_887_054_2,
            14.062_308_242_6,
        ],
    }
}

fn times(case: Case) -> Scenario {
    let id = format!("tran-leok/impact-times-{}", case.name().to_lowercase());
    Scenario::new(
        &id,
        "Figure 7",
        "The first bounces from the common start.",
        Status::Reproduced,
        move |_| {
            let mut found = Findings::default();
            let run = run(&Lgvci::default(), &case.world()?, start(), H, 1600)?;
            let rows =
                reference(case).into_iter().zip(&run.times).enumerate().map(|(k, (want, t))| {
                    [(k + 1).to_string(), format!("{t:.10}"), format!("{want:.10}")]
                });
            found.table("Instants of impact", &["impact", "here", "quadruple precision"], rows);
            for (k, want) in reference(case).into_iter().enumerate() {
                let t = run.times.get(k).copied().unwrap_or(f64::NAN);
                found.check(format!("impact {}", k + 1), t, Expected::Near(want, 1e-9));
            }
            Ok(found)
        },
    )
    .noting(
        "Compared with the same discrete map in quadruple precision; the paper prints no instants.",
    )
}

/// Members of the ensemble that ours is compared with.
const REFERENCE: f64 = 24.0;

/// Its mean and standard deviation of the number of impacts in 10⁵ steps.
fn counts(case: Case) -> (f64, f64) {
    match case {
        Case::I => (552.0, 14.0),
        Case::II => (556.0, 15.0),
        Case::III => (797.0, 28.0),
        Case::IV => (651.0, 14.0),
    }
}

fn ensemble(case: Case) -> Scenario {
    let claim = match case {
        Case::I | Case::II => "Impacts in 10⁵ steps (no number given).",
        Case::III => "Roughly 806 collisions in 10⁵ steps.",
        Case::IV => "Roughly 652 collisions in 10⁵ steps.",
    };
    let id = format!("tran-leok/impact-count-{}", case.name().to_lowercase());
    Scenario::new(&id, "Section 7.3", claim, Status::Reproduced, move |effort| {
        let members = if effort == Effort::Full { 24 } else { 6 };
        let world = case.world()?;
        let runs: Vec<_> = (0..members)
            .into_par_iter()
            .map(|k: i32| {
                let mut from = start();
                // Spread on a helix of radius 1e-9, so that every member starts elsewhere.
                let angle = f64::from(k);
                from.bodies[0].pose.x += Vec3::new(angle.cos(), angle.sin(), angle / 24.0) * 1e-9;
                let run = run(&Lgvci::default(), &world, from, H, 100_000)?;
                Ok::<_, ScenarioError>((run.times.len() as f64, run.multiple, run.most))
            })
            .collect::<Result<_, _>>()?;
        let n = f64::from(members);
        let mean = runs.iter().map(|r| r.0).sum::<f64>() / n;
        let variance = runs.iter().map(|r| (r.0 - mean).powi(2)).sum::<f64>() / (n - 1.0);
        let (want, deviation) = counts(case);
        let mut found = Findings::default();
        // Four standard errors of the difference: another processor's last bits make another ensemble.
        let error = 4.0 * deviation * (1.0 / n + 1.0 / REFERENCE).sqrt();
        found.check("mean number of impacts", mean, Expected::Near(want, error.round()));
        found.check(
            "standard deviation",
            variance.sqrt(),
            Expected::Within(0.15 * deviation, 2.5 * deviation),
        );
        let most = runs.iter().map(|r| r.2).max().unwrap_or(0);
        found.check("most impacts in one step", most as f64, Expected::Within(1.0, 12.0));
        let multiple = runs.iter().map(|r| r.1 as f64).sum::<f64>() / n;
        let expected = match case {
            Case::IV => Expected::Within(5.0, 40.0),
            _ => Expected::AtMost(12.0),
        };
        found.check("steps with several impacts", multiple, expected);
        Ok(found)
    })
    .noting("The runs are chaotic: judged by an ensemble of starts 1e-9 apart, not by one run.")
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
