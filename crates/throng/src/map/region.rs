//! Answers quickly whether a point is free, and how much room there is around it.

use super::boundary::{Boundary, closest_on_segment, distance_to_segment};
use super::{Repeat, bounds};
use glam::DVec2;
use throng_core::space::Buckets;

/// A point this close to a boundary counts as free, m: a goal may lie on a wall.
const TOUCH: f64 = 1e-6;

/// The edges of a boundary, sorted into horizontal bands.
#[derive(Clone, Debug)]
pub struct Region {
    bounded: bool,
    repeat: Repeat,
    /// The corners of the box around all edges.
    low: DVec2,
    high: DVec2,
    /// Edges of rings.
    rings: Bands,
    /// Edges of rings and open walls, in the same bands.
    all: Bands,
    /// Open walls.
    walls: Vec<[DVec2; 2]>,
}

/// How many sides are looked at for a free place, the closest ones.
const SIDES_TRIED: usize = 24;
/// How often the room that is looked for is halved.
const ROOMS_TRIED: usize = 8;
/// How often a place is pushed off what is too close: in a corner of two sides that meet at an angle each push helps the other.
const PUSHES: usize = 16;

/// An edge, seen from its left.
#[derive(Clone, Copy, PartialEq)]
struct Side {
    a: DVec2,
    b: DVec2,
}

impl Side {
    fn closest(&self, point: DVec2) -> DVec2 {
        closest_on_segment(point, self.a, self.b)
    }

    /// To the free side.
    fn normal(&self) -> DVec2 {
        (self.b - self.a).perp().normalize_or_zero()
    }
}

/// Edges, and which of them touch each of some horizontal bands of one height.
#[derive(Clone, Debug)]
struct Bands {
    low: f64,
    /// Of a band, m.
    height: f64,
    count: usize,
    edges: Vec<[DVec2; 2]>,
    /// By band, numbers of edges.
    touching: Buckets,
}

impl Region {
    /// Sorts the edges.
    pub fn new(boundary: &Boundary) -> Region {
        let rings: Vec<[DVec2; 2]> = boundary.edges().collect();
        let all: Vec<[DVec2; 2]> = rings.iter().chain(&boundary.walls).copied().collect();
        let (low, high) = bounds(all.iter().flatten());
        // As many bands as edges would hold tall edges too often; the root keeps both small.
        let count = (all.len() as f64).sqrt().ceil().max(1.0) * 2.0;
        let height = ((high.y - low.y) / count).max(f64::MIN_POSITIVE);
        let bands = |edges| Bands::new(edges, low.y, height, count as usize);
        let (rings, all) = (bands(rings), bands(all));
        let Boundary { bounded, repeat, ref walls, .. } = *boundary;
        Region { bounded, repeat, low, high, rings, all, walls: walls.clone() }
    }

    /// Whether a point lies in free space or on its boundary. An open wall inside an obstacle bounds nothing.
    pub fn is_free(&self, point: DVec2) -> bool {
        let point = self.repeat.fold(point);
        self.is_inside(point) || !self.rings.keep_from(point, TOUCH)
    }

    /// Whether no edge or wall comes closer than `radius`.
    pub fn has_room(&self, point: DVec2, radius: f64) -> bool {
        let point = self.repeat.fold(point);
        self.all.keep_from(point, radius)
    }

    /// The closest place where a body of a radius can be, or, where there is none nearby, one with less room around it.
    /// `None` where nothing is free.
    pub fn closest_room(&self, point: DVec2, radius: f64) -> Option<DVec2> {
        let folded = self.repeat.fold(point);
        self.closest_room_in_cell(folded, radius)
            .map(|room| if folded == point { room } else { point + (room - folded) })
    }

    fn closest_room_in_cell(&self, point: DVec2, radius: f64) -> Option<DVec2> {
        let fits = |place: DVec2, radius: f64| self.is_inside(place) && self.has_room(place, radius);
        if fits(point, radius) {
            return Some(point);
        }
        let mut sides: Vec<Side> = self.sides().collect();
        let away = |side: &Side| side.closest(point).distance_squared(point);
        sides.sort_by(|a, b| away(a).total_cmp(&away(b)));
        sides.dedup();
        sides.truncate(SIDES_TRIED);
        let room = (0..ROOMS_TRIED).map(|halved| radius / f64::from(1 << halved));
        room.into_iter().find_map(|room| {
            let beside = |side: &Side| self.pushed_off(side.closest(point) + side.normal() * room, room);
            let places = sides.iter().map(beside).filter(|&place| fits(place, room * (1.0 - 1e-6)));
            places.min_by(|a, b| a.distance_squared(point).total_cmp(&b.distance_squared(point)))
        })
    }

    /// The sides of all edges and walls from which they are seen.
    fn sides(&self) -> impl Iterator<Item = Side> + '_ {
        let seen = self.all.edges.iter().map(|&[a, b]| Side { a, b });
        seen.chain(self.walls.iter().map(|&[a, b]| Side { a: b, b: a }))
    }

    /// A place in a corner, moved until no side of it is too close.
    fn pushed_off(&self, mut place: DVec2, room: f64) -> DVec2 {
        for _ in 0..PUSHES {
            for [a, b] in self.all.near(place.y, room) {
                let away = place - Side { a, b }.closest(place);
                let depth = room - away.length();
                if depth > 0.0 {
                    place += away.try_normalize().unwrap_or_else(|| Side { a, b }.normal()) * depth;
                }
            }
        }
        place
    }

    fn is_inside(&self, point: DVec2) -> bool {
        // Most agents of a large crowd stand far from a few obstacles.
        if point.cmplt(self.low).any() || point.cmpgt(self.high).any() {
            return !self.bounded;
        }
        let crosses = |&[a, b]: &[DVec2; 2]| {
            (a.y > point.y) != (b.y > point.y)
                && point.x < (b.x - a.x) * ((point.y - a.y) / (b.y - a.y)) + a.x
        };
        (self.rings.near(point.y, 0.0).filter(crosses).count() % 2 == 1) == self.bounded
    }
}

