//! VTK for ParaView: a `.vtp` per recorded instant and a `.pvd` that says when each is.
//!
//! Bodies are meshes, beams lines, particles points. Every vertex $X$ of a body at $x$ with rotation $R$ carries its velocity
//! $\dot x + \dot R X$, every cell the index of its part. Contacts of bodies make a second series: impacts, each
//! shown at the first instant after it, and contacts that are held, with normal, impulse and force. Numbers are appended as they lie
//! in memory (`encoding="raw"`, 64-bit lengths).

use std::fmt::Write as _;
use std::io::{self, Write};

use nsm_geom::{Pose, Vec3};
use nsm_problem::{EventRecord, Form, Problem, RunResult, Subject, TouchRecord};

use crate::scene::Scene;

/// Opens a file by its name.
pub type Open<'a> = dyn FnMut(&str) -> io::Result<Box<dyn Write>> + 'a;

/// Writes the series of a run: `NAME.pvd` with `NAME-000000.vtp`, …, and, where bodies touched, `NAME-contacts.pvd` with its own.
///
/// # Errors
/// If a file cannot be written; if there is nothing to see, which has no picture either.
pub fn write(problem: &Problem, result: &RunResult, open: &mut Open<'_>) -> io::Result<()> {
    let scene = scene(problem, result, |_, row| row.to_vec());
    if scene.is_empty() {
        let message = format!(
            "run `{}` has nothing to see: its coordinates are no places; `[picture]` says what they move",
            result.name
        );
        return Err(io::Error::other(message));
    }
    let rates = velocities(problem, result, &scene);
    let frames = (0..scene.times.len()).map(|k| frame(&scene, &rates, k));
    series(&result.name, &scene.times, frames, open)?;
    let held = &result.recording.touches;
    let events = &result.recording.events;
    let struck = events.iter().any(|e| e.touches.iter().any(Option::is_some));
    if !struck && held.iter().all(Vec::is_empty) {
        return Ok(());
    }
    let mut done = 0;
    let frames = scene.times.iter().enumerate().map(|(k, t)| {
        let due = events[done..].iter().take_while(|e| e.t <= *t).count();
        let now = &events[done..done + due];
        done += due;
        touches(now, held.get(k).map_or(&[], Vec::as_slice), (*t, result.step))
    });
    series(&format!("{}-contacts", result.name), &scene.times, frames, open)
}

/// The scene of the recorded instants, each row changed by `change`.
fn scene(
    problem: &Problem,
    result: &RunResult,
    change: impl Fn(usize, &[f64]) -> Vec<f64>,
) -> Scene {
    let samples = &result.recording.samples;
    let film = samples.iter().enumerate().map(|(k, row)| change(k, row)).collect();
    let mut copy = result.clone();
    copy.recording.film = film;
    Scene::of(problem, &copy)
}

/// The rates at which points, poses and nodes of a scene change, in the same places.
fn velocities(problem: &Problem, result: &RunResult, scene: &Scene) -> Scene {
    if let (Form::Bodies(_), Subject::Rigid { world, .. }) =
        (&result.form, problem.subject_of(&result.name))
    {
        let mut rates = scene.clone();
        for (b, body) in rates.bodies.iter_mut().enumerate() {
            for (pose, row) in body.poses.iter_mut().zip(&result.recording.samples) {
                let r = &row[1 + 18 * b..];
                let (p, l) = (Vec3::new(r[12], r[13], r[14]), Vec3::new(r[15], r[16], r[17]));
                let own = &world.bodies()[b];
                // ṗ = m ẋ and Ṙ = R Ω^ with J Ω = L, about the body's own axes.
                let turn = own.inverse_inertia() * l;
                *pose = Pose { x: p * own.inverse_mass(), rot: pose.rot * turn.cross_matrix() };
            }
        }
        return rates;
    }
    // Places are linear in the coordinates of bodies, beams and particles, so that a central difference along the velocity is exact for
    // any length; formulas of `[picture]` are smooth, and the length a thousandth of a step.
    let n = result.recording.state_columns.len() / 3;
    let e = 1e-3 * result.step;
    let moved = |sign: f64| {
        scene_moved(problem, result, move |row| {
            let mut moved = row.to_vec();
            (1..=n).for_each(|c| moved[c] += sign * e * row[c + n]);
            moved
        })
    };
    let (ahead, behind) = (moved(1.0), moved(-1.0));
    let rate = |a: &Vec3, b: &Vec3| (a - b) / (2.0 * e);
    let mut rates = ahead;
    for (a, b) in rates.points.iter_mut().zip(&behind.points) {
        a.path.iter_mut().zip(&b.path).for_each(|(a, b)| *a = rate(a, b));
    }
    for (a, b) in rates.bodies.iter_mut().zip(&behind.bodies) {
        for (a, b) in a.poses.iter_mut().zip(&b.poses) {
            *a = Pose { x: rate(&a.x, &b.x), rot: (a.rot - b.rot) / (2.0 * e) };
        }
    }
    for (a, b) in rates.polylines.iter_mut().zip(&behind.polylines) {
        for (a, b) in a.frames.iter_mut().zip(&b.frames) {
            a.iter_mut().zip(b).for_each(|(a, b)| *a = rate(a, b));
        }
    }
    rates
}

