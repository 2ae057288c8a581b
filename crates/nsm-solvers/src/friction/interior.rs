//! Interior point with the term of De Saxcé linearised.
//!
//! With $x = (\mu r_N, r_T)$ and $y = (u_N/\mu + |u_T|, u_T)$, both in the second-order cone $\mathcal K$, Coulomb's law is
//! $$ y = Mx + c + e_1 |y_T|, \qquad \mathcal K \ni x \perp y \in \mathcal K . $$
//! Newton's method takes $|y_T|$ along: with $H = I - e_1 (0, y_T^\top/|y_T|)$ and the scaling $G$ of Nesterov and Todd
//! ($Gx = G^{-1}y = \lambda$) every step solves $(M + H G^2)\\,dx = R + H G\\,\rho$, which is unsymmetric. Without that term, as a fixed point on
//! $|y_T|$, far fewer problems are solved. It stalls some digits before the end: Newton's method finishes.

use super::FrictionProblem;
use super::blocks::BlockLu;
use super::bodies::BodySystem;
use super::work::Work;

type Three = [f64; 3];

/// Iterates; the iterations made. A contact without friction keeps its normal; its tangents stand apart, at zero.
pub(super) fn iterate(
    problem: &FrictionProblem,
    work: &mut Work,
    tolerance: f64,
    iterations: usize,
) -> usize {
    let n = problem.len();
    let m = 3 * n;
    let smooth = |k: usize| problem.friction[k / 3] == 0.0;
    let factor = |k: usize| match k % 3 {
        0 if !smooth(k) => 1.0 / problem.friction[k / 3],
        0 => 1.0,
        _ if smooth(k) => 0.0,
        _ => 1.0,
    };
    let c: Vec<f64> = (0..m).map(|k| factor(k) * problem.q[k]).collect();
    // M, block by block: tangents that stand apart have a unit matrix.
    let scaled = |i: usize, j: usize, w: &[f64; 9]| -> [f64; 9] {
        std::array::from_fn(|k| {
            let (row, column) = (3 * i + k / 3, 3 * j + k % 3);
            let (a, b) = (factor(row), factor(column));
            if row == column && a == 0.0 { 1.0 } else { a * w[k] * b }
        })
    };
    let size = c.iter().fold(1e-12_f64, |a, x| a.max(x.abs()));
    // Well inside both cones, near the point given.
    let (mut x, mut y) = (vec![0.0; m], vec![0.0; m]);
    for i in 0..n {
        let k = 3 * i;
        for a in 0..3 {
            let factor = factor(k + a);
            x[k + a] = if factor > 0.0 { work.r[k + a] / factor } else { 0.0 };
            y[k + a] = work.u[k + a] * factor;
        }
        for z in [&mut x, &mut y] {
            let length = z[k + 1].hypot(z[k + 2]);
            z[k] = z[k].max(length + 0.3 * size).max(1.1 * length);
        }
    }
    let (mut lu, mut bodies) = (BlockLu::default(), BodySystem::default());
    let (mut rhs, mut residual) = (vec![0.0; m], vec![0.0; m]);
    let (mut dx, mut dy) = (vec![0.0; m], vec![0.0; m]);
    for iteration in 0..iterations {
        for k in 0..m {
            work.r[k] = x[k] * factor(k);
        }
        if work.measure(problem) <= tolerance {
            return iteration;
        }
        let gap = x.iter().zip(&y).map(|(a, b)| a * b).sum::<f64>() / n as f64;
        if gap.is_nan() || gap <= 1e-22 * size * size {
            return iteration;
        }
        residual.fill(0.0);
        for i in 0..n {
            for k in problem.starts[i]..problem.starts[i + 1] {
                let j = problem.columns[k];
                let block = scaled(i, j, &problem.blocks[k]);
                for a in 0..3 {
                    residual[3 * i + a] -=
                        (0..3).map(|b| block[3 * a + b] * x[3 * j + b]).sum::<f64>();
                }
            }
        }
        for k in 0..m {
            let slip = if k % 3 == 0 { y[k + 1].hypot(y[k + 2]) } else { 0.0 };
            residual[k] += y[k] - c[k] - slip;
        }
        let scalings: Vec<Scaling> =
            (0..n).map(|i| Scaling::new(three(&x, i), three(&y, i))).collect();
        // $HG^2$, and one for tangents that stand apart.
        let own = |i: usize| {
            let (mut own, slopes) = (scalings[i].square(), slip_slope(three(&y, i)));
            own[0] =
                std::array::from_fn(|b| own[0][b] - slopes[1] * own[1][b] - slopes[2] * own[2][b]);
            own
        };
        let by_bodies = problem.bodies.pay(n)
            && bodies.factor(&problem.bodies, |i| {
                let s: Three = std::array::from_fn(|a| factor(3 * i + a));
                let mut c = own(i);
                let mut b = [[0.0; 3]; 3];
                for a in 0..3 {
                    b[a][a] = s[a];
                    c[a][a] += problem.compliance * s[a] * s[a];
                    if s[a] == 0.0 {
                        c[a][a] += 1.0;
                    }
                }
                (c, b, s)
            });
        let factored = by_bodies
            || lu.factor(problem, |i, j, w| {
                let mut block = scaled(i, j, w);
                if i == j {
                    for (x, own) in block.iter_mut().zip(own(i).as_flattened()) {
                        *x += own;
                    }
                }
                block
            });
        if !factored {
            return iteration;
        }
        // Predictor, then corrector with its second-order term.
        let mut centre = 0.0;
        let mut corrected = vec![[0.0; 3]; n];
        for pass in 0..2 {
            let mut targets = vec![[0.0; 3]; n];
            for i in 0..n {
                let s = &scalings[i];
                let mut t = s.lambda.map(|l| -l);
                if pass == 1 {
                    let mut e = corrected[i].map(|x| -x);
                    e[0] += centre;
                    let extra = jordan_divide(s.lambda, e);
                    t = std::array::from_fn(|a| t[a] + extra[a]);
                }
                targets[i] = t;
                let g = s.apply(t);
                let slopes = slip_slope(three(&y, i));
                for a in 0..3 {
                    let mut h = g[a];
                    if a == 0 {
                        h -= slopes[1] * g[1] + slopes[2] * g[2];
                    }
                    rhs[3 * i + a] = residual[3 * i + a] + h;
                }
            }
            dx.copy_from_slice(&rhs);
            let solved =
                if by_bodies { bodies.solve(&problem.bodies, &mut dx) } else { lu.solve(&mut dx) };
            if !solved {
                return iteration;
            }
            for i in 0..n {
                let s = &scalings[i];
                let scaled = s.apply(three(&dx, i));
                let d = s.apply(std::array::from_fn(|a| targets[i][a] - scaled[a]));
                dy[3 * i..3 * i + 3].copy_from_slice(&d);
                if pass == 0 {
                    corrected[i] = jordan(scaled, s.unapply(d));
                }
            }
            if pass == 0 {
                let length = longest(&x, &dx).min(longest(&y, &dy)).min(1.0);
                let after: f64 = x
                    .iter()
                    .zip(&dx)
                    .zip(y.iter().zip(&dy))
                    .map(|((x, a), (y, b))| (x + length * a) * (y + length * b))
                    .sum::<f64>()
                    / n as f64;
                centre = (after / gap).max(0.0).powi(3).min(1.0) * gap;
            }
        }
        let length = (0.995 * longest(&x, &dx).min(longest(&y, &dy))).min(1.0);
        for k in 0..m {
            x[k] += length * dx[k];
            y[k] += length * dy[k];
        }
        if x.iter().chain(&y).any(|z| !z.is_finite()) || length < 1e-10 {
            return iteration;
        }
    }
    for k in 0..m {
        work.r[k] = x[k] * factor(k);
    }
    work.measure(problem);
    iterations
}

