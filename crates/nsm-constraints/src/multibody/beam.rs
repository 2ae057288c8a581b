//! Beams in a mechanism: nodes along a line, the elements between them and their mass.
//!
//! The nodes of a beam are nodes of the mechanism like any others: joints hold them, masses and loads act on them. Those
//! that no joint holds move freely with six freedoms each, since elements are potentials and not constraints (\[LMO\] section 6).

use std::sync::Arc;

use super::beam_element::BeamElement;
use super::error::MechanismError;
use super::load::Load;
use super::mechanism::Mechanism;
use super::node::{NodeId, Pose};
use super::section::{SectionMass, SectionStiffness};
use crate::distance::{norm, positive};
use crate::{ConstraintError, Field};

/// A beam of one cross-section, by the poses of its nodes where it is free of stress.
///
/// Third directors point along the beam. The line may be curved and twisted.
#[derive(Clone, Debug, PartialEq)]
pub struct Beam {
    /// Two nodes or more, in order; an element lies between each and the next.
    pub nodes: Vec<Pose>,
    /// Stiffness of the cross-section.
    pub stiffness: SectionStiffness,
    /// Mass of the cross-section.
    pub mass: SectionMass,
}

impl Beam {
    /// A straight beam with elements of equal length and the same directors everywhere.
    pub fn straight(
        ends: [[f64; 3]; 2],
        elements: usize,
        directors: [[f64; 3]; 3],
        stiffness: SectionStiffness,
        mass: SectionMass,
    ) -> Self {
        let share = |k: usize| k as f64 / elements.max(1) as f64;
        let nodes = (0..=elements)
            .map(|k| Pose {
                position: std::array::from_fn(|c| {
                    (1.0 - share(k)) * ends[0][c] + share(k) * ends[1][c]
                }),
                directors,
            })
            .collect();
        Self { nodes, stiffness, mass }
    }
}

/// A beam of a mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BeamId(usize);

/// A beam with its place in a mechanism.
#[derive(Clone, Debug)]
pub(super) struct PlacedBeam {
    pub(super) name: String,
    nodes: Vec<NodeId>,
    pub(super) elements: Vec<BeamElement>,
}

impl Mechanism {
    /// Adds a beam: its nodes `name[0]`, `name[1]`, …, its mass and its elements.
    ///
    /// # Errors
    /// A name that is taken, fewer than two nodes, elements without length, directors that are not orthonormal or do not
    /// point along the beam, stiffnesses or masses that are negative or not finite. The mechanism is then as it was.
    pub fn add_beam(&mut self, name: &str, beam: &Beam) -> Result<BeamId, MechanismError> {
        self.check_name(name)?;
        if beam.nodes.len() < 2 {
            return Err(MechanismError::NoElements { beam: name.to_owned() });
        }
        let named = |source| MechanismError::Part { name: name.to_owned(), source };
        for pair in beam.nodes.windows(2) {
            let [a, b] = [0, 1].map(|end| pair[end].position);
            let length = norm(&[b[0] - a[0], b[1] - a[1], b[2] - a[2]]);
            positive("the length of a beam's element", length).map_err(named)?;
        }
        let mut poses = Vec::with_capacity(beam.nodes.len());
        for (k, pose) in beam.nodes.iter().enumerate() {
            let node = node_name(name, k);
            self.check_name(&node)?;
            poses.push(pose.checked(&node)?);
        }
        let first = self.dimension();
        let mut elements = Vec::with_capacity(poses.len() - 1);
        for (k, pair) in poses.windows(2).enumerate() {
            let at = first + 12 * k;
            let reference = [coordinates(&pair[0]), coordinates(&pair[1])];
            elements
                .push(BeamElement::new([at, at + 12], &reference, &beam.stiffness).map_err(named)?);
        }
        let mut entries = Vec::with_capacity(36 * elements.len());
        for element in &elements {
            entries.extend(element.mass_entries(&beam.mass).map_err(named)?);
        }
        let nodes = poses
            .into_iter()
            .enumerate()
            .map(|(k, pose)| self.add_node(&node_name(name, k), pose))
            .collect::<Result<_, _>>()?;
        for (i, j, mass) in entries {
            self.add_mass_entry(i, j, mass);
        }
        self.beams.push(PlacedBeam { name: name.to_owned(), nodes, elements });
        Ok(BeamId(self.beams.len() - 1))
    }

