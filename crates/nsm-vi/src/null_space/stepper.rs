//! A step of the null space method: the equations, Newton on them, and what is recovered afterwards.

use nsm_model::{Events, State, StepError, StepReport, Stepper, System};
use nsm_solvers::small::{axpy, dot, lu, norm_inf};
use nsm_solvers::{LinearError, small};

use super::NullSpace;
use super::basis::NullBasis;
use super::chart::{NormalChart, failure};
use crate::Tolerances;
use crate::conserving::check_position;
use crate::kernel::check_state;
use crate::lagrangian::DiscreteLagrangian;
use crate::position::largest;

/// How the end of a step is parametrised.
pub(super) enum Chart<'a> {
    None,
    Normal(NormalChart<'a>),
}

/// [`NullSpace`] bound to a system.
pub struct NullSpaceStepper<'a> {
    system: &'a System,
    tolerances: Tolerances,
    h: f64,
    lagrangian: DiscreteLagrangian<'a>,
    mass: Vec<(usize, usize, f64)>,
    pattern: Vec<(usize, usize)>,
    stiffness: Vec<f64>,
    basis: NullBasis<'a>,
    chart: Chart<'a>,
    x: Vec<f64>,
    /// Increments; kept as the guess of the next step.
    u: Vec<f64>,
    /// $\partial F_d/\partial u$ transposed, one freedom a row.
    tangent: Vec<f64>,
    /// $r = M(x - q)/h + \tfrac h2 s_0 - p$: what the constraints must supply.
    r: Vec<f64>,
    rhs: Vec<f64>,
    scratch: Vec<f64>,
    full: Vec<f64>,
    matrix: Vec<f64>,
    pivots: Vec<usize>,
    f: Vec<f64>,
    end: Vec<f64>,
    p: Vec<f64>,
    v: Vec<f64>,
    node: Vec<f64>,
    multipliers: Vec<f64>,
    /// $D_2 L_d$ of the last step before it was projected, and where that step ended.
    raw: Vec<f64>,
    left: (Vec<f64>, Vec<f64>),
    events: Events,
}

impl std::fmt::Debug for NullSpaceStepper<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NullSpaceStepper").field("h", &self.h).finish_non_exhaustive()
    }
}

impl<'a> NullSpaceStepper<'a> {
    pub(super) fn new(system: &'a System, method: &NullSpace, chart: Chart<'a>) -> Self {
        let (n, rows) = (system.dimension(), system.equalities());
        let lagrangian = DiscreteLagrangian::new(system, method.quadrature);
        let pattern = lagrangian.loads.stiffness_pattern();
        let zero = vec![0.0; n];
        Self {
            system,
            tolerances: method.tolerances,
            h: method.step,
            stiffness: vec![0.0; pattern.len()],
            pattern,
            mass: system.mass().entries(),
            lagrangian,
            basis: NullBasis::new(system),
            chart,
            x: zero.clone(),
            u: zero.clone(),
            tangent: vec![0.0; n * n],
            r: zero.clone(),
            rhs: zero.clone(),
            scratch: zero.clone(),
            full: vec![0.0; n * n],
            matrix: vec![0.0; n * n],
            pivots: vec![0; n],
            f: vec![0.0; rows.len()],
            end: vec![0.0; rows.entries()],
            p: zero.clone(),
            v: zero.clone(),
            node: zero.clone(),
            multipliers: vec![0.0; rows.len()],
            raw: zero.clone(),
            left: (vec![f64::NAN; n], zero),
            events: Events::default(),
        }
    }

    /// Multipliers $\lambda_k$ at the node where the last step began (\[LMO\] (38), (47)).
    pub fn multipliers(&self) -> &[f64] {
        &self.multipliers
    }

    /// The momentum $p_k = \tfrac12(D_2 L_d(q_{k-1}, q_k) - D_1 L_d(q_k, q_{k+1}))$ at that node, which \[LMO\] (34), (35) define; at the
    /// start it is $p(0)$.
    pub fn node_momentum(&self) -> &[f64] {
        &self.node
    }

    /// Evaluates $r$ and the slope at the trial `x`.
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

