//! Many constraints at once: solved sparsely, with the same answers as few.

use nsm_constraints::{Affine, LineSpring, Rod, SphereGap};
use nsm_model::{Mass, State, Stepper, System, SystemProbe, run_steps};
use nsm_vi::{Conserving, Gvi, Quadrature, Variational};

const BOTH: [Quadrature; 2] = [Quadrature::Midpoint, Quadrature::Verlet];

/// Some copies of a hanging chain of `links` rods, thrown sideways.
fn chains(copies: usize, links: usize) -> (System, State) {
    let n = 2 * links;
    let mut system = System::new(Mass::diagonal(&vec![0.5; copies * n]).unwrap());
    let (mut q, mut v) = (Vec::new(), Vec::new());
    for copy in 0..copies {
        for link in 0..links {
            let (x, y) = (copy * n + 2 * link, copy * n + 2 * link + 1);
            let weight = Affine::new(&[y], &[0.5 * 9.8], 0.0).unwrap();
            let rod = if link == 0 {
                Rod::to_pivot(&[x, y], &[0.0, 0.0], 1.0).unwrap()
            } else {
                Rod::between(&[x - 2, y - 2], &[x, y], 1.0).unwrap()
            };
            system =
                system.with_potential("weight", weight).unwrap().with_equality("rod", rod).unwrap();
            q.extend([link as f64 + 1.0, 0.0]);
            v.extend([0.0, 0.3 * (link as f64 + 1.0)]);
        }
        // A wall that the chain may swing into.
        let tip = copy * n + n - 2;
        system = system
            .with_inequality("wall", Affine::above(tip, -0.5 * links as f64).unwrap())
            .unwrap();
    }
    let state = State::new(&system, &q, &v).unwrap();
    (system, state)
}

#[test]
fn copies_of_a_chain_move_like_one() {
    for quadrature in BOTH {
        let (one, mut alone) = chains(1, 10);
        let (three, mut together) = chains(3, 10);
        let method = Gvi::new(0.005, quadrature);
        let mut single = method.stepper(&one).unwrap();
        let mut triple = method.stepper(&three).unwrap();
        for _ in 0..200 {
            single.step(&mut alone).unwrap();
            triple.step(&mut together).unwrap();
        }
        for (many, one) in [(&together.q, &alone.q), (&together.p, &alone.p)] {
            for copy in many.chunks(20) {
                for (a, b) in copy.iter().zip(one) {
                    assert!((a - b).abs() < 1e-9, "{quadrature:?}: {a} against {b}");
                }
            }
        }
    }
}

/// From stretched out sideways until it has whipped about for a while: links at round-off, energy within a
/// thousandth of what the chain would release by hanging down.
#[test]
fn a_whipping_chain_keeps_its_links_and_its_energy() {
    for links in [5, 20, 100] {
        let (system, thrown) = chains(1, links);
        let mut state = State::new(&system, &thrown.q, &vec![0.0; 2 * links]).unwrap();
        let mut stepper = Variational::new(1e-3, Quadrature::Midpoint).stepper(&system).unwrap();
        let mut probe = SystemProbe::new(&system);
        let run = run_steps(&mut stepper, &mut probe, &mut state, 10_000, &mut ()).unwrap();
        let ledger = &run.ledger;
        assert!(ledger.position_residual < 1e-13, "{links}: {:e}", ledger.position_residual);
        assert!(ledger.velocity_residual < 1e-12, "{links}: {:e}", ledger.velocity_residual);
        let released = 0.5 * 9.8 * (links * (links + 1)) as f64 / 2.0;
        let relative = ledger.energy.deviation() / released;
        assert!(relative < 1e-3, "{links}: {relative:e}");
    }
}

#[test]
fn a_long_chain_holds_its_rods() {
    for quadrature in BOTH {
        let (system, mut state) = chains(1, 100);
        let mut stepper = Variational::new(0.002, quadrature).stepper(&system).unwrap();
        let run = run_steps(&mut stepper, &mut SystemProbe::new(&system), &mut state, 200, &mut ())
            .unwrap();
        assert!(run.ledger.position_residual < 1e-12, "{:e}", run.ledger.position_residual);
        assert!(run.ledger.velocity_residual < 1e-11, "{:e}", run.ledger.velocity_residual);
        let relative = run.ledger.energy.deviation() / run.ledger.energy.start.abs();
        assert!(relative < 1e-3, "{relative:e}");
    }
}

