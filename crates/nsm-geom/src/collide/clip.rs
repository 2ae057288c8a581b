//! The part of a polygon that lies above a face: Sutherland and Hodgman, with names.
//!
//! A corner is named by the two edges that meet in it, so that it keeps its name while both polygons move.

use crate::Vec3;

/// A corner of a polygon, and the names of the edges that end and begin there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Corner {
    pub(super) point: Vec3,
    pub(super) before: u32,
    pub(super) after: u32,
}

/// Edges of the clipping face have names from here on.
pub(super) const CLIPPING: u32 = 1 << 12;

impl Corner {
    pub(super) fn name(&self) -> u64 {
        u64::from(self.before) << 16 | u64::from(self.after)
    }
}

/// Makes corners of a polygon, a segment or a point.
pub(super) fn corners(points: impl Iterator<Item = Vec3>, polygon: &mut Vec<Corner>) {
    polygon.clear();
    polygon.extend(points.map(|point| Corner { point, before: 0, after: 0 }));
    let n = polygon.len();
    for (k, corner) in polygon.iter_mut().enumerate() {
        corner.after = u32::try_from(k).unwrap_or(0);
        corner.before = u32::try_from((k + n - 1) % n).unwrap_or(0);
    }
}

/// Keeps what lies on the inner side of the plane $m\cdot z \le d$, whose edge is `name`; points beyond it by less than `tolerance` stay.
pub(super) fn keep_inside(
    polygon: &mut Vec<Corner>,
    clipped: &mut Vec<Corner>,
    (m, d, name): (&Vec3, f64, u32),
    tolerance: f64,
) {
    clipped.clear();
    let n = polygon.len();
    let height = |c: &Corner| m.dot(&c.point) - d;
    // A segment is no loop: its two ends are joined once.
    let sides = if n == 2 { 1 } else { n };
    if n == 1 {
        polygon.retain(|c| height(c) <= tolerance);
        return;
    }
    for k in 0..n {
        let (c, next) = (&polygon[k], &polygon[(k + 1) % n]);
        let (h, h_next) = (height(c), height(next));
        let inside = h <= tolerance;
        if inside {
            clipped.push(*c);
        }
        if k < sides && inside != (h_next <= tolerance) {
            let t = h / (h - h_next);
            let point = c.point + (next.point - c.point) * t;
            clipped.push(if inside {
                Corner { point, before: c.after, after: name }
            } else {
                Corner { point, before: name, after: c.after }
            });
        }
    }
    std::mem::swap(polygon, clipped);
}
