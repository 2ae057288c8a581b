//! Pairs of parts that are not both bare polyhedra: the common normal, and more points where a flat side lies on a flat side.
//!
//! The gap is that of the parts by their support functions. Where the normal is nearly that of a face or a cap, the other part's flat side
//! (face, cap, or line of a capsule or cylinder) is clipped by it, and its corners become features, as do the lowest points of rims and of
//! round parts; two capsules side by side touch at both ends of what they share. Where one of these features lies as deep as the parts do, the
//! common normal says nothing more and is left out: its point is that of a corner, or anywhere on two faces that lie flat on each other.

use super::{
    Axis, Collider, Feature, Found, Motion, Scratch, Side,
    clip::{self, CLIPPING},
    part::{CIRCLE, Part, PartCore},
    solids::{Pair, clip_by_face},
};
use crate::{Pose, Vec3, distance::convex_gap, shape::Flat};

/// Sine of the angle to a flat side within which it is looked at.
pub(super) const NEAR_FLAT: f64 = 0.05;
/// Sine within which the normal is that of the flat side itself.
const FLAT: f64 = 1e-7;
/// A feature is as deep as the parts within this, times the size.
const AS_DEEP: f64 = 1e-11;
/// Sine below which a cap lies flat, and its rim has no lowest point.
const LEVEL: f64 = 1e-9;

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
pub(super) struct RoundPair<'a> {
    pub(super) a: &'a Part,
    pub(super) b: &'a Part,
    pub(super) poses: [&'a Pose; 2],
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
        let size = self.a.reach.min(self.b.reach);
        let deepest = self.flat_features(&gap.normal, margin, parts, scratch, found);
        if deepest > gap.gap + AS_DEEP * size {
            let feature = Feature::Parts { parts: self.places, normal: gap.normal };
            found.push(Found { feature, key: 1 << 63, parts, gap: gap.gap });
        }
        gap.gap
    }

    /// Features of flat sides; returns the least of their gaps.
    fn flat_features(
        &self,
        normal: &Vec3,
        margin: f64,
        parts: u32,
        scratch: &mut Scratch,
        found: &mut Vec<Found>,
    ) -> f64 {
        let [p, q] = self.poses;
        if let Some(least) = self.side_by_side(normal, (margin, parts), found) {
            return least;
        }
        if matches!(self.a.core, PartCore::Point) || matches!(self.b.core, PartCore::Point) {
            return f64::INFINITY;
        }
        // The side whose normal is the contact's own: that of the other part may be tilted against it.
        let first = FlatSide::of(self.a, &p.rot.tr_mul(normal));
        let second = FlatSide::of(self.b, &-q.rot.tr_mul(normal));
        let owner = match (&first, &second) {
            (None, None) => return f64::INFINITY,
            (Some(_), None) => Side::B,
            (None, Some(_)) => Side::A,
            (Some((side, s)), Some((other, t))) => {
                // A cap is known by corners that stand for its circle, a face by its own.
                let cap = |side: &FlatSide| !matches!(side, FlatSide::Face(_));
                let bias =
                    FLAT * (f64::from(u8::from(cap(side))) - f64::from(u8::from(cap(other))));
                if s + bias <= *t { Side::B } else { Side::A }
            }
        };
        let (found_side, over) = match owner {
            Side::B => {
                (first, Over { reference: self.a, incident: self.b, onto: p.inverse() * *q })
            }
            Side::A => {
                (second, Over { reference: self.b, incident: self.a, onto: q.inverse() * *p })
            }
        };
        let Some((side, sine)) = found_side else { return f64::INFINITY };
        let place = self.places[usize::from(owner == Side::B)];
        side.features(&over, (owner, place), (margin, parts), sine < FLAT, scratch, found)
    }
}

