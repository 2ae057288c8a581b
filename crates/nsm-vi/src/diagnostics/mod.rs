//! What can be said of an integrator's equations: how well they are conditioned, exactly and by estimate.

pub(crate) mod condition_estimate;
pub(crate) mod conditioning;
