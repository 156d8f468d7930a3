//! A crowd-simulation and multi-agent navigation engine.

pub mod catalog;
pub mod record;
pub mod scenario;
pub mod simulation;

pub use scenario::Scenario;
pub use simulation::Simulation;
pub use throng_core::frame::Frame;
pub use throng_core::params;
