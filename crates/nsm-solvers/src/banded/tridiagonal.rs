//! The tridiagonal case of [`BandedLu`](super::BandedLu), on the same storage, in one pass.
//!
//! Row $k$ is stored as $(a_{k,k-1}, a_{kk}, a_{k,k+1}, \text{fill})$ and becomes
//! $(\ell_k, 1/u_{kk}, u_{k,k+1}, u_{k,k+2})$. What the next step needs stays in registers: the row
//! under elimination, the original entries of its column, and the scales of three rows.

use crate::error::LinearError;

/// Numbers per row.
const WIDTH: usize = 4;

/// Factorises in place and returns the smallest pivot relative to the scale of its row and column.
pub(super) fn factor(
    a: &mut [f64],
    pivots: &mut [usize],
    tolerance: f64,
) -> Result<f64, LinearError> {
    let n = pivots.len();
    let (a, _) = a.as_chunks_mut::<WIDTH>();
    let Some(first) = a.first() else { return Ok(f64::INFINITY) };
    let (mut d, mut u) = (first[1], first[2]);
    let mut row_scale = d.abs() + u.abs();
    let mut column_share = share(d, row_scale);
    let mut next_share = share(u, row_scale);
    if !row_scale.is_finite() {
        return Err(LinearError::NotFinite { what: "matrix row", index: 0 });
    }
    let mut weakest = f64::INFINITY;
    for k in 0..n {
        // The last row is followed by an imaginary one of zeros.
        let [below, diagonal, above, _] = if k + 1 < n { a[k + 1] } else { [0.0; WIDTH] };
        let scale_below = below.abs() + diagonal.abs() + above.abs();
        if !scale_below.is_finite() {
            return Err(LinearError::NotFinite { what: "matrix row", index: k + 1 });
        }
        let inverse_below = if scale_below > 0.0 { 1.0 / scale_below } else { 0.0 };
        let column_scale = column_share.max(below.abs() * inverse_below);
        column_share = next_share.max(diagonal.abs() * inverse_below);
        next_share = above.abs() * inverse_below;

        let exchange = below.abs() > d.abs();
        let (pivot, scale) = if exchange { (below, scale_below) } else { (d, row_scale) };
        let scale = scale * column_scale;
        let reciprocal = 1.0 / pivot;
        let threshold = tolerance * scale;
        if pivot.abs() <= threshold || !(reciprocal.is_finite() && pivot.is_finite()) {
            return Err(LinearError::Singular { pivot: k, value: pivot.abs(), threshold });
        }
        if pivot.abs() < weakest * scale {
            weakest = pivot.abs() / scale;
        }
        let l;
        if exchange {
            pivots[k] = k + 1;
            l = d * reciprocal;
            [a[k][1], a[k][2], a[k][3]] = [reciprocal, diagonal, above];
            (d, u) = (u - l * diagonal, -l * above);
        } else {
            pivots[k] = k;
            l = below * reciprocal;
            [a[k][1], a[k][2], a[k][3]] = [reciprocal, u, 0.0];
            (d, u) = (diagonal - l * u, above);
            row_scale = scale_below;
        }
        if k + 1 < n {
            a[k + 1][0] = l;
        }
    }
    Ok(weakest)
}

fn share(value: f64, scale: f64) -> f64 {
    if scale > 0.0 { value.abs() / scale } else { 0.0 }
}

/// Solves in place with the factor of [`factor`].
pub(super) fn solve(a: &[f64], pivots: &[usize], b: &mut [f64]) {
    let (a, _) = a.as_chunks::<WIDTH>();
    let n = b.len();
    let Some(&first) = b.first() else { return };
    let mut x = first;
    for k in 0..n - 1 {
        let next = b[k + 1];
        let (kept, carried) = if pivots[k] == k { (x, next) } else { (next, x) };
        b[k] = kept;
        x = carried - a[k + 1][0] * kept;
    }
    b[n - 1] = x;
    let (mut x1, mut x2) = (0.0, 0.0);
    for k in (0..n).rev() {
        let [_, reciprocal, u1, u2] = a[k];
        // The last unknown enters last: one multiplication and one subtraction on the critical path.
        let x = (b[k] - u2 * x2) * reciprocal - (u1 * reciprocal) * x1;
        b[k] = x;
        (x2, x1) = (x1, x);
    }
}
