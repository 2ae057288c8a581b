//! Mechanisms in motion: conserved quantities, closed forms, reference solutions, equality of the forms of the scheme.

use nalgebra::{Matrix3, Vector3};
use nsm_constraints::multibody::{End, Inertia, JointKind, Mechanism, NodeId, Pose};
use nsm_model::{State, Stepper, System};
use nsm_vi::{
    Conditioning, Conserving, ForceAverage, NullSpace, Quadrature, Scheme, Segment, Variational,
};

const MIDPOINT: Quadrature = Quadrature::Midpoint;
const G: f64 = 9.81;

fn run<S: Stepper<State = State>>(
    mut stepper: S,
    start: &State,
    steps: usize,
    mut observe: impl FnMut(&State),
) -> State {
    let mut state = start.clone();
    for _ in 0..steps {
        stepper.step(&mut state).unwrap();
        observe(&state);
    }
    state
}

fn residual(system: &System, q: &[f64]) -> f64 {
    let rows = system.equalities();
    (0..rows.len()).map(|i| rows.value(i, q, 0.0).abs()).fold(0.0, f64::max)
}

fn energy(system: &System, state: &State) -> f64 {
    system.mass().kinetic_energy(&state.v) + system.potential().sum(&state.q, state.t)
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

const TOP_MASS: f64 = 1.2;
const TOP_ARM: f64 = 0.3;

/// A top on a ball joint at the origin, its centre of mass at 0.3 along the third director.
fn top(euler: [f64; 3], tilt: f64, angular: Vector3<f64>) -> Mechanism {
    let mut mechanism = Mechanism::new().with_gravity([0.0, 0.0, -G]).unwrap();
    let turned = Pose::turned([0.0; 3], [0.0, tilt, 0.0]);
    let position = turned.directors[2].map(|x| TOP_ARM * x);
    let pose = Pose { position, ..turned };
    let body = mechanism.add_body("top", Inertia::principal(TOP_MASS, euler), pose).unwrap();
    let ends = [End::Ground, body.into()];
    let ball = mechanism.add_joint("ball", JointKind::Spherical, ends, [0.0; 3], [0.0; 3]).unwrap();
    mechanism.set_rate(ball, angular.as_slice()).unwrap();
    mechanism
}

/// Rate of the steady precession of a symmetric top: I₁ Ω² cos θ − I₃ ω₃ Ω + m g l = 0, the slow root.
fn precession(euler: [f64; 3], tilt: f64, spin: f64) -> f64 {
    let i1 = euler[0] + euler[2] + TOP_MASS * TOP_ARM * TOP_ARM;
    let i3 = 2.0 * euler[0];
    let (momentum, c) = (i3 * spin, tilt.cos());
    let root = (momentum * momentum - 4.0 * i1 * c * TOP_MASS * G * TOP_ARM).sqrt();
    (momentum - root) / (2.0 * i1 * c)
}

#[test]
fn a_symmetric_top_keeps_both_momenta_and_precesses_steadily() {
    let (euler, tilt, spin): ([f64; 3], f64, f64) = ([0.04, 0.04, 0.01], 0.5, 60.0);
    let rate = precession(euler, tilt, spin);
    let figure = Vector3::new(tilt.sin(), 0.0, tilt.cos());
    let angular = Vector3::z() * rate + figure * (spin - rate * tilt.cos());
    let mechanism = top(euler, tilt, angular);
    let (system, start) = System::of(&mechanism).unwrap();
    let vertical = |state: &State| mechanism.angular_momentum(&state.q, &state.p)[2];
    // About the figure axis: the rotation that mixes d₁ and d₂.
    let about_figure = |state: &State| -> f64 {
        (0..3).map(|k| state.q[6 + k] * state.p[3 + k] - state.q[3 + k] * state.p[6 + k]).sum()
    };
    let (l, m) = (vertical(&start), about_figure(&start));
    assert!((m - 2.0 * euler[0] * spin).abs() < 1e-12);
    let azimuth_error = |h: f64, steps: usize| {
        let mut drift = 0.0_f64;
        let stepper =
            NullSpace::reparametrised(h, MIDPOINT).stepper_with(&system, mechanism.tree()).unwrap();
        let end = run(stepper, &start, steps, |state| {
            drift = drift.max((vertical(state) - l).abs());
            drift = drift.max((about_figure(state) - m).abs());
        });
        assert!(drift < 1e-12 * m, "{drift:e}");
        end.q[10].atan2(end.q[9]) - rate * h * steps as f64
    };
    // Half a second: an eighth of a turn.
    let (coarse, fine) = (azimuth_error(1e-3, 500), azimuth_error(5e-4, 1000));
    assert!(rate * 0.5 < std::f64::consts::PI && fine.abs() < 1e-3, "{rate} {fine:e}");
    let order = (coarse / fine).abs().log2();
    assert!((order - 2.0).abs() < 0.05, "{coarse:e} {fine:e} {order}");
    // The multiplier scheme keeps them too.
    let stepper = Variational::new(1e-3, MIDPOINT).stepper(&system).unwrap();
    run(stepper, &start, 200, |state| {
        assert!((vertical(state) - l).abs() < 1e-12 * m);
        assert!((about_figure(state) - m).abs() < 1e-12 * m);
    });
}

/// Euler's equations of a top about its pivot by the classical Runge–Kutta method: the end of its figure axis.
fn reference_top(euler: [f64; 3], tilt: f64, angular: Vector3<f64>, time: f64) -> Vector3<f64> {
    let trace: f64 = euler.iter().sum();
    let mut inertia = Matrix3::from_diagonal(&Vector3::from_fn(|i, _| trace - euler[i]));
    inertia[(0, 0)] += TOP_MASS * TOP_ARM * TOP_ARM;
    inertia[(1, 1)] += TOP_MASS * TOP_ARM * TOP_ARM;
    let inverse = inertia.try_inverse().unwrap();
    let rates = |r: &Matrix3<f64>, w: &Vector3<f64>| {
        let weight = r.transpose() * Vector3::new(0.0, 0.0, -TOP_MASS * G);
        let moment = Vector3::new(0.0, 0.0, TOP_ARM).cross(&weight);
        (r * w.cross_matrix(), inverse * (moment - w.cross(&(inertia * w))))
    };
    let mut r = *nalgebra::Rotation3::from_axis_angle(&Vector3::y_axis(), tilt).matrix();
    let mut w = r.transpose() * angular;
    let steps = 20_000;
    let h = time / f64::from(steps);
    for _ in 0..steps {
        let (a, b) = rates(&r, &w);
        let (c, d) = rates(&(r + a * (0.5 * h)), &(w + b * (0.5 * h)));
        let (e, f) = rates(&(r + c * (0.5 * h)), &(w + d * (0.5 * h)));
        let (g, k) = rates(&(r + e * h), &(w + f * h));
        r += (a + (c + e) * 2.0 + g) * (h / 6.0);
        w += (b + (d + f) * 2.0 + k) * (h / 6.0);
    }
    r.column(2).into_owned()
}

#[test]
fn an_asymmetric_top_converges_to_the_solution_of_eulers_equations() {
    let (euler, tilt) = ([0.03, 0.05, 0.02], 0.7);
    let angular = Vector3::new(1.0, -2.0, 9.0);
    let mechanism = top(euler, tilt, angular);
    let (system, start) = System::of(&mechanism).unwrap();
    let exact = reference_top(euler, tilt, angular, 1.0);
    let method = |h: f64| NullSpace::reparametrised(h, MIDPOINT);
    let error = |h: f64, steps: usize| {
        let stepper = method(h).stepper_with(&system, mechanism.tree()).unwrap();
        let end = run(stepper, &start, steps, |_| {});
        (Vector3::from_column_slice(&end.q[9..12]) - exact).norm()
    };
    let (coarse, fine) = (error(2e-3, 500), error(1e-3, 1000));
    let order = (coarse / fine).log2();
    assert!(fine < 1e-3 && (order - 2.0).abs() < 0.05, "{coarse:e} {fine:e}");
    // Energy: bounded by the variational scheme, exact by the energy–momentum scheme.
    let before = energy(&system, &start);
    let stepper = Conserving::new(2e-3).stepper(&system).unwrap();
    run(stepper, &start, 500, |state| assert!((energy(&system, state) - before).abs() < 1e-11));
}

/// A chain of five bodies, one joint of each kind between neighbours.
fn chain() -> (Mechanism, Vec<NodeId>) {
    let mut mechanism = Mechanism::new();
    let mut nodes: Vec<NodeId> = Vec::new();
    let kinds = [
        JointKind::Revolute,
        JointKind::Spherical,
        JointKind::Prismatic,
        JointKind::Cylindrical,
        JointKind::Planar,
        JointKind::Fixed,
    ];
    let rates: [&[f64]; 6] =
        [&[3.0], &[1.0, -2.0, 0.5], &[0.3], &[2.0, -0.2], &[-1.5, 0.1, 0.2], &[]];
    for i in 0..7 {
        let x = f64::from(i);
        let pose = Pose::turned([x, 0.1 * x, -0.2 * x], [0.3 * x, 0.2, -0.1 * x]);
        let inertia = Inertia::cuboid(1.0 + 0.2 * x, [0.8, 0.3, 0.2 + 0.05 * x]);
        nodes.push(mechanism.add_body(&format!("link {i}"), inertia, pose).unwrap());
    }
    for (i, (kind, rate)) in kinds.into_iter().zip(rates).enumerate() {
        let at = [i as f64 + 0.5, 0.0, 0.1];
        let axis = [0.6, 0.0, 0.8];
        let ends = [nodes[i].into(), nodes[i + 1].into()];
        let joint = mechanism.add_joint(&format!("{kind}"), kind, ends, at, axis).unwrap();
        mechanism.set_rate(joint, rate).unwrap();
    }
    mechanism.set_velocity(nodes[0], [0.2, -0.1, 0.3], [0.5, 0.4, -0.6]).unwrap();
    (mechanism, nodes)
}

#[test]
fn a_free_chain_keeps_momentum_and_angular_momentum_to_round_off() {
    let (mechanism, _) = chain();
    let (system, start) = System::of(&mechanism).unwrap();
    assert_eq!(system.dimension() - system.equalities().len(), 6 + 1 + 3 + 1 + 2 + 3);
    let momenta = |state: &State| {
        let linear = mechanism.linear_momentum(&state.p);
        [linear, mechanism.angular_momentum(&state.q, &state.p)].concat()
    };
    let before = momenta(&start);
    let scale = before.iter().fold(0.0_f64, |a, x| a.max(x.abs()));
    let check = |state: &State| {
        let drift = distance(&momenta(state), &before);
        assert!(drift < 2e-13 * scale, "{drift:e} of {scale}");
        assert!(residual(&system, &state.q) < 1e-12, "{:e}", residual(&system, &state.q));
    };
    let h = 5e-3;
    let tree = NullSpace::reparametrised(h, MIDPOINT).stepper_with(&system, mechanism.tree());
    let a = run(tree.unwrap(), &start, 300, check);
    let multipliers = Variational::new(h, MIDPOINT).stepper(&system).unwrap();
    let b = run(multipliers, &start, 300, check);
    assert!(distance(&a.q, &b.q) < 1e-10, "{:e}", distance(&a.q, &b.q));
}

#[test]
fn every_joint_holds_while_it_moves() {
    for (kind, rates) in [
        (JointKind::Revolute, &[2.0][..]),
        (JointKind::Prismatic, &[0.5]),
        (JointKind::Cylindrical, &[2.0, 0.5]),
        (JointKind::Spherical, &[2.0, 1.0, -3.0]),
        (JointKind::Planar, &[2.0, 0.5, -0.3]),
        (JointKind::Fixed, &[]),
    ] {
        let mut mechanism = Mechanism::new().with_gravity([1.0, 2.0, -G]).unwrap();
        let inertia = Inertia::cuboid(2.0, [0.5, 0.4, 0.3]);
        let [first, second] = [("first", 0.4), ("second", 1.2)].map(|(name, x)| {
            let pose = Pose::turned([x, 0.2, -0.1], [x, -0.5, 0.3]);
            mechanism.add_body(name, inertia, pose).unwrap()
        });
        let axis = [0.0, 0.6, 0.8];
        let base = if kind == JointKind::Fixed { JointKind::Revolute } else { kind };
        let ground = [End::Ground, first.into()];
        mechanism.add_joint("base", base, ground, [0.0; 3], axis).unwrap();
        // Against the direction of the tree.
        let ends = [second.into(), first.into()];
        let joint = mechanism.add_joint("joint", kind, ends, [0.8, 0.1, 0.0], axis).unwrap();
        mechanism.set_rate(joint, rates).unwrap();
        let (system, start) = System::of(&mechanism).unwrap();
        let check = |state: &State| {
            let open = residual(&system, &state.q);
            assert!(open < 1e-12 * (1.0 + distance(&state.q, &start.q)), "{kind} {open:e}");
        };
        let h = 2e-3;
        let tree = NullSpace::reparametrised(h, MIDPOINT).stepper_with(&system, mechanism.tree());
        let a = run(tree.unwrap(), &start, 300, check);
        let multipliers = Variational::new(h, MIDPOINT).stepper(&system).unwrap();
        let b = run(multipliers, &start, 300, check);
        assert!(distance(&a.q, &b.q) < 1e-10, "{kind} {:e}", distance(&a.q, &b.q));
    }
}

/// A chain of pins along y in the plane of x and z: bars between the points, the first pin on the ground.
fn bars(mechanism: &mut Mechanism, points: &[[f64; 3]], names: &[&str]) -> Vec<End> {
    let mut ends = vec![End::Ground];
    for (pair, name) in points.windows(2).zip(names) {
        let middle = std::array::from_fn(|k| 0.5 * (pair[0][k] + pair[1][k]));
        let inertia = Inertia::cuboid(1.0, [0.1, 0.1, 0.8]);
        ends.push(mechanism.add_body(name, inertia, Pose::at(middle)).unwrap().into());
    }
    for (i, at) in points.iter().enumerate().take(names.len()) {
        let (name, pins) = (format!("pin {i}"), [ends[i], ends[i + 1]]);
        mechanism.add_joint(&name, JointKind::Revolute, pins, *at, [0.0, 1.0, 0.0]).unwrap();
    }
    ends
}

#[test]
fn a_four_bar_linkage_turns_round_in_all_forms_of_the_scheme() {
    let pins = [[0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [3.0, 0.0, 2.0], [4.0, 0.0, 0.0]];
    let mut mechanism = Mechanism::new().with_gravity([0.0, 0.0, -G]).unwrap();
    let ends = bars(&mut mechanism, &pins, &["crank", "coupler", "rocker"]);
    let axis = [0.0, 1.0, 0.0];
    mechanism
        .add_joint("pin 3", JointKind::Revolute, [ends[3], End::Ground], pins[3], axis)
        .unwrap();
    let (crank, rocker) = (mechanism.joint("pin 0").unwrap(), mechanism.joint("pin 3").unwrap());
    mechanism.set_rate(crank, &[12.0]).unwrap();
    let (system, start) = System::of(&mechanism).unwrap();
    assert_eq!(mechanism.redundancy(&start.q).unwrap().rows.len(), 3);
    let before = energy(&system, &start);
    let (mut turns, mut last) = (0.0, 0.0);
    let mut check = |state: &State| {
        assert!(residual(&system, &state.q) < 1e-12);
        assert!((energy(&system, state) - before).abs() < 1e-2 * before.abs());
        let [a, _, _] = mechanism.joint_coordinates(crank, &state.q).unwrap();
        let [b, _, _] = mechanism.joint_coordinates(rocker, &state.q).unwrap();
        // The coupler's length between the tips of crank and rocker; the ground turns by −b relative to the rocker.
        let tip = [a.sin(), a.cos()];
        let (s, c) = (-b).sin_cos();
        let other = [4.0 - c + 2.0 * s, s + 2.0 * c];
        let length = (tip[0] - other[0]).hypot(tip[1] - other[1]);
        assert!((length - 10.0_f64.sqrt()).abs() < 1e-13, "{length}");
        let step = (a - last + std::f64::consts::PI).rem_euclid(std::f64::consts::TAU);
        turns += (step - std::f64::consts::PI) / std::f64::consts::TAU;
        last = a;
    };
    let h = 2e-3;
    let method = NullSpace::reparametrised(h, MIDPOINT);
    let closed = method.stepper_with(&system, mechanism.closure().unwrap()).unwrap();
    let a = run(closed, &start, 600, &mut check);
    assert!(turns.abs() > 1.5, "{turns}");
    for (name, b) in [
        (
            "multipliers",
            run(Variational::new(h, MIDPOINT).stepper(&system).unwrap(), &start, 600, |_| {}),
        ),
        (
            "null space",
            run(NullSpace::new(h, MIDPOINT).stepper(&system).unwrap(), &start, 600, |_| {}),
        ),
        ("normal chart", run(method.stepper(&system).unwrap(), &start, 600, |_| {})),
    ] {
        assert!(distance(&a.q, &b.q) < 1e-10, "{name} {:e}", distance(&a.q, &b.q));
    }
}

#[test]
fn a_slider_crank_follows_its_closed_form() {
    let (r, l) = (1.0_f64, 3.0_f64);
    let end = (l * l - r * r).sqrt();
    let points = [[0.0; 3], [0.0, 0.0, r], [end, 0.0, 0.0]];
    let mut mechanism = Mechanism::new();
    let ends = bars(&mut mechanism, &points, &["crank", "rod"]);
    let slider = Inertia::cuboid(0.5, [0.2; 3]);
    let slider = mechanism.add_body("slider", slider, Pose::at(points[2])).unwrap();
    let pin = [ends[2], slider.into()];
    mechanism.add_joint("wrist", JointKind::Revolute, pin, points[2], [0.0, 1.0, 0.0]).unwrap();
    let guide = [End::Ground, slider.into()];
    let guide =
        mechanism.add_joint("guide", JointKind::Prismatic, guide, points[2], [1.0, 0.0, 0.0]);
    let (guide, crank) = (guide.unwrap(), mechanism.joint("pin 0").unwrap());
    mechanism.set_rate(crank, &[5.0]).unwrap();
    let (system, start) = System::of(&mechanism).unwrap();
    assert_eq!(mechanism.redundancy(&start.q).unwrap().freedoms, 1);
    let node = mechanism.coordinates(mechanism.node("crank").unwrap());
    let check = |state: &State| {
        let [turned, _, _] = mechanism.joint_coordinates(crank, &state.q).unwrap();
        let [travel, _, _] = mechanism.joint_coordinates(guide, &state.q).unwrap();
        // The crank starts upright and turns from z to x.
        let (s, c) = turned.sin_cos();
        let reach = (l * l - r * r * c * c).sqrt();
        assert!((end + travel - (r * s + reach)).abs() < 1e-13);
        // Rates: the middle of the crank moves at r/2 times that of the angle.
        let rate = 2.0 / r * (state.v[node.start] * c - state.v[node.start + 2] * s);
        let speed = rate * (r * c + r * r * s * c / reach);
        let x = mechanism.coordinates(slider).start;
        assert!((state.v[x] - speed).abs() < 1e-12, "{} {speed}", state.v[x]);
        assert!(residual(&system, &state.q) < 1e-12);
    };
    let h = 2e-3;
    let method = NullSpace::reparametrised(h, MIDPOINT);
    let closed = method.stepper_with(&system, mechanism.closure().unwrap()).unwrap();
    let a = run(closed, &start, 1000, check);
    let b = run(Variational::new(h, MIDPOINT).stepper(&system).unwrap(), &start, 1000, check);
    assert!(distance(&a.q, &b.q) < 1e-10, "{:e}", distance(&a.q, &b.q));
}

#[test]
fn ill_conditioning_of_both_schemes_is_a_matter_of_scaling() {
    let mechanism = top([0.03, 0.05, 0.02], 0.7, Vector3::new(1.0, -2.0, 9.0));
    let (system, start) = System::of(&mechanism).unwrap();
    let rows: Vec<usize> = (0..system.equalities().len()).collect();
    let at = |h: f64| {
        let mut stepper = Conserving::new(h).stepper(&system).unwrap();
        let mut state = start.clone();
        stepper.step(&mut state).unwrap();
        let segment = Segment { start: &start.q, end: &state.q, t: 0.0, h };
        let average = ForceAverage::Conserving;
        let scheme = Scheme::Conserving { average, multipliers: stepper.multipliers() };
        let found = Conditioning::new(&system, scheme, segment).unwrap();
        // Nothing is redundant: keeping all rows is the same, to what round-off of the largest singular value leaves of
        // the smallest.
        let kept = Conditioning::keeping(&system, scheme, segment, &rows).unwrap();
        assert!((kept / found.multipliers - 1.0).abs() < 1e-14 * kept, "{kept:e}");
        // The same row twice is singular.
        let doubled = [&rows[..8], &[0]].concat();
        let singular = Conditioning::keeping(&system, scheme, segment, &doubled).unwrap();
        assert!(singular > 1e14, "{singular:e}");
        assert!(Conditioning::keeping(&system, scheme, segment, &[99]).is_err());
        let short = Scheme::Conserving { average, multipliers: &[0.0] };
        assert!(Conditioning::new(&system, short, segment).is_err());
        found
    };
    let (coarse, fine) = (at(1e-2), at(1e-4));
    let grown = (fine.multipliers / coarse.multipliers).log10() / 2.0;
    assert!((grown - 3.0).abs() < 0.2, "{grown}");
    for (a, b) in [
        (coarse.scaled, fine.scaled),
        (coarse.null_space, fine.null_space),
        (coarse.reparametrised, fine.reparametrised),
    ] {
        assert!((a / b - 1.0).abs() < 0.3, "{a} {b}");
    }
}
