//! Gaps between bodies: primal-dual certificates, derivatives, invariances, special positions.

mod common;

use common::{close, direction, gauss, pose, rng};
use nsm_geom::{
    BodyGap, GeomError, Pose, Shape, Vec3, body_gap,
    distance::{body_gap_near, separation_along},
    so3,
};
use rand_pcg::Pcg64;

fn shapes(rng: &mut Pcg64) -> Vec<Shape> {
    let cloud: Vec<Vec3> = (0..20).map(|_| gauss(rng) * 0.7).collect();
    vec![
        Shape::sphere(0.8).unwrap(),
        Shape::ellipsoid([0.5, 1.0, 1.5]).unwrap(),
        Shape::ellipsoid([0.02, 1.0, 1.5]).unwrap(),
        Shape::cuboid([0.5, 1.0, 0.7]).unwrap(),
        Shape::capsule(1.0, 0.3).unwrap(),
        Shape::cylinder(0.8, 0.6).unwrap(),
        Shape::polyhedron(&cloud).unwrap(),
        Shape::cuboid([0.5, 1.0, 0.7]).unwrap().rounded(0.1).unwrap(),
        Shape::ellipsoid([0.5, 1.0, 1.5]).unwrap().placed(pose(rng, 0.3)).rounded(0.2).unwrap(),
    ]
}

/// The defining conditions: the normal attains the gap, no other normal exceeds it, the witness points lie on
/// the surfaces and span the gap.
#[track_caller]
fn certify(a: &Shape, pa: &Pose, b: &Shape, pb: &Pose, rng: &mut Pcg64, tolerance: f64) -> BodyGap {
    let g = body_gap(a, pa, b, pb).unwrap();
    let context = || format!("{a:?}\n{pa:?}\n{b:?}\n{pb:?}\n{g:?}");
    assert!((g.normal.norm() - 1.0).abs() < 1e-14, "{}", context());
    let attained = separation_along(&g.normal, a, pa, b, pb);
    assert!((attained - g.gap).abs() < tolerance, "attained {attained} in {}", context());
    assert!((g.point_b - g.point_a - g.gap * g.normal).norm() < tolerance, "{}", context());
    for (shape, at, point) in [(a, pa, &g.point_a), (b, pb, &g.point_b)] {
        let off = shape.signed_distance(&at.act_inverse(point)).value;
        assert!(off.abs() < tolerance, "witness off by {off:e} in {}", context());
    }
    for k in 0..60 {
        let wander = [1.0, 0.1, 1e-2, 1e-3][k % 4];
        let n = (g.normal + gauss(rng) * wander).normalize();
        let other = separation_along(&n, a, pa, b, pb);
        assert!(other <= g.gap + tolerance, "{n} gives {other} in {}", context());
    }
    g
}

#[test]
fn every_pair_apart_and_overlapping_is_certified() {
    let mut rng = rng(71);
    let shapes = shapes(&mut rng);
    let (mut apart, mut overlapping) = (0, 0);
    for a in &shapes {
        for b in &shapes {
            for trial in 0..30 {
                let reach = [0.3, 0.8, 1.5][trial % 3];
                let (pa, pb) = (pose(&mut rng, 0.1), pose(&mut rng, reach));
                let g = certify(a, &pa, b, &pb, &mut rng, 2e-11);
                if g.gap > 0.0 {
                    apart += 1;
                } else {
                    overlapping += 1;
                }
            }
        }
    }
    assert!(apart > 500 && overlapping > 500, "{apart} {overlapping}");
}

#[test]
fn almost_touching_pairs_keep_their_accuracy() {
    let mut rng = rng(72);
    let shapes = shapes(&mut rng);
    for a in &shapes {
        for b in &shapes {
            let (pa, mut pb) = (pose(&mut rng, 0.1), pose(&mut rng, 3.0));
            // Walk B along the normal to each gap.
            for gap in [1e-3, 1e-6, 1e-9, 0.0, -1e-9, -1e-6, -1e-3] {
                let now = body_gap(a, &pa, b, &pb).unwrap();
                pb.x += (gap - now.gap) * now.normal;
                let g = certify(a, &pa, b, &pb, &mut rng, 2e-11);
                // Moving along one normal leaves its separation; deeper in, another normal may do better.
                assert!(g.gap > gap - 1e-10, "{gap} {g:?} {a:?} {b:?}");
                assert!(g.gap < gap + 1e-10 || gap < -1e-8, "{gap} {g:?} {a:?} {b:?}");
            }
        }
    }
}

