//! Free space for a body of one radius: how far walls are, and whether a straight way keeps clear of them.
//!
//! Walls are never grown into polygons: a body keeps clear where its middle stays a radius away from every wall. A grid
//! lists for each cell the walls within a radius of it, so a way asks only the cells that it passes.

use crate::corners::Segment;
use glam::{DVec2, Vec2};
use throng_core::geom::double::distance_to_segment;
use throng_core::space::{Buckets, Wall};

/// What a body may lack of its radius, as a share of it. Paths touch walls by design, and rounding must not close them.
const SLACK: f64 = 0.005;
/// What a body may lack of its radius and still be as free as one that lacks nothing, as a share of it. Less than the
/// slack of tangents (`visibility_graph/nodes.rs`): an agent that lacks more may be on no tangent at all, and takes any way that
/// is clear.
const ROOMY: f64 = 0.0005;
/// The least radius, m: points would slip between walls that touch.
const LEAST_RADIUS: f64 = 1e-5;
/// The least radius for each metre of a map's size: what a position's `f32` can tell apart.
const LEAST_SHARE: f64 = 5e-7;
/// Cells for each wall: more cells list fewer walls, and take longer to fill.
const CELLS_PER_WALL: f64 = 4.0;
/// Bounds the index of a huge map; cells grow instead.
const MOST_CELLS_A_SIDE: f64 = 512.0;
/// What rounding may do to a place in the grid, in cells.
const CELL_ROUNDING: f64 = 1e-6;

/// Free space for a body of one radius.
#[derive(Debug)]
pub(crate) struct Space {
    pub radius: f64,
    least: f64,
    pub walls: Vec<Segment>,
    low: DVec2,
    per_metre: f64,
    columns: usize,
    lines: usize,
    cells: Buckets,
}

/// A place that a way may begin or end at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub at: DVec2,
    /// How far the nearest wall is, m, as long as it is less than the radius.
    clearance: f64,
}

impl Segment {
    /// How far a place is from it, m.
    pub fn distance(&self, place: DVec2) -> f64 {
        distance_to_segment(place, self.a, self.b)
    }

    /// The direction away from the wall, on its free side; for an open wall on the side where the place is.
    fn away(&self, place: DVec2) -> DVec2 {
        let along = (self.b - self.a).normalize_or_zero();
        let side = along.perp_dot(place - self.a);
        if self.two_sided && side < 0.0 { -along.perp() } else { along.perp() }
    }
}

impl Space {
    /// The space between walls for bodies of a radius.
    pub fn new(walls: &[Wall], radius: f32) -> Space {
        let wide = |place: Vec2| place.as_dvec2();
        let walls: Vec<Segment> = (walls.iter().filter(|wall| wall.a != wall.b))
            .map(|wall| Segment { a: wide(wall.a), b: wide(wall.b), two_sided: wall.two_sided })
            .collect();
        let low = walls.iter().fold(DVec2::MAX, |low, wall| low.min(wall.a).min(wall.b));
        let high = walls.iter().fold(DVec2::MIN, |high, wall| high.max(wall.a).max(wall.b));
        let extent = if walls.is_empty() { 0.0 } else { low.abs().max(high.abs()).max_element() };
        let least = LEAST_RADIUS.max(extent * LEAST_SHARE);
        let mut space = Space {
            radius: f64::from(radius).max(least),
            least,
            walls,
            low,
            per_metre: 1.0,
            columns: 0,
            lines: 0,
            cells: Buckets::default(),
        };
        if !space.walls.is_empty() {
            space.lay_grid(high);
        }
        space
    }

    fn lay_grid(&mut self, high: DVec2) {
        self.low -= self.radius;
        let size = high + self.radius - self.low;
        let cells = CELLS_PER_WALL * self.walls.len() as f64;
        let side = (size.x * size.y / cells).sqrt().max(size.max_element() / MOST_CELLS_A_SIDE);
        let side = side.max(self.radius / 2.0);
        self.per_metre = 1.0 / side;
        self.columns = (size.x / side).floor() as usize + 1;
        self.lines = (size.y / side).floor() as usize + 1;
        let mut cells = Buckets::default();
        cells.fill(self.columns * self.lines, |pair| self.each_pair(side, pair));
        self.cells = cells;
    }

