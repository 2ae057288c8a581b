//! Central potentials: functions of the distance from a centre or between two points.
//!
//! With $s = |x|^2$ and a profile $\varphi$,
//! $$ V = \varphi(s), \qquad \nabla V = 2 \varphi\'\\, x, \qquad
//!    \nabla^2 V = 2 \varphi\'\\, I + 4 \varphi\'\'\\, x x^\top . $$

use crate::affine::finite;
use crate::distance::Separation;
use crate::{ConstraintError, Field};

/// The profile $\varphi(s)$ of a central potential, $s = |x|^2$.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Profile {
    /// $k s^e$: with $e = -1$ and $k = 25$ the outward pull of \[KP\] section 4.2, with $e = -\tfrac12$ and $k < 0$
    /// Kepler's potential, with $e = 1$ a spring of zero length and stiffness $2k$.
    Power {
        /// $k$.
        strength: f64,
        /// $e$.
        exponent: f64,
    },
    /// $k s (s - 1)^2$: the nonlinear oscillator \[KP\] (7.4), with wells at the centre and on the unit sphere.
    SexticWell {
        /// $k$.
        strength: f64,
    },
}

impl Profile {
    /// $\varphi, \varphi\', \varphi\'\'$ at $s$.
    fn at(self, s: f64) -> [f64; 3] {
        match self {
            Self::Power { strength: k, exponent: e } => {
                // Integer powers by multiplication; at s = 0 only powers that vanish there stay finite.
                let power = |e: f64| match e {
                    0.0 => 1.0,
                    1.0 => s,
                    2.0 => s * s,
                    -1.0 => 1.0 / s,
                    -0.5 => 1.0 / s.sqrt(),
                    e => s.powf(e),
                };
                let first = if e == 0.0 { 0.0 } else { k * e * power(e - 1.0) };
                let second =
                    if e == 0.0 || e == 1.0 { 0.0 } else { k * e * (e - 1.0) * power(e - 2.0) };
                [k * power(e), first, second]
            }
            Self::SexticWell { strength: k } => {
                let u = s - 1.0;
                [k * s * u * u, k * u * (3.0 * s - 1.0), k * (6.0 * s - 4.0)]
            }
        }
    }

    fn check(self) -> Result<(), ConstraintError> {
        match self {
            Self::Power { strength, exponent } => {
                finite("the exponent of a central potential", exponent)?;
                finite("the strength of a central potential", strength)
            }
            Self::SexticWell { strength } => {
                finite("the strength of a central potential", strength)
            }
        }
    }
}

/// $\varphi(|x|^2)$ in one to three dimensions.
///
/// ```
/// use nsm_constraints::{Central, Field, Profile};
///
/// let kepler = Central::about(&[0, 1], &[0.0, 0.0], Profile::Power { strength: -1.0, exponent: -0.5 })?;
/// assert_eq!(kepler.value(&[3.0, 4.0], 0.0), -0.2);
/// # Ok::<(), nsm_constraints::ConstraintError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Central {
    separation: Separation,
    profile: Profile,
}

impl Central {
    /// A potential of the distance of a point from a fixed centre.
    ///
    /// # Errors
    /// A point without 1 to 3 distinct coordinates, a centre of another dimension, numbers that are not finite.
    pub fn about(
        point: &[usize],
        centre: &[f64],
        profile: Profile,
    ) -> Result<Self, ConstraintError> {
        profile.check()?;
        Ok(Self { separation: Separation::from_point(point, centre)?, profile })
    }

    /// A potential of the distance between two points.
    ///
    /// # Errors
    /// Points of different dimension or with common coordinates, numbers that are not finite.
    pub fn between(a: &[usize], b: &[usize], profile: Profile) -> Result<Self, ConstraintError> {
        profile.check()?;
        Ok(Self { separation: Separation::between(a, b)?, profile })
    }
}

impl Field for Central {
    fn coordinates(&self) -> &[usize] {
        &self.separation.coordinates
    }

    fn value(&self, q: &[f64], _t: f64) -> f64 {
        self.profile.at(square(&self.separation.vector(q)))[0]
    }

    fn gradient(&self, q: &[f64], _t: f64, out: &mut [f64]) {
        let x = self.separation.vector(q);
        let [_, first, _] = self.profile.at(square(&x));
        self.separation.gradient(&x, 2.0 * first, out);
    }

    fn hessian(&self, q: &[f64], _t: f64, w: f64, out: &mut [f64]) {
        let x = self.separation.vector(q);
        let [_, first, second] = self.profile.at(square(&x));
        self.separation.hessian(&x, 2.0 * w * first, 4.0 * w * second, out);
    }
}

fn square(x: &[f64; 3]) -> f64 {
    x[0] * x[0] + x[1] * x[1] + x[2] * x[2]
}
