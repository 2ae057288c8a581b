//! The thresholds of an integrator, with units and meaning.

use nsm_constraints::ContactTolerance;
use nsm_model::SystemError;
use nsm_solvers::newton::{Course, Frozen, Matrices};

/// When a gap counts as closed, a velocity as zero, and an equation as solved.
///
/// Exact comparisons with zero, as \[KP\] print them, lose contacts to round-off and let the impact law
/// run for ever; every comparison of the integrators goes through these numbers instead.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerances {
    /// When a gap is closed and when it does not change.
    pub contact: ContactTolerance,
    /// Newton stops when its step is below this, relative to the positions and their change: the meaning that a
    /// tolerance has in all integrators.
    pub newton: f64,
    /// Most Newton iterations of a step.
    pub iterations: usize,
    /// Most rounds of the impact law at one instant.
    pub rounds: usize,
}

impl Default for Tolerances {
    fn default() -> Self {
        let contact = ContactTolerance::default();
        Self { contact, newton: 1e-15, iterations: 60, rounds: 10_000 }
    }
}

impl Tolerances {
    /// Refuses thresholds that are negative or not finite, and limits of zero.
    pub(crate) fn check(&self) -> Result<(), SystemError> {
        for (what, value) in [
            ("the gap tolerance", self.contact.gap),
            ("the velocity tolerance", self.contact.velocity),
            ("the typical speed", self.contact.speed),
            ("the Newton tolerance", self.newton),
        ] {
            if !(value.is_finite() && value >= 0.0) {
                return Err(SystemError::Parameter {
                    what,
                    must: "finite and not negative",
                    value,
                });
            }
        }
        for (what, count) in [
            ("the limit of Newton iterations", self.iterations),
            ("the limit of impact rounds", self.rounds),
        ] {
            if count == 0 {
                return Err(SystemError::Parameter { what, must: "at least 1", value: 0.0 });
            }
        }
        Ok(())
    }

    /// The course of an iteration that makes a matrix for every step.
    pub(crate) fn full(&self) -> Course {
        Course::new(self.newton, Matrices::Full)
    }

    /// The same for one that keeps a matrix as long as it serves.
    pub(crate) fn chord(&self) -> Course {
        Course::new(self.newton, Matrices::Chord)
    }

    /// The same for one whose matrix was there before.
    pub(crate) fn frozen(&self, rows: usize) -> Frozen {
        Frozen::new(self.newton, rows)
    }
}

/// Refuses a step that is not positive and finite.
pub(crate) fn check_step(h: f64) -> Result<(), SystemError> {
    if h.is_finite() && h > 0.0 {
        return Ok(());
    }
    Err(SystemError::Parameter { what: "the step", must: "positive and finite", value: h })
}
