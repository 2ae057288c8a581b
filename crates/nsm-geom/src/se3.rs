//! The group of rigid motions SE(3): composition, action, adjoint, exponential and Cayley maps with
//! their inverses and tangent maps.
//!
//! Conventions:
//! - A [`Pose`] is $(x, R)$, the homogeneous matrix $G$ with blocks $R$, $x$ (\[TL\] (2.8)); it acts by
//!   $z \mapsto Rz + x$.
//! - A twist is the 6-vector $(y, \omega)$, translation first (\[TL\] (2.9)), the matrix $\hat\xi$ with blocks
//!   $S(\omega)$, $y$; the inner product (2.10) is the usual dot product of 6-vectors.
//! - $\mathrm{Ad}\_G$ is defined by $G\hat\xi G^{-1} = \widehat{\mathrm{Ad}\_G\xi}$, and
//!   $\mathrm{ad}_\xi\eta = [\xi, \eta]$.
//! - Tangent maps come left-trivialised (`body`, $\dot G = G\\,\hat\eta$) and right-trivialised (`space`,
//!   $\dot G = \hat\eta\\,G$), as in [`so3`].
//! - Cayley on SE(3) is that of the 4×4 matrices, $(I+\hat\xi)(I-\hat\xi)^{-1}$.

use std::ops::Mul;

use nalgebra::Matrix4;

use crate::{GeomError, Mat3, Mat6, Vec3, Vec6, error::finite, so3, stumpff::stumpff};

/// A configuration $(x, R) \in SE(3)$ of a rigid body.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pose {
    /// Position $x$ of the body frame's origin.
    pub x: Vec3,
    /// Attitude $R$, from body to inertial components.
    pub rot: Mat3,
}

impl Pose {
    /// Largest $\lVert R^\top R-I\rVert_F$ that [`Pose::new`] accepts.
    pub const ORTHOGONALITY: f64 = 1e-9;

    /// A pose from its parts, checked.
    ///
    /// # Errors
    /// [`GeomError::NotRotation`], or [`GeomError::NotFinite`] for the position.
    pub fn new(x: Vec3, rot: Mat3) -> Result<Self, GeomError> {
        finite("position", x)?;
        so3::check(&rot, Self::ORTHOGONALITY)?;
        Ok(Self { x, rot })
    }

    /// The identity.
    pub fn identity() -> Self {
        Self { x: Vec3::zeros(), rot: Mat3::identity() }
    }

    /// A pure translation.
    pub fn translation(x: Vec3) -> Self {
        Self { x, rot: Mat3::identity() }
    }

    /// $G^{-1} = (-R^\top x, R^\top)$.
    #[must_use]
    pub fn inverse(&self) -> Self {
        Self { x: -self.rot.tr_mul(&self.x), rot: self.rot.transpose() }
    }

    /// $T_{(x,R)}(z) = Rz + x$ (\[TL\] (2.8b)).
    #[inline]
    pub fn act(&self, z: &Vec3) -> Vec3 {
        self.rot * z + self.x
    }

    /// $T_{(x,R)}^{-1}(z) = R^\top(z - x)$.
    #[inline]
    pub fn act_inverse(&self, z: &Vec3) -> Vec3 {
        self.rot.tr_mul(&(z - self.x))
    }

    /// The homogeneous matrix $G$.
    pub fn homogeneous(&self) -> Matrix4<f64> {
        let mut g = Matrix4::identity();
        g.fixed_view_mut::<3, 3>(0, 0).copy_from(&self.rot);
        g.fixed_view_mut::<3, 1>(0, 3).copy_from(&self.x);
        g
    }

    /// $\mathrm{Ad}_G$: the twist in the inertial frame of a twist in the body frame.
    pub fn adjoint(&self) -> Mat6 {
        blocks(&self.rot, &(so3::skew(&self.x) * self.rot), &self.rot)
    }
}

impl Mul for Pose {
    type Output = Self;

    /// Group operation (\[TL\] (2.8a)).
    fn mul(self, other: Self) -> Self {
        Self { x: self.rot * other.x + self.x, rot: self.rot * other.rot }
    }
}

/// The twist $(y, \omega)$.
pub fn twist(y: &Vec3, omega: &Vec3) -> Vec6 {
    Vec6::new(y.x, y.y, y.z, omega.x, omega.y, omega.z)
}

/// The parts $(y, \omega)$ of a twist.
pub fn split(xi: &Vec6) -> (Vec3, Vec3) {
    (Vec3::new(xi[0], xi[1], xi[2]), Vec3::new(xi[3], xi[4], xi[5]))
}

/// $\hat\xi$: the matrix of $\mathfrak{se}(3)$ with blocks $S(\omega)$, $y$ (\[TL\] (2.9)).
pub fn hat(xi: &Vec6) -> Matrix4<f64> {
    let (y, omega) = split(xi);
    let mut v = Matrix4::zeros();
    v.fixed_view_mut::<3, 3>(0, 0).copy_from(&so3::skew(&omega));
    v.fixed_view_mut::<3, 1>(0, 3).copy_from(&y);
    v
}

/// $\mathrm{ad}\_\xi$: $[\xi, \eta] = (\omega_\xi\times y_\eta - \omega_\eta\times y_\xi,\ \omega_\xi\times\omega_\eta)$.
pub fn ad(xi: &Vec6) -> Mat6 {
    let (y, omega) = split(xi);
    let s = so3::skew(&omega);
    blocks(&s, &so3::skew(&y), &s)
}

