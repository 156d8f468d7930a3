//! Who was where, moment by moment: of a recorded experiment, or of a simulated run. Both are measured alike.

use super::data::Row;
use glam::DVec2;
use std::collections::BTreeMap;
use throng::measure::{Figures, Floor, Measure, Observer, Person};

/// Trajectories in memory.
#[derive(Clone, Debug, Default)]
pub struct Trajectories {
    /// Frames a second.
    pub fps: f64,
    /// From the first frame on, one for each frame, people by id.
    pub moments: Vec<Vec<Person>>,
}

/// Someone who comes: when, where and how fast.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry {
    /// s after the first.
    pub time: f64,
    /// m.
    pub place: DVec2,
    /// m/s.
    pub velocity: DVec2,
}

/// How long the movement at someone's entry is looked at, s.
const FIRST_MOVEMENT: f64 = 0.25;

impl Trajectories {
    /// Sorts rows into moments.
    pub fn new(fps: f64, rows: &[Row]) -> Trajectories {
        let first = rows.iter().map(|row| row.frame).min().unwrap_or(0);
        let last = rows.iter().map(|row| row.frame).max().unwrap_or(0);
        let mut moments = vec![Vec::new(); if rows.is_empty() { 0 } else { (last - first) as usize + 1 }];
        for row in rows {
            moments[(row.frame - first) as usize].push(Person { id: row.id, position: row.place });
        }
        moments.iter_mut().for_each(|people: &mut Vec<Person>| people.sort_by_key(|person| person.id));
        Trajectories { fps, moments }
    }

    /// Moments with their times, s from the first.
    pub fn timed(&self) -> impl Iterator<Item = (f64, &[Person])> {
        let time = |index: usize| index as f64 / self.fps;
        self.moments.iter().enumerate().map(move |(index, people)| (time(index), people.as_slice()))
    }

    /// Takes measures of it.
    pub fn measure<const N: usize>(&self, measures: [Measure; N]) -> [Figures; N] {
        let mut observers = measures.map(Observer::new);
        let floor = Floor::default();
        for (time, people) in self.timed() {
            observers.iter_mut().for_each(|observer| observer.observe(time, people, || &floor));
        }
        observers.map(|observer| observer.figures())
    }

    /// Each one's way, by id: times, s, and places.
    pub fn walks(&self) -> BTreeMap<i64, Vec<(f64, DVec2)>> {
        let mut walks: BTreeMap<i64, Vec<(f64, DVec2)>> = BTreeMap::new();
        for (time, people) in self.timed() {
            for person in people {
                walks.entry(person.id).or_default().push((time, person.position));
            }
        }
        walks
    }

    /// How people came, in the order of time.
    pub fn entries(&self) -> Vec<Entry> {
        let entry = |walk: &Vec<(f64, DVec2)>| {
            let (time, place) = walk[0];
            let (later, there) = walk
                .iter()
                .copied()
                .find(|(at, _)| *at >= time + FIRST_MOVEMENT)
                .unwrap_or(walk[walk.len() - 1]);
            let velocity = if later > time { (there - place) / (later - time) } else { DVec2::ZERO };
            Entry { time, place, velocity }
        };
        let mut entries: Vec<Entry> = self.walks().values().map(entry).collect();
        entries.sort_by(|a, b| a.time.total_cmp(&b.time));
        entries
    }
}
