//! What can be read off a configuration: points that bodies carry, angles and travels of joints.

use std::f64::consts::TAU;

use nsm_geom::{Mat3, Vec3, so3};

use super::MechanismError;
use super::joint::{End, Joint, JointId, JointKind};
use super::mechanism::{Mechanism, finite};
use super::node::NodeId;
use crate::ConstraintError;

/// A point that a node carries along, $x = \varphi + X_I d_I$ (\[LMO\] (54)).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    start: usize,
    components: Option<[f64; 3]>,
}

impl Point {
    /// Where it is at `q`; its velocity, if `q` are the velocities.
    ///
    /// # Panics
    /// If `q` is too short for the node.
    pub fn at(&self, q: &[f64]) -> [f64; 3] {
        let mut x: [f64; 3] = std::array::from_fn(|k| q[self.start + k]);
        for (i, component) in self.components.into_iter().flatten().enumerate() {
            for (k, x) in x.iter_mut().enumerate() {
                *x += component * q[self.start + 3 + 3 * i + k];
            }
        }
        x
    }
}

impl Mechanism {
    /// The point that a node carries along and that is here at the start.
    ///
    /// # Errors
    /// An unknown node; a particle, which carries no point but itself; numbers that are not finite.
    pub fn point(&self, node: NodeId, at: [f64; 3]) -> Result<Point, MechanismError> {
        let found = self.with_directors("a point", node)?;
        finite("a point", &found.name, &at)?;
        Ok(Point { start: found.start, components: Some(found.pose.components(at)) })
    }

    /// The node's own point: the centre of mass of a body, the place of a particle.
    ///
    /// # Errors
    /// An unknown node.
    pub fn centre(&self, node: NodeId) -> Result<Point, MechanismError> {
        Ok(Point { start: self.known("a point", node)?.start, components: None })
    }

    /// What a joint's freedoms have done since the start, in the order of its rates, zeros behind them; angles are in
    /// $(-\pi, \pi]$ unless the turns of the joint are counted.
    ///
    /// For a spherical joint it is the rotation vector of the second end relative to the first, in the axes of the world
    /// at the start as the first end carries them.
    ///
    /// # Errors
    /// An unknown joint, or a coordinate vector of the wrong length.
    pub fn joint_coordinates(&self, joint: JointId, q: &[f64]) -> Result<[f64; 3], MechanismError> {
        let joints = self.joints.len();
        let counted = self.turns.iter().find(|turns| turns.0 == joint).map(|turns| turns.1);
        let Some(joint) = self.joints.get(joint.0) else {
            return Err(MechanismError::UnknownJoint { joint: joint.0, joints });
        };
        if q.len() != self.dimension {
            let (length, expected) = (q.len(), self.dimension);
            let what = "the coordinate vector";
            return Err(ConstraintError::Length { what, length, expected }.into());
        }
        let [first, second] = [0, 1].map(|e| Mat3::from_columns(&self.triad(joint, e, q)));
        let turn = first.tr_mul(&second);
        let gap = first.tr_mul(&(self.anchor(joint, 1, q) - self.anchor(joint, 0, q)));
        // About the axis, which is the first of the triad.
        let mut angle = turn.m32.atan2(turn.m22);
        if let Some(at) = counted {
            angle += TAU * (q[at] - angle / TAU).round();
        }
        Ok(match joint.kind {
            JointKind::Revolute => [angle, 0.0, 0.0],
            JointKind::Prismatic => [gap.x, 0.0, 0.0],
            JointKind::Cylindrical => [angle, gap.x, 0.0],
            JointKind::Planar => [angle, gap.y, gap.z],
            JointKind::Spherical => {
                let start = match joint.ends[0] {
                    End::Ground => joint.triads[0].map(Vec3::from),
                    End::Node(_) => self.triad(joint, 0, &self.start_position()),
                };
                (Mat3::from_columns(&start) * so3::log(&turn)).into()
            }
            JointKind::Fixed => [0.0; 3],
        })
    }

    /// $n, a, b$ as an end carries them.
    pub(super) fn triad(&self, joint: &Joint, e: usize, q: &[f64]) -> [Vec3; 3] {
        let triad = joint.triads[e];
        match joint.ends[e] {
            End::Ground => triad.map(Vec3::from),
            End::Node(id) => {
                let start = self.nodes[id.0].start;
                let origin = Vec3::new(q[start], q[start + 1], q[start + 2]);
                triad.map(|n| Vec3::from(Point { start, components: Some(n) }.at(q)) - origin)
            }
        }
    }

    pub(super) fn anchor(&self, joint: &Joint, e: usize, q: &[f64]) -> Vec3 {
        match joint.ends[e] {
            End::Ground => joint.anchors[e].into(),
            End::Node(id) => {
                let (start, components) = (self.nodes[id.0].start, Some(joint.anchors[e]));
                Point { start, components }.at(q).into()
            }
        }
    }
}
