//! Problem files with joints: what they mean, and a file with each kind of mistake.

mod common;

use common::message;
use nsm_problem::{Problem, RunResult, Watch};

/// A flat bar on a hinge: the director across it has no inertia.
const PENDULUM: &str = r#"
gravity = [0, 0, -9.81]
[[body]]
name = "bar"
mass = 2
inertia = [0.1, 0.6, 0.5]
position = [0.8, 0, 0]
[[joint]]
name = "hinge"
type = "revolute"
bodies = ["ground", "bar"]
at = [0, 0, 0]
axis = [0, 1, 0]
rate = 1.5
[[run]]
name = "vi"
method = "vi"
step = 1e-3
end = 2
"#;

/// A loop of three bars on parallel hinges: the planar hinges make the loop redundant three times.
const FOUR_BAR: &str = r#"
gravity = [0, 0, -9.81]
[[body]]
name = "crank"
mass = 1
euler = [0.02, 0.001, 0.003]
position = [0, 0, 0.5]
[[body]]
name = "coupler"
mass = 2
euler = [0.2, 0.001, 0.003]
position = [1, 0, 1]
[[body]]
name = "rocker"
mass = 1
euler = [0.02, 0.001, 0.003]
position = [2, 0, 0.5]
[[joint]]
type = "revolute"
bodies = ["ground", "crank"]
at = [0, 0, 0]
axis = [0, 1, 0]
rate = 6
[[joint]]
type = "revolute"
bodies = ["crank", "coupler"]
at = [0, 0, 1]
axis = [0, 1, 0]
[[joint]]
type = "revolute"
bodies = ["coupler", "rocker"]
at = [2, 0, 1]
axis = [0, 1, 0]
[[joint]]
type = "revolute"
bodies = ["rocker", "ground"]
at = [2, 0, 0]
axis = [0, 1, 0]
[[run]]
name = "vi"
method = "vi"
step = 1e-3
end = 0.3
[[run]]
name = "null-space"
method = "null-space"
step = 1e-3
end = 0.3
[[run]]
name = "reparametrised"
method = "null-space-reparametrised"
step = 1e-3
end = 0.3
[[run]]
name = "energy-momentum"
method = "energy-momentum"
step = 1e-3
end = 0.3
"#;

fn results(text: &str) -> Vec<RunResult> {
    let problem = Problem::parse(text).unwrap();
    let run = |run| problem.execute(run, None, Watch::default()).unwrap();
    let results: Vec<_> = problem.runs.iter().map(run).collect();
    for result in &results {
        assert!(result.failure.is_none(), "{}: {:?}", result.name, result.failure);
    }
    results
}

fn replaced(text: &str, piece: &str, replacement: &str) -> String {
    assert!(text.contains(piece), "{piece}");
    text.replacen(piece, replacement, 1)
}

#[test]
fn a_bar_on_a_hinge_swings_like_its_angle() {
    // J about the hinge is 0.6 + 2·0.8², and positive turns about y lower the bar.
    let angle = r#"
        [system]
        coordinates = ["a"]
        mass = [1.88]
        potential = "-2*9.81*0.8*sin(a)"
        [start]
        q = [0]
        v = [1.5]
        [[run]]
        method = "vi"
        step = 1e-3
        end = 2
    "#;
    let bar = &results(PENDULUM)[0].json()["final"];
    let a = results(angle)[0].json()["final"]["q"][0].as_f64().unwrap();
    let position = &bar["bodies"]["bar"]["position"];
    for (found, expected) in [(0, 0.8 * a.cos()), (1, 0.0), (2, -0.8 * a.sin())] {
        let found = position[found].as_f64().unwrap();
        // Both are of second order, with different constants.
        assert!((found - expected).abs() < 3e-5, "{found} against {expected}");
    }
    assert!((bar["bodies"]["bar"]["rotation"][0][0].as_f64().unwrap() - a.cos()).abs() < 3e-5);
}

