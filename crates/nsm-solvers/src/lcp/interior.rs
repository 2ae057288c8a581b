//! Interior point with an active-set polish, for symmetric positive semidefinite matrices.
//!
//! Follows the central path $z_i w_i = \mu$ of $w = Mz + q$ with Mehrotra's predictor and corrector
//! [Mehrotra 1992]. With $r = q + Mz - w$ a step solves
//! $$ (M + Z^{-1}W) \Delta z = -r - w + Z^{-1}(\sigma\mu e - \Delta Z_a \Delta w_a), \qquad
//!    \Delta w = Z^{-1}(\sigma\mu e - \Delta Z_a\Delta w_a) - w - Z^{-1}W \Delta z . $$
//! The path leads to the centre of the solution set, where every index that can be positive is:
//! where several solutions exist, as under a box on four corners, the load is shared evenly.
//!
//! Already at $\mu$ of about $10^{-5}$ the set $A = \lbrace i : z_i M_{ii} > w_i \rbrace$ is usually the final one. The polish then
//! drops the barrier: it solves $M_{AA} z_A = -q_A$, singular but consistent, by iterative
//! refinement with $M_{AA} + \varepsilon D_A$,
//! $$ z_A \leftarrow z_A - (M_{AA} + \varepsilon D_A)^{-1} (Mz + q)_A , $$
//! which changes $z$ as little as possible along the null space, and accepts the result only if its
//! natural residual is at rounding level. Otherwise the path is followed further.

use super::dense_factor::DenseCholesky;
use super::envelope::{EnvelopeFactor, SymmetricSparse};
use super::supernodal::SupernodalFactor;

/// Relative shift in the polish.
const SHIFT: f64 = 1e-8;

/// How small $\mu$ and the primal residual must be before a polish is tried.
const NEAR: f64 = 1e-5;

const MAX_ITERATIONS: u32 = 80;

/// A symmetric matrix that can factor its shifted principal submatrices.
pub(crate) trait PsdSystem {
    fn order(&self) -> usize;
    fn diagonal(&self, i: usize) -> f64;
    /// $y \leftarrow y + Mx$.
    fn multiply_add(&self, x: &[f64], y: &mut [f64]);
    /// Factors $M_{AA} + \mathrm{diag}(s_A)$; false when it is not positive definite.
    fn factor(&mut self, member: &[bool], shift: &[f64]) -> bool;
    fn solve(&mut self, x: &mut [f64]);
}

/// A sparse matrix with the factor that suits its pattern.
#[derive(Debug)]
pub(crate) struct SparsePsd {
    pub(crate) matrix: SymmetricSparse,
    pub(crate) factor: SparseFactor,
}

/// Narrow patterns have an envelope factor, others a supernodal one.
#[derive(Debug)]
pub(crate) enum SparseFactor {
    Envelope(EnvelopeFactor),
    Supernodal(Box<SupernodalFactor>),
}

impl PsdSystem for SparsePsd {
    fn order(&self) -> usize {
        self.matrix.n
    }
    fn diagonal(&self, i: usize) -> f64 {
        self.matrix.diagonal[i]
    }
    fn multiply_add(&self, x: &[f64], y: &mut [f64]) {
        self.matrix.multiply_add(x, y);
    }
    fn factor(&mut self, member: &[bool], shift: &[f64]) -> bool {
        match &mut self.factor {
            SparseFactor::Envelope(factor) => factor.factor(&self.matrix, member, shift),
            SparseFactor::Supernodal(factor) => factor.factor(&self.matrix, member, shift),
        }
    }
    fn solve(&mut self, x: &mut [f64]) {
        match &mut self.factor {
            SparseFactor::Envelope(factor) => factor.solve(x),
            SparseFactor::Supernodal(factor) => factor.solve(x),
        }
    }
}

/// A dense matrix with its factor.
#[derive(Debug)]
pub(crate) struct DensePsd<'a> {
    pub(crate) n: usize,
    pub(crate) matrix: &'a [f64],
    pub(crate) factor: &'a mut DenseCholesky,
}

impl PsdSystem for DensePsd<'_> {
    fn order(&self) -> usize {
        self.n
    }
    fn diagonal(&self, i: usize) -> f64 {
        self.matrix[i * (self.n + 1)]
    }
    fn multiply_add(&self, x: &[f64], y: &mut [f64]) {
        for (j, &xj) in x.iter().enumerate() {
            let column = &self.matrix[j * self.n..(j + 1) * self.n];
            for (y, m) in y.iter_mut().zip(column) {
                *y += xj * m;
            }
        }
    }
    fn factor(&mut self, member: &[bool], shift: &[f64]) -> bool {
        self.factor.factor(self.n, self.matrix, |i| member[i], |i| shift[i])
    }
    fn solve(&mut self, x: &mut [f64]) {
        self.factor.solve(x);
    }
}

