//! Sweeps as a user makes them: in one go, in parts, killed and resumed; and the files that other tools read.

mod common;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use common::Folder;

const BALLS: &str = r#"
title = "Balls"
[system]
coordinates = ["y"]
mass        = [1]
potential   = "9.81*y"
inequality  = { floor = "y" }
[start]
q = [1]
[[run]]
name = "balls"
step = 0.01
end  = 2.0
vary = { "start.q[0]" = { from = 0.5, to = 2.0, count = 64 }, restitution = { from = 0.0, to = 1.0, count = 64 } }
"#;

fn nsm(args: &[&str], file: &Path, out: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nsm"));
    command.arg(args[0]).arg(file).arg("--out").arg(out).args(&args[1..]).output().unwrap()
}

fn done(args: &[&str], file: &Path, out: &Path) -> String {
    let output = nsm(args, file, out);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{args:?}: {error}");
    String::from_utf8(output.stdout).unwrap()
}

fn refused(args: &[&str], file: &Path, out: &Path) -> String {
    let output = nsm(args, file, out);
    assert!(!output.status.success(), "{args:?}");
    String::from_utf8(output.stderr).unwrap()
}

/// The rows of a table by member, without the seconds, which differ from run to run.
fn rows(path: &Path) -> BTreeMap<usize, String> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut rows = BTreeMap::new();
    for line in text.lines().skip(1) {
        let (rest, _) = line.rsplit_once(',').unwrap();
        let member = line.split(',').next().unwrap().parse().unwrap();
        assert!(rows.insert(member, rest.to_owned()).is_none(), "member {member} twice");
    }
    rows
}

fn head(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().next().unwrap().split(',').map(str::to_owned).collect()
}

#[test]
fn parts_are_disjoint_and_merge_to_the_table_of_one_process() {
    let folder = Folder::new("sweep-parts");
    let file = folder.file("balls.toml", BALLS);
    let (whole, parts) = (folder.0.join("whole"), folder.0.join("parts"));
    let told = done(&["sweep"], &file, &whole);
    assert!(told.contains("64 members made, 0 failed"), "{told}");
    let table = whole.join("balls/balls-sweep.csv");
    let (head, all) = (head(&table), rows(&table));
    for column in [
        "member",
        "start.q[0]",
        "restitution",
        "energy.end",
        "final.q[0]",
        "events",
        "failed",
        "warnings",
        "seconds",
    ] {
        assert!(head.iter().any(|name| name == column), "{column}: {head:?}");
    }
    assert_eq!(all.keys().copied().collect::<Vec<_>>(), (0..64).collect::<Vec<_>>());
    // No file per member.
    assert_eq!(std::fs::read_dir(whole.join("balls")).unwrap().count(), 3);

    for part in ["1/3", "3/3"] {
        done(&["sweep", "--part", part], &file, &parts);
    }
    let missing = refused(&["merge"], &file, &parts);
    assert!(missing.contains("21 member(s)") && missing.contains("first 1, 4, 7"), "{missing}");
    done(&["sweep", "--part", "2/3"], &file, &parts);
    let told = done(&["merge"], &file, &parts);
    assert!(told.contains("64 of 64 members"), "{told}");
    assert_eq!(rows(&parts.join("balls/balls-sweep.csv")), all);
    // The member is what `nsm run` makes of it, to the bit.
    let out = folder.0.join("run");
    done(&["run"], &file, &out);
    let column = head.iter().position(|name| name == "final.q[0]").unwrap();
    for (k, row) in &all {
        let samples = std::fs::read_to_string(out.join(format!("balls/balls[{k}].csv"))).unwrap();
        let last = samples.lines().next_back().unwrap().split(',').nth(1).unwrap();
        assert_eq!(row.split(',').nth(column).unwrap(), last, "{k}");
    }
}

