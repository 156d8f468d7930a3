//! Where people get on slowly: a field that one step leaves to the planners of the next.

use glam::{DVec2, IVec2, Vec2};
use serde::{Deserialize, Serialize};

/// Cells in which walkers get on slowly. Each has a vector along which they want to go: a metre along it counts by its length
/// more. An agent that turns its back on a jam is not held up by it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Jam {
    /// Differs from what it was before whenever cells have changed.
    pub version: u64,
    /// Side of a cell, m.
    side: f64,
    /// In the order of (y, x).
    cells: Vec<(IVec2, Vec2)>,
    /// What all cells lie within, m from the world's origin.
    low: DVec2,
    high: DVec2,
    /// The same cells, line by line from the first to the last, where they are not too far apart: found without a search.
    /// Empty after a checkpoint, which changes no answer.
    #[serde(skip)]
    lines: Vec<Vec2>,
    #[serde(skip)]
    width: i32,
}

/// More cells than this are not laid out in lines.
const MOST_IN_LINES: i64 = 1 << 16;

impl Jam {
    /// From cells of a side, m, each once.
    pub fn new(version: u64, side: f32, mut cells: Vec<(IVec2, Vec2)>) -> Jam {
        cells.sort_unstable_by_key(|(cell, _)| (cell.y, cell.x));
        let side = f64::from(side);
        let low = cells.iter().fold(DVec2::MAX, |low, (cell, _)| low.min(cell.as_dvec2() * side));
        let high = cells.iter().fold(DVec2::MIN, |high, (cell, _)| high.max((cell.as_dvec2() + 1.0) * side));
        let mut jam = Jam { version, side, cells, low, high, ..Jam::default() };
        jam.lay_out();
        jam
    }

    fn first(&self) -> IVec2 {
        (self.low / self.side).round().as_ivec2()
    }

    fn lay_out(&mut self) {
        let size = ((self.high - self.low) / self.side).round();
        let (width, height) = (size.x as i64, size.y as i64);
        if self.cells.is_empty() || width.saturating_mul(height) > MOST_IN_LINES {
            return;
        }
        (self.width, self.lines) = (width as i32, vec![Vec2::ZERO; (width * height) as usize]);
        for &(cell, hold) in &self.cells {
            let offset = cell - self.first();
            self.lines[(offset.y * self.width + offset.x) as usize] = hold;
        }
    }

    /// Whether people get on everywhere.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// Its cells, and what holds walkers up in them.
    pub fn cells(&self) -> &[(IVec2, Vec2)] {
        &self.cells
    }

    /// What holds walkers up in a cell.
    pub fn hold(&self, cell: IVec2) -> Vec2 {
        let found = self.cells.binary_search_by_key(&(cell.y, cell.x), |(cell, _)| (cell.y, cell.x));
        found.map_or(Vec2::ZERO, |index| self.cells[index].1)
    }

    /// As how much longer than it is a straight way counts, m.
    pub fn delay(&self, from: DVec2, to: DVec2) -> f64 {
        let Some((from, to)) = (!self.is_empty()).then(|| self.within(from, to)).flatten() else {
            return 0.0;
        };
        let length = from.distance(to).min(MOST_PIECES * self.side);
        let pieces = (length / self.side).ceil().max(1.0);
        let step = (to - from) / pieces;
        let (first, per_metre) = (self.first(), 1.0 / self.side);
        let hold = |cell: IVec2| {
            if self.lines.is_empty() {
                return self.hold(cell);
            }
            let offset = cell.wrapping_sub(first);
            let inside = offset.x >= 0 && offset.x < self.width && offset.y >= 0;
            let at =
                if inside { offset.y as usize * self.width as usize + offset.x as usize } else { usize::MAX };
            self.lines.get(at).copied().unwrap_or_default()
        };
        let held_up = |piece: usize| {
            let place = from + step * (piece as f64 + 0.5);
            hold((place * per_metre).floor().as_ivec2()).as_dvec2().dot(step).max(0.0)
        };
        (0..pieces as usize).map(held_up).sum()
    }

    /// The part of a straight way that lies within the outermost cells.
    fn within(&self, from: DVec2, to: DVec2) -> Option<(DVec2, DVec2)> {
        let way = to - from;
        let (mut begin, mut end) = (0.0f64, 1.0f64);
        for axis in 0..2 {
            let (low, high) = (self.low[axis] - from[axis], self.high[axis] - from[axis]);
            if way[axis] == 0.0 {
                if low > 0.0 || high < 0.0 {
                    return None;
                }
            } else {
                let (a, b) = (low / way[axis], high / way[axis]);
                (begin, end) = (begin.max(a.min(b)), end.min(a.max(b)));
            }
        }
        (begin < end).then(|| (from + way * begin, from + way * end))
    }
}

/// Bounds the work on a way through a jam that is very wide beside its cells: pieces grow instead.
const MOST_PIECES: f64 = 500.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_into_a_jam_counts_as_longer_and_out_of_it_does_not() {
        let jam =
            Jam::new(1, 5.0, vec![(IVec2::new(1, 0), Vec2::new(3.0, 0.0)), (IVec2::new(0, -1), Vec2::Y)]);
        // From 0 to 5 free, from 5 to 10 four times as long, from 10 to 20 free.
        let (a, b) = (DVec2::new(0.0, 2.0), DVec2::new(20.0, 2.0));
        assert!((jam.delay(a, b) - 15.0).abs() < 1e-9, "{}", jam.delay(a, b));
        assert_eq!(jam.delay(b, a), 0.0);
        // However long the way is.
        let far = DVec2::new(1e5, 0.0);
        assert!((jam.delay(a - far, b + far) - 15.0).abs() < 1e-6, "{}", jam.delay(a - far, b + far));
        assert_eq!(jam.delay(DVec2::new(0.0, 20.0), DVec2::new(3.0, 24.0)), 0.0);
        let saved = Jam { lines: Vec::new(), ..jam.clone() };
        assert_eq!(saved.delay(a, b), jam.delay(a, b));
        assert_eq!(Jam::default().delay(DVec2::ZERO, DVec2::new(3.0, 4.0)), 0.0);
    }
}