/// How the path ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Outcome {
    /// The polish reached the tolerance.
    Solved { iterations: u32 },
    /// $z$ diverges along a direction that proves infeasibility.
    Infeasible { index: usize },
    /// The matrix is not positive semidefinite, up to rounding.
    Breakdown { iterations: u32 },
    /// The iteration limit was reached; the best polished point is in `best`.
    Stalled { iterations: u32 },
}

/// The vectors of the method.
#[derive(Debug, Clone)]
pub(crate) struct InteriorPoint {
    z: Vec<f64>,
    w: Vec<f64>,
    r: Vec<f64>,
    dz: Vec<f64>,
    dw: Vec<f64>,
    correction: Vec<f64>,
    shift: Vec<f64>,
    scale: Vec<f64>,
    slack: Vec<f64>,
    member: Vec<bool>,
    tried: Vec<bool>,
    /// The best polished point and its residual.
    pub(crate) best: Vec<f64>,
    best_residual: f64,
    trial: Vec<f64>,
}

impl InteriorPoint {
    pub(crate) fn new(n: usize) -> Self {
        let v = || vec![0.0; n];
        Self {
            z: v(),
            w: v(),
            r: v(),
            dz: v(),
            dw: v(),
            correction: v(),
            shift: v(),
            scale: v(),
            slack: v(),
            member: vec![false; n],
            tried: vec![false; n],
            best: v(),
            best_residual: f64::INFINITY,
            trial: v(),
        }
    }

    /// Solves to the natural residual `tolerance`; the answer is left in `best`.
    pub(crate) fn run(
        &mut self,
        system: &mut impl PsdSystem,
        q: &[f64],
        tolerance: f64,
    ) -> Outcome {
        let n = system.order();
        let q_max = q.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        self.best.fill(0.0);
        self.best_residual = f64::INFINITY;
        self.tried.fill(false);
        if q.iter().all(|&q| q >= 0.0) {
            return Outcome::Solved { iterations: 0 };
        }
        let Some(unit) = self.start(system, q) else {
            return Outcome::Breakdown { iterations: 0 };
        };
        let mut tried_any = false;
        for iteration in 1..=MAX_ITERATIONS {
            for i in 0..n {
                self.r[i] = q[i] - self.w[i];
            }
            system.multiply_add(&self.z, &mut self.r);
            let mu = dot(&self.z, &self.w) / n as f64;
            let feasibility = self.r.iter().fold(0.0_f64, |m, v| m.max(v.abs())) / q_max;
            if mu < NEAR * unit && feasibility < NEAR {
                for i in 0..n {
                    self.member[i] = self.z[i] * self.scale[i] > self.w[i];
                }
                if !tried_any || self.member != self.tried {
                    tried_any = true;
                    self.tried.copy_from_slice(&self.member);
                    if self.polish(system, q, q_max, tolerance) {
                        return Outcome::Solved { iterations: iteration };
                    }
                }
            }
            if mu < 1e-22 * unit && feasibility < 1e-12 {
                return Outcome::Stalled { iterations: iteration };
            }
            if let Some(index) = self.infeasible(system, q, q_max) {
                return Outcome::Infeasible { index };
            }
            if !self.step(system, mu, unit) {
                return Outcome::Breakdown { iterations: iteration };
            }
        }
        Outcome::Stalled { iterations: MAX_ITERATIONS }
    }

    /// A start in the middle of the orthant at the scale of the damped solution; returns $\mu$ there.
    fn start(&mut self, system: &mut impl PsdSystem, q: &[f64]) -> Option<f64> {
        let n = system.order();
        let mut largest = 0.0_f64;
        for i in 0..n {
            self.scale[i] = system.diagonal(i);
            largest = largest.max(self.scale[i]);
        }
        if largest <= 0.0 {
            largest = 1.0;
        }
        for i in 0..n {
            if self.scale[i] <= 1e-14 * largest {
                self.scale[i] = largest;
            }
            self.shift[i] = 1e-2 * self.scale[i];
            self.dz[i] = -q[i];
        }
        self.member.fill(true);
        if !system.factor(&self.member, &self.shift) {
            return None;
        }
        system.solve(&mut self.dz);
        let (mut high_z, mut high_w) = (0.0_f64, 0.0_f64);
        for i in 0..n {
            let root = self.scale[i].sqrt();
            high_z = high_z.max(self.dz[i].abs() * root);
            high_w = high_w.max(q[i].abs() / root);
        }
        for i in 0..n {
            let root = self.scale[i].sqrt();
            self.z[i] = high_z / root;
            self.w[i] = high_w * root;
        }
        Some(high_w * high_w)
    }

