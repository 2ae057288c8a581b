//! Springs, motors, limits and couplings through problem files: the suite's expectations, what joints carry, and a file with each kind of mistake.

mod common;

use common::message;
use nsm_problem::{Problem, RunResult, Watch};

fn judged(name: &str) {
    let home = concat!(env!("CARGO_MANIFEST_DIR"), "/../../benchmarks/mechanisms/");
    let problem = Problem::read(format!("{home}{name}.toml").as_ref()).unwrap();
    let results: Vec<RunResult> = problem
        .runs
        .iter()
        .map(|run| problem.execute(run, None, Watch::default()).unwrap())
        .collect();
    for result in &results {
        assert!(result.failure.is_none(), "{name}: {:?}", result.failure);
        assert_eq!(result.ledger.warnings(), [], "{name}: {}", result.name);
    }
    let verdicts = problem.judge(&results).unwrap();
    assert!(verdicts.len() >= problem.runs.len());
    for verdict in verdicts {
        assert!(verdict.holds, "{name}: {verdict:?}");
    }
}

#[test]
fn springs_and_dampers_follow_their_closed_forms() {
    judged("torsion");
    judged("damped-spring");
}

#[test]
fn motors_and_controllers_move_what_they_drive() {
    judged("slider-crank");
    judged("controlled");
}

#[test]
fn stops_and_ropes_are_contacts() {
    judged("stops");
    judged("rope");
}

#[test]
fn screws_gears_and_universal_joints_couple_freedoms() {
    judged("screw");
    judged("gears");
    judged("universal");
}

/// A bar on a hinge about y, drawn along x, with more keys in the joint and more tables behind.
fn bar(keys: &str, more: &str) -> String {
    format!(
        r#"
        gravity = [0, 0, -9.81]
        [[body]]
        name = "bar"
        mass = 2
        inertia = [0.1, 0.2, 0.2]
        position = [0.5, 0, 0]
        [[joint]]
        name = "hinge"
        type = "revolute"
        bodies = ["ground", "bar"]
        at = [0, 0, 0]
        axis = [0, 1, 0]
        {keys}
        {more}
        [[run]]
        method = "vi"
        step = 0.01
        end = 0.1
        "#
    )
}

fn run(text: &str) -> RunResult {
    let problem = Problem::parse(text).unwrap_or_else(|e| panic!("{e}"));
    problem.execute(&problem.runs[0], None, Watch::default()).unwrap()
}

fn number(result: &RunResult, path: &str) -> f64 {
    match result.figure(path) {
        Ok(nsm_formula::Figure::Number(x)) => x,
        other => panic!("{path}: {other:?}"),
    }
}

#[test]
fn a_hinge_carries_the_weight_that_a_torque_holds_up() {
    // About y the weight turns the bar by +m g l; a = x is across the axis, b = y × x = -z.
    let result = run(&bar("torque = \"-9.81\"", ""));
    assert_eq!(result.ledger.warnings(), [], "at rest there is nothing to warn of");
    for (path, expected) in [
        ("reactions.hinge.force.end[2]", -19.62),
        ("reactions.hinge.force.end[0]", 0.0),
        ("reactions.hinge.force.max", 19.62),
        ("reactions.hinge.torque.max", 0.0),
    ] {
        let found = number(&result, path);
        assert!((found - expected).abs() < 1e-10, "{path}: {found}");
    }
    // Held by a load at the far end instead: half of the weight each.
    let load = "[[load]]\nwhere = \"bar\"\nat = [1, 0, 0]\ndirection = [0, 0, 1]\nvalue = 9.81";
    let result = run(&bar("", load));
    assert!((number(&result, "reactions.hinge.force.end[2]") + 9.81).abs() < 1e-10);
    // By a torque of the world and one of the body, which is the same about the axis of the hinge.
    for frame in ["world", "body"] {
        let load = format!(
            "[[load]]\nwhere = \"bar\"\ntorque = [0, -1, 0]\nframe = \"{frame}\"\nvalue = \"9.81\""
        );
        let result = run(&bar("", &load));
        assert!((number(&result, "reactions.hinge.force.end[2]") + 19.62).abs() < 1e-10);
        assert!(number(&result, "energy.deviation") < 1e-14);
    }
    // A stop carries the torque as well.
    let stop = bar("limits = [-1, 1e-300]", "").replace("\"vi\"", "\"svci\"");
    let result = run(&stop.replace("gravity", "restitution = 0\ngravity"));
    assert!((number(&result, "reactions.hinge_upper.end") - 9.81).abs() < 1e-9);
}

