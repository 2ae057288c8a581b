//! Contacts in units of their own: a Gram matrix whose diagonal spreads over decades is solved as $DMD$.
//!
//! Gradients and masses may differ by many orders, and tolerances that are relative to the largest row would call the
//! small ones solved. With $\hat\lambda = D^{-1}\lambda$, $\hat w = Dw$ and $D = \mathrm{diag}(M)^{-1/2}$ up to powers of two nothing is
//! rounded by the change of units, and all rows count alike.

use super::{GramReport, LeastSquaresError};

/// Diagonals that spread less than this are solved as they are.
const SPREAD: f64 = 1024.0;

/// Diagonals between this and its inverse are far from overflow.
const RANGE: f64 = 1e100;

/// The scaled data of one problem, in memory for the largest.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scaling {
    pub(crate) factor: Vec<f64>,
    pub(crate) matrix: Vec<f64>,
    pub(crate) beside: Vec<f64>,
    pub(crate) q: Vec<f64>,
}

impl Scaling {
    /// Room for `n` unknowns and `entries` of the matrix.
    pub(crate) fn new(n: usize, entries: usize) -> Self {
        Self {
            factor: Vec::with_capacity(n),
            matrix: Vec::with_capacity(entries),
            beside: Vec::with_capacity(n),
            q: Vec::with_capacity(n),
        }
    }

    /// Whether a diagonal with these extreme positive entries calls for scaling.
    #[inline]
    pub(crate) fn is_needed(least: f64, largest: f64) -> bool {
        largest > SPREAD * least || (largest > 0.0 && !(1.0 / RANGE..=RANGE).contains(&largest))
    }

    fn find_factors(&mut self, diagonal: impl Iterator<Item = f64>) {
        self.factor.clear();
        // Roots of numbers between the squares of the smallest and largest double are normal numbers.
        self.factor.extend(
            diagonal.map(|d| if d > 0.0 { (-(0.5 * d.log2()).round()).exp2() } else { 1.0 }),
        );
    }

    fn scale_rhs(&mut self, q: &[f64]) {
        self.q.clear();
        self.q.extend(q.iter().zip(&self.factor).map(|(q, d)| q * d));
    }

    /// Scales a dense matrix and its right-hand side.
    pub(crate) fn scale_dense(&mut self, gram: &[f64], q: &[f64]) {
        let n = q.len();
        self.find_factors((0..n).map(|i| gram[i * (n + 1)]));
        self.matrix.clear();
        for (row, d) in gram.chunks_exact(n).zip(&self.factor) {
            self.matrix.extend(row.iter().zip(&self.factor).map(|(m, e)| m * d * e));
        }
        self.scale_rhs(q);
    }

    /// Scales a tridiagonal matrix and its right-hand side.
    pub(crate) fn scale_bands(&mut self, diagonal: &[f64], off: &[f64], q: &[f64]) {
        self.find_factors(diagonal.iter().copied());
        self.matrix.clear();
        self.matrix.extend(diagonal.iter().zip(&self.factor).map(|(m, d)| m * d * d));
        self.beside.clear();
        let pairs = self.factor.windows(2);
        self.beside.extend(off.iter().zip(pairs).map(|(m, d)| m * d[0] * d[1]));
        self.scale_rhs(q);
    }

    /// Multipliers, ray and slack back in the caller's units, where they may overflow.
    pub(crate) fn restore(
        &self,
        outcome: Result<GramReport, LeastSquaresError>,
        lambda: &mut [f64],
        ray: &mut [f64],
        slack: &mut [f64],
    ) -> Result<GramReport, LeastSquaresError> {
        for (i, d) in self.factor.iter().enumerate() {
            lambda[i] *= d;
            ray[i] *= d;
            slack[i] /= d;
        }
        match outcome {
            Ok(report) if !lambda.iter().all(|l| l.is_finite()) => {
                Err(LeastSquaresError::Stalled {
                    iterations: report.iterations,
                    residual: f64::INFINITY,
                })
            }
            outcome => outcome,
        }
    }
}
