//! What every way to the goal needs: where the goal is for a row, and how fast to head somewhere.
//!
//! Always inlined: a view is a dozen slices, and to pass it on costs five times what is worked out here.

use glam::{DVec2, Vec2};
use serde::{Deserialize, Serialize};
use throng_core::geom::inside_ring;
use throng_core::handover::Intents;
use throng_core::world::{Status, View};

/// Pieces that the edge of an area is cut into, at least where they would not be shorter than a radius.
const PIECES_OF_AN_EDGE: f32 = 64.0;

/// Parameters of the scenario, and of every cohort.
#[derive(Debug)]
pub(crate) struct PerCohort<P> {
    pub all: P,
    pub cohorts: Vec<P>,
}

impl<P> PerCohort<P> {
    /// What a row's cohort says, or the scenario where it says nothing.
    pub fn of(&self, view: View<'_>, row: usize) -> &P {
        self.cohorts.get(view.agents.cohort[row] as usize).unwrap_or(&self.all)
    }
}

/// Where a row wants to be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    /// The goal point; for an area the nearest point of its edge.
    pub reach: Vec2,
    /// Where to head in order to reach it. For an area a step beyond its edge, so that it is crossed and not only reached.
    pub aim: Vec2,
}

/// Where a row wants to be; nowhere else where it is inside its area.
#[inline(always)]
pub(crate) fn target(view: View<'_>, row: usize) -> Target {
    let position = view.position(row);
    let Some(ring) = view.bound(row).area else {
        let goal = Vec2::new(view.agents.goal_x[row], view.agents.goal_y[row]);
        return Target { reach: goal, aim: goal };
    };
    match inside_ring(position, ring) {
        (true, _) => Target { reach: position, aim: position },
        (false, edge) => {
            let beyond = (edge - position).normalize_or_zero() * view.agents.radius[row];
            Target { reach: edge, aim: edge + beyond }
        }
    }
}

/// Whether a row's time to walk has not come.
#[inline(always)]
pub(crate) fn waits(view: View<'_>, row: usize) -> bool {
    view.agents.status[row] == Status::Waiting
}

/// As fast as preferred to a place where the way ends, and no further within a step: it would swing around it.
#[inline(always)]
pub(crate) fn to_end(view: View<'_>, row: usize, place: Vec2) -> Vec2 {
    let offset = place - view.position(row);
    let distance = offset.length();
    let speed = view.agents.preferred_speed[row].min(distance / view.dt);
    if distance > 0.0 { offset * (speed / distance) } else { Vec2::ZERO }
}

/// As fast as preferred towards a place where the way goes on.
#[inline(always)]
fn through(view: View<'_>, row: usize, place: Vec2) -> Vec2 {
    let offset = place - view.position(row);
    let distance = offset.length();
    if distance > 0.0 { offset * (view.agents.preferred_speed[row] / distance) } else { Vec2::ZERO }
}

/// What a row does next.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Leg {
    /// It waits: until its time has come, or because it does not know where to go.
    Wait,
    /// To where its path ends.
    End(Vec2),
    /// Past this place, and on.
    Through(Vec2),
    /// Its goal cannot be reached.
    Unreachable,
}

impl Leg {
    /// To the first of the stops that are left.
    pub fn along(stops: &[Vec2]) -> Leg {
        match *stops {
            [] => Leg::Wait,
            [end] => Leg::End(end),
            [stop, ..] => Leg::Through(stop),
        }
    }

    /// The velocity, and the place that it leads to.
    #[inline]
    pub fn velocity(self, view: View<'_>, row: usize) -> (Vec2, Vec2) {
        match self {
            Leg::End(place) => (to_end(view, row, place), place),
            Leg::Through(place) => (through(view, row, place), place),
            Leg::Wait | Leg::Unreachable => (Vec2::ZERO, view.position(row)),
        }
    }

    /// Writes the velocity, and the place that it leads to.
    #[inline]
    pub fn write(self, view: View<'_>, row: usize, out: (&mut f32, &mut f32, &mut Vec2)) {
        let (vx, vy, aim) = out;
        let velocity;
        (velocity, *aim) = self.velocity(view, row);
        (*vx, *vy) = velocity.into();
    }

    /// The same into a row of all intents.
    pub fn head(self, view: View<'_>, row: usize, out: &mut Intents) {
        self.write(view, row, (&mut out.vx[row], &mut out.vy[row], &mut out.aim[row]));
    }
}

/// Whether it is a row's turn to do what every agent does every so often, s; not all in one step.
#[inline]
pub(crate) fn due(view: View<'_>, row: usize, every: f32) -> bool {
    let steps = (every / view.dt).clamp(1.0, 1e9) as u64;
    (view.step + u64::from(view.agents.id[row])).is_multiple_of(steps)
}

/// What a row wants to, told apart by its bits, so that those who want the same can share what they find.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) enum GoalKey {
    Point(u32, u32),
    /// That of a cohort.
    Area(u16),
    /// That of a destination, by its number.
    Destination(u16),
}

/// What a row wants to.
pub(crate) fn goal_key(view: View<'_>, row: usize) -> GoalKey {
    match (view.bound(row).area, view.agents.destination[row]) {
        (Some(_), 0) => GoalKey::Area(view.agents.cohort[row]),
        (Some(_), destination) => GoalKey::Destination(destination),
        (None, _) => GoalKey::Point(view.agents.goal_x[row].to_bits(), view.agents.goal_y[row].to_bits()),
    }
}

/// Where a row's goal can be entered.
pub(crate) fn goals(view: View<'_>, row: usize) -> Vec<DVec2> {
    let agents = view.agents;
    match view.bound(row).area {
        Some(ring) => entries(ring, view.planned_radius(row)),
        None => vec![Vec2::new(agents.goal_x[row], agents.goal_y[row]).as_dvec2()],
    }
}

/// Places all around an area, inside its edge, so that an agent that is there has arrived.
fn entries(ring: &[Vec2], radius: f32) -> Vec<DVec2> {
    let edges = || (0..ring.len()).map(|index| (ring[index], ring[(index + 1) % ring.len()]));
    let around: f32 = edges().map(|(a, b)| a.distance(b)).sum();
    let piece = (around / PIECES_OF_AN_EDGE).max(radius).max(f32::MIN_POSITIVE);
    let mut entries = Vec::new();
    for (a, b) in edges() {
        let pieces = (a.distance(b) / piece).ceil().clamp(1.0, PIECES_OF_AN_EDGE) as usize;
        let inwards = (b - a).perp().normalize_or_zero() * radius.min(piece / 2.0);
        for index in 0..pieces {
            let edge = a.lerp(b, (index as f32 + 0.5) / pieces as f32);
            let inside =
                [edge + inwards, edge - inwards].into_iter().find(|&place| inside_ring(place, ring).0);
            entries.extend(inside.map(Vec2::as_dvec2));
        }
    }
    entries
}
