//! Problem files: a mechanical problem, the runs to make and what must come out, in one TOML file.
//!
//! ```
//! let problem = nsm_problem::Problem::parse(r#"
//!     title = "Bouncing ball"
//!     [system]
//!     coordinates = ["y"]
//!     mass        = [1]
//!     potential   = "9.8*y"
//!     inequality  = { floor = "y" }
//!     [start]
//!     q = [1]
//!     [[run]]
//!     name   = "gvi"
//!     method = "gvi"
//!     step   = 0.05
//!     end    = 6.0
//!     [[expect]]
//!     run   = "gvi"
//!     check = "energy.drift < 1e-12 && events > 5"
//! "#)?;
//! let result = problem.execute(&problem.runs[0], None, Default::default())?;
//! assert!(problem.judge(&[result])?.iter().all(|verdict| verdict.holds));
//! # Ok::<(), nsm_problem::ProblemError>(())
//! ```

mod account;
mod across;
pub mod compare;
mod coordinates;
mod curve;
mod error;
mod expect;
mod family;
mod figure;
mod film;
mod flexible;
mod inherit;
mod method;
mod multibody;
mod parts;
mod picture;
mod reader;
mod record;
mod result;
mod rewrite;
mod rigid;
mod run;
mod start_velocity;
mod status;

pub use account::Questions;
pub use curve::{Axes, Curve};
pub use error::{Place, ProblemError};
pub use expect::{Expectation, Verdict};
pub use figure::Panel;
pub use film::FRAMES;
pub use method::Method;
pub use picture::Picture;
pub use record::{EventRecord, Form, Layout, Recording, Sampling, Watch};
pub use result::{RunResult, lookup};
pub use run::Run;
pub use status::Status;

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use account::Account;
use nsm_constraints::multibody::{Mechanism, NodeId};
use nsm_geom::Shape;
use nsm_model::{Probe, State, Stepper, System, SystemProbe, run_steps};
use nsm_vi::rigid::{RigidProbe, RigidState, RigidWorld};
use parts::Parts;
use reader::{Reader, Source};
use record::Recorder;
use serde_json::json;
use toml::de::DeTable;

/// A problem: what moves, how it starts, which runs to make, what must come out.
#[derive(Debug)]
pub struct Problem {
    /// What it is.
    pub title: String,
    /// Where it comes from.
    pub source: String,
    /// The system and its start.
    pub subject: Subject,
    /// How it looks, if the file says so.
    pub picture: Option<Picture>,
    /// The runs to make.
    pub runs: Vec<Run>,
    /// What must come out.
    pub expectations: Vec<Expectation>,
    /// What to draw of several runs together.
    pub figures: Vec<Panel>,
}

/// What moves.
#[derive(Debug)]
pub enum Subject {
    /// A system in coordinates.
    Coordinates {
        /// The mechanics.
        system: Box<System>,
        /// The state at the start.
        start: State,
    },
    /// Rigid bodies, particles and beams on joints.
    Mechanism {
        /// The parts and how they are joined.
        mechanism: Box<Mechanism>,
        /// Shapes of bodies that have one, to be drawn.
        shapes: Vec<(NodeId, Shape)>,
        /// The mechanics, in the coordinates of the parts.
        system: Box<System>,
        /// The state at the start.
        start: State,
    },
    /// Rigid bodies over planes.
    Rigid {
        /// Bodies, planes and gravity.
        world: RigidWorld,
        /// The state at the start.
        start: RigidState,
    },
}

impl Subject {
    fn start_time(&self) -> f64 {
        match self {
            Self::Coordinates { start, .. } | Self::Mechanism { start, .. } => start.t,
            Self::Rigid { start, .. } => start.t,
        }
    }
}

