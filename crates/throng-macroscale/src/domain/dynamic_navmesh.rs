//! # Dynamic navigation mesh Σ2 (Kapadia et al. 2013, section 4.1, after van Toll, Cook & Geraerts 2012)
//! A mesh of small polygons with the density φ of bodies in each: those that are there now, and those that will be when the
//! agent gets there, from their published paths. A metre through a polygon costs the more the denser it is.
//!
//! A state is a side between two polygons, and a step leads through a polygon from the middle of one side to the middle of
//! another. The way is then pulled taut through the sides that it passes.
//!
//! Deviations:
//! - The paper's states are polygons, and its steps lead from middle to middle of them. Middles of sides follow the mesh more
//!   closely, and what a step costs depends on one polygon.
//! - φ is taken at one time for each polygon: when the agent would be in its middle if it went straight there. With the
//!   time of the way itself a state would have to hold a time, as in Σ4.
//! - A link can be taken like a side; it costs what it costs, whatever the density.
//! - φ knows which way bodies go, where that is known ([`Density::drift`]). The paper's is a number, and two crowds that come
//!   towards one another cost it as much as one crowd; but bodies are met as often as they move past one another.

use super::Placed;
use super::forecast::Forecast;
use super::occupancy::Occupancy;
use crate::navmesh::Mesh;
use crate::navmesh::mesh::NONE;
use crate::search::Domain;
use glam::{DVec2, Vec2};

/// How dense it is.
pub trait Dense {
    /// How many bodies one meets per m² who goes through a polygon in a direction: those who come towards it count twice, and
    /// those who go the same way not at all.
    fn met(&self, polygon: usize, direction: DVec2) -> f64;
}

impl Dense for Density {
    fn met(&self, polygon: usize, direction: DVec2) -> f64 {
        let along = self.drift.get(polygon).map_or(0.0, |drift| direction.dot(drift.as_dvec2()));
        (f64::from(self.phi[polygon]) - along).max(0.0)
    }
}

/// The density of bodies in every polygon of a mesh.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Density {
    /// 1/m², by polygon.
    pub phi: Vec<f32>,
    /// The sum of the directions that these bodies go in, each at most of length 1, per m². Beyond its end nobody moves.
    pub drift: Vec<Vec2>,
}

/// Who asks for densities: where it is and how fast it gets on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Traveller {
    /// m.
    pub from: DVec2,
    /// s.
    pub begin: f64,
    /// m/s. Above 0.
    pub speed: f64,
    /// Who it is: its own path does not count.
    pub own: Option<u32>,
}

/// The least area of a polygon, m²: a body fills more than a sliver.
const LEAST_AREA: f64 = 1.0;
/// Between samples of the density along a path, m, and at most this many between two bends.
const STRIDE: f64 = 1.0;
const MOST_STRIDES: f64 = 200.0;
/// Bodies so far outside of the mesh still count, m: beside walls there is no room for the middle of the agent that plans.
const BESIDE: f64 = 2.0;

impl Density {
    /// No agent anywhere.
    pub fn empty(mesh: &Mesh) -> Density {
        Density { phi: vec![0.0; mesh.polygons()], drift: Vec::new() }
    }

    /// Bodies where they are at one time.
    pub fn at(mesh: &Mesh, bodies: impl IntoIterator<Item = DVec2>) -> Density {
        let mut density = Density::empty(mesh);
        for at in bodies {
            density.count(mesh, at, 1.0);
        }
        density
    }

    /// Bodies where they will be when a traveller would meet them there.
    pub fn ahead(mesh: &Mesh, published: &Occupancy, traveller: Traveller) -> Density {
        let mut forecast = Forecast::new(mesh, traveller.begin);
        let said = published.iter().map(|(body, path)| (body as usize, Some(path.clone())));
        forecast.expect(mesh, said.collect());
        let expected = forecast.for_traveller(traveller, &[]);
        let phi = (0..mesh.polygons()).map(|polygon| expected.phi(polygon)).collect();
        Density { phi, drift: Vec::new() }
    }

