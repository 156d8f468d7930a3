//! Which polygon is where: a grid whose cells list the polygons that reach into them.

use super::mesh::Mesh;
use glam::DVec2;

/// Cells for each polygon: more of them list fewer polygons, and take longer to fill.
const CELLS_PER_POLYGON: f64 = 4.0;
/// Bounds the grid of a huge mesh.
const MOST_CELLS_A_SIDE: f64 = 2048.0;

#[derive(Clone, Debug, Default)]
pub(super) struct Lookup {
    low: DVec2,
    per_metre: f64,
    columns: usize,
    lines: usize,
    first: Vec<u32>,
    listed: Vec<u32>,
    /// Polygons that reach around all others, by number; they are in no cell.
    around: (usize, usize),
}

impl Lookup {
    /// Lists the first `inner` polygons in cells.
    pub fn new(mesh: &Mesh, inner: usize) -> Lookup {
        let mut lookup = Lookup { around: (inner, mesh.polygons()), first: vec![0], ..Lookup::default() };
        let corners =
            || (0..inner).flat_map(|polygon| mesh.sides(polygon)).map(|side| mesh.begin(side as u32));
        if inner > 0 {
            let low = corners().fold(DVec2::MAX, DVec2::min);
            let high = corners().fold(DVec2::MIN, DVec2::max);
            lookup.lay(low, high, inner);
            lookup.fill(mesh, inner);
        }
        lookup
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

    /// Two passes over the same pairs: the first counts, the second fills.
    fn fill(&mut self, mesh: &Mesh, inner: usize) {
        let mut first = vec![0u32; self.columns * self.lines + 1];
        (0..inner).for_each(|polygon| self.each_cell(mesh, polygon, |cell| first[cell + 1] += 1));
        for cell in 1..first.len() {
            first[cell] += first[cell - 1];
        }
        let mut next = first.clone();
        let mut listed = vec![0; first[first.len() - 1] as usize];
        for polygon in 0..inner {
            self.each_cell(mesh, polygon, |cell| {
                listed[next[cell] as usize] = polygon as u32;
                next[cell] += 1;
            });
        }
        (self.first, self.listed) = (first, listed);
    }

    /// The cells that a polygon reaches into.
    fn each_cell(&self, mesh: &Mesh, polygon: usize, mut cell: impl FnMut(usize)) {
        let corners = || mesh.sides(polygon).map(|side| mesh.begin(side as u32));
        let slack = DVec2::splat(2.0 * mesh.tolerance);
        let low = corners().fold(DVec2::MAX, DVec2::min) - slack;
        let high = corners().fold(DVec2::MIN, DVec2::max) + slack;
        let ((left, bottom), (right, top)) = (self.cell_of(low), self.cell_of(high));
        // Narrow ones reach into all cells around them.
        let narrow = left == right || bottom == top;
        let half = 0.5 / self.per_metre;
        for line in bottom..=top {
            for column in left..=right {
                let middle = self.low + DVec2::new(column as f64 + 0.5, line as f64 + 0.5) * (2.0 * half);
                if narrow || self.reaches(mesh, polygon, middle, half) {
                    cell(line * self.columns + column);
                }
            }
        }
    }

    /// Whether no side of the polygon has a whole cell beyond it.
    fn reaches(&self, mesh: &Mesh, polygon: usize, middle: DVec2, half: f64) -> bool {
        mesh.sides(polygon).all(|side| {
            let (a, b) = (mesh.begin(side as u32), mesh.end(side as u32));
            let along = b - a;
            let slack = (along.x.abs() + along.y.abs()) * (half * (1.0 + 1e-9) + 2.0 * mesh.tolerance);
            along.perp_dot(middle - a) >= -slack
        })
    }

    /// The cell of a place, or the nearest one.
    fn cell_of(&self, place: DVec2) -> (usize, usize) {
        let scaled = (place - self.low) * self.per_metre;
        // A cast of a negative number is zero.
        ((scaled.x as usize).min(self.columns - 1), (scaled.y as usize).min(self.lines - 1))
    }

    #[inline]
    fn cell(&self, column: usize, line: usize) -> &[u32] {
        let cell = line * self.columns + column;
        &self.listed[self.first[cell] as usize..self.first[cell + 1] as usize]
    }

    #[inline]
    pub fn polygon_at(&self, mesh: &Mesh, place: DVec2) -> Option<u32> {
        if self.columns > 0 {
            let (column, line) = self.cell_of(place);
            let list = self.cell(column, line);
            let found = list.iter().copied().find(|&polygon| mesh.contains(polygon as usize, place));
            if found.is_some() {
                return found;
            }
        }
        (self.around.0..self.around.1).find(|&polygon| mesh.contains(polygon, place)).map(|p| p as u32)
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
        (self.around.0..self.around.1).for_each(|polygon| look(polygon as u32, &mut best));
        let mut reach = if self.columns > 0 { (1.0 / self.per_metre).min(within) } else { f64::INFINITY };
        while reach.is_finite() {
            let (low, high) = (self.cell_of(place - reach), self.cell_of(place + reach));
            for line in low.1..=high.1 {
                for column in low.0..=high.0 {
                    self.cell(column, line).iter().for_each(|&polygon| look(polygon, &mut best));
                }
            }
            if best.is_some_and(|(distance, ..)| distance <= reach) || reach >= within {
                break;
            }
            reach = (2.0 * reach).min(within);
        }
        best.map(|(_, at, polygon)| (at, polygon))
    }
}

/// The place of a polygon that is nearest to a place, and how far it is.
fn closest(mesh: &Mesh, polygon: usize, place: DVec2) -> (DVec2, f64) {
    if mesh.contains(polygon, place) {
        return (place, 0.0);
    }
    let on_side = |side: usize| {
        let (a, b) = (mesh.begin(side as u32), mesh.end(side as u32));
        let along = b - a;
        let share = ((place - a).dot(along) / along.length_squared().max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
        let at = a + along * share;
        (at, at.distance(place))
    };
    let nearer = |a: (DVec2, f64), b: (DVec2, f64)| if b.1 < a.1 { b } else { a };
    mesh.sides(polygon).map(on_side).fold((place, f64::INFINITY), nearer)
}