impl Problem {
    /// Reads a problem file.
    ///
    /// # Errors
    /// Names the file, the line, the key, and what would be right.
    pub fn read(path: &Path) -> Result<Self, ProblemError> {
        let file = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|e| ProblemError {
            file: Some(file.clone()),
            line: None,
            key: String::new(),
            message: format!("the file cannot be read: {e}"),
        })?;
        let model = Self::read_model(path, &text).map_err(|e| e.in_file(&file))?;
        Self::build(&text, model.as_deref()).map_err(|e| e.in_file(&file))
    }

    /// The text of the file that this one is `like`.
    fn read_model(path: &Path, text: &str) -> Result<Option<String>, ProblemError> {
        let Some(name) = inherit::model_of(text)? else { return Ok(None) };
        let place = Place { key: "like".into(), line: None };
        let other = path.parent().unwrap_or(Path::new("")).join(&name);
        let model = std::fs::read_to_string(&other)
            .map_err(|e| place.error(format!("`{name}` cannot be read: {e}")))?;
        match inherit::model_of(&model) {
            Ok(None) => Ok(Some(model)),
            Ok(Some(third)) => {
                Err(place.error(format!("`{name}` is itself like `{third}`: name that one")))
            }
            Err(e) => Err(place.error(format!("`{name}`: {e}"))),
        }
    }

    /// Reads a problem from text.
    ///
    /// # Errors
    /// As for [`Problem::read`], without the file; a text cannot be `like` another file.
    pub fn parse(text: &str) -> Result<Self, ProblemError> {
        Self::build(text, None)
    }

    fn build(text: &str, model: Option<&str>) -> Result<Self, ProblemError> {
        let mut table = parse_table(text)?;
        let model = model.map(parse_table).transpose()?;
        if let Some(model) = &model {
            inherit::complete(table.get_mut(), model.get_ref());
        }
        let root = table.get_ref();
        let reader = Reader::new(Source(text), root, "", 0);
        if reader.has("like") && model.is_none() {
            return Err(reader
                .place_of("like")
                .error("a text that is not a file has no neighbours"));
        }
        let title = reader.text("title")?.unwrap_or("untitled").to_owned();
        let source = reader.text("source")?.unwrap_or_default().to_owned();
        let subject = read_subject(&reader)?;
        let picture = read_picture(&reader)?;
        let runs = read_runs(Source(text), root, &reader, &subject)?;
        let mut expectations = Vec::new();
        for table in reader.tables("expect")? {
            expectations.push(Expectation::read(&table, &runs)?);
        }
        let mut figures = Vec::new();
        for table in reader.tables("figure")? {
            figures.push(Panel::read(&table, &runs)?);
        }
        reader.finish()?;
        Ok(Self { title, source, subject, picture, runs, expectations, figures })
    }

    /// What moves in a run: the file's subject, or the member's own.
    pub fn subject_of(&self, run: &str) -> &Subject {
        let own = self.runs.iter().find(|r| r.name == run).and_then(|r| r.subject.as_deref());
        own.unwrap_or(&self.subject)
    }

    /// A run that is not in the file: another method, step or end. `options` is what a `[[run]]` says about
    /// its method, such as `method = "gvi"` or the [`options`](Run::options) of a run. With the name of a run of
    /// the file it moves what that run moves.
    ///
    /// # Errors
    /// As for a `[[run]]` of the file.
    pub fn another_run(
        &self,
        name: &str,
        options: &str,
        (step, end): (f64, f64),
        sampling: Sampling,
    ) -> Result<Run, ProblemError> {
        let text = format!("{options}\nstep = {step:?}\nend = {end:?}");
        let table = parse_table(&text)?;
        let like = self.runs.iter().find(|r| r.name == name);
        let subject = like.and_then(|r| r.subject.clone());
        let reader = Reader::new(Source(&text), table.get_ref(), name, 0);
        let run = Run::read(&reader, subject.as_deref().unwrap_or(&self.subject))?;
        Ok(Run { name: name.to_owned(), sampling, subject, ..run })
    }

    /// Makes a run; a failed step is part of the result, with everything recorded up to it.
    ///
    /// # Errors
    /// If the method does not fit the system, or the output folder cannot be written to.
    pub fn execute(
        &self,
        run: &Run,
        folder: Option<&Path>,
        watch: Watch<'_>,
    ) -> Result<RunResult, ProblemError> {
        match run.subject.as_deref().unwrap_or(&self.subject) {
            Subject::Coordinates { system, start } => {
                let mut stepper = run.stepper(system, start, None)?;
                let mut probe = SystemProbe::new(system);
                drive(run, &mut *stepper, &mut probe, &**system, start.clone(), folder, watch)
            }
            Subject::Mechanism { mechanism, system, start, .. } => {
                drive_mechanism(run, (mechanism, system, start), folder, watch)
            }
            Subject::Rigid { world, start }
                if world.planes().is_empty() && !matches!(run.method, Method::Lgvci(_)) =>
            {
                let (mechanism, system, start) =
                    multibody::free_bodies(world, start).map_err(|e| run.place.system(&e))?;
                drive_mechanism(run, (&mechanism, &system, &start), folder, watch)
            }
            Subject::Rigid { world, start } => {
                let mut stepper = run
                    .method
                    .rigid_stepper(world, start, run.step)
                    .map_err(|e| run.place.error(e))?;
                let mut probe = RigidProbe::new(world);
                drive(run, &mut stepper, &mut probe, world, start.clone(), folder, watch)
            }
        }
    }

    /// Judges the expectations that concern these results. Those about runs that are not among them, or did not
    /// come to their end although no expectation foresees it, are left out.
    ///
    /// # Errors
    /// If a check names a result that the run does not have.
    pub fn judge(&self, results: &[RunResult]) -> Result<Vec<Verdict>, ProblemError> {
        let sound =
            |r: &&RunResult| !r.interrupted && (r.failure.is_none() || self.foresees_failure(r));
        let results: Vec<&RunResult> = results.iter().filter(sound).collect();
        let verdicts = self.expectations.iter().map(|e| e.judge(&self.runs, &results));
        Ok(verdicts.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    }

    /// The curves of the figures whose runs are all among these results, and how each is drawn.
    ///
    /// # Errors
    /// If a figure names a result that a run does not have, or lists of different lengths.
    pub fn draw(&self, results: &[RunResult]) -> Result<Vec<(Axes, Vec<Curve>)>, ProblemError> {
        let results = self.sound(results);
        self.figures.iter().map(|f| Ok((f.axes, f.curves(&self.runs, &results)?))).collect()
    }

    fn sound<'r>(&self, results: &'r [RunResult]) -> Vec<&'r RunResult> {
        let sound =
            |r: &&RunResult| !r.interrupted && (r.failure.is_none() || self.foresees_failure(r));
        results.iter().filter(sound).collect()
    }

    /// Whether an expectation says that this run fails: then its failure is a result like others.
    pub fn foresees_failure(&self, result: &RunResult) -> bool {
        self.expectations.iter().any(|e| e.foresees(result))
    }
}

