//! Files of mechanisms and their results, as tests of problem files use them.

use nsm_problem::{Problem, RunResult, Watch};

/// Makes the runs of a file of the suite and judges them.
pub(crate) fn judged(name: &str) {
    let home = concat!(env!("CARGO_MANIFEST_DIR"), "/../../benchmarks/mechanisms/");
    let problem = Problem::read(format!("{home}{name}.toml").as_ref()).unwrap();
    let results: Vec<RunResult> = problem
        .runs
        .iter()
        .map(|run| problem.execute(run, None, Watch::default()).unwrap())
        .collect();
    for result in &results {
        assert!(result.failure.is_none(), "{name}: {:?}", result.failure);
        assert_eq!(result.ledger.warnings(), [], "{name}: {}", result.name);
    }
    let verdicts = problem.judge(&results).unwrap();
    assert!(!verdicts.is_empty());
    for verdict in verdicts {
        assert!(verdict.holds, "{name}: {verdict:?}");
    }
}

/// The first run of a text.
pub(crate) fn run(text: &str) -> RunResult {
    let problem = Problem::parse(text).unwrap_or_else(|e| panic!("{e}"));
    problem.execute(&problem.runs[0], None, Watch::default()).unwrap()
}

/// A number among the results.
pub(crate) fn number(result: &RunResult, path: &str) -> f64 {
    match result.figure(path) {
        Ok(nsm_formula::Figure::Number(x)) => x,
        other => panic!("{path}: {other:?}"),
    }
}
