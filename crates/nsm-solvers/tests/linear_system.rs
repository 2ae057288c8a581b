//! Every method of `LinearSystem` on every kind of pattern, against the dense matrix it stands for.

mod common;

use common::{SIZES, backward_error, distance, max_abs, normal, rng, transpose};
use nsm_solvers::{LinearError, LinearSystem, Method, Structure};
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;

const METHODS: [Method; 3] = [Method::Dense, Method::Banded, Method::Sparse];

/// Row-major matrix from entries; symmetric ones are mirrored.
fn assemble(n: usize, entries: &[(usize, usize)], values: &[f64], symmetric: bool) -> Vec<f64> {
    let mut a = vec![0.0; n * n];
    for (&(i, j), v) in entries.iter().zip(values) {
        a[i * n + j] += v;
        if symmetric && i != j {
            a[j * n + i] += v;
        }
    }
    a
}

/// Random pattern: the diagonal, `extra` entries per row at distance up to `reach` in a hidden order,
/// some of them twice.
fn pattern(rng: &mut Pcg64Mcg, n: usize, extra: usize, reach: usize) -> Vec<(usize, usize)> {
    let mut hidden: Vec<usize> = (0..n).collect();
    hidden.shuffle(rng);
    let mut entries: Vec<(usize, usize)> = (0..n).map(|i| (i, i)).collect();
    for i in 0..n {
        for _ in 0..extra {
            let j = rng.random_range(i.saturating_sub(reach)..(i + reach + 1).min(n));
            entries.push((hidden[i], hidden[j]));
        }
    }
    entries.shuffle(rng);
    entries
}

#[test]
fn general_systems_solve_refine_and_transpose_by_every_method() {
    let mut rng = rng(20);
    for n in SIZES {
        for (extra, reach) in [(0, 0), (2, 1), (3, 3), (4, n)] {
            let entries = pattern(&mut rng, n, extra, reach);
            let values: Vec<f64> = entries
                .iter()
                .zip(normal(&mut rng, entries.len()))
                .map(|(e, v)| if e.0 == e.1 { v + 3.0 } else { v })
                .collect();
            let a = assemble(n, &entries, &values, false);
            let b = normal(&mut rng, n);
            for method in METHODS {
                let mut system =
                    LinearSystem::with_method(n, &entries, Structure::General, method).unwrap();
                assert_eq!(system.method(), method);
                for _ in 0..2 {
                    system.factorise(&values).unwrap();
                    let (mut x, mut y, mut z) = (b.clone(), b.clone(), vec![0.0; n]);
                    system.solve_in_place(&mut x).unwrap();
                    system.solve_transposed_in_place(&mut y).unwrap();
                    let residual = system.solve_refined(&b, &mut z, 3).unwrap();
                    assert!(backward_error(n, &a, &x, &b) < 1e-13, "{method:?} n = {n}");
                    assert!(
                        backward_error(n, &transpose(n, n, &a), &y, &b) < 1e-13,
                        "{method:?} n = {n}"
                    );
                    assert!(
                        residual < 1e-13 * (1.0 + max_abs(&a) * max_abs(&z) / max_abs(&b)),
                        "{residual:e}"
                    );
                    assert!(backward_error(n, &a, &z, &b) < 1e-15, "{method:?} n = {n}");
                }
            }
        }
    }
}

#[test]
fn symmetric_systems_by_every_method() {
    let mut rng = rng(21);
    for n in SIZES {
        for (extra, reach) in [(0, 0), (2, 1), (3, 3), (4, n)] {
            // Each pair once: the lower triangle of a pattern, duplicates included.
            let entries: Vec<(usize, usize)> =
                pattern(&mut rng, n, extra, reach).into_iter().filter(|(i, j)| i >= j).collect();
            let multipliers = n / 3;
            let signs: Vec<i8> = (0..n).map(|i| if i < n - multipliers { 1 } else { -1 }).collect();
            let noise = normal(&mut rng, entries.len());
            for positive in [true, false] {
                let values: Vec<f64> = entries
                    .iter()
                    .zip(&noise)
                    .map(|(&(i, j), v)| {
                        if i == j {
                            if positive { 20.0 } else { 20.0 * f64::from(signs[i]) }
                        } else {
                            *v
                        }
                    })
                    .collect();
                let a = assemble(n, &entries, &values, true);
                let b = normal(&mut rng, n);
                let structure = if positive {
                    Structure::PositiveDefinite
                } else {
                    Structure::SaddlePoint(&signs)
                };
                for method in METHODS {
                    let mut system =
                        LinearSystem::with_method(n, &entries, structure, method).unwrap();
                    system.factorise(&values).unwrap();
                    let mut x = b.clone();
                    system.solve_in_place(&mut x).unwrap();
                    assert!(backward_error(n, &a, &x, &b) < 1e-13, "{method:?} n = {n}");
                    let mut y = b.clone();
                    system.solve_transposed_in_place(&mut y).unwrap();
                    assert_eq!(x, y);
                }
            }
        }
    }
}

