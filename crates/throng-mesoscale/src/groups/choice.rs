//! The adapted velocity: the closest to the preferred one outside the union of groups' cones, on the side that the agent
//! keeps to.

use super::Groups;
use super::cluster::Clustering;
use super::sight::{Looker, Seen, Sight, Span, span};
use crate::is_open;
use fearless_simd::{Level, dispatch};
use glam::Vec2;
use throng_core::geom::{Cone, SLACK, det, each_free};
use throng_core::world::View;

/// As far as walls are looked for beside an adapted velocity, m.
const WALL_LOOK: f32 = 5.0;
/// The other side is taken when it asks for so many times less of a change.
const FAR_BETTER: f32 = 2.0;

/// The velocity and the side of somebody who perceives groups.
pub fn choose(
    view: View<'_>,
    params: &Groups,
    clustering: &Clustering,
    looker: &Looker,
    preferred: Vec2,
    sight: &mut Sight,
) -> (Vec2, f32) {
    let remembered = view.agents.detour[looker.row].side;
    let goal = view.goal(looker.row);
    let arrival = looker.position.distance(goal) / preferred.length();
    let in_the_way = |seen: &&Seen| {
        let speed = (preferred - seen.velocity).length();
        !seen.among
            && seen.cone.forbids(preferred, SLACK)
            && seen.distance < params.time_horizon.min(arrival) * speed
    };
    if !sight.seen.iter().any(|seen| in_the_way(&seen)) {
        return (preferred, remembered);
    }
    let mut cones = std::mem::take(&mut sight.cones);
    let counts = |seen: &&Seen| {
        let members = sight.members(clustering, seen);
        !seen.among
            && !are_mates(view, members, looker)
            && !is_destination(view, members, seen, looker, goal - seen.velocity * arrival)
    };
    cones.clear();
    cones.extend(sight.seen.iter().filter(counts).map(|seen| seen.cone));
    let nearest = sight.seen.iter().filter(in_the_way).filter(counts).map(|seen| seen.distance);
    let answer = match nearest.reduce(f32::min) {
        None => (preferred, remembered),
        Some(distance) => {
            let leads_out = |velocity: &Vec2| leads_out(view, looker, *velocity, distance);
            let either =
                adapted(&cones, preferred, view.agents.max_speed[looker.row], !view.walls.all().is_empty());
            pick(either.map(|found| found.filter(leads_out)), preferred, remembered)
        }
    };
    sight.cones = cones;
    answer
}

/// The closest free velocities to the left and to the right of the preferred one. Where all are covered, the last cones
/// (the furthest groups) are left out until something is free.
pub fn adapted(cones: &[Cone], preferred: Vec2, max_speed: f32, walled: bool) -> [Option<Vec2>; 2] {
    // A side that is worse than this is taken only where a wall is in the way of the other.
    let worth_knowing = if walled { f32::INFINITY } else { FAR_BETTER * FAR_BETTER };
    for count in (1..=cones.len()).rev() {
        let mut best = [None, None];
        let mut least = [f32::INFINITY; 2];
        let take = |velocity: Vec2| {
            let distance = velocity.distance_squared(preferred);
            let side = usize::from(det(preferred, velocity) < 0.0);
            if distance < least[side] {
                (best[side], least[side]) = (Some(velocity), distance);
            }
            least[0].max(least[1]).min(least[0].min(least[1]) * worth_knowing)
        };
        dispatch!(Level::new(), simd => each_free(simd, &cones[..count], &[], preferred, max_speed, take));
        if best.iter().any(Option::is_some) {
            return best;
        }
    }
    [Some(preferred), None]
}

/// One of two sides: the remembered one, unless the other is far better. To the right where both are as good.
fn pick([left, right]: [Option<Vec2>; 2], preferred: Vec2, remembered: f32) -> (Vec2, f32) {
    let change = |velocity: Vec2| velocity.distance(preferred);
    match (left, right) {
        (None, None) => (preferred, remembered),
        (Some(left), None) => (left, 1.0),
        (None, Some(right)) => (right, -1.0),
        (Some(left), Some(right)) => {
            let bias = if remembered > 0.0 {
                1.0 / FAR_BETTER
            } else if remembered < 0.0 {
                FAR_BETTER
            } else {
                1.0
            };
            if change(left) * bias < change(right) { (left, 1.0) } else { (right, -1.0) }
        }
    }
}

/// Whether a group consists of those with whom the agent walks.
fn are_mates(view: View<'_>, members: &[u32], looker: &Looker) -> bool {
    let is_mate = |cohort| members.iter().all(|&row| view.agents.cohort[row as usize] == cohort);
    looker.mates.is_some_and(is_mate)
}

/// Whether a group's members stand around a place: the goal, as seen from the group when the agent gets there.
fn is_destination(view: View<'_>, members: &[u32], seen: &Seen, looker: &Looker, place: Vec2) -> bool {
    if place.distance(seen.center) > seen.reach + looker.radius {
        return false;
    }
    let there = Looker { position: place, ..*looker };
    let body = |&row: &u32| (view.position(row as usize), view.agents.radius[row as usize]);
    let Span { distance, among, .. } = span(members.iter().map(body), &there);
    among || distance < 0.0
}

/// Whether no wall is in the way of a velocity, at least as far as the group is.
fn leads_out(view: View<'_>, looker: &Looker, velocity: Vec2, distance: f32) -> bool {
    let far = (distance + looker.radius).min(WALL_LOOK).max(2.0 * looker.radius);
    is_open(view, looker.position, velocity.normalize_or_zero() * far, looker.radius)
}
