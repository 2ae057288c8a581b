//! Mechanisms: rows, null spaces, reparametrisations and starts of every kinematic pair.

mod linkages;

use linkages::four_bar;
use nsm_constraints::multibody::{
    Closure, End, Inertia, JointId, JointKind, Mechanism, MechanismError, NodeId, Pose,
};
use nsm_constraints::{Quadratic, Reparametrisation, Rows};
use nsm_solvers::small::qr::PivotedQr;
use rand::{RngExt, SeedableRng};

const KINDS: [JointKind; 6] = [
    JointKind::Revolute,
    JointKind::Prismatic,
    JointKind::Cylindrical,
    JointKind::Spherical,
    JointKind::Planar,
    JointKind::Fixed,
];

type Random = rand_pcg::Pcg64;

fn vector(random: &mut Random, size: f64) -> [f64; 3] {
    std::array::from_fn(|_| random.random_range(-size..size))
}

fn unit(random: &mut Random) -> [f64; 3] {
    loop {
        let x = vector(random, 1.0);
        let norm = x.iter().map(|a| a * a).sum::<f64>().sqrt();
        if norm > 0.1 {
            return x.map(|a| a / norm);
        }
    }
}

/// A random pose; every other one is left-handed.
fn pose(random: &mut Random) -> Pose {
    let mut pose = Pose::turned(vector(random, 2.0), vector(random, 3.0));
    if random.random_range(0.0..1.0) < 0.5 {
        pose.directors[2] = pose.directors[2].map(|x| -x);
    }
    pose
}

fn body(mechanism: &mut Mechanism, name: &str, random: &mut Random) -> NodeId {
    mechanism.add_body(name, Inertia::cuboid(1.5, [0.3, 0.4, 0.5]), pose(random)).unwrap()
}

/// Two bodies with a joint between them; the first on the ground by a joint, or free.
fn pair(kind: JointKind, free: bool, seed: u64) -> Mechanism {
    let random = &mut Random::seed_from_u64(seed);
    let mut mechanism = Mechanism::new();
    let first = body(&mut mechanism, "first", random);
    let second = body(&mut mechanism, "second", random);
    let (at, axis) = (vector(random, 1.0), unit(random));
    // Both orders: the tree runs along the joint and against it.
    let ends = if seed.is_multiple_of(2) { [first, second] } else { [second, first] };
    mechanism.add_joint("joint", kind, ends.map(End::from), at, axis).unwrap();
    if !free {
        let ends = [End::Ground, first.into()];
        let ends = if seed.is_multiple_of(3) { [ends[1], ends[0]] } else { ends };
        let kind = if kind == JointKind::Fixed { JointKind::Revolute } else { kind };
        mechanism.add_joint("base", kind, ends, vector(random, 1.0), unit(random)).unwrap();
    }
    mechanism
}

fn dense(rows: &Rows, q: &[f64]) -> Vec<f64> {
    let n = rows.dimension();
    let mut gradients = vec![0.0; rows.entries()];
    rows.gradients(q, 0.0, &mut gradients);
    let mut matrix = vec![0.0; rows.len() * n];
    for i in 0..rows.len() {
        rows.add_row(i, &gradients, 1.0, &mut matrix[i * n..(i + 1) * n]);
    }
    matrix
}

/// The tangent of a chart, row by row.
fn tangent(chart: &mut dyn Reparametrisation, u: &[f64], q: &[f64]) -> Vec<f64> {
    let (n, d) = (q.len(), chart.freedoms());
    let pattern = chart.pattern();
    let mut values = vec![f64::NAN; pattern.as_ref().map_or(n * d, Vec::len)];
    chart.tangent(u, q, &mut values).unwrap();
    let Some(pattern) = pattern else { return values };
    let mut matrix = vec![0.0; n * d];
    for ((c, f), value) in pattern.into_iter().zip(values) {
        matrix[c * d + f] += value;
    }
    matrix
}

fn largest(x: &[f64]) -> f64 {
    nsm_solvers::small::norm_inf(x)
}

fn residual(rows: &Rows, q: &[f64]) -> f64 {
    let mut values = vec![0.0; rows.len()];
    rows.values(q, 0.0, &mut values);
    largest(&values)
}

