//! The collision detection function: signed distance of a body to a plane, with its derivatives.
//!
//! $$ \Phi(x, R) = n\cdot x + D + \min_{\rho\in\mathcal B} n\cdot R\rho \tag{TL 6.9} $$
//!
//! With $a = R^\top n$ the minimiser is $\rho_C = \rho(-a)$, the support point against the plane, and
//! $$ \frac{\partial\Phi}{\partial x} = n, \qquad \frac{\partial\Phi}{\partial R} = n\rho_C^\top, \qquad
//!    \dot\Phi = n\cdot\dot x + \chi\cdot\Omega, \quad \chi = \rho_C\times a. $$
//! The derivative of $\rho_C$ in \[TL\] (6.10), (6.14) contributes nothing (envelope theorem), and rounding by
//! $\epsilon$ only shifts the plane. Where several points attain the minimum $\Phi$ is not differentiable; each
//! of them carries its own $\chi$, and [`Shape::plane_contacts`] lists them.

use crate::{Mat3, Plane, Pose, Shape, Vec3};

/// The gap between a body and a plane, at one of the body's closest points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlaneGap {
    /// $\Phi$: positive when apart, negative in penetration.
    pub gap: f64,
    /// $\rho_C$, the closest point in the body frame.
    pub point: Vec3,
    /// $\chi = \rho_C\times R^\top n$, the derivative of $\Phi$ by a body-frame rotation.
    pub chi: Vec3,
}

impl PlaneGap {
    fn at(point: Vec3, body_plane: &Plane) -> Self {
        let gap = body_plane.signed_distance(&point);
        Self { gap, point, chi: point.cross(body_plane.normal()) }
    }

    /// $\partial\Phi/\partial R = n\rho_C^\top$ (\[TL\] (6.5), (6.10)).
    pub fn rotation_gradient(&self, plane: &Plane) -> Mat3 {
        plane.normal() * self.point.transpose()
    }
}

impl Shape {
    /// $\Phi(x, R)$ with the closest point and the derivative by rotation.
    #[inline]
    pub fn plane_gap(&self, plane: &Plane, pose: &Pose) -> PlaneGap {
        let seen = plane.in_body(pose);
        PlaneGap::at(self.support(&-seen.normal()), &seen)
    }

    /// Every closest point: the extreme points of the body whose distance to the plane exceeds $\Phi$ by at
    /// most `tolerance`, in a fixed order, written to `contacts` (cleared first).
    ///
    /// Four for a cube lying flat, two on an edge, one on a corner. Does not allocate if `contacts` has
    /// room for [`Shape::max_plane_contacts`].
    pub fn plane_contacts(
        &self,
        plane: &Plane,
        pose: &Pose,
        tolerance: f64,
        contacts: &mut Vec<PlaneGap>,
    ) {
        contacts.clear();
        let seen = plane.in_body(pose);
        let down = -seen.normal();
        let best = self.support(&down);
        let level = down.dot(&best) - tolerance;
        self.extreme_points(&down, level, &mut |p| contacts.push(PlaneGap::at(p, &seen)));
        if contacts.is_empty() {
            // A tolerance of zero can be missed by the rounding of the level itself.
            contacts.push(PlaneGap::at(best, &seen));
        }
    }

    /// Upper bound for the number of points that [`Shape::plane_contacts`] writes.
    pub fn max_plane_contacts(&self) -> usize {
        self.extreme_point_bound()
    }
}
