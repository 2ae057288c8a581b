//! What a solve returns, and the residual by which every answer is judged.
//!
//! The natural residual
//! $$ \rho(z) = \frac{\max_i |\min(z_i, (Mz+q)_i)|}{\max_i |q_i|} $$
//! is zero exactly at the solutions. It is computed from $M$ and $q$ of the problem in units in which the entries of
//! $M$ are of order one, never from a method's internal quantities: it does not depend on the units of the rows.

use core::fmt;

/// The methods that can be called by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Method {
    /// Complementary pivoting with an artificial variable and lexicographic ratio test [Lemke 1965].
    Lemke,
    /// Block principal pivoting with Murty's least-index rule as the finite fallback
    /// [Kostreva 1978, Júdice & Pires 1994, Murty 1974].
    BlockPivoting,
    /// Active-set method for symmetric positive semidefinite matrices [Lawson & Hanson 1974, Keller 1973].
    ActiveSet,
    /// Alternating sweeps for tridiagonal matrices with non-positive couplings [Chandrasekaran 1970].
    ChainSweep,
    /// Predictor–corrector interior point [Mehrotra 1992] with an active-set polish, for symmetric
    /// positive semidefinite matrices.
    InteriorPoint,
    /// Projected Gauss–Seidel with over-relaxation [Cryer 1971].
    ProjectedGaussSeidel,
    /// Accelerated projected gradient with restart [Nesterov 1983, O'Donoghue & Candès 2015].
    AcceleratedGradient,
    /// Damped semismooth Newton on the Fischer–Burmeister equations [De Luca, Facchinei & Kanzow 1996].
    NewtonFischerBurmeister,
    /// Damped semismooth Newton on $\min(z, Mz+q) = 0$ [Harker & Pang 1990].
    NewtonMin,
    /// Every complementary cone in turn, for orders up to 14.
    Enumeration,
}

impl Method {
    /// Every method, in the order of the documentation.
    pub const ALL: [Self; 10] = [
        Self::Lemke,
        Self::BlockPivoting,
        Self::ActiveSet,
        Self::ChainSweep,
        Self::InteriorPoint,
        Self::ProjectedGaussSeidel,
        Self::AcceleratedGradient,
        Self::NewtonFischerBurmeister,
        Self::NewtonMin,
        Self::Enumeration,
    ];
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Lemke => "Lemke",
            Self::BlockPivoting => "block pivoting",
            Self::ActiveSet => "active set",
            Self::ChainSweep => "chain sweep",
            Self::InteriorPoint => "interior point",
            Self::ProjectedGaussSeidel => "projected Gauss-Seidel",
            Self::AcceleratedGradient => "accelerated projected gradient",
            Self::NewtonFischerBurmeister => "Newton (Fischer-Burmeister)",
            Self::NewtonMin => "Newton (min)",
            Self::Enumeration => "enumeration",
        })
    }
}

/// What a successful solve did; the vectors are in the caller's slices.
#[derive(Debug, Clone, Copy, PartialEq)]
#[must_use]
pub struct Report {
    /// The method that answered.
    pub method: Method,
    /// Its iterations: pivots, factorisations or sweeps.
    pub iterations: u32,
    /// Natural residual of the answer, in units in which the entries of $M$ are of order one.
    pub residual: f64,
    /// Number of indices with $z_i > w_i$.
    pub active: usize,
}

/// A solution that owns its vectors.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct Solution {
    /// The unknowns, $z \ge 0$.
    pub z: Vec<f64>,
    /// The slacks $w = Mz + q$.
    pub w: Vec<f64>,
    /// The indices with $z_i > w_i$.
    pub active: Vec<usize>,
    /// What was done.
    pub report: Report,
}

/// $\max_i |\min(z_i, w_i)|$ over $\max_i|q_i|$ (absolute where $q = 0$); infinite where a number is not finite.
pub fn natural_residual(z: &[f64], w: &[f64], q: &[f64]) -> f64 {
    let mut worst = 0.0_f64;
    for (&z, &w) in z.iter().zip(w) {
        // NaN must not hide behind `max`, nor infinity behind `min`.
        if !z.is_finite() || !w.is_finite() {
            return f64::INFINITY;
        }
        worst = worst.max(z.min(w).abs());
    }
    let scale = q.iter().fold(0.0_f64, |m, q| m.max(q.abs()));
    if scale > 0.0 { worst / scale } else { worst }
}
