//! `nsm run FILE`: makes the runs of a problem file.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use indicatif::{ProgressBar, ProgressStyle};
use nsm_problem::{Format, Problem, ProblemError, Run, RunResult, Verdict, Watch};
use nsm_report::{runs, table};
use rayon::prelude::*;
use serde_json::{Map, Value, json};

use super::{Error, folder, formats, interrupt, save, say, warn};

/// What `nsm run` is asked.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The problem file
    file: PathBuf,
    /// Make only the run or family with this name; may be given several times
    #[arg(long = "run", value_name = "NAME")]
    runs: Vec<String>,
    /// Folder for the tables, plots and the animation
    #[arg(long, value_name = "DIR", default_value = "out")]
    out: PathBuf,
    /// Files to write besides the CSV tables: npz, parquet, vtk
    #[arg(long, value_name = "FORMAT,…", value_delimiter = ',')]
    format: Vec<Format>,
    /// Print one JSON object instead of the table
    #[arg(long)]
    json: bool,
}

/// Makes the runs, prints their account and leaves tables and pictures in the output folder.
///
/// # Errors
/// If the file is wrong, a run fails that should not, or an expectation does not hold.
pub fn run(args: &Args) -> Result<(), Error> {
    let mut problem = Problem::read(&args.file).map_err(Error::problem)?;
    if args.format.contains(&Format::Vtk) {
        problem.keep_places();
    }
    let problem = problem;
    let chosen = choose(&problem, &args.runs)?;
    let folder = folder::of(&args.out, &args.file)?;
    let cancel = interrupt::flag();
    for note in &problem.notes {
        warn(&format!("note: {note}"));
    }
    if !args.json {
        say(&heading(&problem, &chosen))?;
    }
    let mut results: Vec<RunResult> = Vec::new();
    // The runs of a family are made side by side; each is computed alone, whatever the number of threads.
    for group in chosen.chunk_by(|a, b| a.family.is_some() && a.family == b.family) {
        let made = make(&problem, group, &folder, cancel).map_err(|e| in_file(e, &args.file))?;
        let stop = made.iter().any(|result| result.interrupted);
        results.extend(made);
        if stop {
            break;
        }
    }
    let verdicts = problem.judge(&results).map_err(|e| in_file(e, &args.file))?;
    let figures = problem.draw(&results).map_err(|e| in_file(e, &args.file))?;
    // A disk that is full must not cost the account of the runs.
    let saved = save(&folder, &runs::documents(&problem, &results, &verdicts, &figures, true));
    if args.json {
        say(&format!("{}\n", json(&problem, &results, &verdicts)))?;
    } else {
        let shown: Vec<_> = results.iter().collect();
        let mut text = table::table(&shown);
        text += &table::warnings(&shown);
        text.extend(verdicts.iter().map(line));
        if saved.is_ok() {
            let _ = writeln!(text, "written to {}", folder.display());
        }
        say(&text)?;
    }
    saved?;
    for result in &results {
        for format in problem.formats.iter().chain(&args.format) {
            formats::write(*format, &problem, result, &folder)?;
        }
    }
    conclude(&problem, &results, &verdicts)
}

/// The title, and which methods were chosen for the user.
fn heading(problem: &Problem, runs: &[&Run]) -> String {
    let mut text = problem.title.clone();
    if !problem.source.is_empty() {
        let _ = write!(text, "  ({})", problem.source);
    }
    text.push('\n');
    let mut said: Vec<&str> = Vec::new();
    for run in runs {
        let name = run.family.as_deref().unwrap_or(&run.name);
        if let Some(why) = run.method.recommended.filter(|_| !said.contains(&name)) {
            let _ = writeln!(text, "{name}: method {}, because {why}", run.method.name());
            said.push(name);
        }
    }
    text
}

/// The runs asked for, or all of them.
fn choose<'a>(problem: &'a Problem, names: &[String]) -> Result<Vec<&'a Run>, Error> {
    if names.is_empty() {
        return if problem.runs.is_empty() {
            Err(Error::NoRuns)
        } else {
            Ok(problem.runs.iter().collect())
        };
    }
    let mut chosen = Vec::new();
    for name in names {
        let mine = |r: &&Run| r.name == *name || r.family.as_ref() == Some(name);
        let before = chosen.len();
        chosen.extend(problem.runs.iter().filter(mine));
        if chosen.len() == before {
            let mut known: Vec<&str> =
                problem.runs.iter().map(|r| r.family.as_deref().unwrap_or(&r.name)).collect();
            known.dedup();
            return Err(Error::UnknownRun { name: name.clone(), known: known.join(", ") });
        }
    }
    Ok(chosen)
}

