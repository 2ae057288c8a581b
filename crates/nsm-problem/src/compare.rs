//! One problem, several methods, several steps.
//!
//! Every method makes the same run at every step. Positions are compared, at the instants that a run and the
//! reference have in common, with a reference: the first of the methods that converges at its order and to the same as
//! a method of another kind, at an eighth of the finest step. How far that is from the same method at a quarter says how far the
//! reference can be trusted. Where no method qualifies, there are no errors but the scatter of all.

mod judge;
mod precision;

use std::sync::atomic::AtomicBool;

use crate::{Method, Problem, ProblemError, Run, RunResult, Sampling, Units, Watch};
use precision::{error_between, order};

/// What is to be compared.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// Methods by their names, or runs of the file for their methods and options.
    pub methods: Vec<String>,
    /// Step sizes; without them, five halvings from twice the file's step on.
    pub steps: Vec<f64>,
    /// End time; without it, the shortest run of the file, at most 20 000 of its steps.
    pub end: Option<f64>,
    /// The method that makes the reference, whatever can be said for it; without it, the first that may judge.
    pub reference: Option<String>,
}

/// Told of every run: runs made, runs to make, and what is being made.
pub type Progress<'a> = &'a dyn Fn(usize, usize, &str);

/// What is told of a comparison while it lasts, and what may end it.
#[derive(Clone, Copy, Default)]
pub struct Onlooker<'a> {
    /// Told before every run.
    pub progress: Option<Progress<'a>>,
    /// Ends the comparison once it is set.
    pub cancel: Option<&'a AtomicBool>,
    /// Measures the time of the runs, as in [`Watch`].
    pub clock: Option<&'a (dyn Fn() -> f64 + Sync)>,
}

/// Why there is no comparison.
#[derive(Debug, thiserror::Error)]
pub enum CompareError {
    /// A run cannot be made.
    #[error("{0}")]
    Problem(Box<ProblemError>),
    /// Steps and end are neither asked for nor in the file.
    #[error("the file asks for no run: add a `[[run]]` with `method`, `step` and `end`")]
    NoRuns,
    /// The comparison was interrupted.
    #[error("run `{name}` was interrupted; everything up to there is kept")]
    Interrupted {
        /// Where.
        name: String,
    },
    /// The reference is to be made by a method that does not take part.
    #[error("`{name}` cannot make the reference: it is none of the methods that fit ({known})")]
    Reference {
        /// The method asked for.
        name: String,
        /// Those that could.
        known: String,
    },
    /// A name that means nothing.
    #[error(
        "`{name}` is neither a method nor a run of the file; docs/methods.md lists the methods"
    )]
    UnknownMethod {
        /// The name.
        name: String,
    },
    /// A step or an end that makes no sense.
    #[error("{0} is not a positive number")]
    Positive(f64),
}

impl From<ProblemError> for CompareError {
    fn from(error: ProblemError) -> Self {
        Self::Problem(Box::new(error))
    }
}

/// Runs shorter than this many seconds are repeated, to measure their time.
const SHORT: f64 = 0.05;
/// How often at most.
const REPEATS: usize = 5;

/// A method at every step.
#[derive(Clone, Debug)]
pub struct Contender {
    /// The method, or the run of the file that names it.
    pub name: String,
    /// Its runs, from the coarsest step to the finest.
    pub trials: Vec<Trial>,
}

/// A method at one step.
#[derive(Clone, Debug)]
pub struct Trial {
    /// What the run left.
    pub result: RunResult,
    /// Largest deviation of a position from the reference.
    pub error: Option<f64>,
    /// Observed order against the step before.
    pub order: Option<f64>,
}

/// Everything that a comparison found.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// Title of the problem.
    pub title: String,
    /// In what its numbers are meant.
    pub units: Units,
    /// End time of all runs.
    pub end: f64,
    /// Index of the step at which the ledgers are compared.
    pub base: usize,
    /// The steps, from coarse to fine.
    pub steps: Vec<f64>,
    /// The methods that took part.
    pub contenders: Vec<Contender>,
    /// Methods that did not take part, and why.
    pub refused: Vec<(String, String)>,
    /// What errors are measured against, if a method may judge the others.
    pub reference: Option<Reference>,
    /// How far the methods are apart at the finest step.
    pub scatter: Option<f64>,
}

/// What positions are compared with.
#[derive(Clone, Debug)]
pub struct Reference {
    /// The method that made it.
    pub method: String,
    /// Its step.
    pub step: f64,
    /// How far it is from the same method at twice its step: what errors below mean nothing.
    pub trust: Option<f64>,
    /// The method of another kind that converges to the same; none if the reference was asked for.
    pub confirmed_by: Option<String>,
}

