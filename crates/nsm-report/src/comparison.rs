//! What a comparison leaves: tables, a work-precision plot, a page, JSON.

use std::fmt::Write;

use nsm_problem::compare::{Comparison, Contender, Trial};
use nsm_problem::{Axes, Curve, Dimension, RunResult, print};
use serde_json::{Map, Value, json};

use crate::plot::{escape, panel, standalone};
use crate::{Document, page, table};

/// The ledgers at one step, the errors at all, and who did not take part.
pub fn text(found: &Comparison) -> String {
    let mut text = format!("{}, to t = {}\n\n", found.title, found.end);
    let _ = writeln!(text, "At step {}:", found.steps[found.base]);
    let ledgers = ledgers(found);
    let ledgers: Vec<_> = ledgers.iter().collect();
    text.push_str(&table::table(&ledgers));
    text.push_str(&table::warnings(&ledgers));
    let _ = writeln!(text, "\n{}", reference(found));
    text.push_str(&table::align(&errors(found)));
    for (name, why) in &found.refused {
        let _ = writeln!(text, "\n{name} does not fit: {why}");
    }
    text
}

/// The results at the step where ledgers are compared, each named after its method.
fn ledgers(found: &Comparison) -> Vec<RunResult> {
    found
        .contenders
        .iter()
        .map(|c| {
            let mut result = c.trials[found.base].result.clone();
            result.name.clone_from(&c.name);
            result
        })
        .collect()
}

/// Says what the errors are measured against.
fn reference(found: &Comparison) -> String {
    match &found.reference {
        None if found.contenders.is_empty() => {
            "No method fits: there is nothing to compare.".into()
        }
        None => {
            let scatter = found.scatter.map_or("an unknown amount".into(), table::small);
            format!(
                "No method may judge the others: none converges at its order to the same as a method of another kind (methods that meet impacts on the grid of steps never judge). At the finest step their positions are up to {scatter} apart; add methods that locate impacts, smaller steps, or name a `--reference`."
            )
        }
        Some(r) => {
            let trust = r.trust.map_or("an unknown amount".into(), table::small);
            let confirmed = match &r.confirmed_by {
                Some(other) => format!("confirmed by {other}"),
                None => "as asked, confirmed by nothing".into(),
            };
            format!(
                "Largest error of a position, against {} at step {} (which is {trust} from itself at twice that step; {confirmed}), with the observed order:",
                r.method, r.step
            )
        }
    }
}

/// Rows: a step each; columns: error and order of each method.
fn errors(found: &Comparison) -> Vec<Vec<String>> {
    let mut rows = vec![
        std::iter::once("step".to_owned())
            .chain(found.contenders.iter().map(|c| c.name.clone()))
            .collect::<Vec<_>>(),
    ];
    for (i, h) in found.steps.iter().enumerate() {
        let cell = |c: &Contender| {
            let trial = &c.trials[i];
            match (&trial.result.failure, trial.error, trial.order) {
                (Some(_), ..) => "failed".into(),
                (None, Some(e), Some(p)) => format!("{} ({p:.1})", table::small(e)),
                (None, Some(e), None) => table::small(e),
                (None, None, _) => "-".into(),
            }
        };
        rows.push(
            std::iter::once(h.to_string()).chain(found.contenders.iter().map(cell)).collect(),
        );
    }
    rows
}

/// Error and energy drift against the step, and error against the time it cost.
fn plots(found: &Comparison) -> Vec<(&'static str, Vec<Curve>)> {
    let curves = |x: &str, y: &str, point: &dyn Fn(&Trial) -> Option<[f64; 2]>| {
        let curve = |c: &Contender| Curve {
            name: c.name.clone(),
            x: x.into(),
            y: y.into(),
            points: c.trials.iter().filter_map(point).collect(),
        };
        found.contenders.iter().map(curve).collect::<Vec<_>>()
    };
    let step = found.units.axis("step", "step", Dimension::Time);
    let energy = found.units.axis("energy deviation", "E", Dimension::Energy);
    let error = "largest error of a position";
    let error = found.units.axis(error, error, Dimension::Unknown);
    let micro = |r: &RunResult| Some(1e6 * r.seconds? / r.ledger.steps.max(1) as f64);
    let done = |t: &Trial| t.result.failure.is_none();
    vec![
        (
            "work-precision",
            curves("time of the run [s]", &error, &|t| Some([t.result.seconds?, t.error?])),
        ),
        ("convergence", curves(&step, &error, &|t| Some([t.result.step, t.error?]))),
        (
            "energy",
            curves(&step, &energy, &|t| {
                done(t).then(|| [t.result.step, t.result.ledger.energy.deviation()])
            }),
        ),
        (
            "cost",
            curves(&step, "time of a step [µs]", &|t| {
                done(t).then(|| Some([t.result.step, micro(&t.result)?])).flatten()
            }),
        ),
    ]
}

