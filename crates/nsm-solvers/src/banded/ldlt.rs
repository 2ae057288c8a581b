//! $A = LDL^\top$ of a symmetric banded matrix without pivoting, positive definite or quasi-definite.
//!
//! Row $i$ of the lower triangle is stored contiguously from column $i - k$ to $i$. The factor
//! overwrites it, with $1/d_i$ on the diagonal.

use super::twisted;
use crate::error::{LinearError, expect_len};

/// Symmetric banded factorisation with its storage.
#[derive(Debug, Clone)]
pub struct BandedLdlt {
    n: usize,
    half: usize,
    a: Vec<f64>,
    factorised: bool,
    /// Eliminated from both ends.
    twisted: bool,
}

impl BandedLdlt {
    /// Zero matrix of size `n` with half-bandwidth `half`.
    pub fn new(n: usize, half: usize) -> Self {
        let half = half.min(n.saturating_sub(1));
        Self { n, half, a: vec![0.0; n * (half + 1)], factorised: false, twisted: false }
    }

    /// Number of unknowns.
    pub fn size(&self) -> usize {
        self.n
    }

    /// Half-bandwidth.
    pub fn half_bandwidth(&self) -> usize {
        self.half
    }

    /// Sets all entries to zero, to be filled again.
    pub fn clear(&mut self) {
        self.a.fill(0.0);
        self.factorised = false;
    }

    /// Entry $(i, j)$ with $j \le i$, or nothing if it lies outside the stored half of the band.
    /// Invalid after a factorisation until [`clear`](Self::clear).
    pub fn entry_mut(&mut self, i: usize, j: usize) -> Option<&mut f64> {
        let position = self.position(i, j)?;
        self.a.get_mut(position)
    }

    /// Index of entry $(i, j)$ in [`storage`](Self::storage).
    pub(crate) fn position(&self, i: usize, j: usize) -> Option<usize> {
        (i < self.n && j <= i && j + self.half >= i)
            .then(|| i * (self.half + 1) + j + self.half - i)
    }

    /// The raw storage, for values scattered to known [`position`](Self::position)s.
    pub(crate) fn storage(&mut self) -> &mut [f64] {
        self.factorised = false;
        &mut self.a
    }

    /// Factorises a positive definite matrix in place.
    pub fn factor_positive(&mut self, tolerance: f64) -> Result<(), LinearError> {
        if self.half == 1 {
            self.factorised = false;
            self.twisted = true;
            twisted::factor(&mut self.a, tolerance)?;
            self.factorised = true;
            return Ok(());
        }
        self.factor(tolerance, |i, pivot, threshold, _| {
            if pivot > threshold {
                Ok(pivot)
            } else {
                Err(LinearError::NotPositiveDefinite { pivot: i, value: pivot, threshold })
            }
        })
    }

    /// Factorises a quasi-definite matrix in place: no pivot may cancel below `tolerance`.
    pub fn factor_quasi_definite(&mut self, tolerance: f64) -> Result<(), LinearError> {
        self.factor(tolerance, |i, pivot, threshold, _| {
            if pivot.abs() > threshold {
                Ok(pivot)
            } else {
                Err(LinearError::Singular { pivot: i, value: pivot.abs(), threshold })
            }
        })
    }

    /// Factorises a positive *semi*definite matrix in place and appends the rows that depend on
    /// earlier ones to `redundant`: they are given an infinite pivot, so that solutions vanish there.
    pub fn factor_semidefinite(
        &mut self,
        tolerance: f64,
        redundant: &mut Vec<usize>,
    ) -> Result<(), LinearError> {
        self.factor(tolerance, |i, pivot, threshold, diagonal| {
            if pivot > threshold {
                Ok(pivot)
            } else if pivot >= -threshold.max(tolerance * diagonal) {
                redundant.push(i);
                Ok(f64::INFINITY)
            } else {
                Err(LinearError::NotPositiveDefinite { pivot: i, value: pivot, threshold })
            }
        })
    }

    /// `accept(row, pivot, threshold, diagonal)` decides on each pivot and returns the one to use.
    fn factor(
        &mut self,
        tolerance: f64,
        mut accept: impl FnMut(usize, f64, f64, f64) -> Result<f64, LinearError>,
    ) -> Result<(), LinearError> {
        (self.factorised, self.twisted) = (false, false);
        let (n, a) = (self.n, &mut self.a[..]);
        match self.half {
            0 => factor_kernel(n, 0, a, tolerance, &mut accept),
            1 => factor_kernel(n, 1, a, tolerance, &mut accept),
            2 => factor_kernel(n, 2, a, tolerance, &mut accept),
            half => factor_kernel(n, half, a, tolerance, &mut accept),
        }?;
        self.factorised = true;
        Ok(())
    }