    /// Forms $h\\,\partial r/\partial x$, dense.
    fn derivative(&mut self, q: &[f64], t: f64) {
        let (n, h) = (self.system.dimension(), self.h);
        self.full.fill(0.0);
        for &(i, j, value) in &self.mass {
            self.full[i * n + j] += value;
        }
        self.lagrangian.stiffness(q, t, h, &mut self.stiffness);
        for (&(i, j), value) in self.pattern.iter().zip(&self.stiffness) {
            self.full[i * n + j] += h * value;
        }
    }

    /// Solves for the end of the step, in `x`; returns the iterations and Newton's last step.
    fn solve(&mut self, start: (&[f64], &[f64], f64)) -> Result<(usize, f64), StepError> {
        let (q, _, t) = start;
        let fail = |error| failure(self.system, t, error);
        self.basis.evaluate(q, t).map_err(fail)?;
        let d = self.basis.freedoms();
        self.guess(start, d)?;
        let mut last = f64::INFINITY;
        let mut scale = norm_inf(q).max(norm_inf(&self.x)).max(f64::MIN_POSITIVE);
        for iteration in 1..=self.tolerances.iterations {
            self.evaluate(start);
            self.derivative(q, t);
            let size = match self.chart {
                Chart::None => self.configuration_step(t),
                Chart::Normal(_) => self.increment_step(t),
            }
            .map_err(|error| failure(self.system, t, error))?;
            let before = last;
            last = size;
            self.place(q, t)?;
            scale = scale.max(norm_inf(&self.x));
            if !last.is_finite() {
                let culprit = self.system.names()[largest(&self.r).0].clone();
                return Err(StepError::NotFinite { t, what: "the equation of motion", culprit });
            }
            if self.tolerances.is_converged(before, last, scale) {
                self.evaluate(start);
                return Ok((iteration, last / scale));
            }
        }
        Err(StepError::NotConverged {
            t,
            what: "the null space step",
            iterations: self.tolerances.iterations,
            residual: last,
            culprit: self.system.names()[largest(&self.r).0].clone(),
        })
    }

    /// The predictor: straight on, or the increment of the last step.
    fn guess(&mut self, (q, _, t): (&[f64], &[f64], f64), d: usize) -> Result<(), StepError> {
        for ((x, q), v) in self.x.iter_mut().zip(q).zip(&self.v) {
            *x = q + self.h * v;
        }
        match self.chart {
            Chart::None => Ok(()),
            Chart::Normal(_) => {
                for ((s, x), q) in self.scratch.iter_mut().zip(&self.x).zip(q) {
                    *s = x - q;
                }
                self.basis.reduce(&self.scratch, &mut self.u[..d]);
                self.place(q, t)
            }
        }
    }

    /// Writes $x = F_d(u, q)$ where there is a chart.
    fn place(&mut self, q: &[f64], t: f64) -> Result<(), StepError> {
        let d = self.basis.freedoms();
        match &mut self.chart {
            Chart::None => Ok(()),
            Chart::Normal(chart) => {
                chart.place(&self.basis, &self.u[..d], q, t + self.h, &mut self.x)
            }
        }
    }

    /// Newton on all coordinates; returns the size of the step.
    fn configuration_step(&mut self, t: f64) -> Result<f64, LinearError> {
        let (n, d) = (self.system.dimension(), self.basis.freedoms());
        let rows = self.system.equalities();
        rows.values(&self.x, t + self.h, &mut self.f);
        rows.gradients(&self.x, t + self.h, &mut self.end);
        self.matrix.fill(0.0);
        for (i, row) in self.basis.rows().enumerate() {
            let out = &mut self.matrix[i * n..(i + 1) * n];
            small::matvec_transposed_add(1.0, &self.full, row, out);
            self.rhs[i] = -self.h * dot(row, &self.r);
        }
        for (k, &i) in self.basis.independent().iter().enumerate() {
            let out = &mut self.matrix[(d + k) * n..(d + k + 1) * n];
            rows.add_row(i, &self.end, 1.0, out);
            self.rhs[d + k] = -self.f[i];
        }
        lu::factor(n, &mut self.matrix, &mut self.pivots, small::tolerance(n))?;
        lu::solve(n, &self.matrix, &self.pivots, &mut self.rhs)?;
        axpy(1.0, &self.rhs, &mut self.x);
        Ok(norm_inf(&self.rhs))
    }

