//! Σ2 for those who search it time and again ([`dynamic_navmesh`](super::dynamic_navmesh) says what it is): a side counts with the
//! direction in which it is crossed. So a step never leads back to the polygon that it comes from, which the shortest way never
//! does, each state leads into one polygon, and has half as many successors. It knows no links.
//!
//! What does not depend on who searches is worked out once for a mesh ([`Layout`]): how far it is from every side to some
//! landmarks. By the triangle inequality these tell how long a way is at least, whoever is on it (ALT: Goldberg & Harrelson
//! 2005). Among blocks that is far more than the straight line.

use super::dynamic_navmesh::{GATE, pull};
use super::forecast::Expected;
use crate::navmesh::Mesh;
use crate::navmesh::mesh::NONE;
use crate::search::{Aim, Astar, Budget, Domain};
use glam::DVec2;
use serde::{Deserialize, Serialize};
use std::cell::Cell;
use throng_core::parallel;

/// Landmarks lie as far out as can be, in as many directions.
const LANDMARKS: usize = 8;

/// How far it is to every landmark, m; 0 to those to which no way leads.
type Away = [f32; LANDMARKS];

/// A mesh as all searches see it.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// The middle of every side, m from the mesh's origin.
    middle: Vec<DVec2>,
    /// Of every side.
    away: Vec<Away>,
}

impl Layout {
    /// Of a mesh without links.
    pub fn new(mesh: &Mesh) -> Layout {
        let middle = |side: u32| (mesh.begin(side) + mesh.end(side)) / 2.0;
        let middle: Vec<DVec2> = (0..mesh.from.len() as u32).map(middle).collect();
        let distances = |landmark: usize| {
            let direction = DVec2::from_angle(landmark as f64 / LANDMARKS as f64 * std::f64::consts::TAU);
            let open = (0..middle.len() as u32).filter(|&side| mesh.twin[side as usize] != NONE);
            let far = |side: &u32| direction.dot(middle[*side as usize]);
            let mut search = Astar::default();
            if let Some(start) = open.max_by(|a, b| far(a).total_cmp(&far(b))) {
                search.find(&Empty { mesh, middle: &middle }, start, Aim::Ends, Budget::unlimited());
            }
            search.costs().collect::<Vec<(u32, f32)>>()
        };
        let mut away = vec![[0.0; LANDMARKS]; middle.len()];
        for (landmark, distances) in parallel::map(1, LANDMARKS, &distances).into_iter().enumerate() {
            for (side, distance) in distances {
                away[side as usize][landmark] = distance;
                away[mesh.twin[side as usize] as usize][landmark] = distance;
            }
        }
        Layout { middle, away }
    }

    /// How far it is from a place in a polygon, m from the mesh's origin.
    fn away(&self, mesh: &Mesh, place: DVec2, polygon: u32) -> Away {
        let mut away = [f32::INFINITY; LANDMARKS];
        for side in mesh.sides(polygon as usize).filter(|&side| mesh.twin[side] != NONE) {
            let distance = (place.distance(self.middle[side]) + GATE) as f32;
            let over = self.away[side].map(|further| further + distance);
            away.iter_mut().zip(over).for_each(|(least, over)| *least = least.min(over));
        }
        away
    }
}

/// The mesh with nobody on it. A state is a side, by the smaller of its two numbers.
struct Empty<'a> {
    mesh: &'a Mesh,
    middle: &'a [DVec2],
}

impl Domain for Empty<'_> {
    type State = u32;

    fn successors(&self, side: u32, out: &mut Vec<(u32, f32)>) {
        let Empty { mesh, middle } = *self;
        for own in [side, mesh.twin[side as usize]] {
            let sides = mesh.sides(mesh.polygon[own as usize] as usize).map(|other| other as u32);
            let others = sides.filter(|&other| other != own && mesh.twin[other as usize] != NONE);
            let distance = |other: u32| middle[side as usize].distance(middle[other as usize]);
            out.extend(
                others.map(|other| (other.min(mesh.twin[other as usize]), (distance(other) + GATE) as f32)),
            );
        }
    }

    fn predecessors(&self, side: u32, out: &mut Vec<(u32, f32)>) {
        self.successors(side, out);
    }

    fn heuristic(&self, _from: u32, _to: u32) -> f32 {
        0.0
    }
}

/// A side that is crossed into a polygon, by its number there; or one of the ends of the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Entry(u32);

