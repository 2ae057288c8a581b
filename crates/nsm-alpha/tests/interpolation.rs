//! The intermediate gradient for any number of constraints, on random switches.

use nsm_alpha::{Interpolation, Switch};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

fn random(rng: &mut Pcg64, length: usize) -> Vec<f64> {
    (0..length).map(|_| rng.random_range(-1.0..1.0)).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// $A^\top A + \tfrac12 I$.
fn random_mass(rng: &mut Pcg64, n: usize) -> Vec<f64> {
    let a = random(rng, n * n);
    let mut m = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..n {
            m[i * n + j] = (0..n).map(|k| a[k * n + i] * a[k * n + j]).sum();
        }
        m[i * n + i] += 0.5;
    }
    m
}

/// Mixes the rows of an $m \times n$ matrix with a random well-conditioned matrix.
fn mix(rng: &mut Pcg64, m: usize, n: usize, rows: &[f64]) -> Vec<f64> {
    let mut weights = random(rng, m * m);
    for i in 0..m {
        weights[i * m + i] += if rng.random_range(0..2) == 0 { 2.5 } else { -2.5 };
    }
    let mut mixed = vec![0.0; m * n];
    for i in 0..m {
        for k in 0..m {
            for j in 0..n {
                mixed[i * n + j] += weights[i * m + k] * rows[k * n + j];
            }
        }
    }
    mixed
}

fn energy(n: usize, mass: &[f64], v: &[f64]) -> f64 {
    (0..n).map(|i| 0.5 * v[i] * dot(&mass[i * n..(i + 1) * n], v)).sum()
}

struct Case {
    n: usize,
    m: usize,
    mass: Vec<f64>,
    before: Vec<f64>,
    after: Vec<f64>,
    surface: Vec<f64>,
    velocity: Vec<f64>,
}

impl Case {
    fn new(rng: &mut Pcg64) -> Self {
        let n = rng.random_range(2..8_usize);
        let m = rng.random_range(1..n);
        let mass = random_mass(rng, n);
        let (before, after) = (random(rng, m * n), random(rng, m * n));
        let (surface, free) = (random(rng, n), random(rng, n));
        // Bring the velocity onto the constraints before: the impact with G⁻ in the role of G⁺.
        let mut law = Interpolation::new(n, m);
        law.impact(&Switch {
            mass: &mass,
            before: &before,
            after: &before,
            rates: &[],
            surface: &surface,
            surface_rate: 0.0,
            velocity: &free,
            interpolation: 1.0,
        })
        .unwrap();
        let velocity = law.velocity().to_vec();
        Self { n, m, mass, before, after, surface, velocity }
    }

    fn switch(&self, interpolation: f64) -> Switch<'_> {
        Switch {
            mass: &self.mass,
            before: &self.before,
            after: &self.after,
            rates: &[],
            surface: &self.surface,
            surface_rate: 0.0,
            velocity: &self.velocity,
            interpolation,
        }
    }
}

#[test]
fn the_bisector_conserves_energy_and_every_impact_enforces_the_constraints() {
    let mut rng = Pcg64::seed_from_u64(1);
    let mut worst = 0.0_f64;
    for _ in 0..1000 {
        let case = Case::new(&mut rng);
        let Case { n, m, mass, after, velocity, .. } = &case;
        let mut law = Interpolation::new(*n, *m);
        let e0 = energy(*n, mass, velocity);
        for e in [0.5, 0.8, 1.0] {
            let change = law.impact(&case.switch(e)).unwrap();
            let v = law.velocity().to_vec();
            let e1 = energy(*n, mass, &v);
            let scale = e0.max(e1);
            assert!((e1 - e0 - change).abs() <= 1e-11 * scale, "(42) at {e}: {change} {}", e1 - e0);
            for i in 0..*m {
                assert!(dot(&after[i * n..(i + 1) * n], &v).abs() < 1e-9 * scale.sqrt().max(1.0));
            }
            if e == 0.5 {
                worst = worst.max((change / e0).abs()).max(((e1 - e0) / scale).abs());
            }
            if e == 1.0 {
                assert!(change <= 1e-12 * e0, "(44)");
            }
        }
    }
    assert!(worst < 1e-11, "{worst}");
}

