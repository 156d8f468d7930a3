//! Every model there is, by stage: what front ends list and what scenario files are checked against.

use serde::Serialize;
use throng_core::params::Field;

/// A stage of the pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// Where to?
    Macroscale,
    /// Among whom?
    Mesoscale,
    /// Which velocity now?
    Microscale,
    /// Move.
    Motion,
}

/// A model.
#[derive(Clone, Debug, Serialize)]
pub struct Entry {
    /// Its name in a scenario file.
    pub name: &'static str,
    /// Where it stands.
    pub stage: Stage,
    /// What it does, in a sentence.
    pub about: &'static str,
    /// Where it comes from.
    pub paper: &'static str,
}

/// A block of parameters, `[params.NAME]`.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Block {
    /// Its name in a scenario file.
    pub name: &'static str,
    /// What it belongs to.
    pub about: &'static str,
    /// Its parameters.
    pub fields: &'static [Field],
}

throng_core::params! {
    /// Optimal reciprocal collision avoidance.
    pub struct StandInOrca("orca") {
        /// How far ahead collisions with agents count.
        time_horizon: f32 = 3.0, "s", Limit::above(0.0);
        /// How far ahead collisions with walls count.
        time_horizon_obstacles: f32 = 1.0, "s", Limit::above(0.0);
        /// How far an agent sees others.
        neighbor_distance: f32 = 5.0, "m", Limit::above(0.0);
        /// How many others an agent regards.
        max_neighbors: usize = 10, "", Limit::from(0.0).up_to(64.0);
    }
}

const fn entry(stage: Stage, name: &'static str) -> Entry {
    Entry { name, stage, about: "Stand-in.", paper: "" }
}

/// Every model.
pub fn entries() -> &'static [Entry] {
    const ENTRIES: &[Entry] = &[
        entry(Stage::Macroscale, "straight"),
        entry(Stage::Microscale, "vo"),
        entry(Stage::Microscale, "rvo"),
        entry(Stage::Microscale, "hrvo"),
        entry(Stage::Microscale, "orca"),
        entry(Stage::Microscale, "none"),
        entry(Stage::Motion, "holonomic"),
        entry(Stage::Motion, "acceleration-limited"),
    ];
    ENTRIES
}

/// Every block of parameters.
pub fn blocks() -> &'static [Block] {
    use throng_core::params::Params;
    static BLOCKS: std::sync::LazyLock<Vec<Block>> = std::sync::LazyLock::new(|| {
        vec![Block { name: StandInOrca::BLOCK, about: StandInOrca::ABOUT, fields: StandInOrca::fields() }]
    });
    &BLOCKS
}

/// The names of a stage's models, as a message lists them.
pub fn names(stage: Stage) -> Vec<&'static str> {
    entries().iter().filter(|entry| entry.stage == stage).map(|entry| entry.name).collect()
}
