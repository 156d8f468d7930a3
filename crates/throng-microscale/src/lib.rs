//! Stage 3, WHICH VELOCITY NOW: VO, RVO, HRVO, ORCA and the hybrid model.

mod around;
mod models;
mod patience;
mod stage;
mod velocity_obstacle;

pub use around::{Around, Ego, Others, Reach};
pub use models::*;
pub use patience::Patience;
pub use stage::{Local, LocalModel, Microscale, Rows, Scene, Seen};
pub use velocity_obstacle::Planes;
