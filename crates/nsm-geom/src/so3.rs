//! The rotation group SO(3): skew map, exponential and Cayley maps, their inverses and tangent maps.
//!
//! Conventions:
//! - $S(x)y = x \times y$ (\[TL\] (2.1)); `skew` is $S$, `vee` its inverse (2.2).
//! - Rotations are matrices $R$ taking body components to inertial ones.
//! - $\exp S(f)$ turns by $|f|$ about $f$ (D.2);
//!   $\mathrm{Cay}\\,S(f) = (I + S(f))(I - S(f))^{-1}$ turns by $2\arctan|f|$ about $f$ (D.5).
//! - A tangent map comes in two trivialisations. With $F = \tau(f)$ for $\tau = \exp$ or $\mathrm{Cay}$,
//!   $$ \dot F = F\\,S(\mathrm d\tau^{\\,body}_f \dot f) = S(\mathrm d\tau^{\\,space}_f \dot f)\\,F, $$
//!   left-trivialised (body frame, the "right Jacobian") and right-trivialised (inertial frame, the
//!   "left Jacobian"). Each is the other's transpose, and
//!   $\mathrm d\tau^{\\,space}_f = \tau(f)\\,\mathrm d\tau^{\\,body}_f$.
//!
//! All closed forms go through the [Stumpff functions](crate::stumpff), which have no branch point at
//! zero; the logarithm goes through the unit quaternion, which has none at $\pi$ either.

use crate::{
    GeomError, Mat3, Vec3,
    stumpff::{c1_c2, half_cotangent, stumpff},
};

/// $S(x)$: the skew-symmetric matrix with $S(x)y = x\times y$.
#[inline]
pub fn skew(x: &Vec3) -> Mat3 {
    Mat3::new(0.0, -x.z, x.y, x.z, 0.0, -x.x, -x.y, x.x, 0.0)
}

/// $S^{-1}(\Omega) = (\Omega_{32}, \Omega_{13}, \Omega_{21})$ (\[TL\] (2.2)), reading the entries as they are.
#[inline]
pub fn vee(omega: &Mat3) -> Vec3 {
    Vec3::new(omega.m32, omega.m13, omega.m21)
}

/// $\mathrm{Asym}(A) = A - A^\top$ (\[TL\] (2.3)).
#[inline]
pub fn asym(a: &Mat3) -> Mat3 {
    a - a.transpose()
}

/// $\mathrm{Sym}(A) = A + A^\top$ (\[TL\] (2.4)).
#[inline]
pub fn sym(a: &Mat3) -> Mat3 {
    a + a.transpose()
}

/// $S^{-1}(\mathrm{Asym}(A))$ without forming the matrix.
#[inline]
pub fn vee_asym(a: &Mat3) -> Vec3 {
    Vec3::new(a.m32 - a.m23, a.m13 - a.m31, a.m21 - a.m12)
}

/// $\langle \Omega_1, \Omega_2\rangle_S = \tfrac12\mathrm{tr}(\Omega_2^\top\Omega_1) = \omega_2\cdot\omega_1$
/// on $\mathfrak{so}(3)$ (\[TL\] (2.7)).
#[inline]
pub fn inner(omega1: &Mat3, omega2: &Mat3) -> f64 {
    0.5 * omega2.dot(omega1)
}

/// $\exp S(f)$ by Rodrigues' formula (\[TL\] (D.2)).
#[inline]
pub fn exp(f: &Vec3) -> Mat3 {
    let (c1, c2) = c1_c2(f.norm_squared());
    rodrigues(c1, c2, f)
}

