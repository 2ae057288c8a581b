//! Friction problems: one contact; rows, squares and towers of growing size, warm-started and from nothing; and the problems of the Siconos suite if they are there.

use std::hint::black_box;
use std::time::Duration;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, criterion_group, criterion_main};
use nsm_solvers::friction::{
    BodyRows, Delassus, FrictionOptions, FrictionProblem, FrictionSolver, solve, solve_contact,
};

type Vector = [f64; 3];

const Z: Vector = [0.0, 0.0, 1.0];

/// Bodies that touch: three rows of $J$ a contact, six columns a body (velocity, then rate of rotation).
#[derive(Default)]
struct Scene {
    rows: Vec<Vec<(usize, f64)>>,
    inverse_mass: Vec<f64>,
    velocity: Vec<f64>,
    friction: Vec<f64>,
}

fn cross(a: Vector, b: Vector) -> Vector {
    std::array::from_fn(|i| a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3])
}

impl Scene {
    /// A body of mass one that falls a little and is pushed along the floor, each by another amount.
    fn body(&mut self, inverse_inertia: f64) -> usize {
        let body = self.inverse_mass.len() / 6;
        let push = 0.02 * (1.0 + (body as f64).sin());
        self.inverse_mass.extend([1.0, 1.0, 1.0]);
        self.inverse_mass.extend([inverse_inertia; 3]);
        self.velocity.extend([push, 0.3 * push, -0.1, 0.0, 0.0, 0.0]);
        body
    }

    /// A contact with the normal along an axis; each side is a body with the arm from its centre, pushed by the normal or against it.
    fn touch(&mut self, normal: Vector, sides: &[(usize, f64, Vector)]) {
        let [x, y, z] = normal;
        for direction in [normal, [z, x, y], [y, z, x]] {
            let mut row = Vec::new();
            for &(body, sign, arm) in sides {
                let turned = cross(arm, direction);
                row.extend((0..3).map(|i| (6 * body + i, sign * direction[i])));
                row.extend((0..3).map(|i| (6 * body + 3 + i, sign * turned[i])));
            }
            row.retain(|&(_, value)| value != 0.0);
            self.rows.push(row);
        }
        self.friction.push(0.3);
    }

    /// Two balls of radius 1/2, or a ball and something fixed.
    fn balls(&mut self, normal: Vector, above: usize, below: Option<usize>) {
        let lower = below.map(|body| (body, -1.0, normal.map(|x| 0.5 * x)));
        let upper = (above, 1.0, normal.map(|x| -0.5 * x));
        self.touch(normal, &[Some(upper), lower].into_iter().flatten().collect::<Vec<_>>());
    }

    /// $Jv$; with `change`, of velocities that each differ by up to this share, as those of the next step.
    fn free_velocity(&self, change: f64) -> Vec<f64> {
        let of = |c: usize| self.velocity[c] * (1.0 + change * (c as f64).cos());
        self.rows.iter().map(|row| row.iter().map(|&(c, x)| x * of(c)).sum()).collect()
    }

    /// $W = JM^{-1}J^\top$ with its factors, which tell the solver the bodies.
    fn delassus(&self) -> Delassus {
        let contacts = self.friction.len();
        let mut users = vec![Vec::new(); self.inverse_mass.len() / 6];
        let mut factors = Vec::new();
        for i in 0..contacts {
            let mut own: Vec<BodyRows> = Vec::new();
            for a in 0..3 {
                for &(c, x) in &self.rows[3 * i + a] {
                    let at = own.iter().position(|rows| rows.0 == c / 6).unwrap_or_else(|| {
                        own.push((c / 6, [0.0; 18]));
                        users[c / 6].push(i);
                        own.len() - 1
                    });
                    own[at].1[6 * a + c % 6] = x * self.inverse_mass[c].sqrt();
                }
            }
            factors.push(own);
        }
        let mut w = Delassus::default();
        w.clear();
        for own in &factors {
            w.push_factors([own.first().copied(), own.get(1).copied()]);
            let mut columns: Vec<usize> =
                own.iter().flat_map(|rows| users[rows.0].iter().copied()).collect();
            columns.sort_unstable();
            columns.dedup();
            for j in columns {
                let mut block = [0.0; 9];
                for (body, g) in own {
                    for (_, other) in factors[j].iter().filter(|rows| rows.0 == *body) {
                        for k in 0..6 {
                            (0..9).for_each(|e| {
                                block[e] += g[6 * (e / 3) + k] * other[6 * (e % 3) + k];
                            });
                        }
                    }
                }
                w.push(j, block);
            }
            w.end_row();
        }
        w
    }
}

/// A row of balls on a floor that touch each other and lean against a wall: two contacts a ball.
fn row(balls: usize) -> Scene {
    let mut scene = Scene::default();
    for i in 0..balls {
        let ball = scene.body(10.0);
        scene.balls(Z, ball, None);
        if i > 0 {
            scene.balls([1.0, 0.0, 0.0], ball, Some(ball - 1));
        }
    }
    scene.balls([-1.0, 0.0, 0.0], balls - 1, None);
    scene
}

/// A square of balls on a floor, each touching its four neighbours: nearly three contacts a ball.
fn square(side: usize) -> Scene {
    let mut scene = Scene::default();
    for i in 0..side * side {
        let ball = scene.body(10.0);
        scene.balls(Z, ball, None);
        if i % side > 0 {
            scene.balls([1.0, 0.0, 0.0], ball, Some(ball - 1));
        }
        if i >= side {
            scene.balls([0.0, 1.0, 0.0], ball, Some(ball - side));
        }
    }
    scene
}

