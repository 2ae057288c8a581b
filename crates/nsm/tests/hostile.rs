//! Full disks, closed pipes, strange names: nothing is lost, nothing is written where it should not be.

mod common;

use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};

use common::Folder;

const BALL: &str = "[system]\ncoordinates = [\"y\"]\nmass = [1]\npotential = \"9.8*y\"\n\
    inequality = { floor = \"y\" }\n[start]\nq = [1]\n[[run]]\nname = \"ball\"\nstep = 0.05\nend = 30.0\n";

fn run(file: &Path, out: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nsm"));
    command.arg("run").arg(file).arg("--out").arg(out);
    command
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_standard_output_is_an_error_and_no_panic() {
    let folder = Folder::new("full-stdout");
    let file = folder.file("ball.toml", BALL);
    for arguments in [&["--json"][..], &[]] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = run(&file, &folder.0).args(arguments).stdout(full).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{error}");
        assert!(error.contains("standard output: No space left"), "{error}");
    }
}

#[cfg(unix)]
#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let folder = Folder::new("head");
    let file = folder.file("ball.toml", &BALL.replace("end = 30.0", "end = 3000.0"));
    let mut child = run(&file, &folder.0)
        .arg("--json")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0; 10];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_is_full_from_the_start_is_said_before_the_run() {
    let folder = Folder::new("full-disk");
    let file = folder.file("ball.toml", BALL);
    std::fs::create_dir_all(folder.0.join("ball")).unwrap();
    std::os::unix::fs::symlink("/dev/full", folder.0.join("ball/ball.csv")).unwrap();
    let output = run(&file, &folder.0).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1));
    assert!(error.contains("No space left"), "{error}");
}

#[cfg(unix)]
#[test]
fn pictures_that_cannot_be_written_do_not_cost_the_table() {
    let folder = Folder::new("no-page");
    let file = folder.file("ball.toml", BALL);
    // A folder in the page's place.
    std::fs::create_dir_all(folder.0.join("ball/index.html/x")).unwrap();
    let output = run(&file, &folder.0).output().unwrap();
    let (said, error) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(1));
    assert!(said.contains("complete") && error.contains("index.html"), "{said}{error}");
    assert!(
        std::fs::read_dir(folder.0.join("ball"))
            .unwrap()
            .all(|f| { f.unwrap().path().extension().is_none_or(|e| e != "part") })
    );
}

#[test]
fn a_file_named_after_the_parent_folder_stays_in_the_output_folder() {
    let folder = Folder::new("dots");
    let file = folder.file("...toml", BALL);
    let out = folder.0.join("deep/out");
    assert!(run(&file, &out).status().unwrap().success());
    assert!(out.join("__/ball.csv").is_file());
    let beside = std::fs::read_dir(folder.0.join("deep")).unwrap().count();
    assert_eq!(beside, 1, "something was written beside the output folder");
}

#[test]
fn files_of_one_name_do_not_share_an_output_folder() {
    let folder = Folder::new("twins");
    let out = folder.0.join("out");
    for place in ["a", "b"] {
        std::fs::create_dir_all(folder.0.join(place)).unwrap();
        let text = format!("title = \"ball {place}\"\n{BALL}");
        let file = folder.file(&format!("{place}/ball.toml"), &text);
        // A second run of the same file goes to the same folder.
        for _ in 0..2 {
            assert!(run(&file, &out).status().unwrap().success());
        }
    }
    let page = |name: &str| std::fs::read_to_string(out.join(name).join("index.html")).unwrap();
    assert!(page("ball").contains("ball a") && page("b-ball").contains("ball b"));
    assert_eq!(std::fs::read_dir(&out).unwrap().count(), 2);
    // Once a file is gone, its folder is free.
    std::fs::remove_file(folder.0.join("a/ball.toml")).unwrap();
    assert!(run(&folder.0.join("b/ball.toml"), &out).status().unwrap().success());
    assert!(page("ball").contains("ball b"));
}
