//! Floor plans: cleaned, joined and turned into the edges that bound free space.
//!
//! All set operations run on whole numbers, a grid of 2^-24 m (60 nm), in which touching is exact and nothing depends on
//! the order or the winding of the input. Corners that survive keep the coordinates that the user wrote; only new ones,
//! where edges cross, come from the grid. The grid hangs on the user's own zero and reaches past 1e9 m, so a map in
//! UTM coordinates needs no shift and an obstacle added later falls on the same grid.

use super::{Map, Repeat};
use glam::DVec2;
use std::collections::{BTreeMap, HashMap};
pub(crate) use throng_core::geom::double::{closest_on_segment, distance_to_segment, winds_around};
pub use throng_core::geom::double::{edges, signed_area};
use throng_core::geom::overlay::{self, FillRule, OverlayRule, Point, Ring, Shapes};

/// A polygon: its outer ring, then its holes.
pub type Polygon = Vec<Vec<DVec2>>;

/// What bounds free space.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Boundary {
    /// Closed rings, each edge with free space on its left. Neither repeated nor collinear corners.
    pub rings: Vec<Vec<DVec2>>,
    /// Open walls with free space on both sides.
    pub walls: Vec<[DVec2; 2]>,
    /// Whether free space ends somewhere: there is a walkable area. If not, what lies outside of all rings is free.
    pub bounded: bool,
    /// How the map repeats. Rings reach at least a period beyond the cell then.
    pub repeat: Repeat,
}

impl Boundary {
    /// Whether there is no free space at all.
    pub fn is_blocked(&self) -> bool {
        self.bounded && self.rings.is_empty()
    }

    /// The edges of all rings.
    pub fn edges(&self) -> impl Iterator<Item = [DVec2; 2]> + '_ {
        self.rings.iter().flat_map(|ring| edges(ring))
    }
}

/// What bounds the free space of a plan: the walkable area (or the plane) without the obstacles.
///
/// Self-crossing rings cover what they wind around. Overlapping and touching obstacles become one. Rings without an
/// area become open walls; single points vanish.
pub fn boundary(plan: &Map) -> Boundary {
    boundary_within(plan, 0.0)
}

/// The same, of a map that repeats with all that lies within `reach` of the cell, m.
pub(crate) fn boundary_within(plan: &Map, reach: f64) -> Boundary {
    let repeat = plan.repeat();
    if repeat.is_none() {
        return boundary_once(plan);
    }
    Boundary { repeat, ..boundary_once(&plan.laid_out(reach)) }
}

fn boundary_once(plan: &Map) -> Boundary {
    let mut grid = Grid::default();
    let free = free_space(plan, &mut grid);
    let bounded = !plan.walkable.is_empty();
    let mut rings: Vec<_> = free.into_iter().flatten().filter_map(|ring| grid.ring(ring)).collect();
    if !bounded {
        rings.iter_mut().for_each(|ring| flip(ring));
    }
    rings.sort_by(|a, b| compare(a[0], b[0]).then(a.len().cmp(&b.len())));
    Boundary { rings, walls: walls(plan, &mut grid), bounded, repeat: Repeat::default() }
}

/// The walkable area without the obstacles, as polygons; where there is no walkable area, the obstacles themselves.
fn free_space(plan: &Map, grid: &mut Grid) -> Shapes {
    let obstacles = solid(plan.obstacles.iter().map(|(_, ring)| ring), grid);
    if plan.walkable.is_empty() {
        return obstacles;
    }
    let walkable = walkable(&plan.walkable, grid);
    overlay(walkable, obstacles, OverlayRule::Difference)
}

/// Polygons joined, each without its holes, whichever way its rings wind.
fn walkable(polygons: &[Polygon], grid: &mut Grid) -> Shapes {
    let without_holes = |polygon: &Polygon| {
        let outer = solid(polygon.iter().take(1), grid);
        let holes = solid(polygon.iter().skip(1), grid);
        overlay(outer, holes, OverlayRule::Difference)
    };
    let parts: Shapes = polygons.iter().flat_map(without_holes).collect();
    overlay(parts, Shapes::new(), OverlayRule::Subject)
}

/// The union of what rings cover.
fn solid<'a>(rings: impl Iterator<Item = &'a Vec<DVec2>>, grid: &mut Grid) -> Shapes {
    // One by one first: together, rings of opposite winding would cancel.
    let alone =
        |ring: &'a Vec<DVec2>| overlay(vec![vec![grid.snap(ring)]], Shapes::new(), OverlayRule::Subject);
    let parts: Shapes = rings.flat_map(alone).collect();
    overlay(parts, Shapes::new(), OverlayRule::Subject)
}

