//! What is not free for the middle of a body: solid areas, and everything within a radius of a wall, as small pieces.
//!
//! A place is blocked where the pieces around it wind around it more than zero times. So pieces may overlap as they like:
//! a wall is a rectangle, a corner that sticks out is the polygon around its arc, an obstacle is its ring, and what is
//! joined only where it is asked for is joined exactly. Weighed: an offset of whole polygons (one operation, but it cannot
//! be had for a part of the map) and one mesh for all radii with the width of every passage (Kallmann 2010: one mesh
//! instead of one for each class of radii, but a shortest path then has to find out which passages it fits through on
//! each of its tangents; few radii and cheap meshes make that the dearer choice).

use super::raster::{Point, Raster, Rect, Ring};
use crate::corners::{Segment, corners, halfway, split};
use glam::DVec2;
use std::collections::BTreeMap;
use throng_core::geom::double::{self, signed_area};

/// A ring that adds its winding to what is blocked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub ring: Ring,
    pub rect: Rect,
}

impl Piece {
    pub fn new(ring: Ring) -> Option<Piece> {
        let rect = Rect::around(ring.iter().copied())?;
        (ring.len() >= 3).then_some(Piece { ring, rect })
    }
}

/// Cosine of the widest turn that one node stands for, as in the visibility graph: 22.5 degrees and some rounding. A way
/// around a corner is then at most 1.3 % longer than along the arc.
const WIDEST_TURN: f64 = 0.9238;
/// The same for bodies so small that a detour around their arc is nothing.
const WIDEST_TURN_OF_POINTS: f64 = -1e-9;
/// Radius below which a body is a point, m.
const POINT: f64 = 1e-3;
/// Half the width of an open wall, in grid lines, for a body without a radius: more than what a mesh takes for touching.
const THIN: f64 = 2048.0;
/// How much longer than the wall its rectangle is, in grid lines, because rounding must not leave cracks between two.
const LAP: f64 = 4.0;

/// Adds what lies within a radius of walls, on their free sides.
pub(super) fn grow(raster: &Raster, walls: &[Segment], radius: f64, pieces: &mut Vec<Piece>) {
    let thin = THIN / raster.per_metre;
    if radius > thin {
        return grow_by(raster, walls, radius, pieces);
    }
    let open: Vec<Segment> = walls.iter().copied().filter(|wall| wall.two_sided).collect();
    grow_by(raster, &open, thin, pieces);
}

fn grow_by(raster: &Raster, walls: &[Segment], radius: f64, pieces: &mut Vec<Piece>) {
    let walls: Vec<Segment> = walls.iter().copied().filter(|wall| wall.a != wall.b).collect();
    let mut add =
        |ring: &[DVec2]| pieces.extend(Piece::new(ring.iter().map(|&at| raster.snap(at)).collect()));
    for wall in &walls {
        let along = (wall.b - wall.a).normalize();
        let (lap, aside) = (along * (LAP / raster.per_metre), along.perp() * radius);
        let (a, b) = (wall.a - lap, wall.b + lap);
        add(&[a, b, b + aside, a + aside]);
        if wall.two_sided {
            add(&[b, a, a - aside, b - aside]);
        }
    }
    for corner in corners(&walls) {
        let mut fan = vec![corner.at, corner.at + corner.before * radius];
        around_arc(corner.at, corner.before, corner.after, radius, &mut fan);
        fan.push(corner.at + corner.after * radius);
        add(&fan);
    }
}

/// Adds a ring with free space on its left, and what lies within a radius of it.
pub(super) fn grow_ring(raster: &Raster, ring: &[DVec2], radius: f64, pieces: &mut Vec<Piece>) {
    if let Some(grown) = grown_convex(ring, radius) {
        return pieces.extend(Piece::new(grown.iter().map(|&at| raster.snap(at)).collect()));
    }
    pieces.extend(solid_on_right(raster, ring));
    grow(raster, &edges(ring).collect::<Vec<_>>(), radius, pieces);
}

