//! Impacts on planes: when they happen, what they conserve, ties, restitution, accumulation.

mod cases;

use cases::{G, H, case, gravity, start};
use nsm_geom::{Mat3, Plane, Pose, Shape, Vec3, so3};
use nsm_model::{ContactLaw, StepError, Stepper, run_steps};
use nsm_vi::rigid::{
    BodyState, Jump, Lgvci, Lgvi, Retraction, RigidBody, RigidProbe, RigidState, RigidWorld,
    RootFinder,
};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// First eight impact times of the discrete map at h = 0.01, from quadruple precision.
const TIMES: [[f64; 8]; 4] = [
    [
        2.649_128_901_5,
        4.893_938_255_3,
        5.350_135_680_9,
        6.520_005_137_8,
        9.445_693_565_8,
        11.309_326_095_5,
        14.288_356_180_9,
        15.918_361_455_1,
    ],
    [
        2.639_194_210_3,
        5.181_335_613_0,
        5.411_419_248_2,
        6.381_179_311_5,
        9.490_571_840_8,
        10.689_967_643_9,
        10.763_986_309_9,
        10.818_896_600_9,
    ],
    [
        2.009_288_622_5,
        2.928_858_417_5,
        5.891_282_561_5,
        6.207_491_309_4,
        8.840_394_998_1,
        11.445_149_922_7,
        13.075_266_123_3,
        15.747_073_413_8,
    ],
    [
        2.608_788_264_9,
        3.657_973_349_0,
        6.618_368_317_6,
        6.619_415_679_6,
        8.941_018_241_3,
        10.811_919_200_9,
        14.045_887_054_2,
        14.062_308_242_6,
    ],
];

/// Impact times and the state after `steps` steps.
fn run(
    method: &Lgvci,
    world: &RigidWorld,
    from: RigidState,
    h: f64,
    steps: usize,
) -> (Vec<f64>, RigidState) {
    let mut state = from;
    let mut stepper = method.stepper(world, &state, h).unwrap();
    let mut times = Vec::new();
    for _ in 0..steps {
        stepper.step(&mut state).unwrap();
        times.extend(stepper.events().iter().map(|event| event.t));
    }
    (times, state)
}

#[test]
fn first_eight_impact_times_of_all_four_cases() {
    let exponential = Lgvci {
        flow: Lgvi { retraction: Retraction::Exponential, ..Lgvi::default() },
        root: RootFinder::Bisection,
        ..Lgvci::default()
    };
    for (number, want) in TIMES.iter().enumerate() {
        for method in [Lgvci::default(), exponential, Lgvci::paper()] {
            let (times, _) = run(&method, &case(number), start(), H, 1600);
            for (k, (t, want)) in times.iter().zip(want).enumerate() {
                assert!((t - want).abs() < 1e-9, "case {number}, impact {k}: {t} not {want}");
            }
            assert!(times.len() >= 8);
        }
    }
}

#[test]
fn a_hundred_thousand_steps_conserve_energy_momentum_and_orthogonality() {
    for number in [0, 2, 3] {
        let world = case(number);
        let mut state = start();
        let mut stepper = Lgvci::default().stepper(&world, &state, H).unwrap();
        let mut probe = RigidProbe::new(&world);
        let ledger =
            run_steps(&mut stepper, &mut probe, &mut state, 100_000, &mut ()).unwrap().ledger;
        let name = world.bodies()[0].name();
        assert!(ledger.energy.deviation() <= 1e-11, "{name}: {:.2e}", ledger.energy.deviation());
        for axis in ["x", "y"] {
            assert_eq!(ledger.invariant(&format!("{name}_p{axis}")).unwrap().width(), 0.0);
        }
        assert!(ledger.position_residual <= 1e-12, "{name}: {:.2e}", ledger.position_residual);
        assert_eq!(ledger.penetration, 0.0, "{name}");
        assert!(ledger.event_energy_change.abs() <= 1e-12);
        // Energy goes to and fro between translation with height and rotation.
        let transfer = ledger.invariant(&format!("{name}_RE")).unwrap().width();
        assert!(transfer > 50.0, "{name}: {transfer}");
    }
}

#[test]
fn targeting_holds_the_energy_of_the_start() {
    let world = case(0);
    let e0 = world.energy(&start());
    let method = Lgvci { jump: Jump::Targeting, ..Lgvci::default() };
    let (_, end) = run(&method, &world, start(), H, 100_000);
    assert!((world.energy(&end) - e0).abs() < 1e-12);
}

