//! Every model there is, by stage: what front ends list, what scenario files are checked against, and what builds
//! a stage from its name. A new model is one file and one line here; one of another crate is registered by its type.

use crate::pipeline::Settings;
use serde::Serialize;
use std::any::TypeId;
use std::sync::{LazyLock, PoisonError, RwLock, RwLockReadGuard};
use throng_core::params::{Field, Params};
use throng_macroscale::{DynamicNavmesh, MapField, MultiDomain, Navmesh, Straight, VisibilityGraph};
use throng_macroscale::{Macroscale, MacroscaleModel};
use throng_mesoscale::{Density, Groups, Mesoscale, MesoscaleModel, WorldField};
use throng_microscale::{
    AnticipationVelocity, CollisionFreeSpeed, Headway, Hrvo, Hybrid, Local, LocalModel, Microscale, Orca,
    Rvo, SocialForce, Staged, Unaware, Vo,
};
use throng_motion::{AccelerationLimited, Contact, Footsteps, Holonomic, Motion};

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

impl Stage {
    /// As scenario files call it.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Macroscale => "macroscale",
            Stage::Mesoscale => "mesoscale",
            Stage::Microscale => "microscale",
            Stage::Motion => "motion",
        }
    }
}

/// What only some models look at. Where none of those that run does, a scenario that asks for it is warned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ability {
    /// Leads around walls.
    AvoidsWalls,
    /// Minds costly ground.
    WeighsTerrain,
    /// Knows windows of arrival, platforms and jumps.
    PlansInTime,
    /// Keeps those together who walk together.
    KeepsTogether,
    /// Steps over gaps in the ground.
    StepsOverGaps,
    /// Works on a map that repeats. Local models all do: they see others where they are, across seams too.
    Periodic,
}

/// A model.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Entry {
    /// Its name in a scenario file.
    pub name: &'static str,
    /// Where it stands.
    pub stage: Stage,
    /// What it does, in a sentence.
    pub about: &'static str,
    /// Where it comes from.
    pub paper: &'static str,
    /// What it looks at that others do not.
    pub abilities: &'static [Ability],
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

const TORDEUX: &str = "Tordeux, Chraibi, Seyfried 2015, Collision-free speed model for pedestrian dynamics";

const XU: &str = "Xu, Chraibi, Seyfried 2021, Anticipation in a velocity-based model for pedestrian dynamics";

const HELBING: &str = "Helbing, Farkas, Vicsek 2000, Simulating dynamical features of escape panic";

/// From the values for all agents and those of every cohort.
type BuildMacroscale = fn(&Settings, &[&Settings]) -> Box<dyn Macroscale>;
type BuildMesoscale = fn(&Settings, &[&Settings]) -> Box<dyn Mesoscale>;
/// From values, later ones on top of earlier ones.
type BuildMicroscale = fn(&[&Settings]) -> Box<dyn Microscale>;
type BuildMotion = fn(&[&Settings]) -> Box<dyn Motion>;

#[derive(Clone, Copy)]
enum Build {
    Macroscale(BuildMacroscale),
    Mesoscale(BuildMesoscale),
    Microscale(BuildMicroscale),
    Motion(BuildMotion),
}

#[derive(Clone, Copy)]
struct Model {
    entry: Entry,
    block: Block,
    build: Build,
    /// Tells a model that is registered twice from two of one name.
    kind: TypeId,
}

impl Model {
    fn new<P: Params>(stage: Stage, paper: &'static str, build: Build) -> Model {
        let block = block_of::<P>();
        let entry = Entry { name: block.name, stage, about: block.about, paper, abilities: &[] };
        Model { entry, block, build, kind: TypeId::of::<P>() }
    }

    fn with(mut self, abilities: &'static [Ability]) -> Model {
        self.entry.abilities = abilities;
        self
    }
}

fn macroscale_model<M: MacroscaleModel>(paper: &'static str) -> Model {
    let build: BuildMacroscale = |settings, cohorts| {
        let cohorts = cohorts.iter().map(|cohort| with_settings(&[settings, cohort]));
        M::planner(with_settings(&[settings]), cohorts.collect())
    };
    Model::new::<M>(Stage::Macroscale, paper, Build::Macroscale(build))
}

