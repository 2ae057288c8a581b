//! The account of several runs as a table for the terminal.

use std::fmt::Write;

use nsm_model::Band;
use nsm_problem::{RunResult, Setting};

use crate::plot::escape;

/// One column per run, one line per figure.
pub fn table(results: &[&RunResult]) -> String {
    align(&rows(results))
}

/// The same as cells of HTML: heads and rows.
pub fn cells(results: &[&RunResult]) -> (Vec<String>, Vec<Vec<String>>) {
    let mut cells: Vec<Vec<String>> =
        rows(results).iter().map(|row| row.iter().map(|cell| escape(cell)).collect()).collect();
    let heads = cells.remove(0);
    (heads, cells)
}

/// The warnings of runs, one a line; empty if all is well.
pub fn warnings(results: &[&RunResult]) -> String {
    let mut text = String::new();
    for result in results {
        for warning in result.ledger.warnings() {
            let _ = writeln!(text, "WARNING {}: {warning}", result.name);
        }
    }
    text
}

fn rows(results: &[&RunResult]) -> Vec<Vec<String>> {
    let mut rows: Vec<Vec<String>> = vec![row("", results, |r| r.name.clone())];
    rows.push(row("method", results, |r| r.method.clone()));
    rows.push(row("step", results, |r| format!("{}", r.step)));
    for path in varied(results) {
        rows.push(row(&path, results, |r| value_at(r, &path)));
    }
    rows.push(row("steps", results, |r| r.ledger.steps.to_string()));
    rows.push(row("t at the end", results, |r| figure(r.end.t)));
    rows.push(row("E at the start", results, |r| figure(r.ledger.energy.start)));
    rows.push(row("E smallest", results, |r| figure(r.ledger.energy.min)));
    rows.push(row("E largest", results, |r| figure(r.ledger.energy.max)));
    rows.push(row("E at the end", results, |r| figure(r.ledger.energy.end)));
    rows.push(row("E deviation", results, |r| small(r.ledger.energy.deviation())));
    rows.push(row("E drift", results, |r| small(r.ledger.energy.trend())));
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in results.iter().flat_map(|r| &r.ledger.invariants) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    for name in names {
        let band = |r: &RunResult, figure: &dyn Fn(&Band) -> String| {
            r.ledger.invariant(name).map_or("-".into(), figure)
        };
        let is_conserved = |r: &&RunResult| {
            let mut flags = r.ledger.invariants.iter().zip(&r.ledger.conserved);
            flags.any(|((n, _), conserved)| n == name && *conserved)
        };
        if results.iter().any(is_conserved) {
            let deviation = |r: &RunResult| band(r, &|b| small(b.deviation()));
            rows.push(row(&format!("{name} deviation"), results, deviation));
            let drift = |r: &RunResult| band(r, &|b| small(b.trend()));
            rows.push(row(&format!("{name} drift"), results, drift));
        } else {
            // Nothing conserves it: what it did is no error.
            let range = |b: &Band| format!("{} … {}", number(b.min), number(b.max));
            rows.push(row(name, results, |r| band(r, &range)));
        }
    }
    rows.push(row("penetration", results, |r| match &r.ledger.deepest {
        Some(gap) => format!("{} ({gap})", small(r.ledger.penetration)),
        None => small(r.ledger.penetration),
    }));
    rows.push(row("residual, position", results, |r| small(r.ledger.position_residual)));
    rows.push(row("residual, velocity", results, |r| small(r.ledger.velocity_residual)));
    if results.iter().any(|r| r.ledger.projection.is_some()) {
        rows.push(row("E added by projections", results, |r| {
            r.ledger.projection.map_or("-".into(), |_| small(r.ledger.projected_energy))
        }));
    }
    if results.iter().any(|r| r.ledger.split_steps > 0) {
        rows.push(row("steps split", results, |r| r.ledger.split_steps.to_string()));
    }
    rows.push(row("events", results, |r| r.ledger.events.to_string()));
    rows.push(row("warnings", results, |r| r.ledger.warnings().len().to_string()));
    rows.push(row("time per step", results, |r| {
        r.seconds.map_or("-".into(), |s| duration(s / r.ledger.steps.max(1) as f64))
    }));
    let ended = |r: &RunResult| match (&r.failure, r.interrupted) {
        (Some(_), _) => "FAILED".to_owned(),
        (None, true) => "interrupted".to_owned(),
        (None, false) => "complete".to_owned(),
    };
    rows.push(row("", results, ended));
    rows
}

