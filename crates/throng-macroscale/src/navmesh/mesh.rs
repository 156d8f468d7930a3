//! The mesh as searches read it: convex polygons in flat arrays, and which of them a place is in.

use super::lookup::{Cells, Lookup};
use super::{Link, MeshError};
use glam::DVec2;
use std::ops::Range;
use throng_core::parallel;

/// Free space as convex polygons that share sides.
///
/// Polygons, sides and vertices are numbers. The sides of a polygon are consecutive and counter-clockwise; a side begins
/// at a vertex and ends where the next one begins. Coordinates are metres from [`Mesh::origin`], so that a map far from
/// zero is as exact as one around it.
#[derive(Clone, Debug, Default)]
pub struct Mesh {
    origin: DVec2,
    pub(crate) vertex: Vec<DVec2>,
    /// Whether a shortest path can bend at a vertex: the walls there leave more than half a turn free.
    pub(super) bends: Vec<bool>,
    /// The first side of every polygon, and the number of sides.
    pub(crate) first: Vec<u32>,
    /// The vertex where a side begins.
    pub(crate) from: Vec<u32>,
    /// The same side as the polygon beyond has it; [`NONE`] where there is a wall.
    pub(crate) twin: Vec<u32>,
    /// The polygon of a side.
    pub(crate) polygon: Vec<u32>,
    /// The next side of the same polygon.
    pub(crate) next: Vec<u32>,
    /// Polygons of one number can be reached from one another without links.
    island: Vec<u32>,
    /// Whether a polygon has one open side at most: no path has to go through it.
    pub(super) dead_end: Vec<bool>,
    /// What counts as touching, m.
    pub(super) tolerance: f64,
    lookup: Lookup,
    pub(crate) links: Vec<Linked>,
    /// The least cost of a metre: 1, or less where a link is shorter than the way that it saves.
    pub(crate) least_cost: f64,
}

/// No side.
pub(crate) const NONE: u32 = u32::MAX;

/// A link whose ends have been found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Linked {
    pub from: DVec2,
    pub to: DVec2,
    pub from_polygon: u32,
    pub to_polygon: u32,
    pub cost: f64,
}

/// What rounding may do to a place, for each metre of a mesh's size.
const ROUNDING: f64 = 2e-12;
/// A corner whose sine is less is none.
const STRAIGHT: f64 = 1e-12;

/// Polygons as lists of vertices, before their sides are joined.
#[derive(Clone, Debug, Default)]
pub(super) struct Loops {
    pub origin: DVec2,
    pub vertex: Vec<DVec2>,
    pub first: Vec<u32>,
    pub from: Vec<u32>,
    /// Number of polygons at the end that reach far around all others.
    pub around: usize,
}

impl Mesh {
    /// A mesh of given polygons: convex, counter-clockwise, and joined where they share two vertices.
    pub fn from_polygons(vertices: &[DVec2], polygons: &[Vec<u32>]) -> Result<Mesh, MeshError> {
        if let Some(&place) = vertices.iter().find(|place| !place.is_finite()) {
            return Err(MeshError::NotFinite { x: place.x, y: place.y });
        }
        let mut loops = Loops { vertex: vertices.to_vec(), first: vec![0], ..Loops::default() };
        for (index, polygon) in polygons.iter().enumerate() {
            if polygon.len() < 3 || polygon.iter().any(|&corner| corner as usize >= vertices.len()) {
                return Err(MeshError::Polygon { index });
            }
            loops.from.extend(polygon);
            loops.first.push(loops.from.len() as u32);
        }
        let cells = Cells::new(polygons.iter().map(Vec::as_slice), |corner| vertices[corner as usize]);
        let mesh = Mesh::join(loops, Lookup::of_one_tile(cells));
        match (0..mesh.polygons()).find(|&polygon| !mesh.is_convex(polygon)) {
            Some(index) => Err(MeshError::Polygon { index }),
            None => Ok(mesh),
        }
    }

    pub(super) fn join(loops: Loops, lookup: Lookup) -> Mesh {
        let Loops { origin, vertex, first, from, around } = loops;
        let inner = first.len().saturating_sub(1 + around);
        let inner_sides = &from[..first.get(inner).map_or(0, |&side| side as usize)];
        let (mut polygon, mut next, mut extent) = (vec![0; from.len()], vec![0; from.len()], 0.0f64);
        let mut number = || {
            for (index, pair) in first.windows(2).enumerate() {
                polygon[pair[0] as usize..pair[1] as usize].fill(index as u32);
                for side in pair[0]..pair[1] {
                    next[side as usize] = if side + 1 == pair[1] { pair[0] } else { side + 1 };
                }
            }
        };
        let mut measure = || {
            extent = inner_sides.iter().map(|&v| vertex[v as usize].abs().max_element()).fold(0.0, f64::max)
        };
        // Edits pay for all of this every time, so threads share it.
        parallel::join(&mut number, &mut measure);
        let mut mesh = Mesh {
            origin,
            twin: twins(&from, &next, vertex.len()),
            vertex,
            first,
            from,
            polygon,
            next,
            lookup,
            tolerance: (ROUNDING * extent).max(1e-15),
            least_cost: 1.0,
            ..Mesh::default()
        };
        let (mut bends, mut islands) = (Vec::new(), (Vec::new(), Vec::new()));
        parallel::join(&mut || bends = mesh.find_bends(), &mut || islands = mesh.find_islands());
        mesh.bends = bends;
        (mesh.island, mesh.dead_end) = islands;
        mesh
    }

