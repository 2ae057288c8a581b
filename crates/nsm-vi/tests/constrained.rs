//! The constrained variational schemes of Leyendecker, Marsden and Ortiz: multipliers, null space, and
//! null space with reparametrisation are one integrator.

mod common;

use common::{Affine, auto, double_pendulum, double_pendulum_state};
use nsm_constraints::{ConstraintError, Expr, Rod, Scalar};
use nsm_model::{Mass, State, StepError, Stepper, System, SystemError};
use nsm_vi::{
    Conditioning, Conserving, ConstrainedLegendre, NullSpace, Quadrature, Reparametrisation,
    Segment, Variational,
};

const Q: Quadrature = Quadrature::Midpoint;

/// A unit mass on the unit circle, \[LMO\] section 3.1.
fn pendulum(gravity: f64) -> System {
    System::new(Mass::diagonal(&[1.0, 1.0]).unwrap())
        .with_potential("weight", auto(Affine(vec![gravity], 0.0), &[1]))
        .unwrap()
        .with_equality("rod", Rod::to_pivot(&[0, 1], &[0.0, 0.0], 1.0).unwrap())
        .unwrap()
}

fn spherical_pendulum() -> (System, State) {
    let system = System::new(Mass::diagonal(&[1.0, 1.0, 1.0]).unwrap())
        .with_potential("weight", auto(Affine(vec![9.81], 0.0), &[2]))
        .unwrap()
        .with_equality("rod", Rod::to_pivot(&[0, 1, 2], &[0.0, 0.0, 0.0], 1.0).unwrap())
        .unwrap();
    let state = State::new(&system, &[0.8, 0.0, -0.6], &[0.3, 1.5, 0.4]).unwrap();
    (system, state)
}

/// The rotation of \[LMO\] (49).
struct Turn;
impl Reparametrisation for Turn {
    fn freedoms(&self) -> usize {
        1
    }
    fn place(&mut self, u: &[f64], q: &[f64], out: &mut [f64]) -> Result<(), ConstraintError> {
        let (s, c) = u[0].sin_cos();
        (out[0], out[1]) = (c * q[0] - s * q[1], s * q[0] + c * q[1]);
        Ok(())
    }
    fn tangent(&mut self, u: &[f64], q: &[f64], out: &mut [f64]) -> Result<(), ConstraintError> {
        let (s, c) = u[0].sin_cos();
        (out[0], out[1]) = (-s * q[0] - c * q[1], c * q[0] - s * q[1]);
        Ok(())
    }
}

/// Smallest and largest.
struct Range(f64, f64);
impl Range {
    fn new() -> Self {
        Self(f64::INFINITY, f64::NEG_INFINITY)
    }
    fn add(&mut self, x: f64) {
        (self.0, self.1) = (self.0.min(x), self.1.max(x));
    }
    fn is(&self, low: f64, high: f64, tolerance: f64) -> bool {
        (self.0 - low).abs() < tolerance && (self.1 - high).abs() < tolerance
    }
}

#[test]
fn the_pendulum_without_gravity() {
    let system = pendulum(0.0);
    let h = 0.1;
    let lambda = 2.0 * (1.0 - f64::sqrt(1.0 - h * h)) / (h * h);
    assert!((lambda - 1.002_512_578_676).abs() < 1e-12);
    let start = State::from_momentum(&system, &[1.0, 0.0], &[0.0, 1.0]).unwrap();
    let mut legendre = ConstrainedLegendre::new(&system, Q).unwrap();
    let mut multiplier = Variational::new(h, Q).stepper(&system).unwrap();
    let mut null_space = NullSpace::new(h, Q).stepper(&system).unwrap();
    let (mut a, mut b) = (start.clone(), start);
    let mut worst = [0.0_f64; 2];
    for step in 0..1000 {
        let (before, other) = (a.clone(), b.clone());
        multiplier.step(&mut a).unwrap();
        null_space.step(&mut b).unwrap();
        for (q, found, p) in [
            (&before.q, multiplier.multipliers()[0], multiplier.node_momentum()),
            (&other.q, null_space.multipliers().unwrap()[0], null_space.node_momentum()),
        ] {
            assert!((found - lambda).abs() < 2e-12, "step {step}: {found}");
            let energy = legendre.hamiltonian(q, p, 0.0);
            // Round-off adds up by less than one unit in the last place a step.
            let allowed = f64::EPSILON * (10.0 + f64::from(step));
            assert!((energy - 0.5).abs() < allowed, "step {step}: {energy}");
            let mut hidden = [0.0];
            legendre.momentum_defect((q, 0.0), p, &mut hidden);
            worst[usize::from(step >= 500)] = worst[usize::from(step >= 500)].max(hidden[0].abs());
        }
        let segment = Segment { start: &before.q, end: &a.q, t: before.t, h };
        let energy = legendre.discrete_energy(segment);
        assert!((energy - 0.501_256_289).abs() < 1e-9, "{energy}");
        let mut hidden = [0.0];
        legendre.velocity_defect(segment, &mut hidden);
        assert!(hidden[0].abs() < 4e-15, "{:e}", hidden[0]);
        assert!(system.equalities().value(0, &a.q, 0.0).abs() < 4e-16);
    }
    // Round-off of positions divided by h, which does not grow.
    assert!(worst[0] < 4e-15 && worst[1] < 4e-15, "{worst:?}");
}

