//! What the equalities carry in an impact.
//!
//! $$ M\\,\Delta v = G^\top r_N + T^\top r_T + F^\top\Lambda, \qquad F\\,\Delta v = 0: $$
//! the impulses $r$ of the contacts are known from the event, and $\Lambda$ is the answer of the equalities to them. The rows are those where the system
//! was at the instant of the event, up to second order in how long ago that is.

use super::Reactions;
use super::rubbing::coefficients;
use crate::{Event, State};

impl Reactions<'_> {
    /// The impulse of each equality in an event of the step that ends with this state, positive along its gradient; nothing where it cannot be solved.
    pub fn impulses(&mut self, state: &State, event: &Event<'_>) -> Option<Vec<f64>> {
        let system = self.system;
        let (rows, gaps, tangents) =
            (system.equalities(), system.inequalities(), system.tangents());
        let ago = state.t - event.t;
        let q: Vec<f64> = state.q.iter().zip(&state.v).map(|(q, v)| q - ago * v).collect();
        rows.gradients(&q, event.t, &mut self.gradients);
        gaps.gradients(&q, event.t, &mut self.gap_gradients);
        self.saddle.factorise(&self.gradients).ok()?;
        let mut push = vec![0.0; q.len()];
        for (k, (&i, &normal)) in event.contacts.iter().zip(event.impulses).enumerate() {
            gaps.add_row(i, &self.gap_gradients, normal, &mut push);
            let Some((tangent, along)) = tangents.of(i).zip(event.tangential.get(k)) else {
                continue;
            };
            let columns = tangent.coordinates();
            let values = coefficients(tangent, &q, event.t);
            for (row, r) in values.chunks_exact(columns.len().max(1)).zip(along) {
                columns.iter().zip(row).for_each(|(&c, x)| push[c] += r * x);
            }
        }
        let still = vec![0.0; rows.len()];
        let (mut jump, mut impulses) = (vec![0.0; q.len()], vec![0.0; rows.len()]);
        self.saddle.solve(&push, &still, &mut jump, &mut impulses).ok()?;
        // The saddle point has the constraints on the other side of the equations.
        for x in &mut impulses {
            *x = -*x;
        }
        impulses.iter().all(|x| x.is_finite()).then_some(impulses)
    }
}
