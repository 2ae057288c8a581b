//! Complementarity problems: a group per family, a row per size, a column per method; and the
//! contact kernels.
//!
//! Every figure is the mean over several seeded problems of the case.
#![allow(missing_docs)]

#[path = "../tests/common/families.rs"]
mod families;

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use families::{Contacts, DenseProblem, chain, pile, psd, rng, spd, stack};
use nsm_solvers::lcp::{LcpWorkspace, Matrix, Method, solve};
use nsm_solvers::least_squares::{FactoredNnls, Factors, GramNnls, TridiagonalNnls, Weight};

struct Case {
    dense: DenseProblem,
    col_ptr: Vec<usize>,
    row_idx: Vec<usize>,
    values: Vec<f64>,
    sparse: bool,
}

impl Case {
    fn new(dense: DenseProblem, sparse: bool) -> Self {
        let (mut col_ptr, mut row_idx, mut values) = (vec![0], vec![], vec![]);
        if sparse {
            for j in 0..dense.n {
                for i in 0..dense.n {
                    let v = dense.m[j * dense.n + i];
                    if v != 0.0 {
                        row_idx.push(i);
                        values.push(v);
                    }
                }
                col_ptr.push(values.len());
            }
        }
        Self { dense, col_ptr, row_idx, values, sparse }
    }

    fn matrix(&self) -> Matrix<'_> {
        let n = self.dense.n;
        if self.sparse {
            Matrix::sparse(n, &self.col_ptr, &self.row_idx, &self.values).expect("valid pattern")
        } else {
            Matrix::dense(n, &self.dense.m).expect("square")
        }
    }
}

fn run(
    c: &mut Criterion,
    group: &str,
    n: usize,
    seeds: u64,
    methods: &[(&str, Method)],
    make: impl Fn(u64) -> Case,
) {
    let mut group = c.benchmark_group(group);
    group.measurement_time(Duration::from_secs(2)).warm_up_time(Duration::from_millis(300));
    group.sample_size(if n >= 1000 { 10 } else { 20 });
    let cases: Vec<Case> = (0..seeds).map(make).collect();
    let (mut z, mut w) = (vec![0.0; n], vec![0.0; n]);
    let mut workspace = LcpWorkspace::new(n);
    let mut turn = 0;
    group.bench_function(BenchmarkId::new("default", n), |b| {
        b.iter(|| {
            turn = (turn + 1) % cases.len();
            let case = &cases[turn];
            let report = workspace.solve(case.matrix(), &case.dense.q, &mut z, &mut w);
            black_box(report.expect("every family is solvable").residual)
        });
    });
    for &(name, method) in methods {
        let mut workspace = LcpWorkspace::new(n);
        group.bench_function(BenchmarkId::new(name, n), |b| {
            b.iter(|| {
                turn = (turn + 1) % cases.len();
                let case = &cases[turn];
                black_box(
                    workspace
                        .solve_with(method, case.matrix(), &case.dense.q, &mut z, &mut w)
                        .is_ok(),
                )
            });
        });
    }
    group.finish();
}

const LEMKE: (&str, Method) = ("Lemke", Method::Lemke);
const BLOCK: (&str, Method) = ("block pivoting", Method::BlockPivoting);
const ACTIVE: (&str, Method) = ("active set", Method::ActiveSet);
const INTERIOR: (&str, Method) = ("interior point", Method::InteriorPoint);
const SWEEP: (&str, Method) = ("chain sweep", Method::ChainSweep);
const PGS: (&str, Method) = ("PGS", Method::ProjectedGaussSeidel);
const GRADIENT: (&str, Method) = ("accelerated gradient", Method::AcceleratedGradient);
const NEWTON: (&str, Method) = ("Newton-FB", Method::NewtonFischerBurmeister);
const NEWTON_MIN: (&str, Method) = ("Newton-min", Method::NewtonMin);

fn families(c: &mut Criterion) {
    let all = [BLOCK, ACTIVE, INTERIOR, LEMKE, NEWTON, NEWTON_MIN, PGS, GRADIENT];
    for n in [10, 50, 200] {
        run(c, "spd", n, 10, &all, |seed| Case::new(spd(n, seed), false));
    }
    let large = [BLOCK, INTERIOR, NEWTON, NEWTON_MIN];
    run(c, "spd", 1000, 2, &large, |seed| Case::new(spd(1000, seed), false));

    let contacts = |p: Contacts| Case::new(p.dense(), true);
    let chain_methods: [&[(&str, Method)]; 2] = [&[SWEEP, INTERIOR, ACTIVE], &[SWEEP, INTERIOR]];
    for (n, methods) in [200, 2000].into_iter().zip(chain_methods) {
        run(c, "chain", n, 3, methods, |seed| contacts(chain(n, seed)));
    }
    for n in [48, 200] {
        run(c, "stack", n, 5, &[INTERIOR, ACTIVE], |seed| contacts(stack(n, seed)));
    }
    for n in [500, 1000, 2000] {
        run(c, "stack", n, 2, &[INTERIOR], |seed| contacts(stack(n, seed)));
    }
    run(c, "pile", 200, 5, &[INTERIOR, ACTIVE, LEMKE, NEWTON], |s| contacts(pile(200, s)));
    run(c, "pile", 1000, 2, &[INTERIOR, ACTIVE], |seed| contacts(pile(1000, seed)));
}

