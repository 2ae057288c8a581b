//! A step of the null space method in coordinates, and what is recovered afterwards.
//!
//! Newton's step $\delta$ for \[LMO\] (25) satisfies $P^\top(q_k)(K\delta + h r) = 0$ with $K = h\\,\partial r/\partial q_{k+1}$, which says
//! that $K\delta + h r$ is a force of the constraints at $q_k$:
//! $$ \begin{pmatrix} K & G^\top(q_k) \cr G(q_{k+1}) & 0 \end{pmatrix} \begin{pmatrix} \delta \cr \mu \end{pmatrix}
//!    = \begin{pmatrix} -h r \cr -g(q_{k+1}) \end{pmatrix} . $$
//! That is how it is found, for whatever basis $P$: a basis of the motions of a chain is full, and the saddle point is not, so that
//! its cost is linear in the links. $\mu$ is no unknown of the equations. The force that it has supplied so far is taken off $h r$ before the
//! next iteration, which changes nothing but the rounding.

use nsm_model::{Events, State, StepError, StepReport, Stepper, System, SystemError};
use nsm_solvers::LinearError;
use nsm_solvers::kkt::{Kkt, KktPath, KktPattern};
use nsm_solvers::small::{axpy, norm_inf};

use super::NullSpace;
use super::chart::NormalChart;
use super::nodes::{Nodes, failure};
use crate::Tolerances;
use crate::methods::conserving::check_position;
use crate::shared::held::Held;

/// [`NullSpace`] bound to a system.
pub struct NullSpaceStepper<'a> {
    system: &'a System,
    tolerances: Tolerances,
    nodes: Nodes<'a>,
    held: Held<'a>,
    /// Present where increments are the unknowns.
    chart: Option<NormalChart<'a>>,
    /// Entries of $M$, then of the stiffness, and the saddle point.
    mass: Vec<f64>,
    values: Vec<f64>,
    matrix: Kkt,
    /// $G$ at the trial.
    end: Vec<f64>,
    a: Vec<f64>,
    b: Vec<f64>,
    step: Vec<f64>,
    mu: Vec<f64>,
    /// The sum of all $\mu$ of a step.
    supply: Vec<f64>,
}

impl std::fmt::Debug for NullSpaceStepper<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NullSpaceStepper").field("h", &self.nodes.h).finish_non_exhaustive()
    }
}

