//! The two halves of a variational step where the mass depends on the configuration.
//!
//! The discrete Lagrangians of $L(q, v) = \tfrac12 v^\top M(q)\\,v - V(q)$, with $v_h = (q_1 - q_0)/h$, $m = \tfrac12(q_0 + q_1)$, are those of \[KP\] (7.2), (7.3)
//! taken of all of $L$:
//! $$ L_d^{\text{mid}} = h\\,L(m, v_h), \qquad L_d^{\text{Verlet}} = \tfrac h2\\,\big(L(q_0, v_h) + L(q_1, v_h)\big), $$
//! $$ D_1 L_d = -\bar p - \tfrac h2 s_0, \qquad D_2 L_d = \bar p - \tfrac h2 s_1, \qquad s = \nabla V - f - \frac{\partial T}{\partial q}, $$
//! where $\bar p$ is $M(m)\\,v_h$, or the mean of $M(q_0)\\,v_h$ and $M(q_1)\\,v_h$, and $s_0$, $s_1$ are taken at the midpoint, or at the ends, with the velocity $v_h$. Both are
//! implicit, symmetric and symplectic; a coordinate on which $L$ does not depend has $s = 0$ and keeps its momentum to the last bit. Equalities are held as with a
//! constant mass:
//! $$ \bar p + \tfrac h2 s_0 = p_0 + F(q_0)\nu, \quad f(q_1) = 0, \qquad p_1 = p_0 + F(q_0)\nu - \tfrac h2(s_0 + s_1) + F(q_1)\xi, \quad
//!    F^\top(q_1)\\,M(q_1)^{-1} p_1 + f_t = 0 . $$
//! Contacts $\mathbb S$ that are held press like equalities, by $G_{\mathbb S}(q_0)\lambda$ for $g_{\mathbb S}(q_1) = 0$, and the last momentum may be made tangent to them.
//! A kinetic energy by formula is a full matrix in a few coordinates: everything here is dense.

use nsm_constraints::Rows;
use nsm_model::{Mass, StepError, System, SystemError, VariableMass};
use nsm_solvers::LinearError;
use nsm_solvers::small::{self, lu, norm_inf};

use crate::shared::loads::Loads;
use crate::shared::position::{all_finite, largest};
use crate::{Quadrature, Tolerances};

mod rows;

use rows::Held;

/// Workspace of steps of a system whose mass depends on the configuration.
pub(crate) struct VaryingKernel<'a> {
    pub(crate) system: &'a System,
    mass: &'a dyn VariableMass,
    quadrature: Quadrature,
    tolerances: Tolerances,
    loads: Loads<'a>,
    pub(crate) held: Held<'a>,
    /// Rows where the step began: those that press, which of them are independent, and their gradients, equalities before gaps.
    rows: usize,
    kept: Vec<usize>,
    start: Vec<f64>,
    gap_start: Vec<f64>,
    /// Trial end of the step, the multipliers of what presses and their impulse.
    pub(crate) x: Vec<f64>,
    pub(crate) nu: Vec<f64>,
    pub(crate) impulse: Vec<f64>,
    pub(crate) residual: f64,
    f: Vec<f64>,
    gradients: Vec<f64>,
    gap_gradients: Vec<f64>,
    middle: Vec<f64>,
    velocity: Vec<f64>,
    /// $s_0$ and $s_1$.
    pub(crate) left: Vec<f64>,
    pub(crate) right: Vec<f64>,
    /// The new momentum.
    pub(crate) p: Vec<f64>,
    pattern: Vec<(usize, usize)>,
    stiffness: Vec<f64>,
    block: Vec<f64>,
    matrix: Vec<f64>,
    pivots: Vec<usize>,
    step: Vec<f64>,
    scratch: Vec<f64>,
    /// The mass of $\bar p$ as a function of $v_h$.
    mean: Mass,
    pub(crate) turn: f64,
}

impl std::fmt::Debug for VaryingKernel<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("VaryingKernel").field("system", &self.system).finish_non_exhaustive()
    }
}

