//! The Lagrangian form: two poses in, the next pose out, without momenta.
//!
//! From the discrete Euler–Lagrange equations, with steps $h_1$ before and $h_2$ after:
//! $$ \tfrac m{h_2}(x_{k+1} - x_k) = \tfrac m{h_1}(x_k - x_{k-1}) + \tfrac{h_1+h_2}2 mg, \qquad
//!    \mathrm{Asym}\bigl(\tfrac1{h_1}J_dF_{k-1} - \tfrac1{h_2}F_kJ_d\bigr) = 0, \tag{TL 5.6, 5.10, 5.15} $$
//! $F_k = R_k^\top R_{k+1}$. Equal steps give (5.6); $(h, \alpha h)$ gives the flight to an impact (5.10),
//! $((1-\alpha)h, h)$ the one after the first step behind it (5.15). The discrete Legendre transforms lead
//! to the [Hamiltonian form](super::Lgvi) and back:
//! $$ \mathbb F^-L_d: \quad \gamma_k = \tfrac mh(x_{k+1}-x_k) - \tfrac h2mg, \quad
//!    S(\Pi_k) = \tfrac1h\mathrm{Asym}(F_kJ_d), \tag{TL 5.7} $$
//! $$ \mathbb F^+L_d: \quad \gamma_{k+1} = \tfrac mh(x_{k+1}-x_k) + \tfrac h2mg, \quad
//!    S(\Pi_{k+1}) = \tfrac1h\mathrm{Asym}(J_dF_k). \tag{TL 5.8} $$
//! Here $g$ is the vector of gravity, $-g e_3$ in the paper. The body must be free of other loads.

use nsm_geom::{Pose, Vec3, so3};

use super::{BodyState, Lgvi, RigidBody, Unsolved};

impl Lgvi {
    /// $F_{L_d}[h_1, h_2]$: the pose that follows `previous` and `current`.
    ///
    /// # Errors
    /// [`Unsolved`] as for [`Lgvi::fly`].
    pub fn next_pose(
        &self,
        body: &RigidBody,
        gravity: &Vec3,
        (previous, current): (&Pose, &Pose),
        (h1, h2): (f64, f64),
    ) -> Result<Pose, Unsolved> {
        let f = previous.rot.tr_mul(&current.rot);
        let g = so3::vee_asym(&(body.nonstandard_inertia() * f)) * (h2 / h1);
        let turn = self.newton.relative_attitude(
            self.retraction,
            body.inertia(),
            body.inverse_inertia(),
            &g,
        )?;
        let step = (current.x - previous.x) * (h2 / h1) + gravity * (0.5 * (h1 + h2) * h2);
        Ok(Pose { x: current.x + step, rot: current.rot + current.rot * turn.increment })
    }
}

/// $\mathbb F^-L_d$: the state at `first` of the flight of duration `h` to `second` (\[TL\] (5.7)).
pub fn state_before(
    body: &RigidBody,
    gravity: &Vec3,
    first: &Pose,
    second: &Pose,
    h: f64,
) -> BodyState {
    let f = first.rot.tr_mul(&second.rot);
    let mean = (second.x - first.x) * (body.mass() / h);
    BodyState {
        pose: *first,
        gamma: mean - gravity * (0.5 * h * body.mass()),
        pi: so3::vee_asym(&(f * body.nonstandard_inertia())) / h,
    }
}

/// $\mathbb F^+L_d$: the state at `second` of the flight of duration `h` from `first` (\[TL\] (5.8)).
pub fn state_after(
    body: &RigidBody,
    gravity: &Vec3,
    first: &Pose,
    second: &Pose,
    h: f64,
) -> BodyState {
    let f = first.rot.tr_mul(&second.rot);
    let mean = (second.x - first.x) * (body.mass() / h);
    BodyState {
        pose: *second,
        gamma: mean + gravity * (0.5 * h * body.mass()),
        pi: so3::vee_asym(&(body.nonstandard_inertia() * f)) / h,
    }
}

/// The discrete energy $E_d = -D_3L_d$ of a flight (\[TL\] (5.12)).
///
/// It differs from the energy by $O(h^2)$, and asking an impact to conserve it, (5.13a), contradicts the jump
/// (4.21): it is here to be looked at, and no integrator uses it.
pub fn discrete_energy(
    body: &RigidBody,
    gravity: &Vec3,
    first: &Pose,
    second: &Pose,
    h: f64,
) -> f64 {
    let f = first.rot.tr_mul(&second.rot);
    let jd = body.nonstandard_inertia();
    let translation = 0.5 * body.mass() * ((second.x - first.x) / h).norm_squared();
    let rotation = (jd.trace() - (f * jd).trace()) / (h * h);
    translation + rotation - 0.5 * body.mass() * gravity.dot(&(first.x + second.x))
}
