//! Saddle-point solves against the equations themselves, over ranks, patterns and both paths.

mod common;

use common::{distance, max_abs, multiply, normal, rng, transpose};
use nsm_solvers::kkt::{Kkt, KktPath, KktPattern};
use nsm_solvers::small::qr::PivotedQr;
use nsm_solvers::{LinearError, Method};
use rand::RngExt;
use rand_pcg::Pcg64Mcg;

const PATHS: [KktPath; 2] = [KktPath::Schur, KktPath::Full];

/// A saddle-point problem with dense copies of its parts.
struct Problem {
    n: usize,
    m: usize,
    block: Vec<(usize, usize)>,
    gradients: Vec<(usize, usize)>,
    symmetric: bool,
    a: Vec<f64>,
    g: Vec<f64>,
    g_lower: Vec<f64>,
    c: Vec<f64>,
}

impl Problem {
    fn pattern(&self) -> KktPattern<'_> {
        KktPattern {
            unknowns: self.n,
            rows: self.m,
            block: &self.block,
            gradients: &self.gradients,
            symmetric: self.symmetric,
        }
    }

    fn dense(
        &self,
        entries: &[(usize, usize)],
        values: &[f64],
        rows: usize,
        mirror: bool,
    ) -> Vec<f64> {
        let mut d = vec![0.0; rows * self.n];
        for (&(i, j), v) in entries.iter().zip(values) {
            d[i * self.n + j] += v;
            if mirror && i != j {
                d[j * self.n + i] += v;
            }
        }
        d
    }

    fn dense_g(&self) -> Vec<f64> {
        self.dense(&self.gradients, &self.g, self.m, false)
    }

    /// Residuals of both equations, row by row.
    fn residual(&self, f: &[f64], b: &[f64], x: &[f64], lambda: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let a = self.dense(&self.block, &self.a, self.n, self.symmetric);
        let g_lower = self.dense(&self.gradients, &self.g_lower, self.m, false);
        let ax = multiply(self.n, self.n, &a, x);
        let force = multiply(self.n, self.m, &transpose(self.m, self.n, &self.dense_g()), lambda);
        let gx = multiply(self.m, self.n, &g_lower, x);
        let upper = (0..self.n).map(|i| f[i] - ax[i] - force[i]).collect();
        let lower = (0..self.m).map(|i| b[i] - gx[i] + self.c[i] * lambda[i]).collect();
        (upper, lower)
    }

    /// A right-hand side that the redundant rows agree with, and one for f.
    fn consistent(&self, rng: &mut Pcg64Mcg) -> (Vec<f64>, Vec<f64>) {
        let (x, lambda) = (normal(rng, self.n), normal(rng, self.m));
        let (f, b) = self.residual(&vec![0.0; self.n], &vec![0.0; self.m], &x, &lambda);
        (f.iter().map(|v| -v).collect(), b.iter().map(|v| -v).collect())
    }
}

/// Bodies with blocks of size `s` (mass matrices), `m` rows that touch `touch` coordinates each.
fn random(
    rng: &mut Pcg64Mcg,
    bodies: usize,
    s: usize,
    m: usize,
    touch: usize,
    symmetric: bool,
) -> Problem {
    let n = bodies * s;
    let mut block = Vec::new();
    for body in 0..bodies {
        for i in 0..s {
            for j in 0..s {
                if !symmetric || j <= i {
                    block.push((body * s + i, body * s + j));
                }
            }
        }
    }
    let a = block
        .iter()
        .map(|&(i, j)| {
            if i == j {
                3.0 * s as f64 + rng.random_range(0.0..2.0)
            } else {
                rng.random_range(-1.0..1.0)
            }
        })
        .collect();
    let gradients: Vec<(usize, usize)> = (0..m)
        .flat_map(|row| (0..touch).map(move |t| (row, t)))
        .map(|(row, _)| (row, rng.random_range(0..n)))
        .collect();
    let g = normal(rng, gradients.len());
    let g_lower = if symmetric {
        g.clone()
    } else {
        g.iter().map(|v| v + rng.random_range(-0.1..0.1)).collect()
    };
    Problem { n, m, block, gradients, symmetric, a, g, g_lower, c: vec![0.0; m] }
}

