//! One step of the generalized-α method with the constraints at position, velocity or acceleration level.
//!
//! At $t_{n+1}$, \[PB\] (56)–(74),
//! $$ M \dot v + G_{\ast}^\top \lambda = f, \qquad
//!    g = 0 \quad\text{or}\quad G v + g_t = 0 \quad\text{or}\quad G \dot v + \dot G v + \dot g_t = 0 $$
//! with the difference formulae of [`Coefficients`] and $G_{\ast} = G$ or $G_{\mathcal{E}}$. Newton's
//! method has one unknown increment $x$ of the level of the constraint,
//! $\Delta q = c_q x,\ \Delta v = c_v x,\ \Delta \dot v = c_a x$ with $c_q = 1$, $c_v = 1$ or $c_a = 1$:
//! $$ \begin{pmatrix} \tfrac{s}{\kappa}(c_a M + c_v C_t + c_q K_t) & G_{\ast}^\top \\\\
//!    G + \dots & 0 \end{pmatrix}
//!    \begin{pmatrix} x \\\\ \tfrac{s}{\kappa} \Delta\lambda \end{pmatrix} $$
//! with $s = h^2, h, 1$ and the mass scale $\kappa$. Every entry stays of order one as $h \to 0$, so the
//! condition number does not grow with $1/h^2$ as that of (64) does [Bottasso, Bauchau & Cardona 2007].
//! The tangents are exact but for the third derivatives of $g$ at acceleration level, which enter with $h^2$.

use nsm_model::{StepError, System, SystemError};
use nsm_solvers::LinearError;
use nsm_solvers::newton::Matrices;
use nsm_solvers::small::norm_inf;

use crate::bilateral::Bilateral;
use crate::equations::Equations;
use crate::saddle::{Border, Saddle};
use crate::{AlphaError, Coefficients, NewtonOptions};

/// The level at which the constraints are enforced: the differentiation index of the equations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Index {
    /// $g = 0$ (58).
    Three,
    /// $G v + g_t = 0$ (68).
    Two,
    /// $G \dot v + \dot G v + \dot g_t = 0$ (74).
    One,
}

impl Index {
    /// The spectral radius $\rho_\infty$ to take where nothing is known of the motion.
    ///
    /// At index 3 nothing but $\rho_\infty$ damps errors of the multipliers, and they grow where a motion turns fast: a top that spins with
    /// $\omega$ is lost at $\rho_\infty = 0.98$ from $\omega h = 0.05$ on, at 0.8 from 0.25 on, and is sound with 0.7 there. The
    /// other levels damp by themselves, and 0.98 changes their energy least.
    #[must_use]
    pub fn spectral_radius(self) -> f64 {
        match self {
            Self::Three => 0.7,
            Self::Two | Self::One => 0.98,
        }
    }
}

/// The step in the words of an error: where constraints stand on position level, nothing but $\rho_\infty$ damps errors of their multipliers, and
/// with little of it they grow in whatever turns fast until no step is solved any more.
fn step_with(index: Index, c: &Coefficients) -> &'static str {
    // α_f = ρ / (ρ + 1).
    const WEAK: f64 = 0.8;
    if index == Index::Three && c.alpha_f > WEAK / (WEAK + 1.0) {
        "the generalized-α step (on position level a `rho` above 0.8 lets multipliers grow: try 0.7)"
    } else {
        "the generalized-α step"
    }
}

/// A point of a generalized-α solution.
#[derive(Clone, Debug)]
pub(crate) struct Motion {
    pub(crate) t: f64,
    pub(crate) q: Vec<f64>,
    pub(crate) v: Vec<f64>,
    /// $\dot v$.
    pub(crate) acceleration: Vec<f64>,
    /// The auxiliary $a$ of (61).
    pub(crate) auxiliary: Vec<f64>,
}

impl Motion {
    pub(crate) fn new(n: usize) -> Self {
        Self {
            t: 0.0,
            q: vec![0.0; n],
            v: vec![0.0; n],
            acceleration: vec![0.0; n],
            auxiliary: vec![0.0; n],
        }
    }

    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.t = other.t;
        self.q.copy_from_slice(&other.q);
        self.v.copy_from_slice(&other.v);
        self.acceleration.copy_from_slice(&other.acceleration);
        self.auxiliary.copy_from_slice(&other.auxiliary);
    }
}

