//! Which polygon is where: a grid whose cells list the polygons that reach into them.

use super::mesh::Mesh;
use glam::DVec2;
use std::ops::Range;
use std::sync::Arc;
use throng_core::geom::double::closest_on_segment;
use throng_core::space::Buckets;

/// Cells for each polygon: more of them list fewer polygons, and take longer to fill.
const CELLS_PER_POLYGON: f64 = 4.0;
/// Bounds the grid of a huge mesh.
const MOST_CELLS_A_SIDE: f64 = 2048.0;

/// What rounding may do to a place in the cells, in cells.
const ROUNDING: f64 = 1e-6;

/// Which polygon is where, tile by tile: a tile's cells are made with it, and an edit leaves those of all others.
#[derive(Clone, Debug, Default)]
pub(super) struct Lookup {
    low: DVec2,
    side: f64,
    columns: usize,
    lines: usize,
    tiles: Vec<(u32, Arc<Cells>)>,
    /// Polygons that reach around all others, by number; they are in no cell.
    around: Range<usize>,
}

/// The polygons of a tile by cells, counted from the first one of the tile.
#[derive(Clone, Debug, Default)]
pub(super) struct Cells {
    low: DVec2,
    per_metre: f64,
    columns: usize,
    lines: usize,
    listed: Buckets,
}

impl Cells {
    /// The cells of polygons by the places of their corners.
    pub fn new<'a>(polygons: impl Iterator<Item = &'a [u32]> + Clone, at: impl Fn(u32) -> DVec2) -> Cells {
        let mut cells = Cells::default();
        let corners = || polygons.clone().flatten().map(|&corner| at(corner));
        let low = corners().fold(DVec2::MAX, DVec2::min);
        let high = corners().fold(DVec2::MIN, DVec2::max);
        if low.x <= high.x {
            cells.lay(low, high, polygons.clone().count());
            cells.fill(polygons, at);
        }
        cells
    }

    fn lay(&mut self, low: DVec2, high: DVec2, polygons: usize) {
        let size = (high - low).max(DVec2::splat(1e-9));
        let side = (size.x * size.y / (CELLS_PER_POLYGON * polygons as f64)).sqrt();
        let side = side.max(size.max_element() / MOST_CELLS_A_SIDE);
        self.low = low;
        self.per_metre = 1.0 / side;
        self.columns = (size.x / side) as usize + 1;
        self.lines = (size.y / side) as usize + 1;
    }

    fn fill<'a>(&mut self, polygons: impl Iterator<Item = &'a [u32]> + Clone, at: impl Fn(u32) -> DVec2) {
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        let mut ring = Vec::new();
        for (index, polygon) in polygons.enumerate() {
            ring.clear();
            ring.extend(polygon.iter().map(|&corner| (at(corner) - self.low) * self.per_metre));
            self.each_cell(&ring, |cell| pairs.push((cell as u32, index as u32)));
        }
        let each = |put: &mut dyn FnMut(usize, u32)| {
            pairs.iter().for_each(|&(cell, polygon)| put(cell as usize, polygon));
        };
        self.listed.fill(self.columns * self.lines, each);
    }

    /// The cells that a polygon reaches into, in the measure of cells.
    fn each_cell(&self, ring: &[DVec2], mut cell: impl FnMut(usize)) {
        let low = ring.iter().copied().fold(DVec2::MAX, DVec2::min) - ROUNDING;
        let high = ring.iter().copied().fold(DVec2::MIN, DVec2::max) + ROUNDING;
        let ((left, bottom), (right, top)) = (self.clamped(low), self.clamped(high));
        // Narrow ones reach into all cells around them.
        let narrow = left == right || bottom == top;
        for line in bottom..=top {
            for column in left..=right {
                let middle = DVec2::new(column as f64 + 0.5, line as f64 + 0.5);
                if narrow || reaches(ring, middle) {
                    cell(line * self.columns + column);
                }
            }
        }
    }

    fn clamped(&self, scaled: DVec2) -> (usize, usize) {
        // A cast of a negative number is zero.
        ((scaled.x as usize).min(self.columns - 1), (scaled.y as usize).min(self.lines - 1))
    }

    /// The polygons around a place.
    #[inline]
    fn at(&self, place: DVec2) -> &[u32] {
        if self.columns == 0 {
            return &[];
        }
        let (column, line) = self.clamped((place - self.low) * self.per_metre);
        self.cell(column, line)
    }

    #[inline]
    fn cell(&self, column: usize, line: usize) -> &[u32] {
        self.listed.get(line * self.columns + column)
    }
}

/// Whether no side of a polygon has a whole cell beyond it.
fn reaches(ring: &[DVec2], middle: DVec2) -> bool {
    let mut a = ring[ring.len() - 1];
    ring.iter().all(|&b| {
        let along = b - a;
        let slack = (along.x.abs() + along.y.abs()) * (0.5 + ROUNDING);
        let within = along.perp_dot(middle - a) >= -slack;
        a = b;
        within
    })
}

impl Lookup {
    /// All polygons of a mesh in one tile.
    pub fn of_one_tile(cells: Cells) -> Lookup {
        Lookup {
            side: f64::INFINITY,
            columns: 1,
            lines: 1,
            tiles: vec![(0, Arc::new(cells))],
            ..Lookup::default()
        }
    }

