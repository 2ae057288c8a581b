//! Thousands of random problems per matrix class; the oracle is complementarity itself.

#[path = "common/families.rs"]
mod families;

use families::{DenseProblem, Rng, normal, psd, residual, rng, uniform};
use nsm_solvers::lcp::{LcpWorkspace, Matrix, Method, solve, solve_with};

/// Solves by default and checks $z \ge 0$ and the residual, relative to rounding in $Mz$.
fn check(what: &str, trial: usize, p: &DenseProblem) -> Vec<f64> {
    let solution = solve(Matrix::dense(p.n, &p.m).unwrap(), &p.q)
        .unwrap_or_else(|f| panic!("{what} #{trial} (n = {}): {:?}", p.n, f.error));
    let q_max = p.q.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    let terms = (0..p.n)
        .map(|i| (0..p.n).map(|j| (p.m[i * p.n + j] * solution.z[j]).abs()).sum::<f64>())
        .fold(0.0, f64::max);
    let bar = 1e-12_f64.max(1e-14 * terms / q_max);
    let r = residual(p, &solution.z);
    assert!(r <= bar, "{what} #{trial} (n = {}): residual {r:e}, {:?}", p.n, solution.report);
    assert!(solution.z.iter().all(|&z| z >= 0.0));
    let active: Vec<usize> = (0..p.n).filter(|&i| solution.z[i] > solution.w[i]).collect();
    assert_eq!(active, solution.active);
    solution.z
}

fn add_skew(p: &mut DenseProblem, rng: &mut Rng) {
    for j in 0..p.n {
        for i in 0..j {
            let s = normal(rng);
            p.m[j * p.n + i] += s;
            p.m[i * p.n + j] -= s;
        }
    }
}

/// $q$ such that a random complementary pair solves the problem; a third of the pairs are degenerate.
fn plant(p: &mut DenseProblem, rng: &mut Rng) {
    let n = p.n;
    let mut z = vec![0.0; n];
    let mut w = vec![0.0; n];
    for i in 0..n {
        match rand_index(rng, 3) {
            0 => z[i] = uniform(rng, 0.1, 1.0),
            1 => w[i] = uniform(rng, 0.1, 1.0),
            _ => {}
        }
    }
    for i in 0..n {
        p.q[i] = w[i] - (0..n).map(|j| p.m[i * n + j] * z[j]).sum::<f64>();
    }
}

fn rand_index(rng: &mut Rng, below: usize) -> usize {
    (0..below).find(|&k| uniform(rng, 0.0, 1.0) < 1.0 / (below - k) as f64).unwrap_or(0)
}

#[test]
fn positive_definite_not_symmetric() {
    let mut rng = rng(11);
    for trial in 0..3000 {
        let n = 1 + trial % 20;
        let mut p = psd(n, n + 2, &mut rng);
        add_skew(&mut p, &mut rng);
        p.q = (0..n).map(|_| normal(&mut rng)).collect();
        check("positive definite", trial, &p);
    }
}

#[test]
fn p_matrices_by_dominance() {
    let mut rng = rng(12);
    for trial in 0..3000 {
        let n = 1 + trial % 24;
        let mut p = DenseProblem { n, m: vec![0.0; n * n], q: vec![0.0; n] };
        for i in 0..n {
            let mut sum = 0.1;
            for j in 0..n {
                if i != j {
                    let v = normal(&mut rng);
                    p.m[i * n + j] = v;
                    sum += f64::abs(v);
                }
            }
            p.m[i * (n + 1)] = sum;
            p.q[i] = normal(&mut rng);
        }
        check("dominant", trial, &p);
    }
}

#[test]
fn semidefinite_symmetric_of_every_rank() {
    let mut rng = rng(13);
    for trial in 0..3000 {
        let n = 2 + trial % 45;
        let p = psd(n, 1 + trial % n, &mut rng);
        check("semidefinite", trial, &p);
    }
}

#[test]
fn semidefinite_not_symmetric_with_a_planted_solution() {
    let mut rng = rng(14);
    for trial in 0..2000 {
        let n = 2 + trial % 20;
        let mut p = psd(n, 1 + trial % n, &mut rng);
        add_skew(&mut p, &mut rng);
        plant(&mut p, &mut rng);
        check("monotone", trial, &p);
    }
}

#[test]
fn copositive() {
    // Non-negative entries with a positive diagonal: strictly copositive, solvable for every q.
    let mut rng = rng(15);
    for trial in 0..3000 {
        let n = 1 + trial % 20;
        let symmetric = trial % 2 == 0;
        let mut m: Vec<f64> = (0..n * n).map(|_| uniform(&mut rng, 0.0, 1.0)).collect();
        for j in 0..n {
            for i in 0..j {
                if symmetric {
                    m[j * n + i] = m[i * n + j];
                }
            }
            m[j * (n + 1)] += 0.05;
        }
        let q = (0..n).map(|_| normal(&mut rng)).collect();
        check("copositive", trial, &DenseProblem { n, m, q });
    }
}

#[test]
fn degenerate_solutions() {
    let mut rng = rng(16);
    for trial in 0..3000 {
        let n = 2 + trial % 45;
        let mut p = psd(n, n + 1, &mut rng);
        plant(&mut p, &mut rng);
        check("degenerate", trial, &p);
    }
}

