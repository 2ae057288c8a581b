//! Condition numbers of the equations of a constrained step, in the Euclidean norm.
//!
//! Newton's matrix of the multiplier scheme (\[LMO\] (22)) as it is written, and of the same equations times $h$ for the
//! unknown $h^2\lambda$:
//! $$ \begin{pmatrix} A & h\\,G_0^\top \cr G_1 & 0 \end{pmatrix}, \qquad
//!    \begin{pmatrix} h A & G_0^\top \cr G_1 & 0 \end{pmatrix}, \qquad A = \tfrac1h M + \tfrac h4 V\'\' . $$
//! The condition of the first grows as $h^{-3}$ on multibody systems and that of the second does not
//! depend on $h$: the ill-conditioning is one of scaling. Beside them the matrices of the null space
//! method, in coordinates and in increments (\[LMO\] (25), (28)). The energy–momentum scheme
//! ([`Conserving`](crate::Conserving)) has the same form with $A = \tfrac2h M + h\\,\partial(\bar\nabla V + \bar G^\top\lambda)/\partial q_1$ and gradients averaged over the step
//! in place of $G_0$, times $\tfrac h2$ for the unknown $\tfrac{h^2}2\lambda$.

use nsm_constraints::Reparametrisation;
use nsm_model::{System, SystemError};
use nsm_solvers::LinearError;
use nsm_solvers::dense::condition;
use nsm_solvers::small::{self, dot, qr::PivotedQr};

use crate::methods::conserving::newton_matrix;
use crate::shared::lagrangian::DiscreteLagrangian;
use crate::shared::legendre::Segment;
use crate::{ForceAverage, Quadrature};

/// Rows whose part outside the others is below this share of them are redundant.
const RANK: f64 = 1e-10;

/// Condition numbers $\sigma_{\max}/\sigma_{\min}$.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Conditioning {
    /// Multiplier scheme as \[LMO\] write it.
    pub multipliers: f64,
    /// Multiplier scheme, scaled.
    pub scaled: f64,
    /// Null space method in all coordinates, its first equations scaled.
    pub null_space: f64,
    /// Null space method in increments.
    pub reparametrised: f64,
}

/// Whose equations a step satisfies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scheme<'s> {
    /// The variational integrator with this quadrature.
    Variational(Quadrature),
    /// The energy–momentum scheme.
    Conserving {
        /// How it averages forces.
        average: ForceAverage,
        /// The multipliers of the step.
        multipliers: &'s [f64],
    },
}

impl From<Quadrature> for Scheme<'_> {
    fn from(quadrature: Quadrature) -> Self {
        Self::Variational(quadrature)
    }
}

/// The parts of Newton's matrix, dense and row by row; `inner` is free of powers of $h$.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) inner: Vec<f64>,
    pub(crate) before: Vec<f64>,
    pub(crate) after: Vec<f64>,
    /// $A$ = this times `inner`.
    pub(crate) factor: f64,
}

impl Parts {
    fn new(system: &System, scheme: Scheme<'_>, segment: Segment<'_>) -> Result<Self, SystemError> {
        check(system, segment)?;
        match scheme {
            Scheme::Variational(quadrature) => Ok(variational(system, quadrature, segment)),
            Scheme::Conserving { average, multipliers } => {
                let (length, expected) = (multipliers.len(), system.equalities().len());
                if length != expected {
                    return Err(SystemError::Length { what: "the multipliers", length, expected });
                }
                Ok(newton_matrix(system, average, segment, multipliers))
            }
        }
    }
}

