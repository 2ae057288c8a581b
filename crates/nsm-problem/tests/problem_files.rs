//! Problem files as users write them: the contract's examples, and a file with each kind of mistake.

mod common;

use common::message;
use nsm_problem::{Problem, RunResult, Watch};

const POGO: &str = r#"
title  = "Pogo stick"
source = "Kaufman & Pai, figure 1.4"

[system]
coordinates = ["y1", "y2"]
mass        = [1, 1]                 # one per coordinate, or a full symmetric matrix
parameters  = { g = 9.8213, k = 10, l = 5 }
potential   = "g*(y1 + y2) + k/2*(y1 - y2 - l)^2"
force       = { y1 = "0" }           # optional: non-potential forces
equality    = { }
inequality  = { floor = "y2" }
invariants  = { P = "p_y1 + p_y2" }

[start]
q = [8.88, 3.88]
v = [0, 0]

[[run]]
name = "gvi"
method = "gvi"
quadrature = "verlet"
step = 0.1
end = 100.0
samples = 50
"#;

/// The contract's first example with one piece replaced.
fn pogo(piece: &str, replacement: &str) -> String {
    assert!(POGO.contains(piece), "{piece}");
    POGO.replacen(piece, replacement, 1)
}

#[test]
fn the_first_example_of_the_contract_runs() {
    let problem = Problem::parse(POGO).unwrap();
    let result = problem.execute(&problem.runs[0], None, Watch::default()).unwrap();
    assert!(result.failure.is_none());
    let json = result.json();
    assert_eq!(json["steps"], 1000);
    assert!(json["energy"]["min"].as_f64().unwrap() > 125.3);
    assert!(json["energy"]["max"].as_f64().unwrap() < 128.5);
    assert!(json["events"].as_u64().unwrap() > 50);
    assert_eq!(
        json["event_times"].as_array().unwrap().len() as u64,
        json["events"].as_u64().unwrap()
    );
    assert_eq!(json["invariants"]["P"]["start"], 0.0);
    assert_eq!(json["final"]["q"].as_array().unwrap().len(), 2);
    assert_eq!(result.recording.samples.len(), 51);
    assert_eq!(
        result.recording.columns,
        [
            "t",
            "y1",
            "y2",
            "v_y1",
            "v_y2",
            "p_y1",
            "p_y2",
            "E",
            "P",
            "gap_floor",
            "residual_position",
            "residual_velocity"
        ]
    );
}

#[test]
fn the_same_file_gives_the_same_bits() {
    let problem = Problem::parse(POGO).unwrap();
    let make = || problem.execute(&problem.runs[0], None, Watch::default()).unwrap();
    let (a, b) = (make(), make());
    assert_eq!(a.recording, b.recording);
    assert_eq!(a.ledger, b.ledger);
}

#[test]
fn a_rigid_body_from_the_contract_runs() {
    let problem = Problem::parse(
        r#"
        gravity = [0, 0, -9.80665]
        [[body]]
        name = "ellipsoid"
        mass = 1
        inertia = [5, 4, 2.6]
        shape = { ellipsoid = [2, 3, 4] }
        position = [0, 0, 10]
        rotation = [[1,0,0],[0,1,0],[0,0,1]]
        momentum = [2, 2, 10]
        angular_momentum = [4, -4, 4]
        [[plane]]
        normal = [0, 0, 1]
        offset = 0
        [[run]]
        method = "lgvci"
        retraction = "exp"
        step = 0.01
        end = 6.0
        "#,
    )
    .unwrap();
    let result = problem.execute(&problem.runs[0], None, Watch::default()).unwrap();
    let json = result.json();
    let times: Vec<f64> =
        json["event_times"].as_array().unwrap().iter().map(|t| t.as_f64().unwrap()).collect();
    assert_eq!(times.len(), 3);
    assert!((times[0] - 2.649).abs() < 2e-3);
    assert_eq!(json["final"]["bodies"]["ellipsoid"]["momentum"][0], 2.0);
    assert!(result.ledger.energy.deviation() < 1e-11);
}

