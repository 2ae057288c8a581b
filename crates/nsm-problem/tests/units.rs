//! `units` of a file: what stands at the axes of its plots.

use nsm_problem::{Dimension, Problem};

const BALL: &str = r#"
    [system]
    coordinates = ["y", "a"]
    mass        = [1, 1]
    inequality  = { floor = "y" }
    invariants  = { spin = "p_a" }
    [start]
    q = [1, 0]
"#;

fn units(line: &str) -> Result<Problem, String> {
    Problem::parse(&format!("{line}\n{BALL}")).map_err(|e| e.to_string())
}

#[test]
fn units_of_energies_and_forces_follow_from_length_mass_and_time() {
    let si = units("units = \"SI\"").unwrap().units;
    assert_eq!(si.axis("energy", "E", Dimension::Energy), "energy [J]");
    assert_eq!(si.axis("t", "t", Dimension::Time), "t [s]");
    let small =
        r#"units = { length = "mm", mass = "g", time = "ms", a = "rad", spin = "g mm²/ms" }"#;
    let small = units(small).unwrap().units;
    assert_eq!(small.axis("energy", "E", Dimension::Energy), "energy [g mm²/ms²]");
    assert_eq!(small.axis("force", "F", Dimension::Force), "force [g mm/ms²]");
    assert_eq!(small.axis("a", "a", Dimension::Unknown), "a [rad]");
    assert_eq!(
        small.axis("change of spin", "spin", Dimension::Unknown),
        "change of spin [g mm²/ms]"
    );
    assert_eq!(small.words(), "mm, g, ms, a in rad, spin in g mm²/ms");
    let none = units("units = \"dimensionless\"").unwrap().units;
    assert_eq!(none.axis("energy", "E", Dimension::Energy), "energy (dimensionless)");
    // A file that names no units claims none.
    assert_eq!(units("").unwrap().units.axis("energy", "E", Dimension::Energy), "energy");
}

#[test]
fn what_joints_do_is_an_angle_or_a_length_by_their_kind() {
    let problem = Problem::parse(
        r#"
        units = "SI"
        track = ["hinge", "my slide"]
        [[body]]
        name = "arm"
        mass = 1
        inertia = [1, 1, 1]
        [[body]]
        name = "cart"
        mass = 1
        inertia = [1, 1, 1]
        [[joint]]
        name = "hinge"
        type = "revolute"
        bodies = ["ground", "arm"]
        at = [0, 0, 0]
        axis = [0, 1, 0]
        limits = [-1, 1]
        [[joint]]
        name = "my slide"
        type = "prismatic"
        bodies = ["ground", "cart"]
        at = [0, 0, 0]
        axis = [1, 0, 0]
        limits = [-1, 1]
        "#,
    )
    .unwrap();
    let label = |name: &str| problem.units.axis("this", name, Dimension::Unknown);
    assert_eq!((label("hinge"), label("my_slide")), ("this [rad]".into(), "this [m]".into()));
    let nsm_problem::Subject::Mechanism { system, .. } = &problem.subject else { panic!() };
    let stops: Vec<String> = system.inequalities().names().iter().map(|n| label(n)).collect();
    assert_eq!(stops, ["this [rad]", "this [rad]", "this [m]", "this [m]"]);
}

#[test]
fn mistakes_in_units_are_named() {
    for (line, part) in [
        ("units = \"si\"", "did you mean `SI`?"),
        ("units = { angle = \"rad\" }", "`angle` is no coordinate, gap or invariant"),
        ("units = { lenght = \"m\" }", "did you mean `length`?"),
        ("units = { a = 3 }", "a unit is a text"),
        ("units = { a = \" \" }", "a unit is a text"),
        ("units = 3", "expected"),
    ] {
        let error = units(line).unwrap_err();
        assert!(error.contains(part), "{line}: {error}");
    }
}
