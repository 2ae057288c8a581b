//! Which constraints of a mechanism say the same twice.
//!
//! Internal rows and the rows of a tree's joints are independent wherever the mechanism is. What closes loops may be
//! redundant: with $t$ freedoms of the tree, $\operatorname{rank} G = n - t + \operatorname{rank} G_c P^o$. A planar linkage in space has three redundant rows a loop, the
//! six-body linkage of \[LMO\] one (Remark 5.4).

use nsm_solvers::small::qr::PivotedQr;

use super::MechanismError;
use super::closure::{Loops, RANK};
use super::joint::{End, JointId};
use super::mechanism::Mechanism;
use super::tree::Tree;
use crate::{ConstraintError, Reparametrisation};

/// Rank of the constraints at a configuration, and what is redundant among them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redundancy {
    /// Number of independent constraints.
    pub rank: usize,
    /// Number of freedoms, $n - \operatorname{rank} G$.
    pub freedoms: usize,
    /// Rows that follow from the others here. They are rows of joints that close loops; others of the same loop could
    /// be left out in their place.
    pub rows: Vec<String>,
    /// The loops to which these rows belong, each as the names of its joints, the closing one last.
    pub loops: Vec<Vec<String>>,
}

impl Mechanism {
    /// Rank, freedoms and redundant rows at a configuration that satisfies the constraints.
    ///
    /// # Errors
    /// A vector of the wrong length, or numbers that are not finite.
    pub fn redundancy(&self, q: &[f64]) -> Result<Redundancy, MechanismError> {
        let n = self.dimension();
        if q.len() != n {
            let what = "the coordinate vector";
            return Err(ConstraintError::Length { what, length: q.len(), expected: n }.into());
        }
        super::mechanism::finite("a coordinate", "the mechanism", q)?;
        let mut tree = self.tree();
        let mut loops = Loops::new(self, &tree)?;
        let (m, t) = (loops.rows.len(), tree.freedoms());
        loops.evaluate_at(&mut tree, q);
        let mut qr = PivotedQr::new(m, t);
        let closing = qr.factor(m, t, &loops.matrix, RANK).unwrap_or(t);
        let mut redundant = qr.redundant().to_vec();
        redundant.sort_unstable();
        let mut rings: Vec<Vec<String>> = Vec::new();
        for &row in &redundant {
            let ring = self.ring(&tree, &loops.joint_of(row, &self.joints));
            if !rings.contains(&ring) {
                rings.push(ring);
            }
        }
        Ok(Redundancy {
            rank: n - t + closing,
            freedoms: t - closing,
            rows: redundant.iter().map(|&i| loops.rows.name(i).to_owned()).collect(),
            loops: rings,
        })
    }

    /// The joints of the loop that a joint closes: the paths from its ends up to where they meet.
    fn ring(&self, tree: &Tree, closing: &str) -> Vec<String> {
        let Some(joint) = self.joints.iter().find(|j| j.name == closing) else { return Vec::new() };
        let [mut first, mut second] = joint.ends.map(|end| path(tree, end));
        while let (Some(a), Some(b)) = (first.last(), second.last())
            && a == b
        {
            first.pop();
            second.pop();
        }
        let joints = first.into_iter().rev().chain(second);
        let names = joints.map(|j| self.joints[j.index()].name.clone());
        names.chain([closing.to_owned()]).collect()
    }
}

/// The joints from an end of a joint up to its root.
fn path(tree: &Tree, mut end: End) -> Vec<JointId> {
    let mut path = Vec::new();
    while let End::Node(id) = end {
        let Err((joint, parent)) = tree.root_freedoms(id) else { break };
        path.push(joint);
        end = parent;
    }
    path
}
