//! The map as the domains see it, for bodies of one radius: worked out when it changes.

use crate::by_goal::Roadmap as _;
use crate::cached::Cached;
use crate::domain::grid::{Grid, GridSpec};
use crate::domain::occupancy::Trajectory;
use crate::domain::space_time::{Clearance, Ferries, Jump, is_on};
use crate::heading::{goals, target};
use crate::multi_domain::plan::Plan;
use crate::multi_domain::{MultiDomain, wide};
use crate::navmesh::{self, FreeSpace, PathTree, Search, Terrain};
use crate::space::Space;
use glam::{DVec2, Vec2};
use std::sync::Arc;
use throng_core::geom::double::length;
use throng_core::world::{Link, Mover, View};

/// Free space for bodies of one radius.
#[derive(Debug)]
pub(crate) struct DomainMap {
    radius: f32,
    pub space: Space,
    pub clearance: Clearance,
    /// Σ1. Missing where there are no walls.
    coarse: Option<Terrain>,
    /// T(Σ1) of those who share a goal: the shortest paths to it from everywhere, by where it can be stood on.
    trees: Cached<Vec<(Vec<DVec2>, Arc<PathTree>)>>,
    /// Σ2.
    pub fine: Option<Terrain>,
    /// Σ3. Missing where the map is too wide for its cells.
    pub grid: Option<Grid>,
    /// Platforms, each as wide as the middle of a body may be from its own.
    pub platforms: Vec<Trajectory>,
    landings: Vec<Landing>,
    /// Links that bodies of this radius can take.
    pub jumps: Vec<Jump>,
    /// What rounding to the lattice of plans may do to a jump, m.
    rounding: f64,
}

/// One for each class of radii.
#[derive(Debug, Default)]
pub(crate) struct DomainMaps {
    made_for: Option<(u64, Option<[Vec2; 2]>)>,
    made_for_radii: Vec<f32>,
    /// Counts the maps that were seen, for what is derived from one.
    pub version: u64,
    all: Vec<DomainMap>,
}

/// As near to a bend one has come past it, m.
const PASSED: f64 = 0.3;
/// Room around starts and goals, m.
const AROUND: f64 = 10.0;
/// A grid with more cells is left out.
const MOST_CELLS: f64 = 4e6;
/// Within this many radii an agent that is pressed between walls looks for a place with room.
const REACH: f64 = 64.0;
/// Trees that are kept for a class of radii.
const MOST_TREES: usize = 32;

impl DomainMaps {
    pub fn learn(&mut self, view: View<'_>, params: &MultiDomain) {
        let map = Some((view.map_version, view.extent));
        if self.made_for == map && self.made_for_radii == view.radius_classes {
            return;
        }
        self.made_for_radii = view.radius_classes.to_vec();
        (self.made_for, self.version) = (map, self.version + 1);
        self.all = view.radius_classes.iter().map(|&radius| DomainMap::new(view, params, radius)).collect();
    }

    /// The shortest path between two places for a body of a radius.
    pub fn path(&self, view: View<'_>, ends: [Vec2; 2], radius: f32) -> Option<Vec<Vec2>> {
        let walls = view.walls.all();
        if walls.is_empty() {
            return Some(ends.to_vec());
        }
        let radius = view.class_of(radius);
        let known = self.all.iter().find(|ground| ground.radius == radius);
        match known.and_then(|ground| Some((ground, ground.coarse.as_ref()?.mesh()))) {
            Some((ground, mesh)) => navmesh::path(mesh, ends, |place| ground.room(mesh, place)),
            None => FreeSpace::new(walls, radius).path(ends[0], ends[1]),
        }
    }

    pub fn of(&self, view: View<'_>, row: usize) -> Option<&DomainMap> {
        self.all.get(self.class(view, row))
    }

    /// Which of them a row needs.
    pub fn class(&self, view: View<'_>, row: usize) -> usize {
        let radius = view.planned_radius(row);
        self.all.partition_point(|ground| ground.radius < radius)
    }

