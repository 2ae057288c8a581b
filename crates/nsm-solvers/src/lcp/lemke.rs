//! Lemke's complementary pivoting with a lexicographic ratio test.
//!
//! The system $w - Mz - d z_0 = q$ with a covering vector $d > 0$ starts on the ray $z = 0$, $z_0$ large. The
//! variable complementary to the one that left enters next, until $z_0$ leaves (solved) or no
//! variable blocks (a secondary ray) [Lemke 1965; Cottle, Pang & Stone 1992, algorithm 4.4.1]. Ties in the ratio test are broken by the rows of
//! $B^{-1}(q | I)$ in lexicographic order, so that no basis repeats and the path is finite for every matrix
//! [Cottle, Pang & Stone 1992, §4.9]. $d_i$ is the size of row $i$ of $M$, which makes the path independent of row
//! scaling without creating ties of its own.
//!
//! Processes copositive-plus matrices: there a ray means that $Mz + q \ge 0$, $z \ge 0$ has no solution, and the ray's
//! direction is the certificate.

/// How the path ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Outcome {
    Solved {
        pivots: u32,
    },
    /// No variable blocks; the direction of $z$ along the ray is in `direction`.
    Ray {
        pivots: u32,
    },
    Stalled {
        pivots: u32,
    },
}

/// Columns of the tableau: $q$, then $w$, then $z$, then $z_0$.
#[derive(Debug, Clone)]
pub(crate) struct Lemke {
    n: usize,
    tableau: Vec<f64>,
    /// Variable that is basic in each row: `i` for $w_i$, `n + i` for $z_i$, `2n` for $z_0$.
    basis: Vec<usize>,
    pivot_row: Vec<f64>,
    ties: Vec<usize>,
    pub(crate) direction: Vec<f64>,
}

impl Lemke {
    pub(crate) fn new(n: usize) -> Self {
        Self {
            n,
            tableau: vec![0.0; n * (2 * n + 2)],
            basis: vec![0; n],
            pivot_row: vec![0.0; 2 * n + 2],
            ties: Vec::with_capacity(n),
            direction: vec![0.0; n],
        }
    }

    /// Follows the path for the dense columns `m`; `z` receives the last point.
    pub(crate) fn run(&mut self, m: &[f64], q: &[f64], max_pivots: u32, z: &mut [f64]) -> Outcome {
        let n = self.n;
        let artificial = 2 * n;
        if q.iter().all(|&q| q >= 0.0) {
            z.fill(0.0);
            return Outcome::Solved { pivots: 0 };
        }
        self.fill(m, q);
        // The first pivot makes all ratios non-negative: lexicographically least q_i / d_i.
        let mut row = 0;
        for i in 1..n {
            if self.lexicographically_less_scaled(i, row, artificial) {
                row = i;
            }
        }
        let mut entering = artificial;
        let mut pivots = 0;
        loop {
            let leaving = self.basis[row];
            self.pivot(row, entering);
            pivots += 1;
            if leaving == artificial {
                self.read(z);
                return Outcome::Solved { pivots };
            }
            if pivots >= max_pivots {
                self.read(z);
                return Outcome::Stalled { pivots };
            }
            entering = if leaving < n { leaving + n } else { leaving - n };
            let Some(blocking) = self.blocking_row(entering) else {
                self.read(z);
                self.read_direction(entering);
                return Outcome::Ray { pivots };
            };
            row = blocking;
        }
    }

    fn fill(&mut self, m: &[f64], q: &[f64]) {
        let (n, stride) = (self.n, 2 * self.n + 2);
        self.tableau.fill(0.0);
        for i in 0..n {
            let row = &mut self.tableau[i * stride..(i + 1) * stride];
            let mut size = 0.0_f64;
            row[0] = q[i];
            row[1 + i] = 1.0;
            for j in 0..n {
                let entry = m[j * n + i];
                size = size.max(entry.abs());
                row[1 + n + j] = -entry;
            }
            row[1 + 2 * n] = if size > 0.0 { -size } else { -1.0 };
            self.basis[i] = i;
        }
    }

    fn at(&self, row: usize, column: usize) -> f64 {
        self.tableau[row * (2 * self.n + 2) + column]
    }

