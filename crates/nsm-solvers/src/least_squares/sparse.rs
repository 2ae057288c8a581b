//! Non-negative least squares from a sparse Gram matrix, warm.
//!
//! $$ 0 \le \lambda \perp M\lambda + q \ge 0, \qquad M = G^\top W G \succeq 0, $$
//! for contacts of piles, where many are redundant and one problem is much like the one before. The problem is solved by proximal points: around a
//! reference $\bar\lambda$, at first the guess,
//! $$ 0 \le \lambda \perp (M + \varepsilon I)\lambda + q - \varepsilon\bar\lambda \ge 0 $$
//! has one solution, which an exchange of all violated indices at once finds while their number falls, and the method of Lawson and Hanson from the
//! reference where it does not; then $\bar\lambda = \lambda$. Each set of carrying indices is factorised by its envelope, and kept for as long as
//! matrix and set are the same: a problem that differs by its right-hand side alone costs two solves.

use super::LeastSquaresError;
use crate::lcp::envelope::{EnvelopeFactor, SymmetricSparse};

/// $\varepsilon$ as a share of the largest diagonal entry.
const PROXIMAL: f64 = 1e-10;

/// References, and exchanges one by one around one of them, after which the problem is given up.
const REFERENCES: u32 = 30;
const EXCHANGES: u32 = 2000;

/// Exchanges of all violated indices without progress, before they enter one by one.
const PATIENCE: usize = 5;

/// Slack of carrying indices that stays, relative to the largest $|q|$, with which an answer still is one.
const ACCEPTED: f64 = 1e-8;

/// Solver for a sparse symmetric positive semidefinite matrix; memory grows with the largest problem, and is laid out anew where
/// the pattern changes.
#[derive(Debug, Default)]
pub struct SparseNnls {
    starts: Vec<usize>,
    indices: Vec<usize>,
    memory: Option<Box<Memory>>,
    shift: Vec<f64>,
    largest: f64,
    /// Indices that carry, in the order of the matrix.
    carries: Vec<bool>,
    q: Vec<f64>,
    zero: Vec<f64>,
    lambda: Vec<f64>,
    reference: Vec<f64>,
    slack: Vec<f64>,
    step: Vec<f64>,
}

/// A matrix with the factors of the last two sets of carrying indices: two problems that alternate need not factorise in turn.
#[derive(Debug)]
struct Memory {
    matrix: SymmetricSparse,
    factors: [Factored; 2],
}

/// A factor and its indices; empty if it is none of the matrix.
#[derive(Debug)]
struct Factored {
    set: Vec<bool>,
    factor: EnvelopeFactor,
}

impl Memory {
    fn new(matrix: SymmetricSparse) -> Self {
        let none =
            || Factored { set: Vec::with_capacity(matrix.n), factor: EnvelopeFactor::new(&matrix) };
        let factors = [none(), none()];
        Self { matrix, factors }
    }

    /// Puts the factor of a set in front; false if it has none.
    fn factorise(&mut self, set: &[bool], shift: &[f64]) -> bool {
        if self.factors[0].set == set {
            return true;
        }
        self.factors.swap(0, 1);
        let Factored { set: kept, factor } = &mut self.factors[0];
        if kept == set {
            return true;
        }
        kept.clear();
        if !factor.factor(&self.matrix, set, shift) {
            return false;
        }
        kept.extend_from_slice(set);
        true
    }
}

impl SparseNnls {
    /// Takes a matrix by its columns, both triangles.
    pub fn set(&mut self, starts: &[usize], indices: &[usize], values: &[f64]) {
        let n = starts.len().saturating_sub(1);
        if self.memory.is_none() || self.starts != starts || self.indices != indices {
            let matrix = SymmetricSparse::new(n, starts, indices);
            self.memory = Some(Box::new(Memory::new(matrix)));
            self.starts.clear();
            self.starts.extend_from_slice(starts);
            self.indices.clear();
            self.indices.extend_from_slice(indices);
        }
        let Some(memory) = &mut self.memory else { return };
        memory.matrix.load(values);
        memory.factors.iter_mut().for_each(|factored| factored.set.clear());
        self.largest = memory.matrix.diagonal.iter().fold(0.0, |a: f64, &b| a.max(b));
        self.shift.clear();
        self.shift.resize(n, PROXIMAL * self.largest);
        self.carries.clear();
        self.carries.resize(n, false);
    }

