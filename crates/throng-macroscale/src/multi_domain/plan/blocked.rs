//! Cells of the grid that those who stand leave no room in.

use crate::domain::grid::Grid;
use glam::DVec2;

/// Marks in a rectangle of cells around discs: asked once for every step of a search, and each disc is looked at once.
#[derive(Debug)]
pub(crate) struct Blocked {
    /// The first column and line.
    first: [u32; 2],
    columns: u32,
    lines: u32,
    marks: Vec<u64>,
}

impl Blocked {
    /// By discs: where, and as near as the middle of a body can come.
    pub fn new(grid: &Grid, discs: &[(DVec2, f64)]) -> Blocked {
        let boxes = discs.iter().filter_map(|&(at, reach)| grid.cells_between(at - reach, at + reach));
        let all = boxes
            .clone()
            .reduce(|[[a, b], [c, d]], [[e, f], [g, h]]| [[a.min(e), b.min(f)], [c.max(g), d.max(h)]]);
        let Some([first, last]) = all else {
            return Blocked { first: [0; 2], columns: 0, lines: 0, marks: Vec::new() };
        };
        let [columns, lines] = [last[0] - first[0] + 1, last[1] - first[1] + 1];
        let words = (columns as usize * lines as usize).div_ceil(64);
        let mut blocked = Blocked { first, columns, lines, marks: vec![0; words] };
        for &(at, reach) in discs {
            blocked.mark(grid, at, reach);
        }
        blocked
    }

    fn mark(&mut self, grid: &Grid, at: DVec2, reach: f64) {
        let Some([low, high]) = grid.cells_between(at - reach, at + reach) else { return };
        for line in low[1]..=high[1] {
            for column in low[0]..=high[0] {
                let cell = line * grid.columns() + column;
                if grid.place(cell).distance_squared(at) < reach * reach {
                    let mark = self.mark_of([column, line]).unwrap_or_default();
                    self.marks[mark / 64] |= 1 << (mark % 64);
                }
            }
        }
    }

    fn mark_of(&self, [column, line]: [u32; 2]) -> Option<usize> {
        let (column, line) = (column.wrapping_sub(self.first[0]), line.wrapping_sub(self.first[1]));
        (column < self.columns && line < self.lines)
            .then(|| line as usize * self.columns as usize + column as usize)
    }

    /// Whether there is no room in a cell.
    pub fn is_blocked(&self, grid: &Grid, cell: u32) -> bool {
        let mark = self.mark_of([cell % grid.columns(), cell / grid.columns()]);
        mark.is_some_and(|mark| self.marks[mark / 64] >> (mark % 64) & 1 == 1)
    }
}