impl Conditioning {
    /// Of a step that was taken; redundant constraints are left out.
    ///
    /// # Errors
    /// Slices of the wrong length, numbers that are not finite, or a rank that changes over the step.
    pub fn new<'s>(
        system: &System,
        scheme: impl Into<Scheme<'s>>,
        segment: Segment<'_>,
    ) -> Result<Self, SystemError> {
        Self::of(system, &Parts::new(system, scheme.into(), segment)?, segment.h)
    }

    /// The condition of the multiplier scheme, as \[LMO\] write it, with the constraints that are kept: which of several
    /// redundant ones is left out matters (\[LMO\] Remark 5.4). Infinite if the kept ones are dependent.
    ///
    /// # Errors
    /// As for [`new`](Self::new), or a row that the system does not have.
    pub fn keeping<'s>(
        system: &System,
        scheme: impl Into<Scheme<'s>>,
        segment: Segment<'_>,
        rows: &[usize],
    ) -> Result<f64, SystemError> {
        let m = system.equalities().len();
        if let Some(row) = rows.iter().find(|&&i| i >= m) {
            let why = format!("there is no constraint {row} among {m}");
            return Err(SystemError::DoesNotFit { method: "the condition of a step", why });
        }
        let parts = Parts::new(system, scheme.into(), segment)?;
        saddle(&parts, parts.factor, segment.h, rows).map_err(misfit)
    }

    /// The condition of the null space method in the freedoms of a reparametrisation, with null space matrices as it scales
    /// them: $P^\top\\,A\\,P(q_1)$ with $P$ at the start of the step, or at the midpoint for the energy–momentum scheme.
    ///
    /// [`reparametrised`](Self::reparametrised) takes orthonormal ones instead.
    ///
    /// # Errors
    /// As for [`new`](Self::new), or a reparametrisation that fails.
    pub fn in_freedoms<'s>(
        system: &System,
        scheme: impl Into<Scheme<'s>>,
        segment: Segment<'_>,
        reparametrisation: &mut dyn Reparametrisation,
    ) -> Result<f64, SystemError> {
        let scheme = scheme.into();
        let parts = Parts::new(system, scheme, segment)?;
        let (n, d) = (system.dimension(), reparametrisation.freedoms());
        let pattern = reparametrisation
            .pattern()
            .unwrap_or_else(|| (0..n * d).map(|k| (k / d, k % d)).collect());
        let mut basis = |q: &[f64]| -> Result<Vec<f64>, SystemError> {
            let mut values = vec![0.0; pattern.len()];
            reparametrisation.tangent(&vec![0.0; d], q, &mut values)?;
            let mut rows = vec![0.0; d * n];
            for (&(coordinate, freedom), value) in pattern.iter().zip(&values) {
                rows[freedom * n + coordinate] = *value;
            }
            Ok(rows)
        };
        let first = match scheme {
            Scheme::Variational(_) => basis(segment.start)?,
            Scheme::Conserving { .. } => {
                let pairs = segment.start.iter().zip(segment.end);
                basis(&pairs.map(|(a, b)| 0.5 * (a + b)).collect::<Vec<f64>>())?
            }
        };
        let second = basis(segment.end)?;
        condition(d, &congruence(n, &parts.inner, &first, &second)).map_err(misfit)
    }

    fn of(system: &System, parts: &Parts, h: f64) -> Result<Self, SystemError> {
        let (n, m) = (system.dimension(), system.equalities().len());
        let (mut first, mut second) = (PivotedQr::new(m, n), PivotedQr::new(m, n));
        let basis = |qr: &mut PivotedQr, g: &[f64]| {
            let rank = qr.factor(m, n, g, RANK)?;
            let mut basis = vec![0.0; (n - rank) * n];
            qr.null_space(&mut basis)?;
            Ok((n - rank, basis))
        };
        let (d, start) = basis(&mut first, &parts.before).map_err(misfit)?;
        let (e, end) = basis(&mut second, &parts.after).map_err(misfit)?;
        if d != e {
            let why = "the rank of its constraints changes over the step".to_owned();
            return Err(SystemError::DoesNotFit { method: "the condition of a step", why });
        }
        let increments = congruence(n, &parts.inner, &start, &end);
        let mut square = product(n, &parts.inner, &start);
        for &i in first.independent() {
            square.extend_from_slice(&parts.after[i * n..(i + 1) * n]);
        }
        let conditions = || {
            Ok(Self {
                multipliers: saddle(parts, parts.factor, h, first.independent())?,
                scaled: saddle(parts, 1.0, 1.0, first.independent())?,
                null_space: condition(n, &square)?,
                reparametrised: condition(d, &increments)?,
            })
        };
        conditions().map_err(misfit)
    }
}

