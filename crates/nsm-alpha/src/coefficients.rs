//! The coefficients $\alpha_m, \alpha_f, \beta, \gamma$ of the generalized-α method.
//!
//! \[PB\] (59)–(63), after [Chung & Hulbert 1993] and [Arnold & Brüls 2007]:
//! $$ q_{n+1} = q_n + h v_n + h^2 (\tfrac12 - \beta)\\,a_n + h^2 \beta\\,a_{n+1}, \qquad
//!    v_{n+1} = v_n + h (1 - \gamma)\\,a_n + h \gamma\\,a_{n+1}, $$
//! $$ (1 - \alpha_m)\\,a_{n+1} + \alpha_m a_n = (1 - \alpha_f)\\,\dot v_{n+1} + \alpha_f \dot v_n . $$

use nsm_model::SystemError;
use nsm_solvers::newton::{Course, Matrices};

/// Coefficients of the difference formulae (59)–(61).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coefficients {
    /// $\alpha_m < 1$.
    pub alpha_m: f64,
    /// $\alpha_f < 1$.
    pub alpha_f: f64,
    /// $\beta > 0$.
    pub beta: f64,
    /// $\gamma > 0$.
    pub gamma: f64,
}

impl Coefficients {
    /// The second-order coefficients with spectral radius $\rho_\infty$ at infinite frequency (62)–(63).
    ///
    /// $\rho_\infty = 1$ does not dissipate, $\rho_\infty = 0$ annihilates the highest frequencies in one step.
    ///
    /// # Errors
    /// If $\rho_\infty$ lies outside $[0, 1]$.
    pub fn from_spectral_radius(rho: f64) -> Result<Self, SystemError> {
        if !(0.0..=1.0).contains(&rho) {
            return Err(SystemError::Parameter {
                what: "the spectral radius",
                must: "between 0 and 1",
                value: rho,
            });
        }
        let alpha_m = (2.0 * rho - 1.0) / (rho + 1.0);
        let alpha_f = rho / (rho + 1.0);
        let gamma = 0.5 + alpha_f - alpha_m;
        Ok(Self { alpha_m, alpha_f, beta: 0.25 * (gamma + 0.5).powi(2), gamma })
    }

    /// The first-order, fully implicit coefficients (91)–(93), which forget past accelerations.
    pub fn fully_implicit() -> Self {
        Self { alpha_m: 0.0, alpha_f: 0.0, beta: 0.5, gamma: 1.0 }
    }

    /// Refuses coefficients with which the formulae cannot be solved.
    ///
    /// # Errors
    /// Names the coefficient.
    pub fn check(&self) -> Result<(), SystemError> {
        let positive = "positive and finite";
        let below = "finite and below 1";
        for (what, value, fine, must) in [
            ("alpha_m", self.alpha_m, self.alpha_m < 1.0, below),
            ("alpha_f", self.alpha_f, self.alpha_f < 1.0, below),
            ("beta", self.beta, self.beta > 0.0, positive),
            ("gamma", self.gamma, self.gamma > 0.0, positive),
        ] {
            if !(value.is_finite() && fine) {
                return Err(SystemError::Parameter { what, must, value });
            }
        }
        Ok(())
    }
}

/// How the nonlinear equations of a step are solved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NewtonOptions {
    /// Newton stops when its step is below this, relative to the positions and their change: the meaning that a
    /// tolerance has in all integrators. It has no unit.
    pub tolerance: f64,
    /// Most iterations of one solve.
    pub iterations: usize,
}

impl Default for NewtonOptions {
    fn default() -> Self {
        Self { tolerance: 1e-15, iterations: 20 }
    }
}

impl NewtonOptions {
    /// The course of an iteration under these options.
    pub(crate) fn course(&self, matrices: Matrices) -> Course {
        Course::new(self.tolerance, matrices)
    }

