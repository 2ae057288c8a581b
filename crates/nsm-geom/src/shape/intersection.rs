//! Intersections of convex shapes.
//!
//! The support point of $\mathcal B_1\cap\dots\cap\mathcal B_k$ solves a convex program,
//! $$ \max u\cdot z \quad\text{subject to}\quad g_i(z) \le 0, $$
//! where the parts are written as smooth convex inequalities: half-spaces for flat faces, quadratics for
//! round ones, squared distances for rounded ones. It is in general neither of the parts' support points.
//! A logarithmic barrier follows the central path from an interior point found once, at
//! construction, by minimising $\max_i\psi_i(z)$ with the ellipsoid method; that same search proves an
//! intersection empty.
//!
//! Parts bounded by planes alone are first replaced by their exact intersection, a
//! polyhedron; if nothing else remains, that is the answer.

use super::{Placed, Shape, half_spaces};
use crate::{GeomError, Mat3, Vec3};

/// An intersection of convex shapes with non-empty interior, made by [`Shape::intersection`].
#[derive(Debug, Clone, PartialEq)]
pub struct Intersection {
    parts: Vec<Shape>,
    inner: Vec3,
    /// Radius of a ball about `inner` that holds the intersection.
    reach: f64,
}

impl Intersection {
    fn flatten(parts: Vec<Shape>) -> Result<Vec<Shape>, GeomError> {
        let mut flat = Vec::with_capacity(parts.len());
        for part in parts {
            match part {
                Shape::Intersection(inner) => flat.extend(inner.parts),
                Shape::Placed(placed) if matches!(placed.shape, Shape::Intersection(_)) => {
                    let Placed { pose, shape } = *placed;
                    if let Shape::Intersection(inner) = shape {
                        flat.extend(inner.parts.into_iter().map(|p| p.placed(pose)));
                    }
                }
                other => flat.push(other),
            }
        }
        if flat.is_empty() {
            return Err(GeomError::NoParts { what: "intersection" });
        }
        if flat.iter().any(|p| !p.is_convex()) {
            return Err(GeomError::NotConvex { what: "an intersection's support" });
        }
        if flat.iter().any(Shape::rounds_an_intersection) {
            return Err(GeomError::Unsupported { what: "intersecting a rounded intersection" });
        }
        Ok(flat)
    }

    /// The parts.
    pub fn parts(&self) -> &[Shape] {
        &self.parts
    }

    /// A point in the interior, about as deep as any.
    pub fn inner_point(&self) -> &Vec3 {
        &self.inner
    }

    /// Radius of a ball about the inner point that holds the intersection.
    pub(crate) fn reach(&self) -> f64 {
        self.reach
    }

    /// The point of the intersection with $u\cdot z$ largest: to round-off where up to three surfaces meet in
    /// it, from inside to about $10^{-12}$ of the size otherwise. Of a whole face, one point.
    pub fn support(&self, u: &Vec3) -> Vec3 {
        super::barrier::highest_point(self, u)
    }
}

impl Shape {
    /// The intersection of convex shapes: a polyhedron if all are bounded by planes, the shape itself if it
    /// is the only one, an [`Intersection`] otherwise. Nested intersections are flattened.
    ///
    /// # Errors
    /// [`GeomError::NoParts`], [`GeomError::NotConvex`] if a part is a union, [`GeomError::Unsupported`] if
    /// a part is a rounded intersection, [`GeomError::EmptyIntersection`] if the parts have no common interior.
    pub fn intersection(parts: Vec<Self>) -> Result<Self, GeomError> {
        let parts = Intersection::flatten(parts)?;
        let (inner, reach) = deepest_point(&parts)?;
        let (flat, mut parts): (Vec<_>, Vec<_>) = parts.into_iter().partition(Self::is_polyhedral);
        if flat.len() > 1 {
            parts.push(Self::Polyhedron(half_spaces::intersect(&flat, &inner)?));
        } else {
            parts.extend(flat);
        }
        if parts.len() == 1 {
            return parts.pop().ok_or(GeomError::NoParts { what: "intersection" });
        }
        Ok(Self::Intersection(Box::new(Intersection { parts, inner, reach })))
    }

    fn rounds_an_intersection(&self) -> bool {
        match self {
            Self::Placed(p) => p.shape.rounds_an_intersection(),
            Self::Rounded(r) => matches!(r.shape, Self::Intersection(_)),
            _ => false,
        }
    }

    /// Centre and half diagonal of the bounding box.
    fn bounding_ball(&self) -> (Vec3, f64) {
        let mut low = Vec3::zeros();
        let mut high = Vec3::zeros();
        for i in 0..3 {
            let e = Vec3::ith(i, 1.0);
            high[i] = self.support(&e)[i];
            low[i] = self.support(&-e)[i];
        }
        (0.5 * (low + high), 0.5 * (high - low).norm())
    }
}

/// Minimises $F(z) = \max_i\psi_i(z)$, convex, by the ellipsoid method from the smallest part's bounding
/// ball; each step halves the ellipsoid with a subgradient cut through its centre.
fn deepest_point(parts: &[Shape]) -> Result<(Vec3, f64), GeomError> {
    let Some((mut z, radius)) =
        parts.iter().map(Shape::bounding_ball).min_by(|a, b| a.1.total_cmp(&b.1))
    else {
        return Err(GeomError::NoParts { what: "intersection" });
    };
    let start = z;
    let mut shape = Mat3::identity() * (radius * radius);
    let mut best = (f64::INFINITY, z);
    for _ in 0..600 {
        let mut value = f64::NEG_INFINITY;
        let mut gradient = None;
        for part in parts {
            let psi = part.signed_distance(&z);
            if psi.value > value {
                (value, gradient) = (psi.value, psi.gradient);
            }
        }
        if value < best.0 {
            best = (value, z);
        }
        let Some(g) = gradient else {
            if value < 0.0 {
                break;
            }
            // On a ridge or edge: any nearby point has a gradient.
            z += Vec3::new(0.41, 0.53, 0.74) * (1e-9 * radius);
            continue;
        };
        let pg = shape * g;
        let width = g.dot(&pg).sqrt();
        // No point of the ellipsoid is deeper than this.
        if value - width > 0.0 {
            return Err(GeomError::EmptyIntersection { gap: value - width });
        }
        if best.0 - (value - width) <= 1e-3 * best.0.abs() || width <= 1e-14 * radius {
            break;
        }
        // n = 3: centre moves by 1/4 of the width, the ellipsoid shrinks by 9/8(I − ggᵀ/2).
        z -= pg / (4.0 * width);
        shape = (shape - pg * pg.transpose() * (0.5 / (width * width))) * 1.125;
    }
    if best.0 < -1e-12 * radius {
        Ok((best.1, radius + (best.1 - start).norm()))
    } else {
        Err(GeomError::EmptyIntersection { gap: best.0 })
    }
}
