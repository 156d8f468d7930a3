//! The page that shows a crowd, and the server that feeds it.
//!
//! One thread owns the simulation or the recorded runs (`host`); a task per page sends it what is new (`server`). Pages are
//! embedded in the program, and nothing else can be read: of the disk only what the command line gave.

pub mod control;
pub mod host;
pub mod live;
pub mod recorded;
pub mod samples;
pub mod scene;
mod server;
pub mod wire;

use std::net::SocketAddr;
use std::path::PathBuf;

pub use server::{ViewError, serve};

/// What a page can open.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// A scenario that comes with the engine, by its name.
    Builtin(&'static str),
    /// A scenario file.
    Scenario(PathBuf),
    /// Recorded runs, side by side.
    Runs(Vec<PathBuf>),
}

impl Source {
    /// What the page calls it: without its folder, which is private.
    pub fn name(&self) -> String {
        let file = |path: &PathBuf| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        match self {
            Source::Builtin(name) => (*name).to_owned(),
            Source::Scenario(path) => file(path),
            Source::Runs(paths) => paths.iter().map(file).collect::<Vec<_>>().join(" | "),
        }
    }
}

/// Where to serve what.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where to listen. With a loopback address no other machine can connect.
    pub address: SocketAddr,
    /// What can be opened besides the built-in scenarios; the first is opened.
    pub sources: Vec<Source>,
}
