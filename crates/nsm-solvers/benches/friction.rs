//! Friction problems: one contact, a pile with a warm start, long rows, and the problems of the Siconos suite if they are there.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use nsm_solvers::friction::{
    FrictionOptions, FrictionProblem, FrictionSolver, solve, solve_contact,
};

type Rows = Vec<Vec<(usize, f64)>>;

/// A row of balls on a floor that touch each other, pushed along it: two contacts a ball.
fn row(balls: usize, push: f64) -> (Rows, Vec<f64>, Vec<f64>, Vec<f64>) {
    let (mut rows, mut friction) = (Rows::new(), Vec::new());
    let mut v = vec![0.0; 6 * balls];
    let inverse = (0..balls).flat_map(|_| [1.0, 1.0, 1.0, 10.0, 10.0, 10.0]).collect();
    for i in 0..balls {
        v[6 * i] = push * (1.0 + (i as f64).sin());
        v[6 * i + 2] = -0.1;
        // On the floor: normal z, tangents x and y at the lowest point.
        rows.push(vec![(6 * i + 2, 1.0)]);
        rows.push(vec![(6 * i, 1.0), (6 * i + 4, -0.5)]);
        rows.push(vec![(6 * i + 1, 1.0), (6 * i + 3, 0.5)]);
        friction.push(0.3);
        if i > 0 {
            let (a, b) = (6 * (i - 1), 6 * i);
            rows.push(vec![(b, 1.0), (a, -1.0)]);
            rows.push(vec![(b + 1, 1.0), (b + 5, -0.5), (a + 1, -1.0), (a + 5, -0.5)]);
            rows.push(vec![(b + 2, 1.0), (b + 4, 0.5), (a + 2, -1.0), (a + 4, 0.5)]);
            friction.push(0.3);
        }
    }
    let q = rows.iter().map(|row| row.iter().map(|&(c, x)| x * v[c]).sum()).collect();
    (rows, inverse, q, friction)
}

fn one(c: &mut Criterion) {
    let w = [2.5, 1.5, 0.2, 1.5, 2.5, 0.1, 0.2, 0.1, 1.9];
    let mut group = c.benchmark_group("friction one contact");
    for (name, q) in [("sticks", [-1.0, -0.1, 0.05]), ("slips", [-1.0, 0.9, 0.4])] {
        group.bench_function(name, |b| b.iter(|| solve_contact(black_box(&w), &q, 0.5)));
    }
    group.finish();
}

fn pile(c: &mut Criterion) {
    let options = FrictionOptions { tolerance: 1e-9, ..FrictionOptions::default() };
    let mut group = c.benchmark_group("friction row of balls");
    group.sample_size(10);
    for balls in [13, 50, 200, 800] {
        let (rows, inverse, mut q, friction) = row(balls, 0.02);
        let problem = FrictionProblem::from_factors(&rows, &inverse, &q, &friction).unwrap();
        let mut warm = vec![0.0; q.len()];
        let _ = solve(&problem, &mut warm, &options).unwrap();
        // The next step has nearly the same velocities.
        q.iter_mut().enumerate().for_each(|(k, q)| *q *= 1.0 + 0.01 * (k as f64).cos());
        let problem = FrictionProblem::from_factors(&rows, &inverse, &q, &friction).unwrap();
        let mut solver = FrictionSolver::default();
        let contacts = friction.len();
        group.bench_function(BenchmarkId::new("warm start", contacts), |b| {
            b.iter(|| {
                let mut r = warm.clone();
                solver.solve(&problem, black_box(&mut r), &options).unwrap()
            });
        });
    }
    group.finish();
}

fn external(c: &mut Criterion) {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/fc3d");
    let Ok(files) = std::fs::read_dir(root) else { return };
    let mut problems = Vec::new();
    for file in files.flatten() {
        let Ok(text) = std::fs::read_to_string(file.path()) else { continue };
        if file.path().extension().is_none_or(|e| e != "txt") {
            continue;
        }
        let numbers: Vec<f64> = text.split_whitespace().map(|w| w.parse().unwrap()).collect();
        let index = |x: f64| format!("{x:.0}").parse::<usize>().unwrap();
        let (n, nonzero) = (index(numbers[0]), index(numbers[1]));
        let (friction, rest) = numbers[2..].split_at(n);
        let (q, rest) = rest.split_at(3 * n);
        let mut entries = Vec::new();
        for e in rest.chunks_exact(3).take(nonzero) {
            entries.push((index(e[0]), index(e[1]), 0.5 * e[2]));
            entries.push((index(e[1]), index(e[0]), 0.5 * e[2]));
        }
        problems.push(FrictionProblem::sparse(&entries, q, friction).unwrap());
    }
    let options = FrictionOptions { tolerance: 1e-10, ..FrictionOptions::default() };
    let mut group = c.benchmark_group("friction external");
    group.sample_size(10);
    group.bench_function(BenchmarkId::new("all", problems.len()), |b| {
        b.iter(|| {
            for problem in &problems {
                let mut r = vec![0.0; 3 * problem.len()];
                let _ = solve(problem, black_box(&mut r), &options);
            }
        });
    });
    group.finish();
}

criterion_group!(benches, one, pile, external);
criterion_main!(benches);
