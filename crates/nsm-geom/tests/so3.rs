//! Every identity of \[TL\] section 2.1.1 and Appendix C, the closed forms of Appendix D, and the tangent
//! maps against differences.

mod common;

use std::f64::consts::PI;

use common::{close, direction, gauss, matrix, rng, rotation, uniform};
use nsm_geom::{GeomError, Mat3, Vec3, so3, stumpff::stumpff};

const ROUND_OFF: f64 = 4e-14;

/// Angles that visit every branch.
const ANGLES: [f64; 14] =
    [0.0, 1e-200, 1e-12, 1e-8, 1e-5, 1e-3, 0.14, 0.9, 1.1, 2.0, 3.0, PI - 1e-6, PI - 1e-10, PI];

#[test]
fn skew_identities_2_1_and_2_2() {
    let mut rng = rng(1);
    for _ in 0..200 {
        let (x, y, r) = (gauss(&mut rng), gauss(&mut rng), rotation(&mut rng));
        let s = so3::skew(&x);
        close(&(s * y), &x.cross(&y), ROUND_OFF);
        close(&s.transpose(), &-s, 0.0);
        close(&(s * s), &(x * x.transpose() - Mat3::identity() * x.norm_squared()), ROUND_OFF);
        let t = so3::skew(&y);
        let bracket = so3::skew(&x.cross(&y));
        close(&bracket, &(s * t - t * s), ROUND_OFF);
        close(&bracket, &(y * x.transpose() - x * y.transpose()), ROUND_OFF);
        close(&so3::skew(&(r * x)), &(r * s * r.transpose()), ROUND_OFF);
        close(&so3::vee(&s), &x, 0.0);
    }
}

#[test]
fn trace_and_inner_products_2_3_to_2_7() {
    let mut rng = rng(2);
    for _ in 0..200 {
        let a = matrix(&mut rng);
        let (w1, w2) = (gauss(&mut rng), gauss(&mut rng));
        let (o1, o2) = (so3::skew(&w1), so3::skew(&w2));
        let frobenius = |a: &Mat3, b: &Mat3| (b.transpose() * a).trace();
        // Proposition 2.1, both directions: zero for symmetric P; nonzero for some Ω otherwise.
        let p = so3::sym(&a);
        assert!((o1.transpose() * p).trace().abs() < ROUND_OFF);
        let witness = so3::asym(&a);
        assert!((witness.transpose() * a).trace() > 0.0);
        // (2.6), (2.7) and the relation between the two inner products.
        assert!(
            (frobenius(&a, &o1) - 0.5 * (o1.transpose() * so3::asym(&a)).trace()).abs() < ROUND_OFF
        );
        assert!((so3::inner(&o1, &o2) - w2.dot(&w1)).abs() < ROUND_OFF);
        assert!((frobenius(&a, &o1) - so3::inner(&so3::asym(&a), &o1)).abs() < ROUND_OFF);
        close(&so3::vee_asym(&a), &so3::vee(&so3::asym(&a)), 0.0);
        close(&(0.5 * so3::sym(&a) + 0.5 * so3::asym(&a)), &a, ROUND_OFF);
    }
}

/// Central differences by the entries of $X$; the functions of Appendix C are linear in $X$, so the
/// differences carry round-off only.
fn matrix_derivative(f: impl Fn(&Mat3) -> f64, x: &Mat3) -> Mat3 {
    Mat3::from_fn(|i, j| {
        let mut e = Mat3::zeros();
        e[(i, j)] = 0.5;
        f(&(x + e)) - f(&(x - e))
    })
}

#[test]
fn matrix_derivatives_of_appendix_c() {
    let mut rng = rng(3);
    for _ in 0..50 {
        let (a, b, v) = (gauss(&mut rng), gauss(&mut rng), gauss(&mut rng));
        let (aa, bb, x) = (matrix(&mut rng), matrix(&mut rng), matrix(&mut rng));
        let check =
            |f: &dyn Fn(&Mat3) -> f64, want: Mat3| close(&matrix_derivative(f, &x), &want, 1e-13);
        check(&|x| a.dot(&(x * b)), a * b.transpose());
        check(&|x| a.dot(&(x.transpose() * b)), b * a.transpose());
        check(&|x| (aa * x * bb).trace(), aa.transpose() * bb.transpose());
        check(&|x| (aa * x.transpose() * bb).trace(), bb * aa);
        check(&|x| v.dot(&(aa * x * b)), aa.transpose() * v * b.transpose());
        check(&|x| v.dot(&(aa * x.transpose() * b)), b * v.transpose() * aa);
    }
}

