//! Which models stand in the four stages, and the stages that are made of them.

use crate::catalog::{self, Stage};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use throng_core::memory::{Change, MemoryError, Remember, mix};
use throng_core::params::{Draw, Params, Value, Word};
use throng_macroscale::Macroscale;
use throng_mesoscale::{Mesoscale, WorldField};
use throng_microscale::{Headway, LocalModels, Reach};
use throng_motion::Bodies;

/// Parameter values by block and key, already checked against the catalog.
pub type Settings = BTreeMap<String, BTreeMap<String, Value>>;

/// The models of the four stages, by their names in the catalog.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pipeline {
    /// Where to.
    pub macroscale: String,
    /// Among whom.
    pub mesoscale: Vec<String>,
    /// Which velocity now.
    pub microscale: String,
    /// How bodies move.
    pub motion: String,
}

impl Default for Pipeline {
    fn default() -> Pipeline {
        Pipeline {
            macroscale: "straight".into(),
            mesoscale: Vec::new(),
            microscale: "orca".into(),
            motion: "holonomic".into(),
        }
    }
}

/// Which models run, with which values: all that stages are made of.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Models {
    /// By name.
    pub pipeline: Pipeline,
    /// Values for all agents.
    #[serde(with = "as_numbers")]
    pub params: Settings,
    /// By cohort.
    pub cohorts: Vec<CohortModels>,
}

/// What a cohort has of its own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CohortModels {
    /// Its local model, where it is not that of all.
    pub microscale: Option<String>,
    /// Its values.
    #[serde(with = "as_numbers")]
    pub params: Settings,
}

/// Why stages cannot be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("unknown {stage} model `{name}`; known: {known}")]
pub struct UnknownModel {
    /// The stage.
    pub stage: &'static str,
    /// The name as written.
    pub name: String,
    /// The names there are.
    pub known: String,
}

/// A block's values, as settings hold them.
pub fn settings_of<P: Params>(params: &P) -> BTreeMap<String, Value> {
    let value = |name: &'static str| Some((name.to_owned(), params.get(name)?));
    P::fields().iter().filter_map(|field| value(field.name)).collect()
}

/// The models at work.
pub(crate) struct Stages {
    pub macroscale: Box<dyn Macroscale>,
    pub mesoscale: Vec<Box<dyn Mesoscale>>,
    /// Where a local model reads it.
    pub world_field: Option<WorldField>,
    pub microscale: LocalModels,
    pub bodies: Bodies,
    /// The names of those that may remember something, in the order of [`Stages::memories`].
    names: Vec<String>,
}

/// What stages remember, each by the name of its model.
pub(crate) type SavedMemories = Vec<(String, Vec<u8>)>;

impl Stages {
    pub fn new(models: &Models) -> Result<Stages, UnknownModel> {
        let pipeline = &models.pipeline;
        let cohorts: Vec<&Settings> = models.cohorts.iter().map(|cohort| &cohort.params).collect();
        let motion = catalog::motion(&pipeline.motion, &[&models.params])
            .ok_or_else(|| unknown(Stage::Motion, &pipeline.motion))?;
        let macroscale = catalog::macroscale(&pipeline.macroscale, &models.params, &cohorts)
            .ok_or_else(|| unknown(Stage::Macroscale, &pipeline.macroscale))?;
        let mesoscale = |name: &String| {
            catalog::mesoscale(name, &models.params, &cohorts).ok_or_else(|| unknown(Stage::Mesoscale, name))
        };
        let mesoscale = pipeline.mesoscale.iter().map(mesoscale).collect::<Result<Vec<_>, _>>()?;
        let keeps_clear = macroscale.tasks().is_some_and(|tasks| tasks.keeps_clear());
        // An agent that is turned from a plan which keeps clear of all others has no plan.
        let mesoscale = if keeps_clear { Vec::new() } else { mesoscale };
        let microscale = locals(models, keeps_clear)?;
        let among = pipeline.mesoscale.iter().take(mesoscale.len()).cloned();
        Ok(Stages {
            names: [pipeline.macroscale.clone()]
                .into_iter()
                .chain(among)
                .chain([Headway::BLOCK.into()])
                .collect(),
            mesoscale,
            macroscale,
            world_field: microscale.read_flow().then(|| catalog::with_settings(&[&models.params])),
            microscale,
            bodies: Bodies::new(motion, catalog::with_settings(&[&models.params])),
        })
    }

    /// What stages remember of agents, each by the name of its model: whatever is saved, hashed or forgotten is in this list.
    pub fn memories(&self) -> impl Iterator<Item = (&str, &dyn Remember)> {
        let all = std::iter::once(self.macroscale.memory())
            .chain(self.mesoscale.iter().map(|model| model.memory()))
            .chain([Some(&self.microscale.memory as &dyn Remember)]);
        self.names.iter().zip(all).filter_map(|(name, memory)| Some((name.as_str(), memory?)))
    }

    /// The same, to be changed.
    fn memories_mut(&mut self) -> impl Iterator<Item = (&str, &mut dyn Remember)> {
        let all = std::iter::once(self.macroscale.memory_mut())
            .chain(self.mesoscale.iter_mut().map(|model| model.memory_mut()))
            .chain([Some(&mut self.microscale.memory as &mut dyn Remember)]);
        self.names.iter().zip(all).filter_map(|(name, memory)| Some((name.as_str(), memory?)))
    }

    /// Forgets an agent that has gone.
    pub fn forget(&mut self, slot: u32) {
        self.memories_mut().for_each(|(_, memory)| memory.forget(slot));
    }

    /// Forgets of an agent what does not outlast a change from outside.
    pub fn note(&mut self, slot: u32, change: Change) {
        self.memories_mut().for_each(|(_, memory)| memory.note(slot, change));
    }