impl<'a> VaryingKernel<'a> {
    pub(crate) fn new(
        system: &'a System,
        mass: &'a dyn VariableMass,
        quadrature: Quadrature,
        tolerances: Tolerances,
    ) -> Result<Self, SystemError> {
        let (n, rows, gaps) = (system.dimension(), system.equalities(), system.inequalities());
        let m = rows.len() + gaps.len();
        let all = n + m;
        let loads = Loads::new(system);
        let pattern = loads.stiffness_pattern();
        Ok(Self {
            system,
            mass,
            quadrature,
            tolerances,
            held: Held::new(system)?,
            rows: 0,
            kept: Vec::with_capacity(m),
            start: vec![0.0; rows.entries()],
            gap_start: vec![0.0; gaps.entries()],
            x: vec![0.0; n],
            nu: vec![0.0; m],
            impulse: vec![0.0; n],
            residual: 0.0,
            f: vec![0.0; m],
            gradients: vec![0.0; rows.entries()],
            gap_gradients: vec![0.0; gaps.entries()],
            middle: vec![0.0; n],
            velocity: vec![0.0; n],
            left: vec![0.0; n],
            right: vec![0.0; n],
            p: vec![0.0; n],
            stiffness: vec![0.0; pattern.len()],
            pattern,
            block: vec![0.0; n.max(rows.largest_block()).pow(2)],
            matrix: vec![0.0; all * all],
            pivots: vec![0; all],
            step: vec![0.0; all],
            scratch: vec![0.0; n],
            mean: Mass::full_block(n),
            loads,
            turn: 0.0,
        })
    }

    /// Solves for the new position `x` with `contacts` closed there on both sides; returns the iterations.
    pub(crate) fn advance_position(
        &mut self,
        (q, p, t): (&[f64], &[f64], f64),
        h: f64,
        contacts: &[usize],
    ) -> Result<usize, StepError> {
        self.held.place(q, t, contacts)?;
        self.start.copy_from_slice(&self.held.gradients);
        self.gap_start.copy_from_slice(&self.held.gap_gradients);
        self.rows = self.held.len();
        self.kept.clear();
        self.kept.extend_from_slice(self.held.independent());
        self.held.mass().solve(p, &mut self.scratch);
        for ((x, q), v) in self.x.iter_mut().zip(q).zip(&self.scratch) {
            *x = q + h * v;
        }
        self.nu.fill(0.0);
        // A system at rest in the origin is measured by how far it moves.
        let mut size = norm_inf(q).max(h.abs() * norm_inf(&self.scratch)).max(f64::MIN_POSITIVE);
        let mut course = self.tolerances.full();
        for iteration in 1..=self.tolerances.iterations {
            let scale = size.max(norm_inf(&self.x));
            self.values(q, t + h, contacts);
            if course.ends(scale) {
                self.residual = course.last() / scale;
                self.check_held(t, iteration - 1, scale, contacts)?;
                self.impulse.fill(0.0);
                let mut impulse = std::mem::take(&mut self.impulse);
                for k in 0..self.rows {
                    let (rows, i, gradients) = self.row(k, contacts, false);
                    rows.add_row(i, gradients, self.nu[k], &mut impulse);
                }
                self.impulse = impulse;
                return self.check_finite(t).map(|()| iteration - 1);
            }
            self.newton_step((q, p, t), h, contacts)
                .map_err(|error| self.failure(t, &error, contacts))?;
            let n = self.x.len();
            course.stepped(norm_inf(&self.step[..n]));
            for (x, d) in self.x.iter_mut().zip(&self.step) {
                *x += d;
            }
            for (&i, nu) in self.kept.iter().zip(&self.step[n..]) {
                self.nu[i] = *nu;
            }
            if iteration == 1 {
                size = size.max(course.last());
            }
            if !course.last().is_finite() {
                self.check_finite(t)?;
            }
        }
        let (k, worst) = largest(&self.f[..self.rows]);
        let culprit = if worst > 0.0 {
            let (rows, i, _) = self.row(k, contacts, false);
            rows.name(i)
        } else {
            &self.system.names()[largest(&self.step[..self.x.len()]).0]
        };
        Err(StepError::NotConverged {
            t,
            what: "the position update",
            iterations: self.tolerances.iterations,
            residual: course.last(),
            culprit: culprit.to_owned(),
        })
    }

