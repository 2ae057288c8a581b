//! Slots, pins, bushings, attraction, cams, rows on velocities, kinetic energy by formula and templates through problem files.

mod common;
#[path = "common/mechanisms.rs"]
mod mechanisms;

use common::message;
use mechanisms::{judged, number, run};
use nsm_problem::{Problem, Watch};

#[test]
fn slots_couplings_and_cams_follow_their_kinematics() {
    for name in ["bead", "turning-plane", "constant-velocity", "cam"] {
        judged(name);
    }
}

#[test]
fn bushings_and_attraction_follow_their_closed_forms() {
    judged("bushing");
    judged("attraction");
}

#[test]
fn what_rolls_or_cuts_follows_its_closed_form_and_keeps_its_energy() {
    for name in ["sleigh", "knife-edge", "rolling-sphere", "rolling-disc"] {
        judged(name);
    }
}

#[test]
fn a_kinetic_energy_by_formula_moves_as_the_same_in_cartesian_coordinates() {
    judged("double-pendulum");
    judged("knife-edge-polar");
}

#[test]
fn a_kinetic_energy_by_formula_meets_contacts_as_the_same_in_cartesian_coordinates() {
    judged("double-pendulum-floor");
    judged("polar-floor");
}

/// Two free bodies with a bushing between them that couples everything with everything.
const COUPLED: &str = r#"
    [[body]]
    name = "a"
    mass = 2
    inertia = [0.2, 0.25, 0.3]
    velocity = [0.3, 0.1, -0.2]
    angular_velocity = [0.5, -0.2, 1]
    [[body]]
    name = "b"
    mass = 1
    inertia = [0.1, 0.12, 0.09]
    position = [0.6, 0.1, 0]
    [[bushing]]
    name = "mount"
    between = ["a", "b"]
    at = [0.3, 0, 0.1]
    rotation = [[0.8, -0.6, 0], [0.6, 0.8, 0], [0, 0, 1]]
    stiffness = [[40, 2, 0, 0, 0, 3], [2, 50, 0, 0, 1, 0], [0, 0, 60, 2, 0, 0], [0, 0, 2, 5, 0, 0], [0, 1, 0, 0, 6, 0], [3, 0, 0, 0, 0, 4]]
    damping = [0.3, 0.3, 0.3, 0.05, 0.05, 0.05]
    [[run]]
    method = "energy-momentum"
    step = 0.005
    end = 2
"#;

#[test]
fn a_bushing_between_free_bodies_keeps_momenta_and_books_what_it_takes() {
    let result = run(COUPLED);
    for momentum in ["px", "py", "pz", "Lx", "Ly", "Lz"] {
        let drift = number(&result, &format!("invariants.{momentum}.deviation"));
        assert!(drift < 1e-12, "{momentum}: {drift}");
    }
    assert!(number(&result, "balance.deviation") < 1e-12);
    assert!(number(&result, "work.mount") < -1e-3);
}

/// A bar on a hinge, with more tables.
fn bar(more: &str) -> String {
    format!(
        r#"
        gravity = [0, 0, -9.81]
        track = ["hinge"]
        [[body]]
        name = "bar"
        mass = 2
        inertia = [0.1, 0.2, 0.2]
        position = [0.5, 0, 0]
        [[joint]]
        name = "hinge"
        type = "revolute"
        bodies = ["ground", "bar"]
        at = [0, 0, 0]
        axis = [0, 1, 0]
        {more}
        [[run]]
        method = "energy-momentum"
        step = 0.002
        end = 0.6
        "#
    )
}