fn mesoscale_model<M: MesoscaleModel>(paper: &'static str) -> Model {
    let build: BuildMesoscale = |settings, cohorts| {
        M::model(cohorts.iter().map(|cohort| with_settings(&[settings, cohort])).collect())
    };
    Model::new::<M>(Stage::Mesoscale, paper, Build::Mesoscale(build))
}

fn microscale_model<M: Staged>(paper: &'static str) -> Model {
    let build: BuildMicroscale = |settings| with_settings::<M>(settings).stage(with_settings(settings));
    Model::new::<M>(Stage::Microscale, paper, Build::Microscale(build))
}

fn motion_model<M: Params + Motion>(paper: &'static str) -> Model {
    let build: BuildMotion = |settings| Box::new(with_settings::<M>(settings));
    Model::new::<M>(Stage::Motion, paper, Build::Motion(build))
}

fn built_in() -> Vec<Model> {
    use Ability::*;
    vec![
        macroscale_model::<Straight>(SNAPE).with(&[Periodic]),
        macroscale_model::<VisibilityGraph>(HE).with(&[AvoidsWalls]),
        macroscale_model::<Navmesh>(KAPADIA).with(&[AvoidsWalls]),
        macroscale_model::<DynamicNavmesh>(KAPADIA).with(&[AvoidsWalls]),
        macroscale_model::<MapField>(PARK).with(&[AvoidsWalls, WeighsTerrain]),
        macroscale_model::<MultiDomain>(KAPADIA).with(&[AvoidsWalls, PlansInTime]),
        mesoscale_model::<Groups>(HE).with(&[KeepsTogether]),
        mesoscale_model::<Density>(LONG),
        microscale_model::<Vo>(SNAPE),
        microscale_model::<Rvo>(SNAPE),
        microscale_model::<Hrvo>(SNAPE),
        microscale_model::<Orca>(SNAPE),
        microscale_model::<Hybrid>(PARK).with(&[KeepsTogether]),
        microscale_model::<CollisionFreeSpeed>(TORDEUX),
        microscale_model::<AnticipationVelocity>(XU),
        microscale_model::<SocialForce>(HELBING),
        microscale_model::<Unaware>(""),
        motion_model::<Holonomic>(SNAPE).with(&[Periodic]),
        motion_model::<AccelerationLimited>("").with(&[Periodic]),
        motion_model::<Footsteps>(KAPADIA).with(&[StepsOverGaps]),
    ]
}

/// Only ever grows: what was found in it once stays true.
static MODELS: LazyLock<RwLock<Vec<Model>>> = LazyLock::new(|| RwLock::new(built_in()));

fn models() -> RwLockReadGuard<'static, Vec<Model>> {
    // A list that a panic has interrupted is still a list of whole models.
    MODELS.read().unwrap_or_else(PoisonError::into_inner)
}

