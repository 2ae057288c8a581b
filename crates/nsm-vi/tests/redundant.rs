//! Constraints that depend on others: left out by name, wherever the dependence lies.

use nsm_constraints::multibody::{End, Inertia, JointKind, Mechanism, Pose};
use nsm_constraints::{Affine, LineSpring, Rod};
use nsm_model::{Mass, State, StepError, Stepper, System};
use nsm_vi::{Conserving, Quadrature, Variational};

const Q: Quadrature = Quadrature::Midpoint;

/// A planar four-bar linkage in space, its pins added in the given order: 38 rows of rank 35 on 36 coordinates.
fn four_bar(order: [usize; 4]) -> (System, State) {
    let mut mechanism = Mechanism::new().with_gravity([0.0, 0.0, -9.81]).unwrap();
    let pins = [[0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [3.0, 0.0, 2.0], [4.0, 0.0, 0.0]];
    let mut ends = vec![End::Ground];
    for (i, name) in ["crank", "coupler", "rocker"].into_iter().enumerate() {
        let middle = std::array::from_fn(|k| 0.5 * (pins[i][k] + pins[i + 1][k]));
        let inertia = Inertia::cuboid(1.0, [0.1, 0.2, 1.0]);
        ends.push(mechanism.add_body(name, inertia, Pose::at(middle)).unwrap().into());
    }
    ends.push(End::Ground);
    for i in order {
        let between = [ends[i], ends[i + 1]];
        let (name, axis) = (format!("pin {i}"), [0.0, 1.0, 0.0]);
        mechanism.add_joint(&name, JointKind::Revolute, between, pins[i], axis).unwrap();
    }
    let crank = mechanism.joint("pin 0").unwrap();
    mechanism.set_rate(crank, &[8.0]).unwrap();
    System::of(&mechanism).unwrap()
}

fn apart(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max)
}

fn violation(system: &System, state: &State) -> f64 {
    let mut f = vec![0.0; system.equalities().len()];
    system.equalities().values(&state.q, state.t, &mut f);
    f.iter().fold(0.0, |a, x| a.max(x.abs()))
}

#[test]
fn a_closed_linkage_turns_whichever_rows_are_redundant() {
    let (system, start) = four_bar([0, 1, 2, 3]);
    assert_eq!((system.dimension(), system.equalities().len()), (36, 38));
    // Other rows come last, so that others are left out.
    let (other, _) = four_bar([0, 3, 2, 1]);
    let method = Variational::new(2e-3, Q);
    let (mut a, mut b) = (method.stepper(&system).unwrap(), method.stepper(&other).unwrap());
    let (mut one, mut two) = (start.clone(), start.clone());
    let energy = |s: &State| system.kinetic_energy(&s.q, &s.v) + system.potential().sum(&s.q, s.t);
    let mut sets = std::collections::BTreeSet::new();
    // Some four turns of the crank.
    for step in 0..1500 {
        a.step(&mut one).unwrap();
        b.step(&mut two).unwrap();
        assert_eq!((a.redundant().count(), b.redundant().count()), (3, 3), "step {step}");
        sets.insert(a.redundant().map(str::to_owned).collect::<Vec<_>>());
        assert!(violation(&system, &one) < 1e-12);
        assert!((energy(&one) - energy(&start)).abs() < 0.02 * energy(&start).abs());
        assert!(a.multipliers().iter().all(|l| l.abs() < 1e4), "step {step}");
    }
    assert!(apart(&one.q, &two.q) < 1e-10, "{:e}", apart(&one.q, &two.q));
    // No row may be left out for good.
    assert!(sets.len() > 1);
    for names in sets {
        assert!(names.iter().all(|name| !name.is_empty()));
    }
}

#[test]
fn the_conserving_step_closes_the_linkage_without_spurious_multipliers() {
    let (system, start) = four_bar([0, 1, 2, 3]);
    let mut stepper = Conserving::new(2e-3).stepper(&system).unwrap();
    let mut state = start.clone();
    let energy = |s: &State| system.kinetic_energy(&s.q, &s.v) + system.potential().sum(&s.q, s.t);
    for step in 0..800 {
        stepper.step(&mut state).unwrap();
        assert_eq!(stepper.redundant().count(), 3);
        assert!(violation(&system, &state) < 1e-12, "step {step}");
        assert!((energy(&state) - energy(&start)).abs() < 1e-10, "step {step}");
        assert!(stepper.multipliers().iter().all(|l| l.abs() < 1e4), "step {step}");
    }
}

