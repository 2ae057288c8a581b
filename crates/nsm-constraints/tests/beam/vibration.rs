//! Small vibrations of a beam on two supports against Timoshenko's frequencies.

use std::f64::consts::PI;

use nsm_constraints::Field;
use nsm_constraints::multibody::{SectionMass, SectionStiffness};
use nsm_solvers::small::{cholesky, dot};

use crate::chain::Chain;

/// The lowest frequency in the plane of $d_1$ and $d_3$, supported at both ends.
fn lowest(length: f64, count: usize, stiffness: &SectionStiffness, mass: &SectionMass) -> f64 {
    let chain = Chain::straight(length, count, stiffness);
    // Deflections along d₁ of the inner nodes, rotations about d₂ of all: δd₁ = -d₃, δd₃ = d₁.
    let mut freedoms: Vec<Vec<(usize, f64)>> = (1..count).map(|k| vec![(12 * k, 1.0)]).collect();
    freedoms.extend((0..=count).map(|k| vec![(12 * k + 5, -1.0), (12 * k + 9, 1.0)]));
    let (n, d) = (chain.q.len(), freedoms.len());
    let (mut stiff, mut inertia) = (vec![0.0; n * n], vec![0.0; n * n]);
    for element in &chain.elements {
        let mut block = [0.0; 576];
        element.hessian(&chain.q, 0.0, 1.0, &mut block);
        for (a, &i) in element.coordinates().iter().enumerate() {
            for (b, &j) in element.coordinates().iter().enumerate() {
                stiff[i * n + j] += block[24 * a + b];
            }
        }
        for (i, j, m) in element.mass_entries(mass).unwrap() {
            inertia[i * n + j] += m;
        }
    }
    let reduce = |full: &[f64]| {
        let mut out = vec![0.0; d * d];
        for (a, first) in freedoms.iter().enumerate() {
            for (b, second) in freedoms.iter().enumerate() {
                for &(i, x) in first {
                    out[a * d + b] +=
                        second.iter().map(|&(j, y)| x * full[i * n + j] * y).sum::<f64>();
                }
            }
        }
        out
    };
    let (stiff, inertia) = (reduce(&stiff), reduce(&inertia));
    let mut factor = stiff.clone();
    cholesky::factor(d, &mut factor, 0.0).unwrap();
    let product = |matrix: &[f64], x: &[f64]| -> Vec<f64> {
        matrix.chunks_exact(d).map(|row| dot(row, x)).collect()
    };
    let mut x: Vec<f64> = (0..d).map(|i| 1.0 + 0.1 * i as f64).collect();
    for _ in 0..60 {
        let mut y = product(&inertia, &x);
        cholesky::solve(d, &factor, &mut y).unwrap();
        let size = dot(&y, &y).sqrt();
        x = y.iter().map(|y| y / size).collect();
    }
    (dot(&x, &product(&stiff, &x)) / dot(&x, &product(&inertia, &x))).sqrt()
}

/// Timoshenko's frequency of half a wave along the beam.
fn timoshenko(length: f64, stiffness: &SectionStiffness, mass: &SectionMass) -> f64 {
    let k = PI / length;
    // (GA k² - Aρ ω²)(EI k² + GA - Mρ¹ ω²) = (GA k)², the lower root.
    let (ga, ei) = (stiffness.shear[0], stiffness.bending[1]);
    let (a, i) = (mass.per_length, mass.directors[0]);
    let (quadratic, linear) = (a * i, a * (ei * k * k + ga) + i * ga * k * k);
    let constant = ga * k * k * ei * k * k;
    (2.0 * constant / (linear + (linear * linear - 4.0 * quadratic * constant).sqrt())).sqrt()
}

#[test]
fn a_stocky_beam_vibrates_as_timoshenko_says() {
    let stiffness =
        SectionStiffness { shear: [50.0, 60.0], axial: 100.0, bending: [2.0, 3.0], torsion: 1.0 };
    let mass = SectionMass { per_length: 1.2, directors: [0.05, 0.08] };
    let exact = timoshenko(2.0, &stiffness, &mass);
    let error = |count| lowest(2.0, count, &stiffness, &mass) / exact - 1.0;
    let (coarse, fine) = (error(16), error(32));
    assert!(fine.abs() < 2e-3, "{fine:e}");
    assert!(((coarse / fine).log2() - 2.0).abs() < 0.05, "{coarse:e} {fine:e}");
}

#[test]
fn a_slender_beam_vibrates_as_euler_and_bernoulli_say() {
    let stiffness =
        SectionStiffness { shear: [3e6, 3e6], axial: 8e6, bending: [2.0, 3.0], torsion: 1.0 };
    let mass = SectionMass { per_length: 1.2, directors: [1e-7, 1e-7] };
    let exact = PI * PI / 4.0 * (3.0_f64 / 1.2).sqrt();
    let error = |count| lowest(2.0, count, &stiffness, &mass) / exact - 1.0;
    let (coarse, fine) = (error(16), error(32));
    // One-point quadrature does not lock: the error is that of a wave of 32 points.
    assert!(fine.abs() < 2e-3, "{fine:e}");
    assert!(((coarse / fine).log2() - 2.0).abs() < 0.05, "{coarse:e} {fine:e}");
}
