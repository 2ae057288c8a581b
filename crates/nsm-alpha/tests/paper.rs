//! The numbers of Patil & Brüls (\[PB\] section 5) by every method of the crate.

mod common;

use std::ops::ControlFlow;

use common::{distance, run};
use nsm_alpha::problems::{Kink, Problem, braiding_machine, cam, pothole, track};
use nsm_alpha::{AlphaError, ClassicalAlpha, Coefficients, EventDriven, Index, Nsga, Variant};
use nsm_model::{Events, Measurement, State, StepError, Stepper, SystemProbe, run_steps};

/// $\rho_\infty$ of the paper.
const RHO: f64 = 0.98;

/// Kinetic energy on the ramp by (45) and (47) in closed form, for a kink of 45° and unit mass and speed.
fn energy_after_kink(e: f64) -> f64 {
    let s = std::f64::consts::FRAC_1_SQRT_2;
    // G_E = (1 - e)(0, 1) + e (-s, s); v = v⁻ - G_Eᵀ (G·v⁻)/(G·G_E) with G = (-s, s), v⁻ = (1, 0).
    let g_e = [-e * s, (1.0 - e) + e * s];
    let impulse = -s / (-s * g_e[0] + s * g_e[1]);
    let v = [1.0 - g_e[0] * impulse, -g_e[1] * impulse];
    0.5 * (v[0] * v[0] + v[1] * v[1])
}

fn nsga(step: f64, variant: Variant) -> Nsga {
    Nsga { variant, ..Nsga::new(step, RHO).unwrap() }
}

#[test]
fn track_with_the_gradient_after_the_switch_loses_half_the_energy() {
    let Problem { system, start } = track(Kink::Uphill).unwrap();
    let classical = |index| {
        let method = ClassicalAlpha::new(0.002, index, RHO).unwrap();
        run(&system, &mut method.stepper(&system, &start).unwrap(), &start, 6.0)
    };
    let (state, ledger) = classical(Index::Three);
    assert!(distance(&state.q, &[4.5, 1.5]) < 1e-6 && (ledger.energy.end - 0.25).abs() < 1e-6);
    assert!(ledger.position_residual < 1e-12);
    // The hidden velocity constraint jumps from 0 to 1 (paper, figure 10h).
    assert!((ledger.velocity_residual - 1.0).abs() < 1e-2);
    let (state, ledger) = classical(Index::Two);
    assert!(
        distance(&state.q, &[4.5005, 1.4995]) < 1e-4 && (ledger.energy.end - 0.25).abs() < 1e-6
    );
    assert!((ledger.position_residual - 1e-3).abs() < 1e-4);
    assert!(ledger.velocity_residual < 1e-10);
    let (state, ledger) = classical(Index::One);
    assert!(distance(&state.q, &[6.0, 0.0]) < 1e-9, "index 1 leaves the track");
    assert!((ledger.position_residual - 3.0).abs() < 1e-9);
    assert!((ledger.velocity_residual - 1.0).abs() < 1e-12);
    for variant in [Variant::Published, Variant::Active] {
        let mut stepper = nsga(0.002, variant).stepper(&system, &start).unwrap();
        let (state, ledger) = run(&system, &mut stepper, &start, 6.0);
        assert!(distance(&state.q, &[4.5, 1.5]) < 1e-10);
        assert!((ledger.energy.end - 0.25).abs() < 1e-12);
        assert!((ledger.event_energy_change + 0.25).abs() < 1e-12, "(43) predicts -0.25");
        assert!(ledger.position_residual < 1e-12 && ledger.velocity_residual < 1e-15);
    }
    let method = EventDriven::new(0.002, RHO).unwrap();
    let (state, ledger) = run(&system, &mut method.stepper(&system, &start).unwrap(), &start, 6.0);
    assert!(distance(&state.q, &[4.5, 1.5]) < 1e-10 && (ledger.energy.end - 0.25).abs() < 1e-12);
    assert_eq!(ledger.events, 1);
}