/// The $f$ with $\exp S(f) = R$ and $|f| \le \pi$.
///
/// At half a turn the axis is defined up to sign; the sign that makes its largest component positive
/// is returned. `rotation` must be orthogonal (see [`check`]); the result then carries a few units of
/// round-off for every angle.
pub fn log(rotation: &Mat3) -> Vec3 {
    let (w, v) = quaternion(rotation);
    let n2 = v.norm_squared();
    // arctan(n/w)/n is even in n: its series avoids 0/0.
    let ratio = if n2 < 1e-6 * w * w {
        let q = n2 / (w * w);
        (1.0 - q * (1.0 / 3.0 - q * (0.2 - q / 7.0))) / w
    } else {
        let n = n2.sqrt();
        n.atan2(w) / n
    };
    2.0 * ratio * v
}

/// $\mathrm{Cay}\\,S(f) = I + \tfrac{2}{1+|f|^2}(S(f) + S(f)^2)$ (\[TL\] (D.7)).
#[inline]
pub fn cay(f: &Vec3) -> Mat3 {
    let k = 2.0 / (1.0 + f.norm_squared());
    rodrigues(k, k, f)
}

/// The $f$ with $\mathrm{Cay}\\,S(f) = R$: $f = S^{-1}(\mathrm{Asym}R)/(1 + \mathrm{tr}R)$.
///
/// # Errors
/// [`GeomError::HalfTurn`] where the angle is $\pi$ to round-off.
pub fn cay_inv(rotation: &Mat3) -> Result<Vec3, GeomError> {
    let (w, v) = quaternion(rotation);
    if w.abs() <= 4.0 * f64::EPSILON * v.norm() {
        return Err(GeomError::HalfTurn { trace: 1.0 + rotation.trace() });
    }
    Ok(v / w)
}

/// $\mathrm d\exp^{\\,body}_f = I - c_2 S(f) + c_3 S(f)^2$, the left-trivialised tangent of the exponential.
pub fn dexp_body(f: &Vec3) -> Mat3 {
    let c = stumpff(f.norm_squared());
    rodrigues(-c[2], c[3], f)
}

/// $\mathrm d\exp^{\\,space}_f = I + c_2 S(f) + c_3 S(f)^2$, the right-trivialised tangent of the exponential.
pub fn dexp_space(f: &Vec3) -> Mat3 {
    let c = stumpff(f.norm_squared());
    rodrigues(c[2], c[3], f)
}

/// Inverse of [`dexp_body`]; singular at $|f| = 2\pi, 4\pi, \dots$
pub fn dexp_body_inv(f: &Vec3) -> Mat3 {
    rodrigues(0.5, half_cotangent(f.norm_squared()), f)
}

/// Inverse of [`dexp_space`]; singular at $|f| = 2\pi, 4\pi, \dots$
pub fn dexp_space_inv(f: &Vec3) -> Mat3 {
    rodrigues(-0.5, half_cotangent(f.norm_squared()), f)
}

/// $\mathrm d\mathrm{Cay}^{\\,body}_f = \tfrac{2}{1+|f|^2}(I - S(f))$.
pub fn dcay_body(f: &Vec3) -> Mat3 {
    (Mat3::identity() - skew(f)) * (2.0 / (1.0 + f.norm_squared()))
}

/// $\mathrm d\mathrm{Cay}^{\\,space}_f = \tfrac{2}{1+|f|^2}(I + S(f))$.
pub fn dcay_space(f: &Vec3) -> Mat3 {
    (Mat3::identity() + skew(f)) * (2.0 / (1.0 + f.norm_squared()))
}

/// Inverse of [`dcay_body`]: $\tfrac12(I + S(f) + ff^\top)$.
pub fn dcay_body_inv(f: &Vec3) -> Mat3 {
    (Mat3::identity() + skew(f) + f * f.transpose()) * 0.5
}

/// Inverse of [`dcay_space`]: $\tfrac12(I - S(f) + ff^\top)$.
pub fn dcay_space_inv(f: &Vec3) -> Mat3 {
    (Mat3::identity() - skew(f) + f * f.transpose()) * 0.5
}

/// $\lVert R^\top R - I\rVert_F$.
pub fn orthogonality_defect(rotation: &Mat3) -> f64 {
    (rotation.tr_mul(rotation) - Mat3::identity()).norm()
}