#[test]
fn all_methods_agree_on_a_redundant_loop() {
    let results = results(FOUR_BAR);
    let places: Vec<Vec<f64>> = results
        .iter()
        .map(|r| {
            let json = r.json();
            assert!(json["residual"]["position"].as_f64().unwrap() < 1e-11, "{}", r.name);
            let q = json["final"]["q"].as_array().unwrap();
            q.iter().map(|x| x.as_f64().unwrap()).collect()
        })
        .collect();
    let distance = |a: usize, b: usize| {
        places[a].iter().zip(&places[b]).fold(0.0_f64, |m, (x, y)| m.max((x - y).abs()))
    };
    assert!(distance(0, 1) < 1e-10 && distance(0, 2) < 1e-10, "one integrator in three forms");
    assert!(distance(0, 3) < 1e-3, "energy-momentum is another one of second order");
    let energy = &results[3].json()["energy"];
    let drift = energy["end"].as_f64().unwrap() - energy["start"].as_f64().unwrap();
    assert!(drift.abs() < 1e-10, "{drift:e}");
}

#[test]
fn bodies_that_meet_no_plane_take_methods_for_coordinates() {
    let free = r#"
        [[body]]
        mass = 1
        inertia = [5, 4, 2.6]
        momentum = [2, 2, 10]
        angular_momentum = [4, -4, 4]
        [[run]]
        name = "directors"
        method = "vi"
        step = 1e-3
        end = 1
        [[run]]
        name = "lie"
        method = "lgvci"
        step = 1e-3
        end = 1
    "#;
    let results = results(free);
    let body = |i: usize| results[i].json()["final"]["bodies"]["body1"].clone();
    let (a, b) = (body(0), body(1));
    for key in ["position", "momentum", "angular_momentum"] {
        for k in 0..3 {
            let (a, b) = (a[key][k].as_f64().unwrap(), b[key][k].as_f64().unwrap());
            assert!((a - b).abs() < 1e-5, "{key}: {a} against {b}");
        }
    }
    let l = &results[0].json()["invariants"]["Lx"];
    assert!((l["max"].as_f64().unwrap() - l["min"].as_f64().unwrap()).abs() < 1e-12);
}

#[test]
fn velocities_of_bodies_on_joints_move_the_rest_along() {
    let by_rate = results(PENDULUM)[0].json();
    let moved = replaced(PENDULUM, "rate = 1.5\n", "");
    let by_body = replaced(&moved, "mass = 2\n", "mass = 2\nangular_velocity = [0, 1.5, 0]\n");
    let start = |json: &serde_json::Value| json["energy"]["start"].as_f64().unwrap();
    let by_body = start(&results(&by_body)[0].json());
    assert!((start(&by_rate) - by_body).abs() < 1e-14 * by_body, "{by_body}");
    let impossible = replaced(&moved, "mass = 2\n", "mass = 2\nvelocity = [1, 0, 0]\n");
    let refused = message(&impossible);
    assert!(
        refused.contains("the joints do not allow") && refused.contains("`bar.x`"),
        "{refused}"
    );
    let both = replaced(PENDULUM, "mass = 2\n", "mass = 2\nangular_velocity = [0, 1.5, 0]\n");
    let refused = message(&both);
    assert!(refused.contains("`bar` hangs on joints"), "{refused}");
}

/// A beam clamped at one end, pulled along its axis and let go.
const BEAM: &str = r#"
[[beam]]
name = "beam"
ends = [[0, 0, 0], [1, 0, 0]]
elements = 4
GA = [1000, 1000]
EA = 2000
EI1 = 10
EI2 = 10
GJ = 5
mass = 1
inertia = 0.01
[[point_mass]]
name = "end"
where = "beam.end"
mass = 2
[[joint]]
name = "clamp"
type = "fixed"
bodies = ["ground", "beam.start"]
at = [0, 0, 0]
[[load]]
name = "pull"
where = "beam.end"
direction = [1, 0, 0]
table = [[0, 0], [0.1, 5], [0.2, 0]]
[[run]]
method = "vi"
step = 2e-3
end = 1
[[run]]
method = "energy-momentum"
step = 2e-3
end = 1
"#;

