//! What can be seen through a side of a polygon, and where it is seen through next: the step that [`super::Search`] and
//! [`super::PathTree`] share (Cui, Harabor & Grastien 2017, section 3).
//!
//! The limits of a cone are places that cut it: vertices, or where a side was hit when the cone began. Only they are
//! remembered, and never where the cone cuts the sides in between, so errors do not add up from polygon to polygon.

use super::mesh::{Mesh, NONE};
use glam::DVec2;

/// What a root sees through a side. The polygon that is looked into has the side.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cone {
    /// From where one looks.
    pub root: DVec2,
    /// What cuts the view on the left and on the right, as seen from the root.
    pub left: Limit,
    pub right: Limit,
    /// The side of the polygon that is looked into.
    pub side: u32,
}

/// What cuts a view on one side.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limit {
    pub at: DVec2,
    /// The vertex there; [`NONE`] where it is no vertex.
    pub vertex: u32,
}

/// What lies behind a cone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Beyond {
    pub cone: Cone,
    /// Where the cone meets its side.
    pub ends: [DVec2; 2],
    /// The vertex that the way bends at, which is the cone's root; [`NONE`] where it still has the root it had.
    pub bend: u32,
}

impl Cone {
    /// All that an agent in a polygon sees through one of its sides; `None` through walls.
    pub fn through(mesh: &Mesh, root: DVec2, side: u32) -> Option<Beyond> {
        let twin = mesh.twin[side as usize];
        let limit = |vertex: u32| Limit { at: mesh.vertex[vertex as usize], vertex };
        let (right, left) =
            (limit(mesh.from[side as usize]), limit(mesh.from[mesh.next[side as usize] as usize]));
        let cone = Cone { root, left, right, side: twin };
        (twin != NONE).then_some(Beyond { cone, ends: [left.at, right.at], bend: NONE })
    }

    /// Where the cone meets its side: left, right.
    pub fn ends(&self, mesh: &Mesh) -> [DVec2; 2] {
        let side = self.side;
        let (left, right) = (mesh.from[side as usize], mesh.from[mesh.next[side as usize] as usize]);
        let (a, b) = (mesh.vertex[left as usize], mesh.vertex[right as usize]);
        let end = |limit: Limit, vertex: u32, at: DVec2| {
            if limit.vertex == vertex { at } else { hit(self.root, limit.at, a, b) }
        };
        [end(self.left, left, a), end(self.right, right, b)]
    }

    /// Hands over everything that lies behind the polygon which the cone looks into: what the root sees, from right to
    /// left, and what can be seen by bending around the ends of the side.
    #[inline]
    pub fn each_beyond(&self, mesh: &Mesh, mut found: impl FnMut(Beyond)) {
        let sides = mesh.sides(mesh.polygon[self.side as usize] as usize);
        let view = View::new(mesh, self, sides.start as u32, sides.end as u32);
        let (first, last) = (view.first_seen(), view.last_seen());
        if view.bends_right() {
            view.around_right(first, &mut found);
        }
        if first <= last {
            view.straight(first, last, &mut found);
        }
        if view.bends_left() {
            view.around_left(last, &mut found);
        }
    }
}

/// A cone in its polygon. Corners are counted counter-clockwise from the right end of the side that is looked through,
/// which is corner 0, to its left end, which is the last one; side `k` of the view lies between corners `k` and `k + 1`.
struct View<'a> {
    mesh: &'a Mesh,
    cone: &'a Cone,
    start: u32,
    end: u32,
    /// The left end's number.
    count: i32,
    right: DVec2,
    left: DVec2,
    right_slack: f64,
    left_slack: f64,
    /// Whether the root stands in the side itself, so that the limit on the right or left limits nothing.
    right_open: bool,
    left_open: bool,
}

