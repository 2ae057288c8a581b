//! The identities of García Orden's energy balance, on random cases and on his example.

mod common;

use common::{Affine, auto};
use nalgebra::{DMatrix, DVector};
use nsm_constraints::{Expr, Scalar};
use nsm_model::{Mass, System};
use nsm_vi::{EnergyBalance, Projection, ProjectionMatrix, Strength};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

fn spd(n: usize, random: &mut Pcg64) -> Vec<Vec<f64>> {
    let g = DMatrix::from_fn(n, n, |_, _| random.random_range(-1.0..1.0));
    let a: DMatrix<f64> = &g * g.transpose() + DMatrix::identity(n, n) * 0.2;
    (0..n).map(|i| (0..n).map(|j| 0.5 * (a[(i, j)] + a[(j, i)])).collect()).collect()
}

/// A system with random mass and linear constraints, and a random projection matrix.
fn case(n: usize, m: usize, random: &mut Pcg64) -> (System, Vec<Vec<f64>>) {
    let mut system = System::new(Mass::full(&spd(n, random)).unwrap());
    let block: Vec<usize> = (0..n).collect();
    for _ in 0..m {
        let row: Vec<f64> = (0..n).map(|_| random.random_range(-1.0..1.0)).collect();
        system = system.with_equality("plane", auto(Affine(row, 0.0), &block)).unwrap();
    }
    (system, spd(n, random))
}

fn norm(a: &DMatrix<f64>) -> f64 {
    a.norm().max(1e-300)
}

#[test]
fn identities_15_19_and_21_hold_on_random_cases() {
    let mut random = Pcg64::seed_from_u64(7);
    for trial in 0..200 {
        let (n, m) = (2 + trial % 5, 1 + trial % 3);
        let (system, a) = case(n, m.min(n - 1), &mut random);
        let alpha = 10.0_f64.powf(random.random_range(-2.0..3.0));
        let projection = Projection::penalty(ProjectionMatrix::Full(a), alpha);
        let q = vec![0.0; n];
        let balance = EnergyBalance::new(&system, &projection, &q, 0.0).unwrap();
        let mut bound = projection.bind(&system).unwrap();
        let before: Vec<f64> = (0..n).map(|_| random.random_range(-1.0..1.0)).collect();
        let mut v = before.clone();
        let change = bound.project(&q, 0.0, &mut v).unwrap();
        // (15): v* = P v.
        let p = balance.p().unwrap();
        let back = &p * DVector::from_column_slice(&v) - DVector::from_column_slice(&before);
        assert!(back.norm() < 1e-12 * p.norm(), "{:e}", back.norm());
        let through = balance.projector() * DVector::from_column_slice(&before);
        assert!((through - DVector::from_column_slice(&v)).norm() < 1e-12);
        // (19): the symmetric part of D.
        let (d, ds) = (balance.d().unwrap(), balance.d_symmetric().unwrap());
        let symmetric = (&d + d.transpose()) * 0.5;
        // D is formed from 1 − P, which cancels where the penalty is small.
        let mass_norm = system.mass().entries().iter().map(|e| e.2 * e.2).sum::<f64>().sqrt();
        let size = norm(&ds) + mass_norm * p.norm() * (1.0 + p.norm());
        assert!((&symmetric - &ds).norm() < 4e-16 * size, "{:e}", (&symmetric - &ds).norm());
        // (21), and that both accounts of the energy are the same number.
        let [first, second] = balance.energy_terms(&v).unwrap();
        let size = first.abs() + second.abs() + change.abs();
        assert!((first + second - change).abs() < 1e-9 * size, "{first} {second} {change}");
        assert!(second <= 0.0);
        let direct = balance.energy_change(&before).unwrap();
        assert!((direct - change).abs() < 1e-12 * (1.0 + change.abs()), "{direct} {change}");
        // The gain is the largest of all, and is attained.
        let safety = balance.safety();
        let mass = system.mass();
        let attained = balance.energy_change(&safety.worst).unwrap();
        let ratio = attained / mass.kinetic_energy(&safety.worst);
        assert!((ratio - safety.gain).abs() < 1e-10 * (1.0 + safety.gain), "{ratio}");
        assert!(change / mass.kinetic_energy(&before) <= safety.gain + 1e-12);
        assert!(safety.safe == (safety.gain < 1e-11), "{safety:?}");
    }
}

