//! The conserving step with velocities on the constraints.
//!
//! The formulation of Gear, Gupta and Leimkuhler, in the conserving form of \[Gonzalez 1999\]: a second multiplier $\mu$ lets positions differ from what
//! velocities move, so that both ends of a step can be on $f = 0$ and on $\dot f = 0$,
//! $$ M(q_1 - q_0) = h\\,\big(M\bar v + B^\top\mu\big), \qquad M(v_1 - v_0) = -h\\,\big(\bar\nabla V + \bar\nabla f^\top\lambda + C^\top\mu\big), \qquad
//!    f(q_1) = 0, \qquad \dot f(q_1, v_1) = 0, $$
//! $\bar v = \tfrac12(v_0 + v_1)$, with a discrete gradient of $\dot f = \nabla f(q)\cdot v$ as a function of both: $B\\,\Delta v + C\\,\Delta q = \Delta\dot f$.
//!
//! Energy is exact. With $w = \Delta q/h - \bar v$, so that $Mw = B^\top\mu$, the change of the energy is
//! $h(\bar\nabla V\cdot w - \bar v\cdot\bar\nabla f^\top\lambda - \bar v\cdot C^\top\mu)$; the product of the second equation with $w$ and $\Delta\dot f = 0$ give
//! $\bar\nabla V\cdot w + w\cdot\bar\nabla f^\top\lambda = \bar v\cdot C^\top\mu$, and what is left is $-\lambda\cdot\bar\nabla f\\,\Delta q = 0$. The mass may be singular.
//! Momenta are exact where constraints are quadratic.
//!
//! Solved for $x = q_1$, $y = \tfrac h2 v_1$, $\Lambda = \tfrac{h^2}2\lambda$ and $N = h\mu$ by Newton's method on one sparse matrix. Derivatives of the
//! Hessians of constraints are left out of it: they vanish where constraints are quadratic.

mod matrix;

use nsm_model::{
    Clock, Events, State, StepError, StepReport, Stepper, System, SystemError,
    motion_without_inertia,
};
use nsm_solvers::LinearError;
use nsm_solvers::kkt::{Kkt, KktPath, KktPattern};
use nsm_solvers::small::norm_inf;

use matrix::pattern;

use super::average::ForceAverage;
use super::check_position;
use super::equations::{Equations, Start};
use crate::Tolerances;
use crate::shared::held::Held;
use crate::shared::kernel::check_constrained;
use crate::shared::position::largest;
use crate::shared::tolerances::check_step;

/// Energy-conserving steps whose positions and velocities are on the equality constraints \[Gonzalez 1999\].
///
/// ```
/// use nsm_constraints::Rod;
/// use nsm_model::{Mass, State, Stepper, System};
/// use nsm_vi::ConservingTangent;
///
/// let system = System::new(Mass::diagonal(&[1.0, 0.1])?)
///     .with_equality("circle", Rod::to_pivot(&[0, 1], &[0.0, 0.0], 1.0)?)?;
/// let mut state = State::new(&system, &[0.0, 1.0], &[1.0, 0.0])?;
/// let mut stepper = ConservingTangent::new(0.1).stepper(&system)?;
/// for _ in 0..100 {
///     stepper.step(&mut state)?;
///     let energy = 0.5 * (state.v[0].powi(2) + 0.1 * state.v[1].powi(2));
///     assert!((energy - 0.5).abs() < 1e-13);
///     assert!((state.q[0] * state.v[0] + state.q[1] * state.v[1]).abs() < 1e-13);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConservingTangent {
    /// Step $h$.
    pub step: f64,
    /// Thresholds of the solver.
    pub tolerances: Tolerances,
}

impl ConservingTangent {
    /// The method with default tolerances.
    pub fn new(step: f64) -> Self {
        Self { step, tolerances: Tolerances::default() }
    }

