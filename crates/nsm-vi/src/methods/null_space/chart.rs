//! The reparametrisation for systems that have none of their own (\[LMO\] (27)).
//!
//! The generic chart goes along the tangent space and returns along the normals at $q_0$,
//! $$ F_d(u, q_0) = q_0 + P(q_0)\\,u + G^\top(q_0)\\,\mu(u), \qquad g(F_d) = 0 . $$
//! An increment $\delta = \partial F_d/\partial u\\;\mathrm{d}u$ is any displacement with $G(F_d)\\,\delta = 0$, and what it adds to $P u$ is its part along
//! the tangents at $q_0$. A return along the normals leaves that part alone: from $F_d + \delta$ it leads to the $F_d$ of the new
//! $u$, which itself need not be known. Being anchored in $q_0$ the chart has no singularity as long as a step stays within the
//! radius of curvature of the constraints.

use nsm_model::{StepError, System, SystemError};
use nsm_solvers::kkt::{Kkt, KktPattern};
use nsm_solvers::small::{axpy, norm_inf};

use super::nodes::failure;
use super::stepper::{misfit, pattern};
use crate::Tolerances;
use crate::shared::held::Held;

/// The generic chart with its workspace.
#[derive(Debug)]
pub(super) struct NormalChart<'a> {
    system: &'a System,
    tolerances: Tolerances,
    end: Vec<f64>,
    f: Vec<f64>,
    /// Of unit leading block: $\delta = -G_0^\top\mu$ with $G_1\delta = -g$.
    matrix: Kkt,
    step: Vec<f64>,
    mu: Vec<f64>,
}

impl<'a> NormalChart<'a> {
    pub(super) fn new(system: &'a System, tolerances: Tolerances) -> Result<Self, SystemError> {
        let (n, rows) = (system.dimension(), system.equalities());
        let gradients = pattern(system);
        let pattern = KktPattern {
            unknowns: n,
            rows: rows.len(),
            block: &[],
            gradients: &gradients,
            symmetric: false,
        };
        let mut matrix = Kkt::new(&pattern).map_err(|error| misfit(&error))?;
        matrix.set_block(&vec![1.0; n]).map_err(|error| misfit(&error))?;
        Ok(Self {
            system,
            tolerances,
            end: vec![0.0; rows.entries()],
            f: vec![0.0; rows.len()],
            matrix,
            step: vec![0.0; n],
            mu: vec![0.0; rows.len()],
        })
    }

    /// Returns from `x` to the constraints along the normals at `q`, where they are placed; `t` is the time at the end of the step.
    pub(super) fn place(
        &mut self,
        held: &Held<'_>,
        q: &[f64],
        t: f64,
        x: &mut [f64],
    ) -> Result<(), StepError> {
        let rows = self.system.equalities();
        let fail = |error| failure(self.system, t, error);
        let (mut course, mut worst) = (self.tolerances.chord(), 0);
        let scale = norm_inf(q).max(norm_inf(x)).max(f64::MIN_POSITIVE);
        for _ in 0..self.tolerances.iterations {
            rows.values(x, t, &mut self.f);
            if course.wants_matrix() {
                rows.gradients(x, t, &mut self.end);
                self.matrix
                    .factorise_active(&held.gradients, &self.end, &[], held.independent())
                    .map_err(fail)?;
            }
            self.f.iter_mut().for_each(|f| *f = -*f);
            self.matrix.displace(&self.f, &mut self.step, &mut self.mu).map_err(fail)?;
            axpy(1.0, &self.step, x);
            course.stepped(norm_inf(&self.step));
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
}
