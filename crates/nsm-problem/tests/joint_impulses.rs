//! What joints carry in impacts, against closed forms.

use nsm_problem::{Carried, Problem, RunResult};

fn run(text: &str) -> RunResult {
    let problem = Problem::parse(text).unwrap_or_else(|e| panic!("{e}"));
    let result = problem.execute(&problem.runs[0], None, nsm_problem::Watch::default()).unwrap();
    assert!(result.failure.is_none(), "{:?}", result.failure);
    result
}

/// A rod of length 1 on a hinge falls from above on a support at distance `d` from the hinge.
fn rod(d: f64, method: &str) -> RunResult {
    run(&format!(
        r#"
        gravity = [0, 0, -9.81]
        restitution = 0.5
        [system]
        inequality = {{ support = "rod.z + ({s})*rod.R[2][0]" }}
        [[body]]
        name = "rod"
        mass = 3
        inertia = [0.01, 0.25, 0.25]
        position = [0.49, 0, 0.09949874371066199]
        rotation = [[0.98, 0, -0.19899748742132398], [0, 1, 0], [0.19899748742132398, 0, 0.98]]
        [[joint]]
        name = "hinge"
        type = "revolute"
        bodies = ["ground", "rod"]
        at = [0, 0, 0]
        axis = [0, 1, 0]
        [[run]]
        method = "{method}"
        step = 0.0005
        end = 0.3
        "#,
        s = d - 0.5
    ))
}

/// The impulse J of the support turns the rod by ΔΩ = 3 J d/(m l²), and the hinge adds what the centre of mass wants: m l/2 ΔΩ - J = J (3d/(2l) - 1), nothing at
/// the centre of percussion.
#[test]
fn a_hinge_feels_nothing_at_the_centre_of_percussion() {
    for method in ["svci", "gvi", "hybrid", "alpha-event", "nsga"] {
        for d in [1.0 / 3.0, 2.0 / 3.0, 1.0] {
            let result = rod(d, method);
            let event = &result.recording.events[0];
            let columns = &result.recording.reaction_columns[1..];
            let of = |name: &str| event.carried[columns.iter().position(|c| c == name).unwrap()];
            let across = of("hinge.Fa").hypot(of("hinge.Fb"));
            let expected = (event.impulses[0] * (1.5 * d - 1.0)).abs();
            // The rod turns by some 1e-3 in a step.
            let bound = 2e-3 * event.impulses[0];
            assert!((across - expected).abs() < bound, "{method} {d}: {across} {expected}");
            assert!(event.impulses[0] > 0.1 && of("hinge.Tn").abs() < 1e-12, "{method} {d}");
            let Carried::Joint { impulse, .. } = result.reactions["hinge"] else { panic!() };
            assert!(impulse >= across * (1.0 - 1e-12), "{method} {d}: {impulse} {across}");
        }
    }
}

#[test]
fn impulses_are_those_that_the_momentum_misses() {
    // Momentum changes by the impulses of support and hinge: the largest is over all events, of which fewer may be kept.
    let result = rod(1.0, "svci");
    let event = &result.recording.events[0];
    let json = result.json();
    let shown = &json["event_records"][0]["reactions"]["hinge"]["impulse"];
    assert_eq!(shown[0].as_f64(), Some(event.carried[0]));
    assert!(json["reactions"]["hinge"]["impulse"]["max"].as_f64().unwrap() > 0.1);
}