#[test]
fn a_particle_pinned_to_a_bar_moves_as_its_mass_on_it() {
    // The bar falls by 1.5 m l² per unit length of arm with the particle: a second body at the tip is the reference.
    let pinned = bar(
        "[[point_mass]]\nname = \"bob\"\nmass = 0.7\nposition = [1, 0, 0]\n[[joint]]\nname = \"tip\"\ntype = \"spherical\"\nbodies = [\"bar\", \"bob\"]\nat = [1, 0, 0]\n",
    );
    let result = run(&pinned);
    // θ'' = (m l + μ L) g cos θ/(J + m l² + μ L²), by a Runge–Kutta method.
    let rate = (2.0 * 0.5 + 0.7) * 9.81 / (0.2 + 2.0 * 0.25 + 0.7);
    let f = |y: [f64; 2]| [y[1], rate * y[0].cos()];
    let (mut y, h) = ([0.0_f64, 0.0], 1e-4);
    for _ in 0..6000 {
        let along = |y: [f64; 2], k: [f64; 2], h: f64| [y[0] + h * k[0], y[1] + h * k[1]];
        let k1 = f(y);
        let k2 = f(along(y, k1, 0.5 * h));
        let k3 = f(along(y, k2, 0.5 * h));
        let k4 = f(along(y, k3, h));
        y = std::array::from_fn(|i| y[i] + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]));
    }
    assert!((number(&result, "invariants.hinge.end") - y[0]).abs() < 2e-5);
    assert!(number(&result, "energy.deviation") < 1e-11);
    // The pin carries what moves the particle: m(g - a) at its place.
    let found = message(&pinned.replace("\"spherical\"", "\"fixed\""));
    assert!(found.contains("a particle takes joints of type `spherical`"), "{found}");
}

#[test]
fn a_spring_by_formula_is_the_spring_by_numbers() {
    let spring = |law: &str| {
        bar(&format!(
            "[[spring]]\nname = \"s\"\nbetween = [\"ground\", \"bar\"]\nat = [[0, 0, 1], [1, 0, 0]]\n{law}"
        ))
    };
    let numbers = run(&spring("length = 1.2\nstiffness = 30\ndamping = 0.5"));
    let formula = run(&spring("force = \"30*(s - 1.2) + 0.5*s_rate\""));
    let angles = [&numbers, &formula].map(|r| number(r, "invariants.hinge.end"));
    // One averages the force, the other the potential: both of second order.
    assert!((angles[0] - angles[1]).abs() < 1e-5, "{angles:?}");
    assert!(number(&formula, "balance.deviation") < 1e-10);
    // By the length alone it is a potential: the same steps, and the energy is exact. It is counted from the start.
    let numbers = run(&spring("length = 1.2\nstiffness = 30"));
    let formula = run(&spring("force = \"30*(s - 1.2)\""));
    let angles = [&numbers, &formula].map(|r| number(r, "invariants.hinge.end"));
    assert!((angles[0] - angles[1]).abs() < 1e-12, "{angles:?}");
    for law in ["30*(s - 1.2)", "20*s^3 - 5/s", "40*max(0, s - 1.6)", "50*(exp(s - 1.5) - 1)"] {
        let result = run(&spring(&format!("force = \"{law}\"")));
        let energy = number(&result, "energy.deviation");
        assert!(energy < 1e-11 && number(&result, "energy.start") == 0.0, "{law}: {energy}");
    }
    let starting = run(&spring("force = \"30*(s - 1.2)*(1 + t)\""));
    assert!(number(&starting, "work.s").abs() > 0.1);
}

#[test]
fn a_spring_on_a_node_of_a_beam_adds_to_its_stiffness() {
    // One element in tension, pushed from rest by a constant load: twice the static stretch F/(EA/L + k) after half a period, when the mass
    // is the consistent third of the bar's.
    let text = r#"
        [[beam]]
        name = "bar"
        ends = [[0, 0, 0], [1, 0, 0]]
        elements = 1
        GA = 1e4
        EA = 1e2
        EI1 = 20
        EI2 = 20
        GJ = 10
        mass = 3
        inertia = [0.01, 0.01]
        [[joint]]
        name = "clamp"
        type = "fixed"
        bodies = ["ground", "bar.start"]
        at = [0, 0, 0]
        [[spring]]
        name = "s"
        between = ["bar.end", "ground"]
        at = [[1, 0, 0], [2, 0, 0]]
        stiffness = 44
        [[load]]
        where = "bar.end"
        direction = [1, 0, 0]
        value = 0.01
        [[run]]
        method = "energy-momentum"
        step = "pi/12000"
        end = "pi/12"
    "#;
    let stretch = number(&run(text), "final.bodies.bar[1].position[0]") - 1.0;
    assert!((stretch - 2.0 * 0.01 / 144.0).abs() < 1e-9, "{stretch}");
}

