//! Many bodies: impacts between them, losses, friction and rest, against closed forms and conservation laws.

use nsm_geom::{Plane, Pose, Shape, Vec3, so3};
use nsm_model::{ContactLaw, Stepper};
use nsm_vi::rigid::{BodyState, EventTime, Lgvci, RigidBody, RigidError, RigidState, RigidWorld};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

const G: f64 = 9.81;

fn law(restitution: f64, friction: f64) -> ContactLaw {
    ContactLaw { restitution, tangential_restitution: 0.0, friction }
}

fn both() -> [Lgvci; 2] {
    [EventTime::Located, EventTime::Early].map(|events| Lgvci { events, ..Lgvci::default() })
}

fn world(gravity: f64, bodies: Vec<RigidBody>, floor: bool, law: ContactLaw) -> RigidWorld {
    let mut world = RigidWorld::new(Vec3::new(0.0, 0.0, -gravity)).unwrap();
    for body in bodies {
        world = world.with_body(body);
    }
    if floor {
        world = world.with_plane("floor", Plane::horizontal());
    }
    world.with_law(law).unwrap()
}

fn uniform(name: &str, mass: f64, shape: Shape) -> RigidBody {
    RigidBody::uniform(name, mass, shape).unwrap()
}

fn at(x: f64, y: f64, z: f64) -> Pose {
    Pose::translation(Vec3::new(x, y, z))
}

fn run(method: &Lgvci, world: &RigidWorld, state: &mut RigidState, h: f64, end: f64) -> usize {
    let mut stepper = method.stepper(world, state, h).unwrap();
    let mut events = 0;
    while state.t < end - 0.5 * h {
        stepper.step(state).unwrap_or_else(|e| panic!("{e}"));
        events += stepper.events().len();
    }
    events
}

fn momenta(state: &RigidState) -> (Vec3, Vec3) {
    let p = state.bodies.iter().map(|b| b.gamma).sum();
    (p, state.bodies.iter().map(BodyState::angular_momentum).sum())
}

#[test]
fn shapes_of_every_kind_keep_energy_and_momenta_when_they_meet() {
    let shapes = [
        Shape::sphere(0.4).unwrap(),
        Shape::cuboid([0.5, 0.3, 0.2]).unwrap(),
        Shape::capsule(0.4, 0.2).unwrap(),
        Shape::cylinder(0.4, 0.3).unwrap(),
        Shape::ellipsoid([0.6, 0.4, 0.3]).unwrap(),
        Shape::cuboid([0.4, 0.3, 0.2]).unwrap().rounded(0.05).unwrap(),
        Shape::union(vec![
            Shape::sphere(0.3).unwrap().at(Vec3::new(0.4, 0.0, 0.0)),
            Shape::cuboid([0.4, 0.1, 0.1]).unwrap(),
        ])
        .unwrap(),
    ];
    for method in both() {
        for (i, s) in shapes.iter().enumerate() {
            for (j, t) in shapes.iter().enumerate() {
                let bodies = vec![uniform("a", 1.0, s.clone()), uniform("b", 2.0, t.clone())];
                let world = world(0.0, bodies, false, law(1.0, 0.0));
                let spin = |w: [f64; 3], b: usize| world.bodies()[b].inertia() * Vec3::from(w);
                let turned = Pose { x: Vec3::new(2.0, 0.1, 0.05), ..Pose::identity() };
                let turned = Pose { rot: so3::exp(&Vec3::new(0.5, 0.7, 0.2)), ..turned };
                let mut state = RigidState::new([
                    BodyState::new(
                        at(0.0, 0.0, 0.0),
                        Vec3::new(1.0, 0.0, 0.0),
                        spin([0.3, 0.5, 1.0], 0),
                    ),
                    BodyState::new(turned, Vec3::new(-1.0, 0.0, 0.1), spin([1.0, -0.4, 0.2], 1)),
                ]);
                let (energy, (p, l)) = (world.energy(&state), momenta(&state));
                let events = run(&method, &world, &mut state, 0.01, 2.0);
                assert!(events >= 1, "{i} {j} {:?}", method.events);
                let (q, m) = momenta(&state);
                assert!((world.energy(&state) - energy).abs() < 1e-13, "{i} {j}");
                assert!((q - p).norm() < 1e-14 && (m - l).norm() < 1e-13, "{i} {j}");
            }
        }
    }
}

