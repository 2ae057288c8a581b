//! Projected Gauss–Seidel with over-relaxation, and accelerated projected gradient.
//!
//! Both keep $z \ge 0$ and need no factorisation; both converge for symmetric positive definite
//! matrices, and to a solution for semidefinite ones, at a rate set by the condition number.
//! * One sweep visits the indices in turn [Cryer 1971]:
//!   $z_i \leftarrow \max(0,\ z_i - \omega w_i / M_{ii})$, with $w$ kept current.
//! * The gradient step in the metric of the diagonal $D$,
//!   $$ z^{k+1} = \max\left(0,\ y^k - \tfrac1L D^{-1}(My^k + q)\right), \qquad
//!   y^{k+1} = z^{k+1} + \beta_k (z^{k+1} - z^k) , $$
//!   with Nesterov's $\beta_k$ [Nesterov 1983], restarted whenever the momentum points uphill
//!   [O'Donoghue & Candès 2015], and $L \ge \lambda_{\max}(D^{-1}M)$ found by the power method and enlarged when a step
//!   violates the descent inequality.

use super::columns::Columns;
use super::natural_residual;

/// One sweep; `w` must hold $Mz + q$ and does so again afterwards. Returns the largest scaled change.
pub(crate) fn gauss_seidel_sweep(
    matrix: &Columns<'_>,
    relaxation: f64,
    z: &mut [f64],
    w: &mut [f64],
) -> f64 {
    let mut change = 0.0_f64;
    for i in 0..z.len() {
        let d = matrix.diagonal(i);
        let new = (z[i] - relaxation * w[i] / d).max(0.0);
        let delta = new - z[i];
        if delta != 0.0 {
            z[i] = new;
            matrix.add_column(i, delta, w);
            change = change.max(delta.abs() * d);
        }
    }
    change
}

/// How an iteration ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Outcome {
    Solved { iterations: u32 },
    Diagonal { index: usize },
    Stalled { iterations: u32 },
}

/// Sweeps until the natural residual is below `tolerance`; `z` is the start and the answer.
pub(crate) fn gauss_seidel(
    matrix: &Columns<'_>,
    q: &[f64],
    relaxation: f64,
    tolerance: f64,
    max_iterations: u32,
    z: &mut [f64],
    w: &mut [f64],
) -> Outcome {
    if let Some(index) = (0..q.len()).find(|&i| matrix.diagonal(i) <= 0.0) {
        return Outcome::Diagonal { index };
    }
    for v in z.iter_mut() {
        *v = v.max(0.0);
    }
    matrix.slack(z, q, w);
    for iterations in 1..=max_iterations {
        gauss_seidel_sweep(matrix, relaxation, z, w);
        // Rounding accumulates in the running slack.
        if iterations % 64 == 0 {
            matrix.slack(z, q, w);
        }
        if natural_residual(z, w, q) <= tolerance {
            matrix.slack(z, q, w);
            if natural_residual(z, w, q) <= tolerance {
                return Outcome::Solved { iterations };
            }
        }
    }
    Outcome::Stalled { iterations: max_iterations }
}

/// Memory of the accelerated gradient.
#[derive(Debug, Clone)]
pub(crate) struct AcceleratedGradient {
    y: Vec<f64>,
    gradient: Vec<f64>,
    previous: Vec<f64>,
    diagonal: Vec<f64>,
}

impl AcceleratedGradient {
    pub(crate) fn new(n: usize) -> Self {
        let v = || vec![0.0; n];
        Self { y: v(), gradient: v(), previous: v(), diagonal: v() }
    }

    /// Iterates until the natural residual is below `tolerance`; `z` is the start and the answer.
    pub(crate) fn run(
        &mut self,
        matrix: &Columns<'_>,
        q: &[f64],
        tolerance: f64,
        max_iterations: u32,
        z: &mut [f64],
        w: &mut [f64],
    ) -> Outcome {
        let n = q.len();
        for i in 0..n {
            self.diagonal[i] = matrix.diagonal(i);
            if self.diagonal[i] <= 0.0 {
                return Outcome::Diagonal { index: i };
            }
            z[i] = z[i].max(0.0);
        }
        let mut lipschitz = self.largest_eigenvalue(matrix, w);
        self.y.copy_from_slice(z);
        let mut theta = 1.0_f64;
        for iterations in 1..=max_iterations {
            matrix.slack(&self.y, q, &mut self.gradient);
            self.previous.copy_from_slice(z);
            let mut uphill = 0.0;
            for i in 0..n {
                z[i] = (self.y[i] - self.gradient[i] / (lipschitz * self.diagonal[i])).max(0.0);
                uphill += (self.y[i] - z[i]) * self.diagonal[i] * (z[i] - self.previous[i]);
            }
            matrix.slack(z, q, w);
            if natural_residual(z, w, q) <= tolerance {
                return Outcome::Solved { iterations };
            }
            // Descent inequality: d'Md <= L d'Dd along d = z - y.
            let (mut curvature, mut length) = (0.0, 0.0);
            for i in 0..n {
                let d = z[i] - self.y[i];
                curvature += d * (w[i] - self.gradient[i]);
                length += d * self.diagonal[i] * d;
            }
            if curvature > lipschitz * length * (1.0 + 1e-12) {
                lipschitz *= 1.5;
                theta = 1.0;
                self.y.copy_from_slice(&self.previous);
                z.copy_from_slice(&self.previous);
                continue;
            }
            if uphill > 0.0 {
                theta = 1.0;
                self.y.copy_from_slice(z);
                continue;
            }
            let next = f64::midpoint(1.0, (1.0 + 4.0 * theta * theta).sqrt());
            let momentum = (theta - 1.0) / next;
            theta = next;
            for i in 0..n {
                self.y[i] = z[i] + momentum * (z[i] - self.previous[i]);
            }
        }
        Outcome::Stalled { iterations: max_iterations }
    }

    /// A few power iterations for $D^{-1}M$.
    fn largest_eigenvalue(&mut self, matrix: &Columns<'_>, scratch: &mut [f64]) -> f64 {
        let n = scratch.len();
        for i in 0..n {
            self.y[i] = if i % 2 == 0 { 1.0 } else { -0.7 };
        }
        self.previous.fill(0.0);
        let mut estimate = 1.0;
        for _ in 0..12 {
            matrix.slack(&self.y, &self.previous, scratch);
            let mut largest = 0.0_f64;
            for i in 0..n {
                scratch[i] /= self.diagonal[i];
                largest = largest.max(scratch[i].abs());
            }
            if largest <= 0.0 {
                break;
            }
            let (mut numerator, mut denominator) = (0.0, 0.0);
            for i in 0..n {
                numerator += self.y[i] * self.diagonal[i] * scratch[i];
                denominator += self.y[i] * self.diagonal[i] * self.y[i];
                self.y[i] = scratch[i] / largest;
            }
            estimate = numerator / denominator;
        }
        estimate.abs().max(1e-300) * 1.05
    }
}
