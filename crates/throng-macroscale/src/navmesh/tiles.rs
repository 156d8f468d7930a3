//! The map in square tiles, so that a change makes only those anew that it touches.
//!
//! What a tile holds depends on the pieces in it and on nothing else, neither on what was there before nor on what the
//! rest of the map looks like. So a mesh after any number of edits is, bit by bit, the mesh that is built of what is
//! there now: a resumed run cannot tell. Weighed: cutting a hole into the mesh and filling it again (fewer polygons,
//! but they depend on history).

use super::MeshError;
use super::lookup::{Cells, Lookup};
use super::mesh::{Loops, Mesh};
use super::pieces::Piece;
use super::raster::{FillRule, OverlayRule, Point, Raster, Rect, Ring, clipped, overlay};
use super::triangulation::{Patch, convex};
use std::sync::Arc;
use throng_core::parallel;

/// Points of two tiles on one border that are this many grid lines apart are one: where lines cross is rounded in each.
const SAME: i64 = 8;
/// How far what surrounds an open map reaches, m: further than a position's `f32` makes sense.
pub(super) const FAR: f64 = 1e7;

/// Tiles that a thread makes in one go: one takes several times as long as to wake another thread.
const TOGETHER: usize = 1;

/// A map in tiles.
#[derive(Clone, Debug)]
pub(super) struct Tiles {
    raster: Raster,
    layout: TileLayout,
    /// Whether what lies outside of all pieces is free.
    free_outside: bool,
    tile: Vec<Tile>,
}

/// What is free in a tile.
#[derive(Clone, Debug, Default)]
struct Tile {
    patch: Patch,
    /// The vertices that other tiles may share, and whether a polygon has one.
    on_border: Vec<u32>,
    meets_border: Vec<bool>,
    cells: Arc<Cells>,
}

impl Tile {
    fn new(patch: Patch, layout: &TileLayout, raster: &Raster) -> Tile {
        let is_on_border: Vec<bool> = patch
            .vertex
            .iter()
            .map(|&point| layout.upright_at(point.x).or(layout.level_at(point.y)).is_some())
            .collect();
        let on_border =
            (0..patch.vertex.len() as u32).filter(|&vertex| is_on_border[vertex as usize]).collect();
        let meets = |polygon: &[u32]| polygon.iter().any(|&vertex| is_on_border[vertex as usize]);
        let meets_border = patch.polygons().map(meets).collect();
        let cells = Cells::new(patch.polygons(), |vertex| raster.local(patch.vertex[vertex as usize]));
        Tile { patch, on_border, meets_border, cells: Arc::new(cells) }
    }
}

/// Where tiles are, in whole sides from zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TileLayout {
    /// Length of a tile's side in grid lines.
    side: i64,
    /// From where sides are counted.
    anchor: Point,
    column: i64,
    line: i64,
    columns: usize,
    lines: usize,
}

impl TileLayout {
    /// Tiles over a rectangle, whose borders are where they are whatever the rectangle.
    pub fn over(rect: Rect, side: i64) -> TileLayout {
        TileLayout::from_anchor(Point::new(0, 0), rect, side.max(1))
    }

    /// One tile over all of a rectangle.
    pub fn whole(rect: Rect) -> TileLayout {
        let size = (rect.high.x - rect.low.x).max(rect.high.y - rect.low.y);
        TileLayout::from_anchor(rect.low, rect, size + 1)
    }

    fn from_anchor(anchor: Point, rect: Rect, side: i64) -> TileLayout {
        let (column, line) =
            ((rect.low.x - anchor.x).div_euclid(side), (rect.low.y - anchor.y).div_euclid(side));
        let columns = ((rect.high.x - anchor.x).div_euclid(side) - column + 1) as usize;
        let lines = ((rect.high.y - anchor.y).div_euclid(side) - line + 1) as usize;
        TileLayout { side, anchor, column, line, columns, lines }
    }

    pub fn len(&self) -> usize {
        self.columns * self.lines
    }

