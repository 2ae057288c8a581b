//! Switches that are not well-posed, starts that no mode covers, and failures that leave the state alone.

mod common;

use nsm_alpha::problems::{Kink, Problem, track};
use nsm_alpha::{AlphaError, ClassicalAlpha, EventDriven, Index, Nsga};
use nsm_constraints::{Affine, Rows, Switching};
use nsm_model::{Mass, State, StepError, Stepper, System, SystemError, SystemProbe, run_steps};

fn affine(c: f64, w: &[f64], block: &[usize]) -> Affine {
    Affine::new(block, w, c).unwrap()
}

/// A unit mass along $y = 0$, then along a second line, with a region each.
fn kink(second: Affine, before: Affine, after: Affine) -> (System, State) {
    let (mut flat, mut ramp) = (Rows::new(2), Rows::new(2));
    flat.push("flat track", affine(0.0, &[1.0], &[1])).unwrap();
    ramp.push("steep track", second).unwrap();
    let switching = Switching::new(2)
        .with_mode("flat", before, flat)
        .unwrap()
        .with_mode("ramp", after, ramp)
        .unwrap();
    let system = System::new(Mass::diagonal(&[1.0, 1.0]).unwrap())
        .with_names(&["x", "y"])
        .unwrap()
        .with_switching(switching)
        .unwrap();
    let start = State::new(&system, &[0.0, 0.0], &[1.0, 0.0]).unwrap();
    (system, start)
}

fn failure<S: Stepper<State = State>>(
    system: &System,
    mut stepper: S,
    start: &State,
) -> AlphaError {
    let mut state = start.clone();
    let mut probe = SystemProbe::new(system);
    let error = run_steps(&mut stepper, &mut probe, &mut state, 3000, &mut ()).unwrap_err();
    // The failed step leaves everything as it was: asking again gives the same answer.
    let before = state.clone();
    assert!(stepper.step(&mut state).is_err());
    assert_eq!(state, before);
    match error.source {
        StepError::Method { source, .. } => source.downcast_ref::<AlphaError>().unwrap().clone(),
        other => panic!("{other}"),
    }
}

#[test]
fn modes_that_do_not_meet_are_named() {
    // The ramp starts 0.1 above the end of the flat.
    let (system, start) = kink(
        affine(0.9, &[-1.0, 1.0], &[0, 1]),
        affine(1.0, &[-1.0], &[0]),
        affine(-1.0, &[1.0], &[0]),
    );
    let event = EventDriven::new(1e-3, 0.9).unwrap().stepper(&system, &start).unwrap();
    let nsga = Nsga::new(1e-3, 0.9).unwrap().stepper(&system, &start).unwrap();
    for error in [failure(&system, event, &start), failure(&system, nsga, &start)] {
        match error {
            AlphaError::ModesDoNotMeet { from, to, constraint, value } => {
                assert_eq!((from.as_str(), to.as_str()), ("flat", "ramp"));
                assert_eq!(constraint, "steep track");
                assert!((value + 0.1).abs() < 1e-9, "{value}");
            }
            other => panic!("{other}"),
        }
    }
}

#[test]
fn a_surface_tangent_to_the_new_constraint_is_named() {
    // z = y - (x - 1): the ramp itself, so that (12) loses rank after the switch.
    let (system, start) = kink(
        affine(1.0, &[-1.0, 1.0], &[0, 1]),
        affine(1.0, &[-1.0, 1.0], &[0, 1]),
        affine(-1.0, &[1.0, -1.0], &[0, 1]),
    );
    let event = EventDriven::new(1e-3, 0.9).unwrap().stepper(&system, &start).unwrap();
    match failure(&system, event, &start) {
        AlphaError::TangentSurface { tangent, .. } => assert_eq!(tangent, "ramp"),
        other => panic!("{other}"),
    }
}

