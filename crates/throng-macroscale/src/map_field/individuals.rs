//! Those who do not know the map (section 4.3, "Knowledge level"). They know where their goals are, and nothing of what
//! lies between.
//!
//! An agent that has seen its goal goes there like one that knows the map: what lies between is in sight. Else it follows an
//! agent that knows the way, to where that one was seen last; else a crowd that moves alike; else it tries its luck, roughly
//! towards its goal. The paper sets a follower's waypoint at the leader. Close to it the waypoint is where the leader is heading:
//! one who is in its leader's way would walk into it, and in a doorway the two would stand face to face for good. Decisions are
//! made a few times a second and remembered as routes of one place.

use super::crowd_count::{Coherent, Stream};
use super::grid::Grid;
use super::{MapField, Navigator};
use crate::heading::{Leg, Target, due};
use crate::route::{Guide, Route, RouteChange, Routes};
use glam::Vec2;
use throng_core::rng::{self, Purpose};
use throng_core::world::{Status, View};

/// Time between decisions of agents that do not know the map, s.
const DECISION_INTERVAL: f32 = 0.5;
/// Nearer than this to the place that it heads for, it looks around at once, m.
const THERE: f32 = 0.4;
/// Nearer than this to its leader, a follower is told the way; and so far it walks on past where it has lost it, m.
const CLOSE: f32 = 3.0;
/// Of those that know the way and are near, this many are looked for behind walls, the nearest first.
const MOST_LEADERS: usize = 8;
/// How long an agent tries its luck in one direction, s.
const PATIENCE: f32 = 5.0;
/// How often it draws another direction where a wall is in the way.
const DRAWS: usize = 16;

/// Sixteen directions, as factors of a rotation. From a table, because the last bit of a platform's sine is its own.
const TURNS: [Vec2; 16] = {
    const A: f32 = 0.923_879_5;
    const B: f32 = std::f32::consts::FRAC_1_SQRT_2;
    const C: f32 = 0.382_683_43;
    [
        Vec2::new(1.0, 0.0),
        Vec2::new(A, C),
        Vec2::new(B, B),
        Vec2::new(C, A),
        Vec2::new(0.0, 1.0),
        Vec2::new(-C, A),
        Vec2::new(-B, B),
        Vec2::new(-A, C),
        Vec2::new(-1.0, 0.0),
        Vec2::new(-A, -C),
        Vec2::new(-B, -B),
        Vec2::new(-C, -A),
        Vec2::new(0.0, -1.0),
        Vec2::new(C, -A),
        Vec2::new(B, -B),
        Vec2::new(A, -C),
    ]
};

/// One who does not know the way, and what it has to decide by.
#[derive(Clone, Copy)]
pub(super) struct Naive<'a> {
    pub view: View<'a>,
    pub row: usize,
    pub grid: &'a Grid,
    pub target: Target,
    pub params: &'a MapField,
    pub routes: &'a Routes,
}

impl Navigator<'_> {
    /// Where one heads who does not know the way, and what it will remember of that, where it changes.
    pub(super) fn without_map(&self, naive: Naive<'_>) -> (Leg, Option<RouteChange>) {
        let route = naive.route();
        let change = decides(naive.view, naive.row, route).then(|| self.choose(naive, route)).flatten();
        let place = match change {
            Some(RouteChange::Place { at, .. }) => Some(at),
            _ => route.stops.first().copied(),
        };
        (place.map_or(Leg::Wait, Leg::End), change)
    }

    /// What it goes by from now on; `None` where that stays as it is.
    fn choose(&self, naive: Naive<'_>, route: &Route) -> Option<RouteChange> {
        let follows = route.guide == Guide::Leader && naive.is_on_its_way(route);
        // One that is seen through a door, aside of it, is followed to the door first.
        if let Some((leader, at)) = self.leader(naive).filter(|&(_, at)| !follows || naive.fits(at)) {
            return Some(RouteChange::Place { guide: Guide::Leader, leader, at });
        }
        if follows {
            return None;
        }
        if let Some(at) = self.stream_ahead(naive) {
            return Some(RouteChange::Place { guide: Guide::Crowd, leader: 0, at });
        }
        if naive.is_on_its_way(route) && !naive.has_lost_patience(route) {
            return None;
        }
        let has_lost_leader = route.guide == Guide::Leader;
        let straight_on = has_lost_leader.then(|| naive.straight_on()).flatten();
        let at = straight_on.unwrap_or_else(|| naive.try_luck());
        Some(RouteChange::Place { guide: Guide::Chance, leader: 0, at })
    }

    /// The nearest who knows the way, wants to about the same place and is in sight: its id, and where it is.
    fn leader(&self, naive: Naive<'_>) -> Option<(u32, Vec2)> {
        let Naive { view, row, params, .. } = naive;
        let here = view.position(row);
        let mut near = [(0.0f32, 0u32, 0u32); MOST_LEADERS];
        let mut found = 0;
        view.cells.runs(here.x, here.y, params.follow, |start, end| {
            for other in (start..end).filter(|&other| other != row) {
                let away = view.position(other).distance_squared(here);
                if away <= params.follow * params.follow && self.leads(naive, other) {
                    found = insert(&mut near, found, (away, view.agents.id[other], other as u32));
                }
            }
            if found < MOST_LEADERS { params.follow } else { near[found - 1].0.sqrt() }
        });
        let seen = near[..found].iter().find(|&&(_, _, other)| naive.sees(view.position(other as usize)));
        seen.map(|&(_, id, other)| (id, naive.behind(other as usize)))
    }

    fn leads(&self, naive: Naive<'_>, other: usize) -> bool {
        let Naive { view, row, params, .. } = naive;
        let [mine, others] = [row, other].map(|row| (view.agents.cohort[row], view.agents.destination[row]));
        self.params.of(view, other).knows
            && view.agents.status[other] == Status::Walking
            && (mine == others && view.bound(row).area.is_some()
                || view.goal(other).distance(view.goal(row)) <= params.follow)
    }

    /// Ahead of the nearest crowd that moves alike and is in sight.
    fn stream_ahead(&self, naive: Naive<'_>) -> Option<Vec2> {
        let Naive { view, row, params, .. } = naive;
        let here = view.position(row);
        let least = Coherent { density: params.crowd, coherence: params.coherence };
        let away = |stream: &Stream| stream.middle.distance_squared(here);
        let streams = self.crowd.streams(view, row, params.follow, least);
        let nearest =
            streams.filter(|stream| naive.sees(stream.middle)).min_by(|a, b| away(a).total_cmp(&away(b)))?;
        let ahead = nearest.middle + nearest.heading * self.params.all.cell;
        Some(if naive.sees(ahead) { ahead } else { nearest.middle })
    }
}

