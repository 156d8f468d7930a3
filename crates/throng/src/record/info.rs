//! What a file should know about the run that it holds.

use crate::scenario::{Goal, Mover, Scenario};
use glam::DVec2;
use serde::{Deserialize, Serialize};
use throng_core::world;

/// What a file should know about the run that it holds. Coordinates are the scenario's.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunInfo {
    /// What to call it.
    pub name: String,
    /// Step, s.
    pub dt: f64,
    /// Key of every random stream.
    pub seed: u64,
    /// Where one can walk at the start, as other tools read it: a WKT polygon with holes.
    pub geometry_wkt: String,
    /// Whether the outer ring of `geometry_wkt` is only a frame drawn round an endless plane, and no wall.
    pub open_plane: bool,
    /// Where there is no ground: rings.
    pub gaps: Vec<Vec<[f64; 2]>>,
    /// Open walls, as polylines, which a walkable area in WKT cannot hold.
    pub walls: Vec<Vec<[f64; 2]>>,
    /// Who walks, in the order of ids.
    pub cohorts: Vec<CohortInfo>,
    /// Where each agent wants to be, by id; may be empty.
    pub goals: Vec<[f64; 2]>,
    /// Scripted bodies.
    pub movers: Vec<MoverInfo>,
    /// By which lengths space repeats along x and y, m; 0 where it does not. Places lie in one cell of it.
    #[serde(skip_serializing_if = "is_endless")]
    pub periodic: [f64; 2],
}

fn is_endless(periodic: &[f64; 2]) -> bool {
    *periodic == [0.0; 2]
}

/// A scripted body as a file knows it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MoverInfo {
    /// m.
    pub radius: f64,
    /// Whether it is a platform.
    pub carries: bool,
    /// Time, s, and place, m, rising in time.
    pub path: Vec<[f64; 3]>,
}

/// A cohort as a file knows it: a run of ids with a name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CohortInfo {
    /// What to call it.
    pub name: String,
    /// Its first member's id.
    pub first_id: u32,
    /// How many members it has.
    pub count: u32,
    /// Mean radius of its members, m; 0 where it is not known.
    pub radius: f64,
}

impl RunInfo {
    /// What the files of a scenario's run should know.
    ///
    /// An endless plane has no WKT, and PedPy needs a polygon: see [`Scenario::walkable_wkt`].
    pub fn of(scenario: &Scenario) -> RunInfo {
        let goals: Vec<DVec2> =
            scenario.cohorts.iter().flat_map(|c| &c.agents).map(|a| goal_point(scenario, a.goal)).collect();
        let repeat = scenario.map.repeat();
        RunInfo {
            name: scenario.name.clone(),
            dt: scenario.dt,
            seed: scenario.seed,
            geometry_wkt: scenario.walkable_wkt(),
            open_plane: scenario.map.walkable.is_empty(),
            gaps: lines(&scenario.map.gaps),
            walls: lines(&scenario.map.walls),
            cohorts: cohorts(scenario),
            goals: goals.iter().map(|&goal| repeat.fold(goal).to_array()).collect(),
            movers: scenario.movers.iter().map(MoverInfo::of).collect(),
            periodic: scenario.map.periodic.to_array(),
        }
    }

    /// Scripted bodies, with places as seen from an origin.
    pub fn movers_around(&self, origin: DVec2) -> Vec<world::Mover> {
        let place = |&[t, x, y]: &[f64; 3]| (t, (DVec2::new(x, y) - origin).as_vec2());
        let mover = |mover: &MoverInfo| world::Mover {
            radius: mover.radius as f32,
            path: mover.path.iter().map(place).collect(),
            carries: mover.carries,
            driven: false,
        };
        self.movers.iter().map(mover).collect()
    }
}

impl MoverInfo {
    fn of(mover: &Mover) -> MoverInfo {
        let path = mover.path.iter().map(|&(t, place)| [t, place.x, place.y]).collect();
        MoverInfo { radius: mover.radius, carries: mover.carries, path }
    }
}

fn lines(lines: &[Vec<DVec2>]) -> Vec<Vec<[f64; 2]>> {
    lines.iter().map(|line| line.iter().map(|point| point.to_array()).collect()).collect()
}

