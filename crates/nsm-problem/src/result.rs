//! What a run gives: the ledger, the recording, and the answers to what the file asks, each with its type.
//!
//! [`RunResult::json`] prints them as the contract promises.

use std::sync::OnceLock;

use nsm_formula::{Figure, nearest};
use nsm_model::{Band, Ledger, Warning};
use serde_json::{Value, json};

use super::account::{Answers, word};
use super::lookup::lookup;
use super::print;
use super::record::{Form, Recording};
use super::state::{Named, StateRecord};

/// A run that has ended, well or not.
#[derive(Clone, Debug)]
pub struct RunResult {
    /// Name of the run.
    pub name: String,
    /// Name of its family, if it is a member of one.
    pub family: Option<String>,
    /// Its method.
    pub method: String,
    /// Why nsm took this method, where the file names none.
    pub recommended: Option<&'static str>,
    /// Step size.
    pub step: f64,
    /// What its family varies, by path, with the values of this run.
    pub varied: Vec<(String, Setting)>,
    /// The account: steps, events, bands of energy and invariants, residuals, work, warnings.
    pub ledger: Ledger,
    /// Samples and events.
    pub recording: Recording,
    /// Bands of gaps, totals of contacts, states at chosen instants, parts of the run.
    pub answers: Answers,
    /// What joints and other constraints carried; none where nothing has a name.
    pub reactions: Named<Carried>,
    /// The last good state.
    pub end: StateRecord,
    /// What the columns of states are.
    pub form: Form,
    /// Wall-clock time in seconds, if there was a clock.
    pub seconds: Option<f64>,
    /// Why the files end before the run does, if they do.
    pub unwritten: Option<String>,
    /// Why the run ended before its end time, if a step failed.
    pub failure: Option<String>,
    /// Whether it was interrupted from outside.
    pub interrupted: bool,
    /// What conditions look up, printed once. Long runs are asked often.
    pub(crate) printed: OnceLock<Value>,
}

/// A value that a family varies.
#[derive(Clone, Debug, PartialEq)]
pub enum Setting {
    /// A number.
    Number(f64),
    /// A text, or anything else as it stands in the file.
    Text(String),
    /// A list of them.
    List(Vec<Setting>),
}

/// What a constraint with a name carried over a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Carried {
    /// A joint: force and torque, along its axis and two across it.
    Joint {
        /// Force on the second body.
        force: Load,
        /// Torque about the joint's point.
        torque: Load,
        /// Largest impulse in one impact.
        impulse: f64,
        /// Largest angular impulse in one impact.
        angular_impulse: f64,
    },
    /// One number: what a motor, rod, gear, limit or rope carries.
    Row(Band),
}

/// A vector at the recorded instants.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// At the first of them.
    pub start: Option<[f64; 3]>,
    /// At the last.
    pub end: Option<[f64; 3]>,
    /// Its largest size.
    pub max: f64,
}

impl RunResult {
    /// The object under `runs.NAME` of the contract.
    pub fn json(&self) -> Value {
        let mut object = print::run(self);
        object["event_records"] = print::events(self);
        if self.left_out() > 0 {
            object["event_records_left_out"] = json!(self.left_out());
        }
        object
    }

    /// The result at a path such as `energy.max`, `final.q` or `windows[*].energy.min`.
    ///
    /// # Errors
    /// Says which part of the path there is not, and what is most like it.
    pub fn figure(&self, path: &str) -> Result<Figure, String> {
        if path.starts_with("event_records") {
            self.all_kept(path)?;
            // Long runs have many: they are written down only where someone asks.
            return lookup(&json!({ "event_records": print::events(self) }), path);
        }
        if let Some(name) = path.strip_prefix("samples.") {
            return self.sampled(name).map(Figure::List);
        }
        match path.strip_prefix("warnings") {
            Some("") => Ok(self.count_warnings(|_| true)),
            Some(rest) if rest.starts_with('.') => {
                let kind = &rest[1..];
                if Warning::KINDS.contains(&kind) {
                    return Ok(self.count_warnings(|w| w.kind() == kind));
                }
                let known = Warning::KINDS.join(", ");
                Err(format!("there are no warnings of the kind `{kind}`, but of {known}"))
            }
            _ => lookup(self.printed.get_or_init(|| print::run(self)), path),
        }
    }

    /// A column of the tables of a run, at the recorded instants: of states, energy and gaps, or of what joints carry.
    fn sampled(&self, name: &str) -> Result<Vec<f64>, String> {
        let Recording { columns, samples, reaction_columns, reactions, .. } = &self.recording;
        for (names, rows) in [(columns, samples), (reaction_columns, reactions)] {
            if let Some(k) = names.iter().position(|column| word(column) == name) {
                return Ok(rows.iter().map(|row| row[k]).collect());
            }
        }
        let known: Vec<String> = columns.iter().chain(reaction_columns).map(|c| word(c)).collect();
        let hint = nearest(name, known.iter().map(String::as_str));
        let hint = hint.map(|n| format!(", did you mean `{n}`?"));
        let list = || format!(" (known: {})", known.join(", "));
        Err(format!("the table has no column `{name}`{}", hint.unwrap_or_else(list)))
    }

    /// How many warnings there are of those asked for.
    fn count_warnings(&self, asked: impl Fn(&Warning) -> bool) -> Figure {
        Figure::Number(self.ledger.warnings().iter().filter(|w| asked(w)).count() as f64)
    }

    /// Events that happened and are not kept in full.
    pub fn left_out(&self) -> usize {
        self.recording.event_times.len() - self.recording.events.len()
    }

    /// A list of events must not be judged by its beginning.
    fn all_kept(&self, path: &str) -> Result<(), String> {
        let kept = self.recording.events.len();
        let chosen = path["event_records".len()..].strip_prefix('[');
        let one = chosen.and_then(|rest| rest.split(']').next()?.parse::<usize>().ok());
        if self.left_out() == 0 || one.is_some_and(|k| k < kept) {
            return Ok(());
        }
        Err(format!(
            "only the first {kept} of {} events are kept in full; `[output]` with `events = \"all\"` keeps every one",
            self.recording.event_times.len()
        ))
    }
}

/// What joints carried: largest force and torque at the recorded instants, and those at the end; what else carries a force, by its
/// band.
pub(crate) fn reactions(recording: &Recording) -> Named<Carried> {
    let column = |k: usize| recording.reactions.iter().map(move |row| row[k]);
    let mut carried = Vec::new();
    let mut k = 1;
    while let Some(name) = recording.reaction_columns.get(k) {
        let Some(joint) = name.strip_suffix(".Fn") else {
            let mut values = column(k);
            let mut all = Band::new(values.next().unwrap_or(f64::NAN));
            values.for_each(|x| all.extend(x));
            carried.push((word(name), Carried::Row(all)));
            k += 1;
            continue;
        };
        let load = |first: usize| {
            let at =
                |row: &Vec<f64>| <[f64; 3]>::try_from(&row[first..first + 3]).unwrap_or_default();
            let size = |x: [f64; 3]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
            let vectors = || recording.reactions.iter().map(at);
            let max = vectors().map(size).fold(0.0, f64::max);
            Load { start: vectors().next(), end: vectors().next_back(), max }
        };
        // The impulses have no column of times.
        let largest = |k: usize| recording.largest_impulses.get(k - 1).copied().unwrap_or(0.0);
        let (impulse, angular_impulse) = (largest(k), largest(k + 3));
        let (force, torque) = (load(k), load(k + 3));
        let all = Carried::Joint { force, torque, impulse, angular_impulse };
        carried.push((word(joint), all));
        k += 6;
    }
    Named(carried)
}
