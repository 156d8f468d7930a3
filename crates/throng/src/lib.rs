//! A crowd-simulation and multi-agent navigation engine.
//!
//! ```
//! use throng::{Recorder, Scenario, Simulation};
//! # // As if it ran in the repository, without leaving a file there.
//! # let demo = std::fs::read_to_string("../../scenarios/demos/crossing.toml")?;
//! # let folder = tempfile::tempdir()?;
//! # std::env::set_current_dir(&folder)?;
//! # std::fs::create_dir_all("scenarios/demos")?;
//! # std::fs::write("scenarios/demos/crossing.toml", demo)?;
//!
//! let scenario = Scenario::open("scenarios/demos/crossing.toml")?;
//! let mut sim = Simulation::new(&scenario)?;
//! let mut out = Recorder::create("crossing.sqlite", &sim)?;
//! while !sim.is_done() { sim.step(); out.frame(sim.frame())?; }
//! println!("{}", out.finish()?);
//! # assert_eq!(sim.arrived(), 160);
//! # std::env::set_current_dir(std::env::temp_dir())?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod builtin;
pub mod catalog;
pub mod checkpoint;
pub mod expect;
pub mod explain;
pub mod metrics;
pub mod planning;
pub mod record;
pub mod scenario;
pub mod simulation;

pub use record::Recorder;
pub use scenario::Scenario;
pub use simulation::Simulation;
pub use throng_core::frame::Frame;
pub use throng_core::geom;
pub use throng_core::params;
pub use throng_core::rng;
pub use throng_core::world;
