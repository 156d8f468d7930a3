//! Passages that scripted bodies close: where one is and where it will be when agents look again, as far as walls on both sides
//! leave no room to pass it.
//!
//! In the open they close nothing: to step aside is what local models are for. Agents are no closures either. They make way for
//! those who want to pass, and a crowd of them is what planners weigh by its density.

use glam::{DVec2, Vec2};
use throng_core::space::Wall;
use throng_core::world::View;

/// A disc that the middle of a body cannot enter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Closure {
    /// m from the world's origin.
    pub at: DVec2,
    /// m.
    reach: f64,
}

impl Closure {
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

/// Lists what is closed for bodies of a radius until they look again, s.
pub(crate) fn list(view: View<'_>, radius: f32, attention: f32, closed: &mut Vec<Closure>) {
    closed.clear();
    for mover in view.movers {
        let reach = mover.radius + radius;
        let way = mover.velocity * attention;
        // Discs as far apart as they are wide leave nothing open between them.
        let discs = (way.length() / reach).ceil().min(MOST_DISCS) as usize;
        let places = (0..=discs).map(|disc| mover.position + way * (disc as f32 / discs.max(1) as f32));
        let closes = |&place: &Vec2| leaves_no_room(view, place, reach + radius);
        closed.extend(places.filter(closes).map(|at| Closure { at: at.as_dvec2(), reach: reach.into() }));
    }
}

/// Bounds what a body that is faster than all others closes.
const MOST_DISCS: f32 = 64.0;

/// Whether walls on both sides of a place are nearer than what is needed to pass between them and what is there.
fn leaves_no_room(view: View<'_>, place: Vec2, needed: f32) -> bool {
    if needed <= view.walls.range() {
        are_on_both_sides(place, needed, view.walls.near(place))
    } else {
        are_on_both_sides(place, needed, view.walls.all().iter())
    }
}

fn are_on_both_sides<'w>(place: Vec2, needed: f32, walls: impl Iterator<Item = &'w Wall> + Clone) -> bool {
    let near = walls.map(|wall| wall.closest(place) - place);
    let mut near = near.filter(|towards| towards.length_squared() < needed * needed);
    let others = near.clone();
    near.any(|one| others.clone().any(|other| one.dot(other) < 0.0))
}
