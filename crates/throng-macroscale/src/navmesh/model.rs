//! The macroscale model: every agent heads for the next bend of its shortest path on the mesh.

use super::Search;
use super::mesh::Mesh;
use super::path_tree::{PathTree, Spread};
use super::terrain::{Settings, Terrain};
use crate::Meanwhile;
use crate::by_goal::{ByGoal, FirstStop, Grown, Planned, Planning, Roadmap};
use crate::cached::Cached;
use crate::heading::Target;
use crate::space::Space;
use crate::{Intent, Macroscale, MacroscaleModel};
use glam::{DVec2, Vec2};
use throng_core::handover::Intents;
use throng_core::memory::Remember;
use throng_core::space::Wall;
use throng_core::world::View;

throng_core::params! {
    /// Around obstacles on the shortest path that the body fits through, on a navigation mesh: for large maps and crowds.
    pub struct Navmesh("navmesh") {
        /// Expansions that paths may take in a step, all agents together; 0: as many as it takes. With it the start, a change of the map and other goals cost no more than that in any step, and whoever waits for a path is served when it is its turn. One for all, as everything here: a cohort's own value does nothing.
        budget: usize = 0, "", Limit::from(0.0).up_to(1e9);
        /// After as much time of a step no search begins any more, in place of the budget; half of it is left for that at least. 0: the budget counts. A run with it is not reproducible.
        deadline: f32 = 0.0, "ms", Limit::from(0.0).up_to(60000.0);
        /// What agents do that wait for a path: `coarse`, straight towards the goal, along walls, or `wait`. Both go on to where they were heading as long as that is in sight.
        meanwhile: Meanwhile = Meanwhile::Coarse, "", Limit::from(0.0);
        /// An agent with a goal of its own follows a route, and searches for another one when where it was pushed makes the leg that it is on longer by more than this.
        spare: f32 = 1.0, "m", Limit::from(0.0).up_to(1e6);
    }
}

/// Heads for the next bend of every agent's shortest path.
#[derive(Debug)]
pub struct NavmeshPlanner {
    planned: Planned,
    by_goal: Cached<ByGoal<FreeSpace>>,
    unreachable: Vec<u32>,
    is_reproducible: bool,
}

impl MacroscaleModel for Navmesh {
    fn planner(
        Navmesh { budget, deadline, meanwhile, spare }: Navmesh,
        _: Vec<Navmesh>,
    ) -> Box<dyn Macroscale> {
        Box::new(NavmeshPlanner {
            planned: Planned::default(),
            by_goal: Cached::new(ByGoal::new(Planning { budget, deadline, meanwhile, spare })),
            unreachable: Vec::new(),
            is_reproducible: deadline == 0.0,
        })
    }
}

impl Macroscale for NavmeshPlanner {
    fn prepare(&mut self, view: View<'_>) {
        self.by_goal.get_mut().prepare(view);
    }

    fn run(&mut self, view: View<'_>, out: &mut Intents) {
        let by_goal = self.by_goal.get_mut();
        by_goal.run(view, &mut self.planned, out);
        by_goal.unreachable(view, &mut self.unreachable);
    }

    fn intent(&self, view: View<'_>, row: usize) -> Intent {
        self.by_goal.lock().intent(view, row, self.planned.0.get(view.agents.slot[row]))
    }

    fn path(&self, view: View<'_>, from: Vec2, to: Vec2, radius: f32) -> Option<Vec<Vec2>> {
        self.by_goal.lock().path(view, [from, to], radius)
    }

    fn route(&self, view: View<'_>, row: usize) -> Option<Vec<Vec2>> {
        self.by_goal.lock().route(view, row, self.planned.0.get(view.agents.slot[row]))
    }

    /// Where all go by trees and nothing is left to do, nothing is remembered.
    fn memory(&self) -> Option<&dyn Remember> {
        let is_empty = self.planned.state_hash() == Planned::default().state_hash();
        (!is_empty).then_some(&self.planned)
    }

    fn memory_mut(&mut self) -> Option<&mut dyn Remember> {
        Some(&mut self.planned)
    }

    fn is_reproducible(&self) -> bool {
        self.is_reproducible
    }

    fn unreachable(&self) -> &[u32] {
        &self.unreachable
    }
}

/// Free space for bodies of one radius: where their middles can be, and how near walls are for those whose are not.
#[derive(Debug)]
pub(crate) struct FreeSpace {
    space: Space,
    /// Missing where walls are further away than a mesh reaches: then no path is known.
    terrain: Option<Terrain>,
    /// No polygon is wider, m.
    widest: f64,
}

/// The ways to a goal.
#[derive(Debug)]
pub(crate) struct Tree {
    ways: PathTree,
    /// Where the mesh was entered for a goal that is nearer to a wall than a body can be, and the goal.
    pressed: Vec<(DVec2, DVec2)>,
}

