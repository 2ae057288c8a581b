//! What the joints leave free: null space matrix and reparametrisation of open chains (\[LMO\] 5.1–5.4).
//!
//! The spanning tree of the joints hangs on the ground; nodes that no joint ties to it are roots of trees of their own
//! with six freedoms $(u_\varphi, \theta)$. A freedom moves everything below its joint as one rigid body, so that its column of $P$ is a
//! twist of that subtree: with angular velocity $w$ through a point $c$, or with velocity $v$,
//! $$ \delta\varphi = w \times (\varphi - c) + v, \qquad \delta d_I = w \times d_I $$
//! (\[LMO\] (59), (83), (92) with relative instead of absolute rotations for S, which span the same space).
//!
//! In a step, node $k$ turns by $R_k$, $d_I \mapsto R_k d_I$. Across a joint from its first end to its second,
//! $$ R_2 = R_1 \exp(\hat\vartheta), \qquad
//!    x^2 - x^1 = R_1\big[(x^2 - x^1)\_n + n_n s\big], \qquad \varphi^2 = x^2 - X^2_I d^2_I $$
//! with $\vartheta = \theta n_n$ for R, C, E, any vector for S and zero for P (\[LMO\] (61), (86), (93)); the travel $s$ is along $n$ for P and C and along $a, b$ for
//! E. Positions follow from the joints' own components, so they do not drift. The tangent at $u$ is $P(q\_{n+1})$ with the
//! rotation vectors' columns times $R_1 \operatorname{dexp}_\vartheta$.

use std::ops::Range;

use nsm_geom::{Mat3, Vec3, so3};

use super::joint::{End, Joint, JointId, JointKind};
use super::mechanism::Mechanism;
use super::node::Node;
use crate::{ConstraintError, Reparametrisation};

/// The kinematics of a mechanism without the joints that close loops.
#[derive(Clone, Debug)]
pub struct Tree {
    /// Every node with all that hangs on it directly after it.
    branches: Vec<Branch>,
    joints: Vec<Joint>,
    /// Where the coordinates of each node begin.
    starts: Vec<usize>,
    closing: Vec<JointId>,
    pattern: Vec<(usize, usize)>,
    freedoms: usize,
    names: Vec<String>,
    /// Rotation of each branch in the last placement.
    turns: Vec<Mat3>,
    placed: Vec<f64>,
}

#[derive(Clone, Debug)]
struct Branch {
    start: usize,
    directors: bool,
    hang: Hang,
    /// First of its freedoms.
    freedom: usize,
    /// Branches below, itself included.
    below: usize,
}

#[derive(Clone, Copy, Debug)]
enum Hang {
    /// A root with a velocity of its own.
    Free,
    /// By a joint on another branch, or on the ground; `forward` if this node is the joint's second end.
    Joint { joint: usize, parent: Option<usize>, forward: bool },
}

