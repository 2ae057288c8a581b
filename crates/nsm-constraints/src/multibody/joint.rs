//! The lower kinematic pairs and rigid connections, as rows on directors.
//!
//! A joint lies at a point with an axis $n$; $x^1, x^2$ are the points of its two ends that coincide at the start,
//! $(n, a, b)$ a triad that both ends carry along. Motions are those of the second end relative to the first.
//!
//! | kind | freedoms | rows |
//! |---|---|---|
//! | revolute R | angle about $n$ | $x^2 - x^1 = 0$, $n^1 \cdot d^2_I = \eta_I$ for two directors (\[LMO\] (88)) |
//! | prismatic P | travel along $n$ | $(x^2 - x^1) \cdot a^1 = (x^2 - x^1) \cdot b^1 = 0$, no turn |
//! | cylindrical C | angle and travel | $(x^2 - x^1) \cdot a^1 = (x^2 - x^1) \cdot b^1 = 0$, $n^1 \cdot d^2_I = \eta_I$ |
//! | spherical S | three rotations | $x^2 - x^1 = 0$ (\[LMO\] (79)) |
//! | planar E | angle, travel along $a$ and $b$ | $(x^2 - x^1) \cdot n^1 = 0$, $n^1 \cdot d^2_I = \eta_I$ |
//! | fixed | none | $x^2 - x^1 = 0$, no turn |
//!
//! "No turn" is $n^1 \cdot a^2 = n^1 \cdot b^2 = a^1 \cdot b^2 = 0$. Of the rows $n^1 \cdot d^2_I$ the one left out is that of the director
//! with the largest $|n \cdot d_I|$: the pair $I, J$ is singular if and only if $n$ is orthogonal to the third director, not
//! where it is collinear with one of the pair (\[LMO\] Remark 5.2). Since $n \cdot d_I$ is constant, a good choice stays good.

use nsm_geom::Vec3;

use super::form::{self, VectorForm, component, difference, product};
use super::node::{Node, NodeId};
use crate::{ConstraintError, Rows};

/// A joint of a mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct JointId(pub(super) usize);

impl JointId {
    /// Its number, in the order in which joints were added.
    pub fn index(self) -> usize {
        self.0
    }
}

/// What a joint is fastened to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum End {
    /// The world at rest.
    Ground,
    /// A node.
    Node(NodeId),
}

impl From<NodeId> for End {
    fn from(node: NodeId) -> Self {
        Self::Node(node)
    }
}

/// Which relative motions a joint allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JointKind {
    /// A hinge: turns about its axis.
    Revolute,
    /// A slide: travels along its axis.
    Prismatic,
    /// Turns about its axis and travels along it.
    Cylindrical,
    /// A ball joint: turns in every direction.
    Spherical,
    /// Travels in the plane across its axis and turns about it.
    Planar,
    /// No relative motion.
    Fixed,
}

impl JointKind {
    /// Freedoms of the relative motion, $r$.
    pub fn freedoms(self) -> usize {
        match self {
            Self::Fixed => 0,
            Self::Revolute | Self::Prismatic => 1,
            Self::Cylindrical => 2,
            Self::Spherical | Self::Planar => 3,
        }
    }

    /// Constraint rows, $6 - r$.
    pub fn rows(self) -> usize {
        6 - self.freedoms()
    }

    /// Names of the freedoms, in the order of their rates.
    pub fn freedom_names(self) -> &'static [&'static str] {
        match self {
            Self::Fixed => &[],
            Self::Revolute => &["angle"],
            Self::Prismatic => &["travel"],
            Self::Cylindrical => &["angle", "travel"],
            Self::Spherical => &["turn x", "turn y", "turn z"],
            Self::Planar => &["angle", "travel a", "travel b"],
        }
    }

    /// Whether the axis matters.
    pub(super) fn has_axis(self) -> bool {
        !matches!(self, Self::Spherical | Self::Fixed)
    }
}

impl std::fmt::Display for JointKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Revolute => "revolute",
            Self::Prismatic => "prismatic",
            Self::Cylindrical => "cylindrical",
            Self::Spherical => "spherical",
            Self::Planar => "planar",
            Self::Fixed => "fixed",
        })
    }
}

/// $n, a, b$ of a unit axis: the coordinate axis farthest from $n$ made orthogonal to it, and $b = n\times a$.
pub(super) fn triad(axis: Vec3) -> [Vec3; 3] {
    let a = Vec3::ith(axis.iamin(), 1.0);
    let a = (a - axis * axis.dot(&a)).normalize();
    [axis, a, axis.cross(&a)]
}

