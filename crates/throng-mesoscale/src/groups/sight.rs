//! What one agent perceives: groups within its distance, as velocity obstacles.
//!
//! A group that lies within its distance as a whole is taken as it is. Of others the members that are seen are clustered
//! again, along the links that are known already: what joined them may be out of sight. Either costs what lies within the
//! distance, however large a group is. The same is done where the agent's own thresholds are narrower than those that groups
//! were found by.
//!
//! Deviations, for groups of more than [`MANY`], which in a dense crowd are whole streams of people. An agent that has members
//! on all sides, close by and joined to one another, stands among that group, and looks no further at where it goes on.
//! Any other that is close looks only as far as about [`MANY`] members would reach if they stood as densely as close by:
//! no agent perceives hundreds, and to measure them all would take longer than the rest of a step.

use super::cluster::{Clustering, Group, NONE};
use super::nearby_groups::NearbyGroups;
use super::{Detour, Groups, Own};
use crate::PerceivedGroup;
use fearless_simd::{Level, Simd, f32x16, mask32x16, prelude::*};
use glam::Vec2;
use std::ops::Range;
use throng_core::dispatch;
use throng_core::geom::{Cone, det, unit_or};
use throng_core::memory::Memory;
use throng_core::space::{LANES, Wall, lanes_below};
use throng_core::world::View;

/// Larger groups are looked for in the neighbour index, close by first, and of those that are close about as many count.
pub const MANY: u32 = 64;
/// Close by: this many times as far as members may be from one another.
pub const CLOSE: f32 = 2.0;

/// Who looks: one agent, or mates as one body.
#[derive(Clone, Copy, Debug)]
pub struct Looker<'a> {
    pub row: usize,
    /// Its middle, and how far it reaches from there, m.
    pub position: Vec2,
    pub radius: f32,
    /// The rows that it consists of, and their middle: elsewhere than `position` where it imagines to be elsewhere.
    pub body: &'a [u32],
    pub middle: Vec2,
    /// How much room it leaves beside itself, m.
    pub room: f32,
    /// What it would like to do, m/s, and where it ends, m.
    pub preferred: Vec2,
    pub goal: Vec2,
    /// The side that it keeps to: 1 left, -1 right, 0 none.
    pub side: f32,
    /// The group that it walks with, which is left out.
    pub with: u32,
    /// Its cohort, where it walks together: mates are never in the way.
    pub mates: Option<u16>,
}

impl Looker<'_> {
    /// How far its middle perceives, m: as far as its outermost do.
    fn distance(&self, own: &Own) -> f32 {
        let aside = if self.mates.is_some() { self.radius.min(own.neighbor_distance) } else { 0.0 };
        own.neighbor_distance + aside
    }

    /// Whether a row counts as the looker itself: no agent walks around itself or its mates.
    fn is_own(&self, view: View<'_>, row: usize) -> bool {
        row == self.row || self.mates == Some(view.agents.cohort[row])
    }

    /// Whether a preferred velocity may lead into a group: a quick answer from a circle around it.
    fn is_on_course(&self, group: &Group, params: &Groups) -> bool {
        let (towards, approach) = (group.center - self.position, self.preferred - group.velocity);
        let (squared, reach) = (towards.length_squared(), group.reach + self.radius);
        if squared <= reach * reach {
            return true;
        }
        let (ahead, speed_squared) = (towards.dot(approach), approach.length_squared());
        // Aimed at the circle, and soon enough in it.
        ahead > 0.0
            && (squared - reach * reach) * speed_squared <= ahead * ahead
            && squared.sqrt() - reach <= params.time_horizon * speed_squared.sqrt()
    }
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
    /// The least of their ids.
    least: u32,
    /// Whether the agent stands among them; the cone means nothing then.
    pub among: bool,
}

