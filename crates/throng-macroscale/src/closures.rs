//! Passages that bodies close: scripted ones, where they are and where they will be when agents look again, and agents that
//! stand, as far as walls on both sides leave no room to pass them.
//!
//! A scripted body goes its way and closes a passage where nobody fits through beside it, on neither side. An agent that stands
//! steps aside for others, and closes one that is too narrow for both of them. In the open nothing is closed: to walk around
//! one is what local models are for. Nor do those who walk close anything: a crowd is what planners weigh by its density.

use glam::{DVec2, Vec2};
use throng_core::CHUNK;
use throng_core::parallel;
use throng_core::space::Wall;
use throng_core::world::{Status, View};

/// A disc that the middle of a body cannot enter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Closure {
    /// m from the world's origin.
    pub at: DVec2,
    /// m.
    reach: f64,
}

impl Closure {
    /// Whether the middle of a body cannot be at a place.
    pub fn holds(&self, place: DVec2) -> bool {
        place.distance_squared(self.at) < self.reach * self.reach
    }

    /// How much of a straight way lies in it, m.
    pub fn length_within(&self, [from, to]: [DVec2; 2]) -> f64 {
        let length = from.distance(to);
        let along = if length > 0.0 { (to - from) / length } else { DVec2::X };
        let towards = self.at - from;
        let half = (self.reach * self.reach - along.perp_dot(towards).powi(2)).max(0.0).sqrt();
        let middle = along.dot(towards);
        ((middle + half).min(length) - (middle - half).max(0.0)).max(0.0)
    }
}

/// Lists what is closed for bodies of some radii until they look again, s.
pub(crate) fn list<'r>(
    view: View<'_>,
    radii: impl Iterator<Item = &'r f32> + Clone,
    attention: f32,
) -> Vec<Vec<Closure>> {
    let Some(widest) = radii.clone().copied().reduce(f32::max).filter(|_| !view.walls.all().is_empty())
    else {
        return radii.map(|_| Vec::new()).collect();
    };
    let agents = view.agents;
    let closes = |row: usize, radius: f32| {
        let reach = agents.radius[row] + radius;
        is_between_walls(view, view.position(row), 2.0 * reach, |a, b| a + b < 2.0 * reach)
    };
    // Who closes nothing for the widest closes nothing for others.
    let stands = |row: usize| (agents.status[row] != Status::Walking && closes(row, widest)).then_some(row);
    let standing = parallel::filter_map(CHUNK, agents.len(), stands);
    radii
        .map(|&radius| {
            let mut closed = moving(view, radius, attention);
            let those = standing.iter().filter(|&&row| closes(row, radius));
            closed.extend(those.map(|&row| Closure {
                at: view.position(row).as_dvec2(),
                reach: (agents.radius[row] + radius).into(),
            }));
            closed
        })
        .collect()
}

/// What scripted bodies close.
fn moving(view: View<'_>, radius: f32, attention: f32) -> Vec<Closure> {
    let closed = |mover: usize| {
        let mover = view.movers[mover];
        let reach = mover.radius + radius;
        let way = mover.velocity * attention;
        // Discs as far apart as they are wide leave nothing open between them.
        let discs = (way.length() / reach).ceil().min(MOST_DISCS) as usize;
        let places = (0..=discs).map(move |disc| mover.position + way * (disc as f32 / discs.max(1) as f32));
        let needed = reach + radius;
        let closes = |&at: &Vec2| is_between_walls(view, at, needed, |a, b| a.max(b) < needed);
        let closures = places.filter(closes).map(|at| Closure { at: at.as_dvec2(), reach: reach.into() });
        let closures: Vec<Closure> = closures.collect();
        (!closures.is_empty()).then_some(closures)
    };
    parallel::filter_map(MOVERS_AT_A_TIME, view.movers.len(), closed).into_iter().flatten().collect()
}

/// Movers that one thread looks at.
const MOVERS_AT_A_TIME: usize = 16;
/// Bounds what a body that is faster than all others closes.
const MOST_DISCS: f32 = 64.0;

/// Whether walls within a distance lie on both sides of a place, so far away that they close it.
fn is_between_walls(view: View<'_>, at: Vec2, within: f32, close: impl Fn(f32, f32) -> bool) -> bool {
    if within <= view.walls.range() {
        are_on_both_sides(at, within, view.walls.near(at), close)
    } else {
        are_on_both_sides(at, within, view.walls.all().iter(), close)
    }
}

fn are_on_both_sides<'w>(
    at: Vec2,
    within: f32,
    walls: impl Iterator<Item = &'w Wall> + Clone,
    close: impl Fn(f32, f32) -> bool,
) -> bool {
    let near = walls.map(|wall| wall.closest(at) - at);
    let near = near.filter(|towards| towards.length_squared() < within * within);
    near.clone()
        .any(|one| near.clone().any(|other| one.dot(other) < 0.0 && close(one.length(), other.length())))
}
