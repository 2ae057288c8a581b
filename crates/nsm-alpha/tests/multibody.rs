//! Smooth multibody systems: pendulums, a slider-crank, driven and redundant constraints, variable and
//! singular masses, stiff springs.

mod common;

use common::{distance, orders, run};
use nsm_alpha::{AlphaError, ClassicalAlpha, EventDriven, Index, MoreauJean, Nsga, Restitution};
use nsm_constraints::{Affine, AutoDiff, Expr, Scalar};
use nsm_model::{AutoKinetic, KineticExpr, Mass, State, System, SystemError};

const G: f64 = 9.81;

fn affine(c: f64, w: &[f64], block: &[usize]) -> Affine {
    Affine::new(block, w, c).unwrap()
}

/// $\tfrac12(|a - b|^2 - l^2)$ between points $(q_0, q_1)$ and $(q_2, q_3)$, or the origin.
struct Rod(f64);
impl Expr for Rod {
    fn value<T: Scalar>(&self, q: &[T], _t: T) -> T {
        let (x, y) = if q.len() == 4 { (q[0] - q[2], q[1] - q[3]) } else { (q[0], q[1]) };
        (x * x + y * y - self.0 * self.0) * 0.5
    }
}

fn double_pendulum() -> (System, State) {
    let system = System::new(Mass::diagonal(&[1.0, 1.0, 2.0, 2.0]).unwrap())
        .with_potential("weight 1", affine(0.0, &[G], &[1]))
        .unwrap()
        .with_potential("weight 2", affine(0.0, &[2.0 * G], &[3]))
        .unwrap()
        .with_equality("first rod", AutoDiff::new(Rod(1.0), &[0, 1]).unwrap())
        .unwrap()
        .with_equality("second rod", AutoDiff::new(Rod(1.0), &[0, 1, 2, 3]).unwrap())
        .unwrap();
    let start = State::new(&system, &[1.0, 0.0, 2.0, 0.0], &[0.0; 4]).unwrap();
    (system, start)
}

/// Crank of length 1 about the origin, rod of length 2 to a slider on the x axis; the slider's axis is
/// held twice, which makes one constraint redundant.
fn slider_crank() -> (System, State) {
    let system = System::new(Mass::diagonal(&[1.0, 1.0, 3.0, 3.0]).unwrap())
        .with_potential("weight", affine(0.0, &[G], &[1]))
        .unwrap()
        .with_equality("crank", AutoDiff::new(Rod(1.0), &[0, 1]).unwrap())
        .unwrap()
        .with_equality("rod", AutoDiff::new(Rod(2.0), &[0, 1, 2, 3]).unwrap())
        .unwrap()
        .with_equality("guide", affine(0.0, &[1.0], &[3]))
        .unwrap()
        .with_equality("guide again", affine(0.0, &[-2.0], &[3]))
        .unwrap();
    // Crank upright and turning: the slider moves with the crank pin.
    let x = 3.0_f64.sqrt();
    let start = State::new(&system, &[0.0, 1.0, x, 0.0], &[4.0, 0.0, 4.0, 0.0]).unwrap();
    (system, start)
}

#[test]
fn pendulum_and_slider_crank_hold_their_constraints() {
    for (name, (system, start)) in
        [("double pendulum", double_pendulum()), ("slider-crank", slider_crank())]
    {
        let nsga = Nsga::new(1e-3, 0.9).unwrap();
        let (_, ledger) = run(&system, &mut nsga.stepper(&system, &start).unwrap(), &start, 5.0);
        assert!(ledger.position_residual < 1e-10, "{name}: {}", ledger.position_residual);
        assert!(ledger.velocity_residual < 1e-10, "{name}: {}", ledger.velocity_residual);
        assert!(ledger.energy.deviation() < 1e-3 * G, "{name}: {:?}", ledger.energy);
        let index3 = ClassicalAlpha::new(1e-3, Index::Three, 0.9).unwrap();
        let (_, ledger) = run(&system, &mut index3.stepper(&system, &start).unwrap(), &start, 5.0);
        assert!(ledger.position_residual < 1e-10, "{name}: {}", ledger.position_residual);
        let event = EventDriven::new(1e-3, 0.9).unwrap();
        let (_, ledger) = run(&system, &mut event.stepper(&system, &start).unwrap(), &start, 5.0);
        assert!(ledger.position_residual < 1e-10, "{name}: {}", ledger.position_residual);
        let index2 = ClassicalAlpha::new(1e-3, Index::Two, 0.9).unwrap();
        let (_, ledger) = run(&system, &mut index2.stepper(&system, &start).unwrap(), &start, 5.0);
        assert!(ledger.velocity_residual < 1e-10, "{name}: {}", ledger.velocity_residual);
        assert!(ledger.position_residual < 1e-4, "{name}: {}", ledger.position_residual);
        // Moreau–Jean holds them at velocity level with gradients one step old: first order.
        let drifts = [1e-3, 5e-4, 2.5e-4].map(|h| {
            let moreau = MoreauJean::new(h, Restitution::Uniform(0.0));
            let mut stepper = moreau.stepper(&system, &start).unwrap();
            run(&system, &mut stepper, &start, 1.0).1.position_residual
        });
        let found = orders(&drifts);
        assert!(found.iter().all(|o| (o - 1.0).abs() < 0.1), "{name}: {drifts:?} {found:?}");
    }
}