#[test]
fn a_killed_sweep_loses_no_member_and_repeats_none() {
    let folder = Folder::new("sweep-killed");
    let file = folder.file("balls.toml", &BALLS.replace("end  = 2.0", "end  = 150.0"));
    let (out, reference) = (folder.0.join("out"), folder.0.join("reference"));
    let table: PathBuf = out.join("balls/balls-sweep.csv");
    let lines =
        || std::fs::read_to_string(&table).map_or(0, |t| t.lines().count().saturating_sub(1));
    let mut kills = 0;
    let mut kept: BTreeMap<usize, String> = BTreeMap::new();
    let begun = Instant::now();
    loop {
        let mut command = Command::new(env!("CARGO_BIN_EXE_nsm"));
        command
            .arg("sweep")
            .arg(&file)
            .arg("--out")
            .arg(&out)
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        if kills > 0 {
            command.arg("--resume");
        }
        let before = lines();
        let mut child = command.spawn().unwrap();
        // Killed, without any warning, as soon as some members are done; three times.
        while kills < 3 && lines() < before + 3 && child.try_wait().unwrap().is_none() {
            assert!(begun.elapsed() < Duration::from_secs(120), "the sweep makes no progress");
            std::thread::sleep(Duration::from_millis(2));
        }
        if kills < 3 && child.try_wait().unwrap().is_none() {
            child.kill().unwrap();
            child.wait().unwrap();
            kills += 1;
            if kills == 2 {
                // A crash of the machine may tear a row.
                let mut text = std::fs::read_to_string(&table).unwrap();
                text.push_str("63,1.9");
                std::fs::write(&table, text).unwrap();
            }
            let whole = std::fs::read_to_string(&table).unwrap();
            let whole = &whole[..=whole.rfind('\n').unwrap()];
            for line in whole.lines().skip(1) {
                kept.insert(line.split(',').next().unwrap().parse().unwrap(), line.to_owned());
            }
            continue;
        }
        let told = child.wait_with_output().unwrap();
        assert!(told.status.success());
        let told = String::from_utf8(told.stdout).unwrap();
        assert!(kills == 0 || told.contains(&format!("{} were done before", kept.len())), "{told}");
        break;
    }
    assert!(kills > 0, "nothing was killed");
    let finished = rows(&table);
    assert_eq!(finished.len(), 64);
    // Rows that were there are there still, seconds and all: they were not made again.
    let text = std::fs::read_to_string(&table).unwrap();
    assert!(kept.values().all(|row| text.contains(row.as_str())));
    done(&["sweep"], &file, &reference);
    assert_eq!(rows(&reference.join("balls/balls-sweep.csv")), finished);
    // Done is done.
    let told = done(&["sweep", "--resume"], &file, &out);
    assert!(told.contains("0 members made, 64 were done before"), "{told}");
}

