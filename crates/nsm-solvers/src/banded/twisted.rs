//! $A = LDL^\top$ of a positive definite tridiagonal matrix, eliminated from both ends at once.
//!
//! Elimination of a chain is one long dependence: every pivot waits for a division by the one before. From the two
//! ends towards the middle there are two of half the length, which a processor runs side by side. It is as stable as
//! elimination in the natural order, of which it is a symmetric permutation \[Higham 2002, section 9.5\].
//!
//! Row $i$ is stored as $(a_{i,i-1}, a_{ii})$ and becomes $(\ell_i, 1/d_i)$, where $\ell_i$ is $a_{i,i-1}$ over the pivot of whichever
//! of the rows $i - 1$ and $i$ is eliminated first.

use crate::error::LinearError;

/// Numbers per row.
const WIDTH: usize = 2;

/// Factorises in place; a pivot below `tolerance` of what cancelled in it is refused.
pub(super) fn factor(a: &mut [f64], tolerance: f64) -> Result<(), LinearError> {
    let (a, _) = a.as_chunks_mut::<WIDTH>();
    let n = a.len();
    if n == 0 {
        return Ok(());
    }
    let middle = n / 2;
    let reciprocal = |i: usize, diagonal: f64, loss: f64| {
        let (pivot, magnitude) = (diagonal - loss, diagonal.abs() + loss.abs());
        let threshold = tolerance * magnitude;
        if pivot > threshold && magnitude.is_finite() {
            return Ok(1.0 / pivot);
        }
        if pivot.is_finite() && magnitude.is_finite() {
            return Err(LinearError::NotPositiveDefinite { pivot: i, value: pivot, threshold });
        }
        Err(LinearError::NotFinite { what: "pivot", index: i })
    };
    // What the rows above and below take from the next pivot: a² / d.
    let (mut above, mut below) = (0.0, 0.0);
    for i in 0..middle {
        let r = reciprocal(i, a[i][1], above)?;
        a[i][1] = r;
        let (w, j) = (a[i + 1][0], n - 1 - i);
        a[i + 1][0] = w * r;
        above = w * (w * r);
        if j > middle {
            let [w, diagonal] = a[j];
            let r = reciprocal(j, diagonal, below)?;
            a[j] = [w * r, r];
            below = w * (w * r);
        }
    }
    a[middle][1] = reciprocal(middle, a[middle][1], above + below)?;
    Ok(())
}

/// Solves in place with the factor of [`factor`]; unknown $i$ is `b[at(i)]`.
#[inline]
pub(super) fn solve(a: &[f64], b: &mut [f64], at: impl Fn(usize) -> usize) {
    let (a, _) = a.as_chunks::<WIDTH>();
    let n = a.len();
    if n == 0 {
        return;
    }
    let middle = n / 2;
    let (mut up, mut down) = (b[at(0)], b[at(n - 1)]);
    for i in 1..middle {
        up = b[at(i)] - a[i][0] * up;
        b[at(i)] = up;
        let j = n - 1 - i;
        if j > middle {
            down = b[at(j)] - a[j + 1][0] * down;
            b[at(j)] = down;
        }
    }
    let mut x = b[at(middle)];
    if middle > 0 {
        x -= a[middle][0] * up;
    }
    if middle + 1 < n {
        x -= a[middle + 1][0] * down;
    }
    x *= a[middle][1];
    b[at(middle)] = x;
    let (mut up, mut down) = (x, x);
    for i in (0..middle).rev() {
        up = b[at(i)] * a[i][1] - a[i + 1][0] * up;
        b[at(i)] = up;
        let j = 2 * middle - i;
        if j < n {
            down = b[at(j)] * a[j][1] - a[j][0] * down;
            b[at(j)] = down;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::banded::BandedLdlt;

    /// Diagonally dominant but for the last bits, with neighbours of both signs.
    fn matrix(n: usize) -> BandedLdlt {
        let mut a = BandedLdlt::new(n, 1);
        for i in 0..n {
            *a.entry_mut(i, i).unwrap() = 2.0 + 0.1 * (1.3 * i as f64).sin();
            if i > 0 {
                *a.entry_mut(i, i - 1).unwrap() = (2.1 * i as f64).cos();
            }
        }
        a
    }

    #[test]
    fn both_ends_meet_at_the_solution_of_the_natural_order() {
        for n in 2..20 {
            let b: Vec<f64> = (0..n).map(|i| (0.7 * i as f64).sin() + 0.2).collect();
            let (mut twisted, mut natural) = (matrix(n), matrix(n));
            twisted.factor_positive(1e-14).unwrap();
            natural.factor_quasi_definite(1e-14).unwrap();
            let (mut x, mut y) = (b.clone(), b.clone());
            twisted.solve_in_place(&mut x).unwrap();
            natural.solve_in_place(&mut y).unwrap();
            for (x, y) in x.iter().zip(&y) {
                assert!((x - y).abs() < 1e-14, "{n}: {x} {y}");
            }
            // The same unknowns scattered in a longer vector.
            let order: Vec<usize> = (0..n).map(|i| 2 * ((i + 3) % n) + 1).collect();
            let mut long = vec![9.0; 2 * n];
            order.iter().zip(&b).for_each(|(&k, b)| long[k] = *b);
            twisted.solve_indexed(&order, &mut long).unwrap();
            assert!(order.iter().zip(&x).all(|(&k, x)| long[k] == *x));
            assert!(long.iter().step_by(2).all(|&x| x == 9.0));
        }
    }

    #[test]
    fn every_row_that_spoils_the_matrix_is_refused() {
        for n in 2..9 {
            for row in 0..n {
                let mut a = matrix(n);
                *a.entry_mut(row, row).unwrap() = 0.0;
                let error = a.factor_positive(1e-14).unwrap_err();
                assert!(matches!(error, LinearError::NotPositiveDefinite { .. }), "{n} {row}");
                for bad in [f64::NAN, f64::INFINITY] {
                    let mut a = matrix(n);
                    *a.entry_mut(row, row).unwrap() = bad;
                    let error = a.factor_positive(1e-14).unwrap_err();
                    assert!(matches!(error, LinearError::NotFinite { .. }), "{n} {row} {error}");
                    assert!(a.solve_in_place(&mut vec![1.0; n]).is_err());
                }
            }
        }
    }
}