#[test]
fn a_gap_between_the_regions_is_found_when_it_is_reached() {
    let (system, start) = kink(
        affine(1.0, &[-1.0, 1.0], &[0, 1]),
        affine(1.0, &[-1.0], &[0]),
        affine(-2.0, &[1.0], &[0]),
    );
    let event = EventDriven::new(1e-3, 0.9).unwrap().stepper(&system, &start).unwrap();
    let nsga = Nsga::new(1e-3, 0.9).unwrap().stepper(&system, &start).unwrap();
    for error in [failure(&system, event, &start), failure(&system, nsga, &start)] {
        assert_eq!(error, AlphaError::Uncovered { from: "flat".into() });
    }
    assert_eq!(State::new(&system, &[1.5, 0.0], &[1.0, 0.0]).unwrap_err(), SystemError::Uncovered);
}

#[test]
fn a_start_on_the_surface_takes_the_mode_that_it_is_told() {
    let Problem { system, .. } = track(Kink::Uphill).unwrap();
    let corner = State::new(&system, &[3.0, 0.0], &[-1.0, 0.0]).unwrap();
    assert_eq!(corner.mode, 0, "the velocity leads into the flat");
    let up = State::new(&system, &[3.0, 0.0], &[1.0, 1.0]).unwrap();
    assert_eq!(up.mode, 1);
    assert_eq!(up.clone().in_mode(&system, "flat").unwrap().mode, 0);
    assert!(matches!(up.clone().in_mode(&system, "moon"), Err(SystemError::UnknownMode { .. })));
    let far = State::new(&system, &[1.0, 0.0], &[1.0, 0.0]).unwrap();
    assert!(matches!(far.in_mode(&system, "ramp"), Err(SystemError::OutsideMode { .. })));
    // A start in the ramp with the velocity of the flat violates the ramp's constraint.
    let wrong = State::new(&system, &[4.0, 1.0], &[1.0, 0.0]).unwrap();
    assert!(matches!(
        Nsga::new(1e-3, 0.9).unwrap().stepper(&system, &wrong),
        Err(AlphaError::System(SystemError::InfeasibleVelocity { .. }))
    ));
}

#[test]
fn a_state_from_elsewhere_restarts_the_method() {
    let Problem { system, start } = track(Kink::Uphill).unwrap();
    let mut stepper = Nsga::new(0.01, 0.9).unwrap().stepper(&system, &start).unwrap();
    let mut state = start.clone();
    for _ in 0..400 {
        stepper.step(&mut state).unwrap();
    }
    assert_eq!(state.mode, 1);
    // Back to the start: the same run again, bit by bit.
    let (mut again, first) = (start.clone(), state);
    for _ in 0..400 {
        stepper.step(&mut again).unwrap();
    }
    assert_eq!(again, first);
}

#[test]
fn a_surface_is_crossed_wherever_in_a_step_it_lies() {
    let (system, start) = kink(
        affine(1.0, &[-1.0, 1.0], &[0, 1]),
        affine(1.0, &[-1.0], &[0]),
        affine(-1.0, &[1.0], &[0]),
    );
    // The surface lies at the end of a step but for round-off, and everywhere else in one.
    let spread = (0..50).map(|i| 4e-5 * f64::from(i));
    for share in
        [1e-16, -1e-16, 1e-14, -1e-14, 1e-13, -1e-13, 1e-10, -1e-10].into_iter().chain(spread)
    {
        let h = 0.002 * (1.0 + share);
        for index in [Index::Three, Index::Two, Index::One] {
            let method = ClassicalAlpha::new(h, index, 0.98).unwrap();
            let mut stepper = method.stepper(&system, &start).unwrap();
            let mut state = start.clone();
            for step in 0..700 {
                stepper.step(&mut state).unwrap_or_else(|e| panic!("{index:?}, {h}, {step}: {e}"));
            }
            assert!(state.q[0] > 1.0 && state.mode == 1, "{index:?} with {h}: {state:?}");
        }
    }
}
