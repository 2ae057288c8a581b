//! One contact, in closed form.
//!
//! Given the $3 \times 3$ matrix $W$ and $q$ of a contact (normal first), find $r$ with $u = Wr + q$ by Coulomb's law:
//! - $q_N \ge 0$: no impulse;
//! - sticking, $r = -W^{-1}q$, if that lies in the cone;
//! - slipping, $u_N = 0$, $u_T = -a\\,r_T$, $|r_T| = \mu r_N$: with $S = W_{TT} - W_{TN}W_{NT}/W_{NN}$, $b = q_T - W_{TN}q_N/W_{NN}$,
//!   $$ r_T(a) = -(S + aI)^{-1} b, \qquad r_N(a) = -(q_N + W_{NT} r_T)/W_{NN}, $$
//!   so that $a \ge 0$ is a root of the quartic
//!   $$ (\mu/W_{NN})^2 (n_0 + n_1 a + n_2 a^2)^2 - |v_0 + a v_1|^2 = 0 . $$
//!   The largest one is taken. It exists whenever nothing else does, and $r_N > 0$ there, since $r_N \to -q_N/W_{NN} > 0$ for $a \to \infty$.
//!
//! $W$ may be unsymmetric.

/// Solves one contact; `w` is row-major.
pub fn solve_contact(w: &[f64; 9], q: &[f64; 3], friction: f64) -> [f64; 3] {
    let [wnn, wn1, wn2, w1n, w11, w12, w2n, w21, w22] = *w;
    if q[0] >= 0.0 || wnn <= 0.0 {
        return [0.0; 3];
    }
    if friction == 0.0 {
        return [-q[0] / wnn, 0.0, 0.0];
    }
    let s = [
        w11 - w1n * wn1 / wnn,
        w12 - w1n * wn2 / wnn,
        w21 - w2n * wn1 / wnn,
        w22 - w2n * wn2 / wnn,
    ];
    let b = [q[1] - w1n * q[0] / wnn, q[2] - w2n * q[0] / wnn];
    let (det, trace) = (s[0] * s[3] - s[1] * s[2], s[0] + s[3]);
    let normal = |t: [f64; 2]| -(q[0] + wn1 * t[0] + wn2 * t[1]) / wnn;
    let v0 = [s[3] * b[0] - s[1] * b[1], s[0] * b[1] - s[2] * b[0]];
    if det > 1e-14 * trace * trace {
        let t = [-v0[0] / det, -v0[1] / det];
        let n = normal(t);
        if n >= 0.0 && t[0].hypot(t[1]) <= friction * n {
            return [n, t[0], t[1]];
        }
    }
    // In units of a typical tangential entry.
    let unit = 0.5 * trace.abs();
    let unit = if unit > 0.0 { unit } else { wnn };
    let (det, trace) = (det / (unit * unit), trace / unit);
    let v0 = [v0[0] / unit, v0[1] / unit];
    let n = [
        (-(q[0] * det) * unit + wn1 * v0[0] + wn2 * v0[1]) / unit,
        (-(q[0] * trace) * unit + wn1 * b[0] + wn2 * b[1]) / unit,
        -q[0],
    ];
    // Both sides of |r_T| = μ r_N times the determinant, over the unit.
    let c = friction * unit / wnn;
    let right = |a: f64| c * (n[0] + a * (n[1] + a * n[2]));
    let left = |a: f64| (v0[0] + a * b[0]).hypot(v0[1] + a * b[1]);
    let cc = c * c;
    let quartic = [
        cc * n[0] * n[0] - (v0[0] * v0[0] + v0[1] * v0[1]),
        2.0 * (cc * n[0] * n[1] - (v0[0] * b[0] + v0[1] * b[1])),
        cc * (n[1] * n[1] + 2.0 * n[0] * n[2]) - (b[0] * b[0] + b[1] * b[1]),
        2.0 * cc * n[1] * n[2],
        cc * n[2] * n[2],
    ];
    let mut a = largest_root(&quartic).unwrap_or(0.0).max(0.0);
    for _ in 0..3 {
        let length = left(a);
        let slope = c * (n[1] + 2.0 * a * n[2])
            - (b[0] * (v0[0] + a * b[0]) + b[1] * (v0[1] + a * b[1])) / length;
        let step = (right(a) - length) / slope;
        if !step.is_finite() || step.abs() > 1e-3 * (1.0 + a) {
            break;
        }
        a = (a - step).max(0.0);
    }
    let whole = (det + a * (trace + a)) * unit;
    let t = [-(v0[0] + a * b[0]) / whole, -(v0[1] + a * b[1]) / whole];
    let r = normal(t).max(0.0);
    let length = t[0].hypot(t[1]);
    let scale = if length > 0.0 && length.is_finite() { friction * r / length } else { 0.0 };
    [r, scale * t[0], scale * t[1]]
}

