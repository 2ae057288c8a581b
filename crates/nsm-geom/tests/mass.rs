//! Mass properties: closed forms against each other and against polyhedra, (4.1), (4.2), Appendix B.

mod common;

use common::{close, gauss, matrix, pose, rng};
use nsm_geom::{
    GeomError, MassProperties, Mat3, Shape, Vec3,
    mass::{check_inertia, nonstandard, standard},
    so3,
};

fn properties(shape: &Shape) -> MassProperties {
    shape.mass_properties(1.0).unwrap()
}

#[test]
fn identities_4_1_4_2_and_b_2() {
    let mut rng = rng(41);
    for _ in 0..100 {
        let m = matrix(&mut rng);
        let jd = m * m.transpose();
        let j = standard(&jd);
        close(&nonstandard(&j), &jd, 1e-13);
        let w = gauss(&mut rng);
        let s = so3::skew(&w);
        close(&so3::skew(&(j * w)), &(s * jd + jd * s), 1e-13);
        let energy = 0.5 * (s * jd * s.transpose()).trace();
        assert!((energy - 0.5 * w.dot(&(j * w))).abs() < 1e-12 * (1.0 + energy));
    }
}

#[test]
fn paper_table_1_inertias() {
    let ellipsoid = properties(&Shape::ellipsoid([2.0, 3.0, 4.0]).unwrap()).with_mass(1.0).unwrap();
    close(&ellipsoid.inertia, &Mat3::from_diagonal(&Vec3::new(5.0, 4.0, 2.6)), 1e-14);
    let half = 3.0_f64.sqrt();
    let cube = properties(&Shape::cuboid([half; 3]).unwrap()).with_mass(1.0).unwrap();
    close(&cube.inertia, &(Mat3::identity() * 2.0), 1e-14);
}

#[test]
fn polyhedral_cuboid_matches_the_closed_form_wherever_it_sits() {
    let mut rng = rng(42);
    let cuboid = Shape::cuboid([1.0, 0.5, 2.0]).unwrap();
    for _ in 0..20 {
        let g = pose(&mut rng, 3.0);
        let corners: Vec<Vec3> = (0..8)
            .map(|k| {
                let sign = |i: u32| if k >> i & 1 == 1 { 1.0 } else { -1.0 };
                g.act(&Vec3::new(sign(0), 0.5 * sign(1), 2.0 * sign(2)))
            })
            .collect();
        let (a, b) = (
            properties(&Shape::polyhedron(&corners).unwrap()),
            properties(&cuboid.clone().placed(g)),
        );
        assert!((a.mass - 8.0).abs() < 1e-13);
        close(&a.centre, &b.centre, 1e-13);
        close(&a.inertia, &b.inertia, 1e-12);
        let direct = properties(&cuboid).placed(&g);
        close(&direct.inertia, &b.inertia, 1e-12);
    }
}

#[test]
fn regular_tetrahedron() {
    // Edge a: V = a³/(6√2), J = m a²/20.
    let v =
        [[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]].map(Vec3::from);
    let p = properties(&Shape::polyhedron(&v).unwrap());
    let a = 8.0_f64.sqrt();
    assert!((p.mass - a.powi(3) / (6.0 * 2.0_f64.sqrt())).abs() < 1e-14);
    close(&p.centre, &Vec3::zeros(), 1e-15);
    close(&p.inertia, &(Mat3::identity() * (p.mass * a * a / 20.0)), 1e-14);
}

/// Height and radius along a generating curve.
type Profile = Box<dyn Fn(f64) -> (f64, f64)>;

#[test]
fn spindle_polyhedra_converge_to_cylinder_capsule_and_ellipsoid() {
    // Second order in the number of sides.
    let error = |n: u32, smooth: &Shape, profile: &dyn Fn(f64) -> (f64, f64)| {
        let mut points = Vec::new();
        for i in 0..=n {
            let (z, r) = profile(f64::from(i) / f64::from(n));
            for k in 0..2 * n {
                let phi = std::f64::consts::PI * f64::from(k) / f64::from(n);
                points.push(Vec3::new(r * phi.cos(), r * phi.sin(), z));
            }
        }
        let (a, b) = (properties(&Shape::polyhedron(&points).unwrap()), properties(smooth));
        assert!(a.mass < b.mass);
        (b.inertia - a.inertia).amax() / b.inertia.amax()
    };
    let pi = std::f64::consts::PI;
    let cases: [(Shape, Profile); 3] = [
        (Shape::cylinder(1.5, 0.5).unwrap(), Box::new(|t| (1.5 * (2.0 * t - 1.0), 0.5))),
        (
            Shape::ellipsoid([0.5, 0.5, 1.5]).unwrap(),
            Box::new(move |t| (1.5 * (pi * t).cos(), 0.5 * (pi * t).sin())),
        ),
        (
            Shape::capsule(1.5, 0.5).unwrap(),
            Box::new(move |t| {
                ((pi * t).cos() * 0.5 + if t < 0.5 { 1.5 } else { -1.5 }, 0.5 * (pi * t).sin())
            }),
        ),
    ];
    for (smooth, profile) in &cases {
        let (coarse, fine) = (error(9, smooth, profile), error(27, smooth, profile));
        assert!(coarse < 0.12 && fine < coarse / 7.5, "{coarse} {fine}");
    }
}