impl Bands {
    fn new(edges: Vec<[DVec2; 2]>, low: f64, height: f64, count: usize) -> Bands {
        let mut bands = Bands { low, height, count, edges, touching: Buckets::default() };
        let mut touching = Buckets::default();
        touching.fill(count, |put| {
            for (number, [a, b]) in (0..).zip(&bands.edges) {
                (bands.band(a.y.min(b.y))..=bands.band(a.y.max(b.y))).for_each(|band| put(band, number));
            }
        });
        bands.touching = touching;
        bands
    }

    fn band(&self, y: f64) -> usize {
        // A cast sends what lies below to 0.
        (((y - self.low) / self.height) as usize).min(self.count - 1)
    }

    /// Edges in the bands within a distance of a height, band after band; one that touches several comes several times.
    fn near(&self, y: f64, distance: f64) -> impl Iterator<Item = [DVec2; 2]> + '_ {
        let bands = self.band(y - distance)..=self.band(y + distance);
        bands.flat_map(|band| self.touching.get(band)).map(|&number| self.edges[number as usize])
    }

    /// Whether no edge comes closer than `radius`.
    fn keep_from(&self, point: DVec2, radius: f64) -> bool {
        self.near(point.y, radius).all(|[a, b]| distance_to_segment(point, a, b) >= radius)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map::{Map, boundary, winds_around};

    fn square(x: f64, y: f64, side: f64) -> Vec<DVec2> {
        [(0.0, 0.0), (side, 0.0), (side, side), (0.0, side)].map(|(dx, dy)| DVec2::new(x + dx, y + dy)).into()
    }

    #[test]
    fn no_edges_mean_free_everywhere() {
        let region = Region::new(&Boundary::default());
        assert!(region.is_free(DVec2::new(3.0, 4.0)) && region.has_room(DVec2::ZERO, 1e9));
    }

    #[test]
    fn agrees_with_the_meaning_of_the_plan() {
        let plan = Map {
            walkable: vec![vec![square(0.0, 0.0, 10.0), square(7.0, 7.0, 1.0)]],
            obstacles: vec![("a".into(), square(2.0, 2.0, 2.0)), ("b".into(), square(9.0, -1.0, 3.0))],
            ..Map::default()
        };
        let region = Region::new(&boundary(&plan));
        for x in -10..120 {
            for y in -10..120 {
                let point = DVec2::new(f64::from(x) / 10.0 + 0.03, f64::from(y) / 10.0 + 0.07);
                let free = winds_around(&plan.walkable[0][0], point)
                    && !winds_around(&plan.walkable[0][1], point)
                    && !plan.obstacles.iter().any(|(_, ring)| winds_around(ring, point));
                assert_eq!(region.is_free(point), free, "{point}");
            }
        }
        assert!(region.is_free(DVec2::new(0.0, 5.0)), "a wall itself can be touched");
        assert!(!region.is_free(DVec2::new(-0.001, 5.0)));
        assert!(region.has_room(DVec2::new(5.5, 3.0), 1.4) && !region.has_room(DVec2::new(5.5, 3.0), 1.6));
    }

    /// A room of 10 m, a block in it, a wall in it, and places on and in all of them.
    #[test]
    fn the_closest_room_is_found_beside_walls_and_in_corners() {
        let plan = Map {
            walkable: vec![vec![square(0.0, 0.0, 10.0)]],
            obstacles: vec![("a".into(), square(2.0, 2.0, 2.0))],
            walls: vec![vec![DVec2::new(7.0, 2.0), DVec2::new(7.0, 8.0)]],
            ..Map::default()
        };
        let region = Region::new(&boundary(&plan));
        for (from, to) in [
            ((5.0, 5.0), (5.0, 5.0)),
            ((0.0, 5.0), (0.25, 5.0)),
            ((-3.0, 5.0), (0.25, 5.0)),
            ((10.0, 10.0), (9.75, 9.75)),
            ((3.0, 3.8), (3.0, 4.25)),
            ((7.1, 5.0), (7.25, 5.0)),
        ] {
            let found = region.closest_room(DVec2::from(from), 0.25).unwrap();
            assert!(found.distance(DVec2::from(to)) < 1e-3, "{from:?}: {found}");
        }
        assert!(region.has_room(region.closest_room(DVec2::new(7.0, 5.0), 0.25).unwrap(), 0.249));
        let narrow = Map { walkable: vec![vec![square(0.0, 0.0, 0.3)]], ..Map::default() };
        let narrow = Region::new(&boundary(&narrow));
        assert!(narrow.is_free(narrow.closest_room(DVec2::new(0.0, 0.1), 0.25).unwrap()));
        let nowhere = Boundary { bounded: true, ..Boundary::default() };
        assert_eq!(Region::new(&nowhere).closest_room(DVec2::ZERO, 0.25), None);
    }

    #[test]
    fn an_open_wall_through_an_obstacle_is_not_free_inside_it() {
        let plan = Map {
            obstacles: vec![("a".into(), square(2.0, 2.0, 2.0))],
            walls: vec![vec![DVec2::new(0.0, 3.0), DVec2::new(6.0, 3.0)]],
            ..Map::default()
        };
        let region = Region::new(&boundary(&plan));
        assert!(region.is_free(DVec2::new(1.0, 3.0)) && region.is_free(DVec2::new(2.0, 3.0)));
        assert!(!region.is_free(DVec2::new(3.0, 3.0)));
    }
}
