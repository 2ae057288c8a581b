//! One experiment of the suite: where it comes from, and what came of it.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nsm_bench::{Effort, Scenario, Table};
use nsm_problem::{Axes, Curve, Origin, Problem, Run, RunResult, Status, Verdict, Watch};
use nsm_report::plot::runs::{FILMED, drawn, plots, shown};
use nsm_report::scene::Scene;
use nsm_report::table::{self, number};
use rayon::prelude::*;

use crate::error::Error;

/// Where an experiment is described.
pub(crate) enum Source {
    /// A problem file.
    File { id: String, path: PathBuf },
    /// Code, for what is no run of a system: condition numbers, kinematics, figures in a form of their own.
    Code(Scenario),
}

/// A claim, decided.
pub(crate) struct Claim {
    pub(crate) what: String,
    pub(crate) status: Status,
    pub(crate) holds: bool,
    /// The numbers that decide, as text.
    pub(crate) figures: String,
    /// Where the expected number comes from.
    pub(crate) origin: Option<Origin>,
    pub(crate) note: String,
}

/// An experiment that has been made.
pub(crate) struct Entry {
    pub(crate) id: String,
    /// Where it stands in its paper.
    pub(crate) figure: String,
    pub(crate) title: String,
    pub(crate) note: String,
    pub(crate) claims: Vec<Claim>,
    pub(crate) curves: Vec<Curve>,
    /// How panels are drawn, by their labels.
    pub(crate) axes: Vec<((String, String), Axes)>,
    pub(crate) tables: Vec<Table>,
    /// The runs as moving pictures.
    pub(crate) scenes: Vec<(String, Scene)>,
    /// The ledgers of its runs, as text.
    pub(crate) ledger: String,
    /// Data from elsewhere without which there is no verdict.
    pub(crate) missing: Option<String>,
    /// Why it could not be made.
    pub(crate) failure: Option<String>,
    pub(crate) time: Duration,
}

impl Source {
    /// The problem files under `benchmarks/` and the scenarios in code, in the order of their names.
    pub(crate) fn all(root: &Path) -> Result<Vec<Self>, Error> {
        let home = root.join("benchmarks");
        let mut sources = Vec::new();
        for folder in sorted(&home)?.into_iter().filter(|p| p.is_dir()) {
            for path in sorted(&folder)? {
                if path.extension().is_some_and(|e| e == "toml") {
                    let id = path.strip_prefix(&home).unwrap_or(&path);
                    sources.push(Self::File { id: id.display().to_string(), path: path.clone() });
                }
            }
        }
        sources.extend(nsm_bench::scenarios().into_iter().map(Self::Code));
        sources.sort_by(|a, b| a.id().cmp(b.id()));
        Ok(sources)
    }

    fn id(&self) -> &str {
        match self {
            Self::File { id, .. } => id,
            Self::Code(scenario) => &scenario.id,
        }
    }

    /// Whether a name given on the command line means this experiment: its paper, itself, or its file.
    pub(crate) fn matches(&self, name: &str) -> bool {
        let id = self.id();
        id == name
            || id.split('/').next() == Some(name)
            || matches!(self, Self::File { path, .. } if path.ends_with(name))
    }

    /// Makes the experiment; failure is part of the outcome.
    pub(crate) fn run(&self, effort: Effort) -> Entry {
        let clock = Instant::now();
        let mut entry = match self {
            Self::File { id, path } => run_file(id, path, effort),
            Self::Code(scenario) => run_code(scenario, effort),
        };
        entry.time = clock.elapsed();
        entry
    }
}

impl Entry {
    fn new(id: &str) -> Self {
        Self {
            id: id.to_owned(),
            figure: String::new(),
            title: String::new(),
            note: String::new(),
            claims: Vec::new(),
            curves: Vec::new(),
            axes: Vec::new(),
            tables: Vec::new(),
            scenes: Vec::new(),
            ledger: String::new(),
            missing: None,
            failure: None,
            time: Duration::ZERO,
        }
    }

    /// Whether nothing speaks against it: every claim holds, or there were no data to decide by.
    pub(crate) fn holds(&self) -> bool {
        let decided = self.failure.is_none() && !self.claims.is_empty();
        self.missing.is_some() || (decided && self.claims.iter().all(|c| c.holds))
    }

    /// Whether it is described in code, and opens with the paper's own statement.
    pub(crate) fn is_code(&self) -> bool {
        Path::new(&self.id).extension().is_none_or(|e| e != "toml")
    }

    /// How many of its claims came out how.
    pub(crate) fn counts(&self) -> Vec<(&'static str, usize)> {
        if self.missing.is_some() {
            return vec![("skipped", 1)];
        }
        if self.failure.is_some() || self.claims.is_empty() {
            return vec![("FAILED", 1)];
        }
        let failed = self.claims.iter().filter(|c| !c.holds).count();
        let held = Status::ALL.map(|status| {
            (status.word(), self.claims.iter().filter(|c| c.holds && c.status == status).count())
        });
        let counts = [("FAILED", failed)].into_iter().chain(held);
        counts.filter(|(_, n)| *n > 0).collect()
    }
}

fn sorted(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let read = || -> std::io::Result<Vec<PathBuf>> {
        std::fs::read_dir(folder)?.map(|entry| entry.map(|e| e.path())).collect()
    };
    let mut paths = read().map_err(|e| Error::file(folder, e))?;
    paths.sort();
    Ok(paths)
}