/// Cubes on top of each other, four contacts a face: six of their twelve rows are redundant.
fn tower(cubes: usize) -> Scene {
    let mut scene = Scene::default();
    for i in 0..cubes {
        let cube = scene.body(6.0);
        for (x, y) in [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)] {
            let upper = (cube, 1.0, [x, y, -0.5]);
            if i == 0 {
                scene.touch(Z, &[upper]);
            } else {
                scene.touch(Z, &[upper, (cube - 1, -1.0, [x, y, 0.5])]);
            }
        }
    }
    scene
}

fn one(c: &mut Criterion) {
    let w = [2.5, 1.5, 0.2, 1.5, 2.5, 0.1, 0.2, 0.1, 1.9];
    let mut group = c.benchmark_group("friction one contact");
    for (name, q) in
        [("sticks", [-1.0, -0.1, 0.05]), ("slips", [-1.0, 0.9, 0.4]), ("parts", [0.2, 0.9, 0.4])]
    {
        group.bench_function(name, |b| b.iter(|| solve_contact(black_box(&w), &q, 0.5)));
    }
    group.finish();
}

/// A problem solved from the impulses of the step before, with $W$ alone and with its factors, and from nothing.
fn scene(group: &mut BenchmarkGroup<'_, WallTime>, scene: &Scene) {
    let options = FrictionOptions { tolerance: 1e-9, ..FrictionOptions::default() };
    let (w, friction) = (scene.delassus(), &scene.friction);
    let contacts = friction.len();
    let all: Vec<usize> = (0..contacts).collect();
    let mut problem = FrictionProblem::default();
    let (mut before, nothing) = (vec![0.0; 3 * contacts], vec![0.0; 3 * contacts]);
    problem.assemble(&w, &all, &scene.free_velocity(0.0), friction).unwrap();
    let _ = solve(&problem, &mut before, &options).unwrap();
    let q = scene.free_velocity(0.01);
    problem.assemble(&w, &all, &q, friction).unwrap();
    let bare = FrictionProblem::from_factors(&scene.rows, &scene.inverse_mass, &q, friction);
    let bare = bare.unwrap();
    let mut r = nothing.clone();
    for (name, problem, start) in [
        ("warm, bodies known", &problem, &before),
        ("warm, W alone", &bare, &before),
        ("cold, bodies known", &problem, &nothing),
    ] {
        let mut solver = FrictionSolver::default();
        r.copy_from_slice(start);
        let report = solver.solve(problem, &mut r, &options).unwrap();
        assert!(report.residual <= options.tolerance, "{contacts} contacts {name}: {report:?}");
        group.bench_function(BenchmarkId::new(name, contacts), |b| {
            b.iter(|| {
                r.copy_from_slice(start);
                solver.solve(problem, black_box(&mut r), &options).unwrap()
            });
        });
    }
}

fn scenes(c: &mut Criterion) {
    for (name, make, sizes) in [
        ("friction row of balls", row as fn(usize) -> Scene, &[13, 25, 50, 100, 200, 800][..]),
        ("friction square of balls", square, &[3, 4, 6, 8, 12, 24]),
        ("friction tower of cubes", tower, &[6, 12, 25, 50, 100]),
    ] {
        let mut group = c.benchmark_group(name);
        group.sample_size(10);
        group.warm_up_time(Duration::from_millis(200));
        group.measurement_time(Duration::from_millis(500));
        for &size in sizes {
            scene(&mut group, &make(size));
        }
        group.finish();
    }
}

fn external(c: &mut Criterion) {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/fc3d");
    let Ok(files) = std::fs::read_dir(root) else { return };
    let mut problems = Vec::new();
    for file in files.flatten() {
        let Ok(text) = std::fs::read_to_string(file.path()) else { continue };
        if file.path().extension().is_none_or(|e| e != "txt") {
            continue;
        }
        let numbers: Vec<f64> = text.split_whitespace().map(|w| w.parse().unwrap()).collect();
        let index = |x: f64| format!("{x:.0}").parse::<usize>().unwrap();
        let (n, nonzero) = (index(numbers[0]), index(numbers[1]));
        let (friction, rest) = numbers[2..].split_at(n);
        let (q, rest) = rest.split_at(3 * n);
        let mut entries = Vec::new();
        for e in rest.chunks_exact(3).take(nonzero) {
            entries.push((index(e[0]), index(e[1]), 0.5 * e[2]));
            entries.push((index(e[1]), index(e[0]), 0.5 * e[2]));
        }
        problems.push(FrictionProblem::sparse(&entries, q, friction).unwrap());
    }
    let options = FrictionOptions { tolerance: 1e-10, ..FrictionOptions::default() };
    let mut group = c.benchmark_group("friction external");
    group.sample_size(10);
    group.bench_function(BenchmarkId::new("all", problems.len()), |b| {
        b.iter(|| {
            for problem in &problems {
                let mut r = vec![0.0; 3 * problem.len()];
                let _ = solve(problem, black_box(&mut r), &options);
            }
        });
    });
    group.finish();
}

criterion_group!(benches, one, scenes, external);
criterion_main!(benches);
