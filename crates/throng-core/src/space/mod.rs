//! Who and what is near: a neighbour index over agents sorted in space, an index of walls, and grids without edges.

mod batch;
mod body;
mod buckets;
mod cells;
mod nearest;
mod period;
mod row_grid;
mod sparse;
mod splat;
mod walls;

pub use batch::{Batch, Lane, MOST_TOGETHER};
pub use body::{Body, Columns};
pub use buckets::Buckets;
pub use cells::Cells;
pub use nearest::{Candidates, LANES, MAX_NEIGHBORS, Nearest, Query, lanes_below, nearest, rows_within};
pub use period::Period;
pub use row_grid::RowGrid;
pub use sparse::{SparseGrid, TILE, cell_of};
pub use splat::{Blob, FOUR, Splat, Splats};
pub use walls::{Wall, Walls};
