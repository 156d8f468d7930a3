//! Where agents are on their ways: what a planner that follows routes remembers from step to step.

use crate::memory::mix;
use glam::Vec2;
use serde::{Deserialize, Serialize};

/// What an agent goes by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Guide {
    /// Nothing has been planned yet.
    #[default]
    Nothing,
    /// Its goal, straight.
    Goal,
    /// The stops of its route.
    Stops,
    /// Somebody who knows the way: where it was seen last.
    Leader,
    /// A crowd that knows where it goes, or so it seems.
    Crowd,
    /// Chance.
    Chance,
}

/// A way that is followed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Route {
    /// What it goes by.
    pub guide: Guide,
    /// Of stops, which is the next; of a leader, its id.
    pub next: u32,
    /// Places to pass, the goal last, m from the world's origin. Only one where somebody is followed, and none where the
    /// goal is in sight.
    pub stops: Vec<Vec2>,
}

/// A route that changes.
#[derive(Clone, Debug, PartialEq)]
pub struct RouteChange {
    /// Whose.
    pub id: u32,
    /// What becomes of it.
    pub to: NewRoute,
}

/// What becomes of a route.
#[derive(Clone, Debug, PartialEq)]
pub enum NewRoute {
    /// There is none any more.
    Nothing,
    /// Straight to the goal.
    Goal,
    /// Another one.
    Stops(Vec<Vec2>),
    /// The same one, with another stop as the next.
    Next(u32),
    /// One place, after somebody or at random.
    Place {
        /// What leads there.
        guide: Guide,
        /// The id of who is followed, where it is one.
        leader: u32,
        /// m from the world's origin.
        at: Vec2,
    },
}

/// Everybody's route, by id.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Routes(Vec<Route>);

static NOTHING: Route = Route { guide: Guide::Nothing, next: 0, stops: Vec::new() };

impl Routes {
    /// An agent's route.
    #[inline]
    pub fn of(&self, id: u32) -> &Route {
        self.0.get(id as usize).unwrap_or(&NOTHING)
    }

    /// Takes changes over and leaves their list empty. Where a route had a place and gets another, its memory stays.
    pub(super) fn take(&mut self, changes: &mut Vec<RouteChange>) {
        for RouteChange { id, to } in changes.drain(..) {
            let id = id as usize;
            if id >= self.0.len() {
                self.0.resize(id + 1, Route::default());
            }
            let route = &mut self.0[id];
            match to {
                NewRoute::Nothing => *route = Route::default(),
                NewRoute::Goal => *route = Route { guide: Guide::Goal, ..Route::default() },
                NewRoute::Stops(stops) => *route = Route { guide: Guide::Stops, next: 0, stops },
                NewRoute::Next(next) => route.next = next,
                NewRoute::Place { guide, leader, at } => {
                    (route.guide, route.next) = (guide, leader);
                    route.stops.clear();
                    route.stops.push(at);
                }
            }
        }
    }

    /// An agent has none any more: it has left, or wants something else.
    pub fn forget(&mut self, id: u32) {
        if let Some(route) = self.0.get_mut(id as usize) {
            *route = Route::default();
        }
    }

    /// Nobody has one any more.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// A number that differs whenever a route differs in a bit. Who has none does not count: a list may be longer or not.
    pub(super) fn hash(&self) -> u64 {
        let hash = |(id, route): (usize, &Route)| {
            let begin = mix(id as u64) ^ (u64::from(route.next) << 8) ^ route.guide as u64;
            let stop = |hash: u64, stop: &Vec2| {
                mix(hash ^ (u64::from(stop.x.to_bits()) << 32 | u64::from(stop.y.to_bits())))
            };
            route.stops.iter().fold(mix(begin), stop)
        };
        let planned = self.0.iter().enumerate().filter(|(_, route)| route.guide != Guide::Nothing);
        planned.map(hash).fold(0, u64::wrapping_add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(id: u32, to: NewRoute) -> Vec<RouteChange> {
        vec![RouteChange { id, to }]
    }

    #[test]
    fn every_change_is_seen_by_the_hash_and_a_longer_list_is_not() {
        let mut routes = Routes::default();
        let mut hashes = vec![routes.hash()];
        let place = |at: Vec2| NewRoute::Place { guide: Guide::Leader, leader: 3, at };
        for to in [
            NewRoute::Goal,
            NewRoute::Stops(vec![Vec2::X, Vec2::Y]),
            NewRoute::Next(1),
            place(Vec2::X),
            place(Vec2::Y),
        ] {
            routes.take(&mut change(7, to));
            assert!(!hashes.contains(&routes.hash()));
            hashes.push(routes.hash());
        }
        assert_eq!((routes.of(7).next, routes.of(7).stops.as_slice()), (3, &[Vec2::Y][..]));
        assert_eq!(routes.of(99).guide, Guide::Nothing);
        routes.take(&mut change(50, NewRoute::Nothing));
        assert_eq!(routes.hash(), hashes[hashes.len() - 1]);
        routes.forget(7);
        assert_eq!(routes.hash(), hashes[0]);
    }
}
