//! Support functions, hulls, plane gaps and their derivatives.

mod common;

use common::{close, direction, gauss, pose, rng, rotation, uniform};
use nsm_geom::{GeomError, Mat3, Plane, PlaneGap, Polyhedron, Pose, Shape, Vec3, so3};
use rand_pcg::Pcg64;

fn cube_vertices(half: f64) -> Vec<Vec3> {
    (0..8).map(|k| Vec3::from_fn(|i, _| if k >> i & 1 == 1 { half } else { -half })).collect()
}

fn convex_shapes(rng: &mut Pcg64) -> Vec<Shape> {
    let cloud: Vec<Vec3> = (0..30).map(|_| gauss(rng)).collect();
    let many: Vec<Vec3> = (0..400).map(|_| direction(rng)).collect();
    let shapes = vec![
        Shape::sphere(0.7).unwrap(),
        Shape::ellipsoid([2.0, 3.0, 4.0]).unwrap(),
        Shape::ellipsoid([1e-3, 1.0, 50.0]).unwrap(),
        Shape::cuboid([1.0, 0.5, 2.0]).unwrap(),
        Shape::capsule(1.5, 0.4).unwrap(),
        Shape::cylinder(1.5, 0.4).unwrap(),
        Shape::polyhedron(&cloud).unwrap(),
        Shape::polyhedron(&many).unwrap(),
        Shape::cuboid([1.0, 0.5, 2.0]).unwrap().rounded(0.2).unwrap(),
    ];
    let mut all = shapes.clone();
    all.extend(shapes.into_iter().map(|s| s.placed(pose(rng, 1.0))));
    all
}

#[test]
fn support_function_is_sublinear_homogeneous_and_attained() {
    let mut rng = rng(21);
    for shape in convex_shapes(&mut rng) {
        let size = shape.bounding_radius();
        for _ in 0..200 {
            let (u, v) = (gauss(&mut rng), gauss(&mut rng));
            let h = shape.support_value(&u);
            // h(u) ≥ u·ρ for points ρ of the shape, here its own support points.
            assert!(h >= u.dot(&shape.support(&v)) - 1e-13 * size);
            assert!(shape.support_value(&(u + v)) <= h + shape.support_value(&v) + 1e-12 * size);
            assert!((shape.support_value(&(2.5 * u)) - 2.5 * h).abs() <= 1e-12 * size);
            assert!(shape.support(&u).norm() <= size * (1.0 + 1e-14));
        }
    }
}

#[test]
fn support_in_no_direction_is_a_point_not_nan() {
    let mut rng = rng(22);
    for shape in convex_shapes(&mut rng) {
        assert!(shape.support(&Vec3::zeros()).iter().all(|c| c.is_finite()));
    }
}

#[test]
fn placing_moves_and_rounding_offsets_the_support() {
    let mut rng = rng(23);
    for shape in convex_shapes(&mut rng) {
        let g = pose(&mut rng, 2.0);
        let moved = shape.clone().placed(g);
        let round = shape.clone().rounded(0.3).unwrap();
        for _ in 0..50 {
            let u = direction(&mut rng);
            let want = g.x.dot(&u) + shape.support_value(&g.rot.tr_mul(&u));
            assert!((moved.support_value(&u) - want).abs() < 1e-12);
            assert!((round.support_value(&u) - shape.support_value(&u) - 0.3).abs() < 1e-12);
        }
    }
}

