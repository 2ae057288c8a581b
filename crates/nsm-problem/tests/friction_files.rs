//! Friction in problem files: pairs, refusals, results.

use nsm_problem::{Problem, Watch};

const BLOCK: &str = r#"
title = "Block"
restitution = 0
friction = 0.25
[system]
coordinates = ["x", "y"]
mass = [1, 1]
potential = "9.81*(y*cos(0.3) - x*sin(0.3))"
inequality = { floor = "y" }
tangent = { floor = "v_x" }
[start]
q = [0, 0]
[[run]]
step = 0.01
end = 1
"#;

fn message(text: &str) -> String {
    let problem = match Problem::parse(text) {
        Ok(problem) => problem,
        Err(error) => return error.to_string(),
    };
    match problem.execute(&problem.runs[0], None, Watch::default()) {
        Ok(result) => format!("went well: {:?}", result.failure),
        Err(error) => error.to_string(),
    }
}

#[test]
fn what_does_not_fit_is_refused_with_what_to_do() {
    for (piece, replacement, expected) in [
        ("tangent = { floor = \"v_x\" }", "", "[system.tangent]` with `floor = [\"v_x\"]`"),
        ("tangent = { floor = ", "tangent = { flor = ", "did you mean `floor`?"),
        ("\"v_x\"", "\"v_x*v_y\"", "linear"),
        ("\"v_x\"", "\"v_x - 1\"", "went well: None"),
        ("\"v_x\"", "[\"v_x\", \"v_x\", \"v_x\"]", "here are 3"),
        ("\"v_x\"", "\"2*v_x\"", "divide it by 2"),
        ("\"y\" }", "\"3*y\" }", "divide it by 3"),
        ("friction = 0.25", "friction = -1", "not negative"),
        ("friction = 0.25", "tangential_restitution = 2", "between 0 and 1"),
        (
            "step = 0.01",
            "step = 0.01\nmethod = \"gvi\"",
            "methods that do: svci, nsga, moreau-jean",
        ),
        ("step = 0.01", "step = 0.01\nmethod = \"alpha-event\"", "methods that do: svci"),
        ("step = 0.01", "step = 0.01\nmethod = \"gvi\"\nfriction = 0", "unknown key `friction`"),
        ("friction = 0.25", "", "went well"),
        ("step = 0.01", "step = 0.01\nfriction = 0.5", "went well: None"),
    ] {
        assert!(BLOCK.contains(piece), "{piece}");
        let found = message(&BLOCK.replacen(piece, replacement, 1));
        assert!(found.contains(expected), "{replacement}: {found}");
    }
}

#[test]
fn results_name_what_contacts_did_and_the_account_closes() {
    for method in ["svci", "moreau-jean"] {
        let text = BLOCK.replace("step = 0.01", &format!("step = 0.01\nmethod = \"{method}\""));
        let problem = Problem::parse(&text).unwrap();
        let folder =
            std::env::temp_dir().join(format!("nsm-friction-{method}-{}", std::process::id()));
        let result = problem.execute(&problem.runs[0], Some(&folder), Watch::default()).unwrap();
        let json = result.json();
        let number = |path: &str| path.split('.').fold(&json, |v, key| &v[key]).as_f64().unwrap();
        let change = number("energy.end") - number("energy.start");
        assert!((change - number("contact_work")).abs() < 1e-11, "{method}");
        assert!((change - number("contacts.floor.work")).abs() < 1e-11, "{method}");
        assert_eq!(number("contacts.floor.slipping"), 100.0, "{method}");
        let weight = 9.81 * 0.3_f64.cos();
        assert!((number("contacts.floor.largest_force") - weight).abs() < 1e-9, "{method}");
        assert!((number("contacts.floor.largest_tangential_force") - 0.25 * weight).abs() < 1e-9);
        let mut contacts = std::fs::read_dir(&folder).unwrap().map(|f| f.unwrap().path());
        let file = contacts.find(|p| p.to_string_lossy().ends_with("-contacts.csv")).unwrap();
        let rows = std::fs::read_to_string(file).unwrap();
        assert!(rows.lines().next().unwrap().starts_with("t,contact,kind,normal_impulse"));
        assert!(rows.lines().nth(1).unwrap().contains(",floor,held,"));
        std::fs::remove_dir_all(folder).unwrap();
    }
}

