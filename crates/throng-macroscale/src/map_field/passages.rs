//! Ways between walls that are too narrow for the grid: the middles of passages, found exactly.
//!
//! A part of a cell is found where a body has 0.71 parts to spare. What is narrower is found from the walls themselves. A disc
//! that touches a wall grows until it touches another: its middle is as far from both, and such middles run along the middle
//! of every passage (the medial axis; the shrinking balls of Ma, Bae, Choi 2012, here growing). Those where the body fits and
//! a part may be missed are nodes, linked where the straight way between them is clear. A passage as wide as the body is so
//! found however it lies: between nodes that are [`STEP`] apart a straight way comes nearer to walls than the middle does by
//! STEP² / 16 radii at most, around the end of a wall, and ways have more slack than that.

use super::grid::Node;
use crate::corners::{Segment, corners, split};
use crate::space::Space;
use glam::{DVec2, IVec2};
use std::collections::BTreeMap;
use throng_core::parallel;
use throng_core::space::Wall;

/// Between places on a wall from which discs grow, in radii of the body.
const STEP: f64 = 0.2;
/// Places that are linked are at most this many spacings apart: some that were left out may lie between.
const NEIGHBOURS: f64 = 3.0;
/// Places on walls from which discs grow, at most.
const MOST_SEEDS: usize = 1 << 19;
/// A place is on a wall that is nearer than this, m: what rounding leaves.
const ON_WALL: f64 = 1e-6;
/// From one direction in which discs grow from a corner to the next, at most, in radians.
const WIDEST_TURN: f64 = 0.1;

/// The middle of a passage.
#[derive(Clone, Copy, Debug)]
struct Middle {
    at: DVec2,
    /// How far the walls on both sides are, m.
    room: f64,
}

/// A straight way from a node to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Link {
    from: Node,
    to: Node,
}

/// Nodes in narrow passages, numbered behind all others.
#[derive(Debug, Default)]
pub(super) struct Passages {
    pub places: Places,
    /// Both ways, in order.
    links: Vec<Link>,
}

/// Places, and which of them lie in each square.
#[derive(Debug, Default)]
pub(super) struct Places {
    pub at: Vec<DVec2>,
    /// Squares; none where there are no places.
    per_metre: f64,
    squares: BTreeMap<(i32, i32), Vec<u32>>,
}

impl Places {
    fn square(&self, at: DVec2) -> IVec2 {
        (at * self.per_metre).floor().as_ivec2()
    }

    fn push(&mut self, at: DVec2) {
        self.squares.entry(self.square(at).into()).or_default().push(self.at.len() as u32);
        self.at.push(at);
    }

    /// Those within a distance of a place, m.
    pub fn within(&self, at: DVec2, distance: f64) -> impl Iterator<Item = u32> {
        let (low, high) = (self.square(at - distance), self.square(at + distance));
        let squares = (low.y..=high.y).flat_map(move |y| (low.x..=high.x).map(move |x| (x, y)));
        let is_near = move |&other: &u32| self.at[other as usize].distance_squared(at) <= distance * distance;
        squares.filter_map(|square| self.squares.get(&square)).flatten().copied().filter(is_near)
    }
}

/// Where and how discs grow: from a place on a wall, away from it.
type Seed = (DVec2, DVec2);

/// Finds the middles of passages.
struct Finder<'a> {
    space: &'a Space,
    /// What is near to a wall: to be told apart, twice as far as two discs are wide that touch both.
    far: Space,
    /// Wider than this a passage need not be looked for, m on both sides.
    widest: f64,
}