    /// Binds the method to a system and allocates its workspace.
    ///
    /// # Errors
    /// A step or tolerance out of range, no equalities, or equalities on velocities alone (they have no positions to hold).
    pub fn stepper<'a>(
        &self,
        system: &'a System,
    ) -> Result<ConservingTangentStepper<'a>, SystemError> {
        check_step(self.step)?;
        self.tolerances.check()?;
        check_constrained(system)?;
        let (n, rows) = (system.dimension(), system.equalities());
        let method = "the conserving step with velocities on the constraints";
        if !rows.rolling().is_empty() {
            let why = "rows on velocities have no position to hold; leave `velocities` out".into();
            return Err(SystemError::DoesNotFit { method, why });
        }
        let m = rows.len();
        let equations = Equations::new(system, ForceAverage::Conserving);
        let curved: Vec<usize> = (0..m).filter(|&i| !rows.field(i).is_affine()).collect();
        let (block, gradients) = pattern(&equations, &curved);
        let saddle = KktPattern {
            unknowns: 2 * n,
            rows: 2 * m,
            block: &block,
            gradients: &gradients,
            symmetric: false,
        };
        let matrix = Kkt::with_path(&saddle, KktPath::Condensed)
            .map_err(|error| SystemError::DoesNotFit { method, why: error.to_string() })?;
        let entries = rows.entries();
        Ok(ConservingTangentStepper {
            system,
            held: Held::new(system)?,
            inner: equations.pattern().len(),
            equations,
            mass: system.mass().entries().iter().map(|e| e.2).collect(),
            curved,
            hessians: (0..m).map(|i| vec![0.0; rows.columns(i).len().pow(2)]).collect(),
            matrix,
            values: vec![0.0; block.len()],
            upper: vec![0.0; gradients.len()],
            lower: vec![0.0; gradients.len()],
            active: vec![true; 2 * m],
            tolerances: self.tolerances,
            h: self.step,
            x: vec![0.0; n],
            y: vec![0.0; n],
            before: vec![0.0; n],
            middle: vec![0.0; n],
            multipliers: vec![0.0; m],
            shifts: vec![0.0; m],
            at_middle: vec![0.0; entries],
            bends: vec![0.0; entries],
            by_position: vec![0.0; entries],
            f: vec![0.0; m],
            rates: vec![0.0; m],
            forces: vec![0.0; 2 * n],
            defects: vec![0.0; 2 * m],
            step: (vec![0.0; 2 * n], vec![0.0; 2 * m]),
            scratch: vec![0.0; n],
            heft: system.mass().entries().iter().map(|e| e.2.abs()).fold(0.0, f64::max),
            scales: vec![1.0; m],
            p: vec![0.0; n],
            last: vec![0.0; m],
            clock: Clock::new(self.step),
            left: vec![f64::NAN; n],
            events: Events::default(),
        })
    }
}

/// [`ConservingTangent`] bound to a system.
#[derive(Debug)]
pub struct ConservingTangentStepper<'a> {
    system: &'a System,
    held: Held<'a>,
    equations: Equations<'a>,
    /// Entries that the equations themselves write.
    inner: usize,
    mass: Vec<f64>,
    /// Constraints that are not affine.
    curved: Vec<usize>,
    /// Their Hessians at the midpoint.
    hessians: Vec<Vec<f64>>,
    matrix: Kkt,
    values: Vec<f64>,
    /// Columns of $(\Lambda, N)$, and the rows that hold $f$ and $\dot f$.
    upper: Vec<f64>,
    lower: Vec<f64>,
    active: Vec<bool>,
    tolerances: Tolerances,
    h: f64,
    x: Vec<f64>,
    y: Vec<f64>,
    /// $\tfrac h2 v_0$.
    before: Vec<f64>,
    middle: Vec<f64>,
    /// $\Lambda$ and $N$.
    multipliers: Vec<f64>,
    shifts: Vec<f64>,
    /// $B$, $C$, and the Hessians times $y$.
    at_middle: Vec<f64>,
    by_position: Vec<f64>,
    bends: Vec<f64>,
    /// $\tfrac h2\dot f$.
    f: Vec<f64>,
    rates: Vec<f64>,
    /// Minus the residuals, and the last step of $(x, y)$ and $(\Lambda, N)$.
    forces: Vec<f64>,
    defects: Vec<f64>,
    step: (Vec<f64>, Vec<f64>),
    scratch: Vec<f64>,
    /// Largest entry of the mass, and one over that of each gradient: they take the units out of the matrix.
    heft: f64,
    scales: Vec<f64>,
    p: Vec<f64>,
    /// $\lambda$ of the last step, as $-h\lambda$.
    last: Vec<f64>,
    left: Vec<f64>,
    clock: Clock,
    events: Events,
}

