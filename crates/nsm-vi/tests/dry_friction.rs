//! Dry friction on freedoms: closed forms of sliding, sticking and bearings under load, conservation, refusals.

use nsm_constraints::multibody::{End, Inertia, JointKind, Mechanism, Pose, Reference};
use nsm_constraints::{Affine, AutoDiff, Expr, FixedTangent, Scalar};
use nsm_model::{DryFriction, Mass, State, Stepper, System};
use nsm_vi::{Gvi, Hybrid, Quadrature, Restitution, Svci, Variational};

const QUADRATURES: [Quadrature; 2] = [Quadrature::Midpoint, Quadrature::Verlet];

fn bound(bound: f64) -> DryFriction {
    DryFriction { bound, load: None }
}

fn rate(weights: &[f64]) -> FixedTangent {
    let coordinates: Vec<usize> = (0..weights.len()).collect();
    FixedTangent::new(&coordinates, weights).unwrap()
}

/// A rotor of inertia 0.5 with a brake, under a torque.
fn rotor(brake: f64, torque: f64) -> System {
    System::new(Mass::diagonal(&[0.5]).unwrap())
        .with_potential("torque", Affine::new(&[0], &[-torque], 0.0).unwrap())
        .unwrap()
        .with_dry_friction("brake", rate(&[1.0]), bound(brake))
        .unwrap()
}

/// Steps to `end`; the work of dry friction, checked never to be positive.
fn run(system: &System, state: &mut State, method: &Svci, end: f64) -> f64 {
    let mut stepper = method.stepper(system).unwrap();
    let mut work = 0.0;
    while state.t < end - 0.5 * method.step {
        stepper.step(state).unwrap();
        for held in
            stepper.events().held().iter().filter(|h| h.contact >= system.inequalities().len())
        {
            assert!(held.work <= 0.0 && held.rubs, "{held:?}");
            work += held.work;
        }
    }
    work
}

#[test]
fn a_brake_stops_a_rotor_and_holds_it() {
    for quadrature in QUADRATURES {
        let system = rotor(0.2, 0.0);
        let mut state = State::new(&system, &[0.0], &[3.0]).unwrap();
        let work = run(&system, &mut state, &Svci::new(0.01, quadrature), 20.0);
        // It stops after J ω/τ = 7.5, having turned by J ω²/2τ; the stop lies within a step.
        let turned = 0.5 * 9.0 / (2.0 * 0.2);
        assert!((state.q[0] - turned).abs() <= 0.4 * 1e-4 / 8.0, "{}", state.q[0]);
        assert!(state.v[0].abs() < 1e-15 && (work + 0.5 * 0.5 * 9.0).abs() < 1e-12, "{work}");
        // What is weaker than the brake moves nothing, ten thousand steps long; what is stronger moves it at once.
        let system = rotor(0.2, 0.2 * (1.0 - 1e-9));
        let mut state = State::new(&system, &[0.3], &[0.0]).unwrap();
        assert!(run(&system, &mut state, &Svci::new(0.01, quadrature), 100.0).abs() < 1e-13);
        assert!((state.q[0] - 0.3).abs() < 1e-15 && state.v[0].abs() < 1e-15);
        let system = rotor(0.2, 0.3);
        let mut state = State::new(&system, &[0.0], &[0.0]).unwrap();
        run(&system, &mut state, &Svci::new(0.01, quadrature), 2.0);
        assert!((state.v[0] - 0.4).abs() < 1e-12 && (state.q[0] - 0.4).abs() < 1e-12);
    }
}

#[test]
fn a_strong_brake_holds_as_well_as_a_weak_one() {
    for brake in [1.0, 1e3, 1e6] {
        let system = rotor(brake, 0.3);
        let mut state = State::new(&system, &[0.0], &[2.0]).unwrap();
        run(&system, &mut state, &Svci::new(0.01, Quadrature::Midpoint), 5.0);
        let still = state.q[0];
        run(&system, &mut state, &Svci::new(0.01, Quadrature::Midpoint), 50.0);
        assert!(
            (state.q[0] - still).abs() < 1e-12 * brake.max(1.0).sqrt(),
            "{brake}: {}",
            state.q[0] - still
        );
    }
}

