//! Two convex polyhedra: one axis, and the features that belong to it.
//!
//! Axes are the face normals of both and the crossed pairs of edges whose arcs meet on the sphere of normals. With
//! $g_k$ the separation along axis $k$, the gap is $\max_k g_k$ (negative exactly if the polyhedra overlap), and the axis of the step is
//! $$ k^* = \arg\max_{k\in K} g_k(q_1), \qquad K = \lbrace k : g_k(q) \ge -\epsilon\rbrace, $$
//! $q$ being the start of the step and $q_1$ its end: the pair was apart along it, and is least violated there. The largest at $q$ alone may
//! be a face that the body has left; the largest at $q_1$ alone picks the wrong side after a deep overlap.

use super::{
    Axis, Feature, Found, Motion, Scratch, Side,
    clip::{self, CLIPPING},
};
use crate::{Polyhedron, Pose, Vec3};

/// A separation at the start above this, times the size, counts as apart.
const APART: f64 = 1e-6;
/// An edge pair is taken only if it is better than every face by this, times the size; the face of the last step has it as a bonus.
const EDGE: f64 = 1e-9;
/// Edges whose directions differ by less are parallel: their faces do.
const PARALLEL: f64 = 1e-6;
/// Axes that touch at the start within this, times the size, tie.
const TIE: f64 = 1e-8;
/// Cosine between normals above which they are one.
const SAME: f64 = 0.999;

/// An axis and its separation at the start and at the end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate {
    kind: Kind,
    start: f64,
    end: f64,
    /// In the frame of the first body, at the end.
    normal: Vec3,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Face(Side, u32),
    Edges(u32, u32, f64),
}

/// Two solids, with the second in the frame of the first.
pub(super) struct Pair<'a> {
    pub(super) a: &'a Polyhedron,
    pub(super) b: &'a Polyhedron,
    start: Pose,
    end: Pose,
    /// Size by which tolerances are measured.
    size: f64,
}

impl<'a> Pair<'a> {
    pub(super) fn new(
        a: &'a Polyhedron,
        b: &'a Polyhedron,
        motion: &Motion<'_>,
        size: f64,
    ) -> Self {
        let relative =
            |[p, q]: [&Pose; 2]| Pose { x: p.rot.tr_mul(&(q.x - p.x)), rot: p.rot.tr_mul(&q.rot) };
        Self { a, b, start: relative(motion.start), end: relative(motion.end), size }
    }

    /// The features of the pair within `margin` of each other at the end; returns the gap there, or a lower bound above the margin.
    pub(super) fn detect(
        &self,
        margin: f64,
        parts: u32,
        axis: &mut Axis,
        scratch: &mut Scratch,
        found: &mut Vec<Found>,
    ) -> f64 {
        if axis.normal != Vec3::zeros() {
            let apart = self.separation(&axis.normal, &self.end);
            if apart > margin {
                return apart;
            }
        }
        scratch.axes.clear();
        let best = self.faces(&mut scratch.axes);
        if best > margin {
            remember(axis, &scratch.axes, best);
            return best;
        }
        self.edges(&mut scratch.axes, &mut scratch.normals);
        let gap = scratch.axes.iter().map(|c| c.end).fold(f64::NEG_INFINITY, f64::max);
        if gap > margin {
            remember(axis, &scratch.axes, gap);
            return gap;
        }
        let Some(chosen) = self.choose(axis, &scratch.axes) else { return gap };
        axis.normal = chosen.normal;
        axis.face = match chosen.kind {
            Kind::Face(side, f) => Some((side, f)),
            Kind::Edges(..) => None,
        };
        self.features(&chosen, margin, parts, gap, scratch, found);
        for k in 0..scratch.axes.len() {
            let other = scratch.axes[k];
            let touches = (-1e-2 * TIE * self.size..=TIE * self.size).contains(&other.start);
            let face = matches!(other.kind, Kind::Face(..));
            if face && touches && other.end < margin && other.normal.dot(&chosen.normal) < SAME {
                self.features(&other, margin, parts, f64::INFINITY, scratch, found);
            }
        }
        gap
    }

    /// $n\cdot x - h_A(n) - h_B(-n)$ along a unit vector in the frame of the first.
    fn separation(&self, n: &Vec3, pose: &Pose) -> f64 {
        let u = pose.rot.tr_mul(n);
        n.dot(&pose.x) - n.dot(&self.a.support(n)) + u.dot(&self.b.support(&-u))
    }