    /// Row `k` of those that press, where it began or at the trial end.
    fn row(&self, k: usize, contacts: &[usize], trial: bool) -> (&'a Rows, usize, &[f64]) {
        let equal = self.system.equalities().len();
        if k < equal {
            let gradients = if trial { &self.gradients } else { &self.start };
            return (self.system.equalities(), k, gradients);
        }
        let gradients = if trial { &self.gap_gradients } else { &self.gap_start };
        (self.system.inequalities(), contacts[k - equal], gradients)
    }

    /// Evaluates what presses at the trial end.
    fn values(&mut self, q: &[f64], t: f64, contacts: &[usize]) {
        let (rows, gaps) = (self.system.equalities(), self.system.inequalities());
        let (equal, unequal) = self.f.split_at_mut(rows.len());
        rows.values_over(q, &self.x, t, equal);
        for (f, &i) in unequal.iter_mut().zip(contacts) {
            *f = gaps.value(i, &self.x, t);
        }
    }

    /// Writes Newton's step of $x$ and the new multipliers of the rows that are held.
    fn newton_step(
        &mut self,
        (q, p, t): (&[f64], &[f64], f64),
        h: f64,
        contacts: &[usize],
    ) -> Result<(), LinearError> {
        let (n, rows, gaps) = (self.x.len(), self.system.equalities(), self.system.inequalities());
        let all = n + self.kept.len();
        self.trial(q, t, h);
        let (step, momentum) = (&mut self.step[..all], &mut self.scratch);
        step.fill(0.0);
        self.matrix[..all * all].fill(0.0);
        // p̄ with its derivatives M/h by the velocity and ∂p/∂q by the place.
        let ends = [(q, 0.5, 0.0), (&self.x[..], 0.5, 1.0)];
        let middle = [(&self.middle[..], 1.0, 0.5)];
        let places = if self.quadrature == Quadrature::Midpoint { &middle[..] } else { &ends[..] };
        for &(place, weight, moves) in places {
            self.mass.momentum(place, &self.velocity, momentum);
            small::axpy(-weight, momentum, &mut step[..n]);
            self.mass.matrix(place, &mut self.block[..n * n]);
            add_block(n, all, weight / h, &self.block, &mut self.matrix);
            if moves != 0.0 {
                self.mass.momentum_by_position(place, &self.velocity, &mut self.block[..n * n]);
                add_block(n, all, weight * moves, &self.block, &mut self.matrix);
            }
        }
        for ((r, p), s) in step[..n].iter_mut().zip(p).zip(&self.left) {
            *r += p - 0.5 * h * s;
        }
        // ½h ∂s₀/∂q₁: by the place where the midpoint is meant, and by the velocity.
        let (place, time, by_place) = match self.quadrature {
            Quadrature::Midpoint => (&self.middle[..], t + 0.5 * h, 0.25 * h),
            Quadrature::Verlet => (q, t, 0.0),
        };
        self.loads.stiffness((place, &self.velocity, time), (by_place, 0.5), &mut self.stiffness);
        for (&(i, j), k) in self.pattern.iter().zip(&self.stiffness) {
            self.matrix[i * all + j] += k;
        }
        if by_place != 0.0 {
            self.mass.slope_by_position(place, &self.velocity, &mut self.block[..n * n]);
            add_block(n, all, -by_place, &self.block, &mut self.matrix);
        }
        self.mass.momentum_by_position(place, &self.velocity, &mut self.block[..n * n]);
        for i in 0..n {
            for j in 0..n {
                self.matrix[i * all + j] -= 0.5 * self.block[j * n + i];
            }
        }
        rows.gradients(&self.x, t + h, &mut self.gradients);
        for &i in rows.rolling() {
            let k = rows.columns(i).len();
            let (row, block) = (&mut self.gradients[rows.span(i)], &mut self.block[..k * k]);
            rows::slope_over(rows.field(i), (q, &self.x), t + h, row, block);
        }
        for &i in contacts {
            gaps.field(i).gradient(&self.x, t + h, &mut self.gap_gradients[gaps.span(i)]);
        }
        for k in 0..self.kept.len() {
            let mut matrix = std::mem::take(&mut self.matrix);
            let (rows, i, start) = self.row(self.kept[k], contacts, false);
            let (_, _, end) = self.row(self.kept[k], contacts, true);
            let entries = start[rows.span(i)].iter().zip(&end[rows.span(i)]);
            for (&c, (a, b)) in rows.columns(i).iter().zip(entries) {
                matrix[c * all + n + k] = -a;
                matrix[(n + k) * all + c] = *b;
            }
            self.matrix = matrix;
            self.step[n + k] = -self.f[self.kept[k]];
        }
        let step = &mut self.step[..all];
        let (matrix, pivots) = (&mut self.matrix[..all * all], &mut self.pivots[..all]);
        lu::factor(all, matrix, pivots, small::tolerance(all))?;
        lu::solve(all, matrix, pivots, step)
    }