#[test]
fn redundant_rows_change_nothing() {
    let (system, start) = slider_crank();
    let single = System::new(Mass::diagonal(&[1.0, 1.0, 3.0, 3.0]).unwrap())
        .with_potential("weight", affine(0.0, &[G], &[1]))
        .unwrap()
        .with_equality("crank", AutoDiff::new(Rod(1.0), &[0, 1]).unwrap())
        .unwrap()
        .with_equality("rod", AutoDiff::new(Rod(2.0), &[0, 1, 2, 3]).unwrap())
        .unwrap()
        .with_equality("guide", affine(0.0, &[1.0], &[3]))
        .unwrap();
    let method = Nsga::new(2e-3, 0.8).unwrap();
    let (with, _) = run(&system, &mut method.stepper(&system, &start).unwrap(), &start, 2.0);
    let (without, _) = run(&single, &mut method.stepper(&single, &start).unwrap(), &start, 2.0);
    assert!(distance(&with.q, &without.q) < 1e-9 && distance(&with.v, &without.v) < 1e-9);
}

/// Copies of the slider-crank with its redundant row and of the double pendulum, side by side: enough unknowns for the sparse saddle point.
fn copies(count: usize) -> (System, State) {
    let parts = [double_pendulum(), slider_crank()];
    let masses: Vec<f64> =
        [1.0, 1.0, 2.0, 2.0, 1.0, 1.0, 3.0, 3.0].iter().copied().cycle().take(8 * count).collect();
    let mut system = System::new(Mass::diagonal(&masses).unwrap());
    let (mut q, mut v) = (Vec::new(), Vec::new());
    for copy in 0..count {
        let at = |block: &[usize]| block.iter().map(|c| c + 8 * copy).collect::<Vec<_>>();
        let rod = |l: f64, block: &[usize]| AutoDiff::new(Rod(l), &at(block)).unwrap();
        for (weight, y) in [(G, 1), (2.0 * G, 3), (G, 5)] {
            system = system.with_potential("weight", affine(0.0, &[weight], &at(&[y]))).unwrap();
        }
        for (l, block) in
            [(1.0, &[0, 1][..]), (1.0, &[0, 1, 2, 3]), (1.0, &[4, 5]), (2.0, &[4, 5, 6, 7])]
        {
            system = system.with_equality("rod", rod(l, block)).unwrap();
        }
        for w in [1.0, -2.0] {
            system = system.with_equality("guide", affine(0.0, &[w], &at(&[7]))).unwrap();
        }
        for (_, start) in &parts {
            q.extend(&start.q);
            v.extend(&start.v);
        }
    }
    let state = State::new(&system, &q, &v).unwrap();
    (system, state)
}