#[test]
fn impact_times_are_of_second_order() {
    for number in 0..4 {
        let world = case(number);
        let at = |steps: usize| {
            let (times, _) = run(&Lgvci::default(), &world, start(), 4.0 / steps as f64, steps);
            times[0]
        };
        let (a, b, c) = (at(1600), at(3200), at(6400));
        let order = ((a - b) / (b - c)).abs().log2();
        // The attitude of a cube, a spherical top, is of second order too.
        assert!((order - 2.0).abs() < 0.15, "case {number}: order {order}");
    }
}

fn ball(radius: f64) -> RigidBody {
    RigidBody::uniform("ball", 1.0, Shape::sphere(radius).unwrap()).unwrap()
}

fn dropped(body: RigidBody, height: f64, rot: Mat3) -> (RigidWorld, RigidState) {
    let world = RigidWorld::new(gravity())
        .unwrap()
        .with_body(body)
        .with_plane("ground", Plane::horizontal());
    let pose = Pose::new(Vec3::new(0.0, 0.0, height), rot).unwrap();
    (world, RigidState::new([BodyState::at_rest(pose)]))
}

#[test]
fn a_ball_bounces_at_the_instants_of_the_closed_form() {
    let (world, state) = dropped(ball(0.5), 1.5, Mat3::identity());
    let fall = (2.0 / G).sqrt();
    let (times, end) = run(&Lgvci::default(), &world, state.clone(), H, 1000);
    for (k, t) in times.iter().enumerate() {
        let want = fall * (2 * k + 1) as f64;
        assert!((t - want).abs() < 1e-11, "bounce {k}: {t} not {want}");
    }
    assert_eq!(times.len(), 11);
    assert!((world.energy(&end) - world.energy(&state)).abs() < 1e-12);
}

/// How far the lowest corner of the cube lies below its centre.
fn lowest_corner(rot: &Mat3) -> f64 {
    let third_row = rot.row(2);
    3.0_f64.sqrt() * third_row.iter().map(|c| c.abs()).sum::<f64>()
}

#[test]
fn a_cube_dropped_flat_on_an_edge_or_on_a_corner_leaves_as_it_came() {
    let quarter = std::f64::consts::FRAC_PI_4;
    let corner = so3::exp(&(Vec3::new(1.0, -1.0, 0.0).normalize() * (1.0 / 3.0_f64.sqrt()).acos()));
    let turned = so3::exp(&Vec3::new(0.0, 0.0, 0.3));
    for (rot, points) in [
        (Mat3::identity(), 4),
        (turned, 4),
        (so3::exp(&Vec3::new(quarter, 0.0, 0.0)), 2),
        (turned * so3::exp(&Vec3::new(quarter, 0.0, 0.0)), 2),
        (corner, 1),
        (turned * corner, 1),
    ] {
        let (world, mut state) = dropped(cases::cube(), 5.0, rot);
        let energy = world.energy(&state);
        let mut stepper = Lgvci::default().stepper(&world, &state, H).unwrap();
        let mut bounces = 0;
        for _ in 0..500 {
            stepper.step(&mut state).unwrap();
            for event in stepper.events().iter() {
                bounces += 1;
                // Four corners of a face are redundant: two opposite ones can carry it all.
                let least = points.min(2);
                assert!((least..=points).contains(&event.contacts.len()), "bounce {bounces}");
                // The impulse of the fall from height 5, whichever corners share it.
                let lowest = 5.0 - lowest_corner(&rot);
                let want = 2.0 * (2.0 * G * lowest).sqrt();
                let sum: f64 = event.impulses.iter().sum();
                assert!((sum - want).abs() < 1e-6 * want, "{sum} not {want}");
            }
        }
        assert!(bounces >= 3, "{bounces} bounces");
        let body = &state.bodies[0];
        assert!(body.pi.norm() < 1e-8, "{:.1e}", body.pi.norm());
        assert!((world.energy(&state) - energy).abs() < 1e-11);
    }
}

#[test]
fn a_spinning_cube_dropped_flat_keeps_its_spin() {
    let (world, mut state) = dropped(cases::cube(), 5.0, Mat3::identity());
    state.bodies[0].pi = Vec3::new(0.0, 0.0, 3.0);
    let mut stepper = Lgvci::default().stepper(&world, &state, H).unwrap();
    let mut points = Vec::new();
    for _ in 0..2000 {
        stepper.step(&mut state).unwrap();
        points.extend(stepper.events().iter().map(|event| event.contacts.len()));
    }
    assert!(points.len() > 10 && points.iter().all(|n| (2..=4).contains(n)), "{points:?}");
    assert!((state.bodies[0].pi - Vec3::new(0.0, 0.0, 3.0)).norm() < 1e-8);
}

