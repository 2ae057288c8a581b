//! The multiplier scheme preserves the canonical form on the constraint manifold: the double spherical pendulum,
//! with the form pulled back to its angles and their rates.

use nsm_constraints::{Affine, LineSpring, Rod};
use nsm_model::{Mass, State, Stepper, System};
use nsm_vi::{Quadrature, Variational};

/// Two masses on rods in space; a spring between their heights makes the midpoint rule implicit.
fn pendulum(spring: bool) -> System {
    let system = System::new(Mass::diagonal(&[1.0, 1.0, 1.0, 2.0, 2.0, 2.0]).unwrap())
        .with_potential("weights", Affine::new(&[2, 5], &[9.81, 19.62], 0.0).unwrap())
        .unwrap()
        .with_equality("upper", Rod::to_pivot(&[0, 1, 2], &[0.0; 3], 1.0).unwrap())
        .unwrap()
        .with_equality("lower", Rod::between(&[0, 1, 2], &[3, 4, 5], 0.7).unwrap())
        .unwrap();
    if !spring {
        return system;
    }
    system.with_potential("spring", LineSpring::new(2, 5, 15.0, 0.4).unwrap()).unwrap()
}

/// The state of polar angles, azimuths and their rates.
fn place(system: &System, x: &[f64; 8]) -> State {
    let (mut q, mut v) = (vec![0.0; 6], vec![0.0; 6]);
    for (body, length) in [(0, 1.0), (1, 0.7)] {
        let [a, b, u, w] = [0, 2, 4, 6].map(|k| x[k + body]);
        let ((sa, ca), (sb, cb)) = (a.sin_cos(), b.sin_cos());
        let position = [sa * cb, sa * sb, -ca];
        let velocity = [u * ca * cb - w * sa * sb, u * ca * sb + w * sa * cb, u * sa];
        for k in 0..3 {
            let above = if body == 1 { (q[k], v[k]) } else { (0.0, 0.0) };
            q[3 * body + k] = above.0 + length * position[k];
            v[3 * body + k] = above.1 + length * velocity[k];
        }
    }
    State::new(system, &q, &v).unwrap()
}

#[test]
fn the_canonical_form_is_preserved() {
    let at = [0.7, 1.1, 0.3, -0.8, 0.6, -0.5, 1.2, 0.9];
    for (spring, quadrature) in
        [(false, Quadrature::Midpoint), (true, Quadrature::Midpoint), (true, Quadrature::Verlet)]
    {
        let system = pendulum(spring);
        let image = |x: &[f64; 8]| {
            let start = place(&system, x);
            let mut state = start.clone();
            let mut stepper = Variational::new(0.02, quadrature).stepper(&system).unwrap();
            for _ in 0..5 {
                stepper.step(&mut state).unwrap();
            }
            [start.q, start.p, state.q, state.p]
        };
        let eps = 1e-5;
        let columns: Vec<[Vec<f64>; 4]> = (0..8)
            .map(|i| {
                let (mut right, mut left) = (at, at);
                right[i] += eps;
                left[i] -= eps;
                let (right, left) = (image(&right), image(&left));
                std::array::from_fn(|part| {
                    let pairs = right[part].iter().zip(&left[part]);
                    pairs.map(|(a, b)| (a - b) / (2.0 * eps)).collect()
                })
            })
            .collect();
        let dot = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
        let mut largest = 0.0_f64;
        for i in 0..8 {
            for j in 0..i {
                let (a, b) = (&columns[i], &columns[j]);
                let before = dot(&a[0], &b[1]) - dot(&b[0], &a[1]);
                let after = dot(&a[2], &b[3]) - dot(&b[2], &a[3]);
                largest = largest.max(before.abs());
                assert!((before - after).abs() < 2e-8, "{quadrature:?} {i}{j}: {before} {after}");
            }
        }
        assert!(largest > 0.1);
    }
}
