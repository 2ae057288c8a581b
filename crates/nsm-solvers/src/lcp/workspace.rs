//! Memory for repeated solves, and each method by name.

use super::block::{self, BlockPivoting};
use super::certificate::Verdict;
use super::columns::{Columns, Storage, Symmetry};
use super::enumeration::{self, Enumeration};
use super::equilibrate::Equilibration;
use super::interior::{self, DensePsd, InteriorPoint};
use super::lemke::{self, Lemke};
use super::newton::{self, Equations, Newton};
use super::projected::{self, AcceleratedGradient};
use super::sparse_memory::{Extracted, SparseMemory};
use super::{LcpError, Matrix, Method, Report};
use crate::least_squares::{GramNnls, TridiagonalNnls};

/// Exchanges of blocks that a P-matrix takes at most in practice.
const BRIEF: u32 = 12;

/// When to stop, and what to start from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// Natural residual of the equilibrated problem at which an answer is accepted. Where rounding of $z$ itself
    /// makes a larger one, up to $10^{-6}$, that is the bar instead.
    pub tolerance: f64,
    /// Limit for sweeps and gradient steps; pivoting and Newton methods have limits of their own.
    pub max_sweeps: u32,
    /// Relaxation of projected Gauss–Seidel, in $(0, 2)$.
    pub relaxation: f64,
    /// Whether `z` is a first guess on entry.
    pub warm_start: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { tolerance: 1e-12, max_sweeps: 20_000, relaxation: 1.0, warm_start: false }
    }
}

/// Everything a solve needs to remember and to write on.
///
/// Memory for a method is allocated when it first runs and kept; repeated solves of the same size
/// (and, for sparse matrices, the same pattern) allocate nothing.
///
/// ```
/// use nsm_solvers::lcp::{LcpWorkspace, Matrix, Method};
///
/// let m = Matrix::dense(2, &[2.0, 1.0, 1.0, 2.0])?;
/// let (mut z, mut w) = ([0.0; 2], [0.0; 2]);
/// let mut workspace = LcpWorkspace::new(2);
/// let report = workspace.solve(m, &[-5.0, -6.0], &mut z, &mut w)?;
/// assert!((z[0] - 4.0 / 3.0).abs() < 1e-15 && (z[1] - 7.0 / 3.0).abs() < 1e-15);
/// assert!(report.residual < 1e-15);
/// let by_name = workspace.solve_with(Method::Lemke, m, &[-5.0, -6.0], &mut z, &mut w)?;
/// assert_eq!(by_name.active, 2);
/// # Ok::<(), nsm_solvers::lcp::LcpError>(())
/// ```
#[derive(Debug)]
pub struct LcpWorkspace {
    /// When to stop, and what to start from.
    pub options: Options,
    pub(crate) n: usize,
    pub(crate) trial: Vec<f64>,
    pub(crate) slack: Vec<f64>,
    pub(crate) scratch: Vec<f64>,
    /// The direction by which a method claims that no solution exists.
    pub(super) direction: Vec<f64>,
    pub(super) integers: Vec<f64>,
    pub(super) active: Vec<bool>,
    pub(super) written_out: Vec<f64>,
    pub(super) equilibration: Equilibration,
    /// Whether the methods see the caller's numbers to the last bit, or by powers of two.
    pub(super) exact: bool,
    /// Whether block pivoting gives up after [`BRIEF`] exchanges.
    pub(super) brief: bool,
    /// A bound on the entries that they see.
    pub(super) largest: f64,
    active_set: Option<GramNnls>,
    chain: Option<TridiagonalNnls>,
    interior: Option<InteriorPoint>,
    sparse: SparseMemory,
    pub(crate) extracted: Extracted,
    symmetric_pivoting: Option<BlockPivoting>,
    general_pivoting: Option<BlockPivoting>,
    lemke: Option<Lemke>,
    pub(super) newton: Option<Newton>,
    gradient: Option<AcceleratedGradient>,
    pub(super) enumeration: Option<Enumeration>,
}

