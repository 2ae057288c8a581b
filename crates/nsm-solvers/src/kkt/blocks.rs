//! Block-diagonal matrices: the masses of bodies.

use super::KktPattern;
use crate::banded::ordering::components;
use crate::error::LinearError;
use crate::small;

/// Block-diagonal matrix with factorised blocks.
#[derive(Debug, Clone)]
pub(super) struct Blocks {
    /// All blocks have size one: then only `weights` is used.
    pub(super) scalar: bool,
    /// $1 / a_{kk}$.
    pub(super) weights: Vec<f64>,
    /// Unknowns of every block: `members[starts[b]..starts[b + 1]]`.
    pub(super) members: Vec<usize>,
    starts: Vec<usize>,
    /// Where the factor of each block starts.
    factor_starts: Vec<usize>,
    factors: Vec<f64>,
    pivots: Vec<usize>,
    /// Places in `factors` of the declared entries, and of mirror images.
    slots: Vec<usize>,
    mirror: Vec<(usize, usize)>,
    /// Block of every unknown, and place within it.
    pub(super) block_of: Vec<usize>,
    pub(super) place_of: Vec<usize>,
}

impl Blocks {
    pub(super) fn new(pattern: &KktPattern<'_>) -> Self {
        let n = pattern.unknowns;
        let (block_of, count) = components(n, pattern.block);
        let mut starts = vec![0; count + 1];
        for &b in &block_of {
            starts[b + 1] += 1;
        }
        for b in 0..count {
            starts[b + 1] += starts[b];
        }
        let mut fill = starts.clone();
        let (mut members, mut place_of) = (vec![0; n], vec![0; n]);
        for (k, &b) in block_of.iter().enumerate() {
            members[fill[b]] = k;
            place_of[k] = fill[b] - starts[b];
            fill[b] += 1;
        }
        let mut factor_starts = Vec::with_capacity(count);
        let mut total = 0;
        for b in 0..count {
            factor_starts.push(total);
            total += (starts[b + 1] - starts[b]).pow(2);
        }
        let slot = |i: usize, j: usize| {
            let b = block_of[i];
            factor_starts[b] + place_of[i] * (starts[b + 1] - starts[b]) + place_of[j]
        };
        let slots = pattern.block.iter().map(|&(i, j)| slot(i, j)).collect();
        let mirror = pattern
            .block
            .iter()
            .enumerate()
            .filter(|(_, (i, j))| pattern.symmetric && i != j)
            .map(|(e, &(i, j))| (e, slot(j, i)))
            .collect();
        Self {
            scalar: count == n,
            weights: vec![0.0; n],
            members,
            starts,
            factor_starts,
            factors: vec![0.0; total],
            pivots: vec![0; n],
            slots,
            mirror,
            block_of,
            place_of,
        }
    }

    pub(super) fn count(&self) -> usize {
        self.factor_starts.len()
    }

    pub(super) fn size(&self, block: usize) -> usize {
        self.starts[block + 1] - self.starts[block]
    }

    pub(super) fn members(&self, block: usize) -> &[usize] {
        &self.members[self.starts[block]..self.starts[block + 1]]
    }

    pub(super) fn factorise(&mut self, a: &[f64], symmetric: bool) -> Result<(), LinearError> {
        self.factors.fill(0.0);
        for (&slot, a) in self.slots.iter().zip(a) {
            self.factors[slot] += a;
        }
        for &(e, slot) in &self.mirror {
            self.factors[slot] += a[e];
        }
        if self.scalar {
            for b in 0..self.members.len() {
                let (pivot, value) = (self.members[b], self.factors[self.factor_starts[b]]);
                if symmetric && value <= 0.0 {
                    return Err(LinearError::NotPositiveDefinite { pivot, value, threshold: 0.0 });
                }
                self.weights[b] = 1.0 / value;
                if !self.weights[b].is_finite() {
                    return Err(LinearError::Singular { pivot, value, threshold: 0.0 });
                }
            }
            return Ok(());
        }
        for b in 0..self.count() {
            let s = self.size(b);
            let factor = &mut self.factors[self.factor_starts[b]..][..s * s];
            let pivots = &mut self.pivots[self.starts[b]..self.starts[b + 1]];
            small::lu::factor(s, factor, pivots, small::tolerance(s)).map_err(
                |error| match error {
                    LinearError::Singular { pivot, value, threshold } => LinearError::Singular {
                        pivot: self.members[self.starts[b] + pivot],
                        value,
                        threshold,
                    },
                    other => other,
                },
            )?;
        }
        Ok(())
    }

    /// Solves with one block; `v` may be longer than the block.
    pub(super) fn solve(&self, block: usize, v: &mut [f64]) -> Result<(), LinearError> {
        if self.scalar {
            v[0] *= self.weights[block];
            return Ok(());
        }
        let s = self.size(block);
        let factor = &self.factors[self.factor_starts[block]..][..s * s];
        small::lu::solve(
            s,
            factor,
            &self.pivots[self.starts[block]..self.starts[block + 1]],
            &mut v[..s],
        )
    }

    /// $x \leftarrow A^{-1} f$.
    pub(super) fn solve_all(
        &self,
        f: &[f64],
        x: &mut [f64],
        work: &mut [f64],
    ) -> Result<(), LinearError> {
        if self.scalar {
            for (&k, w) in self.members.iter().zip(&self.weights) {
                x[k] = f[k] * w;
            }
            return Ok(());
        }
        for b in 0..self.count() {
            let members = self.members(b);
            members.iter().zip(&mut *work).for_each(|(&k, w)| *w = f[k]);
            self.solve(b, work)?;
            members.iter().zip(&*work).for_each(|(&k, w)| x[k] = *w);
        }
        Ok(())
    }
}