#[test]
fn derivatives_match_differences() {
    let mut rng = rng(73);
    let shapes = shapes(&mut rng);
    let mut checked = 0;
    for a in &shapes {
        for b in &shapes {
            let (pa, pb) = (pose(&mut rng, 0.1), pose(&mut rng, 2.0));
            let here = body_gap(a, &pa, b, &pb).unwrap();
            if here.gap < 0.05 {
                continue;
            }
            let gradient = here.gradient(&pa, &pb);
            let h = 1e-6;
            let moved = |p: &Pose, x: Vec3, f: Vec3| Pose { x: p.x + x, rot: p.rot * so3::exp(&f) };
            let zero = Vec3::zeros();
            for i in 0..3 {
                let e = Vec3::ith(i, h);
                let slope = |plus: BodyGap, minus: BodyGap| (plus.gap - minus.gap) / (2.0 * h);
                let by = |xa, fa, xb, fb| {
                    body_gap(a, &moved(&pa, xa, fa), b, &moved(&pb, xb, fb)).unwrap()
                };
                let measured = [
                    slope(by(e, zero, zero, zero), by(-e, zero, zero, zero)),
                    slope(by(zero, e, zero, zero), by(zero, -e, zero, zero)),
                    slope(by(zero, zero, e, zero), by(zero, zero, -e, zero)),
                    slope(by(zero, zero, zero, e), by(zero, zero, zero, -e)),
                ];
                let printed =
                    [-gradient.normal[i], gradient.chi_a[i], gradient.normal[i], gradient.chi_b[i]];
                for (m, p) in measured.into_iter().zip(printed) {
                    assert!((m - p).abs() < 2e-5, "{m} {p} {a:?} {b:?}");
                    checked += 1;
                }
            }
        }
    }
    assert!(checked > 400);
}

#[test]
fn swapping_and_moving_everything_changes_nothing() {
    let mut rng = rng(74);
    let shapes = shapes(&mut rng);
    for a in &shapes {
        for b in &shapes {
            for reach in [0.4, 2.0] {
                let (pa, pb, q) = (pose(&mut rng, 0.1), pose(&mut rng, reach), pose(&mut rng, 5.0));
                let here = body_gap(a, &pa, b, &pb).unwrap();
                let swapped = body_gap(b, &pb, a, &pa).unwrap();
                let moved = body_gap(a, &(q * pa), b, &(q * pb)).unwrap();
                assert!((here.gap - swapped.gap).abs() < 1e-11);
                assert!((here.gap - moved.gap).abs() < 1e-11);
                if here.gap > 0.0 {
                    close(&here.normal, &-swapped.normal, 1e-6);
                    close(&(q.rot * here.normal), &moved.normal, 1e-6);
                }
            }
        }
    }
}

