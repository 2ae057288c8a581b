//! `[[run]]`: a method with its options, how far it goes, and what is kept of it.

use std::sync::Arc;

use nsm_constraints::multibody::Mechanism;
use nsm_model::{State, Stepper, System, Wound, steps_between};
use nsm_vi::{Projected, Projection};

use super::account::Questions;
use super::method::{Method, read_projection};
use super::reader::Reader;
use super::result::Setting;
use super::sampling::Sampling;
use super::{Place, ProblemError, Subject};

/// Events that are kept in full unless `[output]` says otherwise.
pub const EVENT_RECORDS: usize = 1000;

/// Most `windows` of a run.
const MOST_WINDOWS: usize = 10_000;

/// One run of a problem.
#[derive(Clone, Debug)]
pub struct Run {
    /// Its name, unique in the file; `NAME[0]`, `NAME[1]`, … for the members of a family.
    pub name: String,
    /// The name of its family, if it is a member of one.
    pub family: Option<String>,
    /// The method with its options.
    pub method: Method,
    /// Step size.
    pub step: f64,
    /// Number of steps to the end time.
    pub steps: usize,
    /// How many events are kept in full, from the first on.
    pub event_records: usize,
    /// Whether the places at which contacts act are kept, for pictures and VTK.
    pub places: bool,
    /// Which instants are recorded.
    pub sampling: Sampling,
    /// What its family varies, with its own values.
    pub varied: Vec<(String, Setting)>,
    /// What it tells besides.
    pub questions: Questions,
    /// The projection of velocities that follows each step, if any.
    pub projection: Option<Projection>,
    /// The method and its options as they stand in the file, without name, step, end and sampling.
    pub options: String,
    /// What moves in this run, if it is not what moves in the others.
    pub subject: Option<Arc<Subject>>,
    pub(super) place: Place,
}

impl Run {
    /// The method of the run bound to a system, with the projection that follows it; for front ends that take steps one by one.
    ///
    /// # Errors
    /// If the method does not fit the system.
    pub fn stepper<'a>(
        &self,
        system: &'a System,
        start: &State,
        mechanism: Option<&Mechanism>,
    ) -> Result<Box<dyn Stepper<State = State> + 'a>, ProblemError> {
        let stepper = self
            .method
            .bind(system, start, mechanism)
            .map_err(|e| self.place.error(e.to_string()))?;
        let stepper: Box<dyn Stepper<State = State> + 'a> = if system.turns().is_empty() {
            stepper
        } else {
            Box::new(Wound::new(system, stepper, start))
        };
        Ok(match &self.projection {
            None => stepper,
            Some(projection) => {
                let projected = Projected::new(system, stepper, projection);
                Box::new(projected.map_err(|e| self.place.system(&e))?)
            }
        })
    }

    pub(super) fn read(reader: &Reader<'_>, subject: &Subject) -> Result<Self, ProblemError> {
        let step = reader.require("step", reader.positive("step")?, "the step size")?;
        let method = Method::read(reader, step, subject)?;
        let name = reader.text("name")?.unwrap_or(method.name()).to_owned();
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
            (None, None) => Sampling::Usual,
        };
        let questions = Questions {
            at: reader.numbers("at")?.unwrap_or_default(),
            windows: reader.count_up_to("windows", MOST_WINDOWS)?.unwrap_or(0),
        };
        let (from, to) = (subject.start_time(), end + 0.5 * step);
        if let Some(t) = questions.at.iter().find(|t| !(from..=to).contains(*t)) {
            let message = format!("the run goes from {from} to {end}: it has no instant {t}");
            return Err(reader.place_of("at").error(message));
        }
        if questions.windows > steps {
            let message = format!("{} windows in {steps} steps", questions.windows);
            return Err(reader.place_of("windows").error(message));
        }
        let projection = read_projection(reader)?;
        let plan = ["name", "step", "end", "samples", "every", "at", "windows"];
        let options = reader.rewritten(&plan);
        if projection.is_some() && matches!(subject, Subject::Rigid { .. }) {
            return Err(reader
                .place_of("projection")
                .error("velocities are projected for `[system]` in coordinates only"));
        }
        reader.finish()?;
        Ok(Self {
            projection,
            name,
            family: None,
            varied: Vec::new(),
            questions,
            subject: None,
            method,
            step,
            steps,
            event_records: EVENT_RECORDS,
            places: false,
            sampling,
            options,
            place: reader.place().clone(),
        })
    }
}
