//! Friction in steps: closed forms, conservation, energy, errors.

use nsm_constraints::multibody::{Inertia, JointKind, Mechanism, NodeId, Pose};
use nsm_constraints::{Affine, FixedTangent};
use nsm_geom::{Plane, Shape, Vec3};
use nsm_model::{ContactLaw, Mass, State, Stepper, System, SystemError};
use nsm_vi::{Gvi, Quadrature, Restitution, Svci};

const G: f64 = 9.81;

fn law(restitution: f64, friction: f64) -> ContactLaw {
    ContactLaw { friction, ..ContactLaw::frictionless(restitution) }
}

/// A block on a floor in space, with mass `m` in units in which a metre is `length` long and a second `time`.
fn block(friction: f64, m: f64, length: f64, time: f64) -> System {
    let g = G * length / (time * time);
    System::new(Mass::diagonal(&[m; 3]).unwrap())
        .unwrap_with_floor(m * g)
        .with_tangent(0, FixedTangent::new(&[0, 1], &[1.0, 0.0, 0.0, 1.0]).unwrap())
        .unwrap()
        .with_contact_laws(&[law(0.0, friction)])
        .unwrap()
}

trait WithFloor {
    fn unwrap_with_floor(self, weight: f64) -> Self;
}

impl WithFloor for System {
    fn unwrap_with_floor(self, weight: f64) -> Self {
        self.with_potential("weight", Affine::new(&[2], &[weight], 0.0).unwrap())
            .unwrap()
            .with_inequality("floor", Affine::new(&[2], &[1.0], 0.0).unwrap())
            .unwrap()
    }
}

fn svci(step: f64, e: f64) -> Svci {
    Svci { restitution: Restitution::Uniform(e), ..Svci::new(step, Quadrature::Verlet) }
}

#[test]
fn a_push_stops_at_the_same_distance_in_every_direction() {
    let system = block(0.3, 1.0, 1.0, 1.0);
    let exact = 9.0 / (2.0 * 0.3 * G);
    for angle in [0.0, 0.3, std::f64::consts::FRAC_PI_4, 1.0] {
        let mut state =
            State::new(&system, &[0.0; 3], &[3.0 * angle.cos(), 3.0 * angle.sin(), 0.0]).unwrap();
        let mut stepper = svci(0.01, 0.0).stepper(&system).unwrap();
        let mut work = 0.0;
        for _ in 0..200 {
            stepper.step(&mut state).unwrap();
            work += stepper.events().held().iter().map(|c| c.work).sum::<f64>();
        }
        let distance = state.q[0].hypot(state.q[1]);
        assert!((distance - exact).abs() <= 0.3 * G * 0.01 * 0.01 / 8.0, "{distance}");
        assert!((state.q[1].atan2(state.q[0]) - angle).abs() < 1e-12);
        assert!(state.v.iter().all(|v| v.abs() < 1e-12));
        // The work of sliding is exact.
        assert!((work + 4.5).abs() < 1e-12, "{work}");
    }
}

#[test]
fn other_units_give_the_same_motion() {
    let run = |m: f64, length: f64, time: f64| {
        let system = block(0.3, m, length, time);
        let v = [2.0 * length / time, length / time, 0.0];
        let mut state = State::new(&system, &[0.0, 0.0, 0.3 * length], &v).unwrap();
        let mut stepper = svci(0.01 * time, 0.4).stepper(&system).unwrap();
        for _ in 0..120 {
            stepper.step(&mut state).unwrap();
        }
        [state.q[0] / length, state.q[1] / length, state.v[0] * time / length]
    };
    let metres = run(1.0, 1.0, 1.0);
    for (m, length, time) in [(1000.0, 1000.0, 1000.0), (1e-3, 1e-6, 1.0)] {
        for (a, b) in metres.iter().zip(run(m, length, time)) {
            assert!((a - b).abs() < 1e-12, "{a} {b}");
        }
    }
}

#[test]
fn friction_without_a_tangent_and_methods_without_friction_are_refused() {
    let system = System::new(Mass::diagonal(&[1.0; 3]).unwrap())
        .unwrap_with_floor(G)
        .with_contact_laws(&[law(0.0, 0.3)])
        .unwrap();
    let error = svci(0.01, 0.0).stepper(&system).err().unwrap();
    assert!(matches!(&error, SystemError::NoTangent { gap, .. } if gap == "floor"), "{error}");
    let system = block(0.3, 1.0, 1.0, 1.0);
    let error = Gvi::new(0.01, Quadrature::Verlet).stepper(&system).err().unwrap();
    assert!(error.to_string().contains("svci"), "{error}");
    assert!(
        System::new(Mass::diagonal(&[1.0; 3]).unwrap())
            .unwrap_with_floor(G)
            .with_contact_laws(&[law(0.0, -0.3)])
            .is_err()
    );
}

