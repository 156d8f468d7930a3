//! Cell lists: a grid of square cells, agents sorted by cell, so that a row of cells is a run of rows.
//!
//! The grid is a torus with a power of two of cells a side: a place far away folds onto the same cells and is
//! told apart by its distance. So the memory follows the number of agents and never the size of the map, and one
//! agent a thousand kilometres away costs nothing. Where space repeats, the way round the torus is the period, and a place
//! beyond a seam is told apart by its nearest image.

use super::{Body, Period};
use crate::parallel::{for_chunks, join};
use crate::world::Agents;
use fearless_simd::Level;
use glam::Vec2;

/// A neighbour index. Rows of the agents' columns must be in [`Cells::sort`]'s order.
#[derive(Clone, Debug, Default)]
pub struct Cells {
    /// Positions in the index's order, padded so that a vector load may run past the end.
    pub(super) x: Vec<f32>,
    pub(super) y: Vec<f32>,
    bodies: Vec<Body>,
    /// First row of each cell, and the number of rows at the end.
    first: Vec<u32>,
    /// How space repeats.
    period: Period,
    /// Where the first cell begins, m, and how many cells there are to a metre.
    low: Vec2,
    per_metre: Vec2,
    /// What rounding may take of a range across a seam, m.
    slack: f32,
    columns: i32,
    lines: i32,
    /// By the row before sorting, and by the row after it.
    cell_of: Vec<u32>,
    cell: Vec<u32>,
    /// Mean number of agents in an agent's cell.
    company: f32,
}

/// What rounding may take of a distance across a seam, for each metre of a coordinate.
const SEAM_SLACK: f32 = 4e-6;

/// What follows the last position: further away than any neighbour can be, and not a number to compare equal.
const PADDING: f32 = f32::INFINITY;

impl Cells {
    /// Sorts agents by (cell, id) and writes their present rows into `order`, in the new order. `size` is the
    /// cells' side in metres. By id within a cell, so that the order does not depend on the past.
    pub fn sort(&mut self, x: &[f32], y: &[f32], id: &[u32], size: f32, order: &mut Vec<u32>) {
        self.shape(x.len(), size);
        self.find_cells(x, y);
        self.count();
        self.place(id, order);
    }

    /// Lets space repeat from the next sorting on, which must be given places in the cell.
    pub fn repeat(&mut self, period: Period) {
        self.period = period;
    }

    /// How space repeats.
    #[inline(always)]
    pub fn period(&self) -> &Period {
        &self.period
    }

    /// What others see of each agent, by row.
    #[inline(always)]
    pub fn bodies(&self) -> &[Body] {
        &self.bodies
    }

    /// Takes over what others see, once the columns are in order.
    pub fn take(&mut self, agents: &Agents) {
        let padded = agents.len() + super::LANES;
        self.x.resize(padded, PADDING);
        self.y.resize(padded, PADDING);
        self.x[agents.len()..].fill(PADDING);
        self.bodies.resize(agents.len(), Body::default());
        const C: usize = crate::CHUNK;
        let level = Level::new();
        let columns = (&mut self.bodies[..], &mut self.x[..], &mut self.y[..]);
        for_chunks(C, columns, &|chunk, (bodies, x, y)| {
            let rows = chunk * C..chunk * C + bodies.len();
            x[..bodies.len()].copy_from_slice(&agents.x[rows.clone()]);
            y[..bodies.len()].copy_from_slice(&agents.y[rows.clone()]);
            crate::dispatch!(level, simd => Body::fill(simd, agents, rows.start, bodies));
        });
    }

    /// Takes over what others see of one row that has stayed where it is.
    pub(crate) fn refresh(&mut self, agents: &Agents, row: usize) {
        self.bodies[row] = Body::of(agents, row);
    }

    /// How many agents are indexed.
    pub fn len(&self) -> usize {
        self.cell_of.len()
    }

    /// Whether the index is empty.
    pub fn is_empty(&self) -> bool {
        self.cell_of.is_empty()
    }