#[test]
fn a_frictional_impact_loses_energy_and_keeps_momenta() {
    for method in both() {
        let bodies = vec![
            uniform("a", 1.0, Shape::cuboid([0.5, 0.3, 0.2]).unwrap()),
            uniform("b", 2.0, Shape::ellipsoid([0.6, 0.4, 0.3]).unwrap()),
        ];
        let world = world(0.0, bodies, false, law(0.7, 0.4));
        let mut state = RigidState::new([
            BodyState::new(at(0.0, 0.0, 0.0), Vec3::new(1.0, 0.0, 0.0), Vec3::new(0.1, 0.05, 0.1)),
            BodyState::new(at(2.0, 0.3, 0.1), Vec3::new(-1.0, 0.1, 0.1), Vec3::new(0.2, -0.1, 0.0)),
        ]);
        let (energy, (p, l)) = (world.energy(&state), momenta(&state));
        assert!(run(&method, &world, &mut state, 0.01, 2.0) >= 1);
        let (q, m) = momenta(&state);
        assert!(world.energy(&state) < energy - 1e-3);
        assert!((q - p).norm() < 1e-14 && (m - l).norm() < 1e-13);
    }
}

#[test]
fn bodies_of_every_shape_come_to_rest_on_the_floor() {
    let shapes = [
        Shape::cuboid([0.2, 0.15, 0.1]).unwrap(),
        Shape::capsule(0.2, 0.1).unwrap(),
        Shape::cylinder(0.1, 0.2).unwrap(),
        Shape::cuboid([0.2, 0.15, 0.1]).unwrap().rounded(0.02).unwrap(),
    ];
    for method in both() {
        for (k, shape) in shapes.iter().enumerate() {
            for e in [0.0, 0.5] {
                let world = world(G, vec![uniform("body", 1.0, shape.clone())], true, law(e, 0.4));
                let pose =
                    Pose { x: Vec3::new(0.0, 0.0, 0.5), rot: so3::exp(&Vec3::new(0.1, 0.2, 0.0)) };
                let mut state = RigidState::new([BodyState::at_rest(pose)]);
                let start = world.energy(&state);
                run(&method, &world, &mut state, 0.005, 2.0);
                let body = &state.bodies[0];
                let gap = world.gap(0, 0, body);
                assert!(gap.abs() < 1e-9, "{k} {e}: gap {gap}");
                assert!(body.gamma.z.abs() < 1e-9, "{k} {e}: {}", body.gamma.z);
                assert!(world.energy(&state) < start);
                // The two boxes lie still; what is round may roll.
                if k == 0 || k == 3 {
                    assert!(world.bodies()[0].kinetic_energy(body) < 1e-20, "{k} {e}");
                }
            }
        }
    }
}

#[test]
fn a_box_slides_as_friction_says_and_stops_where_it_should() {
    // v²/(2μg), within μgh²/8 of the step.
    let (mu, v, h) = (0.3, 3.0, 0.01);
    for method in both() {
        let bodies = vec![uniform("box", 2.0, Shape::cuboid([0.2, 0.2, 0.05]).unwrap())];
        let world = world(G, bodies, true, law(0.0, mu));
        let start = BodyState::new(at(0.0, 0.0, 0.05), Vec3::new(2.0 * v, 0.0, 0.0), Vec3::zeros());
        let mut state = RigidState::new([start]);
        run(&method, &world, &mut state, h, 1.5);
        let x = state.bodies[0].pose.x;
        let stop = v * v / (2.0 * mu * G);
        assert!((x.x - stop).abs() < mu * G * h * h / 8.0 + 1e-9, "{} {stop}", x.x);
        assert!(state.bodies[0].gamma.norm() < 1e-12 && (x.z - 0.05).abs() < 1e-13);
    }
}

#[test]
fn a_sphere_that_slips_begins_to_roll_with_five_sevenths_of_its_speed() {
    for method in both() {
        let bodies = vec![uniform("ball", 1.0, Shape::sphere(0.5).unwrap())];
        let world = world(G, bodies, true, law(0.0, 0.2));
        let start = BodyState::new(at(0.0, 0.0, 0.5), Vec3::new(7.0, 0.0, 0.0), Vec3::zeros());
        let mut state = RigidState::new([start]);
        run(&method, &world, &mut state, 0.01, 1.5);
        let ball = &state.bodies[0];
        assert!((ball.gamma.x - 5.0).abs() < 1e-10, "{}", ball.gamma.x);
        let omega = ball.pose.rot * (world.bodies()[0].inverse_inertia() * ball.pi);
        assert!((0.5 * omega.y - 5.0).abs() < 1e-10, "{omega}");
        assert!((ball.pose.x.x - 8.519_367_992).abs() < 1e-5);
    }
}