    /// Newton on the increments; returns the size of the step in coordinates.
    fn increment_step(&mut self, t: f64) -> Result<f64, LinearError> {
        let (n, d) = (self.system.dimension(), self.basis.freedoms());
        match &mut self.chart {
            Chart::None => {}
            Chart::Normal(chart) => {
                let out = &mut self.tangent[..d * n];
                chart.tangent(&self.basis, &self.x, t + self.h, out)?;
            }
        }
        for (i, row) in self.basis.rows().enumerate() {
            self.scratch.fill(0.0);
            small::matvec_transposed_add(1.0, &self.full, row, &mut self.scratch);
            for j in 0..d {
                self.matrix[i * d + j] = dot(&self.scratch, &self.tangent[j * n..(j + 1) * n]);
            }
            self.rhs[i] = -self.h * dot(row, &self.r);
        }
        let (matrix, pivots) = (&mut self.matrix[..d * d], &mut self.pivots[..d]);
        lu::factor(d, matrix, pivots, small::tolerance(d))?;
        lu::solve(d, matrix, pivots, &mut self.rhs[..d])?;
        self.scratch.fill(0.0);
        for j in 0..d {
            self.u[j] += self.rhs[j];
            axpy(self.rhs[j], &self.tangent[j * n..(j + 1) * n], &mut self.scratch);
        }
        Ok(norm_inf(&self.scratch))
    }

    /// Recovers multipliers and momentum at the node where the step began, the new velocity and momentum.
    fn finish(&mut self, state: &State) -> Result<(), LinearError> {
        let (h, t) = (self.h, state.t);
        // Newton leaves round-off in the tangent part of r, which the equations say is zero.
        self.basis.remove(&mut self.r);
        let continues = self.left.0 == state.q && self.left.1 == state.p;
        for i in 0..self.r.len() {
            let (p, r) = (state.p[i], self.r[i]);
            // D₂L_d(k−1, k) + D₁L_d(k, k+1), with −D₁L_d = p + r; at the start (47).
            let before = if continues { self.raw[i] } else { p - r };
            self.scratch[i] = (before - p - r) / h;
            self.node[i] = 0.5 * (before + p + r);
        }
        self.basis.multipliers(&self.scratch, &mut self.multipliers)?;
        self.lagrangian.slopes_right(&self.x, t, h);
        let (left, right) = (&self.lagrangian.left, &self.lagrangian.right);
        for (i, p) in self.p.iter_mut().enumerate() {
            *p = state.p[i] + self.r[i] - 0.5 * h * (left[i] + right[i]);
        }
        self.raw.copy_from_slice(&self.p);
        self.basis.evaluate(&self.x, t + h)?;
        self.basis.factor_inertia()?;
        self.basis.project(&mut self.p, &mut self.v)
    }
}

impl Stepper for NullSpaceStepper<'_> {
    type State = State;

    fn step(&mut self, state: &mut State) -> Result<StepReport, StepError> {
        check_state(self.system, state)?;
        let (h, t) = (self.h, state.t);
        if self.left.0 != state.q {
            check_position(self.system, (&state.q, t), &mut self.f)?;
        }
        self.v.copy_from_slice(&state.v);
        let outcome = self.solve((&state.q, &state.p, t)).and_then(|solved| {
            self.finish(state).map_err(|error| failure(self.system, t, error))?;
            Ok(solved)
        });
        let (iterations, residual) = match outcome {
            Ok(solved) => solved,
            Err(error) => {
                // Nothing of a failed step may reach the next one.
                self.left.0.fill(f64::NAN);
                self.u.fill(0.0);
                return Err(error);
            }
        };
        if let Some(i) = self.p.iter().chain(&self.x).position(|p| !p.is_finite()) {
            let culprit = self.system.names()[i % self.p.len()].clone();
            self.left.0.fill(f64::NAN);
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