    /// Four to eight cells for every one that has an agent in it: fewer fold too much, more are empty and only cost time.
    fn shape(&mut self, agents: usize, size: f32) {
        let occupied = (agents as f32 / self.company.max(1.0)) as usize;
        let cells = (4 * occupied.clamp(4, 1 << 23)).next_power_of_two();
        let bits = cells.trailing_zeros();
        (self.columns, self.lines) = (1 << bits.div_ceil(2), 1 << (bits / 2));
        (self.low, self.per_metre, self.slack) = (Vec2::ZERO, Vec2::splat(1.0 / size), 0.0);
        if self.period.repeats() {
            self.shape_torus(cells as i32, size);
        }
        self.first.clear();
        self.first.resize((self.columns * self.lines) as usize + 1, 0);
        self.cell_of.resize(agents, 0);
    }

    /// As many cells along an axis that repeats as the period has room for, none smaller than asked for, and about as many in all.
    fn shape_torus(&mut self, cells: i32, size: f32) {
        let length = self.period.length();
        let along = |length: f32, most: i32| {
            let fit = ((length / size) as i32).clamp(1, most.max(1));
            1 << fit.ilog2()
        };
        if length.x > 0.0 {
            self.columns = along(length.x, cells);
            self.per_metre.x = self.columns as f32 / length.x;
        }
        // Four of them tell runs apart that reach one cell each way.
        self.lines = (cells / self.columns).max(4);
        if length.y > 0.0 {
            self.lines = along(length.y, self.lines);
            self.per_metre.y = self.lines as f32 / length.y;
        }
        if length.x <= 0.0 {
            self.columns = (cells / self.lines).max(4);
        }
        self.low = self.period.low();
        self.slack = SEAM_SLACK * (self.low.abs() + length).max_element();
    }

    fn find_cells(&mut self, x: &[f32], y: &[f32]) {
        let (low, per_metre, columns, lines) = (self.low, self.per_metre, self.columns, self.lines);
        let chunk = crate::CHUNK;
        for_chunks(chunk, (&mut self.cell_of[..], x, y), &|_, (cells, x, y)| {
            for ((cell, &x), &y) in cells.iter_mut().zip(x).zip(y) {
                let column = coordinate(x - low.x, per_metre.x);
                let line = coordinate(y - low.y, per_metre.y);
                *cell = ((line & (lines - 1)) * columns + (column & (columns - 1))) as u32;
            }
        });
    }

    fn count(&mut self) {
        for &cell in &self.cell_of {
            self.first[cell as usize] += 1;
        }
        let (mut sum, mut squares) = (0, 0u64);
        for first in &mut self.first {
            squares += u64::from(*first) * u64::from(*first);
            sum += *first;
            *first = sum;
        }
        self.company = squares as f32 / self.cell_of.len().max(1) as f32;
    }

    /// Mean number of agents in an agent's cell: tells whether cells have the right size.
    pub fn company(&self) -> f32 {
        self.company
    }

    /// Fills cells from their ends, which leaves `first` pointing at their beginnings, then sorts each by id.
    fn place(&mut self, id: &[u32], order: &mut Vec<u32>) {
        order.resize(self.cell_of.len(), 0);
        for (row, &cell) in self.cell_of.iter().enumerate().rev() {
            let slot = &mut self.first[cell as usize];
            *slot -= 1;
            order[*slot as usize] = row as u32;
        }
        sort_cells(&self.first, id, order);
        self.cell.resize(self.cell_of.len(), 0);
        let chunk = crate::CHUNK;
        for_chunks(chunk, (&mut self.cell[..], &order[..]), &|_, (cells, order)| {
            for (cell, &row) in cells.iter_mut().zip(order) {
                *cell = self.cell_of[row as usize];
            }
        });
    }

    /// The cell that a row lies in.
    #[inline(always)]
    pub(super) fn home(&self, row: usize) -> u32 {
        self.cell[row]
    }

    /// Calls `visit` with runs of rows that together hold all agents within `range` of anywhere in a cell. Returns
    /// whether it did: where the torus is too small to tell the runs apart, it visits none.
    #[inline(always)]
    pub(super) fn runs_around(&self, cell: u32, range: f32, mut visit: impl FnMut(usize, usize)) -> bool {
        let (column, line) = (cell as i32 & (self.columns - 1), cell as i32 / self.columns);
        let each_way = |per_metre: f32| ((range + self.slack) * per_metre).min(1e9).ceil() as i32;
        let (columns_each_way, lines_each_way) = (each_way(self.per_metre.x), each_way(self.per_metre.y));
        if 2 * columns_each_way + 1 >= self.columns || 2 * lines_each_way + 1 >= self.lines {
            return false;
        }
        let from = column.wrapping_sub(columns_each_way) & (self.columns - 1);
        let to = column.wrapping_add(columns_each_way) & (self.columns - 1);
        for offset in -lines_each_way..=lines_each_way {
            let base = (line.wrapping_add(offset) & (self.lines - 1)) * self.columns;
            let mut run = |from: i32, to: i32| {
                visit(self.first[from as usize] as usize, self.first[to as usize] as usize)
            };
            if from <= to {
                run(base + from, base + to + 1);
            } else {
                run(base + from, base + self.columns);
                run(base, base + to + 1);
            }
        }
        true
    }

