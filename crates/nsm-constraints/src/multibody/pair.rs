//! Gaps between the shapes of two bodies, in the coordinates of a mechanism.
//!
//! The boundary of a polyhedron to which a ball of radius $r$ is added is made of balls about its vertices, cylinders about its edges and
//! moved faces, and that of a capsule of two balls and a cylinder. Two such bodies first touch where a ball of one meets the other, or where two
//! edges cross. So a pair has one gap for each vertex, its distance from the other body, and one for each pair of edges: all of them smooth, with features that
//! never change, and a face that lies on a face is carried at every corner of what they share.
//!
//! Two edges whose closest points lie at an end of one of them, or which are parallel, do not cross: the vertices there have gaps of their own. Such a pair of edges stands
//! far apart by the length of both, so that boxes on each other are carried by the corners of the face that they share and not by forty rows.
//!
//! Two edges without radius have no distance below zero, so two sharp polyhedra are refused: one of them needs a rounding, however small.

use nsm_geom::{Pose as Frame, Vec3};
use std::ops::Range;

use super::contact::Part;
use super::solid::{Feature, Hull, Solid};
use super::tangent::{Cores, PairTangent};
use crate::{AutoDiff, Expr, Field, Scalar};

/// Edges cross where the point of contact is farther from their ends than this share of the radii: nearer ones leave the bodies $10^{-12}$ of these deep.
const CROSSING: f64 = 1e-6;

/// Most gaps of one pair of parts.
const MOST: usize = 4000;

/// A point that a body carries, on its part of a block of coordinates.
#[derive(Clone, Copy)]
struct Carried {
    first: usize,
    point: Vec3,
}

impl Carried {
    fn at<T: Scalar>(&self, q: &[T]) -> [T; 3] {
        std::array::from_fn(|k| {
            let mut x = q[self.first + k];
            for (i, s) in self.point.iter().enumerate() {
                if *s != 0.0 {
                    x += q[self.first + 3 + 3 * i + k] * *s;
                }
            }
            x
        })
    }
}

fn minus<T: Scalar>(a: [T; 3], b: [T; 3]) -> [T; 3] {
    std::array::from_fn(|k| a[k] - b[k])
}

