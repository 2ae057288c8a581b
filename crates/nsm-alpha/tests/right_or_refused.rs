//! Runs that left physics once: a gap written otherwise, heaps of discs, numbers that are not finite, other units.

mod common;

use common::run;
use nsm_alpha::{ClassicalAlpha, EventDriven, Index, MoreauJean, Nsga, Restitution};
use nsm_constraints::{AutoDiff, Expr, Scalar};
use nsm_model::{Mass, State, StepError, Stepper, System, SystemError, SystemProbe, run_steps};

type Boxed<'a> = Box<dyn Stepper<State = State> + 'a>;

/// Every method for contacts, with this step and restitution.
fn contact_methods<'a>(
    system: &'a System,
    start: &State,
    h: f64,
    e: f64,
) -> Vec<(&'static str, Boxed<'a>)> {
    let restitution = Restitution::Uniform(e);
    let nsga = Nsga { restitution: restitution.clone(), ..Nsga::new(h, 0.9).unwrap() };
    let event =
        EventDriven { restitution: restitution.clone(), ..EventDriven::new(h, 0.9).unwrap() };
    let moreau_jean = MoreauJean::new(h, restitution);
    vec![
        ("nsga", Box::new(nsga.stepper(system, start).unwrap())),
        ("event", Box::new(event.stepper(system, start).unwrap())),
        ("moreau-jean", Box::new(moreau_jean.stepper(system, start).unwrap())),
    ]
}

/// $c\\,(d^p - r^p)$ of two points, or of a point and a fixed one.
struct Discs {
    power: i32,
    factor: f64,
    radius: f64,
}
impl Expr for Discs {
    fn value<T: Scalar>(&self, q: &[T], _t: T) -> T {
        let square = (q[0] - q[2]) * (q[0] - q[2]) + (q[1] - q[3]) * (q[1] - q[3]);
        let distance = if self.power == 1 { square.sqrt() } else { square };
        (distance - self.radius.powi(self.power)) * self.factor
    }
}

/// $c\\,(w \cdot q + b)$.
struct Plane(f64, f64);
impl Expr for Plane {
    fn value<T: Scalar>(&self, q: &[T], _t: T) -> T {
        q[0] * self.0 + self.1
    }
}

/// Nine discs of radius 0.15 in a box of 2 m, thrown about, with gravity; lengths in units of `unit`.
fn discs(power: i32, factor: f64, unit: f64) -> (System, State) {
    let mut system = System::new(Mass::diagonal(&[1.0; 18]).unwrap());
    for k in 0..9 {
        let (x, y) = (2 * k, 2 * k + 1);
        let weight = AutoDiff::new(Plane(9.81 / unit, 0.0), &[y]).unwrap();
        system = system.with_potential("weight", weight).unwrap();
        for (i, w, b) in [(x, 1.0, -0.15), (x, -1.0, 1.85), (y, 1.0, -0.15), (y, -1.0, 1.85)] {
            let wall = AutoDiff::new(Plane(w, b / unit), &[i]).unwrap();
            system = system.with_inequality(&format!("wall {i} {w}"), wall).unwrap();
        }
    }
    for a in 0..9 {
        for b in 0..a {
            let gap = Discs { power, factor, radius: 0.3 / unit };
            let gap = AutoDiff::new(gap, &[2 * a, 2 * a + 1, 2 * b, 2 * b + 1]).unwrap();
            system = system.with_inequality(&format!("discs {a} {b}"), gap).unwrap();
        }
    }
    // A fixed sequence of numbers between -1 and 1.
    let mut seed = 1_u64;
    let mut next = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        f64::from(u32::try_from(seed >> 33).unwrap()) / f64::from(1_u32 << 30) - 1.0
    };
    let (mut q, mut v) = (Vec::new(), Vec::new());
    for k in 0..9 {
        let column = [f64::from(k / 3), f64::from(k % 3)];
        q.extend(column.map(|c| (0.4 + 0.6 * c + 0.03 * next()) / unit));
        v.extend([2.0 * next() / unit, 2.0 * next() / unit]);
    }
    let start = State::new(&system, &q, &v).unwrap();
    (system, start)
}

#[test]
fn a_heap_of_discs_never_gains_energy_however_its_gaps_are_written() {
    for (power, factor) in [(1, 1.0), (2, 1.0), (1, 1e4), (2, 1e-4)] {
        let (system, start) = discs(power, factor, 1.0);
        for (name, mut stepper) in contact_methods(&system, &start, 0.005, 0.5) {
            if name == "event" {
                continue;
            }
            let (_, ledger) = run(&system, &mut stepper, &start, 4.0);
            let energy = ledger.energy;
            assert!(energy.max <= energy.start * (1.0 + 1e-9), "{name} {power}: {energy:?}");
            assert!(energy.end < 0.5 * energy.start, "{name} {power}: {energy:?}");
        }
    }
}

