//! `nsm sweep FILE [--part I/N] [--resume]`: the members of families, one row each, over as many processes as there are parts.
//!
//! Part $i$ of $n$ takes every $n$-th member from the $i$-th on. A row is written, by one call, when its member is done, so that a killed process
//! has lost none of them; at the end the rows are put in order. `nsm merge` puts the parts together.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use indicatif::{ProgressBar, ProgressStyle};
use nsm_problem::{Cell, Format, Group, Members, Row, Run, Watch};
use rayon::prelude::*;

use super::formats::check_tables;
use super::sweep_table::{Head, Part, Store};
use super::{Error, folder, interrupt, say, warn};

/// What `nsm sweep` is asked.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The problem file
    file: PathBuf,
    /// Sweep only the run or family with this name; may be given several times
    #[arg(long = "run", value_name = "NAME")]
    runs: Vec<String>,
    /// Make every N-th member only, from the I-th on, I from 1 to N
    #[arg(long, value_name = "I/N", default_value = "1/1")]
    part: Part,
    /// Go on with a sweep that was stopped: members that are done are not made again
    #[arg(long)]
    resume: bool,
    /// Begin anew and discard the rows of an earlier sweep
    #[arg(long, conflicts_with = "resume")]
    restart: bool,
    /// Results to keep, such as `energy.max,final.q[0]`; all that have a fixed place if left out
    #[arg(long, value_name = "PATH,…", value_delimiter = ',')]
    columns: Vec<String>,
    /// Tables at the end: csv, parquet, or both
    #[arg(long, value_name = "FORMAT,…", value_delimiter = ',', default_value = "csv")]
    format: Vec<Format>,
    /// Write the files of every member too, as `nsm run` does
    #[arg(long)]
    files: bool,
    /// Folder for the tables
    #[arg(long, value_name = "DIR", default_value = "out")]
    out: PathBuf,
}

/// Makes the members of a part and leaves a table of them for each family.
///
/// # Errors
/// If the file is wrong, another sweep stands in the way, a member fails, or Ctrl-C comes; what is done is kept.
pub fn run(args: &Args) -> Result<(), Error> {
    check_tables(&args.format)?;
    let members = Members::read(&args.file).map_err(Error::problem)?;
    let groups = choose(&members, &args.runs)?;
    let folder = folder::of(&args.out, &args.file)?;
    let cancel = interrupt::flag();
    let (mut failed, mut first) = (0, None);
    for group in groups {
        let sweep = Sweep { args, members: &members, group, folder: &folder, cancel };
        let told = sweep.make()?;
        failed += told.failed;
        first = first.or(told.first);
    }
    match first {
        None => Ok(()),
        Some((name, why)) => Err(Error::FailedMembers { failed, name, why }),
    }
}

/// The runs and families asked for, or all of them.
pub(super) fn choose<'a>(members: &'a Members, names: &[String]) -> Result<Vec<&'a Group>, Error> {
    if members.is_empty() {
        return Err(Error::NoRuns);
    }
    let known = || members.groups().iter().map(|g| g.name.as_str()).collect::<Vec<_>>().join(", ");
    if let Some(name) = names.iter().find(|n| !members.groups().iter().any(|g| g.name == **n)) {
        return Err(Error::UnknownRun { name: name.clone(), known: known() });
    }
    let asked = |g: &&Group| names.is_empty() || names.contains(&g.name);
    Ok(members.groups().iter().filter(asked).collect())
}

/// The sweep of one family.
struct Sweep<'a> {
    args: &'a Args,
    members: &'a Members,
    group: &'a Group,
    folder: &'a Path,
    cancel: &'static AtomicBool,
}

/// What came of it.
struct Told {
    failed: usize,
    first: Option<(String, String)>,
}