    /// Solves from the guess in `lambda`. Multipliers above minus `zero` (times the largest diagonal entry: it has the unit of `q`) count as
    /// non-negative, so that noise need not be sorted by sign. With `free`, all multipliers may have any sign. $M\lambda + q$ vanishes where multipliers
    /// do not, to rounding where that is possible, else to `enough`: redundant rows may ask for what cannot be had together.
    ///
    /// # Errors
    /// Sizes that disagree, entries that are not finite, problems that are not solved within some hundred exchanges, such as those without a solution.
    pub fn solve(
        &mut self,
        q: &[f64],
        (zero, enough): (&[f64], f64),
        free: bool,
        lambda: &mut [f64],
    ) -> Result<(), LeastSquaresError> {
        let n = self.carries.len();
        for (what, found) in [("q", q.len()), ("zero", zero.len()), ("lambda", lambda.len())] {
            if found != n {
                return Err(LeastSquaresError::Size { what, expected: n, found });
            }
        }
        let Some(mut memory) = self.memory.take() else { return Ok(()) };
        self.gather(&memory.matrix, q, zero, lambda);
        let outcome = self.search(&mut memory, enough, free);
        for (k, &i) in memory.matrix.order.iter().enumerate() {
            lambda[i] = self.lambda[k];
        }
        self.memory = Some(memory);
        outcome
    }

    fn gather(&mut self, matrix: &SymmetricSparse, q: &[f64], zero: &[f64], guess: &[f64]) {
        let order = &matrix.order;
        for (own, given) in [(&mut self.q, q), (&mut self.zero, zero), (&mut self.lambda, guess)] {
            own.clear();
            own.extend(order.iter().map(|&i| given[i]));
        }
        self.step.clear();
        self.step.resize(order.len(), 0.0);
        self.slack.clear();
        self.slack.resize(order.len(), 0.0);
    }

    fn search(
        &mut self,
        memory: &mut Memory,
        enough: f64,
        free: bool,
    ) -> Result<(), LeastSquaresError> {
        let n = self.q.len();
        let size = self.q.iter().fold(0.0_f64, |a, q| a.max(q.abs()));
        if !self.q.iter().chain(&self.lambda).sum::<f64>().is_finite() || !self.largest.is_finite()
        {
            let index = self.q.iter().position(|q| !q.is_finite()).unwrap_or(0);
            return Err(LeastSquaresError::NotFinite { what: "q", index });
        }
        self.update_slack(&memory.matrix);
        let rounding = self.rounding(size);
        for i in 0..n {
            let acts = memory.matrix.diagonal[i] > 0.0;
            self.carries[i] = acts && (free || self.lambda[i] > 0.0 || self.slack[i] < -rounding);
        }
        let mut before = f64::INFINITY;
        for _ in 0..REFERENCES {
            self.reference.clear();
            self.reference.extend_from_slice(&self.lambda);
            self.exchange(memory, free, size)?;
            // What the reference still leaves.
            let rounding = self.rounding(size);
            let (mut worst, mut done) = (0.0_f64, true);
            for i in 0..n {
                if self.carries[i] {
                    worst = worst.max(self.slack[i].abs());
                    done &= self.slack[i].abs() <= rounding;
                }
            }
            let settled = worst <= enough.max(ACCEPTED * size);
            if done || (worst >= 0.5 * before && settled) {
                return Ok(());
            }
            if free && worst >= 0.9 * before {
                break;
            }
            before = worst;
        }
        Err(LeastSquaresError::Stalled { iterations: REFERENCES, residual: before })
    }