/// The ways to a goal, as far as they are known.
#[derive(Debug)]
pub(crate) struct Growing {
    spread: Spread,
    pressed: Vec<(DVec2, DVec2)>,
}

/// Within this many radii an agent that is pressed between walls looks for a place with room.
const REACH: f64 = 64.0;
/// An agent that is within this share of the radius of a bend has rounded it, and of the mesh is in it.
const NEAR: f64 = 0.01;
/// Roughly what a tree remembers for each polygon.
const WINDOWS_OF_A_POLYGON: usize = 6;

impl Roadmap for FreeSpace {
    type Tree = Tree;
    type Growing = Growing;

    fn new(walls: &[Wall], radius: f32) -> FreeSpace {
        FreeSpace::between(walls, radius, f64::INFINITY)
    }

    fn set_walls(&mut self, walls: &[Wall], radius: f32) {
        let space = Space::new(walls, radius);
        // The least radius grows with the map.
        let same = space.radius == self.space.radius;
        match self.terrain.as_mut().filter(|_| same).map(|terrain| terrain.set_walls(walls)) {
            Some(Ok(())) => self.space = space,
            _ => *self = FreeSpace::between(walls, radius, self.widest),
        }
    }

    fn plant(&self, goals: Vec<DVec2>) -> Growing {
        let Some(mesh) = self.mesh() else {
            return Growing { spread: Spread::default(), pressed: Vec::new() };
        };
        let (free, pressed): (Vec<DVec2>, Vec<DVec2>) =
            goals.into_iter().partition(|&goal| mesh.locate(goal).is_some());
        // A goal in a narrow place may be entered narrowly, but only where there is no other way.
        let pressed = if free.is_empty() { pressed } else { Vec::new() };
        let entered = pressed.into_iter().filter_map(|goal| Some((self.nearest_room(goal)?, goal)));
        let pressed: Vec<(DVec2, DVec2)> = entered.collect();
        let goals: Vec<DVec2> = free.into_iter().chain(pressed.iter().map(|&(entry, _)| entry)).collect();
        Growing { spread: Spread::new(mesh, &goals), pressed }
    }

    fn grow(&self, Growing { mut spread, pressed }: Growing, most: u64) -> (Grown<FreeSpace>, u64) {
        let Some(mesh) = self.mesh() else {
            return (Grown::Tree(Tree { ways: PathTree::default(), pressed }), 0);
        };
        let spent = spread.run(mesh, most);
        match spread.is_done() {
            true => (Grown::Tree(Tree { ways: spread.into_tree(mesh), pressed }), spent),
            false => (Grown::Growing(Growing { spread, pressed }), spent),
        }
    }

    fn size(&self) -> usize {
        self.mesh().map_or(0, |mesh| mesh.polygons() * WINDOWS_OF_A_POLYGON + mesh.vertices())
    }

    fn is_clear(&self, from: Vec2, to: Vec2) -> bool {
        let (from, to) = (self.space.place(from.as_dvec2()), self.space.place(to.as_dvec2()));
        self.space.is_clear(from.at, to.at, self.space.keep())
    }

    fn near(&self) -> f64 {
        NEAR * self.space.radius
    }

    /// A point that is in sight is what the tree says too. The nearest place of an area is not in the tree.
    fn sees(&self, from: Vec2, target: &Target) -> bool {
        if target.reach == target.aim && target.reach != from {
            return false;
        }
        self.is_clear(from, target.reach)
    }

    fn first_stop(&self, tree: &Tree, from: Vec2) -> Option<FirstStop> {
        let mesh = self.terrain.as_ref()?.mesh();
        let here = from.as_dvec2();
        let near = NEAR * self.space.radius;
        if let Some(heading) = tree.ways.heading(mesh, here, near) {
            return Some(self.stop(tree, here, heading.toward, heading.ends));
        }
        if mesh.locate(here).is_some() {
            return None;
        }
        let room = self.nearest_room(here)?;
        let heading = tree.ways.heading(mesh, room, near)?;
        let lifted = self.space.place(here).at;
        // Nearer to a wall than it should be: along it as far from it as now, or else away from it first.
        if room.distance(here) <= near || self.space.is_clear(lifted, heading.toward, self.space.keep()) {
            return Some(self.stop(tree, here, heading.toward, heading.ends));
        }
        Some(FirstStop { at: room.as_vec2(), ends: false })
    }

    fn route(&self, tree: &Tree, from: Vec2) -> Option<Vec<Vec2>> {
        let mesh = self.terrain.as_ref()?.mesh();
        let here = from.as_dvec2();
        let room = self.room(here)?;
        let mut route: Vec<DVec2> = vec![here];
        route.extend(tree.ways.route(mesh, room)?.into_iter().skip(usize::from(room == here)));
        let end = route[route.len() - 1];
        route.extend(tree.pressed.iter().find(|(entry, _)| *entry == end).map(|(_, goal)| *goal));
        Some(route.into_iter().map(|place| place.as_vec2()).collect())
    }

