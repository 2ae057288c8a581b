//! The reparametrisation for systems that have none of their own (\[LMO\] (27)).
//!
//! The generic chart goes along the tangent space and returns along the normals at $q_0$,
//! $$ F_d(u, q_0) = q_0 + P(q_0)\\,u + G^\top(q_0)\\,\mu(u), \qquad g(F_d) = 0, \qquad
//!    \frac{\partial F_d}{\partial u} = P - G_0^\top (G_1 G_0^\top)^{-1} G_1 P, $$
//! with $G_0 = G(q_0)$, $G_1 = G(F_d)$ and independent rows only. Being anchored in $q_0$ it has no singularity as
//! long as a step stays within the radius of curvature of the constraints.

use nsm_model::{StepError, System};
use nsm_solvers::LinearError;
use nsm_solvers::small::{axpy, lu, norm_inf};

use super::basis::NullBasis;
use super::nodes::failure;
use crate::Tolerances;

/// The generic chart with its workspace.
#[derive(Debug)]
pub(super) struct NormalChart<'a> {
    system: &'a System,
    tolerances: Tolerances,
    end: Vec<f64>,
    f: Vec<f64>,
    matrix: Vec<f64>,
    pivots: Vec<usize>,
    mu: Vec<f64>,
    row: Vec<f64>,
}

impl<'a> NormalChart<'a> {
    pub(super) fn new(system: &'a System, tolerances: Tolerances) -> Self {
        let (n, rows) = (system.dimension(), system.equalities());
        let m = rows.len();
        Self {
            system,
            tolerances,
            end: vec![0.0; rows.entries()],
            f: vec![0.0; m],
            matrix: vec![0.0; m * m],
            pivots: vec![0; m],
            mu: vec![0.0; m],
            row: vec![0.0; n],
        }
    }

    /// Writes $F_d(u, q_0)$ for the basis at $q_0$; `t` is the time at the end of the step.
    pub(super) fn place(
        &mut self,
        basis: &NullBasis<'_>,
        u: &[f64],
        q: &[f64],
        t: f64,
        x: &mut [f64],
    ) -> Result<(), StepError> {
        x.copy_from_slice(q);
        for (u, row) in u.iter().zip(basis.rows()) {
            axpy(*u, row, x);
        }
        let rows = self.system.equalities();
        let r = basis.independent().len();
        let (mut course, mut worst) = (self.tolerances.full(), 0);
        let scale = norm_inf(q).max(norm_inf(x)).max(f64::MIN_POSITIVE);
        for _ in 0..self.tolerances.iterations {
            rows.values(x, t, &mut self.f);
            self.factor(basis, x, t).map_err(|error| failure(self.system, t, error))?;
            for (k, &i) in basis.independent().iter().enumerate() {
                self.mu[k] = -self.f[i];
            }
            let solved = lu::solve(r, &self.matrix[..r * r], &self.pivots[..r], &mut self.mu[..r]);
            solved.map_err(|error| failure(self.system, t, error))?;
            self.row.fill(0.0);
            for (k, &i) in basis.independent().iter().enumerate() {
                rows.add_row(i, &basis.gradients, self.mu[k], &mut self.row);
            }
            axpy(1.0, &self.row, x);
            course.stepped(norm_inf(&self.row));
            if course.ends(scale) {
                return Ok(());
            }
            worst = crate::shared::position::largest(&self.f).0;
            if !course.last().is_finite() {
                break;
            }
        }
        Err(StepError::NotConverged {
            t,
            what: "the return to the constraints",
            iterations: self.tolerances.iterations,
            residual: course.last(),
            culprit: rows.names().get(worst).cloned().unwrap_or_default(),
        })
    }

    /// Writes $\partial F_d/\partial u$ at the place found last, transposed: one freedom a row.
    pub(super) fn tangent(
        &mut self,
        basis: &NullBasis<'_>,
        x: &[f64],
        t: f64,
        out: &mut [f64],
    ) -> Result<(), LinearError> {
        let rows = self.system.equalities();
        let (n, r) = (self.system.dimension(), basis.independent().len());
        self.factor(basis, x, t)?;
        for (out, row) in out.chunks_exact_mut(n).zip(basis.rows()) {
            out.copy_from_slice(row);
            for (k, &i) in basis.independent().iter().enumerate() {
                self.mu[k] = rows.row_dot(i, &self.end, row);
            }
            lu::solve(r, &self.matrix[..r * r], &self.pivots[..r], &mut self.mu[..r])?;
            for (k, &i) in basis.independent().iter().enumerate() {
                rows.add_row(i, &basis.gradients, -self.mu[k], out);
            }
        }
        Ok(())
    }

    /// Factorises $G_1 G_0^\top$ of the independent rows.
    fn factor(&mut self, basis: &NullBasis<'_>, x: &[f64], t: f64) -> Result<(), LinearError> {
        let rows = self.system.equalities();
        let independent = basis.independent();
        let r = independent.len();
        rows.gradients(x, t, &mut self.end);
        for (k, &i) in independent.iter().enumerate() {
            self.row.fill(0.0);
            rows.add_row(i, &basis.gradients, 1.0, &mut self.row);
            for (l, &j) in independent.iter().enumerate() {
                self.matrix[l * r + k] = rows.row_dot(j, &self.end, &self.row);
            }
        }
        let tolerance = nsm_solvers::small::tolerance(r);
        lu::factor(r, &mut self.matrix[..r * r], &mut self.pivots[..r], tolerance).map(|_| ())
    }
}
