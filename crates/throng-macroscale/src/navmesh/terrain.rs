//! A map that can change, and the mesh of its free space for bodies of one radius.

use super::MeshError;
use super::mesh::Mesh;
use super::pieces::{Piece, chained, edges, grow, grow_ring, in_metres, is_free_outside};
use super::raster::{FillRule, OverlayRule, Raster, Rect, Ring, overlay};
use super::tiles::{FAR, TileLayout, Tiles};
use crate::corners::Segment;
use glam::DVec2;
use throng_core::space::Wall;

/// A polygon: its outer ring, then its holes. Rings wind either way; the last corner need not repeat the first.
pub type Polygon = Vec<Vec<DVec2>>;

/// A map: where one can walk, and what stands in the way. Everything may overlap, touch and cross.
#[derive(Clone, Debug, Default)]
pub struct Geometry {
    /// Where one can walk. Where it is empty, everywhere.
    pub walkable: Vec<Polygon>,
    /// Rings that are not walkable inside.
    pub obstacles: Vec<Vec<DVec2>>,
    /// Walls with free space on both sides.
    pub walls: Vec<[DVec2; 2]>,
}

/// How a mesh is made.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Radius of the bodies, m. Default 0. At least 0.
    pub radius: f64,
    /// Whether the map is cut into tiles, so that edits are cheap. Default true. Without, paths are found sooner, because
    /// nothing but walls makes polygons smaller, and every edit makes all anew.
    pub tiles: bool,
    /// No polygon is wider than this, m: tiles of this side. Default infinite. Above 0.
    pub widest: f64,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { radius: 0.0, tiles: true, widest: f64::INFINITY }
    }
}

/// An obstacle of a [`Terrain`]; its number is never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObstacleId(u32);

/// A map that can change, and its mesh.
#[derive(Clone, Debug)]
pub struct Terrain {
    raster: Raster,
    settings: Settings,
    tiles: Tiles,
    mesh: Mesh,
    /// Pieces of the walkable area and of walls.
    base: Vec<Piece>,
    /// Pieces of obstacles; those that were removed are empty.
    obstacles: Vec<Option<Vec<Piece>>>,
}

/// Corners of pieces in a tile, roughly. Fewer make edits cheaper and ways dearer: borders of tiles cut polygons.
const CORNERS_IN_A_TILE: usize = 256;
/// Fewer tiles than these are not worth their borders.
const FEWEST_TILES: usize = 4;
/// Tiles are no smaller than makes this many of them a side, whatever the settings: seconds, and not minutes, on a map of a
/// thousand kilometres.
const MOST_TILES_A_SIDE: i64 = 1 << 8;
/// The least radius of a body in a world, m: points would slip between walls that touch.
const LEAST_RADIUS: f64 = 1e-5;

impl Terrain {
    /// The free space of a map.
    pub fn new(geometry: &Geometry, settings: Settings) -> Result<Terrain, MeshError> {
        let (low, high) = bounds(geometry)?;
        if !(settings.radius.is_finite() && settings.radius >= 0.0) {
            return Err(MeshError::Radius { radius: settings.radius });
        }
        let free_outside = geometry.walkable.is_empty();
        let around = settings.radius + if free_outside { FAR / 64.0 } else { 0.0 };
        let raster = Raster::around(low - around, high + around);
        let mut base = walkable_pieces(&raster, &geometry.walkable, settings.radius);
        if !free_outside && base.is_empty() {
            return Err(MeshError::NoGround);
        }
        let open = |&[a, b]: &[DVec2; 2]| Segment { a, b, two_sided: true };
        let walls: Vec<Segment> = geometry.walls.iter().map(open).collect();
        grow(&raster, &walls, settings.radius, &mut base);
        let obstacle = |ring: &Vec<DVec2>| Some(obstacle_pieces(&raster, ring, settings.radius));
        let obstacles = geometry.obstacles.iter().map(obstacle).collect();
        let terrain = Terrain::of_pieces(raster, settings, free_outside, base, obstacles)?;
        if terrain.mesh.polygons() == 0 { Err(MeshError::NoGround) } else { Ok(terrain) }
    }

