//! What happens at an event: the impact of all contacts that touch, and which of them land.

use nsm_model::{ContactImpulse, StepError, StepReport};

use super::flow::halved;
use super::locate::Closing;
use super::{HITS, SvciStepper};
use crate::shared::position::Hold;

impl SvciStepper<'_> {
    /// The impact of all contacts that touch, with landings, at `here`.
    pub(super) fn strike(
        &mut self,
        closing: Closing,
        report: &mut StepReport,
    ) -> Result<(), StepError> {
        let (system, t) = (self.flow.system, self.here.t);
        self.touching.clear();
        for i in 0..self.e.len() {
            if self.here.gap[i] <= self.thresholds.gap[i] || i == closing.contact {
                self.touching.push(i);
            }
        }
        self.bounce.copy_from_slice(&self.e);
        for &i in &self.touching {
            if self.e[i] < 1.0 && self.hits[i] >= HITS {
                self.bounce[i] = 0.0;
            }
        }
        let pressed = closing.after <= 1e-9 * self.h
            && self.here.rate[closing.contact] >= -self.thresholds.rate[closing.contact];
        if closing.forced || pressed {
            self.bounce[closing.contact] = 0.0;
        }
        let rounds = loop {
            let sets = (&self.touching[..], &self.smooth[..]);
            let rounds = self.impact.resolve(
                &mut self.flow,
                &self.here,
                sets,
                &self.bounce,
                &self.thresholds,
            )?;
            self.find_resting(closing.contact, closing.forced || pressed)?;
            if !self.find_landings()? {
                break rounds;
            }
        };
        // Those that rest do so exactly.
        if self.flow.is_crowd(&self.resting) {
            let (rest, g) = ((&self.resting[..], true), &self.here.gradient);
            self.flow.crowd_impact(rest, t, g, &self.thresholds, &mut self.impact.p)?;
        } else {
            let kernel = &mut self.flow.kernel;
            kernel.project((&self.here.q, t), &self.resting, &mut self.impact.p)?;
        }
        let before = system.kinetic_energy(&self.here.q, &self.here.v);
        self.here.push(&mut self.flow.mass, &self.impact.p)?;
        let change = if system.equalities().is_rheonomic() {
            // What equalities that move by themselves add is their work.
            self.touching.iter().map(|&i| self.impact.work[i]).sum()
        } else {
            system.kinetic_energy(&self.here.q, &self.here.v) - before
        };
        std::mem::swap(&mut self.smooth, &mut self.resting);
        for &i in &self.touching {
            self.hits[i] += usize::from(self.impact.impulse[i] > 0.0);
        }
        report.rounds += rounds;
        let (impulse, work) = (&self.impact.impulse, &self.impact.work);
        let taken = self.touching.iter().filter(|&&i| impulse[i] != 0.0);
        if rounds > 0 && self.flow.rubs(&self.touching) {
            let (tangential, slips) = (&self.impact.tangential, &self.impact.slips);
            let booked = taken.map(|&contact| ContactImpulse {
                contact,
                normal: impulse[contact],
                tangential: tangential[contact],
                rubs: self.flow.rubs(&[contact]),
                slips: slips[contact],
                work: work[contact],
                touch: None,
            });
            self.staged.push_frictional(t, change, rounds, booked);
        } else if rounds > 0 {
            self.staged.push_booked(t, change, rounds, taken.map(|&i| (i, impulse[i], work[i])));
        }
        if rounds > 0 {
            self.staged.place_at(system, &self.here.q, t);
        }
        Ok(())
    }

    /// $S^+$: the touching contacts that neither approach nor open after the impact.
    fn find_resting(&mut self, contact: usize, forced: bool) -> Result<(), StepError> {
        let (system, rows) = (self.flow.system, self.flow.system.inequalities());
        self.there.v.resize(system.dimension(), 0.0);
        let mass = self.flow.mass.at(&self.here.q, self.here.t)?;
        mass.solve(&self.impact.p, &mut self.there.v);
        self.resting.clear();
        for &i in &self.touching {
            let at = (&self.here.q[..], self.here.t);
            let rate = rows.velocity(i, at, &self.here.gradient, &self.there.v);
            self.there.rate[i] = rate;
            if rate.abs() <= self.thresholds.rate[i] || (forced && i == contact && rate <= 0.0) {
                self.resting.push(i);
            }
        }
        Ok(())
    }

    /// Takes the rebound from contacts whose bounce would be over within $2\kappa h$; whether there are any.
    fn find_landings(&mut self) -> Result<bool, StepError> {
        self.landings.clear();
        for kappa in self.kappas {
            let due = |i: usize| {
                self.kappa[i] == kappa
                    && kappa > 0.0
                    && self.bounce[i] > 0.0
                    && self.impact.impulse[i] > 0.0
                    && self.there.rate[i] > self.thresholds.rate[i]
            };
            if !self.touching.iter().any(|&i| due(i)) {
                continue;
            }
            let from = (&self.here.q[..], &self.impact.p[..], self.here.t);
            let tau = 2.0 * kappa * self.h;
            let (flow, held, thresholds) = (&mut self.flow, &self.resting, &self.thresholds);
            let (flown, ()) =
                halved(tau, |tau| flow.base(from, tau, held, Hold::OneSided, thresholds))?;
            let x = &self.flow.kernel.position.x;
            for &i in &self.touching {
                // The gap after `tau`, by the parabola where the flight was shorter.
                let (share, rate) = (tau / flown, self.there.rate[i]);
                let gap = self.flow.kernel.gaps.value(i, x, self.here.t + flown);
                if due(i) && rate * tau * (1.0 - share) + gap * share * share <= 0.0 {
                    self.landings.push(i);
                }
            }
            if self.kappas[0] == self.kappas[1] {
                break;
            }
        }
        for &i in &self.landings {
            self.bounce[i] = 0.0;
        }
        Ok(!self.landings.is_empty())
    }
}
