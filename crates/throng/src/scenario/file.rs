//! A scenario as a user writes it. Every key of the format stands here, with its unit and its default.
//!
//! These types only say what may be written; `check` says what it means.

use super::number::{Distribution, Number, Wrong};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use throng_core::params::Value;

/// x and y, m.
pub type Point = [f64; 2];

/// Parameter values by block and key.
pub type ParamsFile = BTreeMap<String, BTreeMap<String, ParamValue>>;

/// A scenario of throng: who walks where, by which models, and what happens on the way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScenarioFile {
    /// Version of this format. Always 1.
    pub format: u64,
    /// What to call it. Default: the file's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Key of every random draw. Default 0.
    #[serde(default)]
    pub seed: u64,
    /// Length of a step, s. Default 0.1. From 1e-6 to 60.
    #[serde(default = "default_dt")]
    #[schemars(range(min = 0.000001, max = 60.0))]
    pub dt: f64,
    /// Simulated time at which a run ends though not everyone has arrived, s. Default 600.
    #[serde(default = "default_until")]
    #[schemars(range(min = 0.0))]
    pub until: f64,
    /// Which model stands in which stage.
    #[serde(default)]
    pub pipeline: PipelineFile,
    /// What agents do in a dense crowd: "game", "pedestrian" or "paper". Default "game". Values in `params` count more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// Parameters of the models, a block for each. Blocks of models that are not used are checked too.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(with = "BTreeMap<String, BTreeMap<String, serde_json::Value>>")]
    pub params: ParamsFile,
    /// Where one can walk. Default: everywhere.
    #[serde(default)]
    pub map: MapFile,
    /// Who walks, in cohorts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<CohortFile>,
    /// Who comes in during the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<SourceFile>,
    /// Where people leave. Goals and journeys name them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exits: Vec<ExitFile>,
    /// Where people stop on their way. Journeys name them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<StageFile>,
    /// Ways of several stages that end in an exit. Cohorts and sources name them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub journeys: Vec<JourneyFile>,
    /// Scripted bodies that avoid nobody.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub movers: Vec<MoverFile>,
    /// Jumps over what cannot be walked on. Only the macroscale `multi-domain` takes them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<LinkFile>,
    /// What happens on the way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<EventFile>,
    /// Lines and areas where flow, density and speed are measured; what comes out stands in the report as `measures`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub measure: Vec<MeasureFile>,
    /// Figures of the report that a run must show: counts exactly, costs at most, throughputs at least; with `min_` or `max_` before
    /// the name, at least or at most. Those of a measure are `"measures.NAME.FIGURE"`: of a line `crossings`, `to_left`, `to_right`,
    /// `against` (who crosses against the direction that most have), `first_s`, `last_s`, `flow`, `specific_flow`; of an area `people`
    /// (who have been inside), `density_mean`, `density_max`, `voronoi_mean`, `speed_mean`, `specific_flow`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub expect: BTreeMap<String, f64>,
}

impl ScenarioFile {
    /// Whether anything but agents is held against the map.
    pub(super) fn has_ways(&self) -> bool {
        !(self.sources.is_empty() && self.exits.is_empty() && self.stages.is_empty())
    }
}

/// Which model stands in which stage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PipelineFile {
    /// Where to? Default "straight".
    pub macroscale: String,
    /// Among whom? Default: none.
    pub mesoscale: Vec<String>,
    /// Which velocity now? Default "orca".
    pub microscale: String,
    /// How bodies move. Default "holonomic".
    pub motion: String,
}

impl Default for PipelineFile {
    fn default() -> PipelineFile {
        PipelineFile {
            macroscale: "straight".into(),
            mesoscale: Vec::new(),
            microscale: "orca".into(),
            motion: "holonomic".into(),
        }
    }
}

