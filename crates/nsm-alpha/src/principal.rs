//! Principal vectors between two subspaces: a small singular value decomposition by Jacobi rotations.
//!
//! For orthonormal rows $Y_-$ ($r_- \times n$) and $Y_+$ ($r_+ \times n$) and
//! $Y_- Y_+^\top = U \Sigma V^\top$, the principal vectors $u_i = (U^\top Y_-)\_i$ and
//! $w_i = (V^\top Y_+)\_i$ satisfy $u_i \cdot w_j = \delta_{ij} \cos\theta_i$ [Björck & Golub 1973].

use nsm_solvers::small::{axpy, dot};

/// Workspace for subspaces of up to `capacity` dimensions.
#[derive(Clone, Debug)]
pub(crate) struct Principal {
    /// Columns of the larger side, one per row of this array.
    long: Vec<f64>,
    /// Columns of the smaller side.
    short: Vec<f64>,
    cosines: Vec<f64>,
}

impl Principal {
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            long: vec![0.0; capacity * capacity],
            short: vec![0.0; capacity * capacity],
            cosines: vec![0.0; capacity],
        }
    }

    /// $\cos\theta_i$ of the pairs of the last [`pairs`](Self::pairs).
    pub(crate) fn cosines(&self) -> &[f64] {
        &self.cosines
    }

    /// Replaces the orthonormal rows of `before` and `after` by principal vectors, paired in order;
    /// returns the number of pairs. The side of more rows keeps an orthonormal basis of the rest.
    pub(crate) fn pairs(
        &mut self,
        n: usize,
        (r_before, before): (usize, &mut [f64]),
        (r_after, after): (usize, &mut [f64]),
        scratch: &mut [f64],
    ) -> usize {
        let (p, k) = (r_before.max(r_after), r_before.min(r_after));
        let (long, short) = if r_before >= r_after { (before, after) } else { (after, before) };
        // Row j of `a` is column j of (long · shortᵀ): its coordinates in the long basis.
        let a = &mut self.long[..p * p];
        let v = &mut self.short[..k * k];
        for j in 0..k {
            for i in 0..p {
                a[j * p + i] = dot(&long[i * n..(i + 1) * n], &short[j * n..(j + 1) * n]);
            }
            v[j * k..(j + 1) * k].fill(0.0);
            v[j * k + j] = 1.0;
        }
        orthogonalise(p, k, a, v);
        for j in 0..k {
            let column = &mut a[j * p..(j + 1) * p];
            let norm = dot(column, column).sqrt();
            self.cosines[j] = norm.min(1.0);
            if norm > 1e-14 {
                for x in column.iter_mut() {
                    *x /= norm;
                }
            } else {
                column.fill(0.0);
            }
        }
        complete(p, k, a);
        transform(p, n, a, long, scratch);
        transform(k, n, v, short, scratch);
        k
    }
}

/// One-sided Jacobi [Hestenes 1958]: rotates the `k` rows of `a` (length `p`) until they are orthogonal,
/// and the rows of `v` along.
fn orthogonalise(p: usize, k: usize, a: &mut [f64], v: &mut [f64]) {
    for _ in 0..60 {
        let mut rotated = false;
        for i in 0..k {
            for j in i + 1..k {
                let (head, tail) = a.split_at_mut(j * p);
                let (x, y) = (&mut head[i * p..(i + 1) * p], &mut tail[..p]);
                let (alpha, beta, gamma) = (dot(x, x), dot(y, y), dot(x, y));
                if gamma.abs() <= 4.0 * f64::EPSILON * (alpha * beta).sqrt() || gamma == 0.0 {
                    continue;
                }
                rotated = true;
                let zeta = (beta - alpha) / (2.0 * gamma);
                let t = zeta.signum() / (zeta.abs() + (1.0 + zeta * zeta).sqrt());
                let c = 1.0 / (1.0 + t * t).sqrt();
                let s = c * t;
                rotate(x, y, c, s);
                let (head, tail) = v.split_at_mut(j * k);
                rotate(&mut head[i * k..(i + 1) * k], &mut tail[..k], c, s);
            }
        }
        if !rotated {
            break;
        }
    }
}

fn rotate(x: &mut [f64], y: &mut [f64], c: f64, s: f64) {
    for (x, y) in x.iter_mut().zip(y) {
        (*x, *y) = (c * *x - s * *y, s * *x + c * *y);
    }
}

/// Fills the zero rows among the first `k` and all rows from there to `p` so that the `p` rows are
/// orthonormal.
fn complete(p: usize, k: usize, a: &mut [f64]) {
    for j in 0..p {
        if j < k && a[j * p..(j + 1) * p].iter().any(|x| *x != 0.0) {
            continue;
        }
        let mut best = (0.0, 0);
        for e in 0..p {
            // What is left of the unit vector e outside the rows that are there already.
            let mut rest = 1.0;
            for i in (0..p).filter(|&i| i < j || (i > j && i < k)) {
                rest -= a[i * p + e] * a[i * p + e];
            }
            if rest > best.0 {
                best = (rest, e);
            }
        }
        a[j * p..(j + 1) * p].fill(0.0);
        a[j * p + best.1] = 1.0;
        for _ in 0..2 {
            for i in (0..p).filter(|&i| i < j || (i > j && i < k)) {
                let mut product = 0.0;
                for e in 0..p {
                    product += a[i * p + e] * a[j * p + e];
                }
                for e in 0..p {
                    a[j * p + e] -= product * a[i * p + e];
                }
            }
        }
        let row = &mut a[j * p..(j + 1) * p];
        let norm = dot(row, row).sqrt();
        for x in row.iter_mut() {
            *x /= norm;
        }
    }
}

/// Replaces the `r` rows of `basis` (length `n`) by their combinations with the rows of `weights`.
fn transform(r: usize, n: usize, weights: &[f64], basis: &mut [f64], scratch: &mut [f64]) {
    let scratch = &mut scratch[..r * n];
    scratch.fill(0.0);
    for j in 0..r {
        for i in 0..r {
            axpy(weights[j * r + i], &basis[i * n..(i + 1) * n], &mut scratch[j * n..(j + 1) * n]);
        }
    }
    basis[..r * n].copy_from_slice(scratch);
}
