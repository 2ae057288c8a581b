//! What a run tells beyond its ledger: bands of parts of it, states at chosen instants, and counts.

use nsm_model::{Accounts, Band, Events, Measurement};

use super::state::{Named, StateRecord};

/// What a run is asked to tell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Questions {
    /// Instants, of each of which the state at the nearest step is kept.
    pub at: Vec<f64>,
    /// Into how many parts of equal length the run is divided.
    pub windows: usize,
}

/// The answers, gathered step by step.
#[derive(Debug)]
pub(crate) struct Account {
    /// Steps whose states are kept, one for each instant.
    due: Vec<usize>,
    states: Vec<Option<Instant>>,
    windows: Vec<Window>,
    count: usize,
    steps: usize,
    gaps: Vec<Band>,
    contacts: Vec<ContactTotal>,
    pub(crate) accounts: Accounts,
    step: f64,
    below: usize,
    most: usize,
    several: usize,
}

/// What a run tells beyond its ledger.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answers {
    /// The band of every gap.
    pub gaps: Named<Band>,
    /// What every contact did.
    pub contacts: Named<ContactTotal>,
    /// Steps at whose end some gap was negative.
    pub penetrating_steps: usize,
    /// Most events in one step.
    pub most_events: usize,
    /// Steps with more than one event.
    pub several_events: usize,
    /// The states at the instants asked for; none for those that the run did not reach.
    pub at: Vec<Option<Instant>>,
    /// The parts of the run, if it was to be divided.
    pub windows: Vec<Window>,
}

/// A state that was asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Instant {
    /// The state at the nearest step.
    pub state: StateRecord,
    /// Its energy.
    pub energy: f64,
    /// The tracked quantities.
    pub invariants: Named<f64>,
}

/// What a contact did over a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ContactTotal {
    /// Events that it took part in.
    pub events: usize,
    /// Normal impulse.
    pub impulse: f64,
    /// Tangential impulse along its two tangents.
    pub tangential: [f64; 2],
    /// Energy that it added.
    pub work: f64,
    /// Steps in which it was held and stuck.
    pub sticking: usize,
    /// Steps in which it was held and slipped.
    pub slipping: usize,
    /// Largest normal force while it was held.
    pub largest_force: f64,
    /// Largest tangential force while it was held.
    pub largest_tangential_force: f64,
}

/// A part of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    /// Time at which it begins.
    pub start: f64,
    /// Energy in it.
    pub energy: Band,
    /// Tracked quantities in it.
    pub invariants: Named<Band>,
    /// Deepest penetration in it.
    pub penetration: f64,
    /// Largest residual of constraints on positions in it.
    pub position_residual: f64,
    /// Largest residual of constraints on velocities in it.
    pub velocity_residual: f64,
    /// Events in it.
    pub events: usize,
}

impl Account {
    /// For a run from `start` with as many steps, in which so many parts may rub.
    pub(crate) fn new(
        questions: &Questions,
        start: f64,
        (step, steps): (f64, usize),
        (rubbing, accounts): (usize, Accounts),
    ) -> Self {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // within the run
        let nearest = |t: &f64| ((t - start) / step).round().clamp(0.0, steps as f64) as usize;
        Self {
            due: questions.at.iter().map(nearest).collect(),
            states: vec![None; questions.at.len()],
            windows: Vec::with_capacity(questions.windows),
            count: questions.windows,
            steps,
            gaps: Vec::new(),
            contacts: vec![ContactTotal::default(); rubbing],
            accounts,
            step,
            below: 0,
            most: 0,
            several: 0,
        }
    }