    /// Whether a row that follows a plan has taken off and not landed: then it cannot do anything else.
    pub fn is_in_flight(&self, view: View<'_>, row: usize, plan: &Plan) -> bool {
        let ground = self.of(view, row).filter(|ground| plan.valid && !ground.jumps.is_empty());
        let began = ground.and_then(|ground| ground.take_off(view, plan));
        began.is_some_and(|began| began < view.now - view.tick / 2.0)
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = &DomainMap> {
        self.all.iter()
    }
}

impl DomainMap {
    fn new(view: View<'_>, params: &MultiDomain, radius: f32) -> DomainMap {
        let walls = view.walls.all();
        let space = Space::new(walls, radius);
        let platforms = platforms(view, space.radius);
        // An agent that walks on feet steps over gaps, and jumps nowhere.
        let links = if view.legs.is_some() { &[] } else { view.links };
        let terrain = |widest: f64| {
            let settings = navmesh::Settings { radius: space.radius, widest, ..Default::default() };
            let mut terrain = Terrain::between_with(walls, settings).ok().filter(|_| !walls.is_empty())?;
            let landings = landings(&terrain, &platforms);
            let landings = landings.iter().map(Landing::link);
            let links: Vec<navmesh::Link> = links.iter().map(jump).chain(landings).collect();
            terrain.set_links(&terrain.mesh().sound(&links)).ok()?;
            Some(terrain)
        };
        let coarse = terrain(f64::INFINITY);
        let is_sound =
            |link: &&Link| coarse.as_ref().is_some_and(|coarse| coarse.mesh().is_sound(&jump(link)));
        let jumps = links.iter().filter(is_sound).flat_map(leaps).collect();
        DomainMap {
            radius,
            landings: coarse.as_ref().map_or(Vec::new(), |coarse| landings(coarse, &platforms)),
            coarse,
            trees: Cached::default(),
            fine: terrain(params.polygon.into()).filter(|_| params.crowding > 0.0),
            grid: grid(view, params, radius),
            clearance: Clearance::new(walls, radius),
            jumps,
            rounding: f64::from(params.lattice),
            space,
            platforms,
        }
    }

    /// T(Σ1): the bends of the shortest path to a row's goal, the goal last. An agent on a platform gets off where it lands next
    /// and there is a way on.
    /// Where many share it, they share the search. It is told where a search of its own looked.
    pub fn way(
        &self,
        view: View<'_>,
        row: usize,
        is_shared: bool,
        mut see: impl FnMut(u64, &mut dyn Iterator<Item = DVec2>),
    ) -> Option<Vec<DVec2>> {
        let from = wide(view.position(row));
        let Some(platform) = self.carrier(from, view.now) else {
            return self.way_from(view, row, (from, is_shared), &mut see);
        };
        let docks = self.landings.iter().filter(|landing| landing.platforms.contains(&platform));
        let ways = docks.filter_map(|dock| {
            let way = self.way_from(view, row, (dock.to, is_shared), &mut see)?;
            Some(std::iter::once(dock.to).chain(way).collect::<Vec<DVec2>>())
        });
        ways.min_by(|a, b| length(a).total_cmp(&length(b)))
    }

    fn way_from(
        &self,
        view: View<'_>,
        row: usize,
        (from, is_shared): (DVec2, bool),
        see: &mut impl FnMut(u64, &mut dyn Iterator<Item = DVec2>),
    ) -> Option<Vec<DVec2>> {
        let Some(mesh) = self.coarse.as_ref().map(Terrain::mesh) else {
            return Some(vec![wide(target(view, row).aim)]);
        };
        let goals = goals(view, row);
        let room = self.room(mesh, from)?;
        let mut bends: Vec<DVec2> = (room != from).then_some(room).into_iter().collect();
        match goals[..] {
            [goal] if !is_shared => {
                let entry = self.room(mesh, goal)?;
                Search::lent(|search| {
                    let found = search.find(mesh, room, entry)?;
                    let expanded = found.expanded;
                    bends.extend(found.stops.iter().skip(1).map(|stop| stop.at));
                    see(expanded as u64, &mut search.looked_at(mesh));
                    Some(())
                })?;
                bends.extend((entry != goal).then_some(goal));
            }
            _ => {
                let &goal = goals.first()?;
                let tree = self.tree(mesh, self.entries(mesh, goals.clone()));
                bends.extend(tree.route(mesh, room)?.into_iter().skip(1));
                let is_pressed = goals.len() == 1 && mesh.locate(goal).is_none();
                bends.extend(is_pressed.then_some(goal));
            }
        }
        if bends.is_empty() {
            bends.push(from);
        }
        Some(bends)
    }

