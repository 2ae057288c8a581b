//! What acts in a mechanism besides weight and beams: springs, dampers, forces, and the freedoms of joints that they read.

use std::sync::Arc;

use super::element::{Damper, Elastic, ElasticElement, GaugeForce, Law};
use super::error::MechanismError;
use super::gauge::{Arm, Gauge, Reference};
use super::joint::{End, Joint, JointId, JointKind};
use super::mechanism::{Mechanism, finite};
use super::node::NodeId;
use crate::{ConstraintError, Field, Force};

/// A spring with a damper beside it, along the line between two points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LineElement {
    /// Free length; that of the start if absent.
    pub length: Option<f64>,
    /// Force for each length of stretch.
    pub stiffness: f64,
    /// Force for each speed of stretch.
    pub damping: f64,
}

/// A force of a mechanism, with its name.
#[derive(Clone)]
pub(super) struct NamedForce(pub(super) String, pub(super) Arc<dyn Force>);

impl std::fmt::Debug for NamedForce {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("NamedForce").field(&self.0).finish_non_exhaustive()
    }
}

/// A row or a term of a mechanism, with its name.
#[derive(Clone)]
pub(super) struct NamedField(pub(super) String, pub(super) Arc<dyn Field>);

impl std::fmt::Debug for NamedField {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("NamedField").field(&self.0).finish_non_exhaustive()
    }
}

impl Mechanism {
    /// Adds a spring with a damper between two points, each given where it is in the world at the start and carried by its end.
    ///
    /// # Errors
    /// A name that is taken, the same end twice, points of particles that are not where the particle is, numbers that are negative or
    /// not finite; points that coincide, unless the spring has no free length and no damping: there is no direction between them.
    pub fn add_spring(
        &mut self,
        name: &str,
        ends: [End; 2],
        at: [[f64; 3]; 2],
        spring: LineElement,
    ) -> Result<(), MechanismError> {
        let arm = self.line(name, ends, at)?;
        let gauge = Gauge::distance(&arm);
        let distance = gauge.value(&self.start_position(), 0.0);
        let length = spring.length.unwrap_or(distance);
        for (what, value) in [
            ("the free length of a spring", length),
            ("the stiffness of a spring", spring.stiffness),
            ("the damping of a spring", spring.damping),
        ] {
            if !(value >= 0.0 && value.is_finite()) {
                let must = "finite and not negative";
                return Err(part(name, ConstraintError::Parameter { what, must, value }));
            }
        }
        let pushes = length > 0.0 && spring.stiffness > 0.0;
        if pushes || spring.damping > 0.0 {
            self.check_apart(name, ends, at, distance)?;
        }
        self.take_name(name)?;
        if spring.stiffness > 0.0 {
            let stiffness = spring.stiffness;
            let element = if length == 0.0 {
                ElasticElement::new(Gauge::product(&arm, &arm), Elastic::Square { stiffness })
            } else {
                ElasticElement::new(gauge.clone(), Elastic::Linear { stiffness, rest: length })
            };
            self.terms.push(NamedField(name.to_owned(), Arc::new(element)));
        }
        if spring.damping > 0.0 {
            let force = GaugeForce::new(vec![gauge], Arc::new(Damper(spring.damping)))?;
            self.forces.push(NamedForce(name.to_owned(), Arc::new(force)));
        }
        Ok(())
    }

    /// Adds a force along the line between two points. The law is a force on one coordinate, their distance $s$: positive pushes
    /// them apart.
    ///
    /// # Errors
    /// As for [`add_spring`](Self::add_spring); points that coincide.
    pub fn add_line_force(
        &mut self,
        name: &str,
        ends: [End; 2],
        at: [[f64; 3]; 2],
        law: Arc<dyn Force>,
    ) -> Result<(), MechanismError> {
        let gauge = Gauge::distance(&self.line(name, ends, at)?);
        let distance = gauge.value(&self.start_position(), 0.0);
        self.check_apart(name, ends, at, distance)?;
        let force = GaugeForce::new(vec![gauge], law)?;
        self.add_force(name, Arc::new(force))
    }

    /// Adds a tension along the line between two points by a law of their distance $s$ alone, a field of one coordinate: positive pulls them
    /// together. It is a potential, whose energy is zero at the start.
    ///
    /// # Errors
    /// As for [`add_line_force`](Self::add_line_force).
    pub fn add_elastic_line(
        &mut self,
        name: &str,
        ends: [End; 2],
        at: [[f64; 3]; 2],
        tension: Arc<dyn Field>,
    ) -> Result<(), MechanismError> {
        let gauge = Gauge::distance(&self.line(name, ends, at)?);
        let from = gauge.value(&self.start_position(), 0.0);
        self.check_apart(name, ends, at, from)?;
        let element = ElasticElement::new(gauge, Elastic::Law(Law { tension, from }));
        self.add_potential(name, Arc::new(element))
    }

