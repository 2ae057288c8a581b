//! A picture of a system in coordinates, from the names of its coordinates and its constraints.
//!
//! Coordinates named after axes are points. A constraint on one point of the plane is drawn as the curve
//! where it vanishes; if it is an equality and the curve a circle, as a rod to its centre. An equality
//! between two points is a rod, an inequality that measures their distance makes them discs. Without any
//! place, the picture is the phase plane. A `[picture]` in the file says it better.

use nsm_constraints::{Field, Rows};
use nsm_geom::{Plane, Vec3};
use nsm_model::{State, System};

use super::outline::{Window, circle_centre, zero_level};
use super::places::{Place, places};
use super::{Link, Point, Scene};
use nsm_problem::{Picture, Recording};

pub(super) fn scene(
    system: &System,
    start: &State,
    picture: Option<&Picture>,
    recording: &Recording,
) -> Scene {
    let n = system.dimension();
    let film = &recording.film;
    let times: Vec<f64> = film.iter().map(|row| row[0]).collect();
    let mut scene = Scene { times, ..Scene::default() };
    if let Some(picture) = picture.filter(|p| !p.points.is_empty()) {
        scene.spatial = picture.points.iter().any(|formulas| formulas.len() > 2);
        scene.points = picture
            .points
            .iter()
            .enumerate()
            .map(|(i, formulas)| {
                let place = |row: &Vec<f64>| {
                    let at =
                        |k: usize| formulas.get(k).map_or(0.0, |f| f.value(&row[1..=n], row[0]));
                    Vec3::new(at(0), at(1), at(2))
                };
                let constant =
                    formulas.iter().all(|f| f.coordinates().is_empty() && !f.is_rheonomic());
                let frames = if constant { 1 } else { film.len() };
                Point {
                    name: format!("point {i}"),
                    radius: None,
                    path: film.iter().take(frames).map(place).collect(),
                }
            })
            .collect();
    } else {
        let places = places(system.names());
        if places.is_empty() {
            phase_planes(system, film, &mut scene);
        } else {
            scene.spatial = places.iter().any(|p| p.along[2].is_some());
            scene.points = places.iter().map(|p| follow(p, film)).collect();
            constraints(system, start, &places, film, &mut scene);
        }
    }
    if let Some(picture) = picture {
        let count = scene.points.len();
        let ends = |spring| move |&[from, to]: &[usize; 2]| Link { from, to, spring };
        let links =
            picture.links.iter().map(ends(false)).chain(picture.springs.iter().map(ends(true)));
        scene.links.extend(links.filter(|l| l.from < count && l.to < count));
        for (point, &radius) in scene.points.iter_mut().zip(picture.radius.iter().cycle()) {
            point.radius = Some(radius);
        }
        if let Some(window) = window(&scene) {
            let curves = picture
                .curves
                .iter()
                .flat_map(|f| zero_level(window, |x, y| f.value(&[x, y], 0.0)));
            scene.outlines.extend(curves);
        }
    }
    scene
}

/// The window in which outlines are sought: of what moves, and of fixed ends.
fn window(scene: &Scene) -> Option<Window> {
    if scene.spatial {
        return None;
    }
    let corners = |p: &Point| {
        let r = Vec3::repeat(p.radius.unwrap_or(0.0));
        p.path.iter().flat_map(move |x| [x - r, x + r]).collect::<Vec<_>>()
    };
    Window::around(scene.points.iter().flat_map(corners))
}

fn follow(place: &Place, film: &[Vec<f64>]) -> Point {
    let at = |row: &[f64], axis: usize| place.along[axis].map_or(0.0, |i| row[1 + i]);
    let path = film.iter().map(|row| Vec3::new(at(row, 0), at(row, 1), at(row, 2))).collect();
    Point { name: place.name.clone(), radius: None, path }
}

/// No places: each coordinate against its velocity.
fn phase_planes(system: &System, film: &[Vec<f64>], scene: &mut Scene) {
    let n = system.dimension();
    scene.axes = Some(["position".into(), "velocity".into()]);
    scene.points = (0..n.min(4))
        .map(|i| Point {
            name: system.names()[i].clone(),
            radius: None,
            path: film.iter().map(|row| Vec3::new(row[1 + i], row[1 + n + i], 0.0)).collect(),
        })
        .collect();
}

