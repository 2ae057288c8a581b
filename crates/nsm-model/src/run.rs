//! Drives a stepper to an end time and feeds observers.

use std::ops::ControlFlow;

use crate::{Events, Ledger, Measurement, Probe, StepError, StepReport, Stepper, SystemError};

/// Watches a run: records, plots, reports progress, or stops it.
pub trait Observer<S> {
    /// Sees the state after `step` steps (0 is the start), its measurement, and the events of the step.
    ///
    /// Breaking ends the run in good order.
    fn observe(
        &mut self,
        step: usize,
        state: &S,
        measurement: &Measurement,
        events: &Events,
    ) -> ControlFlow<()>;
}

/// The observer that sees nothing.
impl<S> Observer<S> for () {
    fn observe(&mut self, _: usize, _: &S, _: &Measurement, _: &Events) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

impl<S, F: FnMut(usize, &S, &Measurement, &Events) -> ControlFlow<()>> Observer<S> for F {
    fn observe(
        &mut self,
        step: usize,
        state: &S,
        measurement: &Measurement,
        events: &Events,
    ) -> ControlFlow<()> {
        self(step, state, measurement, events)
    }
}

/// A run that ended early; the ledger holds everything up to the failure.
#[derive(Debug, thiserror::Error)]
#[error("step {step}: {source}")]
pub struct RunError {
    /// Number of the step that failed (the first is 1).
    pub step: usize,
    /// Why.
    pub source: StepError,
    /// The account of all steps before.
    pub ledger: Box<Ledger>,
}

/// How a run was driven to its end.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The account of the run.
    pub ledger: Ledger,
    /// Whether an observer ended it before the end time.
    pub stopped: bool,
}

/// Takes `steps` steps; measures and observes every one of them.
///
/// A step after which a gap, an energy or a residual is not finite has failed, whatever the stepper says.
///
/// # Errors
/// The first step that fails ends the run; `state` is the last good one and the error carries the
/// ledger.
pub fn run_steps<S, P>(
    stepper: &mut S,
    probe: &mut P,
    state: &mut S::State,
    steps: usize,
    observer: &mut impl Observer<S::State>,
) -> Result<Outcome, RunError>
where
    S: Stepper + ?Sized,
    P: Probe<State = S::State> + ?Sized,
{
    let (mut course, mut flow) = Course::begin(probe, state, steps, observer)?;
    while flow.is_continue() && !course.is_over() {
        flow = match course.advance(stepper, probe, state, observer) {
            Ok(flow) => flow,
            Err(source) => return Err(course.failed(source)),
        };
    }
    Ok(course.end())
}

/// A run between two of its steps, for drivers that change the stepper or the probe on the way: what [`run_steps`] is made of.
#[derive(Debug)]
pub struct Course<S> {
    /// The account so far.
    pub ledger: Ledger,
    measurement: Measurement,
    before: S,
    step: usize,
    steps: usize,
}

impl<S: Clone> Course<S> {
    /// Opens the account at the start; whether the observer lets the run go on.
    ///
    /// # Errors
    /// A start that is not finite.
    pub fn begin<P>(
        probe: &mut P,
        state: &S,
        steps: usize,
        observer: &mut impl Observer<S>,
    ) -> Result<(Self, ControlFlow<()>), RunError>
    where
        P: Probe<State = S> + ?Sized,
    {
        let mut measurement = Measurement::default();
        probe.measure(state, &mut measurement);
        let mut ledger = Ledger::open(&measurement, probe.invariants(), probe.gaps());
        ledger.accounts = probe.accounts();
        ledger.driven = probe.is_driven();
        ledger.potential_scale = probe.potential_scale(state);
        ledger.conserved = probe.conserved();
        ledger.work = probe.workers().into_iter().map(|name| (name, 0.0)).collect();
        let flow = observer.observe(0, state, &measurement, &Events::default());
        let course = Self { ledger, measurement, before: state.clone(), step: 0, steps };
        if let Some(found) = course.measurement.not_finite().filter(|_| flow.is_continue()) {
            let source = not_finite(course.measurement.t, found, course.ledger.gap_names());
            return Err(RunError { step: 0, source, ledger: Box::new(course.ledger) });
        }
        Ok((course, flow))
    }

