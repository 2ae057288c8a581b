//! No stepper allocates in a step, switches and impacts included.
#![allow(unsafe_code)] // a counting allocator must implement `GlobalAlloc`

mod common;

use std::alloc::{GlobalAlloc, Layout, System as Memory};
use std::cell::Cell;

use nsm_alpha::problems::{Kink, Problem, braiding_machine, cam, pothole, track};
use nsm_alpha::{ClassicalAlpha, EventDriven, Index, MoreauJean, Nsga, Restitution, Variant};
use nsm_constraints::{Affine, Rod};
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
    let moreau = MoreauJean::new(1e-3, e.clone());
    assert_none("ball", moreau.stepper(&ball, &start).unwrap(), &start, 4000);
    let (chain, start) = chain(20);
    let nsga = Nsga { restitution: e.clone(), ..Nsga::new(1e-3, 0.9).unwrap() };
    assert_none("chain", nsga.stepper(&chain, &start).unwrap(), &start, 340);
    let event = EventDriven { restitution: e.clone(), ..EventDriven::new(1e-3, 0.9).unwrap() };
    assert_none("chain", event.stepper(&chain, &start).unwrap(), &start, 340);
    let moreau = MoreauJean::new(1e-3, e);
    assert_none("chain", moreau.stepper(&chain, &start).unwrap(), &start, 340);
}

/// A chain of rods, solved sparsely, whose end falls onto a floor.
fn chain(links: usize) -> (System, State) {
    let mut system = System::new(Mass::diagonal(&vec![1.0; 2 * links]).unwrap());
    let mut q = Vec::new();
    for link in 0..links {
        let (x, y) = (2 * link, 2 * link + 1);
        let rod = if link == 0 {
            Rod::to_pivot(&[x, y], &[0.0, 0.0], 0.1).unwrap()
        } else {
            Rod::between(&[x - 2, y - 2], &[x, y], 0.1).unwrap()
        };
        let weight = Affine::new(&[y], &[9.81], 0.0).unwrap();
        system =
            system.with_potential("weight", weight).unwrap().with_equality("rod", rod).unwrap();
        q.extend([0.1 * (link as f64 + 1.0), 0.0]);
    }
    let floor = Affine::above(2 * links - 1, -0.3).unwrap();
    system = system.with_inequality("floor", floor).unwrap();
    let state = State::new(&system, &q, &vec![0.0; 2 * links]).unwrap();
    (system, state)
}