#[test]
fn interpolation_gives_the_same_energy_by_four_ways() {
    let Problem { system, start } = track(Kink::Uphill).unwrap();
    for (e, stated) in [(0.9, 0.287_749), (0.7, 0.379_806), (0.5, 0.5), (0.3, 0.658_232)] {
        let exact = energy_after_kink(e);
        assert!((exact - stated).abs() < 1e-6);
        let implicit = ClassicalAlpha {
            coefficients: Coefficients::fully_implicit(),
            interpolation: Some(e),
            ..ClassicalAlpha::new(0.002, Index::Two, RHO).unwrap()
        };
        let (_, ledger) =
            run(&system, &mut implicit.stepper(&system, &start).unwrap(), &start, 6.0);
        assert!((ledger.energy.end - exact).abs() < 1e-6, "implicit, {e}: {}", ledger.energy.end);
        let event = EventDriven { interpolation: e, ..EventDriven::new(0.002, RHO).unwrap() };
        let (_, ledger) = run(&system, &mut event.stepper(&system, &start).unwrap(), &start, 6.0);
        assert!((ledger.energy.end - exact).abs() < 1e-12, "event, {e}: {}", ledger.energy.end);
        for variant in [Variant::Published, Variant::Active] {
            let method = Nsga { interpolation: e, ..nsga(0.002, variant) };
            let (state, ledger) =
                run(&system, &mut method.stepper(&system, &start).unwrap(), &start, 6.0);
            assert!((ledger.energy.end - exact).abs() < 1e-12, "NSGA, {e}: {}", ledger.energy.end);
            if e == 0.5 {
                assert!(distance(&state.q, &[5.121_320_34, 2.121_320_34]) < 1e-8);
            }
        }
    }
}

#[test]
fn index_2_with_the_intermediate_gradient_gains_energy_as_the_paper_warns() {
    let Problem { system, start } = track(Kink::Uphill).unwrap();
    for (e, measured) in [(0.9, 0.3281), (0.7, 0.5366), (0.5, 0.8356)] {
        let method = ClassicalAlpha {
            interpolation: Some(e),
            ..ClassicalAlpha::new(0.002, Index::Two, RHO).unwrap()
        };
        let (_, ledger) = run(&system, &mut method.stepper(&system, &start).unwrap(), &start, 6.0);
        assert!((ledger.energy.end - measured).abs() < 1e-4, "{e}: {}", ledger.energy.end);
    }
}

/// Kinetic energies just before and after each event, with the time of the event.
fn jumps<S: Stepper<State = State>>(
    problem: &Problem,
    stepper: &mut S,
    steps: usize,
) -> (State, Vec<(f64, f64, f64)>) {
    let mut state = problem.start.clone();
    let mut found = Vec::new();
    let mut last = 0.0;
    let mut watch = |_: usize, _: &State, m: &Measurement, events: &Events| {
        found.extend(events.iter().map(|e| (e.t, last, m.kinetic)));
        last = m.kinetic;
        ControlFlow::Continue(())
    };
    let mut probe = SystemProbe::new(&problem.system);
    run_steps(stepper, &mut probe, &mut state, steps, &mut watch).unwrap();
    (state, found)
}

