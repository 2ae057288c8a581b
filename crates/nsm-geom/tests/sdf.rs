//! Signed distances: exactness by an independent oracle, gradients by differences, the algebra of \[TL\] section 6.4,
//! explicit absence of gradients.

mod common;

use common::{close, direction, gauss, pose, rng, uniform};
use nsm_geom::{Csg, Plane, Pose, Shape, SignedDistance, Vec3};
use rand_pcg::Pcg64;

fn shapes(rng: &mut Pcg64) -> Vec<Shape> {
    let cloud: Vec<Vec3> = (0..30).map(|_| gauss(rng)).collect();
    let mut all = vec![
        Shape::sphere(0.7).unwrap(),
        Shape::ellipsoid([2.0, 3.0, 4.0]).unwrap(),
        Shape::ellipsoid([1.0, 1.0, 3.0]).unwrap(),
        Shape::ellipsoid([3.0, 1.0, 3.0]).unwrap(),
        Shape::ellipsoid([0.01, 1.0, 5.0]).unwrap(),
        Shape::cuboid([1.0, 0.5, 2.0]).unwrap(),
        Shape::capsule(1.5, 0.4).unwrap(),
        Shape::cylinder(1.5, 0.4).unwrap(),
        Shape::polyhedron(&cloud).unwrap(),
        Shape::cuboid([1.0, 0.5, 2.0]).unwrap().rounded(0.2).unwrap(),
    ];
    let placed: Vec<Shape> = all.iter().map(|s| s.clone().placed(pose(rng, 0.5))).collect();
    all.extend(placed);
    all
}

/// For a convex body $\psi(z) = \max_{|n|=1}(n\cdot z - h(n))$, whether $z$ is inside or outside: no unit
/// vector may exceed the value, and the gradient must attain it.
#[test]
fn convex_distances_are_the_largest_over_supporting_planes() {
    let mut rng = rng(51);
    for shape in shapes(&mut rng) {
        let size = shape.bounding_radius();
        for trial in 0..400 {
            let reach = if trial % 2 == 0 { 0.5 } else { 2.0 };
            let z = gauss(&mut rng) * size * reach;
            let psi = shape.signed_distance(&z);
            let n = psi.gradient.expect("generic points have gradients");
            assert!((n.norm() - 1.0).abs() < 1e-14);
            let attained = n.dot(&z) - shape.support_value(&n);
            assert!(
                (psi.value - attained).abs() < 2e-13 * (1.0 + size),
                "{shape:?} {z} {psi:?} {attained}"
            );
            for _ in 0..20 {
                let near = (n + gauss(&mut rng) * 0.1).normalize();
                for u in [near, direction(&mut rng)] {
                    assert!(
                        u.dot(&z) - shape.support_value(&u) <= psi.value + 1e-13 * (1.0 + size)
                    );
                }
            }
        }
    }
}

#[test]
fn gradients_match_differences_and_lead_to_the_surface() {
    let mut rng = rng(52);
    for shape in shapes(&mut rng) {
        let size = shape.bounding_radius();
        let mut smooth = 0;
        for _ in 0..100 {
            let z = gauss(&mut rng) * size;
            let psi = shape.signed_distance(&z);
            let n = psi.gradient.unwrap();
            let foot = shape.signed_distance(&(z - psi.value * n));
            assert!(foot.value.abs() < 1e-12 * (1.0 + size), "{shape:?}");
            let h = 1e-6;
            let slope = Vec3::from_fn(|k, _| {
                let mut d = Vec3::zeros();
                d[k] = h;
                (shape.signed_distance(&(z + d)).value - shape.signed_distance(&(z - d)).value)
                    / (2.0 * h)
            });
            if (slope - n).norm() < 1e-4 {
                smooth += 1;
            }
        }
        // Differences across a ridge fail; those are few.
        assert!(smooth >= 97, "{smooth} {shape:?}");
    }
}