    /// Square tiles, line by line from a corner, each with the number of its first polygon; and what lies around.
    pub fn of_tiles(
        low: DVec2,
        side: f64,
        columns: usize,
        tiles: Vec<(u32, Arc<Cells>)>,
        around: Range<usize>,
    ) -> Lookup {
        Lookup { low, side, columns, lines: tiles.len() / columns.max(1), tiles, around }
    }

    #[inline]
    fn tile_at(&self, place: DVec2) -> Option<usize> {
        let scaled = (place - self.low) / self.side;
        let (column, line) =
            ((scaled.x as usize).min(self.columns - 1), (scaled.y as usize).min(self.lines - 1));
        (!self.tiles.is_empty()).then_some(line * self.columns + column)
    }

    #[inline]
    pub fn polygon_at(&self, mesh: &Mesh, place: DVec2) -> Option<u32> {
        let tile = self.tile_at(place)?;
        self.polygon_in(mesh, tile, place).or_else(|| self.polygon_beside(mesh, tile, place))
    }

    #[inline]
    fn polygon_in(&self, mesh: &Mesh, tile: usize, place: DVec2) -> Option<u32> {
        let (first, cells) = &self.tiles[tile];
        cells
            .at(place)
            .iter()
            .map(|&polygon| first + polygon)
            .find(|&polygon| mesh.contains(polygon as usize, place))
    }

    /// Where a tile has nothing: in another one whose border a place touches, or around all tiles.
    #[cold]
    fn polygon_beside(&self, mesh: &Mesh, tile: usize, place: DVec2) -> Option<u32> {
        let slack = 4.0 * mesh.tolerance;
        let corners = [(-1.0, -1.0), (1.0, -1.0), (-1.0, 1.0), (1.0, 1.0)];
        let beside = corners.iter().filter_map(|&(x, y)| self.tile_at(place + DVec2::new(x, y) * slack));
        let found =
            beside.filter(|&other| other != tile).find_map(|other| self.polygon_in(mesh, other, place));
        found.or_else(|| self.around.clone().find(|&polygon| mesh.contains(polygon, place)).map(|p| p as u32))
    }

    /// The nearest accepted place of a polygon, and the polygon. Looks in a square around the place, and in a wider one
    /// as long as something nearer could lie outside of it.
    pub fn nearest(
        &self,
        mesh: &Mesh,
        place: DVec2,
        within: f64,
        mut accept: impl FnMut(DVec2) -> bool,
    ) -> Option<(DVec2, u32)> {
        let mut best: Option<(f64, DVec2, u32)> = None;
        let mut look = |polygon: u32, best: &mut Option<(f64, DVec2, u32)>| {
            let (at, distance) = closest(mesh, polygon as usize, place);
            if distance <= within && best.is_none_or(|(least, ..)| distance < least) && accept(at) {
                *best = Some((distance, at, polygon));
            }
        };
        self.around.clone().for_each(|polygon| look(polygon as u32, &mut best));
        let cell = self.tile_at(place).map_or(0.0, |tile| self.tiles[tile].1.per_metre);
        let mut reach = if cell > 0.0 { (1.0 / cell).min(within) } else { within };
        loop {
            self.each_in_square(place, reach, |polygon| look(polygon, &mut best));
            if best.is_some_and(|(distance, ..)| distance <= reach) || reach >= within {
                return best.map(|(_, at, polygon)| (at, polygon));
            }
            reach = (2.0 * reach).min(within);
        }
    }

    /// The polygons in all cells that a square reaches into, some of them several times.
    fn each_in_square(&self, middle: DVec2, half: f64, mut look: impl FnMut(u32)) {
        let (low, high) = (middle - half, middle + half);
        let (Some(first), Some(last)) = (self.tile_at(low), self.tile_at(high)) else { return };
        for line in first / self.columns..=last / self.columns {
            for column in first % self.columns..=last % self.columns {
                let (offset, cells) = &self.tiles[line * self.columns + column];
                if cells.columns == 0 {
                    continue;
                }
                let scaled = |place: DVec2| cells.clamped((place - cells.low) * cells.per_metre);
                let ((left, bottom), (right, top)) = (scaled(low), scaled(high));
                for line in bottom..=top {
                    for column in left..=right {
                        cells.cell(column, line).iter().for_each(|&polygon| look(offset + polygon));
                    }
                }
            }
        }
    }
}

/// The place of a polygon that is nearest to a place, and how far it is.
fn closest(mesh: &Mesh, polygon: usize, place: DVec2) -> (DVec2, f64) {
    if mesh.contains(polygon, place) {
        return (place, 0.0);
    }
    let on_side = |side: usize| {
        let (a, b) = (mesh.begin(side as u32), mesh.end(side as u32));
        let at = closest_on_segment(place, a, b);
        (at, at.distance(place))
    };
    let nearer = |a: (DVec2, f64), b: (DVec2, f64)| if b.1 < a.1 { b } else { a };
    mesh.sides(polygon).map(on_side).fold((place, f64::INFINITY), nearer)
}