    /// Solves $Ax = b$ in place.
    pub fn solve_in_place(&self, b: &mut [f64]) -> Result<(), LinearError> {
        expect_len("right-hand side", b.len(), self.n)?;
        if !self.factorised {
            return Err(LinearError::NotFactorised);
        }
        match self.half {
            1 if self.twisted => twisted::solve(&self.a, b, |i| i),
            1 => solve_kernel(self.n, 1, &self.a, b),
            2 => solve_kernel(self.n, 2, &self.a, b),
            half => solve_kernel(self.n, half, &self.a, b),
        }
        Ok(())
    }

    /// Solves $Ax = b$ in place on the entries `b[order[0]], b[order[1]], …` of a longer vector.
    pub fn solve_indexed(&self, order: &[usize], b: &mut [f64]) -> Result<(), LinearError> {
        expect_len("order of the unknowns", order.len(), self.n)?;
        if !self.factorised {
            return Err(LinearError::NotFactorised);
        }
        if let Some(&index) = order.iter().find(|&&k| k >= b.len()) {
            return Err(LinearError::Index { what: "unknown", index, bound: b.len() });
        }
        if self.twisted {
            twisted::solve(&self.a, b, |i| order[i]);
            return Ok(());
        }
        let (half, width) = (self.half, self.half + 1);
        for i in 0..self.n {
            let reach = half.min(i);
            let row = &self.a[i * width + half - reach..i * width + half];
            let before = row.iter().zip(&order[i - reach..i]);
            b[order[i]] -= before.map(|(l, &k)| l * b[k]).sum::<f64>();
        }
        for (i, &k) in order.iter().enumerate() {
            b[k] *= self.a[i * width + half];
        }
        for i in (0..self.n).rev() {
            let reach = half.min(i);
            let row = &self.a[i * width + half - reach..i * width + half];
            let x = b[order[i]];
            for (l, &k) in row.iter().zip(&order[i - reach..i]) {
                b[k] -= l * x;
            }
        }
        Ok(())
    }
}

#[inline(always)]
#[allow(clippy::inline_always)]
fn factor_kernel(
    n: usize,
    half: usize,
    a: &mut [f64],
    tolerance: f64,
    accept: &mut impl FnMut(usize, f64, f64, f64) -> Result<f64, LinearError>,
) -> Result<(), LinearError> {
    let width = half + 1;
    let a = &mut a[..n * width];
    for i in 0..n {
        let (top, bottom) = a.split_at_mut(i * width);
        let row = &mut bottom[..width];
        // Offsets within row i; column j = i - half + offset.
        let first = half.saturating_sub(i);
        for offset in first..half {
            // Row j of L reaches back half columns further than row i does: align on row i's start.
            let j = i + offset - half;
            let other = &top[j * width + half - (offset - first)..j * width + half];
            let mut sum = row[offset];
            for (w, l) in row[first..offset].iter().zip(other) {
                sum -= w * l;
            }
            row[offset] = sum;
        }
        let diagonal = row[half];
        let mut pivot = diagonal;
        let mut magnitude = diagonal.abs();
        for offset in first..half {
            let j = i + offset - half;
            let w = row[offset];
            let l = w * top[j * width + half];
            row[offset] = l;
            pivot -= w * l;
            magnitude += (w * l).abs();
        }
        if !(pivot.is_finite() && magnitude.is_finite()) {
            return Err(LinearError::NotFinite { what: "pivot", index: i });
        }
        row[half] = 1.0 / accept(i, pivot, tolerance * magnitude, diagonal.abs())?;
    }
    Ok(())
}

#[inline(always)]
#[allow(clippy::inline_always)]
fn solve_kernel(n: usize, half: usize, a: &[f64], b: &mut [f64]) {
    let width = half + 1;
    let (a, b) = (&a[..n * width], &mut b[..n]);
    for i in 0..n {
        let reach = half.min(i);
        let row = &a[i * width + half - reach..i * width + half];
        let mut sum = b[i];
        for (l, x) in row.iter().zip(&b[i - reach..i]) {
            sum -= l * x;
        }
        b[i] = sum;
    }
    for i in 0..n {
        b[i] *= a[i * width + half];
    }
    for i in (0..n).rev() {
        let reach = half.min(i);
        let row = &a[i * width + half - reach..i * width + half];
        let x = b[i];
        for (l, b) in row.iter().zip(&mut b[i - reach..i]) {
            *b -= l * x;
        }
    }
}