    /// The shortest paths to some places, made when they are first asked for.
    fn tree(&self, mesh: &navmesh::Mesh, entries: Vec<DVec2>) -> Arc<PathTree> {
        let mut trees = self.trees.lock();
        if let Some((_, tree)) = trees.iter().find(|(known, _)| *known == entries) {
            return tree.clone();
        }
        if trees.len() == MOST_TREES {
            trees.remove(0);
        }
        let tree = Arc::new(PathTree::new(mesh, &entries));
        trees.push((entries, tree.clone()));
        tree
    }

    /// The places of an area where there is room; where there is none, the nearest ones that have some.
    fn entries(&self, mesh: &navmesh::Mesh, goals: Vec<DVec2>) -> Vec<DVec2> {
        let (free, pressed): (Vec<DVec2>, Vec<DVec2>) =
            goals.into_iter().partition(|&goal| mesh.locate(goal).is_some());
        if free.is_empty() {
            pressed.into_iter().filter_map(|goal| self.room(mesh, goal)).collect()
        } else {
            free
        }
    }

    /// A place, or the nearest one with room.
    pub fn room(&self, mesh: &navmesh::Mesh, place: DVec2) -> Option<DVec2> {
        if mesh.locate(place).is_some() {
            return Some(place);
        }
        let lifted = self.space.place(place);
        let keep = self.space.pressed_keep(&lifted);
        mesh.nearest(lifted.at, REACH * self.space.radius, |room| self.space.is_clear(lifted.at, room, keep))
    }

    /// The nearest place with room for one who has none, on its side of all walls.
    pub fn way_out(&self, place: DVec2) -> Option<DVec2> {
        let mesh = self.coarse.as_ref()?.mesh();
        if mesh.locate(place).is_some() { None } else { self.room(mesh, place) }
    }

    /// The landing from one place to another, if one leads there. Meshes differ in rounding.
    pub fn landing(&self, from: DVec2, to: DVec2) -> Option<&Landing> {
        self.landings.iter().find(|landing| is_same(landing.from, from) && is_same(landing.to, to))
    }

    /// Ways from place to place over each landing, the shortest first. A second on a platform counts as in Σ1.
    pub fn ways_over_landings(&self, from: DVec2, to: DVec2) -> Vec<Vec<DVec2>> {
        let Some(mesh) = self.coarse.as_ref().map(Terrain::mesh) else { return Vec::new() };
        let mut search = Search::default();
        let mut floor = |from: DVec2, to: DVec2| -> Option<(f64, Vec<DVec2>)> {
            let found = search.find(mesh, self.room(mesh, from)?, self.room(mesh, to)?)?;
            Some((found.length, found.stops.iter().skip(1).map(|stop| stop.at).chain([to]).collect()))
        };
        let way = |landing: &Landing| {
            let (there, before) = floor(from, landing.from)?;
            let (on, after) = floor(landing.to, to)?;
            Some((there + landing.cost + on, [before, vec![landing.to], after].concat()))
        };
        let mut ways: Vec<(f64, Vec<DVec2>)> = self.landings.iter().filter_map(way).collect();
        ways.iter_mut().for_each(|(_, way)| way.dedup_by(|a, b| is_same(*a, *b)));
        ways.sort_by(|a, b| a.0.total_cmp(&b.0));
        ways.into_iter().map(|(_, way)| way).collect()
    }

    /// The platforms that lead to a place from the one that carries an agent, that one first.
    pub fn onward(&self, carrier: usize, to: DVec2) -> Option<&[usize]> {
        self.landings.iter().filter(|landing| is_same(landing.to, to)).find_map(|landing| {
            let taken = landing.platforms.iter().position(|&platform| platform == carrier)?;
            Some(&landing.platforms[taken..])
        })
    }

    /// A place at the edge of the floor, moved onto it.
    pub fn bank(&self, place: DVec2) -> Option<DVec2> {
        self.coarse.as_ref()?.mesh().nearest(place, BESIDE, |_| true)
    }

    /// The platform that one stands on who does not stand on the floor.
    pub fn carrier(&self, at: DVec2, time: f64) -> Option<usize> {
        let ferries = self.ferries().filter(|ferries| ferries.floor.locate(at).is_none())?;
        ferries.platforms.iter().position(|platform| is_on(platform, at, time))
    }

    /// Whether there is anything to jump over or to stand on.
    pub fn leaves_the_floor(&self) -> bool {
        !(self.platforms.is_empty() && self.jumps.is_empty())
    }

