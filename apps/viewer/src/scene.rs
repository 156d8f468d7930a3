//! What a page has to know of a scene before frames make sense: sent once, and again when it changes.

use serde::Serialize;
use throng::map;
use throng::record::{Geometry, Run};
use throng::scenario::{Goal, Pipeline, Scenario, Settings};

/// A ring or polyline, m.
type Ring = Vec<[f64; 2]>;

/// A scene as a page gets it.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "type", rename = "scene")]
pub struct Scene {
    /// Frames with another number belong to another scene.
    pub generation: u32,
    /// Whether it can be steered, or only played; or why there is nothing.
    pub mode: Mode,
    /// Its name in the list of what can be opened.
    pub opened: String,
    /// What is told in red: why something could not be opened.
    pub error: Option<String>,
    /// One, or two side by side.
    pub panes: Vec<Pane>,
    /// What can be changed while it runs.
    pub live: Option<Live>,
    /// s; of a recorded run.
    pub duration: Option<f64>,
}

/// What a scene is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Nothing could be opened.
    Nothing,
    /// A simulation.
    Live,
    /// One recorded run or two.
    Recorded,
}

/// A run of its own.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Pane {
    /// What to call it.
    pub name: String,
    /// Who walks.
    pub cohorts: Vec<Cohort>,
    /// Where one can walk.
    pub map: Map,
    /// Lower and upper corner of what there is to see, m.
    pub extent: [[f64; 2]; 2],
    /// Where people want to go; left out where they are very many.
    pub goals: Vec<Target>,
}

/// Who belongs together.
#[derive(Clone, Debug, Serialize)]
pub struct Cohort {
    /// What to call it.
    pub name: String,
    /// How many there are.
    pub count: usize,
}

/// Where one can walk.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Map {
    /// Polygons: outer ring and holes. Empty where the whole plane is walkable.
    pub walkable: Vec<Vec<Ring>>,
    /// What stands in the way.
    pub obstacles: Vec<Obstacle>,
    /// Open walls.
    pub walls: Vec<Ring>,
    /// Where there is no ground.
    pub gaps: Vec<Ring>,
}

/// What stands in the way.
#[derive(Clone, Debug, Serialize)]
pub struct Obstacle {
    /// By which it can be taken away.
    pub name: String,
    /// m.
    pub ring: Ring,
}

/// Where an agent wants to go.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Target {
    /// Who.
    pub cohort: usize,
    /// One point, or the corners of an area, m.
    pub at: Ring,
}

/// What of a simulation can be changed while it runs.
#[derive(Clone, Debug, Serialize)]
pub struct Live {
    /// Key of all random draws.
    pub seed: u64,
    /// s.
    pub dt: f64,
    /// s.
    pub until: f64,
    /// Which model stands where.
    pub pipeline: Pipeline,
    /// Values that are not the catalog's defaults.
    pub params: Settings,
    /// What is no mistake, and yet hardly what was meant.
    pub warnings: Vec<String>,
}

/// More goals than this would cover the map.
const MOST_GOALS: usize = 400;

impl Pane {
    /// Of a scenario, with the map as it is now and goals that may have moved.
    pub fn of(scenario: &Scenario, map: &map::Map, goals: Vec<Target>, counts: &[usize]) -> Pane {
        let cohorts = scenario.cohorts.iter().zip(counts);
        let starts =
            scenario.cohorts.iter().flat_map(|cohort| &cohort.agents).map(|agent| agent.position.to_array());
        let gaps = scenario.map.gaps.iter().map(|ring| ring_of(ring)).collect();
        let map = Map { gaps, ..Map::of(map) };
        let all = starts.chain(goals.iter().flat_map(|goal| goal.at.clone())).chain(map.corners());
        Pane {
            name: scenario.name.clone(),
            cohorts: cohorts.map(|(cohort, &count)| Cohort { name: cohort.name.clone(), count }).collect(),
            extent: extent(all),
            map,
            goals: if goals.len() > MOST_GOALS { Vec::new() } else { goals },
        }
    }