#[test]
fn the_pendulum_with_gravity() {
    let system = pendulum(9.81);
    let h = 0.1;
    let mut legendre = ConstrainedLegendre::new(&system, Q).unwrap();
    let mut state = State::new(&system, &[1.0, 0.0], &[0.0, 0.0]).unwrap();
    let mut stepper = NullSpace::reparametrised(h, Q).stepper_with(&system, Turn).unwrap();
    let (mut discrete, mut hamiltonian) = (Range::new(), Range::new());
    let (mut worst, mut f, mut g) = (0.0_f64, 0.0_f64, 0.0_f64);
    // To t = 20: a longer run samples more phases, and H_d reaches down to -0.3663 in 1000 steps.
    for _ in 0..200 {
        let before = state.clone();
        stepper.step(&mut state).unwrap();
        let segment = Segment { start: &before.q, end: &state.q, t: before.t, h };
        discrete.add(legendre.discrete_energy(segment));
        let node = stepper.node_momentum().to_vec();
        hamiltonian.add(legendre.hamiltonian(&before.q, &node, 0.0));
        let mut hidden = [0.0];
        legendre.momentum_defect((&before.q, 0.0), &node, &mut hidden);
        worst = worst.max(hidden[0].abs());
        legendre.momentum_defect((&state.q, 0.0), &state.p, &mut hidden);
        g = g.max(hidden[0].abs());
        legendre.velocity_defect(segment, &mut hidden);
        f = f.max(hidden[0].abs());
    }
    assert!(discrete.is(-0.1203, 0.6550, 1e-4), "E_d {} {}", discrete.0, discrete.1);
    assert!(hamiltonian.is(-0.3653, 0.0006, 1e-4), "H_d {} {}", hamiltonian.0, hamiltonian.1);
    assert!((worst - 0.142).abs() < 1e-3, "h_d {worst}");
    assert!(f < 8e-15 && g < 4e-15, "f_d {f:e}, h_d of the projected momentum {g:e}");
}

/// Runs all variants side by side and returns how far apart they come, relative to the motion.
fn apart(system: &System, start: &State, h: f64, steps: usize, quadrature: Quadrature) -> f64 {
    let mut one = Variational::new(h, quadrature).stepper(system).unwrap();
    let mut two = NullSpace::new(h, quadrature).stepper(system).unwrap();
    let mut three = NullSpace::reparametrised(h, quadrature).stepper(system).unwrap();
    let [mut a, mut b, mut c] = [start.clone(), start.clone(), start.clone()];
    let mut worst = 0.0_f64;
    let mut compare = |x: &[f64], y: &[f64], scale: f64| {
        for (x, y) in x.iter().zip(y) {
            worst = worst.max((x - y).abs() / scale);
        }
    };
    for _ in 0..steps {
        one.step(&mut a).unwrap();
        two.step(&mut b).unwrap();
        three.step(&mut c).unwrap();
        for (state, multipliers, node) in [
            (&b, &two.multipliers().unwrap(), two.node_momentum()),
            (&c, &three.multipliers().unwrap(), three.node_momentum()),
        ] {
            compare(&state.q, &a.q, 1.0);
            compare(&state.p, &a.p, 10.0);
            compare(node, one.node_momentum(), 10.0);
            // Forces are differences of momenta over h.
            compare(multipliers, one.multipliers(), 10.0 / h);
        }
    }
    worst
}

