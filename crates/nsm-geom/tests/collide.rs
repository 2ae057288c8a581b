//! Contacts between bodies: the gap is the gap, features belong to it, and near pairs are all that are near.

mod common;

use nsm_geom::collide::{Axis, Collider, Found, Motion, Neighbours, Scratch};
use nsm_geom::{Plane, Pose, Shape, Vec3, body_gap, so3};
use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64;

fn vector(rng: &mut impl Rng, size: f64) -> Vec3 {
    Vec3::from_fn(|_, _| rng.random_range(-size..size))
}

fn pose(rng: &mut impl Rng, size: f64) -> Pose {
    Pose { x: vector(rng, size), rot: so3::exp(&vector(rng, 3.0)) }
}

fn shapes() -> Vec<Shape> {
    let tetrahedron = [(1.0, 0.0, -0.4), (-0.5, 0.8, -0.4), (-0.5, -0.9, -0.3), (0.1, 0.0, 0.9)]
        .map(|(x, y, z)| Vec3::new(x, y, z));
    vec![
        Shape::sphere(0.5).unwrap(),
        Shape::cuboid([0.5, 0.3, 0.2]).unwrap(),
        Shape::polyhedron(&tetrahedron).unwrap(),
        Shape::capsule(0.4, 0.2).unwrap(),
        Shape::cylinder(0.4, 0.3).unwrap(),
        Shape::ellipsoid([0.6, 0.4, 0.3]).unwrap(),
        Shape::cuboid([0.4, 0.3, 0.2]).unwrap().rounded(0.05).unwrap(),
        Shape::union(vec![
            Shape::sphere(0.3).unwrap().at(Vec3::new(0.4, 0.0, 0.0)),
            Shape::cuboid([0.4, 0.1, 0.1]).unwrap(),
        ])
        .unwrap(),
    ]
}

fn detect(a: &Collider, b: &Collider, poses: [&Pose; 2], margin: f64) -> (f64, Vec<Found>) {
    let motion = Motion { start: poses, end: poses };
    let mut found = Vec::new();
    let mut axes = vec![Axis::default(); a.axes(b)];
    let gap = a.detect(b, &motion, margin, &mut axes, &mut Scratch::default(), &mut found);
    (gap, found)
}

#[test]
fn the_gap_of_a_pair_is_that_of_the_distance_functions() {
    let mut rng = Pcg64::seed_from_u64(1);
    let shapes = shapes();
    for (i, s) in shapes.iter().enumerate() {
        for (j, t) in shapes.iter().enumerate() {
            let (a, b) = (Collider::new(s), Collider::new(t));
            for _ in 0..60 {
                let (p, q) = (pose(&mut rng, 0.7), pose(&mut rng, 0.7));
                let exact = body_gap(s, &p, t, &q).unwrap().gap;
                let (gap, found) = detect(&a, &b, [&p, &q], 10.0);
                let bare = |k: usize| k == 1 || k == 2;
                let with_bare = |k: usize| bare(k) || k == 7;
                if exact > 0.0 && with_bare(i) && with_bare(j) {
                    // Axes see at most the distance.
                    assert!(gap > 0.0 && gap <= exact + 1e-12, "{i} {j}: {gap} {exact}");
                } else if bare(i) && bare(j) || exact > 0.0 {
                    assert!((gap - exact).abs() < 1e-9, "{i} {j}: {gap} {exact}");
                }
                // Faces whose polygons miss each other need no features while they are apart.
                assert!(!found.is_empty() || exact > 0.0, "{i} {j}");
                // The deepest feature is the gap, where parts touch with one axis.
                let least = found
                    .iter()
                    .filter_map(|f| f.feature.at(Some(&a), &b, [&p, &q]))
                    .map(|touch| touch.gap)
                    .fold(f64::INFINITY, f64::min);
                if exact > 0.0 && !(with_bare(i) && with_bare(j)) {
                    assert!(least <= gap + 1e-9, "{i} {j}: {least} {gap}");
                }
            }
        }
    }
}

#[test]
fn the_rate_of_every_gap_is_that_of_its_two_points_along_the_normal() {
    let mut rng = Pcg64::seed_from_u64(2);
    let shapes = shapes();
    let floor = Plane::new(Vec3::new(0.2, -0.1, 1.0), 0.3).unwrap();
    let moved = |p: &Pose, v: &Vec3, w: &Vec3, h: f64| Pose {
        x: p.x + h * v,
        rot: so3::exp(&(h * w)) * p.rot,
    };
    let mut kinds = std::collections::HashSet::new();
    for s in &shapes {
        for t in &shapes {
            let (a, b) = (Collider::new(s), Collider::new(t));
            for _ in 0..30 {
                let (p, q) = (pose(&mut rng, 0.6), pose(&mut rng, 0.6));
                let [v, w, x, y] = [0; 4].map(|_| vector(&mut rng, 1.0));
                if body_gap(s, &p, t, &q).unwrap().gap < 1e-3 {
                    continue;
                }
                let (_, found) = detect(&a, &b, [&p, &q], 0.2);
                for f in &found {
                    kinds.insert(std::mem::discriminant(&f.feature));
                    let at = |h: f64| {
                        let poses = (moved(&p, &v, &w, h), moved(&q, &x, &y, h));
                        f.feature.at(Some(&a), &b, [&poses.0, &poses.1]).unwrap()
                    };
                    let now = at(0.0);
                    // One common point for both: any on the line of the normal will do.
                    let point = now.a + 0.5 * now.gap * now.normal;
                    let rate = now
                        .normal
                        .dot(&(x + y.cross(&(point - q.x)) - v - w.cross(&(point - p.x))));
                    let h = 1e-6;
                    let slope = (at(h).gap - at(-h).gap) / (2.0 * h);
                    assert!((rate - slope).abs() < 1e-6, "{:?}: {rate} {slope}", f.feature);
                }
            }
        }
        let b = Collider::new(s);
        for _ in 0..30 {
            let q = pose(&mut rng, 0.6);
            let (x, y) = (vector(&mut rng, 1.0), vector(&mut rng, 1.0));
            let mut found = Vec::new();
            let least = b.detect_plane(&floor, &q, 10.0, &mut found);
            assert!((least - s.plane_gap(&floor, &q).gap).abs() < 1e-12);
            for f in &found {
                kinds.insert(std::mem::discriminant(&f.feature));
                let world = Pose::identity();
                let at = |h: f64| f.feature.at(None, &b, [&world, &moved(&q, &x, &y, h)]).unwrap();
                let now = at(0.0);
                let rate = now.normal.dot(&(x + y.cross(&(now.b() - q.x))));
                let slope = (at(1e-6).gap - at(-1e-6).gap) / 2e-6;
                assert!((rate - slope).abs() < 1e-6, "{:?}: {rate} {slope}", f.feature);
            }
        }
    }
    assert!(kinds.len() >= 6, "only {} kinds of features", kinds.len());
}

