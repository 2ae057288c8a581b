//! LU factorisation with partial pivoting, $PA = LU$.
//!
//! $L$ is unit lower triangular with $|\ell_{ij}| \le 1$; its strict lower part, $U$'s strict upper
//! part and $1/u_{kk}$ overwrite $A$. `pivots[k]` is the row that was exchanged with row $k$ in step
//! $k$ (the LAPACK convention), which lets the right-hand side be permuted in place.

use super::{axpy, dot};
use crate::error::{LinearError, expect_len};

/// Factorises the `n` × `n` row-major matrix `a` in place.
///
/// Returns the smallest pivot relative to $R_i C_k$ (infinity for `n = 0`): below about $10^{-6}$ the
/// condition is worth a look with [`rcond`]. `tolerance` is the $\tau$ of the [module](super); [`super::tolerance`] is a good
/// default and `0.0` rejects exact zeros only. On error `a` is partly overwritten.
///
/// ```
/// use nsm_solvers::small::{self, lu};
///
/// let mut a = [0.0, 2.0, 1.0, 1.0];
/// let mut pivots = [0; 2];
/// lu::factor(2, &mut a, &mut pivots, small::tolerance(2))?;
/// let mut x = [4.0, 3.0];
/// lu::solve(2, &a, &pivots, &mut x)?;
/// assert_eq!(x, [1.0, 2.0]);
/// # Ok::<(), nsm_solvers::LinearError>(())
/// ```
pub fn factor(
    n: usize,
    a: &mut [f64],
    pivots: &mut [usize],
    tolerance: f64,
) -> Result<f64, LinearError> {
    expect_len("matrix", a.len(), n * n)?;
    expect_len("pivots", pivots.len(), n)?;
    // Constant sizes let the compiler unroll the loops that dominate tiny systems.
    match n {
        1 => factor_kernel::<4>(1, a, pivots, tolerance),
        2 => factor_kernel::<4>(2, a, pivots, tolerance),
        3 => factor_kernel::<4>(3, a, pivots, tolerance),
        4 => factor_kernel::<4>(4, a, pivots, tolerance),
        6 => factor_kernel::<6>(6, a, pivots, tolerance),
        0..=12 => factor_kernel::<12>(n, a, pivots, tolerance),
        13..=32 => factor_kernel::<32>(n, a, pivots, tolerance),
        33..=256 => factor_kernel::<256>(n, a, pivots, tolerance),
        _ => factor_kernel::<0>(n, a, pivots, tolerance),
    }
}

#[inline(always)]
#[allow(clippy::inline_always)]
fn factor_kernel<const CAP: usize>(
    n: usize,
    a: &mut [f64],
    pivots: &mut [usize],
    tolerance: f64,
) -> Result<f64, LinearError> {
    let a = &mut a[..n * n];
    let pivots = &mut pivots[..n];
    let (mut rows, mut columns) = ([0.0; CAP], [0.0; CAP]);
    if CAP > 0 {
        scales(n, a, &mut rows[..n], &mut columns[..n]);
    }
    let mut weakest = f64::INFINITY;
    for k in 0..n {
        let mut p = k;
        let mut largest = a[k * n + k].abs();
        for i in k + 1..n {
            let candidate = a[i * n + k].abs();
            if candidate > largest {
                largest = candidate;
                p = i;
            }
        }
        pivots[k] = p;
        if p != k {
            let (top, bottom) = a.split_at_mut(p * n);
            top[k * n..(k + 1) * n].swap_with_slice(&mut bottom[..n]);
        }
        let scale = if CAP > 0 {
            rows.swap(k, p);
            rows[k] * columns[k]
        } else {
            (0..k).map(|j| (a[k * n + j] * a[j * n + k]).abs()).sum::<f64>() + largest
        };
        let pivot = a[k * n + k];
        let reciprocal = 1.0 / pivot;
        // A NaN or an infinity anywhere ends up in a pivot, and fails one of these comparisons.
        if largest <= tolerance * scale || !(reciprocal.is_finite() && pivot.is_finite()) {
            return Err(pivot_error(k, pivot, tolerance * scale));
        }
        if largest < weakest * scale {
            weakest = largest / scale;
        }
        let (top, bottom) = a.split_at_mut((k + 1) * n);
        let u = &top[k * n + k + 1..];
        for row in bottom.chunks_exact_mut(n) {
            let l = row[k] * reciprocal;
            row[k] = l;
            axpy(-l, u, &mut row[k + 1..]);
        }
        a[k * n + k] = reciprocal;
    }
    Ok(weakest)
}

