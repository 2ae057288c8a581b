//! What is wrong with a problem file: where, which key, and what would be right.

use nsm_formula::FormulaError;
use nsm_model::SystemError;

/// A problem file that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{}{}", self.place(), self.message)]
pub struct ProblemError {
    /// The file, once known.
    pub file: Option<String>,
    /// Line of the culprit, from 1.
    pub line: Option<usize>,
    /// The key, with the path to it, such as `run[1].step`.
    pub key: String,
    /// What is wrong and what would be right.
    pub message: String,
}

impl ProblemError {
    fn place(&self) -> String {
        let at = match (&self.file, self.line) {
            (Some(file), Some(line)) => format!("{file}:{line}: "),
            (Some(file), None) => format!("{file}: "),
            (None, Some(line)) => format!("line {line}: "),
            (None, None) => String::new(),
        };
        if self.key.is_empty() { at } else { format!("{at}`{}`: ", self.key) }
    }

    /// Says in which file it was found.
    #[must_use]
    pub fn in_file(mut self, file: &str) -> Self {
        self.file = Some(file.to_owned());
        self
    }
}

/// Where in the file something stands; turns errors of lower layers into errors of the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Place {
    /// Path of keys.
    pub key: String,
    /// Line, from 1.
    pub line: Option<usize>,
}

impl Place {
    /// An error at this place.
    pub fn error(&self, message: impl Into<String>) -> ProblemError {
        ProblemError { file: None, line: self.line, key: self.key.clone(), message: message.into() }
    }

    /// Reports a formula that cannot be understood.
    pub fn formula(&self, error: &FormulaError) -> ProblemError {
        self.error(error.to_string())
    }

    /// Reports a system, start or method that cannot be used.
    pub fn system(&self, error: &SystemError) -> ProblemError {
        self.error(error.to_string())
    }
}
