//! A film as a strip: some instants of a scene side by side, as one SVG that needs no script.
//!
//! Seen from afar, without perspective: a plane as it lies, a space across the direction in which it is thinnest, a little from above and from the side.
//! Faces are drawn from the back to the front, those that look away left out, brighter the more they look at the light.

use std::fmt::Write;

use nsm_geom::{Mat3, Vec3, so3};

use super::{Arrow, Mesh, Scene};
use crate::plot::COLOURS;

/// Pictures in a strip, and in each of its rows.
const FRAMES: usize = 8;
const IN_A_ROW: usize = 4;
/// Width of one, and how high it may be.
const WIDE: f64 = 200.0;
const HIGH: [f64; 2] = [60.0, 240.0];
/// Room about the scene, and for the instant below it.
const ROOM: f64 = 8.0;
const LINE: f64 = 18.0;

/// Rims.
const INK: &str = r#"stroke="var(--ink)" stroke-width="0.4" stroke-linejoin="round""#;
/// Faces beyond which a part of a body is round, and drawn by its outline.
const ROUND: usize = 40;

/// What is drawn, by its depth.
struct Stroke {
    depth: f64,
    svg: String,
}

/// Places of the paper: across, up, and towards the eye.
struct View {
    turn: Mat3,
    /// Lower left of each picture, and the size of all.
    low: Vec<[f64; 2]>,
    size: [f64; 2],
    unit: f64,
}

impl View {
    fn of(scene: &Scene, frames: &[usize]) -> Option<Self> {
        let places: Vec<Vec<Vec3>> = frames.iter().map(|&k| corners(scene, k)).collect();
        let turn = if scene.spatial { looking(&places.concat()) } else { Mat3::identity() };
        let windows: Vec<[[f64; 2]; 2]> = places
            .iter()
            .map(|places| {
                let (mut low, mut high) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
                for p in places.iter().map(|p| turn * p).filter(|p| p.iter().all(|x| x.is_finite()))
                {
                    for i in 0..2 {
                        low[i] = low[i].min(p[i]);
                        high[i] = high[i].max(p[i]);
                    }
                }
                [low, high]
            })
            .collect();
        let mut whole = windows[0];
        let mut widest = [0.0_f64; 2];
        for [low, high] in &windows {
            for i in 0..2 {
                whole[0][i] = whole[0][i].min(low[i]);
                whole[1][i] = whole[1][i].max(high[i]);
                widest[i] = widest[i].max(high[i] - low[i]);
            }
        }
        // What travels by more than twice its size is followed.
        let extent: [f64; 2] = std::array::from_fn(|i| whole[1][i] - whole[0][i]);
        let follow = extent[0].max(extent[1]) > 2.0 * widest[0].max(widest[1]);
        let extent = if follow { widest.map(|w| 1.3 * w) } else { extent };
        if !(extent[0].max(extent[1]).is_finite() && extent[0].max(extent[1]) > 0.0) {
            return None;
        }
        let room = [WIDE - 2.0 * ROOM, HIGH[1] - 2.0 * ROOM];
        let unit = (room[0] / extent[0]).min(room[1] / extent[1]);
        let tall = (unit * extent[1] + 2.0 * ROOM).max(HIGH[0]);
        let half = [0.5 * room[0] / unit, 0.5 * (tall - 2.0 * ROOM) / unit];
        let low = windows
            .iter()
            .map(|window| {
                let [low, high] = if follow { window } else { &whole };
                std::array::from_fn(|i| 0.5 * (low[i] + high[i]) - half[i])
            })
            .collect();
        Some(Self { turn, low, size: [WIDE, tall], unit })
    }

    /// Across, down, and towards the eye.
    fn place(&self, k: usize, p: &Vec3) -> [f64; 3] {
        let p = self.turn * p;
        [
            ROOM + self.unit * (p.x - self.low[k][0]),
            self.size[1] - ROOM - self.unit * (p.y - self.low[k][1]),
            p.z,
        ]
    }