#[test]
fn an_arc_is_the_same_beam_as_its_points() {
    let beam = |line: &str| {
        format!(
            r#"
            [[beam]]
            name = "arc"
            {line}
            GA = 1e4
            EA = 1e4
            EI1 = 20
            EI2 = 20
            GJ = 10
            mass = 1
            inertia = [0.01, 0.01]
            [[joint]]
            name = "clamp"
            type = "fixed"
            bodies = ["ground", "arc.start"]
            at = [1, 0, 0]
            [[load]]
            where = "arc.end"
            direction = [0, 1, 0]
            value = "t"
            [[run]]
            method = "energy-momentum"
            step = 0.01
            end = 0.3
            "#
        )
    };
    let points: Vec<String> = (0..9)
        .map(|k| (f64::from(k) * std::f64::consts::PI / 16.0).sin_cos())
        .map(|(s, c)| format!("[{c:?}, 0, {s:?}]"))
        .collect();
    let points = run(&beam(&format!("points = [{}]", points.join(", "))));
    let arc = "start = [1, 0, 0]\ntangent = [0, 0, 1]\naxis = [0, -1, 0]\nradius = 1\nangle = \"pi/2\"\nelements = 8";
    let arc = beam(arc);
    let bent = run(&arc);
    for k in 0..3 {
        let path = format!("final.bodies.arc[8].position[{k}]");
        assert!((number(&points, &path) - number(&bent, &path)).abs() < 1e-10);
    }
    for (from, to, expected) in [
        ("axis = [0, -1, 0]", "axis = [0, 0, 1]", "at right angles to its tangent"),
        ("radius = 1\n", "radius = 0\n", "not a positive number"),
        ("angle = \"pi/2\"", "angle = 0", "not zero"),
        ("elements = 8", "elements = 1", "at most one radian"),
    ] {
        let found = message(&arc.replace(from, to));
        assert!(found.contains(expected), "{expected}\n---\n{found}");
    }
}

#[test]
fn a_template_gives_each_copy_its_own_values() {
    let template = r#"
        gravity = [0, 0, -9.81]
        track = ["left hinge", "right hinge"]
        [[repeat]]
        with = [{ side = "left", y = 1, k = 3.0 }, { side = "right", y = -1, k = 5 }]
        [[repeat.body]]
        name = "{side} arm"
        mass = 2
        inertia = [0.1, 0.2, 0.2]
        position = [0.5, "y", 0]
        [[repeat.joint]]
        name = "{side} hinge"
        type = "revolute"
        bodies = ["ground", "{side} arm"]
        at = [0, "y", 0]
        axis = [0, 1, 0]
        torque = "-k*{side}_hinge"
        [[run]]
        method = "energy-momentum"
        step = 0.01
        end = 0.5
    "#;
    let result = run(template);
    let one = |side: &str, y: f64, k: f64| {
        format!(
            "[[body]]\nname = \"{side} arm\"\nmass = 2\ninertia = [0.1, 0.2, 0.2]\nposition = [0.5, {y:?}, 0]\n[[joint]]\nname = \"{side} hinge\"\ntype = \"revolute\"\nbodies = [\"ground\", \"{side} arm\"]\nat = [0, {y:?}, 0]\naxis = [0, 1, 0]\ntorque = \"-({k:e})*{side}_hinge\"\n"
        )
    };
    let hand = format!(
        "gravity = [0, 0, -9.81]\ntrack = [\"left hinge\", \"right hinge\"]\n{}{}[[run]]\nmethod = \"energy-momentum\"\nstep = 0.01\nend = 0.5\n",
        one("left", 1.0, 3.0),
        one("right", -1.0, 5.0)
    );
    assert_eq!(result.recording.samples, run(&hand).recording.samples);
    for (text, expected) in [
        (template.replace("with =", "count = 2\nwith ="), "give `count` or `with`, not both"),
        (template.replace("with = [{ side = \"left\"", "with = [{ side = true"), "list of tables"),
        (
            template.replace("{side} arm\"\n        mass", "{sied} arm\"\n        mass"),
            "there is no `sied`",
        ),
    ] {
        let found = message(&text);
        assert!(found.contains(expected), "{expected}\n---\n{found}");
    }
}