#[test]
fn boxes_stand_on_each_other() {
    for method in both() {
        let boxes =
            (0..3).map(|k| uniform(&format!("b{k}"), 1.0, Shape::cuboid([0.2; 3]).unwrap()));
        let world = world(G, boxes.collect(), true, law(0.0, 0.5));
        let mut state = RigidState::new(
            (0..3).map(|k| BodyState::at_rest(at(0.0, 0.0, 0.2 + 0.4 * f64::from(k)))),
        );
        run(&method, &world, &mut state, 0.005, 0.2);
        for (k, body) in state.bodies.iter().enumerate() {
            let expected = Vec3::new(0.0, 0.0, 0.2 + 0.4 * k as f64);
            assert!((body.pose.x - expected).norm() < 1e-12, "{k}: {}", body.pose.x);
            // Contact forces are solved to 1e-9 of what weight does in a step.
            assert!(body.gamma.norm() < 1e-9 * 3.0 * G * 0.005, "{k}: {}", body.gamma);
        }
    }
}

/// Boxes with gaps between them, askew: they land, rest, and have the energy of statics. The contact forces of every step are solved to six digits.
#[test]
fn boxes_that_fall_on_each_other_come_to_rest() {
    for (e, mu) in [(0.0, 0.5), (0.3, 0.3), (0.0, 0.0)] {
        let cube = || Shape::cuboid([0.2; 3]).unwrap();
        let bodies = (0..4).map(|i| uniform(&format!("b{i}"), 1.0, cube())).collect();
        let world = world(G, bodies, true, law(e, mu));
        let poses = (0..4).map(|i| {
            let i = f64::from(i);
            let turn = nsm_geom::so3::exp(&Vec3::new(0.0, 0.0, 0.025 * i));
            BodyState::at_rest(Pose { rot: turn, ..at(0.005 * (i % 2.0), 0.0, 0.21 + 0.41 * i) })
        });
        let mut state = RigidState::new(poses);
        let start = world.energy(&state);
        let mut stepper = Lgvci::default().stepper(&world, &state, 0.005).unwrap();
        for _ in 0..120 {
            let report = stepper.step(&mut state).unwrap();
            assert!(report.contact_residual <= 1e-6, "{}", report.contact_residual);
        }
        let energy = world.energy(&state);
        assert!(energy < start && (energy - G * 3.2).abs() < 1e-6, "{e} {mu}: {energy}");
    }
}

#[test]
fn the_order_is_two_where_impacts_are_located_and_one_where_they_are_early() {
    let end = |events, h: f64| {
        let bodies = vec![
            uniform("a", 1.0, Shape::ellipsoid([0.7, 0.5, 0.35]).unwrap()),
            uniform("b", 1.5, Shape::ellipsoid([0.35, 0.5, 0.7]).unwrap()),
        ];
        let world = world(0.0, bodies, false, law(1.0, 0.0));
        let mut state = RigidState::new([
            BodyState::new(at(0.0, 0.0, 0.0), Vec3::new(1.0, 0.1, 0.0), Vec3::new(0.1, 0.2, -0.1)),
            BodyState::new(at(2.0, 0.2, 0.1), Vec3::new(-0.7, 0.0, 0.0), Vec3::new(-0.2, 0.1, 0.2)),
        ]);
        let method = Lgvci { events, ..Lgvci::default() };
        assert_eq!(run(&method, &world, &mut state, h, 2.0), 1);
        state.bodies[0].pose.x
    };
    let exact = end(EventTime::Located, 0.000_625);
    let error = |events, h| (end(events, h) - exact).norm();
    let ratio = error(EventTime::Located, 0.02) / error(EventTime::Located, 0.01);
    assert!((ratio - 4.0).abs() < 0.2, "{ratio}");
    assert!(error(EventTime::Early, 0.01) > 20.0 * error(EventTime::Located, 0.01));
}