/// Everything that one agent perceives; reused from agent to agent.
#[derive(Default)]
pub struct Sight {
    /// Nearest first.
    pub seen: Vec<Seen>,
    pub cones: Vec<Cone>,
    /// The members of groups that are seen in part.
    rows: Vec<u32>,
    /// The members of one group that are seen.
    visible: Vec<u32>,
    /// By row: the present look while it waits to be joined with others.
    waiting: Vec<u32>,
    look: u32,
    bodies: Bodies,
    /// Walls that may hide a part of the group that is looked at.
    screens: Vec<Wall>,
    nearest: Vec<Candidate>,
}

/// A group that can be perceived.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    distance: f32,
    number: u32,
    on_course: bool,
}

/// Where members of a part stand, in columns, with room for a vector behind the last.
#[derive(Default)]
struct Bodies {
    x: Vec<f32>,
    y: Vec<f32>,
    radius: Vec<f32>,
}

/// What all agents look at.
#[derive(Clone, Copy)]
pub struct Scene<'a> {
    pub view: View<'a>,
    pub clustering: &'a Clustering,
    pub nearby_groups: &'a NearbyGroups,
    pub params: &'a Groups,
    /// Of the one who looks.
    pub own: Own,
    pub memory: &'a Memory<Detour>,
}

impl Scene<'_> {
    /// Whether a preferred velocity may lead into any group: no for nearly all agents nearly always.
    pub fn is_on_course(&self, looker: &Looker<'_>) -> bool {
        self.nearby_groups.near(looker.position).iter().any(|&number| {
            let group = &self.clustering.groups[number as usize];
            let near = looker.distance(&self.own) + group.spread;
            number != looker.with
                && group.center.distance_squared(looker.position) < near * near
                && looker.is_on_course(group, self.params)
        })
    }

    /// The group that an agent belongs to and wants to go with; [`NONE`] where there is none. An agent that has just set off
    /// goes with those around it: none of them shows yet where it goes.
    pub fn walks_with(&self, row: usize, preferred: Vec2) -> u32 {
        let number = self.clustering.group_of[row];
        let Some(group) = self.clustering.groups.get(number as usize) else { return NONE };
        if self.view.time - self.view.agents.start[row] < self.params.attention {
            return number;
        }
        let count = group.count as f32;
        let others = (group.velocity * count - self.view.velocity(row)) / (count - 1.0);
        let alike = others.distance_squared(preferred) < self.own.relation.velocity.powi(2);
        if alike { number } else { NONE }
    }
}

impl Sight {
    /// Finds the groups that may be in the way of what the agent would like to do.
    pub fn perceive_ahead(&mut self, scene: Scene<'_>, looker: &Looker<'_>) {
        self.seen.clear();
        self.rows.clear();
        self.find_nearest(scene, looker);
        self.perceive(scene, looker, true);
    }

    /// Adds all other groups.
    pub fn perceive_around(&mut self, scene: Scene<'_>, looker: &Looker<'_>) {
        self.perceive(scene, looker, false);
    }

    fn perceive(&mut self, scene: Scene<'_>, looker: &Looker<'_>, on_course: bool) {
        for next in 0..self.nearest.len() {
            let candidate = self.nearest[next];
            if candidate.on_course == on_course {
                self.see(scene, looker, candidate.number);
            }
        }
        // Ties by id: an order of rows must not decide anything.
        self.seen.sort_unstable_by(|a, b| a.distance.total_cmp(&b.distance).then(a.least.cmp(&b.least)));
    }

    /// The groups that can be perceived, but for the one that the agent walks with; of too many, those that reach closest.
    fn find_nearest(&mut self, scene: Scene<'_>, looker: &Looker<'_>) {
        let Scene { clustering, nearby_groups, params, own, .. } = scene;
        self.nearest.clear();
        for &number in nearby_groups.near(looker.position) {
            let group = &clustering.groups[number as usize];
            let distance = group.center.distance(looker.position) - group.spread;
            let is_mates = looker.mates.is_some() && looker.mates == group.cohort;
            if distance < looker.distance(&own) && number != looker.with && !is_mates {
                let on_course = looker.is_on_course(group, params);
                self.nearest.push(Candidate { distance, number, on_course });
            }
        }
        if self.nearest.len() > params.max_groups {
            self.nearest.select_nth_unstable_by(params.max_groups, |a, b| {
                a.distance.total_cmp(&b.distance).then(a.number.cmp(&b.number))
            });
            self.nearest.truncate(params.max_groups);
        }
    }

