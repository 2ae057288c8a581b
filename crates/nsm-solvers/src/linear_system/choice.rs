//! Which elimination is cheapest for a pattern.

use super::{Method, Structure};
use crate::banded::ordering;
use crate::dense::SMALL;
use crate::error::{LinearError, expect_len};

/// Rejects positions outside the matrix and signs of the wrong number.
pub(super) fn check(
    n: usize,
    entries: &[(usize, usize)],
    structure: Structure<'_>,
) -> Result<(), LinearError> {
    for &(i, j) in entries {
        if let Some(&index) = [i, j].iter().find(|&&k| k >= n) {
            return Err(LinearError::Index { what: "entry", index, bound: n });
        }
    }
    match structure {
        Structure::SaddlePoint(signs) => expect_len("signs", signs.len(), n),
        _ => Ok(()),
    }
}

/// The cheapest method, and an estimate of its nanoseconds for a factorisation and a solve, good to a factor of two.
pub(super) fn choose(
    n: usize,
    entries: &[(usize, usize)],
    structure: Structure<'_>,
) -> Result<(Method, f64), LinearError> {
    check(n, entries, structure)?;
    if n <= 3 {
        return Ok((Method::Dense, 0.0));
    }
    let positive = structure == Structure::PositiveDefinite;
    let (_, mut lower, mut upper) = band(n, entries)?;
    if structure != Structure::General {
        lower = lower.max(upper);
        upper = if positive { 0 } else { lower };
    }
    if positive && lower <= 1 {
        // Elimination from both ends costs a few nanoseconds a row.
        return Ok((Method::Banded, 5.0 * n as f64));
    }
    let (size, lower, upper) = (n as f64, lower as f64, upper as f64);
    let elimination = if n <= SMALL {
        0.12 * size.powi(3) + 5.0 * size
    } else {
        0.06 * size.powi(3) + 80.0 * size
    };
    let dense = if positive { 0.5 * elimination } else { elimination };
    let banded = size * (12.0 + lower * (3.0 + 0.6 * (lower + upper)));
    let per_entry = if structure == Structure::General { 90.0 } else { 35.0 };
    let sparse = per_entry * entries.len() as f64 + 400.0;
    Ok(if banded <= dense && banded <= sparse {
        (Method::Banded, banded)
    } else if dense <= sparse {
        (Method::Dense, dense)
    } else {
        (Method::Sparse, sparse)
    })
}

/// An order with a narrow band, empty for the natural one where that is as good, and its half-bandwidths.
pub(super) fn band(
    n: usize,
    entries: &[(usize, usize)],
) -> Result<(Vec<usize>, usize, usize), LinearError> {
    let natural: Vec<usize> = (0..n).collect();
    let order = ordering::reverse_cuthill_mckee(n, entries)?;
    let (lower, upper) = ordering::half_bandwidths(&order, entries);
    let (natural_lower, natural_upper) = ordering::half_bandwidths(&natural, entries);
    if natural_lower + natural_upper <= lower + upper {
        return Ok((Vec::new(), natural_lower, natural_upper));
    }
    Ok((order, lower, upper))
}
