//! What runs preserve: momenta to round-off, energy by every event, constraints.

mod common;

use common::{
    Affine, Spring, auto, ball, double_pendulum, double_pendulum_state, oscillator, pogo, spheres,
};
use nsm_model::{
    Invariant, Ledger, Mass, State, Stepper, System, SystemError, SystemProbe, run_steps,
};
use nsm_vi::{
    ConstraintAt, ContactForce, Direct, DiscreteSmooth, Energy, EventHandling, Gvi, Hybrid,
    ImpactLaw, Newmark, Quadrature, Restitution, Variational,
};

fn ledger(
    mut stepper: impl Stepper<State = State>,
    system: &System,
    start: &State,
    steps: usize,
) -> Ledger {
    let mut state = start.clone();
    run_steps(&mut stepper, &mut SystemProbe::new(system), &mut state, steps, &mut ())
        .unwrap()
        .ledger
}

#[test]
fn angular_momentum_is_exact_through_ten_thousand_steps_with_contacts() {
    let (system, start) = oscillator();
    for quadrature in [Quadrature::Midpoint, Quadrature::Verlet] {
        for energy in [Energy::Hamiltonian, Energy::SecondOrder] {
            let h = if quadrature == Quadrature::Verlet { 0.02 } else { 0.1 };
            let method = Gvi { energy, ..Gvi::new(h, quadrature) };
            let account = ledger(method.stepper(&system).unwrap(), &system, &start, 10_000);
            assert!(account.events > 100, "{} events", account.events);
            let drift = account.invariant("L").unwrap().deviation();
            assert!(drift < 1e-12, "{quadrature:?} {energy:?}: {drift:e}");
        }
    }
    let (system, start) = spheres();
    for quadrature in [Quadrature::Midpoint, Quadrature::Verlet] {
        let account =
            ledger(Gvi::new(0.1, quadrature).stepper(&system).unwrap(), &system, &start, 10_000);
        let drift = account.invariant("L").unwrap().deviation();
        assert!(drift < 1e-12, "GVI {quadrature:?}: {drift:e}");
        let mut method = DiscreteSmooth::new(0.1, quadrature);
        method.tolerances.contact.gap = 1e-2;
        let account = ledger(method.stepper(&system).unwrap(), &system, &start, 10_000);
        let drift = account.invariant("L").unwrap().deviation();
        assert!(drift < 1e-12, "DSI {quadrature:?}: {drift:e}");
    }
}

#[test]
fn linear_momentum_is_exact_through_collisions() {
    // Two discs on springs, thrown together in the plane.
    let system = System::new(Mass::diagonal(&[1.0, 1.0, 3.0, 3.0]).unwrap())
        .with_potential("spring", auto(Spring(4.0, 1.5), &[0, 1, 2, 3]))
        .unwrap()
        .with_inequality("discs", auto(common::Distance(1.0), &[0, 1, 2, 3]))
        .unwrap()
        .with_invariant(Invariant::linear_momentum("px", &[0, 2]))
        .with_invariant(Invariant::linear_momentum("py", &[1, 3]))
        .with_invariant(Invariant::angular_momentum("L", &[[0, 1], [2, 3]]));
    let start = State::new(&system, &[0.0, 0.0, 1.6, 0.1], &[1.3, 0.1, -1.0, 0.2]).unwrap();
    for quadrature in [Quadrature::Midpoint, Quadrature::Verlet] {
        let method = Gvi::new(0.02, quadrature);
        let account = ledger(method.stepper(&system).unwrap(), &system, &start, 10_000);
        assert!(account.events > 100, "{} events", account.events);
        for name in ["px", "py"] {
            let drift = account.invariant(name).unwrap().deviation();
            assert!(drift < 1e-12, "{quadrature:?} {name}: {drift:e}");
        }
        // The centre drifts 90 units away, so that round-off of L is measured against 1e2.
        let drift = account.invariant("L").unwrap().deviation();
        assert!(drift < 1e-10, "{quadrature:?} L: {drift:e}");
    }
}

#[test]
fn the_pogo_conserves_c_and_not_h() {
    for h in [0.1, 0.05] {
        let (system, start) = pogo(h, 3.88);
        let method = Gvi::new(h, Quadrature::Verlet);
        let account = ledger(method.stepper(&system).unwrap(), &system, &start, 100_000);
        let drift = account.invariant("C").unwrap().deviation();
        assert!(drift < 1e-10, "{drift:e}");
        assert!(account.energy.deviation() > 0.1);
        assert!(account.event_energy_change.abs() < 1e-12);
    }
}

#[test]
fn the_ball_keeps_its_energy_to_round_off() {
    let (system, start) = ball();
    for quadrature in [Quadrature::Midpoint, Quadrature::Verlet] {
        let account =
            ledger(Gvi::new(0.05, quadrature).stepper(&system).unwrap(), &system, &start, 4000);
        assert!(account.energy.deviation() < 1e-12, "{:e}", account.energy.deviation());
        assert_eq!(account.penetration, 0.0);
        assert_eq!(account.events, account.rounds);
    }
}