    pub(crate) fn check(&self) -> Result<(), SystemError> {
        if self.tolerance.is_finite() && self.tolerance > 0.0 {
            return Ok(());
        }
        Err(SystemError::Parameter {
            what: "the tolerance",
            must: "positive and finite",
            value: self.tolerance,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type C = (f64, f64);

    /// Largest modulus of an eigenvalue of a real 3 × 3 matrix, by the roots of its cubic.
    fn spectral_radius(m: [[f64; 3]; 3]) -> f64 {
        // λ³ - tλ² + sλ - d, all roots by Durand–Kerner.
        let t = m[0][0] + m[1][1] + m[2][2];
        let minor = |i: usize, j: usize| m[i][i] * m[j][j] - m[i][j] * m[j][i];
        let s = minor(0, 1) + minor(0, 2) + minor(1, 2);
        let d = m[0][0] * minor(1, 2) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0])
            + m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
        let mul = |a: C, b: C| (a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0);
        let sub = |a: C, b: C| (a.0 - b.0, a.1 - b.1);
        let div = |a: C, b: C| {
            let n = b.0 * b.0 + b.1 * b.1;
            ((a.0 * b.0 + a.1 * b.1) / n, (a.1 * b.0 - a.0 * b.1) / n)
        };
        let mut r: [C; 3] = [(0.4, 0.9), (-0.65, 0.72), (0.8, -0.3)];
        for _ in 0..500 {
            for i in 0..3 {
                let x = r[i];
                let p = sub(mul(sub(mul(sub(x, (t, 0.0)), x), (-s, 0.0)), x), (d, 0.0));
                let q = mul(sub(x, r[(i + 1) % 3]), sub(x, r[(i + 2) % 3]));
                if q != (0.0, 0.0) {
                    r[i] = sub(x, div(p, q));
                }
            }
        }
        r.iter().map(|z| z.0.hypot(z.1)).fold(0.0, f64::max)
    }

    /// The step matrix of $\ddot q + \omega^2 q = 0$ on $(q, h v, h^2 a)$ with $\dot v_n = -\omega^2 q_n$.
    fn step_matrix(c: &Coefficients, w2: f64) -> [[f64; 3]; 3] {
        // (1-αm) a₊ = -w²(1-αf) q₊ - w² αf q - αm a, with q₊ = q + v + (½-β) a + β a₊.
        let den = (1.0 - c.alpha_m) + w2 * (1.0 - c.alpha_f) * c.beta;
        let on = |q: f64, v: f64, a: f64| {
            let predicted = q + v + (0.5 - c.beta) * a;
            let a1 =
                (-w2 * (1.0 - c.alpha_f) * predicted - w2 * c.alpha_f * q - c.alpha_m * a) / den;
            [predicted + c.beta * a1, v + (1.0 - c.gamma) * a + c.gamma * a1, a1]
        };
        let columns = [on(1.0, 0.0, 0.0), on(0.0, 1.0, 0.0), on(0.0, 0.0, 1.0)];
        std::array::from_fn(|i| std::array::from_fn(|j| columns[j][i]))
    }

    #[test]
    fn the_spectral_radius_at_infinity_is_the_one_asked_for() {
        for rho in [0.0, 0.1, 0.3, 0.5, 0.8, 0.98, 1.0] {
            let c = Coefficients::from_spectral_radius(rho).unwrap();
            c.check().unwrap();
            // The limit is a triple root, approached like (ωh)^(-2/3).
            let radius = spectral_radius(step_matrix(&c, 1e14));
            assert!((radius - rho).abs() < 1e-4, "{rho}: {radius}");
            for w2 in [1e-2, 1.0, 1e2, 1e4] {
                let radius = spectral_radius(step_matrix(&c, w2));
                assert!(radius <= 1.0 + 1e-5, "{rho} at {w2}: {radius}");
            }
        }
    }

    #[test]
    fn coefficients_that_make_no_sense_are_named() {
        for rho in [-0.1, 1.1, f64::NAN] {
            assert!(matches!(
                Coefficients::from_spectral_radius(rho),
                Err(SystemError::Parameter { what: "the spectral radius", .. })
            ));
        }
        let bad = Coefficients { beta: 0.0, ..Coefficients::fully_implicit() };
        assert!(matches!(bad.check(), Err(SystemError::Parameter { what: "beta", .. })));
        let bad = Coefficients { alpha_f: 1.0, ..Coefficients::fully_implicit() };
        assert!(matches!(bad.check(), Err(SystemError::Parameter { what: "alpha_f", .. })));
    }
}
