//! Steps that do not give up: one that has no solution is taken in halves.
//!
//! An implicit step may have no solution, however good its solver. RATTLE along a rod of length $l$ has one only while the bob moves
//! less than $l$ across the rod: constraint forces act along the rod at the start of the step, and no such force brings it back from further away.
//! Chains of many short links whip about faster than that. Half the step from the same state has a solution again,
//! or a quarter. A method that can tell whether a step resolves the motion is asked to do so in the pieces, and in the steps that follow.
//!
//! Momenta, constraints and the order stay what they are for any sequence of steps; what is lost for that step is the
//! numerical Hamiltonian of the step size, so the energy may move by as much as its band is wide. How many pieces a step took is in its
//! [report](StepReport::parts), and the ledger counts such steps.

use std::fmt::Debug;

use crate::{Clock, Events, State, StepError, StepReport, Stepper, SystemError};

/// Halvings before a step is given up: the smallest piece is $2^{-10} h$.
const DEPTH: usize = 10;
/// Whole steps in a row, after one that was split, that must resolve the motion closely.
const WATCHED: usize = 100;

/// A method without memory and events, at the step it was asked for and at its halves.
pub struct Splitting<'a, S> {
    make: Box<Make<'a, S>>,
    whole: S,
    /// Steppers of length $h, h/2, h/4, \dots$ that resolve the motion closely, made when they are needed.
    pieces: Vec<S>,
    /// Steps for which the whole step is watched, and which stepper took the last step alone.
    watched: usize,
    alone: Alone,
    h: f64,
    trial: State,
    clock: Clock,
}

/// Who took the last step.
#[derive(Clone, Copy)]
enum Alone {
    Whole,
    Watched,
    Nobody,
}

/// Binds a method for a step, and says whether that step must resolve the motion closely.
type Make<'a, S> = dyn Fn(f64, bool) -> Result<S, SystemError> + 'a;

impl<S: Debug> Debug for Splitting<'_, S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Splitting").field("whole", &self.whole).finish_non_exhaustive()
    }
}

impl<'a, S: Stepper<State = State>> Splitting<'a, S> {
    /// Binds a method at the step `h`, by a function that binds it for any step. Its second argument says whether the method should
    /// refuse steps that have a solution and do not resolve the motion, if it can tell.
    ///
    /// # Errors
    /// Those of the function.
    pub fn new(
        h: f64,
        make: impl Fn(f64, bool) -> Result<S, SystemError> + 'a,
    ) -> Result<Self, SystemError> {
        let whole = make(h, false)?;
        let trial = State { t: 0.0, q: Vec::new(), v: Vec::new(), p: Vec::new(), mode: 0 };
        let (make, pieces) = (Box::new(make), Vec::new());
        Ok(Self {
            make,
            whole,
            pieces,
            watched: 0,
            alone: Alone::Whole,
            h,
            trial,
            clock: Clock::new(h),
        })
    }

    /// The stepper of the whole step.
    pub fn whole(&self) -> &S {
        &self.whole
    }

    /// One step of length $2^{-k} h$ from `trial`, in halves where it has no solution.
    fn piece(&mut self, k: usize, report: &mut StepReport) -> Result<(), StepError> {
        while self.pieces.len() <= k {
            let length = self.h * 0.5_f64.powi(i32::try_from(self.pieces.len()).unwrap_or(0));
            let made = (self.make)(length, true);
            let t = self.trial.t;
            let failure = |source| StepError::Method { t, source: Box::new(source) };
            self.pieces.push(made.map_err(failure)?);
        }
        match self.pieces[k].step(&mut self.trial) {
            Ok(piece) => {
                add(report, &piece);
                Ok(())
            }
            Err(error) if error.is_unsolved() && k < DEPTH => {
                self.piece(k + 1, report)?;
                self.piece(k + 1, report)
            }
            Err(error) => Err(error),
        }
    }
}

fn add(report: &mut StepReport, piece: &StepReport) {
    report.parts += 1;
    report.iterations += piece.iterations;
    report.rounds += piece.rounds;
    report.residual = report.residual.max(piece.residual);
    report.closed = piece.closed;
    if let Some(change) = piece.projected_energy {
        *report.projected_energy.get_or_insert(0.0) += change;
    }
}

impl<S: Stepper<State = State>> Stepper for Splitting<'_, S> {
    type State = State;

    fn step(&mut self, state: &mut State) -> Result<StepReport, StepError> {
        let start = state.t;
        let mut unsolved = None;
        if self.watched == 0 {
            match self.whole.step(state) {
                Ok(report) => {
                    // This clock counts on over steps that were split, which the stepper's own does not.
                    state.t = self.clock.tick(start);
                    self.alone = Alone::Whole;
                    return Ok(report);
                }
                Err(error) if error.is_unsolved() => unsolved = Some(error),
                Err(error) => return Err(error),
            }
        }
        let mut report = StepReport::default();
        self.trial.clone_from(state);
        if let Err(error) = self.piece(0, &mut report) {
            return Err(unsolved.unwrap_or(error));
        }
        if report.parts > 1 {
            (self.watched, self.alone) = (WATCHED, Alone::Nobody);
        } else {
            (self.watched, self.alone) = (self.watched.saturating_sub(1), Alone::Watched);
            report.parts = 0;
        }
        self.trial.t = self.clock.tick(start);
        state.clone_from(&self.trial);
        Ok(report)
    }

    fn step_size(&self) -> f64 {
        self.h
    }

    fn events(&self) -> &Events {
        self.whole.events()
    }

    fn equality_impulses(&self) -> Option<&[f64]> {
        match self.alone {
            Alone::Whole => self.whole.equality_impulses(),
            Alone::Watched => self.pieces[0].equality_impulses(),
            // Those of pieces act at other instants each.
            Alone::Nobody => None,
        }
    }
}
