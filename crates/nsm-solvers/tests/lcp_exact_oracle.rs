//! Small problems of every matrix class against an oracle in exact arithmetic, scaled over 24 decades.
//!
//! An answer must satisfy the complementarity conditions and a claim that there is none must be true. The
//! oracle enumerates the complementary bases in integers: $q$ lies in a complementary cone exactly when it is a non-negative
//! combination of independent columns of it. `NSM_LCP_PROBLEMS` sets the dose, e.g. 1000000 in release mode.

#[path = "common/integer_problems.rs"]
mod integer_problems;

use integer_problems::{Class, IntegerProblem, Outcome, classes, is_solvable, residual};
use nsm_solvers::lcp::{LcpWorkspace, Matrix, Method, Report};
use num_bigint::BigInt;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

const DOSE: usize = 12_000;

fn dose() -> usize {
    std::env::var("NSM_LCP_PROBLEMS").ok().and_then(|v| v.parse().ok()).unwrap_or(DOSE)
}

/// Solves in the units of the given rows and columns; the answer in the units of the integers.
fn run(
    workspace: &mut LcpWorkspace,
    method: Option<Method>,
    p: &IntegerProblem,
    (row, column): (&[f64], &[f64]),
) -> Outcome {
    let n = p.n;
    let m: Vec<f64> = (0..n * n).map(|k| p.m[k] as f64 * row[k / n] * column[k % n]).collect();
    let q: Vec<f64> = (0..n).map(|i| p.q[i] as f64 * row[i]).collect();
    let matrix = Matrix::dense(n, &m).unwrap();
    let (mut z, mut w) = (vec![0.0; n], vec![0.0; n]);
    let answer = match method {
        None => workspace.solve(matrix, &q, &mut z, &mut w),
        Some(method) => workspace.solve_with(method, matrix, &q, &mut z, &mut w),
    };
    match answer {
        Ok(Report { residual: reported, .. }) => {
            assert!(z.iter().chain(&w).all(|v| v.is_finite()), "{p:?}: {z:?}");
            let worst = residual(n, &m, &q, &z, row, column);
            assert!(reported <= 1e-6, "{p:?}: {reported:e}");
            Outcome::Solved(worst)
        }
        Err(error) if error.proves_no_solution() => Outcome::Claimed { m, q, error },
        Err(error) => Outcome::Refused(error),
    }
}

#[derive(Default, Debug)]
struct Tally {
    inputs: usize,
    solved: usize,
    proven: usize,
    refused: usize,
    refused_solvable: usize,
}

/// How the rows and columns of an integer problem are scaled.
#[derive(Clone, Copy, PartialEq)]
enum Units {
    Own,
    Two,
    TwoSymmetric,
    Ten,
}

fn units(kind: Units, n: usize, rng: &mut Pcg64Mcg) -> (Vec<f64>, Vec<f64>) {
    let mut pick = || match kind {
        Units::Own => 1.0,
        Units::Two | Units::TwoSymmetric => 2.0_f64.powi(rng.random_range(-40..=40)),
        Units::Ten => 10.0_f64.powi(rng.random_range(-12..=12)),
    };
    let row: Vec<f64> = (0..n).map(|_| pick()).collect();
    let column = (0..n).map(|i| if kind == Units::Two { pick() } else { row[i] }).collect();
    (row, column)
}

fn attack(kind: Units, seed: u64, problems: usize) -> Tally {
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    let mut tally = Tally::default();
    let mut workspaces: Vec<LcpWorkspace> = (0..=6).map(LcpWorkspace::new).collect();
    let classes = classes();
    for trial in 0..problems {
        let class = classes[trial % classes.len()];
        let n = rng.random_range(1..=6);
        let mut p = IntegerProblem::random(class, n, &mut rng);
        if kind != Units::Own && class == Class::Bimatrix {
            // The units of rows without a right-hand side that see no others are anybody's guess.
            p.q.iter_mut().filter(|q| **q == 0).for_each(|q| *q = 1);
        }
        let (row, column) = units(kind, n, &mut rng);
        let method = (trial / classes.len()) % (Method::ALL.len() + 3);
        let method = Method::ALL.get(method).copied();
        let outcome = run(&mut workspaces[n], method, &p, (&row, &column));
        tally.inputs += 1;
        let what = || format!("#{trial} {method:?} {p:?} rows {row:?} columns {column:?}");
        match outcome {
            Outcome::Solved(worst) => {
                tally.solved += 1;
                // Methods that approach a solution stop at 1e-12 of the largest right-hand side, which in other
                // units may be that of rows six decades apart.
                let iterative = matches!(
                    method,
                    Some(Method::ProjectedGaussSeidel | Method::AcceleratedGradient)
                );
                let bar = if iterative && kind != Units::Own { 1e-6 } else { 1e-9 };
                assert!(worst <= bar, "residual {worst:e}: {}", what());
                // Powers of ten are rounded: the problem is then only near the one in integers.
                if kind != Units::Ten {
                    assert!(is_solvable(n, &p.m, &p.q), "there is no solution: {}", what());
                }
            }
            Outcome::Claimed { m, q, error } => {
                tally.proven += 1;
                let solvable = if kind == Units::Ten {
                    let integer = |v: &f64| integer_problems::scaled_integer(*v);
                    let m: Vec<BigInt> = m.iter().map(integer).collect();
                    let q: Vec<BigInt> = q.iter().map(integer).collect();
                    is_solvable(n, &m, &q)
                } else {
                    is_solvable(n, &p.m, &p.q)
                };
                assert!(!solvable, "{error}, but there is one: {}", what());
            }
            Outcome::Refused(error) => {
                tally.refused += 1;
                let unique = matches!(class, Class::Definite | Class::Dominant);
                assert!(!(unique && method.is_none()), "{error}: {}", what());
                if kind != Units::Ten && method.is_none() {
                    tally.refused_solvable += usize::from(is_solvable(n, &p.m, &p.q));
                }
            }
        }
    }
    tally
}

#[test]
fn answers_and_claims_on_integer_problems_are_right() {
    let tally = attack(Units::Own, 71, dose());
    eprintln!("{tally:?}");
    assert!(tally.solved > dose() / 3 && tally.proven > dose() / 50, "{tally:?}");
    assert!(tally.refused_solvable * 500 < dose(), "{tally:?}");
}

#[test]
fn answers_and_claims_do_not_depend_on_units() {
    let two = attack(Units::Two, 72, dose() / 2);
    let symmetric = attack(Units::TwoSymmetric, 73, dose() / 2);
    let ten = attack(Units::Ten, 74, dose() / 3);
    eprintln!("{two:?}\n{symmetric:?}\n{ten:?}");
    for (tally, share) in [(&two, 2), (&symmetric, 2), (&ten, 3)] {
        assert!(tally.solved > dose() / share / 3, "{tally:?}");
        assert!(tally.refused_solvable * 500 < dose() / share, "{tally:?}");
    }
}
