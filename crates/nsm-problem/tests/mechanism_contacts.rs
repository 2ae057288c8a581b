//! Mechanisms that touch: boxes in the coordinates of a mechanism against the same boxes on SE(3), what joints carry where contacts rub, edges that cut beside walls.

mod common;
#[path = "common/mechanisms.rs"]
mod mechanisms;

use common::message;
use mechanisms::{judged, number, run};
use nsm_problem::{Problem, Watch};

/// Largest distance of the positions of bodies at the end of two runs.
fn apart(problem: &str, bodies: &[&str], methods: [&str; 2]) -> f64 {
    let ends = methods.map(|method| run(&problem.replace("METHOD", method)));
    let place = |k: usize, name: &str| {
        let all = ends[k].end.bodies.as_ref().unwrap();
        all.iter().find(|(body, _)| *body == name).unwrap().1.position
    };
    let distance = |name: &&str| {
        let (a, b) = (place(0, name), place(1, name));
        (0..3).fold(0.0_f64, |sum, k| sum.max((a[k] - b[k]).abs()))
    };
    bodies.iter().map(distance).fold(0.0, f64::max)
}

/// A small box slides over a large one, with losses and friction: from the fall over the impact to rest.
const SLIDING: &str = r#"
    gravity = [0, 0, -9.81]
    restitution = 0
    friction = 0.4
    [[plane]]
    name = "floor"
    normal = [0, 0, 1]
    [[body]]
    name = "a"
    mass = 1
    shape = { box = [0.4, 0.4, 0.2], rounding = 0.02 }
    position = [0, 0, 0.13]
    [[body]]
    name = "b"
    mass = 1
    shape = { box = [0.3, 0.3, 0.2], rounding = 0.02 }
    position = [0.03, 0.02, 0.42]
    velocity = [0.5, 0, 0]
    [[run]]
    method = "METHOD"
    step = 0.002
    end = 0.4
"#;

#[test]
fn boxes_by_directors_slide_and_rest_as_those_on_rigid_motions() {
    // Both are of second order: the distance falls to about a quarter with half the step. Bounds were set after seeing 8.0e-7 and 1.5e-7.
    let coarse = apart(SLIDING, &["a", "b"], ["svci", "lgvci"]);
    let fine = apart(&SLIDING.replace("0.002", "0.001"), &["a", "b"], ["svci", "lgvci"]);
    assert!(coarse < 4e-6 && fine < 1e-6, "{coarse:e}, {fine:e}");
}

#[test]
fn sharp_boxes_are_refused_with_what_to_do_and_pass_where_they_are_ignored() {
    let sharp = SLIDING.replace(", rounding = 0.02", "").replace("METHOD", "svci");
    let found = message(&sharp);
    assert!(found.contains("rounding") && found.contains("`a-b`"), "{found}");
    assert!(found.contains("lgvci") && found.contains("ignore = true"), "{found}");
    let ignored = format!("{sharp}[[contact]]\nbetween = [\"a\", \"b\"]\nignore = true\n");
    assert!(run(&ignored).failure.is_none());
}

/// Equal boxes in a column: every corner of a face is that of another, and edges lie on edges.
#[test]
fn a_column_of_equal_boxes_stands_beside_a_jointed_arm() {
    let text = r#"
        gravity = [0, 0, -9.81]
        restitution = 0
        friction = 0.4
        [[plane]]
        name = "floor"
        normal = [0, 0, 1]
        [[repeat]]
        count = 3
        [[repeat.body]]
        name = "b{i}"
        mass = 1
        shape = { box = [0.3, 0.3, 0.2], rounding = 0.02 }
        position = [0, 0, "0.12 + 0.24*i"]
        [[body]]
        name = "arm"
        mass = 0.5
        shape = { capsule = [0.4, 0.05] }
        position = [0.4, 0, 0.7]
        [[joint]]
        name = "hinge"
        type = "revolute"
        bodies = ["ground", "arm"]
        at = [0.4, 0, 0.95]
        axis = [0, 1, 0]
        rate = [-2.0]
        [[run]]
        method = "svci"
        step = 0.005
        end = 0.1
    "#;
    let result = run(text);
    assert!(result.failure.is_none(), "{:?}", result.failure);
    for (name, body) in result.end.bodies.as_ref().unwrap().iter() {
        if let Some(k) = name.strip_prefix('b').and_then(|k| k.parse::<f64>().ok()) {
            let off = (body.position[2] - 0.12 - 0.24 * k).abs().max(body.position[0].abs());
            assert!(off < 1e-12, "{name}: {off:e}");
        }
    }
    assert!(number(&result, "penetration") < 1e-14);
}

