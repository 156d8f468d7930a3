//! Walls as segments, and for every cell of a grid the walls that an agent there has to know of.

use super::Buckets;
use crate::geom::{closest_on_segment, det, segments_meet};
use glam::Vec2;

/// A straight piece of wall. One-sided walls bound an area that is not walkable; it lies on their right.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wall {
    /// One end.
    pub a: Vec2,
    /// The other end.
    pub b: Vec2,
    /// Whether it is an open wall, seen from both sides.
    pub two_sided: bool,
}

impl Wall {
    /// Whether a place lies on a side from which the wall is seen.
    #[inline]
    pub fn faces(&self, place: Vec2) -> bool {
        self.two_sided || det(self.b - self.a, place - self.a) >= 0.0
    }

    /// The wall's point closest to a place.
    #[inline]
    pub fn closest(&self, place: Vec2) -> Vec2 {
        closest_on_segment(place, self.a, self.b)
    }

    /// Whether a straight way meets the wall.
    #[inline]
    pub fn blocks(&self, from: Vec2, to: Vec2) -> bool {
        segments_meet(from, to, self.a, self.b)
    }
}

/// Every wall, and which are near where. Cells list walls within `range`, so a look-up is one slice.
#[derive(Clone, Debug, Default)]
pub struct Walls {
    wall: Vec<Wall>,
    range: f32,
    /// The range and what rounding may take of it, m.
    listed_range: f32,
    low: Vec2,
    per_metre: f32,
    columns: usize,
    lines: usize,
    cells: Buckets,
}

/// What rounding may take of a distance, for each metre of a map's size.
const ROUNDING: f32 = 1e-6;
/// Bounds the work on a way that is very long beside the range.
const MOST_PIECES: f32 = 1000.0;
/// Bounds the index's memory for huge maps; cells grow instead.
const MOST_CELLS_A_SIDE: f32 = 512.0;

impl Walls {
    /// The walls themselves.
    pub fn into_walls(self) -> Vec<Wall> {
        self.wall
    }

    /// Indexes walls for agents who must know of everything within `range`.
    pub fn new(wall: Vec<Wall>, range: f32) -> Walls {
        if wall.is_empty() {
            return Walls { range, ..Walls::default() };
        }
        let low = wall.iter().fold(Vec2::MAX, |low, wall| low.min(wall.a).min(wall.b));
        let high = wall.iter().fold(Vec2::MIN, |high, wall| high.max(wall.a).max(wall.b));
        let listed_range = range + ROUNDING * (low.abs().max(high.abs()).max_element() + range);
        let (low, high) = (low - listed_range, high + listed_range);
        let size = range.max((high - low).max_element() / MOST_CELLS_A_SIDE).max(1e-3);
        let cells = ((high - low) / size).ceil().max(Vec2::ONE);
        let mut walls = Walls {
            range,
            listed_range,
            low,
            per_metre: 1.0 / size,
            columns: cells.x as usize,
            lines: cells.y as usize,
            ..Walls::default()
        };
        let mut cells = Buckets::default();
        cells.fill(walls.columns * walls.lines, |pair| walls.each_pair(&wall, pair));
        walls.cells = cells;
        walls.wall = wall;
        walls
    }

    /// Every wall.
    pub fn all(&self) -> &[Wall] {
        &self.wall
    }

    /// How far [`Walls::near`] reaches, m.
    pub fn range(&self) -> f32 {
        self.range
    }

    /// The walls within `range` of a place, and some that are a little further.
    #[inline]
    pub fn near(&self, place: Vec2) -> impl Iterator<Item = &Wall> + Clone {
        self.cell(place).iter().map(|&wall| &self.wall[wall as usize])
    }

    /// Whether a straight way of at most `range` meets a wall.
    #[inline]
    pub fn block(&self, from: Vec2, to: Vec2) -> bool {
        self.near(from).any(|wall| wall.blocks(from, to))
    }

    /// Whether a straight way of any length meets a wall.
    pub fn block_far(&self, from: Vec2, to: Vec2) -> bool {
        let way = to - from;
        let pieces = (way.length() / self.range.max(1e-3)).ceil().clamp(1.0, MOST_PIECES);
        // A few walls are gone through sooner than as many cells.
        if self.wall.len() < 4 * pieces as usize {
            return self.wall.iter().any(|wall| wall.blocks(from, to));
        }
        let place = |piece: f32| from + way * (piece / pieces);
        (0..pieces as usize).any(|piece| self.block(place(piece as f32), place(piece as f32 + 1.0)))
    }

    fn cell(&self, place: Vec2) -> &[u32] {
        if self.wall.is_empty() {
            return &[];
        }
        let scaled = (place - self.low) * self.per_metre;
        if !scaled.cmpge(Vec2::ZERO).all() {
            return &[];
        }
        let (column, line) = (scaled.x as usize, scaled.y as usize);
        if column >= self.columns || line >= self.lines {
            return &[];
        }
        self.cells.get(line * self.columns + column)
    }

    fn each_pair(&self, wall: &[Wall], pair: &mut dyn FnMut(usize, u32)) {
        let size = 1.0 / self.per_metre;
        // Half a cell's diagonal: an agent that is in the cell is at most this far from its middle.
        let reach = self.listed_range + size * std::f32::consts::FRAC_1_SQRT_2;
        for (index, wall) in wall.iter().enumerate() {
            let low = (wall.a.min(wall.b) - self.low - self.listed_range) * self.per_metre;
            let high = (wall.a.max(wall.b) - self.low + self.listed_range) * self.per_metre;
            for line in (low.y.max(0.0) as usize)..=(high.y.max(0.0) as usize).min(self.lines - 1) {
                for column in (low.x.max(0.0) as usize)..=(high.x.max(0.0) as usize).min(self.columns - 1) {
                    let middle = self.low + Vec2::new(column as f32 + 0.5, line as f32 + 0.5) * size;
                    if wall.closest(middle).distance(middle) <= reach {
                        pair(line * self.columns + column, index as u32);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Its distance to the far corner was rounded, and then it lay beyond the index.
    #[test]
    fn a_wall_at_the_edge_of_a_huge_map_is_found() {
        let far = Wall { a: Vec2::new(0.0, -143_981_600.0), b: Vec2::ZERO, two_sided: false };
        let near = Wall { a: Vec2::ZERO, b: Vec2::X, two_sided: true };
        assert_eq!(Walls::new(vec![far, near], 0.1).near(Vec2::ZERO).count(), 2);
    }

    proptest! {
        #[test]
        fn nothing_within_range_is_missed(
            ends in proptest::collection::vec((-50.0f32..50.0, -50.0f32..50.0, -8.0f32..8.0, -8.0f32..8.0), 1..40),
            place in (-60.0f32..60.0, -60.0f32..60.0),
            range in 0.1f32..12.0,
            far in proptest::option::of((-1e9f32..1e9, -1e9f32..1e9)),
        ) {
            let wall: Vec<Wall> = ends
                .into_iter()
                .map(|(x, y, dx, dy)| Wall { a: Vec2::new(x, y), b: Vec2::new(x + dx, y + dy), two_sided: true })
                .collect();
            let place = Vec2::new(place.0, place.1);
            let mut wall = wall;
            if let Some(far) = far {
                wall.push(Wall { a: Vec2::new(far.0, far.1), b: place, two_sided: false });
            }
            let walls = Walls::new(wall.clone(), range);
            for wall in wall.iter().filter(|wall| wall.closest(place).distance(place) < range * 0.999) {
                prop_assert!(walls.near(place).any(|near| near == wall));
            }
        }
    }
}