#[test]
fn exponential_is_a_rotation_and_inverts_the_logarithm() {
    let mut rng = rng(4);
    for angle in ANGLES {
        for _ in 0..50 {
            let f = direction(&mut rng) * angle;
            let r = so3::exp(&f);
            assert!(so3::orthogonality_defect(&r) < 2e-15);
            close(&(r * f), &f, 2e-15);
            let back = so3::log(&r);
            close(&so3::exp(&back), &r, 2e-15);
            if angle < PI - 1e-7 {
                close(&back, &f, 4e-15 * angle.max(f64::MIN_POSITIVE));
            } else {
                // At half a turn round-off decides the sign of the axis.
                assert!((back.norm() - angle).abs() < 3e-15);
            }
        }
    }
}

#[test]
fn logarithm_at_exactly_half_a_turn_picks_one_axis() {
    for (axis, want) in [
        (Vec3::new(1.0, 0.0, 0.0), Vec3::new(1.0, 0.0, 0.0)),
        (Vec3::new(0.0, -1.0, 0.0), Vec3::new(0.0, 1.0, 0.0)),
        (Vec3::new(0.6, 0.0, -0.8), Vec3::new(-0.6, 0.0, 0.8)),
    ] {
        let r = 2.0 * axis * axis.transpose() - Mat3::identity();
        close(&so3::log(&r), &(want * PI), 1e-15);
        assert!(matches!(so3::cay_inv(&r), Err(GeomError::HalfTurn { .. })));
    }
}

#[test]
fn logarithm_is_accurate_for_tiny_rotations() {
    // 1e-200 underflows when squared; the result must still be the vector itself.
    for size in [1e-200, 1e-100, 1e-20, 1e-9] {
        let f = Vec3::new(0.3, -0.5, 0.8) * size;
        close(&so3::log(&so3::exp(&f)), &f, 1e-15 * size);
        close(&so3::cay_inv(&so3::cay(&f)).unwrap(), &f, 1e-15 * size);
    }
}

#[test]
fn cayley_closed_form_d5_to_d7() {
    let mut rng = rng(5);
    for size in [0.0, 1e-9, 0.1, 1.0, 30.0, 1e4] {
        for _ in 0..30 {
            let f = direction(&mut rng) * size;
            let (i, s) = (Mat3::identity(), so3::skew(&f));
            let inverse = (i - s).try_inverse().unwrap();
            let d6 = i + (s + s * s) / (1.0 + f.norm_squared());
            close(&inverse, &d6, 1e-12);
            let r = so3::cay(&f);
            close(&r, &((i + s) * d6), 1e-11);
            assert!(so3::orthogonality_defect(&r) < 3e-15);
            // Cayley coordinates are tan(θ/2) along the axis of the exponential's.
            let half = f.norm().atan();
            if size > 0.0 {
                close(&r, &so3::exp(&(f / f.norm() * (2.0 * half))), 2e-15);
                let back = so3::cay_inv(&r).unwrap();
                assert!((back - f).norm() <= 2e-15 * (1.0 + f.norm_squared()));
            }
        }
    }
}

/// $\tau(f)^{-1}\tau(f + \delta)$ and $\tau(f+\delta)\tau(f)^{-1}$ differentiated by five-point differences.
fn tangents(tau: impl Fn(&Vec3) -> Mat3, f: &Vec3) -> (Mat3, Mat3) {
    let h = 2e-3;
    let (mut body, mut space) = (Mat3::zeros(), Mat3::zeros());
    for j in 0..3 {
        let at = |k: f64| {
            let mut g = *f;
            g[j] += k * h;
            tau(&g)
        };
        let d = (8.0 * (at(1.0) - at(-1.0)) - (at(2.0) - at(-2.0))) / (12.0 * h);
        let r = tau(f);
        body.set_column(j, &(0.5 * so3::vee_asym(&(r.transpose() * d))));
        space.set_column(j, &(0.5 * so3::vee_asym(&(d * r.transpose()))));
    }
    (body, space)
}

