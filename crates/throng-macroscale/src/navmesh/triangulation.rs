//! Free polygons to convex ones: a constrained Delaunay triangulation, and then every diagonal goes that is not needed
//! (Hertel & Mehlhorn 1983), the longest first, which leaves about a third of the triangles.

use super::MeshError;
use super::raster::{Point, Ring, Shapes, turn};
use glam::DVec2;
use spade::handles::FixedFaceHandle;
use spade::{ConstrainedDelaunayTriangulation, Point2, Triangulation};

/// Convex polygons with free space inside, counter-clockwise.
#[derive(Clone, Debug, Default)]
pub(super) struct Patch {
    /// Every vertex once.
    pub vertex: Vec<Point>,
    /// Where a polygon begins in `corner`, and the end.
    pub first: Vec<u32>,
    /// Vertices by number.
    pub corner: Vec<u32>,
}

impl Patch {
    pub fn polygons(&self) -> impl Iterator<Item = &[u32]> + Clone {
        self.first.windows(2).map(|pair| &self.corner[pair[0] as usize..pair[1] as usize])
    }

    /// One convex polygon.
    pub fn whole(ring: Ring) -> Patch {
        let corners = ring.len() as u32;
        Patch { vertex: ring, first: vec![0, corners], corner: (0..corners).collect() }
    }
}

/// Cuts polygons into convex ones.
pub(super) fn convex(shapes: &Shapes) -> Result<Patch, MeshError> {
    let (vertex, edges) = gather(shapes);
    if vertex.is_empty() {
        return Ok(Patch { first: vec![0], ..Patch::default() });
    }
    let cdt = triangulate(&vertex, edges)?;
    let mut sides = Sides::of_free_triangles(&cdt);
    sides.merge(&vertex);
    Ok(sides.into_patch(vertex))
}

/// Every corner once, sorted, and the edges between them.
fn gather(shapes: &Shapes) -> (Vec<Point>, Vec<[usize; 2]>) {
    let rings = || shapes.iter().flatten();
    let order = |a: &Point, b: &Point| (a.x, a.y).cmp(&(b.x, b.y));
    let mut vertex: Vec<Point> = rings().flatten().copied().collect();
    vertex.sort_unstable_by(order);
    vertex.dedup();
    let number = |point: &Point| vertex.binary_search_by(|other| order(other, point)).unwrap_or(0);
    let mut edges = Vec::new();
    for ring in rings() {
        let numbers: Vec<usize> = ring.iter().map(number).collect();
        edges.extend((0..numbers.len()).map(|index| [numbers[index], numbers[(index + 1) % numbers.len()]]));
    }
    edges.retain(|[a, b]| a != b);
    (vertex, edges)
}

type Cdt = ConstrainedDelaunayTriangulation<Point2<f64>>;

/// All points first and then all constraints: only in this order nothing can go wrong inside.
fn triangulate(vertex: &[Point], edges: Vec<[usize; 2]>) -> Result<Cdt, MeshError> {
    let wide = |point: &Point| DVec2::new(point.x as f64, point.y as f64);
    let points = vertex.iter().map(wide).map(|at| Point2::new(at.x, at.y)).collect();
    let mut conflicts = 0usize;
    let cdt = Cdt::try_bulk_load_cdt(points, edges, |_| conflicts += 1);
    let cdt = cdt.map_err(|error| MeshError::Triangulation { reason: error.to_string() })?;
    match conflicts {
        0 => Ok(cdt),
        _ => Err(MeshError::Triangulation { reason: format!("{conflicts} edges cross others") }),
    }
}

/// The sides of polygons that are about to be merged: side 3t + i begins at the i-th corner of triangle t.
struct Sides {
    from: Vec<u32>,
    next: Vec<u32>,
    previous: Vec<u32>,
    twin: Vec<u32>,
    gone: Vec<bool>,
}

const NONE: u32 = u32::MAX;