/// Is the matrix a rotation, up to an orthogonality defect of `tolerance`?
///
/// # Errors
/// [`GeomError::NotRotation`], also for NaN and for reflections.
pub fn check(rotation: &Mat3, tolerance: f64) -> Result<(), GeomError> {
    let defect = orthogonality_defect(rotation);
    let determinant = rotation.determinant();
    if defect <= tolerance && determinant > 0.0 {
        Ok(())
    } else {
        Err(GeomError::NotRotation { defect, determinant })
    }
}

/// The rotation nearest to `matrix` in the Frobenius norm (its orthogonal polar factor).
///
/// # Errors
/// [`GeomError::NotRotation`] if the determinant is not positive.
pub fn nearest(matrix: &Mat3) -> Result<Mat3, GeomError> {
    let refused = || GeomError::NotRotation {
        defect: orthogonality_defect(matrix),
        determinant: matrix.determinant(),
    };
    if !(matrix.determinant() > 0.0 && matrix.iter().all(|c| c.is_finite())) {
        return Err(refused());
    }
    // Newton's iteration for the polar factor, scaled by the determinant while far away.
    let mut r = *matrix;
    for _ in 0..100 {
        let scale = r.determinant().cbrt();
        let Some(inverse) = r.try_inverse() else { return Err(refused()) };
        let next = 0.5 * (r / scale + scale * inverse.transpose());
        let change = (next - r).norm();
        r = next;
        if change <= 1e-15 {
            return Ok(r);
        }
        if change <= 1e-8 {
            let Some(inverse) = r.try_inverse() else { return Err(refused()) };
            return Ok(0.5 * (r + inverse.transpose()));
        }
    }
    Err(refused())
}

/// $I + a\\,S(f) + b\\,S(f)^2$, using $S(f)^2 = ff^\top - |f|^2 I$ (\[TL\] (2.1b)).
#[inline]
fn rodrigues(a: f64, b: f64, f: &Vec3) -> Mat3 {
    let (x, y, z) = (f.x, f.y, f.z);
    let (xx, yy, zz) = (b * x * x, b * y * y, b * z * z);
    let (xy, xz, yz) = (b * x * y, b * x * z, b * y * z);
    let (ax, ay, az) = (a * x, a * y, a * z);
    Mat3::new(
        1.0 - (yy + zz),
        xy - az,
        xz + ay,
        xy + az,
        1.0 - (xx + zz),
        yz - ax,
        xz - ay,
        yz + ax,
        1.0 - (xx + yy),
    )
}

/// Unit quaternion $(w, v)$ with $w \ge 0$, dividing by its largest component (Shepperd's choice), so
/// that no component suffers cancellation.
fn quaternion(r: &Mat3) -> (f64, Vec3) {
    let (w, v) = if r.trace() > 0.0 {
        let s = 2.0 * (1.0 + r.trace()).sqrt();
        (0.25 * s, vee_asym(r) / s)
    } else if r.m11 >= r.m22 && r.m11 >= r.m33 {
        let s = 2.0 * (1.0 + r.m11 - r.m22 - r.m33).sqrt();
        ((r.m32 - r.m23) / s, Vec3::new(0.25 * s, (r.m12 + r.m21) / s, (r.m13 + r.m31) / s))
    } else if r.m22 >= r.m33 {
        let s = 2.0 * (1.0 - r.m11 + r.m22 - r.m33).sqrt();
        ((r.m13 - r.m31) / s, Vec3::new((r.m12 + r.m21) / s, 0.25 * s, (r.m23 + r.m32) / s))
    } else {
        let s = 2.0 * (1.0 - r.m11 - r.m22 + r.m33).sqrt();
        ((r.m21 - r.m12) / s, Vec3::new((r.m13 + r.m31) / s, (r.m23 + r.m32) / s, 0.25 * s))
    };
    if w < 0.0 { (-w, -v) } else { (w, v) }
}
