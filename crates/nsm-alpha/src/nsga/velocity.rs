//! Stage 3 of NSGA: the velocity jump $W$ (86)–(87), with Newton's restitution at the contacts.
//!
//! All constraints take part, smooth and switching. A contact takes part if it pressed in the position correction or its gap is
//! closed after it, and must open with at least $-e\\,\dot g_n$. Where the normal turns within the step, $\dot g_n$ is the slower
//! of the approaches $\nabla g(q_n) \cdot v_n$ and $\nabla g(q_{n+1}) \cdot v_n$: with the first alone a grazing contact
//! would gain energy, with the second alone a contact that slides along a curve would be thrown off it. A contact that
//! separates may be pushed back as far as its restitution allows ($\dot g \ge -e\\,\dot g_n$, as in Moreau's law): with
//! $\dot g \ge 0$ there, several contacts at once can gain energy.

use nsm_model::StepError;
use nsm_solvers::newton::Matrices;
use nsm_solvers::small::{dot, norm_inf};

use super::{NsgaStepper, not_finite};
use crate::AlphaError;

/// Gaps below this fraction of their lengths are closed.
const CLOSED: f64 = 1e-9;
/// Approach velocities below this fraction of the speeds are rest, not impact.
const REST: f64 = 1e-9;

impl NsgaStepper<'_> {
    /// Finds $v_{n+1}$ and books the events; returns iterations, residual, closed contacts and rounds.
    pub(super) fn jump_velocity(
        &mut self,
        mode: i64,
    ) -> Result<(usize, f64, usize, usize), StepError> {
        let n = self.from.q.len();
        let m = self.full.len();
        let (t, h) = (self.solver.end.t, self.method.step);
        let switched = mode != self.mode;
        let w = 1.0 / self.solver.scale;
        self.work.v.copy_from_slice(&self.solver.end.v);
        self.work.stop_dragging();
        self.work.lambda.fill(0.0);
        self.full.gradient(&self.work.q, t, &mut self.work.gradient);
        if switched {
            self.interpolate(mode)?;
        }
        let linear = self.is_linear();
        let mut course = self.solver.newton.course(Matrices::Full);
        let mut iterations = 0;
        let residual = loop {
            let residual = self.velocity_residual(h, switched, m);
            let balance = w * norm_inf(&self.work.product);
            if !(residual + balance).is_finite() {
                let what = "the velocity jump";
                return Err(not_finite(self.from.t, what, self.system, &self.work.product));
            }
            let scale = h * norm_inf(&self.work.v).max(norm_inf(&self.solver.end.v));
            let scale = scale.max(norm_inf(&self.work.q)).max(f64::MIN_POSITIVE);
            let exact = if iterations == 0 { residual == 0.0 && balance == 0.0 } else { linear };
            let last = if iterations == 0 { 0.0 } else { course.last() };
            if exact || course.ends(scale) {
                break last / scale;
            }
            if iterations == self.solver.newton.iterations {
                return Err(StepError::NotConverged {
                    t: self.from.t,
                    what: "the velocity jump",
                    iterations,
                    residual: last / scale,
                    culprit: self.worst_row(),
                });
            }
            iterations += 1;
            self.factor_velocity(h, w, switched, m)?;
            let Self { solver, full, work, from, .. } = self;
            let (r, g) = solver.saddle.rhs();
            for i in 0..n {
                r[i] = -w * work.product[i];
            }
            for i in 0..m {
                g[i] = -work.values[i];
            }
            if let Err(error) = solver.saddle.solve() {
                return Err(solver.singular(error, from.t, full));
            }
            let (x, mu) = solver.saddle.rhs();
            course.stepped(h * norm_inf(x));
            for (v, x) in work.v.iter_mut().zip(x) {
                *v += *x;
            }
            for i in 0..m {
                work.lambda[i] += mu[i] / w;
            }
        };
        if switched {
            self.book_switch(mode, m)?;
        }
        let (closed, rounds) = if self.contacts.is_empty() {
            (0, 0)
        } else {
            self.restitution(h, w, m, iterations == 0 || switched)?
        };
        Ok((iterations, residual, closed, rounds))
    }

    /// Whether the equations of the jump are linear in the velocity.
    fn is_linear(&self) -> bool {
        self.system.variable_mass().is_none()
            && !self.system.forces().iter().any(|f| f.depends_on_velocity())
    }

    /// Leaves $M W + G_{\mathcal{E}}^\top \Lambda - h f^\ast$ in `work.product` and $G v + g_t$ in
    /// `work.values`; returns the largest of the latter.
    fn velocity_residual(&mut self, h: f64, switched: bool, m: usize) -> f64 {
        let Self { solver, smooth, full, work, system, .. } = self;
        let n = work.q.len();
        let t = solver.end.t;
        Self::defect(solver, smooth, work, true);
        if system.variable_mass().is_some() {
            // −(M(q) − M(q̃)) dṽ/dt.
            system.momentum(&work.q, &solver.end.acceleration, &mut work.product);
            work.force.iter_mut().zip(&work.product).for_each(|(f, p)| *f -= p);
            system.momentum(&solver.end.q, &solver.end.acceleration, &mut work.product);
            work.force.iter_mut().zip(&work.product).for_each(|(f, p)| *f += p);
        }
        for i in 0..n {
            work.jump[i] = work.v[i] - solver.end.v[i];
        }
        system.momentum(&work.q, &work.jump, &mut work.product);
        let mut product = std::mem::take(&mut work.product);
        work.border(switched, m).add_transposed(full, 1.0, &work.lambda[..m], &mut product);
        work.product = product;
        for i in 0..n {
            work.product[i] -= h * work.force[i];
        }
        full.rates(&work.q, t, &mut work.values[..m]);
        full.add_product(&work.gradient, &work.v, &mut work.values[..m]);
        norm_inf(&work.values[..m])
    }

    fn factor_velocity(
        &mut self,
        h: f64,
        w: f64,
        switched: bool,
        m: usize,
    ) -> Result<(), StepError> {
        let Self { solver, full, work, from, .. } = self;
        let leading = solver.saddle.begin();
        solver.equations.add_mass(&work.q, w, leading);
        let point = (&*work.q, &*work.v, solver.end.t);
        solver.equations.add_force_tangent(point, (0.0, -w * h), leading);
        match solver.saddle.factor(full, work.border(switched, m), &work.gradient) {
            Ok(()) => Ok(()),
            Err(error) => Err(solver.singular(error, from.t, full)),
        }
    }

    /// Tests the direction (54) and books the switch with the energy change (42).
    fn book_switch(&mut self, mode: i64, m: usize) -> Result<(), StepError> {
        let Self { crossing, solver, full, from, work, events, .. } = self;
        let n = work.q.len();
        let t = solver.end.t;
        let before = crossing.surface_rate(self.mode, &work.q, &from.v, t);
        let after = crossing.surface_rate(self.mode, &work.q, &work.v, t);
        crossing.check_direction(self.mode, mode, before, after).map_err(|e| e.at(from.t))?;
        work.product.fill(0.0);
        let mut product = std::mem::take(&mut work.product);
        work.border(true, m).add_transposed(full, 1.0, &work.lambda[..m], &mut product);
        work.product = product;
        let change: f64 =
            (0..n).map(|i| -0.5 * work.product[i] * (work.v[i] + solver.end.v[i])).sum();
        let impulse = dot(&work.product, &work.product).sqrt();
        events.push(t, change, 1, [(usize::try_from(mode).unwrap_or(0), impulse)]);
        Ok(())
    }

    /// Newton's restitution at the closed contacts; returns how many carry an impulse, and the rounds.
    fn restitution(
        &mut self,
        h: f64,
        w: f64,
        m: usize,
        factor: bool,
    ) -> Result<(usize, usize), StepError> {
        let t = self.solver.end.t;
        let (start, from) = (&self.from, self.from.t);
        let failed = |e: AlphaError| e.at(from);
        self.contacts.measure(&start.q, &start.v, &start.acceleration, h);
        self.contacts.linearise(&start.q, from);
        for i in 0..self.contacts.gaps.len() {
            let rate = self.contacts.rate(i, (&start.q, from), &start.v).map_err(failed)?;
            self.work.approach[i] = rate;
        }
        self.contacts.linearise(&self.work.q, t);
        if let Some(rubbing) = &mut self.contacts.rubbing {
            rubbing.begin(&start.v);
        }
        self.contacts.clear();
        for i in 0..self.contacts.gaps.len() {
            let gap = self.contacts.gap(i, &self.work.q, t).map_err(failed)?;
            if self.work.pressing[i] > 0.0 || gap <= CLOSED * self.contacts.length(i) {
                let q = &self.work.q;
                let turned = self.contacts.rate(i, (q, t), &start.v).map_err(failed)?;
                let rate = self.contacts.rate(i, (q, t), &self.work.v).map_err(failed)?;
                let approach = &mut self.work.approach[i];
                if *approach < 0.0 {
                    *approach = approach.max(turned.min(0.0));
                }
                self.contacts.push_rates(i, rate, *approach);
            }
        }
        if self.contacts.active.is_empty() {
            return Ok((0, 0));
        }
        // After a switch the bilateral constraints hold already: contacts push against G itself.
        if factor {
            self.factor_velocity(h, w, false, m)?;
        }
        let Self { contacts, solver, work, events, .. } = self;
        work.jump.copy_from_slice(&work.v);
        let rounds = contacts.resolve_jump(&mut solver.saddle, w, from, None, &mut work.v)?;
        for (sum, v) in work.jump.iter_mut().zip(&work.v) {
            *sum += v;
        }
        let closed = contacts.impulses().count();
        let hit = contacts.impulses().any(|(i, _)| work.approach[i] < -REST * contacts.speed(i));
        let rubs = contacts.rubs();
        if rubs && !hit {
            contacts.drag(&mut work.drag);
            work.drags = true;
        }
        if hit && rubs {
            let booked = || contacts.booked(&work.jump);
            let change = booked().map(|c| c.work).sum();
            events.push_frictional(t, change, rounds.max(1), booked());
        } else if hit {
            let change = 0.5 * contacts.work(&work.jump);
            events.push(t, change, rounds.max(1), contacts.impulses());
        } else if rubs {
            // What is held acts over the whole step, as the forces do that it answers to.
            for ((sum, v), from) in work.jump.iter_mut().zip(&work.v).zip(&self.from.v) {
                *sum = v + from;
            }
            contacts.booked(&work.jump).for_each(|c| events.hold(c));
        }
        Ok((closed, rounds))
    }
}
