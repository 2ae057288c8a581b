//! Worlds, starts and methods that make no sense are refused with the culprit's name.

mod cases;

use cases::{H, case, gravity, start};
use nsm_geom::{GeomError, Mat3, Pose, Shape, Vec3};
use nsm_model::{StepError, Stepper};
use nsm_vi::rigid::{
    BodyState, Lgvci, Load, RigidBody, RigidError, RigidState, RigidWorld, Wrench,
};

#[test]
fn masses_and_inertias_must_be_positive() {
    for mass in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = RigidBody::new("stone", mass, Mat3::identity()).unwrap_err();
        assert!(matches!(&error, RigidError::Mass { body, .. } if body == "stone"), "{error}");
    }
    let skewed = Mat3::new(1.0, 0.5, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0);
    let flat = Mat3::from_diagonal(&Vec3::new(1.0, 1.0, 0.0));
    let negative = Mat3::from_diagonal(&Vec3::new(1.0, -1.0, 1.0));
    for inertia in [skewed, flat, negative, Mat3::repeat(f64::NAN)] {
        let error = RigidBody::new("stone", 1.0, inertia).unwrap_err();
        let source = GeomError::NotPositiveDefinite { eigenvalue: 0.0, asymmetry: 0.0 };
        let RigidError::Body { body, source: found } = &error else { panic!("{error}") };
        assert_eq!(body, "stone");
        assert_eq!(std::mem::discriminant(found), std::mem::discriminant(&source));
    }
}

#[test]
fn the_printed_inertia_of_case_iii_is_taken_by_its_symmetric_part() {
    let printed =
        Mat3::new(7.593_271_8, 6e-7, -4e-7, -6e-7, 9.932_643_4, 0.0, 4e-7, 0.0, 8.273_125_2);
    let body = RigidBody::new("union", 1.0, printed).unwrap();
    assert_eq!(*body.inertia(), *cases::union().inertia());
}

#[test]
fn degenerate_polyhedra_and_zero_normals_are_refused() {
    let coplanar: Vec<Vec3> = [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0), (0.3, 0.4)]
        .map(|(x, y)| Vec3::new(x, y, 0.2))
        .to_vec();
    for points in [&coplanar[..], &coplanar[..3]] {
        assert!(matches!(Shape::polyhedron(points), Err(GeomError::DegeneratePolyhedron { .. })));
    }
    let world = RigidWorld::new(gravity()).unwrap();
    let error = world.with_half_space("floor", Vec3::zeros(), 0.0).unwrap_err();
    assert!(matches!(
        &error,
        RigidError::Plane { plane, source: GeomError::ZeroDirection { .. } } if plane == "floor"
    ));
    let room =
        RigidWorld::new(gravity()).unwrap().with_room(Vec3::zeros(), Vec3::new(1.0, 0.0, 1.0));
    assert!(matches!(room, Err(RigidError::Parameter { .. })));
    assert!(matches!(
        RigidWorld::new(Vec3::new(0.0, f64::NAN, 0.0)),
        Err(RigidError::NotFinite { .. })
    ));
}

fn refusal(change: impl Fn(&mut RigidState)) -> RigidError {
    let mut state = start();
    change(&mut state);
    Lgvci::default().stepper(&case(0), &state, H).unwrap_err()
}

