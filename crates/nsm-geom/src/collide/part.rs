//! A shape, cut into convex parts: each a core with a radius.

use crate::{
    Plane, Polyhedron, Pose, Shape, Vec3,
    distance::core::{Core, Kind},
    shape::{Cylinder, Flat},
};

/// Corners that stand for the rim of a cylinder's cap.
pub(super) const CIRCLE: usize = 12;

/// A shape made ready for detection, in its body frame.
#[derive(Debug, Clone)]
pub struct Collider {
    pub(super) parts: Vec<Part>,
    radius: f64,
    /// Radius, if the shape is one ball about the origin of the frame.
    pub(super) ball: Option<f64>,
}

/// A convex part.
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub(super) core: PartCore,
    /// Frame of the core in the body frame; that of a solid is the body's own.
    pub(super) frame: Pose,
    pub(super) radius: f64,
    /// A ball that holds the part.
    pub(super) centre: Vec3,
    pub(super) reach: f64,
}

/// What remains of a part when its rounding is taken off.
#[derive(Debug, Clone)]
pub(super) enum PartCore {
    Point,
    /// Along the third axis of the frame, with this half length.
    Segment(f64),
    Solid(Polyhedron),
    Cylinder(Cylinder),
    /// Anything else, and its flat sides, in the frame.
    Round(Shape, Vec<Flat>),
}

impl Collider {
    /// Cuts a shape into its convex parts.
    pub fn new(shape: &Shape) -> Self {
        let mut parts = Vec::new();
        cut(shape, &Pose::identity(), 0.0, &mut parts);
        let ball = match &parts[..] {
            [Part { core: PartCore::Point, frame, radius, .. }] if frame.x == Vec3::zeros() => {
                Some(*radius)
            }
            _ => None,
        };
        Self { parts, radius: shape.bounding_radius(), ball }
    }

    /// Radius of a ball about the origin of the frame that holds the shape.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// Number of convex parts.
    pub fn len(&self) -> usize {
        self.parts.len()
    }

    /// Whether there is no part at all.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Radius, if the shape is one ball about the origin of its frame.
    pub fn ball(&self) -> Option<f64> {
        self.ball
    }

    /// Most features that this shape can have with a plane.
    pub fn plane_features(&self) -> usize {
        let of = |part: &Part| match &part.core {
            PartCore::Point => 1,
            PartCore::Segment(_) => 2,
            PartCore::Solid(p) => p.vertices().len(),
            PartCore::Cylinder(_) => 2 * (CIRCLE + 1),
            PartCore::Round(_, flats) => {
                1 + flats.iter().map(|f| f.corners.len()).max().unwrap_or(0)
            }
        };
        self.parts.iter().map(of).sum()
    }
}

fn cut(shape: &Shape, frame: &Pose, radius: f64, parts: &mut Vec<Part>) {
    let (core, own) = match shape {
        Shape::Union(u) => {
            u.parts().iter().for_each(|p| cut(p, frame, radius, parts));
            return;
        }
        Shape::Placed(p) => return cut(p.shape(), &(*frame * *p.pose()), radius, parts),
        Shape::Rounded(r) => return cut(r.shape(), frame, radius + r.radius(), parts),
        Shape::Sphere(s) => (PartCore::Point, s.radius()),
        Shape::Capsule(s) => (PartCore::Segment(s.half_length()), s.radius()),
        Shape::Cuboid(s) => {
            let corners: Vec<Vec3> = (0..8).map(|k| s.vertex(k)).collect();
            match Polyhedron::hull(&corners) {
                Ok(solid) => (PartCore::Solid(solid.placed(frame)), 0.0),
                // A box flatter than a hull may be.
                Err(_) => (PartCore::Round(shape.clone(), shape.flats()), 0.0),
            }
        }
        Shape::Polyhedron(s) => (PartCore::Solid(s.placed(frame)), 0.0),
        Shape::Cylinder(s) => (PartCore::Cylinder(*s), 0.0),
        Shape::Ellipsoid(_) | Shape::Intersection(_) => {
            (PartCore::Round(shape.clone(), shape.flats()), 0.0)
        }
    };
    let solid = matches!(core, PartCore::Solid(_));
    let radius = radius + own;
    let (centre, reach) = match &core {
        PartCore::Solid(p) => {
            let centre = p.vertices().iter().sum::<Vec3>() / p.vertices().len() as f64;
            let reach = p.vertices().iter().map(|v| (v - centre).norm()).fold(0.0, f64::max);
            (centre, reach + radius)
        }
        PartCore::Point => (frame.x, radius),
        PartCore::Segment(l) => (frame.x, l + radius),
        PartCore::Cylinder(_) | PartCore::Round(..) => {
            (frame.x, shape.bounding_radius() + radius - own)
        }
    };
    let frame = if solid { Pose::identity() } else { *frame };
    parts.push(Part { core, frame, radius, centre, reach });
}

impl Part {
    /// The part at a pose of its body, for the distance functions; relative to `origin`.
    pub(super) fn at(&self, pose: &Pose, origin: &Vec3) -> Core<'_> {
        let body = Pose { x: pose.x - origin, rot: pose.rot };
        let pose = if matches!(self.core, PartCore::Solid(_)) { body } else { body * self.frame };
        let kind = match &self.core {
            PartCore::Segment(l) => Kind::Segment(*l),
            PartCore::Solid(p) => Kind::Polyhedron(p),
            PartCore::Cylinder(c) => Kind::Cylinder(c),
            PartCore::Round(Shape::Ellipsoid(e), _) => Kind::Ellipsoid(e),
            PartCore::Round(Shape::Cuboid(b), _) => Kind::Cuboid(b),
            PartCore::Round(Shape::Intersection(i), _) => Kind::Intersection(i),
            PartCore::Point | PartCore::Round(..) => Kind::Point,
        };
        Core { kind, pose, radius: self.radius }
    }

    /// Support point of the whole part in the body frame.
    pub(super) fn support(&self, u: &Vec3) -> Vec3 {
        let local = self.frame.rot.tr_mul(u);
        let p = match &self.core {
            PartCore::Point => Vec3::zeros(),
            PartCore::Segment(l) => Vec3::new(0.0, 0.0, l.copysign(local.z)),
            PartCore::Solid(s) => return s.support(u) + u.normalize() * self.radius,
            PartCore::Cylinder(c) => c.support(&local),
            PartCore::Round(shape, _) => shape.support(&local),
        };
        self.frame.act(&p) + u.normalize() * self.radius
    }

    /// Ends of the segment, in the body frame.
    pub(super) fn ends(&self, half: f64) -> [Vec3; 2] {
        [-half, half].map(|z| self.frame.act(&Vec3::new(0.0, 0.0, z)))
    }

    /// Points that stand for a circle about the third axis of the frame, in the body frame.
    pub(super) fn rim(&self, centre: &Vec3, radius: f64) -> impl Iterator<Item = Vec3> {
        (0..CIRCLE).map(move |k| {
            let angle = std::f64::consts::TAU * k as f64 / CIRCLE as f64;
            centre + self.frame.rot * Vec3::new(angle.cos(), angle.sin(), 0.0) * radius
        })
    }

    /// A lower bound for the gap to a plane, in the body frame.
    pub(super) fn clears(&self, plane: &Plane) -> f64 {
        plane.signed_distance(&self.centre) - self.reach
    }
}
