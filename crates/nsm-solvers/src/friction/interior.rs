//! Interior point with the term of De Saxcé linearised.
//!
//! With $x = (\mu r_N, r_T)$ and $y = (u_N/\mu + |u_T|, u_T)$, both in the second-order cone $\mathcal K$, Coulomb's law is
//! $$ y = Mx + c + e_1 |y_T|, \qquad \mathcal K \ni x \perp y \in \mathcal K . $$
//! Newton's method takes $|y_T|$ along: with $H = I - e_1 (0, y_T^\top/|y_T|)$ and the scaling $G$ of Nesterov and Todd
//! ($Gx = G^{-1}y = \lambda$) every step solves $(M + H G^2)\\,dx = R + H G\\,\rho$, which is unsymmetric. Without that term, as a fixed point on
//! $|y_T|$, far fewer problems are solved. It stalls some digits before the end: Newton's method finishes.

mod algebra;

use super::FrictionProblem;
use super::blocks::BlockLu;
use super::bodies::{BodySystem, inverse};
use super::work::Work;
use algebra::{Scaling, determinant, jordan, jordan_divide, longest};

type Three = [f64; 3];

/// Storage of the iteration.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    lu: BlockLu,
    bodies: BodySystem,
    c: Vec<f64>,
    x: Vec<f64>,
    y: Vec<f64>,
    dx: Vec<f64>,
    dy: Vec<f64>,
    rhs: Vec<f64>,
    residual: Vec<f64>,
    defect: Vec<f64>,
    scalings: Vec<Scaling>,
    own: Vec<[Three; 3]>,
    targets: Vec<Three>,
    corrected: Vec<Three>,
}

/// What the system for bodies has more on its diagonal, and how often its answers are bettered by their defect in the system without it. A body
/// is held by contacts as stiff as they are far inside their cone: without a bound on that, what moves it freely is lost in rounding.
const REGULAR: f64 = 1e-7;
const BETTERED: usize = 2;
/// Share of the mean product that $\sqrt{\det x \det y}$ of every contact keeps, and how often steps are shortened for that: near the boundary on
/// one side alone the system of the next step is all but singular.
const CENTRAL: f64 = 0.1;
const SHORTER: usize = 30;
/// Iterations in which the mean product has not been halved, after which in a pile it will not be.
const IN_VAIN: usize = 6;

/// Iterates; the iterations made. A contact without friction keeps its normal; its tangents stand apart, at zero.
pub(super) fn iterate(
    problem: &FrictionProblem,
    work: &mut Work,
    memory: &mut Memory,
    tolerance: f64,
    iterations: usize,
) -> usize {
    let n = problem.len();
    let m = 3 * n;
    let scales = Scales { friction: &problem.friction };
    memory.start(problem, work, &scales);
    let size = memory.c.iter().fold(1e-12_f64, |a, x| a.max(x.abs()));
    let mut mark = (f64::INFINITY, 0);
    let in_vain = if problem.bodies.pay(n) { IN_VAIN } else { iterations };
    for iteration in 0..iterations {
        for (k, r) in work.r.iter_mut().enumerate() {
            *r = memory.x[k] * scales.of(k);
        }
        if work.measure(problem) <= tolerance {
            return iteration;
        }
        let gap = mean_product(&memory.x, &memory.y);
        if gap.is_nan() || gap <= 1e-22 * size * size || iteration > mark.1 + in_vain {
            return iteration;
        }
        if gap < 0.5 * mark.0 {
            mark = (gap, iteration);
        }
        let Some(by_bodies) = memory.linearise(problem, &scales) else { return iteration };
        // Predictor, then corrector with its second-order term.
        let mut centre = 0.0;
        memory.corrected.clear();
        memory.corrected.resize(n, [0.0; 3]);
        for pass in 0..2 {
            memory.aim(pass == 1, centre);
            if !memory.direction(problem, &scales, by_bodies) {
                return iteration;
            }
            let Memory { x, y, dx, dy, scalings, targets, corrected, .. } = &mut *memory;
            for i in 0..n {
                let s = &scalings[i];
                let scaled = s.apply(three(dx, i));
                let d = s.apply(std::array::from_fn(|a| targets[i][a] - scaled[a]));
                dy[3 * i..3 * i + 3].copy_from_slice(&d);
                corrected[i] = jordan(scaled, s.unapply(d));
            }
            if pass == 0 {
                let length = longest(x, dx).min(longest(y, dy)).min(1.0);
                let ahead = |z: &[f64], d: &[f64], k: usize| z[k] + length * d[k];
                let after: f64 = (0..m).map(|k| ahead(x, dx, k) * ahead(y, dy, k)).sum();
                centre = (after / n as f64 / gap).max(0.0).powi(3).min(1.0) * gap;
            }
        }
        let Memory { x, y, dx, dy, .. } = &mut *memory;
        let mut length = (0.995 * longest(x, dx).min(longest(y, dy))).min(1.0);
        for _ in 0..SHORTER {
            if is_central((x, dx), (y, dy), length) {
                break;
            }
            length *= 0.8;
        }
        for k in 0..m {
            x[k] += length * dx[k];
            y[k] += length * dy[k];
        }
        if x.iter().chain(&*y).any(|z| !z.is_finite()) || length < 1e-10 {
            return iteration;
        }
    }
    for (k, r) in work.r.iter_mut().enumerate() {
        *r = memory.x[k] * scales.of(k);
    }
    work.measure(problem);
    iterations
}

