//! Voronoi cells: to each person what is closer to it than to any other.
//!
//! A cell is cut out of a box by the lines halfway to the neighbours in the Delaunay triangulation, which are all that bound it,
//! then clipped to a disc (the cut-off, a polygon of [`QUARTER`] sides per quarter as in PedPy's examples) and to the walkable area.
//! Where that leaves several parts, as behind a pillar or round a corner, the one with the person in it is the cell.

use super::Person;
use crate::map::{Polygon, bounds, signed_area, winds_around};
use glam::DVec2;
use spade::{DelaunayTriangulation, HasPosition, Point2, Triangulation};
use throng_core::geom::double::{distance_to_segment, edges};
use throng_core::geom::overlay::{self, FillRule, OverlayRule, Point};

/// Sides of the cut-off in a quarter of the circle.
const QUARTER: usize = 3;

/// Grid lines per metre in whole numbers: polygons are clipped exactly there, to 60 nm.
const PER_METRE: f64 = (1u64 << 24) as f64;

/// Where one can walk, as cells are clipped to it.
#[derive(Clone, Debug, Default)]
pub struct Floor {
    /// Rings of all polygons, on the grid.
    rings: Vec<overlay::Ring>,
    /// The same edges in metres.
    edges: Vec<[DVec2; 2]>,
    low: DVec2,
    high: DVec2,
    /// Where the grid hangs: near the floor, so that digits are kept far from zero.
    origin: DVec2,
}

/// What is closer to a person than to any other.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Whose: an index into the people. Those at one place share a cell.
    pub people: Vec<usize>,
    /// An outer ring counter-clockwise, then holes clockwise, m. Empty for one who stands off the floor.
    pub rings: Vec<Vec<DVec2>>,
    /// m².
    pub area: f64,
}

impl Floor {
    /// The floor that polygons make: outer rings counter-clockwise, holes clockwise, none overlapping.
    pub fn new(polygons: &[Polygon]) -> Floor {
        let (low, high) = bounds(polygons.iter().flatten().flatten());
        if low.cmpgt(high).any() {
            return Floor::default();
        }
        let origin = ((low + high) / 2.0).round();
        let rings = polygons.iter().flatten();
        Floor {
            rings: rings.clone().map(|ring| to_grid(ring, origin)).collect(),
            edges: rings.flat_map(|ring| edges(ring)).collect(),
            low,
            high,
            origin,
        }
    }

    /// What is left of a convex ring on the floor, as polygons.
    fn clip(&self, ring: Vec<DVec2>) -> Vec<Polygon> {
        let (low, high) = bounds(&ring);
        let apart = |[a, b]: &[DVec2; 2]| a.min(*b).cmpgt(high).any() || a.max(*b).cmplt(low).any();
        // Most cells touch no wall: they lie on the floor as a whole, or beside it.
        if self.edges.iter().all(apart) {
            return if self.holds(ring[0]) { vec![vec![ring]] } else { Vec::new() };
        }
        intersection(&[to_grid(&ring, self.origin)], &self.rings, self.origin)
    }

    fn holds(&self, place: DVec2) -> bool {
        let crosses = |&&[a, b]: &&[DVec2; 2]| {
            (a.y > place.y) != (b.y > place.y)
                && place.x < (b.x - a.x) * ((place.y - a.y) / (b.y - a.y)) + a.x
        };
        // Without any floor there are no walls.
        self.edges.is_empty() || self.edges.iter().filter(crosses).count() % 2 == 1
    }
}

/// The cells of all people.
pub fn cells(people: &[Person], floor: &Floor, cut_off: Option<f64>) -> Vec<Cell> {
    let (low, high) = bounds(people.iter().map(|person| &person.position));
    let (low, high) =
        if floor.edges.is_empty() { (low, high) } else { (low.min(floor.low), high.max(floor.high)) };
    // Beyond everything, where a cell has no neighbour to end it.
    let (low, high) = (low - 1.0, high + 1.0);
    let everything = [low, DVec2::new(high.x, low.y), high, DVec2::new(low.x, high.y)];
    let cell = |Site { at, people }: &Site, neighbours: &mut dyn Iterator<Item = DVec2>| {
        let mut ring = neighbours.fold(everything.to_vec(), |ring, other| {
            clip_to_half_plane(&ring, (*at + other) / 2.0, other - *at)
        });
        if let Some(radius) = cut_off {
            let disc = disc(*at, radius);
            ring = edges(&disc).fold(ring, |ring, [a, b]| clip_to_half_plane(&ring, a, -(b - a).perp()));
        }
        let rings = if ring.len() < 3 { Vec::new() } else { part_of(*at, floor.clip(ring)) };
        let area = rings.iter().map(|ring| signed_area(ring)).sum();
        Cell { people: people.clone(), rings, area }
    };
    let sites = sites(people);
    let Ok(triangulation) = DelaunayTriangulation::<Site>::bulk_load(sites) else {
        // Coordinates that are not finite, which no trajectory has.
        return Vec::new();
    };
    triangulation
        .vertices()
        .map(|vertex| cell(vertex.data(), &mut vertex.out_edges().map(|edge| edge.to().data().at)))
        .collect()
}

