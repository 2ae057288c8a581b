//! Problems and methods in words: what `nsm check` and `nsm methods` print.

use std::fmt::Write;

use nsm_model::System;
use nsm_problem::{Facts, METHODS, Problem, RunResult, Sampling, Subject, recommend};
use nsm_vi::rigid::RigidBody;

use crate::table::{align, figure};

/// What was understood of a problem.
pub fn describe(problem: &Problem) -> String {
    let mut text = format!("{}\n", problem.title);
    if !problem.source.is_empty() {
        let _ = writeln!(text, "source: {}", problem.source);
    }
    text.push_str(&subject(&problem.subject));
    let units = problem.units.words();
    if !units.is_empty() {
        let _ = writeln!(text, "units: {units}");
    }
    let bound: Vec<_> = problem.runs.iter().map(|run| problem.bound(run)).collect();
    if let Some(start) = bound.iter().flatten().next() {
        text.push_str(&initial_state(start));
    }
    for (run, bound) in problem.runs.iter().zip(&bound) {
        let _ = write!(
            text,
            "run {}: {} with step {}, {} steps",
            run.name,
            run.method.name(),
            run.step,
            run.steps
        );
        if let Some(why) = run.method.recommended {
            let _ = write!(text, " (recommended: {why})");
        }
        if let Err(error) = bound {
            let _ = write!(text, "\n  does not fit: {}", error.message);
        }
        text.push('\n');
    }
    if problem.runs.is_empty() {
        let recommended = recommend(&problem.subject);
        let _ = writeln!(
            text,
            "no runs; add a `[[run]]` with `step` and `end` (recommended method: {}, because {})",
            recommended.method.name, recommended.why
        );
    }
    for expectation in &problem.expectations {
        let _ = writeln!(text, "must hold: {} ({})", expectation.what, expectation.check.text());
    }
    if !problem.figures.is_empty() {
        let _ = writeln!(text, "figures: {}", problem.figures.len());
    }
    for note in &problem.notes {
        let _ = writeln!(text, "note: {note}");
    }
    text
}

fn subject(subject: &Subject) -> String {
    match subject {
        Subject::Coordinates { system, .. } => of_system(system),
        Subject::Mechanism { mechanism, system, .. } => {
            let names: Vec<&str> = mechanism.nodes().map(|(name, _)| name).collect();
            format!("mechanism of {}: {}\n{}", names.len(), list(&names), of_system(system))
        }
        Subject::Rigid { world, .. } => {
            let bodies: Vec<&str> = world.bodies().iter().map(RigidBody::name).collect();
            format!(
                "rigid bodies: {} ({}), six degrees of freedom each\nplanes: {}\n",
                bodies.len(),
                list(&bodies),
                world.planes().len()
            )
        }
    }
}

fn of_system(system: &System) -> String {
    let names: Vec<&str> = system.names().iter().map(String::as_str).collect();
    let (n, m) = (names.len(), system.equalities().len());
    let mut text = format!("coordinates: {n} ({})\n", list(&names));
    let freedoms = format!("degrees of freedom: {}", n.saturating_sub(m));
    let redundant = if m > 0 { ", and one more for every redundant equality" } else { "" };
    let _ = writeln!(text, "{freedoms}{redundant}");
    for (what, rows) in
        [("equalities", system.equalities()), ("inequalities", system.inequalities())]
    {
        if !rows.is_empty() {
            let names: Vec<&str> = rows.names().iter().map(String::as_str).collect();
            let _ = writeln!(text, "{what}: {} ({})", rows.len(), list(&names));
        }
    }
    if let Some(switching) = system.switching() {
        let _ = writeln!(text, "switching modes: {}", switching.all_rows().len());
    }
    text
}

/// Energy and gaps at the start, which no step has touched.
fn initial_state(start: &RunResult) -> String {
    let ledger = &start.ledger;
    let mut text = format!("initial energy: {}\n", figure(ledger.energy.start));
    for (name, band) in &ledger.invariants {
        let _ = writeln!(text, "initial {name}: {}", figure(band.start));
    }
    text
}

/// Names in a row; the first ones of many.
fn list(names: &[&str]) -> String {
    const MOST: usize = 12;
    if names.len() <= MOST {
        names.join(", ")
    } else {
        format!("{}, … {}", names[..MOST].join(", "), names[names.len() - 1])
    }
}

/// The table of methods.
pub fn methods() -> String {
    let heads = ["method", "contacts", "equalities", "switching modes", "order", "energy"];
    let mut rows: Vec<Vec<String>> = vec![heads.map(str::to_owned).to_vec()];
    rows.extend(METHODS.iter().map(|m| {
        let held = |words: Option<&str>| words.unwrap_or("-").to_owned();
        vec![
            m.name.to_owned(),
            held(m.inequalities),
            held(m.equalities),
            held(m.modes),
            m.order.to_string(),
            m.energy.to_owned(),
        ]
    }));
    let mut text = align(&rows);
    text.push('\n');
    for m in METHODS {
        let _ = writeln!(text, "  {:<27}{}", m.name, m.about);
    }
    text
}

/// Which methods fit a problem, with what each keeps, and why the others do not.
pub fn methods_for(problem: &Problem) -> String {
    let best = recommend(&problem.subject);
    let mut text = format!("{}\n\nThese methods fit:\n", problem.title);
    let mut refused = String::new();
    for m in METHODS {
        match fits(problem, m) {
            Ok(()) => {
                let mark = if m.name == best.method.name { "*" } else { " " };
                let _ = writeln!(
                    text,
                    "{mark} {:<26} {}; energy: {}; momenta: {}; order {}",
                    m.name, m.about, m.energy, m.momenta, m.order
                );
            }
            Err(why) => {
                let _ = writeln!(refused, "  {:<26} {why}", m.name);
            }
        }
    }
    let _ = writeln!(text, "\n* recommended, because {}", best.why);
    if !refused.is_empty() {
        let _ = write!(text, "\nThese do not:\n{refused}");
    }
    text
}

fn fits(problem: &Problem, method: &Facts) -> Result<(), String> {
    let (step, end) = match problem.runs.first() {
        Some(run) => (run.step, problem.start_time() + run.step * run.steps.max(1) as f64),
        None => (1e-3, problem.start_time() + 1e-3),
    };
    let options = format!("method = {:?}", method.name);
    let run = problem.another_run(method.name, &options, (step, end), Sampling::Count(1));
    run.and_then(|run| problem.bound(&run)).map(|_| ()).map_err(|e| e.message)
}
