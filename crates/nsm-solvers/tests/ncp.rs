//! Semismooth Newton against the complementarity conditions themselves.

mod common;

use common::{distance, max_abs, normal, rng};
use nsm_solvers::kkt::KktPattern;
use nsm_solvers::ncp::{
    Complementarity, Derivatives, NcpError, NcpOptions, NcpReport, SemismoothNewton,
};
use rand::RngExt;
use rand_pcg::Pcg64Mcg;

/// `A x - Gᵀλ = f`, gaps `G' x + b`: a linear problem with dense rows and unrelated G, G'.
struct Linear {
    n: usize,
    m: usize,
    a: Vec<f64>,
    g: Vec<f64>,
    g_lower: Vec<f64>,
    f: Vec<f64>,
    b: Vec<f64>,
}

impl Linear {
    fn random(rng: &mut Pcg64Mcg, n: usize, m: usize, asymmetry: f64) -> Self {
        let g = normal(rng, m * n);
        Self {
            n,
            m,
            a: (0..n).map(|_| rng.random_range(0.5..2.0)).collect(),
            g_lower: g.iter().map(|v| v + rng.random_range(-1.0..=1.0) * asymmetry).collect(),
            g,
            f: normal(rng, n),
            b: normal(rng, m),
        }
    }

    fn gradients(&self) -> Vec<(usize, usize)> {
        (0..self.m).flat_map(|i| (0..self.n).map(move |k| (i, k))).collect()
    }

    fn solve(
        &mut self,
        equalities: usize,
        x: &mut [f64],
        λ: &mut [f64],
    ) -> Result<NcpReport, NcpError> {
        let gradients = self.gradients();
        let pattern = KktPattern {
            unknowns: self.n,
            rows: self.m,
            block: &[],
            gradients: &gradients,
            symmetric: false,
        };
        let mut solver = SemismoothNewton::new(&pattern, equalities, NcpOptions::default())?;
        solver.solve(self, x, λ)
    }

    fn check(&mut self, equalities: usize, x: &[f64], λ: &[f64], tolerance: f64) {
        let (mut force, mut gap) = (vec![0.0; self.n], vec![0.0; self.m]);
        self.residual(x, λ, &mut force, &mut gap);
        let scale = 1.0 + max_abs(x).max(max_abs(λ));
        assert!(max_abs(&force) < tolerance * scale, "force {:e}", max_abs(&force));
        for i in 0..self.m {
            if i < equalities {
                assert!(gap[i].abs() < tolerance * scale);
            } else {
                assert!(
                    λ[i] >= 0.0 && gap[i] > -tolerance * scale,
                    "row {i}: {:e} {:e}",
                    λ[i],
                    gap[i]
                );
                assert!(λ[i].min(gap[i]) < tolerance * scale, "row {i}: {:e} {:e}", λ[i], gap[i]);
            }
        }
    }
}

impl Complementarity for Linear {
    fn residual(&mut self, x: &[f64], λ: &[f64], force: &mut [f64], gap: &mut [f64]) {
        for k in 0..self.n {
            force[k] = self.a[k] * x[k] - self.f[k];
        }
        gap.copy_from_slice(&self.b);
        for i in 0..self.m {
            for k in 0..self.n {
                force[k] -= self.g[i * self.n + k] * λ[i];
                gap[i] += self.g_lower[i * self.n + k] * x[k];
            }
        }
    }

    fn derivatives(&mut self, _: &[f64], _: &[f64], d: &mut Derivatives) {
        d.block.copy_from_slice(&self.a);
        d.forces.copy_from_slice(&self.g);
        d.gaps.copy_from_slice(&self.g_lower);
    }
}

#[test]
fn linear_problems_of_every_size() {
    let mut rng = rng(61);
    let mut iterations = 0;
    for n in [1_usize, 2, 3, 5, 10, 30] {
        for m in [1, n.min(2), n.div_ceil(2), n] {
            for _ in 0..40 {
                // With as many rows as unknowns a perturbed Schur complement need not be definite.
                let asymmetry = if 2 * m <= n { 0.02 } else { 0.0 };
                let mut problem = Linear::random(&mut rng, n, m, asymmetry);
                let (mut x, mut λ) = (normal(&mut rng, n), vec![0.0; m]);
                let report = problem.solve(0, &mut x, &mut λ).unwrap();
                problem.check(0, &x, &λ, 1e-10);
                iterations = iterations.max(report.iterations);
            }
        }
    }
    assert!(iterations <= 20, "{iterations}");
}

#[test]
fn equations_stand_beside_inequalities() {
    let mut rng = rng(62);
    for _ in 0..300 {
        let n = rng.random_range(2..12);
        let m = rng.random_range(1..n);
        let equalities = rng.random_range(0..=m);
        let mut problem = Linear::random(&mut rng, n, m, 0.02);
        let (mut x, mut λ) = (vec![0.0; n], vec![0.0; m]);
        problem.solve(equalities, &mut x, &mut λ).unwrap();
        problem.check(equalities, &x, &λ, 1e-9);
    }
}

