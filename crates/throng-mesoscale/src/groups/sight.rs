//! What one agent perceives: groups within its distance, as velocity obstacles.

use super::Groups;
use super::cluster::{Clustering, Group};
use super::lookout::Lookout;
use crate::PerceivedGroup;
use fearless_simd::{Level, Simd, dispatch, f32x16, mask32x16, prelude::*};
use glam::Vec2;
use std::ops::Range;
use throng_core::geom::{Cone, det, left, unit_or};
use throng_core::space::{LANES, Wall, lanes_below};
use throng_core::world::View;

/// Who looks.
#[derive(Clone, Copy, Debug)]
pub struct Looker {
    pub row: usize,
    pub position: Vec2,
    pub radius: f32,
    /// The group that it belongs to itself.
    pub own: u32,
    /// Its cohort, where it walks together: groups of mates are never in the way.
    pub mates: Option<u16>,
}

/// A group as it is perceived.
#[derive(Clone, Debug)]
pub struct Seen {
    pub cone: Cone,
    /// To its nearest member, outline to outline, m.
    pub distance: f32,
    /// Its middle, and how far it reaches from there, m.
    pub center: Vec2,
    pub reach: f32,
    pub velocity: Vec2,
    /// Its members: where they stand in the clustering if the group is seen as a whole, else in the sight's own rows.
    members: Range<usize>,
    whole: bool,
    /// Whether the agent stands among them; the cone means nothing then.
    pub among: bool,
}

/// Everything that one agent perceives; reused from agent to agent.
#[derive(Default)]
pub struct Sight {
    /// Nearest first.
    pub seen: Vec<Seen>,
    pub rows: Vec<u32>,
    pub cones: Vec<Cone>,
    left_over: Vec<u32>,
    /// Walls that may hide a part of the group that is looked at.
    screens: Vec<Wall>,
    /// (distance, number) of groups that can be perceived.
    nearest: Vec<(f32, u32)>,
}

/// Whether a preferred velocity may lead into any group: a quick answer from circles around groups, which is no for
/// nearly everybody nearly always.
pub fn is_on_course(
    clustering: &Clustering,
    lookout: &Lookout,
    params: &Groups,
    looker: &Looker,
    preferred: Vec2,
) -> bool {
    lookout.near(looker.position).iter().any(|&number| {
        let group = &clustering.groups[number as usize];
        let (towards, approach) = (group.center - looker.position, preferred - group.velocity);
        let (squared, reach) = (towards.length_squared(), group.reach + looker.radius);
        if number == looker.own || squared >= (params.neighbor_distance + group.spread).powi(2) {
            return false;
        }
        if squared <= reach * reach {
            return true;
        }
        let (ahead, speed_squared) = (towards.dot(approach), approach.length_squared());
        // Aimed at the circle, and soon enough in it.
        ahead > 0.0
            && (squared - reach * reach) * speed_squared <= ahead * ahead
            && squared.sqrt() - reach <= params.time_horizon * speed_squared.sqrt()
    })
}

impl Sight {
    /// Finds everything that an agent perceives, but for its own group.
    pub fn look(
        &mut self,
        view: View<'_>,
        clustering: &Clustering,
        lookout: &Lookout,
        params: &Groups,
        looker: &Looker,
    ) {
        self.seen.clear();
        self.rows.clear();
        self.find_nearest(clustering, lookout, params, looker);
        let nearest = std::mem::take(&mut self.nearest);
        for &(_, number) in &nearest {
            let group = &clustering.groups[number as usize];
            self.find_screens(view, looker.position, group);
            let distance = group.center.distance(looker.position);
            let whole = distance + group.spread < params.neighbor_distance * 0.9999;
            let open = self.screens.is_empty() && !has_many(view);
            if whole && open || self.sees_all(view, clustering, group, params, looker) {
                self.see_whole(clustering, group, looker);
            } else {
                self.see_parts(view, clustering, looker);
            }
        }
        self.nearest = nearest;
        self.seen.sort_by(|a, b| a.distance.total_cmp(&b.distance));
    }

    /// The groups that can be perceived, but for the agent's own; of too many, those that reach closest.
    fn find_nearest(&mut self, clustering: &Clustering, lookout: &Lookout, params: &Groups, looker: &Looker) {
        self.nearest.clear();
        for &number in lookout.near(looker.position).iter().filter(|&&number| number != looker.own) {
            let group = &clustering.groups[number as usize];
            let distance = group.center.distance(looker.position) - group.spread;
            if distance < params.neighbor_distance {
                self.nearest.push((distance, number));
            }
        }
        if self.nearest.len() > params.max_groups {
            let by_distance = |a: &(f32, u32), b: &(f32, u32)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
            self.nearest.select_nth_unstable_by(params.max_groups, by_distance);
            self.nearest.truncate(params.max_groups);
        }
    }

