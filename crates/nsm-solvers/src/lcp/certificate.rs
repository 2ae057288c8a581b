//! Verification of a proof that a problem has no solution.
//!
//! By Farkas' lemma $Mz + q \ge 0$, $z \ge 0$ is impossible exactly when some $d \ge 0$ has
//! $M^\top d \le 0$ and $q^\top d < 0$. Methods propose $d$; it is believed only after this check with the caller's data.

use super::Matrix;

/// A row with the largest weight in the certificate, if `d` is one up to rounding.
pub(crate) fn verify(
    matrix: &Matrix<'_>,
    q: &[f64],
    d: &[f64],
    scratch: &mut [f64],
) -> Option<usize> {
    let mut index = 0;
    let (mut mass, mut descent) = (0.0_f64, 0.0_f64);
    for (i, &di) in d.iter().enumerate() {
        if !di.is_finite() {
            return None;
        }
        if di > d[index] {
            index = i;
        }
        let di = di.max(0.0);
        mass += di * q[i].abs();
        descent += di * q[i];
    }
    let largest = d.get(index).copied().unwrap_or(0.0);
    if largest <= 0.0 || descent >= -1e-8 * mass || d.iter().any(|&di| di < -1e-9 * largest) {
        return None;
    }
    matrix.transpose_multiply(d, scratch);
    // Entries of M'd may be positive by rounding only: small against the terms that cancelled,
    // and too small for a z of sensible size to outweigh the descent.
    let sum: f64 = d.iter().map(|d| d.abs()).sum();
    let size = (0..q.len()).fold(0.0_f64, |m, i| m.max(matrix.diagonal(i).abs()));
    let bound = scratch.iter().fold(0.0_f64, |m, v| m.max(*v));
    let scale = scratch.iter().fold(size * sum, |m, v| m.max(v.abs()));
    (bound <= 1e-9 * scale).then_some(index)
}
