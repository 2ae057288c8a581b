//! Capsules and cylinders side by side: they touch along a line, and the ends of what they share hold it.
//!
//! Their common normal has no point of its own there. An end of a capsule is a ball beside the other's axis; the end of a cylinder is a rim,
//! of which the point towards the other's axis counts, so that logs may roll.

use super::{
    Feature, Found, Side,
    feature::{nearest, towards},
    part::{Part, PartCore},
    round::{NEAR_FLAT, RoundPair},
};
use crate::Vec3;

/// At equal ends one of the two stands for both: those of the second body reach this far beyond, as a fraction of the length.
const EQUAL: f64 = 1e-9;

impl RoundPair<'_> {
    /// Two capsules or cylinders that lie nearly parallel side by side: the ends of what they share, and the least of their gaps.
    pub(super) fn side_by_side(
        &self,
        normal: &Vec3,
        (margin, parts): (f64, u32),
        found: &mut Vec<Found>,
    ) -> Option<f64> {
        let lines = [self.a.line()?, self.b.line()?];
        let world = [0, 1].map(|k| lines[k].ends.map(|x| self.poses[k].act(&x)));
        let along = world.map(|[e, f]| (f - e).normalize());
        let lateral = along.iter().all(|u| u.dot(normal).abs() < NEAR_FLAT);
        if !lateral || along[0].cross(&along[1]).norm() > NEAR_FLAT {
            return None;
        }
        let mut least = f64::INFINITY;
        for (own, owner, reach) in [(1, Side::B, EQUAL), (0, Side::A, -EQUAL)] {
            let (line, other) = (&lines[own], &lines[1 - own]);
            let [e, f] = world[1 - own];
            let (u, length) = (along[1 - own], (f - e).norm());
            for (k, (end, z)) in line.ends.into_iter().zip(world[own]).enumerate() {
                let t = u.dot(&(z - e));
                if t < -reach * length || t > (1.0 + reach) * length {
                    continue;
                }
                let (segment, radii) = (other.ends, [line.rounding, other.radius]);
                let feature = if line.rim > 0.0 {
                    let axis = (line.ends[1] - line.ends[0]).normalize();
                    let (centre, rim) = (end, line.rim);
                    Feature::RimSegment { owner, centre, axis, rim, segment, radii }
                } else {
                    Feature::PointSegment { owner, point: end, segment, radii }
                };
                let point = towards(&world[1 - own], &z, &along[own], line.rim);
                let apart = (nearest(&world[1 - own], &point) - point).norm();
                let gap = apart - line.rounding - other.radius;
                least = least.min(gap);
                if gap < margin {
                    let key = if owner == Side::B { k as u64 } else { 2 + k as u64 };
                    found.push(Found { feature, key, parts, gap });
                }
            }
        }
        Some(least)
    }
}

/// The axis of a capsule or a cylinder, in the frame of its body.
struct Line {
    ends: [Vec3; 2],
    /// Radius of a cylinder's rim, zero for a capsule; what is rounded about it; and both together.
    rim: f64,
    rounding: f64,
    radius: f64,
}

impl Part {
    fn line(&self) -> Option<Line> {
        let (half, rim) = match &self.core {
            PartCore::Segment(half) => (*half, 0.0),
            PartCore::Cylinder(c) => (c.half_length(), c.radius()),
            _ => return None,
        };
        let (rounding, radius) = (self.radius, rim + self.radius);
        Some(Line { ends: self.ends(half), rim, rounding, radius })
    }
}
