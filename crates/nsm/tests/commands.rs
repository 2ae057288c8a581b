//! The commands as a user calls them: what they print, what they leave behind, what a killed run leaves.

mod common;

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use common::Folder;
use serde_json::Value;

const POGO: &str = r#"
title = "Pogo stick"
[system]
coordinates = ["y1", "y2"]
mass        = [1, 1]
parameters  = { g = 9.8213, k = 10, l = 5 }
potential   = "g*(y1 + y2) + k/2*(y1 - y2 - l)^2"
inequality  = { floor = "y2" }
invariants  = { P = "p_y1 + p_y2" }
[start]
q = [8.88, 3.88]
[[run]]
name = "gvi"
method = "gvi"
quadrature = "verlet"
step = 0.1
end = 100.0
[[expect]]
check = "energy.min > 125"
"#;

const BODY: &str = r#"
gravity = [0, 0, -9.80665]
[[body]]
name = "ellipsoid"
mass = 1
inertia = [5, 4, 2.6]
shape = { ellipsoid = [2, 3, 4] }
position = [0, 0, 10]
momentum = [2, 2, 10]
angular_momentum = [4, -4, 4]
[[plane]]
normal = [0, 0, 1]
[[run]]
name = "lgvci"
method = "lgvci"
step = 0.01
end = 6.0
"#;

fn command(verb: &str, file: &Path, out: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nsm"));
    command.arg(verb).arg(file).arg("--out").arg(out);
    command
}

fn json(output: &Output) -> Value {
    let error = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}\n{error}"))
}

/// The rows of a CSV file; every row must be whole and hold finite numbers, but for the names of contacts.
fn rows(path: &Path) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.ends_with('\n'), "{} ends within a row", path.display());
    let rows: Vec<Vec<String>> =
        text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect();
    for (i, row) in rows.iter().enumerate() {
        assert_eq!(row.len(), rows[0].len(), "{}, line {}", path.display(), i + 1);
        let number = |(head, x): (&String, &String)| {
            head == "contacts" || x.parse::<f64>().is_ok_and(f64::is_finite)
        };
        assert!(i == 0 || rows[0].iter().zip(row).all(number), "{row:?}");
    }
    rows
}

#[test]
fn a_run_prints_the_object_of_the_contract_and_leaves_its_files() {
    let folder = Folder::new("contract");
    let file = folder.file("pogo.toml", POGO);
    let output = command("run", &file, &folder.0).arg("--json").output().unwrap();
    assert!(output.status.success());
    let object = json(&output);
    let run = &object["runs"]["gvi"];
    for key in ["steps", "events", "rounds", "penetration", "seconds"] {
        assert!(run[key].is_number(), "{key}: {}", run[key]);
    }
    for band in [&run["energy"], &run["invariants"]["P"]] {
        for key in ["start", "min", "max", "end"] {
            assert!(band[key].is_number(), "{key}: {band}");
        }
    }
    assert!(run["residual"]["position"].is_number() && run["residual"]["velocity"].is_number());
    assert!(run["final"]["t"].is_number());
    for key in ["q", "v", "p"] {
        assert_eq!(run["final"][key].as_array().unwrap().len(), 2, "{key}");
        assert_eq!(run["event_records"][0][key].as_array().unwrap().len(), 2, "{key}");
    }
    let times = run["event_times"].as_array().unwrap();
    assert_eq!(times.len() as u64, run["events"].as_u64().unwrap());
    assert_eq!(run["event_records"][3]["t"], times[3]);
    let home = folder.0.join("pogo");
    assert_eq!(rows(&home.join("gvi.csv")).len(), 502);
    assert_eq!(rows(&home.join("gvi-events.csv")).len(), times.len() + 1);
    for name in ["gvi-energy.svg", "gvi-P.svg", "gvi-coordinates.svg", "gvi-gaps.svg"] {
        let svg = std::fs::read_to_string(home.join(name)).unwrap();
        assert!(svg.starts_with("<svg xmlns=") && svg.contains("<path d=\"M"), "{name}");
    }
    let page = std::fs::read_to_string(home.join("index.html")).unwrap();
    assert!(page.contains("figure class=\"scene\"") && page.contains("energy.min"));
    // The page is complete in itself.
    assert!(!page.contains("src=") && !page.contains("@import") && !page.contains("<link"));
}

