//! A hash table of boxes in space and time, kept flat: entries lie in the order of their keys, with gaps, in one array. Those of
//! one key are neighbours in memory, however many they are, so a question touches one or two cache lines and follows no pointer.
//!
//! It is linear probing with sorted clusters (Amble & Knuth 1974, Ordered hash tables): an entry stands at the place that its key
//! begins with, or after it where smaller keys have filled that. Which of two entries with one key comes first depends on what was
//! there before; no answer may.

use glam::{DVec2, Vec2};

/// Where a body is at some time, in single precision rounded outwards.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Extent {
    low: Vec2,
    high: Vec2,
    since: f32,
    until: f32,
}

impl Extent {
    pub fn new([low, high]: [DVec2; 2], [since, until]: [f64; 2]) -> Extent {
        let [low, high] = [low.as_vec2(), high.as_vec2()];
        Extent {
            low: Vec2::new(low.x.next_down(), low.y.next_down()),
            high: Vec2::new(high.x.next_up(), high.y.next_up()),
            since: (since as f32).next_down(),
            until: (until as f32).next_up(),
        }
    }

    #[inline]
    pub fn overlaps(&self, other: &Extent) -> bool {
        // All are looked at: four branches that nothing predicts cost more.
        (self.low.x <= other.high.x)
            & (other.low.x <= self.high.x)
            & (self.low.y <= other.high.y)
            & (other.low.y <= self.high.y)
            & (self.since <= other.until)
            & (other.since <= self.until)
    }
}

/// Half a cache line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub key: u32,
    pub body: u32,
    pub extent: Extent,
}

const NOWHERE: Extent = Extent { low: Vec2::ZERO, high: Vec2::ZERO, since: 0.0, until: 0.0 };
/// After all keys that there are: whoever looks for one stops here.
const GAP: Entry = Entry { key: u32::MAX, body: u32::MAX, extent: NOWHERE };
/// The largest key.
pub(super) const LAST_KEY: u32 = u32::MAX - 1;
/// The table is twice as long at least as what is in it.
const SPARSE: usize = 2;
const LEAST_BITS: u32 = 4;

/// The table.
#[derive(Clone, Debug)]
pub(super) struct FlatIndex {
    /// Never without a gap at the end.
    places: Vec<Entry>,
    bits: u32,
    count: usize,
}

impl Default for FlatIndex {
    fn default() -> FlatIndex {
        FlatIndex::with_bits(LEAST_BITS)
    }
}

impl FlatIndex {
    fn with_bits(bits: u32) -> FlatIndex {
        FlatIndex { places: vec![GAP; (1 << bits) + 1], bits, count: 0 }
    }

    /// The entries with keys from one to another; both begin with the same bits, or there are few between.
    #[inline]
    pub fn range(&self, first: u32, last: u32) -> &[Entry] {
        let begin = self.first_from(first);
        let count = self.places[begin..].iter().take_while(|entry| entry.key <= last).count();
        &self.places[begin..begin + count]
    }

    /// The place where a key begins, or would.
    #[inline]
    fn first_from(&self, key: u32) -> usize {
        let mut place = self.home(key);
        while self.places[place].key < key {
            place += 1;
        }
        place
    }

    fn home(&self, key: u32) -> usize {
        (key >> (u32::BITS - self.bits)) as usize
    }

    pub fn insert(&mut self, entry: Entry) {
        if SPARSE * (self.count + 1) > 1 << self.bits {
            self.grow();
        }
        self.count += 1;
        let place = self.first_from(entry.key);
        let shifted = self.places[place..].iter().take_while(|entry| entry.key != GAP.key).count();
        let gap = place + shifted;
        self.places.copy_within(place..gap, place + 1);
        self.places[place] = entry;
        if gap + 1 == self.places.len() {
            self.places.push(GAP);
        }
    }

    /// Removes an entry, if there is such a one. Squares whose keys collide are told apart by their extents.
    pub fn remove(&mut self, entry: Entry) {
        let Entry { key, body, extent } = entry;
        let begin = self.first_from(key);
        let alike = self.places[begin..].iter().take_while(|entry| entry.key == key);
        let Some(index) = alike.into_iter().position(|entry| entry.body == body && entry.extent == extent)
        else {
            return;
        };
        self.count -= 1;
        let mut place = begin + index;
        // Those behind move up, unless they are where they belong.
        while self.places[place + 1].key != GAP.key && self.home(self.places[place + 1].key) <= place {
            self.places[place] = self.places[place + 1];
            place += 1;
        }
        self.places[place] = GAP;
    }

    fn grow(&mut self) {
        let mut larger = FlatIndex::with_bits(self.bits + 1);
        larger.count = self.count;
        let mut next = 0;
        for entry in self.places.iter().filter(|entry| entry.key != GAP.key) {
            let place = larger.home(entry.key).max(next);
            if place + 1 >= larger.places.len() {
                larger.places.resize(place + 2, GAP);
            }
            larger.places[place] = *entry;
            next = place + 1;
        }
        *self = larger;
    }

    /// The memory that it takes.
    pub fn bytes(&self) -> usize {
        self.places.capacity() * size_of::<Entry>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn holds_what_was_put_in_and_not_taken_out(
            changes in prop::collection::vec((any::<bool>(), 0..12_u32, 0..40_u32), 1..400),
            spread in prop_oneof![Just(1_u32), Just(0x0400_0000), Just(0x1555_5555)],
        ) {
            let mut index = FlatIndex::default();
            let mut plain: Vec<(u32, u32)> = Vec::new();
            for (comes, key, body) in changes {
                let key = key.wrapping_mul(spread).min(LAST_KEY);
                if comes {
                    index.insert(Entry { key, body, extent: NOWHERE });
                    plain.push((key, body));
                } else {
                    index.remove(Entry { key, body, extent: NOWHERE });
                    if let Some(at) = plain.iter().position(|&entry| entry == (key, body)) {
                        plain.swap_remove(at);
                    }
                }
                for key in (0..12_u32).map(|key| key.wrapping_mul(spread).min(LAST_KEY)) {
                    let mut held: Vec<u32> = index.range(key, key).iter().map(|entry| entry.body).collect();
                    let mut expected: Vec<u32> =
                        plain.iter().filter(|entry| entry.0 == key).map(|entry| entry.1).collect();
                    held.sort_unstable();
                    expected.sort_unstable();
                    prop_assert_eq!(held, expected);
                }
            }
        }
    }
}
