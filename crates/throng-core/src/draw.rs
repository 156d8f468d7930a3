//! A number that each agent may draw for itself.

use crate::rng::{Purpose, Stream, stream};
use serde::{Serialize, Serializer, ser::SerializeMap};
use std::fmt;

/// A number, or a distribution that each agent draws its own from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Draw {
    /// The same for everyone.
    Fixed(f64),
    /// Anything between two ends.
    Uniform {
        /// Lowest.
        low: f64,
        /// Highest.
        high: f64,
    },
    /// Normally distributed; what falls outside is drawn again.
    Normal {
        /// Mean.
        mean: f64,
        /// Standard deviation.
        deviation: f64,
        /// Lowest.
        low: f64,
        /// Highest.
        high: f64,
    },
    /// A number whose natural logarithm is normally distributed; what falls outside is drawn again.
    LogNormal {
        /// Mean of the logarithm.
        mu: f64,
        /// Standard deviation of the logarithm.
        sigma: f64,
        /// Lowest.
        low: f64,
        /// Highest.
        high: f64,
    },
}

/// A draw that falls outside this often is cut to the nearer end, so that no input can hang a load.
const REDRAWS: usize = 100;

impl Draw {
    /// Nothing lower is drawn.
    pub fn low(&self) -> f64 {
        match *self {
            Draw::Fixed(number) => number,
            Draw::Uniform { low, .. } | Draw::Normal { low, .. } | Draw::LogNormal { low, .. } => low,
        }
    }

    /// Nothing higher is drawn.
    pub fn high(&self) -> f64 {
        match *self {
            Draw::Fixed(number) => number,
            Draw::Uniform { high, .. } | Draw::Normal { high, .. } | Draw::LogNormal { high, .. } => high,
        }
    }

    /// Draws. `stream` is only made where something is drawn.
    pub fn draw(&self, stream: impl FnOnce() -> Stream) -> f64 {
        match *self {
            Draw::Fixed(number) => number,
            Draw::Uniform { low, high } => stream().uniform(low, high),
            Draw::Normal { mean, deviation, low, high } => {
                let mut stream = stream();
                between(low, high, || stream.normal(mean, deviation))
            }
            Draw::LogNormal { mu, sigma, low, high } => {
                let mut stream = stream();
                between(low, high, || stream.normal(mu, sigma).exp())
            }
        }
    }

    /// What an agent draws for a parameter, told apart from others by a number. The same whenever it is asked.
    #[inline]
    pub fn of(&self, seed: u64, agent: u32, parameter: u64) -> f32 {
        // Mostly nothing is drawn, and then nothing is called.
        if let Draw::Fixed(number) = *self {
            return number as f32;
        }
        self.draw(|| stream(seed, agent, parameter, Purpose::Parameter)) as f32
    }
}

/// Draws until a number lies between two ends.
fn between(low: f64, high: f64, draw: impl FnMut() -> f64) -> f64 {
    let mut last = low;
    let mut draws = std::iter::repeat_with(draw).take(1 + REDRAWS).inspect(|&number| last = number);
    draws.find(|number| (low..=high).contains(number)).unwrap_or_else(|| last.clamp(low, high))
}

/// As a scenario file writes it.
impl fmt::Display for Draw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Draw::Fixed(number) => number.fmt(f),
            Draw::Uniform { low, high } => write!(f, "{{ uniform = [{low}, {high}] }}"),
            Draw::Normal { mean, deviation, low, high } => {
                write!(f, "{{ normal = [{mean}, {deviation}], min = {low}, max = {high} }}")
            }
            Draw::LogNormal { mu, sigma, low, high } => {
                write!(f, "{{ log_normal = [{mu}, {sigma}], min = {low}, max = {high} }}")
            }
        }
    }
}

/// As a scenario file writes it.
impl Serialize for Draw {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Draw::Fixed(number) => serializer.serialize_f64(*number),
            Draw::Uniform { low, high } => {
                let mut map = serializer.serialize_map(Some(1))?;
                map.serialize_entry("uniform", &[low, high])?;
                map.end()
            }
            Draw::Normal { mean, deviation, low, high } => {
                bell(serializer, "normal", [mean, deviation], [low, high])
            }
            Draw::LogNormal { mu, sigma, low, high } => {
                bell(serializer, "log_normal", [mu, sigma], [low, high])
            }
        }
    }
}

fn bell<S: Serializer>(
    serializer: S,
    kind: &str,
    shape: [&f64; 2],
    [low, high]: [&f64; 2],
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(3))?;
    map.serialize_entry(kind, &shape)?;
    map.serialize_entry("min", low)?;
    map.serialize_entry("max", high)?;
    map.end()
}
