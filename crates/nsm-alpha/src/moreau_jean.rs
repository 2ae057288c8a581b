//! The Moreau–Jean θ-scheme, the yardstick of event-capturing methods.
//!
//! [Moreau 1988], [Jean 1999]; the scheme of [Acary & Brogliato 2008], chapter 10:
//! $$ M (v_{k+1} - v_k) = h \theta f_{k+1} + h (1 - \theta) f_k - G^\top \Lambda + \textstyle\sum_j \nabla g_j\\,p_j,
//!    \qquad q_{k+1} = q_k + h (\theta v_{k+1} + (1 - \theta) v_k) $$
//! $$ G v_{k+1} = -g_t, \qquad 0 \le p_j \perp \dot g_{j, k+1} + e_j\\,\dot g_{j, k} \ge 0
//!    \quad\text{where}\quad g_j(q_k) + \tfrac{h}{2}\\,\dot g_{j, k} \le 0 . $$
//! Gradients are those at $q_k$; constraints hold at velocity level and drift. First order.

use nsm_model::{
    Clock, Events, State, StepError, StepReport, Stepper, System, SystemError, Tolerance,
    check_start,
};
use nsm_solvers::newton::Matrices;
use nsm_solvers::small::norm_inf;

use crate::bilateral::Bilateral;
use crate::classical::check_step;
use nsm_reflect::Restitution;

use crate::contact::Contacts;
use crate::implicit::{Implicit, Motion};
use crate::saddle::Border;
use crate::{AlphaError, NewtonOptions};

/// Gaps below this fraction of their lengths are closed: what rests stays, whatever rounding makes of its gap.
const CLOSED: f64 = 1e-12;
/// Approach velocities below this fraction of the speeds are rest, not impact.
const REST: f64 = 1e-9;

/// The Moreau–Jean θ-scheme.
#[derive(Clone, Debug, PartialEq)]
pub struct MoreauJean {
    /// Step size $h$.
    pub step: f64,
    /// $\theta \in [0, 1]$; ½ is second order where smooth, 1 fully implicit.
    pub theta: f64,
    /// Restitution of the contacts.
    pub restitution: Restitution,
    /// Coefficient of friction of all contacts, instead of those of the system.
    pub friction: Option<f64>,
    /// Tangential restitution of all contacts, instead of those of the system.
    pub tangential_restitution: Option<f64>,
    /// Tolerance and limit of Newton's method.
    pub newton: NewtonOptions,
}

impl MoreauJean {
    /// The scheme with $\theta = \tfrac12$.
    pub fn new(step: f64, restitution: Restitution) -> Self {
        Self {
            step,
            theta: 0.5,
            restitution,
            friction: None,
            tangential_restitution: None,
            newton: NewtonOptions::default(),
        }
    }

    /// Binds the scheme to a system and a start.
    ///
    /// # Errors
    /// Parameters that make no sense, a start off its constraints, constraints that switch, a mass that
    /// varies or is singular without constraints that fix it.
    pub fn stepper<'a>(
        &self,
        system: &'a System,
        start: &State,
    ) -> Result<MoreauJeanStepper<'a>, AlphaError> {
        system.require_holonomic("moreau-jean")?;
        system.require_no_dry_friction("moreau-jean")?;
        check_step(self.step)?;
        self.newton.check()?;
        if !(0.0..=1.0).contains(&self.theta) {
            let must = "between 0 and 1";
            let value = self.theta;
            return Err(SystemError::Parameter { what: "theta", must, value }.into());
        }
        system.require_constant_mass("Moreau–Jean")?;
        system.require_no_switching("Moreau–Jean")?;
        check_start(system, start, Tolerance::default())?;
        let n = system.dimension();
        let m = Bilateral::capacity_of(system, false);
        let k = system.inequalities().len();
        let mut stepper = MoreauJeanStepper {
            method: self.clone(),
            system,
            solver: Implicit::new(system, self.newton, false)?,
            rows: Bilateral::new(system, false)?,
            contacts: Contacts::new(system, &self.restitution)?.with_friction(
                system,
                self.friction,
                self.tangential_restitution,
            )?,
            q: vec![0.0; n],
            v: vec![0.0; n],
            free: vec![0.0; n],
            start_force: vec![0.0; n],
            force: vec![0.0; n],
            product: vec![0.0; n],
            gradient: vec![0.0; Bilateral::entries_of(system, false)],
            values: vec![0.0; m],
            lambda: vec![0.0; m],
            approach: vec![0.0; k],
            acceleration: vec![0.0; n],
            clock: Clock::new(self.step),
            events: Events::with_capacity(1, k),
        };
        let mut motion = Motion::new(n);
        motion.q.copy_from_slice(&start.q);
        motion.v.copy_from_slice(&start.v);
        motion.t = start.t;
        stepper.rows.choose(None, &[], &start.q, start.t);
        stepper.solver.accelerate(&mut motion, &mut stepper.rows)?;
        Ok(stepper)
    }
}