/// Where one can walk.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MapFile {
    /// The walkable area, as WKT: POLYGON, MULTIPOLYGON or GEOMETRYCOLLECTION, m. Default: the whole plane.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub walkable: Option<String>,
    /// A file with the walkable area, relative to the scenario's folder: .wkt, .geojson or .dxf.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Solid polygons, in either winding.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub obstacles: Vec<ObstacleFile>,
    /// Gaps in the ground: polygons, in either winding. No agent can stand there; those who walk by `footsteps` can step over
    /// them, and for all others they are as good as obstacles.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gaps: Vec<Vec<Point>>,
    /// Open walls: lines of two or more points, seen from both sides.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub walls: Vec<Vec<Point>>,
    /// Ground that is harder to walk on than the rest. Only the macroscale `map-field` looks at it: its routes lead around
    /// where that costs less.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub terrain: Vec<TerrainFile>,
    /// By which lengths space repeats along x and y, m: `[26, 0]` is a ring of 26 m. 0 along an axis that does not repeat, else 1
    /// or more. Who leaves at one side comes in at the other, and its goal comes along: one with the goal `{ offset = [1000, 0] }`
    /// walks round and round for 1000 m. The cell begins at the least coordinate of the walkable area, which must be as wide as
    /// the period and has no wall at these ends; without one, at 0. Of another agent only the nearest image counts. Takes the
    /// macroscale `straight`, no mesoscale, and neither goal areas nor exits. Default: nothing repeats.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub periodic: Option<Point>,
}

/// A piece of ground that is harder to walk on than the rest. Where several overlap, the highest cost counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TerrainFile {
    /// Its corners, in either winding.
    pub polygon: Vec<Point>,
    /// As how many metres one counts when routes are planned. From 1 to 1000.
    #[schemars(range(min = 1.0, max = 1000.0))]
    pub cost: f64,
}

/// A solid polygon: a ring, or a ring with a name.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum ObstacleFile {
    /// Its corners, in either winding.
    Ring(Vec<Point>),
    /// With a name, by which events can remove it.
    Named(NamedObstacle),
}

/// A solid polygon with a name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NamedObstacle {
    /// What to call it.
    pub name: String,
    /// Its corners, in either winding.
    pub polygon: Vec<Point>,
}

