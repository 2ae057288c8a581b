//! Curves of the problem files and figures, against those of the last accepted run.
//!
//! Words and whole numbers (steps, events, rounds) must be the same, real numbers agree to a tolerance, so
//! that another processor's last bits do not matter. Runs are followed only as far as such bits stay
//! small: each is made twice, the second time with a step shorter by 1e-13 of itself, and both must
//! give the same curve. To accept new curves: `INSTA_UPDATE=always cargo test --test snapshots`.

use std::fmt::Write;
use std::path::Path;

use insta::internals::SnapshotContents;
use nsm_bench::problem::{Problem, RunResult, Sampling, Watch};
use nsm_bench::{Effort, scenarios};

/// Samples of a curve.
const SAMPLES: usize = 40;

/// Compares texts word by word: real numbers to a tolerance, all else exactly.
#[derive(Clone, Copy)]
struct Tolerance {
    relative: f64,
    absolute: f64,
}

const TOLERANCE: Tolerance = Tolerance { relative: 1e-6, absolute: 1e-8 };

impl Tolerance {
    fn same(self, a: &str, b: &str) -> bool {
        let (a, b) = (a.split_whitespace(), b.split_whitespace());
        a.clone().count() == b.clone().count() && a.zip(b).all(|(a, b)| self.same_word(a, b))
    }

    fn same_word(self, a: &str, b: &str) -> bool {
        let real =
            |word: &str| word.contains(['.', 'e']).then(|| word.parse::<f64>().ok()).flatten();
        match (real(a), real(b)) {
            (Some(x), Some(y)) => {
                (x - y).abs() <= self.absolute + self.relative * x.abs().max(y.abs())
            }
            _ => a == b,
        }
    }
}

impl insta::Comparator for Tolerance {
    fn matches(&self, reference: &insta::Snapshot, test: &insta::Snapshot) -> bool {
        match (reference.contents(), test.contents()) {
            (SnapshotContents::Text(a), SnapshotContents::Text(b)) => {
                self.same(&a.to_string(), &b.to_string())
            }
            _ => false,
        }
    }

    fn dyn_clone(&self) -> Box<dyn insta::Comparator> {
        Box::new(*self)
    }
}

fn check(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_comparator(Box::new(TOLERANCE));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

/// Every run of a problem file up to `end`: counts, and energy and invariants at even instants.
fn file(name: &str, end: f64) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benchmarks").join(name);
    let problem = Problem::read(&path.with_extension("toml")).unwrap_or_else(|e| panic!("{e}"));
    let mut text = format!("{}\n", problem.title);
    for run in &problem.runs {
        let end = end.min(run.step * run.steps as f64);
        let curve = |step: f64| {
            let sampling = Sampling::Count(SAMPLES);
            let another = problem.another_run(&run.name, &run.options, (step, end), sampling);
            let result = problem.execute(&another.unwrap(), None, Watch::default()).unwrap();
            assert!(result.failure.is_none(), "{name}, {}: {:?}", run.name, result.failure);
            account(&result)
        };
        let (found, disturbed) = (curve(run.step), curve(run.step * (1.0 - 1e-13)));
        assert!(
            TOLERANCE.same(&found, &disturbed),
            "{name}, {}: too long a run to compare\n{found}\n{disturbed}",
            run.name
        );
        let _ = write!(text, "\n{}, step {}\n{found}", run.name, run.step);
    }
    check(&name.replace('/', "-"), &text);
}

fn account(result: &RunResult) -> String {
    let ledger = &result.ledger;
    let mut text = format!("steps {}, events {}\n", ledger.steps, ledger.events);
    let names: Vec<&str> = ["t", "E"]
        .into_iter()
        .chain(ledger.invariants.iter().map(|(name, _)| name.as_str()))
        .collect();
    let columns: Vec<Vec<f64>> =
        names.iter().map(|name| result.recording.column(name).unwrap()).collect();
    let _ = writeln!(text, "{}", names.join(" "));
    for i in 0..columns[0].len() {
        let row: Vec<String> = columns.iter().map(|column| real(column[i])).collect();
        let _ = writeln!(text, "{}", row.join(" "));
    }
    text
}

/// Nine digits, always with a point, so that it is compared as a real number.
fn real(x: f64) -> String {
    format!("{x:.8e}")
}

/// The curves of scenarios, thinned.
fn figures(name: &str, ids: &[&str]) {
    let mut text = String::new();
    for scenario in scenarios().iter().filter(|s| ids.contains(&s.id.as_str())) {
        let findings =
            scenario.run(Effort::Quick).unwrap_or_else(|e| panic!("{}: {e}", scenario.id));
        let _ = writeln!(text, "{}: {}", scenario.id, scenario.claim);
        for curve in &findings.curves {
            let _ = writeln!(text, "{}: {} against {}", curve.name, curve.y, curve.x);
            let every = curve.points.len().div_ceil(SAMPLES).max(1);
            for [x, y] in curve.points.iter().step_by(every) {
                let _ = writeln!(text, "{} {}", real(*x), real(*y));
            }
        }
        text.push('\n');
    }
    assert!(
        ids.iter().all(|id| text.contains(&format!("{id}: "))),
        "{name}: a scenario is missing"
    );
    check(name, &text);
}

#[test]
fn the_comparison_is_exact_where_it_must_be() {
    let same = |a: &str, b: &str| TOLERANCE.same(a, b);
    assert!(same("events 12 E 1.00000000e0", "events 12  E 1.00000001e0"));
    assert!(!same("events 12", "events 13"));
    assert!(!same("1.00000000e0", "1.00001000e0"));
    assert!(!same("1.0e0 2.0e0", "1.0e0"));
    assert!(!same("gvi 1.0e0", "dsi 1.0e0"));
    assert!(!same("1.0e0", "NaN"));
}

#[test]
fn kaufman_pai() {
    file("kaufman-pai/ball", 1.5);
    file("kaufman-pai/cradle", 4.0);
    file("kaufman-pai/mixed", 20.0);
    file("kaufman-pai/oscillator", 20.0);
    file("kaufman-pai/pogo", 30.0);
    file("kaufman-pai/sphere", 20.0);
}

#[test]
fn tran_leok() {
    for case in 1..=4 {
        file(&format!("tran-leok/case-{case}"), 8.0);
    }
}

#[test]
fn garcia_orden() {
    file("garcia-orden/two-particles", 10.0);
    figures(
        "garcia-orden-figures",
        &["garcia-orden/conserving", "garcia-orden/no-projection", "garcia-orden/projection"],
    );
}

#[test]
fn leyendecker_marsden_ortiz() {
    file("leyendecker-marsden-ortiz/pendulum", 10.0);
    file("leyendecker-marsden-ortiz/pendulum-gravity", 10.0);
    file("leyendecker-marsden-ortiz/six-body", 0.1);
    file("leyendecker-marsden-ortiz/swing", 0.4);
    figures(
        "leyendecker-marsden-ortiz-figures",
        &[
            "leyendecker-marsden-ortiz/six-body-angles",
            "leyendecker-marsden-ortiz/six-body-energy",
            "leyendecker-marsden-ortiz/swing-energy",
        ],
    );
}

#[test]
fn patil_bruls() {
    for name in ["braid-equal", "braid-half", "cam", "pothole", "track"] {
        file(&format!("patil-bruls/{name}"), 6.0);
    }
    figures(
        "patil-bruls-figures",
        &[
            "patil-bruls/track-classical",
            "patil-bruls/track-nsga",
            "patil-bruls/cam",
            "patil-bruls/pothole",
        ],
    );
}