    /// What has to be added to the mesh's own coordinates, m.
    pub fn origin(&self) -> DVec2 {
        self.origin
    }

    /// How many polygons there are.
    pub fn polygons(&self) -> usize {
        self.first.len().saturating_sub(1)
    }

    /// How many vertices there are.
    pub fn vertices(&self) -> usize {
        self.vertex.len()
    }

    /// The corners of a polygon, counter-clockwise.
    pub fn corners(&self, polygon: usize) -> impl Iterator<Item = DVec2> + Clone + '_ {
        self.sides(polygon).map(|side| self.begin(side as u32) + self.origin)
    }

    /// The vertices of a polygon by number, counter-clockwise.
    pub fn corner_numbers(&self, polygon: usize) -> &[u32] {
        &self.from[self.sides(polygon)]
    }

    /// Where a vertex is.
    pub fn vertex(&self, number: usize) -> DVec2 {
        self.vertex[number] + self.origin
    }

    /// The polygons beside a polygon, with the ends of the side that they share, its right one first as seen from inside.
    pub fn neighbours(&self, polygon: usize) -> impl Iterator<Item = (usize, [DVec2; 2])> + '_ {
        let open = self.sides(polygon).filter(|&side| self.twin[side] != NONE);
        open.map(|side| {
            let ends = [self.begin(side as u32), self.end(side as u32)];
            (self.polygon[self.twin[side] as usize] as usize, ends.map(|end| end + self.origin))
        })
    }

    /// A polygon's area, m².
    pub fn area(&self, polygon: usize) -> f64 {
        let zero = self.sides(polygon).next().map_or(DVec2::ZERO, |side| self.begin(side as u32));
        let twice = |side: usize| (self.begin(side as u32) - zero).perp_dot(self.end(side as u32) - zero);
        self.sides(polygon).map(twice).sum::<f64>() / 2.0
    }

    /// Whether there is a way from one polygon to another, links aside.
    pub fn connected(&self, polygon: usize, other: usize) -> bool {
        self.island[polygon] == self.island[other]
    }

    /// The polygon that a place is in or touches; the first one of several.
    #[inline]
    pub fn locate(&self, place: DVec2) -> Option<usize> {
        self.locate_local(place - self.origin).map(|polygon| polygon as usize)
    }

    /// The place of the mesh that is nearest to a place, among those within a distance that are accepted.
    pub fn nearest(&self, place: DVec2, within: f64, mut accept: impl FnMut(DVec2) -> bool) -> Option<DVec2> {
        let found = self.lookup.nearest(self, place - self.origin, within, |at| accept(at + self.origin));
        found.map(|(at, _)| at + self.origin)
    }

    /// Whether a link begins and ends on the mesh.
    pub fn is_sound(&self, link: &Link) -> bool {
        [link.from, link.to].iter().all(|&end| self.locate(end).is_some())
    }

    /// Those of some links that begin and end on the mesh: the others lead nowhere for bodies of its radius.
    pub fn sound(&self, links: &[Link]) -> Vec<Link> {
        links.iter().copied().filter(|link| self.is_sound(link)).collect()
    }

    /// Joins places by links. Says which link begins or ends outside of the mesh.
    pub fn set_links(&mut self, links: &[Link]) -> Result<(), MeshError> {
        let find = |index: usize, place: DVec2| {
            let outside = MeshError::Link { index, x: place.x, y: place.y };
            self.locate_local(place - self.origin).ok_or(outside)
        };
        let mut linked = Vec::new();
        for (index, link) in links.iter().enumerate() {
            if !(link.cost.is_finite() && link.cost >= 0.0) {
                return Err(MeshError::LinkCost { index, cost: link.cost });
            }
            let (from_polygon, to_polygon) = (find(index, link.from)?, find(index, link.to)?);
            let (from, to) = (link.from - self.origin, link.to - self.origin);
            let there = Linked { from, to, from_polygon, to_polygon, cost: link.cost };
            linked.push(there);
            if link.both_ways {
                let (from_polygon, to_polygon) = (to_polygon, from_polygon);
                linked.push(Linked { from: to, to: from, from_polygon, to_polygon, cost: link.cost });
            }
        }
        let share = |link: &Linked| link.cost / link.from.distance(link.to).max(f64::MIN_POSITIVE);
        self.least_cost = linked.iter().map(share).fold(1.0, f64::min);
        self.links = linked;
        Ok(())
    }

    #[inline]
    pub(crate) fn locate_local(&self, place: DVec2) -> Option<u32> {
        self.lookup.polygon_at(self, place)
    }

    pub(super) fn may_connect(&self, polygon: u32, other: u32) -> bool {
        !self.links.is_empty() || self.island[polygon as usize] == self.island[other as usize]
    }

    #[inline(always)]
    pub(crate) fn sides(&self, polygon: usize) -> Range<usize> {
        self.first[polygon] as usize..self.first[polygon + 1] as usize
    }

    #[inline(always)]
    pub(crate) fn begin(&self, side: u32) -> DVec2 {
        self.vertex[self.from[side as usize] as usize]
    }

    #[inline(always)]
    pub(crate) fn end(&self, side: u32) -> DVec2 {
        self.begin(self.next[side as usize])
    }

    /// Whether a place is in a polygon or as good as touches it.
    #[inline]
    pub(super) fn contains(&self, polygon: usize, place: DVec2) -> bool {
        let sides = self.sides(polygon);
        if sides.is_empty() {
            return false;
        }
        let mut a = self.begin(sides.end as u32 - 1);
        for side in sides {
            let b = self.begin(side as u32);
            let along = b - a;
            let slack = self.tolerance * (along.x.abs() + along.y.abs());
            if along.perp_dot(place - a) < -slack {
                return false;
            }
            a = b;
        }
        true
    }

    fn is_convex(&self, polygon: usize) -> bool {
        let corner = |side: usize| {
            let next = self.next[side];
            let (into, out) =
                (self.end(side as u32) - self.begin(side as u32), self.end(next) - self.begin(next));
            into.perp_dot(out) >= -1e-9 * into.length() * out.length()
        };
        self.area(polygon) > 0.0 && self.sides(polygon).all(corner)
    }

    fn find_bends(&self) -> Vec<bool> {
        let mut bends = vec![false; self.vertex.len()];
        for side in (0..self.from.len()).filter(|&side| self.twin[side] == NONE) {
            bends[self.from[side] as usize] |= self.leaves_more_than_half_a_turn(side as u32);
        }
        bends
    }

    /// From a wall counter-clockwise around its first vertex to the next wall.
    fn leaves_more_than_half_a_turn(&self, wall: u32) -> bool {
        let at = self.begin(wall);
        let mut side = wall;
        // As many polygons as a vertex can have; more only where input was no mesh.
        for _ in 0..=self.from.len() {
            let last = self.previous(side);
            if self.twin[last as usize] == NONE {
                let (first, last) = (self.end(wall) - at, self.begin(last) - at);
                let (cross, dot) = (first.perp_dot(last), first.dot(last));
                let flat = STRAIGHT * first.length() * last.length();
                return cross < -flat || (cross <= flat && dot > 0.0 && side != wall);
            }
            side = self.twin[last as usize];
        }
        false
    }

    pub(super) fn previous(&self, side: u32) -> u32 {
        let sides = self.sides(self.polygon[side as usize] as usize);
        if side as usize == sides.start { sides.end as u32 - 1 } else { side - 1 }
    }

    /// For each polygon the first one that it is connected to, and whether only one way leads out of it.
    fn find_islands(&self) -> (Vec<u32>, Vec<bool>) {
        let mut island = vec![NONE; self.polygons()];
        let mut dead_end = vec![false; self.polygons()];
        let mut open = Vec::new();
        for begin in 0..self.polygons() {
            if island[begin] == NONE {
                island[begin] = begin as u32;
                open.push(begin);
            }
            while let Some(polygon) = open.pop() {
                let mut ways = 0;
                for side in self.sides(polygon).filter(|&side| self.twin[side] != NONE) {
                    ways += 1;
                    let other = self.polygon[self.twin[side] as usize] as usize;
                    if island[other] == NONE {
                        island[other] = begin as u32;
                        open.push(other);
                    }
                }
                dead_end[polygon] = ways <= 1;
            }
        }
        (island, dead_end)
    }
}