#[test]
fn rods_hold_to_round_off_at_any_step() {
    let n = 5;
    let mut system = System::new(Mass::diagonal(&vec![1.0; 2 * n]).unwrap());
    let mut q = Vec::new();
    for i in 0..n {
        let (x, y, pivot) = (2 * i, 2 * i + 1, 0.5 * i as f64);
        let angle = 0.3 * (i as f64 + 1.0);
        q.extend([pivot + angle.sin(), -angle.cos()]);
        system = system
            .with_potential("weight", Affine::new(&[y], &[9.8], 0.0).unwrap())
            .unwrap()
            .with_equality("rod", Rod::to_pivot(&[x, y], &[pivot, 0.0], 1.0).unwrap())
            .unwrap();
    }
    let start = State::new(&system, &q, &vec![0.0; 2 * n]).unwrap();
    for h in [0.1, 0.03, 0.02, 0.01, 0.005, 0.001, 1e-4] {
        let mut variational = Variational::new(h, Quadrature::Midpoint).stepper(&system).unwrap();
        let mut conserving = Conserving::new(h).stepper(&system).unwrap();
        let steppers: [&mut dyn Stepper<State = State>; 2] = [&mut variational, &mut conserving];
        for stepper in steppers {
            let mut state = start.clone();
            for _ in 0..500 {
                stepper.step(&mut state).unwrap();
                let mut f = vec![0.0; n];
                system.equalities().values(&state.q, state.t, &mut f);
                let worst = f.iter().fold(0.0_f64, |a, x| a.max(x.abs()));
                assert!(worst <= 6.7e-16, "h = {h}: {worst:e}");
            }
        }
    }
}

#[test]
fn a_chain_and_its_springs_move_like_their_copies() {
    // Implicit: few constraints by a dense complement, many by a sparse saddle point.
    let spring = |chains: (System, State), copies: usize, links: usize| {
        let (mut system, state) = chains;
        for copy in 0..copies {
            for link in 2..links {
                let x = copy * 2 * links + 2 * link;
                let spring = LineSpring::new(x, x - 4, 30.0, 1.5).unwrap();
                system = system.with_potential("spring", spring).unwrap();
            }
        }
        (system, state)
    };
    for quadrature in BOTH {
        let (one, mut alone) = spring(chains(1, 10), 1, 10);
        let (three, mut together) = spring(chains(3, 10), 3, 10);
        let method = Variational::new(0.005, quadrature);
        let mut single = method.stepper(&one).unwrap();
        let mut triple = method.stepper(&three).unwrap();
        for _ in 0..100 {
            single.step(&mut alone).unwrap();
            triple.step(&mut together).unwrap();
        }
        for (many, one) in [(&together.q, &alone.q), (&together.p, &alone.p)] {
            for copy in many.chunks(20) {
                for (a, b) in copy.iter().zip(one) {
                    assert!((a - b).abs() < 1e-10, "{quadrature:?}: {a} against {b}");
                }
            }
        }
    }
}

/// A column of balls on a floor, touching.
fn column(balls: usize) -> (System, State) {
    let mut system = System::new(Mass::diagonal(&vec![1.0; 2 * balls]).unwrap());
    let mut q = Vec::new();
    for i in 0..balls {
        q.extend([0.0, 2.0 * i as f64 + 1.0]);
        let weight = Affine::new(&[2 * i + 1], &[9.8], 0.0).unwrap();
        system = system.with_potential("weight", weight).unwrap();
    }
    system = system.with_inequality("floor", Affine::above(1, 1.0).unwrap()).unwrap();
    for i in 1..balls {
        let (a, b) = ([2 * i - 2, 2 * i - 1], [2 * i, 2 * i + 1]);
        let gap = SphereGap::between_balls(&a, &b, 1.0, 1.0).unwrap();
        system = system.with_inequality("pair", gap).unwrap();
    }
    let state = State::new(&system, &q, &vec![0.0; 2 * balls]).unwrap();
    (system, state)
}

