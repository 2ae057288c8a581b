//! The workspace is tidy. As a test it runs in the build of the tests; `cargo xtask tidy` says the same.

use std::process::Command;

#[test]
fn the_workspace_is_tidy() {
    let output =
        Command::new(env!("CARGO_BIN_EXE_xtask")).arg("tidy").output().expect("xtask runs");
    let (found, error) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "\n{found}{error}");
}
