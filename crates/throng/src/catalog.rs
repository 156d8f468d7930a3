//! Every model there is, by stage: what front ends list, what scenario files are checked against, and what builds
//! a stage from its name. A new local model is one file and one line here.

use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;
use throng_core::params::{Field, Params, Value};
use throng_macroscale::{
    DynamicNavmesh, Macroscale, MapField, MultiDomain, NavMesh, Straight, VisibilityGraph,
};
use throng_macroscale::{dynamic_navmesh, map_field, multi_domain};
use throng_mesoscale::density::LookAhead;
use throng_mesoscale::groups::Perception;
use throng_mesoscale::{Density, Groups, Mesoscale, WorldField};
use throng_microscale::{Hrvo, Hybrid, Microscale, Orca, Patience, Rvo, Staged, Unaware, Vo};
use throng_motion::{AccelerationLimited, Footsteps, Holonomic, Motion, Separation};

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

const SNAPE: &str = "Snape et al. 2012, Reciprocal collision avoidance and navigation for video games";

const HE: &str = "He, van den Berg 2013, Meso-scale planning for multi-agent navigation";

const LONG: &str =
    "Long, Aranha, Kanoh, Collision avoidance algorithm for crowd simulation using density information";

const KAPADIA: &str = "Kapadia et al. 2013, Multi-domain real-time planning in dynamic environments";

const PARK: &str = "Park, Cao, Quek 2012, Large scale crowd simulation using a hybrid agent model";

/// Parameter values by block and key, already checked against the catalog.
pub type Settings = BTreeMap<String, BTreeMap<String, Value>>;

struct Model<Build> {
    entry: Entry,
    block: Block,
    build: Build,
}

/// From the scenario's settings and those of every cohort.
type BuildMacroscale = fn(&Settings, &[&Settings]) -> Box<dyn Macroscale>;
type BuildMicroscale = fn(&[&Settings]) -> Box<dyn Microscale>;
/// From the scenario's settings and those of every cohort.
type BuildMesoscale = fn(&Settings, &[&Settings]) -> Box<dyn Mesoscale>;
type BuildMotion = fn(&[&Settings]) -> Box<dyn Motion>;

/// A model without parameters.
fn macroscale_model<M: Macroscale + Default + 'static>(
    name: &'static str,
    about: &'static str,
    paper: &'static str,
) -> Model<BuildMacroscale> {
    Model {
        entry: Entry { name, stage: Stage::Macroscale, about, paper },
        block: Block { name, about, fields: &[] },
        build: |_, _| Box::new(M::default()),
    }
}

/// A model that is made from the scenario's parameters and those of every cohort.
fn individual_macroscale<P: Params, M: Macroscale + From<(P, Vec<P>)> + 'static>(
    paper: &'static str,
) -> Model<BuildMacroscale> {
    Model {
        entry: Entry { name: P::BLOCK, stage: Stage::Macroscale, about: P::ABOUT.trim_ascii(), paper },
        block: block_of::<P>(),
        build: |settings, cohorts| {
            let params = cohorts.iter().map(|cohort| with_settings(&[settings, cohort]));
            Box::new(M::from((with_settings(&[settings]), params.collect())))
        },
    }
}

/// A model that is made from the parameters of every cohort.
fn mesoscale_model<P: Params, M: Mesoscale + From<Vec<P>> + 'static>(
    paper: &'static str,
) -> Model<BuildMesoscale> {
    Model {
        entry: Entry { name: P::BLOCK, stage: Stage::Mesoscale, about: P::ABOUT.trim_ascii(), paper },
        block: block_of::<P>(),
        build: |settings, cohorts| {
            let params = cohorts.iter().map(|cohort| with_settings(&[settings, cohort]));
            Box::new(M::from(params.collect::<Vec<P>>()))
        },
    }
}

fn microscale_model<M: Staged>(paper: &'static str) -> Model<BuildMicroscale> {
    Model {
        entry: Entry { name: M::BLOCK, stage: Stage::Microscale, about: M::ABOUT.trim_ascii(), paper },
        block: block_of::<M>(),
        build: |settings| with_settings::<M>(settings).stage(with_settings(settings)),
    }
}

fn motion_model<M: Params + Motion>(paper: &'static str) -> Model<BuildMotion> {
    Model {
        entry: Entry { name: M::BLOCK, stage: Stage::Motion, about: M::ABOUT.trim_ascii(), paper },
        block: block_of::<M>(),
        build: |settings| Box::new(with_settings::<M>(settings)),
    }
}

