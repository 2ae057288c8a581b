//! `cargo xtask reproduce`: the experiments of the papers, computed now, with a verdict each.

mod entry;
mod index;
mod report;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};
use nsm_bench::Effort;
use rayon::prelude::*;

use crate::error::Error;
use entry::{Entry, Source};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Papers (such as `kaufman-pai`) or problem files; everything if none is given
    #[arg(value_name = "PAPER|FILE")]
    what: Vec<String>,
    /// Shorter runs: what a test suite can afford
    #[arg(long)]
    quick: bool,
    /// Folder for the page
    #[arg(long, value_name = "DIR", default_value = "out/reproduce")]
    out: PathBuf,
}

pub(crate) fn run(root: &Path, args: &Args) -> Result<(), Error> {
    let sources = select(Source::all(root)?, &args.what)?;
    let effort = if args.quick { Effort::Quick } else { Effort::Full };
    let clock = Instant::now();
    let bar = ProgressBar::new(sources.len() as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} {msg} ({eta} left)") {
        bar.set_style(style);
    }
    let done = AtomicUsize::new(0);
    // Each experiment is computed alone and lands in its place: the outcome does not depend on threads.
    let mut entries: Vec<Entry> = sources
        .par_iter()
        .map(|source| {
            let entry = source.run(effort);
            bar.set_message(entry.id.clone());
            bar.set_position(done.fetch_add(1, Ordering::Relaxed) as u64 + 1);
            entry
        })
        .collect();
    bar.finish_and_clear();
    let readme = root.join("benchmarks").join("README.md");
    let text = std::fs::read_to_string(&readme).map_err(|e| Error::file(&readme, e))?;
    let chapters = index::chapters(&text, &mut entries);
    for chapter in &chapters {
        println!("\n{}", chapter.title);
        for line in &chapter.lines {
            let of: Vec<&Entry> = line.entries.iter().map(|&i| &entries[i]).collect();
            println!("  {:<54} {}", line.place, index::in_words(&index::sum(of.iter().copied())));
            for entry in of {
                for why in entry.failure.iter().chain(&entry.missing) {
                    println!("      {}: {why}", entry.id);
                }
                for claim in entry.claims.iter().filter(|c| !c.holds) {
                    println!("      {} fails: {}: {}", entry.id, claim.what, claim.figures);
                }
            }
        }
    }
    std::fs::create_dir_all(&args.out).map_err(|e| Error::file(&args.out, e))?;
    let file = args.out.join("index.html");
    std::fs::write(&file, report::report(&chapters, &entries, clock.elapsed()))
        .map_err(|e| Error::file(&file, e))?;
    let failed = entries.iter().filter(|e| !e.holds()).count();
    let claims: usize = entries.iter().map(|e| e.claims.len()).sum();
    println!("\n{}", index::in_words(&index::sum(&entries)));
    let skipped = entries.iter().filter(|e| e.missing.is_some()).count();
    let skipped = if skipped > 0 { format!(", {skipped} skipped") } else { String::new() };
    println!(
        "{} experiments, {claims} claims, {failed} failed{skipped}, {:.1} s; the page is {}",
        entries.len(),
        clock.elapsed().as_secs_f64(),
        file.display()
    );
    if failed > 0 { Err(Error::Refuted(failed)) } else { Ok(()) }
}

/// Keeps the sources whose paper or file was named.
fn select(sources: Vec<Source>, names: &[String]) -> Result<Vec<Source>, Error> {
    if names.is_empty() {
        return Ok(sources);
    }
    let mut all: Vec<Option<Source>> = sources.into_iter().map(Some).collect();
    let mut chosen = Vec::new();
    for name in names {
        let before = chosen.len();
        chosen.extend(
            all.iter_mut()
                .filter(|s| s.as_ref().is_some_and(|s| s.matches(name)))
                .filter_map(Option::take),
        );
        if chosen.len() == before {
            let file = PathBuf::from(name);
            if !file.is_file() {
                return Err(Error::UnknownExperiment { name: name.clone() });
            }
            chosen.push(Source::File { id: name.clone(), path: file });
        }
    }
    Ok(chosen)
}
