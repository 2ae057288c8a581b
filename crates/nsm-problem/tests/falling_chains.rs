//! Chains that fall on a floor and come to lie flat: corners of two links at the hinge between them share their load in a way that is almost not determined.

use std::fmt::Write;

use nsm_formula::Figure;
use nsm_problem::{Problem, Watch};

/// Boxes on hinges that turn at first, over a floor.
fn chain(links: usize, (e, mu): (f64, f64), (step, end): (f64, f64), rates: &[f64]) -> String {
    let mut text = format!(
        "title = \"A chain falls\"\ngravity = [0, 0, -9.81]\nrestitution = {e}\nfriction = {mu}\n"
    );
    for i in 0..links {
        let _ = write!(
            text,
            "[[body]]\nname = \"b{i}\"\nmass = 1\nshape = {{ box = [0.5, 0.1, 0.1] }}\nposition = [{}, 0, 0.5]\n",
            0.5 * i as f64
        );
    }
    for i in 1..links {
        let _ = write!(
            text,
            "[[joint]]\nname = \"j{i}\"\ntype = \"revolute\"\nbodies = [\"b{}\", \"b{i}\"]\nat = [{}, 0, 0.5]\naxis = [0, 1, 0]\nrate = {}\n",
            i - 1,
            0.5 * i as f64 - 0.25,
            rates[(i - 1) % rates.len()]
        );
    }
    text += "[[contact]]\nbetween = [\"*\", \"*\"]\nignore = true\n[[contact]]\nbetween = [\"floor\", \"*\"]\n[[plane]]\nname = \"floor\"\nnormal = [0, 0, 1]\n";
    text + &format!("[[run]]\nstep = {step}\nend = {end}\n")
}

#[test]
fn chains_lie_down_whatever_they_are_made_of() {
    // The first two ended with rounds of friction that did not settle, the third took ten times as long.
    for (links, law, steps, rates) in [
        (5, (0.3, 0.5), (0.005, 0.6), [1.0, -2.0, 1.5, 0.5]),
        (5, (0.6, 0.7), (0.005, 0.95), [1.06, -2.0, 1.5, 0.5]),
        (5, (0.5, 0.6), (0.005, 0.75), [1.05, -2.0, 1.5, 0.5]),
        (4, (0.0, 1.0), (0.01, 0.8), [1.0, 0.3, -0.7, 0.0]),
        (3, (0.2, 0.0), (0.004, 0.8), [-1.0, 2.0, 0.0, 0.0]),
    ] {
        let text = chain(links, law, steps, &rates);
        let problem = Problem::parse(&text).unwrap();
        let result = problem.execute(&problem.runs[0], None, Watch::default()).unwrap();
        assert!(result.failure.is_none(), "{links} {law:?}: {:?}", result.failure);
        let value = |what: &str| match result.figure(what) {
            Ok(Figure::Number(x)) => x,
            other => panic!("{what}: {other:?}"),
        };
        assert!(value("energy.max") < 1.0001 * value("energy.start"), "{links} {law:?}");
        assert!(value("penetration") < 1e-12, "{links} {law:?}: {}", value("penetration"));
        assert!(value("residual.position") < 1e-12, "{links} {law:?}");
    }
}