    pub fn rect(&self, tile: usize) -> Rect {
        let (column, line) = ((tile % self.columns) as i64, (tile / self.columns) as i64);
        let low = Point::new(
            self.anchor.x + (self.column + column) * self.side,
            self.anchor.y + (self.line + line) * self.side,
        );
        Rect { low, high: Point::new(low.x + self.side, low.y + self.side) }
    }

    /// The border between columns at a place.
    fn upright_at(&self, x: i64) -> Option<usize> {
        border_at(x - self.anchor.x, self.side, self.column, self.columns)
    }

    /// The border between lines at a place.
    fn level_at(&self, y: i64) -> Option<usize> {
        border_at(y - self.anchor.y, self.side, self.line, self.lines)
    }

    pub fn all(&self) -> Rect {
        self.rect(0).joined(self.rect(self.len() - 1))
    }

    /// The tiles that a rectangle touches.
    pub fn touched(&self, rect: &Rect) -> impl Iterator<Item = usize> + use<> {
        let span = |low: i64, high: i64, first: i64, count: usize| {
            // A tile's border belongs to both sides of it.
            let low = (low - 1).div_euclid(self.side) - first;
            let high = high.div_euclid(self.side) - first;
            low.clamp(0, count as i64) as usize..(high + 1).clamp(0, count as i64) as usize
        };
        let columns =
            span(rect.low.x - self.anchor.x, rect.high.x - self.anchor.x, self.column, self.columns);
        let all = self.columns;
        span(rect.low.y - self.anchor.y, rect.high.y - self.anchor.y, self.line, self.lines)
            .flat_map(move |line| columns.clone().map(move |column| line * all + column))
    }
}

impl Tiles {
    /// Builds all tiles.
    pub fn new(
        raster: Raster,
        layout: TileLayout,
        free_outside: bool,
        pieces: &[&Piece],
    ) -> Result<Tiles, MeshError> {
        let mut tiles = Tiles { raster, layout, free_outside, tile: vec![Tile::default(); layout.len()] };
        tiles.rebuild(0..layout.len(), pieces)?;
        Ok(tiles)
    }

    pub fn layout(&self) -> &TileLayout {
        &self.layout
    }

    pub fn free_outside(&self) -> bool {
        self.free_outside
    }

    /// Builds some tiles anew from all pieces that touch them.
    pub fn rebuild(
        &mut self,
        which: impl IntoIterator<Item = usize>,
        pieces: &[&Piece],
    ) -> Result<(), MeshError> {
        let mut slot = vec![usize::MAX; self.layout.len()];
        let mut todo: Vec<(usize, Vec<&Piece>)> = Vec::new();
        for tile in which {
            slot[tile] = todo.len();
            todo.push((tile, Vec::new()));
        }
        for &piece in pieces {
            for tile in self.layout.touched(&piece.rect) {
                if let Some((_, list)) = todo.get_mut(slot[tile]) {
                    list.push(piece);
                }
            }
        }
        let build = |i: usize| {
            let (tile, pieces) = &todo[i];
            Ok(Tile::new(self.build(*tile, pieces)?, &self.layout, &self.raster))
        };
        let built: Vec<Result<Tile, MeshError>> = parallel::map(TOGETHER, todo.len(), &build);
        // None is taken over where one cannot be built.
        let built = built.into_iter().collect::<Result<Vec<Tile>, MeshError>>()?;
        for ((number, _), tile) in todo.into_iter().zip(built) {
            self.tile[number] = tile;
        }
        Ok(())
    }