    fn each_pair(&self, side: f64, pair: &mut dyn FnMut(usize, u32)) {
        // Half a cell's diagonal: an agent that is in the cell is at most this far from its middle.
        let reach = self.radius + side * (0.5 + CELL_ROUNDING) * std::f64::consts::SQRT_2;
        for (index, wall) in self.walls.iter().enumerate() {
            let low = (wall.a.min(wall.b) - self.radius - self.low) * self.per_metre - CELL_ROUNDING;
            let high = (wall.a.max(wall.b) + self.radius - self.low) * self.per_metre + CELL_ROUNDING;
            for line in span(low.y, high.y, self.lines) {
                for column in span(low.x, high.x, self.columns) {
                    let middle = self.low + DVec2::new(column as f64 + 0.5, line as f64 + 0.5) * side;
                    if wall.distance(middle) <= reach {
                        pair(line * self.columns + column, index as u32);
                    }
                }
            }
        }
    }

    /// How far every agent keeps away from walls, m.
    pub fn keep(&self) -> f64 {
        self.radius * (1.0 - SLACK)
    }

    /// Whether a body there is pressed against a wall.
    pub fn is_pressed(&self, place: &Place) -> bool {
        place.clearance < self.radius * (1.0 - ROOMY)
    }

    /// How far a body that is pressed against a wall has to keep away from all of them, m.
    pub fn pressed_keep(&self, place: &Place) -> f64 {
        place.clearance.min(self.keep()) * (1.0 - 1e-6)
    }

    /// A place, lifted off the wall where it touches one: on the wall itself no side is the free one.
    pub fn place(&self, at: DVec2) -> Place {
        let touches = self.least / 2.0;
        let clearance = self.clearance(at);
        if clearance >= touches {
            return Place { at, clearance };
        }
        let touched = self.near(at).filter(|wall| wall.distance(at) < touches);
        let away: DVec2 = touched.map(|wall| wall.away(at)).sum();
        let at = at + away.normalize_or_zero() * self.least;
        Place { at, clearance: self.clearance(at) }
    }

    /// How far the nearest wall is, m; the radius where none is nearer.
    pub fn clearance(&self, at: DVec2) -> f64 {
        self.near(at).map(|wall| wall.distance(at)).fold(self.radius, f64::min)
    }

    /// The walls within a radius of a place, and some that are a little further.
    pub fn near(&self, at: DVec2) -> impl Iterator<Item = &Segment> {
        let listed = self.cell_at(at).map_or(&[][..], |cell| self.cells.get(cell));
        listed.iter().map(|&wall| &self.walls[wall as usize])
    }

    /// The cell of a place; beyond the walls there are none.
    fn cell_at(&self, at: DVec2) -> Option<usize> {
        let scaled = (at - self.low) * self.per_metre;
        let inside = scaled.cmpge(DVec2::ZERO).all()
            && (scaled.x as usize) < self.columns
            && (scaled.y as usize) < self.lines;
        inside.then(|| scaled.y as usize * self.columns + scaled.x as usize)
    }

    /// Whether a straight way keeps `keep` away from every wall, and nearer only to walls that one of its ends is as near
    /// to: an agent that is pressed against a wall may leave it. It never crosses one.
    pub fn is_clear(&self, from: DVec2, to: DVec2, keep: f64) -> bool {
        self.blocker(from, to, keep).is_none()
    }

    /// A wall that a straight way comes too near to, see [`Space::is_clear`]; the first one from its beginning, roughly.
    pub fn blocker(&self, from: DVec2, to: DVec2, keep: f64) -> Option<u32> {
        let way = Sweep::new(from, to);
        self.first_along(from, to, |wall| way.is_blocked(&self.walls[wall as usize], keep))
    }

    /// Whether a certain wall is in a way.
    pub fn blocks(&self, wall: u32, from: DVec2, to: DVec2, keep: f64) -> bool {
        Sweep::new(from, to).is_blocked(&self.walls[wall as usize], keep)
    }

    /// The first wall that is wanted among those that are listed in the cells along a way.
    fn first_along(&self, from: DVec2, to: DVec2, wanted: impl Fn(u32) -> bool) -> Option<u32> {
        let (from, to) = ((from - self.low) * self.per_metre, (to - self.low) * self.per_metre);
        let find = |line| {
            let columns = self.columns_in(line, from, to);
            let find = |column| {
                self.cells.get(line * self.columns + column).iter().copied().find(|&wall| wanted(wall))
            };
            // What is in the way is mostly near its beginning.
            if from.x <= to.x { columns.into_iter().find_map(find) } else { columns.rev().find_map(find) }
        };
        let (bottom, top) = (from.y.min(to.y), from.y.max(to.y));
        let lines = span(bottom - CELL_ROUNDING, top + CELL_ROUNDING, self.lines);
        if from.y <= to.y { lines.into_iter().find_map(find) } else { lines.rev().find_map(find) }
    }