#[test]
fn redundant_contacts_share_the_load() {
    let mut rng = rng(63);
    for _ in 0..200 {
        let (n, m) = (rng.random_range(2..8), rng.random_range(1..5));
        let mut problem = Linear::random(&mut rng, n, m, 0.0);
        // Every contact twice.
        problem.g.extend(problem.g.clone());
        problem.g_lower.extend(problem.g_lower.clone());
        problem.b.extend(problem.b.clone());
        problem.m = 2 * m;
        let (mut x, mut λ) = (vec![0.0; n], vec![0.0; 2 * m]);
        match problem.solve(0, &mut x, &mut λ) {
            Ok(report) => {
                problem.check(0, &x, &λ, 1e-9);
                if report.iterations > 0 {
                    assert!(distance(&λ[..m], &λ[m..]) < 1e-9 * (1.0 + max_abs(&λ)), "{λ:?}");
                }
            }
            // More contacts than unknowns can contradict each other.
            Err(error) => assert!(m > n, "{n} {m}: {error}"),
        }
    }
}

#[test]
fn row_scaling_does_not_change_the_path() {
    let mut rng = rng(64);
    for _ in 0..50 {
        let (n, m) = (6, 4);
        let mut problem = Linear::random(&mut rng, n, m, 0.05);
        let (mut x, mut λ) = (vec![0.0; n], vec![0.0; m]);
        let first = problem.solve(0, &mut x, &mut λ).unwrap();
        let scales: Vec<f64> = (0..m).map(|_| 2.0_f64.powi(rng.random_range(-20..20))).collect();
        for i in 0..m {
            for k in 0..n {
                problem.g[i * n + k] *= scales[i];
                problem.g_lower[i * n + k] *= scales[i];
            }
            problem.b[i] *= scales[i];
        }
        let (mut y, mut μ) = (vec![0.0; n], vec![0.0; m]);
        let second = problem.solve(0, &mut y, &mut μ).unwrap();
        assert_eq!(first.iterations, second.iterations);
        assert!(distance(&x, &y) < 1e-11 * (1.0 + max_abs(&x)));
    }
}

/// Two particles in a disc of radius r after one implicit step: nonlinear gaps r - |q|, force directions
/// frozen at the old position.
struct Disc {
    radius: f64,
    old: Vec<f64>,
    free: Vec<f64>,
}

impl Complementarity for Disc {
    fn residual(&mut self, q: &[f64], λ: &[f64], force: &mut [f64], gap: &mut [f64]) {
        for i in 0..2 {
            let r = self.old[2 * i].hypot(self.old[2 * i + 1]);
            for k in 2 * i..2 * i + 2 {
                force[k] = q[k] - self.free[k] + λ[i] * self.old[k] / r;
            }
            gap[i] = self.radius - q[2 * i].hypot(q[2 * i + 1]);
        }
    }

    fn derivatives(&mut self, q: &[f64], _: &[f64], d: &mut Derivatives) {
        d.block.fill(1.0);
        for i in 0..2 {
            let (r_old, r) =
                (self.old[2 * i].hypot(self.old[2 * i + 1]), q[2 * i].hypot(q[2 * i + 1]));
            for k in 2 * i..2 * i + 2 {
                d.forces[k] = -self.old[k] / r_old;
                d.gaps[k] = -q[k] / r;
            }
        }
    }
}

#[test]
fn curved_walls_with_frozen_force_directions() {
    let mut rng = rng(65);
    let gradients = [(0, 0), (0, 1), (1, 2), (1, 3)];
    let pattern =
        KktPattern { unknowns: 4, rows: 2, block: &[], gradients: &gradients, symmetric: false };
    let mut solver = SemismoothNewton::new(&pattern, 0, NcpOptions::default()).unwrap();
    let mut most = 0;
    for _ in 0..2000 {
        let mut old = vec![0.0; 4];
        for i in 0..2 {
            let angle: f64 = rng.random_range(0.0..6.3);
            (old[2 * i], old[2 * i + 1]) = (5.0 * angle.cos(), 5.0 * angle.sin());
        }
        let free: Vec<f64> = old.iter().map(|q| q + rng.random_range(-0.7..0.7)).collect();
        let mut problem = Disc { radius: 5.0, old: old.clone(), free };
        let (mut q, mut λ) = (old, [0.0; 2]);
        let report = solver.solve(&mut problem, &mut q, &mut λ).unwrap();
        most = most.max(report.iterations);
        let (mut force, mut gap) = ([0.0; 4], [0.0; 2]);
        problem.residual(&q, &λ, &mut force, &mut gap);
        assert!(max_abs(&force) < 1e-12);
        for i in 0..2 {
            assert!(λ[i] >= 0.0 && gap[i] > -1e-12 && λ[i].min(gap[i]) < 1e-12, "{λ:?} {gap:?}");
            assert_eq!(solver.active()[i], λ[i] > 0.0);
        }
    }
    assert!(most <= 8, "{most}");
}

/// Membrane over an obstacle: `-u'' h² = λ`, `u >= ψ`, on `n` points: sparse.
struct Membrane {
    n: usize,
}

