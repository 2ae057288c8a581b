//! A wall of bricks that a ball runs into: contacts that jam in the impact and have several answers.

use std::fmt::Write;

use nsm_formula::Figure;
use nsm_problem::{Problem, Watch};

#[test]
fn a_wall_of_bricks_gives_way_and_nothing_is_gained() {
    let mut text = String::from(
        r#"
        title = "A ball runs into a wall"
        gravity = [0, 0, -9.81]
        restitution = 0.1
        friction = 0.5
        [[plane]]
        name = "floor"
        normal = [0, 0, 1]
        [[body]]
        name = "ball"
        mass = 5
        shape = { sphere = 0.2 }
        position = [-0.5, 0.05, 0.6]
        velocity = [8, 0, 1]
        "#,
    );
    for k in 0..20 {
        let (row, column) = (k / 4, k % 4);
        let y = 0.4 * f64::from(column) - 0.6 + if row % 2 == 1 { 0.2 } else { 0.0 };
        let z = 0.1 + 0.2 * f64::from(row);
        let _ = write!(
            text,
            "[[body]]\nname = \"b{k}\"\nmass = 1\nshape = {{ box = [0.2, 0.4, 0.2] }}\nposition = [0, {y:.3}, {z:.3}]\n"
        );
    }
    text += "[[run]]\nstep = 0.005\nend = 0.04\n";
    let problem = Problem::parse(&text).unwrap();
    let result = problem.execute(&problem.runs[0], None, Watch::default()).unwrap();
    assert!(result.failure.is_none(), "{:?}", result.failure);
    let value = |what: &str| match result.figure(what) {
        Ok(Figure::Number(x)) => x,
        other => panic!("{what}: {other:?}"),
    };
    assert!(value("penetration") < 1e-6, "{}", value("penetration"));
    assert!(value("energy.max") <= value("energy.start") * (1.0 + 1e-12));
    assert!(value("energy.end") < value("energy.start") - 20.0);
}
