//! Stumpff functions, the coefficients of every closed form on SO(3) and SE(3).
//!
//! $$ c_j(x) = \sum_{k\ge 0} \frac{(-x)^k}{(2k+j)!}, \qquad c_j(x) = \tfrac{1}{j!} - x\\,c_{j+2}(x). $$
//!
//! With $x = \theta^2$: $c_0 = \cos\theta$, $c_1 = \sin\theta/\theta$,
//! $c_2 = (1-\cos\theta)/\theta^2$, $c_3 = (\theta-\sin\theta)/\theta^3$, and the coefficients of the
//! Jacobian of \[TL\] (D.3) are $(\theta\cos\theta-\sin\theta)/\theta^3 = c_3 - c_2$ and
//! $(\theta\sin\theta - 2(1-\cos\theta))/\theta^4 = 2c_4 - c_3$.
//! They are entire functions of $x$, so that nothing is special at $\theta = 0$.

/// $1/4!, -1/6!, \dots$ and $1/5!, -1/7!, \dots$: the series of $c_4$ and $c_5$ in powers of $x$.
const C4: [f64; 9] = series(4);
const C5: [f64; 9] = series(5);

/// Below this $x$ five terms of the series reach round-off ($x^5/14! < 10^{-17}/4!$).
const SHORT: f64 = 0.02;
/// Below this $x$ nine terms do; above, trigonometric functions lose at most a digit.
const LONG: f64 = 1.0;

/// $c_0, \dots, c_5$ at $x = \theta^2 \ge 0$, each to a few units of round-off.
#[inline]
pub fn stumpff(x: f64) -> [f64; 6] {
    if x < LONG {
        let (c4, c5) = if x < SHORT {
            (horner(&C4[..5], x), horner(&C5[..5], x))
        } else {
            (horner(&C4, x), horner(&C5, x))
        };
        let c3 = 1.0 / 6.0 - x * c5;
        let c2 = 0.5 - x * c4;
        [1.0 - x * c2, 1.0 - x * c3, c2, c3, c4, c5]
    } else {
        let theta = x.sqrt();
        let (s, c) = theta.sin_cos();
        let half = (0.5 * theta).sin();
        let c1 = s / theta;
        let c2 = 2.0 * half * half / x;
        let c3 = (1.0 - c1) / x;
        [c, c1, c2, c3, (0.5 - c2) / x, (1.0 / 6.0 - c3) / x]
    }
}

/// $c_1$ and $c_2$ alone, for the exponential itself.
#[inline]
pub(crate) fn c1_c2(x: f64) -> (f64, f64) {
    let c = stumpff(x);
    (c[1], c[2])
}

/// $(1 - \tfrac{\theta}{2}\cot\tfrac{\theta}{2})/\theta^2$, the coefficient of $S(f)^2$ in the inverse
/// tangent of the exponential; $1/12$ at zero, singular at $\theta = 2\pi$.
#[inline]
pub(crate) fn half_cotangent(x: f64) -> f64 {
    // With y = (θ/2)²: (sin h − h cos h)/h³ = c₂(y) − c₃(y) and sin h/h = c₁(y).
    let c = stumpff(0.25 * x);
    0.25 * (c[2] - c[3]) / c[1]
}

#[inline]
fn horner(coefficients: &[f64], x: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, &c| sum * x + c)
}

const fn series(j: u32) -> [f64; 9] {
    let mut out = [0.0; 9];
    let mut factorial = 1.0;
    let mut i = 2;
    while i <= j {
        factorial *= i as f64;
        i += 1;
    }
    let mut k = 0;
    let mut n = j;
    let mut sign = 1.0;
    while k < 9 {
        out[k] = sign / factorial;
        factorial *= ((n + 1) * (n + 2)) as f64;
        n += 2;
        sign = -sign;
        k += 1;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The defining series, summed to convergence.
    fn reference(j: u32, x: f64) -> f64 {
        let mut term = 1.0 / (1..=j).map(f64::from).product::<f64>();
        let mut sum = 0.0;
        for k in 0..60 {
            sum += term;
            let n = f64::from(2 * k + j);
            term *= -x / ((n + 1.0) * (n + 2.0));
        }
        sum
    }

    #[test]
    fn matches_the_series_on_both_sides_of_each_branch() {
        for x in
            [0.0, 1e-300, 1e-16, 1e-8, 0.0199, 0.0201, 0.3, 0.999_999, 1.0, 1.000_001, 4.0, 9.0]
        {
            let c = stumpff(x);
            for j in 0..6 {
                let want = reference(j, x);
                let error = (c[j as usize] - want).abs();
                assert!(error <= 3e-16, "c{j}({x}) = {}, series {want}", c[j as usize]);
            }
        }
    }

    #[test]
    fn half_cotangent_limits() {
        assert!((half_cotangent(0.0) - 1.0 / 12.0).abs() < 3e-17); // two units in the last place of 1/12
        let theta = 3.0_f64;
        let direct = (1.0 - 0.5 * theta / (0.5 * theta).tan()) / (theta * theta);
        assert!((half_cotangent(9.0) - direct).abs() < 1e-16);
    }
}
