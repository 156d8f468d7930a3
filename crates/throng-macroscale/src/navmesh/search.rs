//! # The shortest path from one place to another (Polyanya: Cui, Harabor & Grastien 2017)
//! A search over what can be seen: a node is a root, from where one looks, and the part of a polygon's side that is seen
//! from it. Behind a side one sees further sides, or bends around its ends. Ordered by the length of the way to the root
//! and from there through the part to the goal, it finds the shortest path without any graph of what sees what.
//!
//! Deviations: ties go to the node that was found last, which walks straight ahead where all is equally good; and links
//! lead from any place in a polygon to any other, as the goal does.

use super::cone::{Beyond, Cone};
use super::mesh::{Mesh, NONE};
use glam::DVec2;
use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Finds shortest paths, with memory that is kept from one to the next.
#[derive(Clone, Debug, Default)]
pub struct Search {
    nodes: Vec<Node>,
    open: BinaryHeap<Entry>,
    /// The shortest path to each vertex that a way has bent at, and to the end of each link, if it was in this search.
    bent: Vec<(u32, f64)>,
    round: u32,
    expanded: usize,
    route: Vec<Stop>,
    /// The polygons that the goal touches, as many as `ends` says, then scratch memory of departures.
    touched: Vec<u32>,
    ends: usize,
}

/// A place where a way begins, bends or ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stop {
    /// Where.
    pub at: DVec2,
    /// Whether the way comes here over a link from the stop before.
    pub by_link: bool,
}

/// A way that was found.
#[derive(Clone, Copy, Debug)]
pub struct FoundPath<'a> {
    /// From the beginning to the end.
    pub stops: &'a [Stop],
    /// How long it is, m, with the cost of links.
    pub length: f64,
    /// How many nodes were looked behind.
    pub expanded: usize,
    /// How many were found in all.
    pub found: usize,
}

/// Length bits, then the latest first, by number.
type Entry = Reverse<(u64, Reverse<u32>)>;

#[derive(Clone, Copy, Debug)]
struct Node {
    cone: Cone,
    /// The way to the root, m.
    way: f64,
    /// The vertex of the root; links are counted after vertices, and the start has none.
    root: u32,
    parent: u32,
    kind: Kind,
}

/// A place inside a polygon that ways leave from: the start, or the end of a link.
#[derive(Clone, Copy, Debug)]
struct Departure {
    at: DVec2,
    polygon: u32,
    way: f64,
    root: u32,
    parent: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Look,
    /// The goal is seen, or reached around an end of the side.
    Goal,
    /// The end of a link, where looks begin.
    Landed,
}

thread_local! {
    /// Scratch memory of a query.
    static LENT: Cell<Search> = Cell::default();
}

impl Search {
    /// Lends this thread's search, whose memory is as large as the last one needed.
    pub fn lent<R>(work: impl FnOnce(&mut Search) -> R) -> R {
        let mut search = LENT.take();
        let result = work(&mut search);
        LENT.set(search);
        result
    }

