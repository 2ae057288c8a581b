//! Small factorisations by size, chains as linear and saddle-point systems by length, tiny
//! complementarity problems, scalar roots.
#![allow(missing_docs)]

#[path = "../tests/common/mod.rs"]
mod common;

use std::hint::black_box;

use common::{gram, normal, rng};
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use nsm_solvers::dense::{DenseCholesky, DenseLu};
use nsm_solvers::kkt::{Kkt, KktPath, KktPattern};
use nsm_solvers::roots::{Bracket, RootOptions, chandrupatla, newton};
use nsm_solvers::small::{self, cholesky, lu, qr::PivotedQr};
use nsm_solvers::{LinearSystem, Method, Structure};
use rand::RngExt;

fn small_factorisations(c: &mut Criterion) {
    let mut rng = rng(1);
    for n in [1, 2, 3, 4, 6, 8, 12, 16, 24, 32] {
        let root = normal(&mut rng, n * n);
        let (a, b) = (gram(n, n, &root, 1.0), normal(&mut rng, n));
        let (mut f, mut x, mut pivots) = (a.clone(), b.clone(), vec![0; n]);
        c.bench_function(&format!("small lu factor+solve/{n}"), |bench| {
            bench.iter(|| {
                f.copy_from_slice(black_box(&a));
                x.copy_from_slice(&b);
                lu::factor(n, &mut f, &mut pivots, small::tolerance(n)).unwrap();
                lu::solve(n, &f, &pivots, &mut x).unwrap();
                x[0]
            });
        });
        c.bench_function(&format!("small cholesky factor+solve/{n}"), |bench| {
            bench.iter(|| {
                f.copy_from_slice(black_box(&a));
                x.copy_from_slice(&b);
                cholesky::factor(n, &mut f, small::tolerance(n)).unwrap();
                cholesky::solve(n, &f, &mut x).unwrap();
                x[0]
            });
        });
    }
    for (m, n) in [(2, 6), (5, 12), (12, 24)] {
        let g = normal(&mut rng, m * n);
        let mut qr = PivotedQr::new(m, n);
        c.bench_function(&format!("small pivoted qr/{m}x{n}"), |bench| {
            bench.iter(|| qr.factor(m, n, black_box(&g), 1e-12).unwrap());
        });
    }
}

fn dense_factorisations(c: &mut Criterion) {
    let mut rng = rng(2);
    for n in [33, 64, 128, 256] {
        let root = normal(&mut rng, n * n);
        let (a, b) = (gram(n, n, &root, 1.0), normal(&mut rng, n));
        let (mut lu, mut cholesky, mut x) = (DenseLu::new(n), DenseCholesky::new(n), b.clone());
        c.bench_function(&format!("dense lu factor+solve/{n}"), |bench| {
            bench.iter(|| {
                x.copy_from_slice(&b);
                lu.factor(black_box(&a)).unwrap();
                lu.solve_in_place(&mut x).unwrap();
                x[0]
            });
        });
        c.bench_function(&format!("dense cholesky factor+solve/{n}"), |bench| {
            bench.iter(|| {
                x.copy_from_slice(&b);
                cholesky.factor(black_box(&a)).unwrap();
                cholesky.solve_in_place(&mut x).unwrap();
                x[0]
            });
        });
    }
}

/// A tridiagonal system, and one with blocks of size six coupled to their neighbours.
fn chains(c: &mut Criterion) {
    let mut rng = rng(3);
    for (name, half) in [("tridiagonal", 1_usize), ("half-bandwidth 6", 6)] {
        for n in [20, 100, 1000] {
            let entries: Vec<(usize, usize)> = (0..n)
                .flat_map(|i: usize| {
                    (i.saturating_sub(half)..(i + half + 1).min(n)).map(move |j| (i, j))
                })
                .collect();
            let values: Vec<f64> = entries
                .iter()
                .map(|e| if e.0 == e.1 { 4.0 * half as f64 } else { rng.random_range(-1.0..1.0) })
                .collect();
            let b = normal(&mut rng, n);
            let mut x = b.clone();
            for method in [Method::Banded, Method::Sparse] {
                let mut system =
                    LinearSystem::with_method(n, &entries, Structure::General, method).unwrap();
                c.bench_function(&format!("{name} {method:?} factor+solve/{n}"), |bench| {
                    bench.iter(|| {
                        x.copy_from_slice(&b);
                        system.factorise(black_box(&values)).unwrap();
                        system.solve_in_place(&mut x).unwrap();
                        x[0]
                    });
                });
            }
        }
    }
}

/// The planar pendulum chain with unit masses: tridiagonal in the multipliers.
fn pendulum_chains(c: &mut Criterion) {
    let mut group = c.benchmark_group("kkt pendulum chain factor+solve");
    let mut rng = rng(4);
    for links in [5, 20, 100, 1000] {
        let mut gradients = Vec::new();
        let mut g = Vec::new();
        for i in 0..links {
            let angle: f64 = rng.random_range(-1.5..1.5);
            for (k, d) in [angle.cos(), angle.sin()].into_iter().enumerate() {
                if i > 0 {
                    gradients.push((i, 2 * (i - 1) + k));
                    g.push(-d);
                }
                gradients.push((i, 2 * i + k));
                g.push(d);
            }
        }
        let g_lower: Vec<f64> = g.iter().map(|v| v + rng.random_range(-1e-2..1e-2)).collect();
        let (f, b) = (normal(&mut rng, 2 * links), normal(&mut rng, links));
        let (mut x, mut lambda) = (vec![0.0; 2 * links], vec![0.0; links]);
        for (path, symmetric) in [
            (KktPath::Schur, false),
            (KktPath::Schur, true),
            (KktPath::Full, false),
            (KktPath::Full, true),
        ] {
            let pattern = KktPattern {
                unknowns: 2 * links,
                rows: links,
                block: &[],
                gradients: &gradients,
                symmetric,
            };
            let mut kkt = Kkt::with_path(&pattern, path).unwrap();
            kkt.set_block(&vec![1.0; 2 * links]).unwrap();
            let lower: &[f64] = if symmetric { &[] } else { &g_lower };
            let name = format!("{path:?} {}", if symmetric { "symmetric" } else { "G' ≠ G" });
            group.bench_function(BenchmarkId::new(name, links), |bench| {
                bench.iter(|| {
                    kkt.factorise(black_box(&g), lower, &[]).unwrap();
                    kkt.solve(&f, &b, &mut x, &mut lambda).unwrap();
                    x[0]
                });
            });
        }
    }
    group.finish();
}

fn roots(c: &mut Criterion) {
    let gap = |t: f64| 3e-3 - t - 4.905 * t * t;
    let bracket = Bracket::evaluate(gap, 0.0, 1e-2).unwrap();
    let options = RootOptions::default();
    c.bench_function("root of a gap to the last bit/chandrupatla", |bench| {
        bench.iter(|| chandrupatla(gap, black_box(bracket), &options).unwrap().x);
    });
    c.bench_function("root of a gap to the last bit/newton", |bench| {
        bench.iter(|| {
            newton(|t| (gap(t), -1.0 - 9.81 * t), black_box(bracket), &options).unwrap().x
        });
    });
}

criterion_group!(
    benches,
    small_factorisations,
    dense_factorisations,
    chains,
    pendulum_chains,
    roots
);
criterion_main!(benches);
