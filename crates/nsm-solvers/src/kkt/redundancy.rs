//! Redundant constraint rows: multipliers of minimum norm.
//!
//! Inactive rows and rows with compliance stay out of the search for dependent ones ([`RowRank`]).
//!
//! The projection of a basic solution $\lambda$ on the range of $G$ has the same force $G^\top\lambda$
//! and the least norm. It is $\lambda - r$ with the residual $r$ of $\min_z |Gz - \lambda|$, found by
//! conjugate gradients on the normal equations.

use super::{KktPattern, RowRank};
use crate::error::LinearError;
use crate::small::dot;

#[derive(Debug, Clone)]
pub(super) struct Redundancy {
    n: usize,
    m: usize,
    /// Rows that may be redundant: active and without compliance.
    eligible: Vec<bool>,
    /// Built when the first redundant row is met.
    rank: Option<Box<RowRank>>,
    cg: Vec<f64>,
}

impl Redundancy {
    pub(super) fn new(pattern: &KktPattern<'_>) -> Self {
        let (n, m) = (pattern.unknowns, pattern.rows);
        Self { n, m, eligible: vec![true; m], rank: None, cg: Vec::new() }
    }

    /// Forgets what was found.
    pub(super) fn clear(&mut self) {
        self.rank.iter_mut().for_each(|rank| rank.clear());
    }

    pub(super) fn rows(&self) -> &[usize] {
        self.rank.as_ref().map_or(&[], |rank| rank.redundant())
    }

    /// Finds the active rows that depend on others.
    pub(super) fn find(
        &mut self,
        gradients: &[(usize, usize)],
        g: &[f64],
        inactive: &[bool],
        c: &[f64],
    ) -> Result<(), LinearError> {
        for ((e, inactive), c) in self.eligible.iter_mut().zip(inactive).zip(c) {
            *e = !inactive && *c == 0.0;
        }
        if self.rank.is_none() {
            self.rank = Some(Box::new(RowRank::new(self.m, self.n, gradients)?));
            self.cg = vec![0.0; 3 * self.n + 2 * self.m];
        }
        match &mut self.rank {
            Some(rank) => rank.find(g, &self.eligible).map(|_| ()),
            None => Ok(()),
        }
    }

    /// Replaces multipliers by those of minimum norm with the same force.
    pub(super) fn minimise_norm(
        &mut self,
        gradients: &[(usize, usize)],
        g: &[f64],
        lambda: &mut [f64],
    ) {
        if self.rows().is_empty() {
            return;
        }
        let (n, m) = (self.n, self.m);
        let (s, rest) = self.cg.split_at_mut(n);
        let (p, rest) = rest.split_at_mut(n);
        let (r, q) = rest.split_at_mut(m);
        let q = &mut q[..m];
        // Other multipliers are unique: they stay out of the projection.
        let eligible = &self.eligible[..];
        for ((r, l), e) in r.iter_mut().zip(&*lambda).zip(eligible) {
            *r = if *e { *l } else { 0.0 };
        }
        let gather = |r: &[f64], s: &mut [f64]| {
            s.fill(0.0);
            for (&(row, k), g) in gradients.iter().zip(g) {
                if eligible[row] {
                    s[k] += g * r[row];
                }
            }
        };
        gather(r, s);
        p.copy_from_slice(s);
        let mut gamma = dot(s, s);
        let goal = gamma * 1e-28;
        for _ in 0..4 * m + 20 {
            if gamma <= goal {
                break;
            }
            q.fill(0.0);
            for (&(row, k), g) in gradients.iter().zip(g) {
                if eligible[row] {
                    q[row] += g * p[k];
                }
            }
            let alpha = gamma / dot(q, q);
            if !alpha.is_finite() {
                break;
            }
            r.iter_mut().zip(&*q).for_each(|(r, q)| *r -= alpha * q);
            gather(r, s);
            let next = dot(s, s);
            let beta = next / gamma;
            gamma = next;
            p.iter_mut().zip(&*s).for_each(|(p, s)| *p = s + beta * *p);
        }
        lambda.iter_mut().zip(&*r).for_each(|(l, r)| *l -= r);
    }
}