impl ConservingTangentStepper<'_> {
    /// Evaluates all parts at the trial.
    fn evaluate(&mut self, start: Start<'_>) {
        let Start { q, t, h, .. } = start;
        self.equations.evaluate(start, &self.x);
        self.equations.evaluate_end(start, &self.x);
        let rows = self.system.equalities();
        for ((m, a), b) in self.middle.iter_mut().zip(q).zip(&self.x) {
            *m = 0.5 * (a + b);
        }
        let middle = t + 0.5 * h;
        rows.gradients(&self.middle, middle, &mut self.at_middle);
        rows.multiply(&self.equations.end, &self.y, &mut self.f);
        if rows.is_rheonomic() {
            rows.rates(&self.x, t + h, &mut self.rates);
            for (f, rate) in self.f.iter_mut().zip(&self.rates) {
                *f += 0.5 * h * rate;
            }
        }
        self.by_position.fill(0.0);
        self.bends.fill(0.0);
        for &i in &self.curved {
            let (columns, span, field) = (rows.columns(i), rows.span(i), rows.field(i));
            let hessian = &mut self.hessians[i];
            hessian.fill(0.0);
            field.hessian(&self.middle, middle, 1.0, hessian);
            let out = &mut self.by_position[span.clone()];
            let bends = &mut self.bends[span.clone()];
            for ((row, out), bend) in hessian.chunks_exact(columns.len()).zip(out).zip(bends) {
                for (a, &c) in row.iter().zip(columns) {
                    *out += 0.5 * a * (self.before[c] + self.y[c]);
                    *bend += a * self.y[c];
                }
            }
        }
        self.complete(start);
    }

    /// Makes $(B, C)$ a discrete gradient of $\dot f$, as \[Gonzalez 1996\] does, where the midpoint gives none: not for quadratic constraints.
    fn complete(&mut self, start: Start<'_>) {
        let (q, rows) = (start.q, self.system.equalities());
        let begin = &self.held.gradients;
        for &i in &self.curved {
            let (mut defect, mut size, mut squared) = (0.0, 0.0, 0.0);
            let (columns, span) = (rows.columns(i), rows.span(i));
            for (k, &c) in span.clone().zip(columns) {
                let (d, y0, y1) = (self.x[c] - q[c], self.before[c], self.y[c]);
                let terms = [
                    self.equations.end[k] * y1,
                    -begin[k] * y0,
                    -self.at_middle[k] * (y1 - y0),
                    -self.by_position[k] * d,
                ];
                defect += terms.iter().sum::<f64>();
                size += terms.iter().map(|x| x.abs()).sum::<f64>();
                squared += d * d;
            }
            if defect.abs() > 16.0 * f64::EPSILON * size && squared > 0.0 {
                for (k, &c) in span.zip(columns) {
                    self.by_position[k] += defect / squared * (self.x[c] - q[c]);
                }
            }
        }
    }

    /// Newton's method from the velocity at the start and the last multipliers.
    fn solve(&mut self, start: Start<'_>) -> Result<(usize, f64), StepError> {
        let (n, m) = (self.system.dimension(), self.multipliers.len());
        let rows = self.system.equalities();
        // A redundant row holds by the others, and its multipliers stay zero.
        let (on, tangent) = self.active.split_at_mut(m);
        on.copy_from_slice(self.held.independent());
        tangent.copy_from_slice(self.held.independent());
        let mut course = self.tolerances.full();
        let mut scale = norm_inf(start.q).max(norm_inf(&self.x)).max(f64::MIN_POSITIVE);
        for iteration in 1..=self.tolerances.iterations {
            self.evaluate(start);
            if course.wants_matrix() {
                for (i, scale) in self.scales.iter_mut().enumerate() {
                    let size = norm_inf(&self.equations.end[rows.span(i)]);
                    *scale = if size > 0.0 { 1.0 / size } else { 1.0 };
                }
                self.factorise(start).map_err(|error| self.failure(start.t, iteration, error))?;
            }
            self.residual(start);
            let (moves, forces) = (&mut self.step.0, &mut self.step.1);
            let solved = self.matrix.solve(&self.forces, &self.defects, moves, forces);
            solved.map_err(|error| self.failure(start.t, iteration, error))?;
            let mut moved = norm_inf(&self.step.0);
            add(&mut self.x, &self.step.0[..n]);
            add(&mut self.y, &self.step.0[n..]);
            // What the changes of multipliers move, in the units of positions.
            let (forces, shifts) = self.step.1.split_at(m);
            let changes = [
                (forces, &self.equations.averaged, &mut self.multipliers),
                (shifts, &self.at_middle, &mut self.shifts),
            ];
            for (change, gradients, of) in changes {
                self.p.fill(0.0);
                for (i, d) in change.iter().enumerate() {
                    let d = d * self.scales[i] * self.heft;
                    of[i] += d;
                    rows.add_row(i, gradients, d, &mut self.p);
                }
                self.system.mass().solve(&self.p, &mut self.scratch);
                moved = moved.max(norm_inf(&self.scratch));
            }
            course.stepped(moved);
            scale = scale.max(norm_inf(&self.x));
            if !moved.is_finite() {
                return Err(self.not_converged(start.t, iteration, f64::NAN));
            }
            if course.ends(scale) {
                self.evaluate(start);
                return Ok((iteration, course.last() / scale));
            }
        }
        Err(self.not_converged(start.t, self.tolerances.iterations, course.last()))
    }

    fn failure(&self, t: f64, iterations: usize, error: LinearError) -> StepError {
        let (names, rows) = (self.system.names(), self.system.equalities());
        if let Some(i) = motion_without_inertia(self.system.mass(), rows, &self.equations.end) {
            let coordinate = names[i].clone();
            return StepError::Method { t, source: Box::new(SystemError::Massless { coordinate }) };
        }
        let (n, m) = (names.len(), rows.len());
        match error {
            LinearError::Singular { pivot, .. } if pivot < 2 * (n + m) => {
                let culprit = match pivot.checked_sub(2 * n) {
                    None => names[pivot % n].clone(),
                    Some(k) => rows.name(k % m).to_owned(),
                };
                StepError::Singular { t, what: "the matrix of the step", culprit }
            }
            // An iterate that ran away, where rows are as good as dependent.
            _ => self.not_converged(t, iterations, f64::INFINITY),
        }
    }

    fn not_converged(&self, t: f64, iterations: usize, residual: f64) -> StepError {
        let rows = self.system.equalities();
        let culprit = match largest(&self.equations.f) {
            (i, _) if !rows.is_empty() => rows.name(i).to_owned(),
            _ => self.system.names()[0].clone(),
        };
        let what = "the conserving step with velocities on the constraints";
        if residual.is_nan() {
            StepError::NotFinite { t, what, culprit }
        } else {
            StepError::NotConverged { t, what, iterations, residual, culprit }
        }
    }
}

