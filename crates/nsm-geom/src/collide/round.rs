//! Pairs of parts that are not both bare polyhedra: the common normal, and more points where a flat side lies on a flat side.
//!
//! The gap is that of the parts by their support functions. Where the normal is that of a face or a cap, the other part's flat side (face,
//! cap, or line of a capsule or cylinder) is clipped by it, and its corners become features; two capsules side by side touch at both ends of
//! what they share.

use super::{
    Axis, Collider, Feature, Found, Motion, Scratch, Side,
    clip::{self, CLIPPING},
    part::{Part, PartCore},
    solids::{Pair, clip_by_face},
};
use crate::{Pose, Vec3, distance::convex_gap};

/// Sine of the angle to a flat side within which it is looked at.
const NEAR_FLAT: f64 = 0.05;
/// Sine within which the normal is that of the flat side itself, and the corners say all.
const FLAT: f64 = 1e-7;
/// Corners that stand for a circle.
const CIRCLE: usize = 12;

impl Collider {
    /// Adds the features of the pair that lie within `margin` of each other at the end of a step; returns the gap at the end, or a lower
    /// bound for it if that exceeds the margin. `axes` has one entry for each pair of parts.
    pub fn detect(
        &self,
        other: &Self,
        motion: &Motion<'_>,
        margin: f64,
        axes: &mut [Axis],
        scratch: &mut Scratch,
        found: &mut Vec<Found>,
    ) -> f64 {
        if let (Some(r), Some(s)) = (self.ball, other.ball) {
            let [p, q] = motion.end;
            let gap = (q.x - p.x).norm() - r - s;
            if gap < margin {
                let centres = [Vec3::zeros(); 2];
                let feature = Feature::Balls { centres, radii: [r, s] };
                found.push(Found { feature, key: 0, parts: 0, gap });
            }
            return gap;
        }
        let mut least = f64::INFINITY;
        for (i, first) in self.parts.iter().enumerate() {
            for (j, second) in other.parts.iter().enumerate() {
                let k = i * other.parts.len() + j;
                let [p, q] = motion.end;
                let between = (q.act(&second.centre) - p.act(&first.centre)).norm();
                let bound = between - first.reach - second.reach;
                if bound > margin {
                    least = least.min(bound);
                    continue;
                }
                let parts = u32::try_from(k).unwrap_or(u32::MAX);
                let axis = &mut axes[k];
                let gap = match (&first.core, &second.core) {
                    (PartCore::Solid(a), PartCore::Solid(b))
                        if first.radius == 0.0 && second.radius == 0.0 =>
                    {
                        let size = first.reach.min(second.reach);
                        Pair::new(a, b, motion, size).detect(margin, parts, axis, scratch, found)
                    }
                    _ => {
                        let places = [i, j].map(|x| u32::try_from(x).unwrap_or(u32::MAX));
                        let pair = RoundPair { a: first, b: second, poses: motion.end, places };
                        pair.detect(margin, parts, axis, scratch, found)
                    }
                };
                least = least.min(gap);
            }
        }
        least
    }

    /// How many [axes](Axis) a pair of bodies needs.
    pub fn axes(&self, other: &Self) -> usize {
        self.parts.len() * other.parts.len()
    }
}

/// Two convex parts at one instant.
struct RoundPair<'a> {
    a: &'a Part,
    b: &'a Part,
    poses: [&'a Pose; 2],
    places: [u32; 2],
}

