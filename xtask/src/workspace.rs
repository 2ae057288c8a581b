//! The workspace as the checks see it: its text files, and what `cargo metadata` says of it.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

use crate::error::Error;

/// The workspace root: the parent of this package, wherever the command is called from.
pub(crate) fn root() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().unwrap_or(package).to_path_buf()
}

/// A text file of the workspace.
pub(crate) struct TextFile {
    /// Relative to the root, with forward slashes.
    pub(crate) path: String,
    pub(crate) text: String,
}

impl TextFile {
    /// The lines with their numbers, from 1.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(i, line)| (i + 1, line))
    }

    pub(crate) fn is_rust(&self) -> bool {
        Path::new(&self.path).extension().is_some_and(|e| e == "rs")
    }
}

/// Every UTF-8 file below `root` in path order, except git's own and what `.gitignore` names at the top
/// (`/target`, `/out`). Reads the directory instead of asking git: a source archive is checked as well,
/// and so is a file that is about to be committed.
pub(crate) fn text_files(root: &Path) -> Result<Vec<TextFile>, Error> {
    let ignored = std::fs::read_to_string(root.join(".gitignore")).unwrap_or_default();
    let ignored: Vec<PathBuf> = ignored
        .lines()
        .filter_map(|line| line.strip_prefix('/'))
        .map(|name| root.join(name))
        .collect();
    let mut files = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).map_err(|e| Error::file(&folder, e))? {
            let entry = entry.map_err(|e| Error::file(&folder, e))?;
            let path = entry.path();
            if entry.file_name() == ".git" || ignored.contains(&path) {
                continue;
            }
            let kind = entry.file_type().map_err(|e| Error::file(&path, e))?;
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file() {
                let bytes = std::fs::read(&path).map_err(|e| Error::file(&path, e))?;
                let relative = path.strip_prefix(root).unwrap_or(&path);
                let parts: Vec<_> =
                    relative.components().map(|c| c.as_os_str().to_string_lossy()).collect();
                if let Ok(text) = String::from_utf8(bytes) {
                    files.push(TextFile { path: parts.join("/"), text });
                }
            }
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

/// A package of the workspace.
#[derive(Debug, Deserialize)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) manifest_path: PathBuf,
    pub(crate) dependencies: Vec<Dependency>,
}

impl Package {
    /// Where the package lies, relative to the workspace root.
    pub(crate) fn folder(&self, root: &Path) -> PathBuf {
        let folder = self.manifest_path.parent().and_then(|folder| folder.strip_prefix(root).ok());
        folder.map_or_else(PathBuf::new, Path::to_path_buf)
    }
}

/// A dependency as the manifest declares it, of any kind.
#[derive(Debug, Deserialize)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    /// `None` for a normal dependency, else `"dev"` or `"build"`.
    pub(crate) kind: Option<String>,
    /// Present for packages on disk, hence for those of the workspace.
    pub(crate) path: Option<PathBuf>,
}

/// What cargo knows of the workspace.
#[derive(Debug, Deserialize)]
pub(crate) struct Metadata {
    /// The members, with the dependencies that their manifests declare.
    pub(crate) packages: Vec<Package>,
    pub(crate) target_directory: PathBuf,
}

/// Asks `cargo metadata` in `root`.
pub(crate) fn metadata(root: &Path) -> Result<Metadata, Error> {
    let json = cargo(root, &["metadata", "--format-version", "1", "--no-deps"])?;
    serde_json::from_str(&json)
        .map_err(|source| Error::Json { path: "cargo metadata".into(), source })
}

/// Runs cargo in `root` and returns what it prints.
pub(crate) fn cargo(root: &Path, args: &[&str]) -> Result<String, Error> {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let failed =
        |reason: String| Error::Cargo { command: format!("cargo {}", args.join(" ")), reason };
    let output = Command::new(program)
        .args(args)
        .current_dir(root)
        .output()
        .map_err(|e| failed(e.to_string()))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned()))
    }
}