#[test]
fn braiding_machine_as_published_and_exactly() {
    for (radius, as_published, omega, angle, published_angle) in [
        (2.0, (87.3086, 86.0340), 1.588_278, 6.376_128_9, 6.374_231_0),
        (1.0, (58.5086, 54.7443), 1.660_377, 6.522_958_8, 6.520_519_2),
    ] {
        let problem = braiding_machine(radius).unwrap();
        let mut published =
            nsga(1e-3, Variant::Published).stepper(&problem.system, &problem.start).unwrap();
        let (state, found) = jumps(&problem, &mut published, 4000);
        assert_eq!(found.len(), 1);
        assert!((found[0].1 - as_published.0).abs() < 2e-4, "{found:?}");
        assert!((found[0].2 - as_published.1).abs() < 2e-4, "{found:?}");
        assert!((state.q[3] - published_angle).abs() < 1e-6);

        // Exact: constant speed, the impact conserves what (31)-(32) conserve.
        let mut event =
            EventDriven::new(1e-3, RHO).unwrap().stepper(&problem.system, &problem.start).unwrap();
        let (state, found) = jumps(&problem, &mut event, 4000);
        assert!((found[0].0 - 1.963_495_4).abs() < 1e-6);
        assert!((state.v[3] - omega).abs() < 1e-6, "{}", state.v[3]);
        assert!((state.q[3] - angle).abs() < 1e-6, "{}", state.q[3]);
        let mut active =
            nsga(1e-3, Variant::Active).stepper(&problem.system, &problem.start).unwrap();
        let (state, _) = jumps(&problem, &mut active, 4000);
        assert!((state.q[3] - angle).abs() < 1e-5, "{}", state.q[3]);
    }
}

#[test]
fn braiding_machine_and_pothole_conserve_energy_along_the_bisector() {
    for (problem, energy) in [(braiding_machine(1.0).unwrap(), 58.56), (pothole().unwrap(), 80.925)]
    {
        let method = EventDriven { interpolation: 0.5, ..EventDriven::new(1e-3, RHO).unwrap() };
        let mut stepper = method.stepper(&problem.system, &problem.start).unwrap();
        // To just after the switch at which energy is lost otherwise.
        let (_, ledger) = run(&problem.system, &mut stepper, &problem.start, 2.1);
        assert!((ledger.energy.start - energy).abs() < 1e-12);
        assert!(ledger.event_energy_change.abs() < 1e-11, "{}", ledger.event_energy_change);
        assert!((ledger.energy.end - energy).abs() < 1e-5, "{}", ledger.energy.end);
    }
}

#[test]
fn pothole_as_published_and_exactly() {
    let problem = pothole().unwrap();
    let mut published =
        nsga(1e-3, Variant::Published).stepper(&problem.system, &problem.start).unwrap();
    let (state, found) = jumps(&problem, &mut published, 4000);
    assert_eq!(found.len(), 3);
    assert!((found[1].1 - 11.554_111).abs() < 2e-5 && (found[1].2 - 8.368_771).abs() < 2e-5);
    assert!(distance(&state.q, &[4.911_851_9, 1.5, 3.287_575_1]) < 1e-6, "{:?}", state.q);

    let mut event =
        EventDriven::new(2.5e-4, RHO).unwrap().stepper(&problem.system, &problem.start).unwrap();
    let (state, found) = jumps(&problem, &mut event, 16_000);
    for (event, exact) in found.iter().zip([1.428_571_4, 1.764_582_3, 2.189_694_7]) {
        assert!((event.0 - exact).abs() < 1e-7, "{}", event.0);
    }
    assert!(distance(&state.q, &[4.911_080_9, 1.5, 3.287_061_1]) < 2e-7, "{:?}", state.q);
    assert!(distance(&state.v, &[1.055_667_8, 0.0, 0.703_778_5]) < 2e-7, "{:?}", state.v);
}

#[test]
fn cam_as_published_and_exactly() {
    let problem = cam(2.0).unwrap();
    let mut published =
        nsga(1e-3, Variant::Published).stepper(&problem.system, &problem.start).unwrap();
    let (state, found) = jumps(&problem, &mut published, 4000);
    assert_eq!(found.len(), 1);
    assert!((found[0].2 - 10.8781).abs() < 1e-3, "{found:?}");
    assert!(distance(&state.q, &[2.076_682_3, 12.412_855_3]) < 1e-6, "{:?}", state.q);
    let mut event =
        EventDriven::new(2.5e-4, RHO).unwrap().stepper(&problem.system, &problem.start).unwrap();
    let (state, found) = jumps(&problem, &mut event, 16_000);
    assert!((found[0].0 - 1.687_035).abs() < 1e-6);
    assert!(distance(&state.q, &[2.074_968_0, 12.416_293_8]) < 2e-7, "{:?}", state.q);
    assert!(distance(&state.v, &[-1.524_721_5, 3.058_048_6]) < 2e-7, "{:?}", state.v);
    assert_eq!(state.mode, 1);
}