/// $S$ with $r = Sx$: tangents that stand apart have zero, and a unit matrix of their own.
struct Scales<'p> {
    friction: &'p [f64],
}

impl Scales<'_> {
    fn of(&self, k: usize) -> f64 {
        let mu = self.friction[k / 3];
        match (k % 3, mu == 0.0) {
            (0, false) => 1.0 / mu,
            (0, true) | (_, false) => 1.0,
            (_, true) => 0.0,
        }
    }

    /// Of contact `i`.
    fn three(&self, i: usize) -> Three {
        std::array::from_fn(|a| self.of(3 * i + a))
    }

    /// Adds row $i$ of $Mx$.
    fn add_row(&self, problem: &FrictionProblem, i: usize, x: &[f64], out: &mut [f64]) {
        let mut sum = [0.0; 3];
        for k in problem.starts[i]..problem.starts[i + 1] {
            let (w, j) = (&problem.blocks[k], problem.columns[k]);
            let s = self.three(j);
            let r: Three = std::array::from_fn(|a| s[a] * x[3 * j + a]);
            for a in 0..3 {
                sum[a] += w[3 * a] * r[0] + w[3 * a + 1] * r[1] + w[3 * a + 2] * r[2];
            }
        }
        let s = self.three(i);
        for a in 0..3 {
            out[a] += if s[a] == 0.0 { x[3 * i + a] } else { s[a] * sum[a] };
        }
    }
}

impl Memory {
    /// Well inside both cones, near the point given.
    fn start(&mut self, problem: &FrictionProblem, work: &Work, scales: &Scales<'_>) {
        let m = 3 * problem.len();
        self.c.clear();
        self.c.extend((0..m).map(|k| scales.of(k) * problem.q[k]));
        let size = self.c.iter().fold(1e-12_f64, |a, x| a.max(x.abs()));
        for vector in [&mut self.x, &mut self.y, &mut self.dx, &mut self.dy, &mut self.rhs] {
            vector.clear();
            vector.resize(m, 0.0);
        }
        for k in 0..m {
            let factor = scales.of(k);
            self.x[k] = if factor > 0.0 { work.r[k] / factor } else { 0.0 };
            self.y[k] = work.u[k] * factor;
        }
        for z in [&mut self.x, &mut self.y] {
            for z in z.chunks_exact_mut(3) {
                let length = z[1].hypot(z[2]);
                z[0] = z[0].max(length + 0.3 * size).max(1.1 * length);
            }
        }
    }

