//! Gaps between bodies and planes, and between bodies, in the coordinates of a mechanism.
//!
//! With the support function $h$ of a body's shape in its own frame, the gap to the plane $n \cdot z + D = 0$ is
//! $$ g = n \cdot \varphi + D - h(-n \cdot d_1, -n \cdot d_2, -n \cdot d_3) . $$
//! Its gradient acts on the material point of contact: momentum and moment of an impulse are exact. A polyhedron has one gap for each
//! vertex, all affine in $q$, so that a box rests on its corners and none of them jumps.
//!
//! Pairs of round shapes (balls, capsules, a ball and a box) have one gap, the distance. Pairs of which one gap would not do (two
//! polyhedra touch in faces) are refused, as are shapes without a smooth gap.

use nsm_geom::{Mat3, Plane, Pose as Frame, Shape, Vec3};

use super::tangent::{Cores, Lowest, PairTangent, PlaneTangent};
use super::{Mechanism, MechanismError, NodeId};
use crate::{Affine, AutoDiff, ConstraintError, Expr, Field, Rows, Scalar, Tangent};

/// A part of a shape in the frame of its body; `radius` is that of a ball added to it.
#[derive(Clone, Debug)]
enum Part {
    /// A point, two, or the vertices of a polyhedron.
    Points {
        points: Vec<Vec3>,
        radius: f64,
    },
    Ellipsoid {
        centre: Vec3,
        axes: Mat3,
        semi_axes: Vec3,
        radius: f64,
    },
    Cuboid {
        frame: Frame,
        half: Vec3,
        radius: f64,
    },
}

/// Splits a shape into parts with smooth gaps.
fn parts(shape: &Shape, frame: &Frame, radius: f64, out: &mut Vec<Part>) -> Result<(), String> {
    let place = |s: &Vec3| frame.x + frame.rot * s;
    match shape {
        Shape::Sphere(s) => {
            out.push(Part::Points { points: vec![frame.x], radius: radius + s.radius() });
        }
        Shape::Capsule(c) => {
            let end = Vec3::new(0.0, 0.0, c.half_length());
            let points = vec![place(&-end), place(&end)];
            out.push(Part::Points { points, radius: radius + c.radius() });
        }
        Shape::Ellipsoid(e) => out.push(Part::Ellipsoid {
            centre: frame.x,
            axes: frame.rot,
            semi_axes: *e.semi_axes(),
            radius,
        }),
        Shape::Cuboid(c) => {
            out.push(Part::Cuboid { frame: *frame, half: *c.half_extents(), radius });
        }
        Shape::Polyhedron(p) => {
            out.push(Part::Points { points: p.vertices().iter().map(place).collect(), radius });
        }
        Shape::Placed(placed) => {
            let inner = placed.pose();
            let moved = Frame { x: place(&inner.x), rot: frame.rot * inner.rot };
            parts(placed.shape(), &moved, radius, out)?;
        }
        Shape::Rounded(rounded) => {
            parts(rounded.shape(), frame, radius + rounded.radius(), out)?;
        }
        Shape::Union(union) => {
            for part in union.parts() {
                parts(part, frame, radius, out)?;
            }
        }
        Shape::Cylinder(_) => {
            return Err("a cylinder's rim has no smooth gap: take a capsule or a polyhedron".into());
        }
        Shape::Intersection(_) => {
            return Err("an intersection has no smooth gap: take a polyhedron".into());
        }
    }
    Ok(())
}

impl Mechanism {
    /// Appends the gaps between a body's shape and a plane, named `name`, or `name[0]`, `name[1]`, … if there are several, and returns
    /// the tangential velocities of each.
    ///
    /// # Errors
    /// An unknown node, a particle with a shape that is no ball, or a shape without a smooth gap.
    pub fn push_plane_gaps(
        &self,
        (node, shape): (NodeId, &Shape),
        plane: &Plane,
        name: &str,
        rows: &mut Rows,
    ) -> Result<Vec<Box<dyn Tangent>>, MechanismError> {
        let block: Vec<usize> = self.coordinates(node).collect();
        let parts = self.parts_of(node, shape, name)?;
        let mut gaps: Vec<Box<dyn Field>> = Vec::new();
        let mut tangents: Vec<Box<dyn Tangent>> = Vec::new();
        let mut rubs = |lowest: Lowest| {
            tangents.push(Box::new(PlaneTangent::new(&block, plane.normal(), lowest)));
        };
        for part in &parts {
            match part {
                Part::Points { points, radius } => {
                    for point in points {
                        gaps.push(Box::new(point_gap(&block, point, *radius, plane)?));
                        rubs(Lowest::Ball { centre: *point, radius: *radius });
                    }
                }
                Part::Cuboid { frame, half, radius } => {
                    for corner in corners(frame, half) {
                        gaps.push(Box::new(point_gap(&block, &corner, *radius, plane)?));
                        rubs(Lowest::Ball { centre: corner, radius: *radius });
                    }
                }
                Part::Ellipsoid { centre, axes, semi_axes, radius } => {
                    // Columns are the semi-axes in the body frame.
                    let axes = axes * Mat3::from_diagonal(semi_axes);
                    let (plane, centre, radius) = (*plane, *centre, *radius);
                    let gap = EllipsoidPlane { plane, centre, axes, radius };
                    rubs(Lowest::Ellipsoid { centre, axes, radius });
                    gaps.push(Box::new(AutoDiff::new(gap, &block)?));
                }
            }
        }
        push_all(name, gaps, rows)?;
        Ok(tangents)
    }

