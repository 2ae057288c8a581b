//! Rank-revealing Householder QR of $G^\top$, for a matrix $G$ given by its rows.
//!
//! $$ G^\top P = Q R, \qquad\text{that is}\qquad P^\top G = L Q^\top, \quad L = R^\top, $$
//! with the rows of $G \in \mathbb{R}^{m \times n}$ (constraint gradients) permuted so that the first
//! $r = \operatorname{rank} G$ are independent and the others depend on them. Each step takes the row
//! whose remaining part is the largest share of its own norm, so that rank and pivots do not depend on
//! the rows' units.
//!
//! From one factorisation come
//! * the redundant rows, by name;
//! * the solution of $Gx = b$ of minimum norm ([`PivotedQr::solve_minimum_norm`]);
//! * the multipliers that minimise $|G^\top \lambda - f|$, basic or of minimum norm
//!   ([`PivotedQr::least_squares`], [`PivotedQr::least_squares_minimum_norm`]);
//! * an orthonormal basis of $\lbrace x : Gx = 0 \rbrace$ ([`PivotedQr::null_space`]).
//!
//! A least-squares problem with a tall matrix $A$ is $G = A^\top$: hand over $A$ by columns.

use super::{axpy, dot};
use crate::error::{LinearError, expect_len};

/// Pivoted QR factorisation with its workspace. Grows only for a size not met before.
///
/// ```
/// use nsm_solvers::small::qr::PivotedQr;
///
/// // The third row is the sum of the others.
/// let g = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0];
/// let mut qr = PivotedQr::new(3, 3);
/// assert_eq!(qr.factor(3, 3, &g, 1e-12)?, 2);
/// let mut z = [0.0; 3];
/// qr.null_space(&mut z)?;
/// assert!(z[0].abs() < 1e-15 && z[1].abs() < 1e-15 && (z[2].abs() - 1.0).abs() < 1e-15);
/// # Ok::<(), nsm_solvers::LinearError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct PivotedQr {
    m: usize,
    n: usize,
    rank: usize,
    /// $L$ in the lower trapezoid, Householder vectors (leading 1 implied) right of the diagonal.
    a: Vec<f64>,
    tau: Vec<f64>,
    order: Vec<usize>,
    /// Reciprocal squared norms of the original rows, while factorising.
    shares: Vec<f64>,
    /// A vector of length $\max(m, n)$, then the factor of $L^\top$ for minimum-norm multipliers.
    scratch: Vec<f64>,
    second: Vec<f64>,
    second_tau: Vec<f64>,
}

impl PivotedQr {
    /// Workspace for matrices up to `m` × `n`.
    pub fn new(m: usize, n: usize) -> Self {
        let mut this = Self::default();
        this.resize(m, n);
        this.resize(0, 0);
        this
    }

    fn resize(&mut self, m: usize, n: usize) {
        (self.m, self.n, self.rank) = (m, n, 0);
        self.a.resize(m * n, 0.0);
        self.tau.resize(m.min(n), 0.0);
        self.order.resize(m, 0);
        self.shares.resize(m, 0.0);
        self.scratch.resize(m.max(n), 0.0);
        self.second.resize(m.min(n) * m, 0.0);
        self.second_tau.resize(m.min(n), 0.0);
    }

