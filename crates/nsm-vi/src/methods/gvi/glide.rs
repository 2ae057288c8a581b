//! A step of [`Gvi`](super::Gvi), elastic or with losses, that meets no contact and solves for nothing: free flight under loads that do not change.
//!
//! $$ q_1 = q_0 + h M^{-1}\big(p_0 - \tfrac h2 s\big), \qquad p_1 = p_0 - h s, \qquad g(q_0) > \varepsilon, \quad g(q_1) > 0 $$
//! with a diagonal mass and a constant slope $s = \nabla V$. Every other step takes the general way; the numbers are the same to the last
//! bit. A ball in flight costs what these lines cost, with all checks of the general way: gaps, positions, velocities, energy.

use nsm_model::State;

use crate::shared::kernel::Kernel;

/// Whether a system allows it: no equalities, a diagonal mass and constant loads.
pub(super) fn can_glide(kernel: &Kernel<'_>) -> bool {
    kernel.system.equalities().is_empty()
        && kernel.system.mass().as_inverse_diagonal().is_some()
        && kernel.lagrangian.loads.is_constant()
}

/// Takes the step, whose gaps are known to be open at its start, if it is free flight, and writes the gaps at its end into `predicted`. A number
/// that is not finite is left to the general way, which names it.
#[inline]
pub(super) fn glide(
    kernel: &mut Kernel<'_>,
    h: f64,
    predicted: &mut [f64],
    state: &mut State,
) -> bool {
    let Some(inverse) = kernel.system.mass().as_inverse_diagonal() else { return false };
    let half = 0.5 * h;
    // Kinetic energy and work of the loads: finite only if positions and velocities are.
    let mut energy = 0.0;
    let (x, new) = (&mut kernel.position.x[..], &mut kernel.p[..]);
    let terms = state.q.iter().zip(&state.p).zip(inverse).zip(&kernel.lagrangian.left);
    for ((x, new), (((q, p), w), s)) in x.iter_mut().zip(&mut *new).zip(terms) {
        *x = q + h * w * (p - half * s);
        *new = p - half * (s + s);
        energy += 0.5 * *new * w * *new + s * *x + 0.0 * *x;
    }
    if !energy.is_finite() {
        return false;
    }
    if predicted.len() == 1 {
        predicted[0] = kernel.gaps.value(0, x, state.t + h);
    } else {
        kernel.gaps.values(x, state.t + h, predicted);
    }
    if !predicted.iter().all(|gap| *gap > 0.0 && gap.is_finite()) {
        return false;
    }
    // Loops: for a few numbers calls that copy cost more than the copies.
    for (i, (x, p)) in x.iter().zip(new).enumerate() {
        (state.q[i], state.p[i], state.v[i]) = (*x, *p, inverse[i] * *p);
    }
    state.t = kernel.clock.tick(state.t);
    kernel.position.residual = 0.0;
    true
}
