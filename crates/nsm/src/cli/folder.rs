//! Where the output of a problem file goes: a folder named after the file, inside the output folder.
//!
//! The folder remembers its file, so that two files of one name do not overwrite each other.

use std::ffi::OsStr;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use super::Error;

/// Holds the path of the problem file whose output this is.
const OWNER: &str = ".problem";

/// The folder of a problem file: its name, and if that is another file's, the names of its own folders before it.
pub(super) fn of(out: &Path, file: &Path) -> Result<PathBuf, Error> {
    let file = file.canonicalize().map_err(|e| Error::file(file, e))?;
    let mut name = plain(file.file_stem().unwrap_or_default());
    let mut parents = file.ancestors().skip(1).filter_map(Path::file_name);
    loop {
        let folder = out.join(&name);
        if claim(&folder, &file)? {
            return Ok(folder);
        }
        let Some(parent) = parents.next() else {
            return Err(Error::Taken { folder });
        };
        name = format!("{}-{name}", plain(parent));
    }
}

/// A name that cannot lead out of the folder: `..` in a name becomes `_`.
fn plain(name: &OsStr) -> String {
    let name = name.to_string_lossy();
    if name.chars().all(|c| c == '.') { "_".repeat(name.len().max(1)) } else { name.into_owned() }
}

/// Whether the folder is the file's, or becomes it. A folder whose file is gone is free.
fn claim(folder: &Path, file: &Path) -> Result<bool, Error> {
    let failed = |e| Error::file(folder, e);
    std::fs::create_dir_all(folder).map_err(failed)?;
    let owner = folder.join(OWNER);
    let text = file.to_string_lossy();
    // Created by one of two commands that run at once, read by the other.
    match std::fs::OpenOptions::new().write(true).create_new(true).open(&owner) {
        Ok(mut new) => new.write_all(text.as_bytes()).map_err(failed).map(|()| true),
        Err(e) if e.kind() == ErrorKind::AlreadyExists => {
            let known = std::fs::read_to_string(&owner).map_err(failed)?;
            if known == text {
                return Ok(true);
            }
            if Path::new(&known).is_file() {
                return Ok(false);
            }
            std::fs::write(&owner, text.as_bytes()).map_err(failed)?;
            Ok(true)
        }
        Err(e) => Err(failed(e)),
    }
}
