//! Rows laid out on a grid without edges.

use super::{SparseGrid, TILE, cell_of};
use crate::CHUNK;
use crate::parallel::{PerChunk, for_chunks};
use glam::{IVec2, Vec2};

/// A sparse grid and the cells that rows lie in.
#[derive(Debug, Default)]
pub struct RowGrid<T, const SIDE: i32 = TILE> {
    /// Side of a cell, m.
    side: f32,
    per_metre: f32,
    /// By row.
    pub cells: Vec<IVec2>,
    /// What cells hold.
    pub grid: SparseGrid<T, SIDE>,
    /// By chunk of rows: the tiles that it needs.
    tiles: Vec<Vec<IVec2>>,
}

impl<T: Default + Sync, const SIDE: i32> RowGrid<T, SIDE> {
    /// An empty one with cells of a side, m.
    pub fn new(side: f32) -> RowGrid<T, SIDE> {
        RowGrid {
            side,
            per_metre: 1.0 / side,
            cells: Vec::new(),
            grid: SparseGrid::default(),
            tiles: Vec::new(),
        }
    }

    /// Side of a cell, m.
    pub fn side(&self) -> f32 {
        self.side
    }

    /// The cell that a place lies in.
    #[inline(always)]
    pub fn cell(&self, place: Vec2) -> IVec2 {
        cell_of(place, self.per_metre)
    }

    /// Lays rows out where they are, in an empty grid, and adds each to what its cell holds. That must not depend on an
    /// order.
    pub fn lay_out(
        &mut self,
        rows: usize,
        place: impl Fn(usize) -> Vec2 + Sync,
        add: impl Fn(usize, &T) + Sync,
    ) {
        let per_metre = self.per_metre;
        self.lay_out_in(rows, |row| cell_of(place(row), per_metre), add);
    }

    /// The same with rows whose cells are known.
    pub fn lay_out_in(
        &mut self,
        rows: usize,
        cell_of: impl Fn(usize) -> IVec2 + Sync,
        add: impl Fn(usize, &T) + Sync,
    ) {
        let chunks = rows.div_ceil(CHUNK);
        self.cells.resize(rows, IVec2::ZERO);
        // As many as a chunk can ever need: lists that grow now and then would be allocations in a step.
        self.tiles.resize_with(self.tiles.len().max(chunks), || Vec::with_capacity(CHUNK));
        let columns = (&mut self.cells[..], PerChunk(&mut self.tiles));
        for_chunks(CHUNK, columns, &|chunk, (cells, PerChunk(tiles))| {
            let tiles = &mut tiles[0];
            tiles.clear();
            for (i, cell) in cells.iter_mut().enumerate() {
                *cell = cell_of(chunk * CHUNK + i);
                let tile = SparseGrid::<T, SIDE>::tile_of(*cell);
                // Rows are sorted in space, so that a tile mostly is one of the last few. To add one twice does no harm.
                if !tiles.iter().rev().take(4).any(|&last| last == tile) {
                    tiles.push(tile);
                }
            }
        });
        self.grid.clear();
        for &tile in self.tiles[..chunks].iter().flatten() {
            self.grid.add(tile);
        }
        let grid = &self.grid;
        for_chunks(CHUNK, &self.cells[..], &|chunk, cells| {
            for (i, &cell) in cells.iter().enumerate() {
                grid.get(cell).into_iter().for_each(|held| add(chunk * CHUNK + i, held));
            }
        });
    }
}
