//! What joints carry beside dry friction, and what the friction does, against closed forms.

use nsm_model::Band;
use nsm_problem::{Carried, Load, Problem, RunResult};

fn run(text: &str) -> RunResult {
    let problem = Problem::parse(text).unwrap_or_else(|e| panic!("{e}"));
    let result = problem.execute(&problem.runs[0], None, nsm_problem::Watch::default()).unwrap();
    assert!(result.failure.is_none(), "{:?}", result.failure);
    result
}

fn row(result: &RunResult, name: &str) -> Band {
    let Carried::Row(band) = result.reactions[name] else { panic!("{name} is a joint") };
    band
}

fn joint(result: &RunResult, name: &str) -> [Load; 2] {
    let Carried::Joint { force, torque, .. } = result.reactions[name] else { panic!("{name}") };
    [force, torque]
}

fn length(x: [f64; 3]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// J a = -k sqrt(w⁴ + a²), k = μ r m l, hence a = -c w²: the bearing carries m l sqrt(w⁴ + a²).
#[test]
fn a_bearing_rubs_by_what_it_carries() {
    let result = run(r#"
        [[body]]
        name = "rod"
        mass = 2
        inertia = [0.01, 0.2, 0.2]
        position = [0.6, 0, 0]
        [[joint]]
        name = "hinge"
        type = "revolute"
        bodies = ["ground", "rod"]
        at = [0, 0, 0]
        axis = [0, 0, 1]
        rate = 5
        friction = 0.3
        bearing_radius = 0.2
        [[run]]
        step = 0.001
        end = 0.1
        "#);
    let (inertia, k) = (0.2 + 2.0 * 0.36, 0.3 * 0.2 * 2.0 * 0.6);
    let c = k / f64::sqrt(inertia * inertia - k * k);
    let torque = |w: f64| -inertia * c * w * w;
    let friction = row(&result, "hinge_friction");
    assert!((friction.start - torque(5.0)).abs() < 1e-9 * torque(5.0).abs(), "{friction:?}");
    // At the end with the rate that the run has there.
    let end = result.end.coordinates.as_ref().unwrap();
    let speed = f64::hypot(end.v[0], end.v[1]) / 0.6;
    assert!((friction.end - torque(speed)).abs() < 1e-9 * torque(5.0).abs(), "{friction:?}");
    let [force, across] = joint(&result, "hinge");
    let carried = 1.2 * f64::sqrt(1.0 + c * c) * 25.0;
    assert!((length(force.start.unwrap()) - carried).abs() < 1e-8 * carried, "{force:?}");
    assert!(across.max < 1e-9, "the hinge itself has no torque: {across:?}");
}

/// A rail that descends by 30°: m g (sin a - μ cos a) while it slides, and the weight along the rail while it sticks.
#[test]
fn a_slide_carries_its_weight_and_rubs_by_it() {
    let rail = |friction: f64| {
        run(&format!(
            r#"
            gravity = [0, 0, -9.81]
            [[body]]
            name = "cart"
            mass = 3
            inertia = [0.1, 0.1, 0.1]
            position = [0, 0, 0]
            [[joint]]
            name = "rail"
            type = "prismatic"
            bodies = ["ground", "cart"]
            at = [0, 0, 0]
            axis = [0.8660254037844386, 0, -0.5]
            friction = {friction}
            [[run]]
            step = 0.01
            end = 0.5
            "#
        ))
    };
    let (weight, cosine) = (3.0 * 9.81, 0.75_f64.sqrt());
    let slides = rail(0.3);
    let friction = row(&slides, "rail_friction");
    // At the start it does not move yet, but friction is at its bound all the same.
    for value in [friction.start, friction.end] {
        assert!((value + 0.3 * weight * cosine).abs() < 1e-9 * weight, "{friction:?}");
    }
    let sticks = row(&rail(0.7), "rail_friction");
    for value in [sticks.min, sticks.max] {
        assert!((value + 0.5 * weight).abs() < 1e-9 * weight, "{sticks:?}");
    }
    let [force, _] = joint(&slides, "rail");
    assert!((force.max - weight * cosine).abs() < 1e-9 * weight, "{force:?}");
}

/// A motor turns a wheel against a brake: its torque is J a and the brake's, its work the sum of what both take.
#[test]
fn a_motor_works_against_dry_friction() {
    let result = run(r#"
        [[body]]
        name = "wheel"
        mass = 2
        inertia = [0.3, 0.3, 0.5]
        position = [0, 0, 0]
        [[joint]]
        name = "hub"
        type = "revolute"
        bodies = ["ground", "wheel"]
        at = [0, 0, 0]
        axis = [0, 0, 1]
        rate = 1
        motor = "t + t^2"
        dry_friction = 0.8
        [[run]]
        step = 0.001
        end = 1.0
        "#);
    let friction = row(&result, "hub_friction");
    assert!((friction.min + 0.8).abs() < 1e-12 && (friction.max + 0.8).abs() < 1e-12);
    let motor = row(&result, "hub_motor");
    for torque in [motor.min, motor.max] {
        assert!((torque - (0.5 * 2.0 + 0.8)).abs() < 1e-6, "{motor:?}");
    }
    let work = result.ledger.work.iter().find(|w| w.0.contains("motor")).unwrap().1;
    assert!((work - (0.5 * 0.5 * (9.0 - 1.0) + 0.8 * 2.0)).abs() < 1e-5, "{work}");
    // What the brake took is booked, though the motor alone says how the wheel turns.
    let brake = result.answers.contacts.iter().find(|c| c.0.contains("friction")).unwrap().1;
    assert!((brake.work + 0.8 * 2.0).abs() < 1e-5 && brake.slipping == 1000, "{brake:?}");
}

/// A pendulum that friction holds off its lowest point: the hinge carries the weight, the friction its moment.
#[test]
fn friction_holds_a_pendulum_by_its_moment() {
    let result = run(r#"
        gravity = [0, 0, -9.81]
        [[body]]
        name = "bob"
        mass = 2
        inertia = [0.01, 0.1, 0.1]
        position = [0.3, 0, -0.4]
        [[joint]]
        name = "hinge"
        type = "revolute"
        bodies = ["ground", "bob"]
        at = [0, 0, 0]
        axis = [0, 1, 0]
        dry_friction = 6.0
        [[run]]
        step = 0.01
        end = 0.2
        "#);
    let friction = row(&result, "hinge_friction");
    // The weight turns it about +y, towards its lowest point.
    for moment in [friction.min, friction.max] {
        assert!((moment + 2.0 * 9.81 * 0.3).abs() < 1e-10, "{friction:?}");
    }
    let [force, _] = joint(&result, "hinge");
    assert!((force.max - 2.0 * 9.81).abs() < 1e-10, "{force:?}");
}
