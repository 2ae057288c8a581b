//! What to draw of a run: a scene made of points, links, bodies, planes and curves, frame by frame.
//!
//! A scene knows nothing of mechanics and its viewer nothing of problems: whatever can say where its parts
//! are at each frame can be shown. Its JSON is
//!
//! ```text
//! { "spatial": false,                          three dimensions, seen from any side, or a plane
//!   "axes": ["x", "y"],                        labels, where the plane is not a place but a phase space
//!   "t": [0, 0.1, …],                          time of each frame
//!   "points":    [{ "name", "radius", "fixed", "at": [x, y, z, x, y, z, …] }],
//!   "links":     [{ "from": 0, "to": 1, "kind": "rod" | "spring" }],
//!   "bodies":    [{ "name", "vertices": [x, y, z, …], "faces": [[0, 1, 2], …], "poses": [x, y, z, w, i, j, k, …] }],
//!   "planes":    [{ "normal": [0, 0, 1], "offset": 0 }],
//!   "polylines": [{ "name", "nodes": 11, "at": [x, y, z, …] }],
//!   "outlines":  [[x, y, z, x, y, z, …]],      curves that do not move
//!   "forces":    [[x, y, z, x, y, z, …], …] }  foot and tip of each arrow, frame by frame; empty where none are asked for
//! ```
//!
//! with one place, pose or set of nodes per frame (a fixed point has one in all), numbers rounded to what a
//! screen can show.

mod coordinates;
mod force;
mod mechanism;
mod mesh;
mod outline;
mod places;
mod strip;

pub use force::Arrow;
pub use mesh::Mesh;

use nsm_geom::{Mat3, Pose, Vec3};
use serde_json::{Value, json};

use nsm_problem::{Form, Problem, RunResult, Subject};

/// A picture that moves.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scene {
    /// Whether it has depth.
    pub spatial: bool,
    /// What the axes of a plane mean, where it is not a place.
    pub axes: Option<[String; 2]>,
    /// Time of each frame.
    pub times: Vec<f64>,
    /// Points that move, or hold links.
    pub points: Vec<Point>,
    /// Links between points.
    pub links: Vec<Link>,
    /// Rigid bodies.
    pub bodies: Vec<Body>,
    /// Planes.
    pub planes: Vec<nsm_geom::Plane>,
    /// Lines that bend: beams, chains, threads.
    pub polylines: Vec<Polyline>,
    /// Curves that do not move.
    pub outlines: Vec<Vec<Vec3>>,
    /// Forces of contacts at each frame, or none at all.
    pub forces: Vec<Vec<Arrow>>,
}

/// A point with its path.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Name.
    pub name: String,
    /// Radius of the disc or ball that it stands for.
    pub radius: Option<f64>,
    /// Place at each frame, or one for all.
    pub path: Vec<Vec3>,
}

/// A link between two points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// Index of a point.
    pub from: usize,
    /// Index of the other.
    pub to: usize,
    /// Whether it stretches.
    pub spring: bool,
}

/// A rigid body with its poses.
#[derive(Clone, Debug, PartialEq)]
pub struct Body {
    /// Name.
    pub name: String,
    /// Its surface in the body frame.
    pub mesh: Mesh,
    /// Pose at each frame.
    pub poses: Vec<Pose>,
}

impl Body {
    /// The same picture by rotations: directors that are left-handed show the mirrored surface turned.
    fn right_handed(&self) -> Self {
        let mut body = self.clone();
        if self.poses.first().is_some_and(|pose| pose.rot.determinant() < 0.0) {
            body.mesh.vertices.iter_mut().for_each(|v| v.z = -v.z);
            body.mesh.faces.iter_mut().for_each(|face| face.reverse());
            body.poses.iter_mut().for_each(|p| p.rot.column_mut(2).neg_mut());
        }
        body
    }
}

/// A line that bends.
#[derive(Clone, Debug, PartialEq)]
pub struct Polyline {
    /// Name.
    pub name: String,
    /// Its nodes at each frame.
    pub frames: Vec<Vec<Vec3>>,
}

