//! Files at the edges of what is sensible: refused with the limit, or read as fast as others.

mod common;

use std::fmt::Write;
use std::path::PathBuf;

use common::message;
use nsm_problem::{Problem, Watch};

const RUN: &str = "[[run]]\nmethod = \"vi\"\nstep = 0.01\nend = 1.0\n";

fn system(rest: &str) -> String {
    format!(
        "[system]\ncoordinates = [\"y\"]\nmass = [1]\npotential = \"9.8*y\"\n{rest}\n[start]\nq = [1]\n"
    )
}

#[test]
fn counts_that_would_fill_the_memory_are_refused_with_the_limit() {
    let windows =
        message(&format!("{}{RUN}windows = 1e9\n", system("")).replace("end = 1.0", "end = 1e8"));
    assert!(windows.contains("run[0].windows") && windows.contains("at most 10000"), "{windows}");
    let beam = "[[beam]]\nends = [[0, 0, 0], [1, 0, 0]]\nelements = 1e9\nEA = 1\nGA = 1\nEI1 = 1\nEI2 = 1\n\
                GJ = 1\nmass = 1\ninertia = 1\n";
    let elements = message(&format!("{beam}{RUN}"));
    assert!(
        elements.contains("beam[0].elements") && elements.contains("at most 10000"),
        "{elements}"
    );
}

#[test]
fn two_thousand_chained_parameters_are_read_at_once() {
    let mut rest = "[system.parameters]\na0 = 1\n".to_owned();
    for k in 1..2000 {
        let _ = writeln!(rest, "a{k} = \"a{} + 1e-3\"", k - 1);
    }
    let text = system(&rest).replace("9.8*y", "a1999*y");
    let problem = Problem::parse(&format!("{text}{RUN}")).unwrap();
    let result = problem.bound(&problem.runs[0]).unwrap();
    assert!((result.ledger.energy.start - 2.999).abs() < 1e-9);
}

#[test]
fn a_potential_is_a_list_of_terms_if_one_formula_cannot_hold_it() {
    let n = 300;
    let list = |item: &dyn Fn(usize) -> String| (0..n).map(item).collect::<Vec<_>>().join(", ");
    let text = format!(
        "[system]\ncoordinates = [{}]\nmass = [{}]\npotential = [{}]\n[start]\nq = [{}]\n{RUN}",
        list(&|i| format!("\"coordinate_number_{i}\"")),
        list(&|_| "1".into()),
        list(&|i| format!("\"{i}*coordinate_number_{i}^2/2\"")),
        list(&|_| "1".into()),
    );
    let problem = Problem::parse(&text).unwrap();
    let result = problem.execute(&problem.runs[0], None, Watch::default()).unwrap();
    let exact = (n * (n - 1) / 2) as f64 / 2.0;
    assert!((result.ledger.energy.start - exact).abs() < 1e-9 && result.failure.is_none());
    // The same as one formula.
    let one = system("").replace("9.8*y", "3*y + y^2");
    let two = one.replace("\"3*y + y^2\"", "[\"3*y\", \"y^2\"]");
    let ends = [one, two].map(|text| {
        let problem = Problem::parse(&format!("{text}{RUN}")).unwrap();
        problem.execute(&problem.runs[0], None, Watch::default()).unwrap().ledger.energy.end
    });
    assert!((ends[0] - ends[1]).abs() < 1e-12);
    let wrong = message(&format!("{}{RUN}", system("").replace("\"9.8*y\"", "[\"9.8*y\", 3]")));
    assert!(wrong.contains("potential[1]"), "{wrong}");
}

