//! `nsm compare FILE --methods a,b,c`: one problem, several methods, several steps, one table.

use std::path::PathBuf;

use indicatif::{ProgressBar, ProgressStyle};
use nsm_problem::Problem;
use nsm_problem::compare::{Asked, Onlooker, compare};
use nsm_report::comparison;

use super::{Error, folder, interrupt, save, say};

/// What `nsm compare` is asked.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The problem file
    file: PathBuf,
    /// Methods by their names, or runs of the file for their methods and options
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', required = true)]
    methods: Vec<String>,
    /// Step sizes; without them, five halvings from twice the file's step on
    #[arg(long, value_name = "H,…", value_delimiter = ',')]
    steps: Vec<f64>,
    /// End time; without it, the shortest run of the file, at most 20 000 of its steps
    #[arg(long, value_name = "T")]
    end: Option<f64>,
    /// The method that makes the reference; without it, the first that converges at its order and to the same as a method of another kind
    #[arg(long, value_name = "NAME")]
    reference: Option<String>,
    /// Folder for the plots and the page
    #[arg(long, value_name = "DIR", default_value = "out")]
    out: PathBuf,
    /// Print one JSON object instead of the table
    #[arg(long)]
    json: bool,
}

/// Makes the comparison, prints it and leaves plots and a page in the output folder.
///
/// # Errors
/// If the file is wrong, a name means nothing, or no method fits.
pub fn run(args: &Args) -> Result<(), Error> {
    let problem = Problem::read(&args.file).map_err(Error::problem)?;
    let bar = ProgressBar::new(1);
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} {msg} ({eta} left)") {
        bar.set_style(style);
    }
    let show = |done: usize, all: usize, what: &str| {
        bar.set_length(all as u64);
        bar.set_position(done as u64);
        bar.set_message(what.to_owned());
    };
    let asked = Asked {
        methods: args.methods.clone(),
        steps: args.steps.clone(),
        end: args.end,
        reference: args.reference.clone(),
    };
    let onlooker = Onlooker {
        progress: Some(&show),
        cancel: Some(interrupt::flag()),
        clock: Some(&crate::wall_clock),
    };
    let found = compare(&problem, &asked, onlooker)?;
    bar.finish_and_clear();
    let folder = folder::of(&args.out, &args.file)?;
    let saved = save(&folder, &comparison::documents(&found));
    if args.json {
        say(&format!("{}\n", comparison::json(&found)))?;
    } else {
        say(&comparison::text(&found))?;
        if saved.is_ok() {
            say(&format!("written to {}\n", folder.display()))?;
        }
    }
    saved?;
    if found.contenders.is_empty() { Err(Error::NothingFits) } else { Ok(()) }
}
