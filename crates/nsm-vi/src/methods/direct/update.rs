//! The constrained minimisation behind every direct method (\[KP\] (B.12), (B.18), (B.19)).
//!
//! With $y = q + \alpha(x - q)$ and $z = q + a(x - q)$ find $x$ and $\Lambda$ with
//! $$ \tfrac1h M (x - q) + w\\,s(z) - b = G(y)\Lambda + F(y)N, \qquad
//!    0 \le \Lambda \perp g(y) \ge 0, \qquad f(y) = 0 . $$
//! Constraint forces act along gradients at the place where the constraint holds: that fixes their size
//! whatever the energy, which is why these methods lose or gain it (\[KP\] Theorem B.1). Semismooth
//! Newton on $\min(c\Lambda, g)$ with the exact curvature of the constraints; redundant contacts take the
//! step and multipliers of minimum norm.

use nsm_constraints::Rows;
use nsm_model::{StepError, System};
use nsm_solvers::LinearError;
use nsm_solvers::small::{lu, norm_inf, qr::PivotedQr};

use crate::Tolerances;
use crate::shared::loads::Loads;

/// Where loads and constraints are evaluated.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scheme {
    /// Constraints hold at $q + \alpha(x - q)$, $t + \alpha h$.
    pub(super) alpha: f64,
    /// Implicit loads act at $q + a(x - q)$, $t + a h$.
    pub(super) a: f64,
    /// Their weight.
    pub(super) w: f64,
}

/// Workspace and result of the minimisation.
#[derive(Debug)]
pub(super) struct DirectUpdate<'a> {
    system: &'a System,
    pub(super) loads: Loads<'a>,
    tolerances: Tolerances,
    /// The new position.
    pub(super) x: Vec<f64>,
    /// $G\Lambda + FN$.
    pub(super) impulse: Vec<f64>,
    /// $\Lambda$ of every inequality.
    pub(super) lambda: Vec<f64>,
    /// Contacts that carry force.
    pub(super) closed: Vec<usize>,
    candidate: Vec<usize>,
    /// Relative size of the last Newton step.
    pub(super) residual: f64,
    nu: Vec<f64>,
    f: Vec<f64>,
    g: Vec<f64>,
    f_gradient: Vec<f64>,
    g_gradient: Vec<f64>,
    curvature: Vec<f64>,
    place: Vec<f64>,
    velocity: Vec<f64>,
    slope: Vec<f64>,
    pattern: Vec<(usize, usize)>,
    stiffness: Vec<f64>,
    mass: Vec<(usize, usize, f64)>,
    matrix: Vec<f64>,
    factor: Vec<f64>,
    pivots: Vec<usize>,
    rhs: Vec<f64>,
    solution: Vec<f64>,
    qr: PivotedQr,
}

impl<'a> DirectUpdate<'a> {
    pub(super) fn new(system: &'a System, tolerances: Tolerances) -> Self {
        let n = system.dimension();
        let (f, g) = (system.equalities(), system.inequalities());
        let block = f.largest_block().max(g.largest_block());
        let size = n + f.len() + g.len();
        let loads = Loads::new(system);
        let pattern = loads.stiffness_pattern();
        Self {
            system,
            loads,
            stiffness: vec![0.0; pattern.len()],
            pattern,
            tolerances,
            x: vec![0.0; n],
            impulse: vec![0.0; n],
            lambda: vec![0.0; g.len()],
            closed: Vec::with_capacity(g.len()),
            candidate: Vec::with_capacity(g.len()),
            residual: 0.0,
            nu: vec![0.0; f.len()],
            f: vec![0.0; f.len()],
            g: vec![0.0; g.len()],
            f_gradient: vec![0.0; f.entries()],
            g_gradient: vec![0.0; g.entries()],
            curvature: vec![0.0; block * block],
            place: vec![0.0; n],
            velocity: vec![0.0; n],
            slope: vec![0.0; n],
            mass: system.mass().entries(),
            matrix: vec![0.0; size * size],
            factor: vec![0.0; size * size],
            pivots: vec![0; size],
            rhs: vec![0.0; size],
            solution: vec![0.0; size],
            qr: PivotedQr::new(size, size),
        }
    }

