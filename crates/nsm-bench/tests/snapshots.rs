//! Curves of the problem files and figures, against those of the last accepted run.
//!
//! Words and whole numbers (steps, events, rounds) must be the same, real numbers agree to a tolerance, so
//! that another processor's last bits do not matter. Runs are followed only as far as such bits stay
//! small: each is made twice, the second time with a step shorter by 1e-13 of itself, and both must
//! give the same curve. Figures are followed as far as starts that differ by 1e-15 of themselves agree;
//! beyond that, chaotic runs are judged by what is conserved, by their first events and by the means of
//! ensembles. To accept new curves: `INSTA_UPDATE=always cargo test --test snapshots`.

use std::fmt::Write;
use std::path::Path;

use insta::internals::SnapshotContents;
use nsm_bench::{Effort, Expected, Findings, scenarios};
use nsm_problem::{Curve, Problem, RunResult, Sampling, Watch};

/// Samples of a curve.
const SAMPLES: usize = 40;

/// Compares texts word by word: real numbers to a tolerance, all else exactly.
#[derive(Clone, Copy)]
struct Tolerance {
    relative: f64,
    absolute: f64,
}

const TOLERANCE: Tolerance = Tolerance { relative: 1e-6, absolute: 1e-8 };
/// Of curves in units of their largest size; starts 1e-15 apart come to 5e-9 at most.
const FIGURE: Tolerance = Tolerance { relative: 1e-6, absolute: 1e-7 };
/// Of differences that nearly cancel, and of condition numbers beyond $10^{16}$.
const COARSE: Tolerance = Tolerance { relative: 0.05, absolute: 1e-12 };
/// What is smaller than this is rounding.
const ROUNDING: f64 = 1e-9;

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

fn check(name: &str, text: &str, tolerance: Tolerance) {
    let mut settings = insta::Settings::clone_current();
    settings.set_comparator(Box::new(tolerance));
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
    check(&name.replace('/', "-"), &text, TOLERANCE);
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

/// Scenarios of one paper by the ends of their names, with the abscissa up to which their curves are followed.
type Figures<'a> = &'a [(&'a str, f64)];

/// As long as they are.
const WHOLE: f64 = f64::INFINITY;

/// The curves of scenarios, thinned; and the numbers that decide, where the whole run can be followed.
fn figures(paper: &str, ids: Figures, tolerance: Tolerance, kind: &str) {
    let text = described(paper, ids, |findings, end| {
        let mut text = if end < WHOLE { String::new() } else { statistics(findings, "") };
        for curve in &findings.curves {
            text.push_str(&thinned(curve, end));
        }
        text
    });
    check(&format!("{paper}-{kind}"), &text, tolerance);
}

/// The text of each scenario under its name.
fn described(paper: &str, ids: Figures, describe: impl Fn(&Findings, f64) -> String) -> String {
    let all = scenarios();
    let mut text = String::new();
    for (name, end) in ids {
        let id = format!("{paper}/{name}");
        let scenario = all.iter().find(|s| s.id == id).unwrap_or_else(|| panic!("no {id}"));
        let findings = scenario.run(Effort::Quick).unwrap_or_else(|e| panic!("{id}: {e}"));
        let _ = writeln!(text, "{id}: {}\n{}", scenario.claim, describe(&findings, *end));
    }
    text
}

/// The measured numbers whose names begin so, but for those that are only bounded.
fn statistics(findings: &Findings, start: &str) -> String {
    let mut text = String::new();
    for check in findings.checks.iter().filter(|c| c.what.starts_with(start)) {
        if matches!(check.expected, Expected::Near(..) | Expected::Within(..)) {
            let _ = writeln!(text, "{}: {}", check.what, real(check.value));
        }
    }
    text
}

/// A curve up to an abscissa, in units of its largest size there.
fn thinned(curve: &Curve, end: f64) -> String {
    let mut text = format!("{}: {} against {}", curve.name, curve.y, curve.x);
    let points: Vec<_> = curve.points.iter().filter(|p| p[0] <= end).collect();
    let unit = points.iter().map(|p| p[1].abs()).fold(0.0, f64::max);
    if unit < ROUNDING {
        text.push_str(", rounding\n");
        return text;
    }
    let _ = writeln!(text, ", in units of {}", real(unit));
    for [x, y] in points.iter().step_by(points.len().div_ceil(SAMPLES).max(1)) {
        let _ = writeln!(text, "{} {}", real(*x), real(y / unit));
    }
    text
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
    let ids = [("energy-transfer", 10.0), ("centroid-iii", WHOLE)];
    figures("tran-leok", &ids, FIGURE, "figures");
}

#[test]
fn garcia_orden() {
    file("garcia-orden/two-particles", 10.0);
    let ids = ["conserving", "no-projection", "criterion"];
    figures("garcia-orden", &ids.map(|id| (id, WHOLE)), FIGURE, "figures");
}

#[test]
fn leyendecker_marsden_ortiz() {
    file("leyendecker-marsden-ortiz/pendulum", 10.0);
    file("leyendecker-marsden-ortiz/pendulum-gravity", 10.0);
    file("leyendecker-marsden-ortiz/six-body", 0.1);
    file("leyendecker-marsden-ortiz/swing", 0.4);
    let ids = [
        "six-body-mobility",
        "six-body-angles",
        "six-body-energy",
        "swing-event",
        "swing-energy",
        "swing-momentum",
        "swing-projection",
    ];
    let paper = "leyendecker-marsden-ortiz";
    figures(paper, &ids.map(|id| (id, WHOLE)), FIGURE, "figures");
    let ids = ["six-body-conditioning", "swing-condition"];
    figures(paper, &ids.map(|id| (id, WHOLE)), COARSE, "tables");
}

#[test]
fn patil_bruls() {
    for name in ["braid-equal", "braid-half", "cam", "pothole", "track"] {
        file(&format!("patil-bruls/{name}"), 6.0);
    }
}
