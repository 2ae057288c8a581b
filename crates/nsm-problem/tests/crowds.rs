//! Hundreds of bodies: what is told of them does not grow with the square of their number, and still adds up.

use nsm_problem::{FILMED, Problem, RunResult, Sampling, WIDE, Watch};

/// Elastic balls in a room, of which the first falls upon the second.
fn gas(per_edge: usize, run: &str) -> (RunResult, usize) {
    let n = per_edge.pow(3);
    let mut text = format!(
        "[[repeat]]\ncount = {n}\n[[repeat.body]]\nname = \"b{{i}}\"\nmass = 1\nshape = {{ sphere = 0.5 }}\n\
         position = [\"1.3*(i - {per_edge}*floor(i/{per_edge})) + 0.65\", \
         \"1.3*(floor(i/{per_edge}) - {per_edge}*floor(i/{})) + 0.65\", \"1.3*floor(i/{}) + 0.65\"]\n\
         velocity = [\"2*sin(12.3*i)\", \"2*sin(45.1*i + 1)\", \"2*sin(7.7*i + 2)\"]\n",
        per_edge.pow(2),
        per_edge.pow(2)
    );
    let side = 1.3 * per_edge as f64;
    for (name, normal, offset) in [
        ("low x", [1, 0, 0], 0.0),
        ("high x", [-1, 0, 0], side),
        ("low y", [0, 1, 0], 0.0),
        ("high y", [0, -1, 0], side),
        ("low z", [0, 0, 1], 0.0),
        ("high z", [0, 0, -1], side),
    ] {
        let plane =
            format!("[[plane]]\nname = \"{name}\"\nnormal = {normal:?}\noffset = {offset:?}\n");
        text.push_str(&plane);
    }
    text.push_str("[[run]]\nmethod = \"lgvci\"\nevents = \"early\"\nstep = 0.01\n");
    text.push_str(run);
    let problem = Problem::parse(&text).unwrap_or_else(|e| panic!("{e}"));
    let result = problem.execute(&problem.runs[0], None, Watch::default()).unwrap();
    assert!(result.failure.is_none(), "{:?}", result.failure);
    (result, n)
}

#[test]
fn a_crowd_is_tracked_in_sum_and_its_contacts_in_two_accounts() {
    let (result, n) = gas(7, "end = 0.5\n");
    let names: Vec<&str> = result.ledger.invariants.iter().map(|(name, _)| &**name).collect();
    assert_eq!(names, ["px", "py", "pz", "Lx", "Ly", "Lz", "TPE", "RE"]);
    assert_eq!(result.ledger.gap_names(), ["bodies / planes", "bodies / bodies"]);
    assert!(result.ledger.energy.deviation() < 1e-12 * result.ledger.energy.start);
    assert!(result.ledger.penetration == 0.0 && result.ledger.warnings().is_empty());
    // The energy is that of translation, but for nothing; momentum goes to the walls only.
    let band = |name: &str| result.ledger.invariant(name).unwrap();
    assert_eq!(band("RE").max, 0.0);
    assert!((band("TPE").end - result.ledger.energy.end).abs() < 1e-10 * band("TPE").end);
    // Every impact is accounted for at one of the two.
    let total: usize = result.answers.contacts.iter().map(|(_, c)| c.events).sum();
    let events = &result.recording.events;
    assert!(events.len() > 300 && events.len() == result.ledger.events, "{}", events.len());
    assert_eq!(total, events.iter().map(|e| e.contacts.len()).sum::<usize>());
    let at_walls = |name: &String| ["low", "high"].iter().any(|wall| name.contains(wall));
    let walls = events.iter().flat_map(|e| &e.contacts).filter(|name| at_walls(name)).count();
    let planes = result.answers.contacts.iter().next().unwrap();
    assert_eq!((planes.0, planes.1.events), ("bodies_planes", walls));
    assert!(walls > 50 && walls < total);
    // No event carries the state of all, and the samples do.
    assert!(18 * n > WIDE && 18 * n < FILMED);
    assert!(events.iter().all(|event| event.state.is_empty()));
    assert!(result.recording.event_columns.is_empty());
    assert_eq!(result.recording.samples[0].len(), 1 + 18 * n + 1 + 8 + 2 + 2);
    assert_eq!(result.recording.samples.len(), 51);
}

#[test]
fn a_large_crowd_is_recorded_as_often_as_memory_allows_and_not_filmed() {
    let (result, n) = gas(12, "end = 1.2\n");
    assert!(18 * n > FILMED);
    assert!(result.recording.film.is_empty());
    let samples = result.recording.samples.len();
    assert_eq!(samples, 1 + Sampling::MOST / (18 * n + 14));
    let (result, _) = gas(12, "end = 0.1\nevery = 1\n");
    assert_eq!(result.recording.samples.len(), 11, "what is asked for is recorded");
}
