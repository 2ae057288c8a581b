//! The defining conditions (5.7)–(5.9) of a generalized reflection on thousands of random cones.

mod common;

use common::{Scene, cone, line, normal, rng};
use nsm_reflect::{ContactTolerance, ImpactLaw, Kernel, ReflectError, Restitution};
use rand::RngExt;

const CONES: usize = 3000;

fn size(p: &[f64]) -> f64 {
    p.iter().fold(0.0_f64, |a, x| a.max(x.abs()))
}

fn same(a: &[f64], b: &[f64], tolerance: f64) {
    for (x, y) in a.iter().zip(b) {
        assert!((x - y).abs() <= tolerance * size(a).max(1.0), "{a:?} against {b:?}");
    }
}

#[test]
fn reflections_are_feasible_push_only_and_conserve_energy() {
    let mut rng = rng(1);
    let (mut most, mut worst) = (0, 0.0_f64);
    for _ in 0..CONES {
        let n = rng.random_range(2..=12);
        let contacts = rng.random_range(1..=2 * n);
        let scene = cone(&mut rng, n, contacts);
        let before = normal(&mut rng, n);
        let mut p = before.clone();
        let (certificate, impulses) = scene.reflect(&ImpactLaw::Reflection, &mut p).unwrap();
        most = most.max(certificate.rounds);
        for rate in scene.rates(&p) {
            assert!(rate > -1e-11 * size(&before), "{rate}");
        }
        assert!(impulses.iter().all(|&l| l >= 0.0), "{impulses:?}");
        let energy = scene.energy(&before);
        let change = (scene.energy(&p) - energy) / energy;
        worst = worst.max(change.abs());
        assert!(change.abs() < 1e-14, "{change}");
        assert!((certificate.energy_change - (scene.energy(&p) - energy)).abs() < 1e-13 * energy);
        let force = scene.force(&impulses);
        let sum: Vec<f64> = before.iter().zip(&force).map(|(a, b)| a + b).collect();
        same(&p, &sum, 1e-12 * (1.0 + size(&impulses)));
        assert_eq!(certificate.reflected, impulses.iter().filter(|l| **l > 0.0).count());
    }
    assert!((2..=18).contains(&most), "{most} rounds");
    assert!(worst > 0.0);
}

#[test]
fn the_published_multipliers_agree_while_they_push_and_can_pull() {
    let mut rng = rng(2);
    let (mut agreed, mut pulled, mut endless) = (0, 0, 0);
    for _ in 0..CONES {
        let n = rng.random_range(2..=8);
        let contacts = rng.random_range(2..=n + 1);
        let scene = cone(&mut rng, n, contacts);
        let before = normal(&mut rng, n);
        let (mut p, mut q) = (before.clone(), before.clone());
        let (certificate, _) = scene.reflect(&ImpactLaw::Reflection, &mut p).unwrap();
        match scene.reflect(&ImpactLaw::Published, &mut q) {
            Ok((published, impulses)) => {
                let change = (scene.energy(&q) - scene.energy(&before)) / scene.energy(&before);
                assert!(change.abs() < 1e-10, "{change}");
                if published.least_impulse < 0.0 {
                    pulled += 1;
                } else if published.rounds == 1 && certificate.rounds == 1 {
                    assert!(impulses.iter().all(|&l| l >= 0.0));
                    same(&p, &q, 1e-11);
                    agreed += 1;
                }
            }
            Err(ReflectError::Rounds { .. }) => {
                assert_eq!(q, before);
                endless += 1;
            }
            Err(error) => panic!("{error}"),
        }
    }
    assert!(agreed > 500, "{agreed}");
    assert!(pulled > 20, "{pulled}");
    assert!(endless < CONES / 10, "{endless}");
}

