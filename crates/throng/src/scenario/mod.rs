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

pub use error::{Invalid, Problem, ScenarioError};
pub use file::*;
pub use number::{Distribution, Number};
pub use overrides::Overrides;
pub use path::{KeyPath, Step};
pub use schema::schema;

pub(crate) use error::closest;

use crate::catalog::{self, Ability};
pub use crate::map::Link;
use crate::map::{self, Map, boundary};
pub use crate::pipeline::{Pipeline, Settings};
use document::Document;
use glam::DVec2;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// How many agents of a cohort are tried for walls in their straight way.
const TRIED: usize = 20;

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
    /// Scripted bodies.
    pub movers: Vec<Mover>,
    /// Jumps over what cannot be walked on.
    pub links: Vec<Link>,
    /// What happens on the way, sorted by time.
    pub events: Vec<Event>,
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
        apart.map(warning).chain(self.unused_plans()).chain(self.unused_mesoscale()).chain(walled).collect()
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
            Goal::Point(goal) => walls.iter().any(|wall| map::cross([agent.position, goal], *wall)),
            Goal::Area(_) => false,
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

    /// Where agents begin, in the order of ids.
    pub(crate) fn starts(&self) -> Vec<DVec2> {
        self.agents().map(|agent| agent.position).collect()
    }

    /// Where any agent will want to be: goals, also later ones, corners of goal areas, and the movers' paths.
    pub(crate) fn destinations(&self) -> Vec<DVec2> {
        let later = self.events.iter().flat_map(|event| match &event.action {
            Action::Retarget { goals, .. } => goals.as_slice(),
            Action::AddObstacle { .. } | Action::RemoveObstacle(_) => &[],
        });
        let goals = self.agents().map(|agent| &agent.goal).chain(later).filter_map(|goal| match goal {
            Goal::Point(goal) => Some(*goal),
            Goal::Area(_) => None,
        });
        let areas = self.areas.iter().flatten().copied();
        let paths = self.movers.iter().flat_map(|mover| mover.path.iter().map(|&(_, place)| place));
        goals.chain(areas).chain(paths).collect()
    }

    fn agents(&self) -> impl Iterator<Item = &AgentStart> {
        self.cohorts.iter().flat_map(|cohort| &cohort.agents)
    }
}

/// Agents that have most things in common.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cohort {
    /// What to call it.
    pub name: String,
    /// Its members.
    pub agents: Vec<AgentStart>,
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
}

impl Action {
    /// Does to a map what it will do. Says whether it changes it.
    pub(crate) fn change(&self, map: &mut Map) -> bool {
        match self {
            Action::AddObstacle { name, polygon } => map.obstacles.push((name.clone(), polygon.clone())),
            Action::RemoveObstacle(name) => map.obstacles.retain(|(other, _)| other != name),
            Action::Retarget { .. } => return false,
        }
        true
    }
}
