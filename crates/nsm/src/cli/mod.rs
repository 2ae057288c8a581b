//! The commands of `nsm`, one module each; other command lines call the same code.

// What a command line prints is its result.
#![allow(clippy::print_stdout)]

pub mod compare;
mod error;
mod interrupt;
pub mod run;

pub use error::Error;

use std::path::Path;

use nsm_report::Document;

/// Writes documents into a folder, which is made where there is none.
fn save(folder: &Path, documents: &[Document]) -> Result<(), Error> {
    std::fs::create_dir_all(folder).map_err(|e| Error::file(folder, e))?;
    for document in documents {
        let path = folder.join(&document.name);
        std::fs::write(&path, &document.text).map_err(|e| Error::file(path, e))?;
    }
    Ok(())
}
