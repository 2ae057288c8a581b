//! What every integrator does: take a step, say what happened in it.

use crate::{ContactImpulse, StepError, System, Touch};

/// A method bound to a system, with all its workspace allocated.
///
/// `step` does not allocate. If it fails, the state is as it was before.
pub trait Stepper {
    /// The state it advances: [`State`](crate::State) in coordinates, poses for rigid bodies.
    type State: Clone;

    /// Advances the state by one step.
    ///
    /// # Errors
    /// The state is left as it was.
    fn step(&mut self, state: &mut Self::State) -> Result<StepReport, StepError>;

    /// The nominal step size $h$.
    fn step_size(&self) -> f64;

    /// The events of the last step.
    fn events(&self) -> &Events;

    /// The impulse of each equality over the last step, positive along its gradient, where the work of an equality that depends on time
    /// is exactly this times its change over the step, divided by the step.
    fn equality_impulses(&self) -> Option<&[f64]> {
        None
    }
}

impl<S: Stepper + ?Sized> Stepper for Box<S> {
    type State = S::State;

    fn step(&mut self, state: &mut Self::State) -> Result<StepReport, StepError> {
        (**self).step(state)
    }

    fn step_size(&self) -> f64 {
        (**self).step_size()
    }

    fn events(&self) -> &Events {
        (**self).events()
    }

    fn equality_impulses(&self) -> Option<&[f64]> {
        (**self).equality_impulses()
    }
}

/// What one step cost and how well its equations were solved.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepReport {
    /// Newton (or semismooth Newton) iterations.
    pub iterations: usize,
    /// Rounds of the impact law.
    pub rounds: usize,
    /// Residual of the step's equations.
    pub residual: f64,
    /// Residual of the contact forces, relative to the velocities that they act on, where they were solved for at all.
    pub contact_residual: f64,
    /// Contacts that were held closed over the step.
    pub closed: usize,
    /// Energy that a projection of velocities after the step added, if there was one: $\Delta E_p$ of \[GO\] (16).
    pub projected_energy: Option<f64>,
    /// Pieces that the step was taken in, where it had no solution as a whole; zero where it had.
    pub parts: usize,
}

/// One impact or switch, as seen in the [`Events`] of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event<'a> {
    /// Time of the event.
    pub t: f64,
    /// The contacts (rows of the inequalities), bodies' contacts, or the mode, that took part.
    pub contacts: &'a [usize],
    /// Impulse of each of them.
    pub impulses: &'a [f64],
    /// Energy that each of them added (negative: took), in the same order; empty where the method does not book it.
    pub work: &'a [f64],
    /// Tangential impulse of each of them; empty where there is no friction.
    pub tangential: &'a [[f64; 2]],
    /// Whether each of them slips after the event; empty where there is no friction.
    pub slips: &'a [bool],
    /// Where each of them acted; empty where the method does not book it.
    pub touches: &'a [Option<Touch>],
    /// Energy after minus energy before.
    pub energy_change: f64,
    /// Rounds of the impact law.
    pub rounds: usize,
}

/// The events of one step; the storage is kept from step to step.
#[derive(Clone, Debug, Default)]
pub struct Events {
    heads: Vec<Head>,
    contacts: Vec<usize>,
    impulses: Vec<f64>,
    work: Vec<f64>,
    tangential: Vec<[f64; 2]>,
    slips: Vec<bool>,
    touches: Vec<Option<Touch>>,
    held: Vec<ContactImpulse>,
}

#[derive(Clone, Copy, Debug)]
struct Head {
    t: f64,
    energy_change: f64,
    rounds: usize,
    /// End of this event's range in `contacts` and `impulses`, in `work`, in `tangential` and `slips`, and in `touches`.
    end: usize,
    work_end: usize,
    friction_end: usize,
    touch_end: usize,
}

impl Events {
    /// Room for `events` events with `contacts` contacts in all; more of either allocates.
    pub fn with_capacity(events: usize, contacts: usize) -> Self {
        Self {
            heads: Vec::with_capacity(events),
            contacts: Vec::with_capacity(contacts),
            impulses: Vec::with_capacity(contacts),
            work: Vec::with_capacity(contacts),
            tangential: Vec::with_capacity(contacts),
            slips: Vec::with_capacity(contacts),
            touches: Vec::with_capacity(contacts),
            held: Vec::with_capacity(contacts),
        }
    }