    /// Appends the gaps between the shapes of two bodies, named as by [`push_plane_gaps`](Self::push_plane_gaps).
    ///
    /// # Errors
    /// An unknown node, or shapes without a smooth gap between them; the message says which pairs have one.
    pub fn push_pair_gaps(
        &self,
        first: (NodeId, &Shape),
        second: (NodeId, &Shape),
        name: &str,
        rows: &mut Rows,
    ) -> Result<Vec<Box<dyn Tangent>>, MechanismError> {
        let (a, b) =
            (self.parts_of(first.0, first.1, name)?, self.parts_of(second.0, second.1, name)?);
        let blocks = [first.0, second.0].map(|n| self.coordinates(n));
        let mut gaps: Vec<Box<dyn Field>> = Vec::new();
        let mut tangents: Vec<Box<dyn Tangent>> = Vec::new();
        for one in &a {
            for other in &b {
                let gap = pair_gap((one, &blocks[0]), (other, &blocks[1]))
                    .or_else(|| pair_gap((other, &blocks[1]), (one, &blocks[0])));
                let gap = gap.ok_or_else(|| MechanismError::NoGap {
                    contact: name.to_owned(),
                    why: "gaps in coordinates are known between balls, capsules, and a ball and a box".into(),
                })?;
                let (gap, tangent) = gap?;
                gaps.push(gap);
                tangents.push(Box::new(tangent));
            }
        }
        push_all(name, gaps, rows)?;
        Ok(tangents)
    }

    fn parts_of(
        &self,
        node: NodeId,
        shape: &Shape,
        name: &str,
    ) -> Result<Vec<Part>, MechanismError> {
        let no_gap = |why: String| MechanismError::NoGap { contact: name.to_owned(), why };
        let mut found = Vec::new();
        let origin = Frame { x: Vec3::zeros(), rot: Mat3::identity() };
        parts(shape, &origin, 0.0, &mut found).map_err(no_gap)?;
        let carries = self.coordinates(node).len() == 12;
        let central = |part: &Part| matches!(part, Part::Points { points, .. } if points.len() == 1 && points[0] == Vec3::zeros());
        if !carries && !found.iter().all(central) {
            return Err(no_gap(
                "a particle has no directions: its shape can be a ball only".into(),
            ));
        }
        Ok(found)
    }
}

fn push_all(name: &str, gaps: Vec<Box<dyn Field>>, rows: &mut Rows) -> Result<(), MechanismError> {
    let single = gaps.len() == 1;
    for (k, gap) in gaps.into_iter().enumerate() {
        let name = if single { name.to_owned() } else { format!("{name}[{k}]") };
        rows.push_boxed(name, gap)?;
    }
    Ok(())
}

fn corners(frame: &Frame, half: &Vec3) -> impl Iterator<Item = Vec3> {
    let (frame, half) = (*frame, *half);
    (0..8).map(move |k| {
        let sign = |bit: usize| if k >> bit & 1 == 1 { 1.0 } else { -1.0 };
        frame.x + frame.rot * half.component_mul(&Vec3::new(sign(0), sign(1), sign(2)))
    })
}

/// The gap of a ball about a material point: affine.
fn point_gap(
    block: &[usize],
    point: &Vec3,
    radius: f64,
    plane: &Plane,
) -> Result<Affine, ConstraintError> {
    let n = plane.normal();
    let mut slopes: Vec<f64> = n.iter().copied().collect();
    if *point == Vec3::zeros() {
        return Affine::new(&block[..3], &slopes, plane.offset() - radius);
    }
    for s in point {
        slopes.extend(n.iter().map(|n| s * n));
    }
    Affine::new(block, &slopes, plane.offset() - radius)
}

