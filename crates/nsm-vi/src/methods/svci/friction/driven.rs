//! Dry friction on freedoms that equalities move by themselves: a motor's, or those of a loop that a motor drives.
//!
//! It changes nothing of the motion, but loads the equalities and takes energy: it is at its bound against the rate between the stages, and zero where that is.

use super::Friction;

/// A rate below this share of the terms that add up to it is rounding.
const ROUNDING: f64 = 1e-12;

impl Friction {
    /// The rate of a freedom that equalities move, between the stages; none for everything else.
    pub(super) fn driven(&self, slot: usize, contact: usize) -> Option<f64> {
        if contact < self.dry.first || self.rows.delassus().own(slot)[0] > 0.0 {
            return None;
        }
        let (rate, size) = self.rows.rate_given(slot, &self.between);
        Some(if rate.abs() > ROUNDING * size { rate } else { 0.0 })
    }

    /// Sets what dry friction does on such freedoms, in `next`.
    pub(super) fn drag(&mut self, contacts: &[usize]) {
        for (slot, &i) in contacts.iter().enumerate() {
            if let Some(rate) = self.driven(slot, i).filter(|rate| *rate != 0.0) {
                self.next[3 * slot + 1] = -self.dry.limit[i - self.dry.first] * rate.signum();
            }
        }
    }
}