fn run_code(scenario: &Scenario, effort: Effort) -> Entry {
    let mut entry = Entry::new(&scenario.id);
    entry.figure.clone_from(&scenario.figure);
    entry.title.clone_from(&scenario.claim);
    entry.note.clone_from(&scenario.note);
    match scenario.run(effort) {
        Err(error) => entry.failure = Some(error.to_string()),
        Ok(findings) => {
            entry.missing = findings.missing;
            entry.curves = findings.curves;
            entry.axes = findings.axes;
            entry.tables = findings.tables;
            entry.claims = findings
                .checks
                .iter()
                .map(|check| Claim {
                    what: check.what.clone(),
                    status: scenario.status,
                    holds: check.passes(),
                    figures: format!("{} (expected {})", number(check.value), check.expected),
                    origin: Origin::of(scenario.status),
                    note: String::new(),
                })
                .collect();
        }
    }
    entry
}

/// Longest run of a problem file with `--quick`, in steps.
const QUICK_STEPS: usize = 200_000;
/// Most steps of a family with `--quick`.
const QUICK_FAMILY: usize = 1_000_000;

fn run_file(id: &str, path: &Path, effort: Effort) -> Entry {
    let mut entry = Entry::new(id);
    let problem = match Problem::read(path) {
        Ok(problem) => problem,
        Err(error) => {
            entry.failure = Some(error.to_string());
            return entry;
        }
    };
    entry.title.clone_from(&problem.title);
    entry.figure.clone_from(&problem.source);
    let watch = Watch { clock: Some(&nsm::wall_clock), ..Watch::default() };
    // Runs are independent of each other, and land in their places.
    let made: Result<Vec<RunResult>, _> = problem
        .runs
        .par_iter()
        .filter(|run| effort == Effort::Full || affordable(run, &problem))
        .map(|run| problem.execute(run, None, watch))
        .collect();
    let judged = made.and_then(|results| Ok((problem.judge(&results)?, results)));
    let (verdicts, results) = match judged {
        Ok(judged) => judged,
        Err(error) => {
            entry.failure = Some(error.to_string());
            return entry;
        }
    };
    let mut failed = results.iter().filter(|r| !problem.foresees_failure(r));
    entry.failure =
        failed.find_map(|r| r.failure.as_ref().map(|why| format!("{} failed at {why}", r.name)));
    if entry.failure.is_none() {
        let unforeseen = |r: &RunResult| {
            let warnings = problem.unforeseen_warnings(r);
            let what = "warns, and no expectation speaks of `warnings`";
            warnings.first().map(|w| format!("{} {what}: {w}", r.name))
        };
        entry.failure = results.iter().find_map(unforeseen);
    }
    entry.claims = verdicts.into_iter().map(claim).collect();
    if effort == Effort::Quick && entry.claims.is_empty() && entry.failure.is_none() {
        entry.missing = Some("its runs are too long for --quick".to_owned());
    }
    if effort == Effort::Full && entry.claims.is_empty() && entry.failure.is_none() {
        entry.failure = Some("the file states nothing to check: add an `[[expect]]`".to_owned());
    }
    match problem.draw(&results) {
        Err(error) => entry.failure = Some(error.to_string()),
        Ok(figures) => {
            for (axes, curves) in figures {
                entry.axes.extend(curves.first().map(|c| ((c.x.clone(), c.y.clone()), axes)));
                entry.curves.extend(curves);
            }
        }
    }
    let drawn = drawn(&results);
    let scene = |r: &&RunResult| (r.name.clone(), Scene::of(&problem, r));
    entry.scenes = shown(&results, FILMED).iter().map(scene).collect();
    for plot in plots(&problem.subject, &problem.units, &drawn) {
        entry.axes.extend(plot.curves.first().map(|c| ((c.x.clone(), c.y.clone()), plot.axes)));
        entry.curves.extend(plot.curves);
    }
    entry.ledger = table::table(&drawn);
    entry
}

fn claim(verdict: Verdict) -> Claim {
    let run = verdict.run.map(|name| format!("{name}: ")).unwrap_or_default();
    let figures = verdict.figures.iter().map(|(n, x)| format!("{n} = {}", number(*x)));
    Claim {
        what: format!("{run}{}", verdict.what),
        status: verdict.status,
        holds: verdict.holds,
        figures: figures.collect::<Vec<_>>().join(", "),
        origin: verdict.origin,
        note: verdict.note,
    }
}

/// Whether a run, with all of its family, is short enough for `--quick`.
fn affordable(run: &Run, problem: &Problem) -> bool {
    let family = problem.runs.iter().filter(|r| r.family.is_some() && r.family == run.family);
    run.steps <= QUICK_STEPS && family.map(|r| r.steps).sum::<usize>() <= QUICK_FAMILY
}

#[cfg(test)]
mod tests {
    use nsm_bench::Findings;

    use super::*;

    #[test]
    fn without_data_there_is_no_verdict_and_no_failure() {
        let run = |findings: Findings| {
            let experiment = move |_| Ok(findings.clone());
            let scenario = Scenario::new("a/b", "c", "d", Status::Reproduced, experiment);
            Source::Code(scenario).run(Effort::Quick)
        };
        let skipped = run(Findings::missing("no reference solution"));
        assert_eq!((skipped.counts(), skipped.holds()), (vec![("skipped", 1)], true));
        assert_eq!(skipped.missing.as_deref(), Some("no reference solution"));
        let empty = run(Findings::default());
        assert_eq!((empty.counts(), empty.holds()), (vec![("FAILED", 1)], false));
    }
}
