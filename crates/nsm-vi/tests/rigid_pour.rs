//! Two hundred spheres pour into a bin: nothing is entered, energy only goes, and in the end what leans on others lies still.

use nsm_geom::{Plane, Pose, Shape, Vec3};
use nsm_model::{ContactLaw, Stepper};
use nsm_vi::rigid::{BodyState, Lgvci, RigidBody, RigidState, RigidWorld};

const RADIUS: f64 = 0.1;
const G: f64 = 9.81;

/// Two layers of ten by ten, each ball pushed aside a little, over the floor of a bin that is as wide as they are.
fn poured() -> (RigidWorld, RigidState) {
    let mut world = RigidWorld::new(Vec3::new(0.0, 0.0, -G)).unwrap();
    let mut bodies = Vec::new();
    for i in 0..200_u8 {
        let ball = Shape::sphere(RADIUS).unwrap();
        world = world.with_body(RigidBody::uniform(format!("{i}"), 1.0, ball).unwrap());
        let (k, place) = (f64::from(i), |k: u8| 0.216 * f64::from(k % 10) - 0.972);
        let x = Vec3::new(
            place(i) + 0.0055 * (7.0 * k).sin(),
            place(i / 10) + 0.0055 * (11.0 * k + 1.0).sin(),
            0.12 + 0.23 * f64::from(i / 100) + 0.005 * (13.0 * k + 2.0).sin(),
        );
        bodies.push(BodyState::at_rest(Pose::translation(x)));
    }
    let mut world = world.with_plane("floor", Plane::horizontal());
    for (k, normal) in [Vec3::x(), -Vec3::x(), Vec3::y(), -Vec3::y()].into_iter().enumerate() {
        world = world.with_half_space(format!("wall {k}"), normal, 1.091).unwrap();
    }
    let law = ContactLaw { restitution: 0.3, tangential_restitution: 0.0, friction: 0.3 };
    (world.with_law(law).unwrap(), RigidState::new(bodies))
}

fn energy(world: &RigidWorld, state: &RigidState) -> f64 {
    let of = |(s, b): (&BodyState, &RigidBody)| b.kinetic_energy(s) + G * s.pose.x.z;
    state.bodies.iter().zip(world.bodies()).map(of).sum()
}

/// They fall and pack; with `NSM_POUR` set, for five seconds, which take some three minutes, until what leans on others lies still. What lies on the
/// floor alone rolls for ever: there is no resistance to that.
#[test]
fn two_hundred_spheres_pour_into_a_bin() {
    let to_rest = std::env::var_os("NSM_POUR").is_some();
    let (world, mut state) = poured();
    let mut stepper = Lgvci::default().stepper(&world, &state, 0.005).unwrap();
    let (start, mut highest) = (energy(&world, &state), f64::NEG_INFINITY);
    for _ in 0..if to_rest { 1000 } else { 120 } {
        stepper.step(&mut state).unwrap_or_else(|e| panic!("{e}"));
        highest = highest.max(energy(&world, &state));
    }
    assert!(highest <= start * (1.0 + 1e-12), "{highest} {start}");
    assert!(energy(&world, &state) < start - if to_rest { 100.0 } else { 60.0 });
    let mut rolling = 0;
    for (i, ball) in state.bodies.iter().enumerate() {
        let apart = state.bodies[..i].iter().map(|b| (b.pose.x - ball.pose.x).norm());
        assert!(apart.fold(f64::INFINITY, f64::min) > 2.0 * RADIUS - 1e-8, "{i}");
        let (height, speed) = (ball.pose.x.z - RADIUS, ball.gamma.norm());
        assert!(height > -1e-8, "{i}");
        // Speeds after four seconds: 8e-7 m/s off the floor, 5 mm/s on it.
        assert!(!to_rest || speed < 1e-5 || height < 1e-8, "{i}: {speed:e} at {height:e}");
        rolling += usize::from(speed >= 1e-5);
    }
    // Four in one run, seven in another: which lean on nothing is chance.
    assert!(!to_rest || rolling <= 20, "{rolling} roll");
}
