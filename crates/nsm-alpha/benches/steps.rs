//! Time per step of every method on the track, the braiding machine and the pothole, and of index 3 and NSGA on chains of links and masses
//! 1/N, which are solved sparsely.
#![allow(missing_docs)] // the entry points that criterion generates

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use nsm_alpha::problems::{Kink, Problem, braiding_machine, pothole, track};
use nsm_alpha::{ClassicalAlpha, EventDriven, Index, Nsga, Variant};
use nsm_constraints::{Affine, Rod};
use nsm_model::{Mass, State, Stepper, System};

/// Steps per measured iteration: the run passes every switch of the problem once.
const STEPS: u32 = 4000;

fn bench<S: Stepper<State = State>>(c: &mut Criterion, name: &str, stepper: S, start: &State) {
    bench_for(c, name, stepper, start, STEPS);
}

fn bench_for<S: Stepper<State = State>>(
    c: &mut Criterion,
    name: &str,
    mut stepper: S,
    start: &State,
    steps: u32,
) {
    let mut state = start.clone();
    c.bench_function(name, |b| {
        b.iter_custom(|rounds| {
            let mut spent = std::time::Duration::ZERO;
            for _ in 0..rounds {
                state.clone_from(start);
                let clock = std::time::Instant::now();
                for _ in 0..steps {
                    black_box(stepper.step(&mut state)).ok();
                }
                spent += clock.elapsed();
            }
            spent / steps
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

fn chain(links: usize) -> (System, State) {
    let part = 1.0 / links as f64;
    let mut system = System::new(Mass::diagonal(&vec![part; 2 * links]).expect("masses"));
    let mut q = Vec::new();
    for link in 0..links {
        let (x, y) = (2 * link, 2 * link + 1);
        let rod = if link == 0 {
            Rod::to_pivot(&[x, y], &[0.0, 0.0], part)
        } else {
            Rod::between(&[x - 2, y - 2], &[x, y], part)
        };
        let weight = Affine::new(&[y], &[9.81 * part], 0.0).expect("weight");
        system = system
            .with_potential("weight", weight)
            .and_then(|system| system.with_equality("rod", rod.expect("rod")))
            .expect("chain");
        q.extend([(link as f64 + 1.0) * part, 0.0]);
    }
    let start = State::new(&system, &q, &vec![0.0; 2 * links]).expect("start");
    (system, start)
}

fn chains(c: &mut Criterion) {
    let h = 1e-3;
    for links in [10, 50, 100, 200] {
        let (system, start) = chain(links);
        let method = ClassicalAlpha::new(h, Index::Three, 0.7).expect("rho");
        let stepper = method.stepper(&system, &start).expect("stepper");
        bench_for(c, &format!("index-3/chain of {links}"), stepper, &start, 100);
        let method = Nsga::new(h, 0.98).expect("rho");
        let stepper = method.stepper(&system, &start).expect("stepper");
        bench_for(c, &format!("nsga-active/chain of {links}"), stepper, &start, 100);
    }
}

criterion_group!(benches, steps, chains);
criterion_main!(benches);
