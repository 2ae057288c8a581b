//! Contacts of the event-driven method: impacts, rest, release.
//!
//! An impact takes all contacts that touch, with Newton's restitution. Contacts whose impacts accumulate,
//! and contacts reached with zero rate, are closed: they become bilateral until they would have to pull.

use nsm_model::StepError;

use super::{EventDrivenStepper, STILL};
use crate::implicit::Motion;
use crate::saddle::Border;

/// Contacts closer than this many times what counts as reached take part when impacts accumulate.
const RESTING: f64 = 1e4;

impl EventDrivenStepper<'_> {
    /// All contacts that touch take part in one impact.
    pub(super) fn impact(&mut self) -> Result<(), StepError> {
        let Self { rows, solver, contacts, gradient, sum, mode, hits, .. } = self;
        let Motion { t, q, v, .. } = &mut self.from;
        let t = *t;
        // Closed contacts take part as unilateral ones: only the true equalities are bilateral.
        rows.choose(Some(*mode), &[], q, t);
        solver.equations.add_mass(q, 1.0, solver.saddle.begin());
        rows.gradient(q, t, gradient);
        if let Err(error) = solver.saddle.factor(rows, Border::Rows(gradient), gradient) {
            return Err(solver.singular(error, t, rows));
        }
        contacts.linearise(q, t);
        contacts.clear();
        for i in 0..contacts.gaps.len() {
            if contacts.gap(i, q, t).map_err(|e| e.at(t))? <= self.touch[i] {
                let rate = contacts.rate(i, (q, t), v).map_err(|e| e.at(t))?;
                contacts.push(i, rate + contacts.restitution[i] * rate.min(0.0));
            }
        }
        sum.copy_from_slice(v);
        let rounds = contacts.resolve(&mut solver.saddle, 1.0, t, v)?;
        for (sum, v) in sum.iter_mut().zip(v.iter()) {
            *sum += v;
        }
        let change = 0.5 * contacts.work(sum);
        contacts.impulses().for_each(|(i, _)| hits[i] += 1);
        self.events.push(t, change, rounds.max(1), contacts.impulses());
        Ok(())
    }

    /// Contacts whose impacts accumulate lose their normal velocity, in either direction, and so does what touches and moves no faster than the
    /// applied forces make it in a step: its bounce would be over. What touches besides and moves away, such as a wall that was just struck, is
    /// left to do so.
    pub(super) fn come_to_rest(&mut self) -> Result<(), StepError> {
        self.accelerate_freely()?;
        let Self { rows, solver, contacts, gradient, closed, mode, touch, still, hits, .. } = self;
        let Motion { t, q, v, .. } = &mut self.from;
        let t = *t;
        closed.clear();
        contacts.linearise(q, t);
        for i in 0..contacts.gaps.len() {
            if contacts.gaps.value(i, q, t) > RESTING * touch[i] {
                continue;
            }
            let rate = contacts.rate(i, (q, t), v).map_err(|e| e.at(t))?;
            let over =
                rate.abs() <= still[i].max(self.method.step * contacts.magnitude(i, &self.sum));
            if over || hits[i] > 1 {
                closed.push(i);
            }
        }
        rows.choose(Some(*mode), closed, q, t);
        let m = rows.len();
        solver.equations.add_mass(q, 1.0, solver.saddle.begin());
        rows.gradient(q, t, gradient);
        if let Err(error) = solver.saddle.factor(rows, Border::Rows(gradient), gradient) {
            return Err(solver.singular(error, t, rows));
        }
        let (r, g) = solver.saddle.rhs();
        r.fill(0.0);
        rows.rates(q, t, g);
        for i in 0..m {
            g[i] = -g[i] - rows.along(i, gradient, v);
        }
        if let Err(error) = solver.saddle.solve() {
            return Err(solver.singular(error, t, rows));
        }
        let before = self.system.kinetic_energy(q, v);
        let (w, lambda) = self.solver.saddle.rhs();
        for (v, w) in v.iter_mut().zip(w) {
            *v += *w;
        }
        let change = self.system.kinetic_energy(q, v) - before;
        let rows = &self.rows;
        let impulses = (0..m).filter_map(|i| rows.contact(i).map(|c| (c, (-lambda[i]).max(0.0))));
        self.events.push(t, change, 1, impulses);
        self.settle().map_err(|e| e.at(t))
    }

    /// The sizes of the accelerations that the applied forces and the equalities give, without contacts, into `sum`.
    fn accelerate_freely(&mut self) -> Result<(), StepError> {
        let Self { rows, solver, gradient, sum, mode, .. } = self;
        let Motion { t, q, v, .. } = &self.from;
        rows.choose(Some(*mode), &[], q, *t);
        solver.equations.add_mass(q, 1.0, solver.saddle.begin());
        rows.gradient(q, *t, gradient);
        if let Err(error) = solver.saddle.factor(rows, Border::Rows(gradient), gradient) {
            return Err(solver.singular(error, *t, rows));
        }
        let (r, g) = solver.saddle.rhs();
        solver.equations.force(q, v, *t, r);
        g.fill(0.0);
        if let Err(error) = solver.saddle.solve() {
            return Err(solver.singular(error, *t, rows));
        }
        let (a, _) = solver.saddle.rhs();
        sum.iter_mut().zip(a).for_each(|(sum, a)| *sum = a.abs());
        Ok(())
    }

    /// A surface is touched with zero rate and would be violated at once: the contact closes.
    pub(super) fn graze(&mut self, events: &mut usize) -> Result<(), StepError> {
        let t = self.from.t;
        *events += 1;
        if *events >= self.method.most_events || self.contacts.is_empty() {
            let contact = self.culprit();
            return Err(StepError::Accumulation { t, events: *events, contact });
        }
        self.come_to_rest()
    }

    /// Opens closed contacts that pulled over the piece and pull already at its start.
    pub(super) fn released(&mut self) -> Result<bool, StepError> {
        let limit = |c: usize| STILL * self.contacts.load(c, &self.solver.force);
        let pulls = (0..self.rows.len())
            .any(|i| self.rows.contact(i).is_some_and(|c| self.solver.multipliers[i] > limit(c)));
        if !pulls {
            return Ok(false);
        }
        let count = self.closed.len();
        let t = self.from.t;
        // Accelerations are made consistent anew; keep the old ones if nothing opens.
        self.kept.copy_from(&self.from);
        self.settle().map_err(|e| e.at(t))?;
        if self.closed.len() < count {
            return Ok(true);
        }
        self.from.copy_from(&self.kept);
        self.solve(self.method.step - (t - self.accepted.t))?;
        Ok(false)
    }
}
