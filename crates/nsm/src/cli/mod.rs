//! The commands of `nsm`, one module each; other command lines call the same code.

pub mod check;
pub mod compare;
mod error;
mod folder;
pub mod formats;
pub mod import;
mod interrupt;
pub mod merge;
pub mod methods;
pub mod new;
pub mod run;
pub mod sweep;
mod sweep_table;

pub use error::Error;

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use nsm_report::Document;

const EXAMPLES: &str = "\
Examples:
  nsm new ball > ball.toml        a commented problem to start from
  nsm check ball.toml             what nsm understands of it
  nsm methods ball.toml           which methods fit, and what each keeps
  nsm import robot.urdf > robot.toml
  nsm run ball.toml               a table here; tables, plots and an animation in out/ball
  nsm compare ball.toml --methods gvi,hybrid,moreau-jean
  nsm sweep ball.toml --part 3/64 --resume    a share of a family, one row per member";

/// Simulates mechanical systems with hard contacts, impacts, joints and switching constraints.
///
/// A problem is a text file: what moves (coordinates with formulas, or rigid bodies), its initial state, the runs to
/// make and what must come out. Constraints are exact and impacts are events; nothing is softened by a penalty.
#[derive(Parser, Debug)]
#[command(name = "nsm", version, after_help = EXAMPLES)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Integrate the runs of a problem file; print their account, write tables, plots and an animation
    Run(run::Args),
    /// Set several integrators side by side on one problem: errors, orders, energy, time
    Compare(compare::Args),
    /// Make the members of families one by one, a row of a table each; in parts, and resumed where it was stopped
    Sweep(sweep::Args),
    /// Put the parts of a sweep together
    Merge(merge::Args),
    /// List the integrators: what each holds and keeps; with a file, which of them fit it and why others do not
    Methods(methods::Args),
    /// Read a problem file and say what was understood; integrate nothing
    Check(check::Args),
    /// Print a problem file made of a robot's URDF description
    Import(import::Args),
    /// Print a commented problem file to start from
    New(new::Args),
    /// Print a script that completes commands and options in your shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

/// The binary: reads the command line, obeys, and turns a failure into one line and an exit code.
pub fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Run(args) => run::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Sweep(args) => sweep::run(&args),
        Command::Merge(args) => merge::run(&args),
        Command::Methods(args) => methods::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Import(args) => import::run(&args),
        Command::New(args) => new::run(&args),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "nsm", &mut script);
            say(&String::from_utf8_lossy(&script))
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            warn(&format!("error: {error}"));
            ExitCode::FAILURE
        }
    }
}

/// Prints a result. A reader that has seen enough (`| head`) is no failure; a full disk is.
fn say(text: &str) -> Result<(), Error> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => Err(Error::Output(e)),
        _ => Ok(()),
    }
}

/// Tells the terminal; where even that cannot be written to, there is nobody to tell.
fn warn(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// Writes documents into a folder, which is made where there is none. A file is whole or not there.
fn save(folder: &Path, documents: &[Document]) -> Result<(), Error> {
    std::fs::create_dir_all(folder).map_err(|e| Error::file(folder, e))?;
    for document in documents {
        let path = folder.join(&document.name);
        let draft = folder.join(format!("{}.part", document.name));
        let written =
            std::fs::write(&draft, &document.text).and_then(|()| std::fs::rename(&draft, &path));
        if let Err(error) = written {
            let _ = std::fs::remove_file(&draft);
            return Err(Error::file(path, error));
        }
    }
    Ok(())
}
