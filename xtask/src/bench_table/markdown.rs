//! The page: a section per criterion group; a row per case; our methods, then the peers, then the target.

use std::fmt::Write;

use super::criterion::Measurement;
use super::peers::{Figure, Peers, Row};

/// The column that has to meet the target, where a group has it; else the fastest column does.
const DEFAULT_METHOD: &str = "default";

const NOTES: &str = "## Notes";

/// The hand-written end of a page, which the next one keeps.
pub(crate) fn notes(page: &str) -> Option<&str> {
    page.find(&format!("\n{NOTES}\n")).map(|at| page[at + 1..].trim_end())
}

/// The whole page.
pub(super) fn page(
    package: &str,
    machine: &str,
    measured: &[Measurement],
    peers: &[&Peers],
    notes: Option<&str>,
) -> String {
    let mut page = format!(
        "# {package}: median times\n\n\
         Written by `cargo xtask bench-table --crate {package}` from `cargo bench -p {package}` on {machine}; \
         what stands under *Notes* at the end is kept.\n"
    );
    if !peers.is_empty() {
        page.push_str(
            "Beside a peer's time stands what it solved, or how well; – means that it was not tried.\n",
        );
    }
    let cells: Vec<Cell<'_>> = measured.iter().map(Cell::new).collect();
    for group in in_order(cells.iter().map(|cell| cell.section)) {
        let members: Vec<&Cell<'_>> = cells.iter().filter(|cell| cell.section == group).collect();
        page.push_str(&section(group, &members, peers));
    }
    if let Some(notes) = notes {
        let _ = write!(page, "\n{notes}\n");
    }
    page
}

/// Where a benchmark stands on the page.
struct Cell<'a> {
    section: &'a str,
    row: &'a str,
    column: &'a str,
    ns: f64,
}

impl<'a> Cell<'a> {
    /// By criterion's name: `group/method/size`, `group/case`, or a name of its own, which is taken apart at the
    /// first slash so that `hull/64` and `hull/128` share a table.
    fn new(measurement: &'a Measurement) -> Self {
        let name = &measurement.name;
        let (section, row, column) = match (name.function.as_deref(), name.value.as_deref()) {
            (Some(method), Some(size)) => (name.group.as_str(), size, method),
            (Some(case), None) | (None, Some(case)) => (name.group.as_str(), case, "time"),
            (None, None) => {
                let (section, row) =
                    name.group.split_once('/').unwrap_or((&name.group, &name.group));
                (section, row, "time")
            }
        };
        Self { section, row, column, ns: measurement.median_ns }
    }
}

