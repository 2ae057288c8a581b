//! Support of intersections: closed forms, optimality against sampled boundaries, containment, emptiness.

mod common;

use common::{close, direction, gauss, pose, rng};
use nsm_geom::{GeomError, Plane, Pose, Shape, Vec3, so3};

fn ball_at(x: f64) -> Shape {
    Shape::sphere(1.0).unwrap().at(Vec3::new(x, 0.0, 0.0))
}

#[test]
fn lens_of_two_balls() {
    let lens = Shape::intersection(vec![ball_at(-0.5), ball_at(0.5)]).unwrap();
    let rim = 0.75_f64.sqrt();
    // Towards the side the rim, along the axis the far cap: neither is a support point of a ball.
    close(&lens.support(&Vec3::y()), &Vec3::new(0.0, rim, 0.0), 1e-14);
    close(&lens.support(&Vec3::x()), &Vec3::new(0.5, 0.0, 0.0), 1e-14);
    // The rim's normal cone is wide: the same point for directions within sixty degrees' complement.
    close(&lens.support(&Vec3::new(0.4, 1.0, 0.0)), &Vec3::new(0.0, rim, 0.0), 1e-14);
    let steep = Vec3::new(0.9, 0.2, 0.0);
    close(&lens.support(&steep), &(steep.normalize() - Vec3::new(0.5, 0.0, 0.0)), 1e-14);
}

#[test]
fn boxes_intersect_in_a_box() {
    let mut rng = rng(61);
    let g = pose(&mut rng, 1.0);
    let left = Shape::cuboid([1.0; 3]).unwrap().at(Vec3::new(-0.5, 0.0, 0.0)).placed(g);
    let right = Shape::cuboid([1.0, 0.7, 2.0]).unwrap().at(Vec3::new(0.5, 0.0, 0.0)).placed(g);
    let both = Shape::intersection(vec![left, right]).unwrap();
    let want = Shape::cuboid([0.5, 0.7, 1.0]).unwrap().placed(g);
    for _ in 0..100 {
        let u = direction(&mut rng);
        close(&both.support(&u), &want.support(&u), 1e-13);
    }
    assert!(matches!(&both, Shape::Polyhedron(p) if p.faces().len() == 6));
    let (a, b) = (both.mass_properties(1.0).unwrap(), want.mass_properties(1.0).unwrap());
    assert!((a.mass - b.mass).abs() < 1e-13);
    close(&a.centre, &b.centre, 1e-13);
    close(&a.inertia, &b.inertia, 1e-12);
}

#[test]
fn polyhedra_intersect_exactly_also_when_many_planes_meet_in_a_point() {
    let mut rng = rng(66);
    // An octahedron cut by the cube of its own edge midpoints: a cuboctahedron, four faces at each vertex.
    let octahedron: Vec<Vec3> =
        (0..3).flat_map(|i| [Vec3::ith(i, 2.0), Vec3::ith(i, -2.0)]).collect();
    let g = pose(&mut rng, 1.0);
    let parts = vec![
        Shape::polyhedron(&octahedron).unwrap().placed(g),
        Shape::cuboid([1.0; 3]).unwrap().placed(g),
    ];
    let Shape::Polyhedron(cut) = Shape::intersection(parts).unwrap() else { unreachable!() };
    assert_eq!((cut.vertices().len(), cut.edges().len(), cut.faces().len()), (12, 24, 14));
    // Random polyhedra: the support never exceeds either part's, and signed distances agree inside.
    for _ in 0..20 {
        let cloud =
            |rng: &mut rand_pcg::Pcg64| -> Vec<Vec3> { (0..20).map(|_| gauss(rng)).collect() };
        let (a, b) = (
            Shape::polyhedron(&cloud(&mut rng)).unwrap(),
            Shape::polyhedron(&cloud(&mut rng)).unwrap(),
        );
        let both = Shape::intersection(vec![a.clone(), b.clone()]).unwrap();
        for _ in 0..50 {
            let z = gauss(&mut rng) * 0.5;
            let larger = a.signed_distance(&z).value.max(b.signed_distance(&z).value);
            let exact = both.signed_distance(&z).value;
            assert!(exact >= larger - 1e-12);
            assert!(larger > 0.0 || (exact - larger).abs() < 1e-12);
        }
    }
}

#[test]
fn a_part_inside_the_other_is_the_intersection() {
    let mut rng = rng(62);
    let inner = Shape::ellipsoid([0.5, 1.0, 0.7]).unwrap().placed(pose(&mut rng, 0.1));
    let outer = Shape::cuboid([5.0; 3]).unwrap();
    let both = Shape::intersection(vec![outer, inner.clone()]).unwrap();
    for _ in 0..100 {
        let u = direction(&mut rng);
        close(&both.support(&u), &inner.support(&u), 1e-14);
    }
    let (a, b) = (both.mass_properties(1.0).unwrap(), inner.mass_properties(1.0).unwrap());
    close(&a.inertia, &b.inertia, 1e-8);
}

