//! Contacts of systems whose mass depends on the configuration, against the same motion in coordinates of constant mass and closed forms.

mod common;

use common::auto;
use nsm_constraints::{Expr, Scalar, Tangent};
use nsm_model::{AutoKinetic, ContactLaw, KineticExpr, State, Stepper, System};
use nsm_vi::{Quadrature, Restitution, Svci};

const QUADRATURES: [Quadrature; 2] = [Quadrature::Midpoint, Quadrature::Verlet];

/// A particle of mass 2 in polar coordinates $(r, \varphi)$.
struct Polar;
impl KineticExpr for Polar {
    fn energy<T: Scalar>(&self, q: &[T], v: &[T]) -> T {
        v[0] * v[0] + q[0] * q[0] * v[1] * v[1]
    }
}

/// $s\\,r\sin\varphi + c$, or the same with the cosine.
struct Place {
    scale: f64,
    offset: f64,
    across: bool,
}
impl Expr for Place {
    fn value<T: Scalar>(&self, q: &[T], _t: T) -> T {
        let part = if self.across { q[1].cos() } else { q[1].sin() };
        q[0] * part * self.scale + self.offset
    }
}

fn place(scale: f64, offset: f64, across: bool) -> impl nsm_constraints::Field + 'static {
    auto(Place { scale, offset, across }, &[0, 1])
}

const G: f64 = 9.8;

/// A particle that falls onto the floor $y = 1/2$, in polar coordinates about the origin.
fn polar() -> System {
    System::with_variable_mass(AutoKinetic::new(Polar, 2).unwrap())
        .unwrap()
        .with_potential("weight", place(2.0 * G, 0.0, false))
        .unwrap()
        .with_inequality("floor", place(1.0, -0.5, false))
        .unwrap()
}

/// The state of a particle at Cartesian place and velocity.
fn at(system: &System, [x, y]: [f64; 2], [vx, vy]: [f64; 2]) -> State {
    let r = x.hypot(y);
    let (c, s) = (x / r, y / r);
    State::new(system, &[r, y.atan2(x)], &[c * vx + s * vy, (c * vy - s * vx) / r]).unwrap()
}

fn cartesian(q: &[f64]) -> [f64; 2] {
    [q[0] * q[1].cos(), q[0] * q[1].sin()]
}

fn energy(system: &System, state: &State) -> f64 {
    system.kinetic_energy(&state.q, &state.v) + system.potential().sum(&state.q, state.t)
}

fn svci(h: f64, e: f64, quadrature: Quadrature) -> Svci {
    Svci { restitution: Restitution::Uniform(e), ..Svci::new(h, quadrature) }
}

/// Runs to `end`; the impacts, with the largest gain of energy in one of them.
fn run(system: &System, state: &mut State, method: &Svci, end: f64) -> (usize, f64) {
    let mut stepper = method.stepper(system).unwrap();
    let (mut impacts, mut gain) = (0, f64::NEG_INFINITY);
    while state.t < end - 0.5 * method.step {
        stepper.step(state).unwrap();
        for event in stepper.events().iter().filter(|event| event.rounds > 0) {
            impacts += 1;
            gain = gain.max(event.energy_change);
            let work: f64 = event.work.iter().sum();
            assert!((work - event.energy_change).abs() < 1e-12, "{work} {}", event.energy_change);
        }
        for i in 0..system.inequalities().len() {
            let gap = system.inequalities().value(i, &state.q, state.t);
            assert!(gap > -1e-13, "gap {gap} at t = {}", state.t);
        }
    }
    (impacts, gain)
}

/// Height and its rate of a ball dropped from 1/2 above its floor, after `t`.
fn bouncing(e: f64, mut t: f64) -> f64 {
    let mut duration = (1.0 / G).sqrt();
    if t < duration {
        return 0.5 - 0.5 * G * t * t;
    }
    t -= duration;
    let mut speed = e * G * duration;
    loop {
        duration = 2.0 * speed / G;
        if t < duration {
            return speed * t - 0.5 * G * t * t;
        }
        t -= duration;
        speed *= e;
    }
}