    /// Takes in a step; `state` writes the state down, with the names of the tracked quantities.
    pub(crate) fn observe(
        &mut self,
        step: usize,
        m: &Measurement,
        events: &Events,
        names: &[String],
        state: impl Fn() -> StateRecord,
    ) {
        for (place, _) in self.states.iter_mut().zip(&self.due).filter(|(_, due)| **due == step) {
            let invariants = names.iter().cloned().zip(m.invariants.iter().copied()).collect();
            *place = Some(Instant { state: state(), energy: m.energy(), invariants });
        }
        if self.gaps.is_empty() {
            self.gaps = m.gaps.iter().map(|&gap| Band::new(gap)).collect();
        }
        self.add_contacts(events);
        self.gaps.iter_mut().zip(&m.gaps).for_each(|(band, gap)| band.extend(*gap));
        self.below += usize::from(m.gaps.iter().any(|gap| *gap < 0.0));
        self.most = self.most.max(events.len());
        self.several += usize::from(events.len() > 1);
        self.extend_windows(step, m, events.len(), names);
    }

    /// Adds what contacts did in the events of a step and, held, over it.
    fn add_contacts(&mut self, events: &Events) {
        for event in events.iter() {
            for (k, &i) in event.contacts.iter().enumerate() {
                let gap = self.accounts.gap(i);
                let Some(total) = self.contacts.get_mut(gap) else { continue };
                total.events += 1;
                total.impulse += event.impulses[k];
                // A method that does not book the work of contacts books that of the event: one contact did all of it.
                let alone = if event.contacts.len() == 1 { event.energy_change } else { 0.0 };
                total.work += event.work.get(k).copied().unwrap_or(alone);
                if let Some([a, b]) = event.tangential.get(k) {
                    total.tangential[0] += a;
                    total.tangential[1] += b;
                }
            }
        }
        for held in events.held() {
            let gap = self.accounts.gap(held.contact);
            let Some(total) = self.contacts.get_mut(gap) else { continue };
            total.impulse += held.normal;
            let [a, b] = held.tangential;
            total.tangential[0] += a;
            total.tangential[1] += b;
            total.work += held.work;
            total.slipping += usize::from(held.rubs && held.slips);
            total.sticking += usize::from(held.rubs && !held.slips);
            total.largest_force = total.largest_force.max(held.normal / self.step);
            total.largest_tangential_force =
                total.largest_tangential_force.max(a.hypot(b) / self.step);
        }
    }

    /// A step on the border of two windows is the last of the first and the first of the second.
    fn extend_windows(&mut self, step: usize, m: &Measurement, events: usize, names: &[String]) {
        if self.count == 0 {
            return;
        }
        let begins = |k: usize| step >= (k * self.steps).div_ceil(self.count);
        if let Some(window) = self.windows.last_mut() {
            window.energy.extend(m.energy());
            window.invariants.0.iter_mut().zip(&m.invariants).for_each(|((_, b), x)| b.extend(*x));
            window.penetration = window.penetration.max(m.penetration());
            window.position_residual = window.position_residual.max(m.position_residual);
            window.velocity_residual = window.velocity_residual.max(m.velocity_residual);
            window.events += events;
        }
        if self.windows.len() < self.count && begins(self.windows.len()) {
            self.windows.push(Window {
                start: m.t,
                energy: Band::new(m.energy()),
                invariants: names
                    .iter()
                    .cloned()
                    .zip(m.invariants.iter().map(|&x| Band::new(x)))
                    .collect(),
                penetration: m.penetration(),
                position_residual: m.position_residual,
                velocity_residual: m.velocity_residual,
                events: 0,
            });
        }
    }

    /// The answers, with the names of all that may rub, gaps first.
    pub(crate) fn answers(self, rubbing: &[String]) -> Answers {
        let names = || rubbing.iter().map(|name| word(name));
        Answers {
            gaps: names().zip(self.gaps).collect(),
            contacts: names().zip(self.contacts).collect(),
            penetrating_steps: self.below,
            most_events: self.most,
            several_events: self.several,
            at: self.states,
            windows: self.windows,
        }
    }
}

/// A name that conditions can speak of: anything but letters and digits becomes `_`.
pub(crate) fn word(name: &str) -> String {
    let parts: Vec<&str> =
        name.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '\'')).collect();
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("_")
}
