//! Records a run: samples at the asked instants, every event, and files that are readable at any time.

use std::fs::File;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use nsm_model::{Events, Measurement, Observer, State, System};
use serde_json::{Value, json};

use super::account::Account;
use super::film::Camera;
use super::run::Run;

/// Which instants are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sampling {
    /// This many instants after the start, evenly spaced over the run.
    Count(usize),
    /// Every so many steps.
    Every(usize),
}

impl Sampling {
    /// Whether step `step` of `steps` is recorded; the start and the end always are.
    pub fn takes(self, step: usize, steps: usize) -> bool {
        match self {
            _ if step == 0 || step == steps => true,
            Self::Every(k) => step.is_multiple_of(k.max(1)),
            // The step on which the count of due samples rises.
            Self::Count(n) => due(step, n, steps) > due(step - 1, n, steps),
        }
    }
}

fn due(step: usize, samples: usize, steps: usize) -> u128 {
    step as u128 * samples as u128 / steps.max(1) as u128
}

/// How the states of one kind of system are written down.
pub trait Layout<S> {
    /// Names of the columns of a state, after `t`.
    fn columns(&self) -> Vec<String>;
    /// Appends the numbers of a state in that order.
    fn row(&self, state: &S, out: &mut Vec<f64>);
    /// Which of the columns say where things are, kind by kind (places, rotations), so that a film of them
    /// looks smooth; all of one kind, unless told.
    fn positions(&self) -> Vec<Vec<usize>> {
        vec![(0..self.columns().len()).collect()]
    }
    /// The state as it stands under `final` in the JSON.
    fn json(&self, state: &S) -> Value;
    /// How a row is written as JSON.
    fn form(&self) -> Form {
        Form::Coordinates
    }
}

/// What the numbers of a row are.
#[derive(Clone, Debug, PartialEq)]
pub enum Form {
    /// Positions, velocities and momenta, in equal parts.
    Coordinates,
    /// Position, rotation (row by row), momentum and angular momentum of each body.
    Bodies(Vec<String>),
}

impl Form {
    /// The row of a state as an object: `q`, `v`, `p`, or `bodies` by their names.
    pub fn json(&self, t: f64, row: &[f64]) -> Value {
        match self {
            Self::Coordinates => {
                let n = row.len() / 3;
                json!({ "t": t, "q": row[..n], "v": row[n..2 * n], "p": row[2 * n..] })
            }
            Self::Bodies(names) => {
                let body = |r: &[f64]| {
                    json!({
                        "position": r[..3],
                        "rotation": [r[3..6], r[6..9], r[9..12]],
                        "momentum": r[12..15],
                        "angular_momentum": r[15..18],
                    })
                };
                let bodies = names.iter().cloned().zip(row.chunks_exact(18).map(body));
                json!({ "t": t, "bodies": bodies.collect::<serde_json::Map<_, _>>() })
            }
        }
    }
}

impl Layout<State> for System {
    fn columns(&self) -> Vec<String> {
        let prefixed =
            |prefix: &'static str| self.names().iter().map(move |n| format!("{prefix}{n}"));
        prefixed("").chain(prefixed("v_")).chain(prefixed("p_")).collect()
    }

    fn row(&self, state: &State, out: &mut Vec<f64>) {
        out.extend_from_slice(&state.q);
        out.extend_from_slice(&state.v);
        out.extend_from_slice(&state.p);
    }

    fn positions(&self) -> Vec<Vec<usize>> {
        vec![(0..self.dimension()).collect()]
    }

    fn json(&self, state: &State) -> Value {
        json!({ "t": state.t, "q": state.q, "v": state.v, "p": state.p })
    }
}

/// One event with the state after it.
#[derive(Clone, Debug, PartialEq)]
pub struct EventRecord {
    /// Time.
    pub t: f64,
    /// Names of the contacts.
    pub contacts: Vec<String>,
    /// Their impulses.
    pub impulses: Vec<f64>,
    /// Energy after minus before.
    pub energy_change: f64,
    /// Columns of the state at the end of the step.
    pub state: Vec<f64>,
}