    /// Solves for `x` and the impulses, given $b$; returns the iterations.
    pub(super) fn solve(
        &mut self,
        (q, b, t): (&[f64], &[f64], f64),
        h: f64,
        scheme: Scheme,
    ) -> Result<usize, StepError> {
        self.system.mass().solve(b, &mut self.x);
        for (x, q) in self.x.iter_mut().zip(q) {
            *x = q + h * *x;
        }
        self.lambda.fill(0.0);
        self.nu.fill(0.0);
        self.closed.clear();
        let mut course = self.tolerances.full();
        let size = norm_inf(q).max(norm_inf(&self.x)).max(f64::MIN_POSITIVE);
        for iteration in 1..=self.tolerances.iterations {
            let scale = size.max(norm_inf(&self.x));
            let settled = self.constraints(q, t, h, scheme, iteration);
            if settled && course.ends(scale) {
                self.residual = course.last() / scale;
                self.gather();
                return Ok(iteration - 1);
            }
            self.newton(q, b, t, h, scheme).map_err(|error| self.failure(t, &error))?;
            course.stepped(norm_inf(&self.solution[..q.len()]));
            for (x, d) in self.x.iter_mut().zip(&self.solution) {
                *x += d;
            }
            if !course.last().is_finite() {
                return Err(self.failure(t, &LinearError::NotFinite { what: "step", index: 0 }));
            }
        }
        let worst =
            (0..self.lambda.len()).min_by(|&i, &j| self.g[i].total_cmp(&self.g[j])).map_or_else(
                || self.system.names()[0].clone(),
                |i| self.system.inequalities().name(i).to_owned(),
            );
        Err(StepError::NotConverged {
            t,
            what: "the direct update",
            iterations: self.tolerances.iterations,
            residual: course.last(),
            culprit: worst,
        })
    }

    /// Evaluates constraints and gradients at $y$ and chooses the closed contacts.
    fn constraints(&mut self, q: &[f64], t: f64, h: f64, scheme: Scheme, iteration: usize) -> bool {
        between(q, &self.x, scheme.alpha, &mut self.place);
        let time = t + scheme.alpha * h;
        let (f_rows, g_rows) = (self.system.equalities(), self.system.inequalities());
        f_rows.values(&self.place, time, &mut self.f);
        f_rows.gradients(&self.place, time, &mut self.f_gradient);
        g_rows.values(&self.place, time, &mut self.g);
        g_rows.gradients(&self.place, time, &mut self.g_gradient);
        self.candidate.clear();
        let mut changed = false;
        for i in 0..self.g.len() {
            let gradient = (g_rows.columns(i), &self.g_gradient[g_rows.span(i)]);
            let weight = h * self.system.mass().inverse_product(gradient, gradient);
            let excess = weight * self.lambda[i] - self.g[i];
            let terms = gradient.0.iter().zip(gradient.1).map(|(&c, g)| (g * self.place[c]).abs());
            let noise = 4.0 * f64::EPSILON * terms.sum::<f64>();
            let was = self.closed.contains(&i);
            // Round-off must not reopen a contact that carries nothing; late, one at a time.
            let frozen = excess.abs() <= noise || (iteration > 20 && changed);
            let now = if frozen { was } else { excess > 0.0 };
            changed |= now != was;
            if now {
                self.candidate.push(i);
            }
        }
        std::mem::swap(&mut self.closed, &mut self.candidate);
        !changed
    }