/// The paths that vary in some family, but for the step, which has its own line.
fn varied(results: &[&RunResult]) -> Vec<String> {
    let mut paths: Vec<String> = Vec::new();
    for (path, _) in results.iter().flat_map(|r| &r.varied) {
        if path != "step" && path != "method" && !paths.iter().any(|known| known == path) {
            paths.push(path.to_owned());
        }
    }
    paths
}

/// What a member has there; lists and tables are too long for a cell.
fn value_at(result: &RunResult, path: &str) -> String {
    let value = result.varied.iter().find(|(known, _)| known == path).map(|(_, value)| value);
    match value {
        None => "-".into(),
        Some(Setting::List(list)) => format!("{} numbers", list.len()),
        Some(Setting::Number(x)) => format!("{x}"),
        Some(Setting::Text(_)) => "…".into(),
    }
}

fn row(label: &str, results: &[&RunResult], cell: impl Fn(&RunResult) -> String) -> Vec<String> {
    std::iter::once(label.to_owned()).chain(results.iter().map(|r| cell(r))).collect()
}

/// Rows with their columns aligned.
pub fn align(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |c: usize| {
        rows.iter().filter_map(|r| r.get(c)).map(|s| s.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let _ = write!(text, "  {:<1$}", row[0], widths[0]);
        for (cell, width) in row.iter().zip(&widths).skip(1) {
            let _ = write!(text, "  {cell:>width$}");
        }
        text.push('\n');
    }
    text
}

/// A quantity with nine significant digits.
pub fn figure(x: f64) -> String {
    if x == 0.0 || (1e-4..1e9).contains(&x.abs()) {
        let decimals = if x == 0.0 { 0.0 } else { (8.0 - x.abs().log10().floor()).max(0.0) };
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // between 0 and 12
        let text = format!("{x:.*}", decimals as usize);
        if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        } else {
            text
        }
    } else {
        format!("{x:.6e}")
    }
}

/// An error or a depth: its size is what matters, three digits of it.
pub fn small(x: f64) -> String {
    match x.abs() {
        0.0 => "0".into(),
        a if (0.1..1.0).contains(&a) => format!("{x:.3}"),
        a if (1.0..10.0).contains(&a) => format!("{x:.2}"),
        a if (10.0..1000.0).contains(&a) => format!("{x:.1}"),
        _ => format!("{x:.2e}"),
    }
}

/// A number for people: as many digits as say something.
pub fn number(x: f64) -> String {
    if x == 0.0 || (1e-3..1e7).contains(&x.abs()) {
        format!("{x:.6}").trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        format!("{x:.3e}")
    }
}

/// A time in the unit that suits it.
pub fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 1e-6 => format!("{:.0} ns", s * 1e9),
        s if s < 1e-3 => format!("{:.2} µs", s * 1e6),
        s if s < 1.0 => format!("{:.2} ms", s * 1e3),
        s => format!("{s:.2} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(figure(128.438), "128.438");
        assert_eq!(figure(0.0), "0");
        assert_eq!(figure(-9.8), "-9.8");
        assert_eq!(figure(1.0e12), "1.000000e12");
        assert_eq!(figure(140_585.112_216_4), "140585.112");
        assert_eq!(small(1.234e-15), "1.23e-15");
        assert_eq!(small(17.035), "17.0");
        assert_eq!(small(0.25), "0.250");
        assert_eq!(number(17.035_403_7), "17.035404");
        assert_eq!(duration(2.5e-8), "25 ns");
        assert_eq!(duration(0.0042), "4.20 ms");
    }
}
