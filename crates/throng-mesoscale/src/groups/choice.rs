//! The adapted velocity: the closest to the preferred one outside the union of groups' cones, on the side that the agent
//! keeps to.

use super::sight::{Looker, Scene, Seen, Sight};
use crate::is_open;
use fearless_simd::Level;
use glam::Vec2;
use throng_core::dispatch;
use throng_core::geom::{Cone, SLACK, det, each_free};
use throng_core::world::View;

/// As far as walls are looked for beside an adapted velocity, m.
const WALL_LOOK: f32 = 5.0;
/// The other side is taken when it asks for this many times less of a change.
const FAR_BETTER: f32 = 2.0;
/// Those who walk together take the left side when it asks for this many times less of a change.
const RIGHTER: f32 = 1.25;

/// The velocity and the side of an agent that perceives groups.
pub fn choose(scene: Scene<'_>, looker: &Looker<'_>, sight: &mut Sight) -> (Vec2, f32) {
    let Scene { view, params, .. } = scene;
    let preferred = looker.preferred;
    let arrival = looker.position.distance(looker.goal) / preferred.length();
    let in_the_way = |seen: &&Seen| {
        let speed = (preferred - seen.velocity).length();
        seen.cone.forbids(preferred, SLACK) && seen.distance < params.time_horizon.min(arrival) * speed
    };
    sight.perceive_ahead(scene, looker);
    sight.leave_out(scene, looker, arrival);
    let nearest = sight.seen.iter().filter(in_the_way).map(|seen| seen.distance).reduce(f32::min);
    let Some(distance) = nearest else { return (preferred, looker.side) };
    sight.perceive_around(scene, looker);
    sight.leave_out(scene, looker, arrival);
    sight.cones.clear();
    sight.cones.extend(sight.seen.iter().map(|seen| seen.cone));
    let walled = !view.walls.all().is_empty();
    let either = adapted(&sight.cones, preferred, view.agents.max_speed[looker.row], walled);
    let leads_out = |velocity: &Vec2| leads_out(view, looker, *velocity, distance);
    pick(either.map(|found| found.filter(leads_out)), looker)
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
///
/// Groups that walk together avoid one another, and both must not go to the same side of the way. So they keep to the
/// right more readily than to the left: where each has begun with another side, what is on the left gives in first.
fn pick([left, right]: [Option<Vec2>; 2], looker: &Looker<'_>) -> (Vec2, f32) {
    let change = |velocity: Vec2| velocity.distance(looker.preferred);
    match (left, right) {
        (None, None) => (looker.preferred, looker.side),
        (Some(left), None) => (left, 1.0),
        (None, Some(right)) => (right, -1.0),
        (Some(left), Some(right)) => {
            let bias = match (looker.mates, looker.side) {
                (None, 0.0) => 1.0,
                (Some(_), 0.0) => RIGHTER,
                (None, 0.0..) => 1.0 / FAR_BETTER,
                (Some(_), 0.0..) => 1.0 / RIGHTER,
                _ => FAR_BETTER,
            };
            if change(left) * bias < change(right) { (left, 1.0) } else { (right, -1.0) }
        }
    }
}

/// Whether no wall is in the way of a velocity, at least as far as the group is.
fn leads_out(view: View<'_>, looker: &Looker<'_>, velocity: Vec2, distance: f32) -> bool {
    let far = (distance + looker.radius).min(WALL_LOOK).max(2.0 * looker.radius);
    is_open(view, looker.position, velocity.normalize_or_zero() * far, looker.radius)
}
