//! Closest points of two cores [Gilbert, Johnson & Keerthi 1988].
//!
//! The point $v$ of $A - B$ nearest to the origin is found on simplices of support points: each step adds the
//! support point against $v$ and keeps the smallest face of the simplex that holds the new nearest point.
//! $|v|$ decreases strictly; $|v|^2 - v\cdot w$ bounds the error.

use super::{CoreContact, core::Core};
use crate::Vec3;

/// Overlap, or closer than this fraction of the size of $A - B$.
const TOUCHING: f64 = 1e-11;
/// Relative error of $|v|^2$ at which curved cores are handed to the sharpening of the normal.
const RELATIVE: f64 = 1e-13;
const MAX_STEPS: usize = 128;

/// The cores overlap or touch.
pub(super) struct Overlap;

#[derive(Clone, Copy)]
struct Vertex {
    w: Vec3,
    a: Vec3,
    b: Vec3,
}

/// Up to four affinely independent vertices and the weights of the nearest point.
struct Simplex {
    vertices: [Vertex; 4],
    weights: [f64; 4],
    len: usize,
}

pub(super) fn closest(a: &Core, b: &Core) -> Result<CoreContact, Overlap> {
    let start = a.centre() - b.centre();
    let mut v = if start.norm_squared() > 0.0 { start } else { Vec3::x() };
    let first = support(a, b, &v);
    let mut simplex = Simplex { vertices: [first; 4], weights: [1.0, 0.0, 0.0, 0.0], len: 1 };
    v = first.w;
    let mut scale = v.norm();
    for _ in 0..MAX_STEPS {
        if v.norm() <= TOUCHING * scale {
            return Err(Overlap);
        }
        let next = support(a, b, &v);
        scale = scale.max(next.w.norm());
        let v2 = v.norm_squared();
        let known = simplex.vertices[..simplex.len].iter().any(|k| k.w == next.w);
        if known || v2 - v.dot(&next.w) <= RELATIVE * v2 {
            break;
        }
        let before = (simplex.vertices, simplex.weights, simplex.len);
        simplex.vertices[simplex.len] = next;
        simplex.len += 1;
        let Some(nearer) = simplex.reduce() else { return Err(Overlap) };
        if nearer.norm_squared() >= v2 {
            // Rounding has the last word: keep the better of the two.
            (simplex.vertices, simplex.weights, simplex.len) = before;
            break;
        }
        v = nearer;
    }
    if v.norm() <= TOUCHING * scale {
        return Err(Overlap);
    }
    Ok(simplex.contact(&v))
}

fn support(a: &Core, b: &Core, v: &Vec3) -> Vertex {
    let (p, q) = (a.support(&-v), b.support(v));
    Vertex { w: p - q, a: p, b: q }
}

impl Simplex {
    fn contact(&self, v: &Vec3) -> CoreContact {
        let gap = v.norm();
        let weighted = |f: &dyn Fn(&Vertex) -> Vec3| {
            (0..self.len).map(|i| self.weights[i] * f(&self.vertices[i])).sum::<Vec3>()
        };
        let pair = |i: usize| {
            let k = &self.vertices[i.min(self.len - 1)];
            (k.a, k.b)
        };
        CoreContact {
            gap,
            normal: -v / gap,
            a: weighted(&|k| k.a),
            b: weighted(&|k| k.b),
            pairs: [pair(0), pair(1), pair(2)],
            count: self.len.min(3),
            exact: false,
        }
    }

    /// Keeps the vertices that span the point nearest to the origin and returns it; `None` if the origin is
    /// inside a tetrahedron.
    fn reduce(&mut self) -> Option<Vec3> {
        match self.len {
            2 => Some(self.keep(&[0, 1], &segment(&self.vertices[0].w, &self.vertices[1].w))),
            3 => {
                let [p, q, r] = [0, 1, 2].map(|i| self.vertices[i].w);
                Some(self.keep(&[0, 1, 2], &triangle(&p, &q, &r)))
            }
            _ => self.reduce_tetrahedron(),
        }
    }

