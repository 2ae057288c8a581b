//! A step of [`Gvi`](super::Gvi) that meets no contact and solves for nothing: free flight under loads that do not change.
//!
//! $$ q_1 = q_0 + h M^{-1}\big(p_0 - \tfrac h2 s\big), \qquad p_1 = p_0 - h s, \qquad g(q_0) > \varepsilon, \quad g(q_1) > 0 $$
//! with a diagonal mass and a constant slope $s = \nabla V$. Every other step takes the general way; the numbers are the same to the last
//! bit. A ball in flight costs what these lines cost, with all checks of the general way: gaps, positions, velocities, energy.

use nsm_model::State;

use super::GviStepper;

impl GviStepper<'_> {
    /// Whether the system allows it: no equalities, a diagonal mass, constant loads and gaps that are not linearised.
    pub(super) fn can_glide(&self) -> bool {
        let system = self.kernel.system;
        !self.linearised
            && self.landing.is_none()
            && system.equalities().is_empty()
            && system.mass().as_inverse_diagonal().is_some()
            && self.kernel.lagrangian.loads.is_constant()
    }

    /// Takes the step if it is free flight; the gaps at its start are known. A number that is not finite is left to the general way, which
    /// names it.
    pub(super) fn glide(&mut self, state: &mut State) -> bool {
        if !self.gap.iter().all(|gap| *gap > self.contact.gap) {
            return false;
        }
        let (kernel, h) = (&mut self.kernel, self.h);
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
        if self.predicted.len() == 1 {
            self.predicted[0] = kernel.gaps.value(0, x, state.t + h);
        } else {
            kernel.gaps.values(x, state.t + h, &mut self.predicted);
        }
        if !self.predicted.iter().all(|gap| *gap > 0.0 && gap.is_finite()) {
            return false;
        }
        // Loops: for a few numbers calls that copy cost more than the copies.
        for (i, (x, p)) in x.iter().zip(new).enumerate() {
            (state.q[i], state.p[i], state.v[i]) = (*x, *p, inverse[i] * *p);
        }
        state.t = kernel.clock.tick(state.t);
        kernel.position.residual = 0.0;
        std::mem::swap(&mut self.gap, &mut self.predicted);
        self.settled = true;
        self.events.clear();
        true
    }
}
