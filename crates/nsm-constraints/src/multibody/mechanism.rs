//! A mechanism: nodes, particles and joints, and what an integrator needs of them.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use nsm_geom::Vec3;

use super::MechanismError;
use super::beam::PlacedBeam;
use super::coupling::PlacedCoupling;
use super::elements::{NamedField, NamedForce};
use super::joint::{End, Joint, JointId, JointKind};
use super::load::Load;
use super::node::{Inertia, Node, NodeId, Pose, check_mass};
use super::scalar::Scalar;
use crate::{ConstraintError, Quadratic, Rows};

/// Rigid bodies, massless frames and particles, joined to each other and to the ground.
///
/// ```
/// use nsm_constraints::multibody::{End, Inertia, JointKind, Mechanism, Pose};
///
/// // A bar of length 1 on a hinge at the origin, lying along x and falling about y.
/// let mut mechanism = Mechanism::new().with_gravity([0.0, 0.0, -9.81])?;
/// let bar = mechanism.add_body("bar", Inertia::cuboid(2.0, [1.0, 0.1, 0.1]), Pose::at([0.5, 0.0, 0.0]))?;
/// mechanism.add_joint(
///     "hinge", JointKind::Revolute, [End::Ground, bar.into()], [0.0; 3], [0.0, 1.0, 0.0],
/// )?;
/// assert_eq!(mechanism.dimension(), 12);
/// assert_eq!(mechanism.constraints()?.len(), 6 + 5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Mechanism {
    pub(super) nodes: Vec<Node>,
    pub(super) joints: Vec<Joint>,
    /// Names of nodes, joints and elements, of which there may be many.
    pub(super) names: HashSet<String>,
    pub(super) dimension: usize,
    gravity: [f64; 3],
    /// Entries of the mass matrix; those of the same place add up.
    mass: Vec<(usize, usize, f64)>,
    pub(super) beams: Vec<PlacedBeam>,
    pub(super) loads: Vec<(String, Load)>,
    /// Terms of the potential, and forces that no potential gives.
    pub(super) terms: Vec<NamedField>,
    pub(super) forces: Vec<NamedForce>,
    /// Equalities besides those of nodes and joints, and inequalities.
    pub(super) couplings: Vec<PlacedCoupling>,
    pub(super) limits: Vec<NamedField>,
    pub(super) frictions: Vec<super::dry::JointFriction>,
    /// Coordinates beside the nodes.
    pub(super) scalars: Vec<Scalar>,
    /// When it starts: motors have their rate then.
    pub(super) start_time: f64,
    /// Joints whose turns are counted, and the coordinates that count them.
    pub(super) turns: Vec<(JointId, usize)>,
}

impl Mechanism {
    /// Nothing yet, without gravity.
    pub fn new() -> Self {
        Self::default()
    }

    /// In a field of gravity.
    ///
    /// # Errors
    /// Gravity that is not finite.
    pub fn with_gravity(mut self, gravity: [f64; 3]) -> Result<Self, MechanismError> {
        finite("gravity", "the mechanism", &gravity)?;
        self.gravity = gravity;
        Ok(self)
    }

    /// Adds a rigid body; its pose is that of the centre of mass.
    ///
    /// # Errors
    /// A name that is taken, directors that are not orthonormal, a mass or an Euler tensor that makes no sense.
    pub fn add_body(
        &mut self,
        name: &str,
        inertia: Inertia,
        pose: Pose,
    ) -> Result<NodeId, MechanismError> {
        inertia.check(name)?;
        let id = self.add_node(name, pose)?;
        self.attach_mass(id, inertia.mass)?;
        let first = self.nodes[id.0].start + 3;
        for i in 0..3 {
            for j in 0..3 {
                let value = 0.5 * (inertia.euler[i][j] + inertia.euler[j][i]);
                for k in 0..3 {
                    self.add_mass_entry(first + 3 * i + k, first + 3 * j + k, value);
                }
            }
        }
        Ok(id)
    }