/// What a Newton solve did.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Solved {
    pub(crate) iterations: usize,
    pub(crate) residual: f64,
}

/// The Newton solver of one step, with its workspace.
#[derive(Debug)]
pub(crate) struct Implicit<'a> {
    pub(crate) equations: Equations<'a>,
    pub(crate) saddle: Saddle,
    pub(crate) newton: NewtonOptions,
    /// $\kappa$.
    pub(crate) scale: f64,
    /// The end of the step.
    pub(crate) end: Motion,
    pub(crate) multipliers: Vec<f64>,
    gradient: Vec<f64>,
    /// Derivatives of the constraints at their level.
    lower: Vec<f64>,
    values: Vec<f64>,
    pub(crate) force: Vec<f64>,
    inertia: Vec<f64>,
    reaction: Vec<f64>,
}

impl<'a> Implicit<'a> {
    /// The solver for a system whose contacts may be held closed among the constraints, if `contacts` says so.
    pub(crate) fn new(
        system: &'a System,
        newton: NewtonOptions,
        contacts: bool,
    ) -> Result<Self, SystemError> {
        let n = system.dimension();
        let m = Bilateral::capacity_of(system, contacts);
        let entries = Bilateral::entries_of(system, contacts);
        Ok(Self {
            equations: Equations::new(system),
            saddle: Saddle::new(system, contacts)?,
            newton,
            scale: 1.0,
            end: Motion::new(n),
            multipliers: vec![0.0; m],
            gradient: vec![0.0; entries],
            lower: vec![0.0; entries],
            values: vec![0.0; m],
            force: vec![0.0; n],
            inertia: vec![0.0; n],
            reaction: vec![0.0; n],
        })
    }

    /// Solves the step of size $h$ from `from` into [`end`](Self::end), with the multipliers.
    ///
    /// `intermediate` are the rows of $G_{\mathcal{E}}$ where they replace $G$ in the balance of momentum.
    pub(crate) fn solve(
        &mut self,
        c: &Coefficients,
        index: Index,
        h: f64,
        from: &Motion,
        rows: &mut Bilateral<'a>,
        intermediate: Option<&[f64]>,
    ) -> Result<Solved, StepError> {
        let (n, m) = (self.equations.n, rows.len());
        self.predict(c, h, from);
        // Increments at the level of the constraint, and the row scaling that belongs to it.
        let ratio_a = (1.0 - c.alpha_m) / (c.beta * (1.0 - c.alpha_f));
        let ratio_v = c.gamma / c.beta;
        let (c_q, c_v, c_a, s) = match index {
            Index::Three => (1.0, ratio_v / h, ratio_a / (h * h), h * h),
            Index::Two => (h / ratio_v, 1.0, ratio_a / ratio_v / h, h),
            Index::One => (h * h / ratio_a, h * ratio_v / ratio_a, 1.0, 1.0),
        };
        let w = s / self.scale;
        // A factorisation costs many solves where the unknowns are many.
        let sparse = self.saddle.is_sparse();
        let mut course = self.newton.course(if sparse { Matrices::Chord } else { Matrices::Full });
        let mut iterations = 0;
        let residual = loop {
            self.residual(index, rows, intermediate);
            if let Some(culprit) = self.not_finite(m) {
                return Err(StepError::NotFinite {
                    t: from.t,
                    what: "the balance of momentum or a constraint",
                    culprit: self.culprit(culprit, rows),
                });
            }
            iterations += 1;
            if course.wants_matrix()
                && let Err(error) = self.assemble(index, (c_q, c_v, c_a), w, rows, intermediate)
            {
                return Err(self.singular(error, from.t, rows));
            }
            let (r, g) = self.saddle.rhs();
            for i in 0..n {
                r[i] = -w * (self.inertia[i] + self.reaction[i] - self.force[i]);
            }
            for i in 0..m {
                g[i] = -self.values[i];
            }
            if let Err(error) = self.saddle.solve() {
                return Err(self.singular(error, from.t, rows));
            }
            let (x, mu) = self.saddle.rhs();
            let end = &mut self.end;
            course.stepped(norm_inf(x) * c_q.max(h * c_v));
            for i in 0..n {
                end.q[i] += c_q * x[i];
                end.v[i] += c_v * x[i];
                end.acceleration[i] += c_a * x[i];
            }
            for i in 0..m {
                self.multipliers[i] += mu[i] / w;
            }
            let scale = norm_inf(&end.q).max(h * norm_inf(&end.v)).max(f64::MIN_POSITIVE);
            let last = course.last();
            if course.ends(scale) {
                break last / scale;
            }
            if iterations == self.newton.iterations || last.is_nan() {
                return Err(StepError::NotConverged {
                    t: from.t,
                    what: step_with(index, c),
                    iterations,
                    residual: last / scale,
                    culprit: self.worst(n, m, rows),
                });
            }
        };
        self.auxiliary(c, from);
        Ok(Solved { iterations, residual })
    }

