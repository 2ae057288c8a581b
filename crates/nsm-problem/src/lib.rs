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
//! let height = result.end.coordinates.as_ref().map(|end| end.q[0]);
//! assert!(height.is_some_and(|y| y <= 1.0) && result.answers.gaps["floor"].min > -1e-9);
//! assert!(problem.judge(&[result])?.iter().all(|verdict| verdict.holds));
//! # Ok::<(), nsm_problem::ProblemError>(())
//! ```

mod account;
mod across;
mod beside;
mod bushing;
pub mod compare;
mod contact;
mod coordinates;
mod crowd;
mod curve;
mod drive;
mod element;
mod equality;
mod error;
mod expect;
mod family;
mod figure;
mod files;
mod film;
mod flexible;
mod inherit;
mod joint;
mod lines;
mod lookup;
mod members;
mod method;
mod motion;
mod multibody;
mod parts;
mod picture;
pub mod print;
mod read;
mod reader;
mod record;
mod repeat;
mod result;
mod rewrite;
mod rigid;
mod row;
mod run;
mod sampling;
mod start_velocity;
mod state;
mod status;
mod subject;
mod touch;
mod touching;
mod units;

pub use account::{Answers, ContactTotal, Instant, Questions, Window};
pub use contact::Contacts;
pub use crowd::Crowd;
pub use curve::{Axes, Curve};
pub use error::{Place, ProblemError};
pub use expect::{Expectation, Verdict};
pub use figure::Panel;
pub use film::FRAMES;
pub use lookup::lookup;
pub use members::{Group, Members};
pub use method::{
    Bound, Facts, Integrator, METHODS, Method, Misfit, Recommendation, markdown, recommend,
};
pub use picture::Picture;
pub use read::Format;
pub use record::{EventRecord, Form, Layout, Recording, Watch};
pub use result::{Carried, Load, RunResult, Setting};
pub use row::{Cell, Kind, Row};
pub use run::{EVENT_RECORDS, Run};
pub use sampling::{FILMED, Sampling, WIDE};
pub use state::{BodyState, Coordinates, Named, StateRecord, Turning};
pub use status::{Origin, Status};
pub use subject::Subject;
pub use touch::TouchRecord;
pub use units::{Dimension, Units};

use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;

use drive::{drive, drive_mechanism};
use members::{Alone, Only};
use nsm_formula::Foreign;
use nsm_model::{SystemProbe, Warning};
use nsm_vi::rigid::RigidProbe;
use read::{prepared, read_output, read_picture, read_runs, read_subject, text_of};
use reader::{Reader, Source};
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
    /// In what its numbers are meant.
    pub units: Units,
    /// How it looks, if the file says so.
    pub picture: Option<Picture>,
    /// The runs to make.
    pub runs: Vec<Run>,
    /// What must come out.
    pub expectations: Vec<Expectation>,
    /// What to draw of several runs together.
    pub figures: Vec<Panel>,
    /// The files to write besides CSV.
    pub formats: Vec<Format>,
    /// What was mended in reading, and ought to be known.
    pub notes: Vec<String>,
}

impl Problem {
    /// Reads a problem file.
    ///
    /// # Errors
    /// Names the file, the line, the key, and what would be right.
    pub fn read(path: &Path) -> Result<Self, ProblemError> {
        let file = path.display().to_string();
        let place = Place::default();
        let unreadable = |e| place.error(format!("the file cannot be read: {e}")).in_file(&file);
        let text = text_of(path).map_err(unreadable)?;
        let model = Self::read_model(path, &text).map_err(|e| e.in_file(&file))?;
        Self::build(&text, model.as_deref(), None, &[]).map_err(|e| e.in_file(&file))
    }

    /// The text of the file that this one is `like`.
    fn read_model(path: &Path, text: &str) -> Result<Option<String>, ProblemError> {
        let Some(name) = inherit::model_of(text)? else { return Ok(None) };
        let place = Place { key: "like".into(), line: None };
        let other = path.parent().unwrap_or(Path::new("")).join(&name);
        if Path::new(&name).is_absolute() || Path::new(&name).has_root() {
            return Err(place.error(format!(
                "`{name}` is an absolute path: name a file as seen from this one"
            )));
        }
        let unreadable = |e: std::io::Error| place.error(format!("`{name}` cannot be read: {e}"));
        if !std::fs::metadata(&other).map_err(unreadable)?.is_file() {
            return Err(place.error(format!("`{name}` is no file")));
        }
        let model = text_of(&other).map_err(unreadable)?;
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
        Self::build(text, None, None, &[])
    }

    /// Reads a problem from text whose formulas in `[system]` may call these functions by name.
    ///
    /// # Errors
    /// As for [`Problem::parse`], and if a name is taken.
    pub fn parse_calling(
        text: &str,
        functions: &[(String, Arc<dyn Foreign>)],
    ) -> Result<Self, ProblemError> {
        Self::build(text, None, None, functions)
    }

