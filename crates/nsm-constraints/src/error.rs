//! What can be wrong with a constraint, before any time step is taken.

/// A constraint or potential that cannot be used as it was given.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ConstraintError {
    /// A field names a coordinate that the system does not have.
    #[error("`{name}` depends on coordinate {coordinate}, but the system has {dimension} (0 to {})", dimension.saturating_sub(1))]
    UnknownCoordinate {
        /// Name of the row.
        name: String,
        /// The coordinate it asks for.
        coordinate: usize,
        /// Number of coordinates of the system.
        dimension: usize,
    },
    /// A block lists a coordinate twice, so its derivatives would be counted twice.
    #[error("coordinate {coordinate} is listed twice in one block: list each coordinate once")]
    RepeatedCoordinate {
        /// The repeated coordinate.
        coordinate: usize,
    },
    /// The block is too large for automatic differentiation.
    #[error(
        "a block of {size} coordinates is too large for automatic differentiation (at most {limit}): \
         split the function into a sum of terms, or implement `Field` by hand"
    )]
    BlockTooLarge {
        /// Size of the block.
        size: usize,
        /// Largest size allowed.
        limit: usize,
    },
    /// A parameter (radius, length, stiffness, normal …) makes no sense.
    #[error("{what} must be {must}, got {value}")]
    Parameter {
        /// What the parameter is.
        what: &'static str,
        /// What would be right.
        must: &'static str,
        /// What was given.
        value: f64,
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
    /// A configuration that satisfies the constraints was not found.
    #[error(
        "`{name}` is still open by {residual:e} after {iterations} iterations: take a smaller step"
    )]
    NotClosed {
        /// Name of the constraint that is violated most.
        name: String,
        /// By how much.
        residual: f64,
        /// Iterations taken.
        iterations: usize,
    },
    /// A linkage reached a configuration where its number of freedoms changes.
    #[error(
        "the linkage has {freedoms} freedoms here instead of {expected}, `{name}` does not hold it: it may go on in several ways"
    )]
    Bifurcation {
        /// A row that depends on the others here.
        name: String,
        /// Freedoms here.
        freedoms: usize,
        /// Freedoms at the start.
        expected: usize,
    },
    /// A mode was added to a switching that repeats one set of rows periodically.
    #[error("mode `{name}` cannot be added: the modes repeat periodically and are not listed")]
    PeriodicMode {
        /// Name of the mode.
        name: String,
    },
    /// A momentum could not be split along the cones of the active contacts.
    #[error("the cone of the active contacts is out of reach: {source}")]
    Cone {
        /// What the solver says.
        source: nsm_solvers::least_squares::LeastSquaresError,
    },
}
