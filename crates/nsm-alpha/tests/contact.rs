//! Contacts in NSGA, the event-driven method and Moreau–Jean: ball, bead column, Newton's cradle.

mod common;

use std::path::Path;

use common::{distance, run};
use nsm_alpha::{EventDriven, MoreauJean, Nsga, Restitution};
use nsm_constraints::Affine;
use nsm_model::{Mass, State, StepError, Stepper, System, SystemProbe, run_steps};

const G: f64 = 9.81;

fn affine(c: f64, w: &[f64], block: &[usize]) -> Affine {
    Affine::new(block, w, c).unwrap()
}

fn ball() -> (System, State) {
    let system = System::new(Mass::diagonal(&[1.0]).unwrap())
        .with_potential("gravity", affine(0.0, &[G], &[0]))
        .unwrap()
        .with_inequality("floor", affine(0.0, &[1.0], &[0]))
        .unwrap();
    let start = State::new(&system, &[1.0], &[0.0]).unwrap();
    (system, start)
}

/// Equal beads above each other, touching, the lowest `drop` above the floor.
fn column(beads: usize, drop: f64) -> (System, State) {
    let r = 0.005;
    let mut system = System::new(Mass::diagonal(&vec![1.0; beads]).unwrap())
        .with_inequality("floor", affine(-r, &[1.0], &[0]))
        .unwrap();
    for i in 0..beads {
        system = system.with_potential("gravity", affine(0.0, &[G], &[i])).unwrap();
        if i > 0 {
            system = system
                .with_inequality(&format!("bead {i}"), affine(-2.0 * r, &[-1.0, 1.0], &[i - 1, i]))
                .unwrap();
        }
    }
    let q: Vec<f64> = (0..beads).map(|i| drop + r + 2.0 * r * i as f64).collect();
    let start = State::new(&system, &q, &vec![0.0; beads]).unwrap();
    (system, start)
}

/// Free beads on a line, all touching but the first, which comes with speed 1.
fn cradle(beads: usize) -> (System, State) {
    let mut system = System::new(Mass::diagonal(&vec![1.0; beads]).unwrap());
    for i in 1..beads {
        system = system
            .with_inequality(&format!("contact {i}"), affine(-1.0, &[-1.0, 1.0], &[i - 1, i]))
            .unwrap();
    }
    let mut q: Vec<f64> = (0..beads).map(|i| i as f64).collect();
    q[0] = -0.0305;
    let mut v = vec![0.0; beads];
    v[0] = 1.0;
    let start = State::new(&system, &q, &v).unwrap();
    (system, start)
}

#[test]
fn moreau_jean_reproduces_the_published_trajectory_row_by_row() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/data/trajectories/BouncingBallTS.ref");
    let Ok(text) = std::fs::read_to_string(&file) else {
        eprintln!("SKIPPED: no reference trajectory at {}", file.display());
        return;
    };
    let (system, mut state) = ball();
    let method = MoreauJean::new(0.005, Restitution::Uniform(0.9));
    let mut stepper = method.stepper(&system, &state).unwrap();
    let mut rows = 0;
    for line in text.lines().skip(1).filter(|l| !l.trim().is_empty()) {
        let row: Vec<f64> = line.split_whitespace().map(|x| x.parse().unwrap()).collect();
        if rows > 0 {
            stepper.step(&mut state).unwrap();
        }
        assert!((state.t - row[0]).abs() < 1e-11, "row {rows}");
        assert!((state.q[0] - row[1]).abs() < 1e-12, "row {rows}: {} {}", state.q[0], row[1]);
        assert!((state.v[0] - row[2]).abs() < 1e-12, "row {rows}: {} {}", state.v[0], row[2]);
        rows += 1;
    }
    assert_eq!(rows, 2001);
}

#[test]
fn the_event_driven_ball_meets_the_analytic_accumulation_time() {
    let (system, start) = ball();
    // Fall from 1, then bounces of duration 2 e^k v/g.
    let fall = (2.0 / G).sqrt();
    let accumulation = fall * (1.0 + 2.0 * 0.9 / (1.0 - 0.9));
    assert!((accumulation - 8.578_949).abs() < 1e-6);
    let method = EventDriven {
        restitution: Restitution::Uniform(0.9),
        rest: false,
        ..EventDriven::new(0.005, 0.9).unwrap()
    };
    let mut state = start.clone();
    let error = run_steps(
        &mut method.stepper(&system, &start).unwrap(),
        &mut SystemProbe::new(&system),
        &mut state,
        2000,
        &mut (),
    )
    .unwrap_err();
    match error.source {
        StepError::Accumulation { t, events, ref contact } => {
            assert!((t - accumulation).abs() < 1e-6, "{t} against {accumulation}");
            assert_eq!((events, contact.as_str()), (100, "floor"));
        }
        ref other => panic!("{other}"),
    }
    assert!(state.t <= accumulation && accumulation < state.t + 0.005);
    // Allowed to rest, it rests.
    let method = EventDriven { rest: true, ..method };
    let mut stepper = method.stepper(&system, &start).unwrap();
    let (state, ledger) = run(&system, &mut stepper, &start, 10.0);
    assert_eq!(stepper.closed(), [0]);
    assert!(state.q[0].abs() < 1e-12 && state.v[0].abs() < 1e-9, "{state:?}");
    assert!(ledger.penetration < 1e-12, "{}", ledger.penetration);
    // The speeds of all bounces are exact: the energy after k of them is e^2k.
    assert!(ledger.events > 100);
}

