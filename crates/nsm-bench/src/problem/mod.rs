//! Problem files: a mechanical problem, the runs to make and what must come out, in one TOML file.
//!
//! ```
//! let problem = nsm_bench::problem::Problem::parse(r#"
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
//! let results = problem.execute(&problem.runs[0], None, Default::default())?;
//! assert!(problem.judge(&results)?.iter().all(|verdict| verdict.holds));
//! # Ok::<(), nsm_bench::problem::ProblemError>(())
//! ```

mod coordinates;
mod error;
mod expect;
mod film;
mod flexible;
mod method;
mod multibody;
mod parts;
mod picture;
mod reader;
mod record;
mod result;
mod rewrite;
mod rigid;
mod start_velocity;

pub use error::{Place, ProblemError};
pub use expect::{Expectation, Verdict};
pub use film::FRAMES;
pub use method::Method;
pub use picture::Picture;
pub use record::{EventRecord, Form, Layout, Recording, Sampling, Watch};
pub use result::{RunResult, lookup};

use std::path::Path;
use std::time::Instant;

use nsm_constraints::multibody::{Mechanism, NodeId};
use nsm_geom::Shape;
use nsm_model::{Probe, State, Stepper, System, SystemProbe, run_steps, steps_between};
use nsm_vi::rigid::{RigidProbe, RigidState, RigidWorld};
use nsm_vi::{Projected, Projection};
use parts::Parts;
use reader::{Reader, Source};
use record::Recorder;
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

/// One run of a problem.
#[derive(Clone, Debug)]
pub struct Run {
    /// Its name, unique in the file.
    pub name: String,
    /// The method with its options.
    pub method: Method,
    /// The method's name.
    pub method_name: &'static str,
    /// Step size.
    pub step: f64,
    /// Number of steps to the end time.
    pub steps: usize,
    /// Which instants are recorded.
    pub sampling: Sampling,
    /// The projection of velocities that follows each step, if any.
    pub projection: Option<Projection>,
    /// The method and its options as they stand in the file, without name, step, end and sampling.
    pub options: String,
    place: Place,
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
        Self::parse(&text).map_err(|e| e.in_file(&file))
    }

    /// Reads a problem from text.
    ///
    /// # Errors
    /// As for [`Problem::read`], without the file.
    pub fn parse(text: &str) -> Result<Self, ProblemError> {
        let table = parse_table(text)?;
        let reader = Reader::new(Source(text), table.get_ref(), "", 0);
        let title = reader.text("title")?.unwrap_or("untitled").to_owned();
        let source = reader.text("source")?.unwrap_or_default().to_owned();
        let subject = read_subject(&reader)?;
        let picture = read_picture(&reader)?;
        let mut runs: Vec<Run> = Vec::new();
        for table in reader.tables("run")? {
            let run = Run::read(&table, &subject)?;
            if runs.iter().any(|other| other.name == run.name) {
                return Err(table
                    .place_of("name")
                    .error(format!("there are two runs named `{}`", run.name)));
            }
            runs.push(run);
        }
        let mut expectations = Vec::new();
        for table in reader.tables("expect")? {
            expectations.push(Expectation::read(&table, &runs)?);
        }
        reader.finish()?;
        Ok(Self { title, source, subject, picture, runs, expectations })
    }

    /// A run that is not in the file: another method, step or end. `options` is what a `[[run]]` says about
    /// its method, such as `method = "gvi"` or the [`options`](Run::options) of a run.
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
        let run = Run::read(&Reader::new(Source(&text), table.get_ref(), name, 0), &self.subject)?;
        Ok(Run { name: name.to_owned(), sampling, ..run })
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
        match &self.subject {
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

    /// Judges the expectations that concern a result.
    ///
    /// # Errors
    /// If a check names a result that the run does not have.
    pub fn judge(&self, result: &RunResult) -> Result<Vec<Verdict>, ProblemError> {
        let object = result.json();
        let mine = self
            .expectations
            .iter()
            .filter(|e| e.run.as_deref().is_none_or(|name| name == result.name));
        mine.map(|e| e.judge(&object)).collect()
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

impl Run {
    /// The method of the run bound to a system, with the projection that follows it.
    fn stepper<'a>(
        &self,
        system: &'a System,
        start: &State,
        mechanism: Option<&Mechanism>,
    ) -> Result<Box<dyn Stepper<State = State> + 'a>, ProblemError> {
        let stepper = self
            .method
            .stepper(system, start, mechanism)
            .map_err(|e| self.place.error(e.to_string()))?;
        Ok(match &self.projection {
            None => stepper,
            Some(projection) => {
                let projected = Projected::new(system, stepper, projection);
                Box::new(projected.map_err(|e| self.place.system(&e))?)
            }
        })
    }

    fn read(reader: &Reader<'_>, subject: &Subject) -> Result<Self, ProblemError> {
        let step = reader.require("step", reader.positive("step")?, "the step size")?;
        let (method_name, method) = Method::read(reader, step)?;
        let name = reader.text("name")?.unwrap_or(method_name).to_owned();
        let fits_a_file = |c: char| c.is_alphanumeric() || "-_.+ ".contains(c);
        if name.is_empty() || name.starts_with('.') || !name.chars().all(fits_a_file) {
            let message = format!("`{name}` cannot name files: use letters, digits, `-` and `_`");
            return Err(reader.place_of("name").error(message));
        }
        let end = reader.require("end", reader.number("end")?, "the end time")?;
        let steps = steps_between(subject.start_time(), end, step)
            .map_err(|e| reader.place_of("end").system(&e))?;
        let sampling = match (reader.count("samples")?, reader.count("every")?) {
            (Some(_), Some(_)) => {
                return Err(reader.place_of("every").error("give `samples` or `every`, not both"));
            }
            (Some(n), None) => Sampling::Count(n),
            (None, Some(0)) => {
                return Err(reader.place_of("every").error("`every` counts steps: at least 1"));
            }
            (None, Some(k)) => Sampling::Every(k),
            (None, None) => Sampling::Count(500),
        };
        let projection = method::read_projection(reader)?;
        let options = reader.rewritten(&["name", "step", "end", "samples", "every"]);
        if projection.is_some() && matches!(subject, Subject::Rigid { .. }) {
            return Err(reader
                .place_of("projection")
                .error("velocities are projected for `[system]` in coordinates only"));
        }
        reader.finish()?;
        Ok(Self {
            projection,
            name,
            method,
            method_name,
            step,
            steps,
            sampling,
            options,
            place: reader.place().clone(),
        })
    }
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
    let mut recorder =
        Recorder::new(layout, &probe.invariants(), &probe.gaps(), run.sampling, run.steps, watch);
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
    Ok(RunResult {
        name: run.name.clone(),
        method: run.method_name.to_owned(),
        step: run.step,
        ledger,
        recording: recorder.recording,
        last: layout.json(&state),
        form: layout.form(),
        seconds,
        failure,
        interrupted,
    })
}
