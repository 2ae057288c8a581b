//! Contacts with what equalities move by themselves: platforms on motors, lifts, ropes on winches, against closed forms, by every method that holds them.

use nsm_problem::{METHODS, Problem, RunResult, Watch};

fn run(text: &str) -> Result<RunResult, String> {
    let problem = Problem::parse(text).map_err(|e| e.to_string())?;
    problem.execute(&problem.runs[0], None, Watch::default()).map_err(|e| e.to_string())
}

fn finished(text: &str) -> RunResult {
    let result = run(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert!(result.failure.is_none(), "{:?}\n{text}", result.failure);
    assert!(result.ledger.warnings().is_empty(), "{:?}\n{text}", result.ledger.warnings());
    result
}

/// A ball of 1 kg at `z` and a platform of 5 kg at `h`, whose height is a formula of time.
fn platform(mass: &str, motion: &str, start: [f64; 4], e: f64, run: &str) -> String {
    let [z, h, vz, vh] = start;
    format!(
        r#"
        restitution = {e}
        [system]
        coordinates = ["z", "h"]
        {mass}
        potential   = "9.81*z"
        equality    = {{ motor = "h - ({motion})" }}
        inequality  = {{ floor = "z - h" }}
        [start]
        q = [{z}, {h}]
        v = [{vz}, {vh}]
        [[run]]
        {run}
        "#
    )
}

const CONSTANT: &str = "mass = [1, 5]";
const BY_FORMULA: &str = "kinetic = \"0.5*v_z^2 + 2.5*v_h^2\"";

/// Whether a method moves coordinates and stops contacts at their restitution.
fn bounces(method: &str) -> bool {
    ["svci", "gvi", "hybrid", "nsga", "alpha-event", "moreau-jean"].contains(&method)
}

#[test]
fn a_ball_rebounds_from_a_platform_as_from_one_at_rest() {
    let mut tried = 0;
    for method in METHODS.iter().map(|m| m.name).filter(|m| bounces(m)) {
        for (e, mass) in [(1.0, CONSTANT), (0.5, CONSTANT), (0.0, CONSTANT), (0.5, BY_FORMULA)] {
            let run_keys = format!("method = \"{method}\"\nstep = 0.001\nend = 0.5");
            // As seen from the platform: down by 1 m/s from a height of 0.2, g = 9.81.
            let text = platform(mass, "0.5*t", [0.2, 0.0, -0.5, 0.5], e, &run_keys);
            if mass == BY_FORMULA && run(&text).is_err() {
                continue;
            }
            let result = finished(&text);
            tried += 1;
            let end = result.end.coordinates.as_ref().unwrap();
            let (mut t, mut height, mut v) = (0.0, 0.2, -1.0_f64);
            loop {
                let flight = (v + f64::sqrt(v * v + 2.0 * 9.81 * height)) / 9.81;
                if t + flight > 0.5 || (flight < 1e-9 && e < 1.0) {
                    let rest = 0.5 - t;
                    let still = e == 0.0 || flight < 1e-9;
                    let still = still && t > 0.0;
                    height += if still { 0.0 } else { v * rest - 4.905 * rest * rest };
                    v = if still { 0.0 } else { v - 9.81 * rest };
                    break;
                }
                (t, height, v) = (t + flight, 0.0, -e * (v - 9.81 * flight));
            }
            // Methods that look at ends of steps are a step late at each of the few impacts.
            let tolerance = if ["svci", "alpha-event"].contains(&method) { 1e-5 } else { 2e-2 };
            assert!(
                (end.q[0] - end.q[1] - height).abs() < tolerance
                    && (end.v[0] - end.v[1] - v).abs() < 10.0 * tolerance,
                "{method}, e = {e}, {mass}: {end:?}, expected {height} and {v}"
            );
        }
    }
    assert!(tried >= 19, "{tried}");
}

/// What the motor did and what the contacts took is all that the energy changed by; the motor's share of each impact is exact.
#[test]
fn a_motor_does_the_work_of_impacts() {
    for (method, e) in [("svci", 1.0), ("svci", 0.5), ("alpha-event", 0.5), ("gvi", 1.0)] {
        let keys = format!("method = \"{method}\"\nstep = 0.001\nend = 0.3");
        let result = finished(&platform(CONSTANT, "0.5*t", [0.2, 0.0, -0.5, 0.5], e, &keys));
        assert!(result.ledger.events > 0);
        let work = result.ledger.work.iter().find(|w| w.0 == "motor").unwrap().1;
        let change = result.ledger.energy.end - result.ledger.energy.start;
        let account = work + result.ledger.contact_work;
        assert!((change - account).abs() < 1e-9, "{method}, e = {e}: {change} {account}");
        if e == 1.0 {
            assert!(result.ledger.contact_work.abs() < 1e-12, "{}", result.ledger.contact_work);
        }
    }
}

#[test]
fn what_stands_in_a_lift_stays_on_its_floor_until_it_falls_faster() {
    // `moreau-jean` holds equalities on velocity level and warns that it leaves the motor's positions.
    let methods = METHODS.iter().map(|m| m.name).filter(|m| bounces(m) && *m != "moreau-jean");
    for method in methods {
        for mass in [CONSTANT, BY_FORMULA] {
            let keys = format!("method = \"{method}\"\nstep = 0.002\nend = 1.0");
            // Up, down, never faster than g.
            let motion = "0.2*sin(5*t)";
            let lift = platform(mass, motion, [0.0, 0.0, 1.0, 1.0], 0.3, &keys);
            if mass == BY_FORMULA && run(&lift).is_err() {
                continue;
            }
            let end = finished(&lift).end.coordinates.unwrap();
            // Those that hold contacts in their impacts alone let go for a step now and then.
            let tolerance = if method == "svci" { 1e-12 } else { 2e-3 };
            assert!((end.q[0] - end.q[1]).abs() < tolerance, "{method}, {mass}: {end:?}");
            assert!((end.v[0] - end.v[1]).abs() < 50.0 * tolerance, "{method}, {mass}: {end:?}");
            // Away under it with 2 g: free fall from rest.
            let keys = format!("method = \"{method}\"\nstep = 0.002\nend = 0.5");
            let falls = platform(mass, "-9.81*t^2", [0.0; 4], 0.3, &keys);
            let end = finished(&falls).end.coordinates.unwrap();
            assert!((end.q[0] + 4.905 * 0.25).abs() < 1e-2, "{method}, {mass}: {end:?}");
        }
    }
}

/// A winch pulls a rope taut that a crate on the floor hangs on: it rises with the hook from then on.
#[test]
fn a_winch_lifts_what_its_rope_holds() {
    for (e, end) in [(0.0, 2.0), (0.1, 2.0), (0.6, 2.0)] {
        let result = finished(&format!(
            r#"
            gravity = [0, 0, -9.81]
            friction = 0.5
            restitution = {e}
            [[plane]]
            name = "floor"
            normal = [0, 0, 1]
            [[body]]
            name = "hook"
            mass = 5
            inertia = [0.1, 0.1, 0.1]
            position = [0, 0, 2]
            [[body]]
            name = "crate"
            mass = 10
            shape = {{ box = [0.4, 0.4, 0.4] }}
            position = [0, 0, 0.2]
            [[joint]]
            name = "winch"
            type = "prismatic"
            bodies = ["ground", "hook"]
            at = [0, 0, 2]
            axis = [0, 0, 1]
            motor = "0.5*t"
            [[joint]]
            name = "rope"
            type = "distance"
            rope = true
            bodies = ["hook", "crate"]
            at = [[0, 0, 2], [0, 0, 0.4]]
            length = 1.8
            [[run]]
            step = 0.002
            end = {end}
            "#
        ));
        assert_eq!(result.method, "svci");
        let bodies = result.end.bodies.as_ref().unwrap();
        let height = bodies.iter().find(|(name, _)| *name == "crate").unwrap().1.position[2];
        // The rope is taut 0.2 m higher.
        assert!((height - (0.2 + 0.5 * end - 0.2)).abs() < 1e-6, "e = {e}: {height}");
    }
}

/// A table under a block is pulled away by a motor faster than friction can follow: the block slides with μ g.
#[test]
fn a_block_slides_on_a_table_that_a_motor_pulls() {
    for (pull, taken) in [(6.0, 0.3 * 9.81), (2.0, 2.0)] {
        for method in ["svci", "nsga", "moreau-jean"] {
            let result = finished(&format!(
                r#"
                friction = 0.3
                restitution = 0
                [system]
                coordinates = ["x", "y", "table"]
                mass        = [2, 2, 7]
                potential   = "2*9.81*y"
                equality    = {{ motor = "table - 0.5*{pull}*t^2" }}
                inequality  = {{ top = "y" }}
                [system.tangent]
                top = ["v_x - v_table"]
                [start]
                q = [0, 0, 0]
                [[run]]
                method = "{method}"
                step = 0.002
                end = 1.0
                "#
            ));
            let end = result.end.coordinates.as_ref().unwrap();
            let tolerance = if method == "svci" { 1e-9 } else { 2e-2 };
            assert!((end.v[0] - taken).abs() < tolerance, "{method}: {end:?}");
            let slip = 0.5 * (pull - taken);
            // Friction heats by what slips, whoever drives.
            let lost = -0.3 * 2.0 * 9.81 * slip;
            let work = result.ledger.contact_work;
            // `nsga` books it between velocities at the end of the step, which is of first order.
            let tolerance = if method == "svci" { 1e-9 } else { 0.25 };
            assert!((work - lost).abs() < tolerance, "{method}: {work} {lost}");
        }
    }
}