    fn entry(&self, goal: Vec2) -> (Option<DVec2>, u64) {
        let goal = goal.as_dvec2();
        let is_free = self.mesh().is_some_and(|mesh| mesh.locate(goal).is_some());
        if is_free { (Some(goal), 0) } else { self.look_for_room(goal) }
    }

    fn search(&self, from: Vec2, (goal, entry): (Vec2, DVec2)) -> (Option<Vec<Vec2>>, u64) {
        let (Some(mesh), Some(start)) = (self.mesh(), self.room(from.as_dvec2())) else { return (None, 0) };
        let (path, spent) = search(mesh, [from, goal], [start, entry]);
        (path.map(|path| self.without_room(path)), spent)
    }

    fn path(&self, from: Vec2, to: Vec2) -> Option<Vec<Vec2>> {
        path(self.mesh()?, [from, to], |place| self.room(place))
    }
}

/// The shortest path on a mesh, over the nearest places with room where an end has none.
pub(crate) fn path(mesh: &Mesh, ends: [Vec2; 2], room: impl Fn(DVec2) -> Option<DVec2>) -> Option<Vec<Vec2>> {
    let [start, entry] = ends.map(|end| room(end.as_dvec2()));
    search(mesh, ends, [start?, entry?]).0
}

/// The same with the places with room, and how many nodes were looked behind.
fn search(mesh: &Mesh, ends: [Vec2; 2], [start, entry]: [DVec2; 2]) -> (Option<Vec<Vec2>>, u64) {
    let [from, to] = ends.map(|end| end.as_dvec2());
    Search::lent(|search| {
        let path = search.find(mesh, start, entry).map(|found| {
            let stops = found.stops;
            let bends = stops.iter().map(|stop| stop.at).skip(1).take(stops.len().saturating_sub(2));
            // The ends as they were given: the mesh rounds places.
            let before = (start != from).then_some(start);
            let after = (entry != to).then_some(entry);
            let between = before.into_iter().chain(bends).chain(after).map(DVec2::as_vec2);
            std::iter::once(ends[0]).chain(between).chain([ends[1]]).collect()
        });
        (path, search.expanded() as u64)
    })
}

impl FreeSpace {
    /// With polygons that are no wider than given, m.
    pub fn between(walls: &[Wall], radius: f32, widest: f64) -> FreeSpace {
        let space = Space::new(walls, radius);
        let settings = Settings { radius: space.radius, widest, ..Settings::default() };
        FreeSpace { terrain: Terrain::between_with(walls, settings).ok(), space, widest }
    }

    /// The mesh, where there is one.
    pub fn mesh(&self) -> Option<&Mesh> {
        self.terrain.as_ref().map(Terrain::mesh)
    }

    /// A place itself, or the nearest one where a body has room.
    pub fn room(&self, place: DVec2) -> Option<DVec2> {
        if self.mesh()?.locate(place).is_some() { Some(place) } else { self.nearest_room(place) }
    }

    /// A path from a place that is nearer to a wall than it should be: along the wall as far from it as now, or else away from it
    /// first.
    fn without_room(&self, mut path: Vec<Vec2>) -> Vec<Vec2> {
        if let &[here, room, next, ..] = &path[..]
            && self.mesh().is_some_and(|mesh| mesh.locate(here.as_dvec2()).is_none())
            && (f64::from(room.distance(here)) <= self.near() || self.is_clear(here, next))
        {
            path.remove(1);
        }
        path
    }

    /// The nearest place where a body has room, straight from a place where it has none and no nearer to any wall.
    fn nearest_room(&self, place: DVec2) -> Option<DVec2> {
        self.look_for_room(place).0
    }

    /// The same, and how many places were looked at: many where there is none.
    fn look_for_room(&self, place: DVec2) -> (Option<DVec2>, u64) {
        let Some(mesh) = self.mesh() else { return (None, 0) };
        let mut looked = 0;
        let lifted = self.space.place(place);
        let keep = self.space.pressed_keep(&lifted);
        let reach = REACH * self.space.radius;
        let room = mesh.nearest(lifted.at, reach, |room| {
            looked += 1;
            self.space.is_clear(lifted.at, room, keep)
        });
        (room, looked)
    }

    fn stop(&self, tree: &Tree, from: DVec2, toward: DVec2, ends: bool) -> FirstStop {
        let pressed = tree.pressed.iter().find(|(entry, _)| ends && *entry == toward);
        let Some(&(_, goal)) = pressed else { return FirstStop { at: toward.as_vec2(), ends } };
        let near = from.distance(toward) <= NEAR * self.space.radius;
        let (lifted, lifted_goal) = (self.space.place(from).at, self.space.place(goal).at);
        if near || self.space.is_clear(lifted, lifted_goal, self.space.keep()) {
            return FirstStop { at: goal.as_vec2(), ends: true };
        }
        FirstStop { at: toward.as_vec2(), ends: false }
    }
}
