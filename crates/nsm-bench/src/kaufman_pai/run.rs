//! Runs with bands by window and curves, for the scenarios of this paper.

use std::ops::ControlFlow;

use nsm_model::{
    Band, Events, Ledger, Measurement, State, StepError, Stepper, System, SystemProbe, run_steps,
};

use crate::Findings;

/// Points of a curve.
const SAMPLES: usize = 400;

/// What a run left behind.
pub(super) struct Trace {
    pub(super) ledger: Ledger,
    /// Energy in ten windows of equal length.
    pub(super) windows: Vec<Band>,
    /// Energy, first tracked quantity, first coordinate over time.
    pub(super) energy: Vec<[f64; 2]>,
    pub(super) invariant: Vec<[f64; 2]>,
    pub(super) position: Vec<[f64; 2]>,
    /// Deepest penetration of every gap, and in how many steps any gap was penetrated.
    pub(super) depth: Vec<f64>,
    pub(super) penetrated: usize,
    pub(super) end: State,
    /// Why and when the run ended early.
    pub(super) failure: Option<(f64, StepError)>,
}

impl Trace {
    /// Takes `steps` steps from `start`.
    pub(super) fn run(
        system: &System,
        start: &State,
        stepper: &mut impl Stepper<State = State>,
        steps: usize,
    ) -> Self {
        let mut state = start.clone();
        let every = steps.div_ceil(SAMPLES).max(1);
        let window = steps.div_ceil(10).max(1);
        let mut windows: Vec<Band> = Vec::with_capacity(10);
        let (mut energy, mut invariant, mut position) = (Vec::new(), Vec::new(), Vec::new());
        let mut depth = vec![0.0_f64; system.inequalities().len()];
        let mut penetrated = 0;
        let mut watch = |step: usize, state: &State, m: &Measurement, _: &Events| {
            let e = m.energy();
            if step.is_multiple_of(window) && windows.len() < 10 {
                windows.push(Band::new(e));
            } else if let Some(band) = windows.last_mut() {
                band.extend(e);
            }
            for (depth, gap) in depth.iter_mut().zip(&m.gaps) {
                *depth = depth.max(-gap);
            }
            penetrated += usize::from(m.gaps.iter().any(|g| *g < 0.0));
            if step.is_multiple_of(every) {
                energy.push([m.t, e]);
                invariant.extend(m.invariants.first().map(|&x| [m.t, x]));
                position.push([m.t, state.q[0]]);
            }
            ControlFlow::Continue(())
        };
        let mut probe = SystemProbe::new(system);
        let (ledger, failure) = match run_steps(stepper, &mut probe, &mut state, steps, &mut watch)
        {
            Ok(outcome) => (outcome.ledger, None),
            Err(error) => (*error.ledger, Some((error.source.time(), error.source))),
        };
        Self {
            ledger,
            windows,
            energy,
            invariant,
            position,
            depth,
            penetrated,
            end: state,
            failure,
        }
    }

    /// The band of the first tracked quantity.
    pub(super) fn tracked(&self) -> Band {
        self.ledger.invariants.first().map_or(Band::new(f64::NAN), |(_, band)| *band)
    }

    /// Lowest and highest energy of the windows from `first` on.
    pub(super) fn late_energy(&self, first: usize) -> (f64, f64) {
        self.windows
            .iter()
            .skip(first)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), b| {
                (low.min(b.min), high.max(b.max))
            })
    }

    /// Passes the error on, if the run failed and should not have.
    pub(super) fn completed(self) -> Result<Self, StepError> {
        match self.failure {
            Some((_, error)) => Err(error),
            None => Ok(self),
        }
    }

    /// Adds the curves of energy and of the first tracked quantity.
    pub(super) fn draw(&self, findings: &mut Findings, name: &str) {
        findings.curve(name, ("t", "energy"), self.energy.iter().copied());
        if let Some((quantity, _)) = self.ledger.invariants.first() {
            findings.curve(name, ("t", quantity), self.invariant.iter().copied());
        }
    }
}
