//! What a step map preserves: the symplectic form, orientation, time reversal, order.

mod common;

use common::{double_pendulum, double_pendulum_state, oscillator, pogo, spheres};
use nsm_model::{State, Stepper, System};
use nsm_vi::{DiscreteSmooth, Gvi, Quadrature, Variational};

const BOTH: [Quadrature; 2] = [Quadrature::Midpoint, Quadrature::Verlet];

fn phase(state: &State) -> Vec<f64> {
    state.q.iter().chain(&state.p).copied().collect()
}

/// $\omega(a, b) = a_q \cdot b_p - a_p \cdot b_q$.
fn symplectic(a: &[f64], b: &[f64]) -> f64 {
    let n = a.len() / 2;
    (0..n).map(|i| a[i] * b[n + i] - a[n + i] * b[i]).sum()
}

/// Derivatives of a map by its parameters, by differences of fourth order.
fn tangents(x: &[f64], e: f64, map: impl Fn(&[f64]) -> Vec<f64>) -> Vec<Vec<f64>> {
    (0..x.len())
        .map(|k| {
            let at = |s: f64| {
                let mut y = x.to_vec();
                y[k] += s * e;
                map(&y)
            };
            let (a, b, c, d) = (at(-2.0), at(-1.0), at(1.0), at(2.0));
            (0..a.len()).map(|i| (a[i] - 8.0 * b[i] + 8.0 * c[i] - d[i]) / (12.0 * e)).collect()
        })
        .collect()
}

/// Largest change of $\omega$ between tangents of `embed` and of `step` after it.
fn defect(x: &[f64], embed: impl Fn(&[f64]) -> State, step: impl Fn(State) -> State) -> f64 {
    let before = tangents(x, 1e-3, |y| phase(&embed(y)));
    let after = tangents(x, 1e-3, |y| phase(&step(embed(y))));
    let mut worst = 0.0_f64;
    for i in 0..x.len() {
        for j in 0..i {
            let change = symplectic(&after[i], &after[j]) - symplectic(&before[i], &before[j]);
            worst = worst.max(change.abs());
        }
    }
    worst
}

fn free(system: &System, x: &[f64]) -> State {
    let n = x.len() / 2;
    State::from_momentum(system, &x[..n], &x[n..]).unwrap()
}

fn advance(mut stepper: impl Stepper<State = State>, mut state: State, steps: usize) -> State {
    for _ in 0..steps {
        stepper.step(&mut state).unwrap();
    }
    state
}

#[test]
fn the_unconstrained_step_is_symplectic() {
    let (system, _) = oscillator();
    let x = [0.3, -1.4, 0.2, 1.3, 1.0, 0.3, -1.0, 0.4];
    for quadrature in BOTH {
        let method = Variational::new(0.1, quadrature);
        let step = |s: State| advance(method.stepper(&system).unwrap(), s, 1);
        let defect = defect(&x, |y| free(&system, y), step);
        assert!(defect < 1e-7, "{quadrature:?}: {defect:e}");
    }
}

#[test]
fn the_equality_constrained_step_is_symplectic_on_its_manifold() {
    let system = double_pendulum();
    let embed = |x: &[f64]| double_pendulum_state(&system, [x[0], x[1], x[2], x[3]]);
    for quadrature in BOTH {
        let method = Variational::new(0.05, quadrature);
        let step = |s: State| advance(method.stepper(&system).unwrap(), s, 3);
        let defect = defect(&[0.7, -0.4, 1.3, -2.0], embed, step);
        assert!(defect < 1e-7, "{quadrature:?}: {defect:e}");
    }
}

#[test]
fn the_discrete_smooth_step_is_symplectic_along_the_boundary() {
    let (system, _) = spheres();
    // Both particles on the circle, pressed against it: angles and angular momenta.
    let embed = |x: &[f64]| {
        let (mut q, mut p) = ([0.0; 4], [0.0; 4]);
        for i in 0..2 {
            let (s, c) = x[i].sin_cos();
            (q[2 * i], q[2 * i + 1]) = (5.0 * c, 5.0 * s);
            (p[2 * i], p[2 * i + 1]) = (-x[2 + i] * s / 5.0, x[2 + i] * c / 5.0);
        }
        State::from_momentum(&system, &q, &p).unwrap()
    };
    for quadrature in BOTH {
        let method = DiscreteSmooth::new(0.2, quadrature);
        let mut stepper = method.stepper(&system).unwrap();
        let report = stepper.step(&mut embed(&[-0.6, -0.9, 6.0, 5.0])).unwrap();
        assert_eq!(report.closed, 2, "the particles must press for this test to mean anything");
        let step = |s: State| advance(method.stepper(&system).unwrap(), s, 2);
        let defect = defect(&[-0.6, -0.9, 6.0, 5.0], embed, step);
        assert!(defect < 1e-7, "{quadrature:?}: {defect:e}");
        // GVI takes the same smooth step.
        let gvi = Gvi::new(0.2, quadrature);
        let start = embed(&[-0.6, -0.9, 6.0, 5.0]);
        let a = advance(method.stepper(&system).unwrap(), start.clone(), 1);
        let b = advance(gvi.stepper(&system).unwrap(), start, 1);
        assert_eq!(a, b);
    }
}