#[test]
fn bodies_carry_position_rotation_and_momenta_at_events_and_at_the_end() {
    let folder = Folder::new("bodies");
    let file = folder.file("body.toml", BODY);
    let output = command("run", &file, &folder.0).arg("--json").output().unwrap();
    let object = json(&output);
    let run = &object["runs"]["lgvci"];
    let events = run["event_records"].as_array().unwrap();
    assert_eq!(events.len(), 3);
    for state in events.iter().chain([&run["final"]]) {
        let body = &state["bodies"]["ellipsoid"];
        for key in ["position", "momentum", "angular_momentum"] {
            assert_eq!(body[key].as_array().unwrap().len(), 3, "{key}");
        }
        let rotation: Vec<Vec<f64>> = serde_json::from_value(body["rotation"].clone()).unwrap();
        for i in 0..3 {
            for j in 0..3 {
                let dot: f64 = (0..3).map(|k| rotation[i][k] * rotation[j][k]).sum();
                assert!((dot - f64::from(u8::from(i == j))).abs() < 1e-12);
            }
        }
        // Nothing pushes sideways.
        assert_eq!(body["momentum"][0], 2.0);
    }
    for event in events {
        assert!(
            event["t"].is_number() && event["contacts"].is_array() && event["impulses"].is_array()
        );
    }
}

#[test]
fn a_family_is_a_list_with_files_for_each_member() {
    let folder = Folder::new("family");
    let vary = "vary = { step = [0.1, 0.05, 0.025] }\n";
    let text = POGO.replace("step = 0.1\n", vary)
        + "[[expect]]\nwhat = \"together\"\ncheck = \"largest(runs.gvi[*].energy.width) < 4\"\n";
    let file = folder.file("pogo.toml", &text);
    let output = command("run", &file, &folder.0).arg("--json").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let object = json(&output);
    let members = object["runs"]["gvi"].as_array().unwrap();
    let steps: Vec<u64> = members.iter().map(|m| m["steps"].as_u64().unwrap()).collect();
    assert_eq!(steps, [1000, 2000, 4000]);
    let runs: Vec<Option<&str>> =
        object["checks"].as_array().unwrap().iter().map(|c| c["run"].as_str()).collect();
    assert_eq!(runs, [Some("gvi[0]"), Some("gvi[1]"), Some("gvi[2]"), None]);
    let home = folder.0.join("pogo");
    for k in 0..3 {
        assert_eq!(rows(&home.join(format!("gvi[{k}].csv"))).len(), 502);
        assert!(home.join(format!("gvi[{k}]-energy.svg")).is_file());
    }
    let one =
        command("run", &file, &folder.0).args(["--run", "gvi[1]", "--json"]).output().unwrap();
    let object = json(&one);
    assert_eq!(object["runs"]["gvi"].as_array().unwrap().len(), 1);
    // The check on all members cannot be judged.
    assert_eq!(object["checks"].as_array().unwrap().len(), 1);
    let none = command("run", &file, &folder.0).args(["--run", "gvj"]).output().unwrap();
    assert!(String::from_utf8_lossy(&none.stderr).contains("gvi"));
}

#[test]
fn only_an_expected_failure_is_no_failure() {
    let folder = Folder::new("fails");
    let runaway = POGO
        .replace("g*(y1 + y2) + k/2*(y1 - y2 - l)^2", "-exp(y1^2)")
        .replace("[8.88, 3.88]", "[1, 3]");
    let file = folder.file("runaway.toml", &runaway);
    let failed = command("run", &file, &folder.0).output().unwrap();
    assert_eq!(failed.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&failed.stderr).contains("t = "));
    let expected = runaway.replace("energy.min > 125", "failed == 1 && final.t < 10");
    let file = folder.file("expected.toml", &expected);
    let output = command("run", &file, &folder.0).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stdout).contains("FAILED"));
}

