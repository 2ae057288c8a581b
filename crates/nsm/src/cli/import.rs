//! `nsm import robot.urdf > robot.toml`: a robot from URDF as a problem file.

use std::path::{Path, PathBuf};

use super::{Error, say, warn};
use crate::urdf::{Options, import};

/// What `nsm import` is asked.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The URDF file
    file: PathBuf,
    /// Leave the root link free; it is fixed to the ground otherwise
    #[arg(long)]
    floating: bool,
    /// Leave meshes out
    #[arg(long)]
    no_meshes: bool,
    /// Where a joint stands at the start, as in `--at elbow=0.5`
    #[arg(long, value_name = "JOINT=POSITION", value_parser = position)]
    at: Vec<(String, f64)>,
}

fn position(text: &str) -> Result<(String, f64), String> {
    let (joint, value) = text.split_once('=').ok_or("expected JOINT=POSITION")?;
    let value: f64 = value.parse().map_err(|_| format!("`{value}` is no number"))?;
    if value.is_finite() { Ok((joint.to_owned(), value)) } else { Err("not finite".to_owned()) }
}

/// Prints the problem file; notes go to the terminal.
///
/// # Errors
/// If the file cannot be read or is no robot that moves.
pub fn run(args: &Args) -> Result<(), Error> {
    let text = std::fs::read_to_string(&args.file).map_err(|e| Error::file(&args.file, e))?;
    let folder = args.file.parent().unwrap_or(Path::new("."));
    let options = Options {
        floating: args.floating,
        no_meshes: args.no_meshes,
        positions: args.at.iter().cloned().collect(),
    };
    let path = args.file.clone();
    let imported =
        import(&text, folder, &options).map_err(|source| Error::Import { path, source })?;
    for note in &imported.notes {
        warn(&format!("note: {note}"));
    }
    say(&imported.problem)
}