/// [`MoreauJean`] bound to a system.
#[derive(Debug)]
pub struct MoreauJeanStepper<'a> {
    method: MoreauJean,
    system: &'a System,
    solver: Implicit<'a>,
    rows: Bilateral<'a>,
    contacts: Contacts<'a>,
    q: Vec<f64>,
    v: Vec<f64>,
    free: Vec<f64>,
    start_force: Vec<f64>,
    force: Vec<f64>,
    product: Vec<f64>,
    gradient: Vec<f64>,
    values: Vec<f64>,
    lambda: Vec<f64>,
    approach: Vec<f64>,
    /// Acceleration without contacts.
    acceleration: Vec<f64>,
    clock: Clock,
    events: Events,
}

impl MoreauJeanStepper<'_> {
    /// The velocity at the end of the step, by Newton's method with the contacts solved in each iteration.
    fn velocity(&mut self, state: &State) -> Result<StepReport, StepError> {
        let (n, m) = (self.q.len(), self.rows.len());
        let MoreauJean { step: h, theta, .. } = self.method;
        let (t, end) = (state.t, self.clock.end(state.t));
        let w = 1.0 / self.solver.scale;
        let mut report = StepReport::default();
        let mut course = self.method.newton.course(Matrices::Full);
        loop {
            for i in 0..n {
                self.q[i] = state.q[i] + h * (theta * self.v[i] + (1.0 - theta) * state.v[i]);
            }
            self.solver.equations.force(&self.q, &self.v, end, &mut self.force);
            // r = M (v − v_k) + Gᵀ Λ − h θ f − h (1 − θ) f_k, without contacts.
            for i in 0..n {
                self.free[i] = self.v[i] - state.v[i];
            }
            self.system.mass().multiply(&self.free, &mut self.product);
            let gradient = &self.gradient[..];
            self.rows.add_transposed(1.0, gradient, &self.lambda[..m], &mut self.product);
            for i in 0..n {
                self.product[i] -=
                    h * (theta * self.force[i] + (1.0 - theta) * self.start_force[i]);
            }
            let Implicit { equations, saddle, .. } = &mut self.solver;
            let leading = saddle.begin();
            equations.add_mass(&self.q, w, leading);
            let weights = (-w * h * h * theta * theta, -w * h * theta);
            equations.add_force_tangent((&self.q, &self.v, end), weights, leading);
            if let Err(error) = saddle.factor(&self.rows, Border::Rows(gradient), gradient) {
                return Err(self.solver.singular(error, t, &self.rows));
            }
            let (r, g) = self.solver.saddle.rhs();
            for i in 0..n {
                r[i] = -w * self.product[i];
            }
            for i in 0..m {
                g[i] = -self.values[i] - self.rows.along(i, gradient, &self.v);
            }
            if let Err(error) = self.solver.saddle.solve() {
                return Err(self.solver.singular(error, t, &self.rows));
            }
            let (x, mu) = self.solver.saddle.rhs();
            for i in 0..n {
                self.free[i] = self.v[i] + x[i];
                self.acceleration[i] = (self.free[i] - state.v[i]) / h;
            }
            self.contacts.measure(&state.q, &state.v, &self.acceleration, h);
            for i in 0..m {
                self.lambda[i] += mu[i] / w;
            }
            self.close_contacts(state)?;
            let (saddle, start) = (&mut self.solver.saddle, Some(&state.v[..]));
            report.rounds = self.contacts.resolve_jump(saddle, w, t, start, &mut self.free)?;
            report.iterations += 1;
            if let Some(i) = self.free.iter().position(|x| !x.is_finite()) {
                let culprit = self.system.names()[i].clone();
                return Err(StepError::NotFinite { t, what: "velocity", culprit });
            }
            let mut change = 0.0_f64;
            for i in 0..n {
                change = change.max(h * (self.free[i] - self.v[i]).abs());
            }
            self.v.copy_from_slice(&self.free);
            let scale = norm_inf(&self.q).max(h * norm_inf(&self.v)).max(f64::MIN_POSITIVE);
            report.residual = change / scale;
            course.stepped(change);
            if course.ends(scale) || self.is_linear() {
                return Ok(report);
            }
            if report.iterations == self.method.newton.iterations {
                return Err(StepError::NotConverged {
                    t,
                    what: "the θ-scheme",
                    iterations: report.iterations,
                    residual: report.residual,
                    culprit: self.system.names()[0].clone(),
                });
            }
        }
    }

    /// Whether one Newton step is exact: no force but those of potentials without curvature.
    fn is_linear(&self) -> bool {
        self.system.forces().is_empty() && self.system.potential().hessian_entries().is_empty()
    }

    /// Lets the contacts that close by the middle of the step take part.
    fn close_contacts(&mut self, state: &State) -> Result<(), StepError> {
        let (h, t) = (self.method.step, state.t);
        self.contacts.clear();
        for i in 0..self.contacts.gaps.len() {
            let gap = self.contacts.gap(i, &state.q, t).map_err(|e| e.at(t))?;
            let closed = CLOSED * self.contacts.length(i);
            if gap + 0.5 * h * self.approach[i] <= closed {
                let rate = self.contacts.rate(i, (&state.q, t), &self.free).map_err(|e| e.at(t))?;
                self.contacts.push_rates(i, rate, self.approach[i]);
            }
        }
        Ok(())
    }
}