impl Scene {
    /// The scene of a run.
    pub fn of(problem: &Problem, result: &RunResult) -> Self {
        let mut scene = Self::without_forces(problem, result);
        if problem.picture.as_ref().is_some_and(|picture| picture.forces) {
            let radius = |b: &Body| b.mesh.vertices.iter().map(Vec3::norm).fold(0.0, f64::max);
            let largest = scene.bodies.iter().map(radius).fold(0.0, f64::max);
            scene.forces = force::arrows(result, 0.5 * largest);
        }
        scene
    }

    fn without_forces(problem: &Problem, result: &RunResult) -> Self {
        match problem.subject_of(&result.name) {
            Subject::Coordinates { system, start } => {
                let picture = problem.picture.as_ref();
                coordinates::scene(system, start, picture, &result.recording)
            }
            Subject::Mechanism { mechanism, shapes, planes, system, .. } => {
                let planes = planes.clone();
                let film = &result.recording.film;
                Self { planes, ..mechanism::scene(mechanism, shapes, system, film) }
            }
            Subject::Rigid { world, .. } => {
                let film = &result.recording.film;
                // Methods for coordinates move bodies by their directors, the columns of the rotation.
                let by_directors = result.form == Form::Coordinates;
                let pose = |row: &[f64], b: usize| {
                    let r = &row[1 + if by_directors { 12 } else { 18 } * b..];
                    let rot = Mat3::from_row_slice(&r[3..12]);
                    let rot = if by_directors { rot.transpose() } else { rot };
                    Pose { x: Vec3::new(r[0], r[1], r[2]), rot }
                };
                let body = |(b, body): (usize, &nsm_vi::rigid::RigidBody)| Body {
                    name: body.name().to_owned(),
                    mesh: body.shape().map_or_else(Mesh::triad, Mesh::of),
                    poses: film.iter().map(|row| pose(row, b)).collect(),
                };
                Self {
                    spatial: true,
                    times: film.iter().map(|row| row[0]).collect(),
                    bodies: world.bodies().iter().enumerate().map(body).collect(),
                    planes: world.planes().to_vec(),
                    ..Self::default()
                }
            }
        }
    }

    /// Whether there is nothing to see.
    pub fn is_empty(&self) -> bool {
        self.times.len() < 2
            || (self.points.is_empty() && self.bodies.is_empty() && self.polylines.is_empty())
    }

    /// The scene with every second frame only, and with every second one of those, until it holds at most
    /// `numbers` numbers or would no longer move smoothly.
    #[must_use]
    pub fn thinned(&self, numbers: usize) -> Self {
        let frames = self.times.len();
        let nodes =
            self.polylines.iter().map(|p| p.frames.first().map_or(0, Vec::len)).sum::<usize>();
        let each = 1 + 3 * self.points.len() + 7 * self.bodies.len() + 3 * nodes;
        if frames * each <= numbers || frames < 240 {
            return self.clone();
        }
        let mut thin = self.clone();
        thin.times = half(&self.times);
        thin.points.iter_mut().for_each(|p| p.path = half(&p.path));
        thin.bodies.iter_mut().for_each(|b| b.poses = half(&b.poses));
        thin.polylines.iter_mut().for_each(|p| p.frames = half(&p.frames));
        thin.forces = half(&self.forces);
        thin.thinned(numbers)
    }

