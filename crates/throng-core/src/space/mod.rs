//! Who and what is near: a neighbour index over agents sorted in space, and an index of walls.

mod cells;
mod nearest;
mod walls;

pub use cells::{Body, Cells};
pub use nearest::{Crowd, LANES, MAX_NEIGHBORS, Nearest, Query, nearest, rows_within};
pub use walls::{Wall, Walls};
