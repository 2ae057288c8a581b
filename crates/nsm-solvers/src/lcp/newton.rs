//! Semismooth Newton methods for dense matrices, symmetric or not.
//!
//! A solution of the complementarity problem is a zero of
//! * $\Phi_i(z) = \sqrt{z_i^2 + w_i^2} - z_i - w_i$ [Fischer 1992], whose merit function $\Psi = \tfrac12|\Phi|^2$ is
//!   continuously differentiable, $\nabla\Psi = V^\top\Phi$ with $V = D_a + D_b M$,
//!   $a_i = z_i/|(z_i,w_i)| - 1$ and $b_i = w_i/|(z_i,w_i)| - 1$ [De Luca, Facchinei & Kanzow 1996], or of
//! * the natural map $\min(z, w)$ [Harker & Pang 1990], whose Newton step is the basic solution of the set
//!   $A = \lbrace i : w_i < z_i \rbrace$.
//!
//! Steps are damped until the merit function falls below its largest recent value; where the Newton direction fails,
//! $-\nabla\Psi$ is taken. Convergence near a regular solution is finite, since the equations are piecewise linear up to curvature at kinks.

use super::columns::Columns;
use super::dense_factor::DenseLu;
use super::natural_residual;

/// Merit values remembered by the nonmonotone line search [Grippo, Lampariello & Lucidi 1986].
const MEMORY: usize = 5;

/// Which equations are solved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Equations {
    FischerBurmeister,
    Min,
}

/// How the iteration ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Outcome {
    Solved { iterations: u32 },
    Stalled { iterations: u32 },
}

/// Memory for problems of one size.
#[derive(Debug)]
pub(crate) struct Newton {
    lu: DenseLu,
    z: Vec<f64>,
    w: Vec<f64>,
    phi: Vec<f64>,
    a: Vec<f64>,
    b: Vec<f64>,
    direction: Vec<f64>,
    gradient: Vec<f64>,
    trial: Vec<f64>,
    trial_w: Vec<f64>,
}

impl Newton {
    pub(crate) fn new(n: usize) -> Self {
        let v = || vec![0.0; n];
        Self {
            lu: DenseLu::new(n),
            z: v(),
            w: v(),
            phi: v(),
            a: v(),
            b: v(),
            direction: v(),
            gradient: v(),
            trial: v(),
            trial_w: v(),
        }
    }

    /// Solves with the dense columns `m`; `best` is the start on entry and holds the answer or the
    /// best clamped point on exit.
    pub(crate) fn run(
        &mut self,
        equations: Equations,
        m: &[f64],
        q: &[f64],
        tolerance: f64,
        max_iterations: u32,
        best: &mut [f64],
    ) -> Outcome {
        let n = q.len();
        let matrix = Columns::dense(n, m);
        self.z.copy_from_slice(best);
        matrix.slack(&self.z, q, &mut self.w);
        let mut best_residual = f64::INFINITY;
        let mut recent = [f64::NEG_INFINITY; MEMORY];
        for iterations in 1..=max_iterations {
            let merit = self.linearise();
            let residual = self.clamped_residual(&matrix, q);
            if residual < best_residual {
                best_residual = residual;
                best.copy_from_slice(&self.trial);
            }
            if residual <= tolerance {
                return Outcome::Solved { iterations };
            }
            self.gradient_of_merit(&matrix);
            recent[iterations as usize % MEMORY] = merit;
            let reference = recent.iter().fold(0.0_f64, |m, v| m.max(*v));
            let newton = match equations {
                Equations::FischerBurmeister => self.fischer_burmeister_direction(m),
                Equations::Min => self.min_direction(m, q),
            };
            let slope = dot(&self.gradient, &self.direction);
            let length = dot(&self.direction, &self.direction);
            let mut accepted =
                newton && slope < -1e-12 * length && self.search(&matrix, q, reference, slope);
            if !accepted && newton && equations == Equations::Min {
                // The natural map's step may climb; a full one often lands in a better set.
                accepted = self.search(&matrix, q, reference, 0.0);
            }
            if !accepted {
                for i in 0..n {
                    self.direction[i] = -self.gradient[i];
                }
                let slope = -dot(&self.gradient, &self.gradient);
                accepted = self.search(&matrix, q, reference.min(merit), slope);
            }
            if !accepted {
                return Outcome::Stalled { iterations };
            }
        }
        Outcome::Stalled { iterations: max_iterations }
    }

    /// $z_A = -M_{AA}^{-1} q_A$, zero elsewhere; false when $M_{AA}$ is singular.
    pub(crate) fn basic_solution(
        &mut self,
        m: &[f64],
        q: &[f64],
        member: &[bool],
        z: &mut [f64],
    ) -> bool {
        let n = q.len();
        for i in 0..n {
            z[i] = if member[i] { -q[i] } else { 0.0 };
        }
        self.lu.solve(n, |i| member[i], |i, j| m[j * n + i], z)
    }

