//! The base map where many contacts are held at once: piles.
//!
//! Both stages are solved for all contacts together and from the impulses of the piece before ([`CrowdImpulses`]). Stage 1 goes by rounds: with impulses
//! $r$ so far the flight ends at $x = y + \tau M^{-1} G_S(q) r$, $y$ being that without them, and the next ones solve
//! $$ 0 \le r^+ \perp A(r^+ - r) + g_S(x)/\tau \ge 0, \qquad A = G_S(q)^\top M^{-1} G_S(q) , $$
//! whose matrix is that of the start: rounds contract as normals turn over a step, and each costs the gaps and two solves with factors that
//! are there. Contacts at rest are neither ordered nor factorised again.
//!
//! Only for schemes with $x = q + \tau M^{-1}(\dots)$, a diagonal mass and no equalities.

use nsm_model::{StepError, System};
use nsm_reflect::{CrowdImpulses, Metric, ReflectError};
use nsm_solvers::small::norm_inf;

use super::flow::{FULL_ACCURACY, Flow, ROUNDS};
use super::thresholds::Thresholds;
use crate::shared::position::Hold;

/// More contacts than this are a crowd.
const FEW: usize = 8;

/// Gaps within this many units of rounding of the positions are closed.
const DIGITS: f64 = 64.0;

/// What a crowd remembers.
#[derive(Debug)]
pub(crate) struct Crowd {
    /// Those placed last, and those before.
    impulses: CrowdImpulses,
    earlier: CrowdImpulses,
    /// Impulse of every contact over time, in the last piece.
    force: Vec<f64>,
    /// The end of the flight without impulses, what they add to the momentum, and did to the velocity in the round before.
    free: Vec<f64>,
    push: Vec<f64>,
    before: Vec<f64>,
    b: Vec<f64>,
    zero: Vec<f64>,
    enough: Vec<f64>,
    lambda: Vec<f64>,
}

impl Crowd {
    pub(crate) fn new(system: &System) -> Self {
        let n = system.dimension();
        Self {
            impulses: CrowdImpulses::new(system),
            earlier: CrowdImpulses::new(system),
            force: vec![0.0; system.inequalities().len()],
            free: vec![0.0; n],
            push: vec![0.0; n],
            before: vec![0.0; n],
            b: Vec::new(),
            zero: Vec::new(),
            enough: Vec::new(),
            lambda: Vec::new(),
        }
    }
}

impl Crowd {
    /// Takes contacts at a configuration; a piece begins where the one before ended.
    fn place(
        &mut self,
        metric: &Metric,
        g: &[f64],
        contacts: &[usize],
    ) -> Result<(), ReflectError> {
        if self.impulses.is_placed(g, contacts) {
            return Ok(());
        }
        std::mem::swap(&mut self.impulses, &mut self.earlier);
        if self.impulses.is_placed(g, contacts) {
            return Ok(());
        }
        self.impulses.place(metric, g, contacts)
    }
}