#[test]
fn mixing_scaling_and_ordering_the_rows_changes_nothing() {
    let mut rng = Pcg64::seed_from_u64(2);
    for _ in 0..1000 {
        let case = Case::new(&mut rng);
        let (n, m) = (case.n, case.m);
        let before = mix(&mut rng, m, n, &case.before);
        let after = mix(&mut rng, m, n, &case.after);
        let mut law = Interpolation::new(n, m);
        for e in [0.5, 0.7, 1.0] {
            let change = law.impact(&case.switch(e)).unwrap();
            let v = law.velocity().to_vec();
            let mixed = Switch { before: &before, after: &after, ..case.switch(e) };
            let again = law.impact(&mixed).unwrap();
            let size = 1.0 + v.iter().fold(0.0_f64, |a, x| a.max(x.abs()));
            // Pairs near a right angle amplify rounding: the impulse is divided by cos θ + s.
            for (a, b) in v.iter().zip(law.velocity()) {
                assert!((a - b).abs() < 1e-8 * size * size, "{e}: {a} {b}");
            }
            assert!((change - again).abs() < 1e-8 * size * size, "{e}: {change} {again}");
        }
    }
}

#[test]
fn one_constraint_is_the_formula_of_the_paper() {
    let mut rng = Pcg64::seed_from_u64(3);
    for _ in 0..200 {
        let n = rng.random_range(2..6_usize);
        let mass: Vec<f64> =
            (0..n * n).map(|k| if k % (n + 1) == 0 { 1.0 + k as f64 } else { 0.0 }).collect();
        let norm = |g: &[f64]| (0..n).map(|i| g[i] * g[i] / mass[i * n + i]).sum::<f64>().sqrt();
        let (before, after) = (random(&mut rng, n), random(&mut rng, n));
        let (surface, velocity) = (random(&mut rng, n), random(&mut rng, n));
        let e = 0.3;
        let mut law = Interpolation::new(n, 1);
        let switch = Switch {
            mass: &mass,
            before: &before,
            after: &after,
            rates: &[],
            surface: &surface,
            surface_rate: 0.0,
            velocity: &velocity,
            interpolation: e,
        };
        law.impact(&switch).unwrap();
        // (45) with one of the two signs, up to an overall factor.
        let fits = [1.0, -1.0].iter().any(|s| {
            let g: Vec<f64> = (0..n)
                .map(|i| (1.0 - e) / norm(&before) * before[i] + s * e / norm(&after) * after[i])
                .collect();
            let found = law.gradient();
            let k = (0..n).max_by(|&a, &b| g[a].abs().total_cmp(&g[b].abs())).unwrap();
            let factor = found[k] / g[k];
            (0..n).all(|i| (found[i] - factor * g[i]).abs() < 1e-12)
        });
        assert!(fits);
    }
}

#[test]
fn constraints_without_a_partner_are_enforced_plastically() {
    // Free flight before, one constraint after: only w remains, whatever the interpolation.
    let switch = Switch {
        mass: &[2.0, 0.0, 0.0, 1.0],
        before: &[],
        after: &[0.0, 3.0],
        rates: &[-6.0],
        surface: &[0.0, -1.0],
        surface_rate: 0.0,
        velocity: &[1.0, 5.0],
        interpolation: 0.25,
    };
    let mut law = Interpolation::new(2, 1);
    let change = law.impact(&switch).unwrap();
    assert!((law.velocity()[0] - 1.0).abs() < 1e-15);
    assert!((law.velocity()[1] - 2.0).abs() < 1e-15, "3 v = 6, a moving constraint");
    assert!((change - (2.0 - 12.5)).abs() < 1e-14);
}