#[test]
fn order_and_scale_of_the_rows_do_not_matter() {
    let mut rng = rng(3);
    for _ in 0..500 {
        let n = rng.random_range(3..=8);
        let contacts = rng.random_range(2..=n);
        let scene = cone(&mut rng, n, contacts);
        let mut shuffled = Scene::in_metric(scene.metric.clone());
        let mut order: Vec<usize> = (0..contacts).collect();
        for i in (1..contacts).rev() {
            order.swap(i, rng.random_range(0..=i));
        }
        let mut scales = Vec::new();
        for &i in &order {
            let scale: f64 = 10.0_f64.powf(rng.random_range(-3.0..3.0));
            let (columns, values) = scene.rows().row(i);
            let row: Vec<_> = columns.iter().zip(values).map(|(&c, g)| (c, g * scale)).collect();
            shuffled.push(&row);
            scales.push(scale);
        }
        let before = normal(&mut rng, n);
        let (mut p, mut q) = (before.clone(), before);
        let (_, impulses) = scene.reflect(&ImpactLaw::Reflection, &mut p).unwrap();
        let (_, scaled) = shuffled.reflect(&ImpactLaw::Reflection, &mut q).unwrap();
        same(&p, &q, 1e-11);
        for ((&i, scale), l) in order.iter().zip(&scales).zip(&scaled) {
            assert!((l * scale - impulses[i]).abs() < 1e-10 * (1.0 + size(&impulses)));
        }
    }
}

#[test]
fn repeated_contacts_change_nothing() {
    let mut rng = rng(4);
    for _ in 0..500 {
        let n = rng.random_range(2..=6);
        let contacts = rng.random_range(1..=n);
        let scene = cone(&mut rng, n, contacts);
        let mut doubled = scene.clone();
        for i in 0..contacts {
            let (columns, values) = scene.rows().row(i);
            let row: Vec<_> = columns.iter().zip(values).map(|(&c, g)| (c, 2.0 * g)).collect();
            doubled.push(&row);
        }
        let before = normal(&mut rng, n);
        let (mut p, mut q) = (before.clone(), before);
        let (a, _) = scene.reflect(&ImpactLaw::Reflection, &mut p).unwrap();
        let (b, impulses) = doubled.reflect(&ImpactLaw::Reflection, &mut q).unwrap();
        same(&p, &q, 1e-11);
        assert_eq!(a.rounds, b.rounds);
        assert!(impulses.iter().all(|&l| l >= 0.0));
    }
}

#[test]
fn newtons_law_never_gains_energy() {
    let mut rng = rng(5);
    let mut lost = 0;
    for round in 0..CONES {
        let scene = if round % 2 == 0 {
            let n = rng.random_range(2..=10);
            let contacts = rng.random_range(1..=2 * n);
            cone(&mut rng, n, contacts)
        } else {
            let n = rng.random_range(2..=12);
            line(&(0..n).map(|_| rng.random_range(0.2..5.0)).collect::<Vec<f64>>())
        };
        let e: Vec<f64> = (0..scene.len()).map(|_| rng.random_range(0.0..1.0)).collect();
        let law = ImpactLaw::Newton(Restitution::PerContact(e));
        let before = normal(&mut rng, scene.metric.dimension());
        let mut p = before.clone();
        let (certificate, impulses) = scene.reflect(&law, &mut p).unwrap();
        assert!(certificate.energy_change <= 1e-14 * scene.energy(&before));
        lost += usize::from(certificate.energy_change < 0.0);
        assert!(impulses.iter().all(|&l| l >= 0.0));
        for rate in scene.rates(&p) {
            assert!(rate > -1e-11 * size(&before), "{rate}");
        }
        assert!(certificate.rounds <= 21, "{}", certificate.rounds);
    }
    assert!(lost > CONES / 2, "{lost}");
}