impl<'a> View<'a> {
    #[inline(always)]
    fn new(mesh: &'a Mesh, cone: &'a Cone, start: u32, end: u32) -> View<'a> {
        let (right, left) = (cone.right.at - cone.root, cone.left.at - cone.root);
        let size = |ray: DVec2| ray.x.abs() + ray.y.abs();
        let (right_slack, left_slack) = (mesh.tolerance * size(right), mesh.tolerance * size(left));
        // Between its ends both rays run along the side, in opposite directions.
        let inside = right.dot(left) < 0.0 && left.perp_dot(right).abs() <= left_slack.max(right_slack);
        View {
            mesh,
            cone,
            start,
            end,
            count: (end - start) as i32 - 1,
            right,
            left,
            right_slack,
            left_slack,
            right_open: inside || size(right) <= mesh.tolerance,
            left_open: inside || size(left) <= mesh.tolerance,
        }
    }

    #[inline(always)]
    fn side(&self, k: i32) -> u32 {
        let side = self.cone.side + 1 + k as u32;
        if side >= self.end { side - (self.end - self.start) } else { side }
    }

    #[inline(always)]
    fn vertex(&self, k: i32) -> u32 {
        self.mesh.from[self.side(k) as usize]
    }

    #[inline(always)]
    fn at(&self, k: i32) -> DVec2 {
        self.mesh.vertex[self.vertex(k) as usize]
    }

    /// How far left of the right ray a corner is, as an area.
    #[inline(always)]
    fn left_of_right(&self, k: i32) -> f64 {
        self.right.perp_dot(self.at(k) - self.cone.root)
    }

    #[inline(always)]
    fn left_of_left(&self, k: i32) -> f64 {
        self.left.perp_dot(self.at(k) - self.cone.root)
    }

    /// The first side that the root sees something of; one too many where it sees none.
    #[inline(always)]
    fn first_seen(&self) -> i32 {
        if self.right_open {
            return 0;
        }
        (1..self.count + 1).find(|&k| self.left_of_right(k) > self.right_slack).map_or(self.count, |k| k - 1)
    }

    /// The last side that the root sees something of; -1 where it sees none.
    #[inline(always)]
    fn last_seen(&self) -> i32 {
        if self.left_open {
            return self.count - 1;
        }
        (0..self.count).rev().find(|&k| self.left_of_left(k) < -self.left_slack).unwrap_or(-1)
    }

    #[inline(always)]
    fn straight(&self, first: i32, last: i32, found: &mut impl FnMut(Beyond)) {
        for k in first..=last {
            let twin = self.mesh.twin[self.side(k) as usize];
            if twin == NONE {
                continue;
            }
            let (p, q) = (self.at(k), self.at(k + 1));
            let root = self.cone.root;
            let cuts_right = k == first && !self.right_open && self.left_of_right(k) < -self.right_slack;
            let cuts_left = k == last && !self.left_open && self.left_of_left(k + 1) > self.left_slack;
            let (right, right_end) = if cuts_right {
                (self.cone.right, hit(root, self.cone.right.at, p, q))
            } else {
                (Limit { at: p, vertex: self.vertex(k) }, p)
            };
            let (left, left_end) = if cuts_left {
                (self.cone.left, hit(root, self.cone.left.at, p, q))
            } else {
                (Limit { at: q, vertex: self.vertex(k + 1) }, q)
            };
            found(Beyond {
                cone: Cone { root, left, right, side: twin },
                ends: [left_end, right_end],
                bend: NONE,
            });
        }
    }

    #[inline(always)]
    fn bends_right(&self) -> bool {
        let vertex = self.vertex(0);
        self.cone.right.vertex == vertex && self.mesh.bends[vertex as usize]
    }

    #[inline(always)]
    fn bends_left(&self) -> bool {
        let vertex = self.vertex(self.count);
        self.cone.left.vertex == vertex && self.mesh.bends[vertex as usize]
    }

    /// Sides right of what is seen, from the right end of the side.
    fn around_right(&self, first: i32, found: &mut impl FnMut(Beyond)) {
        let bend = self.vertex(0);
        let root = self.mesh.vertex[bend as usize];
        // The side where the view begins is seen in part.
        let in_part = first < self.count && !self.right_open && self.left_of_right(first) < -self.right_slack;
        for k in 0..first + i32::from(in_part) {
            let twin = self.mesh.twin[self.side(k) as usize];
            if twin == NONE {
                continue;
            }
            let (p, q) = (self.at(k), self.at(k + 1));
            let right = Limit { at: p, vertex: self.vertex(k) };
            let left = if k == first {
                Limit { at: hit(self.cone.root, root, p, q), vertex: NONE }
            } else {
                Limit { at: q, vertex: self.vertex(k + 1) }
            };
            found(Beyond { cone: Cone { root, left, right, side: twin }, ends: [left.at, right.at], bend });
        }
    }

    /// Sides left of what is seen, from the left end of the side.
    fn around_left(&self, last: i32, found: &mut impl FnMut(Beyond)) {
        let bend = self.vertex(self.count);
        let root = self.mesh.vertex[bend as usize];
        let in_part = last >= 0 && !self.left_open && self.left_of_left(last + 1) > self.left_slack;
        for k in last + i32::from(!in_part)..self.count {
            let twin = self.mesh.twin[self.side(k) as usize];
            if twin == NONE {
                continue;
            }
            let (p, q) = (self.at(k), self.at(k + 1));
            let left = Limit { at: q, vertex: self.vertex(k + 1) };
            let right = if k == last {
                Limit { at: hit(self.cone.root, root, p, q), vertex: NONE }
            } else {
                Limit { at: p, vertex: self.vertex(k) }
            };
            found(Beyond { cone: Cone { root, left, right, side: twin }, ends: [left.at, right.at], bend });
        }
    }
}

/// Where the ray from a root over a limit meets a segment that it is known to meet.
#[inline(always)]
fn hit(root: DVec2, limit: DVec2, a: DVec2, b: DVec2) -> DVec2 {
    let (ray, along) = (limit - root, b - a);
    let (left_a, left_b) = (ray.perp_dot(a - root), ray.perp_dot(b - root));
    let share = left_a / (left_a - left_b);
    if share > 0.0 { a + along * share.min(1.0) } else { a }
}