/// Persons per square metre of an area, each spread evenly over its cell.
pub(super) fn density(people: &[Person], floor: &Floor, area: &[DVec2], cut_off: Option<f64>) -> f64 {
    let (low, high) = bounds(area);
    let clip = [to_grid(area, floor.origin)];
    let share = |cell: &Cell| {
        let (lowest, highest) = bounds(cell.rings.iter().flatten());
        if cell.rings.is_empty() || lowest.cmpgt(high).any() || highest.cmplt(low).any() {
            return 0.0;
        }
        let rings: Vec<overlay::Ring> = cell.rings.iter().map(|ring| to_grid(ring, floor.origin)).collect();
        let common = intersection(&rings, &clip, floor.origin);
        let common: f64 = common.iter().flatten().map(|ring| signed_area(ring)).sum();
        cell.people.len() as f64 * common / cell.area
    };
    let heads: f64 = cells(people, floor, cut_off).iter().map(share).sum();
    heads / signed_area(area).abs()
}

/// A place with people at it.
struct Site {
    at: DVec2,
    people: Vec<usize>,
}

impl HasPosition for Site {
    type Scalar = f64;

    fn position(&self) -> Point2<f64> {
        spade::mitigate_underflow(Point2::new(self.at.x, self.at.y))
    }
}

/// By place, so that who stands where somebody else does shares its site.
fn sites(people: &[Person]) -> Vec<Site> {
    let at = |index: &usize| people[*index].position;
    let mut order: Vec<usize> = (0..people.len()).collect();
    order.sort_by(|a, b| at(a).x.total_cmp(&at(b).x).then(at(a).y.total_cmp(&at(b).y)).then(a.cmp(b)));
    let groups = order.chunk_by(|a, b| at(a) == at(b));
    groups.map(|group| Site { at: at(&group[0]), people: group.to_vec() }).collect()
}

/// What of a convex ring is not on the far side of a line.
fn clip_to_half_plane(ring: &[DVec2], on_line: DVec2, outward: DVec2) -> Vec<DVec2> {
    let beyond = |place: DVec2| (place - on_line).dot(outward);
    let mut clipped = Vec::with_capacity(ring.len() + 1);
    for [a, b] in edges(ring) {
        let (before, after) = (beyond(a), beyond(b));
        if before <= 0.0 {
            clipped.push(a);
        }
        if before * after < 0.0 {
            clipped.push(a + (b - a) * (before / (before - after)));
        }
    }
    clipped
}

fn disc(middle: DVec2, radius: f64) -> Vec<DVec2> {
    let sides = 4 * QUARTER;
    let corner = |turn: usize| DVec2::from_angle(turn as f64 / sides as f64 * std::f64::consts::TAU);
    (0..sides).map(|turn| middle + radius * corner(turn)).collect()
}

/// The part that a person is in; the closest one where rounding has left it in none.
fn part_of(person: DVec2, parts: Vec<Polygon>) -> Polygon {
    let away = |part: &Polygon| match part.first() {
        Some(outer) if !winds_around(outer, person) => {
            edges(outer).map(|[a, b]| distance_to_segment(person, a, b)).fold(f64::MAX, f64::min)
        }
        _ => 0.0,
    };
    parts.into_iter().min_by(|a, b| away(a).total_cmp(&away(b))).unwrap_or_default()
}

fn to_grid(ring: &[DVec2], origin: DVec2) -> overlay::Ring {
    let line = |x: f64| (x * PER_METRE).round() as i64;
    ring.iter()
        .map(|&corner| corner - origin)
        .map(|corner| Point::new(line(corner.x), line(corner.y)))
        .collect()
}

