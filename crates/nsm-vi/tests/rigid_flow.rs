//! The free flow on SE(3): conservation, order, symmetry, symplecticity, and its two forms.

mod cases;

use cases::gravity;
use nsm_geom::{Mat3, Pose, Vec3, so3};
use nsm_vi::rigid::{
    BodyState, BodyTorque, Lgvi, Load, Newton, Retraction, RigidBody, Spring, Wrench,
    discrete_energy, state_after, state_before,
};

fn flows() -> [Lgvi; 3] {
    let exponential = Lgvi { retraction: Retraction::Exponential, ..Lgvi::default() };
    [Lgvi::default(), exponential, Lgvi::paper()]
}

fn body() -> RigidBody {
    let inertia = Mat3::new(5.0, 0.3, -0.1, 0.3, 4.0, 0.2, -0.1, 0.2, 2.6);
    RigidBody::new("body", 1.3, inertia).unwrap()
}

fn start() -> BodyState {
    let pose = Pose::new(Vec3::new(0.1, -0.2, 3.0), so3::exp(&Vec3::new(0.4, 1.1, -0.3))).unwrap();
    BodyState::new(pose, Vec3::new(0.5, -0.3, 1.7), Vec3::new(4.0, -3.0, 2.0))
}

fn fly(flow: &Lgvi, body: &RigidBody, mut state: BodyState, h: f64, steps: usize) -> BodyState {
    for k in 0..steps {
        state = flow.fly(body, &gravity(), k as f64 * h, &state, h).unwrap().end;
    }
    state
}

/// Distance of two states, positions, attitudes and momenta together.
fn distance(a: &BodyState, b: &BodyState) -> f64 {
    (a.pose.x - b.pose.x).norm()
        + (a.pose.rot - b.pose.rot).norm()
        + (a.gamma - b.gamma).norm()
        + (a.pi - b.pi).norm()
}

#[test]
fn rotational_energy_and_spatial_momentum_are_kept_for_every_step_length() {
    let (body, start) = (body(), start());
    for flow in flows() {
        for h in [1e-3, 0.05, 0.3] {
            let end = fly(&flow, &body, start, h, 2000);
            let energy = body.rotational_energy(&end) / body.rotational_energy(&start) - 1.0;
            let momentum = end.pose.rot * end.pi - start.pose.rot * start.pi;
            let allowed = if flow == Lgvi::paper() { 1e-11 } else { 2e-14 };
            assert!(energy.abs() <= allowed, "{flow:?}, h = {h}: {energy:.1e}");
            assert!(momentum.norm() <= 1e-11, "{flow:?}, h = {h}: {:.1e}", momentum.norm());
        }
    }
}

#[test]
fn a_steady_rotation_keeps_its_momentum_to_the_last_bit() {
    let cube = RigidBody::new("cube", 1.0, Mat3::identity() * 2.0).unwrap();
    let end = fly(&Lgvi::default(), &cube, start(), 0.01, 10_000);
    assert_eq!(end.pi, start().pi);
    assert!(so3::orthogonality_defect(&end.pose.rot) < 2e-14);
}

#[test]
fn position_is_exact_under_constant_force() {
    let (body, start) = (body(), start());
    for flow in flows() {
        let (h, steps) = (0.01, 500);
        let end = fly(&flow, &body, start, h, steps);
        let t = h * steps as f64;
        let x = start.pose.x + start.gamma * (t / body.mass()) + gravity() * (0.5 * t * t);
        assert!((end.pose.x - x).norm() < 1e-11);
        assert!((end.gamma - start.gamma - gravity() * (t * body.mass())).norm() < 1e-11);
        assert_eq!((end.gamma.x, end.gamma.y), (start.gamma.x, start.gamma.y));
    }
}

