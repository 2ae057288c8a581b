//! $A = LDL^\top$ without pivoting, for symmetric quasi-definite matrices
//! $\begin{pmatrix} H & G^\top \cr G & -C \end{pmatrix}$, $H, C \succ 0$, for which every order of
//! elimination is stable enough in practice [Vanderbei 1995].
//!
//! $L$ is unit lower triangular. Its strict lower part and $1/d_k$ overwrite the lower triangle.

use super::{axpy, dot};
use crate::error::{LinearError, expect_len};

/// Factorises the lower triangle of the `n` × `n` row-major matrix `a` in place.
///
/// `signs`, if not empty, gives the sign each pivot must have; a pivot of the other sign is an error,
/// since the matrix is then not the quasi-definite one it was taken for.
pub fn factor(n: usize, a: &mut [f64], signs: &[i8], tolerance: f64) -> Result<(), LinearError> {
    expect_len("matrix", a.len(), n * n)?;
    if !signs.is_empty() {
        expect_len("signs", signs.len(), n)?;
    }
    for i in 0..n {
        let (top, bottom) = a.split_at_mut(i * n);
        let row = &mut bottom[..=i];
        // First w_j = l_ij d_j, since the dot products need it; divided by d_j below.
        for j in 0..i {
            let other = &top[j * n..j * n + j];
            row[j] -= dot(&row[..j], other);
        }
        let mut pivot = row[i];
        let mut magnitude = pivot.abs();
        for j in 0..i {
            let l = row[j] * top[j * n + j];
            let term = row[j] * l;
            row[j] = l;
            pivot -= term;
            magnitude += term.abs();
        }
        let reciprocal = 1.0 / pivot;
        let wrong_sign = signs.get(i).is_some_and(|&s| f64::from(s) * pivot < 0.0);
        if !(reciprocal.is_finite() && magnitude.is_finite())
            || pivot.abs() <= tolerance * magnitude
            || wrong_sign
        {
            return Err(if pivot.is_finite() && magnitude.is_finite() {
                LinearError::Singular { pivot: i, value: pivot, threshold: tolerance * magnitude }
            } else {
                LinearError::NotFinite { what: "pivot", index: i }
            });
        }
        row[i] = reciprocal;
    }
    Ok(())
}

/// Solves $Ax = b$ in place with the factor of [`factor`].
pub fn solve(n: usize, l: &[f64], b: &mut [f64]) -> Result<(), LinearError> {
    expect_len("matrix", l.len(), n * n)?;
    expect_len("right-hand side", b.len(), n)?;
    for i in 0..n {
        b[i] -= dot(&l[i * n..i * n + i], &b[..i]);
    }
    for i in 0..n {
        b[i] *= l[i * n + i];
    }
    for i in (1..n).rev() {
        let x = b[i];
        axpy(-x, &l[i * n..i * n + i], &mut b[..i]);
    }
    Ok(())
}
