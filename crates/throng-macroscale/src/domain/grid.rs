//! # Grid domain Σ3 (Kapadia et al. 2013, section 4.1)
//! Square cells with eight neighbours. An agent is a disc; a step is possible where the disc meets no wall on its way from
//! middle to middle, and no body that stands there now. Costs are lengths.
//!
//! Deviations:
//! - No corner is cut: a diagonal step needs both cells beside it free. The paper does not say; an agent that follows the plan
//!   with a body would touch there.
//! - The heuristic is the length of the best path on an empty grid (octile). The paper's Euclidean one is smaller, so it
//!   looks at more cells for the same ways.
//! - A cell with a body on it can be left and not entered, so that an agent that is touched can still plan.

use super::Placed;
use crate::search::Domain;
use crate::space::Space;
use glam::DVec2;
use std::f64::consts::SQRT_2;
use throng_core::parallel;
use throng_core::space::Wall;

/// Free space for bodies of one radius in square cells, numbered line by line.
#[derive(Clone, Debug)]
pub struct Grid {
    /// The lower left corner of cell 0, m.
    low: DVec2,
    /// Side of a cell, m.
    side: f64,
    radius: f64,
    columns: u32,
    lines: u32,
    /// Which of the eight steps no wall forbids, a bit each; see [`STEPS`]. Zero where a body cannot be.
    open: Vec<u8>,
    /// How many bodies stand in the way of a cell.
    bodies: Vec<u16>,
}

/// Where a grid is and how fine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GridSpec {
    /// The lower left corner, m.
    pub low: DVec2,
    /// The upper right corner, m.
    pub high: DVec2,
    /// Side of a cell, m. Above 0.
    pub side: f64,
    /// Radius of the bodies that plan, m. At least 0.
    pub radius: f64,
}

/// Why there is no grid.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum GridError {
    /// A number that is none, or out of bounds.
    #[error("a grid from ({}, {}) to ({}, {}) with cells of {} m for a radius of {} m: all must be finite, the cells above 0",
        spec.low.x, spec.low.y, spec.high.x, spec.high.y, spec.side, spec.radius)]
    Spec {
        /// As given.
        spec: GridSpec,
    },
    /// More cells than numbers.
    #[error("{cells:.0} cells are too many: at most {}; take larger ones", MOST_CELLS)]
    TooMany {
        /// How many.
        cells: f64,
    },
}

/// Cells that one thread makes.
const CELLS_AT_A_TIME: usize = 4096;

/// More cells than this are a mistake.
pub const MOST_CELLS: u32 = 1 << 26;

/// The eight steps as columns and lines, counter-clockwise from the east: straight ones are even.
const STEPS: [(i32, i32); 8] = [(1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1)];
/// The order in which steps are tried: straight ones first, which decides between ways of equal length.
const ORDER: [usize; 8] = [0, 2, 4, 6, 1, 3, 5, 7];

impl Grid {
    /// A grid over a rectangle between walls.
    pub fn between(walls: &[Wall], spec: GridSpec) -> Result<Grid, GridError> {
        let mut grid = Grid::empty(spec)?;
        let space = Space::new(walls, spec.radius as f32);
        let keep = space.keep();
        let cells = grid.len() as usize;
        // Most steps begin further from all walls than they lead.
        let enough = spec.radius + grid.side * SQRT_2 + 1e-3;
        let around = Space::new(walls, (enough + 1e-3) as f32);
        let clearance = |cell: usize| around.clearance(grid.place(cell as u32));
        let room: Vec<f64> = parallel::map(CELLS_AT_A_TIME, cells, &clearance);
        let free: Vec<bool> = room.iter().map(|&room| room >= keep).collect();
        let place = |cell: u32| grid.place(cell);
        let is_clear = |from: u32, to: u32| {
            room[from as usize] >= enough || space.is_clear(place(from), place(to), keep)
        };
        grid.open = grid.steps(&free, is_clear);
        Ok(grid)
    }

    /// A grid whose cells are free or not, as other programs have them. `free` is asked for column and line.
    pub fn of_cells(
        columns: u32,
        lines: u32,
        side: f64,
        free: impl Fn(u32, u32) -> bool,
    ) -> Result<Grid, GridError> {
        let high = DVec2::new(f64::from(columns), f64::from(lines)) * side;
        let mut grid = Grid::empty(GridSpec { low: DVec2::ZERO, high, side, radius: 0.0 })?;
        let free: Vec<bool> =
            (0..grid.len()).map(|cell| free(cell % grid.columns, cell / grid.columns)).collect();
        grid.open = grid.steps(&free, |_, _| true);
        Ok(grid)
    }