#[test]
fn balls_boxes_and_capsules_in_special_positions() {
    let mut rng = rng(75);
    let at = |x: f64, y: f64, z: f64| Pose::translation(Vec3::new(x, y, z));
    let gap = |a: &Shape, pa: &Pose, b: &Shape, pb: &Pose| body_gap(a, pa, b, pb).unwrap().gap;
    let ball = Shape::sphere(1.0).unwrap();
    let g = body_gap(&ball, &at(0.0, 0.0, 0.0), &ball, &at(3.0, 0.0, 0.0)).unwrap();
    assert_eq!((g.gap, g.normal), (1.0, Vec3::x()));
    // Concentric balls have no preferred normal, but a depth.
    let g = body_gap(&ball, &at(1.0, 2.0, 3.0), &ball, &at(1.0, 2.0, 3.0)).unwrap();
    assert!((g.gap + 2.0).abs() < 1e-14 && (g.normal.norm() - 1.0).abs() < 1e-14);

    let cube = Shape::cuboid([1.0; 3]).unwrap();
    let origin = Pose::identity();
    assert!((gap(&cube, &origin, &cube, &at(2.5, 0.3, 0.0)) - 0.5).abs() < 1e-14);
    assert!(
        (gap(&cube, &origin, &cube, &at(2.5, 3.0, 2.0)) - (0.25_f64 + 1.0).sqrt()).abs() < 1e-14
    );
    assert!((gap(&cube, &origin, &cube, &at(1.5, 0.3, 0.1)) + 0.5).abs() < 1e-13);
    assert!((gap(&cube, &origin, &cube, &origin) + 2.0).abs() < 1e-13);
    assert!(gap(&cube, &origin, &cube, &at(2.0, 0.0, 0.0)).abs() < 1e-13);
    // A ball at the centre of a box, where the signed distance has no gradient.
    assert!((gap(&ball, &origin, &cube, &origin) + 2.0).abs() < 1e-13);
    certify(&ball, &origin, &cube, &origin, &mut rng, 1e-12);

    let capsule = Shape::capsule(1.0, 0.25).unwrap();
    let across =
        Pose { x: Vec3::zeros(), rot: so3::exp(&Vec3::new(std::f64::consts::FRAC_PI_2, 0.0, 0.0)) };
    let crossed = certify(&capsule, &origin, &capsule, &across, &mut rng, 1e-12);
    assert!((crossed.gap + 0.5).abs() < 1e-13 && crossed.normal.x.abs() > 1.0 - 1e-12);
    let parallel = certify(&capsule, &origin, &capsule, &at(0.1, 0.0, 0.5), &mut rng, 1e-12);
    assert!((parallel.gap + 0.4).abs() < 1e-14);
    let inline = body_gap(&capsule, &origin, &capsule, &at(0.0, 0.0, 0.5)).unwrap();
    assert!((inline.gap + 0.5).abs() < 1e-13 && inline.normal.z.abs() < 1e-12);

    let drum = Shape::cylinder(0.5, 1.0).unwrap();
    let stacked = certify(&drum, &origin, &drum, &at(0.3, 0.2, 1.25), &mut rng, 1e-12);
    assert!((stacked.gap - 0.25).abs() < 1e-13);
    let sunk = certify(&drum, &origin, &drum, &at(0.3, 0.2, 0.9), &mut rng, 1e-12);
    assert!((sunk.gap + 0.1).abs() < 1e-12);
    let beside = certify(&drum, &origin, &drum, &at(2.5, 0.0, 0.3), &mut rng, 1e-12);
    assert!((beside.gap - 0.5).abs() < 1e-13);
}

#[test]
fn slender_ellipsoids() {
    let mut rng = rng(76);
    for ratio in [10.0, 100.0, 1000.0] {
        let a = Shape::ellipsoid([1.0, 1.0 / ratio, 1.0]).unwrap();
        let b = Shape::ellipsoid([1.0 / ratio, 1.0, 1.0 / ratio]).unwrap();
        for trial in 0..60 {
            let (pa, pb) =
                (pose(&mut rng, 0.05), pose(&mut rng, if trial % 2 == 0 { 0.4 } else { 1.5 }));
            certify(&a, &pa, &b, &pb, &mut rng, 1e-9);
        }
    }
}

#[test]
fn ellipsoids_along_an_axis_have_a_closed_form() {
    let mut rng = rng(77);
    let (a, b) =
        (Shape::ellipsoid([1.0, 2.0, 3.0]).unwrap(), Shape::ellipsoid([0.5, 0.7, 0.9]).unwrap());
    for (axis, reach) in [(0, 1.5), (1, 2.7), (2, 3.9)] {
        for gap in [2.0, 0.1, 1e-7] {
            let pb = Pose::translation(Vec3::ith(axis, reach + gap));
            let g = certify(&a, &Pose::identity(), &b, &pb, &mut rng, 1e-12);
            assert!((g.gap - gap).abs() < 1e-13);
            close(&g.normal, &Vec3::ith(axis, 1.0), 1e-9);
        }
    }
}

#[test]
fn a_hint_follows_the_contact_into_penetration() {
    let mut rng = rng(80);
    let (a, b) =
        (Shape::ellipsoid([1.0, 2.0, 3.0]).unwrap(), Shape::ellipsoid([0.5, 0.7, 0.9]).unwrap());
    for _ in 0..50 {
        let (pa, mut pb) = (pose(&mut rng, 0.1), pose(&mut rng, 4.0));
        let mut now = body_gap(&a, &pa, &b, &pb).unwrap();
        // From apart to a tenth deep, in steps along the normal: the hinted gap agrees with the searched one.
        for gap in [0.5, 0.2, 0.05, 0.0, -0.02, -0.05, -0.1] {
            pb.x += (gap - now.gap) * now.normal;
            now = body_gap_near(&now.normal, &a, &pa, &b, &pb).unwrap();
            let searched = body_gap(&a, &pa, &b, &pb).unwrap();
            assert!((now.gap - searched.gap).abs() < 1e-12, "{now:?} {searched:?}");
            close(&now.normal, &searched.normal, 1e-7);
        }
        // A useless hint costs time only.
        let zero = body_gap_near(&Vec3::zeros(), &a, &pa, &b, &pb).unwrap();
        assert!((zero.gap - now.gap).abs() < 1e-12);
    }
}