    /// Forgets all events, keeps the storage.
    pub fn clear(&mut self) {
        self.heads.clear();
        self.contacts.clear();
        self.impulses.clear();
        self.work.clear();
        self.tangential.clear();
        self.slips.clear();
        self.touches.clear();
        self.held.clear();
    }

    /// Appends an event.
    pub fn push(
        &mut self,
        t: f64,
        energy_change: f64,
        rounds: usize,
        contacts: impl IntoIterator<Item = (usize, f64)>,
    ) {
        for (contact, impulse) in contacts {
            self.contacts.push(contact);
            self.impulses.push(impulse);
        }
        self.close(t, energy_change, rounds);
    }

    /// Appends an event of which every contact's impulse and work are known.
    pub fn push_booked(
        &mut self,
        t: f64,
        energy_change: f64,
        rounds: usize,
        contacts: impl IntoIterator<Item = (usize, f64, f64)>,
    ) {
        for (contact, impulse, work) in contacts {
            self.contacts.push(contact);
            self.impulses.push(impulse);
            self.work.push(work);
        }
        self.close(t, energy_change, rounds);
    }

    /// Appends an event with friction.
    pub fn push_frictional(
        &mut self,
        t: f64,
        energy_change: f64,
        rounds: usize,
        contacts: impl IntoIterator<Item = ContactImpulse>,
    ) {
        for booked in contacts {
            self.contacts.push(booked.contact);
            self.impulses.push(booked.normal);
            self.work.push(booked.work);
            self.tangential.push(booked.tangential);
            self.slips.push(booked.slips);
        }
        self.close(t, energy_change, rounds);
    }

    /// Says where the contacts of the last event acted, one after another.
    pub fn place(&mut self, touches: impl IntoIterator<Item = Option<Touch>>) {
        self.touches.extend(touches);
        if let Some(head) = self.heads.last_mut() {
            head.touch_end = self.touches.len();
        }
    }

    /// Says where the contacts of the last event acted by the tangents of their gaps, from the configuration at its instant; nothing of gaps that
    /// are no places.
    pub fn place_at(&mut self, system: &System, q: &[f64], t: f64) {
        let Some(last) = self.heads.len().checked_sub(1) else { return };
        let before = last.checked_sub(1).map(|k| self.heads[k]);
        let (start, rubbed) = before.map_or((0, 0), |head| (head.end, head.friction_end));
        let head = &mut self.heads[last];
        for k in start..head.end {
            let contact = self.contacts[k];
            let rubs = head.friction_end > rubbed;
            let tangential = if rubs { self.tangential[rubbed + k - start] } else { [0.0; 2] };
            let normal = self.impulses[k];
            let booked = ContactImpulse { contact, normal, tangential, ..Default::default() };
            self.touches.push(booked.touch_in(system, q, t));
        }
        head.touch_end = self.touches.len();
    }

    /// Books what a contact that was held did over the whole step, apart from events.
    pub fn hold(&mut self, booked: ContactImpulse) {
        self.held.push(booked);
    }

    /// What contacts that were held did over the step; empty where the method does not book it.
    pub fn held(&self) -> &[ContactImpulse] {
        &self.held
    }

    fn close(&mut self, t: f64, energy_change: f64, rounds: usize) {
        let (end, work_end, friction_end, touch_end) =
            (self.contacts.len(), self.work.len(), self.slips.len(), self.touches.len());
        self.heads.push(Head { t, energy_change, rounds, end, work_end, friction_end, touch_end });
    }

    /// Number of events.
    pub fn len(&self) -> usize {
        self.heads.len()
    }

    /// Whether nothing happened.
    pub fn is_empty(&self) -> bool {
        self.heads.is_empty()
    }

    /// The events in order of time.
    pub fn iter(&self) -> impl Iterator<Item = Event<'_>> {
        self.heads.iter().enumerate().map(|(i, head)| {
            let last = i.checked_sub(1).map(|k| self.heads[k]);
            let [start, work_start, friction_start, touch_start] =
                last.map_or([0; 4], |l| [l.end, l.work_end, l.friction_end, l.touch_end]);
            Event {
                t: head.t,
                contacts: &self.contacts[start..head.end],
                impulses: &self.impulses[start..head.end],
                work: &self.work[work_start..head.work_end],
                tangential: &self.tangential[friction_start..head.friction_end],
                slips: &self.slips[friction_start..head.friction_end],
                touches: &self.touches[touch_start..head.touch_end],
                energy_change: head.energy_change,
                rounds: head.rounds,
            }
        })
    }
}