    /// One Newton step on $(x, N, \Lambda_{\text{closed}})$: step of $x$ and new multipliers.
    fn newton(
        &mut self,
        q: &[f64],
        b: &[f64],
        t: f64,
        h: f64,
        scheme: Scheme,
    ) -> Result<(), LinearError> {
        let n = self.system.dimension();
        let (equal, m) = (self.nu.len(), self.nu.len() + self.closed.len());
        let size = n + m;
        let matrix = &mut self.matrix[..size * size];
        matrix.fill(0.0);
        for &(i, j, mass) in &self.mass {
            matrix[i * size + j] += mass / h;
        }
        let (f_rows, g_rows) = (self.system.equalities(), self.system.inequalities());
        for i in 0..equal {
            let weight = -scheme.alpha * self.nu[i];
            add_curvature(
                f_rows,
                i,
                (&self.place, t + scheme.alpha * h),
                weight,
                &mut self.curvature,
                size,
                matrix,
            );
        }
        for &i in &self.closed {
            let weight = -scheme.alpha * self.lambda[i];
            add_curvature(
                g_rows,
                i,
                (&self.place, t + scheme.alpha * h),
                weight,
                &mut self.curvature,
                size,
                matrix,
            );
        }
        for k in 0..m {
            let (columns, gradient, value) = if k < equal {
                (f_rows.columns(k), &self.f_gradient[f_rows.span(k)], self.f[k])
            } else {
                let i = self.closed[k - equal];
                (g_rows.columns(i), &self.g_gradient[g_rows.span(i)], self.g[i])
            };
            for (&c, g) in columns.iter().zip(gradient) {
                matrix[c * size + n + k] = -g;
                matrix[(n + k) * size + c] = scheme.alpha * g;
            }
            self.rhs[n + k] = -value;
        }
        between(q, &self.x, scheme.a, &mut self.place);
        for ((v, x), q) in self.velocity.iter_mut().zip(&self.x).zip(q) {
            *v = (x - q) / h;
        }
        let time = t + scheme.a * h;
        self.loads.slope(&self.place, &self.velocity, time, &mut self.slope);
        self.system.mass().multiply(&self.velocity, &mut self.rhs[..n]);
        for ((r, b), s) in self.rhs.iter_mut().zip(b).zip(&self.slope) {
            *r = b - *r - scheme.w * s;
        }
        let at = (&self.place[..], &self.velocity[..], time);
        self.loads.stiffness(at, (scheme.w * scheme.a, scheme.w / h), &mut self.stiffness);
        for (&(i, j), value) in self.pattern.iter().zip(&self.stiffness) {
            matrix[i * size + j] += value;
        }
        let factor = &mut self.factor[..size * size];
        factor.copy_from_slice(matrix);
        let solution = &mut self.solution[..size];
        solution.copy_from_slice(&self.rhs[..size]);
        match lu::factor(size, factor, &mut self.pivots[..size], 1e-12) {
            Ok(_) => lu::solve(size, factor, &self.pivots[..size], solution)?,
            Err(LinearError::Singular { .. }) => {
                self.qr.factor(size, size, matrix, 1e-12)?;
                self.qr.solve_minimum_norm(&self.rhs[..size], solution)?;
            }
            Err(error) => return Err(error),
        }
        self.nu.copy_from_slice(&self.solution[n..n + equal]);
        self.lambda.fill(0.0);
        for (k, &i) in self.closed.iter().enumerate() {
            self.lambda[i] = self.solution[n + equal + k];
        }
        Ok(())
    }

    fn gather(&mut self) {
        self.impulse.fill(0.0);
        self.lambda.iter_mut().for_each(|l| *l = l.max(0.0));
        let (f_rows, g_rows) = (self.system.equalities(), self.system.inequalities());
        f_rows.add_transposed(&self.f_gradient, &self.nu, 1.0, &mut self.impulse);
        g_rows.add_transposed(&self.g_gradient, &self.lambda, 1.0, &mut self.impulse);
    }

    fn failure(&self, t: f64, error: &LinearError) -> StepError {
        let names = self.system.names();
        if let LinearError::Singular { pivot, .. } = *error {
            let culprit = names.get(pivot).or(names.first()).cloned().unwrap_or_default();
            return StepError::Singular { t, what: "the matrix of the direct update", culprit };
        }
        let i = self.x.iter().position(|x| !x.is_finite()).unwrap_or(0);
        StepError::NotFinite { t, what: "position", culprit: names[i].clone() }
    }
}

fn between(q: &[f64], x: &[f64], a: f64, out: &mut [f64]) {
    for ((out, q), x) in out.iter_mut().zip(q).zip(x) {
        *out = q + a * (x - q);
    }
}

/// Adds $w\\,\nabla^2 c_i$ to the leading block of a row-major matrix.
fn add_curvature(
    rows: &Rows,
    i: usize,
    (place, t): (&[f64], f64),
    weight: f64,
    block: &mut [f64],
    size: usize,
    matrix: &mut [f64],
) {
    let field = rows.field(i);
    if weight == 0.0 || field.is_affine() {
        return;
    }
    let columns = rows.columns(i);
    let k = columns.len();
    let block = &mut block[..k * k];
    block.fill(0.0);
    field.hessian(place, t, weight, block);
    for (row, &r) in block.chunks_exact(k).zip(columns) {
        for (value, &c) in row.iter().zip(columns) {
            matrix[r * size + c] += value;
        }
    }
}