#[test]
fn attitude_and_momentum_are_of_second_order_against_the_symmetric_top() {
    // J = diag(a, a, c): R(t) = exp(t L / a) R₀ exp(t (1/c − 1/a) Π₃ e₃), L = R₀ Π₀.
    let (a, c) = (3.0, 1.2);
    let top = RigidBody::new("top", 1.0, Mat3::from_diagonal(&Vec3::new(a, a, c))).unwrap();
    let start = BodyState { pi: Vec3::new(1.0, 2.0, 3.0), ..start() };
    let t = 2.0;
    let momentum = start.pose.rot * start.pi;
    let spin = Vec3::z() * (start.pi.z * (1.0 / c - 1.0 / a) * t);
    let exact = so3::exp(&(momentum * (t / a))) * start.pose.rot * so3::exp(&spin);
    for flow in flows() {
        let error = |steps: usize| {
            let end = fly(&flow, &top, start, t / steps as f64, steps);
            let pi = exact.tr_mul(&momentum);
            [(end.pose.rot - exact).norm(), (end.pi - pi).norm()]
        };
        let (coarse, fine) = (error(100), error(200));
        for (coarse, fine) in coarse.into_iter().zip(fine) {
            let order = (coarse / fine).log2();
            assert!((order - 2.0).abs() < 0.02, "{flow:?}: order {order}");
        }
    }
}

#[test]
fn a_flight_reversed_leads_back() {
    let (body, start) = (body(), start());
    for flow in flows() {
        let mut end = fly(&flow, &body, start, 0.02, 300);
        end.gamma = -end.gamma;
        end.pi = -end.pi;
        let back = fly(&flow, &body, end, 0.02, 300);
        let turned = BodyState { gamma: -back.gamma, pi: -back.pi, ..back };
        let allowed = if flow == Lgvi::paper() { 1e-9 } else { 1e-12 };
        assert!(distance(&turned, &start) < allowed, "{:.1e}", distance(&turned, &start));
    }
}

/// $\omega = \mu_2\cdot\eta_1 - \mu_1\cdot\eta_2 + \Pi\cdot(\eta_1\times\eta_2)$ on the left-trivialised cotangent bundle of
/// SO(3), carried through a step by central differences; returns the largest change of an entry.
fn symplecticity_defect(step: impl Fn(&BodyState) -> BodyState, at: &BodyState) -> f64 {
    let eps = 1e-5;
    let out = step(at);
    let mut tangents = Vec::new();
    for k in 0..6 {
        let moved = |sign: f64| {
            let mut s = *at;
            let mut d = Vec3::zeros();
            d[k % 3] = sign * eps;
            if k < 3 {
                s.pose.rot *= so3::exp(&d);
            } else {
                s.pi += d;
            }
            let end = step(&s);
            (so3::log(&out.pose.rot.tr_mul(&end.pose.rot)), end.pi)
        };
        let ((eta_p, mu_p), (eta_m, mu_m)) = (moved(1.0), moved(-1.0));
        tangents.push(((eta_p - eta_m) / (2.0 * eps), (mu_p - mu_m) / (2.0 * eps)));
    }
    let form = |pi: &Vec3, a: &(Vec3, Vec3), b: &(Vec3, Vec3)| {
        b.1.dot(&a.0) - a.1.dot(&b.0) + pi.dot(&a.0.cross(&b.0))
    };
    let unit = |k: usize| {
        let mut d = Vec3::zeros();
        d[k % 3] = 1.0;
        if k < 3 { (d, Vec3::zeros()) } else { (Vec3::zeros(), d) }
    };
    let mut worst: f64 = 0.0;
    for i in 0..6 {
        for j in 0..6 {
            let before = form(&at.pi, &unit(i), &unit(j));
            worst = worst.max((form(&out.pi, &tangents[i], &tangents[j]) - before).abs());
        }
    }
    worst
}

#[test]
fn the_step_is_symplectic_also_under_a_torque() {
    let top = heavy_top();
    for flow in flows() {
        for body in [&body(), &top] {
            let start = BodyState { gamma: Vec3::zeros(), ..start() };
            let defect = symplecticity_defect(
                |s| flow.fly(body, &gravity(), 0.0, s, 0.1).unwrap().end,
                &start,
            );
            assert!(defect < 1e-8, "{flow:?}: {defect:.1e}");
        }
    }
    // The measure itself can fail: a step that forgets to turn the momentum.
    let defect = symplecticity_defect(
        |s| BodyState {
            pi: s.pi,
            ..Lgvi::default().fly(&body(), &gravity(), 0.0, s, 0.1).unwrap().end
        },
        &start(),
    );
    assert!(defect > 1e-3);
}