impl RoundPair<'_> {
    fn detect(
        &self,
        margin: f64,
        parts: u32,
        axis: &mut Axis,
        scratch: &mut Scratch,
        found: &mut Vec<Found>,
    ) -> f64 {
        let [p, q] = self.poses;
        if axis.normal != Vec3::zeros() {
            let n = axis.normal;
            let u = q.rot.tr_mul(&(p.rot * n));
            let apart = n.dot(&p.rot.tr_mul(&(q.x - p.x))) - n.dot(&self.a.support(&n))
                + u.dot(&self.b.support(&-u));
            if apart > margin {
                return apart;
            }
        }
        let hint = p.rot * axis.normal;
        let hint = (axis.normal != Vec3::zeros()).then_some(&hint);
        let (first, second) = (self.a.at(p, &p.x), self.b.at(q, &p.x));
        let Ok(gap) = convex_gap(&first, &second, hint) else {
            // No normal was found: concentric parts, say. The line of centres is as good as any.
            return f64::NEG_INFINITY;
        };
        axis.normal = p.rot.tr_mul(&gap.normal);
        if gap.gap > margin {
            return gap.gap;
        }
        let flat = self.flat_features(&gap.normal, margin, parts, scratch, found);
        if !flat {
            let feature = Feature::Parts { parts: self.places, normal: gap.normal };
            found.push(Found { feature, key: 1 << 63, parts, gap: gap.gap });
        }
        gap.gap
    }

    /// Features of flat sides; returns whether they say all about the contact.
    fn flat_features(
        &self,
        normal: &Vec3,
        margin: f64,
        parts: u32,
        scratch: &mut Scratch,
        found: &mut Vec<Found>,
    ) -> bool {
        let [p, q] = self.poses;
        if let (PartCore::Segment(l), PartCore::Segment(m)) = (&self.a.core, &self.b.core) {
            self.side_by_side(*l, *m, margin, parts, found);
            return false;
        }
        if matches!(self.a.core, PartCore::Point) || matches!(self.b.core, PartCore::Point) {
            return false;
        }
        // Corners stand for the rim of a cylinder, but its lowest point may lie between them.
        let curved = |part: &&Part| matches!(part.core, PartCore::Cylinder(_) | PartCore::Round(_));
        let rim = [self.a, self.b].iter().any(curved);
        let (n, m) = (p.rot.tr_mul(normal), -q.rot.tr_mul(normal));
        if let Some((side, sine)) = FlatSide::of(self.a, &n) {
            let onto = p.inverse() * *q;
            side.features((self.a, self.b), &onto, Side::B, (margin, parts), scratch, found);
            return sine < FLAT && !rim;
        }
        if let Some((side, sine)) = FlatSide::of(self.b, &m) {
            let onto = q.inverse() * *p;
            side.features((self.b, self.a), &onto, Side::A, (margin, parts), scratch, found);
            return sine < FLAT && !rim;
        }
        false
    }

    /// Two capsules that are nearly parallel: the ends of what they share.
    fn side_by_side(&self, l: f64, m: f64, margin: f64, parts: u32, found: &mut Vec<Found>) {
        let [p, q] = self.poses;
        let (ends, others) = (self.a.ends(l), self.b.ends(m));
        let [e, f] = ends.map(|x| p.act(&x));
        let [g, h] = others.map(|x| q.act(&x));
        let (u, v) = ((f - e) / (2.0 * l), (h - g) / (2.0 * m));
        if u.cross(&v).norm() > NEAR_FLAT {
            return;
        }
        // Ends of either segment that lie beside the other.
        let radii = [self.b.radius, self.a.radius];
        for (k, (end, z)) in others.into_iter().zip([g, h]).enumerate() {
            let t = u.dot(&(z - e));
            let gap = (z - e - t * u).norm() - radii[0] - radii[1];
            if (0.0..=2.0 * l).contains(&t) && gap < margin {
                let feature =
                    Feature::PointSegment { owner: Side::B, point: end, segment: ends, radii };
                found.push(Found { feature, key: k as u64, parts, gap });
            }
        }
        for (k, (end, z)) in ends.into_iter().zip([e, f]).enumerate() {
            let t = v.dot(&(z - g));
            let gap = (z - g - t * v).norm() - radii[0] - radii[1];
            if (0.0..=2.0 * m).contains(&t) && gap < margin {
                let (segment, radii) = (others, [radii[1], radii[0]]);
                let feature = Feature::PointSegment { owner: Side::A, point: end, segment, radii };
                found.push(Found { feature, key: 2 + k as u64, parts, gap });
            }
        }
    }
}

/// A face or a cap, in the frame of its body.
enum FlatSide {
    Face(usize),
    /// The cap of a cylinder towards $\pm$ its axis.
    Cap(f64),
}

impl FlatSide {
    /// The flat side of a part whose normal is nearly `n`, and the sine between them.
    fn of(part: &Part, n: &Vec3) -> Option<(Self, f64)> {
        match &part.core {
            PartCore::Solid(solid) => {
                let mut best = (0, f64::NEG_INFINITY);
                for (k, face) in solid.faces().iter().enumerate() {
                    let along = face.normal.dot(n);
                    if along > best.1 {
                        best = (k, along);
                    }
                }
                let sine = solid.faces()[best.0].normal.cross(n).norm();
                (best.1 > 0.0 && sine < NEAR_FLAT).then_some((Self::Face(best.0), sine))
            }
            PartCore::Cylinder(_) => {
                let axis: Vec3 = part.frame.rot.column(2).into();
                let sine = axis.cross(n).norm();
                let sign = axis.dot(n).signum();
                (sine < NEAR_FLAT).then_some((Self::Cap(sign), sine))
            }
            _ => None,
        }
    }

