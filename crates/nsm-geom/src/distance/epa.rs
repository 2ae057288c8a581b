//! Penetration of overlapping cores: the face of $A - B$ nearest to the origin, by an expanding polytope
//! [van den Bergen 2001].
//!
//! A polytope of support points grows inside $A - B$ where its nearest face is: the support point beyond that
//! face either lies on it, and the face is one of $A - B$, or is added. Orientation tests are exact, as in the
//! hull, so that coplanar support points (two boxes face to face) cannot break the surface. The face of least
//! offset is also the right one to grow while the origin is still outside the polytope, so nothing depends on
//! a starting simplex that holds it.

use std::cmp::Ordering;

use super::{CoreContact, core::Core};
use crate::{GeomError, Vec3, predicates::orient3d};

const MAX_VERTICES: usize = 128;
const MAX_FACES: usize = 2 * MAX_VERTICES;

#[derive(Clone, Copy)]
struct Vertex {
    w: Vec3,
    a: Vec3,
    b: Vec3,
}

#[derive(Clone, Copy)]
struct Face {
    corners: [usize; 3],
    normal: Vec3,
    offset: f64,
}

struct Polytope {
    vertices: [Vertex; MAX_VERTICES],
    vertex_count: usize,
    faces: [Face; MAX_FACES],
    face_count: usize,
}

pub(super) fn deepest(a: &Core, b: &Core) -> Result<CoreContact, GeomError> {
    let sample = |u: Vec3| {
        let (p, q) = (a.support(&u), b.support(&-u));
        Vertex { w: p - q, a: p, b: q }
    };
    let samples = DIRECTIONS.map(|d| sample(Vec3::from(d)));
    let scale = samples.iter().map(|s| (s.w - samples[0].w).norm()).fold(0.0, f64::max);
    // Newton's method on the normal finishes what is curved; polyhedra end on their own.
    let tolerance = scale * if a.is_curved() || b.is_curved() { 1e-7 } else { 1e-13 };
    let Some(mut polytope) = Polytope::first(&samples, scale) else {
        return Ok(flat_contact(a, b, &samples, scale));
    };
    loop {
        let face = *polytope.nearest();
        let next = sample(face.normal);
        let height = face.normal.dot(&next.w);
        if height - face.offset <= tolerance || !polytope.add(next) {
            if height - face.offset > 1e-2 * scale {
                return Err(GeomError::NotConverged {
                    what: "expanding polytope",
                    iterations: polytope.vertex_count,
                    residual: height - face.offset,
                });
            }
            return Ok(polytope.contact(&face, height, scale));
        }
    }
}

/// Axes and diagonals of a cube.
const DIRECTIONS: [[f64; 3]; 14] = [
    [1.0, 0.0, 0.0],
    [-1.0, 0.0, 0.0],
    [0.0, 1.0, 0.0],
    [0.0, -1.0, 0.0],
    [0.0, 0.0, 1.0],
    [0.0, 0.0, -1.0],
    [1.0, 1.0, 1.0],
    [1.0, 1.0, -1.0],
    [1.0, -1.0, 1.0],
    [1.0, -1.0, -1.0],
    [-1.0, 1.0, 1.0],
    [-1.0, 1.0, -1.0],
    [-1.0, -1.0, 1.0],
    [-1.0, -1.0, -1.0],
];