/// $\tfrac12 x^4 + 0.8 y^2 + 0.3 x y$.
struct Well;
impl Expr for Well {
    fn value<T: Scalar>(&self, q: &[T], _t: T) -> T {
        let square = q[0] * q[0];
        square * square * 0.5 + q[1] * q[1] * 0.8 + q[0] * q[1] * 0.3
    }
}

/// A point in a well with a wall and a round obstacle whose gap is $c\\,(d^p - r^p)$.
fn well(power: i32, factor: f64) -> (System, State) {
    struct Obstacle(Discs);
    impl Expr for Obstacle {
        fn value<T: Scalar>(&self, q: &[T], t: T) -> T {
            let zero = q[0] * 0.0;
            self.0.value(&[q[0], q[1], zero - 0.5, zero + 0.4], t)
        }
    }
    let obstacle = Obstacle(Discs { power, factor, radius: 0.3 });
    let system = System::new(Mass::diagonal(&[1.0, 1.0]).unwrap())
        .with_potential("well", AutoDiff::new(Well, &[0, 1]).unwrap())
        .unwrap()
        .with_inequality("wall", AutoDiff::new(Plane(-factor, 0.8 * factor), &[0]).unwrap())
        .unwrap()
        .with_inequality("obstacle", AutoDiff::new(obstacle, &[0, 1]).unwrap())
        .unwrap();
    let start = State::new(&system, &[0.2, -0.3], &[1.4, 0.5]).unwrap();
    (system, start)
}

#[test]
fn no_impact_is_missed_because_a_gap_is_squared_or_scaled() {
    // E at t = 4 by the event-driven method with h = 1e-5 and 1e-4: 0.359.
    for (power, factor) in [(1, 1.0), (2, 1.0), (1, 1e6), (2, 1e-6)] {
        let (system, start) = well(power, factor);
        for (name, mut stepper) in contact_methods(&system, &start, 2e-4, 0.7) {
            let (_, ledger) = run(&system, &mut stepper, &start, 4.0);
            let energy = ledger.energy.end;
            let bound = if name == "event" { 2e-3 } else { 1e-2 };
            assert!((energy - 0.359).abs() < bound, "{name} {power} {factor}: {energy}");
        }
    }
}

#[test]
fn a_gap_without_slope_at_its_surface_is_refused_or_right() {
    struct Cube;
    impl Expr for Cube {
        fn value<T: Scalar>(&self, q: &[T], _t: T) -> T {
            q[0] * q[0] * q[0]
        }
    }
    let system = System::new(Mass::diagonal(&[1.0]).unwrap())
        .with_potential("weight", AutoDiff::new(Plane(9.8, 0.0), &[0]).unwrap())
        .unwrap()
        .with_inequality("floor", AutoDiff::new(Cube, &[0]).unwrap())
        .unwrap();
    let start = State::new(&system, &[1.0], &[0.0]).unwrap();
    for h in [1e-2, 1e-3] {
        let mut stepper = Nsga::new(h, 0.9).unwrap().stepper(&system, &start).unwrap();
        let mut state = start.clone();
        let mut probe = SystemProbe::new(&system);
        let ledger = match run_steps(&mut stepper, &mut probe, &mut state, 2000, &mut ()) {
            Ok(outcome) => outcome.ledger,
            Err(error) => {
                assert!(error.to_string().contains("`floor`"), "{error}");
                *error.ledger
            }
        };
        assert!(ledger.energy.max < 9.8 + 1e-9, "{h}: {:?}", ledger.energy);
    }
}

/// $x$ where it is less than one half, and not a number beyond.
struct Half(f64);
impl Expr for Half {
    fn value<T: Scalar>(&self, q: &[T], _t: T) -> T {
        // The root of a negative number, times zero.
        (q[0] * -1.0 + 0.5).sqrt() * self.0 + 1.0
    }
}

/// A value that is NaN while its derivatives are not.
struct BadValue;
impl nsm_constraints::Field for BadValue {
    fn coordinates(&self) -> &[usize] {
        &[0]
    }
    fn value(&self, q: &[f64], _t: f64) -> f64 {
        if q[0] > 0.5 { f64::NAN } else { 0.0 }
    }
    fn gradient(&self, _q: &[f64], _t: f64, out: &mut [f64]) {
        out[0] = 0.0;
    }
    fn hessian(&self, _q: &[f64], _t: f64, _weight: f64, _out: &mut [f64]) {}
}

