//! All complementary cones, one after the other: the last word for tiny problems.
//!
//! The problem is solvable exactly when $q$ lies in one of the $2^n$ cones spanned by the columns
//! $-M_{:,i}$ ($i \in A$) and $e_i$ ($i \notin A$) [Cottle, Pang & Stone 1992, §1.3]. Membership is a non-negative least-squares
//! problem, $\min_{x\ge0}|Cx - q|$, so that singular bases need no special care. That $q$ lies outside a cone is claimed only with a
//! vector that separates them,
//! $$ C^\top y \ge 0, \qquad q^\top y < 0 , $$
//! checked without rounding. The remainder $y = Cx - q$ is one up to rounding; it is moved into the dual cone along $u$ with $C^\top u \approx e$,
//! or replaced by nearby integers where the cone contains a line.
//!
//! For somewhat larger problems the weaker question whether $Mz + q \ge 0$, $z \ge 0$ has any solution is
//! of the same kind with $C = (-M, I)$, and $y$ is then the certificate $d \ge 0,\ M^\top d \le 0,\ q^\top d < 0$.

use core::cmp::Ordering;

use super::exact::{sign_of_sum, snap};
use crate::least_squares::GramNnls;
use crate::small::gram::PivotedCholesky;

/// Largest order for which all cones are visited.
pub(crate) const LARGEST: usize = 14;

/// Largest order for which feasibility is decided.
pub(crate) const LARGEST_FEASIBILITY: usize = 64;

/// Relative distance of $q$ from a cone that may be rounding.
const MEMBERSHIP: f64 = 1e-9;

/// Relative distance at which no better cone is looked for.
const CERTAIN: f64 = 1e-13;

/// Share of a pivot below which a row of $CC^\top$ is redundant.
const RANK_TOLERANCE: f64 = 1e-12;

/// What the search over all cones showed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// A point that solves the problem up to rounding.
    Found,
    /// No cone contains $q$, and this is proven.
    Nowhere,
    /// No cone contains $q$ up to rounding.
    Undecided,
}

/// Memory for problems of one size.
#[derive(Debug)]
pub(crate) struct Enumeration {
    n: usize,
    kernel: GramNnls,
    gram: Vec<f64>,
    rhs: Vec<f64>,
    x: Vec<f64>,
    remainder: Vec<f64>,
    normal: PivotedCholesky,
    inward: Vec<f64>,
    trial: Vec<f64>,
}

/// The columns of a cone.
trait Cone {
    fn columns(&self) -> usize;
    fn entry(&self, row: usize, column: usize) -> f64;
}

/// $-M_{:,i}$ for the indices in the set, $e_i$ for the others.
struct Complementary<'a> {
    n: usize,
    m: &'a [f64],
    set: u64,
}

impl Cone for Complementary<'_> {
    fn columns(&self) -> usize {
        self.n
    }
    fn entry(&self, row: usize, column: usize) -> f64 {
        if self.set >> column & 1 == 1 {
            -self.m[column * self.n + row]
        } else {
            f64::from(u8::from(row == column))
        }
    }
}

/// $(-M, I)$.
struct Feasible<'a> {
    n: usize,
    m: &'a [f64],
}

impl Cone for Feasible<'_> {
    fn columns(&self) -> usize {
        2 * self.n
    }
    fn entry(&self, row: usize, column: usize) -> f64 {
        if column < self.n {
            -self.m[column * self.n + row]
        } else {
            f64::from(u8::from(row + self.n == column))
        }
    }
}

impl Enumeration {
    pub(crate) fn new(n: usize) -> Self {
        let v = || vec![0.0; n];
        Self {
            n,
            kernel: GramNnls::new(2 * n),
            gram: vec![0.0; 4 * n * n],
            rhs: vec![0.0; 2 * n],
            x: vec![0.0; 2 * n],
            remainder: v(),
            normal: PivotedCholesky::new(n),
            inward: v(),
            trial: v(),
        }
    }

