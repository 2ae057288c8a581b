//! Alternating directions: $(W + \rho I)$ is factorised once, the cones are projected onto, and the term of De Saxcé follows the dual.

use super::FrictionProblem;
use super::blocks::BlockLu;
use super::cone::{project, triple};
use super::work::Work;

/// Over-relaxation.
const RELAXATION: f64 = 1.6;
/// Iterations between two adjustments of $\rho$.
const BALANCE: usize = 40;

/// Iterates; the iterations made.
pub(super) fn iterate(
    problem: &FrictionProblem,
    work: &mut Work,
    tolerance: f64,
    iterations: usize,
) -> usize {
    let n = problem.len();
    let m = 3 * n;
    let mut rho = 0.1;
    let mut lu = BlockLu::default();
    let mut z = work.r.clone();
    // The scaled dual: û = −ρ w.
    let mut w: Vec<f64> = work.u.iter().map(|u| -u / rho).collect();
    let (mut x, mut before) = (vec![0.0; m], vec![0.0; m]);
    let mut fresh = false;
    for iteration in 0..iterations {
        if !fresh {
            let factored = lu.factor(problem, |i, j, w| {
                let mut block = *w;
                if i == j {
                    for k in [0, 4, 8] {
                        block[k] += rho;
                    }
                }
                block
            });
            if !factored {
                return iteration;
            }
            fresh = true;
        }
        for i in 0..n {
            let slip = rho * w[3 * i + 1].hypot(w[3 * i + 2]);
            for a in 0..3 {
                let k = 3 * i + a;
                let s = if a == 0 { problem.friction[i] * slip } else { 0.0 };
                x[k] = rho * (z[k] - w[k]) - problem.q[k] - s;
            }
        }
        if !lu.solve(&mut x) {
            return iteration;
        }
        before.copy_from_slice(&z);
        let (mut primal, mut dual) = (0.0_f64, 0.0_f64);
        for i in 0..n {
            let relaxed: [f64; 3] = std::array::from_fn(|a| {
                let k = 3 * i + a;
                RELAXATION * x[k] + (1.0 - RELAXATION) * before[k] + w[k]
            });
            let point = project(relaxed, problem.friction[i]);
            for a in 0..3 {
                let k = 3 * i + a;
                z[k] = point[a];
                w[k] = relaxed[a] - point[a];
                primal = primal.max((x[k] - z[k]).abs());
                dual = dual.max(rho * (z[k] - before[k]).abs());
            }
            debug_assert!(triple(&z, i) == point);
        }
        if iteration % 10 == 9 || iteration + 1 == iterations {
            work.r.copy_from_slice(&z);
            if work.measure(problem) <= tolerance {
                return iteration + 1;
            }
        }
        if iteration % BALANCE == BALANCE - 1 && dual > 0.0 && primal > 0.0 {
            let ratio = (primal / dual).sqrt().clamp(0.1, 10.0);
            if !(0.5..=2.0).contains(&ratio) {
                for w in &mut w {
                    *w /= ratio;
                }
                rho *= ratio;
                fresh = false;
            }
        }
    }
    iterations
}
