//! Results in the files that other tools read, as `--format` asks.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

#[cfg(feature = "parquet")]
use nsm_problem::{Cell, Kind};
use nsm_problem::{Format, Problem, RunResult};
use nsm_report::formats::{npz, vtk};

use super::Error;

/// Refuses what is no table of rows.
pub(super) fn check_tables(formats: &[Format]) -> Result<(), Error> {
    match formats.iter().find(|f| !matches!(f, Format::Csv | Format::Parquet)) {
        Some(_) => Err(Error::NoTable),
        None if cfg!(not(feature = "parquet")) && formats.contains(&Format::Parquet) => {
            Err(Error::NoParquet)
        }
        None => Ok(()),
    }
}

/// Writes a run in one of the forms.
///
/// # Errors
/// If a file cannot be written, or the form cannot hold the run.
pub(super) fn write(
    format: Format,
    problem: &Problem,
    result: &RunResult,
    folder: &Path,
) -> Result<(), Error> {
    let recording = &result.recording;
    match format {
        Format::Csv => Ok(()),
        Format::Npz => {
            let events = &recording.events;
            let states: Vec<Vec<f64>> = events.iter().map(|e| e.state.clone()).collect();
            let joined = |e: &nsm_problem::EventRecord| e.contacts.join(";");
            let sums = events.iter().map(|e| e.impulses.iter().sum()).collect();
            let mut arrays = vec![
                ("columns", npz::Array::Texts(recording.columns.clone())),
                ("samples", npz::Array::matrix(&recording.samples, recording.columns.len())),
                ("event_times", npz::Array::list(recording.event_times.clone())),
                ("event_contacts", npz::Array::Texts(events.iter().map(joined).collect())),
                ("event_impulses", npz::Array::list(sums)),
                ("state_columns", npz::Array::Texts(recording.event_columns.clone())),
                ("event_states", npz::Array::matrix(&states, recording.event_columns.len())),
            ];
            if !recording.reaction_columns.is_empty() {
                let (names, rows) = (&recording.reaction_columns, &recording.reactions);
                arrays.push(("reaction_columns", npz::Array::Texts(names.clone())));
                arrays.push(("reactions", npz::Array::matrix(rows, names.len())));
            }
            let path = folder.join(format!("{}.npz", result.name));
            let failed = |e| Error::file(&path, e);
            let mut out = BufWriter::new(File::create(&path).map_err(failed)?);
            npz::write(&mut out, &arrays).and_then(|()| out.flush()).map_err(failed)
        }
        #[cfg(not(feature = "parquet"))]
        Format::Parquet => Err(Error::NoParquet),
        #[cfg(feature = "parquet")]
        Format::Parquet => {
            let numbers = |names: &[String]| {
                names.iter().map(|name| (name.clone(), Kind::Number)).collect::<Vec<_>>()
            };
            let row = |row: &Vec<f64>| row.iter().map(|x| Cell::Number(*x)).collect::<Vec<_>>();
            let table = |end: &str| folder.join(format!("{}{end}.parquet", result.name));
            let samples = recording.samples.iter().map(row);
            parquet(&table(""), &numbers(&recording.columns), samples)?;
            if !recording.reactions.is_empty() {
                let rows = recording.reactions.iter().map(row);
                parquet(&table("-reactions"), &numbers(&recording.reaction_columns), rows)?;
            }
            let mut columns = vec![
                ("t".to_owned(), Kind::Number),
                ("contacts".to_owned(), Kind::Text),
                ("impulses".to_owned(), Kind::Text),
                ("energy_change".to_owned(), Kind::Number),
            ];
            columns.extend(numbers(&recording.event_columns));
            let event = |e: &nsm_problem::EventRecord| {
                let impulses: Vec<String> = e.impulses.iter().map(|x| format!("{x:?}")).collect();
                let mut cells = vec![
                    Cell::Number(e.t),
                    Cell::Text(e.contacts.join(";")),
                    Cell::Text(impulses.join(";")),
                    Cell::Number(e.energy_change),
                ];
                cells.extend(e.state.iter().map(|x| Cell::Number(*x)));
                cells
            };
            parquet(&table("-events"), &columns, recording.events.iter().map(event))
        }
        Format::Vtk => {
            let mut open = |name: &str| {
                let file = File::create(folder.join(name))?;
                Ok(Box::new(BufWriter::new(file)) as Box<dyn Write>)
            };
            vtk::write(problem, result, &mut open).map_err(|e| Error::file(folder, e))
        }
    }
}

#[cfg(feature = "parquet")]
fn parquet(
    path: &Path,
    columns: &[(String, Kind)],
    rows: impl Iterator<Item = Vec<Cell>>,
) -> Result<(), Error> {
    let other =
        |e: nsm_report::formats::parquet::Error| Error::file(path, std::io::Error::other(e));
    let out = BufWriter::new(File::create(path).map_err(|e| Error::file(path, e))?);
    let mut writer = nsm_report::formats::parquet::Writer::new(out, columns).map_err(other)?;
    let rows: Vec<Vec<Cell>> = rows.collect();
    for group in rows.chunks(4096) {
        writer.group(group).map_err(other)?;
    }
    writer.finish().map_err(other)
}
