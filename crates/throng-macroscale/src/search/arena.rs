//! The nodes of a search, and the way from a state to its node.
//!
//! Nodes lie in one vector in the order in which they were met, and are known by their number there. The table that
//! finds a state's number holds numbers only and looks the state up in its node: a map would keep every state twice. It
//! is never gone through, so what hashes to where changes no result.

use super::heap::{OUTSIDE, Places};
use crate::hash::Product;
use serde::{Deserialize, Serialize};
use std::hash::{Hash, Hasher};

/// What a search knows of a state: 20 bytes and the state itself.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Node<S> {
    pub state: S,
    /// The cost to the root as it was when the node was last expanded; infinite before that.
    pub g: f32,
    /// The cost to the root over the best neighbour, from what that neighbour has for `g`.
    pub rhs: f32,
    /// The neighbour that `rhs` comes from: the node itself for a root, [`NO_NODE`] where `rhs` is infinite.
    pub parent: u32,
    /// Position in the heap, [`OUTSIDE`], or [`INCONSISTENT`].
    pub place: u32,
    /// The last round in which it was expanded; 0 before the first.
    pub closed: u32,
}

/// The parent of a node that has none.
pub(super) const NO_NODE: u32 = u32::MAX;

/// The place of a node that waits for the next round.
pub(super) const INCONSISTENT: u32 = u32::MAX - 1;

impl<S> Places for Vec<Node<S>> {
    fn put(&mut self, id: u32, position: u32) {
        self[id as usize].place = position;
    }

    fn get(&self, id: u32) -> u32 {
        self[id as usize].place
    }
}

/// Nodes by number and by state.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Arena<S> {
    pub nodes: Vec<Node<S>>,
    /// Numbers of nodes by the hash of their states, the next free slot where one is taken. A power of two, at most half
    /// full: then a look finds its node at the first or second try.
    slots: Vec<u32>,
}

const EMPTY: u32 = u32::MAX;
const FIRST_SLOTS: usize = 64;

impl<S: Copy + Eq + Hash> Arena<S> {
    pub fn new() -> Arena<S> {
        Arena { nodes: Vec::new(), slots: vec![EMPTY; FIRST_SLOTS] }
    }

    /// Forgets all nodes and keeps the memory.
    pub fn clear(&mut self) {
        self.nodes.clear();
        self.slots.fill(EMPTY);
    }

    /// The memory it holds.
    pub fn bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<Node<S>>() + self.slots.capacity() * size_of::<u32>()
    }

    /// The number of a state's node, where it has been met.
    pub fn find(&self, state: S) -> Option<u32> {
        let id = self.slots[self.slot(state)];
        (id != EMPTY).then_some(id)
    }

    /// The number of a state's node, which is made where it has not been met.
    pub fn id(&mut self, state: S) -> u32 {
        let slot = self.slot(state);
        if self.slots[slot] != EMPTY { self.slots[slot] } else { self.add(state, slot) }
    }

    fn add(&mut self, state: S, slot: usize) -> u32 {
        let id = self.nodes.len() as u32;
        self.slots[slot] = id;
        // By half and not to double: at most a third of the memory is spare.
        if self.nodes.len() == self.nodes.capacity() {
            self.nodes.reserve_exact(self.nodes.len() / 2 + FIRST_SLOTS);
        }
        let infinite = f32::INFINITY;
        self.nodes.push(Node {
            state,
            g: infinite,
            rhs: infinite,
            parent: NO_NODE,
            place: OUTSIDE,
            closed: 0,
        });
        if self.nodes.len() * 2 > self.slots.len() {
            self.grow();
        }
        id
    }

    fn grow(&mut self) {
        let slots = self.slots.len() * 2;
        self.slots.clear();
        self.slots.resize(slots, EMPTY);
        for id in 0..self.nodes.len() {
            let slot = self.slot(self.nodes[id].state);
            self.slots[slot] = id as u32;
        }
    }

    /// The slot where a state's number is, or belongs.
    fn slot(&self, state: S) -> usize {
        let mask = self.slots.len() - 1;
        let mut hash = Product::default();
        state.hash(&mut hash);
        let mut slot = hash.finish() as usize & mask;
        while self.slots[slot] != EMPTY && self.nodes[self.slots[slot] as usize].state != state {
            slot = (slot + 1) & mask;
        }
        slot
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn finds_what_a_map_finds() {
        let mut arena = Arena::new();
        let mut map = BTreeMap::new();
        for i in 0..5_000_u64 {
            let state = (i * i % 3_001, (i % 17) as i16 - 8);
            let next = map.len() as u32;
            let expected = *map.entry(state).or_insert(next);
            assert_eq!(arena.find(state), (expected != next).then_some(expected));
            assert_eq!(arena.id(state), expected);
        }
        assert_eq!(arena.nodes.len(), map.len());
        assert_eq!(arena.find((u64::MAX, 0)), None);
        arena.clear();
        assert_eq!(arena.find((0, -8)), None);
        assert_eq!(arena.id((7, 7)), 0);
    }

    #[test]
    fn a_node_takes_twenty_bytes_and_its_state() {
        assert_eq!(size_of::<Node<u32>>(), 24);
        assert_eq!(size_of::<Node<(u32, u32, u32, u32)>>(), 36);
    }
}