    /// All face axes; returns the largest separation at the end.
    fn faces(&self, axes: &mut Vec<Candidate>) -> f64 {
        let mut best = f64::NEG_INFINITY;
        for (k, face) in self.a.faces().iter().enumerate() {
            let of = |pose: &Pose| {
                let u = pose.rot.tr_mul(&face.normal);
                face.normal.dot(&pose.x) + u.dot(&self.b.support(&-u)) - face.offset
            };
            let kind = Kind::Face(Side::A, index(k));
            let (start, end) = (of(&self.start), of(&self.end));
            axes.push(Candidate { kind, start, end, normal: face.normal });
            best = best.max(end);
        }
        for (k, face) in self.b.faces().iter().enumerate() {
            let of = |pose: &Pose| {
                let n = pose.rot * face.normal;
                n.dot(&self.a.support(&-n)) - n.dot(&pose.x) - face.offset
            };
            let kind = Kind::Face(Side::B, index(k));
            let (start, end) = (of(&self.start), of(&self.end));
            axes.push(Candidate { kind, start, end, normal: -(self.end.rot * face.normal) });
            best = best.max(end);
        }
        best
    }

    /// The pairs of edges that make a face of $A - B$ at the end.
    fn edges(&self, axes: &mut Vec<Candidate>, normals: &mut Vec<Vec3>) {
        // Normals of B's faces, turned inside out.
        normals.clear();
        normals.extend(self.b.faces().iter().map(|f| -(self.end.rot * f.normal)));
        for (i, e) in self.a.edges().iter().enumerate() {
            let [p, q] = e.vertices.map(|v| self.a.vertices()[v]);
            let u = q - p;
            let [n0, n1] = e.faces.map(|f| self.a.faces()[f].normal);
            for (j, f) in self.b.edges().iter().enumerate() {
                let [m0, m1] = f.faces.map(|k| normals[k]);
                // n0 × n1 runs along the edge itself, so these are the four volumes of the arcs.
                let (c, d) = (m0.dot(&u), m1.dot(&u));
                if c * d >= 0.0 {
                    continue;
                }
                let [r, s] = f.vertices.map(|v| self.b.vertices()[v]);
                let v = self.end.rot * (s - r);
                let (a, b) = (n0.dot(&v), n1.dot(&v));
                if a * b >= 0.0 {
                    continue;
                }
                let cross = u.cross(&v);
                let length = cross.norm();
                if length <= PARALLEL * u.norm() * v.norm() {
                    continue;
                }
                let sign = if cross.dot(&(n0 + n1)) >= 0.0 { 1.0 } else { -1.0 };
                let n = cross * (sign / length);
                // Both arcs cross on the same side of the sphere.
                if n.dot(&(m0 + m1)) <= 0.0 {
                    continue;
                }
                let end = n.dot(&(self.end.act(&r) - p));
                let before = u.cross(&(self.start.rot * (s - r)));
                let start = before
                    .try_normalize(0.0)
                    .map_or(f64::NEG_INFINITY, |m| self.separation(&(m * sign), &self.start));
                let kind = Kind::Edges(index(i), index(j), sign);
                axes.push(Candidate { kind, start, end, normal: n });
            }
        }
    }

    /// The axis of the step.
    fn choose(&self, axis: &Axis, axes: &[Candidate]) -> Option<Candidate> {
        let bonus = EDGE * self.size;
        let value = |c: &Candidate| {
            c.end
                + match c.kind {
                    Kind::Face(side, f) if axis.face == Some((side, f)) => 2.0 * bonus,
                    Kind::Face(..) => bonus,
                    Kind::Edges(..) => 0.0,
                }
        };
        let best = |which: &dyn Fn(&&Candidate) -> bool, of: &dyn Fn(&Candidate) -> f64| {
            axes.iter().filter(which).fold(None, |best: Option<Candidate>, c| match best {
                Some(b) if of(&b) >= of(c) => Some(b),
                _ => Some(*c),
            })
        };
        best(&|c| c.start >= -APART * self.size, &value)
            .or_else(|| best(&|c| matches!(c.kind, Kind::Face(..)), &|c| c.start))
    }

