//! Gaps between a cylinder and a plane.
//!
//! A cylinder touches a plane with its rims. Each is a disc, whose lowest point is as smooth as that of an ellipsoid wherever it does not lie flat:
//! $$ g = n \cdot z_c + D - r\\,\lvert n - (n \cdot a)\\,a \rvert , $$
//! $z_c$ its centre, $a$ the axis. So a wheel rolls on two points, a coin on one. Where a cap lies flat it has no lowest point, and what carries it are
//! points around its rim, which belong to the body and have gaps of their own there; as long as the cylinder is tilted by more than that they stand far apart,
//! for the rim's own point is the lowest.

use nsm_geom::{Mat3, Plane, Pose as Frame, Vec3};

use super::contact::EllipsoidPlane;
use super::tangent::Lowest;
use crate::{AutoDiff, ConstraintError, Expr, Field, Scalar};

/// Points around a rim.
const POINTS: u32 = 16;

/// Sine of the tilt up to which they count.
const NEARLY_FLAT: f64 = 0.02;

/// A gap, and the point of the body that touches.
type Touch = (Box<dyn Field>, Lowest);

/// A cylinder about the third axis of a frame in its body, with a ball of `radius` added to it.
pub(super) struct Wheel {
    pub(super) frame: Frame,
    pub(super) half: f64,
    pub(super) rim: f64,
    pub(super) radius: f64,
}

impl Wheel {
    /// The gaps over a plane, each with the point that touches.
    pub(super) fn plane_gaps(
        &self,
        plane: &Plane,
        block: &[usize],
    ) -> Result<Vec<Touch>, ConstraintError> {
        let Self { frame, half, rim, radius } = self;
        let axis: Vec3 = frame.rot.column(2).into();
        let disc = frame.rot * Mat3::from_diagonal(&Vec3::new(*rim, *rim, 0.0));
        let mut gaps: Vec<Touch> = Vec::new();
        for side in [-half, *half] {
            let centre = frame.x + axis * side;
            let gap = EllipsoidPlane { plane: *plane, centre, axes: disc, radius: *radius };
            let lowest = Lowest::Ellipsoid { centre, axes: disc, radius: *radius };
            gaps.push((Box::new(AutoDiff::new(gap, block)?), lowest));
            for k in 0..POINTS {
                let angle = std::f64::consts::TAU * f64::from(k) / f64::from(POINTS);
                let (sine, cosine) = angle.sin_cos();
                let point = centre + disc * Vec3::new(cosine, sine, 0.0);
                let gap =
                    RimPoint { plane: *plane, point, axis, radius: *radius, apart: 2.0 * rim };
                let lowest = Lowest::Ball { centre: point, radius: *radius };
                gaps.push((Box::new(AutoDiff::new(gap, block)?), lowest));
            }
        }
        Ok(gaps)
    }
}

/// A point of a rim, which carries where the cap lies flat.
struct RimPoint {
    plane: Plane,
    point: Vec3,
    axis: Vec3,
    radius: f64,
    apart: f64,
}

impl Expr for RimPoint {
    fn value<T: Scalar>(&self, q: &[T], _t: T) -> T {
        let n = self.plane.normal();
        let down: [T; 4] =
            std::array::from_fn(|k| q[3 * k] * n[0] + q[3 * k + 1] * n[1] + q[3 * k + 2] * n[2]);
        let upright: f64 = (0..3).map(|k| down[k + 1].re() * self.axis[k]).sum();
        let height = (0..3).fold(down[0], |sum, k| sum + down[k + 1] * self.point[k]);
        let flat = 1.0 - upright * upright <= NEARLY_FLAT * NEARLY_FLAT;
        let apart = if flat { 0.0 } else { self.apart };
        height + (self.plane.offset() - self.radius + apart)
    }
}
