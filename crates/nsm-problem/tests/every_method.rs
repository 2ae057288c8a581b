//! The ball of the README by every method that takes it, elastic and with losses: each is right within what its order allows, or warns.

use nsm_problem::{METHODS, Problem, RunResult, Watch};

fn ball(method: &str, restitution: f64, step: f64, end: f64) -> Result<RunResult, String> {
    let text = format!(
        r#"
        restitution = {restitution}
        [system]
        coordinates = ["y"]
        mass        = [1]
        potential   = "9.8*y"
        inequality  = {{ floor = "y" }}
        [start]
        q = [1]
        [[run]]
        method = "{method}"
        step   = {step}
        end    = {end}
        samples = 200
        "#
    );
    let problem = Problem::parse(&text).map_err(|e| e.to_string())?;
    problem.execute(&problem.runs[0], None, Watch::default()).map_err(|e| e.to_string())
}

fn figure(result: &RunResult, path: [&str; 2]) -> f64 {
    result.json()[path[0]][path[1]].as_f64().unwrap()
}

/// Whether a run ended without a failure and without a word.
fn is_silent(result: &RunResult) -> bool {
    result.failure.is_none() && result.ledger.warnings().is_empty()
}

/// Methods for coordinates that say they hold inequalities.
fn candidates() -> impl Iterator<Item = &'static str> {
    METHODS.iter().filter(|m| m.inequalities.is_some() && !m.bodies).map(|m| m.name)
}

#[test]
fn elastic_the_ball_keeps_its_energy_and_its_place_or_the_method_says_so() {
    let (g, h, mut silent) = (9.8, 0.01, Vec::new());
    for method in candidates() {
        let Ok(run) = ball(method, 1.0, h, 10.0) else { continue };
        if !is_silent(&run) {
            continue;
        }
        silent.push(method);
        // A first-order method meets the floor up to a step late: its energy is off by the force times that way.
        let late = g * h * (2.0 * g).sqrt();
        let gained = figure(&run, ["energy", "max"]) - 9.8;
        assert!(gained <= 2.0 * late, "{method} gained {gained:e}");
        let depth = run.ledger.penetration;
        assert!(depth <= 1.5 * h * (2.0 * g).sqrt(), "{method} is {depth:e} deep");
    }
    for method in ["svci", "gvi", "hybrid", "moreau-jean", "nsga", "alpha-event"] {
        assert!(silent.contains(&method), "{method} is not among {silent:?}");
    }
}

#[test]
fn with_losses_the_ball_comes_to_rest_on_the_floor_and_stays_or_the_method_says_so() {
    for e in [0.5, 0.0] {
        for method in candidates() {
            let Ok(run) = ball(method, e, 0.01, 60.0) else { continue };
            if !is_silent(&run) {
                continue;
            }
            // The bounces are over after 1.36 s at the latest; a first-order method rests where it was when it met the floor, up to a
            // step late.
            let late = 0.01 * (2.0_f64 * 9.8).sqrt();
            let y = run.end.coordinates.as_ref().unwrap().q[0];
            let energy = figure(&run, ["energy", "end"]);
            let rests = y.abs() <= late && energy.abs() <= 9.8 * late;
            assert!(rests, "{method}, e = {e}: {y}, {energy} J");
            let rise = run.ledger.rise;
            assert!(rise <= 9.8 * late, "{method}, e = {e}: the energy rose by {rise}");
        }
        for method in ["svci", "gvi", "hybrid", "nsga", "alpha-event"] {
            let run = ball(method, e, 0.01, 60.0).unwrap();
            assert!(
                is_silent(&run),
                "{method}, e = {e}: {:?} {:?}",
                run.failure,
                run.ledger.warnings()
            );
        }
    }
}

#[test]
fn what_rests_on_a_floor_leaves_a_wall_as_restitution_says() {
    // The bounces on the floor are over when the ball strikes the wall: its speed along the floor is halved and nothing else.
    for method in candidates() {
        let text = format!(
            r#"
            restitution = 0.5
            [system]
            coordinates = ["x", "y"]
            mass        = [1, 1]
            potential   = "9.8*y"
            inequality  = {{ floor = "y", wall = "2 - x" }}
            [start]
            q = [0, 1]
            v = [1, 0]
            [[run]]
            method = "{method}"
            step   = 0.01
            end    = 6
            "#
        );
        let Ok(problem) = Problem::parse(&text) else { continue };
        let Ok(run) = problem.execute(&problem.runs[0], None, Watch::default()) else { continue };
        if !is_silent(&run) {
            continue;
        }
        let end = run.end.coordinates.as_ref().unwrap();
        assert!((end.v[0] + 0.5).abs() < 1e-12, "{method} leaves with {}", end.v[0]);
        // A first-order method turns it round up to a step late.
        assert!(end.q[0].abs() <= 1.5 * 0.01 + 1e-9, "{method} ends at {}", end.q[0]);
    }
}

