//! Planes and half-spaces.
//!
//! $\mathcal P(n, D) = \lbrace z : n\cdot z + D = 0\rbrace$ with $|n| = 1$ (\[TL\] (2.12)); its signed distance
//! function (6.2) is $\psi_{\mathcal P}(z) = n\cdot z + D$, negative in the half-space that the plane bounds
//! from above (the obstacle), positive on the free side to which $n$ points.

use crate::{GeomError, Pose, Vec3, error::finite};

/// A plane with unit normal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plane {
    normal: Vec3,
    offset: f64,
}

impl Plane {
    /// The plane $n\cdot z + D = 0$; a normal of any length is accepted and the equation divided by it.
    ///
    /// # Errors
    /// [`GeomError::ZeroDirection`] for a zero normal, [`GeomError::NotFinite`] for NaN or infinities.
    pub fn new(normal: Vec3, offset: f64) -> Result<Self, GeomError> {
        finite("plane normal", normal)?;
        if !offset.is_finite() {
            return Err(GeomError::NotFinite { what: "plane offset" });
        }
        // Scaling by the largest entry first keeps tiny and huge normals from under- or overflowing.
        let scale = normal.amax();
        if scale == 0.0 {
            return Err(GeomError::ZeroDirection { what: "plane normal" });
        }
        let length = scale * (normal / scale).norm();
        Ok(Self { normal: (normal / scale).normalize(), offset: offset / length })
    }

    /// The plane through `point`.
    ///
    /// # Errors
    /// As for [`Plane::new`].
    pub fn through(point: Vec3, normal: Vec3) -> Result<Self, GeomError> {
        let plane = Self::new(normal, 0.0)?;
        let offset = -plane.normal.dot(&finite("point", point)?);
        Ok(Self { offset, ..plane })
    }

    /// $n = (0,0,1)$, $D = 0$ (\[TL\] (2.11)).
    pub fn horizontal() -> Self {
        Self { normal: Vec3::z(), offset: 0.0 }
    }

    /// Unit normal $n$, towards the free side.
    pub fn normal(&self) -> &Vec3 {
        &self.normal
    }

    /// The constant $D$.
    pub fn offset(&self) -> f64 {
        self.offset
    }

    /// $\psi_{\mathcal P}(z) = n\cdot z + D$ (\[TL\] (6.2)).
    #[inline]
    pub fn signed_distance(&self, z: &Vec3) -> f64 {
        self.normal.dot(z) + self.offset
    }

    /// The plane as seen from a body at `pose`: $\mathcal P(R^\top n, D + n\cdot x)$ (\[TL\] (6.7) and Theorem A.11).
    #[must_use]
    pub fn in_body(&self, pose: &Pose) -> Self {
        Self { normal: pose.rot.tr_mul(&self.normal), offset: self.signed_distance(&pose.x) }
    }
}
