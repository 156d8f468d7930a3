//! Random numbers that no thread can change: Philox4x32-10, a counter-based generator.
//!
//! Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3" (SC 2011). A draw is a pure function of
//! (seed, agent, step, purpose, how many draws came before it in that stream), so neither the number of threads nor
//! the order in which agents are visited can change it, and nothing has to be stored in a checkpoint.
//!
//! ```
//! use throng_core::rng::{self, Purpose};
//! let mut first = rng::stream(7, 3, 0, Purpose::Place);
//! let mut again = rng::stream(7, 3, 0, Purpose::Place);
//! assert_eq!(first.f64(), again.f64());
//! ```

/// What a draw is for. Two purposes never share a stream.
///
/// The numbers are part of what a seed means: new purposes go to the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Purpose {
    /// Where an agent begins.
    Place = 0,
    /// How far from its tidy place it stands.
    Jitter = 1,
    /// How large it is.
    Radius = 2,
    /// How fast it likes to walk.
    PreferredSpeed = 3,
    /// How fast it can walk.
    MaxSpeed = 4,
    /// When it begins to walk.
    Start = 5,
    /// Which goal it takes.
    Goal = 6,
    /// A tie broken inside a stage.
    Tie = 7,
    /// Noise in how it senses or moves.
    Noise = 8,
    /// A parameter that each agent draws for itself.
    Parameter = 9,
    /// When the people of a source come, and where.
    Coming = 10,
    /// Which way it takes on a journey, and how long it is served.
    Journey = 11,
}

const MULTIPLIERS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
const KEY_STEPS: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];
const ROUNDS: usize = 10;

/// Philox4x32-10: four mixed words from a counter and a key.
pub fn philox(counter: [u32; 4], key: [u32; 2]) -> [u32; 4] {
    let (mut counter, mut key) = (counter, key);
    for _ in 0..ROUNDS {
        counter = round(counter, key);
        key = [key[0].wrapping_add(KEY_STEPS[0]), key[1].wrapping_add(KEY_STEPS[1])];
    }
    counter
}

fn round(counter: [u32; 4], key: [u32; 2]) -> [u32; 4] {
    let [low_a, high_a] = halves(u64::from(MULTIPLIERS[0]) * u64::from(counter[0]));
    let [low_b, high_b] = halves(u64::from(MULTIPLIERS[1]) * u64::from(counter[2]));
    [high_b ^ counter[1] ^ key[0], low_b, high_a ^ counter[3] ^ key[1], low_a]
}

fn halves(wide: u64) -> [u32; 2] {
    [wide as u32, (wide >> 32) as u32]
}

/// The random numbers of one agent, in one step, for one purpose.
pub fn stream(seed: u64, agent: u32, step: u64, purpose: Purpose) -> Stream {
    // 56 bits of step are enough for 2 billion years of 0.1 s steps; the purpose takes the rest.
    let [step_low, step_high] = halves(step);
    Stream {
        key: halves(seed),
        counter: [0, agent, step_low, (step_high << 8) | purpose as u32],
        block: [0; 4],
        used: 4,
    }
}

/// A stream of random numbers. It lasts for 2^32 blocks of four words.
#[derive(Clone, Debug)]
pub struct Stream {
    key: [u32; 2],
    counter: [u32; 4],
    block: [u32; 4],
    used: usize,
}

impl Stream {
    /// 32 random bits.
    pub fn u32(&mut self) -> u32 {
        if self.used == self.block.len() {
            self.block = philox(self.counter, self.key);
            self.counter[0] = self.counter[0].wrapping_add(1);
            self.used = 0;
        }
        self.used += 1;
        self.block[self.used - 1]
    }

    /// 64 random bits.
    pub fn u64(&mut self) -> u64 {
        u64::from(self.u32()) | u64::from(self.u32()) << 32
    }

    /// In [0, 1), 53 bits fine.
    pub fn f64(&mut self) -> f64 {
        (self.u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// In [low, high); `low` where they are equal.
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.f64()
    }

    /// A whole number below `end`, or 0 where `end` is 0.
    pub fn below(&mut self, end: usize) -> usize {
        // Multiply and shift; the bias is under end / 2^64.
        ((u128::from(self.u64()) * end as u128) >> 64) as usize
    }

    /// Normally distributed, by Box and Muller.
    pub fn normal(&mut self, mean: f64, deviation: f64) -> f64 {
        // 1 - u lies in (0, 1], where the logarithm is finite.
        let length = (-2.0 * (1.0 - self.f64()).ln()).sqrt();
        let angle = std::f64::consts::TAU * self.f64();
        mean + deviation * length * angle.cos()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The vectors that Random123 publishes for philox4x32 with 10 rounds.
    #[test]
    fn known_answers() {
        assert_eq!(philox([0; 4], [0; 2]), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        assert_eq!(philox([!0; 4], [!0; 2]), [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
        assert_eq!(
            philox([0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344], [0xa409_3822, 0x299f_31d0]),
            [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]
        );
    }

    #[test]
    fn every_coordinate_of_a_stream_matters() {
        let first = |seed, agent, step, purpose| stream(seed, agent, step, purpose).u64();
        let base = first(1, 1, 1, Purpose::Place);
        assert_ne!(base, first(2, 1, 1, Purpose::Place));
        assert_ne!(base, first(1 << 32 | 1, 1, 1, Purpose::Place));
        assert_ne!(base, first(1, 2, 1, Purpose::Place));
        assert_ne!(base, first(1, 1, 2, Purpose::Place));
        assert_ne!(base, first(1, 1, 1 << 32 | 1, Purpose::Place));
        assert_ne!(base, first(1, 1, 1, Purpose::Jitter));
    }

    #[test]
    fn moments_are_right() {
        let n = 100_000;
        let mut draws = stream(0, 0, 0, Purpose::Noise);
        let normal: Vec<f64> = (0..n).map(|_| draws.normal(3.0, 2.0)).collect();
        let mean = normal.iter().sum::<f64>() / n as f64;
        let variance = normal.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n as f64;
        assert!((mean - 3.0).abs() < 0.03 && (variance - 4.0).abs() < 0.1, "{mean} {variance}");

        let uniform: Vec<f64> = (0..n).map(|_| draws.uniform(-1.0, 3.0)).collect();
        let mean = uniform.iter().sum::<f64>() / n as f64;
        assert!((mean - 1.0).abs() < 0.02, "{mean}");
        assert!(uniform.iter().all(|x| (-1.0..3.0).contains(x)));
    }

    #[test]
    fn below_reaches_every_number() {
        let mut draws = stream(0, 0, 0, Purpose::Tie);
        let mut seen = [0; 5];
        (0..1000).for_each(|_| seen[draws.below(5)] += 1);
        assert!(seen.iter().all(|&count| count > 150), "{seen:?}");
        assert_eq!(draws.below(0), 0);
    }
}
