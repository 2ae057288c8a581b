//! García Orden's two particles: the conserving step with and without velocity projection.

mod common;

use common::{Affine, Distance, Rod, Spring, auto};
use nsm_constraints::{Expr, Scalar};
use nsm_model::{Invariant, Mass, State, StepError, Stepper, System, SystemError};
use nsm_vi::{
    Conserving, ConstraintAt, ConstraintSolver, Direct, ForceAverage, Projected, Projection,
    ProjectionMatrix, Quadrature, Strength, Variational,
};

/// $q\cdot q - 1$.
struct Circle;
impl Expr for Circle {
    fn value<T: Scalar>(&self, q: &[T], _t: T) -> T {
        q[0] * q[0] + q[1] * q[1] - 1.0
    }
}

fn particles() -> (System, State) {
    let system = System::new(Mass::diagonal(&[1.0, 0.1]).unwrap())
        .with_equality("circle", auto(Circle, &[0, 1]))
        .unwrap();
    let state = State::new(&system, &[0.0, 1.0], &[1.0, 0.0]).unwrap();
    (system, state)
}

fn w() -> ProjectionMatrix {
    ProjectionMatrix::Full(vec![vec![15.0, 0.0], vec![0.0, 1.0]])
}

fn energy(system: &System, state: &State) -> f64 {
    system.mass().kinetic_energy(&state.v) + system.potential().sum(&state.q, state.t)
}

fn rate(state: &State) -> f64 {
    2.0 * (state.q[0] * state.v[0] + state.q[1] * state.v[1])
}

/// Energies after the given numbers of steps of 0.1 s.
fn energies(projection: &Projection, at: &[usize]) -> Vec<f64> {
    let (system, mut state) = particles();
    let inner = Conserving::new(0.1).stepper(&system).unwrap();
    let mut stepper = Projected::new(&system, inner, projection).unwrap();
    let mut energies = Vec::new();
    for step in 1..=at.iter().copied().max().unwrap() {
        stepper.step(&mut state).unwrap();
        if at.contains(&step) {
            energies.push(energy(&system, &state));
        }
    }
    let booked = 0.5 + stepper.total_energy_change();
    assert!((booked - energy(&system, &state)).abs() < 1e-12, "{booked}");
    energies
}

#[test]
fn without_projection_energy_is_exact_and_the_velocity_constraint_is_not() {
    let (system, start) = particles();
    // The augmented Lagrangian stops at |Φ| < 1e-9, and λ (Φ₁ − Φ₀) is work that adds up.
    for (solver, exact) in
        [(ConstraintSolver::Simultaneous, 1e-14), (ConstraintSolver::augmented(), 1e-7)]
    {
        let method = Conserving { solver, ..Conserving::new(0.04) };
        let mut stepper = method.stepper(&system).unwrap();
        let mut state = start.clone();
        let (mut drift, mut violation, mut fastest) = (0.0_f64, 0.0_f64, 0.0_f64);
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for _ in 0..250 {
            stepper.step(&mut state).unwrap();
            drift = drift.max((energy(&system, &state) - 0.5).abs());
            violation = violation.max(system.equalities().value(0, &state.q, 0.0).abs());
            fastest = fastest.max(rate(&state).abs());
            low = low.min(stepper.multipliers()[0]);
            high = high.max(stepper.multipliers()[0]);
        }
        assert!(drift < exact, "{solver:?}: energy {drift:e}");
        let allowed = if solver == ConstraintSolver::Simultaneous { 4e-16 } else { 1e-9 };
        assert!(violation < allowed, "{solver:?}: {violation:e}");
        assert!((fastest - 2.56e-2).abs() < 5e-5, "{fastest}");
        assert!((low - 0.039).abs() < 5e-4 && (high - 5.015).abs() < 5e-4, "{low} {high}");
    }
}

#[test]
fn at_the_larger_step_the_velocity_constraint_grows_and_nothing_fails() {
    let (system, mut state) = particles();
    let mut stepper = Conserving::new(0.1).stepper(&system).unwrap();
    let (mut worst, mut when) = (0.0_f64, 0.0);
    for _ in 0..100 {
        stepper.step(&mut state).unwrap();
        if rate(&state).abs() > worst && state.t < 5.25 {
            (worst, when) = (rate(&state).abs(), state.t);
        }
        assert!((energy(&system, &state) - 0.5).abs() < 1e-14);
    }
    assert!((worst - 0.749).abs() < 1e-3 && (when - 4.5).abs() < 0.05, "{worst} at {when}");
}