    /// The shortest path between two places; `None` where there is none or one of them is not in the mesh.
    pub fn find(&mut self, mesh: &Mesh, from: DVec2, to: DVec2) -> Option<FoundPath<'_>> {
        self.expanded = 0;
        let (start, goal) = (from - mesh.origin(), to - mesh.origin());
        let (here, there) = (mesh.locate_local(start)?, mesh.locate_local(goal)?);
        let found = self.run(mesh, start, here, goal, there)?;
        self.lay_out(mesh, found, start, goal);
        self.route.iter_mut().for_each(|stop| stop.at += mesh.origin());
        let last = self.route.len() - 1;
        (self.route[0].at, self.route[last].at) = (from, to);
        Some(FoundPath {
            stops: &self.route,
            length: f64::from_bits(found.1),
            expanded: self.expanded,
            found: self.nodes.len(),
        })
    }

    /// How many nodes the last search has looked behind, whether it found a way or not.
    pub fn expanded(&self) -> usize {
        self.expanded
    }

    /// The places that were looked from or through in the last search, for pictures.
    pub fn looked_at<'a>(&'a self, mesh: &'a Mesh) -> impl Iterator<Item = DVec2> + 'a {
        let through =
            self.nodes.iter().filter(|node| node.cone.side != NONE).map(|node| node.cone.ends(mesh));
        through.map(|[left, right]| (left + right) / 2.0 + mesh.origin())
    }

    /// The last node and the length's bits.
    fn run(&mut self, mesh: &Mesh, start: DVec2, here: u32, goal: DVec2, there: u32) -> Option<(u32, u64)> {
        self.begin(mesh);
        // A straight way inside a polygon is the shortest, unless links are cheaper than walking.
        if here == there && (mesh.links.is_empty() || mesh.least_cost >= 1.0) {
            return Some((NONE, start.distance(goal).to_bits()));
        }
        if !mesh.may_connect(here, there) {
            return None;
        }
        let aim = Aim { mesh, goal, polygon: there };
        // On a corner several polygons meet, and a way may come from the other side of it.
        self.touched.clear();
        self.find_touched(mesh, goal, there);
        self.ends = self.touched.len();
        self.leave(&aim, Departure { at: start, polygon: here, way: 0.0, root: NONE, parent: NONE });
        while let Some(Reverse((bits, Reverse(number)))) = self.open.pop() {
            let node = self.nodes[number as usize];
            if node.kind == Kind::Goal {
                return Some((number, bits));
            }
            if !self.is_beaten(node.root, node.way - mesh.tolerance) {
                self.expand(&aim, number);
            }
        }
        None
    }

    fn begin(&mut self, mesh: &Mesh) {
        self.nodes.clear();
        self.open.clear();
        self.round = self.round.wrapping_add(1);
        let roots = mesh.vertex.len() + mesh.links.len();
        if self.bent.len() < roots || self.round == 0 {
            self.bent.clear();
            self.bent.resize(roots, (0, 0.0));
            self.round = 1;
        }
    }

    /// Looks from a place inside a polygon through all of its sides.
    fn leave(&mut self, aim: &Aim<'_>, from: Departure) {
        let Departure { at, polygon, way, root, parent } = from;
        let here = Node { cone: Cone { root: at, ..NO_CONE }, way, root, parent, kind: Kind::Landed };
        let parent = if root == NONE { NONE } else { self.push_closed(here) };
        // Links are taken on the way and leave from elsewhere before this is over, so the list cannot be lent.
        let first = self.touched.len();
        self.find_touched(aim.mesh, at, polygon);
        for index in first..self.touched.len() {
            let polygon = self.touched[index];
            if self.is_end(polygon) {
                self.push(Node { parent, kind: Kind::Goal, ..here }, way + at.distance(aim.goal));
            }
            for side in aim.mesh.sides(polygon as usize).filter(|&side| !touches(aim.mesh, side as u32, at)) {
                let beyond =
                    Cone::through(aim.mesh, at, side as u32).filter(|beyond| !aim.is_in_vain(beyond));
                if let Some(Beyond { cone, ends, .. }) = beyond {
                    let length = way + aim.least(cone.root, ends, cone.side);
                    self.push(Node { cone, way, root, parent, kind: Kind::Look }, length);
                }
            }
            self.take_links(aim, polygon, parent, |place| way + at.distance(place));
        }
        self.touched.truncate(first);
    }

    /// Lists the polygons that meet where a place is: several where it is on a side or a vertex. A search that looked through the
    /// sides there instead would look around the vertex for ever.
    fn find_touched(&mut self, mesh: &Mesh, at: DVec2, polygon: u32) {
        let first = self.touched.len();
        let mut index = first;
        self.touched.push(polygon);
        while let Some(&polygon) = self.touched.get(index) {
            index += 1;
            for side in mesh.sides(polygon as usize).filter(|&side| mesh.twin[side] != NONE) {
                let other = mesh.polygon[mesh.twin[side] as usize];
                if touches(mesh, side as u32, at) && !self.touched[first..].contains(&other) {
                    self.touched.push(other);
                }
            }
        }
    }

    #[inline]
    fn is_end(&self, polygon: u32) -> bool {
        self.touched[..self.ends].contains(&polygon)
    }

    fn expand(&mut self, aim: &Aim<'_>, number: u32) {
        let mesh = aim.mesh;
        let mut number = number;
        loop {
            self.expanded += 1;
            let node = self.nodes[number as usize];
            let polygon = mesh.polygon[node.cone.side as usize];
            if self.is_end(polygon) {
                let through = node.cone.ends(mesh);
                let length = node.way + bent_length(node.cone.root, through, aim.goal).0;
                self.push(Node { kind: Kind::Goal, parent: number, ..node }, length);
            }
            if !mesh.links.is_empty() {
                let ends = node.cone.ends(mesh);
                self.take_links(aim, polygon, number, |place| {
                    node.way + bent_length(node.cone.root, ends, place).0
                });
            }
            let before = self.nodes.len();
            let mut only = None;
            let mut count = 0;
            node.cone.each_beyond(mesh, |beyond| {
                let mut way = node.way;
                let mut root = node.root;
                if beyond.bend != NONE {
                    way += node.cone.root.distance(beyond.cone.root);
                    root = beyond.bend;
                    if !self.improves(root, way, mesh.tolerance) {
                        return;
                    }
                }
                if aim.is_in_vain(&beyond) {
                    return;
                }
                let length = way + aim.least(beyond.cone.root, beyond.ends, beyond.cone.side);
                let next = Node { cone: beyond.cone, way, root, parent: number, kind: Kind::Look };
                count += 1;
                if count == 1 {
                    only = Some((next, length));
                } else {
                    if let Some((first, length)) = only.take() {
                        self.push(first, length);
                    }
                    self.push(next, length);
                }
            });
            // The only way on is taken at once: what does not go into the queue need not come out of it.
            let Some((next, _)) = only.filter(|_| self.nodes.len() == before) else {
                if let Some((next, length)) = only {
                    self.push(next, length);
                }
                return;
            };
            number = self.push_closed(next);
        }
    }

    /// Takes every link that begins in a polygon. `way` says how long the way to a place in it is.
    fn take_links(&mut self, aim: &Aim<'_>, polygon: u32, parent: u32, way: impl Fn(DVec2) -> f64) {
        let mesh = aim.mesh;
        for (index, link) in mesh.links.iter().enumerate().filter(|(_, link)| link.from_polygon == polygon) {
            let root = (mesh.vertex.len() + index) as u32;
            let way = way(link.from) + link.cost;
            // Another link of the polygon may be what it comes from: it must be shorter, and not only as short.
            if !self.is_known(root, way) && self.improves(root, way, mesh.tolerance) {
                self.leave(aim, Departure { at: link.to, polygon: link.to_polygon, way, root, parent });
            }
        }
    }

    fn is_known(&self, root: u32, way: f64) -> bool {
        let (round, known) = self.bent[root as usize];
        round == self.round && known <= way
    }

    /// Notes a way to a root; says whether it is as short as any. Equal paths differ by rounding, and each of them may
    /// lead to another part of what is seen from the root.
    #[inline]
    fn improves(&mut self, root: u32, way: f64, tolerance: f64) -> bool {
        let (round, known) = &mut self.bent[root as usize];
        if *round != self.round || way < *known {
            (*round, *known) = (self.round, way);
        }
        way <= *known + tolerance
    }

    #[inline]
    fn is_beaten(&self, root: u32, way: f64) -> bool {
        self.bent.get(root as usize).is_some_and(|&(round, known)| round == self.round && known < way)
    }

    fn push(&mut self, node: Node, length: f64) {
        let number = self.push_closed(node);
        self.open.push(Reverse((length.to_bits(), Reverse(number))));
    }

    fn push_closed(&mut self, node: Node) -> u32 {
        self.nodes.push(node);
        self.nodes.len() as u32 - 1
    }

    /// The stops of a way, from the last node back to the start.
    fn lay_out(&mut self, mesh: &Mesh, found: (u32, u64), start: DVec2, goal: DVec2) {
        self.route.clear();
        let stop = |at: DVec2| Stop { at, by_link: false };
        self.route.push(stop(goal));
        let mut number = found.0;
        let mut target = goal;
        while let Some(&node) = self.nodes.get(number as usize) {
            let parent = self.nodes.get(node.parent as usize);
            let landed = node.kind == Kind::Landed;
            // An end of the side, where the place behind it is not in sight.
            if node.kind == Kind::Goal && node.cone.side != NONE {
                self.route.extend(bent_length(node.cone.root, node.cone.ends(mesh), target).1.map(stop));
            }
            if landed {
                let link = mesh.links[node.root as usize - mesh.vertex.len()];
                self.route.push(Stop { at: link.to, by_link: true });
                self.route.push(stop(link.from));
                target = link.from;
                if let Some(parent) = parent.filter(|parent| parent.cone.side != NONE) {
                    self.route
                        .extend(bent_length(parent.cone.root, parent.cone.ends(mesh), target).1.map(stop));
                }
            } else if parent.is_some_and(|parent| parent.root != node.root) {
                self.route.push(stop(node.cone.root));
            }
            number = node.parent;
        }
        self.route.push(stop(start));
        self.route.reverse();
        self.route.dedup_by(|after, before| after.at == before.at && !after.by_link);
        if self.route.len() < 2 {
            self.route.push(stop(goal));
        }
    }
}

