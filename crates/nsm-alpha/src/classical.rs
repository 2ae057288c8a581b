//! Classical generalized-α: index 3, 2 and 1, and index 2 with the intermediate gradient.
//!
//! \[PB\] section 4.1. The constraints are those of the mode at the *end* of the step. These methods know no
//! impact: at a switch index 3 oscillates, index 1 leaves the constraint, and index 2 with
//! $G_{\mathcal{E}}$ gains energy unless the coefficients forget the past
//! ([`Coefficients::fully_implicit`]). They are here for comparison and for smooth problems; use
//! [`Nsga`](crate::Nsga) or [`EventDriven`](crate::EventDriven) where constraints switch.

use nsm_model::{
    Clock, Events, State, StepError, StepReport, Stepper, System, SystemError, Tolerance,
    check_start,
};

use crate::bilateral::Bilateral;
use crate::implicit::{Implicit, Index, Motion, Solved};
use crate::switch::Crossing;
use crate::{AlphaError, Coefficients, NewtonOptions};

/// How often the mode may change within one step before it is given up.
const MODE_CHANGES: usize = 4;

/// The classical generalized-α method.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassicalAlpha {
    /// Step size $h$.
    pub step: f64,
    /// Level of the constraints.
    pub index: Index,
    /// Coefficients of the difference formulae.
    pub coefficients: Coefficients,
    /// $\mathcal{E}$ of the intermediate gradient in the step of a switch; `None` takes $G$ (index 2 only).
    pub interpolation: Option<f64>,
    /// Tolerance and limit of Newton's method.
    pub newton: NewtonOptions,
}

impl ClassicalAlpha {
    /// The method with spectral radius $\rho_\infty$.
    ///
    /// # Errors
    /// If $\rho_\infty$ lies outside $[0, 1]$.
    pub fn new(step: f64, index: Index, rho: f64) -> Result<Self, SystemError> {
        Ok(Self {
            step,
            index,
            coefficients: Coefficients::from_spectral_radius(rho)?,
            interpolation: None,
            newton: NewtonOptions::default(),
        })
    }

    /// Binds the method to a system and a start.
    ///
    /// # Errors
    /// Parameters that make no sense, a start off its constraints, inequalities (which this method does
    /// not know), a singular mass that no constraint fixes.
    pub fn stepper<'a>(
        &self,
        system: &'a System,
        start: &State,
    ) -> Result<ClassicalAlphaStepper<'a>, AlphaError> {
        system.require_no_dry_friction("generalized-α")?;
        if self.index != Index::Two {
            system.require_holonomic("generalized-α on position or acceleration level")?;
        }
        // Positions that are held by their velocities alone drift, and rolling carries the drift along: 1.6e-2 of a sphere's in 2 s.
        let rows = system.equalities();
        if let (Some(rolling), Some(i)) =
            (system.nonholonomic(), (0..rows.len()).find(|&i| !rows.field(i).is_nonholonomic()))
        {
            return Err(SystemError::DoesNotFit {
                method: "alpha-index2",
                why: format!(
                    "it holds `{}` on velocity level only, and with `{rolling}` beside it positions drift away; take `vi` or `energy-momentum`",
                    rows.name(i)
                ),
            }
            .into());
        }
        check_step(self.step)?;
        self.coefficients.check()?;
        self.newton.check()?;
        refuse_contacts(system, "classical generalized-α")?;
        if let Some(e) = self.interpolation {
            check_interpolation(e)?;
            if self.index != Index::Two {
                return Err(SystemError::DoesNotFit {
                    method: "the intermediate gradient in generalized-α",
                    why: "it is defined at velocity level: use index 2".into(),
                }
                .into());
            }
        }
        check_start(system, start, Tolerance::default())?;
        let n = system.dimension();
        let mut stepper = ClassicalAlphaStepper {
            method: self.clone(),
            system,
            solver: Implicit::new(system, self.newton, false)?,
            rows: Bilateral::new(system, false)?,
            crossing: Crossing::new(system, self.interpolation.unwrap_or(1.0))?,
            from: Motion::new(n),
            mode: start.mode,
            gradient: vec![0.0; Crossing::entries_of(system)],
            clock: Clock::new(self.step),
            events: Events::with_capacity(1, 1),
        };
        stepper.restart(start)?;
        Ok(stepper)
    }
}

/// [`ClassicalAlpha`] bound to a system.
#[derive(Debug)]
pub struct ClassicalAlphaStepper<'a> {
    method: ClassicalAlpha,
    system: &'a System,
    solver: Implicit<'a>,
    rows: Bilateral<'a>,
    crossing: Crossing<'a>,
    from: Motion,
    mode: i64,
    gradient: Vec<f64>,
    clock: Clock,
    events: Events,
}