    /// The free space between walls of a world, for bodies of a radius.
    ///
    /// The same walls give the same mesh, bit by bit, whether they come at once or by [`Terrain::set_walls`].
    pub fn between(walls: &[Wall], radius: f64) -> Result<Terrain, MeshError> {
        Terrain::between_with(walls, Settings { radius, ..Settings::default() })
    }

    /// The same, as settings say.
    pub fn between_with(walls: &[Wall], settings: Settings) -> Result<Terrain, MeshError> {
        let settings = Settings { radius: settings.radius.max(LEAST_RADIUS), ..settings };
        let raster = Raster::of_world();
        let (base, free_outside) = wall_pieces(&raster, walls, settings.radius)?;
        Terrain::of_pieces(raster, settings, free_outside, base, Vec::new())
    }

    fn of_pieces(
        raster: Raster,
        settings: Settings,
        free_outside: bool,
        base: Vec<Piece>,
        obstacles: Vec<Option<Vec<Piece>>>,
    ) -> Result<Terrain, MeshError> {
        let pieces: Vec<&Piece> = base.iter().chain(obstacles.iter().flatten().flatten()).collect();
        let layout = layout_for(&raster, &pieces, &settings);
        let tiles = Tiles::new(raster, layout, free_outside, &pieces)?;
        let mesh = tiles.mesh();
        Ok(Terrain { raster, settings, tiles, mesh, base, obstacles })
    }

    /// The mesh of what is free now.
    pub fn mesh(&self) -> &Mesh {
        &self.mesh
    }

    /// Joins places by links, until the map changes and they have to be set again.
    pub fn set_links(&mut self, links: &[super::Link]) -> Result<(), MeshError> {
        self.mesh.set_links(links)
    }

    /// The obstacles of the map that the terrain was made of, in their order there.
    pub fn obstacle(&self, index: usize) -> Option<ObstacleId> {
        self.obstacles.get(index)?.as_ref().map(|_| ObstacleId(index as u32))
    }

    /// Adds an obstacle: a ring that is not walkable inside.
    pub fn add(&mut self, ring: &[DVec2]) -> Result<ObstacleId, MeshError> {
        let pieces = self.pieces_of(ring)?;
        let rects: Vec<Rect> = pieces.iter().map(|piece| piece.rect).collect();
        self.obstacles.push(Some(pieces));
        self.refresh(&rects)?;
        Ok(ObstacleId(self.obstacles.len() as u32 - 1))
    }

    /// Takes an obstacle away.
    pub fn remove(&mut self, obstacle: ObstacleId) -> Result<(), MeshError> {
        let gone = self.slot(obstacle)?.take().unwrap_or_default();
        self.refresh(&gone.iter().map(|piece| piece.rect).collect::<Vec<_>>())
    }

    /// Puts an obstacle elsewhere, or gives it another shape.
    pub fn replace(&mut self, obstacle: ObstacleId, ring: &[DVec2]) -> Result<(), MeshError> {
        let pieces = self.pieces_of(ring)?;
        let mut rects: Vec<Rect> = pieces.iter().map(|piece| piece.rect).collect();
        let before = self.slot(obstacle)?.replace(pieces).unwrap_or_default();
        rects.extend(before.iter().map(|piece| piece.rect));
        self.refresh(&rects)
    }

    fn slot(&mut self, obstacle: ObstacleId) -> Result<&mut Option<Vec<Piece>>, MeshError> {
        let slot = self.obstacles.get_mut(obstacle.0 as usize).filter(|slot| slot.is_some());
        slot.ok_or(MeshError::UnknownObstacle { number: obstacle.0 })
    }

    fn pieces_of(&self, ring: &[DVec2]) -> Result<Vec<Piece>, MeshError> {
        for &place in ring {
            check(place, |place| self.raster.reaches(place))?;
        }
        Ok(obstacle_pieces(&self.raster, ring, self.settings.radius))
    }