/// $P^\top A$ from $P^\top$.
fn product(n: usize, inner: &[f64], start: &[f64]) -> Vec<f64> {
    let mut reduced = vec![0.0; start.len()];
    for (out, basis) in reduced.chunks_exact_mut(n).zip(start.chunks_exact(n)) {
        small::matvec_transposed_add(1.0, inner, basis, out);
    }
    reduced
}

/// $P_0^\top A P_1$ from both bases transposed.
fn congruence(n: usize, inner: &[f64], start: &[f64], end: &[f64]) -> Vec<f64> {
    let reduced = product(n, inner, start);
    let columns = || end.chunks_exact(n);
    let lines = reduced.chunks_exact(n);
    lines.flat_map(|line| columns().map(move |basis| dot(line, basis))).collect()
}

/// Condition of $\begin{pmatrix} aA & bG_0^\top \cr G_1 & 0 \end{pmatrix}$ with some of the constraints.
fn saddle(parts: &Parts, a: f64, b: f64, rows: &[usize]) -> Result<f64, LinearError> {
    let n = parts.inner.len().isqrt();
    let size = n + rows.len();
    let mut matrix = vec![0.0; size * size];
    for i in 0..n {
        for j in 0..n {
            matrix[i * size + j] = a * parts.inner[i * n + j];
        }
    }
    for (k, &i) in rows.iter().enumerate() {
        for j in 0..n {
            matrix[j * size + n + k] = b * parts.before[i * n + j];
            matrix[(n + k) * size + j] = parts.after[i * n + j];
        }
    }
    condition(size, &matrix)
}

/// $hA$ of a variational step with the gradients at both ends.
fn variational(system: &System, quadrature: Quadrature, segment: Segment<'_>) -> Parts {
    let Segment { start, end, t, h } = segment;
    let n = system.dimension();
    let mut inner = vec![0.0; n * n];
    for (i, j, value) in system.mass().entries() {
        inner[i * n + j] += value;
    }
    let mut lagrangian = DiscreteLagrangian::new(system, quadrature);
    lagrangian.slopes_left(start, end, t, h);
    let pattern = lagrangian.loads.stiffness_pattern();
    let mut values = vec![0.0; pattern.len()];
    lagrangian.stiffness(start, t, h, &mut values);
    for (&(i, j), value) in pattern.iter().zip(&values) {
        inner[i * n + j] += h * value;
    }
    let gradients = |q: &[f64], t: f64| {
        let mut values = vec![0.0; system.equalities().entries()];
        system.equalities().gradients(q, t, &mut values);
        dense_rows(system, &values)
    };
    let (before, after) = (gradients(start, t), gradients(end, t + h));
    Parts { inner, before, after, factor: 1.0 / h }
}

/// The constraint Jacobian from its sparse values, row by row.
pub(crate) fn dense_rows(system: &System, gradients: &[f64]) -> Vec<f64> {
    let (n, rows) = (system.dimension(), system.equalities());
    let mut dense = vec![0.0; rows.len() * n];
    for i in 0..rows.len() {
        rows.add_row(i, gradients, 1.0, &mut dense[i * n..(i + 1) * n]);
    }
    dense
}

fn check(system: &System, segment: Segment<'_>) -> Result<(), SystemError> {
    let expected = system.dimension();
    for (what, x) in
        [("the start of the step", segment.start), ("the end of the step", segment.end)]
    {
        if x.len() != expected {
            return Err(SystemError::Length { what, length: x.len(), expected });
        }
    }
    crate::shared::tolerances::check_step(segment.h)
}

fn misfit(error: LinearError) -> SystemError {
    SystemError::DoesNotFit { method: "the condition of a step", why: error.to_string() }
}
