//! What criterion leaves behind: below its home, each benchmark has a folder with `new/benchmark.json` (its
//! name) and `new/estimates.json` (its times in nanoseconds).

use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::error::Error;
use crate::workspace;

/// One benchmark of the last run.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Measurement {
    pub(super) name: Name,
    pub(super) median_ns: f64,
}

/// criterion's name of a benchmark: `group/function/value`, of which the last two are optional.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct Name {
    #[serde(rename = "group_id")]
    pub(super) group: String,
    #[serde(rename = "function_id")]
    pub(super) function: Option<String>,
    #[serde(rename = "value_str")]
    pub(super) value: Option<String>,
    #[serde(rename = "full_id")]
    pub(super) id: String,
    /// What one iteration does several times: times are then those of one.
    #[serde(default)]
    pub(super) throughput: Option<Throughput>,
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub(super) enum Throughput {
    Elements(f64),
    #[serde(other)]
    Else,
}

impl Name {
    /// How often one iteration does what is measured.
    fn repetitions(&self) -> f64 {
        match self.throughput {
            Some(Throughput::Elements(n)) if n > 0.0 => n,
            _ => 1.0,
        }
    }
}

/// The benchmarks that a crate has today, in its own order. criterion keeps the results of all crates, and of
/// benchmarks long gone, in one folder; only the bench programs know which are theirs.
pub(super) fn list(root: &Path, package: &str) -> Result<Vec<String>, Error> {
    Ok(listed(&workspace::cargo(
        root,
        &["bench", "--package", package, "--benches", "--", "--list"],
    )?))
}

/// The ids in the output of `--list`.
fn listed(output: &str) -> Vec<String> {
    output.lines().filter_map(|line| line.strip_suffix(": benchmark")).map(str::to_owned).collect()
}

/// The results of the benchmarks `ids` below `home`, in the order of `ids`. One not yet run is left out.
pub(super) fn read(home: &Path, ids: &[String]) -> Result<Vec<Measurement>, Error> {
    let mut found = Vec::new();
    let mut folders = vec![home.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        folders.extend(entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()));
        if folder.ends_with("new") && folder.join("benchmark.json").is_file() {
            let name: Name = json(&folder.join("benchmark.json"))?;
            if let Some(position) = ids.iter().position(|id| *id == name.id) {
                let estimates: Estimates = json(&folder.join("estimates.json"))?;
                let median_ns = estimates.median.point_estimate / name.repetitions();
                found.push((position, Measurement { name, median_ns }));
            }
        }
    }
    found.sort_by_key(|(position, _)| *position);
    Ok(found.into_iter().map(|(_, measurement)| measurement).collect())
}

#[derive(Deserialize)]
struct Estimates {
    median: Estimate,
}

#[derive(Deserialize)]
struct Estimate {
    point_estimate: f64,
}

fn json<T: DeserializeOwned>(path: &Path) -> Result<T, Error> {
    let text = std::fs::read_to_string(path).map_err(|e| Error::file(path, e))?;
    serde_json::from_str(&text).map_err(|source| Error::Json { path: path.to_path_buf(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_benchmarks_are_listed() {
        let output =
            "spd/lemke/10: benchmark\ntests::a: test\n\nsmall: benchmark\n2 tests, 0 benchmarks\n";
        assert_eq!(listed(output), ["spd/lemke/10", "small"]);
    }

    #[test]
    fn results_come_in_the_order_of_the_ids() {
        let home = std::env::temp_dir().join(format!("nsm-bench-table-{}", std::process::id()));
        for (folder, id, value, median) in [
            ("b/x", "spd/lemke/10", "\"10\"", 2.5),
            ("a", "one", "null", 7.0),
            ("gone", "gone", "null", 1.0),
        ] {
            let new = home.join(folder).join("new");
            std::fs::create_dir_all(&new).expect("temporary folder");
            let name = format!(
                r#"{{"group_id":"{id}","function_id":null,"value_str":{value},"throughput":null,"full_id":"{id}","directory_name":"","title":""}}"#
            );
            std::fs::write(new.join("benchmark.json"), name).expect("temporary file");
            let estimates = format!(r#"{{"mean":{{}},"median":{{"point_estimate":{median}}}}}"#);
            std::fs::write(new.join("estimates.json"), estimates).expect("temporary file");
        }
        let ids = ["one", "spd/lemke/10", "not run"].map(str::to_owned);
        let found = read(&home, &ids).expect("well-formed results");
        std::fs::remove_dir_all(&home).expect("temporary folder");
        let medians: Vec<f64> = found.iter().map(|m| m.median_ns).collect();
        assert_eq!(medians, [7.0, 2.5]);
        assert_eq!(found[1].name.value.as_deref(), Some("10"));
    }
}
