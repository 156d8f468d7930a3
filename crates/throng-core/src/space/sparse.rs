//! A grid without edges. Only tiles in which something lies are stored, so that memory and time follow the crowd and
//! not the map.

use glam::{IVec2, Vec2};

/// Cells a side of a tile, unless something else is asked for.
pub const TILE: i32 = 16;
const EMPTY: u32 = u32::MAX;

/// The cell of a grid of squares in which a place lies; places beyond all cells count as in the outermost ones.
#[inline(always)]
pub fn cell_of(place: Vec2, cells_per_metre: f32) -> IVec2 {
    // Without the floor that old machines have to call a function for. Conversion saturates.
    let scaled = place * cells_per_metre;
    let truncated = scaled.as_ivec2();
    truncated.saturating_sub(IVec2::from(truncated.as_vec2().cmpgt(scaled)))
}

/// Values in the cells of an endless grid; what was never added holds the default. Tiles have a power of two of cells a
/// side: small ones suit what is far apart.
#[derive(Debug)]
pub struct SparseGrid<T, const SIDE: i32 = TILE> {
    /// Tile by tile. Only the first `at.len()` tiles are in use; the others are kept for their memory.
    cells: Vec<T>,
    at: Vec<IVec2>,
    /// Open addressing: numbers of tiles, a power of two of places.
    slots: Vec<u32>,
}

impl<T, const SIDE: i32> Default for SparseGrid<T, SIDE> {
    fn default() -> Self {
        SparseGrid { cells: Vec::new(), at: Vec::new(), slots: vec![EMPTY; 16] }
    }
}

impl<T: Default, const SIDE: i32> SparseGrid<T, SIDE> {
    const CELLS: usize = (SIDE * SIDE) as usize;

    /// Forgets everything but its memory.
    pub fn clear(&mut self) {
        self.at.clear();
        self.slots.fill(EMPTY);
    }

    /// The tile that a cell lies in.
    #[inline(always)]
    pub fn tile_of(cell: IVec2) -> IVec2 {
        cell >> SIDE.ilog2()
    }

    /// Adds a tile, all default, where there is none.
    pub fn add(&mut self, tile: IVec2) {
        let Err(slot) = self.find(tile) else { return };
        let first = self.at.len() * Self::CELLS;
        self.slots[slot] = self.at.len() as u32;
        self.at.push(tile);
        match self.cells.get_mut(first..first + Self::CELLS) {
            Some(old) => old.fill_with(T::default),
            None => self.cells.resize_with(first + Self::CELLS, T::default),
        }
        if 2 * self.at.len() > self.slots.len() {
            self.grow();
        }
    }

    /// How many tiles are stored.
    pub fn len(&self) -> usize {
        self.at.len()
    }

    /// Whether nothing is stored.
    pub fn is_empty(&self) -> bool {
        self.at.is_empty()
    }

    /// What a cell holds; `None` where there is no tile.
    #[inline]
    pub fn get(&self, cell: IVec2) -> Option<&T> {
        self.tile(Self::tile_of(cell)).map(|tile| &tile[Self::index(cell)])
    }

    /// The values of a cell and of the eight around it.
    #[inline]
    pub fn around(&self, cell: IVec2) -> impl Iterator<Item = &T> {
        // Nearly always all nine lie in one tile, which then is looked for once.
        let (tile, inner) = (Self::tile_of(cell), cell & (SIDE - 1));
        let home = self.tile(tile);
        let inside = inner.cmpgt(IVec2::ZERO).all() && inner.cmplt(IVec2::splat(SIDE - 1)).all();
        (0..9).filter_map(move |i| {
            let at = cell.wrapping_add(IVec2::new(i % 3 - 1, i / 3 - 1));
            if inside { home.map(|tile| &tile[Self::index(at)]) } else { self.get(at) }
        })
    }

    #[inline(always)]
    fn tile(&self, tile: IVec2) -> Option<&[T]> {
        let first = self.find(tile).ok()? * Self::CELLS;
        self.cells.get(first..first + Self::CELLS)
    }

    /// A tile's number, or the slot where it would be noted.
    #[inline]
    fn find(&self, tile: IVec2) -> Result<usize, usize> {
        let mask = self.slots.len() - 1;
        let mut slot = hash(tile) as usize & mask;
        loop {
            match self.slots[slot] {
                EMPTY => return Err(slot),
                number if self.at[number as usize] == tile => return Ok(number as usize),
                _ => slot = (slot + 1) & mask,
            }
        }
    }

    fn grow(&mut self) {
        self.slots.clear();
        self.slots.resize(4 * self.at.len().next_power_of_two(), EMPTY);
        for number in 0..self.at.len() {
            if let Err(slot) = self.find(self.at[number]) {
                self.slots[slot] = number as u32;
            }
        }
    }

    #[inline(always)]
    fn index(cell: IVec2) -> usize {
        let inner = cell & (SIDE - 1);
        (inner.y * SIDE + inner.x) as usize
    }
}

#[inline(always)]
fn hash(tile: IVec2) -> u32 {
    let key = (tile.x as u32 as u64) << 32 | tile.y as u32 as u64;
    (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{HashMap, HashSet};

    proptest! {
        /// Against a hash map, with a grid that has been used before.
        #[test]
        fn cells_hold_what_was_put_there(
            rounds in proptest::collection::vec(
                proptest::collection::vec((-70i32..70, -70i32..70, -2i32..3), 0..60), 1..4),
        ) {
            let mut grid = SparseGrid::<std::cell::Cell<u32>, TILE>::default();
            for round in rounds {
                let mut plain: HashMap<IVec2, u32> = HashMap::new();
                grid.clear();
                let cells: Vec<IVec2> = round
                    .into_iter()
                    .map(|(x, y, far)| IVec2::new(x.wrapping_add(far * 1_000_000_000), y))
                    .collect();
                for &cell in &cells {
                    grid.add(SparseGrid::<u32, TILE>::tile_of(cell));
                    let value = grid.get(cell).unwrap();
                    value.set(value.get() + 1);
                    *plain.entry(cell).or_default() += 1;
                }
                let tiles: HashSet<IVec2> = cells.iter().map(|&cell| SparseGrid::<u32, TILE>::tile_of(cell)).collect();
                prop_assert_eq!(grid.len(), tiles.len());
                for &cell in &cells {
                    let plain_at = |at: IVec2| plain.get(&at).copied().unwrap_or(0);
                    let around: u32 = grid.around(cell).map(std::cell::Cell::get).sum();
                    let plain_around: u32 = (-1..=1)
                        .flat_map(|x| (-1..=1).map(move |y| IVec2::new(x, y)))
                        .map(|offset| plain_at(cell + offset))
                        .sum();
                    prop_assert_eq!(around, plain_around);
                    prop_assert_eq!(grid.get(cell).unwrap().get(), plain_at(cell));
                }
            }
        }
    }
}