#[test]
fn hull_of_a_cube_strewn_with_points_is_the_cube() {
    let mut rng = rng(24);
    for trial in 0..30 {
        let g = if trial == 0 { Pose::identity() } else { pose(&mut rng, 3.0) };
        let mut points = cube_vertices(1.0);
        for _ in 0..60 {
            // Inside, on faces, on edges.
            let mut p = Vec3::from_fn(|_, _| uniform(&mut rng, -1.0, 1.0));
            points.push(p);
            p.x = 1.0;
            points.push(p);
            p.y = -1.0;
            points.push(p);
        }
        points.push(points[3]);
        let mut order: Vec<usize> = (0..points.len()).collect();
        order.sort_by_key(|i| (i * 7919 + trial * 31) % 191);
        let points: Vec<Vec3> = order.into_iter().map(|i| g.act(&points[i])).collect();
        let cube = Polyhedron::hull(&points).unwrap();
        assert_eq!((cube.vertices().len(), cube.edges().len(), cube.faces().len()), (8, 12, 6));
        for face in cube.faces() {
            assert_eq!(face.vertices.len(), 4);
            assert!((face.offset - face.normal.dot(&g.x) - 1.0).abs() < 1e-13);
        }
    }
}

#[test]
fn hulls_are_closed_convex_and_hold_every_point() {
    let mut rng = rng(25);
    for n in [4, 5, 8, 20, 100, 500] {
        for flattened in [1.0, 1e-6] {
            let points: Vec<Vec3> = (0..n)
                .map(|_| {
                    let mut p = gauss(&mut rng);
                    p.z *= flattened;
                    p
                })
                .collect();
            let hull = Polyhedron::hull(&points).unwrap();
            let (v, e, f) = (hull.vertices().len(), hull.edges().len(), hull.faces().len());
            assert_eq!(v + f, e + 2);
            for face in hull.faces() {
                assert!((face.normal.norm() - 1.0).abs() < 1e-14);
                for p in &points {
                    assert!(face.normal.dot(p) - face.offset < 1e-9);
                }
                for &i in &face.vertices {
                    assert!((face.normal.dot(&hull.vertices()[i]) - face.offset).abs() < 1e-9);
                }
            }
        }
    }
}

#[test]
fn walking_uphill_finds_the_best_of_many_vertices() {
    let mut rng = rng(26);
    let points: Vec<Vec3> = (0..1000).map(|_| direction(&mut rng)).collect();
    let hull = Polyhedron::hull(&points).unwrap();
    assert_eq!(hull.vertices().len(), 1000);
    for _ in 0..500 {
        let u = direction(&mut rng);
        let best = points.iter().map(|p| p.dot(&u)).fold(f64::MIN, f64::max);
        assert_eq!(hull.support(&u).dot(&u), best);
    }
}

#[test]
fn hull_does_not_depend_on_the_order_of_points() {
    let mut rng = rng(27);
    let points: Vec<Vec3> = (0..60).map(|_| gauss(&mut rng)).collect();
    let hull = Polyhedron::hull(&points).unwrap();
    let reversed: Vec<Vec3> = points.iter().rev().copied().collect();
    let other = Polyhedron::hull(&reversed).unwrap();
    assert_eq!(hull.vertices().len(), other.vertices().len());
    for _ in 0..200 {
        let u = direction(&mut rng);
        assert_eq!(hull.support(&u), other.support(&u));
    }
}

#[test]
fn plane_gap_of_the_ellipsoid_is_2_16_and_its_derivatives_6_5() {
    let mut rng = rng(28);
    let e = Vec3::new(2.0, 3.0, 4.0);
    let shape = Shape::ellipsoid([2.0, 3.0, 4.0]).unwrap();
    for _ in 0..100 {
        let plane = Plane::new(direction(&mut rng), uniform(&mut rng, -1.0, 1.0)).unwrap();
        let g = pose(&mut rng, 5.0);
        let n = *plane.normal();
        let w = e.component_mul(&g.rot.tr_mul(&n));
        let gap = shape.plane_gap(&plane, &g);
        assert!(
            (gap.gap - (n.dot(&g.x) + plane.offset() - w.norm())).abs()
                < 1e-14 * (1.0 + gap.gap.abs())
        );
        let ie = Mat3::from_diagonal(&e);
        let printed = -n * n.transpose() * g.rot * ie * ie / w.norm();
        close(&gap.rotation_gradient(&plane), &printed, 1e-14);
        close(&gap.chi, &so3::vee_asym(&(g.rot.transpose() * printed)), 1e-13);
    }
}

