//! Random impacts of every law meant to break them: gradients over sixteen decades, repeated, opposed and zero ones, full
//! metrics, masses over eighteen decades. Every impact is resolved rightly or refused with the momentum untouched.
//!
//! `NSM_IMPACTS` sets the dose, e.g. 1000000 in release mode.

mod common;

use common::{Scene, normal, rng};
use nsm_reflect::{Certificate, ImpactLaw, Kernel, Metric, ReflectError, Restitution};
use rand::RngExt;
use rand_pcg::Pcg64;

const DOSE: usize = 30_000;

fn dose() -> usize {
    std::env::var("NSM_IMPACTS").ok().and_then(|v| v.parse().ok()).unwrap_or(DOSE)
}

/// A metric that is diagonal, diagonal over many decades, or full.
fn metric(rng: &mut Pcg64, n: usize) -> Metric {
    match rng.random_range(0..3) {
        0 => Metric::diagonal(&(0..n).map(|_| rng.random_range(0.2..5.0)).collect::<Vec<_>>()),
        1 => {
            let weight = |_| 10.0_f64.powf(rng.random_range(-9.0..9.0));
            Metric::diagonal(&(0..n).map(weight).collect::<Vec<_>>())
        }
        _ => {
            let b = normal(rng, n * n);
            let entries: Vec<_> = (0..n * n)
                .map(|e| {
                    let (i, j) = (e / n, e % n);
                    let (low, high) = (i.min(j), i.max(j));
                    let product: f64 = (0..n).map(|k| b[low * n + k] * b[high * n + k]).sum();
                    (i, j, product + f64::from(u8::from(i == j)))
                })
                .collect();
            Metric::from_entries(n, &entries)
        }
    }
    .unwrap()
}

fn scene(rng: &mut Pcg64, n: usize, contacts: usize) -> Scene {
    let mut scene = Scene::in_metric(metric(rng, n));
    let decades = if rng.random_bool(0.5) { 0.0 } else { 8.0 };
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for _ in 0..contacts {
        let row: Vec<f64> = match (rng.random_range(0..10), rows.last()) {
            (0, _) => vec![0.0; n],
            (1, Some(last)) => last.clone(),
            (2, Some(last)) => last.iter().map(|g| -g).collect(),
            (3, Some(last)) => {
                // Almost opposed.
                let noise = normal(rng, n);
                let tilt = 10.0_f64.powf(rng.random_range(-14.0..-2.0));
                last.iter().zip(noise).map(|(g, x)| -g * (1.0 + tilt * x)).collect()
            }
            (4, Some(last)) => {
                let factor: f64 = rng.random_range(0.1..10.0);
                last.iter().map(|g| factor * g).collect()
            }
            _ => {
                let scale = 10.0_f64.powf(rng.random_range(-decades..=decades));
                let sparse = rng.random_bool(0.5);
                let entries = normal(rng, n).into_iter();
                entries
                    .map(|g| if sparse && rng.random_bool(0.5) { 0.0 } else { scale * g })
                    .collect()
            }
        };
        rows.push(row);
    }
    for row in rows {
        let full = rng.random_bool(0.5);
        let entries = row.iter().copied().enumerate().filter(|(_, g)| full || *g != 0.0);
        scene.push(&entries.collect::<Vec<_>>());
    }
    scene
}

fn law(rng: &mut Pcg64, contacts: usize) -> ImpactLaw {
    let mut restitution = || match rng.random_range(0..4) {
        0 => Restitution::ELASTIC,
        1 => Restitution::PLASTIC,
        2 => Restitution::Uniform(rng.random_range(0.0..1.0)),
        _ => Restitution::PerContact((0..contacts).map(|_| rng.random_range(0.0..=1.0)).collect()),
    };
    let restitution = restitution();
    match rng.random_range(0..5) {
        0 => ImpactLaw::Reflection,
        1 => ImpactLaw::Published,
        2 => ImpactLaw::Sequential(restitution),
        3 => ImpactLaw::Newton(restitution),
        _ => ImpactLaw::Lcp(restitution),
    }
}

#[derive(Debug, Default)]
struct Tally {
    resolved: usize,
    idle: usize,
    endless: usize,
    energy: usize,
    island: usize,
    other: usize,
    worst_gain: f64,
}

