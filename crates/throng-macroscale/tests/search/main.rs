//! The searches as a whole, over worlds that change.

mod repair;
mod sequences;
mod speed;
mod worlds;
