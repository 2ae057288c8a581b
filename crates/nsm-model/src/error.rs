//! What can go wrong: with a system, with a start, and in a step.

use nsm_constraints::ConstraintError;
use nsm_constraints::multibody::MechanismError;

/// A system, a start or a method that cannot be used as it was given.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SystemError {
    /// No coordinates.
    #[error("a system needs at least one coordinate")]
    Empty,
    /// A negative or non-finite entry of the mass matrix.
    #[error("the mass of coordinate {coordinate} is {value}: it must be finite and not negative")]
    Mass {
        /// Index of the coordinate.
        coordinate: usize,
        /// The entry given.
        value: f64,
    },
    /// The mass matrix is not symmetric.
    #[error(
        "the mass matrix is not symmetric: entries ({row}, {column}) and ({column}, {row}) differ by {difference:.3e}"
    )]
    AsymmetricMass {
        /// Row of the entry.
        row: usize,
        /// Its column.
        column: usize,
        /// How far the two entries are apart.
        difference: f64,
    },
    /// The mass matrix has a direction of zero or negative inertia.
    #[error("the mass matrix is not positive definite: it fails at coordinate {coordinate}")]
    IndefiniteMass {
        /// The coordinate at which the Cholesky factorisation fails.
        coordinate: usize,
    },
    /// The method needs $M^{-1}$, and a coordinate has no mass.
    #[error(
        "coordinate `{coordinate}` has no mass, and this method divides by it: give it a mass (a flat or thin body needs a little thickness in its moments of inertia), or use a method for singular mass matrices, such as nsga"
    )]
    Massless {
        /// Name of the coordinate.
        coordinate: String,
    },
    /// Slices that must agree in length do not.
    #[error("{what} has length {length}, expected {expected}")]
    Length {
        /// What has the wrong length.
        what: &'static str,
        /// Its length.
        length: usize,
        /// The right one.
        expected: usize,
    },
    /// A number is NaN or infinite.
    #[error("{what} of `{name}` is {value}: it must be finite")]
    NotFinite {
        /// What the number is (position, velocity, potential …).
        what: &'static str,
        /// Of which coordinate or constraint.
        name: String,
        /// The number.
        value: f64,
    },
    /// A number that must lie between 0 and 1 does not.
    #[error("{what} of `{name}` is {value}: it must lie between 0 and 1")]
    NotFraction {
        /// What the number is.
        what: &'static str,
        /// Of which contact.
        name: String,
        /// The number.
        value: f64,
    },
    /// A coefficient of friction that is negative or not finite.
    #[error("the friction of `{name}` is {value}: it must be finite and not negative")]
    Friction {
        /// The contact.
        name: String,
        /// The coefficient.
        value: f64,
    },
    /// Friction where nobody says which way the contact slips.
    #[error(
        "`{gap}` has friction {friction} and no tangential velocity: give the material velocity in the tangent plane, in a file by `[system.tangent]` with `{gap} = [\"v_x\"]`"
    )]
    NoTangent {
        /// The gap.
        gap: String,
        /// Its friction.
        friction: f64,
    },
    /// A parameter of a method makes no sense.
    #[error("{what} is {value}: it must be {must}")]
    Parameter {
        /// What the parameter is.
        what: &'static str,
        /// What would be right.
        must: &'static str,
        /// What was given.
        value: f64,
    },
    /// The start violates a constraint on position level.
    #[error(
        "the start violates `{constraint}`: it is {value:.6e} and must be {must}; correct the start{}", if *must == "0" { ", or project it onto the constraints" } else { "" }
    )]
    InfeasiblePosition {
        /// Name of the constraint.
        constraint: String,
        /// Its value at the start.
        value: f64,
        /// `0` for an equality, `>= 0` for an inequality.
        must: &'static str,
    },
    /// The start violates a constraint on velocity level.
    #[error(
        "the start velocity violates `{constraint}`: its rate is {rate:.6e} and must be {must}; correct the velocity, or project it"
    )]
    InfeasibleVelocity {
        /// Name of the constraint.
        constraint: String,
        /// Its rate at the start.
        rate: f64,
        /// What would be right.
        must: &'static str,
    },
    /// The projection of a start onto the constraints did not converge.
    #[error(
        "the start cannot be projected onto `{constraint}`: {residual:.3e} remains after {iterations} iterations"
    )]
    Projection {
        /// The constraint that is violated most.
        constraint: String,
        /// Its remaining violation.
        residual: f64,
        /// Newton iterations made.
        iterations: usize,
    },
    /// The method does not fit the system.
    #[error("`{method}` does not fit this system: {why}")]
    DoesNotFit {
        /// Name of the method.
        method: &'static str,
        /// What it lacks.
        why: String,
    },
    /// No mode of a switching system holds the position.
    #[error(
        "the modes do not cover the start: no region function is positive there; add a mode, or correct the regions"
    )]
    Uncovered,
    /// A mode that the system does not have.
    #[error("there is no mode `{name}`")]
    UnknownMode {
        /// The name asked for.
        name: String,
    },
    /// A position was put in a mode whose region does not reach it.
    #[error("the position lies outside mode `{name}`: its region function is {region:.6e} there")]
    OutsideMode {
        /// Name of the mode.
        name: String,
        /// Value of its region function.
        region: f64,
    },
    /// A constraint that cannot be used.
    #[error(transparent)]
    Constraint(#[from] ConstraintError),
    /// A mechanism that cannot be built.
    #[error(transparent)]
    Mechanism(#[from] MechanismError),
}

/// A step that could not be taken; the state is as it was before.
#[derive(Debug, thiserror::Error)]
pub enum StepError {
    /// The equations of the step were not solved.
    #[error(
        "t = {t}: {what} not solved in {iterations} iterations (residual {residual:.3e}, worst at `{culprit}`); try a smaller step"
    )]
    NotConverged {
        /// Time at the start of the step.
        t: f64,
        /// Which equations.
        what: &'static str,
        /// Iterations made.
        iterations: usize,
        /// Remaining residual.
        residual: f64,
        /// Coordinate or constraint with the largest residual.
        culprit: String,
    },
    /// The equations of the step are singular.
    #[error(
        "t = {t}: {what} is singular at `{culprit}`; look for redundant or contradictory constraints"
    )]
    Singular {
        /// Time at the start of the step.
        t: f64,
        /// Which matrix.
        what: &'static str,
        /// Coordinate or constraint at which it fails.
        culprit: String,
    },
    /// An impact law found no feasible velocity.
    #[error(
        "t = {t}: the impact law left `{contact}` approaching at {residual:.3e} after {rounds} rounds; opposed or wedged contacts never separate"
    )]
    Impact {
        /// Time of the impact.
        t: f64,
        /// Rounds made.
        rounds: usize,
        /// Largest remaining approach velocity.
        residual: f64,
        /// The contact that has it.
        contact: String,
    },
    /// The friction of contacts was not found.
    #[error(
        "t = {t}: the friction of `{contact}` was not found (residual {residual:.3e}): contacts jam; try a smaller step, or less friction"
    )]
    Friction {
        /// Time.
        t: f64,
        /// The contact that is worst.
        contact: String,
        /// The scale-free residual of the friction problem.
        residual: f64,
    },
    /// Events accumulate: more of them in one step than the limit allows.
    #[error(
        "t = {t}: impacts at `{contact}` accumulate (Zeno), after {events} events in this step: the contact comes to rest there; end the run before, raise the limit, or take a method that holds resting contacts"
    )]
    Accumulation {
        /// Time of the last event.
        t: f64,
        /// Events in this step.
        events: usize,
        /// Contact or surface of the last one.
        contact: String,
    },
    /// A number became NaN or infinite.
    #[error("t = {t}: {what} of `{culprit}` is not finite")]
    NotFinite {
        /// Time at the start of the step.
        t: f64,
        /// What became non-finite.
        what: &'static str,
        /// Coordinate or constraint.
        culprit: String,
    },
    /// Anything else that a method says of itself.
    #[error("t = {t}: {source}")]
    Method {
        /// Time at the start of the step.
        t: f64,
        /// The method's own error.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl StepError {
    /// Whether the equations of the step were not solved, and those of a shorter one may be.
    pub fn is_unsolved(&self) -> bool {
        matches!(self, Self::NotConverged { .. } | Self::Singular { .. } | Self::NotFinite { .. })
    }

    /// Time to which the error belongs.
    pub fn time(&self) -> f64 {
        match self {
            Self::NotConverged { t, .. }
            | Self::Singular { t, .. }
            | Self::Impact { t, .. }
            | Self::Friction { t, .. }
            | Self::Accumulation { t, .. }
            | Self::NotFinite { t, .. }
            | Self::Method { t, .. } => *t,
        }
    }
}