/// Determinant by elimination.
fn determinant(mut a: Vec<Vec<f64>>) -> f64 {
    let n = a.len();
    let mut det = 1.0;
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).unwrap();
        if pivot != k {
            a.swap(pivot, k);
            det = -det;
        }
        det *= a[k][k];
        for i in k + 1..n {
            let factor = a[i][k] / a[k][k];
            for j in k..n {
                a[i][j] -= factor * a[k][j];
            }
        }
    }
    det
}

#[test]
fn a_collision_step_reverses_orientation_at_every_step_size() {
    for h in [0.1, 0.05, 0.025, 0.0125] {
        let (system, _) = pogo(h, 1.0);
        let x = [5.3, 0.2 * h, 1.0, -7.0];
        let step = |y: &[f64]| {
            let mut state = free(&system, y);
            let mut stepper = Gvi::new(h, Quadrature::Verlet).stepper(&system).unwrap();
            stepper.step(&mut state).unwrap();
            assert_eq!(stepper.events().len(), 1);
            phase(&state)
        };
        let det = determinant(tangents(&x, 1e-5, step));
        assert!((det + 1.0).abs() < 1e-8, "h = {h}: {det}");
    }
}

fn reversed(mut state: State) -> State {
    state.p.iter_mut().chain(&mut state.v).for_each(|x| *x = -*x);
    state
}

fn distance(a: &State, b: &State) -> f64 {
    phase(a).iter().zip(phase(b)).fold(0.0, |d, (x, y)| f64::max(d, (x - y).abs()))
}

#[test]
fn symmetric_steps_run_backwards() {
    for quadrature in BOTH {
        let (system, start) = oscillator();
        let method = Variational::new(0.1, quadrature);
        let there = advance(method.stepper(&system).unwrap(), start.clone(), 200);
        let back = advance(method.stepper(&system).unwrap(), reversed(there), 200);
        let error = distance(&reversed(back), &start);
        assert!(error < 1e-9, "{quadrature:?} free: {error:e}");

        let system = double_pendulum();
        let start = double_pendulum_state(&system, [0.7, -0.4, 1.3, -2.0]);
        let method = Variational::new(0.02, quadrature);
        let there = advance(method.stepper(&system).unwrap(), start.clone(), 100);
        let back = advance(method.stepper(&system).unwrap(), reversed(there), 100);
        let error = distance(&reversed(back), &start);
        assert!(error < 1e-9, "{quadrature:?} rods: {error:e}");

        let (system, start) = spheres();
        let method = DiscreteSmooth::new(0.1, quadrature);
        let there = advance(method.stepper(&system).unwrap(), start.clone(), 10);
        let back = advance(method.stepper(&system).unwrap(), reversed(there), 10);
        let error = distance(&reversed(back), &start);
        assert!(error < 1e-12, "{quadrature:?} smooth: {error:e}");
    }
}

#[test]
fn smooth_motion_is_integrated_with_order_two() {
    let (oscillator, start) = oscillator();
    let pendulum = double_pendulum();
    let swing = double_pendulum_state(&pendulum, [0.7, -0.4, 1.3, -2.0]);
    let (spheres, sliding) = spheres();
    for quadrature in BOTH {
        let free = |h: f64, n| {
            advance(Variational::new(h, quadrature).stepper(&oscillator).unwrap(), start.clone(), n)
        };
        let rods = |h: f64, n| {
            advance(Variational::new(h, quadrature).stepper(&pendulum).unwrap(), swing.clone(), n)
        };
        let slide = |h: f64, n| {
            advance(Gvi::new(h, quadrature).stepper(&spheres).unwrap(), sliding.clone(), n)
        };
        let order = |run: &dyn Fn(f64, usize) -> State, h: f64, n: usize| {
            let (a, b, c) = (run(h, n), run(h / 2.0, 2 * n), run(h / 4.0, 4 * n));
            (distance(&a, &b) / distance(&b, &c)).log2()
        };
        for (name, order) in [
            ("free", order(&free, 0.01, 50)),
            ("rods", order(&rods, 0.005, 100)),
            ("sliding", order(&slide, 0.02, 50)),
        ] {
            assert!((order - 2.0).abs() < 0.1, "{quadrature:?} {name}: order {order}");
        }
    }
}
