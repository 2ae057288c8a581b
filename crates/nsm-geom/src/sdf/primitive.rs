//! Signed distances to spheres, boxes, capsules and cylinders, all exact.

use super::SignedDistance;
use crate::{
    Vec3,
    shape::{Capsule, Cuboid, Cylinder, Sphere},
};

impl Sphere {
    /// $|z| - r$; no gradient at the centre.
    pub fn signed_distance(&self, z: &Vec3) -> SignedDistance {
        from_core(z, self.radius())
    }
}

impl Capsule {
    /// Distance to the segment, less the radius; no gradient on the segment.
    pub fn signed_distance(&self, z: &Vec3) -> SignedDistance {
        let nearest = z.z.clamp(-self.half_length(), self.half_length());
        from_core(&Vec3::new(z.x, z.y, z.z - nearest), self.radius())
    }
}

impl Cuboid {
    /// With $q_i = |z_i| - b_i$: $|\max(q, 0)|$ outside, $\max_iq_i$ inside; no gradient where two faces
    /// are nearest.
    pub fn signed_distance(&self, z: &Vec3) -> SignedDistance {
        let q = z.abs() - self.half_extents();
        let sign = z.map(f64::signum);
        if q.max() > 0.0 {
            let outside = q.map(|c| c.max(0.0));
            let d = outside.norm();
            return SignedDistance::new(d, outside.component_mul(&sign) / d);
        }
        let depth = q.max();
        let axis = q.imax();
        let tied = q.iter().filter(|c| **c == depth).count() > 1 || z[axis] == 0.0;
        if tied {
            return SignedDistance::without_gradient(depth);
        }
        let mut gradient = Vec3::zeros();
        gradient[axis] = sign[axis];
        SignedDistance::new(depth, gradient)
    }
}

impl Cylinder {
    /// A rectangle in the half plane (distance from the axis, height); no gradient where cap and side, or
    /// several points of the side, are nearest.
    pub fn signed_distance(&self, z: &Vec3) -> SignedDistance {
        let across = z.x.hypot(z.y);
        let (side, cap) = (across - self.radius(), z.z.abs() - self.half_length());
        // Only used where it matters: beside the axis.
        let radial =
            if across > 0.0 { Vec3::new(z.x / across, z.y / across, 0.0) } else { Vec3::zeros() };
        let axial = Vec3::z() * z.z.signum();
        if side > 0.0 && cap > 0.0 {
            let d = side.hypot(cap);
            return SignedDistance::new(d, (radial * side + axial * cap) / d);
        }
        if side > cap && across > 0.0 {
            SignedDistance::new(side, radial)
        } else if cap > side && z.z != 0.0 {
            SignedDistance::new(cap, axial)
        } else {
            SignedDistance::without_gradient(side.max(cap))
        }
    }
}

fn from_core(r: &Vec3, radius: f64) -> SignedDistance {
    let n = r.norm();
    if n > 0.0 {
        SignedDistance::new(n - radius, r / n)
    } else {
        SignedDistance::without_gradient(-radius)
    }
}