#[test]
fn a_ball_in_the_corner_of_a_room_reflects_from_three_planes_at_once() {
    let world = RigidWorld::new(Vec3::zeros())
        .unwrap()
        .with_body(ball(0.5))
        .with_room(Vec3::zeros(), Vec3::new(10.0, 10.0, 10.0))
        .unwrap();
    let pose = Pose::translation(Vec3::new(3.0, 3.0, 3.0));
    let gamma = Vec3::new(-1.0, -1.0, -1.0);
    let mut state = RigidState::new([BodyState::new(pose, gamma, Vec3::zeros())]);
    let mut stepper = Lgvci::default().stepper(&world, &state, H).unwrap();
    let mut seen = Vec::new();
    for _ in 0..300 {
        stepper.step(&mut state).unwrap();
        for event in stepper.events().iter() {
            seen.push((event.t, event.contacts.to_vec()));
        }
    }
    assert_eq!(seen.len(), 1);
    assert!((seen[0].0 - 2.5).abs() < 1e-12);
    assert_eq!(seen[0].1, [0, 2, 4]);
    assert!((state.bodies[0].gamma + gamma).norm() < 1e-14);
}

#[test]
fn a_body_stays_in_a_closed_room_for_a_million_steps() {
    let world = RigidWorld::new(gravity())
        .unwrap()
        .with_body(cases::ellipsoid())
        .with_room(Vec3::new(-8.0, -7.0, 0.0), Vec3::new(8.0, 7.0, 12.0))
        .unwrap();
    let mut state = start();
    state.bodies[0].pose.x.z = 6.0;
    let energy = world.energy(&state);
    let mut stepper = Lgvci::default().stepper(&world, &state, H).unwrap();
    let mut impacts = 0;
    let mut hit = [false; 6];
    for _ in 0..1_000_000 {
        stepper.step(&mut state).unwrap();
        for event in stepper.events().iter() {
            impacts += 1;
            event.contacts.iter().for_each(|&c| hit[c] = true);
        }
        for plane in 0..6 {
            assert!(world.gap(0, plane, &state.bodies[0]) >= 0.0);
        }
    }
    assert!(impacts > 10_000 && hit.iter().all(|&h| h), "{impacts} {hit:?}");
    assert!((world.energy(&state) - energy).abs() < 1e-10 * energy);
    assert!(so3::orthogonality_defect(&state.bodies[0].pose.rot) < 1e-12);
}

#[test]
fn a_tumbling_tetrahedron_conserves_energy_and_never_enters_the_ground() {
    let mut rng = Pcg64::seed_from_u64(7);
    for _ in 0..5 {
        let vertices: Vec<Vec3> =
            (0..4).map(|_| Vec3::from_fn(|_, _| rng.random_range(-1.5..1.5))).collect();
        let Ok(shape) = Shape::polyhedron(&vertices) else { continue };
        let body = RigidBody::uniform("tetrahedron", 1.0, shape).unwrap();
        let (world, mut state) = dropped(body, 6.0, Mat3::identity());
        let spin = Vec3::from_fn(|_, _| rng.random_range(-0.3..0.3));
        state.bodies[0].pi = world.bodies()[0].inertia() * spin * 5.0;
        let energy = world.energy(&state);
        let mut stepper = Lgvci::default().stepper(&world, &state, 1e-3).unwrap();
        let mut impacts = 0;
        for _ in 0..20_000 {
            stepper.step(&mut state).unwrap();
            impacts += stepper.events().len();
            assert!(world.gap(0, 0, &state.bodies[0]) >= -1e-10);
        }
        assert!(impacts > 10, "{impacts}");
        let drift = (world.energy(&state) - energy).abs();
        assert!(drift < 1e-10 * energy, "{drift:.1e}");
    }
}