/// Another model has the name already.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a model `{0}` is there already; choose another name for its block of parameters")]
pub struct NameTaken(pub &'static str);

fn register(model: Model) -> Result<(), NameTaken> {
    let mut models = MODELS.write().unwrap_or_else(PoisonError::into_inner);
    let reserved = shared_blocks().iter().any(|block| block.name == model.block.name);
    match models.iter().find(|known| known.block.name == model.block.name) {
        Some(known) if known.kind == model.kind => Ok(()),
        None if !reserved => {
            models.push(model);
            Ok(())
        }
        _ => Err(NameTaken(model.block.name)),
    }
}

/// Lets scenario files, builders and front ends know a planner of another crate, by the name of its parameters. `paper` says
/// where it comes from. To register one twice does no harm.
pub fn register_macroscale<M: MacroscaleModel>(paper: &'static str) -> Result<(), NameTaken> {
    register(macroscale_model::<M>(paper))
}

/// The same for a mesoscale model.
pub fn register_mesoscale<M: MesoscaleModel>(paper: &'static str) -> Result<(), NameTaken> {
    register(mesoscale_model::<M>(paper))
}

/// The same for a local model.
pub fn register_microscale<M: LocalModel>(paper: &'static str) -> Result<(), NameTaken> {
    let build: BuildMicroscale =
        |settings| Box::new(Local { model: with_settings::<M>(settings), headway: with_settings(settings) });
    register(Model::new::<M>(Stage::Microscale, paper, Build::Microscale(build)))
}

/// The same for a motion.
pub fn register_motion<M: Params + Motion>(paper: &'static str) -> Result<(), NameTaken> {
    register(motion_model::<M>(paper))
}

fn shared_blocks() -> [Block; 3] {
    [block_of::<WorldField>(), block_of::<Headway>(), block_of::<Contact>()]
}

/// Every model, stage by stage.
pub fn entries() -> Vec<Entry> {
    let mut entries: Vec<Entry> = models().iter().map(|model| model.entry).collect();
    entries.sort_by_key(|entry| entry.stage);
    entries
}

/// Every block of parameters that has any.
pub fn blocks() -> Vec<Block> {
    let mut blocks: Vec<(Stage, Block)> =
        models().iter().map(|model| (model.entry.stage, model.block)).collect();
    blocks.sort_by_key(|(stage, _)| *stage);
    let all = blocks.into_iter().map(|(_, block)| block).chain(shared_blocks());
    all.filter(|block| !block.fields.is_empty()).collect()
}

/// The names of a stage's models, as a message lists them.
pub fn names(stage: Stage) -> Vec<&'static str> {
    models()
        .iter()
        .map(|model| model.entry)
        .filter(|entry| entry.stage == stage)
        .map(|entry| entry.name)
        .collect()
}

/// The names of the models that have an ability.
pub fn able(ability: Ability) -> Vec<&'static str> {
    models()
        .iter()
        .map(|model| model.entry)
        .filter(|entry| entry.abilities.contains(&ability))
        .map(|entry| entry.name)
        .collect()
}

/// Whether a model works on a map that repeats.
pub(crate) fn is_periodic(stage: Stage, name: &str) -> bool {
    stage == Stage::Microscale || periodic(stage).contains(&name)
}

/// What is said of a model that does not.
pub(crate) fn not_periodic(stage: Stage, name: &str) -> String {
    let stage_name = stage.name();
    let way_out = match &periodic(stage)[..] {
        [] => format!("leave pipeline.{stage_name} empty"),
        [one] => format!("`{one}` does"),
        names => format!("`{}` do", names.join("` and `")),
    };
    format!(
        "the {stage_name} model `{name}` does not work on a periodic map; {way_out}, or draw the map without `periodic`"
    )
}

fn periodic(stage: Stage) -> Vec<&'static str> {
    let able = able(Ability::Periodic);
    names(stage).into_iter().filter(|name| able.contains(name)).collect()
}

fn find<B>(name: &str, build: impl Fn(Build) -> Option<B>) -> Option<B> {
    models().iter().filter(|model| model.entry.name == name).find_map(|model| build(model.build))
}

/// A macroscale model by its name, with what every cohort says of it.
pub(crate) fn macroscale(
    name: &str,
    settings: &Settings,
    cohorts: &[&Settings],
) -> Option<Box<dyn Macroscale>> {
    let build = find(name, |build| if let Build::Macroscale(build) = build { Some(build) } else { None })?;
    Some(build(settings, cohorts))
}

/// A mesoscale model by its name, with what every cohort says of it.
pub(crate) fn mesoscale(
    name: &str,
    settings: &Settings,
    cohorts: &[&Settings],
) -> Option<Box<dyn Mesoscale>> {
    let build = find(name, |build| if let Build::Mesoscale(build) = build { Some(build) } else { None })?;
    Some(build(settings, cohorts))
}

/// A local model by its name, with later settings on top of earlier ones.
pub(crate) fn microscale(name: &str, settings: &[&Settings]) -> Option<Box<dyn Microscale>> {
    let build = find(name, |build| if let Build::Microscale(build) = build { Some(build) } else { None })?;
    Some(build(settings))
}

/// A motion model by its name.
pub(crate) fn motion(name: &str, settings: &[&Settings]) -> Option<Box<dyn Motion>> {
    let build = find(name, |build| if let Build::Motion(build) = build { Some(build) } else { None })?;
    Some(build(settings))
}

/// A block's defaults, with settings on top. Settings were checked when they were given.
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