    /// Adds a body that stands still: a frame on the ground, held by a fixed joint `NAME on the ground`, whose reaction is what the
    /// others do to it. It has no weight; its mass of one unit enters nothing.
    ///
    /// # Errors
    /// A name that is taken, directors that are not orthonormal.
    pub fn add_fixed(&mut self, name: &str, pose: Pose) -> Result<NodeId, MechanismError> {
        let mut euler = [[0.0; 3]; 3];
        (0..3).for_each(|i| euler[i][i] = 1.0);
        let at = pose.position;
        let id = self.add_body(name, Inertia { mass: 1.0, euler }, pose)?;
        self.nodes[id.0].stands = true;
        let ends = [End::Ground, id.into()];
        self.add_joint(&format!("{name} on the ground"), JointKind::Fixed, ends, at, [0.0; 3])?;
        Ok(id)
    }

    /// The field of gravity.
    pub fn gravity(&self) -> [f64; 3] {
        self.gravity
    }

    /// Whether a node stands still, as [`add_fixed`](Self::add_fixed) says.
    pub fn stands(&self, node: NodeId) -> bool {
        self.nodes.get(node.0).is_some_and(|n| n.stands)
    }

    /// Adds a frame without mass.
    ///
    /// # Errors
    /// A name that is taken, directors that are not orthonormal.
    pub fn add_node(&mut self, name: &str, pose: Pose) -> Result<NodeId, MechanismError> {
        self.check_name(name)?;
        let pose = pose.checked(name)?;
        Ok(self.push(name, pose, true))
    }

    /// Adds a particle: three coordinates, no directors.
    ///
    /// # Errors
    /// A name that is taken, a negative mass, numbers that are not finite.
    pub fn add_particle(
        &mut self,
        name: &str,
        mass: f64,
        position: [f64; 3],
    ) -> Result<NodeId, MechanismError> {
        self.check_name(name)?;
        check_mass(name, mass)?;
        let id = self.push(name, Pose::at(position).checked(name)?, false);
        self.attach_mass(id, mass)?;
        Ok(id)
    }

    /// Adds a point mass at a node.
    ///
    /// # Errors
    /// An unknown node, a negative mass.
    pub fn attach_mass(&mut self, node: NodeId, mass: f64) -> Result<(), MechanismError> {
        let start = self.known("a point mass", node)?.start;
        check_mass(&self.nodes[node.0].name, mass)?;
        for k in start..start + 3 {
            self.add_mass_entry(k, k, mass);
        }
        Ok(())
    }

    /// Adds a joint at a point of the world with a unit axis, both at the start.
    ///
    /// Motions are those of the second end relative to the first, positive about and along the axis. Spherical and fixed
    /// joints have no axis, and whatever is given for it is ignored.
    ///
    /// # Errors
    /// A name that is taken, an unknown node, a particle, twice the same end, an axis that is not a unit vector.
    pub fn add_joint(
        &mut self,
        name: &str,
        kind: JointKind,
        ends: [End; 2],
        at: [f64; 3],
        axis: [f64; 3],
    ) -> Result<JointId, MechanismError> {
        self.check_name(name)?;
        for end in ends {
            if let End::Node(id) = end {
                self.with_directors(name, id)?;
            }
        }
        if ends[0] == ends[1] {
            let (joint, end) = (name.to_owned(), self.end_name(ends[0]).to_owned());
            return Err(MechanismError::SameEnds { joint, end });
        }
        finite("the point", name, &at)?;
        let mut unit = Vec3::z();
        if kind.has_axis() {
            let length = Vec3::from(axis).norm();
            if length.is_nan() || (length - 1.0).abs() > 1e-8 {
                return Err(MechanismError::Axis { joint: name.to_owned(), length });
            }
            unit = Vec3::from(axis) / length;
        }
        self.names.insert(name.to_owned());
        self.joints.push(Joint::new(name, kind, ends, at, unit, &self.nodes));
        Ok(JointId(self.joints.len() - 1))
    }