fn dot<T: Scalar>(a: [T; 3], b: [T; 3]) -> T {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// Within zero and one; at the ends it does not move.
fn clamped<T: Scalar>(x: T) -> T {
    if x.re() <= 0.0 {
        T::from(0.0)
    } else if x.re() >= 1.0 {
        T::from(1.0)
    } else {
        x
    }
}

/// Distance of two segments, either of which may be a point.
struct Segments {
    first: [Carried; 2],
    second: [Carried; 2],
    radii: f64,
    /// Whether they only meet where they cross.
    crossing: bool,
}

impl Segments {
    /// Parameters of the closest points, and the way from the second to the first.
    fn closest<T: Scalar>(&self, q: &[T]) -> (T, T, [T; 3]) {
        let (p, r) = (self.first[0].at(q), self.second[0].at(q));
        let (u, v) = (minus(self.first[1].at(q), p), minus(self.second[1].at(q), r));
        let w = minus(p, r);
        let (a, b, c) = (dot(u, u), dot(u, v), dot(v, v));
        let (d, e) = (dot(u, w), dot(v, w));
        let zero = T::from(0.0);
        // Closest points of the lines, then of the segments.
        let (mut s, mut t);
        if a.re() == 0.0 {
            s = zero;
            t = if c.re() == 0.0 { zero } else { clamped(e / c) };
        } else if c.re() == 0.0 {
            t = zero;
            s = clamped(-d / a);
        } else {
            let area = a * c - b * b;
            if area.re() > 1e-14 * a.re() * c.re() {
                s = clamped((b * e - c * d) / area);
            } else if self.crossing {
                // Parallel edges touch at an end of one of them as well.
                return (zero, zero, w);
            } else {
                s = T::from(0.5);
            }
            t = clamped((b * s + e) / c);
            s = clamped((b * t - d) / a);
            t = clamped((b * s + e) / c);
        }
        (s, t, std::array::from_fn(|k| w[k] + u[k] * s - v[k] * t))
    }

    /// How far edges that do not cross count as apart.
    fn aside(&self, s: f64, t: f64) -> f64 {
        if !self.crossing {
            return 0.0;
        }
        let length = |ends: &[Carried; 2]| (ends[1].point - ends[0].point).norm();
        let (a, b) = (length(&self.first), length(&self.second));
        let within = (a * s.min(1.0 - s)).min(b * t.min(1.0 - t));
        if within > CROSSING * self.radii { 0.0 } else { a + b }
    }
}

impl Expr for Segments {
    fn value<T: Scalar>(&self, q: &[T], _t: T) -> T {
        let (s, t, apart) = self.closest(q);
        dot(apart, apart).sqrt() - self.radii + self.aside(s.re(), t.re())
    }

    fn slope(&self, q: &[f64], _t: f64, out: &mut [f64]) -> bool {
        // The closest points are stationary: only where they are carried counts.
        let (s, t, apart) = self.closest(q);
        let apart = Vec3::from(apart);
        let Some(n) = apart.try_normalize(0.0) else { return false };
        let along =
            |ends: &[Carried; 2], s: f64| ends[0].point + s * (ends[1].point - ends[0].point);
        let (one, other) = out.split_at_mut(self.second[0].first);
        pushed(one, &n, &along(&self.first, s));
        pushed(other, &-n, &along(&self.second, t));
        true
    }
}

/// Writes what a force at a material point does to the coordinates of its body.
fn pushed(out: &mut [f64], force: &Vec3, point: &Vec3) {
    out[..3].copy_from_slice(force.as_slice());
    for (k, part) in out[3..].chunks_exact_mut(3).enumerate() {
        part.copy_from_slice((point[k] * force).as_slice());
    }
}

/// Distance of a ball and a box or another polyhedron.
struct BallSolid {
    ball: Carried,
    /// The polyhedron's body begins here.
    body: usize,
    solid: Solid,
    radii: f64,
}

impl BallSolid {
    /// The way from the polyhedron's body to the ball, and the same in the frame of the body.
    fn seen<T: Scalar>(&self, q: &[T]) -> ([T; 3], [T; 3]) {
        let apart = minus(self.ball.at(q), [q[self.body], q[self.body + 1], q[self.body + 2]]);
        let director = |k: usize| std::array::from_fn(|i| q[self.body + 3 + 3 * k + i]);
        (apart, std::array::from_fn(|k| dot(director(k), apart)))
    }
}

impl Expr for BallSolid {
    fn value<T: Scalar>(&self, q: &[T], _t: T) -> T {
        let (_, seen) = self.seen(q);
        let distance = match &self.solid {
            Solid::Cuboid { frame, half, .. } => from_box(seen, frame, half),
            Solid::Hull(hull) => from_hull(seen, hull),
        };
        distance - self.radii
    }

    fn slope(&self, q: &[f64], _t: f64, out: &mut [f64]) -> bool {
        let (apart, seen) = self.seen(q);
        let (apart, seen) = (Vec3::from(apart), Vec3::from(seen));
        let (_, outward) = self.solid.nearest(&seen);
        let director = |k: usize| Vec3::from_row_slice(&q[self.body + 3 + 3 * k..][..3]);
        let n: Vec3 = (0..3).map(|k| outward[k] * director(k)).sum();
        let (one, other) = out.split_at_mut(self.body);
        pushed(one, &n, &self.ball.point);
        // The distance is that of the place seen along the directors: d(d_k . a) has the part a on the director.
        other[..3].copy_from_slice((-n).as_slice());
        for (k, part) in other[3..].chunks_exact_mut(3).enumerate() {
            part.copy_from_slice((outward[k] * apart).as_slice());
        }
        true
    }
}

fn from_box<T: Scalar>(seen: [T; 3], frame: &Frame, half: &Vec3) -> T {
    let zero = T::from(0.0);
    let seen: [T; 3] = std::array::from_fn(|k| seen[k] - frame.x[k]);
    let (mut outside, mut inside) = (zero, T::from(f64::NEG_INFINITY));
    for k in 0..3 {
        let column = frame.rot.column(k);
        let y = seen[0] * column[0] + seen[1] * column[1] + seen[2] * column[2];
        let beyond = y.abs() - half[k];
        if beyond.re() > 0.0 {
            outside += beyond * beyond;
        }
        if beyond.re() > inside.re() {
            inside = beyond;
        }
    }
    if outside.re() > 0.0 { outside.sqrt() } else { inside }
}

fn from_hull<T: Scalar>(seen: [T; 3], hull: &Hull) -> T {
    let place = Vec3::new(seen[0].re(), seen[1].re(), seen[2].re());
    let along = |v: &Vec3| seen[0] * v[0] + seen[1] * v[1] + seen[2] * v[2];
    match hull.nearest(&place) {
        // The feature that is nearest here is so in a neighbourhood, or another one takes over with the same slope.
        Feature::Face { normal, offset } => along(&normal) - offset,
        Feature::Edge { from, to } => {
            let u = to - from;
            let s = clamped((along(&u) - u.dot(&from)) / T::from(u.norm_squared()));
            let apart: [T; 3] = std::array::from_fn(|k| seen[k] - from[k] - s * u[k]);
            dot(apart, apart).sqrt()
        }
    }
}

/// A gap with its tangential velocities.
type Touch = (Box<dyn Field>, PairTangent);

/// A part of one body with the coordinates of the body.
type Side<'a> = (&'a Part, &'a Range<usize>);

/// The gaps of two parts, or why there are none.
pub(super) fn pair_gaps(one: Side<'_>, other: Side<'_>) -> Result<Vec<Touch>, String> {
    let (a, b) = (Skeleton::of(one.0)?, Skeleton::of(other.0)?);
    let sharp = a.radius + b.radius == 0.0;
    let count = a.vertices.len() + b.vertices.len() + a.edges.len() * b.edges.len();
    if count > MOST {
        return Err(format!(
            "they have {count} vertices and edges to meet with, and at most {MOST} make gaps in coordinates: take simpler shapes"
        ));
    }
    if sharp && !a.edges.is_empty() && !b.edges.is_empty() {
        return Err(
            "two edges without radius have no gap in coordinates: give one of the shapes a `rounding`, however small, or leave out the joints, and `lgvci` moves the bodies"
                .into(),
        );
    }
    let mut touches = Vec::new();
    let sides = [(&a, one.1), (&b, other.1)];
    // Balls and capsules: segments, of which some are points.
    if a.solid.is_none() && b.solid.is_none() {
        let ends = [(a.core(), one.1), (b.core(), other.1)];
        touches.push(segment_gap(ends, [a.radius, b.radius], false)?);
        return Ok(touches);
    }
    for round in [false, true] {
        let [(ball, first), (solid, second)] = if round { [sides[1], sides[0]] } else { sides };
        let radii = [ball.radius, solid.radius];
        for vertex in &ball.vertices {
            let (gap, tangent) = match solid.solid {
                Some(solid) => ball_gap((vertex, first), (solid, second), radii)?,
                // A vertex and a ball meet where the ball is a vertex of the other.
                None if solid.edges.is_empty() => continue,
                None => {
                    let ends = [([*vertex; 2], first), (solid.core(), second)];
                    segment_gap(ends, radii, false)?
                }
            };
            touches.push((gap, if round { tangent.turned_round() } else { tangent }));
        }
    }
    for p in &a.edges {
        for r in &b.edges {
            touches.push(segment_gap([(*p, one.1), (*r, other.1)], [a.radius, b.radius], true)?);
        }
    }
    Ok(touches)
}

/// What of a part can touch: vertices, edges, and the solid that they bound.
struct Skeleton<'a> {
    vertices: Vec<Vec3>,
    edges: Vec<[Vec3; 2]>,
    solid: Option<&'a Solid>,
    radius: f64,
}

