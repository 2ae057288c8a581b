//! When an iteration of Newton's method ends: the rule that the integrators share.
//!
//! Sizes of steps $\delta_k$ are compared with the size of the unknowns, so that a tolerance has no unit. The rule knows the rate (quadratic
//! with a matrix of its own, linear with the matrix of an earlier iteration), stagnation, and the floor that rounding sets.

/// Whether Newton's step `last`, after one of size `before`, ends an iteration towards a relative `tolerance`.
///
/// Both are sizes of steps in the units of the unknowns, of which `scale` is the size. Newton's method converges quadratically:
/// the next step would be about $\delta_k^3/\delta_{k-1}^2$; steps that no longer shrink are round-off.
pub fn is_converged(tolerance: f64, before: f64, last: f64, scale: f64) -> bool {
    let small = tolerance * scale;
    let stalled = last >= 0.5 * before && last <= 1e-9 * scale;
    let next = if before.is_finite() && before > 0.0 {
        last * (last / before) * (last / before)
    } else {
        last
    };
    last <= small || (last <= 1e-6 * scale && next <= 1e-2 * small) || stalled
}

/// As long as a step shrinks by this, the matrix of an earlier iteration will do.
pub const CONTRACTS: f64 = 0.1;

/// The same for an iteration that may have used the matrix of an earlier one, which converges linearly: what is left is then a
/// geometric series of steps. `fresh` says that the matrix was made in the iteration.
pub fn ends(tolerance: f64, fresh: bool, before: f64, last: f64, scale: f64) -> bool {
    if fresh {
        return is_converged(tolerance, before, last, scale);
    }
    let small = tolerance * scale;
    let rate = last / before;
    let stalled = rate >= 0.5 && last <= 1e-13 * scale;
    last <= small || (rate < 0.5 && last * rate <= 0.1 * small) || stalled
}