#[test]
fn many_copies_solved_sparsely_move_like_one_solved_densely() {
    let ((one, alone), (many, together)) = (copies(1), copies(12));
    let near = |name: &str, few: &State, all: &State| {
        for copy in all.q.chunks(8).zip(all.v.chunks(8)) {
            let off = distance(copy.0, &few.q).max(distance(copy.1, &few.v));
            assert!(off < 1e-9, "{name}: {off:e}");
        }
    };
    let (h, end) = (2e-3, 1.0);
    macro_rules! compare {
        ($name:expr, $method:expr) => {
            let method = $method;
            let (few, _) = run(&one, &mut method.stepper(&one, &alone).unwrap(), &alone, end);
            let (all, _) =
                run(&many, &mut method.stepper(&many, &together).unwrap(), &together, end);
            near($name, &few, &all);
        };
    }
    for index in [Index::Three, Index::Two, Index::One] {
        compare!("classical", ClassicalAlpha::new(h, index, 0.8).unwrap());
    }
    compare!("event-driven", EventDriven::new(h, 0.8).unwrap());
    compare!("nsga", Nsga::new(h, 0.8).unwrap());
    compare!("Moreau–Jean", MoreauJean::new(h, Restitution::ELASTIC));
}

/// $\tfrac12 k\\,(y - 1)^2$ pulls one joint of the linkage.
struct Pull(f64);
impl Expr for Pull {
    fn value<T: Scalar>(&self, q: &[T], _t: T) -> T {
        (q[0] - 1.0) * (q[0] - 1.0) * (0.5 * self.0)
    }
}

#[test]
fn a_row_that_is_redundant_at_the_start_only_comes_back() {
    // A parallelogram linkage stretched flat: there its coupler depends on its cranks.
    struct Crank(f64);
    impl Expr for Crank {
        fn value<T: Scalar>(&self, q: &[T], _t: T) -> T {
            let x = q[0] - self.0;
            (x * x + q[1] * q[1] - 1.0) * 0.5
        }
    }
    let system = System::new(Mass::diagonal(&[1.0, 1.0, 3.0, 3.0]).unwrap())
        .with_potential("pull", AutoDiff::new(Pull(5.0), &[3]).unwrap())
        .unwrap()
        .with_equality("first crank", AutoDiff::new(Crank(0.0), &[0, 1]).unwrap())
        .unwrap()
        .with_equality("second crank", AutoDiff::new(Crank(2.0), &[2, 3]).unwrap())
        .unwrap()
        .with_equality("coupler", AutoDiff::new(Rod(2.0), &[0, 1, 2, 3]).unwrap())
        .unwrap();
    let start = State::new(&system, &[1.0, 0.0, 3.0, 0.0], &[0.0, 1.0, 0.0, 1.0]).unwrap();
    let check = |name: &str, (state, ledger): (State, nsm_model::Ledger)| {
        assert!(ledger.position_residual < 1e-7, "{name}: {}", ledger.position_residual);
        // The parallelogram moves as one body: both cranks at the same angle.
        assert!((state.q[0] - state.q[2] + 2.0).abs() < 1e-6, "{name}: {:?}", state.q);
        assert!(state.q[1] > 0.3, "{name}: {:?}", state.q);
    };
    let method = Nsga::new(1e-3, 0.8).unwrap();
    check("NSGA", run(&system, &mut method.stepper(&system, &start).unwrap(), &start, 0.5));
    let method = EventDriven::new(1e-3, 0.8).unwrap();
    check("event", run(&system, &mut method.stepper(&system, &start).unwrap(), &start, 0.5));
    let method = ClassicalAlpha::new(1e-3, Index::Three, 0.8).unwrap();
    check("index 3", run(&system, &mut method.stepper(&system, &start).unwrap(), &start, 0.5));
}

/// $x - \sin t$.
struct Driven;
impl Expr for Driven {
    const RHEONOMIC: bool = true;
    fn value<T: Scalar>(&self, q: &[T], t: T) -> T {
        q[0] - t.sin()
    }
}