/// Checks $G P = 0$, the rank of $P$, $g(F_d) = 0$, $F_d(0, q) = q$ and the tangent by differences.
fn check_chart(mechanism: &Mechanism, chart: &mut dyn Reparametrisation, size: f64, seed: u64) {
    let random = &mut Random::seed_from_u64(seed);
    let rows = mechanism.constraints().unwrap();
    let (n, d) = (mechanism.dimension(), chart.freedoms());
    let mut q = mechanism.start_position();
    assert!(residual(&rows, &q) < 1e-15, "{}", residual(&rows, &q));
    for _ in 0..3 {
        let u: Vec<f64> = (0..d).map(|_| random.random_range(-size..size)).collect();
        let mut end = vec![f64::NAN; n];
        chart.place(&vec![0.0; d], &q, &mut end).unwrap();
        assert!(end.iter().zip(&q).all(|(a, b)| (a - b).abs() < 1e-14));
        let p = tangent(chart, &vec![0.0; d], &q);
        let g = dense(&rows, &q);
        let mut product = 0.0_f64;
        for row in g.chunks_exact(n) {
            for f in 0..d {
                let sum: f64 = (0..n).map(|c| row[c] * p[c * d + f]).sum();
                product = product.max(sum.abs());
            }
        }
        assert!(product < 1e-14, "G P = {product:e}");
        let mut qr = PivotedQr::new(n, d);
        assert_eq!(qr.factor(n, d, &p, 1e-9).unwrap(), d, "rank of P");
        // As many columns as the null space has dimensions, all of them in it: the same span.
        let mut qr = PivotedQr::new(rows.len(), n);
        assert_eq!(n - qr.factor(rows.len(), n, &g, 1e-9).unwrap(), d);
        chart.place(&u, &q, &mut end).unwrap();
        assert!(residual(&rows, &end) < 4e-15, "g = {:e}", residual(&rows, &end));
        let exact = tangent(chart, &u, &q);
        let step = 1e-5;
        for f in 0..d {
            let (mut plus, mut minus) = (vec![0.0; n], vec![0.0; n]);
            let mut v = u.clone();
            v[f] = u[f] + step;
            chart.place(&v, &q, &mut plus).unwrap();
            v[f] = u[f] - step;
            chart.place(&v, &q, &mut minus).unwrap();
            for c in 0..n {
                let difference = (plus[c] - minus[c]) / (2.0 * step);
                assert!((difference - exact[c * d + f]).abs() < 1e-8, "{c} {f}");
            }
        }
        q = end;
    }
}

#[test]
fn every_pair_has_its_rows_its_null_space_and_its_reparametrisation() {
    for kind in KINDS {
        for (free, seed) in [(true, 1), (true, 2), (false, 3), (false, 4), (false, 5), (false, 6)] {
            let mechanism = pair(kind, free, seed);
            let rows = mechanism.constraints().unwrap();
            let joints: usize = if free { kind.rows() } else { 2 * kind.rows() };
            let base = usize::from(!free && kind == JointKind::Fixed);
            assert_eq!(rows.len(), 12 + joints - base, "{kind}");
            let mut tree = mechanism.tree();
            assert!(tree.closing().is_empty());
            assert_eq!(tree.freedom_names().len(), tree.freedoms());
            check_chart(&mechanism, &mut tree, 1.2, seed);
        }
    }
}

/// A tree of ten bodies with joints of all kinds.
fn branching(seed: u64) -> Mechanism {
    let random = &mut Random::seed_from_u64(seed);
    let mut mechanism = Mechanism::new();
    let mut bodies = vec![body(&mut mechanism, "body 0", random)];
    mechanism.add_particle("particle", 0.5, [1.0, 2.0, 3.0]).unwrap();
    for i in 1..10 {
        let new = body(&mut mechanism, &format!("body {i}"), random);
        let old = bodies[random.random_range(0..bodies.len())];
        let ends = if i % 2 == 0 { [old, new] } else { [new, old] };
        let kind = KINDS[i % KINDS.len()];
        let (at, axis) = (vector(random, 1.0), unit(random));
        mechanism.add_joint(&format!("joint {i}"), kind, ends.map(End::from), at, axis).unwrap();
        bodies.push(new);
    }
    let (at, axis) = (vector(random, 1.0), unit(random));
    let ends = [bodies[4].into(), End::Ground];
    mechanism.add_joint("base", JointKind::Planar, ends, at, axis).unwrap();
    mechanism
}

#[test]
fn trees_compose_from_the_root_to_the_leaves() {
    for seed in 1..4 {
        let mechanism = branching(seed);
        check_chart(&mechanism, &mut mechanism.tree(), 0.7, seed);
        // Without loops the closed form is the same.
        check_chart(&mechanism, &mut mechanism.closure().unwrap(), 0.4, seed);
    }
}

