//! What the page asks of nsm: whether a problem file is right, and its runs. Text goes in, JSON with a page comes out.

use std::sync::atomic::{AtomicBool, Ordering};

use nsm_problem::{Axes, Curve, Problem, ProblemError, RunResult, Verdict, Watch};
use nsm_report::{runs, table};
use serde_json::{Value, json};
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    /// Told now and then which run is at work and what share of it is done; a function of the worker.
    #[wasm_bindgen(js_name = nsmProgress)]
    fn progress(name: &str, share: f64);

    /// Whether Stop was pressed; a function of the worker.
    #[wasm_bindgen(js_name = nsmStopped)]
    fn stopped() -> bool;

    /// Milliseconds.
    #[wasm_bindgen(js_namespace = performance)]
    fn now() -> f64;
}

fn fault(error: &ProblemError) -> Value {
    json!({ "error": { "line": error.line, "key": error.key, "message": error.message } })
}

/// Reads a problem: its title, runs and notes, or what is wrong with it and on which line.
#[wasm_bindgen]
pub fn check(text: &str) -> String {
    let answer = match Problem::parse(text) {
        Err(error) => fault(&error),
        Ok(problem) => {
            let runs =
                problem.runs.iter().map(|r| json!({ "name": r.name, "method": r.method.name() }));
            json!({ "title": problem.title, "notes": problem.notes, "runs": runs.collect::<Vec<_>>() })
        }
    };
    answer.to_string()
}

/// Makes the runs of a problem: the page with plots and film, and the table, or what is wrong. Where Stop is pressed, of what was computed up to there.
#[wasm_bindgen]
pub fn run(text: &str) -> String {
    made(text).unwrap_or_else(|error| fault(&error)).to_string()
}

fn made(text: &str) -> Result<Value, ProblemError> {
    let problem = Problem::parse(text)?;
    let clock = || now() / 1000.0;
    let mut results: Vec<RunResult> = Vec::new();
    let cancel = AtomicBool::new(false);
    for run in &problem.runs {
        let show = |share: f64| {
            progress(&run.name, share);
            cancel.fetch_or(stopped(), Ordering::Relaxed);
        };
        let watch = Watch {
            progress: Some(&show),
            cancel: Some(&cancel),
            clock: Some(&clock),
            ..Watch::default()
        };
        results.push(problem.execute(run, None, watch)?);
        if cancel.load(Ordering::Relaxed) {
            break;
        }
    }
    let interrupted = cancel.load(Ordering::Relaxed);
    if interrupted {
        // Checks and figures speak of whole runs.
        return Ok(shown(&problem, &results, &[], &[], true));
    }
    let verdicts = problem.judge(&results)?;
    let figures = problem.draw(&results)?;
    Ok(shown(&problem, &results, &verdicts, &figures, false))
}

fn shown(
    problem: &Problem,
    results: &[RunResult],
    verdicts: &[Verdict],
    figures: &[(Axes, Vec<Curve>)],
    interrupted: bool,
) -> Value {
    let page = runs::documents(problem, results, verdicts, figures, false).pop();
    let shown: Vec<&RunResult> = results.iter().collect();
    json!({
        "title": problem.title,
        "notes": problem.notes,
        "page": page.map(|page| page.text),
        "table": table::table(&shown) + &table::warnings(&shown),
        "failed": results.iter().filter_map(|r| Some(format!("{}: {}", r.name, r.failure.as_ref()?))).collect::<Vec<_>>(),
        "refuted": verdicts.iter().filter(|v| !v.holds).count(),
        "interrupted": interrupted,
        "seconds": results.iter().filter_map(|r| r.seconds).sum::<f64>(),
    })
}