struct EllipsoidPlane {
    plane: Plane,
    centre: Vec3,
    axes: Mat3,
    radius: f64,
}

impl Expr for EllipsoidPlane {
    fn value<T: Scalar>(&self, q: &[T], _t: T) -> T {
        let n = self.plane.normal();
        let along = |v: [T; 3]| v[0] * n[0] + v[1] * n[1] + v[2] * n[2];
        let director = |k: usize| [q[3 + 3 * k], q[4 + 3 * k], q[5 + 3 * k]];
        let down: [T; 3] = std::array::from_fn(|k| along(director(k)));
        let mut square = T::from(0.0);
        for axis in self.axes.column_iter() {
            let x = down[0] * axis[0] + down[1] * axis[1] + down[2] * axis[2];
            square += x * x;
        }
        let centre =
            (0..3).fold(along([q[0], q[1], q[2]]), |sum, k| sum + down[k] * self.centre[k]);
        centre - square.sqrt() + (self.plane.offset() - self.radius)
    }
}

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
}

impl Expr for Segments {
    fn value<T: Scalar>(&self, q: &[T], _t: T) -> T {
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
            s = if area.re() > 1e-14 * a.re() * c.re() {
                clamped((b * e - c * d) / area)
            } else {
                T::from(0.5)
            };
            t = clamped((b * s + e) / c);
            s = clamped((b * t - d) / a);
            t = clamped((b * s + e) / c);
        }
        let apart: [T; 3] = std::array::from_fn(|k| w[k] + u[k] * s - v[k] * t);
        dot(apart, apart).sqrt() - self.radii
    }
}

/// Distance of a ball and a box.
struct BallBox {
    ball: Carried,
    /// The box's body begins here, and the box lies in it like this.
    body: usize,
    frame: Frame,
    half: Vec3,
    radii: f64,
}

impl Expr for BallBox {
    fn value<T: Scalar>(&self, q: &[T], _t: T) -> T {
        let apart = minus(self.ball.at(q), [q[self.body], q[self.body + 1], q[self.body + 2]]);
        let director = |k: usize| std::array::from_fn(|i| q[self.body + 3 + 3 * k + i]);
        let seen: [T; 3] = std::array::from_fn(|k| dot(director(k), apart) - self.frame.x[k]);
        let zero = T::from(0.0);
        let (mut outside, mut inside) = (zero, T::from(f64::NEG_INFINITY));
        for k in 0..3 {
            let column = self.frame.rot.column(k);
            let y = seen[0] * column[0] + seen[1] * column[1] + seen[2] * column[2];
            let beyond = y.abs() - self.half[k];
            if beyond.re() > 0.0 {
                outside += beyond * beyond;
            }
            if beyond.re() > inside.re() {
                inside = beyond;
            }
        }
        let distance = if outside.re() > 0.0 { outside.sqrt() } else { inside };
        distance - self.radii
    }
}

/// A gap with its tangential velocities.
type Touch = (Box<dyn Field>, PairTangent);

