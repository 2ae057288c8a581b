//! A named experiment with what must come out of it.
//!
//! A scenario belongs to a figure or table of a paper. It runs, measures, and lays its measurements
//! beside the expected ones; the verdict is computed from the run, never stored.

use std::error::Error;

use nsm_problem::{Axes, Curve, Status};

/// How much to compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// Enough for the checks that a test suite can afford: seconds in all.
    Quick,
    /// The paper's own run lengths and ensembles.
    Full,
}

/// What a measured number must satisfy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Expected {
    /// Between the two, both included.
    Within(f64, f64),
    /// No further from the first than the second.
    Near(f64, f64),
    /// At most this.
    AtMost(f64),
    /// At least this.
    AtLeast(f64),
}

impl Expected {
    /// Whether a value satisfies it; NaN never does.
    pub fn holds(self, value: f64) -> bool {
        match self {
            Self::Within(low, high) => (low..=high).contains(&value),
            Self::Near(target, tolerance) => (value - target).abs() <= tolerance,
            Self::AtMost(bound) => value <= bound,
            Self::AtLeast(bound) => value >= bound,
        }
    }
}

impl std::fmt::Display for Expected {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {
            Self::Within(low, high) => write!(f, "in [{low}, {high}]"),
            Self::Near(target, tolerance) => write!(f, "{target} ± {tolerance:e}"),
            Self::AtMost(bound) => write!(f, "<= {bound:e}"),
            Self::AtLeast(bound) => write!(f, ">= {bound:e}"),
        }
    }
}

/// One measured number beside what it must be.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// What was measured.
    pub what: String,
    /// The number.
    pub value: f64,
    /// What it must satisfy.
    pub expected: Expected,
}

impl Check {
    /// Whether it does.
    pub fn passes(&self) -> bool {
        self.expected.holds(self.value)
    }
}

impl std::fmt::Display for Check {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mark = if self.passes() { "ok" } else { "FAILS" };
        write!(f, "{}: {} (expected {}) {mark}", self.what, self.value, self.expected)
    }
}

/// A table as a paper prints it.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Caption.
    pub title: String,
    /// Heads of the columns.
    pub columns: Vec<String>,
    /// The rows, as text.
    pub rows: Vec<Vec<String>>,
}

/// What a scenario found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    /// The numbers that decide the verdict.
    pub checks: Vec<Check>,
    /// The curves of the figure.
    pub curves: Vec<Curve>,
    /// How the panel with these labels is drawn, where it is not [`Axes::Auto`].
    pub axes: Vec<((String, String), Axes)>,
    /// The tables.
    pub tables: Vec<Table>,
    /// Data from elsewhere that the experiment needs and did not find: then there is no verdict.
    pub missing: Option<String>,
}

impl Findings {
    /// Nothing could be found out, for want of data that are not part of the project.
    pub fn missing(what: impl Into<String>) -> Self {
        Self { missing: Some(what.into()), ..Self::default() }
    }

    /// Lays a measured number beside what it must be.
    pub fn check(&mut self, what: impl Into<String>, value: f64, expected: Expected) {
        self.checks.push(Check { what: what.into(), value, expected });
    }

    /// Adds a curve.
    pub fn curve(
        &mut self,
        name: impl Into<String>,
        (x, y): (&str, &str),
        points: impl IntoIterator<Item = [f64; 2]>,
    ) {
        let points = points.into_iter().collect();
        self.curves.push(Curve { name: name.into(), x: x.into(), y: y.into(), points });
    }

    /// Says how the panel of the curves with these labels is drawn.
    pub fn draw(&mut self, (x, y): (&str, &str), axes: Axes) {
        self.axes.push(((x.into(), y.into()), axes));
    }

    /// Adds a table.
    pub fn table<R: IntoIterator<Item = String>>(
        &mut self,
        title: impl Into<String>,
        columns: &[&str],
        rows: impl IntoIterator<Item = R>,
    ) {
        self.tables.push(Table {
            title: title.into(),
            columns: columns.iter().map(|&c| c.into()).collect(),
            rows: rows.into_iter().map(|row| row.into_iter().collect()).collect(),
        });
    }

    /// Whether there is a check and all of them pass.
    pub fn pass(&self) -> bool {
        !self.checks.is_empty() && self.checks.iter().all(Check::passes)
    }
}

/// Why a scenario could not be run to its end.
pub type ScenarioError = Box<dyn Error + Send + Sync>;

type Experiment = Box<dyn Fn(Effort) -> Result<Findings, ScenarioError> + Send + Sync>;

/// A named experiment.
pub struct Scenario {
    /// Paper and short name, such as `kaufman-pai/pogo-gvi`.
    pub id: String,
    /// Where it stands in the paper.
    pub figure: String,
    /// What the paper states.
    pub claim: String,
    /// How our outcome relates to it.
    pub status: Status,
    /// What was chosen, why it differs, what the erratum is; empty if there is nothing to say.
    pub note: String,
    experiment: Experiment,
}

impl Scenario {
    /// A scenario that states a claim and how to examine it.
    pub fn new(
        id: &str,
        figure: &str,
        claim: &str,
        status: Status,
        experiment: impl Fn(Effort) -> Result<Findings, ScenarioError> + Send + Sync + 'static,
    ) -> Self {
        Self {
            id: id.into(),
            figure: figure.into(),
            claim: claim.into(),
            status,
            note: String::new(),
            experiment: Box::new(experiment),
        }
    }

    /// Adds what was chosen, why the outcome differs, or what the erratum is.
    #[must_use]
    pub fn noting(mut self, note: &str) -> Self {
        self.note = note.into();
        self
    }

    /// Runs the experiment.
    ///
    /// # Errors
    /// If a system cannot be built or a run fails that should not.
    pub fn run(&self, effort: Effort) -> Result<Findings, ScenarioError> {
        (self.experiment)(effort)
    }
}

impl std::fmt::Debug for Scenario {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scenario")
            .field("id", &self.id)
            .field("status", &self.status)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expectations_hold_on_their_bounds_and_never_for_nan() {
        for expected in [
            Expected::Within(1.0, 2.0),
            Expected::Near(1.0, 0.5),
            Expected::AtMost(1.0),
            Expected::AtLeast(1.0),
        ] {
            assert!(expected.holds(1.0), "{expected}");
            assert!(!expected.holds(f64::NAN), "{expected}");
        }
        assert!(!Expected::Within(1.0, 2.0).holds(2.1));
        assert!(!Expected::Near(1.0, 0.5).holds(0.4));
    }

    #[test]
    fn no_checks_is_no_verdict() {
        assert!(!Findings::default().pass());
        assert!(!Findings::missing("the reference solution").pass());
    }
}