    /// Reads the text, or what is left of it for one member of a family.
    fn build(
        text: &str,
        model: Option<&str>,
        only: Option<Only>,
        functions: &[(String, Arc<dyn Foreign>)],
    ) -> Result<Self, ProblemError> {
        let notes = RefCell::default();
        let source = Source { text, notes: &notes, functions };
        let table = prepared(source, model)?;
        let alone = only.map(|only| Alone::new(source, table.get_ref(), only)).transpose()?;
        let root = alone.as_ref().map_or(table.get_ref(), |alone| &alone.root);
        let reader = Reader::new(source, root, "", 0);
        if reader.has("like") && model.is_none() {
            return Err(reader
                .place_of("like")
                .error("a text that is not a file has no neighbours"));
        }
        let title = reader.text("title")?.unwrap_or("untitled").to_owned();
        let origin = reader.text("source")?.unwrap_or_default().to_owned();
        let subject = read_subject(&reader)?;
        let units = Units::read(&reader, &subject)?;
        let picture = read_picture(&reader)?;
        let mut runs = match &alone {
            None => read_runs(source, root, &reader, &subject)?,
            Some(alone) => vec![alone.run(&reader, &subject)?],
        };
        let (event_records, formats) = read_output(&reader)?;
        let places = formats.contains(&Format::Vtk) || picture.as_ref().is_some_and(|p| p.forces);
        for run in &mut runs {
            run.event_records = event_records;
            run.places = places;
        }
        let mut expectations = Vec::new();
        for table in reader.tables("expect")?.into_iter().filter(|_| only.is_none()) {
            expectations.push(Expectation::read(&table, &runs)?);
        }
        let mut figures = Vec::new();
        for table in reader.tables("figure")?.into_iter().filter(|_| only.is_none()) {
            figures.push(Panel::read(&table, &runs)?);
        }
        reader.finish()?;
        let notes = notes.take();
        Ok(Self {
            title,
            source: origin,
            subject,
            units,
            picture,
            runs,
            expectations,
            figures,
            formats,
            notes,
        })
    }

    /// Time of the initial state.
    pub fn start_time(&self) -> f64 {
        self.subject.start_time()
    }

    /// Keeps the places at which contacts act in every run, for pictures of forces and for VTK.
    pub fn keep_places(&mut self) {
        self.runs.iter_mut().for_each(|run| run.places = true);
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
        let notes = RefCell::default();
        let source = Source { text: &text, notes: &notes, functions: &[] };
        let reader = Reader::new(source, table.get_ref(), name, 0);
        let run = Run::read(&reader, subject.as_deref().unwrap_or(&self.subject))?;
        let first = like.or(self.runs.first());
        let event_records = first.map_or(EVENT_RECORDS, |r| r.event_records);
        let places = first.is_some_and(|r| r.places);
        Ok(Run { name: name.to_owned(), event_records, places, sampling, subject, ..run })
    }

    /// Makes a run; a failed step is part of the result, with everything recorded up to it.
    ///
    /// # Errors
    /// If the method does not fit the system, or files cannot be opened in the output folder. A disk that runs full
    /// later is [said](Watch::notice) at once and kept in the [result](RunResult::unwritten); the run goes on.
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
            Subject::Mechanism { mechanism, system, crowd, start, .. } => {
                let crowd = crowd.as_deref();
                drive_mechanism(run, (mechanism, system, crowd, start), folder, watch)
            }
            Subject::Rigid { world, start, contacts } if !run.method.facts.bodies => {
                let (mechanism, system, crowd, start) =
                    multibody::free_bodies(world, start, contacts)
                        .map_err(|e| run.place.system(&e))?;
                let parts = (&mechanism, &system, crowd.as_ref(), &start);
                drive_mechanism(run, parts, folder, watch)
            }
            Subject::Rigid { world, start, .. } => {
                let mut stepper = run
                    .method
                    .bind_bodies(world, start, run.step)
                    .map_err(|e| run.place.error(e.to_string()))?;
                let mut probe = RigidProbe::new(world);
                drive(run, &mut *stepper, &mut probe, world, start.clone(), folder, watch)
            }
        }
    }

    /// Binds a run to its system and measures the start, without a step.
    ///
    /// # Errors
    /// If the method does not fit the system.
    pub fn bound(&self, run: &Run) -> Result<RunResult, ProblemError> {
        self.execute(&Run { steps: 0, ..run.clone() }, None, Watch::default())
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
        self.expectations.iter().any(|e| e.foresees("failed", result))
    }

    /// The warnings of a run, unless an expectation speaks of them: then they are a result like others.
    pub fn unforeseen_warnings(&self, result: &RunResult) -> Vec<Warning> {
        let foreseen = self.expectations.iter().any(|e| e.foresees("warnings", result));
        if foreseen { Vec::new() } else { result.ledger.warnings() }
    }
}

fn parse_table(text: &str) -> Result<toml::Spanned<DeTable<'_>>, ProblemError> {
    DeTable::parse(text).map_err(|e| {
        let line =
            e.span().map(|span| 1 + text.bytes().take(span.start).filter(|&b| b == b'\n').count());
        ProblemError { file: None, line, key: String::new(), message: e.message().to_owned() }
    })
}
