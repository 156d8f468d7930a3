//! Maps that repeat: a cell, and what lies beyond its seams.
//!
//! The cell begins at the least coordinate of the walkable area, or at 0 where there is none, and is as long as the period. To
//! know what bounds free space, the plan is laid out several times side by side and joined: the ends of a corridor are open where
//! they meet, and a wall along it is one wall, which no agent that walks past a seam can tell from any other.

use super::{Map, MapError, Polygon, bounds};
use crate::crowd::FARTHEST;
use glam::DVec2;

/// A shorter period is a slip of the keyboard, m.
const SHORTEST: f64 = 1.0;
/// Widths that differ by less are one, m.
const SAME_WIDTH: f64 = 1e-9;
/// Copies each way at most: a body that sees walls further than this many periods away sees enough of them.
const MOST_COPIES: f64 = 32.0;

/// By which lengths a map repeats, and from where on.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Repeat {
    /// Where the cell begins, m; 0 along an axis that does not repeat.
    pub low: DVec2,
    /// How long it is, m; 0 along an axis that does not repeat.
    pub length: DVec2,
}

impl Repeat {
    /// A place in the cell that stands for a place anywhere.
    pub fn fold(&self, place: DVec2) -> DVec2 {
        let along = |place: f64, low: f64, length: f64| {
            if length > 0.0 { low + (place - low).rem_euclid(length) } else { place }
        };
        DVec2::new(along(place.x, self.low.x, self.length.x), along(place.y, self.low.y, self.length.y))
    }

    /// From one place to the nearest image of another, given their difference.
    pub fn nearest(&self, offset: DVec2) -> DVec2 {
        let along = |offset: f64, length: f64| {
            if length > 0.0 { offset - length * (offset / length).round() } else { offset }
        };
        DVec2::new(along(offset.x, self.length.x), along(offset.y, self.length.y))
    }

    /// The middle of the cell; of another place along an axis that does not repeat.
    pub(crate) fn middle_or(&self, other: DVec2) -> DVec2 {
        DVec2::select(self.length.cmpgt(DVec2::ZERO), self.low + self.length / 2.0, other)
    }

    /// Whether nothing repeats.
    pub fn is_none(&self) -> bool {
        self.length == DVec2::ZERO
    }

    /// From the cell to itself and all around it, so far that nothing within `reach` of it is missing.
    fn copies(&self, reach: f64) -> [i64; 2] {
        self.length.to_array().map(|length| match length > 0.0 {
            true => ((reach / length).floor() + 1.0).clamp(1.0, MOST_COPIES) as i64,
            false => 0,
        })
    }

    /// By how much a ring has to be moved to overlap the cell or one of its copies, once for each.
    fn moves(&self, ring: &[DVec2], copies: [i64; 2]) -> impl Iterator<Item = DVec2> + use<> {
        let (low, high) = bounds(ring);
        let along = |low: f64, high: f64, begin: f64, length: f64, copies: i64| {
            if length <= 0.0 {
                return (0, 0);
            }
            let reach = copies as f64 * length;
            let first = ((begin - reach - high) / length).ceil();
            let last = ((begin + length + reach - low) / length).floor();
            (first as i64, last as i64)
        };
        let x = along(low.x, high.x, self.low.x, self.length.x, copies[0]);
        let y = along(low.y, high.y, self.low.y, self.length.y, copies[1]);
        let length = self.length;
        (x.0..=x.1).flat_map(move |i| (y.0..=y.1).map(move |j| length * DVec2::new(i as f64, j as f64)))
    }
}

impl Map {
    /// How it repeats.
    pub fn repeat(&self) -> Repeat {
        if self.periodic == DVec2::ZERO {
            return Repeat::default();
        }
        let (low, high) = bounds(self.walkable.iter().flatten().flatten());
        let begin = if low.cmple(high).all() { low } else { DVec2::ZERO };
        let along = |begin: f64, length: f64| if length > 0.0 { begin } else { 0.0 };
        let length = self.periodic;
        Repeat { low: DVec2::new(along(begin.x, length.x), along(begin.y, length.y)), length }
    }

    /// Says what is wrong with its period.
    pub fn check_period(&self) -> Result<(), MapError> {
        let (low, high) = bounds(self.walkable.iter().flatten().flatten());
        for (axis, length, width) in
            [("x", self.periodic.x, high.x - low.x), ("y", self.periodic.y, high.y - low.y)]
        {
            if length == 0.0 {
                continue;
            }
            if !(SHORTEST..=FARTHEST).contains(&length) {
                return Err(MapError::Period { axis, length });
            }
            if !self.walkable.is_empty() && (width - length).abs() > SAME_WIDTH {
                return Err(MapError::PeriodWidth { axis, length, width });
            }
        }
        Ok(())
    }

