//! The pictures of runs: plots as SVG, and a page with plots and animation.

use std::fmt::Write;

use nsm_problem::{Axes, Curve, Problem, RunResult, Verdict};

use crate::description::describe;
use crate::plot::runs::{FILMED, drawn, plots, shown};
use crate::plot::{escape, panel, standalone, unbroken};
use crate::scene::Scene;
use crate::viewer::{self, FILM_CAPTION, FILM_NUMBERS};
use crate::{Document, page, table};

/// `NAME-energy.svg`, `NAME-coordinates.svg`, … and `NAME-film.svg` for each run, `figure-1.svg`, …, and `index.html`, which leads to the tables of the
/// runs where these lie beside it.
pub fn documents(
    problem: &Problem,
    results: &[RunResult],
    verdicts: &[Verdict],
    figures: &[(Axes, Vec<Curve>)],
    tables: bool,
) -> Vec<Document> {
    let mut documents = Vec::new();
    for result in results {
        for plot in plots(problem.subject_of(&result.name), &problem.units, &[result]) {
            if let Some(svg) = panel(&plot.curves.iter().collect::<Vec<_>>(), plot.axes) {
                let name = format!("{}-{}.svg", result.name, plot.name);
                documents.push(Document::new(name, standalone(&svg)));
            }
        }
        if let Some(strip) = scene(problem, result).strip() {
            documents.push(Document::new(format!("{}-film.svg", result.name), standalone(&strip)));
        }
    }
    let figures: Vec<String> = figures
        .iter()
        .filter_map(|(axes, c)| panel(&c.iter().collect::<Vec<_>>(), *axes))
        .collect();
    for (k, figure) in figures.iter().enumerate() {
        documents.push(Document::new(format!("figure-{}.svg", k + 1), standalone(figure)));
    }
    let page = html(problem, results, verdicts, &figures.concat(), tables);
    documents.push(Document::new("index.html", page));
    documents
}

/// The scene of a run; an empty one, without the meshes of its bodies, where nothing was filmed.
fn scene(problem: &Problem, result: &RunResult) -> Scene {
    if result.recording.film.len() < 2 { Scene::default() } else { Scene::of(problem, result) }
}

fn html(
    problem: &Problem,
    results: &[RunResult],
    verdicts: &[Verdict],
    figures: &str,
    tables: bool,
) -> String {
    let mut body = format!(
        "<h1>{}</h1><p class=\"source\">{}</p>",
        escape(&problem.title),
        escape(&problem.source)
    );
    for result in results {
        if let Some(failure) = &result.failure {
            let _ = write!(
                body,
                "<pre class=\"failure\">{} failed at {}</pre>",
                escape(&result.name),
                escape(failure)
            );
        }
    }
    let warnings = table::warnings(&results.iter().collect::<Vec<_>>());
    if !warnings.is_empty() {
        let _ = write!(body, "<pre class=\"failure\">{}</pre>", escape(warnings.trim_end()));
    }
    let scenes: Vec<(String, Scene)> =
        shown(results, FILMED).iter().map(|r| (r.name.clone(), scene(problem, r))).collect();
    body.push_str(&viewer::figure(&scenes, FILM_CAPTION, FILM_NUMBERS).unwrap_or_default());
    let claims: Vec<Vec<String>> = verdicts.iter().map(claim).collect();
    if !claims.is_empty() {
        let heads = ["", "claim", "obtained now"].map(str::to_owned);
        body.push_str(&page::table(&heads, &claims));
    }
    let (heads, rows) = table::cells(&drawn(results));
    body.push_str(&page::table(&heads, &rows).replace("<table>", "<table class=\"numbers\">"));
    body.push_str("<div class=\"plots\">");
    body.push_str(figures);
    for plot in plots(&problem.subject, &problem.units, &drawn(results)) {
        body.push_str(
            &panel(&plot.curves.iter().collect::<Vec<_>>(), plot.axes).unwrap_or_default(),
        );
    }
    body.push_str("</div>");
    body.push_str(&behind(problem, results, tables));
    page::page(&problem.title, &body)
}

/// What was run: the problem as it was understood, methods with their options, and the tables of each run.
fn behind(problem: &Problem, results: &[RunResult], tables: bool) -> String {
    let mut rows = Vec::new();
    for result in drawn(results) {
        let run = problem.runs.iter().find(|run| run.name == result.name);
        let options = run.map_or("", |run| run.options.trim());
        let mut files = vec!["", "-events"];
        if !result.recording.reactions.is_empty() {
            files.push("-reactions");
        }
        let links = files.iter().map(|kind| {
            let file = escape(&format!("{}{kind}.csv", result.name));
            format!("<a href=\"{file}\">{file}</a>")
        });
        let mut row = vec![
            escape(&result.name),
            format!("<pre>{}</pre>", escape(&format!("step = {}\n{options}", result.step))),
        ];
        if tables {
            row.push(links.collect::<Vec<_>>().join("<br>"));
        }
        rows.push(row);
    }
    let heads = ["run", "step, method and options", "tables"].map(str::to_owned);
    let heads = &heads[..2 + usize::from(tables)];
    format!(
        "<details><summary>What was run</summary><pre>{}</pre>{}</details>",
        escape(&describe(problem)),
        page::table(heads, &rows)
    )
}

fn claim(verdict: &Verdict) -> Vec<String> {
    let word = if verdict.holds { verdict.status.word() } else { "FAILED" };
    let figures: Vec<String> = verdict
        .figures
        .iter()
        .map(|(name, value)| format!("{name} = {}", table::number(*value)))
        .collect();
    vec![
        format!("<b class=\"badge {}\">{word}</b>", word.to_lowercase()),
        format!(
            "{}{}<br><small>{}</small>",
            verdict.run.as_ref().map(|name| escape(name) + ": ").unwrap_or_default(),
            escape(&verdict.what),
            escape(&verdict.note)
        ),
        format!("<span class=\"figures\">{}</span>", escape(&unbroken(&figures.join(", ")))),
    ]
}
