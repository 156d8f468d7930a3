//! Who and what is near: a neighbour index over agents sorted in space, and an index of walls.

mod body;
mod cells;
mod nearest;
mod walls;

pub use body::{Body, Columns};
pub use cells::Cells;
pub use nearest::{Crowd, LANES, MAX_NEIGHBORS, Nearest, Query, lanes_below, nearest, rows_within};
pub use walls::{Wall, Walls};
