//! Cost of an impact: one contact, the cradle, waves and compressions of chains, random cones.

use std::hint::black_box;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use nsm_constraints::{Affine, Rod, SphereGap};
use nsm_model::{Mass, System};
use nsm_reflect::{ContactRows, ContactTolerance, ImpactLaw, Kernel, Metric, Reflector};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

fn chain(n: usize) -> System {
    let mut system = System::new(Mass::diagonal(&vec![1.0; n]).expect("masses"));
    for i in 1..n {
        let gap = Affine::ahead(i - 1, i, 1.0).expect("a gap");
        system = system.with_inequality("gap", gap).expect("a contact");
    }
    system
}

fn run(c: &mut Criterion, name: &str, system: &System, q: &[f64], before: &[f64]) {
    let mut g = vec![0.0; system.inequalities().entries()];
    system.inequalities().gradients(q, 0.0, &mut g);
    let mut f = vec![0.0; system.equalities().entries()];
    system.equalities().gradients(q, 0.0, &mut f);
    let all: Vec<usize> = (0..system.inequalities().len()).collect();
    let mut reflector =
        Reflector::new(system, ImpactLaw::Reflection, ContactTolerance::default()).expect("a law");
    let mut p = before.to_vec();
    c.bench_function(name, |b| {
        b.iter(|| {
            p.copy_from_slice(before);
            reflector.reflect(system, black_box(&g), &f, &all, &mut p).expect("an answer")
        });
    });
}

fn systems(c: &mut Criterion) {
    let ball = System::new(Mass::diagonal(&[1.0]).expect("masses"))
        .with_inequality("floor", Affine::above(0, 0.0).expect("a floor"))
        .expect("a contact");
    run(c, "one contact", &ball, &[0.0], &[-1.0]);
    run(c, "one contact, separating", &ball, &[0.0], &[1.0]);
    for n in [5, 50, 500] {
        let system = chain(n);
        let q: Vec<f64> = (0..n).map(|i| i as f64).collect();
        let mut wave = vec![0.0; n];
        wave[0] = 1.0;
        run(c, &format!("chain {n}, wave"), &system, &q, &wave);
        let mut last = vec![0.0; n];
        last[n - 2] = 1.0;
        run(c, &format!("chain {n}, one violation"), &system, &q, &last);
        let compressed: Vec<f64> = (0..n).map(|i| -(i as f64)).collect();
        run(c, &format!("chain {n}, compressed"), &system, &q, &compressed);
    }
    let mut cradle = System::new(Mass::diagonal(&[1.0; 10]).expect("masses"));
    let mut q = Vec::new();
    for i in 0..5 {
        let rod = Rod::to_pivot(&[2 * i, 2 * i + 1], &[i as f64, 0.0], 3.0).expect("a rod");
        cradle = cradle.with_equality("rod", rod).expect("a constraint");
        q.extend([i as f64, -3.0]);
    }
    for i in 1..5 {
        let (a, b) = (2 * (i - 1), 2 * i);
        let gap = SphereGap::between_balls(&[a, a + 1], &[b, b + 1], 0.5, 0.5).expect("a gap");
        cradle = cradle.with_inequality("balls", gap).expect("a contact");
    }
    let mut p = vec![0.0; 10];
    p[0] = 1.0;
    run(c, "cradle 5 with rods", &cradle, &q, &p);
}

fn cones(c: &mut Criterion) {
    for contacts in [10, 30] {
        let mut rng = Pcg64::seed_from_u64(contacts as u64);
        let n = contacts;
        let starts: Vec<usize> = (0..=contacts).map(|i| i * n).collect();
        let columns: Vec<usize> = (0..contacts * n).map(|i| i % n).collect();
        // Normals within a half-space, so that a separating direction exists.
        let values: Vec<f64> = (0..contacts * n)
            .map(|i| rng.random_range(-1.0..1.0) + if i % n == 0 { 1.0 } else { 0.0 })
            .collect();
        let rows = ContactRows::new(n, &starts, &columns, &values).expect("rows");
        let metric = Metric::diagonal(&vec![1.0; n]).expect("a metric");
        let all: Vec<usize> = (0..contacts).collect();
        let mut kernel = Kernel::new(n, contacts, ContactTolerance::default());
        c.bench_function(&format!("random cone {contacts}"), |b| {
            b.iter_batched(
                || (0..n).map(|_| rng.random_range(-1.0..1.0)).collect::<Vec<f64>>(),
                |mut p| kernel.reflect(&ImpactLaw::Reflection, &metric, rows, &all, &mut p),
                BatchSize::SmallInput,
            );
        });
    }
}

criterion_group!(benches, systems, cones);
criterion_main!(benches);
