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
use nsm_solvers::kkt::{Kkt, KktPattern};
use nsm_solvers::small::norm_inf;

use super::NullSpace;
use super::chart::failure;
use super::congruence::{Congruence, RowPattern};
use crate::Tolerances;
use crate::conserving::check_position;
use crate::kernel::check_state;
use crate::lagrangian::DiscreteLagrangian;
use crate::position::largest;
use crate::tolerances::CONTRACTS;

/// $|G P|$ above this share of $|G|$ and $|P|$ means that a reparametrisation leaves the constraints.
const TANGENT: f64 = 1e-8;

/// [`NullSpace`] bound to a system and a reparametrisation of its constraints.
pub struct ReparametrisedStepper<'a> {
    system: &'a System,
    tolerances: Tolerances,
    h: f64,
    lagrangian: DiscreteLagrangian<'a>,
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
    x: Vec<f64>,
    /// Increments; kept as the guess of the next step.
    u: Vec<f64>,
    zero: Vec<f64>,
    reduced: Vec<f64>,
    r: Vec<f64>,
    scratch: Vec<f64>,
    p: Vec<f64>,
    v: Vec<f64>,
    node: Vec<f64>,
    f: Vec<f64>,
    /// $h\\,G^\top\lambda$ at the node where the last step began, and that node.
    pull: Vec<f64>,
    origin: (Vec<f64>, f64),
    /// $D_2 L_d$ of the last step before it was projected, and where that step ended.
    raw: Vec<f64>,
    left: (Vec<f64>, Vec<f64>),
    events: Events,
}

