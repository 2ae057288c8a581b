//! Surfaces that move by themselves, belts, turntables, walls and tables that shake, against closed forms.

use nsm_problem::{Carried, Problem, RunResult, Watch};

fn run(text: &str) -> RunResult {
    let problem = Problem::parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let result = problem.execute(&problem.runs[0], None, Watch::default()).unwrap();
    assert!(result.failure.is_none(), "{:?}\n{text}", result.failure);
    assert!(result.ledger.warnings().is_empty(), "{:?}\n{text}", result.ledger.warnings());
    result
}

/// What the energy changed by is what contacts did, those driven by a belt included.
fn account(result: &RunResult) -> f64 {
    let energy = &result.ledger.energy;
    energy.end - energy.start - result.ledger.contact_work
}

fn on_a_belt(method: &str, step: f64, end: f64, rest: &str) -> RunResult {
    run(&format!(
        r#"
        friction = 0.4
        restitution = 0.5
        [system]
        coordinates = ["x", "y"]
        mass        = [1, 1]
        inequality  = {{ belt = "y" }}
        {rest}
        [[run]]
        method = "{method}"
        step = {step}
        end = {end}
        "#
    ))
}

/// On a spring, carried along until the spring is as strong as friction, then a harmonic motion about that place.
#[test]
fn a_block_on_a_spring_and_a_belt_sticks_then_swings() {
    let swing = |h: f64| {
        let result = on_a_belt(
            "svci",
            h,
            3.0,
            r#"
            potential   = "9.81*y + 0.5*20*x^2"
            [system.tangent]
            belt = ["v_x - 0.5"]
            [start]
            q = [0, 0]
            v = [0.5, 0]
            "#,
        );
        let end = result.end.coordinates.as_ref().unwrap().q[0];
        let (place, omega) = (0.4 * 9.81 / 20.0, 20.0_f64.sqrt());
        end - (place + 0.5 / omega * (omega * (3.0 - place / 0.5)).sin())
    };
    let (coarse, fine) = (swing(0.01), swing(0.0025));
    assert!(fine.abs() < 1e-5, "{fine}");
    assert!((coarse / fine).abs() > 8.0, "{coarse} {fine}");
}

/// A ball that falls on a belt takes μ (1 + e) of its speed along it, and friction at rest brings it to the speed of the belt.
#[test]
fn a_ball_that_falls_on_a_belt_is_taken_along() {
    for (method, tolerance) in [("svci", 1e-12), ("nsga", 1e-12), ("moreau-jean", 5e-3)] {
        let belt = r#"
            potential   = "9.81*y"
            [system.tangent]
            belt = ["v_x - 7"]
            [start]
            q = [0, 0.1]
            "#;
        let speed = f64::sqrt(2.0 * 9.81 * 0.1);
        let once = on_a_belt(method, 0.001, 0.2, belt);
        let taken = 0.4 * 1.5 * speed;
        let v = once.end.coordinates.as_ref().unwrap().v[0];
        // Methods that look at ends of steps strike up to a step late.
        let late = if method == "svci" { 1e-12 } else { 0.6 * 9.81 * 1.1e-3 };
        assert!((v - taken).abs() < late, "{method}: {v} {taken}");
        let carried = on_a_belt(method, 0.001, 3.0, belt);
        let v = carried.end.coordinates.as_ref().unwrap().v[0];
        assert!((v - 7.0).abs() < tolerance, "{method}: {v}");
        if method == "svci" {
            // A landing's work is booked by its rates, those of impacts and of sliding exactly.
            assert!(account(&once).abs() < 1e-12 && account(&carried).abs() < 1e-3);
            assert!(carried.ledger.contact_work > 0.0, "a belt gives energy");
        }
    }
}

/// What lies on a turntable goes round with it while μ g is more than ω² r, and leaves it otherwise.
#[test]
fn a_coin_on_a_turntable_stays_or_leaves() {
    let table = |omega: f64| {
        run(&format!(
            r#"
            friction = 0.4
            restitution = 0
            [system]
            coordinates = ["x", "y", "z"]
            mass        = [0.01, 0.01, 0.01]
            parameters  = {{ w = {omega} }}
            potential   = "0.01*9.81*z"
            inequality  = {{ top = "z" }}
            [system.tangent]
            top = ["v_x + w*y", "v_y - w*x"]
            [start]
            q = [0.2, 0, 0]
            v = [0, {}, 0]
            [[run]]
            step = 0.002
            end = 2.0
            "#,
            0.2 * omega
        ))
    };
    // The limit is 4.43 rad/s.
    let stays = table(4.4);
    let q = &stays.end.coordinates.as_ref().unwrap().q;
    assert!((q[0].hypot(q[1]) - 0.2).abs() < 1e-4, "{q:?}");
    let angle = q[1].atan2(q[0]) - (4.4 * 2.0 - std::f64::consts::TAU);
    assert!(angle.abs() < 1e-3, "{angle}");
    let leaves = table(4.5);
    let q = &leaves.end.coordinates.as_ref().unwrap().q;
    assert!(q[0].hypot(q[1]) > 0.25, "{q:?}");
}

