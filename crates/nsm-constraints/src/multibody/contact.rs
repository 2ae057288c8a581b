//! Gaps between bodies and planes, and between bodies, in the coordinates of a mechanism.
//!
//! With the support function $h$ of a body's shape in its own frame, the gap to the plane $n \cdot z + D = 0$ is
//! $$ g = n \cdot \varphi + D - h(-n \cdot d_1, -n \cdot d_2, -n \cdot d_3) . $$
//! Its gradient acts on the material point of contact: momentum and moment of an impulse are exact. A polyhedron has one gap for each
//! vertex, all affine in $q$, so that a box rests on its corners and none of them jumps.
//!
//! Pairs of bodies: see `pair.rs`. Shapes without a smooth gap are refused.

use nsm_geom::{Mat3, Plane, Pose as Frame, Shape, Vec3};

use super::pair::pair_gaps;
use super::solid::Solid;
use super::tangent::{Lowest, PlaneTangent};
use super::wheel::Wheel;
use super::{Mechanism, MechanismError, NodeId};
use crate::{Affine, AutoDiff, ConstraintError, Expr, Field, Rows, Scalar, Tangent};

/// Tilt, relative to the size of a disc, below which it lies flat: the points around it are within 2e-8 of its radius then.
const FLAT: f64 = 1e-6;