impl<'a> Skeleton<'a> {
    fn of(part: &'a Part) -> Result<Self, String> {
        Ok(match part {
            Part::Points { points, radius } => {
                let edges = points.windows(2).map(|ends| [ends[0], ends[1]]).collect();
                Self { vertices: points.clone(), edges, solid: None, radius: *radius }
            }
            Part::Solid { solid, radius } => Self {
                vertices: solid.vertices().to_vec(),
                edges: solid.edges().collect(),
                solid: Some(solid),
                radius: *radius,
            },
            Part::Ellipsoid { .. } | Part::Cylinder { .. } => {
                return Err(
                    "gaps in coordinates are known between balls, capsules, boxes and polyhedra (ellipsoids and cylinders touch planes only)"
                        .into(),
                );
            }
        })
    }

    /// A ball or a capsule as a segment.
    fn core(&self) -> [Vec3; 2] {
        [self.vertices[0], self.vertices[self.vertices.len() - 1]]
    }
}

/// Coordinates that points of a body need: a ball about the centre needs no directors.
fn needed(points: &[Vec3], range: &Range<usize>) -> usize {
    if points.iter().all(|p| *p == Vec3::zeros()) { 3 } else { range.len() }
}

fn touch(
    gap: Result<impl Field + 'static, crate::ConstraintError>,
    tangent: PairTangent,
) -> Result<Touch, String> {
    gap.map(|gap| (Box::new(gap) as Box<dyn Field>, tangent)).map_err(|e| e.to_string())
}

fn segment_gap(
    [(p, first), (r, second)]: [([Vec3; 2], &Range<usize>); 2],
    radii: [f64; 2],
    crossing: bool,
) -> Result<Touch, String> {
    let (m, n) = (needed(&p, first), needed(&r, second));
    let block: Vec<usize> =
        (first.start..first.start + m).chain(second.start..second.start + n).collect();
    let ends = |points: [Vec3; 2], first| points.map(|point| Carried { first, point });
    let radii_sum = radii[0] + radii[1];
    let gap = Segments { first: ends(p, 0), second: ends(r, m), radii: radii_sum, crossing };
    let cores = Cores::Segments { first: p, second: r };
    touch(AutoDiff::new(gap, &block), PairTangent::new(first, second, cores, radii))
}

fn ball_gap(
    (point, first): (&Vec3, &Range<usize>),
    (solid, second): (&Solid, &Range<usize>),
    radii: [f64; 2],
) -> Result<Touch, String> {
    let m = needed(&[*point], first);
    let block: Vec<usize> = (first.start..first.start + m).chain(second.clone()).collect();
    let ball = Carried { first: 0, point: *point };
    let cores = Cores::BallSolid { ball: *point, solid: solid.clone() };
    let tangent = PairTangent::new(first, second, cores, radii);
    let gap = BallSolid { ball, body: m, solid: solid.clone(), radii: radii[0] + radii[1] };
    touch(AutoDiff::new(gap, &block), tangent)
}
