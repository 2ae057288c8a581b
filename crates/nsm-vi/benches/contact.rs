//! Cost of a step with contacts: ball, pogo, oscillator, cradle, chains of beads between walls as the peers' tables have them.
//!
//! One iteration is a thousand steps, so that a reported millisecond is a microsecond per step.
#![allow(missing_docs)] // Criterion's macros define undocumented functions.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use nsm_constraints::{Affine, Central, LineSpring, Profile, Rod, SphereGap};
use nsm_model::{Mass, State, Stepper, System};
use nsm_vi::{Gvi, ImpactLaw, Quadrature, Restitution};
use rand::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64;
use std::hint::black_box;

const STEPS: usize = 1000;

fn run(c: &mut Criterion, name: &str, system: &System, start: &State, method: &Gvi) {
    let mut stepper = method.stepper(system).expect("the bench's system fits");
    let mut state = start.clone();
    let mut group = c.benchmark_group("steps with contact");
    group.throughput(Throughput::Elements(STEPS as u64));
    group.bench_function(name, |b| {
        b.iter(|| {
            for _ in 0..STEPS {
                stepper.step(black_box(&mut state)).expect("the bench's steps succeed");
            }
        });
    });
    group.finish();
}

fn ball() -> (System, State) {
    let system = System::new(Mass::diagonal(&[1.0]).unwrap())
        .with_potential("gravity", Affine::weight(&[(&[0], 1.0)], &[-9.8]).unwrap())
        .unwrap()
        .with_inequality("floor", Affine::above(0, 0.0).unwrap())
        .unwrap();
    let state = State::new(&system, &[1.0], &[0.0]).unwrap();
    (system, state)
}

fn pogo() -> (System, State) {
    let weights = Affine::weight(&[(&[0], 1.0), (&[1], 1.0)], &[-9.8213]).unwrap();
    let system = System::new(Mass::diagonal(&[1.0, 1.0]).unwrap())
        .with_potential("gravity", weights)
        .unwrap()
        .with_potential("spring", LineSpring::new(0, 1, 10.0, 5.0).unwrap())
        .unwrap()
        .with_inequality("floor", Affine::above(1, 0.0).unwrap())
        .unwrap();
    let state = State::new(&system, &[8.88, 3.88], &[0.0, 0.0]).unwrap();
    (system, state)
}

fn oscillator() -> (System, State) {
    let well =
        |x, y| Central::about(&[x, y], &[0.0, 0.0], Profile::SexticWell { strength: 1.0 }).unwrap();
    let system = System::new(Mass::diagonal(&[1.0; 4]).unwrap())
        .with_potential("first", well(0, 1))
        .unwrap()
        .with_potential("second", well(2, 3))
        .unwrap()
        .with_inequality("discs", SphereGap::between_balls(&[0, 1], &[2, 3], 1.0, 1.0).unwrap())
        .unwrap();
    let state = State::new(&system, &[0.0, -1.4, 0.0, 1.4], &[1.0, 0.0, -1.0, 0.0]).unwrap();
    (system, state)
}

fn cradle() -> (System, State) {
    let (n, mut q) = (5, Vec::new());
    let mut system = System::new(Mass::diagonal(&vec![1.0; 2 * n]).unwrap());
    for i in 0..n {
        let (pivot, angle) = (0.5 * i as f64, if i < 2 { -0.6_f64 } else { 0.0 });
        q.extend([pivot + angle.sin(), -angle.cos()]);
        system = system
            .with_potential("weight", Affine::new(&[2 * i + 1], &[9.8], 0.0).unwrap())
            .unwrap()
            .with_equality("rod", Rod::to_pivot(&[2 * i, 2 * i + 1], &[pivot, 0.0], 1.0).unwrap())
            .unwrap();
    }
    for i in 1..n {
        let (a, b) = ([2 * i - 2, 2 * i - 1], [2 * i, 2 * i + 1]);
        system = system
            .with_inequality("pair", SphereGap::between_balls(&a, &b, 0.25, 0.25).unwrap())
            .unwrap();
    }
    let state = State::new(&system, &q, &vec![0.0; 2 * n]).unwrap();
    (system, state)
}

