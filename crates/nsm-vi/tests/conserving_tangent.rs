//! The conserving step with velocities on the constraints, against what defines it: energy, both kinds of constraints, momenta, the order.

mod common;

use common::auto;
use nsm_constraints::{Affine, Expr, Field, Rod, Scalar};
use nsm_model::{Mass, State, Stepper, System};
use nsm_vi::{Conserving, ConservingTangent};

/// Two masses of different weight on rods, under gravity or free and turning.
fn pendulum(gravity: f64, copies: usize) -> (System, State) {
    let mut system = System::new(Mass::diagonal(&[1.0, 1.0, 0.3, 0.3]).unwrap())
        .with_potential("a", Affine::new(&[1], &[gravity], 0.0).unwrap())
        .unwrap()
        .with_potential("b", Affine::new(&[3], &[0.3 * gravity], 0.0).unwrap())
        .unwrap()
        .with_equality("upper", Rod::to_pivot(&[0, 1], &[0.0, 0.0], 1.0).unwrap())
        .unwrap();
    for _ in 0..copies {
        let lower = Rod::between(&[0, 1], &[2, 3], 0.5).unwrap();
        system = system.with_equality("lower", lower).unwrap();
    }
    let state = State::new(&system, &[1.0, 0.0, 1.5, 0.0], &[0.0, 1.0, 0.0, -2.0]).unwrap();
    (system, state)
}

fn energy(system: &System, state: &State) -> f64 {
    system.mass().kinetic_energy(&state.v) + system.potential().sum(&state.q, state.t)
}

/// Largest $|f|$ and $|\dot f|$.
fn off(system: &System, state: &State) -> [f64; 2] {
    let rows = system.equalities();
    let (mut f, mut g) = (vec![0.0; rows.len()], vec![0.0; rows.entries()]);
    rows.values(&state.q, state.t, &mut f);
    let position = f.iter().fold(0.0_f64, |a, x| a.max(x.abs()));
    rows.gradients(&state.q, state.t, &mut g);
    rows.velocities(&state.q, state.t, &g, &state.v, &mut f);
    [position, f.iter().fold(0.0_f64, |a, x| a.max(x.abs()))]
}

/// The state after a second, and the largest violations on the way.
fn second(system: &System, start: &State, steps: u32) -> (State, [f64; 2], f64) {
    let mut stepper = ConservingTangent::new(1.0 / f64::from(steps)).stepper(system).unwrap();
    let (mut state, mut worst, before) = (start.clone(), [0.0_f64; 2], energy(system, start));
    let mut drift = 0.0_f64;
    for _ in 0..steps {
        stepper.step(&mut state).unwrap();
        let now = off(system, &state);
        worst = [worst[0].max(now[0]), worst[1].max(now[1])];
        drift = drift.max((energy(system, &state) - before).abs());
    }
    (state, worst, drift)
}

fn distance(a: &State, b: &State) -> f64 {
    a.q.iter().zip(&b.q).chain(a.v.iter().zip(&b.v)).fold(0.0, |d, (a, b)| d.max((a - b).abs()))
}

#[test]
fn energy_positions_and_velocities_hold_at_once_and_the_order_is_two() {
    let (system, start) = pendulum(9.81, 1);
    let (fine, ..) = second(&system, &start, 3200);
    let mut errors = Vec::new();
    for steps in [100, 200, 400] {
        let (state, [position, velocity], drift) = second(&system, &start, steps);
        assert!(position < 1e-14 && velocity < 2e-14, "{steps}: {position:e} {velocity:e}");
        assert!(drift < 1e-11, "{steps}: {drift:e}");
        errors.push(distance(&state, &fine));
    }
    for pair in errors.windows(2) {
        let order = (pair[0] / pair[1]).log2();
        assert!((order - 2.0).abs() < 0.1, "{errors:?}");
    }
    // Another scheme of second order goes to the same motion, with velocities that leave the constraints.
    let mut stepper = Conserving::new(1.0 / 3200.0).stepper(&system).unwrap();
    let mut other = start.clone();
    for _ in 0..3200 {
        stepper.step(&mut other).unwrap();
    }
    assert!(distance(&other, &fine) < 4.0 * errors[2] / 64.0, "{:e}", distance(&other, &fine));
    assert!(off(&system, &other)[1] > 1e-9);
}

