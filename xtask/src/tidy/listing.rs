//! Every crate says what it is for: in its crate docs, and in a row of the README's table.

use std::path::Path;

use super::Problem;
use crate::workspace::{Package, TextFile};

/// Shorter than this, crate docs are a title, not a purpose.
const FEWEST_WORDS: usize = 8;

pub(super) fn check(root: &Path, packages: &[Package], files: &[TextFile]) -> Vec<Problem> {
    let find = |path: &Path| {
        files.iter().find(|file| Path::new(&file.path) == path).map(|file| file.text.as_str())
    };
    let readme = find(Path::new("README.md")).unwrap_or_default();
    let mut problems = Vec::new();
    for package in packages {
        let folder = package.folder(root);
        let source = ["src/lib.rs", "src/main.rs"].iter().find_map(|name| find(&folder.join(name)));
        if source.map_or(0, crate_doc_words) < FEWEST_WORDS {
            problems.push(Problem::new(
                &package.name,
                "has no crate docs: open lib.rs with `//!` and a paragraph on what the crate is for",
            ));
        }
        if !readme.lines().any(|line| is_row_of(line, &package.name)) {
            problems.push(Problem::new(
                &package.name,
                "is not in the README: add a row with its name in backticks to the table of crates",
            ));
        }
    }
    problems
}

fn crate_doc_words(source: &str) -> usize {
    source
        .lines()
        .filter_map(|line| line.strip_prefix("//!"))
        .map(|line| line.split_whitespace().count())
        .sum()
}

fn is_row_of(line: &str, name: &str) -> bool {
    line.starts_with('|') && line.contains(&format!("`{name}`"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::file;

    fn geom() -> Package {
        Package {
            name: "nsm-geom".into(),
            manifest_path: "/ws/crates/nsm-geom/Cargo.toml".into(),
            dependencies: vec![],
        }
    }

    #[test]
    fn described_crate_passes() {
        let files = [
            file(
                "README.md",
                "| crate | what |\n|---|---|\n| [`nsm-geom`](crates/nsm-geom) | shapes |\n",
            ),
            file(
                "crates/nsm-geom/src/lib.rs",
                "//! Rigid motions, convex shapes,\n//! their distances and mass properties.\n",
            ),
        ];
        assert_eq!(check(Path::new("/ws"), &[geom()], &files), []);
    }

    #[test]
    fn undescribed_crate_fails_twice() {
        let files = [
            file("README.md", "See `nsm-geom`.\n| `nsm-geometry` | no |\n"),
            file("crates/nsm-geom/src/lib.rs", "//! Geometry.\n\npub fn a() {}\n"),
        ];
        assert_eq!(check(Path::new("/ws"), &[geom()], &files).len(), 2);
    }
}
