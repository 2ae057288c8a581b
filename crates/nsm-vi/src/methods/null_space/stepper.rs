//! A step of the null space method: the equations, Newton on them, and what is recovered afterwards.

use nsm_model::{Events, State, StepError, StepReport, Stepper, System};
use nsm_solvers::small::{axpy, dot, lu, norm_inf};
use nsm_solvers::{LinearError, small};

use super::NullSpace;
use super::basis::NullBasis;
use super::chart::NormalChart;
use super::nodes::{Nodes, failure};
use crate::Tolerances;
use crate::methods::conserving::check_position;

/// How the end of a step is parametrised.
pub(super) enum Chart<'a> {
    None,
    Normal(NormalChart<'a>),
}

/// [`NullSpace`] bound to a system.
pub struct NullSpaceStepper<'a> {
    system: &'a System,
    tolerances: Tolerances,
    nodes: Nodes<'a>,
    mass: Vec<(usize, usize, f64)>,
    pattern: Vec<(usize, usize)>,
    stiffness: Vec<f64>,
    basis: NullBasis<'a>,
    chart: Chart<'a>,
    /// Increments; kept as the guess of the next step.
    u: Vec<f64>,
    /// $\partial F_d/\partial u$ transposed, one freedom a row.
    tangent: Vec<f64>,
    rhs: Vec<f64>,
    full: Vec<f64>,
    matrix: Vec<f64>,
    pivots: Vec<usize>,
    end: Vec<f64>,
    multipliers: Vec<f64>,
}

impl std::fmt::Debug for NullSpaceStepper<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NullSpaceStepper").field("h", &self.nodes.h).finish_non_exhaustive()
    }
}

impl<'a> NullSpaceStepper<'a> {
    pub(super) fn new(system: &'a System, method: &NullSpace, chart: Chart<'a>) -> Self {
        let (n, rows) = (system.dimension(), system.equalities());
        let nodes = Nodes::new(system, method);
        let pattern = nodes.lagrangian.loads.stiffness_pattern();
        Self {
            system,
            tolerances: method.tolerances,
            stiffness: vec![0.0; pattern.len()],
            pattern,
            mass: system.mass().entries(),
            nodes,
            basis: NullBasis::new(system),
            chart,
            u: vec![0.0; n],
            tangent: vec![0.0; n * n],
            rhs: vec![0.0; n],
            full: vec![0.0; n * n],
            matrix: vec![0.0; n * n],
            pivots: vec![0; n],
            end: vec![0.0; rows.entries()],
            multipliers: vec![0.0; rows.len()],
        }
    }

    /// Multipliers $\lambda_k$ at the node where the last step began (\[LMO\] (38), (47)).
    pub fn multipliers(&self) -> &[f64] {
        &self.multipliers
    }

    /// The momentum $p_k = \tfrac12(D_2 L_d(q_{k-1}, q_k) - D_1 L_d(q_k, q_{k+1}))$ at that node, which \[LMO\] (34), (35) define; at the
    /// start it is $p(0)$.
    pub fn node_momentum(&self) -> &[f64] {
        &self.nodes.momentum
    }

    /// Forms $h\\,\partial r/\partial x$, dense.
    fn derivative(&mut self, q: &[f64], t: f64) {
        let (n, h) = (self.system.dimension(), self.nodes.h);
        self.full.fill(0.0);
        for &(i, j, value) in &self.mass {
            self.full[i * n + j] += value;
        }
        self.nodes.lagrangian.stiffness(q, t, h, &mut self.stiffness);
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
        let mut course = self.tolerances.full();
        let mut scale = norm_inf(q).max(norm_inf(&self.nodes.x)).max(f64::MIN_POSITIVE);
        for iteration in 1..=self.tolerances.iterations {
            self.nodes.evaluate(start);
            self.derivative(q, t);
            let size = match self.chart {
                Chart::None => self.configuration_step(t),
                Chart::Normal(_) => self.increment_step(t),
            }
            .map_err(|error| failure(self.system, t, error))?;
            course.stepped(size);
            self.place(q, t)?;
            scale = scale.max(norm_inf(&self.nodes.x));
            if !size.is_finite() {
                return Err(self.nodes.diverged(t));
            }
            if course.ends(scale) {
                self.nodes.evaluate(start);
                return Ok((iteration, size / scale));
            }
        }
        Err(self.nodes.unsolved(t, self.tolerances.iterations, course.last()))
    }