#[test]
fn a_single_problem_over_all_candidates_may_gain_energy_where_newton_does_not() {
    // A light ball between two heavy ones hits the right one; the left pair separates.
    let scene = line(&[1.0, 1.0, 1.0]);
    let before = [-0.5, 1.0, -2.0];
    let lcp = ImpactLaw::Lcp(Restitution::ELASTIC);
    let newton = ImpactLaw::Newton(Restitution::ELASTIC);
    let (mut p, mut q) = (before, before);
    let (held, _) = scene.reflect(&lcp, &mut p).unwrap();
    let (free, _) = scene.reflect(&newton, &mut q).unwrap();
    assert!(held.energy_change > 0.1, "{held:?}");
    assert!(free.energy_change.abs() < 1e-15, "{free:?}");
    // Where nothing separates the two are one law.
    let mut rng = rng(6);
    for _ in 0..300 {
        let scene = cone(&mut rng, 6, 5);
        let before = normal(&mut rng, 6);
        if scene.rates(&before).iter().any(|&w| w > 0.0) {
            continue;
        }
        for e in [Restitution::PLASTIC, Restitution::Uniform(0.5)] {
            let (mut p, mut q) = (before.clone(), before.clone());
            let (a, _) = scene.reflect(&ImpactLaw::Lcp(e.clone()), &mut p).unwrap();
            let (b, _) = scene.reflect(&ImpactLaw::Newton(e), &mut q).unwrap();
            same(&p, &q, 1e-12);
            assert!(a.energy_change < 0.0 && a.rounds == 1 && b.rounds == 1);
        }
    }
}

#[test]
fn islands_do_not_see_each_other_not_even_in_the_last_bit() {
    let mut rng = rng(7);
    for _ in 0..200 {
        let (n, m) = (rng.random_range(2..=8), rng.random_range(2..=8));
        let (contacts, others) = (rng.random_range(1..=n + 2), rng.random_range(1..=m + 2));
        let (a, b) = (cone(&mut rng, n, contacts), cone(&mut rng, m, others));
        // Both scenes in one, rows of the second between those of the first.
        let weights = |s: &Scene| s.metric.as_diagonal().unwrap().to_vec();
        let mut both = Scene::new(&[weights(&b), weights(&a)].concat());
        for i in 0..contacts.max(others) {
            for (scene, shift) in [(&b, 0), (&a, m)] {
                if i < scene.len() {
                    let (columns, values) = scene.rows().row(i);
                    let row: Vec<_> =
                        columns.iter().zip(values).map(|(&c, &g)| (c + shift, g)).collect();
                    both.push(&row);
                }
            }
        }
        let (mut p, mut q) = (normal(&mut rng, n), normal(&mut rng, m));
        // Very different speeds: a tolerance that looked at all of them would tell.
        for x in &mut q {
            *x *= 1e9;
        }
        let mut r = [q.clone(), p.clone()].concat();
        let (x, _) = a.reflect(&ImpactLaw::Reflection, &mut p).unwrap();
        let (y, _) = b.reflect(&ImpactLaw::Reflection, &mut q).unwrap();
        let (z, _) = both.reflect(&ImpactLaw::Reflection, &mut r).unwrap();
        assert_eq!(r, [q, p].concat());
        assert_eq!(z.rounds, x.rounds.max(y.rounds));
    }
}

#[test]
fn bad_input_is_named_and_leaves_the_momentum() {
    let scene = line(&[1.0, 1.0, 1.0]);
    let mut kernel = Kernel::new(3, 2, ContactTolerance::default());
    let law = ImpactLaw::Reflection;
    let mut reflect = |candidates: &[usize], p: &mut [f64]| {
        kernel.reflect(&law, &scene.metric, scene.rows(), candidates, p)
    };
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for candidates in [&[0, 1][..], &[1]] {
            let mut p = [1.0, 0.0, bad];
            let error = reflect(candidates, &mut p).unwrap_err();
            assert!(
                matches!(error, ReflectError::NotFinite { contact: 1, .. }),
                "{bad} {candidates:?}: {error:?}"
            );
            assert_eq!(p[..2], [1.0, 0.0]);
            assert_eq!(p[2].to_bits(), bad.to_bits());
        }
    }
    assert!(matches!(
        reflect(&[0, 2], &mut [1.0, 0.0, 0.0]),
        Err(ReflectError::UnknownContact { contact: 2, contacts: 2 })
    ));
    assert!(matches!(
        reflect(&[0], &mut [1.0, 0.0]),
        Err(ReflectError::Length { what: "the momentum", length: 2, expected: 3 })
    ));
    let mut nan = scene.clone();
    nan.values[2] = f64::NAN;
    assert!(matches!(
        nan.reflect(&law, &mut [1.0, 0.0, 0.0]),
        Err(ReflectError::NotFinite { contact: 1, .. })
    ));
    for e in [-0.1, 1.1, f64::NAN] {
        let law = ImpactLaw::Newton(Restitution::PerContact(vec![0.5, e]));
        assert!(matches!(
            scene.reflect(&law, &mut [1.0, 0.0, 0.0]),
            Err(ReflectError::Restitution { contact: 1, .. })
        ));
    }
    let law = ImpactLaw::Newton(Restitution::PerContact(vec![0.5]));
    assert!(matches!(scene.reflect(&law, &mut [1.0, 0.0, 0.0]), Err(ReflectError::Length { .. })));
    // A body without mass that answers to no impulse.
    let mut massless = Scene::new(&[0.0, 1.0]);
    massless.push(&[(0, 1.0), (1, 0.0)]);
    let mut p = [-1.0, -1.0];
    assert!(massless.reflect(&ImpactLaw::Reflection, &mut p).unwrap().0.rounds == 0);
}

