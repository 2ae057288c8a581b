//! Round and boxy primitives, centred at the origin of their own frame.
//!
//! Each is given by its support function $h(u) = \max_{\rho}u\cdot\rho$ and a point attaining it,
//! $\rho(u) = \partial h/\partial u$ where $h$ is differentiable. $u$ need not be a unit vector.

use crate::{GeomError, Vec3, error::positive};

/// The ball $|z| \le r$.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sphere {
    radius: f64,
}

/// The ellipsoid $\sum_i z_i^2/e_i^2 \le 1$ (\[TL\] (2.14)), semi-axes along the coordinate axes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ellipsoid {
    semi_axes: Vec3,
}

/// The box $|z_i| \le b_i$.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cuboid {
    half_extents: Vec3,
}

/// All points within `radius` of the segment $|z_3| \le$ `half_length` on the third axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Capsule {
    half_length: f64,
    radius: f64,
}

/// The cylinder $z_1^2 + z_2^2 \le r^2$, $|z_3| \le$ `half_length`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cylinder {
    half_length: f64,
    radius: f64,
}

impl Sphere {
    /// A ball.
    ///
    /// # Errors
    /// [`GeomError::NotPositive`].
    pub fn new(radius: f64) -> Result<Self, GeomError> {
        Ok(Self { radius: positive("sphere radius", radius)? })
    }

    /// The radius.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// $r\\,u/|u|$.
    #[inline]
    pub fn support(&self, u: &Vec3) -> Vec3 {
        unit_or_zero(u) * self.radius
    }
}

impl Ellipsoid {
    /// An ellipsoid with the given semi-axes.
    ///
    /// # Errors
    /// [`GeomError::NotPositive`].
    pub fn new(semi_axes: [f64; 3]) -> Result<Self, GeomError> {
        for e in semi_axes {
            positive("ellipsoid semi-axis", e)?;
        }
        Ok(Self { semi_axes: Vec3::from(semi_axes) })
    }

    /// $(a, b, c)$, the diagonal of $I_{\mathcal E}$.
    pub fn semi_axes(&self) -> &Vec3 {
        &self.semi_axes
    }

    /// $f_{\mathcal E}(z) = \sum_i z_i^2/e_i^2$ (\[TL\] (2.13)).
    #[inline]
    pub fn level(&self, z: &Vec3) -> f64 {
        z.component_div(&self.semi_axes).norm_squared()
    }

    /// $I_{\mathcal E}^2u/|I_{\mathcal E}u|$ (\[TL\] (A.5)).
    #[inline]
    pub fn support(&self, u: &Vec3) -> Vec3 {
        let w = self.semi_axes.component_mul(u);
        self.semi_axes.component_mul(&unit_or_zero(&w))
    }
}

impl Cuboid {
    /// A box with the given half extents.
    ///
    /// # Errors
    /// [`GeomError::NotPositive`].
    pub fn new(half_extents: [f64; 3]) -> Result<Self, GeomError> {
        for b in half_extents {
            positive("box half extent", b)?;
        }
        Ok(Self { half_extents: Vec3::from(half_extents) })
    }

    /// Half extents $b$.
    pub fn half_extents(&self) -> &Vec3 {
        &self.half_extents
    }

    /// The vertex $(\pm b_1, \pm b_2, \pm b_3)$ with the signs of $u$.
    #[inline]
    pub fn support(&self, u: &Vec3) -> Vec3 {
        self.half_extents.zip_map(u, f64::copysign)
    }

    /// Vertex `k` of eight, bit `i` of `k` choosing the sign along axis `i`.
    #[inline]
    pub(crate) fn vertex(&self, k: u8) -> Vec3 {
        let sign = |i: u8| if k >> i & 1 == 1 { 1.0 } else { -1.0 };
        self.half_extents.component_mul(&Vec3::new(sign(0), sign(1), sign(2)))
    }
}

impl Capsule {
    /// A capsule along the third axis.
    ///
    /// # Errors
    /// [`GeomError::NotPositive`].
    pub fn new(half_length: f64, radius: f64) -> Result<Self, GeomError> {
        Ok(Self {
            half_length: positive("capsule half length", half_length)?,
            radius: positive("capsule radius", radius)?,
        })
    }

    /// Half length of the segment, caps not included.
    pub fn half_length(&self) -> f64 {
        self.half_length
    }

    /// The radius.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// End of the segment on the side of $u$, plus $r\\,u/|u|$.
    #[inline]
    pub fn support(&self, u: &Vec3) -> Vec3 {
        let mut p = unit_or_zero(u) * self.radius;
        p.z += self.half_length.copysign(u.z);
        p
    }
}

impl Cylinder {
    /// A cylinder along the third axis.
    ///
    /// # Errors
    /// [`GeomError::NotPositive`].
    pub fn new(half_length: f64, radius: f64) -> Result<Self, GeomError> {
        Ok(Self {
            half_length: positive("cylinder half length", half_length)?,
            radius: positive("cylinder radius", radius)?,
        })
    }

    /// Half length.
    pub fn half_length(&self) -> f64 {
        self.half_length
    }

    /// The radius.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// The point of the rim on the side of $u$; the cap's centre if $u$ is along the axis.
    #[inline]
    pub fn support(&self, u: &Vec3) -> Vec3 {
        let across = u.x.hypot(u.y);
        let k = if across > 0.0 { self.radius / across } else { 0.0 };
        Vec3::new(k * u.x, k * u.y, self.half_length.copysign(u.z))
    }
}

/// $u/|u|$, or zero where $u$ is zero: the support point of a ball in no direction is its centre.
#[inline]
pub(crate) fn unit_or_zero(u: &Vec3) -> Vec3 {
    let n = u.norm();
    if n > 0.0 { u / n } else { Vec3::zeros() }
}