    fn reduce_tetrahedron(&mut self) -> Option<Vec3> {
        let w = [0, 1, 2, 3].map(|i| self.vertices[i].w);
        let mut best: Option<([usize; 3], [f64; 3], f64)> = None;
        for ([i, j, k], opposite) in
            [([0, 1, 2], 3), ([0, 1, 3], 2), ([0, 2, 3], 1), ([1, 2, 3], 0)]
        {
            let normal = (w[j] - w[i]).cross(&(w[k] - w[i]));
            let (origin, fourth) = (-normal.dot(&w[i]), normal.dot(&(w[opposite] - w[i])));
            // The origin is beyond this face if it is on the other side than the fourth vertex; of a flat
            // tetrahedron every face is looked at.
            let flat = fourth.abs() <= 1e-13 * normal.norm() * (w[opposite] - w[i]).norm();
            if origin * fourth < 0.0 || flat {
                let weights = triangle(&w[i], &w[j], &w[k]);
                let p = weights[0] * w[i] + weights[1] * w[j] + weights[2] * w[k];
                if best.is_none_or(|(_, _, d)| p.norm_squared() < d) {
                    best = Some(([i, j, k], weights, p.norm_squared()));
                }
            }
        }
        let (face, weights, _) = best?;
        Some(self.keep(&face, &weights))
    }

    fn keep(&mut self, indices: &[usize], weights: &[f64]) -> Vec3 {
        let old = self.vertices;
        let mut v = Vec3::zeros();
        self.len = 0;
        for (&i, &weight) in indices.iter().zip(weights) {
            if weight > 0.0 {
                self.vertices[self.len] = old[i];
                self.weights[self.len] = weight;
                self.len += 1;
                v += weight * old[i].w;
            }
        }
        v
    }
}

/// Weights of the point of a segment nearest to the origin.
fn segment(p: &Vec3, q: &Vec3) -> [f64; 2] {
    let d = q - p;
    let t = (-p.dot(&d) / d.norm_squared()).clamp(0.0, 1.0);
    [1.0 - t, t]
}

/// Weights of the point of a triangle nearest to the origin, by the region it lies in [Ericson 2005].
fn triangle(p: &Vec3, q: &Vec3, r: &Vec3) -> [f64; 3] {
    let (pq, pr) = (q - p, r - p);
    let (d1, d2) = (-pq.dot(p), -pr.dot(p));
    if d1 <= 0.0 && d2 <= 0.0 {
        return [1.0, 0.0, 0.0];
    }
    let (d3, d4) = (-pq.dot(q), -pr.dot(q));
    if d3 >= 0.0 && d4 <= d3 {
        return [0.0, 1.0, 0.0];
    }
    let (d5, d6) = (-pq.dot(r), -pr.dot(r));
    if d6 >= 0.0 && d5 <= d6 {
        return [0.0, 0.0, 1.0];
    }
    // Twice the areas opposite to each vertex, from cross products: d1·d4 − d3·d2 cancels for slender
    // triangles.
    let normal = pq.cross(&pr);
    let area = |x: &Vec3, y: &Vec3| normal.dot(&x.cross(y));
    let (vr, vq, vp) = (area(p, q), area(r, p), area(q, r));
    if vr <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        let [s, t] = segment(p, q);
        return [s, t, 0.0];
    }
    if vq <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        let [s, t] = segment(p, r);
        return [s, 0.0, t];
    }
    if vp <= 0.0 && d4 >= d3 && d5 >= d6 {
        let [s, t] = segment(q, r);
        return [0.0, s, t];
    }
    let sum = vp + vq + vr;
    if sum > 0.0 { [vp / sum, vq / sum, vr / sum] } else { [1.0, 0.0, 0.0] }
}
