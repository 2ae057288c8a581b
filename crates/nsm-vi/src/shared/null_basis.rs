//! The null space of the constraint Jacobian, and the projections that it gives.
//!
//! $P(q)$ holds an orthonormal basis of $\ker G(q)$, from a pivoted QR factorisation of $G^\top$ (\[LMO\] (9)). Momenta are
//! projected by
//! $$ Q = M P (P^\top M P)^{-1} P^\top, $$
//! which equals \[LMO\] (16) where $M$ is regular and is right for singular $M$ too. None of what is
//! computed from $P$ here depends on the choice of the basis.

use nsm_model::System;
use nsm_solvers::LinearError;
use nsm_solvers::small::{axpy, cholesky, dot, qr::PivotedQr};

/// Rows whose part outside the others is below this share of them are redundant.
const RANK: f64 = 1e-10;

/// $P(q)$ at the configuration where it was evaluated last.
#[derive(Debug)]
pub(crate) struct NullBasis<'a> {
    system: &'a System,
    /// $G$ as rows of gradients, and dense.
    pub(crate) gradients: Vec<f64>,
    dense: Vec<f64>,
    qr: PivotedQr,
    freedoms: usize,
    /// $P^\top$, one basis vector a row.
    basis: Vec<f64>,
    /// Factor of $P^\top M P$.
    inertia: Vec<f64>,
    reduced: Vec<f64>,
    scratch: Vec<f64>,
}

impl<'a> NullBasis<'a> {
    pub(crate) fn new(system: &'a System) -> Self {
        let (n, rows) = (system.dimension(), system.equalities());
        Self {
            system,
            gradients: vec![0.0; rows.entries()],
            dense: vec![0.0; rows.len() * n],
            qr: PivotedQr::new(rows.len(), n),
            freedoms: n,
            basis: vec![0.0; n * n],
            inertia: vec![0.0; n * n],
            reduced: vec![0.0; n],
            scratch: vec![0.0; n],
        }
    }

    /// Evaluates $G$ and $P$ at $(q, t)$.
    pub(crate) fn evaluate(&mut self, q: &[f64], t: f64) -> Result<(), LinearError> {
        let rows = self.system.equalities();
        let (n, m) = (self.system.dimension(), rows.len());
        rows.gradients(q, t, &mut self.gradients);
        self.dense.fill(0.0);
        for i in 0..m {
            rows.add_row(i, &self.gradients, 1.0, &mut self.dense[i * n..(i + 1) * n]);
        }
        let rank = self.qr.factor(m, n, &self.dense, RANK)?;
        self.freedoms = n - rank;
        self.qr.null_space(&mut self.basis[..(n - rank) * n])
    }

    /// $n - \operatorname{rank} G$.
    pub(crate) fn freedoms(&self) -> usize {
        self.freedoms
    }

    /// $P^\top$, one basis vector a row.
    pub(crate) fn rows(&self) -> std::slice::ChunksExact<'_, f64> {
        let n = self.system.dimension();
        self.basis[..self.freedoms * n].chunks_exact(n)
    }

    /// Writes $P^\top x$.
    pub(crate) fn reduce(&self, x: &[f64], out: &mut [f64]) {
        for (out, row) in out.iter_mut().zip(self.rows()) {
            *out = dot(row, x);
        }
    }

    /// Factorises $P^\top M P$; fails where a motion that the constraints allow has no inertia.
    pub(crate) fn factor_inertia(&mut self) -> Result<(), LinearError> {
        let (n, d) = (self.system.dimension(), self.freedoms);
        for i in 0..d {
            self.system.mass().multiply(&self.basis[i * n..(i + 1) * n], &mut self.scratch);
            for j in 0..d {
                self.inertia[i * d + j] = dot(&self.basis[j * n..(j + 1) * n], &self.scratch);
            }
        }
        cholesky::factor(d, &mut self.inertia[..d * d], nsm_solvers::small::tolerance(d))
    }

    /// Velocity and momentum of a tangent motion: $v = P (P^\top M P)^{-1} P^\top p$, $p \leftarrow M v = Q p$.
    pub(crate) fn project(&mut self, p: &mut [f64], v: &mut [f64]) -> Result<(), LinearError> {
        let (n, d) = (self.system.dimension(), self.freedoms);
        for i in 0..d {
            self.reduced[i] = dot(&self.basis[i * n..(i + 1) * n], p);
        }
        cholesky::solve(d, &self.inertia[..d * d], &mut self.reduced[..d])?;
        v.fill(0.0);
        for i in 0..d {
            axpy(self.reduced[i], &self.basis[i * n..(i + 1) * n], v);
        }
        self.system.mass().multiply(v, p);
        Ok(())
    }

    /// Multipliers of least norm with $G^\top\lambda = f$ (\[LMO\] (36)–(38), for redundant rows too).
    pub(crate) fn multipliers(&mut self, f: &[f64], out: &mut [f64]) -> Result<(), LinearError> {
        if out.is_empty() {
            return Ok(());
        }
        self.qr.least_squares_minimum_norm(f, out).map(|_| ())
    }
}