#[test]
fn kernels_are_the_compatible_velocities() {
    let mut random = Pcg64::seed_from_u64(11);
    for _ in 0..50 {
        let (system, a) = case(5, 2, &mut random);
        let projection = Projection::penalty(ProjectionMatrix::Full(a), 4.0);
        let balance = EnergyBalance::new(&system, &projection, &[0.0; 5], 0.0).unwrap();
        let basis = balance.compatible();
        assert_eq!(basis.nrows(), 3);
        let (b, d) = (balance.b(), balance.d().unwrap());
        assert!((b * basis.transpose()).norm() < 1e-13 * b.norm());
        assert!((&d * basis.transpose()).norm() < 1e-13 * d.norm());
        // No more than these: the rank of B and of D is that of J.
        assert_eq!(b.clone().svd(false, false).rank(1e-12 * b.norm()), 2);
        assert_eq!(d.clone().svd(false, false).rank(1e-12 * d.norm()), 2);
    }
}

#[test]
fn multiples_of_the_mass_are_safe_for_any_number_of_constraints() {
    let mut random = Pcg64::seed_from_u64(3);
    for m in 1..5 {
        let (system, _) = case(5, m, &mut random);
        let mut scaled = vec![vec![0.0; 5]; 5];
        for (i, j, x) in system.mass().entries() {
            scaled[i][j] = 3.0 * x;
        }
        for matrix in [ProjectionMatrix::Mass, ProjectionMatrix::Full(scaled)] {
            for strength in [Strength::Exact, Strength::Penalty(2.0)] {
                let projection = Projection { matrix: matrix.clone(), strength };
                let balance = EnergyBalance::new(&system, &projection, &[0.0; 5], 0.0).unwrap();
                let safety = balance.safety();
                assert!(safety.safe && safety.gain.abs() < 1e-11, "{safety:?}");
            }
        }
        let projection =
            Projection { matrix: ProjectionMatrix::Identity, strength: Strength::Exact };
        let balance = EnergyBalance::new(&system, &projection, &[0.0; 5], 0.0).unwrap();
        assert!(!balance.safety().safe && balance.safety().gain > 1e-3);
        assert!(balance.p().is_none() && balance.d().is_none());
    }
}

struct Circle;
impl Expr for Circle {
    fn value<T: Scalar>(&self, q: &[T], _t: T) -> T {
        q[0] * q[0] + q[1] * q[1] - 1.0
    }
}

#[test]
fn the_example_of_section_six() {
    let (a, mu, alpha) = (15.0, 0.1, 1.0);
    let system = System::new(Mass::diagonal(&[1.0, mu]).unwrap())
        .with_equality("circle", auto(Circle, &[0, 1]))
        .unwrap();
    let w = ProjectionMatrix::Full(vec![vec![a, 0.0], vec![0.0, 1.0]]);
    let q = [0.6, 0.8];
    let balance =
        EnergyBalance::new(&system, &Projection::penalty(w.clone(), alpha), &q, 0.0).unwrap();
    let (b, bs) = (balance.b(), balance.b_symmetric());
    let expected = [
        4.0 * q[0] * q[0] / a,
        4.0 * q[0] * q[1] / a,
        4.0 * mu * q[0] * q[1],
        4.0 * mu * q[1] * q[1],
    ];
    for (i, e) in expected.iter().enumerate() {
        assert!((b[(i / 2, i % 2)] - e).abs() < 1e-15);
    }
    let determinant = -4.0 / (a * a) * (q[0] * q[1]).powi(2) * (1.0_f64 - a * mu).powi(2);
    assert!((bs.determinant() - determinant).abs() < 1e-15);
    assert!((determinant + 1.024e-3).abs() < 1e-9);
    assert!(!balance.safety().safe);
    // The zero set of Dˢ: the tangent, and the line with the slope −κ q₁/q₂ (with the erratum of κ).
    let common = 2.0 * alpha * (q[0] * q[0] + a * a * mu * q[1] * q[1]);
    let kappa = (a + common) / (mu * a * a + common);
    assert!((kappa - 0.85582).abs() < 1e-5, "{kappa}");
    let ds = balance.d_symmetric().unwrap();
    for slope in [-q[0] / q[1], -kappa * q[0] / q[1]] {
        let x = DVector::from_column_slice(&[1.0, slope]);
        assert!(x.dot(&(&ds * &x)).abs() < 1e-14, "{slope}");
    }
    // Where the gradient is along an axis, W is as good as M.
    let balance = EnergyBalance::new(&system, &Projection::penalty(w, alpha), &[0.0, 1.0], 0.0);
    assert!(balance.unwrap().safety().safe);
}