    /// Takes a step, measures and observes it; whether the observer lets the run go on.
    ///
    /// # Errors
    /// A step that fails; `state` is the one before, and the step may be taken again otherwise.
    pub fn advance<T, P>(
        &mut self,
        stepper: &mut T,
        probe: &mut P,
        state: &mut S,
        observer: &mut impl Observer<S>,
    ) -> Result<ControlFlow<()>, StepError>
    where
        T: Stepper<State = S> + ?Sized,
        P: Probe<State = S> + ?Sized,
    {
        self.before.clone_from(state);
        let report: StepReport = stepper.step(state)?;
        probe.tell(state, stepper.equality_impulses(), stepper.events());
        probe.measure(state, &mut self.measurement);
        if let Some(found) = self.measurement.not_finite() {
            state.clone_from(&self.before);
            return Err(not_finite(probe.time(state), found, self.ledger.gap_names()));
        }
        self.step += 1;
        self.ledger.step(&report, stepper.events());
        self.ledger.measurement(&self.measurement);
        Ok(observer.observe(self.step, state, &self.measurement, stepper.events()))
    }

    /// Whether all steps have been taken.
    pub fn is_over(&self) -> bool {
        self.step == self.steps
    }

    /// The run that ends here, before its last step if it was stopped.
    pub fn end(self) -> Outcome {
        Outcome { stopped: self.step < self.steps, ledger: self.ledger }
    }

    /// The run whose next step failed so.
    pub fn failed(self, source: StepError) -> RunError {
        RunError { step: self.step + 1, source, ledger: Box::new(self.ledger) }
    }
}

