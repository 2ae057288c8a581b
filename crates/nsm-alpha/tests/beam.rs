//! A beam of many elements by generalized-α: sparse, and without a stall.

mod common;

use common::{distance, run};
use nsm_alpha::{ClassicalAlpha, Index};
use nsm_constraints::multibody::{Beam, End, JointKind, Mechanism, SectionMass, SectionStiffness};
use nsm_model::{State, System};

const G: f64 = 9.81;

/// A steel beam of `elements` that falls about a hinge at one end.
fn beam(elements: usize) -> (System, State) {
    let stiffness = SectionStiffness {
        shear: [175_480.0; 2],
        axial: 547_500.0,
        bending: [114.0, 10.0],
        torsion: 13.7,
    };
    let mass = SectionMass { per_length: 75.0, directors: [1.6e-2, 1.4e-3] };
    let triad = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    let ends = [[0.0; 3], [0.0, 0.036 * elements as f64, 0.0]];
    let mut mechanism = Mechanism::new().with_gravity([0.0, 0.0, -G]).unwrap();
    let beam = Beam::straight(ends, elements, triad, stiffness, mass);
    let beam = mechanism.add_beam("beam", &beam).unwrap();
    let held = [End::Ground, End::Node(mechanism.beam_nodes(beam)[0])];
    mechanism.add_joint("hinge", JointKind::Revolute, held, [0.0; 3], [1.0, 0.0, 0.0]).unwrap();
    System::of(&mechanism).unwrap()
}

#[test]
fn a_beam_of_forty_elements_falls_without_a_stall() {
    let (system, start) = beam(40);
    let mut ends = Vec::new();
    for index in [Index::Three, Index::Two, Index::One] {
        let method = ClassicalAlpha::new(1e-3, index, index.spectral_radius()).unwrap();
        let mut stepper = method.stepper(&system, &start).unwrap();
        let (state, ledger) = run(&system, &mut stepper, &start, 0.2);
        if index == Index::Three {
            assert!(ledger.position_residual < 1e-11, "{}", ledger.position_residual);
        }
        ends.push(state.q);
    }
    // Second order at every level: they differ by the error of a step of 1 ms, of the way of 0.2 m that the tip falls.
    for other in &ends[1..] {
        let off = distance(&ends[0], other);
        assert!(off < 1e-4, "{off:e}");
    }
}