    /// Factorises the `m` × `n` row-major matrix `g`; returns its rank.
    ///
    /// A row is redundant when the part of it that is orthogonal to the rows before is at most
    /// `tolerance` times its norm; `1e-12` suits rows computed to round-off.
    pub fn factor(
        &mut self,
        m: usize,
        n: usize,
        g: &[f64],
        tolerance: f64,
    ) -> Result<usize, LinearError> {
        expect_len("matrix", g.len(), m * n)?;
        self.resize(m, n);
        self.a.copy_from_slice(g);
        for i in 0..m {
            let row = &g[i * n..(i + 1) * n];
            let norm2 = dot(row, row);
            if !norm2.is_finite() {
                return Err(LinearError::NotFinite { what: "row", index: i });
            }
            self.order[i] = i;
            self.shares[i] = if norm2 > 0.0 { 1.0 / norm2 } else { 0.0 };
        }
        for k in 0..m.min(n) {
            let mut p = k;
            let mut largest = 0.0;
            for i in k..m {
                let rest = &self.a[i * n + k..(i + 1) * n];
                let share = dot(rest, rest) * self.shares[i];
                if share > largest {
                    largest = share;
                    p = i;
                }
            }
            if largest <= tolerance * tolerance {
                break;
            }
            if p != k {
                let (top, bottom) = self.a.split_at_mut(p * n);
                top[k * n..(k + 1) * n].swap_with_slice(&mut bottom[..n]);
                self.order.swap(k, p);
                self.shares.swap(k, p);
            }
            self.tau[k] = reflect(n, &mut self.a[k * n..], k);
            self.rank = k + 1;
        }
        Ok(self.rank)
    }

    /// Rank found by [`factor`](Self::factor).
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Original indices of a largest set of independent rows, in the order of elimination.
    pub fn independent(&self) -> &[usize] {
        &self.order[..self.rank]
    }

    /// Original indices of the rows that depend on the [independent](Self::independent) ones.
    pub fn redundant(&self) -> &[usize] {
        &self.order[self.rank..self.m]
    }

    /// $x \leftarrow Q x$, in $\mathbb{R}^n$.
    pub fn apply_q(&self, x: &mut [f64]) -> Result<(), LinearError> {
        expect_len("vector", x.len(), self.n)?;
        apply_q(self.n, self.rank, &self.a, &self.tau, x);
        Ok(())
    }

    /// $x \leftarrow Q^\top x$, in $\mathbb{R}^n$.
    pub fn apply_q_transposed(&self, x: &mut [f64]) -> Result<(), LinearError> {
        expect_len("vector", x.len(), self.n)?;
        for k in 0..self.rank {
            householder(self.n, &self.a, self.tau[k], k, x);
        }
        Ok(())
    }

    /// Solution of $Gx = b$ of minimum norm; returns the largest violation among redundant rows.
    ///
    /// The independent rows are satisfied to round-off. What is returned is zero, to round-off, if and
    /// only if $b$ is consistent.
    pub fn solve_minimum_norm(&self, b: &[f64], x: &mut [f64]) -> Result<f64, LinearError> {
        let (n, rank) = (self.n, self.rank);
        expect_len("right-hand side", b.len(), self.m)?;
        expect_len("solution", x.len(), n)?;
        x.fill(0.0);
        let mut violation = 0.0_f64;
        for i in 0..self.m {
            let row = &self.a[i * n..(i + 1) * n];
            let known = i.min(rank);
            let rest = b[self.order[i]] - dot(&row[..known], &x[..known]);
            if i < rank {
                x[i] = rest / row[i];
            } else {
                violation = violation.max(rest.abs());
            }
        }
        apply_q(n, rank, &self.a, &self.tau, x);
        Ok(violation)
    }

    /// Multipliers that minimise $|G^\top\lambda - f|$, zero for redundant rows; returns that minimum.
    pub fn least_squares(&mut self, f: &[f64], lambda: &mut [f64]) -> Result<f64, LinearError> {
        let distance = self.project(f)?;
        expect_len("multipliers", lambda.len(), self.m)?;
        let (n, rank) = (self.n, self.rank);
        lambda.fill(0.0);
        for i in (0..rank).rev() {
            let row = &self.a[i * n..(i + 1) * n];
            let value = self.scratch[i] / row[i];
            axpy(-value, &row[..i], &mut self.scratch[..i]);
            lambda[self.order[i]] = value;
        }
        Ok(distance)
    }