    /// Nodes and particles with their names, in the order in which they were added.
    pub fn nodes(&self) -> impl Iterator<Item = (&str, NodeId)> {
        self.nodes.iter().enumerate().map(|(i, node)| (node.name.as_str(), NodeId(i)))
    }

    /// Joints with their names, kinds, and ends with the joint's point in the frame of each.
    pub fn joints(&self) -> impl Iterator<Item = (&str, JointKind, [(End, [f64; 3]); 2])> {
        self.joints.iter().map(|joint| {
            let ends = std::array::from_fn(|i| (joint.ends[i], joint.anchors[i]));
            (joint.name.as_str(), joint.kind, ends)
        })
    }

    /// Number of coordinates: twelve for each node, three for each particle, one for each joint whose turns are counted and for each that was added as
    /// such.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Names of the coordinates: `crank.x`, …, `crank.d3z`, `hinge.turns`.
    pub fn coordinate_names(&self) -> Vec<String> {
        let mut names = vec![String::new(); self.dimension];
        for node in &self.nodes {
            for (at, name) in (node.start..).zip(node.coordinate_names()) {
                names[at] = name;
            }
        }
        for scalar in &self.scalars {
            names[scalar.at].clone_from(&scalar.name);
        }
        for &(joint, at) in &self.turns {
            names[at] = format!("{}.turns", self.joints[joint.0].name);
        }
        names
    }

    /// The node or particle with this name.
    pub fn node(&self, name: &str) -> Option<NodeId> {
        self.nodes.iter().position(|n| n.name == name).map(NodeId)
    }

    /// The joint with this name.
    pub fn joint(&self, name: &str) -> Option<JointId> {
        self.joints.iter().position(|j| j.name == name).map(JointId)
    }

    /// Where the coordinates of a node lie in the coordinate vector; empty for a node of another mechanism.
    pub fn coordinates(&self, node: NodeId) -> Range<usize> {
        self.nodes.get(node.0).map_or(0..0, |n| n.start..n.start + n.size())
    }

    /// The constraints: six internal rows for each node, then the rows of the joints, then couplings and motors.
    ///
    /// # Errors
    /// Numbers so large that products overflow.
    pub fn constraints(&self) -> Result<Rows, ConstraintError> {
        let q = self.start_position();
        let mut rows = Rows::new(self.dimension);
        self.nodes.iter().try_for_each(|node| node.push_rows(&mut rows))?;
        self.joints.iter().try_for_each(|joint| joint.push_rows(&self.nodes, &q, &mut rows))?;
        self.push_couplings(&mut rows)?;
        Ok(rows)
    }

    /// Says when it starts, if not at zero: motors have their rate then.
    #[must_use]
    pub fn starting_at(mut self, t: f64) -> Self {
        self.start_time = t;
        self
    }

    /// When it starts.
    pub fn start_time(&self) -> f64 {
        self.start_time
    }

    pub(super) fn push_couplings(&self, rows: &mut Rows) -> Result<(), ConstraintError> {
        for PlacedCoupling { row: NamedField(name, row), .. } in &self.couplings {
            rows.push(name.clone(), Arc::clone(row))?;
        }
        Ok(())
    }

    /// The rows of some joints only.
    pub(super) fn joint_rows(&self, joints: &[JointId]) -> Result<Rows, ConstraintError> {
        let q = self.start_position();
        let mut rows = Rows::new(self.dimension);
        for joint in joints {
            self.joints[joint.0].push_rows(&self.nodes, &q, &mut rows)?;
        }
        Ok(rows)
    }