#[test]
fn plane_gap_derivatives_match_differences_for_every_shape() {
    let mut rng = rng(29);
    let mut shapes = convex_shapes(&mut rng);
    let parts = vec![shapes[1].clone().at(Vec3::x()), shapes[3].clone()];
    shapes.push(Shape::union(parts).unwrap());
    for shape in shapes {
        let mut checked = 0;
        for _ in 0..40 {
            let plane = Plane::new(direction(&mut rng), 0.3).unwrap();
            let g = pose(&mut rng, 2.0);
            let at = |x: Vec3, f: Vec3| {
                shape.plane_gap(&plane, &Pose { x: g.x + x, rot: g.rot * so3::exp(&f) })
            };
            let here = at(Vec3::zeros(), Vec3::zeros());
            let h = 1e-6;
            for k in 0..3 {
                let mut d = Vec3::zeros();
                d[k] = h;
                let slope = (at(d, Vec3::zeros()).gap - at(-d, Vec3::zeros()).gap) / (2.0 * h);
                assert!((slope - plane.normal()[k]).abs() < 1e-8);
                let (plus, minus) = (at(Vec3::zeros(), d), at(Vec3::zeros(), -d));
                // Skip the rare directions across a kink, where the closest vertex changes.
                if (plus.point - minus.point).norm() < 1e-2 {
                    let slope = (plus.gap - minus.gap) / (2.0 * h);
                    let scale = 1.0 + shape.bounding_radius();
                    assert!((slope - here.chi[k]).abs() < 1e-6 * scale, "{shape:?}");
                    checked += 1;
                }
            }
        }
        assert!(checked > 60);
    }
}

#[test]
fn gap_is_invariant_under_moving_everything() {
    let mut rng = rng(30);
    for shape in convex_shapes(&mut rng) {
        let plane = Plane::new(direction(&mut rng), 0.3).unwrap();
        let (g, q) = (pose(&mut rng, 2.0), pose(&mut rng, 2.0));
        let point = -plane.normal() * plane.offset();
        let moved = Plane::through(q.act(&point), q.rot * plane.normal()).unwrap();
        let (a, b) = (shape.plane_gap(&plane, &g), shape.plane_gap(&moved, &(q * g)));
        assert!((a.gap - b.gap).abs() < 1e-11);
        close(&a.chi, &b.chi, 1e-6 * (1.0 + shape.bounding_radius()));
    }
}

fn contacts(shape: &Shape, g: &Pose, tolerance: f64) -> Vec<PlaneGap> {
    let mut out = Vec::with_capacity(shape.max_plane_contacts());
    shape.plane_contacts(&Plane::horizontal(), g, tolerance, &mut out);
    assert!(out.len() <= shape.max_plane_contacts());
    out
}

#[test]
fn a_cube_touches_with_a_face_an_edge_or_a_corner() {
    use std::f64::consts::FRAC_PI_4;
    let flat = Pose::translation(Vec3::new(0.0, 0.0, 1.0));
    let on_edge = Pose { x: flat.x, rot: so3::exp(&Vec3::new(FRAC_PI_4, 0.0, 0.0)) };
    let to_corner = Vec3::new(1.0, 1.0, 1.0).normalize().cross(&Vec3::z());
    let angle = (1.0 / 3.0_f64.sqrt()).acos();
    let on_corner = Pose { x: flat.x, rot: so3::exp(&(to_corner.normalize() * angle)) };
    let cubes = [
        Shape::cuboid([1.0; 3]).unwrap(),
        Shape::polyhedron(&cube_vertices(1.0)).unwrap(),
        Shape::cuboid([1.0; 3]).unwrap().rounded(1e-13).unwrap(),
    ];
    for cube in cubes {
        for (g, count) in [(&flat, 4), (&on_edge, 2), (&on_corner, 1)] {
            let found = contacts(&cube, g, 1e-12);
            assert_eq!(found.len(), count);
            let lowest = cube.plane_gap(&Plane::horizontal(), g).gap;
            for c in &found {
                assert!(c.gap - lowest <= 1e-12);
            }
            // The mean torque of a symmetric resting contact vanishes.
            let sum: Vec3 = found.iter().map(|c| c.chi).sum();
            assert!(sum.norm() < 1e-12);
        }
    }
}

