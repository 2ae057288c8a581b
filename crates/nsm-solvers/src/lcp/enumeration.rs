//! All complementary cones, one after the other: the last word for tiny problems.
//!
//! The problem is solvable exactly when $q$ lies in one of the $2^n$ cones spanned by the columns
//! $-M_{:,i}$ ($i \in A$) and $e_i$ ($i \notin A$) [Cottle, Pang & Stone 1992, §1.3]. Membership is a non-negative least-squares
//! problem, $\min_{x\ge0}|Cx - q|$, so that singular bases need no special care and a negative answer is a
//! proof up to rounding.
//!
//! For somewhat larger problems the weaker question whether $Mz + q \ge 0$, $z \ge 0$ has any solution is
//! of the same kind, $\min_{z,s\ge0} |Mz + q - s|$; if not, the remainder $d = s - q - Mz$ satisfies
//! $d \ge 0,\ M^\top d \le 0,\ q^\top d < 0$.

use crate::least_squares::GramNnls;

/// Largest order for which all cones are visited.
pub(crate) const LARGEST: usize = 14;

/// Largest order for which feasibility is decided.
pub(crate) const LARGEST_FEASIBILITY: usize = 64;

/// Relative distance of $q$ from a cone that counts as membership.
const MEMBERSHIP: f64 = 1e-9;

/// Memory for problems of one size.
#[derive(Debug)]
pub(crate) struct Enumeration {
    n: usize,
    kernel: GramNnls,
    gram: Vec<f64>,
    rhs: Vec<f64>,
    x: Vec<f64>,
    scale: Vec<f64>,
    remainder: Vec<f64>,
}

impl Enumeration {
    pub(crate) fn new(n: usize) -> Self {
        Self {
            n,
            kernel: GramNnls::new(2 * n),
            gram: vec![0.0; 4 * n * n],
            rhs: vec![0.0; 2 * n],
            x: vec![0.0; 2 * n],
            scale: vec![0.0; n],
            remainder: vec![0.0; n],
        }
    }

    /// Rows of equal size, so that the distance to a cone does not depend on their scaling.
    fn row_scales(&mut self, m: &[f64], q: &[f64]) {
        let n = self.n;
        for i in 0..n {
            let size = (0..n).fold(q[i].abs(), |s, j| s.max(m[j * n + i].abs()));
            self.scale[i] = if size > 0.0 { 1.0 / size } else { 1.0 };
        }
    }

    /// The first solution found, in `z`.
    pub(crate) fn run(&mut self, m: &[f64], q: &[f64], z: &mut [f64]) -> bool {
        self.row_scales(m, q);
        (0..1_u64 << self.n).any(|set| self.in_cone(set, m, q, z))
    }

    fn in_cone(&mut self, set: u64, m: &[f64], q: &[f64], z: &mut [f64]) -> bool {
        let n = self.n;
        let scale = &self.scale;
        let entry = |row: usize, j: usize| {
            scale[row]
                * if set >> j & 1 == 1 {
                    -m[j * n + row]
                } else if row == j {
                    1.0
                } else {
                    0.0
                }
        };
        for j in 0..n {
            for i in 0..n {
                self.gram[j * n + i] = (0..n).map(|r| entry(r, i) * entry(r, j)).sum();
            }
            self.rhs[j] = -(0..n).map(|r| entry(r, j) * scale[r] * q[r]).sum::<f64>();
        }
        self.x[..n].fill(0.0);
        let answer = self.kernel.solve(&self.gram[..n * n], &self.rhs[..n], &mut self.x[..n]);
        if answer.is_err() {
            return false;
        }
        let mut q_max = 0.0_f64;
        let mut distance = 0.0_f64;
        for r in 0..n {
            let reached: f64 = (0..n).map(|j| entry(r, j) * self.x[j]).sum();
            distance = distance.max((reached - scale[r] * q[r]).abs());
            q_max = q_max.max((scale[r] * q[r]).abs());
        }
        if distance > MEMBERSHIP * q_max {
            return false;
        }
        for j in 0..n {
            z[j] = if set >> j & 1 == 1 { self.x[j] } else { 0.0 };
        }
        true
    }

    /// The certificate $d$ when $Mz + q \ge 0$ has no solution $z \ge 0$.
    pub(crate) fn infeasibility(&mut self, m: &[f64], q: &[f64]) -> Option<&[f64]> {
        let n = self.n;
        self.row_scales(m, q);
        let scale = &self.scale;
        let entry = |row: usize, j: usize| {
            scale[row]
                * if j < n {
                    m[j * n + row]
                } else if row == j - n {
                    -1.0
                } else {
                    0.0
                }
        };
        for j in 0..2 * n {
            for i in 0..2 * n {
                self.gram[j * 2 * n + i] = (0..n).map(|r| entry(r, i) * entry(r, j)).sum();
            }
            self.rhs[j] = (0..n).map(|r| entry(r, j) * scale[r] * q[r]).sum::<f64>();
        }
        self.x.fill(0.0);
        if self.kernel.solve(&self.gram, &self.rhs, &mut self.x).is_err() {
            return None;
        }
        for r in 0..n {
            let sum: f64 = (0..2 * n).map(|j| entry(r, j) * self.x[j]).sum();
            // Back to the caller's rows: the inequality d'(Mz + q) is scaled once more.
            self.remainder[r] = -(sum + scale[r] * q[r]) * scale[r];
        }
        Some(&self.remainder)
    }
}
