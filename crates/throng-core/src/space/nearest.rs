//! The k nearest within a distance, ties by id, sixteen candidates at a time.
//!
//! Candidates in range are squeezed into a small buffer; a candidate's rank is the number of candidates that are
//! nearer, counted for eight at once. That is quadratic in the buffer and still several times faster than a heap,
//! because it never branches on a distance.

use super::Cells;
use fearless_simd::{Simd, f32x16, mask32x16, prelude::*, u32x16};

/// Candidates handled at once.
pub const LANES: usize = 16;
pub(super) const LANE: [u32; LANES] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
/// The most neighbours that can be asked for.
pub const MAX_NEIGHBORS: usize = 64;
/// Room for the nearest so far and for what comes in before the next selection.
const BUFFER: usize = MAX_NEIGHBORS + 64;

/// How many can be near one cell before it is better to search for each agent alone.
pub(super) const MOST_CANDIDATES: usize = 256;

/// How much further (squared) the next one looks than the last one had to.
const SPARE: f32 = 1.4;

/// All agents near one cell. Agents come sorted by cell, so those of a cell share one gathering, and each then looks
/// through one short list without a jump.
#[derive(Clone, Debug)]
pub struct Candidates {
    pub(super) cell: Option<u32>,
    /// Within this squared distance the last one who looked found enough, with some to spare: the next one probably
    /// will too, and then has fewer to rank. Only a guess, never part of a result.
    guess: f32,
    pub(super) len: usize,
    pub(super) x: [f32; MOST_CANDIDATES + LANES],
    pub(super) y: [f32; MOST_CANDIDATES + LANES],
    pub(super) row: [u32; MOST_CANDIDATES + LANES],
}

impl Default for Candidates {
    fn default() -> Candidates {
        Candidates {
            cell: None,
            guess: f32::INFINITY,
            len: 0,
            x: [0.0; MOST_CANDIDATES + LANES],
            y: [0.0; MOST_CANDIDATES + LANES],
            row: [0; MOST_CANDIDATES + LANES],
        }
    }
}

impl Candidates {
    /// Must be called when the index has changed.
    pub fn forget(&mut self) {
        self.cell = None;
    }

    /// Gathers all agents within `range` of a cell; `len` is past the end where they are too many.
    #[inline(always)]
    pub(super) fn gather<S: Simd>(&mut self, simd: S, cells: &Cells, cell: u32, range: f32) {
        (self.cell, self.len) = (Some(cell), 0);
        let lane = u32x16::from_slice(simd, &LANE);
        let told_apart = cells.runs_around(
            cell,
            range,
            #[inline(always)]
            |start, end| {
                if self.len + (end - start) > MOST_CANDIDATES {
                    self.len = MOST_CANDIDATES + 1;
                    return;
                }
                // Whole vectors: what is copied beyond the end is overwritten by the next run.
                for block in (start..end).step_by(LANES) {
                    let at = self.len + block - start;
                    f32x16::from_slice(simd, &cells.x[block..block + LANES])
                        .store_slice(&mut self.x[at..at + LANES]);
                    f32x16::from_slice(simd, &cells.y[block..block + LANES])
                        .store_slice(&mut self.y[at..at + LANES]);
                    (lane + u32x16::splat(simd, block as u32)).store_slice(&mut self.row[at..at + LANES]);
                }
                self.len += end - start;
            },
        );
        if !told_apart {
            self.len = MOST_CANDIDATES + 1;
        }
        if self.len <= MOST_CANDIDATES {
            self.x[self.len..self.len + LANES].fill(f32::INFINITY);
        }
    }
}

/// Whom to look for.
#[derive(Clone, Copy, Debug)]
pub struct Query {
    /// Who asks, by row; does not count.
    pub row: usize,
    /// Only those nearer than this, m.
    pub range: f32,
    /// At most this many, at most [`MAX_NEIGHBORS`].
    pub most: usize,
}

/// The rows found, nearest first, and the memory that finding them takes.
#[derive(Clone, Debug)]
pub struct Nearest {
    found: usize,
    distance_squared: [f32; BUFFER],
    row: [u32; BUFFER],
    candidates: usize,
    candidate_distance_squared: [f32; BUFFER],
    candidate_row: [u32; BUFFER],
    rank: [u32; BUFFER],
}

