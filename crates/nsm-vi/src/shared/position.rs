//! The position update: a step that holds equality constraints and lets smooth contacts press.
//!
//! Given $(q, p)$ and the smooth set $\mathbb S$, find $x$ with (\[KP\] (6.8))
//! $$ D_1 L_d(q, x) + p + G_{\mathbb S}(q)\lambda + F(q)\nu = 0, \qquad
//!    0 \le \lambda \perp g_{\mathbb S}(x) \ge 0, \qquad f(x) = 0 . $$
//! Constraint forces act along gradients at the *start*, constraints hold at the *end*, so the matrix
//! is not symmetric. A primal–dual active set (semismooth Newton on $\min(c\lambda, g)$ with
//! $c = h\\,\nabla g^\top M^{-1} \nabla g$) guesses which contacts stay closed; each iteration then
//! solves a Schur complement of the closed contacts and equalities. Redundant contacts make it
//! singular: the multipliers of minimum norm are taken. $\lambda$ and $\nu$ are impulses over the step.

mod taken;
mod verdict;

use nsm_constraints::Rows;
use nsm_model::{StepError, System, SystemError};
use nsm_solvers::LinearError;
use nsm_solvers::small::norm_inf;

use crate::Tolerances;
use crate::shared::complement::Complement;
use crate::shared::flight::Flight;
use crate::shared::gaps::Gaps;
use crate::shared::gradients::Gradients;
use crate::shared::held::Held;
use crate::shared::inertia::Inertia;
use crate::shared::lagrangian::DiscreteLagrangian;
use crate::shared::saddle::{MANY, Saddle, pays};

pub(crate) use verdict::{HELD, all_finite, largest};

/// From this iteration on one contact changes sides at a time, which cannot cycle.
const SINGLE_CHANGES: usize = 20;

/// How contacts are held over a piece of the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hold {
    /// They may open.
    OneSided,
    /// They stay closed: $g(x) = 0$ whatever the sign of $\lambda$.
    TwoSided,
}

/// Workspace and result of the position update.
#[derive(Debug)]
pub(crate) struct PositionUpdate<'a> {
    system: &'a System,
    tolerances: Tolerances,
    inertia: Inertia<'a>,
    flight: Flight,
    /// Present where constraints are many or the mass is singular.
    saddle: Option<Saddle<'a>>,
    singular: bool,
    /// The new position $x$.
    pub(crate) x: Vec<f64>,
    /// $G_{\mathbb S}\lambda + F\nu$, valid if `pressed`.
    pub(crate) impulse: Vec<f64>,
    pub(crate) pressed: bool,
    /// How contacts of the smooth set are held.
    pub(crate) hold: Hold,
    /// $\lambda$ of every inequality; zero outside the smooth set.
    pub(crate) lambda: Vec<f64>,
    /// $\nu$ of every equality.
    pub(crate) nu: Vec<f64>,
    /// Size of the last Newton step relative to the positions.
    pub(crate) residual: f64,
    /// Gradients at the start and at the trial.
    pub(crate) start: Gradients,
    trial: Gradients,
    f: Vec<f64>,
    g: Vec<f64>,
    /// $c$ of each inequality in the smooth set.
    weight: Vec<f64>,
    /// Contacts of the smooth set that are held closed, and the same as flags.
    closed: Vec<usize>,
    held: Vec<bool>,
    /// Whether the matrix of the last iteration was made in it.
    fresh: bool,
    /// Equalities that do not depend on others at the start, and the rows of the complement: they, then
    /// the closed contacts.
    independent: Vec<bool>,
    kept: Vec<usize>,
    r: Vec<f64>,
    step: Vec<f64>,
    scratch: Vec<f64>,
    complement: Complement,
}

impl<'a> PositionUpdate<'a> {
    pub(crate) fn new(
        lagrangian: &DiscreteLagrangian<'a>,
        tolerances: Tolerances,
    ) -> Result<Self, SystemError> {
        let system = lagrangian.system();
        let n = system.dimension();
        let (equal, unequal) = (system.equalities().len(), system.inequalities().len());
        // Room for what is solved densely; only many redundant constraints make it grow.
        let m = (equal + unequal).min(MANY);
        let inertia = Inertia::new(lagrangian)?;
        let singular = system.variable_mass().is_none() && !system.mass().massless().is_empty();
        let many = singular || pays(system, equal + unequal);
        Ok(Self {
            system,
            tolerances,
            saddle: if many { Some(Saddle::new(system, inertia.pattern(), false)?) } else { None },
            singular,
            inertia,
            flight: Flight::new(system.equalities()),
            x: vec![0.0; n],
            impulse: vec![0.0; n],
            pressed: false,
            hold: Hold::OneSided,
            lambda: vec![0.0; unequal],
            nu: vec![0.0; equal],
            residual: 0.0,
            start: Gradients::new(system),
            trial: Gradients::new(system),
            f: vec![0.0; equal],
            g: vec![0.0; unequal],
            weight: vec![0.0; unequal],
            closed: Vec::with_capacity(unequal),
            held: vec![false; unequal],
            fresh: true,
            independent: vec![true; equal],
            kept: Vec::with_capacity(equal + unequal),
            r: vec![0.0; n],
            step: vec![0.0; n],
            scratch: vec![0.0; n],
            complement: Complement::new(n, m),
        })
    }

