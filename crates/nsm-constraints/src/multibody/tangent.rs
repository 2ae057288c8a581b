//! Tangential velocities where bodies touch planes and each other, in the coordinates of a mechanism.
//!
//! The material point $s$ of a body moves with $\dot\varphi + \sum_k s_k \dot d_k$, so a tangent $t$ has the coefficients $t$ on $\dot\varphi$ and
//! $s_k t$ on $\dot d_k$: an impulse along it has its momentum and its moment exactly. A body touches a plane with its own point; two
//! bodies touch in one common point of the world, the midpoint of the two closest ones, so that friction at a small gap has no moment.

use nsm_geom::Vec3;

use super::solid::Solid;
use crate::Tangent;

/// Two unit vectors across a unit vector.
fn across(n: &Vec3) -> [Vec3; 2] {
    // The axis that is least along the normal.
    let k = n.iamin();
    let mut axis = Vec3::zeros();
    axis[k] = 1.0;
    let first = n.cross(&axis).normalize();
    [first, n.cross(&first)]
}

/// The point of a body that lies lowest over a plane, in the frame of the body.
#[derive(Clone, Debug)]
pub(super) enum Lowest {
    /// A ball about a point.
    Ball { centre: Vec3, radius: f64 },
    /// An ellipsoid, by its semi-axes as columns, and a ball added to it.
    Ellipsoid { centre: Vec3, axes: nsm_geom::Mat3, radius: f64 },
}

impl Lowest {
    /// Its place, where the normal of the plane is `n` in the frame of the body.
    fn point(&self, n: &Vec3) -> Vec3 {
        match self {
            Self::Ball { centre, radius } => centre - *radius * n,
            Self::Ellipsoid { centre, axes, radius } => {
                let along = axes.transpose() * n;
                let length = along.norm().max(f64::MIN_POSITIVE);
                centre - axes * along / length - *radius * n
            }
        }
    }
}

/// A body on a plane.
#[derive(Clone, Debug)]
pub(super) struct PlaneTangent {
    block: Vec<usize>,
    normal: Vec3,
    tangents: [Vec3; 2],
    lowest: Lowest,
}

impl PlaneTangent {
    pub(super) fn new(block: &[usize], normal: &Vec3, lowest: Lowest) -> Self {
        Self { block: block.to_vec(), normal: *normal, tangents: across(normal), lowest }
    }

    /// The material point that touches; a particle has but one.
    fn lowest(&self, q: &[f64]) -> Vec3 {
        if self.block.len() != 12 {
            return Vec3::zeros();
        }
        let director =
            |k: usize| Vec3::from_fn(|i, _| q[self.block[3 + 3 * k + i]]).dot(&self.normal);
        self.lowest.point(&Vec3::new(director(0), director(1), director(2)))
    }
}

impl Tangent for PlaneTangent {
    fn coordinates(&self) -> &[usize] {
        &self.block
    }

    fn directions(&self) -> usize {
        2
    }

    fn coefficients(&self, q: &[f64], _t: f64, out: &mut [f64]) {
        let point = self.lowest(q);
        for (row, t) in out.chunks_exact_mut(self.block.len()).zip(&self.tangents) {
            fill(row, t, &point);
        }
    }

    fn touch(&self, q: &[f64], _t: f64) -> Option<([f64; 3], [[f64; 3]; 3])> {
        let at = |k: usize| Vec3::from_fn(|i, _| q[self.block[k + i]]);
        let mut place = at(0);
        if self.block.len() == 12 {
            let point = self.lowest(q);
            place += (0..3).map(|k| point[k] * at(3 + 3 * k)).sum::<Vec3>();
        } else if let Lowest::Ball { radius, .. } = &self.lowest {
            place -= *radius * self.normal;
        }
        let [first, second] = self.tangents;
        Some((place.into(), [self.normal, first, second].map(Into::into)))
    }
}

/// Writes the coefficients of a tangent at a material point.
fn fill(row: &mut [f64], t: &Vec3, point: &Vec3) {
    row[..3].copy_from_slice(t.as_slice());
    for (k, part) in row[3..].chunks_exact_mut(3).enumerate() {
        part.copy_from_slice((point[k] * t).as_slice());
    }
}

/// The cores of two bodies that touch, each in the frame of its body, with the radii of the balls added to them.
#[derive(Clone, Debug)]
pub(super) enum Cores {
    /// Two segments, or points.
    Segments { first: [Vec3; 2], second: [Vec3; 2] },
    /// A point and a polyhedron.
    BallSolid { ball: Vec3, solid: Solid },
}

/// Two bodies that touch.
#[derive(Clone, Debug)]
pub(super) struct PairTangent {
    block: Vec<usize>,
    /// Coordinates of the first body among the block.
    first: usize,
    cores: Cores,
    radii: [f64; 2],
    /// Whether the contact names the second body first.
    turned_round: bool,
}