#[test]
fn energies_of_the_projected_runs() {
    let near = |value: f64, expected: f64, tolerance: f64| {
        assert!((value - expected).abs() < tolerance, "{value}, expected {expected}");
    };
    let mass = ProjectionMatrix::Mass;
    near(energies(&Projection::penalty(w(), 1.0), &[100])[0], 0.529_716, 1e-6);
    near(energies(&Projection::penalty(w(), 20.0), &[100])[0], 0.669_108, 1e-6);
    let run = energies(&Projection::penalty(mass.clone(), 1.0), &[100, 500]);
    near(run[0], 0.463_384, 1e-6);
    near(run[1] / 0.5, 0.739_07, 1e-5);
    let run = energies(&Projection::penalty(w(), 20.0), &[354, 355]);
    near(run[0] / 0.5, 2.497, 1e-3);
    near(run[1] / 0.5, 2.559, 1e-3);
    near(energies(&Projection::penalty(mass, 20.0), &[500])[0] / 0.5, 0.7292, 1e-4);
    near(energies(&Projection::mass(), &[500])[0] / 0.5, 0.7288, 1e-4);
    near(energies(&Projection::penalty(w(), 1.0), &[500])[0] / 0.5, 1.3400, 1e-4);
}

fn advance(stepper: &mut impl Stepper<State = State>, state: &mut State, steps: usize) {
    for _ in 0..steps {
        stepper.step(state).unwrap();
    }
}

fn never_adds_energy(system: &System, start: &State, inner: impl Stepper<State = State>) {
    for strength in [Strength::Exact, Strength::Penalty(0.3), Strength::Penalty(1e6)] {
        let projection = Projection { matrix: ProjectionMatrix::Mass, strength };
        let mut bound = projection.bind(system).unwrap();
        let mut state = start.clone();
        state.v[1] += 0.7;
        state.p[1] += 0.07;
        assert!(bound.apply(&mut state).unwrap() < 0.0);
    }
    let mut stepper = Projected::new(system, inner, &Projection::mass()).unwrap();
    let mut state = start.clone();
    for _ in 0..200 {
        stepper.step(&mut state).unwrap();
        // Velocities that comply already change by round-off.
        assert!(stepper.energy_change() <= 1e-30, "{:e}", stepper.energy_change());
        assert!(rate(&state).abs() < 1e-14, "{:e}", rate(&state));
    }
}

#[test]
fn the_mass_never_adds_energy_whatever_the_stepper() {
    let (system, start) = particles();
    never_adds_energy(&system, &start, Conserving::new(0.05).stepper(&system).unwrap());
    never_adds_energy(
        &system,
        &start,
        Direct::new(0.05, ConstraintAt::Endpoint).stepper(&system).unwrap(),
    );
    never_adds_energy(
        &system,
        &start,
        Variational::new(0.05, Quadrature::Verlet).stepper(&system).unwrap(),
    );
}

/// Slope of the error at t = 1 between two steps, against a run with a hundredth of the larger.
fn order(projection: Option<&Projection>) -> f64 {
    let (system, start) = particles();
    let run = |steps: usize| {
        let mut state = start.clone();
        let inner = Conserving::new(1.0 / steps as f64).stepper(&system).unwrap();
        match projection {
            None => {
                let mut inner = inner;
                advance(&mut inner, &mut state, steps);
            }
            Some(projection) => {
                let mut stepper = Projected::new(&system, inner, projection).unwrap();
                advance(&mut stepper, &mut state, steps);
            }
        }
        state
    };
    // Without projection the limit of both is the same motion.
    let reference = {
        let mut state = start.clone();
        let inner = Conserving::new(1.0 / 20_000.0).stepper(&system).unwrap();
        let mut stepper = Projected::new(&system, inner, &Projection::mass()).unwrap();
        advance(&mut stepper, &mut state, 20_000);
        state
    };
    let error = |state: &State| {
        let d = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
        d(&state.q, &reference.q).sqrt()
    };
    (error(&run(100)) / error(&run(200))).log2()
}

#[test]
fn the_order_is_two_and_one_with_another_matrix() {
    let (none, mass) = (order(None), order(Some(&Projection::mass())));
    assert!((none - 2.0).abs() < 0.1, "{none}");
    assert!((mass - 2.0).abs() < 0.1, "{mass}");
    let other = order(Some(&Projection { matrix: w(), strength: Strength::Exact }));
    assert!((other - 1.0).abs() < 0.15, "{other}");
}

