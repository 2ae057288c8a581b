//! The report: one self-contained page. One line per figure or table of each paper: what is stated, what came out, the verdicts; behind it
//! the experiments with their checks, films and plots.

use std::fmt::Write;
use std::time::Duration;

use nsm_problem::{Origin, Status};
use nsm_report::page;
use nsm_report::plot::{escape, panels, unbroken};
use nsm_report::viewer::{self, FILM_CAPTION};

use super::entry::Entry;
use super::index::{Chapter, Counts, Line, sum};

/// Filters lines, and opens what a link leads to.
const SCRIPT: &str = include_str!("report.js");
/// Numbers of all films of one experiment.
const FILM: usize = 1_900;
/// Length of a film above which runs are left out of it.
const FILM_BYTES: usize = 15_500;
/// Length of the film of one run above which it is left out.
const LONGEST_FILM: usize = 32_000;
/// Most panels of one experiment: figures come first, then energy and motion; `nsm run` draws all of them.
const PANELS: usize = 4;
/// Letters of the figures in a line; all of them stand behind it.
const SHORT: usize = 140;

/// The page of all experiments.
pub(crate) fn report(chapters: &[Chapter], entries: &[Entry], time: Duration) -> String {
    let mut html = "<h1>Reproduction report</h1>".to_owned();
    let claims: usize = entries.iter().map(|e| e.claims.len()).sum();
    let _ = write!(
        html,
        "<p>{} experiments with {claims} checked statements, computed in {:.1} s. Every verdict below was decided by the numbers of this run.</p><p class=\"key\">",
        entries.len(),
        time.as_secs_f64()
    );
    for (verdict, meaning) in [
        ("reproduced", "the paper states it, and we obtain it"),
        ("verified", "the paper prints no number; an independent computation agrees"),
        ("chosen", "data are missing in the paper; our choice is stated"),
        ("differs", "a printed statement does not come out; the note says why"),
        ("erratum", "the statement is wrong; the note says why"),
        ("beyond", "not in the paper"),
        ("skipped", "data from elsewhere are absent, or it is too long for --quick"),
        ("FAILED", "a check does not hold"),
    ] {
        let _ = write!(html, "<span>{} {meaning}</span>", badge(verdict, verdict));
    }
    html.push_str("</p>");
    summary(&mut html, chapters, entries);
    filter(&mut html, chapters);
    let mut number = 0;
    for chapter in chapters {
        let _ = write!(
            html,
            "<h2 class=\"chapter\">{}</h2><div class=\"scroll\"><table class=\"index\"><thead><tr><th>{}</th><th>stated</th><th>came out</th><th>verdicts</th></tr></thead><tbody>",
            escape(&chapter.title),
            if chapter.is_paper { "in the paper" } else { "experiment" }
        );
        for line in &chapter.lines {
            row(&mut html, chapter, line, entries, number);
            number += 1;
        }
        html.push_str("</tbody></table></div>");
    }
    html.push_str("<h2 class=\"chapter\">Behind the lines</h2>");
    let lines = chapters.iter().flat_map(|c| c.lines.iter().map(move |line| (c, line)));
    for (number, (chapter, line)) in lines.enumerate() {
        let _ = write!(
            html,
            "<details class=\"line\" id=\"line-{number}\"><summary>{}: {} {}</summary>",
            escape(&chapter.title),
            escape(&line.place),
            badges(&sum(line.entries.iter().map(|&i| &entries[i])))
        );
        for &i in &line.entries {
            section(&mut html, &entries[i]);
        }
        html.push_str("</details>");
    }
    let _ = write!(html, "<script>{SCRIPT}</script>");
    page::page("nsm: reproduction report", &html)
}

/// How many statements of each paper came out how.
fn summary(html: &mut String, chapters: &[Chapter], entries: &[Entry]) {
    let words: Vec<&str> =
        ["FAILED"].into_iter().chain(Status::ALL.map(Status::word)).chain(["skipped"]).collect();
    let all = sum(entries);
    let shown: Vec<&str> =
        words.into_iter().filter(|w| all.iter().any(|(word, _)| word == w)).collect();
    let mut heads = vec![String::new()];
    heads.extend(shown.iter().map(|w| badge(w, w)));
    let rows: Vec<Vec<String>> = chapters
        .iter()
        .map(|chapter| {
            let of = chapter.lines.iter().flat_map(|l| &l.entries).map(|&i| &entries[i]);
            let counts = sum(of);
            let count = |w: &&str| {
                counts
                    .iter()
                    .find(|(word, _)| word == w)
                    .map_or(String::new(), |(_, n)| n.to_string())
            };
            [escape(&chapter.title)].into_iter().chain(shown.iter().map(count)).collect()
        })
        .collect();
    html.push_str(&page::table(&heads, &rows));
}

fn filter(html: &mut String, chapters: &[Chapter]) {
    html.push_str("<form class=\"filter\" role=\"search\"><input type=\"search\" placeholder=\"filter by text\" aria-label=\"filter by text\"><select aria-label=\"paper\"><option value=\"\">all papers and subjects</option>");
    for chapter in chapters {
        let _ = write!(html, "<option>{}</option>", escape(&chapter.title));
    }
    html.push_str(
        "</select><select aria-label=\"verdict\"><option value=\"\">all verdicts</option>",
    );
    for word in ["FAILED"].into_iter().chain(Status::ALL.map(Status::word)).chain(["skipped"]) {
        let _ = write!(html, "<option>{word}</option>");
    }
    html.push_str("</select></form>");
}

