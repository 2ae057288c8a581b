//! Beams and loads as parts of a mechanism.

use nsm_constraints::Reparametrisation;
use nsm_constraints::multibody::{
    Beam, End, JointKind, Mechanism, MechanismError, SectionMass, SectionStiffness,
};

const STIFFNESS: SectionStiffness =
    SectionStiffness { shear: [800.0, 700.0], axial: 1000.0, bending: [2.0, 3.0], torsion: 1.5 };
const MASS: SectionMass = SectionMass { per_length: 6.0, directors: [0.1, 0.2] };
const AXES: [[f64; 3]; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

fn beam(elements: usize) -> Beam {
    Beam::straight([[0.0; 3], [0.0, 0.0, 2.0]], elements, AXES, STIFFNESS, MASS)
}

#[test]
fn a_beam_has_its_nodes_mass_weight_and_elements() {
    let mut mechanism = Mechanism::new().with_gravity([0.0, 0.0, -10.0]).unwrap();
    mechanism.add_particle("ball", 1.0, [5.0, 0.0, 0.0]).unwrap();
    let id = mechanism.add_beam("boom", &beam(4)).unwrap();
    let nodes = mechanism.beam_nodes(id).to_vec();
    assert_eq!(nodes.len(), 5);
    assert_eq!(mechanism.node("boom[3]"), Some(nodes[3]));
    assert_eq!(mechanism.dimension(), 3 + 60);
    assert_eq!(mechanism.coordinate_names()[3], "boom[0].x");

    mechanism.attach_mass(nodes[2], 5.0).unwrap();
    mechanism.add_load("wind", nodes[4], [1.0, 0.0, 0.0], &[(0.0, 0.0), (1.0, 8.0)]).unwrap();
    let q = mechanism.start_position();
    let mut total = 0.0;
    for (i, j, m) in mechanism.mass_entries() {
        let is_x = |k: usize| k == 0 || k >= 3 && (k - 3).is_multiple_of(12);
        assert!((i < 3 || (i - 3) % 12 < 9) && m != 0.0, "d3 has no mass: {i} {j}");
        total += if is_x(i) && is_x(j) { m } else { 0.0 };
    }
    assert!((total - (6.0 * 2.0 + 5.0 + 1.0)).abs() < 1e-12, "{total}");
    // The weight of the beam acts at its middle, at height 1 like the attached mass.
    let potential = mechanism.potential().unwrap();
    assert_eq!(
        potential.names(),
        [
            "gravity",
            "boom: element 0",
            "boom: element 1",
            "boom: element 2",
            "boom: element 3",
            "wind"
        ]
    );
    assert!((potential.sum(&q, 0.0) - 170.0).abs() < 1e-12);
    let mut moved = q.clone();
    moved[3 + 48] += 0.25;
    assert!((potential.value(5, &moved, 0.5) + 1.0).abs() < 1e-15);
    let stretched = mechanism.beam_elements(id)[3].resultants(&moved);
    // φ' = (0.25 / 0.5) d₁ beside the unit of d₃: shear GA₁/2.
    assert!((stretched.force[0] - 400.0).abs() < 1e-12, "{stretched:?}");
}

#[test]
fn nodes_of_a_beam_are_free_unless_a_joint_holds_them() {
    let mut mechanism = Mechanism::new();
    let id = mechanism.add_beam("boom", &beam(4)).unwrap();
    assert_eq!(mechanism.tree().freedoms(), 30);
    let root = mechanism.beam_nodes(id)[0];
    mechanism
        .add_joint("clamp", JointKind::Fixed, [End::Ground, root.into()], [0.0; 3], [0.0; 3])
        .unwrap();
    assert_eq!(mechanism.tree().freedoms(), 24);
}

#[test]
fn momenta_are_those_of_points_and_directors() {
    let mut mechanism = Mechanism::new();
    mechanism.add_beam("boom", &beam(1)).unwrap();
    mechanism.add_particle("ball", 1.0, [1.0, 2.0, 3.0]).unwrap();
    let q = mechanism.start_position();
    let mut p = vec![0.0; q.len()];
    p[24..27].copy_from_slice(&[0.5, 0.0, -1.0]);
    p[12 + 3 + 1] = 7.0;
    assert_eq!(mechanism.linear_momentum(&p), [0.5, 0.0, -1.0]);
    // (1, 2, 3) × (0.5, 0, -1) and d₁ × 7 e₂ of the second node.
    assert_eq!(mechanism.angular_momentum(&q, &p), [-2.0, 2.5, -1.0 + 7.0]);
}

#[test]
fn what_is_wrong_with_a_beam_is_said_by_name_and_leaves_the_mechanism_as_it_was() {
    let mut mechanism = Mechanism::new();
    let post =
        mechanism.add_node("post[1]", nsm_constraints::multibody::Pose::at([0.0; 3])).unwrap();
    let mut refuse = |name: &str, beam: &Beam| {
        let error = mechanism.add_beam(name, beam).unwrap_err();
        assert_eq!(mechanism.dimension(), 12, "{error}");
        assert!(mechanism.mass_entries().is_empty(), "{error}");
        error
    };
    assert_eq!(
        refuse("boom", &beam(0)).to_string(),
        "the beam `boom` has no elements: it needs two nodes or more"
    );
    assert!(
        matches!(refuse("post", &beam(2)), MechanismError::DuplicateName { name } if name == "post[1]")
    );
    let mut bad = beam(3);
    bad.nodes[2] = bad.nodes[1];
    assert_eq!(
        refuse("boom", &bad).to_string(),
        "`boom`: the length of a beam's element must be positive and finite, got 0"
    );
    let mut bad = beam(3);
    bad.nodes[2].directors[0] = [1.0, 1e-3, 0.0];
    assert!(
        matches!(refuse("boom", &bad), MechanismError::Directors { node, .. } if node == "boom[2]")
    );
    let mut bad = beam(3);
    for node in &mut bad.nodes {
        node.directors.rotate_left(1);
    }
    assert!(refuse("boom", &bad).to_string().contains("third directors"));
    let bad = Beam { stiffness: SectionStiffness { axial: -1.0, ..STIFFNESS }, ..beam(3) };
    assert_eq!(
        refuse("boom", &bad).to_string(),
        "`boom`: the axial stiffness EA of a beam must be finite and not negative, got -1"
    );
    let bad = Beam { mass: SectionMass { per_length: f64::NAN, ..MASS }, ..beam(3) };
    assert!(refuse("boom", &bad).to_string().contains("mass per length"));

    let mut load = |table: &[(f64, f64)]| {
        mechanism.add_load("push", post, [1.0, 0.0, 0.0], table).unwrap_err().to_string()
    };
    assert_eq!(
        load(&[(0.0, 1.0), (1.0, 2.0), (0.5, 3.0)]),
        "`push`: an instant of a load's table must be later than the one before it, got 0.5"
    );
    assert!(load(&[]).starts_with("`push`: "));
}

#[test]
fn a_beam_between_coincident_ends_is_said_to_have_no_length() {
    // Directors along such a beam cannot be found either, which says less.
    let mut bad = beam(3);
    for node in &mut bad.nodes {
        node.position = [1.0, 2.0, 3.0];
        node.directors = [[f64::NAN; 3]; 3];
    }
    assert_eq!(
        Mechanism::new().add_beam("boom", &bad).unwrap_err().to_string(),
        "`boom`: the length of a beam's element must be positive and finite, got 0"
    );
}
