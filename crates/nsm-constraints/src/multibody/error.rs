//! What can be wrong with a mechanism.

use super::JointKind;
use crate::ConstraintError;

/// A mechanism that cannot be built as it was described; the culprit is named.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MechanismError {
    /// Two nodes, or two joints, of the same name.
    #[error("the name `{name}` is taken: give every node and every joint a name of its own")]
    DuplicateName {
        /// The name.
        name: String,
    },
    /// The directors of a node are not orthonormal.
    #[error(
        "the directors of `{node}` are not orthonormal: their products differ from the unit matrix by {defect:.3e}"
    )]
    Directors {
        /// Name of the node.
        node: String,
        /// Largest entry of $|d_I \cdot d_J - \delta_{IJ}|$.
        defect: f64,
    },
    /// A mass that is negative or not finite.
    #[error("the mass of `{node}` is {mass}: it must be finite and not negative")]
    Mass {
        /// Name of the node.
        node: String,
        /// The mass given.
        mass: f64,
    },
    /// An Euler tensor that no distribution of mass has.
    #[error(
        "the Euler tensor of `{node}` is not symmetric and positive semidefinite: {what} is {value:.3e}; it is the integral of ρρᵀ, ½ tr(J) 1 − J of the inertia J"
    )]
    Euler {
        /// Name of the node.
        node: String,
        /// Smallest eigenvalue, or difference of two opposite entries.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// A contact for which there is no gap as a function of the coordinates.
    #[error("the contact `{contact}` has no gap in coordinates: {why}")]
    NoGap {
        /// Name of the contact.
        contact: String,
        /// What is missing.
        why: String,
    },
    /// A number is NaN or infinite.
    #[error("{what} of `{name}` is {value}: it must be finite")]
    NotFinite {
        /// What the number is.
        what: &'static str,
        /// Of which node or joint.
        name: String,
        /// The number.
        value: f64,
    },
    /// The axis of a joint is not a unit vector.
    #[error("the axis of `{joint}` has length {length}: it must be a unit vector")]
    Axis {
        /// Name of the joint.
        joint: String,
        /// Length of the axis given.
        length: f64,
    },
    /// A node that this mechanism does not have.
    #[error("`{name}` refers to node {node}, but the mechanism has {nodes}")]
    UnknownNode {
        /// Who refers to it.
        name: String,
        /// Its index.
        node: usize,
        /// Number of nodes.
        nodes: usize,
    },
    /// A joint that this mechanism does not have.
    #[error("there is no joint {joint}: the mechanism has {joints}")]
    UnknownJoint {
        /// Its index.
        joint: usize,
        /// Number of joints.
        joints: usize,
    },
    /// A joint of a node with itself, or of the ground with itself.
    #[error("both ends of `{joint}` are `{end}`: it needs two different ends")]
    SameEnds {
        /// Name of the joint.
        joint: String,
        /// Name of the end.
        end: String,
    },
    /// A particle has no directors, so that nothing can be joined to it.
    #[error(
        "`{name}` needs directors, and the particle `{particle}` has none: a particle takes joints of type `spherical` and `distance`, and is the second of `point-on-line` and `point-on-plane`; else attach its mass to a node"
    )]
    Particle {
        /// What needs directors.
        name: String,
        /// Name of the particle.
        particle: String,
    },
    /// Not as many rates as the joint has freedoms.
    #[error("`{joint}` is {kind} and has {freedoms} rates, got {given}")]
    Rates {
        /// Name of the joint.
        joint: String,
        /// Its kind.
        kind: JointKind,
        /// Number of its freedoms.
        freedoms: usize,
        /// Number of rates given.
        given: usize,
    },
    /// The velocity of a node that hangs on a joint follows from the joint.
    #[error(
        "the velocity of `{node}` follows from the joint `{joint}` by which it hangs on `{parent}`: set the rate of the joint"
    )]
    Hanging {
        /// Name of the node.
        node: String,
        /// The joint on which it hangs.
        joint: String,
        /// What carries it.
        parent: String,
    },
    /// The rate of a joint that closes a loop follows from the other joints.
    #[error("`{joint}` closes a loop: its rate follows from those of the other joints")]
    ClosingRate {
        /// Name of the joint.
        joint: String,
    },
    /// The rates that were set tear a loop apart.
    #[error(
        "the rates contradict each other: `{joint}`, which closes a loop, would open at {rate:.3e}; set fewer of them, the others follow"
    )]
    OpenLoop {
        /// The joint that closes the loop.
        joint: String,
        /// The rate at which its constraints would be violated.
        rate: f64,
    },
    /// The joints leave no motion.
    #[error("the joints leave no freedom: {}", joints.join(", "))]
    Immovable {
        /// Names of the joints.
        joints: Vec<String>,
    },
    /// A row that cannot be written, since its numbers overflow.
    #[error(transparent)]
    Row(#[from] ConstraintError),
    /// A beam with fewer than two nodes.
    #[error("the beam `{beam}` has no elements: it needs two nodes or more")]
    NoElements {
        /// Name of the beam.
        beam: String,
    },
    /// A beam or a load that makes no sense.
    #[error("`{name}`: {source}")]
    Part {
        /// Name of the beam or load.
        name: String,
        /// What is wrong with it.
        source: ConstraintError,
    },
    /// A freedom that a joint does not have, or that is no angle or travel.
    #[error(
        "`{joint}` is {kind} and has {freedoms} freedoms: number {freedom} is no angle about and no travel along an axis"
    )]
    NoFreedom {
        /// Name of the joint.
        joint: String,
        /// Its kind.
        kind: JointKind,
        /// The freedom asked for.
        freedom: usize,
        /// How many it has.
        freedoms: usize,
    },
    /// Friction by the load of a joint that has no bearing or slide.
    #[error(
        "`{joint}` is {kind}: friction by the load is for revolute joints and slides, `dry_friction` gives any freedom a constant one"
    )]
    NoBearing {
        /// Name of the joint.
        joint: String,
        /// Its kind.
        kind: JointKind,
    },
    /// A point of a particle that is not where the particle is.
    #[error(
        "`{name}` takes hold of the particle `{particle}` elsewhere than where it is: leave out its point"
    )]
    OffParticle {
        /// What takes hold of it.
        name: String,
        /// Name of the particle.
        particle: String,
    },
    /// Two points that coincide, between which a direction is asked for.
    #[error(
        "`{name}` has no direction: its points on `{}` and `{}` coincide at the start; move one of them, or give a spring with `length = 0` and no damping",
        ends[0], ends[1]
    )]
    NoDirection {
        /// Name of the element.
        name: String,
        /// What it connects.
        ends: [String; 2],
    },
    /// Limits the wrong way round.
    #[error("the limits of `{joint}` are {lower} and {upper}: the first must be below the second")]
    Limits {
        /// Name of the joint.
        joint: String,
        /// The lower one.
        lower: f64,
        /// The upper one.
        upper: f64,
    },
    /// Limits that do not hold at the start.
    #[error(
        "`{joint}` starts at {value}, outside its limits {lower} and {upper}: freedoms are zero where the file draws them"
    )]
    OutsideLimits {
        /// Name of the joint.
        joint: String,
        /// Where it starts.
        value: f64,
        /// The lower limit.
        lower: f64,
        /// The upper one.
        upper: f64,
    },
    /// A rod or rope of another length than its points allow.
    #[error(
        "`{name}` has length {length}, but its points are {distance} apart at the start: leave out the length of a rod, and make a rope no shorter"
    )]
    Length {
        /// Name of the rod or rope.
        name: String,
        /// The length given.
        length: f64,
        /// The distance of its points.
        distance: f64,
    },
    /// A motor that drives what does not move, or what another motor drives.
    #[error(
        "the motor of `{joint}` drives a freedom that loops or other motors already fix: remove one of them"
    )]
    IdleMotor {
        /// Name of the row.
        joint: String,
    },
    /// Nothing in it.
    #[error("a mechanism needs at least one node or particle")]
    Empty,
}
