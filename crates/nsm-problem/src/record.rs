//! Records a run: samples at the asked instants, every event, and files that are readable at any time.

use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use nsm_model::{ContactImpulse, Event, Events, Measurement, Observer, State, System, Touch};

use super::account::Account;
use super::files::{Files, event_line, numbers, quoted};
use super::film::{Camera, FRAMES, Frame};
use super::lines::Lines;
use super::run::Run;
use super::sampling::{FILMED, Sampling, WIDE};
use super::state::{BodyState, Coordinates, StateRecord, Turning};
use super::touch::{TouchRecord, impulses_of};

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
    /// Name of a contact whose gap is not among those that are measured.
    fn contact_name(&self, _contact: usize) -> Option<String> {
        None
    }
    /// Where a contact acted in the step that ends with this state, if that is a place.
    fn touch(&self, _state: &S, contact: &ContactImpulse) -> Option<Touch> {
        contact.touch
    }
    /// The state as results hold it.
    fn state(&self, state: &S) -> StateRecord;
    /// Names of the forces that constraints carry, if there are any to tell of.
    fn reaction_columns(&self) -> Vec<String> {
        Vec::new()
    }
    /// Appends those forces in that order.
    fn reactions(&self, _state: &S, _out: &mut Vec<f64>) {}
    /// Appends the impulses that constraints carry in an event of the step that ends with this state, in the same order.
    fn reaction_impulses(&self, _state: &S, _event: &Event<'_>, _out: &mut Vec<f64>) {}
    /// What the numbers of a row are.
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
    /// The state that a row stands for.
    pub fn state(&self, t: f64, row: &[f64]) -> StateRecord {
        match self {
            Self::Coordinates => {
                let (q, rest) = row.split_at(row.len() / 3);
                let (v, p) = rest.split_at(q.len());
                let coordinates = Coordinates { q: q.to_vec(), v: v.to_vec(), p: p.to_vec() };
                StateRecord { t, coordinates: Some(coordinates), bodies: None }
            }
            Self::Bodies(names) => {
                let three = |x: &[f64]| [x[0], x[1], x[2]];
                let body = |r: &[f64]| BodyState {
                    position: three(r),
                    momentum: three(&r[12..]),
                    turning: Some(Turning {
                        rotation: [three(&r[3..]), three(&r[6..]), three(&r[9..])],
                        angular_momentum: three(&r[15..]),
                    }),
                };
                let bodies = names.iter().cloned().zip(row.chunks_exact(18).map(body)).collect();
                StateRecord { t, coordinates: None, bodies: Some(bodies) }
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

    fn touch(&self, state: &State, contact: &ContactImpulse) -> Option<Touch> {
        contact.touch_in(self, &state.q, state.t)
    }

    fn state(&self, state: &State) -> StateRecord {
        let State { t, q, v, p, .. } = state.clone();
        StateRecord { t, coordinates: Some(Coordinates { q, v, p }), bodies: None }
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
    /// Where there is friction: tangential impulses, whether the contacts slip after the event, and the energy that each added.
    pub tangential: Vec<[f64; 2]>,
    /// See `tangential`.
    pub slips: Vec<bool>,
    /// See `tangential`.
    pub work: Vec<f64>,
    /// Where each contact acted, if that is a place: in coordinates where it is at the end of the step.
    pub touches: Vec<Option<Touch>>,
    /// The state at the end of the step, in the columns [`Recording::event_columns`].
    pub state: Vec<f64>,
    /// The impulses that constraints carried, in the order of [`Recording::reaction_columns`] without its first.
    pub carried: Vec<f64>,
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
    /// Those of them that events have: all, or none where the state has more than [`WIDE`] numbers. There many things happen in every step, and
    /// what would be written grew with the square of their number.
    pub event_columns: Vec<String>,
    /// Time of every event.
    pub event_times: Vec<f64>,
    /// The events that are kept in full: the first ones, as many as [`Run::event_records`].
    pub events: Vec<EventRecord>,
    /// The first part of the run, frame by frame, in the same columns as `samples`.
    pub film: Vec<Vec<f64>>,
    /// Contacts that acted in the step that ends at each recorded instant, and at each frame of the film: where a file asks for forces in its
    /// picture, or for VTK; else empty.
    pub touches: Vec<Vec<TouchRecord>>,
    /// See `touches`.
    pub film_touches: Vec<Vec<TouchRecord>>,
    /// Names of the columns of `reactions`, beginning with `t`; none where nothing is carried.
    pub reaction_columns: Vec<String>,
    /// The forces of constraints, one row per recorded instant.
    pub reactions: Vec<Vec<f64>>,
    /// The largest impulses of constraints in one event: at the first column of a vector its length, of a row its size.
    pub largest_impulses: Vec<f64>,
}

impl Recording {
    /// Takes in the impulses that constraints carried in an event.
    fn keep_largest(&mut self, carried: &[f64]) {
        self.largest_impulses.resize(carried.len(), 0.0);
        for (k, largest) in self.largest_impulses.iter_mut().enumerate() {
            let name = &self.reaction_columns[k + 1];
            let vector = [".Fn", ".Tn"].iter().any(|end| name.ends_with(end));
            let part = &carried[k..if vector { k + 3 } else { k + 1 }];
            *largest = largest.max(part.iter().map(|x| x * x).sum::<f64>().sqrt());
        }
    }

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
    /// Told at once of what the run survives but its user must know: a disk that is full.
    pub notice: Option<&'a (dyn Fn(&str) + Sync)>,
    /// Seconds from some instant on. Without it no time is measured: a browser has another clock.
    pub clock: Option<&'a (dyn Fn() -> f64 + Sync)>,
}

/// The observer that records.
pub(crate) struct Recorder<'a, L> {
    pub(super) layout: &'a L,
    invariants: Vec<String>,
    pub(super) contacts: Vec<String>,
    sampling: Sampling,
    steps: usize,
    step: f64,
    event_records: usize,
    places: bool,
    watch: Watch<'a>,
    files: Option<Files>,
    camera: Camera,
    pub(crate) account: Account,
    /// The first failure to write; the run goes on in memory.
    pub(crate) failure: Option<io::Error>,
    pub(crate) recording: Recording,
}

impl<'a, L> Recorder<'a, L> {
    pub(crate) fn new<S>(
        layout: &'a L,
        invariants: &[String],
        (gaps, rubbing): (&[String], &[String]),
        run: &Run,
        account: Account,
        watch: Watch<'a>,
    ) -> Self
    where
        L: Layout<S>,
    {
        let state_columns = layout.columns();
        let mut carried = layout.reaction_columns();
        if !carried.is_empty() {
            carried.insert(0, "t".into());
        }
        let mut columns = vec!["t".to_owned()];
        columns.extend(state_columns.iter().cloned());
        let mut known: HashSet<String> = columns.iter().cloned().collect();
        // A name stands for one column: a tracked quantity that is named like a coordinate says what it is.
        for (kind, name) in [("energy", "E".to_owned())]
            .into_iter()
            .chain(invariants.iter().map(|name| ("invariant", name.clone())))
            .chain(gaps.iter().map(|gap| ("gap", format!("gap_{gap}"))))
            .chain(["position", "velocity"].map(|r| ("residual", format!("residual_{r}"))))
        {
            let mut name = name;
            while !known.insert(name.clone()) {
                name = format!("{kind}_{name}");
            }
            columns.push(name);
        }
        let event_columns =
            if state_columns.len() > WIDE { Vec::new() } else { state_columns.clone() };
        Self {
            layout,
            invariants: invariants.to_vec(),
            contacts: rubbing.to_vec(),
            sampling: run.sampling.counted(columns.len()),
            steps: run.steps,
            step: run.step,
            event_records: run.event_records,
            places: run.places,
            watch,
            files: None,
            // Column 0 is the time.
            camera: Camera::new(
                layout.positions().iter().map(|k| k.iter().map(|c| c + 1).collect()).collect(),
                if state_columns.len() > FILMED {
                    0
                } else {
                    Sampling::usual(FRAMES, columns.len())
                },
            ),
            account,
            failure: None,
            recording: Recording {
                columns,
                state_columns,
                event_columns,
                reaction_columns: carried,
                ..Recording::default()
            },
        }
    }

    /// Also writes `NAME.csv`, `NAME-events.csv` and, where constraints carry forces, `NAME-reactions.csv` and, of impacts, `NAME-reaction-impulses.csv`, and
    /// where contacts rub, `NAME-contacts.csv`, while the run goes on.
    pub(crate) fn writing_to(mut self, folder: &Path, name: &str) -> io::Result<Self> {
        std::fs::create_dir_all(folder)?;
        let open = |file: String| File::create(folder.join(file)).map(Lines::new);
        let mut files = Files {
            samples: open(format!("{name}.csv"))?,
            events: open(format!("{name}-events.csv"))?,
            reactions: if self.recording.reaction_columns.is_empty() {
                None
            } else {
                Some(open(format!("{name}-reactions.csv"))?)
            },
            impulses: None,
            impulses_path: folder.join(format!("{name}-reaction-impulses.csv")),
            contacts: None,
            contacts_path: folder.join(format!("{name}-contacts.csv")),
        };
        let heads =
            |names: &[String]| names.iter().map(|c| quoted(c)).collect::<Vec<_>>().join(",");
        files.samples.push(|line| line.push_str(&heads(&self.recording.columns)))?;
        files.events.push(|line| {
            line.push_str("t,contacts,impulses,energy_change");
            if !self.recording.event_columns.is_empty() {
                line.push(',');
                line.push_str(&heads(&self.recording.event_columns));
            }
        })?;
        if let Some(reactions) = &mut files.reactions {
            reactions.push(|line| line.push_str(&heads(&self.recording.reaction_columns)))?;
            reactions.flush()?;
        }
        files.samples.flush()?;
        files.events.flush()?;
        self.files = Some(files);
        Ok(self)
    }

    /// Keeps the first failure to write and says so at once; files hold whole rows up to there.
    fn keep(&mut self, written: io::Result<()>) {
        let Err(error) = written else { return };
        if self.failure.is_none() {
            if let Some(notice) = self.watch.notice {
                notice(&format!(
                    "cannot write any more: {error}; the run goes on, but its files end here"
                ));
            }
            self.failure = Some(error);
        }
    }

    /// Flushes the files and develops the film; the first failure to write, if any, is kept in `failure`.
    pub(crate) fn finish(&mut self) {
        let camera = std::mem::replace(&mut self.camera, Camera::new(Vec::new(), 0));
        for frame in camera.develop() {
            self.recording.film.push(frame.row);
            if self.places {
                self.recording.film_touches.push(frame.touches);
            }
        }
        if let Some(files) = &mut self.files {
            let flushed = files.flush();
            self.keep(flushed);
        }
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
        self.account.observe(step, m, events, &self.invariants, || self.layout.state(state));
        for event in events.iter() {
            let kept = self.recording.events.len() < self.event_records;
            self.recording.event_times.push(event.t);
            let mut carried = Vec::new();
            if !self.recording.reaction_columns.is_empty() {
                self.layout.reaction_impulses(state, &event, &mut carried);
                self.recording.keep_largest(&carried);
            }
            if self.files.is_none() && !kept {
                continue;
            }
            let mut row = Vec::with_capacity(self.recording.event_columns.len());
            if !self.recording.event_columns.is_empty() {
                self.layout.row(state, &mut row);
            }
            let contacts: Vec<_> = impulses_of(&event)
                .map(|c| ContactImpulse { touch: self.layout.touch(state, &c), ..c })
                .collect();
            let record = EventRecord {
                t: event.t,
                contacts: event.contacts.iter().map(|&c| self.named(c)).collect(),
                touches: contacts.iter().map(|c| c.touch).collect(),
                impulses: event.impulses.to_vec(),
                energy_change: event.energy_change,
                tangential: event.tangential.to_vec(),
                slips: event.slips.to_vec(),
                work: event.work.to_vec(),
                state: row,
                carried,
            };
            if let Some(files) = &mut self.files {
                let mut written = files.events.push(|line| event_line(&record, line));
                written = written.and(files.carry(&record, &self.recording.reaction_columns));
                if !event.slips.is_empty() {
                    let contacts = record.contacts.iter().cloned().zip(contacts);
                    written = written.and(files.rub((event.t, "impact", self.step), contacts));
                }
                self.keep(written);
            }
            if kept {
                self.recording.events.push(record);
            }
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
            let touches = if self.places { self.touches(state, events) } else { Vec::new() };
            self.camera.take(Frame { row: measured(self.layout), touches });
        }
        if self.sampling.takes(step, self.steps) {
            let row = measured(self.layout);
            if self.places {
                let touches = self.touches(state, events);
                self.recording.touches.push(touches);
            }
            if let Some(mut files) = self.files.take() {
                let written = files.samples.push(|line| numbers(&row, line));
                let held = events.held().iter().map(|c| {
                    let placed = ContactImpulse { touch: self.layout.touch(state, c), ..*c };
                    (self.named(c.contact), placed)
                });
                let held = files.rub((m.t, "held", self.step), held);
                let written = written.and(held).and(files.flush());
                self.files = Some(files);
                self.keep(written);
            }
            self.recording.samples.push(row);
            if !self.recording.reaction_columns.is_empty() {
                let mut row = vec![m.t];
                self.layout.reactions(state, &mut row);
                if let Some(file) = self.files.as_mut().and_then(|files| files.reactions.as_mut()) {
                    let written = file.push(|line| numbers(&row, line)).and(file.flush());
                    self.keep(written);
                }
                self.recording.reactions.push(row);
            }
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