/// A convex obstacle with everything within a radius of it is one ring, and most obstacles are convex: one piece instead
/// of two for each corner.
fn grown_convex(ring: &[DVec2], radius: f64) -> Option<Vec<DVec2>> {
    let count = ring.len();
    // Clockwise, with free space outside: the other way round its corners are those of a polygon.
    let corner = |index: usize| ring[(2 * count - 1 - index) % count];
    let along = |index: usize| (corner(index + 1) - corner(index)).normalize();
    let rises = |index: usize| along(index).y > 0.0 || (along(index).y == 0.0 && along(index).x > 0.0);
    let turns_left = (0..count).all(|index| along(index).perp_dot(along(index + 1)) > 0.0);
    // Once around, and not several times.
    let turns = (0..count).filter(|&index| !rises(index) && rises(index + 1)).count();
    if count < 3 || !turns_left || turns != 1 {
        return None;
    }
    let mut grown = Vec::with_capacity(6 * count);
    for index in 0..count {
        let (before, after) = (-along(index).perp(), -along(index + 1).perp());
        around_arc(corner(index + 1), before, after, radius, &mut grown);
    }
    Some(grown)
}

/// The corners of the polygon around an arc, between two unit vectors from its middle.
fn around_arc(at: DVec2, before: DVec2, after: DVec2, radius: f64, corners: &mut Vec<DVec2>) {
    let widest = if radius < POINT { WIDEST_TURN_OF_POINTS } else { WIDEST_TURN };
    split(before, after, widest, &mut |before, after| {
        let middle = halfway(before, after);
        corners.push(at + middle * (radius / middle.dot(before)));
    });
}

/// One-sided walls as closed rings with free space on the left, and those that close no ring.
pub(super) fn chained(walls: &[Segment]) -> (Vec<Vec<DVec2>>, Vec<Segment>) {
    let key = |place: DVec2| [place.x.to_bits(), place.y.to_bits()];
    // Adding zero makes one zero of both.
    let tidy = |wall: &Segment| Segment { a: wall.a + 0.0, b: wall.b + 0.0, two_sided: wall.two_sided };
    let walls: Vec<Segment> =
        walls.iter().filter(|wall| !wall.two_sided && wall.a != wall.b).map(tidy).collect();
    let mut from: BTreeMap<[u64; 2], Vec<usize>> = BTreeMap::new();
    for (index, wall) in walls.iter().enumerate().rev() {
        from.entry(key(wall.a)).or_default().push(index);
    }
    let mut taken = vec![false; walls.len()];
    let (mut rings, mut loose) = (Vec::new(), Vec::new());
    for first in 0..walls.len() {
        let mut chain: Vec<usize> = Vec::new();
        let mut next = (!taken[first]).then_some(first);
        while let Some(index) = next {
            taken[index] = true;
            chain.push(index);
            let outgoing = from.get_mut(&key(walls[index].b));
            next = outgoing.and_then(|list| {
                list.retain(|&other| !taken[other]);
                list.pop()
            });
            if walls[index].b == walls[first].a {
                break;
            }
        }
        match chain.last() {
            Some(&last) if walls[last].b == walls[first].a => {
                rings.push(chain.iter().map(|&index| walls[index].a).collect());
            }
            _ => loose.extend(chain.iter().map(|&index| walls[index])),
        }
    }
    (rings, loose)
}

/// Whether what lies outside of all rings is free, where rings have free space on their left.
pub(super) fn is_free_outside(rings: &[Vec<DVec2>]) -> bool {
    let least = |ring: &Vec<DVec2>| ring.iter().copied().min_by(by_place);
    let outermost = rings.iter().min_by(|a, b| match (least(a), least(b)) {
        // Of two that touch there, the one around more.
        (Some(p), Some(q)) => by_place(&p, &q).then(signed_area(b).abs().total_cmp(&signed_area(a).abs())),
        _ => std::cmp::Ordering::Equal,
    });
    outermost.is_none_or(|ring| signed_area(ring) < 0.0)
}

fn by_place(a: &DVec2, b: &DVec2) -> std::cmp::Ordering {
    a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y))
}

/// The ring as a piece that blocks what it has on its right.
fn solid_on_right(raster: &Raster, ring: &[DVec2]) -> Option<Piece> {
    Piece::new(ring.iter().rev().map(|&at| raster.snap(at)).collect())
}

/// The edges of a ring as walls.
pub(super) fn edges(ring: &[DVec2]) -> impl Iterator<Item = Segment> + '_ {
    double::edges(ring).map(|[a, b]| Segment { a, b, two_sided: false })
}

/// A ring of grid points in metres, in the map's coordinates.
pub(super) fn in_metres(raster: &Raster, ring: &[Point]) -> Vec<DVec2> {
    ring.iter().map(|&point| raster.local(point) + raster.origin).collect()
}
