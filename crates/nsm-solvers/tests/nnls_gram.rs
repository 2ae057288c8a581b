//! The contact kernel on thousands of random Gram matrices; the oracle is complementarity itself.

#[path = "common/families.rs"]
mod families;

use families::{chain, normal, pile, psd, residual, rng, stack, uniform};
use nsm_solvers::least_squares::{GramNnls, LeastSquaresError};

#[test]
fn random_gram_matrices_of_every_rank() {
    let mut rng = rng(1);
    let mut kernel = GramNnls::new(24);
    for trial in 0..6000 {
        let n = 1 + trial % 24;
        let rank = 1 + (trial / 24) % (n + 2);
        let p = psd(n, rank, &mut rng);
        let mut z = vec![0.0; n];
        let report = kernel.solve(&p.m, &p.q, &mut z).unwrap();
        // Ill-conditioned bases carry large multipliers; rounding in Mz scales with them.
        let scale = (0..n).map(|i| p.m[i * (n + 1)] * z[i]).sum::<f64>();
        let r = residual(&p, &z) / (1.0 + scale);
        assert!(r < 1e-13, "trial {trial}: n {n}, rank {rank}: residual {r:e}, {report:?}");
        assert!(z.iter().all(|&z| z >= 0.0));
    }
}

#[test]
fn warm_start_from_the_answer_takes_one_factorisation() {
    let mut rng = rng(2);
    let mut kernel = GramNnls::new(12);
    for _ in 0..500 {
        let p = psd(12, 14, &mut rng);
        let mut z = vec![0.0; 12];
        let _ = kernel.solve(&p.m, &p.q, &mut z).unwrap();
        let first = z.clone();
        let again = kernel.solve(&p.m, &p.q, &mut z).unwrap();
        assert!(again.iterations <= 1);
        for (a, b) in first.iter().zip(&z) {
            assert!((a - b).abs() <= 1e-12 * (1.0 + a.abs()));
        }
    }
}

#[test]
fn wrong_warm_start_does_not_matter() {
    let mut rng = rng(3);
    let mut kernel = GramNnls::new(10);
    for _ in 0..1000 {
        let p = psd(10, 12, &mut rng);
        let mut cold = vec![0.0; 10];
        let _ = kernel.solve(&p.m, &p.q, &mut cold).unwrap();
        let mut warm: Vec<f64> = (0..10).map(|_| normal(&mut rng).max(0.0)).collect();
        let _ = kernel.solve(&p.m, &p.q, &mut warm).unwrap();
        for (a, b) in cold.iter().zip(&warm) {
            assert!((a - b).abs() <= 1e-8 * (1.0 + a.abs()), "{cold:?} {warm:?}");
        }
    }
}

#[test]
fn contact_families_at_small_size() {
    let mut kernel = GramNnls::new(128);
    for seed in 0..40 {
        for p in [chain(40, seed), stack(48, seed), pile(100, seed)] {
            let p = p.dense();
            let mut z = vec![0.0; p.n];
            let _ = kernel.solve(&p.m, &p.q, &mut z).unwrap();
            let r = residual(&p, &z);
            assert!(r < 1e-11, "seed {seed}, n {}: {r:e}", p.n);
        }
    }
}

#[test]
fn problems_without_solution_are_reported() {
    // q = B'b - d with Md = 0, d > 0: the objective falls along d.
    let mut rng = rng(4);
    let mut kernel = GramNnls::new(8);
    for _ in 0..1000 {
        let mut p = psd(8, 7, &mut rng);
        let d: Vec<f64> = (0..8).map(|_| uniform(&mut rng, 0.5, 1.5)).collect();
        let dd: f64 = d.iter().map(|d| d * d).sum();
        // Project every row and column orthogonally to d, then tilt q.
        let md: Vec<f64> = (0..8).map(|i| (0..8).map(|j| p.m[j * 8 + i] * d[j]).sum()).collect();
        let dmd: f64 = d.iter().zip(&md).map(|(a, b)| a * b).sum();
        for j in 0..8 {
            for i in 0..8 {
                p.m[j * 8 + i] +=
                    -d[i] * md[j] / dd - md[i] * d[j] / dd + d[i] * d[j] * dmd / (dd * dd);
            }
        }
        let qd: f64 = d.iter().zip(&p.q).map(|(a, b)| a * b).sum();
        for i in 0..8 {
            p.q[i] -= (qd + 1.0) * d[i] / dd;
        }
        let answer = kernel.solve(&p.m, &p.q, &mut [0.0; 8]);
        assert!(matches!(answer, Err(LeastSquaresError::Infeasible { .. })), "{answer:?}");
    }
}

#[test]
fn redundant_corners_share_the_load() {
    // Four corners of a square plate: rank 3, resting under gravity.
    let rows = [[1.0, 1.0, 1.0], [1.0, 1.0, -1.0], [1.0, -1.0, 1.0], [1.0, -1.0, -1.0]];
    let mut gram = [0.0; 16];
    for i in 0..4 {
        for j in 0..4 {
            gram[i * 4 + j] = (0..3).map(|k| rows[i][k] * rows[j][k]).sum();
        }
    }
    let mut kernel = GramNnls::new(4);
    let mut lambda = [0.0; 4];
    let report = kernel.solve(&gram, &[-1.0; 4], &mut lambda).unwrap();
    assert!(report.residual < 1e-15, "{report:?}");
    assert!((lambda.iter().sum::<f64>() - 1.0).abs() < 1e-15);
}

#[test]
fn ray_without_end_is_infeasible() {
    let mut kernel = GramNnls::new(2);
    let error = kernel.solve(&[1.0, -1.0, -1.0, 1.0], &[-1.0, 0.5], &mut [0.0; 2]);
    assert!(matches!(error, Err(LeastSquaresError::Infeasible { .. })), "{error:?}");
}

#[test]
fn ray_with_an_end_is_followed() {
    // M has null vector (1, 1); q pushes along (-1, 1) only.
    let mut kernel = GramNnls::new(2);
    let mut lambda = [0.0; 2];
    let report = kernel.solve(&[1.0, -1.0, -1.0, 1.0], &[-1.0, 1.0], &mut lambda).unwrap();
    assert!(report.residual < 1e-15);
}

#[test]
fn bad_input_is_named() {
    let mut kernel = GramNnls::new(2);
    assert!(matches!(
        kernel.solve(&[f64::NAN, 0.0, 0.0, 1.0], &[-1.0, 1.0], &mut [0.0; 2]),
        Err(LeastSquaresError::NotFinite { what: "gram", index: 0 })
    ));
    assert!(matches!(
        kernel.solve(&[1.0; 9], &[-1.0; 3], &mut [0.0; 3]),
        Err(LeastSquaresError::Capacity { n: 3, capacity: 2 })
    ));
}