impl LcpWorkspace {
    /// For problems with `n` unknowns.
    pub fn new(n: usize) -> Self {
        Self {
            options: Options::default(),
            n,
            trial: vec![0.0; n],
            slack: vec![0.0; n],
            scratch: vec![0.0; n],
            direction: vec![0.0; n],
            integers: vec![0.0; n],
            active: vec![false; n],
            written_out: Vec::new(),
            equilibration: Equilibration::default(),
            exact: true,
            brief: false,
            largest: 0.0,
            active_set: None,
            chain: None,
            interior: None,
            sparse: SparseMemory::default(),
            extracted: Extracted::default(),
            symmetric_pivoting: None,
            general_pivoting: None,
            lemke: None,
            newton: None,
            gradient: None,
            enumeration: None,
        }
    }

    /// Whether $z_i > w_i$ in the last answer.
    pub fn active(&self) -> &[bool] {
        &self.active
    }

    /// Solves by one method. On failure `z` and `w` hold the best point of that method.
    ///
    /// # Errors
    /// Invalid input, a matrix outside the method's class, no convergence, or no solution.
    pub fn solve_with(
        &mut self,
        method: Method,
        matrix: Matrix<'_>,
        q: &[f64],
        z: &mut [f64],
        w: &mut [f64],
    ) -> Result<Report, LcpError> {
        self.check(&matrix, q, z, w)?;
        let needs_symmetry = matches!(
            method,
            Method::ActiveSet
                | Method::ChainSweep
                | Method::InteriorPoint
                | Method::AcceleratedGradient
        );
        self.in_scaled_units(matrix, q, z, w, |this, matrix, q, symmetry, z, w| {
            if let (true, Symmetry::None(row, column)) = (needs_symmetry, symmetry) {
                return Err(LcpError::NotSymmetric { method, row, column });
            }
            if this.options.warm_start {
                this.trial.copy_from_slice(z);
            } else {
                this.trial.fill(0.0);
            }
            let symmetric = symmetry.holds();
            let outcome = this.run_verified(method, &matrix, q, symmetric);
            let (mut residual, mut bar) = this.judge(&matrix, q);
            // Newton's iterations end near the solution of their active set: that one is right in every row's own units.
            let newton = matches!(method, Method::NewtonFischerBurmeister | Method::NewtonMin);
            if newton && outcome.is_ok() && residual > 0.0 {
                (residual, bar) = this.polish(&matrix, q, (residual, bar));
            }
            z.copy_from_slice(&this.trial);
            w.copy_from_slice(&this.slack);
            let iterations = outcome.map_err(|error| with_residual(error, residual))?;
            if residual > bar {
                return Err(LcpError::Stalled { method, iterations, residual });
            }
            Ok(this.report(method, iterations, residual, z, w))
        })
    }

    /// Runs `solve` on the equilibrated problem and returns its point in the caller's units.
    pub(super) fn in_scaled_units(
        &mut self,
        matrix: Matrix<'_>,
        q: &[f64],
        z: &mut [f64],
        w: &mut [f64],
        solve: impl FnOnce(
            &mut Self,
            Columns<'_>,
            &[f64],
            Symmetry,
            &mut [f64],
            &mut [f64],
        ) -> Result<Report, LcpError>,
    ) -> Result<Report, LcpError> {
        let mut equilibration = core::mem::take(&mut self.equilibration);
        let shape = equilibration.prepare(matrix.stored(), q);
        self.exact = shape.exact;
        self.largest = shape.largest;
        if shape.scaled && self.options.warm_start {
            equilibration.scale_guess(z);
        }
        let (columns, scaled_q) = equilibration.problem(shape, matrix.stored().0, q);
        let mut outcome = solve(self, columns, scaled_q, shape.symmetry, z, w);
        if shape.scaled {
            // An error of the method says more than that its last point is out of range.
            let restored = equilibration.restore(z, w);
            outcome = outcome.and_then(|report| restored.map(|()| report));
        }
        self.equilibration = equilibration;
        outcome
    }