    fn build(&self, tile: usize, pieces: &[&Piece]) -> Result<Patch, MeshError> {
        let rect = self.layout.rect(tile);
        if pieces.is_empty() {
            return Ok(if self.free_outside {
                Patch::whole(rect.ring())
            } else {
                Patch { first: vec![0], ..Patch::default() }
            });
        }
        let wide = rect.grown(self.layout.side / 4 + 1);
        let cut = |piece: &&Piece| {
            if wide.contains(&piece.rect) { piece.ring.clone() } else { clipped(&piece.ring, &wide) }
        };
        let mut rings: Vec<Ring> = pieces.iter().map(cut).filter(|ring| ring.len() >= 3).collect();
        if !self.free_outside {
            rings.push(wide.ring());
        }
        // In an order that says nothing of how they came here.
        rings.sort_unstable_by(|a, b| a.iter().map(|p| (p.x, p.y)).cmp(b.iter().map(|p| (p.x, p.y))));
        let free = overlay(&rings, &[rect.ring()], OverlayRule::InverseDifference, FillRule::Positive);
        convex(&free).or_else(|_| {
            // Rounding where lines cross can make others cross; once more cleans that up.
            let rings: Vec<Ring> = free.into_iter().flatten().collect();
            convex(&overlay(&rings, &[], OverlayRule::Subject, FillRule::NonZero))
        })
    }

    /// All tiles as one mesh.
    pub fn mesh(&self) -> Mesh {
        let frame = self.free_outside.then(|| Tile::new(self.frame(), &self.layout, &self.raster));
        let tiles = || self.tile.iter().chain(&frame);
        let points: Vec<Point> = tiles().flat_map(|tile| &tile.patch.vertex).copied().collect();
        let borders = Borders::new(&self.layout, &points, tiles());
        let mut loops = Loops { origin: self.raster.origin, first: vec![0], ..Loops::default() };
        let mut first_polygon = Vec::with_capacity(self.tile.len() + 1);
        let mut offset = 0;
        for tile in tiles() {
            first_polygon.push(loops.first.len() as u32 - 1);
            for (polygon, &meets_border) in tile.patch.polygons().zip(&tile.meets_border) {
                if meets_border {
                    borders.push_loop(&points, polygon, offset, &mut loops);
                } else {
                    loops.from.extend(polygon.iter().map(|&corner| corner + offset));
                    loops.first.push(loops.from.len() as u32);
                }
            }
            offset += tile.patch.vertex.len() as u32;
        }
        loops.vertex = points.iter().map(|&point| self.raster.local(point)).collect();
        let polygons = loops.first.len() - 1;
        let around = if frame.is_some() { polygons - 4..polygons } else { polygons..polygons };
        loops.around = around.len();
        let all = self.layout.rect(0);
        let side = self.raster.local(all.high).x - self.raster.local(all.low).x;
        let cells = self.tile.iter().map(|tile| tile.cells.clone());
        let tiles = first_polygon.into_iter().zip(cells).collect();
        Mesh::join(
            loops,
            Lookup::of_tiles(self.raster.local(all.low), side, self.layout.columns, tiles, around),
        )
    }

    /// What lies around all tiles of an open map: four polygons.
    fn frame(&self) -> Patch {
        let inner = self.layout.all().ring();
        let far = self.raster.lines(FAR).max(4 * self.layout.side);
        let outer = self.layout.all().grown(far).ring();
        let polygon = |index: u32| [4 + index, 4 + (index + 1) % 4, (index + 1) % 4, index];
        Patch {
            vertex: inner.into_iter().chain(outer).collect(),
            first: vec![0, 4, 8, 12, 16],
            corner: (0..4).flat_map(polygon).collect(),
        }
    }
}

/// The points on the borders of tiles, by border, so that both sides of one have the same.
struct Borders {
    layout: TileLayout,
    /// Sorted along each vertical border, then each horizontal one: how far along, and the number of the point.
    upright: Vec<Vec<(i64, u32)>>,
    level: Vec<Vec<(i64, u32)>>,
    /// For each point the one that stands for it.
    same: Vec<u32>,
}

