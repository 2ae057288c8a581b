//! Reflectors bound to systems: equality constraints kept, shadow metrics, redundant equalities.

use nsm_constraints::{Affine, LineSpring, Rod, Rows, SphereGap};
use nsm_model::{Mass, System};
use nsm_reflect::{ContactTolerance, ImpactLaw, Quadrature, ReflectError, Reflector, ShadowMetric};

fn gradients(rows: &Rows, q: &[f64]) -> Vec<f64> {
    let mut values = vec![0.0; rows.entries()];
    rows.gradients(q, 0.0, &mut values);
    values
}

fn reflect(system: &System, q: &[f64], candidates: &[usize], p: &mut [f64]) -> Vec<f64> {
    let mut reflector =
        Reflector::new(system, ImpactLaw::Reflection, ContactTolerance::default()).unwrap();
    let (g, f) = (gradients(system.inequalities(), q), gradients(system.equalities(), q));
    let certificate = reflector.reflect(system, &g, &f, candidates, p).unwrap();
    assert!(certificate.energy_change.abs() < 1e-14, "{certificate:?}");
    reflector.impulses().to_vec()
}

/// A dumbbell in the plane: two particles and a rod, its lower end on the floor.
fn dumbbell(copies: usize) -> System {
    let mut system = System::new(Mass::diagonal(&[1.0, 1.0, 2.0, 2.0]).unwrap())
        .with_inequality("floor", Affine::above(1, 0.0).unwrap())
        .unwrap();
    for i in 0..copies {
        let rod = Rod::between(&[0, 1], &[2, 3], 1.0).unwrap();
        system = system.with_equality(&format!("rod {i}"), rod).unwrap();
    }
    system
}

#[test]
fn a_rod_is_kept_through_an_impact() {
    let angle = 0.6_f64;
    let (sin, cos) = angle.sin_cos();
    let q = [0.0, 0.0, cos, sin];
    let mut answers = Vec::new();
    for copies in 1..=3 {
        let system = dumbbell(copies);
        // Falling without turning: the rod's rate is zero.
        let mut p = [0.0, -1.0, 0.0, -2.0];
        let impulses = reflect(&system, &q, &[0], &mut p);
        // As a rigid body: reduced mass of the end, 1/(1/m + r^2 cos^2 / J).
        let (m, reduced) = (3.0, 1.0 * 2.0 / 3.0);
        let arm = 2.0 / 3.0;
        let inverse = 1.0 / m + (arm * cos).powi(2) / reduced;
        assert!((impulses[0] - 2.0 / inverse).abs() < 1e-14, "{impulses:?}");
        assert!((p[1] - 1.0).abs() < 1e-15, "the end rebounds at its speed: {p:?}");
        let rod = (p[2] / 2.0 - p[0]) * cos + (p[3] / 2.0 - p[1]) * sin;
        assert!(rod.abs() < 1e-15, "{rod}");
        answers.push(p);
    }
    // Redundant equalities change nothing.
    for p in &answers[1..] {
        for (a, b) in p.iter().zip(&answers[0]) {
            assert!((a - b).abs() < 1e-14);
        }
    }
}

#[test]
fn a_contact_that_the_equalities_hold_takes_no_impulse() {
    // A particle on a circle touches it from inside: the gap's gradient is the equality's.
    let system = System::new(Mass::diagonal(&[1.0, 3.0]).unwrap())
        .with_equality("rod", Rod::to_pivot(&[0, 1], &[0.0, 0.0], 2.0).unwrap())
        .unwrap()
        .with_inequality("circle", SphereGap::inside(&[0, 1], &[0.0, 0.0], 2.0).unwrap())
        .unwrap();
    let (sin, cos) = 0.3_f64.sin_cos();
    let mut p = [-sin, 3.0 * cos];
    let before = p;
    assert_eq!(reflect(&system, &[2.0 * cos, 2.0 * sin], &[0], &mut p), [0.0]);
    assert_eq!(p, before);
}

/// Newton's cradle of \[KP\] section 7.2: pendulums side by side, at rest in the middle.
#[test]
fn the_cradle_of_pendulums_passes_the_momentum_on() {
    let n = 5;
    let mut system = System::new(Mass::diagonal(&[1.0; 10]).unwrap());
    let mut q = Vec::new();
    for i in 0..n {
        let pivot = [i as f64, 0.0];
        let rod = Rod::to_pivot(&[2 * i, 2 * i + 1], &pivot, 3.0).unwrap();
        system = system.with_equality(&format!("rod {i}"), rod).unwrap();
        q.extend([pivot[0], -3.0]);
    }
    for i in 1..n {
        let (a, b) = (2 * (i - 1), 2 * i);
        let gap = SphereGap::between_balls(&[a, a + 1], &[b, b + 1], 0.5, 0.5).unwrap();
        system = system.with_inequality(&format!("balls {i}"), gap).unwrap();
    }
    let mut p = vec![0.0; 10];
    p[0] = 1.0;
    reflect(&system, &q, &[0, 1, 2, 3], &mut p);
    let mut last = vec![0.0; 10];
    last[8] = 1.0;
    assert_eq!(p, last);
}

