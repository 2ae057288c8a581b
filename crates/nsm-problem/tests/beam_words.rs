//! Formulas speak of nodes of beams by the names that joints have for them.

use nsm_problem::{Problem, Watch};

/// A cantilever of four elements with a force at its end; `words` is what a file adds.
fn cantilever(words: &str, method: &str) -> Result<nsm_problem::RunResult, String> {
    let text = format!(
        r#"
        gravity = [0, 0, -9.81]
        restitution = 0
        [[beam]]
        name = "long arm"
        ends = [[0, 0, 0], [1, 0, 0]]
        elements = 4
        GA = 1e4
        EA = 2e4
        EI1 = 10
        EI2 = 10
        GJ = 10
        mass = 1
        inertia = [1e-3, 1e-3]
        [[joint]]
        type = "fixed"
        bodies = ["ground", "long arm.start"]
        at = [0, 0, 0]
        {words}
        [[run]]
        {method}
        step = 0.02
        end = 4.0
        "#
    );
    let problem = Problem::parse(&text).map_err(|e| e.to_string())?;
    let run = problem.execute(&problem.runs[0], None, Watch::default());
    run.map_err(|e| e.to_string())
}

/// The stop at the end carries the beam: it sags to the gap and no further, whichever name the node has.
#[test]
fn a_stop_under_the_end_of_a_beam_holds_it() {
    let damped = "method = \"nsga\"\nrho = 0";
    let mut ends = Vec::new();
    for name in ["long_arm.end.z", "long_arm[4].z", "long_arm.point(0, 0, 0).z"] {
        let name = name.replace(".point", ".end.point");
        let words = format!("[system]\ninequality = {{ stop = \"{name} + 0.02\" }}");
        let result = cantilever(&words, damped).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(result.failure.is_none(), "{name}: {:?}", result.failure);
        let bodies = result.end.bodies.as_ref().unwrap();
        let tip = bodies.iter().find(|(n, _)| *n == "long arm[4]").unwrap().1.position[2];
        assert!((tip + 0.02).abs() < 1e-9, "{name}: {tip}");
        ends.push(result.end.coordinates.clone().unwrap().q);
    }
    assert!(ends.windows(2).all(|two| two[0] == two[1]));
    // Free of the stop it sags further.
    let free = cantilever("", damped).unwrap();
    let bodies = free.end.bodies.as_ref().unwrap();
    let tip = bodies.iter().find(|(n, _)| *n == "long arm[4]").unwrap().1.position[2];
    assert!(tip < -0.025, "{tip}");
}

#[test]
fn a_node_that_is_not_there_is_an_error() {
    let words = "[system]\ninequality = { stop = \"long_arm[5].z + 0.02\" }";
    let error = cantilever(words, "").unwrap_err();
    assert!(error.contains("long_arm"), "{error}");
    // Equalities know them, too.
    let words = "[system]\nequality = { tie = \"long_arm.middle.y\" }";
    assert!(cantilever(words, "method = \"alpha-index3\"").unwrap().failure.is_none());
}
