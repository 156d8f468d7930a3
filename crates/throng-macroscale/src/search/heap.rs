//! The queue of a search: a heap with four children a parent, whose entries know where they are.
//!
//! Entries are ordered by two numbers and then by the node's own number, so no two are equal and what comes first never
//! depends on how the heap was filled. Four children instead of two: the heap is half as high, and four entries lie
//! within a cache line or two, so that a step down costs one miss instead of two.

use serde::{Deserialize, Serialize};

/// Where nodes keep their positions in the heap, so that an entry can be moved or taken out in logarithmic time.
pub(super) trait Places {
    /// Notes a node's position; [`OUTSIDE`] where it has left the heap.
    fn put(&mut self, id: u32, position: u32);

    /// A node's position, as it was put.
    fn get(&self, id: u32) -> u32;
}

/// The position of a node that is not in the heap.
pub(super) const OUTSIDE: u32 = u32::MAX;

const CHILDREN: usize = 4;

/// What entries are ordered by: the smaller first number, and where these are equal the smaller second.
///
/// Kept as the bits of numbers that are not negative, which are in the order of the numbers: whole numbers compare
/// faster, and always.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Key {
    first: u32,
    second: u32,
}

impl Key {
    /// A key. Neither number may be negative or NaN; infinity is the largest.
    pub fn new(first: f32, second: f32) -> Key {
        debug_assert!(first >= 0.0 && second >= 0.0, "a key of {first} and {second}");
        Key { first: first.to_bits(), second: second.to_bits() }
    }

    /// The number that decides.
    pub fn first(self) -> f32 {
        f32::from_bits(self.first)
    }
}

/// A node in the heap.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Entry {
    pub key: Key,
    pub id: u32,
}

impl Entry {
    /// All that decides in one number: it compares without a branch.
    fn rank(&self) -> u128 {
        u128::from(self.key.first) << 64 | u128::from(self.key.second) << 32 | u128::from(self.id)
    }
}

/// Nodes in the order of their keys.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Heap {
    entries: Vec<Entry>,
}

impl Heap {
    /// The entry that is first.
    pub fn first(&self) -> Option<Entry> {
        self.entries.first().copied()
    }

    /// How many there are.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// The memory that its entries take.
    pub fn size(&self) -> usize {
        self.entries.len() * size_of::<Entry>()
    }

    /// The memory it holds.
    pub fn bytes(&self) -> usize {
        self.entries.capacity() * size_of::<Entry>()
    }

    /// Forgets all entries. Positions are left as they are: it is for nodes that are forgotten too.
    pub fn clear(&mut self) {
        self.entries.clear();
    }

    /// Puts a node in, or gives it another key where it is in already.
    pub fn set(&mut self, id: u32, key: Key, places: &mut impl Places) {
        let entry = Entry { key, id };
        let position = places.get(id);
        if position == OUTSIDE {
            self.entries.push(entry);
            self.rise(self.entries.len() - 1, entry, places);
        } else {
            self.sift(position as usize, entry, places);
        }
    }

    /// Takes out the entry that is first.
    pub fn pop(&mut self, places: &mut impl Places) -> Option<Entry> {
        let first = self.first()?;
        self.take(first.id, places);
        Some(first)
    }

    /// Takes a node out; nothing happens where it is not in.
    pub fn take(&mut self, id: u32, places: &mut impl Places) {
        let position = places.get(id);
        if position == OUTSIDE {
            return;
        }
        places.put(id, OUTSIDE);
        let last = self.entries.pop().expect("a node with a position is in the heap");
        if last.id != id {
            self.sift(position as usize, last, places);
        }
    }

    /// Gives every entry another key at once. In linear time, where one by one it would be more.
    pub fn rekey<P: Places>(&mut self, places: &mut P, mut key: impl FnMut(&P, u32) -> Key) {
        for (position, entry) in self.entries.iter_mut().enumerate() {
            entry.key = key(places, entry.id);
            places.put(entry.id, position as u32);
        }
        for position in (0..self.entries.len().div_ceil(CHILDREN)).rev() {
            self.sink(position, self.entries[position], places);
        }
    }

    /// Puts an entry where a hole is, and to its right place from there.
    fn sift(&mut self, hole: usize, entry: Entry, places: &mut impl Places) {
        let parent = hole.saturating_sub(1) / CHILDREN;
        if hole > 0 && entry.rank() < self.entries[parent].rank() {
            self.rise(hole, entry, places);
        } else {
            self.sink(hole, entry, places);
        }
    }

    fn rise(&mut self, mut hole: usize, entry: Entry, places: &mut impl Places) {
        while hole > 0 {
            let parent = (hole - 1) / CHILDREN;
            let above = self.entries[parent];
            if above.rank() < entry.rank() {
                break;
            }
            self.put(hole, above, places);
            hole = parent;
        }
        self.put(hole, entry, places);
    }

