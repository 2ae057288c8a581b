//! Verification of a proof that a problem has no solution.
//!
//! By Farkas' lemma $Mz + q \ge 0$, $z \ge 0$ is impossible exactly when some $d \ge 0$ has
//! $M^\top d \le 0$ and $q^\top d < 0$. Methods propose $d$; it is believed only after a check with the caller's
//! numbers, without rounding. A direction that fails that check by rounding alone, as it does where $M$
//! itself is singular only up to rounding, proves nothing: solutions may lie far out along it.

use core::cmp::Ordering;

use super::columns::{Columns, Storage};
use super::exact::{sign_of_sum, snap};

/// What a direction shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// There is no solution; the row has the largest weight in the proof.
    Proven(usize),
    /// There is none up to rounding of the data.
    Nearly(usize),
    /// Nothing.
    Nothing,
}

/// Judges the direction `d`; `exact` says whether the data are the caller's to the last bit.
pub(crate) fn verify(
    matrix: &Columns<'_>,
    q: &[f64],
    d: &[f64],
    exact: bool,
    scratch: &mut [f64],
    integers: &mut [f64],
) -> Verdict {
    let Some(index) = holds_nearly(matrix, q, d, scratch) else {
        return Verdict::Nothing;
    };
    for (s, d) in scratch.iter_mut().zip(d) {
        *s = d.max(0.0);
    }
    let proven =
        exact && (holds(matrix, q, scratch) || snap(scratch, integers, |d| holds(matrix, q, d)));
    if proven { Verdict::Proven(index) } else { Verdict::Nearly(index) }
}

/// Whether $d \ge 0$, $M^\top d \le 0$ and $q^\top d < 0$, to the last bit.
fn holds(matrix: &Columns<'_>, q: &[f64], d: &[f64]) -> bool {
    let n = matrix.n;
    let column = |j: usize| match matrix.storage {
        Storage::Dense(m) => {
            let entries = m[j * n..(j + 1) * n].iter().zip(d);
            sign_of_sum(entries.map(|(&m, &d)| (m, d)))
        }
        Storage::Sparse { col_ptr, row_idx, values } => {
            let entries = col_ptr[j]..col_ptr[j + 1];
            sign_of_sum(entries.map(|k| (values[k], d[row_idx[k]])))
        }
    };
    d.iter().all(|&d| d >= 0.0)
        && sign_of_sum(q.iter().copied().zip(d.iter().copied())) == Ordering::Less
        && (0..n).all(|j| column(j) != Ordering::Greater)
}

/// A row with the largest weight in the certificate, if `d` is one up to rounding.
fn holds_nearly(matrix: &Columns<'_>, q: &[f64], d: &[f64], scratch: &mut [f64]) -> Option<usize> {
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
