//! What can be wrong with a world of rigid bodies or with a start in it.

use nsm_geom::GeomError;

/// A world, a start or a method that cannot be used as it was given.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RigidError {
    /// A world without bodies.
    #[error("a world needs at least one body")]
    NoBodies,
    /// A mass that is not positive and finite.
    #[error("the mass of body `{body}` is {mass}: it must be positive and finite")]
    Mass {
        /// Name of the body.
        body: String,
        /// The mass given.
        mass: f64,
    },
    /// An inertia that is not symmetric positive definite, or another flaw of a body's geometry.
    #[error("body `{body}`: {source}")]
    Body {
        /// Name of the body.
        body: String,
        /// What is wrong.
        source: GeomError,
    },
    /// A plane that is none.
    #[error("plane `{plane}`: {source}")]
    Plane {
        /// Name of the plane.
        plane: String,
        /// What is wrong.
        source: GeomError,
    },
    /// The attitude of a body is not a rotation.
    #[error("the attitude of body `{body}` is {source}")]
    Attitude {
        /// Name of the body.
        body: String,
        /// What is wrong.
        source: GeomError,
    },
    /// A body starts inside a plane.
    #[error(
        "body `{body}` starts {depth:.6e} deep inside plane `{plane}`: move it out, or let `separate = true` do so"
    )]
    Penetration {
        /// Name of the body.
        body: String,
        /// Name of the plane.
        plane: String,
        /// How deep.
        depth: f64,
    },
    /// Two bodies start inside each other.
    #[error(
        "the bodies `{first}` and `{second}` start {depth:.6e} inside each other: move them apart, let `separate = true` do so, or ignore the pair"
    )]
    Overlap {
        /// Name of the one.
        first: String,
        /// Name of the other.
        second: String,
        /// How deep.
        depth: f64,
    },
    /// A fixed body has a momentum.
    #[error("body `{body}` is fixed: it cannot move")]
    Fixed {
        /// Name of the body.
        body: String,
    },
    /// A contact law out of range.
    #[error("{source}")]
    Law {
        /// What is wrong.
        source: Box<nsm_model::SystemError>,
    },
    /// A pinned body has a linear momentum.
    #[error("body `{body}` is pinned: its linear momentum must be zero")]
    Pinned {
        /// Name of the body.
        body: String,
    },
    /// A state with another number of bodies than the world.
    #[error("the state has {given} bodies, the world {expected}")]
    Bodies {
        /// Bodies of the state.
        given: usize,
        /// Bodies of the world.
        expected: usize,
    },
    /// A number is NaN or infinite.
    #[error("{what} of `{name}` is not finite")]
    NotFinite {
        /// What the number is.
        what: &'static str,
        /// Of which body or plane.
        name: String,
    },
    /// The impact law cannot be set up for a body.
    #[error("the impact law: {source}")]
    Impact {
        /// What is wrong.
        source: nsm_reflect::ReflectError,
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
}
