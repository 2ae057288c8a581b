//! A step of the six-body linkage by every form of the scheme, and of open chains by tree and by multipliers.

#[path = "../examples/linkage/mod.rs"]
mod linkage;

use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use nsm_constraints::multibody::{End, Inertia, JointKind, Mechanism, Pose};
use nsm_model::{State, Stepper, System};
use nsm_vi::{Conserving, NullSpace, Quadrature, Variational};

const MIDPOINT: Quadrature = Quadrature::Midpoint;

fn measure<S: Stepper<State = State>>(
    c: &mut Criterion,
    group: &str,
    name: &str,
    mut stepper: S,
    start: &State,
) {
    let mut state = start.clone();
    let mut group = c.benchmark_group(group);
    group.bench_function(name, |b| b.iter(|| stepper.step(&mut state).unwrap()));
    group.finish();
}

fn six_body(c: &mut Criterion) {
    let mechanism = linkage::six_body_linkage().unwrap();
    let (system, start) = System::of(&mechanism).unwrap();
    let h = 1e-3;
    let method = NullSpace::reparametrised(h, MIDPOINT);
    let group = "six-body linkage";
    let closed = method.stepper_with(&system, mechanism.closure().unwrap()).unwrap();
    measure(c, group, "one freedom, chart of the loop", closed, &start);
    let normal = method.stepper(&system).unwrap();
    measure(c, group, "one freedom, chart along normals", normal, &start);
    let null_space = NullSpace::new(h, MIDPOINT).stepper(&system).unwrap();
    measure(c, group, "null space, 72 unknowns", null_space, &start);
    let multipliers = Variational::new(h, MIDPOINT).stepper(&system).unwrap();
    measure(c, group, "multipliers, 143 unknowns", multipliers, &start);
    let conserving = Conserving::new(h).stepper(&system).unwrap();
    measure(c, group, "energy-momentum, 143 unknowns", conserving, &start);
}

/// Bars on hinges about y, from the ground along x.
fn chain(links: usize) -> Mechanism {
    let mut mechanism = Mechanism::new().with_gravity([0.0, 0.0, -9.81]).unwrap();
    let mut last = End::Ground;
    for i in 0..links {
        let x = i as f64;
        let pose = Pose::at([x + 0.5, 0.0, 0.0]);
        let bar = Inertia::cuboid(1.0, [1.0, 0.1, 0.1]);
        let end = End::from(mechanism.add_body(&format!("bar {i}"), bar, pose).unwrap());
        let (name, axis) = (format!("hinge {i}"), [0.0, 1.0, 0.0]);
        mechanism.add_joint(&name, JointKind::Revolute, [last, end], [x, 0.0, 0.0], axis).unwrap();
        last = end;
    }
    mechanism
}

fn chains(c: &mut Criterion) {
    for links in [4, 16, 64] {
        let mechanism = chain(links);
        let (system, start) = System::of(&mechanism).unwrap();
        let group = format!("chain of {links}");
        let h = 1e-3;
        let tree =
            NullSpace::reparametrised(h, MIDPOINT).stepper_with(&system, mechanism.tree()).unwrap();
        measure(c, &group, "tree", tree, &start);
        let multipliers = Variational::new(h, MIDPOINT).stepper(&system).unwrap();
        measure(c, &group, "multipliers", multipliers, &start);
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1));
    targets = six_body, chains
}
criterion_main!(benches);
