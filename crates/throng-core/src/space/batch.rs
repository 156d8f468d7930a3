//! The k nearest of sixteen agents at once: what each has in range is squeezed into a short list, the lists are turned so
//! that every agent has a lane, and one sorting network sorts them all.
//!
//! A network compares without branching, and a key holds a distance and a place in the list together, so that an exchange is a
//! minimum and a maximum. Keys carry all but the last bits of a distance: where two of an agent's are alike in what they
//! carry, that agent's list is sorted by (distance, id) once more, and where it was too short or too long it searches alone.

use super::nearest::{LANE, MOST_CANDIDATES, limit, nearest_alone};
use super::{Candidates, Cells, LANES, Nearest, Query, lanes_below};
use fearless_simd::{Simd, f32x16, prelude::*, u32x16};

/// The most neighbours that can be asked for where many search at once: the network holds sixteen, among them the agent itself
/// and the next one, which may be as near as the last.
pub const MOST_TOGETHER: usize = 14;

/// Room for those in range of one agent.
const ROOM: usize = 2 * LANES - 1;
/// The bits of a key that tell a place in a list.
const PLACE: u32 = ROOM as u32;
/// The key of a place with nobody.
const NOBODY: u32 = u32::MAX;
/// How much further (squared) agents look than those before them had to: their lists are half full then, and few too short.
const SPARE: f32 = 1.7;

/// A list to any place of which a whole vector can be written.
type List<T> = [T; ROOM + 1 + LANES];
/// Sixteen of something, a lane an agent.
pub type Lane<T> = [T; LANES];

/// The nearest others of up to sixteen agents in consecutive rows, a lane an agent.
#[derive(Clone, Debug)]
pub struct Batch {
    /// How many each has found.
    pub found: Lane<u32>,
    /// Their rows, nearest first. Behind the last stands the agent itself.
    pub row: [Lane<u32>; MOST_TOGETHER],
    /// How far away the last one is, m²; without limit where fewer than asked for were found.
    furthest: Lane<f32>,
    /// Within this squared distance those before have found enough, with some to spare. Only a guess, never part of a result.
    guess: f32,
    candidates: Candidates,
    /// Squared: all within it are among the candidates.
    within: f32,
    distance_squared: [List<f32>; LANES],
    listed: [List<u32>; LANES],
    count: Lane<u32>,
    alone: Nearest,
}

impl Default for Batch {
    fn default() -> Batch {
        Batch {
            found: [0; LANES],
            row: [[0; LANES]; MOST_TOGETHER],
            furthest: [0.0; LANES],
            guess: f32::INFINITY,
            candidates: Candidates::default(),
            within: 0.0,
            distance_squared: [[0.0; ROOM + 1 + LANES]; LANES],
            listed: [[0; ROOM + 1 + LANES]; LANES],
            count: [0; LANES],
            alone: Nearest::default(),
        }
    }
}

impl Batch {
    /// Must be called when the index has changed.
    pub fn forget(&mut self) {
        self.candidates.forget();
    }

    /// The rows that one lane has found, nearest first.
    #[inline(always)]
    pub fn rows(&self, lane: usize) -> impl ExactSizeIterator<Item = u32> {
        self.row[..self.found[lane] as usize].iter().map(move |row| row[lane])
    }

    /// Finds the nearest of each of `count` rows from `query.row` on, nearest first, ties by id. Space must not repeat, and
    /// `query.most` be from 1 to [`MOST_TOGETHER`].
    #[inline(always)]
    pub fn find<S: Simd>(&mut self, simd: S, cells: &Cells, id: &[u32], query: Query, count: usize) {
        let unknown = self.list(simd, cells, query, count);
        let keys = self.sort(simd);
        let alike = self.take(simd, &keys, query.most);
        if (unknown | alike) & lanes_below(count) != 0 {
            // Not inlined: it is long and rarely needed.
            simd.vectorize(
                #[inline(always)]
                || self.mend(simd, cells, id, query, [unknown, alike & lanes_below(count)]),
            );
        }
        self.guess = SPARE * self.furthest[..count].iter().sum::<f32>() / count as f32;
    }

