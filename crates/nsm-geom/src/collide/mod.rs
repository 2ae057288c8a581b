//! Contacts between bodies: which pairs are near, and where they would touch.
//!
//! A **feature** is what touches: a point of one body and a face of the other, two edges, two round surfaces. It is found once and can then
//! be evaluated at any pose: gap, normal and the two closest points, with
//! $$ \dot{\mathrm{gap}} = n\cdot(\dot p_B - \dot p_A), \qquad p_B = p_A + \mathrm{gap}\\,n, $$
//! $p$ being material points of the bodies at that instant. A pair has one **axis** at a time: a face of one of the bodies, or a pair of
//! edges, or the common normal of two round surfaces; all its features belong to that axis, so that a box on a box touches with the corners
//! of the polygon that the two faces share.
//!
//! - [`Collider`]: a shape cut into convex parts, each a core with a radius.
//! - [`Collider::detect`]: the features of a pair, from the poses at the start of a step and at its end.
//! - [`Collider::detect_plane`]: the same against a plane.
//! - [`Neighbours`]: the pairs that are near, by a grid, kept until something has moved far.

mod beside;
mod clip;
mod feature;
mod neighbours;
mod part;
mod planes;
mod round;
mod shares;
mod solids;

pub use feature::{Feature, Side, Touch};
pub use neighbours::Neighbours;
pub use part::Collider;
pub use shares::{share, shares};

use crate::{Pose, Vec3};

/// A feature that was found, with its name: the same feature has the same key in the next step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Found {
    /// What touches.
    pub feature: Feature,
    /// Its name within the pair.
    pub key: u64,
    /// Number of the pair of parts that it belongs to.
    pub parts: u32,
    /// Its gap at the end of the step.
    pub gap: f64,
}

/// Where two bodies are: first and second, at the start of a step and at its end.
#[derive(Debug, Clone, Copy)]
pub struct Motion<'a> {
    /// At the start.
    pub start: [&'a Pose; 2],
    /// At the end.
    pub end: [&'a Pose; 2],
}

/// Room for detection, and what it remembers of a pair from step to step is in [`Axis`].
#[derive(Debug, Clone, Default)]
pub struct Scratch {
    polygon: Vec<clip::Corner>,
    clipped: Vec<clip::Corner>,
    axes: Vec<solids::Candidate>,
    normals: Vec<Vec3>,
}

/// The axis along which a pair was last seen: a guess for the next time.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Axis {
    /// A unit vector from the first body to the second, in the frame of the first; zero if none is known.
    pub normal: Vec3,
    /// Key of the face, if a face it was.
    face: Option<(Side, u32)>,
}