/// A block slides on the floor and drags another one by a rod: the friction 5 N slows both, and the rod carries what slows the other.
const DRAGGED: &str = r#"
    gravity = [0, 0, -10]
    restitution = 0
    [[plane]]
    name = "floor"
    normal = [0, 0, 1]
    [[body]]
    name = "a"
    mass = 1
    shape = { box = [0.4, 0.4, 0.2] }
    position = [0, 0, 0.1]
    velocity = [1, 0, 0]
    [[body]]
    name = "b"
    mass = 1
    inertia = [1, 1, 1]
    position = [1, 0, 0.1]
    [[joint]]
    name = "rod"
    type = "distance"
    bodies = ["a", "b"]
    at = [[0, 0, 0.1], [1, 0, 0.1]]
    [[joint]]
    name = "slide"
    type = "planar"
    bodies = ["ground", "b"]
    at = [1, 0, 0.1]
    axis = [0, 0, 1]
    [[contact]]
    between = ["a", "floor"]
    friction = 0.5
    [[run]]
    method = "svci"
    step = 0.002
    end = 0.1
"#;

fn carried(text: &str, name: &str) -> Vec<f64> {
    let result = run(text);
    let column = result.recording.reaction_columns.iter().position(|c| c == name).unwrap();
    result.recording.reactions.iter().map(|row| row[column]).collect()
}

#[test]
fn joints_carry_what_friction_takes_at_contacts_that_slip() {
    for force in carried(DRAGGED, "rod") {
        assert!((force + 2.5).abs() < 1e-9, "{force}");
    }
    // What a run says of friction counts as well.
    let own = DRAGGED.replace("friction = 0.5", "").replace("0.002\n", "0.002\nfriction = 0.2\n");
    for force in carried(&own, "rod") {
        assert!((force + 1.0).abs() < 1e-9, "{force}");
    }
}

/// A ball of mass 1 that rolls is pulled by a block of mass 1 under 1.2 N: it weighs as much as 7/5, so all move with 0.5, and the rod pulls with 0.7.
#[test]
fn joints_carry_what_friction_takes_at_contacts_that_roll() {
    let text = DRAGGED
        .replace("shape = { box = [0.4, 0.4, 0.2] }", "shape = { sphere = 0.1 }")
        .replace("velocity = [1, 0, 0]", "velocity = [1, 0, 0]\nangular_velocity = [0, 10, 0]")
        .replace("[[run]]", "[[load]]\nwhere = \"b\"\ndirection = [1, 0, 0]\nvalue = 1.2\n[[run]]");
    for force in carried(&text, "rod") {
        assert!((force + 0.7).abs() < 1e-8, "{force}");
    }
}

#[test]
fn an_edge_that_cuts_bounces_off_a_wall_by_the_closed_form() {
    judged("sleigh-wall");
}

#[test]
fn the_method_that_holds_walls_beside_edges_is_named() {
    let sleigh = |method: &str| {
        format!(
            "[system]\ncoordinates = [\"x\", \"y\", \"a\"]\nmass = [2, 2, 0.5]\nnonholonomic = {{ edge = \"v_x*sin(a) - v_y*cos(a)\" }}\ninequality = {{ wall = \"1 - x\" }}\n[start]\nq = [0, 0, 0]\nv = [1, 0, 1]\n[[run]]\nmethod = \"{method}\"\nstep = 0.01\nend = 1\n"
        )
    };
    for method in ["vi", "energy-momentum", "gvi", "nsga", "alpha-event", "hybrid"] {
        let text = sleigh(method);
        let found = match Problem::parse(&text) {
            Ok(problem) => problem.bound(&problem.runs[0]).unwrap_err().to_string(),
            Err(error) => error.to_string(),
        };
        assert!(found.contains("svci"), "{method}: {found}");
    }
}

