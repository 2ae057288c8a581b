//! Reads a problem part by part: what moves, how it looks, the runs, what is kept of them.

use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use nsm_formula::nearest;
use nsm_model::{ContactLaw, State, System};
use toml::de::DeTable;

use crate::reader::{Reader, Source};
use crate::{
    Contacts, EVENT_RECORDS, Picture, ProblemError, Run, Subject, coordinates, family, inherit,
    multibody, parse_table, repeat, rigid,
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

/// The tables of a file: completed by those of the file that it is like, copies made.
pub(crate) fn prepared<'t>(
    source: Source<'t>,
    model: Option<&'t str>,
) -> Result<toml::Spanned<DeTable<'t>>, ProblemError> {
    let mut table = parse_table(source.text)?;
    if let Some(model) = model {
        inherit::complete(table.get_mut(), parse_table(model)?.get_ref());
    }
    let parameters = {
        let reader = Reader::new(source, table.get_ref(), "", 0);
        coordinates::read_parameters(&reader)?
    };
    repeat::expand(table.get_mut(), source, &parameters)?;
    Ok(table)
}

pub(crate) fn read_subject(reader: &Reader<'_>) -> Result<Subject, ProblemError> {
    let bodies = reader.tables("body")?;
    if multibody::is_mechanism(reader, &bodies) {
        return multibody::read_mechanism(reader, &bodies);
    }
    let Some(table) = reader.table("system")? else {
        if bodies.is_empty() {
            return Err(reader.place().error(
                "the file describes nothing that moves: give `[system]` with coordinates and formulas, or a `[[body]]`, `[[beam]]` or `[[point_mass]]`",
            ));
        }
        let (world, start, contacts) = rigid::read_world(reader, &bodies)?;
        return Ok(Subject::Rigid { world, start, contacts });
    };
    let mut system = coordinates::read_system(&table)?;
    table.finish()?;
    let gaps = system.inequalities().names().to_vec();
    let contacts = Contacts::read(reader, &gaps)?;
    if contacts.said {
        let laws: Vec<ContactLaw> = gaps.iter().map(|gap| contacts.law(gap, "")).collect();
        system = system.with_contact_laws(&laws).map_err(|e| reader.place().system(&e))?;
        system.frictional_laws(None, None).map_err(|e| reader.place_of("friction").system(&e))?;
    }
    let start = reader.require(
        "[start]",
        reader.table("start")?,
        "give the positions `q` and velocities `v` at the start",
    )?;
    let state = coordinates::read_start(&start, &system)?;
    start.finish()?;
    check_distances(&system, &state)
        .map_err(|message| reader.place_of("friction").error(message))?;
    Ok(Subject::Coordinates { system: Box::new(system), start: state })
}

/// Refuses friction at a gap that is no distance, where that can be seen: friction compares forces, and a gap such as `2*y` would halve the
/// normal one. It can be seen where gap and tangents are those of one point mass, of which the gradient of a distance has length one.
fn check_distances(system: &System, start: &State) -> Result<(), String> {
    let (gaps, tangents) = (system.inequalities(), system.tangents());
    let mass = system.mass().entries();
    let inertia = |c: usize| mass.iter().find(|e| e.0 == c && e.1 == c).map(|e| e.2);
    let mut values = vec![0.0; tangents.entries()];
    for i in (0..gaps.len()).filter(|&i| system.contact_law(i).friction > 0.0) {
        let Some(tangent) = tangents.of(i) else { continue };
        let mut columns = [gaps.columns(i), tangent.coordinates()].concat();
        columns.sort_unstable();
        columns.dedup();
        let point = columns.len() == 1 + tangent.directions()
            && columns.iter().all(|&c| inertia(c) == inertia(columns[0]))
            && mass.iter().all(|e| e.0 == e.1 || !columns.contains(&e.0) || e.2 == 0.0);
        let value = gaps.value(i, &start.q, start.t);
        let size = start.q.iter().fold(0.0_f64, |a, q| a.max(q.abs()));
        // Away from its surface a curved gap may have another slope.
        if !point || !(gaps.field(i).is_affine() || value.abs() <= 1e-9 * size) {
            continue;
        }
        let length = |row: &[f64]| row.iter().map(|x| x * x).sum::<f64>().sqrt();
        let mut gradient = vec![0.0; gaps.columns(i).len()];
        gaps.field(i).gradient(&start.q, start.t, &mut gradient);
        tangents.coefficients(i, &start.q, start.t, &mut values);
        let slopes = (0..tangent.directions()).map(|k| length(&values[tangents.span(i, k)]));
        for (what, slope) in
            [("gap", length(&gradient))].into_iter().chain(slopes.map(|s| ("tangent", s)))
        {
            if (slope - 1.0).abs() > 1e-6 {
                return Err(format!(
                    "the {what} of `{}` changes by {slope} where its point moves by 1: with friction a gap is a distance and a tangent a velocity; divide it by {slope}",
                    gaps.name(i)
                ));
            }
        }
    }
    Ok(())
}

/// Reads `[picture]`, whose formulas know what those of `[system]` know.
pub(crate) fn read_picture(reader: &Reader<'_>) -> Result<Option<Picture>, ProblemError> {
    let Some(table) = reader.table("picture")? else { return Ok(None) };
    let bodies = multibody::is_mechanism(reader, &reader.tables("body")?);
    let Some(system) = reader.table("system")?.filter(|_| !bodies) else {
        return Picture::of_bodies(&table).map(Some);
    };
    let scope = coordinates::read_scope(&system)?;
    Picture::read(&table, &scope).map(Some)
}

/// A form in which the files of a run are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Comma-separated values, written while the run goes on: these are always made.
    Csv,
    /// An archive of NumPy.
    Npz,
    /// Apache Parquet, for data frames.
    Parquet,
    /// VTK's surfaces, one file per recorded instant, for ParaView.
    Vtk,
}

impl Format {
    /// All of them, by the names that files and command lines use.
    pub const ALL: [(&'static str, Self); 4] =
        [("csv", Self::Csv), ("npz", Self::Npz), ("parquet", Self::Parquet), ("vtk", Self::Vtk)];
}

impl std::str::FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let words = Self::ALL.map(|(word, _)| word);
        let found = Self::ALL.iter().find(|(word, _)| *word == text).map(|(_, format)| *format);
        found.ok_or_else(|| match nearest(text, words) {
            Some(near) => format!("there is no format `{text}`; did you mean `{near}`?"),
            None => format!("there is no format `{text}`; known: {}", words.join(", ")),
        })
    }
}

/// Reads `[output]`: how many events are kept in full, and which files are written.
pub(crate) fn read_output(reader: &Reader<'_>) -> Result<(usize, Vec<Format>), ProblemError> {
    let Some(table) = reader.table("output")? else { return Ok((EVENT_RECORDS, Vec::new())) };
    let events = if table.is_text("events") {
        table.choice("events", &[("all", usize::MAX)])?
    } else {
        table.count("events")?
    };
    let mut formats = Vec::new();
    for text in table.texts("formats")?.unwrap_or_default() {
        formats.push(text.parse().map_err(|e: String| table.place_of("formats").error(e))?);
    }
    table.finish()?;
    Ok((events.unwrap_or(EVENT_RECORDS), formats))
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
        // Events of run `a` are written to `a-events.csv`, its contacts to `a-contacts.csv`, forces of its joints to `a-reactions.csv`.
        let events = |a: &Run, b: &Run| {
            ["-events", "-contacts", "-reactions", "-reaction-impulses"]
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
