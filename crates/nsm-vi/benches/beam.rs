//! Cost of a step of flexible multibody systems, with multipliers and without.
//!
//! `swing`: the three-bar swing of \[LMO\] section 6.2 with 20 elements (276 coordinates, 154 constraints, 122 freedoms) after
//! its pulse, $h = 10^{-3}$. `cantilever`: a clamped beam by its number of elements; cost must be linear.
#![allow(missing_docs)] // Criterion's macros define undocumented functions.

use std::hint::black_box;
use std::time::Duration;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, criterion_group, criterion_main};
use nsm_constraints::multibody::{
    Beam, End, Inertia, JointKind, Mechanism, Pose, SectionMass, SectionStiffness,
};
use nsm_model::{State, Stepper, System};
use nsm_vi::{Conserving, NullSpace, Quadrature, Variational};

const H: f64 = 1e-3;
const TRIAD: [[f64; 3]; 3] = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];

fn section() -> (SectionStiffness, SectionMass) {
    let stiffness = SectionStiffness {
        shear: [175_480.769_2; 2],
        axial: 547_500.0,
        bending: [114.062_5, 10.265_6],
        torsion: 13.740_1,
    };
    (stiffness, SectionMass { per_length: 7500.0, directors: [1.5625, 0.1406] })
}

fn swing() -> Mechanism {
    let (stiffness, mass) = section();
    let ends = [[0.0, 0.0, -0.36], [0.0, 0.72, -0.36]];
    let mut mechanism = Mechanism::new();
    let beam =
        mechanism.add_beam("beam", &Beam::straight(ends, 20, TRIAD, stiffness, mass)).unwrap();
    let nodes = mechanism.beam_nodes(beam).to_vec();
    for (name, pivot, end, node) in
        [("left", [0.0; 3], ends[0], nodes[0]), ("right", [0.0, 1.08, 0.0], ends[1], nodes[20])]
    {
        let along: [f64; 3] = std::array::from_fn(|c| end[c] - pivot[c]);
        let length = along[1].hypot(along[2]);
        let [_, y, z] = along.map(|x| x / length);
        let pose = Pose {
            position: std::array::from_fn(|c| pivot[c] + 0.25 * along[c]),
            directors: [[1.0, 0.0, 0.0], [0.0, z, -y], [0.0, y, z]],
        };
        let inertia = Inertia::principal(0.01, [2e-7, 2e-7, 3e-4 / 0.8 * length * length]);
        let link = mechanism.add_body(name, inertia, pose).unwrap();
        let (pivot_name, hinge) = (format!("{name} pivot"), format!("{name} hinge"));
        let ground = [End::Ground, link.into()];
        mechanism.add_joint(&pivot_name, JointKind::Spherical, ground, pivot, [0.0; 3]).unwrap();
        let joined = [End::from(link), node.into()];
        mechanism.add_joint(&hinge, JointKind::Revolute, joined, end, [1.0, 0.0, 0.0]).unwrap();
    }
    mechanism.attach_mass(nodes[10], 5.0).unwrap();
    let pulse = [(0.0, 0.0), (0.125, 10_000.0), (0.25, 0.0)];
    mechanism.add_load("pulse", nodes[10], [0.0, 1.0, 0.0], &pulse).unwrap();
    mechanism
}

fn cantilever(elements: usize) -> Mechanism {
    let (stiffness, mass) = section();
    // The element's length, and with it the largest frequency, is the same for every number of them.
    let ends = [[0.0; 3], [0.0, 0.036 * elements as f64, 0.0]];
    let mut mechanism = Mechanism::new().with_gravity([0.0, 0.0, -9.81]).unwrap();
    let beam = mechanism
        .add_beam("beam", &Beam::straight(ends, elements, TRIAD, stiffness, mass))
        .unwrap();
    let root = mechanism.beam_nodes(beam)[0];
    let clamp = [End::Ground, root.into()];
    mechanism.add_joint("clamp", JointKind::Fixed, clamp, [0.0; 3], [0.0; 3]).unwrap();
    mechanism
}

/// Steps on and on from where a run of `warm` steps ends, and again from there after some hundred.
fn run(
    group: &mut BenchmarkGroup<'_, WallTime>,
    id: BenchmarkId,
    mut stepper: impl Stepper<State = State>,
    start: &State,
    warm: usize,
) {
    let mut state = start.clone();
    for _ in 0..warm {
        stepper.step(&mut state).expect("the bench's steps succeed");
    }
    let (again, mut taken) = (state.clone(), 0);
    group.bench_with_input(id, &(), |b, ()| {
        b.iter(|| {
            stepper.step(black_box(&mut state)).expect("the bench's steps succeed");
            taken += 1;
            if taken % 500 == 0 {
                state.clone_from(&again);
            }
        });
    });
}

fn all(c: &mut Criterion, name: &str, mechanism: &Mechanism, size: usize, warm: usize) {
    let (system, start) = System::of(mechanism).unwrap();
    let mut group = c.benchmark_group(name);
    let id = |method: &str| BenchmarkId::new(method, size);
    let stepper = Variational::new(H, Quadrature::Midpoint).stepper(&system).unwrap();
    run(&mut group, id("multipliers"), stepper, &start, warm);
    let stepper = NullSpace::reparametrised(H, Quadrature::Midpoint)
        .stepper_with(&system, mechanism.tree())
        .unwrap();
    run(&mut group, id("null space"), stepper, &start, warm);
    run(&mut group, id("conserving"), Conserving::new(H).stepper(&system).unwrap(), &start, warm);
    group.finish();
}

fn beams(c: &mut Criterion) {
    all(c, "swing", &swing(), 20, 260);
    for elements in [20, 200] {
        all(c, "cantilever", &cantilever(elements), elements, 10);
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1));
    targets = beams
}
criterion_main!(benches);
