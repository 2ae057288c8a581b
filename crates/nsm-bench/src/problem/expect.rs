//! `[[expect]]`: what must come out of a run, and whether it did.

use serde_json::Value;

use super::reader::Reader;
use super::{Place, ProblemError, Run, lookup};
use crate::Status;
use crate::formula::{Condition, nearest};

/// What must come out.
#[derive(Clone, Debug)]
pub struct Expectation {
    /// The run it concerns; every run if absent.
    pub run: Option<String>,
    /// The claim, in words.
    pub what: String,
    /// The condition that decides.
    pub check: Condition,
    /// How the outcome relates to the source's statement.
    pub status: Status,
    /// What was chosen, or why it differs.
    pub note: String,
    place: Place,
}

/// An expectation, decided.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// The claim, in words.
    pub what: String,
    /// The condition as written.
    pub check: String,
    /// Whether it holds.
    pub holds: bool,
    /// The results that it names, with their values.
    pub figures: Vec<(String, f64)>,
    /// How the outcome relates to the source's statement.
    pub status: Status,
    /// What was chosen, or why it differs.
    pub note: String,
}

impl Expectation {
    pub(crate) fn read(reader: &Reader<'_>, runs: &[Run]) -> Result<Self, ProblemError> {
        let run = reader.text("run")?.map(str::to_owned);
        if let Some(name) = run.as_ref().filter(|name| !runs.iter().any(|r| r.name == **name)) {
            let hint = nearest(name, runs.iter().map(|r| r.name.as_str()));
            let hint = hint.map(|n| format!(", did you mean `{n}`?")).unwrap_or_default();
            return Err(reader.place_of("run").error(format!("there is no run `{name}`{hint}")));
        }
        let text = reader.require(
            "check",
            reader.text("check")?,
            "a condition such as `energy.drift < 1e-9`",
        )?;
        let check = Condition::new(text).map_err(|e| reader.place_of("check").formula(&e))?;
        let words = [Status::Reproduced, Status::Chosen, Status::Differs, Status::Erratum]
            .map(|s| (s.word(), s));
        let expectation = Self {
            run,
            what: reader.text("what")?.unwrap_or(text).to_owned(),
            check,
            status: reader.choice("status", &words)?.unwrap_or(Status::Reproduced),
            note: reader.text("note")?.unwrap_or_default().to_owned(),
            place: reader.place_of("check"),
        };
        reader.finish()?;
        Ok(expectation)
    }

    /// Decides the expectation on the results of a run.
    pub(crate) fn judge(&self, object: &Value) -> Result<Verdict, ProblemError> {
        let holds =
            self.check.holds(&|name| lookup(object, name)).map_err(|e| self.place.formula(&e))?;
        let figures = self.check.names().into_iter();
        Ok(Verdict {
            what: self.what.clone(),
            check: self.check.text().to_owned(),
            holds,
            figures: figures.filter_map(|n| lookup(object, n).map(|x| (n.to_owned(), x))).collect(),
            status: self.status,
            note: self.note.clone(),
        })
    }
}