    fn features(
        &self,
        axis: &Candidate,
        margin: f64,
        parts: u32,
        gap: f64,
        scratch: &mut Scratch,
        found: &mut Vec<Found>,
    ) {
        match axis.kind {
            Kind::Edges(i, j, sign) => {
                let line = |solid: &Polyhedron, k: u32| {
                    let [p, q] = solid.edges()[k as usize].vertices.map(|v| solid.vertices()[v]);
                    [p, q - p]
                };
                let feature = Feature::Edges { a: line(self.a, i), b: line(self.b, j), sign };
                let key = 1 << 62 | u64::from(i) << 20 | u64::from(j);
                found.push(Found { feature, key, parts, gap: axis.end });
            }
            Kind::Face(Side::A, f) => {
                let onto = Onto { reference: self.a, incident: self.b, pose: self.end };
                onto.features(Side::B, f, margin, parts, gap, self.size, scratch, found);
            }
            Kind::Face(Side::B, f) => {
                let pose = self.end.inverse();
                let onto = Onto { reference: self.b, incident: self.a, pose };
                onto.features(Side::A, f, margin, parts, gap, self.size, scratch, found);
            }
        }
    }
}

/// A solid that lies on a face of another; `pose` is that of the incident one in the frame of the reference.
struct Onto<'a> {
    reference: &'a Polyhedron,
    incident: &'a Polyhedron,
    pose: Pose,
}

impl Onto<'_> {
    #[allow(clippy::too_many_arguments)] // one call, two ways round
    fn features(
        &self,
        owner: Side,
        f: u32,
        margin: f64,
        parts: u32,
        gap: f64,
        size: f64,
        scratch: &mut Scratch,
        found: &mut Vec<Found>,
    ) {
        let face = &self.reference.faces()[f as usize];
        let down = self.pose.rot.tr_mul(&face.normal);
        let mut opposed = (0, f64::INFINITY);
        for (k, other) in self.incident.faces().iter().enumerate() {
            let along = other.normal.dot(&down);
            if along < opposed.1 {
                opposed = (k, along);
            }
        }
        let corners = &self.incident.faces()[opposed.0].vertices;
        clip::corners(
            corners.iter().map(|&v| self.pose.act(&self.incident.vertices()[v])),
            &mut scratch.polygon,
        );
        clip_by_face(self.reference, f as usize, size, scratch);
        let side = u64::from(owner == Side::A);
        let name = |corner: u64| {
            side << 61 | u64::from(f) << 48 | (opposed.0 as u64 & 0xffff) << 32 | corner
        };
        let (normal, offset) = (face.normal, face.offset);
        let mut below = false;
        for corner in &scratch.polygon {
            let height = normal.dot(&corner.point) - offset;
            if height >= margin {
                continue;
            }
            below |= height < 0.0;
            let point = self.pose.act_inverse(&corner.point);
            let feature = Feature::PointFace { owner, point, radius: 0.0, normal, offset };
            found.push(Found { feature, key: name(corner.name()), parts, gap: height });
        }
        if gap < 0.0 && !below {
            // The polygons miss each other while the bodies overlap.
            let v = self.incident.support_index(&-down);
            let point = self.incident.vertices()[v];
            let height = normal.dot(&self.pose.act(&point)) - offset;
            let feature = Feature::PointFace { owner, point, radius: 0.0, normal, offset };
            let key = side << 61 | u64::from(f) << 48 | 1 << 47 | v as u64;
            found.push(Found { feature, key, parts, gap: height });
        }
    }
}

/// Cuts the polygon in `scratch`, given in the frame of a solid, to the prism above one of its faces.
pub(super) fn clip_by_face(solid: &Polyhedron, f: usize, size: f64, scratch: &mut Scratch) {
    let face = &solid.faces()[f];
    let n = face.vertices.len();
    for k in 0..n {
        let p = solid.vertices()[face.vertices[k]];
        let q = solid.vertices()[face.vertices[(k + 1) % n]];
        let Some(out) = (q - p).cross(&face.normal).try_normalize(0.0) else { continue };
        let side = (&out, out.dot(&p), CLIPPING + index(k));
        clip::keep_inside(&mut scratch.polygon, &mut scratch.clipped, side, EDGE * size);
        if scratch.polygon.is_empty() {
            break;
        }
    }
}

fn remember(axis: &mut Axis, axes: &[Candidate], best: f64) {
    if let Some(c) = axes.iter().find(|c| c.end == best) {
        *axis = Axis { normal: c.normal, face: None };
    }
}

fn index(k: usize) -> u32 {
    u32::try_from(k).unwrap_or(u32::MAX)
}