/// Cleans walkable polygons for good: simple outer rings counter-clockwise, holes clockwise, none overlapping.
pub(crate) fn clean_polygons(polygons: &[Polygon]) -> Vec<Polygon> {
    let mut grid = Grid::default();
    let shapes = walkable(polygons, &mut grid);
    polygons_of(shapes, &grid)
}

/// The free space of a plan as polygons, outer rings counter-clockwise. `outline` stands for a missing walkable area.
pub(crate) fn free_polygons(plan: &Map, outline: &Polygon) -> Vec<Polygon> {
    let mut plan = plan.cell();
    if plan.walkable.is_empty() {
        plan.walkable = vec![outline.clone()];
    }
    let mut grid = Grid::default();
    let shapes = free_space(&plan, &mut grid);
    polygons_of(shapes, &grid)
}

/// The part of a ring that is free, m².
#[cfg(feature = "scenario")]
pub(crate) fn free_area(plan: &Map, ring: &Vec<DVec2>) -> f64 {
    let mut grid = Grid::default();
    let area = solid(std::iter::once(ring), &mut grid);
    let free = free_space(plan, &mut grid);
    let rule = if plan.walkable.is_empty() { OverlayRule::Difference } else { OverlayRule::Intersect };
    polygons_of(overlay(area, free, rule), &grid).iter().flatten().map(|ring| signed_area(ring)).sum()
}

fn polygons_of(shapes: Shapes, grid: &Grid) -> Vec<Polygon> {
    let polygon =
        |shape: Vec<Ring>| shape.into_iter().filter_map(|ring| grid.ring(ring)).collect::<Polygon>();
    let mut polygons: Vec<Polygon> =
        shapes.into_iter().map(polygon).filter(|polygon| !polygon.is_empty()).collect();
    polygons.iter_mut().for_each(|polygon| polygon[1..].sort_by(|a, b| compare(a[0], b[0])));
    polygons.sort_by(|a, b| compare(a[0][0], b[0][0]));
    polygons
}

/// The open walls of a plan, and what remains of rings without an area. Sorted, and no piece twice.
fn walls(plan: &Map, grid: &mut Grid) -> Vec<[DVec2; 2]> {
    let lines = plan.walls.iter().flat_map(|line| line.windows(2).map(|pair| [pair[0], pair[1]]));
    let holes = plan.walkable.iter().flat_map(|polygon| polygon.iter().skip(1));
    let rings = plan.obstacles.iter().map(|(_, ring)| ring).chain(holes);
    let flat =
        rings.filter(|ring| solid(std::iter::once(*ring), grid).is_empty()).flat_map(|ring| edges(ring));
    let forward = |[a, b]: [DVec2; 2]| if compare(a, b).is_le() { [a, b] } else { [b, a] };
    let key = |[a, b]: [DVec2; 2]| {
        let (a, b) = (quantized(a), quantized(b));
        [a.x, a.y, b.x, b.y]
    };
    let pieces = lines.chain(flat).map(forward).filter(|[a, b]| quantized(*a) != quantized(*b));
    pieces.map(|piece| (key(piece), piece)).collect::<BTreeMap<_, _>>().into_values().collect()
}

/// Grid lines per metre: a power of two, so that scaling is exact.
const PER_METRE: f64 = (1u64 << 24) as f64;
/// Crumbs under a square of 0.1 mm come from rounding, not from a plan.
const SMALLEST_AREA: u128 = (1u128 << 48) / 100_000_000;
/// A corner this close to the line between its neighbours is not one, m.
const COLLINEAR: f64 = 1e-6;

fn overlay(subject: Shapes, clip: Shapes, rule: OverlayRule) -> Shapes {
    let rings = |shapes: Shapes| shapes.into_iter().flatten().collect::<Vec<Ring>>();
    overlay::overlay(&rings(subject), &rings(clip), rule, FillRule::NonZero, SMALLEST_AREA)
}

fn quantized(point: DVec2) -> Point {
    // Casts saturate, so even a coordinate that escaped the check cannot overflow.
    let reach = 2f64.powi(60);
    let line = |x: f64| (x * PER_METRE).round().clamp(-reach, reach) as i64;
    Point::new(line(point.x), line(point.y))
}

/// Remembers which corner a grid point stands for.
#[derive(Default)]
struct Grid {
    corners: HashMap<Point, DVec2>,
}