#[test]
fn an_event_driven_bounce_is_exact() {
    let (system, start) = ball();
    let method = EventDriven {
        restitution: Restitution::Uniform(0.9),
        ..EventDriven::new(0.005, 0.9).unwrap()
    };
    let (state, ledger) = run(&system, &mut method.stepper(&system, &start).unwrap(), &start, 1.0);
    let fall = (2.0 / G).sqrt();
    let (v, t) = (0.9 * G * fall, 1.0 - fall);
    assert!((state.q[0] - (v * t - 0.5 * G * t * t)).abs() < 1e-11);
    assert!((state.v[0] - (v - G * t)).abs() < 1e-11);
    assert_eq!(ledger.events, 1);
    assert!((ledger.event_energy_change + 0.19 * G).abs() < 1e-11);
}

#[test]
fn nsga_runs_the_bouncing_ball_to_first_order_and_to_rest() {
    let (system, start) = ball();
    let errors: Vec<f64> = [4e-3, 2e-3, 1e-3, 5e-4]
        .iter()
        .map(|&h| {
            let method =
                Nsga { restitution: Restitution::Uniform(0.9), ..Nsga::new(h, 0.8).unwrap() };
            let (state, ledger) =
                run(&system, &mut method.stepper(&system, &start).unwrap(), &start, 1.0);
            assert_eq!(ledger.events, 1);
            assert!(ledger.penetration < 1e-12);
            let fall = (2.0 / G).sqrt();
            let (v, t) = (0.9 * G * fall, 1.0 - fall);
            (state.q[0] - (v * t - 0.5 * G * t * t)).abs()
        })
        .collect();
    for (error, h) in errors.iter().zip([4e-3, 2e-3, 1e-3, 5e-4]) {
        assert!(*error < 12.0 * h, "{errors:?}");
    }
    let method = Nsga { restitution: Restitution::Uniform(0.5), ..Nsga::new(1e-3, 0.8).unwrap() };
    let (state, ledger) = run(&system, &mut method.stepper(&system, &start).unwrap(), &start, 4.0);
    assert!(state.q[0].abs() < 1e-12 && state.v[0].abs() < 1e-12, "{state:?}");
    // At rest the impulse of every step carries the weight, and is no event.
    assert!(ledger.events < 40, "{}", ledger.events);
}

#[test]
fn a_bead_column_leaves_the_floor_as_one() {
    let (system, start) = column(10, 0.05);
    let speed = (2.0 * G * 0.05_f64).sqrt();
    assert!((speed - 0.990_454).abs() < 1e-6);
    let hit = (2.0 * 0.05 / G).sqrt();
    let method = EventDriven {
        restitution: Restitution::Uniform(1.0),
        ..EventDriven::new(0.001, 0.9).unwrap()
    };
    let (state, ledger) = run(&system, &mut method.stepper(&system, &start).unwrap(), &start, 0.15);
    assert_eq!(ledger.events, 1);
    let expected = speed - G * (0.15 - hit);
    assert!(state.v.iter().all(|v| (v - expected).abs() < 1e-9), "{:?} {expected}", state.v);
    assert!((ledger.energy.end - ledger.energy.start).abs() < 1e-9);
    let method = Nsga { restitution: Restitution::Uniform(1.0), ..Nsga::new(1e-4, 0.9).unwrap() };
    let (state, ledger) = run(&system, &mut method.stepper(&system, &start).unwrap(), &start, 0.15);
    assert!(state.v.iter().all(|v| (v - expected).abs() < 3e-3), "{:?} {expected}", state.v);
    assert!(ledger.penetration < 1e-11);
}

#[test]
fn newtons_cradle_follows_newtons_law() {
    for beads in [2, 3, 5] {
        let (system, start) = cradle(beads);
        // One impulse p at the first contact, the others move as one: 1 - p, p / (N - 1).
        let p = 2.0 * (beads - 1) as f64 / beads as f64;
        let mut expected = vec![p / (beads - 1) as f64; beads];
        expected[0] = 1.0 - p;
        let e = Restitution::Uniform(1.0);
        let nsga = Nsga { restitution: e.clone(), ..Nsga::new(1e-3, 0.9).unwrap() };
        let (state, ledger) =
            run(&system, &mut nsga.stepper(&system, &start).unwrap(), &start, 0.1);
        assert!(distance(&state.v, &expected) < 1e-12, "{:?} {expected:?}", state.v);
        assert!((ledger.energy.end - 0.5).abs() < 1e-12);
        let event = EventDriven { restitution: e.clone(), ..EventDriven::new(1e-3, 0.9).unwrap() };
        let (state, ledger) =
            run(&system, &mut event.stepper(&system, &start).unwrap(), &start, 0.1);
        assert!(distance(&state.v, &expected) < 1e-9, "{:?}", state.v);
        assert_eq!(ledger.events, 1);
        assert!(ledger.event_energy_change.abs() < 1e-12);
        let moreau = MoreauJean::new(1e-3, e);
        let (state, _) = run(&system, &mut moreau.stepper(&system, &start).unwrap(), &start, 0.1);
        assert!(distance(&state.v, &expected) < 1e-12, "{:?}", state.v);
    }
}

#[test]
fn restitution_may_differ_from_contact_to_contact() {
    let (system, start) = cradle(3);
    let method = Nsga {
        restitution: Restitution::PerContact(vec![0.0, 1.0]),
        ..Nsga::new(1e-3, 0.9).unwrap()
    };
    let (state, _) = run(&system, &mut method.stepper(&system, &start).unwrap(), &start, 0.05);
    // The first contact is plastic, the second did not approach: all three go on together.
    assert!(distance(&state.v, &[1.0 / 3.0; 3]) < 1e-12, "{:?}", state.v);
}
