//! The states of the bodies of an island, under their numbers in the world.

use std::ops::{Index, IndexMut};

use super::super::BodyState;

/// Where the states of bodies are looked up: those of all bodies, or of an island alone.
pub(super) trait States: Index<usize, Output = BodyState> {}

impl<S: Index<usize, Output = BodyState> + ?Sized> States for S {}

/// The states of an island's bodies. Room for those that are looked up and four bytes for every body of the world: however many
/// islands are moved at a time, the world is not copied for each.
#[derive(Clone, Debug, Default)]
pub(super) struct Local {
    place: Vec<u32>,
    states: Vec<BodyState>,
}

impl Local {
    pub(super) fn new(bodies: usize) -> Self {
        Self { place: vec![0; bodies], states: Vec::new() }
    }

    /// Forgets all states.
    pub(super) fn clear(&mut self) {
        self.states.clear();
    }

    /// Takes in the state of a body.
    #[allow(clippy::cast_possible_truncation)] // fewer than 2^32 bodies
    pub(super) fn take_in(&mut self, b: usize, state: &BodyState) {
        self.place[b] = self.states.len() as u32;
        self.states.push(*state);
    }
}

impl Index<usize> for Local {
    type Output = BodyState;

    #[inline]
    fn index(&self, b: usize) -> &BodyState {
        &self.states[self.place[b] as usize]
    }
}

impl IndexMut<usize> for Local {
    #[inline]
    fn index_mut(&mut self, b: usize) -> &mut BodyState {
        &mut self.states[self.place[b] as usize]
    }
}
