//! Cost of a step of the pogo stick: by formula from a problem file, and written by hand.
//!
//! The same GVI step (Verlet, $h = 0.1$) of the same system. A formula is compiled to a tape with exact derivatives; it
//! may cost ten times the hand-written potential at most.
#![allow(missing_docs)] // Criterion's macros define undocumented functions.

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use nsm_bench::kaufman_pai::systems;
use nsm_model::{State, Stepper, System};
use nsm_problem::{Problem, Subject};
use nsm_vi::{Gvi, Quadrature};

const FORMULA: &str = r#"
[system]
coordinates = ["y1", "y2"]
mass        = [1, 1]
parameters  = { g = 9.8213, k = 10, l = 5 }
potential   = "g*(y1 + y2) + k/2*(y1 - y2 - l)^2"
inequality  = { floor = "y2" }
[start]
q = [8.88, 3.88]
"#;

fn step(c: &mut Criterion, name: &str, system: &System, start: &State) {
    let mut stepper = Gvi::new(0.1, Quadrature::Verlet).stepper(system).unwrap();
    let mut state = start.clone();
    c.bench_function(name, |b| {
        b.iter(|| {
            stepper.step(&mut state).unwrap();
            black_box(&state);
        });
    });
}

fn pogo(c: &mut Criterion) {
    let problem = Problem::parse(FORMULA).unwrap();
    let Subject::Coordinates { system, start } = &problem.subject else { unreachable!() };
    step(c, "pogo/formula", system, start);
    let (system, start) = systems::pogo(3.88, 0.1).unwrap();
    step(c, "pogo/by-hand", &system, &start);
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2));
    targets = pogo
}
criterion_main!(benches);
