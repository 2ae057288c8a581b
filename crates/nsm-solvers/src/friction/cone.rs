//! Coulomb's cone and the measure of how far an impulse is from obeying his law.

/// The nearest point of $K_\mu = \lbrace |r_T| \le \mu r_N \rbrace$.
pub(crate) fn project(r: [f64; 3], friction: f64) -> [f64; 3] {
    let [n, a, b] = r;
    let length = a.hypot(b);
    if length <= friction * n {
        return r;
    }
    if friction * length <= -n {
        return [0.0; 3];
    }
    let height = (n + friction * length) / (1.0 + friction * friction);
    let scale = if length > 0.0 { friction * height / length } else { 0.0 };
    [height, scale * a, scale * b]
}

/// $\hat u = u + \mu |u_T| n$, which is dual to the impulse in Coulomb's law (De Saxcé).
pub(crate) fn augmented(u: [f64; 3], friction: f64) -> [f64; 3] {
    [u[0] + friction * u[1].hypot(u[2]), u[1], u[2]]
}

/// Entries of contact `i`.
pub(crate) fn triple(x: &[f64], i: usize) -> [f64; 3] {
    [x[3 * i], x[3 * i + 1], x[3 * i + 2]]
}

/// $\max_i |r_i - P_K(r_i - \hat u_i)|$ of a problem that is scaled so that every contact's own matrix has trace three.
pub(crate) fn residual(r: &[f64], u: &[f64], friction: &[f64]) -> f64 {
    let mut worst = 0.0_f64;
    for (i, &mu) in friction.iter().enumerate() {
        let (r, u) = (triple(r, i), augmented(triple(u, i), mu));
        let p = project([r[0] - u[0], r[1] - u[1], r[2] - u[2]], mu);
        let d = ((r[0] - p[0]).powi(2) + (r[1] - p[1]).powi(2) + (r[2] - p[2]).powi(2)).sqrt();
        // `max` would forget NaN.
        if d.is_nan() || d > worst {
            worst = d;
        }
    }
    worst
}
