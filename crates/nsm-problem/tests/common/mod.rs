//! What tests of problem files share.

use nsm_problem::{Problem, Watch};

/// The message for a mistake, found when the file is read or when its first run is made.
pub(crate) fn message(text: &str) -> String {
    match Problem::parse(text) {
        Err(error) => error.to_string(),
        Ok(problem) => problem
            .execute(&problem.runs[0], None, Watch::default())
            .expect_err("a mistake must be reported")
            .to_string(),
    }
}