    fn count(&mut self, mesh: &Mesh, at: DVec2, bodies: f64) {
        if let Some(polygon) = polygon_at(mesh, at) {
            self.phi[polygon] += share(mesh, polygon, bodies);
        }
    }

    /// How dense it is somewhere, 1/m²; 0 outside of the mesh.
    pub fn at_place(&self, mesh: &Mesh, place: DVec2) -> f32 {
        mesh.locate(place).map_or(0.0, |polygon| self.phi[polygon])
    }

    /// The polygons whose density differs.
    pub fn differences<'a>(&'a self, other: &'a Density) -> impl Iterator<Item = usize> + 'a {
        let pairs = self.phi.iter().zip(&other.phi).enumerate();
        pairs.filter(|(_, (a, b))| a != b).map(|(polygon, _)| polygon)
    }
}

/// The polygon of a place, or the one beside it.
pub(crate) fn polygon_at(mesh: &Mesh, at: DVec2) -> Option<usize> {
    mesh.locate(at).or_else(|| mesh.locate(mesh.nearest(at, BESIDE, |_| true)?))
}

pub(super) fn share(mesh: &Mesh, polygon: usize, bodies: f64) -> f32 {
    (bodies / mesh.area(polygon).max(LEAST_AREA)) as f32
}

pub(crate) fn centre(mesh: &Mesh, polygon: usize) -> DVec2 {
    let (sum, count) =
        mesh.corners(polygon).fold((DVec2::ZERO, 0.0), |(sum, count), at| (sum + at, count + 1.0));
    sum / f64::max(count, 1.0)
}

/// The mesh with its densities, for one agent.
#[derive(Clone, Debug)]
pub struct DynamicNavmesh<'a, D> {
    mesh: &'a Mesh,
    density: &'a D,
    /// As how many metres more a metre counts for each body per m².
    weight: f64,
    /// m from the mesh's origin.
    from: DVec2,
    to: DVec2,
    from_polygon: u32,
    to_polygon: u32,
}

/// A side between two polygons, a link, or one of the ends of the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Gate(u32);

impl Gate {
    /// Where the way begins.
    pub const START: Gate = Gate(NONE);
    /// Where it ends.
    pub const GOAL: Gate = Gate(NONE - 1);
}

/// What a gate costs beside the way to it: no edge is free, also where two sides have one middle.
pub(super) const GATE: f64 = 1e-3;