#[test]
fn a_driven_constraint_is_followed_by_every_method() {
    // A pendulum bob (unit rod) whose pivot is moved along x as sin t.
    struct Arm;
    impl Expr for Arm {
        fn value<T: Scalar>(&self, q: &[T], _t: T) -> T {
            let (x, y) = (q[1] - q[0], q[2]);
            (x * x + y * y - 1.0) * 0.5
        }
    }
    let system = System::new(Mass::diagonal(&[1.0, 1.0, 1.0]).unwrap())
        .with_potential("weight", affine(0.0, &[G], &[2]))
        .unwrap()
        .with_equality("drive", AutoDiff::new(Driven, &[0]).unwrap())
        .unwrap()
        .with_equality("arm", AutoDiff::new(Arm, &[0, 1, 2]).unwrap())
        .unwrap();
    let start = State::new(&system, &[0.0, 0.0, -1.0], &[1.0, 1.0, 0.0]).unwrap();
    // Minimal coordinate φ from the vertical: φ'' = -g sin φ + sin t cos φ, by RK4.
    let exact = {
        let (mut y, h) = ([0.0_f64, 0.0_f64], 1e-3);
        let rate = |t: f64, y: [f64; 2]| [y[1], -G * y[0].sin() + t.sin() * y[0].cos()];
        for k in 0..2000 {
            let t = f64::from(k) * h;
            let at = |y: [f64; 2], k: [f64; 2], h: f64| [y[0] + h * k[0], y[1] + h * k[1]];
            let k1 = rate(t, y);
            let k2 = rate(t + h / 2.0, at(y, k1, h / 2.0));
            let k3 = rate(t + h / 2.0, at(y, k2, h / 2.0));
            let k4 = rate(t + h, at(y, k3, h));
            y = std::array::from_fn(|i| y[i] + h / 6.0 * (k1[i] + 2.0 * (k2[i] + k3[i]) + k4[i]));
        }
        let t = 2.0_f64;
        [t.sin(), t.sin() + y[0].sin(), -y[0].cos()]
    };
    let steps = [2e-2, 1e-2, 5e-3];
    for index in [Index::Three, Index::Two, Index::One] {
        let errors = steps.map(|h| {
            let method = ClassicalAlpha::new(h, index, 0.7).unwrap();
            let (state, _) =
                run(&system, &mut method.stepper(&system, &start).unwrap(), &start, 2.0);
            distance(&state.q, &exact)
        });
        let found = orders(&errors);
        assert!(found.iter().all(|o| (o - 2.0).abs() < 0.2), "{index:?}: {errors:?} {found:?}");
    }
    let errors = steps.map(|h| {
        let method = Nsga::new(h, 0.7).unwrap();
        let (state, ledger) =
            run(&system, &mut method.stepper(&system, &start).unwrap(), &start, 2.0);
        assert!(ledger.position_residual < 1e-11 && ledger.velocity_residual < 1e-12);
        distance(&state.q, &exact)
    });
    let found = orders(&errors);
    assert!(found.iter().all(|o| (o - 2.0).abs() < 0.2), "NSGA: {errors:?} {found:?}");
}

/// A planar double pendulum in its two angles: the mass depends on the configuration.
struct Angles;
impl KineticExpr for Angles {
    fn energy<T: Scalar>(&self, q: &[T], v: &[T]) -> T {
        // m1 = 1, m2 = 2, unit rods.
        let coupling = (q[0] - q[1]).cos() * v[0] * v[1] * 2.0;
        v[0] * v[0] * 1.5 + v[1] * v[1] + coupling
    }
}

/// $-c \cos \varphi$.
struct Height(f64);
impl Expr for Height {
    fn value<T: Scalar>(&self, q: &[T], _t: T) -> T {
        -q[0].cos() * self.0
    }
}

#[test]
fn a_variable_mass_gives_the_same_motion_as_redundant_coordinates() {
    let minimal = System::with_variable_mass(AutoKinetic::new(Angles, 2).unwrap())
        .unwrap()
        .with_potential("weight 1", AutoDiff::new(Height(3.0 * G), &[0]).unwrap())
        .unwrap()
        .with_potential("weight 2", AutoDiff::new(Height(2.0 * G), &[1]).unwrap())
        .unwrap();
    let right = std::f64::consts::FRAC_PI_2;
    let start = State::new(&minimal, &[right, right], &[0.0; 2]).unwrap();
    let (system, cartesian) = double_pendulum();
    let end = 1.0;
    let by_angles = |h: f64| {
        let index3 = ClassicalAlpha::new(h, Index::Three, 0.9).unwrap();
        let (state, ledger) =
            run(&minimal, &mut index3.stepper(&minimal, &start).unwrap(), &start, end);
        assert!(ledger.energy.deviation() < 1e2 * h * h * G, "{:?}", ledger.energy);
        let nsga = Nsga::new(h, 0.9).unwrap();
        let (other, _) = run(&minimal, &mut nsga.stepper(&minimal, &start).unwrap(), &start, end);
        // Without constraints all variants are the same method.
        assert!(distance(&state.q, &other.q) < 1e-9, "{:?} {:?}", state.q, other.q);
        let ((s1, c1), (s2, c2)) = (state.q[0].sin_cos(), state.q[1].sin_cos());
        [s1, -c1, s1 + s2, -c1 - c2]
    };
    let by_rods = |h: f64| {
        let method = ClassicalAlpha::new(h, Index::Three, 0.9).unwrap();
        let mut stepper = method.stepper(&system, &cartesian).unwrap();
        run(&system, &mut stepper, &cartesian, end).0.q
    };
    // Both converge to the same motion, at second order.
    let gaps = [4e-3, 2e-3, 1e-3].map(|h| distance(&by_angles(h), &by_rods(h)));
    let found = orders(&gaps);
    assert!(gaps[2] < 1e-4 && found.iter().all(|o| (o - 2.0).abs() < 0.3), "{gaps:?} {found:?}");
}