    /// The cells of a line that a way passes, in the grid's measure.
    fn columns_in(&self, line: usize, from: DVec2, to: DVec2) -> std::ops::Range<usize> {
        let (bottom, top) = if from.y <= to.y { (from, to) } else { (to, from) };
        let rise = top.y - bottom.y;
        let x_at = |y: f64| bottom.x + (top.x - bottom.x) * ((y.clamp(bottom.y, top.y) - bottom.y) / rise);
        // Too flat to tell where it enters the line of cells: all of it.
        let (a, b) = if rise > CELL_ROUNDING {
            (x_at(line as f64 - CELL_ROUNDING), x_at(line as f64 + 1.0 + CELL_ROUNDING))
        } else {
            (bottom.x, top.x)
        };
        span(a.min(b) - CELL_ROUNDING, a.max(b) + CELL_ROUNDING, self.columns)
    }
}

/// The cells between two places of an axis, those of them that there are.
fn span(low: f64, high: f64, cells: usize) -> std::ops::Range<usize> {
    if high < 0.0 || cells == 0 {
        return 0..0;
    }
    (low.max(0.0) as usize)..(high as usize).min(cells - 1) + 1
}

/// A straight way, ready to be held against walls.
struct Sweep {
    from: DVec2,
    to: DVec2,
    along: DVec2,
    length: f64,
}

impl Sweep {
    fn new(from: DVec2, to: DVec2) -> Sweep {
        let length = from.distance(to);
        let along = if length > 0.0 { (to - from) / length } else { DVec2::ZERO };
        Sweep { from, to, along, length }
    }

    fn is_blocked(&self, wall: &Segment, keep: f64) -> bool {
        let gap = self.gap(wall, keep);
        if gap >= keep {
            return false;
        }
        let end = wall.distance(self.from).min(wall.distance(self.to));
        gap <= 0.0 || gap < end * (1.0 - 1e-9)
    }

    /// How far a wall is from the way; no less than `keep` is said without a closer look where that is plain. 0 where
    /// they cross.
    fn gap(&self, wall: &Segment, keep: f64) -> f64 {
        let (a, b) = (wall.a - self.from, wall.b - self.from);
        let (left_a, left_b) = (self.along.perp_dot(a), self.along.perp_dot(b));
        if left_a.min(left_b) > keep || left_a.max(left_b) < -keep {
            return f64::INFINITY;
        }
        let (ahead_a, ahead_b) = (self.along.dot(a), self.along.dot(b));
        if ahead_a.max(ahead_b) < -keep || ahead_a.min(ahead_b) > self.length + keep {
            return f64::INFINITY;
        }
        let along_wall = wall.b - wall.a;
        let (left_from, left_to) = (along_wall.perp_dot(-a), along_wall.perp_dot(self.to - wall.a));
        if left_a * left_b < 0.0 && left_from * left_to < 0.0 {
            return 0.0;
        }
        let ends = wall.distance(self.from).min(wall.distance(self.to));
        let wall_ends = distance_to_segment(wall.a, self.from, self.to)
            .min(distance_to_segment(wall.b, self.from, self.to));
        ends.min(wall_ends)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wall(a: [f32; 2], b: [f32; 2]) -> Wall {
        Wall { a: a.into(), b: b.into(), two_sided: false }
    }

    #[test]
    fn a_way_beside_a_wall_is_clear_a_radius_away_and_not_nearer() {
        let space = Space::new(&[wall([0.0, 0.0], [10.0, 0.0])], 0.5);
        let clear = |y: f64| space.is_clear(DVec2::new(-20.0, y), DVec2::new(30.0, y), space.keep());
        assert!(clear(0.5) && !clear(0.45) && !clear(0.0) && !clear(-0.45) && clear(-0.5));
        assert!(!space.is_clear(DVec2::new(5.0, 9.0), DVec2::new(5.1, -9.0), space.keep()));
    }

    #[test]
    fn an_agent_that_is_pressed_may_leave_a_wall_but_not_come_nearer() {
        let space = Space::new(&[wall([0.0, 0.0], [10.0, 0.0])], 0.5);
        let from = DVec2::new(5.0, 0.2);
        assert!(space.is_clear(from, DVec2::new(9.0, 0.2), space.keep()));
        assert!(space.is_clear(from, DVec2::new(9.0, 3.0), space.keep()));
        assert!(!space.is_clear(DVec2::new(5.0, 2.0), DVec2::new(9.0, -0.2), space.keep()));
        assert!(!space.is_clear(from, DVec2::new(5.0, -0.2), space.keep()));
    }

    #[test]
    fn a_place_on_a_wall_is_lifted_to_its_free_side() {
        let corner = [wall([0.0, 5.0], [0.0, 0.0]), wall([0.0, 0.0], [5.0, 0.0])];
        let lifted = Space::new(&corner, 0.1).place(DVec2::ZERO).at;
        assert!(lifted.x > 0.0 && lifted.y > 0.0);
    }
}