/// What cohorts and sources say of their people, written once. `People` is a look at it that does not care which of the two
/// it is.
macro_rules! people {
    (
        $(#[$about:meta])*
        pub struct $name:ident { $( $(#[$attribute:meta])* pub $key:ident : $kind:ty, )* }
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $( $(#[$attribute])* pub $key: $kind, )*
            /// Radius of a body, m. Default 0.25. Must be > 0.
            #[serde(default = "default_radius")]
            pub radius: Number,
            /// Speed of free walking, m/s. Default 1.34.
            #[serde(default = "default_preferred_speed")]
            pub preferred_speed: Number,
            /// Highest speed, m/s. Default: 1.8 or 1.35 times the preferred speed, whichever is more.
            /// A preferred speed that was drawn above it is cut to it.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub max_speed: Option<Number>,
            /// Velocity at first, m/s: `[vx, vy]`, or a list of such with one for each agent. Default: they stand.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub velocity: Option<VelocityFile>,
            /// Where they want to be. May be left out where there is a journey.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub goal: Option<GoalFile>,
            /// The journey that they make, by its name, in the place of a goal.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub journey: Option<String>,
            /// What an agent does at its goal. Default "stay". At an exit everyone leaves.
            #[serde(default)]
            pub on_arrival: OnArrival,
            /// How close to its goal an agent has arrived, m. Default: the largest radius in the cohort.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub goal_radius: Option<f64>,
            /// From when to when an agent should arrive, s. Default: whenever it can. Only the macroscale `multi-domain` plans
            /// for it; the report's figure `in_window` says how many did.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub arrive: Option<[f64; 2]>,
            /// How long after it came an agent begins to walk (premovement), s. Default 0.
            #[serde(default = "default_start")]
            pub start: Number,
            /// The share of an avoidance that an agent takes on, 0 to 1. Default 0.5.
            #[serde(default = "default_responsibility")]
            #[schemars(range(min = 0.0, max = 1.0))]
            pub responsibility: f64,
            /// Whether members keep together: with `groups` in the mesoscale they avoid other groups as one, with `hybrid` as
            /// their local model they keep to their middle; with both the fast wait for the slow. Default false.
            #[serde(default, skip_serializing_if = "is_false")]
            pub together: bool,
            /// The cohort's own local model. Default: the pipeline's.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub microscale: Option<String>,
            /// The cohort's own parameter values, on top of the scenario's.
            #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
            #[schemars(with = "BTreeMap<String, BTreeMap<String, serde_json::Value>>")]
            pub params: ParamsFile,
        }

        impl $name {
            pub(super) fn people(&self) -> People<'_> {
                People {
                    radius: &self.radius,
                    preferred_speed: &self.preferred_speed,
                    max_speed: self.max_speed.as_ref(),
                    velocity: self.velocity.as_ref(),
                    goal: self.goal.as_ref(),
                    journey: self.journey.as_deref(),
                    on_arrival: self.on_arrival,
                    goal_radius: self.goal_radius,
                    arrive: self.arrive,
                    start: &self.start,
                    responsibility: self.responsibility,
                    together: self.together,
                    microscale: self.microscale.as_deref(),
                    params: &self.params,
                }
            }
        }
    };
}

/// What cohorts and sources say of their people.
#[derive(Clone, Copy)]
pub(super) struct People<'a> {
    pub radius: &'a Number,
    pub preferred_speed: &'a Number,
    pub max_speed: Option<&'a Number>,
    pub velocity: Option<&'a VelocityFile>,
    pub goal: Option<&'a GoalFile>,
    pub journey: Option<&'a str>,
    pub on_arrival: OnArrival,
    pub goal_radius: Option<f64>,
    pub arrive: Option<[f64; 2]>,
    pub start: &'a Number,
    pub responsibility: f64,
    pub together: bool,
    pub microscale: Option<&'a str>,
    pub params: &'a ParamsFile,
}

people! {
    /// A cohort: agents that have most things in common.
    pub struct CohortFile {
        /// What to call it. Default: `agents[0]`, `agents[1]` and so on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub name: Option<String>,
        /// How many agents. May be left out where `place` lists points.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub count: Option<u64>,
        /// Where they stand at the start.
        pub place: PlaceFile,
    }
}

people! {
    /// People who come in during the run: by `rate`, at `times`, or as `arrivals` lists them. Who finds no room waits outside
    /// and comes in as soon as there is some, first come, first in.
    pub struct SourceFile {
        /// What to call its people, who are a cohort. Default: `sources[0]`, `sources[1]` and so on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub name: Option<String>,
        /// Where they appear: anywhere inside, at random, clear of one another and of walls. Not with `arrivals`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub area: Option<Vec<Point>>,
        /// How many come, persons/s.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub rate: Option<f64>,
        /// Whether they come at equal intervals or at random (a Poisson process). Default "regular". Only with `rate`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub spacing: Option<Spacing>,
        /// When each of them comes, s.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub times: Option<Vec<f64>>,
        /// When and where each of them comes: time (s), x and y (m).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub arrivals: Option<Vec<[f64; 3]>>,
        /// When the first may come, s. Default 0. Only with `rate`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub from: Option<f64>,
        /// From when on nobody comes any more, s. Default: the scenario's `until`. Only with `rate`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub until: Option<f64>,
        /// How many come at most. Only with `rate`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub count: Option<u64>,
    }
}

/// How the people of a source follow one another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Spacing {
    /// At equal intervals.
    #[default]
    Regular,
    /// At random: a Poisson process.
    Random,
}

/// An area where people leave.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExitFile {
    /// What to call it.
    pub name: String,
    /// Its corners, m. Whoever is inside has left.
    pub area: Vec<Point>,
    /// How many are let out at most, persons/s in all, whatever its width; the others wait inside its area for their turn, and behind
    /// those. To hold people in front of a door, let the area be the doorway. Default: as many as come.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub max_flow: Option<f64>,
    /// How many people expect to get out, persons/s, where they choose the quickest exit. Default: `max_flow`, or 1.3 for each
    /// metre of its longest side.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub capacity: Option<f64>,
    /// Whether it is closed at the start; an event may open it. Default false.
    #[serde(default, skip_serializing_if = "is_false")]
    pub closed: bool,
}

/// How people choose one of several exits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ChooseFile {
    /// The one with the shortest way to its middle.
    #[default]
    Nearest,
    /// The one that is reached first: the way at free speed, or the time that those in front take to get out where that is
    /// longer. Thought over about once a second; a plan is given up for one that saves two seconds and a tenth of the time.
    Quickest,
    /// By chance, with the given shares.
    Share,
}