#[test]
fn acceleration_is_projected_onto_the_second_derivative() {
    let (system, state) = particles();
    let curvature = |v: &[f64]| 2.0 * (v[0] * v[0] + v[1] * v[1]);
    let j = [2.0 * state.q[0], 2.0 * state.q[1]];
    let mut a = [0.3, 0.8];
    let mut exact = Projection { matrix: w(), strength: Strength::Exact }.bind(&system).unwrap();
    exact.project_acceleration((&state.q, &state.v, 0.0), &mut a).unwrap();
    let residual = j[0] * a[0] + j[1] * a[1] + curvature(&state.v);
    assert!(residual.abs() < 1e-15, "{residual:e}");
    // (7) with a penalty: (A + α JᵀJ) a = A a* − α Jᵀ J̇ v.
    let (alpha, start) = (3.0, [0.3, 0.8]);
    let mut a = start;
    let mut bound = Projection::penalty(w(), alpha).bind(&system).unwrap();
    bound.project_acceleration((&state.q, &state.v, 0.0), &mut a).unwrap();
    let diagonal = [15.0, 1.0];
    let ja = j[0] * a[0] + j[1] * a[1];
    for i in 0..2 {
        let left = diagonal[i] * a[i] + alpha * j[i] * ja;
        let right = diagonal[i] * start[i] - alpha * j[i] * curvature(&state.v);
        assert!((left - right).abs() < 1e-14, "{left} {right}");
    }
}

/// A double pendulum with rods that are no quadratic functions, and a spring that is not either.
fn curved() -> (System, State) {
    let weight = |i| auto(Affine(vec![9.8], 0.0), &[i]);
    let system = System::new(Mass::diagonal(&[1.0, 1.0, 2.0, 2.0]).unwrap())
        .with_potential("upper weight", weight(1))
        .unwrap()
        .with_potential("lower weight", weight(3))
        .unwrap()
        .with_potential("spring", auto(Spring(30.0, 0.4), &[0, 1, 2, 3]))
        .unwrap()
        .with_equality("rod", auto(Rod([0.0, 0.0], 1.0, 1.0), &[0, 1]))
        .unwrap();
    let state = State::new(&system, &[0.6, -0.8, 0.9, -1.4], &[0.8, 0.6, 0.1, 0.2]).unwrap();
    (system, state)
}

#[test]
fn discrete_gradients_conserve_energy_beyond_quadratics() {
    let (system, start) = curved();
    let drift = |average| {
        let method = Conserving { average, ..Conserving::new(0.02) };
        let mut stepper = method.stepper(&system).unwrap();
        let (mut state, first) = (start.clone(), energy(&system, &start));
        let mut drift = 0.0_f64;
        for _ in 0..1000 {
            stepper.step(&mut state).unwrap();
            drift = drift.max((energy(&system, &state) - first).abs());
        }
        drift
    };
    let exact = drift(ForceAverage::Conserving);
    assert!(exact < 2e-12, "{exact:e}");
    for other in [ForceAverage::Midpoint, ForceAverage::Trapezoidal] {
        assert!(drift(other) > 1e-4, "{other:?}");
    }
}

#[test]
fn for_quadratic_functions_all_averages_are_one_scheme() {
    let (system, start) = particles();
    let end = |average| {
        let method = Conserving { average, ..Conserving::new(0.05) };
        let mut stepper = method.stepper(&system).unwrap();
        let mut state = start.clone();
        advance(&mut stepper, &mut state, 100);
        state
    };
    let conserving = end(ForceAverage::Conserving);
    for other in [ForceAverage::Midpoint, ForceAverage::Trapezoidal] {
        for (a, b) in end(other).q.iter().zip(&conserving.q) {
            assert!((a - b).abs() < 1e-12, "{other:?}: {a} {b}");
        }
    }
}

#[test]
fn angular_momentum_of_a_free_dumbbell_is_exact() {
    let system = System::new(Mass::diagonal(&[1.0, 1.0, 3.0, 3.0]).unwrap())
        .with_equality("rod", auto(Distance(1.0), &[0, 1, 2, 3]))
        .unwrap()
        .with_invariant(Invariant::angular_momentum("L", &[[0, 1], [2, 3]]));
    let mut state = State::new(&system, &[0.0, 0.0, 1.0, 0.0], &[0.0, 1.5, 0.0, -0.5]).unwrap();
    let invariant = &system.invariants()[0];
    let (l, e) = (invariant.value(&state.q, &state.p), energy(&system, &state));
    let mut stepper = Conserving::new(0.1).stepper(&system).unwrap();
    for _ in 0..1000 {
        stepper.step(&mut state).unwrap();
    }
    let (dl, de) = (invariant.value(&state.q, &state.p) - l, energy(&system, &state) - e);
    assert!(dl.abs() < 1e-13 && de.abs() < 1e-13, "{dl:e} {de:e}");
}

