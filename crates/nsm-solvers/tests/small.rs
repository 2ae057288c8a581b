//! Tiny factorisations against their defining identities, over sizes, ranks and scalings.

mod common;

use common::{
    SIZES, backward_error, distance, gram, max_abs, multiply, normal, of_rank, product, rng,
    transpose,
};
use nsm_solvers::LinearError;
use nsm_solvers::small::{self, cholesky, gram::PivotedCholesky, ldlt, lu, qr::PivotedQr};
use rand::RngExt;

#[test]
fn lu_reconstructs_the_matrix() {
    let mut rng = rng(1);
    for n in SIZES {
        let a = normal(&mut rng, n * n);
        let (mut f, mut pivots) = (a.clone(), vec![0; n]);
        lu::factor(n, &mut f, &mut pivots, small::tolerance(n)).unwrap();
        let (mut l, mut u) = (vec![0.0; n * n], vec![0.0; n * n]);
        for i in 0..n {
            for j in 0..n {
                match i.cmp(&j) {
                    std::cmp::Ordering::Greater => {
                        l[i * n + j] = f[i * n + j];
                        assert!(f[i * n + j].abs() <= 1.0);
                    }
                    std::cmp::Ordering::Equal => {
                        (l[i * n + i], u[i * n + i]) = (1.0, 1.0 / f[i * n + i]);
                    }
                    std::cmp::Ordering::Less => u[i * n + j] = f[i * n + j],
                }
            }
        }
        let mut permuted = a.clone();
        for k in 0..n {
            for j in 0..n {
                permuted.swap(k * n + j, pivots[k] * n + j);
            }
        }
        assert!(distance(&product(n, n, n, &l, &u), &permuted) < 1e-13 * n as f64, "n = {n}");
    }
}

#[test]
fn lu_solves_both_ways_with_tiny_backward_error() {
    let mut rng = rng(2);
    for n in SIZES {
        for _ in 0..if n < 40 { 50 } else { 3 } {
            let (a, b) = (normal(&mut rng, n * n), normal(&mut rng, n));
            let (mut f, mut pivots) = (a.clone(), vec![0; n]);
            lu::factor(n, &mut f, &mut pivots, small::tolerance(n)).unwrap();
            let (mut x, mut y) = (b.clone(), b.clone());
            lu::solve(n, &f, &pivots, &mut x).unwrap();
            lu::solve_transposed(n, &f, &pivots, &mut y).unwrap();
            assert!(backward_error(n, &a, &x, &b) < 1e-14, "n = {n}");
            assert!(backward_error(n, &transpose(n, n, &a), &y, &b) < 1e-14, "n = {n}");
        }
    }
}

#[test]
fn lu_finds_dependent_rows_whatever_their_units() {
    let mut rng = rng(3);
    for n in [2, 3, 4, 5, 6, 8, 16, 31] {
        for _ in 0..100 {
            let mut a = of_rank(&mut rng, n, n, n - 1);
            for i in 0..n {
                let scale = 10.0_f64.powf(rng.random_range(-9.0..9.0));
                a[i * n..(i + 1) * n].iter_mut().for_each(|v| *v *= scale);
            }
            let error =
                lu::factor(n, &mut a, &mut vec![0; n], 10.0 * small::tolerance(n)).unwrap_err();
            assert!(matches!(error, LinearError::Singular { .. }), "n = {n}: {error}");
        }
    }
}

#[test]
fn lu_accepts_badly_scaled_regular_matrices() {
    let mut rng = rng(4);
    for n in [2, 3, 4, 5, 6, 8, 16, 31] {
        for _ in 0..100 {
            let mut a = normal(&mut rng, n * n);
            let rows: Vec<f64> =
                (0..n).map(|_| 10.0_f64.powf(rng.random_range(-60.0..60.0))).collect();
            let columns: Vec<f64> =
                (0..n).map(|_| 10.0_f64.powf(rng.random_range(-60.0..60.0))).collect();
            for i in 0..n {
                for j in 0..n {
                    a[i * n + j] *= rows[i] * columns[j];
                }
            }
            lu::factor(n, &mut a, &mut vec![0; n], small::tolerance(n)).unwrap();
        }
    }
}