    /// The predictor: straight on, or the increment of the last step.
    fn guess(&mut self, (q, _, t): (&[f64], &[f64], f64), d: usize) -> Result<(), StepError> {
        for ((x, q), v) in self.nodes.x.iter_mut().zip(q).zip(&self.nodes.v) {
            *x = q + self.nodes.h * v;
        }
        match self.chart {
            Chart::None => Ok(()),
            Chart::Normal(_) => {
                for ((s, x), q) in self.nodes.scratch.iter_mut().zip(&self.nodes.x).zip(q) {
                    *s = x - q;
                }
                self.basis.reduce(&self.nodes.scratch, &mut self.u[..d]);
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
                chart.place(&self.basis, &self.u[..d], q, t + self.nodes.h, &mut self.nodes.x)
            }
        }
    }

    /// Newton on all coordinates; returns the size of the step.
    fn configuration_step(&mut self, t: f64) -> Result<f64, LinearError> {
        let (n, d) = (self.system.dimension(), self.basis.freedoms());
        let rows = self.system.equalities();
        rows.values(&self.nodes.x, t + self.nodes.h, &mut self.nodes.f);
        rows.gradients(&self.nodes.x, t + self.nodes.h, &mut self.end);
        self.matrix.fill(0.0);
        for (i, row) in self.basis.rows().enumerate() {
            let out = &mut self.matrix[i * n..(i + 1) * n];
            small::matvec_transposed_add(1.0, &self.full, row, out);
            self.rhs[i] = -self.nodes.h * dot(row, &self.nodes.r);
        }
        for (k, &i) in self.basis.independent().iter().enumerate() {
            let out = &mut self.matrix[(d + k) * n..(d + k + 1) * n];
            rows.add_row(i, &self.end, 1.0, out);
            self.rhs[d + k] = -self.nodes.f[i];
        }
        lu::factor(n, &mut self.matrix, &mut self.pivots, small::tolerance(n))?;
        lu::solve(n, &self.matrix, &self.pivots, &mut self.rhs)?;
        axpy(1.0, &self.rhs, &mut self.nodes.x);
        Ok(norm_inf(&self.rhs))
    }

    /// Newton on the increments; returns the size of the step in coordinates.
    fn increment_step(&mut self, t: f64) -> Result<f64, LinearError> {
        let (n, d) = (self.system.dimension(), self.basis.freedoms());
        match &mut self.chart {
            Chart::None => {}
            Chart::Normal(chart) => {
                let out = &mut self.tangent[..d * n];
                chart.tangent(&self.basis, &self.nodes.x, t + self.nodes.h, out)?;
            }
        }
        for (i, row) in self.basis.rows().enumerate() {
            self.nodes.scratch.fill(0.0);
            small::matvec_transposed_add(1.0, &self.full, row, &mut self.nodes.scratch);
            for j in 0..d {
                self.matrix[i * d + j] =
                    dot(&self.nodes.scratch, &self.tangent[j * n..(j + 1) * n]);
            }
            self.rhs[i] = -self.nodes.h * dot(row, &self.nodes.r);
        }
        let (matrix, pivots) = (&mut self.matrix[..d * d], &mut self.pivots[..d]);
        lu::factor(d, matrix, pivots, small::tolerance(d))?;
        lu::solve(d, matrix, pivots, &mut self.rhs[..d])?;
        self.nodes.scratch.fill(0.0);
        for j in 0..d {
            self.u[j] += self.rhs[j];
            axpy(self.rhs[j], &self.tangent[j * n..(j + 1) * n], &mut self.nodes.scratch);
        }
        Ok(norm_inf(&self.nodes.scratch))
    }

    /// Recovers multipliers and momentum at the node where the step began, the new velocity and momentum.
    fn finish(&mut self, state: &State) -> Result<(), LinearError> {
        // Newton leaves round-off in the tangent part of r, which the equations say is zero.
        self.basis.remove(&mut self.nodes.r);
        self.nodes.recover(state);
        self.basis.multipliers(&self.nodes.pull, &mut self.multipliers)?;
        self.basis.evaluate(&self.nodes.x, state.t + self.nodes.h)?;
        self.basis.factor_inertia()?;
        self.basis.project(&mut self.nodes.p, &mut self.nodes.v)
    }
}

impl Stepper for NullSpaceStepper<'_> {
    type State = State;

    fn step(&mut self, state: &mut State) -> Result<StepReport, StepError> {
        self.system.check_lengths(state)?;
        let t = state.t;
        if self.nodes.is_new(state) {
            check_position(self.system, (&state.q, t), &mut self.nodes.f)?;
        }
        self.nodes.v.copy_from_slice(&state.v);
        let outcome = self.solve((&state.q, &state.p, t)).and_then(|solved| {
            self.finish(state).map_err(|error| failure(self.system, t, error))?;
            self.nodes.commit(state).map(|()| solved)
        });
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