/// Shapes of a mechanism touch where a file speaks of contacts; where it does not, that is said.
#[test]
fn shapes_that_are_only_drawn_are_noted() {
    let text = "gravity = [0, 0, -9.81]\n\
        [[body]]\nname = \"wall\"\nmass = 1\nshape = { box = [1, 1, 1] }\nposition = [0, 0, 0]\n\
        [[body]]\nname = \"ball\"\nmass = 1\nshape = { sphere = 0.1 }\nposition = [0, 0, 2]\n\
        [[joint]]\ntype = \"fixed\"\nbodies = [\"ground\", \"wall\"]\nat = [0, 0, 0]\n\
        [[joint]]\ntype = \"prismatic\"\nbodies = [\"ground\", \"ball\"]\nat = [0, 0, 2]\naxis = [0, 0, 1]\n\
        [[run]]\nstep = 0.01\nend = 1\n";
    let drawn = Problem::parse(text).unwrap();
    assert!(drawn.notes.iter().any(|n| n.contains("`wall` and `ball`")), "{:?}", drawn.notes);
    let touching = Problem::parse(&format!("restitution = 0\n{text}")).unwrap();
    assert!(touching.notes.is_empty(), "{:?}", touching.notes);
    let result = touching.execute(&touching.runs[0], None, Watch::default()).unwrap();
    let end = result.end.bodies.as_ref().unwrap().get("ball").unwrap().position;
    assert!((end[2] - 0.6).abs() < 1e-12, "{end:?}");
}

/// A pendulum swings against a fixed block: it loses `1 - e²` of its energy at the bottom and nothing elsewhere, and what holds the block takes
/// what the bob gives.
#[test]
fn a_body_may_be_fixed_beside_joints() {
    let text = "gravity = [0, 0, -9.81]\nrestitution = 0.6\n\
        [[body]]\nname = \"bob\"\nmass = 2\ninertia = [1, 1, 1]\nshape = { sphere = 0.1 }\nposition = [1, 0, 0]\n\
        [[body]]\nname = \"block\"\nfixed = true\nshape = { box = [0.2, 0.4, 0.4] }\nposition = [-0.2, 0, -1]\n\
        [[joint]]\nname = \"pivot\"\ntype = \"revolute\"\nbodies = [\"ground\", \"bob\"]\nat = [0, 0, 0]\naxis = [0, 1, 0]\n\
        [[run]]\nstep = 0.001\nend = 1\n";
    let result = run(text);
    assert_eq!(number(&result, "events"), 1.0);
    // Fallen by 1, with the loss in the block's normal: e = 0.6 of the speed is left.
    let (fallen, left) = (2.0 * 9.81, 0.36);
    assert!(number(&result, "energy.start").abs() < 1e-12);
    let expected = -(1.0 - left) * fallen;
    let lost = number(&result, "contact_work");
    assert!((lost - expected).abs() < 1e-4, "{lost} {expected}");
    let block = result.end.bodies.as_ref().unwrap().get("block").unwrap().position;
    assert!((block[0] + 0.2).abs() < 1e-12 && (block[2] + 1.0).abs() < 1e-12, "{block:?}");
    // The bob's inertia about the pivot is 3, at an arm of 1.
    let impulse = number(&result, "reactions.block_on_the_ground.impulse.max");
    let expected = 1.6 * 3.0 * (2.0 * fallen / 3.0).sqrt();
    assert!((impulse - expected).abs() < 1e-4, "{impulse} {expected}");
    // A file with a fixed body speaks of contacts; one that moves has a velocity, and is not fixed.
    let silent = text.replace("restitution = 0.6\n", "");
    assert_eq!(number(&run(&silent), "events"), 1.0);
    let moving = text.replace("fixed = true", "fixed = true\nvelocity = [1, 0, 0]");
    assert!(message(&moving).contains("cannot move"));
}

/// A box that falls and slides on a fixed table: methods for coordinates hold free worlds with fixed bodies too.
#[test]
fn a_fixed_table_is_the_same_for_methods_in_coordinates() {
    let text = r#"
        gravity = [1, 0, -9.81]
        restitution = 0
        friction = 0.05
        [[body]]
        name = "table"
        fixed = true
        shape = { box = [4, 4, 0.2], rounding = 0.01 }
        position = [0, 0, -0.11]
        [[body]]
        name = "a"
        mass = 1
        shape = { box = [0.4, 0.4, 0.2] }
        position = [0, 0, 0.1]
        [[run]]
        method = "METHOD"
        step = 0.005
        end = 1
        "#;
    assert!(apart(text, &["a"], ["lgvci", "svci"]) < 1e-9);
    assert!(apart(text, &["a"], ["lgvci", "nsga"]) < 1e-2);
}