fn cohorts(scenario: &Scenario) -> Vec<CohortInfo> {
    let mut first_id = 0;
    let mut infos = Vec::with_capacity(scenario.cohorts.len());
    for (index, cohort) in scenario.cohorts.iter().enumerate() {
        let source = scenario.sources.iter().find(|source| source.cohort == index);
        let coming = source.iter().flat_map(|source| source.people.iter().map(|(_, agent)| agent));
        let (sum, count) = cohort
            .agents
            .iter()
            .chain(coming)
            .fold((0.0, 0), |(sum, count), agent| (sum + agent.radius, count + 1));
        // The people of several sources have ids in the order of their coming, which no run of ids can tell.
        let known = if source.is_some() && scenario.sources.len() > 1 { 0 } else { count };
        infos.push(CohortInfo {
            name: cohort.name.clone(),
            first_id,
            count: known,
            radius: sum / f64::from(count.max(1)),
        });
        first_id += known;
    }
    infos
}

/// An area's goal is drawn at its vertices' mean.
fn goal_point(scenario: &Scenario, goal: Goal) -> DVec2 {
    match goal {
        Goal::Point(point) => point,
        Goal::Area(area) => {
            let ring = &scenario.areas[area as usize];
            ring.iter().sum::<DVec2>() / ring.len().max(1) as f64
        }
        // Drawn at the first exit that there is to choose.
        Goal::Journey(journey) => {
            let ending = &scenario.journeys[journey as usize].ending;
            ending.exits.first().map_or(DVec2::ZERO, |&exit| scenario.exits[exit].middle)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map::Map;
    use crate::record::Geometry;
    use crate::scenario::{AgentStart, Cohort, Pipeline};
    use std::collections::BTreeMap;

    fn scenario() -> Scenario {
        let agent = |x: f64, goal| AgentStart {
            position: DVec2::new(x, 0.0),
            velocity: DVec2::ZERO,
            goal,
            radius: 0.2 + 0.1 * x,
            preferred_speed: 1.3,
            max_speed: 1.8,
            start: 0.0,
        };
        let cohort = |name: &str, agents| Cohort {
            name: name.into(),
            agents,
            area: None,
            leaves: false,
            goal_radius: 0.5,
            arrive: None,
            responsibility: 0.5,
            together: false,
            microscale: None,
            params: BTreeMap::new(),
        };
        let point = Goal::Point(DVec2::new(9.0, 1.0));
        let square = |low: f64, high: f64| {
            [(low, low), (high, low), (high, high), (low, high)].map(DVec2::from).to_vec()
        };
        Scenario {
            name: "two".into(),
            seed: 7,
            dt: 0.1,
            until: 10.0,
            pipeline: Pipeline {
                macroscale: "straight".into(),
                mesoscale: vec![],
                microscale: "orca".into(),
                motion: "holonomic".into(),
            },
            params: BTreeMap::new(),
            map: Map { obstacles: vec![("block".into(), square(2.0, 3.0))], ..Map::default() },
            cohorts: vec![
                cohort("west", vec![agent(0.0, point), agent(2.0, point)]),
                cohort("east", vec![agent(1.0, Goal::Area(0))]),
            ],
            areas: vec![square(-4.0, -2.0)],
            sources: vec![],
            exits: vec![],
            stages: vec![],
            journeys: vec![],
            movers: vec![],
            links: vec![],
            events: vec![],
            measures: vec![],
            expect: BTreeMap::new(),
            source: String::new(),
        }
    }

    #[test]
    fn cohorts_are_runs_of_ids_and_areas_are_points() {
        let info = RunInfo::of(&scenario());
        let cohorts: Vec<_> = info.cohorts.iter().map(|c| (c.name.as_str(), c.first_id, c.count)).collect();
        assert_eq!(cohorts, [("west", 0, 2), ("east", 2, 1)]);
        assert!((info.cohorts[0].radius - 0.3).abs() < 1e-12);
        assert_eq!(info.goals, [[9.0, 1.0], [9.0, 1.0], [-3.0, -3.0]]);
    }

    #[test]
    fn an_endless_plane_gets_a_frame_with_obstacles_as_holes() {
        let info = RunInfo::of(&scenario());
        assert!(info.open_plane);
        let polygons = Geometry::parse(&info.geometry_wkt).unwrap().polygons;
        assert_eq!(polygons[0][0][0], [-9.0, -9.0]);
        assert_eq!(polygons[0][0][2], [14.0, 8.0]);
        assert_eq!(polygons[0][1].len(), 4);
    }

    #[test]
    fn a_walkable_area_keeps_its_rings() {
        let mut scenario = scenario();
        let ring = [(-9.0, -9.0), (12.0, -9.0), (0.0, 30.0)].map(DVec2::from).to_vec();
        scenario.map.walkable = vec![vec![ring]];
        let info = RunInfo::of(&scenario);
        assert!(!info.open_plane);
        let polygons = Geometry::parse(&info.geometry_wkt).unwrap().polygons;
        assert_eq!((polygons[0][0].len(), polygons[0].len()), (3, 2));
    }
}
