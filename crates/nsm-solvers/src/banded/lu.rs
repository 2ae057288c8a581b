//! LU factorisation with partial pivoting of a banded matrix.
//!
//! Row $i$ is stored contiguously from column $i - k_\ell$ to $i + k_u + k_\ell$ (the last $k_\ell$
//! places take the fill of row exchanges). Multipliers stay where they were computed, as in LAPACK's
//! `gbtrf`: exchanges are applied to the right-hand side step by step.

use super::tridiagonal;
use crate::error::{LinearError, expect_len};

/// Banded LU factorisation with its storage.
///
/// ```
/// use nsm_solvers::banded::BandedLu;
///
/// // -x'' = 1 on three interior points: tridiagonal.
/// let mut lu = BandedLu::new(3, 1, 1);
/// for i in 0..3_usize {
///     for j in i.saturating_sub(1)..(i + 2).min(3) {
///         *lu.entry_mut(i, j).unwrap() = if i == j { 2.0 } else { -1.0 };
///     }
/// }
/// lu.factor(1e-14)?;
/// let mut x = [1.0, 1.0, 1.0];
/// lu.solve_in_place(&mut x)?;
/// assert!((x[1] - 2.0).abs() < 1e-14);
/// # Ok::<(), nsm_solvers::LinearError>(())
/// ```
#[derive(Debug, Clone)]
pub struct BandedLu {
    n: usize,
    lower: usize,
    upper: usize,
    a: Vec<f64>,
    pivots: Vec<usize>,
    /// $R_i$, exchanged along with the rows, then $C_k$: the pivot rule of [`crate::small`].
    scales: Vec<f64>,
    factorised: bool,
    weakest: f64,
}

impl BandedLu {
    /// Zero matrix of size `n` with the given half-bandwidths.
    pub fn new(n: usize, lower: usize, upper: usize) -> Self {
        let last = n.saturating_sub(1);
        let (lower, upper) = (lower.min(last), upper.min(last));
        let a = vec![0.0; n * (2 * lower + upper + 1)];
        Self {
            n,
            lower,
            upper,
            a,
            pivots: vec![0; n],
            scales: vec![0.0; 2 * n],
            factorised: false,
            weakest: f64::INFINITY,
        }
    }

    /// Number of unknowns.
    pub fn size(&self) -> usize {
        self.n
    }

    /// Lower and upper half-bandwidth.
    pub fn half_bandwidths(&self) -> (usize, usize) {
        (self.lower, self.upper)
    }

    /// Sets all entries to zero, to be filled again.
    pub fn clear(&mut self) {
        self.a.fill(0.0);
        self.factorised = false;
    }

    /// Entry $(i, j)$, or nothing if it lies outside the band. Invalid after [`factor`](Self::factor)
    /// until [`clear`](Self::clear).
    pub fn entry_mut(&mut self, i: usize, j: usize) -> Option<&mut f64> {
        let position = self.position(i, j)?;
        self.a.get_mut(position)
    }

    /// Index of entry $(i, j)$ in [`storage`](Self::storage).
    pub(crate) fn position(&self, i: usize, j: usize) -> Option<usize> {
        let inside = i < self.n && j < self.n && j + self.lower >= i && j <= i + self.upper;
        inside.then(|| i * (2 * self.lower + self.upper + 1) + j + self.lower - i)
    }

    /// The raw storage, for values scattered to known [`position`](Self::position)s.
    pub(crate) fn storage(&mut self) -> &mut [f64] {
        self.factorised = false;
        &mut self.a
    }

