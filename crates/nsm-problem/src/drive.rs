//! Runs from their start to their end: a stepper, a probe, and a recorder that sees every step.

use std::path::Path;

use nsm_constraints::multibody::Mechanism;
use nsm_model::{
    Accounts, Outcome, Probe, RunError, State, Stepper, System, SystemProbe, run_steps,
};

use super::account::Account;
use super::crowd::{Crowd, drive_crowd};
use super::parts::Parts;
use super::record::{Layout, Recorder};
use super::result;
use super::{Named, ProblemError, Run, RunResult, Watch};

/// A mechanism with its system, the bodies that are a crowd in it, and its start.
pub(crate) type Moving<'a> = (&'a Mechanism, &'a System, Option<&'a Crowd>, &'a State);

/// Drives a mechanism to its end.
pub(crate) fn drive_mechanism(
    run: &Run,
    (mechanism, system, crowd, start): Moving<'_>,
    folder: Option<&Path>,
    watch: Watch<'_>,
) -> Result<RunResult, ProblemError> {
    let all;
    let system = match crowd {
        Some(crowd) if run.method.facts.crowds => {
            return drive_crowd(run, (mechanism, system, crowd, start), folder, watch);
        }
        Some(crowd) => {
            all = crowd.all_listed(run, (mechanism, system, start))?;
            &all
        }
        None => system,
    };
    let mut stepper = run.stepper(system, start, Some(mechanism))?;
    let mut probe = SystemProbe::new(system);
    let layout = Parts::new(mechanism, system, run.method.own_friction);
    drive(run, &mut *stepper, &mut probe, &layout, start.clone(), folder, watch)
}

/// Drives any stepper to its end.
pub(crate) fn drive<S, P, L>(
    run: &Run,
    stepper: &mut (dyn Stepper<State = S> + '_),
    probe: &mut P,
    layout: &L,
    start: S,
    folder: Option<&Path>,
    watch: Watch<'_>,
) -> Result<RunResult, ProblemError>
where
    S: Clone,
    P: Probe<State = S>,
    L: Layout<S>,
{
    let seen = Seen::by(probe, &start);
    recorded(run, &seen, layout, start, (folder, watch), |state, recorder| {
        run_steps(stepper, probe, state, run.steps, recorder)
    })
}

/// What a probe looks at.
pub(crate) struct Seen {
    invariants: Vec<String>,
    gaps: Vec<String>,
    rubbing: Vec<String>,
    accounts: Accounts,
    start: f64,
}

impl Seen {
    pub(crate) fn by<P: Probe>(probe: &P, start: &P::State) -> Self {
        Self {
            invariants: probe.invariants(),
            gaps: probe.gaps(),
            rubbing: probe.rubbing(),
            accounts: probe.accounts(),
            start: probe.time(start),
        }
    }
}

/// Records what a driver does from the start to the end, and packs up what it left.
pub(crate) fn recorded<'w, S, L: Layout<S>>(
    run: &Run,
    seen: &Seen,
    layout: &'w L,
    mut state: S,
    (folder, watch): (Option<&Path>, Watch<'w>),
    go: impl FnOnce(&mut S, &mut Recorder<'w, L>) -> Result<Outcome, RunError>,
) -> Result<RunResult, ProblemError> {
    let Seen { invariants, gaps, rubbing, accounts, start } = seen;
    let pace = (run.step, run.steps);
    let account = Account::new(&run.questions, *start, pace, (rubbing.len(), *accounts));
    let mut recorder = Recorder::new(layout, invariants, (gaps, rubbing), run, account, watch);
    let unwritable = |e: std::io::Error, folder: &Path| {
        run.place.error(format!("cannot write to the output folder {}: {e}", folder.display()))
    };
    if let Some(folder) = folder {
        recorder = recorder.writing_to(folder, &run.name).map_err(|e| unwritable(e, folder))?;
    }
    let now = || watch.clock.map(|clock| clock());
    let begun = now();
    let outcome = go(&mut state, &mut recorder);
    let seconds = begun.zip(now()).map(|(begun, ended)| ended - begun);
    recorder.finish();
    let unwritten = recorder.failure.take().map(|error| error.to_string());
    let (ledger, failure, interrupted) = match outcome {
        Ok(outcome) => (outcome.ledger, None, outcome.stopped),
        Err(error) => {
            let message = error.to_string();
            (*error.ledger, Some(message), false)
        }
    };
    let Recorder { account, recording, .. } = recorder;
    Ok(RunResult {
        name: run.name.clone(),
        family: run.family.clone(),
        method: run.method.name().to_owned(),
        recommended: run.method.recommended,
        step: run.step,
        varied: run.varied.clone(),
        ledger,
        answers: account.answers(rubbing),
        reactions: if recording.reactions.is_empty() {
            Named::default()
        } else {
            result::reactions(&recording)
        },
        recording,
        end: layout.state(&state),
        form: layout.form(),
        seconds,
        unwritten,
        failure,
        interrupted,
        printed: std::sync::OnceLock::new(),
    })
}