/// Largest real root of a polynomial (constant term first) with a positive leading coefficient.
///
/// Between two neighbouring extrema, or beyond the last, there is at most one root: extrema are the roots of the derivative.
fn largest_root(p: &[f64; 5]) -> Option<f64> {
    let lead = p[4];
    if !(lead > 0.0 && p.iter().all(|c| c.is_finite())) {
        return None;
    }
    // Cauchy's bound.
    let bound = 1.0 + p[..4].iter().fold(0.0_f64, |a, c| a.max(c.abs() / lead));
    let value = |a: f64| p[0] + a * (p[1] + a * (p[2] + a * (p[3] + a * p[4])));
    let first = |a: f64| p[1] + a * (2.0 * p[2] + a * (3.0 * p[3] + a * 4.0 * p[4]));
    // Extrema of the first derivative, then of the polynomial, from the right.
    let middle = -p[3] / (4.0 * p[4]);
    let half = middle * middle - p[2] / (6.0 * p[4]);
    let mut turns = [f64::NAN; 2];
    if half > 0.0 {
        turns = [middle + half.sqrt(), middle - half.sqrt()];
    }
    let mut extrema = [f64::NAN; 3];
    let mut right = bound;
    let mut found = 0;
    for left in turns.into_iter().filter(|x| x.is_finite()).chain([-bound]) {
        if let Some(root) = between(first, left, right) {
            extrema[found] = root;
            found += 1;
        }
        right = left;
    }
    let mut right = bound;
    for left in extrema.into_iter().filter(|x| x.is_finite()).chain([-bound]) {
        if let Some(root) = between(value, left, right) {
            return Some(root);
        }
        right = left;
    }
    // Touching roots that rounding has lifted.
    extrema
        .into_iter()
        .filter(|x| x.is_finite())
        .min_by(|a, b| value(*a).abs().total_cmp(&value(*b).abs()))
}

/// The root of a function that is monotone in between, if its ends differ in sign; by secants and bisection.
fn between(f: impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> Option<f64> {
    let (mut at_low, mut at_high) = (f(low), f(high));
    if at_low == 0.0 {
        return Some(low);
    }
    if at_high == 0.0 {
        return Some(high);
    }
    if (at_low > 0.0) == (at_high > 0.0) || low >= high {
        return None;
    }
    let mut side = 0;
    for round in 0..100 {
        let secant = (low * at_high - high * at_low) / (at_high - at_low);
        let inside = secant > low && secant < high && round % 4 != 3;
        let x = if inside { secant } else { 0.5 * (low + high) };
        let y = f(x);
        if y == 0.0 || high - low <= 4.0 * f64::EPSILON * (low.abs() + high.abs()) {
            return Some(x);
        }
        if (y > 0.0) == (at_low > 0.0) {
            (low, at_low) = (x, y);
            if side == -1 {
                at_high *= 0.5;
            }
            side = -1;
        } else {
            (high, at_high) = (x, y);
            if side == 1 {
                at_low *= 0.5;
            }
            side = 1;
        }
    }
    Some(0.5 * (low + high))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planar(w: [f64; 4], q: [f64; 2], friction: f64) -> [f64; 2] {
        // The second tangent stands apart: its impulse is zero.
        let full = [w[0], w[1], 0.0, w[2], w[3], 0.0, 0.0, 0.0, 0.5 * (w[0] + w[3])];
        let [n, t, other] = solve_contact(&full, &[q[0], q[1], 0.0], friction);
        assert_eq!(other, 0.0);
        [n, t]
    }

    fn near(a: &[f64], b: &[f64]) {
        for (x, y) in a.iter().zip(b) {
            assert!((x - y).abs() < 1e-9, "{a:?} {b:?}");
        }
    }

    #[test]
    fn a_rod_that_slips_and_one_that_sticks_come_out_as_computed_by_hand() {
        // A rod at 45 degrees, plastic: W and the impulses in closed form.
        let w = [2.5, 1.5, 1.5, 2.5];
        near(&planar(w, [-1.0, -0.5], 0.5), &[0.4375, -0.0625]);
        // Newton with e = 1: (1 + E) u.
        near(&planar(w, [-2.0, -0.5], 0.5), &[1.0625, -0.4375]);
        // e = 0.8, slips on.
        near(&planar(w, [-1.8, 0.2], 0.5), &[1.8 / 1.75, -0.9 / 1.75]);
    }

    #[test]
    fn painleve_impacts_without_collision_take_the_largest_root() {
        let w = [1.6, 1.2, 1.2, 3.4];
        for friction in [1.34, 2.0, 5.0] {
            near(&planar(w, [-1e-14, 1.0], friction), &[0.3, -0.4]);
        }
        let [n, t] = planar(w, [-1e-9, 1.0], 1.3);
        assert!((0.0..1e-6).contains(&n) && t.abs() < 1e-6, "{n} {t}");
    }

    #[test]
    fn random_contacts_obey_coulombs_law() {
        use rand::{RngExt, SeedableRng};
        let mut rng = rand_pcg::Pcg64::seed_from_u64(3);
        for _ in 0..20_000 {
            let a: [f64; 9] = std::array::from_fn(|_| rng.random_range(-1.0..1.0));
            let mut w = [0.0; 9];
            for i in 0..3 {
                for j in 0..3 {
                    w[3 * i + j] = (0..3).map(|k| a[3 * i + k] * a[3 * j + k]).sum::<f64>();
                }
                w[4 * i] += 0.05;
            }
            let q: [f64; 3] = std::array::from_fn(|_| rng.random_range(-1.0..1.0));
            let friction = rng.random_range(0.0..2.0);
            let r = solve_contact(&w, &q, friction);
            let u: [f64; 3] =
                std::array::from_fn(|i| q[i] + (0..3).map(|j| w[3 * i + j] * r[j]).sum::<f64>());
            let (pull, slip) = (r[1].hypot(r[2]), u[1].hypot(u[2]));
            assert!(r[0] >= 0.0 && pull <= friction * r[0] * (1.0 + 1e-12));
            assert!(u[0] > -1e-9 && (r[0] * u[0]).abs() < 1e-9, "{r:?} {u:?}");
            if r[0] > 0.0 && slip > 1e-7 {
                assert!((pull - friction * r[0]).abs() < 1e-9 * (1.0 + r[0]), "{r:?} {u:?}");
                let against = r[1] * u[1] + r[2] * u[2] + pull * slip;
                assert!(against.abs() < 1e-8 * (1.0 + pull), "{r:?} {u:?}");
            }
        }
    }
}
