//! Factorisations on slices for tiny systems: no allocation, no dispatch, sizes known at run time.
//!
//! Below about 32 unknowns a plain triple loop beats every library, because set-up costs more than
//! arithmetic. The routines work for any size.
//!
//! | module | factorisation | for |
//! |---|---|---|
//! | [`lu`] | $PA = LU$, partial pivoting | square systems |
//! | [`cholesky`] | $A = LL^\top$ | symmetric positive definite |
//! | [`ldlt`] | $A = LDL^\top$, no pivoting | symmetric quasi-definite |
//! | [`gram`] | $P^\top A P = LL^\top$, pivoted | positive semidefinite Gram matrices $A = GWG^\top$ |
//! | [`qr`] | $G^\top P = QR$, pivoted | rank, least squares, minimum norm, null space |
//!
//! **Conventions.** Matrices are row-major: entry $(i, j)$ of an $m \times n$ matrix is `a[i * n + j]`,
//! so that a row (a constraint gradient, say) is a contiguous slice. Symmetric routines read the lower
//! triangle only. Factors overwrite the matrix. Diagonals of factors are stored as their reciprocals.
//!
//! **Singularity.** Pivots are judged in a scaling of the matrix in which all rows and columns have
//! entries of order one: a pivot of LU in row $i$ and column $k$ is rejected when
//! $$ |u_{kk}| \le \tau R_i C_k, \qquad R_i = \max_j |a_{ij}|, \quad C_k = \max_i |a_{ik}| / R_i . $$
//! Hence badly scaled systems (a mass of $10^6$ beside a unit constraint) are not mistaken for singular
//! ones, and dependent rows are found whatever their units. The symmetric routines compare a pivot
//! with the diagonal entry it came from, to the same effect. [`tolerance`] gives the default $\tau$.

pub mod cholesky;
pub mod gram;
pub mod ldlt;
pub mod lu;
pub mod qr;

/// Default relative tolerance $\tau = \min(256 n \varepsilon, 10^{-11})$ for pivots of an elimination of
/// size `n`: rounding errors of a few ulp, magnified by a moderate condition of the other rows.
#[inline]
pub fn tolerance(n: usize) -> f64 {
    (256.0 * n.max(1) as f64 * f64::EPSILON).min(1e-11)
}

/// $\sum_i x_i y_i$ over the common length, in a fixed order of summation.
#[inline]
pub fn dot(x: &[f64], y: &[f64]) -> f64 {
    let n = x.len().min(y.len());
    let (x, y) = (&x[..n], &y[..n]);
    if n < 8 {
        let mut sum = 0.0;
        for (a, b) in x.iter().zip(y) {
            sum += a * b;
        }
        return sum;
    }
    let mut lanes = [0.0; 4];
    let (xc, yc) = (x.chunks_exact(4), y.chunks_exact(4));
    let tail: f64 = xc.remainder().iter().zip(yc.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in xc.zip(yc) {
        for l in 0..4 {
            lanes[l] += a[l] * b[l];
        }
    }
    (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]) + tail
}

/// $y \leftarrow y + \alpha x$ over the common length.
#[inline]
pub fn axpy(alpha: f64, x: &[f64], y: &mut [f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += alpha * x;
    }
}

/// $\sum_k x_k\\,y_{c_k}$: a sparse vector, given by values and columns, with a full one.
///
/// # Panics
/// If a column lies outside `y`.
#[inline(always)]
#[allow(clippy::inline_always)] // Rows are short: a call costs as much as their sum.
pub fn sparse_dot(x: &[f64], columns: &[usize], y: &[f64]) -> f64 {
    let ((x4, x), (c4, columns)) = (x.as_chunks::<4>(), columns.as_chunks::<4>());
    let mut sum = 0.0;
    for (x, c) in x4.iter().zip(c4) {
        for l in 0..4 {
            sum += x[l] * y[c[l]];
        }
    }
    for (x, &c) in x.iter().zip(columns) {
        sum += x * y[c];
    }
    sum
}

/// $y_{c_k} \leftarrow y_{c_k} + \alpha x_k$: adds a sparse vector, given by values and columns, to a full one.
///
/// # Panics
/// If a column lies outside `y`.
#[inline(always)]
#[allow(clippy::inline_always)] // Rows are short: a call costs as much as their sum.
pub fn sparse_axpy(alpha: f64, x: &[f64], columns: &[usize], y: &mut [f64]) {
    let ((x4, x), (c4, columns)) = (x.as_chunks::<4>(), columns.as_chunks::<4>());
    for (x, c) in x4.iter().zip(c4) {
        for l in 0..4 {
            y[c[l]] += alpha * x[l];
        }
    }
    for (x, &c) in x.iter().zip(columns) {
        y[c] += alpha * x;
    }
}

/// $y \leftarrow Ax$ for a row-major matrix with `y.len()` rows and `x.len()` columns.
///
/// # Panics
/// If `a` is shorter than rows times columns.
#[inline]
pub fn matvec(a: &[f64], x: &[f64], y: &mut [f64]) {
    let n = x.len();
    for (i, y) in y.iter_mut().enumerate() {
        *y = dot(&a[i * n..(i + 1) * n], x);
    }
}

/// $y \leftarrow y + \alpha A^\top x$ for a row-major matrix with `x.len()` rows and `y.len()` columns.
///
/// # Panics
/// If `a` is shorter than rows times columns.
#[inline]
pub fn matvec_transposed_add(alpha: f64, a: &[f64], x: &[f64], y: &mut [f64]) {
    let n = y.len();
    for (i, &x) in x.iter().enumerate() {
        axpy(alpha * x, &a[i * n..(i + 1) * n], y);
    }
}

/// $\max_i |x_i|$; NaN if any entry is NaN.
#[inline]
pub fn norm_inf(x: &[f64]) -> f64 {
    // Lanes, since a maximum that waits for the one before takes several cycles an entry. Sizes do not cancel in
    // their sum: it is NaN only if one of them is.
    let (chunks, rest) = x.as_chunks::<4>();
    let (mut lanes, mut sums) = ([0.0_f64; 4], [0.0_f64; 4]);
    for chunk in chunks {
        for l in 0..4 {
            let v = chunk[l].abs();
            sums[l] += v;
            lanes[l] = if v > lanes[l] { v } else { lanes[l] };
        }
    }
    let mut max = 0.0;
    let mut nan = sums.iter().sum::<f64>().is_nan();
    for v in lanes.iter().chain(rest) {
        let v = v.abs();
        nan |= v.is_nan();
        if v > max {
            max = v;
        }
    }
    if nan { f64::NAN } else { max }
}