    fn empty(spec: GridSpec) -> Result<Grid, GridError> {
        let GridSpec { low, high, side, radius } = spec;
        let fine = low.is_finite() && high.is_finite() && radius.is_finite() && radius >= 0.0;
        let size = (high - low) / side;
        if !(fine && side > 0.0 && size.is_finite() && size.min_element() > 0.0) {
            return Err(GridError::Spec { spec });
        }
        // A rectangle that cells fit into exactly must not get another line by rounding.
        let count = (size - 1e-9).ceil().max(DVec2::ONE);
        if count.x * count.y > f64::from(MOST_CELLS) {
            return Err(GridError::TooMany { cells: count.x * count.y });
        }
        let (columns, lines) = (count.x as u32, count.y as u32);
        let cells = (columns * lines) as usize;
        Ok(Grid { low, side, radius, columns, lines, open: vec![0; cells], bodies: vec![0; cells] })
    }

    /// The steps between free cells that nothing else is in the way of.
    fn steps(&self, free: &[bool], is_clear: impl Fn(u32, u32) -> bool + Sync) -> Vec<u8> {
        let is_open = |cell: u32, step: usize| {
            let Some(next) = self.step(cell, step).filter(|&next| free[next as usize]) else { return false };
            let beside = |step: usize| self.step(cell, step).is_some_and(|cell| free[cell as usize]);
            let cuts = step % 2 == 1 && !(beside(step - 1) && beside(step + 1));
            !cuts && is_clear(cell, next)
        };
        let half = |cell: usize| {
            let open = (0..4).filter(|&step| free[cell] && is_open(cell as u32, step));
            open.fold(0, |open, step| open | 1 << step)
        };
        let mut open: Vec<u8> = parallel::map(CELLS_AT_A_TIME, free.len(), &half);
        // The other four are these, seen from their ends.
        for cell in 0..self.len() {
            let own = open[cell as usize];
            for step in (0..4).filter(|&step| own >> step & 1 == 1) {
                if let Some(next) = self.step(cell, step) {
                    open[next as usize] |= 1 << (step + 4);
                }
            }
        }
        open
    }

    /// How many cells there are.
    #[allow(clippy::len_without_is_empty, reason = "no grid is empty")]
    pub fn len(&self) -> u32 {
        self.columns * self.lines
    }

    /// Cells in a line.
    pub fn columns(&self) -> u32 {
        self.columns
    }

    /// Side of a cell, m.
    pub fn side(&self) -> f64 {
        self.side
    }

    /// The middle of a cell, m.
    pub fn place(&self, cell: u32) -> DVec2 {
        let (column, line) = (cell % self.columns, cell / self.columns);
        self.low + DVec2::new(f64::from(column) + 0.5, f64::from(line) + 0.5) * self.side
    }

    /// The cell that a place is in.
    pub fn cell_at(&self, place: DVec2) -> Option<u32> {
        let at = ((place - self.low) / self.side).floor();
        let inside = at.x >= 0.0 && at.y >= 0.0 && at.x < self.columns.into() && at.y < self.lines.into();
        inside.then(|| at.y as u32 * self.columns + at.x as u32)
    }

    /// Columns and lines, from and to, of the cells whose middles are in a box; `None` where there are none.
    pub fn cells_between(&self, low: DVec2, high: DVec2) -> Option<[[u32; 2]; 2]> {
        let first = ((low - self.low) / self.side - 0.5).ceil().max(DVec2::ZERO);
        let last = DVec2::new(f64::from(self.columns - 1), f64::from(self.lines - 1));
        let last = ((high - self.low) / self.side - 0.5).floor().min(last);
        first.cmple(last).all().then(|| [first, last].map(|at| [at.x as u32, at.y as u32]))
    }

    /// The nearest cell within a distance that can be left and entered; λ from a place to the grid.
    pub fn nearest(&self, place: DVec2, within: f64) -> Option<u32> {
        let reach = (within / self.side).ceil();
        let at = ((place - self.low) / self.side).floor();
        let range = |middle: f64, cells: u32| {
            let last = f64::from(cells) - 1.0;
            (middle - reach).clamp(0.0, last) as u32..=(middle + reach).clamp(0.0, last) as u32
        };
        let cells = range(at.y, self.lines)
            .flat_map(|line| range(at.x, self.columns).map(move |column| line * self.columns + column));
        let usable = cells.filter(|&cell| self.open[cell as usize] != 0 && self.bodies[cell as usize] == 0);
        let nearest = usable.map(|cell| (self.place(cell).distance(place), cell));
        nearest.filter(|near| near.0 <= within).min_by(|a, b| a.0.total_cmp(&b.0)).map(|near| near.1)
    }

