//! The nonsmooth generalized-α method (NSGA) with switching constraints and contacts.
//!
//! \[PB\] section 4.2.2, after [Cosimo, Galvez, Cavalieri, Cardona & Brüls 2020]. Each step from the corrected
//! $q_n, v_n$ solves three problems in turn:
//!
//! 1. Smooth motion $\tilde q, \tilde v$ by index-2 generalized-α (77)–(80);
//! 2. position correction $q_{n+1} = \tilde q + U$ in the mode of $q_{n+1}$ itself,
//!    $$ \tilde M U + G_{\mathcal{E}}^\top \nu = h^2 f^p, \qquad g(q_{n+1}) = 0 \tag{82, 83} $$
//!    $$ f^p = f(q_{n+1}, \tilde v) - f(\tilde q, \tilde v) - (G(q_{n+1}) - G(\tilde q))^\top \tilde\lambda $$
//! 3. velocity jump $v_{n+1} = \tilde v + W$ with all constraints, smooth and switching,
//!    $$ M W + G_{\mathcal{E}}^\top \Lambda = h f^\ast, \qquad G v_{n+1} = -g_t \tag{86, 87} $$
//!    $$ f^\ast = f(q_{n+1}, v_{n+1}) - f(\tilde q, \tilde v) - (G(q_{n+1}) - G(\tilde q))^\top \tilde\lambda -
//!    (M(q_{n+1}) - M(\tilde q)) \dot{\tilde v} $$
//!
//! $G_{\mathcal{E}} = G$ unless the mode changes over the step. The bracket with $\tilde\lambda$ carries a minus sign
//! (the paper prints plus), without which the terms do not cancel for a small correction.
//!
//! **Variants.** As [published](Variant::Published), step 1 holds the smooth constraints only, which costs an
//! order on curved switching constraints. The [active](Variant::Active) variant, the default, holds the
//! constraints of the present mode in step 1 too and makes the acceleration consistent after a switch: second order
//! between switches.
//!
//! **Contacts** are unilateral in 2 ($0 \le g(q_{n+1}) \perp \nu \ge 0$) and follow Newton's restitution in 3,
//! all at once, with friction where there is any (one friction problem in 3); step 1 does not know them. In 2 friction is known from the step before, or, where it begins, from a
//! first pass: impulses $r_T$ of contacts that nothing hits add $\tfrac h2 J_T^\top r_T$ to the right of (82), as a force does over a step. Without it what sticks to a slope creeps by
//! $\tfrac{h^2}2$ times the acceleration that friction holds off in every step. A contact takes part in 3 if $\nu > 0$ in 2, or if its gap is closed: what
//! moved a position must act on the velocity too, or the velocity that gravity gives goes on for ever.

use nsm_model::{
    Clock, Events, State, StepError, StepReport, Stepper, System, SystemError, Tolerance,
    check_start,
};

use crate::bilateral::Bilateral;
use crate::classical::{check_interpolation, check_step};
use nsm_reflect::Restitution;

use crate::contact::Contacts;
use crate::implicit::{Implicit, Index, Motion, Solved, border};
use crate::saddle::Border;
use crate::switch::Crossing;
use crate::{AlphaError, Coefficients, NewtonOptions};

mod position;
mod velocity;

/// How often the mode may change within one step before the switch is given up.
const MODE_CHANGES: usize = 4;

/// Which constraints the smooth motion holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Variant {
    /// Those that hold in every mode, as Patil & Brüls print it.
    Published,
    /// Those of the present mode as well.
    #[default]
    Active,
}

/// The nonsmooth generalized-α method.
#[derive(Clone, Debug, PartialEq)]
pub struct Nsga {
    /// Step size $h$.
    pub step: f64,
    /// Coefficients of the difference formulae.
    pub coefficients: Coefficients,
    /// Which constraints the smooth motion holds.
    pub variant: Variant,
    /// $\mathcal{E} \in [0, 1]$ of the intermediate gradient at switches.
    pub interpolation: f64,
    /// Restitution of the contacts.
    pub restitution: Restitution,
    /// Coefficient of friction of all contacts, instead of those of the system.
    pub friction: Option<f64>,
    /// Tangential restitution of all contacts, instead of those of the system.
    pub tangential_restitution: Option<f64>,
    /// Tolerance and limit of Newton's method.
    pub newton: NewtonOptions,
}

impl Nsga {
    /// The method with spectral radius $\rho_\infty$, $\mathcal{E} = 1$ and elastic contacts.
    ///
    /// # Errors
    /// If $\rho_\infty$ lies outside $[0, 1]$.
    pub fn new(step: f64, rho: f64) -> Result<Self, SystemError> {
        Ok(Self {
            step,
            coefficients: Coefficients::from_spectral_radius(rho)?,
            variant: Variant::default(),
            interpolation: 1.0,
            restitution: Restitution::ELASTIC,
            friction: None,
            tangential_restitution: None,
            newton: NewtonOptions::default(),
        })
    }