fn two_balls(friction: f64) -> (Mechanism, System, State) {
    let mut mechanism = Mechanism::new();
    let ball = Shape::sphere(0.5).unwrap();
    let mut nodes: Vec<NodeId> = Vec::new();
    let starts = [
        ([0.0, 0.0, 0.0], [1.0, 0.3, 0.0], [0.0, 0.0, 2.0]),
        ([1.4, 0.25, 0.1], [-1.0, 0.0, 0.2], [1.0, -2.0, 0.5]),
    ];
    for (k, (x, v, w)) in starts.into_iter().enumerate() {
        let inertia = Inertia::cuboid(1.0 + k as f64, [0.6; 3]);
        let node = mechanism.add_body(["a", "b"][k], inertia, Pose::at(x)).unwrap();
        mechanism.set_velocity(node, v, w).unwrap();
        nodes.push(node);
    }
    let (system, state) = System::of(&mechanism).unwrap();
    let system = system
        .with_pair_contact(&mechanism, (nodes[0], &ball), (nodes[1], &ball), "a-b")
        .unwrap()
        .with_contact_laws(&[law(0.7, friction)])
        .unwrap();
    (mechanism, system, state)
}

#[test]
fn bodies_that_rub_keep_momentum_and_angular_momentum() {
    for friction in [0.0, 0.4] {
        let (mechanism, system, mut state) = two_balls(friction);
        let momenta = |s: &State| {
            let (p, l) = (mechanism.linear_momentum(&s.p), mechanism.angular_momentum(&s.q, &s.p));
            [p[0], p[1], p[2], l[0], l[1], l[2]]
        };
        let before = momenta(&state);
        let energy = |s: &State| system.kinetic_energy(&s.q, &s.v);
        let start = energy(&state);
        let mut stepper = svci(0.01, 0.7).stepper(&system).unwrap();
        let mut impacts = 0;
        for _ in 0..100 {
            stepper.step(&mut state).unwrap();
            for event in stepper.events().iter() {
                impacts += 1;
                assert_eq!(event.slips.len(), usize::from(friction > 0.0));
                assert!(event.energy_change < 0.0);
                if friction > 0.0 {
                    let [a, b] = event.tangential[0];
                    assert!(a.hypot(b) > 0.0);
                    assert!(a.hypot(b) <= friction * event.impulses[0] * (1.0 + 1e-12));
                }
            }
        }
        assert_eq!(impacts, 1);
        for (a, b) in before.iter().zip(momenta(&state)) {
            assert!((a - b).abs() < 1e-12, "{a} {b}");
        }
        assert!(energy(&state) < start);
    }
}

/// A chain of boxes that falls on a floor.
fn chain(links: usize, e: f64, friction: f64) -> (System, State) {
    let mut mechanism = Mechanism::new().with_gravity([0.0, 0.0, -G]).unwrap();
    let shape = Shape::cuboid([0.25, 0.05, 0.05]).unwrap();
    let mut nodes: Vec<NodeId> = Vec::new();
    for k in 0..links {
        let pose = Pose::at([0.5 * k as f64, 0.0, 0.5]);
        let inertia = Inertia::cuboid(1.0, [0.5, 0.1, 0.1]);
        let node = mechanism.add_body(&format!("link{k}"), inertia, pose).unwrap();
        if let Some(&last) = nodes.last() {
            let (at, axis) = ([0.5 * k as f64 - 0.25, 0.0, 0.5], [0.0, 1.0, 0.0]);
            let ends = [last.into(), node.into()];
            let name = format!("hinge{k}");
            mechanism.add_joint(&name, JointKind::Revolute, ends, at, axis).unwrap();
        }
        nodes.push(node);
    }
    mechanism.set_velocity(nodes[0], [0.5, 0.2, 0.0], [0.0, 0.0, 0.3]).ok();
    let (mut system, state) = System::of(&mechanism).unwrap();
    let floor = Plane::new(Vec3::z(), 0.0).unwrap();
    for (k, &node) in nodes.iter().enumerate() {
        system = system
            .with_plane_contact(&mechanism, (node, &shape), &floor, &format!("link{k}"))
            .unwrap();
    }
    let laws = vec![law(e, friction); system.inequalities().len()];
    (system.with_contact_laws(&laws).unwrap(), state)
}

#[test]
fn a_chain_that_falls_on_a_floor_comes_to_rest() {
    let (system, mut state) = chain(5, 0.3, 0.5);
    let mut stepper = svci(0.01, 0.3).stepper(&system).unwrap();
    let energy = |s: &State| system.kinetic_energy(&s.q, &s.v) + system.potential().sum(&s.q, s.t);
    let start = energy(&state);
    let mut highest = start;
    for _ in 0..200 {
        stepper.step(&mut state).unwrap();
        highest = highest.max(energy(&state));
    }
    assert!(highest <= start * (1.0 + 1e-4), "{highest} {start}");
    assert!(system.kinetic_energy(&state.q, &state.v) < 1e-20);
    let mut gaps = vec![0.0; system.inequalities().len()];
    system.inequalities().values(&state.q, state.t, &mut gaps);
    assert!(gaps.iter().all(|g| *g > -1e-10));
    let mut joints = vec![0.0; system.equalities().len()];
    system.equalities().values(&state.q, state.t, &mut joints);
    assert!(joints.iter().all(|f| f.abs() < 1e-12));
}
