//! The 17 problems of the Siconos test suite, each with the truth about its solvability.
//!
//! The oracle is independent of the library: all complementary bases of the small ones are tried
//! here by Gaussian elimination.

use nsm_solvers::lcp::{Matrix, Method, solve, solve_with};

struct Problem {
    n: usize,
    m: Vec<f64>,
    q: Vec<f64>,
}

fn read(name: &str) -> Option<Problem> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/lcp");
    let text = std::fs::read_to_string(format!("{folder}/{name}.dat")).ok()?;
    let mut tokens = text.split_whitespace();
    let header: Vec<usize> = tokens.by_ref().take(6).map_while(|t| t.parse().ok()).collect();
    let n = header[0];
    assert_eq!(header, [n, 0, n, n, n, n], "{name}: order, dense storage, shape");
    let mut numbers = tokens.map_while(|t| t.parse::<f64>().ok());
    let columns: Vec<f64> = numbers.by_ref().take(n * n).collect();
    let q: Vec<f64> = numbers.take(n).collect();
    assert_eq!((columns.len(), q.len()), (n * n, n), "{name}");
    let m = (0..n * n).map(|k| columns[k % n * n + k / n]).collect();
    Some(Problem { n, m, q })
}

/// Name and whether a solution exists.
const PROBLEMS: [(&str, bool); 17] = [
    ("lcp_CPS_1", true),
    ("lcp_CPS_2", true),
    ("lcp_CPS_3", true),
    ("lcp_CPS_4", true),
    ("lcp_CPS_4bis", true),
    ("lcp_CPS_5", true),
    ("lcp_Pang_isolated_sol", true),
    // Its first row reads w_0 = -z_1 - z_2 - 1e-4 < 0.
    ("lcp_Pang_isolated_sol_perturbed", false),
    ("lcp_deudeu", true),
    ("lcp_enum_fails", true),
    ("lcp_exp_murty", true),
    ("lcp_exp_murty2", true),
    ("lcp_inf_sol_perturbed", true),
    ("lcp_mmc", true),
    ("lcp_ortiz", true),
    ("lcp_tobenna", true),
    ("lcp_trivial", true),
];

/// Solves the basis `set` by Gauss–Jordan elimination with complete checks.
fn basic_solution(p: &Problem, set: u32) -> Option<Vec<f64>> {
    let n = p.n;
    let rows: Vec<usize> = (0..n).filter(|&i| set >> i & 1 == 1).collect();
    let k = rows.len();
    let mut a: Vec<Vec<f64>> = rows
        .iter()
        .map(|&i| {
            let mut row: Vec<f64> = rows.iter().map(|&j| p.m[i * n + j]).collect();
            row.push(-p.q[i]);
            row
        })
        .collect();
    for c in 0..k {
        let best = (c..k).max_by(|&x, &y| a[x][c].abs().total_cmp(&a[y][c].abs()))?;
        a.swap(c, best);
        if a[c][c].abs() < 1e-12 {
            return None;
        }
        for r in 0..k {
            if r != c {
                let factor = a[r][c] / a[c][c];
                for t in c..=k {
                    a[r][t] -= factor * a[c][t];
                }
            }
        }
    }
    let mut z = vec![0.0; n];
    for c in 0..k {
        z[rows[c]] = a[c][k] / a[c][c];
    }
    Some(z)
}

fn residual(p: &Problem, z: &[f64]) -> f64 {
    let scale = p.q.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    (0..p.n)
        .map(|i| {
            let w = p.q[i] + (0..p.n).map(|j| p.m[i * p.n + j] * z[j]).sum::<f64>();
            z[i].min(w).abs() / scale
        })
        .fold(0.0, f64::max)
}

#[test]
fn all_external_problems() {
    let mut solved = 0;
    for (name, solvable) in PROBLEMS {
        let Some(p) = read(name) else {
            eprintln!(
                "SKIPPED: ../shared/data/lcp is absent, none of the 17 external problems ran"
            );
            return;
        };
        let matrix = Matrix::dense(p.n, &p.m).unwrap();
        match solve(matrix, &p.q) {
            Ok(solution) => {
                let r = residual(&p, &solution.z);
                eprintln!("{name}: {} (residual {r:.1e})", solution.report.method);
                assert!(solvable, "{name} has no solution");
                assert!(r < 1e-12, "{name}: {r:e} {:?}", solution.report);
                assert!(solution.z.iter().all(|&z| z >= 0.0));
                solved += 1;
            }
            Err(failure) => {
                eprintln!("{name}: {failure}");
                assert!(!solvable, "{name}: {failure}");
                assert!(failure.error.proves_no_solution(), "{failure}");
                assert!(failure.best.is_some());
            }
        }
    }
    assert_eq!(solved, 16);
}

#[test]
fn solvability_agrees_with_all_complementary_bases() {
    for (name, solvable) in PROBLEMS {
        let Some(p) = read(name) else {
            eprintln!("SKIPPED: ../shared/data/lcp is absent");
            return;
        };
        if p.n > 9 {
            continue;
        }
        let found = (0..1_u32 << p.n)
            .filter_map(|set| basic_solution(&p, set))
            .any(|z| residual(&p, &z) < 1e-9);
        assert_eq!(found, solvable, "{name}");
    }
}

/// Friction of forty rows: Newton's methods run for hundreds of factorisations in vain, Lemke's path of 159 pivots ends.
#[test]
fn where_newton_runs_in_vain_the_path_is_taken_first() {
    let Some(p) = read("lcp_tobenna") else {
        eprintln!("SKIPPED: ../shared/data/lcp is absent");
        return;
    };
    let matrix = Matrix::dense(p.n, &p.m).unwrap();
    assert!(solve_with(Method::NewtonFischerBurmeister, matrix, &p.q).is_err());
    let solution = solve(matrix, &p.q).unwrap();
    assert_eq!(solution.report.method, Method::Lemke);
    assert!(residual(&p, &solution.z) < 1e-12);
}