#[test]
fn a_particle_in_polar_coordinates_bounces_at_second_order() {
    let system = polar();
    for quadrature in QUADRATURES {
        for (e, expected) in [(1.0, 2), (0.7, 3)] {
            let errors = [0.01, 0.005, 0.0025].map(|h| {
                let mut state = at(&system, [-1.0, 1.0], [1.5, 0.0]);
                let before = energy(&system, &state);
                let (impacts, gain) = run(&system, &mut state, &svci(h, e, quadrature), 1.2);
                assert_eq!(impacts, expected);
                assert!(gain < 1e-13, "an impact gained {gain}");
                if e == 1.0 {
                    assert!((energy(&system, &state) - before).abs() < 40.0 * h * h);
                }
                let [x, y] = cartesian(&state.q);
                (x - (-1.0 + 1.5 * 1.2)).hypot(y - 0.5 - bouncing(e, 1.2))
            });
            let order = (errors[0] / errors[2]).log2() / 2.0;
            assert!(
                order > 1.9 && errors[2] < 3e-4,
                "{quadrature:?}, e = {e}: {errors:?}, {order}"
            );
        }
    }
}

#[test]
fn a_particle_in_polar_coordinates_comes_to_rest_and_stays() {
    let system = polar();
    for (e, slides) in [(0.5, 0.0), (0.0, 0.3)] {
        let mut state = at(&system, [-0.5, 1.0], [slides, 0.0]);
        run(&system, &mut state, &svci(0.01, e, Quadrature::Midpoint), 3.0);
        let [x, y] = cartesian(&state.q);
        // On the floor to rounding, and along it to second order.
        let along = -0.5 + 3.0 * slides;
        assert!((y - 0.5).abs() < 1e-14 && (x - along).abs() < G * 1e-4, "{x} {y}");
    }
    // Where it lies it stays, ten thousand steps long.
    for quadrature in QUADRATURES {
        let start = at(&system, [-0.5, 0.5], [0.0, 0.0]);
        let mut state = start.clone();
        run(&system, &mut state, &svci(0.01, 0.5, quadrature), 100.0);
        for (a, b) in state.q.iter().zip(&start.q) {
            assert!((a - b).abs() < 1e-13, "{quadrature:?}: {a} {b}");
        }
        assert!(state.v.iter().all(|v| v.abs() < 1e-13), "{:?}", state.v);
    }
}

/// The velocity along $x$, of one party against the other: $\cos\varphi\\,\dot r - r\sin\varphi\\,\dot\varphi$.
struct Along;
impl Tangent for Along {
    fn coordinates(&self) -> &[usize] {
        &[0, 1]
    }
    fn directions(&self) -> usize {
        1
    }
    fn coefficients(&self, q: &[f64], _t: f64, out: &mut [f64]) {
        (out[0], out[1]) = (q[1].cos(), -q[0] * q[1].sin());
    }
}

#[test]
fn a_push_in_polar_coordinates_stops_where_friction_says() {
    let (mu, speed) = (0.3, 2.0);
    let law = ContactLaw { friction: mu, ..ContactLaw::frictionless(0.0) };
    let system = polar().with_tangent(0, Along).unwrap().with_contact_laws(&[law]).unwrap();
    let exact = speed * speed / (2.0 * mu * G);
    for quadrature in QUADRATURES {
        let errors = [0.01, 0.005].map(|h| {
            let mut state = at(&system, [-0.4, 0.5], [speed, 0.0]);
            let before = energy(&system, &state);
            let mut stepper = svci(h, 0.0, quadrature).stepper(&system).unwrap();
            let (mut work, mut last) = (0.0, before);
            while state.t < 1.5 {
                stepper.step(&mut state).unwrap();
                work += stepper.events().held().iter().map(|c| c.work).sum::<f64>();
                last = energy(&system, &state);
            }
            // It lies still, and friction took what there was.
            assert!(state.v.iter().all(|v| v.abs() < 1e-12), "{:?}", state.v);
            assert!((work + 0.5 * 2.0 * speed * speed).abs() < 20.0 * h * h, "{work}");
            assert!((last - before - work).abs() < 20.0 * h * h, "{last} {before} {work}");
            let [x, y] = cartesian(&state.q);
            assert!((y - 0.5).abs() < 1e-13);
            (x + 0.4 - exact).abs()
        });
        assert!(errors[1] < 2e-4, "{quadrature:?}: {errors:?}");
    }
}