/// Motion of a subtree by one freedom.
enum Twist {
    Turn { w: Vec3, through: Vec3 },
    Shift { v: Vec3 },
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
            closing,
            pattern: Vec::new(),
            freedoms: 0,
            names: Vec::new(),
            turns: vec![Mat3::identity(); nodes.len()],
            placed: vec![0.0; mechanism.dimension],
        };
        let mut seen = vec![false; nodes.len() + 1];
        for root in std::iter::once(nodes.len()).chain(0..nodes.len()) {
            if !seen[root] {
                tree.grow(root, nodes, &neighbours, &mut seen);
            }
        }
        for k in (0..tree.branches.len()).rev() {
            if let Hang::Joint { parent: Some(parent), .. } = tree.branches[k].hang {
                tree.branches[parent].below += tree.branches[k].below;
            }
        }
        tree.pattern = (0..tree.branches.len()).flat_map(|k| tree.columns(k)).collect();
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
                self.branches.len() - 1
            });
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

    /// Nonzeros of $P$ and of the tangent as (coordinate, freedom), in the order of their values.
    pub fn entry_places(&self) -> &[(usize, usize)] {
        &self.pattern
    }

    /// Number of those nonzeros.
    pub fn entries(&self) -> usize {
        self.pattern.len()
    }

    /// Freedoms of a joint, in the order of its rates; none if it closes a loop.
    pub fn joint_freedoms(&self, joint: JointId) -> Option<Range<usize>> {
        let by = |b: &&Branch| matches!(b.hang, Hang::Joint { joint: j, .. } if j == joint.0);
        let branch = self.branches.iter().find(by)?;
        Some(branch.freedom..branch.freedom + self.joints[joint.0].kind.freedoms())
    }

    /// Freedoms of a root, its velocity before its angular velocity; the joint on which a node hangs otherwise.
    pub(super) fn root_freedoms(&self, start: usize) -> Result<Range<usize>, (JointId, End)> {
        let Some(branch) = self.branches.iter().find(|b| b.start == start) else { return Ok(0..0) };
        if let Hang::Joint { joint, forward, .. } = branch.hang {
            return Err((JointId(joint), self.joints[joint].ends[usize::from(!forward)]));
        }
        let size = if branch.directors { 6 } else { 3 };
        Ok(branch.freedom..branch.freedom + size)
    }

    /// Writes $P(q)$ in the order of the pattern: the tangent of the reparametrisation at $u = 0$.
    pub fn null_space(&mut self, q: &[f64], out: &mut [f64]) {
        self.turns.fill(Mat3::identity());
        self.fill(None, q, out);
    }

    /// Turns and places one branch; everything above it is in place.
    fn place_branch(&mut self, k: usize, u: &[f64], q: &[f64], out: &mut [f64]) {
        let Branch { start, directors, hang, freedom, .. } = self.branches[k];
        let u = &u[freedom..];
        match hang {
            Hang::Free => {
                let position = vector(q, start) + vector(u, 0);
                if directors {
                    self.turns[k] = so3::exp(&vector(u, 3));
                    turn(&self.turns[k], start, q, out);
                }
                store(position, start, out);
            }
            Hang::Joint { joint, parent, forward } => {
                let joint = &self.joints[joint];
                let above = parent.map_or(Mat3::identity(), |p| self.turns[p]);
                let step = so3::exp(&self.rotation(joint, u, q));
                self.turns[k] = if forward { above * step } else { above * step.transpose() };
                turn(&self.turns[k], start, q, out);
                let gap = self.gap(joint, u, q, out);
                // The node's own point is put at the origin until the joint says where it is.
                store(Vec3::zeros(), start, out);
                let (mine, other) = (usize::from(forward), usize::from(!forward));
                let arm = self.point(joint, mine, out);
                let gap = if forward { gap } else { -gap };
                let position = self.point(joint, other, out) + gap - arm;
                store(position, start, out);
            }
        }
    }

    /// Rotation vector of a joint's second end relative to the first, in the configuration before the step.
    fn rotation(&self, joint: &Joint, u: &[f64], q: &[f64]) -> Vec3 {
        match joint.kind {
            JointKind::Revolute | JointKind::Cylindrical | JointKind::Planar => {
                self.along(joint, 0, q) * u[0]
            }
            JointKind::Spherical => vector(u, 0),
            JointKind::Prismatic | JointKind::Fixed => Vec3::zeros(),
        }
    }

    /// $x^2 - x^1$ after the step, from the travel and the directors of the first end that are in place.
    fn gap(&self, joint: &Joint, u: &[f64], q: &[f64], out: &[f64]) -> Vec3 {
        let travels: &[(usize, usize)] = match joint.kind {
            JointKind::Prismatic => &[(0, 0)],
            JointKind::Cylindrical => &[(0, 1)],
            JointKind::Planar => &[(1, 1), (2, 2)],
            JointKind::Revolute | JointKind::Spherical | JointKind::Fixed => return Vec3::zeros(),
        };
        let before = self.point(joint, 1, q) - self.point(joint, 0, q);
        let mut gap = Vec3::zeros();
        for &(direction, freedom) in travels {
            let travel = before.dot(&self.along(joint, direction, q)) + u[freedom];
            gap += self.along(joint, direction, out) * travel;
        }
        gap
    }

    /// Writes the columns of all freedoms at a configuration that was reached from another by the steps `u`.
    fn fill(&self, u: Option<&[f64]>, q: &[f64], out: &mut [f64]) {
        let mut rest = out;
        for k in 0..self.branches.len() {
            let branch = &self.branches[k];
            let below = &self.branches[k..k + branch.below];
            let u = u.map(|u| &u[branch.freedom..]);
            for i in 0..self.count(k) {
                match self.twist(k, i, u, q) {
                    Twist::Shift { v } => {
                        for _ in below {
                            rest = put(rest, v);
                        }
                    }
                    Twist::Turn { w, through } => {
                        for node in below {
                            rest = put(rest, w.cross(&(vector(q, node.start) - through)));
                            for d in (0..3).filter(|_| node.directors) {
                                rest = put(rest, w.cross(&vector(q, node.start + 3 + 3 * d)));
                            }
                        }
                    }
                }
            }
        }
    }

    fn count(&self, k: usize) -> usize {
        let end = self.branches.get(k + 1).map_or(self.freedoms, |next| next.freedom);
        end - self.branches[k].freedom
    }

    /// The motion of what is below branch `k` by its freedom `i`.
    fn twist(&self, k: usize, i: usize, u: Option<&[f64]>, q: &[f64]) -> Twist {
        let branch = &self.branches[k];
        // Columns of the rotation vector of a step.
        let tangent = |at: usize, i: usize| match u {
            None => Vec3::ith(i, 1.0),
            Some(u) => so3::dexp_space(&vector(u, at)).column(i).into_owned(),
        };
        match branch.hang {
            Hang::Free if i < 3 => Twist::Shift { v: Vec3::ith(i, 1.0) },
            Hang::Free => Twist::Turn { w: tangent(3, i - 3), through: vector(q, branch.start) },
            Hang::Joint { joint, parent, forward } => {
                let sign = if forward { 1.0 } else { -1.0 };
                let joint = &self.joints[joint];
                let shift = |a: usize| Twist::Shift { v: self.along(joint, a, q) * sign };
                let through = self.point(joint, 1, q);
                match (joint.kind, i) {
                    (JointKind::Prismatic, _) | (JointKind::Cylindrical, 1) => shift(0),
                    (JointKind::Planar, 1 | 2) => shift(i),
                    (JointKind::Spherical, _) => {
                        let first = if forward { parent } else { Some(k) };
                        let turn = first.map_or(Mat3::identity(), |b| self.turns[b]);
                        Twist::Turn { w: turn * tangent(0, i) * sign, through }
                    }
                    _ => Twist::Turn { w: self.along(joint, 0, q) * sign, through },
                }
            }
        }
    }

    /// A joint's point as one of its ends carries it.
    fn point(&self, joint: &Joint, e: usize, q: &[f64]) -> Vec3 {
        match joint.ends[e] {
            End::Ground => joint.anchors[e].into(),
            End::Node(id) => {
                vector(q, self.starts[id.0]) + carried(q, self.starts[id.0], joint.anchors[e])
            }
        }
    }

    /// $n$, $a$ or $b$ of a joint as its first end carries it.
    fn along(&self, joint: &Joint, k: usize, q: &[f64]) -> Vec3 {
        match joint.ends[0] {
            End::Ground => joint.triads[0][k].into(),
            End::Node(id) => carried(q, self.starts[id.0], joint.triads[0][k]),
        }
    }
}