    /// Whether there are but gaps, a diagonal mass and a flight $x = q + h M^{-1}(p - \tfrac h2 s_0)$.
    pub(crate) fn is_bare(&self) -> bool {
        self.nu.is_empty()
            && self.inertia.is_mass()
            && self.system.variable_mass().is_none()
            && self.system.mass().as_inverse_diagonal().is_some()
    }

    /// Solves the update; the result is in `x`, `impulse`, `lambda`, `nu`. Returns the iterations.
    pub(crate) fn solve(
        &mut self,
        lagrangian: &mut DiscreteLagrangian<'a>,
        mut held: Option<&mut Held<'a>>,
        gaps: &Gaps<'a>,
        (q, p, t): (&[f64], &[f64], f64),
        h: f64,
        smooth: &[usize],
    ) -> Result<usize, StepError> {
        self.residual = 0.0;
        self.pressed = !(smooth.is_empty() && self.nu.is_empty());
        let mut continued = false;
        if let Some(held) = held.as_deref_mut() {
            continued = self.x == q;
            held.place(q, t)?;
            self.start.f.copy_from_slice(&held.gradients);
            self.independent.copy_from_slice(held.independent());
        }
        if lagrangian.is_explicit() && !self.singular {
            self.fly(lagrangian, q, p, t, h);
            if !self.pressed {
                return self.check_finite(t).map(|()| 0);
            }
            if let (Some(held), true) = (held, smooth.is_empty()) {
                if let Some(iterations) = self.land(held, q, t, h, continued) {
                    return self.check_finite(t).map(|()| iterations);
                }
                self.fly(lagrangian, q, p, t, h);
            }
        } else {
            self.predict(held, (q, p), t, h)?;
        }
        self.flight.forget();
        for &i in smooth {
            gaps.gradient(i, q, t, &mut self.start.g);
        }
        self.close_all(h, smooth);
        let mut course = self.tolerances.chord();
        self.fresh = true;
        let mut size = norm_inf(q).max(norm_inf(&self.x)).max(f64::MIN_POSITIVE);
        let most = self.tolerances.iterations;
        for iteration in 1..=most {
            let settled = self.choose_closed(gaps, (q, t + h), smooth, iteration);
            let scale = size.max(norm_inf(&self.x));
            if settled && course.ends(scale) {
                self.residual = course.last() / scale;
                self.check_held(t, iteration - 1, scale)?;
                self.gather_impulse(smooth);
                return self.check_finite(t).map(|()| iteration - 1);
            }
            lagrangian.slopes_left(q, &self.x, t, h);
            self.residual_of(lagrangian, q, p, h);
            if iteration == 1 {
                // A system at rest in the origin is measured by how far it would fall.
                self.system.mass().solve(&self.r, &mut self.scratch);
                size = size.max(h * norm_inf(&self.scratch));
            }
            // Contacts change the matrix, and so does a step that it shrinks too little.
            self.fresh = course.wants_matrix() || !smooth.is_empty();
            self.newton_step(lagrangian, gaps, (q, t), h, smooth)
                .map_err(|error| self.failure(t, &error))?;
            if self.fresh {
                course.renew();
            }
            if !settled {
                course.forget();
            }
            course.stepped(norm_inf(&self.step));
            for (x, d) in self.x.iter_mut().zip(&self.step) {
                *x += d;
            }
            if !course.last().is_finite() {
                self.check_finite(t)?;
            }
        }
        self.system.equalities().values_over(q, &self.x, t + h, &mut self.f);
        let (i, worst) = largest(&self.f);
        let culprit = if worst > 0.0 {
            self.system.equalities().name(i)
        } else {
            &self.system.names()[largest(&self.step).0]
        };
        Err(StepError::NotConverged {
            t,
            what: "the position update",
            iterations: most,
            residual: course.last(),
            culprit: culprit.to_owned(),
        })
    }

    /// Holds the equalities alone from a flight; nothing if that does not converge.
    fn land(
        &mut self,
        held: &mut Held<'a>,
        q: &[f64],
        t: f64,
        h: f64,
        continued: bool,
    ) -> Option<usize> {
        let rows = self.system.equalities();
        let at = (q, &mut self.x[..], &mut self.nu[..]);
        let landing = self.flight.land(held, rows, at, (t + h, h), continued, &self.tolerances)?;
        self.residual = landing.residual;
        self.gather_impulse(&[]);
        Some(landing.iterations)
    }

