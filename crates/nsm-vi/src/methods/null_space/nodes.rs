//! The two nodes of a null space step: what is known of them whichever way the step is solved.
//!
//! With $r = \tfrac1h M (x - q_k) + \tfrac h2 s_0 - p_k = -D_1 L_d - p_k$, what the constraints must supply at $q_k$, the node's momentum and the pull
//! of its constraints follow as in \[LMO\] (34)–(38), and $D_2 L_d = p_k + r - \tfrac h2 (s_0 + s_1)$ is the new momentum before it is
//! projected.

use nsm_model::{Clock, Events, State, StepError, System, SystemError};
use nsm_solvers::LinearError;
use nsm_solvers::kkt::{Kkt, KktPattern};

use super::NullSpace;
use super::stepper::pattern;
use crate::shared::lagrangian::DiscreteLagrangian;
use crate::shared::position::largest;

/// Start and end of a step, with workspace.
#[derive(Debug)]
pub(super) struct Nodes<'a> {
    pub(super) system: &'a System,
    pub(super) h: f64,
    pub(super) lagrangian: DiscreteLagrangian<'a>,
    /// The trial end of the step.
    pub(super) x: Vec<f64>,
    /// What the constraints must supply.
    pub(super) r: Vec<f64>,
    pub(super) scratch: Vec<f64>,
    /// Momentum and velocity at the end.
    pub(super) p: Vec<f64>,
    pub(super) v: Vec<f64>,
    /// Momentum and $G^\top\lambda$ where the step began.
    pub(super) momentum: Vec<f64>,
    pub(super) pull: Vec<f64>,
    /// Values of the constraints.
    pub(super) f: Vec<f64>,
    /// $D_2 L_d$ of the last step before it was projected, and where that step ended.
    raw: Vec<f64>,
    left: (Vec<f64>, Vec<f64>),
    /// Where the last step began.
    origin: (Vec<f64>, f64),
    clock: Clock,
    pub(super) events: Events,
}

impl<'a> Nodes<'a> {
    pub(super) fn new(system: &'a System, method: &NullSpace) -> Self {
        let zero = vec![0.0; system.dimension()];
        Self {
            system,
            h: method.step,
            lagrangian: DiscreteLagrangian::new(system, method.quadrature),
            x: zero.clone(),
            r: zero.clone(),
            scratch: zero.clone(),
            p: zero.clone(),
            v: zero.clone(),
            momentum: zero.clone(),
            pull: zero.clone(),
            f: vec![0.0; system.equalities().len()],
            raw: zero.clone(),
            left: (vec![f64::NAN; system.dimension()], zero.clone()),
            origin: (zero, f64::NAN),
            clock: Clock::new(method.step),
            events: Events::default(),
        }
    }

    /// Whether no step has led to this position.
    pub(super) fn is_new(&self, state: &State) -> bool {
        self.left.0 != state.q
    }

    /// Evaluates $r$ at the trial `x`.
    pub(super) fn evaluate(&mut self, (q, p, t): (&[f64], &[f64], f64)) {
        let h = self.h;
        self.lagrangian.slopes_left(q, &self.x, t, h);
        for ((v, x), q) in self.scratch.iter_mut().zip(&self.x).zip(q) {
            *v = (x - q) / h;
        }
        self.system.mass().multiply(&self.scratch, &mut self.r);
        for ((r, p), s) in self.r.iter_mut().zip(p).zip(&self.lagrangian.left) {
            *r += 0.5 * h * s - p;
        }
    }

