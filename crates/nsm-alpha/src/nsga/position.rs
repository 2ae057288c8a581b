//! Stage 2 of NSGA: the position correction $U$ (82)–(83), with contacts (unilateral).
//!
//! Newton's method on $(U, \nu)$; contacts are linearised in each iteration and their complementarity
//! problem is solved afresh, so that the contact part of $U$ is never carried from one iterate to the next. The iteration ends where
//! nothing moves any more, and so with $g \nu = 0$: that no gap is negative is not enough, since the linearised step
//! of a convex gap ends outside it.

use nsm_constraints::Rows;
use nsm_model::StepError;
use nsm_solvers::newton::Matrices;
use nsm_solvers::small::norm_inf;

use super::{NsgaStepper, not_finite};
use crate::implicit::Motion;
use crate::leading::{Leading, Term};

/// Newton iterations after which $G_{\mathcal{E}}$ is frozen.
const FREEZE: usize = 3;

impl NsgaStepper<'_> {
    /// Corrects $\tilde q$ onto the constraints of `mode`; returns the Newton iterations.
    pub(super) fn correct_position(&mut self, mode: i64) -> Result<usize, StepError> {
        let (t, h) = (self.solver.end.t, self.method.step);
        let switched = mode != self.mode;
        if mode != self.full.mode() {
            self.full.choose(Some(mode), &[], &self.from.q, self.from.t);
        }
        let m = self.full.len();
        self.work.q.copy_from_slice(&self.solver.end.q);
        self.work.nu.fill(0.0);
        self.work.pressing.fill(0.0);
        let w = 1.0 / self.solver.scale;
        let mut penetrates = false;
        for i in 0..self.contacts.gaps.len() {
            let gap = self.contacts.gap(i, &self.work.q, t).map_err(|e| e.at(self.from.t))?;
            penetrates |= gap < 0.0;
        }
        // Without correction there is no defect either: U = 0 solves (82).
        if m == 0 && !penetrates && !self.work.drags {
            return Ok(0);
        }
        let (mut iterations, mut course) = (0, self.solver.newton.course(Matrices::Full));
        loop {
            self.full.values(&self.work.q, t, &mut self.work.values[..m]);
            let residual = norm_inf(&self.work.values[..m]);
            self.full.gradient(&self.work.q, t, &mut self.work.gradient);
            if switched && iterations < FREEZE {
                self.interpolate(mode)?;
            }
            let balance = self.balance(h, switched, m);
            if !(residual + balance).is_finite() {
                let what = "the position correction";
                return Err(not_finite(self.from.t, what, self.system, &self.work.product));
            }
            iterations += 1;
            let change = self.newton_step(h, w, switched, m)?;
            course.stepped(change);
            let q = norm_inf(&self.work.q);
            let scale = q.max(h * norm_inf(&self.solver.end.v)).max(f64::MIN_POSITIVE);
            if course.ends(scale) {
                return Ok(iterations);
            }
            if iterations == self.solver.newton.iterations || change.is_nan() {
                return Err(StepError::NotConverged {
                    t: self.from.t,
                    what: "the position correction",
                    iterations,
                    residual: change / scale,
                    culprit: self.worst_row(),
                });
            }
        }
    }

    /// Leaves $\tilde M U + G_{\mathcal{E}}^\top \nu - h^2 f^p - \tfrac h2 J_T^\top r_T$ in `work.product`; returns its largest entry.
    fn balance(&mut self, h: f64, switched: bool, m: usize) -> f64 {
        let Self { solver, smooth, full, work, .. } = self;
        Self::defect(solver, smooth, work, false);
        let n = work.q.len();
        for i in 0..n {
            work.v[i] = work.q[i] - solver.end.q[i];
        }
        self.system.momentum(&solver.end.q, &work.v, &mut work.product);
        let mut product = std::mem::take(&mut work.product);
        work.border(switched, m).add_transposed(full, 1.0, &work.nu[..m], &mut product);
        work.product = product;
        for i in 0..n {
            work.product[i] -= h * h * work.force[i] + 0.5 * h * work.drag[i];
        }
        norm_inf(&work.product)
    }

    /// One step of Newton's method; returns its size.
    fn newton_step(&mut self, h: f64, w: f64, switched: bool, m: usize) -> Result<f64, StepError> {
        let Self { solver, smooth, full, contacts, work, from, .. } = self;
        let n = work.q.len();
        let Motion { t, q: q_tilde, v: v_tilde, .. } = &solver.end;
        let t = *t;
        let leading = solver.saddle.begin();
        solver.equations.add_mass(q_tilde, w, leading);
        let point = (&*work.q, &**v_tilde, t);
        solver.equations.add_force_tangent(point, (-w * h * h, 0.0), leading);
        let lambda = &solver.multipliers[..smooth.len()];
        smooth.add_hessian((&work.q, t), lambda, w * h * h, leading);
        if !switched {
            full.add_hessian((&work.q, t), &work.nu[..m], w, leading);
        }
        for (i, pressing) in work.pressing.iter().enumerate().filter(|(_, p)| **p > 0.0) {
            let row = Term::Row(self.system.equalities().len() + i);
            let block = &mut work.curvature;
            add_curvature(contacts.gaps, i, (&work.q, t), -w * pressing, block, (row, leading));
        }
        if let Err(error) = solver.saddle.factor(full, work.border(switched, m), &work.gradient) {
            return Err(solver.singular(error, from.t, full));
        }
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
        work.v.copy_from_slice(x);
        for i in 0..m {
            work.nu[i] += mu[i] / w;
        }
        if !contacts.is_empty() {
            contacts.linearise(&work.q, t);
            contacts.clear();
            for i in 0..contacts.gaps.len() {
                let gap = contacts.gap(i, &work.q, t).map_err(|e| e.at(from.t))?;
                contacts.push(i, gap + contacts.along(i, &work.v));
            }
            contacts.resolve(&mut solver.saddle, w, from.t, &mut work.v)?;
            work.pressing.fill(0.0);
            for (i, pressing) in contacts.impulses() {
                work.pressing[i] = pressing;
            }
        }
        for (q, dq) in work.q.iter_mut().zip(&work.v) {
            *q += dq;
        }
        Ok(norm_inf(&work.v))
    }
}

/// Adds $w\\,\nabla^2 g_i$.
fn add_curvature(
    gaps: &Rows,
    i: usize,
    (q, t): (&[f64], f64),
    w: f64,
    block: &mut [f64],
    (row, leading): (Term, &mut Leading),
) {
    let (field, columns) = (gaps.field(i), gaps.columns(i));
    if field.is_affine() {
        return;
    }
    let block = &mut block[..columns.len() * columns.len()];
    block.fill(0.0);
    field.hessian(q, t, w, block);
    leading.add_block(row, columns, 1.0, block);
}
