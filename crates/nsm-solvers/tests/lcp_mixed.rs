//! Mixed problems: equations with free unknowns beside complementarity rows.

#[path = "common/families.rs"]
mod families;

use families::{Rng, normal, psd, rng, uniform};
use nsm_solvers::lcp::{LcpError, Matrix, MixedWorkspace};

struct Mixed {
    n: usize,
    m: Vec<f64>,
    q: Vec<f64>,
    equation: Vec<bool>,
}

fn residual(p: &Mixed, z: &[f64]) -> f64 {
    let scale = p.q.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    (0..p.n)
        .map(|i| {
            let w = p.q[i] + (0..p.n).map(|j| p.m[i * p.n + j] * z[j]).sum::<f64>();
            (if p.equation[i] { w } else { z[i].min(w) }).abs() / scale
        })
        .fold(0.0, f64::max)
}

fn random(n: usize, rank: usize, skew: bool, rng: &mut Rng) -> Mixed {
    let p = psd(n, rank, rng);
    let mut m = p.m;
    if skew {
        for j in 0..n {
            for i in 0..j {
                let s = normal(rng);
                m[j * n + i] += s;
                m[i * n + j] -= s;
            }
        }
    }
    let equation = (0..n).map(|_| uniform(rng, 0.0, 1.0) < 0.4).collect();
    Mixed { n, m, q: p.q, equation }
}

fn solve(p: &Mixed) -> Result<Vec<f64>, LcpError> {
    let equations = p.equation.iter().filter(|e| **e).count();
    let (mut z, mut w) = (vec![0.0; p.n], vec![0.0; p.n]);
    let mut workspace = MixedWorkspace::new(p.n, equations);
    let matrix = Matrix::dense(p.n, &p.m)?;
    let report = workspace.solve(matrix, &p.q, &p.equation, &mut z, &mut w)?;
    assert!((report.residual - residual(p, &z)).abs() < 1e-10);
    Ok(z)
}

#[test]
fn definite_problems_symmetric_or_not() {
    let mut rng = rng(41);
    for trial in 0..2000 {
        let n = 2 + trial % 20;
        let p = random(n, n + 3, trial % 2 == 0, &mut rng);
        let z = solve(&p).unwrap_or_else(|e| panic!("#{trial}: {e}"));
        let r = residual(&p, &z);
        assert!(r < 1e-10, "#{trial}: {r:e}");
    }
}

#[test]
fn redundant_equations_of_a_semidefinite_problem() {
    let mut rng = rng(42);
    for trial in 0..1000 {
        let n = 4 + trial % 12;
        let mut p = random(n, 2, false, &mut rng);
        p.equation = (0..n).map(|i| i < 3).collect();
        let z = solve(&p).unwrap_or_else(|e| panic!("#{trial}: {e}"));
        let size: f64 = 1.0 + (0..n).map(|i| p.m[i * (n + 1)] * z[i].abs()).sum::<f64>();
        let r = residual(&p, &z) / size;
        assert!(r < 1e-11, "#{trial}: {r:e}");
    }
}

#[test]
fn quadratic_programme_with_equations_by_its_multipliers() {
    // min |x - c|²/2 with sum x = 1, x >= 0: the projection onto the simplex.
    let c = [0.9, 0.4, -0.3];
    let n = 4;
    let mut m = vec![0.0; n * n];
    for i in 0..3 {
        m[i * (n + 1)] = 1.0;
        m[3 * n + i] = 1.0;
        m[i * n + 3] = 1.0;
    }
    let q = vec![-c[0], -c[1], -c[2], -1.0];
    let equation = vec![false, false, false, true];
    let mut p = Mixed { n, m, q, equation };
    let z = solve(&p).unwrap();
    for (z, x) in z.iter().zip([0.75, 0.25, 0.0]) {
        assert!((z - x).abs() < 1e-14, "{z} {x}");
    }
    // The same equation with the other sign.
    for j in 0..n {
        p.m[3 * n + j] *= -1.0;
    }
    p.q[3] *= -1.0;
    let z = solve(&p).unwrap();
    assert!((z[0] - 0.75).abs() < 1e-14 && (z[3] - 0.15).abs() < 1e-14);
}

#[test]
fn wrong_counts_are_named() {
    let mut workspace = MixedWorkspace::new(2, 1);
    let m = [1.0, 0.0, 0.0, 1.0];
    let matrix = Matrix::dense(2, &m).unwrap();
    let answer = workspace.solve(matrix, &[1.0, 1.0], &[true, true], &mut [0.0; 2], &mut [0.0; 2]);
    assert_eq!(answer, Err(LcpError::Size { what: "equations", expected: 1, found: 2 }));
}
