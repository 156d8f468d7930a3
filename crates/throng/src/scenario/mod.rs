//! Scenarios: what a user writes ([`ScenarioFile`]), checked into what the engine builds from ([`Scenario`]).
//!
//! A text becomes a tree of values, overrides change the tree, the tree is read into the types of the file, and these are
//! checked and filled with agents. What is wrong is reported with its line, its key, its value and the way out.
//!
//! ```
//! use throng::scenario::Scenario;
//! let text = "
//!     format = 1
//!     [[agents]]
//!     count = 8
//!     place = { circle = { center = [0, 0], radius = -10 } }
//!     goal = { antipodal = [0, 0] }
//! ";
//! let error = Scenario::parse(text, "circle.toml", None).unwrap_err();
//! assert!(error.to_string().starts_with("circle.toml:5:"));
//! assert!(error.to_string().contains("agents[0].place.circle.radius = -10 must be >= 0"));
//! ```

mod check;
mod decode;
mod document;
mod error;
mod file;
mod json_span;
mod number;
mod overrides;
mod path;
mod place;
mod schema;
mod warn;

pub use error::{Invalid, Problem, ScenarioError};
pub use file::*;
pub use number::{Distribution, Number};
pub use overrides::Overrides;
pub use path::{KeyPath, Step};
pub use schema::schema;

pub(crate) use error::closest;
pub(crate) use place::outline;

use crate::catalog::{self, Ability};
pub use crate::map::Link;
use crate::map::{self, Map, boundary};
pub use crate::measure::Measure;
pub use crate::pipeline::{Pipeline, Settings};
use document::Document;
use glam::DVec2;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;
use throng_core::params::Draw;

/// How many agents of a cohort are tried for walls in their straight way.
const TRIED: usize = 20;
/// Pieces of half a period that a straight path is looked at in, at most: after so many rounds nothing new comes.
const MOST_PIECES: f64 = 64.0;

/// A checked scenario. Coordinates are the user's, in f64.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scenario {
    /// What to call it.
    pub name: String,
    /// Key of every random stream.
    pub seed: u64,
    /// Step, s.
    pub dt: f64,
    /// A run ends after this much simulated time, s.
    pub until: f64,
    /// Which model stands in which stage.
    pub pipeline: Pipeline,
    /// `[params.*]`.
    pub params: Settings,
    /// Where one can walk.
    pub map: Map,
    /// Who walks. Ids count up from 0 through these, in order.
    pub cohorts: Vec<Cohort>,
    /// Goal areas, referred to by [`Goal::Area`].
    pub areas: Vec<Vec<DVec2>>,
    /// Who comes in during the run.
    pub sources: Vec<Source>,
    /// Where people leave.
    pub exits: Vec<Exit>,
    /// Where people stop on their way.
    pub stages: Vec<Stage>,
    /// Ways by stages to exits, referred to by [`Goal::Journey`]: those with a name, then one for each goal of exits.
    pub journeys: Vec<Journey>,
    /// Scripted bodies.
    pub movers: Vec<Mover>,
    /// Jumps over what cannot be walked on.
    pub links: Vec<Link>,
    /// What happens on the way, sorted by time.
    pub events: Vec<Event>,
    /// What is measured on the way.
    pub measures: Vec<Measure>,
    /// What a run must show.
    pub expect: BTreeMap<String, f64>,
    /// The whole scenario as JSON, with overrides and map files worked in: [`Scenario::parse`] under a name that ends in
    /// `.json` makes the same scenario of it, bit by bit, wherever it is read.
    pub source: String,
}

impl Scenario {
    /// Reads a scenario file: JSON where its name ends in `.json`, else TOML.
    pub fn open(path: impl AsRef<Path>) -> Result<Scenario, ScenarioError> {
        Scenario::open_with(path, &Overrides::default())
    }

    /// Reads a scenario file and changes it before it is checked.
    pub fn open_with(path: impl AsRef<Path>, overrides: &Overrides) -> Result<Scenario, ScenarioError> {
        let path = path.as_ref();
        let text = map::read_text(path)
            .map_err(|reason| ScenarioError::Unreadable { path: path.to_owned(), reason })?;
        Scenario::parse_with(&text, &path.display().to_string(), path.parent(), overrides)
    }

    /// Reads a scenario from a text. `name` stands in messages, and says by `.json` that the text is JSON.
    /// `folder` is where map files are looked for; without one they are refused.
    pub fn parse(text: &str, name: &str, folder: Option<&Path>) -> Result<Scenario, ScenarioError> {
        Scenario::parse_with(text, name, folder, &Overrides::default())
    }