impl Entry {
    /// Where the way begins.
    pub const START: Entry = Entry(NONE);
    /// Where it ends.
    pub const GOAL: Entry = Entry(NONE - 1);

    /// As a number, for hashes.
    pub fn number(self) -> u32 {
        self.0
    }
}

/// What a way leads through, and what it costs from there to its end, m.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Crossing {
    /// What it leads through.
    pub entry: Entry,
    /// When it was found.
    pub to_go: f32,
}

/// What is left of a way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rest {
    /// How many crossings have been passed.
    pub passed: usize,
    /// What it costs by now, m.
    pub cost: f32,
    /// What it was going to cost when it was found, m.
    pub expected: f32,
}

/// The mesh with its densities, for one agent.
#[derive(Clone, Debug)]
pub struct DirectedNavmesh<'a> {
    mesh: &'a Mesh,
    layout: &'a Layout,
    expected: Expected<'a>,
    /// As how many metres more a metre counts for each body per m².
    weight: f64,
    /// m from the mesh's origin.
    from: DVec2,
    to: DVec2,
    from_polygon: u32,
    to_polygon: u32,
    /// From both ends.
    away: [Away; 2],
    /// By polygon, what was worked out of [`DirectedNavmesh::dearness`]: not a number where it was not, and nothing where one look is all.
    known: Vec<Cell<f32>>,
}

impl<'a> DirectedNavmesh<'a> {
    /// For a way between two places; `None` where there is none, whoever is there. `weight` says as how many metres more a metre
    /// counts for each body per m².
    pub fn new(
        (mesh, layout): (&'a Mesh, &'a Layout),
        expected: Expected<'a>,
        weight: f64,
        ends: [DVec2; 2],
    ) -> Option<DirectedNavmesh<'a>> {
        let [from, to] = ends.map(|end| end - mesh.origin());
        let (from_polygon, to_polygon) = (mesh.locate_local(from)?, mesh.locate_local(to)?);
        let connected = mesh.connected(from_polygon as usize, to_polygon as usize);
        connected.then(|| DirectedNavmesh {
            mesh,
            layout,
            expected,
            weight: weight.max(0.0),
            from,
            to,
            from_polygon,
            to_polygon,
            away: [layout.away(mesh, from, from_polygon), layout.away(mesh, to, to_polygon)],
            known: Vec::new(),
        })
    }

    /// The same for a search, which comes to a polygon through several of its sides.
    pub fn for_search(self) -> DirectedNavmesh<'a> {
        DirectedNavmesh { known: vec![Cell::new(f32::NAN); self.mesh.polygons()], ..self }
    }

    /// m from the mesh's origin.
    fn at(&self, entry: Entry) -> DVec2 {
        match entry {
            Entry::START => self.from,
            Entry::GOAL => self.to,
            Entry(side) => self.layout.middle[side as usize],
        }
    }

    fn away(&self, entry: Entry) -> &Away {
        match entry {
            Entry::START => &self.away[0],
            Entry::GOAL => &self.away[1],
            Entry(side) => &self.layout.away[side as usize],
        }
    }

    /// The polygon that an entry leads into.
    fn into(&self, entry: Entry) -> Option<u32> {
        match entry {
            Entry::START => Some(self.from_polygon),
            Entry::GOAL => None,
            Entry(side) => self.mesh.polygon.get(side as usize).copied(),
        }
    }

    /// The polygon that an entry leads out of.
    fn out_of(&self, entry: Entry) -> Option<u32> {
        match entry {
            Entry::START => None,
            Entry::GOAL => Some(self.to_polygon),
            Entry(side) => {
                let twin = *self.mesh.twin.get(side as usize)?;
                self.mesh.polygon.get(twin as usize).copied()
            }
        }
    }

    /// As how many metres a metre in a polygon counts.
    fn dearness(&self, polygon: u32) -> f64 {
        let phi = || self.expected.phi(polygon as usize);
        let phi = self.known.get(polygon as usize).map_or_else(phi, |known| {
            if known.get().is_nan() {
                known.set(phi());
            }
            known.get()
        });
        1.0 + self.weight * f64::from(phi)
    }

    fn cost(&self, from: DVec2, to: DVec2, dearness: f64) -> f32 {
        (from.distance(to) * dearness + GATE) as f32
    }

    /// Entries, each with what is left of the way's cost from there.
    pub fn crossings(&self, entries: &[Entry]) -> Vec<Crossing> {
        let mut crossings: Vec<Crossing> =
            entries.iter().map(|&entry| Crossing { entry, to_go: 0.0 }).collect();
        let (mut next, mut to_go) = (Entry::GOAL, 0.0);
        for crossing in crossings.iter_mut().rev() {
            to_go += self.step(crossing.entry, next).unwrap_or(0.0);
            (next, crossing.to_go) = (crossing.entry, to_go);
        }
        crossings
    }

    /// What is left of a way that was found before, from where this one begins. Who was pushed beside it goes straight to its
    /// nearest crossing. `None` where it does not lead to where this one ends.
    pub fn rest(&self, way: &[Crossing]) -> Option<Rest> {
        let leads_on = |crossing: &Crossing| self.out_of(crossing.entry) == Some(self.from_polygon);
        let passed = if self.from_polygon == self.to_polygon {
            way.len()
        } else {
            way.iter().rposition(leads_on).unwrap_or_else(|| self.nearest(way))
        };
        let mut entries = way[passed..].iter().map(|crossing| crossing.entry).chain([Entry::GOAL]);
        let mut last = entries.next().filter(|&first| self.out_of(first).is_some())?;
        let first = self.cost(self.from, self.at(last), self.dearness(self.from_polygon));
        let mut cost = first;
        for entry in entries {
            cost += self.step(last, entry)?;
            last = entry;
        }
        Some(Rest { passed, cost, expected: first + way.get(passed).map_or(0.0, |crossing| crossing.to_go) })
    }

    /// Of a way's crossings the one that is nearest to where this one begins: what lies between the two is not weighed, and must be
    /// little.
    fn nearest(&self, way: &[Crossing]) -> usize {
        let known = way.iter().enumerate().filter(|(_, crossing)| self.out_of(crossing.entry).is_some());
        let distance = |crossing: &Crossing| self.at(crossing.entry).distance_squared(self.from);
        known.min_by(|a, b| distance(a.1).total_cmp(&distance(b.1))).map_or(0, |(index, _)| index)
    }

    /// What a step costs; `None` where there is no such step.
    fn step(&self, from: Entry, to: Entry) -> Option<f32> {
        let polygon = self.into(from).filter(|&polygon| self.out_of(to) == Some(polygon))?;
        Some(self.cost(self.at(from), self.at(to), self.dearness(polygon)))
    }

    /// The taut way over entries, m.
    pub fn route(&self, entries: &[Entry]) -> Vec<DVec2> {
        let mut route = vec![self.from];
        let sides: Vec<[DVec2; 2]> =
            entries.iter().map(|&Entry(side)| [self.mesh.begin(side), self.mesh.end(side)]).collect();
        pull(&mut route, &sides, self.to);
        route.iter_mut().for_each(|at| *at += self.mesh.origin());
        route
    }
}