fn scene_moved(
    problem: &Problem,
    result: &RunResult,
    change: impl Fn(&[f64]) -> Vec<f64>,
) -> Scene {
    scene(problem, result, |_, row| change(row))
}

/// Points with cells on them and numbers at both.
#[derive(Debug, Default)]
struct Data {
    points: Vec<Vec3>,
    verts: Vec<Vec<usize>>,
    lines: Vec<Vec<usize>>,
    polys: Vec<Vec<usize>>,
    /// Index of the part of each vertex, line and polygon.
    parts: [Vec<i64>; 3],
    vectors: Vec<(&'static str, Vec<Vec3>)>,
    scalars: Vec<(&'static str, Vec<f64>)>,
}

/// What is to be seen at one instant.
fn frame(scene: &Scene, rates: &Scene, k: usize) -> Data {
    let mut data = Data::default();
    let mut velocity = Vec::new();
    let mut part = 0;
    let at = |path: &[Vec3]| path.get(k).or(path.first()).copied().unwrap_or_default();
    for (body, rate) in scene.bodies.iter().zip(&rates.bodies) {
        let first = data.points.len();
        let (pose, rate) = (&body.poses[k], &rate.poses[k]);
        data.points.extend(body.mesh.vertices.iter().map(|v| pose.act(v)));
        velocity.extend(body.mesh.vertices.iter().map(|v| rate.x + rate.rot * v));
        let moved = |cell: &[usize]| cell.iter().map(|i| i + first).collect::<Vec<_>>();
        data.polys.extend(body.mesh.faces.iter().map(|f| moved(f)));
        data.parts[2].extend(body.mesh.faces.iter().map(|_| part));
        data.lines.extend(body.mesh.edges.iter().map(|e| moved(e)));
        data.parts[1].extend(body.mesh.edges.iter().map(|_| part));
        part += 1;
    }
    for (line, rate) in scene.polylines.iter().zip(&rates.polylines) {
        let first = data.points.len();
        data.points.extend(&line.frames[k]);
        velocity.extend(&rate.frames[k]);
        data.lines.push((first..data.points.len()).collect());
        data.parts[1].push(part);
        part += 1;
    }
    let first = data.points.len();
    for (point, rate) in scene.points.iter().zip(&rates.points) {
        data.verts.push(vec![data.points.len()]);
        data.parts[0].push(part);
        data.points.push(at(&point.path));
        velocity.push(if point.path.len() == 1 { Vec3::zeros() } else { at(&rate.path) });
        part += 1;
    }
    for link in &scene.links {
        data.lines.push(vec![first + link.from, first + link.to]);
        data.parts[1].push(part);
    }
    data.vectors.push(("velocity", velocity));
    data
}

/// The points of contact of events since the last instant, and of contacts that are held at this one: normal, impulse and force on the party that
/// is named first. An impact has no force, and what is held has the impulse of its step.
fn touches(events: &[EventRecord], held: &[TouchRecord], (t, step): (f64, f64)) -> Data {
    let mut data = Data::default();
    let (mut normals, mut impulses, mut forces) = (Vec::new(), Vec::new(), Vec::new());
    let (mut times, mut holds) = (Vec::new(), Vec::new());
    let struck =
        events.iter().flat_map(|e| e.touches.iter().flatten().map(|touch| (e.t, touch, false)));
    let held = held.iter().filter(|touch| touch.held).map(|touch| (t, &touch.touch, true));
    for (t, touch, held) in struck.chain(held) {
        data.verts.push(vec![data.points.len()]);
        data.parts[0].push(0);
        data.points.push(touch.point.into());
        let impulse = Vec3::from(touch.impulse);
        normals.push(touch.normal.into());
        impulses.push(impulse);
        forces.push(if held { impulse / step } else { Vec3::zeros() });
        times.push(t);
        holds.push(f64::from(u8::from(held)));
    }
    data.vectors.extend([("normal", normals), ("impulse", impulses), ("force", forces)]);
    data.scalars.extend([("time", times), ("held", holds)]);
    data
}

/// Writes frames and the file that lists them.
fn series(
    name: &str,
    times: &[f64],
    frames: impl Iterator<Item = Data>,
    open: &mut Open<'_>,
) -> io::Result<()> {
    let mut list = String::from(
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\" byte_order=\"LittleEndian\">\n<Collection>\n",
    );
    for (k, (t, data)) in times.iter().zip(frames).enumerate() {
        let file = format!("{name}-{k:06}.vtp");
        let mut out = open(&file)?;
        data.write(&mut *out)?;
        out.flush()?;
        let file = crate::plot::escape(&file);
        let _ = writeln!(list, "<DataSet timestep=\"{t:?}\" file=\"{file}\"/>");
    }
    list.push_str("</Collection>\n</VTKFile>\n");
    let mut out = open(&format!("{name}.pvd"))?;
    out.write_all(list.as_bytes())?;
    out.flush()
}

impl Data {
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut blocks: Vec<Vec<u8>> = Vec::new();
        let mut offset = 0;
        let mut array = |kind: &str, name: &str, components: usize, bytes: Vec<u8>| {
            let tag = format!(
                "<DataArray type=\"{kind}\" Name=\"{name}\" NumberOfComponents=\"{components}\" format=\"appended\" offset=\"{offset}\"/>"
            );
            offset += 8 + bytes.len();
            blocks.push(bytes);
            tag
        };
        let vectors =
            |list: &[Vec3]| list.iter().flat_map(|v| v.as_slice().to_vec()).collect::<Vec<f64>>();
        let numbers = |list: &[f64]| list.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
        let integers =
            |list: &[i64]| list.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
        let cells = [("Verts", &self.verts), ("Lines", &self.lines), ("Polys", &self.polys)];
        let mut text = format!(
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\">\n<PolyData>\n<Piece NumberOfPoints=\"{}\" NumberOfVerts=\"{}\" NumberOfLines=\"{}\" NumberOfStrips=\"0\" NumberOfPolys=\"{}\">\n<PointData>",
            self.points.len(),
            self.verts.len(),
            self.lines.len(),
            self.polys.len(),
        );
        for (name, list) in &self.vectors {
            text += &array("Float64", name, 3, numbers(&vectors(list)));
        }
        for (name, list) in &self.scalars {
            text += &array("Float64", name, 1, numbers(list));
        }
        text += "</PointData>\n<CellData>";
        text += &array("Int64", "part", 1, integers(&self.parts.concat()));
        text += "</CellData>\n<Points>";
        text += &array("Float64", "Points", 3, numbers(&vectors(&self.points)));
        text += "</Points>\n";
        for (kind, list) in cells {
            #[allow(clippy::cast_possible_wrap)] // indices of points
            let flat: Vec<i64> = list.iter().flatten().map(|&i| i as i64).collect();
            let mut end = 0;
            #[allow(clippy::cast_possible_wrap)]
            let ends: Vec<i64> = list
                .iter()
                .map(|cell| {
                    end += cell.len() as i64;
                    end
                })
                .collect();
            let _ = write!(text, "<{kind}>");
            text += &array("Int64", "connectivity", 1, integers(&flat));
            text += &array("Int64", "offsets", 1, integers(&ends));
            let _ = writeln!(text, "</{kind}>");
        }
        text += "</Piece>\n</PolyData>\n<AppendedData encoding=\"raw\">\n_";
        out.write_all(text.as_bytes())?;
        for block in blocks {
            out.write_all(&(block.len() as u64).to_le_bytes())?;
            out.write_all(&block)?;
        }
        out.write_all(b"\n</AppendedData>\n</VTKFile>\n")
    }
}
