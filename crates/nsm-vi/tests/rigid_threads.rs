//! However many threads move the bodies: states, reports and events are the same to the last bit.

use nsm_geom::{Plane, Pose, Shape, Vec3, so3};
use nsm_model::{ContactLaw, Stepper};
use nsm_vi::rigid::{BodyState, EventTime, Lgvci, RigidBody, RigidState, RigidWorld};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// What a run leaves behind: its states, and all that was told of its steps.
fn run(
    threads: usize,
    events: EventTime,
    (world, start): (&RigidWorld, &RigidState),
    (h, steps): (f64, usize),
) -> (RigidState, Vec<String>) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| {
        let mut state = start.clone();
        let method = Lgvci { events, ..Lgvci::default() };
        let mut stepper = method.stepper(world, &state, h).unwrap();
        let mut told = Vec::new();
        for _ in 0..steps {
            let report = stepper.step(&mut state).unwrap();
            told.push(format!("{report:?}"));
            told.extend(stepper.events().iter().map(|event| format!("{event:?}")));
            told.extend(stepper.events().held().iter().map(|held| format!("{held:?}")));
        }
        (state, told)
    })
}

fn same(world: &RigidWorld, start: &RigidState, h: f64, steps: usize) -> usize {
    let mut told = 0;
    for events in [EventTime::Early, EventTime::Located] {
        let alone = run(1, events, (world, start), (h, steps));
        told += alone.1.len() - steps;
        for threads in [2, 4] {
            let shared = run(threads, events, (world, start), (h, steps));
            for (k, (a, b)) in alone.1.iter().zip(&shared.1).enumerate() {
                assert_eq!(a, b, "{threads} threads, {events:?}, line {k}");
            }
            assert!(alone == shared, "{threads} threads, {events:?}");
        }
    }
    told
}

/// A gas so large that all parts of a step are shared. Some of it turns, and some are boxes.
#[test]
fn a_gas_is_the_same_with_any_number_of_threads() {
    let (per_edge, apart) = (17_u32, 1.3);
    let side = apart * f64::from(per_edge);
    let mut rng = Pcg64::seed_from_u64(3);
    let mut vector = |size: f64| Vec3::from_fn(|_, _| rng.random_range(-size..size));
    let mut world = RigidWorld::new(Vec3::new(0.0, 0.0, -0.5)).unwrap();
    let mut bodies = Vec::new();
    for i in 0..per_edge.pow(3) {
        let shape = match i % 7 {
            0 => Shape::cuboid([0.35, 0.25, 0.2]).unwrap(),
            _ => Shape::sphere(0.5).unwrap(),
        };
        world = world.with_body(RigidBody::uniform(format!("{i}"), 1.0, shape).unwrap());
        let place = |k: u32| apart * (f64::from(k % per_edge) + 0.5);
        let x = Vec3::new(place(i), place(i / per_edge), place(i / per_edge / per_edge));
        let spin = vector(if i % 5 == 0 { 0.05 } else { 1e-9 });
        bodies.push(BodyState::new(Pose::translation(x), vector(2.0), spin));
    }
    let law = ContactLaw { restitution: 1.0, tangential_restitution: 0.0, friction: 0.0 };
    let world = world.with_room(Vec3::zeros(), Vec3::repeat(side)).unwrap().with_law(law).unwrap();
    let told = same(&world, &RigidState::new(bodies), 0.01, 30);
    assert!(told > 5000, "{told}");
}

/// Piles that fall together, rub and come to rest, each by itself.
#[test]
fn piles_are_the_same_with_any_number_of_threads() {
    let mut rng = Pcg64::seed_from_u64(4);
    let mut world = RigidWorld::new(Vec3::new(0.0, 0.0, -9.81)).unwrap();
    let mut bodies = Vec::new();
    for pile in 0..12_u32 {
        for level in 0..4_u32 {
            let shape = match (pile + level) % 3 {
                0 => Shape::sphere(0.2).unwrap(),
                _ => Shape::cuboid([0.3, 0.25, 0.2]).unwrap(),
            };
            let name = format!("{pile}.{level}");
            world = world.with_body(RigidBody::uniform(name, 1.0, shape).unwrap());
            let x = Vec3::new(
                3.0 * f64::from(pile) + rng.random_range(-0.05..0.05),
                rng.random_range(-0.05..0.05),
                0.25 + 0.45 * f64::from(level),
            );
            let rot = so3::exp(&Vec3::from_fn(|_, _| rng.random_range(-0.02..0.02)));
            bodies.push(BodyState::at_rest(Pose { x, rot }));
        }
    }
    let law = ContactLaw { restitution: 0.3, tangential_restitution: 0.0, friction: 0.5 };
    let world = world.with_plane("floor", Plane::horizontal()).with_law(law).unwrap();
    let told = same(&world, &RigidState::new(bodies), 0.005, 150);
    assert!(told > 5000, "{told}");
}
