//! Mixed problems: some rows are equations, their unknowns free in sign.
//!
//! With the unknowns split into free ones $u$ and complementary ones $v$,
//! $$ Au + Cv + a = 0, \qquad 0 \le v \perp Du + Bv + b \ge 0 , $$
//! elimination of $u = -A^{-1}(Cv + a)$ leaves the problem (1) with
//! $$ M = B - DA^{-1}C, \qquad q = b - DA^{-1}a , $$
//! symmetric positive semidefinite whenever the whole matrix is. Where $A$ is singular, as for constraints with their
//! multipliers, the problem is solved without elimination: as a least-squares problem with free variables
//! ([`BoundedGram`]) if the whole matrix is symmetric positive semidefinite, otherwise with every free unknown
//! split into its positive and negative part. The sign of an equation does not matter to its solution but to the class of that problem;
//! both are tried.

use super::columns::{Columns, Symmetry};
use super::dense_factor::DenseLu;
use super::equilibrate::Equilibration;
use super::{LcpError, LcpWorkspace, Matrix, Method, Report};
use crate::least_squares::BoundedGram;

/// Ratio of pivots below which the equations do not determine their unknowns.
const SINGULAR: f64 = 1e-11;

/// Residual up to which an answer is accepted.
const ACCEPTED: f64 = 1e-10;

/// Memory for mixed problems with `n` rows, `m` of which are equations.
///
/// ```
/// use nsm_solvers::lcp::{Matrix, MixedWorkspace};
///
/// // min x²/2 + y²/2 - x - 2y  subject to  x + y = 1 (multiplier u), y ≤ 0.5 (multiplier v)
/// let rows = [
///     1.0, 0.0, -1.0, 0.0, //
///     0.0, 1.0, -1.0, 1.0, //
///     1.0, 1.0, 0.0, 0.0, //
///     0.0, -1.0, 0.0, 0.0,
/// ];
/// let q = [-1.0, -2.0, -1.0, 0.5];
/// let (mut z, mut w) = ([0.0; 4], [0.0; 4]);
/// let mut workspace = MixedWorkspace::new(4, 3);
/// let report = workspace.solve(Matrix::dense(4, &rows)?, &q, &[true, true, true, false], &mut z, &mut w)?;
/// assert!((z[0] - 0.5).abs() < 1e-15 && (z[1] - 0.5).abs() < 1e-15 && (z[3] - 1.0).abs() < 1e-15);
/// assert!(report.residual < 1e-15);
/// # Ok::<(), nsm_solvers::lcp::LcpError>(())
/// ```
#[derive(Debug)]
pub struct MixedWorkspace {
    n: usize,
    equations: usize,
    lu: DenseLu,
    inner: LcpWorkspace,
    written_out: Vec<f64>,
    /// $A^{-1}C$ column by column, then $A^{-1}a$.
    eliminated: Vec<f64>,
    schur: Vec<f64>,
    rhs: Vec<f64>,
    v: Vec<f64>,
    v_slack: Vec<f64>,
    free: Vec<usize>,
    complementary: Vec<usize>,
    least_squares: Option<BoundedGram>,
    doubled: Option<Doubled>,
    unbounded: Vec<f64>,
    equilibration: Equilibration,
}

impl MixedWorkspace {
    /// For problems with `n` rows, `equations` of which are equations.
    pub fn new(n: usize, equations: usize) -> Self {
        let m = equations.min(n);
        let k = n - m;
        Self {
            n,
            equations: m,
            lu: DenseLu::new(m),
            inner: LcpWorkspace::new(k),
            written_out: vec![0.0; n * n],
            eliminated: vec![0.0; m * (k + 1)],
            schur: vec![0.0; k * k],
            rhs: vec![0.0; k],
            v: vec![0.0; k],
            v_slack: vec![0.0; k],
            free: Vec::with_capacity(m),
            complementary: Vec::with_capacity(k),
            least_squares: None,
            doubled: None,
            unbounded: vec![f64::INFINITY; n],
            equilibration: Equilibration::default(),
        }
    }

    /// Solves with row $i$ an equation and $z_i$ free in sign where `equation[i]` holds.
    ///
    /// On success $w = Mz + q$ vanishes on the equations up to rounding. The residual counts
    /// $|w_i|$ there and $|\min(z_i, w_i)|$ elsewhere, over $\max|q|$.
    ///
    /// # Errors
    /// As [`LcpWorkspace::solve`].
    pub fn solve(
        &mut self,
        matrix: Matrix<'_>,
        q: &[f64],
        equation: &[bool],
        z: &mut [f64],
        w: &mut [f64],
    ) -> Result<Report, LcpError> {
        self.check(&matrix, q, equation, z, w)?;
        let mut equilibration = core::mem::take(&mut self.equilibration);
        let shape = equilibration.prepare(matrix.stored(), q);
        let (columns, scaled_q) = equilibration.problem(shape, matrix.stored().0, q);
        let problem = Problem { matrix: columns, q: scaled_q, equation, symmetry: shape.symmetry };
        let mut outcome = self.solve_scaled(problem, z, w);
        if let (Err(error), false) = (&outcome, shape.exact) {
            outcome = Err(unproven(*error));
        }
        if shape.scaled {
            let restored = equilibration.restore(z, w);
            outcome = outcome.and_then(|report| restored.map(|()| report));
        }
        self.equilibration = equilibration;
        outcome
    }