#[test]
fn all_variants_give_one_trajectory() {
    let (spherical, start) = spherical_pendulum();
    let plane = pendulum(9.81);
    let plane_start = State::new(&plane, &[1.0, 0.0], &[0.0, 0.5]).unwrap();
    let double = double_pendulum();
    let double_start = double_pendulum_state(&double, [0.4, -0.3, 0.5, 0.2]);
    for quadrature in [Quadrature::Midpoint, Quadrature::Verlet] {
        for (name, system, start) in [
            ("pendulum", &plane, &plane_start),
            ("spherical pendulum", &spherical, &start),
            ("double pendulum", &double, &double_start),
        ] {
            let distance = apart(system, start, 0.02, 200, quadrature);
            assert!(distance < 1e-11, "{name} {quadrature:?}: {distance:e}");
        }
    }
}

#[test]
fn long_chains_move_alike_with_multipliers_and_without() {
    let (links, length) = (60, 0.1);
    let mut system = System::new(Mass::diagonal(&vec![0.1; 2 * links]).unwrap());
    let (mut q, mut at) = (Vec::new(), [0.0; 2]);
    for link in 0..links {
        let (x, y) = (2 * link, 2 * link + 1);
        let rod = match link {
            0 => Rod::to_pivot(&[x, y], &[0.0, 0.0], length),
            _ => Rod::between(&[x - 2, y - 2], &[x, y], length),
        };
        system = system
            .with_potential("weight", auto(Affine(vec![0.981], 0.0), &[y]))
            .unwrap()
            .with_equality("rod", rod.unwrap())
            .unwrap();
        let angle = 0.6 * (0.3 * link as f64).sin();
        at = [at[0] + length * angle.cos(), at[1] + length * angle.sin()];
        q.extend(at);
    }
    let start = State::new(&system, &q, &vec![0.0; 2 * links]).unwrap();
    for quadrature in [Quadrature::Midpoint, Quadrature::Verlet] {
        let distance = apart(&system, &start, 2e-3, 100, quadrature);
        assert!(distance < 1e-11, "{quadrature:?}: {distance:e}");
    }
}

#[test]
fn legendre_transforms_agree_from_both_sides_of_a_node() {
    let system = double_pendulum();
    let h = 0.02;
    let mut state = double_pendulum_state(&system, [0.4, -0.3, 0.5, 0.2]);
    let mut stepper = Variational::new(h, Q).stepper(&system).unwrap();
    let mut legendre = ConstrainedLegendre::new(&system, Q).unwrap();
    let mut nodes = vec![state.clone()];
    for k in 0..20 {
        stepper.step(&mut state).unwrap();
        nodes.push(state.clone());
        let leaving = Segment { start: &nodes[k].q, end: &nodes[k + 1].q, t: nodes[k].t, h };
        let mut lambda = [0.0; 2];
        if k == 0 {
            legendre.initial_multipliers(&nodes[0].p, leaving, &mut lambda).unwrap();
        } else {
            let (from, to) = (&nodes[k - 1], &nodes[k]);
            let reaching = Segment { start: &from.q, end: &to.q, t: from.t, h };
            legendre.multipliers(reaching, leaving, &mut lambda).unwrap();
            let [mut minus, mut plus] = [[0.0; 4]; 2];
            legendre.constrained_minus(leaving, &lambda, &mut minus);
            legendre.constrained_plus(reaching, &lambda, &mut plus);
            for i in 0..4 {
                assert!((minus[i] - plus[i]).abs() < 1e-12, "constrained {minus:?} {plus:?}");
                assert!((minus[i] - stepper.node_momentum()[i]).abs() < 1e-12);
            }
            legendre.projected_minus(leaving, &mut minus).unwrap();
            legendre.projected_plus(reaching, &mut plus).unwrap();
            for i in 0..4 {
                assert!((minus[i] - plus[i]).abs() < 1e-12, "projected {minus:?} {plus:?}");
                assert!((plus[i] - nodes[k].p[i]).abs() < 1e-12);
            }
            let d = legendre.reduced_minus(leaving, &mut minus).unwrap();
            assert_eq!(d, 2);
            legendre.reduced_plus(reaching, &mut plus).unwrap();
            assert!((minus[0] - plus[0]).abs() + (minus[1] - plus[1]).abs() < 1e-12);
        }
        for (a, b) in lambda.iter().zip(stepper.multipliers()) {
            assert!((a - b).abs() < 1e-9, "node {k}: {a} {b}");
        }
    }
}

