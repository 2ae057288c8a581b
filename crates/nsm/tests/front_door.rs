//! What a stranger meets first: starters that run, a description of what was understood, methods that fit.

mod common;

use std::process::{Command, Output};

use common::Folder;

fn nsm(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_nsm")).args(arguments).output().unwrap()
}

fn text(arguments: &[&str]) -> String {
    let output = nsm(arguments);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {error}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn every_starter_runs_keeps_its_claims_and_says_which_method_it_took() {
    for kind in ["ball", "pendulum", "bodies", "mechanism", "switch"] {
        let folder = Folder::new(&format!("new-{kind}"));
        let file = folder.file("start.toml", &text(&["new", kind]));
        let (file, out) = (file.to_str().unwrap(), folder.0.to_str().unwrap());
        let said = text(&["run", file, "--out", out]);
        assert!(said.contains(": method ") && said.contains("because"), "{kind}: {said}");
        assert!(said.contains("complete") && said.contains("ok   "), "{kind}: {said}");
        assert!(folder.0.join("start/index.html").is_file(), "{kind}");
    }
}

#[test]
fn check_describes_what_it_understood_and_runs_nothing() {
    let folder = Folder::new("check");
    let ball = folder.file("ball.toml", &text(&["new", "ball"]));
    let said = text(&["check", ball.to_str().unwrap()]);
    for words in [
        "Bouncing ball",
        "degrees of freedom: 1",
        "inequalities: 1 (floor)",
        "initial energy: 9.81",
        "1000 steps",
        "must hold",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    assert!(!folder.0.join("ball").exists());
    let wrong = std::fs::read_to_string(&ball)
        .unwrap()
        .replace("step = 0.01", "method = \"vi\"\nstep = 0.01");
    let wrong = folder.file("wrong.toml", &wrong);
    let output = nsm(&["check", wrong.to_str().unwrap()]);
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("inequality `floor`"));
}

#[test]
fn methods_say_whether_they_fit_and_why_not() {
    let all = text(&["methods"]);
    let folder = Folder::new("methods");
    let ball = folder.file("ball.toml", &text(&["new", "ball"]));
    let said = text(&["methods", ball.to_str().unwrap()]);
    let (fit, refused) = said.split_once("These do not:").unwrap();
    for facts in nsm::problem::METHODS {
        assert!(all.contains(facts.name), "{}", facts.name);
        let holds = facts.inequalities.is_some() && !facts.bodies;
        let part = if holds { fit } else { refused };
        assert!(part.contains(&format!(" {} ", facts.name)), "{}: {said}", facts.name);
    }
    assert!(fit.contains("\n* ") && fit.contains("recommended, because"), "{fit}");
}

#[test]
fn help_version_and_completions_are_there() {
    assert!(text(&["--help"]).contains("nsm new ball > ball.toml"));
    assert!(text(&["--version"]).starts_with("nsm "));
    for shell in ["bash", "zsh", "fish"] {
        let script = text(&["completions", shell]);
        assert!(script.contains("compare") && script.contains("nsm"), "{shell}");
    }
}