    /// Whether row `a` over its entry in column `c` is lexicographically below row `b` over its own
    /// (entries negative, as in the first pivot, compare by the most negative ratio).
    fn lexicographically_less_scaled(&self, a: usize, b: usize, c: usize) -> bool {
        let (da, db) = (-self.at(a, 1 + c), -self.at(b, 1 + c));
        for k in 0..=self.n {
            let (x, y) = (self.at(a, k) / da, self.at(b, k) / db);
            if x != y {
                return x < y;
            }
        }
        false
    }

    /// Lexicographic ratio test; the artificial variable leaves whenever it may.
    fn blocking_row(&mut self, entering: usize) -> Option<usize> {
        let (n, stride, column) = (self.n, 2 * self.n + 2, 1 + entering);
        let mut largest = 0.0_f64;
        for i in 0..n {
            largest = largest.max(self.tableau[i * stride + column].abs());
        }
        let threshold = 1e-11 * largest;
        let mut least = f64::INFINITY;
        for i in 0..n {
            let pivot = self.tableau[i * stride + column];
            if pivot > threshold {
                least = least.min(self.tableau[i * stride] / pivot);
            }
        }
        if least == f64::INFINITY {
            return None;
        }
        let slack = 1e-13 * least.abs().max(f64::MIN_POSITIVE);
        self.ties.clear();
        for i in 0..n {
            let pivot = self.tableau[i * stride + column];
            if pivot > threshold && self.tableau[i * stride] / pivot <= least + slack {
                if self.basis[i] == 2 * n {
                    return Some(i);
                }
                self.ties.push(i);
            }
        }
        for k in 1..=n {
            if self.ties.len() == 1 {
                break;
            }
            let ratio = |i: usize| self.tableau[i * stride + k] / self.tableau[i * stride + column];
            let (least, size) = self.ties.iter().fold((f64::INFINITY, 0.0_f64), |(m, s), &i| {
                (m.min(ratio(i)), s.max(ratio(i).abs()))
            });
            let slack = 1e-12 * size;
            let tableau = &self.tableau;
            self.ties.retain(|&i| {
                tableau[i * stride + k] / tableau[i * stride + column] <= least + slack
            });
        }
        self.ties.first().copied()
    }

    fn pivot(&mut self, row: usize, entering: usize) {
        let (n, stride, column) = (self.n, 2 * self.n + 2, 1 + entering);
        let inverse = 1.0 / self.at(row, column);
        for v in &mut self.tableau[row * stride..(row + 1) * stride] {
            *v *= inverse;
        }
        self.pivot_row.copy_from_slice(&self.tableau[row * stride..(row + 1) * stride]);
        for i in 0..n {
            if i == row {
                continue;
            }
            let target = &mut self.tableau[i * stride..(i + 1) * stride];
            let factor = target[column];
            if factor != 0.0 {
                let before = target[0].abs() + (factor * self.pivot_row[0]).abs();
                for (t, p) in target.iter_mut().zip(&self.pivot_row) {
                    *t -= factor * p;
                }
                target[column] = 0.0;
                // What cancelled to rounding is a tie, and ties go to the lexicographic test.
                if target[0].abs() <= 1e-13 * before {
                    target[0] = 0.0;
                }
            }
        }
        self.basis[row] = entering;
    }

    fn read(&self, z: &mut [f64]) {
        z.fill(0.0);
        for (row, &variable) in self.basis.iter().enumerate() {
            if (self.n..2 * self.n).contains(&variable) {
                z[variable - self.n] = self.at(row, 0).max(0.0);
            }
        }
    }

    /// The $z$-part of the ray along which the entering variable grows without bound.
    fn read_direction(&mut self, entering: usize) {
        self.direction.fill(0.0);
        if (self.n..2 * self.n).contains(&entering) {
            self.direction[entering - self.n] = 1.0;
        }
        for row in 0..self.n {
            let variable = self.basis[row];
            if (self.n..2 * self.n).contains(&variable) {
                self.direction[variable - self.n] = (-self.at(row, 1 + entering)).max(0.0);
            }
        }
    }
}