    /// Multipliers of minimum norm among those that minimise $|G^\top\lambda - f|$; returns that minimum.
    ///
    /// Redundant rows share the load. With full rank the answer is [`least_squares`](Self::least_squares)'.
    pub fn least_squares_minimum_norm(
        &mut self,
        f: &[f64],
        lambda: &mut [f64],
    ) -> Result<f64, LinearError> {
        let (m, n, rank) = (self.m, self.n, self.rank);
        if rank == m {
            return self.least_squares(f, lambda);
        }
        let distance = self.project(f)?;
        expect_len("multipliers", lambda.len(), m)?;
        // L⊤ (rank × m) has independent rows: its own LQ gives the solution of minimum norm.
        for j in 0..rank {
            for i in 0..m {
                self.second[j * m + i] = if i >= j { self.a[i * n + j] } else { 0.0 };
            }
        }
        for k in 0..rank {
            self.second_tau[k] = reflect(m, &mut self.second[k * m..rank * m], k);
        }
        for i in 0..rank {
            let row = &self.second[i * m..(i + 1) * m];
            let known = dot(&row[..i], &self.scratch[..i]);
            self.scratch[i] = (self.scratch[i] - known) / row[i];
        }
        self.scratch[rank..m.max(n)].fill(0.0);
        apply_q(m, rank, &self.second, &self.second_tau, &mut self.scratch[..m]);
        for i in 0..m {
            lambda[self.order[i]] = self.scratch[i];
        }
        Ok(distance)
    }

    /// Orthonormal basis of $\lbrace x : Gx = 0\rbrace$, written as the $n - r$ rows of `z`.
    pub fn null_space(&self, z: &mut [f64]) -> Result<(), LinearError> {
        let (n, rank) = (self.n, self.rank);
        expect_len("null-space basis", z.len(), (n - rank) * n)?;
        for i in 0..n - rank {
            let row = &mut z[i * n..(i + 1) * n];
            row.fill(0.0);
            row[rank + i] = 1.0;
            apply_q(n, rank, &self.a, &self.tau, row);
        }
        Ok(())
    }

    /// Leaves $Q^\top f$ in the scratch and returns the norm of its part outside the range of $G^\top$.
    fn project(&mut self, f: &[f64]) -> Result<f64, LinearError> {
        expect_len("right-hand side", f.len(), self.n)?;
        let c = &mut self.scratch[..self.n];
        c.copy_from_slice(f);
        for k in 0..self.rank {
            householder(self.n, &self.a, self.tau[k], k, c);
        }
        Ok(dot(&c[self.rank..], &c[self.rank..]).sqrt())
    }
}

/// Builds the reflector that turns `rows[0][k..]` into a multiple of the first unit vector and applies
/// it to the rows below. `rows` starts at that row. Returns $\tau$ of $H = I - \tau v v^\top$.
fn reflect(n: usize, rows: &mut [f64], k: usize) -> f64 {
    let (head, below) = rows.split_at_mut(n);
    let pivot = &mut head[k..];
    let tail2 = dot(&pivot[1..], &pivot[1..]);
    let alpha = pivot[0];
    if tail2 == 0.0 {
        return 0.0;
    }
    let beta = -alpha.signum() * (alpha * alpha + tail2).sqrt();
    let tau = (beta - alpha) / beta;
    let scale = 1.0 / (alpha - beta);
    for v in &mut pivot[1..] {
        *v *= scale;
    }
    pivot[0] = beta;
    for row in below.chunks_exact_mut(n) {
        let rest = &mut row[k..];
        let s = -tau * (rest[0] + dot(&rest[1..], &pivot[1..]));
        rest[0] += s;
        axpy(s, &pivot[1..], &mut rest[1..]);
    }
    tau
}

/// $x \leftarrow H_k x$.
fn householder(n: usize, a: &[f64], tau: f64, k: usize, x: &mut [f64]) {
    let v = &a[k * n + k + 1..(k + 1) * n];
    let s = -tau * (x[k] + dot(v, &x[k + 1..]));
    x[k] += s;
    axpy(s, v, &mut x[k + 1..]);
}

/// $x \leftarrow H_0 \cdots H_{r-1} x$.
fn apply_q(n: usize, rank: usize, a: &[f64], tau: &[f64], x: &mut [f64]) {
    for k in (0..rank).rev() {
        householder(n, a, tau[k], k, x);
    }
}