    /// Evaluates $v_h$, $m$ and $s_0$ at the trial end.
    fn trial(&mut self, q: &[f64], t: f64, h: f64) {
        for (i, (a, b)) in q.iter().zip(&self.x).enumerate() {
            self.velocity[i] = (b - a) / h;
            self.middle[i] = 0.5 * (a + b);
        }
        let (place, time) = match self.quadrature {
            Quadrature::Midpoint => (&self.middle[..], t + 0.5 * h),
            Quadrature::Verlet => (q, t),
        };
        slope(
            (&mut self.loads, self.mass),
            (place, &self.velocity, time),
            &mut self.scratch,
            &mut self.left,
        );
    }

    /// Forms the new momentum after the position, tangent to the equalities and to `touching`, and its velocity; the motion that it ends
    /// with must be finite.
    pub(crate) fn advance_momentum(
        &mut self,
        (q, p, t): (&[f64], &[f64], f64),
        h: f64,
        touching: &[usize],
    ) -> Result<(), StepError> {
        self.trial(q, t, h);
        match self.quadrature {
            Quadrature::Midpoint => self.right.copy_from_slice(&self.left),
            Quadrature::Verlet => {
                let at = (&self.x[..], &self.velocity[..], t + h);
                slope((&mut self.loads, self.mass), at, &mut self.scratch, &mut self.right);
            }
        }
        let slopes = self.left.iter().zip(&self.right);
        for ((new, (p, impulse)), (a, b)) in
            self.p.iter_mut().zip(p.iter().zip(&self.impulse)).zip(slopes)
        {
            *new = p + impulse - 0.5 * h * (a + b);
        }
        self.held.place(&self.x, t + h, touching)?;
        self.held.project(t + h, &mut self.p)?;
        self.check_turn(t)?;
        self.system.check_motion(t, t + h, &self.x, &self.held.velocity)
    }

    /// Refuses the far side of a curved constraint, as with a constant mass.
    fn check_turn(&self, t: f64) -> Result<(), StepError> {
        let rows = self.system.equalities();
        for i in 0..rows.len() {
            let (a, b) = (&self.start[rows.span(i)], &self.held.gradients[rows.span(i)]);
            let along = small::dot(a, b);
            if along < self.turn * (small::dot(a, a) * small::dot(b, b)).sqrt() {
                return Err(StepError::NotConverged {
                    t,
                    what: "the position update, in which a constraint turns too far,",
                    iterations: 0,
                    residual: along,
                    culprit: rows.name(i).to_owned(),
                });
            }
        }
        Ok(())
    }

    /// Makes a momentum at a configuration tangent to the equalities and to `contacts`.
    pub(crate) fn project(
        &mut self,
        (q, t): (&[f64], f64),
        contacts: &[usize],
        p: &mut [f64],
    ) -> Result<(), StepError> {
        self.held.place(q, t, contacts)?;
        self.held.project(t, p)
    }

