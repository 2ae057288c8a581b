//! Coordinates without mass that the constraints hold: the same motion as with them eliminated.

mod common;

use common::{Affine, Distance, auto};
use nsm_constraints::{Expr, Rod, Scalar};
use nsm_model::{Mass, State, StepError, Stepper, System, SystemError};
use nsm_vi::{Conserving, Gvi, Quadrature, Variational};

/// $c - \varphi(q)$: a coordinate that follows a point of the double pendulum.
struct Follower;
fn followed<T: Scalar>(x: T, y: T) -> T {
    x * x * 0.5 + y * 0.3
}
impl Expr for Follower {
    fn value<T: Scalar>(&self, q: &[T], _t: T) -> T {
        q[0] - followed(q[1], q[2])
    }
}

/// $2c^2$ with the follower eliminated.
struct Eliminated;
impl Expr for Eliminated {
    fn value<T: Scalar>(&self, q: &[T], _t: T) -> T {
        let c = followed(q[0], q[1]);
        c * c * 2.0
    }
}

struct Square;
impl Expr for Square {
    fn value<T: Scalar>(&self, q: &[T], _t: T) -> T {
        q[0] * q[0] * 2.0
    }
}

fn pendulum(masses: &[f64]) -> System {
    System::new(Mass::diagonal(masses).unwrap())
        .with_potential("weights", auto(Affine(vec![9.8, 19.6], 0.0), &[1, 3]))
        .unwrap()
        .with_equality("upper rod", Rod::to_pivot(&[0, 1], &[0.0, 0.0], 1.0).unwrap())
        .unwrap()
        .with_equality("lower rod", auto(Distance(0.7), &[0, 1, 2, 3]))
        .unwrap()
}

const START: [[f64; 4]; 2] = [[0.6, -0.8, 1.3, -0.8], [0.8, 0.6, 0.8, -0.3]];

/// The double pendulum with a potential of a function of its end, and the same with that function as a massless
/// coordinate.
fn pair() -> [(System, State); 2] {
    let plain =
        pendulum(&[1.0, 1.0, 2.0, 2.0]).with_potential("well", auto(Eliminated, &[2, 3])).unwrap();
    let massless = pendulum(&[1.0, 1.0, 2.0, 2.0, 0.0])
        .with_names(&["x", "y", "X", "Y", "c"])
        .unwrap()
        .with_potential("well", auto(Square, &[4]))
        .unwrap()
        .with_equality("follower", auto(Follower, &[4, 2, 3]))
        .unwrap();
    let [q, v] = START;
    let one = State::new(&plain, &q, &v).unwrap();
    let c = followed(q[2], q[3]);
    let rate = q[2] * v[2] + 0.3 * v[3];
    let both = |x: [f64; 4], last: f64| [&x[..], &[last]].concat();
    let two = State::new(&massless, &both(q, c), &both(v, rate)).unwrap();
    [(plain, one), (massless, two)]
}

fn apart(a: &State, b: &State) -> f64 {
    let pairs = a.q.iter().zip(&b.q).chain(a.p.iter().zip(&b.p)).chain(a.v.iter().zip(&b.v));
    pairs.map(|(x, y)| (x - y).abs()).fold(0.0, f64::max)
}

#[test]
fn a_massless_follower_is_as_good_as_eliminated() {
    // Potentials at the nodes only: there the two systems have one discrete action.
    let [(plain, mut one), (massless, mut two)] = pair();
    let method = Variational::new(0.01, Quadrature::Verlet);
    let (mut a, mut b) = (method.stepper(&plain).unwrap(), method.stepper(&massless).unwrap());
    for step in 0..300 {
        a.step(&mut one).unwrap();
        b.step(&mut two).unwrap();
        assert!(apart(&one, &two) < 2e-11, "step {step}: {:e}", apart(&one, &two));
        assert!((two.q[4] - followed(two.q[2], two.q[3])).abs() < 1e-14);
        let rate = two.q[2] * two.v[2] + 0.3 * two.v[3];
        assert!((two.v[4] - rate).abs() < 1e-14 && two.p[4] == 0.0);
    }
    assert_eq!(b.redundant().count(), 0);
}

#[test]
fn the_midpoint_rule_agrees_in_second_order() {
    let distance = |h: f64, steps: usize| {
        let [(plain, mut one), (massless, mut two)] = pair();
        let method = Variational::new(h, Quadrature::Midpoint);
        let (mut a, mut b) = (method.stepper(&plain).unwrap(), method.stepper(&massless).unwrap());
        for _ in 0..steps {
            a.step(&mut one).unwrap();
            b.step(&mut two).unwrap();
        }
        apart(&one, &two)
    };
    let order = (distance(0.01, 100) / distance(0.005, 200)).log2();
    assert!((order - 2.0).abs() < 0.1, "{order}");
}