impl<'a, D: Dense> DynamicNavmesh<'a, D> {
    /// For a way between two places; `None` where one of them is outside of the mesh. `weight` says as how many metres
    /// more a metre counts for each body per m².
    pub fn new(
        mesh: &'a Mesh,
        density: &'a D,
        weight: f64,
        ends: [DVec2; 2],
    ) -> Option<DynamicNavmesh<'a, D>> {
        let [from, to] = ends.map(|end| end - mesh.origin());
        let (from_polygon, to_polygon) = (mesh.locate_local(from)?, mesh.locate_local(to)?);
        Some(DynamicNavmesh { mesh, density, weight: weight.max(0.0), from, to, from_polygon, to_polygon })
    }

    /// The gate of a side, whichever of both polygons has it.
    fn gate(&self, side: usize) -> Gate {
        Gate((side as u32).min(self.mesh.twin[side]))
    }

    fn link(&self, gate: Gate) -> Option<usize> {
        let sides = self.mesh.from.len() as u32;
        (gate.0 >= sides && gate < Gate::GOAL).then(|| (gate.0 - sides) as usize)
    }

    /// m from the mesh's origin; a link is where it begins.
    fn at(&self, gate: Gate) -> DVec2 {
        match (gate, self.link(gate)) {
            (Gate::START, _) => self.from,
            (Gate::GOAL, _) => self.to,
            (_, Some(link)) => self.mesh.links[link].from,
            _ => (self.mesh.begin(gate.0) + self.mesh.end(gate.0)) / 2.0,
        }
    }

    /// The polygons that a gate can be entered from.
    fn entered_from(&self, gate: Gate) -> [Option<u32>; 2] {
        match (gate, self.link(gate)) {
            (Gate::START, _) => [None, None],
            (Gate::GOAL, _) => [Some(self.to_polygon), None],
            (_, Some(link)) => [Some(self.mesh.links[link].from_polygon), None],
            _ => self.sides_of(gate),
        }
    }

    /// The polygons that it leads into.
    fn leads_into(&self, gate: Gate) -> [Option<u32>; 2] {
        match (gate, self.link(gate)) {
            (Gate::START, _) => [Some(self.from_polygon), None],
            (Gate::GOAL, _) => [None, None],
            (_, Some(link)) => [Some(self.mesh.links[link].to_polygon), None],
            _ => self.sides_of(gate),
        }
    }

    fn sides_of(&self, gate: Gate) -> [Option<u32>; 2] {
        let side = gate.0 as usize;
        [Some(self.mesh.polygon[side]), Some(self.mesh.polygon[self.mesh.twin[side] as usize])]
    }

    /// What a step through a polygon costs.
    fn cost(&self, from: Gate, through: u32, to: Gate) -> f32 {
        let (begin, extra) = match self.link(from) {
            Some(link) => (self.mesh.links[link].to, self.mesh.links[link].cost),
            None => (self.at(from), 0.0),
        };
        let step = self.at(to) - begin;
        let dense = 1.0 + self.weight * self.density.met(through as usize, step.normalize_or_zero());
        (step.length() * dense + extra + GATE) as f32
    }

    /// Every gate of a polygon that can be entered from it, or that leads into it.
    fn gates(&self, polygon: u32, entered: bool) -> impl Iterator<Item = Gate> + '_ {
        let open = self.mesh.sides(polygon as usize).filter(|&side| self.mesh.twin[side] != NONE);
        let sides = open.map(|side| self.gate(side));
        let (end, at) =
            if entered { (Gate::GOAL, self.to_polygon) } else { (Gate::START, self.from_polygon) };
        let is_here = move |link: &crate::navmesh::mesh::Linked| {
            polygon == if entered { link.from_polygon } else { link.to_polygon }
        };
        let first = self.mesh.from.len() as u32;
        let links = self.mesh.links.iter().enumerate().filter(move |(_, link)| is_here(link));
        let links = links.map(move |(index, _)| Gate(first + index as u32));
        sides.chain((at == polygon).then_some(end)).chain(links)
    }

    /// The gates whose outgoing edges change with the density of a polygon.
    pub fn gates_into(&self, polygon: usize) -> impl Iterator<Item = Gate> + '_ {
        self.gates(polygon as u32, false)
    }

    /// What it costs to walk along a way, m: its length, and more where it is dense.
    pub fn cost_along(&self, way: &[DVec2]) -> f64 {
        let piece = |pair: &[DVec2]| {
            let (length, direction) = (pair[0].distance(pair[1]), (pair[1] - pair[0]).normalize_or_zero());
            let dense =
                |at: DVec2| self.mesh.locate(at).map_or(0.0, |polygon| self.density.met(polygon, direction));
            let sightings = (length / STRIDE).clamp(1.0, MOST_STRIDES).ceil() as u32;
            let middles = (0..sightings).map(|look| (f64::from(look) + 0.5) / f64::from(sightings));
            let phi: f64 = middles.map(|part| dense(pair[0].lerp(pair[1], part))).sum();
            length * (1.0 + self.weight * phi / f64::from(sightings))
        };
        way.windows(2).map(piece).sum()
    }

    /// The taut way over gates, m, and how long it is without what links and densities cost.
    pub fn route(&self, gates: &[Gate]) -> (Vec<DVec2>, f64) {
        let mut route = vec![self.from];
        let mut sides: Vec<[DVec2; 2]> = Vec::new();
        let mut polygon = self.from_polygon;
        let mut length = 0.0;
        for &gate in gates {
            if let Some(link) = self.link(gate) {
                let link = self.mesh.links[link];
                length += pull(&mut route, &sides, link.from);
                route.push(link.to);
                sides.clear();
                polygon = link.to_polygon;
            } else if gate < Gate::GOAL {
                let twin = self.mesh.twin[gate.0 as usize];
                let side = if self.mesh.polygon[gate.0 as usize] == polygon { gate.0 } else { twin };
                sides.push([self.mesh.end(side), self.mesh.begin(side)]);
                polygon = self.mesh.polygon[self.mesh.twin[side as usize] as usize];
            }
        }
        length += pull(&mut route, &sides, self.to);
        route.iter_mut().for_each(|at| *at += self.mesh.origin());
        (route, length)
    }
}

