//! No stepper allocates in a step, switches and impacts included.
#![allow(unsafe_code)] // a counting allocator must implement `GlobalAlloc`

mod common;

use std::alloc::{GlobalAlloc, Layout, System as Memory};
use std::cell::Cell;

use nsm_alpha::problems::{Kink, Problem, braiding_machine, cam, pothole, track};
use nsm_alpha::{ClassicalAlpha, EventDriven, Index, MoreauJean, Nsga, Restitution, Variant};
use nsm_constraints::Affine;
use nsm_model::{Mass, State, Stepper, System};

struct Counting;
thread_local! {
    // Of this thread alone: the test harness allocates on its own.
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: forwards every call to the system allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.with(|count| count.set(count.get() + 1));
        unsafe { Memory.alloc(layout) }
    }
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        unsafe { Memory.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn assert_none<S: Stepper<State = State>>(name: &str, mut stepper: S, start: &State, steps: usize) {
    let mut state = start.clone();
    let mut events = 0;
    let before = COUNT.with(Cell::get);
    for _ in 0..steps {
        stepper.step(&mut state).unwrap();
        events += stepper.events().len();
    }
    let count = COUNT.with(Cell::get) - before;
    assert_eq!(count, 0, "{name}: {count} allocations in {steps} steps with {events} events");
    assert!(events > 0, "{name}: no event was met");
}

#[test]
fn steps_do_not_allocate() {
    let problems = [
        ("track", track(Kink::Uphill).unwrap(), 4000),
        ("braiding machine", braiding_machine(1.0).unwrap(), 3000),
        ("pothole", pothole().unwrap(), 3000),
        ("cam", cam(2.0).unwrap(), 3000),
    ];
    for (name, Problem { system, start }, steps) in &problems {
        for index in [Index::Three, Index::Two, Index::One] {
            let method = ClassicalAlpha::new(1e-3, index, 0.9).unwrap();
            assert_none(name, method.stepper(system, start).unwrap(), start, *steps);
        }
        for variant in [Variant::Published, Variant::Active] {
            for interpolation in [1.0, 0.7] {
                let method = Nsga { variant, interpolation, ..Nsga::new(1e-3, 0.9).unwrap() };
                assert_none(name, method.stepper(system, start).unwrap(), start, *steps);
            }
        }
        for interpolation in [1.0, 0.7] {
            let method = EventDriven { interpolation, ..EventDriven::new(1e-3, 0.9).unwrap() };
            assert_none(name, method.stepper(system, start).unwrap(), start, *steps);
        }
    }
    let ball = System::new(Mass::diagonal(&[1.0]).unwrap())
        .with_potential("gravity", Affine::new(&[0], &[9.81], 0.0).unwrap())
        .unwrap()
        .with_inequality("floor", Affine::above(0, 0.0).unwrap())
        .unwrap();
    let start = State::new(&ball, &[1.0], &[0.0]).unwrap();
    let e = Restitution::Uniform(0.5);
    let nsga = Nsga { restitution: e.clone(), ..Nsga::new(1e-3, 0.9).unwrap() };
    assert_none("ball", nsga.stepper(&ball, &start).unwrap(), &start, 4000);
    let event = EventDriven { restitution: e.clone(), ..EventDriven::new(1e-3, 0.9).unwrap() };
    assert_none("ball", event.stepper(&ball, &start).unwrap(), &start, 4000);
    let moreau = MoreauJean::new(1e-3, e);
    assert_none("ball", moreau.stepper(&ball, &start).unwrap(), &start, 4000);
}