    /// Calls `visit` with runs of rows that together hold all agents within `range` of a place (and others),
    /// nearest line of cells first. `visit` returns how far it still wants to look, which can only shrink.
    #[inline(always)]
    pub fn runs(&self, x: f32, y: f32, mut range: f32, mut visit: impl FnMut(usize, usize) -> f32) {
        let (x, y) = (x - self.low.x, y - self.low.y);
        let per_metre = self.per_metre.y;
        let home = coordinate(y, per_metre);
        let scaled = y * per_metre;
        // Rounding must not hide a line whose edge lies just within reach.
        let slack = 1e-6 * (1.0 + scaled.abs()) + self.slack * per_metre;
        let lines_each_way = ((range + self.slack) * per_metre).min(1e9) as i32 + 1;
        let all = lines_each_way >= self.lines / 2;
        let (below, above) =
            if all { (self.lines / 2 - 1, self.lines / 2) } else { (lines_each_way, lines_each_way) };
        range = self.line(home, x, range, &mut visit);
        for offset in 1..=above {
            let upper = home.wrapping_add(offset) as f32 - scaled - slack;
            if all || upper <= range * per_metre {
                range = self.line(home.wrapping_add(offset), x, range, &mut visit);
            }
            let lower = scaled - home.wrapping_sub(offset - 1) as f32 - slack;
            if offset <= below && (all || lower <= range * per_metre) {
                range = self.line(home.wrapping_sub(offset), x, range, &mut visit);
            }
        }
    }

    /// The part of one line of cells that `range` reaches: one run, or two where it wraps around.
    #[inline(always)]
    fn line(&self, line: i32, x: f32, range: f32, visit: &mut impl FnMut(usize, usize) -> f32) -> f32 {
        let base = (line & (self.lines - 1)) * self.columns;
        let (reach, per_metre) = (range + self.slack, self.per_metre.x);
        let (from, to) = (coordinate(x - reach, per_metre), coordinate(x + reach, per_metre));
        if to.saturating_sub(from) >= self.columns - 1 {
            return self.run(base, base + self.columns, range, visit);
        }
        let (from, to) = (from & (self.columns - 1), to & (self.columns - 1));
        if from <= to {
            return self.run(base + from, base + to + 1, range, visit);
        }
        let range = self.run(base + from, base + self.columns, range, visit);
        self.run(base, base + to + 1, range, visit)
    }

    #[inline(always)]
    fn run(&self, from: i32, to: i32, range: f32, visit: &mut impl FnMut(usize, usize) -> f32) -> f32 {
        let (start, end) = (self.first[from as usize] as usize, self.first[to as usize] as usize);
        if start < end { visit(start, end) } else { range }
    }
}

/// Sorts the members of cells by id. `first` are the cells' bounds, `order` the members of all of them.
fn sort_cells(first: &[u32], id: &[u32], order: &mut [u32]) {
    let start = first[0];
    if order.len() > crate::CHUNK * 4 && first.len() > 2 {
        let middle = first.len() / 2;
        let (left, right) = order.split_at_mut((first[middle] - start) as usize);
        join(&mut || sort_cells(&first[..=middle], id, left), &mut || {
            sort_cells(&first[middle..], id, right)
        });
        return;
    }
    for cell in first.windows(2) {
        let members = &mut order[(cell[0] - start) as usize..(cell[1] - start) as usize];
        if !members.is_sorted_by_key(|&row| id[row as usize]) {
            members.sort_unstable_by_key(|&row| id[row as usize]);
        }
    }
}

/// Floor of a coordinate in cells; conversion saturates, so nothing a user can write goes wrong here.
#[inline(always)]
fn coordinate(metres: f32, per_metre: f32) -> i32 {
    let scaled = metres * per_metre;
    let truncated = scaled as i32;
    truncated.saturating_sub(i32::from((truncated as f32) > scaled))
}
