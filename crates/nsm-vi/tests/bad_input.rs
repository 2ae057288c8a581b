//! What cannot be simulated is refused by name, and a failed step changes nothing.

mod common;

use common::{Affine, auto, ball, oscillator};
use nsm_constraints::{Expr, Scalar};
use nsm_model::{Mass, State, StepError, Stepper, System, SystemError, Tolerance, check_start};
use nsm_vi::{
    Conserving, ConstraintAt, ContactForce, Direct, DiscreteSmooth, EventHandling, Gvi, Hybrid,
    ImpactLaw, Newmark, NullSpace, Quadrature, Restitution, Variational,
};

#[test]
fn steps_and_tolerances_out_of_range_are_refused() {
    let (system, _) = ball();
    for h in [0.0, -0.1, f64::NAN, f64::INFINITY] {
        let errors = [
            Gvi::new(h, Quadrature::Verlet).stepper(&system).err(),
            Variational::new(h, Quadrature::Verlet).stepper(&system).err(),
            DiscreteSmooth::new(h, Quadrature::Verlet).stepper(&system).err(),
            Direct::new(h, ConstraintAt::Endpoint).stepper(&system).err(),
            Newmark::imex(h, 0.0, 0.5).stepper(&system).err(),
            Hybrid::new(h, Quadrature::Verlet).stepper(&system).err(),
        ];
        for error in errors {
            assert!(
                matches!(error, Some(SystemError::Parameter { what: "the step", .. })),
                "{error:?}"
            );
        }
    }
    let mut method = Gvi::new(0.1, Quadrature::Verlet);
    method.tolerances.contact.gap = f64::NAN;
    assert!(matches!(
        method.stepper(&system),
        Err(SystemError::Parameter { what: "the gap tolerance", .. })
    ));
    assert!(matches!(
        Newmark::imex(0.1, 0.7, 0.5).stepper(&system),
        Err(SystemError::Parameter { what: "Newmark's beta", .. })
    ));
    let law = ImpactLaw::Newton(Restitution::Uniform(1.5));
    let error = Gvi { law, ..Gvi::new(0.1, Quadrature::Verlet) }.stepper(&system).unwrap_err();
    assert!(error.to_string().contains("restitution of `floor`"), "{error}");
}

#[test]
fn masses_that_are_zero_or_negative_are_refused_by_name() {
    assert!(matches!(Mass::diagonal(&[1.0, -1.0]), Err(SystemError::Mass { coordinate: 1, .. })));
    let system =
        System::new(Mass::diagonal(&[1.0, 0.0]).unwrap()).with_names(&["x", "ghost"]).unwrap();
    for error in [
        Gvi::new(0.1, Quadrature::Verlet).stepper(&system).err(),
        Direct::new(0.1, ConstraintAt::Endpoint).stepper(&system).err(),
        Newmark::imex(0.1, 0.0, 0.5).stepper(&system).err(),
    ] {
        assert_eq!(error, Some(SystemError::Massless { coordinate: "ghost".into() }));
    }
}

#[test]
fn an_infeasible_start_is_named_with_its_depth() {
    let (system, _) = oscillator();
    let start = State::new(&system, &[0.0, 0.0, 1.5, 0.0], &[0.0; 4]).unwrap();
    match check_start(&system, &start, Tolerance::default()) {
        Err(SystemError::InfeasiblePosition { constraint, value, must: ">= 0" }) => {
            assert_eq!(constraint, "discs");
            assert!((value + 0.5).abs() < 1e-15);
        }
        other => panic!("{other:?}"),
    }
}

/// All steppers of the crate on one system.
fn steppers(system: &System) -> Vec<(&'static str, Box<dyn Stepper<State = State> + '_>)> {
    let q = Quadrature::Midpoint;
    vec![
        ("gvi", Box::new(Gvi::new(0.1, q).stepper(system).unwrap())),
        ("verlet", Box::new(Gvi::new(0.1, Quadrature::Verlet).stepper(system).unwrap())),
        ("variational", Box::new(Variational::new(0.1, q).stepper(system).unwrap())),
        ("smooth", Box::new(DiscreteSmooth::new(0.1, q).stepper(system).unwrap())),
        ("endpoint", Box::new(Direct::new(0.1, ConstraintAt::Endpoint).stepper(system).unwrap())),
        ("middle", Box::new(Direct::new(0.1, ConstraintAt::Midpoint).stepper(system).unwrap())),
        ("newmark", Box::new(Newmark::imex(0.1, 0.25, 0.5).stepper(system).unwrap())),
        ("hybrid", Box::new(Hybrid::new(0.1, q).stepper(system).unwrap())),
    ]
}