#[test]
fn the_projector_is_the_one_of_the_mass() {
    // Q = I − Gᵀ (G M⁻¹ Gᵀ)⁻¹ G M⁻¹, [LMO] (16), for a mass that is not a multiple of the identity.
    let system = System::new(Mass::diagonal(&[1.0, 4.0]).unwrap())
        .with_equality("rod", Rod::to_pivot(&[0, 1], &[0.0, 0.0], 1.0).unwrap())
        .unwrap();
    let mut legendre = ConstrainedLegendre::new(&system, Q).unwrap();
    let (q, mut p) = ([0.6, 0.8], [0.7, -0.2]);
    let gram = q[0] * q[0] + q[1] * q[1] / 4.0;
    let rate = (q[0] * p[0] + q[1] * p[1] / 4.0) / gram;
    let expected = [p[0] - q[0] * rate, p[1] - q[1] * rate];
    legendre.project((&q, 0.0), &mut p).unwrap();
    assert!((p[0] - expected[0]).abs() + (p[1] - expected[1]).abs() < 1e-15, "{p:?}");
}

#[test]
fn a_coordinate_without_mass_and_a_redundant_constraint_change_nothing() {
    struct Gap;
    impl Expr for Gap {
        fn value<T: Scalar>(&self, q: &[T], _t: T) -> T {
            q[0] - q[1] * 2.0
        }
    }
    let plain = pendulum(9.81);
    let massless = System::new(Mass::diagonal(&[1.0, 1.0, 0.0]).unwrap())
        .with_potential("weight", auto(Affine(vec![9.81], 0.0), &[1]))
        .unwrap()
        .with_equality("rod", Rod::to_pivot(&[0, 1], &[0.0, 0.0], 1.0).unwrap())
        .unwrap()
        .with_equality("follower", auto(Gap, &[2, 0]))
        .unwrap()
        .with_equality("rod again", Rod::to_pivot(&[0, 1], &[0.0, 0.0], 1.0).unwrap())
        .unwrap();
    for method in [NullSpace::new(0.05, Q), NullSpace::reparametrised(0.05, Q)] {
        let mut a = State::new(&plain, &[1.0, 0.0], &[0.0, 1.0]).unwrap();
        let mut b = State::new(&massless, &[1.0, 0.0, 2.0], &[0.0, 1.0, 0.0]).unwrap();
        let mut one = method.stepper(&plain).unwrap();
        let mut two = method.stepper(&massless).unwrap();
        for _ in 0..100 {
            one.step(&mut a).unwrap();
            two.step(&mut b).unwrap();
            assert!((a.q[0] - b.q[0]).abs() < 1e-11 && (a.p[1] - b.p[1]).abs() < 1e-10);
            assert!((b.q[2] - 2.0 * b.q[0]).abs() < 1e-14);
            assert!((b.v[2] - 2.0 * b.v[0]).abs() < 1e-14);
            let [rod, _, again] = two.multipliers().unwrap()[..] else { panic!() };
            assert!(
                (rod - again).abs() < 1e-9
                    && (rod + again - one.multipliers().unwrap()[0]).abs() < 1e-8
            );
        }
    }
}

fn end(system: &System, start: &State, h: f64, steps: usize) -> State {
    let mut stepper = NullSpace::reparametrised(h, Q).stepper(system).unwrap();
    let mut state = start.clone();
    for _ in 0..steps {
        stepper.step(&mut state).unwrap();
    }
    state
}

#[test]
fn the_step_is_symplectic_on_the_constraints() {
    let system = double_pendulum();
    let at = [0.4, -0.3, 0.5, 0.2];
    let image = |x: [f64; 4]| {
        let start = double_pendulum_state(&system, x);
        (end(&system, &start, 0.05, 5), start)
    };
    // The canonical form pulled back to (a, b, u, w), before and after.
    let eps = 1e-5;
    let mut columns = Vec::new();
    for i in 0..4 {
        let (mut right, mut left) = (at, at);
        right[i] += eps;
        left[i] -= eps;
        let ((r1, r0), (l1, l0)) = (image(right), image(left));
        let d = |a: &[f64], b: &[f64]| -> Vec<f64> {
            a.iter().zip(b).map(|(a, b)| (a - b) / (2.0 * eps)).collect()
        };
        columns.push([d(&r0.q, &l0.q), d(&r0.p, &l0.p), d(&r1.q, &l1.q), d(&r1.p, &l1.p)]);
    }
    let dot = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
    for i in 0..4 {
        for j in 0..i {
            let (a, b) = (&columns[i], &columns[j]);
            let before = dot(&a[0], &b[1]) - dot(&b[0], &a[1]);
            let after = dot(&a[2], &b[3]) - dot(&b[2], &a[3]);
            assert!((before - after).abs() < 2e-8, "{i}{j}: {before} {after}");
        }
    }
}