    /// Binds the method to a system and a start.
    ///
    /// # Errors
    /// Parameters that make no sense, a start off its constraints, a singular mass that no constraint fixes.
    pub fn stepper<'a>(
        &self,
        system: &'a System,
        start: &State,
    ) -> Result<NsgaStepper<'a>, AlphaError> {
        system.require_holonomic("nsga")?;
        system.require_no_dry_friction("nsga")?;
        check_step(self.step)?;
        self.coefficients.check()?;
        self.newton.check()?;
        check_interpolation(self.interpolation)?;
        check_start(system, start, Tolerance::default())?;
        let n = system.dimension();
        let m = Bilateral::capacity_of(system, false);
        let k = system.inequalities().len();
        let mut stepper = NsgaStepper {
            method: self.clone(),
            system,
            solver: Implicit::new(system, self.newton, false)?,
            smooth: Bilateral::new(system, false)?,
            full: Bilateral::new(system, false)?,
            crossing: Crossing::new(system, self.interpolation)?,
            contacts: Contacts::new(system, &self.restitution)?.with_friction(
                system,
                self.friction,
                self.tangential_restitution,
            )?,
            from: Motion::new(n),
            mode: start.mode,
            rechosen: false,
            clock: Clock::new(self.step),
            work: Work::new(system),
            events: Events::with_capacity(2, m + k + 1),
        };
        stepper.restart(start)?;
        Ok(stepper)
    }
}

/// [`Nsga`] bound to a system.
#[derive(Debug)]
pub struct NsgaStepper<'a> {
    method: Nsga,
    system: &'a System,
    solver: Implicit<'a>,
    /// The constraints of the smooth motion.
    smooth: Bilateral<'a>,
    /// All constraints of the mode.
    full: Bilateral<'a>,
    crossing: Crossing<'a>,
    contacts: Contacts<'a>,
    /// The corrected $q_n, v_n$ with the smooth accelerations.
    from: Motion,
    mode: i64,
    /// Whether redundant rows were chosen anew in this step.
    rechosen: bool,
    clock: Clock,
    work: Work,
    events: Events,
}

/// Vectors of the two corrections.
#[derive(Debug)]
struct Work {
    q: Vec<f64>,
    v: Vec<f64>,
    /// $\nu$ and $\Lambda$.
    nu: Vec<f64>,
    lambda: Vec<f64>,
    values: Vec<f64>,
    gradient: Vec<f64>,
    intermediate: Vec<f64>,
    /// Gradient of the smooth motion's rows at $\tilde q$.
    tilde: Vec<f64>,
    /// $f(\tilde q, \tilde v) - G(\tilde q)^\top \tilde\lambda$, the reference of $f^p$ and $f^\ast$.
    reference: Vec<f64>,
    force: Vec<f64>,
    product: Vec<f64>,
    jump: Vec<f64>,
    /// $\dot g$ of the contacts with which the step began.
    approach: Vec<f64>,
    /// Their multipliers in the position correction.
    pressing: Vec<f64>,
    curvature: Vec<f64>,
    /// $J_T^\top r_T$ of contacts that rub without being hit, and whether there are any.
    drag: Vec<f64>,
    drags: bool,
}

impl Work {
    fn new(system: &System) -> Self {
        let (n, gaps) = (system.dimension(), system.inequalities());
        let m = Bilateral::capacity_of(system, false);
        let entries = Bilateral::entries_of(system, false);
        let (k, block) = (gaps.len(), gaps.largest_block());
        Self {
            q: vec![0.0; n],
            v: vec![0.0; n],
            nu: vec![0.0; m],
            lambda: vec![0.0; m],
            values: vec![0.0; m],
            gradient: vec![0.0; entries],
            intermediate: vec![0.0; Crossing::entries_of(system)],
            tilde: vec![0.0; entries],
            reference: vec![0.0; n],
            force: vec![0.0; n],
            product: vec![0.0; n],
            jump: vec![0.0; n],
            approach: vec![0.0; k],
            pressing: vec![0.0; k],
            curvature: vec![0.0; block * block],
            drag: vec![0.0; n],
            drags: false,
        }
    }
}

impl Work {
    fn stop_dragging(&mut self) {
        self.drag.fill(0.0);
        self.drags = false;
    }

    /// $G_{\mathcal{E}}$ over the step of a switch to a mode with `m` rows, else $G$.
    fn border(&self, switched: bool, m: usize) -> Border<'_> {
        let rows = m * self.q.len();
        border(switched.then(|| &self.intermediate[..rows]), &self.gradient)
    }
}