#[test]
fn a_pair_takes_its_contact_then_the_smaller_then_the_default() {
    let text = |more: &str, body: &str, plane: &str| {
        format!(
            "title = \"b\"\nfriction = 0.5\nrestitution = 0\ngravity = [3, 0, -9]\n\
             [[body]]\nname = \"box\"\nmass = 1\nshape = {{ box = [1, 1, 1] }}\nposition = [0, 0, 0.5]\n{body}\n\
             [[plane]]\nname = \"floor\"\nnormal = [0, 0, 1]\n{plane}\n{more}\n\
             [[run]]\nmethod = \"svci\"\nstep = 0.01\nend = 1\n"
        )
    };
    // The box slides with 3 − 9 μ.
    for (more, body, plane, friction) in [
        ("", "", "", 0.5_f64),
        ("", "friction = 0.2", "", 0.2),
        ("", "friction = 0.2", "friction = 0.1", 0.1),
        ("[[contact]]\nbetween = [\"box\", \"*\"]\nfriction = 0.3", "friction = 0.2", "", 0.3),
        ("[[contact]]\nbetween = [\"box\", \"*\"]\nrestitution = 0.3", "friction = 0.2", "", 0.2),
    ] {
        let problem = Problem::parse(&text(more, body, plane)).unwrap();
        let result = problem.execute(&problem.runs[0], None, Watch::default()).unwrap();
        let speed = result.json()["final"]["bodies"]["box"]["momentum"][0].as_f64().unwrap();
        let exact = (3.0 - 9.0 * friction).max(0.0);
        assert!((speed - exact).abs() < 1e-9, "{friction}: {speed} {exact}");
    }
}

#[test]
fn boxes_that_land_on_each_other_do_not_sink_in_even_for_one_step() {
    // Five boxes with gaps and offsets: at 0.14 s one pair was held by rows that did not hold it, and stood 1.5e-3 deep.
    let text = r#"
        gravity = [0, 0, -9.81]
        restitution = 0.3
        friction = 0.5
        [[repeat]]
        count = 5
        index = "i"
        [[repeat.body]]
        name = "box{i}"
        mass = 1
        shape = { box = [0.4, 0.4, 0.2] }
        position = ["0.01*i", 0, "0.12 + 0.22*i"]
        [[plane]]
        name = "floor"
        normal = [0, 0, 1]
        [[run]]
        step = 0.005
        end = 0.2
    "#;
    let problem = Problem::parse(text).unwrap();
    let result = problem.execute(&problem.runs[0], None, Watch::default()).unwrap();
    assert!(result.failure.is_none(), "{:?}", result.failure);
    assert!(result.ledger.penetration < 1e-6 * 0.4, "{:e}", result.ledger.penetration);
    assert!(result.ledger.energy.max <= result.ledger.energy.start * (1.0 + 1e-9));
}

/// Parties that never meet have no gap; that is no failure of the step.
#[test]
fn bodies_that_stand_still_or_pass_through_each_other_do_not_fail_a_run() {
    let result = message(
        r#"
title = "A table, a shelf, a block and a ghost"
gravity = [0, 0, -9.81]
parameters = { d = 0.4 }
restitution = 0
friction = 0.3
[[repeat]]
count = 2
[[repeat.body]]
name = "shelf{i}"
fixed = true
shape = { box = [1, 1, 0.2] }
position = ["3*d*i", 0, 0.5]
[[body]]
name = "block"
mass = 1
shape = { box = [0.2, 0.2, 0.2] }
position = [0, 0, 0.7]
[[body]]
name = "ghost"
mass = 1
shape = { sphere = 0.1 }
position = [0, 0, 0.7]
[[contact]]
between = ["ghost", "*"]
ignore = true
[[plane]]
name = "floor"
normal = [0, 0, 1]
[[run]]
method = "lgvci"
step = 0.01
end = 0.1
"#,
    );
    assert_eq!(result, "went well: None");
}

