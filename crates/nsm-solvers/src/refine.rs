//! Norm of an inverse from a few solves, shared by the dense, banded and sparse factorisations.

use crate::error::LinearError;
use crate::small::dot;

/// Lower bound of $\lVert A^{-1}\rVert_1$ from solves with $A$ and $A^\top$ [Higham 2002, algorithm 15.1].
///
/// `scratch` has length $2n$.
pub(crate) fn inverse_norm_1(
    n: usize,
    scratch: &mut [f64],
    mut solve: impl FnMut(&mut [f64]) -> Result<(), LinearError>,
    mut solve_transposed: impl FnMut(&mut [f64]) -> Result<(), LinearError>,
) -> Result<f64, LinearError> {
    const MAX_SWEEPS: usize = 5;
    if n == 0 {
        return Ok(0.0);
    }
    let (x, y) = scratch[..2 * n].split_at_mut(n);
    x.fill(1.0 / n as f64);
    let mut estimate = 0.0;
    for sweep in 0..MAX_SWEEPS {
        y.copy_from_slice(x);
        solve(y)?;
        let norm: f64 = y.iter().map(|v| v.abs()).sum();
        if !norm.is_finite() {
            return Ok(f64::INFINITY);
        }
        if sweep > 0 && norm <= estimate {
            break;
        }
        estimate = norm;
        for v in y.iter_mut() {
            *v = if *v >= 0.0 { 1.0 } else { -1.0 };
        }
        solve_transposed(y)?;
        let mut j = 0;
        for i in 0..n {
            if y[i].abs() > y[j].abs() {
                j = i;
            }
        }
        if sweep > 0 && y[j].abs() <= dot(x, y).abs() {
            break;
        }
        x.fill(0.0);
        x[j] = 1.0;
    }
    // Guards against vectors on which the iteration is blind [Higham 2002, section 15.3].
    for (i, v) in x.iter_mut().enumerate() {
        let size = 1.0 + i as f64 / (n.max(2) - 1) as f64;
        *v = if i % 2 == 0 { size } else { -size };
    }
    solve(x)?;
    let alternating = 2.0 * x.iter().map(|v| v.abs()).sum::<f64>() / (3.0 * n as f64);
    Ok(if alternating.is_nan() { f64::INFINITY } else { estimate.max(alternating) })
}

/// $1 / (\lVert A\rVert \lVert A^{-1}\rVert)$, one for the empty matrix.
pub(crate) fn reciprocal_condition(n: usize, norm: f64, inverse: f64) -> f64 {
    if n == 0 {
        1.0
    } else if norm > 0.0 && inverse > 0.0 {
        1.0 / norm / inverse
    } else {
        0.0
    }
}

/// Fixed numbers of random sign and of size between 1/2 and 1, so that no structured null vector (equal
/// rows, say) is orthogonal to them.
pub(crate) fn probe_vector() -> impl Iterator<Item = f64> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    std::iter::from_fn(move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let size = 0.5 + (state >> 33) as f64 / (1_u64 << 32) as f64;
        Some(if state >> 63 == 0 { size } else { -size })
    })
}
