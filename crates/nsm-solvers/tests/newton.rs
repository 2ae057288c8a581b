//! Newton's method: order two, descent from bad guesses, sparse Jacobians, typed failures.

mod common;

use common::{max_abs, normal, rng};
use nsm_solvers::newton::{Equations, Jacobian, Newton, NewtonError, NewtonOptions, Stop};
use nsm_solvers::{LinearError, LinearSystem, Method, Structure};

/// Discrete Bratu problem `-u'' = c exp(u)`, `u(0) = u(1) = 0`, on `n` interior points.
fn bratu(n: usize, c: f64) -> impl Equations {
    let h2 = ((n + 1) as f64).powi(-2);
    let residual = move |u: &[f64], r: &mut [f64]| {
        for i in 0..n {
            let left = if i > 0 { u[i - 1] } else { 0.0 };
            let right = if i + 1 < n { u[i + 1] } else { 0.0 };
            r[i] = 2.0 * u[i] - left - right - h2 * c * u[i].exp();
        }
    };
    let jacobian = move |u: &[f64], values: &mut [f64]| {
        for (v, (i, j)) in values.iter_mut().zip(tridiagonal(n)) {
            *v = if i == j { 2.0 - h2 * c * u[i].exp() } else { -1.0 };
        }
    };
    (residual, jacobian)
}

fn tridiagonal(n: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..n).flat_map(move |i| (i.saturating_sub(1)..(i + 2).min(n)).map(move |j| (i, j)))
}

#[test]
fn convergence_is_quadratic() {
    let mut residuals = Vec::new();
    for k in 1..=5 {
        let options =
            NewtonOptions { max_iterations: k, tolerance: 0.0, ..NewtonOptions::default() };
        let mut newton = Newton::dense(1, options);
        let mut x = [1.0];
        let mut f = (
            |x: &[f64], r: &mut [f64]| r[0] = x[0].exp() - 2.0,
            |x: &[f64], j: &mut [f64]| j[0] = x[0].exp(),
        );
        let error = newton.solve(&mut f, &mut x);
        assert!(matches!(error, Err(NewtonError::MaxIterations { .. })) || k > 4, "{error:?}");
        residuals.push((x[0] - 2.0_f64.ln()).abs());
    }
    // Errors obey e' = e²/2 until round-off.
    for pair in residuals.windows(2).take(3) {
        let ratio = pair[1] / (pair[0] * pair[0]);
        assert!((0.3..0.6).contains(&ratio), "{residuals:?}");
    }
}

#[test]
fn line_search_saves_diverging_iterations_and_domain_errors() {
    let mut f = (
        |x: &[f64], r: &mut [f64]| r[0] = x[0].atan(),
        |x: &[f64], j: &mut [f64]| j[0] = 1.0 / (1.0 + x[0] * x[0]),
    );
    let mut newton = Newton::dense(1, NewtonOptions::default());
    let mut x = [20.0];
    newton.solve(&mut f, &mut x).unwrap();
    assert!(x[0].abs() < 1e-12);
    // ln x is NaN beyond the domain, and the full step from 30 leads there.
    let mut g =
        (|x: &[f64], r: &mut [f64]| r[0] = x[0].ln(), |x: &[f64], j: &mut [f64]| j[0] = 1.0 / x[0]);
    let mut x = [30.0];
    newton.solve(&mut g, &mut x).unwrap();
    assert!((x[0] - 1.0).abs() < 1e-12);
}

#[test]
fn sparse_systems_match_dense_ones() {
    for n in [1, 5, 40, 300] {
        let entries: Vec<(usize, usize)> = tridiagonal(n).collect();
        let mut reference: Option<Vec<f64>> = None;
        for method in [Method::Dense, Method::Banded, Method::Sparse] {
            let system =
                LinearSystem::with_method(n, &entries, Structure::General, method).unwrap();
            let mut newton = Newton::with_system(
                system,
                NewtonOptions { tolerance: 1e-15, ..NewtonOptions::default() },
            );
            let mut u = vec![0.0; n];
            let report = newton.solve(&mut bratu(n, 2.0), &mut u).unwrap();
            assert!(report.iterations <= 7, "{method:?} n = {n}: {report:?}");
            let first = reference.get_or_insert_with(|| u.clone());
            assert!(common::distance(first, &u) < 1e-11);
        }
        // Symmetric about the middle.
        let u = reference.unwrap();
        assert!((0..n).all(|i| (u[i] - u[n - 1 - i]).abs() < 1e-11));
    }
}