#[test]
fn dense_systems_take_row_major_values() {
    let mut rng = rng(22);
    for n in SIZES {
        let (a, b) = (normal(&mut rng, n * n), normal(&mut rng, n));
        let mut system = LinearSystem::dense(n);
        system.factorise(&a).unwrap();
        let (mut x, mut y) = (b.clone(), b.clone());
        system.solve_in_place(&mut x).unwrap();
        system.solve_transposed_in_place(&mut y).unwrap();
        assert!(backward_error(n, &a, &x, &b) < 1e-14, "n = {n}");
        assert!(backward_error(n, &transpose(n, n, &a), &y, &b) < 1e-14, "n = {n}");
        // The estimate can only be too optimistic, and the solves agree with it in order of magnitude.
        let rcond = system.rcond().unwrap();
        assert!(rcond > 1e-9 && rcond <= 1.0, "n = {n}: {rcond:e}");
    }
}

#[test]
fn singular_matrices_are_refused_by_every_method() {
    let mut rng = rng(23);
    for n in [2, 3, 5, 8, 16, 33, 64] {
        for _ in 0..20 {
            let mut entries = pattern(&mut rng, n, 3, 3);
            // Rows `from` and `to` get the same entries, up to a factor.
            let (from, to) = (0, n - 1);
            entries.retain(|&(i, _)| i != to);
            let copies: Vec<(usize, usize)> =
                entries.iter().filter(|e| e.0 == from).map(|&(_, j)| (to, j)).collect();
            let sources: Vec<usize> =
                (0..entries.len()).filter(|&e| entries[e].0 == from).collect();
            entries.extend(copies);
            let mut values: Vec<f64> = normal(&mut rng, entries.len() - sources.len())
                .iter()
                .zip(&entries)
                .map(|(v, e)| if e.0 == e.1 { v + 4.0 } else { *v })
                .collect();
            let factor = 10.0_f64.powf(rng.random_range(-6.0..6.0));
            values.extend(sources.iter().map(|&e| values[e] * factor).collect::<Vec<_>>());
            for method in METHODS {
                let mut system =
                    LinearSystem::with_method(n, &entries, Structure::General, method).unwrap();
                let result = system.factorise(&values);
                assert!(
                    matches!(result, Err(LinearError::Singular { .. })),
                    "{method:?} n = {n}: {result:?}"
                );
                let unusable = system.solve_in_place(&mut vec![1.0; n]).unwrap_err();
                assert_eq!(unusable, LinearError::NotFactorised);
            }
        }
    }
}

#[test]
fn indefinite_matrices_are_not_taken_for_positive_ones() {
    for n in [2, 5, 40] {
        let entries: Vec<(usize, usize)> =
            (0..n).map(|i| (i, i)).chain((1..n).map(|i| (i, i - 1))).collect();
        let mut values = vec![3.0; n];
        values.extend(vec![1.0; n - 1]);
        values[n / 2] = -3.0;
        for method in METHODS {
            let mut system =
                LinearSystem::with_method(n, &entries, Structure::PositiveDefinite, method)
                    .unwrap();
            let error = system.factorise(&values).unwrap_err();
            assert!(
                matches!(error, LinearError::NotPositiveDefinite { .. }),
                "{method:?}: {error}"
            );
        }
    }
}

#[test]
fn the_choice_follows_size_and_pattern() {
    let chain = |n: usize| -> Vec<(usize, usize)> {
        (0..n).flat_map(|i| (i.saturating_sub(1)..(i + 2).min(n)).map(move |j| (i, j))).collect()
    };
    let method = |n, entries: &[(usize, usize)]| {
        LinearSystem::new(n, entries, Structure::General).unwrap().method()
    };
    assert_eq!(method(3, &chain(3)), Method::Dense);
    assert_eq!(method(100, &chain(100)), Method::Banded);
    let full: Vec<(usize, usize)> = (0..20).flat_map(|i| (0..20).map(move |j| (i, j))).collect();
    assert_eq!(method(20, &full), Method::Dense);
    // A star around one hub has a full band in every order, but hardly any entries.
    let star: Vec<(usize, usize)> =
        (0..600).map(|i| (i, i)).chain((1..600).flat_map(|i| [(0, i), (i, 0)])).collect();
    assert_eq!(method(600, &star), Method::Sparse);
}

#[test]
fn results_do_not_depend_on_the_order_of_declaration_beyond_rounding() {
    let mut rng = rng(24);
    let n = 50;
    let entries = pattern(&mut rng, n, 3, 4);
    let values: Vec<f64> = entries
        .iter()
        .map(|e| if e.0 == e.1 { 10.0 } else { rng.random_range(-1.0..1.0) })
        .collect();
    let b = normal(&mut rng, n);
    let mut order: Vec<usize> = (0..entries.len()).collect();
    let mut reference: Option<Vec<f64>> = None;
    for _ in 0..5 {
        let shuffled: Vec<(usize, usize)> = order.iter().map(|&e| entries[e]).collect();
        let mut system = LinearSystem::new(n, &shuffled, Structure::General).unwrap();
        system.factorise(&order.iter().map(|&e| values[e]).collect::<Vec<_>>()).unwrap();
        let mut x = b.clone();
        system.solve_in_place(&mut x).unwrap();
        let first = reference.get_or_insert_with(|| x.clone());
        assert!(distance(first, &x) < 1e-12 * max_abs(&x));
        order.shuffle(&mut rng);
    }
}

