//! A crowd moves as the same bodies do with all their pairs listed.
//!
//! Only rounding tells the two apart: after its neighbours change, a run goes on with guesses and warm starts of its own, and equations are solved to the
//! tolerance of Newton's method.

use std::fmt::Write;

use nsm_model::{Probe, SystemProbe};

use super::Crowd;
use super::drive::drive_crowd;
use super::roster::Roster;
use crate::drive::drive;
use crate::parts::Parts;
use crate::{Problem, RunResult, Subject, Watch, multibody};

/// The run of a file with near pairs, and with all of them.
fn both(text: &str) -> [RunResult; 2] {
    let problem = Problem::parse(text).unwrap();
    let run = &problem.runs[0];
    let free;
    let (mechanism, system, crowd, start) = match &problem.subject {
        Subject::Rigid { world, start, contacts } => {
            free = multibody::free_bodies(world, start, contacts).unwrap();
            (&free.0, &free.1, free.2.as_ref().unwrap(), &free.3)
        }
        Subject::Mechanism { mechanism, system, crowd, start, .. } => {
            (&**mechanism, &**system, crowd.as_deref().unwrap(), start)
        }
        Subject::Coordinates { .. } => panic!(),
    };
    let near = drive_crowd(run, (mechanism, system, crowd, start), None, Watch::default()).unwrap();
    let all = crowd.listed(system, mechanism, crowd.pairs()).unwrap();
    let mut stepper = run.stepper(&all, start, Some(mechanism)).unwrap();
    let layout = Parts::new(mechanism, &all, None);
    let mut probe = SystemProbe::new(&all);
    assert!(probe.gaps().len() > Crowd::LISTED);
    let listed =
        drive(run, &mut *stepper, &mut probe, &layout, start.clone(), None, Watch::default())
            .unwrap();
    for result in [&near, &listed] {
        assert_eq!(result.failure, None);
    }
    [near, listed]
}

/// The same events, by names and instants, and ends that differ by no more than this.
fn agree([near, listed]: &[RunResult; 2], tolerance: f64) {
    let events = |r: &RunResult| {
        let mut all: Vec<_> =
            r.recording.events.iter().map(|e| (e.t, e.contacts.clone())).collect();
        for (_, names) in &mut all {
            names.sort();
        }
        all
    };
    let (one, other) = (events(near), events(listed));
    assert_eq!(one.len(), other.len());
    for (a, b) in one.iter().zip(&other) {
        assert!(a.1 == b.1 && (a.0 - b.0).abs() < tolerance, "{a:?}, {b:?}");
    }
    let [a, b] = [near, listed].map(|r| r.end.coordinates.as_ref().unwrap());
    let farthest = a.q.iter().zip(&b.q).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
    assert!(farthest < tolerance, "{farthest}");
    let deepest = |r: &RunResult| r.ledger.penetration;
    assert!((deepest(near) - deepest(listed)).abs() < tolerance);
}

/// Balls of radius 0.1 on a grid of so many columns, with velocities that are nothing special.
fn balls(count: usize, columns: usize, apart: f64, speed: f64, rest: &str) -> String {
    let mut text = String::from("title = \"balls\"\nsource = \"\"\nunits = \"SI\"\n");
    text.push_str(rest);
    for k in 0..count {
        let place = [k % columns, k / columns % columns, k / (columns * columns)]
            .map(|i| 0.15 + apart * i as f64);
        let v = [1.3, 2.1, 3.7].map(|a: f64| speed * (a * k as f64 + a).sin());
        writeln!(
            text,
            "[[body]]\nname = \"s{k}\"\nmass = 1\nshape = {{ sphere = 0.1 }}\nposition = {place:?}\nvelocity = {v:?}"
        )
        .unwrap();
    }
    text
}

/// Walls of a box between 0 and `wide` along x and y, open at the top.
fn walls(wide: f64) -> String {
    format!(
        "[[plane]]\nname = \"floor\"\nnormal = [0, 0, 1]\n[[plane]]\nname = \"west\"\nnormal = [1, 0, 0]\n[[plane]]\nname = \"east\"\nnormal = [-1, 0, 0]\noffset = {wide}\n[[plane]]\nname = \"south\"\nnormal = [0, 1, 0]\n[[plane]]\nname = \"north\"\nnormal = [0, -1, 0]\noffset = {wide}\n"
    )
}

