//! Data and geometry of `throng`. No paper's algorithm lives here.

pub mod frame;
pub mod params;
pub mod rng;