/// Makes the comparison.
///
/// # Errors
/// If nothing can be compared; a method that does not fit is no error but stands among the
/// [refused](Comparison::refused).
pub fn compare(
    problem: &Problem,
    asked: &Asked,
    onlooker: Onlooker<'_>,
) -> Result<Comparison, CompareError> {
    let (steps, base, end) = plan(problem, asked)?;
    let mut makers = Vec::new();
    let mut refused = Vec::new();
    for name in &asked.methods {
        let options = match problem.runs.iter().find(|r| r.name == *name) {
            Some(run) => run.options.clone(),
            None if Method::facts(name).is_some() => format!("method = {name:?}"),
            None => return Err(CompareError::UnknownMethod { name: name.clone() }),
        };
        match fits(problem, name, &options, steps[base], end) {
            Ok(()) => makers.push((name.as_str(), options)),
            Err(why) => refused.push((name.clone(), why)),
        }
    }
    let all = makers.len() * steps.len() + 6;
    let mut done = 0;
    let coarsest = steps.iter().copied().fold(0.0, f64::max);
    let finest = steps.iter().copied().fold(f64::INFINITY, f64::min);
    let mut make = |name: &str, options: &str, h: f64| {
        if let Some(show) = onlooker.progress {
            show(done.min(all), all, &format!("{name}, step {h}"));
        }
        done += 1;
        // Instants that all steps have in common, about a hundred of them.
        let whole = (end / coarsest / 100.0).ceil().max(1.0) * (coarsest / h).round().max(1.0);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a count of steps
        let every = Sampling::Every(whole as usize);
        let run = problem.another_run(name, options, (h, end), every)?;
        let watch = Watch { cancel: onlooker.cancel, clock: onlooker.clock, ..Watch::default() };
        let mut result = problem.execute(&run, None, watch)?;
        // The time of a short run is the least of a few: anything else on the machine only adds to it.
        let mut spent = result.seconds.unwrap_or(f64::INFINITY);
        for _ in 1..REPEATS {
            if spent > SHORT || result.failure.is_some() || result.interrupted {
                break;
            }
            let again = problem.execute(&run, None, watch)?;
            spent += again.seconds.unwrap_or(f64::INFINITY);
            result.seconds = result.seconds.zip(again.seconds).map(|(a, b)| a.min(b));
        }
        if result.interrupted {
            return Err(CompareError::Interrupted { name: format!("{name}, step {h}") });
        }
        Ok(result)
    };
    let judge = match &asked.reference {
        None => judge::find(&makers, finest, &mut make)?,
        Some(name) => {
            let chosen = makers.iter().find(|(n, _)| n == name);
            let (name, options) = chosen.ok_or_else(|| CompareError::Reference {
                name: name.clone(),
                known: makers.iter().map(|(n, _)| *n).collect::<Vec<_>>().join(", "),
            })?;
            let fine = make(name, options, finest / 8.0)?;
            let trust = error_between(&make(name, options, finest / 4.0)?, &fine);
            let (method, step) = ((*name).to_owned(), finest / 8.0);
            Some((Reference { method, step, trust, confirmed_by: None }, fine))
        }
    };
    let (reference, exact) = judge.unzip();
    let mut contenders = Vec::new();
    for (name, options) in &makers {
        let mut trials: Vec<Trial> = Vec::new();
        for &h in &steps {
            let result = make(name, options, h)?;
            let error = exact.as_ref().and_then(|e| error_between(&result, e));
            let before = trials.last().and_then(|t| Some((t.result.step, t.error?)));
            let order = before.zip(error).and_then(|(b, e)| order(b, (h, e)));
            trials.push(Trial { result, error, order });
        }
        contenders.push(Contender { name: (*name).to_owned(), trials });
    }
    let (title, units) = (problem.title.clone(), problem.units.clone());
    let scatter = scatter(&contenders);
    Ok(Comparison { title, units, end, base, steps, contenders, refused, reference, scatter })
}

/// The largest distance between two methods at the finest step.
fn scatter(contenders: &[Contender]) -> Option<f64> {
    let finest = || contenders.iter().filter_map(|c| c.trials.last());
    let pairs = finest().flat_map(|a| finest().map(move |b| (&a.result, &b.result)));
    pairs.filter_map(|(a, b)| error_between(a, b)).reduce(f64::max)
}

/// The steps from coarse to fine, the one at which ledgers are compared, and the end time.
fn plan(problem: &Problem, asked: &Asked) -> Result<(Vec<f64>, usize, f64), CompareError> {
    let file_step = problem.runs.iter().map(|r| r.step).fold(0.0, f64::max);
    if asked.steps.is_empty() && file_step == 0.0 {
        return Err(CompareError::NoRuns);
    }
    let bad = |&&h: &&f64| !(h.is_finite() && h > 0.0);
    if let Some(&h) = asked.steps.iter().chain(&asked.end).find(bad) {
        return Err(CompareError::Positive(h));
    }
    let mut steps = asked.steps.clone();
    if steps.is_empty() {
        steps = (0..5).map(|k| 2.0 * file_step / f64::from(1 << k)).collect();
    }
    steps.sort_by(|a, b| b.total_cmp(a));
    steps.dedup();
    let off = |h: &f64| (h / if file_step > 0.0 { file_step } else { steps[0] }).ln().abs();
    let base =
        (0..steps.len()).min_by(|&a, &b| off(&steps[a]).total_cmp(&off(&steps[b]))).unwrap_or(0);
    let shortest = problem.runs.iter().map(run_time).fold(f64::INFINITY, f64::min);
    let end = asked.end.unwrap_or_else(|| shortest.min(20_000.0 * steps[base]));
    if !end.is_finite() {
        return Err(CompareError::NoRuns);
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
    problem.bound(&run.map_err(|e| e.message)?).map(|_| ()).map_err(|e| e.message)
}