    fn solve_scaled(
        &mut self,
        problem: Problem<'_>,
        z: &mut [f64],
        w: &mut [f64],
    ) -> Result<Report, LcpError> {
        let Problem { matrix, q, equation, symmetry } = problem;
        let (n, m) = (self.n, self.equations);
        let k = n - m;
        self.free.clear();
        self.complementary.clear();
        for i in 0..n {
            if equation[i] { self.free.push(i) } else { self.complementary.push(i) }
        }
        matrix.write_dense(&mut self.written_out);
        let full = &self.written_out;
        let free = &self.free;
        let entry = |r: usize, c: usize| full[free[c] * n + free[r]];
        if self.lu.factor(m, |_| true, entry) <= SINGULAR {
            return self.solve_singular(problem, z, w);
        }
        for c in 0..=k {
            let column = &mut self.eliminated[c * m..(c + 1) * m];
            for r in 0..m {
                column[r] = match self.complementary.get(c) {
                    Some(&j) => full[j * n + free[r]],
                    None => q[free[r]],
                };
            }
            self.lu.solve_packed(column);
        }
        for c in 0..=k {
            let column = &self.eliminated[c * m..(c + 1) * m];
            for (r, &i) in self.complementary.iter().enumerate() {
                let through: f64 = (0..m).map(|t| full[free[t] * n + i] * column[t]).sum();
                match self.complementary.get(c) {
                    Some(&j) => self.schur[r * k + c] = full[j * n + i] - through,
                    None => self.rhs[r] = q[i] - through,
                }
            }
        }
        if symmetry.holds() {
            // Elimination leaves rounding where the complement is symmetric.
            for c in 0..k {
                for r in 0..c {
                    let mean = f64::midpoint(self.schur[c * k + r], self.schur[r * k + c]);
                    self.schur[c * k + r] = mean;
                    self.schur[r * k + c] = mean;
                }
            }
        }
        let schur = Matrix::dense(k, &self.schur)?;
        let outcome = self.inner.solve(schur, &self.rhs, &mut self.v, &mut self.v_slack);
        for (r, &i) in self.complementary.iter().enumerate() {
            z[i] = self.v[r];
        }
        for (r, &i) in self.free.iter().enumerate() {
            let mut u = -self.eliminated[k * m + r];
            for c in 0..k {
                u -= self.eliminated[c * m + r] * self.v[c];
            }
            z[i] = u;
        }
        matrix.slack(z, q, w);
        let judged = outcome.and_then(|report| {
            self.refine(&matrix, q, z, w);
            self.accept(report, z, w, q, equation)
        });
        // The complement is rounded: what is proven of it need not hold for the problem.
        judged.or_else(|error| {
            let nearly = unproven(error);
            self.solve_singular(problem, z, w).map_err(|second| match nearly {
                LcpError::NearlyInfeasible { .. } if !second.proves_no_solution() => nearly,
                _ => second,
            })
        })
    }

    /// One step of refinement of the free unknowns.
    fn refine(&mut self, matrix: &Columns<'_>, q: &[f64], z: &mut [f64], w: &mut [f64]) {
        let m = self.equations;
        for (r, &i) in self.free.iter().enumerate() {
            self.eliminated[r] = w[i];
        }
        self.lu.solve_packed(&mut self.eliminated[..m]);
        for (r, &i) in self.free.iter().enumerate() {
            z[i] -= self.eliminated[r];
        }
        matrix.slack(z, q, w);
    }

    fn check(
        &self,
        matrix: &Matrix<'_>,
        q: &[f64],
        equation: &[bool],
        z: &[f64],
        w: &[f64],
    ) -> Result<(), LcpError> {
        for (what, found) in [
            ("matrix", matrix.order()),
            ("q", q.len()),
            ("equation", equation.len()),
            ("z", z.len()),
            ("w", w.len()),
        ] {
            if found != self.n {
                return Err(LcpError::Size { what, expected: self.n, found });
            }
        }
        let found = equation.iter().filter(|e| **e).count();
        if found != self.equations {
            return Err(LcpError::Size { what: "equations", expected: self.equations, found });
        }
        if let Some(index) = matrix.find_not_finite() {
            return Err(LcpError::NotFinite { what: "matrix", index });
        }
        if let Some(index) = q.iter().position(|v| !v.is_finite()) {
            return Err(LcpError::NotFinite { what: "q", index });
        }
        Ok(())
    }

