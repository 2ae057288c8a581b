//! `nsm merge FILE`: the parts of a sweep in one table, in the order of members.

use std::path::PathBuf;

use nsm_problem::{Format, Members};

use super::formats::check_tables;
use super::sweep_table::{Head, Part, finish, index};
use super::{Error, folder, say, sweep};

/// What `nsm merge` is asked.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The problem file
    file: PathBuf,
    /// Merge only the run or family with this name; may be given several times
    #[arg(long = "run", value_name = "NAME")]
    runs: Vec<String>,
    /// Merge what is there, even if members are missing
    #[arg(long)]
    partial: bool,
    /// Tables to make: csv, parquet, or both
    #[arg(long, value_name = "FORMAT,…", value_delimiter = ',', default_value = "csv")]
    format: Vec<Format>,
    /// Folder of the tables
    #[arg(long, value_name = "DIR", default_value = "out")]
    out: PathBuf,
}

/// Puts the parts together.
///
/// # Errors
/// If there are no parts, they are of another problem or other columns, or members are missing.
pub fn run(args: &Args) -> Result<(), Error> {
    check_tables(&args.format)?;
    let members = Members::read(&args.file).map_err(Error::problem)?;
    let folder = folder::of(&args.out, &args.file)?;
    for group in sweep::choose(&members, &args.runs)? {
        let mut parts: Vec<(PathBuf, Head)> = Vec::new();
        let failed = |e| Error::file(&folder, e);
        for entry in std::fs::read_dir(&folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let about = path.extension().is_some_and(|e| e == "json");
            let text =
                if about { std::fs::read_to_string(&path).unwrap_or_default() } else { continue };
            let Some(head) = Head::parse(&text).filter(|h| h.run == group.name) else { continue };
            let csv = path.with_extension("csv");
            if head.part != Part::WHOLE && csv.exists() {
                parts.push((csv, head));
            }
        }
        parts.sort_by_key(|(_, head)| (head.part.of, head.part.index));
        let Some((_, first)) = parts.first() else {
            return Err(Error::NoParts { name: group.name.clone(), folder });
        };
        let whole = first.whole();
        if let Some((path, _)) = parts.iter().find(|(_, h)| !whole.agrees(h)) {
            return Err(Error::ChangedSweep { path: path.clone() });
        }
        let mut found = Vec::new();
        for (path, _) in &parts {
            found.extend(index(path)?.into_iter().map(|(member, _)| member));
        }
        found.sort_unstable();
        if let Some(pair) = found.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(Error::TwiceMade { name: group.name.clone(), member: pair[0], folder });
        }
        let missing: Vec<usize> =
            whole.share().filter(|k| found.binary_search(k).is_err()).take(5).collect();
        if !missing.is_empty() && !args.partial {
            let list: Vec<String> = missing.iter().map(ToString::to_string).collect();
            return Err(Error::MissingMembers {
                name: group.name.clone(),
                count: whole.members - found.len(),
                first: list.join(", "),
            });
        }
        let csv = folder.join(format!("{}.csv", whole.stem()));
        let paths: Vec<PathBuf> = parts.into_iter().map(|(path, _)| path).collect();
        let files = finish(&csv, &paths, &whole, &args.format)?;
        let files: Vec<String> = files.iter().map(|f| f.display().to_string()).collect();
        let (rows, of) = (found.len(), whole.members);
        say(&format!("{}: {rows} of {of} members, written to {}\n", group.name, files.join(", ")))?;
    }
    Ok(())
}
