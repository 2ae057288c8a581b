//! Steps in the freedoms of a given reparametrisation, without dense algebra in the coordinates.
//!
//! The null space matrix is the tangent of the reparametrisation at zero, $P(q) = \partial F_d/\partial u(0, q)$, and Newton
//! solves \[LMO\] (28) for the increment $u$ with the matrix
//! $$ P^\top(q_k)\\;\frac{\partial r}{\partial q_{k+1}}\\;\frac{\partial F_d}{\partial u}(u, q_k), \qquad
//!    r = \tfrac1h M (q_{k+1} - q_k) + \tfrac h2 s_0 - p_k , $$
//! whose size is the number of freedoms and whose pattern follows from that of $P$: the cost of a step is
//! linear in the elements of a beam.

use nsm_constraints::Reparametrisation;
use nsm_model::{Events, State, StepError, StepReport, Stepper, System, SystemError};
use nsm_solvers::LinearError;
use nsm_solvers::small::norm_inf;

use super::NullSpace;
use super::congruence::{Congruence, RowPattern};
use super::nodes::{Nodes, failure, independent_rows};
use crate::Tolerances;
use crate::methods::conserving::check_position;
use crate::shared::position::largest;

/// $|G P|$ above this share of $|G|$ and $|P|$ means that a reparametrisation leaves the constraints.
const TANGENT: f64 = 1e-8;

/// [`NullSpace`] bound to a system and a reparametrisation of its constraints.
pub struct ReparametrisedStepper<'a> {
    system: &'a System,
    tolerances: Tolerances,
    nodes: Nodes<'a>,
    chart: Box<dyn Reparametrisation + 'a>,
    freedoms: usize,
    pattern: RowPattern,
    /// Place of every value of the tangent in the rows of its pattern.
    places: Vec<usize>,
    values: Vec<f64>,
    /// $P(q_k)$ and $\partial F_d/\partial u$ at the trial, in rows.
    basis: Vec<f64>,
    tangent: Vec<f64>,
    mass: Vec<f64>,
    stiffness: Vec<f64>,
    matrix: Congruence,
    /// $P^\top M P$ at the node where `basis` was evaluated.
    inertia: Congruence,
    /// Increments; kept as the guess of the next step.
    u: Vec<f64>,
    zero: Vec<f64>,
    reduced: Vec<f64>,
}

impl std::fmt::Debug for ReparametrisedStepper<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReparametrisedStepper")
            .field("h", &self.nodes.h)
            .field("freedoms", &self.freedoms)
            .finish_non_exhaustive()
    }
}

impl<'a> ReparametrisedStepper<'a> {
    pub(super) fn new(
        system: &'a System,
        method: &NullSpace,
        chart: Box<dyn Reparametrisation + 'a>,
    ) -> Result<Self, SystemError> {
        let (n, freedoms) = (system.dimension(), chart.freedoms());
        let given = chart
            .pattern()
            .unwrap_or_else(|| (0..n).flat_map(|i| (0..freedoms).map(move |a| (i, a))).collect());
        let misfit = |why: String| SystemError::DoesNotFit { method: "null space", why };
        if let Some((i, a)) = given.iter().find(|(i, a)| *i >= n || *a >= freedoms) {
            return Err(misfit(format!(
                "its reparametrisation has an entry ({i}, {a}) of {n} coordinates and {freedoms} freedoms"
            )));
        }
        let (pattern, places) = RowPattern::new(n, &given);
        let nodes = Nodes::new(system, method);
        let entries = system.mass().entries();
        let mut inner: Vec<(usize, usize)> = entries.iter().map(|e| (e.0, e.1)).collect();
        let solver = |inner: &[(usize, usize)]| {
            Congruence::new(inner, &pattern, freedoms).map_err(|error| misfit(error.to_string()))
        };
        let inertia = solver(&inner)?;
        let stiffness = nodes.lagrangian.loads.stiffness_pattern();
        inner.extend_from_slice(&stiffness);
        let matrix = solver(&inner)?;
        Ok(Self {
            system,
            tolerances: method.tolerances,
            nodes,
            chart,
            freedoms,
            values: vec![0.0; given.len()],
            basis: vec![0.0; pattern.len()],
            tangent: vec![0.0; pattern.len()],
            pattern,
            places,
            mass: entries.iter().map(|e| e.2).collect(),
            stiffness: vec![0.0; stiffness.len()],
            matrix,
            inertia,
            u: vec![0.0; freedoms],
            zero: vec![0.0; freedoms],
            reduced: vec![0.0; freedoms],
        })
    }

    /// Multipliers $\lambda_k$ at the node where the last step began (\[LMO\] (38), (47)), of least norm where
    /// constraints are redundant. They are worked out on demand: a step does not need them.
    ///
    /// # Errors
    /// Before the first step, or where the gradients are not finite.
    pub fn multipliers(&self) -> Result<Vec<f64>, SystemError> {
        self.nodes.multipliers()
    }

