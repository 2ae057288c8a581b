//! Queries do not allocate: counted, not claimed.
// A global allocator cannot be written without unsafe code; this one only counts and forwards.
#![allow(unsafe_code)]

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    hint::black_box,
};

use nsm_geom::{Csg, Plane, Pose, Shape, Vec3, body_gap, distance::separation_along, se3, so3};

struct Counting;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.with(|c| c.set(c.get() + 1));
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations(work: impl FnOnce()) -> u64 {
    let before = COUNT.with(Cell::get);
    work();
    COUNT.with(Cell::get) - before
}

#[test]
fn queries_do_not_allocate() {
    let cloud: Vec<Vec3> = (0..80)
        .map(|k| {
            let t = f64::from(k);
            Vec3::new((1.7 * t).sin(), (2.3 * t).cos(), (0.9 * t + 1.0).sin())
        })
        .collect();
    let lens = [-0.5, 0.5].map(|x| Shape::sphere(1.0).unwrap().at(Vec3::new(x, 0.0, 0.0)));
    let shapes = [
        Shape::sphere(1.0).unwrap(),
        Shape::ellipsoid([1.0, 2.0, 3.0]).unwrap(),
        Shape::cuboid([1.0; 3]).unwrap(),
        Shape::capsule(1.0, 0.5).unwrap(),
        Shape::cylinder(1.0, 0.5).unwrap(),
        Shape::polyhedron(&cloud).unwrap(),
        Shape::cuboid([1.0; 3]).unwrap().rounded(0.1).unwrap(),
        Shape::union(lens.to_vec()).unwrap(),
        Shape::intersection(lens.to_vec()).unwrap(),
    ];
    let plane = Plane::horizontal();
    let pose = Pose { x: Vec3::new(0.1, 0.2, 0.3), rot: so3::exp(&Vec3::new(0.3, -0.2, 0.5)) };
    let aligned = Pose::identity();
    let solid = Csg::body(shapes[1].clone()).difference(Csg::body(shapes[2].clone()));
    let room = shapes.iter().map(Shape::max_plane_contacts).max().unwrap();
    let mut contacts = Vec::with_capacity(room);

    assert!(allocations(|| drop(black_box(vec![1.0_f64; 8]))) > 0, "the counter counts");
    let count = allocations(|| {
        let f = Vec3::new(0.2, 0.1, -0.4);
        black_box(so3::log(&so3::exp(&f)));
        black_box(so3::cay_inv(&so3::cay(&f)).ok());
        black_box(se3::log(&se3::exp(&se3::twist(&f, &f))));
        for a in &shapes {
            black_box(a.support(&f));
            black_box(a.plane_gap(&plane, &pose));
            a.plane_contacts(&plane, &aligned, 1e-9, &mut contacts);
            black_box(&contacts);
            black_box(a.signed_distance(&f));
            black_box(solid.signed_distance(&f));
            for b in &shapes {
                black_box(separation_along(&Vec3::x(), a, &pose, b, &aligned));
                for far in [0.0, 0.7, 9.0] {
                    let there = Pose { x: Vec3::new(far, 0.0, 0.0), ..aligned };
                    assert!(black_box(body_gap(a, &aligned, b, &there)).is_ok());
                    assert!(black_box(body_gap(a, &pose, b, &there)).is_ok());
                }
            }
        }
    });
    assert_eq!(count, 0);
}
