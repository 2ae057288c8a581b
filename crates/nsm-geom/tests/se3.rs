//! Group structure of SE(3) (\[TL\] section 2.1.2), exponential, Cayley and their tangent maps.

mod common;

use common::{close, direction, gauss, pose, rng};
use nalgebra::Matrix4;
use nsm_geom::{GeomError, Mat3, Mat6, Pose, Vec3, Vec6, se3};

fn random_twist(rng: &mut rand_pcg::Pcg64, angle: f64) -> Vec6 {
    se3::twist(&gauss(rng), &(direction(rng) * angle))
}

const ANGLES: [f64; 10] = [0.0, 1e-12, 1e-7, 1e-3, 0.1, 0.5, 0.99, 1.01, 2.0, 3.1];

#[test]
fn composition_and_action_2_8() {
    let mut rng = rng(11);
    for _ in 0..100 {
        let (g, h, z) = (pose(&mut rng, 2.0), pose(&mut rng, 2.0), gauss(&mut rng));
        close(&(g * h).homogeneous(), &(g.homogeneous() * h.homogeneous()), 1e-14);
        close(&(g * h).act(&z), &g.act(&h.act(&z)), 1e-14);
        close(&g.act_inverse(&g.act(&z)), &z, 1e-14);
        close(&(g * g.inverse()).homogeneous(), &Matrix4::identity(), 1e-14);
        let lifted = g.homogeneous() * z.push(1.0);
        close(&lifted.xyz(), &g.act(&z), 1e-14);
    }
}

#[test]
fn inner_product_2_10_is_the_dot_product() {
    let mut rng = rng(12);
    for _ in 0..50 {
        let (a, b) = (random_twist(&mut rng, 1.0), random_twist(&mut rng, 2.0));
        let ((y1, w1), (y2, w2)) = (se3::split(&a), se3::split(&b));
        let matrices = y2.dot(&y1)
            + 0.5 * (nsm_geom::so3::skew(&w2).transpose() * nsm_geom::so3::skew(&w1)).trace();
        assert!((a.dot(&b) - matrices).abs() < 1e-14);
    }
}

#[test]
fn adjoint_matches_conjugation_and_bracket() {
    let mut rng = rng(13);
    for _ in 0..50 {
        let (g, a, b) =
            (pose(&mut rng, 2.0), random_twist(&mut rng, 1.0), random_twist(&mut rng, 1.0));
        let conjugated = g.homogeneous() * se3::hat(&a) * g.inverse().homogeneous();
        close(&se3::hat(&(g.adjoint() * a)), &conjugated, 1e-13);
        let (ha, hb) = (se3::hat(&a), se3::hat(&b));
        close(&se3::hat(&(se3::ad(&a) * b)), &(ha * hb - hb * ha), 1e-13);
        // Ad is a homomorphism, and Ad∘exp = exp∘ad.
        let h = pose(&mut rng, 1.0);
        close(&(g * h).adjoint(), &(g.adjoint() * h.adjoint()), 1e-13);
        let mut series = Mat6::identity();
        let mut term = Mat6::identity();
        for k in 1..40 {
            term = term * se3::ad(&a) / f64::from(k);
            series += term;
        }
        close(&se3::exp(&a).adjoint(), &series, 1e-12);
    }
}

#[test]
fn exponential_matches_the_matrix_series_and_inverts() {
    let mut rng = rng(14);
    for angle in ANGLES {
        for _ in 0..20 {
            let xi = random_twist(&mut rng, angle);
            let g = se3::exp(&xi);
            let (mut series, mut term) = (Matrix4::identity(), Matrix4::identity());
            for k in 1..60 {
                term = term * se3::hat(&xi) / f64::from(k);
                series += term;
            }
            close(&g.homogeneous(), &series, 1e-13);
            close(&se3::log(&g), &xi, 2e-13);
        }
    }
}

#[test]
fn cayley_matches_its_definition_and_inverts() {
    let mut rng = rng(15);
    for size in [0.0, 1e-8, 0.3, 1.0, 10.0] {
        for _ in 0..20 {
            let xi = random_twist(&mut rng, size);
            let (i, v) = (Matrix4::identity(), se3::hat(&xi));
            let want = (i + v) * (i - v).try_inverse().unwrap();
            let g = se3::cay(&xi);
            close(&g.homogeneous(), &want, 1e-12);
            close(&se3::cay_inv(&g).unwrap(), &xi, 1e-13 * (1.0 + size * size));
        }
    }
    let half_turn = Pose { x: Vec3::x(), rot: Mat3::from_diagonal(&Vec3::new(1.0, -1.0, -1.0)) };
    assert!(matches!(se3::cay_inv(&half_turn), Err(GeomError::HalfTurn { .. })));
}

/// Both trivialisations of the derivative of a chart, by five-point differences.
fn tangents(tau: impl Fn(&Vec6) -> Pose, xi: &Vec6) -> (Mat6, Mat6) {
    let h = 1e-3;
    let (mut body, mut space) = (Mat6::zeros(), Mat6::zeros());
    let inverse = tau(xi).inverse().homogeneous();
    for j in 0..6 {
        let at = |k: f64| {
            let mut e = *xi;
            e[j] += k * h;
            tau(&e).homogeneous()
        };
        let d = (8.0 * (at(1.0) - at(-1.0)) - (at(2.0) - at(-2.0))) / (12.0 * h);
        let vee = |m: Matrix4<f64>| Vec6::new(m.m14, m.m24, m.m34, m.m32, m.m13, m.m21);
        body.set_column(j, &vee(inverse * d));
        space.set_column(j, &vee(d * inverse));
    }
    (body, space)
}

#[test]
fn tangent_maps_match_differences_and_invert() {
    let mut rng = rng(16);
    for angle in ANGLES {
        for _ in 0..10 {
            let xi = random_twist(&mut rng, angle);
            let i = Mat6::identity();
            let (body, space) = tangents(se3::exp, &xi);
            close(&se3::dexp_body(&xi), &body, 1e-10);
            close(&se3::dexp_space(&xi), &space, 1e-10);
            close(&(se3::dexp_body_inv(&xi) * se3::dexp_body(&xi)), &i, 1e-12);
            close(&(se3::dexp_space_inv(&xi) * se3::dexp_space(&xi)), &i, 1e-12);
            close(&(se3::exp(&xi).adjoint() * se3::dexp_body(&xi)), &se3::dexp_space(&xi), 1e-12);

            let (body, space) = tangents(se3::cay, &xi);
            close(&se3::dcay_body(&xi), &body, 2e-9);
            close(&se3::dcay_space(&xi), &space, 2e-9);
            close(&(se3::dcay_body_inv(&xi) * se3::dcay_body(&xi)), &i, 1e-12);
            close(&(se3::dcay_space_inv(&xi) * se3::dcay_space(&xi)), &i, 1e-12);
        }
    }
}

#[test]
fn poses_are_checked() {
    let dirty = Mat3::identity() * 1.001;
    assert!(matches!(Pose::new(Vec3::zeros(), dirty), Err(GeomError::NotRotation { .. })));
    let nan = Vec3::new(0.0, f64::NAN, 0.0);
    assert!(matches!(Pose::new(nan, Mat3::identity()), Err(GeomError::NotFinite { .. })));
    assert!(Pose::new(Vec3::zeros(), Mat3::identity()).is_ok());
}
