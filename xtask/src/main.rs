//! `cargo xtask`: the command line of the workspace. One module per subcommand; this file only parses.

// What a command line prints is its result.
#![allow(clippy::print_stdout)]

mod bench_table;
mod error;
mod reproduce;
mod scaling;
mod tidy;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use nsm::cli::{compare, run};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Tasks of the nsm workspace")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Make the experiments of the papers and write the report
    Reproduce(reproduce::Args),
    /// Make the runs of a problem file
    Run(run::Args),
    /// Compare methods on the problem of a file
    Compare(compare::Args),
    /// Check what the compiler does not: layering, docs, file sizes, formulas, citations
    Tidy,
    /// Write the median times of a crate's benches beside the peers' figures
    BenchTable(bench_table::Args),
    /// Measure how the cost of a step grows with chains and beams, and fit exponents
    Scaling(scaling::Args),
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Reproduce(args) => reproduce::run(&workspace::root(), &args),
        Command::Run(args) => run::run(&args).map_err(Into::into),
        Command::Compare(args) => compare::run(&args).map_err(Into::into),
        Command::Tidy => tidy::run(&workspace::root()),
        Command::BenchTable(args) => bench_table::run(&workspace::root(), &args),
        Command::Scaling(args) => scaling::run(&workspace::root(), &args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
