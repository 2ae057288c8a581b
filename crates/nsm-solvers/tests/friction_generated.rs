//! Generated friction problems: lattices of balls in a box, stacks of boxes, arches, wedges, rods.
//!
//! The whole dose runs with `NSM_FRICTION_GENERATED=all` and says how many were solved; a few of each kind run always.

#![allow(clippy::print_stdout, reason = "how many were solved is said aloud")]

use nsm_solvers::friction::{FrictionError, FrictionOptions, FrictionProblem, solve};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

type V3 = [f64; 3];

fn cross(a: V3, b: V3) -> V3 {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn minus(a: V3, b: V3) -> V3 {
    std::array::from_fn(|k| a[k] - b[k])
}

/// Bodies with contacts between them and with the ground.
#[derive(Default)]
struct Scene {
    name: String,
    places: Vec<V3>,
    inverse: Vec<f64>,
    velocity: Vec<f64>,
    rows: Vec<Vec<(usize, f64)>>,
    friction: Vec<f64>,
}

impl Scene {
    fn named(name: String) -> Self {
        Self { name, ..Self::default() }
    }

    fn body(&mut self, place: V3, mass: f64, inertia: V3, velocity: [f64; 6]) -> usize {
        self.places.push(place);
        self.inverse.extend([1.0 / mass; 3]);
        self.inverse.extend(inertia.map(|i| 1.0 / i));
        self.velocity.extend(velocity);
        self.places.len() - 1
    }

    /// A contact at a point, its normal pointing to body `a`; `b` is a body or the ground.
    fn contact(&mut self, a: usize, b: Option<usize>, point: V3, normal: V3, friction: f64) {
        let axis = if normal[0].abs() < 0.6 { [1.0, 0.0, 0.0] } else { [0.0, 1.0, 0.0] };
        let first = cross(normal, axis);
        let length = first.iter().map(|x| x * x).sum::<f64>().sqrt();
        let first = first.map(|x| x / length);
        for d in [normal, first, cross(normal, first)] {
            let mut row = Vec::new();
            for (body, sign) in [(Some(a), 1.0), (b, -1.0)] {
                let Some(body) = body else { continue };
                let turn = cross(minus(point, self.places[body]), d);
                row.extend((0..3).map(|k| (6 * body + k, sign * d[k])));
                row.extend((0..3).map(|k| (6 * body + 3 + k, sign * turn[k])));
            }
            self.rows.push(row);
        }
        self.friction.push(friction);
    }

    fn problem(&self) -> FrictionProblem {
        let q: Vec<f64> = (self.rows.iter())
            .map(|row| row.iter().map(|&(c, x)| x * self.velocity[c]).sum())
            .collect();
        FrictionProblem::from_factors(&self.rows, &self.inverse, &q, &self.friction).unwrap()
    }

    /// The largest velocity of a contact after impulses `r`.
    fn fastest(&self, r: &[f64]) -> f64 {
        let mut v = self.velocity.clone();
        for (row, r) in self.rows.iter().zip(r) {
            for &(c, x) in row {
                v[c] += self.inverse[c] * x * r;
            }
        }
        let speed = |row: &Vec<(usize, f64)>| row.iter().map(|&(c, x)| x * v[c]).sum::<f64>();
        self.rows.iter().map(|row| speed(row).abs()).fold(0.0, f64::max)
    }
}

/// A lattice of touching balls of radius 1/2 in a box that touches it, with random unit velocities or falling.
fn balls(side: usize, friction: f64, random: Option<u64>) -> Scene {
    let mut scene = Scene::named(format!("balls {side} {friction} {random:?}"));
    let mut rng = Pcg64::seed_from_u64(random.unwrap_or(0));
    let at = |i: usize, j: usize, k: usize| (i * side + j) * side + k;
    for i in 0..side {
        for j in 0..side {
            for k in 0..side {
                let mut v = [0.0, 0.0, -0.1, 0.0, 0.0, 0.0];
                if random.is_some() {
                    v = std::array::from_fn(|_| rng.random_range(-1.0..1.0));
                }
                let place = [i, j, k].map(|x| x as f64 + 0.5);
                scene.body(place, 1.0, [0.1; 3], v);
            }
        }
    }
    for i in 0..side {
        for j in 0..side {
            for k in 0..side {
                let (me, index) = (at(i, j, k), [i, j, k]);
                let place = scene.places[me];
                for axis in 0..3 {
                    let mut normal = [0.0; 3];
                    normal[axis] = 1.0;
                    let mut low = place;
                    low[axis] -= 0.5;
                    if index[axis] == 0 {
                        scene.contact(me, None, low, normal, friction);
                    } else {
                        let mut other = index;
                        other[axis] -= 1;
                        let other = at(other[0], other[1], other[2]);
                        scene.contact(me, Some(other), low, normal, friction);
                    }
                    // Walls on the sides, no lid.
                    if index[axis] + 1 == side && axis < 2 {
                        let mut high = place;
                        high[axis] += 0.5;
                        scene.contact(me, None, high, normal.map(|x| -x), friction);
                    }
                }
            }
        }
    }
    scene
}

/// Boxes on top of each other, four contacts each, pushed sideways a little.
fn stack(boxes: usize, friction: f64, push: f64) -> Scene {
    let mut scene = Scene::named(format!("stack {boxes} {friction} {push}"));
    for k in 0..boxes {
        let height = k as f64 + 0.5;
        let sideways = push * (1.0 + k as f64) / boxes as f64;
        scene.body([0.0, 0.0, height], 1.0, [1.0 / 6.0; 3], [sideways, 0.0, -0.1, 0.0, 0.0, 0.0]);
        for (x, y) in [(-0.5, -0.5), (0.5, -0.5), (-0.5, 0.5), (0.5, 0.5)] {
            let point = [x, y, k as f64];
            scene.contact(k, k.checked_sub(1), point, [0.0, 0.0, 1.0], friction);
        }
    }
    scene
}

/// A semicircular arch of equal voussoirs, radius one on the centre line, on which their masses lie.
fn arch(voussoirs: usize, thickness: f64, friction: f64) -> Scene {
    let mut scene = Scene::named(format!("arch {voussoirs} {thickness} {friction}"));
    let angle = std::f64::consts::PI / voussoirs as f64;
    for k in 0..voussoirs {
        let middle = (k as f64 + 0.5) * angle;
        let place = [middle.cos(), 0.0, middle.sin()];
        scene.body(place, 1.0, [0.01; 3], [0.0, 0.0, -1.0, 0.0, 0.0, 0.0]);
    }
    for joint in 0..=voussoirs {
        let a = joint as f64 * angle;
        // The normal points along the arch, to the voussoir with the larger angle.
        let normal = [-a.sin(), 0.0, a.cos()];
        for radius in [1.0 - 0.5 * thickness, 1.0 + 0.5 * thickness] {
            for y in [-0.1, 0.1] {
                let point = [radius * a.cos(), y, radius * a.sin()];
                if joint < voussoirs {
                    scene.contact(joint, joint.checked_sub(1), point, normal, friction);
                } else {
                    scene.contact(joint - 1, None, point, normal.map(|x| -x), friction);
                }
            }
        }
    }
    scene
}

/// A box between two inclined walls, pushed in.
fn wedge(angle: f64, friction: f64, turn: f64) -> Scene {
    let mut scene = Scene::named(format!("wedge {angle} {friction} {turn}"));
    scene.body([0.0; 3], 1.0, [0.2; 3], [0.3 * turn, 0.1, -1.0, turn, 0.5 * turn, 0.0]);
    for (side, point) in [(1.0, -0.5), (-1.0, 0.5)] {
        let normal = [side * angle.cos(), 0.0, angle.sin()];
        for (y, z) in [(-0.4, -0.3), (0.4, -0.3), (0.4, 0.3), (-0.4, 0.3)] {
            scene.contact(0, None, [point, y, z], normal, friction);
        }
    }
    scene
}

/// A rod that slides on its tip.
fn rod(slope: f64, friction: f64) -> Scene {
    let mut scene = Scene::named(format!("rod {slope} {friction}"));
    scene.body([0.0; 3], 1.0, [1.0 / 12.0; 3], [1.0, 0.0, -0.01, 0.0, 0.0, 0.0]);
    let length = 1.0_f64.hypot(slope);
    scene.contact(0, None, [0.5 / length, 0.0, -0.5 * slope / length], [0.0, 0.0, 1.0], friction);
    scene
}

/// 205 problems of five kinds; some of each if the dose is small.
fn dose(all: bool) -> Vec<Scene> {
    let mut scenes = Vec::new();
    let frictions = [0.1, 0.3, 0.5, 0.7, 0.9];
    for side in [2, 3, 4, 5] {
        for friction in frictions {
            scenes.push(balls(side, friction, None));
            for seed in 0..3 {
                scenes.push(balls(side, friction, Some(seed)));
            }
        }
    }
    for boxes in [2, 5, 10, 20] {
        for friction in frictions {
            scenes.push(stack(boxes, friction, 0.02));
            scenes.push(stack(boxes, friction, 0.2));
        }
    }
    for voussoirs in [7, 15, 31] {
        for friction in [0.3, 0.5, 0.7, 0.9, 1.5] {
            scenes.push(arch(voussoirs, 0.15, friction));
            scenes.push(arch(voussoirs, 0.09, friction));
        }
    }
    for angle in [0.1, 0.3, 0.6] {
        for friction in frictions {
            scenes.push(wedge(angle, friction, 0.0));
            scenes.push(wedge(angle, friction, 1.0));
        }
    }
    for slope in [0.5, 1.0, 2.0, 4.0, 8.0] {
        for friction in [0.3, 1.0, 2.0, 5.0, 10.0] {
            scenes.push(rod(slope, friction));
        }
    }
    assert_eq!(scenes.len(), 205);
    if !all {
        // The large lattices with random velocities take seconds.
        let small = |s: &Scene| s.friction.len() <= 64;
        scenes.retain(small);
    }
    scenes
}

#[test]
fn generated_problems_are_solved_or_refused_in_the_end() {
    let all = std::env::var("NSM_FRICTION_GENERATED").is_ok_and(|dose| dose == "all");
    let scenes = dose(all);
    let (mut fine, mut finest, mut jammed) = (0, 0, Vec::new());
    for scene in &scenes {
        let problem = scene.problem();
        let mut r = vec![0.0; scene.rows.len()];
        let options = FrictionOptions {
            tolerance: 1e-10,
            enough: 1e-10,
            patient: all,
            ..FrictionOptions::default()
        };
        match solve(&problem, &mut r, &options) {
            Ok(report) => {
                assert!(report.energy_change <= 0.0, "{}", scene.name);
                fine += 1;
                finest += usize::from(report.residual <= 1e-10);
            }
            Err(FrictionError::NotSolved { residual, .. }) => {
                jammed.push(format!("{} {residual:.1e}", scene.name));
            }
            Err(error) => panic!("{}: {error}", scene.name),
        }
    }
    println!("{} problems: {fine} to 1e-6, {finest} to 1e-10; jammed: {jammed:#?}", scenes.len());
    assert!(jammed.is_empty(), "{jammed:?}");
    assert_eq!(finest, scenes.len(), "to 1e-10");
}

#[test]
fn an_arch_stands_from_the_thickness_of_statics_on() {
    // Critical thickness over radius of 15 voussoirs: 0.10631, by bisection of statics.
    for (thickness, stands) in [(0.1058, false), (0.1068, true)] {
        let scene = arch(15, thickness, 1.5);
        let mut r = vec![0.0; scene.rows.len()];
        let options = FrictionOptions { tolerance: 1e-10, ..FrictionOptions::default() };
        let report = solve(&scene.problem(), &mut r, &options).unwrap();
        assert!(report.residual <= 1e-9, "{}", report.residual);
        let fastest = scene.fastest(&r);
        assert_eq!(fastest < 1e-6, stands, "{thickness}: {fastest}");
    }
    // Too smooth, it slides apart however thick it is.
    let scene = arch(15, 0.15, 0.2);
    let mut r = vec![0.0; scene.rows.len()];
    let _ = solve(&scene.problem(), &mut r, &FrictionOptions::default()).unwrap();
    assert!(scene.fastest(&r) > 1e-3);
}
