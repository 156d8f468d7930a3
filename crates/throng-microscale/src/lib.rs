//! Stage 3, WHICH VELOCITY NOW: VO, RVO, HRVO, ORCA, the hybrid model, and models of walkers: speeds by the gap ahead, forces.

mod around;
mod headway;
mod models;
mod repulsion;
mod stage;
mod together;
mod velocity_obstacle;

pub use around::{Around, Ego, Others, Reach};
pub use headway::{Headway, HeldUp};
pub use models::*;
pub use stage::{Local, LocalModel, LocalModels, Microscale, Rows, Scene, Seen, Users};
pub use together::Together;
pub use velocity_obstacle::Planes;
