//! `nsm check FILE`: reads a problem file and says what was understood.

use std::path::PathBuf;

use nsm_problem::Problem;
use nsm_report::description;

use super::{Error, say};

/// What `nsm check` is asked.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The problem file
    file: PathBuf,
}

/// Describes the problem; a run whose method does not fit makes it fail.
///
/// # Errors
/// If the file is wrong or a method does not fit.
pub fn run(args: &Args) -> Result<(), Error> {
    let problem = Problem::read(&args.file).map_err(Error::problem)?;
    say(&description::describe(&problem))?;
    for run in &problem.runs {
        let file = args.file.display().to_string();
        problem.bound(run).map_err(|e| Error::problem(e.in_file(&file)))?;
    }
    Ok(())
}