    /// The momentum $p_k = \tfrac12(D_2 L_d(q_{k-1}, q_k) - D_1 L_d(q_k, q_{k+1}))$ at that node, which \[LMO\] (34), (35) define; at the
    /// start it is $p(0)$.
    pub fn node_momentum(&self) -> &[f64] {
        &self.nodes.momentum
    }

    /// Number of freedoms.
    pub fn freedoms(&self) -> usize {
        self.freedoms
    }

    /// Evaluates $\partial F_d/\partial u$ at $u$ from `q`, in rows: into `basis` for $u = 0$.
    fn evaluate_tangent(&mut self, q: &[f64], t: f64, at_zero: bool) -> Result<(), StepError> {
        let (u, out) =
            if at_zero { (&self.zero, &mut self.basis) } else { (&self.u, &mut self.tangent) };
        self.chart
            .tangent(u, q, &mut self.values)
            .map_err(|error| StepError::Method { t, source: Box::new(error) })?;
        out.fill(0.0);
        for (&place, value) in self.places.iter().zip(&self.values) {
            out[place] += value;
        }
        Ok(())
    }

    /// Evaluates $P$ and factorises $P^\top M P$ at a node.
    fn enter(&mut self, q: &[f64], t: f64) -> Result<(), StepError> {
        self.evaluate_tangent(q, t, true)?;
        self.inertia.set(self.mass.iter().copied());
        self.inertia.factorise(&self.pattern, &self.basis, &self.basis).map_err(|error| {
            match failure(self.system, t, error) {
                StepError::Singular { t, .. } => StepError::Singular {
                    t,
                    what: "the inertia of the freedoms",
                    culprit: self.idle_freedom(),
                },
                other => other,
            }
        })
    }

    /// Names the coordinate that moves most in the freedom with the least inertia.
    fn idle_freedom(&self) -> String {
        let mut unit = vec![0.0; self.freedoms];
        let (mut motion, mut least) = (vec![0.0; self.system.dimension()], (f64::INFINITY, 0));
        for a in 0..self.freedoms {
            unit[a] = 1.0;
            self.pattern.multiply(&self.basis, &unit, &mut motion);
            unit[a] = 0.0;
            let size = norm_inf(&motion);
            let energy = self.system.mass().kinetic_energy(&motion) / (size * size);
            if energy.is_nan() || energy < least.0 {
                least = (energy, largest(&motion).0);
            }
        }
        self.system.names()[least.1].clone()
    }

    /// Makes ready at a state that no step has led to.
    fn arrive(&mut self, state: &State) -> Result<(), StepError> {
        if !self.nodes.is_new(state) {
            return Ok(());
        }
        self.evaluate_tangent(&state.q, state.t, true)?;
        self.check_node(state)?;
        self.enter(&state.q, state.t)
    }

    /// Checks a state that no step has led to: position, tangents and number of freedoms.
    fn check_node(&mut self, state: &State) -> Result<(), StepError> {
        let t = state.t;
        check_position(self.system, (&state.q, t), &mut self.nodes.f)?;
        let refuse = |why: String| {
            let source = Box::new(SystemError::DoesNotFit { method: "null space", why });
            Err(StepError::Method { t, source })
        };
        let rows = self.system.equalities();
        let rank = independent_rows(self.system, &state.q, t)
            .map_err(|error| failure(self.system, t, error))?
            .rank();
        let allowed = state.q.len() - rank;
        if allowed != self.freedoms {
            return refuse(format!(
                "its reparametrisation has {} freedoms, the constraints leave {allowed}",
                self.freedoms
            ));
        }
        let mut gradients = vec![0.0; rows.entries()];
        rows.gradients(&state.q, t, &mut gradients);
        // Largest entry of every column of P; then G P, row by row, where it has entries.
        let mut largest = vec![0.0_f64; self.freedoms];
        for c in 0..state.q.len() {
            for (a, p) in self.pattern.row(c, &self.basis) {
                largest[a] = largest[a].max(p.abs());
            }
        }
        let (mut rates, mut touched) = (vec![0.0; self.freedoms], Vec::new());
        for i in 0..rows.len() {
            for (&c, g) in rows.columns(i).iter().zip(&gradients[rows.span(i)]) {
                for (a, p) in self.pattern.row(c, &self.basis) {
                    rates[a] += g * p;
                    touched.push(a);
                }
            }
            let gradient = norm_inf(&gradients[rows.span(i)]);
            for a in touched.drain(..) {
                let rate = std::mem::take(&mut rates[a]);
                if rate.is_nan() || rate.abs() > TANGENT * gradient * largest[a] {
                    return refuse(format!(
                        "freedom {a} of its reparametrisation leaves the constraint `{}`",
                        rows.name(i)
                    ));
                }
            }
        }
        Ok(())
    }

    fn place(&mut self, q: &[f64], t: f64) -> Result<(), StepError> {
        self.chart
            .place(&self.u, q, &mut self.nodes.x)
            .map_err(|error| StepError::Method { t, source: Box::new(error) })
    }