#[test]
fn rcond_is_a_close_upper_bound() {
    let mut rng = rng(5);
    for n in [1, 2, 3, 5, 8, 16] {
        for _ in 0..100 {
            let a = normal(&mut rng, n * n);
            let norm = lu::norm_1(n, &a).unwrap();
            let (mut f, mut pivots) = (a.clone(), vec![0; n]);
            lu::factor(n, &mut f, &mut pivots, 0.0).unwrap();
            let mut inverse = 0.0_f64;
            for j in 0..n {
                let mut e = vec![0.0; n];
                e[j] = 1.0;
                lu::solve(n, &f, &pivots, &mut e).unwrap();
                inverse = inverse.max(e.iter().map(|v| v.abs()).sum());
            }
            let exact = 1.0 / (norm * inverse);
            let estimate = lu::rcond(n, &f, &pivots, norm, &mut vec![0.0; 2 * n]).unwrap();
            assert!(
                estimate >= exact * (1.0 - 1e-9) && estimate <= 5.0 * exact,
                "n = {n}: {estimate:e} {exact:e}"
            );
        }
    }
}

#[test]
fn cholesky_reconstructs_and_solves() {
    let mut rng = rng(6);
    for n in SIZES {
        let root = normal(&mut rng, n * n);
        let (a, b) = (gram(n, n, &root, 0.1), normal(&mut rng, n));
        let mut l = a.clone();
        cholesky::factor(n, &mut l, small::tolerance(n)).unwrap();
        let (mut x, mut y) = (b.clone(), b.clone());
        cholesky::solve(n, &l, &mut x).unwrap();
        assert!(backward_error(n, &a, &x, &b) < 1e-14, "n = {n}");
        cholesky::solve_lower(n, &l, &mut y).unwrap();
        let energy: f64 = y.iter().map(|v| v * v).sum();
        let expected: f64 = x.iter().zip(&b).map(|(x, b)| x * b).sum();
        assert!((energy - expected).abs() < 1e-10 * expected, "n = {n}");
        cholesky::solve_lower_transposed(n, &l, &mut y).unwrap();
        assert!(distance(&x, &y) <= 1e-12 * max_abs(&x));
    }
}

#[test]
fn cholesky_names_the_row_that_is_not_positive() {
    let mut a = [4.0, 0.0, 0.0, 2.0, 1.0, 0.0, 0.0, 1.0, 5.0];
    let error = cholesky::factor(3, &mut a, small::tolerance(3)).unwrap_err();
    assert!(matches!(error, LinearError::NotPositiveDefinite { pivot: 1, .. }), "{error}");
}

#[test]
fn ldlt_solves_quasi_definite_systems_and_checks_signs() {
    let mut rng = rng(7);
    for n in SIZES {
        let positive = n.div_ceil(2);
        let root = normal(&mut rng, n * n);
        let mut a = gram(n, n, &root, 1.0);
        for i in positive..n {
            for j in positive..n {
                a[i * n + j] *= -1.0;
            }
        }
        let signs: Vec<i8> = (0..n).map(|i| if i < positive { 1 } else { -1 }).collect();
        let b = normal(&mut rng, n);
        let (mut l, mut x) = (a.clone(), b.clone());
        ldlt::factor(n, &mut l, &signs, small::tolerance(n)).unwrap();
        ldlt::solve(n, &l, &mut x).unwrap();
        assert!(backward_error(n, &a, &x, &b) < 1e-12, "n = {n}");
        let wrong: Vec<i8> = signs.iter().map(|s| -s).collect();
        assert!(ldlt::factor(n, &mut a.clone(), &wrong, 0.0).is_err());
    }
}

#[test]
fn pivoted_cholesky_finds_rank_and_pseudo_inverse() {
    let mut rng = rng(8);
    let mut factor = PivotedCholesky::new(12);
    for n in 1..=12 {
        for rank in 0..=n {
            for _ in 0..5 {
                let mut g = of_rank(&mut rng, n, 15, rank);
                for i in 0..n {
                    let scale = 10.0_f64.powf(rng.random_range(-2.0..2.0));
                    g[i * 15..(i + 1) * 15].iter_mut().for_each(|v| *v *= scale);
                }
                let a = gram(n, 15, &g, 0.0);
                assert_eq!(factor.factor(n, &a, 1e-11).unwrap(), rank);
                assert_eq!(factor.independent().len() + factor.redundant().len(), n);
                let b = multiply(n, n, &a, &normal(&mut rng, n));
                let (mut basic, mut minimum) = (vec![0.0; n], vec![0.0; n]);
                factor.solve_basic(&b, &mut basic).unwrap();
                factor.solve_minimum_norm(&b, &mut minimum).unwrap();
                let scale = max_abs(&b).max(f64::MIN_POSITIVE);
                assert!(distance(&multiply(n, n, &a, &basic), &b) < 1e-8 * scale);
                assert!(distance(&multiply(n, n, &a, &minimum), &b) < 1e-8 * scale);
                let square = |x: &[f64]| x.iter().map(|v| v * v).sum::<f64>();
                assert!(square(&minimum) <= square(&basic) * (1.0 + 1e-6));
                assert!(factor.redundant().iter().all(|&i| basic[i] == 0.0));
            }
        }
    }
}

