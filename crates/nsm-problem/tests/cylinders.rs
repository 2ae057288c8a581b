//! Cylinders on planes in the coordinates of mechanisms: wheels, cups, coins, against closed forms and against the same bodies on SE(3).

use nsm_problem::{Problem, RunResult, Watch};

fn run(text: &str) -> RunResult {
    let problem = Problem::parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let result = problem.execute(&problem.runs[0], None, Watch::default()).unwrap();
    assert!(result.failure.is_none(), "{:?}\n{text}", result.failure);
    assert!(result.ledger.penetration < 1e-12, "{:e}\n{text}", result.ledger.penetration);
    result
}

fn place(result: &RunResult, body: &str) -> [f64; 3] {
    let bodies = result.end.bodies.as_ref().unwrap();
    bodies.iter().find(|(name, _)| *name == body).unwrap().1.position
}

fn cup(method: &str, start: &str, end: f64) -> RunResult {
    run(&format!(
        r#"
        gravity = [0, 0, -9.81]
        friction = 0.3
        restitution = 0
        [[plane]]
        name = "floor"
        normal = [0, 0, 1]
        [[body]]
        name = "cup"
        mass = 1
        shape = {{ cylinder = [0.2, 0.05] }}
        {start}
        [[run]]
        method = "{method}"
        step = 0.002
        end = {end}
        "#
    ))
}

#[test]
fn a_cylinder_moves_as_on_se3() {
    let lies = "rotation = [[1, 0, 0], [0, 0, -1], [0, 1, 0]]";
    let roll = format!(
        "position = [0, 0, 0.05]\n{lies}\nvelocity = [0.5, 0, 0]\nangular_velocity = [0, 0, -10]"
    );
    for (what, start, end, tolerance) in [
        ("stands", "position = [0, 0, 0.1]", 1.0, 1e-12),
        ("rolls", roll.as_str(), 1.0, 1e-10),
        (
            "falls on its rim and tumbles",
            "position = [0, 0, 0.2]\nangular_velocity = [2, 1, 3]",
            0.3,
            1e-4,
        ),
        // Which of the redundant points of the cap carry what is not unique: the torque of friction about the vertical is.
        (
            "slides upright and turns",
            "position = [0, 0, 0.1]\nvelocity = [0.5, 0, 0]\nangular_velocity = [0, 0, 3]",
            1.0,
            2e-4,
        ),
    ] {
        let [one, two] = ["svci", "lgvci"].map(|method| place(&cup(method, start, end), "cup"));
        for (a, b) in one.iter().zip(two) {
            assert!((a - b).abs() < tolerance, "{what}: {one:?} {two:?}");
        }
    }
    // It stays upright, and stops where μ g stops it but for what the turn takes.
    let slid = place(&cup("svci", "position = [0, 0, 0.1]\nvelocity = [0.5, 0, 0]", 1.0), "cup");
    let stop = 0.25 / (2.0 * 0.3 * 9.81);
    assert!((slid[0] - stop).abs() < 1e-5 && (slid[2] - 0.1).abs() < 1e-12, "{slid:?} {stop}");
}

/// Four wheels under a torque each: no slip, M v' = Σ τ/r with the wheels' turning added to M.
#[test]
fn a_cart_on_cylinders_rolls_by_its_torques() {
    let result = run(r#"
        gravity = [0, 0, -9.81]
        friction = 0.8
        restitution = 0
        [[plane]]
        name = "road"
        normal = [0, 0, 1]
        [[body]]
        name = "chassis"
        mass = 20
        shape = { box = [1.0, 0.5, 0.2] }
        position = [0, 0, 0.3]
        [[contact]]
        between = ["wheel_*", "wheel_*"]
        ignore = true
        [[repeat]]
        with = [
            { n = "fl", x = 0.4, y = 0.3 },
            { n = "fr", x = 0.4, y = -0.3 },
            { n = "rl", x = -0.4, y = 0.3 },
            { n = "rr", x = -0.4, y = -0.3 },
        ]
        [[repeat.body]]
        name = "wheel_{n}"
        mass = 1
        shape = { cylinder = [0.1, 0.15], rotation = [[1, 0, 0], [0, 0, 1], [0, -1, 0]] }
        position = ["x", "y", 0.15]
        [[repeat.joint]]
        name = "axle_{n}"
        type = "revolute"
        bodies = ["chassis", "wheel_{n}"]
        at = ["x", "y", 0.15]
        axis = [0, 1, 0]
        torque = "1.5"
        [[run]]
        step = 0.005
        end = 1.0
        "#);
    let acceleration = 4.0 * 1.5 / 0.15 / (20.0 + 4.0 * 1.5);
    let x = place(&result, "chassis")[0];
    assert!((x - 0.5 * acceleration).abs() < 1e-9, "{x} {}", 0.5 * acceleration);
}