#[test]
fn closed_loops_are_closed_with_redundant_rows() {
    let mechanism = four_bar();
    assert_eq!(mechanism.tree().closing(), [mechanism.joint("pin 3").unwrap()]);
    let mut closure: Closure = mechanism.closure().unwrap();
    assert_eq!(closure.freedoms(), 1);
    assert_eq!(closure.tree().freedoms(), 3);
    check_chart(&mechanism, &mut closure, 0.3, 7);
}

#[test]
fn one_rate_moves_a_linkage() {
    let mut mechanism = four_bar();
    let joints: Vec<JointId> =
        (0..4).map(|i| mechanism.joint(&format!("pin {i}")).unwrap()).collect();
    mechanism.set_rate(joints[0], &[2.0]).unwrap();
    let (q, v) = mechanism.start().unwrap();
    let rows = mechanism.constraints().unwrap();
    let mut gradients = vec![0.0; rows.entries()];
    rows.gradients(&q, 0.0, &mut gradients);
    let mut rates = vec![0.0; rows.len()];
    rows.multiply(&gradients, &v, &mut rates);
    assert!(largest(&rates) < 1e-14);
    // The crank's centre is 0.5 above its pin and moves along x.
    let crank = mechanism.coordinates(mechanism.node("crank").unwrap());
    assert!((v[crank.start] - 1.0).abs() < 1e-14);
    mechanism.set_rate(joints[1], &[5.0]).unwrap();
    assert!(matches!(
        mechanism.start(),
        Err(MechanismError::OpenLoop { joint, .. }) if joint == "pin 3"
    ));
    let mut mechanism = four_bar();
    mechanism.set_rate(joints[3], &[1.0]).unwrap();
    assert_eq!(mechanism.start(), Err(MechanismError::ClosingRate { joint: "pin 3".into() }));
}

#[test]
fn joint_coordinates_read_what_was_done() {
    for kind in KINDS {
        for (free, seed) in [(true, 1), (true, 2), (false, 3), (false, 4), (false, 6)] {
            let mechanism = pair(kind, free, seed);
            let mut tree = mechanism.tree();
            let u: Vec<f64> = (0..tree.freedoms()).map(|i| 0.3 + 0.2 * i as f64).collect();
            let mut q = vec![0.0; mechanism.dimension()];
            tree.place(&u, &mechanism.start_position(), &mut q).unwrap();
            for name in ["joint", "base"] {
                let Some(joint) = mechanism.joint(name) else { continue };
                let found = mechanism.joint_coordinates(joint, &q).unwrap();
                for (f, x) in tree.joint_freedoms(joint).unwrap().zip(found) {
                    assert!((x - u[f]).abs() < 1e-14, "{kind} {name} {x} {}", u[f]);
                }
            }
        }
    }
}

#[test]
fn points_go_with_their_body() {
    let mechanism = pair(JointKind::Spherical, true, 1);
    let node = mechanism.node("second").unwrap();
    let at = [0.3, -0.2, 0.9];
    let point = mechanism.point(node, at).unwrap();
    let q = mechanism.start_position();
    assert!(point.at(&q).iter().zip(at).all(|(a, b)| (a - b).abs() < 1e-15));
    let centre = mechanism.centre(node).unwrap();
    assert_eq!(centre.at(&q), q[mechanism.coordinates(node)][..3]);
}

#[test]
fn redundant_rows_are_named_with_their_loop() {
    let mechanism = four_bar();
    let found = mechanism.redundancy(&mechanism.start_position()).unwrap();
    assert_eq!((found.rank, found.freedoms), (35, 1));
    // A planar loop in space: across the plane it is closed already.
    assert_eq!(found.rows.len(), 36 + 2 - found.rank);
    assert!(found.rows.iter().all(|row| row.starts_with("pin 3: ")));
    assert_eq!(found.loops, [["pin 0", "pin 1", "pin 2", "pin 3"]]);
    let open = branching(1);
    let found = open.redundancy(&open.start_position()).unwrap();
    assert!(found.rows.is_empty() && found.loops.is_empty());
    assert_eq!(found.rank, open.constraints().unwrap().len());
}