/// Reactions know which way a belt rubs: a rod holds a block on a belt against μ times its weight.
#[test]
fn a_rod_holds_a_block_on_a_belt() {
    let result = run(r#"
        friction = 0.4
        gravity = [0, 0, -9.81]
        restitution = 0
        [[body]]
        name = "block"
        mass = 2
        inertia = [1, 1, 1]
        position = [0, 0, 0]
        [[joint]]
        name = "slide"
        type = "prismatic"
        bodies = ["ground", "block"]
        at = [0, 0, 0]
        axis = [0, 0, 1]
        [system]
        inequality = { belt = "block.z" }
        [system.tangent]
        belt = ["v_block.x - 3"]
        [[run]]
        step = 0.01
        end = 0.1
        "#);
    let Carried::Joint { force, .. } = result.reactions["slide"] else { panic!("no joint") };
    assert!((force.max - 0.4 * 2.0 * 9.81).abs() < 1e-9, "{force:?}");
}

/// What a motor drags over a floor loads the motor by μ times its weight, and the motor gives what friction takes.
#[test]
fn a_motor_drags_a_block_over_a_floor() {
    for method in ["svci", "nsga"] {
        let result = run(&format!(
            r#"
            friction = 0.3
            restitution = 0
            gravity = [0, 0, -9.81]
            [[plane]]
            name = "floor"
            normal = [0, 0, 1]
            [[body]]
            name = "cart"
            mass = 1
            inertia = [1, 1, 1]
            position = [0, 0, 0.5]
            [[body]]
            name = "block"
            mass = 2
            shape = {{ box = [0.2, 0.2, 0.2] }}
            position = [0, 0, 0.1]
            [[joint]]
            name = "drive"
            type = "prismatic"
            bodies = ["ground", "cart"]
            at = [0, 0, 0.5]
            axis = [1, 0, 0]
            rate = 0.5
            motor = "0.5*t"
            [[joint]]
            name = "guide"
            type = "prismatic"
            bodies = ["cart", "block"]
            at = [0, 0, 0.1]
            axis = [0, 0, 1]
            [[run]]
            method = "{method}"
            step = 0.01
            end = 1.0
            "#
        ));
        let force = 0.3 * 2.0 * 9.81;
        let Carried::Row(motor) = result.reactions["drive_motor"] else { panic!("no row") };
        assert!((motor.min - force).abs() < 1e-9 && (motor.max - force).abs() < 1e-9, "{motor:?}");
        let work = result.ledger.work.iter().find(|w| w.0.contains("motor")).unwrap().1;
        assert!((work - 0.5 * force).abs() < 1e-9, "{method}: {work}");
        let taken = result.ledger.contact_work;
        assert!((taken + 0.5 * force).abs() < 1e-9, "{method}: {taken}");
    }
}

fn on_a_table(e: f64, friction: f64, step: f64, end: f64, start: [f64; 2]) -> RunResult {
    run(&format!(
        r#"
        restitution = {e}
        friction    = {friction}
        [system]
        coordinates = ["x", "y"]
        mass        = [2, 2]
        potential   = "2*9.81*y"
        inequality  = {{ table = "y - 0.05*sin(20*t)" }}
        [system.tangent]
        table = ["v_x"]
        [start]
        q = [0, {}]
        v = [1, {}]
        [[run]]
        step = {step}
        end = {end}
        "#,
        start[0], start[1]
    ))
}

/// What lies on a table that shakes stays until the table falls faster than it, and flies from there.
#[test]
fn a_ball_leaves_a_table_that_shakes_when_that_falls_faster() {
    let (amplitude, omega, g) = (0.05, 20.0, 9.81_f64);
    let leaves = (g / (amplitude * omega * omega)).asin() / omega;
    let later = |h: f64| {
        let result = on_a_table(0.3, 0.0, h, 0.15, [0.0, 1.0]);
        assert_eq!(result.method, "svci");
        let y = result.end.coordinates.as_ref().unwrap().q[1];
        let (at, v) = (leaves * omega, amplitude * omega * (leaves * omega).cos());
        let flight = 0.15 - leaves;
        y - (amplitude * at.sin() + v * flight - 0.5 * g * flight * flight)
    };
    let (coarse, fine) = (later(0.002), later(0.0005));
    // Where in its step it leaves adds to the error of the order.
    assert!(fine.abs() < 1e-6 && (coarse / fine).abs() > 4.0, "{coarse} {fine}");
}

/// An impact reverses the velocity as the table sees it, and what the table gives is booked.
#[test]
fn a_table_that_shakes_gives_energy() {
    for (e, friction) in [(1.0, 0.0), (0.5, 0.0), (0.5, 0.2)] {
        let result = on_a_table(e, friction, 0.001, 0.2, [0.15, 0.0]);
        assert_eq!(result.ledger.events, 1);
        let fall = |t: f64| 0.15 - 4.905 * t * t - 0.05 * (20.0 * t).sin();
        let (mut low, mut high) = (0.0, 0.2);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if fall(middle) > 0.0 { low = middle } else { high = middle }
        }
        let (before, table) = (-9.81 * low, (20.0 * low).cos());
        let after = table - e * (before - table);
        let end = result.end.coordinates.as_ref().unwrap();
        assert!((end.v[1] - (after - 9.81 * (0.2 - low))).abs() < 1e-9, "{e}: {end:?}");
        let slip = 1.0 - friction * (after - before);
        assert!((end.v[0] - slip).abs() < 1e-9, "{e}: {end:?}");
        // Both of them have two kilograms.
        let work = (after * after - before * before) + (slip * slip - 1.0);
        assert!((result.ledger.contact_work - work).abs() < 1e-9 && account(&result).abs() < 1e-9);
    }
}
