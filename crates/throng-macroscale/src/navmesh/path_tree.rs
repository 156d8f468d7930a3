//! # The shortest paths from everywhere to one goal
//! The same look through sides as in [`super::Search`], from the goal backwards and without an end: for every polygon it
//! leaves what the goal and the bends on the way to it see of it. An agent that stands in the polygon then asks these few, and
//! no search is needed for each agent in each step.
//!
//! Parts of sides are looked behind in the order of their distance to the goal, and not at all where another root is
//! nearer for every place of the part (the windows of Mitchell, Mount & Papadimitriou 1987, without cutting them where
//! two are equally near: a look-up takes the nearest of all that see a place). Links are not taken.

use super::cone::{Beyond, Cone};
use super::mesh::{Mesh, NONE};
use glam::DVec2;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use throng_core::geom::double::distance_to_segment;

/// The shortest paths from everywhere to the nearest of some goals.
#[derive(Clone, Debug, Default)]
pub struct PathTree {
    goals: Vec<DVec2>,
    goal_polygon: Vec<u32>,
    /// Where the windows of a polygon begin, and the end.
    first: Vec<u32>,
    windows: Vec<Window>,
    /// From each vertex that a way bends at, m; infinite where there is none.
    length: Vec<f64>,
    /// The root after each vertex.
    after: Vec<u32>,
}

/// What a root sees of a polygon.
#[derive(Clone, Copy, Debug, Default)]
struct Window {
    root: DVec2,
    /// The rays that limit the view.
    left: DVec2,
    right: DVec2,
    /// From the root to the goal, m.
    length: f64,
    /// A vertex; goals are counted after vertices.
    number: u32,
}

/// The beginning of a shortest path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Heading {
    /// The first bend, or the goal.
    pub toward: DVec2,
    /// Whether that is the goal.
    pub ends: bool,
    /// Length of the whole path, m.
    pub length: f64,
    number: u32,
}

impl PathTree {
    /// Works out the ways to some goals. Those that are not in the mesh do not count.
    pub fn new(mesh: &Mesh, goals: &[DVec2]) -> PathTree {
        let mut spread = Spread::new(mesh, goals);
        spread.run(mesh, u64::MAX);
        spread.into_tree(mesh)
    }

    /// How many windows and vertices are remembered.
    pub fn len(&self) -> usize {
        self.windows.len() + self.length.len()
    }

    /// Whether there is nothing to go to.
    pub fn is_empty(&self) -> bool {
        self.goals.is_empty()
    }

    /// Where to go from a place of the mesh; `None` where there is no path. An agent that is as near as `near` to a bend has
    /// rounded it.
    #[inline]
    pub fn heading(&self, mesh: &Mesh, place: DVec2, near: f64) -> Option<Heading> {
        let place = place - mesh.origin();
        let polygon = mesh.locate_local(place)?;
        let mut best = Best { length: f64::INFINITY, number: NONE, at: place };
        self.ask_goals(polygon, place, &mut best);
        self.ask_corners(mesh, polygon, place, &mut best);
        self.ask_windows(mesh, polygon, place, &mut best);
        self.rounded(mesh, place, near, &mut best);
        let toward = best.at + mesh.origin();
        let Best { length, number, .. } = best;
        (number != NONE).then_some(Heading {
            toward,
            ends: number as usize >= self.length.len(),
            length,
            number,
        })
    }

    /// The whole path from a place of the mesh.
    pub fn route(&self, mesh: &Mesh, from: DVec2) -> Option<Vec<DVec2>> {
        let first = self.heading(mesh, from, 0.0)?;
        let mut route = vec![from, first.toward];
        let mut number = first.number;
        while let Some(&after) = self.after.get(number as usize) {
            route.push(self.at(mesh, after) + mesh.origin());
            number = after;
        }
        Some(route)
    }

    fn at(&self, mesh: &Mesh, number: u32) -> DVec2 {
        let vertices = self.length.len();
        if (number as usize) < vertices {
            mesh.vertex[number as usize]
        } else {
            self.goals[number as usize - vertices]
        }
    }

    #[inline(always)]
    fn ask_goals(&self, polygon: u32, place: DVec2, best: &mut Best) {
        for (index, (&goal, _)) in
            self.goals.iter().zip(&self.goal_polygon).enumerate().filter(|(_, (_, at))| **at == polygon)
        {
            best.offer(goal.distance(place), (self.length.len() + index) as u32, goal);
        }
    }

