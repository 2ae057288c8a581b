//! Event-driven generalized-α: switches and impacts are located inside the step.
//!
//! \[PB\] section 4.2.1. Between events the index-3 method runs with the mode and the closed contacts held
//! fixed. Where a region function or a gap becomes negative within a step, the step is shortened to the
//! root, the impact law is applied there, accelerations are made consistent, and the rest of the step follows.
//! Second order across events; the events of one step are counted, and when there are too many they
//! accumulate (Zeno): contacts then come to rest if [`EventDriven::rest`] allows it, all else is an error that
//! carries the accumulation time, extrapolated from the last two intervals as for a geometric series.

use nsm_model::{
    Clock, Events, State, StepError, StepReport, Stepper, System, SystemError, Tolerance,
    check_start,
};

use crate::bilateral::Bilateral;
use crate::classical::{check_interpolation, check_step};
use nsm_reflect::Restitution;

use crate::contact::Contacts;
use crate::implicit::{Implicit, Index, Motion, Solved};
use crate::switch::Crossing;
use crate::{AlphaError, Coefficients, NewtonOptions};

mod locate;
mod touch;

use locate::Located;

/// A gap or region function below this fraction of its length counts as reached, and above its negative as not violated.
const TOUCH: f64 = 1e-10;
/// A rate below this fraction of its speed counts as zero, and a pull below this fraction of the forces.
const STILL: f64 = 1e-10;

/// What divides gaps is not zero.
const SMALLEST: f64 = 1e-300;

/// The event-driven generalized-α method.
#[derive(Clone, Debug, PartialEq)]
pub struct EventDriven {
    /// Step size $h$.
    pub step: f64,
    /// Coefficients of the difference formulae.
    pub coefficients: Coefficients,
    /// $\mathcal{E} \in [0, 1]$ of the impact law at switches.
    pub interpolation: f64,
    /// Restitution of the contacts.
    pub restitution: Restitution,
    /// Events in one step beyond which they accumulate.
    pub most_events: usize,
    /// Whether contacts whose impacts accumulate come to rest.
    pub rest: bool,
    /// Tolerance and limit of Newton's method.
    pub newton: NewtonOptions,
}

impl EventDriven {
    /// The method with spectral radius $\rho_\infty$, $\mathcal{E} = 1$, elastic contacts and up to 100 events a step.
    ///
    /// # Errors
    /// If $\rho_\infty$ lies outside $[0, 1]$.
    pub fn new(step: f64, rho: f64) -> Result<Self, SystemError> {
        Ok(Self {
            step,
            coefficients: Coefficients::from_spectral_radius(rho)?,
            interpolation: 1.0,
            restitution: Restitution::ELASTIC,
            most_events: 100,
            rest: true,
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
    ) -> Result<EventDrivenStepper<'a>, AlphaError> {
        system.require_holonomic("alpha-event")?;
        system.require_no_dry_friction("alpha-event")?;
        check_step(self.step)?;
        self.coefficients.check()?;
        self.newton.check()?;
        check_interpolation(self.interpolation)?;
        system.require_no_friction("event-driven α")?;
        check_start(system, start, Tolerance::default())?;
        let n = system.dimension();
        let k = system.inequalities().len();
        let mut stepper = EventDrivenStepper {
            method: self.clone(),
            system,
            solver: Implicit::new(system, self.newton, true)?,
            rows: Bilateral::new(system, true)?,
            crossing: Crossing::new(system, self.interpolation)?,
            contacts: Contacts::new(system, &self.restitution)?,
            closed: Vec::with_capacity(k),
            from: Motion::new(n),
            accepted: Motion::new(n),
            mode: start.mode,
            accepted_mode: start.mode,
            kept: Motion::new(n),
            gradient: vec![0.0; Bilateral::entries_of(system, true)],
            sum: vec![0.0; n],
            touch: vec![0.0; k],
            still: vec![0.0; k],
            surface: (0.0, 0.0),
            hits: vec![0; k],
            clock: Clock::new(self.step),
            events: Events::with_capacity(self.most_events + 2, (self.most_events + 2) * (k + 1)),
        };
        stepper.restart(start)?;
        Ok(stepper)
    }
}

/// [`EventDriven`] bound to a system.
#[derive(Debug)]
pub struct EventDrivenStepper<'a> {
    method: EventDriven,
    system: &'a System,
    solver: Implicit<'a>,
    rows: Bilateral<'a>,
    crossing: Crossing<'a>,
    contacts: Contacts<'a>,
    /// Contacts held closed.
    closed: Vec<usize>,
    /// Where the present piece of the step starts.
    from: Motion,
    /// The state that the last complete step produced.
    accepted: Motion,
    mode: i64,
    accepted_mode: i64,
    kept: Motion,
    gradient: Vec<f64>,
    sum: Vec<f64>,
    /// Gaps and rates below these are reached and still; the same of the region function.
    touch: Vec<f64>,
    still: Vec<f64>,
    surface: (f64, f64),
    /// How often each contact was struck in this step.
    hits: Vec<usize>,
    clock: Clock,
    events: Events,
}

