//! The spanning tree of a mechanism's joints.
//!
//! It hangs on the ground; nodes that no joint ties to it are roots of trees of their own, with six freedoms $(u_\varphi, \theta)$. A joint
//! that joins what the joints before it have joined already closes a loop and is no part of the tree. Nodes are kept in an
//! order in which all that hangs on a node comes directly after it: a freedom moves a range of them.
//!
//! Few unknowns are not always cheap: in the freedoms of its joints a chain has a full matrix, with multipliers a banded one.
//! Beyond some sixteen links multipliers are faster.

use std::ops::Range;

use nsm_geom::Mat3;

use super::joint::{End, Joint, JointId, JointKind};
use super::mechanism::Mechanism;
use super::node::{Node, NodeId};

/// The kinematics of a mechanism without the joints that close loops.
#[derive(Clone, Debug)]
pub struct Tree {
    /// Every node with all that hangs on it directly after it.
    pub(super) branches: Vec<Branch>,
    pub(super) joints: Vec<Joint>,
    /// Where the coordinates of each node begin, and the branch that it is.
    pub(super) starts: Vec<usize>,
    branch_of: Vec<usize>,
    /// The branch that hangs on each joint; none if it closes a loop.
    hanging: Vec<Option<usize>>,
    closing: Vec<JointId>,
    pub(super) freedoms: usize,
    /// Coordinates beside the nodes, then those that count turns, each a freedom of its own behind the others.
    pub(super) beside: Vec<usize>,
    /// How many of them count turns, and rest within a step.
    counts: usize,
    names: Vec<String>,
    /// Rotation of each branch in the last placement.
    pub(super) turns: Vec<Mat3>,
    pub(super) placed: Vec<f64>,
    pub(super) dimension: usize,
}

#[derive(Clone, Debug)]
pub(super) struct Branch {
    pub(super) start: usize,
    pub(super) directors: bool,
    pub(super) hang: Hang,
    /// First of its freedoms.
    pub(super) freedom: usize,
    /// Branches below, itself included.
    pub(super) below: usize,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Hang {
    /// A root with a velocity of its own.
    Free,
    /// By a joint on another branch, or on the ground; `forward` if this node is the joint's second end.
    Joint { joint: usize, parent: Option<usize>, forward: bool },
}

impl Mechanism {
    /// The tree of the joints: one that joins what the joints before it have joined already closes a loop.
    pub fn tree(&self) -> Tree {
        Tree::new(self)
    }
}

impl Tree {
    fn new(mechanism: &Mechanism) -> Self {
        let Mechanism { nodes, joints, .. } = mechanism;
        // Node i is vertex i, the ground is the last one.
        let vertex = |end: End| match end {
            End::Ground => nodes.len(),
            End::Node(id) => id.0,
        };
        let mut leader: Vec<usize> = (0..=nodes.len()).collect();
        let mut neighbours = vec![Vec::new(); nodes.len() + 1];
        let mut closing = Vec::new();
        for (j, joint) in joints.iter().enumerate() {
            let [a, b] = joint.ends.map(vertex);
            let (first, second) = (find(&mut leader, a), find(&mut leader, b));
            if first == second {
                closing.push(JointId(j));
            } else {
                leader[first] = second;
                neighbours[a].push((j, b, true));
                neighbours[b].push((j, a, false));
            }
        }
        let mut tree = Self {
            branches: Vec::with_capacity(nodes.len()),
            joints: joints.clone(),
            starts: nodes.iter().map(|n| n.start).collect(),
            branch_of: vec![0; nodes.len()],
            hanging: vec![None; joints.len()],
            closing,
            freedoms: 0,
            beside: (mechanism.scalars.iter().map(|scalar| scalar.at))
                .chain(mechanism.turns.iter().map(|turns| turns.1))
                .collect(),
            counts: mechanism.turns.len(),
            names: Vec::new(),
            turns: vec![Mat3::identity(); nodes.len()],
            placed: vec![0.0; mechanism.dimension],
            dimension: mechanism.dimension,
        };
        let mut seen = vec![false; nodes.len() + 1];
        for root in std::iter::once(nodes.len()).chain(0..nodes.len()) {
            if !seen[root] {
                tree.grow(root, nodes, &neighbours, &mut seen);
            }
        }
        tree.names.extend(mechanism.scalars.iter().map(|scalar| scalar.name.clone()));
        for &(joint, _) in &mechanism.turns {
            tree.names.push(format!("{}: turns", joints[joint.0].name));
        }
        tree.freedoms = tree.names.len();
        for k in (0..tree.branches.len()).rev() {
            if let Hang::Joint { parent: Some(parent), .. } = tree.branches[k].hang {
                tree.branches[parent].below += tree.branches[k].below;
            }
        }
        tree
    }