#[test]
fn pivoted_cholesky_rejects_indefinite_matrices() {
    let mut factor = PivotedCholesky::new(2);
    for a in [[1.0, 0.0, 2.0, 1.0], [0.0, 0.0, 1.0, 1.0], [-1.0, 0.0, 0.0, 1.0]] {
        let error = factor.factor(2, &a, 1e-12).unwrap_err();
        assert!(matches!(error, LinearError::NotPositiveDefinite { .. }), "{error}");
    }
}

#[test]
fn qr_finds_rank_null_space_and_minimum_norm() {
    let mut rng = rng(9);
    let mut qr = PivotedQr::new(9, 9);
    for (m, n) in [(1, 1), (1, 4), (4, 1), (3, 7), (7, 3), (6, 6), (9, 5), (5, 9)] {
        for rank in 0..=m.min(n) {
            for _ in 0..20 {
                let mut g = of_rank(&mut rng, m, n, rank);
                for i in 0..m {
                    let scale = 10.0_f64.powf(rng.random_range(-3.0..3.0));
                    g[i * n..(i + 1) * n].iter_mut().for_each(|v| *v *= scale);
                }
                assert_eq!(qr.factor(m, n, &g, 1e-11).unwrap(), rank, "{m} x {n}");
                let mut z = vec![0.0; (n - rank) * n];
                qr.null_space(&mut z).unwrap();
                let k = n - rank;
                let mut identity = vec![0.0; k * k];
                (0..k).for_each(|i| identity[i * k + i] = 1.0);
                assert!(distance(&gram(k, n, &z, 0.0), &identity) < 1e-13);
                assert!(
                    max_abs(&product(m, n, k, &g, &transpose(k, n, &z)))
                        < 1e-12 * (1.0 + max_abs(&g))
                );

                let b = multiply(m, n, &g, &normal(&mut rng, n));
                let mut x = vec![0.0; n];
                let violation = qr.solve_minimum_norm(&b, &mut x).unwrap();
                assert!(violation <= 1e-9 * max_abs(&b));
                assert!(distance(&multiply(m, n, &g, &x), &b) <= 1e-9 * max_abs(&b));
                assert!(
                    max_abs(&multiply(k, n, &z, &x)) < 1e-10 * (1.0 + max_abs(&x)),
                    "minimum norm"
                );
            }
        }
    }
}

#[test]
fn qr_least_squares_is_orthogonal_and_shares_the_load() {
    let mut rng = rng(10);
    let mut qr = PivotedQr::new(0, 0);
    for (m, n) in [(1, 1), (2, 5), (5, 2), (4, 4), (6, 8), (8, 6)] {
        for rank in 0..=m.min(n) {
            for _ in 0..20 {
                let (g, f) = (of_rank(&mut rng, m, n, rank), normal(&mut rng, n));
                qr.factor(m, n, &g, 1e-11).unwrap();
                let (mut basic, mut minimum) = (vec![0.0; m], vec![0.0; m]);
                let d1 = qr.least_squares(&f, &mut basic).unwrap();
                let d2 = qr.least_squares_minimum_norm(&f, &mut minimum).unwrap();
                assert!((d1 - d2).abs() < 1e-14 * (1.0 + d1));
                for lambda in [&basic, &minimum] {
                    let rest: Vec<f64> = multiply(n, m, &transpose(m, n, &g), lambda)
                        .iter()
                        .zip(&f)
                        .map(|(a, b)| a - b)
                        .collect();
                    let norm = rest.iter().map(|v| v * v).sum::<f64>().sqrt();
                    assert!((norm - d1).abs() < 1e-10 * (1.0 + max_abs(lambda)), "{norm:e} {d1:e}");
                    assert!(max_abs(&multiply(m, n, &g, &rest)) < 1e-10 * (1.0 + max_abs(lambda)));
                }
                // Minimum norm means no component in the null space of Gᵀ.
                let mut columns = PivotedQr::new(n, m);
                columns.factor(n, m, &transpose(m, n, &g), 1e-11).unwrap();
                let mut z = vec![0.0; (m - rank) * m];
                columns.null_space(&mut z).unwrap();
                assert!(
                    max_abs(&multiply(m - rank, m, &z, &minimum))
                        < 1e-9 * (1.0 + max_abs(&minimum))
                );
            }
        }
    }
}

