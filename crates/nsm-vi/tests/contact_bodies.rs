//! Rigid bodies by directors with contacts, alone and on joints.

use nsm_constraints::multibody::{End, Inertia, JointKind, Mechanism, NodeId, Pose};
use nsm_geom::{Plane, Shape, Vec3};
use nsm_model::{State, Stepper, System};
use nsm_vi::{Quadrature, Restitution, Svci};

const G: f64 = 9.81;

fn floor() -> Plane {
    Plane::horizontal()
}

fn svci(h: f64, e: f64) -> Svci {
    Svci { restitution: Restitution::Uniform(e), ..Svci::new(h, Quadrature::Verlet) }
}

fn energy(system: &System, state: &State) -> f64 {
    system.kinetic_energy(&state.q, &state.v) + system.potential().sum(&state.q, state.t)
}

/// A box of edges 0.4, 0.3, 0.2 over a floor.
fn box_over_floor(pose: Pose, velocity: [f64; 3], spin: [f64; 3]) -> (System, State) {
    let mut mechanism = Mechanism::new().with_gravity([0.0, 0.0, -G]).unwrap();
    let edges = [0.4, 0.3, 0.2];
    let node = mechanism.add_body("box", Inertia::cuboid(1.0, edges), pose).unwrap();
    mechanism.set_velocity(node, velocity, spin).unwrap();
    let shape = Shape::cuboid(edges.map(|a| 0.5 * a)).unwrap();
    let (system, state) = System::of(&mechanism).unwrap();
    (system.with_plane_contact(&mechanism, (node, &shape), &floor(), "box-floor").unwrap(), state)
}

fn depth(system: &System, state: &State) -> f64 {
    (0..system.inequalities().len())
        .map(|i| -system.inequalities().value(i, &state.q, state.t))
        .fold(0.0, f64::max)
}

#[test]
fn a_box_rests_on_its_four_corners() {
    let (system, start) = box_over_floor(Pose::at([0.0, 0.0, 0.1]), [0.0; 3], [0.0; 3]);
    let mut stepper = svci(0.01, 0.5).stepper(&system).unwrap();
    let mut state = start.clone();
    for _ in 0..20_000 {
        stepper.step(&mut state).unwrap();
    }
    for (a, b) in state.q.iter().zip(&start.q) {
        assert!((a - b).abs() < 1e-13, "{:?}", state.q);
    }
    assert!(state.v.iter().all(|v| v.abs() < 1e-13), "{:?}", state.v);
}

#[test]
fn a_box_dropped_flat_bounces_as_its_restitution_says() {
    for (e, settles) in [(1.0, false), (0.5, true), (0.0, true)] {
        let (system, start) = box_over_floor(Pose::at([0.0, 0.0, 0.6]), [0.0; 3], [0.0; 3]);
        let mut stepper = svci(0.005, e).stepper(&system).unwrap();
        let mut state = start.clone();
        let mut impacts = Vec::new();
        for _ in 0..800 {
            stepper.step(&mut state).unwrap();
            impacts.extend(stepper.events().iter().filter(|e| e.rounds > 0).map(|e| e.t));
            assert!(depth(&system, &state) < 1e-13);
        }
        let fall = (2.0 * 0.5 / G).sqrt();
        assert!((impacts[0] - fall).abs() < 1e-12);
        if e > 0.0 {
            assert!((impacts[1] - fall * (1.0 + 2.0 * e)).abs() < 1e-11, "e = {e}: {impacts:?}");
        }
        if settles {
            assert!(state.v.iter().all(|v| v.abs() < 1e-13), "e = {e}: {:?}", state.v);
            assert!((state.q[2] - 0.1).abs() < 1e-13);
        } else {
            assert!((energy(&system, &state) - energy(&system, &start)).abs() < 1e-11);
        }
    }
}

#[test]
fn a_tumbling_box_comes_to_rest_on_a_face() {
    for e in [0.0, 0.5] {
        let pose = Pose::turned([0.0, 0.0, 0.5], [0.3, 0.5, 0.2]);
        let (system, start) = box_over_floor(pose, [0.3, 0.1, 0.0], [1.0, 3.0, 0.5]);
        let mut stepper = svci(0.002, e).stepper(&system).unwrap();
        let mut state = start;
        let (mut before, mut rise) = (energy(&system, &state), 0.0_f64);
        for _ in 0..3000 {
            stepper.step(&mut state).unwrap();
            assert!(depth(&system, &state) < 1e-12, "depth {}", depth(&system, &state));
            let after = energy(&system, &state);
            rise = rise.max(after - before);
            before = after;
        }
        // Without friction it glides on, flat on the floor, and may turn about the vertical.
        let heights = [0.1, 0.15, 0.2];
        assert!(heights.iter().any(|h| (state.q[2] - h).abs() < 1e-9), "e = {e}: {:?}", state.q);
        assert!(state.v[2].abs() < 1e-11, "e = {e}: {:?}", state.v);
        assert!(rise < 1e-4, "e = {e}: rise {rise}");
    }
}