/// One figure or table: what is stated, what came out, the verdicts.
fn row(html: &mut String, chapter: &Chapter, line: &Line, entries: &[Entry], number: usize) {
    let of: Vec<&Entry> = line.entries.iter().map(|&i| &entries[i]).collect();
    let counts = sum(of.iter().copied());
    let words: Vec<&str> = counts.iter().map(|(word, _)| *word).collect();
    // An experiment in code opens with the paper's own statement; a file has one a claim.
    let stated = of.iter().find(|e| e.is_code()).map_or_else(
        || of[0].claims.first().map_or(of[0].title.as_str(), |c| c.what.as_str()),
        |e| e.title.as_str(),
    );
    let entry = of.iter().find(|e| e.is_code() && !e.claims.is_empty()).unwrap_or(&of[0]);
    let figures = entry.claims.first().map_or(String::new(), |c| {
        // Figures of files carry their names.
        if entry.is_code() { format!("{}: {}", c.what, c.figures) } else { c.figures.clone() }
    });
    let _ = write!(
        html,
        "<tr data-chapter=\"{}\" data-verdicts=\"{}\"><td><a href=\"#line-{number}\">{}</a></td><td>{}</td><td class=\"figures\">{}</td><td>{}</td></tr>",
        escape(&chapter.title),
        words.join(" "),
        escape(&line.place),
        escape(stated),
        escape(&unbroken(&short(&figures))),
        badges(&counts)
    );
}

fn short(text: &str) -> String {
    if text.chars().count() <= SHORT {
        return text.to_owned();
    }
    let mut cut: String = text.chars().take(SHORT).collect();
    cut.push('…');
    cut
}

fn badge(verdict: &str, text: &str) -> String {
    format!("<b class=\"badge {}\">{text}</b>", verdict.to_lowercase())
}

fn badges(counts: &Counts) -> String {
    let one = |(word, n): &(&str, usize)| badge(word, &format!("{n} {word}"));
    counts.iter().map(one).collect::<Vec<_>>().join(" ")
}

/// The film of an experiment: of as many runs, from the first on, as the page can afford; `nsm run` shows all of them.
fn film(entry: &Entry) -> String {
    let mut scenes = &entry.scenes[..];
    loop {
        let figure = viewer::figure(scenes, FILM_CAPTION, FILM).unwrap_or_default();
        if figure.len() > LONGEST_FILM && scenes.len() < 2 {
            let id = escape(&entry.id);
            return format!(
                "<p class=\"note\">Its film is too long for this page; <code>nsm run benchmarks/{id}</code> shows it.</p>"
            );
        }
        if figure.len() <= FILM_BYTES || scenes.len() < 2 {
            return figure;
        }
        scenes = &scenes[..scenes.len() / 2];
    }
}

fn section(html: &mut String, entry: &Entry) {
    let _ = write!(
        html,
        "<section id=\"{}\"><h2>{} {}</h2><p class=\"source\">{} &middot; {} &middot; {:.2} s</p>",
        escape(&entry.id),
        escape(&entry.title),
        badges(&entry.counts()),
        escape(&entry.id),
        escape(&entry.figure),
        entry.time.as_secs_f64()
    );
    if !entry.note.is_empty() {
        let _ = write!(html, "<p class=\"note\">{}</p>", escape(&entry.note));
    }
    if let Some(missing) = &entry.missing {
        let _ = write!(html, "<p class=\"note\">Skipped: {}.</p>", escape(missing));
    }
    if let Some(failure) = &entry.failure {
        let _ = write!(html, "<pre class=\"failure\">{}</pre>", escape(failure));
    }
    if !entry.claims.is_empty() {
        html.push_str("<div class=\"scroll\"><table><thead><tr><th></th><th>claim</th><th>expected by</th><th>obtained now</th></tr></thead><tbody>");
        for claim in &entry.claims {
            let verdict = if claim.holds { claim.status.word() } else { "FAILED" };
            let note = if claim.note.is_empty() {
                String::new()
            } else {
                format!("<br><small>{}</small>", escape(&claim.note))
            };
            let _ = write!(
                html,
                "<tr><td>{}</td><td>{}{note}</td><td>{}</td><td class=\"figures\">{}</td></tr>",
                badge(verdict, verdict),
                escape(&claim.what),
                claim.origin.map_or("", Origin::word),
                escape(&unbroken(&claim.figures))
            );
        }
        html.push_str("</tbody></table></div>");
    }
    for table in &entry.tables {
        let _ = write!(html, "<p class=\"caption\">{}</p>", escape(&table.title));
        let cells = |row: &Vec<String>| row.iter().map(|c| escape(c)).collect::<Vec<_>>();
        html.push_str(&page::table(
            &cells(&table.columns),
            &table.rows.iter().map(cells).collect::<Vec<_>>(),
        ));
    }
    html.push_str(&film(entry));
    let mut panels = panels(&entry.curves, &entry.axes);
    panels.truncate(PANELS);
    let _ = write!(html, "<div class=\"plots\">{}</div>", panels.concat());
    if !entry.ledger.is_empty() {
        let _ = write!(
            html,
            "<details><summary>the ledgers of the runs, side by side</summary><pre>{}</pre></details>",
            escape(&entry.ledger)
        );
    }
    html.push_str("</section>");
}