    /// Lists who is in range of each. Returns by bits whose list does not tell.
    #[inline(always)]
    fn list<S: Simd>(&mut self, simd: S, cells: &Cells, query: Query, count: usize) -> u64 {
        let (mut unknown, whole) = (0, limit(query));
        for lane in 0..LANES {
            let row = query.row + lane.min(count - 1);
            self.listed[lane][ROOM] = row as u32;
            self.count[lane] = 0;
            if lane >= count {
                continue;
            }
            let home = cells.home(row);
            if self.candidates.cell != Some(home) {
                self.within = whole.min(self.guess);
                let reach = (self.within.max(0.0).sqrt() * (1.0 + 1e-6)).min(query.range);
                self.candidates.gather(simd, cells, home, reach);
            }
            let listed = self.list_one(simd, cells, row, lane);
            let too_few = listed <= query.most && self.within < whole;
            unknown |= u64::from(too_few || listed > ROOM) << lane;
            self.count[lane] = listed.min(ROOM) as u32;
        }
        unknown
    }

    /// Lists who is in range of one, itself included. Returns how many: more than there is room for where that is not known.
    #[inline(always)]
    fn list_one<S: Simd>(&mut self, simd: S, cells: &Cells, row: usize, lane: usize) -> usize {
        if self.candidates.len > MOST_CANDIDATES {
            return ROOM + 1;
        }
        let splat = |value: f32| f32x16::splat(simd, value);
        let (x, y, within) = (splat(cells.x[row]), splat(cells.y[row]), splat(self.within));
        let (distances, rows) = (&mut self.distance_squared[lane], &mut self.listed[lane]);
        let mut listed = 0;
        for block in (0..self.candidates.len).step_by(LANES) {
            let dx = f32x16::from_slice(simd, &self.candidates.x[block..block + LANES]) - x;
            let dy = f32x16::from_slice(simd, &self.candidates.y[block..block + LANES]) - y;
            let row = u32x16::from_slice(simd, &self.candidates.row[block..block + LANES]);
            let squared = dx * dx + dy * dy;
            let near = squared.simd_le(within);
            squared.compress(near).store_slice(&mut distances[listed..listed + LANES]);
            row.compress(near).store_slice(&mut rows[listed..listed + LANES]);
            listed += near.to_bitmask().count_ones() as usize;
            if listed > ROOM {
                return listed;
            }
        }
        // Looked up where a network has nobody.
        rows[ROOM] = row as u32;
        listed
    }

    /// The keys of all lists, smallest first: the key `k` of lane `l` at `[k][l]`.
    #[inline(always)]
    fn sort<S: Simd>(&self, simd: S) -> [u32x16<S>; LANES] {
        let mut keys = self.keys(simd, 0);
        network(&mut keys);
        if u32x16::from_slice(simd, &self.count).reduce_max() as usize > LANES {
            let mut others = self.keys(simd, LANES);
            network(&mut others);
            // One ascends and the other descends, so of each pair the smaller ones are the sixteen smallest.
            for (key, other) in keys.iter_mut().zip(others.into_iter().rev()) {
                *key = key.min(other);
            }
            merge(&mut keys);
        }
        keys
    }

    /// The keys of sixteen places of every list from `first` on, a lane a list.
    #[inline(always)]
    fn keys<S: Simd>(&self, simd: S, first: usize) -> [u32x16<S>; LANES] {
        let place = u32x16::from_slice(simd, &LANE) + u32x16::splat(simd, first as u32);
        let (distance, nobody) = (u32x16::splat(simd, !PLACE), u32x16::splat(simd, NOBODY));
        // Loops and no closures: what is not inlined here is a call for every operation.
        let mut keys = [nobody; LANES];
        for (lane, key) in keys.iter_mut().enumerate() {
            let squared = f32x16::from_slice(simd, &self.distance_squared[lane][first..first + LANES]);
            let squared: u32x16<S> = squared.bitcast();
            let is_there = place.simd_lt(u32x16::splat(simd, self.count[lane]));
            *key = is_there.select((squared & distance) | place, nobody);
        }
        // To interleave the first half with the second rotates an item's address by one bit: after four of eight, who and
        // which have changed places.
        for _ in 0..LANES.trailing_zeros() {
            let mut next = keys;
            for half in 0..LANES / 2 {
                (next[2 * half], next[2 * half + 1]) = keys[half].interleave(keys[half + LANES / 2]);
            }
            keys = next;
        }
        keys
    }

