//! Runs of a stepper that record what the figures show.

use std::ops::ControlFlow;

use nsm_alpha::{AlphaError, ClassicalAlpha, EventDriven, Nsga};
use nsm_model::{
    Events, Ledger, Measurement, RunError, State, Stepper, SystemProbe, run_steps, steps_between,
};

use super::problems::Problem;
use crate::{Findings, ScenarioError};

/// The spectral radius of the paper.
pub(super) const RHO: f64 = 0.98;

/// A method of the family.
pub(super) enum Method {
    Classical(ClassicalAlpha),
    Event(EventDriven),
    Nsga(Nsga),
}

/// What a run recorded: every instant would be too much, so at most a few hundred.
pub(super) struct Record {
    pub(super) state: State,
    pub(super) ledger: Ledger,
    /// $(t, q)$ at the recorded instants.
    pub(super) positions: Vec<(f64, Vec<f64>)>,
    pub(super) kinetic: Vec<[f64; 2]>,
    pub(super) energy: Vec<[f64; 2]>,
    /// Time, kinetic energy before and after, of every event.
    pub(super) jumps: Vec<(f64, f64, f64)>,
}

impl Method {
    pub(super) fn run(&self, problem: &Problem, end: f64) -> Result<Record, ScenarioError> {
        let (system, start) = (&problem.system, &problem.start);
        match self {
            Self::Classical(m) => record(problem, &mut m.stepper(system, start)?, end),
            Self::Event(m) => record(problem, &mut m.stepper(system, start)?, end),
            Self::Nsga(m) => record(problem, &mut m.stepper(system, start)?, end),
        }
    }

    /// The error with which a run ends that must not succeed.
    pub(super) fn refusal(&self, problem: &Problem, end: f64) -> Option<AlphaError> {
        let error = self.run(problem, end).err()?;
        let error = error.downcast_ref::<RunError>()?;
        let source = std::error::Error::source(&error.source)?;
        source.downcast_ref::<AlphaError>().cloned()
    }
}

fn record<S: Stepper<State = State>>(
    problem: &Problem,
    stepper: &mut S,
    end: f64,
) -> Result<Record, ScenarioError> {
    let steps = steps_between(problem.start.t, end, stepper.step_size())?;
    let every = steps.div_ceil(400).max(1);
    let mut state = problem.start.clone();
    let (mut positions, mut kinetic, mut energy, mut jumps) = (vec![], vec![], vec![], vec![]);
    let mut last = 0.0;
    let mut watch = |step: usize, s: &State, m: &Measurement, events: &Events| {
        jumps.extend(events.iter().map(|e| (e.t, last, m.kinetic)));
        last = m.kinetic;
        if step.is_multiple_of(every) || !events.is_empty() {
            positions.push((s.t, s.q.clone()));
            kinetic.push([s.t, m.kinetic]);
            energy.push([s.t, m.energy()]);
        }
        ControlFlow::Continue(())
    };
    let mut probe = SystemProbe::new(&problem.system);
    let outcome = run_steps(stepper, &mut probe, &mut state, steps, &mut watch)?;
    Ok(Record { state, ledger: outcome.ledger, positions, kinetic, energy, jumps })
}

impl Record {
    /// Coordinate `i` over time as a curve.
    pub(super) fn coordinate(&self, i: usize) -> Vec<[f64; 2]> {
        self.positions.iter().map(|(t, q)| [*t, q[i]]).collect()
    }

    /// The trace of two coordinates as a curve.
    pub(super) fn trace(&self, i: usize, j: usize) -> Vec<[f64; 2]> {
        self.positions.iter().map(|(_, q)| [q[i], q[j]]).collect()
    }

    /// Adds the curve of kinetic energy.
    pub(super) fn add_kinetic(self, name: &str, findings: &mut Findings) {
        findings.curve(name, ("t", "kinetic energy"), self.kinetic);
    }
}