    /// Adds what is seen of one group: all of it, or the parts that it falls into.
    fn see(&mut self, scene: Scene<'_>, looker: &Looker<'_>, number: u32) {
        let Scene { view, clustering, own, .. } = scene;
        let group = &clustering.groups[number as usize];
        self.find_screens(view, looker.position, group);
        let furthest = group.center.distance(looker.position) + group.spread;
        let of_others = match looker.mates {
            None => number != clustering.group_of[looker.row],
            Some(_) => group.cohort.is_some(),
        };
        if of_others
            && own.relation == clustering.relation
            && furthest < looker.distance(&own) * 0.9999
            && self.screens.is_empty()
            && !has_many(view)
        {
            return self.see_whole(scene, group, looker);
        }
        let mut range = looker.distance(&own);
        if group.count > MANY && group.center.distance(looker.position) < group.reach + looker.radius {
            let close = (CLOSE * own.relation.distance + looker.radius).min(range);
            // Mostly the nearest few are on all sides already.
            for part in [0.6, 1.0] {
                self.find_visible(scene, group, looker, part * close);
                if self.stands_among(scene, looker) {
                    return;
                }
            }
            range = range.min(close * (MANY as f32 / self.visible.len().max(1) as f32).sqrt());
        }
        self.find_visible(scene, group, looker, range);
        let mut next = 0;
        while let Some(part) = self.next_part(scene, &mut next) {
            self.see_part(view, looker, part);
        }
    }

    fn see_whole(&mut self, scene: Scene<'_>, group: &Group, looker: &Looker<'_>) {
        let Scene { view, clustering, .. } = scene;
        let members = group.first as usize..(group.first + group.count) as usize;
        let (x, y, radius) = (&clustering.x, &clustering.y, &clustering.radius);
        let columns = [x, y, radius].map(|column| &column[members.start..members.end + LANES]);
        let span = dispatch!(Level::new(), simd => span(simd, columns, group.center, view, looker));
        let least = view.agents.id[clustering.members[members.start] as usize];
        self.seen.push(Seen { least, whole: true, ..seen(group, span, members) });
    }

    fn see_part(&mut self, view: View<'_>, looker: &Looker<'_>, part: Range<usize>) {
        let rows = &self.rows[part.clone()];
        let (group, span) = self.bodies.measure(view, rows, looker);
        let ids = rows.iter().map(|&row| view.agents.id[row as usize]);
        let least = ids.min().unwrap_or_default();
        self.seen.push(Seen { least, ..seen(&group, span, part) });
    }