#[test]
fn unions_and_intersections_have_gaps() {
    let mut rng = rng(78);
    let ball = |x: f64| Shape::sphere(0.5).unwrap().at(Vec3::new(x, 0.0, 0.0));
    let dumbbell = Shape::union(vec![ball(-2.0), ball(2.0)]).unwrap();
    // Through the middle of the dumbbell: apart, though the hulls overlap.
    let g = body_gap(&dumbbell, &Pose::identity(), &ball(0.0), &Pose::identity()).unwrap();
    assert!((g.gap - 1.0).abs() < 1e-14);
    let lens = Shape::intersection(vec![
        Shape::sphere(1.0).unwrap().at(Vec3::new(-0.5, 0.0, 0.0)),
        Shape::sphere(1.0).unwrap().at(Vec3::new(0.5, 0.0, 0.0)),
    ])
    .unwrap();
    // The rim of the lens against a plate: √3/2 from the centre.
    let plate = Shape::cuboid([2.0, 0.1, 2.0]).unwrap();
    let above = Pose::translation(Vec3::new(0.0, 2.0, 0.0));
    let g = body_gap(&lens, &Pose::identity(), &plate, &above).unwrap();
    assert!((g.gap - (1.9 - 0.75_f64.sqrt())).abs() < 1e-13, "{g:?}");
    for _ in 0..20 {
        let (pa, pb) = (pose(&mut rng, 0.1), pose(&mut rng, 1.5));
        let g = body_gap(&lens, &pa, &plate, &pb).unwrap();
        let attained = separation_along(&g.normal, &lens, &pa, &plate, &pb);
        assert!((attained - g.gap).abs() < 1e-11, "{attained} {g:?}");
        for _ in 0..40 {
            let n = (g.normal + gauss(&mut rng) * 0.3).normalize();
            assert!(separation_along(&n, &lens, &pa, &plate, &pb) <= g.gap + 1e-8);
        }
    }
}

#[test]
fn separation_is_a_lower_bound() {
    let mut rng = rng(79);
    let shapes = shapes(&mut rng);
    for a in &shapes {
        for b in &shapes {
            let (pa, pb) = (pose(&mut rng, 0.1), pose(&mut rng, 1.0));
            let gap = body_gap(a, &pa, b, &pb).unwrap().gap;
            for _ in 0..20 {
                assert!(separation_along(&direction(&mut rng), a, &pa, b, &pb) <= gap + 1e-12);
            }
        }
    }
}

#[test]
fn poses_that_are_not_finite_are_refused() {
    let ball = Shape::sphere(1.0).unwrap();
    let nan = Pose::translation(Vec3::new(f64::NAN, 0.0, 0.0));
    assert!(matches!(
        body_gap(&ball, &nan, &ball, &Pose::identity()),
        Err(GeomError::NotFinite { .. })
    ));
}

#[test]
fn parallel_prisms_have_the_gap_between_their_edges() {
    let rail = |s: f64| {
        let points: Vec<Vec3> = [-2.0, 2.0]
            .into_iter()
            .flat_map(|y| [[-0.1, y, -0.1], [0.1, y, -0.1], [0.0, y, 0.0]])
            .map(|p| s * Vec3::from(p))
            .collect();
        Shape::polyhedron(&points).unwrap()
    };
    for scale in [1.0, 1e-3, 7.0] {
        for apart in [0.25, 0.6, 3.0] {
            let at = |x: f64| Pose::translation(Vec3::new(scale * x, 0.0, 0.0));
            let (a, b) = (rail(scale), rail(scale));
            let found = body_gap(&a, &at(-0.5 * apart), &b, &at(0.5 * apart)).unwrap();
            let exact = scale * (apart - 0.2);
            assert!((found.gap - exact).abs() < 1e-12 * scale, "{apart}: {} {exact}", found.gap);
        }
    }
}
