//! Matrices of $6 \times 6$ blocks between bodies, factorised body by body.
//!
//! $A = LU$ with the rows of a body exchanged among themselves only: the matrix of Newton's step is $I$ plus a congruence, whose diagonal blocks
//! are regular. Bodies with the fewest neighbours go first, so that the factors stay as sparse as the contacts allow; a factorisation that
//! exchanges rows of different bodies cannot keep to that order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::blocks::Pattern;

/// The place of a body that has none yet.
const WAITING: usize = usize::MAX;

/// A block, row-major.
type Block = [f64; 36];

/// The factors, with their storage and the pattern that they were made for.
#[derive(Clone, Debug, Default)]
pub(super) struct BodyLu {
    starts: Vec<usize>,
    columns: Vec<usize>,
    /// The body that is eliminated at each place, and the place of each body.
    order: Vec<usize>,
    place: Vec<usize>,
    /// Neighbours that are eliminated later, as places, ascending; those of place `p` occupy `from[p]..from[p + 1]`.
    from: Vec<usize>,
    later: Vec<usize>,
    /// Where each block of the pattern goes.
    slots: Vec<Slot>,
    /// Inverses of the diagonal blocks, blocks of $L$ in the column and of $U$ in the row of each place.
    own: Vec<Block>,
    lower: Vec<Block>,
    upper: Vec<Block>,
    permuted: Vec<f64>,
    near: Vec<Vec<usize>>,
    merged: Vec<usize>,
    queue: BinaryHeap<Reverse<(usize, usize)>>,
}

#[derive(Clone, Copy, Debug)]
enum Slot {
    Own(usize),
    Lower(usize),
    Upper(usize),
}

impl BodyLu {
    /// Factorises; whether that went well.
    pub(super) fn factor(&mut self, pattern: &Pattern<'_>, blocks: &[Block]) -> bool {
        if self.starts != pattern.starts || self.columns != pattern.columns {
            self.analyse(pattern);
        }
        let n = self.order.len();
        self.own.clear();
        self.own.resize(n, [0.0; 36]);
        for side in [&mut self.lower, &mut self.upper] {
            side.clear();
            side.resize(self.later.len(), [0.0; 36]);
        }
        for (slot, block) in self.slots.iter().zip(blocks) {
            match *slot {
                Slot::Own(p) => self.own[p] = *block,
                Slot::Lower(k) => self.lower[k] = *block,
                Slot::Upper(k) => self.upper[k] = *block,
            }
        }
        (0..n).all(|p| self.eliminate(p))
    }

    /// Takes the body at place `p` out of those that follow.
    fn eliminate(&mut self, p: usize) -> bool {
        if !invert(&mut self.own[p]) {
            return false;
        }
        let span = self.from[p]..self.from[p + 1];
        for k in span.clone() {
            let mut product = [0.0; 36];
            subtract_product(&mut product, &self.lower[k], &self.own[p]);
            self.lower[k] = product.map(|x| -x);
        }
        // Blocks of bodies that follow lie behind.
        let (lower, lower_behind) = self.lower.split_at_mut(span.end);
        let (upper, upper_behind) = self.upper.split_at_mut(span.end);
        for k in span.clone() {
            let i = self.later[k];
            subtract_product(&mut self.own[i], &lower[k], &upper[k]);
            // What follows `i` here follows it there as well.
            let mut at = self.from[i];
            for l in k + 1..span.end {
                while self.later[at] != self.later[l] {
                    at += 1;
                }
                subtract_product(&mut upper_behind[at - span.end], &lower[k], &upper[l]);
                subtract_product(&mut lower_behind[at - span.end], &lower[l], &upper[k]);
            }
        }
        true
    }

    /// Solves in place; whether the answer is finite.
    pub(super) fn solve(&mut self, x: &mut [f64]) -> bool {
        let Self { order, from, later, own, lower, upper, permuted: y, .. } = self;
        y.clear();
        for &body in order.iter() {
            y.extend_from_slice(&x[6 * body..6 * body + 6]);
        }
        for p in 0..order.len() {
            let known: [f64; 6] = std::array::from_fn(|k| y[6 * p + k]);
            for k in from[p]..from[p + 1] {
                let i = later[k];
                subtract_applied(&mut y[6 * i..6 * i + 6], &lower[k], &known);
            }
        }
        for p in (0..order.len()).rev() {
            let mut right: [f64; 6] = std::array::from_fn(|k| y[6 * p + k]);
            for k in from[p]..from[p + 1] {
                let j = later[k];
                let known: [f64; 6] = std::array::from_fn(|a| y[6 * j + a]);
                subtract_applied(&mut right, &upper[k], &known);
            }
            let mut answer = [0.0; 6];
            subtract_applied(&mut answer, &own[p], &right);
            for k in 0..6 {
                y[6 * p + k] = -answer[k];
            }
        }
        for (p, &body) in order.iter().enumerate() {
            x[6 * body..6 * body + 6].copy_from_slice(&y[6 * p..6 * p + 6]);
        }
        x.iter().all(|x| x.is_finite())
    }