    /// Whether walls leave room in a cell and no body is there.
    pub fn is_free(&self, cell: u32) -> bool {
        self.open[cell as usize] != 0 && self.bodies[cell as usize] == 0
    }

    /// A body stands somewhere, from now on. Adds the cells whose steps may have changed, for
    /// [`edges_changed`](crate::search::AnytimeDynamicAstar::edges_changed).
    pub fn add_body(&mut self, at: DVec2, radius: f64, changed: &mut Vec<u32>) {
        self.count_body(at, radius, changed, |count| count.saturating_add(1));
    }

    /// The body is gone from there: the same place and radius as when it was added.
    pub fn remove_body(&mut self, at: DVec2, radius: f64, changed: &mut Vec<u32>) {
        self.count_body(at, radius, changed, |count| count.saturating_sub(1));
    }

    fn count_body(&mut self, at: DVec2, radius: f64, changed: &mut Vec<u32>, count: impl Fn(u16) -> u16) {
        let reach = radius + self.radius;
        let low = ((at - reach - self.low) / self.side - 0.5).ceil().max(DVec2::ZERO);
        let high = ((at + reach - self.low) / self.side - 0.5).floor();
        if !(low.is_finite() && high.is_finite() && high.min_element() >= 0.0) {
            return;
        }
        let last = DVec2::new(f64::from(self.columns - 1), f64::from(self.lines - 1));
        let high = high.min(last);
        for line in low.y as u32..(high.y + 1.0) as u32 {
            for column in low.x as u32..(high.x + 1.0) as u32 {
                let cell = line * self.columns + column;
                if self.place(cell).distance_squared(at) < reach * reach {
                    let before = self.bodies[cell as usize];
                    self.bodies[cell as usize] = count(before);
                    if (before == 0) != (self.bodies[cell as usize] == 0) {
                        changed.push(cell);
                        changed.extend((0..STEPS.len()).filter_map(|step| self.step(cell, step)));
                    }
                }
            }
        }
    }

    #[inline(always)]
    fn step(&self, cell: u32, step: usize) -> Option<u32> {
        let (dx, dy) = STEPS[step % STEPS.len()];
        let column = (cell % self.columns) as i32 + dx;
        let line = (cell / self.columns) as i32 + dy;
        let inside = column >= 0 && line >= 0 && column < self.columns as i32 && line < self.lines as i32;
        inside.then(|| line as u32 * self.columns + column as u32)
    }

    /// The neighbour of an open step: a grid ends with closed ones, so there is one.
    #[inline(always)]
    fn neighbour(&self, cell: u32, step: usize) -> u32 {
        let (dx, dy) = STEPS[step % STEPS.len()];
        (i64::from(cell) + i64::from(dy) * i64::from(self.columns) + i64::from(dx)) as u32
    }

    #[inline(always)]
    fn has_body(&self, cell: u32) -> bool {
        self.bodies[cell as usize] > 0
    }

    /// Whether a diagonal step would cut the corner of a body.
    #[inline(always)]
    fn cuts_a_body(&self, cell: u32, step: usize) -> bool {
        step % 2 == 1
            && (self.has_body(self.neighbour(cell, step - 1))
                || self.has_body(self.neighbour(cell, step + 1)))
    }

    #[inline(always)]
    fn length(&self, step: usize) -> f32 {
        self.side as f32 * if step % 2 == 1 { std::f32::consts::SQRT_2 } else { 1.0 }
    }
}

impl Domain for Grid {
    type State = u32;

    #[inline]
    fn successors(&self, cell: u32, out: &mut Vec<(u32, f32)>) {
        let open = self.open[cell as usize];
        for step in ORDER.into_iter().filter(|step| open & (1 << step) != 0) {
            let next = self.neighbour(cell, step);
            if !self.has_body(next) && !self.cuts_a_body(cell, step) {
                out.push((next, self.length(step)));
            }
        }
    }

    #[inline]
    fn predecessors(&self, cell: u32, out: &mut Vec<(u32, f32)>) {
        if self.has_body(cell) {
            return;
        }
        let open = self.open[cell as usize];
        for step in ORDER.into_iter().filter(|step| open & (1 << step) != 0) {
            if !self.cuts_a_body(cell, step) {
                out.push((self.neighbour(cell, step), self.length(step)));
            }
        }
    }

    #[inline]
    fn heuristic(&self, from: u32, to: u32) -> f32 {
        let dx = (from % self.columns).abs_diff(to % self.columns) as f32;
        let dy = (from / self.columns).abs_diff(to / self.columns) as f32;
        (dx.max(dy) + (std::f32::consts::SQRT_2 - 1.0) * dx.min(dy)) * self.side as f32
    }
}