    /// Clips the flat side of `incident` that faces this one.
    fn features(
        &self,
        (reference, incident): (&Part, &Part),
        onto: &Pose,
        owner: Side,
        (margin, parts): (f64, u32),
        scratch: &mut Scratch,
        found: &mut Vec<Found>,
    ) {
        let (normal, height) = match (&reference.core, self) {
            (PartCore::Solid(solid), Self::Face(f)) => {
                (solid.faces()[*f].normal, solid.faces()[*f].offset)
            }
            (PartCore::Cylinder(c), Self::Cap(sign)) => {
                let axis: Vec3 = reference.frame.rot.column(2).into();
                let normal = axis * *sign;
                (normal, normal.dot(&reference.frame.x) + c.half_length())
            }
            _ => return,
        };
        let down = -onto.rot.tr_mul(&normal);
        scratch.polygon.clear();
        facing_side(incident, &down, onto, scratch);
        match (&reference.core, self) {
            (PartCore::Solid(solid), Self::Face(f)) => {
                clip_by_face(solid, *f, reference.reach, scratch);
            }
            (PartCore::Cylinder(c), _) => {
                let frame = &reference.frame;
                for k in 0..CIRCLE {
                    let angle = std::f64::consts::TAU * (k as f64 + 0.5) / CIRCLE as f64;
                    let out = frame.rot * Vec3::new(angle.cos(), angle.sin(), 0.0);
                    let name = CLIPPING + u32::try_from(k).unwrap_or(0);
                    // Sides halfway between those inside and around the circle.
                    let d = out.dot(&frame.x) + c.radius() * 0.983;
                    let side = (&out, d, name);
                    let tolerance = 1e-9 * c.radius();
                    clip::keep_inside(&mut scratch.polygon, &mut scratch.clipped, side, tolerance);
                    if scratch.polygon.is_empty() {
                        break;
                    }
                }
            }
            _ => {}
        }
        let offset = height + reference.radius;
        for corner in &scratch.polygon {
            let gap = normal.dot(&corner.point) - offset - incident.radius;
            if gap < margin {
                let point = onto.act_inverse(&corner.point);
                let radius = incident.radius;
                let feature = Feature::PointFace { owner, point, radius, normal, offset };
                let key = u64::from(owner == Side::A) << 61 | 1 << 60 | corner.name();
                found.push(Found { feature, key, parts, gap });
            }
        }
    }
}

/// The face, cap, line or point of a part that is highest along `u` (in its body frame), moved by `onto`.
fn facing_side(part: &Part, u: &Vec3, onto: &Pose, scratch: &mut Scratch) {
    match &part.core {
        PartCore::Solid(solid) => {
            let mut best = (0, f64::NEG_INFINITY);
            for (k, face) in solid.faces().iter().enumerate() {
                let along = face.normal.dot(u);
                if along > best.1 {
                    best = (k, along);
                }
            }
            let corners = &solid.faces()[best.0].vertices;
            clip::corners(
                corners.iter().map(|&v| onto.act(&solid.vertices()[v])),
                &mut scratch.polygon,
            );
        }
        PartCore::Segment(l) => {
            clip::corners(part.ends(*l).into_iter().map(|e| onto.act(&e)), &mut scratch.polygon);
        }
        PartCore::Cylinder(c) => {
            let frame = &part.frame;
            let axis: Vec3 = frame.rot.column(2).into();
            let sine = axis.cross(u).norm();
            if sine < 0.5 {
                let centre = frame.x + axis * c.half_length().copysign(axis.dot(u));
                let at = |k: usize| {
                    let angle = std::f64::consts::TAU * k as f64 / CIRCLE as f64;
                    centre + frame.rot * Vec3::new(angle.cos(), angle.sin(), 0.0) * c.radius()
                };
                clip::corners((0..CIRCLE).map(|k| onto.act(&at(k))), &mut scratch.polygon);
            } else {
                let across = (u - axis * axis.dot(u)).normalize() * c.radius();
                let ends = [-c.half_length(), c.half_length()];
                let line = ends.map(|z| frame.x + across + axis * z);
                clip::corners(line.into_iter().map(|e| onto.act(&e)), &mut scratch.polygon);
            }
        }
        PartCore::Point | PartCore::Round(_) => {}
    }
}
