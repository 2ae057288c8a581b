//! What the joints leave free: null space matrix and reparametrisation of open chains (\[LMO\] sections 5.1 to 5.4).
//!
//! A freedom of the [`Tree`] moves everything below its joint as one rigid body, so that its column of $P$ is a
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

use nsm_geom::{Mat3, Vec3, so3};

use super::joint::{End, Joint, JointKind};
use super::tree::{Branch, Hang, Tree};
use crate::{ConstraintError, Reparametrisation};

/// Motion of a subtree by one freedom.
enum Twist {
    Turn { w: Vec3, through: Vec3 },
    Shift { v: Vec3 },
}

impl Tree {
    /// Writes $P(q)$ in the order of [`entry_places`](Self::entry_places): the tangent of the reparametrisation at $u = 0$.
    ///
    /// # Panics
    /// If a slice is too short.
    pub fn null_space(&mut self, q: &[f64], out: &mut [f64]) {
        self.turns.fill(Mat3::identity());
        self.fill(None, q, out);
    }

    /// Writes the velocities $P(q)\\,\nu$ of all coordinates, at a cost that is linear in the nodes.
    ///
    /// # Panics
    /// If a slice is too short.
    pub fn velocities(&mut self, q: &[f64], rates: &[f64], out: &mut [f64]) {
        self.turns.fill(Mat3::identity());
        // Velocity of the point at the origin and angular velocity, branch by branch.
        let mut motions = vec![(Vec3::zeros(), Vec3::zeros()); self.branches.len()];
        for k in 0..self.branches.len() {
            let branch = &self.branches[k];
            let mut motion = match branch.hang {
                Hang::Joint { parent: Some(parent), .. } => motions[parent],
                _ => (Vec3::zeros(), Vec3::zeros()),
            };
            for (i, f) in self.freedoms_of(k).enumerate() {
                match self.twist(k, i, None, q) {
                    Twist::Shift { v } => motion.0 += v * rates[f],
                    Twist::Turn { w, through } => {
                        motion.0 -= w.cross(&through) * rates[f];
                        motion.1 += w * rates[f];
                    }
                }
            }
            let start = branch.start;
            store(motion.0 + motion.1.cross(&vector(q, start)), start, out);
            for d in (start + 3..start + 12).step_by(3).filter(|_| branch.directors) {
                store(motion.1.cross(&vector(q, d)), d, out);
            }
            motions[k] = motion;
        }
        for (rate, &c) in rates[self.jointed()..].iter().zip(&self.beside) {
            out[c] = *rate;
        }
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
            for i in 0..self.freedoms_of(k).len() {
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
        rest[..self.beside.len()].fill(1.0);
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
        Some(self.entry_places())
    }

    fn place(&mut self, u: &[f64], q: &[f64], out: &mut [f64]) -> Result<(), ConstraintError> {
        let n = self.dimension;
        for (what, length, expected) in [
            ("the vector of freedoms", u.len(), self.freedoms),
            ("the coordinate vector", q.len(), n),
            ("the new coordinate vector", out.len(), n),
        ] {
            if length != expected {
                return Err(ConstraintError::Length { what, length, expected });
            }
        }
        for k in 0..self.branches.len() {
            self.place_branch(k, u, q, out);
        }
        for (u, &c) in u[self.jointed()..].iter().zip(&self.beside) {
            out[c] = q[c] + u;
        }
        Ok(())
    }

    fn tangent(&mut self, u: &[f64], q: &[f64], out: &mut [f64]) -> Result<(), ConstraintError> {
        let mut placed = std::mem::take(&mut self.placed);
        let done = self.place(u, q, &mut placed);
        if done.is_ok() {
            self.fill(Some(u), &placed, out);
        }
        self.placed = placed;
        done
    }
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