    #[inline(always)]
    fn ask_corners(&self, mesh: &Mesh, polygon: u32, place: DVec2, best: &mut Best) {
        for &vertex in mesh.corner_numbers(polygon as usize) {
            let length = self.length[vertex as usize];
            if length < best.length {
                let at = mesh.vertex[vertex as usize];
                best.offer(length + at.distance(place), vertex, at);
            }
        }
    }

    #[inline(always)]
    fn ask_windows(&self, mesh: &Mesh, polygon: u32, place: DVec2, best: &mut Best) {
        let list = self.first[polygon as usize] as usize..self.first[polygon as usize + 1] as usize;
        let size = |ray: DVec2| ray.x.abs() + ray.y.abs();
        for window in &self.windows[list] {
            if window.length >= best.length {
                continue;
            }
            let offset = place - window.root;
            let length = window.length + offset.length();
            if length < best.length
                && window.right.perp_dot(offset) >= -mesh.tolerance * size(window.right)
                && window.left.perp_dot(offset) <= mesh.tolerance * size(window.left)
            {
                best.offer(length, window.number, window.root);
            }
        }
    }

    /// Goes on to the next bend as long as a place is as good as at one.
    fn rounded(&self, mesh: &Mesh, place: DVec2, near: f64, best: &mut Best) {
        while let Some(&after) =
            self.after.get(best.number as usize).filter(|_| best.at.distance(place) <= near)
        {
            *best = Best { number: after, at: self.at(mesh, after), ..*best };
        }
    }
}

/// The best answer so far. Ties go to what was asked first.
struct Best {
    length: f64,
    number: u32,
    at: DVec2,
}

impl Best {
    #[inline(always)]
    fn offer(&mut self, length: f64, number: u32, at: DVec2) {
        if length < self.length {
            *self = Best { length, number, at };
        }
    }
}

/// A part of a side that was seen, and from where.
#[derive(Clone, Copy, Debug)]
struct Part {
    cone: Cone,
    ends: [DVec2; 2],
    length: f64,
    root: u32,
    /// Another part of the same side.
    other: u32,
}

/// The work of finding all ways, which can be done a little at a time.
#[derive(Debug, Default)]
pub(super) struct Spread {
    goals: Vec<DVec2>,
    goal_polygon: Vec<u32>,
    parts: Vec<Part>,
    open: BinaryHeap<Reverse<(u64, u32)>>,
    /// The last part that was looked behind, for each side.
    seen: Vec<u32>,
    length: Vec<f64>,
    after: Vec<u32>,
    done: Vec<u32>,
}

impl Spread {
    pub fn new(mesh: &Mesh, goals: &[DVec2]) -> Spread {
        let local = goals.iter().map(|&goal| goal - mesh.origin());
        let located = local.filter_map(|goal| Some((goal, mesh.locate_local(goal)?)));
        let (goals, goal_polygon): (Vec<DVec2>, Vec<u32>) = located.unzip();
        let mut spread = Spread {
            seen: vec![NONE; mesh.from.len()],
            length: vec![f64::INFINITY; mesh.vertex.len()],
            after: vec![NONE; mesh.vertex.len()],
            ..Spread::default()
        };
        for (number, (&goal, &polygon)) in goals.iter().zip(&goal_polygon).enumerate() {
            spread.leave(mesh, goal, polygon, number);
        }
        Spread { goals, goal_polygon, ..spread }
    }

    fn leave(&mut self, mesh: &Mesh, goal: DVec2, polygon: u32, number: usize) {
        let root = (self.length.len() + number) as u32;
        for side in mesh.sides(polygon as usize) {
            if let Some(beyond) = Cone::through(mesh, goal, side as u32) {
                self.push(&beyond, 0.0, root);
            }
        }
    }

    fn push(&mut self, beyond: &Beyond, length: f64, root: u32) {
        let least = length + distance_to_segment(beyond.cone.root, beyond.ends[0], beyond.ends[1]);
        self.open.push(Reverse((least.to_bits(), self.parts.len() as u32)));
        self.parts.push(Part { cone: beyond.cone, ends: beyond.ends, length, root, other: NONE });
    }

    /// Looks behind parts, but no more than `most` of them. Returns how many it were; fewer where none is left.
    pub fn run(&mut self, mesh: &Mesh, most: u64) -> u64 {
        for spent in 0..most {
            let Some(Reverse((_, number))) = self.open.pop() else { return spent };
            let part = self.parts[number as usize];
            if self.is_beaten(mesh, &part) || self.is_covered(mesh, &part) {
                continue;
            }
            self.parts[number as usize].other = self.seen[part.cone.side as usize];
            self.seen[part.cone.side as usize] = number;
            self.done.push(number);
            self.offer_ends(mesh, &part);
            self.expand_behind(mesh, &part);
        }
        most
    }

