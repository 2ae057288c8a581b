//! `cargo xtask compare FILE --methods a,b,c`: one problem, several methods, several steps, one table.
//!
//! Every method makes the same run at every step. Positions are compared, at the instants that a run and the
//! reference have in common, with a reference: one of the methods at an eighth of the finest step. How
//! far that is from the same method at a quarter says how far the reference can be trusted.

mod output;
mod precision;

use std::path::PathBuf;

use indicatif::{ProgressBar, ProgressStyle};
use nsm_bench::problem::{Method, Problem, Run, RunResult, Sampling, Watch};

use crate::error::Error;
use crate::run::interrupt;
use precision::{error_between, order};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The problem file
    file: PathBuf,
    /// Methods by their names, or runs of the file for their methods and options
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', required = true)]
    methods: Vec<String>,
    /// Step sizes; without them, five halvings from twice the file's step on
    #[arg(long, value_name = "H,…", value_delimiter = ',')]
    steps: Vec<f64>,
    /// End time; without it, the shortest run of the file, at most 20 000 of its steps
    #[arg(long, value_name = "T")]
    end: Option<f64>,
    /// The method that makes the reference; without it, the first that fits
    #[arg(long, value_name = "NAME")]
    reference: Option<String>,
    /// Folder for the plots and the page
    #[arg(long, value_name = "DIR", default_value = "out")]
    out: PathBuf,
    /// Print one JSON object instead of the table
    #[arg(long)]
    json: bool,
}

/// Runs shorter than this many seconds are repeated, to measure their time.
const SHORT: f64 = 0.05;
/// How often at most.
const REPEATS: usize = 5;

/// A method at every step.
pub(crate) struct Contender {
    pub(crate) name: String,
    pub(crate) trials: Vec<Trial>,
}

/// A method at one step.
pub(crate) struct Trial {
    pub(crate) result: RunResult,
    /// Largest deviation of a position from the reference.
    pub(crate) error: Option<f64>,
    /// Observed order against the step before.
    pub(crate) order: Option<f64>,
}

/// Everything that a comparison found.
pub(crate) struct Comparison {
    pub(crate) title: String,
    pub(crate) end: f64,
    /// Index of the step at which the ledgers are compared.
    pub(crate) base: usize,
    pub(crate) steps: Vec<f64>,
    pub(crate) contenders: Vec<Contender>,
    /// Methods that did not take part, and why.
    pub(crate) refused: Vec<(String, String)>,
    pub(crate) reference: Option<Reference>,
}

/// What positions are compared with.
pub(crate) struct Reference {
    pub(crate) method: String,
    pub(crate) step: f64,
    /// How far it is from the same method at twice its step: what errors below mean nothing.
    pub(crate) trust: Option<f64>,
}