/// What a run leaves behind besides its ledger.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recording {
    /// Names of the columns of `samples`, beginning with `t`.
    pub columns: Vec<String>,
    /// One row per recorded instant.
    pub samples: Vec<Vec<f64>>,
    /// Names of the columns of the state.
    pub state_columns: Vec<String>,
    /// Every event.
    pub events: Vec<EventRecord>,
    /// The first part of the run, frame by frame, in the same columns as `samples`.
    pub film: Vec<Vec<f64>>,
}

impl Recording {
    /// A column by its name.
    pub fn column(&self, name: &str) -> Option<Vec<f64>> {
        let i = self.columns.iter().position(|c| c == name)?;
        Some(self.samples.iter().map(|row| row[i]).collect())
    }

    /// A column of the film by its name.
    pub fn filmed(&self, name: &str) -> Option<Vec<f64>> {
        let i = self.columns.iter().position(|c| c == name)?;
        Some(self.film.iter().map(|row| row[i]).collect())
    }
}

/// Watches a run from outside: shows its progress, asks it to stop.
#[derive(Clone, Copy, Default)]
pub struct Watch<'a> {
    /// Called now and then with the share that is done.
    pub progress: Option<&'a (dyn Fn(f64) + Sync)>,
    /// Set to stop the run in good order.
    pub cancel: Option<&'a AtomicBool>,
}

/// The observer that records.
pub(crate) struct Recorder<'a, L> {
    layout: &'a L,
    invariants: Vec<String>,
    contacts: Vec<String>,
    sampling: Sampling,
    steps: usize,
    watch: Watch<'a>,
    files: Option<Files>,
    camera: Camera,
    pub(crate) account: Account,
    /// The first failure to write; the run goes on in memory.
    pub(crate) failure: Option<io::Error>,
    pub(crate) recording: Recording,
}

struct Files {
    samples: Lines,
    events: Lines,
}

/// A file that holds whole lines at any time, also after the program was killed.
struct Lines {
    file: File,
    pending: String,
}

impl Lines {
    /// Lines are kept back until there are this many bytes of them.
    const ENOUGH: usize = 8192;

    fn create(path: &Path) -> io::Result<Self> {
        Ok(Self { file: File::create(path)?, pending: String::new() })
    }

    /// Adds a line made of fields.
    fn push(&mut self, fields: impl IntoIterator<Item = String>) -> io::Result<()> {
        for (i, field) in fields.into_iter().enumerate() {
            if i > 0 {
                self.pending.push(',');
            }
            self.pending.push_str(&field);
        }
        self.pending.push('\n');
        if self.pending.len() >= Self::ENOUGH { self.flush() } else { Ok(()) }
    }

    /// Writes what was kept back, in one piece.
    fn flush(&mut self) -> io::Result<()> {
        let written = self.file.write_all(self.pending.as_bytes());
        self.pending.clear();
        written
    }
}

impl<'a, L> Recorder<'a, L> {
    pub(crate) fn new<S>(
        layout: &'a L,
        invariants: &[String],
        gaps: &[String],
        run: &Run,
        account: Account,
        watch: Watch<'a>,
    ) -> Self
    where
        L: Layout<S>,
    {
        let state_columns = layout.columns();
        let mut columns = vec!["t".to_owned()];
        columns.extend(state_columns.iter().cloned());
        columns.push("E".into());
        columns.extend(invariants.iter().cloned());
        columns.extend(gaps.iter().map(|g| format!("gap_{g}")));
        columns.extend(["residual_position".into(), "residual_velocity".into()]);
        Self {
            layout,
            invariants: invariants.to_vec(),
            contacts: gaps.to_vec(),
            sampling: run.sampling,
            steps: run.steps,
            watch,
            files: None,
            // Column 0 is the time.
            camera: Camera::new(
                layout.positions().iter().map(|k| k.iter().map(|c| c + 1).collect()).collect(),
            ),
            account,
            failure: None,
            recording: Recording { columns, state_columns, ..Recording::default() },
        }
    }

    /// Also writes `NAME.csv` and `NAME-events.csv` while the run goes on.
    pub(crate) fn writing_to(mut self, folder: &Path, name: &str) -> io::Result<Self> {
        std::fs::create_dir_all(folder)?;
        let open = |file: String| Lines::create(&folder.join(file));
        let mut files = Files {
            samples: open(format!("{name}.csv"))?,
            events: open(format!("{name}-events.csv"))?,
        };
        files.samples.push(self.recording.columns.iter().map(|c| quoted(c)))?;
        let heads = ["t", "contacts", "impulses", "energy_change"].map(str::to_owned);
        let states = self.recording.state_columns.iter().map(|c| quoted(c));
        files.events.push(heads.into_iter().chain(states))?;
        files.samples.flush()?;
        files.events.flush()?;
        self.files = Some(files);
        Ok(self)
    }