static MACROSCALE: LazyLock<Vec<Model<BuildMacroscale>>> = LazyLock::new(|| {
    vec![
        macroscale_model::<Straight>("straight", "Straight to the goal, whatever is in the way.", SNAPE),
        macroscale_model::<VisibilityGraph>(
            "visibility-graph",
            "Around obstacles, on the shortest way that the body fits through.",
            HE,
        ),
        macroscale_model::<NavMesh>(
            "navmesh",
            "Around obstacles on the shortest way that the body fits through, on a navigation mesh: for large maps and crowds.",
            KAPADIA,
        ),
        individual_macroscale::<DynamicNavmesh, dynamic_navmesh::Planner>(KAPADIA),
        individual_macroscale::<MapField, map_field::Planner>(PARK),
        individual_macroscale::<MultiDomain, multi_domain::Planner>(KAPADIA),
    ]
});

static MICROSCALE: LazyLock<Vec<Model<BuildMicroscale>>> = LazyLock::new(|| {
    vec![
        microscale_model::<Vo>(SNAPE),
        microscale_model::<Rvo>(SNAPE),
        microscale_model::<Hrvo>(SNAPE),
        microscale_model::<Orca>(SNAPE),
        microscale_model::<Hybrid>(PARK),
        microscale_model::<Unaware>(""),
    ]
});

static MESOSCALE: LazyLock<Vec<Model<BuildMesoscale>>> = LazyLock::new(|| {
    vec![mesoscale_model::<Groups, Perception>(HE), mesoscale_model::<Density, LookAhead>(LONG)]
});

static MOTION: LazyLock<Vec<Model<BuildMotion>>> = LazyLock::new(|| {
    vec![
        motion_model::<Holonomic>(SNAPE),
        motion_model::<AccelerationLimited>(""),
        motion_model::<Footsteps>(KAPADIA),
    ]
});

static ENTRIES: LazyLock<Vec<Entry>> = LazyLock::new(|| {
    let macroscale = MACROSCALE.iter().map(|model| model.entry.clone());
    let mesoscale = MESOSCALE.iter().map(|model| model.entry.clone());
    let microscale = MICROSCALE.iter().map(|model| model.entry.clone());
    let motion = MOTION.iter().map(|model| model.entry.clone());
    macroscale.chain(mesoscale).chain(microscale).chain(motion).collect()
});

static BLOCKS: LazyLock<Vec<Block>> = LazyLock::new(|| {
    let macroscale = MACROSCALE.iter().map(|model| model.block);
    let mesoscale = MESOSCALE.iter().map(|model| model.block);
    let microscale = MICROSCALE.iter().map(|model| model.block);
    let motion = MOTION.iter().map(|model| model.block);
    let shared = [block_of::<WorldField>(), block_of::<Patience>(), block_of::<Separation>()];
    let all = macroscale.chain(mesoscale).chain(microscale).chain(motion).chain(shared);
    all.filter(|block| !block.fields.is_empty()).collect()
});

/// Every model.
pub fn entries() -> &'static [Entry] {
    &ENTRIES
}

/// Every block of parameters.
pub fn blocks() -> &'static [Block] {
    &BLOCKS
}

/// The names of a stage's models, as a message lists them.
pub fn names(stage: Stage) -> Vec<&'static str> {
    entries().iter().filter(|entry| entry.stage == stage).map(|entry| entry.name).collect()
}

/// A macroscale model by its name, with what every cohort says of it.
pub(crate) fn macroscale(
    name: &str,
    settings: &Settings,
    cohorts: &[&Settings],
) -> Option<Box<dyn Macroscale>> {
    MACROSCALE.iter().find(|model| model.entry.name == name).map(|model| (model.build)(settings, cohorts))
}

/// A mesoscale model by its name, with what every cohort says of it.
pub(crate) fn mesoscale(
    name: &str,
    settings: &Settings,
    cohorts: &[&Settings],
) -> Option<Box<dyn Mesoscale>> {
    MESOSCALE.iter().find(|model| model.entry.name == name).map(|model| (model.build)(settings, cohorts))
}

/// A local model by its name, with later settings on top of earlier ones.
pub(crate) fn microscale(name: &str, settings: &[&Settings]) -> Option<Box<dyn Microscale>> {
    MICROSCALE.iter().find(|model| model.entry.name == name).map(|model| (model.build)(settings))
}

/// A motion model by its name.
pub(crate) fn motion(name: &str, settings: &[&Settings]) -> Option<Box<dyn Motion>> {
    MOTION.iter().find(|model| model.entry.name == name).map(|model| (model.build)(settings))
}

/// A block's defaults, with settings on top. Settings were checked when the scenario was.
pub(crate) fn with_settings<P: Params>(settings: &[&Settings]) -> P {
    let mut params = P::default();
    for (key, &value) in settings.iter().filter_map(|settings| settings.get(P::BLOCK)).flatten() {
        params.put(key, value);
    }
    params
}

fn block_of<P: Params>() -> Block {
    Block { name: P::BLOCK, about: P::ABOUT.trim_ascii(), fields: P::fields() }
}