impl Membrane {
    fn obstacle(&self, i: usize) -> f64 {
        let s = (i + 1) as f64 / (self.n + 1) as f64;
        0.3 - 4.0 * (s - 0.4).powi(2)
    }

    fn block(&self) -> Vec<(usize, usize)> {
        let n = self.n;
        (0..n).flat_map(|i| (i.saturating_sub(1)..(i + 2).min(n)).map(move |j| (i, j))).collect()
    }
}

impl Complementarity for Membrane {
    fn residual(&mut self, u: &[f64], λ: &[f64], force: &mut [f64], gap: &mut [f64]) {
        for i in 0..self.n {
            let left = if i > 0 { u[i - 1] } else { 0.0 };
            let right = if i + 1 < self.n { u[i + 1] } else { 0.0 };
            force[i] = 2.0 * u[i] - left - right - λ[i];
            gap[i] = u[i] - self.obstacle(i);
        }
    }

    fn derivatives(&mut self, _: &[f64], _: &[f64], d: &mut Derivatives) {
        for (v, (i, j)) in d.block.iter_mut().zip(self.block()) {
            *v = if i == j { 2.0 } else { -1.0 };
        }
        d.forces.fill(1.0);
        d.gaps.fill(1.0);
    }
}

#[test]
fn a_membrane_lies_on_its_obstacle() {
    for n in [10, 100, 400] {
        let mut problem = Membrane { n };
        let (block, gradients) = (problem.block(), (0..n).map(|i| (i, i)).collect::<Vec<_>>());
        let pattern = KktPattern {
            unknowns: n,
            rows: n,
            block: &block,
            gradients: &gradients,
            symmetric: false,
        };
        // The contact interval shrinks by a point or two per iteration.
        let options = NcpOptions { max_iterations: n, ..NcpOptions::default() };
        let mut solver = SemismoothNewton::new(&pattern, 0, options).unwrap();
        let (mut u, mut λ) = (vec![0.0; n], vec![0.0; n]);
        let report = solver.solve(&mut problem, &mut u, &mut λ).unwrap();
        assert!(report.residual < 1e-11, "{report:?}");
        // One interval of contact; straight lines to both ends.
        let contact: Vec<usize> = (0..n).filter(|&i| solver.active()[i]).collect();
        assert!(contact.windows(2).all(|w| w[1] == w[0] + 1));
        assert!(!contact.is_empty() && contact.len() < n / 2);
        assert!((0..n).all(|i| u[i] - problem.obstacle(i) > -1e-11 && λ[i] >= 0.0));
    }
}

#[test]
fn contradictions_are_errors_with_the_best_point() {
    // x >= 1 and -x >= 1.
    let mut problem = Linear {
        n: 1,
        m: 2,
        a: vec![1.0],
        g: vec![1.0, -1.0],
        g_lower: vec![1.0, -1.0],
        f: vec![0.0],
        b: vec![-1.0, -1.0],
    };
    let (mut x, mut λ) = ([5.0], [0.0; 2]);
    let error = problem.solve(0, &mut x, &mut λ).unwrap_err();
    assert!(
        matches!(
            error,
            NcpError::Stalled { .. } | NcpError::MaxIterations { .. } | NcpError::Linear { .. }
        ),
        "{error}"
    );
    assert!(x[0].is_finite() && x[0].abs() <= 5.0);
    // NaN at the guess; wrong sizes.
    problem.f[0] = f64::NAN;
    assert_eq!(problem.solve(0, &mut x, &mut λ), Err(NcpError::NotFinite));
    assert!(matches!(problem.solve(0, &mut [0.0; 2], &mut λ), Err(NcpError::Pattern(_))));
}

#[test]
fn a_box_stands_on_more_corners_than_it_needs() {
    let mut rng = rng(66);
    for _ in 0..500 {
        // Height, roll and pitch of a box on `m` feet around its centre; the load acts within them.
        let m = rng.random_range(3..9);
        let feet: Vec<(f64, f64)> = (0..m)
            .map(|i| {
                let angle = std::f64::consts::TAU * (f64::from(i) + rng.random_range(-0.2..0.2))
                    / f64::from(m);
                (angle.cos(), angle.sin())
            })
            .collect();
        let weights: Vec<f64> = feet.iter().map(|_| rng.random_range(0.0..1.0)).collect();
        let g: Vec<f64> = feet.iter().flat_map(|&(x, y)| [1.0, y, -x]).collect();
        let load: Vec<f64> = (0..3)
            .map(|k| -(0..feet.len()).map(|i| weights[i] * g[3 * i + k]).sum::<f64>())
            .collect();
        let mut problem = Linear {
            n: 3,
            m: feet.len(),
            a: vec![1.0, 0.2, 0.3],
            g_lower: g.clone(),
            g,
            f: load,
            b: vec![0.0; feet.len()],
        };
        let (mut x, mut λ) = (vec![0.1, 0.0, 0.0], vec![0.0; feet.len()]);
        problem.solve(0, &mut x, &mut λ).unwrap();
        problem.check(0, &x, &λ, 1e-10);
        assert!(max_abs(&x) < 1e-10, "it stands still: {x:?}");
    }
}