    /// Flushes the files and develops the film; the first failure to write, if any, is kept in `failure`.
    pub(crate) fn finish(&mut self) {
        let camera = std::mem::replace(&mut self.camera, Camera::new(Vec::new()));
        self.recording.film = camera.develop();
        if let Some(files) = &mut self.files {
            let flushed = files.samples.flush().and_then(|()| files.events.flush());
            keep(&mut self.failure, flushed);
        }
    }
}

fn keep(failure: &mut Option<io::Error>, result: io::Result<()>) {
    if let Err(error) = result {
        failure.get_or_insert(error);
    }
}

impl<S, L: Layout<S>> Observer<S> for Recorder<'_, L> {
    fn observe(
        &mut self,
        step: usize,
        state: &S,
        m: &Measurement,
        events: &Events,
    ) -> ControlFlow<()> {
        self.account.observe(step, m, events, &self.invariants, || self.layout.json(state));
        for event in events.iter() {
            let mut row = Vec::with_capacity(self.recording.state_columns.len());
            self.layout.row(state, &mut row);
            let named = |&c: &usize| self.contacts.get(c).cloned().unwrap_or_else(|| c.to_string());
            let record = EventRecord {
                t: event.t,
                contacts: event.contacts.iter().map(named).collect(),
                impulses: event.impulses.to_vec(),
                energy_change: event.energy_change,
                state: row,
            };
            if let Some(files) = &mut self.files {
                keep(&mut self.failure, files.events.push(event_fields(&record)));
            }
            self.recording.events.push(record);
        }
        let measured = |layout: &L| {
            let mut row = vec![m.t];
            layout.row(state, &mut row);
            row.push(m.energy());
            row.extend_from_slice(&m.invariants);
            row.extend_from_slice(&m.gaps);
            row.extend([m.position_residual, m.velocity_residual]);
            row
        };
        if self.camera.wants(step) {
            self.camera.take(measured(self.layout));
        }
        if self.sampling.takes(step, self.steps) {
            let row = measured(self.layout);
            if let Some(files) = &mut self.files {
                // Full precision: the shortest decimal that reads back as the same number.
                let written = files.samples.push(row.iter().map(|x| format!("{x:?}")));
                let written = written.and_then(|()| files.samples.flush());
                let written = written.and_then(|()| files.events.flush());
                keep(&mut self.failure, written);
            }
            self.recording.samples.push(row);
        }
        if step.is_multiple_of(256) {
            if let Some(progress) = self.watch.progress {
                progress(step as f64 / self.steps.max(1) as f64);
            }
            if self.watch.cancel.is_some_and(|flag| flag.load(Ordering::Relaxed)) {
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    }
}

/// The fields of an event in full precision; those of several contacts are separated by semicolons.
fn event_fields(event: &EventRecord) -> impl Iterator<Item = String> {
    let impulses: Vec<String> = event.impulses.iter().map(|x| format!("{x:?}")).collect();
    let first = [
        format!("{:?}", event.t),
        quoted(&event.contacts.join(";")),
        impulses.join(";"),
        format!("{:?}", event.energy_change),
    ];
    first.into_iter().chain(event.state.iter().map(|x| format!("{x:?}")))
}

/// A CSV field, in quotes where it needs them.
fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_even_and_include_both_ends() {
        let taken = |sampling: Sampling, steps| {
            (0..=steps).filter(|&s| sampling.takes(s, steps)).collect::<Vec<_>>()
        };
        assert_eq!(taken(Sampling::Count(4), 8), [0, 2, 4, 6, 8]);
        assert_eq!(taken(Sampling::Count(3), 10), [0, 4, 7, 10]);
        assert_eq!(taken(Sampling::Count(500), 3), [0, 1, 2, 3]);
        assert_eq!(taken(Sampling::Every(4), 10), [0, 4, 8, 10]);
        assert_eq!(taken(Sampling::Count(0), 3), [0, 3]);
    }
}