#[test]
fn a_heavier_cam_switches_twice_and_a_light_one_chatters() {
    let problem = cam(4.0).unwrap();
    let mut event =
        EventDriven::new(5e-4, RHO).unwrap().stepper(&problem.system, &problem.start).unwrap();
    let (state, found) = jumps(&problem, &mut event, 8000);
    assert_eq!(found.len(), 2);
    assert!((found[0].0 - 1.6265).abs() < 1e-4 && (found[1].0 - 3.4986).abs() < 1e-4, "{found:?}");
    assert_eq!(state.mode, 2);

    let problem = cam(0.5).unwrap();
    let mut event =
        EventDriven::new(1e-3, RHO).unwrap().stepper(&problem.system, &problem.start).unwrap();
    let mut state = problem.start.clone();
    let error =
        run_steps(&mut event, &mut SystemProbe::new(&problem.system), &mut state, 4000, &mut ())
            .unwrap_err();
    // Its switches accumulate near t = 3.513, or the impact law sends it back: either way a typed end.
    assert!((error.source.time() - 3.513).abs() < 0.01, "{error}");
}

#[test]
fn the_ill_posed_kink_is_refused_with_the_rates_in_the_message() {
    let Problem { system, start } = track(Kink::Backward).unwrap();
    let refused = |error: StepError| match error {
        StepError::Method { source, .. } => {
            match source.downcast_ref::<AlphaError>() {
                Some(AlphaError::Direction { before, after, interpolation, .. }) => {
                    assert!((before + 0.5).abs() < 1e-9 && (after - 0.25).abs() < 1e-9);
                    assert_eq!(*interpolation, 1.0);
                }
                other => panic!("{other:?}"),
            }
            let message = source.to_string();
            assert!(
                message.contains("ill-posed") && message.contains("`flat` to `ramp`"),
                "{message}"
            );
        }
        other => panic!("{other}"),
    };
    let mut probe = SystemProbe::new(&system);
    let event = EventDriven::new(0.002, RHO).unwrap();
    let mut state = start.clone();
    let error = run_steps(
        &mut event.stepper(&system, &start).unwrap(),
        &mut probe,
        &mut state,
        3000,
        &mut (),
    )
    .unwrap_err();
    assert!((state.t - 3.0).abs() < 0.003, "the state is the last good one");
    refused(error.source);
    for variant in [Variant::Published, Variant::Active] {
        let mut state = start.clone();
        let mut stepper = nsga(0.002, variant).stepper(&system, &start).unwrap();
        let error = run_steps(&mut stepper, &mut probe, &mut state, 3000, &mut ()).unwrap_err();
        refused(error.source);
    }
    // It works for 0.5 <= E < 0.5858 and goes back down the line.
    for e in [0.5, 0.55, 0.58] {
        let event = EventDriven { interpolation: e, ..EventDriven::new(0.002, RHO).unwrap() };
        let (state, ledger) =
            run(&system, &mut event.stepper(&system, &start).unwrap(), &start, 6.0);
        assert_eq!((ledger.events, state.mode), (1, 1), "{e}");
        assert!(state.q[0] < 3.0 && state.q[1] < 0.0, "{e}: {:?}", state.q);
    }
    let event = EventDriven { interpolation: 0.6, ..EventDriven::new(0.002, RHO).unwrap() };
    let mut state = start.clone();
    assert!(
        run_steps(
            &mut event.stepper(&system, &start).unwrap(),
            &mut probe,
            &mut state,
            3000,
            &mut ()
        )
        .is_err()
    );
}