/// The planar pendulum chain: `links` unit masses, link `i` joins bodies `i - 1` and `i`.
fn chain(rng: &mut Pcg64Mcg, links: usize, symmetric: bool) -> Problem {
    let (n, m) = (2 * links, links);
    let mut gradients = Vec::new();
    let mut g = Vec::new();
    for i in 0..m {
        let angle: f64 = rng.random_range(-1.5..1.5);
        let d = [angle.cos(), angle.sin()];
        for k in 0..2 {
            if i > 0 {
                gradients.push((i, 2 * (i - 1) + k));
                g.push(-d[k]);
            }
            gradients.push((i, 2 * i + k));
            g.push(d[k]);
        }
    }
    let g_lower = if symmetric {
        g.clone()
    } else {
        g.iter().map(|v| v + rng.random_range(-1e-2..1e-2)).collect()
    };
    let a = (0..n).map(|_| rng.random_range(0.5..2.0)).collect();
    Problem {
        n,
        m,
        block: (0..n).map(|i| (i, i)).collect(),
        gradients,
        symmetric,
        a,
        g,
        g_lower,
        c: vec![0.0; m],
    }
}

/// Appends `count` rows that are combinations of two earlier ones, in G and in G' alike.
fn add_redundant(problem: &mut Problem, rng: &mut Pcg64Mcg, count: usize) {
    let original = problem.m;
    for _ in 0..count {
        let (first, second) = (rng.random_range(0..original), rng.random_range(0..original));
        let (alpha, beta) = (
            rng.random_range(0.5..2.0),
            if first == second { 0.0 } else { rng.random_range(-2.0..2.0) },
        );
        for e in 0..problem.gradients.len() {
            let (row, k) = problem.gradients[e];
            if row >= original {
                continue;
            }
            for (source, weight) in [(first, alpha), (second, beta)] {
                if row == source && weight != 0.0 {
                    problem.gradients.push((problem.m, k));
                    problem.g.push(weight * problem.g[e]);
                    problem.g_lower.push(weight * problem.g_lower[e]);
                }
            }
        }
        problem.m += 1;
        problem.c.push(0.0);
    }
}

fn solve(problem: &Problem, path: KktPath, f: &[f64], b: &[f64]) -> (Kkt, Vec<f64>, Vec<f64>, f64) {
    let mut kkt = Kkt::with_path(&problem.pattern(), path).unwrap();
    kkt.set_block(&problem.a).unwrap();
    kkt.factorise(&problem.g, &problem.g_lower, &problem.c).unwrap();
    let (mut x, mut lambda) = (vec![0.0; problem.n], vec![0.0; problem.m]);
    let report = kkt.solve_refined(f, b, &mut x, &mut lambda, 3).unwrap();
    (kkt, x, lambda, report.residual)
}

#[test]
fn regular_systems_by_both_paths() {
    let mut rng = rng(51);
    for (bodies, s, m, touch) in
        [(1, 1, 1, 1), (3, 1, 2, 2), (4, 3, 5, 6), (20, 2, 12, 4), (10, 6, 20, 12), (40, 1, 30, 5)]
    {
        for symmetric in [true, false] {
            for compliant in [false, true] {
                let mut problem = random(&mut rng, bodies, s, m, touch, symmetric);
                if compliant {
                    problem.c.iter_mut().for_each(|c| *c = rng.random_range(0.1..1.0));
                }
                let (f, b) = (normal(&mut rng, problem.n), normal(&mut rng, m));
                let mut solutions = Vec::new();
                for path in PATHS {
                    let (kkt, x, lambda, residual) = solve(&problem, path, &f, &b);
                    assert_eq!(kkt.path(), path);
                    assert!(kkt.redundant().is_empty() && kkt.rank() == m);
                    let (upper, lower) = problem.residual(&f, &b, &x, &lambda);
                    let scale = 1.0 + max_abs(&x).max(max_abs(&lambda));
                    assert!(
                        max_abs(&upper) < 1e-12 * scale && max_abs(&lower) < 1e-12 * scale,
                        "{path:?}"
                    );
                    assert!(residual < 1e-10 * scale, "{path:?} {residual:e}");
                    solutions.push((x, lambda));
                }
                let scale = 1.0 + max_abs(&solutions[0].1);
                assert!(distance(&solutions[0].0, &solutions[1].0) < 1e-9 * scale);
                assert!(distance(&solutions[0].1, &solutions[1].1) < 1e-9 * scale);
            }
        }
    }
}

