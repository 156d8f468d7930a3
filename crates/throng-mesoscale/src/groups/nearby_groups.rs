//! Which groups may be near a place: a grid whose cells list the groups that an agent there can perceive.

use super::cluster::Group;
use glam::Vec2;
use throng_core::space::Buckets;

/// Bounds the grid; cells grow instead.
const MOST_CELLS_A_SIDE: f32 = 256.0;

/// The grid; kept from step to step for its memory only.
#[derive(Default)]
pub struct NearbyGroups {
    low: Vec2,
    per_metre: f32,
    columns: usize,
    lines: usize,
    cells: Buckets,
}

impl NearbyGroups {
    /// Lists groups for all who perceive as far as `range`, m.
    pub fn list(&mut self, groups: &[Group], range: f32) {
        (self.columns, self.lines) = (0, 0);
        if groups.is_empty() {
            return;
        }
        let (mut low, mut high) = (Vec2::MAX, Vec2::MIN);
        for group in groups {
            let reach = range + group.reach;
            (low, high) = (low.min(group.center - reach), high.max(group.center + reach));
        }
        let side = range.max((high - low).max_element() / MOST_CELLS_A_SIDE).max(1e-3);
        let cells = ((high - low) / side).ceil().max(Vec2::ONE);
        (self.low, self.per_metre) = (low, 1.0 / side);
        (self.columns, self.lines) = (cells.x as usize + 1, cells.y as usize + 1);
        let mut cells = std::mem::take(&mut self.cells);
        cells.fill(self.columns * self.lines, |put| {
            for (number, group) in groups.iter().enumerate() {
                self.cells_of(group, range).for_each(|cell| put(cell, number as u32));
            }
        });
        self.cells = cells;
    }

    /// The groups that may be perceived from a place, by number.
    #[inline]
    pub fn near(&self, place: Vec2) -> &[u32] {
        let scaled = (place - self.low) * self.per_metre;
        let (column, line) = (scaled.x as usize, scaled.y as usize);
        if !scaled.cmpge(Vec2::ZERO).all() || column >= self.columns || line >= self.lines {
            return &[];
        }
        self.cells.get(line * self.columns + column)
    }

    fn cells_of(&self, group: &Group, range: f32) -> impl Iterator<Item = usize> + use<> {
        let reach = range + group.reach;
        let corner = |place: Vec2| ((place - self.low) * self.per_metre).max(Vec2::ZERO);
        let (low, high) = (corner(group.center - reach), corner(group.center + reach));
        let columns = self.columns;
        let across = low.x as usize..=(high.x as usize).min(columns - 1);
        let lines = low.y as usize..=(high.y as usize).min(self.lines - 1);
        lines.flat_map(move |line| across.clone().map(move |column| line * columns + column))
    }
}