    /// First guess: the acceleration stays.
    fn predict(&mut self, c: &Coefficients, h: f64, from: &Motion) {
        let end = &mut self.end;
        end.t = from.t + h;
        end.acceleration.copy_from_slice(&from.acceleration);
        for i in 0..end.q.len() {
            let (a0, rate) = (from.auxiliary[i], from.acceleration[i]);
            let a1 = (rate - c.alpha_m * a0) / (1.0 - c.alpha_m);
            end.q[i] = from.q[i] + h * from.v[i] + h * h * ((0.5 - c.beta) * a0 + c.beta * a1);
            end.v[i] = from.v[i] + h * ((1.0 - c.gamma) * a0 + c.gamma * a1);
        }
    }

    /// $a_{n+1}$ from (61).
    fn auxiliary(&mut self, c: &Coefficients, from: &Motion) {
        let end = &mut self.end;
        for i in 0..end.q.len() {
            end.auxiliary[i] = ((1.0 - c.alpha_f) * end.acceleration[i]
                + c.alpha_f * from.acceleration[i]
                - c.alpha_m * from.auxiliary[i])
                / (1.0 - c.alpha_m);
        }
    }

    /// Residuals at the iterate.
    fn residual(&mut self, index: Index, rows: &mut Bilateral<'a>, intermediate: Option<&[f64]>) {
        let m = rows.len();
        let Motion { t, q, v, acceleration, .. } = &self.end;
        let t = *t;
        rows.gradient(q, t, &mut self.gradient);
        let (gradient, values) = (&self.gradient[..], &mut self.values[..m]);
        match index {
            Index::Three => rows.values(q, t, values),
            Index::Two => {
                rows.rates(q, t, values);
                rows.add_product(gradient, v, values);
            }
            Index::One => {
                rows.curvatures(q, t, v, values);
                rows.add_product(gradient, acceleration, values);
            }
        }
        self.equations.force(q, v, t, &mut self.force);
        self.equations.system.momentum(q, acceleration, &mut self.inertia);
        self.reaction.fill(0.0);
        let lambda = &self.multipliers[..m];
        border(intermediate, gradient).add_transposed(rows, 1.0, lambda, &mut self.reaction);
    }

    /// The first equation whose residual is not finite.
    fn not_finite(&self, m: usize) -> Option<usize> {
        let balance = self.inertia.iter().zip(&self.reaction).zip(&self.force);
        let residuals =
            balance.map(|((a, r), f)| a + r - f).chain(self.values[..m].iter().copied());
        residuals.enumerate().find(|(_, x)| !x.is_finite()).map(|(i, _)| i)
    }

    /// Name of the constraint, or else of the coordinate, whose equation is solved worst.
    #[cold]
    fn worst(&self, n: usize, m: usize, rows: &Bilateral<'a>) -> String {
        let defect = |i: usize| match i.checked_sub(n) {
            Some(row) => self.values[row].abs(),
            None => (self.inertia[i] + self.reaction[i] - self.force[i]).abs(),
        };
        let worst =
            |range: std::ops::Range<usize>| range.max_by(|&i, &j| defect(i).total_cmp(&defect(j)));
        self.culprit(worst(n..n + m).or(worst(0..n)).unwrap_or(0), rows)
    }