#[test]
fn bounces_with_restitution_end_at_their_instant_in_rest() {
    let e = 0.5;
    let (world, mut state) = dropped(ball(0.5), 1.5, Mat3::identity());
    let method = Lgvci { restitution: e, ..Lgvci::default() };
    let mut stepper = method.stepper(&world, &state, H).unwrap();
    // Bounces at t₀(1 + 2e + 2e² + …) accumulate at t₀(1 + e)/(1 − e).
    let fall = (2.0 / G).sqrt();
    let limit = fall * (1.0 + e) / (1.0 - e);
    let mut energy = world.energy(&state);
    let mut times = Vec::new();
    while state.t < 5.0 * limit {
        stepper.step(&mut state).unwrap();
        times.extend(stepper.events().iter().map(|event| event.t));
        let now = world.energy(&state);
        assert!(now <= energy + 1e-12);
        energy = now;
    }
    for (k, t) in times.iter().enumerate().take(5) {
        let expected = fall * (1.0 + 2.0 * (1..=k).map(|j| e.powf(j as f64)).sum::<f64>());
        assert!((t - expected).abs() < 1e-12, "bounce {k}: {t} not {expected}");
    }
    // The bounces that are left take less than the step.
    assert!(times.len() > 5 && limit - times[times.len() - 1] < 2.0 * H, "{times:?}");
    assert_eq!(state.bodies[0].gamma, Vec3::zeros());
    assert!(world.gap(0, 0, &state.bodies[0]).abs() < 1e-15);
}

#[test]
fn a_cube_with_restitution_comes_to_rest_on_a_face() {
    for rot in [Mat3::identity(), so3::exp(&Vec3::new(0.3, 0.2, 0.0))] {
        let (world, mut state) = dropped(cases::cube(), 4.0, rot);
        let method = Lgvci { restitution: 0.5, ..Lgvci::default() };
        let mut stepper = method.stepper(&world, &state, H).unwrap();
        for _ in 0..2000 {
            stepper.step(&mut state).unwrap();
        }
        // Without friction it may slide and turn for ever, but it neither bounces nor rocks.
        let s = &state.bodies[0];
        assert!(s.gamma.z.abs() < 1e-11 && world.gap(0, 0, s).abs() < 1e-10, "{s:?}");
        let up = s.pose.rot.row(2).transpose();
        assert!((up.amax() - 1.0).abs() < 1e-12, "it stands on a face: {up}");
    }
}

#[test]
fn an_impact_that_both_ends_of_a_step_miss_is_found() {
    // A rod that turns by about a right angle in the step: its tip dips below the plane in between.
    let rod = RigidBody::uniform("rod", 1.0, Shape::capsule(1.0, 0.1).unwrap()).unwrap();
    let world = RigidWorld::new(Vec3::zeros())
        .unwrap()
        .with_body(rod)
        .with_plane("ground", Plane::horizontal());
    let inertia = world.bodies()[0].inertia().m22;
    let tilt = so3::exp(&Vec3::new(0.0, 0.5, 0.0));
    let pose = Pose::new(Vec3::new(0.0, 0.0, 1.05), tilt).unwrap();
    let spin = Vec3::new(0.0, -inertia, 0.0);
    let from = RigidState::new([BodyState::new(pose, Vec3::zeros(), spin)]);
    let free = RigidWorld::new(Vec3::zeros()).unwrap().with_body(world.bodies()[0].clone());
    let (_, passed) = run(&Lgvci::default(), &free, from.clone(), 1.0, 1);
    assert!(world.gap(0, 0, &from.bodies[0]) > 0.05 && world.gap(0, 0, &passed.bodies[0]) > 0.05);

    let (times, end) = run(&Lgvci::default(), &world, from.clone(), 1.0, 1);
    assert_eq!(times.len(), 1);
    assert!((0.05..0.5).contains(&times[0]), "{times:?}");
    assert!((world.energy(&end) - world.energy(&from)).abs() < 1e-14);
}

#[test]
fn a_grazing_body_slides_past() {
    let world = RigidWorld::new(Vec3::zeros())
        .unwrap()
        .with_body(ball(0.5))
        .with_plane("ground", Plane::horizontal());
    let pose = Pose::translation(Vec3::new(0.0, 0.0, 0.5));
    let from = RigidState::new([BodyState::new(pose, Vec3::new(1.0, 0.0, 0.0), Vec3::z())]);
    let (times, end) = run(&Lgvci::default(), &world, from, H, 100);
    assert!(times.is_empty());
    assert!((end.bodies[0].pose.x - Vec3::new(1.0, 0.0, 0.5)).norm() < 1e-12);
}

#[test]
fn a_start_on_the_plane_that_moves_into_it_bounces_at_once() {
    let world = RigidWorld::new(Vec3::zeros())
        .unwrap()
        .with_body(ball(0.5))
        .with_plane("ground", Plane::horizontal());
    let pose = Pose::translation(Vec3::new(0.0, 0.0, 0.5));
    let from = RigidState::new([BodyState::new(pose, Vec3::new(0.0, 0.0, -2.0), Vec3::zeros())]);
    let (times, end) = run(&Lgvci::default(), &world, from, H, 1);
    assert_eq!(times, [0.0]);
    assert_eq!(end.bodies[0].gamma.z, 2.0);
}