    /// Reads a scenario from a text and changes it before it is checked.
    pub fn parse_with(
        text: &str,
        name: &str,
        folder: Option<&Path>,
        overrides: &Overrides,
    ) -> Result<Scenario, ScenarioError> {
        let mut document = Document::parse(text, name)?;
        overrides.apply(&mut document)?;
        let mut file = decode::decode(&document)?;
        decode::embed(&document, &mut file, folder)?;
        check::check(&document, &file)
    }

    /// How many agents there are in all cohorts.
    pub fn agent_count(&self) -> usize {
        self.cohorts.iter().map(|cohort| cohort.agents.len()).sum()
    }

    /// What is no mistake, and yet hardly what was meant: a sentence each.
    pub fn warnings(&self) -> Vec<String> {
        let apart = self.cohorts.iter().filter(|cohort| cohort.together && !self.keeps_together(cohort));
        let warning = |cohort: &Cohort| {
            format!(
                "cohort `{}` has together = true, which does nothing without `{}` in the pipeline, or as its local model",
                cohort.name,
                catalog::able(Ability::KeepsTogether).join("` or `"),
            )
        };
        let walled = self.walled().into_iter();
        let plans = self.unused_plans().chain(self.unused_mesoscale());
        apart
            .map(warning)
            .chain(plans)
            .chain(walled)
            .chain(warn::overlaps(self))
            .chain(warn::blind(self))
            .collect()
    }

    fn keeps_together(&self, cohort: &Cohort) -> bool {
        let able = catalog::able(Ability::KeepsTogether);
        let own = cohort.microscale.as_ref().unwrap_or(&self.pipeline.microscale);
        self.pipeline.mesoscale.iter().chain([own]).any(|model| able.contains(&model.as_str()))
    }

    /// Whether the planner looks at something.
    fn plans_with(&self, ability: Ability) -> bool {
        catalog::able(ability).contains(&self.pipeline.macroscale.as_str())
    }

    /// The first cohort whose straight path leads through a wall, where the planner plans no other.
    fn walled(&self) -> Option<String> {
        if self.plans_with(Ability::AvoidsWalls) {
            return None;
        }
        let bounds = boundary(&self.map_for_bodies());
        let walls: Vec<[DVec2; 2]> = bounds.edges().chain(bounds.walls.iter().copied()).collect();
        let crosses = |agent: &AgentStart| match agent.goal {
            Goal::Point(goal) => pieces(bounds.repeat, agent.position, goal)
                .any(|piece| walls.iter().any(|wall| map::cross(piece, *wall))),
            Goal::Area(_) | Goal::Journey(_) => false,
        };
        let cohort = self.cohorts.iter().find(|cohort| cohort.agents.iter().take(TRIED).any(crosses))?;
        Some(format!(
            "walls are in the straight path of cohort `{}`, and `{}` plans none around them: `navmesh` as \
             pipeline.macroscale does",
            cohort.name, self.pipeline.macroscale
        ))
    }

    /// Plans that keep clear of all other agents are not turned.
    fn unused_mesoscale(&self) -> Option<String> {
        let unused = self.plans_with(Ability::PlansInTime) && !self.pipeline.mesoscale.is_empty();
        unused.then(|| {
            format!(
                "pipeline.mesoscale does nothing with `{}`, whose plans keep clear of all others",
                self.pipeline.macroscale
            )
        })
    }

    /// What only some planners look at, where none of them plans.
    fn unused_plans(&self) -> impl Iterator<Item = String> {
        let keys = [
            ("arrive", Ability::PlansInTime, self.cohorts.iter().any(|cohort| cohort.arrive.is_some())),
            ("carries", Ability::PlansInTime, self.movers.iter().any(|mover| mover.carries)),
            ("links", Ability::PlansInTime, !self.links.is_empty()),
            ("terrain", Ability::WeighsTerrain, !self.map.terrain.is_empty()),
        ];
        let unused = keys.into_iter().filter(|(_, ability, written)| *written && !self.plans_with(*ability));
        unused.map(|(key, ability, _)| {
            let able = catalog::able(ability).join("` or `");
            format!("`{key}` does nothing without `{able}` as pipeline.macroscale")
        })
    }

    /// The walkable area as WKT, as JuPedSim and PedPy want it: always one POLYGON, with holes.
    ///
    /// Parts of the free space where no agent starts are left out. Where agents start in several parts, or the plan has
    /// no outline, see [`map::to_wkt`].
    pub fn walkable_wkt(&self) -> String {
        map::to_wkt(&self.map_for_bodies(), &self.starts(), &self.destinations())
    }