impl Passages {
    /// Those between walls for the bodies of a space, as wide as `spare` more on both sides than a body. Numbers begin at
    /// `first`; `around` says which other nodes can be gone to straight from a place.
    pub fn new(
        space: &Space,
        walls: &[Wall],
        spare: f64,
        first: Node,
        around: impl Fn(DVec2) -> Vec<Node> + Sync,
    ) -> Passages {
        // Where there would be too many, only narrower passages are looked for.
        let spares = std::iter::successors(Some(spare), |spare| Some(spare / 2.0)).take(16);
        let mut found = spares.map(|spare| Finder::new(space, walls, spare)).filter_map(|finder| {
            let middles = finder.middles()?;
            Some((finder, middles))
        });
        let Some((finder, middles)) = found.next() else { return Passages::default() };
        let (places, room) = finder.thinned(middles);
        let links = parallel::map(64, places.at.len(), &|index| {
            let from = first + index as Node;
            let onward = finder.neighbours(&places, &room, index).map(|to| first + to);
            let all = onward.chain(around(places.at[index]));
            all.flat_map(|to| [Link { from, to }, Link { from: to, to: from }]).collect::<Vec<Link>>()
        });
        let mut links = links.concat();
        links.sort_unstable();
        Passages { places, links }
    }

    /// Where the links of a node lead.
    pub fn links(&self, node: Node) -> impl Iterator<Item = Node> {
        let first = self.links.partition_point(|link| link.from < node);
        self.links[first..].iter().take_while(move |link| link.from == node).map(|link| link.to)
    }
}