fn intersection(subject: &[overlay::Ring], clip: &[overlay::Ring], origin: DVec2) -> Vec<Polygon> {
    let shapes = overlay::overlay(subject, clip, OverlayRule::Intersect, FillRule::NonZero, 0);
    let corner = |point: Point| origin + DVec2::new(point.x as f64, point.y as f64) / PER_METRE;
    let ring = |ring: overlay::Ring| ring.into_iter().map(corner).collect();
    shapes.into_iter().map(|shape| shape.into_iter().map(ring).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn people(places: &[[f64; 2]]) -> Vec<Person> {
        (0..).zip(places).map(|(id, &place)| Person { id, position: place.into() }).collect()
    }

    fn ring(corners: &[[f64; 2]]) -> Vec<DVec2> {
        corners.iter().map(|&corner| corner.into()).collect()
    }

    fn room() -> Floor {
        Floor::new(&[vec![ring(&[[0.0, 0.0], [4.0, 0.0], [4.0, 2.0], [0.0, 2.0]])]])
    }

    fn areas(places: &[[f64; 2]], floor: &Floor, cut_off: Option<f64>) -> Vec<f64> {
        let cells = cells(&people(places), floor, cut_off);
        let of = |person| cells.iter().find(|cell| cell.people.contains(&person)).unwrap().area;
        (0..places.len()).map(of).collect()
    }

    fn assert_close(a: &[f64], b: &[f64]) {
        assert!(a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-6), "{a:?}, {b:?}");
    }

    #[test]
    fn cells_share_the_floor() {
        assert_close(&areas(&[[0.5, 1.0]], &room(), None), &[8.0]);
        // In a line, where there is no triangle.
        assert_close(&areas(&[[0.5, 1.0], [1.5, 1.0], [3.5, 1.0]], &room(), None), &[2.0, 3.0, 3.0]);
        let scattered = [[0.3, 0.4], [1.7, 1.9], [3.1, 0.2], [2.2, 1.1], [0.9, 1.3]];
        assert_close(&[areas(&scattered, &room(), None).iter().sum()], &[8.0]);
    }

    #[test]
    fn a_cut_off_is_a_polygon_of_twelve_corners() {
        let dodecagon = 3.0;
        assert_close(&areas(&[[2.0, 1.0]], &room(), Some(1.0)), &[dodecagon]);
        assert_close(&areas(&[[2.0, 0.0]], &room(), Some(1.0)), &[dodecagon / 2.0]);
    }

    #[test]
    fn a_wall_between_takes_a_part_away() {
        let wall = ring(&[[1.9, 0.5], [1.9, 2.0], [2.1, 2.0], [2.1, 0.5]]);
        let floor = Floor::new(&[vec![room_ring(), wall]]);
        // A disc around one who stands by the wall leads past it to the other side, and that side is not its own.
        let alone = areas(&[[1.8, 1.5]], &floor, Some(0.5));
        assert!(alone[0] > 0.3 && alone[0] < 0.75 * 0.9, "{alone:?}");
    }

    fn room_ring() -> Vec<DVec2> {
        ring(&[[0.0, 0.0], [4.0, 0.0], [4.0, 2.0], [0.0, 2.0]])
    }

    #[test]
    fn density_counts_each_person_once_in_all() {
        let places = [[0.3, 0.4], [1.7, 1.9], [3.1, 0.2], [3.1, 0.2]];
        let everywhere = density(&people(&places), &room(), &room_ring(), None);
        assert!((everywhere * 8.0 - 4.0).abs() < 1e-6, "{everywhere}");
        let nobody = density(&[], &room(), &room_ring(), None);
        assert_eq!(nobody, 0.0);
    }

    #[test]
    fn far_from_zero_it_is_the_same() {
        let away = DVec2::new(3.0e6, -5.0e6);
        let far = Floor::new(&[vec![room_ring().iter().map(|&corner| corner + away).collect()]]);
        let place = |x: f64, y: f64| (away + DVec2::new(x, y)).to_array();
        let cells = areas(&[place(0.5, 1.0), place(1.5, 1.0)], &far, None);
        assert!((cells[0] - 2.0).abs() < 1e-6 && (cells[1] - 6.0).abs() < 1e-6, "{cells:?}");
    }
}