#[test]
fn all_schemes_are_of_order_two() {
    let (system, start) = spherical_pendulum();
    let reference = end(&system, &start, 1.0 / 8192.0, 8192);
    let error = |state: &State| {
        state.q.iter().zip(&reference.q).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
    };
    let slope = |coarse: &State, fine: &State| (error(coarse) / error(fine)).log2();
    let variational = slope(&end(&system, &start, 0.01, 100), &end(&system, &start, 0.005, 200));
    assert!((variational - 2.0).abs() < 0.05, "{variational}");
    let energy_momentum = |h: f64, steps: usize| {
        let mut stepper = Conserving::new(h).stepper(&system).unwrap();
        let mut state = start.clone();
        for _ in 0..steps {
            stepper.step(&mut state).unwrap();
        }
        state
    };
    let conserving = slope(&energy_momentum(0.01, 100), &energy_momentum(0.005, 200));
    assert!((conserving - 2.0).abs() < 0.05, "{conserving}");
}

#[test]
fn ill_conditioning_is_a_matter_of_scaling() {
    let system = double_pendulum();
    let start = double_pendulum_state(&system, [0.4, -0.3, 0.5, 0.2]);
    let at = |h: f64| {
        let next = end(&system, &start, h, 1);
        let segment = Segment { start: &start.q, end: &next.q, t: 0.0, h };
        Conditioning::new(&system, Q, segment).unwrap()
    };
    let (coarse, fine) = (at(1e-2), at(1e-4));
    let grown = (fine.multipliers / coarse.multipliers).log10() / 2.0;
    assert!((grown - 3.0).abs() < 0.1, "multipliers grow as h^-{grown}");
    for (a, b) in [
        (coarse.scaled, fine.scaled),
        (coarse.null_space, fine.null_space),
        (coarse.reparametrised, fine.reparametrised),
    ] {
        assert!((a / b - 1.0).abs() < 0.3 && a < 1e3, "{a} {b}");
    }
}

#[test]
fn what_does_not_fit_is_refused_by_name_and_changes_nothing() {
    struct Moving;
    impl Expr for Moving {
        const RHEONOMIC: bool = true;
        fn value<T: Scalar>(&self, q: &[T], t: T) -> T {
            q[0] - t
        }
    }
    struct Straight(usize);
    impl Reparametrisation for Straight {
        fn freedoms(&self) -> usize {
            self.0
        }
        fn place(&mut self, u: &[f64], q: &[f64], out: &mut [f64]) -> Result<(), ConstraintError> {
            (out[0], out[1]) = (q[0] - u[0] * q[1], q[1] + u[0] * q[0]);
            Ok(())
        }
        fn tangent(
            &mut self,
            _u: &[f64],
            q: &[f64],
            out: &mut [f64],
        ) -> Result<(), ConstraintError> {
            (out[0], out[1]) = (-q[1], q[0]);
            Ok(())
        }
    }
    let system = pendulum(9.81);
    let start = State::new(&system, &[1.0, 0.0], &[0.0, 1.0]).unwrap();
    let method = NullSpace::reparametrised(0.1, Q);
    assert!(matches!(
        NullSpace::new(-0.1, Q).stepper(&system),
        Err(SystemError::Parameter { what: "the step", .. })
    ));
    assert!(matches!(
        method.stepper_with(&system, Straight(3)),
        Err(SystemError::DoesNotFit { .. })
    ));
    let moving = System::new(Mass::diagonal(&[1.0]).unwrap())
        .with_equality("motor", auto(Moving, &[0]))
        .unwrap();
    assert!(matches!(method.stepper(&moving), Err(SystemError::DoesNotFit { .. })));
    // Wrong freedoms, and a chart that leaves the circle.
    for (freedoms, message) in [(2, "2 freedoms, the constraints leave 1"), (1, "`rod`")] {
        let mut stepper = method.stepper_with(&system, Straight(freedoms)).unwrap();
        let mut state = start.clone();
        let error = stepper.step(&mut state).unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
        assert_eq!(state, start);
    }
    let mut off = start.clone();
    off.q[0] = 1.5;
    let before = off.clone();
    let mut stepper = NullSpace::new(0.1, Q).stepper(&system).unwrap();
    let error = stepper.step(&mut off).unwrap_err();
    assert!(matches!(error, StepError::Method { .. }) && error.to_string().contains("`rod`"));
    assert_eq!(off, before);
    // After a failure the stepper starts afresh.
    let (mut a, mut b) = (start.clone(), start);
    stepper.step(&mut a).unwrap();
    NullSpace::new(0.1, Q).stepper(&system).unwrap().step(&mut b).unwrap();
    assert_eq!(a, b);
}
