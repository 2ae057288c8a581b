//! What can go wrong in a subcommand.

use std::path::PathBuf;

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
    #[error("{method} on a {family} of {size}: {source}")]
    Scaling {
        method: &'static str,
        family: &'static str,
        size: usize,
        source: nsm_bench::scaling::Error,
    },
    #[error(transparent)]
    Command(#[from] nsm::cli::Error),
    #[error("`{name}` is neither a paper, nor an experiment, nor a problem file")]
    UnknownExperiment { name: String },
    #[error("{0} check(s) do not hold")]
    Refuted(usize),
}

impl Error {
    /// An I/O failure at `path`.
    pub(crate) fn file(path: impl Into<PathBuf>, source: std::io::Error) -> Self {
        Self::File { path: path.into(), source }
    }
}