#[test]
fn shapes_of_every_kind_are_understood_and_their_inertia_is_found() {
    for shape in [
        "{ sphere = 1 }",
        "{ ellipsoid = [1, 2, 3] }",
        "{ box = [1, 2, 3] }",
        "{ capsule = [2, 0.5] }",
        "{ cylinder = [2, 0.5] }",
        "{ polyhedron = [[0,0,0],[1,0,0],[0,1,0],[0,0,1]] }",
        "{ box = [1, 1, 1], rounding = 0.1, at = [0.2, 0, 0] }",
        "{ union = [{ sphere = 1 }, { box = [1, 1, 4], at = [0, 0, 1] }] }",
        "{ intersection = [{ sphere = 1 }, { box = [1.2, 1.2, 1.2] }] }",
    ] {
        let text = format!(
            "[[body]]\nmass = 2\nshape = {shape}\nposition = [0, 0, 10]\nquaternion = [2, 0, 0, 2]\n\
             [[plane]]\nnormal = [0, 0, 1]\n[[run]]\nmethod = \"lgvci\"\nstep = 0.01\nend = 0.1"
        );
        let problem = Problem::parse(&text).unwrap_or_else(|e| panic!("{shape}: {e}"));
        let result = problem.execute(&problem.runs[0], None, Watch::default()).unwrap();
        assert!(result.failure.is_none(), "{shape}");
    }
}

#[test]
fn mistakes_name_the_line_the_key_and_what_would_be_right() {
    for (piece, replacement, expected) in [
        ("mass  ", "mas   ", "line 7: `system.mas`: unknown key `mas`; did you mean `mass`?"),
        (
            "potential ",
            "potental  ",
            "line 9: `system.potental`: unknown key `potental`; did you mean `potential`?",
        ),
        ("[1, 1] ", "[1] ", "line 7: `system.mass`: 1 masses for 2 coordinates"),
        ("[1, 1] ", "[1, -1] ", "line 7: `system.mass`: the mass of coordinate 1 is -1"),
        (
            "y1 - y2 - l",
            "y1 - y3 - l",
            "line 9: `system.potential`: there is no `y3`, did you mean `y1`?",
        ),
        ("k/2*(", "k/2*", "line 9: `system.potential`: "),
        (
            "q = [8.88, 3.88]",
            "q = [8.88]",
            "line 16: `start.q`: 1 numbers for 2 coordinates (y1, y2)",
        ),
        ("q = [8.88, 3.88]", "q = [8.88, -1]", "the start violates `floor`: it is -1"),
        ("q = [8.88, 3.88]", "q = [8.88, nan]", "line 16: `start.q[1]`: the number must be finite"),
        ("v = [0, 0]", "v = [0, 0]\np = [0, 0]", "line 18: `start.p`: give `v` or `p`, not both"),
        ("method = \"gvi\"", "method = \"gvii\"", "line 21: `run[0].method`: `gvii` is none of"),
        ("quadrature = \"verlet\"", "quadrature = \"velvet\"", "did you mean `verlet`?"),
        ("step = 0.1", "step = 0", "line 23: `run[0].step`: 0 is not a positive number"),
        (
            "step = 0.1",
            "step = \"0.1\"",
            "line 23: `run[0].step`: expected a number, found the text \"0.1\"",
        ),
        (
            "step = 0.1",
            "stp = 0.1",
            "line 23: `run[0].stp`: unknown key `stp`; did you mean `step`?",
        ),
        ("end = 100.0", "end = -1", "line 24: `run[0].end`: the end time is -1"),
        ("samples = 50", "samples = 2.5", "line 25: `run[0].samples`: 2.5 is not a whole number"),
        ("samples = 50", "rho = 0.9", "line 25: `run[0].rho`: unknown key `rho`"),
        ("method = \"gvi\"", "method = \"lgvci\"", "unknown key `quadrature`"),
        ("title  =", "title  ", "line 2: "),
        ("\"y1\", \"y2\"", "\"y1\", \"t\"", "the name `t` is taken"),
        ("force       = { y1", "force       = { y9", "there is no coordinate `y9`"),
        (
            "\"p_y1 + p_y2\"",
            "\"p_y1 + v_y2\"",
            "line 13: `system.invariants.P`: there is no `v_y2`, did you mean `p_y2`?",
        ),
    ] {
        let text = message(&pogo(piece, replacement));
        assert!(text.contains(expected), "{replacement}:\n{text}\ninstead of\n{expected}");
    }
}