impl Borders {
    fn new<'a>(layout: &TileLayout, points: &[Point], tiles: impl Iterator<Item = &'a Tile>) -> Borders {
        let mut borders = Borders {
            layout: *layout,
            upright: vec![Vec::new(); layout.columns + 1],
            level: vec![Vec::new(); layout.lines + 1],
            same: (0..points.len() as u32).collect(),
        };
        let mut offset = 0;
        for tile in tiles {
            for number in tile.on_border.iter().map(|vertex| vertex + offset) {
                let point = points[number as usize];
                if let Some(border) = layout.upright_at(point.x) {
                    borders.upright[border].push((point.y, number));
                }
                if let Some(border) = layout.level_at(point.y) {
                    borders.level[border].push((point.x, number));
                }
            }
            offset += tile.patch.vertex.len() as u32;
        }
        let Borders { upright, level, same, .. } = &mut borders;
        for (borders, anchor) in [(upright, layout.anchor.y), (level, layout.anchor.x)] {
            for border in borders {
                border.sort_unstable();
                join_near(border, |at| (at - anchor).rem_euclid(layout.side) == 0, same);
            }
        }
        borders
    }

    fn stands_for(&self, number: u32) -> u32 {
        root(&self.same, number)
    }

    /// Adds a polygon whose sides on borders are cut where the other side of the border has a point.
    fn push_loop(&self, points: &[Point], polygon: &[u32], offset: u32, loops: &mut Loops) {
        let begin = loops.from.len();
        for (index, &corner) in polygon.iter().enumerate() {
            let (a, b) = (corner + offset, polygon[(index + 1) % polygon.len()] + offset);
            push_new(&mut loops.from, begin, self.stands_for(a));
            let (from, to) = (points[a as usize], points[b as usize]);
            if from.x == to.x
                && let Some(border) = self.layout.upright_at(from.x)
            {
                self.push_between(&self.upright[border], from.y, to.y, begin, &mut loops.from);
            } else if from.y == to.y
                && let Some(border) = self.layout.level_at(from.y)
            {
                self.push_between(&self.level[border], from.x, to.x, begin, &mut loops.from);
            }
        }
        while loops.from.len() > begin + 1 && loops.from.last() == Some(&loops.from[begin]) {
            loops.from.pop();
        }
        // What collapses keeps its number and has no sides.
        if loops.from.len() < begin + 3 {
            loops.from.truncate(begin);
        }
        loops.first.push(loops.from.len() as u32);
    }

    fn push_between(&self, border: &[(i64, u32)], from: i64, to: i64, begin: usize, out: &mut Vec<u32>) {
        let (low, high) = (from.min(to), from.max(to));
        let inside =
            border.partition_point(|&(at, _)| at <= low)..border.partition_point(|&(at, _)| at < high);
        let mut push = |&(_, number): &(i64, u32)| push_new(out, begin, self.stands_for(number));
        if from < to {
            border[inside].iter().for_each(&mut push)
        } else {
            border[inside].iter().rev().for_each(&mut push)
        }
    }
}

/// Which border of tiles is at a place of an axis.
fn border_at(place: i64, side: i64, first: i64, tiles: usize) -> Option<usize> {
    let index = place.div_euclid(side) - first;
    (place.rem_euclid(side) == 0 && (0..=tiles as i64).contains(&index)).then_some(index as usize)
}

fn push_new(list: &mut Vec<u32>, begin: usize, number: u32) {
    if list.len() == begin || list.last() != Some(&number) {
        list.push(number);
    }
}

/// Lets points that are as good as one be one: the corner of a tile where there is one among them, else the first.
fn join_near(border: &[(i64, u32)], is_corner: impl Fn(i64) -> bool, same: &mut [u32]) {
    for cluster in border.chunk_by(|a, b| b.0 - a.0 <= SAME) {
        let &(_, chosen) = cluster.iter().find(|point| is_corner(point.0)).unwrap_or(&cluster[0]);
        let chosen = root(same, chosen);
        for &(_, number) in cluster {
            let other = root(same, number);
            same[other as usize] = chosen;
        }
    }
}

fn root(same: &[u32], mut number: u32) -> u32 {
    while same[number as usize] != number {
        number = same[number as usize];
    }
    number
}
