//! The implicit equation of the attitude: given $g \in \mathbb R^3$, find $F \in SO(3)$ with
//! $$ S(g) = \mathrm{Asym}(F J_d) = F J_d - J_d F^\top. \tag{TL D.1} $$
//!
//! With $F = \exp S(f)$ it reads $G(f) = g$,
//! $$ G(f) = c_1 Jf + c_2 f\times Jf, \tag{TL D.3} $$
//! in [Stumpff functions](nsm_geom::stumpff) of $|f|^2$, whose Jacobian is the one below (D.4). With
//! $F = \mathrm{Cay} S(f)$ it reads $\tfrac{2}{1+|f|^2}(Jf + f\times Jf) = g$ (D.8); multiplied from the left by
//! the regular matrix $I - S(f)$ it becomes a polynomial of degree two,
//! $$ g + g\times f + (g\cdot f)f - 2Jf = 0, $$
//! which needs no division and is what is solved here. Both parametrise the same $F$.
//!
//! **Energy.** The step conserves $\tfrac12\Pi\cdot J^{-1}\Pi$ exactly where the equation is solved exactly.
//! A Newton iteration that stops at its tolerance leaves an error that always has the same sign, and the
//! energy drifts; one further step (the *polish*) leaves only rounding, which has no preferred sign. The
//! result is kept as the increment $F - I = a S(f) + b S(f)^2$: the entries of $F$ itself carry rounding errors of
//! the size of the unit, the same ones in every step of a steady rotation.

use nsm_geom::{Mat3, Vec3, so3, stumpff::stumpff};

/// Which coordinates of the relative attitude $F$ are solved for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Retraction {
    /// $F = \exp S(f)$ (\[TL\] (D.1)).
    Exponential,
    /// $F = \mathrm{Cay} S(f)$ (\[TL\] (D.2)): no transcendental functions.
    #[default]
    Cayley,
}

/// How the implicit equation is solved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Newton {
    /// The residual counts as zero below this times $|g|$.
    pub tolerance: f64,
    /// Take one more step after that.
    pub polish: bool,
    /// Start from the second-order predictor and keep the Jacobian as long as it contracts well. Otherwise
    /// start from the linear one, $J^{-1}g$, with a new Jacobian for each step, as in the paper.
    pub economical: bool,
    /// Iterations after which the equation counts as unsolvable.
    pub limit: usize,
}

impl Default for Newton {
    fn default() -> Self {
        Self { tolerance: 1e-13, polish: true, economical: true, limit: 50 }
    }
}

/// The relative attitude and what it cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RelativeAttitude {
    /// $F - I$.
    pub increment: Mat3,
    /// Newton iterations, the polish included.
    pub iterations: usize,
    /// Residual before the last of them, relative to $|g|$.
    pub residual: f64,
}

/// The equation has no solution in reach: $|g|$ exceeds what a turn below $\pi$ attains, or it is not
/// finite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unsolved {
    /// Iterations made.
    pub iterations: usize,
    /// Residual reached, relative to $|g|$.
    pub residual: f64,
}

// No `nsm_solvers::newton::Course`: the equation in three unknowns is scaled by its right-hand side, so that its residual has no unit and ends the iteration, before
// a step is made rather than after. (D.1) for a body that hardly turns is solved by its first residual.

/// A Jacobian is kept while each step shrinks the residual by this.
const CONTRACTION: f64 = 1e-2;
/// Below this the residual is rounding: whether it still falls says nothing.
const FLOOR: f64 = 1e-13;

impl Newton {
    /// Solves (D.1) for $F$; `inverse` is $J^{-1}$.
    ///
    /// # Errors
    /// [`Unsolved`] if there is no solution in reach, or `g` is not finite.
    #[inline]
    pub fn relative_attitude(
        &self,
        retraction: Retraction,
        inertia: &Mat3,
        inverse: &Mat3,
        g: &Vec3,
    ) -> Result<RelativeAttitude, Unsolved> {
        match retraction {
            Retraction::Cayley => {
                let linear = 0.5 * (inverse * g);
                let start = if self.economical {
                    0.5 * (inverse * (g + g.cross(&linear) + linear * g.dot(&linear)))
                } else {
                    linear
                };
                let residual = |f: &Vec3| g + g.cross(f) + f * g.dot(f) - 2.0 * (inertia * f);
                let jacobian = |f: &Vec3| {
                    let mut a = so3::skew(g) + f * g.transpose() - 2.0 * inertia;
                    let d = g.dot(f);
                    a.m11 += d;
                    a.m22 += d;
                    a.m33 += d;
                    a
                };
                self.solve(g, start, residual, jacobian, |f| {
                    let k = 2.0 / (1.0 + f.norm_squared());
                    increment(k, k, f)
                })
            }
            Retraction::Exponential => {
                let linear = inverse * g;
                let start =
                    if self.economical { inverse * (g - 0.5 * linear.cross(g)) } else { linear };
                let residual = |f: &Vec3| {
                    let c = stumpff(f.norm_squared());
                    let jf = inertia * f;
                    c[1] * jf + c[2] * f.cross(&jf) - g
                };
                let jacobian = |f: &Vec3| {
                    let c = stumpff(f.norm_squared());
                    let jf = inertia * f;
                    let along = (c[3] - c[2]) * jf + (2.0 * c[4] - c[3]) * f.cross(&jf);
                    along * f.transpose()
                        + c[1] * inertia
                        + c[2] * (so3::skew(f) * inertia - so3::skew(&jf))
                };
                self.solve(g, start, residual, jacobian, |f| {
                    let c = stumpff(f.norm_squared());
                    increment(c[1], c[2], f)
                })
            }
        }
    }

