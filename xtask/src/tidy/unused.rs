//! Every dependency in a manifest is used: its name occurs in the sources of the package.

use std::path::Path;

use super::Problem;
use crate::workspace::{Package, TextFile};

/// Packages whose library goes by another name.
const LIBRARIES: &[(&str, &str)] = &[("katex-rs", "katex")];

pub(super) fn check(root: &Path, packages: &[Package], files: &[TextFile]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for package in packages {
        let folder = package.folder(root);
        let sources: Vec<&TextFile> = files
            .iter()
            .filter(|file| file.is_rust() && Path::new(&file.path).starts_with(&folder))
            .collect();
        for dependency in &package.dependencies {
            let renamed = LIBRARIES.iter().find(|(name, _)| *name == dependency.name);
            let library = renamed.map_or_else(
                || dependency.name.replace('-', "_"),
                |(_, library)| (*library).into(),
            );
            // Tests see the normal dependencies as well, so only the library speaks for those.
            let normal = dependency.kind.is_none();
            let counts = |file: &&&TextFile| {
                !normal || Path::new(&file.path).starts_with(folder.join("src"))
            };
            if !sources.iter().filter(counts).any(|file| names(&file.text, &library)) {
                problems.push(Problem::new(
                    &package.name,
                    format!("does not use {}: take it out of the manifest", dependency.name),
                ));
            }
        }
    }
    problems
}

/// Whether `library` occurs in `text` as a word of its own.
fn names(text: &str, library: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(library).any(|(at, _)| {
        !text[..at].ends_with(is_word) && !text[at + library.len()..].starts_with(is_word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::file;
    use crate::workspace::Dependency;

    fn unused(dependencies: &[(&str, Option<&str>)]) -> Vec<String> {
        let dependencies = dependencies
            .iter()
            .map(|&(name, kind)| Dependency {
                name: name.into(),
                kind: kind.map(Into::into),
                path: None,
            })
            .collect();
        let package = Package {
            name: "a".into(),
            manifest_path: "/ws/crates/a/Cargo.toml".into(),
            dependencies,
        };
        let files = [
            file("crates/a/src/lib.rs", "use nsm_geom::so3;\nuse katex::parse;\n"),
            file("crates/a/tests/b.rs", "use rand_pcg::Pcg64;\nuse rayon::prelude::*;\n"),
            file("crates/ab/src/lib.rs", "use faer::Mat;\n"),
        ];
        check(Path::new("/ws"), &[package], &files)
            .into_iter()
            .map(|problem| problem.what)
            .collect()
    }

    #[test]
    fn used_dependencies_pass() {
        assert_eq!(
            unused(&[("nsm-geom", None), ("katex-rs", None), ("rand_pcg", Some("dev"))]),
            [""; 0]
        );
    }

    #[test]
    fn unused_dependencies_fail() {
        assert_eq!(unused(&[("faer", None)]).len(), 1, "another crate uses it");
        assert_eq!(unused(&[("rand", Some("dev"))]).len(), 1, "only part of a longer name");
        assert_eq!(unused(&[("rayon", None)]).len(), 1, "only the tests use it");
    }
}
