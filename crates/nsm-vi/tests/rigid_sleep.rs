//! Islands that sleep: they stay where they are, book what they booked, and wake when something comes near, as if they had been solved all the time.

use nsm_geom::{Plane, Pose, Shape, Vec3};
use nsm_model::{ContactLaw, Stepper};
use nsm_vi::rigid::{BodyState, Lgvci, RigidBody, RigidState, RigidWorld};

const G: f64 = 9.81;
const H: f64 = 0.005;
/// Steps until everything sleeps: the impulses settle, then nothing moves for 32.
const LONG: usize = 80;

/// Five boxes on each other and, apart from them, a ball at a height.
fn stack_and_ball(height: f64) -> (RigidWorld, RigidState) {
    let mut world = RigidWorld::new(Vec3::new(0.0, 0.0, -G)).unwrap();
    let mut bodies = Vec::new();
    for i in 0..5_u8 {
        let cube = Shape::cuboid([0.2; 3]).unwrap();
        world = world.with_body(RigidBody::uniform(format!("box {i}"), 1.0, cube).unwrap());
        let x = Vec3::new(0.03 * f64::from(i % 2), 0.0, 0.2 + 0.4 * f64::from(i));
        bodies.push(BodyState::at_rest(Pose::translation(x)));
    }
    let ball = Shape::sphere(0.1).unwrap();
    world = world.with_body(RigidBody::uniform("ball", 1.0, ball).unwrap());
    bodies.push(BodyState::at_rest(Pose::translation(Vec3::new(0.05, 0.02, height))));
    let law = ContactLaw { restitution: 0.3, tangential_restitution: 0.0, friction: 0.5 };
    let world = world.with_plane("floor", Plane::horizontal()).with_law(law).unwrap();
    (world, RigidState::new(bodies))
}

#[test]
fn a_stack_that_sleeps_costs_no_iteration_and_carries_its_weight() {
    let (world, mut state) = stack_and_ball(1000.0);
    let start = state.clone();
    let mut stepper = Lgvci::default().stepper(&world, &state, H).unwrap();
    let mut iterations = Vec::new();
    for _ in 0..LONG + 20 {
        iterations.push(stepper.step(&mut state).unwrap().iterations);
    }
    assert!(iterations[..10].iter().sum::<usize>() > 0);
    assert_eq!(iterations[LONG..].iter().sum::<usize>(), 0, "{iterations:?}");
    // The four corners on the floor carry five boxes.
    let carried: f64 =
        stepper.events().held().iter().filter(|c| c.contact == 0).map(|c| c.normal).sum();
    assert!((carried / (5.0 * G * H) - 1.0).abs() < 1e-9, "{carried}");
    for (now, was) in state.bodies.iter().zip(&start.bodies).take(5) {
        assert!((now.pose.x - was.pose.x).amax() < 1e-12);
        assert_eq!((now.gamma, now.pi), (Vec3::zeros(), Vec3::zeros()));
    }
}

#[test]
fn a_ball_wakes_a_stack_as_if_it_had_not_slept() {
    // It falls for 0.7 s, while the stack sleeps.
    let (world, mut state) = stack_and_ball(4.5);
    let mut stepper = Lgvci::default().stepper(&world, &state, H).unwrap();
    for _ in 0..LONG {
        let _ = stepper.step(&mut state).unwrap();
    }
    // A stepper that is new has nothing that sleeps.
    let mut awake = state.clone();
    let mut fresh = Lgvci::default().stepper(&world, &awake, H).unwrap();
    let mut struck = 0;
    for _ in 0..100 {
        let _ = stepper.step(&mut state).unwrap();
        let _ = fresh.step(&mut awake).unwrap();
        struck += stepper.events().len();
    }
    assert!(struck > 0);
    assert!(state.bodies[4].pose.x.z > 1.79 && state.bodies[5].pose.x.z < 2.6);
    for (slept, solved) in state.bodies.iter().zip(&awake.bodies) {
        let apart = (slept.pose.x - solved.pose.x).amax();
        assert!(apart < 1e-8, "{apart:e}");
    }
}

#[test]
fn a_state_that_is_changed_from_outside_wakes() {
    let (world, mut state) = stack_and_ball(1000.0);
    let mut stepper = Lgvci::default().stepper(&world, &state, H).unwrap();
    for _ in 0..LONG {
        let _ = stepper.step(&mut state).unwrap();
    }
    let before = state.bodies[4].pose.x.x;
    state.bodies[4].gamma = Vec3::new(1.0, 0.0, 0.0);
    for _ in 0..20 {
        let _ = stepper.step(&mut state).unwrap();
    }
    // It slides: v t - mu g t^2/2.
    let slid = state.bodies[4].pose.x.x - before;
    let t = 20.0 * H;
    assert!((slid - (t - 0.25 * G * t * t)).abs() < 0.01, "{slid}");
}
