//! Integrals of smooth functions, and of those with a few kinks, to rounding.
//!
//! Gauss–Legendre with five points on an interval and on its halves, which are halved again until that changes nothing.

/// Halvings of an interval in which a kink lies: what is left of it is below rounding.
const HALVINGS: u32 = 24;

/// $\int_a^b f$.
pub fn integrate(f: &impl Fn(f64) -> f64, a: f64, b: f64) -> f64 {
    if a == b { 0.0 } else { over(f, (a, b), HALVINGS) }
}

fn over(f: &impl Fn(f64) -> f64, (a, b): (f64, f64), depth: u32) -> f64 {
    let middle = 0.5 * (a + b);
    let (whole, halves) = (gauss(f, a, b), gauss(f, a, middle) + gauss(f, middle, b));
    let size = f(a).abs() + f(b).abs();
    let settled = (whole - halves).abs() <= 1e-14 * (halves.abs() + size * (b - a).abs());
    // What is not finite stays so however often it is halved.
    if settled || depth == 0 || !halves.is_finite() {
        halves
    } else {
        over(f, (a, middle), depth - 1) + over(f, (middle, b), depth - 1)
    }
}

fn gauss(f: &impl Fn(f64) -> f64, a: f64, b: f64) -> f64 {
    const NODES: [(f64, f64); 3] = [
        (0.0, 128.0 / 225.0),
        (0.538_469_310_105_683_1, 0.478_628_670_499_366_47),
        (0.906_179_845_938_664, 0.236_926_885_056_189_08),
    ];
    let (middle, half) = (0.5 * (a + b), 0.5 * (b - a));
    let at = |x: f64| f(middle + half * x);
    let sum: f64 =
        NODES[1..].iter().map(|(x, w)| w * (at(*x) + at(-x))).sum::<f64>() + NODES[0].1 * at(0.0);
    half * sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integrals_of_smooth_functions_and_of_kinks_are_exact_to_rounding() {
        assert!((integrate(&f64::exp, 0.0, 3.0) - (3.0_f64.exp() - 1.0)).abs() < 1e-13);
        assert!((integrate(&f64::exp, 3.0, 0.0) + (3.0_f64.exp() - 1.0)).abs() < 1e-13);
        let kink = |x: f64| (x - 0.3).max(0.0);
        assert!((integrate(&kink, 0.0, 1.0) - 0.245).abs() < 1e-14);
        assert!(integrate(&|_| f64::NAN, 0.0, 1.0).is_nan());
    }
}