fn parse_table(text: &str) -> Result<toml::Spanned<DeTable<'_>>, ProblemError> {
    DeTable::parse(text).map_err(|e| {
        let line =
            e.span().map(|span| 1 + text.bytes().take(span.start).filter(|&b| b == b'\n').count());
        ProblemError { file: None, line, key: String::new(), message: e.message().to_owned() }
    })
}

fn read_subject(reader: &Reader<'_>) -> Result<Subject, ProblemError> {
    let bodies = reader.tables("body")?;
    let Some(table) = reader.table("system")? else {
        if bodies.is_empty() && !multibody::is_mechanism(reader, &bodies) {
            return Err(reader.place().error(
                "the file describes nothing that moves: give `[system]` with coordinates and formulas, or a `[[body]]`, `[[beam]]` or `[[point_mass]]`",
            ));
        }
        if multibody::is_mechanism(reader, &bodies) {
            return multibody::read_mechanism(reader, &bodies);
        }
        let (world, start) = rigid::read_world(reader, &bodies)?;
        return Ok(Subject::Rigid { world, start });
    };
    if let Some(body) = bodies.first() {
        return Err(body
            .place()
            .error("a file describes a `[system]` in coordinates or rigid bodies, not both"));
    }
    let system = coordinates::read_system(&table)?;
    table.finish()?;
    let start = reader.require(
        "[start]",
        reader.table("start")?,
        "give the positions `q` and velocities `v` at the start",
    )?;
    let state = coordinates::read_start(&start, &system)?;
    start.finish()?;
    Ok(Subject::Coordinates { system: Box::new(system), start: state })
}

/// Reads `[picture]`, whose formulas know what those of `[system]` know.
fn read_picture(reader: &Reader<'_>) -> Result<Option<Picture>, ProblemError> {
    let Some(table) = reader.table("picture")? else { return Ok(None) };
    let Some(system) = reader.table("system")? else {
        return Err(table
            .place()
            .error("bodies are drawn by their shapes; a picture is for `[system]`"));
    };
    let scope = coordinates::read_scope(&system)?;
    Picture::read(&table, &scope).map(Some)
}

