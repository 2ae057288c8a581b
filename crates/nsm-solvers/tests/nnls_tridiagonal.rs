//! Chains of contacts by sweeps: complementarity, agreement with the dense kernel, linear work.

#[path = "common/families.rs"]
mod families;

use families::{Rng, chain, normal, residual, rng, uniform};
use nsm_solvers::least_squares::{GramNnls, LeastSquaresError, TridiagonalNnls};

fn bands(m: &[f64], n: usize) -> (Vec<f64>, Vec<f64>) {
    ((0..n).map(|i| m[i * (n + 1)]).collect(), (1..n).map(|i| m[i * n + i - 1]).collect())
}

#[test]
fn closed_chains_of_the_family() {
    let mut kernel = TridiagonalNnls::new(2000);
    for (n, seeds) in [(2, 50), (3, 50), (20, 50), (200, 50), (2000, 3)] {
        for seed in 0..seeds {
            let p = chain(n, seed).dense();
            let (d, e) = bands(&p.m, n);
            let mut z = vec![0.0; n];
            let report = kernel.solve(&d, &e, &p.q, &mut z).unwrap();
            let r = residual(&p, &z);
            assert!(r < 1e-12, "n {n}, seed {seed}: {r:e} {report:?}");
            assert!(z.iter().all(|&z| z >= 0.0));
            assert!(report.iterations <= 20, "{report:?}");
        }
    }
}

/// A chain open at the right end, with some contacts apart (zero rows couple nothing).
fn open_chain(n: usize, rng: &mut Rng) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let w: Vec<f64> = (0..=n).map(|_| uniform(rng, 0.1, 10.0)).collect();
    let d = (0..n).map(|i| w[i] + w[i + 1]).collect();
    let e = (1..n).map(|i| if uniform(rng, 0.0, 1.0) < 0.2 { 0.0 } else { -w[i] }).collect();
    let q = (0..n).map(|_| normal(rng)).collect();
    (d, e, q)
}

#[test]
fn open_chains_agree_with_the_dense_kernel() {
    let mut rng = rng(5);
    let mut kernel = TridiagonalNnls::new(30);
    let mut dense = GramNnls::new(30);
    for trial in 0..3000 {
        let n = 1 + trial % 30;
        let (d, e, q) = open_chain(n, &mut rng);
        let mut m = vec![0.0; n * n];
        for i in 0..n {
            m[i * (n + 1)] = d[i];
            if i + 1 < n {
                m[i * n + i + 1] = e[i];
                m[(i + 1) * n + i] = e[i];
            }
        }
        let mut z = vec![0.0; n];
        let first = kernel.solve(&d, &e, &q, &mut z).unwrap();
        assert!(first.residual < 1e-13, "{first:?}");
        let mut reference = vec![0.0; n];
        let _ = dense.solve(&m, &q, &mut reference).unwrap();
        for (a, b) in z.iter().zip(&reference) {
            assert!((a - b).abs() < 1e-10 * (1.0 + b), "{z:?} {reference:?}");
        }
        let warm = kernel.solve(&d, &e, &q, &mut z).unwrap();
        assert!(warm.iterations <= 1, "{warm:?}");
    }
}

#[test]
fn impact_wave_is_caught_in_one_sweep_per_direction() {
    let n = 500;
    let (d, e) = (vec![2.0; n], vec![-1.0; n - 1]);
    let mut kernel = TridiagonalNnls::new(n);
    for end in [0, n - 1, n / 2] {
        let mut q = vec![0.0; n];
        q[end] = -1.0;
        let mut z = vec![0.0; n];
        let report = kernel.solve(&d, &e, &q, &mut z).unwrap();
        assert_eq!(report.active, n);
        assert!(report.iterations <= 3, "{report:?}");
        assert!(report.residual < 1e-13);
    }
}

#[test]
fn squeezed_chain_between_walls_has_no_solution() {
    let mut kernel = TridiagonalNnls::new(3);
    let answer = kernel.solve(&[1.0, 2.0, 1.0], &[-1.0, -1.0], &[-1.0, 0.0, 0.5], &mut [0.0; 3]);
    assert!(matches!(answer, Err(LeastSquaresError::Infeasible { .. })), "{answer:?}");
    let answer = kernel.solve(&[1.0, 2.0, 1.0], &[-1.0, -1.0], &[-1.0, 0.0, 1.5], &mut [0.0; 3]);
    assert!(answer.unwrap().residual < 1e-15);
    let answer = kernel.solve(&[1.0, 2.0, 1.0], &[-1.0, 1.0], &[-1.0, 0.0, 1.5], &mut [0.0; 3]);
    assert_eq!(answer, Err(LeastSquaresError::PositiveCoupling { index: 1 }));
}

#[test]
fn a_chain_that_is_not_semidefinite_ends_in_an_error_instead_of_sweeping_for_ever() {
    let mut kernel = TridiagonalNnls::new(3);
    let answer = kernel.solve(&[1.0, 0.0, 1.0], &[-1.0, -1.0], &[-2.0, 2.0, -1.0], &mut [0.0; 3]);
    assert!(matches!(answer, Err(LeastSquaresError::Stalled { .. })), "{answer:?}");
}

#[test]
fn units_of_the_contacts_do_not_matter_to_a_chain() {
    let mut rng = rng(6);
    let mut kernel = TridiagonalNnls::new(30);
    for trial in 0..2000 {
        let n = 2 + trial % 29;
        let (d, e, q) = open_chain(n, &mut rng);
        let mut reference = vec![0.0; n];
        let _ = kernel.solve(&d, &e, &q, &mut reference).unwrap();
        let s: Vec<f64> = (0..n).map(|_| 10.0_f64.powf(uniform(&mut rng, -8.0, 8.0))).collect();
        let d: Vec<f64> = (0..n).map(|i| d[i] * s[i] * s[i]).collect();
        let e: Vec<f64> = (1..n).map(|i| e[i - 1] * s[i - 1] * s[i]).collect();
        let q: Vec<f64> = (0..n).map(|i| q[i] * s[i]).collect();
        let mut z = vec![0.0; n];
        let report = kernel.solve(&d, &e, &q, &mut z).unwrap();
        assert!(report.residual < 1e-13, "{report:?}");
        let size = reference.iter().fold(1.0, |m: f64, v| m.max(*v));
        for i in 0..n {
            assert!((z[i] * s[i] - reference[i]).abs() < 1e-9 * size, "#{trial} {i}");
        }
    }
}
