//! What a stage remembers of agents from step to step. The stage owns it; the engine saves it, hashes it, and lets it grow
//! and shrink as agents come and go.

use crate::parallel::for_chunks;
use serde::{Serialize, de::DeserializeOwned};
use std::any::Any;

/// What a stage remembers of one agent. The default is to remember nothing.
pub trait Remembered: Clone + Default + Serialize + DeserializeOwned + Send + Sync + 'static {
    /// A number that differs whenever what is remembered differs in a bit; `None` where nothing is remembered.
    fn state_hash(&self) -> Option<u64>;

    /// The memory that it takes on the heap, bytes.
    fn heap_bytes(&self) -> usize {
        0
    }

    /// Whether it still holds after a change from outside; else it is forgotten.
    fn outlasts(_: Change) -> bool {
        false
    }
}

/// What can happen to an agent from outside while it stays in the crowd.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It was put somewhere else, anywhere.
    Moved,
    /// It was put beside a wall that it stood in, which is near.
    PutAside,
    /// It has another goal.
    Retargeted,
}

/// A value for each agent, by its slot ([`Agents::slot`](crate::world::Agents)).
#[derive(Clone, Debug)]
pub struct Memory<T> {
    by_slot: Vec<T>,
    nothing: T,
    map_version: u64,
    /// The column that [`Memory::lend_rows`] lends, kept from step to step.
    rows: Vec<T>,
}

impl<T: Default> Default for Memory<T> {
    fn default() -> Memory<T> {
        Memory { by_slot: Vec::new(), nothing: T::default(), map_version: 0, rows: Vec::new() }
    }
}

impl<T: Remembered> Memory<T> {
    /// What is remembered of an agent.
    #[inline]
    pub fn get(&self, slot: u32) -> &T {
        self.by_slot.get(slot as usize).unwrap_or(&self.nothing)
    }

    /// The same, to be changed.
    #[inline]
    pub fn get_mut(&mut self, slot: u32) -> &mut T {
        let slot = slot as usize;
        if slot >= self.by_slot.len() {
            self.by_slot.resize_with(slot + 1, T::default);
        }
        &mut self.by_slot[slot]
    }

    /// Notes the map that what is remembered from now on was worked out for. Says whether it was another one before: then what
    /// is remembered has to be dropped or held against it. The version is saved, so a resume is no change.
    pub fn note_map(&mut self, map_version: u64) -> bool {
        std::mem::replace(&mut self.map_version, map_version) != map_version
    }

    /// Forgets every agent.
    pub fn clear(&mut self) {
        self.by_slot.clear();
    }

    /// What is remembered, by slot; slots at the end of which nothing ever was are left out.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        (0u32..).zip(&self.by_slot)
    }

    /// The same, to be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (u32, &mut T)> {
        (0u32..).zip(&mut self.by_slot)
    }
}

impl<T: Remembered + Copy> Memory<T> {
    /// A column with what is remembered of every row, for a pass over all of them in parallel: each writes its own into the
    /// column, while what is remembered of others stays what it was until [`Memory::take_rows`] takes the column back.
    /// Allocates only when the crowd grows.
    pub fn lend_rows(&mut self, slots: &[u32]) -> Vec<T> {
        let mut rows = std::mem::take(&mut self.rows);
        rows.resize(slots.len(), self.nothing);
        const C: usize = crate::CHUNK * 4;
        for_chunks(C, (&mut rows[..], slots), &|_, (rows, slots)| {
            rows.iter_mut().zip(slots).for_each(|(row, &slot)| *row = *self.get(slot));
        });
        rows
    }

    /// Remembers what was written into the column. On one thread: slots are in no order, and a write is all there is to do.
    pub fn take_rows(&mut self, slots: &[u32], rows: Vec<T>) {
        slots.iter().zip(&rows).for_each(|(&slot, &row)| *self.get_mut(slot) = row);
        self.rows = rows;
    }
}

/// Why remembered things cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("what a stage remembers cannot be read: {0}")]
pub struct MemoryError(String);

/// The engine's side of a [`Memory`].
pub trait Remember: Any + Send + Sync {
    /// Forgets one agent, which has gone.
    fn forget(&mut self, slot: u32);
    /// Forgets one agent, unless what is remembered of it outlasts what has happened to it.
    fn note(&mut self, slot: u32, change: Change);
    /// Everything as bytes.
    fn save(&self) -> Vec<u8>;
    /// Takes over what was saved.
    fn load(&mut self, bytes: &[u8]) -> Result<(), MemoryError>;
    /// A number that differs whenever anything remembered differs in a bit.
    fn state_hash(&self) -> u64;
    /// The memory that all of it takes, bytes.
    fn bytes(&self) -> usize;
}

impl<T: Remembered> Remember for Memory<T> {
    fn forget(&mut self, slot: u32) {
        if let Some(value) = self.by_slot.get_mut(slot as usize) {
            *value = T::default();
        }
    }

    fn note(&mut self, slot: u32, change: Change) {
        if !T::outlasts(change) {
            self.forget(slot);
        }
    }

    fn save(&self) -> Vec<u8> {
        // Into a Vec, and of plain data: neither can fail.
        postcard::to_stdvec(&(self.map_version, &self.by_slot)).unwrap_or_default()
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), MemoryError> {
        (self.map_version, self.by_slot) =
            postcard::from_bytes(bytes).map_err(|error| MemoryError(error.to_string()))?;
        Ok(())
    }

    fn state_hash(&self) -> u64 {
        let remembered = self.iter().filter_map(|(slot, value)| Some((slot, value.state_hash()?)));
        remembered.map(|(slot, hash)| mix(mix(slot.into()) ^ hash)).fold(0, u64::wrapping_add)
    }