impl Stepper for ConservingTangentStepper<'_> {
    type State = State;

    fn step(&mut self, state: &mut State) -> Result<StepReport, StepError> {
        self.system.check_lengths(state)?;
        if self.left != state.q {
            check_position(self.system, (&state.q, state.t), &mut self.equations.f)?;
        }
        let (h, t) = (self.h, state.t);
        self.held.place(&state.q, t)?;
        for i in 0..state.q.len() {
            self.before[i] = 0.5 * h * state.v[i];
            self.x[i] = state.q[i] + h * state.v[i];
        }
        self.y.copy_from_slice(&self.before);
        self.shifts.fill(0.0);
        let independent = self.held.independent();
        for (i, scaled) in self.multipliers.iter_mut().enumerate() {
            *scaled = if independent[i] { -0.5 * h * self.last[i] } else { 0.0 };
        }
        let start = Start { q: &state.q, p: &state.p, t, h };
        let (iterations, residual) = self.solve(start)?;
        // Formed from forces, which costs no digits, and made tangent to the last of them.
        for ((new, p), s) in self.p.iter_mut().zip(&state.p).zip(&self.equations.slope) {
            *new = p - h * s;
        }
        let rows = self.system.equalities();
        rows.add_transposed(&self.equations.averaged, &self.multipliers, -2.0 / h, &mut self.p);
        rows.add_transposed(&self.by_position, &self.shifts, -2.0 / h, &mut self.p);
        self.held.place(&self.x, t + h)?;
        let tangent = self.held.project(&mut self.p);
        tangent.map_err(|error| self.held.failure(t, &error))?;
        self.system.check_finite(t, t + h, &self.x, &self.held.velocity)?;
        for (impulse, scaled) in self.last.iter_mut().zip(&self.multipliers) {
            *impulse = -2.0 / h * scaled;
        }
        state.q.copy_from_slice(&self.x);
        state.p.copy_from_slice(&self.p);
        state.v.copy_from_slice(&self.held.velocity);
        state.t = self.clock.tick(t);
        self.left.copy_from_slice(&state.q);
        Ok(StepReport { iterations, residual, ..StepReport::default() })
    }

    fn step_size(&self) -> f64 {
        self.h
    }

    fn events(&self) -> &Events {
        &self.events
    }

    fn equality_impulses(&self) -> Option<&[f64]> {
        Some(&self.last)
    }
}

fn add(x: &mut [f64], d: &[f64]) {
    for (x, d) in x.iter_mut().zip(d) {
        *x += d;
    }
}