#[test]
fn two_balls_exchange_their_velocities_and_keep_all_momenta() {
    let mut mechanism = Mechanism::new();
    let ball = Shape::sphere(0.2).unwrap();
    let inertia = Inertia::principal(1.0, [0.008; 3]);
    let a = mechanism.add_body("a", inertia, Pose::at([0.0, 0.0, 0.0])).unwrap();
    let b = mechanism.add_body("b", inertia, Pose::at([1.0, 0.1, 0.0])).unwrap();
    mechanism.set_velocity(a, [1.0, 0.0, 0.0], [0.0; 3]).unwrap();
    let (system, start) = System::of(&mechanism).unwrap();
    let system = system.with_pair_contact(&mechanism, (a, &ball), (b, &ball), "a-b").unwrap();
    let mut state = start.clone();
    let mut stepper = svci(0.01, 1.0).stepper(&system).unwrap();
    for _ in 0..200 {
        stepper.step(&mut state).unwrap();
        assert!(depth(&system, &state) < 1e-14);
    }
    // The normal at the instant of contact: sin = 0.1 / 0.4.
    let (s, c) = (0.25, (1.0_f64 - 0.0625).sqrt());
    let exact = [1.0 - c * c, -c * s, c * c, c * s];
    let found = [state.v[0], state.v[1], state.v[12], state.v[13]];
    for (x, y) in found.iter().zip(&exact) {
        assert!((x - y).abs() < 1e-12, "{found:?} {exact:?}");
    }
    let (before, after) = (
        mechanism.angular_momentum(&start.q, &start.p),
        mechanism.angular_momentum(&state.q, &state.p),
    );
    for k in 0..3 {
        assert!((before[k] - after[k]).abs() < 1e-13, "{before:?} {after:?}");
    }
}

/// A leg of two bars with a ball for a foot, over a floor.
fn leg() -> (Mechanism, NodeId, System, State) {
    let mut mechanism = Mechanism::new().with_gravity([0.0, 0.0, -G]).unwrap();
    let bar = |m| Inertia::cuboid(m, [0.05, 0.05, 0.5]);
    let hip = mechanism
        .add_body("hip", Inertia::cuboid(5.0, [0.2; 3]), Pose::at([0.0, 0.0, 1.3]))
        .unwrap();
    let thigh = mechanism.add_body("thigh", bar(1.0), Pose::at([0.0, 0.0, 1.05])).unwrap();
    let shin = mechanism.add_body("shin", bar(0.8), Pose::at([0.0, 0.0, 0.55])).unwrap();
    let y = [0.0, 1.0, 0.0];
    let add = |m: &mut Mechanism, name, kind, ends, at, axis| {
        m.add_joint(name, kind, ends, at, axis).unwrap();
    };
    add(
        &mut mechanism,
        "rail",
        JointKind::Prismatic,
        [End::Ground, hip.into()],
        [0.0, 0.0, 1.3],
        [0.0, 0.0, 1.0],
    );
    add(
        &mut mechanism,
        "upper",
        JointKind::Revolute,
        [hip.into(), thigh.into()],
        [0.0, 0.0, 1.3],
        y,
    );
    add(
        &mut mechanism,
        "knee",
        JointKind::Revolute,
        [thigh.into(), shin.into()],
        [0.0, 0.0, 0.8],
        y,
    );
    let foot = Shape::sphere(0.05).unwrap().at(Vec3::new(0.0, 0.0, -0.25));
    let (system, state) = System::of(&mechanism).unwrap();
    let system =
        system.with_plane_contact(&mechanism, (shin, &foot), &floor(), "foot-floor").unwrap();
    (mechanism, shin, system, state)
}

#[test]
fn a_leg_on_joints_lands_on_the_floor_and_stands() {
    let (_, _, system, start) = leg();
    for e in [0.0, 0.3, 1.0] {
        let mut state = start.clone();
        let mut stepper = svci(0.002, e).stepper(&system).unwrap();
        let before = energy(&system, &state);
        for _ in 0..1000 {
            stepper.step(&mut state).unwrap();
            assert!(depth(&system, &state) < 1e-12, "e = {e}, t = {}", state.t);
        }
        // Straight under its hip it stands in unstable equilibrium, or bounces there.
        let height = state.q[2];
        if e < 1.0 {
            assert!((height - 1.05).abs() < 1e-9, "e = {e}: {height}");
        } else {
            assert!((energy(&system, &state) - before).abs() < 1e-8 * before, "{height}");
        }
    }
}
