//! A fraction of a step that follows the numerical Hamiltonian of the whole one.
//!
//! A step $\Phi_\tau$ shorter than $h$ follows $H + \tau^2 H_2 + \ldots$, another system than the one that full steps follow,
//! and energy wanders at every event. The symmetric composition
//! $$ C_\theta = \Phi_{ah} \circ \Phi_{(\theta - 2a)h} \circ \Phi_{ah}, \qquad 2a^3 + (\theta - 2a)^3 = \theta, $$
//! has $\log C_\theta = \theta \log \Phi_h + O(h^5)$: it goes the fraction $\theta$ of the way of the full step, along the same
//! numerical Hamiltonian up to fourth order.

/// The $a \in [-0.2006, 0]$ with $6a(a - \theta)^2 = \theta^3 - \theta$, for $0 \le \theta \le 1$.
pub(crate) fn outer_share(theta: f64) -> f64 {
    if theta <= 0.0 || theta >= 1.0 {
        return 0.0;
    }
    // The left side grows and is concave for a <= 0, so that Newton's method from the left of the root stays there.
    let target = theta * (theta - 1.0) * (theta + 1.0);
    let mut a = (-(theta / 6.0).cbrt()).max(-0.201);
    for _ in 0..60 {
        let value = 6.0 * a * (a - theta) * (a - theta) - target;
        let slope = 6.0 * (a - theta) * (3.0 * a - theta);
        let next = (a - value / slope).min(0.0);
        if next <= a {
            break;
        }
        a = next;
    }
    a
}

#[cfg(test)]
mod tests {
    use super::outer_share;

    #[test]
    fn the_composition_has_the_moments_of_the_fraction() {
        for k in 0..=1000 {
            for theta in [f64::from(k) / 1000.0, 10.0_f64.powf(-f64::from(k) / 70.0)] {
                let a = outer_share(theta);
                assert!((-0.2007..=0.0).contains(&a), "a({theta}) = {a}");
                let cubes = 2.0 * a.powi(3) + (theta - 2.0 * a).powi(3);
                assert!((cubes - theta).abs() <= 4e-15 * theta.max(1e-2), "{theta}: {cubes}");
            }
        }
    }
}
