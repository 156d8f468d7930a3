//! How long the stages take. Never read by a decision.

use serde::Serialize;
use std::time::{Duration, Instant};

/// Time spent in each part of a step.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct StageTimes {
    /// Scenario events.
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
    /// How many steps took at most 2^(i/8) microseconds and more than the bucket before: enough for percentiles,
    /// and no memory that grows.
    buckets: Vec<u64>,
}

const BUCKETS: usize = 256;

pub(super) struct Clock<'a> {
    timings: &'a mut Timings,
    begin: Instant,
    last: Instant,
}

impl Timings {
    pub(super) fn start(&mut self, agents: usize) -> Clock<'_> {
        self.agent_steps += agents as u64;
        let now = Instant::now();
        Clock { timings: self, begin: now, last: now }
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

impl Clock<'_> {
    pub(super) fn lap(&mut self, stage: impl FnOnce(&mut StageTimes) -> &mut Duration) {
        let now = Instant::now();
        *stage(&mut self.timings.total) += now - self.last;
        self.last = now;
    }
}

impl Drop for Clock<'_> {
    fn drop(&mut self) {
        let us = (self.last - self.begin).as_secs_f64() * 1e6;
        let bucket = (us.max(1.0).log2() * 8.0).ceil() as usize;
        self.timings.buckets.resize(BUCKETS, 0);
        self.timings.buckets[bucket.min(BUCKETS - 1)] += 1;
        self.timings.steps += 1;
    }
}
