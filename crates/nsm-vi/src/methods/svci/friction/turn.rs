//! Slip that turns within the piece in hand ([`slip`]).

use super::{Friction, STICKS};
use crate::methods::svci::thresholds::Thresholds;
use crate::shared::slip;

/// Rounds in which $c$ is to settle.
const ROUNDS: usize = 12;

impl Friction {
    /// Turns the law of contacts that slip, after the impulses in `next`; whether any of them is turned further. `b` has their turn in it.
    pub(super) fn turn(
        &mut self,
        contacts: &[usize],
        thresholds: &Thresholds,
        round: usize,
    ) -> bool {
        let mut changed = false;
        self.effect.clear();
        self.effect.resize(self.next.len(), 0.0);
        self.rows.delassus().add_product(&self.next, &mut self.effect);
        for (slot, &i) in contacts.iter().enumerate() {
            if i >= self.dry.first || self.coefficient[i] == 0.0 || round > ROUNDS {
                continue;
            }
            let at = |x: &[f64]| [x[3 * slot + 1], x[3 * slot + 2]];
            let (middle, old) = (at(&self.before), self.turned[slot]);
            let end: [f64; 2] = std::array::from_fn(|k| {
                self.b[3 * slot + 1 + k] + self.effect[3 * slot + 1 + k] - old[k]
            });
            let slow = STICKS * thresholds.rate[i];
            let pushes = self.next[3 * slot] > 0.0 && round < ROUNDS;
            let new = if pushes { slip::turn(middle, end, slow) } else { None };
            if slip::turns(middle, old, new) {
                changed = true;
                let new = new.unwrap_or_default();
                self.turned[slot] = new;
                for k in 0..2 {
                    self.b[3 * slot + 1 + k] += new[k] - old[k];
                }
            }
        }
        changed
    }
}