impl Polytope {
    /// A tetrahedron of samples; `None` if they are flat.
    fn first(samples: &[Vertex; 14], scale: f64) -> Option<Self> {
        let farthest = |measure: &dyn Fn(&Vec3) -> f64| {
            samples.iter().map(|s| (*s, measure(&s.w))).max_by(|x, y| x.1.total_cmp(&y.1))
        };
        let p = samples[0];
        let (q, length) = farthest(&|w| (w - p.w).norm())?;
        if length <= 1e-10 * scale {
            return None;
        }
        let along = (q.w - p.w) / length;
        let (r, width) = farthest(&|w| (w - p.w).cross(&along).norm())?;
        if width <= 1e-10 * scale {
            return None;
        }
        let normal = along.cross(&(r.w - p.w)).normalize();
        let (s, height) = farthest(&|w| (w - p.w).dot(&normal).abs())?;
        if height <= 1e-10 * scale {
            return None;
        }
        let (p, q) =
            if orient3d(&p.w, &q.w, &r.w, &s.w) == Ordering::Greater { (p, q) } else { (q, p) };
        let nowhere = Face { corners: [0; 3], normal: Vec3::zeros(), offset: f64::INFINITY };
        let mut polytope = Self {
            vertices: [p; MAX_VERTICES],
            vertex_count: 4,
            faces: [nowhere; MAX_FACES],
            face_count: 0,
        };
        polytope.vertices[..4].copy_from_slice(&[p, q, r, s]);
        for corners in [[0, 1, 2], [1, 0, 3], [2, 1, 3], [0, 2, 3]] {
            polytope.push(corners);
        }
        Some(polytope)
    }

    fn push(&mut self, corners: [usize; 3]) {
        let [p, q, r] = corners.map(|i| self.vertices[i].w);
        let area = (q - p).cross(&(r - p));
        let size = area.norm();
        // A sliver without a usable normal is never the nearest face.
        let (normal, offset) = if size > 0.0 {
            let n = area / size;
            (n, (n.dot(&p) + n.dot(&q) + n.dot(&r)) / 3.0)
        } else {
            (Vec3::zeros(), f64::INFINITY)
        };
        self.faces[self.face_count] = Face { corners, normal, offset };
        self.face_count += 1;
    }

    fn nearest(&self) -> &Face {
        let mut best = &self.faces[0];
        for face in &self.faces[1..self.face_count] {
            if face.offset < best.offset {
                best = face;
            }
        }
        best
    }

    /// Adds a vertex; `false` if nothing sees it or there is no room.
    fn add(&mut self, vertex: Vertex) -> bool {
        let mut horizon = [(0, 0); MAX_FACES];
        let mut edges = 0;
        let mut seen = 0;
        let mut visible = [false; MAX_FACES];
        for (i, seen_here) in visible.iter_mut().enumerate().take(self.face_count) {
            let [p, q, r] = self.faces[i].corners;
            let w = |k: usize| &self.vertices[k].w;
            if orient3d(w(p), w(q), w(r), &vertex.w) != Ordering::Less {
                continue;
            }
            *seen_here = true;
            seen += 1;
            for (u, v) in [(p, q), (q, r), (r, p)] {
                // An edge met from both sides is interior to what the vertex sees.
                if let Some(k) = horizon[..edges].iter().position(|e| *e == (v, u)) {
                    edges -= 1;
                    horizon[k] = horizon[edges];
                } else if edges < MAX_FACES {
                    horizon[edges] = (u, v);
                    edges += 1;
                } else {
                    return false;
                }
            }
        }
        let room = self.face_count - seen + edges <= MAX_FACES && self.vertex_count < MAX_VERTICES;
        if seen == 0 || !room {
            return false;
        }
        let mut kept = 0;
        for i in 0..self.face_count {
            if !visible[i] {
                self.faces[kept] = self.faces[i];
                kept += 1;
            }
        }
        self.face_count = kept;
        self.vertices[self.vertex_count] = vertex;
        self.vertex_count += 1;
        for &(u, v) in &horizon[..edges] {
            self.push([u, v, self.vertex_count - 1]);
        }
        true
    }

