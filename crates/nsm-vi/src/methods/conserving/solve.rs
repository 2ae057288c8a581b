//! Solvers of the conserving step: Newton on positions and multipliers at once, and the augmented
//! Lagrangian of García Orden & Ortega.
//!
//! The second iterates $\lambda_{k+1} = \lambda_k + \varrho f(x_k)$ with $x_k$ from Newton on $x$ alone
//! (\[GO\] section 6, penalty $10^3$). Both find the same step; the first needs a third of the iterations.

use nsm_model::{StepError, System, SystemError, motion_without_inertia};
use nsm_solvers::kkt::{Kkt, KktPath, KktPattern};
use nsm_solvers::small::norm_inf;
use nsm_solvers::{LinearError, LinearSystem, Structure};

use super::equations::{Equations, Start};
use super::frozen::Frozen;
use super::loaded::LoadedMass;
use crate::Tolerances;
use crate::shared::held::Held;
use crate::shared::position::largest;

/// How the equations of a [`Conserving`](crate::Conserving) step are solved.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum ConstraintSolver {
    /// Newton on $(q, \lambda)$.
    #[default]
    Simultaneous,
    /// Augmented Lagrangian: Newton on $q$ within an iteration of $\lambda$.
    Augmented {
        /// $\varrho$, in the units of a multiplier per unit of constraint.
        penalty: f64,
        /// Newton on $q$ ends below this residual $|R|$ (momentum).
        residual: f64,
        /// The iteration of $\lambda$ ends below this violation.
        violation: f64,
    },
}

impl ConstraintSolver {
    /// The augmented Lagrangian as in \[GO\]: penalty $10^3$, $|R| < 10^{-10}$, $|\Phi| < 10^{-9}$.
    pub fn augmented() -> Self {
        Self::Augmented { penalty: 1e3, residual: 1e-10, violation: 1e-9 }
    }

    pub(super) fn check(&self) -> Result<(), SystemError> {
        let Self::Augmented { penalty, residual, violation } = *self else { return Ok(()) };
        for (what, value) in [
            ("the penalty", penalty),
            ("the residual to reach", residual),
            ("the violation to reach", violation),
        ] {
            if !(value.is_finite() && value > 0.0) {
                let must = "positive and finite";
                return Err(SystemError::Parameter { what, must, value });
            }
        }
        Ok(())
    }
}

/// Workspace of a solver and its last solution.
#[derive(Debug)]
pub(super) struct Solver<'a> {
    pub(super) equations: Equations<'a>,
    kind: ConstraintSolver,
    tolerances: Tolerances,
    matrix: Matrix,
    values: Vec<f64>,
    /// The end of the step, and $\Lambda = \tfrac{h^2}2\lambda$.
    pub(super) x: Vec<f64>,
    pub(super) multipliers: Vec<f64>,
    guess: Vec<f64>,
    guessed: Vec<f64>,
    rhs: Vec<f64>,
    b: Vec<f64>,
    /// The last Newton step of positions and multipliers.
    step: (Vec<f64>, Vec<f64>),
    scratch: Vec<f64>,
    r: Vec<f64>,
    /// Present where there are equalities; tells which of them are redundant.
    pub(super) held: Option<Held<'a>>,
    /// Present where the mass is regular.
    frozen: Option<Frozen>,
    /// Present where loads enter the frozen matrix.
    loaded: Option<LoadedMass>,
    /// Whether the equalities are placed in the middle of the flight, as they are where none depends on others.
    middle: bool,
    pub(super) residual: f64,
}

/// The matrix of positions alone, or of positions and multipliers.
#[derive(Debug)]
enum Matrix {
    Positions(Box<LinearSystem>),
    Both(Box<Kkt>),
}

impl<'a> Solver<'a> {
    pub(super) fn new(
        equations: Equations<'a>,
        kind: ConstraintSolver,
        tolerances: Tolerances,
    ) -> Result<Self, SystemError> {
        let system = equations.system;
        let (n, rows) = (system.dimension(), system.equalities());
        let m = rows.len();
        let pattern = equations.pattern();
        let matrix = match kind {
            ConstraintSolver::Augmented { .. } => {
                LinearSystem::new(n, &pattern, Structure::General)
                    .map(|matrix| Matrix::Positions(Box::new(matrix)))
            }
            ConstraintSolver::Simultaneous => {
                let columns = |i| rows.columns(i).iter().map(move |&c| (i, c));
                let gradients: Vec<_> = (0..m).flat_map(columns).collect();
                let block = &pattern[..];
                let pattern = KktPattern {
                    unknowns: n,
                    rows: m,
                    block,
                    gradients: &gradients,
                    symmetric: false,
                };
                Kkt::with_path(&pattern, KktPath::Condensed)
                    .map(|matrix| Matrix::Both(Box::new(matrix)))
            }
        };
        let matrix = matrix.map_err(|error| SystemError::DoesNotFit {
            method: "the conserving step",
            why: error.to_string(),
        })?;
        Ok(Self {
            kind,
            tolerances,
            matrix,
            values: vec![0.0; pattern.len()],
            x: vec![0.0; n],
            multipliers: vec![0.0; m],
            guess: vec![0.0; n],
            guessed: vec![0.0; m],
            rhs: vec![0.0; n],
            b: vec![0.0; m],
            step: (vec![0.0; n], vec![0.0; m]),
            scratch: vec![0.0; n],
            r: vec![0.0; n],
            held: if m == 0 { None } else { Some(Held::new(system)?) },
            frozen: (m > 0 && system.mass().massless().is_empty()).then(|| Frozen::new(n, m)),
            loaded: if m == 0 { None } else { LoadedMass::new(system) },
            middle: false,
            residual: 0.0,
            equations,
        })
    }