#[test]
fn redundant_constraints_do_not_change_the_motion() {
    let (single, start) = particles();
    let double = System::new(Mass::diagonal(&[1.0, 0.1]).unwrap())
        .with_equality("circle", auto(Circle, &[0, 1]))
        .unwrap()
        .with_equality("rod", auto(Rod([0.0, 0.0], 1.0, 1.0), &[0, 1]))
        .unwrap();
    for solver in [ConstraintSolver::Simultaneous, ConstraintSolver::augmented()] {
        let method = Conserving { solver, ..Conserving::new(0.05) };
        let (mut a, mut b) = (start.clone(), start.clone());
        let one = method.stepper(&single).unwrap();
        let two = method.stepper(&double).unwrap();
        let mut one = Projected::new(&single, one, &Projection::mass()).unwrap();
        let mut two = Projected::new(&double, two, &Projection::mass()).unwrap();
        let close = if solver == ConstraintSolver::Simultaneous { 1e-12 } else { 1e-7 };
        for _ in 0..100 {
            one.step(&mut a).unwrap();
            two.step(&mut b).unwrap();
            assert!((a.q[0] - b.q[0]).abs() < close, "{solver:?}: {} {}", a.q[0], b.q[0]);
        }
    }
}

#[test]
fn what_cannot_be_projected_is_refused_by_name() {
    let (system, start) = particles();
    let bind = |rows: &[&[f64]]| {
        let matrix = ProjectionMatrix::Full(rows.iter().map(|r| r.to_vec()).collect());
        Projection { matrix, strength: Strength::Exact }.bind(&system).err().unwrap()
    };
    assert!(matches!(
        bind(&[&[1.0]]),
        SystemError::Length { what: "the projection matrix", length: 1, expected: 2 }
    ));
    assert!(matches!(
        bind(&[&[1.0, 0.0], &[0.0]]),
        SystemError::Length { what: "a row of the projection matrix", .. }
    ));
    for (rows, why) in [
        ([[1.0, 2.0], [2.0, 1.0]], "not positive definite: it fails at `q1`"),
        ([[1.0, 0.0], [0.0, 0.0]], "not positive definite: it fails at `q1`"),
        ([[-1.0, 0.0], [0.0, 1.0]], "not positive definite: it fails at `q0`"),
        ([[1.0, 0.5], [0.0, 1.0]], "not symmetric"),
    ] {
        let error = bind(&[&rows[0], &rows[1]]);
        assert!(matches!(error, SystemError::DoesNotFit { .. }), "{error:?}");
        assert!(error.to_string().contains(why), "{error}");
    }
    assert!(matches!(
        bind(&[&[1.0, 0.0], &[0.0, f64::NAN]]),
        SystemError::NotFinite { what: "the projection matrix", name, .. } if name == "q1"
    ));
    for alpha in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = Projection::penalty(ProjectionMatrix::Mass, alpha).bind(&system).err();
        assert!(matches!(error, Some(SystemError::Parameter { .. })), "{alpha}: {error:?}");
    }
    let solver = ConstraintSolver::Augmented { penalty: 0.0, residual: 1e-10, violation: 1e-9 };
    let error = Conserving { solver, ..Conserving::new(0.1) }.stepper(&system).err();
    assert!(matches!(error, Some(SystemError::Parameter { what: "the penalty", .. })));

    let mut stepper = Conserving::new(0.1).stepper(&system).unwrap();
    let mut off = start.clone();
    off.q[1] = 1.1;
    let before = off.clone();
    match stepper.step(&mut off) {
        Err(StepError::Method { source, .. }) => {
            let message = source.to_string();
            assert!(message.contains("`circle`") && message.contains("2.1"), "{message}");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(off, before);
    let mut nan = start.clone();
    nan.v[0] = f64::NAN;
    nan.p[0] = f64::NAN;
    assert!(stepper.step(&mut nan).is_err());
    let mut good = start.clone();
    stepper.step(&mut good).unwrap();
}