/// $\exp\hat\xi = (\mathrm d\exp^{\\,space}_\omega y,\ \exp S(\omega))$.
pub fn exp(xi: &Vec6) -> Pose {
    let (y, omega) = split(xi);
    Pose { x: so3::dexp_space(&omega) * y, rot: so3::exp(&omega) }
}

/// The twist with $\exp\hat\xi = G$ and $|\omega| \le \pi$; see [`so3::log`] for half turns.
pub fn log(pose: &Pose) -> Vec6 {
    let omega = so3::log(&pose.rot);
    twist(&(so3::dexp_space_inv(&omega) * pose.x), &omega)
}

/// $\mathrm{Cay}\\,\hat\xi = (2(I - S(\omega))^{-1}y,\ \mathrm{Cay}\\,S(\omega))$.
pub fn cay(xi: &Vec6) -> Pose {
    let (y, omega) = split(xi);
    Pose { x: 2.0 * (cayley_inverse(&omega) * y), rot: so3::cay(&omega) }
}

/// The twist with $\mathrm{Cay}\\,\hat\xi = G$.
///
/// # Errors
/// [`GeomError::HalfTurn`] where the rotation is by $\pi$.
pub fn cay_inv(pose: &Pose) -> Result<Vec6, GeomError> {
    let omega = so3::cay_inv(&pose.rot)?;
    let y = 0.5 * (pose.x - omega.cross(&pose.x));
    Ok(twist(&y, &omega))
}

/// Right-trivialised tangent of the exponential ("left Jacobian").
///
/// The translational-rotational block is
/// $$ Q = \tfrac12 Y + c_3(WY + YW + WYW) + c_4(W^2Y + YW^2 - 3WYW)
///      + \tfrac12(c_4 - 3c_5)(WYW^2 + W^2YW), $$
/// with $W = S(\omega)$, $Y = S(y)$ [Barfoot 2017, eq. (7.86b)], in Stumpff functions of $|\omega|^2$.
pub fn dexp_space(xi: &Vec6) -> Mat6 {
    let (y, omega) = split(xi);
    let j = so3::dexp_space(&omega);
    blocks(&j, &coupling(&y, &omega), &j)
}

/// Left-trivialised tangent of the exponential ("right Jacobian"),
/// $\mathrm d\exp^{\\,body}\_\xi = \mathrm d\exp^{\\,space}\_{-\xi}$.
pub fn dexp_body(xi: &Vec6) -> Mat6 {
    dexp_space(&-xi)
}

/// Inverse of [`dexp_space`].
pub fn dexp_space_inv(xi: &Vec6) -> Mat6 {
    let (y, omega) = split(xi);
    let j = so3::dexp_space_inv(&omega);
    blocks(&j, &(-(j * coupling(&y, &omega) * j)), &j)
}

/// Inverse of [`dexp_body`].
pub fn dexp_body_inv(xi: &Vec6) -> Mat6 {
    dexp_space_inv(&-xi)
}

/// Left-trivialised tangent of the Cayley map, from
/// $G^{-1}\dot G = 2(I+\hat\xi)^{-1}\dot{\hat\xi}(I-\hat\xi)^{-1}$.
pub fn dcay_body(xi: &Vec6) -> Mat6 {
    let (y, omega) = split(xi);
    let a = cayley_inverse(&omega);
    let at = 2.0 * a.transpose();
    blocks(&at, &(-(at * so3::skew(&(a * y)))), &so3::dcay_body(&omega))
}

/// Right-trivialised tangent of the Cayley map,
/// $\mathrm d\mathrm{Cay}^{\\,space}\_\xi = \mathrm d\mathrm{Cay}^{\\,body}\_{-\xi}$.
pub fn dcay_space(xi: &Vec6) -> Mat6 {
    dcay_body(&-xi)
}

/// Inverse of [`dcay_body`].
pub fn dcay_body_inv(xi: &Vec6) -> Mat6 {
    let (y, omega) = split(xi);
    let inverse = so3::dcay_body_inv(&omega);
    let half = 0.5 * (Mat3::identity() + so3::skew(&omega));
    blocks(&half, &(so3::skew(&(cayley_inverse(&omega) * y)) * inverse), &inverse)
}

/// Inverse of [`dcay_space`].
pub fn dcay_space_inv(xi: &Vec6) -> Mat6 {
    dcay_body_inv(&-xi)
}

/// $(I - S(f))^{-1} = \tfrac{1}{1+|f|^2}(I + S(f) + ff^\top)$, equal to \[TL\] (D.6).
fn cayley_inverse(f: &Vec3) -> Mat3 {
    (Mat3::identity() + so3::skew(f) + f * f.transpose()) / (1.0 + f.norm_squared())
}

fn coupling(y: &Vec3, omega: &Vec3) -> Mat3 {
    let c = stumpff(omega.norm_squared());
    let (w, y) = (so3::skew(omega), so3::skew(y));
    let (wy, yw) = (w * y, y * w);
    let wyw = wy * w;
    0.5 * y
        + c[3] * (wy + yw + wyw)
        + c[4] * (w * wy + yw * w - 3.0 * wyw)
        + 0.5 * (c[4] - 3.0 * c[5]) * (wyw * w + w * wyw)
}

/// The block upper triangular matrix with rows $(A, B)$ and $(0, D)$.
fn blocks(a: &Mat3, b: &Mat3, d: &Mat3) -> Mat6 {
    let mut m = Mat6::zeros();
    m.fixed_view_mut::<3, 3>(0, 0).copy_from(a);
    m.fixed_view_mut::<3, 3>(0, 3).copy_from(b);
    m.fixed_view_mut::<3, 3>(3, 3).copy_from(d);
    m
}
