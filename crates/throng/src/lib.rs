//! A crowd-simulation and multi-agent navigation engine.
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

#![cfg_attr(
    not(feature = "scenario"),
    expect(
        dead_code,
        reason = "stages are built, counted and explained for simulations, which read scenarios"
    )
)]

#[cfg(feature = "scenario")]
pub mod builtin;
pub mod catalog;
#[cfg(feature = "scenario")]
pub mod checkpoint;
#[cfg(feature = "scenario")]
pub mod expect;
pub mod explain;
pub mod metrics;
#[cfg(feature = "scenario")]
pub mod planning;
#[cfg(feature = "scenario")]
pub mod record;
#[cfg(feature = "scenario")]
pub mod scenario;
#[cfg(feature = "scenario")]
pub mod simulation;

#[cfg(feature = "scenario")]
pub use record::Recorder;
#[cfg(feature = "scenario")]
pub use scenario::Scenario;
#[cfg(feature = "scenario")]
pub use simulation::Simulation;
pub use throng_core::frame::Frame;
pub use throng_core::geom;
pub use throng_core::params;
pub use throng_core::rng;
pub use throng_core::world;