/// A place on the way: exactly one of `waypoint`, `queue`, `waiting`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StageFile {
    /// What to call it.
    pub name: String,
    /// A place that people walk through.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waypoint: Option<WaypointFile>,
    /// A line in which people are served, one after the other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<QueueFile>,
    /// An area in which people wait until they may go on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<WaitingFile>,
}

/// A place that people walk through: `point` or `area`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WaypointFile {
    /// m.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub point: Option<Point>,
    /// How close to the point one must come, m. Default 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distance: Option<f64>,
    /// Anywhere inside, m.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub area: Option<Vec<Point>>,
}

/// A line in which people are served.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QueueFile {
    /// Where people stand, m: the first is served, those behind move up. Who comes when all are taken waits near the last.
    pub places: Vec<Point>,
    /// How long it takes to serve one, s: a number or a distribution.
    pub service: Number,
}

/// An area in which people wait.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WaitingFile {
    /// Its corners, m. Everyone gets a place in it to stand at.
    pub area: Vec<Point>,
    /// How many it holds. Default: as many as have room. Who finds it full stays where it is until there is room.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity: Option<u64>,
    /// From when on people go on, s. Default: when an event says `release`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<f64>,
}

/// A way of several stages that ends in an exit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JourneyFile {
    /// What to call it.
    pub name: String,
    /// What comes after what: the name of a stage, or a choice between several; last an exit, or a choice between exits.
    pub stages: Vec<LegFile>,
}

/// What comes next on a journey.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum LegFile {
    /// A stage or an exit by its name.
    Name(String),
    /// A choice between several.
    Choice(LegChoiceFile),
}

/// A choice between several stages or exits: exactly one of `share`, `shortest_queue`, `exits`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LegChoiceFile {
    /// By chance: names, and the share of people that goes to each.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub share: BTreeMap<String, f64>,
    /// The queue with the fewest people, in it or on their way to it; of several the nearest.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shortest_queue: Vec<String>,
    /// One of these exits.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exits: Vec<String>,
    /// Which of the exits: "nearest" or "quickest". Default "nearest".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub choose: Option<ChooseFile>,
    /// Those of the exits that they know. Ways by the others count longer. Default: they know all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub familiar: Vec<String>,
    /// As how many times as long the way by an exit that they do not know counts. Default 2. At least 1. Only with `familiar`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1.0))]
    pub unfamiliar: Option<f64>,
    /// How much they go by what others do, 0 to 1: an exit by which all leave who are on their way out by these exits counts as
    /// that part quicker, one by which half of them do as half of that. Thought over about once a second. Default 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub follow: Option<f64>,
}

/// What makes one exit count more than another beside its way: keys that a goal and the end of a journey share.
#[derive(Clone, Copy)]
pub(super) struct LeaningsFile<'a> {
    pub familiar: &'a [String],
    pub unfamiliar: Option<f64>,
    pub follow: Option<f64>,
}