#[test]
fn a_pulled_beam_stays_straight_and_keeps_its_energy_after_the_load() {
    for result in results(BEAM) {
        let json = result.json();
        let end = &json["final"]["bodies"]["beam[4]"]["position"];
        for k in 1..3 {
            assert!(end[k].as_f64().unwrap().abs() < 1e-12, "{}", result.name);
        }
        let energy = result.recording.column("E").unwrap();
        let times = result.recording.column("t").unwrap();
        let after: Vec<f64> =
            times.iter().zip(&energy).filter(|(t, _)| **t > 0.21).map(|(_, e)| *e).collect();
        let (low, high) = after
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), &e| (a.min(e), b.max(e)));
        assert!(low > 0.0, "the pull did work");
        let band = (high - low) / high;
        assert!(band < if result.name == "vi" { 1e-2 } else { 1e-10 }, "{}: {band:e}", result.name);
    }
    for (piece, replacement, expected) in [
        ("elements = 4", "elements = 0", "beam"),
        ("EA = 2000", "EA = -1", "EA"),
        ("EA = 2000\n", "", "`EA` is missing"),
        ("[[0, 0, 0], [1, 0, 0]]", "[[0, 0, 0], [0, 0, 0]]", "beam"),
        ("[[0, 0, 0], [1, 0, 0]]", "[[0, 0, 0]]", "expected two points"),
        ("\"beam.end\"\nmass", "\"beam.middl\"\nmass", "there is no body `beam.middl`"),
        ("[0.1, 5]", "[0.3, 5]", "later than the one before"),
        ("[0.1, 5]", "[0.1]", "pairs"),
        ("inertia = 0.01", "inertia = 0.01\ntriad = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]", "beam"),
        ("mass = 1\n", "mass = 1\nA = 3\n", "unknown key `A`"),
    ] {
        let found = message(&replaced(BEAM, piece, replacement));
        assert!(found.contains(expected), "{replacement}: {found}");
    }
}

#[test]
fn each_kind_of_mistake_is_named() {
    for (piece, replacement, expected) in [
        ("\"bar\"]", "\"barr\"]", "there is no body `barr`, did you mean `bar`?"),
        ("[\"ground\", \"bar\"]", "[\"bar\"]", "a joint has two bodies, here are 1"),
        ("[\"ground\", \"bar\"]", "[\"bar\", \"bar\"]", "hinge"),
        ("axis = [0, 1, 0]\n", "", "`axis` is missing"),
        ("axis = [0, 1, 0]", "axis = [0, 2, 0]", "hinge"),
        ("type = \"revolute\"", "type = \"revolut\"", "did you mean `revolute`?"),
        ("rate = 1.5", "rate = [1, 2]", "hinge"),
        ("rate = 1.5", "rates = 1.5", "did you mean `rate`?"),
        ("at = [0, 0, 0]\n", "", "`at` is missing"),
        ("mass = 2", "mass = -2", "bar"),
        ("inertia = [0.1, 0.6, 0.5]", "inertia = [0.1, 0.9, 0.1]", "bar"),
        ("inertia = [0.1, 0.6, 0.5]", "euler = [1, 1, 1]\ninertia = [2, 2, 2]", "not both"),
        ("inertia = [0.1, 0.6, 0.5]\n", "", "give `euler` or `inertia`"),
        ("[[run]]", "[[plane]]\nnormal = [0, 0, 0]\n[[run]]", "zero"),
        ("[[run]]", "friction = 0.3\n[[run]]", "do not rub"),
        ("method = \"vi\"", "method = \"lgvci\"", "methods for joints are svci"),
    ] {
        let found = message(&replaced(PENDULUM, piece, replacement));
        assert!(found.contains(expected), "{replacement}: {found}");
    }
    // Welded to the ground it cannot move.
    let welded = replaced(&replaced(PENDULUM, "revolute", "fixed"), "rate = 1.5\n", "");
    let found = message(&welded);
    assert!(found.contains("hinge"), "{found}");
}
