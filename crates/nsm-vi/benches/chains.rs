//! Cost of a step of the chain that peers are timed on, $N$ masses of $1/N$ kg on links of $1/N$ m, and of a beam on a hinge,
//! by the number of elements: its mass is singular and couples neighbours.
//!
//! One iteration is the first second, a thousand steps of $h = 10^{-3}$ from stretched out sideways, or the second after the
//! chain has whipped about for five seconds; criterion's throughput counts steps. A step that has no solution is taken in halves and
//! counts as one.
#![allow(missing_docs)] // Criterion's macros define undocumented functions.

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use nsm_constraints::multibody::{Beam, End, JointKind, Mechanism, SectionMass, SectionStiffness};
use nsm_constraints::{Affine, Rod};
use nsm_model::{Mass, Splitting, State, Stepper, System};
use nsm_vi::{Conserving, NullSpace, Quadrature, Variational};

const H: f64 = 1e-3;
const STEPS: usize = 1000;
/// Steps until a chain whips about.
const BEFORE: usize = 5_000;

fn chain(links: usize) -> (System, State) {
    let part = 1.0 / links as f64;
    let mut system = System::new(Mass::diagonal(&vec![part; 2 * links]).unwrap());
    let (mut q, mut v) = (Vec::new(), Vec::new());
    for link in 0..links {
        let (x, y) = (2 * link, 2 * link + 1);
        let rod = if link == 0 {
            Rod::to_pivot(&[x, y], &[0.0, 0.0], part).unwrap()
        } else {
            Rod::between(&[x - 2, y - 2], &[x, y], part).unwrap()
        };
        system = system
            .with_potential("weight", Affine::new(&[y], &[9.81 * part], 0.0).unwrap())
            .unwrap()
            .with_equality("rod", rod)
            .unwrap();
        q.extend([(link as f64 + 1.0) * part, 0.0]);
        v.extend([0.0, 0.0]);
    }
    let state = State::new(&system, &q, &v).unwrap();
    (system, state)
}

fn run(
    c: &mut Criterion,
    (system, method, links): (&str, &str, usize),
    mut stepper: impl Stepper<State = State>,
    start: &State,
) {
    let mut state = start.clone();
    let mut group = c.benchmark_group(system);
    group.throughput(Throughput::Elements(STEPS as u64));
    group.bench_function(BenchmarkId::new(method, links), |b| {
        b.iter(|| {
            state.clone_from(start);
            for _ in 0..STEPS {
                stepper.step(black_box(&mut state)).expect("the bench's steps succeed");
            }
        });
    });
    group.finish();
}

fn conserving(system: &System) -> impl Stepper<State = State> + '_ {
    Splitting::new(H, |step, _| Conserving::new(step).stepper(system)).unwrap()
}

fn chains(c: &mut Criterion) {
    for links in [1, 2, 5, 20, 100, 1000] {
        let (system, start) = chain(links);
        for (name, quadrature) in
            [("midpoint", Quadrature::Midpoint), ("Verlet", Quadrature::Verlet)]
        {
            let stepper = Variational::new(H, quadrature).splitting(&system).unwrap();
            run(c, ("pendulum", name, links), stepper, &start);
        }
        run(c, ("pendulum", "conserving", links), conserving(&system), &start);
        if links <= 20 {
            let stepper = NullSpace::new(H, Quadrature::Midpoint).stepper(&system).unwrap();
            run(c, ("pendulum", "null space", links), stepper, &start);
        }
    }
}

fn whipping_chains(c: &mut Criterion) {
    for links in [1, 2, 5, 20, 100] {
        let (system, mut start) = chain(links);
        let mut stepper = Variational::new(H, Quadrature::Midpoint).splitting(&system).unwrap();
        for _ in 0..BEFORE {
            stepper.step(&mut start).unwrap();
        }
        run(c, ("whipping pendulum", "midpoint", links), stepper, &start);
        let stepper = Variational::new(H, Quadrature::Verlet).splitting(&system).unwrap();
        run(c, ("whipping pendulum", "Verlet", links), stepper, &start);
        run(c, ("whipping pendulum", "conserving", links), conserving(&system), &start);
    }
}

fn beam(elements: usize) -> (System, State) {
    let stiffness = SectionStiffness {
        shear: [175_480.0; 2],
        axial: 547_500.0,
        bending: [114.0, 10.0],
        torsion: 13.7,
    };
    let mass = SectionMass { per_length: 75.0, directors: [1.6e-2, 1.4e-3] };
    let triad = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    let ends = [[0.0; 3], [0.0, 0.036 * elements as f64, 0.0]];
    let mut mechanism = Mechanism::new().with_gravity([0.0, 0.0, -9.81]).unwrap();
    let shape = Beam::straight(ends, elements, triad, stiffness, mass);
    let beam = mechanism.add_beam("beam", &shape).unwrap();
    let held = [End::Ground, End::Node(mechanism.beam_nodes(beam)[0])];
    let axis = [1.0, 0.0, 0.0];
    mechanism.add_joint("hinge", JointKind::Revolute, held, [0.0; 3], axis).unwrap();
    System::of(&mechanism).unwrap()
}

fn beams(c: &mut Criterion) {
    for elements in [5, 20] {
        let (system, start) = beam(elements);
        let stepper = Variational::new(H, Quadrature::Midpoint).stepper(&system).unwrap();
        run(c, ("beam on a hinge", "midpoint", elements), stepper, &start);
        let stepper = Conserving::new(H).stepper(&system).unwrap();
        run(c, ("beam on a hinge", "conserving", elements), stepper, &start);
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1));
    targets = chains, whipping_chains, beams
}
criterion_main!(benches);