/// Sides that a thread finds the twins of in one go.
const SIDES_AT_A_TIME: usize = 8192;

/// For every side the one that runs the other way. A counting sort by vertex instead of a hash of pairs: it is several
/// times faster, and edits pay for it every time.
fn twins(from: &[u32], next: &[u32], vertices: usize) -> Vec<u32> {
    let mut first = vec![0u32; vertices + 1];
    from.iter().for_each(|&vertex| first[vertex as usize + 1] += 1);
    for vertex in 0..vertices {
        first[vertex + 1] += first[vertex];
    }
    let mut place = first.clone();
    // Sides by where they begin, each with where it ends.
    let mut leaving = vec![(0u32, 0u32); from.len()];
    for (side, (&vertex, &next)) in from.iter().zip(next).enumerate() {
        leaving[place[vertex as usize] as usize] = (side as u32, from[next as usize]);
        place[vertex as usize] += 1;
    }
    let twin = |side: usize| {
        let (begin, end) = (from[side], from[next[side] as usize] as usize);
        let list = &leaving[first[end] as usize..first[end + 1] as usize];
        list.iter().find(|(_, to)| *to == begin).map_or(NONE, |(other, _)| *other)
    };
    parallel::map(SIDES_AT_A_TIME, from.len(), &twin)
}
