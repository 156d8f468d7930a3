//! What is remembered of an agent: its route, and what it has published of it.

use crate::domain::directed_navmesh::Crossing;
use crate::domain::occupancy::Trajectory;
use crate::route::{Guide, Route};
use glam::Vec2;
use serde::{Deserialize, Serialize};
use throng_core::memory::{Memory, Remembered, mix};

/// A route, and what was published of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Course {
    pub route: Route,
    /// What the route leads through on the mesh, to weigh it again: nothing where it was not found there.
    pub way: Vec<Crossing>,
    /// Where the agent was when it published the route, m from the world's origin, and when, s.
    pub from: Vec2,
    pub since: f64,
    /// The steps in which it has last looked ahead, and searched.
    pub looked: u64,
    pub searched: u64,
    /// The radius that it was planned for, m.
    pub radius: f32,
    /// It was found on another map, or on the mesh that knows no crowds.
    pub provisional: bool,
    /// There was no path.
    pub unreachable: bool,
}

impl Course {
    /// Where its agent will be by what it has published, at a speed in m/s: its middle.
    pub fn published(&self, speed: f64) -> Trajectory {
        let mut path = vec![(self.since, self.from.as_dvec2())];
        for stop in self.route.stops.iter().map(|stop| stop.as_dvec2()) {
            let (time, at) = path[path.len() - 1];
            path.push((time + at.distance(stop) / speed, stop));
        }
        Trajectory { radius: 0.0, path, stays: true }
    }

    fn hash(&self) -> u64 {
        let place = u64::from(self.from.x.to_bits()) << 32 | u64::from(self.from.y.to_bits());
        let flags = u64::from(self.radius.to_bits()) << 2
            | u64::from(self.provisional) << 1
            | u64::from(self.unreachable);
        let words = [place, self.since.to_bits(), self.looked, self.searched, flags];
        let crossing = |crossing: &Crossing| {
            u64::from(crossing.entry.number()) << 32 | u64::from(crossing.to_go.to_bits())
        };
        let entries = self.way.iter().map(crossing);
        let route = self.route.state_hash().unwrap_or_default();
        words.into_iter().chain(entries).fold(route, |hash, word| mix(hash ^ word))
    }
}

impl Remembered for Course {
    fn state_hash(&self) -> Option<u64> {
        (self.route.guide != Guide::Nothing || self.unreachable).then(|| self.hash())
    }

    fn heap_bytes(&self) -> usize {
        self.route.heap_bytes() + self.way.capacity() * size_of::<Crossing>()
    }
}

/// The courses of all agents.
#[derive(Debug, Default)]
pub(crate) struct Courses(pub Memory<Course>);

impl Courses {
    /// An agent's course.
    #[inline]
    pub fn of(&self, slot: u32) -> &Course {
        self.0.get(slot)
    }

    /// On another map they are followed as far as can be seen, until their agents have looked again.
    pub fn note_map(&mut self, map_version: u64) {
        if self.0.note_map(map_version) {
            self.0.iter_mut().for_each(|(_, course)| course.provisional = true);
        }
    }
}
