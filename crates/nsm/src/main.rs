//! The binary `nsm`: runs and checks problem files, compares and lists methods. The commands are in `nsm::cli`.

use std::process::ExitCode;

fn main() -> ExitCode {
    nsm::cli::main()
}