    /// Whether all ways are known.
    pub fn is_done(&self) -> bool {
        self.open.is_empty()
    }

    /// Whether its root has a shorter way by now.
    fn is_beaten(&self, mesh: &Mesh, part: &Part) -> bool {
        self.length.get(part.root as usize).is_some_and(|&length| length + mesh.tolerance < part.length)
    }

    /// Whether one other root is nearer for every place of a part.
    fn is_covered(&self, mesh: &Mesh, part: &Part) -> bool {
        let begin = mesh.begin(part.cone.side);
        let along = mesh.end(part.cone.side) - begin;
        let slack = mesh.tolerance * (along.x.abs() + along.y.abs());
        let place = |end: DVec2| along.dot(end - begin);
        let mut number = self.seen[part.cone.side as usize];
        while let Some(other) = self.parts.get(number as usize) {
            let contains = place(other.ends[0]) <= place(part.ends[0]) + slack
                && place(other.ends[1]) >= place(part.ends[1]) - slack;
            if contains && !self.is_beaten(mesh, other) && never_nearer(part, other, mesh.tolerance) {
                return true;
            }
            number = other.other;
        }
        false
    }

    /// A way may bend at the ends of the side.
    fn offer_ends(&mut self, mesh: &Mesh, part: &Part) {
        let side = part.cone.side;
        let (left, right) = (mesh.from[side as usize], mesh.from[mesh.next[side as usize] as usize]);
        for (limit, vertex) in [(part.cone.left, left), (part.cone.right, right)] {
            if limit.vertex == vertex && mesh.bends[vertex as usize] && part.root != vertex {
                self.offer(vertex, part.length + part.cone.root.distance(limit.at), part.root);
            }
        }
    }

    fn offer(&mut self, vertex: u32, length: f64, after: u32) {
        if length < self.length[vertex as usize] {
            self.length[vertex as usize] = length;
            self.after[vertex as usize] = after;
        }
    }

    fn expand_behind(&mut self, mesh: &Mesh, part: &Part) {
        part.cone.each_beyond(mesh, |beyond| {
            if beyond.bend == NONE {
                return self.push(&beyond, part.length, part.root);
            }
            let length = part.length + part.cone.root.distance(beyond.cone.root);
            // Equal paths differ by rounding, and each may lead to another part of what is seen from the bend.
            if length <= self.length[beyond.bend as usize] + mesh.tolerance {
                self.push(&beyond, length, beyond.bend);
            }
        });
    }

    /// The tree: the windows of polygons, one polygon after another, nearest first.
    pub fn into_tree(self, mesh: &Mesh) -> PathTree {
        let kept = || {
            let parts = self.done.iter().map(|&number| &self.parts[number as usize]);
            parts.filter(|part| {
                !self.is_beaten(mesh, part) && part.ends[0].distance(part.ends[1]) > mesh.tolerance
            })
        };
        let polygon = |part: &Part| mesh.polygon[part.cone.side as usize] as usize;
        let mut first = vec![0u32; mesh.polygons() + 1];
        kept().for_each(|part| first[polygon(part) + 1] += 1);
        for index in 1..first.len() {
            first[index] += first[index - 1];
        }
        let mut place = first.clone();
        let mut windows = vec![Window::default(); first.last().map_or(0, |&all| all as usize)];
        for part in kept() {
            let place = &mut place[polygon(part)];
            windows[*place as usize] = Window {
                root: part.cone.root,
                left: part.cone.left.at - part.cone.root,
                right: part.cone.right.at - part.cone.root,
                length: part.length,
                number: part.root,
            };
            *place += 1;
        }
        let Spread { goals, goal_polygon, length, after, .. } = self;
        PathTree { goals, goal_polygon, first, windows, length, after }
    }
}

/// Whether another root that sees all of a part is nowhere further from it than the part's own.
///
/// How much nearer one root is than the other changes along a line in one direction, except where the line through both
/// roots meets it. So the ends tell, unless the part's own root stands between the other one and the part.
fn never_nearer(part: &Part, other: &Part, tolerance: f64) -> bool {
    let (own, their) = (part.cone.root, other.cone.root);
    let between = their - own;
    if part.length + tolerance >= other.length + between.length() {
        return true;
    }
    let [left, right] = part.ends;
    let aside = |end: DVec2| between.perp_dot(end - own);
    let apart = aside(left) * aside(right) <= 0.0;
    let nearer =
        |end: DVec2| other.length + their.distance(end) <= part.length + own.distance(end) + tolerance;
    !apart && nearer(left) && nearer(right)
}
