//! What joints carry: the forces of their rows as a force and a torque.
//!
//! The rows of a joint with forces $\lambda_i$ act on the coordinates of its second end as $f = \sum_i\lambda_i\nabla g_i$, which is the force $F = f_\varphi$ and the
//! torque $\sum_I d_I\times f_I$ about the node's point, hence $T = \sum_I d_I\times f_I - (x - \varphi)\times F$ about the joint's point $x$.

use nsm_geom::Vec3;

use super::coupling::PlacedCoupling;
use super::elements::NamedField;
use super::joint::{End, Joint, JointId};
use super::mechanism::Mechanism;
use crate::Rows;

/// What a joint carries: the action of its first end on the second, in the joint's triad $(n, a, b)$ as the first end carries it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reaction {
    /// The force, at the joint's point as the second end carries it.
    pub force: [f64; 3],
    /// The torque about that point.
    pub torque: [f64; 3],
}

impl Mechanism {
    /// What a joint carries, from the force of each row of the [constraints](Self::constraints) (positive along its gradient); motors are no
    /// part of it.
    pub fn reaction(&self, joint: JointId, rows: &Rows, forces: &[f64], q: &[f64]) -> Reaction {
        let Some(found) = self.joints.get(joint.0) else { return Reaction::default() };
        // The second end, or the first with the opposite action where the second is the ground.
        let (e, sign) = if matches!(found.ends[1], End::Node(_)) { (1, 1.0) } else { (0, -1.0) };
        let End::Node(id) = found.ends[e] else { return Reaction::default() };
        let start = self.nodes[id.0].start;
        let mut acting = [0.0; 12];
        let mut block = vec![0.0; rows.largest_block()];
        for i in self.rows_of(joint, rows.len()) {
            let columns = rows.columns(i);
            rows.field(i).gradient(q, 0.0, &mut block[..columns.len()]);
            for (&c, g) in columns.iter().zip(&block) {
                if let Some(f) = c.checked_sub(start).and_then(|k| acting.get_mut(k)) {
                    *f += sign * forces[i] * g;
                }
            }
        }
        let at = |x: &[f64], k: usize| Vec3::from_column_slice(&x[k..k + 3]);
        let force = at(&acting, 0);
        let turning: Vec3 = (1..4).map(|i| at(q, start + 3 * i).cross(&at(&acting, 3 * i))).sum();
        let arm = self.anchor(found, e, q) - at(q, start);
        let torque = turning - arm.cross(&force);
        let triad = self.triad(found, 0, q);
        Reaction { force: triad.map(|n| n.dot(&force)), torque: triad.map(|n| n.dot(&torque)) }
    }

    /// Rows that drive freedoms or tie parts together without a joint: their names, and where they stand in the constraints.
    pub fn coupling_rows(&self) -> impl Iterator<Item = (&str, usize)> {
        let first = self.first_coupling();
        let single = |c: &PlacedCoupling| c.motor || c.joint.is_none();
        let listed = self.couplings.iter().enumerate().filter(move |(_, c)| single(c));
        listed.map(move |(k, PlacedCoupling { row: NamedField(name, _), .. })| {
            (name.as_str(), first + k)
        })
    }

    fn first_coupling(&self) -> usize {
        self.first_joint_row() + self.joints.iter().map(|j| j.kind.rows()).sum::<usize>()
    }

    fn first_joint_row(&self) -> usize {
        6 * self.nodes.iter().filter(|node| node.directors).count()
    }

    /// The rows that hold a joint together.
    pub(super) fn rows_of(&self, joint: JointId, all: usize) -> Vec<usize> {
        let before: usize = self.joints[..joint.0].iter().map(|j: &Joint| j.kind.rows()).sum();
        let first = self.first_joint_row() + before;
        let coupled = self.couplings.iter().enumerate();
        let of_joint = coupled.filter(|(_, c)| c.joint == Some(joint) && !c.motor);
        let base = self.first_coupling();
        (first..first + self.joints[joint.0].kind.rows())
            .chain(of_joint.map(|(k, _)| base + k))
            .filter(|&i| i < all)
            .collect()
    }
}
