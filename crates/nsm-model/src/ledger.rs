//! The account of a run: one form for every integrator, so that they can be compared.

use crate::measure::larger;
use crate::warning::ContactAccount;
use crate::{Accounts, Events, Measurement, StepReport};

/// A quantity over a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Band {
    /// At the start.
    pub start: f64,
    /// Smallest.
    pub min: f64,
    /// Largest.
    pub max: f64,
    /// At the end.
    pub end: f64,
    /// Values taken in after the start, the sum of their distances from it, and that of the distances times the places.
    count: f64,
    sum: f64,
    moment: f64,
}

impl Band {
    /// The band of one value.
    pub fn new(value: f64) -> Self {
        let [count, sum, moment] = [0.0; 3];
        Self { start: value, min: value, max: value, end: value, count, sum, moment }
    }

    /// Takes in the next value; once it was NaN, the band stays NaN, so that no divergence is hidden.
    pub fn extend(&mut self, value: f64) {
        self.min = -larger(-self.min, -value);
        self.max = larger(self.max, value);
        self.end = value;
        self.count += 1.0;
        self.sum += value - self.start;
        self.moment += self.count * (value - self.start);
    }

    /// Largest distance from the start.
    pub fn deviation(&self) -> f64 {
        larger(self.max - self.start, self.start - self.min)
    }

    /// How far the quantity has drifted: the slope of the line that fits its values best (least squares), times the length of
    /// the run. A quantity that only swings has a deviation and hardly a trend.
    pub fn trend(&self) -> f64 {
        let n = self.count;
        if n == 0.0 {
            return 0.0;
        }
        // Places 0 to n, with the mean n/2 and the variance n(n + 2)/12.
        let covariance = self.moment / (n + 1.0) - 0.5 * n * (self.sum / (n + 1.0));
        covariance / (n * (n + 2.0) / 12.0) * n
    }

    /// Width of the band.
    pub fn width(&self) -> f64 {
        self.max - self.min
    }
}

/// What a run did to energy, invariants and constraints, and what it cost.
#[derive(Clone, Debug, PartialEq)]
pub struct Ledger {
    /// Steps taken.
    pub steps: usize,
    /// Total energy.
    pub energy: Band,
    /// The tracked quantities with their names.
    pub invariants: Vec<(String, Band)>,
    /// Which of them should stay what they are.
    pub conserved: Vec<bool>,
    /// Deepest penetration, and the gap that had it.
    pub penetration: f64,
    /// Name of the gap that penetrated deepest.
    pub deepest: Option<String>,
    /// Largest residual of the equalities on position level.
    pub position_residual: f64,
    /// Largest residual of the equalities on velocity level.
    pub velocity_residual: f64,
    /// Impacts and switches.
    pub events: usize,
    /// Rounds of the impact law over all events.
    pub rounds: usize,
    /// Most rounds in one event.
    pub most_rounds: usize,
    /// Largest energy change of one event.
    pub event_energy_change: f64,
    /// Most energy that one event added.
    pub event_gain: f64,
    /// Energy that impacts and contacts held with friction added (negative: took) over all steps, as far as methods book it.
    pub contact_work: f64,
    /// Energy that projections of velocities added over all steps: the sum of $\Delta E_p$ (\[GO\] (16)).
    pub projected_energy: f64,
    /// Smallest and largest $\Delta E_p$ of one step; a positive one is what \[GO\] warn of.
    pub projection: Option<(f64, f64)>,
    /// Newton iterations over all steps.
    pub iterations: usize,
    /// Most Newton iterations in one step.
    pub most_iterations: usize,
    /// Largest residual of the contact forces of a step.
    pub contact_residual: f64,
    /// Steps that were taken in pieces, because they had no solution as a whole.
    pub split_steps: usize,
    /// Largest rise of the energy from any instant to a later one.
    pub rise: f64,
    /// Lowest potential energy.
    pub lowest_potential: f64,
    /// Mean kinetic energy over the instants.
    pub mean_kinetic: f64,
    /// What the potential is made of at the start: see [`Probe::potential_scale`](crate::Probe::potential_scale).
    pub potential_scale: f64,
    /// Largest coordinate, or place of a body.
    pub size: f64,
    /// Largest of the positions that enter the equalities.
    pub position_scale: f64,
    /// Largest of the speeds that enter the rates of the equalities.
    pub velocity_scale: f64,
    /// Whether something does work on the system: then its energy may rise.
    pub driven: bool,
    /// Work since the start of everything that no potential gives, by name; negative where energy was taken.
    pub work: Vec<(String, f64)>,
    /// Energy without that work and without what events took: it stays put where the method is exact.
    pub balance: Band,
    lost: f64,
    /// Instants that were measured after the first.
    measured: f64,
    pub(crate) contacts: Vec<ContactAccount>,
    /// Which of them has what happens at a contact.
    pub accounts: Accounts,
    gap_names: Vec<String>,
}

