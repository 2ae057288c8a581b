//! The energy-conserving step for systems with equality constraints.
//!
//! Implicit midpoint with averaged forces, constraints at the end of the step (\[GO\] section 6; for
//! quadratic constraints this is the energy–momentum scheme that \[LMO\] compare with):
//! $$ q_1 = q_0 + \tfrac h2 (v_0 + v_1), \qquad M(v_1 - v_0) = -h\\,\big(\bar\nabla V + \bar\nabla f^\top \lambda\big), \qquad f(q_1) = 0, $$
//! that is $\tfrac2h M \Delta q - 2 p_0 + h\\,\bar\nabla V + h\\,\bar G^\top\lambda = 0$. With discrete gradients energy is exact: the
//! potential's work is its difference and the constraints do none. Momenta of rotations are exact where
//! potentials and constraints are quadratic or bring a discrete gradient with the symmetry (beams,
//! [`Field::mean_gradient`](nsm_constraints::Field::mean_gradient)), and of second order otherwise. Velocities leave the constraints, $\dot f \ne 0$, by an amount that can grow
//! (\[GO\] Figures 8 and 12). Of a quadratic constraint with Hessian $A$, $\bar G\\,\Delta q = 0$ leaves $\dot f_1 = -\dot f_0 + \tfrac h4 (v_1^\top A v_1 - v_0^\top A v_0)$.
//! [`Projection`](crate::Projection) brings velocities back and takes energy, [`ConservingTangent`] holds both.
//!
//! Coordinates without mass are allowed where the constraints give them their velocity: then $v$ is the one with
//! $Mv = p$ whose massless part the constraints allow.
//!
//! Sign of \[GO\] (1) and \[LMO\] (3): the force of constraint $i$ is $-\lambda_i \nabla f_i$.

mod average;
mod equations;
mod frozen;
mod history;
mod loaded;
mod solve;
mod tangent;

pub use average::ForceAverage;
pub use solve::ConstraintSolver;
pub use tangent::{ConservingTangent, ConservingTangentStepper};

use nsm_model::{
    Clock, Events, Mass, State, StepError, StepReport, Stepper, System, SystemError, Tolerance,
};

use crate::Tolerances;
use crate::diagnostics::conditioning::{Parts, dense_rows};
use crate::shared::held::Held;
use crate::shared::kernel::check_constrained;
use crate::shared::legendre::Segment;
use crate::shared::tolerances::check_step;
use equations::{Equations, Start};
use solve::Solver;

/// Implicit midpoint that conserves energy and holds equality constraints at the end of each step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Conserving {
    /// Step $h$.
    pub step: f64,
    /// How forces are averaged; only [`ForceAverage::Conserving`] conserves energy beyond quadratic
    /// potentials and constraints.
    pub average: ForceAverage,
    /// How the equations are solved.
    pub solver: ConstraintSolver,
    /// Thresholds of the solver.
    pub tolerances: Tolerances,
}

impl Conserving {
    /// The method with discrete gradients, the simultaneous solver and default tolerances.
    pub fn new(step: f64) -> Self {
        Self {
            step,
            average: ForceAverage::Conserving,
            solver: ConstraintSolver::Simultaneous,
            tolerances: Tolerances::default(),
        }
    }

    /// Binds the method to a system and allocates its workspace.
    ///
    /// # Errors
    /// A step, penalty or tolerance out of range, or coordinates without mass in a system without equalities.
    pub fn stepper<'a>(&self, system: &'a System) -> Result<ConservingStepper<'a>, SystemError> {
        check_step(self.step)?;
        self.tolerances.check()?;
        self.solver.check()?;
        check_constrained(system)?;
        let equations = Equations::new(system, self.average);
        let (n, m) = (system.dimension(), system.equalities().len());
        Ok(ConservingStepper {
            system,
            solver: Solver::new(equations, self.solver, self.tolerances)?,
            h: self.step,
            multipliers: vec![0.0; m],
            impulses: vec![0.0; m],
            p: vec![0.0; n],
            v: vec![0.0; n],
            massless: Massless::new(system),
            clock: Clock::new(self.step),
            left: vec![f64::NAN; n],
            events: Events::default(),
        })
    }
}

/// [`Conserving`] bound to a system.
#[derive(Debug)]
pub struct ConservingStepper<'a> {
    system: &'a System,
    solver: Solver<'a>,
    h: f64,
    /// $\lambda$ of the last step that succeeded.
    multipliers: Vec<f64>,
    /// $-h\lambda$.
    impulses: Vec<f64>,
    p: Vec<f64>,
    v: Vec<f64>,
    /// Present where the mass is singular.
    massless: Option<Massless>,
    /// Where the last step ended: elsewhere, a position is checked before it is used.
    left: Vec<f64>,
    clock: Clock,
    events: Events,
}

impl ConservingStepper<'_> {
    /// Multipliers $\lambda$ of the last step, constraint by constraint; forces are $-\lambda_i\nabla f_i$.
    ///
    /// Of redundant constraints one independent set carries the load and the others have zero.
    pub fn multipliers(&self) -> &[f64] {
        &self.multipliers
    }

    /// Names of the constraints that depend on others where the last step began, or where it ended if coordinates have
    /// no mass: they are left out, and hold by the others. Which they are may change from step to step.
    pub fn redundant(&self) -> impl Iterator<Item = &str> {
        let rows = self.system.equalities();
        self.solver.redundant().iter().map(|&i| rows.name(i))
    }
}

