//! The Lie group variational integrator (LGVI): flight of one body over a time $\tau$.
//!
//! $$ x_1 = x + \tfrac\tau m\gamma + \tfrac{\tau^2}{2m}F_0, \qquad
//!    \gamma_1 = \gamma + \tfrac\tau2(F_0 + F_1), \tag{TL 5.9a, b} $$
//! $$ \tau S(\Pi + \tfrac\tau2M_0) = \mathrm{Asym}(F J_d), \qquad R_1 = RF, \qquad
//!    \Pi_1 = F^\top(\Pi + \tfrac\tau2M_0) + \tfrac\tau2M_1, \tag{TL 5.9c–e} $$
//! with the force $F$ (inertial frame) and torque $M$ (body frame) at both ends; \[TL\] has the constant weight
//! alone, the general form is that of the full body problem \[LLM\]. It is symplectic, of second order, keeps
//! the momentum of every symmetry, and $x$ is exact where the force is constant. Without torque it conserves
//! $\tfrac12\Pi\cdot J^{-1}\Pi$ exactly for every $\tau$.
//!
//! **Energy.** The position is advanced with the mid-step velocity, $x + \tfrac\tau m(\gamma + \tfrac\tau2F_0)$.
//! In the literal form $x + \tau\gamma/m + \tau^2F_0/2m$ the last term is a constant whose residue modulo one
//! unit in the last place of $x$ is the same in each step, and the energy drifts by it. For the same reason
//! attitude and momentum are advanced by the increment $F - I$: in a steady rotation (a cube, whose inertia is
//! a multiple of $I$, always rotates steadily) $F$ is the same in each step with the same rounding errors.

use nsm_geom::{Mat3, Pose, Vec3};

use super::{BodyState, Newton, RelativeAttitude, Retraction, RigidBody, Unsolved};

/// How a body flies.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Lgvi {
    /// Coordinates of the relative attitude.
    pub retraction: Retraction,
    /// How the updates are written.
    pub updates: Updates,
    /// How the relative attitude is solved for.
    pub newton: Newton,
}

/// Two ways to write one step, which differ in rounding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Updates {
    /// $x + \tfrac\tau m(\gamma + \tfrac\tau2F_0)$, $R + R(F - I)$, $\Pi + (F - I)^\top\Pi$.
    #[default]
    Increments,
    /// $x + \tfrac\tau m\gamma + \tfrac{\tau^2}{2m}F_0$, $RF$, $F^\top\Pi$, as printed in the paper.
    Literal,
}

/// A flight and what it cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flight {
    /// The state at its end.
    pub end: BodyState,
    /// Newton iterations.
    pub iterations: usize,
    /// Residual of the implicit equation before the last of them, relative.
    pub residual: f64,
}

impl Lgvi {
    /// The paper's recipe to the letter: updates as printed, Newton from $J^{-1}g$ stopped at its tolerance
    /// (an absolute $10^{-15}$ in the paper, where $|g|$ is about 0.2).
    pub fn paper() -> Self {
        Self {
            retraction: Retraction::Exponential,
            updates: Updates::Literal,
            newton: Newton { tolerance: 5e-15, polish: false, economical: false, limit: 50 },
        }
    }

    /// Flies a body from a state at time `t` for a time `tau`.
    ///
    /// # Errors
    /// [`Unsolved`] if the body turns too far for the implicit equation to have a solution.
    #[inline]
    pub fn fly(
        &self,
        body: &RigidBody,
        gravity: &Vec3,
        t: f64,
        from: &BodyState,
        tau: f64,
    ) -> Result<Flight, Unsolved> {
        if body.is_loaded() {
            return self.fly_loaded(body, gravity, t, from, tau);
        }
        if from.pi == Vec3::zeros() {
            return Ok(self.glide((body.mass(), body.inverse_mass()), gravity, from, tau));
        }
        let inverse = body.inverse_inertia();
        let turn = self.newton.relative_attitude(
            self.retraction,
            body.inertia(),
            inverse,
            &(from.pi * tau),
        )?;
        let force = gravity * body.mass();
        let x = self.translate(body.inverse_mass(), &from.pose.x, &from.gamma, &force, tau);
        let (rot, pi) = self.rotate(&turn, &from.pose.rot, &from.pi);
        let end = BodyState { pose: Pose { x, rot }, gamma: from.gamma + force * tau, pi };
        Ok(Flight { end, iterations: turn.iterations, residual: turn.residual })
    }

    /// Flies a body that does not turn and on which nothing acts but gravity, given its mass and what a force divides by.
    #[inline]
    pub(super) fn glide(
        &self,
        (mass, inverse_mass): (f64, f64),
        gravity: &Vec3,
        from: &BodyState,
        tau: f64,
    ) -> Flight {
        let force = gravity * mass;
        let x = self.translate(inverse_mass, &from.pose.x, &from.gamma, &force, tau);
        let pose = Pose { x, rot: from.pose.rot };
        let end = BodyState { pose, gamma: from.gamma + force * tau, pi: from.pi };
        Flight { end, iterations: 0, residual: 0.0 }
    }

    fn fly_loaded(
        &self,
        body: &RigidBody,
        gravity: &Vec3,
        t: f64,
        from: &BodyState,
        tau: f64,
    ) -> Result<Flight, Unsolved> {
        let half = 0.5 * tau;
        let before = body.wrench(gravity, t, &from.pose);
        let pi = from.pi + before.torque * half;
        let turn = self.newton.relative_attitude(
            self.retraction,
            body.inertia(),
            body.inverse_inertia(),
            &(pi * tau),
        )?;
        let x = self.translate(body.inverse_mass(), &from.pose.x, &from.gamma, &before.force, tau);
        let (rot, pi) = self.rotate(&turn, &from.pose.rot, &pi);
        let pose = Pose { x, rot };
        let after = body.wrench(gravity, t + tau, &pose);
        let gamma = if body.is_pinned() {
            from.gamma
        } else {
            from.gamma + (before.force + after.force) * half
        };
        let end = BodyState { pose, gamma, pi: pi + after.torque * half };
        Ok(Flight { end, iterations: turn.iterations, residual: turn.residual })
    }

    #[inline]
    fn translate(&self, inverse_mass: f64, x: &Vec3, gamma: &Vec3, force: &Vec3, tau: f64) -> Vec3 {
        match self.updates {
            Updates::Increments => x + (gamma + force * (0.5 * tau)) * (tau * inverse_mass),
            Updates::Literal => {
                x + gamma * (tau * inverse_mass) + force * (0.5 * tau * tau * inverse_mass)
            }
        }
    }

    /// $RF$ and $F^\top\Pi$.
    #[inline]
    fn rotate(&self, turn: &RelativeAttitude, rot: &Mat3, pi: &Vec3) -> (Mat3, Vec3) {
        match self.updates {
            Updates::Increments => (rot + rot * turn.increment, pi + turn.increment.tr_mul(pi)),
            Updates::Literal => {
                let f = turn.rotation();
                (rot * f, f.tr_mul(pi))
            }
        }
    }
}