#[test]
fn a_required_key_that_is_misspelt_is_named() {
    for (key, slip) in [
        ("method =", "metod ="),
        ("step =", "setp ="),
        ("coordinates =", "coordinate ="),
        ("mass        =", "mas ="),
    ] {
        let found = message(&pogo(key, slip));
        let (wrong, right) = (slip.trim_end_matches(" ="), key.split(' ').next().unwrap());
        let expected = format!("unknown key `{wrong}`; did you mean `{right}`?");
        assert!(found.contains(&expected), "{found}");
    }
    // A key that is there is not taken for one that is missing.
    let found = message(&pogo("q = [8.88, 3.88]", ""));
    assert!(found.contains("`q` is missing"), "{found}");
}

#[test]
fn methods_that_do_not_fit_say_which_do() {
    let text = "[[body]]\nmass = 1\nshape = { sphere = 1 }\nposition = [0, 0, 2]\n[[plane]]\nnormal = [0, 0, 1]\n\
                [[run]]\nmethod = \"vi\"\nstep = 0.01\nend = 0.1";
    assert!(message(text).contains("would pass through"), "{}", message(text));
    let lgvci = pogo("method = \"gvi\"\nquadrature = \"verlet\"", "method = \"lgvci\"");
    assert!(message(&lgvci).contains("methods for `[system]` are svci"), "{}", message(&lgvci));
    // Methods that know no inequalities would let the stick fall through the floor.
    for method in ["vi", "null-space", "null-space-reparametrised", "conserving", "alpha-index3"] {
        let options = format!("method = \"{method}\"");
        let found = message(&pogo("method = \"gvi\"\nquadrature = \"verlet\"", &options));
        assert!(found.contains("inequalit"), "{method}: {found}");
    }
}

#[test]
fn a_force_with_a_kink_is_not_constant() {
    let text = "[system]\ncoordinates = [\"x\"]\nmass = [1]\npotential = \"max(x, -2*x)\"\n[start]\nq = [-1]\n\
                [[run]]\nmethod = \"METHOD\"\nstep = 0.01\nend = 0.5";
    for method in ["gvi", "vi", "null-space", "conserving", "hybrid", "newmark", "alpha-index3"] {
        let problem = Problem::parse(&text.replace("METHOD", method)).unwrap();
        let result = problem.execute(&problem.runs[0], None, Watch::default()).unwrap();
        // The slope is -2 left of the kink: x = -1 + t².
        let x = result.json()["final"]["q"][0].as_f64().unwrap();
        assert!((x + 0.75).abs() < 1e-3, "{method}: {x}");
    }
}

#[test]
fn names_that_would_overwrite_files_or_hide_the_ground_are_refused() {
    let twice =
        format!("{POGO}\n[[run]]\nname = \"gvi-events\"\nmethod = \"gvi\"\nstep = 0.1\nend = 1");
    assert!(message(&twice).contains("would write the same files"), "{}", message(&twice));
    let text = "[[body]]\nname = \"ground\"\nmass = 1\ninertia = [1, 1, 1]\n[[joint]]\ntype = \"spherical\"\n\
                bodies = [\"ground\", \"ground\"]\n[[run]]\nmethod = \"vi\"\nstep = 0.1\nend = 1";
    assert!(message(text).contains("no part can be named so"), "{}", message(text));
}

#[test]
fn a_start_below_the_floor_is_not_told_to_project() {
    let found = message(&pogo("q = [8.88, 3.88]", "q = [8.88, -1]"));
    assert!(found.contains("violates `floor`") && !found.contains("project"), "{found}");
}

#[test]
fn bad_bodies_are_refused() {
    for (body, expected) in [
        ("mass = 0\nshape = { sphere = 1 }", "mass"),
        ("mass = 1\ninertia = [1, 1, -1]", "positive definite"),
        ("mass = 1", "give `inertia`, or a `shape`"),
        (
            "mass = 1\nshape = { polyhedron = [[0,0,0],[1,0,0],[0,1,0],[1,1,0]] }",
            "shape.polyhedron",
        ),
        ("mass = 1\nshape = { spere = 1 }", "did you mean `sphere`?"),
        ("mass = 1\nshape = { sphere = 1 }\nrotation = [[1,0,0],[0,2,0],[0,0,1]]", "orthogonal"),
        ("mass = 1\nshape = { sphere = 1 }\nposition = [0, 0, 0.5]", "plane"),
        ("mass = 1\nshape = { sphere = 1 }\nvelocity = [0, 0]", "2 numbers where 3 are expected"),
    ] {
        let text = format!(
            "[[body]]\n{body}\n[[plane]]\nnormal = [0, 0, 1]\n[[run]]\nmethod = \"lgvci\"\nstep = 0.01\nend = 0.1"
        );
        let found = message(&text);
        assert!(found.contains(expected), "{body}:\n{found}");
    }
}