#[test]
fn rods_hold_to_the_last_bits_on_both_levels() {
    let system = double_pendulum();
    let start = double_pendulum_state(&system, [0.7, -0.4, 1.3, -2.0]);
    for quadrature in [Quadrature::Midpoint, Quadrature::Verlet] {
        let method = Variational::new(0.01, quadrature);
        let account = ledger(method.stepper(&system).unwrap(), &system, &start, 2000);
        assert!(account.position_residual < 1e-14, "{:e}", account.position_residual);
        assert!(account.velocity_residual < 1e-13, "{:e}", account.velocity_residual);
        assert!(account.energy.deviation() < 0.05);
    }
}

#[test]
fn direct_methods_lose_or_gain_at_impacts() {
    let (system, start) = ball();
    let end = ledger(
        Direct::new(0.05, ConstraintAt::Endpoint).stepper(&system).unwrap(),
        &system,
        &start,
        120,
    );
    // Each impact multiplies round-off by 2/h.
    assert!((end.energy.end - 0.0098).abs() < 1e-7, "{}", end.energy.end);
    assert!(end.energy.max <= 9.8 + 1e-12 && end.penetration < 1e-15);
    let middle = ledger(
        Direct::new(0.05, ConstraintAt::Midpoint).stepper(&system).unwrap(),
        &system,
        &start,
        120,
    );
    assert!(middle.energy.min < 3.0 && middle.energy.max > 100.0);
    let imex =
        ledger(Newmark::imex(0.05, 0.0, 0.5).stepper(&system).unwrap(), &system, &start, 120);
    assert!((imex.energy.end - 0.0098).abs() < 1e-7, "{}", imex.energy.end);
}

#[test]
fn newmark_reduces_to_known_schemes_without_contact() {
    // (0, 1/2) is Verlet; (1/4, 1/2) is the trapezoidal rule, conjugate to the midpoint rule.
    let (system, start) = oscillator();
    let mut verlet = Variational::new(0.01, Quadrature::Verlet).stepper(&system).unwrap();
    let mut newmark = Newmark::imex(0.01, 0.0, 0.5).stepper(&system).unwrap();
    let (mut a, mut b) = (start.clone(), start.clone());
    for _ in 0..20 {
        verlet.step(&mut a).unwrap();
        newmark.step(&mut b).unwrap();
    }
    for (x, y) in a.q.iter().zip(&b.q) {
        assert!((x - y).abs() < 1e-14);
    }
    let end = |n: usize| {
        let h = 0.2 / n as f64;
        let mut stepper = Newmark::imex(h, 0.25, 0.5).stepper(&system).unwrap();
        let mut state = start.clone();
        for _ in 0..n {
            stepper.step(&mut state).unwrap();
            assert!(stepper.events().is_empty());
        }
        state.q[1]
    };
    let order = ((end(20) - end(40)) / (end(40) - end(80))).log2();
    assert!((order - 2.0).abs() < 0.05, "order {order}");
}

#[test]
fn newmark_with_consistent_contact_forces_remembers_them_only_where_they_acted() {
    let (system, start) = ball();
    let method = Newmark { contact: ContactForce::Consistent, ..Newmark::imex(0.05, 0.25, 0.5) };
    let mut stepper = method.stepper(&system).unwrap();
    let mut state = start.clone();
    while stepper.events().is_empty() {
        stepper.step(&mut state).unwrap();
    }
    // A jump to another state forgets the force of the last one.
    let mut elsewhere = start.clone();
    stepper.step(&mut elsewhere).unwrap();
    let mut fresh = start.clone();
    method.stepper(&system).unwrap().step(&mut fresh).unwrap();
    assert_eq!(elsewhere, fresh);
    let explicit = Newmark { beta: 0.0, ..method };
    assert!(matches!(explicit.stepper(&system), Err(SystemError::DoesNotFit { .. })));
}

#[test]
fn hybrids_meet_every_contact_at_its_surface() {
    let (system, start) = pogo(0.1, 3.88);
    let method = Hybrid::new(0.1, Quadrature::Verlet);
    let account = ledger(method.stepper(&system).unwrap(), &system, &start, 20_000);
    assert!(account.penetration < 1e-12, "{:e}", account.penetration);
    assert!(account.events > 1000 && account.event_energy_change.abs() < 1e-12);
    assert!(account.energy.max < 2.0 * account.energy.start);
    // The fragile form penetrates.
    let method = Hybrid { handling: EventHandling::OneUnchecked, ..method };
    let account = ledger(method.stepper(&system).unwrap(), &system, &start, 5000);
    assert!(account.penetration > 1e-3, "{:e}", account.penetration);
}