fn run(method: &str, step: f64, end: f64) -> String {
    format!("[[run]]\nmethod = \"{method}\"\nstep = {step}\nend = {end}\n")
}

#[test]
fn a_gas_moves_as_with_all_pairs_listed() {
    for method in ["svci", "gvi", "hybrid"] {
        let text =
            balls(40, 4, 0.3, 1.0, "restitution = 1\n") + &walls(1.25) + &run(method, 0.005, 0.3);
        let results = both(&text);
        assert!(results[0].ledger.events > 20, "{}", results[0].ledger.events);
        agree(&results, 1e-8);
    }
}

#[test]
fn balls_with_losses_and_friction_come_to_rest_as_with_all_pairs_listed() {
    let rest = "restitution = 0.4\nfriction = 0.3\ngravity = [0, 0, -9.81]\n";
    let text = balls(30, 5, 0.25, 0.4, rest) + &walls(1.4) + &run("svci", 0.002, 0.2);
    let results = both(&text);
    assert!(results[0].ledger.events > 20);
    agree(&results, 1e-7);
}

#[test]
fn a_fast_ball_strikes_all_that_it_strikes_with_all_pairs_listed() {
    // It crosses the whole crowd in three steps, each as long as three balls are wide, and meets balls one after another.
    let text = balls(36, 6, 0.33, 0.0, "restitution = 1\n")
        + "[[body]]\nname = \"bullet\"\nmass = 2\nshape = { sphere = 0.05 }\nposition = [-0.3, 0.18, 0.16]\nvelocity = [600, 20, 5]\n"
        + &run("svci", 0.001, 0.006);
    let results = both(&text);
    let names: Vec<_> = results[0].recording.events.iter().map(|e| e.contacts.join(" ")).collect();
    assert!(names.len() > 10 && names[..2] == ["s0-bullet", "s0-s1"], "{names:?}");
    assert!(results[0].ledger.penetration < 1e-9);
    agree(&results, 1e-7);
}

#[test]
fn rows_grow_with_bodies_and_not_with_pairs() {
    let mut rows = Vec::new();
    for count in [64, 512] {
        let problem = Problem::parse(
            &(balls(count, if count == 64 { 4 } else { 8 }, 0.22, 0.5, "restitution = 0.5\n")
                + &run("svci", 0.001, 0.01)),
        )
        .unwrap();
        let Subject::Rigid { world, start, contacts } = &problem.subject else { panic!() };
        let (mechanism, system, crowd, start) =
            multibody::free_bodies(world, start, contacts).unwrap();
        let crowd = crowd.unwrap();
        let roster = Roster::near(&crowd, &mechanism, &start, 0.001, &[]);
        let listed = crowd.listed(&system, &mechanism, roster.pairs.iter().copied()).unwrap();
        assert_eq!(system.inequalities().len(), 0);
        assert_eq!(listed.inequalities().len(), roster.pairs.len());
        rows.push(roster.pairs.len());
        assert_eq!(crowd.pairs().count(), count * (count - 1) / 2);
    }
    // Neighbours along the three axes in a cube of 4 and one of 8: 3 k² (k - 1).
    assert_eq!(rows, [144, 1344]);
}