/// Balls with random velocities in a room.
fn gas(count: u32, gravity: f64, e: f64, mu: f64) -> (RigidWorld, RigidState) {
    let mut rng = Pcg64::seed_from_u64(11);
    let mut world = RigidWorld::new(Vec3::new(0.0, 0.0, -gravity)).unwrap();
    let mut bodies = Vec::new();
    for i in 0..count {
        for j in 0..count {
            for k in 0..count {
                world = world.with_body(uniform(
                    &format!("b{i}{j}{k}"),
                    1.0,
                    Shape::sphere(0.5).unwrap(),
                ));
                let v = Vec3::from_fn(|_, _| rng.random_range(-1.0..1.0));
                let x = Vec3::new(f64::from(i), f64::from(j), f64::from(k)) * 1.4;
                let shift = Vec3::from_fn(|_, _| rng.random_range(0.0..0.2));
                bodies.push(BodyState::new(Pose::translation(x + shift), v, Vec3::zeros()));
            }
        }
    }
    let high = 1.4 * f64::from(count) - 0.5;
    let world = world.with_room(Vec3::repeat(-0.7), Vec3::repeat(high)).unwrap();
    (world.with_law(law(e, mu)).unwrap(), RigidState::new(bodies))
}

#[test]
fn a_gas_of_balls_keeps_its_energy_and_enters_nothing() {
    for method in both() {
        let (world, mut state) = gas(3, 0.0, 1.0, 0.0);
        let energy = world.energy(&state);
        let events = run(&method, &world, &mut state, 0.01, 5.0);
        assert!(events > 50, "{events}");
        assert!((world.energy(&state) - energy).abs() < 1e-12 * energy);
        for (i, a) in state.bodies.iter().enumerate() {
            for b in &state.bodies[..i] {
                assert!((a.pose.x - b.pose.x).norm() > 1.0 - 1e-10);
            }
        }
    }
}

#[test]
fn the_same_physics_in_other_units_is_the_same_motion() {
    let end = |length: f64, mass: f64, time: f64| {
        let speed = length / time;
        let shape = Shape::cuboid([0.2 * length, 0.15 * length, 0.1 * length]).unwrap();
        let bodies = vec![uniform("box", mass, shape)];
        let world = world(G * length / (time * time), bodies, true, law(0.5, 0.3));
        let pose =
            Pose { x: Vec3::new(0.0, 0.0, 0.4 * length), rot: so3::exp(&Vec3::new(0.3, 0.2, 0.1)) };
        let v = Vec3::new(1.0, 0.5, 0.0) * (mass * speed);
        let mut state = RigidState::new([BodyState::new(pose, v, Vec3::zeros())]);
        run(&Lgvci::default(), &world, &mut state, 0.005 * time, 0.6 * time);
        state.bodies[0].pose.x / length
    };
    let (metres, millimetres) = (end(1.0, 1.0, 1.0), end(1e3, 1e3, 1e3));
    assert!((metres - millimetres).norm() < 1e-10, "{metres} {millimetres}");
}

#[test]
fn what_overlaps_at_the_start_is_refused_or_moved_apart() {
    let bodies = vec![
        uniform("a", 1.0, Shape::sphere(0.5).unwrap()),
        uniform("b", 3.0, Shape::cuboid([0.5; 3]).unwrap()),
    ];
    let world = world(G, bodies, true, law(0.5, 0.3));
    let mut state = RigidState::new([
        BodyState::at_rest(at(0.0, 0.0, 0.45)),
        BodyState::at_rest(at(0.9, 0.0, 0.5)),
    ]);
    let error = Lgvci::default().stepper(&world, &state, 0.01).unwrap_err();
    assert!(matches!(error, RigidError::Penetration { .. }), "{error}");
    state.bodies[0].pose.x.z = 0.5;
    let error = Lgvci::default().stepper(&world, &state, 0.01).unwrap_err();
    let RigidError::Overlap { first, second, depth } = error else { panic!("{error}") };
    assert_eq!((first.as_str(), second.as_str()), ("a", "b"));
    assert!((depth - 0.1).abs() < 1e-12);
    state.bodies[0].pose.x.z = 0.45;
    let moved = world.separate(&mut state).unwrap();
    assert!((0.05..0.1).contains(&moved), "{moved}");
    run(&Lgvci::default(), &world, &mut state, 0.01, 0.1);
}