/// Goes on from the end of a route through sides (left end, right end) to a place, as short as can be, and says how long
/// that is: the funnel algorithm (Lee & Preparata 1984), with the sides looked at again from each bend.
pub(super) fn pull(route: &mut Vec<DVec2>, sides: &[[DVec2; 2]], to: DVec2) -> f64 {
    let last = [to, to];
    let side = |index: usize| sides.get(index).unwrap_or(&last);
    let mut apex = route[route.len() - 1];
    let mut length = 0.0;
    let mut next = 0;
    while next <= sides.len() {
        let ([mut left, mut right], mut left_at, mut right_at) = (*side(next), next, next);
        let mut bend = None;
        for index in next + 1..=sides.len() {
            let [l, r] = *side(index);
            let crosses = |a: DVec2, b: DVec2| (a - apex).perp_dot(b - apex);
            // The left limit moves right, unless it would pass the right one: there the way bends.
            if crosses(left, l) <= 0.0 {
                if crosses(right, l) < 0.0 {
                    bend = Some((right, right_at));
                    break;
                }
                (left, left_at) = (l, index);
            }
            if crosses(right, r) >= 0.0 {
                if crosses(left, r) > 0.0 {
                    bend = Some((left, left_at));
                    break;
                }
                (right, right_at) = (r, index);
            }
        }
        let Some((at, index)) = bend else { break };
        if at != apex {
            length += apex.distance(at);
            route.push(at);
            apex = at;
        }
        next = index + 1;
    }
    route.push(to);
    length + apex.distance(to)
}

impl<D: Dense> Domain for DynamicNavmesh<'_, D> {
    type State = Gate;

    fn successors(&self, gate: Gate, out: &mut Vec<(Gate, f32)>) {
        for polygon in self.leads_into(gate).into_iter().flatten() {
            let others = self.gates(polygon, true).filter(|&other| other != gate);
            out.extend(others.map(|other| (other, self.cost(gate, polygon, other))));
        }
    }

    fn predecessors(&self, gate: Gate, out: &mut Vec<(Gate, f32)>) {
        for polygon in self.entered_from(gate).into_iter().flatten() {
            let others = self.gates(polygon, false).filter(|&other| other != gate);
            out.extend(others.map(|other| (other, self.cost(other, polygon, gate))));
        }
    }

    fn heuristic(&self, from: Gate, to: Gate) -> f32 {
        (self.at(from).distance(self.at(to)) * self.mesh.least_cost) as f32
    }
}