#[test]
fn frozen_jacobians_save_factorisations_across_solves() {
    let n = 100;
    let entries: Vec<(usize, usize)> = tridiagonal(n).collect();
    let options = NewtonOptions {
        jacobian: Jacobian::Frozen { contraction: 0.3 },
        ..NewtonOptions::default()
    };
    let mut newton = Newton::new(n, &entries, options).unwrap();
    let mut u = vec![0.0; n];
    let mut factorisations = 0;
    // A load that grows slowly, as over time steps.
    for step in 0..20 {
        let report = newton.solve(&mut bratu(n, 1.0 + 0.01 * f64::from(step)), &mut u).unwrap();
        assert!(report.residual <= 1e-12);
        factorisations += report.factorisations;
    }
    assert!(factorisations <= 3, "{factorisations}");
}

#[test]
fn polish_squares_the_error() {
    let solve = |polish| {
        let options = NewtonOptions { tolerance: 1e-5, polish, ..NewtonOptions::default() };
        let mut x = [1.5];
        let mut f = (
            |x: &[f64], r: &mut [f64]| r[0] = x[0] * x[0] - 2.0,
            |x: &[f64], j: &mut [f64]| j[0] = 2.0 * x[0],
        );
        let report = Newton::dense(1, options).solve(&mut f, &mut x).unwrap();
        (report, (x[0] - 2.0_f64.sqrt()).abs())
    };
    let ((plain, rough), (polished, fine)) = (solve(false), solve(true));
    assert!(rough > 1e-7 && fine < 1e-8, "{rough:e} {fine:e}");
    assert_eq!(plain.factorisations, polished.factorisations);
    assert_eq!(plain.evaluations + 1, polished.evaluations);
}

#[test]
fn the_round_off_floor_is_not_a_failure() {
    let options = NewtonOptions { tolerance: 0.0, ..NewtonOptions::default() };
    let mut rng = rng(41);
    for n in [1, 3, 10] {
        let mut newton = Newton::dense(n, options);
        let a: Vec<f64> = normal(&mut rng, n * n)
            .iter()
            .enumerate()
            .map(|(k, v)| if k / n == k % n { v + 5.0 * n as f64 } else { *v })
            .collect();
        let b = normal(&mut rng, n);
        let mut f = (
            |x: &[f64], r: &mut [f64]| {
                nsm_solvers::small::matvec(&a, x, r);
                r.iter_mut().zip(x).zip(&b).for_each(|((r, x), b)| *r += x.sin() - b);
            },
            |x: &[f64], j: &mut [f64]| {
                j.copy_from_slice(&a);
                (0..n).for_each(|i| j[i * n + i] += x[i].cos());
            },
        );
        let mut x = vec![0.0; n];
        let report = newton.solve(&mut f, &mut x).unwrap();
        assert!(report.residual < 1e-14 * (1.0 + max_abs(&b)) * 10.0, "{report:?}");
        assert!(report.residual == 0.0 || report.stop == Stop::Step);
    }
}

#[test]
fn failures_are_typed_and_leave_the_best_point() {
    let mut newton = Newton::dense(1, NewtonOptions::default());
    assert!(matches!(
        newton.solve(
            &mut (|_: &[f64], _: &mut [f64]| {}, |_: &[f64], _: &mut [f64]| {}),
            &mut [0.0; 2]
        ),
        Err(NewtonError::Size { expected: 1, found: 2 })
    ));
    let mut nan =
        (|_: &[f64], r: &mut [f64]| r[0] = f64::NAN, |_: &[f64], j: &mut [f64]| j[0] = 1.0);
    assert_eq!(newton.solve(&mut nan, &mut [0.0]), Err(NewtonError::NotFinite));
    // No real root: the minimum of |x² + 1| has a vanishing derivative.
    let mut f = (
        |x: &[f64], r: &mut [f64]| r[0] = x[0] * x[0] + 1.0,
        |x: &[f64], j: &mut [f64]| j[0] = 2.0 * x[0],
    );
    let mut x = [3.0];
    let error = newton.solve(&mut f, &mut x).unwrap_err();
    assert!(
        matches!(
            error,
            NewtonError::Stalled { .. }
                | NewtonError::MaxIterations { .. }
                | NewtonError::Linear { .. }
        ),
        "{error}"
    );
    assert!(x[0].abs() < 0.1, "{}", x[0]);
    let mut zero = (|x: &[f64], r: &mut [f64]| r[0] = x[0], |_: &[f64], j: &mut [f64]| j[0] = 0.0);
    let error = newton.solve(&mut zero, &mut [1.0]).unwrap_err();
    assert!(
        matches!(error, NewtonError::Linear { source: LinearError::Singular { .. }, .. }),
        "{error}"
    );
}
