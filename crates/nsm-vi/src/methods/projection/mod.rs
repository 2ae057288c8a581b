//! Velocity projection: velocities brought back to the constraints after a step.
//!
//! $$ \min_v \tfrac12 (v - v^\ast)^\top A\\,(v - v^\ast) \quad\text{subject to}\quad \dot f = J v + f_t = 0 \qquad\text{(\[GO\] (2))} $$
//! with a symmetric positive definite matrix $A$, by penalty (\[GO\] (4); (3) needs $\alpha\dot\Phi$ where it prints
//! $\alpha\Phi$) or exactly:
//! $$ (A + \alpha J^\top J)\\,v = A v^\ast - \alpha J^\top f_t, \qquad\text{or}\qquad v = v^\ast - A^{-1} J^\top (J A^{-1} J^\top)^{+} (J v^\ast + f_t). $$
//! Both are one formula, $v = v^\ast - A^{-1} J^\top (J A^{-1} J^\top + \tfrac1\alpha I)^{-1} (J v^\ast + f_t)$ with $\alpha = \infty$ for the
//! second. The energy $\Delta E_p$ that this adds is never positive for $A \propto M$; for other matrices see
//! [`EnergyBalance`]. A matrix other than a multiple of $M$ also lowers the order of the step from 2 to 1.

mod balance;
mod stepper;

pub use balance::{EnergyBalance, Safety};
pub use stepper::Projected;

use nsm_model::{Mass, State, StepError, System, SystemError};
use nsm_solvers::LinearError;
use nsm_solvers::small::{cholesky, dot, gram::PivotedCholesky};

/// The matrix $A$ in which the projection is orthogonal.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum ProjectionMatrix {
    /// The mass matrix: never adds energy (\[GO\] Proposition 6).
    #[default]
    Mass,
    /// The identity.
    Identity,
    /// Any symmetric positive definite matrix, row by row.
    Full(Vec<Vec<f64>>),
}

/// How strictly velocities are brought back.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Strength {
    /// By a penalty $\alpha > 0$: part of the violation remains (\[GO\] (4)).
    Penalty(f64),
    /// Entirely.
    #[default]
    Exact,
}

/// A velocity projection: matrix and strength.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Projection {
    /// The matrix $A$.
    pub matrix: ProjectionMatrix,
    /// Penalty or exact.
    pub strength: Strength,
}

impl Projection {
    /// Exact projection with the mass matrix.
    pub fn mass() -> Self {
        Self::default()
    }

    /// Projection by a penalty $\alpha$.
    pub fn penalty(matrix: ProjectionMatrix, alpha: f64) -> Self {
        Self { matrix, strength: Strength::Penalty(alpha) }
    }

    /// Binds the projection to a system and allocates its workspace.
    ///
    /// # Errors
    /// A matrix of the wrong size, not symmetric or not positive definite, a penalty that is not positive, or a
    /// system with variable mass, massless coordinates or switching constraints.
    pub fn bind<'a>(&self, system: &'a System) -> Result<VelocityProjection<'a>, SystemError> {
        crate::shared::kernel::check_system(system)?;
        let (matrix, alpha) = (self.resolve(system)?, self.alpha()?);
        let (n, m) = (system.dimension(), system.equalities().len());
        let largest = system.equalities().largest_block();
        Ok(VelocityProjection {
            system,
            matrix,
            alpha,
            gradients: vec![0.0; system.equalities().entries()],
            gram: vec![0.0; m * m],
            defect: vec![0.0; m],
            mu: vec![0.0; m],
            impulse: vec![0.0; n],
            change: vec![0.0; n],
            block: vec![0.0; largest * largest],
            factor: PivotedCholesky::new(m),
        })
    }

    /// $\alpha$, infinite for an exact projection.
    fn alpha(&self) -> Result<f64, SystemError> {
        match self.strength {
            Strength::Exact => Ok(f64::INFINITY),
            Strength::Penalty(alpha) if alpha.is_finite() && alpha > 0.0 => Ok(alpha),
            Strength::Penalty(value) => Err(SystemError::Parameter {
                what: "the penalty of the projection",
                must: "positive and finite",
                value,
            }),
        }
    }

    /// $A$ as a matrix with its inverse.
    fn resolve(&self, system: &System) -> Result<Mass, SystemError> {
        let n = system.dimension();
        let rows = match &self.matrix {
            ProjectionMatrix::Mass => return Ok(system.mass().clone()),
            ProjectionMatrix::Identity => return Mass::diagonal(&vec![1.0; n]),
            ProjectionMatrix::Full(rows) => rows,
        };
        if rows.len() != n {
            let (what, length) = ("the projection matrix", rows.len());
            return Err(SystemError::Length { what, length, expected: n });
        }
        for (row, name) in rows.iter().zip(system.names()) {
            if let Some(&value) = row.iter().find(|x| !x.is_finite()) {
                let (what, name) = ("the projection matrix", name.clone());
                return Err(SystemError::NotFinite { what, name, value });
            }
        }
        let name = |i: usize| system.names().get(i).cloned().unwrap_or_default();
        let refuse = |why| SystemError::DoesNotFit { method: "velocity projection", why };
        let indefinite =
            |i| refuse(format!("its matrix is not positive definite: it fails at `{}`", name(i)));
        match Mass::full(rows) {
            Ok(matrix) => match matrix.massless().first() {
                None => Ok(matrix),
                Some(&i) => Err(indefinite(i)),
            },
            Err(
                SystemError::IndefiniteMass { coordinate } | SystemError::Mass { coordinate, .. },
            ) => Err(indefinite(coordinate)),
            Err(SystemError::AsymmetricMass { row, column, difference }) => Err(refuse(format!(
                "its matrix is not symmetric: the entries of `{}` and `{}` differ by {difference:.3e}",
                name(row),
                name(column)
            ))),
            Err(SystemError::Length { length, expected, .. }) => {
                let what = "a row of the projection matrix";
                Err(SystemError::Length { what, length, expected })
            }
            Err(other) => Err(other),
        }
    }
}

