//! A run of a crowd: stretches with the same near pairs, one after another.

use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;

use nsm_constraints::multibody::Mechanism;
use nsm_model::{
    Accounts, ContactImpulse, Course, Event, Events, Measurement, Outcome, Probe, RunError, State,
    StepError, System, SystemProbe, Touch,
};

use super::Crowd;
use super::guard::Guarded;
use super::roster::Roster;
use crate::drive::{Seen, recorded};
use crate::parts::Parts;
use crate::record::{Layout, Recorder};
use crate::{ProblemError, Run, RunResult, StateRecord, Watch};

/// The gap of all pairs together, as methods for rigid bodies call it.
const PAIRS: &str = "bodies / bodies";

/// How often a step is taken again because a body left its room. With more room it may meet, and set in motion, bodies that were not seen before.
const RETAKES: usize = 30;

/// Room for what a body did in a step that is taken again.
const ROOM: f64 = 1.5;

/// Pairs for each body that may be near: many times what can touch.
const CROWDED: usize = 200;

/// A crowd with its mechanism, the system without its pairs, and the start.
type Moving<'a> = (&'a Mechanism, &'a System, &'a Crowd, &'a State);

/// Drives a crowd to its end.
pub(crate) fn drive_crowd(
    run: &Run,
    (mechanism, system, crowd, start): Moving<'_>,
    folder: Option<&Path>,
    watch: Watch<'_>,
) -> Result<RunResult, ProblemError> {
    let fail = |e| run.place.system(&e);
    let roster = Roster::near(crowd, mechanism, start, run.step, &[]);
    let first = crowd.listed(system, mechanism, roster.pairs.iter().copied()).map_err(fail)?;
    let first = Arc::new(first);
    // What does not fit is said before anything is written.
    run.stepper(&first, start, Some(mechanism))?;
    let layout = CrowdLayout::new(mechanism, system, run.method.own_friction, Arc::clone(&first));
    let seen = Seen::by(&CrowdProbe::of(crowd, system, SystemProbe::new(system)), start);
    recorded(run, &seen, &layout, start.clone(), (folder, watch), |state, recorder| {
        let moving = (mechanism, system, crowd, start);
        stretches(run, moving, (roster, first), state, recorder)
    })
}

/// Steps from the start to the end.
fn stretches(
    run: &Run,
    (mechanism, system, crowd, _): Moving<'_>,
    (mut roster, mut listed): (Roster, Arc<System>),
    state: &mut State,
    recorder: &mut Recorder<'_, CrowdLayout<'_>>,
) -> Result<Outcome, RunError> {
    let mut probe = CrowdProbe::of(crowd, system, SystemProbe::new(&listed));
    recorder.account.accounts = probe.accounts();
    let (mut course, flow) = Course::begin(&mut probe, state, run.steps, recorder)?;
    let mut memory = probe.inner.memory();
    let mut stopped = flow.is_break();
    // Steps taken again, and how far bodies came in them.
    let (mut retakes, mut reach) = (0, vec![0.0_f64; crowd.shapes.len()]);
    while !stopped && !course.is_over() {
        let near = Arc::clone(&listed);
        let probe = SystemProbe::new(&near).following(memory);
        let mut probe = CrowdProbe::of(crowd, system, probe);
        course.ledger.accounts = probe.accounts();
        recorder.account.accounts = probe.accounts();
        recorder.layout.list(Arc::clone(&listed));
        let inner = match run.stepper(&near, state, Some(mechanism)) {
            Ok(inner) => inner,
            Err(error) => return Err(course.failed(at(state, error))),
        };
        let mut stepper = Guarded::new(crowd, (mechanism, &near), roster, inner, state);
        let next = loop {
            if course.is_over() {
                break None;
            }
            if !stepper.is_fresh(state) {
                let fresh = Roster::near(crowd, mechanism, state, run.step, &[]);
                if fresh.pairs != stepper.roster.pairs {
                    break Some(fresh);
                }
                stepper.roster = fresh;
            }
            match course.advance(&mut stepper, &mut probe, state, recorder) {
                Ok(flow) => {
                    if std::mem::take(&mut retakes) > 0 {
                        reach.fill(0.0);
                    }
                    stopped = flow.is_break();
                    if stopped {
                        break None;
                    }
                }
                Err(_) if stepper.strayed && retakes < RETAKES => {
                    retakes += 1;
                    for (reach, way) in reach.iter_mut().zip(&stepper.ways) {
                        *reach = reach.max(ROOM * way);
                    }
                    break Some(Roster::near(crowd, mechanism, state, run.step, &reach));
                }
                Err(error) => return Err(course.failed(error)),
            }
        };
        memory = probe.inner.memory();
        let Some(next) = next else { break };
        if next.pairs.len() > Crowd::MOST + CROWDED * crowd.shapes.len() {
            let error = TooMany(next.pairs.len());
            return Err(course.failed(at(state, error)));
        }
        let pairs = next.pairs.iter().copied();
        let more = crowd.listed(system, mechanism, pairs);
        roster = next;
        listed = match more {
            Ok(more) => Arc::new(more),
            Err(error) => return Err(course.failed(at(state, error))),
        };
    }
    Ok(course.end())
}