    /// The first guess of an implicit scheme, $x = q + h v$.
    fn predict(
        &mut self,
        held: Option<&mut Held<'a>>,
        (q, p): (&[f64], &[f64]),
        t: f64,
        h: f64,
    ) -> Result<(), StepError> {
        match held {
            Some(held) if self.singular => {
                held.velocity_of(p).map_err(|error| held.failure(t, &error))?;
                self.x.copy_from_slice(&held.velocity);
            }
            _ => self.system.mass().solve(p, &mut self.x),
        }
        for (x, q) in self.x.iter_mut().zip(q) {
            *x = q + h * *x;
        }
        Ok(())
    }

    /// The explicit flight $x = q + h M^{-1}(p - \tfrac h2 s_0)$.
    fn fly(
        &mut self,
        lagrangian: &mut DiscreteLagrangian<'a>,
        q: &[f64],
        p: &[f64],
        t: f64,
        h: f64,
    ) {
        lagrangian.slope_at_start(q, t, h);
        let half = 0.5 * h;
        if let Some(inverse) = self.system.mass().as_inverse_diagonal() {
            let terms = q.iter().zip(p).zip(inverse).zip(&lagrangian.left);
            for (x, (((q, p), w), s)) in self.x.iter_mut().zip(terms) {
                *x = q + h * w * (p - half * s);
            }
            return;
        }
        for ((r, p), s) in self.r.iter_mut().zip(p).zip(&lagrangian.left) {
            *r = p - half * s;
        }
        self.system.mass().solve(&self.r, &mut self.x);
        for (x, q) in self.x.iter_mut().zip(q) {
            *x = q + h * *x;
        }
    }

    /// Begins with the whole smooth set closed; $c_i = h\\,\nabla g_i^\top M^{-1} \nabla g_i$ turns an impulse
    /// into a displacement.
    fn close_all(&mut self, h: f64, smooth: &[usize]) {
        let rows = self.system.inequalities();
        for &i in smooth {
            let gradient = (rows.columns(i), &self.start.g[rows.span(i)]);
            self.weight[i] = if self.system.mass().is_banded() {
                self.r.fill(0.0);
                rows.add_row(i, &self.start.g, h, &mut self.r);
                self.system.mass().solve(&self.r, &mut self.scratch);
                rows.row_dot(i, &self.start.g, &self.scratch)
            } else {
                h * self.system.mass().inverse_product(gradient, gradient)
            };
            self.lambda[i] = 0.0;
            self.held[i] = true;
        }
        self.closed.clear();
        self.closed.extend_from_slice(smooth);
    }

    /// Evaluates the constraints at `x` and chooses the closed contacts; whether they are the same.
    fn choose_closed(
        &mut self,
        gaps: &Gaps<'a>,
        (start, t): (&[f64], f64),
        smooth: &[usize],
        iteration: usize,
    ) -> bool {
        self.system.equalities().values_over(start, &self.x, t, &mut self.f);
        if smooth.is_empty() {
            return true;
        }
        // Round-off must not reopen a contact that carries nothing, nor close one that touches.
        let noise = 4.0 * f64::EPSILON * (1.0 + norm_inf(&self.x));
        let mut changed = false;
        for &i in smooth {
            self.g[i] = gaps.value(i, &self.x, t);
            if self.hold == Hold::TwoSided {
                continue;
            }
            let excess = self.weight[i] * self.lambda[i] - self.g[i];
            // Contacts that were closed stay closed, until the first impulses say otherwise.
            let frozen =
                iteration == 1 || excess.abs() <= noise || (changed && iteration >= SINGLE_CHANGES);
            if !frozen && self.held[i] != (excess > 0.0) {
                self.held[i] = excess > 0.0;
                changed = true;
            }
        }
        if changed {
            self.closed.clear();
            self.closed.extend(smooth.iter().filter(|&&i| self.held[i]));
        }
        !changed
    }

    /// $r = M v_h + \tfrac h2 s_0 - p$: what the constraint impulses must supply.
    fn residual_of(&mut self, lagrangian: &DiscreteLagrangian<'a>, q: &[f64], p: &[f64], h: f64) {
        for ((v, x), q) in self.scratch.iter_mut().zip(&self.x).zip(q) {
            *v = (x - q) / h;
        }
        self.system.mass().multiply(&self.scratch, &mut self.r);
        for ((r, p), s) in self.r.iter_mut().zip(p).zip(&lagrangian.left) {
            *r += 0.5 * h * s - p;
        }
    }