#[test]
fn a_tall_column_stands() {
    for quadrature in BOTH {
        for balls in [5, 200] {
            let (system, mut state) = column(balls);
            let start = state.clone();
            let mut stepper = Gvi::new(0.001, quadrature).stepper(&system).unwrap();
            for _ in 0..20 {
                let report = stepper.step(&mut state).unwrap();
                assert_eq!((report.closed, report.rounds), (balls, 0));
            }
            for (a, b) in state.q.iter().zip(&start.q) {
                assert!((a - b).abs() < 1e-10, "{balls} {quadrature:?}: {a} against {b}");
            }
        }
    }
}

#[test]
fn redundant_rods_among_many_are_harmless() {
    // The same chain with every rod given twice: the sparse saddle point is singular.
    let (chain, mut state) = chains(1, 30);
    let (mut doubled, mut other) = chains(1, 30);
    for link in 0..30 {
        let (x, y) = (2 * link, 2 * link + 1);
        let rod = if link == 0 {
            Rod::to_pivot(&[x, y], &[0.0, 0.0], 1.0).unwrap()
        } else {
            Rod::between(&[x - 2, y - 2], &[x, y], 1.0).unwrap()
        };
        doubled = doubled.with_equality("again", rod).unwrap();
    }
    let method = Variational::new(0.005, Quadrature::Verlet);
    let (mut a, mut b) = (method.stepper(&chain).unwrap(), method.stepper(&doubled).unwrap());
    for _ in 0..20 {
        a.step(&mut state).unwrap();
        b.step(&mut other).unwrap();
    }
    for (x, y) in state.q.iter().zip(&other.q) {
        assert!((x - y).abs() < 1e-10, "{x} against {y}");
    }
}

/// Beads on a line between walls under a weight; with a spring of no stiffness, its loads are no longer known to be constant.
fn beads(spring: bool) -> (System, State) {
    let n = 6;
    let masses: Vec<f64> = (0..n).map(|i| 1.0 + 0.3 * f64::from(i)).collect();
    let mut system = System::new(Mass::diagonal(&masses).unwrap());
    for (i, m) in masses.iter().enumerate() {
        let weight = Affine::new(&[i], &[0.7 * m], 0.0).unwrap();
        system = system.with_potential("weight", weight).unwrap();
    }
    if spring {
        system = system.with_potential("none", LineSpring::new(0, 1, 0.0, 1.0).unwrap()).unwrap();
    }
    system = system.with_inequality("left", Affine::above(0, 0.0).unwrap()).unwrap();
    for i in 1..masses.len() {
        let gap = Affine::ahead(i - 1, i, 0.01).unwrap();
        system = system.with_inequality("pair", gap).unwrap();
    }
    let right = Affine::below(masses.len() - 1, 0.8).unwrap();
    system = system.with_inequality("right", right).unwrap();
    let q: Vec<f64> = (1..=n).map(|i| 0.1 * f64::from(i)).collect();
    let v: Vec<f64> = (1..=n).map(|i| (f64::from(i) * 2.3).sin()).collect();
    let state = State::new(&system, &q, &v).unwrap();
    (system, state)
}

#[test]
fn free_flight_is_the_general_step_to_the_last_bit() {
    let ((system, mut state), (other, mut general)) = (beads(false), beads(true));
    let method = Gvi::new(1e-3, Quadrature::Verlet);
    let (mut quick, mut whole) =
        (method.stepper(&system).unwrap(), method.stepper(&other).unwrap());
    let mut events = 0;
    for step in 0..5000 {
        quick.step(&mut state).unwrap();
        whole.step(&mut general).unwrap();
        assert_eq!(quick.events().len(), whole.events().len(), "step {step}");
        events += quick.events().len();
        assert!(state.q == general.q && state.p == general.p && state.t == general.t, "{step}");
    }
    assert!(events > 100, "{events}");
    // A weight that carries the beads beyond the numbers is refused, not flown.
    let heavy = System::new(Mass::diagonal(&[1.0]).unwrap())
        .with_potential("weight", Affine::new(&[0], &[-1e308], 0.0).unwrap())
        .unwrap()
        .with_inequality("floor", Affine::above(0, 0.0).unwrap())
        .unwrap();
    let mut state = State::new(&heavy, &[1.0], &[0.0]).unwrap();
    let mut stepper = Gvi::new(10.0, Quadrature::Verlet).stepper(&heavy).unwrap();
    assert!((0..10).any(|_| stepper.step(&mut state).is_err()));
}