pub(crate) fn run(args: &Args) -> Result<(), Error> {
    let problem = Problem::read(&args.file).map_err(Error::problem)?;
    let (steps, base, end) = plan(&problem, args)?;
    let mut makers = Vec::new();
    let mut refused = Vec::new();
    for name in &args.methods {
        let options = match problem.runs.iter().find(|r| r.name == *name) {
            Some(run) => run.options.clone(),
            None if Method::exists(name) => format!("method = {name:?}"),
            None => return Err(Error::UnknownMethod { name: name.clone() }),
        };
        match fits(&problem, name, &options, steps[base], end) {
            Ok(()) => makers.push((name.as_str(), options)),
            Err(why) => refused.push((name.clone(), why)),
        }
    }
    let bar = ProgressBar::new((makers.len() * steps.len() + 2) as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} {msg} ({eta} left)") {
        bar.set_style(style);
    }
    let make = |name: &str, options: &str, h: f64, coarsest: f64| {
        bar.set_message(format!("{name}, step {h}"));
        // Instants that all steps have in common, about a hundred of them.
        let whole = (end / coarsest / 100.0).ceil().max(1.0) * (coarsest / h).round().max(1.0);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a count of steps
        let every = Sampling::Every(whole as usize);
        let run = problem.another_run(name, options, (h, end), every).map_err(Error::problem)?;
        let watch = Watch { progress: None, cancel: Some(interrupt::flag()) };
        let mut result = problem.execute(&run, None, watch).map_err(Error::problem)?;
        // The time of a short run is the least of a few: anything else on the machine only adds to it.
        let mut spent = result.seconds;
        for _ in 1..REPEATS {
            if spent > SHORT || result.failure.is_some() || result.interrupted {
                break;
            }
            let again = problem.execute(&run, None, watch).map_err(Error::problem)?;
            spent += again.seconds;
            result.seconds = result.seconds.min(again.seconds);
        }
        bar.inc(1);
        if result.interrupted {
            return Err(Error::Interrupted { name: format!("{name}, step {h}") });
        }
        Ok(result)
    };
    let coarsest = steps.iter().copied().fold(0.0, f64::max);
    let finest = steps.iter().copied().fold(f64::INFINITY, f64::min);
    let chosen = match &args.reference {
        None => makers.first(),
        Some(name) => {
            Some(makers.iter().find(|(n, _)| n == name).ok_or_else(|| Error::Reference {
                name: name.clone(),
                known: makers.iter().map(|(n, _)| *n).collect::<Vec<_>>().join(", "),
            })?)
        }
    };
    let mut exact = None;
    let mut reference = None;
    if let Some((name, options)) = chosen {
        let fine = make(name, options, finest / 8.0, coarsest)?;
        let check = make(name, options, finest / 4.0, coarsest)?;
        let trust = error_between(&check, &fine);
        reference = Some(Reference { method: (*name).to_owned(), step: finest / 8.0, trust });
        exact = Some(fine);
    }
    let mut contenders = Vec::new();
    for (name, options) in &makers {
        let mut trials: Vec<Trial> = Vec::new();
        for &h in &steps {
            let result = make(name, options, h, coarsest)?;
            let error = exact.as_ref().and_then(|e| error_between(&result, e));
            let before = trials.last().and_then(|t| Some((t.result.step, t.error?)));
            let order = before.zip(error).and_then(|(b, e)| order(b, (h, e)));
            trials.push(Trial { result, error, order });
        }
        contenders.push(Contender { name: (*name).to_owned(), trials });
    }
    bar.finish_and_clear();
    let title = problem.title.clone();
    let found = Comparison { title, end, base, steps, contenders, refused, reference };
    let folder = args.out.join(args.file.file_stem().unwrap_or_default());
    output::write(&found, &folder)?;
    if args.json {
        println!("{}", output::json(&found));
    } else {
        print!("{}", output::text(&found));
        println!("written to {}", folder.display());
    }
    if found.contenders.is_empty() { Err(Error::NothingFits) } else { Ok(()) }
}

/// The steps from coarse to fine, the one at which ledgers are compared, and the end time.
fn plan(problem: &Problem, args: &Args) -> Result<(Vec<f64>, usize, f64), Error> {
    let file_step = problem.runs.iter().map(|r| r.step).fold(0.0, f64::max);
    if args.steps.is_empty() && file_step == 0.0 {
        return Err(Error::NoRuns);
    }
    let bad = |&&h: &&f64| !(h.is_finite() && h > 0.0);
    if let Some(&h) = args.steps.iter().chain(&args.end).find(bad) {
        return Err(Error::Positive(h));
    }
    let mut steps = args.steps.clone();
    if steps.is_empty() {
        steps = (0..5).map(|k| 2.0 * file_step / f64::from(1 << k)).collect();
    }
    steps.sort_by(|a, b| b.total_cmp(a));
    steps.dedup();
    let off = |h: &f64| (h / if file_step > 0.0 { file_step } else { steps[0] }).ln().abs();
    let base =
        (0..steps.len()).min_by(|&a, &b| off(&steps[a]).total_cmp(&off(&steps[b]))).unwrap_or(0);
    let shortest = problem.runs.iter().map(run_time).fold(f64::INFINITY, f64::min);
    let end = args.end.unwrap_or_else(|| shortest.min(20_000.0 * steps[base]));
    if !end.is_finite() {
        return Err(Error::NoRuns);
    }
    // Whole numbers of the coarsest step, so that every run ends at the same instant.
    Ok((steps.clone(), base, (end / steps[0]).round().max(1.0) * steps[0]))
}

fn run_time(run: &Run) -> f64 {
    run.step * run.steps as f64
}

/// Whether a method can be bound to the problem: what it says if not.
fn fits(problem: &Problem, name: &str, options: &str, h: f64, end: f64) -> Result<(), String> {
    let run = problem.another_run(name, options, (h, end), Sampling::Count(1));
    let mut run = run.map_err(|e| e.message)?;
    run.steps = 0;
    problem.execute(&run, None, Watch::default()).map(|_| ()).map_err(|e| e.message)
}