    /// Where bodies can be: over gaps too, where they walk on feet.
    pub fn map_for_bodies(&self) -> Map {
        if catalog::able(Ability::StepsOverGaps).contains(&self.pipeline.motion.as_str()) {
            return Map { gaps: Vec::new(), ..self.map.clone() };
        }
        self.map.with_solid_gaps()
    }

    /// Where agents begin, in the order of ids, and where others come in.
    pub(crate) fn starts(&self) -> Vec<DVec2> {
        let arrivals = self.sources.iter().flat_map(Source::places);
        self.agents().map(|agent| agent.position).chain(arrivals).collect()
    }

    /// Where any agent will want to be: goals, also later ones, corners of goal areas, and the movers' paths.
    pub(crate) fn destinations(&self) -> Vec<DVec2> {
        let later = self.events.iter().flat_map(|event| match &event.action {
            Action::Retarget { goals, .. } => goals.as_slice(),
            _ => &[],
        });
        let goals = self.agents().map(|agent| &agent.goal).chain(later).filter_map(|goal| match goal {
            Goal::Point(goal) => Some(*goal),
            Goal::Area(_) | Goal::Journey(_) => None,
        });
        let areas = self.areas.iter().flatten().copied();
        let paths = self.movers.iter().flat_map(|mover| mover.path.iter().map(|&(_, place)| place));
        let exits = self.exits.iter().flat_map(|exit| exit.area.iter().copied());
        let stages = self.stages.iter().flat_map(Stage::places);
        goals.chain(areas).chain(paths).chain(exits).chain(stages).collect()
    }

    fn agents(&self) -> impl Iterator<Item = &AgentStart> {
        self.cohorts.iter().flat_map(|cohort| &cohort.agents)
    }
}

/// A straight path in pieces that begin in the cell of a map and end less than a period away; as it is where nothing repeats.
fn pieces(repeat: map::Repeat, from: DVec2, to: DVec2) -> impl Iterator<Item = [DVec2; 2]> {
    let (way, length) = (to - from, repeat.length);
    let turns = |way: f64, length: f64| if length > 0.0 { (2.0 * way.abs() / length).ceil() } else { 1.0 };
    let count = turns(way.x, length.x).max(turns(way.y, length.y)).max(1.0);
    (0..count.min(MOST_PIECES) as usize).map(move |piece| {
        let begin = repeat.fold(from + way * (piece as f64 / count));
        [begin, begin + way / count]
    })
}

/// Agents that have most things in common.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cohort {
    /// What to call it.
    pub name: String,
    /// Its members at the start.
    pub agents: Vec<AgentStart>,
    /// The area that members walk to, where that is their goal: an index into [`Scenario::areas`].
    pub area: Option<u32>,
    /// Whether members vanish when they arrive.
    pub leaves: bool,
    /// How close to its goal an agent has arrived, m.
    pub goal_radius: f64,
    /// From when to when members should arrive, s.
    pub arrive: Option<[f64; 2]>,
    /// The share of an avoidance it takes on, 0 to 1.
    pub responsibility: f64,
    /// Whether members walk together.
    pub together: bool,
    /// Its own local model, where it has one.
    pub microscale: Option<String>,
    /// Its own parameter values, on top of the scenario's.
    pub params: Settings,
}

/// One agent at the start.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AgentStart {
    /// m.
    pub position: DVec2,
    /// m/s.
    pub velocity: DVec2,
    /// Where it wants to be.
    pub goal: Goal,
    /// m.
    pub radius: f64,
    /// m/s.
    pub preferred_speed: f64,
    /// m/s.
    pub max_speed: f64,
    /// It stands until then, s.
    pub start: f64,
}

/// Where an agent wants to be.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Goal {
    /// A point.
    Point(DVec2),
    /// Anywhere in an area: an index into [`Scenario::areas`].
    Area(u32),
    /// Out, perhaps by some stages: an index into [`Scenario::journeys`].
    Journey(u32),
}

/// People who come in during the run, by rising time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Source {
    /// Index into [`Scenario::cohorts`].
    pub cohort: usize,
    /// Where they appear; none where each has a place of its own.
    pub area: Option<Vec<DVec2>>,
    /// When they come, s, and what they are like. A place counts only where there is no area.
    pub people: Vec<(f64, AgentStart)>,
}

impl Source {
    fn places(&self) -> impl Iterator<Item = DVec2> {
        let area = self.area.iter().flatten().copied();
        let listed = self.people.iter().filter(|_| self.area.is_none()).map(|(_, agent)| agent.position);
        area.chain(listed)
    }
}

/// An area where people leave.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Exit {
    /// What to call it.
    pub name: String,
    /// m.
    pub area: Vec<DVec2>,
    /// Where in it ways are measured to, m.
    pub middle: DVec2,
    /// How many are let out at most, persons/s.
    pub max_flow: Option<f64>,
    /// How many people expect to get out, persons/s.
    pub capacity: f64,
    /// Whether it is closed at the start.
    pub closed: bool,
}