/// The pogo stick of \[KP\] section 5.1.1.
fn pogo() -> System {
    System::new(Mass::diagonal(&[1.0, 1.0]).unwrap())
        .with_potential("spring", LineSpring::new(0, 1, 10.0, 5.0).unwrap())
        .unwrap()
        .with_potential("gravity", Affine::weight(&[(&[0], 1.0), (&[1], 1.0)], &[-9.8]).unwrap())
        .unwrap()
        .with_inequality("floor", Affine::above(1, 0.0).unwrap())
        .unwrap()
}

#[test]
fn the_shadow_metric_has_the_stated_entries() {
    let system = pogo();
    let h = 0.1;
    for (quadrature, weight) in
        [(Quadrature::Verlet, 1.0 / 6.0), (Quadrature::Midpoint, -1.0 / 12.0)]
    {
        let mut shadow = ShadowMetric::new(&system, quadrature, h).unwrap();
        shadow.renew(&system, &[5.0, 0.0], 0.0);
        let c = weight * h * h * 10.0;
        for (i, j, value) in [(0, 0, 1.0 + c), (0, 1, -c), (1, 0, -c), (1, 1, 1.0 + c)] {
            assert!((shadow.metric().entry(i, j).unwrap() - value).abs() < 1e-16);
        }
    }
    // A block mass spreads the Hessian: B = M^-1 + c M^-1 V'' M^-1 against dense algebra.
    let mass = Mass::full(&[vec![2.0, 0.5], vec![0.5, 1.0]]).unwrap();
    let coupled = System::new(mass.clone())
        .with_potential("spring", LineSpring::new(0, 1, 10.0, 5.0).unwrap())
        .unwrap();
    let mut shadow = ShadowMetric::new(&coupled, Quadrature::Verlet, h).unwrap();
    shadow.renew(&coupled, &[5.0, 0.0], 0.0);
    let hessian = [[10.0, -10.0], [-10.0, 10.0]];
    for i in 0..2 {
        for j in 0..2 {
            let mut expected = mass.inverse_entry(i, j);
            for a in 0..2 {
                for b in 0..2 {
                    expected += h * h / 6.0
                        * mass.inverse_entry(i, a)
                        * hessian[a][b]
                        * mass.inverse_entry(b, j);
                }
            }
            assert!((shadow.metric().entry(i, j).unwrap() - expected).abs() < 1e-15);
        }
    }
}

#[test]
fn the_pogo_in_the_shadow_metric_conserves_its_energy_and_does_not_cycle() {
    let system = pogo();
    let mut shadow = ShadowMetric::new(&system, Quadrature::Verlet, 0.1).unwrap();
    shadow.renew(&system, &[5.0, 0.0], 0.0);
    let mut reflector = Reflector::with_metric(
        &system,
        shadow.metric().clone(),
        ImpactLaw::Reflection,
        ContactTolerance::default(),
    )
    .unwrap();
    let g = gradients(system.inequalities(), &[5.0, 0.0]);
    // The floor approaches in M^-1 but separates in B: reflecting it in B drives it down, and a test
    // in M^-1 would do so forever.
    let mut p = [-7.0, -0.1];
    let resting = reflector.reflect_in(shadow.metric(), &system, &g, &[], &[0], &mut p).unwrap();
    assert_eq!((p, resting.rounds), ([-7.0, -0.1], 0));
    let mut p = [-7.0, -3.0];
    let energy = |p: &[f64; 2]| {
        let mut v = [0.0; 2];
        shadow.metric().apply(p, &mut v);
        0.5 * (p[0] * v[0] + p[1] * v[1])
    };
    let before = energy(&p);
    let certificate =
        reflector.reflect_in(shadow.metric(), &system, &g, &[], &[0], &mut p).unwrap();
    assert_eq!(certificate.rounds, 1);
    assert!((energy(&p) - before).abs() < 1e-14 * before);
    assert!(p[0] == -7.0 && p[1] > 0.0);
}

#[test]
fn a_step_too_large_for_the_shadow_is_an_error() {
    let system = pogo();
    let mut shadow = ShadowMetric::new(&system, Quadrature::Midpoint, 2.0).unwrap();
    shadow.renew(&system, &[5.0, 0.0], 0.0);
    let mut reflector = Reflector::with_metric(
        &system,
        shadow.metric().clone(),
        ImpactLaw::Reflection,
        ContactTolerance::default(),
    )
    .unwrap();
    let g = gradients(system.inequalities(), &[5.0, 0.0]);
    let mut p = [-7.0, 3.0];
    let error = reflector.reflect(&system, &g, &[], &[0], &mut p).unwrap_err();
    assert!(matches!(error, ReflectError::NotPositive { contact: 0, .. }), "{error:?}");
    assert_eq!(p, [-7.0, 3.0]);
}

#[test]
fn systems_that_have_no_impacts_are_refused() {
    let massless = System::new(Mass::diagonal(&[1.0, 0.0]).unwrap());
    assert!(matches!(
        Reflector::new(&massless, ImpactLaw::Reflection, ContactTolerance::default()),
        Err(ReflectError::System(_))
    ));
    let system = pogo();
    let mut reflector =
        Reflector::new(&system, ImpactLaw::Reflection, ContactTolerance::default()).unwrap();
    assert!(matches!(
        reflector.reflect(&system, &[], &[], &[0], &mut [0.0, 0.0]),
        Err(ReflectError::Length { length: 0, expected: 1, .. })
    ));
}