#[test]
fn z_matrices() {
    // Stieltjes matrices of grids with random conductances, some of them singular.
    let mut rng = rng(17);
    for trial in 0..2000 {
        let n = 3 + trial % 40;
        let mut p = DenseProblem { n, m: vec![0.0; n * n], q: vec![0.0; n] };
        for _ in 0..2 * n {
            let (i, j) = (rand_index(&mut rng, n), rand_index(&mut rng, n));
            let c = uniform(&mut rng, 0.1, 1.0);
            if i != j {
                p.m[i * (n + 1)] += c;
                p.m[j * (n + 1)] += c;
                p.m[j * n + i] -= c;
                p.m[i * n + j] -= c;
            }
        }
        for i in 0..n {
            p.m[i * (n + 1)] += if trial % 2 == 0 { 0.01 } else { 0.0 };
        }
        plant(&mut p, &mut rng);
        check("Stieltjes", trial, &p);
    }
}

#[test]
fn methods_agree_where_the_solution_is_unique() {
    let mut rng = rng(18);
    for trial in 0..150 {
        let n = 2 + trial % 39;
        let mut p = psd(n, 2 * n + 2, &mut rng);
        for v in &mut p.m {
            *v /= n as f64;
        }
        p.q = (0..n).map(|_| normal(&mut rng)).collect();
        let matrix = Matrix::dense(n, &p.m).unwrap();
        let reference = check("unique", trial, &p);
        for method in Method::ALL {
            if method == Method::ChainSweep || (method == Method::Enumeration && n > 8) {
                continue;
            }
            let solution = solve_with(method, matrix, &p.q)
                .unwrap_or_else(|f| panic!("{method} #{trial} (n = {n}): {}", f.error));
            assert_eq!(solution.report.method, method);
            for (a, b) in solution.z.iter().zip(&reference) {
                assert!((a - b).abs() < 1e-8 * (1.0 + b), "{method} #{trial}: {a} {b}");
            }
        }
    }
}

#[test]
fn general_methods_agree_on_p_matrices() {
    let mut rng = rng(19);
    for trial in 0..200 {
        let n = 2 + trial % 30;
        let mut p = psd(n, n + 4, &mut rng);
        add_skew(&mut p, &mut rng);
        p.q = (0..n).map(|_| normal(&mut rng)).collect();
        let matrix = Matrix::dense(n, &p.m).unwrap();
        let reference = check("unique", trial, &p);
        for method in [Method::Lemke, Method::NewtonFischerBurmeister] {
            let solution = solve_with(method, matrix, &p.q)
                .unwrap_or_else(|f| panic!("{method} #{trial} (n = {n}): {}", f.error));
            for (a, b) in solution.z.iter().zip(&reference) {
                assert!((a - b).abs() < 1e-7 * (1.0 + b), "{method} #{trial}: {a} {b}");
            }
        }
    }
}

#[test]
fn row_scaling_and_permutation_do_not_change_the_solution() {
    let mut rng = rng(20);
    for trial in 0..500 {
        let n = 2 + trial % 40;
        let mut p = psd(n, n + 5, &mut rng);
        p.q = (0..n).map(|_| normal(&mut rng)).collect();
        let z = check("base", trial, &p);
        let mut scaled = p.clone();
        for i in 0..n {
            let s = 10.0_f64.powf(uniform(&mut rng, -1.5, 1.5));
            scaled.q[i] *= s;
            for j in 0..n {
                scaled.m[i * n + j] *= s;
            }
        }
        let z_scaled = check("scaled", trial, &scaled);
        let mut order: Vec<usize> = (0..n).collect();
        for k in (1..n).rev() {
            order.swap(k, rand_index(&mut rng, k + 1));
        }
        let mut permuted = p.clone();
        for j in 0..n {
            permuted.q[j] = p.q[order[j]];
            for i in 0..n {
                permuted.m[j * n + i] = p.m[order[j] * n + order[i]];
            }
        }
        let z_permuted = check("permuted", trial, &permuted);
        for i in 0..n {
            assert!((z_scaled[i] - z[i]).abs() < 1e-8 * (1.0 + z[i]), "#{trial}");
            assert!((z_permuted[i] - z[order[i]]).abs() < 1e-8 * (1.0 + z[order[i]]), "#{trial}");
        }
    }
}

#[test]
fn answers_are_the_same_bits_again() {
    let mut rng = rng(21);
    for n in [5, 20, 60, 150] {
        let p = psd(n, n / 2 + 1, &mut rng);
        let matrix = Matrix::dense(n, &p.m).unwrap();
        let mut workspace = LcpWorkspace::new(n);
        let (mut z, mut w) = (vec![0.0; n], vec![0.0; n]);
        let _ = workspace.solve(matrix, &p.q, &mut z, &mut w).unwrap();
        let first = z.clone();
        let _ = workspace.solve(matrix, &p.q, &mut z, &mut w).unwrap();
        assert_eq!(first, z);
        assert_eq!(first, solve(matrix, &p.q).unwrap().z);
    }
}