    /// Witness points from the weights of the origin's projection, on that triangle of the face (they may be
    /// several, coplanar) which holds it.
    fn contact(&self, face: &Face, height: f64, scale: f64) -> CoreContact {
        let foot = face.offset * face.normal;
        let mut best = (self.weights(face, &foot), face);
        for other in &self.faces[..self.face_count] {
            if other.offset <= face.offset + 1e-10 * scale
                && other.normal.dot(&face.normal) > 1.0 - 1e-9
            {
                let weights = self.weights(other, &foot);
                if least(&weights) > least(&best.0) {
                    best = (weights, other);
                }
            }
        }
        let [p, q, r] = best.1.corners.map(|i| self.vertices[i]);
        let weights = best.0.map(|w| w.max(0.0));
        let sum: f64 = weights.iter().sum();
        let blend = |f: &dyn Fn(&Vertex) -> Vec3| {
            (weights[0] * f(&p) + weights[1] * f(&q) + weights[2] * f(&r)) / sum
        };
        let a = blend(&|v| v.a);
        CoreContact {
            gap: -height,
            normal: face.normal,
            a,
            b: a - height * face.normal,
            pairs: [(p.a, p.b), (q.a, q.b), (r.a, r.b)],
            count: 3,
            exact: false,
        }
    }

    /// Barycentric weights of a point in the plane of a face.
    fn weights(&self, face: &Face, foot: &Vec3) -> [f64; 3] {
        let [p, q, r] = face.corners.map(|i| self.vertices[i].w - foot);
        let area = |x: &Vec3, y: &Vec3| face.normal.dot(&x.cross(y));
        let weights = [area(&q, &r), area(&r, &p), area(&p, &q)];
        let sum: f64 = weights.iter().sum();
        weights.map(|w| w / sum)
    }
}

fn least(weights: &[f64; 3]) -> f64 {
    weights.iter().copied().fold(f64::INFINITY, f64::min)
}

/// Points and segments that meet: $A - B$ has no volume, and a normal of it is across.
fn flat_contact(a: &Core, b: &Core, samples: &[Vertex; 14], scale: f64) -> CoreContact {
    let p = samples[0].w;
    let spread = |measure: &dyn Fn(&Vec3) -> f64| {
        samples.iter().map(|s| s.w - p).max_by(|x, y| measure(x).total_cmp(&measure(y)))
    };
    let first = spread(&|d| d.norm()).unwrap_or_else(Vec3::zeros);
    let second = spread(&|d| d.cross(&first).norm()).unwrap_or_else(Vec3::zeros);
    let across = first.cross(&second);
    let normal = if across.norm() > 1e-10 * scale * scale {
        across.normalize()
    } else if first.norm() > 1e-10 * scale {
        // Any direction across the line; the axis most across it is well conditioned.
        first.cross(&Vec3::ith(first.iamin(), 1.0)).normalize()
    } else {
        Vec3::z()
    };
    let towards = b.centre() - a.centre();
    let normal = if normal.dot(&towards) < 0.0 { -normal } else { normal };
    let (point, other) = (a.support(&normal), b.support(&-normal));
    let gap = normal.dot(&(other - point));
    let meeting = meeting_point(a, b);
    CoreContact {
        gap,
        normal,
        a: meeting,
        b: meeting + gap * normal,
        pairs: [(point, other); 3],
        count: 1,
        exact: true,
    }
}

/// A common point of two points or segments that meet, by minimising their squared distance.
fn meeting_point(a: &Core, b: &Core) -> Vec3 {
    let axis = |c: &Core| {
        let z = c.pose.rot.column(2).into_owned();
        let end = c.support(&z);
        (end, end - c.support(&-z))
    };
    let ((p, u), (q, v)) = (axis(a), axis(b));
    let start = p - u;
    let r = q - v - start;
    let (uu, uv, vv) = (u.norm_squared(), u.dot(&v), v.norm_squared());
    let determinant = uu * vv - uv * uv;
    let s = if determinant > 1e-14 * uu * vv {
        (r.dot(&u) * vv - r.dot(&v) * uv) / determinant
    } else if uu > 0.0 {
        // Parallel: the middle of what both cover.
        let (s0, s1) = (r.dot(&u) / uu, (r + v).dot(&u) / uu);
        0.5 * (s0.min(s1).max(0.0) + s0.max(s1).min(1.0))
    } else {
        0.0
    };
    start + s.clamp(0.0, 1.0) * u
}