/// What completes the velocity $M^+ p$ on coordinates without mass.
#[derive(Debug)]
struct Massless {
    /// Coordinates with a zero row and column: no momentum.
    zero: Vec<usize>,
    defect: Vec<f64>,
}

impl Massless {
    fn new(system: &System) -> Option<Self> {
        if system.mass().massless().is_empty() {
            return None;
        }
        let zero = |e: &&(usize, usize, f64)| e.0 == e.1 && e.2 == 0.0;
        Some(Self {
            zero: system.mass().entries().iter().filter(zero).map(|e| e.0).collect(),
            defect: vec![0.0; system.dimension()],
        })
    }

    /// Writes $v = \tilde v + M^+(p - M\tilde v)$, with $\tilde v$ the velocity of $p$ that the constraints allow: $Mv = p$.
    fn velocity(
        &mut self,
        held: &mut Held<'_>,
        mass: &Mass,
        (q, t): (&[f64], f64),
        p: &mut [f64],
        v: &mut [f64],
    ) -> Result<(), StepError> {
        for &i in &self.zero {
            p[i] = 0.0;
        }
        held.place(q, t)?;
        held.velocity_of(p).map_err(|error| held.failure(t, &error))?;
        mass.multiply(&held.velocity, &mut self.defect);
        for (d, p) in self.defect.iter_mut().zip(&*p) {
            *d = p - *d;
        }
        mass.solve(&self.defect, v);
        for (v, allowed) in v.iter_mut().zip(&held.velocity) {
            *v += allowed;
        }
        Ok(())
    }
}

impl Stepper for ConservingStepper<'_> {
    type State = State;

    fn step(&mut self, state: &mut State) -> Result<StepReport, StepError> {
        self.system.check_lengths(state)?;
        if self.left != state.q {
            let f = &mut self.solver.equations.f;
            check_position(self.system, (&state.q, state.t), f)?;
        }
        let (h, t) = (self.h, state.t);
        for ((x, q), v) in self.solver.x.iter_mut().zip(&state.q).zip(&state.v) {
            *x = q + h * v;
        }
        let scale = 0.5 * h * h;
        for (scaled, lambda) in self.solver.multipliers.iter_mut().zip(&self.multipliers) {
            *scaled = scale * lambda;
        }
        let start = Start { q: &state.q, p: &state.p, t, h };
        let iterations = self.solver.solve(start)?;
        for (i, scaled) in self.solver.multipliers.iter().enumerate() {
            self.impulses[i] = -2.0 / h * scaled;
        }
        // Formed from forces: differences of positions divided by h would cost digits.
        let Solver { equations, x, .. } = &mut self.solver;
        equations.momentum(start, x, &self.impulses, &mut self.p);
        match (&mut self.massless, &mut self.solver.held) {
            (Some(massless), Some(held)) => {
                let at = (&self.solver.x[..], t + h);
                massless.velocity(held, self.system.mass(), at, &mut self.p, &mut self.v)?;
            }
            _ => self.system.mass().solve(&self.p, &mut self.v),
        }
        self.system.check_finite(t, t + h, &self.solver.x, &self.v)?;
        for (lambda, scaled) in self.multipliers.iter_mut().zip(&self.solver.multipliers) {
            *lambda = scaled / scale;
        }
        state.q.copy_from_slice(&self.solver.x);
        state.p.copy_from_slice(&self.p);
        state.v.copy_from_slice(&self.v);
        state.t = self.clock.tick(t);
        self.left.copy_from_slice(&state.q);
        Ok(StepReport { iterations, residual: self.solver.residual, ..StepReport::default() })
    }

    fn step_size(&self) -> f64 {
        self.h
    }

    fn events(&self) -> &Events {
        &self.events
    }

    fn equality_impulses(&self) -> Option<&[f64]> {
        Some(&self.impulses)
    }
}

/// Newton's matrix of a step that was taken, for diagnostics.
pub(crate) fn newton_matrix(
    system: &System,
    average: ForceAverage,
    segment: Segment<'_>,
    multipliers: &[f64],
) -> Parts {
    let Segment { start: q, end, t, h } = segment;
    let n = system.dimension();
    let mut equations = Equations::new(system, average);
    // The momentum at the start does not enter the matrix.
    let start = Start { q, p: q, t, h };
    equations.evaluate(start, end);
    equations.evaluate_end(start, end);
    let pattern = equations.pattern();
    let mut values = vec![0.0; pattern.len()];
    let scaled: Vec<f64> = multipliers.iter().map(|l| 0.5 * h * h * l).collect();
    equations.jacobian(start, end, &scaled, 0.0, &mut values);
    let mut inner = vec![0.0; n * n];
    for ((i, j), value) in pattern.into_iter().zip(values) {
        inner[i * n + j] += value;
    }
    let before = dense_rows(system, &equations.averaged);
    Parts { inner, before, after: dense_rows(system, &equations.end), factor: 2.0 / h }
}

/// Refuses a position off the equality constraints, by the name of the worst.
pub(crate) fn check_position(
    system: &System,
    (q, t): (&[f64], f64),
    values: &mut [f64],
) -> Result<(), StepError> {
    let rows = system.equalities();
    rows.values(q, t, values);
    let (i, size) = crate::shared::position::largest(values);
    if rows.is_empty() || size <= Tolerance::default().position {
        return Ok(());
    }
    let (constraint, value) = (rows.name(i).to_owned(), values[i]);
    let source = SystemError::InfeasiblePosition { constraint, value, must: "0" };
    Err(StepError::Method { t, source: Box::new(source) })
}