#[test]
fn numbers_that_are_not_finite_stop_a_step_and_leave_the_state() {
    let (system, start) = oscillator();
    for (name, mut stepper) in steppers(&system) {
        for poison in [f64::NAN, f64::INFINITY] {
            let mut state = start.clone();
            state.p[2] = poison;
            state.v[2] = poison;
            let before = state.clone();
            let error = stepper.step(&mut state).unwrap_err();
            assert!(matches!(error, StepError::NotFinite { .. }), "{name}: {error}");
            assert_eq!(format!("{state:?}"), format!("{before:?}"), "{name}");
        }
        let mut state = start.clone();
        state.q.pop();
        assert!(matches!(stepper.step(&mut state), Err(StepError::Method { .. })), "{name}");
    }
}

#[test]
fn a_failed_step_is_forgotten() {
    // A stepper that failed goes on exactly like one that never did.
    let (system, start) = oscillator();
    for ((name, mut a), (_, mut b)) in steppers(&system).into_iter().zip(steppers(&system)) {
        let (mut x, mut y) = (start.clone(), start.clone());
        for step in 0..60 {
            if step % 7 == 3 {
                let mut broken = x.clone();
                broken.p[1] = f64::NAN;
                broken.v[1] = f64::NAN;
                let events = format!("{:?}", a.events());
                a.step(&mut broken).unwrap_err();
                assert_eq!(format!("{:?}", a.events()), events, "{name}: events of a failed step");
            }
            a.step(&mut x).unwrap();
            b.step(&mut y).unwrap();
            assert_eq!(x, y, "{name}, step {step}");
        }
    }
}