/// A joint with its point and triad in the components of either end (the world's for the ground).
#[derive(Clone, Debug)]
pub(super) struct Joint {
    pub(super) name: String,
    pub(super) kind: JointKind,
    pub(super) ends: [End; 2],
    pub(super) anchors: [[f64; 3]; 2],
    /// $n, a, b$.
    pub(super) triads: [[[f64; 3]; 3]; 2],
    /// Rates that were set.
    pub(super) rates: Option<Vec<f64>>,
}

impl Joint {
    pub(super) fn new(
        name: &str,
        kind: JointKind,
        ends: [End; 2],
        at: [f64; 3],
        axis: Vec3,
        nodes: &[Node],
    ) -> Self {
        let triad = triad(axis);
        let anchors = ends.map(|end| match end {
            End::Ground => at,
            End::Node(id) => nodes[id.0].pose.components(at),
        });
        let triads = ends.map(|end| match end {
            End::Ground => triad.map(Into::into),
            End::Node(id) => triad.map(|t| nodes[id.0].pose.resolve(t.into())),
        });
        Self { name: name.to_owned(), kind, ends, anchors, triads, rates: None }
    }

    /// The joint's point as end `e` carries it.
    fn point(&self, e: usize, nodes: &[Node]) -> VectorForm {
        match self.ends[e] {
            End::Ground => form::constant(self.anchors[e]),
            End::Node(id) => form::point(nodes[id.0].start, self.anchors[e]),
        }
    }

    /// $n$, $a$ or $b$ as end `e` carries it.
    fn along(&self, e: usize, k: usize, nodes: &[Node]) -> VectorForm {
        match self.ends[e] {
            End::Ground => form::constant(self.triads[e][k]),
            End::Node(id) => form::direction(nodes[id.0].start, self.triads[e][k]),
        }
    }

    /// A director of the second end.
    fn director(&self, i: usize, nodes: &[Node]) -> VectorForm {
        let unit = std::array::from_fn(|k| f64::from(u8::from(k == i)));
        match self.ends[1] {
            End::Ground => form::constant(unit),
            End::Node(id) => form::direction(nodes[id.0].start, unit),
        }
    }

    /// Appends the rows of the joint, zero at the start `q`.
    pub(super) fn push_rows(
        &self,
        nodes: &[Node],
        q: &[f64],
        rows: &mut Rows,
    ) -> Result<(), ConstraintError> {
        let gap = difference(&self.point(1, nodes), &self.point(0, nodes));
        let mut push = |what: &str, row: crate::Quadratic| {
            rows.push(format!("{}: {what}", self.name), row.vanishing_at(q)?)
        };
        match self.kind {
            JointKind::Revolute | JointKind::Spherical | JointKind::Fixed => {
                for (name, form) in ["x", "y", "z"].into_iter().zip(&gap) {
                    push(name, component(form)?)?;
                }
            }
            JointKind::Prismatic | JointKind::Cylindrical => {
                push("across a", product(&gap, &self.along(0, 1, nodes))?)?;
                push("across b", product(&gap, &self.along(0, 2, nodes))?)?;
            }
            JointKind::Planar => push("along axis", product(&gap, &self.along(0, 0, nodes))?)?,
        }
        match self.kind {
            JointKind::Revolute | JointKind::Cylindrical | JointKind::Planar => {
                let axis = self.along(0, 0, nodes);
                for i in self.pair() {
                    push(&format!("axis·d{}", i + 1), product(&axis, &self.director(i, nodes))?)?;
                }
            }
            JointKind::Prismatic | JointKind::Fixed => {
                for (name, k, l) in [("axis·a", 0, 1), ("axis·b", 0, 2), ("a·b", 1, 2)] {
                    push(name, product(&self.along(0, k, nodes), &self.along(1, l, nodes))?)?;
                }
            }
            JointKind::Spherical => {}
        }
        Ok(())
    }

    /// The two directors of the second end whose products with the axis are held.
    pub(super) fn pair(&self) -> [usize; 2] {
        let n = self.triads[1][0].map(f64::abs);
        let left_out = (0..3).fold(0, |best, i| if n[i] > n[best] { i } else { best });
        match left_out {
            0 => [1, 2],
            1 => [0, 2],
            _ => [0, 1],
        }
    }
}
