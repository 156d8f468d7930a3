//! Data and geometry of `throng`. No paper's algorithm lives here.

mod draw;
pub mod few;
pub mod geom;
pub mod handover;
pub mod memory;
pub mod parallel;
pub mod params;
pub mod rng;
pub mod simd;
pub mod space;
pub mod world;

/// Agents that one task handles. Fixed, so that no result can depend on the number of threads.
pub const CHUNK: usize = 256;