    /// Solves around the reference: exchanges all violated indices while their number falls.
    fn exchange(
        &mut self,
        memory: &mut Memory,
        free: bool,
        size: f64,
    ) -> Result<(), LeastSquaresError> {
        let n = self.q.len();
        let (mut fewest, mut patience) = (usize::MAX, PATIENCE);
        while patience > 0 {
            let mut dropped = false;
            for i in 0..n {
                if !self.carries[i] && self.lambda[i] != 0.0 {
                    (self.lambda[i], dropped) = (0.0, true);
                }
            }
            if dropped {
                self.update_slack(&memory.matrix);
            }
            self.solve_carrying(memory, size)?;
            for (l, d) in self.lambda.iter_mut().zip(&self.step) {
                *l += d;
            }
            self.update_slack(&memory.matrix);
            if free {
                return Ok(());
            }
            let rounding = self.rounding(size);
            let violated = (0..n).filter(|&i| self.violates(&memory.matrix, i, rounding)).count();
            if violated == 0 {
                return Ok(());
            }
            if violated < fewest {
                (fewest, patience) = (violated, PATIENCE);
            } else {
                patience -= 1;
            }
            for i in 0..n {
                if self.violates(&memory.matrix, i, rounding) {
                    self.carries[i] = !self.carries[i];
                }
            }
        }
        self.descend(memory, size)
    }

    /// The method of Lawson and Hanson from the reference: one index enters at a time, and the objective falls.
    #[cold]
    fn descend(&mut self, memory: &mut Memory, size: f64) -> Result<(), LeastSquaresError> {
        let n = self.q.len();
        for i in 0..n {
            self.lambda[i] = self.reference[i].max(0.0);
            self.carries[i] = self.lambda[i] > 0.0;
        }
        for _ in 0..EXCHANGES {
            self.update_slack(&memory.matrix);
            self.solve_carrying(memory, size)?;
            // As far as no multiplier becomes negative.
            let rounding = self.rounding(size);
            let (mut share, mut leaves) = (1.0, None);
            for i in 0..n {
                let (l, d) = (self.lambda[i], self.step[i]);
                let negative = (l + d) * self.largest < -self.zero[i].max(rounding);
                if self.carries[i] && negative && l.max(0.0) < -d * share {
                    (share, leaves) = (l.max(0.0) / -d, Some(i));
                }
            }
            for (l, d) in self.lambda.iter_mut().zip(&self.step) {
                *l += share * d;
            }
            if let Some(i) = leaves {
                (self.carries[i], self.lambda[i]) = (false, 0.0);
                continue;
            }
            self.update_slack(&memory.matrix);
            let rounding = self.rounding(size);
            let pushed = |i: usize| self.slack[i] - self.shift[i] * self.reference[i];
            let enters = (0..n)
                .filter(|&i| !self.carries[i] && self.violates(&memory.matrix, i, rounding))
                .min_by(|&a, &b| pushed(a).total_cmp(&pushed(b)));
            let Some(i) = enters else { return Ok(()) };
            self.carries[i] = true;
        }
        Err(LeastSquaresError::Stalled { iterations: EXCHANGES, residual: size })
    }

    /// Leaves in `step` what leads from `lambda`, of which the slack is known, to the solution for the carrying indices.
    fn solve_carrying(&mut self, memory: &mut Memory, size: f64) -> Result<(), LeastSquaresError> {
        if !memory.factorise(&self.carries, &self.shift) {
            return Err(LeastSquaresError::Stalled { iterations: 0, residual: size });
        }
        for i in 0..self.q.len() {
            let back = self.shift[i] * (self.lambda[i] - self.reference[i]);
            self.step[i] = if self.carries[i] { -self.slack[i] - back } else { 0.0 };
        }
        memory.factors[0].factor.solve(&mut self.step);
        Ok(())
    }

    /// Whether an index is on the wrong side.
    fn violates(&self, matrix: &SymmetricSparse, i: usize, rounding: f64) -> bool {
        if self.carries[i] {
            self.lambda[i] * self.largest < -self.zero[i].max(rounding)
        } else {
            let pushed = self.slack[i] - self.shift[i] * self.reference[i];
            matrix.diagonal[i] > 0.0 && pushed < -rounding
        }
    }

    fn rounding(&self, size: f64) -> f64 {
        let most = self.lambda.iter().fold(0.0, |a: f64, l| a.max(l.abs()));
        8.0 * f64::EPSILON * (size + self.largest * most)
    }

