//! Cost of a step of many bodies: a gas of elastic spheres by both ways of treating impacts, settled spheres, and boxes at rest on each other.
//!
//! One iteration is one step of all bodies; the throughput counts bodies, so that the inverse of what is reported is the time of a body and step.
#![allow(missing_docs)] // Criterion's macros define undocumented functions.

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use nsm_geom::{Plane, Pose, Shape, Vec3};
use nsm_model::{ContactLaw, Stepper};
use nsm_vi::rigid::{BodyState, EventTime, Lgvci, RigidBody, RigidState, RigidWorld};
use rand::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64;

const G: f64 = 9.81;

fn law(restitution: f64, friction: f64) -> ContactLaw {
    ContactLaw { restitution, tangential_restitution: 0.0, friction }
}

/// Elastic spheres of radius one half that fill a fifth of a box, with normal velocities.
fn gas(n: usize) -> (RigidWorld, RigidState) {
    let volume = n as f64 * std::f64::consts::PI / 6.0 / 0.2;
    let side = volume.cbrt();
    let per_edge = (1..n).find(|k| k * k * k >= n).unwrap_or(1);
    let mut rng = Pcg64::seed_from_u64(1);
    let mut world = RigidWorld::new(Vec3::zeros()).expect("no gravity is finite");
    let mut bodies = Vec::new();
    for i in 0..n {
        let ball = Shape::sphere(0.5).expect("a ball");
        world = world.with_body(RigidBody::uniform(format!("{i}"), 1.0, ball).expect("a body"));
        let place = |k: usize| side * ((k % per_edge) as f64 + 0.5) / per_edge as f64;
        let x = Vec3::new(place(i), place(i / per_edge), place(i / per_edge / per_edge));
        let v = Vec3::from_fn(|_, _| StandardNormal.sample(&mut rng));
        bodies.push(BodyState::new(Pose::translation(x), v, Vec3::zeros()));
    }
    let world = world.with_room(Vec3::zeros(), Vec3::repeat(side)).expect("a room");
    (world.with_law(law(1.0, 0.0)).expect("a law"), RigidState::new(bodies))
}

/// Bodies over a floor and within walls, at rest.
fn at_rest(
    shapes: Vec<(Shape, Vec3)>,
    walls: &[(Vec3, f64)],
    law: ContactLaw,
) -> (RigidWorld, RigidState) {
    let mut world = RigidWorld::new(Vec3::new(0.0, 0.0, -G)).expect("gravity is finite");
    let mut bodies = Vec::new();
    for (i, (shape, x)) in shapes.into_iter().enumerate() {
        world = world.with_body(RigidBody::uniform(format!("{i}"), 1.0, shape).expect("a body"));
        bodies.push(BodyState::at_rest(Pose::translation(x)));
    }
    let mut world = world.with_plane("floor", Plane::horizontal());
    for (k, &(normal, offset)) in walls.iter().enumerate() {
        world = world.with_half_space(format!("wall {k}"), normal, offset).expect("a plane");
    }
    (world.with_law(law).expect("a law"), RigidState::new(bodies))
}

fn stack(n: usize) -> (RigidWorld, RigidState) {
    let cube = || Shape::cuboid([0.2; 3]).expect("a box");
    let at = |i: usize| (cube(), Vec3::new(0.0, 0.0, 0.2 + 0.4 * i as f64));
    at_rest((0..n).map(at).collect(), &[], law(0.0, 0.5))
}

/// Rows of four, three, two and one boxes.
fn pyramid() -> (RigidWorld, RigidState) {
    let mut shapes = Vec::new();
    for row in 0..4_u8 {
        for k in 0..4 - row {
            let x = 0.42 * f64::from(k) + 0.21 * f64::from(row);
            let cube = Shape::cuboid([0.2; 3]).expect("a box");
            shapes.push((cube, Vec3::new(x, 0.0, 0.2 + 0.4 * f64::from(row))));
        }
    }
    at_rest(shapes, &[], law(0.0, 0.5))
}

/// Spheres at rest in a bin: layers of `side` squared that touch the walls and layers of one less each way in their pockets, in turn.
///
/// Neighbours of a layer do not touch each other: what lies in a pocket leans on four spheres, on two and a wall, or on one and two walls.
fn settled(side: usize, layers: usize) -> (RigidWorld, RigidState) {
    let apart = 1.02_f64;
    let width = 1.0 + apart * (side - 1) as f64;
    let rise = (1.0 - 0.5 * apart * apart).sqrt();
    let mut shapes = Vec::new();
    for layer in 0..layers {
        let (count, start) =
            if layer % 2 == 0 { (side, 0.5) } else { (side - 1, 0.5 + 0.5 * apart) };
        for k in 0..count * count {
            let at = |k: usize| start + apart * k as f64;
            let ball = Shape::sphere(0.5).expect("a ball");
            let x = Vec3::new(at(k % count), at(k / count), 0.5 + rise * layer as f64);
            shapes.push((ball, x));
        }
    }
    let walls = [(Vec3::x(), 0.0), (-Vec3::x(), width), (Vec3::y(), 0.0), (-Vec3::y(), width)];
    at_rest(shapes, &walls, law(0.3, 0.5))
}

fn bench(
    c: &mut Criterion,
    name: &str,
    method: &Lgvci,
    (world, mut state): (RigidWorld, RigidState),
    (h, before): (f64, usize),
) {
    let mut stepper = method.stepper(&world, &state, h).expect("the bench's bodies fit");
    let mut left = before;
    let mut group = c.benchmark_group("bodies");
    group.sample_size(10).measurement_time(Duration::from_secs(2));
    group.throughput(Throughput::Elements(world.bodies().len() as u64));
    group.bench_function(name, |b| {
        // Steps that lead to what is timed are taken only where it is.
        for _ in 0..std::mem::take(&mut left) {
            let _ = stepper.step(&mut state).expect("the bench's steps succeed");
        }
        b.iter(|| stepper.step(black_box(&mut state)).expect("the bench's steps succeed"));
    });
    group.finish();
}

fn gases(c: &mut Criterion) {
    for n in [100, 1000, 10_000] {
        for events in [EventTime::Early, EventTime::Located] {
            let method = Lgvci { events, ..Lgvci::default() };
            bench(c, &format!("gas of {n} spheres, {events:?}"), &method, gas(n), (0.01, 50));
        }
    }
    let method = Lgvci { events: EventTime::Early, ..Lgvci::default() };
    bench(c, "gas of 100000 spheres, Early", &method, gas(100_000), (0.01, 5));
}

fn piles(c: &mut Criterion) {
    let method = Lgvci::default();
    for n in [2, 5, 10] {
        bench(c, &format!("stack of {n} boxes"), &method, stack(n), (0.005, 20));
    }
    bench(c, "pyramid of 10 boxes", &method, pyramid(), (0.005, 20));
    for (side, layers) in [(5, 5), (10, 11)] {
        let pile = settled(side, layers);
        let name = format!("settled pile of {} spheres", pile.1.bodies.len());
        bench(c, &format!("{name}, asleep"), &method, pile, (0.01, 60));
    }
}

criterion_group!(benches, gases, piles);
criterion_main!(benches);