#[test]
fn redundant_rows_are_named_and_share_the_load() {
    let mut rng = rng(52);
    for (links, extra) in [(1, 1), (3, 2), (8, 5), (30, 10), (100, 40), (400, 50)] {
        for symmetric in [true, false] {
            let mut problem = chain(&mut rng, links, symmetric);
            add_redundant(&mut problem, &mut rng, extra);
            let (f, b) = problem.consistent(&mut rng);
            for path in PATHS {
                let (kkt, x, lambda, _) = solve(&problem, path, &f, &b);
                assert_eq!(kkt.rank(), links, "{path:?} {links} {symmetric}");
                assert_eq!(kkt.redundant().len(), extra);
                let (upper, lower) = problem.residual(&f, &b, &x, &lambda);
                let scale = 1.0 + max_abs(&x).max(max_abs(&lambda));
                assert!(max_abs(&upper) < 1e-9 * scale, "{path:?} {links}: {:e}", max_abs(&upper));
                assert!(max_abs(&lower) < 1e-9 * scale, "{path:?} {links}: {:e}", max_abs(&lower));
                // Minimum norm: λ lies in the range of G.
                if links <= 30 {
                    let (n, m) = (problem.n, problem.m);
                    let mut columns = PivotedQr::new(n, m);
                    let rank =
                        columns.factor(n, m, &transpose(m, n, &problem.dense_g()), 1e-10).unwrap();
                    let mut z = vec![0.0; (m - rank) * m];
                    columns.null_space(&mut z).unwrap();
                    assert!(max_abs(&multiply(m - rank, m, &z, &lambda)) < 1e-9 * scale);
                }
            }
        }
    }
}

#[test]
fn a_displacement_is_the_solution_without_forces() {
    let mut rng = rng(54);
    for redundant in [0, 4] {
        for symmetric in [true, false] {
            // Point masses, and bodies with blocks.
            let mut points = chain(&mut rng, 12, symmetric);
            let mut bodies = random(&mut rng, 8, 3, 10, 6, symmetric);
            for problem in [&mut points, &mut bodies] {
                add_redundant(problem, &mut rng, redundant);
                let zero = vec![0.0; problem.n];
                let (_, b) = problem.consistent(&mut rng);
                for path in PATHS {
                    let (mut kkt, ..) = solve(problem, path, &zero, &b);
                    let (mut x, mut lambda) = (vec![0.0; problem.n], vec![0.0; problem.m]);
                    let (mut dx, mut dl) = (vec![f64::NAN; problem.n], vec![f64::NAN; problem.m]);
                    kkt.solve(&zero, &b, &mut x, &mut lambda).unwrap();
                    kkt.displace(&b, &mut dx, &mut dl).unwrap();
                    let scale = 1e-13 * (1.0 + max_abs(&x).max(max_abs(&lambda)));
                    assert!(distance(&x, &dx) <= scale && distance(&lambda, &dl) <= scale);
                }
            }
        }
    }
}

#[test]
fn inconsistent_redundant_rows_are_reported() {
    let gradients = [(0, 0), (1, 0)];
    let pattern =
        KktPattern { unknowns: 1, rows: 2, block: &[], gradients: &gradients, symmetric: true };
    for path in PATHS {
        let mut kkt = Kkt::with_path(&pattern, path).unwrap();
        kkt.set_block(&[1.0]).unwrap();
        kkt.factorise(&[1.0, 1.0], &[], &[]).unwrap();
        let (mut x, mut lambda) = ([0.0], [0.0; 2]);
        let report = kkt.solve_refined(&[0.0], &[1.0, 1.5], &mut x, &mut lambda, 2).unwrap();
        assert!((report.inconsistency - 0.5).abs() < 1e-14, "{report:?}");
        assert!(report.residual < 1e-14);
        assert_eq!(kkt.redundant().len(), 1);
    }
}

#[test]
fn chains_are_banded_and_a_change_of_rank_is_followed() {
    let mut rng = rng(53);
    let problem = chain(&mut rng, 200, false);
    let mut kkt = Kkt::new(&problem.pattern()).unwrap();
    assert_eq!(kkt.path(), KktPath::Schur);
    assert_eq!(kkt.linear_system().method(), Method::Banded);
    assert_eq!(kkt.linear_system().half_bandwidths(), Some((1, 1)));
    kkt.set_block(&problem.a).unwrap();
    // Link 7 vanishes for one factorisation, and comes back.
    let mut g = problem.g.clone();
    for (v, _) in g.iter_mut().zip(&problem.gradients).filter(|(_, e)| e.0 == 7) {
        *v = 0.0;
    }
    for (values, rank) in [(&problem.g, 200), (&g, 199), (&problem.g, 200)] {
        kkt.factorise(values, &[], &[]).unwrap();
        assert_eq!(kkt.rank(), rank);
        assert_eq!(kkt.redundant(), if rank == 199 { &[7][..] } else { &[] });
    }
}

