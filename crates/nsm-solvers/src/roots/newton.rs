//! Newton's method inside a bracket.
//!
//! A Newton step that leaves the bracket, or that does not shrink fast enough, is replaced by
//! bisection. Once steps are shorter than the final width's square root they overshoot by half that
//! width, so that the point lands on the other side of the root and the bracket closes from both ends.

use super::{Bracket, Root, RootError, RootOptions};

/// Root with derivatives: `f` returns value and derivative. Order two on simple roots.
///
/// ```
/// use nsm_solvers::roots::{Bracket, RootOptions, newton};
///
/// let f = |x: f64| (x.cos() - x, -x.sin() - 1.0);
/// let root = newton(f, Bracket::evaluate(|x| f(x).0, 0.0, 1.0)?, &RootOptions::default())?;
/// assert!((root.x - 0.739_085_133_215_160_6).abs() < 2e-16);
/// # Ok::<(), nsm_solvers::roots::RootError>(())
/// ```
pub fn newton(
    mut f: impl FnMut(f64) -> (f64, f64),
    bracket: Bracket,
    options: &RootOptions,
) -> Result<Root, RootError> {
    let mut bracket = Bracket::new(bracket.a, bracket.value_a, bracket.b, bracket.value_b)?;
    let mut evaluations = 0;
    // No derivative is known at the ends, so the first point is the secant's.
    let mut next =
        bracket.a + bracket.value_a / (bracket.value_a - bracket.value_b) * (bracket.b - bracket.a);
    let mut last_step = f64::INFINITY;
    let mut last_width = f64::INFINITY;
    while !bracket.is_done(options.width) {
        if evaluations == options.max_evaluations {
            return Err(RootError::Exhausted { bracket, evaluations });
        }
        let (low, high) = (bracket.a.min(bracket.b), bracket.a.max(bracket.b));
        let inside = next > low && next < high;
        let x = if inside { next } else { low + 0.5 * (high - low) };
        if x == low || x == high {
            break;
        }
        let (value, slope) = f(x);
        evaluations += 1;
        bracket.shrink(x, value)?;
        if bracket.is_done(options.width) {
            break;
        }
        let step = -value / slope;
        let resolution = bracket.resolution(options.width);
        let width = bracket.width();
        let slow = step.abs() > 0.5 * last_step && width > 0.5 * last_width;
        next = if slow || !step.is_finite() {
            f64::NAN
        } else if step.abs() < resolution.sqrt() * x.abs().max(1.0).sqrt() {
            // The root is certainly within this step: aim just beyond it.
            x + step + 0.5 * resolution.max(2.0 * f64::EPSILON * x.abs()) * step.signum()
        } else {
            x + step
        };
        (last_step, last_width) = (step.abs(), width);
    }
    Ok(bracket.finish(options, evaluations))
}