    /// Takes residual and scalings of the iterate and factorises; whether for bodies, or nothing if that failed.
    fn linearise(&mut self, problem: &FrictionProblem, scales: &Scales<'_>) -> Option<bool> {
        let n = problem.len();
        let Self { lu, bodies, c, x, y, residual, scalings, own, .. } = self;
        residual.clear();
        scalings.clear();
        own.clear();
        for i in 0..n {
            let (x_i, y_i) = (three(x, i), three(y, i));
            let mut row = [0.0; 3];
            scales.add_row(problem, i, x, &mut row);
            row[0] += y_i[1].hypot(y_i[2]);
            residual.extend((0..3).map(|a| y_i[a] - c[3 * i + a] - row[a]));
            scalings.push(Scaling::new(x_i, y_i));
            // $HG^2$.
            let (mut square, slopes) = (scalings[i].square(), slip_slope(y_i));
            square[0] = std::array::from_fn(|b| {
                square[0][b] - slopes[1] * square[1][b] - slopes[2] * square[2][b]
            });
            own.push(square);
        }
        let by_bodies = problem.bodies.pay(n)
            && bodies.factor(&problem.bodies, |i| {
                let (s, mut c, mut b) = (scales.three(i), own[i], [[0.0; 3]; 3]);
                for a in 0..3 {
                    b[a][a] = s[a];
                    let apart = if s[a] == 0.0 { 1.0 } else { 0.0 };
                    c[a][a] += REGULAR + problem.compliance * s[a] * s[a] + apart;
                }
                inverse(&c).map(|c| (c, b, s))
            });
        if by_bodies {
            return Some(true);
        }
        let factored = lu.factor(problem, |i, j, w| {
            let (left, right) = (scales.three(i), scales.three(j));
            std::array::from_fn(|k| {
                let (a, b) = (k / 3, k % 3);
                let apart = if i == j && a == b && left[a] == 0.0 { 1.0 } else { 0.0 };
                let own = if i == j { own[i][a][b] } else { 0.0 };
                left[a] * w[k] * right[b] + apart + own
            })
        });
        factored.then_some(false)
    }

    /// What the products of the next step are to be, and the right-hand side for it.
    fn aim(&mut self, corrects: bool, centre: f64) {
        self.targets.clear();
        for (i, s) in self.scalings.iter().enumerate() {
            let mut t = s.lambda.map(|l| -l);
            if corrects {
                let mut e = self.corrected[i].map(|x| -x);
                e[0] += centre;
                let extra = jordan_divide(s.lambda, e);
                t = std::array::from_fn(|a| t[a] + extra[a]);
            }
            self.targets.push(t);
            let g = s.apply(t);
            let slopes = slip_slope(three(&self.y, i));
            for a in 0..3 {
                let turned = if a == 0 { slopes[1] * g[1] + slopes[2] * g[2] } else { 0.0 };
                self.rhs[3 * i + a] = self.residual[3 * i + a] + g[a] - turned;
            }
        }
    }

    /// Solves for $dx$; whether that went well.
    fn direction(
        &mut self,
        problem: &FrictionProblem,
        scales: &Scales<'_>,
        by_bodies: bool,
    ) -> bool {
        let Self { lu, bodies, dx, rhs, defect, own, .. } = self;
        dx.copy_from_slice(rhs);
        if !by_bodies {
            return lu.solve(dx);
        }
        if !bodies.solve(&problem.bodies, dx) {
            return false;
        }
        for _ in 0..BETTERED {
            defect.clear();
            for i in 0..problem.len() {
                let (mut row, d) = ([0.0; 3], three(dx, i));
                scales.add_row(problem, i, dx, &mut row);
                defect.extend((0..3).map(|a| {
                    let own: f64 = (0..3).map(|b| own[i][a][b] * d[b]).sum();
                    rhs[3 * i + a] - row[a] - own
                }));
            }
            if !bodies.solve(&problem.bodies, defect) {
                return false;
            }
            dx.iter_mut().zip(&*defect).for_each(|(x, d)| *x += d);
        }
        true
    }
}

/// Whether a step of this length leaves every contact well inside both cones, for its product.
fn is_central((x, dx): (&[f64], &[f64]), (y, dy): (&[f64], &[f64]), length: f64) -> bool {
    let n = x.len() / 3;
    let ahead = |z: &[f64], d: &[f64], i: usize| -> Three {
        std::array::from_fn(|a| z[3 * i + a] + length * d[3 * i + a])
    };
    let along = |i: usize| -> f64 {
        let (p, q) = (ahead(x, dx, i), ahead(y, dy, i));
        (0..3).map(|a| p[a] * q[a]).sum()
    };
    let least = CENTRAL * (0..n).map(along).sum::<f64>() / n as f64;
    (0..n).all(|i| {
        let both = determinant(ahead(x, dx, i)) * determinant(ahead(y, dy, i));
        both.max(0.0).sqrt() >= least
    })
}

fn mean_product(x: &[f64], y: &[f64]) -> f64 {
    3.0 * x.iter().zip(y).map(|(a, b)| a * b).sum::<f64>() / x.len() as f64
}

fn three(z: &[f64], i: usize) -> Three {
    [z[3 * i], z[3 * i + 1], z[3 * i + 2]]
}

