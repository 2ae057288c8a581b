//! Boxes and other polyhedra in the frame of their body: vertices, edges, and what of them is nearest to a place.

use std::sync::Arc;

use nsm_geom::{Face, GeomError, Polyhedron, Pose as Frame, Vec3};

/// A box, or another polyhedron.
#[derive(Clone, Debug)]
pub(super) enum Solid {
    /// A box: the nearest point has a closed form.
    Cuboid { frame: Frame, half: Vec3, hull: Hull },
    /// Any convex polyhedron.
    Hull(Hull),
}

/// A convex polyhedron, shared by the gaps that look at it.
#[derive(Clone, Debug)]
pub(super) struct Hull(Arc<Polyhedron>);

/// What of a polyhedron is nearest to a place.
#[derive(Clone, Copy, Debug)]
pub(super) enum Feature {
    /// A face, by its outward normal and offset.
    Face { normal: Vec3, offset: f64 },
    /// An edge; its ends are the vertices.
    Edge { from: Vec3, to: Vec3 },
}

impl Solid {
    pub(super) fn cuboid(frame: Frame, half: Vec3) -> Result<Self, GeomError> {
        let corners: Vec<Vec3> = (0..8)
            .map(|k| {
                let sign = |bit: usize| if k >> bit & 1 == 1 { 1.0 } else { -1.0 };
                frame.x + frame.rot * half.component_mul(&Vec3::new(sign(0), sign(1), sign(2)))
            })
            .collect();
        Ok(Self::Cuboid { frame, half, hull: Hull::new(&corners)? })
    }

    pub(super) fn hull(vertices: &[Vec3]) -> Result<Self, GeomError> {
        Ok(Self::Hull(Hull::new(vertices)?))
    }

    fn polyhedron(&self) -> &Polyhedron {
        match self {
            Self::Cuboid { hull, .. } | Self::Hull(hull) => &hull.0,
        }
    }

    pub(super) fn vertices(&self) -> &[Vec3] {
        self.polyhedron().vertices()
    }

    pub(super) fn edges(&self) -> impl Iterator<Item = [Vec3; 2]> {
        let vertices = self.vertices();
        self.polyhedron().edges().iter().map(|edge| edge.vertices.map(|k| vertices[k]))
    }

    /// The point of the surface nearest to a place, and the direction outward there.
    pub(super) fn nearest(&self, place: &Vec3) -> (Vec3, Vec3) {
        match self {
            Self::Cuboid { frame, half, .. } => {
                let seen = frame.rot.transpose() * (place - frame.x);
                let (face, outward) = nearest_of_box(&seen, half);
                (frame.x + frame.rot * face, frame.rot * outward)
            }
            Self::Hull(hull) => match hull.nearest(place) {
                Feature::Face { normal, offset } => {
                    (place - (normal.dot(place) - offset) * normal, normal)
                }
                Feature::Edge { from, to } => {
                    let u = to - from;
                    let s = (u.dot(&(place - from)) / u.norm_squared()).clamp(0.0, 1.0);
                    let point = from + s * u;
                    (point, (place - point).try_normalize(0.0).unwrap_or_else(Vec3::z))
                }
            },
        }
    }
}

impl Hull {
    fn new(vertices: &[Vec3]) -> Result<Self, GeomError> {
        Ok(Self(Arc::new(Polyhedron::hull(vertices)?)))
    }

    /// What is nearest to a place: inside, the face that is least deep; outside, the face over which it stands, or an edge.
    pub(super) fn nearest(&self, place: &Vec3) -> Feature {
        let vertices = self.0.vertices();
        let above = |face: &Face| face.normal.dot(place) - face.offset;
        let faces = self.0.faces();
        let highest = faces.iter().max_by(|a, b| above(a).total_cmp(&above(b)));
        if let Some(face) = highest.filter(|face| above(face) <= 0.0) {
            return Feature::Face { normal: face.normal, offset: face.offset };
        }
        let stands = |face: &&Face| {
            let ends = face.vertices.iter().zip(face.vertices.iter().cycle().skip(1));
            above(face) > 0.0
                && ends.into_iter().all(|(&i, &j)| {
                    let (from, to) = (vertices[i], vertices[j]);
                    face.normal.cross(&(to - from)).dot(&(place - from)) >= 0.0
                })
        };
        if let Some(face) = faces.iter().find(stands) {
            return Feature::Face { normal: face.normal, offset: face.offset };
        }
        let distance = |&[from, to]: &[Vec3; 2]| {
            let u = to - from;
            let s = (u.dot(&(place - from)) / u.norm_squared()).clamp(0.0, 1.0);
            (place - from - s * u).norm_squared()
        };
        let edges = self.0.edges().iter().map(|edge| edge.vertices.map(|k| vertices[k]));
        let nearest = edges.min_by(|a, b| distance(a).total_cmp(&distance(b)));
        let [from, to] = nearest.unwrap_or([Vec3::zeros(), Vec3::x()]);
        Feature::Edge { from, to }
    }
}

/// The point of a box's surface nearest to a place, and the direction outward there.
fn nearest_of_box(place: &Vec3, half: &Vec3) -> (Vec3, Vec3) {
    let inside = Vec3::from_fn(|k, _| place[k].clamp(-half[k], half[k]));
    let apart = place - inside;
    if let Some(outward) = apart.try_normalize(0.0) {
        return (inside, outward);
    }
    let depth = |k: &usize| half[*k] - place[*k].abs();
    let k = (0..3).min_by(|a, b| depth(a).total_cmp(&depth(b))).unwrap_or(0);
    let (mut face, mut outward) = (*place, Vec3::zeros());
    outward[k] = if place[k] < 0.0 { -1.0 } else { 1.0 };
    face[k] = outward[k] * half[k];
    (face, outward)
}
