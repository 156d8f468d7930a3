//! The route of an agent whose goal nobody shares: searched for once, and followed until it has left it.

use glam::Vec2;
use serde::{Deserialize, Serialize};
use throng_core::memory::{Change, Remembered, mix};

/// What an agent goes by that has no tree of paths.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct OwnRoute {
    /// From where it was searched for to the goal, m from the world's origin. Only the first one where there was no way, and
    /// none where nothing is remembered.
    stops: Vec<Vec2>,
    /// The stop to head for.
    next: u32,
    /// Whether it was found on another map, or is only the last stop that a tree knew of: good until there is something better.
    stale: bool,
}

/// What has become of a route by now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Progress {
    /// The agent goes on to this stop.
    Next(u32),
    /// The agent has left it.
    Left,
}

/// What the way between two stops has to be like.
pub(super) struct Ground<'a> {
    /// Whether a straight way is clear.
    pub is_clear: &'a dyn Fn(Vec2, Vec2) -> bool,
    /// Within this distance of a stop an agent has rounded it, m.
    pub near: f32,
    /// How much longer a leg may have become by where the agent is now, m.
    pub spare: f32,
}

impl OwnRoute {
    pub fn found(stops: Vec<Vec2>) -> OwnRoute {
        OwnRoute { stops, next: 1, stale: false }
    }

    /// Of an agent at a place that heads for another one, or knows no way.
    pub fn guess(from: Vec2, stop: Option<Vec2>) -> OwnRoute {
        OwnRoute { stops: std::iter::once(from).chain(stop).collect(), next: 1, stale: true }
    }

    pub fn is_nothing(&self) -> bool {
        self.stops.is_empty()
    }

    pub fn is_stale(&self) -> bool {
        self.stale
    }

    /// Whether it says that there is no way.
    pub fn leads_nowhere(&self) -> bool {
        self.stops.len() == 1
    }

    /// The stops that were not passed yet.
    pub fn ahead(&self) -> &[Vec2] {
        self.stops.get(self.next as usize..).unwrap_or_default()
    }

    /// Where it has to be held against another map.
    pub fn grow_stale(&mut self) {
        self.stale |= !self.is_nothing();
    }

    /// The number of the stop that it leads to.
    pub fn next(&self) -> u32 {
        self.next
    }

    pub fn go_on(&mut self, next: u32) {
        self.next = next;
    }

    /// How far an agent has come on it.
    ///
    /// The stops ahead stay taut: one that the agent need not round any more is left out, and where a new one would be needed
    /// the next one is not in sight. So a route becomes longer than the shortest only where walls could be passed on
    /// another side, and by no more than what the agent was pushed away from the leg that it is on.
    pub(super) fn progress(&self, here: Vec2, ground: &Ground<'_>) -> Progress {
        let mut next = self.next as usize;
        let from = |next: usize| self.stops.get(next.saturating_sub(1)..).unwrap_or_default();
        while let Some(&[before, at, after]) = from(next).first_chunk() {
            let rounded = here.distance(at) <= ground.near;
            let passed = (at - before).perp_dot(after - at) * (at - here).perp_dot(after - at) <= 0.0;
            if !(rounded || passed && (ground.is_clear)(here, after)) {
                break;
            }
            next += 1;
        }
        let Some(&[before, at]) = from(next).first_chunk() else { return Progress::Next(self.next) };
        let longer = here.distance(before) + here.distance(at) - before.distance(at);
        if longer <= ground.spare && (ground.is_clear)(here, at) {
            Progress::Next(next as u32)
        } else {
            Progress::Left
        }
    }
}

impl Remembered for OwnRoute {
    fn state_hash(&self) -> Option<u64> {
        let begin = u64::from(self.next) << 1 | u64::from(self.stale);
        let stop = |hash: u64, stop: &Vec2| {
            mix(hash ^ (u64::from(stop.x.to_bits()) << 32 | u64::from(stop.y.to_bits())))
        };
        (!self.is_nothing()).then(|| self.stops.iter().fold(mix(begin), stop))
    }

    fn heap_bytes(&self) -> usize {
        self.stops.capacity() * size_of::<Vec2>()
    }

    /// One that was put aside sees where it was going, or finds that it has left its route.
    fn outlasts(change: Change) -> bool {
        change == Change::PutAside
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn progress(route: &OwnRoute, here: [f32; 2], is_clear: &dyn Fn(Vec2, Vec2) -> bool) -> Progress {
        route.progress(here.into(), &Ground { is_clear, near: 0.01, spare: 1.0 })
    }

    #[test]
    fn stops_are_left_out_once_they_need_not_be_rounded() {
        let stops = [[0.0, 0.0], [10.0, 0.0], [10.0, 10.0], [0.0, 10.0]].map(Vec2::from);
        let route = OwnRoute::found(stops.to_vec());
        let all = |_: Vec2, _: Vec2| true;
        assert_eq!(progress(&route, [5.0, 0.0], &all), Progress::Next(1));
        assert_eq!(progress(&route, [10.0, 0.0], &all), Progress::Next(2));
        // Beyond the line over both bends.
        assert_eq!(progress(&route, [10.1, 0.1], &all), Progress::Next(2));
        assert_eq!(progress(&route, [5.0, 3.0], &all), Progress::Left, "pushed away");
        assert_eq!(progress(&route, [5.0, 0.0], &|_, _| false), Progress::Left, "nothing in sight");
        let last = OwnRoute { next: 3, ..route };
        assert_eq!(progress(&last, [1.0, 10.0], &all), Progress::Next(3));
        assert_eq!(progress(&OwnRoute::guess(Vec2::X, None), [1.0, 0.0], &all), Progress::Next(1));
    }
}