    /// Writes the Newton step of $x$ and the new multipliers.
    fn newton_step(
        &mut self,
        lagrangian: &mut DiscreteLagrangian<'a>,
        gaps: &Gaps<'a>,
        (q, t): (&[f64], f64),
        h: f64,
        smooth: &[usize],
    ) -> Result<(), LinearError> {
        let many = self.nu.len() + self.closed.len() >= MANY;
        if self.saddle.is_some() && (self.singular || many) {
            match self.saddle_step(lagrangian, gaps, (q, t), h, smooth) {
                Err(LinearError::Singular { .. } | LinearError::Inaccurate { .. })
                    if !self.singular => {}
                outcome => return outcome,
            }
        }
        self.fresh = true;
        self.inertia.factorise(lagrangian, q, t, h)?;
        self.inertia.solve(&self.r, &mut self.step)?;
        self.step.iter_mut().for_each(|y| *y = -*y);
        for &i in smooth {
            self.lambda[i] = 0.0;
        }
        self.nu.fill(0.0);
        self.kept.clear();
        self.kept.extend((0..self.nu.len()).filter(|&i| self.independent[i]));
        let equal = self.kept.len();
        self.kept.extend_from_slice(&self.closed);
        let m = self.kept.len();
        if m == 0 {
            return Ok(());
        }
        self.complement.reserve(m);
        self.trial.evaluate(self.system, gaps, &self.x, t + h, &self.closed);
        let (f_rows, g_rows) = (self.system.equalities(), self.system.inequalities());
        for (k, &i) in self.kept.iter().enumerate() {
            self.scratch.fill(0.0);
            if k < equal {
                f_rows.add_row(i, &self.start.f, 1.0, &mut self.scratch);
            } else {
                g_rows.add_row(i, &self.start.g, 1.0, &mut self.scratch);
            }
            self.inertia.solve(&self.scratch, self.complement.column_mut(k))?;
        }
        for (k, &i) in self.kept.iter().enumerate() {
            let (rows, gradients, value): (&Rows, _, _) = if k < equal {
                (f_rows, &self.trial.f, self.f[i])
            } else {
                (g_rows, &self.trial.g, self.g[i])
            };
            for j in 0..m {
                self.complement.matrix[k * m + j] =
                    rows.row_dot(i, gradients, self.complement.column(j));
            }
            self.complement.rhs[k] = -value - rows.row_dot(i, gradients, &self.step);
        }
        self.complement.solve(m)?;
        for (k, (z, &i)) in self.complement.z[..m].iter().zip(&self.kept).enumerate() {
            nsm_solvers::small::axpy(*z, self.complement.column(k), &mut self.step);
            if k < equal {
                self.nu[i] = *z;
            } else {
                self.lambda[i] = *z;
            }
        }
        Ok(())
    }

    /// The Newton step of many constraints: one sparse saddle point.
    fn saddle_step(
        &mut self,
        lagrangian: &mut DiscreteLagrangian<'a>,
        gaps: &Gaps<'a>,
        (q, t): (&[f64], f64),
        h: f64,
        smooth: &[usize],
    ) -> Result<(), LinearError> {
        let Some(saddle) = &mut self.saddle else { return Err(LinearError::NotFactorised) };
        let equal = self.nu.len();
        for (a, r) in saddle.a.iter_mut().zip(&self.r) {
            *a = -r;
        }
        saddle.b.fill(0.0);
        for (b, f) in saddle.b.iter_mut().zip(&self.f) {
            *b = -f;
        }
        for &i in &self.closed {
            saddle.b[equal + i] = -self.g[i];
        }
        if self.fresh {
            self.trial.evaluate(self.system, gaps, &self.x, t + h, &self.closed);
            let entries = self.inertia.entries(lagrangian, q, t, h);
            let (start, trial) = ((&self.start.f[..], &self.start.g[..]), &self.trial);
            let rows = (&trial.f[..], &trial.g[..]);
            saddle.solve(entries, start, rows, &self.independent, &self.closed)?;
        } else {
            saddle.solve_again()?;
        }
        self.step.copy_from_slice(&saddle.x);
        self.nu.copy_from_slice(&saddle.z[..equal]);
        for &i in smooth {
            self.lambda[i] = if self.held[i] { saddle.z[equal + i] } else { 0.0 };
        }
        Ok(())
    }

    fn gather_impulse(&mut self, smooth: &[usize]) {
        self.impulse.fill(0.0);
        self.system.equalities().add_transposed(&self.start.f, &self.nu, 1.0, &mut self.impulse);
        for &i in smooth {
            if self.hold == Hold::OneSided {
                // A contact that pulls by round-off carries nothing.
                self.lambda[i] = self.lambda[i].max(0.0);
            }
            let rows = self.system.inequalities();
            rows.add_row(i, &self.start.g, self.lambda[i], &mut self.impulse);
        }
    }
}