    /// Finds the order of elimination, and what it fills.
    fn analyse(&mut self, pattern: &Pattern<'_>) {
        let n = pattern.starts.len() - 1;
        self.starts.clear();
        self.starts.extend_from_slice(pattern.starts);
        self.columns.clear();
        self.columns.extend_from_slice(pattern.columns);
        if self.near.len() < n {
            self.near.resize(n, Vec::new());
        }
        self.queue.clear();
        for a in 0..n {
            let row = &pattern.columns[pattern.starts[a]..pattern.starts[a + 1]];
            self.near[a].clear();
            self.near[a].extend(row.iter().copied().filter(|b| *b != a));
            self.queue.push(Reverse((self.near[a].len(), a)));
        }
        self.place.clear();
        self.place.resize(n, WAITING);
        self.order.clear();
        while let Some(Reverse((degree, body))) = self.queue.pop() {
            // Degrees change: those that no longer hold are in the queue again.
            if self.place[body] != WAITING || degree != self.near[body].len() {
                continue;
            }
            self.place[body] = self.order.len();
            self.order.push(body);
            let near = std::mem::take(&mut self.near[body]);
            for &i in &near {
                self.merged.clear();
                let of_i = &self.near[i];
                let (mut a, mut b) = (0, 0);
                while a < near.len() || b < of_i.len() {
                    let left = near.get(a).copied().unwrap_or(WAITING);
                    let right = of_i.get(b).copied().unwrap_or(WAITING);
                    let next = left.min(right);
                    a += usize::from(left == next);
                    b += usize::from(right == next);
                    if next != i && next != body {
                        self.merged.push(next);
                    }
                }
                std::mem::swap(&mut self.near[i], &mut self.merged);
                self.queue.push(Reverse((self.near[i].len(), i)));
            }
            self.near[body] = near;
        }
        self.from.clear();
        self.from.push(0);
        self.later.clear();
        for &body in &self.order {
            let begin = self.later.len();
            self.later.extend(self.near[body].iter().map(|&i| self.place[i]));
            self.later[begin..].sort_unstable();
            self.from.push(self.later.len());
        }
        self.slots.clear();
        for a in 0..n {
            for &b in &pattern.columns[pattern.starts[a]..pattern.starts[a + 1]] {
                let (p, q) = (self.place[a], self.place[b]);
                let (low, high) = (p.min(q), p.max(q));
                let row = &self.later[self.from[low]..self.from[low + 1]];
                let at = self.from[low] + row.binary_search(&high).unwrap_or_default();
                self.slots.push(match p.cmp(&q) {
                    std::cmp::Ordering::Equal => Slot::Own(p),
                    std::cmp::Ordering::Less => Slot::Upper(at),
                    std::cmp::Ordering::Greater => Slot::Lower(at),
                });
            }
        }
    }
}

/// `out -= a b`.
#[inline]
fn subtract_product(out: &mut Block, a: &Block, b: &Block) {
    for i in 0..6 {
        let mut row = [0.0; 6];
        for k in 0..6 {
            let x = a[6 * i + k];
            for j in 0..6 {
                row[j] += x * b[6 * k + j];
            }
        }
        for j in 0..6 {
            out[6 * i + j] -= row[j];
        }
    }
}

/// `out -= a x`.
#[inline]
fn subtract_applied(out: &mut [f64], a: &Block, x: &[f64; 6]) {
    for (i, out) in out.iter_mut().enumerate().take(6) {
        *out -= (0..6).map(|k| a[6 * i + k] * x[k]).sum::<f64>();
    }
}

/// The inverse in place, by elimination with exchanges of rows; whether there is one.
fn invert(a: &mut Block) -> bool {
    let mut pivots = [0; 6];
    for k in 0..6 {
        let best = (k..6).max_by(|&i, &j| a[6 * i + k].abs().total_cmp(&a[6 * j + k].abs()));
        let row = best.unwrap_or(k);
        pivots[k] = row;
        if row != k {
            for j in 0..6 {
                a.swap(6 * k + j, 6 * row + j);
            }
        }
        let pivot = a[7 * k];
        if pivot == 0.0 || !pivot.is_finite() {
            return false;
        }
        a[7 * k] = 1.0;
        for j in 0..6 {
            a[6 * k + j] /= pivot;
        }
        for i in (0..6).filter(|&i| i != k) {
            let factor = a[6 * i + k];
            a[6 * i + k] = 0.0;
            for j in 0..6 {
                a[6 * i + j] -= factor * a[6 * k + j];
            }
        }
    }
    for k in (0..6).rev() {
        if pivots[k] != k {
            for i in 0..6 {
                a.swap(6 * i + k, 6 * i + pivots[k]);
            }
        }
    }
    true
}