    /// The potential: gravity, $V = -\gamma^\top M q$ with the acceleration $\gamma$ of free fall, the elements of the beams, the
    /// loads.
    ///
    /// # Errors
    /// Numbers so large that products overflow.
    pub fn potential(&self) -> Result<Rows, ConstraintError> {
        let mut rows = Rows::new(self.dimension);
        if self.gravity != [0.0; 3] {
            let mut fall = vec![0.0; self.dimension];
            for node in self.nodes.iter().filter(|node| !node.stands) {
                fall[node.start..node.start + 3].copy_from_slice(&self.gravity);
            }
            let terms: Vec<_> = self.mass.iter().map(|&(i, j, m)| (i, -m * fall[j])).collect();
            rows.push("gravity", Quadratic::new(0.0, &terms, &[])?)?;
        }
        self.push_elastic(&mut rows)?;
        for NamedField(name, term) in &self.terms {
            rows.push(name.clone(), Arc::clone(term))?;
        }
        Ok(rows)
    }

    /// Entries $(i, j, M_{ij})$ of the constant mass matrix, sorted, each place once and both triangles. The matrix is
    /// singular where nodes have no mass.
    pub fn mass_entries(&self) -> Vec<(usize, usize, f64)> {
        let mut entries = self.mass.clone();
        entries.sort_by_key(|&(i, j, _)| (i, j));
        entries.dedup_by(|next, kept| {
            let same = (next.0, next.1) == (kept.0, kept.1);
            if same {
                kept.2 += next.2;
            }
            same
        });
        entries.retain(|e| e.2 != 0.0);
        entries
    }

    /// The coordinates at the start.
    pub fn start_position(&self) -> Vec<f64> {
        let mut q = vec![0.0; self.dimension];
        for node in &self.nodes {
            q[node.start..node.start + node.size()].copy_from_slice(&node.coordinates());
        }
        for scalar in &self.scalars {
            q[scalar.at] = scalar.position;
        }
        q
    }

    /// Adds to one entry of the mass matrix; the caller adds its mirror image.
    pub(super) fn add_mass_entry(&mut self, row: usize, column: usize, value: f64) {
        if value != 0.0 {
            self.mass.push((row, column, value));
        }
    }

    pub(super) fn known(&self, name: &str, node: NodeId) -> Result<&Node, MechanismError> {
        self.nodes.get(node.0).ok_or_else(|| MechanismError::UnknownNode {
            name: name.to_owned(),
            node: node.0,
            nodes: self.nodes.len(),
        })
    }

    /// The node, if it has directors; `name` says what needs them.
    pub(super) fn with_directors(&self, name: &str, id: NodeId) -> Result<&Node, MechanismError> {
        let node = self.known(name, id)?;
        if node.directors {
            return Ok(node);
        }
        let (name, particle) = (name.to_owned(), node.name.clone());
        Err(MechanismError::Particle { name, particle })
    }

    pub(super) fn end_name(&self, end: End) -> &str {
        match end {
            End::Ground => "the ground",
            End::Node(id) => &self.nodes[id.0].name,
        }
    }

    /// Names are shared by everything, since rows carry them.
    pub(super) fn check_name(&self, name: &str) -> Result<(), MechanismError> {
        let mut others = self.beams.iter().map(|b| &b.name).chain(self.loads.iter().map(|l| &l.0));
        if self.names.contains(name) || others.any(|n| n == name) {
            return Err(MechanismError::DuplicateName { name: name.to_owned() });
        }
        Ok(())
    }

    fn push(&mut self, name: &str, pose: Pose, directors: bool) -> NodeId {
        let (name, start) = (name.to_owned(), self.dimension);
        self.names.insert(name.clone());
        let node = Node { name, start, pose, directors, velocity: None, stands: false };
        self.dimension += node.size();
        self.nodes.push(node);
        NodeId(self.nodes.len() - 1)
    }
}

/// Refuses numbers that are not finite.
pub(super) fn finite(what: &'static str, name: &str, x: &[f64]) -> Result<(), MechanismError> {
    match x.iter().find(|x| !x.is_finite()) {
        None => Ok(()),
        Some(&value) => Err(MechanismError::NotFinite { what, name: name.to_owned(), value }),
    }
}