/// One group as a table.
fn section(group: &str, members: &[&Cell<'_>], peers: &[&Peers]) -> String {
    let mut methods = in_order(members.iter().map(|cell| cell.column));
    methods.sort_by_key(|name| *name != DEFAULT_METHOD);
    let cases = in_order(members.iter().map(|cell| cell.row));
    let full = |case: &str| format!("{group} {case}").replace('/', " ");
    let peers =
        peers.iter().find(|table| cases.iter().any(|case| table.row(&full(case)).is_some()));

    let mut head = vec!["case".to_owned()];
    head.extend(methods.iter().map(|name| (*name).to_owned()));
    head.extend(peers.iter().flat_map(|table| table.names).map(|name| format!("*{name}*")));
    if peers.is_some() {
        head.push("target".to_owned());
    }
    let mut table = vec![head];
    for case in &cases {
        let times: Vec<Option<f64>> =
            methods.iter().map(|name| time(members, case, name)).collect();
        let fastest = times.iter().flatten().copied().fold(f64::INFINITY, f64::min);
        let mut cells = vec![(*case).to_owned()];
        cells.extend(times.iter().map(|time| match time {
            Some(ns) if *ns == fastest && methods.len() > 1 => format!("**{}**", duration(*ns)),
            Some(ns) => duration(*ns),
            None => String::new(),
        }));
        if let Some(peers) = peers {
            let row = peers.row(&full(case));
            cells.extend(
                (0..peers.names.len())
                    .map(|i| row.map_or(String::new(), |row| figure(row.figures[i]))),
            );
            let judged = if methods[0] == DEFAULT_METHOD { times[0] } else { Some(fastest) };
            cells.push(row.zip(judged).map_or(String::new(), |(row, ns)| verdict(row, ns)));
        }
        table.push(cells);
    }

    let mut text = format!("\n## {group}\n\n");
    for (i, cells) in table.iter().enumerate() {
        let _ = writeln!(text, "| {} |", cells.join(" | "));
        if i == 0 {
            let _ = writeln!(text, "|---|{}", "---:|".repeat(cells.len() - 1));
        }
    }
    text
}

fn time(members: &[&Cell<'_>], row: &str, column: &str) -> Option<f64> {
    members.iter().find(|cell| cell.row == row && cell.column == column).map(|cell| cell.ns)
}

fn figure(figure: Figure) -> String {
    match figure {
        Figure { ns: Some(ns), note: "" } => duration(ns),
        Figure { ns: Some(ns), note } => format!("{} ({note})", duration(ns)),
        Figure { ns: None, note } => note.to_owned(),
    }
}

fn verdict(row: &Row, ns: f64) -> String {
    match row.target_ns {
        Some(target) if ns <= target => format!("≤ {}: met", duration(target)),
        Some(target) => format!("≤ {}: missed by {:.2}×", duration(target), ns / target),
        None => String::new(),
    }
}

/// A time with three significant digits and a unit between ns and s.
fn duration(ns: f64) -> String {
    let (scaled, unit) = match ns {
        _ if ns < 999.5 => (ns, "ns"),
        _ if ns < 999.5e3 => (ns / 1e3, "µs"),
        _ if ns < 999.5e6 => (ns / 1e6, "ms"),
        _ => (ns / 1e9, "s"),
    };
    let decimals = match scaled {
        _ if scaled < 9.995 => 2,
        _ if scaled < 99.95 => 1,
        _ => 0,
    };
    format!("{scaled:.decimals$} {unit}")
}

/// The distinct items in order of appearance.
fn in_order<'a>(items: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut distinct = Vec::new();
    for item in items {
        if !distinct.contains(&item) {
            distinct.push(item);
        }
    }
    distinct
}

#[cfg(test)]
mod tests {
    use super::super::criterion::Name;
    use super::super::peers;
    use super::*;

    fn measurement(
        group: &str,
        function: Option<&str>,
        value: Option<&str>,
        median_ns: f64,
    ) -> Measurement {
        let name = Name {
            group: group.into(),
            function: function.map(Into::into),
            value: value.map(Into::into),
            id: String::new(),
            throughput: None,
        };
        Measurement { name, median_ns }
    }

    #[test]
    fn durations_have_three_digits() {
        let shown = [2.345, 99.94, 999.6, 1.5e4, 7e5, 1e6, 2.5e10].map(duration);
        assert_eq!(
            shown,
            ["2.35 ns", "99.9 ns", "1.00 µs", "15.0 µs", "700 µs", "1.00 ms", "25.0 s"]
        );
    }

    #[test]
    fn a_family_stands_beside_its_peers() {
        let measured = [
            measurement("spd", Some("lemke"), Some("10"), 1500.0),
            measurement("spd", Some("default"), Some("10"), 1200.0),
            measurement("spd", Some("default"), Some("200"), 1.4e6),
        ];
        let page = page("nsm-solvers", "2 cores", &measured, &peers::of("nsm-solvers"), None);
        let rows: Vec<&str> = page.lines().filter(|line| line.starts_with('|')).collect();
        assert!(rows[0].starts_with("| case | default | lemke | *Siconos Lemke* |"), "{}", rows[0]);
        assert!(
            rows[2].starts_with("| 10 | **1.20 µs** | 1.50 µs | 2.10 µs | 15.0 µs |"),
            "{}",
            rows[2]
        );
        assert!(rows[2].ends_with("| ≤ 2.00 µs: met |"), "{}", rows[2]);
        assert!(rows[3].starts_with("| 200 | **1.40 ms** |  | 5.90 ms |"), "{}", rows[3]);
        assert!(rows[3].ends_with("| 37.0 ms (5/10) | ≤ 700 µs: missed by 2.00× |"), "{}", rows[3]);
    }

    #[test]
    fn a_group_without_peers_is_plain() {
        let measured = [
            measurement("distance", None, Some("box"), 80.0),
            measurement("hull/64", None, None, 9.0),
            measurement("hull/128", None, None, 20.0),
            measurement("rigid", Some("free flow"), None, 300.0),
        ];
        let page = page("nsm-geom", "2 cores", &measured, &peers::of("nsm-geom"), None);
        let head = "| case | time |\n|---|---:|\n";
        assert!(page.contains(&format!("## distance\n\n{head}| box | 80.0 ns |\n")), "{page}");
        assert!(
            page.contains(&format!("## hull\n\n{head}| 64 | 9.00 ns |\n| 128 | 20.0 ns |\n")),
            "{page}"
        );
        assert!(page.contains(&format!("## rigid\n\n{head}| free flow | 300 ns |\n")), "{page}");
    }

    #[test]
    fn notes_survive() {
        let measured = [measurement("a", None, None, 1.0)];
        let old = page(
            "nsm-geom",
            "m",
            &measured,
            &peers::of("nsm-geom"),
            Some("## Notes\nSlow because."),
        );
        assert_eq!(notes(&old), Some("## Notes\nSlow because."));
        assert_eq!(notes("# nothing\n"), None);
    }
}
