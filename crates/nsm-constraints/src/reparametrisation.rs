//! Nodal reparametrisations: configurations that satisfy the constraints as a function of the freedoms.
//!
//! $q_1 = F_d(u, q_0)$ with $g(F_d) = 0$ (\[LMO\] (27)) has as many unknowns as the system has freedoms, and its tangent at
//! $u = 0$ is a null space matrix $P(q_0)$, $G P = 0$ (\[LMO\] (9)). Integrators that are given one need no multipliers.

use crate::ConstraintError;

/// A reparametrisation $q_1 = F_d(u, q_0)$ of the constraints around a configuration (\[LMO\] (27)).
///
/// ```
/// use nsm_constraints::{ConstraintError, Reparametrisation};
///
/// /// A planar pendulum turns by the angle u (\[LMO\] (49)).
/// struct Turn;
/// impl Reparametrisation for Turn {
///     fn freedoms(&self) -> usize {
///         1
///     }
///     fn place(&mut self, u: &[f64], q: &[f64], out: &mut [f64]) -> Result<(), ConstraintError> {
///         let (s, c) = u[0].sin_cos();
///         (out[0], out[1]) = (c * q[0] - s * q[1], s * q[0] + c * q[1]);
///         Ok(())
///     }
///     fn tangent(&mut self, u: &[f64], q: &[f64], out: &mut [f64]) -> Result<(), ConstraintError> {
///         let (s, c) = u[0].sin_cos();
///         (out[0], out[1]) = (-s * q[0] - c * q[1], c * q[0] - s * q[1]);
///         Ok(())
///     }
/// }
/// ```
pub trait Reparametrisation {
    /// Number of freedoms: $n - \operatorname{rank} G$.
    fn freedoms(&self) -> usize;

    /// Nonzeros of the tangent as (coordinate, freedom), each once; none stands for all, row by row.
    fn pattern(&self) -> Option<Vec<(usize, usize)>> {
        None
    }

    /// Writes $F_d(u, q)$; $F_d(0, q) = q$.
    ///
    /// # Errors
    /// Where it takes an iteration that does not converge, as for closed loops.
    fn place(&mut self, u: &[f64], q: &[f64], out: &mut [f64]) -> Result<(), ConstraintError>;

    /// Writes $\partial F_d/\partial u$ at $(u, q)$ in the order of the pattern; without one, $n$ rows of as many
    /// entries as there are freedoms. At $u = 0$ this is $P(q)$.
    ///
    /// # Errors
    /// Where it takes an iteration that does not converge, as for closed loops.
    fn tangent(&mut self, u: &[f64], q: &[f64], out: &mut [f64]) -> Result<(), ConstraintError>;
}