    fn see_whole(&mut self, clustering: &Clustering, group: &Group, looker: &Looker) {
        let span = dispatch!(Level::new(), simd => span_of_whole(simd, clustering, group, looker));
        let members = group.first as usize..(group.first + group.count) as usize;
        self.seen.push(seen(group, span, members, true));
    }

    /// The walls that may hide a part of a group: not beside all of it, nor behind the one who looks at it.
    fn find_screens(&mut self, view: View<'_>, from: Vec2, group: &Group) {
        let way = group.center - from;
        let (ahead, distance) = (unit_or(way, Vec2::X), way.length());
        let may_hide = |wall: &Wall| {
            let (a, b) = (wall.a - from, wall.b - from);
            let (right, left) = (det(ahead, a).min(det(ahead, b)), det(ahead, a).max(det(ahead, b)));
            let (near, far) = (ahead.dot(a).min(ahead.dot(b)), ahead.dot(a).max(ahead.dot(b)));
            right <= group.spread
                && left >= -group.spread
                && far >= -group.spread
                && near <= distance + group.spread
        };
        self.screens.clear();
        if !has_many(view) {
            self.screens.extend(view.walls.all().iter().filter(|wall| may_hide(wall)));
        }
    }

    /// Whether all of a group's members are near enough and not hidden; those who are become `left_over`.
    fn sees_all(
        &mut self,
        view: View<'_>,
        clustering: &Clustering,
        group: &Group,
        params: &Groups,
        looker: &Looker,
    ) -> bool {
        let near = params.neighbor_distance * params.neighbor_distance;
        let members = clustering.members_of(group);
        let many = has_many(view);
        let is_seen = |&&row: &&u32| {
            let at = view.position(row as usize);
            let blocks = |wall: &Wall| wall.blocks(looker.position, at);
            at.distance_squared(looker.position) < near
                && !self.screens.iter().any(blocks)
                && !(many && is_hidden(view, looker.position, at))
        };
        self.left_over.clear();
        self.left_over.extend(members.iter().filter(is_seen));
        self.left_over.len() == members.len()
    }

    /// Clusters those members again who are seen: what joined them may be out of sight.
    fn see_parts(&mut self, view: View<'_>, clustering: &Clustering, looker: &Looker) {
        let mut left_over = std::mem::take(&mut self.left_over);
        while let Some(row) = left_over.pop() {
            let first = self.rows.len();
            self.rows.push(row);
            let mut next = first;
            while let Some(&member) = self.rows.get(next) {
                next += 1;
                left_over.retain(|&other| {
                    let joined = clustering.relation.holds(view, member as usize, other as usize);
                    if joined {
                        self.rows.push(other);
                    }
                    !joined
                });
            }
            if self.rows.len() - first < 2 {
                self.rows.truncate(first);
            } else {
                self.see_rows(view, looker, first);
            }
        }
        self.left_over = left_over;
    }

    fn see_rows(&mut self, view: View<'_>, looker: &Looker, first: usize) {
        self.rows[first..].sort_unstable_by_key(|&row| view.agents.id[row as usize]);
        let rows = &self.rows[first..];
        let bodies = rows.iter().map(|&row| (view.position(row as usize), view.agents.radius[row as usize]));
        let span = span(bodies, looker);
        self.seen.push(seen(&Group::of(view, rows), span, first..self.rows.len(), false));
    }

    /// The rows of a group's members.
    pub fn members<'a>(&'a self, clustering: &'a Clustering, seen: &Seen) -> &'a [u32] {
        let rows = if seen.whole { &clustering.members } else { &self.rows };
        &rows[seen.members.clone()]
    }

    /// For people and tests to read.
    pub fn tell(&self, view: View<'_>, clustering: &Clustering) -> Vec<PerceivedGroup> {
        let one = |seen: &Seen| PerceivedGroup {
            members: self.members(clustering, seen).iter().map(|&row| view.agents.id[row as usize]).collect(),
            velocity: seen.velocity,
            cone: (!seen.among).then_some(seen.cone),
        };
        self.seen.iter().map(one).collect()
    }
}

fn seen(group: &Group, span: Span, members: Range<usize>, whole: bool) -> Seen {
    Seen {
        cone: Cone { apex: group.velocity, left: span.left, right: span.right },
        distance: span.distance,
        center: group.center,
        reach: group.reach,
        velocity: group.velocity,
        members,
        whole,
        among: span.among,
    }
}