#[test]
fn a_singular_block_is_fine_as_a_whole_if_constraints_make_up_for_it() {
    // Mass zero in the first coordinate, which is prescribed.
    let gradients = [(0, 0)];
    let pattern =
        KktPattern { unknowns: 2, rows: 1, block: &[], gradients: &gradients, symmetric: false };
    let mut kkt = Kkt::with_path(&pattern, KktPath::Full).unwrap();
    kkt.set_block(&[0.0, 2.0]).unwrap();
    kkt.factorise(&[1.0], &[], &[]).unwrap();
    let (mut x, mut lambda) = ([0.0; 2], [0.0]);
    kkt.solve(&[3.0, 4.0], &[5.0], &mut x, &mut lambda).unwrap();
    assert_eq!((x, lambda), ([5.0, 2.0], [3.0]));
    let mut schur = Kkt::with_path(&pattern, KktPath::Schur).unwrap();
    assert!(matches!(schur.set_block(&[0.0, 2.0]), Err(LinearError::Singular { pivot: 0, .. })));
}

#[test]
fn row_scaling_changes_multipliers_only() {
    let mut rng = rng(54);
    let problem = chain(&mut rng, 20, false);
    let (f, b) = (normal(&mut rng, problem.n), normal(&mut rng, problem.m));
    let (_, x, lambda, _) = solve(&problem, KktPath::Schur, &f, &b);
    let scales: Vec<f64> =
        (0..problem.m).map(|_| 10.0_f64.powf(rng.random_range(-6.0..6.0))).collect();
    let mut scaled = chain(&mut common::rng(0), 20, false);
    scaled.a.copy_from_slice(&problem.a);
    for (e, &(row, _)) in problem.gradients.iter().enumerate() {
        scaled.g[e] = problem.g[e] * scales[row];
        scaled.g_lower[e] = problem.g_lower[e] * scales[row];
    }
    let b: Vec<f64> = b.iter().zip(&scales).map(|(b, s)| b * s).collect();
    for path in PATHS {
        let (_, y, μ, _) = solve(&scaled, path, &f, &b);
        assert!(distance(&x, &y) < 1e-10 * max_abs(&x), "{path:?}");
        let unscaled: Vec<f64> = μ.iter().zip(&scales).map(|(m, s)| m * s).collect();
        assert!(distance(&lambda, &unscaled) < 1e-10 * max_abs(&lambda), "{path:?}");
    }
}

#[test]
fn bad_input_is_rejected() {
    let pattern =
        KktPattern { unknowns: 2, rows: 1, block: &[], gradients: &[(0, 2)], symmetric: true };
    assert!(matches!(Kkt::new(&pattern), Err(LinearError::Index { index: 2, bound: 2, .. })));
    let pattern = KktPattern { gradients: &[(1, 0)], ..pattern };
    assert!(matches!(Kkt::new(&pattern), Err(LinearError::Index { index: 1, bound: 1, .. })));
    let pattern = KktPattern { gradients: &[(0, 0), (0, 1)], ..pattern };
    for path in PATHS {
        let mut kkt = Kkt::with_path(&pattern, path).unwrap();
        assert!(matches!(kkt.set_block(&[1.0]), Err(LinearError::Size { .. })));
        assert!(kkt.set_block(&[1.0, f64::NAN]).is_err());
        kkt.set_block(&[1.0, 1.0]).unwrap();
        assert!(matches!(kkt.factorise(&[1.0], &[], &[]), Err(LinearError::Size { .. })));
        assert!(matches!(kkt.factorise(&[1.0, 1.0], &[1.0], &[]), Err(LinearError::Size { .. })));
        assert!(matches!(
            kkt.factorise(&[1.0, 1.0], &[], &[0.0; 2]),
            Err(LinearError::Size { .. })
        ));
        assert!(kkt.factorise(&[1.0, f64::NAN], &[], &[]).is_err());
        let unusable = kkt.solve(&[0.0; 2], &[0.0], &mut [0.0; 2], &mut [0.0]);
        assert_eq!(unusable, Err(LinearError::NotFactorised));
    }
    // No constraints at all.
    let free = KktPattern { unknowns: 2, rows: 0, block: &[], gradients: &[], symmetric: true };
    let mut kkt = Kkt::new(&free).unwrap();
    kkt.set_block(&[2.0, 4.0]).unwrap();
    kkt.factorise(&[], &[], &[]).unwrap();
    let mut x = [0.0; 2];
    kkt.solve(&[2.0, 4.0], &[], &mut x, &mut []).unwrap();
    assert_eq!(x, [1.0, 1.0]);
}