#[test]
fn starts_that_do_not_fit_are_refused() {
    let inside = refusal(|s| s.bodies[0].pose.x.z = 3.0);
    assert_eq!(
        inside,
        RigidError::Penetration { body: "ellipsoid".into(), plane: "ground".into(), depth: 1.0 }
    );
    let sheared = refusal(|s| s.bodies[0].pose.rot.m12 = 1e-3);
    assert!(matches!(sheared, RigidError::Attitude { .. }), "{sheared}");
    let mirrored = refusal(|s| s.bodies[0].pose.rot.m11 = -1.0);
    assert!(matches!(mirrored, RigidError::Attitude { .. }), "{mirrored}");
    assert!(matches!(
        refusal(|s| s.bodies[0].gamma.x = f64::NAN),
        RigidError::NotFinite { what: "the linear momentum", .. }
    ));
    assert!(matches!(
        refusal(|s| s.bodies[0].pi.y = f64::INFINITY),
        RigidError::NotFinite { what: "the angular momentum", .. }
    ));
    assert!(matches!(
        refusal(|s| s.bodies[0].pose.x.y = f64::NAN),
        RigidError::NotFinite { what: "the position", .. }
    ));
    assert_eq!(refusal(|s| s.bodies.clear()), RigidError::Bodies { given: 0, expected: 1 });
    let empty = RigidWorld::new(gravity()).unwrap();
    let refused = Lgvci::default().stepper(&empty, &RigidState::new([]), H).unwrap_err();
    assert_eq!(refused, RigidError::NoBodies);

    let pinned = RigidBody::pinned("top", 1.0, Mat3::identity(), Vec3::z()).unwrap();
    let world = RigidWorld::new(gravity()).unwrap().with_body(pinned);
    let refused = Lgvci::default().stepper(&world, &start(), H).unwrap_err();
    assert_eq!(refused, RigidError::Pinned { body: "top".into() });
}

#[test]
fn parameters_out_of_range_are_refused() {
    let world = case(0);
    for h in [0.0, -0.1, f64::NAN, f64::INFINITY] {
        assert!(Lgvci::default().stepper(&world, &start(), h).is_err());
    }
    for restitution in [-0.1, 1.1, f64::NAN] {
        let method = Lgvci { restitution, ..Lgvci::default() };
        assert!(method.stepper(&world, &start(), H).is_err());
    }
    let method = Lgvci { impact_limit: 0, ..Lgvci::default() };
    assert!(method.stepper(&world, &start(), H).is_err());
    let method = Lgvci { tie: f64::NAN, ..Lgvci::default() };
    assert!(method.stepper(&world, &start(), H).is_err());
}

#[test]
fn a_step_too_large_names_the_body_and_leaves_the_state() {
    let world = case(0);
    let mut state = start();
    state.bodies[0].pi *= 1e5;
    let before = state.clone();
    let mut stepper = Lgvci::default().stepper(&world, &state, H).unwrap();
    let error = stepper.step(&mut state).unwrap_err();
    assert!(
        matches!(&error, StepError::NotConverged { culprit, .. } if culprit == "ellipsoid"),
        "{error}"
    );
    assert_eq!(state, before);
}

#[test]
fn a_load_that_returns_nan_is_caught() {
    struct Broken;
    impl Load for Broken {
        fn wrench(&self, t: f64, _: &Pose) -> Wrench {
            let force = if t > 0.05 { Vec3::repeat(f64::NAN) } else { Vec3::zeros() };
            Wrench { force, torque: Vec3::zeros() }
        }
    }
    let body = RigidBody::new("kite", 1.0, Mat3::identity()).unwrap().with_load(Broken);
    let world = RigidWorld::new(gravity()).unwrap().with_body(body);
    let mut state = RigidState::new([BodyState::at_rest(Pose::identity())]);
    let mut stepper = Lgvci::default().stepper(&world, &state, H).unwrap();
    let error = (0..10).find_map(|_| stepper.step(&mut state).err()).unwrap();
    assert!(matches!(&error, StepError::NotFinite { culprit, .. } if culprit == "kite"), "{error}");
    assert!(state.bodies[0].pose.x.iter().all(|c| c.is_finite()));
}

#[test]
fn a_plane_added_after_the_law_of_all_contacts_is_refused_with_what_to_do() {
    let ball = RigidBody::uniform("ball", 1.0, Shape::sphere(0.5).unwrap()).unwrap();
    let world = RigidWorld::new(gravity()).unwrap().with_body(ball);
    let world = world.with_law(nsm_model::ContactLaw::frictionless(0.5)).unwrap();
    let world = world.with_half_space("floor", Vec3::z(), 0.0).unwrap();
    let state = RigidState::new([BodyState::at_rest(Pose::translation(Vec3::z()))]);
    let error = Lgvci::default().stepper(&world, &state, H).map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("before their laws"), "{error}");
}