impl<'a> NullSpaceStepper<'a> {
    pub(super) fn new(
        system: &'a System,
        method: &NullSpace,
        chart: Option<NormalChart<'a>>,
    ) -> Result<Self, SystemError> {
        let (n, rows) = (system.dimension(), system.equalities());
        let nodes = Nodes::new(system, method);
        let entries = system.mass().entries();
        let mut block: Vec<_> = entries.iter().map(|e| (e.0, e.1)).collect();
        block.extend(nodes.lagrangian.loads.stiffness_pattern());
        let gradients = pattern(system);
        let pattern = KktPattern {
            unknowns: n,
            rows: rows.len(),
            block: &block,
            gradients: &gradients,
            symmetric: false,
        };
        let matrix = if system.mass().massless().is_empty() {
            Kkt::new(&pattern)
        } else {
            Kkt::with_path(&pattern, KktPath::Condensed)
        };
        Ok(Self {
            system,
            tolerances: method.tolerances,
            nodes,
            held: Held::new(system)?,
            chart,
            mass: entries.iter().map(|e| e.2).collect(),
            values: vec![0.0; block.len()],
            matrix: matrix.map_err(|error| misfit(&error))?,
            end: vec![0.0; rows.entries()],
            a: vec![0.0; n],
            b: vec![0.0; rows.len()],
            step: vec![0.0; n],
            mu: vec![0.0; rows.len()],
            supply: vec![0.0; rows.len()],
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

    /// Solves for the end of the step, in `x`; returns the iterations and Newton's last step.
    fn solve(&mut self, start: (&[f64], &[f64], f64)) -> Result<(usize, f64), StepError> {
        let (q, _, t) = start;
        self.held.place(q, t)?;
        for ((x, q), v) in self.nodes.x.iter_mut().zip(q).zip(&self.nodes.v) {
            *x = q + self.nodes.h * v;
        }
        self.supply.fill(0.0);
        let mut course = self.tolerances.chord();
        self.place(q, t)?;
        let mut scale = norm_inf(q).max(norm_inf(&self.nodes.x)).max(f64::MIN_POSITIVE);
        for iteration in 1..=self.tolerances.iterations {
            self.nodes.evaluate(start);
            let made = if course.wants_matrix() { self.factorise(q, t) } else { Ok(()) };
            let size = made
                .and_then(|()| self.newton_step(t))
                .map_err(|error| failure(self.system, t, error))?;
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

    /// Returns to the constraints where increments are the unknowns.
    fn place(&mut self, q: &[f64], t: f64) -> Result<(), StepError> {
        match &mut self.chart {
            None => Ok(()),
            Some(chart) => chart.place(&self.held, q, t + self.nodes.h, &mut self.nodes.x),
        }
    }

    /// Forms and factorises the saddle point at the trial.
    fn factorise(&mut self, q: &[f64], t: f64) -> Result<(), LinearError> {
        let h = self.nodes.h;
        let (inertial, stiffness) = self.values.split_at_mut(self.mass.len());
        inertial.copy_from_slice(&self.mass);
        self.nodes.lagrangian.stiffness(q, t, h, stiffness);
        // Times h: the matrix then does not depend on h as h goes to zero.
        for k in stiffness {
            *k *= h;
        }
        self.matrix.set_block(&self.values)?;
        self.system.equalities().gradients(&self.nodes.x, t + h, &mut self.end);
        let held = &self.held;
        self.matrix.factorise_active(&held.gradients, &self.end, &[], held.independent())
    }

    /// One step of the coordinates with the last matrix; returns its size.
    fn newton_step(&mut self, t: f64) -> Result<f64, LinearError> {
        for (a, r) in self.a.iter_mut().zip(&self.nodes.r) {
            *a = -self.nodes.h * r;
        }
        let gradients = &self.held.gradients;
        self.system.equalities().add_transposed(gradients, &self.supply, -1.0, &mut self.a);
        if self.chart.is_none() {
            let rows = self.system.equalities();
            rows.values(&self.nodes.x, t + self.nodes.h, &mut self.nodes.f);
            self.b.iter_mut().zip(&self.nodes.f).for_each(|(b, f)| *b = -f);
        }
        self.matrix.solve(&self.a, &self.b, &mut self.step, &mut self.mu)?;
        axpy(1.0, &self.step, &mut self.nodes.x);
        axpy(1.0, &self.mu, &mut self.supply);
        Ok(norm_inf(&self.step))
    }

    /// Recovers the constraint forces at the node where the step began, then the new velocity and momentum.
    fn finish(&mut self, state: &State) -> Result<(), StepError> {
        let (h, t) = (self.nodes.h, state.t);
        // Newton leaves round-off in the tangent part of r, which the equations say is zero.
        self.a.copy_from_slice(&self.nodes.r);
        let gradients = &self.held.gradients;
        self.system.equalities().add_transposed(gradients, &self.supply, 1.0 / h, &mut self.a);
        self.b.fill(0.0);
        self.held
            .solve(&self.a, &self.b, &mut self.step, &mut self.mu)
            .map_err(|error| self.held.failure(t, &error))?;
        self.system.mass().multiply(&self.step, &mut self.nodes.scratch);
        axpy(-1.0, &self.nodes.scratch, &mut self.nodes.r);
        self.nodes.recover(state);
        self.held.place(&self.nodes.x, t + h)?;
        self.held.project(&mut self.nodes.p).map_err(|error| self.held.failure(t + h, &error))?;
        self.nodes.v.copy_from_slice(&self.held.velocity);
        Ok(())
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
        let outcome = self
            .solve((&state.q, &state.p, t))
            .and_then(|solved| self.finish(state).map(|()| solved))
            .and_then(|solved| self.nodes.commit(state).map(|()| solved));
        match outcome {
            Ok((iterations, residual)) => {
                Ok(StepReport { iterations, residual, ..StepReport::default() })
            }
            Err(error) => {
                self.nodes.forget();
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

/// Row and column of every entry of $G$.
pub(super) fn pattern(system: &System) -> Vec<(usize, usize)> {
    let rows = system.equalities();
    (0..rows.len()).flat_map(|i| rows.columns(i).iter().map(move |&c| (i, c))).collect()
}

/// A pattern that no linear solver takes.
pub(super) fn misfit(error: &LinearError) -> SystemError {
    SystemError::DoesNotFit { method: "null space", why: error.to_string() }
}