/// $\tfrac k2 q^2$.
struct Spring(f64);
impl Expr for Spring {
    fn value<T: Scalar>(&self, q: &[T], _t: T) -> T {
        q[0] * q[0] * (0.5 * self.0)
    }
}

#[test]
fn an_oscillation_loses_the_same_amplitude_in_every_swing_and_sticks() {
    // Every half period takes 2 F/k = 0.3 from the amplitude: 1, -0.7, 0.4, -0.1, where the spring is weaker than friction.
    let (k, f) = (4.0, 0.6);
    let system = System::new(Mass::diagonal(&[1.0]).unwrap())
        .with_potential("spring", AutoDiff::new(Spring(k), &[0]).unwrap())
        .unwrap()
        .with_dry_friction("guide", rate(&[1.0]), bound(f))
        .unwrap();
    for quadrature in QUADRATURES {
        let errors = [0.02, 0.01, 0.005].map(|h| {
            let mut state = State::new(&system, &[1.0], &[0.0]).unwrap();
            run(&system, &mut state, &Svci::new(h, quadrature), 10.0);
            assert!(state.v[0].abs() < 1e-14);
            (state.q[0] + 0.1).abs()
        });
        assert!(errors[2] < 1e-3 && errors[2] < 0.3 * errors[0], "{quadrature:?}: {errors:?}");
    }
}

#[test]
fn a_clutch_brings_two_rotors_to_one_speed_and_keeps_their_momentum() {
    let system = System::new(Mass::diagonal(&[1.0, 3.0]).unwrap())
        .with_dry_friction("clutch", rate(&[1.0, -1.0]), bound(0.5))
        .unwrap();
    let mut state = State::new(&system, &[0.0, 0.0], &[4.0, 0.0]).unwrap();
    let work = run(&system, &mut state, &Svci::new(0.01, Quadrature::Verlet), 10.0);
    assert!((state.v[0] - 1.0).abs() < 1e-13 && (state.v[1] - 1.0).abs() < 1e-13, "{:?}", state.v);
    assert!((work - (0.5 * 4.0 - 8.0)).abs() < 1e-12, "{work}");
}

#[test]
fn dry_friction_and_contacts_hold_together() {
    // A cart with dry friction bounces off a wall: v² falls by 2 F/m for each metre, and by e² at the wall.
    let (f, e) = (0.4, 0.5);
    let system = System::new(Mass::diagonal(&[2.0]).unwrap())
        .with_inequality("wall", Affine::new(&[0], &[-1.0], 1.0).unwrap())
        .unwrap()
        .with_dry_friction("guide", rate(&[1.0]), bound(f))
        .unwrap();
    let mut state = State::new(&system, &[0.0], &[1.5]).unwrap();
    let method =
        Svci { restitution: Restitution::Uniform(e), ..Svci::new(0.01, Quadrature::Verlet) };
    run(&system, &mut state, &method, 20.0);
    let back = e * e * (1.5 * 1.5 - f) / f;
    assert!((state.q[0] - (1.0 - back)).abs() < 1e-4 && state.v[0].abs() < 1e-14, "{:?}", state.q);
}

/// A rod that spins about a hinge in its end, with friction in the bearing.
fn spinning(mu: f64, radius: f64) -> (System, State, f64) {
    let mut mechanism = Mechanism::new();
    let (m, half) = (2.0, 0.6);
    let rod = Inertia::cuboid(m, [2.0 * half, 0.1, 0.2]);
    let about = m / 12.0 * (4.0 * half * half + 0.01) + m * half * half;
    let rod = mechanism.add_body("rod", rod, Pose::at([half, 0.0, 0.0])).unwrap();
    let ends = [End::Ground, rod.into()];
    let hinge =
        mechanism.add_joint("hinge", JointKind::Revolute, ends, [0.0; 3], [0.0, 0.0, 1.0]).unwrap();
    mechanism.set_rate(hinge, &[5.0]).unwrap();
    let gauge = mechanism.freedom(hinge, 0, Reference::Near(0.0)).unwrap();
    mechanism.add_joint_friction(hinge, gauge, (0.0, mu * radius)).unwrap();
    let (system, state) = System::of(&mechanism).unwrap();
    let k = mu * radius * m * half;
    // J α = -μ r m l √(ω⁴ + α²): α = -c ω².
    (system, state, k / (about * about - k * k).sqrt())
}