#[test]
fn equalities_and_contacts_hold_together() {
    // On the vertical line x = 1 the particle is a ball.
    let system = polar().with_equality("line", place(1.0, -1.0, true)).unwrap();
    for quadrature in QUADRATURES {
        for e in [1.0, 0.5] {
            let errors = [0.01, 0.005].map(|h| {
                let mut state = at(&system, [1.0, 1.0], [0.0, 0.0]);
                run(&system, &mut state, &svci(h, e, quadrature), 0.9);
                let [x, y] = cartesian(&state.q);
                assert!((x - 1.0).abs() < 1e-14);
                (y - 0.5 - bouncing(e, 0.9)).abs()
            });
            assert!(errors[1] < 2e-4 && errors[1] < 0.3 * errors[0], "{quadrature:?} {errors:?}");
        }
    }
}

/// Two unit masses on unit rods, in angles from below.
struct Double;
impl KineticExpr for Double {
    fn energy<T: Scalar>(&self, q: &[T], v: &[T]) -> T {
        v[0] * v[0] + v[1] * v[1] * 0.5 + v[0] * v[1] * (q[0] - q[1]).cos()
    }
}
/// $2\cos a + \cos b$ times a scale, or $\cos a + \cos b$, with an offset.
struct Low(f64, f64, f64);
impl Expr for Low {
    fn value<T: Scalar>(&self, q: &[T], _t: T) -> T {
        q[0].cos() * self.0 + q[1].cos() * self.1 + self.2
    }
}

/// A double pendulum whose lower mass meets a floor at $y = -1.6$.
fn double() -> System {
    System::with_variable_mass(AutoKinetic::new(Double, 2).unwrap())
        .unwrap()
        .with_potential("weight", auto(Low(-2.0 * G, -G, 0.0), &[0, 1]))
        .unwrap()
        .with_inequality("floor", auto(Low(-1.0, -1.0, 1.6), &[0, 1]))
        .unwrap()
}

#[test]
fn a_double_pendulum_in_angles_bounces_as_that_on_rods() {
    let system = double();
    // The motion in Cartesian coordinates, from an event-driven reference.
    let exact = [
        (1.0, [-0.584_100_301_1, -0.811_681_488_2, -0.343_053_414_4, 0.158_831_983_3]),
        (0.5, [-0.164_705_970_4, -0.986_342_710_9, 0.625_613_791_3, -1.599_037_311_9]),
    ];
    for quadrature in QUADRATURES {
        for (e, exact) in exact {
            let errors = [0.005, 0.0025].map(|h| {
                let mut state = State::new(&system, &[2.0, 2.4], &[0.0, 0.0]).unwrap();
                let (impacts, gain) = run(&system, &mut state, &svci(h, e, quadrature), 2.5);
                assert!(impacts > 0 && gain < 1e-12, "{impacts} {gain}");
                let (a, b) = (state.q[0], state.q[1]);
                let place = [a.sin(), -a.cos(), a.sin() + b.sin(), -a.cos() - b.cos()];
                place.iter().zip(&exact).map(|(x, y)| (x - y).powi(2)).sum::<f64>().sqrt()
            });
            let order = (errors[0] / errors[1]).log2();
            assert!(order > 1.8, "{quadrature:?}, e = {e}: {errors:?}, order {order}");
        }
    }
}

#[test]
fn a_double_pendulum_rests_on_its_floor() {
    let system = double();
    let mut state = State::new(&system, &[2.0, 2.4], &[0.0, 0.0]).unwrap();
    let start = energy(&system, &state);
    let method = svci(0.01, 0.0, Quadrature::Midpoint);
    run(&system, &mut state, &method, 200.0);
    assert!(energy(&system, &state) < start);
    // The lowest it can be: both masses low, the lower one on the floor or above it.
    let gap = system.inequalities().value(0, &state.q, 0.0);
    assert!(gap > -1e-14, "{gap}");
}
