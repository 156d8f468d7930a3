//! The crowd in the map field's cells: how many agents are where, and where they are heading (section 4.1: "both a count of the
//! agents and an average of their directional vectors").
//!
//! Counts and sums are of whole numbers, so that no order of threads can change a bit.

use glam::{IVec2, Vec2};
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering::Relaxed};
use throng_core::space::RowGrid;
use throng_core::world::{Status, View};

/// Parts that headings and places within a cell are counted in.
const PARTS: f32 = 1024.0;
/// Slower than this part of its preferred speed no agent has a heading.
const STANDS: f32 = 0.1;
/// From the middle of a cell to its corners, and a little further, in cells.
const TO_CORNER: f32 = 0.75;

#[derive(Debug, Default)]
struct Tally {
    count: AtomicU32,
    heading: [AtomicI32; 2],
    /// Offsets from the cell's corner.
    offset: [AtomicI32; 2],
}

/// Counts by cell.
#[derive(Debug)]
pub(super) struct CrowdCount {
    cells: RowGrid<Tally>,
    per_square_metre: f32,
}

/// People in a cell who move alike.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Stream {
    /// The middle of them, m from the world's origin.
    pub middle: Vec2,
    /// Unit vector.
    pub heading: Vec2,
}

impl CrowdCount {
    /// In cells of a side, m.
    pub fn new(side: f32) -> CrowdCount {
        CrowdCount { cells: RowGrid::new(side), per_square_metre: 1.0 / (side * side) }
    }

    /// Counts all agents.
    pub fn count(&mut self, view: View<'_>) {
        let side = self.cells.side();
        let add = |row: usize, tally: &Tally| {
            let place = view.position(row);
            let (heading, offset) = (heading(view, row), (place / side - (place / side).floor()) * PARTS);
            tally.count.fetch_add(1, Relaxed);
            for axis in 0..2 {
                tally.heading[axis].fetch_add((heading[axis] * PARTS) as i32, Relaxed);
                tally.offset[axis].fetch_add(offset[axis] as i32, Relaxed);
            }
        };
        self.cells.lay_out(view.agents.len(), |row| view.position(row), add);
    }

    /// Persons/m² in the cell of a place.
    #[inline]
    pub fn density(&self, place: Vec2) -> f32 {
        let tally = self.cells.grid.get(self.cells.cell(place));
        tally.map_or(0.0, |tally| tally.count.load(Relaxed) as f32 * self.per_square_metre)
    }

    /// The same now and without a row. It is counted there and then: in a step few look ahead, and each at a few places.
    pub fn density_beside(&self, view: View<'_>, row: usize, place: Vec2) -> f32 {
        let (cell, side) = (self.cells.cell(place), self.cells.side());
        let is_there = |row: usize| self.cells.cell(view.position(row)) == cell;
        let (middle, range) = ((cell.as_vec2() + 0.5) * side, TO_CORNER * side);
        let mut count = 0;
        view.cells.runs(middle.x, middle.y, range, |start, end| {
            count += (start..end).filter(|&row| is_there(row)).count();
            range
        });
        let own = if is_there(row) { self.per_square_metre } else { 0.0 };
        (count as f32 * self.per_square_metre - own).max(0.0)
    }

    /// The streams within a range of a row: cells with this density or more, whose mean heading has this length or more.
    /// The row itself does not count. In the order of (y, x).
    pub fn streams(
        &self,
        view: View<'_>,
        row: usize,
        range: f32,
        least: Coherent,
    ) -> impl Iterator<Item = Stream> {
        let home = self.cells.cell(view.position(row));
        // Beyond this no agent looks, whatever its parameters say.
        let each_way = (range / self.cells.side()).ceil().min(32.0) as i32;
        let around = (-each_way..=each_way)
            .flat_map(move |y| (-each_way..=each_way).map(move |x| home.wrapping_add(IVec2::new(x, y))));
        let here = view.position(row);
        around
            .filter_map(move |cell| self.stream(view, row, cell, least))
            .filter(move |stream| stream.middle.distance_squared(here) <= range * range)
    }

    fn stream(&self, view: View<'_>, row: usize, cell: IVec2, least: Coherent) -> Option<Stream> {
        let tally = self.cells.grid.get(cell)?;
        let own = self.cells.cells.get(row) == Some(&cell);
        let others = tally.count.load(Relaxed) - u32::from(own);
        if others == 0 || (others as f32 * self.per_square_metre) < least.density {
            return None;
        }
        let pair =
            |sums: &[AtomicI32; 2]| Vec2::new(sums[0].load(Relaxed) as f32, sums[1].load(Relaxed) as f32);
        let mine = if own { heading(view, row) } else { Vec2::ZERO };
        let mean = (pair(&tally.heading) / PARTS - mine) / others as f32;
        if mean.length() < least.coherence.max(1e-3) {
            return None;
        }
        let all = tally.count.load(Relaxed) as f32;
        let middle = (cell.as_vec2() + pair(&tally.offset) / (PARTS * all)) * self.cells.side();
        Some(Stream { middle, heading: mean.normalize_or_zero() })
    }
}

/// From when on a crowd is one to follow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Coherent {
    /// Persons/m².
    pub density: f32,
    /// Length of the mean heading.
    pub coherence: f32,
}

/// Where a row is heading; zero where it stands.
fn heading(view: View<'_>, row: usize) -> Vec2 {
    let velocity = view.velocity(row);
    let stands = velocity.length_squared() < (STANDS * view.agents.preferred_speed[row]).powi(2);
    if stands || view.agents.status[row] != Status::Walking {
        Vec2::ZERO
    } else {
        velocity.normalize_or_zero()
    }
}
