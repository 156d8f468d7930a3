//! Scenarios: what a user writes ([`ScenarioFile`]), checked into what the engine builds from ([`Scenario`]).

use glam::DVec2;
use serde::Serialize;
use std::collections::BTreeMap;
use throng_core::params::Value;

/// Parameter values by block and key, already checked against the catalog.
pub type Settings = BTreeMap<String, BTreeMap<String, Value>>;

/// A checked scenario. Coordinates are the user's, in f64.
#[derive(Clone, Debug)]
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
    pub map: FloorPlan,
    /// Who walks. Ids count up from 0 through these, in order.
    pub cohorts: Vec<Cohort>,
    /// Goal areas, referred to by [`Goal::Area`].
    pub areas: Vec<Vec<DVec2>>,
    /// Scripted bodies.
    pub movers: Vec<Mover>,
    /// What happens on the way, sorted by time.
    pub events: Vec<Event>,
    /// What a run must show.
    pub expect: BTreeMap<String, f64>,
}

/// The models of the four stages, by their names in the catalog.
#[derive(Clone, Debug, PartialEq, Serialize)]
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

/// Where one can walk: cleaned polygons and open walls.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FloorPlan {
    /// The walkable area as written (outer rings and holes, cleaned); empty where the whole plane is walkable.
    pub walkable: Vec<Vec<Vec<DVec2>>>,
    /// Obstacles as the user named them (`obstacles[3]` where they have no name), each a cleaned ring.
    pub obstacles: Vec<(String, Vec<DVec2>)>,
    /// Open walls: polylines seen from both sides.
    pub walls: Vec<Vec<DVec2>>,
}

/// Agents that have most things in common.
#[derive(Clone, Debug)]
pub struct Cohort {
    /// What to call it.
    pub name: String,
    /// Its members.
    pub agents: Vec<AgentStart>,
    /// Whether members vanish when they arrive.
    pub leaves: bool,
    /// How close to its goal an agent has arrived, m.
    pub goal_radius: f64,
    /// The share of an avoidance it takes on, 0 to 1.
    pub responsibility: f64,
    /// Its own local model, where it has one.
    pub microscale: Option<String>,
    /// Its own parameter values, on top of the scenario's.
    pub params: Settings,
}

/// One agent at the start.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentStart {
    /// m.
    pub position: DVec2,
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
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Goal {
    /// A point.
    Point(DVec2),
    /// Anywhere in an area: an index into [`Scenario::areas`].
    Area(u32),
}

/// A scripted body that avoids nobody.
#[derive(Clone, Debug, PartialEq)]
pub struct Mover {
    /// What to call it.
    pub name: String,
    /// m.
    pub radius: f64,
    /// Time (s) and place (m), strictly rising in time.
    pub path: Vec<(f64, DVec2)>,
}

/// Something that happens once.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// When, s.
    pub at: f64,
    /// What.
    pub action: Action,
}

/// What an event does.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Puts an obstacle on the map.
    AddObstacle {
        /// What to call it.
        name: String,
        /// Its cleaned ring.
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
