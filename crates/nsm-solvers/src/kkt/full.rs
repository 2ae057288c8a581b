//! Elimination of the saddle-point system as a whole.

use super::KktPattern;
use crate::error::LinearError;
use crate::linear_system::{self, LinearSystem, Structure};

#[derive(Debug, Clone)]
pub(super) struct Full {
    n: usize,
    symmetric: bool,
    rows: Vec<usize>,
    system: LinearSystem,
    values: Vec<f64>,
    rhs: Vec<f64>,
}

impl Full {
    pub(super) fn new(pattern: &KktPattern<'_>) -> Result<Self, LinearError> {
        let (n, m) = (pattern.unknowns, pattern.rows);
        let (entries, signs) = (Self::entries(pattern), Self::signs(pattern));
        let structure = structure(pattern, &signs);
        Ok(Self {
            n,
            symmetric: pattern.symmetric,
            rows: pattern.gradients.iter().map(|&(row, _)| row).collect(),
            values: vec![0.0; entries.len()],
            system: LinearSystem::new(n + m, &entries, structure)?,
            rhs: vec![0.0; n + m],
        })
    }

    /// Estimated nanoseconds of a factorisation.
    pub(super) fn cost(pattern: &KktPattern<'_>) -> Result<f64, LinearError> {
        let signs = Self::signs(pattern);
        let size = pattern.unknowns + pattern.rows;
        linear_system::cost(size, &Self::entries(pattern), structure(pattern, &signs))
    }

    /// Order of the values: $A$, $G^\prime$ below it, the diagonal of $-C$, and $G^\top$ unless it mirrors $G^\prime$.
    fn entries(pattern: &KktPattern<'_>) -> Vec<(usize, usize)> {
        let (n, m) = (pattern.unknowns, pattern.rows);
        let mut entries = pattern.block.to_vec();
        entries.extend(pattern.gradients.iter().map(|&(row, k)| (n + row, k)));
        entries.extend((0..m).map(|row| (n + row, n + row)));
        if !pattern.symmetric {
            entries.extend(pattern.gradients.iter().map(|&(row, k)| (k, n + row)));
        }
        entries
    }

    fn signs(pattern: &KktPattern<'_>) -> Vec<i8> {
        let n = pattern.unknowns;
        (0..n + pattern.rows).map(|i| if i < n { 1 } else { -1 }).collect()
    }

    pub(super) fn system(&self) -> &LinearSystem {
        &self.system
    }

    pub(super) fn factorise(
        &mut self,
        a: &[f64],
        g: &[f64],
        g_lower: &[f64],
        c: &[f64],
        dropped: &[bool],
    ) -> Result<(), LinearError> {
        let (block, rest) = self.values.split_at_mut(a.len());
        let (lower, rest) = rest.split_at_mut(g.len());
        let (diagonal, upper) = rest.split_at_mut(c.len());
        block.copy_from_slice(a);
        lower.copy_from_slice(g_lower);
        diagonal.iter_mut().zip(c).for_each(|(d, c)| *d = -c);
        if !self.symmetric {
            upper.copy_from_slice(g);
        }
        if !dropped.is_empty() {
            for (e, &row) in self.rows.iter().enumerate() {
                if dropped[row] {
                    lower[e] = 0.0;
                    upper.iter_mut().skip(e).take(1).for_each(|v| *v = 0.0);
                }
            }
            diagonal.iter_mut().zip(dropped).filter(|(_, d)| **d).for_each(|(v, _)| *v = -1.0);
        }
        self.system.factorise(&self.values)
    }

    pub(super) fn solve(
        &mut self,
        f: &[f64],
        b: &[f64],
        dropped: &[bool],
        x: &mut [f64],
        lambda: &mut [f64],
    ) -> Result<(), LinearError> {
        let n = self.n;
        self.rhs[..n].copy_from_slice(f);
        self.rhs[n..].copy_from_slice(b);
        for (v, _) in self.rhs[n..].iter_mut().zip(dropped).filter(|(_, d)| **d) {
            *v = 0.0;
        }
        self.system.solve_in_place(&mut self.rhs)?;
        x.copy_from_slice(&self.rhs[..n]);
        lambda.copy_from_slice(&self.rhs[n..]);
        Ok(())
    }
}

fn structure<'a>(pattern: &KktPattern<'_>, signs: &'a [i8]) -> Structure<'a> {
    if pattern.symmetric { Structure::SaddlePoint(signs) } else { Structure::General }
}
