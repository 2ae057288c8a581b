//! Mechanisms: rigid bodies and beams by directors, joined by the lower kinematic pairs (\[LMO\] sections 4 to 6).
//!
//! A *node* is a point $\varphi$ with three orthonormal directors,
//! $$ q = (\varphi, d_1, d_2, d_3) \in \mathbb R^{12}, \qquad
//!    g_{int} = \big(\tfrac12(d_I \cdot d_I - 1),\\; d_1 \cdot d_2,\\; d_1 \cdot d_3,\\; d_2 \cdot d_3\big) = 0 \in \mathbb R^6 $$
//! (\[LMO\] (55), (56); the row $d_2 \cdot d_3$ is missing there). A rigid body is a node at its centre of mass with the
//! constant mass matrix of $T = \tfrac12 m |\dot\varphi|^2 + \tfrac12 \sum_{IJ} E_{IJ}\\, \dot d_I \cdot \dot d_J$, where
//! $E = \int \rho\rho^\top dm$ is the Euler tensor (\[LMO\] (57), (58)). There are no rotational parameters, hence no singularities,
//! and all constraints are affine or quadratic.
//!
//! A [`Beam`] is a line of nodes with an elastic element between each and the next (\[LMO\] section 6.1); a [`Load`] acts on a
//! node. Both are potentials.
//!
//! [`Mechanism`] collects nodes, particles, joints, beams and loads and yields constraints, potential, mass and start; what the joints
//! leave free is described by the spanning tree of its joints. Nothing is checked twice: a mechanism that could be built
//! is consistent at its start to round-off.

mod beam;
mod beam_element;
mod bushing;
mod closure;
mod composed;
mod contact;
mod coupling;
mod dry;
mod element;
mod elements;
mod error;
mod form;
mod gauge;
mod joint;
mod kinematics;
mod load;
mod measure;
mod mechanism;
mod momentum;
mod node;
mod pair;
mod reaction;
mod redundancy;
mod scalar;
mod section;
mod solid;
mod start;
mod tangent;
mod tree;
mod wheel;
mod wrench;

pub use beam::{Beam, BeamId};
pub use beam_element::BeamElement;
pub use bushing::Bushing;
pub use closure::Closure;
pub use composed::{Composed, Reading};
pub use coupling::Coupling;
pub use dry::JointFriction;
pub use element::{Elastic, ElasticElement, GaugeForce, Law};
pub use elements::LineElement;
pub use error::MechanismError;
pub use gauge::{Gauge, Reference};
pub use joint::{End, JointId, JointKind};
pub use load::{Load, TimeTable};
pub use measure::Point;
pub use mechanism::Mechanism;
pub use node::{Inertia, NodeId, Pose};
pub use reaction::Reaction;
pub use redundancy::Redundancy;
pub use section::{Resultants, SectionMass, SectionStiffness};
pub use tree::Tree;
pub use wrench::Wrench;