impl<'a> Finder<'a> {
    fn new(space: &'a Space, walls: &[Wall], spare: f64) -> Finder<'a> {
        let widest = space.keep() + spare + STEP * space.radius;
        Finder { space, far: Space::new(walls, (4.0 * widest) as f32), widest }
    }

    /// `None` where there may be too many.
    fn middles(&self) -> Option<Vec<Middle>> {
        let seeds = self.seeds()?;
        let grown = parallel::map(64, seeds.len(), &|index| self.grown(seeds[index]));
        Some(grown.into_iter().flatten().collect())
    }

    /// Along walls on their free sides where others are near, and around the corners that stick out; `None` where they are
    /// too many.
    fn seeds(&self) -> Option<Vec<Seed>> {
        let mut seeds: Vec<Seed> = Vec::new();
        for wall in &self.space.walls {
            self.sow(wall, [wall.a, wall.b], &mut seeds);
            if seeds.len() > MOST_SEEDS {
                return None;
            }
        }
        // Between two ends of walls middles lie furthest apart where the passage is widest.
        let keep = self.space.keep();
        let turn = (0.5 * (self.widest - keep) * keep / (self.widest * self.widest)).min(WIDEST_TURN);
        let is_near = |away: f64| away > ON_WALL && away <= 2.0 * self.widest;
        for corner in corners(&self.space.walls) {
            if !self.far.near(corner.at).any(|wall| is_near(wall.distance(corner.at))) {
                continue;
            }
            split(corner.before, corner.after, 1.0 - 0.5 * turn * turn, &mut |before, after| {
                seeds.extend([(corner.at, before), (corner.at, after)]);
            });
        }
        (seeds.len() <= MOST_SEEDS).then_some(seeds)
    }

    /// On a piece of a wall: the closer, the narrower it may be between there and other walls.
    fn sow(&self, wall: &Segment, [a, b]: [DVec2; 2], seeds: &mut Vec<Seed>) {
        let (middle, length) = ((a + b) / 2.0, a.distance(b));
        let others = self.far.near(middle).filter(|&other| other != wall);
        let nearest = others.map(|other| other.distance(middle)).fold(4.0 * self.widest, f64::min);
        // A disc between two walls is half as wide as these are apart, at least.
        let least = 0.5 * (nearest - 0.5 * length);
        if least > self.widest || seeds.len() > MOST_SEEDS {
            return;
        }
        if length > self.spacing(least) {
            self.sow(wall, [a, middle], seeds);
            return self.sow(wall, [middle, b], seeds);
        }
        let away = (wall.b - wall.a).normalize_or_zero().perp();
        seeds.push((middle, away));
        seeds.extend(wall.two_sided.then_some((middle, -away)));
    }

    /// The middle of the widest disc that touches a wall in a place and crosses none, where that is a passage to be found.
    fn grown(&self, (from, away): Seed) -> Option<Middle> {
        let (mut room, mut touched) = (f64::INFINITY, None);
        for wall in self.far.near(from) {
            let wide = touches((from, away), wall);
            if wide < room {
                (room, touched) = (wide, Some(wall));
            }
        }
        let at = from + away * room;
        let is_passage = room <= self.widest && self.space.clearance(at) >= self.space.keep();
        (is_passage && !self.leads_into_a_corner(from, touched?)).then_some(Middle { at, room })
    }

    /// Whether a place is on a wall that meets another one: between them there is a corner, and no way through.
    fn leads_into_a_corner(&self, from: DVec2, other: &Segment) -> bool {
        let on = |wall: &&Segment| wall.distance(from) < ON_WALL;
        let meets = |a: &Segment, b: &Segment| a.distance(b.a).min(a.distance(b.b)) < ON_WALL;
        self.far.near(from).filter(on).any(|wall| meets(wall, other) || meets(other, wall))
    }

    /// How far apart middles may be: a body may stray from one by what it has to spare there.
    fn spacing(&self, room: f64) -> f64 {
        (0.5 * (room - self.space.keep())).max(STEP * self.space.radius)
    }

    /// No two middles that are linked are further apart, m.
    fn furthest(&self) -> f64 {
        NEIGHBOURS * self.spacing(self.widest)
    }

    /// Where they are and what room they have, without those that are near to narrower ones.
    fn thinned(&self, mut middles: Vec<Middle>) -> (Places, Vec<f64>) {
        let by_place = |a: &Middle, b: &Middle| a.at.x.total_cmp(&b.at.x).then(a.at.y.total_cmp(&b.at.y));
        middles.sort_unstable_by(|a, b| a.room.total_cmp(&b.room).then_with(|| by_place(a, b)));
        let per_metre = 1.0 / self.furthest();
        let (mut places, mut rooms) = (Places { per_metre, ..Places::default() }, Vec::new());
        for Middle { at, room } in middles {
            if places.within(at, 0.5 * self.spacing(room)).next().is_none() {
                places.push(at);
                rooms.push(room);
            }
        }
        (places, rooms)
    }

    /// The middles that a body gets to straight from one of them, of each pair once.
    fn neighbours(&self, places: &Places, room: &[f64], from: usize) -> impl Iterator<Item = u32> {
        let at = |index: usize| places.at[index];
        let is_linked = move |&to: &u32| {
            let to = to as usize;
            let (apart, keep) = (at(from).distance(at(to)), self.space.keep());
            let is_near = to < from && apart <= NEIGHBOURS * self.spacing(room[from].max(room[to]));
            // Where the discs that are free for a body's middle meet, so is what lies between.
            let plain = apart <= room[from] + room[to] - 2.0 * keep;
            is_near && (plain || self.space.is_clear(at(from), at(to), keep))
        };
        places.within(at(from), self.furthest()).filter(is_linked)
    }
}

/// How wide a disc is when it touches a wall, whose middle moves away from a place as it grows.
fn touches((from, away): Seed, wall: &Segment) -> f64 {
    let end = |end: DVec2| {
        let (towards, ahead) = (end - from, away.dot(end - from));
        if ahead > 0.0 { towards.length_squared() / (2.0 * ahead) } else { f64::INFINITY }
    };
    let along = wall.b - wall.a;
    let length = along.length();
    let normal = along.perp() / length;
    let side = normal.dot(from - wall.a);
    let (side, normal) = if side < 0.0 { (-side, -normal) } else { (side, normal) };
    // The disc grows into the wall's line as fast as this, and its middle meets the line beside this place of it.
    let closing = 1.0 - normal.dot(away);
    let room = side / closing;
    let foot = along.dot(from + away * room - wall.a) / (length * length);
    if side > ON_WALL && closing > 0.0 && (0.0..=1.0).contains(&foot) {
        room
    } else {
        end(wall.a).min(end(wall.b))
    }
}