impl Reparametrisation for Tree {
    fn freedoms(&self) -> usize {
        self.freedoms
    }

    fn pattern(&self) -> Option<Vec<(usize, usize)>> {
        Some(self.pattern.clone())
    }

    fn place(&mut self, u: &[f64], q: &[f64], out: &mut [f64]) -> Result<(), ConstraintError> {
        for k in 0..self.branches.len() {
            self.place_branch(k, u, q, out);
        }
        Ok(())
    }

    fn tangent(&mut self, u: &[f64], q: &[f64], out: &mut [f64]) -> Result<(), ConstraintError> {
        let mut placed = std::mem::take(&mut self.placed);
        self.place(u, q, &mut placed)?;
        self.fill(Some(u), &placed, out);
        self.placed = placed;
        Ok(())
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

fn vector(x: &[f64], start: usize) -> Vec3 {
    Vec3::new(x[start], x[start + 1], x[start + 2])
}

fn store(x: Vec3, start: usize, out: &mut [f64]) {
    out[start..start + 3].copy_from_slice(x.as_slice());
}

/// Writes three entries at the front and returns the rest.
fn put(out: &mut [f64], x: Vec3) -> &mut [f64] {
    let (front, rest) = out.split_at_mut(3);
    front.copy_from_slice(x.as_slice());
    rest
}

/// $X_I d_I$ of the node whose coordinates begin at `start`.
fn carried(q: &[f64], start: usize, x: [f64; 3]) -> Vec3 {
    vector(q, start + 3) * x[0] + vector(q, start + 6) * x[1] + vector(q, start + 9) * x[2]
}

/// Turns the directors of a node.
fn turn(rotation: &Mat3, start: usize, q: &[f64], out: &mut [f64]) {
    for d in (start + 3..start + 12).step_by(3) {
        store(rotation * vector(q, d), d, out);
    }
}