/// $R_i$ and $C_j$ of the [module](super)'s pivot rule, for a matrix whose vectors of length `n` are
/// contiguous.
#[inline(always)]
#[allow(clippy::inline_always)]
pub(crate) fn scales(n: usize, a: &[f64], rows: &mut [f64], columns: &mut [f64]) {
    columns.fill(0.0);
    for (row, scale) in a.chunks_exact(n.max(1)).zip(rows) {
        let mut largest = 0.0;
        for v in row {
            largest = if v.abs() > largest { v.abs() } else { largest };
        }
        *scale = largest;
        let reciprocal = if largest > 0.0 { 1.0 / largest } else { 0.0 };
        for (c, v) in columns.iter_mut().zip(row) {
            let share = v.abs() * reciprocal;
            *c = if share > *c { share } else { *c };
        }
    }
}

#[cold]
fn pivot_error(pivot: usize, value: f64, threshold: f64) -> LinearError {
    if value.is_finite() {
        LinearError::Singular { pivot, value: value.abs(), threshold }
    } else {
        LinearError::NotFinite { what: "pivot", index: pivot }
    }
}

/// Solves $Ax = b$ in place with the factor of [`factor`].
pub fn solve(n: usize, lu: &[f64], pivots: &[usize], b: &mut [f64]) -> Result<(), LinearError> {
    expect_factor(n, lu, pivots, b)?;
    match n {
        1 => solve_kernel(1, lu, pivots, b),
        2 => solve_kernel(2, lu, pivots, b),
        3 => solve_kernel(3, lu, pivots, b),
        4 => solve_kernel(4, lu, pivots, b),
        6 => solve_kernel(6, lu, pivots, b),
        _ => solve_kernel(n, lu, pivots, b),
    }
    Ok(())
}

#[inline(always)]
#[allow(clippy::inline_always)]
fn solve_kernel(n: usize, lu: &[f64], pivots: &[usize], b: &mut [f64]) {
    let (lu, pivots, b) = (&lu[..n * n], &pivots[..n], &mut b[..n]);
    for k in 0..n {
        b.swap(k, pivots[k].min(n - 1));
    }
    for i in 1..n {
        b[i] -= dot(&lu[i * n..i * n + i], &b[..i]);
    }
    for i in (0..n).rev() {
        let row = &lu[i * n..(i + 1) * n];
        b[i] = (b[i] - dot(&row[i + 1..], &b[i + 1..])) * row[i];
    }
}

/// Solves $A^\top x = b$ in place with the factor of [`factor`].
pub fn solve_transposed(
    n: usize,
    lu: &[f64],
    pivots: &[usize],
    b: &mut [f64],
) -> Result<(), LinearError> {
    expect_factor(n, lu, pivots, b)?;
    for i in 0..n {
        let row = &lu[i * n..(i + 1) * n];
        let x = b[i] * row[i];
        b[i] = x;
        axpy(-x, &row[i + 1..], &mut b[i + 1..]);
    }
    for i in (1..n).rev() {
        let x = b[i];
        axpy(-x, &lu[i * n..i * n + i], &mut b[..i]);
    }
    for k in (0..n).rev() {
        b.swap(k, pivots[k].min(n - 1));
    }
    Ok(())
}

/// Estimate of the reciprocal condition number $1 / (\lVert A\rVert_1 \lVert A^{-1}\rVert_1)$.
///
/// `norm` is $\lVert A\rVert_1$ (see [`norm_1`]), taken before factorising; `scratch` has length $2n$.
/// Hager's method as in LAPACK's `gecon` [Higham 2002, algorithm 15.1]: a handful of solves, a lower
/// bound of the condition number that is almost always within a factor of three.
pub fn rcond(
    n: usize,
    lu: &[f64],
    pivots: &[usize],
    norm: f64,
    scratch: &mut [f64],
) -> Result<f64, LinearError> {
    expect_len("scratch", scratch.len(), 2 * n)?;
    expect_len("matrix", lu.len(), n * n)?;
    expect_len("pivots", pivots.len(), n)?;
    let inverse = crate::refine::inverse_norm_1(
        n,
        scratch,
        |x| solve(n, lu, pivots, x),
        |x| solve_transposed(n, lu, pivots, x),
    )?;
    Ok(crate::refine::reciprocal_condition(n, norm, inverse))
}

/// $\lVert A\rVert_1 = \max_j \sum_i |a_{ij}|$ of a row-major `n` × `n` matrix, without scratch.
pub fn norm_1(n: usize, a: &[f64]) -> Result<f64, LinearError> {
    expect_len("matrix", a.len(), n * n)?;
    let column = |j: usize| (0..n).map(|i| a[i * n + j].abs()).sum::<f64>();
    Ok((0..n).map(column).fold(0.0, f64::max))
}

fn expect_factor(n: usize, lu: &[f64], pivots: &[usize], b: &[f64]) -> Result<(), LinearError> {
    expect_len("matrix", lu.len(), n * n)?;
    expect_len("pivots", pivots.len(), n)?;
    expect_len("right-hand side", b.len(), n)
}
