//! `cargo xtask tidy`: what the compiler and clippy do not check. Every problem is listed, with the place
//! and what to do about it; one module per check, each a function from the files to its problems.

mod citations;
mod doc_text;
mod equations;
mod formulas;
mod layers;
mod length;
mod listing;
mod marks;
mod paths;
mod unused;

use std::fmt;
use std::path::Path;

use crate::error::Error;
use crate::workspace;

/// One thing to mend.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    /// A file, with a line where there is one, or a package.
    place: String,
    /// What is wrong and what to do.
    what: String,
}

impl Problem {
    fn new(place: impl Into<String>, what: impl Into<String>) -> Self {
        Self { place: place.into(), what: what.into() }
    }

    fn at(path: &str, line: usize, what: impl Into<String>) -> Self {
        Self::new(format!("{path}:{line}"), what)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.what)
    }
}

/// Runs every check on the workspace at `root`.
pub(crate) fn run(root: &Path) -> Result<(), Error> {
    let files = workspace::text_files(root)?;
    let packages = workspace::metadata(root)?.packages;
    let problems: Vec<Problem> = [
        layers::check(&packages, &files),
        listing::check(root, &packages, &files),
        unused::check(root, &packages, &files),
        length::check(&files, length::ALLOWED),
        marks::check(&files),
        paths::check(&files),
        formulas::check(&files),
        citations::check(&files),
        equations::check(&files),
    ]
    .into_iter()
    .flatten()
    .collect();
    for problem in &problems {
        println!("{problem}");
    }
    // The index follows the sources, line by line: it is written anew rather than complained of.
    let index = equations::index(&files);
    if !files.iter().any(|file| file.path == equations::INDEX && file.text == index) {
        let path = root.join(equations::INDEX);
        std::fs::write(&path, &index).map_err(|e| Error::file(path, e))?;
        println!("{}: written anew", equations::INDEX);
    }
    if problems.is_empty() {
        println!("tidy: {} packages, {} files, nothing to mend", packages.len(), files.len());
        Ok(())
    } else {
        Err(Error::Untidy(problems.len()))
    }
}

/// A file made up for a test.
#[cfg(test)]
fn file(path: &str, text: &str) -> workspace::TextFile {
    workspace::TextFile { path: path.into(), text: text.into() }
}
