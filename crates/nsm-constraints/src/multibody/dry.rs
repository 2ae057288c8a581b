//! Dry friction on the freedoms of joints: what resists, and how much it can.
//!
//! A torque (force, for a slide) $\tau$ against the rate $\omega$ of a freedom, with sticking exact:
//! $$ \lvert\tau\rvert \le \tau_0 + k\\,\lvert R\rvert, \qquad \omega \ne 0 \Rightarrow \tau = -(\tau_0 + k\\,\lvert R\rvert)\\,\operatorname{sign}\omega . $$
//! $\tau_0$ is given. $R$ is what the joint carries at that instant: in a bearing of radius $r$ the force through its point, $k = \mu r$; in a slide the force
//! across its axis, $k = \mu$. Torques that bend a bearing or tilt a slide are no part of it.

use super::elements::not_negative;
use super::error::MechanismError;
use super::gauge::Gauge;
use super::joint::{JointId, JointKind};
use super::mechanism::Mechanism;

/// Dry friction on one freedom of a joint.
#[derive(Clone, Debug)]
pub struct JointFriction {
    /// Name of the joint.
    pub name: String,
    /// The freedom; its rate is what is resisted.
    pub freedom: Gauge,
    /// $\tau_0$.
    pub bound: f64,
    /// $k$.
    pub load: f64,
    pub(super) joint: JointId,
}

impl Mechanism {
    /// Puts dry friction on a freedom of a joint: `bound` is $\tau_0$, `load` is $k$.
    ///
    /// # Errors
    /// Numbers that are negative or not finite; a load at a joint that is no revolute or prismatic pair.
    pub fn add_joint_friction(
        &mut self,
        joint: JointId,
        gauge: Gauge,
        (bound, load): (f64, f64),
    ) -> Result<(), MechanismError> {
        let found = self.known_joint(joint)?;
        let (name, kind) = (found.name.clone(), found.kind);
        not_negative(&name, "the dry friction of a joint", bound)?;
        not_negative(&name, "the friction of a bearing", load)?;
        if load > 0.0 && carrying(kind) == 0 {
            return Err(MechanismError::NoBearing { joint: name, kind });
        }
        self.frictions.push(JointFriction { name, freedom: gauge, bound, load, joint });
        Ok(())
    }

    /// Dry friction on the freedoms of joints.
    pub fn frictions(&self) -> &[JointFriction] {
        &self.frictions
    }

    /// The constraints whose forces make up the load $R$ of a friction.
    pub fn load_rows(&self, friction: &JointFriction) -> Vec<usize> {
        let Some(joint) = self.joints.get(friction.joint.index()) else { return Vec::new() };
        let rows = self.rows_of(friction.joint, usize::MAX);
        rows.into_iter().take(carrying(joint.kind)).collect()
    }
}

/// How many of the rows of a joint, its first, carry the force that presses on what rubs.
fn carrying(kind: JointKind) -> usize {
    match kind {
        JointKind::Revolute => 3,
        JointKind::Prismatic => 2,
        _ => 0,
    }
}