    fn bytes(&self) -> usize {
        let values = self.by_slot.capacity() + self.rows.capacity();
        values * size_of::<T>() + self.by_slot.iter().map(T::heap_bytes).sum::<usize>()
    }
}

/// What a stage remembers that is of no single agent.
#[derive(Clone, Debug, Default)]
pub struct Whole<T>(pub T);

impl<T: Remembered> Remember for Whole<T> {
    fn forget(&mut self, _: u32) {}

    fn note(&mut self, _: u32, _: Change) {}

    fn save(&self) -> Vec<u8> {
        postcard::to_stdvec(&self.0).unwrap_or_default()
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), MemoryError> {
        self.0 = postcard::from_bytes(bytes).map_err(|error| MemoryError(error.to_string()))?;
        Ok(())
    }

    fn state_hash(&self) -> u64 {
        self.0.state_hash().unwrap_or(0)
    }

    fn bytes(&self) -> usize {
        self.0.heap_bytes()
    }
}

/// Two memories of one stage are one to the engine.
impl<A: Remember, B: Remember> Remember for (A, B) {
    fn forget(&mut self, slot: u32) {
        self.0.forget(slot);
        self.1.forget(slot);
    }

    fn note(&mut self, slot: u32, change: Change) {
        self.0.note(slot, change);
        self.1.note(slot, change);
    }

    fn save(&self) -> Vec<u8> {
        postcard::to_stdvec(&(self.0.save(), self.1.save())).unwrap_or_default()
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), MemoryError> {
        let (first, second): (Vec<u8>, Vec<u8>) =
            postcard::from_bytes(bytes).map_err(|error| MemoryError(error.to_string()))?;
        self.0.load(&first)?;
        self.1.load(&second)
    }

    fn state_hash(&self) -> u64 {
        mix(self.0.state_hash()) ^ self.1.state_hash()
    }

    fn bytes(&self) -> usize {
        self.0.bytes() + self.1.bytes()
    }
}

/// One round of splitmix64's finaliser: every bit of the input reaches every bit of the output.
pub fn mix(mut z: u64) -> u64 {
    z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Remembered for u32 {
        fn state_hash(&self) -> Option<u64> {
            (*self > 0).then(|| mix(u64::from(*self)))
        }

        fn outlasts(change: Change) -> bool {
            change == Change::PutAside
        }
    }

    #[test]
    fn what_is_remembered_is_saved_hashed_and_forgotten() {
        let mut memory: Memory<u32> = Memory::default();
        let empty = memory.state_hash();
        *memory.get_mut(7) = 3;
        let seven = memory.state_hash();
        assert_ne!(seven, empty);
        // A longer list is not another memory.
        memory.get_mut(50);
        assert_eq!(memory.state_hash(), seven);
        assert!(memory.note_map(4) && !memory.note_map(4));
        let mut loaded: Memory<u32> = Memory::default();
        loaded.load(&memory.save()).unwrap();
        assert_eq!((*loaded.get(7), *loaded.get(99), loaded.state_hash()), (3, 0, seven));
        assert!(!loaded.note_map(4) && loaded.load(&[255]).is_err());
        memory.note(7, Change::PutAside);
        assert_eq!(memory.state_hash(), seven);
        memory.note(7, Change::Moved);
        assert_eq!(memory.state_hash(), empty);
        loaded.forget(7);
        assert_eq!(loaded.state_hash(), empty);
    }

    #[test]
    fn two_memories_are_saved_and_forgotten_together() {
        let mut both: (Memory<u32>, Memory<u32>) = Default::default();
        (*both.0.get_mut(1), *both.1.get_mut(1)) = (3, 4);
        let mut loaded: (Memory<u32>, Memory<u32>) = Default::default();
        loaded.load(&both.save()).unwrap();
        assert_eq!((*loaded.0.get(1), *loaded.1.get(1), loaded.state_hash()), (3, 4, both.state_hash()));
        *loaded.1.get_mut(1) = 5;
        assert_ne!(loaded.state_hash(), both.state_hash());
        loaded.forget(1);
        assert_eq!((*loaded.0.get(1), *loaded.1.get(1)), (0, 0));
    }

    #[test]
    fn what_is_of_no_agent_stays_when_agents_go() {
        let mut both = (Memory::<u32>::default(), Whole(4u32));
        *both.0.get_mut(0) = 3;
        both.forget(0);
        let mut loaded: (Memory<u32>, Whole<u32>) = Default::default();
        loaded.load(&both.save()).unwrap();
        assert_eq!((*loaded.0.get(0), loaded.1.0, loaded.state_hash()), (0, 4, both.state_hash()));
        loaded.1.0 = 5;
        assert_ne!(loaded.state_hash(), both.state_hash());
    }

    #[test]
    fn what_rows_write_counts_when_they_have_all_written() {
        let mut memory: Memory<u32> = Memory::default();
        *memory.get_mut(2) = 5;
        let slots = [2, 0, 4];
        let mut rows = memory.lend_rows(&slots);
        assert_eq!(rows, [5, 0, 0]);
        rows.copy_from_slice(&[6, 7, 8]);
        assert_eq!((*memory.get(2), *memory.get(0)), (5, 0));
        memory.take_rows(&slots, rows);
        assert_eq!(memory.iter().map(|(_, &value)| value).collect::<Vec<u32>>(), [7, 0, 6, 0, 8]);
        // An agent has left, and others have other rows.
        assert_eq!(memory.lend_rows(&[4, 2]), [8, 6]);
    }
}