/// An error of a step that did not begin.
fn at(state: &State, error: impl std::error::Error + Send + Sync + 'static) -> StepError {
    StepError::Method { t: state.t, source: Box::new(error) }
}

/// So many pairs are near in one step that looking for near pairs is of no use.
#[derive(Debug, thiserror::Error)]
#[error("{0} pairs of bodies may touch within one step: take a smaller step")]
struct TooMany(usize);

/// A probe of a crowd: gaps of near pairs are one, the least of them, or the largest radius of a body if it is less.
pub(super) struct CrowdProbe<'a> {
    inner: SystemProbe<'a>,
    system: &'a System,
    pairs: usize,
    far: f64,
}

impl<'a> CrowdProbe<'a> {
    /// `inner` looks at `system` with some pairs after its own gaps.
    fn of(crowd: &Crowd, system: &'a System, inner: SystemProbe<'a>) -> Self {
        let pairs = inner.gaps().len() - system.inequalities().len();
        let far = crowd.radii.iter().copied().fold(0.0, f64::max);
        Self { inner, system, pairs, far }
    }
}

impl Probe for CrowdProbe<'_> {
    type State = State;

    fn invariants(&self) -> Vec<String> {
        self.inner.invariants()
    }

    fn conserved(&self) -> Vec<bool> {
        self.inner.conserved()
    }

    fn gaps(&self) -> Vec<String> {
        let mut names = self.system.inequalities().names().to_vec();
        names.push(PAIRS.to_owned());
        names
    }

    fn accounts(&self) -> Accounts {
        Accounts::Pool(self.system.inequalities().len(), self.pairs)
    }

    fn rubbing(&self) -> Vec<String> {
        let mut names = self.gaps();
        names.extend(self.system.dry().names().iter().cloned());
        names
    }

    fn is_driven(&self) -> bool {
        self.inner.is_driven()
    }

    fn potential_scale(&self, state: &State) -> f64 {
        self.inner.potential_scale(state)
    }

    fn workers(&self) -> Vec<String> {
        self.inner.workers()
    }

    fn tell(&mut self, state: &State, impulses: Option<&[f64]>, events: &Events) {
        self.inner.tell(state, impulses, events);
    }

    fn time(&self, state: &State) -> f64 {
        state.t
    }

    fn measure(&mut self, state: &State, out: &mut Measurement) {
        self.inner.measure(state, out);
        let own = self.system.inequalities().len();
        // A gap that is no number must be seen.
        let less = |least: f64, gap: &f64| if gap.is_nan() || *gap < least { *gap } else { least };
        let least = out.gaps[own..].iter().fold(self.far, less);
        out.gaps.truncate(own);
        out.gaps.push(least);
    }
}

/// How states of a crowd are written down: as those of its mechanism, with contacts of the pairs that are near just then.
pub(super) struct CrowdLayout<'a> {
    parts: Parts<'a>,
    mechanism: &'a Mechanism,
    friction: Option<f64>,
    listed: RefCell<Arc<System>>,
}

impl<'a> CrowdLayout<'a> {
    fn new(
        mechanism: &'a Mechanism,
        system: &'a System,
        friction: Option<f64>,
        listed: Arc<System>,
    ) -> Self {
        let parts = Parts::new(mechanism, system, friction);
        Self { parts, mechanism, friction, listed: RefCell::new(listed) }
    }

    /// The system from now on.
    fn list(&self, listed: Arc<System>) {
        *self.listed.borrow_mut() = listed;
    }
}

impl Layout<State> for CrowdLayout<'_> {
    fn columns(&self) -> Vec<String> {
        self.parts.columns()
    }

    fn row(&self, state: &State, out: &mut Vec<f64>) {
        self.parts.row(state, out);
    }

    fn positions(&self) -> Vec<Vec<usize>> {
        self.parts.positions()
    }

    fn contact_name(&self, contact: usize) -> Option<String> {
        let listed = self.listed.borrow();
        let gaps = listed.inequalities().names();
        gaps.get(contact).or_else(|| listed.dry().names().get(contact - gaps.len())).cloned()
    }

    fn touch(&self, state: &State, contact: &ContactImpulse) -> Option<Touch> {
        contact.touch_in(&self.listed.borrow(), &state.q, state.t)
    }

    fn state(&self, state: &State) -> StateRecord {
        self.parts.state(state)
    }

    fn reaction_columns(&self) -> Vec<String> {
        self.parts.reaction_columns()
    }

    fn reactions(&self, state: &State, out: &mut Vec<f64>) {
        if self.parts.carries() {
            let listed = self.listed.borrow();
            Parts::new(self.mechanism, &listed, self.friction).reactions(state, out);
        }
    }

    fn reaction_impulses(&self, state: &State, event: &Event<'_>, out: &mut Vec<f64>) {
        if self.parts.carries() {
            let listed = self.listed.borrow();
            Parts::new(self.mechanism, &listed, self.friction).reaction_impulses(state, event, out);
        }
    }
}