#[test]
fn a_failed_run_says_when_and_keeps_what_was_recorded() {
    // The well has no solution for large steps: the runaway potential makes positions overflow.
    let text = pogo("g*(y1 + y2) + k/2*(y1 - y2 - l)^2", "-exp(y1^2)");
    let problem = Problem::parse(&text.replace("[8.88, 3.88]", "[1, 3]")).unwrap();
    let folder = std::env::temp_dir().join(format!("nsm-problem-files-{}", std::process::id()));
    let result = problem.execute(&problem.runs[0], Some(&folder), Watch::default()).unwrap();
    let failure = result.failure.clone().expect("this run cannot reach its end");
    assert!(failure.contains("t = "), "{failure}");
    assert!(!result.recording.samples.is_empty());
    let written = std::fs::read_to_string(folder.join("gvi.csv")).unwrap();
    assert_eq!(written.lines().count(), 1 + result.recording.samples.len());
    let columns = written.lines().next().unwrap().split(',').count();
    assert!(written.lines().all(|line| line.split(',').count() == columns));
    assert!(result.json()["failure"].is_string());
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_run_can_be_interrupted_from_outside() {
    let problem = Problem::parse(&POGO.replace("end = 100.0", "end = 1000000.0")).unwrap();
    let cancel = std::sync::atomic::AtomicBool::new(true);
    let watch = Watch { cancel: Some(&cancel), ..Watch::default() };
    let result = problem.execute(&problem.runs[0], None, watch).unwrap();
    assert!(result.interrupted && result.failure.is_none());
    assert!(result.ledger.steps < 1000);
}

#[test]
fn every_problem_file_of_the_suite_can_be_read() {
    let home = concat!(env!("CARGO_MANIFEST_DIR"), "/../../benchmarks");
    let mut read = 0;
    for folder in std::fs::read_dir(home).unwrap().map(|f| f.unwrap().path()).filter(|p| p.is_dir())
    {
        for file in std::fs::read_dir(folder).unwrap().map(|f| f.unwrap().path()) {
            if file.extension().is_some_and(|e| e == "toml") {
                let problem = Problem::read(&file).unwrap_or_else(|e| panic!("{e}"));
                assert!(
                    !problem.runs.is_empty() && !problem.expectations.is_empty(),
                    "{}",
                    file.display()
                );
                let units = problem.units.words();
                assert!(!units.is_empty(), "{}: `units` are missing", file.display());
                for e in &problem.expectations {
                    // Beyond the papers nothing is their statement: the file says where its numbers come from.
                    let paper = e.origin == Some(nsm_problem::Origin::Paper);
                    let beyond = ["contact", "friction", "mechanisms"]
                        .iter()
                        .any(|subject| file.parent().unwrap().ends_with(subject));
                    let said = e.origin.is_some() && !(beyond && paper);
                    assert!(said, "{}: `{}` needs an `origin`", file.display(), e.what);
                }
                read += 1;
            }
        }
    }
    assert!(read >= 10, "only {read} files");
}

#[test]
fn a_contact_that_the_method_does_not_hold_is_named_by_a_warning() {
    let problem = Problem::parse(
        r#"
        title = "Ball"
        [system]
        coordinates = ["y"]
        mass        = [1]
        potential   = "9.8*y"
        inequality  = { floor = "y" }
        [start]
        q = [1]
        [[run]]
        name   = "through"
        method = "dsi"
        step   = 0.01
        end    = 3.0
        [[run]]
        name   = "bounces"
        method = "gvi"
        step   = 0.01
        end    = 3.0
        [[expect]]
        run   = "through"
        check = "warnings == 1 && warnings.crossed == 1"
        "#,
    )
    .unwrap();
    let results: Vec<RunResult> =
        problem.runs.iter().map(|r| problem.execute(r, None, Watch::default()).unwrap()).collect();
    assert_eq!(results[0].ledger.warnings()[0].kind(), "crossed");
    assert!(results[1].ledger.warnings().is_empty());
    assert!(problem.judge(&results).unwrap().iter().all(|v| v.holds));
    assert!(problem.unforeseen_warnings(&results[0]).is_empty());
    let unsaid = results[0].ledger.warnings();
    assert!(unsaid[0].to_string().contains("`floor` was crossed"), "{}", unsaid[0]);
}

#[test]
fn momenta_of_a_grounded_linkage_are_looked_at_and_those_of_a_free_one_conserved() {
    let file = |joint: &str, gravity: &str| {
        let text = format!(
            r#"
            title   = "Rods"
            gravity = {gravity}
            [[body]]
            name     = "rod"
            mass     = 1
            inertia  = [0.1, 0.1, 0.1]
            position = [0, 0, 1]
            [[body]]
            name     = "other"
            mass     = 2
            inertia  = [0.1, 0.2, 0.1]
            position = [0, 0, 2]
            angular_velocity = [0, 1, 0]
            [[joint]]
            name   = "between"
            type   = "spherical"
            bodies = ["rod", "other"]
            at     = [0, 0, 1.5]
            {joint}
            [[run]]
            name   = "run"
            method = "vi"
            step   = 0.01
            end    = 0.1
            "#
        );
        let problem = Problem::parse(&text).unwrap();
        let result = problem.execute(&problem.runs[0], None, Watch::default()).unwrap();
        let invariants = &result.json()["invariants"];
        ["px", "py", "pz", "Lx", "Ly", "Lz"].map(|n| invariants[n]["conserved"] == true)
    };
    let ground = "[[joint]]\nname = \"pivot\"\ntype = \"spherical\"\nbodies = [\"ground\", \"rod\"]\nat = [0, 0, 0]";
    assert_eq!(file("", "[0, 0, 0]"), [true; 6]);
    assert_eq!(file("", "[0, 0, -9.81]"), [true, true, false, false, false, true]);
    assert_eq!(file(ground, "[0, 0, -9.81]"), [false, false, false, false, false, true]);
}

/// A mechanism whose contacts and losses the file describes, by several methods.
const BOX_AND_BALL: &str = r#"
gravity = [0, 0, -9.81]
restitution = 0.5
[[body]]
name = "box"
mass = 1
shape = { box = [0.4, 0.3, 0.2] }
position = [0, 0, 0.4]
[[body]]
name = "ball"
mass = 2
shape = { sphere = 0.1 }
position = [0, 0, 0.8]
restitution = 0.1
[[plane]]
name = "floor"
normal = [0, 0, 1]
[[run]]
method = "METHOD"
step = 0.005
end = 2
"#;

#[test]
fn bodies_with_losses_come_to_rest_on_each_other() {
    for method in ["svci", "gvi", "lgvci"] {
        let problem = Problem::parse(&BOX_AND_BALL.replace("METHOD", method)).unwrap();
        let result = problem.execute(&problem.runs[0], None, Watch::default()).unwrap();
        assert!(result.failure.is_none(), "{method}: {:?}", result.failure);
        let json = result.json();
        let height = |name: &str| json["final"]["bodies"][name]["position"][2].as_f64().unwrap();
        assert!((height("box") - 0.1).abs() < 1e-9, "{method}: {}", height("box"));
        assert!((height("ball") - 0.3).abs() < 1e-9, "{method}: {}", height("ball"));
        assert!(json["penetration"].as_f64().unwrap() < 1e-12, "{method}");
    }
}

#[test]
fn contacts_that_no_method_holds_are_refused() {
    let text = BOX_AND_BALL.replace("METHOD", "svci");
    for (piece, replacement, expected) in [
        ("restitution = 0.5", "restitution = 1.5", "between 0 and 1"),
        ("restitution = 0.5", "friction = -0.5", "not negative"),
        ("restitution = 0.5", "tangential_restitution = 1.5", "between 0 and 1"),
        ("shape = { sphere = 0.1 }", "shape = { box = [0.1, 0.1, 0.1] }", "ignore = true"),
        ("position = [0, 0, 0.8]", "position = [0, 0, 0.5]", "violates `box-ball`"),
        ("method = \"svci\"", "method = \"moreau-jean\"", "lose their shape"),
        ("[[run]]", "[[contact]]\nbetween = [\"bal\", \"box\"]\n[[run]]", "did you mean `ball`?"),
    ] {
        let found = message(&text.replace(piece, replacement));
        assert!(found.contains(expected), "{replacement}: {found}");
    }
    // The method for rigid bodies holds them all, and refuses a start inside each other.
    let rigid = text.replace("svci", "lgvci");
    let found = message(&rigid.replace("position = [0, 0, 0.8]", "position = [0, 0, 0.5]"));
    assert!(found.contains("`box` and `ball` start"), "{found}");
}