impl Stepper for MoreauJeanStepper<'_> {
    type State = State;

    fn step(&mut self, state: &mut State) -> Result<StepReport, StepError> {
        self.system.check_lengths(state)?;
        self.events.clear();
        let (n, m) = (state.q.len(), self.rows.len());
        let State { t, q, v, .. } = &*state;
        self.v.copy_from_slice(v);
        self.solver.equations.force(q, v, *t, &mut self.start_force);
        self.rows.gradient(q, *t, &mut self.gradient);
        self.rows.rates(q, *t, &mut self.values[..m]);
        self.lambda.fill(0.0);
        self.contacts.linearise(q, *t);
        if let Some(rubbing) = &mut self.contacts.rubbing {
            rubbing.begin(v);
        }
        for i in 0..self.contacts.gaps.len() {
            self.approach[i] = self.contacts.rate(i, (q, *t), v).map_err(|e| e.at(*t))?;
        }
        let mut report = self.velocity(state)?;
        let MoreauJean { step: h, theta, .. } = self.method;
        report.closed = self.contacts.impulses().count();
        let (t, end) = (state.t, self.clock.end(state.t));
        for i in 0..n {
            self.q[i] = state.q[i] + h * (theta * self.v[i] + (1.0 - theta) * state.v[i]);
        }
        self.system.check_finite(t, end, &self.q, &self.v)?;
        let approach = &self.approach;
        let hit =
            self.contacts.impulses().any(|(i, _)| approach[i] < -REST * self.contacts.speed(i));
        let rubs = self.contacts.rubs();
        // The impulses act between the velocities at the two ends.
        for i in 0..n {
            self.free[i] = self.v[i] + state.v[i];
        }
        if hit && rubs {
            let booked = || self.contacts.booked(&self.free);
            let change = booked().map(|c| c.work).sum();
            self.events.push_frictional(end, change, report.rounds.max(1), booked());
        } else if hit {
            let change = 0.5 * self.contacts.work(&self.free);
            self.events.push(end, change, report.rounds.max(1), self.contacts.impulses());
        } else if rubs {
            self.contacts.booked(&self.free).for_each(|c| self.events.hold(c));
        }
        state.q.copy_from_slice(&self.q);
        state.v.copy_from_slice(&self.v);
        state.t = self.clock.tick(t);
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