    /// Platforms, where there are any.
    pub fn ferries(&self) -> Option<Ferries<'_>> {
        let floor = self.coarse.as_ref().map(Terrain::mesh).filter(|_| !self.platforms.is_empty())?;
        Some(Ferries { floor, platforms: &self.platforms })
    }

    /// Whether a straight piece lies on the floor.
    pub fn is_floor(&self, from: DVec2, to: DVec2) -> bool {
        self.sees(from, to)
            && self
                .ferries()
                .is_none_or(|ferries| [from, to].iter().all(|&at| ferries.floor.locate(at).is_some()))
    }

    /// Whether a straight piece is a jump over what cannot be walked on.
    pub fn is_jump(&self, from: DVec2, to: DVec2) -> bool {
        let leads_there = |jump: &Jump| {
            from.distance(jump.from) <= jump.reach + self.rounding
                && (to - from).distance(jump.to - jump.from) <= self.rounding
        };
        self.jumps.iter().any(leads_there) && !self.sees(from, to)
    }

    /// When a plan's next jump begins, or the one that it is in the middle of, s.
    pub fn take_off(&self, view: View<'_>, plan: &Plan) -> Option<f64> {
        let ahead = plan.path.windows(2).filter(|pair| pair[1].0 > view.now + view.tick / 2.0);
        let mut jumps = ahead.filter(|pair| self.is_jump(pair[0].1, pair[1].1));
        jumps.next().map(|jump| jump[0].0)
    }

    /// How many bends of a way are walked to before it leaves the floor.
    pub fn walked(&self, from: DVec2, way: &[DVec2]) -> usize {
        if !self.leaves_the_floor() {
            return way.len();
        }
        let places = std::iter::once(&from).chain(way);
        let leaves =
            |(from, to): (&DVec2, &DVec2)| self.is_jump(*from, *to) || self.landing(*from, *to).is_some();
        places.zip(way).position(leaves).unwrap_or(way.len())
    }

    /// The first bend of a way that is still ahead, if one sees it.
    pub fn next_bend(&self, at: DVec2, way: &[DVec2]) -> Option<usize> {
        let is_past = |pair: &[DVec2]| {
            let gone = (at - pair[0]).dot((pair[1] - pair[0]).normalize_or_zero());
            gone > -PASSED && self.sees(at, pair[1])
        };
        let first = way.windows(2).take_while(|pair| is_past(pair)).count();
        way.get(first).filter(|&&bend| self.sees(at, bend))?;
        Some(first)
    }

    /// Whether a straight way is clear of walls, as far as ways on the mesh are.
    pub fn sees(&self, from: DVec2, to: DVec2) -> bool {
        self.space.is_clear(from, to, self.space.keep())
    }
}

/// A landing: from where a platform comes near the floor to where it does next, or another one does that it meets on the way.
#[derive(Clone, Debug)]
pub(crate) struct Landing {
    pub from: DVec2,
    pub to: DVec2,
    cost: f64,
    /// Those that are taken, one after another.
    pub platforms: Vec<usize>,
}

impl Landing {
    /// What it is for coarse domains.
    fn link(&self) -> navmesh::Link {
        navmesh::Link { from: self.from, to: self.to, cost: self.cost, both_ways: false }
    }
}

/// As far beside a platform one steps off, m.
const STEP_OFF: f64 = 1.5;
/// So far the floor may be from where one would step on, m.
const BESIDE: f64 = 0.5;
/// No more platforms are taken from bank to bank.
const MOST_PLATFORMS: usize = 4;
/// A second on a platform counts as this many metres.
const RIDE: f64 = 0.7;
/// A jump takes off as near to a link's beginning as this, m.
const TAKE_OFF: f64 = 0.4;

fn platforms(view: View<'_>, radius: f64) -> Vec<Trajectory> {
    // No agent can stand on what is narrower than itself.
    let carriers = view.scripts.iter().filter(|script| script.carries && f64::from(script.radius) > radius);
    let platform = |script: &Mover| Trajectory {
        radius: f64::from(script.radius) - radius,
        path: script.path.iter().map(|&(time, at)| (time, wide(at))).collect(),
        stays: true,
    };
    carriers.map(platform).collect()
}

fn jump(link: &Link) -> navmesh::Link {
    navmesh::Link {
        from: wide(link.from),
        to: wide(link.to),
        cost: link.cost.into(),
        both_ways: link.both_ways,
    }
}