#[test]
fn mistakes_are_told_and_failures_have_rows() {
    let folder = Folder::new("sweep-mistakes");
    let file = folder.file("balls.toml", BALLS);
    let out = folder.0.join("out");
    assert!(refused(&["sweep", "--part", "4/3"], &file, &out).contains("I from 1 to N"));
    assert!(refused(&["sweep", "--run", "bals"], &file, &out).contains("balls"));
    let told = refused(&["sweep", "--columns", "energy.mox"], &file, &out);
    assert!(told.contains("energy.max"), "{told}");
    assert!(refused(&["merge"], &file, &out).contains("nsm sweep FILE --part"));
    assert!(refused(&["sweep", "--format", "vtk"], &file, &out).contains("parquet"));
    done(&["sweep", "--columns", "energy.end,final.q[0]"], &file, &out);
    let table = out.join("balls/balls-sweep.csv");
    let names = [
        "member",
        "start.q[0]",
        "restitution",
        "energy.end",
        "final.q[0]",
        "failed",
        "failure",
        "warnings",
        "warning_texts",
        "seconds",
    ];
    assert_eq!(head(&table), names);
    // Neither lost by mistake nor mixed with another problem.
    assert!(refused(&["sweep"], &file, &out).contains("--resume"));
    let other = BALLS.replace("9.81", "1.62");
    std::fs::write(&file, &other).unwrap();
    let told = refused(&["sweep", "--resume", "--columns", "energy.end,final.q[0]"], &file, &out);
    assert!(told.contains("--restart"), "{told}");
    // A value that nsm refuses has a row that says why, and the others are made.
    let wrong = BALLS
        .replace("restitution = { from = 0.0, to = 1.0, count = 64 }", "")
        .replace("{ from = 0.5, to = 2.0, count = 64 },", "[1, -1, 2, 3]");
    std::fs::write(&file, wrong).unwrap();
    let told = refused(&["sweep", "--restart"], &file, &out);
    assert!(told.contains("1 member(s) failed") && told.contains("balls[1]"), "{told}");
    let rows = rows(&table);
    assert_eq!(rows.len(), 4);
    assert!(rows[&1].contains("true") && rows[&1].contains("floor"), "{}", rows[&1]);
    assert!(rows[&3].contains("false"), "{}", rows[&3]);
}

#[test]
fn runs_are_written_for_numpy_data_frames_and_paraview() {
    let folder = Folder::new("sweep-formats");
    let text = r#"
gravity = [0, 0, -9.81]
restitution = 0.5
[output]
formats = ["npz", "vtk"]
[[body]]
name = "ball"
mass = 2
shape = { sphere = 0.1 }
position = [0, 0, 1]
velocity = [1, 0, 0]
[[plane]]
name = "floor"
normal = [0, 0, 1]
[[run]]
name = "fall"
step = 0.01
end  = 1.0
every = 20
"#;
    let file = folder.file("fall.toml", text);
    let out = folder.0.join("out");
    done(&["run"], &file, &out);
    let at = |name: &str| {
        std::fs::read(out.join("fall").join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    };
    assert_eq!(&at("fall.npz")[..4], b"PK\x03\x04");
    let list = String::from_utf8(at("fall.pvd")).unwrap();
    assert_eq!(list.matches("<DataSet").count(), 6, "{list}");
    assert!(list.contains("timestep=\"0.2\" file=\"fall-000001.vtp\""));
    // The speed of every vertex of a ball that falls without turning, 9.81 t and 1 m/s, at t = 0.2.
    let vtp = at("fall-000001.vtp");
    let start = vtp.windows(2).position(|w| w == b"\n_").unwrap() + 2;
    let word = |k: usize| <[u8; 8]>::try_from(&vtp[start + 8 * k..start + 8 * k + 8]).unwrap();
    let points = u64::from_le_bytes(word(0)) / 24;
    assert!(points > 100);
    for k in 0..usize::try_from(points).unwrap() {
        let v: [f64; 3] = std::array::from_fn(|i| f64::from_le_bytes(word(1 + 3 * k + i)));
        assert!(
            (v[0] - 1.0).abs() < 1e-12 && v[1].abs() < 1e-12 && (v[2] + 1.962).abs() < 1e-9,
            "{v:?}"
        );
    }
    assert!(
        String::from_utf8(at("fall-contacts.pvd")).unwrap().contains("fall-contacts-000005.vtp")
    );
    if cfg!(feature = "parquet") {
        done(&["run", "--format", "parquet"], &file, &out);
        for name in ["fall.parquet", "fall-events.parquet"] {
            let bytes = at(name);
            assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"), "{name}");
        }
    }
    let wrong = folder.file("wrong.toml", &text.replace("\"vtk\"", "\"vtkk\""));
    assert!(refused(&["run"], &wrong, &out).contains("did you mean `vtk`"));
    let told = nsm(&["run", "--format", "nzp"], &file, &out);
    assert!(String::from_utf8_lossy(&told.stderr).contains("did you mean `npz`"));
}