    /// The coordinates of a point in the world, as gauges; their rates are its velocity. The point is given in the world at the start.
    ///
    /// # Errors
    /// An unknown node, a point of a particle elsewhere than where it is, numbers that are not finite.
    pub fn point_gauges(
        &self,
        name: &str,
        node: NodeId,
        at: Option<[f64; 3]>,
    ) -> Result<[Gauge; 3], MechanismError> {
        let at = match at {
            Some(at) => at,
            None => self.known(name, node)?.pose.position,
        };
        let arm = self.arm(name, node.into(), at)?;
        Ok(std::array::from_fn(|k| {
            let mut along = [0.0; 3];
            along[k] = 1.0;
            Gauge::product(&arm, &Arm::fixed(along))
        }))
    }

    /// Adds the attraction $-\mu/r$ of the centres of two nodes or particles.
    ///
    /// # Errors
    /// As for [`add_spring`](Self::add_spring).
    pub fn add_attraction(
        &mut self,
        name: &str,
        nodes: [NodeId; 2],
        strength: f64,
    ) -> Result<(), MechanismError> {
        finite("the strength", name, &[strength])?;
        let mut at = [[0.0; 3]; 2];
        for (at, node) in at.iter_mut().zip(nodes) {
            *at = self.known(name, node)?.pose.position;
        }
        let ends = nodes.map(End::Node);
        let gauge = Gauge::distance(&self.line(name, ends, at)?);
        self.check_apart(name, ends, at, gauge.value(&self.start_position(), 0.0))?;
        let element = ElasticElement::new(gauge, Elastic::Attraction { strength });
        self.add_potential(name, Arc::new(element))
    }

    /// Adds a term of the potential on the mechanism's coordinates.
    ///
    /// # Errors
    /// A name that is taken, coordinates that the mechanism does not have.
    pub fn add_potential(
        &mut self,
        name: &str,
        term: Arc<dyn Field>,
    ) -> Result<(), MechanismError> {
        crate::check_coordinates(name, term.coordinates(), self.dimension)?;
        self.take_name(name)?;
        self.terms.push(NamedField(name.to_owned(), term));
        Ok(())
    }

    /// Adds a force on the mechanism's coordinates that no potential gives.
    ///
    /// # Errors
    /// A name that is taken, coordinates that the mechanism does not have.
    pub fn add_force(&mut self, name: &str, force: Arc<dyn Force>) -> Result<(), MechanismError> {
        crate::check_coordinates(name, force.coordinates(), self.dimension)?;
        self.take_name(name)?;
        self.forces.push(NamedForce(name.to_owned(), force));
        Ok(())
    }

    /// The forces that no potential gives, with their names.
    pub fn forces(&self) -> impl Iterator<Item = (&str, Arc<dyn Force>)> {
        self.forces.iter().map(|NamedForce(name, force)| (name.as_str(), Arc::clone(force)))
    }

    /// A freedom of a joint as a scalar of the coordinates, zero at the start; angles are counted from the reference.
    ///
    /// # Errors
    /// An unknown joint, or a freedom that is no angle about or travel along an axis: spherical joints have none.
    pub fn freedom(
        &self,
        joint: JointId,
        freedom: usize,
        reference: Reference,
    ) -> Result<Gauge, MechanismError> {
        let found = self.known_joint(joint)?;
        let gap = || self.joint_point(found, 1).minus(&self.joint_point(found, 0));
        let travel = |along: usize| Gauge::product(&gap(), &self.joint_axis(found, 0, along));
        let angle = || {
            let [a, b] = [1, 2].map(|k| self.joint_axis(found, 0, k));
            Gauge::angle(&a, &b, &self.joint_axis(found, 1, 1), reference)
        };
        Ok(match (found.kind, freedom) {
            (JointKind::Revolute | JointKind::Cylindrical | JointKind::Planar, 0) => angle(),
            (JointKind::Prismatic, 0) | (JointKind::Cylindrical, 1) => travel(0),
            (JointKind::Planar, 1 | 2) => travel(freedom),
            (kind, _) => {
                let (joint, freedoms) = (found.name.clone(), found.kind.freedoms());
                return Err(MechanismError::NoFreedom { joint, kind, freedom, freedoms });
            }
        })
    }

    /// A freedom of a joint whose angle goes on over turns: the mechanism counts them from now on, in halves, by a
    /// coordinate that rests within each step and is set anew after it.
    ///
    /// # Errors
    /// As for [`freedom`](Self::freedom).
    pub fn counted_freedom(
        &mut self,
        joint: JointId,
        freedom: usize,
    ) -> Result<Gauge, MechanismError> {
        let gauge = self.freedom(joint, freedom, Reference::Near(0.0))?;
        if !gauge.is_angle() {
            return Ok(gauge);
        }
        let known = self.turns.iter().find(|turns| turns.0 == joint).map(|turns| turns.1);
        let at = known.unwrap_or_else(|| {
            let at = self.dimension;
            self.dimension += 1;
            self.turns.push((joint, at));
            self.add_mass_entry(at, at, 1.0);
            at
        });
        Ok(gauge.counted(Reference::Turns(at)))
    }

    /// The angles whose turns are counted, and the coordinates that count them.
    pub fn turns(&self) -> impl Iterator<Item = (Gauge, usize)> {
        self.turns.iter().filter_map(|&(joint, at)| {
            Some((self.freedom(joint, 0, Reference::Turns(at)).ok()?, at))
        })
    }