    /// The best solution found, in `z`; `exact` says whether the data are the caller's to the last bit.
    pub(crate) fn run(&mut self, m: &[f64], q: &[f64], exact: bool, z: &mut [f64]) -> Outcome {
        let n = self.n;
        let q_max = q.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        let mut least = MEMBERSHIP;
        let mut found = false;
        for set in 0..1_u64 << n {
            let distance = self.project(&Complementary { n, m, set }, q);
            if distance <= least * q_max {
                least = if q_max > 0.0 { distance / q_max } else { 0.0 };
                found = true;
                for j in 0..n {
                    z[j] = if set >> j & 1 == 1 { self.x[j] } else { 0.0 };
                }
                if least <= CERTAIN {
                    break;
                }
            }
        }
        if found {
            return Outcome::Found;
        }
        let nowhere = exact
            && (0..1_u64 << n).all(|set| {
                let cone = Complementary { n, m, set };
                self.project(&cone, q);
                self.separate(&cone, q)
            });
        if nowhere { Outcome::Nowhere } else { Outcome::Undecided }
    }

    /// The certificate $d$ when $Mz + q \ge 0$ has no solution $z \ge 0$, and whether it is exact.
    pub(crate) fn infeasibility(&mut self, m: &[f64], q: &[f64]) -> (&[f64], bool) {
        let cone = Feasible { n: self.n, m };
        self.project(&cone, q);
        let proven = self.separate(&cone, q);
        (if proven { &self.trial } else { &self.remainder }, proven)
    }

    /// The point of the cone nearest to $q$: coefficients in `x`, remainder in `remainder`; returns its size, infinite
    /// where it was not found.
    fn project(&mut self, cone: &impl Cone, q: &[f64]) -> f64 {
        let (n, k) = (self.n, cone.columns());
        for j in 0..k {
            for i in 0..=j {
                let product = (0..n).map(|r| cone.entry(r, i) * cone.entry(r, j)).sum();
                self.gram[j * k + i] = product;
                self.gram[i * k + j] = product;
            }
            self.rhs[j] = -(0..n).map(|r| cone.entry(r, j) * q[r]).sum::<f64>();
        }
        self.x.fill(0.0);
        let (gram, rhs) = (&self.gram[..k * k], &self.rhs[..k]);
        let solved = self.kernel.solve(gram, rhs, &mut self.x[..k]).is_ok();
        let mut distance = 0.0_f64;
        for r in 0..n {
            let reached: f64 = (0..k).map(|j| cone.entry(r, j) * self.x[j]).sum();
            self.remainder[r] = reached - q[r];
            distance = distance.max(self.remainder[r].abs());
        }
        if solved && distance.is_finite() { distance } else { f64::INFINITY }
    }

    /// Whether a vector near the remainder of the last projection separates $q$ from the cone; it is left in `trial`.
    fn separate(&mut self, cone: &impl Cone, q: &[f64]) -> bool {
        let (n, k) = (self.n, cone.columns());
        let separates = |y: &[f64]| {
            let products = |j: usize| (0..n).map(move |r| (cone.entry(r, j), y[r]));
            y.iter().all(|y| y.is_finite())
                && sign_of_sum(q.iter().copied().zip(y.iter().copied())) == Ordering::Less
                && (0..k).all(|j| sign_of_sum(products(j)) != Ordering::Less)
        };
        if snap(&self.remainder, &mut self.trial, separates) {
            return true;
        }
        for i in 0..n {
            for j in 0..n {
                let product = (0..k).map(|c| cone.entry(i, c) * cone.entry(j, c)).sum();
                self.gram[i * n + j] = product;
            }
            self.rhs[i] = (0..k).map(|c| cone.entry(i, c)).sum();
        }
        let inward = self
            .normal
            .factor(n, &self.gram[..n * n], RANK_TOLERANCE)
            .and_then(|_| self.normal.solve_minimum_norm(&self.rhs[..n], &mut self.inward));
        if inward.is_err() {
            return false;
        }
        let size = self.remainder.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        [1e-14, 1e-12, 1e-10, 1e-8, 1e-6, 1e-4, 1e-2].into_iter().any(|share| {
            for r in 0..n {
                self.trial[r] = self.remainder[r] + share * size * self.inward[r];
            }
            separates(&self.trial)
        })
    }
}
