//! Results of other runs: `runs.NAME.energy.max`, `runs.NAME[*].events`.

use super::lookup::indices;
use super::{Place, ProblemError, Run, RunResult};
use nsm_formula::{Figure, nearest};

/// Names of runs, and of families in place of their members.
pub(crate) fn names(runs: &[Run]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for run in runs {
        let name = run.family.as_deref().unwrap_or(&run.name);
        if names.last() != Some(&name) {
            names.push(name);
        }
    }
    names
}

pub(crate) fn unknown(name: &str, known: &[&str]) -> String {
    let hint = nearest(name, known.iter().copied());
    let hint = hint.map(|n| format!(", did you mean `{n}`?"));
    let list = || format!(" (known: {})", known.join(", "));
    format!("there is no run `{name}`{}", hint.unwrap_or_else(list))
}

/// The runs and families that names begin with, each of which there must be.
pub(crate) fn named_runs(
    names_in: &[&str],
    runs: &[Run],
    place: &Place,
) -> Result<Vec<String>, ProblemError> {
    let known = names(runs);
    let mut named = Vec::new();
    for path in names_in.iter().filter_map(|name| name.strip_prefix("runs.")) {
        let Some(name) = run_of(path, &known) else {
            let word = path.split(['.', '[']).next().unwrap_or(path);
            return Err(place.error(unknown(word, &known)));
        };
        let members = runs.iter().filter(|r| r.family.as_deref() == Some(name)).count();
        if members > 0 {
            indices(&path[name.len()..], members)
                .map_err(|why| place.error(format!("the runs of `{name}`: {why}")))?;
        }
        named.push(name.to_owned());
    }
    Ok(named)
}

/// Whether all of these runs were made, with all members of families.
pub(crate) fn all_made(named: &[String], runs: &[Run], results: &[&RunResult]) -> bool {
    named.iter().all(|name| {
        let mine = |n: &str, family: Option<&str>| n == name || family == Some(name);
        let all = runs.iter().filter(|r| mine(&r.name, r.family.as_deref())).count();
        all == results.iter().filter(|r| mine(&r.name, r.family.as_deref())).count()
    })
}

/// The longest name that a path begins with.
fn run_of<'k>(path: &str, known: &[&'k str]) -> Option<&'k str> {
    let begins = |name: &&&str| {
        path.strip_prefix(**name).is_some_and(|r| r.is_empty() || r.starts_with(['.', '[']))
    };
    known.iter().filter(begins).max_by_key(|name| name.len()).copied()
}

/// The result at a path that begins with the name of a run or of a family.
pub(crate) fn across(path: &str, known: &[&str], results: &[&RunResult]) -> Result<Figure, String> {
    let name = run_of(path, known).ok_or_else(|| unknown(path, known))?;
    let rest = &path[name.len()..];
    let of = |result: &RunResult, rest: &str| {
        result.figure(rest.trim_start_matches('.')).map_err(|e| format!("`{name}`: {e}"))
    };
    if let Some(result) = results.iter().find(|r| r.name == name && r.family.is_none()) {
        return of(result, rest);
    }
    let members: Vec<&RunResult> =
        results.iter().filter(|r| r.family.as_deref() == Some(name)).copied().collect();
    let (chosen, rest) = indices(rest, members.len())?;
    if let ([k], false) = (&chosen[..], path.contains("[*]") || path.contains("..")) {
        return of(members[*k], rest);
    }
    let mut list = Vec::new();
    for k in chosen {
        match of(members[k], rest)? {
            Figure::Number(x) => list.push(x),
            Figure::List(more) => list.extend(more),
        }
    }
    Ok(Figure::List(list))
}
