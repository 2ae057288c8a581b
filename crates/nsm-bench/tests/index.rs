//! `benchmarks/README.md` names every problem file and every scenario, and nothing else.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn home() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benchmarks")
}

fn is_problem(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|e| e == "toml")
}

/// What stands between two marks.
fn between<'t>(text: &'t str, open: &str, close: char) -> impl Iterator<Item = &'t str> {
    text.split(open).skip(1).filter_map(move |rest| rest.split(close).next())
}

#[test]
fn the_index_names_every_file() {
    let mut files = BTreeSet::new();
    for folder in std::fs::read_dir(home()).unwrap().map(|f| f.unwrap().path()) {
        if !folder.is_dir() {
            continue;
        }
        for file in std::fs::read_dir(&folder).unwrap().map(|f| f.unwrap().path()) {
            let name = file.strip_prefix(home()).unwrap();
            files.extend(name.to_str().filter(|n| is_problem(n)).map(str::to_owned));
        }
    }
    let index = std::fs::read_to_string(home().join("README.md")).unwrap();
    let named: BTreeSet<String> =
        between(&index, "](", ')').filter(|n| is_problem(n)).map(str::to_owned).collect();
    assert_eq!(named, files);
    for link in between(&index, "](", ')') {
        assert!(home().join(link).exists(), "nothing at {link}");
    }
}

#[test]
fn the_index_names_every_scenario() {
    let scenarios: BTreeSet<String> = nsm_bench::scenarios().into_iter().map(|s| s.id).collect();
    let index = std::fs::read_to_string(home().join("README.md")).unwrap();
    let papers: BTreeSet<&str> = scenarios.iter().filter_map(|id| id.split('/').next()).collect();
    // Every second piece between backticks is a word; those that begin with a paper are scenarios.
    let words = index.split('`').skip(1).step_by(2);
    let named: BTreeSet<String> = words
        .filter(|word| word.split_once('/').is_some_and(|(paper, _)| papers.contains(paper)))
        .map(str::to_owned)
        .collect();
    assert_eq!(named, scenarios);
}
