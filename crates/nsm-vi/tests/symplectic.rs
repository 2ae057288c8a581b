//! The multiplier scheme preserves the canonical form on the constraint manifold: the double spherical pendulum,
//! with the form pulled back to its angles and their rates. So does the scheme of a mass that depends on the configuration, which moves as
//! the same system in Cartesian coordinates.

use nsm_constraints::{Affine, AutoDiff, Expr, LineSpring, Rod, Scalar};
use nsm_model::{AutoKinetic, KineticExpr, Mass, State, Stepper, System};
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

/// Two masses on rods of 0.7 and 0.5 in a plane, by the angle of the first and what the second is turned against it.
struct Arms;

impl KineticExpr for Arms {
    fn energy<T: Scalar>(&self, q: &[T], v: &[T]) -> T {
        let (l, k, w) = (0.7, 0.5, v[0] + v[1]);
        (v[0] * v[0] * (l * l) + w * w * (k * k)) * 0.5
            + v[0] * v[0] * (0.5 * l * l)
            + v[0] * w * q[1].cos() * (l * k)
    }
}

/// Their weights.
struct Hanging;

impl Expr for Hanging {
    fn value<T: Scalar>(&self, q: &[T], _t: T) -> T {
        (q[0].cos() * 1.4 + (q[0] + q[1]).cos() * 0.5) * (-9.81)
    }
}

fn arms(weight: bool) -> System {
    let system = System::with_variable_mass(AutoKinetic::new(Arms, 2).unwrap()).unwrap();
    if weight {
        system.with_potential("weights", AutoDiff::new(Hanging, &[0, 1]).unwrap()).unwrap()
    } else {
        system
    }
}

fn after(system: &System, method: Variational, start: &State, steps: usize) -> State {
    let (mut stepper, mut state) = (method.stepper(system).unwrap(), start.clone());
    for _ in 0..steps {
        stepper.step(&mut state).unwrap();
    }
    state
}

#[test]
fn a_mass_that_depends_on_the_configuration_keeps_form_momentum_and_the_way_back() {
    for quadrature in [Quadrature::Midpoint, Quadrature::Verlet] {
        let (system, method) = (arms(true), Variational::new(0.02, quadrature));
        let image = |x: [f64; 4]| {
            let start = State::from_momentum(&system, &x[..2], &x[2..]).unwrap();
            let end = after(&system, method, &start, 5);
            [end.q[0], end.q[1], end.p[0], end.p[1]]
        };
        // J of the flow keeps the canonical form: JᵀΩJ = Ω.
        let (at, eps) = ([0.9, -0.4, 0.6, 0.8], 1e-5);
        let columns: [[f64; 4]; 4] = std::array::from_fn(|i| {
            let (mut right, mut left) = (at, at);
            right[i] += eps;
            left[i] -= eps;
            let (right, left) = (image(right), image(left));
            std::array::from_fn(|k| (right[k] - left[k]) / (2.0 * eps))
        });
        for (i, a) in columns.iter().enumerate() {
            for (j, b) in columns.iter().enumerate() {
                let form = a[0] * b[2] + a[1] * b[3] - a[2] * b[0] - a[3] * b[1];
                let canonical = f64::from(i + 2 == j) - f64::from(j + 2 == i);
                assert!((form - canonical).abs() < 2e-9, "{quadrature:?} {i}{j}: {form}");
            }
        }
        // There and back.
        let start = State::from_momentum(&system, &at[..2], &at[2..]).unwrap();
        let mut turned = after(&system, method, &start, 100);
        turned.p.iter_mut().chain(&mut turned.v).for_each(|x| *x = -*x);
        let back = after(&system, method, &turned, 100);
        for k in 0..2 {
            assert!(
                (back.q[k] - start.q[k]).abs() < 1e-11 && (back.p[k] + start.p[k]).abs() < 1e-11
            );
        }
        // The energy of ten thousand steps stays in a band that shrinks with the square of the step.
        let band = |h: f64| {
            let (mut stepper, mut state) =
                (Variational::new(h, quadrature).stepper(&system).unwrap(), start.clone());
            let energy =
                |s: &State| system.kinetic_energy(&s.q, &s.v) + system.potential().sum(&s.q, s.t);
            let (first, mut widest) = (energy(&state), 0.0_f64);
            for _ in 0..10_000 {
                stepper.step(&mut state).unwrap();
                widest = widest.max((energy(&state) - first).abs());
            }
            widest
        };
        let bands = [band(0.01), band(0.005)];
        assert!(bands[0] < 0.05 && (bands[0] / bands[1]).log2() > 1.7, "{quadrature:?} {bands:?}");
        // Without weight the whole may be turned: its angular momentum is the same to the last bit.
        let free = arms(false);
        let start = State::from_momentum(&free, &at[..2], &at[2..]).unwrap();
        let end = after(&free, method, &start, 1000);
        assert_eq!(end.p[0], start.p[0]);
        assert!((end.p[1] - start.p[1]).abs() > 1e-3);
    }
}