/// A [`Projection`] bound to a system.
#[derive(Debug)]
pub struct VelocityProjection<'a> {
    system: &'a System,
    matrix: Mass,
    alpha: f64,
    gradients: Vec<f64>,
    gram: Vec<f64>,
    defect: Vec<f64>,
    mu: Vec<f64>,
    impulse: Vec<f64>,
    change: Vec<f64>,
    block: Vec<f64>,
    factor: PivotedCholesky,
}

impl VelocityProjection<'_> {
    /// Projects the velocity and momentum of a state; returns $\Delta E_p$ (\[GO\] (16)).
    ///
    /// # Errors
    /// Numbers that are not finite; the state is then unchanged.
    pub fn apply(&mut self, state: &mut State) -> Result<f64, StepError> {
        self.system.check_lengths(state)?;
        let change = self.project(&state.q, state.t, &mut state.v)?;
        self.system.mass().multiply(&state.v, &mut state.p);
        Ok(change)
    }

    /// Projects a velocity at $(q, t)$; returns $\Delta E_p = \tfrac12 v^\top M v - \tfrac12 v^{\ast\top} M v^\ast$.
    ///
    /// # Errors
    /// Numbers that are not finite; the velocity is then unchanged.
    ///
    /// # Panics
    /// If a slice is shorter than the system.
    pub fn project(&mut self, q: &[f64], t: f64, v: &mut [f64]) -> Result<f64, StepError> {
        let rows = self.system.equalities();
        if rows.is_empty() {
            return Ok(0.0);
        }
        rows.gradients(q, t, &mut self.gradients);
        rows.velocities(q, t, &self.gradients, v, &mut self.defect);
        self.correct(t)?;
        // (v + v*)ᵀ M (v − v*) / 2, with the difference as it was formed.
        self.system.mass().multiply(&self.change, &mut self.impulse);
        let energy = 0.5 * dot(&self.impulse, &self.change) + dot(&self.impulse, v);
        for (v, d) in v.iter_mut().zip(&self.change) {
            *v += d;
        }
        Ok(energy)
    }

    /// Projects an acceleration at $(q, v, t)$ onto $\ddot f = 0$ (\[GO\] (7)).
    ///
    /// # Errors
    /// Numbers that are not finite; the acceleration is then unchanged.
    ///
    /// # Panics
    /// If a slice is shorter than the system.
    pub fn project_acceleration(
        &mut self,
        (q, v, t): (&[f64], &[f64], f64),
        a: &mut [f64],
    ) -> Result<(), StepError> {
        let rows = self.system.equalities();
        if rows.is_empty() {
            return Ok(());
        }
        rows.gradients(q, t, &mut self.gradients);
        rows.curvatures(q, t, v, &mut self.block, &mut self.defect);
        for (i, defect) in self.defect.iter_mut().enumerate() {
            *defect += rows.row_dot(i, &self.gradients, a);
        }
        self.correct(t)?;
        for (a, d) in a.iter_mut().zip(&self.change) {
            *a += d;
        }
        Ok(())
    }

    /// Writes $-A^{-1} J^\top (J A^{-1} J^\top + \tfrac1\alpha I)^{+}$ times the defect into `change`.
    fn correct(&mut self, t: f64) -> Result<(), StepError> {
        let rows = self.system.equalities();
        let m = rows.len();
        for i in 0..m {
            let a = (rows.columns(i), &self.gradients[rows.span(i)]);
            for j in 0..=i {
                let b = (rows.columns(j), &self.gradients[rows.span(j)]);
                let product = self.matrix.inverse_product(a, b);
                self.gram[i * m + j] = product;
                self.gram[j * m + i] = product;
            }
            self.gram[i * m + i] += 1.0 / self.alpha;
        }
        let solved = if self.alpha.is_finite() {
            self.mu.copy_from_slice(&self.defect);
            cholesky::factor(m, &mut self.gram, 0.0)
                .and_then(|()| cholesky::solve(m, &self.gram, &mut self.mu))
        } else {
            // Redundant rows: which multipliers are taken does not change the velocity.
            self.factor
                .factor(m, &self.gram, 1e-12)
                .and_then(|_| self.factor.solve_basic(&self.defect, &mut self.mu))
        };
        let finite = self.mu.iter().all(|x| x.is_finite());
        if let Some(error) = solved.err().or((!finite).then_some(NOT_FINITE)) {
            return Err(self.failure(t, error));
        }
        self.impulse.fill(0.0);
        rows.add_transposed(&self.gradients, &self.mu, -1.0, &mut self.impulse);
        self.matrix.solve(&self.impulse, &mut self.change);
        Ok(())
    }

    fn failure(&self, t: f64, error: LinearError) -> StepError {
        let rows = self.system.equalities();
        let what = "the projection of velocity";
        let name = |i: usize| rows.names().get(i).cloned().unwrap_or_default();
        if let LinearError::NotPositiveDefinite { pivot, .. } = error {
            return StepError::Singular { t, what, culprit: name(pivot) };
        }
        let i = self.defect.iter().position(|x| !x.is_finite()).unwrap_or(0);
        StepError::NotFinite { t, what: "the rate", culprit: name(i) }
    }
}

const NOT_FINITE: LinearError = LinearError::NotFinite { what: "the projection", index: 0 };
