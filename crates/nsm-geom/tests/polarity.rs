//! Appendix A of \[TL\]: poles, tangent points and the distance between ellipsoid and plane.

mod common;

use common::{close, direction, gauss, pose, rng, uniform};
use nsm_geom::{Plane, Shape, Vec3, shape::Ellipsoid};

#[test]
fn poles_of_points_invert_in_the_ellipsoid() {
    let mut rng = rng(81);
    let e = Ellipsoid::new([2.0, 3.0, 4.0]).unwrap();
    for _ in 0..100 {
        let p = gauss(&mut rng) * 3.0;
        let pole = e.pole(&p).unwrap();
        close(&e.pole(&pole).unwrap(), &p, 1e-13);
        // Definition A.1: |OP||OP'| = |OQ|² with Q on the surface.
        let q = p / e.level(&p).sqrt();
        assert!((e.level(&q) - 1.0).abs() < 1e-14);
        assert!((p.norm() * pole.norm() - q.norm_squared()).abs() < 1e-13);
    }
    assert!(e.pole(&Vec3::zeros()).is_none());
}

#[test]
fn pole_of_a_plane_a_5_to_a_7() {
    let mut rng = rng(82);
    let e = Ellipsoid::new([2.0, 3.0, 4.0]).unwrap();
    let (mut missed, mut met) = (0, 0);
    for _ in 0..300 {
        let plane = Plane::new(direction(&mut rng), uniform(&mut rng, -8.0, 8.0)).unwrap();
        let [plus, minus] = e.tangent_points(&plane);
        for q in [plus, minus] {
            assert!((e.level(&q) - 1.0).abs() < 1e-14);
            // The surface's normal at q is along the plane's.
            let gradient = q.component_div(e.semi_axes()).component_div(e.semi_axes());
            assert!(gradient.cross(plane.normal()).norm() < 1e-14);
        }
        let foot = e.plane_foot(&plane);
        assert!(plane.signed_distance(&foot).abs() < 1e-13);
        assert!(foot.cross(&plus).norm() < 1e-12);
        let pole = e.plane_pole(&plane).unwrap();
        close(&e.pole(&foot).unwrap(), &pole, 1e-12 * (1.0 + pole.norm()));
        // Theorem A.6 against A.9, and A.7 as the least distance of tangent points.
        assert_eq!(e.misses(&plane), e.level(&pole) < 1.0);
        let least = plane.signed_distance(&plus).abs().min(plane.signed_distance(&minus).abs());
        if e.misses(&plane) {
            assert!((e.plane_distance(&plane) - least).abs() < 1e-13);
            missed += 1;
        } else {
            assert_eq!(e.plane_distance(&plane), 0.0);
            met += 1;
        }
    }
    assert!(missed > 50 && met > 50);
    assert!(e.plane_pole(&Plane::horizontal()).is_none());
}

#[test]
fn theorem_a_11_agrees_with_the_collision_detection_function() {
    let mut rng = rng(83);
    let e = Ellipsoid::new([2.0, 3.0, 4.0]).unwrap();
    let shape = Shape::ellipsoid([2.0, 3.0, 4.0]).unwrap();
    for _ in 0..200 {
        let plane = Plane::new(direction(&mut rng), 0.4).unwrap();
        let g = pose(&mut rng, 6.0);
        let seen = plane.in_body(&g);
        let gap = shape.plane_gap(&plane, &g).gap;
        if e.misses(&seen) && plane.signed_distance(&g.x) > 0.0 {
            assert!((e.plane_distance(&seen) - gap).abs() < 1e-13 * (1.0 + gap));
        } else {
            assert!(gap <= 0.0);
        }
    }
}

/// Lemmas A.8 to A.10: isometry, and how planes move.
#[test]
fn planes_move_with_the_body() {
    let mut rng = rng(84);
    for _ in 0..100 {
        let (g, y, z) = (pose(&mut rng, 2.0), gauss(&mut rng), gauss(&mut rng));
        assert!(((g.act(&y) - g.act(&z)).norm() - (y - z).norm()).abs() < 1e-13);
        let plane = Plane::new(direction(&mut rng), 0.7).unwrap();
        assert!(
            (plane.in_body(&g).signed_distance(&z) - plane.signed_distance(&g.act(&z))).abs()
                < 1e-13
        );
    }
}
