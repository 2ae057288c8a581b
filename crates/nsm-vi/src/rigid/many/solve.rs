//! The one kernel: impulses in Coulomb's cones with $u = Wr + q$.

use super::stages::CROWD;
use nsm_solvers::friction::{
    Delassus, FrictionError, FrictionOptions, FrictionProblem, FrictionSolver, solve_contact,
};

/// Residual up to which impulses are taken where halving the step has not helped. They enter what they touch by it times the way of that
/// small part of the step, and the run warns of it.
pub(super) const AT_LAST: f64 = 1e-4;

/// The same in heaps of more contacts than this, where smaller parts of a step are no easier and cost as much again.
const IN_HEAPS: f64 = 1e-5;
const HEAP: usize = 256;
/// Residual with which quick methods are left in crowds, where they do not come further: an arch is solved to all digits in no time, a heap is not.
const LEFT: f64 = 1e-6;

/// Whether a guess is an answer. Jammed contacts have several, and the next one would be another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Near {
    /// An answer to all digits is wanted.
    Any,
    /// Where it is as good as what the quick methods may leave.
    Enough,
    /// Where it would not be refused.
    Acceptable,
}

/// What is known of a problem beforehand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    /// The speed by which velocities are measured.
    pub(super) scale: f64,
    /// What is not known of $q$, how far off the answer may be, and how far off one was that no method bettered.
    pub(super) rounding: f64,
    pub(super) vague: f64,
    pub(super) reached: f64,
    pub(super) near: Near,
}

/// Solves friction problems of an island, with its storage.
#[derive(Clone, Debug)]
pub(super) struct Solve {
    pub(super) w: Delassus,
    problem: FrictionProblem,
    solver: FrictionSolver,
    chosen: Vec<usize>,
    options: FrictionOptions,
    /// Whether the step cannot be halved any more.
    pub(super) at_last: bool,
}

impl Default for Solve {
    fn default() -> Self {
        Self {
            w: Delassus::default(),
            problem: FrictionProblem::default(),
            solver: FrictionSolver::default(),
            chosen: Vec::new(),
            at_last: false,
            options: FrictionOptions {
                tolerance: 1e-11,
                // The quick methods reach rounding or nearly; what they leave is not worth the slow ones unless it would be refused.
                enough: 1e-6,
                acceptable: 1e-6,
                patient: false,
                ..FrictionOptions::default()
            },
        }
    }
}

impl Solve {
    /// Finds $r$ from a guess; returns how far velocities are off.
    pub(super) fn all(
        &mut self,
        q: &[f64],
        friction: &[f64],
        r: &mut [f64],
        Known { scale, rounding, vague, reached, near }: Known,
    ) -> Result<f64, FrictionError> {
        if let ([mu], &[n, s, t]) = (friction, q) {
            r.copy_from_slice(&solve_contact(self.w.own(0), &[n, s, t], *mu));
            return Ok(0.0);
        }
        if q.chunks_exact(3).all(|u| u[0] >= 0.0) {
            r.fill(0.0);
            return Ok(0.0);
        }
        self.chosen.clear();
        self.chosen.extend(0..friction.len());
        self.problem.assemble(&self.w, &self.chosen, q, friction)?;
        let size = self.problem.size();
        let part = (scale / size).max(1.0);
        let crowd = friction.len() > CROWD;
        let options = FrictionOptions {
            tolerance: (self.options.tolerance * part).max(4.0 * rounding / size).max(vague / size),
            enough: (self.options.enough * part).max(4.0 * rounding / size),
            quick: if crowd { LEFT } else { self.options.quick },
            acceptable: part
                * match (self.at_last, friction.len() > HEAP) {
                    (true, _) => AT_LAST,
                    (false, true) => IN_HEAPS,
                    (false, false) => self.options.acceptable,
                },
            ..self.options
        };
        let near = match near {
            Near::Any => vague.max(reached) / size,
            Near::Enough => options.enough,
            Near::Acceptable => options.acceptable,
        };
        if near > 0.0 {
            let residual = self.solver.residual(&self.problem, r);
            if residual <= near {
                return Ok(residual * size);
            }
        }
        let mut outcome = self.solver.solve(&self.problem, r, &options);
        if outcome.is_err() && self.at_last {
            let options = FrictionOptions { patient: true, ..options };
            outcome = self.solver.solve(&self.problem, r, &options);
        }
        outcome.map(|report| report.residual * size)
    }

    /// The same for some of the contacts, in ascending order.
    pub(super) fn some(
        &mut self,
        chosen: &[usize],
        q: &[f64],
        friction: &[f64],
        r: &mut [f64],
    ) -> Result<f64, FrictionError> {
        if let ([i], [mu], &[n, s, t]) = (chosen, friction, q) {
            r.copy_from_slice(&solve_contact(self.w.own(*i), &[n, s, t], *mu));
            return Ok(0.0);
        }
        self.problem.assemble(&self.w, chosen, q, friction)?;
        self.solver.solve(&self.problem, r, &self.options).map(|report| report.residual)
    }
}