/// Reads the runs, those that vary as a family each.
fn read_runs(
    source: Source<'_>,
    root: &DeTable<'_>,
    reader: &Reader<'_>,
    subject: &Subject,
) -> Result<Vec<Run>, ProblemError> {
    let written = family::written_ranges(root);
    let ranges = written
        .iter()
        .map(|text| parse_table(text).map(toml::Spanned::into_inner))
        .collect::<Result<Vec<_>, _>>()?;
    let mut runs: Vec<Run> = Vec::new();
    for (i, table) in reader.tables("run")?.into_iter().enumerate() {
        let varied = family::read_varied(&table, root, &ranges)?;
        let mut fresh = Vec::new();
        for k in 0..family::members(&varied) {
            let member = family::member(root, i, &varied, k)?;
            let reader = Reader::new(source, &member, "", 0);
            let own = if family::reaches_file(&varied) {
                Some(Arc::new(read_subject(&reader)?))
            } else {
                None
            };
            let mut tables = reader.tables("run")?;
            let run = Run::read(&tables.swap_remove(i), own.as_deref().unwrap_or(subject))?;
            let name = format!("{}[{k}]", run.name);
            let varied = family::values(&varied, k);
            fresh.push(Run { family: Some(run.name), name, subject: own, varied, ..run });
        }
        if varied.is_empty() {
            fresh.push(Run::read(&table, subject)?);
        }
        let named = |r: &Run| r.family.clone().unwrap_or_else(|| r.name.clone());
        if let Some(name) = fresh.first().map(named).filter(|n| runs.iter().any(|r| named(r) == *n))
        {
            let message = format!("there are two runs named `{name}`");
            return Err(table.place_of("name").error(message));
        }
        // Events of run `a` are written to `a-events.csv`.
        let events = |a: &Run, b: &Run| a.name.strip_suffix("-events") == Some(b.name.as_str());
        for (a, b) in fresh.iter().flat_map(|a| runs.iter().map(move |b| (a, b))) {
            if events(a, b) || events(b, a) {
                let message =
                    format!("runs `{}` and `{}` would write the same files", b.name, a.name);
                return Err(table.place_of("name").error(message));
            }
        }
        runs.extend(fresh);
    }
    Ok(runs)
}

/// Drives a mechanism to its end.
fn drive_mechanism(
    run: &Run,
    (mechanism, system, start): (&Mechanism, &System, &State),
    folder: Option<&Path>,
    watch: Watch<'_>,
) -> Result<RunResult, ProblemError> {
    let mut stepper = run.stepper(system, start, Some(mechanism))?;
    let mut probe = SystemProbe::new(system);
    let layout = Parts { mechanism, system };
    drive(run, &mut *stepper, &mut probe, &layout, start.clone(), folder, watch)
}

/// Drives any stepper to its end and packs up what it left.
fn drive<S, P, L>(
    run: &Run,
    stepper: &mut (dyn Stepper<State = S> + '_),
    probe: &mut P,
    layout: &L,
    mut state: S,
    folder: Option<&Path>,
    watch: Watch<'_>,
) -> Result<RunResult, ProblemError>
where
    S: Clone,
    P: Probe<State = S>,
    L: Layout<S>,
{
    let (invariants, gaps) = (probe.invariants(), probe.gaps());
    let account = Account::new(&run.questions, probe.time(&state), run.step, run.steps);
    let mut recorder = Recorder::new(layout, &invariants, &gaps, run, account, watch);
    let unwritable = |e: std::io::Error, folder: &Path| {
        run.place.error(format!("cannot write to the output folder {}: {e}", folder.display()))
    };
    if let Some(folder) = folder {
        recorder = recorder.writing_to(folder, &run.name).map_err(|e| unwritable(e, folder))?;
    }
    let clock = Instant::now();
    let outcome = run_steps(stepper, probe, &mut state, run.steps, &mut recorder);
    let seconds = clock.elapsed().as_secs_f64();
    recorder.finish();
    if let (Some(error), Some(folder)) = (recorder.failure.take(), folder) {
        return Err(unwritable(error, folder));
    }
    let (ledger, failure, interrupted) = match outcome {
        Ok(outcome) => (outcome.ledger, None, outcome.stopped),
        Err(error) => {
            let message = error.to_string();
            (*error.ledger, Some(message), false)
        }
    };
    let mut summary = result::summary(&ledger, &recorder.recording, &layout.json(&state));
    recorder.account.write(&mut summary, &invariants, &gaps);
    summary["method"] = json!(run.method_name);
    summary["step"] = json!(run.step);
    summary["varied"] =
        run.varied.iter().map(|(path, value)| json!({ "path": path, "value": value })).collect();
    summary["seconds"] = json!(seconds);
    summary["failed"] = json!(failure.is_some());
    if let Some(failure) = &failure {
        summary["failure"] = json!(failure);
    }
    Ok(RunResult {
        name: run.name.clone(),
        family: run.family.clone(),
        method: run.method_name.to_owned(),
        step: run.step,
        ledger,
        recording: recorder.recording,
        form: layout.form(),
        seconds,
        failure,
        interrupted,
        summary,
    })
}