impl Placed for Grid {
    fn place_of(&self, cell: u32) -> Option<DVec2> {
        Some(self.place(cell))
    }

    fn longest_step(&self) -> (f64, f64) {
        (self.side * std::f64::consts::SQRT_2, 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::{Aim, Astar, Budget};

    fn wall(a: [f32; 2], b: [f32; 2]) -> Wall {
        Wall { a: a.into(), b: b.into(), two_sided: true }
    }

    fn spec(size: f64) -> GridSpec {
        GridSpec { low: DVec2::ZERO, high: DVec2::splat(size), side: 1.0, radius: 0.3 }
    }

    fn cost(grid: &Grid, from: [f64; 2], to: [f64; 2]) -> Option<f32> {
        let (from, to) = (grid.cell_at(from.into()).unwrap(), grid.cell_at(to.into()).unwrap());
        let mut astar = Astar::default();
        astar.find(grid, from, Aim::At(to), Budget::unlimited());
        astar.cost()
    }

    #[test]
    fn a_thin_wall_between_middles_is_not_walked_through() {
        let grid = Grid::between(&[wall([5.0, 0.0], [5.0, 8.0])], spec(10.0)).unwrap();
        let around = cost(&grid, [4.5, 0.5], [5.5, 0.5]).unwrap();
        assert!(around > 16.0, "{around}");
        let grid = Grid::between(&[wall([5.0, -1.0], [5.0, 11.0])], spec(10.0)).unwrap();
        assert_eq!(cost(&grid, [4.5, 0.5], [5.5, 0.5]), None);
    }

    #[test]
    fn no_corner_is_cut() {
        let grid = Grid::of_cells(2, 2, 1.0, |column, line| column + line != 1 || line == 0).unwrap();
        assert_eq!(cost(&grid, [0.5, 0.5], [1.5, 1.5]), Some(2.0));
    }

    #[test]
    fn bodies_are_in_the_way_until_they_are_gone() {
        let mut grid = Grid::between(&[], spec(10.0)).unwrap();
        let straight = cost(&grid, [0.5, 4.5], [9.5, 4.5]);
        let mut changed = Vec::new();
        grid.add_body(DVec2::new(5.0, 4.5), 1.0, &mut changed);
        assert!(cost(&grid, [0.5, 4.5], [9.5, 4.5]) > straight);
        assert!(changed.contains(&44) && !changed.contains(&0));
        // An agent that stands where the body is gets away, and none gets there.
        assert!(cost(&grid, [5.5, 4.5], [9.5, 4.5]).is_some());
        assert_eq!(cost(&grid, [9.5, 4.5], [5.5, 4.5]), None);
        grid.remove_body(DVec2::new(5.0, 4.5), 1.0, &mut changed);
        assert_eq!(cost(&grid, [0.5, 4.5], [9.5, 4.5]), straight);
    }

    #[test]
    fn successors_and_predecessors_tell_of_the_same_steps() {
        let mut grid = Grid::between(&[wall([2.0, 2.5], [8.0, 6.0])], spec(12.0)).unwrap();
        grid.add_body(DVec2::new(6.2, 2.2), 0.9, &mut Vec::new());
        let mut edges = Vec::new();
        let (mut there, mut back) = (Vec::new(), Vec::new());
        for cell in 0..grid.len() {
            edges.clear();
            grid.successors(cell, &mut edges);
            there.extend(edges.iter().map(|&(next, cost)| (cell, next, cost.to_bits())));
            edges.clear();
            grid.predecessors(cell, &mut edges);
            back.extend(edges.iter().map(|&(before, cost)| (before, cell, cost.to_bits())));
        }
        there.sort_unstable();
        back.sort_unstable();
        assert_eq!(there, back);
    }

    #[test]
    fn the_nearest_cell_of_a_place_in_a_wall_is_beside_it() {
        let grid = Grid::between(&[wall([5.5, 0.0], [5.5, 10.0])], spec(10.0)).unwrap();
        let near = grid.nearest(DVec2::new(5.4, 3.4), 2.0).unwrap();
        assert_eq!(grid.place(near), DVec2::new(4.5, 3.5));
        assert_eq!(grid.nearest(DVec2::new(5.4, 3.4), 0.2), None);
    }

    #[test]
    fn bad_layouts_get_an_error() {
        let bad = GridSpec { side: 0.0, ..spec(1.0) };
        assert!(matches!(Grid::between(&[], bad), Err(GridError::Spec { .. })));
        let fine = GridSpec { side: 1e-6, ..spec(100.0) };
        assert!(matches!(Grid::between(&[], fine), Err(GridError::TooMany { .. })));
    }
}