impl Domain for DirectedNavmesh<'_> {
    type State = Entry;

    fn successors(&self, entry: Entry, out: &mut Vec<(Entry, f32)>) {
        let Some(polygon) = self.into(entry) else { return };
        let (from, dearness) = (self.at(entry), self.dearness(polygon));
        let others = self.mesh.sides(polygon as usize).filter(|&side| side as u32 != entry.0);
        let others = others.map(|side| Entry(self.mesh.twin[side])).filter(|other| other.0 != NONE);
        let goal = (polygon == self.to_polygon).then_some(Entry::GOAL);
        out.extend(others.chain(goal).map(|other| (other, self.cost(from, self.at(other), dearness))));
    }

    fn predecessors(&self, entry: Entry, out: &mut Vec<(Entry, f32)>) {
        let Some(polygon) = self.out_of(entry) else { return };
        let (to, dearness) = (self.at(entry), self.dearness(polygon));
        let others = self.mesh.sides(polygon as usize).filter(|&side| self.mesh.twin[side] != NONE);
        let others = others.filter(|&side| self.mesh.twin[side] != entry.0).map(|side| Entry(side as u32));
        let start = (polygon == self.from_polygon).then_some(Entry::START);
        out.extend(others.chain(start).map(|other| (other, self.cost(self.at(other), to, dearness))));
    }

    fn heuristic(&self, from: Entry, to: Entry) -> f32 {
        let straight = self.at(from).distance(self.at(to)) as f32;
        let differences = self.away(from).iter().zip(self.away(to)).map(|(a, b)| (a - b).abs());
        // The difference of two that are infinite is no number, and counts for nothing.
        differences.fold(straight, f32::max)
    }
}