impl Sides {
    fn of_free_triangles(cdt: &Cdt) -> Sides {
        let free = free_faces(cdt);
        let mut side_of = vec![NONE; 2 * cdt.num_undirected_edges()];
        let mut sides = Sides { from: vec![], next: vec![], previous: vec![], twin: vec![], gone: vec![] };
        let mut edge_of = Vec::new();
        for face in cdt.inner_faces().filter(|face| free[face.fix().index()]) {
            let first = sides.from.len() as u32;
            for (index, edge) in face.adjacent_edges().into_iter().enumerate() {
                let index = index as u32;
                side_of[edge.fix().index()] = first + index;
                edge_of.push(edge.fix());
                sides.from.push(edge.from().fix().index() as u32);
                sides.next.push(first + (index + 1) % 3);
                sides.previous.push(first + (index + 2) % 3);
            }
        }
        let twin = |edge: &spade::handles::FixedDirectedEdgeHandle| {
            let open = !cdt.is_constraint_edge(edge.as_undirected());
            if open { side_of[edge.rev().index()] } else { NONE }
        };
        sides.twin = edge_of.iter().map(twin).collect();
        sides.gone = vec![false; sides.from.len()];
        sides
    }

    /// Takes away every diagonal without which both ends stay convex.
    fn merge(&mut self, vertex: &[Point]) {
        let length = |side: u32| {
            let (a, b) = (vertex[self.from[side as usize] as usize], vertex[self.to(side) as usize]);
            let (x, y) = (i128::from(b.x - a.x), i128::from(b.y - a.y));
            x * x + y * y
        };
        let all = 0..self.from.len() as u32;
        let inner = all.filter(|&side| self.twin[side as usize] != NONE && side < self.twin[side as usize]);
        let mut diagonals: Vec<(i128, u32)> = inner.map(|side| (-length(side), side)).collect();
        diagonals.sort_unstable();
        for (_, side) in diagonals {
            let twin = self.twin[side as usize];
            if self.is_convex_without(side, vertex) && self.is_convex_without(twin, vertex) {
                self.remove(side, twin);
            }
        }
    }

    fn to(&self, side: u32) -> u32 {
        self.from[self.next[side as usize] as usize]
    }

    /// Whether the corner where a side begins is convex when the side and its twin are gone.
    fn is_convex_without(&self, side: u32, vertex: &[Point]) -> bool {
        let before = self.from[self.previous[side as usize] as usize];
        let after = self.to(self.next[self.twin[side as usize] as usize]);
        let at = |number: u32| vertex[number as usize];
        turn(at(before), at(self.from[side as usize]), at(after)) >= 0
    }

    fn remove(&mut self, side: u32, twin: u32) {
        for (side, twin) in [(side, twin), (twin, side)] {
            let (before, after) = (self.previous[side as usize], self.next[twin as usize]);
            self.next[before as usize] = after;
            self.previous[after as usize] = before;
            self.gone[side as usize] = true;
        }
    }

    fn into_patch(mut self, vertex: Vec<Point>) -> Patch {
        let mut patch = Patch { vertex, first: vec![0], corner: Vec::new() };
        for begin in 0..self.from.len() {
            let mut side = begin;
            while !self.gone[side] {
                self.gone[side] = true;
                patch.corner.push(self.from[side]);
                side = self.next[side] as usize;
            }
            if patch.first.last() != Some(&(patch.corner.len() as u32)) {
                patch.first.push(patch.corner.len() as u32);
            }
        }
        patch
    }
}

/// Which faces lie inside: across every constraint inside and outside change places.
fn free_faces(cdt: &Cdt) -> Vec<bool> {
    let mut free = vec![false; cdt.num_all_faces()];
    let mut known = free.clone();
    let mut open: Vec<FixedFaceHandle<spade::handles::PossiblyOuterTag>> = vec![cdt.outer_face().fix()];
    known[cdt.outer_face().fix().index()] = true;
    let outer_edges: Vec<_> = cdt.convex_hull().map(|edge| edge.fix()).collect();
    while let Some(face) = open.pop() {
        let here = free[face.index()];
        let mut cross = |edge: spade::handles::FixedDirectedEdgeHandle| {
            let edge = cdt.directed_edge(edge);
            // The hull is told from one of its sides.
            let beyond = if edge.face().fix() == face { edge.rev().face().fix() } else { edge.face().fix() };
            if !known[beyond.index()] {
                known[beyond.index()] = true;
                free[beyond.index()] = here ^ edge.is_constraint_edge();
                open.push(beyond);
            }
        };
        match cdt.face(face).as_inner() {
            Some(inner) => inner.adjacent_edges().into_iter().for_each(|edge| cross(edge.fix())),
            None => outer_edges.iter().for_each(|&edge| cross(edge)),
        }
    }
    free
}
