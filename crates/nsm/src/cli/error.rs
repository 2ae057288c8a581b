//! What can go wrong in a command.

use std::path::PathBuf;

use nsm_problem::ProblemError;
use nsm_problem::compare::CompareError;

/// A failed command. The message says which file or run, and what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The result cannot be printed.
    #[error("standard output: {0}")]
    Output(std::io::Error),
    /// The output folder belongs to another problem file.
    #[error("{} holds the results of another problem file; choose another folder with `--out`", folder.display())]
    Taken {
        /// The folder.
        folder: PathBuf,
    },
    /// The tables of a run end early.
    #[error("the files of run `{name}` end before the run does: {why}")]
    Unwritten {
        /// The run.
        name: String,
        /// What the system says.
        why: String,
    },
    /// A problem file that cannot be used.
    #[error("{0}")]
    Problem(Box<ProblemError>),
    /// A robot that cannot be imported.
    #[error("{}: {source}", path.display())]
    Import {
        /// The file.
        path: PathBuf,
        /// Why.
        source: crate::urdf::ImportError,
    },
    /// A comparison that cannot be made.
    #[error(transparent)]
    Compare(#[from] CompareError),
    /// The file asks for no run.
    #[error("the file asks for no run: add a `[[run]]` with `method`, `step` and `end`")]
    NoRuns,
    /// A run is asked for that the file does not have.
    #[error("there is no run `{name}` in the file (it has: {known})")]
    UnknownRun {
        /// The name asked for.
        name: String,
        /// Those that there are.
        known: String,
    },
    /// A step failed.
    #[error("run `{name}` failed at {why}; everything up to there is kept")]
    FailedRun {
        /// The run.
        name: String,
        /// When, and why.
        why: String,
    },
    /// Ctrl-C.
    #[error("run `{name}` was interrupted; everything up to there is kept")]
    Interrupted {
        /// The run.
        name: String,
    },
    /// No method takes part in a comparison.
    #[error("none of the methods fits the problem")]
    NothingFits,
    /// Expectations that do not hold.
    #[error("{0} check(s) do not hold")]
    Refuted(usize),
}

impl Error {
    pub(super) fn problem(error: ProblemError) -> Self {
        Self::Problem(Box::new(error))
    }

    pub(super) fn file(path: impl Into<PathBuf>, source: std::io::Error) -> Self {
        Self::File { path: path.into(), source }
    }
}