impl Default for Nearest {
    fn default() -> Nearest {
        Nearest {
            found: 0,
            distance_squared: [0.0; BUFFER],
            row: [0; BUFFER],
            candidates: 0,
            candidate_distance_squared: [0.0; BUFFER],
            candidate_row: [0; BUFFER],
            rank: [0; BUFFER],
        }
    }
}

impl Nearest {
    /// Rows, nearest first.
    #[inline(always)]
    pub fn rows(&self) -> &[u32] {
        &self.row[..self.found]
    }

    /// The same in whole vectors: what stands behind the last is filled up with `filler`.
    #[inline(always)]
    pub fn padded_rows(&mut self, filler: u32) -> impl Iterator<Item = &[u32; LANES]> {
        let end = self.found.next_multiple_of(LANES);
        self.row[self.found..end].fill(filler);
        self.row[..end].as_chunks().0.iter()
    }

    /// Takes over what was found in another way: rows, nearest first, of which `ego` is not one.
    #[inline(always)]
    pub fn take(&mut self, cells: &Cells, ego: usize, rows: impl ExactSizeIterator<Item = u32>) {
        let (x, y) = (cells.x[ego], cells.y[ego]);
        self.found = rows.len();
        for ((to, squared), row) in self.row.iter_mut().zip(&mut self.distance_squared).zip(rows) {
            let (dx, dy) = (cells.x[row as usize] - x, cells.y[row as usize] - y);
            (*to, *squared) = (row, dx * dx + dy * dy);
        }
    }

    /// Sorts a list by (distance, id), without one of its rows, and keeps at most `most`.
    #[inline(always)]
    pub(super) fn sort<S: Simd>(
        &mut self,
        simd: S,
        list: impl Iterator<Item = (f32, u32)>,
        query: Query,
        id: &[u32],
    ) {
        self.candidates = 0;
        for (squared, row) in list.filter(|&(_, row)| row as usize != query.row) {
            (self.candidate_distance_squared[self.candidates], self.candidate_row[self.candidates]) =
                (squared, row);
            self.candidates += 1;
        }
        self.select(simd, query.most, id);
    }

    /// Squared distances (m²), nearest first.
    #[inline(always)]
    pub fn distances_squared(&self) -> &[f32] {
        &self.distance_squared[..self.found]
    }

    /// Adds those of eight who are near.
    #[inline(always)]
    fn add<S: Simd>(&mut self, distance_squared: f32x16<S>, rows: u32x16<S>, near: mask32x16<S>) {
        let at = self.candidates;
        distance_squared.compress(near).store_slice(&mut self.candidate_distance_squared[at..at + LANES]);
        rows.compress(near).store_slice(&mut self.candidate_row[at..at + LANES]);
        self.candidates = at + near.to_bitmask().count_ones() as usize;
    }

    /// Sorts the candidates by (distance, id) and keeps at most `most`.
    #[inline(always)]
    fn select<S: Simd>(&mut self, simd: S, most: usize, id: &[u32]) {
        self.rank_candidates(simd);
        let mut sum = 0;
        for candidate in 0..self.candidates {
            let place = self.rank[candidate] as usize & (BUFFER - 1);
            sum += place;
            self.distance_squared[place] = self.candidate_distance_squared[candidate];
            self.row[place] = self.candidate_row[candidate];
        }
        // Equals share the lower rank, so ties make the sum too small.
        if sum * 2 != self.candidates * self.candidates.saturating_sub(1) {
            self.sort_with_ties(id);
        }
        self.found = self.candidates.min(most);
    }

    #[inline(always)]
    fn rank_candidates<S: Simd>(&mut self, simd: S) {
        // Mostly one vector holds them all. Ranks of what stands behind the last mean nothing.
        let one = u32x16::splat(simd, 1);
        for block in (0..self.candidates).step_by(LANES) {
            let mine = f32x16::from_slice(simd, &self.candidate_distance_squared[block..block + LANES]);
            let mut nearer = u32x16::splat(simd, 0);
            for &other in &self.candidate_distance_squared[..self.candidates] {
                let is_nearer = f32x16::splat(simd, other).simd_lt(mine);
                nearer = is_nearer.select(nearer + one, nearer);
            }
            nearer.store_slice(&mut self.rank[block..block + LANES]);
        }
    }

