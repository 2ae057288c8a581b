//! Scalar roots: the bracket is the proof, the side is the one asked for, the work is bounded.

mod common;

use common::rng;
use nsm_solvers::roots::{
    Bracket, Root, RootError, RootOptions, Side, bisect, chandrupatla, newton,
};
use rand::RngExt;

type Case = (&'static str, fn(f64) -> f64, fn(f64) -> f64, f64, f64);

/// Name, function, derivative, bracket.
const CASES: [Case; 10] = [
    ("falling ball", |t| 1.0 - 4.905 * t * t, |t| -9.81 * t, 0.0, 1.0),
    ("cosine", |x| x.cos() - x, |x| -x.sin() - 1.0, 0.0, 1.0),
    ("cubic", |x| x * x * x - 2.0 * x - 5.0, |x| 3.0 * x * x - 2.0, 2.0, 3.0),
    ("exponential", |x| (-x).exp() - 0.1, |x| -(-x).exp(), 0.0, 10.0),
    ("tangency nearby", |x| (x - 1.0).powi(2) - 1e-6, |x| 2.0 * (x - 1.0), 1.0, 2.0),
    ("triple root", |x| (x - 0.3).powi(3), |x| 3.0 * (x - 0.3).powi(2), 0.0, 1.0),
    ("ninth power", |x| x.powi(9) - 1e-9, |x| 9.0 * x.powi(8), 0.0, 1.0),
    (
        "steep",
        |x| (100.0 * (x - 0.7)).tanh(),
        |x| 100.0 / (100.0 * (x - 0.7)).cosh().powi(2),
        0.0,
        1.0,
    ),
    ("reversed ends", |x| x.sin() - 0.25, f64::cos, 1.0, 0.0),
    ("tiny scale", |x| x - 1e-200, |_| 1.0, -1e-190, 1e-190),
];

fn all(case: &Case, options: &RootOptions) -> [Root; 3] {
    let &(_, f, d, a, b) = case;
    let bracket = Bracket::evaluate(f, a, b).unwrap();
    [
        bisect(f, bracket, &RootOptions { max_evaluations: 2000, ..*options }).unwrap(),
        chandrupatla(f, bracket, options).unwrap(),
        newton(|x| (f(x), d(x)), bracket, options).unwrap(),
    ]
}

#[test]
fn brackets_close_to_neighbouring_numbers_on_the_wanted_side() {
    for case in &CASES {
        for side in [Side::Nearest, Side::NonNegative, Side::NonPositive] {
            for root in all(case, &RootOptions { side, ..RootOptions::default() }) {
                let Bracket { a, b, value_a, value_b } = root.bracket;
                assert!(value_a * value_b <= 0.0);
                assert_eq!((value_a, value_b), ((case.1)(a), (case.1)(b)), "{}", case.0);
                let spacing = f64::EPSILON * a.abs().max(b.abs());
                assert!((a - b).abs() <= spacing.max(f64::MIN_POSITIVE), "{}: {a:e} {b:e}", case.0);
                assert!(root.x == a || root.x == b);
                match side {
                    Side::NonNegative => assert!(root.value >= 0.0),
                    Side::NonPositive => assert!(root.value <= 0.0),
                    Side::Nearest => assert!(root.value.abs() <= value_a.abs().min(value_b.abs())),
                }
            }
        }
    }
}

#[test]
fn evaluations_are_few_on_smooth_functions() {
    for case in &CASES[..4] {
        let [bisection, derivative_free, derivative] = all(case, &RootOptions::default());
        assert!(bisection.evaluations >= 45, "{}", case.0);
        assert!(derivative_free.evaluations <= 11, "{}: {}", case.0, derivative_free.evaluations);
        assert!(derivative.evaluations <= 9, "{}: {}", case.0, derivative.evaluations);
    }
    // A gap over one time step: nearly linear.
    for speed in [0.1, 1.0, 10.0] {
        let h = 1e-2;
        let gap = move |t: f64| 0.3 * speed * h - speed * t - 4.905 * t * t;
        let bracket = Bracket::evaluate(gap, 0.0, h).unwrap();
        let options = RootOptions { side: Side::NonNegative, ..RootOptions::default() };
        let slope = move |t: f64| -speed - 9.81 * t;
        let root = chandrupatla(gap, bracket, &options).unwrap();
        assert!(root.evaluations <= 8, "speed {speed}: {}", root.evaluations);
        let root = newton(|t| (gap(t), slope(t)), bracket, &options).unwrap();
        assert!(root.evaluations <= 7, "speed {speed}: {}", root.evaluations);
        let coarse = RootOptions { width: 1e-10 * h, ..options };
        let root = chandrupatla(gap, bracket, &coarse).unwrap();
        assert!(root.evaluations <= 6, "speed {speed}: {}", root.evaluations);
        let root = newton(|t| (gap(t), slope(t)), bracket, &coarse).unwrap();
        assert!(root.evaluations <= 5, "speed {speed}: {}", root.evaluations);
        assert!(root.value >= 0.0);
    }
}

#[test]
fn no_function_takes_more_than_a_few_times_bisection() {
    let mut rng = rng(31);
    for _ in 0..2000 {
        let (root, power) = (rng.random_range(0.01..0.99), rng.random_range(1..12) * 2 - 1);
        let kink = rng.random_range(0.0..1.0);
        let f = |x: f64| (x - root).powi(power) * if x > kink { 1e-6 } else { 1.0 };
        let d = |x: f64| {
            f64::from(power) * (x - root).powi(power - 1) * if x > kink { 1e-6 } else { 1.0 }
        };
        let bracket = Bracket::evaluate(f, 0.0, 1.0).unwrap();
        let options = RootOptions { width: 1e-12, ..RootOptions::default() };
        for found in
            [chandrupatla(f, bracket, &options), newton(|x| (f(x), d(x)), bracket, &options)]
        {
            let found = found.unwrap();
            assert!(found.evaluations <= 120, "{}", found.evaluations);
            assert!(found.value == 0.0 || (found.x - root).abs() <= 1e-12);
        }
    }
}

#[test]
fn failures_are_typed() {
    let f = |x: f64| x * x + 1.0;
    assert!(matches!(Bracket::evaluate(f, -1.0, 1.0), Err(RootError::NoSignChange { .. })));
    assert!(matches!(Bracket::new(0.0, f64::NAN, 1.0, 1.0), Err(RootError::NotFinite { .. })));
    assert!(matches!(
        Bracket::new(f64::INFINITY, -1.0, 1.0, 1.0),
        Err(RootError::NotFinite { .. })
    ));
    let hole = |x: f64| if (0.2..0.8).contains(&x) { f64::NAN } else { x - 0.5 };
    let bracket = Bracket::evaluate(hole, 0.0, 1.0).unwrap();
    let options = RootOptions::default();
    assert!(matches!(bisect(hole, bracket, &options), Err(RootError::NotFinite { .. })));
    assert!(matches!(chandrupatla(hole, bracket, &options), Err(RootError::NotFinite { .. })));
    assert!(matches!(
        newton(|x| (hole(x), 1.0), bracket, &options),
        Err(RootError::NotFinite { .. })
    ));
    let short = RootOptions { max_evaluations: 3, ..options };
    let line = |x: f64| x - std::f64::consts::FRAC_1_PI;
    let bracket = Bracket::evaluate(line, 0.0, 1.0).unwrap();
    match bisect(line, bracket, &short) {
        Err(RootError::Exhausted { bracket, evaluations: 3 }) => assert!(bracket.width() == 0.125),
        other => panic!("{other:?}"),
    }
    // A root at an end needs no evaluation.
    let at_end =
        chandrupatla(|x| x, Bracket::evaluate(|x| x, 0.0, 1.0).unwrap(), &options).unwrap();
    assert_eq!((at_end.x, at_end.evaluations), (0.0, 0));
}
