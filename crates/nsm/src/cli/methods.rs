//! `nsm methods [FILE]`: the methods, what each holds and keeps, and which of them fit a problem.

use std::path::PathBuf;

use nsm_problem::Problem;
use nsm_report::description;

use super::{Error, say};

/// What `nsm methods` is asked.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// A problem file: which methods fit it, and why others do not
    file: Option<PathBuf>,
    /// Print the table of the documentation
    #[arg(long, hide = true, conflicts_with = "file")]
    markdown: bool,
}

/// Lists the methods.
///
/// # Errors
/// If the file is wrong.
pub fn run(args: &Args) -> Result<(), Error> {
    match &args.file {
        None if args.markdown => say(&nsm_problem::markdown()),
        None => say(&description::methods()),
        Some(file) => {
            let problem = Problem::read(file).map_err(Error::problem)?;
            say(&description::methods_for(&problem))
        }
    }
}