#[test]
fn the_load_of_a_bearing_slows_what_spins_in_it() {
    let (system, start, c) = spinning(0.3, 0.2);
    let exact = 5.0 / (1.0 + c * 5.0 * 2.0);
    let errors = [0.01, 0.005].map(|h| {
        let mut state = start.clone();
        let work = run(&system, &mut state, &Svci::new(h, Quadrature::Midpoint), 2.0);
        let energy = |s: &State| system.kinetic_energy(&s.q, &s.v);
        assert!((energy(&state) - energy(&start) - work).abs() < 1e-3, "{work}");
        // The rate of the rod is that of its first director.
        let d = &state.v[3..6];
        let speed = (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]).sqrt();
        (speed - exact).abs()
    });
    let order = (errors[0] / errors[1]).log2();
    assert!(errors[1] < 1e-3 && order > 1.8, "{errors:?}, order {order}");
}

#[test]
fn a_slide_on_a_slope_sticks_and_slides_as_coulomb_says() {
    let (mu, g) = (0.4_f64, 9.81);
    for (tangent, slides) in [(0.4 * (1.0 - 1e-6), false), (0.4 * (1.0 + 1e-3), true), (0.7, true)]
    {
        let angle = f64::atan(tangent);
        let (s, c) = angle.sin_cos();
        let mut mechanism = Mechanism::new().with_gravity([0.0, 0.0, -g]).unwrap();
        let block = Inertia::cuboid(3.0, [0.2, 0.1, 0.1]);
        let block = mechanism.add_body("block", block, Pose::at([0.0; 3])).unwrap();
        let ends = [End::Ground, block.into()];
        let rail = mechanism
            .add_joint("rail", JointKind::Prismatic, ends, [0.0; 3], [c, 0.0, -s])
            .unwrap();
        let gauge = mechanism.freedom(rail, 0, Reference::Near(0.0)).unwrap();
        mechanism.add_joint_friction(rail, gauge, (0.0, mu)).unwrap();
        let (system, mut state) = System::of(&mechanism).unwrap();
        run(&system, &mut state, &Svci::new(0.01, Quadrature::Midpoint), 2.0);
        let travel = state.q[0] * c - state.q[2] * s;
        let exact = if slides { 0.5 * g * (s - mu * c) * 4.0 } else { 0.0 };
        assert!((travel - exact).abs() < 1e-11, "tan = {tangent}: {travel} {exact}");
    }
}

#[test]
fn what_does_not_hold_dry_friction_says_what_does() {
    let system = rotor(0.2, 0.0);
    let errors = [
        Variational::new(0.01, Quadrature::Midpoint).stepper(&system).map(drop),
        Gvi::new(0.01, Quadrature::Midpoint).stepper(&system).map(drop),
        Hybrid::new(0.01, Quadrature::Midpoint).stepper(&system).map(drop),
    ];
    for error in errors {
        let message = error.unwrap_err().to_string();
        assert!(message.contains("`brake`") && message.contains("`svci`"), "{message}");
    }
    let free = || System::new(Mass::diagonal(&[1.0]).unwrap());
    for bad in [-1.0, f64::NAN] {
        assert!(free().with_dry_friction("brake", rate(&[1.0]), bound(bad)).is_err());
    }
    let load = DryFriction { bound: 0.0, load: Some((0.1, vec![0])) };
    assert!(free().with_dry_friction("bearing", rate(&[1.0]), load).is_err());
}