    /// The scene for the viewer.
    pub fn json(&self) -> Value {
        let places = Round::to(self.extent());
        let span = self.times.last().copied().unwrap_or(1.0).abs();
        let times = Round::to(span);
        let unit = Round::to(1.0);
        let points = self.points.iter().map(|p| {
            json!({
                "name": p.name,
                "radius": p.radius.map(|r| places.of(r)),
                "fixed": p.path.len() == 1,
                "at": places.all(&p.path),
            })
        });
        let links = self.links.iter().map(|l| {
            let kind = if l.spring { "spring" } else { "rod" };
            json!({ "from": l.from, "to": l.to, "kind": kind })
        });
        let bodies = self.bodies.iter().map(Body::right_handed).map(|b| {
            json!({
                "name": b.name,
                "vertices": places.all(&b.mesh.vertices),
                "faces": b.mesh.faces,
                "edges": b.mesh.edges,
                "poses": poses(&b.poses, places, unit),
            })
        });
        let planes = self.planes.iter().map(
            |p| json!({ "normal": unit.all(&[*p.normal()]), "offset": places.of(p.offset()) }),
        );
        let polylines = self.polylines.iter().map(|p| {
            json!({
                "name": p.name,
                "nodes": p.frames.first().map_or(0, Vec::len),
                "at": places.all(&p.frames.concat()),
            })
        });
        json!({
            "spatial": self.spatial,
            "axes": self.axes,
            "t": self.times.iter().map(|t| times.of(*t)).collect::<Vec<_>>(),
            "points": points.collect::<Vec<_>>(),
            "links": links.collect::<Vec<_>>(),
            "bodies": bodies.collect::<Vec<_>>(),
            "planes": planes.collect::<Vec<_>>(),
            "polylines": polylines.collect::<Vec<_>>(),
            "outlines": self.outlines.iter().map(|o| places.all(o)).collect::<Vec<_>>(),
            "forces": self.forces.iter().map(|f| places.all(&f.concat())).collect::<Vec<_>>(),
        })
    }

    /// The largest coordinate of anything.
    fn extent(&self) -> f64 {
        let moving = self.points.iter().flat_map(|p| &p.path);
        let bodies =
            self.bodies.iter().flat_map(|b| b.poses.iter().map(|p| &p.x).chain(&b.mesh.vertices));
        let lines = self.polylines.iter().flat_map(|p| p.frames.iter().flatten());
        moving.chain(bodies).chain(lines).map(Vec3::amax).fold(0.0, f64::max)
    }
}

fn half<T: Clone>(list: &[T]) -> Vec<T> {
    list.iter().step_by(2).cloned().collect()
}

/// Positions and unit quaternions, whose signs are chosen so that neighbours can be interpolated.
fn poses(list: &[Pose], places: Round, unit: Round) -> Vec<f64> {
    let mut last = [1.0, 0.0, 0.0, 0.0];
    let mut out = Vec::with_capacity(7 * list.len());
    for pose in list {
        let turn = nsm_geom::so3::log(&pose.rot);
        let angle = turn.norm();
        let s = if angle > 1e-9 { (0.5 * angle).sin() / angle } else { 0.5 };
        let mut q = [(0.5 * angle).cos(), s * turn.x, s * turn.y, s * turn.z];
        if q.iter().zip(last).map(|(a, b)| a * b).sum::<f64>() < 0.0 {
            q = q.map(|x| -x);
        }
        last = q;
        out.extend(pose.x.iter().map(|x| places.of(*x)));
        out.extend(q.map(|x| unit.of(x)));
    }
    out
}

/// Rounds to five digits of a largest value.
#[derive(Clone, Copy)]
struct Round {
    decimals: usize,
}

impl Round {
    fn to(largest: f64) -> Self {
        let power =
            if largest > 0.0 && largest.is_finite() { largest.log10().floor() } else { 0.0 };
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // clamped
        Self { decimals: (4.0 - power).clamp(0.0, 15.0) as usize }
    }

    /// The decimal nearest to `x`; what is not finite becomes zero, which no picture can show either.
    fn of(self, x: f64) -> f64 {
        let x = format!("{x:.*}", self.decimals).parse().unwrap_or(0.0);
        if f64::is_finite(x) && x != 0.0 { x } else { 0.0 }
    }

    fn all(self, list: &[Vec3]) -> Vec<f64> {
        list.iter().flat_map(|v| [v.x, v.y, v.z]).map(|x| self.of(x)).collect()
    }
}
