//! A step of the six-body linkage by every form of the scheme, of open chains by tree and by multipliers, and of chains with springs and
//! dampers in their hinges and along them, whose cost is that of their links.

#[path = "../examples/linkage/mod.rs"]
mod linkage;

use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use nsm_constraints::multibody::{End, Inertia, JointId, JointKind, LineElement, Mechanism, Pose};
use nsm_model::{State, Stepper, System, Wound};
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
fn chain(links: usize) -> (Mechanism, Vec<JointId>) {
    let mut mechanism = Mechanism::new().with_gravity([0.0, 0.0, -9.81]).unwrap();
    let (mut last, mut hinges) = (End::Ground, Vec::new());
    for i in 0..links {
        let x = i as f64;
        let pose = Pose::at([x + 0.5, 0.0, 0.0]);
        let bar = Inertia::cuboid(1.0, [1.0, 0.1, 0.1]);
        let end = End::from(mechanism.add_body(&format!("bar {i}"), bar, pose).unwrap());
        let (name, axis) = (format!("hinge {i}"), [0.0, 1.0, 0.0]);
        let (ends, at) = ([last, end], [x, 0.0, 0.0]);
        hinges.push(mechanism.add_joint(&name, JointKind::Revolute, ends, at, axis).unwrap());
        last = end;
    }
    (mechanism, hinges)
}

fn chains(c: &mut Criterion) {
    for links in [4, 16, 64] {
        let (mechanism, _) = chain(links);
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

/// The same chain with a spring and a damper about every hinge, and along the tops of neighbours.
fn sprung(links: usize) -> Mechanism {
    let (mut mechanism, hinges) = chain(links);
    for joint in hinges {
        let angle = mechanism.counted_freedom(joint, 0).unwrap();
        mechanism.add_joint_spring(joint, angle.clone(), 50.0, 0.0).unwrap();
        mechanism.add_joint_damper(joint, angle, 0.5).unwrap();
    }
    let bars: Vec<End> = mechanism.nodes().map(|(_, node)| End::from(node)).collect();
    for (i, pair) in bars.windows(2).enumerate() {
        let at = [0.5, 1.5].map(|x| [i as f64 + x, 0.0, 0.05]);
        let spring = LineElement { length: None, stiffness: 200.0, damping: 2.0 };
        mechanism.add_spring(&format!("spring {i}"), [pair[0], pair[1]], at, spring).unwrap();
    }
    mechanism
}

fn sprung_chains(c: &mut Criterion) {
    for links in [4, 16, 64, 256] {
        let (system, start) = System::of(&sprung(links)).unwrap();
        let group = format!("chain of {links} with springs");
        let h = 1e-3;
        let multipliers = Variational::new(h, MIDPOINT).stepper(&system).unwrap();
        let multipliers = Wound::new(&system, multipliers, &start);
        measure(c, &group, "multipliers", multipliers, &start);
        let conserving = Conserving::new(h).stepper(&system).unwrap();
        let conserving = Wound::new(&system, conserving, &start);
        measure(c, &group, "energy-momentum", conserving, &start);
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1));
    targets = six_body, chains, sprung_chains
}
criterion_main!(benches);