impl Flow<'_> {
    /// Whether these contacts are solved for as a crowd.
    pub(super) fn is_crowd(&self, contacts: &[usize]) -> bool {
        contacts.len() > FEW && self.crowd.is_some()
    }

    /// The base map with these contacts held.
    pub(super) fn crowd_base(
        &mut self,
        from: (&[f64], &[f64], f64),
        tau: f64,
        held: &[usize],
        hold: Hold,
        thresholds: &Thresholds,
    ) -> Result<(), StepError> {
        let Some(mut crowd) = self.crowd.take() else { return Ok(()) };
        let outcome = self
            .crowd_position(&mut crowd, from, tau, (held, hold), thresholds)
            .and_then(|()| self.crowd_momentum(&mut crowd, from.2 + tau, held, hold, thresholds));
        self.crowd = Some(crowd);
        outcome
    }

    /// Stage 1, and the momentum that belongs to its impulses.
    fn crowd_position(
        &mut self,
        crowd: &mut Crowd,
        (q, p, t): (&[f64], &[f64], f64),
        tau: f64,
        (held, hold): (&[usize], Hold),
        thresholds: &Thresholds,
    ) -> Result<(), StepError> {
        let m = held.len();
        for &i in held {
            self.kernel.gaps.gradient(i, q, t, &mut self.g);
        }
        let (_, metric) = self.mass.with_metric(q, t)?;
        let failed = |error| StepError::Method { t, source: Box::new(error) };
        crowd.place(metric, &self.g, held).map_err(failed)?;
        self.iterations += self.kernel.advance_position((q, p, t), tau, &[])?;
        crowd.free.copy_from_slice(&self.kernel.position.x);
        crowd.lambda.clear();
        crowd.lambda.extend(held.iter().map(|&i| tau * crowd.force[i]));
        crowd.b.resize(m, 0.0);
        crowd.zero.clear();
        let both = hold == Hold::TwoSided;
        let mut scale = norm_inf(q).max(norm_inf(&crowd.free)).max(f64::MIN_POSITIVE);
        let noise = DIGITS * f64::EPSILON * scale / tau.abs();
        crowd.zero.resize(m, noise);
        crowd.enough.clear();
        // Redundant contacts that are not closed by the same digits cannot be closed together.
        crowd.enough.extend(held.iter().map(|&i| {
            let gap = self.kernel.gaps.value(i, q, t).abs();
            noise.max(4.0 * (thresholds.gap[i] + if both { gap } else { 0.0 }) / tau.abs())
        }));
        self.end_of_flight(crowd, tau);
        let mut change = f64::INFINITY;
        for round in 0..ROUNDS {
            self.iterations += 1;
            let x = &self.kernel.position.x;
            for (k, &i) in held.iter().enumerate() {
                // In units of a velocity: the gap over the step, less what the impulses so far do.
                let effect = crowd.impulses.rate(k, &self.v);
                crowd.b[k] = self.kernel.gaps.value(i, x, t + tau) / tau - effect;
            }
            let Crowd { impulses, b, zero, enough, lambda, .. } = crowd;
            impulses.solve(b, (zero, enough), both, lambda).map_err(|_| self.unsolved(held, t))?;
            crowd.before.copy_from_slice(&self.v);
            self.end_of_flight(crowd, tau);
            change = 0.0;
            for (a, b) in crowd.before.iter().zip(&self.v) {
                let moved = (tau * (a - b)).abs();
                if moved.is_nan() || moved > change {
                    change = moved;
                }
            }
            scale = scale.max(norm_inf(&self.kernel.position.x));
            let enough = if round < FULL_ACCURACY { 1e-15 } else { 1e-12 };
            if change <= enough * scale {
                break;
            }
        }
        if change.is_nan() || change > 1e-9 * scale {
            return Err(self.unsolved(held, t));
        }
        self.kernel.position.residual = change / scale;
        for (k, &i) in held.iter().enumerate() {
            crowd.force[i] = crowd.lambda[k] / tau;
            self.impulse[i] += crowd.lambda[k];
        }
        for (push, p) in crowd.push.iter_mut().zip(p) {
            *push += p;
        }
        self.kernel.advance_momentum((q, &crowd.push, t), tau, &[])
    }

    /// Contacts that no impulses hold.
    fn unsolved(&self, contacts: &[usize], t: f64) -> StepError {
        let rows = self.system.inequalities();
        let culprit = contacts.first().map_or("", |&i| rows.name(i)).to_owned();
        let what = "the contacts that are held";
        StepError::NotConverged { t, what, iterations: ROUNDS, residual: f64::NAN, culprit }
    }

    /// Speeds at which positions change by their rounding in a step.
    pub(super) fn noise(&self) -> f64 {
        DIGITS * f64::EPSILON * norm_inf(&self.kernel.position.x) / self.h
    }

    /// Puts the end of the flight where the impulses lead, what they do to the momentum into `push` and to the velocity into `v`.
    fn end_of_flight(&mut self, crowd: &mut Crowd, tau: f64) {
        crowd.push.fill(0.0);
        for (k, lambda) in crowd.lambda.iter().enumerate() {
            crowd.impulses.push(k, *lambda, &mut crowd.push);
        }
        self.mass.last().solve(&crowd.push, &mut self.v);
        let ends = self.kernel.position.x.iter_mut().zip(&crowd.free).zip(&self.v);
        for ((x, y), v) in ends {
            *x = y + tau * v;
        }
    }

    /// Stage 2: the least impulses at the end of the piece.
    fn crowd_momentum(
        &mut self,
        crowd: &mut Crowd,
        t: f64,
        held: &[usize],
        hold: Hold,
        thresholds: &Thresholds,
    ) -> Result<(), StepError> {
        let rows = self.system.inequalities();
        let both = hold == Hold::TwoSided;
        let mut closed = std::mem::take(&mut self.closed);
        closed.clear();
        let x = &self.kernel.position.x;
        for &i in held {
            if both || self.kernel.gaps.value(i, x, t) <= thresholds.gap[i] {
                closed.push(i);
                self.kernel.gaps.gradient(i, x, t, &mut self.g);
            }
        }
        let mut p = std::mem::take(&mut self.kernel.p);
        let outcome = self.settle(crowd, (&closed, both), t, thresholds, &mut p);
        self.kernel.p = p;
        self.mass.last().solve(&self.kernel.p, &mut self.v);
        for (k, &i) in closed.iter().enumerate() {
            let impulse = crowd.lambda.get(k).copied().unwrap_or(0.0);
            self.impulse[i] += impulse;
            // What carries does not open.
            if both || impulse != 0.0 || rows.row_dot(i, &self.g, &self.v) <= thresholds.rate[i] {
                self.active.push(i);
            }
        }
        self.closed = closed;
        outcome
    }

    /// Changes `p` by the least impulses in `crowd.lambda` with which contacts, whose gradients are in `g`, do not close, or neither close nor open.
    fn settle(
        &mut self,
        crowd: &mut Crowd,
        (contacts, both): (&[usize], bool),
        t: f64,
        thresholds: &Thresholds,
        p: &mut [f64],
    ) -> Result<(), StepError> {
        let failed = |error| StepError::Method { t, source: Box::new(error) };
        crowd.lambda.clear();
        if contacts.is_empty() {
            return Ok(());
        }
        crowd.place(self.mass.metric(), &self.g, contacts).map_err(failed)?;
        self.mass.last().solve(p, &mut self.v);
        crowd.b.clear();
        crowd.zero.clear();
        for (k, &i) in contacts.iter().enumerate() {
            let rate = crowd.impulses.rate(k, &self.v);
            crowd.b.push(rate);
            crowd.zero.push(thresholds.rate[i]);
            // What carries and does not open is held.
            let carries = crowd.force[i] > 0.0 && rate <= thresholds.rate[i];
            crowd.lambda.push(if carries { f64::MIN_POSITIVE } else { 0.0 });
        }
        // Positions end at rounding: no better are speeds known.
        let noise = self.noise();
        crowd.enough.clear();
        crowd.enough.extend(crowd.zero.iter().map(|zero| zero.max(noise)));
        let Crowd { impulses, b, zero, enough, lambda, .. } = crowd;
        impulses.solve(b, (zero, enough), both, lambda).map_err(|_| self.unsolved(contacts, t))?;
        for (k, lambda) in lambda.iter().enumerate() {
            impulses.push(k, *lambda, p);
        }
        Ok(())
    }

    /// The plastic impact of a crowd, or with `both` the projection that makes it rest exactly; `g` are the gradients of all contacts.
    /// Leaves the impulses in the order of `contacts`.
    pub(super) fn crowd_impact(
        &mut self,
        (contacts, both): (&[usize], bool),
        t: f64,
        g: &[f64],
        thresholds: &Thresholds,
        p: &mut [f64],
    ) -> Result<&[f64], StepError> {
        let Some(mut crowd) = self.crowd.take() else { return Ok(&[]) };
        self.g.copy_from_slice(g);
        let outcome = self.settle(&mut crowd, (contacts, both), t, thresholds, p);
        let crowd = self.crowd.insert(crowd);
        outcome.map(|()| &crowd.lambda[..])
    }
}
