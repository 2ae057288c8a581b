//! `cargo xtask bench-table`: the median times of a crate's criterion benches as a Markdown table, beside
//! what other libraries need for the same cases. Reads what `cargo bench -p CRATE` left behind; measures
//! nothing itself.

mod criterion;
pub(crate) mod markdown;
mod peers;

use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::workspace;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The crate whose benches to show
    #[arg(long = "crate", default_value = "nsm-solvers")]
    package: String,
    /// Where to write [default: benchmarks/NAME.md, NAME being the crate's without `nsm-`]
    #[arg(long)]
    out: Option<PathBuf>,
}

pub(crate) fn run(root: &Path, args: &Args) -> Result<(), Error> {
    let home = workspace::metadata(root)?.target_directory.join("criterion");
    let ids = criterion::list(root, &args.package)?;
    let measured = criterion::read(&home, &ids)?;
    if measured.is_empty() {
        return Err(Error::NoResults { package: args.package.clone(), home });
    }
    let name = args.package.strip_prefix("nsm-").unwrap_or(&args.package);
    let out =
        args.out.clone().unwrap_or_else(|| root.join("benchmarks").join(format!("{name}.md")));
    let notes =
        std::fs::read_to_string(&out).ok().and_then(|old| markdown::notes(&old).map(str::to_owned));
    let table = markdown::page(
        &args.package,
        &machine(),
        &measured,
        &peers::of(&args.package),
        notes.as_deref(),
    );
    if let Some(folder) = out.parent() {
        std::fs::create_dir_all(folder).map_err(|e| Error::file(folder, e))?;
    }
    std::fs::write(&out, table).map_err(|e| Error::file(&out, e))?;
    println!("{} of {} benchmarks written to {}", measured.len(), ids.len(), out.display());
    Ok(())
}

/// The class of machine, so that a figure can be read elsewhere.
pub(crate) fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let plural = if cores == 1 { "" } else { "s" };
    let model = std::fs::read_to_string("/proc/cpuinfo").ok().and_then(|info| {
        let line = info.lines().find(|line| line.starts_with("model name"))?;
        line.split_once(':').map(|(_, name)| format!(" of {}", name.trim()))
    });
    format!(
        "{cores} core{plural}{}, {} {}",
        model.unwrap_or_default(),
        std::env::consts::OS,
        std::env::consts::ARCH
    )
}