impl GoalFile {
    pub(super) fn leanings(&self) -> LeaningsFile<'_> {
        let GoalFile { familiar, unfamiliar, follow, .. } = self;
        LeaningsFile { familiar, unfamiliar: *unfamiliar, follow: *follow }
    }

    /// The keys that are written and belong to `exits`.
    pub(super) fn keys_of_exits(&self) -> impl Iterator<Item = &'static str> + use<> {
        let keys = [("choose", self.choose.is_some()), ("share", self.share.is_some())];
        let keys = keys.into_iter().filter_map(|(key, written)| written.then_some(key));
        keys.chain(self.leanings().written())
    }
}

impl LegChoiceFile {
    pub(super) fn leanings(&self) -> LeaningsFile<'_> {
        let LegChoiceFile { familiar, unfamiliar, follow, .. } = self;
        LeaningsFile { familiar, unfamiliar: *unfamiliar, follow: *follow }
    }
}

impl LeaningsFile<'_> {
    /// The keys that are written.
    pub fn written(&self) -> impl Iterator<Item = &'static str> + use<> {
        let keys = [
            ("familiar", !self.familiar.is_empty()),
            ("unfamiliar", self.unfamiliar.is_some()),
            ("follow", self.follow.is_some()),
        ];
        keys.into_iter().filter_map(|(key, written)| written.then_some(key))
    }
}

/// A velocity for all, or one for each agent, m/s.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum VelocityFile {
    /// `[vx, vy]` for all.
    All(Point),
    /// One for each agent, in the order of their places.
    Each(Vec<Point>),
}

/// What an agent does at its goal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OnArrival {
    /// It stays there.
    #[default]
    Stay,
    /// It vanishes.
    Leave,
}

/// Where agents stand at the start: exactly one of `grid`, `points`, `circle`, `polygon`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PlaceFile {
    /// Rows of `columns` agents, the first row lowest, each filled towards growing x.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grid: Option<GridFile>,
    /// These points, m.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub points: Option<Vec<Point>>,
    /// Evenly spaced on a circle.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub circle: Option<CircleFile>,
    /// Anywhere inside, at random, clear of one another and of walls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub polygon: Option<Vec<Point>>,
    /// Each agent is moved by a random vector of at most this length, m. Default 0. Not with `polygon`.
    #[serde(skip_serializing_if = "is_zero")]
    #[schemars(range(min = 0.0))]
    pub jitter: f64,
}

/// A grid of agents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GridFile {
    /// The first agent's place: the lower left corner, m.
    pub from: Point,
    /// Agents in a row.
    #[schemars(range(min = 1))]
    pub columns: u64,
    /// Between neighbours, m.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub spacing: f64,
}

/// A circle of agents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CircleFile {
    /// m.
    pub center: Point,
    /// m.
    pub radius: f64,
    /// Where the first agent stands, rad counter-clockwise from the x axis. Default 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub start_angle: f64,
}

/// Where agents want to be: exactly one of `point`, `points`, `antipodal`, `offset`, `random`, `polygon`, `exit`, `exits`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GoalFile {
    /// All at one point, m.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub point: Option<Point>,
    /// A point for each agent, m.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub points: Option<Vec<Point>>,
    /// Across this centre: each at its start mirrored in it, m.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub antipodal: Option<Point>,
    /// Each at its start, moved by this, m.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<Point>,
    /// Each at a point of this area that chance decides, m.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub random: Option<Vec<Point>>,
    /// Anywhere inside this area, m.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub polygon: Option<Vec<Point>>,
    /// Out by this exit, by its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit: Option<String>,
    /// Out by one of these exits. One that is closed is given up for another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exits: Option<Vec<String>>,
    /// Which of the exits. Default "nearest".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub choose: Option<ChooseFile>,
    /// The share of people for each of the exits, with `choose = "share"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<Vec<f64>>,
    /// Those of the exits that they know. Ways by the others count longer. Default: they know all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub familiar: Vec<String>,
    /// As how many times as long the way by an exit that they do not know counts. Default 2. At least 1. Only with `familiar`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1.0))]
    pub unfamiliar: Option<f64>,
    /// How much they go by what others do, 0 to 1: an exit by which all leave who are on their way out by these exits counts as
    /// that part quicker, one by which half of them do as half of that. Thought over about once a second. Default 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub follow: Option<f64>,
}

