//! What the integrators share: discrete Lagrangians and their Legendre transforms, the free step, gaps and impacts, the equations of a
//! step with constraints, and the tolerances they are solved to.

pub(crate) mod complement;
pub(crate) mod extrapolation;
pub(crate) mod flight;
pub(crate) mod gaps;
pub(crate) mod gradients;
pub(crate) mod held;
pub(crate) mod impact;
pub(crate) mod inertia;
pub(crate) mod kernel;
pub(crate) mod lagrangian;
pub(crate) mod legendre;
pub(crate) mod loads;
pub(crate) mod null_basis;
pub(crate) mod position;
pub(crate) mod relaxation;
pub(crate) mod saddle;
pub(crate) mod slip;
pub(crate) mod tangent;
pub(crate) mod tolerances;
pub(crate) mod varying;
