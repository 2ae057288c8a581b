//! The integrators on $\mathbb R^n$, one module each.

pub(crate) mod conserving;
pub(crate) mod direct;
pub(crate) mod gvi;
pub(crate) mod hybrid;
pub(crate) mod null_space;
pub(crate) mod projection;
pub(crate) mod smooth;
pub(crate) mod svci;
pub(crate) mod variational;
