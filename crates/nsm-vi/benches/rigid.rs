//! The free flow, a step with an impact, and 10⁵ steps of each case of Tran and Leok.

#[path = "../tests/cases/mod.rs"]
mod cases;

use std::hint::black_box;
use std::time::Duration;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use nsm_model::Stepper;
use nsm_vi::rigid::{Lgvci, Lgvi, Retraction, RigidWorld};

fn free_flow(c: &mut Criterion) {
    let mut group = c.benchmark_group("rigid");
    let body = cases::ellipsoid();
    let gravity = cases::gravity();
    for retraction in [Retraction::Cayley, Retraction::Exponential] {
        let flow = Lgvi { retraction, ..Lgvi::default() };
        let mut state = cases::start().bodies[0];
        group.bench_function(format!("free flow, {retraction:?}"), |b| {
            b.iter(|| {
                state = flow.fly(&body, &gravity, 0.0, black_box(&state), cases::H).unwrap().end;
            });
        });
    }
    let world = RigidWorld::new(gravity).unwrap().with_body(body);
    let mut state = cases::start();
    let mut stepper = Lgvci::default().stepper(&world, &state, cases::H).unwrap();
    group.bench_function("free flow step", |b| b.iter(|| stepper.step(&mut state).unwrap()));
    group.finish();
}

fn collisions(c: &mut Criterion) {
    let mut group = c.benchmark_group("rigid");
    for (number, name) in ["I", "II", "III", "IV"].into_iter().enumerate() {
        let world = cases::case(number);
        let mut before = cases::start();
        let mut stepper = Lgvci::default().stepper(&world, &before, cases::H).unwrap();
        loop {
            let last = before.clone();
            stepper.step(&mut before).unwrap();
            if !stepper.events().is_empty() {
                before = last;
                break;
            }
        }
        group.bench_function(format!("collision step, case {name}"), |b| {
            b.iter_batched_ref(
                || before.clone(),
                |state| stepper.step(state).unwrap(),
                BatchSize::SmallInput,
            );
        });
    }
    group.finish();
}

fn long_runs(c: &mut Criterion) {
    let mut group = c.benchmark_group("rigid");
    group.sample_size(10).measurement_time(Duration::from_secs(2));
    for (number, name) in ["I", "II", "III", "IV"].into_iter().enumerate() {
        let world = cases::case(number);
        group.bench_function(format!("1e5 steps, case {name}"), |b| {
            b.iter(|| {
                let mut state = cases::start();
                let mut stepper = Lgvci::default().stepper(&world, &state, cases::H).unwrap();
                for _ in 0..100_000 {
                    stepper.step(&mut state).unwrap();
                }
                state
            });
        });
    }
    group.finish();
}

criterion_group!(benches, free_flow, collisions, long_runs);
criterion_main!(benches);