impl Grid {
    fn snap(&mut self, ring: &[DVec2]) -> Ring {
        ring.iter().map(|&corner| self.snap_corner(corner)).collect()
    }

    fn snap_corner(&mut self, corner: DVec2) -> Point {
        let point = quantized(corner);
        // Of several corners in one place the least one stays, so that their order does not matter.
        let kept = self.corners.entry(point).or_insert(corner);
        if compare(corner, *kept).is_lt() {
            *kept = corner;
        }
        point
    }

    fn corner(&self, point: Point) -> DVec2 {
        let exact = DVec2::new(point.x as f64, point.y as f64) / PER_METRE;
        self.corners.get(&point).copied().unwrap_or(exact)
    }

    /// A ring in the user's coordinates, tidied; nothing where no area remains.
    fn ring(&self, ring: Ring) -> Option<Vec<DVec2>> {
        let ring = straighten(ring.into_iter().map(|point| self.corner(point)).collect());
        (ring.len() >= 3).then_some(ring)
    }
}

/// Drops collinear corners and lets the ring begin at its least corner.
fn straighten(mut ring: Vec<DVec2>) -> Vec<DVec2> {
    begin_at_least(&mut ring);
    // The least corner is on the convex hull; it is a true corner unless a neighbour shares its line.
    let mut kept = vec![];
    let mut skipped: Vec<DVec2> = vec![];
    for (index, &corner) in ring.iter().enumerate() {
        let next = ring[(index + 1) % ring.len()];
        let Some(&last) = kept.last() else {
            kept.push(corner);
            continue;
        };
        skipped.push(corner);
        if skipped.len() > LONGEST_RUN || skipped.iter().any(|&corner| is_off(corner, last, next)) {
            kept.push(corner);
            skipped.clear();
        }
    }
    if kept.len() > 3 && !is_off(kept[0], kept[kept.len() - 1], kept[1]) {
        kept.remove(0);
        begin_at_least(&mut kept);
    }
    kept
}

/// Bounds the work on a wall of a million collinear points.
const LONGEST_RUN: usize = 256;

/// Whether `corner` lies off the segment from `a` to `b`.
fn is_off(corner: DVec2, a: DVec2, b: DVec2) -> bool {
    distance_to_segment(corner, a, b) > COLLINEAR
}

/// A ring with everything within a distance of it.
pub(crate) fn grown(ring: &[DVec2], by: f64) -> Vec<DVec2> {
    // A disc as an octagon that holds it.
    let reach = by / (std::f64::consts::PI / 8.0).cos();
    let octagon: [DVec2; 8] = std::array::from_fn(|turn| {
        DVec2::from_angle((turn as f64 + 0.5) * std::f64::consts::FRAC_PI_4) * reach
    });
    let disc = |at: DVec2| octagon.map(|corner| at + corner).to_vec();
    let band = |[a, b]: [DVec2; 2]| {
        let side = (b - a).perp().normalize_or_zero() * by;
        vec![a - side, b - side, b + side, a + side]
    };
    let rings: Vec<Vec<DVec2>> = std::iter::once(ring.to_vec())
        .chain(ring.iter().map(|&corner| disc(corner)))
        .chain(edges(ring).map(band))
        .collect();
    let mut grid = Grid::default();
    let joined = solid(rings.iter(), &mut grid);
    let outer = polygons_of(joined, &grid).into_iter().filter_map(|polygon| polygon.into_iter().next());
    outer.max_by(|a, b| signed_area(a).total_cmp(&signed_area(b))).unwrap_or_else(|| ring.to_vec())
}

fn begin_at_least(ring: &mut [DVec2]) {
    let least = (0..ring.len()).min_by(|&a, &b| compare(ring[a], ring[b]));
    ring.rotate_left(least.unwrap_or(0));
}

/// The other way round, from the same corner.
fn flip(ring: &mut [DVec2]) {
    ring.reverse();
    ring.rotate_right(1);
}

fn compare(a: DVec2, b: DVec2) -> std::cmp::Ordering {
    a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y))
}

/// Drops repeated corners, among them the last one where it repeats the first.
pub(crate) fn without_repeats(points: &[DVec2]) -> Vec<DVec2> {
    let mut ring = points.to_vec();
    ring.dedup();
    while ring.len() > 1 && ring.first() == ring.last() {
        ring.pop();
    }
    ring
}

/// Drops repeated corners of an open line.
pub(crate) fn without_repeats_open(points: &[DVec2]) -> Vec<DVec2> {
    let mut line = points.to_vec();
    line.dedup();
    line
}
