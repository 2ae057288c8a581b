//! The iterate that all methods work on, and the best one seen.

use super::FrictionProblem;

/// Scaled impulses, their velocities, and the best impulses so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Work {
    pub(super) r: Vec<f64>,
    pub(super) u: Vec<f64>,
    pub(super) best: Vec<f64>,
    pub(super) residual: f64,
}

impl Work {
    pub(super) fn new(r: Vec<f64>) -> Self {
        let m = r.len();
        Self { best: r.clone(), r, u: vec![0.0; m], residual: f64::INFINITY }
    }

    /// Begins from other impulses, in the same storage.
    pub(super) fn start(&mut self, r: impl Iterator<Item = f64>) {
        self.r.clear();
        self.r.extend(r);
        self.best.clear();
        self.best.extend_from_slice(&self.r);
        self.u.clear();
        self.u.resize(self.r.len(), 0.0);
        self.residual = f64::INFINITY;
    }

    /// Evaluates the iterate, remembers it if it is the best; returns its residual.
    pub(super) fn measure(&mut self, problem: &FrictionProblem) -> f64 {
        problem.velocity(&self.r, &mut self.u);
        let residual = problem.residual(&self.r, &self.u);
        if residual < self.residual {
            self.residual = residual;
            self.best.copy_from_slice(&self.r);
        }
        residual
    }

    /// Goes back to the best iterate.
    pub(super) fn return_to_best(&mut self) {
        self.r.copy_from_slice(&self.best);
    }
}
