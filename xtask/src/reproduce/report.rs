//! The report: one self-contained page.

use std::fmt::Write;
use std::time::Duration;

use nsm_report::page;
use nsm_report::plot::{escape, panels, unbroken};
use nsm_report::viewer::{self, FILM_CAPTION};

use super::entry::Entry;

/// The page of all experiments.
pub(crate) fn report(entries: &[Entry], time: Duration) -> String {
    let mut html = "<h1>Reproduction report</h1>".to_owned();
    let count = |verdict: &str| entries.iter().filter(|e| e.verdict() == verdict).count();
    let claims: usize = entries.iter().map(|e| e.claims.len()).sum();
    let _ = write!(
        html,
        "<p>{} experiments with {claims} claims, computed in {:.1} s. Every verdict below was decided by the numbers of this run.</p><p class=\"key\">",
        entries.len(),
        time.as_secs_f64()
    );
    for (verdict, meaning) in [
        ("reproduced", "we obtain what the paper states"),
        ("chosen", "data are missing in the paper; our choice is stated"),
        ("differs", "we obtain something else; the note says why"),
        ("erratum", "the paper's statement is in error"),
        (
            "skipped",
            "data from elsewhere are absent, or it is too long for --quick; nothing is claimed",
        ),
        ("FAILED", "a check does not hold"),
    ] {
        let _ = write!(html, "<span>{} {} {meaning}</span>", badge(verdict), count(verdict));
    }
    html.push_str("</p><div class=\"scroll\"><table class=\"index\"><thead><tr><th>verdict</th><th>experiment</th><th>source</th><th>what</th></tr></thead><tbody>");
    for entry in entries {
        let _ = write!(
            html,
            "<tr><td>{}</td><td><a href=\"#{id}\">{id}</a></td><td>{}</td><td>{}</td></tr>",
            badge(entry.verdict()),
            escape(&entry.figure),
            escape(&entry.title),
            id = escape(&entry.id),
        );
    }
    html.push_str("</tbody></table></div>");
    for entry in entries {
        section(&mut html, entry);
    }
    page::page("nsm: reproduction report", &html)
}

fn badge(verdict: &str) -> String {
    format!("<b class=\"badge {}\">{verdict}</b>", verdict.to_lowercase())
}

fn section(html: &mut String, entry: &Entry) {
    let _ = write!(
        html,
        "<section id=\"{}\"><h2>{} {}</h2><p class=\"source\">{} &middot; {} &middot; {:.2} s</p>",
        escape(&entry.id),
        badge(entry.verdict()),
        escape(&entry.title),
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
        html.push_str("<div class=\"scroll\"><table><thead><tr><th></th><th>claim</th><th>obtained now</th></tr></thead><tbody>");
        for claim in &entry.claims {
            let verdict = if claim.holds { claim.status.word() } else { "FAILED" };
            let note = if claim.note.is_empty() {
                String::new()
            } else {
                format!("<br><small>{}</small>", escape(&claim.note))
            };
            let _ = write!(
                html,
                "<tr><td>{}</td><td>{}{note}</td><td class=\"figures\">{}</td></tr>",
                badge(verdict),
                escape(&claim.what),
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
    if let Some(figure) = viewer::figure(&entry.scenes, FILM_CAPTION) {
        html.push_str(&figure);
    }
    let _ =
        write!(html, "<div class=\"plots\">{}</div>", panels(&entry.curves, &entry.axes).concat());
    if !entry.ledger.is_empty() {
        let _ = write!(
            html,
            "<details><summary>the ledgers of the runs, side by side</summary><pre>{}</pre></details>",
            escape(&entry.ledger)
        );
    }
    html.push_str("</section>");
}
