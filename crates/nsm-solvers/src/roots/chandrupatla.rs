//! Chandrupatla's method: inverse quadratic interpolation wherever it can be trusted, else bisection.
//!
//! With the last three points, $\xi = (a - b)/(c - b)$ and $\varphi = (f_a - f_b)/(f_c - f_b)$, the
//! interpolating inverse parabola is monotonic in the bracket if and only if
//! $\varphi^2 < \xi$ and $(1 - \varphi)^2 < 1 - \xi$ [Chandrupatla 1997]. The first step, for which
//! there are no three points yet, is a secant. Three steps that together do not quarter the bracket are
//! followed by a bisection, which bounds the work on any function.

use super::{Bracket, Root, RootError, RootOptions};

/// Root without derivatives: order 1.8 on smooth functions, never worse than a few times bisection.
///
/// ```
/// use nsm_solvers::roots::{Bracket, RootOptions, chandrupatla};
///
/// let f = |t: f64| 1.0 - 4.905 * t * t;
/// let root = chandrupatla(f, Bracket::evaluate(f, 0.0, 1.0)?, &RootOptions::default())?;
/// assert!((root.x - (1.0 / 4.905_f64).sqrt()).abs() < 1e-15);
/// assert!(root.evaluations < 12);
/// # Ok::<(), nsm_solvers::roots::RootError>(())
/// ```
pub fn chandrupatla(
    mut f: impl FnMut(f64) -> f64,
    bracket: Bracket,
    options: &RootOptions,
) -> Result<Root, RootError> {
    let mut bracket = Bracket::new(bracket.a, bracket.value_a, bracket.b, bracket.value_b)?;
    let mut evaluations = 0;
    let mut t = bracket.value_a / (bracket.value_a - bracket.value_b);
    let mut widths = [f64::INFINITY; 3];
    let mut reach = 0.5;
    while !bracket.is_done(options.width) {
        if evaluations == options.max_evaluations {
            return Err(RootError::Exhausted { bracket, evaluations });
        }
        let width = bracket.width();
        // Never closer to an end than half the final width: the step that lands on the root's other
        // side then ends the search. Where rounding of the function hides that side, reach further.
        let margin = (reach * bracket.resolution(options.width) / width).min(0.5);
        if t <= margin {
            reach *= 4.0;
        } else if width > 0.25 * widths[evaluations % 3] {
            t = 0.5;
        }
        widths[evaluations % 3] = width;
        let Bracket { a, b, value_a, value_b } = bracket;
        let x = a + t.clamp(margin, 1.0 - margin) * (b - a);
        if x == a || x == b {
            break;
        }
        let value = f(x);
        evaluations += 1;
        bracket.shrink(x, value)?;
        if bracket.is_done(options.width) {
            break;
        }
        // `a` becomes the newest point, `b` the other end, `c` the point that was dropped.
        let (c, value_c) = if bracket.a == x { (a, value_a) } else { (b, value_b) };
        if bracket.b == x {
            bracket = Bracket {
                a: bracket.b,
                value_a: bracket.value_b,
                b: bracket.a,
                value_b: bracket.value_a,
            };
        }
        t = interpolate(&bracket, c, value_c);
    }
    Ok(bracket.finish(options, evaluations))
}

/// Position of the next point between `a` (0) and `b` (1).
fn interpolate(bracket: &Bracket, c: f64, fc: f64) -> f64 {
    let Bracket { a, value_a: fa, b, value_b: fb } = *bracket;
    let xi = (a - b) / (c - b);
    let phi = (fa - fb) / (fc - fb);
    if phi * phi < xi && (1.0 - phi) * (1.0 - phi) < 1.0 - xi {
        let t = fa / (fb - fa) * (fc / (fb - fc))
            + (c - a) / (b - a) * (fa / (fc - fa)) * (fb / (fc - fb));
        if t.is_finite() {
            return t;
        }
    }
    0.5
}