    /// A beam by its name.
    pub fn beam(&self, name: &str) -> Option<BeamId> {
        self.beams.iter().position(|beam| beam.name == name).map(BeamId)
    }

    /// Beams with their names, in the order in which they were added.
    pub fn beams(&self) -> impl Iterator<Item = (&str, BeamId)> {
        self.beams.iter().enumerate().map(|(i, beam)| (beam.name.as_str(), BeamId(i)))
    }

    /// The nodes of a beam, in order; none for a beam of another mechanism.
    pub fn beam_nodes(&self, beam: BeamId) -> &[NodeId] {
        self.beams.get(beam.0).map_or(&[], |b| &b.nodes)
    }

    /// The elements of a beam, in order, for strains and stresses; none for a beam of another mechanism.
    pub fn beam_elements(&self, beam: BeamId) -> &[BeamElement] {
        self.beams.get(beam.0).map_or(&[], |b| &b.elements)
    }

    /// Adds a force on the point of a node or on a particle, along a fixed direction of the world and with the size of a
    /// table of time, linear between its instants and constant beyond.
    ///
    /// # Errors
    /// A name that is taken, an unknown node, an empty table, instants that do not increase, numbers that are not finite.
    pub fn add_load(
        &mut self,
        name: &str,
        node: NodeId,
        direction: [f64; 3],
        table: &[(f64, f64)],
    ) -> Result<(), MechanismError> {
        self.check_name(name)?;
        let at = self.known(name, node)?.start;
        let load = Load::new([at, at + 1, at + 2], direction, table)
            .map_err(|source| MechanismError::Part { name: name.to_owned(), source })?;
        self.loads.push((name.to_owned(), load));
        Ok(())
    }

    /// Adds a force along a fixed direction of the world, on a point given in the world at the start or on the node's own; its size is a
    /// field of no coordinates.
    ///
    /// # Errors
    /// A name that is taken, an unknown node, a point of a particle elsewhere than where it is, numbers that are not finite.
    pub fn add_dead_load(
        &mut self,
        name: &str,
        node: NodeId,
        at: Option<[f64; 3]>,
        direction: [f64; 3],
        size: Arc<dyn Field>,
    ) -> Result<(), MechanismError> {
        self.check_name(name)?;
        let found = self.known(name, node)?;
        let point = match at {
            None => [0.0; 3],
            Some(at) if found.directors => found.pose.components(at),
            Some(at) => {
                self.arm(name, node.into(), at)?;
                [0.0; 3]
            }
        };
        let load = Load::on_body(found.start, point, direction, size)
            .map_err(|source| MechanismError::Part { name: name.to_owned(), source })?;
        self.loads.push((name.to_owned(), load));
        Ok(())
    }

    /// Appends the terms of beams and loads to the potential.
    pub(super) fn push_elastic(&self, rows: &mut crate::Rows) -> Result<(), ConstraintError> {
        for beam in &self.beams {
            for (k, element) in beam.elements.iter().enumerate() {
                rows.push(format!("{}: element {k}", beam.name), element.clone())?;
            }
        }
        self.loads.iter().try_for_each(|(name, load)| rows.push(name.clone(), load.clone()))
    }
}

fn node_name(beam: &str, k: usize) -> String {
    format!("{beam}[{k}]")
}

fn coordinates(pose: &Pose) -> [f64; 12] {
    let mut q = [0.0; 12];
    q[..3].copy_from_slice(&pose.position);
    q[3..].copy_from_slice(pose.directors.as_flattened());
    q
}