#[test]
fn joining_parallel_axes_and_principal_axes() {
    let mut rng = rng(43);
    // Two half boxes make the whole box.
    let half = Shape::cuboid([0.5, 1.0, 1.0]).unwrap();
    let left = properties(&half.clone().at(Vec3::new(-0.5, 0.0, 0.0)));
    let right = properties(&half.at(Vec3::new(0.5, 0.0, 0.0)));
    let whole = left.joined(&right);
    close(&whole.inertia, &properties(&Shape::cuboid([1.0; 3]).unwrap()).inertia, 1e-14);
    for _ in 0..50 {
        let g = pose(&mut rng, 2.0);
        let body = properties(&Shape::ellipsoid([1.0, 2.0, 3.0]).unwrap().placed(g));
        let axes = body.principal_axes();
        assert!(so3::check(&axes.axes, 1e-13).is_ok());
        close(
            &(axes.axes * Mat3::from_diagonal(&axes.moments) * axes.axes.transpose()),
            &body.inertia,
            1e-12,
        );
        assert!(axes.moments.x <= axes.moments.y && axes.moments.y <= axes.moments.z);
        close(&body.inertia_about(&body.centre), &body.inertia, 0.0);
    }
}

/// Case III of \[TL\] section 7: the true centroid and inertia of the union of two overlapping ellipsoids.
#[test]
fn case_iii_union_of_ellipsoids() {
    let large = Shape::ellipsoid([3.0, 4.0, 5.0]).unwrap().at(Vec3::new(1.5, 0.0, 0.0));
    let slender = Shape::ellipsoid([6.0, 1.0, 1.0]).unwrap().at(Vec3::new(-4.5, 0.0, 0.0));
    let body = properties(&Shape::union(vec![large, slender]).unwrap());
    assert!((body.mass - 272.600_64).abs() < 5e-6, "{}", body.mass);
    close(&body.centre, &Vec3::new(0.974_176_2, 0.0, 0.0), 5e-8);
    let want = Vec3::new(7.593_272_0, 9.932_277_7, 8.272_759_6);
    close(&(body.inertia / body.mass), &Mat3::from_diagonal(&want), 1e-7);
}

#[test]
fn quadrature_converges_with_its_tolerance() {
    // A lens of two unit balls at distance 1: V = 5π/12, by caps of height 1/2.
    let ball = |x: f64| Shape::sphere(1.0).unwrap().at(Vec3::new(x, 0.0, 0.0));
    let lens = Shape::intersection(vec![ball(-0.5), ball(0.5)]).unwrap();
    let exact = 5.0 * std::f64::consts::PI / 12.0;
    let pair = Shape::union(vec![ball(-0.5), ball(0.5)]).unwrap();
    let both = 8.0 * std::f64::consts::PI / 3.0 - exact;
    for tolerance in [1e-3, 1e-5, 1e-7] {
        let error = |shape: &Shape, want: f64| {
            (shape.mass_properties_within(1.0, tolerance).unwrap().mass - want).abs() / want
        };
        assert!(error(&lens, exact) < tolerance);
        assert!(error(&pair, both) < tolerance);
    }
}

#[test]
fn rounded_box_by_the_steiner_formula() {
    let (b, r) = (Vec3::new(1.0, 0.5, 2.0), 0.3);
    let body = properties(&Shape::cuboid([b.x, b.y, b.z]).unwrap().rounded(r).unwrap());
    let pi = std::f64::consts::PI;
    let faces = 8.0 * (b.x * b.y + b.y * b.z + b.z * b.x) * r;
    let volume =
        8.0 * b.product() + faces + 2.0 * pi * r * r * b.sum() + 4.0 / 3.0 * pi * r.powi(3);
    assert!((body.mass - volume).abs() < 1e-7 * volume);
    close(&body.centre, &Vec3::zeros(), 1e-9);
}

#[test]
fn unions_of_three_and_of_disjoint_parts() {
    // Three boxes in an L, one pair overlapping in a known box.
    let block = |x: f64, y: f64| Shape::cuboid([1.0; 3]).unwrap().at(Vec3::new(x, y, 0.0));
    let body =
        properties(&Shape::union(vec![block(0.0, 0.0), block(1.0, 0.0), block(0.0, 5.0)]).unwrap());
    assert!((body.mass - 20.0).abs() < 1e-6);
    let want = properties(&Shape::cuboid([1.5, 1.0, 1.0]).unwrap().at(Vec3::new(0.5, 0.0, 0.0)))
        .joined(&properties(&block(0.0, 5.0)));
    close(&body.centre, &want.centre, 1e-7);
    close(&body.inertia, &want.inertia, 1e-5);
}

#[test]
fn bad_inertia_is_refused() {
    let not_spd = Mat3::from_diagonal(&Vec3::new(1.0, -1.0, 2.0));
    assert!(
        matches!(check_inertia(&not_spd), Err(GeomError::NotPositiveDefinite { eigenvalue, .. }) if eigenvalue == -1.0)
    );
    let mut skewed = Mat3::identity();
    skewed.m12 = 0.1;
    assert!(matches!(check_inertia(&skewed), Err(GeomError::NotPositiveDefinite { .. })));
    assert!(check_inertia(&Mat3::from_element(f64::NAN)).is_err());
    assert!(check_inertia(&Mat3::zeros()).is_err());
    assert!(MassProperties::new(0.0, Vec3::zeros(), Mat3::identity()).is_err());
    // The table's inertia for Case III has antisymmetric noise of 6e-7, which is accepted and removed.
    let table =
        Mat3::new(7.593_271_8, 6e-7, -4e-7, -6e-7, 9.932_643_4, 0.0, 4e-7, 0.0, 8.273_125_2);
    let body = MassProperties::new(1.0, Vec3::zeros(), table).unwrap();
    close(&body.inertia, &Mat3::from_diagonal(&table.diagonal()), 0.0);
    assert!(Shape::sphere(1.0).unwrap().mass_properties(0.0).is_err());
}