#[test]
fn random_chains_come_to_an_end() {
    let mut rng = rng(8);
    let mut most = 0;
    for _ in 0..300 {
        let n = rng.random_range(2..=60);
        let chain = line(&(0..n).map(|_| rng.random_range(0.2..5.0)).collect::<Vec<f64>>());
        let before = normal(&mut rng, n);
        let mut p = before.clone();
        let (certificate, impulses) = chain.reflect(&ImpactLaw::Reflection, &mut p).unwrap();
        most = most.max(certificate.rounds);
        assert!(impulses.iter().all(|&l| l >= 0.0));
        assert!(chain.rates(&p).iter().all(|&w| w > -1e-10 * size(&before)));
        let energy = chain.energy(&before);
        assert!((chain.energy(&p) - energy).abs() < 1e-13 * energy, "{certificate:?}");
        // No external impulse: momentum is conserved.
        let sum = |p: &[f64]| p.iter().sum::<f64>();
        assert!((sum(&p) - sum(&before)).abs() < 1e-12 * size(&before) * n as f64);
    }
    assert!(most < 500, "{most}");
}

#[test]
fn reflections_hold_in_any_metric() {
    let mut rng = rng(9);
    for _ in 0..500 {
        let n = rng.random_range(2..=8);
        let contacts = rng.random_range(1..=n + 2);
        // W = I + R R^T / n, full: as if the masses were coupled.
        let r: Vec<Vec<f64>> = (0..n).map(|_| normal(&mut rng, n)).collect();
        let entries: Vec<(usize, usize, f64)> = (0..n * n)
            .map(|e| {
                let (i, j) = (e / n, e % n);
                let product: f64 = (0..n).map(|k| r[i.min(j)][k] * r[i.max(j)][k]).sum();
                (i, j, product / n as f64 + f64::from(u8::from(i == j)))
            })
            .collect();
        let mut scene = Scene::in_metric(nsm_reflect::Metric::from_entries(n, &entries).unwrap());
        let plain = cone(&mut rng, n, contacts);
        for i in 0..contacts {
            let (columns, values) = plain.rows().row(i);
            let row: Vec<_> = columns.iter().copied().zip(values.iter().copied()).collect();
            scene.push(&row);
        }
        let before = normal(&mut rng, n);
        let mut p = before.clone();
        let (certificate, impulses) = scene.reflect(&ImpactLaw::Reflection, &mut p).unwrap();
        let energy = scene.energy(&before);
        assert!((scene.energy(&p) - energy).abs() < 1e-13 * energy);
        assert!(certificate.energy_change.abs() < 1e-13 * energy);
        assert!(impulses.iter().all(|&l| l >= 0.0));
        assert!(scene.rates(&p).iter().all(|&w| w > -1e-10 * size(&before)));
        // One contact after the other, in the same metric.
        let mut q = before.clone();
        let law = ImpactLaw::Sequential(Restitution::ELASTIC);
        let (sequential, _) = scene.reflect(&law, &mut q).unwrap();
        assert!((scene.energy(&q) - energy).abs() < 1e-12 * energy, "{sequential:?}");
        assert!(scene.rates(&q).iter().all(|&w| w > -1e-10 * size(&before)));
    }
}

