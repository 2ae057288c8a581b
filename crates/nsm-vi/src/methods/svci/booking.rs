//! What contacts did: captured ones at once, held ones at the end of the step.

use nsm_model::ContactImpulse;

use super::SvciStepper;
use super::point::Point;

impl SvciStepper<'_> {
    /// Keeps the impulses of the flow just made.
    pub(super) fn take_impulses(&mut self) {
        self.caught.copy_from_slice(&self.flow.impulse);
        if let Some(friction) = &self.flow.friction {
            self.rubbed.copy_from_slice(&friction.booked);
        }
    }

    /// Books what captured contacts took between `here` and `there`, by difference: their impulses act over the whole piece. Where something else does
    /// work on it too, the mean of the rates at both ends tells. What other contacts did is kept for the end of the step.
    pub(super) fn book_captured(&mut self, t: f64) {
        let rubs = self.flow.rubs(&self.held) || self.flow.is_dry();
        let mut rubbed = 0.0;
        let held = self.held.iter().filter(|i| !self.captured.contains(i)).copied();
        for i in held.chain(self.e.len()..self.done.len()) {
            let done = &mut self.done[i];
            done.contact = i;
            if rubs {
                let piece = &self.rubbed[i];
                done.normal += piece.normal;
                done.tangential[0] += piece.tangential[0];
                done.tangential[1] += piece.tangential[1];
                done.rubs = piece.rubs;
                done.slips = piece.slips;
                done.work += piece.work;
                rubbed += piece.work;
            } else {
                done.normal += self.caught[i];
            }
        }
        if self.captured.is_empty() {
            return;
        }
        let system = self.flow.system;
        let change = if system.forces().is_empty() && !system.equalities().is_rheonomic() {
            let energy = |at: &Point| {
                system.kinetic_energy(&at.q, &at.v) + system.potential().sum(&at.q, at.t)
            };
            energy(&self.there) - energy(&self.here) - rubbed
        } else {
            let rate = |i: usize| 0.5 * (self.here.rate[i] + self.there.rate[i]);
            self.captured.iter().map(|&i| self.caught[i] * rate(i)).sum()
        };
        let work = change / self.captured.len() as f64;
        if rubs {
            let booked = self.captured.iter().map(|&i| ContactImpulse { work, ..self.rubbed[i] });
            self.staged.push_frictional(t, change, 0, booked);
        } else {
            let booked = self.captured.iter().map(|&i| (i, self.caught[i], work));
            self.staged.push_booked(t, change, 0, booked);
        }
    }

    /// Books what contacts did that were held.
    pub(super) fn book_held(&mut self) {
        for done in self.done.iter().filter(|d| d.normal != 0.0 || d.tangential != [0.0; 2]) {
            self.staged.hold(*done);
        }
    }
}