#[test]
fn ellipsoid_distance_is_stationary_for_every_aspect_ratio_and_special_point() {
    let mut rng = rng(53);
    for e in [
        [1.0, 1.0, 1.0],
        [1.0, 1e-4, 1e4],
        [1e-8, 1.0, 1.0],
        [1e8, 1.0, 1e-8],
        [3.0, 3.0, 1.0],
        [1.0, 3.0, 3.0],
    ] {
        let shape = Shape::ellipsoid(e).unwrap();
        let largest = e.into_iter().fold(0.0, f64::max);
        for trial in 0..600 {
            let mut z = Vec3::from(e).component_mul(&gauss(&mut rng)) * uniform(&mut rng, 0.0, 2.0);
            // On planes and axes, and within a hair of them.
            for i in 0..3 {
                match (trial >> (2 * i)) & 3 {
                    1 => z[i] = 0.0,
                    2 => z[i] *= 1e-12,
                    3 => z[i] *= 1e-160,
                    _ => {}
                }
            }
            let psi = shape.signed_distance(&z);
            assert!(psi.value.is_finite());
            let level: f64 = (0..3).map(|i| (z[i] / e[i]).powi(2)).sum();
            assert!((level - 1.0) * psi.value >= 0.0 || (level - 1.0).abs() < 1e-14);
            if let Some(n) = psi.gradient {
                let attained = n.dot(&z) - shape.support_value(&n);
                assert!(
                    (attained - psi.value).abs() <= 4e-15 * (largest + z.norm()),
                    "{e:?} {z} {psi:?} {attained}"
                );
            }
            for _ in 0..20 {
                let u = direction(&mut rng);
                assert!(
                    u.dot(&z) - shape.support_value(&u) <= psi.value + 4e-15 * (largest + z.norm())
                );
            }
        }
    }
}

#[test]
fn ellipsoid_on_its_ridge() {
    let ellipsoid = nsm_geom::shape::Ellipsoid::new([2.0, 3.0, 4.0]).unwrap();
    let centre = ellipsoid.signed_distance(&Vec3::zeros());
    assert_eq!(centre, SignedDistance { value: -2.0, gradient: None });
    // On the long axis the ridge ends at (c² − a²)/c = 3.
    let inside = ellipsoid.signed_distance(&Vec3::new(0.0, 0.0, 2.9));
    assert!(inside.gradient.is_none() && inside.value > -2.0 && inside.value < -1.0);
    let beyond = ellipsoid.signed_distance(&Vec3::new(0.0, 0.0, 3.1));
    assert!((beyond.value + 0.9).abs() < 1e-15);
    assert_eq!(beyond.gradient, Some(Vec3::z()));
    for z in [Vec3::zeros(), Vec3::new(0.0, 0.5, 2.0), Vec3::new(0.1, 0.5, 2.0)] {
        let p = ellipsoid.closest_point(&z);
        assert!((ellipsoid.level(&p) - 1.0).abs() < 1e-14);
        assert!(((z - p).norm() + ellipsoid.signed_distance(&z).value).abs() < 1e-14);
    }
    // Approaching the ridge the value is continuous.
    let near = ellipsoid.signed_distance(&Vec3::new(1e-15, 0.5, 2.0)).value;
    let on = ellipsoid.signed_distance(&Vec3::new(0.0, 0.5, 2.0)).value;
    assert!((near - on).abs() < 3e-15);
}

#[test]
fn gradients_that_do_not_exist_are_none() {
    let none = |shape: &Shape, z: [f64; 3]| {
        let psi = shape.signed_distance(&Vec3::from(z));
        assert!(psi.value.is_finite() && psi.gradient.is_none(), "{shape:?} {z:?} {psi:?}");
    };
    let sphere = Shape::sphere(1.0).unwrap();
    none(&sphere, [0.0; 3]);
    let cube = Shape::cuboid([1.0; 3]).unwrap();
    none(&cube, [0.0; 3]);
    none(&cube, [0.5, 0.5, 0.0]);
    none(&cube, [1.0, 1.0, 0.0]);
    none(&cube, [1.0, 1.0, 1.0]);
    none(&Shape::cuboid([1.0, 2.0, 2.0]).unwrap(), [0.0, 0.3, 0.2]);
    let corners: Vec<Vec3> =
        (0..8).map(|k| Vec3::from_fn(|i, _| if k >> i & 1 == 1 { 1.0 } else { -1.0 })).collect();
    let poly = Shape::polyhedron(&corners).unwrap();
    none(&poly, [0.0; 3]);
    none(&poly, [0.5, -0.5, 0.0]);
    none(&poly, [1.0, 1.0, 0.3]);
    let capsule = Shape::capsule(1.0, 0.5).unwrap();
    none(&capsule, [0.0, 0.0, 0.7]);
    let cylinder = Shape::cylinder(2.0, 0.5).unwrap();
    none(&cylinder, [0.0, 0.0, 0.3]);
    none(&cylinder, [0.5, 0.0, 2.0]);
    none(&Shape::cylinder(0.1, 2.0).unwrap(), [0.0, 0.3, 0.0]);
    // On a face the gradient is the face's normal.
    for shape in [&cube, &poly] {
        let psi = shape.signed_distance(&Vec3::new(0.2, 1.0, 0.3));
        assert_eq!(psi.value, 0.0);
        close(&psi.gradient.unwrap(), &Vec3::y(), 1e-15);
    }
}

