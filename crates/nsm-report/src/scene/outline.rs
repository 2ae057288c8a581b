//! Curves where a function of the plane vanishes: floors, walls, tracks.

use nsm_geom::Vec3;

/// A rectangle of the plane: lower left and upper right corner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Window {
    pub(super) low: [f64; 2],
    pub(super) high: [f64; 2],
}

impl Window {
    /// The window that holds all points, with some room about them and not too narrow.
    pub(super) fn around(points: impl Iterator<Item = Vec3>) -> Option<Self> {
        let (mut low, mut high) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
        for p in points.filter(|p| p.iter().all(|x| x.is_finite())) {
            for (i, x) in [p.x, p.y].into_iter().enumerate() {
                low[i] = low[i].min(x);
                high[i] = high[i].max(x);
            }
        }
        let size = (high[0] - low[0]).max(high[1] - low[1]);
        if !size.is_finite() {
            return None;
        }
        let size = if size > 0.0 { size } else { 1.0 };
        for i in 0..2 {
            let room = 0.12 * size + 0.5 * (0.35 * size - (high[i] - low[i])).max(0.0);
            low[i] -= room;
            high[i] += room;
        }
        Some(Self { low, high })
    }
}

/// Squares along each side of the window.
const GRID: usize = 120;

/// The curves in the window on which `f` vanishes, by marching squares; where `f` is not finite, none.
pub(super) fn zero_level(window: Window, f: impl Fn(f64, f64) -> f64) -> Vec<Vec<Vec3>> {
    let at = |i: usize, axis: usize| {
        window.low[axis] + (window.high[axis] - window.low[axis]) * i as f64 / GRID as f64
    };
    let values: Vec<f64> = (0..=GRID)
        .flat_map(|j| (0..=GRID).map(move |i| (i, j)))
        .map(|(i, j)| {
            let v = f(at(i, 0), at(j, 1));
            // A zero on a grid point counts as positive: every crossing lies inside an edge.
            if v == 0.0 { f64::MIN_POSITIVE } else { v }
        })
        .collect();
    let value = |i: usize, j: usize| values[j * (GRID + 1) + i];
    // Edges are numbered by their first grid point: 2k along x, 2k + 1 along y.
    let crossing = |a: (usize, usize), b: (usize, usize)| -> Option<(usize, Vec3)> {
        let (va, vb) = (value(a.0, a.1), value(b.0, b.1));
        if !(va * vb < 0.0 && va.is_finite() && vb.is_finite()) {
            return None;
        }
        let s = va / (va - vb);
        let mix = |axis: usize, p: usize, q: usize| at(p, axis) + s * (at(q, axis) - at(p, axis));
        let place = Vec3::new(mix(0, a.0, b.0), mix(1, a.1, b.1), 0.0);
        Some((2 * (a.1 * (GRID + 1) + a.0) + usize::from(a.0 == b.0), place))
    };
    let mut segments: Vec<[(usize, Vec3); 2]> = Vec::new();
    for j in 0..GRID {
        for i in 0..GRID {
            let found: Vec<(usize, Vec3)> = [
                crossing((i, j), (i + 1, j)),
                crossing((i + 1, j), (i + 1, j + 1)),
                crossing((i, j + 1), (i + 1, j + 1)),
                crossing((i, j), (i, j + 1)),
            ]
            .into_iter()
            .flatten()
            .collect();
            // Four crossings are a saddle: two segments, either way.
            segments.extend(found.chunks_exact(2).map(|pair| [pair[0], pair[1]]));
        }
    }
    chained(&segments).iter().map(|chain| without_middles(chain)).collect()
}

/// Segments that share an edge become one curve.
fn chained(segments: &[[(usize, Vec3); 2]]) -> Vec<Vec<Vec3>> {
    let mut at_edge: std::collections::BTreeMap<usize, Vec<usize>> =
        std::collections::BTreeMap::new();
    for (k, segment) in segments.iter().enumerate() {
        for (edge, _) in segment {
            at_edge.entry(*edge).or_default().push(k);
        }
    }
    let mut used = vec![false; segments.len()];
    let mut curves = Vec::new();
    for first in 0..segments.len() {
        if std::mem::replace(&mut used[first], true) {
            continue;
        }
        let [tail, head] = segments[first];
        let mut curve = std::collections::VecDeque::from([tail.1, head.1]);
        for (mut edge, forward) in [(head.0, true), (tail.0, false)] {
            while let Some(&next) = at_edge[&edge].iter().find(|&&k| !used[k]) {
                used[next] = true;
                let [a, b] = segments[next];
                let far = if a.0 == edge { b } else { a };
                edge = far.0;
                if forward {
                    curve.push_back(far.1);
                } else {
                    curve.push_front(far.1);
                }
            }
        }
        curves.push(curve.into());
    }
    curves
}

/// Drops points that lie on the line between their neighbours.
fn without_middles(curve: &[Vec3]) -> Vec<Vec3> {
    let mut out: Vec<Vec3> = Vec::with_capacity(curve.len());
    for p in curve {
        if let [.., a, b] = out[..] {
            let (u, v) = ((b - a), (p - b));
            if u.cross(&v).norm() <= 1e-6 * u.norm() * v.norm() && u.dot(&v) >= 0.0 {
                out.pop();
            }
        }
        out.push(*p);
    }
    out
}

/// The circle on which all points lie, if they do: its centre.
pub(super) fn circle_centre(points: &[Vec3]) -> Option<Vec3> {
    if points.len() < 8 {
        return None;
    }
    let n = points.len() as f64;
    let mean = points.iter().sum::<Vec3>() / n;
    // Least squares of |p|² = 2 c·p + k about the mean, where the linear terms vanish.
    let (mut xx, mut xy, mut yy, mut rx, mut ry) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for p in points {
        let d = p - mean;
        let square = d.norm_squared();
        xx += d.x * d.x;
        xy += d.x * d.y;
        yy += d.y * d.y;
        rx += 0.5 * square * d.x;
        ry += 0.5 * square * d.y;
    }
    let det = xx * yy - xy * xy;
    if det <= 1e-9 * (xx + yy) * (xx + yy) {
        return None;
    }
    let centre = mean + Vec3::new((rx * yy - ry * xy) / det, (ry * xx - rx * xy) / det, 0.0);
    let radius = points.iter().map(|p| (p - centre).norm()).sum::<f64>() / n;
    let round = points.iter().all(|p| ((p - centre).norm() - radius).abs() < 3e-3 * radius);
    round.then_some(centre)
}
