//! A step that leaves the numbers is a failed step: states, energies and gaps at its end are finite, or it is refused.
//!
//! NaN compares false with everything: a gap that is NaN would count as open, an energy that is NaN as conserved. Every
//! stepper asks here before it hands its state over, and the run loop asks once more of what it measured.

use crate::{Measurement, State, StepError, System, SystemError};

impl System {
    /// Refuses a state with the wrong number of coordinates.
    ///
    /// # Errors
    /// [`SystemError::Length`] as the error of a step.
    #[inline]
    pub fn check_lengths(&self, state: &State) -> Result<(), StepError> {
        let n = self.dimension();
        if state.q.len() == n && state.v.len() == n && state.p.len() == n {
            return Ok(());
        }
        self.refuse_lengths(state)
    }

    #[cold]
    fn refuse_lengths(&self, state: &State) -> Result<(), StepError> {
        let expected = self.dimension();
        for (what, length) in
            [("position", state.q.len()), ("velocity", state.v.len()), ("momentum", state.p.len())]
        {
            if length != expected {
                let source = Box::new(SystemError::Length { what, length, expected });
                return Err(StepError::Method { t: state.t, source });
            }
        }
        Ok(())
    }

    /// Refuses the end $(q, v)$ at time `end` of a step that began at `t`, unless position, velocity, gaps and energy are finite.
    ///
    /// # Errors
    /// [`StepError::NotFinite`] with the coordinate, the contact or the term of the potential.
    #[inline]
    pub fn check_finite(&self, t: f64, end: f64, q: &[f64], v: &[f64]) -> Result<(), StepError> {
        self.check_motion(t, end, q, v)?;
        let gaps = self.inequalities();
        match (0..gaps.len()).find(|&i| !gaps.value(i, q, end).is_finite()) {
            None => Ok(()),
            Some(i) => Err(not_finite(t, "the gap", gaps.name(i))),
        }
    }

    /// The same for position, velocity and energy alone.
    ///
    /// # Errors
    /// [`StepError::NotFinite`] with the coordinate or the term of the potential.
    #[inline]
    pub fn check_motion(&self, t: f64, end: f64, q: &[f64], v: &[f64]) -> Result<(), StepError> {
        if all_finite(q) && all_finite(v) {
            let energy = self.kinetic_energy(q, v) + self.potential().sum(q, end);
            if energy.is_finite() {
                return Ok(());
            }
        }
        Err(self.find_not_finite(t, end, q, v))
    }

    /// The same for gaps whose values are known.
    ///
    /// # Errors
    /// [`StepError::NotFinite`] with the contact.
    #[inline]
    pub fn check_gaps(&self, t: f64, gaps: &[f64]) -> Result<(), StepError> {
        if all_finite(gaps) {
            return Ok(());
        }
        let i = gaps.iter().position(|g| !g.is_finite()).unwrap_or(0);
        Err(not_finite(t, "the gap", self.inequalities().name(i)))
    }

    /// What is not finite.
    #[cold]
    fn find_not_finite(&self, t: f64, end: f64, q: &[f64], v: &[f64]) -> StepError {
        for (what, x) in [("position", q), ("velocity", v)] {
            if let Some(i) = x.iter().position(|x| !x.is_finite()) {
                return not_finite(t, what, &self.names()[i]);
            }
        }
        let terms = self.potential();
        match (0..terms.len()).find(|&i| !terms.value(i, q, end).is_finite()) {
            Some(i) => not_finite(t, "the potential energy", terms.name(i)),
            None => not_finite(t, "the energy", "the system"),
        }
    }
}

impl Measurement {
    /// What is not finite of energy, gaps and residuals: its kind, and the number of the gap if it is one. A gap of plus infinity is that of
    /// parties that never meet: both stand still, or pass through each other.
    pub(crate) fn not_finite(&self) -> Option<(&'static str, Option<usize>)> {
        if let Some(i) = self.gaps.iter().position(|g| g.is_nan() || *g == f64::NEG_INFINITY) {
            return Some(("the gap", Some(i)));
        }
        let numbers = [
            ("the kinetic energy", self.kinetic),
            ("the potential energy", self.potential),
            ("the residual on position level", self.position_residual),
            ("the residual on velocity level", self.velocity_residual),
        ];
        numbers.into_iter().find(|(_, x)| !x.is_finite()).map(|(what, _)| (what, None))
    }
}

#[cold]
fn not_finite(t: f64, what: &'static str, culprit: &str) -> StepError {
    StepError::NotFinite { t, what, culprit: culprit.to_owned() }
}

/// Whether all entries are finite; without early exit, so that it runs in lanes.
#[inline]
fn all_finite(x: &[f64]) -> bool {
    !x.iter().fold(false, |bad, x| bad | !x.is_finite())
}