fn three(z: &[f64], i: usize) -> Three {
    [z[3 * i], z[3 * i + 1], z[3 * i + 2]]
}

/// $(0, y_T/|y_T|)$.
fn slip_slope(y: Three) -> Three {
    let length = y[1].hypot(y[2]);
    if length > 0.0 { [0.0, y[1] / length, y[2] / length] } else { [0.0; 3] }
}

fn determinant(z: Three) -> f64 {
    let length = z[1].hypot(z[2]);
    (z[0] - length) * (z[0] + length)
}

/// The product of the Jordan algebra of the cone.
fn jordan(a: Three, b: Three) -> Three {
    [a[0] * b[0] + a[1] * b[1] + a[2] * b[2], a[0] * b[1] + b[0] * a[1], a[0] * b[2] + b[0] * a[2]]
}

/// $z$ with $a \circ z = b$.
fn jordan_divide(a: Three, b: Three) -> Three {
    let along = a[1] * b[1] + a[2] * b[2];
    let first = (a[0] * b[0] - along) / determinant(a);
    [first, (b[1] - first * a[1]) / a[0], (b[2] - first * a[2]) / a[0]]
}

/// The scaling of Nesterov and Todd: $Gx = G^{-1}y = \lambda$.
struct Scaling {
    w: Three,
    eta: f64,
    lambda: Three,
}