#[test]
fn a_box_that_lands_on_a_corner_is_of_second_order_where_it_sticks_and_where_its_slip_turns() {
    let end = |friction: f64, step: f64| {
        let text = format!(
            r#"
            gravity = [0, 0, -9.81]
            restitution = 0
            friction = {friction}
            [[body]]
            name = "box"
            mass = 1
            shape = {{ box = [0.4, 0.3, 0.2] }}
            position = [0, 0, 1]
            quaternion = [0.98, 0.03, 0.1, 0.14]
            velocity = [1, 0.3, 0]
            angular_velocity = [3, -2, 5]
            [[plane]]
            name = "floor"
            normal = [0, 0, 1]
            [[run]]
            method = "svci"
            step = {step}
            end = 0.52
            "#
        );
        let problem = Problem::parse(&text).unwrap();
        let result = problem.execute(&problem.runs[0], None, Watch::default()).unwrap();
        result.end.coordinates.unwrap().q
    };
    for friction in [0.1, 0.25, 0.6] {
        let ends = [0.002, 0.001, 0.0005].map(|step| end(friction, step));
        let apart = |a: &[f64], b: &[f64]| {
            a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
        };
        let order = (apart(&ends[0], &ends[1]) / apart(&ends[1], &ends[2])).log2();
        assert!((order - 2.0).abs() < 0.05, "friction {friction}: order {order}");
    }
}

/// Where a body ends, by the first run of a text.
fn end(text: &str, body: &str) -> [f64; 3] {
    let problem = Problem::parse(text).unwrap_or_else(|e| panic!("{e}"));
    let result = problem.execute(&problem.runs[0], None, Watch::default()).unwrap();
    assert!(result.failure.is_none(), "{:?}", result.failure);
    result.end.bodies.as_ref().unwrap()[body].position
}

#[test]
fn what_sticks_to_a_slope_does_not_creep_by_any_method() {
    for method in ["svci", "nsga", "moreau-jean"] {
        let text = BLOCK
            .replace("friction = 0.25", "friction = 0.5")
            .replace("step = 0.01", &format!("step = 0.01\nmethod = \"{method}\""));
        let problem = Problem::parse(&text).unwrap();
        let result = problem.execute(&problem.runs[0], None, Watch::default()).unwrap();
        assert!(result.failure.is_none(), "{method}: {:?}", result.failure);
        // It crept by 15 mm with `nsga`.
        let x = result.end.coordinates.as_ref().unwrap().q[0];
        assert!(x.abs() < 1e-14, "{method}: {x}");
    }
}

/// A ladder of round ends against a wall, as rough as the floor. With reactions at the bounds of friction, $N$ at the floor and $\mu N$ at the wall, moments about the foot balance
/// where $\mu\\,[(l\sin a + r) + \mu\\,(l\cos a + r)] = (1 + \mu^2)\\,\tfrac l2\cos a$.
#[test]
fn a_ladder_stands_above_the_angle_of_statics_and_slides_below() {
    let (mu, l, r) = (0.4_f64, 1.0, 0.02);
    let moment = |a: f64| {
        mu * (l * a.sin() + r + mu * (l * a.cos() + r)) - (1.0 + mu * mu) * 0.5 * l * a.cos()
    };
    let (mut low, mut high) = (0.5_f64, 1.2_f64);
    while high - low > 1e-12 {
        let a = 0.5 * (low + high);
        if moment(a) < 0.0 { low = a } else { high = a }
    }
    let fall = |method: &str, a: f64| {
        let (sin, cos) = a.sin_cos();
        let z = 0.5 * l * sin + r;
        let text = format!(
            r#"
            gravity = [0, 0, -9.81]
            restitution = 0
            friction = {mu}
            [[plane]]
            name = "floor"
            normal = [0, 0, 1]
            [[plane]]
            name = "wall"
            normal = [1, 0, 0]
            [[body]]
            name = "ladder"
            mass = 2
            inertia = [0.17, 0.17, 0.001]
            shape = {{ capsule = [{l}, {r}] }}
            position = [{}, 0, {z}]
            rotation = [[{sin}, 0, {}], [0, 1, 0], [{cos}, 0, {sin}]]
            [[run]]
            method = "{method}"
            step = 0.002
            end = 0.5
            "#,
            0.5 * l * cos + r,
            -cos
        );
        z - end(&text, "ladder")[2]
    };
    for (method, still) in [("lgvci", 1e-12), ("svci", 1e-12), ("nsga", 1e-4)] {
        let (stands, slides) = (fall(method, low + 0.005), fall(method, low - 0.005));
        assert!(stands.abs() < still, "{method}: {stands}");
        assert!(slides > 1e-3, "{method}: {slides}");
    }
}