#[test]
fn rank_one_zero_and_nan_inputs_give_their_own_errors() {
    for n in [1, 2, 3, 4, 5, 6, 9] {
        let mut zero = vec![0.0; n * n];
        assert!(matches!(
            lu::factor(n, &mut zero, &mut vec![0; n], 0.0),
            Err(LinearError::Singular { pivot: 0, .. })
        ));
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for place in 0..n * n {
                let mut a = gram(n, n, &normal(&mut rng(11), n * n), 1.0);
                a[place] = bad;
                let error = lu::factor(n, &mut a.clone(), &mut vec![0; n], small::tolerance(n))
                    .unwrap_err();
                assert!(
                    matches!(error, LinearError::NotFinite { .. } | LinearError::Singular { .. }),
                    "{error}"
                );
                if place / n >= place % n {
                    assert!(cholesky::factor(n, &mut a.clone(), small::tolerance(n)).is_err());
                    assert!(ldlt::factor(n, &mut a.clone(), &[], small::tolerance(n)).is_err());
                    assert!(matches!(
                        PivotedCholesky::new(n).factor(n, &a, 1e-12),
                        Err(LinearError::NotFinite { .. })
                    ));
                }
                assert!(matches!(
                    PivotedQr::new(n, n).factor(n, n, &a, 1e-12),
                    Err(LinearError::NotFinite { .. })
                ));
            }
        }
    }
}

#[test]
fn the_largest_entry_is_found_wherever_it_stands() {
    for n in 0..14 {
        for at in 0..n {
            let mut x: Vec<f64> = (0..n).map(|i| 0.5 - i as f64 / 16.0).collect();
            for value in [-2.0, 3.0, f64::INFINITY, f64::NEG_INFINITY] {
                x[at] = value;
                assert_eq!(nsm_solvers::small::norm_inf(&x), value.abs());
            }
            x[at] = f64::NAN;
            assert!(nsm_solvers::small::norm_inf(&x).is_nan(), "{n} {at}");
        }
    }
    assert_eq!(nsm_solvers::small::norm_inf(&[]), 0.0);
    assert_eq!(nsm_solvers::small::norm_inf(&[f64::MAX; 9]), f64::MAX);
}

#[test]
fn sparse_vectors_are_full_ones_with_zeros() {
    use nsm_solvers::small::{axpy, dot, sparse_axpy, sparse_dot};
    let y: Vec<f64> = (0..12).map(|i| 1.0 / f64::from(i + 1)).collect();
    let order = [7, 2, 11, 0, 5, 9, 3, 1, 10];
    for entries in 0..=order.len() {
        let columns = &order[..entries];
        let x: Vec<f64> = (0..entries).map(|k| k as f64 - 2.5).collect();
        let mut full = vec![0.0; 12];
        columns.iter().zip(&x).for_each(|(&c, x)| full[c] = *x);
        assert!((sparse_dot(&x, columns, &y) - dot(&full, &y)).abs() < 1e-15);
        let (mut sum, mut expected) = (y.clone(), y.clone());
        sparse_axpy(-0.7, &x, columns, &mut sum);
        axpy(-0.7, &full, &mut expected);
        assert_eq!(sum, expected);
    }
}

#[test]
fn wrong_lengths_are_errors() {
    let size = |r: Result<(), LinearError>| assert!(matches!(r, Err(LinearError::Size { .. })));
    size(lu::factor(2, &mut [0.0; 3], &mut [0; 2], 0.0).map(|_| ()));
    size(lu::factor(2, &mut [0.0; 4], &mut [0; 1], 0.0).map(|_| ()));
    size(lu::solve(2, &[1.0; 4], &[0, 1], &mut [0.0; 3]));
    size(lu::solve_transposed(2, &[1.0; 4], &[0, 1], &mut [0.0; 1]));
    size(cholesky::factor(2, &mut [0.0; 5], 0.0));
    size(cholesky::solve(2, &[1.0; 4], &mut [0.0; 1]));
    size(ldlt::factor(2, &mut [1.0; 4], &[1], 0.0));
    size(PivotedCholesky::new(2).factor(2, &[1.0; 3], 0.0).map(|_| ()));
    size(PivotedQr::new(2, 2).factor(2, 2, &[1.0; 3], 0.0).map(|_| ()));
}