/// A problem that is solved once: memory and all are new in every call.
fn first_call(c: &mut Criterion) {
    let mut group = c.benchmark_group("first call");
    group.measurement_time(Duration::from_secs(1)).warm_up_time(Duration::from_millis(200));
    let mut cases: Vec<(&str, usize, Vec<DenseProblem>)> = vec![
        ("spd", 10, (0..10).map(|seed| spd(10, seed)).collect()),
        ("spd", 50, (0..10).map(|seed| spd(50, seed)).collect()),
        ("pile", 50, (0..10).map(|seed| pile(50, seed).dense()).collect()),
    ];
    match external("lcp_tobenna") {
        Some(problem) => cases.push(("tobenna", problem.n, vec![problem])),
        None => eprintln!("SKIPPED: ../shared/data/lcp is absent, tobenna did not run"),
    }
    for (name, n, problems) in cases {
        let mut turn = 0;
        group.bench_function(format!("{name} {n}"), |b| {
            b.iter(|| {
                turn = (turn + 1) % problems.len();
                let p = &problems[turn];
                let matrix = Matrix::dense(n, &p.m).expect("square");
                black_box(solve(matrix, &p.q).expect("solvable").report.residual)
            });
        });
    }
    group.finish();
}

/// A problem of the Siconos suite: order and shape in six integers, the columns, $q$.
fn external(name: &str) -> Option<DenseProblem> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/lcp");
    let text = std::fs::read_to_string(format!("{folder}/{name}.dat")).ok()?;
    let n: usize = text.split_whitespace().next()?.parse().ok()?;
    let mut numbers = text.split_whitespace().skip(6).map_while(|t| t.parse::<f64>().ok());
    let columns: Vec<f64> = numbers.by_ref().take(n * n).collect();
    let q: Vec<f64> = numbers.take(n).collect();
    let m = (0..n * n).map(|k| columns[k % n * n + k / n]).collect();
    (q.len() == n).then_some(DenseProblem { n, m, q })
}

fn kernels(c: &mut Criterion) {
    let mut group = c.benchmark_group("contact kernels");
    group.measurement_time(Duration::from_secs(1)).warm_up_time(Duration::from_millis(200));
    let mut rng = rng(7);
    for n in [1, 2, 3, 5, 8, 16, 32] {
        let problems: Vec<DenseProblem> = (0..32).map(|_| psd(n, n + 1, &mut rng)).collect();
        let mut kernel = GramNnls::new(n);
        let mut lambda = vec![0.0; n];
        let mut turn = 0;
        group.bench_function(BenchmarkId::new("Gram, cold", n), |b| {
            b.iter(|| {
                turn = (turn + 1) % problems.len();
                let p = &problems[turn];
                lambda.fill(0.0);
                black_box(kernel.solve(&p.m, &p.q, &mut lambda).is_ok())
            });
        });
        let mut answers: Vec<Vec<f64>> = vec![];
        for p in &problems {
            lambda.fill(0.0);
            let _ = kernel.solve(&p.m, &p.q, &mut lambda);
            answers.push(lambda.clone());
        }
        group.bench_function(BenchmarkId::new("Gram, warm", n), |b| {
            b.iter(|| {
                turn = (turn + 1) % problems.len();
                let p = &problems[turn];
                lambda.copy_from_slice(&answers[turn]);
                black_box(kernel.solve(&p.m, &p.q, &mut lambda).is_ok())
            });
        });
    }
    for n in [5, 50, 500] {
        let (diagonal, off) = (vec![2.0; n], vec![-1.0; n - 1]);
        let mut q = vec![0.0; n];
        q[0] = -1.0;
        let mut kernel = TridiagonalNnls::new(n);
        let mut lambda = vec![0.0; n];
        group.bench_function(BenchmarkId::new("chain, impact wave", n), |b| {
            b.iter(|| {
                lambda.fill(0.0);
                black_box(kernel.solve(&diagonal, &off, &q, &mut lambda).is_ok())
            });
        });
    }
    for n in [8, 48, 1000] {
        let p = stack(n, 1);
        let weight = Weight::Diagonal(&p.inverse_mass);
        let factors = Factors::new(&p.row_start, &p.columns, &p.values, p.velocity.len(), weight)
            .expect("valid factors");
        let mut solver = FactoredNnls::new();
        let mut lambda = vec![0.0; n];
        group.bench_function(BenchmarkId::new("box stack from G", n), |b| {
            b.iter(|| {
                lambda.fill(0.0);
                black_box(solver.solve(&factors, &p.q, &mut lambda).is_ok())
            });
        });
    }
    group.finish();
}

criterion_group!(benches, families, first_call, kernels);
criterion_main!(benches);
