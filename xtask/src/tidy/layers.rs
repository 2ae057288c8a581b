//! Crates depend strictly downward: a dependency of any kind, tests' included, has a lower rank, and no crate takes in the
//! source of another by `#[path]` or `include!`, which no manifest shows.

use super::Problem;
use crate::workspace::{Package, TextFile};

/// The crates by rank. Equal rank means that neither may depend on the other.
const RANKS: &[(&str, u32)] = &[
    ("nsm-geom", 0),
    ("nsm-solvers", 0),
    ("nsm-constraints", 1),
    ("nsm-model", 2),
    ("nsm-reflect", 3),
    ("nsm-vi", 4),
    ("nsm-alpha", 4),
    ("nsm-formula", 3),
    ("nsm-problem", 5),
    ("nsm-report", 6),
    ("nsm-bench", 6),
    ("nsm", 7),
    ("xtask", 8),
];

pub(super) fn check(packages: &[Package], files: &[TextFile]) -> Vec<Problem> {
    let mut problems = sources(files);
    for package in packages {
        let Some(own) = rank(&package.name) else {
            problems.push(Problem::new(
                &package.name,
                "has no rank: decide which crates may depend on it and add it to RANKS in xtask/src/tidy/layers.rs",
            ));
            continue;
        };
        for dependency in package.dependencies.iter().filter(|d| d.path.is_some()) {
            if rank(&dependency.name).is_some_and(|below| below >= own) {
                let kind =
                    dependency.kind.as_deref().map_or(String::new(), |kind| format!("{kind}-"));
                problems.push(Problem::new(
                    &package.name,
                    format!(
                        "{kind}depends on {}, which is not below it: move what is shared into a lower crate",
                        dependency.name
                    ),
                ));
            }
        }
    }
    problems
}

/// Source of one crate that is compiled into another.
fn sources(files: &[TextFile]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for file in files.iter().filter(|f| f.is_rust()) {
        for (number, line) in file.lines() {
            let line = line.trim_start();
            let included = line
                .strip_prefix("#[path = \"")
                .or_else(|| line.split_once("include!(\"").map(|(_, rest)| rest))
                .and_then(|rest| rest.split('"').next());
            let Some(target) = included else { continue };
            if owner(&resolve(&file.path, target)) != owner(&file.path) {
                problems.push(Problem::at(
                    &file.path,
                    number,
                    format!("takes in `{target}`, which belongs to another crate: depend on that crate, or move what is shared into a lower one"),
                ));
            }
        }
    }
    problems
}

/// The folder of the crate that a file belongs to.
fn owner(path: &str) -> &str {
    let levels = if path.starts_with("crates/") { 2 } else { 1 };
    path.match_indices('/').nth(levels - 1).map_or(path, |(end, _)| &path[..end])
}

/// A path relative to the folder of a file, without its dots.
fn resolve(file: &str, target: &str) -> String {
    let mut parts: Vec<&str> = file.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." => {}
            name => parts.push(name),
        }
    }
    parts.join("/")
}

fn rank(name: &str) -> Option<u32> {
    RANKS.iter().find(|(known, _)| *known == name).map(|&(_, rank)| rank)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::file;
    use crate::workspace::Dependency;

    fn package(name: &str, dependencies: &[(&str, Option<&str>)]) -> Package {
        let dependencies = dependencies
            .iter()
            .map(|&(name, kind)| Dependency {
                name: name.into(),
                kind: kind.map(Into::into),
                path: Some(name.into()),
            })
            .collect();
        Package { name: name.into(), manifest_path: "Cargo.toml".into(), dependencies }
    }

    #[test]
    fn downward_edges_pass() {
        let packages = [package("nsm-vi", &[("nsm-reflect", None), ("nsm-geom", Some("dev"))])];
        assert_eq!(check(&packages, &[]), []);
    }

    #[test]
    fn source_of_another_crate_fails_and_of_the_same_passes() {
        let own = "#[path = \"../common/mod.rs\"]\nmod common;\n";
        let foreign = "    #[path = \"../../../nsm-bench/src/problems.rs\"]\n";
        let included = "let x = include!(\"../../nsm-vi/src/x.rs\");\n";
        let files = [
            file("crates/nsm-alpha/tests/a/b.rs", own),
            file("crates/nsm-alpha/tests/a/mod.rs", foreign),
            file("crates/nsm-alpha/src/c.rs", included),
        ];
        let places: Vec<_> = check(&[], &files).into_iter().map(|p| p.place).collect();
        assert_eq!(places, ["crates/nsm-alpha/tests/a/mod.rs:1", "crates/nsm-alpha/src/c.rs:1"]);
    }

    #[test]
    fn upward_sideways_and_dev_edges_fail() {
        let packages = [
            package("nsm-geom", &[("nsm-solvers", None)]),
            package("nsm-vi", &[("nsm-alpha", None), ("nsm-bench", Some("dev"))]),
        ];
        let problems = check(&packages, &[]);
        assert_eq!(problems.len(), 3);
        assert!(problems[2].what.starts_with("dev-depends on nsm-bench"), "{}", problems[2]);
    }

    #[test]
    fn unranked_crate_fails() {
        let problems = check(&[package("nsm-new", &[])], &[]);
        assert_eq!(problems.len(), 1);
        assert_eq!(problems[0].place, "nsm-new");
    }

    #[test]
    fn outside_crates_do_not_count() {
        let mut outside = package("nsm-geom", &[("nsm-vi", None)]);
        outside.dependencies[0].path = None;
        assert_eq!(check(&[outside], &[]), []);
    }
}