    /// Appends all that hangs on a root, depth first.
    fn grow(
        &mut self,
        root: usize,
        nodes: &[Node],
        neighbours: &[Vec<(usize, usize, bool)>],
        seen: &mut [bool],
    ) {
        let mut stack = vec![(root, Hang::Free)];
        while let Some((at, hang)) = stack.pop() {
            seen[at] = true;
            let branch = nodes.get(at).map(|node| {
                self.push(node, hang);
                self.branch_of[at] = self.branches.len() - 1;
                self.branch_of[at]
            });
            if let Hang::Joint { joint, .. } = hang {
                self.hanging[joint] = branch;
            }
            for &(joint, next, forward) in neighbours[at].iter().rev() {
                if !seen[next] {
                    stack.push((next, Hang::Joint { joint, parent: branch, forward }));
                }
            }
        }
    }

    fn push(&mut self, node: &Node, hang: Hang) {
        let (name, kinds): (&str, &[&str]) = match hang {
            Hang::Free if !node.directors => (&node.name, &["x", "y", "z"]),
            Hang::Free => (&node.name, &["x", "y", "z", "turn x", "turn y", "turn z"]),
            Hang::Joint { joint, .. } => {
                let joint = &self.joints[joint];
                (&joint.name, joint.kind.freedom_names())
            }
        };
        self.names.extend(kinds.iter().map(|kind| format!("{name}: {kind}")));
        let freedom = self.freedoms;
        self.freedoms = self.names.len();
        let (start, directors) = (node.start, node.directors);
        self.branches.push(Branch { start, directors, hang, freedom, below: 1 });
    }

    /// Entries of the columns of one branch's freedoms.
    fn columns(&self, k: usize) -> Vec<(usize, usize)> {
        let Branch { freedom, below, .. } = self.branches[k];
        let mut entries = Vec::new();
        for (i, turns) in self.turning(k).into_iter().enumerate() {
            for node in &self.branches[k..k + below] {
                let size = if turns && node.directors { 12 } else { 3 };
                entries.extend((node.start..node.start + size).map(|c| (c, freedom + i)));
            }
        }
        entries
    }

    /// Which of a branch's freedoms turn what is below, and which shift it.
    fn turning(&self, k: usize) -> Vec<bool> {
        let branch = &self.branches[k];
        match branch.hang {
            Hang::Free if !branch.directors => vec![false; 3],
            Hang::Free => vec![false, false, false, true, true, true],
            Hang::Joint { joint, .. } => match self.joints[joint].kind {
                JointKind::Fixed => vec![],
                JointKind::Revolute => vec![true],
                JointKind::Prismatic => vec![false],
                JointKind::Cylindrical => vec![true, false],
                JointKind::Spherical => vec![true; 3],
                JointKind::Planar => vec![true, false, false],
            },
        }
    }

    /// Joints that close loops and are no part of the tree.
    pub fn closing(&self) -> &[JointId] {
        &self.closing
    }

    /// Names of the freedoms: `hinge: angle`, `body: turn x`, …
    pub fn freedom_names(&self) -> &[String] {
        &self.names
    }

    /// Nonzeros of $P$ and of the tangent as (coordinate, freedom), in the order of their values. There are as many as a
    /// freedom has nodes below it, twelve entries each: of a chain, the square of its length.
    pub fn entry_places(&self) -> Vec<(usize, usize)> {
        let beside = (self.jointed()..).zip(&self.beside).map(|(f, &c)| (c, f));
        (0..self.branches.len()).flat_map(|k| self.columns(k)).chain(beside).collect()
    }

    /// Freedoms of a joint, in the order of its rates; none if it closes a loop.
    pub fn joint_freedoms(&self, joint: JointId) -> Option<Range<usize>> {
        let branch = (*self.hanging.get(joint.0)?)?;
        Some(self.freedoms_of(branch))
    }

    /// Freedoms of a root, its velocity before its angular velocity; the joint on which a node hangs otherwise.
    pub(super) fn root_freedoms(&self, node: NodeId) -> Result<Range<usize>, (JointId, End)> {
        let branch = self.branch_of[node.0];
        match self.branches[branch].hang {
            Hang::Free => Ok(self.freedoms_of(branch)),
            Hang::Joint { joint, forward, .. } => {
                Err((JointId(joint), self.joints[joint].ends[usize::from(!forward)]))
            }
        }
    }

    /// Freedoms in which something moves: those before the counts of turns.
    pub(super) fn moving(&self) -> usize {
        self.freedoms - self.counts
    }

    /// Freedoms of roots and joints: those before the coordinates beside the nodes.
    pub(super) fn jointed(&self) -> usize {
        self.freedoms - self.beside.len()
    }

    pub(super) fn freedoms_of(&self, branch: usize) -> Range<usize> {
        let end = self.branches.get(branch + 1).map_or(self.jointed(), |next| next.freedom);
        self.branches[branch].freedom..end
    }
}

/// The representative of a set of vertices that are joined already.
fn find(leader: &mut [usize], mut at: usize) -> usize {
    while leader[at] != at {
        leader[at] = leader[leader[at]];
        at = leader[at];
    }
    at
}