impl<'a> Naive<'a> {
    fn route(&self) -> &'a Route {
        self.routes.of(self.view.agents.slot[self.row])
    }

    /// With its eyes: a body may have to slide along a wall on the way, and does.
    fn sees(&self, place: Vec2) -> bool {
        !self.view.walls.block_far(self.view.position(self.row), place)
    }

    /// Where to go in order to follow a leader: to it, and close to it, where one is known, as far along its way as can be
    /// seen. Not to its next stop: in a door all would meet there, some from the far side, and press upon the leader.
    fn behind(&self, leader: usize) -> Vec2 {
        let view = self.view;
        let at = view.position(leader);
        if at.distance(view.position(self.row)) >= CLOSE {
            return at;
        }
        let route = self.routes.of(view.agents.slot[leader]);
        let (stops, goal) = match route.guide {
            Guide::Goal => (&[][..], Some(view.goal(leader))),
            Guide::Stops => (route.ahead(), None),
            _ => (&[][..], None),
        };
        let known = stops.iter().copied().chain(goal);
        known.rev().find(|&stop| self.sees(stop)).unwrap_or(at)
    }

    /// Whether its body gets straight to a place.
    fn fits(&self, place: Vec2) -> bool {
        self.grid.sees(self.view.position(self.row), place)
    }

    /// Whether the place that it heads for lies ahead and in sight.
    fn is_on_its_way(&self, route: &Route) -> bool {
        let ahead = |place: &Vec2| place.distance(self.view.position(self.row)) >= THERE && self.sees(*place);
        route.stops.first().is_some_and(ahead)
    }

    /// Whether it has seen its goal, now or before.
    pub(super) fn has_found_goal(&self) -> bool {
        let route = self.route();
        matches!(route.guide, Guide::Goal | Guide::Stops)
            || decides(self.view, self.row, route) && self.sees(self.target.reach)
    }

    /// The time in which one direction is tried, counted; every agent begins at another moment.
    fn turn_of_luck(&self, time: f32) -> u64 {
        let offset = (self.view.agents.id[self.row] % 16) as f32 / 16.0;
        (time.max(0.0) / PATIENCE + offset) as u64
    }

    fn has_lost_patience(&self, route: &Route) -> bool {
        let last = self.view.time - DECISION_INTERVAL.max(self.view.dt);
        route.guide == Guide::Chance && self.turn_of_luck(self.view.time) != self.turn_of_luck(last)
    }

    /// Where it gets when it walks on as it does: past the corner behind which its leader went out of sight.
    fn straight_on(&self) -> Option<Vec2> {
        let heading = self.view.velocity(self.row).normalize_or_zero();
        let place = self.view.position(self.row) + heading * CLOSE;
        (heading != Vec2::ZERO && self.fits(place)).then_some(place)
    }

    /// A place in a direction around that of the goal, with nothing in between; where it is, if there is none.
    fn try_luck(&self) -> Vec2 {
        let here = self.view.position(self.row);
        let ahead = (self.target.reach - here).normalize_or(Vec2::X);
        let (id, turn) = (self.view.agents.id[self.row], self.turn_of_luck(self.view.time));
        let mut chance = rng::stream(self.view.seed, id, turn, Purpose::Noise);
        let mut places = (0..DRAWS).map(|draw| {
            // Ahead and aside at first, then anywhere, and by and by less far: where one sees furthest there may be a door. Every
            // other time anywhere at once: it may be on the far side of a room.
            let turn = if draw < 4 && turn % 2 == 0 { (chance.below(9) + 12) % 16 } else { chance.below(16) };
            let far = self.params.follow * [1.0, 0.5, 0.5, 0.125][draw / 4];
            here + TURNS[turn].rotate(ahead) * far
        });
        places.find(|&place| self.fits(place)).unwrap_or(here)
    }
}

/// Whether one who does not know the way decides now: it does a few times a second, and where it has nothing else to do.
pub(super) fn decides(view: View<'_>, row: usize, route: &Route) -> bool {
    let there = |place: &Vec2| place.distance(view.position(row)) < THERE;
    due(view, row, DECISION_INTERVAL)
        || route.guide == Guide::Nothing
        || route.stops.first().is_some_and(there)
}

/// Puts an agent among the nearest so far; says how many these are.
fn insert<const N: usize>(near: &mut [(f32, u32, u32); N], found: usize, other: (f32, u32, u32)) -> usize {
    let before = |a: &(f32, u32, u32)| a.0.total_cmp(&other.0).then(a.1.cmp(&other.1)).is_lt();
    let place = near[..found].partition_point(before);
    if place == N {
        return found;
    }
    let found = (found + 1).min(N);
    near[place..found].rotate_right(1);
    near[place] = other;
    found
}
