//! Mechanisms that make no sense, and steps that lead nowhere.

mod linkages;

use linkages::four_bar;
use nsm_constraints::multibody::{End, Inertia, JointKind, Mechanism, MechanismError, Pose};
use nsm_constraints::{ConstraintError, Reparametrisation};

#[test]
fn what_makes_no_sense_is_named() {
    let mut mechanism = Mechanism::new();
    assert_eq!(mechanism.start(), Err(MechanismError::Empty));
    let good = Inertia::cuboid(1.0, [1.0; 3]);
    let mut bent = Pose::at([0.0; 3]);
    bent.directors[0][1] = 1e-3;
    assert!(matches!(
        mechanism.add_body("bent", good, bent),
        Err(MechanismError::Directors { node, .. }) if node == "bent"
    ));
    for bad in [f64::NAN, f64::INFINITY] {
        assert!(mechanism.add_body("lost", good, Pose::at([bad, 0.0, 0.0])).is_err());
        assert!(mechanism.add_particle("lost", bad, [0.0; 3]).is_err());
        assert!(Mechanism::new().with_gravity([0.0, bad, 0.0]).is_err());
    }
    for (inertia, what) in [
        (Inertia::cuboid(-1.0, [1.0; 3]), "mass"),
        (Inertia::principal(1.0, [1.0, -0.1, 1.0]), "smallest eigenvalue"),
        (
            Inertia { mass: 1.0, euler: [[1.0, 0.5, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]] },
            "opposite",
        ),
        (Inertia::principal(1.0, [f64::NAN; 3]), "entry"),
    ] {
        let error = mechanism.add_body("odd", inertia, Pose::at([0.0; 3])).unwrap_err();
        assert!(error.to_string().contains(what) && error.to_string().contains("`odd`"), "{error}");
    }
    assert_eq!(mechanism.dimension(), 0);
    let a = mechanism.add_body("a", good, Pose::at([0.0; 3])).unwrap();
    let b = mechanism.add_body("b", good, Pose::at([1.0, 0.0, 0.0])).unwrap();
    let particle = mechanism.add_particle("grain", 1.0, [5.0; 3]).unwrap();
    let taken = MechanismError::DuplicateName { name: "a".into() };
    assert_eq!(mechanism.add_node("a", Pose::at([0.0; 3])), Err(taken));
    let mut join = |name: &str, ends: [End; 2], axis: [f64; 3]| {
        mechanism.add_joint(name, JointKind::Revolute, ends, [0.0; 3], axis)
    };
    let up = [0.0, 0.0, 1.0];
    let pair = [a.into(), b.into()];
    for axis in [[0.0; 3], [0.0, 0.0, 1.1], [f64::NAN, 0.0, 1.0]] {
        let error = join("hinge", pair, axis).unwrap_err();
        assert!(
            matches!(error, MechanismError::Axis { ref joint, .. } if joint == "hinge"),
            "{error}"
        );
    }
    let same = MechanismError::SameEnds { joint: "hinge".into(), end: "a".into() };
    assert_eq!(join("hinge", [a.into(), a.into()], up), Err(same));
    assert!(matches!(
        join("hinge", [End::Ground, End::Ground], up),
        Err(MechanismError::SameEnds { .. })
    ));
    assert!(matches!(
        join("hinge", [particle.into(), a.into()], up),
        Err(MechanismError::Particle { particle, .. }) if particle == "grain"
    ));
    let mut other = Mechanism::new();
    for i in 0..9 {
        other.add_node(&format!("{i}"), Pose::at([0.0; 3])).unwrap();
    }
    let stranger = other.add_node("stranger", Pose::at([0.0; 3])).unwrap();
    assert!(matches!(
        join("hinge", [End::Ground, stranger.into()], up),
        Err(MechanismError::UnknownNode { node: 9, nodes: 3, .. })
    ));
    let hinge = join("hinge", pair, up).unwrap();
    assert!(matches!(
        mechanism.set_rate(hinge, &[1.0, 2.0]),
        Err(MechanismError::Rates { freedoms: 1, given: 2, .. })
    ));
    assert!(mechanism.set_rate(hinge, &[f64::NAN]).is_err());
    mechanism.set_velocity(b, [1.0, 0.0, 0.0], [0.0; 3]).unwrap();
    assert!(matches!(
        mechanism.start(),
        Err(MechanismError::Hanging { node, joint, parent })
            if (&*node, &*joint, &*parent) == ("b", "hinge", "a")
    ));
}

