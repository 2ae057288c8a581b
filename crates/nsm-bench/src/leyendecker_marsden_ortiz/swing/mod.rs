//! The three-bar swing (\[LMO\] section 6.2): a flexible beam with a mass at midspan, hinged to two rigid links that hang on
//! ball joints.
//!
//! The plane is $(e_2, e_3)$, lengths are in metres. The beam runs from $(0, -0.36)$ to $(0.72, -0.36)$; the left link stands
//! upright on the pivot $(0, 0)$, the right one leans outward to the pivot $(1.08, 0)$. Directors $d_1 = e_3$, $d_2 = e_1$, $d_3 = e_2$, so that the
//! smaller bending stiffness $EI_2$ is about $e_1$. A triangular pulse of 10 kN pushes the mass along $e_2$ for a quarter of a
//! second. There is no gravity.

mod condition;
mod reduced;
mod scenarios;
mod trace;

use nsm_constraints::multibody::{
    Beam, BeamElement, BeamId, End, Inertia, JointKind, Mechanism, NodeId, Pose, SectionMass,
    SectionStiffness,
};
use nsm_model::{State, System, SystemError};

pub(super) use scenarios::scenarios;

/// Elements of the beam.
pub const ELEMENTS: usize = 20;
/// The instant from which the swing moves freely.
pub const UNLOADED: f64 = 0.25;
/// The triangular pulse of the paper: instants and forces.
const PULSE: [(f64, f64); 3] = [(0.0, 0.0), (0.5 * UNLOADED, 10_000.0), (UNLOADED, 0.0)];

const PIVOTS: [[f64; 3]; 2] = [[0.0; 3], [0.0, 1.08, 0.0]];
const ENDS: [[f64; 3]; 2] = [[0.0, 0.0, -0.36], [0.0, 0.72, -0.36]];
const MIDSPAN_MASS: f64 = 5.0;
const LINK_MASS: f64 = 0.01;
/// Edge of the square base of the links, which are pyramids.
const LINK_EDGE: f64 = 0.02;

/// The swing as a mechanism, with what is measured on it.
#[derive(Debug)]
pub struct Swing {
    /// Nodes, joints, beam and load.
    pub mechanism: Mechanism,
    /// Its system.
    pub system: System,
    /// At rest.
    pub start: State,
    beam: BeamId,
    middle: NodeId,
    right: NodeId,
}

impl Swing {
    /// The swing with the data of the paper: a beam of low stiffness and high density.
    ///
    /// # Errors
    /// Never, for the constants are in order.
    pub fn new() -> Result<Self, SystemError> {
        let stiffness = SectionStiffness {
            shear: [175_480.769_2; 2],
            axial: 547_500.0,
            bending: [114.062_5, 10.265_6],
            torsion: 13.740_1,
        };
        let mass = SectionMass { per_length: 7500.0, directors: [1.5625, 0.1406] };
        let triad = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
        let mut mechanism = Mechanism::new();
        let beam = Beam::straight(ENDS, ELEMENTS, triad, stiffness, mass);
        let links = [add_link(&mut mechanism, "left", 0)?, add_link(&mut mechanism, "right", 1)?];
        let beam = mechanism.add_beam("beam", &beam)?;
        let nodes = mechanism.beam_nodes(beam).to_vec();
        for (side, (name, end)) in
            [("left hinge", nodes[0]), ("right hinge", nodes[ELEMENTS])].into_iter().enumerate()
        {
            let ends = [End::Node(links[side]), End::Node(end)];
            mechanism.add_joint(name, JointKind::Revolute, ends, ENDS[side], [1.0, 0.0, 0.0])?;
        }
        let middle = nodes[ELEMENTS / 2];
        mechanism.attach_mass(middle, MIDSPAN_MASS)?;
        mechanism.add_load("pulse", middle, [0.0, 1.0, 0.0], &PULSE)?;
        let (system, start) = System::of(&mechanism)?;
        Ok(Self { mechanism, system, start, beam, middle, right: links[1] })
    }

    /// The mass at midspan, $(y, z)$.
    pub fn mass(&self, q: &[f64]) -> [f64; 2] {
        let at = self.mechanism.coordinates(self.middle).start;
        [q[at + 1], q[at + 2]]
    }

    /// How far the right link has turned about $e_1$ since the start.
    pub fn right_angle(&self, q: &[f64]) -> f64 {
        // d₃ runs from the pivot to the beam.
        let at = self.mechanism.coordinates(self.right).start + 9;
        let (y, z) = (q[at + 1], q[at + 2]);
        let (y0, z0) = (self.start.q[at + 1], self.start.q[at + 2]);
        (y0 * z - z0 * y).atan2(y0 * y + z0 * z)
    }

    /// The element to the right of the mass.
    pub fn element(&self) -> &BeamElement {
        let elements = self.mechanism.beam_elements(self.beam);
        &elements[elements.len() / 2]
    }
}

/// A pyramid from its base at a pivot to its apex at an end of the beam, with the third director along it.
fn add_link(mechanism: &mut Mechanism, name: &str, side: usize) -> Result<NodeId, SystemError> {
    let (pivot, end) = (PIVOTS[side], ENDS[side]);
    let along: [f64; 3] = std::array::from_fn(|c| end[c] - pivot[c]);
    let height = along[1].hypot(along[2]);
    let [_, y, z] = along.map(|x| x / height);
    let square = LINK_MASS * LINK_EDGE * LINK_EDGE / 20.0;
    let inertia =
        Inertia::principal(LINK_MASS, [square, square, 3.0 * LINK_MASS * height * height / 80.0]);
    let pose = Pose {
        position: std::array::from_fn(|c| pivot[c] + 0.25 * along[c]),
        directors: [[1.0, 0.0, 0.0], [0.0, z, -y], [0.0, y, z]],
    };
    let link = mechanism.add_body(name, inertia, pose)?;
    let ends = [End::Ground, End::Node(link)];
    mechanism.add_joint(&format!("{name} pivot"), JointKind::Spherical, ends, pivot, [0.0; 3])?;
    Ok(link)
}
