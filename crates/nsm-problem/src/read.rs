//! Reads a problem part by part: what moves, how it looks, the runs, what is kept of them.

use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use toml::de::DeTable;

use crate::reader::{Reader, Source};
use crate::{
    Contacts, EVENT_RECORDS, Picture, ProblemError, Run, Subject, coordinates, family, multibody,
    parse_table, rigid,
};

/// Longest problem file, in bytes.
const MOST_BYTES: u64 = 16 << 20;

/// The text of a file, or of a pipe, up to a limit: something that never ends is no problem file.
pub(crate) fn text_of(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    std::fs::File::open(path)?.take(MOST_BYTES + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MOST_BYTES {
        let message = format!("it is longer than {} megabytes", MOST_BYTES >> 20);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    Ok(text)
}

pub(crate) fn read_subject(reader: &Reader<'_>) -> Result<Subject, ProblemError> {
    let bodies = reader.tables("body")?;
    let Some(table) = reader.table("system")? else {
        if bodies.is_empty() && !multibody::is_mechanism(reader, &bodies) {
            return Err(reader.place().error(
                "the file describes nothing that moves: give `[system]` with coordinates and formulas, or a `[[body]]`, `[[beam]]` or `[[point_mass]]`",
            ));
        }
        if multibody::is_mechanism(reader, &bodies) {
            return multibody::read_mechanism(reader, &bodies);
        }
        let (world, start, contacts) = rigid::read_world(reader, &bodies)?;
        return Ok(Subject::Rigid { world, start, contacts });
    };
    if let Some(body) = bodies.first() {
        return Err(body
            .place()
            .error("a file describes a `[system]` in coordinates or rigid bodies, not both"));
    }
    let mut system = coordinates::read_system(&table)?;
    table.finish()?;
    let gaps = system.inequalities().names().to_vec();
    let contacts = Contacts::read(reader, &gaps)?;
    if contacts.said {
        let e: Vec<f64> = gaps.iter().map(|gap| contacts.restitution(gap, "")).collect();
        system = system.with_restitution(&e).map_err(|e| reader.place().system(&e))?;
    }
    let start = reader.require(
        "[start]",
        reader.table("start")?,
        "give the positions `q` and velocities `v` at the start",
    )?;
    let state = coordinates::read_start(&start, &system)?;
    start.finish()?;
    Ok(Subject::Coordinates { system: Box::new(system), start: state })
}

/// Reads `[picture]`, whose formulas know what those of `[system]` know.
pub(crate) fn read_picture(reader: &Reader<'_>) -> Result<Option<Picture>, ProblemError> {
    let Some(table) = reader.table("picture")? else { return Ok(None) };
    let Some(system) = reader.table("system")? else {
        return Err(table
            .place()
            .error("bodies are drawn by their shapes; a picture is for `[system]`"));
    };
    let scope = coordinates::read_scope(&system)?;
    Picture::read(&table, &scope).map(Some)
}

/// Reads `[output]`: how many events are kept in full.
pub(crate) fn read_output(reader: &Reader<'_>) -> Result<usize, ProblemError> {
    let Some(table) = reader.table("output")? else { return Ok(EVENT_RECORDS) };
    let events = if table.is_text("events") {
        table.choice("events", &[("all", usize::MAX)])?
    } else {
        table.count("events")?
    };
    table.finish()?;
    Ok(events.unwrap_or(EVENT_RECORDS))
}

/// Reads the runs, those that vary as a family each.
pub(crate) fn read_runs(
    source: Source<'_>,
    root: &DeTable<'_>,
    reader: &Reader<'_>,
    subject: &Subject,
) -> Result<Vec<Run>, ProblemError> {
    let written = family::written_ranges(root);
    let ranges = written
        .iter()
        .map(|text| parse_table(text).map(toml::Spanned::into_inner))
        .collect::<Result<Vec<_>, _>>()?;
    let mut runs: Vec<Run> = Vec::new();
    for (i, table) in reader.tables("run")?.into_iter().enumerate() {
        let varied = family::read_varied(&table, root, &ranges)?;
        let mut fresh = Vec::new();
        for k in 0..family::members(&varied) {
            let member = family::member(root, i, &varied, k)?;
            let reader = Reader::new(source, &member, "", 0);
            let own = if family::reaches_file(&varied) {
                Some(Arc::new(read_subject(&reader)?))
            } else {
                None
            };
            let mut tables = reader.tables("run")?;
            let run = Run::read(&tables.swap_remove(i), own.as_deref().unwrap_or(subject))?;
            let name = format!("{}[{k}]", run.name);
            let varied = family::values(&varied, k);
            fresh.push(Run { family: Some(run.name), name, subject: own, varied, ..run });
        }
        if varied.is_empty() {
            fresh.push(Run::read(&table, subject)?);
        }
        let named = |r: &Run| r.family.clone().unwrap_or_else(|| r.name.clone());
        if let Some(name) = fresh.first().map(named).filter(|n| runs.iter().any(|r| named(r) == *n))
        {
            let message = format!("there are two runs named `{name}`");
            return Err(table.place_of("name").error(message));
        }
        // Events of run `a` are written to `a-events.csv`, forces of its joints to `a-reactions.csv`.
        let events = |a: &Run, b: &Run| {
            ["-events", "-reactions"]
                .iter()
                .any(|end| a.name.strip_suffix(end) == Some(b.name.as_str()))
        };
        for (a, b) in fresh.iter().flat_map(|a| runs.iter().map(move |b| (a, b))) {
            if events(a, b) || events(b, a) {
                let message =
                    format!("runs `{}` and `{}` would write the same files", b.name, a.name);
                return Err(table.place_of("name").error(message));
            }
        }
        runs.extend(fresh);
    }
    Ok(runs)
}