    /// Equal distances are rare outside of regular grids, so this may take its time.
    #[cold]
    fn sort_with_ties(&mut self, id: &[u32]) {
        let mut all = [(0.0f32, 0u32, 0u32); BUFFER];
        for (candidate, slot) in all[..self.candidates].iter_mut().enumerate() {
            let row = self.candidate_row[candidate];
            *slot = (self.candidate_distance_squared[candidate], id[row as usize], row);
        }
        all[..self.candidates].sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        for (place, &(distance_squared, _, row)) in all[..self.candidates].iter().enumerate() {
            self.distance_squared[place] = distance_squared;
            self.row[place] = row;
        }
    }

    /// Lets only the nearest so far stay candidates. Returns the distance beyond which no other counts.
    #[inline(always)]
    fn shrink<S: Simd>(&mut self, simd: S, most: usize, id: &[u32]) -> f32 {
        // Not inlined: it is long and rarely needed.
        simd.vectorize(
            #[inline(always)]
            || self.select(simd, most, id),
        );
        self.candidates = self.found;
        self.candidate_distance_squared[..most].copy_from_slice(&self.distance_squared[..most]);
        self.candidate_row[..most].copy_from_slice(&self.row[..most]);
        self.distance_squared[most - 1]
    }
}

/// Finds the nearest, nearest first, ties by id. `candidates` must have been used with this index and range only.
#[inline(always)]
pub fn nearest<S: Simd>(
    simd: S,
    cells: &Cells,
    id: &[u32],
    query: Query,
    candidates: &mut Candidates,
    out: &mut Nearest,
) {
    (out.found, out.candidates) = (0, 0);
    let query = Query { most: query.most.min(MAX_NEIGHBORS), ..query };
    if query.most == 0 {
        return;
    }
    let home = cells.home(query.row);
    if candidates.cell != Some(home) {
        candidates.gather(simd, cells, home, query.range);
    }
    if candidates.len <= MOST_CANDIDATES {
        if cells.period().repeats() {
            // Not inlined: where nothing repeats it must not be in the way.
            simd.vectorize(
                #[inline(always)]
                || search_all_candidates::<S, true>(simd, cells, id, query, candidates, out),
            );
        } else {
            search_all_candidates::<S, false>(simd, cells, id, query, candidates, out);
        }
        out.select(simd, query.most, id);
        candidates.guess = if out.found == query.most {
            SPARE * out.distance_squared[query.most - 1]
        } else {
            f32::INFINITY
        };
    } else {
        simd.vectorize(
            #[inline(always)]
            || nearest_alone(simd, cells, id, query, out),
        );
    }
}

/// Strictly nearer than the range, but with `<=`, so that ties with the last one kept can come in too.
#[inline(always)]
pub(super) fn limit(query: Query) -> f32 {
    (query.range * query.range).next_down()
}

/// First within the guessed range, then, where too few were there, within the whole one.
#[inline(always)]
fn search_all_candidates<S: Simd, const REPEATS: bool>(
    simd: S,
    cells: &Cells,
    id: &[u32],
    query: Query,
    candidates: &Candidates,
    out: &mut Nearest,
) {
    let limit = limit(query);
    search_candidates::<S, REPEATS>(simd, cells, id, query, candidates, limit.min(candidates.guess), out);
    if out.candidates < query.most && candidates.guess < limit {
        out.candidates = 0;
        search_candidates::<S, REPEATS>(simd, cells, id, query, candidates, limit, out);
    }
}

#[inline(always)]
fn search_candidates<S: Simd, const REPEATS: bool>(
    simd: S,
    cells: &Cells,
    id: &[u32],
    query: Query,
    candidates: &Candidates,
    mut limit: f32,
    out: &mut Nearest,
) {
    let (x, y) = (f32x16::splat(simd, cells.x[query.row]), f32x16::splat(simd, cells.y[query.row]));
    let except = u32x16::splat(simd, query.row as u32);
    for block in (0..candidates.len).step_by(LANES) {
        let dx = f32x16::from_slice(simd, &candidates.x[block..block + LANES]) - x;
        let dy = f32x16::from_slice(simd, &candidates.y[block..block + LANES]) - y;
        let [dx, dy] = if REPEATS { cells.period().nearest_lanes(simd, [dx, dy]) } else { [dx, dy] };
        let rows = u32x16::from_slice(simd, &candidates.row[block..block + LANES]);
        let distance_squared = dx * dx + dy * dy;
        let near = distance_squared.simd_le(f32x16::splat(simd, limit)) & rows.simd_ne(except);
        out.add(distance_squared, rows, near);
        if out.candidates > BUFFER - LANES {
            limit = out.shrink(simd, query.most, id);
        }
    }
}