/// The error of a step that began at `t` and whose measurement is not finite.
#[cold]
fn not_finite(
    t: f64,
    (what, gap): (&'static str, Option<usize>),
    gap_names: &[String],
) -> StepError {
    let culprit = gap.and_then(|i| gap_names.get(i)).map_or("the system", String::as_str);
    StepError::NotFinite { t, what, culprit: culprit.to_owned() }
}

/// Number of steps of size `h` that lead from `start` to `end`, to the nearest step.
///
/// # Errors
/// If the step is not positive and finite, the end lies before the start, or there are more steps than anybody can wait for.
pub fn steps_between(start: f64, end: f64, h: f64) -> Result<usize, SystemError> {
    if !(h.is_finite() && h > 0.0) {
        return Err(SystemError::Parameter {
            what: "the step",
            must: "positive and finite",
            value: h,
        });
    }
    let steps = ((end - start) / h).round();
    if steps.is_nan() || steps < 0.0 || !end.is_finite() {
        return Err(SystemError::Parameter {
            what: "the end time",
            must: "finite and not before the start",
            value: end,
        });
    }
    if steps >= 1e15 {
        return Err(SystemError::Parameter {
            what: "the number of steps to the end time",
            must: "below 1e15",
            value: steps,
        });
    }
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // just bounded
    Ok(steps as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Band, Invariant, Mass, State, System, SystemProbe};

    /// Free flight that turns round at every fourth step and fails at a given one.
    struct Shuttle {
        events: Events,
        step: usize,
        fails_at: usize,
    }
    impl Stepper for Shuttle {
        type State = State;
        fn step(&mut self, state: &mut State) -> Result<StepReport, StepError> {
            if self.step + 1 == self.fails_at {
                return Err(StepError::NotFinite {
                    t: state.t,
                    what: "position",
                    culprit: "q0".into(),
                });
            }
            self.step += 1;
            self.events.clear();
            state.t += 0.5;
            state.q[0] += 0.5 * state.v[0];
            if self.step.is_multiple_of(4) {
                state.v[0] = -state.v[0];
                state.p[0] = -state.p[0];
                self.events.push(state.t, 0.0, 2, [(7, 2.0 * state.p[0])]);
            }
            Ok(StepReport { iterations: self.step, ..StepReport::default() })
        }
        fn step_size(&self) -> f64 {
            0.5
        }
        fn events(&self) -> &Events {
            &self.events
        }
    }

    fn numbers(band: &Band) -> [f64; 4] {
        [band.start, band.min, band.max, band.end]
    }

    fn shuttle(fails_at: usize) -> (System, Shuttle) {
        let system = System::new(Mass::diagonal(&[2.0]).unwrap())
            .with_invariant(Invariant::linear_momentum("p", &[0]));
        (system, Shuttle { events: Events::default(), step: 0, fails_at })
    }

    #[test]
    fn the_ledger_books_bands_events_and_costs() {
        let (system, mut stepper) = shuttle(usize::MAX);
        let mut state = State::new(&system, &[0.0], &[3.0]).unwrap();
        let mut seen = Vec::new();
        let mut record = |step: usize, s: &State, m: &Measurement, e: &Events| {
            seen.push((step, s.q[0], m.energy(), e.len()));
            ControlFlow::Continue(())
        };
        let outcome =
            run_steps(&mut stepper, &mut SystemProbe::new(&system), &mut state, 10, &mut record)
                .unwrap();
        let ledger = outcome.ledger;
        assert!(!outcome.stopped);
        assert_eq!((ledger.steps, ledger.events, ledger.rounds, ledger.most_rounds), (10, 2, 4, 2));
        assert_eq!((ledger.iterations, ledger.most_iterations), (55, 10));
        assert_eq!(numbers(&ledger.energy), [9.0; 4]);
        assert_eq!(numbers(ledger.invariant("p").unwrap()), [6.0, -6.0, 6.0, 6.0]);
        assert_eq!(ledger.warnings(), []);
        assert_eq!(seen.len(), 11);
        assert_eq!(seen[4], (4, 6.0, 9.0, 1));
        assert_eq!(state.q[0], 3.0);
    }

    #[test]
    fn a_failed_step_keeps_the_ledger_and_the_last_state() {
        let (system, mut stepper) = shuttle(6);
        let mut state = State::new(&system, &[0.0], &[3.0]).unwrap();
        let error =
            run_steps(&mut stepper, &mut SystemProbe::new(&system), &mut state, 10, &mut ())
                .unwrap_err();
        assert_eq!((error.step, error.ledger.steps, error.ledger.events), (6, 5, 1));
        assert_eq!(state.t, 2.5);
        assert_eq!(error.to_string(), "step 6: t = 2.5: position of `q0` is not finite");
    }

    #[test]
    fn a_measurement_that_is_not_finite_is_a_failed_step_whatever_the_stepper_says() {
        struct Blind(Events);
        impl Stepper for Blind {
            type State = State;
            fn step(&mut self, state: &mut State) -> Result<StepReport, StepError> {
                state.t += 0.5;
                state.v[0] *= 1e100;
                Ok(StepReport::default())
            }
            fn step_size(&self) -> f64 {
                0.5
            }
            fn events(&self) -> &Events {
                &self.0
            }
        }
        let (system, _) = shuttle(0);
        let mut state = State::new(&system, &[0.0], &[3.0]).unwrap();
        let mut probe = SystemProbe::new(&system);
        let mut stepper = Blind(Events::default());
        let error = run_steps(&mut stepper, &mut probe, &mut state, 10, &mut ()).unwrap_err();
        let text = "step 2: t = 0.5: the kinetic energy of `the system` is not finite";
        assert_eq!((error.to_string().as_str(), state.t, error.ledger.steps), (text, 0.5, 1));
        assert_eq!(state.v[0], 3.0 * 1e100);
    }

    #[test]
    fn an_observer_can_stop_the_run() {
        let (system, mut stepper) = shuttle(usize::MAX);
        let mut state = State::new(&system, &[0.0], &[3.0]).unwrap();
        let mut stop = |step: usize, _: &State, _: &Measurement, _: &Events| {
            if step == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let outcome =
            run_steps(&mut stepper, &mut SystemProbe::new(&system), &mut state, 10, &mut stop)
                .unwrap();
        assert!(outcome.stopped);
        assert_eq!(outcome.ledger.steps, 3);
    }

    #[test]
    fn steps_are_counted_to_the_nearest_and_bad_ones_refused() {
        assert_eq!(steps_between(0.0, 1000.0, 0.1).unwrap(), 10_000);
        assert_eq!(steps_between(1.0, 1.0, 0.1).unwrap(), 0);
        for h in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(matches!(
                steps_between(0.0, 1.0, h),
                Err(SystemError::Parameter { what: "the step", .. })
            ));
        }
        assert!(steps_between(0.0, -1.0, 0.1).is_err());
        assert!(steps_between(0.0, f64::NAN, 0.1).is_err());
        let error = steps_between(0.0, 1.0, 1e-300).unwrap_err().to_string();
        assert!(error.starts_with("the number of steps to the end time is"), "{error}");
    }
}