#[test]
fn the_certificate_knows_the_energy_in_a_full_metric_after_many_rounds() {
    let mut rng = rng(11);
    let mut many = 0;
    for _ in 0..2000 {
        let n = rng.random_range(3..=8);
        let contacts = rng.random_range(2..=n);
        let b = normal(&mut rng, n * n);
        let entries: Vec<(usize, usize, f64)> = (0..n * n)
            .map(|e| {
                let (i, j) = ((e / n).min(e % n), (e / n).max(e % n));
                let product: f64 = (0..n).map(|k| b[i * n + k] * b[j * n + k]).sum();
                (e / n, e % n, product + f64::from(u8::from(i == j)))
            })
            .collect();
        let mut scene = Scene::in_metric(nsm_reflect::Metric::from_entries(n, &entries).unwrap());
        // Sparse rows: coordinates that the metric moves before a contact touches them.
        let plain = cone(&mut rng, n, contacts);
        for i in 0..contacts {
            let (columns, values) = plain.rows().row(i);
            let row: Vec<_> = columns.iter().copied().zip(values.iter().copied()).collect();
            scene.push(&row[i % (n - 1)..=i % (n - 1) + 1]);
        }
        for law in [
            ImpactLaw::Reflection,
            ImpactLaw::Newton(Restitution::Uniform(0.5)),
            ImpactLaw::Sequential(Restitution::Uniform(0.7)),
            ImpactLaw::Lcp(Restitution::Uniform(0.3)),
        ] {
            let before = normal(&mut rng, n);
            let mut p = before.clone();
            let Ok((certificate, _)) = scene.reflect(&law, &mut p) else { continue };
            many += usize::from(certificate.rounds > 1);
            let change = scene.energy(&p) - scene.energy(&before);
            let size = scene.energy(&before) + scene.energy(&p);
            assert!((change - certificate.energy_change).abs() <= 1e-12 * size, "{law:?}");
        }
    }
    assert!(many > 1000, "{many}");
}

#[test]
fn a_contact_without_gradient_takes_part_in_nothing() {
    let mut scene = Scene::new(&[1.0, 0.5, 0.0]);
    scene.push(&[(0, -1.0), (1, 1.0)]);
    scene.push(&[(0, 0.0), (1, 0.0)]);
    // What no mass feels.
    scene.push(&[(2, 1.0)]);
    scene.push(&[(1, -1.0), (2, 1.0)]);
    for law in [
        ImpactLaw::Reflection,
        ImpactLaw::Newton(Restitution::Uniform(0.5)),
        ImpactLaw::Lcp(Restitution::Uniform(0.5)),
        ImpactLaw::Sequential(Restitution::Uniform(0.5)),
    ] {
        let mut p = [2.0, 0.0, 0.0];
        let (_, impulses) = scene.reflect(&law, &mut p).unwrap();
        assert_eq!((impulses[1], impulses[2]), (0.0, 0.0), "{law:?}");
        assert!(scene.rates(&p).iter().all(|&w| w >= -1e-14), "{law:?}");
    }
}

#[test]
fn gradients_in_other_units_give_the_same_momenta() {
    let mut rng = rng(12);
    for _ in 0..500 {
        let n = rng.random_range(3..=8);
        let contacts = rng.random_range(2..=n);
        let scene = cone(&mut rng, n, contacts);
        let mut scaled = Scene::in_metric(scene.metric.clone());
        for i in 0..contacts {
            let unit = 10.0_f64.powf(rng.random_range(-8.0..8.0));
            let (columns, values) = scene.rows().row(i);
            let row: Vec<_> = columns.iter().zip(values).map(|(&c, g)| (c, g * unit)).collect();
            scaled.push(&row);
        }
        let before = normal(&mut rng, n);
        for law in [
            ImpactLaw::Reflection,
            ImpactLaw::Newton(Restitution::Uniform(0.5)),
            ImpactLaw::Lcp(Restitution::Uniform(0.5)),
        ] {
            let (mut p, mut q) = (before.clone(), before.clone());
            let _ = scene.reflect(&law, &mut p).unwrap();
            let _ = scaled.reflect(&law, &mut q).unwrap();
            same(&p, &q, 1e-8);
        }
    }
}