    #[inline]
    fn solve(
        &self,
        g: &Vec3,
        mut f: Vec3,
        residual: impl Fn(&Vec3) -> Vec3,
        jacobian: impl Fn(&Vec3) -> Mat3,
        retract: impl Fn(&Vec3) -> Mat3,
    ) -> Result<RelativeAttitude, Unsolved> {
        let scale = g.amax();
        if scale == 0.0 {
            return Ok(RelativeAttitude { increment: Mat3::zeros(), iterations: 0, residual: 0.0 });
        }
        let mut inverse = Mat3::zeros();
        let mut last = f64::INFINITY;
        for iterations in 0..self.limit {
            let r = residual(&f);
            let size = r.amax() / scale;
            let solved = size <= self.tolerance || (size <= FLOOR && size > 0.5 * last);
            if solved && !self.polish {
                return Ok(RelativeAttitude { increment: retract(&f), iterations, residual: size });
            }
            if !self.economical || !(size <= CONTRACTION * last || size <= FLOOR) || iterations == 0
            {
                match jacobian(&f).try_inverse() {
                    Some(a) => inverse = a,
                    None => return Err(Unsolved { iterations, residual: size }),
                }
            }
            f -= inverse * r;
            if solved {
                return Ok(RelativeAttitude {
                    increment: retract(&f),
                    iterations: iterations + 1,
                    residual: size,
                });
            }
            if !(-REACH..=REACH).contains(&f.sum()) {
                return Err(Unsolved { iterations: iterations + 1, residual: size });
            }
            last = size;
        }
        Err(Unsolved { iterations: self.limit, residual: last })
    }
}

impl RelativeAttitude {
    /// $F$.
    pub fn rotation(&self) -> Mat3 {
        self.increment + Mat3::identity()
    }
}

/// $a S(f) + b S(f)^2$, using $S(f)^2 = ff^\top - |f|^2I$.
#[inline]
fn increment(a: f64, b: f64, f: &Vec3) -> Mat3 {
    let (bx, by, bz) = (b * f.x, b * f.y, b * f.z);
    let (xx, yy, zz) = (bx * f.x, by * f.y, bz * f.z);
    let (xy, xz, yz) = (bx * f.y, bx * f.z, by * f.z);
    let (ax, ay, az) = (a * f.x, a * f.y, a * f.z);
    Mat3::new(
        -(yy + zz),
        xy - az,
        xz + ay,
        xy + az,
        -(xx + zz),
        yz - ax,
        xz - ay,
        yz + ax,
        -(xx + yy),
    )
}

/// No sensible step turns by more than this in either parametrisation (NaN and infinities end here too).
const REACH: f64 = 1e3;

#[cfg(test)]
mod tests {
    use super::*;

    fn inertia() -> Mat3 {
        Mat3::new(5.0, 0.3, -0.1, 0.3, 4.0, 0.2, -0.1, 0.2, 2.6)
    }

    #[test]
    fn both_retractions_solve_d1_for_small_and_large_steps() {
        let j = inertia();
        let jd = Mat3::identity() * (0.5 * j.trace()) - j;
        let inverse = j.try_inverse().unwrap();
        for scale in [1e-12, 1e-6, 1e-2, 0.3, 1.0] {
            let g = Vec3::new(1.0, -0.7, 0.4) * scale;
            let mut found = Vec::new();
            for retraction in [Retraction::Exponential, Retraction::Cayley] {
                for economical in [true, false] {
                    let newton = Newton { economical, ..Newton::default() };
                    let a = newton.relative_attitude(retraction, &j, &inverse, &g).unwrap();
                    let error = so3::vee_asym(&(a.rotation() * jd)) - g;
                    // F is the identity plus something small: its entries carry an absolute error.
                    assert!(
                        error.amax() <= 4e-15 * (1.0 + scale),
                        "{retraction:?} {scale}: {error}"
                    );
                    found.push(a.rotation());
                }
            }
            for f in &found[1..] {
                assert!((f - found[0]).amax() <= 1e-15);
            }
        }
    }

    #[test]
    fn jacobians_match_finite_differences() {
        let j = inertia();
        let f = Vec3::new(0.3, -0.2, 0.5);
        let g_exp = |f: &Vec3| {
            let c = stumpff(f.norm_squared());
            c[1] * (j * f) + c[2] * f.cross(&(j * f))
        };
        let g_cay = |f: &Vec3| 2.0 / (1.0 + f.norm_squared()) * (j * f + f.cross(&(j * f)));
        // One full Newton step from a point at distance d lands within O(d²) of the solution exactly when
        // the Jacobian is right.
        for (retraction, g) in
            [(Retraction::Exponential, g_exp(&f)), (Retraction::Cayley, g_cay(&f))]
        {
            let newton = Newton { economical: false, ..Newton::default() };
            let a =
                newton.relative_attitude(retraction, &j, &j.try_inverse().unwrap(), &g).unwrap();
            assert!(a.iterations <= 7, "{retraction:?}: {}", a.iterations);
            let want = match retraction {
                Retraction::Exponential => so3::exp(&f),
                Retraction::Cayley => so3::cay(&f),
            };
            assert!((a.rotation() - want).amax() <= 1e-15);
        }
    }

    #[test]
    fn a_step_too_large_and_a_nan_are_refused() {
        let j = inertia();
        let inverse = j.try_inverse().unwrap();
        for retraction in [Retraction::Exponential, Retraction::Cayley] {
            for g in [Vec3::new(1e3, 2e3, -1e3), Vec3::new(f64::NAN, 0.0, 1.0)] {
                let newton = Newton::default();
                assert!(newton.relative_attitude(retraction, &j, &inverse, &g).is_err());
            }
        }
    }
}
