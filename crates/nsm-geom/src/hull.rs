//! Convex hull of points in space, as a triangulated surface.
//!
//! Incremental insertion with exact orientation tests: a point is added if it lies strictly outside some
//! face, the faces it sees are removed and their horizon is joined to it. With an exact test the surface
//! stays a closed convex one for every input, coplanar and collinear points included; no tolerance enters
//! except in deciding that the input is flat.

use std::{cmp::Ordering, collections::HashSet};

use crate::{GeomError, Vec3, predicates::orient3d};

/// Points closer to a common plane than this fraction of their extent are called coplanar, and points
/// closer to each other than a hundredth of it are one.
pub(crate) const FLATNESS: f64 = 1e-10;

/// Outward-oriented triangles (counter-clockwise seen from outside) on the hull of `points`.
pub(crate) fn convex_hull(points: &[Vec3]) -> Result<Vec<[usize; 3]>, GeomError> {
    let mut faces = first_tetrahedron(points)?;
    let used = faces.clone();
    let mut seen = Vec::new();
    let mut edges = HashSet::new();
    for p in 0..points.len() {
        if used.iter().any(|f| f.contains(&p)) {
            continue;
        }
        seen.clear();
        faces.retain(|&[a, b, c]| {
            let visible =
                orient3d(&points[a], &points[b], &points[c], &points[p]) == Ordering::Less;
            if visible {
                seen.push([a, b, c]);
            }
            !visible
        });
        edges.clear();
        edges.extend(seen.iter().flat_map(|&[a, b, c]| [(a, b), (b, c), (c, a)]));
        // The horizon: edges that what the point sees has on one side only.
        for &[a, b, c] in &seen {
            for (u, v) in [(a, b), (b, c), (c, a)] {
                if !edges.contains(&(v, u)) {
                    faces.push([u, v, p]);
                }
            }
        }
    }
    Ok(faces)
}

/// Four points spanning space, as four outward-oriented faces.
fn first_tetrahedron(points: &[Vec3]) -> Result<Vec<[usize; 3]>, GeomError> {
    if points.iter().any(|p| p.iter().any(|c| !c.is_finite())) {
        return Err(GeomError::NotFinite { what: "polyhedron vertex" });
    }
    let flat = |dimension| GeomError::DegeneratePolyhedron { points: points.len(), dimension };
    let farthest = |measure: &dyn Fn(&Vec3) -> f64| {
        points.iter().enumerate().map(|(i, p)| (i, measure(p))).max_by(|a, b| a.1.total_cmp(&b.1))
    };
    let Some((i0, _)) = farthest(&|p| -p.x) else { return Err(flat(0)) };
    let p0 = points[i0];
    let (i1, extent) = farthest(&|p| (p - p0).norm()).ok_or(flat(0))?;
    if extent == 0.0 {
        return Err(flat(0));
    }
    let along = (points[i1] - p0) / extent;
    let (i2, width) = farthest(&|p| (p - p0).cross(&along).norm()).ok_or(flat(1))?;
    if width <= FLATNESS * extent {
        return Err(flat(1));
    }
    let normal = along.cross(&(points[i2] - p0)).normalize();
    let (i3, height) = farthest(&|p| (p - p0).dot(&normal).abs()).ok_or(flat(2))?;
    if height <= FLATNESS * extent {
        return Err(flat(2));
    }
    let (a, b) = match orient3d(&points[i0], &points[i1], &points[i2], &points[i3]) {
        Ordering::Greater => (i0, i1),
        _ => (i1, i0),
    };
    Ok(vec![[a, b, i2], [b, a, i3], [i2, b, i3], [a, i2, i3]])
}