    /// A number that differs whenever anything remembered differs in a bit.
    pub fn memory_hash(&self) -> u64 {
        self.memories().fold(0, |hash, (_, memory)| mix(hash ^ memory.state_hash()))
    }

    /// What all of them remember, as bytes.
    pub fn save_memories(&self) -> SavedMemories {
        self.memories().map(|(name, memory)| (name.into(), memory.save())).collect()
    }

    /// Takes over what models of the same names remembered; a model that was not there remembers nothing.
    pub fn load_memories(&mut self, mut saved: SavedMemories) -> Result<(), MemoryError> {
        for (name, memory) in self.memories_mut() {
            if let Some(place) = saved.iter().position(|(owner, _)| owner == name) {
                // Each once: a model may stand in a list twice.
                memory.load(&saved.remove(place).1)?;
            }
        }
        Ok(())
    }

    /// How far local models look.
    pub fn reach(&self) -> impl Iterator<Item = Reach> + Clone {
        self.microscale.reach()
    }
}

fn unknown(stage: Stage, name: &str) -> UnknownModel {
    UnknownModel { stage: stage.name(), name: name.into(), known: catalog::names(stage).join(", ") }
}

/// One local model for all cohorts that share its name and its values.
fn locals(models: &Models, keeps_clear: bool) -> Result<LocalModels, UnknownModel> {
    let mut kinds: Vec<(&str, &Settings)> = Vec::new();
    let mut marked: Vec<Vec<bool>> = Vec::new();
    for (index, cohort) in models.cohorts.iter().enumerate() {
        let name = cohort.microscale.as_deref().unwrap_or(&models.pipeline.microscale);
        let kind = (name, &cohort.params);
        let place = kinds.iter().position(|&other| other == kind).unwrap_or_else(|| {
            kinds.push(kind);
            marked.push(vec![false; models.cohorts.len()]);
            kinds.len() - 1
        });
        marked[place][index] = true;
    }
    let alone = kinds.len() == 1;
    let local = |((name, settings), marked): ((&str, &Settings), Vec<bool>)| {
        let model = catalog::microscale(name, &[&models.params, settings])
            .ok_or_else(|| unknown(Stage::Microscale, name))?;
        Ok((model, (!alone).then_some(marked)))
    };
    let models = kinds.into_iter().zip(marked).map(local).collect::<Result<_, _>>()?;
    Ok(LocalModels::new(models, keeps_clear))
}

/// Settings as numbers: a format that does not describe itself cannot tell a flag from a distribution.
mod as_numbers {
    use super::{Draw, Settings, Value, Word};
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

    type Numbers = Vec<(String, Vec<(String, u8, [f64; 4])>)>;

    pub fn serialize<S: Serializer>(settings: &Settings, serializer: S) -> Result<S::Ok, S::Error> {
        let key = |(key, value): (&String, &Value)| {
            let (kind, numbers) = to_numbers(*value);
            (key.clone(), kind, numbers)
        };
        let block = settings.iter().map(|(name, keys)| (name.clone(), keys.iter().map(key).collect()));
        block.collect::<Numbers>().serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Settings, D::Error> {
        let key = |(key, kind, numbers): (String, u8, [f64; 4])| {
            let value = from_numbers(kind, numbers);
            Ok((key, value.ok_or_else(|| de::Error::custom("unknown kind of parameter"))?))
        };
        let blocks = Numbers::deserialize(deserializer)?.into_iter();
        blocks.map(|(name, keys)| Ok((name, keys.into_iter().map(key).collect::<Result<_, _>>()?))).collect()
    }

    fn to_numbers(value: Value) -> (u8, [f64; 4]) {
        match value {
            Value::Flag(flag) => (0, [f64::from(u8::from(flag)), 0.0, 0.0, 0.0]),
            Value::Number(number) => (1, [number, 0.0, 0.0, 0.0]),
            Value::Word(word) => (6, word_to_numbers(word)),
            Value::Drawn(Draw::Fixed(number)) => (2, [number, 0.0, 0.0, 0.0]),
            Value::Drawn(Draw::Uniform { low, high }) => (3, [low, high, 0.0, 0.0]),
            Value::Drawn(Draw::Normal { mean, deviation, low, high }) => (4, [mean, deviation, low, high]),
            Value::Drawn(Draw::LogNormal { mu, sigma, low, high }) => (5, [mu, sigma, low, high]),
        }
    }

    /// The bytes of a word, eight in each number.
    fn word_to_numbers(word: Word) -> [f64; 4] {
        let bytes = word.as_str().as_bytes();
        let byte = |index: usize| bytes.get(index).copied().unwrap_or(0);
        std::array::from_fn(|number| {
            f64::from_le_bytes(std::array::from_fn(|index| byte(8 * number + index)))
        })
    }

    fn word_from_numbers(numbers: [f64; 4]) -> Option<Word> {
        let bytes: Vec<u8> = numbers.into_iter().flat_map(f64::to_le_bytes).collect();
        let text = bytes.split(|&byte| byte == 0).next()?;
        std::str::from_utf8(text).ok().map(Word::from)
    }

    fn from_numbers(kind: u8, [a, b, c, d]: [f64; 4]) -> Option<Value> {
        Some(match kind {
            0 => Value::Flag(a != 0.0),
            1 => Value::Number(a),
            2 => Value::Drawn(Draw::Fixed(a)),
            3 => Value::Drawn(Draw::Uniform { low: a, high: b }),
            4 => Value::Drawn(Draw::Normal { mean: a, deviation: b, low: c, high: d }),
            5 => Value::Drawn(Draw::LogNormal { mu: a, sigma: b, low: c, high: d }),
            6 => Value::Word(word_from_numbers([a, b, c, d])?),
            _ => return None,
        })
    }
}
