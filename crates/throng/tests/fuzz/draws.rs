//! Where a case gets its decisions from: a seed, or the bytes of a coverage-guided fuzzer.

use throng_core::rng::{self, Purpose, Stream};

/// A source of decisions. The same source makes the same case.
pub struct Draws<'a>(Source<'a>);

enum Source<'a> {
    Seed(Box<Stream>),
    Bytes(&'a [u8]),
}

impl<'a> Draws<'a> {
    /// All decisions from one number.
    pub fn seeded(seed: u64) -> Draws<'a> {
        Draws(Source::Seed(Box::new(rng::stream(seed, 0, 0, Purpose::Noise))))
    }

    /// Decisions from bytes; zeros once they are used up.
    #[allow(dead_code, reason = "the targets of cargo-fuzz use it")]
    pub fn from_bytes(bytes: &'a [u8]) -> Draws<'a> {
        Draws(Source::Bytes(bytes))
    }

    fn u32(&mut self) -> u32 {
        match &mut self.0 {
            Source::Seed(stream) => stream.u32(),
            Source::Bytes(bytes) => {
                let (now, rest) = bytes.split_at(bytes.len().min(2));
                *bytes = rest;
                // Two bytes are enough for most decisions; spread, so that they reach all of [0, 1).
                now.iter().fold(0, |word, &byte| word << 8 | u32::from(byte)) << 16
            }
        }
    }

    /// In [0, 1).
    pub fn unit(&mut self) -> f64 {
        f64::from(self.u32()) / 4_294_967_296.0
    }

    pub fn below(&mut self, end: usize) -> usize {
        (self.unit() * end as f64) as usize
    }

    pub fn chance(&mut self, share: f64) -> bool {
        self.unit() < share
    }

    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// Every order of magnitude is equally likely.
    pub fn magnitude(&mut self, low: f64, high: f64) -> f64 {
        self.uniform(low.ln(), high.ln()).exp()
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}