    fn path(&self, k: usize, points: &[Vec3], closed: bool) -> (f64, String) {
        let (mut d, mut depth) = (String::new(), 0.0);
        for (i, p) in points.iter().map(|p| self.place(k, p)).enumerate() {
            let _ = write!(d, "{}{:.1} {:.1}", if i == 0 { "M" } else { "L" }, p[0], p[1]);
            depth += p[2] / points.len() as f64;
        }
        (depth, if closed { d + "Z" } else { d })
    }
}

/// All places of a frame.
fn corners(scene: &Scene, frame: usize) -> Vec<Vec3> {
    let mut all = Vec::new();
    for point in &scene.points {
        let at = at(&point.path, frame);
        let r = point.radius.unwrap_or(0.0);
        all.extend([at + Vec3::new(r, r, r), at - Vec3::new(r, r, r)]);
    }
    for body in &scene.bodies {
        all.extend(body.mesh.vertices.iter().map(|v| body.poses[frame].act(v)));
    }
    all.extend(scene.polylines.iter().flat_map(|line| line.frames[frame].iter().copied()));
    all
}

fn at(path: &[Vec3], frame: usize) -> Vec3 {
    path[if path.len() == 1 { 0 } else { frame }]
}

/// The turn to the paper: along x or y, whichever the places lie closer in, a little askew, with z up; from above what lies flat.
fn looking(all: &[Vec3]) -> Mat3 {
    let spread = |k: usize| {
        let ends = all
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |e, p| (e.0.min(p[k]), e.1.max(p[k])));
        ends.1 - ends.0
    };
    let (x, y, z) = (spread(0), spread(1), spread(2));
    let flat = if z < 0.3 * x.min(y) {
        Mat3::identity()
    } else if y <= x {
        // From the front: x across, z up.
        Mat3::from_row_slice(&[1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, -1.0, 0.0])
    } else {
        Mat3::from_row_slice(&[0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0])
    };
    so3::exp(&Vec3::new(0.3, 0.0, 0.0)) * so3::exp(&Vec3::new(0.0, -0.4, 0.0)) * flat
}

impl Scene {
    /// The scene as a strip of pictures; nothing if there is nothing to see.
    pub fn strip(&self) -> Option<String> {
        if self.is_empty() {
            return None;
        }
        let last = self.times.len() - 1;
        let count = FRAMES.min(last + 1);
        let frames: Vec<usize> = (0..count).map(|k| k * last / (count - 1)).collect();
        let view = View::of(self, &frames)?;
        let rows = count.div_ceil(IN_A_ROW);
        let (wide, high) = (view.size[0], view.size[1] + LINE);
        let mut svg = format!(
            r#"<svg class="plot" viewBox="0 0 {:.0} {:.0}" role="img" aria-label="film">"#,
            wide * count.min(IN_A_ROW) as f64,
            high * rows as f64
        );
        for (k, &frame) in frames.iter().enumerate() {
            let (column, row) = (k % IN_A_ROW, k / IN_A_ROW);
            let _ = write!(
                svg,
                r#"<g transform="translate({:.0} {:.1})"><path class="grid" d="M0 0h{wide}v{high:.1}h-{wide}z"/>{}<text x="{:.0}" y="{:.1}" text-anchor="middle">t = {}</text></g>"#,
                wide * column as f64,
                high * row as f64,
                self.picture(&view, k, frame),
                0.5 * wide,
                high - 6.0,
                short(self.times[frame])
            );
        }
        Some(svg + "</svg>")
    }

