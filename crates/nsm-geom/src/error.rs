//! What can be wrong with a shape, a body or a query: one enum for the whole crate, each variant
//! naming the culprit.

/// Why a geometric object could not be built or a query could not be answered.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GeomError {
    /// A length that must be positive and finite is not.
    #[error("{what} must be positive and finite, got {value}")]
    NotPositive {
        /// The quantity: a radius, a semi-axis, a half extent, a mass.
        what: &'static str,
        /// The value given.
        value: f64,
    },
    /// A vector or scalar has a NaN or infinite entry.
    #[error("{what} has an entry that is not finite")]
    NotFinite {
        /// The quantity.
        what: &'static str,
    },
    /// A direction of zero length cannot be normalised.
    #[error("{what} has zero length")]
    ZeroDirection {
        /// The quantity: a plane's normal, a support direction.
        what: &'static str,
    },
    /// A matrix that should be a rotation is not.
    #[error("not a rotation: |RᵀR − I| = {defect:.3e}, det R = {determinant:.6}")]
    NotRotation {
        /// Frobenius norm of $R^\top R - I$.
        defect: f64,
        /// $\det R$.
        determinant: f64,
    },
    /// The Cayley map does not reach rotations by half a turn.
    #[error("rotation by half a turn has no Cayley coordinates (1 + tr R = {trace:.3e})")]
    HalfTurn {
        /// $1 + \mathrm{tr} R$.
        trace: f64,
    },
    /// An inertia matrix is not symmetric positive definite.
    #[error(
        "inertia is not symmetric positive definite: smallest eigenvalue {eigenvalue:.6e}, asymmetry {asymmetry:.3e}"
    )]
    NotPositiveDefinite {
        /// Smallest eigenvalue of the symmetric part.
        eigenvalue: f64,
        /// Largest entry of $|J - J^\top|$.
        asymmetry: f64,
    },
    /// Fewer than four points, or all (nearly) on one plane.
    #[error("degenerate polyhedron: {points} points spanning only {dimension} dimensions")]
    DegeneratePolyhedron {
        /// Number of points given.
        points: usize,
        /// Affine dimension of their hull, at the hull's tolerance.
        dimension: usize,
    },
    /// A union or intersection without parts.
    #[error("{what} without parts")]
    NoParts {
        /// "union" or "intersection".
        what: &'static str,
    },
    /// The parts of an intersection have no common interior.
    #[error("empty intersection: the parts miss each other by {gap:.3e}")]
    EmptyIntersection {
        /// Smallest value found of the largest signed distance to a part.
        gap: f64,
    },
    /// A convex shape is needed here.
    #[error("{what} needs a convex shape")]
    NotConvex {
        /// The operation.
        what: &'static str,
    },
    /// A combination of shapes that no query can answer exactly.
    #[error("{what} is not supported")]
    Unsupported {
        /// The combination.
        what: &'static str,
    },
    /// An iteration ended before its tolerance.
    #[error("{what} stopped after {iterations} iterations with residual {residual:.3e}")]
    NotConverged {
        /// The algorithm.
        what: &'static str,
        /// Iterations made.
        iterations: usize,
        /// Residual reached.
        residual: f64,
    },
}

/// A length, mass or density: positive and finite.
pub(crate) fn positive(what: &'static str, value: f64) -> Result<f64, GeomError> {
    if value > 0.0 && value.is_finite() {
        Ok(value)
    } else {
        Err(GeomError::NotPositive { what, value })
    }
}

/// A vector without NaN or infinite entries.
pub(crate) fn finite(what: &'static str, value: crate::Vec3) -> Result<crate::Vec3, GeomError> {
    if value.iter().all(|c| c.is_finite()) { Ok(value) } else { Err(GeomError::NotFinite { what }) }
}
