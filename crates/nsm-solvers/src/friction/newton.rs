//! Semismooth Newton on the equations of Alart and Curnier.
//!
//! In the scaled problem, with $x = r_N - \rho u_N$, $y = r_T - \rho u_T$ and any $\rho > 0$:
//! $$ F_N = r_N - \max(x, 0), \qquad F_T = r_T - P_D(y), \quad D = \lbrace \lvert y \rvert \le \mu \max(x, 0) \rbrace . $$
//! $F = 0$ is Coulomb's law. Its generalised Jacobian is $A + B\\,W$ with blocks $A$, $B$ of each contact on its own; steps are searched along
//! lines that may rise above the last value but not above the last six, of a crowd above the last two dozen.
//!
//! Where a pile is nearly isostatic, steps go round in circles between two choices of what sticks, slips and parts. The equations for another
//! $\rho$ have the same solutions and other steps, and a compliance shortens steps: both are changed for as long as the residual does not fall.

use super::FrictionProblem;
use super::blocks::{BlockLu, product};
use super::bodies::{BodySystem, inverse};
use super::work::Work;

/// Bounds of the compliance that keeps steps of redundant contacts short: along the null space of $W$ they are the misfit over it. Newton's step
/// with it is one of a proximal iteration, so that it leads to the same solutions.
const COMPLIANCE: (f64, f64) = (1e-7, 1e-2);
/// Compliance as a share of the residual.
const SHARE: f64 = 0.1;
/// Values that a step may not rise above, for a few contacts and for more than so many of them, where few values make short steps that lead nowhere.
const MEMORY: (usize, usize) = (6, 24);
const CROWD: usize = 64;
/// Iterations without progress after which other equations are taken, and what they are in turn: $\rho$, and by how much more the compliance is.
const PATIENCE: usize = 8;
const EQUATIONS: [(f64, f64); 4] = [(1.0, 1.0), (3.0, 10.0), (0.3, 100.0), (10.0, 1000.0)];

/// Storage of the iteration.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    lu: BlockLu,
    bodies: BodySystem,
    f: Vec<f64>,
    step: Vec<f64>,
    start: Vec<f64>,
    /// $\partial F/\partial r$ and $\partial F/\partial u$ of each contact.
    slopes: Vec<[[[f64; 3]; 3]; 2]>,
}

impl Memory {
    fn resize(&mut self, m: usize) {
        for vector in [&mut self.f, &mut self.step, &mut self.start] {
            vector.clear();
            vector.resize(m, 0.0);
        }
    }
}

/// Iterations without progress after which a residual that is small enough is taken.
const STALLED: usize = 3;