const NO_CONE: Cone = Cone {
    root: DVec2::ZERO,
    left: super::cone::Limit { at: DVec2::ZERO, vertex: NONE },
    right: super::cone::Limit { at: DVec2::ZERO, vertex: NONE },
    side: NONE,
};

/// What a search is after.
struct Aim<'a> {
    mesh: &'a Mesh,
    goal: DVec2,
    polygon: u32,
}

impl Aim<'_> {
    /// Whether a cone leads into a dead end without the goal.
    #[inline]
    fn is_in_vain(&self, beyond: &Beyond) -> bool {
        let polygon = self.mesh.polygon[beyond.cone.side as usize];
        self.mesh.dead_end[polygon as usize] && polygon != self.polygon && self.mesh.links.is_empty()
    }

    /// The least that a way from a root through a part of a side to the goal can cost.
    #[inline]
    fn least(&self, root: DVec2, ends: [DVec2; 2], side: u32) -> f64 {
        let a = self.mesh.begin(side);
        let along = self.mesh.end(side) - a;
        let left = along.perp_dot(self.goal - a);
        // Where the goal lies on the root's side of the line, the way has to come back.
        let goal = if left < 0.0 {
            self.goal - along.perp() * (2.0 * left / along.length_squared())
        } else {
            self.goal
        };
        self.mesh.least_cost * bent_length(root, ends, goal).0
    }
}

/// Whether a place is on a side.
#[inline]
fn touches(mesh: &Mesh, side: u32, at: DVec2) -> bool {
    let (a, b) = (mesh.begin(side), mesh.end(side));
    let along = b - a;
    let length = along.length_squared();
    let share = if length > 0.0 { ((at - a).dot(along) / length).clamp(0.0, 1.0) } else { 0.0 };
    let off = at - (a + along * share);
    off.abs().max_element() <= mesh.tolerance
}

/// How long the way from a root through a part of a side (left end, right end) to a place is, and where it bends.
#[inline]
fn bent_length(root: DVec2, [left, right]: [DVec2; 2], place: DVec2) -> (f64, Option<DVec2>) {
    let offset = place - root;
    let around = |end: DVec2| (root.distance(end) + end.distance(place), Some(end));
    if (left - root).perp_dot(offset) > 0.0 {
        return around(left);
    }
    if (right - root).perp_dot(offset) < 0.0 {
        return around(right);
    }
    (offset.length(), None)
}