    /// Whether the agent has those who wait on all sides.
    fn stands_among(&mut self, scene: Scene<'_>, looker: &Looker<'_>) -> bool {
        let (first, mut next, mut among) = (self.rows.len(), 0, false);
        while let Some(part) = self.next_part(scene, &mut next) {
            // Any place within the hull will do for a middle.
            let rows = &self.rows[part];
            among |= self.bodies.span(scene.view, rows, scene.view.position(rows[0] as usize), looker).among;
        }
        self.rows.truncate(first);
        among
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

    /// The members of a group that are within `range`, not hidden, and not the agent itself or its mates. They wait to be
    /// joined.
    fn find_visible(&mut self, scene: Scene<'_>, group: &Group, looker: &Looker<'_>, range: f32) {
        let Scene { view, clustering, .. } = scene;
        self.look = self.look.wrapping_add(1);
        if self.look == 0 || self.waiting.len() < view.agents.len() {
            self.waiting.clear();
            self.waiting.resize(view.agents.len(), 0);
            self.look = 1;
        }
        let Sight { visible, waiting, screens, look, .. } = self;
        visible.clear();
        let (from, limit) = (looker.position, range * range);
        let is_near = |&&row: &&u32| view.position(row as usize).distance_squared(from) < limit;
        if group.count <= MANY {
            visible.extend(clustering.members_of(group).iter().filter(is_near));
        } else {
            view.cells.runs(from.x, from.y, range, |start, end| {
                visible.extend(clustering.members_within(group, start..end).iter().filter(is_near));
                range
            });
        }
        let many = has_many(view);
        visible.retain(|&row| {
            let at = view.position(row as usize);
            let hidden =
                screens.iter().any(|wall| wall.blocks(from, at)) || many && is_hidden(view, from, at);
            !hidden && !looker.is_own(view, row as usize)
        });
        visible.iter().for_each(|&row| waiting[row as usize] = *look);
    }

    /// The next two or more who are joined among those that are seen; their rows are added to `rows`.
    fn next_part(&mut self, scene: Scene<'_>, next: &mut usize) -> Option<Range<usize>> {
        let Scene { view, clustering, own, .. } = scene;
        let Sight { rows, visible, waiting, look, .. } = self;
        let as_all_judge = own.relation == clustering.relation;
        let first = rows.len();
        while let Some(&row) = visible.get(*next) {
            *next += 1;
            if waiting[row as usize] != *look {
                continue;
            }
            waiting[row as usize] = 0;
            rows.push(row);
            let mut member = first;
            while let Some(&row) = rows.get(member) {
                member += 1;
                let (candidates, known) = match clustering.linked(row) {
                    Some(linked) => (linked, as_all_judge),
                    None => (&visible[*next..], false),
                };
                for &other in candidates {
                    let is_linked = || known || own.relation.holds(view, row as usize, other as usize);
                    if waiting[other as usize] == *look && is_linked() {
                        waiting[other as usize] = 0;
                        rows.push(other);
                    }
                }
            }
            if rows.len() - first > 1 {
                return Some(first..rows.len());
            }
            rows.truncate(first);
        }
        None
    }

    /// Leaves out what is no obstacle: groups among which the agent stands, and those among which its goal will be when it
    /// gets there, in `arrival` seconds.
    pub fn leave_out(&mut self, scene: Scene<'_>, looker: &Looker<'_>, arrival: f32) {
        let Sight { seen, rows, bodies, .. } = self;
        seen.retain(|seen| {
            // The goal, as seen from the group when the agent gets there.
            let place = looker.goal - seen.velocity * arrival;
            let mut is_destination = || {
                let rows = if seen.whole { &scene.clustering.members } else { &*rows };
                let there = Looker { position: place, ..*looker };
                let (_, span) = bodies.measure(scene.view, &rows[seen.members.clone()], &there);
                span.among || span.distance < 0.0
            };
            let may_be = place.distance(seen.center) <= seen.reach + looker.radius;
            let left_out = seen.among || may_be && is_destination();
            !left_out
        });
    }

    /// The rows of a group's members.
    fn members<'a>(&'a self, clustering: &'a Clustering, seen: &Seen) -> &'a [u32] {
        let rows = if seen.whole { &clustering.members } else { &self.rows };
        &rows[seen.members.clone()]
    }

    /// For people and tests to read.
    pub fn describe(&self, view: View<'_>, clustering: &Clustering) -> Vec<PerceivedGroup> {
        let one = |seen: &Seen| {
            let members = self.members(clustering, seen).iter().map(|&row| view.agents.id[row as usize]);
            let mut members: Vec<u32> = members.collect();
            members.sort_unstable();
            PerceivedGroup { members, velocity: seen.velocity, cone: (!seen.among).then_some(seen.cone) }
        };
        self.seen.iter().map(one).collect()
    }
}

fn seen(group: &Group, span: Span, members: Range<usize>) -> Seen {
    Seen {
        cone: Cone { apex: group.velocity, left: span.left, right: span.right },
        distance: span.distance,
        center: group.center,
        reach: group.reach,
        velocity: group.velocity,
        members,
        whole: false,
        least: 0,
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

/// Whole numbers per metre, and per metre per second: sums of them are the same in any order of rows.
const FINE: f32 = 65536.0;

/// Adds up in any order.
#[derive(Default)]
struct Sum([i64; 2]);

impl Sum {
    #[inline(always)]
    fn add(&mut self, value: Vec2) {
        self.0[0] += (value.x * FINE) as i64;
        self.0[1] += (value.y * FINE) as i64;
    }

    fn mean(&self, count: usize) -> Vec2 {
        let part = |sum: i64| (sum as f64 / (f64::from(FINE) * count as f64)) as f32;
        Vec2::new(part(self.0[0]), part(self.0[1]))
    }
}

impl Bodies {
    fn gather(&mut self, view: View<'_>, rows: &[u32]) {
        let agents = view.agents;
        let columns =
            [(&mut self.x, &agents.x), (&mut self.y, &agents.y), (&mut self.radius, &agents.radius)];
        for (column, from) in columns {
            column.clear();
            column.extend(rows.iter().map(|&row| from[row as usize]));
            column.resize(rows.len() + LANES, 0.0);
        }
    }

    /// What rows cover of an agent's view; the middle is a place within their hull.
    fn span(&mut self, view: View<'_>, rows: &[u32], middle: Vec2, looker: &Looker<'_>) -> Span {
        self.gather(view, rows);
        let columns = [&self.x[..], &self.y[..], &self.radius[..]];
        dispatch!(Level::new(), simd => span(simd, columns, middle, view, looker))
    }

    /// What can be said of some rows, whatever their order, and what they cover of an agent's view.
    fn measure(&mut self, view: View<'_>, rows: &[u32], looker: &Looker<'_>) -> (Group, Span) {
        let (mut places, mut velocities) = (Sum::default(), Sum::default());
        for row in rows.iter().map(|&row| row as usize) {
            places.add(view.position(row) - looker.position);
            velocities.add(view.velocity(row));
        }
        let center = looker.position + places.mean(rows.len());
        let span = self.span(view, rows, center, looker);
        let (mut spread, mut reach) = (0.0f32, 0.0f32);
        for row in rows.iter().map(|&row| row as usize) {
            let distance = center.distance(view.position(row));
            (spread, reach) = (spread.max(distance), reach.max(distance + view.agents.radius[row]));
        }
        let (velocity, count) = (velocities.mean(rows.len()), rows.len() as u32);
        (Group { center, velocity, spread, reach, first: 0, count, cohort: None }, span)
    }
}

/// What a group covers of an agent's view.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// Unit vectors along its edges.
    pub left: Vec2,
    pub right: Vec2,
    /// To the nearest outline, m.
    pub distance: f32,
    /// Whether it covers more than half a turn: the agent stands among its members.
    pub among: bool,
}

/// Half a turn, as [`quarters`] count, and what rounding may add to it.
const HALF_TURN: f32 = 2.0 + 1e-4;

/// The room that is left beside a body, and the body, take at most this part of the way to the other.
const FULL: f32 = 0.9;

/// The edges of what bodies cover, by the two extreme tangents. No hull is needed.
///
/// Tangents are compared by their angles from the way to a place within the group's hull. If all lie within half a turn,
/// so does that way, no angle jumps from one end of the scale to the other, and the extremes are the edges. If they do not,
/// the looker stands within the hull, and either the extremes are more than half a turn apart or one of them has jumped.
///
/// Mates run into a group where any of them does: their tangents count all together. But for those who stand among the
/// group already, or the others would give up for the sake of one.
#[inline(always)]
fn span<S: Simd>(simd: S, columns: [&[f32]; 3], within: Vec2, view: View<'_>, looker: &Looker<'_>) -> Span {
    let ahead = unit_or(within - looker.position, Vec2::X);
    let (mut most, mut least, mut distance) = (f32::MIN, f32::MAX, f32::MAX);
    for row in looker.body.iter().map(|&row| row as usize) {
        let from = looker.position + (view.position(row) - looker.middle);
        let edges = Edges::of(simd, columns, ahead, from, [view.agents.radius[row], looker.room]);
        let (left, right) = (edges.most.reduce_max(), edges.least.reduce_min());
        if !edges.jumped && left - right <= HALF_TURN {
            (most, least) = (most.max(left), least.min(right));
        }
        distance = distance.min(edges.nearest.reduce_min());
    }
    let edge = |angle: f32| ahead.rotate(direction(angle)).normalize_or(ahead);
    let among = most < least || most - least > HALF_TURN;
    Span { left: edge(most), right: edge(least), distance, among }
}

/// What is seen from one place: the extremes, as angles, and the least distance.
struct Edges<S: Simd> {
    most: f32x16<S>,
    least: f32x16<S>,
    nearest: f32x16<S>,
    jumped: bool,
}

impl<S: Simd> Edges<S> {
    /// Of all bodies as seen from one place, by a body of its own size that leaves some room, as far as there is any.
    #[inline(always)]
    fn of(simd: S, [x, y, radius]: [&[f32]; 3], ahead: Vec2, from: Vec2, own: [f32; 2]) -> Edges<S> {
        let splat = |value: f32| f32x16::splat(simd, value);
        let (zero, count) = (splat(0.0), x.len() - LANES);
        let (mut most, mut least, mut nearest) = (splat(f32::MIN), splat(f32::MAX), splat(f32::MAX));
        let mut jumped = false;
        for block in (0..count).step_by(LANES) {
            let load = |column: &[f32]| f32x16::from_slice(simd, &column[block..block + LANES]);
            let (dx, dy) = (load(x) - splat(from.x), load(y) - splat(from.y));
            let counts = mask32x16::from_bitmask(simd, lanes_below(count - block));
            let along = dx * splat(ahead.x) + dy * splat(ahead.y);
            let across = dy * splat(ahead.x) - dx * splat(ahead.y);
            let squared = dx * dx + dy * dy;
            let (distance, bodies) = (squared.sqrt(), load(radius) + splat(own[0]));
            let reach = (bodies + splat(own[1])).min(distance * splat(FULL)).max(bodies);
            // Where a body is touched, its tangents are square to it.
            let tangent = (squared - reach * reach).max(zero).sqrt();
            let left = [along * tangent - across * reach, across * tangent + along * reach];
            let right = [along * tangent + across * reach, across * tangent - along * reach];
            let over_left = across.simd_ge(zero) & left[1].simd_lt(zero);
            let over_right = across.simd_lt(zero) & right[1].simd_gt(zero);
            jumped |= ((over_left | over_right) & counts).any_true();
            most = counts.select(most.max(quarters(simd, left)), most);
            least = counts.select(least.min(quarters(simd, right)), least);
            nearest = counts.select(nearest.min(distance - bodies), nearest);
        }
        Edges { most, least, nearest, jumped }
    }
}

/// The angle of a vector in quarters of a turn, -2 to 2, along a square instead of a circle: it orders as angles do and
/// opposites differ by 2, without a cosine.
#[inline(always)]
fn quarters<S: Simd>(simd: S, [along, across]: [f32x16<S>; 2]) -> f32x16<S> {
    let splat = |value: f32| f32x16::splat(simd, value);
    let ahead = across / (along.abs() + across.abs()).max(splat(f32::MIN_POSITIVE));
    let half = across.simd_ge(splat(0.0)).select(splat(2.0), splat(-2.0));
    along.simd_ge(splat(0.0)).select(ahead, half - ahead)
}

/// A vector with an angle in [`quarters`].
fn direction(angle: f32) -> Vec2 {
    if angle > 1.0 {
        Vec2::new(1.0 - angle, 2.0 - angle)
    } else if angle < -1.0 {
        Vec2::new(1.0 + angle, -2.0 - angle)
    } else {
        Vec2::new(1.0 - angle.abs(), angle)
    }
}