impl NsgaStepper<'_> {
    /// The multipliers $\nu$ of the last position correction, redundant rows left out.
    pub fn position_multipliers(&self) -> &[f64] {
        &self.work.nu[..self.full.len()]
    }

    /// The impulses $\Lambda$ of the last velocity jump, redundant rows left out.
    pub fn impulses(&self) -> &[f64] {
        &self.work.lambda[..self.full.len()]
    }

    /// Takes over a state that this stepper did not produce itself.
    fn restart(&mut self, state: &State) -> Result<(), AlphaError> {
        self.mode = state.mode;
        self.work.stop_dragging();
        self.from.t = state.t;
        self.from.q.copy_from_slice(&state.q);
        self.from.v.copy_from_slice(&state.v);
        self.full.choose(Some(state.mode), &[], &state.q, state.t);
        self.choose_smooth(state.mode);
        // Mass and all constraints together must determine the accelerations, whatever the variant.
        self.solver.accelerate(&mut self.from, &mut self.full)?;
        if self.method.variant == Variant::Published {
            self.solver.accelerate(&mut self.from, &mut self.smooth)?;
        }
        Ok(())
    }

    fn choose_smooth(&mut self, mode: i64) {
        let mode = (self.method.variant == Variant::Active).then_some(mode);
        self.smooth.choose(mode, &[], &self.from.q, self.from.t);
    }

    /// Stage 1; also the reference of the corrections.
    fn smooth_motion(&mut self) -> Result<Solved, StepError> {
        let Self { method, solver, smooth, from, work, .. } = self;
        let solved =
            solver.solve(&method.coefficients, Index::Two, method.step, from, smooth, None)?;
        let m = smooth.len();
        let Motion { t, q, v, .. } = &solver.end;
        solver.equations.force(q, v, *t, &mut work.reference);
        if m > 0 {
            smooth.gradient(q, *t, &mut work.tilde);
            let lambda = &solver.multipliers[..m];
            smooth.add_transposed(-1.0, &work.tilde, lambda, &mut work.reference);
        }
        Ok(solved)
    }

    /// $f(q, v) - G(q)^\top \tilde\lambda$ minus its value at $(\tilde q, \tilde v)$: the bracket of $f^p$ and $f^\ast$.
    fn defect(
        solver: &mut Implicit<'_>,
        smooth: &mut Bilateral<'_>,
        work: &mut Work,
        at_end: bool,
    ) {
        let t = solver.end.t;
        let v = if at_end { &work.v } else { &solver.end.v };
        solver.equations.force(&work.q, v, t, &mut work.force);
        let m = smooth.len();
        if m > 0 {
            smooth.gradient(&work.q, t, &mut work.tilde);
            let lambda = &solver.multipliers[..m];
            smooth.add_transposed(-1.0, &work.tilde, lambda, &mut work.force);
        }
        for (f, r) in work.force.iter_mut().zip(&work.reference) {
            *f -= r;
        }
    }

    /// Rows of $G_{\mathcal{E}}$ at the iterate $q$ into `work.intermediate`.
    fn interpolate(&mut self, mode: i64) -> Result<(), StepError> {
        let Self { solver, crossing, from, work, .. } = self;
        let end = solver.end.t;
        let g = crossing
            .intermediate(
                &mut solver.equations,
                (self.mode, mode),
                (&from.q, from.t),
                (&work.q, end),
                &from.v,
            )
            .map_err(|e| e.at(from.t))?;
        if g.len() != self.full.len() * from.q.len() {
            return Err(StepError::Singular {
                t: from.t,
                what: "the gradient after the switch",
                culprit: crossing.name(mode),
            });
        }
        work.intermediate[..g.len()].copy_from_slice(g);
        Ok(())
    }

    /// The three stages; the solver's end keeps the smooth motion, the work vectors the corrected state.
    fn stages(&mut self) -> Result<(StepReport, i64), StepError> {
        let solved = self.smooth_motion()?;
        let t = self.from.t;
        let mut iterations = solved.iterations;
        let mut mode = self.mode;
        let mut changes = 0;
        if let Some(switching) = self.system.switching() {
            let end = &self.solver.end;
            mode = switching
                .mode_at(&end.q, end.t, mode)
                .ok_or_else(|| AlphaError::Uncovered { from: switching.name(mode) }.at(t))?;
        }
        loop {
            iterations += self.correct_position(mode)?;
            let Some(switching) = self.system.switching() else { break };
            let Some(reached) = switching.mode_at(&self.work.q, self.solver.end.t, mode) else {
                return Err(AlphaError::Uncovered { from: switching.name(mode) }.at(t));
            };
            if reached == mode {
                break;
            }
            if changes == MODE_CHANGES {
                return Err(self.sent_back(reached));
            }
            changes += 1;
            mode = reached;
        }
        if mode != self.mode {
            let Self { crossing, from, .. } = self;
            crossing.check_surface(self.mode, mode, &from.q, from.t).map_err(|e| e.at(t))?;
        }
        let dragged = self.work.drags;
        let (mut more, mut residual, mut closed, mut rounds) = self.jump_velocity(mode)?;
        iterations += more;
        if self.work.drags && !dragged {
            // Friction that begins: it has held the position as well.
            self.events.clear();
            iterations += self.correct_position(mode)?;
            (more, residual, closed, rounds) = self.jump_velocity(mode)?;
            iterations += more;
        }
        self.rechosen = false;
        let end = self.solver.end.t;
        if self.full.violated_aside(&self.work.q, end).is_some() {
            // Rows set aside in a singular configuration have come back to life.
            self.rechosen = true;
            self.full.choose(Some(mode), &[], &self.work.q, end);
            self.events.clear();
            iterations += self.correct_position(mode)?;
            (more, residual, closed, rounds) = self.jump_velocity(mode)?;
            iterations += more;
            if let Some((name, value)) = self.full.violated_aside(&self.work.q, end) {
                return Err(AlphaError::Contradiction { constraint: name.into(), value }.at(t));
            }
        }
        let report = StepReport { iterations, rounds, residual, closed, ..StepReport::default() };
        Ok((report, mode))
    }

    /// No mode agrees with its own end: the modes do not meet, or the impact law sends the motion back.
    #[cold]
    fn sent_back(&mut self, reached: i64) -> StepError {
        let t = self.from.t;
        let modes = (self.mode, if reached == self.mode { self.full.mode() } else { reached });
        let Self { crossing, solver, from, .. } = self;
        let Implicit { equations, saddle, .. } = solver;
        if let Err(error) = crossing.check_surface(modes.0, modes.1, &from.q, t) {
            return error.at(t);
        }
        let mut v = from.v.clone();
        match crossing.impact(equations, saddle, modes, (&from.q, t), &mut v) {
            Err(error) => error.at(t),
            Ok(_) => StepError::NotConverged {
                t,
                what: "the mode at the end of the step",
                iterations: MODE_CHANGES,
                residual: f64::NAN,
                culprit: crossing.name(modes.1),
            },
        }
    }

    /// Accepts the corrected state as the start of the next step.
    fn accept(&mut self, mode: i64) -> Result<(), AlphaError> {
        let Self { solver, from, work, .. } = self;
        from.copy_from(&solver.end);
        from.q.copy_from_slice(&work.q);
        from.v.copy_from_slice(&work.v);
        let switched = mode != self.mode && self.method.variant == Variant::Active;
        self.mode = mode;
        if switched || self.rechosen {
            self.choose_smooth(mode);
            self.solver.accelerate(&mut self.from, &mut self.smooth)?;
        }
        Ok(())
    }
}

