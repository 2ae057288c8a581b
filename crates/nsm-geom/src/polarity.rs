//! Poles of points and planes with respect to an ellipsoid, and the distance to a plane (\[TL\] Appendix A).
//!
//! The pole of $p$ is $p\' = p/f_{\mathcal E}(p)$ (A.3). The points of $\mathcal E$ with tangent plane parallel to
//! $\mathcal P(n, D)$ are
//! $$ q_\ast^\pm = \pm\frac{I_{\mathcal E}^2n}{\lVert I_{\mathcal E}n\rVert}; \tag{A.5} $$
//! the ray through the nearer one meets the plane in $p_\ast$ (A.6a), whose pole is the pole of the plane,
//! $$ p_\ast\' = -\tfrac1D I_{\mathcal E}^2n. \tag{A.6b} $$
//! Ellipsoid and plane are disjoint if and only if $f_{\mathcal E}(p_\ast\') < 1$ (Theorem A.6), that is
//! $\lVert I_{\mathcal E}n\rVert < |D|$ (A.9), and then
//! $$ d_2(\mathcal E, \mathcal P) = \min|D \pm \lVert I_{\mathcal E}n\rVert|. \tag{A.7} $$
//! An ellipsoid at $(x, R)$ sees the plane $\mathcal P(R^\top n, D + n\cdot x)$ (Theorem A.11), which is
//! [`Plane::in_body`].

use crate::{Plane, Vec3, shape::Ellipsoid};

impl Ellipsoid {
    /// Pole of a point (A.3); `None` for the centre, whose pole is at infinity.
    pub fn pole(&self, p: &Vec3) -> Option<Vec3> {
        let level = self.level(p);
        (level > 0.0).then(|| p / level)
    }

    /// Pole of a plane given in the ellipsoid's frame (A.6b); `None` for a plane through the centre.
    pub fn plane_pole(&self, plane: &Plane) -> Option<Vec3> {
        (plane.offset() != 0.0).then(|| -self.squared(plane.normal()) / plane.offset())
    }

    /// The point $p_\ast$ of the plane on the ray through the closest point of the ellipsoid (A.6a).
    pub fn plane_foot(&self, plane: &Plane) -> Vec3 {
        let w = self.squared(plane.normal());
        -w * (plane.offset() / w.dot(plane.normal()))
    }

    /// The points $q_\ast^+$, $q_\ast^-$ with tangent plane parallel to the plane (A.5).
    pub fn tangent_points(&self, plane: &Plane) -> [Vec3; 2] {
        let q = self.support(plane.normal());
        [q, -q]
    }

    /// Does the ellipsoid miss the plane? (A.9)
    pub fn misses(&self, plane: &Plane) -> bool {
        self.semi_axes().component_mul(plane.normal()).norm() < plane.offset().abs()
    }

    /// Distance to a plane given in the ellipsoid's frame (A.7), zero where they meet.
    ///
    /// Unsigned, and blind to the side: use [`crate::Shape::plane_gap`] for collision detection.
    pub fn plane_distance(&self, plane: &Plane) -> f64 {
        let w = self.semi_axes().component_mul(plane.normal()).norm();
        (plane.offset().abs() - w).max(0.0)
    }

    fn squared(&self, n: &Vec3) -> Vec3 {
        self.semi_axes().component_mul(self.semi_axes()).component_mul(n)
    }
}