    /// $\Phi$, $a$, $b$ at the current point; returns $\Psi$.
    fn linearise(&mut self) -> f64 {
        let mut merit = 0.0;
        for i in 0..self.z.len() {
            let (z, w) = (self.z[i], self.w[i]);
            let norm = z.hypot(w);
            self.phi[i] = fischer_burmeister(z, w);
            if norm > f64::MIN_POSITIVE {
                self.a[i] = z / norm - 1.0;
                self.b[i] = w / norm - 1.0;
            } else {
                self.a[i] = core::f64::consts::FRAC_1_SQRT_2 - 1.0;
                self.b[i] = self.a[i];
            }
            merit += 0.5 * self.phi[i] * self.phi[i];
        }
        merit
    }

    /// Natural residual of the point clamped to $z \ge 0$, which is left in `trial`.
    fn clamped_residual(&mut self, matrix: &Columns<'_>, q: &[f64]) -> f64 {
        for i in 0..self.z.len() {
            let keep = self.z[i] > 0.0 && self.z[i] > self.w[i];
            self.trial[i] = if keep { self.z[i] } else { 0.0 };
        }
        matrix.slack(&self.trial, q, &mut self.trial_w);
        natural_residual(&self.trial, &self.trial_w, q)
    }

    fn gradient_of_merit(&mut self, matrix: &Columns<'_>) {
        let n = self.z.len();
        for i in 0..n {
            self.direction[i] = self.b[i] * self.phi[i];
        }
        matrix.transpose_multiply(&self.direction, &mut self.gradient);
        for i in 0..n {
            self.gradient[i] += self.a[i] * self.phi[i];
        }
    }

    fn fischer_burmeister_direction(&mut self, m: &[f64]) -> bool {
        let n = self.z.len();
        for i in 0..n {
            self.direction[i] = -self.phi[i];
        }
        let (a, b) = (&self.a, &self.b);
        let entry = |i: usize, j: usize| b[i] * m[j * n + i] + if i == j { a[i] } else { 0.0 };
        if self.lu.solve(n, |_| true, entry, &mut self.direction) {
            return true;
        }
        // A singular element of the generalised Jacobian: shift it by a little of its own diagonal.
        let entry = |i: usize, j: usize| {
            b[i] * m[j * n + i]
                + if i == j { a[i] - 1e-8 * (1.0 + m[i * n + i].abs()) } else { 0.0 }
        };
        self.lu.solve(n, |_| true, entry, &mut self.direction)
    }

    fn min_direction(&mut self, m: &[f64], q: &[f64]) -> bool {
        let n = self.z.len();
        let (z, w) = (&self.z, &self.w);
        let member = |i: usize| w[i] < z[i];
        for i in 0..n {
            self.direction[i] = if member(i) { -q[i] } else { 0.0 };
        }
        if !self.lu.solve(n, member, |i, j| m[j * n + i], &mut self.direction) {
            let shifted = |i: usize, j: usize| {
                m[j * n + i] + if i == j { 1e-8 * (1.0 + m[i * n + i].abs()) } else { 0.0 }
            };
            if !self.lu.solve(n, member, shifted, &mut self.direction) {
                return false;
            }
        }
        for i in 0..n {
            self.direction[i] -= self.z[i];
        }
        true
    }

    /// Halves the step until $\Psi(z + td) \le \Psi_{\mathrm{ref}} + 10^{-4} t \nabla\Psi^\top d$, then takes it.
    fn search(&mut self, matrix: &Columns<'_>, q: &[f64], reference: f64, slope: f64) -> bool {
        let n = self.z.len();
        let mut t = 1.0;
        for _ in 0..40 {
            for i in 0..n {
                self.trial[i] = self.z[i] + t * self.direction[i];
            }
            matrix.slack(&self.trial, q, &mut self.trial_w);
            let mut merit = 0.0;
            for i in 0..n {
                let phi = fischer_burmeister(self.trial[i], self.trial_w[i]);
                merit += 0.5 * phi * phi;
            }
            if merit <= reference + 1e-4 * t * slope {
                self.z.copy_from_slice(&self.trial);
                self.w.copy_from_slice(&self.trial_w);
                return true;
            }
            t *= 0.5;
        }
        false
    }
}

/// $\sqrt{a^2+b^2} - a - b$ without cancellation for positive arguments.
fn fischer_burmeister(a: f64, b: f64) -> f64 {
    let norm = a.hypot(b);
    if a + b > 0.0 { -2.0 * a * b / (norm + a + b) } else { norm - a - b }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