impl Scaling {
    fn new(x: Three, y: Three) -> Self {
        let (dx, dy) = (determinant(x).max(1e-300), determinant(y).max(1e-300));
        let (x1, y1) = (x.map(|a| a / dx.sqrt()), y.map(|a| a / dy.sqrt()));
        let dot = x1[0] * y1[0] + x1[1] * y1[1] + x1[2] * y1[2];
        let gamma = (0.5 * (1.0 + dot)).max(0.5).sqrt();
        let w = [
            0.5 * (y1[0] + x1[0]) / gamma,
            0.5 * (y1[1] - x1[1]) / gamma,
            0.5 * (y1[2] - x1[2]) / gamma,
        ];
        let mut scaling = Self { w, eta: (dy / dx).powf(0.25), lambda: [0.0; 3] };
        scaling.lambda = scaling.apply(x);
        scaling
    }

    fn apply(&self, z: Three) -> Three {
        self.turned(z, 1.0, self.eta)
    }

    fn unapply(&self, z: Three) -> Three {
        self.turned(z, -1.0, 1.0 / self.eta)
    }

    fn turned(&self, z: Three, sign: f64, eta: f64) -> Three {
        let [w0, w1, w2] = [self.w[0], sign * self.w[1], sign * self.w[2]];
        let along = w1 * z[1] + w2 * z[2];
        let common = z[0] + along / (1.0 + w0);
        [eta * (w0 * z[0] + along), eta * (z[1] + common * w1), eta * (z[2] + common * w2)]
    }

    /// $G^2$.
    fn square(&self) -> [[f64; 3]; 3] {
        let mut columns = [[0.0; 3]; 3];
        for (k, column) in columns.iter_mut().enumerate() {
            let mut unit = [0.0; 3];
            unit[k] = 1.0;
            *column = self.apply(self.apply(unit));
        }
        std::array::from_fn(|a| std::array::from_fn(|b| columns[b][a]))
    }
}

/// The longest step that stays in the cones.
fn longest(z: &[f64], d: &[f64]) -> f64 {
    let mut most = f64::INFINITY;
    for i in 0..z.len() / 3 {
        let (z, d) = (three(z, i), three(d, i));
        let (a, b, c) = (
            d[0] * d[0] - d[1] * d[1] - d[2] * d[2],
            z[0] * d[0] - z[1] * d[1] - z[2] * d[2],
            determinant(z),
        );
        let discriminant = b * b - a * c;
        let step = if a < 0.0 || (b < 0.0 && discriminant >= 0.0) {
            c / (discriminant.max(0.0).sqrt() - b)
        } else {
            f64::INFINITY
        };
        if step > 0.0 {
            most = most.min(step);
        }
        if d[0] < 0.0 {
            most = most.min(-z[0] / d[0]);
        }
    }
    most
}
