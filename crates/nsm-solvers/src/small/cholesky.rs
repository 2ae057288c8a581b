//! Cholesky factorisation $A = LL^\top$ of a symmetric positive definite matrix.
//!
//! The strict lower part of $L$ and $1/\ell_{kk}$ overwrite the lower triangle of $A$; the strict
//! upper triangle is neither read nor written.

use super::{axpy, dot};
use crate::error::{LinearError, expect_len};

/// Factorises the lower triangle of the `n` × `n` row-major matrix `a` in place.
///
/// Fails with [`LinearError::NotPositiveDefinite`] where a pivot is not above
/// `tolerance` times the diagonal entry it came from.
pub fn factor(n: usize, a: &mut [f64], tolerance: f64) -> Result<(), LinearError> {
    expect_len("matrix", a.len(), n * n)?;
    match n {
        1 => factor_kernel(1, a, tolerance),
        2 => factor_kernel(2, a, tolerance),
        3 => factor_kernel(3, a, tolerance),
        4 => factor_kernel(4, a, tolerance),
        6 => factor_kernel(6, a, tolerance),
        _ => factor_kernel(n, a, tolerance),
    }
}

#[inline(always)]
#[allow(clippy::inline_always)]
fn factor_kernel(n: usize, a: &mut [f64], tolerance: f64) -> Result<(), LinearError> {
    let a = &mut a[..n * n];
    for i in 0..n {
        let (top, bottom) = a.split_at_mut(i * n);
        let row = &mut bottom[..=i];
        let mut squares = 0.0;
        for (j, other) in top.chunks_exact(n).enumerate() {
            let l = (row[j] - dot(&row[..j], &other[..j])) * other[j];
            row[j] = l;
            squares += l * l;
        }
        let diagonal = row[i];
        let pivot = diagonal - squares;
        let threshold = tolerance * diagonal;
        let reciprocal = 1.0 / pivot.sqrt();
        // Written so that NaN fails.
        if pivot > threshold && pivot > 0.0 && reciprocal.is_finite() && pivot.is_finite() {
            row[i] = reciprocal;
        } else {
            return Err(pivot_error(i, pivot, threshold));
        }
    }
    Ok(())
}

#[cold]
pub(super) fn pivot_error(pivot: usize, value: f64, threshold: f64) -> LinearError {
    if value.is_finite() && threshold.is_finite() {
        LinearError::NotPositiveDefinite { pivot, value, threshold: threshold.max(0.0) }
    } else {
        LinearError::NotFinite { what: "pivot", index: pivot }
    }
}

/// Solves $Ax = b$ in place with the factor of [`factor`].
pub fn solve(n: usize, l: &[f64], b: &mut [f64]) -> Result<(), LinearError> {
    expect_len("matrix", l.len(), n * n)?;
    expect_len("right-hand side", b.len(), n)?;
    match n {
        1 => solve_kernel(1, l, b),
        2 => solve_kernel(2, l, b),
        3 => solve_kernel(3, l, b),
        4 => solve_kernel(4, l, b),
        6 => solve_kernel(6, l, b),
        _ => solve_kernel(n, l, b),
    }
    Ok(())
}

#[inline(always)]
#[allow(clippy::inline_always)]
fn solve_kernel(n: usize, l: &[f64], b: &mut [f64]) {
    lower_kernel(n, l, b);
    lower_transposed_kernel(n, l, b);
}

/// Solves $Lx = b$ in place (half of [`solve`]): then $|x|^2 = b^\top A^{-1} b$.
pub fn solve_lower(n: usize, l: &[f64], b: &mut [f64]) -> Result<(), LinearError> {
    expect_len("matrix", l.len(), n * n)?;
    expect_len("right-hand side", b.len(), n)?;
    lower_kernel(n, l, b);
    Ok(())
}

/// Solves $L^\top x = b$ in place (the other half of [`solve`]).
pub fn solve_lower_transposed(n: usize, l: &[f64], b: &mut [f64]) -> Result<(), LinearError> {
    expect_len("matrix", l.len(), n * n)?;
    expect_len("right-hand side", b.len(), n)?;
    lower_transposed_kernel(n, l, b);
    Ok(())
}

#[inline(always)]
#[allow(clippy::inline_always)]
fn lower_kernel(n: usize, l: &[f64], b: &mut [f64]) {
    let (l, b) = (&l[..n * n], &mut b[..n]);
    for i in 0..n {
        let row = &l[i * n..=i * n + i];
        b[i] = (b[i] - dot(&row[..i], &b[..i])) * row[i];
    }
}

#[inline(always)]
#[allow(clippy::inline_always)]
fn lower_transposed_kernel(n: usize, l: &[f64], b: &mut [f64]) {
    let (l, b) = (&l[..n * n], &mut b[..n]);
    for i in (0..n).rev() {
        let row = &l[i * n..=i * n + i];
        let x = b[i] * row[i];
        b[i] = x;
        axpy(-x, &row[..i], &mut b[..i]);
    }
}