#[test]
fn a_massless_coordinate_that_a_constraint_fixes_is_fine() {
    // A massless pin at (q0) tied to a mass at q1 by q0 = 2 q1, with a spring on the pin.
    struct Spring;
    impl Expr for Spring {
        fn value<T: Scalar>(&self, q: &[T], _t: T) -> T {
            q[0] * q[0] * 0.5
        }
    }
    let system = System::new(Mass::diagonal(&[0.0, 1.0]).unwrap())
        .with_potential("spring", AutoDiff::new(Spring, &[0]).unwrap())
        .unwrap()
        .with_equality("tie", affine(0.0, &[1.0, -2.0], &[0, 1]))
        .unwrap();
    let start = State::new(&system, &[2.0, 1.0], &[0.0, 0.0]).unwrap();
    // ½ (2 q1)² is a spring of stiffness 4 on a unit mass: q1 = cos 2t.
    for index in [Index::Three, Index::Two, Index::One] {
        let method = ClassicalAlpha::new(1e-3, index, 1.0).unwrap();
        let (state, _) = run(&system, &mut method.stepper(&system, &start).unwrap(), &start, 1.0);
        assert!((state.q[1] - 2.0_f64.cos()).abs() < 1e-5, "{index:?}: {:?}", state.q);
    }
    let method = Nsga::new(1e-3, 1.0).unwrap();
    let (state, _) = run(&system, &mut method.stepper(&system, &start).unwrap(), &start, 1.0);
    assert!((state.q[1] - 2.0_f64.cos()).abs() < 1e-5, "{:?}", state.q);

    let loose = System::new(Mass::diagonal(&[0.0, 1.0]).unwrap());
    let start = State::new(&loose, &[2.0, 1.0], &[0.0, 0.0]).unwrap();
    for error in [
        ClassicalAlpha::new(1e-3, Index::Three, 0.9).unwrap().stepper(&loose, &start).err(),
        Nsga::new(1e-3, 0.9).unwrap().stepper(&loose, &start).err(),
        EventDriven::new(1e-3, 0.9).unwrap().stepper(&loose, &start).err(),
        MoreauJean::new(1e-3, Restitution::Uniform(0.0)).stepper(&loose, &start).err(),
    ] {
        assert_eq!(error, Some(AlphaError::Undetermined { culprit: "q0".into() }));
    }
}

/// $\tfrac12 k\\,x^2$.
struct Stiff(f64);
impl Expr for Stiff {
    fn value<T: Scalar>(&self, q: &[T], _t: T) -> T {
        q[0] * q[0] * (0.5 * self.0)
    }
}

#[test]
fn stiff_springs_obey_the_triple_root_at_infinity() {
    // At ωh = 1e4 the characteristic polynomial of the step is (λ + ρ∞)³ up to (ωh)⁻².
    for rho in [0.0, 0.3, 0.5, 0.8, 0.98, 1.0] {
        let system = System::new(Mass::diagonal(&[1.0]).unwrap())
            .with_potential("spring", AutoDiff::new(Stiff(1e12), &[0]).unwrap())
            .unwrap();
        let start = State::new(&system, &[1.0], &[0.0]).unwrap();
        let method = ClassicalAlpha::new(1e-2, Index::Three, rho).unwrap();
        let mut stepper = method.stepper(&system, &start).unwrap();
        let mut state = start.clone();
        let mut v = Vec::new();
        for _ in 0..12 {
            nsm_model::Stepper::step(&mut stepper, &mut state).unwrap();
            v.push(state.v[0]);
        }
        let size = v.iter().fold(0.0_f64, |a, x| a.max(x.abs()));
        for k in v.windows(4) {
            let recurrence = k[3] + 3.0 * rho * k[2] + 3.0 * rho * rho * k[1] + rho.powi(3) * k[0];
            assert!(recurrence.abs() < 1e-6 * size, "{rho}: {recurrence} of {size}");
        }
    }
}

