//! Block principal pivoting with Murty's least-index rule as the finite fallback.
//!
//! For an index set $A$ the basic solution is $z_A = -M_{AA}^{-1} q_A$, $z_N = 0$,
//! $w_N = M_{NA} z_A + q_N$. All violated indices,
//! $$ V = \lbrace i \in A : z_i < 0 \rbrace \cup \lbrace i \in N : w_i < 0 \rbrace , $$
//! change sides at once [Kostreva 1978] as long as $|V|$ keeps falling to new minima every few
//! steps; otherwise only the largest index in $V$ changes side until it does
//! [Júdice & Pires 1994], which is finite for every P-matrix [Murty 1974]. A handful of factorisations suffices in
//! practice, whatever the size. $A$ starts from a few projected Gauss–Seidel sweeps, each of which costs a
//! fraction of a factorisation.

use super::columns::Columns;
use super::dense_factor::{DenseCholesky, DenseLu};
use super::natural_residual;
use super::projected::gauss_seidel_sweep;

/// Block exchanges without a new minimum of $|V|$ before the least-index rule takes over.
const PATIENCE: u32 = 5;

/// Gauss–Seidel sweeps that choose the first set.
const SWEEPS: usize = 4;

#[derive(Debug)]
enum Factor {
    Cholesky(DenseCholesky),
    Lu(DenseLu),
}

/// How the exchanges ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Outcome {
    Solved { iterations: u32 },
    Singular { iterations: u32 },
    Stalled { iterations: u32 },
}

/// Memory for problems of one size.
#[derive(Debug)]
pub(crate) struct BlockPivoting {
    factor: Factor,
    member: Vec<bool>,
    x: Vec<f64>,
    slack: Vec<f64>,
}

impl BlockPivoting {
    pub(crate) fn new(n: usize, symmetric: bool) -> Self {
        let factor = if symmetric {
            Factor::Cholesky(DenseCholesky::new(n))
        } else {
            Factor::Lu(DenseLu::new(n))
        };
        Self { factor, member: vec![false; n], x: vec![0.0; n], slack: vec![0.0; n] }
    }

    pub(crate) fn is_symmetric(&self) -> bool {
        matches!(self.factor, Factor::Cholesky(_))
    }

    /// The Cholesky memory, for other methods on symmetric matrices.
    pub(crate) fn cholesky(&mut self) -> Option<&mut DenseCholesky> {
        match &mut self.factor {
            Factor::Cholesky(factor) => Some(factor),
            Factor::Lu(_) => None,
        }
    }

    /// Solves with the dense columns `m`; `best` receives the answer or the best clamped point.
    pub(crate) fn run(
        &mut self,
        n: usize,
        m: &[f64],
        q: &[f64],
        max_iterations: u32,
        best: &mut [f64],
    ) -> Outcome {
        let matrix = Columns::dense(n, m);
        self.first_set(&matrix, q, best);
        let q_max = q.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        let mut best_residual = f64::INFINITY;
        let mut fewest = usize::MAX;
        let mut patience = PATIENCE;
        for iterations in 1..=max_iterations {
            if !self.basic_solution(n, m, q) {
                return Outcome::Singular { iterations };
            }
            matrix.slack(&self.x, q, &mut self.slack);
            let mut sum = 0.0;
            for i in 0..n {
                sum += (self.x[i] * m[i * (n + 1)]).abs();
            }
            let tolerance = 4.0 * f64::EPSILON * (q_max + sum);
            let mut violations = 0;
            let mut last = n;
            for i in 0..n {
                let violated =
                    if self.member[i] { self.x[i] < 0.0 } else { self.slack[i] < -tolerance };
                if violated {
                    violations += 1;
                    last = i;
                }
            }
            if violations == 0 {
                self.refine(&matrix, q, tolerance);
                best.copy_from_slice(&self.x);
                return Outcome::Solved { iterations };
            }
            if violations < fewest {
                fewest = violations;
                patience = PATIENCE;
            } else {
                patience = patience.saturating_sub(1);
            }
            if violations <= fewest {
                keep_better(q, &self.x, &self.slack, best, &mut best_residual);
            }
            if patience > 0 {
                for i in 0..n {
                    if if self.member[i] { self.x[i] < 0.0 } else { self.slack[i] < -tolerance } {
                        self.member[i] = !self.member[i];
                    }
                }
            } else {
                self.member[last] = !self.member[last];
            }
        }
        Outcome::Stalled { iterations: max_iterations }
    }

    fn first_set(&mut self, matrix: &Columns<'_>, q: &[f64], warm: &[f64]) {
        let n = q.len();
        if warm.iter().any(|&z| z > 0.0) {
            for i in 0..n {
                self.member[i] = warm[i] > 0.0;
            }
            return;
        }
        if self.is_symmetric() && (0..n).all(|i| matrix.diagonal(i) > 0.0) {
            self.x.fill(0.0);
            self.slack.copy_from_slice(q);
            for _ in 0..SWEEPS {
                gauss_seidel_sweep(matrix, 1.0, &mut self.x, &mut self.slack);
            }
            for i in 0..n {
                self.member[i] = self.x[i] * matrix.diagonal(i) > self.slack[i];
            }
        } else {
            for i in 0..n {
                self.member[i] = q[i] < 0.0;
            }
        }
    }

    fn basic_solution(&mut self, n: usize, m: &[f64], q: &[f64]) -> bool {
        for i in 0..n {
            self.x[i] = if self.member[i] { -q[i] } else { 0.0 };
        }
        let member = &self.member;
        match &mut self.factor {
            Factor::Cholesky(factor) => {
                if !factor.factor(n, m, |i| member[i], |_| 0.0) {
                    return false;
                }
                factor.solve(&mut self.x);
                true
            }
            Factor::Lu(factor) => factor.solve(n, |i| member[i], |i, j| m[j * n + i], &mut self.x),
        }
    }

    /// One step of refinement where rounding left $w_A \ne 0$.
    fn refine(&mut self, matrix: &Columns<'_>, q: &[f64], tolerance: f64) {
        let worst = (0..q.len())
            .filter(|&i| self.member[i])
            .fold(0.0_f64, |m, i| m.max(self.slack[i].abs()));
        if let (true, Factor::Cholesky(factor)) = (worst > 0.25 * tolerance, &mut self.factor) {
            factor.solve(&mut self.slack);
            for i in 0..q.len() {
                if self.member[i] {
                    self.x[i] = (self.x[i] - self.slack[i]).max(0.0);
                }
            }
            matrix.slack(&self.x, q, &mut self.slack);
        }
    }
}

/// Keeps the clamped point for the case of failure; the residual of the unclamped one ranks them.
fn keep_better(q: &[f64], x: &[f64], slack: &[f64], best: &mut [f64], best_residual: &mut f64) {
    let residual = natural_residual(x, slack, q);
    if residual < *best_residual {
        *best_residual = residual;
        for (b, &x) in best.iter_mut().zip(x) {
            *b = x.max(0.0);
        }
    }
}
