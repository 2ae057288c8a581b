//! Integrals of smooth functions, and of those with a few kinks, to rounding.
//!
//! Gauss–Legendre with five points on an interval and on its halves, which are halved again until that changes nothing, and Lobatto's rule, which looks at the
//! ends, says the same: what is zero at every point inside may have begun to grow before the end.

/// Halvings of an interval in which a kink lies: what is left of it is below rounding.
const HALVINGS: u32 = 24;

/// $\int_a^b f$.
pub fn integrate(f: &impl Fn(f64) -> f64, a: f64, b: f64) -> f64 {
    if a == b {
        return 0.0;
    }
    // Far from zero $f$ itself is rough by the rounding of its argument, and no halving will settle it: what is below rounding of the whole counts as settled.
    let size = f(a).abs() + f(b).abs() + f(0.5 * (a + b)).abs();
    over(f, (a, b), 1e-14 * size * (b - a).abs(), HALVINGS)
}

fn over(f: &impl Fn(f64) -> f64, (a, b): (f64, f64), noise: f64, depth: u32) -> f64 {
    let middle = 0.5 * (a + b);
    let (whole, halves) = (gauss(f, a, b), gauss(f, a, middle) + gauss(f, middle, b));
    let (first, last) = (f(a), f(b));
    let lobatto = lobatto(f, (a, first), (b, last));
    let small = 1e-14 * (halves.abs() + (first.abs() + last.abs()) * (b - a).abs());
    // What the rounding of its argument makes of $f$ no halving settles either.
    let at_middle = f(middle);
    let change = (at_middle - first).abs() + (last - at_middle).abs();
    let small = small.max(noise).max(2.0 * f64::EPSILON * a.abs().max(b.abs()) * change);
    let settled = (whole - halves).abs() <= small && (lobatto - halves).abs() <= small;
    // What is not finite stays so however often it is halved.
    if settled || depth == 0 || !halves.is_finite() {
        halves
    } else {
        over(f, (a, middle), noise, depth - 1) + over(f, (middle, b), noise, depth - 1)
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

fn lobatto(f: &impl Fn(f64) -> f64, (a, first): (f64, f64), (b, last): (f64, f64)) -> f64 {
    let (middle, half) = (0.5 * (a + b), 0.5 * (b - a));
    let inner = half * (3.0_f64 / 7.0).sqrt();
    let sum = (first + last) / 10.0
        + (f(middle - inner) + f(middle + inner)) * 49.0 / 90.0
        + f(middle) * 32.0 / 45.0;
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
        // The kink lies beyond the last point of the rule.
        assert!((integrate(&kink, 0.0, 0.303) - 4.5e-6).abs() < 1e-18);
        // Rough by the rounding of its argument: as many evaluations as for a kink at most.
        let count = std::cell::Cell::new(0);
        let rough = |t: f64| {
            count.set(count.get() + 1);
            (1e3 * t).sin().abs()
        };
        integrate(&rough, 1000.0, 1000.01);
        assert!(count.get() < 20_000, "{}", count.get());
        assert!(integrate(&|_| f64::NAN, 0.0, 1.0).is_nan());
    }
}
