//! Scenarios that come with the engine: the files of `scenarios/`, by name.

use crate::scenario::{Overrides, Scenario, ScenarioError, closest};
use std::sync::LazyLock;

/// A scenario that comes with the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Builtin {
    /// The file's name without its ending. No two have the same.
    pub name: &'static str,
    /// What it shows: the first line of the file's header.
    pub about: &'static str,
    /// The file.
    pub text: &'static str,
    /// `demos`, `papers` or `validation`.
    pub folder: &'static str,
}

macro_rules! files {
    ($($path:literal)*) => {
        &[$(($path, include_str!(concat!("../../../scenarios/", $path, ".toml")))),*]
    };
}

/// One line for each file.
const FILES: &[(&str, &str)] = files! {
    "demos/circle"
    "demos/crossing"
    "demos/corridor"
    "demos/doorway"
    "demos/exit"
    "demos/exits"
    "demos/lanes"
    "demos/mover"
    "demos/ticket-hall"
    "papers/snape-circle"
    "papers/snape-circle-fixed"
    "papers/snape-moving-obstacle"
    "papers/snape-blocks"
    "papers/meso-a"
    "papers/meso-b"
    "papers/meso-c"
    "papers/density-circle-300"
    "papers/density-circle-500"
    "papers/density-circle-1000"
    "papers/density-circle-2000"
    "papers/density-circle-3000"
    "papers/density-crossing-600"
    "papers/density-4-way-2000"
    "papers/hybrid-congestion"
    "papers/hybrid-evacuation"
    "papers/hybrid-cohesive"
    "papers/hybrid-crossing"
    "papers/multi-domain-oncoming"
    "papers/multi-domain-crossing"
    "papers/multi-domain-intersection"
    "papers/multi-domain-choke"
    "papers/multi-domain-change"
    "papers/multi-domain-road"
    "papers/multi-domain-lanes"
    "papers/multi-domain-four-way"
    "papers/multi-domain-goals"
    "papers/multi-domain-stepping-stones"
    "validation/rimea-1"
    "validation/rimea-4"
    "validation/rimea-5"
    "validation/rimea-6"
    "validation/rimea-7"
    "validation/rimea-9"
    "validation/rimea-10"
    "validation/rimea-11"
    "validation/rimea-12"
    "validation/rimea-15"
    "validation/imo-4"
    "validation/imo-8"
    "validation/nist-1-1"
    "validation/nist-2-9"
    "validation/nist-3-2"
    "validation/nist-3-3"
    "validation/nist-4-1"
    "validation/recorded-door"
    "validation/recorded-corridor"
    "validation/single-file"
};

static ALL: LazyLock<Vec<Builtin>> =
    LazyLock::new(|| FILES.iter().map(|&(path, text)| builtin(path, text)).collect());

/// Every scenario that comes with the engine, folder by folder.
pub fn all() -> &'static [Builtin] {
    &ALL
}

/// One of them, by its name.
pub fn find(name: &str) -> Option<&'static Builtin> {
    all().iter().find(|builtin| builtin.name == name)
}

/// The name that may have been meant by another.
pub fn similar(name: &str) -> Option<&'static str> {
    closest(name, &all().iter().map(|builtin| builtin.name).collect::<Vec<_>>())
}

impl Builtin {
    /// Reads it, with changes.
    pub fn open_with(&self, overrides: &Overrides) -> Result<Scenario, ScenarioError> {
        Scenario::parse_with(self.text, &format!("{}.toml", self.name), None, overrides)
    }
}

fn builtin(path: &'static str, text: &'static str) -> Builtin {
    let (folder, name) = path.split_once('/').unwrap_or(("", path));
    let header = text.lines().next().and_then(|line| line.strip_prefix('#')).unwrap_or_default();
    Builtin { name, about: header.trim(), text, folder }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::{Path, PathBuf};

    fn files_of(folder: &Path) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let (folders, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
        files.into_iter().chain(folders.iter().flat_map(|folder| files_of(folder))).collect()
    }

    #[test]
    fn every_file_of_scenarios_is_listed() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
        let toml =
            files_of(&root).into_iter().filter(|path| path.extension().is_some_and(|end| end == "toml"));
        let found: BTreeSet<String> = toml
            .map(|path| {
                path.strip_prefix(&root).unwrap().with_extension("").to_string_lossy().replace('\\', "/")
            })
            .collect();
        let listed: BTreeSet<String> = FILES.iter().map(|&(path, _)| path.to_owned()).collect();
        assert_eq!(found, listed, "crates/throng/src/builtin.rs lists the files of scenarios/");
    }

    #[test]
    fn names_are_unique_and_every_scenario_says_what_it_shows() {
        let names: BTreeSet<_> = all().iter().map(|builtin| builtin.name).collect();
        assert_eq!(names.len(), all().len());
        for builtin in all() {
            assert!(builtin.about.len() > 20 && !builtin.folder.is_empty(), "{}", builtin.name);
        }
    }

    #[test]
    fn every_scenario_can_be_read() {
        for builtin in all() {
            let scenario = builtin.open_with(&Overrides::default());
            assert!(
                scenario.is_ok_and(|scenario| scenario.agent_count() > 0 || !scenario.sources.is_empty()),
                "{}",
                builtin.name
            );
        }
    }

    #[test]
    fn finds_by_name_and_helps_with_slips() {
        assert_eq!(find("circle").map(|builtin| builtin.folder), Some("demos"));
        assert_eq!(find("circel"), None);
        assert_eq!(similar("circel"), Some("circle"));
        assert_eq!(similar("banana"), None);
    }
}