impl ClassicalAlphaStepper<'_> {
    /// The multipliers $\lambda$ at the end of the last step, redundant rows left out.
    pub fn multipliers(&self) -> &[f64] {
        &self.solver.multipliers[..self.rows.len()]
    }

    /// Accelerations for a state that this stepper did not produce itself.
    fn restart(&mut self, state: &State) -> Result<(), AlphaError> {
        self.mode = state.mode;
        self.from.t = state.t;
        self.from.q.copy_from_slice(&state.q);
        self.from.v.copy_from_slice(&state.v);
        self.rows.choose(Some(state.mode), &[], &state.q, state.t);
        self.solver.accelerate(&mut self.from, &mut self.rows)
    }

    fn advance(&mut self, mode: i64) -> Result<Solved, StepError> {
        let Self { method, solver, rows, crossing, from, gradient, .. } = self;
        let t = from.t;
        if mode != rows.mode() {
            // A different mode has different rows: its multipliers start afresh.
            rows.choose(Some(mode), &[], &from.q, t);
            solver.multipliers.fill(0.0);
        }
        let intermediate = match method.interpolation {
            Some(_) if mode != self.mode => {
                let to = (from.t + method.step, &solver.end.q);
                let g = crossing
                    .intermediate(
                        &mut solver.equations,
                        (self.mode, mode),
                        (&from.q, t),
                        (to.1, to.0),
                        &from.v,
                    )
                    .map_err(|e| e.at(t))?;
                gradient[..g.len()].copy_from_slice(g);
                Some(&gradient[..g.len()])
            }
            _ => None,
        };
        solver.solve(&method.coefficients, method.index, method.step, from, rows, intermediate)
    }
}

impl Stepper for ClassicalAlphaStepper<'_> {
    type State = State;

    fn step(&mut self, state: &mut State) -> Result<StepReport, StepError> {
        self.system.check_lengths(state)?;
        if state.t != self.from.t
            || state.q != self.from.q
            || state.v != self.from.v
            || state.mode != self.mode
        {
            self.restart(state).map_err(|e| e.at(state.t))?;
        }
        self.events.clear();
        let mut mode = self.mode;
        let mut iterations = 0;
        let mut solved;
        let mut changes = 0;
        loop {
            solved = self.advance(mode)?;
            iterations += solved.iterations;
            let end = &self.solver.end;
            let Some(switching) = self.system.switching() else { break };
            let Some(reached) = switching.mode_at(&end.q, end.t, mode) else {
                return Err(AlphaError::Uncovered { from: switching.name(mode) }.at(state.t));
            };
            if reached == mode {
                break;
            }
            let cycles = changes > 0 && reached == self.mode;
            if cycles || changes == MODE_CHANGES {
                // No mode agrees with its own end. If the motion still goes on through the surface, the old mode
                // would overshoot it and the new one has not reached it yet: it has switched within the step.
                let Motion { t, q, v, .. } = &self.from;
                let before = self.crossing.surface_rate(self.mode, q, v, *t);
                let after = self.crossing.surface_rate(self.mode, &end.q, &end.v, end.t);
                if cycles && before * after > 0.0 {
                    break;
                }
                let (from, to) = (self.crossing.name(self.mode), self.crossing.name(mode));
                let interpolation = self.crossing.interpolation;
                let error = AlphaError::Direction { from, to, before, after, interpolation };
                return Err(error.at(state.t));
            }
            mode = reached;
            changes += 1;
        }
        let end = &self.solver.end;
        if let Some((name, _)) = self.rows.violated_aside(&end.q, end.t) {
            // Rows set aside in a singular configuration may have come back to life.
            let constraint = name.to_owned();
            self.rows.choose(Some(mode), &[], &end.q, end.t);
            self.solver.multipliers.fill(0.0);
            solved = self.advance(mode)?;
            iterations += solved.iterations;
            let end = &self.solver.end;
            if let Some((_, value)) = self.rows.violated_aside(&end.q, end.t) {
                return Err(AlphaError::Contradiction { constraint, value }.at(state.t));
            }
        }
        self.solver.end.t = self.clock.end(state.t);
        let end = &self.solver.end;
        self.system.check_finite(state.t, end.t, &end.q, &end.v)?;
        if mode != self.mode {
            self.crossing
                .check_surface(self.mode, mode, &self.from.q, end.t)
                .map_err(|e| e.at(state.t))?;
            let change = self.system.kinetic_energy(&end.q, &end.v)
                - self.system.kinetic_energy(&self.from.q, &self.from.v);
            self.events.push(end.t, change, 0, [(usize::try_from(mode).unwrap_or(0), 0.0)]);
        }
        self.from.copy_from(end);
        self.mode = mode;
        state.t = self.clock.tick(state.t);
        state.q.copy_from_slice(&end.q);
        state.v.copy_from_slice(&end.v);
        state.mode = mode;
        self.system.momentum(&state.q, &state.v, &mut state.p);
        Ok(StepReport { iterations, residual: solved.residual, ..StepReport::default() })
    }

    fn step_size(&self) -> f64 {
        self.method.step
    }

    fn events(&self) -> &Events {
        &self.events
    }
}

pub(crate) fn check_step(step: f64) -> Result<(), SystemError> {
    if step.is_finite() && step > 0.0 {
        return Ok(());
    }
    Err(SystemError::Parameter { what: "the step", must: "positive and finite", value: step })
}

pub(crate) fn check_interpolation(e: f64) -> Result<(), SystemError> {
    if (0.0..=1.0).contains(&e) {
        return Ok(());
    }
    Err(SystemError::Parameter {
        what: "the interpolation parameter",
        must: "between 0 and 1",
        value: e,
    })
}

fn refuse_contacts(system: &System, method: &'static str) -> Result<(), SystemError> {
    if system.inequalities().is_empty() {
        return Ok(());
    }
    Err(SystemError::DoesNotFit {
        method,
        why: "it has inequalities; use NSGA, the event-driven method or Moreau–Jean".into(),
    })
}