    /// Factorises in place; `tolerance` is the relative pivot tolerance of [`crate::small`].
    pub fn factor(&mut self, tolerance: f64) -> Result<(), LinearError> {
        self.factorised = false;
        let (n, a, p, s) = (self.n, &mut self.a[..], &mut self.pivots[..], &mut self.scales[..]);
        self.weakest = match (self.lower, self.upper) {
            (0, 0) => factor_kernel((n, 0, 0), a, p, s, tolerance),
            (1, 1) => tridiagonal::factor(a, p, tolerance),
            (2, 2) => factor_kernel((n, 2, 2), a, p, s, tolerance),
            (3, 3) => factor_kernel((n, 3, 3), a, p, s, tolerance),
            (4, 4) => factor_kernel((n, 4, 4), a, p, s, tolerance),
            (5, 5) => factor_kernel((n, 5, 5), a, p, s, tolerance),
            (lower, upper) => factor_kernel((n, lower, upper), a, p, s, tolerance),
        }?;
        self.factorised = true;
        Ok(())
    }

    /// Smallest pivot of the last factorisation relative to the scale of its row and column.
    pub fn weakest_pivot(&self) -> f64 {
        self.weakest
    }

    /// Solves $Ax = b$ in place.
    pub fn solve_in_place(&self, b: &mut [f64]) -> Result<(), LinearError> {
        self.expect(b)?;
        let (n, a, p) = (self.n, &self.a[..], &self.pivots[..]);
        match (self.lower, self.upper) {
            (1, 1) => tridiagonal::solve(a, p, b),
            (2, 2) => solve_kernel(n, 2, 2, a, p, b),
            (3, 3) => solve_kernel(n, 3, 3, a, p, b),
            (4, 4) => solve_kernel(n, 4, 4, a, p, b),
            (5, 5) => solve_kernel(n, 5, 5, a, p, b),
            (lower, upper) => solve_kernel(n, lower, upper, a, p, b),
        }
        Ok(())
    }

    /// Solves $A^\top x = b$ in place.
    pub fn solve_transposed_in_place(&self, b: &mut [f64]) -> Result<(), LinearError> {
        self.expect(b)?;
        let (n, lower, width) = (self.n, self.lower, 2 * self.lower + self.upper + 1);
        let span = lower + self.upper;
        for k in 0..n {
            let row = &self.a[k * width + lower..(k + 1) * width];
            let x = b[k] * row[0];
            b[k] = x;
            let count = span.min(n - 1 - k);
            for (b, u) in b[k + 1..=k + count].iter_mut().zip(&row[1..=count]) {
                *b -= u * x;
            }
        }
        for k in (0..n).rev() {
            let mut sum = b[k];
            for i in k + 1..=(k + lower).min(n - 1) {
                sum -= self.a[i * width + k + lower - i] * b[i];
            }
            b[k] = sum;
            b.swap(k, self.pivots[k]);
        }
        Ok(())
    }

    fn expect(&self, b: &[f64]) -> Result<(), LinearError> {
        expect_len("right-hand side", b.len(), self.n)?;
        if self.factorised { Ok(()) } else { Err(LinearError::NotFactorised) }
    }
}

#[inline(always)]
#[allow(clippy::inline_always)]
fn factor_kernel(
    (n, lower, upper): (usize, usize, usize),
    a: &mut [f64],
    pivots: &mut [usize],
    scales: &mut [f64],
    tolerance: f64,
) -> Result<f64, LinearError> {
    let width = 2 * lower + upper + 1;
    let span = lower + upper;
    let (a, pivots) = (&mut a[..n * width], &mut pivots[..n]);
    let (rows, columns) = scales[..2 * n].split_at_mut(n);
    columns.fill(0.0);
    for (i, row) in a.chunks_exact(width).enumerate() {
        let mut sum = 0.0;
        for v in &row[..=span] {
            sum += v.abs();
        }
        if !sum.is_finite() {
            return Err(LinearError::NotFinite { what: "matrix row", index: i });
        }
        rows[i] = sum;
        let reciprocal = if sum > 0.0 { 1.0 / sum } else { 0.0 };
        let first = lower.saturating_sub(i);
        let last = span.min(n - 1 + lower - i);
        for (c, v) in
            columns[i + first - lower..=i + last - lower].iter_mut().zip(&row[first..=last])
        {
            let share = v.abs() * reciprocal;
            *c = if share > *c { share } else { *c };
        }
    }
    let mut weakest = f64::INFINITY;
    for k in 0..n {
        // Entry (i, k) with i = k + d sits at offset lower - d of row i. Away from the end the number of rows below is known
        // to the compiler where the bandwidths are.
        let pivot = if k + lower < n {
            eliminate((lower, lower, span), k, a, &mut pivots[k])
        } else {
            eliminate((n - 1 - k, lower, span), k, a, &mut pivots[k])
        };
        let (largest, finite) = pivot;
        rows.swap(k, pivots[k]);
        let scale = rows[k] * columns[k];
        let threshold = tolerance * scale;
        if largest <= threshold || !finite {
            return Err(LinearError::Singular { pivot: k, value: largest, threshold });
        }
        if largest < weakest * scale {
            weakest = largest / scale;
        }
    }
    Ok(weakest)
}