#[test]
fn mistakes_are_named_with_what_to_do() {
    let sleigh = |row: &str, method: &str| {
        format!(
            "[system]\ncoordinates = [\"x\", \"y\", \"a\"]\nmass = [2, 2, 0.5]\nnonholonomic = {{ edge = \"{row}\" }}\n[start]\nq = [0, 0, 0]\nv = [1, 0, 1]\n[[run]]\nmethod = \"{method}\"\nstep = 0.01\nend = 1\n"
        )
    };
    let edge = "v_x*sin(a) - v_y*cos(a)";
    let kinetic = |formula: &str, method: &str| {
        format!(
            "[system]\ncoordinates = [\"a\", \"b\"]\nkinetic = \"{formula}\"\n[start]\nq = [0, 0]\n[[run]]\nmethod = \"{method}\"\nstep = 0.01\nend = 1\n"
        )
    };
    let own = |formula: &str| {
        bar("").replace("track =", &format!("equality = {{ own = \"{formula}\" }}\ntrack ="))
    };
    for (text, expected) in [
        (sleigh("v_x*v_y", "vi"), "linear in the velocities"),
        (sleigh("v_x - 1", "vi"), "vanishes at rest"),
        (sleigh("x", "vi"), "one on positions is an `equality`"),
        (sleigh("v_x*t", "vi"), "does not depend on `t`"),
        (sleigh("v_z", "vi"), "there is no `v_z`"),
        (sleigh("v_y - v_x", "vi"), "`edge`"),
        (kinetic("v_a^2 + v_b^3", "alpha-index3"), "quadratic in the velocities"),
        (kinetic("v_a^2 + v_b^2 + v_a", "alpha-index3"), "linear in them"),
        (kinetic("v_a^2", "alpha-index3"), "every coordinate needs inertia"),
        (
            kinetic("v_a^2 + v_b^2", "alpha-index3").replace("[start]", "mass = [1, 1]\n[start]"),
            "not both",
        ),
        (bar("").replace("axis = [0, 1, 0]", "axis = [0, 1, 0]\nfriction = 0.2"), "do not rub"),
        (
            bar("").replace("axis = [0, 1, 0]", "axis = [0, 1, 0]\nbearing_radius = 0.2"),
            "`friction` too",
        ),
        (bar("").replace("axis = [0, 1, 0]", "axis = [0, 1, 0]\nfriction = -0.2"), "not negative"),
        (
            bar("").replace("axis = [0, 1, 0]", "axis = [0, 1, 0]\ndry_friction = -0.2"),
            "not negative",
        ),
        (
            bar("").replace("axis = [0, 1, 0]", "axis = [0, 1, 0]\ndry_friction = [0.2, 1]"),
            "here are 2",
        ),
        (
            format!(
                "[system]\ncoordinates = [\"s\"]\nkinetic = \"v_s^2\"\n[start]\nq = [0]\n{}",
                bar("").trim_start()
            )
            .replace("gravity = [0, 0, -9.81]\n        track = [\"hinge\"]\n", ""),
            "belongs to a `[system]` alone",
        ),
        (COUPLED.replace("damping = [0.3, ", "damping = [-0.3, "), "without negative eigenvalues"),
        (COUPLED.replace("stiffness = [[40, 2, ", "stiffness = [[40, 3, "), "symmetric"),
        (COUPLED.replace("\"b\"]", "\"a\"]"), "`a`"),
        (bar("[[attraction]]\nbetween = [\"bar\", \"ground\"]"), "the ground has no mass"),
        (bar("[[attraction]]\nbetween = [\"bar\"]"), "it takes two"),
        (own("bar.point(1, 0).x"), "`NAME.point(a, b, c).x`"),
        (own("bar.vx"), "there is no `v_bar_x`"),
        (own("hing - 1"), "there is no `hing`"),
    ] {
        let found = message(&text);
        assert!(found.contains(expected), "{expected}\n---\n{found}");
    }
    // Kinetic energies by formula: what cannot take them says what can.
    for method in [
        "gvi",
        "hybrid",
        "energy-momentum",
        "conserving",
        "null-space",
        "moreau-jean",
        "dsi",
        "newmark",
    ] {
        let problem = Problem::parse(&kinetic("v_a^2 + v_b^2 + v_a*v_b*cos(a)", method)).unwrap();
        let refused = problem.execute(&problem.runs[0], None, Watch::default()).unwrap_err();
        assert!(refused.to_string().contains("`vi` takes it"), "{method}: {refused}");
    }
    for method in [
        "gvi",
        "hybrid",
        "null-space",
        "null-space-reparametrised",
        "alpha-index3",
        "nsga",
        "moreau-jean",
        "alpha-event",
    ] {
        let problem = Problem::parse(&sleigh(edge, method)).unwrap();
        let refused = problem.execute(&problem.runs[0], None, Watch::default()).unwrap_err();
        assert!(refused.to_string().contains("`edge` is one of velocities"), "{method}: {refused}");
    }
}

