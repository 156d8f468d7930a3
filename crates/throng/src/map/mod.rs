//! Maps: where one can walk.

mod boundary;
pub(crate) mod drawing;
mod dxf;
#[cfg(feature = "scenario")]
mod geojson;
mod periodic;
mod region;
pub(crate) mod wkt;

pub use boundary::{Boundary, Polygon, boundary, edges, signed_area};
pub use periodic::Repeat;
pub use region::Region;

#[cfg(feature = "scenario")]
pub(crate) use drawing::read_text;
#[cfg(feature = "scenario")]
pub(crate) use {boundary::free_area, throng_core::geom::double::cross};

pub(crate) use boundary::{
    boundary_within, clean_polygons, grown, winds_around, without_repeats, without_repeats_open,
};

use glam::DVec2;
use serde::{Deserialize, Serialize};

/// What a drawing of a floor plan holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Drawing {
    /// Areas: an outer ring, then holes.
    pub polygons: Vec<Polygon>,
    /// Open walls.
    pub lines: Vec<Vec<DVec2>>,
}

/// Where one can walk: cleaned polygons and open walls.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Map {
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
    /// By which lengths the map repeats along x and y, m; 0 along an axis where it does not. The cell that repeats begins at the
    /// least coordinate of the walkable area, or at 0 where there is none.
    pub periodic: DVec2,
}

impl Map {
    /// Whether nothing is drawn: the whole plane is walkable.
    pub fn is_empty(&self) -> bool {
        self.walkable.is_empty() && self.obstacles.is_empty() && self.gaps.is_empty() && self.walls.is_empty()
    }

    /// Whether an obstacle stands for a gap in the ground.
    pub(crate) fn is_gap(obstacle: &str) -> bool {
        obstacle.starts_with("gaps[")
    }

    /// The map for bodies that cannot step over gaps: they are obstacles.
    pub fn with_solid_gaps(&self) -> Map {
        let gaps = self.gaps.iter().enumerate().map(|(index, ring)| (format!("gaps[{index}]"), ring.clone()));
        let obstacles = self.obstacles.iter().cloned().chain(gaps).collect();
        Map { obstacles, gaps: Vec::new(), ..self.clone() }
    }
}

/// The free space of a map as one WKT POLYGON, because PedPy reads no other.
///
/// `starts` choose the part of it where several are not connected; if they stand in more than one, the walkable area is
/// written without its obstacles, and if that is several too, its bounding box. Without a walkable area the outline is
/// the bounding box of obstacles, walls, `starts` and `others`, grown by 5 m.
pub fn to_wkt(map: &Map, starts: &[DVec2], others: &[DVec2]) -> String {
    let (low, high) = bounds(starts.iter().chain(others));
    to_wkt_around(map, low.cmple(high).all().then_some([low, high]), starts)
}

/// The same, with a box that an endless plane must hold, and agents that are somewhere now.
pub(crate) fn to_wkt_around(map: &Map, within: Option<[DVec2; 2]>, present: &[DVec2]) -> String {
    let frame = vec![outline(map, within)];
    let mut free = boundary::free_polygons(map, &frame);
    if free.len() > 1 {
        free.retain(|polygon| present.iter().any(|&place| winds_around(&polygon[0], place)));
    }
    if free.len() != 1 {
        free = boundary::free_polygons(&Map { obstacles: Vec::new(), ..map.clone() }, &frame);
    }
    if free.len() != 1 {
        free = vec![frame];
    }
    wkt::write(&free)
}

/// The free space of a map as polygons; a box that an endless plane must hold stands for its outline.
pub(crate) fn free_around(map: &Map, within: Option<[DVec2; 2]>) -> Vec<Polygon> {
    boundary::free_polygons(map, &vec![outline(map, within)])
}

/// A box around all that is drawn, and more; where the map repeats, one cell.
fn outline(map: &Map, within: Option<[DVec2; 2]>) -> Vec<DVec2> {
    let walkable = map.walkable.iter().flatten().flatten();
    let obstacles = map.obstacles.iter().flat_map(|(_, ring)| ring);
    let walls = map.walls.iter().flatten();
    let [low, high] = frame(walkable.chain(obstacles).chain(walls).chain(within.iter().flatten()));
    let repeat = map.repeat();
    let repeats = repeat.length.cmpgt(DVec2::ZERO);
    let low = DVec2::select(repeats, repeat.low, low);
    let high = DVec2::select(repeats, repeat.low + repeat.length, high);
    vec![low, DVec2::new(high.x, low.y), high, DVec2::new(low.x, high.y)]
}

/// Room around a plan that has no outline, m.
const MARGIN: f64 = 5.0;

fn frame<'a>(points: impl Iterator<Item = &'a DVec2>) -> [DVec2; 2] {
    let (low, high) = bounds(points);
    // Nothing at all: a square around zero.
    let (low, high) = if low.x > high.x { (DVec2::ZERO, DVec2::ZERO) } else { (low, high) };
    [low - MARGIN, high + MARGIN]
}

/// The box around points.
pub(crate) fn bounds<'a>(points: impl IntoIterator<Item = &'a DVec2>) -> (DVec2, DVec2) {
    let grow = |(low, high): (DVec2, DVec2), point: &DVec2| (low.min(*point), high.max(*point));
    points.into_iter().fold((DVec2::MAX, DVec2::MIN), grow)
}

/// A jump over what cannot be walked on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Link {
    /// m.
    pub from: DVec2,
    /// m.
    pub to: DVec2,
    /// Cost of taking it, in metres of walking.
    pub cost: f64,
    /// Whether it leads back too.
    pub both_ways: bool,
}