/// A file in a folder of its own, whose neighbours a file may be like.
fn written(name: &str, text: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("nsm-limits-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path
}

#[test]
fn a_file_is_like_files_beside_it_and_nothing_else() {
    let like = |name: &str| {
        let path = written("like.toml", &format!("like = {name:?}\n{RUN}"));
        Problem::read(&path).map(|_| ()).map_err(|e| e.to_string())
    };
    let model = written("model.toml", &system(""));
    assert_eq!(like("model.toml"), Ok(()));
    let absolute = like(model.to_str().unwrap()).unwrap_err();
    assert!(absolute.contains("absolute path"), "{absolute}");
    assert!(like(".").unwrap_err().contains("no file"));
    #[cfg(unix)]
    {
        let link = model.with_file_name("zero");
        let _ = std::fs::remove_file(&link);
        std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
        assert!(like("zero").unwrap_err().contains("no file"));
        // Neither is something without an end a problem file.
        let endless = Problem::read(&link).unwrap_err().to_string();
        assert!(endless.contains("megabytes") || endless.contains("UTF-8"), "{endless}");
    }
}

const BODY: &str = "gravity = [0, 0, -9.8]\n[[body]]\nname = \"b\"\nmass = 1\nshape = { box = [1, 2, 3] }\n\
    position = [0, 0, 4]\nangular_velocity = [1, 2, 3]\nROTATION\n[[plane]]\nnormal = [0, 0, 1]\n\
    [[run]]\nmethod = \"lgvci\"\nstep = 0.01\nend = 0.1\n";

#[test]
fn no_two_columns_have_the_same_name() {
    let own = "[system]\ncoordinates = [\"E\", \"gap_floor\"]\nmass = [1, 1]\ninequality = { floor = \"E + 9\" }\n\
               invariants = { E = \"p_E\", v_E = \"p_E\" }\n[start]\nq = [0, 1]\n\
               [[run]]\nmethod = \"gvi\"\nstep = 0.1\nend = 1\n";
    for text in [BODY.replace("ROTATION", ""), own.into()] {
        let problem = Problem::parse(&text).unwrap();
        let columns = problem.bound(&problem.runs[0]).unwrap().recording.columns;
        let mut sorted = columns.clone();
        sorted.sort();
        sorted.dedup();
        assert_eq!(sorted.len(), columns.len(), "{columns:?}");
    }
}

#[test]
fn rotations_with_seven_digits_are_made_exact_and_said_to_be() {
    // 30 degrees about x.
    let rows = |c: &str, s: &str| format!("rotation = [[1, 0, 0], [0, {c}, -{s}], [0, {s}, {c}]]");
    let typed = BODY.replace("ROTATION", &rows("0.8660254", "0.5000000"));
    let problem = Problem::parse(&typed).unwrap();
    let [note] = &problem.notes[..] else { panic!("{:?}", problem.notes) };
    assert!(note.contains("body[0].rotation") && note.contains("nearest"), "{note}");
    let result = problem.bound(&problem.runs[0]).unwrap();
    let row = &result.recording.samples[0][4..13];
    for i in 0..3 {
        for j in 0..3 {
            let dot: f64 = (0..3).map(|k| row[3 * i + k] * row[3 * j + k]).sum();
            assert!((dot - f64::from(u8::from(i == j))).abs() < 1e-15, "{dot}");
        }
    }
    let exact = Problem::parse(&BODY.replace("ROTATION", &rows("0.8", "0.6"))).unwrap();
    assert!(exact.notes.is_empty(), "{:?}", exact.notes);
    let wrong = message(&BODY.replace("ROTATION", &rows("0.866", "0.5")));
    assert!(wrong.contains("orthogonal"), "{wrong}");
}

#[test]
fn a_long_run_keeps_a_thousand_events_in_full_unless_asked() {
    let ball = system("inequality = { floor = \"y\" }")
        + "[[run]]\nname = \"b\"\nmethod = \"gvi\"\nstep = 0.05\nend = 2000\n";
    let run = |text: &str| {
        let problem = Problem::parse(text).unwrap();
        problem.execute(&problem.runs[0], None, Watch::default()).unwrap()
    };
    let some = run(&ball);
    assert!(some.ledger.events > 1500, "{}", some.ledger.events);
    let json = some.json();
    assert_eq!(json["event_records"].as_array().unwrap().len(), 1000);
    assert_eq!(json["event_times"].as_array().unwrap().len(), some.ledger.events);
    assert_eq!(json["event_records_left_out"], some.ledger.events - 1000);
    // What is left out must not be judged by what is kept.
    assert!(some.figure("event_records[999].t").is_ok());
    for path in ["event_records[*].energy_change", "event_records[1000].t"] {
        assert!(some.figure(path).unwrap_err().contains("events = \"all\""), "{path}");
    }
    let all = run(&format!("{ball}[output]\nevents = \"all\"\n"));
    assert_eq!(all.json()["event_records"].as_array().unwrap().len(), all.ledger.events);
    assert!(all.figure("event_records[*].energy_change").is_ok());
    assert_eq!(run(&format!("{ball}[output]\nevents = 7\n")).recording.events.len(), 7);
}

/// The length of a formula is bounded, and the documentation says so.
#[test]
fn the_longest_formula_is_documented() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/problem-files.md");
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("10 000 characters"));
    let long = format!("9.8*y{}", " + 0*y".repeat(2000));
    let refused = message(&format!("{}{RUN}", system("").replace("9.8*y", &long)));
    assert!(refused.contains("at most 10000"), "{refused}");
}