#[test]
fn long_chains_start_without_their_null_space() {
    let mut mechanism = Mechanism::new();
    let mut last = End::Ground;
    for i in 0..3000 {
        let x = f64::from(i);
        let inertia = Inertia::cuboid(1.0, [1.0, 0.1, 0.1]);
        let pose = Pose::at([x + 0.5, 0.0, 0.0]);
        let end = End::from(mechanism.add_body(&format!("bar {i}"), inertia, pose).unwrap());
        let (name, axis) = (format!("hinge {i}"), [0.0, 1.0, 0.0]);
        let ends = [last, end];
        let hinge = mechanism.add_joint(&name, JointKind::Revolute, ends, [x, 0.0, 0.0], axis);
        mechanism.set_rate(hinge.unwrap(), &[if i % 2 == 0 { 1.0 } else { -1.0 }]).unwrap();
        last = end;
    }
    let (q, v) = mechanism.start().unwrap();
    let rows = mechanism.constraints().unwrap();
    let mut gradients = vec![0.0; rows.entries()];
    rows.gradients(&q, 0.0, &mut gradients);
    let mut rates = vec![0.0; rows.len()];
    rows.multiply(&gradients, &v, &mut rates);
    assert!(largest(&rates) < 1e-11, "{:e}", largest(&rates));
    // Every other bar turns and sinks by its length a second.
    let end = mechanism.coordinates(mechanism.node("bar 2999").unwrap());
    assert!((v[end.start + 2] + 1500.0).abs() < 1e-9, "{}", v[end.start + 2]);
}

#[test]
fn the_pair_of_directors_of_a_hinge_is_never_singular() {
    let half = 0.5_f64.sqrt();
    let axes =
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [half, half, 0.0], [0.0, half, -half]];
    for axis in axes {
        for kind in [JointKind::Revolute, JointKind::Cylindrical, JointKind::Planar] {
            let mut mechanism = Mechanism::new();
            let inertia = Inertia::cuboid(1.0, [1.0; 3]);
            let body = mechanism.add_body("body", inertia, Pose::at([0.3, 0.1, 0.0])).unwrap();
            let ends = [End::Ground, body.into()];
            mechanism.add_joint("joint", kind, ends, [0.0; 3], axis).unwrap();
            let rows = mechanism.constraints().unwrap();
            let g = dense(&rows, &mechanism.start_position());
            let mut qr = PivotedQr::new(rows.len(), 12);
            assert_eq!(qr.factor(rows.len(), 12, &g, 1e-2).unwrap(), rows.len(), "{kind} {axis:?}");
        }
    }
    // The rule of [LMO] Remark 5.2, two directors that are not collinear with the axis, would allow d1 and d2 for an axis
    // between them: those rows depend on the internal ones.
    let mut mechanism = Mechanism::new();
    mechanism.add_node("body", Pose::at([0.0; 3])).unwrap();
    let mut rows = mechanism.constraints().unwrap();
    for d in [3, 6] {
        let row = Quadratic::new(-half, &[(d, half), (d + 1, half)], &[]).unwrap();
        rows.push(format!("axis·d{}", d / 3), row).unwrap();
    }
    let g = dense(&rows, &mechanism.start_position());
    assert_eq!(PivotedQr::new(8, 12).factor(8, 12, &g, 1e-9).unwrap(), 7);
}

#[test]
fn loops_close_at_any_size() {
    for size in [1e-6, 1.0, 1e5] {
        // A slider-crank: its travel is a length, its angles are not.
        let mut mechanism = Mechanism::new();
        let points = [[0.0; 3], [0.0, 0.0, size], [8.0_f64.sqrt() * size, 0.0, 0.0]];
        let mut last = End::Ground;
        for (i, at) in points.into_iter().enumerate() {
            let next = points.get(i + 1).unwrap_or(&at);
            let middle = std::array::from_fn(|k| 0.5 * (at[k] + next[k]));
            let name = ["crank", "rod", "slider"][i];
            let inertia = Inertia::cuboid(1.0, [size; 3]);
            let end = End::from(mechanism.add_body(name, inertia, Pose::at(middle)).unwrap());
            let kind = JointKind::Revolute;
            mechanism
                .add_joint(&format!("pin {i}"), kind, [last, end], at, [0.0, 1.0, 0.0])
                .unwrap();
            last = end;
        }
        let axis = [1.0, 0.0, 0.0];
        let ends = [last, End::Ground];
        mechanism.add_joint("guide", JointKind::Prismatic, ends, points[2], axis).unwrap();
        let mut closure = mechanism.closure().unwrap();
        let (mut q, mut next) = (mechanism.start_position(), vec![0.0; 36]);
        let guide = mechanism.coordinates(mechanism.node("slider").unwrap()).start;
        for _ in 0..20 {
            closure.place(&[0.3], &q, &mut next).unwrap();
            std::mem::swap(&mut q, &mut next);
            assert!(q[guide + 2].abs() < 1e-15 * size, "{size}: {:e}", q[guide + 2] / size);
        }
    }
}