    /// Sizes and finiteness.
    pub(crate) fn check(
        &self,
        matrix: &Matrix<'_>,
        q: &[f64],
        z: &[f64],
        w: &[f64],
    ) -> Result<(), LcpError> {
        for (what, found) in
            [("matrix", matrix.order()), ("q", q.len()), ("z", z.len()), ("w", w.len())]
        {
            if found != self.n {
                return Err(LcpError::Size { what, expected: self.n, found });
            }
        }
        if let Some(index) = matrix.find_not_finite() {
            return Err(LcpError::NotFinite { what: "matrix", index });
        }
        if let Some(index) = q.iter().position(|v| !v.is_finite()) {
            return Err(LcpError::NotFinite { what: "q", index });
        }
        if self.options.warm_start
            && let Some(index) = z.iter().position(|v| !v.is_finite())
        {
            return Err(LcpError::NotFinite { what: "z", index });
        }
        Ok(())
    }

    /// Runs one method on checked input from the start in `trial`; leaves its point there.
    pub(super) fn run(
        &mut self,
        method: Method,
        matrix: &Columns<'_>,
        q: &[f64],
        symmetric: bool,
    ) -> Result<u32, LcpError> {
        let n = self.n;
        let residual = f64::NAN;
        let options = self.options;
        match method {
            Method::ProjectedGaussSeidel => {
                return projected(
                    method,
                    projected::gauss_seidel(
                        matrix,
                        q,
                        options.relaxation.clamp(1e-3, 1.999),
                        options.tolerance,
                        options.max_sweeps,
                        &mut self.trial,
                        &mut self.slack,
                    ),
                );
            }
            Method::AcceleratedGradient => {
                let gradient = self.gradient.get_or_insert_with(|| AcceleratedGradient::new(n));
                return projected(
                    method,
                    gradient.run(
                        matrix,
                        q,
                        options.tolerance,
                        options.max_sweeps,
                        &mut self.trial,
                        &mut self.slack,
                    ),
                );
            }
            Method::ChainSweep => {
                if let Some(index) = matrix.find_not_chain() {
                    return Err(LcpError::NotAChain { index });
                }
                let chain = self.chain.get_or_insert_with(|| TridiagonalNnls::new(n));
                let (diagonal, off) = self.sparse.bands(matrix);
                let outcome = chain.solve(diagonal, off, q, &mut self.trial);
                self.direction.copy_from_slice(chain.ray());
                return outcome
                    .map(|report| report.iterations)
                    .map_err(|error| LcpError::from_least_squares(method, error));
            }
            Method::InteriorPoint if self.sparse.prefers_sparse(matrix) => {
                let interior = self.interior.get_or_insert_with(|| InteriorPoint::new(n));
                let outcome = self.sparse.interior_point(
                    matrix,
                    q,
                    interior,
                    options.tolerance,
                    &mut self.trial,
                    &mut self.direction,
                );
                return interior_outcome(outcome);
            }
            _ => {}
        }
        let m: &[f64] = match matrix.storage {
            Storage::Dense(m) => m,
            Storage::Sparse { .. } => {
                self.written_out.resize(n * n, 0.0);
                matrix.write_dense(&mut self.written_out);
                &self.written_out
            }
        };
        match method {
            Method::ActiveSet => {
                let kernel = self.active_set.get_or_insert_with(|| GramNnls::new(n));
                let outcome = kernel.solve(m, q, &mut self.trial);
                if outcome.is_err() {
                    self.direction.copy_from_slice(kernel.ray());
                }
                outcome
                    .map(|report| report.iterations)
                    .map_err(|error| LcpError::from_least_squares(method, error))
            }
            Method::BlockPivoting => {
                let memory = if symmetric {
                    self.symmetric_pivoting.get_or_insert_with(|| BlockPivoting::new(n, true))
                } else {
                    self.general_pivoting.get_or_insert_with(|| BlockPivoting::new(n, false))
                };
                let long = 200 + 2 * u32::try_from(n).unwrap_or(u32::MAX / 4);
                let limit = if self.brief { BRIEF } else { long };
                match memory.run(n, m, q, limit, &mut self.trial) {
                    block::Outcome::Solved { iterations } => Ok(iterations),
                    block::Outcome::Singular { iterations } => {
                        Err(LcpError::Singular { method, iterations, residual })
                    }
                    block::Outcome::Stalled { iterations } => {
                        Err(LcpError::Stalled { method, iterations, residual })
                    }
                }
            }
            Method::InteriorPoint => {
                let interior = self.interior.get_or_insert_with(|| InteriorPoint::new(n));
                let pivoting =
                    self.symmetric_pivoting.get_or_insert_with(|| BlockPivoting::new(n, true));
                let Some(factor) = pivoting.cholesky() else {
                    return Err(LcpError::Singular { method, iterations: 0, residual });
                };
                let mut system = DensePsd { n, matrix: m, factor };
                let outcome = interior.run(&mut system, q, options.tolerance);
                self.trial.copy_from_slice(&interior.best);
                self.direction.copy_from_slice(interior.direction());
                interior_outcome(outcome)
            }
            Method::Lemke => {
                let memory = self.lemke.get_or_insert_with(|| Lemke::new(n));
                let limit = 1000 + 50 * u32::try_from(n).unwrap_or(u32::MAX / 64);
                match memory.run(m, q, limit, &mut self.trial) {
                    lemke::Outcome::Solved { pivots } => Ok(pivots),
                    lemke::Outcome::Ray { pivots } => {
                        self.direction.copy_from_slice(&memory.direction);
                        match self.verify(matrix, q) {
                            Verdict::Nothing => Err(LcpError::Ray { iterations: pivots, residual }),
                            // Judged once more by the caller.
                            Verdict::Proven(index) | Verdict::Nearly(index) => {
                                Err(LcpError::Infeasible { method, index, residual })
                            }
                        }
                    }
                    lemke::Outcome::Stalled { pivots } => {
                        Err(LcpError::Stalled { method, iterations: pivots, residual })
                    }
                }
            }
            Method::Enumeration => {
                if n > enumeration::LARGEST {
                    let largest = enumeration::LARGEST;
                    return Err(LcpError::TooLarge { method, n, largest });
                }
                let memory = self.enumeration.get_or_insert_with(|| Enumeration::new(n));
                match memory.run(m, q, self.exact, &mut self.trial) {
                    enumeration::Outcome::Found => Ok(1),
                    enumeration::Outcome::Nowhere => {
                        Err(LcpError::NoSolution { cones: 1 << n, residual })
                    }
                    enumeration::Outcome::Undecided => {
                        Err(LcpError::Stalled { method, iterations: 1 << n, residual })
                    }
                }
            }
            _ => {
                let equations = if method == Method::NewtonMin {
                    Equations::Min
                } else {
                    Equations::FischerBurmeister
                };
                let memory = self.newton.get_or_insert_with(|| Newton::new(n));
                match memory.run(equations, m, q, options.tolerance, 200, &mut self.trial) {
                    newton::Outcome::Solved { iterations } => Ok(iterations),
                    newton::Outcome::Stalled { iterations } => {
                        Err(LcpError::Stalled { method, iterations, residual })
                    }
                }
            }
        }
    }
}