/// The plots, `compare.html` and `compare.json`.
pub fn documents(found: &Comparison) -> Vec<Document> {
    let mut documents = Vec::new();
    let mut panels = String::new();
    for (name, curves) in plots(found) {
        if let Some(svg) = panel(&curves.iter().collect::<Vec<_>>(), Axes::DoubleLogarithmic) {
            documents.push(Document::new(format!("compare-{name}.svg"), standalone(&svg)));
            panels.push_str(&svg);
        }
    }
    documents.push(Document::new("compare.html", html(found, &panels)));
    documents.push(Document::new("compare.json", format!("{:#}\n", json(found))));
    documents
}

fn html(found: &Comparison, panels: &str) -> String {
    let numbers = |heads: &[String], rows: &[Vec<String>]| {
        page::table(heads, rows).replace("<table>", "<table class=\"numbers\">")
    };
    let mut body = format!(
        "<h1>{}</h1><p class=\"source\">compared to t = {}</p><h2>Errors</h2><p>{}</p>",
        escape(&found.title),
        found.end,
        escape(&reference(found))
    );
    let errors = errors(found);
    body.push_str(&numbers(&errors[0], &errors[1..]));
    let _ = write!(body, "<div class=\"plots\">{panels}</div>");
    let _ = write!(body, "<h2>Ledgers at step {}</h2>", found.steps[found.base]);
    let ledgers = ledgers(found);
    let ledgers: Vec<_> = ledgers.iter().collect();
    let (heads, rows) = table::cells(&ledgers);
    body.push_str(&numbers(&heads, &rows));
    let warnings = table::warnings(&ledgers);
    if !warnings.is_empty() {
        let _ = write!(body, "<pre class=\"failure\">{}</pre>", escape(warnings.trim_end()));
    }
    if !found.refused.is_empty() {
        body.push_str("<h2>Methods that do not fit</h2><ul>");
        for (name, why) in &found.refused {
            let _ = write!(body, "<li><b>{}</b>: {}</li>", escape(name), escape(why));
        }
        body.push_str("</ul>");
    }
    page::page(&format!("{}: comparison", found.title), &body)
}

/// The comparison as one object.
pub fn json(found: &Comparison) -> Value {
    let trial = |t: &Trial| {
        let r = &t.result;
        let ledger = &r.ledger;
        let drifts: Map<String, Value> =
            ledger.invariants.iter().map(|(n, b)| (n.clone(), json!(b.deviation()))).collect();
        json!({
            "step": r.step, "steps": ledger.steps, "events": ledger.events,
            "error": t.error, "order": t.order,
            "energy": { "start": ledger.energy.start, "min": ledger.energy.min, "max": ledger.energy.max,
                        "end": ledger.energy.end, "deviation": ledger.energy.deviation(),
                        "trend": ledger.energy.trend(), "drift": ledger.energy.deviation() },
            "invariants": drifts, "penetration": ledger.penetration,
            "residual": { "position": ledger.position_residual, "velocity": ledger.velocity_residual },
            "seconds": r.seconds, "seconds_per_step": r.seconds.map(|s| s / ledger.steps.max(1) as f64),
            "failure": r.failure,
            "warnings": print::warnings(&ledger.warnings()),
        })
    };
    let methods: Map<String, Value> = found
        .contenders
        .iter()
        .map(|c| (c.name.clone(), c.trials.iter().map(trial).collect()))
        .collect();
    let refused: Map<String, Value> =
        found.refused.iter().map(|(name, why)| (name.clone(), json!(why))).collect();
    let reference = found.reference.as_ref();
    json!({
        "title": found.title,
        "end": found.end,
        "reference": reference.map(|r| {
            json!({ "method": r.method, "step": r.step, "trust": r.trust, "confirmed_by": r.confirmed_by })
        }),
        "scatter": found.scatter,
        "methods": methods,
        "refused": refused,
    })
}