    fn picture(&self, view: &View, k: usize, frame: usize) -> String {
        let mut strokes = Vec::new();
        let line = |points: &[Vec3], colour: &str, width: f64| {
            let (depth, d) = view.path(k, points, false);
            let svg = format!(
                r#"<path d="{d}" fill="none" stroke="{colour}" stroke-width="{width}" stroke-linejoin="round"/>"#
            );
            Stroke { depth, svg }
        };
        for outline in &self.outlines {
            strokes.push(line(outline, "var(--line)", 1.5));
        }
        for link in &self.links {
            let ends = [link.from, link.to].map(|p| at(&self.points[p].path, frame));
            strokes.push(line(&ends, "var(--ink)", if link.spring { 0.7 } else { 1.2 }));
        }
        for (i, polyline) in self.polylines.iter().enumerate() {
            strokes.push(line(&polyline.frames[frame], COLOURS[i % COLOURS.len()], 2.0));
        }
        let light = Vec3::new(0.3, 0.6, 0.75).normalize();
        for (b, body) in self.bodies.iter().map(super::Body::right_handed).enumerate() {
            let pose = &body.poses[frame];
            let corners: Vec<Vec3> = body.mesh.vertices.iter().map(|v| pose.act(v)).collect();
            for edge in &body.mesh.edges {
                strokes.push(line(&edge.map(|i| corners[i]), "var(--ink)", 0.8));
            }
            let colour = rgb(COLOURS[b % COLOURS.len()]);
            for part in parts(&body.mesh) {
                if part.len() > ROUND {
                    let seen: Vec<usize> =
                        part.iter().flat_map(|face| face.iter().copied()).collect();
                    strokes.push(silhouette(view, k, &corners, &seen, colour));
                    continue;
                }
                for face in part {
                    let points: Vec<Vec3> = face.iter().map(|&i| corners[i]).collect();
                    let Some(normal) = normal(&points).map(|n| view.turn * n) else { continue };
                    if normal.z > 0.0 {
                        let (depth, d) = view.path(k, &points, true);
                        let fill = shade(colour, 0.55 + 0.45 * normal.dot(&light).max(0.0));
                        let svg = format!(r#"<path d="{d}" fill="{fill}" {INK}/>"#);
                        strokes.push(Stroke { depth, svg });
                    }
                }
            }
        }
        for (i, point) in self.points.iter().enumerate() {
            let [x, y, depth] = view.place(k, &at(&point.path, frame));
            let r = point.radius.map_or(3.0, |r| (r * view.unit).max(1.5));
            let colour = COLOURS[(self.bodies.len() + i) % COLOURS.len()];
            let svg =
                format!(r#"<circle cx="{x:.1}" cy="{y:.1}" r="{r:.1}" fill="{colour}" {INK}/>"#);
            strokes.push(Stroke { depth, svg });
        }
        strokes.sort_by(|a, b| a.depth.total_cmp(&b.depth));
        let drawn: String = strokes.into_iter().map(|stroke| stroke.svg).collect();
        let forces = self.forces.get(frame).map_or(&[][..], Vec::as_slice);
        let arrows: String = forces.iter().map(|ends| arrow(view, k, ends)).collect();
        self.ground(view, k, frame) + &drawn + &arrows
    }

    /// Planes behind everything: their lines across the picture, as far as the scene reaches.
    fn ground(&self, view: &View, k: usize, frame: usize) -> String {
        let all = corners(self, frame);
        let Some(first) = all.first() else { return String::new() };
        let (low, high) = all.iter().fold((*first, *first), |(a, b), p| (a.inf(p), b.sup(p)));
        let mut svg = String::new();
        for plane in &self.planes {
            let n = plane.normal();
            let (middle, reach) = (0.5 * (low + high), 0.6 * (high - low).norm());
            let foot = middle - n * (n.dot(&middle) - plane.offset());
            let side = if n.x.abs() < 0.9 { Vec3::x() } else { Vec3::y() };
            let (a, b) = (n.cross(&side).normalize(), n.cross(&n.cross(&side)).normalize());
            let rim: Vec<Vec3> = [(1.0, 1.0), (1.0, -1.0), (-1.0, -1.0), (-1.0, 1.0)]
                .map(|(s, t)| foot + (a * s + b * t) * reach)
                .to_vec();
            let (_, d) = view.path(k, &rim, true);
            let _ = write!(svg, r#"<path d="{d}" fill="var(--line)" fill-opacity="0.35"/>"#);
        }
        // A plane reaches beyond its picture.
        if svg.is_empty() {
            return svg;
        }
        let [wide, high] = view.size;
        format!(r#"<svg width="{wide}" height="{high:.1}">{svg}</svg>"#)
    }
}

/// A force, in front of everything: it begins inside of bodies.
fn arrow(view: &View, k: usize, ends: &Arrow) -> String {
    let [a, b] = ends.map(|p| view.place(k, &p));
    let (x, y) = (b[0] - a[0], b[1] - a[1]);
    let length = x.hypot(y);
    if length < 1.0 {
        return String::new();
    }
    let head = (0.5 * length).min(5.0);
    let (ux, uy) = (head * x / length, head * y / length);
    format!(
        r#"<path d="M{:.1} {:.1}L{:.1} {:.1}" stroke="var(--ink)" stroke-width="1.2"/><path d="M{:.1} {:.1}L{:.1} {:.1}L{:.1} {:.1}Z" fill="var(--ink)"/>"#,
        a[0],
        a[1],
        b[0] - ux,
        b[1] - uy,
        b[0],
        b[1],
        b[0] - ux - 0.4 * uy,
        b[1] - uy + 0.4 * ux,
        b[0] - ux + 0.4 * uy,
        b[1] - uy - 0.4 * ux,
    )
}

/// The parts of a surface that hang together, as lists of faces.
fn parts(mesh: &Mesh) -> Vec<Vec<&[usize]>> {
    // Parts are joined one behind the other: a face that begins beyond all corners so far begins a new one.
    let (mut parts, mut last): (Vec<Vec<&[usize]>>, usize) = (Vec::new(), 0);
    for face in &mesh.faces {
        let first = face.iter().copied().min().unwrap_or(0);
        if first > last || parts.is_empty() {
            parts.push(Vec::new());
        }
        last = face.iter().copied().fold(last, usize::max);
        if let Some(part) = parts.last_mut() {
            part.push(face);
        }
    }
    parts
}

/// The outline of a convex part: the hull of its corners on the paper.
fn silhouette(view: &View, k: usize, corners: &[Vec3], seen: &[usize], colour: [f64; 3]) -> Stroke {
    let mut places: Vec<[f64; 3]> = seen.iter().map(|&i| view.place(k, &corners[i])).collect();
    let depth = places.iter().map(|p| p[2]).sum::<f64>() / places.len().max(1) as f64;
    places.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
    places.dedup_by(|a, b| a[0] == b[0] && a[1] == b[1]);
    let turns = |o: &[f64; 3], a: &[f64; 3], b: &[f64; 3]| {
        (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0])
    };
    let chain = |places: &mut dyn Iterator<Item = [f64; 3]>| {
        let mut hull: Vec<[f64; 3]> = Vec::new();
        for p in places {
            while hull.len() > 1 && turns(&hull[hull.len() - 2], &hull[hull.len() - 1], &p) <= 0.0 {
                hull.pop();
            }
            hull.push(p);
        }
        hull.pop();
        hull
    };
    let mut hull = chain(&mut places.iter().copied());
    hull.extend(chain(&mut places.iter().rev().copied()));
    let mut d = String::new();
    for (i, p) in hull.iter().enumerate() {
        let _ = write!(d, "{}{:.1} {:.1}", if i == 0 { "M" } else { "L" }, p[0], p[1]);
    }
    let svg = format!(r#"<path d="{d}Z" fill="{}" {INK}/>"#, shade(colour, 0.85));
    Stroke { depth, svg }
}

/// Red, green and blue of `#rrggbb`.
fn rgb(colour: &str) -> [f64; 3] {
    let part =
        |at: usize| u8::from_str_radix(colour.get(at..at + 2).unwrap_or("0"), 16).unwrap_or(0);
    [1, 3, 5].map(|at| f64::from(part(at)))
}

fn shade(colour: [f64; 3], bright: f64) -> String {
    let [r, g, b] = colour.map(|c| (c * bright).round());
    format!("rgb({r},{g},{b})")
}

/// The normal of a polygon; none if it has no area.
fn normal(points: &[Vec3]) -> Option<Vec3> {
    let first = points.first()?;
    let around = points
        .windows(2)
        .fold(Vec3::zeros(), |sum, pair| sum + (pair[0] - first).cross(&(pair[1] - first)));
    around.try_normalize(f64::MIN_POSITIVE)
}

/// A time with three digits.
fn short(t: f64) -> String {
    let mut places = 0;
    let mut scaled = t.abs();
    while scaled > 0.0 && scaled < 100.0 && places < 9 {
        scaled *= 10.0;
        places += 1;
    }
    let text = format!("{t:.places$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}
