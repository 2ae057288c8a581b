//! Newmark methods with direct constraint forces, fully and implicitly–explicitly.
//!
//! With the slope $s = \nabla V - f$ and the constraint force $c = G\lambda + F\nu$ (\[KP\] (B.8), (B.9)):
//! $$ q_1 = q_0 + h v_0 - \tfrac{h^2}2 M^{-1}\big[(1-2\beta)(s_0 - c_0) + 2\beta(s_1 - c_1)\big], \qquad
//!    v_1 = v_0 - h M^{-1}\big[(1-\gamma)(s_0 - c_0) + \gamma(s_1 - c_1)\big]. $$
//! The implicit–explicit form of Kane et al. takes $\beta = \tfrac12$, $\gamma = 1$ for the constraint force alone
//! (\[KP\] (B.10), (B.11)). Here for comparison, like all direct methods.

use nsm_model::{Clock, Events, State, StepError, StepReport, Stepper, System, SystemError};

use super::energy;
use super::update::{DirectUpdate, Scheme};
use crate::Tolerances;
use crate::shared::kernel::check_system;
use crate::shared::tolerances::check_step;

/// How a [`Newmark`] method weighs the constraint force over a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ContactForce {
    /// All of it at the end of the step (\[KP\] (B.10), (B.11)).
    #[default]
    Implicit,
    /// As the other forces (\[KP\] (B.8), (B.9)); needs $\beta > 0$, since with $\beta = 0$ the force at the
    /// end of the step does not move the end of the step.
    Consistent,
}

/// The Newmark family with direct constraint forces.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Newmark {
    /// Step $h$.
    pub step: f64,
    /// $\beta \in [0, \tfrac12]$.
    pub beta: f64,
    /// $\gamma \in [0, 1]$; order 2 if and only if $\gamma = \tfrac12$.
    pub gamma: f64,
    /// Weights of the constraint force.
    pub contact: ContactForce,
    /// Thresholds of the solver.
    pub tolerances: Tolerances,
}

impl Newmark {
    /// The method with default tolerances and all of the constraint force at the end (IMEX).
    pub fn imex(step: f64, beta: f64, gamma: f64) -> Self {
        let contact = ContactForce::Implicit;
        Self { step, beta, gamma, contact, tolerances: Tolerances::default() }
    }

    /// Binds the method to a system and allocates its workspace.
    ///
    /// # Errors
    /// Parameters out of range, coordinates without mass, forces that depend on velocity, or
    /// constraints with $\beta = 0$ and [`ContactForce::Consistent`].
    pub fn stepper<'a>(&self, system: &'a System) -> Result<NewmarkStepper<'a>, SystemError> {
        system.require_holonomic("newmark")?;
        check_step(self.step)?;
        self.tolerances.check()?;
        check_system(system)?;
        system.require_no_friction("Newmark")?;
        let range = |what, value: f64, limit: f64, must| {
            let fits = (0.0..=limit).contains(&value);
            if fits { Ok(()) } else { Err(SystemError::Parameter { what, must, value }) }
        };
        range("Newmark's beta", self.beta, 0.5, "between 0 and 1/2")?;
        range("Newmark's gamma", self.gamma, 1.0, "between 0 and 1")?;
        let misfit = |why: &str| SystemError::DoesNotFit { method: "Newmark", why: why.to_owned() };
        let update = DirectUpdate::new(system, self.tolerances);
        if update.loads.is_damped() {
            return Err(misfit("a force depends on velocity; use the midpoint rule"));
        }
        let constrained = !(system.equalities().is_empty() && system.inequalities().is_empty());
        if constrained && self.contact == ContactForce::Consistent && self.beta == 0.0 {
            return Err(misfit(
                "with beta = 0 the constraint force cannot move the end of the step",
            ));
        }
        let n = system.dimension();
        Ok(NewmarkStepper {
            system,
            method: *self,
            update,
            start: vec![0.0; n],
            end: vec![0.0; n],
            b: vec![0.0; n],
            v: vec![0.0; n],
            clock: Clock::new(self.step),
            force: vec![0.0; n],
            force_at: vec![f64::NAN; n],
            events: Events::with_capacity(1, system.inequalities().len()),
        })
    }
}

/// [`Newmark`] bound to a system.
///
/// With [`ContactForce::Consistent`] it remembers the constraint force at the end of its last step, for
/// as long as it is called on the state where that step ended.
#[derive(Debug)]
pub struct NewmarkStepper<'a> {
    system: &'a System,
    method: Newmark,
    update: DirectUpdate<'a>,
    /// $s_0 - c_0$ and $s_1 - c_1$.
    start: Vec<f64>,
    end: Vec<f64>,
    b: Vec<f64>,
    v: Vec<f64>,
    clock: Clock,
    /// Constraint force $c$ at the end of the last step, and where that was.
    force: Vec<f64>,
    force_at: Vec<f64>,
    events: Events,
}

impl Stepper for NewmarkStepper<'_> {
    type State = State;

    fn step(&mut self, state: &mut State) -> Result<StepReport, StepError> {
        self.system.check_lengths(state)?;
        let Newmark { step: h, beta, gamma, contact, .. } = self.method;
        let (t, end) = (state.t, self.clock.end(state.t));
        let consistent = contact == ContactForce::Consistent;
        self.update.loads.slope(&state.q, &state.v, t, &mut self.start);
        if consistent && self.force_at == state.q {
            for (s, c) in self.start.iter_mut().zip(&self.force) {
                *s -= c;
            }
        }
        for ((b, p), s) in self.b.iter_mut().zip(&state.p).zip(&self.start) {
            *b = p - 0.5 * h * (1.0 - 2.0 * beta) * s;
        }
        let scheme = Scheme { alpha: 1.0, a: 1.0, w: h * beta };
        let iterations = self.update.solve((&state.q, &self.b, t), h, scheme)?;
        self.update.loads.slope(&self.update.x, &state.v, end, &mut self.end);
        // Constraint impulses in the position update are hβ c₁, or h/2 c₁ in the IMEX form.
        let share = if consistent { gamma / beta } else { 2.0 };
        for (i, b) in self.b.iter_mut().enumerate() {
            let smooth = (1.0 - gamma) * self.start[i] + gamma * self.end[i];
            let impulse =
                if self.update.impulse[i] == 0.0 { 0.0 } else { share * self.update.impulse[i] };
            *b = state.p[i] - h * smooth + impulse;
        }
        self.system.mass().solve(&self.b, &mut self.v);
        self.system.check_finite(t, end, &self.update.x, &self.v)?;
        let touching = !self.update.closed.is_empty();
        let before = if touching { energy(self.system, state) } else { 0.0 };
        state.q.copy_from_slice(&self.update.x);
        state.p.copy_from_slice(&self.b);
        state.v.copy_from_slice(&self.v);
        state.t = self.clock.tick(t);
        if consistent && beta > 0.0 {
            for (c, impulse) in self.force.iter_mut().zip(&self.update.impulse) {
                *c = impulse / (h * beta);
            }
            self.force_at.copy_from_slice(&state.q);
        }
        self.events.clear();
        if touching {
            let change = energy(self.system, state) - before;
            let contacts = self.update.closed.iter().map(|&i| (i, share * self.update.lambda[i]));
            self.events.push(end, change, 0, contacts);
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
        self.method.step
    }

    fn events(&self) -> &Events {
        &self.events
    }
}