impl Stepper for NsgaStepper<'_> {
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
        let (report, mode) = self.stages()?;
        self.solver.end.t = self.clock.end(state.t);
        self.system.check_finite(state.t, self.solver.end.t, &self.work.q, &self.work.v)?;
        if let Err(error) = self.accept(mode) {
            // Start anew from the caller's state next time.
            self.from.t = f64::NAN;
            return Err(error.at(state.t));
        }
        state.t = self.clock.tick(state.t);
        state.q.copy_from_slice(&self.from.q);
        state.v.copy_from_slice(&self.from.v);
        state.mode = mode;
        self.system.momentum(&state.q, &state.v, &mut state.p);
        Ok(report)
    }

    fn step_size(&self) -> f64 {
        self.method.step
    }

    fn events(&self) -> &Events {
        &self.events
    }
}

#[cold]
fn not_finite(t: f64, what: &'static str, system: &System, x: &[f64]) -> StepError {
    let i = x.iter().position(|x| !x.is_finite()).unwrap_or(0);
    let culprit = system.names().get(i).cloned().unwrap_or_default();
    StepError::NotFinite { t, what, culprit }
}

impl NsgaStepper<'_> {
    /// Name of the constraint with the largest residual, or else of the contact that presses most.
    #[cold]
    fn worst_row(&self) -> String {
        let values = &self.work.values[..self.full.len()];
        let worst = (0..values.len()).max_by(|&a, &b| values[a].abs().total_cmp(&values[b].abs()));
        let pressing = &self.work.pressing;
        let pressed = (0..pressing.len()).max_by(|&a, &b| pressing[a].total_cmp(&pressing[b]));
        match (worst, pressed) {
            (Some(row), _) => self.full.name(row).to_owned(),
            (None, Some(contact)) => self.contacts.gaps.name(contact).to_owned(),
            (None, None) => self.system.names()[0].clone(),
        }
    }
}