    /// Puts other walls in the place of those that are there. Only tiles that differ are made anew.
    pub fn set_walls(&mut self, walls: &[Wall]) -> Result<(), MeshError> {
        let (base, free_outside) = wall_pieces(&self.raster, walls, self.settings.radius)?;
        let before = std::mem::replace(&mut self.base, base);
        let settings = self.settings;
        let pieces: Vec<&Piece> = self.base.iter().collect();
        let layout = layout_for(&self.raster, &pieces, &settings);
        if layout != *self.tiles.layout() || free_outside != self.tiles.free_outside() {
            let base = std::mem::take(&mut self.base);
            *self = Terrain::of_pieces(self.raster, settings, free_outside, base, Vec::new())?;
            return Ok(());
        }
        let rects = differences(&before, &self.base);
        self.refresh(&rects)
    }

    /// Makes the tiles anew that rectangles touch.
    fn refresh(&mut self, rects: &[Rect]) -> Result<(), MeshError> {
        let pieces: Vec<&Piece> = self.base.iter().chain(self.obstacles.iter().flatten().flatten()).collect();
        let all = self.tiles.layout().all();
        if self.tiles.free_outside() && !rects.iter().all(|rect| all.contains(rect)) {
            let layout = layout_for(&self.raster, &pieces, &self.settings);
            self.tiles = Tiles::new(self.raster, layout, true, &pieces)?;
        } else {
            let mut touched: Vec<usize> =
                rects.iter().flat_map(|rect| self.tiles.layout().touched(rect)).collect();
            touched.sort_unstable();
            touched.dedup();
            self.tiles.rebuild(touched, &pieces)?;
        }
        self.mesh = self.tiles.mesh();
        Ok(())
    }
}

/// Where two sorted lists of pieces differ.
fn differences(before: &[Piece], after: &[Piece]) -> Vec<Rect> {
    let (mut before, mut after) = (before.iter().peekable(), after.iter().peekable());
    let mut rects = Vec::new();
    loop {
        let order = match (before.peek(), after.peek()) {
            (Some(old), Some(new)) => by_ring(old, new),
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
            (None, None) => return rects,
        };
        if order.is_le() {
            let old = before.next();
            rects.extend(old.filter(|_| order.is_lt()).map(|piece| piece.rect));
        }
        if order.is_ge() {
            let new = after.next();
            rects.extend(new.filter(|_| order.is_gt()).map(|piece| piece.rect));
        }
    }
}

fn by_ring(a: &Piece, b: &Piece) -> std::cmp::Ordering {
    a.ring.iter().map(|p| (p.x, p.y)).cmp(b.ring.iter().map(|p| (p.x, p.y)))
}

/// Tiles as many as the pieces are worth. The number of corners counts by powers of four and sides are powers of two, so
/// that a little more of a map hardly ever moves all borders.
fn layout_for(raster: &Raster, pieces: &[&Piece], settings: &Settings) -> TileLayout {
    let rects = pieces.iter().map(|piece| piece.rect);
    let rect =
        rects.reduce(Rect::joined).unwrap_or(Rect::around([raster.snap(raster.origin)]).unwrap_or(EMPTY));
    let rect = rect.grown(raster.lines(1e-3).max(1));
    let worth = pieces.iter().map(|piece| piece.ring.len()).sum::<usize>() / CORNERS_IN_A_TILE;
    if settings.widest.is_finite() {
        let size = (rect.high.x - rect.low.x).max(rect.high.y - rect.low.y);
        return TileLayout::over(rect, raster.lines(settings.widest).max(size / MOST_TILES_A_SIDE).max(1));
    }
    if !settings.tiles || worth < FEWEST_TILES {
        return TileLayout::whole(rect);
    }
    let tiles = 4f64.powi((worth.ilog2() / 2) as i32 + 1);
    let size = |low: i64, high: i64| (high - low) as f64;
    let side = (size(rect.low.x, rect.high.x) * size(rect.low.y, rect.high.y) / tiles).sqrt();
    TileLayout::over(rect, (side.max(1.0) as u64).next_power_of_two() as i64)
}

const EMPTY: Rect =
    Rect { low: super::raster::Point { x: 0, y: 0 }, high: super::raster::Point { x: 0, y: 0 } };

fn check(place: DVec2, reaches: impl Fn(DVec2) -> bool) -> Result<(), MeshError> {
    let DVec2 { x, y } = place;
    if !place.is_finite() {
        return Err(MeshError::NotFinite { x, y });
    }
    if reaches(place) { Ok(()) } else { Err(MeshError::TooFar { x, y }) }
}