#[test]
fn polyhedron_agrees_with_the_box() {
    let mut rng = rng(54);
    let b = [1.0, 0.5, 2.0];
    let cuboid = Shape::cuboid(b).unwrap();
    let corners: Vec<Vec3> =
        (0..8).map(|k| Vec3::from_fn(|i, _| if k >> i & 1 == 1 { b[i] } else { -b[i] })).collect();
    let poly = Shape::polyhedron(&corners).unwrap();
    for _ in 0..2000 {
        let z = gauss(&mut rng) * 1.5;
        let (p, q) = (cuboid.signed_distance(&z), poly.signed_distance(&z));
        assert!((p.value - q.value).abs() < 1e-14);
        close(&p.gradient.unwrap(), &q.gradient.unwrap(), 1e-13);
    }
}

#[test]
fn algebra_6_11_and_6_15_to_6_19() {
    let mut rng = rng(55);
    let (a, b) = (
        Shape::sphere(1.0).unwrap(),
        Shape::cuboid([1.2, 0.5, 0.7]).unwrap().placed(pose(&mut rng, 0.4)),
    );
    let (ca, cb) = (Csg::body(a.clone()), Csg::body(b.clone()));
    let g = pose(&mut rng, 1.0);
    for _ in 0..500 {
        let z = gauss(&mut rng);
        let (pa, pb) = (a.signed_distance(&z), b.signed_distance(&z));
        let union = ca.clone().union(cb.clone());
        let smaller = if pa.value < pb.value { pa } else { pb };
        assert_eq!(union.signed_distance(&z), smaller);
        let larger = if pa.value > pb.value { pa } else { pb };
        let meet = ca.clone().intersection(cb.clone());
        assert_eq!(meet.signed_distance(&z), larger);
        assert_eq!(ca.clone().complement().signed_distance(&z), pa.complement());
        assert_eq!(ca.clone().complement().complement().signed_distance(&z), pa);
        // De Morgan, and difference as the paper's tools give it.
        let difference = ca.clone().difference(cb.clone()).signed_distance(&z);
        assert_eq!(difference.value, pa.value.max(-pb.value));
        let morgan = ca.clone().complement().union(cb.clone()).complement();
        assert_eq!(morgan.signed_distance(&z), difference);
        assert_eq!(
            meet.clone().rounded(0.1).unwrap().signed_distance(&z).value,
            larger.value - 0.1
        );
        let moved = meet.placed(g).signed_distance(&g.act(&z));
        assert!((moved.value - larger.value).abs() < 1e-14);
        // The Shape's own union is the same thing.
        let shape = Shape::union(vec![a.clone(), b.clone()]).unwrap();
        assert_eq!(shape.signed_distance(&z), smaller);
    }
}

#[test]
fn ties_of_6_16_and_6_18() {
    let at = |x: f64| Csg::body(Shape::sphere(1.0).unwrap().at(Vec3::new(x, 0.0, 0.0)));
    let pair = at(-0.5).union(at(0.5));
    // Equal values, different gradients: undefined.
    assert!(pair.signed_distance(&Vec3::new(0.0, 2.0, 0.0)).gradient.is_none());
    // Equal values, equal gradients: defined.
    let twice = at(0.5).union(at(0.5)).signed_distance(&Vec3::new(0.0, 2.0, 0.0));
    assert!(twice.gradient.is_some());
    let lens = at(-0.5).intersection(at(0.5));
    assert!(lens.signed_distance(&Vec3::zeros()).gradient.is_none());
    let floor = Csg::half_space(Plane::horizontal());
    let psi = floor.signed_distance(&Vec3::new(3.0, 1.0, -2.0));
    assert_eq!(psi, SignedDistance { value: -2.0, gradient: Some(Vec3::z()) });
    assert!(at(0.0).rounded(f64::NAN).is_err());
}

#[test]
fn a_union_is_exact_outside_and_its_sign_is_right_inside() {
    let mut rng = rng(56);
    let parts: Vec<Shape> = (0..3)
        .map(|_| Shape::ellipsoid([1.0, 0.4, 0.6]).unwrap().placed(pose(&mut rng, 0.7)))
        .collect();
    let union = Shape::union(parts.clone()).unwrap();
    let g = Pose::identity();
    for _ in 0..500 {
        let z = g.act(&(gauss(&mut rng) * 1.5));
        let best = parts.iter().map(|p| p.signed_distance(&z).value).fold(f64::MAX, f64::min);
        assert_eq!(union.signed_distance(&z).value, best);
    }
}