    /// Assembles and factorises the matrix at the iterate.
    fn assemble(
        &mut self,
        index: Index,
        (c_q, c_v, c_a): (f64, f64, f64),
        w: f64,
        rows: &mut Bilateral<'a>,
        intermediate: Option<&[f64]>,
    ) -> Result<(), LinearError> {
        let m = rows.len();
        let Motion { t, q, v, acceleration, .. } = &self.end;
        let t = *t;
        let leading = self.saddle.begin();
        self.equations.add_mass(q, w * c_a, leading);
        self.equations.add_inertia_tangent(q, acceleration, w * c_q, leading);
        self.equations.add_force_tangent((q, v, t), (-w * c_q, -w * c_v), leading);
        // With the intermediate gradient its own turning is left out: it is frozen in the iteration.
        if intermediate.is_none() {
            rows.add_hessian((q, t), &self.multipliers[..m], w * c_q, leading);
        }
        // At every level the gradient enters with the weight one.
        let lower = if m == 0 || index == Index::Three {
            &self.gradient
        } else {
            self.lower.copy_from_slice(&self.gradient);
            if index == Index::Two {
                rows.add_turning((q, t), v, (c_q, 1.0), &mut self.lower);
            } else {
                rows.add_turning((q, t), v, (2.0 * c_v, 1.0), &mut self.lower);
                rows.add_turning((q, t), acceleration, (c_q, 0.0), &mut self.lower);
            }
            &self.lower
        };
        self.saddle.factor(rows, border(intermediate, &self.gradient), lower)
    }

    /// Consistent accelerations and multipliers at `point`: $M \dot v + G^\top \lambda = f$, $\ddot g = 0$;
    /// the auxiliary acceleration starts as $a_0 = \dot v_0$.
    pub(crate) fn accelerate(
        &mut self,
        point: &mut Motion,
        rows: &mut Bilateral<'a>,
    ) -> Result<(), AlphaError> {
        let (n, m) = (self.equations.n, rows.len());
        let Motion { t, q, v, acceleration, auxiliary } = point;
        self.scale = self.equations.mass_scale(q);
        let w = 1.0 / self.scale;
        rows.gradient(q, *t, &mut self.gradient);
        rows.curvatures(q, *t, v, &mut self.values[..m]);
        self.equations.force(q, v, *t, &mut self.force);
        self.equations.add_mass(q, w, self.saddle.begin());
        let undetermined = |pivot: usize| AlphaError::Undetermined {
            culprit: name_of(self.equations.system, pivot, rows),
        };
        let border = Border::Rows(&self.gradient);
        self.saddle.factor(rows, border, &self.gradient).map_err(|e| undetermined(pivot_of(&e)))?;
        let (r, g) = self.saddle.rhs();
        for i in 0..n {
            r[i] = w * self.force[i];
        }
        for i in 0..m {
            g[i] = -self.values[i];
        }
        self.saddle.solve().map_err(|e| undetermined(pivot_of(&e)))?;
        let (x, mu) = self.saddle.rhs();
        acceleration.copy_from_slice(x);
        auxiliary.copy_from_slice(x);
        for i in 0..m {
            self.multipliers[i] = mu[i] / w;
        }
        match acceleration.iter().position(|a| !a.is_finite()) {
            Some(i) => Err(undetermined(i)),
            None => Ok(()),
        }
    }

    fn culprit(&self, i: usize, rows: &Bilateral<'a>) -> String {
        name_of(self.equations.system, i, rows)
    }

    pub(crate) fn singular(&self, error: LinearError, t: f64, rows: &Bilateral<'a>) -> StepError {
        StepError::Singular {
            t,
            what: "the matrix of the step",
            culprit: self.culprit(pivot_of(&error), rows),
        }
    }
}

/// $G_{\mathcal{E}}$ if there is one, else $G$.
pub(crate) fn border<'b>(intermediate: Option<&'b [f64]>, gradient: &'b [f64]) -> Border<'b> {
    intermediate.map_or(Border::Rows(gradient), Border::Full)
}

/// Name of equation `i`: a coordinate, or a constraint after them.
fn name_of(system: &System, i: usize, rows: &Bilateral<'_>) -> String {
    match system.names().get(i) {
        Some(name) => name.clone(),
        None => rows.name(i - system.dimension()).to_owned(),
    }
}

fn pivot_of(error: &LinearError) -> usize {
    match error {
        LinearError::Singular { pivot, .. } | LinearError::NotPositiveDefinite { pivot, .. } => {
            *pivot
        }
        LinearError::NotFinite { index, .. } | LinearError::Index { index, .. } => *index,
        _ => 0,
    }
}
