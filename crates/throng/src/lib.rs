//! A crowd-simulation and multi-agent navigation engine.

pub mod builtin;
pub mod catalog;
pub mod checkpoint;
pub mod expect;
pub mod explain;
pub mod metrics;
pub mod record;
pub mod scenario;
pub mod simulation;

pub use record::Recorder;
pub use scenario::Scenario;
pub use simulation::Simulation;
pub use throng_core::frame::Frame;
pub use throng_core::params;
