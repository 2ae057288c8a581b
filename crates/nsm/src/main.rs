//! The binary `nsm`: runs problem files, compares methods. This file only parses; the commands are in
//! `nsm::cli`.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use nsm::cli::{compare, run};

#[derive(Parser)]
#[command(
    name = "nsm",
    version,
    about = "Nonsmooth mechanics: contacts, impacts, joints, switching constraints"
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Make the runs of a problem file
    Run(run::Args),
    /// Compare methods on the problem of a file
    Compare(compare::Args),
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Run(args) => run::run(&args),
        Command::Compare(args) => compare::run(&args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