#[test]
fn a_force_that_follows_the_body_pushes_it_along_itself() {
    // Free body, force along its own axis through the centre, and a torque about the same axis: it flies straight and spins up.
    let text = r#"
        [[body]]
        name = "rocket"
        mass = 2
        inertia = [0.1, 0.2, 0.2]
        [[load]]
        name = "thrust"
        where = "rocket"
        direction = [1, 0, 0]
        frame = "body"
        value = "3 + t"
        [[load]]
        name = "roll"
        where = "rocket"
        torque = [1, 0, 0]
        frame = "body"
        value = 0.2
        [[run]]
        method = "energy-momentum"
        step = 0.01
        end = 2
    "#;
    let result = run(text);
    // v = (3 t + t²/2)/m, w = 0.2 t/J.
    assert!((number(&result, "final.bodies.rocket.momentum[0]") - 8.0).abs() < 1e-12);
    let spin = number(&result, "final.bodies.rocket.angular_momentum[0]");
    assert!((spin - 0.4).abs() < 1e-3, "{spin}");
    assert!(number(&result, "balance.deviation") < 1e-10);
}

#[test]
fn mistakes_are_named_with_what_to_do() {
    let spring = |keys: &str| {
        bar("", &format!("[[spring]]\nname = \"s\"\nbetween = [\"ground\", \"bar\"]\n{keys}"))
    };
    let joint = |keys: &str| bar("", &format!("[[joint]]\nname = \"extra\"\n{keys}"));
    let second = "[[body]]\nname = \"b\"\nmass = 1\ninertia = [1, 1, 1]\nposition = [1, 0, 0]\n";
    for (text, expected) in [
        (
            spring("at = [[0, 0, 0], [0, 0, 0]]\nlength = 0.5\nstiffness = 3"),
            "no direction: its points on `the ground` and `bar` coincide",
        ),
        (spring("stiffness = 3"), "`at` is missing: the ground has no centre"),
        (spring("at = [[0, 0, 1], [1, 0, 0]]"), "give `stiffness`, `damping` or both"),
        (spring("at = [[0, 0, 1], [1, 0, 0]]\nstiffness = -3"), "finite and not negative"),
        (spring("at = [[0, 0, 1], [1, 0, 0]]\nforce = \"3*x\""), "there is no `x`"),
        (spring("at = [[0, 0, 1], [1, 0, 0]]\nforce = \"3*s\"\ndamping = 1"), "not both"),
        (bar("limits = [2, 1]", ""), "the limits of `hinge` are 2 and 1: the first must be below"),
        (bar("limits = [1, 2]", ""), "`hinge` starts at 0, outside its limits"),
        (bar("limits = [-1, 1]", ""), "methods that hold inequalities are svci"),
        (bar("stiffness = [1, 2]", ""), "one for each of the 1 freedoms"),
        (bar("rest = 1", ""), "give its `stiffness` too"),
        (bar("torque = \"2*hinge_rat\"", ""), "did you mean `hinge_rate`?"),
        (bar("motor = \"1 + t\"", ""), "the motor begins at 1"),
        (bar("motor = \"t\"\nmotor_rate = \"1\"", ""), "not both"),
        (
            bar(
                "",
                &format!(
                    "{second}[[joint]]\nname = \"extra\"\ntype = \"screw\"\nbodies = [\"ground\", \"b\"]\nat = [1, 0, 0]\naxis = [1, 0, 0]\npitch = 0"
                ),
            ),
            "a screw of zero pitch does not travel",
        ),
        (
            joint("type = \"gear\"\nof = [\"hinge\", \"hing\"]\nratio = 2"),
            "there is no freedom `hing`, did you mean `hinge`?",
        ),
        (
            joint(
                "type = \"distance\"\nbodies = [\"ground\", \"bar\"]\nat = [[0, 0, 1], [1, 0, 0]]\nlength = 1",
            ),
            "leave out the length of a rod",
        ),
        (
            joint(
                "type = \"distance\"\nrope = true\nbodies = [\"ground\", \"bar\"]\nat = [[0, 0, 1], [1, 0, 0]]\nlength = 1",
            ),
            "make a rope no shorter",
        ),
        (
            bar(
                "motor = \"t\"",
                &format!(
                    "{second}[[joint]]\nname = \"other\"\ntype = \"revolute\"\nbodies = [\"ground\", \"b\"]\nat = [1, 0, 0]\naxis = [0, 1, 0]\nmotor = \"t\"\n[[joint]]\nname = \"mesh\"\ntype = \"gear\"\nof = [\"hinge\", \"other\"]\nratio = 1"
                ),
            ),
            "the motor of `other` drives a freedom that loops or other motors already fix",
        ),
    ] {
        let found = message(&text);
        assert!(found.contains(expected), "{expected}\n---\n{found}");
    }
    let null = bar("motor = \"t\"", "").replace("\"vi\"", "\"null-space-reparametrised\"");
    let problem = Problem::parse(&null).unwrap();
    let refused = problem.execute(&problem.runs[0], None, Watch::default()).unwrap_err();
    assert!(refused.to_string().contains("a constraint depends on time"), "{refused}");
}