impl std::fmt::Debug for ReparametrisedStepper<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReparametrisedStepper")
            .field("h", &self.h)
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
        let lagrangian = DiscreteLagrangian::new(system, method.quadrature);
        let entries = system.mass().entries();
        let mut inner: Vec<(usize, usize)> = entries.iter().map(|e| (e.0, e.1)).collect();
        let solver = |inner: &[(usize, usize)]| {
            Congruence::new(inner, &pattern, freedoms).map_err(|error| misfit(error.to_string()))
        };
        let inertia = solver(&inner)?;
        let stiffness = lagrangian.loads.stiffness_pattern();
        inner.extend_from_slice(&stiffness);
        let matrix = solver(&inner)?;
        let zero = vec![0.0; n];
        Ok(Self {
            system,
            tolerances: method.tolerances,
            h: method.step,
            lagrangian,
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
            x: zero.clone(),
            u: vec![0.0; freedoms],
            zero: vec![0.0; freedoms],
            reduced: vec![0.0; freedoms],
            r: zero.clone(),
            scratch: zero.clone(),
            p: zero.clone(),
            v: zero.clone(),
            node: zero.clone(),
            f: vec![0.0; system.equalities().len()],
            pull: zero.clone(),
            origin: (zero.clone(), f64::NAN),
            raw: zero.clone(),
            left: (vec![f64::NAN; n], zero),
            events: Events::default(),
        })
    }

    /// Multipliers $\lambda_k$ at the node where the last step began (\[LMO\] (38), (47)), of least norm where
    /// constraints are redundant. They are worked out on demand: a step does not need them.
    ///
    /// # Errors
    /// Before the first step, or where the gradients are not finite.
    pub fn multipliers(&self) -> Result<Vec<f64>, SystemError> {
        let misfit = |error: LinearError| SystemError::DoesNotFit {
            method: "the recovery of multipliers",
            why: error.to_string(),
        };
        if self.origin.1.is_nan() {
            return Err(misfit(LinearError::NotFactorised));
        }
        let mut rows =
            independent_rows(self.system, &self.origin.0, self.origin.1).map_err(misfit)?;
        let (zero, mut rest) = (vec![0.0; self.f.len()], vec![0.0; self.pull.len()]);
        let mut lambda = zero.clone();
        rows.solve(&self.pull, &zero, &mut rest, &mut lambda).map_err(misfit)?;
        Ok(lambda)
    }

    /// The momentum $p_k = \tfrac12(D_2 L_d(q_{k-1}, q_k) - D_1 L_d(q_k, q_{k+1}))$ at that node, which \[LMO\] (34), (35) define; at the
    /// start it is $p(0)$.
    pub fn node_momentum(&self) -> &[f64] {
        &self.node
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

    /// Checks a state that no step has led to: position, tangents and number of freedoms.
    fn check_node(&mut self, state: &State) -> Result<(), StepError> {
        let t = state.t;
        check_position(self.system, (&state.q, t), &mut self.f)?;
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
        let (mut unit, mut motion) = (vec![0.0; self.freedoms], vec![0.0; state.q.len()]);
        for a in 0..self.freedoms {
            unit[a] = 1.0;
            self.pattern.multiply(&self.basis, &unit, &mut motion);
            unit[a] = 0.0;
            for i in 0..rows.len() {
                let rate = rows.row_dot(i, &gradients, &motion);
                let scale = norm_inf(&gradients[rows.span(i)]) * norm_inf(&motion);
                if rate.is_nan() || rate.abs() > TANGENT * scale {
                    return refuse(format!(
                        "freedom {a} of its reparametrisation leaves the constraint `{}`",
                        rows.name(i)
                    ));
                }
            }
        }
        Ok(())
    }

    /// Evaluates $r$ at the trial `x`.
    fn evaluate(&mut self, (q, p, t): (&[f64], &[f64], f64)) {
        let h = self.h;
        self.lagrangian.slopes_left(q, &self.x, t, h);
        for ((v, x), q) in self.scratch.iter_mut().zip(&self.x).zip(q) {
            *v = (x - q) / h;
        }
        self.system.mass().multiply(&self.scratch, &mut self.r);
        for ((r, p), s) in self.r.iter_mut().zip(p).zip(&self.lagrangian.left) {
            *r += 0.5 * h * s - p;
        }
    }

    fn place(&mut self, q: &[f64], t: f64) -> Result<(), StepError> {
        self.chart
            .place(&self.u, q, &mut self.x)
            .map_err(|error| StepError::Method { t, source: Box::new(error) })
    }

    /// Solves for the increment; returns the iterations and Newton's last step.
    fn solve(&mut self, start: (&[f64], &[f64], f64)) -> Result<(usize, f64), StepError> {
        let (q, _, t) = start;
        self.place(q, t)?;
        let (mut last, mut fresh) = (f64::INFINITY, true);
        let mut scale = norm_inf(q).max(norm_inf(&self.x)).max(f64::MIN_POSITIVE);
        for iteration in 1..=self.tolerances.iterations {
            self.evaluate(start);
            if fresh {
                self.evaluate_tangent(q, t, false)?;
                self.factorise(q, t).map_err(|error| failure(self.system, t, error))?;
            }
            let before = last;
            last = self.newton_step().map_err(|error| failure(self.system, t, error))?;
            if !last.is_finite() {
                let culprit = self.system.names()[largest(&self.r).0].clone();
                return Err(StepError::NotFinite { t, what: "the equation of motion", culprit });
            }
            self.place(q, t)?;
            scale = scale.max(norm_inf(&self.x));
            if self.tolerances.ends(fresh, before, last, scale) {
                self.evaluate(start);
                check_position(self.system, (&self.x, t + self.h), &mut self.f)?;
                return Ok((iteration, last / scale));
            }
            fresh = iteration > 1 && last > CONTRACTS * before;
        }
        Err(StepError::NotConverged {
            t,
            what: "the null space step",
            iterations: self.tolerances.iterations,
            residual: last,
            culprit: self.system.names()[largest(&self.r).0].clone(),
        })
    }

    /// Forms and factorises Newton's matrix at the trial `x`.
    fn factorise(&mut self, q: &[f64], t: f64) -> Result<(), LinearError> {
        let h = self.h;
        self.lagrangian.stiffness(q, t, h, &mut self.stiffness);
        // Times h: the matrix then does not depend on h as h goes to zero.
        let stiffness = self.stiffness.iter().map(|k| h * k);
        self.matrix.set(self.mass.iter().copied().chain(stiffness));
        self.matrix.factorise(&self.pattern, &self.basis, &self.tangent)
    }

    /// One step of the increment with the last matrix; returns its size in coordinates.
    fn newton_step(&mut self) -> Result<f64, LinearError> {
        self.pattern.multiply_transposed(&self.basis, &self.r, &mut self.reduced);
        self.reduced.iter_mut().for_each(|b| *b *= -self.h);
        self.matrix.solve(&mut self.reduced)?;
        for (u, d) in self.u.iter_mut().zip(&self.reduced) {
            *u += d;
        }
        self.pattern.multiply(&self.tangent, &self.reduced, &mut self.scratch);
        Ok(norm_inf(&self.scratch))
    }

    /// Recovers the constraint forces at the node where the step began, then the new velocity and momentum.
    fn finish(&mut self, state: &State) -> Result<(), StepError> {
        let (h, t) = (self.h, state.t);
        let fail = |error| failure(self.system, t, error);
        // Newton leaves round-off in the tangent part of r, which the equations say is zero.
        self.pattern.multiply_transposed(&self.basis, &self.r, &mut self.reduced);
        self.inertia.solve(&mut self.reduced).map_err(fail)?;
        self.pattern.multiply(&self.basis, &self.reduced, &mut self.v);
        self.system.mass().multiply(&self.v, &mut self.scratch);
        for (r, m) in self.r.iter_mut().zip(&self.scratch) {
            *r -= m;
        }
        let continues = self.left.0 == state.q && self.left.1 == state.p;
        for i in 0..self.r.len() {
            let (p, r) = (state.p[i], self.r[i]);
            // D₂L_d(k−1, k) + D₁L_d(k, k+1), with −D₁L_d = p + r; at the start (47).
            let before = if continues { self.raw[i] } else { p - r };
            self.pull[i] = (before - p - r) / h;
            self.node[i] = 0.5 * (before + p + r);
        }
        self.origin.0.copy_from_slice(&state.q);
        self.origin.1 = t;
        self.lagrangian.slopes_right(&self.x, t, h);
        let (left, right) = (&self.lagrangian.left, &self.lagrangian.right);
        for (i, p) in self.p.iter_mut().enumerate() {
            *p = state.p[i] + self.r[i] - 0.5 * h * (left[i] + right[i]);
        }
        self.raw.copy_from_slice(&self.p);
        let x = std::mem::take(&mut self.x);
        let entered = self.enter(&x, t + h);
        self.x = x;
        entered?;
        // v = P(PᵀMP)⁻¹Pᵀp, p ← Mv.
        self.pattern.multiply_transposed(&self.basis, &self.p, &mut self.reduced);
        self.inertia.solve(&mut self.reduced).map_err(fail)?;
        self.pattern.multiply(&self.basis, &self.reduced, &mut self.v);
        self.system.mass().multiply(&self.v, &mut self.p);
        Ok(())
    }

    /// Nothing of a failed step may reach the next one.
    fn forget(&mut self) {
        self.left.0.fill(f64::NAN);
        self.u.fill(0.0);
    }
}

