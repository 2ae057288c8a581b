//! Singular values and the condition number in the Euclidean norm, for diagnostics.

use faer::diag::DiagMut;
use faer::linalg::svd::{ComputeSvdVectors, svd, svd_scratch};
use faer::{MatRef, Par};

use crate::error::{LinearError, expect_finite, expect_len};
use crate::memory::Memory;

/// Singular values of an `m` × `n` row-major matrix, largest first, each to round-off of the largest.
///
/// ```
/// use nsm_solvers::dense::singular_values;
///
/// let values = singular_values(2, 3, &[3.0, 0.0, 4.0, 0.0, 2.0, 0.0])?;
/// assert!((values[0] - 5.0).abs() < 1e-14 && (values[1] - 2.0).abs() < 1e-14);
/// # Ok::<(), nsm_solvers::LinearError>(())
/// ```
pub fn singular_values(m: usize, n: usize, matrix: &[f64]) -> Result<Vec<f64>, LinearError> {
    expect_len("matrix", matrix.len(), m * n)?;
    expect_finite("matrix", matrix)?;
    let mut values = vec![0.0; m.min(n)];
    if values.is_empty() {
        return Ok(values);
    }
    let none = ComputeSvdVectors::No;
    let parameters = faer::prelude::default();
    let request = svd_scratch::<f64>(m, n, none, none, Par::Seq, parameters);
    svd(
        MatRef::from_row_major_slice(matrix, m, n),
        DiagMut::from_slice_mut(&mut values),
        None,
        None,
        Par::Seq,
        Memory::new(request).stack(),
        faer::prelude::default(),
    )
    .map_err(|_| LinearError::NotFinite { what: "singular value", index: 0 })?;
    Ok(values)
}

/// $\sigma_{\max}/\sigma_{\min}$ of a square row-major matrix; infinite if it is singular.
///
/// Beyond $1/\varepsilon \approx 10^{16}$ it says no more than that the matrix is singular to working precision.
pub fn condition(n: usize, matrix: &[f64]) -> Result<f64, LinearError> {
    let values = singular_values(n, n, matrix)?;
    Ok(match (values.first(), values.last()) {
        (Some(largest), Some(smallest)) => largest / smallest,
        _ => 1.0,
    })
}