#[test]
fn opposed_walls_are_an_impact_without_answer() {
    let system = System::new(Mass::diagonal(&[1.0]).unwrap())
        .with_inequality("left wall", auto(Affine(vec![1.0], 0.0), &[0]))
        .unwrap()
        .with_inequality("right wall", auto(Affine(vec![-1.0], 0.0), &[0]))
        .unwrap();
    let mut state = State::new(&system, &[0.0], &[1.0]).unwrap();
    let before = state.clone();
    let mut stepper = Gvi::new(0.1, Quadrature::Verlet).stepper(&system).unwrap();
    match stepper.step(&mut state) {
        Err(StepError::Impact { contact, residual, .. }) => {
            assert!(contact.ends_with("wall"));
            assert!((residual - 1.0).abs() < 1e-12);
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(state, before);
    // At rest between the walls there is nothing to resolve.
    let mut state = State::new(&system, &[0.0], &[0.0]).unwrap();
    stepper.step(&mut state).unwrap();
    assert_eq!(state.q, [0.0]);
}

/// A table of mass 1 with four legs at (±1, ±1): height and two small rotations.
fn table(load: [f64; 3]) -> System {
    let mut system = System::new(Mass::diagonal(&[1.0, 0.5, 0.5]).unwrap())
        .with_names(&["z", "roll", "pitch"])
        .unwrap()
        .with_potential("load", auto(Affine(load.to_vec(), 0.0), &[0, 1, 2]))
        .unwrap();
    for (name, x, y) in [
        ("front left", 1.0, 1.0),
        ("front right", 1.0, -1.0),
        ("back left", -1.0, 1.0),
        ("back right", -1.0, -1.0),
    ] {
        let leg = auto(Affine(vec![1.0, y, x], 0.0), &[0, 1, 2]);
        system = system.with_inequality(name, leg).unwrap();
    }
    system
}

#[test]
fn four_legs_of_a_table_carry_it_although_they_are_redundant() {
    // Weight in the middle, then off centre (still inside the legs), then on one leg's diagonal.
    for load in [[9.8, 0.0, 0.0], [9.8, 2.0, 1.0], [9.8, 4.0, 4.0]] {
        let system = table(load);
        for quadrature in [Quadrature::Midpoint, Quadrature::Verlet] {
            let mut state = State::new(&system, &[0.0; 3], &[0.0; 3]).unwrap();
            let mut stepper = Gvi::new(0.01, quadrature).stepper(&system).unwrap();
            for _ in 0..1000 {
                let report = stepper.step(&mut state).unwrap();
                assert_eq!(report.closed, 4);
                assert_eq!(report.rounds, 0);
            }
            let rest = state.q.iter().chain(&state.p).fold(0.0, |a, x| f64::max(a, x.abs()));
            assert!(rest < 1e-12, "{load:?} {quadrature:?}: {rest:e}");
        }
    }
}

#[test]
fn a_table_dropped_flat_bounces_flat_and_keeps_its_energy() {
    let system = table([9.8, 0.0, 0.0]);
    let mut state = State::new(&system, &[0.3, 0.0, 0.0], &[0.0; 3]).unwrap();
    let mut stepper = Gvi::new(0.01, Quadrature::Verlet).stepper(&system).unwrap();
    let mut bounces = 0;
    for _ in 0..1000 {
        stepper.step(&mut state).unwrap();
        bounces += stepper.events().len();
        assert!(state.q[1].abs() < 1e-14 && state.q[2].abs() < 1e-14);
        let energy = 0.5 * state.v[0] * state.v[0] + 9.8 * state.q[0];
        assert!((energy - 9.8 * 0.3).abs() < 1e-12);
    }
    assert!(bounces > 10);
}

#[test]
fn gaps_that_move_by_themselves_do_not_fit() {
    struct Lift;
    impl Expr for Lift {
        const RHEONOMIC: bool = true;
        fn value<T: Scalar>(&self, q: &[T], t: T) -> T {
            q[0] - t
        }
    }
    let system = System::new(Mass::diagonal(&[1.0]).unwrap())
        .with_inequality("lift", auto(Lift, &[0]))
        .unwrap();
    assert!(matches!(
        Gvi::new(0.1, Quadrature::Verlet).stepper(&system),
        Err(SystemError::DoesNotFit { .. })
    ));
    assert!(matches!(
        Hybrid::new(0.1, Quadrature::Verlet).stepper(&system),
        Err(SystemError::DoesNotFit { .. })
    ));
}

/// A value that is NaN from $x = \tfrac12$ on, while its derivatives are not.
struct BadValue;
impl nsm_constraints::Field for BadValue {
    fn coordinates(&self) -> &[usize] {
        &[0]
    }
    fn value(&self, q: &[f64], _t: f64) -> f64 {
        if q[0] > 0.5 { f64::NAN } else { 1.0 }
    }
    fn gradient(&self, _q: &[f64], _t: f64, out: &mut [f64]) {
        out[0] = 0.0;
    }
    fn hessian(&self, _q: &[f64], _t: f64, _weight: f64, _out: &mut [f64]) {}
}

#[test]
fn a_gap_or_an_energy_that_is_not_finite_is_a_failed_step_in_every_method() {
    type Boxed<'a> = Box<dyn Stepper<State = State> + 'a>;
    let free = || System::new(Mass::diagonal(&[1.0]).unwrap()).with_names(&["x"]).unwrap();
    let gap = free().with_inequality("gap", BadValue).unwrap();
    let energy = free().with_potential("spring", BadValue).unwrap();
    let h = 0.01;
    for (system, what, culprit) in
        [(&gap, "the gap", "gap"), (&energy, "the potential energy", "spring")]
    {
        let verlet = Quadrature::Verlet;
        let newmark = Newmark { contact: ContactForce::Consistent, ..Newmark::imex(h, 0.25, 0.5) };
        let fragile = Hybrid { handling: EventHandling::OneUnchecked, ..Hybrid::new(h, verlet) };
        let mut methods: Vec<Boxed<'_>> = vec![
            Box::new(Gvi::new(h, verlet).stepper(system).unwrap()),
            Box::new(DiscreteSmooth::new(h, verlet).stepper(system).unwrap()),
            Box::new(Hybrid::new(h, verlet).stepper(system).unwrap()),
            Box::new(fragile.stepper(system).unwrap()),
            Box::new(Direct::new(h, ConstraintAt::Endpoint).stepper(system).unwrap()),
            Box::new(Direct::new(h, ConstraintAt::Midpoint).stepper(system).unwrap()),
            Box::new(Newmark::imex(h, 0.0, 0.5).stepper(system).unwrap()),
            Box::new(newmark.stepper(system).unwrap()),
        ];
        if system.inequalities().is_empty() {
            methods.push(Box::new(Variational::new(h, verlet).stepper(system).unwrap()));
            methods.push(Box::new(Conserving::new(h).stepper(system).unwrap()));
            methods.push(Box::new(NullSpace::new(h, verlet).stepper(system).unwrap()));
        }
        for (k, stepper) in methods.iter_mut().enumerate() {
            let mut state = State::new(system, &[0.003], &[1.0]).unwrap();
            let error = loop {
                assert!(state.q[0] < 0.5, "method {k} went on to {}", state.q[0]);
                match stepper.step(&mut state) {
                    Ok(_) => {}
                    Err(error) => break error,
                }
            };
            assert!(
                matches!(&error, StepError::NotFinite { what: w, culprit: c, .. } if *w == what && c == culprit),
                "method {k}: {error}"
            );
            assert!(state.q[0] > 0.48, "method {k}: {}", state.q[0]);
        }
    }
}

#[test]
fn time_collects_no_rounding() {
    let system = System::new(Mass::diagonal(&[1.0]).unwrap());
    let mut gvi = Gvi::new(1e-3, Quadrature::Verlet).stepper(&system).unwrap();
    let mut newmark = Newmark::imex(1e-3, 0.25, 0.5).stepper(&system).unwrap();
    let mut direct = Direct::new(1e-3, ConstraintAt::Midpoint).stepper(&system).unwrap();
    let mut conserving = Conserving::new(1e-3).stepper(&system).unwrap();
    let methods: [&mut dyn Stepper<State = State>; 4] =
        [&mut gvi, &mut newmark, &mut direct, &mut conserving];
    for stepper in methods {
        let mut state = State::new(&system, &[0.0], &[1.0]).unwrap();
        for _ in 0..100_000 {
            stepper.step(&mut state).unwrap();
        }
        assert_eq!(state.t, 100.0);
    }
}
