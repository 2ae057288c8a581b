//! Redundant constraint rows: which they are, and multipliers of minimum norm.
//!
//! Rows are compared through a rank-revealing QR where the matrix is small, else through a banded
//! $LDL^\top$ of the Gram matrix $G^\prime G^{\prime\top}$ in which vanishing pivots are skipped: linear in the number
//! of rows for chains. Inactive rows and rows with compliance stay out of it.
//!
//! The projection of a basic solution $\lambda$ on the range of $G$ has the same force $G^\top\lambda$
//! and the least norm. It is $\lambda - r$ with the residual $r$ of $\min_z |Gz - \lambda|$, found by
//! conjugate gradients on the normal equations.

use super::KktPattern;
use crate::banded::{BandedLdlt, ordering};
use crate::error::LinearError;
use crate::small::dot;
use crate::small::qr::PivotedQr;

/// Share of a row's norm below which it counts as dependent.
const ROW_TOLERANCE: f64 = 1e-10;
/// The same for Gram matrices, which square it.
const GRAM_TOLERANCE: f64 = 1e-13;
/// Largest number of entries of a dense matrix of gradients.
const DENSE_LIMIT: usize = 1 << 14;

#[derive(Debug, Clone)]
pub(super) struct Redundancy {
    n: usize,
    m: usize,
    /// Rows that may be redundant: active and without compliance.
    eligible: Vec<bool>,
    rows: Vec<usize>,
    /// Built when the first redundant row is met.
    finder: Option<Box<Finder>>,
    cg: Vec<f64>,
}

#[derive(Debug, Clone)]
enum Finder {
    Dense { qr: PivotedQr, matrix: Vec<f64>, index: Vec<usize> },
    Banded(BandedGram),
}

/// The Gram matrix $G^\prime G^{\prime\top}$ in an order with a narrow band.
#[derive(Debug, Clone)]
struct BandedGram {
    factor: BandedLdlt,
    order: Vec<usize>,
    /// Entries of the gradients that meet in a position of the band.
    products: Vec<(usize, usize, usize)>,
    diagonal: Vec<usize>,
    found: Vec<usize>,
}

impl Redundancy {
    pub(super) fn new(pattern: &KktPattern<'_>) -> Self {
        let (n, m) = (pattern.unknowns, pattern.rows);
        Self {
            n,
            m,
            eligible: vec![true; m],
            rows: Vec::with_capacity(m),
            finder: None,
            cg: Vec::new(),
        }
    }

    /// Forgets what was found.
    pub(super) fn clear(&mut self) {
        self.rows.clear();
    }

    pub(super) fn rows(&self) -> &[usize] {
        &self.rows
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
        if self.finder.is_none() {
            self.finder = Some(Box::new(Finder::new(self.n, self.m, gradients)?));
            self.cg = vec![0.0; 3 * self.n + 2 * self.m];
        }
        let (n, m, rows, eligible) = (self.n, self.m, &mut self.rows, &self.eligible[..]);
        match self.finder.as_deref_mut() {
            Some(Finder::Dense { qr, matrix, index }) => {
                index.clear();
                index.extend((0..m).filter(|&i| eligible[i]));
                matrix.fill(0.0);
                for (&(row, k), g) in gradients.iter().zip(g) {
                    if let Ok(place) = index.binary_search(&row) {
                        matrix[place * n + k] += g;
                    }
                }
                qr.factor(index.len(), n, &matrix[..index.len() * n], ROW_TOLERANCE)?;
                rows.extend(qr.redundant().iter().map(|&i| index[i]));
            }
            Some(Finder::Banded(gram)) => gram.find(g, gradients, eligible, rows)?,
            None => {}
        }
        rows.sort_unstable();
        Ok(())
    }

    /// Replaces multipliers by those of minimum norm with the same force.
    pub(super) fn minimise_norm(
        &mut self,
        gradients: &[(usize, usize)],
        g: &[f64],
        lambda: &mut [f64],
    ) {
        if self.rows.is_empty() {
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

impl Finder {
    fn new(n: usize, m: usize, gradients: &[(usize, usize)]) -> Result<Self, LinearError> {
        if m * n <= DENSE_LIMIT {
            return Ok(Self::Dense {
                qr: PivotedQr::new(m, n),
                matrix: vec![0.0; m * n],
                index: Vec::with_capacity(m),
            });
        }
        let mut by_unknown: Vec<Vec<usize>> = vec![Vec::new(); n];
        for (e, &(_, k)) in gradients.iter().enumerate() {
            by_unknown[k].push(e);
        }
        let pairs = || {
            by_unknown
                .iter()
                .flat_map(|list| list.iter().flat_map(move |&e| list.iter().map(move |&f| (e, f))))
        };
        let entries: Vec<(usize, usize)> =
            pairs().map(|(e, f)| (gradients[e].0, gradients[f].0)).collect();
        let order = ordering::reverse_cuthill_mckee(m, &entries)?;
        let (lower, _) = ordering::half_bandwidths(&order, &entries);
        let mut place = vec![0; m];
        for (new, &old) in order.iter().enumerate() {
            place[old] = new;
        }
        let factor = BandedLdlt::new(m, lower);
        let products = pairs()
            .filter_map(|(e, f)| {
                Some((factor.position(place[gradients[e].0], place[gradients[f].0])?, e, f))
            })
            .collect();
        let diagonal = (0..m).filter_map(|i| factor.position(place[i], place[i])).collect();
        Ok(Self::Banded(BandedGram {
            factor,
            order,
            products,
            diagonal,
            found: Vec::with_capacity(m),
        }))
    }
}

impl BandedGram {
    fn find(
        &mut self,
        g: &[f64],
        gradients: &[(usize, usize)],
        eligible: &[bool],
        rows: &mut Vec<usize>,
    ) -> Result<(), LinearError> {
        self.factor.clear();
        let storage = self.factor.storage();
        for &(slot, e, f) in &self.products {
            if eligible[gradients[e].0] && eligible[gradients[f].0] {
                storage[slot] += g[e] * g[f];
            }
        }
        for (&slot, _) in self.diagonal.iter().zip(eligible).filter(|(_, e)| !**e) {
            storage[slot] = 1.0;
        }
        self.found.clear();
        self.factor.factor_semidefinite(GRAM_TOLERANCE, &mut self.found)?;
        rows.extend(self.found.iter().map(|&k| self.order[k]));
        Ok(())
    }
}