fn leaps(link: &Link) -> impl Iterator<Item = Jump> + use<> {
    let there = Jump { from: wide(link.from), to: wide(link.to), cost: link.cost.into(), reach: TAKE_OFF };
    let back = Jump { from: there.to, to: there.from, ..there };
    std::iter::once(there).chain(link.both_ways.then_some(back))
}

/// Meshes and banks differ in rounding.
fn is_same(a: DVec2, b: DVec2) -> bool {
    a.distance_squared(b) < 1e-6
}

/// When and where each platform comes near the floor.
fn docks(terrain: &Terrain, platforms: &[Trajectory]) -> Vec<Vec<(f64, DVec2)>> {
    let near = |platform: &Trajectory, &(time, at): &(f64, DVec2)| {
        Some((time, terrain.mesh().nearest(at, platform.radius + STEP_OFF, |_| true)?))
    };
    let docks =
        |platform: &Trajectory| platform.path.iter().filter_map(|bend| near(platform, bend)).collect();
    platforms.iter().map(docks).collect()
}

/// Where platforms come near the floor, and where next; with as few changes as it takes.
fn landings(terrain: &Terrain, platforms: &[Trajectory]) -> Vec<Landing> {
    let docks = docks(terrain, platforms);
    let mut landings: Vec<Landing> = Vec::new();
    let mut rides: Vec<Ride> = docks
        .iter()
        .enumerate()
        .flat_map(|(number, docks)| docks.iter().map(move |&dock| Ride::from(number, dock)))
        .collect();
    for _ in 0..MOST_PLATFORMS {
        for ride in &rides {
            let mut ahead = docks[ride.last()].iter().filter(|dock| dock.0 > ride.time);
            let Some(&(time, to)) = ahead.next().filter(|dock| dock.1.distance(ride.from) > 0.1) else {
                continue;
            };
            if !landings.iter().any(|landing| landing.from == ride.from && landing.to == to) {
                let cost = (time - ride.begin) * RIDE;
                landings.push(Landing { from: ride.from, to, cost, platforms: ride.platforms.clone() });
            }
        }
        rides = rides.iter().flat_map(|ride| ride.changes(platforms)).collect();
    }
    landings
}

/// One who has left the floor and rides on.
struct Ride {
    from: DVec2,
    /// When it left, s.
    begin: f64,
    /// When it stepped onto the last platform, s.
    time: f64,
    platforms: Vec<usize>,
}

impl Ride {
    fn from(platform: usize, (begin, from): (f64, DVec2)) -> Ride {
        Ride { from, begin, time: begin, platforms: vec![platform] }
    }

    fn last(&self) -> usize {
        self.platforms[self.platforms.len() - 1]
    }

    /// The same rides with another platform at their ends, each that is met next.
    fn changes<'a>(&'a self, platforms: &'a [Trajectory]) -> impl Iterator<Item = Ride> + 'a {
        let others = (0..platforms.len()).filter(|other| !self.platforms.contains(other));
        others.filter_map(|other| {
            let time = first_meeting(&platforms[self.last()], &platforms[other], self.time)?;
            let taken = self.platforms.iter().copied().chain([other]).collect();
            Some(Ride { from: self.from, begin: self.begin, time, platforms: taken })
        })
    }
}

/// When two platforms come near one another after a time: where one of them turns.
fn first_meeting(a: &Trajectory, b: &Trajectory, after: f64) -> Option<f64> {
    let bends = a.path.iter().chain(&b.path).map(|bend| bend.0).filter(|&time| time > after);
    let reach = a.radius + b.radius + STEP_OFF;
    let is_near = |&time: &f64| a.place(time).zip(b.place(time)).is_some_and(|(a, b)| a.distance(b) <= reach);
    bends.filter(is_near).reduce(f64::min)
}

fn grid(view: View<'_>, params: &MultiDomain, radius: f32) -> Option<Grid> {
    let walls = view.walls.all();
    let (mut low, mut high) = (DVec2::MAX, DVec2::MIN);
    let ends = walls.iter().flat_map(|wall| [wall.a, wall.b]).map(wide);
    let extent = view.extent.into_iter().flatten().map(wide);
    for place in extent.flat_map(|place| [place - AROUND, place + AROUND]).chain(ends) {
        (low, high) = (low.min(place), high.max(place));
    }
    let side = f64::from(params.cell);
    let size = (high - low) / side;
    if !(low.cmplt(high).all() && size.x * size.y <= MOST_CELLS) {
        return None;
    }
    Grid::between(walls, GridSpec { low, high, side, radius: radius.into() }).ok()
}
