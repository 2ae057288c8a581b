//! Condition numbers of a step's equations from a few products and solves, cheap enough for every step.
//!
//! [`Conditioning`](crate::Conditioning) takes all singular values of dense matrices. Here, for the multiplier scheme (\[LMO\] (22)), the
//! largest comes from power iteration, $x \leftarrow B^\top B x$, and the smallest from inverse iteration, $x \leftarrow B^{-1} B^{-\top} x$, with one sparse
//! factorisation of the scaled matrix
//! $$ B = \begin{pmatrix} h A & G_0^\top \cr G_1 & 0 \end{pmatrix}, \qquad
//!    \begin{pmatrix} A & h\\,G_0^\top \cr G_1 & 0 \end{pmatrix}
//!    = \begin{pmatrix} 1/h & \cr & 1 \end{pmatrix} B \begin{pmatrix} 1 & \cr & h^2 \end{pmatrix}, $$
//! which serves the matrix that \[LMO\] write as well, however small $h$ is. Both iterations approach from inside: an estimate is never
//! above the condition number but for rounding, and rarely below half of it. Memory and time are those of a sparse step.

use nsm_model::{System, SystemError};
use nsm_solvers::kkt::RowRank;
use nsm_solvers::small::dot;
use nsm_solvers::{LinearError, LinearSystem, Structure};

use crate::Quadrature;
use crate::shared::lagrangian::DiscreteLagrangian;
use crate::shared::legendre::Segment;
use crate::shared::tolerances::check_step;

/// Products or solves of each iteration: the share of the start in the leading direction enters by its twelfth root.
const SWEEPS: usize = 6;

/// Estimates of $\sigma_{\max}/\sigma_{\min}$ in the Euclidean norm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConditionEstimate {
    /// Multiplier scheme as \[LMO\] write it.
    pub multipliers: f64,
    /// Multiplier scheme, scaled.
    pub scaled: f64,
}

/// Estimates the conditioning of the multiplier scheme's steps, with all workspace.
///
/// ```
/// use nsm_constraints::Rod;
/// use nsm_model::{Mass, State, Stepper, System};
/// use nsm_vi::{ConditionEstimator, Quadrature, Segment, Variational};
///
/// let system = System::new(Mass::diagonal(&[1.0, 1.0])?)
///     .with_equality("rod", Rod::to_pivot(&[0, 1], &[0.0, 0.0], 1.0)?)?;
/// let (h, start) = (1e-3, State::new(&system, &[1.0, 0.0], &[0.0, 1.0])?);
/// let mut state = start.clone();
/// Variational::new(h, Quadrature::Midpoint).stepper(&system)?.step(&mut state)?;
/// let mut estimator = ConditionEstimator::new(&system, Quadrature::Midpoint)?;
/// let segment = Segment { start: &start.q, end: &state.q, t: 0.0, h };
/// let found = estimator.estimate(segment)?;
/// assert!(found.scaled < 10.0 && found.multipliers > 1e5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ConditionEstimator<'a> {
    system: &'a System,
    lagrangian: DiscreteLagrangian<'a>,
    mass: Vec<f64>,
    /// $B$: mass and stiffness, $G_0^\top$, $G_1$, and the diagonal of rows that are left out.
    pattern: Vec<(usize, usize)>,
    values: Vec<f64>,
    /// Where stiffness and constraints begin among the values.
    stiffness: usize,
    constraints: usize,
    matrix: LinearSystem,
    rank: RowRank,
    x: Vec<f64>,
    y: Vec<f64>,
}

impl<'a> ConditionEstimator<'a> {
    /// For the steps of a system by a quadrature.
    ///
    /// # Errors
    /// A mass that depends on the configuration, constraints that switch, or a pattern too large to be factorised.
    pub fn new(system: &'a System, quadrature: Quadrature) -> Result<Self, SystemError> {
        system.require_constant_mass("the condition of a step")?;
        system.require_no_switching("the condition of a step")?;
        let (n, rows) = (system.dimension(), system.equalities());
        let m = rows.len();
        let lagrangian = DiscreteLagrangian::new(system, quadrature);
        let entries = system.mass().entries();
        let mut pattern: Vec<_> = entries.iter().map(|&(i, j, _)| (i, j)).collect();
        let stiffness = pattern.len();
        pattern.extend(lagrangian.loads.stiffness_pattern());
        let constraints = pattern.len();
        let gradients = || (0..m).flat_map(|i| rows.columns(i).iter().map(move |&c| (i, c)));
        pattern.extend(gradients().map(|(i, c)| (c, n + i)));
        pattern.extend(gradients().map(|(i, c)| (n + i, c)));
        pattern.extend((n..n + m).map(|i| (i, i)));
        let sparse: Vec<_> = gradients().collect();
        Ok(Self {
            system,
            mass: entries.iter().map(|e| e.2).collect(),
            values: vec![0.0; pattern.len()],
            stiffness,
            constraints,
            matrix: LinearSystem::new(n + m, &pattern, Structure::General)
                .map_err(|error| misfit(&error))?,
            rank: RowRank::new(m, n, &sparse).map_err(|error| misfit(&error))?,
            x: vec![0.0; n + m],
            y: vec![0.0; n + m],
            lagrangian,
            pattern,
        })
    }

