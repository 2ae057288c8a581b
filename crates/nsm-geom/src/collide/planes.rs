//! A body over a plane.

use super::{
    Collider, Feature, Found, Side,
    part::{CIRCLE, PartCore},
};
use crate::{Plane, Pose, Vec3};

/// Sine of the tilt below which a cylinder's cap is taken to lie almost flat, and flat.
const FLAT: f64 = 0.05;
const LEVEL: f64 = 1e-9;

impl Collider {
    /// Adds the features of the body that lie within `margin` of a plane at the end of a step; returns the least gap.
    ///
    /// The plane is the first party of each feature, the body the second.
    pub fn detect_plane(
        &self,
        plane: &Plane,
        end: &Pose,
        margin: f64,
        found: &mut Vec<Found>,
    ) -> f64 {
        let (normal, offset) = (*plane.normal(), -plane.offset());
        let seen = plane.in_body(end);
        let mut least = f64::INFINITY;
        for (k, part) in self.parts.iter().enumerate() {
            let bound = part.clears(&seen);
            if bound > margin {
                least = least.min(bound);
                continue;
            }
            let parts = u32::try_from(k).unwrap_or(u32::MAX);
            let radius = part.radius;
            let mut push = |key: u64, feature: Feature, gap: f64| {
                least = least.min(gap);
                if gap < margin {
                    found.push(Found { feature, key, parts, gap });
                }
            };
            let vertex = |point: Vec3| {
                let gap = seen.signed_distance(&point) - radius;
                let owner = Side::B;
                (Feature::PointFace { owner, point, radius, normal, offset }, gap)
            };
            match &part.core {
                PartCore::Point => {
                    let (feature, gap) = vertex(part.frame.x);
                    push(0, feature, gap);
                }
                PartCore::Segment(half) => {
                    for (key, end) in part.ends(*half).into_iter().enumerate() {
                        let (feature, gap) = vertex(end);
                        push(key as u64, feature, gap);
                    }
                }
                PartCore::Solid(solid) => {
                    for (key, v) in solid.vertices().iter().enumerate() {
                        let (feature, gap) = vertex(*v);
                        push(key as u64, feature, gap);
                    }
                }
                PartCore::Cylinder(c) => {
                    let axis: Vec3 = part.frame.rot.column(2).into();
                    let tilt = axis.cross(seen.normal()).norm();
                    for (key, sign) in [(0, 1.0), (1, -1.0)] {
                        let centre = part.frame.x + axis * (sign * c.half_length());
                        let level = seen.signed_distance(&centre) - radius;
                        let gap = level - c.radius() * tilt;
                        if tilt > FLAT {
                            let radii = [c.radius(), radius];
                            let owner = Side::B;
                            let rim = Feature::Rim { owner, centre, axis, radii, normal, offset };
                            push(key, rim, gap);
                            continue;
                        }
                        // The lowest point of a cap that lies almost flat runs around its rim: points of the body hold it.
                        let name = 16 * (key + 1);
                        for (k, corner) in part.rim(&centre, c.radius()).enumerate() {
                            let (feature, gap) = vertex(corner);
                            push(name + k as u64, feature, gap);
                        }
                        if tilt > LEVEL {
                            let across = seen.normal() - axis * axis.dot(seen.normal());
                            let (feature, gap) = vertex(centre - across.normalize() * c.radius());
                            push(name + CIRCLE as u64, feature, gap);
                        }
                    }
                }
                PartCore::Round(_, flats) => {
                    let down = -part.frame.rot.tr_mul(seen.normal());
                    let flat = flats.iter().map(|f| (f, f.normal.cross(&down).norm()));
                    let flat = flat.filter(|(f, sine)| *sine < FLAT && f.normal.dot(&down) > 0.0);
                    let tilt = flat.clone().map(|(_, sine)| sine).fold(f64::INFINITY, f64::min);
                    for (key, corner) in flat.flat_map(|(f, _)| &f.corners).enumerate() {
                        let (feature, gap) = vertex(part.frame.act(corner));
                        push(1 + key as u64, feature, gap);
                    }
                    let point = part.support(&-seen.normal());
                    if tilt > FLAT {
                        let gap = seen.signed_distance(&point);
                        let owner = Side::B;
                        push(0, Feature::Round { owner, part: parts, normal, offset }, gap);
                    } else if tilt > LEVEL {
                        let (feature, gap) = vertex(point + seen.normal() * radius);
                        push(0, feature, gap);
                    }
                }
            }
        }
        least
    }

    /// The least gap to a plane.
    pub fn plane_gap(&self, plane: &Plane, pose: &Pose) -> f64 {
        let seen = plane.in_body(pose);
        let of = |part: &super::part::Part| match &part.core {
            PartCore::Point => seen.signed_distance(&part.frame.x) - part.radius,
            _ => seen.signed_distance(&part.support(&-seen.normal())),
        };
        self.parts.iter().map(of).fold(f64::INFINITY, f64::min)
    }
}