#[test]
fn joints_that_leave_no_freedom_are_refused() {
    let mut mechanism = Mechanism::new();
    let bar = mechanism
        .add_body("bar", Inertia::cuboid(1.0, [1.0, 0.1, 0.1]), Pose::at([0.5, 0.0, 0.0]))
        .unwrap();
    for (name, at) in [("left", [0.0; 3]), ("right", [1.0, 0.0, 0.0])] {
        let ends = [End::Ground, bar.into()];
        mechanism.add_joint(name, JointKind::Revolute, ends, at, [0.0, 1.0, 0.0]).unwrap();
    }
    let stuck = MechanismError::Immovable { joints: vec!["left".into(), "right".into()] };
    assert_eq!(mechanism.start(), Err(stuck.clone()));
    assert_eq!(mechanism.closure().unwrap_err(), stuck);
}

#[test]
fn a_linkage_that_can_go_on_in_two_ways_is_refused() {
    // A parallelogram that lies flat: all pins on a line.
    let pins = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [4.0, 0.0, 0.0], [3.0, 0.0, 0.0]];
    let mechanism = linkages::planar(pins);
    let q = mechanism.start_position();
    assert_eq!(mechanism.redundancy(&q).unwrap().freedoms, 2);
    let mut closure = mechanism.closure().unwrap();
    let mut out = vec![0.0; q.len()];
    let error = closure.place(&[0.1, 0.2], &q, &mut out).unwrap_err();
    assert!(
        matches!(error, ConstraintError::NotClosed { ref name, .. } if name.starts_with("pin 3"))
    );
    assert!(out.iter().all(|x| *x == 0.0));
}

#[test]
fn a_step_without_an_end_is_refused_and_forgotten() {
    let mechanism = four_bar();
    let mut closure = mechanism.closure().unwrap();
    let q = mechanism.start_position();
    let (mut before, mut after) = (vec![0.0; q.len()], vec![0.0; q.len()]);
    closure.place(&[0.1], &q, &mut before).unwrap();
    for bad in [f64::NAN, f64::INFINITY] {
        assert!(closure.place(&[bad], &q, &mut after).is_err());
    }
    closure.place(&[0.1], &q, &mut after).unwrap();
    assert!(before.iter().zip(&after).all(|(a, b)| (a - b).abs() < 1e-15));
}

#[test]
fn vectors_of_the_wrong_length_are_refused() {
    let mechanism = four_bar();
    let q = mechanism.start_position();
    let mut out = vec![0.0; q.len()];
    let mut tree = mechanism.tree();
    assert!(tree.place(&[0.0; 2], &q, &mut out).is_err());
    assert!(tree.place(&[0.0; 3], &q[1..], &mut out).is_err());
    assert!(tree.place(&[0.0; 3], &q, &mut out[1..]).is_err());
    assert!(tree.tangent(&[0.0; 2], &q, &mut []).is_err());
    tree.place(&[0.0; 3], &q, &mut out).unwrap();
    let mut closure = mechanism.closure().unwrap();
    assert!(closure.place(&[], &q, &mut out).is_err());
    assert!(closure.place(&[0.0], &q[1..], &mut out).is_err());
    let pin = mechanism.joint("pin 0").unwrap();
    assert!(mechanism.joint_coordinates(pin, &q[1..]).is_err());
    assert!(mechanism.redundancy(&q[1..]).is_err());
}
