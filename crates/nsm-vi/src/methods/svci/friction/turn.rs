//! Slip that turns while it lasts.
//!
//! The total impulse of a piece acts over all of it, and the law on $v_1$ points it against the slip at the end: where slip turns, the direction is off by $O(\tau)$ and
//! velocities are of first order. The slip between the configurations, $s = J_T v\'$, is that of the middle. The law is therefore posed on
//! $$ \hat u_T = J_T v_1 + c, \qquad c = -\bigl(1 - e e^\top\bigr)\\,J_T v_1, \quad e = s/\lvert s\rvert, $$
//! so that the impulse points against $s$: found by rounds, which contract by what friction does in a piece over the slip. Where slip loses half of itself from the middle
//! to the end it ends within a piece or two, and the law is posed on $v_1$, as it is where a contact sticks at either end. Slip along a line has $c = 0$.

use super::{Friction, STICKS};
use crate::methods::svci::thresholds::Thresholds;

/// Rounds in which $c$ is to settle, and its change that counts as none, relative to the slip.
const ROUNDS: usize = 12;
const SETTLED: f64 = 1e-10;

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
            let slip = middle[0].hypot(middle[1]);
            let e = middle.map(|x| x / slip);
            let along = e[0] * end[0] + e[1] * end[1];
            let slow = STICKS * thresholds.rate[i];
            let turns =
                slip > slow && along > 0.5 * slip && self.next[3 * slot] > 0.0 && round < ROUNDS;
            let new = if turns { [0, 1].map(|k| along * e[k] - end[k]) } else { [0.0; 2] };
            let change = (new[0] - old[0]).hypot(new[1] - old[1]);
            if change > SETTLED * slip || (!turns && old != [0.0; 2]) {
                changed = true;
                self.turned[slot] = new;
                for k in 0..2 {
                    self.b[3 * slot + 1 + k] += new[k] - old[k];
                }
            }
        }
        changed
    }
}