    /// Recovers momentum and pull at the node where the step began, and the momentum at its end, not yet projected.
    ///
    /// $r$ must be free of the round-off that Newton leaves in its tangent part.
    pub(super) fn recover(&mut self, state: &State) {
        let h = self.h;
        let continues = self.left.0 == state.q && self.left.1 == state.p;
        for i in 0..self.r.len() {
            let (p, r) = (state.p[i], self.r[i]);
            // D₂L_d(k−1, k) + D₁L_d(k, k+1), with −D₁L_d = p + r; at the start (47).
            let before = if continues { self.raw[i] } else { p - r };
            self.pull[i] = (before - p - r) / h;
            self.momentum[i] = 0.5 * (before + p + r);
        }
        self.lagrangian.slopes_right(&self.x, state.t, h);
        let (left, right) = (&self.lagrangian.left, &self.lagrangian.right);
        for (i, p) in self.p.iter_mut().enumerate() {
            *p = state.p[i] + self.r[i] - 0.5 * h * (left[i] + right[i]);
        }
        self.raw.copy_from_slice(&self.p);
        self.origin.0.copy_from_slice(&state.q);
        self.origin.1 = state.t;
    }

    /// Multipliers of the pull where the last step began, of least norm where constraints are redundant.
    pub(super) fn multipliers(&self) -> Result<Vec<f64>, SystemError> {
        let misfit = |error: LinearError| SystemError::DoesNotFit {
            method: "the recovery of multipliers",
            why: error.to_string(),
        };
        if self.origin.1.is_nan() {
            return Err(misfit(LinearError::NotFactorised));
        }
        let mut rows =
            independent_rows(self.system, &self.origin.0, self.origin.1).map_err(misfit)?;
        let (zero, mut rest) =
            (vec![0.0; self.system.equalities().len()], vec![0.0; self.pull.len()]);
        let mut lambda = zero.clone();
        rows.solve(&self.pull, &zero, &mut rest, &mut lambda).map_err(misfit)?;
        Ok(lambda)
    }

    /// Hands the end of the step over.
    pub(super) fn commit(&mut self, state: &mut State) -> Result<(), StepError> {
        self.system.check_finite(state.t, state.t + self.h, &self.x, &self.v)?;
        state.t = self.clock.tick(state.t);
        state.q.copy_from_slice(&self.x);
        state.p.copy_from_slice(&self.p);
        state.v.copy_from_slice(&self.v);
        self.lagrangian.accept(&state.q, state.t);
        self.left.0.copy_from_slice(&state.q);
        self.left.1.copy_from_slice(&state.p);
        Ok(())
    }

    /// Nothing of a failed step may reach the next one.
    pub(super) fn forget(&mut self) {
        self.left.0.fill(f64::NAN);
    }

    /// A Newton step that is not finite.
    pub(super) fn diverged(&self, t: f64) -> StepError {
        let culprit = self.system.names()[largest(&self.r).0].clone();
        StepError::NotFinite { t, what: "the equation of motion", culprit }
    }

    /// Newton's method that has used up its iterations.
    pub(super) fn unsolved(&self, t: f64, iterations: usize, residual: f64) -> StepError {
        let culprit = self.system.names()[largest(&self.r).0].clone();
        StepError::NotConverged { t, what: "the null space step", iterations, residual, culprit }
    }
}

/// The rows of $G$ at a configuration with their rank, ready for $\min_\lambda |G^\top\lambda - f|$.
pub(super) fn independent_rows(system: &System, q: &[f64], t: f64) -> Result<Kkt, LinearError> {
    let rows = system.equalities();
    let gradients = pattern(system);
    let (unknowns, block) = (system.dimension(), &[][..]);
    let pattern =
        KktPattern { unknowns, rows: rows.len(), block, gradients: &gradients, symmetric: true };
    let mut kkt = Kkt::new(&pattern)?;
    kkt.set_block(&vec![1.0; unknowns])?;
    let mut values = vec![0.0; rows.entries()];
    rows.gradients(q, t, &mut values);
    kkt.factorise(&values, &[], &[])?;
    Ok(kkt)
}

/// A failed factorisation as an error of the step.
pub(super) fn failure(system: &System, t: f64, error: LinearError) -> StepError {
    match error {
        LinearError::Singular { pivot, .. } | LinearError::NotPositiveDefinite { pivot, .. } => {
            let names = system.names();
            let culprit = names.get(pivot).or(names.last()).cloned().unwrap_or_default();
            StepError::Singular { t, what: "the reduced matrix of the step", culprit }
        }
        other => StepError::Method { t, source: Box::new(other) },
    }
}