    /// Puts a spring about a rest position on a freedom of a joint.
    ///
    /// # Errors
    /// As for [`freedom`](Self::freedom); a stiffness that is negative, numbers that are not finite.
    pub fn add_joint_spring(
        &mut self,
        joint: JointId,
        gauge: Gauge,
        stiffness: f64,
        rest: f64,
    ) -> Result<(), MechanismError> {
        let name = self.known_joint(joint)?.name.clone();
        finite("the rest position", &name, &[rest])?;
        not_negative(&name, "the stiffness of a joint", stiffness)?;
        let element = ElasticElement::new(gauge, Elastic::Linear { stiffness, rest });
        self.terms.push(NamedField(format!("{name}: spring"), Arc::new(element)));
        Ok(())
    }

    /// Puts a damper on a freedom of a joint.
    ///
    /// # Errors
    /// As for [`freedom`](Self::freedom); a damping that is negative or not finite.
    pub fn add_joint_damper(
        &mut self,
        joint: JointId,
        gauge: Gauge,
        damping: f64,
    ) -> Result<(), MechanismError> {
        let name = self.known_joint(joint)?.name.clone();
        not_negative(&name, "the damping of a joint", damping)?;
        let force = GaugeForce::new(vec![gauge], Arc::new(Damper(damping)))?;
        self.forces.push(NamedForce(format!("{name}: damper"), Arc::new(force)));
        Ok(())
    }

    pub(super) fn known_joint(&self, joint: JointId) -> Result<&Joint, MechanismError> {
        let joints = self.joints.len();
        let unknown = MechanismError::UnknownJoint { joint: joint.0, joints };
        self.joints.get(joint.0).ok_or(unknown)
    }

    /// A joint's point as an end carries it.
    pub(super) fn joint_point(&self, joint: &Joint, e: usize) -> Arm {
        match joint.ends[e] {
            End::Ground => Arm::fixed(joint.anchors[e]),
            End::Node(id) => Arm::point(self.nodes[id.0].start, joint.anchors[e]),
        }
    }

    /// $n$, $a$ or $b$ of a joint as an end carries it.
    pub(super) fn joint_axis(&self, joint: &Joint, e: usize, k: usize) -> Arm {
        match joint.ends[e] {
            End::Ground => Arm::fixed(joint.triads[e][k]),
            End::Node(id) => Arm::direction(self.nodes[id.0].start, joint.triads[e][k]),
        }
    }

    /// The point of an end that is here at the start.
    pub(super) fn arm(&self, name: &str, end: End, at: [f64; 3]) -> Result<Arm, MechanismError> {
        finite("a point", name, &at)?;
        let End::Node(id) = end else { return Ok(Arm::fixed(at)) };
        let node = self.known(name, id)?;
        if node.directors {
            return Ok(Arm::point(node.start, node.pose.components(at)));
        }
        let apart = (0..3).map(|k| (at[k] - node.pose.position[k]).abs()).fold(0.0, f64::max);
        let size = at.iter().chain(&node.pose.position).fold(0.0_f64, |a, x| a.max(x.abs()));
        if apart > 1e-9 * size {
            let (name, particle) = (name.to_owned(), node.name.clone());
            return Err(MechanismError::OffParticle { name, particle });
        }
        Ok(Arm::point(node.start, [0.0; 3]))
    }

    /// From the first point to the second.
    pub(super) fn line(
        &self,
        name: &str,
        ends: [End; 2],
        at: [[f64; 3]; 2],
    ) -> Result<Arm, MechanismError> {
        if ends[0] == ends[1] {
            let (joint, end) = (name.to_owned(), self.end_name(ends[0]).to_owned());
            return Err(MechanismError::SameEnds { joint, end });
        }
        Ok(self.arm(name, ends[1], at[1])?.minus(&self.arm(name, ends[0], at[0])?))
    }

    /// Refuses points between which there is no direction.
    pub(super) fn check_apart(
        &self,
        name: &str,
        ends: [End; 2],
        at: [[f64; 3]; 2],
        distance: f64,
    ) -> Result<(), MechanismError> {
        let size = at.as_flattened().iter().fold(0.0_f64, |a, x| a.max(x.abs()));
        if distance > 1e-12 * size && distance > 0.0 {
            return Ok(());
        }
        let ends = ends.map(|end| self.end_name(end).to_owned());
        Err(MechanismError::NoDirection { name: name.to_owned(), ends })
    }

    pub(super) fn take_name(&mut self, name: &str) -> Result<(), MechanismError> {
        self.check_name(name)?;
        self.names.insert(name.to_owned());
        Ok(())
    }
}

pub(super) fn not_negative(
    name: &str,
    what: &'static str,
    value: f64,
) -> Result<(), MechanismError> {
    if value >= 0.0 && value.is_finite() {
        return Ok(());
    }
    let must = "finite and not negative";
    Err(part(name, ConstraintError::Parameter { what, must, value }))
}

pub(super) fn part(name: &str, source: ConstraintError) -> MechanismError {
    MechanismError::Part { name: name.to_owned(), source }
}
