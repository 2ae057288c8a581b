//! Steps of mechanisms do not allocate, counted.

mod counting;
#[path = "../examples/linkage/mod.rs"]
mod linkage;

use nsm_constraints::multibody::{End, Inertia, JointKind, Mechanism, Pose};
use nsm_model::{State, Stepper, System};
use nsm_vi::{Conserving, NullSpace, Quadrature, Variational};

/// Counts after the first step, which checks the start.
fn count(name: &str, start: &State, mut stepper: impl Stepper<State = State>) {
    let mut state = start.clone();
    stepper.step(&mut state).unwrap();
    let before = counting::allocations();
    for _ in 0..50 {
        stepper.step(&mut state).unwrap();
    }
    let allocations = counting::allocations() - before;
    assert_eq!(allocations, 0, "{name}");
}

/// Three bodies on the ground by a hinge, a ball joint and a cylindrical joint.
fn chain() -> Mechanism {
    let mut mechanism = Mechanism::new().with_gravity([0.0, 0.0, -9.81]).unwrap();
    let mut last = End::Ground;
    let kinds = [JointKind::Revolute, JointKind::Spherical, JointKind::Cylindrical];
    for (i, kind) in kinds.into_iter().enumerate() {
        let x = i as f64;
        let pose = Pose::turned([x + 0.5, 0.0, 0.0], [0.1 * x, 0.2, 0.0]);
        let inertia = Inertia::cuboid(1.0, [1.0, 0.2, 0.1]);
        let end = End::from(mechanism.add_body(&format!("bar {i}"), inertia, pose).unwrap());
        let at = [x, 0.0, 0.0];
        mechanism.add_joint(&format!("{kind}"), kind, [last, end], at, [0.0, 1.0, 0.0]).unwrap();
        last = end;
    }
    mechanism
}

#[test]
fn no_step_of_a_mechanism_allocates() {
    let (h, q) = (1e-3, Quadrature::Midpoint);
    let method = NullSpace::reparametrised(h, q);
    let ring = linkage::six_body_linkage().unwrap();
    let (system, start) = System::of(&ring).unwrap();
    let closure = ring.closure().unwrap();
    count("loop, one freedom", &start, method.stepper_with(&system, closure).unwrap());
    count("loop, multipliers", &start, Variational::new(h, q).stepper(&system).unwrap());
    count("loop, energy-momentum", &start, Conserving::new(h).stepper(&system).unwrap());
    let chain = chain();
    let (system, start) = System::of(&chain).unwrap();
    count("tree", &start, method.stepper_with(&system, chain.tree()).unwrap());
    count("tree, multipliers", &start, Variational::new(h, q).stepper(&system).unwrap());
}