/// A part of a shape in the frame of its body; `radius` is that of a ball added to it.
#[derive(Clone, Debug)]
pub(super) enum Part {
    /// A point, or two: the ends of a segment.
    Points { points: Vec<Vec3>, radius: f64 },
    /// An ellipsoid.
    Ellipsoid { centre: Vec3, axes: Mat3, semi_axes: Vec3, radius: f64 },
    /// A cylinder about the third axis of a frame in the body.
    Cylinder { frame: Frame, half: f64, rim: f64, radius: f64 },
    /// A box or another polyhedron.
    Solid { solid: Solid, radius: f64 },
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
            let solid = Solid::cuboid(*frame, *c.half_extents()).map_err(|e| e.to_string())?;
            out.push(Part::Solid { solid, radius });
        }
        Shape::Polyhedron(p) => {
            let vertices: Vec<Vec3> = p.vertices().iter().map(place).collect();
            let solid = Solid::hull(&vertices).map_err(|e| e.to_string())?;
            out.push(Part::Solid { solid, radius });
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
        Shape::Cylinder(c) => out.push(Part::Cylinder {
            frame: *frame,
            half: c.half_length(),
            rim: c.radius(),
            radius,
        }),
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
                Part::Solid { solid, radius } => {
                    for corner in solid.vertices() {
                        gaps.push(Box::new(point_gap(&block, corner, *radius, plane)?));
                        rubs(Lowest::Ball { centre: *corner, radius: *radius });
                    }
                }
                Part::Cylinder { frame, half, rim, radius } => {
                    let wheel = Wheel { frame: *frame, half: *half, rim: *rim, radius: *radius };
                    for (gap, lowest) in wheel.plane_gaps(plane, &block)? {
                        gaps.push(gap);
                        rubs(lowest);
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
                let found = pair_gaps((one, &blocks[0]), (other, &blocks[1]));
                let no_gap = |why| MechanismError::NoGap { contact: name.to_owned(), why };
                for (gap, tangent) in found.map_err(no_gap)? {
                    gaps.push(gap);
                    tangents.push(Box::new(tangent));
                }
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

/// An ellipsoid over a plane; one without a third semi-axis is a disc.
pub(super) struct EllipsoidPlane {
    pub(super) plane: Plane,
    pub(super) centre: Vec3,
    /// Columns are the semi-axes in the body frame.
    pub(super) axes: Mat3,
    pub(super) radius: f64,
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
        // A disc that lies flat has no lowest point: points around it carry it (`wheel.rs`).
        let flat = square.re() <= FLAT * FLAT * self.axes.norm_squared();
        let reach = if flat { T::from(-self.axes.norm()) } else { square.sqrt() };
        let centre =
            (0..3).fold(along([q[0], q[1], q[2]]), |sum, k| sum + down[k] * self.centre[k]);
        centre - reach + (self.plane.offset() - self.radius)
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
        let corners = [[0.0, 0.0, 0.0], [0.7, 0.1, 0.0], [0.0, 0.6, 0.1], [0.1, 0.0, 0.8]];
        let wedge = Shape::polyhedron(&corners.map(Vec3::from)).unwrap();
        let stone = cuboid.clone().rounded(0.05).unwrap();
        let pebble = wedge.clone().rounded(0.1).unwrap();
        for pair in [
            [&ball, &ball],
            [&ball, &capsule],
            [&capsule, &capsule],
            [&ball, &cuboid],
            [&cuboid, &aside],
            [&aside, &capsule],
            [&ball, &wedge],
            [&wedge, &aside],
            [&capsule, &cuboid],
            [&wedge, &capsule],
            [&stone, &stone],
            [&stone, &cuboid],
            [&pebble, &stone],
            [&wedge, &pebble],
        ] {
            for apart in [1.5, 2.0, 3.0] {
                let (mechanism, frames, rows) = two(pair, apart);
                let q = mechanism.start_position();
                let gaps = (0..rows.len()).map(|i| rows.value(i, &q, 0.0));
                let gap = gaps.fold(f64::INFINITY, f64::min);
                let distance =
                    nsm_geom::body_gap(pair[0], &frames[0], pair[1], &frames[1]).unwrap().gap;
                assert!((gap - distance).abs() < 1e-9, "{pair:?}: {gap}, {distance}");
            }
        }
    }

    #[test]
    fn slopes_of_gaps_are_those_of_their_values() {
        let capsule = Shape::capsule(0.4, 0.1).unwrap();
        let stone = Shape::cuboid([0.3, 0.2, 0.4]).unwrap().rounded(0.05).unwrap();
        let corners = [[0.0, 0.0, 0.0], [0.7, 0.1, 0.0], [0.0, 0.6, 0.1], [0.1, 0.0, 0.8]];
        let wedge = Shape::polyhedron(&corners.map(Vec3::from)).unwrap();
        let ball = Shape::sphere(0.3).unwrap();
        for pair in [
            [&ball, &ball],
            [&capsule, &stone],
            [&stone, &stone],
            [&wedge, &stone],
            [&ball, &wedge],
        ] {
            let (mechanism, _, rows) = two(pair, 1.7);
            // Directors that are not quite orthonormal, as in the middle of an iteration.
            let wobble = |(i, q): (usize, f64)| q + 0.01 * (1.3 * i as f64).sin();
            let q: Vec<f64> =
                mechanism.start_position().into_iter().enumerate().map(wobble).collect();
            let mut gradients = vec![0.0; rows.entries()];
            rows.gradients(&q, 0.0, &mut gradients);
            for i in 0..rows.len() {
                for k in 0..q.len() {
                    let shifted = |h: f64| {
                        let mut q = q.clone();
                        q[k] += h;
                        rows.value(i, &q, 0.0)
                    };
                    let mut unit = vec![0.0; q.len()];
                    unit[k] = 1.0;
                    let slope = rows.row_dot(i, &gradients, &unit);
                    let seen = (shifted(1e-5) - shifted(-1e-5)) / 2e-5;
                    assert!((slope - seen).abs() < 1e-8, "{pair:?}: row {i}, {k}: {slope}, {seen}");
                }
            }
        }
    }

    #[test]
    fn touches_push_the_body_that_is_named_first() {
        let ball = Shape::sphere(0.3).unwrap();
        let cuboid = Shape::cuboid([0.3, 0.2, 0.4]).unwrap();
        for pair in [[&ball, &ball], [&ball, &cuboid], [&cuboid, &ball]] {
            let mut mechanism = Mechanism::new();
            let nodes = [0.0, 0.7].map(|x| {
                let (name, pose) = (format!("at {x}"), Pose::turned([x, 0.0, 0.0], [0.0; 3]));
                mechanism.add_body(&name, Inertia::cuboid(1.0, [1.0; 3]), pose).unwrap()
            });
            let mut rows = Rows::new(24);
            let tangents = mechanism
                .push_pair_gaps((nodes[0], pair[0]), (nodes[1], pair[1]), "a-b", &mut rows)
                .unwrap();
            // The first lies at smaller x: it is pushed to still smaller ones, at a point between the two.
            let (point, frame) = tangents[0].touch(&mechanism.start_position(), 0.0).unwrap();
            assert!((frame[0][0] + 1.0).abs() < 1e-15, "{pair:?}: {frame:?}");
            assert!(point[0] > 0.1 && point[0] < 0.6 && point[1].abs() < 1e-15, "{point:?}");
        }
    }

    #[test]
    fn sharp_polyhedra_are_refused_with_what_to_do() {
        let cuboid = Shape::cuboid([0.3, 0.2, 0.4]).unwrap();
        let mut mechanism = Mechanism::new();
        let nodes = ["a", "b"].map(|name| {
            let pose = Pose::turned([if name == "a" { 0.0 } else { 2.0 }, 0.0, 0.0], [0.0; 3]);
            mechanism.add_body(name, Inertia::cuboid(1.0, [1.0; 3]), pose).unwrap()
        });
        let mut rows = Rows::new(24);
        let refused =
            mechanism.push_pair_gaps((nodes[0], &cuboid), (nodes[1], &cuboid), "a-b", &mut rows);
        let message = refused.err().unwrap().to_string();
        assert!(message.contains("rounding") && message.contains("a-b"), "{message}");
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
