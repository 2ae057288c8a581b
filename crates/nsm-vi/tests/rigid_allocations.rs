//! No step allocates, impacts and ties included.
#![allow(unsafe_code)] // a global allocator cannot be written without

mod cases;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use nsm_geom::{Mat3, Pose, Vec3};
use nsm_model::Stepper;
use nsm_vi::rigid::{BodyState, Lgvci, RigidState, RigidWorld};

struct Counting;

thread_local! {
    // Of this thread alone: the test harness allocates on its own.
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        unsafe { System.dealloc(ptr, layout) }
    }
}

#[global_allocator]
static GLOBAL: Counting = Counting;

fn allocations(world: &RigidWorld, mut state: RigidState, steps: usize) -> (usize, usize) {
    let mut stepper = Lgvci::default().stepper(world, &state, cases::H).unwrap();
    let before = ALLOCATIONS.with(Cell::get);
    let mut impacts = 0;
    for _ in 0..steps {
        stepper.step(&mut state).unwrap();
        impacts += stepper.events().len();
    }
    (ALLOCATIONS.with(Cell::get) - before, impacts)
}

#[test]
fn steps_do_not_allocate() {
    for number in 0..4 {
        let (allocations, impacts) = allocations(&cases::case(number), cases::start(), 20_000);
        assert_eq!(allocations, 0, "case {number}");
        assert!(impacts > 50);
    }
    // Flat drops: four points at each impact; two bodies: events are sorted.
    let pose = Pose::new(Vec3::new(0.0, 0.0, 5.0), Mat3::identity()).unwrap();
    let world = cases::case(3).with_body(cases::ellipsoid());
    let state = RigidState::new([BodyState::at_rest(pose), cases::start().bodies[0]]);
    let (allocations, impacts) = allocations(&world, state, 5000);
    assert_eq!(allocations, 0, "flat drop");
    assert!(impacts > 20);
}