/// Whether there are so many walls that it is quicker to ask the index for every member than to go through them.
fn has_many(view: View<'_>) -> bool {
    view.walls.all().len() > 64
}

/// Whether a wall stands between two places.
pub fn is_hidden(view: View<'_>, from: Vec2, to: Vec2) -> bool {
    view.walls.block_far(from, to)
}

/// What a group covers of an agent's view.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// Unit vectors along its edges.
    pub left: Vec2,
    pub right: Vec2,
    /// To the nearest outline, m.
    pub distance: f32,
    /// Whether it covers half a turn or more: the agent stands among its members.
    pub among: bool,
}

/// The edges of what bodies cover, by the two extreme tangents. No hull is needed.
pub fn span(bodies: impl Iterator<Item = (Vec2, f32)>, looker: &Looker) -> Span {
    let mut edges: Option<(Vec2, Vec2)> = None;
    let (mut distance, mut among) = (f32::INFINITY, false);
    for (position, radius) in bodies {
        let (towards, reach) = (position - looker.position, radius + looker.radius);
        distance = distance.min(towards.length() - reach);
        let (mine_left, mine_right) = tangents(towards, reach);
        let Some((left, right)) = &mut edges else {
            edges = Some((mine_left, mine_right));
            continue;
        };
        if det(*left, mine_left) > 0.0 {
            *left = mine_left;
        }
        if det(*right, mine_right) < 0.0 {
            *right = mine_right;
        }
        among |= det(*right, *left) < 0.0;
    }
    let (left, right) = edges.unwrap_or((Vec2::X, Vec2::X));
    Span { left, right, distance, among }
}

/// Unit vectors that touch a disc on its left and on its right; square to it where it is touched already.
fn tangents(towards: Vec2, reach: f32) -> (Vec2, Vec2) {
    let squared = towards.length_squared();
    if squared <= reach * reach {
        let side = left(unit_or(towards, Vec2::X));
        return (side, -side);
    }
    let (along, across) = (towards * (squared - reach * reach).sqrt(), left(towards) * reach);
    ((along + across) / squared, (along - across) / squared)
}

/// The same for a whole group, sixteen members at once: tangents as slopes beside the way to its middle. Where one is
/// not ahead, slopes do not compare, and members are gone through one by one.
#[inline(always)]
fn span_of_whole<S: Simd>(simd: S, clustering: &Clustering, group: &Group, looker: &Looker) -> Span {
    let splat = |value: f32| f32x16::splat(simd, value);
    let ahead = unit_or(group.center - looker.position, Vec2::X);
    let (first, count) = (group.first as usize, group.count as usize);
    let (mut most, mut least, mut nearest) = (splat(f32::MIN), splat(f32::MAX), splat(f32::MAX));
    let mut all_ahead = true;
    for block in (0..count).step_by(LANES) {
        let load = |column: &[f32]| f32x16::from_slice(simd, &column[first + block..first + block + LANES]);
        let dx = load(&clustering.x) - splat(looker.position.x);
        let dy = load(&clustering.y) - splat(looker.position.y);
        let reach = load(&clustering.radius) + splat(looker.radius);
        let counts = mask32x16::from_bitmask(simd, lanes_below(count - block));
        let along = dx * splat(ahead.x) + dy * splat(ahead.y);
        let across = dy * splat(ahead.x) - dx * splat(ahead.y);
        let squared = dx * dx + dy * dy;
        let tangent = (squared - reach * reach).max(splat(0.0)).sqrt();
        let (left_along, right_along) = (along * tangent - across * reach, along * tangent + across * reach);
        let smallest = left_along.min(right_along);
        all_ahead &= counts.select(smallest, splat(1.0)).simd_gt(splat(1e-6)).all_true();
        most = counts.select(most.max((across * tangent + along * reach) / left_along), most);
        least = counts.select(least.min((across * tangent - along * reach) / right_along), least);
        nearest = counts.select(nearest.min(squared.sqrt() - reach), nearest);
    }
    if !all_ahead {
        let members = first..first + count;
        let body = |i: usize| (Vec2::new(clustering.x[i], clustering.y[i]), clustering.radius[i]);
        return span(members.map(body), looker);
    }
    let edge = |slope: f32| (ahead + slope * left(ahead)).normalize();
    Span {
        left: edge(most.reduce_max()),
        right: edge(least.reduce_min()),
        distance: nearest.reduce_min(),
        among: false,
    }
}