#[test]
fn lagrangian_and_hamiltonian_forms_agree_with_changing_steps() {
    let body = body();
    for flow in flows() {
        let steps = [0.01, 0.01, 0.004, 0.006, 0.01, 0.01];
        let mut state = start();
        let mut poses = vec![state.pose];
        let mut momenta = vec![state];
        for h in steps {
            state = flow.fly(&body, &gravity(), 0.0, &state, h).unwrap().end;
            poses.push(state.pose);
            momenta.push(state);
        }
        for k in 1..steps.len() {
            let pair = (&poses[k - 1], &poses[k]);
            let next = flow.next_pose(&body, &gravity(), pair, (steps[k - 1], steps[k])).unwrap();
            assert!((next.x - poses[k + 1].x).norm() < 1e-14);
            assert!((next.rot - poses[k + 1].rot).norm() < 1e-14);
            let before = state_before(&body, &gravity(), pair.0, pair.1, steps[k - 1]);
            let after = state_after(&body, &gravity(), pair.0, pair.1, steps[k - 1]);
            assert!(distance(&before, &momenta[k - 1]) < 1e-11);
            assert!(distance(&after, &momenta[k]) < 1e-11);
        }
        // E_d differs from E by O(h²).
        let energy =
            body.kinetic_energy(&momenta[0]) + body.potential_energy(&gravity(), 0.0, &poses[0]);
        let error = |h: f64| {
            let end = flow.fly(&body, &gravity(), 0.0, &momenta[0], h).unwrap().end;
            discrete_energy(&body, &gravity(), &poses[0], &end.pose, h) - energy
        };
        let order = (error(0.02) / error(0.01)).log2();
        assert!((order - 2.0).abs() < 0.1, "order {order}");
    }
}

#[test]
fn retractions_give_the_same_flow() {
    let body = body();
    let [cayley, exponential, _] = flows();
    let a = fly(&cayley, &body, start(), 0.05, 1000);
    let b = fly(&exponential, &body, start(), 0.05, 1000);
    assert!(distance(&a, &b) < 1e-11, "{:.1e}", distance(&a, &b));
}

/// A Lagrange top: pivot below the centre of mass.
fn heavy_top() -> RigidBody {
    let inertia = Mat3::from_diagonal(&Vec3::new(1.2, 1.2, 0.3));
    RigidBody::pinned("top", 1.0, inertia, Vec3::new(0.0, 0.0, 1.0)).unwrap()
}

fn top_start() -> BodyState {
    let pose = Pose::new(Vec3::zeros(), so3::exp(&Vec3::new(0.6, 0.0, 0.0))).unwrap();
    BodyState::new(pose, Vec3::zeros(), Vec3::new(0.2, 0.1, 9.0))
}

#[test]
fn the_heavy_top_keeps_both_momenta_and_nearly_the_energy() {
    let top = heavy_top();
    let energy =
        |s: &BodyState| top.kinetic_energy(s) + top.potential_energy(&gravity(), 0.0, &s.pose);
    for flow in flows() {
        let start = top_start();
        let (e0, l0) = (energy(&start), start.pose.rot * start.pi);
        let mut state = start;
        let (mut first, mut last) = (0.0_f64, 0.0_f64);
        let steps = 50_000;
        for k in 0..steps {
            state = flow.fly(&top, &gravity(), 0.0, &state, 0.005).unwrap().end;
            let error = (energy(&state) - e0).abs();
            if k < steps / 10 {
                first = first.max(error);
            } else {
                last = last.max(error);
            }
            // About the vertical by symmetry of gravity, about the axis by that of the body.
            assert!(((state.pose.rot * state.pi).z - l0.z).abs() < 1e-10);
            assert!((state.pi.z - start.pi.z).abs() < 1e-10);
            assert_eq!(state.pose.x, Vec3::zeros());
        }
        // The band of the energy error does not widen.
        assert!(first < 5e-3 * e0 && last < 1.01 * first, "{first:.3e} then {last:.3e}");
    }
}