#[test]
fn a_force_that_drags_dissipates_and_keeps_the_order() {
    use nsm_constraints::Scalar;
    use nsm_model::{AutoForce, ForceExpr};
    struct Drag(f64);
    impl ForceExpr for Drag {
        fn force<T: Scalar>(&self, _q: &[T], v: &[T], _t: T, out: &mut [T]) {
            out[0] = -(v[0] * self.0);
        }
    }
    // Fall with linear drag: v = (g/c)(exp(-ct) - 1).
    let (g, c) = (9.8, 0.7);
    let system = System::new(Mass::diagonal(&[1.0]).unwrap())
        .with_potential("gravity", auto(Affine(vec![g], 0.0), &[0]))
        .unwrap()
        .with_force(AutoForce::new(Drag(c), &[0]).unwrap())
        .unwrap()
        .with_inequality("floor", auto(Affine(vec![1.0], 0.0), &[0]))
        .unwrap();
    let start = State::new(&system, &[100.0], &[0.0]).unwrap();
    let exact = (g / c) * ((-c * 2.0_f64).exp() - 1.0);
    for quadrature in [Quadrature::Midpoint, Quadrature::Verlet] {
        let error = |n: usize| {
            let mut stepper = Gvi::new(2.0 / n as f64, quadrature).stepper(&system).unwrap();
            let mut state = start.clone();
            for _ in 0..n {
                stepper.step(&mut state).unwrap();
            }
            (state.v[0] - exact).abs()
        };
        let order = (error(40) / error(80)).log2();
        assert!((order - 2.0).abs() < 0.05, "{quadrature:?}: order {order}");
    }
}

#[test]
fn impact_laws_lose_what_they_say() {
    let (system, start) = ball();
    for e in [0.0, 0.5, 1.0] {
        let law = ImpactLaw::Newton(Restitution::Uniform(e));
        let method = Gvi { law, ..Gvi::new(0.01, Quadrature::Verlet) };
        let mut stepper = method.stepper(&system).unwrap();
        let mut state = start.clone();
        let mut before = state.v[0];
        while stepper.events().is_empty() {
            before = state.v[0];
            stepper.step(&mut state).unwrap();
        }
        let event = stepper.events().iter().next().unwrap();
        if e == 0.0 {
            // It lands on the floor in this very step, and keeps nothing.
            assert!((event.energy_change + 9.8).abs() < 1e-13, "{}", event.energy_change);
            continue;
        }
        let loss = -0.5 * (1.0 - e * e) * before * before;
        assert!((event.energy_change - loss).abs() < 1e-13, "{e}: {}", event.energy_change);
        assert!((event.impulses[0] + (1.0 + e) * before).abs() < 1e-13);
    }
}

#[test]
fn a_plastic_ball_comes_to_rest_on_the_floor() {
    let (system, start) = ball();
    let h = 0.01;
    let law = ImpactLaw::Newton(Restitution::PLASTIC);
    let method = Gvi { law, ..Gvi::new(h, Quadrature::Verlet) };
    let mut stepper = method.stepper(&system).unwrap();
    let mut state = start;
    for _ in 0..1000 {
        stepper.step(&mut state).unwrap();
        assert!(state.q[0] >= -h * h * 9.8, "{}", state.q[0]);
    }
    assert!(state.q[0].abs() < 1e-12 && state.p[0] == 0.0, "{state:?}");
}

#[test]
fn the_numerical_hamiltonian_is_kept_to_fourth_order() {
    // H2 = H + h²(1/12 v V'' v - 1/24 |∇V|²) for Verlet, H - h²/24 (v V'' v + |∇V|²) for the midpoint rule.
    let (system, start) = oscillator();
    for (quadrature, a, b) in [
        (Quadrature::Verlet, 1.0 / 12.0, -1.0 / 24.0),
        (Quadrature::Midpoint, -1.0 / 24.0, -1.0 / 24.0),
    ] {
        let drift = |h: f64, order: f64| {
            let shadow = |state: &State| {
                let rows = system.potential();
                let (mut gradient, mut scratch) = ([0.0; 4], [0.0; 4]);
                rows.add_sum_gradient(&state.q, 0.0, &mut scratch, &mut gradient);
                let mut hessian = vec![0.0; rows.hessian_entries().len()];
                rows.sum_hessian(&state.q, 0.0, &mut hessian);
                let curvature: f64 = rows
                    .hessian_entries()
                    .iter()
                    .zip(&hessian)
                    .map(|(&(i, j), value)| state.v[i] * value * state.v[j])
                    .sum();
                let force: f64 = gradient.iter().map(|g| g * g).sum();
                let energy = system.mass().kinetic_energy(&state.v) + rows.sum(&state.q, 0.0);
                energy + order * h * h * (a * curvature + b * force)
            };
            let mut stepper = Variational::new(h, quadrature).stepper(&system).unwrap();
            let mut state = start.clone();
            let (first, mut worst) = (shadow(&state), 0.0_f64);
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // at most a hundred
            let steps = (0.5 / h).round() as usize;
            for _ in 0..steps {
                stepper.step(&mut state).unwrap();
                worst = worst.max((shadow(&state) - first).abs());
            }
            worst
        };
        let second = (drift(0.01, 0.0) / drift(0.005, 0.0)).log2();
        let fourth = (drift(0.01, 1.0) / drift(0.005, 1.0)).log2();
        assert!((second - 2.0).abs() < 0.1, "{quadrature:?}: H to order {second}");
        assert!((fourth - 4.0).abs() < 0.2, "{quadrature:?}: H2 to order {fourth}");
    }
}