/// The corners of a ring as a caller has them: a slice, an array or a vector of anything that is a point.
pub trait Ring {
    /// The corners in order, m.
    fn corners(&self) -> Vec<DVec2>;
}

impl<P: Copy + Into<DVec2>> Ring for [P] {
    fn corners(&self) -> Vec<DVec2> {
        self.iter().map(|&corner| corner.into()).collect()
    }
}

impl<P: Copy + Into<DVec2>, const N: usize> Ring for [P; N] {
    fn corners(&self) -> Vec<DVec2> {
        self.as_slice().corners()
    }
}

impl<P: Copy + Into<DVec2>> Ring for Vec<P> {
    fn corners(&self) -> Vec<DVec2> {
        self.as_slice().corners()
    }
}

/// What is wrong with a map.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MapError {
    /// A ring or a line with too few corners, or with one that cannot be calculated with.
    #[error("{what} needs {corners} different corners or more, all of them within 1e9 m")]
    Corners {
        /// Of what.
        what: String,
        /// How many.
        corners: usize,
    },
    /// Two obstacles of one name.
    #[error("another obstacle is called `{0}` already; choose another name")]
    NameTaken(String),
    /// An area that is none.
    #[error("the walkable area has no area; draw a polygon, or leave it out for the whole plane")]
    NoArea,
    /// A period that is none.
    #[error("periodic = {length} along {axis} must be 0 for a map that does not repeat, or from 1 to 1e9 m")]
    Period {
        /// Along which.
        axis: &'static str,
        /// As given.
        length: f64,
    },
    /// A walkable area that is wider than the period, or ends before it.
    #[error(
        "the walkable area is {width} m wide along {axis} and the period is {length} m; it must reach from one side of the period to the other and no further: let both be the same"
    )]
    PeriodWidth {
        /// Along which.
        axis: &'static str,
        /// The period.
        length: f64,
        /// The area's.
        width: f64,
    },
    /// A text that is no well-known text.
    #[error("not a floor plan: {0}")]
    Wkt(String),
    /// A file that cannot be read.
    #[error("{path}: {reason}")]
    File {
        /// Which.
        path: String,
        /// Why not.
        reason: String,
    },
}

// Maps in code.
impl Map {
    /// A map from well-known text: polygons are walkable areas, lines are walls.
    pub fn from_wkt(text: &str) -> Result<Map, MapError> {
        Map::from_drawing(wkt::parse(text).map_err(MapError::Wkt)?)
    }

    /// A map from a file: well-known text (`.wkt`), a drawing (`.dxf`), and with the feature `scenario` also `.geojson`.
    pub fn open(path: impl AsRef<std::path::Path>) -> Result<Map, MapError> {
        let path = path.as_ref();
        let failed = |reason: String| MapError::File { path: path.display().to_string(), reason };
        Map::from_drawing(drawing::load(path).map_err(failed)?)
    }

    fn from_drawing(drawing: Drawing) -> Result<Map, MapError> {
        let mut map = Map::default();
        let rings = drawing.polygons.iter().flatten().chain(&drawing.lines);
        check_corners(rings.flatten().copied(), "a floor plan", 0)?;
        if !drawing.polygons.is_empty() {
            map.walkable = clean_polygons(&drawing.polygons);
            if map.walkable.is_empty() {
                return Err(MapError::NoArea);
            }
        }
        map.walls = drawing.lines;
        Ok(map)
    }

    /// Joins a polygon (an outer ring, then holes) to the walkable area.
    pub fn add_walkable(&mut self, polygon: Polygon) -> Result<(), MapError> {
        for ring in &polygon {
            check_corners(without_repeats(ring), "a walkable area", 3)?;
        }
        let joined: Vec<Polygon> = self.walkable.iter().cloned().chain([polygon]).collect();
        self.walkable = clean_polygons(&joined);
        if self.walkable.is_empty() { Err(MapError::NoArea) } else { Ok(()) }
    }

    /// Adds an obstacle.
    pub fn add_obstacle(&mut self, name: impl Into<String>, ring: Vec<DVec2>) -> Result<(), MapError> {
        let (name, ring) = (name.into(), without_repeats(&ring));
        check_corners(ring.iter().copied(), &format!("obstacle `{name}`"), 2)?;
        if self.obstacles.iter().any(|(other, _)| *other == name) {
            return Err(MapError::NameTaken(name));
        }
        self.obstacles.push((name, ring));
        Ok(())
    }

    /// Adds an open wall.
    pub fn add_wall(&mut self, line: Vec<DVec2>) -> Result<(), MapError> {
        let line = without_repeats_open(&line);
        check_corners(line.iter().copied(), "a wall", 2)?;
        self.walls.push(line);
        Ok(())
    }

    /// Every corner.
    pub fn points(&self) -> impl Iterator<Item = &DVec2> {
        let rings = self.walkable.iter().flatten().chain(self.obstacles.iter().map(|(_, ring)| ring));
        rings.chain(&self.gaps).chain(&self.walls).flatten()
    }
}

fn check_corners(corners: impl IntoIterator<Item = DVec2>, what: &str, least: usize) -> Result<(), MapError> {
    let mut count = 0;
    let is_sane = corners.into_iter().inspect(|_| count += 1).all(crate::crowd::is_within_reach);
    if is_sane && count >= least {
        Ok(())
    } else {
        Err(MapError::Corners { what: what.into(), corners: least })
    }
}
