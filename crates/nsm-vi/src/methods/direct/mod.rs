//! Direct methods: the contact force as one more force of an implicit scheme.
//!
//! Implicit midpoint with the constraint force at the end or at the middle of the step
//! (\[KP\] (B.3)–(B.5)):
//! $$ q_1 = q_0 + \tfrac h2 M^{-1}(p_0 + p_1), \qquad
//!    p_1 \in p_0 - h\\,\nabla V(m) - h\\,\partial I_A(y), \qquad y = q_1 \ \text{or}\ m = \tfrac12(q_0 + q_1). $$
//! They are here for comparison. The end-point form dissipates by an amount that depends on where the
//! step happens to end; the midpoint form gains and loses, and is unstable on stiff problems.

mod newmark;
mod update;

pub use newmark::{ContactForce, Newmark, NewmarkStepper};

use nsm_model::{Clock, Events, State, StepError, StepReport, Stepper, System, SystemError};

use crate::Tolerances;
use crate::shared::kernel::check_system;
use crate::shared::tolerances::check_step;
use update::{DirectUpdate, Scheme};

/// Where a direct method enforces the constraints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ConstraintAt {
    /// At the end of the step (\[KP\] (B.5)).
    #[default]
    Endpoint,
    /// At its middle (\[KP\] (B.4)).
    Midpoint,
}

/// Implicit midpoint with direct constraint forces.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Direct {
    /// Step $h$.
    pub step: f64,
    /// Where the constraints are enforced.
    pub at: ConstraintAt,
    /// Thresholds of the solver.
    pub tolerances: Tolerances,
}

impl Direct {
    /// The method with default tolerances.
    pub fn new(step: f64, at: ConstraintAt) -> Self {
        Self { step, at, tolerances: Tolerances::default() }
    }

    /// Binds the method to a system and allocates its workspace.
    ///
    /// # Errors
    /// A step that is not positive, negative tolerances, or coordinates without mass.
    pub fn stepper<'a>(&self, system: &'a System) -> Result<DirectStepper<'a>, SystemError> {
        system.require_holonomic("direct")?;
        check_step(self.step)?;
        self.tolerances.check()?;
        check_system(system)?;
        system.require_no_friction("a direct method")?;
        Ok(DirectStepper {
            system,
            update: DirectUpdate::new(system, self.tolerances),
            h: self.step,
            at: self.at,
            p: vec![0.0; system.dimension()],
            v: vec![0.0; system.dimension()],
            clock: Clock::new(self.step),
            events: Events::with_capacity(1, system.inequalities().len()),
        })
    }
}

/// [`Direct`] bound to a system.
#[derive(Debug)]
pub struct DirectStepper<'a> {
    system: &'a System,
    update: DirectUpdate<'a>,
    h: f64,
    at: ConstraintAt,
    p: Vec<f64>,
    v: Vec<f64>,
    clock: Clock,
    events: Events,
}

impl DirectStepper<'_> {
    /// The energy of a state if contacts carried force in this step; nobody asks otherwise.
    fn energy_if_closed(&self, state: &State) -> f64 {
        if self.update.closed.is_empty() { 0.0 } else { energy(self.system, state) }
    }
}

impl Stepper for DirectStepper<'_> {
    type State = State;

    fn step(&mut self, state: &mut State) -> Result<StepReport, StepError> {
        self.system.check_lengths(state)?;
        let h = self.h;
        let alpha = match self.at {
            ConstraintAt::Endpoint => 1.0,
            ConstraintAt::Midpoint => 0.5,
        };
        let scheme = Scheme { alpha, a: 0.5, w: 0.5 * h };
        let iterations = self.update.solve((&state.q, &state.p, state.t), h, scheme)?;
        for ((v, x), q) in self.v.iter_mut().zip(&self.update.x).zip(&state.q) {
            *v = (x - q) / h;
        }
        // (B.15): p₁ = (2/h) M (q₁ − q₀) − p₀.
        self.system.mass().multiply(&self.v, &mut self.p);
        for (new, p) in self.p.iter_mut().zip(&state.p) {
            *new = 2.0 * *new - p;
        }
        let (t, end) = (state.t, self.clock.end(state.t));
        self.system.mass().solve(&self.p, &mut self.v);
        self.system.check_finite(t, end, &self.update.x, &self.v)?;
        let before = self.energy_if_closed(state);
        state.q.copy_from_slice(&self.update.x);
        state.p.copy_from_slice(&self.p);
        state.v.copy_from_slice(&self.v);
        state.t = self.clock.tick(t);
        let change = self.energy_if_closed(state) - before;
        let contacts = self.update.closed.iter().map(|&i| (i, 2.0 * self.update.lambda[i]));
        self.events.clear();
        if !self.update.closed.is_empty() {
            self.events.push(state.t - (1.0 - alpha) * h, change, 0, contacts);
        }
        let closed = self.update.closed.len();
        Ok(StepReport {
            iterations,
            residual: self.update.residual,
            closed,
            ..StepReport::default()
        })
    }

    fn step_size(&self) -> f64 {
        self.h
    }

    fn events(&self) -> &Events {
        &self.events
    }
}

/// $H = \tfrac12 v^\top M v + V(q, t)$.
fn energy(system: &System, state: &State) -> f64 {
    system.mass().kinetic_energy(&state.v) + system.potential().sum(&state.q, state.t)
}
