//! Geometrically exact beams in motion: what a free beam conserves by every integrator, one trajectory by three methods.

use nsm_constraints::Reparametrisation;
use nsm_constraints::multibody::{
    Beam, End, JointKind, Mechanism, Pose, SectionMass, SectionStiffness,
};
use nsm_model::{State, Stepper, System};
use nsm_vi::{Conserving, NullSpace, Quadrature, Variational};

const STIFFNESS: SectionStiffness =
    SectionStiffness { shear: [80.0, 70.0], axial: 100.0, bending: [0.5, 0.8], torsion: 0.4 };
const MASS: SectionMass = SectionMass { per_length: 1.3, directors: [0.02, 0.03] };

/// A quarter of a circle, twisted, without supports; every node is thrown and spun in another way.
fn thrown(elements: usize) -> (Mechanism, System, State) {
    let nodes = (0..=elements)
        .map(|k| {
            let angle = 0.5 * std::f64::consts::PI * k as f64 / elements as f64;
            let (sin, cos) = angle.sin_cos();
            let (s, c) = (0.3 * angle).sin_cos();
            Pose {
                position: [1.0 - cos, 0.0, sin],
                directors: [[c * cos, s, -c * sin], [-s * cos, c, s * sin], [sin, 0.0, cos]],
            }
        })
        .collect();
    let mut mechanism = Mechanism::new();
    let beam = Beam { nodes, stiffness: STIFFNESS, mass: MASS };
    let id = mechanism.add_beam("arc", &beam).unwrap();
    for (k, node) in mechanism.beam_nodes(id).to_vec().into_iter().enumerate() {
        let s = k as f64 / elements as f64;
        let velocity = [0.5 - s, 0.8 * s * s - 0.2, 0.3];
        mechanism.set_velocity(node, velocity, [1.0 - 2.0 * s, 0.7, 0.4 * s]).unwrap();
    }
    let (system, state) = System::of(&mechanism).unwrap();
    (mechanism, system, state)
}

/// Largest change of linear momentum, angular momentum and energy over a run, and the energy stored at most.
fn changes(
    (mechanism, system, start): &(Mechanism, System, State),
    mut stepper: impl Stepper<State = State>,
    steps: usize,
) -> [f64; 4] {
    let mut state = start.clone();
    let measure = |state: &State| {
        let linear = mechanism.linear_momentum(&state.p);
        let angular = mechanism.angular_momentum(&state.q, &state.p);
        let energy =
            system.mass().kinetic_energy(&state.v) + system.potential().sum(&state.q, state.t);
        (linear, angular, energy)
    };
    let (linear, angular, energy) = measure(&state);
    let mut worst = [0.0_f64; 4];
    for _ in 0..steps {
        stepper.step(&mut state).unwrap();
        let now = measure(&state);
        for c in 0..3 {
            worst[0] = worst[0].max((now.0[c] - linear[c]).abs());
            worst[1] = worst[1].max((now.1[c] - angular[c]).abs());
        }
        worst[2] = worst[2].max((now.2 - energy).abs());
        worst[3] = worst[3].max(system.potential().sum(&state.q, state.t));
    }
    worst
}

#[test]
fn a_free_beam_keeps_its_momenta_by_multipliers_and_by_null_space() {
    let free = thrown(6);
    let (system, h) = (&free.1, 0.02);
    let multipliers = Variational::new(h, Quadrature::Midpoint).stepper(system).unwrap();
    let [linear, angular, energy, stored] = changes(&free, multipliers, 100);
    assert!(stored > 0.05, "the beam hardly deforms: {stored}");
    assert!(linear < 1e-12 && angular < 1e-12, "{linear:e} {angular:e}");
    assert!((1e-8..1e-2).contains(&energy), "{energy:e}");
    let freedoms = NullSpace::reparametrised(h, Quadrature::Midpoint);
    let freedoms = freedoms.stepper_with(system, free.0.tree()).unwrap();
    let [linear, angular, ..] = changes(&free, freedoms, 100);
    assert!(linear < 1e-12 && angular < 1e-12, "{linear:e} {angular:e}");
}

#[test]
fn a_free_beam_keeps_momenta_and_energy_by_the_conserving_step() {
    let free = thrown(6);
    for h in [0.02, 0.1] {
        let stepper = Conserving::new(h).stepper(&free.1).unwrap();
        let [linear, angular, energy, stored] = changes(&free, stepper, 100);
        assert!(stored > 0.05, "the beam hardly deforms: {stored}");
        assert!(linear < 1e-12 && angular < 1e-12, "{h}: {linear:e} {angular:e}");
        assert!(energy < 1e-12, "{h}: {energy:e}");
    }
}

