//! The points of a curve as a path, without those that the eye would not miss.

use std::fmt::Write;

/// Largest distance of a point that is left out from the line drawn instead, in units of the plot.
const TOLERANCE: f64 = 0.5;

/// The `d` attribute of a path; the pen is lifted over points that cannot be drawn.
pub(super) fn path(points: impl Iterator<Item = Option<[f64; 2]>>) -> String {
    let mut text = String::new();
    let mut piece: Vec<[f64; 2]> = Vec::new();
    for point in points.chain([None]) {
        if let Some(p) = point {
            piece.push(p);
        } else {
            write_piece(&piece, &mut text);
            piece.clear();
        }
    }
    text
}

fn write_piece(piece: &[[f64; 2]], text: &mut String) {
    // Tenths of the plot's unit, each point relative to the one before as it is drawn: short, and without drift.
    let tenths = |x: f64| (10.0 * x).round();
    let mut last = [0.0; 2];
    for (i, [x, y]) in simplified(piece).into_iter().enumerate() {
        let here = [tenths(x), tenths(y)];
        let step = [(here[0] - last[0]) / 10.0, (here[1] - last[1]) / 10.0];
        let _ = write!(text, "{}{} {}", if i == 0 { "M" } else { "l" }, step[0], step[1]);
        last = here;
    }
}

/// Ramer, Douglas and Peucker: keeps the point furthest from the chord as long as it is far enough.
fn simplified(points: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let Some(last) = points.len().checked_sub(1) else { return Vec::new() };
    let mut keep = vec![false; points.len()];
    keep[0] = true;
    keep[last] = true;
    let mut open = vec![(0, last)];
    while let Some((a, b)) = open.pop() {
        let far = (a + 1..b)
            .map(|i| (distance(points[i], points[a], points[b]), i))
            .max_by(|x, y| x.0.total_cmp(&y.0));
        if let Some((d, i)) = far
            && d > TOLERANCE
        {
            keep[i] = true;
            open.extend([(a, i), (i, b)]);
        }
    }
    points.iter().zip(keep).filter_map(|(p, keep)| keep.then_some(*p)).collect()
}

/// Distance of `p` from the segment between `a` and `b`.
fn distance(p: [f64; 2], a: [f64; 2], b: [f64; 2]) -> f64 {
    let (ab, ap) = ([b[0] - a[0], b[1] - a[1]], [p[0] - a[0], p[1] - a[1]]);
    let length2 = ab[0] * ab[0] + ab[1] * ab[1];
    let s = if length2 > 0.0 {
        ((ap[0] * ab[0] + ap[1] * ab[1]) / length2).clamp(0.0, 1.0)
    } else {
        0.0
    };
    (ap[0] - s * ab[0]).hypot(ap[1] - s * ab[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn straight_lines_lose_their_middle_and_corners_stay() {
        let line: Vec<[f64; 2]> = (0..100).map(|i| [f64::from(i), 2.0 * f64::from(i)]).collect();
        assert_eq!(simplified(&line).len(), 2);
        let corner = [[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [2.0, 5.0]];
        assert_eq!(simplified(&corner), [[0.0, 0.0], [2.0, 0.0], [2.0, 5.0]]);
        // There and back: the turning point is not on the (empty) chord.
        assert_eq!(simplified(&[[0.0, 0.0], [9.0, 0.0], [0.0, 0.0]]).len(), 3);
        let circle: Vec<[f64; 2]> = (0..=600)
            .map(|i| f64::from(i) / 95.493)
            .map(|a| [100.0 * a.cos(), 100.0 * a.sin()])
            .collect();
        let kept = simplified(&circle).len();
        assert!((30..120).contains(&kept), "{kept}");
    }

    #[test]
    fn the_pen_is_lifted_over_what_cannot_be_drawn() {
        let points = [Some([0.0, 0.0]), None, Some([1.0, 1.0]), Some([2.0, 1.0])];
        assert_eq!(path(points.into_iter()), "M0 0M1 1l1 0");
    }
}