/// $(0, y_T/|y_T|)$.
fn slip_slope(y: Three) -> Three {
    let length = y[1].hypot(y[2]);
    if length > 0.0 { [0.0, y[1] / length, y[2] / length] } else { [0.0; 3] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::friction::{BodyRows, Delassus};

    fn cross(a: Three, b: Three) -> Three {
        std::array::from_fn(|i| a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3])
    }

    /// Rows of $G$ of a ball of mass one and radius one half that is pushed by `sign` times the normal at its surface.
    fn ball(axis: usize, sign: f64) -> [f64; 18] {
        let unit = |k: usize| -> Three { std::array::from_fn(|a| f64::from(u8::from(a == k % 3))) };
        let arm = unit(axis).map(|x| -0.5 * sign * x);
        let mut rows = [0.0; 18];
        for a in 0..3 {
            let direction = unit(axis + a);
            let turn = cross(arm, direction).map(|x| x / 0.1_f64.sqrt());
            for c in 0..3 {
                rows[6 * a + c] = sign * direction[c];
                rows[6 * a + 3 + c] = sign * turn[c];
            }
        }
        rows
    }

    /// Balls in a lattice on a floor, each with a velocity of its own; with the rows that tell the bodies, or without.
    fn lattice(side: usize, seed: u64, tells: bool) -> FrictionProblem {
        let mut seed = seed;
        let mut number = || {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (seed >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
        };
        let at = |i: usize, j: usize, k: usize| i + side * (j + side * k);
        let mut rows: Vec<[Option<BodyRows>; 2]> = Vec::new();
        for b in 0..side * side * side {
            let place = [b % side, b / side % side, b / side / side];
            let [i, j, k] = place;
            let below = [
                (i > 0).then(|| at(i - 1, j, k)),
                (j > 0).then(|| at(i, j - 1, k)),
                (k > 0).then(|| at(i, j, k - 1)),
            ];
            for (axis, below) in below.into_iter().enumerate() {
                if axis == 2 || below.is_some() {
                    let lower = below.map(|a| (a, ball(axis, -1.0)));
                    rows.push([lower, Some((b, ball(axis, 1.0)))]);
                }
            }
        }
        let v: Vec<f64> = (0..6 * side * side * side)
            .map(|c| 0.1 * number() - if c % 6 == 2 { 1.0 } else { 0.0 })
            .collect();
        let mut q = Vec::new();
        for own in &rows {
            for a in 0..3 {
                let of =
                    |(b, g): &BodyRows| (0..6).map(|c| g[6 * a + c] * v[6 * b + c]).sum::<f64>();
                q.push(own.iter().flatten().map(of).sum());
            }
        }
        let mut w = Delassus::default();
        w.clear();
        for first in &rows {
            if tells {
                w.push_factors(*first);
            }
            for (j, second) in rows.iter().enumerate() {
                let (mut block, mut shared) = ([0.0; 9], false);
                for (a, g) in first.iter().flatten() {
                    for (_, f) in second.iter().flatten().filter(|s| s.0 == *a) {
                        shared = true;
                        for (k, x) in block.iter_mut().enumerate() {
                            let of = |c: usize| g[6 * (k / 3) + c] * f[6 * (k % 3) + c];
                            *x += (0..6).map(of).sum::<f64>();
                        }
                    }
                }
                if shared {
                    w.push(j, block);
                }
            }
            w.end_row();
        }
        let chosen: Vec<usize> = (0..rows.len()).collect();
        let mut problem = FrictionProblem::default();
        problem
            .assemble(&w, &chosen, &q, &vec![0.3; rows.len()])
            .expect("the lattice is a problem");
        problem
    }

    #[test]
    fn solved_for_bodies_it_comes_as_far_as_solved_for_contacts() {
        for seed in 1..7 {
            let [bodies, contacts] = [true, false].map(|tells| {
                let problem = lattice(5, seed, tells);
                assert_eq!(problem.bodies.pay(problem.len()), tells);
                let mut work = Work::new(vec![0.0; 3 * problem.len()]);
                work.measure(&problem);
                let _ = iterate(&problem, &mut work, &mut Memory::default(), 1e-8, 60);
                work.residual
            });
            // Without a bound on stiffness and without bettering, 2e-5 to 1e-4.
            assert!(bodies <= 1e-6 || bodies <= 2.0 * contacts, "{seed}: {bodies:e} {contacts:e}");
        }
    }
}