#[test]
fn tangent_maps_match_differences_and_invert() {
    let mut rng = rng(6);
    for angle in [0.0, 1e-9, 1e-4, 0.1, 0.99, 1.01, 2.5, 3.1, 5.0] {
        for _ in 0..20 {
            let f = direction(&mut rng) * angle;
            let i = Mat3::identity();
            let (body, space) = tangents(so3::exp, &f);
            close(&so3::dexp_body(&f), &body, 2e-11);
            close(&so3::dexp_space(&f), &space, 2e-11);
            close(&(so3::dexp_body_inv(&f) * so3::dexp_body(&f)), &i, 2e-14);
            close(&(so3::dexp_space_inv(&f) * so3::dexp_space(&f)), &i, 2e-14);
            close(&so3::dexp_body(&f), &so3::dexp_space(&f).transpose(), 1e-16);
            close(&(so3::exp(&f) * so3::dexp_body(&f)), &so3::dexp_space(&f), 2e-15);

            let (body, space) = tangents(so3::cay, &f);
            close(&so3::dcay_body(&f), &body, 5e-10);
            close(&so3::dcay_space(&f), &space, 5e-10);
            close(&(so3::dcay_body_inv(&f) * so3::dcay_body(&f)), &i, 1e-14);
            close(&(so3::dcay_space_inv(&f) * so3::dcay_space(&f)), &i, 1e-14);
            close(&(so3::cay(&f) * so3::dcay_body(&f)), &so3::dcay_space(&f), 2e-14);
        }
    }
}

/// (D.1) with (D.3) and (D.8): $\mathrm{Asym}(FJ_d) = S(G(f))$, and the printed Jacobian of $G$ in
/// Stumpff functions.
#[test]
fn implicit_equation_of_appendix_d() {
    let mut rng = rng(7);
    for _ in 0..100 {
        let f = direction(&mut rng) * uniform(&mut rng, 0.0, 3.0);
        let m = matrix(&mut rng);
        let jd = m * m.transpose();
        let j = Mat3::identity() * jd.trace() - jd;
        let c = stumpff(f.norm_squared());
        let g = |f: &Vec3| {
            let c = stumpff(f.norm_squared());
            c[1] * j * f + c[2] * f.cross(&(j * f))
        };
        close(&so3::asym(&(so3::exp(&f) * jd)), &so3::skew(&g(&f)), 1e-13);
        let cayley = 2.0 / (1.0 + f.norm_squared()) * (j * f + f.cross(&(j * f)));
        close(&so3::asym(&(so3::cay(&f) * jd)), &so3::skew(&cayley), 1e-13);

        let jf = j * f;
        let jacobian = (c[3] - c[2]) * jf * f.transpose()
            + c[1] * j
            + (2.0 * c[4] - c[3]) * f.cross(&jf) * f.transpose()
            + c[2] * (so3::skew(&f) * j - so3::skew(&jf));
        let h = 1e-5;
        for k in 0..3 {
            let mut e = Vec3::zeros();
            e[k] = h;
            let column = (g(&(f + e)) - g(&(f - e))) / (2.0 * h);
            close(&jacobian.column(k).into_owned(), &column, 1e-8);
        }
    }
}

#[test]
fn rotations_are_checked_and_repaired() {
    let mut rng = rng(8);
    for _ in 0..50 {
        let r = rotation(&mut rng);
        assert!(so3::check(&r, 1e-14).is_ok());
        let dirty = r + matrix(&mut rng) * 0.05;
        assert!(matches!(so3::check(&dirty, 1e-6), Err(GeomError::NotRotation { .. })));
        let clean = so3::nearest(&dirty).unwrap();
        assert!(so3::orthogonality_defect(&clean) < 2e-15);
        // Optimality: RᵀM is symmetric positive definite for the polar factor R.
        let h = clean.transpose() * dirty;
        close(&h, &h.transpose(), 1e-14);
    }
    let reflection = Mat3::from_diagonal(&Vec3::new(1.0, 1.0, -1.0));
    assert!(so3::check(&reflection, 1e-6).is_err());
    assert!(so3::check(&Mat3::from_element(f64::NAN), 1e-6).is_err());
    assert!(so3::nearest(&reflection).is_err());
    assert!(so3::nearest(&Mat3::from_element(f64::NAN)).is_err());
}
