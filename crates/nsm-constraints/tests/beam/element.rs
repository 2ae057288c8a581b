//! One element: strains by their definition, derivatives, rigid motions, the mean gradient, bad input.

use nsm_constraints::Field;
use nsm_constraints::multibody::{BeamElement, SectionMass, SectionStiffness};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use crate::chain::{Vector, cross, node, turn, vector};

const STIFFNESS: SectionStiffness =
    SectionStiffness { shear: [3.0, 5.0], axial: 11.0, bending: [2.0, 0.7], torsion: 1.3 };

/// A curved and twisted reference.
fn reference() -> [[f64; 12]; 2] {
    [node([0.1, -0.2, 0.3], [0.2, 0.1, -0.3]), node([0.3, 0.1, 0.9], [0.5, -0.1, 0.1])]
}

fn element() -> BeamElement {
    BeamElement::new([0, 12], &reference(), &STIFFNESS).unwrap()
}

fn random(rng: &mut Pcg64) -> Vec<f64> {
    (0..24).map(|_| rng.random_range(-1.5..1.5)).collect()
}

fn dot(a: Vector, b: Vector) -> f64 {
    (0..3).map(|c| a[c] * b[c]).sum()
}

/// Strains from the interpolated fields in the middle of the element, without the reference.
fn interpolated(q: &[f64], l: f64) -> [f64; 6] {
    let at = |k: usize| -> (Vector, Vector) {
        let (a, b) = (vector(q, 3 * k), vector(q, 12 + 3 * k));
        (std::array::from_fn(|c| 0.5 * (a[c] + b[c])), std::array::from_fn(|c| (b[c] - a[c]) / l))
    };
    let (_, tangent) = at(0);
    std::array::from_fn(|k| {
        if k < 3 {
            dot(at(k + 1).0, tangent)
        } else {
            let (j, k) = ((k - 2) % 3 + 1, (k - 1) % 3 + 1);
            0.5 * (dot(at(k).0, at(j).1) - dot(at(j).0, at(k).1))
        }
    })
}

#[test]
fn strains_are_those_of_the_interpolated_line_and_directors() {
    let element = element();
    let mut rng = Pcg64::seed_from_u64(1);
    let l = (0.2_f64.powi(2) + 0.3_f64.powi(2) + 0.6_f64.powi(2)).sqrt();
    assert!((element.length() - l).abs() < 1e-15);
    let rest = interpolated(reference().as_flattened(), l);
    assert_eq!(element.strains(reference().as_flattened()), [0.0; 6]);
    for _ in 0..50 {
        let q = random(&mut rng);
        let (found, expected) = (element.strains(&q), interpolated(&q, l));
        for k in 0..6 {
            assert!((found[k] - (expected[k] - rest[k])).abs() < 1e-13, "{k}");
        }
        let stress = element.resultants(&q);
        let c = [3.0, 5.0, 11.0, 2.0, 0.7, 1.3];
        let energy: f64 = (0..6).map(|k| 0.5 * l * c[k] * found[k] * found[k]).sum();
        assert!((element.value(&q, 0.0) - energy).abs() < 1e-12 * energy);
        assert_eq!(stress.force[2], 11.0 * found[2]);
        assert_eq!(stress.moment[1], 0.7 * found[4]);
    }
}

#[test]
fn gradients_and_hessians_agree_with_differences() {
    let element = element();
    let mut rng = Pcg64::seed_from_u64(2);
    for _ in 0..10 {
        let q = random(&mut rng);
        let (mut gradient, mut hessian) = ([0.0; 24], [0.0; 576]);
        element.gradient(&q, 0.0, &mut gradient);
        element.hessian(&q, 0.0, 2.0, &mut hessian);
        for j in 0..24 {
            let (mut right, mut left) = (q.clone(), q.clone());
            let e = 1e-5;
            right[j] += e;
            left[j] -= e;
            let slope = (element.value(&right, 0.0) - element.value(&left, 0.0)) / (2.0 * e);
            assert!((slope - gradient[j]).abs() < 1e-7, "{j}: {slope} {}", gradient[j]);
            let (mut a, mut b) = ([0.0; 24], [0.0; 24]);
            element.gradient(&right, 0.0, &mut a);
            element.gradient(&left, 0.0, &mut b);
            for i in 0..24 {
                let slope = (a[i] - b[i]) / e;
                assert!((slope - hessian[i * 24 + j]).abs() < 1e-6, "{i}{j}");
                assert!((hessian[i * 24 + j] - hessian[j * 24 + i]).abs() < 1e-12);
            }
        }
    }
}

#[test]
fn rigid_motions_leave_the_strains_and_turn_the_forces() {
    let element = element();
    let mut rng = Pcg64::seed_from_u64(3);
    for _ in 0..50 {
        let theta = std::array::from_fn(|_| rng.random_range(-3.0..3.0));
        let shift: Vector = std::array::from_fn(|_| rng.random_range(-9.0..9.0));
        let moved = |q: &[f64]| -> Vec<f64> {
            (0..8)
                .flat_map(|k| {
                    let x = turn(theta, vector(q, 3 * k));
                    std::array::from_fn::<f64, 3, _>(|c| {
                        x[c] + if k % 4 == 0 { shift[c] } else { 0.0 }
                    })
                })
                .collect()
        };
        for strain in element.strains(&moved(reference().as_flattened())) {
            assert!(strain.abs() < 1e-14 * 1e2, "{strain:e}");
        }
        let q = random(&mut rng);
        let (mut here, mut there) = ([0.0; 24], [0.0; 24]);
        element.gradient(&q, 0.0, &mut here);
        element.gradient(&moved(&q), 0.0, &mut there);
        for k in 0..8 {
            let (turned, found) = (turn(theta, vector(&here, 3 * k)), vector(&there, 3 * k));
            for c in 0..3 {
                assert!((turned[c] - found[c]).abs() < 1e-11, "{turned:?} {found:?}");
            }
        }
    }
}