/// A face or a cap, in the frame of its body.
enum FlatSide {
    Face(usize),
    /// The cap of a cylinder towards $\pm$ its axis.
    Cap(f64),
    /// A flat side of a part that is round elsewhere.
    Flat(usize),
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
            PartCore::Round(_, flats) => {
                let (k, sine) = tilt_of(flats, &part.frame.rot.tr_mul(n))?;
                (sine < NEAR_FLAT).then_some((Self::Flat(k), sine))
            }
            _ => None,
        }
    }

    /// Clips the flat side of the incident part that faces this one; returns the least gap. `exact` says that the contact's normal is this
    /// side's.
    fn features(
        &self,
        over: &Over<'_>,
        (owner, place): (Side, u32),
        (margin, parts): (f64, u32),
        exact: bool,
        scratch: &mut Scratch,
        found: &mut Vec<Found>,
    ) -> f64 {
        let Over { reference, incident, onto } = over;
        let (normal, height) = match (&reference.core, self) {
            (PartCore::Solid(solid), Self::Face(f)) => {
                (solid.faces()[*f].normal, solid.faces()[*f].offset)
            }
            (PartCore::Cylinder(c), Self::Cap(sign)) => {
                let axis: Vec3 = reference.frame.rot.column(2).into();
                let normal = axis * *sign;
                (normal, normal.dot(&reference.frame.x) + c.half_length())
            }
            (PartCore::Round(_, flats), Self::Flat(k)) => {
                let normal = reference.frame.rot * flats[*k].normal;
                (normal, normal.dot(&reference.frame.x) + flats[*k].offset)
            }
            _ => return f64::INFINITY,
        };
        let down = -onto.rot.tr_mul(&normal);
        let offset = height + reference.radius;
        let side = u64::from(owner == Side::A) << 61 | 1 << 60;
        let mut least = f64::INFINITY;
        let mut push = |key: u64, feature: Feature, gap: f64| {
            least = least.min(gap);
            if gap < margin {
                found.push(Found { feature, key: side | key, parts, gap });
            }
        };
        scratch.polygon.clear();
        facing_side(incident, &down, onto, scratch);
        self.clip(reference, scratch);
        let radius = incident.radius;
        let vertex = |point: &Vec3, above: &Vec3| {
            let point = *point;
            let feature = Feature::PointFace { owner, point, radius, normal, offset };
            (feature, normal.dot(above) - offset - radius)
        };
        let level = |corner: &clip::Corner| {
            let (feature, gap) = vertex(&onto.act_inverse(&corner.point), &corner.point);
            (corner.name(), feature, gap)
        };
        if let (PartCore::Round(_, flats), true) = (&incident.core, exact) {
            let tilt = tilt_of(flats, &incident.frame.rot.tr_mul(&down)).map_or(1.0, |(_, t)| t);
            let point = incident.support(&down);
            if tilt > NEAR_FLAT {
                let gap = normal.dot(&onto.act(&point)) - offset;
                push(0, Feature::Round { owner, part: place, normal, offset }, gap);
            } else if tilt > LEVEL {
                let point = point - down * radius;
                let (feature, gap) = vertex(&point, &onto.act(&point));
                push(0, feature, gap);
            }
        }
        let PartCore::Cylinder(c) = &incident.core else {
            for (key, feature, gap) in scratch.polygon.iter().map(level) {
                push(1 + key, feature, gap);
            }
            return least;
        };
        let axis: Vec3 = incident.frame.rot.column(2).into();
        let tilt = axis.cross(&down).norm();
        if tilt < NEAR_FLAT {
            for (key, feature, gap) in scratch.polygon.iter().map(level) {
                push(key, feature, gap);
            }
        }
        if tilt < LEVEL {
            return least;
        }
        let lowest = (down - axis * axis.dot(&down)).normalize() * c.radius();
        let ends = [-1.0, 1.0].map(|sign| incident.frame.x + axis * (sign * c.half_length()));
        for (end, centre) in ends.into_iter().enumerate() {
            let point = centre + lowest;
            let above = onto.act(&point);
            clip::corners(std::iter::once(above), &mut scratch.polygon);
            self.clip(reference, scratch);
            if scratch.polygon.is_empty() {
                continue;
            }
            let (feature, gap) = vertex(&point, &above);
            let key = 1 << 40 | end as u64;
            if tilt < NEAR_FLAT {
                // The lowest point of a cap that lies almost flat runs around its rim: points of the body hold it.
                push(key, feature, gap);
            } else {
                let radii = [c.radius(), radius];
                push(key, Feature::Rim { owner, centre, axis, radii, normal, offset }, gap);
            }
        }
        if tilt > 0.5 {
            // Of a line that reaches beyond the face, the point above its edge.
            scratch.polygon.clear();
            facing_side(incident, &down, onto, scratch);
            self.clip(reference, scratch);
            let cut = |c: &&clip::Corner| c.before >= CLIPPING || c.after >= CLIPPING;
            for (key, feature, gap) in scratch.polygon.iter().filter(cut).map(level) {
                push(key, feature, gap);
            }
        }
        least
    }

    /// Cuts the polygon in `scratch` to what lies above this side.
    fn clip(&self, reference: &Part, scratch: &mut Scratch) {
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
            (PartCore::Round(_, flats), Self::Flat(k)) => {
                let (flat, frame) = (&flats[*k], &reference.frame);
                let corners = &flat.corners;
                for (k, p) in corners.iter().enumerate() {
                    let q = corners[(k + 1) % corners.len()];
                    let out = (q - p).cross(&flat.normal).normalize();
                    let side = frame.rot * out;
                    let name = CLIPPING + u32::try_from(k).unwrap_or(0);
                    let side = (&side, out.dot(p) + side.dot(&frame.x), name);
                    let tolerance = 1e-9 * reference.reach;
                    clip::keep_inside(&mut scratch.polygon, &mut scratch.clipped, side, tolerance);
                    if scratch.polygon.is_empty() {
                        break;
                    }
                }
            }
            _ => {}
        }
    }
}

/// The flat side that faces `n` most nearly, and the sine between them.
fn tilt_of(flats: &[Flat], n: &Vec3) -> Option<(usize, f64)> {
    let facing = flats.iter().enumerate().filter(|(_, f)| f.normal.dot(n) > 0.0);
    let tilts = facing.map(|(k, f)| (k, f.normal.cross(n).norm()));
    tilts.min_by(|a, b| a.1.total_cmp(&b.1))
}

/// A part that lies on a flat side of another; `onto` is the incident body's pose in the frame of the reference's.
struct Over<'a> {
    reference: &'a Part,
    incident: &'a Part,
    onto: Pose,
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
                let rim = part.rim(&centre, c.radius()).map(|p| onto.act(&p));
                clip::corners(rim, &mut scratch.polygon);
            } else {
                let across = (u - axis * axis.dot(u)).normalize() * c.radius();
                let ends = [-c.half_length(), c.half_length()];
                let line = ends.map(|z| frame.x + across + axis * z);
                clip::corners(line.into_iter().map(|e| onto.act(&e)), &mut scratch.polygon);
            }
        }
        PartCore::Round(_, flats) => {
            let frame = &part.frame;
            if let Some((k, _)) = tilt_of(flats, &frame.rot.tr_mul(u)).filter(|t| t.1 < NEAR_FLAT) {
                let corners = flats[k].corners.iter().map(|c| onto.act(&frame.act(c)));
                clip::corners(corners, &mut scratch.polygon);
            }
        }
        PartCore::Point => {}
    }
}
