//! Nanoseconds per step of every method on the track, the braiding machine and the pothole.
#![allow(missing_docs)] // the entry points that criterion generates

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use nsm_alpha::problems::{Kink, Problem, braiding_machine, pothole, track};
use nsm_alpha::{ClassicalAlpha, EventDriven, Index, Nsga, Variant};
use nsm_model::{State, Stepper};

/// Steps per measured iteration: the run passes every switch of the problem once.
const STEPS: u32 = 4000;

fn bench<S: Stepper<State = State>>(c: &mut Criterion, name: &str, mut stepper: S, start: &State) {
    let mut state = start.clone();
    c.bench_function(name, |b| {
        b.iter_custom(|rounds| {
            let mut spent = std::time::Duration::ZERO;
            for _ in 0..rounds {
                state.clone_from(start);
                let clock = std::time::Instant::now();
                for _ in 0..STEPS {
                    black_box(stepper.step(&mut state)).ok();
                }
                spent += clock.elapsed();
            }
            spent / STEPS
        });
    });
}

fn steps(c: &mut Criterion) {
    let problems: [(&str, Problem); 3] = [
        ("track", track(Kink::Uphill).expect("track")),
        ("braid", braiding_machine(1.0).expect("braid")),
        ("pothole", pothole().expect("pothole")),
    ];
    for (name, Problem { system, start }) in &problems {
        let h = 1e-3;
        for (label, index) in [("3", Index::Three), ("2", Index::Two), ("1", Index::One)] {
            let method = ClassicalAlpha::new(h, index, 0.98).expect("rho");
            let stepper = method.stepper(system, start).expect("stepper");
            bench(c, &format!("index-{label}/{name}"), stepper, start);
        }
        let method = EventDriven::new(h, 0.98).expect("rho");
        bench(c, &format!("event/{name}"), method.stepper(system, start).expect("stepper"), start);
        for (label, variant) in [("published", Variant::Published), ("active", Variant::Active)] {
            let method = Nsga { variant, ..Nsga::new(h, 0.98).expect("rho") };
            let stepper = method.stepper(system, start).expect("stepper");
            bench(c, &format!("nsga-{label}/{name}"), stepper, start);
        }
    }
}

criterion_group!(benches, steps);
criterion_main!(benches);
