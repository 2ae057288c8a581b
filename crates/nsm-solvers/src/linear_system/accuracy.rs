//! Residuals, iterative refinement and condition of a [`LinearSystem`].

use std::cell::RefCell;

use super::LinearSystem;
use crate::error::{LinearError, expect_len};
use crate::refine::{inverse_norm_1, probe_vector, reciprocal_condition};
use crate::small::{self, norm_inf};

impl LinearSystem {
    /// Solves $Ax = b$ with up to `steps` steps of iterative refinement.
    ///
    /// Returns $\lVert b - Ax\rVert_\infty / \lVert b\rVert_\infty$ (zero for $b = 0$). Stops when a step no longer helps.
    pub fn solve_refined(
        &mut self,
        b: &[f64],
        x: &mut [f64],
        steps: usize,
    ) -> Result<f64, LinearError> {
        expect_len("right-hand side", b.len(), self.n)?;
        expect_len("solution", x.len(), self.n)?;
        x.copy_from_slice(b);
        self.solve_in_place(x)?;
        // Taken out of `self`, so that residuals and solves can borrow the rest.
        let mut work = std::mem::take(&mut self.refinement);
        let outcome = self.refine(b, x, steps, &mut work);
        self.refinement = work;
        outcome
    }

    fn refine(
        &mut self,
        b: &[f64],
        x: &mut [f64],
        steps: usize,
        work: &mut [f64],
    ) -> Result<f64, LinearError> {
        let scale = norm_inf(b).max(f64::MIN_POSITIVE);
        let (residual, candidate) = work.split_at_mut(self.n);
        self.residual(x, b, residual)?;
        let mut current = norm_inf(residual);
        for _ in 0..steps {
            if current <= f64::EPSILON * scale {
                break;
            }
            self.solve_in_place(residual)?;
            for ((c, x), d) in candidate.iter_mut().zip(&*x).zip(&*residual) {
                *c = x + d;
            }
            self.residual(candidate, b, residual)?;
            let next = norm_inf(residual);
            if next.is_nan() || next >= current {
                break;
            }
            x.copy_from_slice(candidate);
            current = next;
        }
        if current.is_finite() {
            Ok(current / scale)
        } else {
            Err(LinearError::NotFinite { what: "residual", index: 0 })
        }
    }

    /// $r \leftarrow b - Ax$ with the values of the last [`factorise`](Self::factorise).
    pub fn residual(&self, x: &[f64], b: &[f64], r: &mut [f64]) -> Result<(), LinearError> {
        expect_len("solution", x.len(), self.n)?;
        expect_len("right-hand side", b.len(), self.n)?;
        expect_len("residual", r.len(), self.n)?;
        r.copy_from_slice(b);
        if self.full {
            for (r, row) in r.iter_mut().zip(self.values.chunks_exact(self.n.max(1))) {
                *r -= small::dot(row, x);
            }
        }
        for (&(i, j), v) in self.entries.iter().zip(&self.values) {
            r[i] -= v * x[j];
            if self.symmetric && i != j {
                r[j] -= v * x[i];
            }
        }
        Ok(())
    }

    /// Estimate of the reciprocal condition number in the 1-norm, at the cost of a few solves.
    pub fn rcond(&mut self) -> Result<f64, LinearError> {
        if !self.factorised {
            return Err(LinearError::NotFactorised);
        }
        let mut work = std::mem::take(&mut self.refinement);
        let norm = self.norm_1(&mut work[..self.n]);
        let n = self.n;
        let this = RefCell::new(&mut *self);
        let inverse = inverse_norm_1(
            n,
            &mut work,
            |x| this.borrow_mut().solve_in_place(x),
            |x| this.borrow_mut().solve_transposed_in_place(x),
        );
        self.refinement = work;
        Ok(reciprocal_condition(n, norm, inverse?))
    }

    fn norm_1(&self, sums: &mut [f64]) -> f64 {
        sums.fill(0.0);
        if self.full {
            for row in self.values.chunks_exact(self.n.max(1)) {
                sums.iter_mut().zip(row).for_each(|(s, v)| *s += v.abs());
            }
        }
        for (&(i, j), v) in self.entries.iter().zip(&self.values) {
            sums[j] += v.abs();
            if self.symmetric && i != j {
                sums[i] += v.abs();
            }
        }
        norm_inf(sums)
    }

    /// Rejects a matrix that, scaled as in [`crate::small`], magnifies a fixed vector beyond $1/\tau$.
    ///
    /// With $A = R B C$, solves $By = s$ as $A C^{-1} y = R s$ for a fixed $s$.
    pub(super) fn probe(&mut self) -> Result<(), LinearError> {
        let mut work = std::mem::take(&mut self.refinement);
        let (rows, columns) = work.split_at_mut(self.n);
        self.scales(rows, columns);
        rows.iter_mut().zip(probe_vector()).for_each(|(r, s)| *r *= s);
        let solved = self.solve_in_place(rows);
        let mut growth = 0.0;
        let mut pivot = 0;
        for (j, (x, c)) in rows.iter().zip(&*columns).enumerate() {
            let y = (x * c).abs();
            if y > growth || y.is_nan() {
                (growth, pivot) = (y, j);
            }
        }
        self.refinement = work;
        solved?;
        if growth * self.tolerance < 1.0 {
            return Ok(());
        }
        self.factorised = false;
        let value = if growth.is_nan() { 0.0 } else { 1.0 / growth };
        Err(LinearError::Singular { pivot, value, threshold: self.tolerance })
    }

    /// Row scales $R_i$ and column scales $C_j$.
    fn scales(&self, rows: &mut [f64], columns: &mut [f64]) {
        rows.fill(0.0);
        columns.fill(0.0);
        if self.full {
            let n = self.n.max(1);
            for (row, scale) in self.values.chunks_exact(n).zip(&mut *rows) {
                *scale = norm_inf(row);
                if *scale > 0.0 {
                    for (v, c) in row.iter().zip(&mut *columns) {
                        *c = (v.abs() / *scale).max(*c);
                    }
                }
            }
            return;
        }
        let larger = |x: f64, y: f64| if x > y { x } else { y };
        for (&(i, j), v) in self.entries.iter().zip(&self.values) {
            rows[i] = larger(v.abs(), rows[i]);
            if self.symmetric {
                rows[j] = larger(v.abs(), rows[j]);
            }
        }
        let share = |v: f64, scale: f64| if scale > 0.0 { v.abs() / scale } else { 0.0 };
        for (&(i, j), v) in self.entries.iter().zip(&self.values) {
            columns[j] = larger(share(*v, rows[i]), columns[j]);
            if self.symmetric {
                columns[i] = larger(share(*v, rows[j]), columns[i]);
            }
        }
    }
}
