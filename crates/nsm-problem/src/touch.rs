//! Where contacts act: the places and impulses that pictures of forces and files for ParaView are made of.

use nsm_model::{ContactImpulse, Event, Events, Touch};

use super::record::{Layout, Recorder};

/// A contact that acted at a place, in an impact or held over a step.
#[derive(Clone, Debug, PartialEq)]
pub struct TouchRecord {
    /// Name of the contact.
    pub contact: String,
    /// Whether it was held over the step that ends at the recorded instant, or struck in it.
    pub held: bool,
    /// Where, and with what impulse.
    pub touch: Touch,
}

/// What the contacts of an event did.
pub(super) fn impulses_of<'e>(event: &'e Event<'e>) -> impl Iterator<Item = ContactImpulse> + 'e {
    (0..event.contacts.len()).map(|k| ContactImpulse {
        contact: event.contacts[k],
        normal: event.impulses[k],
        tangential: event.tangential.get(k).copied().unwrap_or_default(),
        rubs: !event.slips.is_empty(),
        slips: event.slips.get(k).copied().unwrap_or_default(),
        work: event.work.get(k).copied().unwrap_or_default(),
        touch: event.touches.get(k).copied().flatten(),
    })
}

impl<L> Recorder<'_, L> {
    pub(super) fn named<S>(&self, contact: usize) -> String
    where
        L: Layout<S>,
    {
        let known = self.layout.contact_name(contact);
        known.or_else(|| self.contacts.get(contact).cloned()).unwrap_or_else(|| contact.to_string())
    }

    /// The contacts that acted in a step, at their places.
    pub(super) fn touches<S>(&self, state: &S, events: &Events) -> Vec<TouchRecord>
    where
        L: Layout<S>,
    {
        let placed = |c: &ContactImpulse, held: bool| {
            let touch = self.layout.touch(state, c)?;
            Some(TouchRecord { contact: self.named(c.contact), held, touch })
        };
        let held = events.held().iter().filter_map(|c| placed(c, true));
        let mut all: Vec<_> = held.collect();
        for event in events.iter() {
            all.extend(impulses_of(&event).filter_map(|c| placed(&c, false)));
        }
        all
    }
}
