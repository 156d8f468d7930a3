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
mod drawing;
mod dxf;
mod error;
mod file;
mod json_span;
mod map;
mod number;
mod overrides;
mod path;
mod place;
mod region;
mod schema;
mod wkt;

pub use error::{Invalid, Problem, ScenarioError};
pub use file::*;
pub use map::{Boundary, Polygon, boundary, edges, signed_area};
pub use number::{Distribution, Number};
pub use overrides::Overrides;
pub use path::{KeyPath, Step};
pub use region::Region;
pub use schema::schema;

pub use crate::catalog::Settings;

pub(crate) use error::closest;
pub(crate) use map::grown;

use document::Document;
use glam::DVec2;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::Path;

/// The planner that knows windows, platforms and jumps.
const PLANS_AHEAD: &str = "multi-domain";
/// The planner that minds costly ground.
const WEIGHS_GROUND: &str = "map-field";
/// The planner that minds no walls, and how many agents of a cohort it is tried on.
const MINDS_NO_WALLS: &str = "straight";
const TRIED: usize = 20;

/// The motion that steps over gaps.
const STEPS_OVER_GAPS: &str = "footsteps";

/// The mesoscale model and the local one that look at [`Cohort::together`].
const KEEP_TOGETHER: [&str; 2] = ["groups", "hybrid"];

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
    pub map: FloorPlan,
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
        let text =
            read(path).map_err(|reason| ScenarioError::Unreadable { path: path.to_owned(), reason })?;
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
        let [among, local] = KEEP_TOGETHER;
        let kept = |cohort: &Cohort| {
            let own = cohort.microscale.as_ref().unwrap_or(&self.pipeline.microscale);
            own == local || self.pipeline.mesoscale.iter().any(|model| model == among)
        };
        let apart = self.cohorts.iter().filter(|cohort| cohort.together && !kept(cohort));
        let warning = |cohort: &Cohort| {
            format!(
                "cohort `{}` has together = true, which does nothing without `{among}` in pipeline.mesoscale or `{local}` \
                 as its local model",
                cohort.name
            )
        };
        let walled = self.walled().into_iter();
        apart.map(warning).chain(self.unused_plans()).chain(self.unused_mesoscale()).chain(walled).collect()
    }

    /// Whose straight way leads through a wall, where nobody plans another.
    fn walled(&self) -> Option<String> {
        if self.pipeline.macroscale != MINDS_NO_WALLS {
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
            "walls are in the straight way of cohort `{}`, and `{MINDS_NO_WALLS}` plans no way around them: \
             `navmesh` as pipeline.macroscale does",
            cohort.name
        ))
    }

    /// Plans that keep clear of everybody are not turned.
    fn unused_mesoscale(&self) -> Option<String> {
        let unused = self.pipeline.macroscale == PLANS_AHEAD && !self.pipeline.mesoscale.is_empty();
        unused.then(|| {
            format!(
                "pipeline.mesoscale does nothing with `{PLANS_AHEAD}`, whose plans keep clear of everybody"
            )
        })
    }

    /// What only one planner looks at, where it is not the one that plans.
    fn unused_plans(&self) -> impl Iterator<Item = String> {
        let keys = [
            ("arrive", self.cohorts.iter().any(|cohort| cohort.arrive.is_some())),
            ("carries", self.movers.iter().any(|mover| mover.carries)),
            ("links", !self.links.is_empty()),
        ];
        let ground = (self.pipeline.macroscale != WEIGHS_GROUND && !self.map.terrain.is_empty())
            .then(|| format!("`terrain` does nothing without `{WEIGHS_GROUND}` as pipeline.macroscale"));
        let unused = self.pipeline.macroscale != PLANS_AHEAD;
        let written = keys.into_iter().filter(move |(_, written)| unused && *written);
        written
            .map(|(key, _)| format!("`{key}` does nothing without `{PLANS_AHEAD}` as pipeline.macroscale"))
            .chain(ground)
    }

    /// The walkable area as WKT, as JuPedSim and PedPy want it: always one POLYGON, with holes.
    ///
    /// Parts of the free space where nobody starts are left out. Where agents start in several parts, or the plan has
    /// no outline, see [`to_wkt`].
    pub fn walkable_wkt(&self) -> String {
        to_wkt(&self.map_for_bodies(), &self.starts(), &self.destinations())
    }

    /// Where bodies can be: over gaps too, where they walk on feet.
    pub fn map_for_bodies(&self) -> FloorPlan {
        if self.pipeline.motion == STEPS_OVER_GAPS {
            return FloorPlan { gaps: Vec::new(), ..self.map.clone() };
        }
        self.map.with_solid_gaps()
    }

    /// Where agents begin, in the order of ids.
    pub(crate) fn starts(&self) -> Vec<DVec2> {
        self.agents().map(|agent| agent.position).collect()
    }

    /// Where anybody will want to be: goals, also later ones, corners of goal areas, and the movers' paths.
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

