//! Routes that are followed: what a planner that makes them once remembers of each agent.

use glam::Vec2;
use serde::{Deserialize, Serialize};
use throng_core::memory::{Memory, Remembered, mix};

/// What an agent goes by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Guide {
    /// Nothing has been planned yet, or the planner follows no routes.
    #[default]
    Nothing,
    /// Its goal, straight.
    Goal,
    /// The stops of its route.
    Stops,
    /// An agent that knows the map: where it was seen last.
    Leader,
    /// A crowd that moves alike.
    Crowd,
    /// Chance.
    Chance,
}

/// The route of an agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Route {
    pub guide: Guide,
    /// Of stops, which is the next; of a leader, its id.
    pub next: u32,
    /// Places to pass, the goal last, m from the world's origin. Only one where another agent is followed, and none where the
    /// goal is in sight.
    pub stops: Vec<Vec2>,
}

/// What becomes of a route.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum RouteChange {
    /// There is none any more.
    Nothing,
    /// Straight to the goal.
    Goal,
    /// Another one.
    Stops(Vec<Vec2>),
    /// The same one, with another stop as the next.
    Next(u32),
    /// One place, after another agent or at random.
    Place {
        guide: Guide,
        /// The id of the agent that is followed, where it is one.
        leader: u32,
        at: Vec2,
    },
}

impl Route {
    /// The stops that were not passed yet.
    pub fn ahead(&self) -> &[Vec2] {
        self.stops.get(self.next as usize..).unwrap_or_default()
    }

    /// The id of the agent that is followed, where it is one.
    pub fn leader(&self) -> Option<u32> {
        (self.guide == Guide::Leader).then_some(self.next)
    }

    /// Where a route had a place and gets another, its memory stays.
    fn change(&mut self, to: RouteChange) {
        match to {
            RouteChange::Nothing => *self = Route::default(),
            RouteChange::Goal => *self = Route { guide: Guide::Goal, ..Route::default() },
            RouteChange::Stops(stops) => *self = Route { guide: Guide::Stops, next: 0, stops },
            RouteChange::Next(next) => self.next = next,
            RouteChange::Place { guide, leader, at } => {
                (self.guide, self.next) = (guide, leader);
                self.stops.clear();
                self.stops.push(at);
            }
        }
    }

    fn hash(&self) -> u64 {
        let begin = (u64::from(self.next) << 8) ^ self.guide as u64;
        let stop = |hash: u64, stop: &Vec2| {
            mix(hash ^ (u64::from(stop.x.to_bits()) << 32 | u64::from(stop.y.to_bits())))
        };
        self.stops.iter().fold(mix(begin), stop)
    }
}

impl Remembered for Route {
    fn state_hash(&self) -> Option<u64> {
        (self.guide != Guide::Nothing).then(|| self.hash())
    }

    fn heap_bytes(&self) -> usize {
        self.stops.capacity() * size_of::<Vec2>()
    }
}

/// The routes of all agents.
#[derive(Clone, Debug, Default)]
pub(crate) struct Routes(pub Memory<Route>);

impl Routes {
    /// An agent's route.
    #[inline]
    pub fn of(&self, slot: u32) -> &Route {
        self.0.get(slot)
    }

    /// Drops all routes where the map is another one than they were made for.
    pub fn note_map(&mut self, map_version: u64) {
        if self.0.note_map(map_version) {
            self.0.clear();
        }
    }

    /// Changes the route of an agent.
    pub fn change(&mut self, slot: u32, to: RouteChange) {
        self.0.get_mut(slot).change(to);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng_core::memory::Remember;

    #[test]
    fn every_change_is_seen_by_the_hash_and_a_longer_list_is_not() {
        let mut routes = Routes::default();
        let mut hashes = vec![routes.0.state_hash()];
        let place = |at: Vec2| RouteChange::Place { guide: Guide::Leader, leader: 3, at };
        for to in [
            RouteChange::Goal,
            RouteChange::Stops(vec![Vec2::X, Vec2::Y]),
            RouteChange::Next(1),
            place(Vec2::X),
            place(Vec2::Y),
        ] {
            routes.change(7, to);
            assert!(!hashes.contains(&routes.0.state_hash()));
            hashes.push(routes.0.state_hash());
        }
        assert_eq!((routes.of(7).leader(), routes.of(7).stops.as_slice()), (Some(3), &[Vec2::Y][..]));
        assert_eq!(routes.of(99).guide, Guide::Nothing);
        routes.change(50, RouteChange::Nothing);
        assert_eq!(routes.0.state_hash(), hashes[hashes.len() - 1]);
        routes.0.forget(7);
        assert_eq!((routes.0.state_hash(), hashes[0]), (0, 0));
    }

    #[test]
    fn another_map_voids_them_and_a_resume_does_not() {
        let mut routes = Routes::default();
        routes.note_map(3);
        routes.change(1, RouteChange::Goal);
        let mut resumed = Routes::default();
        resumed.0.load(&routes.0.save()).unwrap();
        resumed.note_map(3);
        assert_eq!(resumed.of(1).guide, Guide::Goal);
        resumed.note_map(4);
        assert_eq!(resumed.of(1).guide, Guide::Nothing);
    }
}
