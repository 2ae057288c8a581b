//! What can go wrong in a subcommand.

use std::path::PathBuf;

use nsm_bench::problem::ProblemError;

/// A failed subcommand. The message says which file or command, and what to do about it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: std::io::Error },
    #[error("{}: not the JSON expected: {source}", path.display())]
    Json { path: PathBuf, source: serde_json::Error },
    #[error("`{command}` failed: {reason}")]
    Cargo { command: String, reason: String },
    #[error("{0} problem(s), listed above")]
    Untidy(usize),
    #[error("no results for {package}: run `cargo bench -p {package}` first (looked in {})", home.display())]
    NoResults { package: String, home: PathBuf },
    #[error("{0}")]
    Problem(Box<ProblemError>),
    #[error("the file asks for no run: add a `[[run]]` with `method`, `step` and `end`")]
    NoRuns,
    #[error("there is no run `{name}` in the file (it has: {known})")]
    UnknownRun { name: String, known: String },
    #[error("run `{name}` failed at {why}; everything up to there is kept")]
    FailedRun { name: String, why: String },
    #[error("run `{name}` was interrupted; everything up to there is kept")]
    Interrupted { name: String },
    #[error("`{name}` is neither a paper, nor an experiment, nor a problem file")]
    UnknownExperiment { name: String },
    #[error("`{name}` cannot make the reference: it is none of the methods that fit ({known})")]
    Reference { name: String, known: String },
    #[error(
        "`{name}` is neither a method nor a run of the file; docs/methods.md lists the methods"
    )]
    UnknownMethod { name: String },
    #[error("none of the methods fits the problem")]
    NothingFits,
    #[error("{0} is not a positive number")]
    Positive(f64),
    #[error("{0} check(s) do not hold")]
    Refuted(usize),
}

impl Error {
    /// A problem file that cannot be used.
    pub(crate) fn problem(error: ProblemError) -> Self {
        Self::Problem(Box::new(error))
    }

    /// An I/O failure at `path`.
    pub(crate) fn file(path: impl Into<PathBuf>, source: std::io::Error) -> Self {
        Self::File { path: path.into(), source }
    }
}