#[test]
fn without_averaged_stresses_the_conserving_step_is_not_exact() {
    let free = thrown(6);
    let method = Conserving { average: nsm_vi::ForceAverage::Midpoint, ..Conserving::new(0.1) };
    let [_, angular, energy, _] = changes(&free, method.stepper(&free.1).unwrap(), 20);
    assert!(angular < 1e-12, "{angular:e}");
    assert!(energy > 1e-6, "{energy:e}");
}

/// A beam clamped to the ground, with a mass at its end that a load pushes.
fn cantilever() -> (Mechanism, System, State) {
    let triad = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    let beam = Beam::straight([[0.0; 3], [0.0, 1.0, 0.0]], 5, triad, STIFFNESS, MASS);
    let mut mechanism = Mechanism::new().with_gravity([0.0, 0.0, -1.0]).unwrap();
    let id = mechanism.add_beam("boom", &beam).unwrap();
    let nodes = mechanism.beam_nodes(id).to_vec();
    let ends = [End::Ground, nodes[0].into()];
    mechanism.add_joint("clamp", JointKind::Fixed, ends, [0.0; 3], [0.0; 3]).unwrap();
    mechanism.attach_mass(nodes[5], 0.5).unwrap();
    let pulse = [(0.0, 0.0), (0.3, 0.4), (0.6, 0.0)];
    mechanism.add_load("push", nodes[5], [0.6, 0.0, 0.8], &pulse).unwrap();
    let (system, state) = System::of(&mechanism).unwrap();
    (mechanism, system, state)
}

#[test]
fn three_methods_give_one_trajectory() {
    let (mechanism, system, start) = cantilever();
    assert_eq!(mechanism.tree().freedoms(), 30);
    let h = 0.02;
    let mut all: [Box<dyn Stepper<State = State>>; 3] = [
        Box::new(Variational::new(h, Quadrature::Midpoint).stepper(&system).unwrap()),
        Box::new(NullSpace::new(h, Quadrature::Midpoint).stepper(&system).unwrap()),
        Box::new(
            NullSpace::reparametrised(h, Quadrature::Midpoint)
                .stepper_with(&system, mechanism.tree())
                .unwrap(),
        ),
    ];
    let mut states = [start.clone(), start.clone(), start.clone()];
    for _ in 0..60 {
        for (stepper, state) in all.iter_mut().zip(&mut states) {
            stepper.step(state).unwrap();
        }
    }
    let tip = system.dimension() - 12;
    assert!(states[0].q[tip + 2] < -0.05, "the tip bends down: {:?}", &states[0].q[tip..tip + 3]);
    assert!(states[0].q[tip] > 1e-3, "and out of the plane");
    for state in &states[1..] {
        for (a, b) in state.q.iter().zip(&states[0].q) {
            assert!((a - b).abs() < 1e-11, "{a} {b}");
        }
        for (a, b) in state.p.iter().zip(&states[0].p) {
            assert!((a - b).abs() < 1e-10, "{a} {b}");
        }
    }
}

#[test]
fn a_load_gives_its_impulse_step_by_step() {
    // A free node-like beam under a push through its middle: the linear momentum is the sum of F at the midpoints.
    let mut mechanism = Mechanism::new();
    let triad = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    let beam = Beam::straight([[0.0; 3], [0.0, 1.0, 0.0]], 2, triad, STIFFNESS, MASS);
    let id = mechanism.add_beam("bar", &beam).unwrap();
    let middle = mechanism.beam_nodes(id)[1];
    mechanism
        .add_load("push", middle, [0.0, 1.0, 0.0], &[(0.0, 0.0), (0.5, 2.0), (1.0, 0.0)])
        .unwrap();
    let (system, start) = System::of(&mechanism).unwrap();
    let mut first = Variational::new(0.1, Quadrature::Midpoint).stepper(&system).unwrap();
    let mut second = Conserving::new(0.1).stepper(&system).unwrap();
    let (mut a, mut b) = (start.clone(), start.clone());
    let mut impulse = 0.0;
    for k in 0..12 {
        first.step(&mut a).unwrap();
        second.step(&mut b).unwrap();
        let t = 0.1 * (f64::from(k) + 0.5);
        impulse += 0.1 * if t < 0.5 { 4.0 * t } else { (4.0 * (1.0 - t)).max(0.0) };
        for state in [&a, &b] {
            let found = mechanism.linear_momentum(&state.p)[1];
            assert!((found - impulse).abs() < 1e-13, "{found} {impulse}");
        }
    }
}
