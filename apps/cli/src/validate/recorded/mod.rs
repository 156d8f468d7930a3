//! Recorded experiments, run again: the same rooms, and people who come when and where the recorded ones came.

mod corridor;
mod doors;
mod free_speed;
mod one_way;
mod single_file;
mod two_way;

use super::data::Data;
use super::outcome::Outcome;
use super::trial::Trials;

/// An experiment that can be run again.
pub type Experiment = fn(&Trials, &Data) -> anyhow::Result<Outcome>;

/// All of them, by name, with what they show.
pub const ALL: [(&str, &str, Experiment); 4] = [
    ("recorded-doors", "flow through doors of eight widths", doors::run),
    ("recorded-one-way", "speed over density in a corridor", one_way::run),
    ("recorded-two-way", "lanes and flow of two streams in a corridor", two_way::run),
    ("recorded-single-file", "speed over density in single file", single_file::run),
];
