//! The searches as a whole, over worlds that change.

mod cases;
mod repair;
mod sequences;
mod space_time;
mod speed;
mod worlds;
