//! `nsm new KIND`: a commented problem file to start from.

use super::{Error, say};

/// What `nsm new` is asked.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// What kind of problem
    kind: Kind,
}

/// The kinds of problems that files can describe.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Kind {
    /// A ball over a floor: coordinates, a potential, a contact
    Ball,
    /// Masses on rods: equality constraints
    Pendulum,
    /// Rigid bodies that fall onto planes
    Bodies,
    /// Rigid bodies on joints
    Mechanism,
    /// A constraint that switches on and off
    Switch,
}

/// Prints the file.
///
/// # Errors
/// If the output cannot be written.
pub fn run(args: &Args) -> Result<(), Error> {
    say(match args.kind {
        Kind::Ball => include_str!("../../templates/ball.toml"),
        Kind::Pendulum => include_str!("../../templates/pendulum.toml"),
        Kind::Bodies => include_str!("../../templates/bodies.toml"),
        Kind::Mechanism => include_str!("../../templates/mechanism.toml"),
        Kind::Switch => include_str!("../../templates/switch.toml"),
    })
}