/// The free space of a plan as one WKT POLYGON, because PedPy reads no other.
///
/// `starts` choose the part of it where several are not connected; if they stand in more than one, the walkable area is
/// written without its obstacles, and if that is several too, its bounding box. Without a walkable area the outline is
/// the bounding box of obstacles, walls, `starts` and `others`, grown by 5 m.
pub fn to_wkt(plan: &FloorPlan, starts: &[DVec2], others: &[DVec2]) -> String {
    to_wkt_with(plan, starts, others, &[])
}

/// The same, with people who stand somewhere now: they help to choose a part, and leave the outline as it is.
pub(crate) fn to_wkt_with(plan: &FloorPlan, starts: &[DVec2], others: &[DVec2], present: &[DVec2]) -> String {
    let walkable = plan.walkable.iter().flatten().flatten();
    let obstacles = plan.obstacles.iter().flat_map(|(_, ring)| ring);
    let walls = plan.walls.iter().flatten();
    let everything = walkable.chain(obstacles).chain(walls).chain(starts).chain(others);
    let frame = vec![frame(everything)];

    let mut free = map::free_polygons(plan, &frame);
    if free.len() > 1 {
        let stands_in = |polygon: &Polygon| {
            let mut places = starts.iter().chain(present);
            places.any(|&place| map::winds_around(&polygon[0], place))
        };
        free.retain(stands_in);
    }
    if free.len() != 1 {
        free = map::free_polygons(&FloorPlan { obstacles: Vec::new(), ..plan.clone() }, &frame);
    }
    if free.len() != 1 {
        free = vec![frame];
    }
    wkt::write(&free)
}

/// Room around a plan that has no outline, m.
const MARGIN: f64 = 5.0;

fn frame<'a>(points: impl Iterator<Item = &'a DVec2>) -> Vec<DVec2> {
    let (low, high) = place::bounds(points);
    // Nothing at all: a square around zero.
    let (low, high) = if low.x > high.x { (DVec2::ZERO, DVec2::ZERO) } else { (low, high) };
    let (low, high) = (low - MARGIN, high + MARGIN);
    vec![low, DVec2::new(high.x, low.y), high, DVec2::new(low.x, high.y)]
}

/// A scenario or a map larger than this is a mistake, such as a device file.
const LARGEST_FILE: u64 = 1 << 30;

fn read(path: &Path) -> io::Result<String> {
    String::from_utf8(read_bytes(path)?)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "stream did not contain valid UTF-8"))
}

fn read_bytes(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(LARGEST_FILE + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST_FILE {
        return Err(io::Error::other("larger than 1 GiB"));
    }
    Ok(bytes)
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
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FloorPlan {
    /// The walkable area as written (outer rings and holes, cleaned); empty where the whole plane is walkable.
    pub walkable: Vec<Vec<Vec<DVec2>>>,
    /// Obstacles as the user named them (`obstacles[3]` where they have no name), each a ring as written but without
    /// repeated corners. [`boundary`] resolves crossings and joins them.
    pub obstacles: Vec<(String, Vec<DVec2>)>,
    /// Where there is no ground: rings as written but without repeated corners.
    pub gaps: Vec<Vec<DVec2>>,
    /// Open walls: polylines seen from both sides.
    pub walls: Vec<Vec<DVec2>>,
    /// Costly ground: rings, and as how many metres one counts there.
    pub terrain: Vec<(Vec<DVec2>, f64)>,
}

impl FloorPlan {
    /// The plan for whoever cannot step over gaps: they are obstacles.
    pub fn with_solid_gaps(&self) -> FloorPlan {
        let gaps = self.gaps.iter().enumerate().map(|(index, ring)| (format!("gaps[{index}]"), ring.clone()));
        let obstacles = self.obstacles.iter().cloned().chain(gaps).collect();
        FloorPlan { obstacles, gaps: Vec::new(), ..self.clone() }
    }

    /// Does what an event does to the map. Says whether it changes it.
    pub(crate) fn change(&mut self, action: &Action) -> bool {
        match action {
            Action::AddObstacle { name, polygon } => self.obstacles.push((name.clone(), polygon.clone())),
            Action::RemoveObstacle(name) => self.obstacles.retain(|(other, _)| other != name),
            Action::Retarget { .. } => return false,
        }
        true
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

/// A jump over what cannot be walked on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Link {
    /// m.
    pub from: DVec2,
    /// m.
    pub to: DVec2,
    /// As how many metres of walking it counts when ways are planned.
    pub cost: f64,
    /// Whether it leads back too.
    pub both_ways: bool,
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
        /// Its ring, as in [`FloorPlan::obstacles`].
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
