//! A swing with a flexible beam: rigid links, hinges, an elastic beam and a pulse, by two integrators.
//!
//! The three-bar swing of \[LMO\] section 6.2. A beam hangs on two links; a pulse pushes the mass at its middle to the right
//! until the left link and the beam are in line and the right link reverses (event X). The variational integrator keeps the
//! energy within bounds, the energy–momentum scheme exactly; both hold every constraint.
//!
//! ```text
//! cargo run --release -p nsm-vi --example flexible_swing
//! ```
#![allow(clippy::print_stdout)] // An example shows its results.

use nsm_constraints::multibody::{
    Beam, BeamId, End, Inertia, JointKind, Mechanism, NodeId, Pose, SectionMass, SectionStiffness,
};
use nsm_model::{State, Stepper, System};
use nsm_vi::{Conserving, NullSpace, Quadrature};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (mechanism, beam) = swing()?;
    let (system, start) = System::of(&mechanism)?;
    let h = 0.01;
    println!("{} coordinates, {} constraints", system.dimension(), system.equalities().len());

    // One unknown for each freedom of the joints and nodes, and no multipliers.
    let freedoms = NullSpace::reparametrised(h, Quadrature::Midpoint);
    let freedoms = freedoms.stepper_with(&system, mechanism.tree())?;
    println!("null space method: {} unknowns", freedoms.freedoms());
    run(&mechanism, beam, &system, &start, freedoms)?;

    println!("energy-momentum scheme");
    run(&mechanism, beam, &system, &start, Conserving::new(h).stepper(&system)?)
}

fn run(
    mechanism: &Mechanism,
    beam: BeamId,
    system: &System,
    start: &State,
    mut stepper: impl Stepper<State = State>,
) -> Result<(), Box<dyn std::error::Error>> {
    let middle = mechanism.coordinates(mechanism.beam_nodes(beam)[10]).start;
    let mut state = start.clone();
    println!("     t    y of mass    z of mass       energy  axial force   bending moment");
    for step in 1..=250 {
        stepper.step(&mut state)?;
        if step % 25 == 0 {
            let energy =
                system.mass().kinetic_energy(&state.v) + system.potential().sum(&state.q, state.t);
            let stress = mechanism.beam_elements(beam)[10].resultants(&state.q);
            println!(
                "{:>6.2} {:>12.6} {:>12.6} {energy:>12.6} {:>12.1} {:>16.3}",
                state.t,
                state.q[middle + 1],
                state.q[middle + 2],
                stress.force[2],
                stress.moment[1],
            );
        }
    }
    Ok(())
}

/// Two links on ball joints, hinged to the ends of a beam of 20 elements with 5 kg at its middle.
fn swing() -> Result<(Mechanism, BeamId), Box<dyn std::error::Error>> {
    let ends = [[0.0, 0.0, -0.36], [0.0, 0.72, -0.36]];
    let directors = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    let stiffness = SectionStiffness {
        shear: [175_480.769_2; 2],
        axial: 547_500.0,
        bending: [114.062_5, 10.265_6],
        torsion: 13.740_1,
    };
    let mass = SectionMass { per_length: 7500.0, directors: [1.5625, 0.1406] };

    let mut mechanism = Mechanism::new();
    let beam = mechanism.add_beam("beam", &Beam::straight(ends, 20, directors, stiffness, mass))?;
    let nodes = mechanism.beam_nodes(beam).to_vec();
    link(&mut mechanism, "left", [0.0; 3], (nodes[0], ends[0]))?;
    link(&mut mechanism, "right", [0.0, 1.08, 0.0], (nodes[20], ends[1]))?;

    mechanism.attach_mass(nodes[10], 5.0)?;
    let pulse = [(0.0, 0.0), (0.125, 10_000.0), (0.25, 0.0)];
    mechanism.add_load("pulse", nodes[10], [0.0, 1.0, 0.0], &pulse)?;
    Ok((mechanism, beam))
}

/// A thin pyramid of 10 g from a ball joint on the ground to a hinge at the end of the beam.
fn link(
    mechanism: &mut Mechanism,
    name: &str,
    pivot: [f64; 3],
    (node, end): (NodeId, [f64; 3]),
) -> Result<(), Box<dyn std::error::Error>> {
    let (m, edge) = (0.01, 0.02);
    let along: [f64; 3] = std::array::from_fn(|c| end[c] - pivot[c]);
    let height = along[1].hypot(along[2]);
    let [_, y, z] = along.map(|x| x / height);
    let (across, lengthwise) = (m * edge * edge / 20.0, 3.0 * m * height * height / 80.0);
    let pose = Pose {
        position: std::array::from_fn(|c| pivot[c] + 0.25 * along[c]),
        directors: [[1.0, 0.0, 0.0], [0.0, z, -y], [0.0, y, z]],
    };
    let inertia = Inertia::principal(m, [across, across, lengthwise]);
    let body = mechanism.add_body(name, inertia, pose)?;
    let ground = [End::Ground, body.into()];
    let joint = format!("{name} pivot");
    mechanism.add_joint(&joint, JointKind::Spherical, ground, pivot, [0.0; 3])?;
    let hinge = [End::from(body), node.into()];
    let joint = format!("{name} hinge");
    mechanism.add_joint(&joint, JointKind::Revolute, hinge, end, [1.0, 0.0, 0.0])?;
    Ok(())
}
