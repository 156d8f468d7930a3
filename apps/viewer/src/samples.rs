//! What the charts show: a few figures of the whole crowd, from time to time.

use serde::Serialize;
use std::collections::BTreeMap;

/// The crowd at one time.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Sample {
    /// s.
    pub time: f64,
    /// Agents present.
    pub present: usize,
    /// Agents that have been at their goals; of a recorded run, those who have left.
    pub arrived: usize,
    /// Of those present, m/s.
    pub mean_speed: f64,
    /// Mean over agents of the density around them, 1/m².
    pub density: f64,
    /// Pairs that overlap by more than a millimetre.
    pub collisions: u64,
    /// Time that each stage took in a step of late, µs; empty where nothing is computed.
    pub stage_us: BTreeMap<&'static str, f64>,
}

/// Samples of a scene, thinned out as they grow, so that a run of days has as many as one of minutes.
#[derive(Debug, Default)]
pub struct History {
    samples: Vec<Sample>,
    /// Rises whenever samples were taken away: a page then has to begin anew.
    pub edition: u32,
}

const MOST: usize = 2400;

impl History {
    /// Forgets everything.
    pub fn clear(&mut self) {
        self.replace(Vec::new());
    }

    /// Puts others in their place.
    pub fn replace(&mut self, samples: Vec<Sample>) {
        self.samples = samples;
        self.edition += 1;
    }

    /// Adds the latest.
    pub fn push(&mut self, sample: Sample) {
        if self.samples.len() >= MOST {
            let mut keep = false;
            self.samples.retain(|_| {
                keep = !keep;
                keep
            });
            self.edition += 1;
        }
        self.samples.push(sample);
    }

    /// Those from a place on.
    pub fn since(&self, place: usize) -> &[Sample] {
        &self.samples[place.min(self.samples.len())..]
    }
}

/// Side of the cells in which people are counted, m.
const CELL: f32 = 2.0;

/// Mean over agents of the density in their cells of 2 × 2 m, 1/m².
pub fn density(x: &[f32], y: &[f32]) -> f64 {
    let cell = |(x, y): (&f32, &f32)| ((x / CELL).floor() as i32, (y / CELL).floor() as i32);
    let mut cells: Vec<(i32, i32)> = x.iter().zip(y).map(cell).collect();
    cells.sort_unstable();
    let squares: usize = cells.chunk_by(|a, b| a == b).map(|same| same.len() * same.len()).sum();
    squares as f64 / cells.len().max(1) as f64 / f64::from(CELL * CELL)
}

/// Pairs that overlap by more than a millimetre.
pub fn collisions(x: &[f32], y: &[f32], radius: &[f32]) -> u64 {
    let widest = 2.0 * radius.iter().copied().fold(0.0, f32::max);
    let mut order: Vec<usize> = (0..x.len()).collect();
    order.sort_unstable_by(|&a, &b| x[a].total_cmp(&x[b]));
    let mut count = 0;
    for (place, &a) in order.iter().enumerate() {
        let near = order[place + 1..].iter().take_while(|&&b| x[b] - x[a] <= widest);
        let touching = near.filter(|&&b| {
            let away = (x[b] - x[a]).hypot(y[b] - y[a]);
            radius[a] + radius[b] - away > throng::metrics::COLLISION_DEPTH
        });
        count += touching.count() as u64;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn densities_and_collisions_are_counted() {
        assert_eq!(density(&[], &[]), 0.0);
        // Three in one cell and one alone: 3 · 3 + 1 in four.
        assert_eq!(density(&[0.1, 0.2, 1.9, -5.0], &[0.1, 1.0, 0.5, 0.0]), 10.0 / 4.0 / 4.0);
        assert_eq!(collisions(&[0.0, 0.3, 5.0], &[0.0, 0.0, 0.0], &[0.2, 0.2, 0.2]), 1);
        assert_eq!(collisions(&[0.0, 0.4, 0.0], &[0.0, 0.0, 0.45], &[0.2, 0.2, 0.2]), 0);
    }

    #[test]
    fn a_long_history_is_thinned_out() {
        let mut history = History::default();
        for step in 0..100_000 {
            history.push(Sample { time: f64::from(step), ..Sample::default() });
        }
        let kept = history.since(0);
        assert!(kept.len() <= MOST && kept.len() > MOST / 3);
        assert_eq!((kept[0].time, kept.last().unwrap().time), (0.0, 99_999.0));
        assert!(kept.is_sorted_by(|a, b| a.time < b.time) && history.edition > 0);
    }
}
