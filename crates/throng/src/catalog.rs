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

/// Every model.
pub fn entries() -> &'static [Entry] {
    &[]
}

/// Every block of parameters.
pub fn blocks() -> &'static [Block] {
    &[]
}

/// The names of a stage's models, as a message lists them.
pub fn names(stage: Stage) -> Vec<&'static str> {
    entries().iter().filter(|entry| entry.stage == stage).map(|entry| entry.name).collect()
}
