//! No step allocates, impacts and ties included.

mod cases;
mod counting;

use nsm_geom::{Mat3, Pose, Vec3};
use nsm_model::Stepper;
use nsm_vi::rigid::{BodyState, Lgvci, RigidState, RigidWorld};

fn allocations(world: &RigidWorld, mut state: RigidState, steps: usize) -> (usize, usize) {
    let mut stepper = Lgvci::default().stepper(world, &state, cases::H).unwrap();
    // The storage of bodies that are moved together grows to what they meet.
    for _ in 0..if world.bodies().len() > 1 { steps / 2 } else { 0 } {
        stepper.step(&mut state).unwrap();
    }
    let before = counting::allocations();
    let mut impacts = 0;
    for _ in 0..steps {
        stepper.step(&mut state).unwrap();
        impacts += stepper.events().len();
    }
    (counting::allocations() - before, impacts)
}

#[test]
fn steps_do_not_allocate() {
    for number in 0..4 {
        let (allocations, impacts) = allocations(&cases::case(number), cases::start(), 20_000);
        assert_eq!(allocations, 0, "case {number}");
        assert!(impacts > 50);
    }
    // Flat drops: four points at each impact; two bodies: events are sorted.
    let pose = Pose::new(Vec3::new(-200.0, 0.0, 5.0), Mat3::identity()).unwrap();
    let world = cases::case(3).with_body(cases::ellipsoid());
    let state = RigidState::new([BodyState::at_rest(pose), cases::start().bodies[0]]);
    let (allocations, impacts) = allocations(&world, state, 5000);
    assert_eq!(allocations, 0, "flat drop");
    assert!(impacts > 20);
}