/// Starts a run that would take hours, waits until it has recorded something, and sends it a signal.
#[cfg(unix)]
fn kill(signal: &str, folder: &Folder) -> std::process::ExitStatus {
    let long = POGO.replace("end = 100.0", "end = 1e9\nevery = 1000");
    let file = folder.file("long.toml", &long);
    let mut child = command("run", &file, &folder.0)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let samples = folder.0.join("long/gvi.csv");
    let clock = Instant::now();
    while std::fs::metadata(&samples).map_or(0, |m| m.len()) < 20_000 {
        assert!(clock.elapsed() < Duration::from_secs(60), "nothing was recorded");
        std::thread::sleep(Duration::from_millis(20));
    }
    let sent = Command::new("kill").args(["-s", signal, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    child.wait().unwrap()
}

#[cfg(unix)]
#[test]
fn an_interrupted_or_terminated_run_keeps_everything_and_draws_it() {
    for signal in ["INT", "TERM"] {
        let folder = Folder::new(&format!("interrupted-{signal}"));
        let status = kill(signal, &folder);
        assert_eq!(status.code(), Some(1), "{signal}");
        let home = folder.0.join("long");
        assert!(rows(&home.join("gvi.csv")).len() > 50);
        assert!(rows(&home.join("gvi-events.csv")).len() > 50);
        assert!(home.join("index.html").is_file());
    }
}

#[cfg(unix)]
#[test]
fn a_killed_run_leaves_readable_files() {
    let folder = Folder::new("killed");
    let status = kill("KILL", &folder);
    assert_eq!(status.code(), None);
    let home = folder.0.join("long");
    for name in ["gvi.csv", "gvi-events.csv"] {
        assert!(rows(&home.join(name)).len() > 50, "{name}");
    }
}

#[test]
fn methods_are_compared_and_those_that_do_not_fit_say_why() {
    let folder = Folder::new("compare");
    let text = "title = \"Oscillator\"\n[system]\ncoordinates = [\"x\"]\nmass = [1]\npotential = \"x^2/2\"\n\
                [start]\nq = [1]\n[[run]]\nname = \"mine\"\nmethod = \"vi\"\nquadrature = \"verlet\"\nstep = 0.1\nend = 10\n";
    let file = folder.file("oscillator.toml", text);
    let output = command("compare", &file, &folder.0)
        .args(["--methods", "vi,mine,moreau-jean,lgvci", "--json"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let object = json(&output);
    assert_eq!(object["reference"]["method"], "vi");
    assert_eq!(object["reference"]["step"], 0.0125 / 8.0);
    assert_eq!(object["reference"]["confirmed_by"], "moreau-jean");
    for method in ["vi", "mine"] {
        let trials = object["methods"][method].as_array().unwrap();
        assert_eq!(trials.len(), 5, "{method}");
        let last = &trials[4];
        assert!((last["order"].as_f64().unwrap() - 2.0).abs() < 0.05, "{method}: {last}");
        // x = cos t: the error of the two rules at t = 10 is h² t sin(t) / 12 and / 24 at most.
        let bound = 0.0125_f64.powi(2) * 10.0 / if method == "vi" { 12.0 } else { 24.0 };
        let error = last["error"].as_f64().unwrap();
        assert!(error < 1.1 * bound && error > 0.5 * bound, "{method}: {error}");
    }
    assert!(object["refused"]["lgvci"].as_str().unwrap().contains("rigid bodies"));
    let home = folder.0.join("oscillator");
    for name in
        ["compare.html", "compare.json", "compare-work-precision.svg", "compare-convergence.svg"]
    {
        assert!(home.join(name).is_file(), "{name}");
    }
    let compare = |methods: &str| {
        command("compare", &file, &folder.0).args(["--methods", methods]).output().unwrap()
    };
    assert!(!compare("lgvci").status.success());
    // The two rules of one integrator are of one kind.
    let alone = compare("vi,mine");
    let text = String::from_utf8_lossy(&alone.stdout);
    assert!(alone.status.success() && text.contains("No method may judge the others"), "{text}");
    for (methods, name) in [("vi,nonsense", "`nonsense`"), ("", "``")] {
        let output = compare(methods);
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && output.stdout.is_empty(), "{methods}");
        assert!(message.contains(name) && message.contains("neither a method"), "{message}");
    }
}

#[test]
fn a_method_that_meets_impacts_on_the_grid_never_judges_one_that_locates_them() {
    let folder = Folder::new("judge");
    let text = "title = \"Ball\"\n[system]\ncoordinates = [\"y\"]\nmass = [1]\npotential = \"9.8*y\"\n\
                inequality = { floor = \"y\" }\n[start]\nq = [1]\n[[run]]\nname = \"ball\"\nmethod = \"gvi\"\nstep = 0.05\nend = 2\n";
    let file = folder.file("ball.toml", text);
    let compare = |methods: &str| {
        let output = command("compare", &file, &folder.0)
            .args(["--methods", methods, "--json"])
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        json(&output)
    };
    let object = compare("gvi,hybrid,alpha-event,moreau-jean");
    assert_eq!(object["reference"]["method"], "hybrid");
    assert_eq!(object["reference"]["confirmed_by"], "alpha-event");
    let last = |method: &str| object["methods"][method][4]["error"].as_f64().unwrap();
    assert!(last("hybrid") < 1e-10 && last("gvi") > 1e-4, "{object}");
    let unjudged = compare("gvi,moreau-jean");
    assert!(unjudged["reference"].is_null() && unjudged["scatter"].as_f64().unwrap() > 1e-4);
}