#[test]
fn an_arm_swings_through_loose_balls_as_with_all_pairs_listed() {
    let arm = r#"
        [[body]]
        name = "upper"
        mass = 3
        shape = { capsule = [0.2, 0.06] }
        position = [1.0, 0.6, 0.45]
        rotation = [[0, 0, 1], [0, 1, 0], [-1, 0, 0]]
        [[body]]
        name = "lower"
        mass = 2
        shape = { capsule = [0.2, 0.06] }
        position = [0.6, 0.6, 0.45]
        rotation = [[0, 0, 1], [0, 1, 0], [-1, 0, 0]]
        [[joint]]
        name = "shoulder"
        type = "revolute"
        bodies = ["ground", "upper"]
        at = [1.2, 0.6, 0.45]
        axis = [0, 1, 0]
        [[joint]]
        name = "elbow"
        type = "revolute"
        bodies = ["upper", "lower"]
        at = [0.8, 0.6, 0.45]
        axis = [0, 1, 0]
        "#;
    let rest = "restitution = 0.3\nfriction = 0.2\ngravity = [0, 0, -9.81]\n";
    let text = balls(36, 6, 0.24, 0.1, rest) + &walls(1.5) + arm + &run("svci", 0.002, 0.2);
    let results = both(&text);
    let struck = |name: &str| name.ends_with("-lower") || name.starts_with("lower-");
    let mut names = results[0].recording.events.iter().flat_map(|e| &e.contacts);
    assert!(names.any(|name| struck(name)));
    let forces = results.each_ref().map(|r| r.recording.reactions.last().unwrap().clone());
    assert!(forces[0].len() > 12);
    for (a, b) in forces[0].iter().zip(&forces[1]) {
        assert!((a - b).abs() < 1e-4 * (1.0 + b.abs()), "{a}, {b}");
    }
    agree(&results, 1e-7);
}

#[test]
fn methods_that_know_no_crowds_refuse_too_many_pairs_at_once() {
    let refused = |method: &str, count: usize| {
        let text = balls(count, 8, 0.25, 0.1, "restitution = 1\n") + &run(method, 0.001, 0.01);
        let problem = Problem::parse(&text).unwrap();
        problem.execute(&problem.runs[0], None, Watch::default()).err().map(|e| e.to_string())
    };
    assert!(refused("nsga", 200).unwrap().contains("all pairs of bodies at once"));
    assert!(refused("vi", 200).unwrap().contains("pass through the inequality `s0-s1`"));
    assert!(refused("moreau-jean", 200).unwrap().contains("lose their shape"));
    assert_eq!(refused("svci", 200), None);
}

#[test]
fn shapes_without_a_gap_are_refused_before_they_meet() {
    let sharp = |name: &str, x: f64| {
        format!(
            "[[body]]\nname = \"{name}\"\nmass = 1\nshape = {{ box = [0.1, 0.1, 0.1] }}\nposition = [{x}, 9, 9]\n"
        )
    };
    let parse = |more: &str| {
        let text = balls(30, 6, 0.25, 0.1, "restitution = 1\n") + more + &run("svci", 0.001, 0.01);
        let problem = Problem::parse(&text).unwrap();
        problem.execute(&problem.runs[0], None, Watch::default()).err().map(|e| e.to_string())
    };
    // Boxes meet balls; each other they have no gap to.
    assert_eq!(parse(&sharp("one", 5.0)), None);
    let refusal = parse(&(sharp("one", 5.0) + &sharp("two", 7.0))).unwrap();
    assert!(refusal.contains("rounding") && refusal.contains("`ignore = true`"), "{refusal}");
    assert!(refusal.contains("\"one\", \"two\""), "{refusal}");
}

#[test]
fn bodies_that_overlap_at_the_start_are_refused_by_name() {
    let text = balls(30, 6, 0.25, 0.1, "restitution = 1\n")
        + "[[body]]\nname = \"guest\"\nmass = 1\nshape = { sphere = 0.1 }\nposition = [0.2, 0.15, 0.15]\n"
        + &run("svci", 0.001, 0.01);
    let problem = Problem::parse(&text).unwrap();
    let refusal = problem.execute(&problem.runs[0], None, Watch::default()).unwrap_err();
    assert!(refusal.to_string().contains("s0-guest"), "{refusal}");
}

#[test]
fn momenta_that_a_body_at_rest_takes_up_are_no_invariants() {
    let conserved = |more: &str| {
        let text = balls(30, 6, 0.25, 0.1, "restitution = 1\n") + more + &run("svci", 0.001, 0.01);
        let problem = Problem::parse(&text).unwrap();
        problem.execute(&problem.runs[0], None, Watch::default()).unwrap().ledger.conserved
    };
    assert!(conserved("").iter().all(|c| *c));
    let post =
        "[[body]]\nname = \"post\"\nfixed = true\nshape = { sphere = 0.3 }\nposition = [5, 4, 3]\n";
    assert!(!conserved(post).iter().any(|c| *c));
}