#[test]
fn a_gap_or_an_energy_that_is_not_finite_is_a_failed_step_in_every_method() {
    let free = || System::new(Mass::diagonal(&[1.0]).unwrap()).with_names(&["x"]).unwrap();
    let gap = free().with_inequality("gap", AutoDiff::new(Half(1.0), &[0]).unwrap()).unwrap();
    let energy = free().with_potential("spring", BadValue).unwrap();
    for (system, what, culprit) in
        [(&gap, "the gap", "gap"), (&energy, "the potential energy", "spring")]
    {
        let start = State::new(system, &[0.003], &[1.0]).unwrap();
        let mut methods = contact_methods(system, &start, 0.01, 1.0);
        if system.inequalities().is_empty() {
            for index in [Index::Three, Index::Two, Index::One] {
                let method = ClassicalAlpha::new(0.01, index, 0.9).unwrap();
                methods.push(("classical", Box::new(method.stepper(system, &start).unwrap())));
            }
        }
        for (name, stepper) in &mut methods {
            let mut state = start.clone();
            let error = loop {
                assert!(state.q[0] < 0.51, "{name} went on to {}", state.q[0]);
                match stepper.step(&mut state) {
                    Ok(_) => {}
                    Err(error) => break error,
                }
            };
            assert!(
                matches!(&error, StepError::NotFinite { what: w, culprit: c, .. } if *w == what && c == culprit),
                "{name}: {error}"
            );
            assert!(
                (state.q[0] - 0.5).abs() < 0.011 && state.q[0] <= 0.5,
                "{name}: {}",
                state.q[0]
            );
        }
    }
}

#[test]
fn a_state_of_the_wrong_length_is_refused() {
    let system = System::new(Mass::diagonal(&[1.0, 1.0]).unwrap());
    let start = State::new(&system, &[0.0, 0.0], &[1.0, 0.0]).unwrap();
    let mut methods = contact_methods(&system, &start, 0.01, 1.0);
    let classical = ClassicalAlpha::new(0.01, Index::Three, 0.9).unwrap();
    methods.push(("classical", Box::new(classical.stepper(&system, &start).unwrap())));
    for (name, stepper) in &mut methods {
        let mut state = start.clone();
        state.q.push(0.0);
        let error = stepper.step(&mut state).unwrap_err();
        let StepError::Method { source, .. } = &error else { panic!("{name}: {error}") };
        let source: &SystemError = source.downcast_ref().unwrap();
        assert_eq!(*source, SystemError::Length { what: "position", length: 3, expected: 2 });
        assert_eq!(state.q.len(), 3);
    }
}

#[test]
fn time_collects_no_rounding() {
    let system = System::new(Mass::diagonal(&[1.0]).unwrap());
    let start = State::new(&system, &[0.0], &[1.0]).unwrap();
    let mut methods = contact_methods(&system, &start, 1e-3, 1.0);
    let classical = ClassicalAlpha::new(1e-3, Index::Two, 0.9).unwrap();
    methods.push(("classical", Box::new(classical.stepper(&system, &start).unwrap())));
    for (name, stepper) in &mut methods {
        let mut state = start.clone();
        for _ in 0..10_000 {
            stepper.step(&mut state).unwrap();
        }
        assert_eq!(state.t, 10.0, "{name}");
    }
}

#[test]
fn other_units_give_the_same_motion() {
    // Metres and seconds against micrometres and kilometres: the same events and the same energy.
    let outcomes = [1.0, 1e-6, 1e3].map(|unit| {
        let (system, start) = discs(1, 1.0, unit);
        let nsga = Nsga { restitution: Restitution::Uniform(0.5), ..Nsga::new(0.01, 0.9).unwrap() };
        let mut stepper = nsga.stepper(&system, &start).unwrap();
        let (state, ledger) = run(&system, &mut stepper, &start, 1.0);
        (ledger.events, ledger.energy.end * unit * unit, state.q[0] * unit)
    });
    for (events, energy, x) in outcomes {
        assert_eq!(events, outcomes[0].0);
        assert!((energy - outcomes[0].1).abs() < 1e-6 * outcomes[0].1);
        assert!((x - outcomes[0].2).abs() < 1e-6);
    }
}

#[test]
fn one_method_has_one_default() {
    assert_eq!(Nsga::new(0.1, 0.9).unwrap().restitution, Restitution::ELASTIC);
    assert_eq!(EventDriven::new(0.1, 0.9).unwrap().restitution, Restitution::ELASTIC);
}