/// Finds the nearest cell by cell, whatever others have gathered.
#[inline(always)]
pub(super) fn nearest_alone<S: Simd>(simd: S, cells: &Cells, id: &[u32], query: Query, out: &mut Nearest) {
    (out.found, out.candidates) = (0, 0);
    search_cells(simd, cells, id, query, out);
    out.select(simd, query.most, id);
}

#[inline(always)]
fn search_cells<S: Simd>(simd: S, cells: &Cells, id: &[u32], query: Query, out: &mut Nearest) {
    let mut limit = limit(query);
    let (x, y) = (f32x16::splat(simd, cells.x[query.row]), f32x16::splat(simd, cells.y[query.row]));
    let lane = u32x16::from_slice(simd, &LANE);
    let except = u32x16::splat(simd, query.row as u32);
    cells.runs(
        cells.x[query.row],
        cells.y[query.row],
        query.range,
        #[inline(always)]
        |start, end| {
            for block in (start..end).step_by(LANES) {
                let dx = f32x16::from_slice(simd, &cells.x[block..block + LANES]) - x;
                let dy = f32x16::from_slice(simd, &cells.y[block..block + LANES]) - y;
                let [dx, dy] = cells.period().nearest_lanes(simd, [dx, dy]);
                let rows = lane + u32x16::splat(simd, block as u32);
                let distance_squared = dx * dx + dy * dy;
                let in_run = mask32x16::from_bitmask(simd, lanes_below(end - block));
                let near =
                    distance_squared.simd_le(f32x16::splat(simd, limit)) & rows.simd_ne(except) & in_run;
                out.add(distance_squared, rows, near);
                if out.candidates > BUFFER - LANES {
                    limit = out.shrink(simd, query.most, id);
                }
            }
            limit.sqrt() * (1.0 + 1e-6)
        },
    );
}

/// Calls `visit` with every row whose indexed position lies within `range` of that of `row` (itself too), in no useful
/// order. `candidates` must have been used with this index and with ranges up to `most` only.
#[inline(always)]
pub fn rows_within<S: Simd>(
    simd: S,
    cells: &Cells,
    row: usize,
    [range, most]: [f32; 2],
    candidates: &mut Candidates,
    mut visit: impl FnMut(usize),
) {
    let (home, x, y) = (cells.home(row), cells.x[row], cells.y[row]);
    if candidates.cell != Some(home) {
        candidates.gather(simd, cells, home, most);
    }
    let (ego_x, ego_y) = (f32x16::splat(simd, x), f32x16::splat(simd, y));
    let limit = f32x16::splat(simd, range * range);
    if candidates.len <= MOST_CANDIDATES {
        for block in (0..candidates.len).step_by(LANES) {
            let dx = f32x16::from_slice(simd, &candidates.x[block..block + LANES]) - ego_x;
            let dy = f32x16::from_slice(simd, &candidates.y[block..block + LANES]) - ego_y;
            let [dx, dy] = cells.period().nearest_lanes(simd, [dx, dy]);
            let mut near = (dx * dx + dy * dy).simd_le(limit).to_bitmask();
            while near != 0 {
                visit(candidates.row[block + near.trailing_zeros() as usize] as usize);
                near &= near - 1;
            }
        }
        return;
    }
    cells.runs(
        x,
        y,
        range,
        #[inline(always)]
        |start, end| {
            for block in (start..end).step_by(LANES) {
                let dx = f32x16::from_slice(simd, &cells.x[block..block + LANES]) - ego_x;
                let dy = f32x16::from_slice(simd, &cells.y[block..block + LANES]) - ego_y;
                let [dx, dy] = cells.period().nearest_lanes(simd, [dx, dy]);
                let mut near = (dx * dx + dy * dy).simd_le(limit).to_bitmask() & lanes_below(end - block);
                while near != 0 {
                    visit(block + near.trailing_zeros() as usize);
                    near &= near - 1;
                }
            }
            range
        },
    );
}