/// The gap of two parts, if there is one gap for them in this order.
fn pair_gap(
    (one, first): (&Part, &std::ops::Range<usize>),
    (other, second): (&Part, &std::ops::Range<usize>),
) -> Option<Result<Touch, ConstraintError>> {
    let centred = |points: &[Vec3]| points.iter().all(|p| *p == Vec3::zeros());
    match (one, other) {
        (Part::Points { points: a, radius: r }, Part::Points { points: b, radius: s })
            if a.len() <= 2 && b.len() <= 2 =>
        {
            // Balls about the centres of their bodies need no directors.
            let size = |points: &[Vec3], range: &std::ops::Range<usize>| {
                if centred(points) { 3 } else { range.len() }
            };
            let (m, n) = (size(a, first), size(b, second));
            let block: Vec<usize> =
                (first.start..first.start + m).chain(second.start..second.start + n).collect();
            let ends = |points: &[Vec3], first: usize| {
                let carried = |k: usize| Carried { first, point: points[k.min(points.len() - 1)] };
                [carried(0), carried(1)]
            };
            let gap = Segments { first: ends(a, 0), second: ends(b, m), radii: r + s };
            let core = |points: &[Vec3]| [points[0], points[points.len() - 1]];
            let cores = Cores::Segments { first: core(a), second: core(b) };
            let tangent = PairTangent::new(first, second, cores, [*r, *s]);
            Some(AutoDiff::new(gap, &block).map(|gap| (Box::new(gap) as Box<dyn Field>, tangent)))
        }
        (Part::Points { points, radius }, Part::Cuboid { frame, half, radius: s })
            if points.len() == 1 =>
        {
            let m = if centred(points) { 3 } else { first.len() };
            let block: Vec<usize> = (first.start..first.start + m).chain(second.clone()).collect();
            let ball = Carried { first: 0, point: points[0] };
            let gap = BallBox { ball, body: m, frame: *frame, half: *half, radii: radius + s };
            let cores = Cores::BallBox { ball: points[0], frame: *frame, half: *half };
            let tangent = PairTangent::new(first, second, cores, [*radius, *s]);
            Some(AutoDiff::new(gap, &block).map(|gap| (Box::new(gap) as Box<dyn Field>, tangent)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::multibody::{Inertia, Pose};

    /// Two bodies at poses that are nothing special, with their shapes.
    fn two(shapes: [&Shape; 2], apart: f64) -> (Mechanism, [Frame; 2], Rows) {
        let mut mechanism = Mechanism::new();
        let poses = [
            Pose::turned([0.1, -0.2, 0.3], [0.4, -0.3, 0.7]),
            Pose::turned([0.1 + apart, 0.5, -0.1], [-0.2, 0.9, 0.1]),
        ];
        let nodes = [0, 1].map(|i| {
            let name = ["a", "b"][i];
            mechanism.add_body(name, Inertia::cuboid(1.0, [1.0, 0.8, 0.6]), poses[i]).unwrap()
        });
        let mut rows = Rows::new(mechanism.dimension());
        mechanism
            .push_pair_gaps((nodes[0], shapes[0]), (nodes[1], shapes[1]), "a-b", &mut rows)
            .unwrap();
        let frames = poses.map(|pose| Frame {
            x: pose.position.into(),
            rot: Mat3::from_columns(&pose.directors.map(Vec3::from)),
        });
        (mechanism, frames, rows)
    }

    #[test]
    fn gaps_of_pairs_are_the_distances_of_their_shapes() {
        let ball = Shape::sphere(0.3).unwrap();
        let capsule = Shape::capsule(0.4, 0.1).unwrap();
        let cuboid = Shape::cuboid([0.3, 0.2, 0.4]).unwrap();
        let aside = Shape::sphere(0.2).unwrap().at(Vec3::new(0.1, -0.2, 0.3));
        for pair in [
            [&ball, &ball],
            [&ball, &capsule],
            [&capsule, &capsule],
            [&ball, &cuboid],
            [&cuboid, &aside],
            [&aside, &capsule],
        ] {
            for apart in [1.5, 2.0, 3.0] {
                let (mechanism, frames, rows) = two(pair, apart);
                let gap = rows.value(0, &mechanism.start_position(), 0.0);
                let distance =
                    nsm_geom::body_gap(pair[0], &frames[0], pair[1], &frames[1]).unwrap().gap;
                assert!((gap - distance).abs() < 1e-9, "{pair:?}: {gap}, {distance}");
            }
        }
    }

    #[test]
    fn gaps_to_a_plane_are_those_of_the_shape() {
        let plane = Plane::new(Vec3::new(0.3, -0.2, 1.0), 0.7).unwrap();
        let pose = Pose::turned([0.1, -0.2, 0.3], [0.4, -0.3, 0.7]);
        let frame = Frame {
            x: pose.position.into(),
            rot: Mat3::from_columns(&pose.directors.map(Vec3::from)),
        };
        for shape in [
            Shape::sphere(0.3).unwrap(),
            Shape::capsule(0.4, 0.1).unwrap(),
            Shape::cuboid([0.3, 0.2, 0.4]).unwrap(),
            Shape::ellipsoid([0.3, 0.2, 0.4]).unwrap(),
            Shape::ellipsoid([0.3, 0.2, 0.4]).unwrap().at(Vec3::new(0.1, -0.2, 0.3)),
            Shape::cuboid([0.3, 0.2, 0.4]).unwrap().rounded(0.05).unwrap(),
        ] {
            let mut mechanism = Mechanism::new();
            let node = mechanism.add_body("a", Inertia::cuboid(1.0, [1.0; 3]), pose).unwrap();
            let mut rows = Rows::new(12);
            mechanism.push_plane_gaps((node, &shape), &plane, "a-plane", &mut rows).unwrap();
            let q = mechanism.start_position();
            let least =
                (0..rows.len()).map(|i| rows.value(i, &q, 0.0)).fold(f64::INFINITY, f64::min);
            let exact = shape.plane_gap(&plane, &frame).gap;
            assert!((least - exact).abs() < 1e-14, "{shape:?}: {least}, {exact}");
        }
    }
}
