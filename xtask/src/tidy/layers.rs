//! Crates depend strictly downward: a dependency of any kind, tests' included, has a lower rank.

use super::Problem;
use crate::workspace::Package;

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

pub(super) fn check(packages: &[Package]) -> Vec<Problem> {
    let mut problems = Vec::new();
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

fn rank(name: &str) -> Option<u32> {
    RANKS.iter().find(|(known, _)| *known == name).map(|&(_, rank)| rank)
}

#[cfg(test)]
mod tests {
    use super::*;
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
        assert_eq!(check(&packages), []);
    }

    #[test]
    fn upward_sideways_and_dev_edges_fail() {
        let packages = [
            package("nsm-geom", &[("nsm-solvers", None)]),
            package("nsm-vi", &[("nsm-alpha", None), ("nsm-bench", Some("dev"))]),
        ];
        let problems = check(&packages);
        assert_eq!(problems.len(), 3);
        assert!(problems[2].what.starts_with("dev-depends on nsm-bench"), "{}", problems[2]);
    }

    #[test]
    fn unranked_crate_fails() {
        let problems = check(&[package("nsm-new", &[])]);
        assert_eq!(problems.len(), 1);
        assert_eq!(problems[0].place, "nsm-new");
    }

    #[test]
    fn outside_crates_do_not_count() {
        let mut outside = package("nsm-geom", &[("nsm-vi", None)]);
        outside.dependencies[0].path = None;
        assert_eq!(check(&[outside]), []);
    }
}