#[test]
fn bad_input_is_rejected() {
    let entries = [(0, 0), (1, 1), (2, 2), (1, 0)];
    assert!(matches!(
        LinearSystem::new(2, &entries, Structure::General),
        Err(LinearError::Index { index: 2, bound: 2, .. })
    ));
    assert!(matches!(
        LinearSystem::new(3, &entries, Structure::SaddlePoint(&[1, 1])),
        Err(LinearError::Size { .. })
    ));
    for structure in
        [Structure::General, Structure::PositiveDefinite, Structure::SaddlePoint(&[1, 1, -1])]
    {
        for method in METHODS {
            let mut system = LinearSystem::with_method(3, &entries, structure, method).unwrap();
            assert!(matches!(system.factorise(&[1.0; 3]), Err(LinearError::Size { .. })));
            assert_eq!(system.solve_in_place(&mut [0.0; 3]), Err(LinearError::NotFactorised));
            for bad in [f64::NAN, f64::INFINITY] {
                for place in 0..4 {
                    let mut values = [2.0, 2.0, -2.0, 0.5];
                    values[place] = bad;
                    assert!(system.factorise(&values).is_err(), "{structure:?} {method:?}");
                }
            }
        }
    }
    // No entries at all, and no unknowns at all.
    assert!(LinearSystem::new(4, &[], Structure::General).unwrap().factorise(&[]).is_err());
    let mut empty = LinearSystem::new(0, &[], Structure::General).unwrap();
    empty.factorise(&[]).unwrap();
    empty.solve_in_place(&mut []).unwrap();
}

#[test]
fn a_shuffled_chain_is_recognised_as_tridiagonal() {
    let mut rng = rng(25);
    for n in [5, 50, 500] {
        let mut hidden: Vec<usize> = (0..n).collect();
        hidden.shuffle(&mut rng);
        let entries: Vec<(usize, usize)> = (0..n)
            .flat_map(|i| (i.saturating_sub(1)..(i + 2).min(n)).map(move |j| (i, j)))
            .map(|(i, j)| (hidden[i], hidden[j]))
            .collect();
        let system =
            LinearSystem::with_method(n, &entries, Structure::General, Method::Banded).unwrap();
        assert_eq!(system.half_bandwidths(), Some((1, 1)));
    }
}

#[test]
fn tridiagonal_elimination_exchanges_rows_and_finds_singular_ones() {
    let mut rng = rng(26);
    for n in [2, 3, 4, 7, 30, 200] {
        for _ in 0..50 {
            let entries: Vec<(usize, usize)> = (0..n)
                .flat_map(|i: usize| (i.saturating_sub(1)..(i + 2).min(n)).map(move |j| (i, j)))
                .collect();
            // Small diagonals force exchanges.
            let mut values: Vec<f64> =
                entries
                    .iter()
                    .map(|&(i, j)| {
                        if i == j {
                            rng.random_range(-0.1..0.1)
                        } else {
                            rng.random_range(0.5..1.0)
                        }
                    })
                    .collect();
            let mut system =
                LinearSystem::with_method(n, &entries, Structure::General, Method::Banded).unwrap();
            // An odd chain with so small a diagonal is nearly singular.
            if n % 2 == 0 {
                system.factorise(&values).unwrap();
                let (a, b) = (assemble(n, &entries, &values, false), normal(&mut rng, n));
                let (mut x, mut y) = (b.clone(), b.clone());
                system.solve_in_place(&mut x).unwrap();
                system.solve_transposed_in_place(&mut y).unwrap();
                assert!(backward_error(n, &a, &x, &b) < 1e-14, "n = {n}");
                assert!(backward_error(n, &transpose(n, n, &a), &y, &b) < 1e-14, "n = {n}");
                // Rows and columns in units of their own, over five decades, change nothing about it.
                let scales: Vec<f64> =
                    (0..n).map(|_| 2.0_f64.powi(rng.random_range(-8..8))).collect();
                let scaled: Vec<f64> = entries
                    .iter()
                    .zip(&values)
                    .map(|(&(i, j), v)| v * scales[i] * scales[n - 1 - j])
                    .collect();
                system.factorise(&scaled).unwrap();
            }
            // A row of zeros.
            let row = rng.random_range(0..n);
            for (v, _) in values.iter_mut().zip(&entries).filter(|(_, e)| e.0 == row) {
                *v = 0.0;
            }
            assert!(
                matches!(system.factorise(&values), Err(LinearError::Singular { .. })),
                "n = {n}"
            );
        }
    }
}