/// Iterates from the present point until the residual is below the first bound, or below the second and no longer falls; the iterations made.
pub(super) fn iterate(
    problem: &FrictionProblem,
    work: &mut Work,
    memory: &mut Memory,
    (tolerance, enough): (f64, f64),
    iterations: usize,
) -> usize {
    let n = problem.len();
    let m = 3 * n;
    memory.resize(m);
    let (mut mark, mut since) = (f64::INFINITY, 0);
    let mut recent = [0.0_f64; MEMORY.1];
    let values = if n > CROWD { MEMORY.1 } else { MEMORY.0 };
    for iteration in 0..iterations {
        if work.measure(problem) <= tolerance {
            return iteration;
        }
        if work.residual <= 0.5 * mark {
            (mark, since) = (work.residual, iteration);
        } else if work.residual <= enough && iteration > since + STALLED {
            return iteration;
        }
        let (rho, more) = EQUATIONS[(iteration - since) / PATIENCE % EQUATIONS.len()];
        let value = equations(problem, rho, &work.r, &work.u, &mut memory.f);
        let defect = problem.residual(&work.r, &work.u);
        let compliance = (more * SHARE * defect).clamp(COMPLIANCE.0, COMPLIANCE.1);
        recent[iteration % values] = value;
        memory.slopes.clear();
        memory.slopes.extend((0..n).map(|i| {
            let (r, u) = (&work.r[3 * i..], &work.u[3 * i..]);
            let (a, b) = derivative(problem.friction[i], r, &[rho * u[0], rho * u[1], rho * u[2]]);
            [a, b.map(|row| row.map(|x| rho * x))]
        }));
        let Memory { lu, bodies, slopes, .. } = &mut *memory;
        let by_bodies = problem.bodies.pay(n)
            && bodies.factor(&problem.bodies, |i| {
                let [a, b] = slopes[i];
                let soft = compliance + problem.compliance;
                let own = |k: usize, l: usize| a[k][l] + soft * b[k][l];
                let c = std::array::from_fn(|k| std::array::from_fn(|l| own(k, l)));
                inverse(&c).map(|c| (c, b, [1.0; 3]))
            });
        let factored = by_bodies
            || lu.factor(problem, |i, j, w| {
                let [a, b] = &slopes[i];
                let mut block = product(b, w);
                if i == j {
                    for (k, x) in block.iter_mut().enumerate() {
                        *x += a[k / 3][k % 3] + compliance * b[k / 3][k % 3];
                    }
                }
                block
            });
        memory.step.iter_mut().zip(&memory.f).for_each(|(s, f)| *s = -f);
        let solved = if by_bodies {
            memory.bodies.solve(&problem.bodies, &mut memory.step)
        } else {
            factored && memory.lu.solve(&mut memory.step)
        };
        if !solved {
            return iteration;
        }
        let bar = recent.iter().take(iteration + 1).fold(0.0_f64, |a, x| a.max(*x));
        memory.start.copy_from_slice(&work.r);
        let Memory { start, step, f, .. } = &mut *memory;
        let mut length = 1.0;
        let mut accepted = false;
        for _ in 0..12 {
            for (r, (s, d)) in work.r.iter_mut().zip(start.iter().zip(step.iter())) {
                *r = s + length * d;
            }
            problem.velocity(&work.r, &mut work.u);
            let trial = equations(problem, rho, &work.r, &work.u, f);
            if trial.is_finite() && trial <= bar * (1.0 - 1e-4 * length) {
                accepted = true;
                break;
            }
            length *= 0.5;
        }
        if !accepted {
            for (r, (s, d)) in work.r.iter_mut().zip(start.iter().zip(step.iter())) {
                *r = s + d;
            }
        }
        if work.r.iter().any(|r| !r.is_finite()) {
            work.return_to_best();
            return iteration;
        }
    }
    work.measure(problem);
    iterations
}

/// Writes $F$ and returns $|F|^2$.
fn equations(problem: &FrictionProblem, rho: f64, r: &[f64], u: &[f64], f: &mut [f64]) -> f64 {
    for (i, mu) in problem.friction.iter().enumerate() {
        let k = 3 * i;
        let x = (r[k] - rho * u[k]).max(0.0);
        let y = [r[k + 1] - rho * u[k + 1], r[k + 2] - rho * u[k + 2]];
        let (length, radius) = (y[0].hypot(y[1]), mu * x);
        let scale = if length <= radius { 1.0 } else { radius / length };
        f[k] = r[k] - x;
        f[k + 1] = r[k + 1] - scale * y[0];
        f[k + 2] = r[k + 2] - scale * y[1];
    }
    f.iter().map(|x| x * x).sum()
}

/// $\partial F/\partial r$ and $\partial F/\partial(\rho u)$ of one contact, from $r$ and $\rho u$.
fn derivative(mu: f64, r: &[f64], u: &[f64]) -> ([[f64; 3]; 3], [[f64; 3]; 3]) {
    let (mut a, mut b) = ([[0.0; 3]; 3], [[0.0; 3]; 3]);
    let x = r[0] - u[0];
    if x > 0.0 {
        b[0][0] = 1.0;
    } else {
        a[0][0] = 1.0;
    }
    let y = [r[1] - u[1], r[2] - u[2]];
    let (length, radius) = (y[0].hypot(y[1]), mu * x.max(0.0));
    if length <= radius && radius > 0.0 {
        b[1][1] = 1.0;
        b[2][2] = 1.0;
    } else if radius == 0.0 {
        a[1][1] = 1.0;
        a[2][2] = 1.0;
    } else {
        let e = [y[0] / length, y[1] / length];
        for i in 0..2 {
            for j in 0..2 {
                let unit = if i == j { 1.0 } else { 0.0 };
                let turn = radius / length * (unit - e[i] * e[j]);
                a[1 + i][1 + j] = unit - turn;
                b[1 + i][1 + j] = turn;
            }
            a[1 + i][0] = -mu * e[i];
            b[1 + i][0] = mu * e[i];
        }
    }
    (a, b)
}