#[test]
fn the_mean_gradient_does_the_work_exactly_and_has_no_resultant() {
    let element = element();
    let mut rng = Pcg64::seed_from_u64(4);
    for _ in 0..20 {
        let (start, end) = (random(&mut rng), random(&mut rng));
        let mean = |end: &[f64]| {
            let mut out = [f64::NAN; 24];
            assert!(element.mean_gradient(&start, end, 0.0, &mut out));
            out
        };
        let gradient = mean(&end);
        let work: f64 = (0..24).map(|i| gradient[i] * (end[i] - start[i])).sum();
        let change = element.value(&end, 0.0) - element.value(&start, 0.0);
        assert!((work - change).abs() < 1e-12 * element.value(&end, 0.0).max(1.0));
        let (mut force, mut moment) = ([0.0; 3], [0.0; 3]);
        for k in 0..8 {
            let g = vector(&gradient, 3 * k);
            let middle: Vector = std::array::from_fn(|c| 0.5 * (start[3 * k + c] + end[3 * k + c]));
            let part = cross(middle, g);
            for c in 0..3 {
                moment[c] += part[c];
                force[c] += if k % 4 == 0 { g[c] } else { 0.0 };
            }
        }
        assert!(force.iter().chain(&moment).all(|x| x.abs() < 1e-12), "{force:?} {moment:?}");

        let mut derivative = [0.0; 576];
        assert!(element.mean_hessian(&start, &end, 0.0, 3.0, &mut derivative));
        for j in 0..24 {
            let (mut right, mut left) = (end.clone(), end.clone());
            right[j] += 1e-5;
            left[j] -= 1e-5;
            let (a, b) = (mean(&right), mean(&left));
            for i in 0..24 {
                let slope = 3.0 * (a[i] - b[i]) / 2e-5;
                assert!((slope - derivative[i * 24 + j]).abs() < 1e-6, "{i}{j}");
            }
        }
    }
}

#[test]
fn over_no_distance_the_mean_gradient_is_the_gradient() {
    let element = element();
    let q = random(&mut Pcg64::seed_from_u64(5));
    let (mut mean, mut gradient) = ([0.0; 24], [0.0; 24]);
    element.mean_gradient(&q, &q, 0.0, &mut mean);
    element.gradient(&q, 0.0, &mut gradient);
    assert!(mean.iter().zip(gradient).all(|(a, b)| (a - b).abs() < 1e-13));
}

#[test]
fn the_consistent_mass_integrates_the_interpolated_velocity() {
    let element = element();
    let section = SectionMass { per_length: 2.0, directors: [0.3, 0.5] };
    let v = random(&mut Pcg64::seed_from_u64(6));
    let found: f64 = element
        .mass_entries(&section)
        .unwrap()
        .iter()
        .map(|&(i, j, m)| 0.5 * v[i] * m * v[j])
        .sum();
    // Simpson is exact for the square of a linear function.
    let energy = |s: f64| {
        let density = [2.0, 0.3, 0.5, 0.0];
        let square =
            |k: usize, c: usize| ((1.0 - s) * v[3 * k + c] + s * v[12 + 3 * k + c]).powi(2);
        (0..4).map(|k| 0.5 * density[k] * (0..3).map(|c| square(k, c)).sum::<f64>()).sum::<f64>()
    };
    let expected = element.length() * (energy(0.0) + 4.0 * energy(0.5) + energy(1.0)) / 6.0;
    assert!((found - expected).abs() < 1e-14);
}

#[test]
fn bad_elements_are_refused_by_what_is_wrong() {
    let [a, b] = reference();
    let refuse = |nodes, reference: &[[f64; 12]; 2], stiffness: SectionStiffness| {
        BeamElement::new(nodes, reference, &stiffness).unwrap_err().to_string()
    };
    let bad = SectionStiffness { bending: [1.0, -2.0], ..STIFFNESS };
    assert_eq!(
        refuse([0, 12], &[a, b], bad),
        "the bending stiffness EI2 of a beam must be finite and not negative, got -2"
    );
    let bad = SectionStiffness { torsion: f64::NAN, ..STIFFNESS };
    assert!(refuse([0, 12], &[a, b], bad).contains("GJ"));
    assert!(refuse([0, 12], &[a, a], STIFFNESS).contains("length of a beam's element"));
    assert!(refuse([0, 11], &[a, b], STIFFNESS).contains("listed twice"));
    let section = SectionMass { per_length: 1.0, directors: [0.1, f64::NAN] };
    assert!(element().mass_entries(&section).unwrap_err().to_string().contains("M2"));
    let mut broken = b;
    broken[5] = f64::INFINITY;
    assert!(refuse([0, 12], &[a, broken], STIFFNESS).contains("must be finite"));
}