impl<D: Dense> Placed for DynamicNavmesh<'_, D> {
    fn place_of(&self, gate: Gate) -> Option<DVec2> {
        Some(self.at(gate) + self.mesh.origin())
    }

    fn longest_step(&self) -> (f64, f64) {
        // Polygons of a fine mesh are small, but links lead anywhere.
        (f64::INFINITY, 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::navmesh::{Geometry, Link, Search, Settings, Terrain};
    use crate::search::{Aim, Astar, Budget};
    use proptest::prelude::*;

    fn square(low: f64, high: f64) -> Vec<DVec2> {
        vec![DVec2::splat(low), DVec2::new(high, low), DVec2::splat(high), DVec2::new(low, high)]
    }

    fn geometry(obstacles: Vec<Vec<DVec2>>) -> Geometry {
        Geometry { walkable: vec![vec![square(0.0, 20.0)]], obstacles, walls: vec![] }
    }

    fn fine(geometry: &Geometry) -> Terrain {
        Terrain::new(geometry, Settings { widest: 2.5, ..Settings::default() }).unwrap()
    }

    fn way(mesh: &Mesh, density: &Density, ends: [DVec2; 2]) -> Option<(Vec<DVec2>, f64)> {
        let domain = DynamicNavmesh::new(mesh, density, 4.0, ends)?;
        let mut astar = Astar::default();
        astar.find(&domain, Gate::START, Aim::At(Gate::GOAL), Budget::unlimited());
        let mut gates = Vec::new();
        astar.path(&mut gates)?;
        Some(domain.route(&gates))
    }

    #[test]
    fn polygons_of_a_fine_mesh_are_small() {
        let terrain = fine(&geometry(vec![]));
        assert!((0..terrain.mesh().polygons()).all(|polygon| terrain.mesh().area(polygon) <= 6.3));
        assert!(terrain.mesh().polygons() >= 64);
    }

    #[test]
    fn a_crowd_is_walked_around_and_nobody_in_a_straight_line() {
        let terrain = fine(&geometry(vec![]));
        let mesh = terrain.mesh();
        let ends = [DVec2::new(1.0, 10.0), DVec2::new(19.0, 10.0)];
        let (route, length) = way(mesh, &Density::empty(mesh), ends).unwrap();
        assert!(length < 18.0 + 1e-6, "{length} {route:?}");
        let crowd = (0..60).map(|i| DVec2::new(8.0 + f64::from(i % 6) * 0.7, 7.0 + f64::from(i / 6) * 0.7));
        let (route, length) = way(mesh, &Density::at(mesh, crowd), ends).unwrap();
        assert!(length > 18.5 && length < 26.0, "{length}");
        assert!(route.iter().any(|at| (at.y - 10.0).abs() > 2.0), "{route:?}");
    }

    #[test]
    fn who_comes_towards_one_counts_twice_and_who_goes_along_not_at_all() {
        let there = Density { phi: vec![0.5], drift: vec![Vec2::new(0.5, 0.0)] };
        let met = |direction| there.met(0, direction);
        assert_eq!([met(DVec2::X), met(DVec2::Y), met(-DVec2::X)], [0.0, 0.5, 1.0]);
        // Of whom it is not known, or who stands.
        let standing = Density { drift: Vec::new(), ..there };
        assert_eq!(standing.met(0, -DVec2::X), 0.5);
    }

    #[test]
    fn who_will_be_gone_does_not_count_and_who_will_come_does() {
        use crate::domain::occupancy::Trajectory;
        let terrain = fine(&geometry(vec![]));
        let mesh = terrain.mesh();
        let traveller = Traveller { from: DVec2::new(1.0, 10.0), begin: 0.0, speed: 1.0, own: None };
        let place = DVec2::new(11.2, 10.1);
        let away = DVec2::new(3.0, 1.0);
        let path = |a, b| Trajectory { radius: 0.3, path: vec![(0.0, a), (5.0, b)], stays: true };
        let leaves = Occupancy::new([path(place, away)]);
        assert_eq!(Density::ahead(mesh, &leaves, traveller).at_place(mesh, place), 0.0);
        let comes = Occupancy::new([path(away, place)]);
        assert!(Density::ahead(mesh, &comes, traveller).at_place(mesh, place) > 0.05);
        let own = Traveller { own: Some(0), ..traveller };
        assert_eq!(Density::ahead(mesh, &comes, own), Density::empty(mesh));
    }

    #[test]
    fn a_link_is_taken_where_it_is_worth_it() {
        let wall = vec![
            DVec2::new(9.0, -1.0),
            DVec2::new(11.0, -1.0),
            DVec2::new(11.0, 19.0),
            DVec2::new(9.0, 19.0),
        ];
        let mut mesh = fine(&geometry(vec![wall])).mesh().clone();
        let ends = [DVec2::new(5.0, 5.0), DVec2::new(15.0, 5.0)];
        let empty = Density::empty(&mesh);
        let (_, around) = way(&mesh, &empty, ends).unwrap();
        let link =
            Link { from: DVec2::new(8.5, 5.0), to: DVec2::new(11.5, 5.0), cost: 6.0, both_ways: false };
        mesh.set_links(&[link]).unwrap();
        let (route, _) = way(&mesh, &empty, ends).unwrap();
        assert!(around > 28.0 && route.contains(&link.from) && route.contains(&link.to), "{route:?}");
        let (back, _) = way(&mesh, &empty, [ends[1], ends[0]]).unwrap();
        assert!(!back.contains(&link.from));
    }

    type Block = (f64, f64, f64);

    /// Pulled taut, a way through the right polygons is the shortest; through others it is longer, and never shorter.
    fn hold_against_the_shortest(blocks: &[Block], ends: [DVec2; 2]) {
        let block =
            |&(x, y, size): &Block| square(0.0, size).into_iter().map(|at| at + DVec2::new(x, y)).collect();
        let geometry = geometry(blocks.iter().map(block).collect());
        let terrain = fine(&geometry);
        let found = way(terrain.mesh(), &Density::empty(terrain.mesh()), ends);
        let mut search = Search::default();
        let best = search.find(terrain.mesh(), ends[0], ends[1]).map(|way| way.length);
        assert_eq!(found.is_some(), best.is_some());
        let Some(((route, length), best)) = found.zip(best) else { return };
        let along: f64 = route.windows(2).map(|pair| pair[0].distance(pair[1])).sum();
        assert!((along - length).abs() < 1e-6);
        assert!(length >= best - 1e-6, "{length} of {best}");
        assert!(length <= 1.5 * best + 3.0, "{length} of {best}");
        // Each straight piece lies in the mesh: it is its own shortest path.
        for pair in route.windows(2) {
            let piece = search.find(terrain.mesh(), pair[0], pair[1]).map(|way| way.length);
            assert!(
                piece.is_some_and(|piece| piece <= pair[0].distance(pair[1]) + 1e-6),
                "{pair:?}, {piece:?}"
            );
        }
    }

    #[test]
    fn a_taut_way_past_two_small_blocks_lies_in_the_mesh() {
        let blocks = [
            (2.9286925525848897, 17.671910584486692, 0.3),
            (10.829399655268825, 17.599082639903553, 3.1389479671048046),
            (3.7296951809057344, 16.17949594926502, 0.3),
        ];
        let ends = [DVec2::new(2.8471389497620265, 18.98353031186307), DVec2::new(4.881922423676511, 0.1)];
        hold_against_the_shortest(&blocks, ends);
    }

    proptest! {
        #[test]
        fn a_taut_way_is_never_shorter_than_the_shortest(
            blocks in prop::collection::vec((0.0..18.0_f64, 0.0..18.0_f64, 0.3..4.0_f64), 0..8),
            from in (0.1..19.9_f64, 0.1..19.9_f64),
            to in (0.1..19.9_f64, 0.1..19.9_f64),
        ) {
            hold_against_the_shortest(&blocks, [DVec2::new(from.0, from.1), DVec2::new(to.0, to.1)]);
        }
    }
}
