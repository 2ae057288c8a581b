//! Rank-revealing Cholesky factorisation of a positive semidefinite matrix.
//!
//! Contact problems meet $A = G W G^\top$ with dependent rows of $G$. With a permutation $P$ that
//! brings $r$ independent rows to the front,
//! $$ P^\top A P = L L^\top, \qquad L \in \mathbb{R}^{n \times r} \text{ lower trapezoidal.} $$
//! Each step takes the row that keeps the largest share $d_k / a_{kk}$ of its own diagonal entry, and
//! the elimination stops when no share exceeds the tolerance. Rank and pivots therefore do not depend
//! on how the rows of $G$ are scaled.

use super::cholesky::pivot_error;
use super::{cholesky, dot};
use crate::error::{LinearError, expect_finite, expect_len};

/// Pivoted Cholesky factorisation with its workspace. Grows only for a size not met before.
///
/// ```
/// use nsm_solvers::small::gram::PivotedCholesky;
///
/// // Two copies of the same contact: rank one, and the load is shared.
/// let mut gram = PivotedCholesky::new(2);
/// assert_eq!(gram.factor(2, &[4.0, 4.0, 4.0, 4.0], 1e-12)?, 1);
/// let mut x = [0.0; 2];
/// gram.solve_minimum_norm(&[4.0, 4.0], &mut x)?;
/// assert!((x[0] - 0.5).abs() < 1e-15 && (x[1] - 0.5).abs() < 1e-15);
/// assert_eq!(gram.redundant().len(), 1);
/// # Ok::<(), nsm_solvers::LinearError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct PivotedCholesky {
    n: usize,
    rank: usize,
    /// Rows exchanged physically: row `k` of $L$ belongs to the original row `order[k]`.
    l: Vec<f64>,
    order: Vec<usize>,
    /// Reciprocal of the original diagonal, while factorising.
    shares: Vec<f64>,
    /// $L^\top L$ and a vector, for minimum-norm solutions.
    scratch: Vec<f64>,
}

impl PivotedCholesky {
    /// Workspace for matrices up to `n` × `n`.
    pub fn new(n: usize) -> Self {
        let mut this = Self::default();
        this.resize(n);
        this.resize(0);
        this
    }

    fn resize(&mut self, n: usize) {
        self.n = n;
        self.rank = 0;
        self.l.resize(n * n, 0.0);
        self.order.resize(n, 0);
        self.shares.resize(n, 0.0);
        self.scratch.resize(n * n + n, 0.0);
    }