    /// Of a step that was taken; constraints that depend on others where it began are left out. Infinite where the
    /// equations are singular. Does not allocate.
    ///
    /// # Errors
    /// Slices of the wrong length, a step that is not positive, or numbers that are not finite.
    pub fn estimate(&mut self, segment: Segment<'_>) -> Result<ConditionEstimate, SystemError> {
        let expected = self.system.dimension();
        for (what, x) in
            [("the start of the step", segment.start), ("the end of the step", segment.end)]
        {
            if x.len() != expected {
                return Err(SystemError::Length { what, length: x.len(), expected });
            }
        }
        check_step(segment.h)?;
        self.evaluate(segment).map_err(|error| misfit(&error))?;
        match self.matrix.factorise(&self.values) {
            Ok(()) => {}
            Err(LinearError::Singular { .. }) => {
                let infinite = f64::INFINITY;
                return Ok(ConditionEstimate { multipliers: infinite, scaled: infinite });
            }
            Err(error) => return Err(misfit(&error)),
        }
        let mut condition = |left: f64, right: f64| -> Result<f64, LinearError> {
            let forward = self.growth(left, right, false)?;
            let backward = self.growth(left, right, true)?;
            Ok(forward * backward)
        };
        let h = segment.h;
        let both = condition(1.0 / h, h * h).and_then(|multipliers| {
            Ok(ConditionEstimate { multipliers, scaled: condition(1.0, 1.0)? })
        });
        both.map_err(|error| misfit(&error))
    }

    /// Fills in the values of $B$.
    fn evaluate(&mut self, segment: Segment<'_>) -> Result<(), LinearError> {
        let Segment { start, end, t, h } = segment;
        let rows = self.system.equalities();
        let (block, border) = self.values.split_at_mut(self.constraints);
        let (mass, stiffness) = block.split_at_mut(self.stiffness);
        mass.copy_from_slice(&self.mass);
        self.lagrangian.slopes_left(start, end, t, h);
        self.lagrangian.stiffness(start, t, h, stiffness);
        for value in stiffness {
            *value *= h;
        }
        let (before, border) = border.split_at_mut(rows.entries());
        let (after, diagonal) = border.split_at_mut(rows.entries());
        rows.gradients(start, t, before);
        rows.gradients(end, t + h, after);
        diagonal.fill(0.0);
        for &i in self.rank.find(before, &[])? {
            before[rows.span(i)].fill(0.0);
            after[rows.span(i)].fill(0.0);
            diagonal[i] = 1.0;
        }
        Ok(())
    }

    /// Estimate of the norm of $C = LBR$ or of its inverse, with $L$ and $R$ as in the head of this file.
    fn growth(&mut self, left: f64, right: f64, inverse: bool) -> Result<f64, LinearError> {
        let n = self.system.dimension();
        // Numbers that no structure is orthogonal to; none for rows that are left out.
        let mut seed = 0.5_f64;
        for x in &mut self.x {
            seed = (seed * 997.0 + 0.618_033_988_749_894_9).fract();
            *x = seed - 0.4;
        }
        for &i in self.rank.redundant() {
            self.x[n + i] = 0.0;
        }
        let mut norm = 0.0;
        for _ in 0..SWEEPS {
            let size = dot(&self.x, &self.x).sqrt();
            if size == 0.0 || !size.is_finite() {
                return Ok(if size == 0.0 { 0.0 } else { f64::INFINITY });
            }
            self.x.iter_mut().for_each(|x| *x /= size);
            if inverse {
                scale(&mut self.x[n..], 1.0 / right);
                self.matrix.solve_transposed_in_place(&mut self.x)?;
                scale(&mut self.x[..n], 1.0 / left);
            } else {
                scale(&mut self.x[n..], right);
                self.multiply(false);
                scale(&mut self.x[..n], left);
            }
            norm = dot(&self.x, &self.x).sqrt();
            if inverse {
                scale(&mut self.x[..n], 1.0 / left);
                self.matrix.solve_in_place(&mut self.x)?;
                scale(&mut self.x[n..], 1.0 / right);
            } else {
                scale(&mut self.x[..n], left);
                self.multiply(true);
                scale(&mut self.x[n..], right);
            }
        }
        Ok(norm)
    }

    /// $x \leftarrow Bx$ or $B^\top x$.
    fn multiply(&mut self, transposed: bool) {
        self.y.fill(0.0);
        for (&(i, j), value) in self.pattern.iter().zip(&self.values) {
            let (i, j) = if transposed { (j, i) } else { (i, j) };
            self.y[i] += value * self.x[j];
        }
        std::mem::swap(&mut self.x, &mut self.y);
    }
}

fn scale(x: &mut [f64], factor: f64) {
    for x in x {
        *x *= factor;
    }
}

fn misfit(error: &LinearError) -> SystemError {
    SystemError::DoesNotFit { method: "the condition of a step", why: error.to_string() }
}