/// A scripted body that avoids nobody.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MoverFile {
    /// What to call it. Default: `movers[0]`, `movers[1]` and so on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// m. Must be > 0.
    pub radius: f64,
    /// Time (s), x and y (m), times rising.
    pub path: Vec<[f64; 3]>,
    /// Whether it is a platform: it is in no agent's way, agents of the macroscale `multi-domain` can stand on it, also where
    /// the map is not walkable, and are moved with it. Default false.
    #[serde(default, skip_serializing_if = "is_false")]
    pub carries: bool,
}

/// A jump over what cannot be walked on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkFile {
    /// Where it begins, m.
    pub from: Point,
    /// Where it ends, m.
    pub to: Point,
    /// As how many metres of walking it counts when paths are planned. Default 1. At least 0.
    #[serde(default = "default_link_cost")]
    #[schemars(range(min = 0.0))]
    pub cost: f64,
    /// Whether it leads back too. Default false.
    #[serde(default, skip_serializing_if = "is_false")]
    pub both_ways: bool,
}

/// Something that happens once: exactly one of `add_obstacle`, `remove_obstacle`, `retarget`, `close_exit`, `open_exit`,
/// `release`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EventFile {
    /// When, s.
    #[schemars(range(min = 0.0))]
    pub at: f64,
    /// Puts an obstacle on the map.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub add_obstacle: Option<NamedObstacle>,
    /// Takes an obstacle away, by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remove_obstacle: Option<String>,
    /// Gives a cohort a new goal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retarget: Option<RetargetFile>,
    /// Closes an exit, by name: people choose another of theirs, or wait in front of it where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub close_exit: Option<String>,
    /// Opens an exit, by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_exit: Option<String>,
    /// Lets everyone go on who is in a waiting area, by its name, or comes there later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub release: Option<String>,
}

/// A new goal for a cohort. Its starts stand for where agents are in `antipodal` and `offset`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RetargetFile {
    /// The cohort's name.
    pub cohort: String,
    /// Its new goal.
    pub goal: GoalFile,
}

/// A line or an area where something is measured: exactly one of `line`, `area`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MeasureFile {
    /// What to call it. Default: `measure[0]`, `measure[1]` and so on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Who crosses this line, from a point to another, is counted: flow, m.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<[Point; 2]>,
    /// Who is in this polygon is counted: density and speed, m.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub area: Option<Vec<Point>>,
    /// Since when, s. Default 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(range(min = 0.0))]
    pub from: f64,
    /// Until when, s. Default: the end of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0))]
    pub until: Option<f64>,
    /// Time between two samples of an area, s. Default 0.1, or `dt` where that is more. Must be > 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub every: Option<f64>,
    /// Whether the density in an area is also that of Voronoi cells. Default false.
    #[serde(default, skip_serializing_if = "is_false")]
    pub voronoi: bool,
    /// How far a Voronoi cell reaches at most, m. Default: as far as the walkable area. Must be > 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub cut_off: Option<f64>,
    /// Speeds in an area are along this vector, and negative against it. Default: whichever way people go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<Point>,
}

/// A parameter's value: a number, a distribution or a flag.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct ParamValue(pub Value);

fn default_dt() -> f64 {
    0.1
}

fn default_until() -> f64 {
    600.0
}

fn default_radius() -> Number {
    Number::Fixed(0.25)
}

fn default_preferred_speed() -> Number {
    Number::Fixed(1.34)
}

fn default_start() -> Number {
    Number::Fixed(0.0)
}