    /// Looks up whom the keys are of. Returns by bits the lanes in which two keys do not tell who is nearer.
    #[inline(always)]
    fn take<S: Simd>(&mut self, simd: S, keys: &[u32x16<S>; LANES], most: usize) -> u64 {
        let (nobody, distance) = (u32x16::splat(simd, NOBODY), u32x16::splat(simd, !PLACE));
        let mut alike = 0;
        for (key, next) in keys.iter().zip(&keys[1..]).take(most + 1) {
            let same = (*key ^ *next).simd_le(u32x16::splat(simd, PLACE)) & next.simd_ne(nobody);
            alike |= same.to_bitmask();
        }
        // The first one is the agent itself, unless another stands where it does, and then they are alike.
        for (rows, key) in self.row.iter_mut().zip(&keys[1..]).take(most) {
            let mut places = [0; LANES];
            (*key & u32x16::splat(simd, PLACE)).store_slice(&mut places);
            for ((row, listed), place) in rows.iter_mut().zip(&self.listed).zip(places) {
                *row = listed[place as usize & ROOM];
            }
        }
        let last = keys[most];
        let squared: f32x16<S> = (last & distance).bitcast();
        let furthest = last.simd_eq(nobody).select(f32x16::splat(simd, f32::INFINITY), squared);
        furthest.store_slice(&mut self.furthest);
        for (found, count) in self.found.iter_mut().zip(self.count) {
            *found = count.saturating_sub(1).min(most as u32);
        }
        alike
    }

    /// Lets those search alone whose list does not tell, and sorts by (distance, id) where keys do not.
    #[inline(always)]
    fn mend<S: Simd>(
        &mut self,
        simd: S,
        cells: &Cells,
        id: &[u32],
        query: Query,
        [unknown, alike]: [u64; 2],
    ) {
        for lane in (0..LANES).filter(|lane| (unknown | alike) >> lane & 1 > 0) {
            let query = Query { row: query.row + lane, ..query };
            if unknown >> lane & 1 > 0 {
                nearest_alone(simd, cells, id, query, &mut self.alone);
            } else {
                let list = self.distance_squared[lane].iter().copied().zip(self.listed[lane]);
                self.alone.sort(simd, list.take(self.count[lane] as usize), query, id);
            }
            let rows = self.alone.rows();
            for (to, k) in self.row.iter_mut().zip(0..query.most) {
                to[lane] = rows.get(k).map_or(query.row as u32, |&row| row);
            }
            self.found[lane] = rows.len() as u32;
            let last = self.alone.distances_squared().get(query.most - 1);
            self.furthest[lane] = last.map_or(f32::INFINITY, |&last| last);
        }
    }
}

/// Puts the smaller ones first, in every lane.
#[inline(always)]
fn exchange<S: Simd>(keys: &mut [u32x16<S>; LANES], first: usize, second: usize) {
    (keys[first], keys[second]) = (keys[first].min(keys[second]), keys[first].max(keys[second]));
}

macro_rules! exchanges {
    ($keys:ident: $($first:literal $second:literal),+) => { $( exchange($keys, $first, $second); )+ };
}

/// Batcher's network of 63 exchanges. Written out, so that keys stay in registers.
#[inline(always)]
#[rustfmt::skip]
fn network<S: Simd>(keys: &mut [u32x16<S>; LANES]) {
    exchanges!(keys: 0 1, 2 3, 4 5, 6 7, 8 9, 10 11, 12 13, 14 15);
    exchanges!(keys: 0 2, 1 3, 4 6, 5 7, 8 10, 9 11, 12 14, 13 15);
    exchanges!(keys: 1 2, 5 6, 9 10, 13 14);
    exchanges!(keys: 0 4, 1 5, 2 6, 3 7, 8 12, 9 13, 10 14, 11 15);
    exchanges!(keys: 2 4, 3 5, 10 12, 11 13);
    exchanges!(keys: 1 2, 3 4, 5 6, 9 10, 11 12, 13 14);
    exchanges!(keys: 0 8, 1 9, 2 10, 3 11, 4 12, 5 13, 6 14, 7 15);
    exchanges!(keys: 4 8, 5 9, 6 10, 7 11);
    exchanges!(keys: 2 4, 3 5, 6 8, 7 9, 10 12, 11 13);
    exchanges!(keys: 1 2, 3 4, 5 6, 7 8, 9 10, 11 12, 13 14);
}

/// Sorts what ascends and then descends.
#[inline(always)]
#[rustfmt::skip]
fn merge<S: Simd>(keys: &mut [u32x16<S>; LANES]) {
    exchanges!(keys: 0 8, 1 9, 2 10, 3 11, 4 12, 5 13, 6 14, 7 15);
    exchanges!(keys: 0 4, 1 5, 2 6, 3 7, 8 12, 9 13, 10 14, 11 15);
    exchanges!(keys: 0 2, 1 3, 4 6, 5 7, 8 10, 9 11, 12 14, 13 15);
    exchanges!(keys: 0 1, 2 3, 4 5, 6 7, 8 9, 10 11, 12 13, 14 15);
}