#[test]
fn friction_of_zero_is_none_in_any_joint() {
    let frictionless = bar("").replace("axis = [0, 1, 0]", "axis = [0, 1, 0]\nfriction = 0.0");
    let problem = Problem::parse(&frictionless).unwrap();
    let method = problem.bound(&problem.runs[0]);
    assert!(method.is_ok(), "{:?}", method.err());
}

/// Two shafts with play between them: gaps by freedoms of joints, with turns counted, against the closed form of what meets every time the play is crossed.
#[test]
fn backlash_between_two_shafts_is_a_gap_of_their_freedoms() {
    const SHAFTS: &str = r#"
        restitution = 0.8
        track = ["drive", "load"]
        inequality = { ahead = "drive - load + 0.05", behind = "load - drive + 0.05" }
        [[body]]
        name = "a"
        mass = 1
        inertia = [0.08, 0.08, 0.1]
        position = [0, 0, 0]
        [[body]]
        name = "b"
        mass = 1
        inertia = [0.15, 0.15, 0.2]
        position = [1, 0, 0]
        [[joint]]
        name = "drive"
        type = "revolute"
        bodies = ["ground", "a"]
        at = [0, 0, 0]
        axis = [0, 0, 1]
        rate = 2
        [[joint]]
        name = "load"
        type = "revolute"
        bodies = ["ground", "b"]
        at = [1, 0, 0]
        axis = [0, 0, 1]
        [[run]]
        step = 0.001
        end = 10
    "#;
    let result = run(SHAFTS);
    assert_eq!(result.method, "svci");
    let (a, b, e, play) = (0.1, 0.2, 0.8, 0.05);
    let (mut t, mut relative, mut turned, mut hits) = (play / 2.0, 2.0_f64, 0.0, 0);
    let common = a * 2.0 / (a + b);
    while t < 10.0 {
        hits += 1;
        relative *= -e;
        turned = relative.signum() * -play + relative * (10.0 - t);
        t += 2.0 * play / relative.abs();
    }
    assert!((number(&result, "events") - f64::from(hits)).abs() < 0.5);
    // The centre of both turns at one rate; directors turn with an error of (h rate)^2/24.
    let end = |name: &str| number(&result, &format!("invariants.{name}.end"));
    assert!((a * end("drive") + b * end("load") - 10.0 * (a + b) * common).abs() < 1e-6);
    assert!((end("drive") - end("load") - turned).abs() < 1e-5, "{} {turned}", end("drive"));
    let energy =
        0.5 * (a + b) * common * common + 0.5 * a * b / (a + b) * (2.0 * e.powi(hits)).powi(2);
    assert!((number(&result, "energy.end") - energy).abs() < 1e-6);
    let refused = |piece: &str, by: &str| message(&SHAFTS.replacen(piece, by, 1));
    let unknown = refused("\"drive - load + 0.05\"", "\"driver - load\"");
    assert!(unknown.contains("driver"), "{unknown}");
    let closed = refused("drive - load + 0.05", "drive - load - 0.05");
    assert!(closed.contains("ahead"), "{closed}");
}