#[test]
fn round_shapes_touch_where_they_lie_flat() {
    let up = Pose::translation(Vec3::z() * 2.0);
    let lying = Pose { x: up.x, rot: so3::exp(&Vec3::new(std::f64::consts::FRAC_PI_2, 0.0, 0.0)) };
    let cylinder = Shape::cylinder(1.0, 0.5).unwrap();
    assert_eq!(contacts(&cylinder, &up, 1e-12).len(), 4);
    assert_eq!(contacts(&cylinder, &lying, 1e-12).len(), 2);
    let capsule = Shape::capsule(1.0, 0.5).unwrap();
    assert_eq!(contacts(&capsule, &up, 1e-12).len(), 1);
    assert_eq!(contacts(&capsule, &lying, 1e-12).len(), 2);
    assert_eq!(contacts(&Shape::sphere(1.0).unwrap(), &up, 1e-12).len(), 1);
    let feet = [-1.0, 1.0].map(|x| Shape::sphere(0.5).unwrap().at(Vec3::new(x, 0.0, 0.0)));
    assert_eq!(contacts(&Shape::union(feet.to_vec()).unwrap(), &up, 1e-12).len(), 2);
}

#[test]
fn bad_input_is_named() {
    assert!(matches!(Shape::sphere(0.0), Err(GeomError::NotPositive { .. })));
    assert!(matches!(Shape::sphere(f64::NAN), Err(GeomError::NotPositive { .. })));
    assert!(matches!(Shape::ellipsoid([1.0, -1.0, 1.0]), Err(GeomError::NotPositive { .. })));
    assert!(matches!(Shape::cuboid([1.0, f64::INFINITY, 1.0]), Err(GeomError::NotPositive { .. })));
    assert!(matches!(Shape::capsule(1.0, 0.0), Err(GeomError::NotPositive { .. })));
    assert!(matches!(Shape::cylinder(-1.0, 1.0), Err(GeomError::NotPositive { .. })));
    assert!(matches!(
        Shape::sphere(1.0).unwrap().rounded(-0.1),
        Err(GeomError::NotPositive { .. })
    ));
    assert!(matches!(Shape::union(vec![]), Err(GeomError::NoParts { .. })));
    assert!(matches!(Plane::new(Vec3::zeros(), 0.0), Err(GeomError::ZeroDirection { .. })));
    assert!(matches!(Plane::new(Vec3::x() * f64::NAN, 0.0), Err(GeomError::NotFinite { .. })));
    let tiny = Plane::new(Vec3::new(0.0, 0.0, 1e-250), 1e-250).unwrap();
    assert_eq!((*tiny.normal(), tiny.offset()), (Vec3::z(), 1.0));
    let square = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.3, 0.4]];
    let mut rng = rng(31);
    let r = rotation(&mut rng);
    let flat: Vec<Vec3> = square.iter().map(|p| r * Vec3::new(p[0], p[1], 0.7)).collect();
    let degenerate = |points: &[Vec3], dimension| {
        assert_eq!(
            Polyhedron::hull(points).unwrap_err(),
            GeomError::DegeneratePolyhedron { points: points.len(), dimension }
        );
    };
    degenerate(&flat, 2);
    degenerate(&flat[..3], 2);
    degenerate(&[Vec3::x(), Vec3::x() * 2.0, Vec3::x() * 5.0, Vec3::x() * -3.0], 1);
    degenerate(&[Vec3::x(), Vec3::x(), Vec3::x()], 0);
    degenerate(&[], 0);
    let nan = [Vec3::x(), Vec3::y(), Vec3::z(), Vec3::zeros(), Vec3::x() * f64::NAN];
    assert!(matches!(Polyhedron::hull(&nan), Err(GeomError::NotFinite { .. })));
}