    fn update_slack(&mut self, matrix: &SymmetricSparse) {
        self.slack.copy_from_slice(&self.q);
        matrix.multiply_add(&self.lambda, &mut self.slack);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gram matrix of random sparse columns with repeated ones, by compressed columns.
    fn random_gram(n: usize, seed: u64) -> (Vec<usize>, Vec<usize>, Vec<f64>) {
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let mut next = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
        };
        let rows = n / 2 + 2;
        let mut g = vec![vec![0.0; rows]; n];
        for (i, column) in g.iter_mut().enumerate() {
            // Contacts along a line, each on a few coordinates, more of them than there are coordinates.
            let at = i * (rows - 2) / n;
            for k in 0..3 {
                column[(at + k) % rows] = next();
            }
            let length = column.iter().map(|x| x * x).sum::<f64>().sqrt();
            for x in column.iter_mut() {
                *x /= length;
            }
        }
        let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for a in 0..n {
            for b in 0..n {
                let product: f64 = g[a].iter().zip(&g[b]).map(|(x, y)| x * y).sum();
                if product != 0.0 {
                    indices.push(b);
                    values.push(product);
                }
            }
            starts.push(indices.len());
        }
        (starts, indices, values)
    }

    fn multiply(gram: &(Vec<usize>, Vec<usize>, Vec<f64>), x: &[f64], q: &[f64]) -> Vec<f64> {
        let mut w = q.to_vec();
        for j in 0..x.len() {
            for k in gram.0[j]..gram.0[j + 1] {
                w[gram.1[k]] += gram.2[k] * x[j];
            }
        }
        w
    }

    #[test]
    fn redundant_problems_are_solved_to_rounding_and_warm_ones_as_well() {
        for (n, seed) in [(4, 1), (12, 2), (60, 3), (200, 4), (200, 5)] {
            let gram = random_gram(n, seed);
            // Feasible by construction: speeds that some impulses leave.
            let loads: Vec<f64> = (0..n).map(|i| ((i * 37 % 11) as f64 - 4.0).max(0.0)).collect();
            let mut q: Vec<f64> =
                multiply(&gram, &loads, &vec![0.0; n]).iter().map(|w| -w).collect();
            let zero = vec![0.0; n];
            let mut solver = SparseNnls::default();
            solver.set(&gram.0, &gram.1, &gram.2);
            let mut lambda = zero.clone();
            for round in 0..3 {
                solver.solve(&q, (&zero, 0.0), false, &mut lambda).unwrap();
                let w = multiply(&gram, &lambda, &q);
                for i in 0..n {
                    assert!(lambda[i] >= -1e-11, "{n} {seed} {round}: {}", lambda[i]);
                    assert!(w[i] >= -1e-11, "{n} {seed} {round}: {}", w[i]);
                    assert!(lambda[i].abs().min(w[i].abs()) < 1e-10, "{n} {seed} {round}");
                }
                for q in &mut q {
                    *q *= 1.01;
                }
            }
        }
    }

    #[test]
    fn free_problems_and_those_without_a_solution() {
        let gram = random_gram(30, 7);
        let zero = vec![0.0; 30];
        let loads: Vec<f64> = (0..30).map(|i| f64::from(i) - 14.0).collect();
        let q = multiply(&gram, &loads, &zero);
        let mut solver = SparseNnls::default();
        solver.set(&gram.0, &gram.1, &gram.2);
        let mut lambda = zero.clone();
        solver.solve(&q, (&zero, 0.0), true, &mut lambda).unwrap();
        assert!(multiply(&gram, &lambda, &q).iter().all(|w| w.abs() < 1e-12));
        // Two opposed walls that both close.
        let mut walls = SparseNnls::default();
        walls.set(&[0, 2, 4], &[0, 1, 0, 1], &[1.0, -1.0, -1.0, 1.0]);
        let mut lambda = [0.0; 2];
        assert!(walls.solve(&[-1.0, -1.0], (&[0.0; 2], 0.0), false, &mut lambda).is_err());
        // One closes, the other opens.
        let mut lambda = [0.0; 2];
        walls.solve(&[-1.0, 1.0], (&[0.0; 2], 0.0), false, &mut lambda).unwrap();
        assert!((lambda[0] - lambda[1] - 1.0).abs() < 1e-12, "{lambda:?}");
    }
}