    /// Without elimination: as a least-squares problem where the matrix is symmetric positive
    /// semidefinite, otherwise by doubling.
    fn solve_singular(
        &mut self,
        problem: Problem<'_>,
        z: &mut [f64],
        w: &mut [f64],
    ) -> Result<Report, LcpError> {
        let Problem { matrix, q, equation, symmetry } = problem;
        let n = self.n;
        if symmetry.holds() {
            let solver = self.least_squares.get_or_insert_with(|| BoundedGram::new(n));
            // w doubles as the lower bounds, and is filled afterwards.
            for i in 0..n {
                w[i] = if equation[i] { f64::NEG_INFINITY } else { 0.0 };
            }
            let outcome = solver.solve(&self.written_out, q, w, &self.unbounded, z);
            matrix.slack(z, q, w);
            let residual = mixed_residual(z, w, q, equation);
            if let (Ok(report), true) = (outcome, residual <= ACCEPTED) {
                let (method, iterations) = (Method::ActiveSet, report.iterations);
                return Ok(Report { method, iterations, residual, active: report.active });
            }
        }
        let first = self.solve_doubled(problem, 1.0, z, w);
        match first {
            Ok(report) => Ok(report),
            Err(error) if error.proves_no_solution() => Err(error),
            Err(error) => self
                .solve_doubled(problem, -1.0, z, w)
                .map_err(|second| if second.proves_no_solution() { second } else { error }),
        }
    }

    /// With $u = u^+ - u^-$ and each equation as two inequalities,
    /// $0 \le u^\pm \perp \pm\sigma(Au + Cv + a) \ge 0$: a problem (1) that is monotone whenever the given
    /// one is, with equations multiplied by $\sigma = \pm1$.
    fn solve_doubled(
        &mut self,
        problem: Problem<'_>,
        sign: f64,
        z: &mut [f64],
        w: &mut [f64],
    ) -> Result<Report, LcpError> {
        let Problem { matrix, q, equation, .. } = problem;
        let (n, m) = (self.n, self.equations);
        let size = n + m;
        let doubled = self.doubled.get_or_insert_with(|| Doubled {
            workspace: LcpWorkspace::new(size),
            matrix: vec![0.0; size * size],
            q: vec![0.0; size],
            z: vec![0.0; size],
            w: vec![0.0; size],
        });
        let full = &self.written_out;
        for i in 0..n {
            let s = if equation[i] { sign } else { 1.0 };
            let row = &mut doubled.matrix[i * size..(i + 1) * size];
            for j in 0..n {
                row[j] = s * full[j * n + i];
            }
            for (c, &j) in self.free.iter().enumerate() {
                row[n + c] = -row[j];
            }
        }
        for (r, &i) in self.free.iter().enumerate() {
            for j in 0..size {
                doubled.matrix[(n + r) * size + j] = -doubled.matrix[i * size + j];
            }
            doubled.q[n + r] = -sign * q[i];
        }
        for i in 0..n {
            doubled.q[i] = if equation[i] { sign * q[i] } else { q[i] };
        }
        let inner = Matrix::dense(size, &doubled.matrix)?;
        let outcome = doubled.workspace.solve(inner, &doubled.q, &mut doubled.z, &mut doubled.w);
        z.copy_from_slice(&doubled.z[..n]);
        for (r, &i) in self.free.iter().enumerate() {
            z[i] -= doubled.z[n + r];
        }
        matrix.slack(z, q, w);
        let report = outcome?;
        self.accept(report, z, w, q, equation)
    }

    /// Judges the answer in the caller's data.
    fn accept(
        &self,
        report: Report,
        z: &[f64],
        w: &[f64],
        q: &[f64],
        equation: &[bool],
    ) -> Result<Report, LcpError> {
        let residual = mixed_residual(z, w, q, equation);
        if residual > ACCEPTED {
            let Report { method, iterations, .. } = report;
            return Err(LcpError::Stalled { method, iterations, residual });
        }
        let active = (0..self.n).filter(|&i| !equation[i] && z[i] > w[i]).count();
        Ok(Report { residual, active, ..report })
    }
}

/// The problem in the units of [`Equilibration`].
#[derive(Clone, Copy)]
struct Problem<'a> {
    matrix: Columns<'a>,
    q: &'a [f64],
    equation: &'a [bool],
    symmetry: Symmetry,
}

/// The same error without its claim to a proof.
fn unproven(error: LcpError) -> LcpError {
    match error {
        LcpError::Infeasible { method, index, residual } => {
            LcpError::NearlyInfeasible { method, index, residual }
        }
        LcpError::NoSolution { residual, .. } => {
            let method = Method::Enumeration;
            LcpError::NearlyInfeasible { method, index: 0, residual }
        }
        other => other,
    }
}

/// Memory for the problem with each free unknown split in two.
#[derive(Debug)]
struct Doubled {
    workspace: LcpWorkspace,
    matrix: Vec<f64>,
    q: Vec<f64>,
    z: Vec<f64>,
    w: Vec<f64>,
}

fn mixed_residual(z: &[f64], w: &[f64], q: &[f64], equation: &[bool]) -> f64 {
    let mut worst = 0.0_f64;
    for i in 0..z.len() {
        let value = if equation[i] { w[i] } else { z[i].min(w[i]) };
        if !value.is_finite() || !z[i].is_finite() {
            return f64::INFINITY;
        }
        worst = worst.max(value.abs());
    }
    let scale = q.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    if scale > 0.0 { worst / scale } else { worst }
}