/// What the constraints say about the picture.
fn constraints(
    system: &System,
    start: &State,
    places: &[Place],
    film: &[Vec<f64>],
    scene: &mut Scene,
) {
    let window = window(scene);
    let mut sketch = Sketch { places, film, start: &start.q, window, scene };
    sketch.rows(system.inequalities(), false, &|_| true);
    sketch.rows(system.equalities(), true, &|_| true);
    if let Some(switching) = system.switching() {
        for (mode, rows) in (0..).zip(switching.all_rows()) {
            sketch.rows(rows, true, &|q| switching.region(mode, q, start.t) >= 0.0);
        }
    }
}

struct Sketch<'a> {
    places: &'a [Place],
    film: &'a [Vec<f64>],
    start: &'a [f64],
    window: Option<Window>,
    scene: &'a mut Scene,
}

impl Sketch<'_> {
    fn rows(&mut self, rows: &Rows, equality: bool, active: &dyn Fn(&[f64]) -> bool) {
        for i in 0..rows.len() {
            let field = rows.field(i);
            if field.is_rheonomic() {
                continue;
            }
            let touched: Vec<usize> = (0..self.places.len())
                .filter(|&p| {
                    self.places[p].along.iter().flatten().any(|c| field.coordinates().contains(c))
                })
                .collect();
            let owned =
                |c: &usize| touched.iter().any(|&p| self.places[p].along.contains(&Some(*c)));
            if !field.coordinates().iter().all(owned) {
                continue;
            }
            match touched[..] {
                [p] => self.one_point(field, p, equality, active),
                [p, q] if equality => self.scene.links.push(Link { from: p, to: q, spring: false }),
                [p, q] => self.two_points(field, p, q),
                _ => {}
            }
        }
    }

    fn one_point(
        &mut self,
        field: &dyn Field,
        p: usize,
        equality: bool,
        active: &dyn Fn(&[f64]) -> bool,
    ) {
        let along = self.places[p].along;
        let Some(window) = self.window else {
            self.plane(field, along);
            return;
        };
        let at = |x: f64, y: f64| {
            let mut q = self.start.to_vec();
            for (c, value) in along.iter().zip([x, y]) {
                if let Some(c) = c {
                    q[*c] = value;
                }
            }
            q
        };
        let curves = zero_level(window, |x, y| {
            let q = at(x, y);
            if active(&q) { field.value(&q, 0.0) } else { f64::NAN }
        });
        let all: Vec<Vec3> = curves.concat();
        match circle_centre(&all).filter(|_| equality) {
            Some(centre) => {
                let known = self.scene.points.iter().position(|q| q.path == [centre]);
                let to = known.unwrap_or(self.scene.points.len());
                if known.is_none() {
                    self.scene.points.push(Point {
                        name: String::new(),
                        radius: None,
                        path: vec![centre],
                    });
                }
                self.scene.links.push(Link { from: p, to, spring: false });
            }
            None => self.scene.outlines.extend(curves),
        }
    }

    /// An affine constraint on one point of space is a plane.
    fn plane(&mut self, field: &dyn Field, along: [Option<usize>; 3]) {
        if !field.is_affine() {
            return;
        }
        let block = field.coordinates();
        let mut gradient = vec![0.0; block.len()];
        field.gradient(self.start, 0.0, &mut gradient);
        let component = |axis: usize| {
            let index = along[axis].and_then(|c| block.iter().position(|&b| b == c));
            index.map_or(0.0, |k| gradient[k])
        };
        let normal = Vec3::new(component(0), component(1), component(2));
        let at = along.map(|c| c.map_or(0.0, |c| self.start[c]));
        let offset = field.value(self.start, 0.0) - normal.dot(&Vec3::from(at));
        if let Ok(plane) = Plane::new(normal, offset) {
            self.scene.planes.push(plane);
        }
    }

    /// An inequality that is a distance less a constant makes its points discs that touch at zero.
    fn two_points(&mut self, field: &dyn Field, p: usize, q: usize) {
        let n = self.start.len();
        let contact = |k: usize| {
            let row = &self.film[k];
            let [a, b] = [p, q].map(|i| self.scene.points[i].path[k]);
            (a - b).norm() - field.value(&row[1..=n], row[0])
        };
        let frames = self.film.len();
        if frames == 0 {
            return;
        }
        let first = contact(0);
        let distance = (0..frames)
            .step_by(frames.div_ceil(20))
            .all(|k| (contact(k) - first).abs() < 1e-9 * first);
        if distance && first > 0.0 {
            for i in [p, q] {
                self.scene.points[i].radius.get_or_insert(0.5 * first);
            }
        }
    }
}