#[test]
fn every_impact_is_resolved_rightly_or_refused_untouched() {
    let mut rng = rng(41);
    let mut tally = Tally::default();
    for trial in 0..dose() {
        let (n, contacts) = (rng.random_range(1..=6), rng.random_range(1..=7));
        let scene = scene(&mut rng, n, contacts);
        let law = law(&mut rng, contacts);
        let before = normal(&mut rng, n);
        let mut p = before.clone();
        let what = || format!("#{trial} {law:?} {scene:?} {before:?}");
        let all: Vec<usize> = (0..contacts).collect();
        let mut kernel = scene.kernel();
        kernel.max_rounds = Some(200);
        kernel.tolerance.speed = if trial % 2 == 0 { 0.0 } else { 1.0 };
        let answer = kernel.reflect(&law, &scene.metric, scene.rows(), &all, &mut p);
        let certificate = match answer {
            Ok(certificate) => certificate,
            Err(error) => {
                assert_eq!(p, before, "{error} moved the momentum: {}", what());
                match error {
                    ReflectError::Rounds { .. } => tally.endless += 1,
                    ReflectError::Energy { .. } => tally.energy += 1,
                    ReflectError::Island { .. } => tally.island += 1,
                    _ => tally.other += 1,
                }
                continue;
            }
        };
        if certificate.rounds == 0 {
            tally.idle += 1;
            assert_eq!(p, before);
        } else {
            tally.resolved += 1;
        }
        check(&scene, &law, (&before, &p), &kernel, &certificate, &mut tally, &what);
    }
    eprintln!("{tally:?}");
    assert!(tally.resolved > dose() / 3, "{tally:?}");
}

fn check(
    scene: &Scene,
    law: &ImpactLaw,
    (before, p): (&[f64], &[f64]),
    kernel: &Kernel,
    certificate: &Certificate,
    tally: &mut Tally,
    what: &impl Fn() -> String,
) {
    assert!(p.iter().all(|p| p.is_finite()), "{}", what());
    let impulses = kernel.impulses();
    let speeds = |p: &[f64]| {
        let mut v = vec![0.0; p.len()];
        scene.metric.apply(p, &mut v);
        v
    };
    let (start, end) = (speeds(before), speeds(p));
    // The largest speeds that the impact may have seen.
    let mut largest: Vec<f64> = start.iter().map(|v| v.abs() + kernel.tolerance.speed).collect();
    for (i, impulse) in impulses.iter().enumerate() {
        let (columns, values) = scene.rows().row(i);
        let mut push = vec![0.0; p.len()];
        scene.metric.add_applied(columns, values, &mut push);
        largest.iter_mut().zip(push).for_each(|(v, x)| *v += (impulse * x).abs());
    }
    for (i, rate) in scene.rates(p).into_iter().enumerate() {
        let (columns, values) = scene.rows().row(i);
        let scale: f64 = columns.iter().zip(values).map(|(&c, g)| g.abs() * largest[c]).sum();
        assert!(
            rate >= -1e-11 * scale,
            "contact {i} approaches at {rate:e} of {scale:e}: {}",
            what()
        );
    }
    // Momentum changes by the impulses, up to rounding of their sum.
    let force = scene.force(impulses);
    for k in 0..p.len() {
        let terms: f64 = (0..impulses.len())
            .flat_map(|i| {
                let (columns, values) = scene.rows().row(i);
                let hits = columns.iter().zip(values).filter(move |(c, _)| **c == k);
                hits.map(move |(_, g)| (g * impulses[i]).abs())
            })
            .sum();
        let rounding = 1e-13 * (1.0 + certificate.rounds as f64) * (terms + before[k].abs());
        assert!((p[k] - before[k] - force[k]).abs() <= rounding, "momentum {k}: {}", what());
    }
    // Energy as the certificate says, and as the law says.
    let change = scene.energy(p) - scene.energy(before);
    let size: f64 = before.iter().zip(&start).map(|(p, v)| (p * v).abs()).sum::<f64>()
        + p.iter().zip(&end).map(|(p, v)| (p * v).abs()).sum::<f64>();
    let said = certificate.energy_change;
    assert!((change - said).abs() <= 1e-12 * size, "energy {change:e}, said {said:e}: {}", what());
    let energy = scene.energy(before);
    let excess = match law {
        ImpactLaw::Reflection | ImpactLaw::Published => change.abs(),
        ImpactLaw::Sequential(_) | ImpactLaw::Newton(_) => change,
        ImpactLaw::Lcp(_) => 0.0,
    };
    tally.worst_gain = tally.worst_gain.max(excess / energy);
    assert!(excess <= 1e-8 * energy, "gained {excess:e} of {energy:e}: {}", what());
}
