//! Bisection: for functions of which only the sign can be trusted.

use super::{Bracket, Root, RootError, RootOptions};

/// Halves the bracket until it is as narrow as asked.
///
/// ```
/// use nsm_solvers::roots::{Bracket, RootOptions, Side, bisect};
///
/// let f = |x: f64| x * x - 2.0;
/// let options = RootOptions { side: Side::NonNegative, ..RootOptions::default() };
/// let root = bisect(f, Bracket::evaluate(f, 0.0, 2.0)?, &options)?;
/// assert!(root.value >= 0.0 && (root.x - 2.0_f64.sqrt()).abs() < 1e-15);
/// # Ok::<(), nsm_solvers::roots::RootError>(())
/// ```
pub fn bisect(
    mut f: impl FnMut(f64) -> f64,
    bracket: Bracket,
    options: &RootOptions,
) -> Result<Root, RootError> {
    let mut bracket = Bracket::new(bracket.a, bracket.value_a, bracket.b, bracket.value_b)?;
    let mut evaluations = 0;
    while !bracket.is_done(options.width) {
        if evaluations == options.max_evaluations {
            return Err(RootError::Exhausted { bracket, evaluations });
        }
        let middle = bracket.a + 0.5 * (bracket.b - bracket.a);
        if middle == bracket.a || middle == bracket.b {
            break;
        }
        bracket.shrink(middle, f(middle))?;
        evaluations += 1;
    }
    Ok(bracket.finish(options, evaluations))
}