#[test]
fn loads_keep_second_order() {
    struct Gust;
    impl Load for Gust {
        fn wrench(&self, t: f64, _: &Pose) -> Wrench {
            let torque = Vec3::new(t.sin(), 0.3, -0.2 * t);
            Wrench { force: Vec3::new(t.cos(), 0.0, 0.5), torque }
        }
    }
    let spring = Spring {
        stiffness: 8.0,
        point: Vec3::new(0.3, -0.2, 0.9),
        anchor: Vec3::new(1.0, 0.0, 2.0),
    };
    let loaded = body().with_load(spring).with_load(Gust);
    for (body, start) in [(&loaded, start()), (&heavy_top(), top_start())] {
        let at = |steps: usize| fly(&Lgvi::default(), body, start, 1.0 / steps as f64, steps);
        let (a, b, c) = (at(100), at(200), at(400));
        let order = (distance(&a, &b) / distance(&b, &c)).log2();
        assert!((order - 2.0).abs() < 0.05, "order {order}");
    }
}

#[test]
fn a_spring_conserves_energy_in_the_mean_and_a_steady_torque_spins_up_exactly() {
    let spring = Spring {
        stiffness: 8.0,
        point: Vec3::new(0.3, -0.2, 0.9),
        anchor: Vec3::new(0.0, 0.0, 2.0),
    };
    let sprung = body().with_load(spring);
    let energy = |s: &BodyState| {
        sprung.kinetic_energy(s) + sprung.potential_energy(&gravity(), 0.0, &s.pose)
    };
    let mut state = start();
    let e0 = energy(&state);
    let mut worst: f64 = 0.0;
    for _ in 0..20_000 {
        state = Lgvi::default().fly(&sprung, &gravity(), 0.0, &state, 0.01).unwrap().end;
        worst = worst.max((energy(&state) - e0).abs());
    }
    assert!(worst < 2e-3 * e0.abs(), "{worst:.2e} of {e0}");

    let inertia = Mat3::from_diagonal(&Vec3::new(2.0, 3.0, 4.0));
    let wheel = RigidBody::new("wheel", 1.0, inertia)
        .unwrap()
        .with_load(BodyTorque(Vec3::new(0.0, 0.0, 0.5)));
    let end = fly(&Lgvi::default(), &wheel, BodyState::at_rest(Pose::identity()), 0.01, 400);
    assert!((end.pi - Vec3::new(0.0, 0.0, 2.0)).norm() < 1e-12);
}

#[test]
fn a_step_that_turns_too_far_is_refused() {
    let spinning = BodyState { pi: Vec3::new(900.0, -700.0, 800.0), ..start() };
    for flow in flows() {
        let refused = flow.fly(&body(), &gravity(), 0.0, &spinning, 0.1).unwrap_err();
        assert!(refused.residual > 1e-3);
        let halved = flow.fly(&body(), &gravity(), 0.0, &spinning, 0.001);
        assert!(halved.is_ok());
    }
}

#[test]
fn the_polish_removes_a_one_sided_error() {
    let (body, start) = (body(), start());
    let drift = |polish| {
        let newton = Newton { tolerance: 1e-10, polish, economical: false, ..Newton::default() };
        let flow = Lgvi { newton, ..Lgvi::default() };
        let end = fly(&flow, &body, start, 0.01, 20_000);
        (body.rotational_energy(&end) / body.rotational_energy(&start) - 1.0).abs()
    };
    assert!(drift(true) < 1e-12, "{:.1e}", drift(true));
    assert!(drift(false) > 1e3 * drift(true), "{:.1e} {:.1e}", drift(false), drift(true));
}