    /// Rows that were left out of the last step because they depend on others.
    pub(super) fn redundant(&self) -> &[usize] {
        self.held.as_ref().map_or(&[], |held| held.redundant())
    }

    /// Solves the step from the predictor in `x` and the multipliers of the last step.
    pub(super) fn solve(&mut self, start: Start<'_>) -> Result<usize, StepError> {
        match self.kind {
            ConstraintSolver::Simultaneous => self.simultaneous(start),
            ConstraintSolver::Augmented { penalty, residual, violation } => {
                self.augmented(start, penalty, (residual, violation))
            }
        }
    }

    fn simultaneous(&mut self, start: Start<'_>) -> Result<usize, StepError> {
        if let Some(held) = &mut self.held {
            // Which rows depend on others shows where they hold, not in the middle.
            let mut placed = false;
            if let Some(loaded) = &mut self.loaded {
                let rows = self.equations.system.equalities();
                let given = loaded.give(rows, held, &self.multipliers);
                given.map_err(|error| held.failure(start.t, &error))?;
            }
            if self.middle {
                for ((guess, q), x) in self.guess.iter_mut().zip(start.q).zip(&self.x) {
                    *guess = 0.5 * (q + x);
                }
                let middle = held.place(&self.guess, start.t + 0.5 * start.h);
                placed = middle.is_ok() && held.redundant().is_empty();
            }
            if !placed {
                held.place(start.q, start.t)?;
                self.middle = self.frozen.is_some() && held.redundant().is_empty();
            }
            for &i in held.redundant() {
                self.multipliers[i] = 0.0;
            }
        }
        if let (Some(frozen), Some(held)) = (&mut self.frozen, &mut self.held) {
            self.guess.copy_from_slice(&self.x);
            self.guessed.copy_from_slice(&self.multipliers);
            let at = (&mut self.x[..], &mut self.multipliers[..]);
            let solved = frozen.solve(&mut self.equations, held, start, at, &self.tolerances);
            if let Some((iterations, residual)) = solved {
                self.residual = residual;
                return Ok(iterations);
            }
            self.x.copy_from_slice(&self.guess);
            self.multipliers.copy_from_slice(&self.guessed);
        }
        // Where the matrix at the start was of no use, that of an earlier iteration is of little.
        let frozen = self.frozen.is_some();
        let mut course = if frozen { self.tolerances.full() } else { self.tolerances.chord() };
        let mut scale = norm_inf(start.q).max(norm_inf(&self.x)).max(f64::MIN_POSITIVE);
        for iteration in 1..=self.tolerances.iterations {
            self.equations.evaluate(start, &self.x);
            let fresh = course.wants_matrix();
            self.newton_step(start, fresh).map_err(|error| self.failure(start.t, error))?;
            let (dx, dl) = &self.step;
            let moved = norm_inf(dx);
            for (x, d) in self.x.iter_mut().zip(dx) {
                *x += d;
            }
            for (l, d) in self.multipliers.iter_mut().zip(dl) {
                *l += d;
            }
            // What the change of the multipliers would move, in the units of positions.
            self.r.fill(0.0);
            let rows = self.equations.system.equalities();
            rows.add_transposed(&self.equations.averaged, dl, 1.0, &mut self.r);
            self.equations.system.mass().solve(&self.r, &mut self.scratch);
            course.stepped(moved.max(norm_inf(&self.scratch)));
            scale = scale.max(norm_inf(&self.x));
            if !course.last().is_finite() {
                return Err(self.not_finite(start.t));
            }
            if course.ends(scale) {
                self.residual = course.last() / scale;
                return Ok(iteration);
            }
        }
        Err(self.not_converged(start.t, self.tolerances.iterations, course.last()))
    }

