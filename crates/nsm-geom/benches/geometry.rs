//! Rotations, support points, plane gaps, signed distances and body gaps.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use nsm_geom::{
    Plane, Pose, Shape, Vec3, body_gap,
    distance::{body_gap_near, separation_along},
    se3, so3,
};
use parry3d_f64::math::Vector;

fn directions() -> Vec<Vec3> {
    (0..64)
        .map(|k| {
            let t = f64::from(k);
            Vec3::new((1.7 * t).sin(), (2.3 * t).cos(), (0.9 * t + 1.0).sin()).normalize()
        })
        .collect()
}

fn shapes() -> Vec<(&'static str, Shape)> {
    let cloud: Vec<Vec3> = directions();
    let ico: Vec<Vec3> = directions().into_iter().take(20).collect();
    let lens = [-0.5, 0.5].map(|x| Shape::sphere(1.0).unwrap().at(Vec3::new(x, 0.0, 0.0)));
    vec![
        ("sphere", Shape::sphere(1.0).unwrap()),
        ("ellipsoid", Shape::ellipsoid([2.0, 3.0, 4.0]).unwrap()),
        ("cuboid", Shape::cuboid([1.0, 2.0, 0.5]).unwrap()),
        ("capsule", Shape::capsule(1.0, 0.5).unwrap()),
        ("cylinder", Shape::cylinder(1.0, 0.5).unwrap()),
        ("polyhedron20", Shape::polyhedron(&ico).unwrap()),
        ("polyhedron64", Shape::polyhedron(&cloud).unwrap()),
        ("rounded_cuboid", Shape::cuboid([1.0, 2.0, 0.5]).unwrap().rounded(0.1).unwrap()),
        ("union_of_two", Shape::union(lens.to_vec()).unwrap()),
        ("intersection_of_two", Shape::intersection(lens.to_vec()).unwrap()),
    ]
}

/// Runs `f` over the directions in turn, so that no branch or value is learnt.
fn over(c: &mut Criterion, name: &str, mut f: impl FnMut(&Vec3)) {
    let directions = directions();
    let mut k = 0;
    c.bench_function(name, |b| {
        b.iter(|| {
            k = (k + 1) & 63;
            f(black_box(&directions[k]));
        });
    });
}

fn rotations(c: &mut Criterion) {
    let r: Vec<_> = directions().iter().map(so3::exp).collect();
    let mut k = 0;
    over(c, "so3/exp", |f| {
        black_box(so3::exp(f));
    });
    over(c, "so3/exp_small", |f| {
        black_box(so3::exp(&(f * 0.02)));
    });
    over(c, "so3/cay", |f| {
        black_box(so3::cay(f));
    });
    over(c, "so3/log", |_| {
        k = (k + 1) & 63;
        black_box(so3::log(black_box(&r[k])));
    });
    over(c, "so3/dexp_body_inv", |f| {
        black_box(so3::dexp_body_inv(f));
    });
    over(c, "se3/exp", |f| {
        black_box(se3::exp(&se3::twist(f, f)));
    });
}

fn queries(c: &mut Criterion) {
    let plane = Plane::horizontal();
    let rot = so3::exp(&Vec3::new(0.3, -0.2, 0.5));
    for (name, shape) in shapes() {
        over(c, &format!("support/{name}"), |u| {
            black_box(shape.support(u));
        });
        over(c, &format!("plane_gap/{name}"), |u| {
            black_box(shape.plane_gap(&plane, &Pose { x: *u, rot }));
        });
        over(c, &format!("signed_distance/{name}"), |u| {
            black_box(shape.signed_distance(&(u * 1.3)));
        });
    }
}

fn gaps(c: &mut Criterion) {
    let shapes = shapes();
    let rot = so3::exp(&Vec3::new(0.3, -0.2, 0.5));
    let still = Pose::identity();
    for (i, j) in [(0, 0), (0, 1), (1, 1), (2, 2), (3, 3), (2, 1), (4, 2), (5, 5), (7, 7)] {
        let ((name_a, a), (name_b, b)) = (&shapes[i], &shapes[j]);
        let reach = a.bounding_radius() + b.bounding_radius();
        over(c, &format!("gap/{name_a}-{name_b}/apart"), |u| {
            black_box(body_gap(a, &still, b, &Pose { x: u * (1.1 * reach), rot }).ok());
        });
        over(c, &format!("gap/{name_a}-{name_b}/overlap"), |u| {
            black_box(body_gap(a, &still, b, &Pose { x: u * (0.15 * reach), rot }).ok());
        });
        over(c, &format!("gap/{name_a}-{name_b}/overlap_hinted"), |u| {
            black_box(body_gap_near(u, a, &still, b, &Pose { x: u * (0.45 * reach), rot }).ok());
        });
        over(c, &format!("separation/{name_a}-{name_b}"), |u| {
            black_box(separation_along(u, a, &still, b, &Pose { x: u * (1.1 * reach), rot }));
        });
    }
}

/// parry on the same boxes and balls, as a yardstick.
fn peer(c: &mut Criterion) {
    let vector = |v: &Vec3| Vector::new(v.x, v.y, v.z);
    let turn = vector(&Vec3::new(0.3, -0.2, 0.5));
    let still = parry3d_f64::math::Pose::identity();
    let cuboid = parry3d_f64::shape::Cuboid::new(Vector::new(1.0, 2.0, 0.5));
    let hull: Vec<Vector> = directions().iter().take(20).map(vector).collect();
    let polyhedron = parry3d_f64::shape::ConvexPolyhedron::from_convex_hull(&hull).unwrap();
    let shapes: [(&str, &dyn parry3d_f64::shape::Shape, f64); 2] =
        [("cuboid", &cuboid, 2.0 * 5.25_f64.sqrt()), ("polyhedron20", &polyhedron, 2.0)];
    for (name, shape, reach) in shapes {
        for (place, factor) in [("apart", 1.1), ("overlap", 0.15)] {
            over(c, &format!("parry/{name}-{name}/{place}"), |u| {
                let there = parry3d_f64::math::Pose::new(vector(&(u * (factor * reach))), turn);
                black_box(parry3d_f64::query::contact(&still, shape, &there, shape, 100.0).ok());
            });
        }
    }
}

fn construction(c: &mut Criterion) {
    let cloud = directions();
    c.bench_function("hull/64", |b| {
        b.iter(|| black_box(Shape::polyhedron(black_box(&cloud)).ok()));
    });
    let large = Shape::ellipsoid([3.0, 4.0, 5.0]).unwrap().at(Vec3::new(1.5, 0.0, 0.0));
    let slender = Shape::ellipsoid([6.0, 1.0, 1.0]).unwrap().at(Vec3::new(-4.5, 0.0, 0.0));
    let body = Shape::union(vec![large, slender]).unwrap();
    let mut group = c.benchmark_group("mass");
    group.sample_size(10);
    group
        .bench_function("case_iii_union", |b| b.iter(|| black_box(body.mass_properties(1.0).ok())));
    group.finish();
}

criterion_group!(benches, rotations, queries, gaps, peer, construction);
criterion_main!(benches);
