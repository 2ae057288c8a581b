//! Impacts with friction: closed forms, and random ones that must never gain energy.

#![allow(clippy::print_stdout, reason = "the size of the dose and what came of it are said aloud")]

use nsm_model::ContactLaw;
use nsm_reflect::{FrictionImpact, ReflectError};
use nsm_solvers::friction::Delassus;
use rand::{RngExt, SeedableRng};

fn law(restitution: f64, tangential_restitution: f64, friction: f64) -> ContactLaw {
    ContactLaw { restitution, tangential_restitution, friction }
}

fn near(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-12, "{a} {b}");
}

/// One planar contact: impulses, velocities after, energy change, limiter.
fn planar(w: [f64; 4], before: [f64; 2], law: ContactLaw) -> ([f64; 2], [f64; 2], f64, f64) {
    let mut delassus = Delassus::default();
    delassus.set_full(1, &[w[0], w[1], 0.0, w[2], w[3], 0.0, 0.0, 0.0, 0.0]);
    let mut impact = FrictionImpact::default();
    let u = [before[0], before[1], 0.0];
    let certificate = impact.resolve(&delassus, &u, &[law], &[1e-13]).unwrap();
    let (r, u) = (impact.impulses(), impact.after());
    assert_eq!((r[2], u[2]), (0.0, 0.0));
    near(impact.work()[0], certificate.energy_change);
    ([r[0], r[1]], [u[0], u[1]], certificate.energy_change, certificate.limiter)
}

/// A rod at 45 degrees (m = 1, l²/I = 3): the rows of the specification, in closed form.
const ROD: [f64; 4] = [2.5, 1.5, 1.5, 2.5];

#[test]
fn a_rod_that_would_gain_energy_is_limited_and_one_that_would_not_is_left_alone() {
    let (r, _, change, alpha) = planar(ROD, [-1.0, -0.5], law(0.0, 0.0, 0.5));
    near(r[0], 0.4375);
    near(r[1], -0.0625);
    near(change, -0.203_125);
    near(alpha, 1.0);
    // Newton with e = 1 would give r = (1.0625, −0.4375) and gain 0.109375.
    let (_, u, change, alpha) = planar(ROD, [-1.0, -0.5], law(1.0, 0.0, 0.5));
    near(alpha, 0.65_f64.sqrt());
    near(change, 0.0);
    near(u[0], 0.65_f64.sqrt());
    near(u[1], 0.0);
    let (_, u, change, alpha) = planar(ROD, [-1.0, -0.5], law(0.5, 0.0, 0.5));
    near(alpha, 0.65_f64.sqrt());
    near(change, -0.152_343_75);
    near(u[0], 0.5 * 0.65_f64.sqrt());
    near(u[1], 0.0);
    // It slips on.
    let (r, _, change, alpha) = planar(ROD, [-1.0, 0.2], law(0.8, 0.0, 0.5));
    near(r[0], 1.8 / 1.75);
    near(r[1], -0.9 / 1.75);
    // r·u + r·Wr/2 with r = (1.8, −0.9)/1.75.
    near(change, -0.271_836_734_693_877_6);
    near(alpha, 1.0);
}

#[test]
fn a_superball_reverses_what_its_restitutions_say() {
    // m = 1, I = 2/5 R², v = (1, −2), large friction: W = diag(1, 7/2), u = (−2, 1).
    let ball = [1.0, 0.0, 0.0, 3.5];
    let (r, u, _, alpha) = planar(ball, [-2.0, 1.0], law(1.0, 0.0, 10.0));
    near(1.0 + r[1], 5.0 / 7.0);
    near(-2.5 * r[1], 5.0 / 7.0);
    near(u[0], 2.0);
    near(alpha, 1.0);
    let (r, _, change, alpha) = planar(ball, [-2.0, 1.0], law(1.0, 1.0, 10.0));
    near(1.0 + r[1], 3.0 / 7.0);
    near(-2.5 * r[1], 10.0 / 7.0);
    near(change, 0.0);
    near(alpha, 1.0);
    // It bounces and slips: v_x = 1 − μ(1 + e)·2.
    let (r, u, _, _) = planar(ball, [-2.0, 1.0], law(0.5, 0.0, 0.05));
    near(1.0 + r[1], 0.85);
    near(u[0], 1.0);
}

#[test]
fn painleve_rods_strike_without_colliding_beyond_the_critical_friction() {
    // m = l = 1, tan θ = 2: critical friction 4/3. Resting and slipping, r = (0.3, −0.4) brings it to rest.
    let w = [1.6, 1.2, 1.2, 3.4];
    for friction in [1.34, 2.0, 5.0] {
        let (r, u, change, _) = planar(w, [-1e-12, 1.0], law(0.0, 0.0, friction));
        assert!((r[0] - 0.3).abs() < 1e-11 && (r[1] + 0.4).abs() < 1e-11, "{r:?}");
        assert!(u[0].abs() < 1e-12 && u[1].abs() < 1e-12, "{u:?}");
        assert!((change + 0.2).abs() < 1e-11);
        // The other way nothing happens.
        let (r, ..) = planar(w, [-1e-12, -1.0], law(0.0, 0.0, friction));
        assert!(r[0].abs() < 1e-11);
    }
    let (r, ..) = planar(w, [-1e-9, 1.0], law(0.0, 0.0, 1.3));
    assert!((0.0..1e-7).contains(&r[0]), "{r:?}");
}