fn default_link_cost() -> f64 {
    1.0
}

fn is_false(flag: &bool) -> bool {
    !flag
}

fn default_responsibility() -> f64 {
    0.5
}

fn is_zero(number: &f64) -> bool {
    *number == 0.0
}

// Untagged enums of serde only say that "no variant matched"; these visitors keep the path and say what is expected.

impl<'de> Deserialize<'de> for ObstacleFile {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<ObstacleFile, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = ObstacleFile;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a list of points or { name = \"...\", polygon = [...] }")
            }

            fn visit_seq<A: serde::de::SeqAccess<'de>>(self, seq: A) -> Result<ObstacleFile, A::Error> {
                let deserializer = serde::de::value::SeqAccessDeserializer::new(seq);
                Vec::deserialize(deserializer).map(ObstacleFile::Ring)
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(self, map: A) -> Result<ObstacleFile, A::Error> {
                let deserializer = serde::de::value::MapAccessDeserializer::new(map);
                NamedObstacle::deserialize(deserializer).map(ObstacleFile::Named)
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

impl<'de> Deserialize<'de> for LegFile {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<LegFile, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = LegFile;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a name, { share = { name = 0.5, ... } }, { shortest_queue = [...] } or { exits = [...] }")
            }

            fn visit_str<E>(self, name: &str) -> Result<LegFile, E> {
                Ok(LegFile::Name(name.to_owned()))
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(self, map: A) -> Result<LegFile, A::Error> {
                let deserializer = serde::de::value::MapAccessDeserializer::new(map);
                LegChoiceFile::deserialize(deserializer).map(LegFile::Choice)
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

impl<'de> Deserialize<'de> for VelocityFile {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<VelocityFile, D::Error> {
        /// A part of one velocity, or one of many.
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Item {
            Part(f64),
            One(Point),
        }
        let wrong = || {
            serde::de::Error::custom(
                "expected two numbers, [vx, vy], or a list with such a pair for each agent",
            )
        };
        let items = Vec::<Item>::deserialize(deserializer).map_err(|_| wrong())?;
        if let [Item::Part(x), Item::Part(y)] = items[..] {
            return Ok(VelocityFile::All([x, y]));
        }
        let one = |item| if let Item::One(velocity) = item { Ok(velocity) } else { Err(wrong()) };
        items.into_iter().map(one).collect::<Result<_, _>>().map(VelocityFile::Each)
    }
}

impl<'de> Deserialize<'de> for ParamValue {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<ParamValue, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = ParamValue;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a number, a distribution, a name, true or false")
            }

            fn visit_bool<E>(self, flag: bool) -> Result<ParamValue, E> {
                Ok(ParamValue(Value::Flag(flag)))
            }

            fn visit_str<E>(self, word: &str) -> Result<ParamValue, E> {
                Ok(ParamValue(Value::Word(word.into())))
            }

            fn visit_i64<E>(self, number: i64) -> Result<ParamValue, E> {
                Ok(ParamValue(Value::Number(number as f64)))
            }

            fn visit_u64<E>(self, number: u64) -> Result<ParamValue, E> {
                Ok(ParamValue(Value::Number(number as f64)))
            }

            fn visit_f64<E>(self, number: f64) -> Result<ParamValue, E> {
                Ok(ParamValue(Value::Number(number)))
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(self, map: A) -> Result<ParamValue, A::Error> {
                let deserializer = serde::de::value::MapAccessDeserializer::new(map);
                let wrong = |wrong: Wrong| {
                    let (key, complaint) = match wrong {
                        Wrong::Key(key, complaint) => (key, complaint),
                        Wrong::Number(complaint) | Wrong::Item(_, complaint) => ("a distribution", complaint),
                    };
                    serde::de::Error::custom(format!("{key} {complaint}"))
                };
                let draw = Distribution::deserialize(deserializer)?.check().map_err(wrong)?;
                Ok(ParamValue(Value::Drawn(draw)))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}
