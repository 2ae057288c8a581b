//! `[[expect]]`: what must come out of a run, or of several, and whether it did.

use super::across::{across, all_made, named_runs, names, unknown};
use super::reader::Reader;
use super::{Place, ProblemError, Run, RunResult};
use crate::{Origin, Status};
use nsm_formula::Condition;

/// What must come out.
#[derive(Clone, Debug)]
pub struct Expectation {
    /// The run or family it concerns; if absent, every run, or those that its condition names.
    pub run: Option<String>,
    /// The claim, in words.
    pub what: String,
    /// The condition that decides.
    pub check: Condition,
    /// How the outcome relates to the source's statement.
    pub status: Status,
    /// Where the expected number comes from, if the file or the status says.
    pub origin: Option<Origin>,
    /// What was chosen, or why it differs.
    pub note: String,
    /// Runs and families that the condition names by `runs.NAME`.
    named: Vec<String>,
    place: Place,
}

/// An expectation, decided.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// The run it concerns; absent where the condition names its runs itself.
    pub run: Option<String>,
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
    /// Where the expected number comes from, if the file or the status says.
    pub origin: Option<Origin>,
    /// What was chosen, or why it differs.
    pub note: String,
}

impl Expectation {
    pub(crate) fn read(reader: &Reader<'_>, runs: &[Run]) -> Result<Self, ProblemError> {
        let known = names(runs);
        let run = reader.text("run")?.map(str::to_owned);
        let member = |name: &str| runs.iter().any(|r| r.name == name);
        if let Some(name) = run.as_ref().filter(|n| !known.contains(&n.as_str()) && !member(n)) {
            return Err(reader.place_of("run").error(unknown(name, &known)));
        }
        let text = reader.require(
            "check",
            reader.text("check")?,
            "a condition such as `energy.drift < 1e-9`",
        )?;
        let place = reader.place_of("check");
        let check = Condition::new(text, &known).map_err(|e| place.formula(&e))?;
        let named = named_runs(&check.names(), runs, &place)?;
        let words = Status::ALL.map(|s| (s.word(), s));
        let status = reader.choice("status", &words)?.unwrap_or(Status::Reproduced);
        let origins = Origin::ALL.map(|o| (o.word(), o));
        let expectation = Self {
            run,
            what: reader.text("what")?.unwrap_or(text).to_owned(),
            check,
            status,
            origin: reader.choice("origin", &origins)?.or(Origin::of(status)),
            note: reader.text("note")?.unwrap_or_default().to_owned(),
            named,
            place,
        };
        reader.finish()?;
        Ok(expectation)
    }

    /// Whether the condition decides about the failure of a run (`failed`) or its warnings (`warnings`), which then are none of the
    /// suite.
    pub(crate) fn foresees(&self, what: &str, result: &RunResult) -> bool {
        let names = |path: &str| {
            path.strip_prefix(what)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        };
        self.check.names().iter().any(|name| match name.strip_prefix("runs.") {
            None => names(name) && self.concerns(result),
            Some(path) => {
                let of = result.family.as_deref().unwrap_or(&result.name);
                let rest = path.strip_prefix(of).map(|rest| match rest.split_once(']') {
                    Some((index, rest)) if index.starts_with('[') => rest,
                    _ => rest,
                });
                rest.and_then(|rest| rest.strip_prefix('.')).is_some_and(names)
            }
        })
    }

    /// Whether the condition is to be judged on a run's own results.
    fn concerns(&self, result: &RunResult) -> bool {
        let own = |name: &&str| !name.starts_with("runs.");
        match &self.run {
            Some(name) => *name == result.name || Some(name) == result.family.as_ref(),
            None => self.named.is_empty() || self.check.names().iter().any(own),
        }
    }

    /// Decides the expectation on the results that it concerns, if all runs that it names were made.
    pub(crate) fn judge(
        &self,
        runs: &[Run],
        results: &[&RunResult],
    ) -> Result<Vec<Verdict>, ProblemError> {
        if !all_made(&self.named, runs, results) {
            return Ok(Vec::new());
        }
        let known = names(runs);
        let own: Vec<&RunResult> = results.iter().filter(|r| self.concerns(r)).copied().collect();
        if own.is_empty() && self.run.is_none() && !self.named.is_empty() {
            return Ok(vec![self.decide(None, &known, results)?]);
        }
        own.into_iter().map(|result| self.decide(Some(result), &known, results)).collect()
    }

    fn decide(
        &self,
        own: Option<&RunResult>,
        known: &[&str],
        results: &[&RunResult],
    ) -> Result<Verdict, ProblemError> {
        let lookup = |name: &str| match (name.strip_prefix("runs."), own) {
            (Some(path), _) => across(path, known, results),
            (None, Some(result)) => result.figure(name),
            (None, None) => Err(format!("of which run is `{name}`?")),
        };
        let holds = self.check.holds(&lookup).map_err(|e| self.place.formula(&e))?;
        let figures = self.check.figures(&lookup).map_err(|e| self.place.formula(&e))?;
        Ok(Verdict {
            run: own.map(|result| result.name.clone()),
            what: self.what.clone(),
            check: self.check.text().to_owned(),
            holds,
            figures,
            status: self.status,
            origin: self.origin,
            note: self.note.clone(),
        })
    }
}