impl Ledger {
    /// Opens the account with the state at the start.
    pub fn open(first: &Measurement, invariants: Vec<String>, gap_names: Vec<String>) -> Self {
        let mut ledger = Self {
            steps: 0,
            energy: Band::new(first.energy()),
            invariants: invariants
                .into_iter()
                .zip(first.invariants.iter().map(|&x| Band::new(x)))
                .collect(),
            conserved: vec![true; first.invariants.len()],
            penetration: 0.0,
            deepest: None,
            position_residual: 0.0,
            velocity_residual: 0.0,
            events: 0,
            rounds: 0,
            most_rounds: 0,
            event_energy_change: 0.0,
            event_gain: 0.0,
            contact_work: 0.0,
            projected_energy: 0.0,
            projection: None,
            iterations: 0,
            most_iterations: 0,
            contact_residual: 0.0,
            split_steps: 0,
            rise: 0.0,
            lowest_potential: first.potential,
            mean_kinetic: first.kinetic,
            potential_scale: 0.0,
            size: 0.0,
            position_scale: 0.0,
            velocity_scale: 0.0,
            driven: false,
            work: Vec::new(),
            balance: Band::new(first.energy()),
            lost: 0.0,
            measured: 0.0,
            contacts: first.gaps.iter().map(|&gap| ContactAccount::new(gap)).collect(),
            accounts: Accounts::Each,
            gap_names,
        };
        ledger.constraints(first);
        ledger
    }

    /// Books a step and its events.
    pub fn step(&mut self, report: &StepReport, events: &Events) {
        self.steps += 1;
        self.iterations += report.iterations;
        self.most_iterations = self.most_iterations.max(report.iterations);
        self.contact_residual = larger(self.contact_residual, report.contact_residual);
        self.split_steps += usize::from(report.parts > 0);
        if let Some(change) = report.projected_energy {
            self.projected_energy += change;
            let (low, high) = self.projection.unwrap_or((change, change));
            self.projection = Some((-larger(-low, -change), larger(high, change)));
        }
        for held in events.held() {
            self.contact_work += held.work;
            if let Some(contact) = self.contacts.get_mut(self.accounts.gap(held.contact)) {
                contact.events += 1;
            }
        }
        for event in events.iter() {
            self.events += 1;
            self.rounds += event.rounds;
            self.contact_work += event.energy_change;
            self.most_rounds = self.most_rounds.max(event.rounds);
            self.lost += event.energy_change;
            self.event_gain = self.event_gain.max(event.energy_change);
            if event.energy_change.abs() > self.event_energy_change.abs() {
                self.event_energy_change = event.energy_change;
            }
            for &i in event.contacts {
                if let Some(contact) = self.contacts.get_mut(self.accounts.gap(i)) {
                    contact.events += 1;
                }
            }
        }
    }

    /// Books a measured instant.
    pub fn measurement(&mut self, m: &Measurement) {
        self.rise = larger(self.rise, m.energy() - self.energy.min);
        self.lowest_potential = self.lowest_potential.min(m.potential);
        self.measured += 1.0;
        self.mean_kinetic += (m.kinetic - self.mean_kinetic) / (self.measured + 1.0);
        self.energy.extend(m.energy());
        self.balance.extend(m.balance() - self.lost);
        for ((_, work), now) in self.work.iter_mut().zip(&m.work) {
            *work = *now;
        }
        for (contact, &gap) in self.contacts.iter_mut().zip(&m.gaps) {
            contact.step(gap);
        }
        for ((_, band), &value) in self.invariants.iter_mut().zip(&m.invariants) {
            band.extend(value);
        }
        self.constraints(m);
    }

    /// Names of the gaps.
    pub fn gap_names(&self) -> &[String] {
        &self.gap_names
    }

    /// The band of the tracked quantity with this name.
    pub fn invariant(&self, name: &str) -> Option<&Band> {
        self.invariants.iter().find(|(n, _)| n == name).map(|(_, band)| band)
    }

    fn constraints(&mut self, m: &Measurement) {
        self.position_residual = larger(self.position_residual, m.position_residual);
        self.velocity_residual = larger(self.velocity_residual, m.velocity_residual);
        self.size = larger(self.size, m.size);
        self.position_scale = larger(self.position_scale, m.position_scale);
        self.velocity_scale = larger(self.velocity_scale, m.velocity_scale);
        for (i, &gap) in m.gaps.iter().enumerate() {
            if -gap > self.penetration || gap.is_nan() {
                self.penetration = -gap;
                if self.deepest.as_ref() != self.gap_names.get(i) {
                    self.deepest = self.gap_names.get(i).cloned();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantity_that_was_nan_once_stays_nan() {
        let mut band = Band::new(1.0);
        for value in [2.0, f64::NAN, 0.5] {
            band.extend(value);
        }
        assert!(band.min.is_nan() && band.max.is_nan() && band.deviation().is_nan());
        assert_eq!(band.end, 0.5);
        let mut m = Measurement { gaps: vec![1.0, f64::NAN, 2.0], ..Measurement::default() };
        assert!(m.penetration().is_nan());
        m.position_residual = f64::NAN;
        let mut ledger = Ledger::open(
            &Measurement::default(),
            Vec::new(),
            vec!["a".into(), "b".into(), "c".into()],
        );
        ledger.measurement(&m);
        assert!(ledger.penetration.is_nan() && ledger.position_residual.is_nan());
        assert_eq!(ledger.deepest.as_deref(), Some("b"));
    }

    #[test]
    fn a_swing_has_a_deviation_and_a_slope_a_trend() {
        let band = |f: &dyn Fn(f64) -> f64| {
            let mut band = Band::new(f(0.0));
            (1..=1000).for_each(|k| band.extend(f(f64::from(k) / 1000.0)));
            band
        };
        let line = band(&|x| 1e6 + 3.0 * x);
        assert!((line.trend() - 3.0).abs() < 1e-9 && (line.deviation() - 3.0).abs() < 1e-9);
        let swing = band(&|x| (200.0 * x).sin());
        assert!(swing.trend().abs() < 0.05 && swing.deviation() > 0.99);
        assert_eq!(Band::new(7.0).trend(), 0.0);
    }
}
