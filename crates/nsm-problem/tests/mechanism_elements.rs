//! Springs, motors, limits and couplings through problem files: the suite's expectations, what joints carry, and a file with each kind of mistake.

mod common;
#[path = "common/mechanisms.rs"]
mod mechanisms;

use common::message;
use mechanisms::{judged, number, run};
use nsm_problem::{Problem, Watch};

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
fn copies_are_what_is_written_out_by_hand() {
    let hand = r#"
        parameters = { l = 0.5 }
        gravity = [0, 0, -9.81]
        [[body]]
        name = "link0"
        mass = 1
        inertia = [0.02, 0.05, 0.05]
        position = [0.25, 0, 0]
        [[body]]
        name = "link1"
        mass = 1
        inertia = [0.02, 0.05, 0.05]
        position = [0.75, 0, 0]
        [[joint]]
        name = "hinge0"
        type = "revolute"
        bodies = ["ground", "link0"]
        at = [0, 0, 0]
        axis = [0, 1, 0]
        stiffness = 3
        [[joint]]
        name = "hinge1"
        type = "revolute"
        bodies = ["link0", "link1"]
        at = [0.5, 0, 0]
        axis = [0, 1, 0]
        stiffness = 1.5
        torque = "sin(2*t)"
        [[run]]
        method = "energy-momentum"
        step = 0.01
        end = 1
    "#;
    // Everything up to the second body.
    let head = hand.split("[[body]]").take(2).collect::<Vec<_>>().join("[[body]]");
    let repeated = format!(
        r#"{head}
        [[joint]]
        name = "hinge0"
        type = "revolute"
        bodies = ["ground", "link0"]
        at = [0, 0, 0]
        axis = [0, 1, 0]
        stiffness = "2 + 1"
        [[repeat]]
        count = 1
        from = 1
        index = "k"
        [[repeat.body]]
        name = "link{{k}}"
        like = "link0"
        position = ["l*(k + 0.5)", 0, 0]
        [[repeat.joint]]
        name = "hinge{{k}}"
        type = "revolute"
        bodies = ["link{{k - 1}}", "link{{k}}"]
        at = ["l*k", 0, 0]
        axis = [0, 1, 0]
        stiffness = "3/(k + 1)"
        torque = "sin((k + 1)*t)"
        [[run]]
        method = "energy-momentum"
        step = 0.01
        end = 1
        "#
    );
    let (by_hand, copied) = (run(hand), run(&repeated));
    for result in [&by_hand, &copied] {
        assert!(number(result, "balance.deviation") < 1e-10);
    }
    assert_eq!(by_hand.recording.samples, copied.recording.samples);
    for (text, expected) in [
        (repeated.replace("count = 1", "count = -1"), "repeat"),
        (repeated.replace("l*k\"", "l*j\""), "there is no `j`"),
        (repeated.replace("repeat.joint", "repeat.run"), "`run` cannot be repeated"),
        (repeated.replace("like = \"link0\"", "like = \"lnk0\""), "did you mean `link0`?"),
    ] {
        let found = message(&text);
        assert!(found.contains(expected), "{expected}\n---\n{found}");
    }
}

#[test]
fn forces_by_velocity_equalities_by_formula_and_curved_beams() {
    let drag = r#"
        gravity = [0, 0, -9.81]
        parameters = { c = 0.6 }
        [[point_mass]]
        name = "ball"
        mass = 2
        position = [0, 0, 0]
        velocity = [3, 0, 0]
        [[load]]
        where = "ball"
        force = ["-c*x_rate", "-c*y_rate", "-c*z_rate"]
        [[run]]
        method = "energy-momentum"
        step = 0.001
        end = 2
    "#;
    let result = run(drag);
    let decay = (-0.6_f64 / 2.0 * 2.0).exp();
    let p = [6.0 * decay, 0.0, -2.0 * 9.81 * 2.0 / 0.6 * (1.0 - decay)];
    for (k, p) in p.iter().enumerate() {
        let found = number(&result, &format!("final.bodies.ball.momentum[{k}]"));
        assert!((found - p).abs() < 1e-5, "{found} {p}");
    }
    assert!(number(&result, "balance.deviation") < 1e-10);
    // A ball on the parabola z = x²/2 in the plane y = 0, and a body whose rotation is tied to its place: it rolls on the line.
    let bead = r#"
        gravity = [0, 0, -9.81]
        equality = { curve = "bead.z - bead.x^2/2", plane = "bead.y" }
        [[point_mass]]
        name = "bead"
        mass = 2
        position = [1, 0, 0.5]
        [[run]]
        method = "energy-momentum"
        step = 0.001
        end = 2
    "#;
    let result = run(bead);
    assert!(number(&result, "energy.deviation") < 1e-10);
    assert!(number(&result, "residual.position") < 1e-12);
    let spin = r#"
        equality = { fixed = "wheel.x", turn = "wheel.R[0][2]" }
        [[body]]
        name = "wheel"
        mass = 2
        inertia = [0.4, 0.5, 0.6]
        angular_velocity = [0, 0, 3]
        velocity = [0, 1, 0]
        [[joint]]
        name = "far"
        type = "distance"
        bodies = ["ground", "wheel"]
        at = [[0, 0, -5], [0, 0, 0]]
        rope = true
        length = 100
        [[run]]
        method = "svci"
        step = 0.01
        end = 1
    "#;
    let result = run(spin);
    assert!((number(&result, "final.bodies.wheel.position[1]") - 1.0).abs() < 1e-12);
    assert!(message(&spin.replace("R[0][2]", "R[0][3]")).contains("i and j from 0 to 2"));
    assert!(message(&spin.replace("wheel.x", "weel.x")).contains("there is no `weel_x`"));
    // A quarter of a circle in nine nodes: free of stress where it is drawn, and at rest it stays.
    let points: Vec<String> = (0..9)
        .map(|k| (f64::from(k) * std::f64::consts::PI / 16.0).sin_cos())
        .map(|(s, c)| format!("[{c:?}, 0, {s:?}]"))
        .collect();
    let arc = format!(
        r#"
        [[beam]]
        name = "arc"
        points = [{}]
        GA = 1e4
        EA = 1e4
        EI1 = 20
        EI2 = 20
        GJ = 10
        mass = 1
        inertia = [0.01, 0.01]
        [[joint]]
        name = "clamp"
        type = "fixed"
        bodies = ["ground", "arc.start"]
        at = [1, 0, 0]
        [[load]]
        where = "arc.end"
        direction = [0, 1, 0]
        value = "LOAD"
        [[run]]
        method = "energy-momentum"
        step = 0.01
        end = 0.5
        "#,
        points.join(", ")
    );
    let still = run(&arc.replace("LOAD", "0"));
    assert!(number(&still, "energy.max").abs() < 1e-20);
    let pushed = run(&arc.replace("LOAD", "t"));
    assert!(number(&pushed, "balance.deviation") < 1e-10);
    assert!(number(&pushed, "final.bodies.arc[8].position[1]") > 1e-3);
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