    /// The map laid out side by side, so that nothing within `reach` of the cell is missing, m. It repeats no more.
    pub(super) fn laid_out(&self, reach: f64) -> Map {
        let repeat = self.repeat();
        let copies = repeat.copies(reach);
        let steps = |copies: i64| -copies..=copies;
        let tiles = steps(copies[0]).flat_map(|i| steps(copies[1]).map(move |j| (i, j)));
        let tile = |(i, j): (i64, i64)| {
            let by = repeat.length * DVec2::new(i as f64, j as f64);
            self.walkable.iter().map(move |polygon| moved_polygon(polygon, by))
        };
        Map {
            walkable: tiles.flat_map(tile).collect(),
            obstacles: self.repeated_obstacles(copies),
            walls: repeated(&self.walls, &repeat, copies).collect(),
            periodic: DVec2::ZERO,
            ..self.clone()
        }
    }

    /// The cell alone, with all obstacles that reach into it.
    pub(super) fn cell(&self) -> Map {
        Map { obstacles: self.repeated_obstacles([0, 0]), periodic: DVec2::ZERO, ..self.clone() }
    }

    fn repeated_obstacles(&self, copies: [i64; 2]) -> Vec<(String, Vec<DVec2>)> {
        let repeat = self.repeat();
        let images = |(name, ring): &(String, Vec<DVec2>)| {
            let rings: Vec<_> = repeated(std::slice::from_ref(ring), &repeat, copies).collect();
            let name = name.clone();
            rings.into_iter().map(move |ring| (name.clone(), ring))
        };
        self.obstacles.iter().flat_map(images).collect()
    }
}

fn repeated<'r>(
    rings: &'r [Vec<DVec2>],
    repeat: &'r Repeat,
    copies: [i64; 2],
) -> impl Iterator<Item = Vec<DVec2>> + 'r {
    rings.iter().flat_map(move |ring| repeat.moves(ring, copies).map(move |by| moved(ring, by)))
}

fn moved(ring: &[DVec2], by: DVec2) -> Vec<DVec2> {
    ring.iter().map(|&corner| corner + by).collect()
}

fn moved_polygon(polygon: &Polygon, by: DVec2) -> Polygon {
    polygon.iter().map(|ring| moved(ring, by)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map::{Region, boundary, boundary_within};

    fn corridor(from: f64, to: f64) -> Map {
        let ring = [(from, 0.0), (to, 0.0), (to, 2.0), (from, 2.0)].map(DVec2::from).to_vec();
        Map { walkable: vec![vec![ring]], periodic: DVec2::new(26.0, 0.0), ..Map::default() }
    }

    #[test]
    fn a_corridor_has_two_long_walls_and_no_ends_nearby() {
        for reach in [0.0, 5.0, 60.0] {
            let bounds = boundary_within(&corridor(3.1, 29.1), reach);
            let edges: Vec<[DVec2; 2]> = bounds.edges().collect();
            assert_eq!(edges.len(), 4, "{edges:?}");
            let end = edges.iter().flatten().map(|end| end.x).fold(f64::MAX, f64::min);
            assert!(end < 3.1 - reach, "an end at {end} is seen from {reach} m away");
        }
    }

    #[test]
    fn an_obstacle_reaches_across_the_seam() {
        let mut map = corridor(0.0, 26.0);
        map.add_obstacle(
            "crate",
            [(25.0, 0.5), (27.0, 0.5), (27.0, 1.5), (25.0, 1.5)].map(DVec2::from).into(),
        )
        .unwrap();
        let region = Region::new(&boundary(&map));
        for (x, free) in [(0.5, false), (25.5, false), (1.5, true), (24.5, true), (26.5, false), (53.5, true)]
        {
            assert_eq!(region.is_free(DVec2::new(x, 1.0)), free, "{x}");
        }
        assert!(!region.has_room(DVec2::new(1.1, 1.0), 0.2) && region.has_room(DVec2::new(1.3, 1.0), 0.2));
    }

    #[test]
    fn without_a_walkable_area_the_cell_begins_at_zero() {
        let mut map = Map { periodic: DVec2::new(0.0, 10.0), ..Map::default() };
        map.add_obstacle("far", [(0.0, 31.0), (1.0, 31.0), (1.0, 32.0), (0.0, 32.0)].map(DVec2::from).into())
            .unwrap();
        let region = Region::new(&boundary(&map));
        assert!(!region.is_free(DVec2::new(0.5, 1.5)) && region.is_free(DVec2::new(0.5, 2.5)));
        assert!(!region.is_free(DVec2::new(0.5, -8.5)) && region.is_free(DVec2::new(1.5, 1.5)));
        assert_eq!(map.repeat().fold(DVec2::new(-3.0, -1.0)), DVec2::new(-3.0, 9.0));
    }

    #[test]
    fn widths_that_do_not_fit_are_errors() {
        assert_eq!(corridor(0.0, 26.0).check_period(), Ok(()));
        let error = corridor(0.0, 30.0).check_period().unwrap_err().to_string();
        assert!(error.contains("30 m") && error.contains("26 m"), "{error}");
        let error = Map { periodic: DVec2::new(-3.0, 0.0), ..Map::default() }.check_period().unwrap_err();
        assert!(error.to_string().contains("-3"), "{error}");
    }
}