#[test]
fn angles_move_as_cartesian_coordinates_with_rods() {
    let cartesian = System::new(Mass::diagonal(&[1.0; 4]).unwrap())
        .with_potential("weights", Affine::new(&[1, 3], &[9.81, 9.81], 0.0).unwrap())
        .unwrap()
        .with_equality("upper", Rod::to_pivot(&[0, 1], &[0.0; 2], 0.7).unwrap())
        .unwrap()
        .with_equality("lower", Rod::between(&[0, 1], &[2, 3], 0.5).unwrap())
        .unwrap();
    let (a, c, h) = (0.9_f64, -0.4_f64, 5e-5);
    let first = [0.7 * a.sin(), -0.7 * a.cos()];
    let second = [first[0] + 0.5 * (a + c).sin(), first[1] - 0.5 * (a + c).cos()];
    let q = [first[0], first[1], second[0], second[1]];
    let start = State::new(&cartesian, &q, &[0.0; 4]).unwrap();
    let reference = after(&cartesian, Variational::new(h, Quadrature::Midpoint), &start, 20_000);
    let angles = arms(true);
    let start = State::new(&angles, &[a, c], &[0.0; 2]).unwrap();
    for quadrature in [Quadrature::Midpoint, Quadrature::Verlet] {
        let error = |steps: u32| {
            let method = Variational::new(1.0 / f64::from(steps), quadrature);
            let end = after(&angles, method, &start, steps as usize);
            let (a, b) = (end.q[0], end.q[0] + end.q[1]);
            let x = 0.7 * a.sin() + 0.5 * b.sin() - reference.q[2];
            let y = -0.7 * a.cos() - 0.5 * b.cos() - reference.q[3];
            x.hypot(y)
        };
        let errors = [error(200), error(400)];
        let order = (errors[0] / errors[1]).log2();
        assert!((order - 2.0).abs() < 0.02, "{quadrature:?}: {errors:?}");
    }
}

/// A particle in polar coordinates.
struct Polar;

impl KineticExpr for Polar {
    fn energy<T: Scalar>(&self, q: &[T], v: &[T]) -> T {
        (v[0] * v[0] + q[0] * q[0] * v[1] * v[1]) * 0.5
    }
}

/// $r\cos\varphi - 1$, and the height $r\sin\varphi$.
struct Along(bool);

impl Expr for Along {
    fn value<T: Scalar>(&self, q: &[T], _t: T) -> T {
        if self.0 { q[0] * q[1].sin() } else { q[0] * q[1].cos() - 1.0 }
    }
}

#[test]
fn equalities_hold_under_a_mass_that_depends_on_the_configuration() {
    // Down a vertical wire from the height tan 1: free fall. The wire given twice is the same wire.
    for copies in [1, 2] {
        let mut system = System::with_variable_mass(AutoKinetic::new(Polar, 2).unwrap())
            .unwrap()
            .with_potential("weight", AutoDiff::new(Along(true), &[0, 1]).unwrap())
            .unwrap();
        for _ in 0..copies {
            system = system
                .with_equality("wire", AutoDiff::new(Along(false), &[0, 1]).unwrap())
                .unwrap();
        }
        let start = State::new(&system, &[1.0 / 1.0_f64.cos(), 1.0], &[0.0; 2]).unwrap();
        let fall = |steps: u32| {
            let method = Variational::new(1.5 / f64::from(steps), Quadrature::Midpoint);
            let mut stepper = method.stepper(&system).unwrap();
            let mut state = start.clone();
            for _ in 0..steps {
                stepper.step(&mut state).unwrap();
            }
            assert_eq!(stepper.redundant().count(), copies - 1);
            let (s, c) = state.q[1].sin_cos();
            assert!((state.q[0] * c - 1.0).abs() < 1e-14);
            assert!((state.v[0] * c - state.q[0] * s * state.v[1]).abs() < 1e-14);
            state.q[0] * s - (1.0_f64.tan() - 1.5 * 1.5 / 2.0)
        };
        let errors = [fall(150), fall(300)];
        assert!(errors[0].abs() < 1e-4 && (errors[0] / errors[1] - 4.0).abs() < 0.1, "{errors:?}");
    }
}