/// Eliminates column $k$ from the `below` rows that have it; returns the size of the pivot and whether it can be divided by.
#[inline(always)]
#[allow(clippy::inline_always)]
fn eliminate(
    (below, lower, span): (usize, usize, usize),
    k: usize,
    a: &mut [f64],
    chosen: &mut usize,
) -> (f64, bool) {
    let width = lower + span + 1;
    let a = &mut a[k * width..(k + 1 + below) * width];
    let mut p = 0;
    let mut largest = a[lower].abs();
    for d in 1..=below {
        let candidate = a[d * width + lower - d].abs();
        if candidate > largest {
            largest = candidate;
            p = d;
        }
    }
    *chosen = k + p;
    let (row_k, tail) = a.split_at_mut(width);
    let row_k = &mut row_k[lower..];
    if p > 0 {
        let row_p = &mut tail[(p - 1) * width + lower - p..p * width];
        for (x, y) in row_k.iter_mut().zip(row_p) {
            std::mem::swap(x, y);
        }
    }
    let pivot = row_k[0];
    let reciprocal = 1.0 / pivot;
    row_k[0] = reciprocal;
    for d in 1..=below {
        let row = &mut tail[(d - 1) * width + lower - d..d * width];
        let l = row[0] * reciprocal;
        row[0] = l;
        for (x, u) in row[1..=span].iter_mut().zip(&row_k[1..=span]) {
            *x -= l * u;
        }
    }
    (largest, reciprocal.is_finite() && pivot.is_finite())
}

#[inline(always)]
#[allow(clippy::inline_always)]
fn solve_kernel(n: usize, lower: usize, upper: usize, a: &[f64], pivots: &[usize], b: &mut [f64]) {
    let width = 2 * lower + upper + 1;
    let span = lower + upper;
    let (a, pivots, b) = (&a[..n * width], &pivots[..n], &mut b[..n]);
    // Away from the ends the lengths of the loops are known to the compiler where the bandwidths are.
    for k in 0..n {
        b.swap(k, pivots[k]);
        if k + lower < n {
            forward(lower, lower, width, &a[k * width..(k + lower + 1) * width], &mut b[k..]);
        } else {
            forward(n - 1 - k, lower, width, &a[k * width..], &mut b[k..]);
        }
    }
    for k in (0..n).rev() {
        let row = &a[k * width + lower..(k + 1) * width];
        if k + span < n {
            backward(span, row, &mut b[k..]);
        } else {
            backward(n - 1 - k, row, &mut b[k..]);
        }
    }
}

#[inline(always)]
#[allow(clippy::inline_always)]
fn forward(below: usize, lower: usize, width: usize, a: &[f64], b: &mut [f64]) {
    let (x, rest) = (b[0], &mut b[1..=below]);
    for (d, b) in rest.iter_mut().enumerate() {
        *b -= a[(d + 1) * width + lower - (d + 1)] * x;
    }
}

#[inline(always)]
#[allow(clippy::inline_always)]
fn backward(count: usize, row: &[f64], b: &mut [f64]) {
    let (first, rest) = b.split_at_mut(1);
    let mut sum = first[0];
    for (u, x) in row[1..=count].iter().zip(&rest[..count]) {
        sum -= u * x;
    }
    first[0] = sum * row[0];
}