    fn sink(&mut self, mut hole: usize, entry: Entry, places: &mut impl Places) {
        while let Some((child, below)) = self.first_child(hole) {
            if entry.rank() < below.rank() {
                break;
            }
            self.put(hole, below, places);
            hole = child;
        }
        self.put(hole, entry, places);
    }

    /// The child that comes before its siblings, with its position. Most of a search's time goes by here: which child it is
    /// cannot be foreseen, so it is found by a tournament of two rounds without a branch.
    fn first_child(&self, position: usize) -> Option<(usize, Entry)> {
        let from = position * CHILDREN + 1;
        let children = self.entries.get(from..)?;
        let first = if let Some(four) = children.first_chunk::<CHILDREN>() {
            let before = |a: usize, b: usize| if four[b].rank() < four[a].rank() { b } else { a };
            before(before(0, 1), before(2, 3))
        } else {
            (0..children.len()).min_by_key(|&child| children[child].rank())?
        };
        Some((from + first, children[first]))
    }

    fn put(&mut self, position: usize, entry: Entry, places: &mut impl Places) {
        self.entries[position] = entry;
        places.put(entry.id, position as u32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orx_priority_queue::{DaryHeapOfIndices, PriorityQueue, PriorityQueueDecKey};
    use proptest::prelude::*;

    impl Places for Vec<u32> {
        fn put(&mut self, id: u32, position: u32) {
            self[id as usize] = position;
        }

        fn get(&self, id: u32) -> u32 {
            self[id as usize]
        }
    }

    const NODES: u32 = 40;

    #[derive(Clone, Debug)]
    enum Op {
        Set(u32, u8, u8),
        Take(u32),
        Pop,
        RekeyAll(u8),
    }

    fn op() -> impl Strategy<Value = Op> {
        prop_oneof![
            6 => (0..NODES, 0..6u8, 0..3u8).prop_map(|(id, first, second)| Op::Set(id, first, second)),
            2 => (0..NODES).prop_map(Op::Take),
            2 => Just(Op::Pop),
            1 => (0..6u8).prop_map(Op::RekeyAll),
        ]
    }

    /// Few values, so that ties are common: the oracle is asked with the same three numbers.
    fn key(first: u8, second: u8) -> Key {
        Key::new(f32::from(first) * 0.3, f32::from(second) * 0.7)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1_000))]

        #[test]
        fn equals_another_heap(ops in prop::collection::vec(op(), 1..200)) {
            let mut places = vec![OUTSIDE; NODES as usize];
            let mut heap = Heap::default();
            let mut oracle: DaryHeapOfIndices<usize, (Key, u32), 2> =
                DaryHeapOfIndices::with_index_bound(NODES as usize);
            for op in ops {
                match op {
                    Op::Set(id, first, second) => {
                        let key = key(first, second);
                        heap.set(id, key, &mut places);
                        oracle.update_key_or_push(&(id as usize), (key, id));
                    }
                    Op::Take(id) => {
                        heap.take(id, &mut places);
                        if oracle.contains(&(id as usize)) {
                            oracle.remove(&(id as usize));
                        }
                    }
                    Op::Pop => {
                        let popped = heap.pop(&mut places).map(|entry| (entry.id as usize, (entry.key, entry.id)));
                        prop_assert_eq!(popped, oracle.pop());
                    }
                    Op::RekeyAll(turn) => {
                        let other = |id: u32| key((id as u8 * 7 + turn) % 6, id as u8 % 3);
                        heap.rekey(&mut places, |_, id| other(id));
                        for id in (0..NODES).filter(|&id| places[id as usize] != OUTSIDE) {
                            oracle.update_key(&(id as usize), (other(id), id));
                        }
                    }
                }
                prop_assert_eq!(heap.len(), oracle.len());
                for (position, entry) in heap.entries.iter().enumerate() {
                    prop_assert_eq!(places[entry.id as usize], position as u32);
                }
            }
            while let Some(entry) = heap.pop(&mut places) {
                prop_assert_eq!(Some((entry.id as usize, (entry.key, entry.id))), oracle.pop());
            }
            prop_assert!(oracle.is_empty());
        }
    }

    #[test]
    fn keys_are_ordered_as_their_numbers() {
        let mut numbers = [0.0, 1e-40, 1e-9, 0.1, 1.0, 1.000_000_1, 3e5, f32::MAX, f32::INFINITY];
        let keys = numbers.map(|number| Key::new(number, 0.0));
        assert!(keys.is_sorted() && keys.windows(2).all(|pair| pair[0] < pair[1]));
        numbers.reverse();
        assert!(numbers.map(|number| Key::new(1.0, number)).windows(2).all(|pair| pair[0] > pair[1]));
    }
}
