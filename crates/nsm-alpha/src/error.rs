//! What can be wrong with a generalized-α method, its start, or a switch.

use nsm_model::{StepError, SystemError};

/// A method that cannot be bound to a system and a start, or a switch that is ill-posed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AlphaError {
    /// The system, the start or a parameter is wrong.
    #[error(transparent)]
    System(#[from] SystemError),
    /// Mass and constraints together do not determine the accelerations.
    #[error(
        "the accelerations are not determined at `{culprit}`: the mass is singular there and no constraint fixes it; give it a mass or a constraint"
    )]
    Undetermined {
        /// Coordinate or constraint at which the elimination fails.
        culprit: String,
    },
    /// The two sets of constraints do not meet on the switching surface (Patil & Brüls, section 2.1.1).
    #[error(
        "modes `{from}` and `{to}` do not meet: where the constraints of `{from}` reach the surface, `{constraint}` of `{to}` is {value:.6e} instead of 0"
    )]
    ModesDoNotMeet {
        /// Mode before the switch.
        from: String,
        /// Mode after it.
        to: String,
        /// Constraint of the mode after that does not hold on the surface.
        constraint: String,
        /// Its value there.
        value: f64,
    },
    /// The switching surface is tangent to the constraints: (12) loses rank.
    #[error(
        "the surface between `{from}` and `{to}` is tangent to the constraints of `{tangent}`: its gradient depends on theirs, so that it cannot be crossed"
    )]
    TangentSurface {
        /// Mode before the switch.
        from: String,
        /// Mode after it.
        to: String,
        /// The mode whose constraints it is tangent to.
        tangent: String,
    },
    /// The direction condition (54) fails for the interpolation parameter in use.
    #[error(
        "the switch from `{from}` to `{to}` is ill-posed: the motion reaches the surface with Zv = {before:.6e} and the impact law with interpolation {interpolation} sends it back with {after:.6e}; choose another interpolation or surface"
    )]
    Direction {
        /// Mode before the switch.
        from: String,
        /// Mode after it.
        to: String,
        /// $Z v^-$.
        before: f64,
        /// $Z v^+$.
        after: f64,
        /// The interpolation parameter $\mathcal{E}$.
        interpolation: f64,
    },
    /// The intermediate gradient cannot enforce the constraints after the switch: $D_{\mathcal{E}}$ is singular.
    #[error(
        "the intermediate gradient with interpolation {interpolation} is orthogonal to a constraint after the switch: no impulse along it can enforce that constraint"
    )]
    Orthogonal {
        /// The interpolation parameter $\mathcal{E}$.
        interpolation: f64,
    },
    /// Interpolation between gradients needs the metric $M^{-1}$.
    #[error(
        "interpolation {interpolation} between gradients needs a regular mass, and coordinate {coordinate} has none; use interpolation 1"
    )]
    MasslessInterpolation {
        /// The interpolation parameter $\mathcal{E}$.
        interpolation: f64,
        /// Coordinate at which the mass fails.
        coordinate: usize,
    },
    /// A gap or its rate is NaN or infinite.
    #[error("{what} of `{contact}` is not finite")]
    NotFinite {
        /// Gap or rate.
        what: &'static str,
        /// The contact.
        contact: String,
    },
    /// No mode holds the position that a step reached.
    #[error("no mode covers the position reached from `{from}`: its regions leave a gap")]
    Uncovered {
        /// Mode before.
        from: String,
    },
    /// Constraints that seemed redundant contradict the others.
    #[error(
        "`{constraint}` depends on the other constraints and contradicts them: it is {value:.6e} instead of 0"
    )]
    Contradiction {
        /// The redundant constraint.
        constraint: String,
        /// Its value.
        value: f64,
    },
}

impl AlphaError {
    /// As the error of a step that started at time `t`.
    pub(crate) fn at(self, t: f64) -> StepError {
        match self {
            Self::NotFinite { what, contact } => StepError::NotFinite { t, what, culprit: contact },
            source => StepError::Method { t, source: Box::new(source) },
        }
    }
}