    /// Leaves the Newton step of positions and multipliers in `step`, by a `fresh` matrix or by the last one.
    fn newton_step(&mut self, start: Start<'_>, fresh: bool) -> Result<(), LinearError> {
        let Matrix::Both(matrix) = &mut self.matrix else { return Err(LinearError::NotFactorised) };
        self.equations.residual(start, &self.x, &self.multipliers, &mut self.r, &mut self.scratch);
        for (rhs, r) in self.rhs.iter_mut().zip(&self.r) {
            *rhs = -r;
        }
        for (b, f) in self.b.iter_mut().zip(&self.equations.f) {
            *b = -f;
        }
        if fresh {
            // A redundant row holds by the others, and its multiplier stays zero.
            let independent = self.held.as_ref().map_or(&[][..], |held| held.independent());
            self.equations.evaluate_end(start, &self.x);
            self.equations.jacobian(start, &self.x, &self.multipliers, 0.0, &mut self.values);
            matrix.set_block(&self.values)?;
            let (columns, lines) = (&self.equations.averaged, &self.equations.end);
            matrix.factorise_active(columns, lines, &[], independent)?;
        }
        matrix.solve(&self.rhs, &self.b, &mut self.step.0, &mut self.step.1)
    }

    fn augmented(
        &mut self,
        start: Start<'_>,
        penalty: f64,
        (residual, violation): (f64, f64),
    ) -> Result<usize, StepError> {
        let half = 0.5 * start.h;
        // In the scaling of Λ, and of r = (h/2) R.
        let (penalty, target) = (half * start.h * penalty, half * residual);
        let scale = norm_inf(start.q).max(norm_inf(&self.x)).max(f64::MIN_POSITIVE);
        let (mut total, mut worst) = (0, f64::INFINITY);
        for _ in 0..50 * self.tolerances.iterations {
            let mut course = self.tolerances.full();
            let mut inner = 0;
            loop {
                self.equations.evaluate(start, &self.x);
                self.equations.evaluate_end(start, &self.x);
                let (equations, r) = (&self.equations, &mut self.r);
                equations.residual(start, &self.x, &self.multipliers, r, &mut self.scratch);
                let rows = equations.system.equalities();
                rows.add_transposed(&equations.averaged, &equations.f, penalty, r);
                let size = norm_inf(&self.r);
                if size <= target || course.ends(scale) {
                    self.residual = size / half;
                    break;
                }
                if inner == self.tolerances.iterations || !size.is_finite() {
                    return Err(self.not_converged(start.t, total, size / half));
                }
                let values = &mut self.values[..];
                self.equations.jacobian(start, &self.x, &self.multipliers, penalty, values);
                for (rhs, r) in self.rhs.iter_mut().zip(&self.r) {
                    *rhs = -r;
                }
                self.position_step().map_err(|error| self.failure(start.t, error))?;
                course.stepped(norm_inf(&self.rhs));
                for (x, d) in self.x.iter_mut().zip(&self.rhs) {
                    *x += d;
                }
                inner += 1;
                total += 1;
            }
            for (l, f) in self.multipliers.iter_mut().zip(&self.equations.f) {
                *l += penalty * f;
            }
            worst = norm_inf(&self.equations.f);
            if worst <= violation {
                return Ok(total);
            }
        }
        Err(self.not_converged(start.t, total, worst))
    }

    /// Solves for the step of the positions alone, in `rhs`.
    fn position_step(&mut self) -> Result<(), LinearError> {
        let Matrix::Positions(matrix) = &mut self.matrix else {
            return Err(LinearError::NotFactorised);
        };
        matrix.factorise(&self.values)?;
        matrix.solve_in_place(&mut self.rhs)
    }

    fn names(&self) -> &'a System {
        self.equations.system
    }

    fn failure(&self, t: f64, error: LinearError) -> StepError {
        let (names, rows) = (self.names().names(), self.names().equalities());
        if let Some(i) = motion_without_inertia(self.names().mass(), rows, &self.equations.end) {
            let coordinate = names[i].clone();
            return StepError::Method { t, source: Box::new(SystemError::Massless { coordinate }) };
        }
        match error {
            LinearError::Singular { pivot, .. } => {
                let name = |i: usize| match i.checked_sub(names.len()) {
                    None => names[i].clone(),
                    Some(k) if k < rows.len() => rows.name(k).to_owned(),
                    Some(_) => String::new(),
                };
                StepError::Singular { t, what: "the matrix of the step", culprit: name(pivot) }
            }
            LinearError::NotFinite { .. } => self.not_finite(t),
            other => StepError::Method { t, source: Box::new(other) },
        }
    }

    fn not_finite(&self, t: f64) -> StepError {
        let (i, _) = largest(&self.r);
        let culprit = self.names().names()[i].clone();
        StepError::NotFinite { t, what: "the equation of motion", culprit }
    }

    fn not_converged(&self, t: f64, iterations: usize, residual: f64) -> StepError {
        let rows = self.names().equalities();
        let (i, violation) = largest(&self.equations.f);
        let (j, remaining) = largest(&self.r);
        let culprit = if !rows.is_empty() && violation >= remaining {
            rows.name(i).to_owned()
        } else {
            self.names().names()[j].clone()
        };
        let what = "the conserving step";
        StepError::NotConverged { t, what, iterations, residual, culprit }
    }
}
