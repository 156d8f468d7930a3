//! A crowd-simulation and multi-agent navigation engine.
//!
//! A program builds a [`Crowd`], lets agents come and go, and steps it:
//!
//! ```
//! use throng::prelude::*;
//!
//! let mut crowd = Crowd::builder().dt(0.1).macroscale(Navmesh::default()).build()?;
//! let walker = crowd.spawn(Agent::at([0.0, 0.0]).goal([30.0, 4.0]))?;
//! while crowd.status(walker)? != Status::Arrived {
//!     crowd.step();
//! }
//! println!("{:.1} s to {}", crowd.time(), crowd.position(walker)?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A scenario file becomes a [`Simulation`], which is a crowd with a timetable:
//!
#![cfg_attr(feature = "sqlite", doc = "```")]
#![cfg_attr(not(feature = "sqlite"), doc = "```ignore")]
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
//!
//! | feature | brings | default |
//! | --- | --- | --- |
//! | `scenario` | scenario files, simulations, recordings as `.txt` and `.csv`, checkpoints, reports | yes |
//! | `sqlite` | recordings as `.sqlite`, for JuPedSim and PedPy | yes |
//! | `parquet` | recordings as `.parquet` | |

#[cfg(feature = "scenario")]
pub mod builtin;
pub mod catalog;
#[cfg(feature = "scenario")]
pub mod checkpoint;
pub mod crowd;
#[cfg(feature = "scenario")]
pub mod expect;
pub mod explain;
mod frame;
pub mod map;
pub mod measure;
pub mod metrics;
pub mod pipeline;
#[cfg(feature = "scenario")]
pub mod planning;
pub mod prelude;
pub mod preset;
#[cfg(feature = "scenario")]
pub mod record;
#[cfg(feature = "scenario")]
pub mod report;
#[cfg(feature = "scenario")]
mod rides;
#[cfg(feature = "scenario")]
pub mod scenario;
#[cfg(feature = "scenario")]
pub mod simulation;
#[cfg(feature = "scenario")]
mod ways;

pub use crowd::Crowd;
pub use frame::Frame;
#[cfg(feature = "scenario")]
pub use record::Recorder;
#[cfg(feature = "scenario")]
pub use scenario::Scenario;
#[cfg(feature = "scenario")]
pub use simulation::Simulation;
pub use throng_core::geom;
pub use throng_core::params;
pub use throng_core::rng;
pub use throng_core::world;
pub use {fearless_simd, glam};
pub use {throng_core as core, throng_motion as motion};
pub use {throng_macroscale as macroscale, throng_mesoscale as mesoscale, throng_microscale as microscale};
