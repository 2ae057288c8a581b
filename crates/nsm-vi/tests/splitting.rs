//! Steps without a solution are taken in pieces, and said so.

use nsm_constraints::{Affine, Rod};
use nsm_model::{Mass, Measurement, Probe, Splitting, State, Stepper, System, SystemProbe};
use nsm_vi::{Conserving, Quadrature, Variational};

/// How a run went: steps that were split, pieces of one step at most, deviation of the energy relative to what hanging down would release, and
/// the largest error of a rod relative to its length.
#[derive(Debug)]
struct Swing {
    split: usize,
    most: usize,
    energy: f64,
    rods: f64,
}

fn swing(
    links: usize,
    end: f64,
    make: impl Fn(&System) -> Box<dyn Stepper<State = State> + '_>,
) -> Swing {
    let (system, mut state) = short_links(links);
    let mut stepper = make(&system);
    let (mut probe, mut m) = (SystemProbe::new(&system), Measurement::default());
    probe.measure(&state, &mut m);
    let start = m.energy();
    let mut swing = Swing { split: 0, most: 0, energy: 0.0, rods: 0.0 };
    while state.t < end - 5e-4 {
        let report =
            stepper.step(&mut state).unwrap_or_else(|e| panic!("{links} links: {e}, {swing:?}"));
        swing.split += usize::from(report.parts > 0);
        swing.most = swing.most.max(report.parts);
        probe.measure(&state, &mut m);
        swing.energy = swing.energy.max((m.energy() - start).abs() / (9.81 * 0.5));
        swing.rods = swing.rods.max(m.position_residual * links as f64);
    }
    swing
}

#[test]
fn a_chain_of_short_links_does_not_stop_and_says_where_steps_were_split() {
    let verlet = swing(100, 2.5, |system| {
        Box::new(Variational::new(1e-3, Quadrature::Verlet).splitting(system).unwrap())
    });
    assert!(verlet.split > 10 && verlet.most >= 2, "{verlet:?}");
    // Without the pieces' resolution of how rods turn, the energy grows by four orders of magnitude in this time.
    assert!(verlet.energy < 0.1 && verlet.rods < 1e-12, "{verlet:?}");
    let conserving = swing(100, 2.5, |system| {
        let make = |h, _| Conserving::new(h).stepper(system);
        Box::new(Splitting::new(1e-3, make).unwrap())
    });
    assert!(conserving.energy < 1e-11 && conserving.rods < 1e-12, "{conserving:?}");
}

#[test]
fn a_chain_that_needs_no_pieces_takes_the_same_steps_to_the_bit() {
    let (system, mut plain) = short_links(5);
    let mut split = plain.clone();
    let method = Variational::new(1e-3, Quadrature::Verlet);
    let mut steppers = (method.stepper(&system).unwrap(), method.splitting(&system).unwrap());
    for _ in 0..3000 {
        steppers.0.step(&mut plain).unwrap();
        assert_eq!(steppers.1.step(&mut split).unwrap().parts, 0);
    }
    assert_eq!(plain, split);
}

#[test]
fn a_step_that_meets_its_rods_on_their_far_side_is_refused_and_leaves_the_state() {
    // A bob that moves further than its rod is long: no force along the rod brings it back.
    let system = System::new(Mass::diagonal(&[1.0; 2]).unwrap())
        .with_equality("rod", Rod::to_pivot(&[0, 1], &[0.0, 0.0], 1.0).unwrap())
        .unwrap();
    let start = State::new(&system, &[1.0, 0.0], &[0.0, 15.0]).unwrap();
    let method = Variational::new(0.1, Quadrature::Verlet);
    let mut state = start.clone();
    let error = method.stepper(&system).unwrap().step(&mut state).unwrap_err();
    assert!(error.is_unsolved() && error.to_string().contains("rod"), "{error}");
    assert_eq!(state, start);
    // In pieces it turns as it should, at constant speed.
    let mut stepper = method.splitting(&system).unwrap();
    for _ in 0..100 {
        assert!(stepper.step(&mut state).unwrap().parts >= 2);
        let speed = state.v[0].hypot(state.v[1]);
        assert!((speed - 15.0).abs() < 1e-11, "{speed}");
    }
    assert_eq!(state.t, 100.0 * 0.1);
}

/// The chain that peers are timed on: $N$ point masses of $1/N$ kg on massless links of $1/N$ m in a plane, at rest and horizontal.
fn short_links(links: usize) -> (System, State) {
    let (length, mass) = (1.0 / links as f64, 1.0 / links as f64);
    let mut system = System::new(Mass::diagonal(&vec![mass; 2 * links]).unwrap());
    let mut q = Vec::new();
    for link in 0..links {
        let (x, y) = (2 * link, 2 * link + 1);
        let rod = if link == 0 {
            Rod::to_pivot(&[x, y], &[0.0, 0.0], length).unwrap()
        } else {
            Rod::between(&[x - 2, y - 2], &[x, y], length).unwrap()
        };
        system = system
            .with_potential("weight", Affine::new(&[y], &[9.81 * mass], 0.0).unwrap())
            .unwrap()
            .with_equality(&format!("rod {}", link + 1), rod)
            .unwrap();
        q.extend([(link as f64 + 1.0) * length, 0.0]);
    }
    let state = State::new(&system, &q, &vec![0.0; 2 * links]).unwrap();
    (system, state)
}