#[test]
fn the_conserving_step_keeps_energy_with_massless_coordinates() {
    let [_, (system, start)] = pair();
    let energy = |s: &State| system.kinetic_energy(&s.q, &s.v) + system.potential().sum(&s.q, s.t);
    let mut state = start.clone();
    let mut stepper = Conserving::new(0.01).stepper(&system).unwrap();
    for _ in 0..300 {
        stepper.step(&mut state).unwrap();
        assert!((energy(&state) - energy(&start)).abs() < 1e-11);
        // Velocities leave the constraints by second order, momenta belong to them exactly.
        let rate = state.q[2] * state.v[2] + 0.3 * state.v[3];
        assert!((state.v[4] - rate).abs() < 1e-2, "{} {rate}", state.v[4]);
        assert!(state.p[4] == 0.0 && (state.p[2] - 2.0 * state.v[2]).abs() < 1e-14);
    }
    let run = |h: f64, steps: usize| {
        let mut state = start.clone();
        let mut stepper = Conserving::new(h).stepper(&system).unwrap();
        for _ in 0..steps {
            stepper.step(&mut state).unwrap();
        }
        state
    };
    let reference = run(1.0 / 4096.0, 2048);
    let order = (apart(&run(0.01, 50), &reference) / apart(&run(0.005, 100), &reference)).log2();
    assert!((order - 2.0).abs() < 0.15, "{order}");
}

#[test]
fn a_block_that_lacks_a_direction_is_held_too() {
    // Two points of which only the mean has mass, joined by a rod that turns at a fixed rate.
    struct Turning;
    impl Expr for Turning {
        const RHEONOMIC: bool = true;

        fn value<T: Scalar>(&self, q: &[T], t: T) -> T {
            (q[0] - q[1]) * 0.5 - t.cos() * 0.2
        }
    }
    let mass = Mass::full(&[vec![0.25, 0.25], vec![0.25, 0.25]]).unwrap();
    let system = System::new(mass)
        .with_potential("weight", auto(Affine(vec![0.5, 0.5], 0.0), &[0, 1]))
        .unwrap()
        .with_equality("rod", auto(Turning, &[0, 1]))
        .unwrap();
    let mut state = State::new(&system, &[1.2, 0.8], &[3.0, 3.0]).unwrap();
    for quadrature in [Quadrature::Midpoint, Quadrature::Verlet] {
        let mut stepper = Variational::new(0.01, quadrature).stepper(&system).unwrap();
        let from = state.clone();
        for _ in 0..100 {
            stepper.step(&mut state).unwrap();
        }
        // The mean falls freely with unit acceleration.
        let (mean, v) = (0.5 * (from.q[0] + from.q[1]), 0.5 * (from.v[0] + from.v[1]));
        let fallen = mean + v * 1.0 - 0.5;
        assert!((0.5 * (state.q[0] + state.q[1]) - fallen).abs() < 1e-12);
        let half = 0.5 * (state.q[0] - state.q[1]);
        assert!((half - 0.2 * state.t.cos()).abs() < 1e-15, "{half}");
        let rate = 0.5 * (state.v[0] - state.v[1]);
        assert!((rate + 0.2 * state.t.sin()).abs() < 1e-13, "{rate}");
    }
}

#[test]
fn a_motion_without_inertia_is_named_and_nothing_moves() {
    let system =
        pendulum(&[1.0, 1.0, 2.0, 2.0, 0.0]).with_names(&["x", "y", "X", "Y", "loose"]).unwrap();
    let [q, v] = START;
    let both = |x: [f64; 4]| [&x[..], &[0.0]].concat();
    let start = State::new(&system, &both(q), &both(v)).unwrap();
    let named = |error: StepError| {
        let StepError::Method { source, .. } = &error else { panic!("{error}") };
        let massless = source.downcast_ref::<SystemError>().unwrap();
        assert!(
            matches!(massless, SystemError::Massless { coordinate } if coordinate == "loose"),
            "{error}"
        );
    };
    let mut state = start.clone();
    for quadrature in [Quadrature::Midpoint, Quadrature::Verlet] {
        let mut stepper = Variational::new(0.01, quadrature).stepper(&system).unwrap();
        named(stepper.step(&mut state).unwrap_err());
        assert_eq!(state, start);
    }
    named(Conserving::new(0.01).stepper(&system).unwrap().step(&mut state).unwrap_err());
    assert_eq!(state, start);
}

#[test]
fn contacts_and_free_systems_still_need_mass() {
    let [_, (system, _)] = pair();
    let refused = Gvi::new(0.01, Quadrature::Midpoint).stepper(&system).unwrap_err();
    assert!(matches!(refused, SystemError::Massless { coordinate } if coordinate == "c"));
    let free = System::new(Mass::diagonal(&[1.0, 0.0]).unwrap());
    assert!(matches!(
        Variational::new(0.01, Quadrature::Midpoint).stepper(&free),
        Err(SystemError::Massless { .. })
    ));
}