/// Where people stop on their way.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Stage {
    /// What to call it.
    pub name: String,
    /// What people do there.
    pub kind: StageKind,
}

/// What people do at a stage.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StageKind {
    /// They come close to a point, and go on.
    Point {
        /// m.
        at: DVec2,
        /// How close, m.
        distance: f64,
    },
    /// They come into an area, and go on.
    Area(Vec<DVec2>),
    /// They stand in line and are served one after the other.
    Queue {
        /// Where they stand, the first to be served first, m.
        places: Vec<DVec2>,
        /// How long one takes, s.
        service: Draw,
    },
    /// They wait until they may go on.
    Waiting {
        /// Where they can stand, as many as it holds, m.
        places: Vec<DVec2>,
        /// From when on they go on, s; none where an event says so.
        until: Option<f64>,
    },
}

impl Stage {
    fn places(&self) -> impl Iterator<Item = DVec2> {
        let places = match &self.kind {
            StageKind::Point { at, .. } => std::slice::from_ref(at),
            StageKind::Area(places) | StageKind::Queue { places, .. } | StageKind::Waiting { places, .. } => {
                places
            }
        };
        places.iter().copied()
    }
}

/// A way by stages to an exit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Journey {
    /// What to call it; none where it is only the goal of a cohort.
    pub name: Option<String>,
    /// The stages on the way, in order.
    pub legs: Vec<Leg>,
    /// Where it ends.
    pub ending: Ending,
}

/// What comes next on a journey: indices into [`Scenario::stages`].
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Leg {
    /// The same for all.
    Stage(usize),
    /// By chance, with these shares.
    Share(Vec<(usize, f64)>),
    /// The queue with the fewest people.
    ShortestQueue(Vec<usize>),
}

/// Which exits there are to choose from, and how.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ending {
    /// Indices into [`Scenario::exits`].
    pub exits: Vec<usize>,
    /// Which of them.
    pub choice: Choice,
    /// By exit: as how many times as long the way by it counts, 1 where it is known.
    pub weights: Vec<f64>,
    /// As what part quicker an exit counts by which all others leave, 0 to 1.
    pub follow: f64,
}

impl Ending {
    /// Exits that are all known, and chosen whatever others do.
    fn plain(exits: Vec<usize>, choice: Choice) -> Ending {
        Ending { weights: vec![1.0; exits.len()], exits, choice, follow: 0.0 }
    }

    /// Whether the best of them depends on what others do, and so on when one asks.
    pub(crate) fn depends_on_others(&self) -> bool {
        self.choice == Choice::Quickest || self.follow > 0.0
    }
}

/// How people choose one of several exits.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    /// The one with the shortest way.
    Nearest,
    /// The one where they are out first.
    Quickest,
    /// By chance, with these shares.
    Share(Vec<f64>),
}

/// A scripted body that avoids nobody.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mover {
    /// What to call it.
    pub name: String,
    /// m.
    pub radius: f64,
    /// Time (s) and place (m), strictly rising in time.
    pub path: Vec<(f64, DVec2)>,
    /// Whether it is a platform.
    pub carries: bool,
}

/// Something that happens once.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Event {
    /// When, s.
    pub at: f64,
    /// What.
    pub action: Action,
}

/// What an event does.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Puts an obstacle on the map.
    AddObstacle {
        /// What to call it.
        name: String,
        /// Its ring, as in [`Map::obstacles`].
        polygon: Vec<DVec2>,
    },
    /// Takes an obstacle away, by name.
    RemoveObstacle(String),
    /// Gives every member of a cohort a new goal, in the order of their ids.
    Retarget {
        /// Index into [`Scenario::cohorts`].
        cohort: usize,
        /// One goal per member.
        goals: Vec<Goal>,
    },
    /// Closes an exit or opens it.
    SetExit {
        /// Index into [`Scenario::exits`].
        exit: usize,
        /// Whether people can leave there from now on.
        open: bool,
    },
    /// Lets people go on who wait: an index into [`Scenario::stages`].
    Release(usize),
}

impl Action {
    /// Does to a map what it will do. Says whether it changes it.
    pub(crate) fn change(&self, map: &mut Map) -> bool {
        match self {
            Action::AddObstacle { name, polygon } => map.obstacles.push((name.clone(), polygon.clone())),
            Action::RemoveObstacle(name) => map.obstacles.retain(|(other, _)| other != name),
            Action::Retarget { .. } | Action::SetExit { .. } | Action::Release(_) => return false,
        }
        true
    }
}
