//! Which models run on which workload: every model of the catalog stands in for the usual one of its stage.

use super::workload::{Walls, Workload};
use throng::catalog::{self, Entry, Stage};
use throng::scenario::Pipeline;

/// A model on a workload, with the usual models in the other stages.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    pub model: &'static str,
    pub pipeline: Pipeline,
    pub workload: Workload,
}

impl Case {
    pub fn new(entry: &Entry, workload: Workload) -> Case {
        let mut pipeline = usual(workload.walls);
        let name = entry.name.to_string();
        match entry.stage {
            Stage::Macroscale => pipeline.macroscale = name,
            Stage::Mesoscale => pipeline.mesoscale = vec![name],
            Stage::Microscale => pipeline.microscale = name,
            Stage::Motion => pipeline.motion = name,
        }
        Case { model: entry.name, pipeline, workload }
    }

    /// What it is called where it is counted.
    pub fn name(&self) -> String {
        let Workload { agents, density, walls } = self.workload;
        let among = if walls == Walls::Blocks { ", blocks" } else { "" };
        format!("{}, {agents} agents, {density}/m²{among}", self.model)
    }
}

/// Straight to the goal where nothing is in the way.
pub fn usual(walls: Walls) -> Pipeline {
    let macroscale = match walls {
        Walls::None => "straight",
        Walls::Blocks => "navmesh",
    };
    Pipeline { macroscale: macroscale.into(), ..Pipeline::default() }
}

/// Models by their names; all of them where none is named.
pub fn chosen(names: &[String]) -> anyhow::Result<Vec<Entry>> {
    let entries = catalog::entries();
    if let Some(unknown) = names.iter().find(|name| !entries.iter().any(|entry| entry.name == **name)) {
        let known: Vec<&str> = entries.iter().map(|entry| entry.name).collect();
        anyhow::bail!("--models: there is no model `{unknown}`; known: {}", known.join(", "));
    }
    let is_chosen = |entry: &Entry| names.is_empty() || names.iter().any(|name| name == entry.name);
    Ok(entries.into_iter().filter(is_chosen).collect())
}

/// What a stage's models are usually measured on: planners have something to plan around.
pub fn usual_walls(stage: Stage) -> Walls {
    if stage == Stage::Macroscale { Walls::Blocks } else { Walls::None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_model_of_the_catalog_has_cases_of_their_own_names() {
        let entries = chosen(&[]).unwrap();
        assert!(entries.len() > 15);
        let mut names: Vec<String> =
            entries.iter().map(|entry| Case::new(entry, Workload::of(100)).name()).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), entries.len());
        assert!(chosen(&["orka".into()]).unwrap_err().to_string().contains("navmesh"));
    }
}
