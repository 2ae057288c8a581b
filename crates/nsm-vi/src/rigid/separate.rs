//! Moves bodies apart that start inside each other or inside planes.
//!
//! The deepest overlaps are undone one after the other by the shortest translation, shared by the two bodies as their masses say, until none
//! is left: a start that is almost right becomes one that is.

use nsm_geom::body_gap;

use super::{RigidError, RigidState, RigidWorld};
use nsm_model::ContactLaw;

/// Sweeps over all pairs.
const SWEEPS: usize = 500;
/// What bodies keep apart, times their size, so that rounding does not close it again.
const CLEAR: f64 = 1e-12;

impl RigidWorld {
    /// Moves bodies apart that overlap; returns how far the one that moved farthest went.
    ///
    /// # Errors
    /// [`RigidError::Overlap`] if some overlap cannot be undone so: bodies wedged between others, a box too small for what is in it.
    pub fn separate(&self, state: &mut RigidState) -> Result<f64, RigidError> {
        let n = self.bodies().len().min(state.bodies.len());
        let before: Vec<_> = state.bodies.iter().map(|b| b.pose.x).collect();
        let mut worst = None;
        for _ in 0..SWEEPS {
            worst = None;
            for b in 0..n {
                let body = &self.bodies()[b];
                if body.is_fixed() || body.shape().is_none() {
                    continue;
                }
                for (p, plane) in self.planes().iter().enumerate() {
                    if self.law(b, n + p, ContactLaw::ELASTIC).is_none() {
                        continue;
                    }
                    let depth = -self.gap(b, p, &state.bodies[b]);
                    if depth > 0.0 {
                        let by = depth + CLEAR * body.radius();
                        state.bodies[b].pose.x += by * plane.normal();
                        worst = Some((b, b, depth));
                    }
                }
                for a in 0..b {
                    let depth = self.part(a, b, state)?;
                    if depth > 0.0 {
                        worst = Some((a, b, depth));
                    }
                }
                for a in b + 1..n {
                    if self.bodies()[a].is_fixed() && self.part(b, a, state)? > 0.0 {
                        worst = Some((b, a, 0.0));
                    }
                }
            }
            if worst.is_none() {
                break;
            }
        }
        if let Some((a, b, depth)) = worst {
            let [first, second] = [a, b].map(|i| self.bodies()[i].name().to_owned());
            return Err(RigidError::Overlap { first, second, depth });
        }
        let moved = state.bodies.iter().zip(&before).map(|(b, x)| (b.pose.x - x).norm());
        Ok(moved.fold(0.0, f64::max))
    }

    /// Moves two bodies apart if they overlap; returns how deep they did.
    fn part(&self, a: usize, b: usize, state: &mut RigidState) -> Result<f64, RigidError> {
        let (first, second) = (&self.bodies()[a], &self.bodies()[b]);
        let (p, q) = (state.bodies[a].pose, state.bodies[b].pose);
        let (Some(s), Some(t)) = (first.shape(), second.shape()) else { return Ok(0.0) };
        let reach = first.radius() + second.radius();
        if (p.x - q.x).norm_squared() >= reach * reach
            || self.law(a, b, ContactLaw::ELASTIC).is_none()
        {
            return Ok(0.0);
        }
        let gap = body_gap(s, &p, t, &q)
            .map_err(|source| RigidError::Body { body: first.name().to_owned(), source })?;
        if gap.gap >= 0.0 {
            return Ok(0.0);
        }
        let by = -gap.gap + CLEAR * reach;
        let (light, heavy) = (first.inverse_mass(), second.inverse_mass());
        if light + heavy == 0.0 {
            return Ok(0.0);
        }
        state.bodies[a].pose.x -= gap.normal * (by * light / (light + heavy));
        state.bodies[b].pose.x += gap.normal * (by * heavy / (light + heavy));
        Ok(-gap.gap)
    }
}