fn projected(method: Method, outcome: projected::Outcome) -> Result<u32, LcpError> {
    match outcome {
        projected::Outcome::Solved { iterations } => Ok(iterations),
        projected::Outcome::Diagonal { index } => Err(LcpError::Diagonal { method, index }),
        projected::Outcome::Stalled { iterations } => {
            Err(LcpError::Stalled { method, iterations, residual: f64::NAN })
        }
    }
}

fn interior_outcome(outcome: interior::Outcome) -> Result<u32, LcpError> {
    let (method, residual) = (Method::InteriorPoint, f64::NAN);
    match outcome {
        interior::Outcome::Solved { iterations } => Ok(iterations),
        interior::Outcome::Infeasible { index } => {
            Err(LcpError::Infeasible { method, index, residual })
        }
        interior::Outcome::Breakdown { iterations } => {
            Err(LcpError::Singular { method, iterations, residual })
        }
        interior::Outcome::Stalled { iterations } => {
            Err(LcpError::Stalled { method, iterations, residual })
        }
    }
}

/// Puts the residual of the best point into an error raised before it was known.
pub(crate) fn with_residual(error: LcpError, value: f64) -> LcpError {
    let mut error = error;
    if let LcpError::Singular { residual, .. }
    | LcpError::Infeasible { residual, .. }
    | LcpError::NearlyInfeasible { residual, .. }
    | LcpError::NoSolution { residual, .. }
    | LcpError::Ray { residual, .. }
    | LcpError::Stalled { residual, .. } = &mut error
    {
        *residual = value;
    }
    error
}