impl PairTangent {
    pub(super) fn new(
        first: &std::ops::Range<usize>,
        second: &std::ops::Range<usize>,
        cores: Cores,
        radii: [f64; 2],
    ) -> Self {
        let block = first.clone().chain(second.clone()).collect();
        Self { block, first: first.len(), cores, radii, turned_round: false }
    }

    /// The contact names the second body first.
    pub(super) fn turned_round(self) -> Self {
        Self { turned_round: true, ..self }
    }

    fn body<'a>(&self, q: &'a [f64], second: bool) -> Body<'a> {
        let (from, to) = if second { (self.first, self.block.len()) } else { (0, self.first) };
        // Coordinates of a node follow each other.
        Body(&q[self.block[from]..=self.block[to - 1]])
    }

    /// The normal, from the second body to the first, and the common point.
    fn touch(&self, q: &[f64]) -> (Vec3, Vec3) {
        let (one, other) = (self.body(q, false), self.body(q, true));
        let (a, b, n);
        match &self.cores {
            Cores::Segments { first, second } => {
                let [p, p1] = first.map(|s| one.place(&s));
                let [r, r1] = second.map(|s| other.place(&s));
                let (s, t) = closest(&p, &(p1 - p), &r, &(r1 - r));
                (a, b) = (p + s * (p1 - p), r + t * (r1 - r));
                n = (a - b).try_normalize(0.0).unwrap_or_else(Vec3::z);
            }
            Cores::BallSolid { ball, solid } => {
                a = one.place(ball);
                let (face, outward) = solid.nearest(&other.seen(&a));
                b = other.place(&face);
                n = other.turned(&outward);
            }
        }
        let [ra, rb] = self.radii;
        (n, 0.5 * ((a - ra * n) + (b + rb * n)))
    }
}

/// Parameters of the closest points of two segments `p + s u`, `r + t v`.
fn closest(p: &Vec3, u: &Vec3, r: &Vec3, v: &Vec3) -> (f64, f64) {
    let w = p - r;
    let (a, b, c, d, e) = (u.dot(u), u.dot(v), v.dot(v), u.dot(&w), v.dot(&w));
    let unit = |x: f64| x.clamp(0.0, 1.0);
    if a == 0.0 {
        return (0.0, if c == 0.0 { 0.0 } else { unit(e / c) });
    }
    if c == 0.0 {
        return (unit(-d / a), 0.0);
    }
    let area = a * c - b * b;
    let s = if area > 1e-14 * a * c { unit((b * e - c * d) / area) } else { 0.5 };
    let t = unit((b * s + e) / c);
    let s = unit((b * t - d) / a);
    (s, unit((b * s + e) / c))
}

/// Position and directors of a body, or the position of a particle.
struct Body<'a>(&'a [f64]);

impl Body<'_> {
    fn position(&self) -> Vec3 {
        Vec3::from_row_slice(&self.0[..3])
    }

    fn director(&self, k: usize) -> Option<Vec3> {
        self.0.get(3 + 3 * k..6 + 3 * k).map(Vec3::from_row_slice)
    }

    fn turned(&self, s: &Vec3) -> Vec3 {
        (0..3).filter_map(|k| self.director(k).map(|d| s[k] * d)).sum()
    }

    fn place(&self, s: &Vec3) -> Vec3 {
        self.position() + self.turned(s)
    }

    /// Where a point of the world lies in the body.
    fn seen(&self, p: &Vec3) -> Vec3 {
        let apart = p - self.position();
        Vec3::from_fn(|k, _| self.director(k).map_or(0.0, |d| d.dot(&apart)))
    }
}

impl Tangent for PairTangent {
    fn coordinates(&self) -> &[usize] {
        &self.block
    }

    fn directions(&self) -> usize {
        2
    }

    fn coefficients(&self, q: &[f64], _t: f64, out: &mut [f64]) {
        let (n, p) = self.touch(q);
        let points = [self.body(q, false).seen(&p), self.body(q, true).seen(&p)];
        for (row, t) in out.chunks_exact_mut(self.block.len()).zip(across(&n)) {
            let (one, other) = row.split_at_mut(self.first);
            fill(one, &t, &points[0]);
            fill(other, &-t, &points[1]);
        }
    }

    fn frame(&self, q: &[f64], _t: f64) -> Option<[[f64; 3]; 3]> {
        let (n, _) = self.touch(q);
        let [first, second] = across(&n);
        Some([n, first, second].map(Into::into))
    }

    fn touch(&self, q: &[f64], t: f64) -> Option<([f64; 3], [[f64; 3]; 3])> {
        let (_, point) = PairTangent::touch(self, q);
        let sign = if self.turned_round { -1.0 } else { 1.0 };
        Some((point.into(), self.frame(q, t)?.map(|axis| axis.map(|x| sign * x))))
    }
}