#[test]
fn no_boundary_point_is_higher_and_the_support_point_is_feasible() {
    let mut rng = rng(63);
    let ellipsoid = Shape::ellipsoid([2.0, 1.0, 0.8]).unwrap();
    let cloud: Vec<Vec3> = (0..12).map(|_| gauss(&mut rng)).collect();
    let pairs = vec![
        vec![
            ellipsoid.clone(),
            Shape::ellipsoid([0.9, 2.0, 1.1]).unwrap().at(Vec3::new(0.5, 0.2, 0.1)),
        ],
        vec![
            ellipsoid.clone(),
            Shape::cuboid([1.0, 0.6, 0.9]).unwrap().placed(pose(&mut rng, 0.2)),
        ],
        vec![ellipsoid.clone(), Shape::cylinder(0.7, 0.9).unwrap().placed(pose(&mut rng, 0.2))],
        vec![ellipsoid.clone(), Shape::capsule(1.0, 0.7).unwrap().placed(pose(&mut rng, 0.2))],
        vec![ellipsoid.clone(), Shape::polyhedron(&cloud).unwrap()],
        vec![
            ellipsoid,
            Shape::cuboid([0.8, 0.5, 0.6]).unwrap().rounded(0.2).unwrap(),
            ball_at(0.8),
        ],
    ];
    for parts in pairs {
        let both = Shape::intersection(parts).unwrap();
        let Shape::Intersection(inner) = &both else { unreachable!() };
        let p = *inner.inner_point();
        let boundary: Vec<Vec3> = (0..400)
            .map(|_| {
                let d = direction(&mut rng);
                let (mut low, mut high) = (0.0, 4.0);
                for _ in 0..60 {
                    let mid = 0.5 * (low + high);
                    if both.signed_distance(&(p + mid * d)).value < 0.0 {
                        low = mid;
                    } else {
                        high = mid;
                    }
                }
                p + low * d
            })
            .collect();
        for _ in 0..40 {
            let u = direction(&mut rng);
            let best = both.support(&u);
            assert!(both.signed_distance(&best).value < 1e-12, "{both:?}");
            for b in &boundary {
                assert!(u.dot(b) <= u.dot(&best) + 1e-11);
            }
            // Ascent from the best boundary sample along the surface does not get past it.
            let near = boundary.iter().map(|b| u.dot(b)).fold(f64::MIN, f64::max);
            assert!(u.dot(&best) - near < 0.2);
        }
    }
}

#[test]
fn plane_gap_of_an_intersection_has_the_right_derivative() {
    let mut rng = rng(64);
    let lens = Shape::intersection(vec![ball_at(-0.5), Shape::ellipsoid([1.0, 2.0, 0.5]).unwrap()])
        .unwrap();
    for _ in 0..30 {
        let plane = Plane::new(direction(&mut rng), 3.0).unwrap();
        let g = pose(&mut rng, 0.5);
        let at = |f: Vec3| lens.plane_gap(&plane, &Pose { x: g.x, rot: g.rot * so3::exp(&f) });
        let chi = at(Vec3::zeros()).chi;
        let h = 1e-5;
        let slope =
            Vec3::from_fn(|i, _| (at(Vec3::ith(i, h)).gap - at(Vec3::ith(i, -h)).gap) / (2.0 * h));
        close(&slope, &chi, 1e-6);
    }
}

#[test]
fn nesting_flattens_and_bad_parts_are_named() {
    let mut rng = rng(65);
    let g = pose(&mut rng, 1.0);
    let lens = Shape::intersection(vec![ball_at(-0.5), ball_at(0.5)]).unwrap();
    let cut = Shape::intersection(vec![lens.clone().placed(g), Shape::cuboid([9.0; 3]).unwrap()])
        .unwrap();
    let Shape::Intersection(flat) = &cut else { unreachable!() };
    assert_eq!(flat.parts().len(), 3);
    let u = direction(&mut rng);
    assert!((cut.support_value(&u) - lens.clone().placed(g).support_value(&u)).abs() < 1e-11);

    let apart = Shape::intersection(vec![ball_at(-1.5), ball_at(1.5)]);
    assert!(matches!(apart, Err(GeomError::EmptyIntersection { gap }) if gap > 0.0));
    let touching = Shape::intersection(vec![ball_at(-1.0), ball_at(1.0)]);
    assert!(matches!(touching, Err(GeomError::EmptyIntersection { .. })));
    // Pairwise overlapping, jointly empty.
    let thin = |i: usize| {
        let angle = std::f64::consts::TAU * i as f64 / 3.0;
        let rot = so3::exp(&Vec3::new(0.0, 0.0, angle));
        Shape::cuboid([3.0, 0.1, 1.0])
            .unwrap()
            .placed(Pose { x: rot * Vec3::new(0.0, -0.5, 0.0), rot })
    };
    assert!(Shape::intersection(vec![thin(0), thin(1)]).is_ok());
    assert!(matches!(
        Shape::intersection((0..3).map(thin).collect()),
        Err(GeomError::EmptyIntersection { .. })
    ));
    assert!(matches!(Shape::intersection(vec![]), Err(GeomError::NoParts { .. })));
    let pair = Shape::union(vec![ball_at(-1.0), ball_at(1.0)]).unwrap();
    assert!(matches!(
        Shape::intersection(vec![pair, ball_at(0.0)]),
        Err(GeomError::NotConvex { .. })
    ));
    let round = lens.rounded(0.1).unwrap();
    assert!(matches!(
        Shape::intersection(vec![round, ball_at(0.0)]),
        Err(GeomError::Unsupported { .. })
    ));
}