#[test]
fn without_friction_an_impact_is_the_reflection() {
    // Three equal balls in a row; the first hits the others, as in Newton's cradle.
    let mut w = Delassus::default();
    let mut full = [0.0; 36];
    for (i, j, x) in [(0, 0, 2.0), (0, 3, -1.0), (3, 0, -1.0), (3, 3, 2.0)] {
        full[6 * i + j] = x;
    }
    w.set_full(2, &full);
    let mut impact = FrictionImpact::default();
    let laws = [ContactLaw::ELASTIC; 2];
    let certificate =
        impact.resolve(&w, &[-1.0, 0.0, 0.0, 0.0, 0.0, 0.0], &laws, &[1e-12; 2]).unwrap();
    assert_eq!(certificate.rounds, 2);
    near(impact.impulses()[0], 1.0);
    near(impact.impulses()[3], 1.0);
    near(certificate.energy_change, 0.0);
}

#[test]
fn wrong_input_is_refused() {
    let mut w = Delassus::default();
    w.set_full(1, &[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
    let mut impact = FrictionImpact::default();
    let u = [-1.0, 0.0, 0.0];
    assert!(impact.resolve(&w, &u, &[law(1.5, 0.0, 0.1)], &[0.0]).is_err());
    assert!(impact.resolve(&w, &u, &[law(0.5, -0.1, 0.1)], &[0.0]).is_err());
    assert!(impact.resolve(&w, &u, &[law(0.5, 0.0, f64::NAN)], &[0.0]).is_err());
    assert!(impact.resolve(&w, &u, &[law(0.5, 0.0, -1.0)], &[0.0]).is_err());
    assert!(impact.resolve(&w, &u[..2], &[law(0.5, 0.0, 0.1)], &[0.0]).is_err());
    assert!(impact.resolve(&w, &[f64::NAN, 0.0, 0.0], &[law(0.5, 0.0, 0.1)], &[0.0]).is_err());
    w.set_full(1, &[0.0; 9]);
    let outcome = impact.resolve(&w, &u, &[law(0.5, 0.0, 0.1)], &[0.0]);
    assert!(matches!(outcome, Err(ReflectError::NotPositive { .. })), "{outcome:?}");
}

type V3 = [f64; 3];

fn cross(a: V3, b: V3) -> V3 {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn unit(rng: &mut rand_pcg::Pcg64) -> V3 {
    loop {
        let v: V3 = std::array::from_fn(|_| rng.random_range(-1.0..1.0));
        let length = v.iter().map(|x| x * x).sum::<f64>().sqrt();
        if length > 0.1 && length < 1.0 {
            return v.map(|x| x / length);
        }
    }
}

/// Bodies of very different masses that touch each other or the ground at random points, and what an impact did to them.
fn random_impact(
    rng: &mut rand_pcg::Pcg64,
    impact: &mut FrictionImpact,
) -> Result<f64, ReflectError> {
    let contacts = 1 + rng.random_range(0..16_usize).min(rng.random_range(0..16));
    let bodies = 1 + rng.random_range(0..contacts.max(1));
    // Six inverse inertias a body.
    let inverse: Vec<f64> = (0..bodies)
        .flat_map(|_| {
            let mass = 10_f64.powf(rng.random_range(-3.0..3.0));
            let radii: V3 = std::array::from_fn(|_| mass * rng.random_range(0.05..0.6));
            [1.0 / mass, 1.0 / mass, 1.0 / mass, 1.0 / radii[0], 1.0 / radii[1], 1.0 / radii[2]]
        })
        .collect();
    let n = 6 * bodies;
    let mut rows = Vec::new();
    let mut grounded = false;
    for _ in 0..contacts {
        let a = rng.random_range(0..bodies);
        let b = rng.random_range(0..=bodies);
        let normal = unit(rng);
        let other = unit(rng);
        let mut first = cross(normal, other);
        let length = first.iter().map(|x| x * x).sum::<f64>().sqrt().max(1e-3);
        first = first.map(|x| x / length);
        let second = cross(normal, first);
        let arms = [unit(rng), unit(rng)];
        grounded |= b == bodies || a == b;
        for d in [normal, first, second] {
            let mut row = vec![0.0; n];
            for (body, arm, sign) in [(a, arms[0], 1.0), (b, arms[1], -1.0)] {
                if body < bodies && (a != b || sign > 0.0) {
                    let turn = cross(arm, d);
                    for k in 0..3 {
                        row[6 * body + k] += sign * d[k];
                        row[6 * body + 3 + k] += sign * turn[k];
                    }
                }
            }
            rows.push(row);
        }
    }
    let m = rows.len();
    let mut full = vec![0.0; m * m];
    for i in 0..m {
        for j in 0..m {
            full[i * m + j] = (0..n).map(|k| rows[i][k] * inverse[k] * rows[j][k]).sum::<f64>();
        }
    }
    let mut w = Delassus::default();
    w.set_full(contacts, &full);
    // The rows of each body, by the roots of its inertias.
    for three in rows.chunks_exact(3) {
        let of = |body: usize| {
            let span = 6 * body..6 * body + 6;
            let touched = three.iter().any(|row| row[span.clone()].iter().any(|x| *x != 0.0));
            let entry =
                |k: usize| three[k / 6][6 * body + k % 6] * inverse[6 * body + k % 6].sqrt();
            touched.then(|| (body, std::array::from_fn(entry)))
        };
        let mut touched = (0..bodies).filter_map(of);
        w.push_factors([touched.next(), touched.next()]);
    }
    let v: Vec<f64> = (0..n).map(|_| rng.random_range(-1.0..1.0)).collect();
    let speed = |v: &[f64], i: usize| rows[i].iter().zip(v).map(|(a, b)| a * b).sum::<f64>();
    let before: Vec<f64> = (0..m).map(|i| speed(&v, i)).collect();
    let edge = |rng: &mut rand_pcg::Pcg64| match rng.random_range(0..4) {
        0 => 0.0,
        1 => 1.0,
        _ => rng.random_range(0.0..1.0),
    };
    let laws: Vec<ContactLaw> = (0..contacts)
        .map(|_| {
            let mu = if rng.random_range(0..8) == 0 { 0.0 } else { rng.random_range(0.0..2.0) };
            law(edge(rng), edge(rng), mu)
        })
        .collect();
    let certificate = impact.resolve(&w, &before, &laws, &vec![1e-11; contacts])?;
    let energy = |v: &[f64]| v.iter().zip(&inverse).map(|(v, w)| 0.5 * v * v / w).sum::<f64>();
    let mut after = v.clone();
    for (i, r) in impact.impulses().iter().enumerate() {
        for k in 0..n {
            after[k] += inverse[k] * rows[i][k] * r;
        }
    }
    let (was, is) = (energy(&v), energy(&after));
    assert!(
        is - was <= 1e-12 * was,
        "gain {:e}, limiter {}",
        (is - was) / was,
        certificate.limiter
    );
    for (i, law) in laws.iter().enumerate() {
        let r = &impact.impulses()[3 * i..3 * i + 3];
        // Sums over rounds stay in the cone: it is convex.
        assert!(r[1].hypot(r[2]) <= law.friction * r[0] * (1.0 + 1e-12) + 1e-300);
    }
    let booked: f64 = impact.work().iter().sum();
    let exchanged: f64 = (0..m)
        .map(|i| (impact.impulses()[i] * (before[i].abs() + impact.after()[i].abs())).abs())
        .sum();
    assert!((booked - (is - was)).abs() <= 1e-9 * (was + exchanged), "{booked} {}", is - was);
    if !grounded {
        for k in 0..3 {
            let total =
                |v: &[f64]| (0..bodies).map(|b| v[6 * b + k] / inverse[6 * b + k]).sum::<f64>();
            let size = (0..bodies).map(|b| 1.0 / inverse[6 * b]).sum::<f64>()
                + impact.impulses().iter().map(|r| r.abs()).sum::<f64>();
            assert!((total(&after) - total(&v)).abs() <= 1e-14 * size * (1.0 + contacts as f64));
        }
    }
    Ok(certificate.limiter)
}

#[test]
fn random_frictional_impacts_never_gain_energy() {
    let dose = std::env::var("NSM_FRICTION_IMPACTS").ok().and_then(|s| s.parse().ok());
    let dose: usize = dose.unwrap_or(1000);
    let mut rng = rand_pcg::Pcg64::seed_from_u64(11);
    let mut impact = FrictionImpact::default();
    let (mut limited, mut refused) = (0, 0);
    for _ in 0..dose {
        match random_impact(&mut rng, &mut impact) {
            Ok(limiter) => limited += usize::from(limiter < 1.0),
            Err(ReflectError::Friction { .. } | ReflectError::Rounds { .. }) => refused += 1,
            Err(error) => panic!("{error}"),
        }
    }
    println!("{dose} impacts, limited {limited}, refused {refused}");
    // Contacts at random places jam now and then. The bound is set after seeing their share, two of 300.
    assert!(refused * 50 <= dose, "{refused} of {dose} were refused");
    assert!(limited > 0);
}