#[test]
fn a_light_body_squeezed_by_a_heavy_one_is_refused_or_warned_of() {
    // It is pushed to and fro ever faster, and no step of this length follows.
    for method in candidates() {
        let text = format!(
            r#"
            [system]
            coordinates = ["a", "b"]
            mass        = [1e-9, 1e9]
            inequality  = {{ wall = "a", pair = "b - a" }}
            [start]
            q = [0.5, 1]
            v = [0, -1]
            [[run]]
            method = "{method}"
            step   = 0.01
            end    = 5
            "#
        );
        let Ok(problem) = Problem::parse(&text) else { continue };
        let Ok(run) = problem.execute(&problem.runs[0], None, Watch::default()) else { continue };
        let depth = run.ledger.penetration;
        assert!(!is_silent(&run) || depth < 0.1, "{method} is {depth} deep without a word");
    }
}

/// What a contact took is booked for it, whether the method books contacts or events: (1 - e^2) of the energy at each impact.
#[test]
fn the_work_of_a_contact_is_that_of_its_impacts() {
    for method in ["svci", "gvi", "hybrid", "nsga", "alpha-event", "moreau-jean"] {
        let run = ball(method, 0.5, 0.001, 0.8).unwrap();
        let floor = run.answers.contacts.get("floor").unwrap();
        assert!(
            (floor.work + run.ledger.energy.start - run.ledger.energy.end).abs() < 0.05,
            "{method}: {}",
            floor.work
        );
        assert!((floor.work + 0.75 * 9.8).abs() < 0.05, "{method}: {}", floor.work);
    }
}

/// A wall that comes at speed w strikes a ball at rest, which leaves at (1 + e) w.
#[test]
fn walls_that_move_strike() {
    for (e, method) in [
        (1.0, "alpha-event"),
        (0.5, "alpha-event"),
        (1.0, "nsga"),
        (0.5, "nsga"),
        (0.5, "moreau-jean"),
        (1.0, "svci"),
        (0.5, "svci"),
        (0.0, "svci"),
    ] {
        let text = format!(
            "restitution = {e}\n[system]\ncoordinates = [\"x\"]\nmass = [1]\ninequality = {{ wall = \"x - 0.5*t\" }}\n\
             [start]\nq = [1]\n[[run]]\nmethod = \"{method}\"\nstep = 0.01\nend = 3\n"
        );
        let problem = Problem::parse(&text).unwrap();
        let run = problem.execute(&problem.runs[0], None, Watch::default()).unwrap();
        let end = run.end.coordinates.as_ref().unwrap();
        assert!((end.v[0] - 0.5 * (1.0 + e)).abs() < 1e-12, "{method}, e = {e}: {}", end.v[0]);
        // Up to one step late.
        assert!(
            (end.q[0] - 1.0 - 0.5 * (1.0 + e)).abs() <= 0.01,
            "{method}, e = {e}: {}",
            end.q[0]
        );
    }
}

/// Energy that is zero but for rounding has nothing to exchange, and what rounding makes of it is no rise.
#[test]
fn rounding_at_rest_is_no_warning() {
    let text = "gravity = [0, 0, -9.81]\n[[repeat]]\ncount = 5\nindex = \"i\"\n\
        [[repeat.body]]\nname = \"b{i}\"\nmass = 1\nshape = { sphere = 0.1 }\nposition = [\"0.2*i\", 0, 0]\n\
        [[repeat.joint]]\nname = \"rod{i}\"\ntype = \"distance\"\nbodies = [\"ground\", \"b{i}\"]\n\
        at = [[\"0.2*i\", 0, 1], [\"0.2*i\", 0, 0]]\n[[run]]\nstep = 0.005\nend = 0.5\n";
    let problem = Problem::parse(text).unwrap();
    let run = problem.execute(&problem.runs[0], None, Watch::default()).unwrap();
    assert!(run.ledger.energy.deviation() < 1e-13);
    assert_eq!(run.ledger.warnings(), []);
}