impl EventDrivenStepper<'_> {
    /// The contacts that are held closed.
    pub fn closed(&self) -> &[usize] {
        &self.closed
    }

    /// Takes over a state that this stepper did not produce itself.
    fn restart(&mut self, state: &State) -> Result<(), AlphaError> {
        self.closed.clear();
        self.from.t = state.t;
        self.from.q.copy_from_slice(&state.q);
        self.from.v.copy_from_slice(&state.v);
        self.mode = state.mode;
        self.accepted_mode = state.mode;
        self.from.acceleration.fill(0.0);
        self.measure()?;
        self.settle()?;
        self.accepted.copy_from(&self.from);
        Ok(())
    }

    /// Closes the contacts that touch without moving, then opens those that would have to pull; leaves
    /// consistent accelerations.
    fn settle(&mut self) -> Result<(), AlphaError> {
        let Motion { t, q, v, .. } = &self.from;
        self.contacts.linearise(q, *t);
        for i in 0..self.contacts.gaps.len() {
            if self.closed.contains(&i) {
                continue;
            }
            let gap = self.contacts.gap(i, q, *t)?;
            let rate = self.contacts.rate(i, (q, *t), v)?;
            if gap <= self.touch[i] && rate.abs() <= self.still[i] {
                self.closed.push(i);
            }
        }
        loop {
            let Motion { t, q, .. } = &self.from;
            self.rows.choose(Some(self.mode), &self.closed, q, *t);
            self.solver.accelerate(&mut self.from, &mut self.rows)?;
            // Our multipliers push for λ < 0: the force of a constraint is -Gᵀλ.
            let pulling = (0..self.rows.len())
                .filter_map(|i| self.rows.contact(i).map(|c| (c, self.solver.multipliers[i])))
                .filter(|&(c, lambda)| lambda > STILL * self.contacts.load(c, &self.solver.force))
                .max_by(|a, b| a.1.total_cmp(&b.1));
            match pulling {
                Some((contact, _)) => self.closed.retain(|c| *c != contact),
                None => return Ok(()),
            }
        }
    }

    fn solve(&mut self, h: f64) -> Result<Solved, StepError> {
        let Self { method, solver, rows, from, .. } = self;
        solver.solve(&method.coefficients, Index::Three, h, from, rows, None)
    }

    /// What counts as reached and as still where the piece starts: fractions of the lengths and speeds there, and
    /// what the rounding of time leaves open.
    fn measure(&mut self) -> Result<(), AlphaError> {
        let h = self.method.step;
        let Self { contacts, crossing, system, from, .. } = self;
        let Motion { t, q, v, acceleration, .. } = from;
        contacts.measure(q, v, acceleration, h);
        contacts.linearise(q, *t);
        let late = 16.0 * f64::EPSILON * (t.abs() + h);
        let reached = |length: f64, value: f64, speed: f64| {
            (TOUCH * length.max(value.abs()) + late * speed).max(SMALLEST)
        };
        for i in 0..contacts.gaps.len() {
            let (gap, speed) = (contacts.gap(i, q, *t)?, contacts.speed(i));
            self.touch[i] = reached(contacts.length(i), gap, speed);
            self.still[i] = STILL * speed;
        }
        if let Some(s) = system.switching() {
            let scales = (&*contacts.lengths, &*contacts.speeds);
            let (length, speed) = crossing.surface_scales(self.mode, (q, *t), scales);
            let value = s.region(self.mode, q, *t);
            self.surface = (reached(length, value, speed), STILL * speed);
        }
        Ok(())
    }

    /// The smallest of the region function and the gaps of open contacts at the end of the piece, in units of what
    /// counts as reached.
    fn margin(&self) -> Result<f64, StepError> {
        let Motion { t, q, .. } = &self.solver.end;
        let mut margin = f64::INFINITY;
        if let Some(s) = self.system.switching() {
            margin = s.region(self.mode, q, *t) / self.surface.0;
            if margin.is_nan() {
                let (what, culprit) = ("the region function", self.crossing.name(self.mode));
                return Err(StepError::NotFinite { t: self.from.t, what, culprit });
            }
        }
        for i in 0..self.contacts.gaps.len() {
            if !self.closed.contains(&i) {
                let gap = self.contacts.gap(i, q, *t).map_err(|e| e.at(self.from.t))?;
                margin = margin.min(gap / self.touch[i]);
            }
        }
        Ok(margin)
    }

    /// What happens at the start of the piece: a switch or an impact. Returns whether anything did.
    fn happen(&mut self) -> Result<bool, StepError> {
        let t = self.from.t;
        if let Some(switching) = self.system.switching() {
            let Motion { q, v, .. } = &mut self.from;
            if switching.region(self.mode, q, t) <= self.surface.0
                && self.crossing.surface_rate(self.mode, q, v, t) < -self.surface.1
            {
                let ahead = 1e-6 * self.method.step;
                let Some(to) = switching.entered(Some(self.mode), q, v, t, ahead) else {
                    return Err(AlphaError::Uncovered { from: switching.name(self.mode) }.at(t));
                };
                self.crossing.check_surface(self.mode, to, q, t).map_err(|e| e.at(t))?;
                let Implicit { equations, saddle, .. } = &mut self.solver;
                // Index 3 leaves v⁻ off the velocity constraint by O(h²); the impact law assumes it on.
                self.crossing.onto(equations, saddle, self.mode, (q, t), v).map_err(|e| e.at(t))?;
                let (energy, impulse) = self
                    .crossing
                    .impact(equations, saddle, (self.mode, to), (q, t), v)
                    .map_err(|e| e.at(t))?;
                self.mode = to;
                self.events.push(t, energy, 1, [(usize::try_from(to).unwrap_or(0), impulse)]);
                self.settle().map_err(|e| e.at(t))?;
                return Ok(true);
            }
        }
        if self.contacts.is_empty() {
            return Ok(false);
        }
        let Motion { q, v, .. } = &self.from;
        self.contacts.linearise(q, t);
        let mut arrives = false;
        for i in 0..self.contacts.gaps.len() {
            let gap = self.contacts.gap(i, q, t).map_err(|e| e.at(t))?;
            let rate = self.contacts.rate(i, (q, t), v).map_err(|e| e.at(t))?;
            arrives |= !self.closed.contains(&i) && gap <= self.touch[i] && rate < -self.still[i];
        }
        if arrives {
            self.impact()?;
            self.closed.clear();
            self.settle().map_err(|e| e.at(t))?;
        }
        Ok(arrives)
    }

    /// Runs the step in pieces from event to event.
    fn pieces(&mut self) -> Result<StepReport, StepError> {
        let t_start = self.from.t;
        let t_end = self.clock.end(t_start);
        let mut report = StepReport::default();
        let (mut events, mut last, mut interval) = (0, t_start, f64::NAN);
        loop {
            self.measure().map_err(|e| e.at(self.from.t))?;
            if self.happen()? {
                events += 1;
                let now = self.from.t - last;
                let ratio = now / interval;
                (interval, last) = (now, self.from.t);
                if events >= self.method.most_events {
                    // Intervals of a geometric series: what is left is interval · r / (1 - r).
                    let left = interval * ratio / (1.0 - ratio);
                    let t = if left.is_finite() && left >= 0.0 { last + left } else { last };
                    if !self.method.rest || self.contacts.active.is_empty() {
                        let contact = self.culprit();
                        return Err(StepError::Accumulation { t, events, contact });
                    }
                    self.come_to_rest()?;
                    events = 0;
                }
                continue;
            }
            let h = t_end - self.from.t;
            if h <= 1e-12 * self.method.step {
                break;
            }
            let mut solved = self.solve(h)?;
            if self.revived() {
                solved = self.solve(h)?;
                let end = &self.solver.end;
                if let Some((name, value)) = self.rows.violated_aside(&end.q, end.t) {
                    let error = AlphaError::Contradiction { constraint: name.into(), value };
                    return Err(error.at(self.from.t));
                }
            }
            report.iterations += solved.iterations;
            report.residual = report.residual.max(solved.residual);
            if self.released()? {
                continue;
            }
            if self.margin()? >= -1.0 {
                self.from.copy_from(&self.solver.end);
                break;
            }
            match self.locate(h)? {
                Located::Ahead => self.from.copy_from(&self.solver.end),
                Located::AtOnce => self.graze(&mut events)?,
            }
        }
        self.from.t = t_end;
        report.closed = self.closed.len();
        Ok(report)
    }

    /// Chooses the rows anew at the end of the piece if one set aside has come back to life.
    fn revived(&mut self) -> bool {
        let Motion { t, q, .. } = &self.solver.end;
        if self.rows.violated_aside(q, *t).is_none() {
            return false;
        }
        self.rows.choose(Some(self.mode), &self.closed, q, *t);
        self.solver.multipliers.fill(0.0);
        true
    }

    fn culprit(&self) -> String {
        match self.contacts.active.first() {
            Some(&i) => self.contacts.gaps.name(i).to_owned(),
            None => self.crossing.name(self.mode),
        }
    }
}

impl Stepper for EventDrivenStepper<'_> {
    type State = State;

    fn step(&mut self, state: &mut State) -> Result<StepReport, StepError> {
        self.system.check_lengths(state)?;
        if state.t != self.accepted.t
            || state.q != self.accepted.q
            || state.v != self.accepted.v
            || state.mode != self.accepted_mode
        {
            self.restart(state).map_err(|e| e.at(state.t))?;
        }
        self.events.clear();
        self.hits.fill(0);
        let report = self.pieces().and_then(|report| {
            let Motion { t, q, v, .. } = &self.from;
            self.system.check_finite(state.t, *t, q, v).map(|()| report)
        });
        let report = match report {
            Ok(report) => report,
            Err(error) => {
                // The next attempt starts from the state again, with its accelerations found anew.
                self.accepted.t = f64::NAN;
                return Err(error);
            }
        };
        self.accepted.copy_from(&self.from);
        self.accepted_mode = self.mode;
        state.t = self.clock.tick(state.t);
        state.q.copy_from_slice(&self.from.q);
        state.v.copy_from_slice(&self.from.v);
        state.mode = self.mode;
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
