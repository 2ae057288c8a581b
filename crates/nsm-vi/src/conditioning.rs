//! Condition numbers of the equations of a constrained variational step.
//!
//! Newton's matrix of the multiplier scheme (\[LMO\] (22)) as it is written, and of the same equations times $h$ for the
//! unknown $h^2\lambda$:
//! $$ \begin{pmatrix} A & h\\,G_0^\top \cr G_1 & 0 \end{pmatrix}, \qquad
//!    \begin{pmatrix} h A & G_0^\top \cr G_1 & 0 \end{pmatrix}, \qquad A = \tfrac1h M + \tfrac h4 V\'\' . $$
//! The condition of the first grows as $h^{-3}$ on multibody systems and that of the second does not
//! depend on $h$: the ill-conditioning is one of scaling. Beside them the matrices of the null space
//! method, in coordinates and in increments (\[LMO\] (25), (28)).

use nsm_model::{System, SystemError};
use nsm_solvers::LinearError;
use nsm_solvers::small::{self, lu};

use crate::Quadrature;
use crate::lagrangian::DiscreteLagrangian;
use crate::legendre::Segment;
use crate::null_space::basis::NullBasis;

/// Condition numbers in the 1-norm, estimated from factors (Hager's method, within a factor of three).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Conditioning {
    /// Multiplier scheme as \[LMO\] write it.
    pub multipliers: f64,
    /// Multiplier scheme, scaled.
    pub scaled: f64,
    /// Null space method in all coordinates, its first equations times $h$.
    pub null_space: f64,
    /// Null space method in increments.
    pub reparametrised: f64,
}

impl Conditioning {
    /// The condition numbers at a step that was taken; redundant constraints are left out.
    ///
    /// # Errors
    /// Slices of the wrong length, numbers that are not finite, or singular equations.
    pub fn new(
        system: &System,
        quadrature: Quadrature,
        segment: Segment<'_>,
    ) -> Result<Self, SystemError> {
        let Segment { start, end, t, h } = segment;
        let n = system.dimension();
        for (what, x) in [("the start of the step", start), ("the end of the step", end)] {
            if x.len() != n {
                return Err(SystemError::Length { what, length: x.len(), expected: n });
            }
        }
        crate::tolerances::check_step(h)?;
        let misfit = |error: LinearError| SystemError::DoesNotFit {
            method: "the condition of a step",
            why: error.to_string(),
        };
        let (mut first, mut second) = (NullBasis::new(system), NullBasis::new(system));
        first.evaluate(start, t).map_err(misfit)?;
        second.evaluate(end, t + h).map_err(misfit)?;
        let (d, r) = (first.freedoms(), n - first.freedoms());
        let inner = times_step(system, quadrature, segment);
        let rows = system.equalities();
        let row = |basis: &NullBasis<'_>, i: usize| {
            let mut row = vec![0.0; n];
            rows.add_row(i, &basis.gradients, 1.0, &mut row);
            row
        };
        let saddle = |a: f64, b: f64| {
            let size = n + r;
            let mut matrix = vec![0.0; size * size];
            for i in 0..n {
                for j in 0..n {
                    matrix[i * size + j] = a * inner[i * n + j];
                }
            }
            for (k, &i) in first.independent().iter().enumerate() {
                let (before, after) = (row(&first, i), row(&second, i));
                for j in 0..n {
                    matrix[j * size + n + k] = b * before[j];
                    matrix[(n + k) * size + j] = after[j];
                }
            }
            condition(size, matrix)
        };
        let mut reduced = vec![0.0; d * n];
        for (out, basis) in reduced.chunks_exact_mut(n).zip(first.rows()) {
            small::matvec_transposed_add(1.0, &inner, basis, out);
        }
        let mut square = reduced.clone();
        for &i in first.independent() {
            square.extend(row(&second, i));
        }
        let mut increments = Vec::with_capacity(d * d);
        for line in reduced.chunks_exact(n) {
            increments.extend(second.rows().take(d).map(|basis| small::dot(line, basis)));
        }
        if increments.len() != d * d {
            let why = "the rank of its constraints changes over the step".to_owned();
            return Err(SystemError::DoesNotFit { method: "the condition of a step", why });
        }
        Ok(Self {
            multipliers: saddle(1.0 / h, h).map_err(misfit)?,
            scaled: saddle(1.0, 1.0).map_err(misfit)?,
            null_space: condition(n, square).map_err(misfit)?,
            reparametrised: condition(d, increments).map_err(misfit)?,
        })
    }
}

/// $hA$, dense.
fn times_step(system: &System, quadrature: Quadrature, segment: Segment<'_>) -> Vec<f64> {
    let Segment { start, end, t, h } = segment;
    let n = system.dimension();
    let mut matrix = vec![0.0; n * n];
    for (i, j, value) in system.mass().entries() {
        matrix[i * n + j] += value;
    }
    let mut lagrangian = DiscreteLagrangian::new(system, quadrature);
    lagrangian.slopes_left(start, end, t, h);
    let pattern = lagrangian.loads.stiffness_pattern();
    let mut values = vec![0.0; pattern.len()];
    lagrangian.stiffness(start, t, h, &mut values);
    for (&(i, j), value) in pattern.iter().zip(&values) {
        matrix[i * n + j] += h * value;
    }
    matrix
}

/// Estimate of $\lVert A\rVert_1\lVert A^{-1}\rVert_1$.
fn condition(n: usize, mut matrix: Vec<f64>) -> Result<f64, LinearError> {
    if n == 0 {
        return Ok(1.0);
    }
    let norm = lu::norm_1(n, &matrix)?;
    let mut pivots = vec![0; n];
    lu::factor(n, &mut matrix, &mut pivots, 0.0)?;
    let mut scratch = vec![0.0; 2 * n];
    Ok(1.0 / lu::rcond(n, &matrix, &pivots, norm, &mut scratch)?)
}