/// The beads that peers are timed on: unit masses on a line between walls, all gaps 0.02, velocities standard normal.
fn beads(n: usize) -> (System, State) {
    let mut system = System::new(Mass::diagonal(&vec![1.0; n]).unwrap());
    let mut random = Pcg64::seed_from_u64(7);
    let q: Vec<f64> = (1..=n).map(|i| 0.02 * i as f64).collect();
    let v: Vec<f64> = (0..n).map(|_| StandardNormal.sample(&mut random)).collect();
    system = system.with_inequality("left wall", Affine::above(0, 0.0).unwrap()).unwrap();
    for i in 1..n {
        let gap = Affine::ahead(i - 1, i, 0.0).unwrap();
        system = system.with_inequality("pair", gap).unwrap();
    }
    let right = Affine::below(n - 1, 0.02 * (n + 1) as f64).unwrap();
    system = system.with_inequality("right wall", right).unwrap();
    let state = State::new(&system, &q, &v).unwrap();
    (system, state)
}

/// Discs in a bin, falling in rows: a gap for every pair.
fn pile(n: usize) -> (System, State) {
    let columns = n.isqrt();
    let right = 0.23 * columns as f64 - 0.06;
    let mut system = System::new(Mass::diagonal(&vec![1.0; 2 * n]).unwrap());
    let mut q = Vec::new();
    for i in 0..n {
        let (x, y) = (2 * i, 2 * i + 1);
        let weight = Affine::new(&[y], &[9.8], 0.0).unwrap();
        system = system
            .with_potential("weight", weight)
            .and_then(|s| s.with_inequality("left", Affine::above(x, 0.1).unwrap()))
            .and_then(|s| s.with_inequality("right", Affine::below(x, right).unwrap()))
            .and_then(|s| s.with_inequality("floor", Affine::above(y, 0.1).unwrap()))
            .unwrap();
        for j in 0..i {
            let gap = SphereGap::between_balls(&[2 * j, 2 * j + 1], &[x, y], 0.1, 0.1).unwrap();
            system = system.with_inequality("discs", gap).unwrap();
        }
        let (row, column) = ((i / columns) as f64, (i % columns) as f64);
        q.extend([0.12 + 0.23 * column + 0.02 * (row % 2.0), 0.2 + 0.25 * row + 0.01 * column]);
    }
    let state = State::new(&system, &q, &vec![0.0; 2 * n]).unwrap();
    (system, state)
}

/// The first 200 steps of 1 ms of a pile that falls together, in one iteration.
fn piles(c: &mut Criterion) {
    let mut group = c.benchmark_group("first 200 steps of a pile of discs");
    group.sample_size(10).throughput(Throughput::Elements(200));
    for (n, e) in [(10, 1.0), (10, 0.0), (100, 1.0), (100, 0.0)] {
        let (system, start) = pile(n);
        let law = ImpactLaw::Newton(Restitution::Uniform(e));
        let method = Gvi { law, ..Gvi::new(1e-3, Quadrature::Verlet) };
        let mut stepper = method.stepper(&system).expect("the bench's system fits");
        group.bench_function(format!("{n}, e = {e}"), |b| {
            b.iter(|| {
                let mut state = start.clone();
                for _ in 0..200 {
                    stepper.step(black_box(&mut state)).expect("the bench's steps succeed");
                }
            });
        });
    }
    group.finish();
}

fn contact(c: &mut Criterion) {
    let fine = Gvi::new(1e-3, Quadrature::Verlet);
    let (system, start) = ball();
    run(c, "ball", &system, &start, &fine);
    let (system, start) = pogo();
    run(c, "pogo", &system, &start, &Gvi::new(0.1, Quadrature::Verlet));
    let (system, start) = oscillator();
    run(c, "oscillator", &system, &start, &Gvi::new(0.1, Quadrature::Midpoint));
    let (system, start) = cradle();
    run(c, "cradle 5", &system, &start, &Gvi::new(0.01, Quadrature::Midpoint));
    for n in [5, 50, 500] {
        let (system, start) = beads(n);
        run(c, &format!("chain {n}"), &system, &start, &fine);
    }
}

criterion_group!(benches, contact, piles);
criterion_main!(benches);