#[test]
fn opposed_planes_that_wedge_a_body_are_reported() {
    let world = RigidWorld::new(Vec3::zeros())
        .unwrap()
        .with_body(ball(0.5))
        .with_half_space("left", Vec3::x(), 0.5)
        .unwrap()
        .with_half_space("right", -Vec3::x(), 0.5)
        .unwrap();
    let from = RigidState::new([BodyState::new(
        Pose::identity(),
        Vec3::new(1.0, 0.0, 0.0),
        Vec3::zeros(),
    )]);
    let mut state = from.clone();
    let mut stepper = Lgvci::default().stepper(&world, &state, H).unwrap();
    let error = stepper.step(&mut state).unwrap_err();
    assert!(matches!(error, StepError::Impact { .. }), "{error}");
    assert_eq!(state, from);
}

#[test]
fn bodies_do_not_disturb_each_other_and_their_events_are_in_order() {
    let world = |bodies: &[RigidBody]| {
        let world = RigidWorld::new(gravity()).unwrap().with_plane("ground", Plane::horizontal());
        bodies.iter().cloned().fold(world, RigidWorld::with_body)
    };
    let (ellipsoid, cube) = (cases::ellipsoid(), cases::cube());
    let one = start().bodies[0];
    let (_, a) = run(&Lgvci::default(), &world(std::slice::from_ref(&ellipsoid)), start(), H, 3000);
    let (_, b) = run(&Lgvci::default(), &world(std::slice::from_ref(&cube)), start(), H, 3000);
    // They start in the same place, and pass through each other.
    let elastic = Some(ContactLaw::ELASTIC);
    let laws = vec![None, elastic, elastic, None];
    let both = world(&[ellipsoid, cube]).with_laws(vec![0, 0, 1], laws).unwrap();
    let (times, end) = run(&Lgvci::default(), &both, RigidState::new([one, one]), H, 3000);
    assert_eq!(end.bodies, [a.bodies[0], b.bodies[0]]);
    assert!(times.is_sorted() && times.len() > 20);
}

#[test]
fn a_pinned_body_swings_against_a_wall() {
    let rod = Shape::capsule(0.5, 0.05).unwrap().at(Vec3::new(0.0, 0.0, -0.5));
    let inertia = Mat3::from_diagonal(&Vec3::new(0.4, 0.4, 0.01));
    let pendulum = RigidBody::pinned("pendulum", 1.0, inertia, Vec3::new(0.0, 0.0, -0.5))
        .unwrap()
        .with_shape(rod);
    let world = RigidWorld::new(gravity())
        .unwrap()
        .with_body(pendulum)
        .with_half_space("wall", -Vec3::x(), 0.2)
        .unwrap();
    let pose = Pose::new(Vec3::zeros(), so3::exp(&Vec3::new(0.0, 0.7, 0.0))).unwrap();
    let mut state = RigidState::new([BodyState::at_rest(pose)]);
    let energy = world.energy(&state);
    let mut stepper = Lgvci::default().stepper(&world, &state, 1e-3).unwrap();
    let mut impacts = 0;
    for _ in 0..20_000 {
        stepper.step(&mut state).unwrap();
        impacts += stepper.events().len();
        assert_eq!(state.bodies[0].pose.x, Vec3::zeros());
        assert!((world.energy(&state) - energy).abs() < 1e-5 * energy.abs());
    }
    assert!(impacts > 10, "{impacts}");
}

#[test]
fn a_step_in_which_a_body_turns_too_far_is_split() {
    let world = case(0);
    let mut state = start();
    state.bodies[0].pi = Vec3::new(40.0, -50.0, 60.0);
    let energy = world.energy(&state);
    let h = 0.1;
    let body = &world.bodies()[0];
    assert!(Lgvi::default().fly(body, &gravity(), 0.0, &state.bodies[0], h).is_err());
    let mut stepper = Lgvci::default().stepper(&world, &state, h).unwrap();
    let mut impacts = 0;
    for k in 1..=2000 {
        stepper.step(&mut state).unwrap();
        impacts += stepper.events().len();
        assert_eq!(state.t, f64::from(k) * h);
        assert!(world.gap(0, 0, &state.bodies[0]) >= 0.0);
    }
    assert!(impacts > 20, "{impacts}");
    assert!((world.energy(&state) - energy).abs() < 1e-12 * energy);
}