#[test]
fn conditioning_does_not_suffer_from_small_steps() {
    // A pendulum with h = 1e-9: unscaled, the matrix of (64) has entries of 1e18.
    let (system, start) = double_pendulum();
    for index in [Index::Three, Index::Two, Index::One] {
        let method = ClassicalAlpha::new(1e-9, index, 0.9).unwrap();
        let mut stepper = method.stepper(&system, &start).unwrap();
        let (_, ledger) = run(&system, &mut stepper, &start, 1e-7);
        assert!(ledger.position_residual < 1e-14 && ledger.most_iterations <= 2);
    }
}

#[test]
fn bad_input_is_refused_by_name() {
    let (system, start) = double_pendulum();
    for rho in [-0.1, 1.5, f64::NAN] {
        assert!(matches!(
            Nsga::new(1e-3, rho),
            Err(SystemError::Parameter { what: "the spectral radius", .. })
        ));
        assert!(EventDriven::new(1e-3, rho).is_err());
        assert!(ClassicalAlpha::new(1e-3, Index::Two, rho).is_err());
    }
    for step in [0.0, -1.0, f64::INFINITY, f64::NAN] {
        assert!(matches!(
            Nsga::new(step, 0.9).unwrap().stepper(&system, &start),
            Err(AlphaError::System(SystemError::Parameter { what: "the step", .. }))
        ));
    }
    let method = Nsga { interpolation: 1.5, ..Nsga::new(1e-3, 0.9).unwrap() };
    assert!(matches!(
        method.stepper(&system, &start),
        Err(AlphaError::System(SystemError::Parameter { what: "the interpolation parameter", .. }))
    ));
    let off = State::new(&system, &[1.1, 0.0, 2.1, 0.0], &[0.0; 4]).unwrap();
    match Nsga::new(1e-3, 0.9).unwrap().stepper(&system, &off) {
        Err(AlphaError::System(SystemError::InfeasiblePosition { constraint, .. })) => {
            assert_eq!(constraint, "first rod");
        }
        other => panic!("{other:?}"),
    }
    let moving = State::new(&system, &[1.0, 0.0, 2.0, 0.0], &[1.0, 0.0, 0.0, 0.0]).unwrap();
    assert!(matches!(
        EventDriven::new(1e-3, 0.9).unwrap().stepper(&system, &moving),
        Err(AlphaError::System(SystemError::InfeasibleVelocity { .. }))
    ));
    let method = ClassicalAlpha {
        interpolation: Some(0.5),
        ..ClassicalAlpha::new(1e-3, Index::Three, 0.9).unwrap()
    };
    assert!(matches!(
        method.stepper(&system, &start),
        Err(AlphaError::System(SystemError::DoesNotFit { .. }))
    ));
    let floor = System::new(Mass::diagonal(&[1.0]).unwrap())
        .with_inequality("floor", affine(0.0, &[1.0], &[0]))
        .unwrap();
    let state = State::new(&floor, &[1.0], &[0.0]).unwrap();
    assert!(ClassicalAlpha::new(1e-3, Index::Two, 0.9).unwrap().stepper(&floor, &state).is_err());
    for e in [-0.1, 1.1] {
        let method = Nsga { restitution: Restitution::Uniform(e), ..Nsga::new(1e-3, 0.9).unwrap() };
        assert!(matches!(
            method.stepper(&floor, &state),
            Err(AlphaError::System(SystemError::Parameter { what: "the restitution", .. }))
        ));
    }
    let method =
        Nsga { restitution: Restitution::PerContact(vec![]), ..Nsga::new(1e-3, 0.9).unwrap() };
    assert!(matches!(
        method.stepper(&floor, &state),
        Err(AlphaError::System(SystemError::Length { .. }))
    ));
}