/// A hanging chain, every rod given `copies` times; with springs between neighbours of neighbours it is implicit.
fn chain(links: usize, copies: usize, springs: bool) -> (System, State) {
    let mut system = System::new(Mass::diagonal(&vec![0.5; 2 * links]).unwrap());
    let mut q = Vec::new();
    for link in 0..links {
        let (x, y) = (2 * link, 2 * link + 1);
        let weight = Affine::new(&[y], &[0.5 * 9.8], 0.0).unwrap();
        system = system.with_potential("weight", weight).unwrap();
        if springs && link > 1 {
            let spring = LineSpring::new(x, x - 4, 3.0, 1.5).unwrap();
            system = system.with_potential("spring", spring).unwrap();
        }
        q.extend([link as f64 + 1.0, 0.0]);
    }
    for copy in 0..copies {
        for link in 0..links {
            let (x, y) = (2 * link, 2 * link + 1);
            let rod = if link == 0 {
                Rod::to_pivot(&[x, y], &[0.0, 0.0], 1.0).unwrap()
            } else {
                Rod::between(&[x - 2, y - 2], &[x, y], 1.0).unwrap()
            };
            system = system.with_equality(&format!("rod {link}, {copy}"), rod).unwrap();
        }
    }
    let state = State::new(&system, &q, &vec![0.0; 2 * links]).unwrap();
    (system, state)
}

#[test]
fn every_rod_twice_moves_like_once() {
    // Few and many rows; explicit and implicit; dense and banded search for the rank.
    for (links, springs) in [(3, false), (3, true), (15, true), (30, false), (100, true)] {
        let (single, mut one) = chain(links, 1, springs);
        let (double, mut two) = chain(links, 2, springs);
        let method = Variational::new(5e-3, Q);
        let (mut a, mut b) = (method.stepper(&single).unwrap(), method.stepper(&double).unwrap());
        let conserving = Conserving::new(5e-3);
        let mut c = conserving.stepper(&single).unwrap();
        let mut d = conserving.stepper(&double).unwrap();
        let (mut three, mut four) = (one.clone(), one.clone());
        for _ in 0..20 {
            a.step(&mut one).unwrap();
            b.step(&mut two).unwrap();
            c.step(&mut three).unwrap();
            d.step(&mut four).unwrap();
            assert_eq!(a.redundant().count(), 0);
            assert_eq!((b.redundant().count(), d.redundant().count()), (links, links));
            // One of the two copies carries what the single rod does.
            let lambda = b.multipliers();
            for (i, expected) in a.multipliers().iter().enumerate() {
                let (x, y) = (lambda[i], lambda[i + links]);
                assert!(x == 0.0 || y == 0.0);
                assert!((x + y - expected).abs() < 1e-7 * (1.0 + expected.abs()), "{links} {i}");
            }
        }
        for (x, y) in [(&one, &two), (&three, &four)] {
            assert!(apart(&x.q, &y.q) < 1e-11, "{links} {springs}: {:e}", apart(&x.q, &y.q));
            assert!(apart(&x.p, &y.p) < 1e-9, "{links} {springs}: {:e}", apart(&x.p, &y.p));
        }
    }
}

#[test]
fn a_position_that_is_not_finite_is_refused_and_kept() {
    for (links, springs) in [(5, false), (30, true)] {
        let (system, start) = chain(links, 2, springs);
        let mut bad = start.clone();
        bad.q[3] = f64::NAN;
        let before = format!("{bad:?}");
        let mut variational = Variational::new(1e-3, Q).stepper(&system).unwrap();
        let error = variational.step(&mut bad).unwrap_err();
        assert!(matches!(error, StepError::NotFinite { .. }), "{error}");
        assert!(Conserving::new(1e-3).stepper(&system).unwrap().step(&mut bad).is_err());
        assert_eq!(format!("{bad:?}"), before);
        // The same stepper goes on from a sound state.
        let (mut after, mut fresh) = (start.clone(), start);
        variational.step(&mut after).unwrap();
        Variational::new(1e-3, Q).stepper(&system).unwrap().step(&mut fresh).unwrap();
        assert_eq!(after, fresh);
    }
}

#[test]
fn repeated_runs_have_the_same_bits() {
    let run = || {
        let (system, mut state) = four_bar([0, 1, 2, 3]);
        let mut stepper = Variational::new(2e-3, Q).stepper(&system).unwrap();
        for _ in 0..50 {
            stepper.step(&mut state).unwrap();
        }
        state
    };
    assert_eq!(run(), run());
}