    /// Solves for the increment; returns the iterations and Newton's last step.
    fn solve(&mut self, start: (&[f64], &[f64], f64)) -> Result<(usize, f64), StepError> {
        let (q, _, t) = start;
        self.place(q, t)?;
        let mut course = self.tolerances.chord();
        let mut scale = norm_inf(q).max(norm_inf(&self.nodes.x)).max(f64::MIN_POSITIVE);
        for iteration in 1..=self.tolerances.iterations {
            self.nodes.evaluate(start);
            if course.wants_matrix() {
                self.evaluate_tangent(q, t, false)?;
                self.factorise(q, t).map_err(|error| failure(self.system, t, error))?;
            }
            let size = self.newton_step().map_err(|error| failure(self.system, t, error))?;
            course.stepped(size);
            if !size.is_finite() {
                return Err(self.nodes.diverged(t));
            }
            self.place(q, t)?;
            scale = scale.max(norm_inf(&self.nodes.x));
            if course.ends(scale) {
                self.nodes.evaluate(start);
                check_position(self.system, (&self.nodes.x, t + self.nodes.h), &mut self.nodes.f)?;
                return Ok((iteration, size / scale));
            }
        }
        Err(self.nodes.unsolved(t, self.tolerances.iterations, course.last()))
    }

    /// Forms and factorises Newton's matrix at the trial `x`.
    fn factorise(&mut self, q: &[f64], t: f64) -> Result<(), LinearError> {
        let h = self.nodes.h;
        self.nodes.lagrangian.stiffness(q, t, h, &mut self.stiffness);
        // Times h: the matrix then does not depend on h as h goes to zero.
        let stiffness = self.stiffness.iter().map(|k| h * k);
        self.matrix.set(self.mass.iter().copied().chain(stiffness));
        self.matrix.factorise(&self.pattern, &self.basis, &self.tangent)
    }

    /// One step of the increment with the last matrix; returns its size in coordinates.
    fn newton_step(&mut self) -> Result<f64, LinearError> {
        self.pattern.multiply_transposed(&self.basis, &self.nodes.r, &mut self.reduced);
        self.reduced.iter_mut().for_each(|b| *b *= -self.nodes.h);
        self.matrix.solve(&mut self.reduced)?;
        for (u, d) in self.u.iter_mut().zip(&self.reduced) {
            *u += d;
        }
        self.pattern.multiply(&self.tangent, &self.reduced, &mut self.nodes.scratch);
        Ok(norm_inf(&self.nodes.scratch))
    }

    /// Recovers the constraint forces at the node where the step began, then the new velocity and momentum.
    fn finish(&mut self, state: &State) -> Result<(), StepError> {
        let (h, t) = (self.nodes.h, state.t);
        let fail = |error| failure(self.system, t, error);
        // Newton leaves round-off in the tangent part of r, which the equations say is zero.
        self.pattern.multiply_transposed(&self.basis, &self.nodes.r, &mut self.reduced);
        self.inertia.solve(&mut self.reduced).map_err(fail)?;
        self.pattern.multiply(&self.basis, &self.reduced, &mut self.nodes.v);
        self.system.mass().multiply(&self.nodes.v, &mut self.nodes.scratch);
        for (r, m) in self.nodes.r.iter_mut().zip(&self.nodes.scratch) {
            *r -= m;
        }
        self.nodes.recover(state);
        let x = std::mem::take(&mut self.nodes.x);
        let entered = self.enter(&x, t + h);
        self.nodes.x = x;
        entered?;
        // v = P(PᵀMP)⁻¹Pᵀp, p ← Mv.
        self.pattern.multiply_transposed(&self.basis, &self.nodes.p, &mut self.reduced);
        self.inertia.solve(&mut self.reduced).map_err(fail)?;
        self.pattern.multiply(&self.basis, &self.reduced, &mut self.nodes.v);
        self.system.mass().multiply(&self.nodes.v, &mut self.nodes.p);
        Ok(())
    }
}

impl Stepper for ReparametrisedStepper<'_> {
    type State = State;

    fn step(&mut self, state: &mut State) -> Result<StepReport, StepError> {
        self.system.check_lengths(state)?;
        let outcome = self
            .arrive(state)
            .and_then(|()| self.solve((&state.q, &state.p, state.t)))
            .and_then(|solved| self.finish(state).map(|()| solved))
            .and_then(|solved| self.nodes.commit(state).map(|()| solved));
        match outcome {
            Ok((iterations, residual)) => {
                Ok(StepReport { iterations, residual, ..StepReport::default() })
            }
            Err(error) => {
                self.nodes.forget();
                self.u.fill(0.0);
                Err(error)
            }
        }
    }

    fn step_size(&self) -> f64 {
        self.nodes.h
    }

    fn events(&self) -> &Events {
        &self.nodes.events
    }
}