    /// Writes the $v_h$ of a $\bar p$ over the last step, which began at `q`: by the mass, not by the difference of positions.
    pub(crate) fn mean_velocity(
        &mut self,
        (q, t): (&[f64], f64),
        momentum: &[f64],
        v: &mut [f64],
    ) -> Result<(), StepError> {
        let n = self.x.len();
        let block = &mut self.block[..n * n];
        match self.quadrature {
            Quadrature::Midpoint => {
                for (m, (a, b)) in self.middle.iter_mut().zip(q.iter().zip(&self.x)) {
                    *m = 0.5 * (a + b);
                }
                self.mass.matrix(&self.middle, block);
            }
            Quadrature::Verlet => {
                let other = &mut self.matrix[..n * n];
                self.mass.matrix(q, block);
                self.mass.matrix(&self.x, other);
                block.iter_mut().zip(other).for_each(|(a, b)| *a = 0.5 * (*a + *b));
            }
        }
        self.mean.renew(block).map_err(|pivot| StepError::Singular {
            t,
            what: "the mass, by the kinetic energy,",
            culprit: self.system.names()[pivot].clone(),
        })?;
        self.mean.solve(momentum, v);
        Ok(())
    }

    /// No step ends off what it holds, the rows among them that depend on others.
    fn check_held(
        &self,
        t: f64,
        iterations: usize,
        scale: f64,
        contacts: &[usize],
    ) -> Result<(), StepError> {
        for (k, f) in self.f[..self.rows].iter().enumerate() {
            let (rows, i, gradients) = self.row(k, contacts, false);
            let slope: f64 = gradients[rows.span(i)].iter().map(|g| g.abs()).sum();
            let residual = f.abs() / (slope * scale).max(f64::MIN_POSITIVE);
            if residual > crate::shared::position::HELD {
                let culprit = rows.name(i).to_owned();
                let what = "the position update";
                return Err(StepError::NotConverged { t, what, iterations, residual, culprit });
            }
        }
        Ok(())
    }

    fn check_finite(&self, t: f64) -> Result<(), StepError> {
        if all_finite(&self.x) {
            return Ok(());
        }
        let i = self.x.iter().position(|x| !x.is_finite()).unwrap_or(0);
        Err(StepError::NotFinite { t, what: "position", culprit: self.system.names()[i].clone() })
    }

    fn failure(&self, t: f64, error: &LinearError, contacts: &[usize]) -> StepError {
        let names = self.system.names();
        if let LinearError::Singular { pivot, .. } = *error {
            let row = |k: usize| {
                let (rows, i, _) = self.row(*self.kept.get(k)?, contacts, false);
                Some(rows.name(i).to_owned())
            };
            let culprit = names.get(pivot).cloned().or_else(|| row(pivot - names.len()));
            let what = "the matrix of the position update";
            return StepError::Singular { t, what, culprit: culprit.unwrap_or_default() };
        }
        let culprit = names[largest(&self.step[..names.len()]).0].clone();
        StepError::NotFinite { t, what: "the equation of motion", culprit }
    }
}

/// Writes $s = \nabla V - f - \partial T/\partial q$.
fn slope(
    (loads, mass): (&mut Loads<'_>, &dyn VariableMass),
    (q, v, t): (&[f64], &[f64], f64),
    scratch: &mut [f64],
    out: &mut [f64],
) {
    loads.slope(q, v, t, out);
    mass.slope(q, v, scratch);
    small::axpy(-1.0, scratch, out);
}

/// Adds an $n \times n$ block to the front of a matrix with `all` columns.
fn add_block(n: usize, all: usize, weight: f64, block: &[f64], matrix: &mut [f64]) {
    for (row, entries) in matrix.chunks_exact_mut(all).zip(block.chunks_exact(n)).take(n) {
        small::axpy(weight, entries, &mut row[..n]);
    }
}
