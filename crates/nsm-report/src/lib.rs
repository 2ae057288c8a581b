//! Results in, pictures out: what runs and comparisons left as tables for the terminal, plots as SVG, moving
//! pictures, and pages that are complete in themselves.
//!
//! Nothing here writes a file: [`Document`]s go wherever a front end puts them.
//!
//! ```
//! use nsm_problem::{Problem, Watch};
//!
//! let problem = Problem::parse(r#"
//!     title = "Bouncing ball"
//!     [system]
//!     coordinates = ["y"]
//!     mass        = [1]
//!     potential   = "9.8*y"
//!     inequality  = { floor = "y" }
//!     [start]
//!     q = [1]
//!     [[run]]
//!     name   = "ball"
//!     method = "gvi"
//!     step   = 0.05
//!     end    = 6.0
//! "#)?;
//! let result = problem.execute(&problem.runs[0], None, Watch::default())?;
//! let documents = nsm_report::runs::documents(&problem, &[result], &[], &[], false);
//! let names: Vec<&str> = documents.iter().map(|d| d.name.as_str()).collect();
//! assert!(names.contains(&"ball-energy.svg") && names.contains(&"index.html"));
//! # Ok::<(), nsm_problem::ProblemError>(())
//! ```

pub mod comparison;
pub mod description;
pub mod formats;
pub mod page;
pub mod plot;
pub mod runs;
pub mod scene;
pub mod table;
pub mod viewer;

/// A text with the name of the file that it belongs into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// Name of the file, without a folder.
    pub name: String,
    /// What stands in it.
    pub text: String,
}

impl Document {
    /// A text and its name.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { name: name.into(), text: text.into() }
    }
}
