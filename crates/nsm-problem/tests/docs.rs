//! The documentation keeps its promises: every TOML block runs, every relative link leads somewhere.

use std::path::{Path, PathBuf};

use nsm_problem::{Problem, Watch};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The pages under `docs/` and the README.
fn pages() -> Vec<(PathBuf, String)> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(root().join("docs"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "md"))
        .collect();
    paths.push(root().join("README.md"));
    paths.sort();
    paths
        .into_iter()
        .map(|path| {
            let text = std::fs::read_to_string(&path).unwrap();
            (path, text)
        })
        .collect()
}

/// Fenced blocks of a language, with the line they begin at.
fn blocks(text: &str, language: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut open: Option<(usize, bool, String)> = None;
    for (number, line) in text.lines().enumerate() {
        match (&mut open, line.trim_start().strip_prefix("```")) {
            (None, Some(info)) => open = Some((number + 2, info.trim() == language, String::new())),
            (Some(_), Some(_)) => {
                if let Some((first, true, block)) = open.take() {
                    found.push((first, block));
                }
            }
            (Some((_, _, block)), None) => {
                block.push_str(line);
                block.push('\n');
            }
            (None, None) => {}
        }
    }
    found
}

/// Makes all runs and judges them.
fn keeps_its_claims(problem: &Problem, place: &str) {
    let make = |run| problem.execute(run, None, Watch::default());
    let results: Result<Vec<_>, _> = problem.runs.iter().map(make).collect();
    let results = results.unwrap_or_else(|e| panic!("{place}: {e}"));
    for result in results.iter().filter(|r| !problem.foresees_failure(r)) {
        assert!(result.failure.is_none(), "{place}, {}: {:?}", result.name, result.failure);
    }
    for (_, curves) in problem.draw(&results).unwrap_or_else(|e| panic!("{place}: {e}")) {
        assert!(!curves.is_empty(), "{place}: a figure is empty");
    }
    for verdict in problem.judge(&results).unwrap_or_else(|e| panic!("{place}: {e}")) {
        assert!(verdict.holds, "{place}: {} {:?}", verdict.what, verdict.figures);
    }
}

#[test]
fn every_problem_of_the_documentation_runs_and_keeps_its_claims() {
    let mut count = 0;
    for (path, text) in pages() {
        for (line, block) in blocks(&text, "toml") {
            let place = format!("{}:{line}", path.display());
            let problem = Problem::parse(&block).unwrap_or_else(|e| panic!("{place}: {e}"));
            assert!(!problem.runs.is_empty(), "{place}: makes no run");
            keeps_its_claims(&problem, &place);
            count += 1;
        }
    }
    assert!(count >= 8, "only {count} blocks");
}

#[test]
fn every_relative_link_leads_somewhere() {
    let mut count = 0;
    for (path, text) in pages() {
        for rest in text.split("](").skip(1) {
            let target = rest.split(')').next().unwrap_or_default();
            let file = target.split('#').next().unwrap_or_default();
            if file.is_empty() || file.contains("://") || file.contains(char::is_whitespace) {
                continue;
            }
            let there = path.parent().unwrap().join(file);
            assert!(there.exists(), "{}: nothing at `{target}`", path.display());
            count += 1;
        }
    }
    assert!(count > 5);
}

/// The examples of the public contract, as files.
#[test]
fn every_example_of_the_contract_runs() {
    let home = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/contract");
    for name in ["pogo", "switching", "ellipsoid"] {
        let problem = Problem::read(&home.join(name).with_extension("toml"));
        let problem = problem.unwrap_or_else(|e| panic!("{e}"));
        assert!(!problem.expectations.is_empty(), "{name}");
        keeps_its_claims(&problem, name);
    }
}

/// The table of the page is the one that the methods state of themselves; `nsm methods --markdown` prints it.
#[test]
fn the_page_on_methods_states_what_the_methods_state() {
    let page = std::fs::read_to_string(root().join("docs/methods.md")).unwrap();
    assert!(page.contains(&nsm_problem::markdown()), "{}", nsm_problem::markdown());
}
