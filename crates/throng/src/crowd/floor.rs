//! The floor that a crowd walks on: its map, and what follows from it once for each change.

use super::edit::EditError;
use super::local;
use super::placement::Placement;
use crate::map::{self, Boundary, Map, boundary, boundary_within, winds_around};
use glam::DVec2;
use serde::{Deserialize, Serialize};
use std::sync::OnceLock;
use throng_core::space::{Period, Wall, Walls};
use throng_core::world::{Gaps, Terrain};

/// Coordinates beyond this have lost their millimetres, m.
pub(crate) const FARTHEST: f64 = 1e9;

/// The map of a crowd.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Floor {
    /// As bodies know it: gaps are obstacles, unless bodies step over them.
    pub map: Map,
    /// Where there is no ground.
    gaps: Vec<Vec<DVec2>>,
    /// How often it has changed.
    pub changes: u64,
    /// A box that the outline of an endless plane is drawn around.
    pub within: Option<[DVec2; 2]>,
    #[serde(skip)]
    boundary: OnceLock<Boundary>,
    #[serde(skip)]
    placement: OnceLock<Placement>,
}

impl Floor {
    pub fn new(map: Map, steps_over_gaps: bool) -> Floor {
        let gaps = map.gaps.clone();
        let map = if steps_over_gaps { Map { gaps: Vec::new(), ..map } } else { map.with_solid_gaps() };
        Floor { map, gaps, ..Floor::default() }
    }

    /// The same floor for bodies that step over gaps, or do not.
    pub fn for_feet(&self, steps_over_gaps: bool) -> Floor {
        let mut map = Map { gaps: self.gaps.clone(), ..self.map.clone() };
        map.obstacles.retain(|(name, _)| !Map::is_gap(name));
        let floor = Floor::new(map, steps_over_gaps);
        Floor { changes: self.changes + 1, within: self.within, ..floor }
    }

    /// Lets the outline of an endless plane hold a place.
    pub fn draw_around(&mut self, place: DVec2) {
        let place = self.map.repeat().fold(place);
        let [low, high] = self.within.unwrap_or([place; 2]);
        self.within = Some([low.min(place), high.max(place)]);
    }

    pub fn boundary(&self) -> &Boundary {
        self.boundary.get_or_init(|| boundary(&self.map))
    }

    pub fn placement(&self, origin: DVec2) -> &Placement {
        self.placement.get_or_init(|| Placement::new(self.boundary(), &self.gaps, origin))
    }

    /// With another obstacle.
    pub fn with_obstacle(&self, name: &str, ring: Vec<DVec2>) -> Result<Floor, EditError> {
        if self.map.obstacles.iter().any(|(other, _)| other == name) {
            return Err(EditError::NameTaken(name.into()));
        }
        let ring = map::without_repeats(&ring);
        if !ring.iter().all(|&corner| is_within_reach(corner)) || ring.len() < 2 {
            return Err(EditError::BadRing { what: "an obstacle", corners: 2 });
        }
        let mut map = self.map.clone();
        map.obstacles.push((name.into(), ring));
        let floor = self.changed(map);
        if floor.boundary().is_blocked() { Err(EditError::NothingLeft(name.into())) } else { Ok(floor) }
    }

    /// With an obstacle less.
    pub fn without_obstacle(&self, name: &str) -> Result<Floor, EditError> {
        let mut map = self.map.clone();
        map.obstacles.retain(|(other, _)| other != name);
        if map.obstacles.len() == self.map.obstacles.len() {
            let known = map.obstacles.into_iter().map(|(name, _)| name).collect();
            return Err(EditError::UnknownObstacle { name: name.into(), known });
        }
        Ok(self.changed(map))
    }

    fn changed(&self, map: Map) -> Floor {
        let (gaps, within) = (self.gaps.clone(), self.within);
        Floor { map, gaps, within, changes: self.changes + 1, ..Floor::default() }
    }

    /// Says what is wrong with a place where an agent is to be.
    pub fn check_free(&self, what: &'static str, place: DVec2, origin: DVec2) -> Result<(), EditError> {
        let wrong = |why: String| Err(EditError::NotFree { what, place, why });
        if !is_within_reach(place) {
            return wrong("not finite, or beyond 1e9 m".into());
        }
        if self.placement(origin).is_free(place) {
            return Ok(());
        }
        let folded = self.map.repeat().fold(place);
        let covers = |ring: &[DVec2]| [place, folded].iter().any(|&place| winds_around(ring, place));
        match self.map.obstacles.iter().find(|(_, ring)| covers(ring)) {
            Some((name, _)) => wrong(format!("inside obstacle `{name}`")),
            None => wrong("outside the walkable area".into()),
        }
    }

    /// What bounds free space, as walls of the world.
    pub fn walls(&self, origin: DVec2, range: f32) -> Walls {
        let further;
        let boundary = match self.map.repeat().is_none() {
            true => self.boundary(),
            false => {
                further = boundary_within(&self.map, f64::from(range));
                &further
            }
        };
        let wall =
            |[a, b]: [DVec2; 2], two_sided| Wall { a: local(a, origin), b: local(b, origin), two_sided };
        let solid = boundary.edges().map(|edge| wall(edge, false));
        let open = boundary.walls.iter().map(|&edge| wall(edge, true));
        Walls::new(solid.chain(open).collect(), range)
    }

    /// How space repeats, in the world's coordinates.
    pub fn period(&self, origin: DVec2) -> Period {
        let repeat = self.map.repeat();
        Period::new(local(repeat.low, origin), repeat.length.as_vec2())
    }

    /// Costly ground of the world.
    pub fn terrain(&self, origin: DVec2) -> Vec<Terrain> {
        let piece = |(ring, cost): &(Vec<DVec2>, f64)| Terrain {
            ring: ring.iter().map(|&corner| local(corner, origin)).collect(),
            cost: *cost as f32,
        };
        self.map.terrain.iter().map(piece).collect()
    }

    /// Where there is no ground for feet.
    pub fn gaps(&self, origin: DVec2) -> Gaps {
        let ring = |ring: &Vec<DVec2>| ring.iter().map(|&corner| corner - origin).collect();
        Gaps::new(self.gaps.iter().map(ring).collect::<Vec<_>>())
    }
}

/// Whether a place has coordinates that can be calculated with. Not where they are no numbers.
pub(crate) fn is_within_reach(place: DVec2) -> bool {
    place.x.abs() <= FARTHEST && place.y.abs() <= FARTHEST
}
