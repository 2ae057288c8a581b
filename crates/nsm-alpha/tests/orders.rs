//! Orders of convergence by step halving, against exact solutions in minimal coordinates.

mod common;

use std::f64::consts::{PI, TAU};

use common::{distance, orders, run};
use nsm_alpha::problems::{Problem, braiding_machine, cam};
use nsm_alpha::{ClassicalAlpha, EventDriven, Index, Nsga, Variant};
use nsm_constraints::{LineSpring, Spring};
use nsm_model::{Mass, State, Stepper, System};

const RHO: f64 = 0.8;

/// The cam (inertia 2) in its minimal coordinate $\theta$, by RK4 with the switch located by bisection:
/// $(j + m r\'^2)\\,\ddot\theta + m r\' r\'\'\\,\dot\theta^2 + 5 r\' = 0$.
fn exact_cam(end: f64) -> [f64; 4] {
    let phase = |theta: f64, turn: f64| (theta - TAU * turn - PI) / 2.0;
    let radius = |theta: f64, turn: f64| {
        let p = phase(theta, turn);
        (2.0 + p.cos(), -0.5 * p.sin(), -0.25 * p.cos())
    };
    let rate = |y: [f64; 2], turn: f64| {
        let (_, r1, r2) = radius(y[0], turn);
        [y[1], -(r1 * r2 * y[1] * y[1] + 5.0 * r1) / (2.0 + r1 * r1)]
    };
    let step = |y: [f64; 2], h: f64, turn: f64| {
        let at = |y: [f64; 2], k: [f64; 2], h: f64| [y[0] + h * k[0], y[1] + h * k[1]];
        let k1 = rate(y, turn);
        let k2 = rate(at(y, k1, h / 2.0), turn);
        let k3 = rate(at(y, k2, h / 2.0), turn);
        let k4 = rate(at(y, k3, h), turn);
        std::array::from_fn(|i| y[i] + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]))
    };
    let (mut t, mut y, mut turn, h) = (0.0, [0.0, 4.0], 0.0, 1e-3);
    while t < end - 1e-14 {
        let piece = f64::min(h, end - t);
        let next: [f64; 2] = step(y, piece, turn);
        if next[0] < TAU * (turn + 1.0) {
            (t, y) = (t + piece, next);
            continue;
        }
        let (mut low, mut high) = (0.0, piece);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if step(y, middle, turn)[0] < TAU * (turn + 1.0) {
                low = middle;
            } else {
                high = middle;
            }
        }
        y = step(y, low, turn);
        t += low;
        // (y', θ') is projected onto y' = θ'/2 in the metric diag(1, 2); before, y' = -θ'/2.
        let w = y[1];
        let slip = -0.5 * w - 0.5 * w;
        y[1] = w + 0.25 * slip / (1.0 + 0.125);
        turn += 1.0;
        y[0] = TAU * turn;
    }
    let (r, r1, _) = radius(y[0], turn);
    [r, y[0], r1 * y[1], y[1]]
}

fn error<S: Stepper<State = State>>(problem: &Problem, mut stepper: S, end: f64) -> f64 {
    let (state, _) = run(&problem.system, &mut stepper, &problem.start, end);
    let exact = exact_cam(end);
    distance(&state.q, &exact[..2]).max(distance(&state.v, &exact[2..]))
}

fn assert_order(name: &str, errors: &[f64], order: f64, tolerance: f64) {
    let found = orders(errors);
    assert!(
        found.iter().all(|o| (o - order).abs() < tolerance),
        "{name}: orders {found:?} of errors {errors:?}, expected {order}"
    );
}

#[test]
fn the_exact_cam_is_the_one_of_the_specification() {
    let end = exact_cam(4.0);
    let stated = [2.074_968_0, 12.416_293_8, -1.524_721_5, 3.058_048_6];
    assert!(distance(&end, &stated) < 1e-7, "{end:?}");
}

#[test]
fn smooth_phases_are_second_order_and_first_as_published() {
    let problem = cam(2.0).unwrap();
    let (system, start) = (&problem.system, &problem.start);
    let steps = [1e-2, 5e-3, 2.5e-3, 1.25e-3];
    let end = 1.5;
    for index in [Index::Three, Index::Two, Index::One] {
        let errors = steps.map(|h| {
            let method = ClassicalAlpha::new(h, index, RHO).unwrap();
            error(&problem, method.stepper(system, start).unwrap(), end)
        });
        assert_order(&format!("{index:?}"), &errors, 2.0, 0.15);
    }
    for (variant, order) in [(Variant::Active, 2.0), (Variant::Published, 1.0)] {
        let errors = steps.map(|h| {
            let method = Nsga { variant, ..Nsga::new(h, RHO).unwrap() };
            error(&problem, method.stepper(system, start).unwrap(), end)
        });
        assert_order(&format!("{variant:?}"), &errors, order, 0.15);
    }
}

#[test]
fn event_driven_is_second_order_across_a_switch() {
    let problem = cam(2.0).unwrap();
    for rho in [RHO, 0.98] {
        let errors = [8e-3, 4e-3, 2e-3, 1e-3, 5e-4].map(|h| {
            let method = EventDriven::new(h, rho).unwrap();
            error(&problem, method.stepper(&problem.system, &problem.start).unwrap(), 4.0)
        });
        assert_order("event-driven", &errors, 2.0, 0.15);
    }
}

#[test]
fn the_active_variant_is_thousands_of_times_closer_on_the_braiding_machine() {
    let Problem { system, start } = braiding_machine(2.0).unwrap();
    let angle = |variant| {
        let method = Nsga { variant, ..Nsga::new(1e-3, 0.98).unwrap() };
        let (state, ledger) =
            run(&system, &mut method.stepper(&system, &start).unwrap(), &start, 1.5);
        ((state.q[3] - 2.4).abs(), ledger.energy.start - ledger.energy.end)
    };
    let (active, loss) = angle(Variant::Active);
    let (published, published_loss) = angle(Variant::Published);
    assert!(active < 1e-6 && loss.abs() < 1e-5);
    assert!(published > 1000.0 * active && published_loss > 0.02);
}

/// Two masses on a spring whose force, for positions rounded to their last digit, is known to 1e-7 only.
#[test]
fn stiff_forces_do_not_keep_a_step_from_being_solved() {
    let system = System::new(Mass::diagonal(&[1.0, 1e-6]).unwrap())
        .with_potential("link", LineSpring::new(0, 1, 1e9, 0.0).unwrap())
        .unwrap()
        .with_potential("well", Spring::to_anchor(&[0], &[-2.0], 100.0, 2.0).unwrap())
        .unwrap();
    let start = State::new(&system, &[1.0, 1.0], &[0.0, 0.0]).unwrap();
    let (h, end) = (2e-3, 2.0);
    let exact = (10.0_f64 / (1.0_f64 + 1e-6).sqrt() * end).cos();
    for index in [Index::Three, Index::Two, Index::One] {
        let method = ClassicalAlpha::new(h, index, RHO).unwrap();
        let (state, _) = run(&system, &mut method.stepper(&system, &start).unwrap(), &start, end);
        assert!(distance(&state.q, &[exact; 2]) < 2e-3, "{index:?}: {:?} {exact}", state.q);
    }
    let method = Nsga::new(h, RHO).unwrap();
    let (state, _) = run(&system, &mut method.stepper(&system, &start).unwrap(), &start, end);
    assert!(distance(&state.q, &[exact; 2]) < 2e-3, "{:?} {exact}", state.q);
}
