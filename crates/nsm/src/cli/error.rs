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
    /// Ctrl-C in a sweep.
    #[error(
        "the sweep of `{name}` was interrupted; rows of members that were done are kept, `--resume` makes the others"
    )]
    InterruptedSweep {
        /// The family.
        name: String,
    },
    /// Members that failed; their rows say why.
    #[error("{failed} member(s) failed, the first at {name}: {why}; the table has a row for each")]
    FailedMembers {
        /// How many.
        failed: usize,
        /// The first of them.
        name: String,
        /// Why it failed.
        why: String,
    },
    /// A column of a sweep that cannot be filled.
    #[error("{why}")]
    Column {
        /// Which, and why.
        why: String,
    },
    /// Another process writes the table.
    #[error("{} is being written by another process", path.display())]
    BusySweep {
        /// The table.
        path: PathBuf,
    },
    /// Rows of an earlier sweep.
    #[error("{} holds rows of an earlier sweep: go on with `--resume`, or discard them with `--restart`", path.display())]
    StartedSweep {
        /// The table.
        path: PathBuf,
    },
    /// Rows of another problem.
    #[error("{} holds rows of another problem or other columns: the file has changed since; sweep it anew with `--restart`", path.display())]
    ChangedSweep {
        /// The table.
        path: PathBuf,
    },
    /// Nothing to merge.
    #[error("there are no parts of `{name}` in {}: make them with `nsm sweep FILE --part I/N`", folder.display())]
    NoParts {
        /// The family.
        name: String,
        /// Where they were looked for.
        folder: PathBuf,
    },
    /// Parts that do not cover the family.
    #[error(
        "{count} member(s) of `{name}` are missing, first {first}: sweep the other parts, finish stopped ones with `--resume`, or merge what is there with `--partial`"
    )]
    MissingMembers {
        /// The family.
        name: String,
        /// How many.
        count: usize,
        /// The first of them.
        first: String,
    },
    /// Parts of two divisions.
    #[error("member {member} of `{name}` is in two parts in {}: parts of different N lie there; remove those that are not meant", folder.display())]
    TwiceMade {
        /// The family.
        name: String,
        /// The member.
        member: usize,
        /// Where the parts are.
        folder: PathBuf,
    },
    /// A table in a form for pictures.
    #[error("the rows of a sweep are a table: `--format` is csv, parquet, or both")]
    NoTable,
    /// Built without Parquet.
    #[error("this `nsm` was built without Parquet: build it with the feature `parquet`")]
    NoParquet,
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
