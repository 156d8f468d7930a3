//! How long the stages take. Never read by a decision.

use serde::Serialize;
use std::time::{Duration, Instant};

/// Time spent in each part of a step.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct StageTimes {
    /// Edits, and what they leave to be done.
    pub events: Duration,
    /// Where to?
    pub macroscale: Duration,
    /// Among whom?
    pub mesoscale: Duration,
    /// Which velocity now?
    pub microscale: Duration,
    /// Move.
    pub motion: Duration,
    /// The write and the sort.
    pub commit: Duration,
}

impl StageTimes {
    /// Every part with its name.
    pub fn named(&self) -> [(&'static str, Duration); 6] {
        [
            ("events", self.events),
            ("macroscale", self.macroscale),
            ("mesoscale", self.mesoscale),
            ("microscale", self.microscale),
            ("motion", self.motion),
            ("commit", self.commit),
        ]
    }
}

/// Times since the simulation was made.
#[derive(Clone, Debug, Default)]
pub struct Timings {
    /// Sum over steps.
    pub total: StageTimes,
    /// Steps timed.
    pub steps: u64,
    /// Agents moved, summed over steps.
    pub agent_steps: u64,
    /// The longest step.
    pub longest: Duration,
    /// How many steps took at most 2^(i/8) microseconds and more than the bucket before: enough for percentiles,
    /// and no memory that grows.
    buckets: Vec<u64>,
}

const BUCKETS: usize = 256;

/// Times one step.
pub(crate) struct Clock {
    begin: Instant,
    last: Instant,
}

impl Timings {
    pub(crate) fn start(&self) -> Clock {
        let now = Instant::now();
        Clock { begin: now, last: now }
    }

    /// Sum over all stages and steps.
    pub fn sum(&self) -> Duration {
        self.total.named().iter().map(|(_, time)| *time).sum()
    }

    /// The time that a share of steps stayed under, µs (to within 9 %).
    pub fn percentile_us(&self, share: f64) -> f64 {
        let mut left = (self.steps as f64 * share).ceil() as u64;
        for (bucket, &count) in self.buckets.iter().enumerate() {
            if count >= left {
                return 2f64.powf(bucket as f64 / 8.0);
            }
            left -= count;
        }
        0.0
    }
}

impl Clock {
    /// Counts the time since the last lap for a stage.
    pub(crate) fn lap(
        &mut self,
        timings: &mut Timings,
        stage: impl FnOnce(&mut StageTimes) -> &mut Duration,
    ) {
        let now = Instant::now();
        *stage(&mut timings.total) += now - self.last;
        self.last = now;
    }

    /// The last lap, and the whole step.
    pub(crate) fn finish(mut self, timings: &mut Timings, agents: usize) {
        self.lap(timings, |times| &mut times.commit);
        let step = self.last - self.begin;
        timings.longest = timings.longest.max(step);
        let us = step.as_secs_f64() * 1e6;
        let bucket = (us.max(1.0).log2() * 8.0).ceil() as usize;
        timings.buckets.resize(BUCKETS, 0);
        timings.buckets[bucket.min(BUCKETS - 1)] += 1;
        timings.steps += 1;
        timings.agent_steps += agents as u64;
    }
}
