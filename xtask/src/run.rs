//! `cargo xtask run FILE`: makes the runs of a problem file.

pub(crate) mod interrupt;
mod output;
pub(crate) mod table;

use std::path::{Path, PathBuf};

use indicatif::{ProgressBar, ProgressStyle};
use nsm_bench::problem::{Problem, Run, RunResult, Verdict, Watch};
use serde_json::{Map, json};

use crate::error::Error;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The problem file
    file: PathBuf,
    /// Make only the run with this name; may be given several times
    #[arg(long = "run", value_name = "NAME")]
    runs: Vec<String>,
    /// Folder for the tables, plots and the animation
    #[arg(long, value_name = "DIR", default_value = "out")]
    out: PathBuf,
    /// Print one JSON object instead of the table
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Error> {
    let problem = Problem::read(&args.file).map_err(Error::problem)?;
    let chosen = choose(&problem, &args.runs)?;
    let folder = args.out.join(args.file.file_stem().unwrap_or_default());
    let cancel = interrupt::flag();
    if !args.json {
        println!(
            "{}{}",
            problem.title,
            if problem.source.is_empty() {
                String::new()
            } else {
                format!("  ({})", problem.source)
            }
        );
    }
    let mut results = Vec::new();
    let mut verdicts = Vec::new();
    for run in chosen {
        let bar = progress_bar(run);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // between 0 and 1000
        let show = |share: f64| bar.set_position((share * 1000.0) as u64);
        let watch = Watch { progress: Some(&show), cancel: Some(cancel) };
        let result =
            problem.execute(run, Some(&folder), watch).map_err(|e| in_file(e, &args.file))?;
        bar.finish_and_clear();
        let complete = result.failure.is_none() && !result.interrupted;
        if complete {
            verdicts.push(problem.judge(&result).map_err(|e| in_file(e, &args.file))?);
        } else {
            verdicts.push(Vec::new());
        }
        let stop = result.interrupted;
        results.push(result);
        if stop {
            break;
        }
    }
    output::write(&problem, &results, &verdicts, &folder)?;
    if args.json {
        print_json(&problem, &results, &verdicts);
    } else {
        print!("{}", table::table(&results));
        verdicts.iter().flatten().for_each(print_verdict);
        println!("written to {}", folder.display());
    }
    conclude(&results, &verdicts)
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
    names
        .iter()
        .map(|name| {
            problem.runs.iter().find(|r| r.name == *name).ok_or_else(|| Error::UnknownRun {
                name: name.clone(),
                known: problem.runs.iter().map(|r| r.name.as_str()).collect::<Vec<_>>().join(", "),
            })
        })
        .collect()
}

fn in_file(error: nsm_bench::problem::ProblemError, file: &Path) -> Error {
    Error::problem(error.in_file(&file.display().to_string()))
}

/// A bar on the terminal with the time left; nothing where the output is not a terminal.
fn progress_bar(run: &Run) -> ProgressBar {
    let bar = ProgressBar::new(1000);
    if let Ok(style) = ProgressStyle::with_template("{msg} [{bar:40}] {percent}% {eta} left") {
        bar.set_style(style.progress_chars("=> "));
    }
    bar.set_message(run.name.clone());
    bar
}

fn print_json(problem: &Problem, results: &[RunResult], verdicts: &[Vec<Verdict>]) {
    let runs: Map<_, _> = results.iter().map(|r| (r.name.clone(), r.json())).collect();
    let checks: Vec<_> = results
        .iter()
        .zip(verdicts)
        .flat_map(|(r, list)| {
            list.iter().map(move |v| json!({ "run": r.name, "what": v.what, "check": v.check, "holds": v.holds, "status": v.status.word() }))
        })
        .collect();
    println!("{}", json!({ "title": problem.title, "runs": runs, "checks": checks }));
}

fn print_verdict(verdict: &Verdict) {
    let mark = if verdict.holds { "ok   " } else { "FAILS" };
    let figures: Vec<String> = verdict
        .figures
        .iter()
        .map(|(name, value)| format!("{name} = {}", table::number(*value)))
        .collect();
    println!("{mark} {} [{}]  {}", verdict.what, verdict.status.word(), figures.join(", "));
}

/// A failed, interrupted or refuted run makes the command fail.
fn conclude(results: &[RunResult], verdicts: &[Vec<Verdict>]) -> Result<(), Error> {
    if let Some((name, why)) = results.iter().find_map(|r| r.failure.as_ref().map(|f| (&r.name, f)))
    {
        return Err(Error::FailedRun { name: name.clone(), why: why.clone() });
    }
    if let Some(result) = results.iter().find(|r| r.interrupted) {
        return Err(Error::Interrupted { name: result.name.clone() });
    }
    let refuted = verdicts.iter().flatten().filter(|v| !v.holds).count();
    if refuted > 0 { Err(Error::Refuted(refuted)) } else { Ok(()) }
}
