//! Free speeds, taken from recordings: of those who had nobody in front of them.

use super::corridor::END;
use crate::statistics::{deviation, mean};
use crate::validate::trajectories::Trajectories;
use glam::DVec2;
use std::collections::BTreeMap;
use throng::measure::{Person, SPEED_OVER};
use throng::rng::{self, Purpose};

/// Nobody nearer than this ahead, m ...
const AHEAD: f64 = 3.0;
/// ... and this to either side of the way, m: such a person walks freely.
const ASIDE: f64 = 0.8;
/// Who walked freely for less than this is left out, s.
const LONG_ENOUGH: f64 = 0.5;
/// Slower and faster than this nobody is, m/s.
const LIMITS: [f64; 2] = [0.6, 2.1];

/// How fast people walk who have room, m/s.
#[derive(Clone, Copy, Debug)]
pub struct FreeSpeed {
    /// Over people.
    pub mean: f64,
    /// Over people.
    pub deviation: f64,
    /// How many they are.
    pub people: usize,
}

impl FreeSpeed {
    /// Of all in the corridor of some recordings who walk freely for some time.
    pub fn of(runs: &[Trajectories]) -> FreeSpeed {
        let speeds: Vec<f64> = runs.iter().flat_map(free_speeds).collect();
        FreeSpeed { mean: mean(&speeds), deviation: deviation(&speeds), people: speeds.len() }
    }

    /// One person's, drawn.
    pub fn draw(&self, seed: u64, person: u32) -> f64 {
        let mut stream = rng::stream(seed, person, 0, Purpose::PreferredSpeed);
        stream.normal(self.mean, self.deviation).clamp(LIMITS[0], LIMITS[1])
    }
}

/// The mean speed of each who walks freely, over the time that it does.
fn free_speeds(run: &Trajectories) -> Vec<f64> {
    let frames = (SPEED_OVER * run.fps).round() as usize;
    let mut free: BTreeMap<i64, Vec<f64>> = BTreeMap::new();
    for index in frames..run.moments.len().saturating_sub(frames) {
        let [before, now, after] = [index - frames, index, index + frames].map(|at| &run.moments[at]);
        for person in now.iter().filter(|person| person.position.y.abs() < END) {
            let at = |people: &[Person]| {
                let place = people.binary_search_by_key(&person.id, |other| other.id).ok()?;
                Some(people[place].position)
            };
            let (Some(from), Some(to)) = (at(before), at(after)) else { continue };
            if is_free(person, (to - from).normalize_or_zero(), now) {
                let speed = from.distance(to) * run.fps / (2 * frames) as f64;
                free.entry(person.id).or_default().push(speed);
            }
        }
    }
    let long_enough = (LONG_ENOUGH * run.fps) as usize;
    free.values().filter(|speeds| speeds.len() >= long_enough).map(|speeds| mean(speeds)).collect()
}

fn is_free(person: &Person, way: DVec2, people: &[Person]) -> bool {
    !people.iter().any(|other| {
        let towards = other.position - person.position;
        let (ahead, aside) = (towards.dot(way), towards.perp_dot(way).abs());
        other.id != person.id && ahead > 0.0 && ahead < AHEAD && aside < ASIDE
    })
}