#[test]
fn a_box_on_a_box_touches_with_the_corners_of_what_they_share() {
    let (a, b) = (Shape::cuboid([0.5; 3]).unwrap(), Shape::cuboid([0.5; 3]).unwrap());
    let (a, b) = (Collider::new(&a), Collider::new(&b));
    let below = Pose::identity();
    let at = |x: f64, yaw: f64| Pose {
        x: Vec3::new(x, 0.0, 1.0),
        rot: so3::exp(&Vec3::new(0.0, 0.0, yaw)),
    };
    for (x, yaw, corners) in [(0.0, 0.0, 4), (0.2, 0.0, 4), (0.0, 0.7, 8), (0.9, 0.3, 3)] {
        let (gap, found) = detect(&a, &b, [&below, &at(x, yaw)], 1e-3);
        assert!(gap.abs() < 1e-15);
        assert_eq!(found.len(), corners, "{x} {yaw}: {found:?}");
        let mut keys: Vec<u64> = found.iter().map(|f| f.key).collect();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), corners);
        for f in &found {
            let touch = f.feature.at(Some(&a), &b, [&below, &at(x, yaw)]).unwrap();
            assert!((touch.normal - Vec3::z()).norm() < 1e-15 && touch.gap.abs() < 1e-15);
            assert!(touch.a.x <= 0.5 + 1e-9 && touch.a.y.abs() <= 0.5 + 1e-9);
        }
    }
}

#[test]
fn the_axis_is_one_along_which_the_pair_was_apart() {
    // A thin plate, fallen through most of a box within one step: the face above still holds it.
    let (a, b) = (Shape::cuboid([0.5; 3]).unwrap(), Shape::cuboid([0.3, 0.3, 0.05]).unwrap());
    let (a, b) = (Collider::new(&a), Collider::new(&b));
    let below = Pose::identity();
    let (start, end) = (Vec3::new(0.1, 0.0, 0.56), Vec3::new(0.1, 0.0, -0.3));
    let (start, end) = (Pose::translation(start), Pose::translation(end));
    let motion = Motion { start: [&below, &start], end: [&below, &end] };
    let mut found = Vec::new();
    let mut axes = [Axis::default()];
    let gap = a.detect(&b, &motion, 0.01, &mut axes, &mut Scratch::default(), &mut found);
    assert!(gap < 0.0);
    for f in &found {
        let touch = f.feature.at(Some(&a), &b, motion.start).unwrap();
        assert!((touch.normal - Vec3::z()).norm() < 1e-12 && (touch.gap - 0.01).abs() < 1e-12);
    }
    assert_eq!(found.len(), 4);
}

#[test]
fn the_near_pairs_are_all_that_are_near() {
    let mut rng = Pcg64::seed_from_u64(5);
    let n = 300;
    let mut radii: Vec<f64> = (0..n).map(|_| rng.random_range(0.1..0.4)).collect();
    radii[7] = 9.0;
    let still: Vec<bool> = (0..n).map(|i| i % 10 == 0).collect();
    let mut centres: Vec<Vec3> = (0..n).map(|_| vector(&mut rng, 4.0)).collect();
    let mut list = Neighbours::new(&radii, &still);
    let reach = 0.05;
    for step in 0..60 {
        list.update(|i| centres[i], reach);
        let pairs = list.pairs();
        assert!(pairs.is_sorted());
        for i in 0..n {
            for j in i + 1..n {
                let near = (centres[i] - centres[j]).norm() < radii[i] + radii[j] + reach;
                if near && !(still[i] && still[j]) {
                    let pair = (u32::try_from(i).unwrap(), u32::try_from(j).unwrap());
                    assert!(pairs.binary_search(&pair).is_ok(), "step {step}: {pair:?}");
                }
            }
        }
        for (c, still) in centres.iter_mut().zip(&still) {
            if !still {
                *c += vector(&mut rng, 0.01);
            }
        }
    }
    assert!(list.rebuilds() < 20, "{}", list.rebuilds());
    assert!(list.pairs().len() < 40 * n);
}