    /// One predictor–corrector step; false when the system is not positive definite.
    fn step(&mut self, system: &mut impl PsdSystem, mu: f64, unit: f64) -> bool {
        let n = system.order();
        for i in 0..n {
            // A floor at rounding keeps the last pivots of rank-deficient systems positive.
            self.shift[i] = (self.w[i] / self.z[i]).max(1e-14 * self.scale[i]);
            self.dz[i] = -self.r[i] - self.w[i];
        }
        self.member.fill(true);
        if !system.factor(&self.member, &self.shift) {
            return false;
        }
        system.solve(&mut self.dz);
        for i in 0..n {
            self.dw[i] = -self.w[i] - self.shift[i] * self.dz[i];
        }
        let length = self.longest_step().min(1.0);
        let mut affine = 0.0;
        for i in 0..n {
            affine += (self.z[i] + length * self.dz[i]) * (self.w[i] + length * self.dw[i]);
        }
        let sigma = (affine / (n as f64 * mu)).clamp(0.0, 1.0).powi(3);
        for i in 0..n {
            self.correction[i] = (sigma * mu - self.dz[i] * self.dw[i]) / self.z[i];
            self.dz[i] = self.correction[i] - self.r[i] - self.w[i];
        }
        system.solve(&mut self.dz);
        for i in 0..n {
            self.dw[i] = self.correction[i] - self.w[i] - self.shift[i] * self.dz[i];
        }
        let margin = (mu / unit).sqrt().clamp(1e-4, 0.1);
        let length = (self.longest_step() * (1.0 - margin)).min(1.0);
        let mut finite = true;
        for i in 0..n {
            self.z[i] += length * self.dz[i];
            self.w[i] += length * self.dw[i];
            finite &= self.z[i] > 0.0 && self.w[i] > 0.0;
        }
        finite
    }

    /// The longest step that keeps $z, w \ge 0$.
    fn longest_step(&self) -> f64 {
        let mut inverse = 1e-3_f64;
        for i in 0..self.z.len() {
            inverse = inverse.max(-self.dz[i] / self.z[i]).max(-self.dw[i] / self.w[i]);
        }
        1.0 / inverse
    }

    /// Solves on the identified set without the barrier; true when the residual is at `tolerance`.
    fn polish(
        &mut self,
        system: &mut impl PsdSystem,
        q: &[f64],
        q_max: f64,
        tolerance: f64,
    ) -> bool {
        let n = system.order();
        for i in 0..n {
            self.shift[i] = SHIFT * self.scale[i];
            self.trial[i] = if self.member[i] { self.z[i] } else { 0.0 };
        }
        if !system.factor(&self.member, &self.shift) {
            return false;
        }
        let mut before = f64::INFINITY;
        for _ in 0..10 {
            self.slack.copy_from_slice(q);
            system.multiply_add(&self.trial, &mut self.slack);
            let mut worst = 0.0_f64;
            for i in 0..n {
                worst = worst.max(self.trial[i].min(self.slack[i]).abs());
            }
            let residual = worst / q_max;
            if residual < self.best_residual {
                self.best_residual = residual;
                self.best.copy_from_slice(&self.trial);
            }
            // One refinement below the tolerance is almost free and settles at rounding.
            if residual >= 0.5 * before || residual < 0.01 * tolerance {
                break;
            }
            before = residual;
            for i in 0..n {
                self.slack[i] = -self.slack[i];
            }
            system.solve(&mut self.slack);
            for i in 0..n {
                if self.member[i] {
                    self.trial[i] = (self.trial[i] + self.slack[i]).max(0.0);
                }
            }
        }
        self.best_residual <= tolerance
    }

    /// A row of the certificate when $z$ runs off along $d \ge 0$ with $Md = 0$, $q^\top d < 0$.
    fn infeasible(&mut self, system: &impl PsdSystem, q: &[f64], q_max: f64) -> Option<usize> {
        let n = system.order();
        let (mut largest, mut index) = (0.0_f64, 0);
        for i in 0..n {
            if self.z[i] > largest {
                largest = self.z[i];
                index = i;
            }
        }
        let d_max = self.scale.iter().fold(0.0_f64, |m, v| m.max(*v));
        if largest * d_max < 1e8 * q_max {
            return None;
        }
        let (mut mass, mut descent, mut sum) = (0.0, 0.0, 0.0);
        for i in 0..n {
            mass += self.z[i] * q[i].abs();
            descent += self.z[i] * q[i];
            sum += self.z[i];
        }
        self.slack.fill(0.0);
        system.multiply_add(&self.z, &mut self.slack);
        let flat = self.slack.iter().fold(0.0_f64, |m, v| m.max(*v));
        (descent < -1e-7 * mass && flat < 1e-10 * d_max * sum).then_some(index)
    }

    /// The point on the path; after a claim of infeasibility, the direction that proves it.
    pub(crate) fn direction(&self) -> &[f64] {
        &self.z
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
