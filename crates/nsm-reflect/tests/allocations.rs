//! No impact allocates once its reflector is built.
#![allow(unsafe_code)] // A counting allocator must implement the unsafe trait GlobalAlloc.

use std::alloc::{GlobalAlloc, Layout, System as SystemAllocator};
use std::cell::Cell;

use nsm_constraints::{Affine, LineSpring, Rod, SphereGap};
use nsm_model::{Mass, System};
use nsm_reflect::{ContactTolerance, ImpactLaw, Quadrature, Reflector, Restitution, ShadowMetric};

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: forwards to the system allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        unsafe { SystemAllocator.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { SystemAllocator.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations(work: impl FnOnce()) -> usize {
    let before = ALLOCATIONS.with(Cell::get);
    work();
    ALLOCATIONS.with(Cell::get) - before
}

fn laws() -> [ImpactLaw; 5] {
    [
        ImpactLaw::Reflection,
        ImpactLaw::Published,
        ImpactLaw::Sequential(Restitution::ELASTIC),
        ImpactLaw::Newton(Restitution::Uniform(0.5)),
        ImpactLaw::Lcp(Restitution::Uniform(0.5)),
    ]
}

/// A row of balls on a line between two walls.
fn line(n: usize) -> System {
    let mut system = System::new(Mass::diagonal(&vec![1.0; n]).unwrap())
        .with_inequality("wall", Affine::above(0, 0.0).unwrap())
        .unwrap();
    for i in 1..n {
        system = system.with_inequality("gap", Affine::ahead(i - 1, i, 1.0).unwrap()).unwrap();
    }
    system
}

fn count(system: &System, q: &[f64], momenta: &[Vec<f64>]) {
    let mut g = vec![0.0; system.inequalities().entries()];
    system.inequalities().gradients(q, 0.0, &mut g);
    let mut f = vec![0.0; system.equalities().entries()];
    system.equalities().gradients(q, 0.0, &mut f);
    let all: Vec<usize> = (0..system.inequalities().len()).collect();
    for law in laws() {
        if law == ImpactLaw::Published && all.len() > 64 {
            continue;
        }
        let mut reflector =
            Reflector::new(system, law.clone(), ContactTolerance::default()).unwrap();
        for p in momenta {
            let mut p = p.clone();
            let mut rounds = 0;
            let counted = allocations(|| {
                rounds = reflector.reflect(system, &g, &f, &all, &mut p).unwrap().rounds;
            });
            assert!(rounds > 0);
            assert_eq!(counted, 0, "{law:?}");
        }
    }
}

#[test]
fn impacts_do_not_allocate() {
    count(&line(1), &[0.0], &[vec![-1.0]]);
    for n in [5, 40, 500] {
        let q: Vec<f64> = (0..n).map(|i| i as f64).collect();
        let mut wave = vec![0.0; n];
        wave[0] = 1.0;
        let compressed: Vec<f64> = (0..n).map(|i| -(i as f64)).collect();
        let mixed: Vec<f64> = (0..n).map(|i| ((i * 7919) % 101) as f64 - 50.0).collect();
        count(&line(n), &q, &[wave, compressed, mixed]);
    }
}

#[test]
fn impacts_under_equalities_do_not_allocate() {
    let n = 5;
    let mut system = System::new(Mass::diagonal(&[1.0; 10]).unwrap());
    let mut q = Vec::new();
    for i in 0..n {
        let rod = Rod::to_pivot(&[2 * i, 2 * i + 1], &[i as f64, 0.0], 3.0).unwrap();
        system = system.with_equality("rod", rod).unwrap();
        q.extend([i as f64, -3.0]);
    }
    for i in 1..n {
        let (a, b) = (2 * (i - 1), 2 * i);
        let gap = SphereGap::between_balls(&[a, a + 1], &[b, b + 1], 0.5, 0.5).unwrap();
        system = system.with_inequality("balls", gap).unwrap();
    }
    let mut p = vec![0.0; 10];
    p[0] = 1.0;
    count(&system, &q, &[p]);
}

#[test]
fn shadow_metrics_are_renewed_in_place() {
    let system = System::new(Mass::diagonal(&[1.0, 1.0]).unwrap())
        .with_potential("spring", LineSpring::new(0, 1, 10.0, 5.0).unwrap())
        .unwrap()
        .with_inequality("floor", Affine::above(1, 0.0).unwrap())
        .unwrap();
    let mut shadow = ShadowMetric::new(&system, Quadrature::Verlet, 0.1).unwrap();
    let mut reflector = Reflector::with_metric(
        &system,
        shadow.metric().clone(),
        ImpactLaw::Reflection,
        ContactTolerance::default(),
    )
    .unwrap();
    let mut p = [-7.0, -3.0];
    let counted = allocations(|| {
        shadow.renew(&system, &[5.0, 0.0], 0.0);
        let certificate =
            reflector.reflect_in(shadow.metric(), &system, &[1.0], &[], &[0], &mut p).unwrap();
        assert_eq!(certificate.rounds, 1);
    });
    assert_eq!(counted, 0);
}