    /// Of a recorded run, with the map as it is at a frame.
    pub fn recorded(run: &Run, frame: u32) -> Pane {
        let mut geometry =
            run.geometry_at(frame).and_then(|wkt| Geometry::parse(wkt).ok()).unwrap_or_default();
        geometry.lines.extend(run.info.walls.iter().cloned());
        let hole = |ring: &Ring| Obstacle { name: String::new(), ring: ring.clone() };
        let holes = geometry.polygons.iter().flat_map(|rings| rings.iter().skip(1).map(hole));
        let outer = |rings: &Vec<Ring>| rings.first().map(|outer| vec![outer.clone()]);
        let open = run.info.open_plane;
        let map = Map {
            obstacles: holes.collect(),
            walkable: if open { Vec::new() } else { geometry.polygons.iter().filter_map(outer).collect() },
            walls: geometry.lines,
            gaps: run.info.gaps.clone(),
        };
        let places = run.tracks().flat_map(|track| {
            let place = move |row: usize| {
                [run.origin.x + f64::from(track.x[row]), run.origin.y + f64::from(track.y[row])]
            };
            (0..track.x.len()).step_by(10).map(place)
        });
        let mut goals: Vec<Target> = run
            .tracks()
            .filter_map(|track| Some(Target { cohort: usize::from(track.cohort), at: vec![track.goal?] }))
            .collect();
        goals.dedup();
        Pane {
            name: run.info.name.clone(),
            cohorts: run
                .info
                .cohorts
                .iter()
                .map(|c| Cohort { name: c.name.clone(), count: c.count as usize })
                .collect(),
            extent: extent(places.chain(map.corners())),
            map,
            goals: if goals.len() > MOST_GOALS { Vec::new() } else { goals },
        }
    }
}

impl Map {
    fn of(plan: &map::Map) -> Map {
        let obstacle = |(name, corners): &(String, Vec<glam::DVec2>)| Obstacle {
            name: name.clone(),
            ring: ring_of(corners),
        };
        Map {
            walkable: plan
                .walkable
                .iter()
                .map(|polygon| polygon.iter().map(|ring| ring_of(ring)).collect())
                .collect(),
            obstacles: plan.obstacles.iter().map(obstacle).collect(),
            walls: plan.walls.iter().map(|ring| ring_of(ring)).collect(),
            gaps: plan.gaps.iter().map(|ring| ring_of(ring)).collect(),
        }
    }

    fn corners(&self) -> impl Iterator<Item = [f64; 2]> + '_ {
        let obstacles = self.obstacles.iter().map(|obstacle| &obstacle.ring);
        self.walkable.iter().flatten().chain(obstacles).chain(&self.walls).flatten().copied()
    }
}

fn ring_of(ring: &[glam::DVec2]) -> Ring {
    ring.iter().map(|corner| corner.to_array()).collect()
}

/// The goals that a scenario begins with, each once.
pub fn targets(scenario: &Scenario) -> Vec<Target> {
    let mut targets: Vec<Target> = Vec::new();
    for (index, cohort) in scenario.cohorts.iter().enumerate() {
        let first = targets.len();
        for agent in &cohort.agents {
            let at = match agent.goal {
                Goal::Point(point) => vec![point.to_array()],
                Goal::Area(area) => ring_of(&scenario.areas[area as usize]),
                // Exits are goals of everyone, below.
                Goal::Journey(_) => continue,
            };
            let target = Target { cohort: index, at };
            // Beyond this many none are shown, and looking through them would be slow.
            if targets.len() <= MOST_GOALS && !targets[first..].contains(&target) {
                targets.push(target);
            }
        }
    }
    targets.extend(scenario.exits.iter().map(|exit| Target { cohort: 0, at: ring_of(&exit.area) }));
    targets
}

/// Around finite places; a square around zero where there are none.
fn extent(places: impl Iterator<Item = [f64; 2]>) -> [[f64; 2]; 2] {
    let around = |[low, high]: [[f64; 2]; 2], [x, y]: [f64; 2]| {
        [[low[0].min(x), low[1].min(y)], [high[0].max(x), high[1].max(y)]]
    };
    let [low, high] = places.fold([[f64::INFINITY; 2], [f64::NEG_INFINITY; 2]], around);
    if low[0] > high[0] { [[-5.0; 2], [5.0; 2]] } else { [low, high] }
}
