//! `[system]` beside bodies in one file: coordinates of its own, and formulas of everything that moves.

use nsm_problem::{Problem, RunResult, Watch};
use serde_json::Value;

fn results(text: &str) -> Vec<RunResult> {
    let problem = Problem::parse(text).unwrap_or_else(|e| panic!("{e}"));
    let made = |run| problem.execute(run, None, Watch::default()).unwrap();
    let results: Vec<RunResult> = problem.runs.iter().map(made).collect();
    for r in &results {
        assert!(r.failure.is_none(), "{}: {:?}", r.name, r.failure);
    }
    results
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

#[test]
fn a_system_and_a_body_that_do_not_know_each_other_move_as_if_alone() {
    let text = r#"
        gravity = [0, 0, -9.81]
        restitution = 0.5
        [system]
        coordinates = ["y"]
        mass = [2]
        potential = "2*9.81*y"
        inequality = { floor = "y" }
        [start]
        q = [1]
        [[body]]
        name = "ball"
        mass = 1
        shape = { sphere = 0.5 }
        position = [0, 0, 2.5]
        velocity = [1, 0, 0]
        [[plane]]
        name = "ground"
        normal = [0, 0, 1]
        [[run]]
        step = 0.01
        end = 0.7
    "#;
    let result = &results(text)[0];
    let json = result.json();
    // The scalar bounces at √(2/g), the ball at √(4/g): closed forms.
    let first = (2.0 / 9.81_f64).sqrt();
    let t = 0.7 - first;
    let y = 0.5 * first * 9.81 * t - 0.5 * 9.81 * t * t;
    let q = result.recording.samples.last().unwrap();
    let column = |name: &str| result.recording.columns.iter().position(|c| c == name).unwrap();
    assert!((q[column("y")] - y).abs() < 1e-12, "{} {y}", q[column("y")]);
    let second = (4.0 / 9.81_f64).sqrt();
    let t = 0.7 - second;
    let z = 0.5 + 0.5 * second * 9.81 * t - 0.5 * 9.81 * t * t;
    let ball = &json["final"]["bodies"]["ball"]["position"];
    assert!((number(&ball[2]) - z).abs() < 1e-12 && (number(&ball[0]) - 0.7).abs() < 1e-12);
    let times: Vec<f64> = json["event_times"].as_array().unwrap().iter().map(number).collect();
    assert!((times[0] - first).abs() < 1e-12 && (times[1] - second).abs() < 1e-12, "{times:?}");
}

/// A slider of 3 kg on a rail, tied by an equality to a coordinate of 2 kg that a force of 10 N pulls: 2 m/s².
const TIED: &str = r#"
    parameters = { F = 10 }
    [system]
    coordinates = ["s"]
    mass = [2]
    force = { s = "F" }
    equality = { tie = "s - slider.x" }
    invariants = { P = "p_s + p_slider.x" }
    [start]
    q = [0]
    [[body]]
    name = "slider"
    mass = 3
    inertia = [1, 1, 1]
    [[joint]]
    type = "prismatic"
    bodies = ["ground", "slider"]
    at = [0, 0, 0]
    axis = [1, 0, 0]
    [[run]]
    method = "vi"
    step = 0.01
    end = 1.0
    [[run]]
    method = "null-space"
    step = 0.01
    end = 1.0
    [[run]]
    method = "energy-momentum"
    step = 0.01
    end = 1.0
    [[run]]
    method = "svci"
    step = 0.01
    end = 1.0
    [[run]]
    method = "alpha-index3"
    step = 0.01
    end = 1.0
"#;

#[test]
fn an_equality_ties_a_coordinate_to_a_body_by_every_kind_of_method() {
    for result in results(TIED) {
        let json = result.json();
        let x = number(&json["final"]["bodies"]["slider"]["position"][0]);
        assert!((x - 1.0).abs() < 1e-4, "{}: {x}", result.name);
        assert!((number(&json["invariants"]["P"]["end"]) - 10.0).abs() < 1e-4, "{}", result.name);
        assert!(number(&json["residual"]["position"]) < 1e-10, "{}", result.name);
    }
}

#[test]
fn a_gap_by_formula_stops_a_body_and_friction_acts_along_its_tangent() {
    // A ball without a shape against a wall by formula: elastic along x; friction takes μ (1 + e) v_x of the velocity along y.
    let text = r#"
        restitution = 1
        friction = 0.1
        [system]
        inequality = { wall = "1 - ball.x" }
        tangent = { wall = ["v_ball.y", "v_ball.z"] }
        [[point_mass]]
        name = "ball"
        mass = 2
        position = [0, 0, 0]
        velocity = [2, 3, 0]
        [[run]]
        step = 0.01
        end = 1.0
    "#;
    let result = &results(text)[0];
    let json = result.json();
    let p = result.recording.samples.last().unwrap();
    let at = |name: &str| p[result.recording.columns.iter().position(|c| c == name).unwrap()];
    assert!(at("ball.x").abs() < 1e-12 && (at("v_ball.x") + 2.0).abs() < 1e-12);
    assert!((at("v_ball.y") - (3.0 - 0.1 * 2.0 * 2.0)).abs() < 1e-10, "{}", at("v_ball.y"));
    assert!((number(&json["event_times"][0]) - 0.5).abs() < 1e-12);
    let forgotten = text.replace("tangent = { wall = [\"v_ball.y\", \"v_ball.z\"] }", "");
    let message = Problem::parse(&forgotten).unwrap_err().to_string();
    assert!(message.contains("wall") && message.contains("tangent"), "{message}");
}

#[test]
fn mistakes_are_named_where_they_are() {
    for (piece, replacement, expected) in [
        ("s - slider.x", "s - slidr.x", "did you mean `slider_x`?"),
        ("q = [0]", "q = [0, 1]", "2 numbers for the 1 coordinates"),
        ("q = [0]\n", "", "give `q` in `[start]`"),
        ("mass = [2]", "mass = [2, 3]", "2 masses for 1 coordinates"),
        ("coordinates = [\"s\"]", "coordinates = [\"slider\"]", "slider"),
        ("force = { s =", "force = { S =", "there is no coordinate `S`"),
        ("mass = [2]", "mass = [2]\npotental = \"s\"", "did you mean `potential`?"),
    ] {
        let text = TIED.replace(piece, replacement);
        assert_ne!(text, TIED, "{piece}");
        let message = Problem::parse(&text).unwrap_err().to_string();
        assert!(message.contains(expected), "{replacement}: {message}");
    }
}

#[test]
fn a_row_on_velocities_ties_a_coordinate_to_a_body_without_work() {
    // w' = x x', so w = ½x² + c: holonomic in disguise, and the energy of both together stays.
    let text = |method: &str| {
        format!(
            r#"
            [system]
            coordinates = ["w"]
            mass = [0.5]
            nonholonomic = {{ tie = "v_w - ball.x*ball.vx" }}
            [start]
            q = [0]
            v = [0.5]
            [[body]]
            name = "ball"
            mass = 2
            shape = {{ sphere = 0.1 }}
            position = [1, 0, 0]
            velocity = [0.5, 0, 0]
            [[run]]
            method = "{method}"
            step = 0.01
            end = 2
            "#
        )
    };
    for method in ["vi", "energy-momentum"] {
        let result = &results(&text(method))[0];
        let q = result.recording.samples.last().unwrap();
        let column = |name: &str| result.recording.columns.iter().position(|c| c == name).unwrap();
        let x = number(&result.json()["final"]["bodies"]["ball"]["position"][0]);
        assert!((q[column("w")] - 0.5 * (x * x - 1.0)).abs() < 1e-12, "{method}");
        // ½(2 + ½x²) x'² is constant: the time to come from 1 to x.
        let speed = |x: f64| ((2.0 + 0.5) / (2.0 + 0.5 * x * x)).sqrt() * 0.5;
        let n = 1000;
        let each = (x - 1.0) / f64::from(n);
        let time: f64 = (0..n).map(|k| each / speed(1.0 + (f64::from(k) + 0.5) * each)).sum();
        assert!((time - 2.0).abs() < 1e-5, "{method}: {time}");
    }
}