/// Places further from zero than this cannot be told apart by less than a millimetre.
const FURTHEST: f64 = 1e12;

fn bounds(geometry: &Geometry) -> Result<(DVec2, DVec2), MeshError> {
    let rings = geometry.walkable.iter().flatten().chain(&geometry.obstacles);
    let places = || rings.clone().flatten().chain(geometry.walls.iter().flatten()).copied();
    for place in places() {
        check(place, |place| place.abs().max_element() <= FURTHEST)?;
    }
    let low = places().fold(DVec2::MAX, DVec2::min);
    let high = places().fold(DVec2::MIN, DVec2::max);
    Ok(if low.x <= high.x { (low, high) } else { (DVec2::ZERO, DVec2::ZERO) })
}

/// The walkable polygons, joined and without their holes: what is free is taken from what is blocked.
fn walkable_pieces(raster: &Raster, polygons: &[Polygon], radius: f64) -> Vec<Piece> {
    let snapped = |ring: &Vec<DVec2>| -> Ring { ring.iter().map(|&at| raster.snap(at)).collect() };
    let cleaned = |ring: &Vec<DVec2>| -> Vec<Ring> {
        let shapes = overlay(&[snapped(ring)], &[], OverlayRule::Subject, FillRule::NonZero);
        shapes.into_iter().flatten().collect()
    };
    let without_holes = |polygon: &Polygon| -> Vec<Ring> {
        let outer: Vec<Ring> = polygon.iter().take(1).flat_map(cleaned).collect();
        let holes: Vec<Ring> = polygon.iter().skip(1).flat_map(cleaned).collect();
        overlay(&outer, &holes, OverlayRule::Difference, FillRule::NonZero).into_iter().flatten().collect()
    };
    let parts: Vec<Ring> = polygons.iter().flat_map(without_holes).collect();
    let joined = overlay(&parts, &[], OverlayRule::Subject, FillRule::NonZero);
    let mut pieces = Vec::new();
    for ring in joined.into_iter().flatten().map(|ring| in_metres(raster, &ring)) {
        grow_ring(raster, &ring, radius, &mut pieces);
    }
    pieces
}

/// What a ring covers. One without an area is a wall.
fn obstacle_pieces(raster: &Raster, ring: &[DVec2], radius: f64) -> Vec<Piece> {
    let snapped: Ring = ring.iter().map(|&at| raster.snap(at)).collect();
    let shapes = overlay(&[snapped], &[], OverlayRule::Subject, FillRule::NonZero);
    let mut pieces = Vec::new();
    if shapes.is_empty() {
        let open = |edge: Segment| Segment { two_sided: true, ..edge };
        grow(raster, &edges(ring).map(open).collect::<Vec<_>>(), radius, &mut pieces);
    }
    for ring in shapes.into_iter().flatten() {
        let mut ring = in_metres(raster, &ring);
        ring.reverse();
        grow_ring(raster, &ring, radius, &mut pieces);
    }
    pieces
}

/// The pieces of a world's walls, sorted, and whether what lies outside of them is free.
fn wall_pieces(raster: &Raster, walls: &[Wall], radius: f64) -> Result<(Vec<Piece>, bool), MeshError> {
    let segment =
        |wall: &Wall| Segment { a: wall.a.as_dvec2(), b: wall.b.as_dvec2(), two_sided: wall.two_sided };
    let mut segments: Vec<Segment> = walls.iter().map(segment).collect();
    for wall in &segments {
        check(wall.a, |place| raster.reaches(place))?;
        check(wall.b, |place| raster.reaches(place))?;
    }
    let (rings, loose) = chained(&segments);
    let mut pieces = Vec::new();
    rings.iter().for_each(|ring| grow_ring(raster, ring, radius, &mut pieces));
    // A wall that closes no ring has no area on its right.
    segments.retain(|wall| wall.two_sided);
    segments.extend(loose.iter().map(|&wall| Segment { two_sided: true, ..wall }));
    grow(raster, &segments, radius, &mut pieces);
    pieces.sort_unstable_by(by_ring);
    Ok((pieces, is_free_outside(&rings)))
}