impl Sweep<'_> {
    fn make(&self) -> Result<Told, Error> {
        let (group, part) = (self.group, self.args.part);
        let head = self.head()?;
        let store = Store::open(self.folder, &head, (self.args.resume, self.args.restart))?;
        let done: HashSet<usize> = store.done()?;
        let count = group.members.len();
        // The share depends on the file alone, so that parts are disjoint whatever else is asked.
        let due: Vec<usize> = (0..count)
            .filter(|k| part.takes(group.members.start + k) && !done.contains(k))
            .collect();
        let bar = bar(group, due.len());
        let (failed, warned) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let first: Mutex<Option<(usize, String)>> = Mutex::new(None);
        let trouble: Mutex<Option<Error>> = Mutex::new(None);
        let stop = AtomicBool::new(false);
        due.par_iter().for_each(|&k| {
            if stop.load(Ordering::Relaxed) || self.cancel.load(Ordering::Relaxed) {
                return;
            }
            let written = self.member(k).and_then(|row| {
                let Some(row) = row else { return Ok(()) };
                if row.cell("failed") == &Cell::Flag(true) {
                    failed.fetch_add(1, Ordering::Relaxed);
                    let why = match row.cell("failure") {
                        Cell::Text(why) => why.clone(),
                        _ => String::new(),
                    };
                    let mut first = first.lock().unwrap_or_else(PoisonError::into_inner);
                    if first.as_ref().is_none_or(|(earlier, _)| k < *earlier) {
                        *first = Some((k, why));
                    }
                }
                if !matches!(row.cell("warnings"), Cell::Integer(0) | Cell::Missing) {
                    warned.fetch_add(1, Ordering::Relaxed);
                }
                store.write(&row)
            });
            if let Err(error) = written {
                stop.store(true, Ordering::Relaxed);
                trouble.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            }
            bar.inc(1);
        });
        bar.finish_and_clear();
        if let Some(error) = trouble.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(error);
        }
        if self.cancel.load(Ordering::Relaxed) {
            return Err(Error::InterruptedSweep { name: group.name.clone() });
        }
        let files = store.finish(&self.args.format)?;
        let mut text = format!("{}: {} members made", group.name, due.len());
        if !done.is_empty() {
            let _ = write!(text, ", {} were done before", done.len());
        }
        let (failed, warned) = (failed.into_inner(), warned.into_inner());
        let _ = write!(text, ", {failed} failed, {warned} with warnings; ");
        let files: Vec<String> = files.iter().map(|f| f.display().to_string()).collect();
        let _ = writeln!(text, "written to {}", files.join(", "));
        say(&text)?;
        let first = first.into_inner().unwrap_or_else(PoisonError::into_inner);
        let name = |k: usize| {
            if group.family { format!("{}[{k}]", group.name) } else { group.name.clone() }
        };
        Ok(Told { failed, first: first.map(|(k, why)| (name(k), why)) })
    }

    /// The columns, which the first member of the family decides after one step, whatever the part.
    fn head(&self) -> Result<Head, Error> {
        let inputs = self.members.inputs(self.group.members.start);
        // A first member that cannot be built, or fails, says nothing of columns; the next ones may.
        let mut refused = None;
        for member in self.group.members.clone().take(100) {
            let tried = self.members.problem(member).and_then(|problem| {
                let mut short = recordless(&problem.runs[0]);
                short.steps = short.steps.min(1);
                problem.execute(&short, None, Watch::default())
            });
            match tried {
                Ok(result) => {
                    let row = Row::of(0, inputs, &result, &self.args.columns)
                        .map_err(|why| Error::Column { why })?;
                    return Ok(Head::new(self.members, self.group, self.args.part, &row));
                }
                Err(error) => _ = refused.get_or_insert(error),
            }
        }
        Err(refused.map_or(Error::NoRuns, Error::problem))
    }

    /// Makes a member; nothing if it was interrupted.
    fn member(&self, k: usize) -> Result<Option<Row>, Error> {
        let member = self.group.members.start + k;
        let inputs = self.members.inputs(member);
        let made = self.members.problem(member).and_then(|problem| {
            let run = recordless(&problem.runs[0]);
            let notice = |what: &str| warn(&format!("{}: {what}", run.name));
            let watch = Watch {
                cancel: Some(self.cancel),
                notice: Some(&notice),
                clock: Some(&crate::wall_clock),
                ..Watch::default()
            };
            problem.execute(&run, self.args.files.then_some(self.folder), watch)
        });
        match made {
            Ok(result) if result.interrupted => Ok(None),
            Ok(result) => {
                if let Some(why) = result.unwritten {
                    return Err(Error::Unwritten { name: result.name, why });
                }
                let row = Row::of(k, inputs, &result, &self.args.columns);
                row.map(Some).map_err(|why| Error::Column { why })
            }
            Err(error) => Ok(Some(Row::refused(k, inputs, error.to_string()))),
        }
    }
}

/// A run of which no event is kept in full: a row has no room for them.
fn recordless(run: &Run) -> Run {
    let mut run = run.clone();
    run.event_records = 0;
    run
}

fn bar(group: &Group, members: usize) -> ProgressBar {
    let bar = ProgressBar::new(members as u64);
    if let Ok(style) = ProgressStyle::with_template("{msg} [{bar:40}] {pos}/{len} {eta} left") {
        bar.set_style(style.progress_chars("=> "));
    }
    bar.set_message(group.name.clone());
    bar
}