#[test]
fn momenta_of_free_motion_are_exact() {
    let rod = Rod::between(&[0, 1], &[2, 3], 0.5).unwrap();
    let system = System::new(Mass::diagonal(&[1.0, 1.0, 0.3, 0.3]).unwrap())
        .with_equality("rod", rod)
        .unwrap();
    let mut state = State::new(&system, &[0.0, 0.0, 0.5, 0.0], &[1.0, 2.0, 1.0, -7.0]).unwrap();
    let momenta = |s: &State| {
        let (q, p) = (&s.q, &s.p);
        [p[0] + p[2], p[1] + p[3], q[0] * p[1] - q[1] * p[0] + q[2] * p[3] - q[3] * p[2]]
    };
    let before = momenta(&state);
    let mut stepper = ConservingTangent::new(0.02).stepper(&system).unwrap();
    for _ in 0..1000 {
        stepper.step(&mut state).unwrap();
        for (a, b) in momenta(&state).iter().zip(before) {
            assert!((a - b).abs() < 2e-13, "{a} {b}");
        }
    }
}

#[test]
fn a_constraint_that_stands_there_twice_changes_nothing() {
    let (once, start) = pendulum(9.81, 1);
    let (twice, again) = pendulum(9.81, 2);
    let (a, ..) = second(&once, &start, 100);
    let (b, ..) = second(&twice, &again, 100);
    assert!(distance(&a, &b) < 1e-11, "{:e}", distance(&a, &b));
}

/// A curve that is no conic, and one that moves.
struct Curve;
impl Expr for Curve {
    fn value<T: Scalar>(&self, q: &[T], _t: T) -> T {
        q[1] - (q[0] * 2.0).sin() - q[0] * q[0] * q[0] * 0.3
    }
}

struct Breathing;
impl Expr for Breathing {
    fn value<T: Scalar>(&self, q: &[T], t: T) -> T {
        q[0] * q[0] + q[1] * q[1] - (t.sin() * 0.2 + 1.0)
    }
}

fn bead(rule: impl Field + 'static, (q, v): ([f64; 2], [f64; 2])) -> (System, State) {
    let system = System::new(Mass::diagonal(&[1.0, 1.0]).unwrap())
        .with_potential("weight", Affine::new(&[1], &[9.81], 0.0).unwrap())
        .unwrap()
        .with_equality("curve", rule)
        .unwrap();
    let state = State::new(&system, &q, &v).unwrap();
    (system, state)
}

#[test]
fn constraints_need_not_be_quadratic() {
    let (system, start) = bead(auto(Curve, &[0, 1]), ([0.0, 0.0], [1.0, 2.0]));
    let (fine, ..) = second(&system, &start, 6400);
    let mut errors = Vec::new();
    for steps in [200, 400, 800] {
        let (state, [position, velocity], drift) = second(&system, &start, steps);
        assert!(position < 1e-14 && velocity < 1e-13, "{steps}: {position:e} {velocity:e}");
        assert!(drift < 1e-11, "{steps}: {drift:e}");
        errors.push(distance(&state, &fine));
    }
    for pair in errors.windows(2) {
        let order = (pair[0] / pair[1]).log2();
        assert!((order - 2.0).abs() < 0.1, "{errors:?}");
    }
}

#[test]
fn constraints_may_move() {
    // On the circle at t = 0, where it grows by 0.2: 2 q · v = 0.2.
    let (system, start) = bead(auto(Breathing, &[0, 1]), ([1.0, 0.0], [0.1, 0.5]));
    let (fine, ..) = second(&system, &start, 6400);
    let mut errors = Vec::new();
    for steps in [100, 200, 400] {
        let (state, [position, velocity], _) = second(&system, &start, steps);
        assert!(position < 1e-14 && velocity < 1e-13, "{steps}: {position:e} {velocity:e}");
        errors.push(distance(&state, &fine));
    }
    for pair in errors.windows(2) {
        let order = (pair[0] / pair[1]).log2();
        assert!((order - 2.0).abs() < 0.1, "{errors:?}");
    }
}

#[test]
fn a_step_that_fails_leaves_the_state() {
    let (system, start) = pendulum(9.81, 1);
    let mut state = start.clone();
    state.v[0] = f64::INFINITY;
    let before = state.clone();
    let mut stepper = ConservingTangent::new(0.01).stepper(&system).unwrap();
    assert!(stepper.step(&mut state).is_err());
    assert_eq!(state, before);
}

#[test]
fn without_them_a_rate_follows_its_law() {
    // f = (x² + y² - 1)/2, f'' = 1: c₁ = -c₀ + h/4 (|v₁|² - |v₀|²).
    let (system, mut state) = pendulum(9.81, 0);
    let h = 0.05;
    let mut stepper = Conserving::new(h).stepper(&system).unwrap();
    let rate = |s: &State| s.q[0] * s.v[0] + s.q[1] * s.v[1];
    let square = |s: &State| s.v[0] * s.v[0] + s.v[1] * s.v[1];
    for _ in 0..100 {
        let before = state.clone();
        stepper.step(&mut state).unwrap();
        let law = -rate(&before) + 0.25 * h * (square(&state) - square(&before));
        assert!((rate(&state) - law).abs() < 1e-12, "{} {law}", rate(&state));
    }
    assert!(rate(&state).abs() > 1e-3);
}
