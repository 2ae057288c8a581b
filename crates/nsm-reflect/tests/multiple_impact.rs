//! Impacts with known answers: cradles, Bernoulli's problem, the billiard break, wedges, walls.

mod common;

use common::{Scene, discs, line};
use nsm_reflect::{ImpactLaw, ReflectError, Restitution, Symmetry};

fn close(a: &[f64], b: &[f64], tolerance: f64) {
    for (x, y) in a.iter().zip(b) {
        assert!((x - y).abs() <= tolerance, "{a:?} against {b:?}");
    }
}

#[test]
fn as_many_balls_leave_a_cradle_as_strike_it() {
    for n in 2..=12 {
        for strikers in 1..n {
            let cradle = line(&vec![1.0; n]);
            let mut p: Vec<f64> = (0..n).map(|i| f64::from(u8::from(i < strikers))).collect();
            let (certificate, impulses) = cradle.reflect(&ImpactLaw::Reflection, &mut p).unwrap();
            let leave: Vec<f64> = (0..n).map(|i| f64::from(u8::from(i >= n - strikers))).collect();
            close(&p, &leave, 1e-15);
            assert!(impulses.iter().all(|&l| l >= 0.0));
            assert!(certificate.energy_change.abs() < 1e-15);
            if strikers == 1 {
                assert_eq!(certificate.rounds, n - 1);
            }
        }
    }
}

#[test]
fn bernoullis_problem_is_symmetric() {
    // A cue disc hits two touching discs: centres of an equilateral triangle.
    let s = 3.0_f64.sqrt() / 2.0;
    let scene = discs(&[[-s, 0.0], [0.0, 0.5], [0.0, -0.5]], 1.0);
    let before = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    let mut p = before;
    let (certificate, _) = scene.reflect(&ImpactLaw::Reflection, &mut p).unwrap();
    assert!((p[0] + 0.2).abs() < 1e-15, "{p:?}");
    let speed = p[2].hypot(p[3]);
    assert!((speed - 0.692_820_323_027_550_9).abs() < 1e-15, "{speed}");
    let mirror = Symmetry::new(&[(0, 1.0), (1, -1.0), (4, 1.0), (5, -1.0), (2, 1.0), (3, -1.0)]);
    assert_eq!(mirror.unwrap().preserved(&before, &p, 1e-15), Some(true));
    assert_eq!(certificate.rounds, 1);
}

#[test]
fn opposed_walls_are_an_error_that_leaves_the_momentum() {
    let mut scene = Scene::new(&[1.0]);
    scene.push(&[(0, 1.0)]);
    scene.push(&[(0, -1.0)]);
    for law in [
        ImpactLaw::Reflection,
        ImpactLaw::Published,
        ImpactLaw::Sequential(Restitution::ELASTIC),
        ImpactLaw::Newton(Restitution::ELASTIC),
    ] {
        let mut p = [-2.0];
        let error = scene.reflect(&law, &mut p).unwrap_err();
        assert!(
            matches!(error, ReflectError::Rounds { residual: 2.0, rounds: 1200, .. }),
            "{law:?}: {error:?}"
        );
        assert_eq!(p, [-2.0]);
    }
}