/// A bit for each of the first `count` lanes.
#[inline(always)]
pub fn lanes_below(count: usize) -> u64 {
    if count >= LANES { (1 << LANES) - 1 } else { (1 << count) - 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::{Batch, MOST_TOGETHER, Period};
    use crate::world::{Agents, Status};
    use fearless_simd::{Level, dispatch};
    use glam::Vec2;
    use proptest::prelude::*;

    /// Every instruction set of this machine that results are worked out by.
    fn levels() -> Vec<Level> {
        vec![Level::new(), Level::baseline()]
    }

    fn indexed(places: &[(f32, f32)], size: f32, period: Period) -> (Cells, Vec<u32>, Vec<(f32, f32)>) {
        let (x, y): (Vec<f32>, Vec<f32>) = places.iter().copied().unzip();
        let id: Vec<u32> = (0..places.len() as u32).rev().collect();
        let (mut cells, mut order) = (Cells::default(), Vec::new());
        cells.repeat(period);
        cells.sort(&x, &y, &id, size, &mut order);
        let sorted: Vec<(f32, f32)> = order.iter().map(|&row| places[row as usize]).collect();
        let id: Vec<u32> = order.iter().map(|&row| id[row as usize]).collect();
        let (x, y): (Vec<f32>, Vec<f32>) = sorted.iter().copied().unzip();
        let zeros = || vec![0.0; places.len()];
        cells.take(&Agents {
            id: id.clone(),
            x,
            y,
            vx: zeros(),
            vy: zeros(),
            radius: zeros(),
            responsibility: zeros(),
            status: vec![Status::Walking; places.len()],
            ..Agents::default()
        });
        (cells, id, sorted)
    }

    fn brute_force(places: &[(f32, f32)], id: &[u32], query: Query, period: Period) -> Vec<u32> {
        let mut all: Vec<(f32, u32)> = Vec::new();
        let ego = Vec2::from(places[query.row]);
        for (row, &place) in places.iter().enumerate() {
            let offset = period.nearest(Vec2::from(place) - ego);
            let d = offset.x * offset.x + offset.y * offset.y;
            if row != query.row && d < query.range * query.range {
                all.push((d, id[row]));
            }
        }
        all.sort_by(|a, b| a.partial_cmp(b).unwrap());
        all.into_iter().take(query.most).map(|(_, id)| id).collect()
    }

    /// Coordinates on a coarse lattice make ties frequent; a few far ones fold onto the same cells.
    fn place() -> impl Strategy<Value = (f32, f32)> {
        prop_oneof![
            8 => (-40i32..40, -40i32..40).prop_map(|(x, y)| (x as f32 * 0.5, y as f32 * 0.5)),
            2 => (-20.0f32..20.0, -20.0f32..20.0),
            1 => (-1e7f32..1e7, -1e7f32..1e7),
        ]
    }

    proptest! {
        #[test]
        fn agrees_with_brute_force(
            places in proptest::collection::vec(place(), 1..400),
            range in 0.1f32..30.0,
            most in 0usize..=MAX_NEIGHBORS,
            size in 0.3f32..10.0,
            who in 0usize..400,
        ) {
            let (cells, id, places) = indexed(&places, size, Period::default());
            let row = who % places.len();
            let query = Query { row, range, most };
            let (mut candidates, mut found) = (Candidates::default(), Nearest::default());
            let mut too_many = Candidates { cell: Some(cells.home(row)), len: MOST_CANDIDATES + 1, ..Candidates::default() };
            for candidates in [&mut candidates, &mut too_many] {
                dispatch!(Level::new(), simd => nearest(simd, &cells, &id, query, candidates, &mut found));
                let found: Vec<u32> = found.rows().iter().map(|&row| id[row as usize]).collect();
                prop_assert_eq!(found, brute_force(&places, &id, query, Period::default()));
            }
        }

        #[test]
        fn agrees_with_brute_force_across_seams(
            places in proptest::collection::vec(place(), 1..200),
            length in (1.0f32..60.0, 1.0f32..60.0),
            low in (-30i32..30, -30i32..30),
            axes in 1..4,
            range in 0.1f32..30.0,
            most in 0usize..=MAX_NEIGHBORS,
            size in 0.3f32..10.0,
            who in 0usize..200,
        ) {
            let used = |axis: i32, length: f32| if axes & (1 << axis) > 0 { length } else { 0.0 };
            let length = Vec2::new(used(0, length.0), used(1, length.1));
            let period = Period::new(Vec2::new(low.0 as f32, low.1 as f32), length);
            let places: Vec<(f32, f32)> = places.iter().map(|&place| period.fold(place.into()).0.into()).collect();
            let (cells, id, places) = indexed(&places, size, period);
            let row = who % places.len();
            let query = Query { row, range, most };
            let (mut candidates, mut found) = (Candidates::default(), Nearest::default());
            let mut too_many = Candidates { cell: Some(cells.home(row)), len: MOST_CANDIDATES + 1, ..Candidates::default() };
            for candidates in [&mut candidates, &mut too_many] {
                dispatch!(Level::new(), simd => nearest(simd, &cells, &id, query, candidates, &mut found));
                let found: Vec<u32> = found.rows().iter().map(|&row| id[row as usize]).collect();
                prop_assert_eq!(found, brute_force(&places, &id, query, period));
            }
            let mut within = Vec::new();
            dispatch!(Level::new(), simd => {
                rows_within(simd, &cells, row, [range, range], &mut Candidates::default(), |other| within.push(other))
            });
            within.sort_unstable();
            let near = |other: &usize| {
                let offset = period.nearest(Vec2::from(places[*other]) - Vec2::from(places[row]));
                offset.x * offset.x + offset.y * offset.y <= range * range
            };
            prop_assert_eq!(within, (0..places.len()).filter(near).collect::<Vec<_>>());
        }
    }

    proptest! {
        #[test]
        fn sixteen_together_find_what_each_finds_alone(
            places in proptest::collection::vec(place(), 1..400),
            scattered in proptest::collection::vec((-20.0f32..20.0, -20.0f32..20.0), 0..400),
            range in 0.1f32..30.0,
            most in 1usize..=MOST_TOGETHER,
            size in 0.3f32..10.0,
        ) {
            let places: Vec<(f32, f32)> = places.into_iter().take(1 + (most * 37) % 400).chain(scattered).collect();
            let (cells, id, places) = indexed(&places, size, Period::default());
            for level in levels() {
                let mut batch = Batch::default();
                for first in (0..places.len()).step_by(LANES) {
                    let count = LANES.min(places.len() - first);
                    let query = Query { row: first, range, most };
                    dispatch!(level, simd => batch.find(simd, &cells, &id, query, count));
                    for lane in 0..count {
                        let found: Vec<u32> = batch.rows(lane).map(|row| id[row as usize]).collect();
                        let query = Query { row: first + lane, ..query };
                        prop_assert_eq!(found, brute_force(&places, &id, query, Period::default()));
                    }
                    let own = |lane: usize| (batch.found[lane] as usize..most).all(|k| batch.row[k][lane] as usize == first + lane);
                    prop_assert!((0..count).all(own), "who is not there is looked up as oneself");
                }
            }
        }
    }

    #[test]
    fn order_does_not_depend_on_the_order_before() {
        let places: Vec<(f32, f32)> =
            (0..200).map(|i| ((i * 37 % 61) as f32, (i * 17 % 53) as f32)).collect();
        let id: Vec<u32> = (0..200).collect();
        let by_id = |rows: &[usize]| {
            let x: Vec<f32> = rows.iter().map(|&row| places[row].0).collect();
            let y: Vec<f32> = rows.iter().map(|&row| places[row].1).collect();
            let id: Vec<u32> = rows.iter().map(|&row| id[row]).collect();
            let (mut cells, mut order) = (Cells::default(), Vec::new());
            cells.sort(&x, &y, &id, 3.0, &mut order);
            order.iter().map(|&row| id[row as usize]).collect::<Vec<_>>()
        };
        let forwards: Vec<usize> = (0..200).collect();
        let backwards: Vec<usize> = (0..200).rev().collect();
        assert_eq!(by_id(&forwards), by_id(&backwards));
    }
}