/// The rows of $G$ at a configuration with their rank, ready for $\min_\lambda |G^\top\lambda - f|$.
fn independent_rows(system: &System, q: &[f64], t: f64) -> Result<Kkt, LinearError> {
    let rows = system.equalities();
    let gradients: Vec<(usize, usize)> =
        (0..rows.len()).flat_map(|i| rows.columns(i).iter().map(move |&c| (i, c))).collect();
    let (unknowns, block) = (system.dimension(), &[][..]);
    let pattern =
        KktPattern { unknowns, rows: rows.len(), block, gradients: &gradients, symmetric: true };
    let mut kkt = Kkt::new(&pattern)?;
    kkt.set_block(&vec![1.0; unknowns])?;
    let mut values = vec![0.0; rows.entries()];
    rows.gradients(q, t, &mut values);
    kkt.factorise(&values, &[], &[])?;
    Ok(kkt)
}

impl Stepper for ReparametrisedStepper<'_> {
    type State = State;

    fn step(&mut self, state: &mut State) -> Result<StepReport, StepError> {
        check_state(self.system, state)?;
        let (h, t) = (self.h, state.t);
        if self.left.0 != state.q {
            let entered = self
                .evaluate_tangent(&state.q, t, true)
                .and_then(|()| self.check_node(state))
                .and_then(|()| self.enter(&state.q, t));
            if let Err(error) = entered {
                self.forget();
                return Err(error);
            }
        }
        let outcome = self
            .solve((&state.q, &state.p, t))
            .and_then(|solved| self.finish(state).map(|()| solved));
        let (iterations, residual) = match outcome {
            Ok(solved) => solved,
            Err(error) => {
                self.forget();
                return Err(error);
            }
        };
        if let Some(i) = self.p.iter().chain(&self.x).position(|p| !p.is_finite()) {
            let culprit = self.system.names()[i % self.p.len()].clone();
            self.forget();
            return Err(StepError::NotFinite { t, what: "momentum", culprit });
        }
        state.t = t + h;
        state.q.copy_from_slice(&self.x);
        state.p.copy_from_slice(&self.p);
        state.v.copy_from_slice(&self.v);
        self.lagrangian.accept(&state.q, state.t);
        self.left.0.copy_from_slice(&state.q);
        self.left.1.copy_from_slice(&state.p);
        Ok(StepReport { iterations, residual, ..StepReport::default() })
    }

    fn step_size(&self) -> f64 {
        self.h
    }

    fn events(&self) -> &Events {
        &self.events
    }
}