    /// Factorises the lower triangle of the `n` × `n` row-major matrix `a`; returns the rank.
    ///
    /// `tolerance` is the share of a diagonal entry below which a row counts as redundant:
    /// $100 n \varepsilon$ or more, since $A$ itself was rounded. A diagonal that is negative
    /// beyond that share is [`LinearError::NotPositiveDefinite`].
    pub fn factor(&mut self, n: usize, a: &[f64], tolerance: f64) -> Result<usize, LinearError> {
        expect_len("matrix", a.len(), n * n)?;
        self.resize(n);
        for i in 0..n {
            expect_finite("matrix row", &a[i * n..=i * n + i])?;
        }
        self.l.copy_from_slice(a);
        let (a, order, shares) = (&mut self.l[..], &mut self.order[..], &mut self.shares[..]);
        for i in 0..n {
            let diagonal = a[i * n + i];
            if diagonal < 0.0 {
                return Err(pivot_error(i, diagonal, 0.0));
            }
            order[i] = i;
            // A zero row stays zero; anything subtracted from its diagonal shows as a negative share.
            shares[i] = if diagonal > 0.0 { 1.0 / diagonal } else { f64::MAX };
        }
        for k in 0..n {
            let mut p = k;
            let mut largest = f64::NEG_INFINITY;
            for i in k..n {
                let share = a[i * n + i] * shares[i];
                if share.is_nan() {
                    return Err(LinearError::NotFinite { what: "pivot", index: order[i] });
                }
                if share < -tolerance {
                    return Err(pivot_error(order[i], a[i * n + i], 0.0));
                }
                if share > largest {
                    largest = share;
                    p = i;
                }
            }
            if largest <= tolerance.max(0.0) {
                break;
            }
            exchange(n, a, k, p);
            order.swap(k, p);
            shares.swap(k, p);
            eliminate(n, a, k);
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
        &self.order[self.rank..self.n]
    }

    /// Basic solution of $Ax = b$: redundant rows get zero.
    ///
    /// Satisfies all equations when $b$ lies in the range of $A$.
    pub fn solve_basic(&self, b: &[f64], x: &mut [f64]) -> Result<(), LinearError> {
        let (n, l, order) = (self.n, &self.l[..], &self.order[..]);
        expect_len("right-hand side", b.len(), n)?;
        expect_len("solution", x.len(), n)?;
        x.fill(0.0);
        for i in 0..self.rank {
            let row = &l[i * n..=i * n + i];
            let mut sum = b[order[i]];
            for j in 0..i {
                sum -= row[j] * x[order[j]];
            }
            x[order[i]] = sum * row[i];
        }
        for i in (0..self.rank).rev() {
            let row = &l[i * n..=i * n + i];
            let value = x[order[i]] * row[i];
            x[order[i]] = value;
            for j in 0..i {
                x[order[j]] -= row[j] * value;
            }
        }
        Ok(())
    }

    /// Least-squares solution of $Ax = b$ of minimum norm, $x = A^+ b$.
    ///
    /// With $A = P L L^\top P^\top$, $A^+ = P L (L^\top L)^{-2} L^\top P^\top$.
    pub fn solve_minimum_norm(&mut self, b: &[f64], x: &mut [f64]) -> Result<(), LinearError> {
        if self.rank == self.n {
            return self.solve_basic(b, x);
        }
        let (n, rank, l, order) = (self.n, self.rank, &self.l[..], &self.order[..]);
        expect_len("right-hand side", b.len(), n)?;
        expect_len("solution", x.len(), n)?;
        let (gram, rest) = self.scratch.split_at_mut(rank * rank);
        let y = &mut rest[..rank];
        let diagonal = |i: usize| 1.0 / l[i * n + i];
        gram.fill(0.0);
        y.fill(0.0);
        for i in 0..n {
            let row = &l[i * n..i * n + n];
            for j in 0..rank.min(i + 1) {
                let lij = if i == j { diagonal(i) } else { row[j] };
                y[j] += lij * b[order[i]];
                for k in 0..=j {
                    gram[j * rank + k] += lij * if i == k { diagonal(i) } else { row[k] };
                }
            }
        }
        cholesky::factor(rank, gram, 0.0)?;
        cholesky::solve(rank, gram, y)?;
        cholesky::solve(rank, gram, y)?;
        for i in 0..n {
            x[order[i]] = if i < rank {
                dot(&l[i * n..i * n + i], &y[..i]) + y[i] * diagonal(i)
            } else {
                dot(&l[i * n..i * n + rank], y)
            };
        }
        Ok(())
    }
}

/// Symmetric exchange of rows and columns `k` and `p`, `k <= p`, in the lower triangle.
fn exchange(n: usize, a: &mut [f64], k: usize, p: usize) {
    if k == p {
        return;
    }
    for j in 0..k {
        a.swap(k * n + j, p * n + j);
    }
    for j in k + 1..p {
        a.swap(j * n + k, p * n + j);
    }
    for i in p + 1..n {
        a.swap(i * n + k, i * n + p);
    }
    a.swap(k * n + k, p * n + p);
}

/// Column `k` of $L$, and its contribution subtracted from what remains.
fn eliminate(n: usize, a: &mut [f64], k: usize) {
    let reciprocal = 1.0 / a[k * n + k].sqrt();
    a[k * n + k] = reciprocal;
    for i in k + 1..n {
        a[i * n + k] *= reciprocal;
    }
    for i in k + 1..n {
        let l = a[i * n + k];
        for j in k + 1..=i {
            a[i * n + j] -= l * a[j * n + k];
        }
    }
}

/// Lower triangle of the Gram matrix $A = G \mathrm{diag}(w) G^\top$ of a row-major `m` × `n` matrix.
///
/// An empty `w` stands for the identity.
pub fn assemble(
    m: usize,
    n: usize,
    g: &[f64],
    w: &[f64],
    a: &mut [f64],
) -> Result<(), LinearError> {
    expect_len("rows", g.len(), m * n)?;
    expect_len("Gram matrix", a.len(), m * m)?;
    if !w.is_empty() {
        expect_len("weights", w.len(), n)?;
    }
    for i in 0..m {
        for j in 0..=i {
            let (gi, gj) = (&g[i * n..(i + 1) * n], &g[j * n..(j + 1) * n]);
            a[i * m + j] = if w.is_empty() {
                dot(gi, gj)
            } else {
                gi.iter().zip(gj).zip(w).map(|((x, y), w)| x * y * w).sum()
            };
        }
    }
    Ok(())
}