/// Makes a run, or those of a family.
fn make(
    problem: &Problem,
    runs: &[&Run],
    folder: &Path,
    cancel: &AtomicBool,
) -> Result<Vec<RunResult>, ProblemError> {
    let first = runs[0];
    let bar = progress_bar(first.family.as_deref().unwrap_or(&first.name));
    let shares: Vec<AtomicU64> = runs.iter().map(|_| AtomicU64::new(0)).collect();
    let one = |(k, run): (usize, &&Run)| {
        let show = |share: f64| {
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            // between 0 and 1000
            shares[k].store((share * 1000.0) as u64, Ordering::Relaxed);
            let sum: u64 = shares.iter().map(|s| s.load(Ordering::Relaxed)).sum();
            bar.set_position(sum / shares.len() as u64);
        };
        let notice = |what: &str| bar.suspend(|| warn(&format!("{}: {what}", run.name)));
        let watch = Watch {
            progress: Some(&show),
            cancel: Some(cancel),
            notice: Some(&notice),
            clock: Some(&crate::wall_clock),
        };
        let result = problem.execute(run, Some(folder), watch);
        show(1.0);
        result
    };
    let results = runs.par_iter().enumerate().map(one).collect();
    bar.finish_and_clear();
    results
}

fn in_file(error: ProblemError, file: &Path) -> Error {
    Error::problem(error.in_file(&file.display().to_string()))
}

/// A bar on the terminal with the time left; nothing where the output is not a terminal.
fn progress_bar(name: &str) -> ProgressBar {
    let bar = ProgressBar::new(1000);
    if let Ok(style) = ProgressStyle::with_template("{msg} [{bar:40}] {percent}% {eta} left") {
        bar.set_style(style.progress_chars("=> "));
    }
    bar.set_message(name.to_owned());
    bar
}

/// One object; the runs of a family stand in a list under its name.
fn json(problem: &Problem, results: &[RunResult], verdicts: &[Verdict]) -> Value {
    let mut runs = Map::new();
    for r in results {
        match &r.family {
            None => _ = runs.insert(r.name.clone(), r.json()),
            Some(family) => {
                let list = runs.entry(family.clone()).or_insert_with(|| json!([]));
                if let Some(list) = list.as_array_mut() {
                    list.push(r.json());
                }
            }
        }
    }
    let check = |v: &Verdict| json!({ "run": v.run, "what": v.what, "check": v.check, "holds": v.holds, "status": v.status.word() });
    let checks: Vec<_> = verdicts.iter().map(check).collect();
    json!({ "title": problem.title, "notes": problem.notes, "runs": runs, "checks": checks })
}

fn line(verdict: &Verdict) -> String {
    let mark = if verdict.holds { "ok   " } else { "FAILS" };
    let figures: Vec<String> = verdict
        .figures
        .iter()
        .map(|(name, value)| format!("{name} = {}", table::number(*value)))
        .collect();
    let run = verdict.run.as_ref().map(|name| format!("{name}: ")).unwrap_or_default();
    format!("{mark} {run}{} [{}]  {}\n", verdict.what, verdict.status.word(), figures.join(", "))
}

/// A failed, interrupted or refuted run makes the command fail.
fn conclude(problem: &Problem, results: &[RunResult], verdicts: &[Verdict]) -> Result<(), Error> {
    let mut failed = results.iter().filter(|r| !problem.foresees_failure(r));
    if let Some((name, why)) = failed.find_map(|r| r.failure.as_ref().map(|f| (&r.name, f))) {
        return Err(Error::FailedRun { name: name.clone(), why: why.clone() });
    }
    if let Some(result) = results.iter().find(|r| r.interrupted) {
        return Err(Error::Interrupted { name: result.name.clone() });
    }
    let cut = results.iter().find_map(|r| r.unwritten.clone().map(|why| (r.name.clone(), why)));
    if let Some((name, why)) = cut {
        return Err(Error::Unwritten { name, why });
    }
    let refuted = verdicts.iter().filter(|v| !v.holds).count();
    if refuted > 0 { Err(Error::Refuted(refuted)) } else { Ok(()) }
}
